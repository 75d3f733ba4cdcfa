//! The OpenCL backend on one device, `ACCEL_OPENCL_DEVICE` or the first GPU: on a processor compared with the native
//! backend, on a GPU compared with the bandwidth of its memory and with JAX. Prints a table like that of
//! benches/README.md.
//!
//! ```text
//! scripts/bench.sh --opencl [--quick] [FILTER]
//! ```

mod bandwidth;
mod gmm;
mod launches;
mod processor;
mod raw;

use accel::opencl::{Device, DeviceType, default_device};
use bench_common::case::{Case, Result};
use bench_common::table;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let device = default_device()?;
    println!("{device}");
    table::print(cases(&device), &args.iter().map(String::as_str).collect::<Vec<_>>())
}

fn cases(device: &Device) -> Vec<Case> {
    let themes = match device.kind {
        DeviceType::Cpu => [processor::cases(), gmm::beside_native()],
        _ => [bandwidth::cases(device), gmm::beside_jax()],
    };
    let mut cases: Vec<Case> = themes.into_iter().flatten().collect();
    cases.push(launches::case(device));
    cases
}
