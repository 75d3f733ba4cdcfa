//! Mistake: `f` does not live below the result of `g`.
use accel_core::ast::*;

/// `f . g`
pub fn compose<A, P, Q, R>(f: &Fun1<A, Q, R>, g: &Fun1<A, P, Q>) -> Fun1<A, P, R> {
    Fun1(Exp::let_(&g.0, &f.0))
}

fn main() {}
