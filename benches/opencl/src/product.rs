//! Products of large matrices, compared with JAX on the same GPU, that is, with the vendor's library.

use accel::opencl::{Device, OpenCl};
use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close};
use bench_common::data::uniform;
use bench_common::jax::run_python;
use std::process::Command;
use std::time::Duration;

/// The extent of the matrices.
const N: usize = 4096;

/// Prints the median time of products, in milliseconds.
const JAX: &str = include_str!("product.py");

pub fn cases(device: &Device) -> Vec<Case> {
    vec![case::<f32>(device, "f32", "float32"), case::<f64>(device, "f64", "float64")]
}

fn case<T: Floating + Into<f64>>(device: &Device, precision: &str, name: &'static str) -> Case {
    let device = device.clone();
    let asked = [Asked::Speed(0.5)];
    Case::new("product", format!("product, {N}³ {precision}"), "JAX", asked, move || {
        let opencl = OpenCl::on(&device)?;
        let program = opencl.compile(&afun(matmul::<Dim0, T>))?;
        let matrix = |seed| Array::matrix(N, N, uniform::<T>(seed, N * N, -1.0, 1.0));
        let (a, b) = (matrix(1)?, matrix(2)?);
        let arguments = (opencl.to_device(&a)?, opencl.to_device(&b)?);
        let run = move || Ok(program.run_async((&arguments.0, &arguments.1))?.wait()?);
        check(&a, &b, &run()?.to_host()?)?;
        Ok(Pair { ours: Measure::work(run), reference: Measure::Elsewhere(Box::new(move || jax(name))) })
    })
}

/// Checks the first and the last row of a product.
fn check<T: Floating + Into<f64>>(a: &Matrix<T>, b: &Matrix<T>, product: &Matrix<T>) -> Result<()> {
    for i in [0, N - 1] {
        let element =
            |j: usize| -> f64 { (0..N).map(|k| a.as_slice()[i * N + k].into() * b.as_slice()[k * N + j].into()).sum() };
        let found: Vec<f64> = product.as_slice()[i * N..][..N].iter().map(|x| (*x).into()).collect();
        check_close(&found, &(0..N).map(element).collect::<Vec<_>>(), 1e-4)?;
    }
    Ok(())
}

fn jax(precision: &str) -> Result<Duration> {
    let ms = run_python(Command::new("python3").args(["-c", JAX, precision, &N.to_string()]))?;
    Ok(Duration::from_secs_f64(ms.trim().parse::<f64>()? / 1e3))
}
