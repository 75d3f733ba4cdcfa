//! Mistake: records say that they are represented by types of the other kind.
use accel_core::ast::*;
use accel_core::repr::{ArrayTuple, Scalar, Scalars, Views, ViewsMut};
use accel_core::surface::{Acc, Exp};
use accel_core::types::{Arrays, Elt};

#[derive(Clone)]
struct Mine;

impl Elt for Mine {
    type Repr = Arr<(), f64>;
    type Exp = Exp<Mine>;
    fn to_scalars(&self, _: &mut Scalars) {}
    fn from_scalars(_: &mut dyn Iterator<Item = Scalar>) -> Option<Self> {
        None
    }
    fn unlift(e: Exp<Self>) -> Self::Exp {
        e
    }
}

impl Arrays for Mine {
    type Repr = (f64, f64);
    type Acc = Acc<Mine>;
    fn to_tuple(&self) -> ArrayTuple {
        ArrayTuple::Unit
    }
    fn from_tuple(_: ArrayTuple) -> accel_core::error::Result<Self> {
        Ok(Mine)
    }
    fn views<'a>(&'a self, _: &mut Views<'a>) {}
    fn views_mut<'a>(&'a mut self, _: &mut ViewsMut<'a>) {}
    fn unlift(a: Acc<Self>) -> Self::Acc {
        a
    }
    fn names(_: &str, _: &mut Vec<String>) {}
}

fn main() {}
