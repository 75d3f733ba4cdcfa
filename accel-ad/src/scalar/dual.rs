//! The dual pass for scalar code. It expects a telescope from the primal pass and walks through it backwards. It
//! establishes the adjoint of every variable before the telescope, and the index-adjoint tuple: the contributions to
//! the adjoints of the arrays that were read (see the glossary of the book: dual pass, index-adjoint tuple).

use super::branches::branches;
use super::code::{Code, materialise};
use super::lists::has_list;
use super::loops::{components, loop_dual};
use super::state::Dual;
use crate::builders::{has_tangent, truth};
use crate::rules;
use accel_core::ast::*;
use accel_core::error::{Error, Result};

/// In normal form, arguments are variables.
pub fn label<E, A, T>(a: &Exp<E, A, T>) -> Result<Idx<E, T>> {
    fresh1(|n| match a.view(n) {
        ExpView::Var(i) => Ok(i),
        _ => Err(Error::Internal("dual pass: an argument is not in normal form".into())),
    })
}

/// Walks through the telescope backwards. `m` names the final code environment, and `i` the type of the index-adjoint
/// tuple.
///
/// # Errors
/// [`Error::Internal`](accel_core::error::Error::Internal) if the code is not in normal form.
pub fn reverse<'m, 'i, A, B, E, E2, E3, T>(
    tape: &Tele<A, E, E2>,
    st: Dual<A, B, E2, E3, T>,
    m: Guard<'m>,
    i: Guard<'i>,
) -> Result<Dual<A, B, E, X<'m>, X<'i>>> {
    fresh6(|a, b, e, e2, e3, t| {
        let (a, b, e, e2, e3, t) = (name(a), name(b), name(e), name(e2), name(e3), name(t));
        let st = Dual {
            code: Code { tele: st.code.tele.cast_all(a, b, e3), size: st.code.size.cast(e3) },
            adj: st.adj.cast_labels(e2).cast_code(e3),
            emb: st.emb.cast(e2, e3),
            sites: st.sites.cast_aenv(a).cast(t),
            idx: st.idx.cast_all(e3, a, t),
            used: st.used,
            activity: st.activity,
            emissions: st.emissions.cast_aenv(a).cast_code(e3),
        };
        let r = deep(|| reverse_(&tape.cast_all(a, e, e2), st, m, i))?;
        let (a, b, e, same) = (a.sym(), b.sym(), e.sym(), Equal::refl());
        Ok(Dual {
            code: Code { tele: r.code.tele.cast_all(a, b, same), size: r.code.size },
            adj: r.adj.cast_labels(e),
            emb: r.emb.cast(e, same),
            sites: r.sites.cast_aenv(a),
            idx: r.idx.cast_aenv(a),
            used: r.used,
            activity: r.activity,
            emissions: r.emissions.cast_aenv(a),
        })
    })
}

type Names<'a, 'b, 'e, 'c, 't> = Dual<X<'a>, X<'b>, X<'e>, X<'c>, X<'t>>;

fn reverse_<'m, 'i, 'a, 'b, 'e, 'f, 'c, 't>(
    tape: &Tele<X<'a>, X<'e>, X<'f>>,
    st: Names<'a, 'b, 'f, 'c, 't>,
    m: Guard<'m>,
    i: Guard<'i>,
) -> Result<Names<'a, 'b, 'e, 'm, 'i>> {
    fresh2(|n, k| match tape.view(n) {
        TeleView::Nil(q) => {
            let st = st.named(m, i);
            let emb = st.emb.cast(q.sym(), Equal::refl());
            let Dual { code, adj, sites, idx, used, activity, emissions, .. } = st;
            Ok(Dual { code, adj: adj.cast_labels(q.sym()), emb, sites, idx, used, activity, emissions })
        }
        TeleView::Extended(init, rhs, q) => {
            let last = Idx::zero(rhs.ty());
            let mut adj = st.adj.cast_labels(q);
            let parts = adj.take(&last);
            let emb = st.emb.cast(q, Equal::refl());
            let y = emb.at(&last);
            let emb = Thinning::shift().then(&emb);
            let Dual { code, sites, idx, used, activity, emissions, .. } = st;
            let st = Dual { code, adj: adj.shrink(), emb, sites, idx, used, activity, emissions };
            if has_list(rhs.ty()) {
                return lists_dual(&init, &rhs, st, &parts, &y, m, i);
            }
            let d = st.sum(&parts, &tan_ty(rhs.ty()), k);
            if d.val.is_zero() || !has_tangent(rhs.ty()) {
                return reverse(&init, d.st, m, i);
            }
            step(&init, &rhs, d.st, &d.val, &d.up.at(&y), m, i)
        }
    })
}

/// As [`step`], for a value with lists. The contributions to its adjoint have not been added: NOTE [Sums of lists].
fn lists_dual<'m, 'i, A, B, E0, E, E2, T, V>(
    init: &Tele<A, E0, E>,
    rhs: &Exp<E, A, V>,
    mut st: Dual<A, B, E, E2, T>,
    parts: &[SparseTangent<E2, Tan<V>>],
    y: &Idx<E2, V>,
    m: Guard<'m>,
    i: Guard<'i>,
) -> Result<Dual<A, B, E0, X<'m>, X<'i>>> {
    let parts: Vec<_> = parts.iter().filter(|p| !p.is_zero()).cloned().collect();
    if parts.is_empty() {
        return reverse(init, st, m, i);
    }
    fresh4(|n, k, b, r| match rhs.view(n) {
        ExpView::Loop(l) => reverse(init, loop_dual(&l, st, &parts, y, b, r)?, m, i),
        ExpView::Var(a) => {
            parts.iter().for_each(|p| st.adj.add(&a, p));
            reverse(init, st, m, i)
        }
        ExpView::Op(ExpOp::Pair(a, c, q)) => {
            let (a, c, q) = (label(&a)?, label(&c)?, eq_tan(q).then(tan_pair()));
            let parts: Vec<_> = parts.iter().map(|p| p.cast(q)).collect();
            let mut split = components(st, &parts, k);
            split.val.0.iter().for_each(|p| split.st.adj.add(&a, p));
            split.val.1.iter().for_each(|p| split.st.adj.add(&c, p));
            reverse(init, split.st, m, i)
        }
        ExpView::Op(ExpOp::Fst(a, q)) => {
            let (a, q) = (label(&a)?, tan_pair().sym().then(eq_tan(q.sym())));
            parts.iter().for_each(|p| st.adj.add(&a, &SparseTangent::pair(p, &SparseTangent::zero()).cast(q)));
            reverse(init, st, m, i)
        }
        ExpView::Op(ExpOp::Snd(a, q)) => {
            let (a, q) = (label(&a)?, tan_pair().sym().then(eq_tan(q.sym())));
            parts.iter().for_each(|p| st.adj.add(&a, &SparseTangent::pair(&SparseTangent::zero(), p).cast(q)));
            reverse(init, st, m, i)
        }
        _ => Err(Error::Internal("dual pass: a list that no loop has made".into())),
    })
}

/// Adds the contributions of the definition `rhs`, whose value is `y` and whose adjoint `d` is not zero; then continues
/// with the rest.
fn step<'m, 'i, A, B, E0, E, E2, T, V>(
    init: &Tele<A, E0, E>,
    rhs: &Exp<E, A, V>,
    st: Dual<A, B, E, E2, T>,
    d: &SparseTangent<E2, Tan<V>>,
    y: &Idx<E2, V>,
    m: Guard<'m>,
    i: Guard<'i>,
) -> Result<Dual<A, B, E0, X<'m>, X<'i>>> {
    fresh2(|n, k| match rhs.custom(n) {
        None => operation(init, rhs, st, d, y, m, i),
        Some(c) => {
            let arg = label(&c.arg)?;
            let dy = materialise(d, &tan_ty(y.ty()));
            let at = Exp::pair(&Exp::var(&st.emb.at(&arg)), &Exp::pair(&Exp::var(y), &dy));
            let adjoint = Exp::let_(&at, &c.functions.pullback.weaken(&st.emb.lift()));
            let st = st.contribute(&arg, &adjoint, k).st;
            reverse(init, st, m, i)
        }
    })
}

/// As [`step`], for a definition without a rule of its own.
fn operation<'m, 'i, A, B, E0, E, E2, T, V>(
    init: &Tele<A, E0, E>,
    rhs: &Exp<E, A, V>,
    mut st: Dual<A, B, E, E2, T>,
    d: &SparseTangent<E2, Tan<V>>,
    y: &Idx<E2, V>,
    m: Guard<'m>,
    i: Guard<'i>,
) -> Result<Dual<A, B, E0, X<'m>, X<'i>>> {
    let whole = || materialise(d, &tan_ty(y.ty()));
    fresh6(|n, k, l, j, b, r| {
        let op = match rhs.view(n) {
            ExpView::Const(_) => return reverse(init, st, m, i),
            ExpView::Var(a) => {
                st.adj.add(&a, d);
                return reverse(init, st, m, i);
            }
            ExpView::Let(..) => return Err(Error::Internal("dual pass: a let in normal form".into())),
            ExpView::While(_) => {
                return Err(Error::Internal("dual pass: a loop in normal form lists its states".into()));
            }
            ExpView::Loop(_) => return Err(Error::Internal("dual pass: a list is no scalar".into())),
            ExpView::Op(op) => op,
        };
        match op {
            ExpOp::Pair(a, b, q) => {
                let p = d.cast(eq_tan(q).then(tan_pair()));
                let (a, b) = (label(&a)?, label(&b)?);
                match p.view(j) {
                    SparseTangentView::Pair(da, db, e) => {
                        st.adj.add(&a, &da.cast(e.fst().sym()));
                        st.adj.add(&b, &db.cast(e.snd().sym()));
                        reverse(init, st, m, i)
                    }
                    _ => {
                        let whole = whole().cast(eq_tan(q).then(tan_pair()));
                        let s = st.contribute(&a, &whole.fst(), k);
                        let s = s.st.contribute(&b, &whole.snd().weaken(&s.up), l);
                        reverse(init, s.st, m, i)
                    }
                }
            }
            ExpOp::Fst(a, q) => {
                st.adj.add(
                    &label(&a)?,
                    &SparseTangent::pair(d, &SparseTangent::zero()).cast(tan_pair().sym().then(eq_tan(q.sym()))),
                );
                reverse(init, st, m, i)
            }
            ExpOp::Snd(a, q) => {
                st.adj.add(
                    &label(&a)?,
                    &SparseTangent::pair(&SparseTangent::zero(), d).cast(tan_pair().sym().then(eq_tan(q.sym()))),
                );
                reverse(init, st, m, i)
            }
            ExpOp::Prim1(p, a) => {
                let a = label(&a)?;
                let x = Exp::var(&st.emb.at(&a));
                let (t, q, factor) = match p {
                    Prim1::Num(o, t, q) => match t.float() {
                        Some(t) => (t, q, rules::num1(o, t, &x)),
                        None => return reverse(init, st, m, i),
                    },
                    Prim1::Float(o, t, q) => (t, q, rules::float1(o, t, &x, &Exp::var(&y.cast(q.sym())))),
                    Prim1::Cast(from, to) => {
                        if let (Some(from), Some(to)) = (from.float(), to.float()) {
                            let back = Prim1::Cast(to.num().any(), from.num().any());
                            let e = Exp::prim1(back, &whole().cast(tan_float(to))).cast(tan_float(from).sym());
                            return reverse(init, st.contribute(&a, &e, k).st, m, i);
                        }
                        return reverse(init, st, m, i);
                    }
                    Prim1::Test(..) | Prim1::Int(..) | Prim1::Not(..) | Prim1::Bits(..) => {
                        return reverse(init, st, m, i);
                    }
                };
                let d = whole().cast(eq_tan(q.sym()).then(tan_float(t)));
                reverse(init, st.apply(&a, t, &factor, &d, k).st, m, i)
            }
            ExpOp::Prim2(p, a, b) => {
                let (a, b) = (label(&a)?, label(&b)?);
                let (va, vb) = (Exp::var(&st.emb.at(&a)), Exp::var(&st.emb.at(&b)));
                let (t, q, (fa, fb)) = match p {
                    Prim2::Num(o, t, q) => match t.float() {
                        Some(t) => (t, q, rules::num2(o, t, &va, &vb, &Exp::var(&y.cast(q.sym())))),
                        None => return reverse(init, st, m, i),
                    },
                    Prim2::Float(o, t, q) => (t, q, rules::float2(o, t, &va, &vb, &Exp::var(&y.cast(q.sym())))),
                    Prim2::Int(..) | Prim2::Cmp(..) | Prim2::Logic(..) => return reverse(init, st, m, i),
                };
                let d = whole().cast(eq_tan(q.sym()).then(tan_float(t)));
                let s = st.apply(&a, t, &fa, &d, k);
                let s = s.st.apply(&b, t, &fb.weaken(&s.up), &d.weaken(&s.up), l);
                reverse(init, s.st, m, i)
            }
            ExpOp::Cond(c, t, f) => {
                let st = branches(st, &label(&c)?, &t, &f, d, b, r)?;
                reverse(init, st, m, i)
            }
            ExpOp::Index(array, ix, at) => {
                if !has_tangent(y.ty()) || st.activity.is_passive_array(&array) {
                    return reverse(init, st, m, i);
                }
                let v = name(j);
                let ix = Exp::var(&st.emb.at(&label(&ix)?));
                if st.emissions.in_loop {
                    let st = match (&st.emissions.token, st.emissions.accumulator(&array)) {
                        (Some(token), Some(to)) => {
                            let token = token.emit(&to, &ix, &whole(), at);
                            st.with_token(&token, k).st
                        }
                        _ => {
                            st.emissions.find(&array);
                            st.unchanged(k).st
                        }
                    };
                    return reverse(init, st, m, i);
                }
                let idx = Exp::pair(&st.idx, &Exp::pair(&whole(), &Exp::pair(&truth(true), &ix))).cast(v);
                let sites = st.sites.snoc(&array, at).cast(v);
                reverse(init, st.with_sites(sites, idx), m, i)
            }
            ExpOp::Shape(..) => reverse(init, st, m, i),
            ExpOp::Emit { token, to, ix, value, at, .. } => {
                // The adjoint of a token is 1.
                st.adj.add(&label(&token)?, d);
                let (ix, value) = (Exp::var(&st.emb.at(&label(&ix)?)), label(&value)?);
                let Some(adjoint) = st.emissions.adjoint_of(&to) else { return reverse(init, st, m, i) };
                let s = st.contribute(&value, &Exp::index(&adjoint, &ix, at), k);
                reverse(init, s.st, m, i)
            }
        }
    })
}
