//! The OpenCL backend on one device, `ACCEL_OPENCL_DEVICE` or the first GPU, compared with the bandwidth of its memory and
//! with JAX. Prints a table like those of benches/README.md.
//!
//! ```text
//! scripts/bench.sh --opencl [--quick] [FILTER]
//! ```

mod bandwidth;
mod gmm;
mod launches;
mod product;
mod raw;
mod stencil;

use accel::opencl::{Device, default_device};
use bench_common::case::{Case, Result};
use bench_common::table;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let device = default_device()?;
    println!("{device}");
    table::print(cases(&device), &args.iter().map(String::as_str).collect::<Vec<_>>())
}

fn cases(device: &Device) -> Vec<Case> {
    [bandwidth::cases(device), product::cases(device), gmm::cases(), vec![launches::case(device)]]
        .into_iter()
        .flatten()
        .collect()
}
