//! Programs in several forms that users write, compared with JAX. No form should be much slower than the best one.

#[path = "../programs/convolution.rs"]
mod convolution;
#[path = "../programs/nbody.rs"]
mod nbody;

use accel::afun::Afun;
use accel::prelude::*;
use bench_common::case::{Asked, Case, Pair, Result};
use bench_common::data::uniform;
use bench_common::jax;
use convolution::Four;
use nbody::Bodies;

pub fn cases() -> Vec<Case> {
    let case = |work: String, setup: Box<dyn FnOnce() -> Result<Pair>>| {
        Case::new("forms", work, "JAX", [Asked::Speed(1.0)], setup)
    };
    let mut cases = vec![];
    type Energy = fn(Bodies) -> Acc<Scalar<f64>>;
    let energies: [(&str, Energy); 4] = [
        ("pairs i < j", nbody::ordered),
        ("tuples, pairs i ≠ j", nbody::different),
        ("zip_with of replicates", nbody::replicated),
        ("generate with reads", nbody::read),
    ];
    for (form, energy) in energies {
        let work = format!("energy of 2,000 bodies, value and gradient: {form}");
        cases.push(case(work, Box::new(move || bodies(&afun(energy)))));
    }
    let convolutions: [(&str, fn(Four<f32>, Four<f32>) -> Four<f32>); 4] = [
        ("matrix of patches", convolution::matrix_of_patches),
        ("nine products", convolution::nine_products),
        ("one generate, places written out", convolution::places_written_out),
        ("one generate, as the formula", convolution::formula),
    ];
    for (form, convolution) in convolutions {
        let work = |what: &str| format!("convolution 3 × 3, 16 to 32 channels, 8 × 64 × 64 f32, {what}: {form}");
        cases.push(case(
            work("value"),
            Box::new(move || jax::beside(&afun(convolution), "convolution", images()?, 1e-5)),
        ));
        cases.push(case(
            work("gradient"),
            Box::new(move || {
                let half_of_squares = afun(move |xs: Four<f32>, weights: Four<f32>| {
                    map(|e| e * 0.5, sum_all(map(|y| y * y, convolution(xs, weights))))
                });
                jax::beside(&value_and_grad(&half_of_squares), "convolution_gradient", images()?, 1e-4)
            }),
        ));
    }
    cases
}

fn bodies(energy: &Afun<Matrix<f64>, Scalar<f64>>) -> Result<Pair> {
    let n = 2_000;
    jax::beside(&value_and_grad(energy), "nbody", Array::matrix(n, 3, uniform(1, 3 * n, -1.0, 1.0))?, 1e-9)
}

fn images() -> Result<(Array<Dim4, f32>, Array<Dim4, f32>)> {
    let array =
        |extents: [usize; 4], seed| Array::from_vec(extents, uniform(seed, extents.iter().product(), -1.0, 1.0));
    Ok((array([8, 66, 66, 16], 1)?, array([3, 3, 16, 32], 2)?))
}
