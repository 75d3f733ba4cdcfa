//! The label and primal pass for scalar code. It expects any expression. It establishes a telescope in which every
//! intermediate value that can have a derivative is a variable, its label (see the glossary of the book: label pass,
//! telescope).
//!
//! Discrete subexpressions (indices, conditions) have no adjoint and are not split. Branches of conditionals stay
//! branches, in the same normal form, so only the branch that is taken is computed.

use super::code::{Code, Emitted};
use crate::builders::{has_tangent, index_op, int, unit};
use accel_core::ast::*;
use accel_core::pass::{rename, rename_custom_exp};
use accel_core::repr::op::Num2;
use frunk::HCons;

/// Emits `e`. `env` maps its variables to labels.
pub fn primal<'m, A, B, E0, E, T>(
    e: &Exp<E0, A, T>,
    env: &Env<IdxF<E>, E0>,
    code: &Code<A, B, E>,
    m: Guard<'m>,
) -> Emitted<'m, A, B, E, T> {
    fresh5(|e0, e1, a, b, t| {
        let (e0, e1, a, b, t) = (name(e0), name(e1), name(a), name(b), name(t));
        let code = Code { tele: code.tele.cast_all(a, b, e1), size: code.size.cast(e1) };
        let env = env.cast_all(e0, e1);
        let p = deep(|| primal_(&e.cast_all(e0, a, t), &env, &code, m));
        Emitted {
            code: Code { tele: p.code.tele.cast_all(a.sym(), b.sym(), Equal::refl()), size: p.code.size },
            var: p.var.cast(t.sym()),
            up: p.up.cast(e1.sym(), Equal::refl()),
        }
    })
}

fn primal_<'m, 'a, 'b, 'z, 'e, 't>(
    e: &Exp<X<'z>, X<'a>, X<'t>>,
    env: &Env<IdxF<X<'e>>, X<'z>>,
    code: &Code<X<'a>, X<'b>, X<'e>>,
    m: Guard<'m>,
) -> Emitted<'m, X<'a>, X<'b>, X<'e>, X<'t>> {
    fresh4(|n, c, p, r| match e.view(n) {
        _ if has_tangent(e.ty())
            && let Some(c) = e.custom(c) =>
        {
            let arg = primal(&c.arg, env, code, p);
            let functions = rename_custom_exp(&c.functions, c.arg.ty(), &env.weaken(&arg.up));
            emit_after(&arg, &Exp::with_rule(&Exp::var(&arg.var), &functions, c.at), m)
        }
        ExpView::Var(i) => {
            let q = name(m);
            Emitted { code: code.rename(q), var: env.get(&i).cast_env(q), up: Thinning::id().to(q) }
        }
        ExpView::Const(v) => code.emit(&Exp::constant(&v, e.ty()), m),
        _ if !has_tangent(e.ty()) => code.emit(&rename(e, env), m),
        ExpView::Let(b, body, q) => {
            let b1 = primal(&b, env, code, p);
            let env = env.weaken(&b1.up).push(&b1.var, b.ty()).cast_env(q.sym());
            let e1 = primal(&body, &env, &b1.code, m);
            Emitted { up: b1.up.then(&e1.up), code: e1.code, var: e1.var }
        }
        ExpView::While(w) => {
            let body = Exp::pair(&w.body.cast_env(w.eq), &unit()).weaken(&Thinning::shift());
            let none = (&unit().cast(list_unit().sym()), &ElementTy::known());
            let trips = ExpTrips::While(w.cond.cast_env(w.eq));
            primal(&Exp::loop_(&trips, Dir::Left, &w.init, none, &body, w.at).fst(), env, code, m)
        }
        ExpView::Loop(l) => listing_states(&l, env, code, m),
        ExpView::Op(op) => match op {
            ExpOp::Pair(a, b, q) => {
                let (a, b) = both(&a, &b, env, code, r);
                emit_after(&b, &Exp::pair(&Exp::var(&a), &Exp::var(&b.var)).cast(q.sym()), m)
            }
            ExpOp::Fst(a, q) => {
                let a = primal(&a, env, code, p);
                emit_after(&a, &Exp::var(&a.var.cast(q)).fst(), m)
            }
            ExpOp::Snd(a, q) => {
                let a = primal(&a, env, code, p);
                emit_after(&a, &Exp::var(&a.var.cast(q)).snd(), m)
            }
            ExpOp::Prim1(o, a) => {
                let a = primal(&a, env, code, p);
                emit_after(&a, &Exp::prim1(o, &Exp::var(&a.var)), m)
            }
            ExpOp::Prim2(o, a, b) => {
                let (a, b) = both(&a, &b, env, code, r);
                emit_after(&b, &Exp::prim2(o, &Exp::var(&a), &Exp::var(&b.var)), m)
            }
            ExpOp::Cond(c, t, f) => {
                let c = primal(&c, env, code, p);
                let env = env.weaken(&c.up);
                let (t, f) = (normal(&t, &env, c.code.size), normal(&f, &env, c.code.size));
                emit_after(&c, &Exp::cond(&Exp::var(&c.var), &t, &f), m)
            }
            ExpOp::Index(array, ix, at) => {
                let ix = primal(&ix, env, code, p);
                emit_after(&ix, &Exp::index(&array, &Exp::var(&ix.var), at), m)
            }
            ExpOp::Shape(array, q) => code.emit(&Exp::shape(&array.cast(q)), m),
            ExpOp::Emit { token, to, ix, value, at, eq } => {
                let (token, ix) = both(&token, &ix, env, code, r);
                let env = env.weaken(&ix.up);
                fresh1(|s| {
                    let value = primal(&value, &env, &ix.code, s);
                    let (token, index) = (value.up.at(&token), value.up.at(&ix.var));
                    let token = Exp::var(&token.cast(eq));
                    let rhs = token.emit(&to, &Exp::var(&index), &Exp::var(&value.var), at).cast(eq.sym());
                    let after = value.code.emit(&rhs, m);
                    Emitted { up: ix.up.then(&value.up).then(&after.up), code: after.code, var: after.var }
                })
            }
        },
    })
}

/// Emits one more definition after the definitions of an argument.
fn emit_after<'m, 'k, A, B, E, P, T>(
    before: &Emitted<'k, A, B, E, P>,
    rhs: &Exp<X<'k>, A, T>,
    m: Guard<'m>,
) -> Emitted<'m, A, B, E, T> {
    let after = before.code.emit(rhs, m);
    Emitted { up: before.up.then(&after.up), code: after.code, var: after.var }
}

/// Emits two arguments one after the other.
fn both<'m, A, B, E0, E, P, Q>(
    a: &Exp<E0, A, P>,
    b: &Exp<E0, A, Q>,
    env: &Env<IdxF<E>, E0>,
    code: &Code<A, B, E>,
    m: Guard<'m>,
) -> (Idx<X<'m>, P>, Emitted<'m, A, B, E, Q>) {
    fresh1(|p| {
        let a = primal(a, env, code, p);
        let b = primal(b, &env.weaken(&a.up), &a.code, m);
        (b.up.at(&a.var), Emitted { up: a.up.then(&b.up), code: b.code, var: b.var })
    })
}

/// Emits a loop that also counts its steps and lists its states before each step, and then its result. See NOTE [Dual
/// of a loop].
fn listing_states<'m, 'z, 'e, A, B, T>(
    l: &LoopView<'_, X<'z>, A, T>,
    env: &Env<IdxF<X<'e>>, X<'z>>,
    code: &Code<A, B, X<'e>>,
    m: Guard<'m>,
) -> Emitted<'m, A, B, X<'e>, T> {
    fresh8(|p, q, g, h, i, j, k, r| {
        let (xs, init) = both(&l.xs, &l.init, env, code, p);
        let none = init.code.emit(&int(0), q);
        let start = none.code.emit(&Exp::pair(&Exp::var(&none.var), &Exp::var(&none.up.at(&init.var))), g);
        let up = none.up.then(&start.up);
        let (xs, up) = (Exp::var(&up.at(&xs)), init.up.then(&up));
        let outside = env.weaken(&up);
        let below = outside.weaken(&Thinning::shift());
        let (size, counted) = (start.code.size.push(), start.var.ty());
        let trips = match &l.trips {
            ExpTrips::Times(n) => ExpTrips::Times(rename(n, &outside)),
            ExpTrips::While(cond) => ExpTrips::While(fresh1(|k| {
                let s = Code::start(size).emit(&Exp::var(&Idx::zero(counted)).snd(), k);
                let inner = below.weaken(&s.up).push(&s.var, l.init.ty());
                s.code.close(&rename(cond, &inner.cast_env(l.below_state.sym())))
            })),
        };
        let body = counting(l, &below.weaken(&Thinning::shift()), size.push(), counted);
        let all = Exp::loop_(&trips, l.dir, &Exp::var(&start.var), (&xs, &l.row), &body, l.at);
        let all = start.code.emit(&all, h);
        let lists = all.code.emit(&Exp::var(&all.var).snd(), i);
        let ys = lists.code.emit(&Exp::var(&lists.var.cast(list_pair())).fst(), j);
        let after = lists.up.then(&ys.up);
        let counted = ys.code.emit(&Exp::var(&after.at(&all.var)).fst(), k);
        let state = counted.code.emit(&Exp::var(&counted.var).snd(), r);
        let last = counted.up.then(&state.up);
        let result = Exp::pair(&Exp::var(&state.var), &Exp::var(&last.at(&ys.var))).cast(l.eq.sym());
        let result = state.code.emit(&result, m);
        let up = up.then(&all.up).then(&after).then(&last).then(&result.up);
        Emitted { up, code: result.code, var: result.var }
    })
}

/// The number of steps so far, and a state.
type Counted<S> = (i64, S);

/// The body of a loop in normal form, for counted states, which it also lists.
fn counting<'z, 'n, A, E, T>(
    l: &LoopView<'n, X<'z>, A, T>,
    env: &Env<IdxF<HCons<Y<'n>, HCons<Counted<X<'n>>, E>>>, X<'z>>,
    size: Size<HCons<Y<'n>, HCons<Counted<X<'n>>, E>>>,
    counted: &Ty<Counted<X<'n>>>,
) -> Exp<HCons<Y<'n>, HCons<Counted<X<'n>>, E>>, A, (Counted<X<'n>>, (W<'n>, Counted<X<'n>>))> {
    fresh8(|p, q, g, h, i, j, k, r| {
        let (whole, row) = (Idx::succ(&Idx::zero(counted)), Idx::zero(&l.row));
        let s = Code::start(size).emit(&Exp::var(&whole).snd(), p);
        let env = env.weaken(&s.up).push(&s.var, l.init.ty()).cast_env(l.below_state.sym());
        let env = env.push(&s.up.at(&row), &l.row).cast_env(l.below_row.sym());
        let both = primal(&l.body, &env, &s.code, q);
        let next = both.code.emit(&Exp::var(&both.var).fst(), g);
        let y = next.code.emit(&Exp::var(&next.up.at(&both.var)).snd(), h);
        let whole = s.up.then(&both.up).then(&next.up).then(&y.up).at(&whole);
        let count = y.code.emit(&index_op(Num2::Add, &Exp::var(&whole).fst(), &int(1)), i);
        let next = Exp::pair(&Exp::var(&count.var), &Exp::var(&y.up.then(&count.up).at(&next.var)));
        let next = count.code.emit(&next, j);
        let up = count.up.then(&next.up);
        let listed = next.code.emit(&Exp::pair(&Exp::var(&up.at(&y.var)), &Exp::var(&up.at(&whole))), k);
        let result = Exp::pair(&Exp::var(&listed.up.at(&next.var)), &Exp::var(&listed.var));
        let result = listed.code.emit(&result, r);
        result.code.close(&Exp::var(&result.var))
    })
}

/// The normal form of an expression: definitions around a variable.
pub fn normal<A, E0, E, T>(e: &Exp<E0, A, T>, env: &Env<IdxF<E>, E0>, size: Size<E>) -> Exp<E, A, T> {
    fresh1(|m| {
        let p = primal(e, env, &Code::start(size), m);
        p.code.close(&Exp::var(&p.var))
    })
}
