//! Mistake: an equality, and the right to a name, are made from nothing.
use accel_core::ast::*;
use std::marker::PhantomData;

pub fn forged() -> Equal<f64, i64> {
    Equal(PhantomData)
}

pub fn again<'n>() -> Equal<f64, X<'n>> {
    name(Guard(PhantomData))
}

pub fn twice<'n>(n: Guard<'n>) -> Equal<f64, i64> {
    let (a, b) = (name(n), name(n.clone()));
    Equal::then(a, Equal::sym(b))
}

fn main() {}
