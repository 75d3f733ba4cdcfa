//! The functions of the evals in plain loops, with derivatives found by hand.
#![allow(dead_code, reason = "each test program uses a part")]

#[path = "../../../../benches/native/ba_by_hand.rs"]
pub mod ba;
pub mod descent;
pub mod det;
pub mod gmm;
pub mod ht;
pub mod kmeans;
pub mod llsq;
pub mod lse;
pub mod lstm;
pub mod ode;

/// The weighted reprojection error of an observation. It is linear in the weight, so it is the derivative by the
/// weight, multiplied by the weight.
pub fn residual(problem: &ba::Problem, i: usize) -> [f64; 2] {
    let (_, _, values) = ba::jacobian(problem);
    [values[30 * i + 14], values[30 * i + 29]].map(|by_weight| by_weight * problem.weights[i])
}
