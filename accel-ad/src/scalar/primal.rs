//! The label and primal pass for scalar code. It expects any expression. It establishes a telescope in which every
//! intermediate value that can have a derivative is a variable, its label (see the glossary of the book: label pass,
//! telescope).
//!
//! Discrete subexpressions (indices, conditions) have no adjoint and are not split. Branches of conditionals stay
//! branches, in the same normal form, so only the branch that is taken is computed.

use super::code::{Code, Emitted};
use crate::builders::has_tangent;
use accel_core::ast::*;
use accel_core::pass::rename;

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
    fresh3(|n, p, r| match e.view(n) {
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
        ExpView::While(_) => code.emit(&rename(e, env), m),
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

/// The normal form of an expression: definitions around a variable.
pub fn normal<A, E0, E, T>(e: &Exp<E0, A, T>, env: &Env<IdxF<E>, E0>, size: Size<E>) -> Exp<E, A, T> {
    fresh1(|m| {
        let p = primal(e, env, &Code::start(size), m);
        p.code.close(&Exp::var(&p.var))
    })
}
