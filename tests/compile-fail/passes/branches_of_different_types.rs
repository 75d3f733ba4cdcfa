//! Mistake: a branch is the condition.
use accel_core::ast::*;
use frunk::HCons;

/// `while c b i = if c i then while c b (b i) else i`
pub fn unroll<E, A, T>(c: &Exp<HCons<T, E>, A, bool>, b: &Exp<HCons<T, E>, A, T>, i: &Exp<E, A, T>) -> Exp<E, A, T> {
    let again = Exp::while_(c, b, &Exp::let_(i, b), None);
    Exp::cond(&Exp::let_(i, c), &again, c)
}

fn main() {}
