//! The state of the dual pass for scalar code: the code so far, the contribution map and the index-adjoint tuple (see
//! the glossary of the book: contribution map, index-adjoint tuple).

use super::code::{Code, total};
use super::emissions::Emissions;
use crate::activity::Labels;
use crate::rules::Factor;
use crate::sparse_tangents::{Summands, summands};
use crate::used::Used;
use accel_core::ast::*;

/// The state of the dual pass: the code so far (from `B` to `E2`), the contribution map for the labels `E`, the place
/// of their values in `E2`, the index-adjoint tuple of type `T`, the variables that the code uses, and the
/// activities of the labels.
pub struct Dual<A, B, E, E2, T> {
    pub code: Code<A, B, E2>,
    pub adj: Contributions<E, E2>,
    pub emb: Thinning<E, E2>,
    pub sites: Sites<A, T>,
    pub idx: Exp<E2, A, T>,
    pub used: Used,
    pub activity: Labels,
    pub emissions: Emissions<A, E2>,
}

/// A state after more code, together with a value in its environment.
pub struct Bound<'k, A, B, E, E2, T, V> {
    pub st: Dual<A, B, E, X<'k>, T>,
    pub val: V,
    pub up: Thinning<E2, X<'k>>,
}

impl<A, B, E, E2, T> Dual<A, B, E, E2, T> {
    /// Gives the code environment a name.
    fn rename<'k>(self, k: Guard<'k>) -> (Dual<A, B, E, X<'k>, T>, Equal<E2, X<'k>>) {
        let q = name(k);
        let st = Dual {
            code: self.code.rename(q),
            adj: self.adj.cast_code(q),
            emb: self.emb.to(q),
            sites: self.sites,
            idx: self.idx.cast_env(q),
            used: self.used,
            activity: self.activity,
            emissions: self.emissions.cast_code(q),
        };
        (st, q)
    }
    /// Gives the code environment and the type of the index-adjoint tuple names.
    pub fn named<'k, 'i>(self, k: Guard<'k>, i: Guard<'i>) -> Dual<A, B, E, X<'k>, X<'i>> {
        let (st, _) = self.rename(k);
        let v = name(i);
        let (sites, idx) = (st.sites.cast(v), st.idx.cast(v));
        let Dual { code, adj, emb, used, activity, emissions, .. } = st;
        Dual { code, adj, emb, sites, idx, used, activity, emissions }
    }
    /// Emits a definition.
    pub fn bind<'k, U>(mut self, rhs: &Exp<E2, A, U>, k: Guard<'k>) -> Bound<'k, A, B, E, E2, T, Idx<X<'k>, U>> {
        self.used.scalars(rhs, self.code.size);
        self.bind_noted(rhs, k)
    }
    /// Emits a definition whose variables have been noted.
    pub fn bind_noted<'k, U>(self, rhs: &Exp<E2, A, U>, k: Guard<'k>) -> Bound<'k, A, B, E, E2, T, Idx<X<'k>, U>> {
        let q = name(k);
        let up = Thinning::id().up(q);
        let st = Dual {
            code: Code { tele: self.code.tele.snoc(rhs).cast(q), size: self.code.size.push().cast(q) },
            adj: self.adj.grow(q),
            emb: self.emb.then(&up),
            sites: self.sites,
            idx: self.idx.weaken(&up),
            used: self.used,
            activity: self.activity,
            emissions: self.emissions.weaken(&up),
        };
        Bound { st, val: Idx::zero(rhs.ty()).cast_env(q), up }
    }
    /// The sum of sparse tangents. It emits code only where two of them overlap.
    pub fn sum<'k, U>(
        self,
        parts: &[SparseTangent<E2, U>],
        t: &Ty<U>,
        k: Guard<'k>,
    ) -> Bound<'k, A, B, E, E2, T, SparseTangent<X<'k>, U>> {
        deep(|| {
            fresh3(|n, k1, k2| match summands(parts, n) {
                Summands::None => self.already(SparseTangent::zero(), k),
                Summands::One(p) => self.already(p, k),
                Summands::Pairs(pairs) => {
                    let (ta, tb) = t.cast(pairs.eq).parts();
                    let a = self.sum(&pairs.firsts, &ta, k1);
                    let seconds: Vec<_> = pairs.seconds.iter().map(|p| p.weaken(&a.up)).collect();
                    let b = a.st.sum(&seconds, &tb, k2);
                    let both = SparseTangent::pair(&a.val.weaken(&b.up), &b.val).cast(pairs.eq.sym());
                    let (st, q) = b.st.rename(k);
                    Bound { st, val: both.cast_env(q), up: a.up.then(&b.up).to(q) }
                }
                Summands::Overlapping(parts) => {
                    let b = self.bind(&total(&parts, t), k);
                    Bound { val: SparseTangent::var(&b.val), st: b.st, up: b.up }
                }
            })
        })
    }
    /// A value that needs no code.
    pub fn already<'k, U>(
        self,
        p: SparseTangent<E2, U>,
        k: Guard<'k>,
    ) -> Bound<'k, A, B, E, E2, T, SparseTangent<X<'k>, U>> {
        let (st, q) = self.rename(k);
        Bound { st, val: p.cast_env(q), up: Thinning::id().to(q) }
    }
    /// No code.
    pub fn unchanged<'k>(self, k: Guard<'k>) -> Bound<'k, A, B, E, E2, T, ()> {
        let (st, q) = self.rename(k);
        Bound { st, val: (), up: Thinning::id().to(q) }
    }
    /// Adds a contribution to the adjoint of a label.
    pub fn contribute<'k, V>(
        self,
        i: &Idx<E, V>,
        d: &Exp<E2, A, Tan<V>>,
        k: Guard<'k>,
    ) -> Bound<'k, A, B, E, E2, T, ()> {
        if self.activity.is_passive(i, self.adj.label_size()) {
            return self.unchanged(k);
        }
        if let Some(v) = fresh1(|n| match d.view(n) {
            ExpView::Var(v) => Some(v),
            _ => None,
        }) {
            let mut this = self;
            this.adj.add(i, &SparseTangent::var(&v));
            return this.unchanged(k);
        }
        let mut b = self.bind(d, k);
        b.st.adj.add(i, &SparseTangent::var(&b.val));
        Bound { st: b.st, val: (), up: b.up }
    }
    /// Applies a local derivative to the adjoint `d` of a result of the same type.
    pub fn apply<'k, V>(
        self,
        i: &Idx<E, V>,
        t: FloatTy<V>,
        factor: &Factor<E2, A, V>,
        d: &Exp<E2, A, V>,
        k: Guard<'k>,
    ) -> Bound<'k, A, B, E, E2, T, ()> {
        match factor.apply(t, d) {
            Some(e) => self.contribute(i, &e.cast(tan_float(t).sym()), k),
            None => self.unchanged(k),
        }
    }
    /// Emits the next token.
    pub fn with_token<'k>(self, token: &Exp<E2, A, f32>, k: Guard<'k>) -> Bound<'k, A, B, E, E2, T, ()> {
        let mut b = self.bind(token, k);
        b.st.emissions.token = Some(Exp::var(&b.val));
        Bound { st: b.st, val: (), up: b.up }
    }
    /// Replaces the index-adjoint tuple.
    pub fn with_sites<U>(self, sites: Sites<A, U>, idx: Exp<E2, A, U>) -> Dual<A, B, E, E2, U> {
        let Dual { code, adj, emb, used, activity, emissions, .. } = self;
        Dual { code, adj, emb, sites, idx, used, activity, emissions }
    }
}
