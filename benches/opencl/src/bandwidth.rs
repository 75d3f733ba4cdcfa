//! How much of the bandwidth of a GPU's memory programs reach, compared with copies of as many bytes.

use crate::raw::copies;
use accel::afun::Afun;
use accel::opencl::{Device, DeviceArray, OpenCl};
use accel::prelude::*;
use bench_common::axpy::axpy;
use bench_common::case::{Asked, Case, Measure, Pair, Result};

const N: usize = 1 << 28;
const ARRAY: usize = N * size_of::<f32>();

pub fn cases(device: &Device) -> Vec<Case> {
    let case = |work: &str, asked, pair: fn(&Device) -> Result<Pair>| {
        let device = device.clone();
        let work = format!("{work}, 2²⁸ f32");
        Case::new("bandwidth", work, "copies of as many bytes", [Asked::Speed(asked)], move || pair(&device))
    };
    vec![
        case("axpy", 0.85, |device| {
            let opencl = OpenCl::on(device)?;
            let program = opencl.compile(&afun(axpy::<f32>))?;
            let (a, xs, ys) = (opencl.to_device(&Array::scalar(0.5))?, vector(&opencl)?, vector(&opencl)?);
            let ours = move || Ok(program.run_async((&a, &xs, &ys))?.wait()?);
            Ok(Pair { ours: Measure::work(ours), reference: reference(device, 3 * ARRAY)? })
        }),
        case("sum", 0.85, |device| of_a_vector(device, afun(|xs: Acc<Vector<f32>>| sum(xs)), ARRAY)),
        case("prefix sum", 0.7, |device| {
            let scan = afun(|xs: Acc<Vector<f32>>| scanl1(|x, y| x + y, xs));
            of_a_vector(device, scan, 2 * ARRAY)
        }),
    ]
}

/// A program of one vector that reads and writes this number of bytes.
fn of_a_vector<R: Arrays + 'static>(device: &Device, program: Afun<Vector<f32>, R>, bytes: usize) -> Result<Pair> {
    let opencl = OpenCl::on(device)?;
    let program = opencl.compile(&program)?;
    let xs = vector(&opencl)?;
    let ours = move || Ok(program.run_async(&xs)?.wait()?);
    Ok(Pair { ours: Measure::work(ours), reference: reference(device, bytes)? })
}

fn vector(opencl: &OpenCl) -> Result<DeviceArray<Vector<f32>>> {
    Ok(opencl.to_device(&Array::vector(vec![0.25; N]))?)
}

fn reference(device: &Device, bytes: usize) -> Result<Measure> {
    Ok(Measure::Work(Box::new(copies(device, bytes)?)))
}
