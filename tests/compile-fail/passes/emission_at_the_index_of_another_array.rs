//! The index of an array of another shape takes the place of that of the accumulator.

use accel_core::ast::*;

pub fn emit<E, A, Sh, Sh2, T>(
    token: &Exp<E, A, f32>,
    to: &Accumulator<Sh, T>,
    other: &Exp<E, A, Sh2>,
    value: &Exp<E, A, T>,
) -> Exp<E, A, f32> {
    token.emit(to, other, value, None)
}

fn main() {}
