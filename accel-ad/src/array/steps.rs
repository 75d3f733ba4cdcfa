//! Runs the dual of a scalar function at every index of an array, and contributes to the arrays that the function reads.
//!
//! Each read outside of loops has an entry in an index-adjoint tuple. Arrays that loops read have accumulators: NOTE
//! [Reads in loops].

use super::state::{ABound, ADual};
use super::tuples::{give, zero_sums};
use crate::activity::Activity;
use crate::builders::{call2, fun1};
use crate::scalar::function::{EmittingDual, FunDual, emitting_dual};
use accel_core::ast::*;
use accel_core::error::Result;
use frunk::{HCons, HNil};

/// A scalar function, and its dual.
pub struct Function<'f, 'i, A, P, Q> {
    pub f: &'f Fun1<A, P, Q>,
    pub argument: &'f Ty<P>,
    pub activity: Activity,
    pub dual: &'f FunDual<'i, A, P, Q>,
    /// The adjoints of the accumulators to which the function itself emits.
    pub adjoints: &'f [SomeIdx<A>],
}

impl<'f, 'i, A, P, Q> Function<'f, 'i, A, P, Q> {
    /// A function that does not emit.
    pub fn new(f: &'f Fun1<A, P, Q>, argument: &'f Ty<P>, activity: Activity, dual: &'f FunDual<'i, A, P, Q>) -> Self {
        Function { f, argument, activity, dual, adjoints: &[] }
    }
}

/// The results of the dual at every index, and the contributions to arrays that are still to be made.
pub struct Steps<'j, 'z, A, A2, Sh, P> {
    /// The adjoint of the argument, and the index-adjoint tuple.
    pub values: Idx<A2, Arr<Sh, (Tan<P>, X<'j>)>>,
    sites: Sites<A, X<'j>>,
    sums: Option<(VarTuple<A, X<'z>>, Idx<A2, X<'z>>)>,
}

/// The dual of a function in array code: `I` is the index-adjoint tuple, with a token if it emits.
pub type Called<A2, P, Q, I> = Fun2<A2, P, Tan<Q>, (Tan<P>, I)>;

impl<'j, 'z, A, A2, Sh, P> Steps<'j, 'z, A, A2, Sh, P> {
    /// Weakens to a larger environment.
    pub fn weaken<A3>(&self, up: &Thinning<A2, A3>) -> Steps<'j, 'z, A, A3, Sh, P> {
        let sums = self.sums.as_ref().map(|(vars, all)| (vars.clone(), up.at(all)));
        Steps { values: up.at(&self.values), sites: self.sites.clone(), sums }
    }
    /// Contributes to the adjoints of the arrays that the function has read.
    pub fn contribute<'m, B>(&self, st: ADual<B, A, A2>, m: Guard<'m>) -> ABound<'m, B, A, A2, ()> {
        let tuple = fun1(&self.values.ty().sh_elt().1, |x| x.snd());
        let Some((vars, all)) = &self.sums else {
            let (st, up) = st.scatter(&self.sites, &self.values, &tuple, m);
            return ABound { st, val: (), up };
        };
        fresh1(|k| {
            let (st, up) = st.scatter(&self.sites, &self.values, &tuple, k);
            let given = give(st, vars, &Acc::var(&up.at(all)), m);
            ABound { st: given.st, val: (), up: up.then(&given.up) }
        })
    }
}

impl<B, A, A2> ADual<B, A, A2> {
    /// Runs the dual of a function at every index of a shape. `body` calls it, at most once in each branch.
    ///
    /// # Errors
    /// An operation without a reverse derivative.
    pub fn run_dual<'i, 'j, 'z, 'k, Sh, P, Q>(
        self,
        f: Function<'_, '_, A, P, Q>,
        t: &ShapeTy<Sh>,
        sh: &Exp<HNil, A2, Sh>,
        body: impl FnOnce(
            &Called<A2, P, Q, X<'i>>,
            &Exp<HCons<Sh, HNil>, A2, Sh>,
        ) -> Exp<HCons<Sh, HNil>, A2, (Tan<P>, X<'i>)>,
        at: Src,
        (i, j, z, k): (Guard<'i>, Guard<'j>, Guard<'z>, Guard<'k>),
    ) -> Result<ABound<'k, B, A, A2, Steps<'j, 'z, A, X<'k>, Sh, P>>> {
        let targets = &f.dual.in_loops;
        if targets.is_empty() {
            let (inner, outer) = (name(i), name(j));
            let dual = f.dual.dual.cast(Equal::refl(), Equal::refl(), eq_pair(Equal::refl(), inner)).aweaken(&self.emb);
            let run = fun1(t, |ix| body(&dual, &ix).cast(eq_pair(Equal::refl(), inner.sym().then(outer))));
            let values = self.bind(&Acc::generate(t, sh, &run, at), k);
            let steps = Steps { values: values.val, sites: f.dual.sites.cast(outer), sums: None };
            return Ok(ABound { st: values.st, val: steps, up: values.up });
        }
        let activity = self.activity.of_function(f.activity, self.adj.label_size());
        let EmittingDual { dual, sites } = emitting_dual(f.f, f.argument, activity, targets, f.adjoints, j)?;
        let inner = name(i);
        let dual =
            token_inside(&dual).cast(Equal::refl(), Equal::refl(), eq_pair(Equal::refl(), inner)).aweaken(&self.emb);
        let run = fun1(t, |ix| token_outside(&body(&dual, &ix).cast(eq_pair(Equal::refl(), inner.sym()))));
        let vars = tuple(targets, z);
        let all = Acc::accumulate(t, sh, &run, &zero_sums(&vars, &self), at);
        Ok(fresh2(|l, h| {
            let all = self.bind(&all, l);
            let values = all.st.bind(&Acc::var(&all.val).fst(), h);
            let sums = values.st.bind(&Acc::var(&values.up.at(&all.val)).snd(), k);
            let steps = Steps { values: sums.up.at(&values.val), sites, sums: Some((vars, sums.val)) };
            ABound { st: sums.st, val: steps, up: all.up.then(&values.up).then(&sums.up) }
        }))
    }
}

impl<B, A, A2> ADual<B, A, A2> {
    /// Contributes to the arrays that a function of an index, or of nothing, reads. `d` is the adjoint of its result
    /// for every index.
    ///
    /// # Errors
    /// An operation without a reverse derivative.
    pub fn reads_of<'m, Sh, Q>(
        self,
        f: Function<'_, '_, A, Sh, Q>,
        t: &ShapeTy<Sh>,
        d: &Idx<A2, Arr<Sh, Tan<Q>>>,
        at: Src,
        m: Guard<'m>,
    ) -> Result<ADual<B, A, X<'m>>> {
        if f.dual.is_local() {
            return Ok(self.rename(m).0);
        }
        fresh4(|i, j, z, k| {
            if f.dual.in_loops.is_empty() {
                let dual = f.dual.dual.aweaken(&self.emb);
                let run = fun1(t, |ix| call2(&dual, &ix, &Exp::index(d, &ix, at)).snd());
                let tuples = self.bind(&Acc::generate(t, &Exp::shape(d), &run, at), k);
                let whole = fun1(&tuples.val.ty().sh_elt().1, |x| x);
                return Ok(tuples.st.scatter(&f.dual.sites, &tuples.val, &whole, m).0);
            }
            let body = |dual: &Called<A2, _, _, _>, ix: &Exp<_, A2, _>| call2(dual, ix, &Exp::index(d, ix, at));
            let steps = self.run_dual(f, t, &Exp::shape(d), body, at, (i, j, z, k))?;
            Ok(steps.val.contribute(steps.st, m).st)
        })
    }
}

/// The function with its token beside the index-adjoint tuple.
fn token_inside<A, P, D, R, I>(f: &Fun2<A, P, D, ((R, I), f32)>) -> Fun2<A, P, D, (R, (I, f32))> {
    let v = Exp::var(&Idx::zero(f.0.ty()));
    Fun2(Exp::let_(&f.0, &Exp::pair(&v.fst().fst(), &Exp::pair(&v.fst().snd(), &v.snd()))))
}

/// A result with its token beside everything else.
fn token_outside<E, A, R, I>(e: &Exp<E, A, (R, (I, f32))>) -> Exp<E, A, ((R, I), f32)> {
    let v = Exp::var(&Idx::zero(e.ty()));
    Exp::let_(e, &Exp::pair(&Exp::pair(&v.fst(), &v.snd().fst()), &v.snd().snd()))
}

/// A tuple of variables.
fn tuple<'z, A>(vars: &[SomeIdx<A>], z: Guard<'z>) -> VarTuple<A, X<'z>> {
    fresh2(|n, k| match vars.split_last() {
        None => VarTuple::nil().cast(name(z)),
        Some((last, rest)) => tuple(rest, k).snoc(&last.open(n)).cast(name(z)),
    })
}
