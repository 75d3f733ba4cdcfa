//! The state of the dual pass for arrays: the code so far, and the contribution map (see the glossary of the book:
//! contribution map).

use super::code::{ACode, pair_of, total, zeros};
use crate::activity::{Activity, ArrayLabels};
use crate::builders::{call, fun1, has_tangent, plus};
use crate::scalar::function::{FunDual, fun_dual};
use crate::sparse_tangents::{Summands, summands};
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::Result;
use frunk::HCons;

/// The state of the dual pass: the code so far (from `B` to `A2`), the contribution map for the labels `A`, whose
/// values are in `A2`, and the variables that the code uses.
pub struct ADual<B, A, A2> {
    pub code: ACode<B, A2>,
    pub adj: Contributions<A, A2>,
    pub emb: Thinning<A, A2>,
    pub used: Used,
    /// The activities of the labels.
    pub activity: ArrayLabels,
}

/// A state after more code, together with a value in its environment.
pub struct ABound<'k, B, A, A2, V> {
    pub st: ADual<B, A, X<'k>>,
    pub val: V,
    pub up: Thinning<A2, X<'k>>,
}

/// A state with one more definition, which is also the last label.
pub struct Labelled<'e, 'k, B, A, A2, R> {
    pub st: ADual<B, X<'e>, X<'k>>,
    pub label: Idx<X<'e>, R>,
    /// The embedding of the previous code environment.
    pub up: Thinning<A2, X<'k>>,
    /// The embedding of the previous labels.
    pub ext: Thinning<A, X<'e>>,
    pub back: Equal<HCons<R, A>, X<'e>>,
}

impl<B, L, A2> ADual<B, L, A2> {
    /// The state without its last label.
    pub fn without_label<A, R>(self, back: Equal<HCons<R, A>, L>) -> ADual<B, A, A2> {
        ADual {
            code: self.code,
            adj: self.adj.cast_labels(back.sym()).shrink(),
            emb: Thinning::shift().then(&self.emb.cast(back.sym(), Equal::refl())),
            used: self.used,
            activity: self.activity,
        }
    }
}

impl<B, A, A2> ADual<B, A, A2> {
    /// Gives the code environment a name.
    pub fn rename<'k>(self, k: Guard<'k>) -> (ADual<B, A, X<'k>>, Equal<A2, X<'k>>) {
        let q = name(k);
        let st = ADual {
            code: self.code.rename(q),
            adj: self.adj.cast_code(q),
            emb: self.emb.to(q),
            used: self.used,
            activity: self.activity,
        };
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
        let up = Thinning::id().up(q);
        let code = ACode { tele: self.code.tele.snoc(rhs).cast(q), size: self.code.size.push().cast(q) };
        let st =
            ADual { code, adj: self.adj.grow(q), emb: self.emb.then(&up), used: self.used, activity: self.activity };
        ABound { st, val: Idx::zero(rhs.ty()).cast_env(q), up }
    }
    /// Emits a definition that is also a new label, which is passive.
    pub fn bind_label<'e, 'k, R>(
        mut self,
        rhs: &Acc<A2, R>,
        e: Guard<'e>,
        k: Guard<'k>,
    ) -> Labelled<'e, 'k, B, A, A2, R> {
        self.used.arrays(rhs, self.code.size);
        let (back, q) = (name(e), name(k));
        let up = Thinning::id().up(q);
        self.activity.add_passive(self.adj.label_size());
        let st = ADual {
            code: ACode { tele: self.code.tele.snoc(rhs).cast(q), size: self.code.size.push().cast(q) },
            adj: self.adj.grow_labels(back).grow(q),
            emb: self.emb.lift().cast(back, q),
            used: self.used,
            activity: self.activity,
        };
        Labelled { st, up, ext: Thinning::id().up(back), label: Idx::zero(rhs.ty()).cast_env(back), back }
    }
    /// The value of a label.
    pub fn value<R>(&self, i: &Idx<A, R>) -> Acc<A2, R> {
        Acc::var(&self.emb.at(i))
    }
    /// The sum of partial tangents of `value`. It emits code only where two of them overlap.
    pub fn sum<'k, R>(
        self,
        parts: &[SparseTangent<A2, Tan<R>>],
        value: &Acc<A2, R>,
        k: Guard<'k>,
    ) -> ABound<'k, B, A, A2, SparseTangent<X<'k>, Tan<R>>> {
        deep(|| {
            fresh4(|n, v, k1, k2| match summands(parts, n) {
                Summands::None => self.already(SparseTangent::zero(), k),
                Summands::One(p) => self.already(p, k),
                Summands::Pairs(pairs) => {
                    let q = pair_of(value, v);
                    let (value, pairs) = (value.cast(q), pairs.retype(eq_tan(q).then(tan_pair())));
                    let a = self.sum(&pairs.firsts, &value.fst(), k1);
                    let seconds: Vec<_> = pairs.seconds.iter().map(|p| p.weaken(&a.up)).collect();
                    let b = a.st.sum(&seconds, &value.snd().weaken(&a.up), k2);
                    let both = SparseTangent::pair(&a.val.weaken(&b.up), &b.val).cast(pairs.eq.sym());
                    let (st, q) = b.st.rename(k);
                    ABound { st, val: both.cast_env(q), up: a.up.then(&b.up).to(q) }
                }
                Summands::Overlapping(parts) => {
                    let b = self.bind(&total(&parts, value), k);
                    ABound { val: SparseTangent::var(&b.val), st: b.st, up: b.up }
                }
            })
        })
    }
    /// A value that needs no code.
    fn already<'k, U>(self, p: SparseTangent<A2, U>, k: Guard<'k>) -> ABound<'k, B, A, A2, SparseTangent<X<'k>, U>> {
        let (st, q) = self.rename(k);
        ABound { st, val: p.cast_env(q), up: Thinning::id().to(q) }
    }
    /// The activity of a label.
    pub fn activity_of<R>(&self, i: &Idx<A, R>) -> Activity {
        self.activity.of(i, self.adj.label_size())
    }
    /// The dual of a scalar function whose argument has this activity.
    ///
    /// # Errors
    /// An operation without a reverse derivative.
    pub fn fun_dual<'i, P, Q>(
        &self,
        f: &Fun1<A, P, Q>,
        p: &Ty<P>,
        argument: Activity,
        i: Guard<'i>,
    ) -> Result<FunDual<'i, A, P, Q>> {
        self.fun_dual_emitting(f, p, argument, &[], i)
    }
    /// As [`fun_dual`](Self::fun_dual), for a function that emits to accumulators with these adjoints.
    ///
    /// # Errors
    /// An operation without a reverse derivative.
    pub fn fun_dual_emitting<'i, P, Q>(
        &self,
        f: &Fun1<A, P, Q>,
        p: &Ty<P>,
        argument: Activity,
        adjoints: &[SomeIdx<A>],
        i: Guard<'i>,
    ) -> Result<FunDual<'i, A, P, Q>> {
        fun_dual(f, p, self.activity.of_function(argument, self.adj.label_size()), adjoints, i)
    }
    /// No code.
    pub fn unchanged<'k>(self, k: Guard<'k>) -> ABound<'k, B, A, A2, ()> {
        let (st, q) = self.rename(k);
        ABound { st, val: (), up: Thinning::id().to(q) }
    }
    /// Adds a contribution to the adjoint of a label.
    pub fn contribute<'k, R>(self, i: &Idx<A, R>, d: &Acc<A2, Tan<R>>, k: Guard<'k>) -> ABound<'k, B, A, A2, ()> {
        let variable = fresh1(|n| match d.view(n) {
            AccView::Var(v) => Some(v),
            _ => None,
        });
        if variable.is_some() || !has_tangent(i.ty()) || self.activity_of(i).is_passive() {
            let mut this = self;
            if let Some(v) = variable {
                this.adj.add(i, &SparseTangent::var(&v));
            }
            return this.unchanged(k);
        }
        let mut b = self.bind(d, k);
        b.st.adj.add(i, &SparseTangent::var(&b.val));
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
    ) -> (ADual<B, A, X<'k>>, Thinning<A2, X<'k>>) {
        deep(|| {
            fresh2(|n, l| match sites.view(n) {
                SitesView::Nil(_) => {
                    let (st, q) = self.rename(k);
                    (st, Thinning::id().to(q))
                }
                SitesView::Extended(rest, array, src, q) => {
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
