//! Mistake: the argument of a program is a scalar, or has a type of unknown kind.
use accel_core::ast::*;
use frunk::{HCons, HNil};

pub fn known(body: &Acc<HCons<f64, HNil>, ()>) -> Program {
    Program::new(&ArraysTy::known(), body)
}

pub fn unknown<P, R>(t: &Ty<P>, body: &Acc<HCons<P, HNil>, R>) -> Program {
    Program::new(t, body)
}

fn main() {}
