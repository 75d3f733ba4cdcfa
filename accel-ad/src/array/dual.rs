//! The dual pass for arrays (thesis section 3.4.4, table 2). It expects a telescope from the label pass, walks through
//! it backwards, and establishes the adjoint of every variable before the telescope (see the glossary of the book: dual
//! pass, contribution map).

use super::code::{ACode, pair_of, total, zeros};
use super::rules::step;
use crate::parts::{Live, live};
use crate::terms::{call, fun1, has_tangent, plus};
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::Result;

/// The state of the dual pass: the code so far (from `B` to `A2`), the contribution map for the labels `A`, whose
/// values are in `A2`, and the variables that the code uses.
pub struct ADual<B, A, A2> {
    pub code: ACode<B, A2>,
    pub adj: Contributions<A, A2>,
    pub emb: Ren<A, A2>,
    pub used: Used,
}

/// A state after more code, together with a value in its environment.
pub struct ABound<'k, B, A, A2, V> {
    pub st: ADual<B, A, X<'k>>,
    pub val: V,
    pub up: Ren<A2, X<'k>>,
}

impl<B, A, A2> ADual<B, A, A2> {
    /// Gives the code environment a name.
    pub fn rename<'k>(self, k: Guard<'k>) -> (ADual<B, A, X<'k>>, Equal<A2, X<'k>>) {
        let q = name(k);
        let st = ADual { code: self.code.rename(q), adj: self.adj.cast_code(q), emb: self.emb.to(q), used: self.used };
        (st, q)
    }
    /// Emits a definition.
    pub fn bind<'k, R>(mut self, rhs: &Acc<A2, R>, k: Guard<'k>) -> ABound<'k, B, A, A2, Idx<X<'k>, R>> {
        self.used.arrays(rhs, self.code.size);
        self.bind_noted(rhs, k)
    }
    /// Emits a definition whose variables have been noted.
    pub fn bind_noted<'k, R>(self, rhs: &Acc<A2, R>, k: Guard<'k>) -> ABound<'k, B, A, A2, Idx<X<'k>, R>> {
        let q = name(k);
        let up = Ren::id().up(q);
        let code = ACode { tele: self.code.tele.snoc(rhs).cast(q), size: self.code.size.push().cast(q) };
        let st = ADual { code, adj: self.adj.grow(q), emb: self.emb.then(&up), used: self.used };
        ABound { st, val: Idx::zero(rhs.ty()).cast_env(q), up }
    }
    /// The value of a label.
    pub fn value<R>(&self, i: &Idx<A, R>) -> Acc<A2, R> {
        Acc::var(&self.emb.at(i))
    }
    /// The sum of partial tangents of `value`. It emits code only where two of them overlap.
    fn sum<'k, R>(
        self,
        parts: &[Part<A2, Tan<R>>],
        value: &Acc<A2, R>,
        k: Guard<'k>,
    ) -> ABound<'k, B, A, A2, Part<X<'k>, Tan<R>>> {
        deep(|| {
            fresh4(|n, v, k1, k2| match live(parts, n) {
                Live::None => self.already(Part::zero(), k),
                Live::One(p) => self.already(p, k),
                Live::Pairs(pairs) => {
                    let q = pair_of(value, v);
                    let (value, pairs) = (value.cast(q), pairs.retype(eq_tan(q).then(tan_pair())));
                    let a = self.sum(&pairs.firsts, &value.fst(), k1);
                    let seconds: Vec<_> = pairs.seconds.iter().map(|p| p.weaken(&a.up)).collect();
                    let b = a.st.sum(&seconds, &value.snd().weaken(&a.up), k2);
                    let both = Part::pair(&a.val.weaken(&b.up), &b.val).cast(pairs.eq.sym());
                    let (st, q) = b.st.rename(k);
                    ABound { st, val: both.cast_env(q), up: a.up.then(&b.up).to(q) }
                }
                Live::Overlapping(parts) => {
                    let b = self.bind(&total(&parts, value), k);
                    ABound { val: Part::var(&b.val), st: b.st, up: b.up }
                }
            })
        })
    }
    /// A value that needs no code.
    fn already<'k, U>(self, p: Part<A2, U>, k: Guard<'k>) -> ABound<'k, B, A, A2, Part<X<'k>, U>> {
        let (st, q) = self.rename(k);
        ABound { st, val: p.cast_env(q), up: Ren::id().to(q) }
    }
    /// No code.
    pub fn unchanged<'k>(self, k: Guard<'k>) -> ABound<'k, B, A, A2, ()> {
        let (st, q) = self.rename(k);
        ABound { st, val: (), up: Ren::id().to(q) }
    }
    /// Adds a contribution to the adjoint of a label.
    pub fn contribute<'k, R>(self, i: &Idx<A, R>, d: &Acc<A2, Tan<R>>, k: Guard<'k>) -> ABound<'k, B, A, A2, ()> {
        let variable = fresh1(|n| match d.view(n) {
            AccView::Var(v) => Some(v),
            _ => None,
        });
        if variable.is_some() || !has_tangent(i.ty()) {
            let mut this = self;
            if let Some(v) = variable {
                this.adj.add(i, &Part::var(&v));
            }
            return this.unchanged(k);
        }
        let mut b = self.bind(d, k);
        b.st.adj.add(i, &Part::var(&b.val));
        ABound { st: b.st, val: (), up: b.up }
    }
    /// Adds the contributions of scalar code to the adjoints of the arrays that it read, with one `permute (+)` for
    /// each site. The elements of the array `ia` contain the index-adjoint tuple, which `at` extracts.
    pub fn scatter<'k, Sh, V, T>(
        self,
        sites: &Sites<A, T>,
        ia: &Idx<A2, Arr<Sh, V>>,
        at: &Fun1<A2, V, T>,
        k: Guard<'k>,
    ) -> (ADual<B, A, X<'k>>, Ren<A2, X<'k>>) {
        deep(|| {
            fresh2(|n, l| match sites.view(n) {
                SitesView::Nil(_) => {
                    let (st, q) = self.rename(k);
                    (st, Ren::id().to(q))
                }
                SitesView::Snoc(rest, array, src, q) => {
                    let entry = at.cast(Equal::refl(), q);
                    let (sh, v) = ia.ty().sh_elt();
                    let source = Acc::map(&fun1(&v, |x| call(&entry, &x).snd().fst()), &Acc::var(ia), src);
                    let index = fun1(&sh, |ix| call(&entry, &Exp::index(ia, &ix, src)).snd().snd());
                    let dt = tan_ty(&array.ty().sh_elt().1);
                    let zeros = zeros(&self.value(&array)).cast(tan_arr());
                    let d = Acc::permute(&plus(&dt), &zeros, &index, &source, src).cast(tan_arr().sym());
                    let s = self.contribute(&array, &d, l);
                    let before = Fun1(entry.0.fst()).aweaken(&s.up);
                    let (st, up) = s.st.scatter(&rest, &s.up.at(ia), &before, k);
                    (st, s.up.then(&up))
                }
            })
        })
    }
}

/// Walks through the telescope backwards. `m` names the final code environment.
///
/// # Errors
/// An operation between the labels and the result that has no reverse derivative.
pub fn reverse<'m, B, A, A2, A3>(
    tape: &ATele<A, A2>,
    st: ADual<B, A2, A3>,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    fresh4(|a, b, a2, a3| {
        let (a, b, a2, a3) = (name(a), name(b), name(a2), name(a3));
        let st = ADual {
            code: ACode { tele: st.code.tele.cast_all(b, a3), size: st.code.size.cast(a3) },
            adj: st.adj.cast_labels(a2).cast_code(a3),
            emb: st.emb.cast(a2, a3),
            used: st.used,
        };
        let r = deep(|| reverse_(&tape.cast_all(a, a2), st, m))?;
        let same = Equal::refl();
        Ok(ADual {
            code: ACode { tele: r.code.tele.cast_all(b.sym(), same), size: r.code.size },
            adj: r.adj.cast_labels(a.sym()),
            emb: r.emb.cast(a.sym(), same),
            used: r.used,
        })
    })
}

fn reverse_<'m, 'a, 'b, 'c, 'd>(
    tape: &ATele<X<'a>, X<'c>>,
    st: ADual<X<'b>, X<'c>, X<'d>>,
    m: Guard<'m>,
) -> Result<ADual<X<'b>, X<'a>, X<'m>>> {
    fresh3(|n, k, l| match tape.view(n) {
        ATeleView::Nil(q) => {
            let (st, _) = st.rename(m);
            let emb = st.emb.cast(q.sym(), Equal::refl());
            Ok(ADual { code: st.code, adj: st.adj.cast_labels(q.sym()), emb, used: st.used })
        }
        ATeleView::Snoc(init, rhs, q) => {
            let last = Idx::zero(rhs.ty());
            let mut adj = st.adj.cast_labels(q);
            let parts = adj.take(&last);
            let emb = st.emb.cast(q, Equal::refl());
            let y = emb.at(&last);
            let st = ADual { code: st.code, adj: adj.shrink(), emb: Ren::shift().then(&emb), used: st.used };
            if parts.iter().all(Part::is_zero) || !has_tangent(rhs.ty()) {
                return reverse(&init, st, m);
            }
            let d = st.sum(&parts, &Acc::var(&y), k);
            let st = step(&rhs, d.st, &d.val, &d.up.at(&y), l)?;
            reverse(&init, st, m)
        }
    })
}
