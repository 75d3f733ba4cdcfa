//! Forward mode by itself.

use crate::harness::{V, for_all};
use crate::refined::{Floats, NonEmpty};
use accel::prelude::*;
use accel_core::repr::ArrayTuple;

/// Forward mode is linear, with tangents in all directions at once.
#[test]
fn forward_mode_is_linear() {
    let program = jvp(&afun(|a: V| scanl1(|x, y| x * y, map(|x| x.cos(), a))));
    let tangent = crate::harness::Ready::new(&program);
    for_all(move |a: &Floats<NonEmpty>| {
        let of = |f: &dyn Fn(usize) -> f64| {
            let d: Vec<f64> = (0..a.0.len()).map(f).collect();
            let d = Arrays::to_tuple(&Vector::vector(d));
            Ok::<_, String>(
                crate::harness::floats(&tangent.run(&ArrayTuple::pair(a.array(), d))?)[a.0.len()..].to_vec(),
            )
        };
        let (u, v) = (of(&|i| i as f64)?, of(&|i| 1.0 / (i + 1) as f64)?);
        let both = of(&|i| 2.0 * i as f64 - 3.0 / (i + 1) as f64)?;
        for (k, both) in both.iter().enumerate() {
            let sum = 2.0 * u[k] - 3.0 * v[k];
            if (both - sum).abs() > 1e-9 * (1.0 + u[k].abs() + v[k].abs()) {
                return Err(format!("tangent {k}: {both} at once, {sum} from two"));
            }
        }
        Ok(())
    });
}
