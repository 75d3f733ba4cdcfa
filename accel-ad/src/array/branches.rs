//! The dual of an array conditional: see NOTE [Duals of conditionals].

use super::code::{ACode, total};
use super::dual::reverse;
use super::label::tape;
use super::state::ADual;
use super::tuples::give;
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::Result;
use frunk::HNil;

/// Applies the dual of `acond(c, t, f)`, whose adjoint is `d`; returns the new state.
pub fn branches<'m, B, A, A2, R>(
    mut st: ADual<B, A, A2>,
    c: &Exp<HNil, A, bool>,
    t: &Acc<A, R>,
    f: &Acc<A, R>,
    d: &SparseTangent<A2, Tan<R>>,
    at: Src,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    fresh6(|p1, m1, p2, m2, s, k| {
        let mut then = branch(&mut st, t, d, p1, m1)?;
        let mut otherwise = branch(&mut st, f, d, p2, m2)?;
        let labels = then.dual.adj.labels_of_both(&otherwise.dual.adj);
        let packed = pack(&labels, &mut then.dual, &mut otherwise.dual, s);
        let then = then.close(&packed.then, &mut st.used);
        let otherwise = otherwise.close(&packed.otherwise, &mut st.used);
        let c = c.aweaken(&st.emb);
        st.used.arrays_of_code(&c, st.code.size);
        let all = st.bind_noted(&Acc::cond(&c, &then, &otherwise, at), k);
        Ok(give(all.st, &packed.vars, &Acc::var(&all.val), m).st)
    })
}

/// The dual of a branch, and the code before it that recomputes the primal.
struct Branch<'p, 'm, A, A2> {
    again: ATele<A2, X<'p>>,
    size: Size<X<'p>>,
    dual: ADual<X<'p>, A, X<'m>>,
}

impl<'m, A, A2> Branch<'_, 'm, A, A2> {
    /// Wraps all definitions of the branch around a result. Adds the variables from outside that they use to `noted`.
    fn close<R>(self, result: &Acc<X<'m>, R>, noted: &mut Used) -> Acc<A2, R> {
        let mut used = self.dual.used;
        used.arrays(result, self.dual.code.size);
        let code = used.aclose(&self.again, &self.dual.code.close(result), self.size);
        noted.join(used);
        code
    }
}

/// One branch: recomputes the primal, then the dual, starting from the code environment `A2`.
fn branch<'p, 'm, B, A, A2, R>(
    st: &mut ADual<B, A, A2>,
    e: &Acc<A, R>,
    d: &SparseTangent<A2, Tan<R>>,
    p: Guard<'p>,
    m: Guard<'m>,
) -> Result<Branch<'p, 'm, A, A2>> {
    fresh1(|n| {
        let branch = tape(e, st.adj.label_size(), n);
        let tape = &branch.code.tele;
        let Replay { code: again, emb, up } = replay(tape, &st.emb, st.code.size, p);
        let mut adj = Contributions::new(branch.code.size, again.size);
        adj.add(&branch.var, &d.weaken(&up));
        // Labels after this conditional are not needed any more.
        let mut activity = std::mem::take(&mut st.activity);
        activity.enter(tape, st.adj.label_size());
        let inner = ADual { code: ACode::start(again.size), adj, emb, used: Used::default(), activity };
        let mut dual = reverse(tape, inner, m)?;
        st.activity = std::mem::take(&mut dual.activity);
        Ok(Branch { again: again.tele, size: again.size, dual })
    })
}

/// Moves a telescope to another environment.
pub struct Replay<'m, A2, C> {
    pub code: ACode<A2, X<'m>>,
    pub emb: Thinning<C, X<'m>>,
    pub up: Thinning<A2, X<'m>>,
}

pub fn replay<'m, A, C, A2>(
    tape: &ATele<A, C>,
    emb: &Thinning<A, A2>,
    size: Size<A2>,
    m: Guard<'m>,
) -> Replay<'m, A2, C> {
    fresh3(|a, c, d| {
        let (a, c, d) = (name(a), name(c), name(d));
        let r = deep(|| replay_(&tape.cast_all(a, c), &emb.cast(a, d), size.cast(d), m));
        let same = Equal::refl();
        Replay {
            code: ACode { tele: r.code.tele.cast_all(d.sym(), same), size: r.code.size },
            emb: r.emb.cast(c.sym(), same),
            up: r.up.cast(d.sym(), same),
        }
    })
}

fn replay_<'m, 'a, 'c, 'd>(
    tape: &ATele<X<'a>, X<'c>>,
    emb: &Thinning<X<'a>, X<'d>>,
    size: Size<X<'d>>,
    m: Guard<'m>,
) -> Replay<'m, X<'d>, X<'c>> {
    fresh2(|n, k| match tape.view(n) {
        ATeleView::Nil(q) => {
            let w = name(m);
            Replay { code: ACode::start(size).rename(w), emb: emb.cast(q, w), up: Thinning::id().to(w) }
        }
        ATeleView::Extended(init, rhs, q) => {
            let before = replay(&init, emb, size, k);
            let w = name(m);
            let tele = before.code.tele.snoc(&rhs.weaken(&before.emb)).cast(w);
            let code = ACode { tele, size: before.code.size.push().cast(w) };
            Replay { emb: before.emb.lift().cast(q.sym(), w), up: before.up.up(w), code }
        }
    })
}

/// The tuple of the adjoints of some labels, which each branch computes.
struct Packed<'s, A, A1, A2> {
    vars: VarTuple<A, X<'s>>,
    then: Acc<A1, X<'s>>,
    otherwise: Acc<A2, X<'s>>,
}

fn pack<'s, B1, B2, A, A1, A2>(
    labels: &[SomeIdx<A>],
    then: &mut ADual<B1, A, A1>,
    otherwise: &mut ADual<B2, A, A2>,
    s: Guard<'s>,
) -> Packed<'s, A, A1, A2> {
    deep(|| {
        fresh2(|k, v| match labels.split_last() {
            None => {
                let w = name(s);
                Packed { vars: VarTuple::nil().cast(w), then: Acc::unit().cast(w), otherwise: Acc::unit().cast(w) }
            }
            Some((last, rest)) => {
                let i = last.open(v);
                let before = pack(rest, then, otherwise, k);
                let w = name(s);
                let (dt, df) = (then.adj.take(&i), otherwise.adj.take(&i));
                Packed {
                    vars: before.vars.snoc(&i).cast(w),
                    then: Acc::pair(&before.then, &total(&dt, &then.value(&i))).cast(w),
                    otherwise: Acc::pair(&before.otherwise, &total(&df, &otherwise.value(&i))).cast(w),
                }
            }
        })
    })
}
