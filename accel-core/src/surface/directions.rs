//! Derivatives in several constant directions.

use super::graph::{ArrayOp, Builder, Lam, NodeId, Op, ScalarOp, build, record};
use super::nodes::array_component;
use crate::ast::{Program, deep};
use crate::elaborate::elaborate;
use crate::error::{Error, Result};
use crate::repr::RawTy;
use std::panic::Location;

/// From the derivative `(x, dx) -> (y, dy)`, the program `(x, dx) -> ((dy_1, dy_2), .., dy)`: the tangents in these directions, and
/// then that in the direction `dx`. A direction has a number for each floating-point component of each array of `dx`, which all
/// elements have in common. Directions that are constants make operations with zeros disappear; and scalar code of all directions
/// computes once what it has in common.
///
/// # Errors
/// `Error::Internal` for a program of another type.
pub fn along_constants(derivative: &Program, directions: &[Vec<f64>]) -> Result<Program> {
    let at = Location::caller();
    let is_derivative = matches!((derivative.arg(), derivative.result()), (RawTy::Pair(_), RawTy::Pair(_)));
    if !is_derivative {
        return Err(Error::Internal("a derivative in forward mode is missing".into()));
    }
    let staged = record(derivative.arg().clone(), at, |both| {
        build("jvp", at, |b| {
            let both = b.id(both);
            let [x, dx] = [true, false].map(|first| array_component(b, both, first));
            let along = |b: &mut Builder, dx| {
                let both = b.array_pair(x, dx);
                let results = b.push(ArrayOp::Call(derivative.clone(), both), derivative.result().clone());
                array_component(b, results, false)
            };
            let mut all = None;
            for direction in directions {
                let constants = constants(b, dx, &mut direction.iter().copied());
                let tangents = along(b, constants);
                all = Some(all.map_or(tangents, |all| b.array_pair(all, tangents)));
            }
            let last = along(b, dx);
            all.map_or(last, |all| b.array_pair(all, last))
        })
    })?;
    elaborate(&staged)
}

/// Arrays of the shapes of `like` with these numbers in all their elements.
fn constants(b: &mut Builder, like: NodeId, numbers: &mut dyn Iterator<Item = f64>) -> NodeId {
    match b.ty(like) {
        RawTy::Pair(_) => deep(|| {
            let [x, y] = [true, false].map(|first| array_component(b, like, first));
            let x = constants(b, x, numbers);
            let y = constants(b, y, numbers);
            b.array_pair(x, y)
        }),
        RawTy::Array(array) => {
            let element = array.1.clone();
            let mut number = |float| if float { numbers.next().unwrap_or(0.0) } else { 0.0 };
            let leaves: Vec<_> = element.leaves().iter().map(|t| t.from_f64(number(t.is_float()))).collect();
            let params = vec![b.push(Op::Param, element.clone())];
            let body = b.push(ScalarOp::Const(leaves.as_slice().into()), element);
            b.push(ArrayOp::Map(Lam { params, body }, like), RawTy::Array(array))
        }
        RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => like,
    }
}
