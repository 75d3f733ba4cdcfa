//! The dual of a scalar conditional.
//!
//! NOTE [Duals of conditionals]: the dual of `cond(c, t, f)` is a conditional again, so the branch that is not taken is
//! executed neither forwards nor backwards. Each branch recomputes its primal and then computes its dual. It returns
//! the adjoints of the variables that either branch uses, followed by the index-adjoint tuples of both branches. The
//! tuple of the other branch consists of zeros, which means "not executed".

use super::code::{Code, total};
use super::dual::{Bound, Dual, reverse};
use crate::terms::{unit, zero};
use accel_core::ast::*;
use accel_core::error::Result;

/// Applies the dual of `cond(c, t, f)`, whose adjoint is `d`; returns the new state.
pub fn branches<'b, 'r, A, B, E, E2, T, U>(
    st: Dual<A, B, E, E2, T>,
    c: &Idx<E, bool>,
    t: &Exp<E, A, U>,
    f: &Exp<E, A, U>,
    d: &Part<E2, Tan<U>>,
    b: Guard<'b>,
    r: Guard<'r>,
) -> Result<Dual<A, B, E, X<'b>, X<'r>>> {
    fresh8(|m1, i1, m2, i2, s, j, k1, _| {
        let mut rt = branch(&st, t, d, m1, i1)?;
        let mut rf = branch(&st, f, d, m2, i2)?;
        let mut labels = rt.adj.labels();
        labels.extend(rf.adj.labels());
        labels.sort_by_key(|i| std::cmp::Reverse(i.depth()));
        labels.dedup_by_key(|i| i.depth());
        let packed = pack(&labels, &mut rt.adj, &mut rf.adj, s);
        let (zt, zf) = (zero(rt.idx.ty()), zero(rf.idx.ty()));
        let et = Exp::pair(&packed.then, &Exp::pair(&rt.idx, &zf));
        let ef = Exp::pair(&packed.otherwise, &Exp::pair(&zt, &rf.idx));
        let c = Exp::var(&st.emb.at(c));
        let all = Exp::cond(&c, &rt.code.close(&et), &rf.code.close(&ef));
        let Bound { st, val: all, .. } = st.bind(&all, k1);
        let all = Exp::var(&all);
        let idx = st.idx.clone();
        let (sites, idx) = append(&st.sites, &idx, &rt.sites, &all.snd().fst(), j);
        fresh1(|j2| {
            let (sites, idx) = append(&sites, &idx, &rf.sites, &all.snd().snd(), j2);
            give(st.with_sites(sites, idx), &packed.vars, &all.fst(), b, r)
        })
    })
}

/// One branch: recomputes the primal, then the dual, starting from the code environment `E2`.
fn branch<'m, 'i, A, B, E, E2, T, U>(
    st: &Dual<A, B, E, E2, T>,
    e: &Exp<E, A, U>,
    d: &Part<E2, Tan<U>>,
    m: Guard<'m>,
    i: Guard<'i>,
) -> Result<Dual<A, E2, E, X<'m>, X<'i>>> {
    fresh2(|p, r| {
        let tape = spine(e, &Tele::nil(), st.adj.label_size(), p);
        let again = replay(&tape.tele, &st.emb, st.code.size, r);
        let mut adj = Contributions::new(tape.size, again.code.size);
        adj.add(&tape.res, &d.weaken(&again.up));
        let st = Dual { code: again.code, adj, emb: again.emb, sites: Sites::nil(), idx: unit() };
        reverse(&tape.tele, st, m, i)
    })
}

/// The normal form of an expression: a telescope and the variable of the result.
struct Spine<'m, A, E, T> {
    tele: Tele<A, E, X<'m>>,
    size: Size<X<'m>>,
    res: Idx<X<'m>, T>,
}

fn spine<'m, A, E, E1, T>(
    e: &Exp<E1, A, T>,
    tele: &Tele<A, E, E1>,
    size: Size<E1>,
    m: Guard<'m>,
) -> Spine<'m, A, E, T> {
    fresh4(|a, b, c, t| {
        let (a, b, c, t) = (name(a), name(b), name(c), name(t));
        let s = deep(|| spine_(&e.cast_all(c, a, t), &tele.cast_all(a, b, c), size.cast(c), m));
        Spine { tele: s.tele.cast_all(a.sym(), b.sym(), Equal::refl()), size: s.size, res: s.res.cast(t.sym()) }
    })
}

fn spine_<'m, 'a, 'b, 'c, 't>(
    e: &Exp<X<'c>, X<'a>, X<'t>>,
    tele: &Tele<X<'a>, X<'b>, X<'c>>,
    size: Size<X<'c>>,
    m: Guard<'m>,
) -> Spine<'m, X<'a>, X<'b>, X<'t>> {
    fresh1(|n| match e.view(n) {
        ExpView::Let(b, body, q) => spine(&body, &tele.snoc(&b).cast(q.sym()), size.push().cast(q.sym()), m),
        ExpView::Var(i) => {
            let w = name(m);
            Spine { tele: tele.cast(w), size: size.cast(w), res: i.cast_env(w) }
        }
        _ => {
            let w = name(m);
            let res = Idx::zero(e.ty()).cast_env(w);
            Spine { tele: tele.snoc(e).cast(w), size: size.push().cast(w), res }
        }
    })
}

/// Moves a telescope to another environment.
struct Replay<'m, A, E2, F> {
    code: Code<A, E2, X<'m>>,
    emb: Ren<F, X<'m>>,
    up: Ren<E2, X<'m>>,
}

fn replay<'m, A, E, F, E2>(
    tape: &Tele<A, E, F>,
    emb: &Ren<E, E2>,
    size: Size<E2>,
    m: Guard<'m>,
) -> Replay<'m, A, E2, F> {
    fresh4(|a, e, f, c| {
        let (a, e, f, c) = (name(a), name(e), name(f), name(c));
        let r = deep(|| replay_(&tape.cast_all(a, e, f), &emb.cast(e, c), size.cast(c), m));
        let same = Equal::refl();
        Replay {
            code: Code { tele: r.code.tele.cast_all(a.sym(), c.sym(), same), size: r.code.size },
            emb: r.emb.cast(f.sym(), same),
            up: r.up.cast(c.sym(), same),
        }
    })
}

fn replay_<'m, 'a, 'e, 'f, 'c>(
    tape: &Tele<X<'a>, X<'e>, X<'f>>,
    emb: &Ren<X<'e>, X<'c>>,
    size: Size<X<'c>>,
    m: Guard<'m>,
) -> Replay<'m, X<'a>, X<'c>, X<'f>> {
    fresh2(|n, k| match tape.view(n) {
        TeleView::Nil(q) => {
            let w = name(m);
            Replay { code: Code::start(size).rename(w), emb: emb.cast(q, w), up: Ren::id().to(w) }
        }
        TeleView::Snoc(init, rhs, q) => {
            let before = replay(&init, emb, size, k);
            let w = name(m);
            let rhs = rhs.weaken(&before.emb);
            let code = Code { tele: before.code.tele.snoc(&rhs).cast(w), size: before.code.size.push().cast(w) };
            Replay { emb: before.emb.lift().cast(q.sym(), w), up: before.up.up(w), code }
        }
    })
}

/// The tuple of the adjoints of some labels, which each branch computes.
struct Packed<'s, A, E, E1, E2> {
    vars: VarTuple<E, X<'s>>,
    then: Exp<E1, A, X<'s>>,
    otherwise: Exp<E2, A, X<'s>>,
}

fn pack<'s, A, E, E1, E2>(
    labels: &[SomeIdx<E>],
    then: &mut Contributions<E, E1>,
    otherwise: &mut Contributions<E, E2>,
    s: Guard<'s>,
) -> Packed<'s, A, E, E1, E2> {
    deep(|| {
        fresh2(|k, v| match labels.split_last() {
            None => {
                let w = name(s);
                Packed { vars: VarTuple::nil().cast(w), then: unit().cast(w), otherwise: unit().cast(w) }
            }
            Some((last, rest)) => {
                let i = last.open(v);
                let t = tan_ty(i.ty());
                let before = pack(rest, then, otherwise, k);
                let w = name(s);
                Packed {
                    vars: before.vars.snoc(&i).cast(w),
                    then: Exp::pair(&before.then, &total(&then.take(&i), &t)).cast(w),
                    otherwise: Exp::pair(&before.otherwise, &total(&otherwise.take(&i), &t)).cast(w),
                }
            }
        })
    })
}

/// Adds every component of a tuple of adjoints to the contribution map.
fn give<'b, 'r, A, B, E, E2, T, S>(
    st: Dual<A, B, E, E2, T>,
    vars: &VarTuple<E, S>,
    all: &Exp<E2, A, S>,
    b: Guard<'b>,
    r: Guard<'r>,
) -> Result<Dual<A, B, E, X<'b>, X<'r>>> {
    deep(|| {
        fresh2(|n, k| match vars.view(n) {
            VarTupleView::Nil(_) => Ok(st.named(b, r)),
            VarTupleView::Snoc(rest, i, q) => {
                let all = all.cast(q);
                let s = st.contribute(&i, &all.snd(), k);
                give(s.st, &rest, &all.fst().weaken(&s.up), b, r)
            }
        })
    })
}

/// Appends the index-adjoint tuple of a branch.
fn append<'j, A, E2, T, U>(
    sites: &Sites<A, T>,
    idx: &Exp<E2, A, T>,
    more: &Sites<A, U>,
    x: &Exp<E2, A, U>,
    j: Guard<'j>,
) -> (Sites<A, X<'j>>, Exp<E2, A, X<'j>>) {
    deep(|| {
        fresh2(|n, k| match more.view(n) {
            SitesView::Nil(_) => {
                let v = name(j);
                (sites.cast(v), idx.cast(v))
            }
            SitesView::Snoc(rest, array, at, q) => {
                let (x, v) = (x.cast(q), name(j));
                let (sites, idx) = append(sites, idx, &rest, &x.fst(), k);
                (sites.snoc(&array, at).cast(v), Exp::pair(&idx, &x.snd()).cast(v))
            }
        })
    })
}
