//! Sparse tangents (tangents and adjoints with symbolic zeros) and the contribution map of reverse mode (see the
//! glossary of the book: sparse tangent, contribution map).

use super::env::{Family, Idx, Key, Size, SomeIdx, Thinning, Weaken, idx, seal};
use super::names::{Equal, Guard, Inv, X, Y};
use super::thin::{RawThinning, RawThinnings, deep};
use super::ty::{Tan, ty};
use crate::repr::{RawTy, Two};
use frunk::HCons;
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;
use std::sync::Arc;

/// A value of type `T` that is zero, a variable of `E`, or a pair of such values. Zeros cost nothing.
pub struct SparseTangent<E, T>(RawSparseTangent, Inv<(E, T)>);

/// Variables are De Bruijn indices in a `SparseTangent`, and De Bruijn levels in `Contributions`.
#[derive(Clone, Default)]
#[doc(hidden)]
pub enum RawSparseTangent {
    #[default]
    Zero,
    Var(u32, RawTy),
    Pair(Arc<Two<RawSparseTangent>>),
}

impl RawSparseTangent {
    fn map(&self, f: &impl Fn(u32) -> u32) -> RawSparseTangent {
        match self {
            RawSparseTangent::Zero => RawSparseTangent::Zero,
            RawSparseTangent::Var(i, t) => RawSparseTangent::Var(f(*i), t.clone()),
            RawSparseTangent::Pair(p) => deep(|| RawSparseTangent::Pair(Arc::new(Two(p.0.map(f), p.1.map(f))))),
        }
    }
    fn thin(&self, th: &RawThinning) -> RawSparseTangent {
        match th {
            RawThinning::Id => self.clone(),
            _ => self.map(&|i| th.at(i)),
        }
    }
}

/// The view of a sparse tangent.
pub enum SparseTangentView<'n, E, T> {
    /// Zero.
    Zero,
    /// A variable.
    Var(Idx<E, T>),
    /// A pair.
    Pair(SparseTangent<E, X<'n>>, SparseTangent<E, Y<'n>>, Equal<T, (X<'n>, Y<'n>)>),
}

fn sparse<E, T>(raw: RawSparseTangent) -> SparseTangent<E, T> {
    SparseTangent(raw, PhantomData)
}

impl<E, T> Clone for SparseTangent<E, T> {
    fn clone(&self) -> Self {
        sparse(self.0.clone())
    }
}

impl<E, T> SparseTangent<E, T> {
    /// Zero.
    pub fn zero() -> Self {
        sparse(RawSparseTangent::Zero)
    }
    /// A variable.
    pub fn var(i: &Idx<E, T>) -> Self {
        sparse(RawSparseTangent::Var(i.0, i.1.0.clone()))
    }
    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        matches!(self.0, RawSparseTangent::Zero)
    }
    /// Weakens to a larger environment.
    pub fn weaken<E2>(&self, r: &Thinning<E, E2>) -> SparseTangent<E2, T> {
        sparse(self.0.thin(&r.0))
    }
    /// Replaces the type by an equal one.
    pub fn cast<U>(&self, _: Equal<T, U>) -> SparseTangent<E, U> {
        sparse(self.0.clone())
    }
    /// Replaces the environment by an equal one.
    pub fn cast_env<F>(&self, _: Equal<E, F>) -> SparseTangent<F, T> {
        sparse(self.0.clone())
    }
    /// Takes the value apart.
    pub fn view<'n>(&self, _: Guard<'n>) -> SparseTangentView<'n, E, T> {
        match &self.0 {
            RawSparseTangent::Zero => SparseTangentView::Zero,
            RawSparseTangent::Var(i, t) => SparseTangentView::Var(idx(*i, ty(t.clone()))),
            RawSparseTangent::Pair(p) => {
                SparseTangentView::Pair(sparse(p.0.clone()), sparse(p.1.clone()), Equal::axiom())
            }
        }
    }
}

impl<E, P, Q> SparseTangent<E, (P, Q)> {
    /// A pair. It is zero if both components are zero.
    pub fn pair(a: &SparseTangent<E, P>, b: &SparseTangent<E, Q>) -> Self {
        match (&a.0, &b.0) {
            (RawSparseTangent::Zero, RawSparseTangent::Zero) => SparseTangent::zero(),
            _ => sparse(RawSparseTangent::Pair(Arc::new(Two(a.0.clone(), b.0.clone())))),
        }
    }
}

/// Tangents in the environment `E` as entries of a table.
pub struct TanF<E>(PhantomData<E>);
impl<E> seal::Family for TanF<E> {}
impl<E, E2> seal::Move<E, E2> for TanF<E> {}
impl<E> Family for TanF<E> {
    type At<T> = SparseTangent<E, Tan<T>>;
    type Raw = RawSparseTangent;
    fn raw<T>(x: &SparseTangent<E, Tan<T>>, _: Key) -> RawSparseTangent {
        x.0.clone()
    }
    #[allow(private_interfaces)]
    fn unraw<T>(r: &RawSparseTangent, th: &RawThinnings, _: Key) -> SparseTangent<E, Tan<T>> {
        sparse(r.thin(&th.e))
    }
}
impl<E, E2> Weaken<E, E2> for TanF<E> {
    type To = TanF<E2>;
}

/// The contribution map of reverse mode (thesis section 3.4.4). It maps a variable of `E` to the list of the
/// contributions to its adjoint, which are values in `E2`. `E` is the environment of labels. `E2` is the environment of
/// the code emitted so far.
///
/// NOTE [Labels are levels]: the keys of the map are De Bruijn levels, which do not change when an environment grows at
/// its end. The contributions are stored by level, too. So the map does not change when a definition is emitted.
pub struct Contributions<E, E2> {
    map: HashMap<u32, (RawTy, Vec<RawSparseTangent>)>,
    labels: Size<E>,
    code: Size<E2>,
}

impl<E, E2> Contributions<E, E2> {
    /// A map without contributions.
    pub fn new(labels: Size<E>, code: Size<E2>) -> Self {
        Contributions { map: HashMap::new(), labels, code }
    }
    fn level<T>(&self, i: &Idx<E, T>) -> u32 {
        self.labels.0 - 1 - i.0
    }
    /// Adds a contribution to the adjoint of `i`.
    pub fn add<T>(&mut self, i: &Idx<E, T>, p: &SparseTangent<E2, Tan<T>>) {
        if !p.is_zero() {
            let code = self.code.0;
            let raw = p.0.map(&|i| code - 1 - i);
            self.map.entry(self.level(i)).or_insert_with(|| (i.1.0.clone(), vec![])).1.push(raw);
        }
    }
    /// Removes and returns all contributions to the adjoint of `i`, oldest first.
    pub fn take<T>(&mut self, i: &Idx<E, T>) -> Vec<SparseTangent<E2, Tan<T>>> {
        let code = self.code.0;
        let parts = self.map.remove(&self.level(i)).map_or(vec![], |(_, parts)| parts);
        parts.iter().map(|p| sparse(p.map(&|level| code - 1 - level))).collect()
    }
    /// The number of labels.
    pub fn label_size(&self) -> Size<E> {
        self.labels
    }
    /// The variables that have contributions here or in another map, oldest first.
    pub fn labels_of_both<F2>(&self, other: &Contributions<E, F2>) -> Vec<SomeIdx<E>> {
        let levels: BTreeMap<u32, &RawTy> =
            self.map.iter().chain(&other.map).map(|(level, (t, _))| (*level, t)).collect();
        let of = |level: u32, t: &RawTy| SomeIdx::new(&idx::<E, ()>(self.labels.0 - 1 - level, ty(t.clone())));
        levels.into_iter().map(|(level, t)| of(level, t)).collect()
    }
    /// Extends the code environment by one variable and names it by `q`.
    pub fn grow<B, F>(self, q: Equal<HCons<B, E2>, F>) -> Contributions<E, F> {
        Contributions { map: self.map, labels: self.labels, code: self.code.push::<B>().cast(q) }
    }
    /// Extends the environment of labels by one variable, which has no contributions, and names it by `q`.
    pub fn grow_labels<B, F>(mut self, q: Equal<HCons<B, E>, F>) -> Contributions<F, E2> {
        self.map.remove(&self.labels.0);
        Contributions { map: self.map, labels: self.labels.push::<B>().cast(q), code: self.code }
    }
    /// Replaces the code environment by an equal one.
    pub fn cast_code<F>(self, q: Equal<E2, F>) -> Contributions<E, F> {
        Contributions { map: self.map, labels: self.labels, code: self.code.cast(q) }
    }
    /// Replaces the environment of labels by an equal one.
    pub fn cast_labels<F>(self, q: Equal<E, F>) -> Contributions<F, E2> {
        Contributions { map: self.map, labels: self.labels.cast(q), code: self.code }
    }
}

impl<B, E, E2> Contributions<HCons<B, E>, E2> {
    /// Removes the last label and its contributions.
    pub fn shrink(mut self) -> Contributions<E, E2> {
        let labels = super::env::size(self.labels.0 - 1);
        self.map.remove(&labels.0);
        Contributions { map: self.map, labels, code: self.code }
    }
}
