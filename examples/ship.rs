//! Compiles programs and writes them to files, for machines without a compiler: `ship FOLDER`. The example `shipped` runs them.
//!
//! It prints what the programs compute, so that `examples/shipped/check.sh` can compare it with what they compute elsewhere.

use accel::{bundle, compile_for};
use std::path::Path;

#[path = "shipped/model.rs"]
mod model;
#[path = "shipped/types.rs"]
mod types;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("the name of a folder is missing")?;
    let folder = Path::new(&folder);
    let ((w, m, x), (transition, noise, measured), (numbers, classes)) = types::arguments(1000);

    let mixture = compile_for(model::mixture(), (&w, &m, &x))?;
    bundle::save(&mixture, folder.join("mixture.accel"))?;
    let filter = compile_for(model::filter(), (&transition, &noise, &measured))?;
    bundle::save(&filter, folder.join("filter.accel"))?;
    let sorted = compile_for(model::sorted(), (&numbers, &classes))?;
    bundle::save(&sorted, folder.join("sorted.accel"))?;

    types::print(&mixture, &filter, &sorted)?;
    Ok(())
}
