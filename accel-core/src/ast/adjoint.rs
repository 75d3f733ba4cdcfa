//! Partial values (tangents and adjoints with symbolic zeros) and the contribution map of reverse mode (see the
//! glossary of the book: partial value, contribution map).

use super::env::{Fam, Idx, Key, Ren, Size, SomeIdx, Weaken, idx, seal};
use super::names::{Equal, Guard, Inv, X, Y};
use super::thin::{Th, Th2, deep};
use super::ty::{Tan, ty};
use crate::repr::{RawTy, Two};
use frunk::HCons;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

/// A value of type `T` that is zero, a variable of `E`, or a pair of such values. Zeros cost nothing.
pub struct Part<E, T>(RawPart, Inv<(E, T)>);

/// Variables are De Bruijn indices in a `Part`, and De Bruijn levels in `Contributions`.
#[derive(Clone, Default)]
#[doc(hidden)]
pub enum RawPart {
    #[default]
    Zero,
    Var(u32, RawTy),
    Pair(Arc<Two<RawPart>>),
}

impl RawPart {
    fn map(&self, f: &impl Fn(u32) -> u32) -> RawPart {
        match self {
            RawPart::Zero => RawPart::Zero,
            RawPart::Var(i, t) => RawPart::Var(f(*i), t.clone()),
            RawPart::Pair(p) => deep(|| RawPart::Pair(Arc::new(Two(p.0.map(f), p.1.map(f))))),
        }
    }
    fn thin(&self, th: &Th) -> RawPart {
        match th {
            Th::Id => self.clone(),
            _ => self.map(&|i| th.at(i)),
        }
    }
}

/// The view of a partial value.
pub enum PartView<'n, E, T> {
    /// Zero.
    Zero,
    /// A variable.
    Var(Idx<E, T>),
    /// A pair.
    Pair(Part<E, X<'n>>, Part<E, Y<'n>>, Equal<T, (X<'n>, Y<'n>)>),
}

fn part<E, T>(raw: RawPart) -> Part<E, T> {
    Part(raw, PhantomData)
}

impl<E, T> Clone for Part<E, T> {
    fn clone(&self) -> Self {
        part(self.0.clone())
    }
}

impl<E, T> Part<E, T> {
    /// Zero.
    pub fn zero() -> Self {
        part(RawPart::Zero)
    }
    /// A variable.
    pub fn var(i: &Idx<E, T>) -> Self {
        part(RawPart::Var(i.0, i.1.0.clone()))
    }
    /// Whether the value is zero.
    pub fn is_zero(&self) -> bool {
        matches!(self.0, RawPart::Zero)
    }
    /// Weakens to a larger environment.
    pub fn weaken<E2>(&self, r: &Ren<E, E2>) -> Part<E2, T> {
        part(self.0.thin(&r.0))
    }
    /// Replaces the type by an equal one.
    pub fn cast<U>(&self, _: Equal<T, U>) -> Part<E, U> {
        part(self.0.clone())
    }
    /// Replaces the environment by an equal one.
    pub fn cast_env<F>(&self, _: Equal<E, F>) -> Part<F, T> {
        part(self.0.clone())
    }
    /// Takes the value apart.
    pub fn view<'n>(&self, _: Guard<'n>) -> PartView<'n, E, T> {
        match &self.0 {
            RawPart::Zero => PartView::Zero,
            RawPart::Var(i, t) => PartView::Var(idx(*i, ty(t.clone()))),
            RawPart::Pair(p) => PartView::Pair(part(p.0.clone()), part(p.1.clone()), Equal::axiom()),
        }
    }
}

impl<E, P, Q> Part<E, (P, Q)> {
    /// A pair. It is zero if both components are zero.
    pub fn pair(a: &Part<E, P>, b: &Part<E, Q>) -> Self {
        match (&a.0, &b.0) {
            (RawPart::Zero, RawPart::Zero) => Part::zero(),
            _ => part(RawPart::Pair(Arc::new(Two(a.0.clone(), b.0.clone())))),
        }
    }
}

/// Tangents in the environment `E` as entries of a table.
pub struct TanF<E>(PhantomData<E>);
impl<E> seal::Family for TanF<E> {}
impl<E, E2> seal::Move<E, E2> for TanF<E> {}
impl<E> Fam for TanF<E> {
    type At<T> = Part<E, Tan<T>>;
    type Raw = RawPart;
    fn raw<T>(x: &Part<E, Tan<T>>, _: Key) -> RawPart {
        x.0.clone()
    }
    #[allow(private_interfaces)]
    fn unraw<T>(r: &RawPart, th: &Th2, _: Key) -> Part<E, Tan<T>> {
        part(r.thin(&th.e))
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
    map: HashMap<u32, (RawTy, Vec<RawPart>)>,
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
    pub fn add<T>(&mut self, i: &Idx<E, T>, p: &Part<E2, Tan<T>>) {
        if !p.is_zero() {
            let code = self.code.0;
            let raw = p.0.map(&|i| code - 1 - i);
            self.map.entry(self.level(i)).or_insert_with(|| (i.1.0.clone(), vec![])).1.push(raw);
        }
    }
    /// Removes and returns all contributions to the adjoint of `i`, oldest first.
    pub fn take<T>(&mut self, i: &Idx<E, T>) -> Vec<Part<E2, Tan<T>>> {
        let code = self.code.0;
        let parts = self.map.remove(&self.level(i)).map_or(vec![], |(_, parts)| parts);
        parts.iter().map(|p| part(p.map(&|level| code - 1 - level))).collect()
    }
    /// The number of labels.
    pub fn label_size(&self) -> Size<E> {
        self.labels
    }
    /// The variables that have contributions, oldest first.
    pub fn labels(&self) -> Vec<SomeIdx<E>> {
        let mut levels: Vec<_> = self.map.iter().map(|(level, (t, _))| (*level, t)).collect();
        levels.sort_by_key(|(level, _)| *level);
        let of = |level: u32, t: &RawTy| SomeIdx::new(&idx::<E, ()>(self.labels.0 - 1 - level, ty(t.clone())));
        levels.into_iter().map(|(level, t)| of(level, t)).collect()
    }
    /// Extends the code environment by one variable and names it by `q`.
    pub fn grow<B, F>(self, q: Equal<HCons<B, E2>, F>) -> Contributions<E, F> {
        Contributions { map: self.map, labels: self.labels, code: self.code.push::<B>().cast(q) }
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
