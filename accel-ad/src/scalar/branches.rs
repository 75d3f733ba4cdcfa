//! The dual of a scalar conditional.
//!
//! NOTE [Duals of conditionals]: the dual of `cond(c, t, f)` is a conditional again, so the branch that is not taken is
//! executed neither forwards nor backwards. Each branch recomputes what its dual needs of its primal (NOTE
//! [Recomputed definitions]) and then computes its dual. It returns the adjoints of the variables that either branch
//! uses, followed by an index-adjoint tuple for both branches (NOTE [Shared sites]). Entries that only the other branch
//! has are zeros, which means "not executed".

use super::code::{Code, total};
use super::dual::reverse;
use super::state::{Bound, Dual};
use crate::builders::{unit, zero};
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::Result;
use std::collections::HashMap;

/// Applies the dual of `cond(c, t, f)`, whose adjoint is `d`; returns the new state.
pub fn branches<'b, 'r, A, B, E, E2, T, U>(
    mut st: Dual<A, B, E, E2, T>,
    c: &Idx<E, bool>,
    t: &Exp<E, A, U>,
    f: &Exp<E, A, U>,
    d: &SparseTangent<E2, Tan<U>>,
    b: Guard<'b>,
    r: Guard<'r>,
) -> Result<Dual<A, B, E, X<'b>, X<'r>>> {
    fresh12(|p1, m1, i1, p2, m2, i2, s, j, k, l, g, _| {
        let mut then = branch(&mut st, t, d, p1, m1, i1)?;
        let mut otherwise = branch(&mut st, f, d, p2, m2, i2)?;
        let labels = then.dual.adj.labels_of_both(&otherwise.dual.adj);
        let packed = pack(&labels, &mut then.dual.adj, &mut otherwise.dual.adj, s);
        let shared = share(&then.dual, &otherwise.dual, j);
        let condition = Exp::var(&st.emb.at(c));
        st.used.scalars(&condition, st.code.size);
        let tokens = (then.dual.emissions.token.clone(), otherwise.dual.emissions.token.clone());
        let then_result = Exp::pair(&packed.then, &shared.then);
        let otherwise_result = Exp::pair(&packed.otherwise, &shared.otherwise);
        let (st, all) = match tokens {
            (Some(x), Some(y)) if st.emissions.concern(t) || st.emissions.concern(f) => {
                let then = then.close(&Exp::pair(&then_result, &x), &mut st.used);
                let otherwise = otherwise.close(&Exp::pair(&otherwise_result, &y), &mut st.used);
                let all = st.bind_noted(&Exp::cond(&condition, &then, &otherwise), k);
                let token = all.st.with_token(&Exp::var(&all.val).snd(), g);
                (token.st, Exp::var(&token.up.at(&all.val)).fst())
            }
            _ => {
                let then = then.close(&then_result, &mut st.used);
                let otherwise = otherwise.close(&otherwise_result, &mut st.used);
                let all = st.bind_noted(&Exp::cond(&condition, &then, &otherwise), g);
                (all.st, Exp::var(&all.val))
            }
        };
        let given = give(st, &packed.vars, &all.fst(), l);
        Ok(record(given.st, &shared.sites, &all.snd().weaken(&given.up), b, r))
    })
}

/// The dual of a branch, and the code before it that recomputes the primal.
struct Branch<'p, 'm, 'i, A, E, E2> {
    again: Tele<A, E2, X<'p>>,
    size: Size<X<'p>>,
    dual: Dual<A, X<'p>, E, X<'m>, X<'i>>,
}

impl<'m, A, E, E2> Branch<'_, 'm, '_, A, E, E2> {
    /// Wraps all definitions of the branch around a result. Adds the variables from outside that they use to `noted`.
    fn close<T>(self, result: &Exp<X<'m>, A, T>, noted: &mut Used) -> Exp<E2, A, T> {
        let mut used = self.dual.used;
        used.scalars(result, self.dual.code.size);
        let code = used.close(&self.again, &self.dual.code.close(result), self.size);
        noted.join(used);
        code
    }
}

/// One branch: recomputes the primal, then the dual, starting from the code environment `E2`.
fn branch<'p, 'm, 'i, A, B, E, E2, T, U>(
    st: &mut Dual<A, B, E, E2, T>,
    e: &Exp<E, A, U>,
    d: &SparseTangent<E2, Tan<U>>,
    p: Guard<'p>,
    m: Guard<'m>,
    i: Guard<'i>,
) -> Result<Branch<'p, 'm, 'i, A, E, E2>> {
    fresh1(|n| {
        let tape = spine(e, &Tele::nil(), st.adj.label_size(), n);
        let Replay { code: again, emb, up } = replay(&tape.tele, &st.emb, st.code.size, p);
        let mut adj = Contributions::new(tape.size, again.size);
        adj.add(&tape.res, &d.weaken(&up));
        let code = Code::start(again.size);
        // Labels after this conditional are not needed any more.
        let mut activity = std::mem::take(&mut st.activity);
        activity.enter(&tape.tele, st.adj.label_size());
        let token = st.emissions.token.as_ref().map(|t| t.weaken(&up));
        let emissions = st.emissions.inner(false, token);
        let (sites, idx, used) = (Sites::nil(), unit(), Used::default());
        let inner = Dual { code, adj, emb, sites, idx, used, activity, emissions };
        let mut dual = reverse(&tape.tele, inner, m, i)?;
        st.activity = std::mem::take(&mut dual.activity);
        st.emissions.leave(std::mem::take(&mut dual.emissions.found));
        Ok(Branch { again: again.tele, size: again.size, dual })
    })
}

/// The normal form of an expression: a telescope and the variable of the result.
pub struct Spine<'m, A, E, T> {
    pub tele: Tele<A, E, X<'m>>,
    pub size: Size<X<'m>>,
    pub res: Idx<X<'m>, T>,
}

pub fn spine<'m, A, E, E1, T>(
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
        ExpView::Let(b, body, q) if fresh1(|c| e.custom(c).is_none()) => {
            spine(&body, &tele.snoc(&b).cast(q.sym()), size.push().cast(q.sym()), m)
        }
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
pub struct Replay<'m, A, E2, F> {
    pub code: Code<A, E2, X<'m>>,
    pub emb: Thinning<F, X<'m>>,
    pub up: Thinning<E2, X<'m>>,
}

pub fn replay<'m, A, E, F, E2>(
    tape: &Tele<A, E, F>,
    emb: &Thinning<E, E2>,
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
    emb: &Thinning<X<'e>, X<'c>>,
    size: Size<X<'c>>,
    m: Guard<'m>,
) -> Replay<'m, X<'a>, X<'c>, X<'f>> {
    fresh2(|n, k| match tape.view(n) {
        TeleView::Nil(q) => {
            let w = name(m);
            Replay { code: Code::start(size).rename(w), emb: emb.cast(q, w), up: Thinning::id().to(w) }
        }
        TeleView::Extended(init, rhs, q) => {
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
pub fn give<'k, A, B, E, E2, T, S>(
    st: Dual<A, B, E, E2, T>,
    vars: &VarTuple<E, S>,
    all: &Exp<E2, A, S>,
    k: Guard<'k>,
) -> Bound<'k, A, B, E, E2, T, ()> {
    deep(|| {
        fresh4(|n, n2, l, m| match vars.view(n) {
            VarTupleView::Nil(_) => st.unchanged(k),
            VarTupleView::Extended(rest, i, q) => {
                let all = all.cast(q);
                if let VarTupleView::Nil(_) = rest.view(n2) {
                    return st.contribute(&i, &all.snd(), k);
                }
                let s = st.contribute(&i, &all.snd(), l);
                // Binds the remaining components to a variable. Otherwise each component would be extracted from the
                // whole tuple.
                let left = s.st.bind(&all.fst().weaken(&s.up), m);
                let g = give(left.st, &rest, &Exp::var(&left.val), k);
                Bound { up: s.up.then(&left.up).then(&g.up), st: g.st, val: () }
            }
        })
    })
}

/// The index-adjoint tuples of both branches, combined into one.
///
/// NOTE [Shared sites]: only one branch is executed. So a read of an array in one branch and a read of the same array
/// in the other branch share an entry. Otherwise, each conditional of a chain would return the entries of all
/// conditionals after it.
struct Shared<'s, A, E1, E2> {
    sites: Sites<A, X<'s>>,
    then: Exp<E1, A, X<'s>>,
    otherwise: Exp<E2, A, X<'s>>,
}

fn share<'s, A, B1, B2, E, E1, E2, T, U>(
    then: &Dual<A, B1, E, E1, T>,
    otherwise: &Dual<A, B2, E, E2, U>,
    s: Guard<'s>,
) -> Shared<'s, A, E1, E2> {
    let mut reads = HashMap::new();
    count(&otherwise.sites, &mut reads);
    merge((&then.sites, &then.idx), (&otherwise.sites, &otherwise.idx), &mut reads, s)
}

/// Counts the reads of each array, by De Bruijn index.
fn count<A, T>(sites: &Sites<A, T>, reads: &mut HashMap<usize, usize>) {
    deep(|| {
        fresh1(|n| {
            if let SitesView::Extended(rest, array, _, _) = sites.view(n) {
                *reads.entry(array.depth()).or_default() += 1;
                count(&rest, reads)
            }
        })
    })
}

/// The sites of reads, and their index-adjoint tuple.
type Entries<'a, A, E, T> = (&'a Sites<A, T>, &'a Exp<E, A, T>);

fn merge<'s, A, E1, E2, T, U>(
    (sites, idx): Entries<'_, A, E1, T>,
    (others, other_idx): Entries<'_, A, E2, U>,
    reads: &mut HashMap<usize, usize>,
    s: Guard<'s>,
) -> Shared<'s, A, E1, E2> {
    deep(|| {
        fresh3(|n, k, l| match sites.view(n) {
            SitesView::Nil(_) => {
                let v = name(s);
                let then = zero(other_idx.ty());
                Shared { sites: others.cast(v), then: then.cast(v), otherwise: other_idx.cast(v) }
            }
            SitesView::Extended(rest, array, at, q) => {
                let (idx, v) = (idx.cast(q), name(s));
                let entry = idx.snd();
                let found = match reads.get_mut(&array.depth()) {
                    Some(left) if *left > 0 => {
                        *left -= 1;
                        remove(others, other_idx, &array, l)
                    }
                    _ => None,
                };
                let (before, other) = match &found {
                    Some(f) => (merge((&rest, &idx.fst()), (&f.sites, &f.idx), reads, k), f.entry.clone()),
                    None => (merge((&rest, &idx.fst()), (others, other_idx), reads, k), zero(entry.ty())),
                };
                Shared {
                    sites: before.sites.snoc(&array, at).cast(v),
                    then: Exp::pair(&before.then, &entry).cast(v),
                    otherwise: Exp::pair(&before.otherwise, &other).cast(v),
                }
            }
        })
    })
}

/// The entry of the last read of an array, and the other entries.
struct Removed<'s, A, E, Sh, V> {
    sites: Sites<A, X<'s>>,
    idx: Exp<E, A, X<'s>>,
    entry: Exp<E, A, (Tan<V>, (bool, Sh))>,
}

fn remove<'s, A, E, T, Sh, V>(
    sites: &Sites<A, T>,
    idx: &Exp<E, A, T>,
    array: &Idx<A, Arr<Sh, V>>,
    s: Guard<'s>,
) -> Option<Removed<'s, A, E, Sh, V>> {
    deep(|| {
        fresh2(|n, k| {
            let SitesView::Extended(rest, other, at, q) = sites.view(n) else { return None };
            let idx = idx.cast(q);
            if let Some(same) = other.same(array) {
                let entry = idx.snd().cast(eq_pair(eq_tan(same.elt()), eq_pair(Equal::refl(), same.sh())));
                let v = name(s);
                return Some(Removed { sites: rest.cast(v), idx: idx.fst().cast(v), entry });
            }
            let before = remove(&rest, &idx.fst(), array, k)?;
            let v = name(s);
            Some(Removed {
                sites: before.sites.snoc(&other, at).cast(v),
                idx: Exp::pair(&before.idx, &idx.snd()).cast(v),
                entry: before.entry,
            })
        })
    })
}

/// Appends the index-adjoint tuple of a conditional.
fn record<'b, 'r, A, B, E, E2, T, U>(
    st: Dual<A, B, E, E2, T>,
    sites: &Sites<A, U>,
    idx: &Exp<E2, A, U>,
    b: Guard<'b>,
    r: Guard<'r>,
) -> Dual<A, B, E, X<'b>, X<'r>> {
    deep(|| {
        fresh5(|n, n2, k, l, j| match sites.view(n) {
            SitesView::Nil(_) => st.named(b, r),
            SitesView::Extended(rest, array, at, q) => {
                let idx = idx.cast(q);
                let entry = st.bind(&idx.snd(), k);
                let left = idx.fst().weaken(&entry.up);
                let st = entry.st;
                let tuple = Exp::pair(&st.idx, &Exp::var(&entry.val));
                let v = name(j);
                let (sites, tuple) = (st.sites.snoc(&array, at).cast(v), tuple.cast(v));
                let st = st.with_sites(sites, tuple);
                if let SitesView::Nil(_) = rest.view(n2) {
                    return st.named(b, r);
                }
                let left = st.bind(&left, l);
                record(left.st, &rest, &Exp::var(&left.val), b, r)
            }
        })
    })
}
