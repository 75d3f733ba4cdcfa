//! Untyped helpers that add scalar operations, tuples and closures to the graph.

use super::graph::{ArrayOp, Builder, Handle, Lam, NodeId, Op, ScalarOp, attribute_to, build};
use crate::repr::op::{Op1, Op2};
use crate::repr::{RawTy, Scalar};
use std::panic::Location;

/// A place in the user's source.
pub(crate) type At = &'static Location<'static>;

/// A closure that has been called: its parameters and its result.
pub(crate) struct Closure {
    params: Vec<Handle>,
    body: Handle,
}

impl Closure {
    /// The closure as a part of a node.
    pub fn lam(&self, b: &mut Builder) -> Lam {
        let params = self.params.iter().map(|p| b.id(*p)).collect();
        Lam { params, body: b.id(self.body) }
    }
}

/// Calls a closure with parameters of the given types. `open` splits the parameters into components, and `close` makes
/// one node of the result; both run on behalf of the function `name`.
pub(crate) fn closure<const N: usize, X, Y>(
    name: &'static str,
    at: At,
    types: [RawTy; N],
    open: impl FnOnce([Handle; N]) -> X,
    f: impl FnOnce(X) -> Y,
    close: impl FnOnce(Y) -> Handle,
) -> Closure {
    let params = params(name, at, types);
    let x = {
        let _site = attribute_to(name, at);
        open(params)
    };
    let y = f(x);
    let _site = attribute_to(name, at);
    Closure { params: params.to_vec(), body: close(y) }
}

/// Adds parameters of the given types. This is separate from [`closure`] so that it is compiled only once, not for each
/// closure in a user's crate.
fn params<const N: usize>(name: &'static str, at: At, types: [RawTy; N]) -> [Handle; N] {
    types.map(|ty| build(name, at, |b| b.push(Op::Param, ty)))
}

/// Adds a constant of type `ty`.
pub(crate) fn constant(at: At, ty: RawTy, leaves: &[Scalar]) -> Handle {
    build("constant", at, |b| b.push(ScalarOp::Const(leaves.into()), ty))
}

/// Adds a primitive function of one argument, with a result of type `ty`.
pub(crate) fn prim1(name: &'static str, at: At, op: Op1, ty: RawTy, x: Handle) -> Handle {
    build(name, at, |b| {
        let x = b.id(x);
        b.push(ScalarOp::Prim1(op, x), ty)
    })
}

/// Adds a primitive function of two arguments, with a result of type `ty`.
pub(crate) fn prim2(name: &'static str, at: At, op: Op2, ty: RawTy, x: Handle, y: Handle) -> Handle {
    build(name, at, |b| {
        let (x, y) = (b.id(x), b.id(y));
        b.push(ScalarOp::Prim2(op, x, y), ty)
    })
}

/// The operations on pairs in one of the two layers.
struct Pairs {
    pair: fn(NodeId, NodeId) -> Op,
    fst: fn(NodeId) -> Op,
    snd: fn(NodeId) -> Op,
}
const SCALARS: Pairs = Pairs {
    pair: |x, y| ScalarOp::Pair(x, y).into(),
    fst: |x| ScalarOp::Fst(x).into(),
    snd: |x| ScalarOp::Snd(x).into(),
};
const ARRAYS: Pairs =
    Pairs { pair: |x, y| ArrayOp::Pair(x, y).into(), fst: |x| ArrayOp::Fst(x).into(), snd: |x| ArrayOp::Snd(x).into() };

/// Adds a pair.
fn push_pair(b: &mut Builder, pairs: &Pairs, x: NodeId, y: NodeId) -> NodeId {
    let ty = RawTy::pair(b.ty(x), b.ty(y));
    b.push((pairs.pair)(x, y), ty)
}

/// A component of a pair. If the pair was just built, this is the node from which it was built.
fn push_component(b: &mut Builder, pairs: &Pairs, x: NodeId, first: bool) -> NodeId {
    if let Op::Scalar(ScalarOp::Pair(l, r)) | Op::Array(ArrayOp::Pair(l, r)) = *b.op(x) {
        return if first { l } else { r };
    }
    let RawTy::Pair(p) = b.ty(x) else {
        let found = b.ty(x);
        b.type_error("a pair", &found);
        return x;
    };
    if first { b.push((pairs.fst)(x), p.0.clone()) } else { b.push((pairs.snd)(x), p.1.clone()) }
}

/// A component of a pair of arrays or tuples of them.
pub(crate) fn array_component(b: &mut Builder, x: NodeId, first: bool) -> NodeId {
    push_component(b, &ARRAYS, x, first)
}

fn nest(pairs: &Pairs, at: At, parts: &[Handle]) -> Handle {
    build("tuple", at, |b| {
        let mut parts = parts.iter();
        let Some(first) = parts.next() else { return b.push(ScalarOp::Unit, RawTy::Unit) };
        let mut t = b.id(*first);
        for part in parts {
            let part = b.id(*part);
            t = push_pair(b, pairs, t, part);
        }
        t
    })
}

fn unnest<const N: usize>(pairs: &Pairs, at: At, x: Handle) -> [Handle; N] {
    let mut parts = [Handle::DEAD; N];
    let mut rest = x;
    for i in (1..N).rev() {
        parts[i] = component(pairs, "tuple", at, rest, false);
        rest = component(pairs, "tuple", at, rest, true);
    }
    parts[0] = rest;
    parts
}

fn component(pairs: &Pairs, name: &'static str, at: At, x: Handle, first: bool) -> Handle {
    build(name, at, |b| {
        let x = b.id(x);
        push_component(b, pairs, x, first)
    })
}

/// Represents a tuple by pairs nested to the left.
#[track_caller]
pub(crate) fn tuple(parts: &[Handle]) -> Handle {
    nest(&SCALARS, Location::caller(), parts)
}

/// The components of a tuple with `N` components.
#[track_caller]
pub(crate) fn components<const N: usize>(x: Handle) -> [Handle; N] {
    unnest(&SCALARS, Location::caller(), x)
}

/// Represents a tuple of arrays by pairs nested to the left.
#[track_caller]
pub(crate) fn array_tuple(parts: &[Handle]) -> Handle {
    nest(&ARRAYS, Location::caller(), parts)
}

/// A tuple in the layer of its components. Those without numbers become units.
#[track_caller]
pub(crate) fn either_tuple(parts: &[Handle]) -> Handle {
    let at = Location::caller();
    let units = |pairs: &Pairs, unit: fn() -> Op| {
        let parts: Vec<_> = parts
            .iter()
            .map(|part| {
                build("tuple", at, |b| {
                    let part = b.id(*part);
                    if b.ty(part).width() == 0 { b.push(unit(), RawTy::Unit) } else { part }
                })
            })
            .collect();
        nest(pairs, at, &parts)
    };
    let mut arrays = false;
    build("tuple", at, |b| {
        let parts: Vec<_> = parts.iter().map(|part| b.id(*part)).collect();
        arrays = parts.iter().any(|part| b.ty(*part).width() > 0 && b.ty(*part).is_array_tuple());
        parts[0]
    });
    if arrays { units(&ARRAYS, || ArrayOp::Unit.into()) } else { units(&SCALARS, || ScalarOp::Unit.into()) }
}

/// The components of a tuple of `N` arrays.
#[track_caller]
pub(crate) fn array_components<const N: usize>(x: Handle) -> [Handle; N] {
    unnest(&ARRAYS, Location::caller(), x)
}

/// The first component of a pair.
#[track_caller]
pub(crate) fn fst(x: Handle) -> Handle {
    component(&SCALARS, "fst", Location::caller(), x, true)
}

/// The second component of a pair.
#[track_caller]
pub(crate) fn snd(x: Handle) -> Handle {
    component(&SCALARS, "snd", Location::caller(), x, false)
}
