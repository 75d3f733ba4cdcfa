//! The dual of a loop in scalar code: NOTE \[Loops and lists\] in `accel_core::ast::exp`.
//!
//! NOTE [Dual of a loop]: the primal of a loop also counts its steps, and lists its states before each step. Its dual is
//! a loop in the opposite direction with as many steps. It reads the states, the rows that the loop has read, and the
//! adjoints of the rows that it has listed. A step first executes the body again for its state (so only states are
//! listed, no temporaries), and then the dual of the body. The state of the dual loop is the adjoint of the loop's
//! state, and the sums of the contributions to the variables from outside. It lists the adjoints of the rows that the
//! loop has read.

use super::branches::{give, replay, spine};
use super::code::{Code, total};
use super::dual::{label, no_rule, reverse};
use super::lists::{lists, row_sum};
use super::state::{Bound, Dual};
use crate::builders::{add, has_tangent, let4, unit, zero};
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::{Error, Result};
use frunk::HCons;

/// Adds the contributions of a loop that the primal pass has made: its value is `y`, and `parts` are the contributions
/// to its adjoint.
///
/// # Errors
/// An operation in the body that has no reverse derivative.
pub fn loop_dual<'b, 'r, A, B, E, E2, T, V>(
    l: &LoopView<'_, E, A, V>,
    st: Dual<A, B, E, E2, T>,
    parts: &[SparseTangent<E2, Tan<V>>],
    y: &Idx<E2, V>,
    b: Guard<'b>,
    r: Guard<'r>,
) -> Result<Dual<A, B, E, X<'b>, X<'r>>> {
    fresh8(|k, s, n, a, c, d, e, f| {
        let tangent = eq_tan(l.eq).then(tan_pair());
        let parts: Vec<_> = parts.iter().map(|p| p.cast(tangent)).collect();
        let split = components(st, &parts, k);
        let (of_state, of_rows) = &split.val;
        let of_rows: Vec<_> = of_rows.iter().map(|p| p.cast(tan_list())).collect();
        let (mut st, y) = (split.st, Exp::var(&split.up.at(&y.cast(l.eq))));
        let (init, xs) = (label(&l.init)?, label(&l.xs)?);
        let step = step(l, &mut st, !of_rows.iter().all(SparseTangent::is_zero), s)?;

        // What the dual loop reads: a state, a row, and the adjoint of a row.
        let (state, tangent) = (element(l.init.ty())?, tan_ty(l.init.ty()));
        let adjoint = tan_element(&element(&l.body.ty().parts().1)?);
        let adjoints = lists(&of_rows, &adjoint, a);
        let (Some(count), Some(states)) = (count(&y.fst(), n), states(l, &y.snd(), c)) else {
            return Err(Error::Internal("dual pass: a loop is not in normal form".into()));
        };
        let rows = Exp::pair(&Exp::var(&st.emb.at(&xs)), &adjoints.xs).cast(list_pair().sym());
        let rows = Exp::pair(&states, &rows).cast(list_pair().sym());
        let row = state.pair(&l.row.pair(&adjoints.row));

        let sums = step.code.ty().parts().0.parts().1;
        let (now, read) = (Idx::succ(&Idx::zero(&Ty::pair(&tangent, &sums))), Idx::zero(&row));
        let (now, read) = (Exp::var(&now), Exp::var(&read));
        let dy = row_sum(&of_rows, &adjoint, &read.snd().snd());
        let up = Thinning::shift().then(&Thinning::shift());
        let code = let4((&read.fst(), &read.snd().fst(), &now.fst(), &dy), &step.code, &up);
        let done = Exp::var(&Idx::zero(code.ty()));
        let sum = add(&now.snd().weaken(&Thinning::shift()), &done.fst().snd());
        let body = Exp::let_(&code, &Exp::pair(&Exp::pair(&done.fst().fst(), &sum), &done.snd()));

        let start = Exp::pair(&total(of_state, &tangent), &zero(&sums));
        let dual = Exp::loop_(&ExpTrips::Times(count), l.dir.opposite(), &start, (&rows, &row), &body, l.at);
        let dual = st.bind(&dual, d);
        let v = Exp::var(&dual.val);
        let s = dual.st.contribute(&init, &v.fst().fst(), e);
        let v = v.weaken(&s.up);
        let given = give(s.st, &step.outside, &v.fst().snd(), f);
        if !has_tangent(&l.row) {
            return Ok(given.st.named(b, r));
        }
        let v = v.weaken(&given.up);
        Ok(fresh1(|g| given.st.contribute(&xs, &v.snd().cast(tan_list().sym()), g).st.named(b, r)))
    })
}

/// A proof that a type is an element type.
fn element<T>(t: &Ty<T>) -> Result<ElementTy<T>> {
    ElementTy::of(t).ok_or_else(|| Error::Internal("dual pass: a list in the state or in a row of a loop".into()))
}

/// The number of steps, from the last state.
fn count<'n, E, A, C>(state: &Exp<E, A, C>, n: Guard<'n>) -> Option<Exp<E, A, i64>> {
    let TyView::Pair(count, _, q) = state.ty().view(n) else { return None };
    let is_index = count.same(&Ty::<i64>::of())?;
    Some(state.cast(q).fst().cast(is_index))
}

/// The states, which are the second components of the rows that the loop lists.
fn states<'n, 'k, E, E2, A, V>(
    l: &LoopView<'n, E, A, V>,
    listed: &Exp<E2, A, List<W<'n>>>,
    k: Guard<'k>,
) -> Option<Exp<E2, A, List<X<'n>>>> {
    let TyView::Pair(_, state, q) = l.body.ty().parts().1.view(k) else { return None };
    let is_state = state.same(l.init.ty())?;
    Some(listed.cast(eq_list(q).then(list_pair())).snd().cast(eq_list(is_state)))
}

/// The environment of the dual's step: a state of the loop, the row that it has read there, the adjoint of the next
/// state, and the adjoint of the row that it has listed.
type Below<'n, E> = HCons<Tan<W<'n>>, HCons<Tan<X<'n>>, HCons<Y<'n>, HCons<X<'n>, E>>>>;

/// A step of the dual: the adjoint of the state and the contributions to variables from outside, and the adjoint of the
/// row that the loop has read.
struct Step<'n, 's, A, E, E2> {
    outside: VarTuple<E, X<'s>>,
    code: Exp<Below<'n, E2>, A, ((Tan<X<'n>>, X<'s>), Tan<Y<'n>>)>,
}

/// The dual of the body. `rows` says whether the rows that it lists have an adjoint.
fn step<'n, 's, A, B, E, E2, T, V>(
    l: &LoopView<'n, E, A, V>,
    st: &mut Dual<A, B, E, E2, T>,
    rows: bool,
    s: Guard<'s>,
) -> Result<Step<'n, 's, A, E, E2>> {
    fresh4(|t, p, m, i| {
        let (state, w) = (l.init.ty(), l.body.ty().parts().1);
        let labels = st.adj.label_size();
        let tape = spine(&l.body.cast_env(l.below_rows()), &Tele::nil(), labels.push().push(), t);
        let emb = st.emb.lift().lift().then(&Thinning::shift()).then(&Thinning::shift());
        let again = replay(&tape.tele, &emb, st.code.size.push().push().push().push(), p);
        let (dx, dy) = (Idx::succ(&Idx::zero(&tan_ty(state))), Idx::zero(&tan_ty(&w)));
        let dy = if rows { SparseTangent::var(&dy) } else { SparseTangent::zero() };
        let adjoint = SparseTangent::pair(&SparseTangent::var(&dx), &dy).cast(tan_pair().sym());
        let mut adj = Contributions::new(tape.size, again.code.size);
        adj.add(&tape.res, &adjoint.weaken(&again.up));
        let mut activity = std::mem::take(&mut st.activity);
        activity.enter_loop(l, &tape.tele, labels);
        let inner = Dual {
            code: Code::start(again.code.size),
            adj,
            emb: again.emb,
            sites: Sites::nil(),
            idx: unit(),
            used: Used::default(),
            activity,
        };
        let dual = reverse(&tape.tele, inner, m, i)?;
        if !dual.sites.is_empty() {
            return Err(no_rule("while", l.at, "arrays that a loop reads are not differentiated in reverse mode yet"));
        }
        let mut adj = dual.adj;
        let of_state = total(&adj.take(&Idx::succ(&Idx::zero(state))), &tan_ty(state));
        let of_row = total(&adj.take(&Idx::zero(&l.row)), &tan_ty(&l.row));
        let mut adj = adj.shrink().shrink();
        let mut outside = adj.labels_of_both(&adj);
        outside.retain(|v| fresh1(|n| !dual.activity.is_passive(&v.open(n), labels)));
        let packed = pack(&outside, &mut adj, s);
        let result = Exp::pair(&Exp::pair(&of_state, &packed.1), &of_row);
        let mut used = dual.used;
        used.scalars(&result, dual.code.size);
        let code = used.close(&again.code.tele, &dual.code.close(&result), again.code.size);
        st.activity = dual.activity;
        Ok(Step { outside: packed.0, code })
    })
}

/// The tuple of the adjoints of some variables.
fn pack<'s, A, E, F>(
    labels: &[SomeIdx<E>],
    adj: &mut Contributions<E, F>,
    s: Guard<'s>,
) -> (VarTuple<E, X<'s>>, Exp<F, A, X<'s>>) {
    deep(|| {
        fresh2(|k, v| match labels.split_last() {
            None => {
                let w = name(s);
                (VarTuple::nil().cast(w), unit().cast(w))
            }
            Some((last, rest)) => {
                let i = last.open(v);
                let before = pack(rest, adj, k);
                let w = name(s);
                let all = Exp::pair(&before.1, &total(&adj.take(&i), &tan_ty(i.ty())));
                (before.0.snoc(&i).cast(w), all.cast(w))
            }
        })
    })
}

/// The components of sparse tangents of pairs. Those of variables are bound.
type Components<E, P, Q> = (Vec<SparseTangent<E, P>>, Vec<SparseTangent<E, Q>>);

/// The components of all parts of a sum of pairs, which are not added here: NOTE [Sums of lists].
pub fn components<'k, A, B, E, E2, T, P, Q>(
    st: Dual<A, B, E, E2, T>,
    parts: &[SparseTangent<E2, (P, Q)>],
    k: Guard<'k>,
) -> Bound<'k, A, B, E, E2, T, Components<X<'k>, P, Q>> {
    fresh3(|n, m, i| {
        let Some((first, rest)) = parts.split_first() else {
            let b = st.unchanged(k);
            return Bound { st: b.st, val: (vec![], vec![]), up: b.up };
        };
        let (st, up, a, b) = match first.view(n) {
            SparseTangentView::Zero => {
                let s = st.unchanged(m);
                (s.st, s.up, SparseTangent::zero(), SparseTangent::zero())
            }
            SparseTangentView::Pair(a, b, q) => {
                let (s, q) = (st.unchanged(m), q.sym());
                let (a, b) = (a.cast(q.fst()).weaken(&s.up), b.cast(q.snd()).weaken(&s.up));
                (s.st, s.up, a, b)
            }
            SparseTangentView::Var(v) => {
                let a = st.bind(&Exp::var(&v).fst(), i);
                let b = a.st.bind(&Exp::var(&a.up.at(&v)).snd(), m);
                let up = a.up.then(&b.up);
                (b.st, up, SparseTangent::var(&b.up.at(&a.val)), SparseTangent::var(&b.val))
            }
        };
        let rest: Vec<_> = rest.iter().map(|p| p.weaken(&up)).collect();
        let more = components(st, &rest, k);
        let (mut firsts, mut seconds) = more.val;
        firsts.insert(0, a.weaken(&more.up));
        seconds.insert(0, b.weaken(&more.up));
        Bound { st: more.st, val: (firsts, seconds), up: up.then(&more.up) }
    })
}
