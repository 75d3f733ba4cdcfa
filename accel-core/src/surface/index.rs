//! Shapes and indices in scalar code.

use super::graph::{Handle, ScalarOp, build};
use super::handles::Exp;
use super::nodes;
use crate::ast::ty::Repr;
use crate::types::elt::ToExp;
use crate::types::shape::{IntoShape, PushIndex, ShapeLike};
use crate::types::{Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Shape, Snoc, Z};
use std::panic::Location;

impl ShapeLike for i64 {
    type Sh = Dim1;
    #[track_caller]
    fn shape_exp(e: Exp<i64>) -> Exp<Dim1> {
        dims(&[e.handle()])
    }
}
impl ShapeLike for Z {
    type Sh = Z;
    fn shape_exp(e: Exp<Z>) -> Exp<Z> {
        e
    }
}
impl<Sh: Shape> ShapeLike for Snoc<Sh> {
    type Sh = Snoc<Sh>;
    fn shape_exp(e: Exp<Self>) -> Exp<Self> {
        e
    }
}

impl<T: ShapeLike> IntoShape for Exp<T> {
    type Sh = T::Sh;
    #[track_caller]
    fn into_shape(self) -> Exp<T::Sh> {
        T::shape_exp(self)
    }
}
impl IntoShape for () {
    type Sh = Dim0;
    #[track_caller]
    fn into_shape(self) -> Exp<Dim0> {
        dims(&[])
    }
}
impl IntoShape for i64 {
    type Sh = Dim1;
    #[track_caller]
    fn into_shape(self) -> Exp<Dim1> {
        dims(&[self.to_exp().handle()])
    }
}

macro_rules! into_shape {
    ($($dim:ty: $($A:ident $i:tt),+;)*) => { $(
        impl<$($A: ToExp<i64>),+> IntoShape for ($($A,)+) {
            type Sh = $dim;
            #[track_caller]
            fn into_shape(self) -> Exp<$dim> {
                dims(&[$(self.$i.to_exp().handle()),+])
            }
        }
    )* };
}
into_shape! {
    Dim2: A 0, B 1;
    Dim3: A 0, B 1, C 2;
    Dim4: A 0, B 1, C 2, D 3;
    Dim5: A 0, B 1, C 2, D 3, E 4;
    Dim6: A 0, B 1, C 2, D 3, E 4, F 5;
}

type Ix = Exp<i64>;

impl PushIndex<Dim0> for () {
    type Pushed = Ix;
    fn push(self, i: Ix) -> Ix {
        i
    }
}
impl PushIndex<Dim1> for Ix {
    type Pushed = (Ix, Ix);
    fn push(self, i: Ix) -> (Ix, Ix) {
        (self, i)
    }
}
impl PushIndex<Dim2> for (Ix, Ix) {
    type Pushed = (Ix, Ix, Ix);
    fn push(self, i: Ix) -> Self::Pushed {
        (self.0, self.1, i)
    }
}
impl PushIndex<Dim3> for (Ix, Ix, Ix) {
    type Pushed = (Ix, Ix, Ix, Ix);
    fn push(self, i: Ix) -> Self::Pushed {
        (self.0, self.1, self.2, i)
    }
}
impl PushIndex<Dim4> for (Ix, Ix, Ix, Ix) {
    type Pushed = (Ix, Ix, Ix, Ix, Ix);
    fn push(self, i: Ix) -> Self::Pushed {
        (self.0, self.1, self.2, self.3, i)
    }
}
impl PushIndex<Dim5> for (Ix, Ix, Ix, Ix, Ix) {
    type Pushed = (Ix, Ix, Ix, Ix, Ix, Ix);
    fn push(self, i: Ix) -> Self::Pushed {
        (self.0, self.1, self.2, self.3, self.4, i)
    }
}
impl PushIndex<Dim6> for (Ix, Ix, Ix, Ix, Ix, Ix) {
    type Pushed = Exp<Snoc<Dim6>>;
    #[track_caller]
    fn push(self, i: Ix) -> Self::Pushed {
        snoc(self.into_shape(), i)
    }
}
/// With more than six dimensions, an index is an expression of shape type.
impl<Sh: Shape> PushIndex<Snoc<Sh>> for Exp<Snoc<Sh>> {
    type Pushed = Exp<Snoc<Snoc<Sh>>>;
    #[track_caller]
    fn push(self, i: Ix) -> Self::Pushed {
        snoc(self, i)
    }
}

/// The shape or index with these components, outermost first.
#[track_caller]
fn dims<Sh: Shape>(parts: &[Handle]) -> Exp<Sh> {
    let nil = build("shape", Location::caller(), |b| b.push(ScalarOp::Unit, <() as Repr>::raw()));
    let all: Vec<Handle> = std::iter::once(nil).chain(parts.iter().copied()).collect();
    Exp::new(nodes::tuple(&all))
}

/// The index or extent of the innermost dimension.
#[track_caller]
pub fn index_head<Sh: Shape>(ix: Exp<Snoc<Sh>>) -> Exp<i64> {
    Exp::new(nodes::snd(ix.handle()))
}

/// The index or shape without the innermost dimension.
#[track_caller]
pub fn index_tail<Sh: Shape>(ix: Exp<Snoc<Sh>>) -> Exp<Sh> {
    Exp::new(nodes::fst(ix.handle()))
}

/// Adds an innermost dimension to an index or shape.
#[track_caller]
pub fn snoc<Sh: Shape>(outer: impl IntoShape<Sh = Sh>, inner: impl ToExp<i64>) -> Exp<Snoc<Sh>> {
    Exp::new(nodes::tuple(&[outer.into_shape().handle(), inner.to_exp().handle()]))
}

/// The components of a shape or index of any rank, outermost first.
#[track_caller]
pub(crate) fn components<Sh: Shape>(ix: Exp<Sh>) -> Vec<Ix> {
    let mut rest = ix.handle();
    let mut parts = vec![];
    for _ in 0..Sh::RANK {
        parts.push(Exp::new(nodes::snd(rest)));
        rest = nodes::fst(rest);
    }
    parts.reverse();
    parts
}

/// The shape or index with the given components, outermost first; there must be one component for each dimension.
#[track_caller]
pub(crate) fn from_components<Sh: Shape>(parts: &[Ix]) -> Exp<Sh> {
    dims(&parts.iter().map(|i| i.handle()).collect::<Vec<_>>())
}

impl<Sh: Shape> Exp<Sh> {
    /// Splits a shape or index into the form that closures get: `Exp<i64>` for one dimension, a tuple for more.
    #[track_caller]
    pub fn index(self) -> Sh::Index {
        Sh::unlift_index(self)
    }
}
