//! A processor as an OpenCL device, beside the native backend and the `gemm` crate.

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
        case("axpy", || {
            let axpy = afun(axpy::<f32>);
            let (a, xs, ys) = (Array::scalar(0.5), vector(1), vector(2));
            let run = |program: Compiled<_, _>| {
                let arguments = (a.clone(), xs.clone(), ys.clone());
                move || Ok(program.run(&arguments)?)
            };
            pair(run(opencl(&axpy)?), run(native(&axpy)?))
        }),
        case("dot", || {
            let dot = afun(|xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>| dot(xs, ys));
            let (xs, ys) = (vector(1), vector(2));
            let run = |program: Compiled<_, _>| {
                let arguments = (xs.clone(), ys.clone());
                move || Ok(program.run(&arguments)?)
            };
            pair(run(opencl(&dot)?), run(native(&dot)?))
        }),
        case("sum", || {
            let sum = afun(|xs: Acc<Vector<f32>>| sum(xs));
            let xs = vector(1);
            let run = |program: Compiled<_, _>| {
                let xs = xs.clone();
                move || Ok(program.run(&xs)?)
            };
            pair(run(opencl(&sum)?), run(native(&sum)?))
        }),
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

/// Both sides, which compute the same.
fn pair<Sh: Shape>(
    ours: impl Fn() -> Result<Array<Sh, f32>> + 'static,
    reference: impl Fn() -> Result<Array<Sh, f32>> + 'static,
) -> Result<Pair> {
    check_close(ours()?.as_slice(), reference()?.as_slice(), 1e-4)?;
    Ok(Pair { ours: Measure::work(ours), reference: Measure::work(reference) })
}
