//! Functions of scalar code with rules of one's own, as `crate::custom` for arrays.

use super::code::{Code, total};
use super::dual::reverse;
use super::emissions::Emissions;
use super::primal::primal;
use super::state::Dual;
use crate::activity::{Activity, Labels};
use crate::builders::{from_tangent, has_tangent, to_tangent, unit, zero};
use crate::custom::{Direction, broken};
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::Result;
use frunk::HCons;

impl ExpRule for Direction {
    fn with_rule<'e, 'a, 'p, 'r, 'q, 's>(
        &self,
        (env, _): (&Env<UnitF, X<'e>>, &Env<UnitF, X<'a>>),
        (arg, function): (&Exp<X<'e>, X<'a>, X<'p>>, &Exp<HCons<X<'p>, X<'e>>, X<'a>, X<'r>>),
        rule: Rule<'_, X<'e>, X<'a>, X<'q>, X<'s>>,
        at: Src,
    ) -> Result<Exp<X<'e>, X<'a>, X<'r>>> {
        let functions = match self {
            Direction::Forward => forward(env, arg.ty(), function, &rule)?,
            Direction::Reverse => backward(env, arg.ty(), function, &rule)?,
        };
        Ok(Exp::with_rule(arg, &functions, at))
    }
}

/// The function with the rule `(x, dx) -> (y, dy)`.
fn forward<E, A, P, T, Q, S>(
    env: &Env<UnitF, E>,
    p: &Ty<P>,
    function: &Exp<HCons<P, E>, A, T>,
    rule: &Rule<E, A, Q, S>,
) -> Result<CustomExp<E, A, P, T>> {
    let t = function.ty();
    let v = Exp::var(&Idx::zero(&linearised(p, t, p)));
    let argument = Exp::pair(&v.fst(), &from_tangent(&v.snd().snd(), p));
    let both = called(rule, &argument)?;
    let pushforward = fresh1(|n| {
        let TyView::Pair(_, _, q) = both.ty().view(n) else { return Err(broken()) };
        let dy = tangent(&Exp::var(&Idx::zero(both.ty())).cast(q).snd(), t).ok_or_else(broken)?;
        Ok(Exp::let_(&both, &dy))
    })?;
    let pullback = transposed(env, &pushforward, (p, t), (p, t))?;
    Ok(CustomExp { function: function.clone(), pushforward, pullback })
}

/// The function with the rule `(x, y, dy) -> dx`.
fn backward<E, A, P, T, Q, S>(
    env: &Env<UnitF, E>,
    p: &Ty<P>,
    function: &Exp<HCons<P, E>, A, T>,
    rule: &Rule<E, A, Q, S>,
) -> Result<CustomExp<E, A, P, T>> {
    let t = function.ty();
    let v = Exp::var(&Idx::zero(&linearised(p, t, t)));
    let argument = Exp::pair(&Exp::pair(&v.fst(), &v.snd().fst()), &from_tangent(&v.snd().snd(), t));
    let dx = called(rule, &argument)?;
    let pullback = Exp::let_(&dx, &tangent(&Exp::var(&Idx::zero(dx.ty())), p).ok_or_else(broken)?);
    let pushforward = transposed(env, &pullback, (p, t), (t, p))?;
    Ok(CustomExp { function: function.clone(), pushforward, pullback })
}

/// What a rule returns for an argument, below one variable.
fn called<E, A, Q, S, V, P>(rule: &Rule<E, A, Q, S>, x: &Exp<HCons<V, E>, A, P>) -> Result<Exp<HCons<V, E>, A, S>> {
    let q = x.ty().same(rule.arg).ok_or_else(broken)?;
    Ok(Exp::let_(&x.cast(q), &rule.body.weaken(&Thinning::shift().lift())))
}

/// What a rule returns as a tangent of a value of type `t`. Discrete parts count nothing and may be `()`.
fn tangent<E, A, T, D>(d: &Exp<E, A, D>, t: &Ty<T>) -> Option<Exp<E, A, Tan<T>>> {
    if !has_tangent(t) {
        return Some(zero(&tan_ty(t)));
    }
    deep(|| {
        fresh2(|n, k| match (t.view(n), d.ty().view(k)) {
            (TyView::Pair(a, b, q), TyView::Pair(_, _, p)) => {
                let d = d.cast(p);
                let both = Exp::pair(&tangent(&d.fst(), &a)?, &tangent(&d.snd(), &b)?);
                Some(both.cast(tan_pair().sym().then(eq_tan(q.sym()))))
            }
            _ => d.ty().same(t).map(|q| to_tangent(&d.cast(q))),
        })
    })
}

/// The transpose of a derivative in its tangent: from a tangent of `F` to one of `D`, if the derivative is from a tangent of `D` to one of
/// `F`.
fn transposed<E, A, P, T, D, F>(
    env: &Env<UnitF, E>,
    derivative: &Exp<HCons<Linearised<P, T, D>, E>, A, Tan<F>>,
    (p, t): (&Ty<P>, &Ty<T>),
    (d, f): (&Ty<D>, &Ty<F>),
) -> Result<Exp<HCons<Linearised<P, T, F>, E>, A, Tan<D>>> {
    fresh5(|a, k1, k2, k3, i| {
        let (q, all, dd) = (name(a), linearised(p, t, f), tan_ty(d));
        let env = env.push(&(), &all).push(&(), &dd).cast_env(q);
        let (v, u) = (Idx::succ(&Idx::zero(&all)).cast_env(q), Idx::zero(&dd).cast_env(q));
        let (x, y) = (Exp::var(&v).fst(), Exp::var(&v).snd().fst());
        let outside = Thinning::shift().then(&Thinning::shift()).to(q);
        let at = Exp::pair(&x, &Exp::pair(&y, &Exp::var(&u)));
        let code = Exp::let_(&at, &derivative.weaken(&outside.lift()));
        let primal = primal(&code, &Env::identity(&env), &Code::start(env.size()), k1);
        let seed = primal.code.emit(&Exp::var(&primal.up.at(&v)).snd().snd(), k2);
        let twice = tan_ty(&tan_ty(f)).same(&tan_ty(f)).ok_or_else(broken)?;
        let mut adj = Contributions::new(primal.code.size, seed.code.size);
        adj.add(&primal.var, &SparseTangent::var(&seed.var.cast(twice.sym())));
        let mut labels = vec![Activity::Passive; env.size().get() - 1];
        labels.push(Activity::Active);
        let mut activity = Labels::new(labels);
        activity.enter(&primal.code.tele, env.size());
        let st = Dual {
            code: Code::start(seed.code.size),
            adj,
            emb: seed.up,
            sites: Sites::nil(),
            idx: unit(),
            used: Used::default(),
            activity,
            // All arrays are passive here, and programs of users do not emit.
            emissions: Emissions::finding(&[]),
        };
        let mut dual = reverse(&primal.code.tele, st, k3, i)?;
        let same = tan_ty(&dd).same(&dd).ok_or_else(broken)?;
        let result = total(&dual.adj.take(&u), &tan_ty(&dd)).cast(same);
        let result = seed.code.close(&dual.code.close(&result)).cast_env(q.sym());
        // The derivative is linear, so it does not matter where it is differentiated.
        Ok(Exp::let_(&zero(&dd), &result))
    })
}
