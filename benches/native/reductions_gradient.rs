//! The gradients of reductions of 16M f32, compared with the reductions themselves.

use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, native};
use bench_common::data::{LARGE, uniform};

type Reduction = fn(Acc<Vector<f32>>) -> Acc<Scalar<f32>>;

pub fn cases() -> Vec<Case> {
    let case = |name: &str, reduction: Reduction| {
        let setup = move || {
            // Close to 1, so that the product is neither 0 nor infinite.
            let xs: Vector<f32> = Array::vector(uniform(1, LARGE, 0.9999, 1.0001));
            let prog = afun(reduction);
            let (primal, gradient) = (native(&prog)?, native(&grad(&prog))?);
            primal.run(&xs)?;
            let found = gradient.run(&xs)?;
            if found.len() != LARGE || !found.as_slice().iter().all(|g| g.is_finite()) {
                return Err("the gradient is not a finite number for each element".into());
            }
            let xs2 = xs.clone();
            Ok(Pair {
                ours: Measure::work(move || Ok(gradient.run(&xs)?)),
                reference: Measure::work(move || Ok(primal.run(&xs2)?)),
            })
        };
        let work = format!("gradient of {name}, 16M f32");
        Case::new("reductions_gradient", work, "its own primal", [Asked::Cost(3.0)], setup)
    };
    vec![case("sum", |xs| sum(xs)), case("product", |xs| product(xs)), case("minimum", |xs| minimum(xs))]
}
