//! Typed De Bruijn indices, thinnings, sizes of environments, and tables with one entry per variable.

use super::names::{Equal, Guard, Inv, S, X, Y};
use super::thin::{List, Th, Th2};
use super::ty::{Ty, ty};
use crate::repr::RawTy;
use frunk::{HCons, HNil};
use std::marker::PhantomData;

/// A variable of type `T` in the environment `E`.
pub struct Idx<E, T>(pub(in crate::ast) u32, pub(in crate::ast) Ty<T>, Inv<E>);

impl<E, T> Clone for Idx<E, T> {
    fn clone(&self) -> Self {
        self.relabel()
    }
}

pub(in crate::ast) fn idx<E, T>(i: u32, t: Ty<T>) -> Idx<E, T> {
    Idx(i, t, PhantomData)
}

impl<E, T> Idx<E, T> {
    pub(in crate::ast) fn relabel<F, U>(&self) -> Idx<F, U> {
        idx(self.0, self.1.relabel())
    }
    /// The type of the variable.
    pub fn ty(&self) -> &Ty<T> {
        &self.1
    }
    /// The De Bruijn index: how many variables were bound after this one.
    pub fn depth(&self) -> usize {
        self.0 as usize
    }
    /// The same variable under an equal type.
    pub fn cast<U>(&self, _: Equal<T, U>) -> Idx<E, U> {
        self.relabel()
    }
    /// The same variable under an equal environment.
    pub fn cast_env<F>(&self, _: Equal<E, F>) -> Idx<F, T> {
        self.relabel()
    }
    /// Whether two variables are the same one; then their types are equal.
    pub fn same<U>(&self, other: &Idx<E, U>) -> Option<Equal<T, U>> {
        (self.0 == other.0).then(Equal::axiom)
    }
}
impl<E, T> Idx<HCons<T, E>, T> {
    /// The variable bound last.
    pub fn zero(t: &Ty<T>) -> Self {
        idx(0, t.clone())
    }
}
impl<B, E, T> Idx<HCons<B, E>, T> {
    /// A variable of `E`, seen below one more binder.
    pub fn succ(i: &Idx<E, T>) -> Self {
        idx(i.0 + 1, i.1.clone())
    }
}

/// A thinning: an order-preserving embedding of the environment `E` into `E2`.
pub struct Ren<E, E2>(pub(in crate::ast) Th, Inv<(E, E2)>);

pub(in crate::ast) fn ren<E, E2>(t: Th) -> Ren<E, E2> {
    Ren(t, PhantomData)
}

impl<E, E2> Clone for Ren<E, E2> {
    fn clone(&self) -> Self {
        ren(self.0.clone())
    }
}
impl<E> Ren<E, E> {
    /// Every variable stays.
    pub fn id() -> Self {
        ren(Th::Id)
    }
}
impl<B, E> Ren<E, HCons<B, E>> {
    /// Below one more binder.
    pub fn shift() -> Self {
        ren(Th::shift(1))
    }
}
impl<E> Ren<HNil, E> {
    /// The empty environment embeds into every other.
    pub fn from_nil() -> Self {
        ren(Th::Id)
    }
}
impl<E, E2> Ren<E, E2> {
    /// The same embedding under a binder of both environments.
    pub fn lift<B>(&self) -> Ren<HCons<B, E>, HCons<B, E2>> {
        ren(self.0.lift(1))
    }
    /// First `self`, then `next`.
    pub fn then<E3>(&self, next: &Ren<E2, E3>) -> Ren<E, E3> {
        ren(self.0.then(&next.0))
    }
    /// Equal environments.
    pub fn cast<F, F2>(&self, _: Equal<E, F>, _: Equal<E2, F2>) -> Ren<F, F2> {
        ren(self.0.clone())
    }
    /// An equal target.
    pub fn to<F2>(&self, _: Equal<E2, F2>) -> Ren<E, F2> {
        ren(self.0.clone())
    }
    /// One more variable in the target, which is renamed by `q`.
    pub fn up<B, F2>(&self, q: Equal<HCons<B, E2>, F2>) -> Ren<E, F2> {
        self.then(&Ren::shift()).to(q)
    }
    /// Where a variable goes.
    pub fn at<T>(&self, i: &Idx<E, T>) -> Idx<E2, T> {
        idx(self.0.at(i.0), i.1.clone())
    }
}

/// How many variables an environment has.
pub struct Size<E>(pub(in crate::ast) u32, Inv<E>);

impl<E> Clone for Size<E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for Size<E> {}

pub(in crate::ast) fn size<E>(n: u32) -> Size<E> {
    Size(n, PhantomData)
}
impl Size<HNil> {
    /// The empty environment.
    pub fn nil() -> Self {
        size(0)
    }
}
impl<E> Size<E> {
    /// One more variable.
    pub fn push<B>(self) -> Size<HCons<B, E>> {
        size(self.0 + 1)
    }
    /// An equal environment.
    pub fn cast<F>(self, _: Equal<E, F>) -> Size<F> {
        size(self.0)
    }
    /// The number.
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

pub(in crate::ast) mod seal {
    /// Only this module can convert to and from erased entries.
    pub struct Key(pub(super) ());
    /// Families of the trusted module.
    pub trait Family {}
    /// Relabellings of families that the trusted module knows to be right.
    pub trait Move<E, E2> {}
}
pub(in crate::ast) use seal::Key;

pub(in crate::ast) const fn key() -> Key {
    Key(())
}

/// Type constructors that can be the entries of a table. Sealed: all instances are in the trusted module, since `raw` and
/// `unraw` forget and restore the index.
pub trait Fam: seal::Family {
    /// The entry for a variable of type `T`.
    type At<T>: Clone;
    #[doc(hidden)]
    type Raw: Clone;
    #[doc(hidden)]
    fn raw<T>(x: &Self::At<T>, _: Key) -> Self::Raw;
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn unraw<T>(r: &Self::Raw, th: &Th2, _: Key) -> Self::At<T>;
}

/// Families whose entries live in an environment and can be weakened there. Sealed by itself, since `To` relabels: whoever could
/// implement it for a family of this module and a type of his own would choose the types of its entries.
pub trait Weaken<E, E2>: Fam + seal::Move<E, E2> {
    /// The family over the larger environment.
    type To: Fam<Raw = Self::Raw>;
}

/// The family that has the same type everywhere.
pub struct ConstF<K>(PhantomData<K>);
impl<K> seal::Family for ConstF<K> {}
impl<K: Clone> Fam for ConstF<K> {
    type At<T> = K;
    type Raw = K;
    fn raw<T>(x: &K, _: Key) -> K {
        x.clone()
    }
    #[allow(private_interfaces)]
    fn unraw<T>(r: &K, _: &Th2, _: Key) -> K {
        r.clone()
    }
}
/// No information but the environment itself.
pub type UnitF = ConstF<()>;

/// Variables of another environment.
pub struct IdxF<E>(PhantomData<E>);
impl<E> seal::Family for IdxF<E> {}
impl<E, E2> seal::Move<E, E2> for IdxF<E> {}
impl<E> Fam for IdxF<E> {
    type At<T> = Idx<E, T>;
    type Raw = (u32, RawTy);
    fn raw<T>(x: &Idx<E, T>, _: Key) -> (u32, RawTy) {
        (x.0, x.1.0.clone())
    }
    #[allow(private_interfaces)]
    fn unraw<T>(r: &(u32, RawTy), th: &Th2, _: Key) -> Idx<E, T> {
        idx(th.e.at(r.0), ty(r.1.clone()))
    }
}
impl<E, E2> Weaken<E, E2> for IdxF<E> {
    type To = IdxF<E2>;
}

/// One entry `F::At<T>` for every variable `T` of the environment `E`.
pub struct Env<F: Fam, E> {
    items: List<(F::Raw, RawTy)>,
    ph: Inv<E>,
}

fn env<F: Fam, E>(items: List<(F::Raw, RawTy)>) -> Env<F, E> {
    Env { items, ph: PhantomData }
}

impl<F: Fam, E> Clone for Env<F, E> {
    fn clone(&self) -> Self {
        env(self.items.clone())
    }
}
impl<F: Fam> Env<F, HNil> {
    /// The table of no variables.
    pub fn empty() -> Self {
        env(List::new())
    }
}

/// A table taken apart.
pub enum EnvView<'n, F: Fam, E> {
    /// No variables.
    Nil(Equal<E, HNil>),
    /// The entry of the variable bound last, its type, and the rest.
    Cons(F::At<X<'n>>, Ty<X<'n>>, Env<F, Y<'n>>, Equal<E, HCons<X<'n>, Y<'n>>>),
}

impl<F: Fam, E> Env<F, E> {
    /// An equal environment.
    pub fn cast_env<E2>(&self, _: Equal<E, E2>) -> Env<F, E2> {
        env(self.items.clone())
    }
    /// Moves all entries to a larger environment, in O(1): suspended until an entry is read.
    pub fn weaken<D, D2>(&self, r: &Ren<D, D2>) -> Env<F::To, E>
    where
        F: Weaken<D, D2>,
    {
        env(self.items.thin(&Th2 { e: r.0.clone(), a: Th::Id }))
    }
    /// The entries in an equal environment.
    pub fn recast<D, D2>(&self, _: Equal<D, D2>) -> Env<F::To, E>
    where
        F: Weaken<D, D2>,
    {
        env(self.items.clone())
    }
    /// Equal environments of the table and of its entries.
    pub fn cast_all<E2, D, D2>(&self, _: Equal<E, E2>, _: Equal<D, D2>) -> Env<F::To, E2>
    where
        F: Weaken<D, D2>,
    {
        env(self.items.clone())
    }
    /// A table with one more variable.
    pub fn push<B>(&self, x: &F::At<B>, t: &Ty<B>) -> Env<F, HCons<B, E>> {
        env(self.items.push((F::raw(x, key()), t.0.clone())))
    }
    /// The entry of a variable, in O(log n).
    pub fn get<T>(&self, i: &Idx<E, T>) -> F::At<T> {
        let ((x, _), th) = self.items.get(i.0 as usize);
        F::unraw(&x, &th, key())
    }
    /// How many variables there are.
    pub fn size(&self) -> Size<E> {
        size(self.items.len() as u32)
    }
    /// The variable before which `level` others were bound, in O(log n).
    pub fn variable<'n>(&self, level: usize, _: Guard<'n>) -> Option<Idx<E, X<'n>>> {
        let depth = self.items.len().checked_sub(level + 1)?;
        let ((_, t), _) = self.items.get(depth);
        Some(idx(depth as u32, ty(t)))
    }
    /// The types of the variables, the one bound last first.
    pub(in crate::ast) fn raw_types(&self) -> Vec<RawTy> {
        let mut types = vec![];
        let mut rest = self.items.clone();
        while let Some((((_, t), _), r)) = rest.pop() {
            types.push(t);
            rest = r;
        }
        types
    }
    /// Takes the table apart.
    pub fn view<'n>(&self, _: Guard<'n>) -> EnvView<'n, F, E> {
        match self.items.pop() {
            None => EnvView::Nil(Equal::axiom()),
            Some((((x, t), th), rest)) => EnvView::Cons(F::unraw(&x, &th, key()), ty(t), env(rest), Equal::axiom()),
        }
    }
}
impl<E> Env<IdxF<E>, E> {
    /// Every variable stands for itself.
    pub fn identity<F: Fam>(like: &Env<F, E>) -> Self {
        let types = like.raw_types();
        let n = types.len();
        env((0..n).rev().fold(List::new(), |l, i| l.push(((i as u32, types[i].clone()), types[i].clone()))))
    }
}

/// A variable of some type.
pub struct SomeIdx<E>(Idx<E, S>);
impl<E> Clone for SomeIdx<E> {
    fn clone(&self) -> Self {
        SomeIdx(self.0.clone())
    }
}
impl<E> SomeIdx<E> {
    /// Forgets the type.
    pub fn new<T>(i: &Idx<E, T>) -> Self {
        SomeIdx(i.relabel())
    }
    /// Names the type.
    pub fn open<'n>(&self, _: Guard<'n>) -> Idx<E, X<'n>> {
        self.0.relabel()
    }
    /// The De Bruijn index.
    pub fn depth(&self) -> usize {
        self.0.depth()
    }
}
