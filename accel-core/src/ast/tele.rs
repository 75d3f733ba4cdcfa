//! Indexed lists: telescopes of local definitions, tuples of variables, and index-adjoint tuples (see the glossary of
//! the book: telescope, index-adjoint tuple).
//!
//! NOTE \[Telescopes\]: a transformation that computes an environment (the temporaries of a derivative, say) cannot
//! write down this environment in advance. A telescope from `E` to `E2` is a stack of definitions that leads from one
//! environment to the other; `E2` is a name that the caller chooses. Such recursive families belong to the trusted
//! module because their casts must take constant time.

use super::acc::{Ac, Acc};
use super::env::{Idx, Thinning, thinning};
use super::exp::{Ex, Exp, Src};
use super::names::{Equal, Erased, Guard, Inv, X, Y, Z};
use super::thin::{RawThinning, SharedNode};
use super::ty::{Arr, Tan};
use frunk::HCons;
use std::marker::PhantomData;

struct Cell<T: Send + Sync + 'static> {
    len: u32,
    init: Stack<T>,
    last: T,
}
/// A persistent list that grows at its end.
struct Stack<T: Send + Sync + 'static>(Option<SharedNode<Cell<T>>>);
impl<T: Send + Sync> Clone for Stack<T> {
    fn clone(&self) -> Self {
        Stack(self.0.clone())
    }
}
impl<T: Send + Sync> Stack<T> {
    fn len(&self) -> u32 {
        self.0.as_ref().map_or(0, |l| l.get().len)
    }
    fn push(&self, last: T) -> Self {
        Stack(Some(SharedNode::new(Cell { len: self.len() + 1, init: self.clone(), last })))
    }
    fn split(&self) -> Option<(&Stack<T>, &T)> {
        self.0.as_ref().map(|l| (&l.get().init, &l.get().last))
    }
}

/// Definitions of scalars that lead from the environment `E` to `E2`, over the array environment `A`.
pub struct Tele<A, E, E2>(Stack<Ex>, Inv<(A, E, E2)>);
/// Definitions of arrays that lead from the environment `A` to `A2`.
pub struct ATele<A, A2>(Stack<Ac>, Inv<(A, A2)>);

/// The view of a telescope. `X` is the environment before the last definition, and `Y` the type of this definition.
pub enum TeleView<'n, A, E, E2> {
    /// No definition.
    Nil(Equal<E, E2>),
    /// The definitions before the last one, and the last one.
    Extended(Tele<A, E, X<'n>>, Exp<X<'n>, A, Y<'n>>, Equal<E2, HCons<Y<'n>, X<'n>>>),
}
/// The view of a telescope. `X` is the environment before the last definition, and `Y` the type of this definition.
pub enum ATeleView<'n, A, A2> {
    /// No definition.
    Nil(Equal<A, A2>),
    /// The definitions before the last one, and the last one.
    Extended(ATele<A, X<'n>>, Acc<X<'n>, Y<'n>>, Equal<A2, HCons<Y<'n>, X<'n>>>),
}

impl<A, E, E2> Clone for Tele<A, E, E2> {
    fn clone(&self) -> Self {
        Tele(self.0.clone(), PhantomData)
    }
}
impl<A, A2> Clone for ATele<A, A2> {
    fn clone(&self) -> Self {
        ATele(self.0.clone(), PhantomData)
    }
}
impl<A, E> Tele<A, E, E> {
    /// No definition.
    pub fn nil() -> Self {
        Tele(Stack(None), PhantomData)
    }
}
impl<A> ATele<A, A> {
    /// No definition.
    pub fn nil() -> Self {
        ATele(Stack(None), PhantomData)
    }
}
impl<A, E, E2> Tele<A, E, E2> {
    /// The embedding of the first environment into the last one.
    pub fn embedding(&self) -> Thinning<E, E2> {
        thinning(RawThinning::shift(self.0.len()))
    }
    /// Adds a definition.
    pub fn snoc<B>(&self, rhs: &Exp<E2, A, B>) -> Tele<A, E, HCons<B, E2>> {
        Tele(self.0.push(rhs.relabel()), PhantomData)
    }
    /// Replaces the final environment by an equal one.
    pub fn cast<E3>(&self, _: Equal<E2, E3>) -> Tele<A, E, E3> {
        Tele(self.0.clone(), PhantomData)
    }
    /// Replaces both environments by equal ones.
    pub fn cast_all<B, F, F2>(&self, _: Equal<A, B>, _: Equal<E, F>, _: Equal<E2, F2>) -> Tele<B, F, F2> {
        Tele(self.0.clone(), PhantomData)
    }
    /// Splits off the last definition.
    pub fn view<'n>(&self, _: Guard<'n>) -> TeleView<'n, A, E, E2> {
        match self.0.split() {
            None => TeleView::Nil(Equal::axiom()),
            Some((init, last)) => TeleView::Extended(Tele(init.clone(), PhantomData), last.relabel(), Equal::axiom()),
        }
    }
}
impl<A, A2> ATele<A, A2> {
    /// The embedding of the first environment into the last one.
    pub fn embedding(&self) -> Thinning<A, A2> {
        thinning(RawThinning::shift(self.0.len()))
    }
    /// Adds a definition.
    pub fn snoc<B>(&self, rhs: &Acc<A2, B>) -> ATele<A, HCons<B, A2>> {
        ATele(self.0.push(rhs.relabel()), PhantomData)
    }
    /// Replaces the final environment by an equal one.
    pub fn cast<A3>(&self, _: Equal<A2, A3>) -> ATele<A, A3> {
        ATele(self.0.clone(), PhantomData)
    }
    /// Replaces both environments by equal ones.
    pub fn cast_all<F, F2>(&self, _: Equal<A, F>, _: Equal<A2, F2>) -> ATele<F, F2> {
        ATele(self.0.clone(), PhantomData)
    }
    /// Splits off the last definition.
    pub fn view<'n>(&self, _: Guard<'n>) -> ATeleView<'n, A, A2> {
        match self.0.split() {
            None => ATeleView::Nil(Equal::axiom()),
            Some((init, last)) => ATeleView::Extended(ATele(init.clone(), PhantomData), last.relabel(), Equal::axiom()),
        }
    }
}

/// Some variables of `E`, and the left-nested tuple type `T` of their tangents: `()` for none, `(T', Tan<V>)` for one more.
pub struct VarTuple<E, T>(Stack<Idx<Erased, Erased>>, Inv<(E, T)>);
/// The view of a tuple of variables. `X` is the rest of the tuple type, and `Y` the type of the last variable.
pub enum VarTupleView<'n, E, T> {
    /// No variable.
    Nil(Equal<T, ()>),
    /// The variables before the last one, and the last one.
    Extended(VarTuple<E, X<'n>>, Idx<E, Y<'n>>, Equal<T, (X<'n>, Tan<Y<'n>>)>),
}
impl<E, T> Clone for VarTuple<E, T> {
    fn clone(&self) -> Self {
        VarTuple(self.0.clone(), PhantomData)
    }
}
impl<E> VarTuple<E, ()> {
    /// No variable.
    pub fn nil() -> Self {
        VarTuple(Stack(None), PhantomData)
    }
}
impl<E, T> VarTuple<E, T> {
    /// Adds a variable.
    pub fn snoc<V>(&self, i: &Idx<E, V>) -> VarTuple<E, (T, Tan<V>)> {
        VarTuple(self.0.push(i.relabel()), PhantomData)
    }
    /// Replaces the tuple type by an equal one.
    pub fn cast<U>(&self, _: Equal<T, U>) -> VarTuple<E, U> {
        VarTuple(self.0.clone(), PhantomData)
    }
    /// Splits off the last variable.
    pub fn view<'n>(&self, _: Guard<'n>) -> VarTupleView<'n, E, T> {
        match self.0.split() {
            None => VarTupleView::Nil(Equal::axiom()),
            Some((init, i)) => VarTupleView::Extended(VarTuple(init.clone(), PhantomData), i.relabel(), Equal::axiom()),
        }
    }
}

/// The layout of an index-adjoint tuple (thesis section 3.4.1). `T` is a left-nested tuple with one entry (adjoint,
/// (executed?, index)) for each place where scalar code reads an array variable of `A`.
pub struct Sites<A, T>(Stack<(Idx<Erased, Erased>, Src)>, Inv<(A, T)>);
/// The view of the sites. `X` is the rest of the tuple type; `Y` and `Z` are the shape and the element type of the
/// array read last.
pub enum SitesView<'n, A, T> {
    /// No site.
    Nil(Equal<T, ()>),
    /// The sites before the last one, the array of the last one, and its place in the user's source.
    Extended(Sites<A, X<'n>>, Idx<A, Arr<Y<'n>, Z<'n>>>, Src, Equal<T, (X<'n>, (Tan<Z<'n>>, (bool, Y<'n>)))>),
}
impl<A, T> Clone for Sites<A, T> {
    fn clone(&self) -> Self {
        Sites(self.0.clone(), PhantomData)
    }
}
impl<A> Sites<A, ()> {
    /// No site.
    pub fn nil() -> Self {
        Sites(Stack(None), PhantomData)
    }
}
impl<A, T> Sites<A, T> {
    /// Adds a site.
    pub fn snoc<Sh, V>(&self, i: &Idx<A, Arr<Sh, V>>, at: Src) -> Sites<A, (T, (Tan<V>, (bool, Sh)))> {
        Sites(self.0.push((i.relabel(), at)), PhantomData)
    }
    /// Replaces the tuple type by an equal one.
    pub fn cast<U>(&self, _: Equal<T, U>) -> Sites<A, U> {
        Sites(self.0.clone(), PhantomData)
    }
    /// Replaces the array environment by an equal one.
    pub fn cast_aenv<B>(&self, _: Equal<A, B>) -> Sites<B, T> {
        Sites(self.0.clone(), PhantomData)
    }
    /// Whether there is no site: no array is read.
    pub fn is_empty(&self) -> bool {
        self.0.0.is_none()
    }
    /// Splits off the last site.
    pub fn view<'n>(&self, _: Guard<'n>) -> SitesView<'n, A, T> {
        match self.0.split() {
            None => SitesView::Nil(Equal::axiom()),
            Some((init, (i, at))) => {
                SitesView::Extended(Sites(init.clone(), PhantomData), i.relabel(), *at, Equal::axiom())
            }
        }
    }
}
