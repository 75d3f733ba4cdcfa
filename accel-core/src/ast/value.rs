//! Typed constants: tuples of scalars, and arrays.

use super::names::{Equal, Inv};
use super::ty::{ElementTy, FloatTy, NumTy, Repr, ScalarTy, Ty, ty};
use crate::repr::scalar::ScalarElt;
use crate::repr::{ArrayTuple, RawArray, RawTy, Scalar};
use std::marker::PhantomData;
use std::sync::Arc;

/// A constant of the element type `T`: its scalar leaves from left to right.
pub struct Value<T>(Arc<[Scalar]>, Inv<T>);

impl<T> Clone for Value<T> {
    fn clone(&self) -> Self {
        self.relabel()
    }
}

fn value<T>(v: Arc<[Scalar]>) -> Value<T> {
    Value(v, PhantomData)
}

impl<T> Value<T> {
    pub(in crate::ast) fn relabel<U>(&self) -> Value<U> {
        value(self.0.clone())
    }
    /// The scalar leaves.
    pub fn scalars(&self) -> &[Scalar] {
        &self.0
    }
    /// Replaces the type by an equal one.
    pub fn cast<U>(&self, _: Equal<T, U>) -> Value<U> {
        self.relabel()
    }
    /// Makes a constant from its leaves; `None` if they are not the leaves of `t`, or if `t` has no constants.
    pub fn check(leaves: &[Scalar], t: &Ty<T>) -> Option<Self> {
        ElementTy::of(t)?;
        let types = t.0.leaves();
        let ok = types.len() == leaves.len() && leaves.iter().zip(&types).all(|(v, t)| v.ty() == *t);
        ok.then(|| value(leaves.into()))
    }
    /// Zero, `false` and `()` in every leaf.
    pub fn zero(t: &ElementTy<T>) -> Self {
        value(t.raw().leaves().into_iter().map(|s| s.zero()).collect())
    }
}
impl<T: ScalarElt + Repr> Value<T> {
    /// A scalar constant.
    pub fn of(x: T) -> Self {
        value(Arc::new([x.to_scalar()]))
    }
}
impl Value<()> {
    /// The empty tuple.
    pub fn unit() -> Self {
        value(Arc::new([]))
    }
}
impl<A, B> Value<(A, B)> {
    /// The components. `t` says where to split.
    pub fn split(&self, t: &Ty<(A, B)>) -> (Value<A>, Value<B>) {
        let (a, _) = t.parts();
        let (x, y) = self.0.split_at(a.0.width());
        (value(x.into()), value(y.into()))
    }
}
impl<T> FloatTy<T> {
    /// The constant nearest to `x`.
    pub fn value(self, x: f64) -> Value<T> {
        self.num().value(x)
    }
}
impl<T> NumTy<T> {
    /// The constant nearest to `x`.
    pub fn value(self, x: f64) -> Value<T> {
        value(Arc::new([self.0.from_f64(x)]))
    }
}
impl<T> ScalarTy<T> {
    /// Makes a constant of this type from a scalar; `None` if the scalar has another type.
    pub fn value(self, x: Scalar) -> Option<Value<T>> {
        (x.ty() == self.0).then(|| value(Arc::new([x])))
    }
}

/// An array or a tuple of arrays of type `T` that is part of a program.
pub struct Literal<T>(Arc<ArrayTuple>, Ty<T>);

impl<T> Clone for Literal<T> {
    fn clone(&self) -> Self {
        self.relabel()
    }
}

impl<T> Literal<T> {
    pub(in crate::ast) fn relabel<U>(&self) -> Literal<U> {
        Literal(self.0.clone(), self.1.relabel())
    }
    /// The arrays.
    pub fn arrays(&self) -> &ArrayTuple {
        &self.0
    }
    /// The type.
    pub fn ty(&self) -> &Ty<T> {
        &self.1
    }
    /// Makes a constant of type `t` from arrays; `None` if they do not have this type.
    pub fn check(a: ArrayTuple, t: &Ty<T>) -> Option<Self> {
        conforms(&a, &t.0).then(|| Literal(Arc::new(a), ty(t.0.clone())))
    }
}

/// Makes a constant of arrays without checking their type, for tests of `lint`.
#[cfg(test)]
pub(in crate::ast) fn unchecked_literal<T>(a: ArrayTuple, t: &Ty<T>) -> Literal<T> {
    Literal(Arc::new(a), t.clone())
}

/// Whether arrays have a type: ranks, leaves of elements and lengths of columns match.
pub fn conforms(a: &ArrayTuple, t: &RawTy) -> bool {
    match (a, t) {
        (ArrayTuple::Unit, RawTy::Unit) => true,
        (ArrayTuple::Pair(p), RawTy::Pair(t)) => conforms(&p.0, &t.0) && conforms(&p.1, &t.1),
        (ArrayTuple::Array(a), RawTy::Array(t)) => array_conforms(a, &t.0, &t.1),
        _ => false,
    }
}

fn array_conforms(a: &RawArray, sh: &RawTy, t: &RawTy) -> bool {
    let size = a.size();
    a.extents.len() == sh.width() && a.has_elements_of(t) && a.columns.iter().all(|c| c.len() == size)
}
