//! Runs the programs that the example `ship` has written to a folder: `shipped FOLDER`. It needs no compiler and no cache.
//!
//! It prints what they compute, and on standard error how long it took to the first gradient.

use accel::prelude::*;
use std::path::Path;
use std::time::Instant;
use types::{Filter, FilterGradient, Mixture, MixtureGradient, Sorted};

#[path = "shipped/types.rs"]
mod types;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = Instant::now();
    let folder = std::env::args().nth(1).ok_or("the name of a folder is missing")?;
    let folder = Path::new(&folder);
    let mixture: Compiled<Mixture, MixtureGradient> = accel::bundle::load(folder.join("mixture.accel"))?;
    let ((w, m, x), ..) = types::arguments(1000);
    mixture.run((&w, &m, &x))?;
    eprintln!("{:.1} ms to the first gradient", start.elapsed().as_secs_f64() * 1e3);

    let filter: Compiled<Filter, FilterGradient> = accel::bundle::load(folder.join("filter.accel"))?;
    let sorted: Compiled<(Vector<f64>, Vector<i64>), Sorted> = accel::bundle::load(folder.join("sorted.accel"))?;
    types::print(&mixture, &filter, &sorted)?;
    Ok(())
}
