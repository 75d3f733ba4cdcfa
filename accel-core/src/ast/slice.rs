//! Slice specifications: which dimensions `replicate` adds and `slice` removes.

use super::names::{Equal, Guard, Inv, X, Y, Z};
use super::ty::{ShapeTy, ty};
use crate::repr::RawTy;
use std::marker::PhantomData;
use std::sync::Arc;

/// The relation between the shape `Slx` of the fixed dimensions, the small shape `Small` and the large shape `Large`: every
/// dimension of the large shape is either kept in the small one or fixed.
pub struct SliceSpec<Slx, Small, Large>(Arc<[bool]>, Inv<(Slx, Small, Large)>);

/// The view of a specification, innermost dimension first. `X`, `Y` and `Z` are the fixed, small and large shape of the
/// rest.
pub enum SliceView<'n, Slx, Small, Large> {
    /// No dimension.
    Nil(Equal<Slx, ()>, Equal<Small, ()>, Equal<Large, ()>),
    /// A dimension of both shapes.
    Keep(SliceSpec<X<'n>, Y<'n>, Z<'n>>, Equal<Slx, X<'n>>, Equal<Small, (Y<'n>, i64)>, Equal<Large, (Z<'n>, i64)>),
    /// A dimension of the large shape only.
    Fix(SliceSpec<X<'n>, Y<'n>, Z<'n>>, Equal<Slx, (X<'n>, i64)>, Equal<Small, Y<'n>>, Equal<Large, (Z<'n>, i64)>),
}

fn spec<L, S, G>(kept: Arc<[bool]>) -> SliceSpec<L, S, G> {
    SliceSpec(kept, PhantomData)
}

fn shape<Sh>(rank: usize) -> ShapeTy<Sh> {
    ShapeTy(ty(RawTy::shape(rank)))
}

impl<Slx, Small, Large> Clone for SliceSpec<Slx, Small, Large> {
    fn clone(&self) -> Self {
        self.relabel()
    }
}

impl SliceSpec<(), (), ()> {
    /// No dimension.
    pub fn nil() -> Self {
        spec(Arc::new([]))
    }
}

impl<Slx, Small, Large> SliceSpec<Slx, Small, Large> {
    pub(in crate::ast) fn relabel<L, S, G>(&self) -> SliceSpec<L, S, G> {
        spec(self.0.clone())
    }
    /// Adds a kept innermost dimension.
    pub fn keep(&self) -> SliceSpec<Slx, (Small, i64), (Large, i64)> {
        spec(self.0.iter().copied().chain([true]).collect())
    }
    /// Adds a fixed innermost dimension.
    pub fn fix(&self) -> SliceSpec<(Slx, i64), Small, (Large, i64)> {
        spec(self.0.iter().copied().chain([false]).collect())
    }
    /// For every dimension of the large shape, outermost first: whether it is kept.
    pub fn kept(&self) -> &[bool] {
        &self.0
    }
    /// The type of the fixed dimensions.
    pub fn fixed(&self) -> ShapeTy<Slx> {
        shape(self.0.iter().filter(|kept| !**kept).count())
    }
    /// The type of the small shape.
    pub fn small(&self) -> ShapeTy<Small> {
        shape(self.0.iter().filter(|kept| **kept).count())
    }
    /// The type of the large shape.
    pub fn large(&self) -> ShapeTy<Large> {
        shape(self.0.len())
    }
    /// Replaces the shapes by equal ones.
    pub fn cast<L, S, G>(&self, _: Equal<Slx, L>, _: Equal<Small, S>, _: Equal<Large, G>) -> SliceSpec<L, S, G> {
        self.relabel()
    }
    /// Splits off the innermost dimension.
    pub fn view<'n>(&self, _: Guard<'n>) -> SliceView<'n, Slx, Small, Large> {
        match self.0.split_last() {
            None => SliceView::Nil(Equal::axiom(), Equal::axiom(), Equal::axiom()),
            Some((true, rest)) => SliceView::Keep(spec(rest.into()), Equal::axiom(), Equal::axiom(), Equal::axiom()),
            Some((false, rest)) => SliceView::Fix(spec(rest.into()), Equal::axiom(), Equal::axiom(), Equal::axiom()),
        }
    }
}

impl<'n> SliceSpec<X<'n>, Y<'n>, Z<'n>> {
    /// The specification with the given kept dimensions; its shapes get names.
    pub fn from_kept(kept: &[bool], _: Guard<'n>) -> Self {
        spec(kept.into())
    }
}
