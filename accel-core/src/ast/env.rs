//! Typed De Bruijn indices, thinnings, sizes of environments, and tables with one entry per variable (see the glossary
//! of the book: De Bruijn index, environment, thinning).

use super::names::{Equal, Erased, Guard, Inv, X, Y};
use super::thin::{List, RawThinning, RawThinnings};
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
    /// The De Bruijn index: the number of variables that were bound after this one.
    pub fn depth(&self) -> usize {
        self.0 as usize
    }
    /// The same variable with an equal type.
    pub fn cast<U>(&self, _: Equal<T, U>) -> Idx<E, U> {
        self.relabel()
    }
    /// The same variable in an equal environment.
    pub fn cast_env<F>(&self, _: Equal<E, F>) -> Idx<F, T> {
        self.relabel()
    }
    /// Whether two variables are the same. If they are, returns the proof that their types are equal.
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
    /// A variable of `E`, seen from below one more binder.
    pub fn succ(i: &Idx<E, T>) -> Self {
        idx(i.0 + 1, i.1.clone())
    }
}

/// A thinning: an order-preserving embedding of the environment `E` into `E2`.
pub struct Thinning<E, E2>(pub(in crate::ast) RawThinning, Inv<(E, E2)>);

pub(in crate::ast) fn thinning<E, E2>(t: RawThinning) -> Thinning<E, E2> {
    Thinning(t, PhantomData)
}

impl<E, E2> Clone for Thinning<E, E2> {
    fn clone(&self) -> Self {
        thinning(self.0.clone())
    }
}
impl<E> Thinning<E, E> {
    /// The identity: every variable stays.
    pub fn id() -> Self {
        thinning(RawThinning::Id)
    }
}
impl<B, E> Thinning<E, HCons<B, E>> {
    /// The embedding into an environment with one more variable.
    pub fn shift() -> Self {
        thinning(RawThinning::shift(1))
    }
}
impl<E> Thinning<HNil, E> {
    /// The empty environment embeds into every other.
    pub fn from_nil() -> Self {
        thinning(RawThinning::Id)
    }
}
impl<E, E2> Thinning<E, E2> {
    /// The same embedding below a binder in both environments.
    pub fn lift<B>(&self) -> Thinning<HCons<B, E>, HCons<B, E2>> {
        thinning(self.0.lift(1))
    }
    /// The composition: first `self`, then `next`.
    pub fn then<E3>(&self, next: &Thinning<E2, E3>) -> Thinning<E, E3> {
        thinning(self.0.then(&next.0))
    }
    /// Replaces both environments by equal ones.
    pub fn cast<F, F2>(&self, _: Equal<E, F>, _: Equal<E2, F2>) -> Thinning<F, F2> {
        thinning(self.0.clone())
    }
    /// Replaces the target by an equal environment.
    pub fn to<F2>(&self, _: Equal<E2, F2>) -> Thinning<E, F2> {
        thinning(self.0.clone())
    }
    /// Adds one variable to the target and names the result by `q`.
    pub fn up<B, F2>(&self, q: Equal<HCons<B, E2>, F2>) -> Thinning<E, F2> {
        self.then(&Thinning::shift()).to(q)
    }
    /// The image of a variable.
    pub fn at<T>(&self, i: &Idx<E, T>) -> Idx<E2, T> {
        idx(self.0.at(i.0), i.1.clone())
    }
}

/// The number of variables of an environment.
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
    /// Replaces the environment by an equal one.
    pub fn cast<F>(self, _: Equal<E, F>) -> Size<F> {
        size(self.0)
    }
    /// The number.
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

pub(in crate::ast) mod seal {
    /// A key that only this module can make. It allows conversions from and to erased entries.
    pub struct Key(pub(super) ());
    /// Families that this module defines.
    pub trait Family {}
    /// Relabellings of families that are proved in this module.
    pub trait Move<E, E2> {}
}
pub(in crate::ast) use seal::Key;

pub(in crate::ast) const fn key() -> Key {
    Key(())
}

/// Type constructors for the entries of a table (type families). The trait is sealed: all implementations are in the
/// trusted module, because `raw` and `unraw` forget and restore the type parameter.
pub trait Family: seal::Family {
    /// The entry for a variable of type `T`.
    type At<T>: Clone;
    #[doc(hidden)]
    type Raw: Clone;
    #[doc(hidden)]
    fn raw<T>(x: &Self::At<T>, _: Key) -> Self::Raw;
    #[doc(hidden)]
    #[allow(private_interfaces)]
    fn unraw<T>(r: &Self::Raw, th: &RawThinnings, _: Key) -> Self::At<T>;
}

/// Families whose entries live in an environment and can be weakened there. The trait has its own seal, because `To`
/// relabels: a foreign implementation, for a family of this module and a foreign type, could choose arbitrary types for
/// the entries.
pub trait Weaken<E, E2>: Family + seal::Move<E, E2> {
    /// The family over the larger environment.
    type To: Family<Raw = Self::Raw>;
}

/// The constant family: the same type for every variable.
pub struct ConstF<K>(PhantomData<K>);
impl<K> seal::Family for ConstF<K> {}
impl<K: Clone> Family for ConstF<K> {
    type At<T> = K;
    type Raw = K;
    fn raw<T>(x: &K, _: Key) -> K {
        x.clone()
    }
    #[allow(private_interfaces)]
    fn unraw<T>(r: &K, _: &RawThinnings, _: Key) -> K {
        r.clone()
    }
}
/// The family without information: only the environment counts.
pub type UnitF = ConstF<()>;

/// The family of variables of another environment.
pub struct IdxF<E>(PhantomData<E>);
impl<E> seal::Family for IdxF<E> {}
impl<E, E2> seal::Move<E, E2> for IdxF<E> {}
impl<E> Family for IdxF<E> {
    type At<T> = Idx<E, T>;
    type Raw = (u32, RawTy);
    fn raw<T>(x: &Idx<E, T>, _: Key) -> (u32, RawTy) {
        (x.0, x.1.0.clone())
    }
    #[allow(private_interfaces)]
    fn unraw<T>(r: &(u32, RawTy), th: &RawThinnings, _: Key) -> Idx<E, T> {
        idx(th.e.at(r.0), ty(r.1.clone()))
    }
}
impl<E, E2> Weaken<E, E2> for IdxF<E> {
    type To = IdxF<E2>;
}

/// A table with one entry `F::At<T>` for every variable `T` of the environment `E`.
pub struct Env<F: Family, E> {
    items: List<(F::Raw, RawTy)>,
    ph: Inv<E>,
}

fn env<F: Family, E>(items: List<(F::Raw, RawTy)>) -> Env<F, E> {
    Env { items, ph: PhantomData }
}

impl<F: Family, E> Clone for Env<F, E> {
    fn clone(&self) -> Self {
        env(self.items.clone())
    }
}
impl<F: Family> Env<F, HNil> {
    /// The empty table.
    pub fn empty() -> Self {
        env(List::new())
    }
}

/// The view of a table.
pub enum EnvView<'n, F: Family, E> {
    /// No variables.
    Nil(Equal<E, HNil>),
    /// The entry of the variable bound last, its type, and the rest.
    Cons(F::At<X<'n>>, Ty<X<'n>>, Env<F, Y<'n>>, Equal<E, HCons<X<'n>, Y<'n>>>),
}

impl<F: Family, E> Env<F, E> {
    /// Replaces the environment by an equal one.
    pub fn cast_env<E2>(&self, _: Equal<E, E2>) -> Env<F, E2> {
        env(self.items.clone())
    }
    /// Weakens all entries to a larger environment, in O(1): the thinning is suspended until an entry is read.
    pub fn weaken<D, D2>(&self, r: &Thinning<D, D2>) -> Env<F::To, E>
    where
        F: Weaken<D, D2>,
    {
        env(self.items.thin(&RawThinnings { e: r.0.clone(), a: RawThinning::Id }))
    }
    /// Replaces the environment of the entries by an equal one.
    pub fn recast<D, D2>(&self, _: Equal<D, D2>) -> Env<F::To, E>
    where
        F: Weaken<D, D2>,
    {
        env(self.items.clone())
    }
    /// Replaces the environments of the table and of its entries by equal ones.
    pub fn cast_all<E2, D, D2>(&self, _: Equal<E, E2>, _: Equal<D, D2>) -> Env<F::To, E2>
    where
        F: Weaken<D, D2>,
    {
        env(self.items.clone())
    }
    /// Adds a variable.
    pub fn push<B>(&self, x: &F::At<B>, t: &Ty<B>) -> Env<F, HCons<B, E>> {
        env(self.items.push((F::raw(x, key()), t.0.clone())))
    }
    /// The entry of a variable, in O(log n).
    pub fn get<T>(&self, i: &Idx<E, T>) -> F::At<T> {
        let ((x, _), th) = self.items.get(i.0 as usize);
        F::unraw(&x, &th, key())
    }
    /// The number of variables.
    pub fn size(&self) -> Size<E> {
        size(self.items.len() as u32)
    }
    /// The variable with De Bruijn level `level`, in O(log n).
    pub fn variable<'n>(&self, level: usize, _: Guard<'n>) -> Option<Idx<E, X<'n>>> {
        let depth = self.items.len().checked_sub(level + 1)?;
        let ((_, t), _) = self.items.get(depth);
        Some(idx(depth as u32, ty(t)))
    }
    /// The types of the variables; the variable bound last comes first.
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
    /// The identity: every variable stands for itself.
    pub fn identity<F: Family>(like: &Env<F, E>) -> Self {
        let types = like.raw_types();
        let n = types.len();
        env((0..n).rev().fold(List::new(), |l, i| l.push(((i as u32, types[i].clone()), types[i].clone()))))
    }
}

/// A variable of the environment `E2` for each one of `E`. Unlike a table, it need not list those around a computation that stay
/// as they are.
pub struct Renaming<E, E2> {
    /// Those that were bound last.
    near: List<(<IdxF<E2> as Family>::Raw, RawTy)>,
    /// All others.
    far: RawThinning,
    ph: Inv<(E, E2)>,
}

fn renaming<E, E2>(near: List<((u32, RawTy), RawTy)>, far: RawThinning) -> Renaming<E, E2> {
    Renaming { near, far, ph: PhantomData }
}

impl<E, E2> From<&Env<IdxF<E2>, E>> for Renaming<E, E2> {
    fn from(env: &Env<IdxF<E2>, E>) -> Self {
        renaming(env.items.clone(), RawThinning::Id)
    }
}

impl<E, E2> Renaming<E, E2> {
    /// The embedding into a larger environment.
    pub fn embedding(t: &Thinning<E, E2>) -> Self {
        renaming(List::new(), t.0.clone())
    }
    /// Replaces both environments by equal ones.
    pub fn cast<F, F2>(&self, _: Equal<E, F>, _: Equal<E2, F2>) -> Renaming<F, F2> {
        renaming(self.near.clone(), self.far.clone())
    }
    /// The same variables in a larger environment, in O(1).
    pub fn weaken<E3>(&self, t: &Thinning<E2, E3>) -> Renaming<E, E3> {
        let th = RawThinnings { e: t.0.clone(), a: RawThinning::Id };
        renaming(self.near.thin(&th), self.far.then(&t.0))
    }
    /// Adds a variable.
    pub fn push<B>(&self, i: &Idx<E2, B>) -> Renaming<HCons<B, E>, E2> {
        let t = i.1.0.clone();
        renaming(self.near.push(((i.0, t.clone()), t)), self.far.clone())
    }
    /// Adds a variable to both environments.
    pub fn below<B>(&self, t: &Ty<B>) -> Renaming<HCons<B, E>, HCons<B, E2>> {
        self.weaken(&Thinning::shift()).push(&Idx::zero(t))
    }
    /// The variable for one of `E`, in O(log n).
    pub fn get<T>(&self, i: &Idx<E, T>) -> Idx<E2, T> {
        idx(self.raw(i.0), i.1.clone())
    }
    pub(in crate::ast) fn raw(&self, i: u32) -> u32 {
        match i.checked_sub(self.near.len() as u32) {
            Some(i) => self.far.at(i),
            None => {
                let (((j, _), _), th) = self.near.get(i as usize);
                th.e.at(j)
            }
        }
    }
}

/// A variable whose type is hidden.
pub struct SomeIdx<E>(Idx<E, Erased>);
impl<E> Clone for SomeIdx<E> {
    fn clone(&self) -> Self {
        SomeIdx(self.0.clone())
    }
}
impl<E> SomeIdx<E> {
    /// Hides the type.
    pub fn new<T>(i: &Idx<E, T>) -> Self {
        SomeIdx(i.relabel())
    }
    /// Replaces the environment by an equal one.
    pub fn cast<F>(&self, q: Equal<E, F>) -> SomeIdx<F> {
        SomeIdx(self.0.cast_env(q))
    }
    /// Gives the hidden type a name.
    pub fn open<'n>(&self, _: Guard<'n>) -> Idx<E, X<'n>> {
        self.0.relabel()
    }
}
