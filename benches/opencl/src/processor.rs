//! A processor as an OpenCL device, compared with the native backend and the `gemm` crate.

use accel::afun::{Afun, Compiled};
use accel::opencl::OpenCl;
use accel::prelude::*;
use bench_common::axpy::axpy;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close, native};
use bench_common::data::{LARGE, uniform};
use bench_common::product::Operand::Rows;
use bench_common::product::{inputs, multiply, product};

pub fn cases() -> Vec<Case> {
    let case = |work: &str, pair: fn() -> Result<Pair>| {
        Case::new("bandwidth", format!("{work}, 16M f32"), "native backend", [Asked::Speed(0.9)], pair)
    };
    vec![
        case("axpy", || pair(&afun(axpy::<f32>), (Array::scalar(0.5), vector(1), vector(2)))),
        case("dot", || pair(&afun(|xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>| dot(xs, ys)), (vector(1), vector(2)))),
        case("sum", || pair(&afun(|xs: Acc<Vector<f32>>| sum(xs)), vector(1))),
        Case::new("product", "product, 1024³ f32", "gemm", [Asked::Speed(0.8)], || {
            let program = opencl(&afun(product::<f32>))?;
            let (a, b, _) = inputs::<f32>()?;
            check_close(program.run((&a, &b))?.as_slice(), &multiply(Rows(&a), Rows(&b)), 1e-4)?;
            let (a2, b2) = (a.clone(), b.clone());
            Ok(Pair {
                ours: Measure::work(move || Ok(program.run((&a, &b))?)),
                reference: Measure::work(move || Ok(multiply(Rows(&a2), Rows(&b2)))),
            })
        }),
    ]
}

/// Compiles a program for the device.
pub fn opencl<A: Arrays, R: Arrays>(program: &Afun<A, R>) -> Result<Compiled<A, R>> {
    Ok(compile_on(OpenCl::shared()?, program)?)
}

fn vector(seed: u64) -> Vector<f32> {
    Array::vector(uniform(seed, LARGE, 0.0, 1.0))
}

/// A program on the device and with the native backend. Both have the same arguments and results.
fn pair<A, Sh>(program: &Afun<A, Array<Sh, f32>>, arguments: A) -> Result<Pair>
where
    A: Arrays + Clone + 'static,
    Sh: Shape,
{
    let run = |program: Compiled<A, Array<Sh, f32>>| {
        let arguments = arguments.clone();
        move || -> Result<Array<Sh, f32>> { Ok(program.run(&arguments)?) }
    };
    let (ours, reference) = (run(opencl(program)?), run(native(program)?));
    check_close(ours()?.as_slice(), reference()?.as_slice(), 1e-4)?;
    Ok(Pair { ours: Measure::work(ours), reference: Measure::work(reference) })
}
