//! Mistake: the condition is used without the state that it is about.
use accel_core::ast::*;
use frunk::HCons;

/// `while c b i = if c i then while c b (b i) else i`
pub fn unroll<E, A, T>(c: &Exp<HCons<T, E>, A, bool>, b: &Exp<HCons<T, E>, A, T>, i: &Exp<E, A, T>) -> Exp<E, A, T> {
    let again = Exp::while_(c, b, &Exp::let_(i, b), None);
    Exp::cond(c, &again, i)
}

fn main() {}
