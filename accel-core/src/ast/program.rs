//! Programs: closed array functions, which are differentiated, optimised and run.

use super::acc::{Ac, Acc};
use super::names::{Guard, X};
use super::ty::{ArraysTy, ty};
use crate::repr::RawTy;
use frunk::{HCons, HNil};

/// A closed function of one argument (an array or a tuple of arrays), with its types erased to data.
#[derive(Clone)]
pub struct Program {
    arg: RawTy,
    body: Ac,
}

/// A program whose types have names: the type of the argument, and the body in the scope of the argument.
pub struct Opened<'p, 'r> {
    /// The type of the argument.
    pub arg: ArraysTy<X<'p>>,
    /// The type of the result.
    pub result: ArraysTy<X<'r>>,
    /// The result in terms of the argument.
    pub body: Acc<HCons<X<'p>, HNil>, X<'r>>,
}

impl Program {
    /// Makes the function that computes `body` from an argument of type `arg`.
    pub fn new<P, R>(arg: &ArraysTy<P>, body: &Acc<HCons<P, HNil>, R>) -> Self {
        Program { arg: arg.raw().clone(), body: body.relabel() }
    }
    /// Gives names to the types of the argument and of the result.
    pub fn open<'p, 'r>(&self, _: Guard<'p>, _: Guard<'r>) -> Opened<'p, 'r> {
        // A computation whose only variable has an array type has an array type itself.
        let (arg, result) = (ArraysTy(ty(self.arg.clone())), ArraysTy(self.body.ty.relabel()));
        Opened { arg, result, body: self.body.relabel() }
    }
    /// The type of the argument.
    pub fn arg(&self) -> &RawTy {
        &self.arg
    }
    /// The type of the result.
    pub fn result(&self) -> &RawTy {
        &self.body.ty.0
    }
}
