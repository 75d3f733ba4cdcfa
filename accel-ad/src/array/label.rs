//! The label and primal pass for arrays. It expects any program. It establishes a telescope in which the arguments of
//! every array operation are variables, their labels (see the glossary of the book: label pass, telescope). The
//! telescope computes the same as the program; it stores nothing else for the dual.
//!
//! Bodies of loops and branches stay as they are until the dual pass needs their telescopes. What computes them again, in a nest
//! once for each loop around, so contains no more than the program.

use super::code::{ACode, AEmitted};
use crate::activity::{Activity, differentiable, needed_of_state};
use crate::builders::{fun1, has_tangent, index_op, int, unit};
use accel_core::ast::*;
use accel_core::pass::{rename_acc, rename_arrays, rename_custom};
use accel_core::repr::op::Num2;
use frunk::{HCons, HNil};

/// Emits `e`. `env` maps its variables to labels.
pub fn label<'m, B, A0, A, R>(
    e: &Acc<A0, R>,
    env: &Renaming<A0, A>,
    code: &ACode<B, A>,
    m: Guard<'m>,
) -> AEmitted<'m, B, A, R> {
    fresh4(|a0, a1, b, r| {
        let (a0, a1, b, r) = (name(a0), name(a1), name(b), name(r));
        let code = ACode { tele: code.tele.cast_all(b, a1), size: code.size.cast(a1) };
        let env = env.cast(a0, a1);
        let l = deep(|| label_(&e.cast_env(a0).cast(r), &env, &code, m));
        AEmitted {
            code: ACode { tele: l.code.tele.cast_all(b.sym(), Equal::refl()), size: l.code.size },
            var: l.var.cast(r.sym()),
            up: l.up.cast(a1.sym(), Equal::refl()),
        }
    })
}

fn label_<'m, 'a, 'b, 'z, 'r>(
    e: &Acc<X<'z>, X<'r>>,
    env: &Renaming<X<'z>, X<'a>>,
    code: &ACode<X<'b>, X<'a>>,
    m: Guard<'m>,
) -> AEmitted<'m, X<'b>, X<'a>, X<'r>> {
    let at = e.at();
    fresh4(|n, c, p, r| {
        if let Some(c) = e.custom(c) {
            let p = c.arg.ty().clone();
            return one(&c.arg, env, code, m, |env, arg| {
                Acc::with_rule(&arg, &rename_custom(&c.functions, &p, env.0), at)
            });
        }
        let op = match e.view(n) {
            AccView::Use(lit) => return code.emit(&Acc::use_(&lit, at), m),
            AccView::Var(i) => {
                let q = name(m);
                return AEmitted { code: code.rename(q), var: env.get(&i).cast_env(q), up: Thinning::id().to(q) };
            }
            AccView::Let(b, body, q) => {
                let b = label(&b, env, code, p);
                let env = env.weaken(&b.up).push(&b.var).cast(q.sym(), Equal::refl());
                let e = label(&body, &env, &b.code, m);
                return AEmitted { up: b.up.then(&e.up), code: e.code, var: e.var };
            }
            AccView::While(_) | AccView::Loop(..) if !has_tangent(e.ty()) => return code.emit(&inner(e, env), m),
            AccView::While(w) => {
                let w = without_list(&w);
                let all = loop_(&w, env, code, at, p);
                return part_of(&all, |v| v.fst(), m);
            }
            AccView::Loop(w, q) => {
                let all = loop_(&w, env, code, at, p);
                return part_of(&all, |v| v.cast(q.sym()), m);
            }
            AccView::Op(op) => op,
        };
        let none = &Moved(env);
        match op {
            AccOp::Unit { .. } => code.emit(&inner(e, env), m),
            AccOp::Generate { sh, f, eq } => code.emit(
                &Acc::generate(&e.ty().cast(eq).sh_elt().0, &none.exp(&sh), &none.fun1(&f), at).cast(eq.sym()),
                m,
            ),
            AccOp::Accumulate { sh, f, init, eq } => {
                let t = e.ty().cast(eq).parts().0.sh_elt().0;
                one(&init, env, code, m, |c, init| {
                    Acc::accumulate(&t, &c.exp(&sh), &c.fun1(&f), &init, at).cast(eq.sym())
                })
            }
            AccOp::Cond { cond, then, otherwise } => {
                let (t, f) = (inner(&then, env), inner(&otherwise, env));
                code.emit(&Acc::cond(&none.exp(&cond), &t, &f, at), m)
            }
            AccOp::Pair { a, b, eq } => {
                let (a, b, _) = both(&a, &b, env, code, r);
                then(&b, &Acc::pair(&Acc::var(&a), &Acc::var(&b.var)).cast(eq.sym()), m)
            }
            AccOp::Agree { agreement, user, left, right, a, eq } => one(&a, env, code, m, |c, a| {
                let agreed = Acc::agree(agreement, user, &c.exp(&left), &c.exp(&right), &a, at);
                agreed.cast(eq.sym())
            }),
            AccOp::ZipWith { f, a, b, eq } => {
                let (a, b, env) = both(&a, &b, env, code, r);
                let f = Moved(&env).fun2(&f);
                then(&b, &Acc::zip_with(&f, &Acc::var(&a), &Acc::var(&b.var), at).cast(eq.sym()), m)
            }
            AccOp::Permute { comb, defaults, index, a, eq } => {
                let (d, a, env) = both(&defaults, &a, env, code, r);
                let (comb, index) = (Moved(&env).fun2(&comb), Moved(&env).fun1(&index));
                let rhs = Acc::permute(&comb, &Acc::var(&d), &index, &Acc::var(&a.var), at);
                then(&a, &rhs.cast(eq.sym()), m)
            }
            AccOp::Fst { a, eq } => one(&a, env, code, m, |_, a| a.cast(eq).fst()),
            AccOp::Snd { a, eq } => one(&a, env, code, m, |_, a| a.cast(eq).snd()),
            AccOp::Map { f, a, eq } => one(&a, env, code, m, |c, a| Acc::map(&c.fun1(&f), &a, at).cast(eq.sym())),
            AccOp::Fold { f, z, a, eq } => {
                one(&a, env, code, m, |c, a| Acc::fold(&c.fun2(&f), &c.exp(&z), &a, at).cast(eq.sym()))
            }
            AccOp::Fold1 { f, a, eq } => one(&a, env, code, m, |c, a| Acc::fold1(&c.fun2(&f), &a, at).cast(eq.sym())),
            AccOp::Scan { dir, f, z, a, eq } => {
                one(&a, env, code, m, |c, a| Acc::scan(dir, &c.fun2(&f), &c.exp(&z), &a, at).cast(eq.sym()))
            }
            AccOp::Scan1 { dir, f, a, eq } => {
                one(&a, env, code, m, |c, a| Acc::scan1(dir, &c.fun2(&f), &a, at).cast(eq.sym()))
            }
            AccOp::Backpermute { sh, f, a, eq } => {
                let t = e.ty().cast(eq).sh_elt().0;
                one(&a, env, code, m, |c, a| Acc::backpermute(&t, &c.exp(&sh), &c.fun1(&f), &a, at).cast(eq.sym()))
            }
            AccOp::Argsort { key, a, eq } => one(&a, env, code, m, |_, a| Acc::argsort(key, &a, at).cast(eq.sym())),
            AccOp::Foreign { f, sh, a } => {
                let t = ArraysTy::of(e.ty()).expect("a foreign function computes arrays");
                one(&a, env, code, m, |c, a| Acc::foreign(&f, &c.exp(&sh), &a, &t, at))
            }
            AccOp::Reshape { sh, a, eq } => {
                let t = e.ty().cast(eq).sh_elt().0;
                one(&a, env, code, m, |c, a| Acc::reshape(&t, &c.exp(&sh), &a, at).cast(eq.sym()))
            }
            AccOp::Replicate { spec, slx, a, eq } => {
                one(&a, env, code, m, |c, a| Acc::replicate(&spec, &c.exp(&slx), &a, at).cast(eq.sym()))
            }
            AccOp::Slice { spec, slx, a, eq } => {
                one(&a, env, code, m, |c, a| Acc::slice(&spec, &c.exp(&slx), &a, at).cast(eq.sym()))
            }
        }
    })
}

/// NOTE \[Normal form of loops\]: the last component of the entries that a loop lists is the state before the step, from
/// which the dual of the step computes everything else again. The last component of the state of a `while` loop is the
/// number of steps; the dual takes as many. If no dual needs them, the simplifier drops the lists.
///
/// NOTE \[Discrete states\]: rows of a list have one shape, but an array of integers that decides when a loop ends may have another one
/// in each step. If no state or entry that has a tangent is computed from it, the dual does not need it, and the list contains the initial
/// one instead.
///
/// Emits a loop in normal form, and its result.
fn loop_<'m, B, A0, A, S, P, Y>(
    w: &ALoop<A0, S, P, Y>,
    env: &Renaming<A0, A>,
    code: &ACode<B, A>,
    at: Src,
    m: Guard<'m>,
) -> AEmitted<'m, B, A, (S, Batched<Y>)> {
    fresh1(|k| match &w.trips {
        Trips::While(cond) => {
            let all = listed(&counted(w, cond), env, code, at, k);
            part_of(&all, |v| Acc::pair(&v.fst().fst(), &v.snd().cast(batched_pair()).fst()), m)
        }
        Trips::Times(..) => {
            let all = listed(w, env, code, at, k);
            part_of(&all, |v| Acc::pair(&v.fst(), &v.snd().cast(batched_pair()).fst()), m)
        }
    })
}

/// Emits a loop that also lists the states before its steps.
fn listed<'m, B, A0, A, S, P, Y>(
    w: &ALoop<A0, S, P, Y>,
    env: &Renaming<A0, A>,
    code: &ACode<B, A>,
    at: Src,
    m: Guard<'m>,
) -> AEmitted<'m, B, A, (S, Batched<(Y, S)>)> {
    fresh1(|k| {
        let (init, xs, env) = both(&w.init, &w.xs, env, code, k);
        let t = w.argument();
        let argument = Acc::var(&Idx::zero(&t));
        let trips = match &w.trips {
            Trips::While(cond) => Trips::While(inner(cond, &env.below(w.init.ty()))),
            Trips::Times(n, dir) => Trips::Times(rename_arrays(n, &env), *dir),
        };
        let body = inner(&w.body, &env.below(&t));
        let next = Acc::var(&Idx::zero(body.ty()));
        let mut state = argument.fst();
        if has_discrete_arrays(state.ty()) {
            let needed = needed_of_state(&w.body, differentiable(w.body.ty()));
            state = listed_state(&state, &Acc::var(&init).weaken(&Thinning::shift()), &needed);
        }
        let entry = Acc::pair(&next.snd(), &state.weaken(&Thinning::shift()));
        let body = Acc::let_(&body, &Acc::pair(&next.fst(), &entry));
        let loop_ = ALoop { user: w.user, trips, init: Acc::var(&init), xs: Acc::var(&xs.var), body };
        then(&xs, &Acc::loop_(&loop_, at), m)
    })
}

/// Whether a state contains arrays of numbers without tangents.
fn has_discrete_arrays<S>(t: &Ty<S>) -> bool {
    fresh1(|n| match t.view(n) {
        TyView::Pair(a, b, _) => deep(|| has_discrete_arrays(&a) || has_discrete_arrays(&b)),
        TyView::Arr(sh, ..) => sh.raw().width() > 0 && !has_tangent(t),
        _ => false,
    })
}

/// The state that a loop lists: NOTE \[Discrete states\].
fn listed_state<A, S>(state: &Acc<A, S>, init: &Acc<A, S>, needed: &Activity) -> Acc<A, S> {
    fresh1(|n| match state.ty().view(n) {
        TyView::Pair(_, _, q) => deep(|| {
            let (state, init) = (state.cast(q), init.cast(q));
            let first = listed_state(&state.fst(), &init.fst(), &needed.fst());
            Acc::pair(&first, &listed_state(&state.snd(), &init.snd(), &needed.snd())).cast(q.sym())
        }),
        _ if needed.is_passive() && has_discrete_arrays(state.ty()) => init.clone(),
        _ => state.clone(),
    })
}

/// A `while` loop that also counts its steps.
fn counted<A, S, P, Y>(w: &ALoop<A, S, P, Y>, cond: &Acc<HCons<S, A>, Arr<(), bool>>) -> Counted<A, S, P, Y> {
    let zero = Acc::generate(&ShapeTy::known(), &unit(), &fun1(&Ty::of(), |_| int(0)), None);
    let init = Acc::pair(&w.init, &zero);
    let up = Thinning::shift().lift();
    let state = Acc::var(&Idx::zero(init.ty()));
    let cond = Acc::let_(&state.fst(), &cond.weaken(&up));
    let argument = Acc::var(&Idx::zero(&Ty::pair(init.ty(), &w.argument().parts().1)));
    let (state, row) = (argument.fst(), argument.snd());
    let next = Acc::let_(&Acc::pair(&state.fst(), &row), &w.body.weaken(&Thinning::shift().lift()));
    let one_more = Acc::map(&fun1(&Ty::of(), |n| index_op(Num2::Add, &n, &int(1))), &state.snd(), None);
    let all = Acc::var(&Idx::zero(next.ty()));
    let all = Acc::pair(&Acc::pair(&all.fst(), &one_more.weaken(&Thinning::shift())), &all.snd());
    let body = Acc::let_(&next, &all);
    ALoop { user: w.user, trips: Trips::While(cond), init, xs: w.xs.clone(), body }
}

/// A loop whose state also contains a number.
type Counted<A, S, P, Y> = ALoop<A, (S, Arr<(), i64>), P, Y>;

/// A `while` loop as a loop without rows that lists nothing.
fn without_list<A, R>(w: &AWhileView<'_, A, R>) -> ALoop<A, R, (), ()> {
    let argument = Acc::var(&Idx::zero(&Ty::pair(w.init.ty(), &Ty::of())));
    let next = Acc::let_(&argument.fst(), &w.body.cast_env(w.eq).weaken(&Thinning::shift().lift()));
    ALoop {
        user: "awhile",
        trips: Trips::While(w.cond.cast_env(w.eq)),
        init: w.init.clone(),
        xs: Acc::unit().cast(batched_unit().sym()),
        body: Acc::pair(&next, &Acc::unit()),
    }
}

/// Emits a tuple of components of a variable.
fn part_of<'m, 'k, B, A, P, R>(
    whole: &AEmitted<'k, B, A, P>,
    part: impl FnOnce(Acc<HCons<P, HNil>, P>) -> Acc<HCons<P, HNil>, R>,
    m: Guard<'m>,
) -> AEmitted<'m, B, A, R> {
    let t = whole.var.ty();
    let e = label(
        &part(Acc::var(&Idx::zero(t))),
        &Renaming::embedding(&Thinning::from_nil()).push(&whole.var),
        &whole.code,
        m,
    );
    AEmitted { up: whole.up.then(&e.up), code: e.code, var: e.var }
}

/// Replaces the array variables of scalar code.
struct Moved<'a, A0, A>(&'a Renaming<A0, A>);
impl<A0, A> Moved<'_, A0, A> {
    fn exp<E, T>(&self, e: &Exp<E, A0, T>) -> Exp<E, A, T> {
        rename_arrays(e, self.0)
    }
    fn fun1<P, R>(&self, f: &Fun1<A0, P, R>) -> Fun1<A, P, R> {
        Fun1(self.exp(&f.0))
    }
    fn fun2<P, Q, R>(&self, f: &Fun2<A0, P, Q, R>) -> Fun2<A, P, Q, R> {
        Fun2(self.exp(&f.0))
    }
}

/// Emits an operation with one array argument.
fn one<'m, B, A0, A, P, R>(
    a: &Acc<A0, P>,
    env: &Renaming<A0, A>,
    code: &ACode<B, A>,
    m: Guard<'m>,
    op: impl for<'k> FnOnce(Moved<'_, A0, X<'k>>, Acc<X<'k>, P>) -> Acc<X<'k>, R>,
) -> AEmitted<'m, B, A, R> {
    fresh1(|k| {
        let a = label(a, env, code, k);
        let rhs = op(Moved(&env.weaken(&a.up)), Acc::var(&a.var));
        then(&a, &rhs, m)
    })
}

/// Emits one more definition after the definitions of an argument.
fn then<'m, 'k, B, A, P, R>(
    before: &AEmitted<'k, B, A, P>,
    rhs: &Acc<X<'k>, R>,
    m: Guard<'m>,
) -> AEmitted<'m, B, A, R> {
    let after = before.code.emit(rhs, m);
    AEmitted { up: before.up.then(&after.up), code: after.code, var: after.var }
}

/// The labels of two arguments, and the state after them.
type Both<'m, B, A0, A, P, Q> = (Idx<X<'m>, P>, AEmitted<'m, B, A, Q>, Renaming<A0, X<'m>>);

fn both<'m, B, A0, A, P, Q>(
    a: &Acc<A0, P>,
    b: &Acc<A0, Q>,
    env: &Renaming<A0, A>,
    code: &ACode<B, A>,
    m: Guard<'m>,
) -> Both<'m, B, A0, A, P, Q> {
    fresh1(|p| {
        let a = label(a, env, code, p);
        let b = label(b, &env.weaken(&a.up), &a.code, m);
        let up = a.up.then(&b.up);
        let env = env.weaken(&up);
        (b.up.at(&a.var), AEmitted { up, code: b.code, var: b.var }, env)
    })
}

/// The body of a loop or a branch, in which only the variables are replaced.
fn inner<A0, A, R>(e: &Acc<A0, R>, env: &Renaming<A0, A>) -> Acc<A, R> {
    e.renamed(env).unwrap_or_else(|| rename_acc(e, env))
}

/// The normal form of the body of a loop or a branch.
pub fn tape<'m, A, R>(e: &Acc<A, R>, size: Size<A>, m: Guard<'m>) -> AEmitted<'m, A, A, R> {
    label(e, &Renaming::embedding(&Thinning::id()), &ACode::start(size), m)
}
