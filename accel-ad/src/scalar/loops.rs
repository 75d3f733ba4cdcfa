//! The dual of a loop in scalar code: NOTE \[Loops and lists\] in `accel_core::ast::exp`.
//!
//! NOTE [Dual of a loop]: the primal of a loop also counts its steps, and lists its states before each step. Its dual is
//! a loop in the opposite direction with as many steps. It reads the states, the rows that the loop has read, and the
//! adjoints of the rows that it has listed. A step first executes the body again for its state (so only states are
//! listed, no temporaries), and then the dual of the body. The state of the dual loop is the adjoint of the loop's
//! state, and the sums of the contributions to the variables from outside. It lists the adjoints of the rows that the
//! loop has read. If the loop reads arrays, the dual loop emits the contributions to their adjoints (NOTE [Reads in
//! loops]); then its state also contains the last token.

use super::branches::{give, replay, spine};
use super::code::{Code, total};
use super::dual::{label, reverse};
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
/// [`Error::Internal`](accel_core::error::Error::Internal) if the code is not in normal form.
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
        let (st, y) = (split.st, Exp::var(&split.up.at(&y.cast(l.eq))));
        let (init, xs) = (label(&l.init)?, label(&l.xs)?);

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

        let start = total(of_state, &tangent);
        let reads = Reads { count, rows, row, start, of_rows: &of_rows, adjoint };
        let dual = match st.emissions.token.clone().filter(|_| st.emissions.concern(&l.body)) {
            None => dual_loop(l, st, &reads, s, d)?,
            Some(token) => emitting_loop(l, st, &reads, &token, s, d)?,
        };
        let s = dual.st.contribute(&init, &dual.init, e);
        let given = give(s.st, &dual.outside, &dual.sums.weaken(&s.up), f);
        if !has_tangent(&l.row) {
            return Ok(given.st.named(b, r));
        }
        let rows = dual.rows.weaken(&s.up).weaken(&given.up);
        Ok(fresh1(|g| given.st.contribute(&xs, &rows.cast(tan_list().sym()), g).st.named(b, r)))
    })
}

/// What a dual loop reads: in each step a row of type `(X, (Y, R))`, the state of the loop, the row that it has read, and
/// the parts of the adjoint of the row that it has listed.
struct Reads<'p, 'n, A, E2, R> {
    count: Exp<E2, A, i64>,
    rows: Exp<E2, A, List<(X<'n>, (Y<'n>, R))>>,
    row: ElementTy<(X<'n>, (Y<'n>, R))>,
    /// The adjoint of the last state.
    start: Exp<E2, A, Tan<X<'n>>>,
    of_rows: &'p [SparseTangent<E2, List<Tan<W<'n>>>>],
    adjoint: ElementTy<Tan<W<'n>>>,
}

/// A step of a dual loop with the state `S`, in the scope of this state and of a row.
type InStep<'n, S, R, E2> = HCons<(X<'n>, (Y<'n>, R)), HCons<S, E2>>;

impl<'n, A, E2, R> Reads<'_, 'n, A, E2, R> {
    /// The row that a step reads, and the adjoint of the row that the loop has listed.
    #[allow(clippy::type_complexity)]
    fn read<S>(&self) -> (Exp<InStep<'n, S, R, E2>, A, (X<'n>, (Y<'n>, R))>, Exp<InStep<'n, S, R, E2>, A, Tan<W<'n>>>) {
        let read = Exp::var(&Idx::zero(&self.row));
        let dy = row_sum(self.of_rows, &self.adjoint, &read.snd().snd());
        (read, dy)
    }
    /// The dual loop.
    fn run<S, P>(
        &self,
        l: &LoopView<'n, impl Sized, A, impl Sized>,
        start: &Exp<E2, A, S>,
        body: &Exp<InStep<'n, S, R, E2>, A, (S, P)>,
    ) -> Exp<E2, A, (S, List<P>)> {
        let trips = ExpTrips::Times(self.count.clone());
        Exp::loop_(&trips, l.dir.opposite(), start, (&self.rows, &self.row), body, l.at)
    }
}

/// The results of a dual loop: the adjoints of the initial state, of variables from outside, and of the rows.
struct DualLoop<'n, 's, 'd, A, B, E, T> {
    st: Dual<A, B, E, X<'d>, T>,
    outside: VarTuple<E, X<'s>>,
    init: Exp<X<'d>, A, Tan<X<'n>>>,
    sums: Exp<X<'d>, A, X<'s>>,
    rows: Exp<X<'d>, A, List<Tan<Y<'n>>>>,
}

/// A dual loop without emissions.
fn dual_loop<'n, 's, 'd, A, B, E, E2, T, V, R>(
    l: &LoopView<'n, E, A, V>,
    mut st: Dual<A, B, E, E2, T>,
    reads: &Reads<'_, 'n, A, E2, R>,
    s: Guard<'s>,
    d: Guard<'d>,
) -> Result<DualLoop<'n, 's, 'd, A, B, E, T>> {
    let (emb, size) = (st.emb.clone(), st.code.size);
    let step = step(l, &mut st, reads, (&emb, size), None, s)?;
    let StepCode::Plain(code) = step.code else {
        return Err(Error::Internal("dual pass: a token from nowhere".into()));
    };
    let sums = code.ty().parts().0.parts().1;
    let now = Exp::var(&Idx::succ(&Idx::zero(&Ty::pair(reads.start.ty(), &sums))));
    let (read, dy) = reads.read();
    let up = Thinning::shift().then(&Thinning::shift());
    let code = let4((&read.fst(), &read.snd().fst(), &now.fst(), &dy), &code, &up);
    let done = Exp::var(&Idx::zero(code.ty()));
    let sum = add(&now.snd().weaken(&Thinning::shift()), &done.fst().snd());
    let body = Exp::let_(&code, &Exp::pair(&Exp::pair(&done.fst().fst(), &sum), &done.snd()));
    let dual = st.bind(&reads.run(l, &Exp::pair(&reads.start, &zero(&sums)), &body), d);
    let v = Exp::var(&dual.val);
    Ok(DualLoop { st: dual.st, outside: step.outside, init: v.fst().fst(), sums: v.fst().snd(), rows: v.snd() })
}

/// A dual loop with emissions, after those that have led to `token`.
fn emitting_loop<'n, 's, 'd, A, B, E, E2, T, V, R>(
    l: &LoopView<'n, E, A, V>,
    mut st: Dual<A, B, E, E2, T>,
    reads: &Reads<'_, 'n, A, E2, R>,
    token: &Exp<E2, A, f32>,
    s: Guard<'s>,
    d: Guard<'d>,
) -> Result<DualLoop<'n, 's, 'd, A, B, E, T>> {
    let t = Ty::<f32>::of();
    let (emb, size) = (st.emb.then(&Thinning::shift()), st.code.size.push());
    let step = step(l, &mut st, reads, (&emb, size), Some(&Exp::var(&Idx::zero(&t))), s)?;
    let StepCode::Emitting(code) = step.code else { return Err(Error::Internal("dual pass: a token is lost".into())) };
    let sums = code.ty().parts().0.parts().0.parts().1;
    let now = Exp::var(&Idx::succ(&Idx::zero(&Ty::pair(&Ty::pair(reads.start.ty(), &sums), &t))));
    let (read, dy) = reads.read();
    let (shift, up) = (Thinning::shift(), Thinning::shift().then(&Thinning::shift()));
    let values = (read.fst().weaken(&shift), read.snd().fst().weaken(&shift), now.fst().fst().weaken(&shift));
    let code = let4((&values.0, &values.1, &values.2, &dy.weaken(&shift)), &code, &up.lift());
    let code = Exp::let_(&now.snd(), &code);
    let done = Exp::var(&Idx::zero(code.ty()));
    let sum = add(&now.fst().snd().weaken(&Thinning::shift()), &done.fst().fst().snd());
    let next = Exp::pair(&Exp::pair(&done.fst().fst().fst(), &sum), &done.snd());
    let body = Exp::let_(&code, &Exp::pair(&next, &done.fst().snd()));
    let start = Exp::pair(&Exp::pair(&reads.start, &zero(&sums)), token);
    fresh1(|k| {
        let dual = st.bind(&reads.run(l, &start, &body), k);
        let last = dual.st.with_token(&Exp::var(&dual.val).fst().snd(), d);
        let v = Exp::var(&last.up.at(&dual.val));
        let (init, sums) = (v.fst().fst().fst(), v.fst().fst().snd());
        Ok(DualLoop { st: last.st, outside: step.outside, init, sums, rows: v.snd() })
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
struct Step<'n, 's, A, E, G> {
    outside: VarTuple<E, X<'s>>,
    code: StepCode<'n, 's, A, G>,
}
/// The code of a step. If it emits, it also returns the last token.
enum StepCode<'n, 's, A, G> {
    Plain(Exp<Below<'n, G>, A, StepResult<'n, X<'s>>>),
    Emitting(Exp<Below<'n, G>, A, (StepResult<'n, X<'s>>, f32)>),
}
type StepResult<'n, S> = ((Tan<X<'n>>, S), Tan<Y<'n>>);

/// The dual of the body in an environment `G`, into which the labels are embedded. If there is a token, it emits.
fn step<'n, 's, A, B, E, E2, G, T, V, R>(
    l: &LoopView<'n, E, A, V>,
    st: &mut Dual<A, B, E, E2, T>,
    reads: &Reads<'_, 'n, A, E2, R>,
    (emb, size): (&Thinning<E, G>, Size<G>),
    token: Option<&Exp<G, A, f32>>,
    s: Guard<'s>,
) -> Result<Step<'n, 's, A, E, G>> {
    fresh4(|t, p, m, i| {
        let (state, w) = (l.init.ty(), l.body.ty().parts().1);
        let labels = st.adj.label_size();
        let tape = spine(&l.body.cast_env(l.below_rows()), &Tele::nil(), labels.push().push(), t);
        let (two, rows) =
            (Thinning::shift().then(&Thinning::shift()), !reads.of_rows.iter().all(SparseTangent::is_zero));
        let again = replay(&tape.tele, &emb.lift().lift().then(&two), size.push().push().push().push(), p);
        let (dx, dy) = (Idx::succ(&Idx::zero(&tan_ty(state))), Idx::zero(&tan_ty(&w)));
        let dy = if rows { SparseTangent::var(&dy) } else { SparseTangent::zero() };
        let adjoint = SparseTangent::pair(&SparseTangent::var(&dx), &dy).cast(tan_pair().sym());
        let mut adj = Contributions::new(tape.size, again.code.size);
        adj.add(&tape.res, &adjoint.weaken(&again.up));
        let mut activity = std::mem::take(&mut st.activity);
        activity.enter_loop(l, &tape.tele, labels);
        let below = Thinning::shift().then(&Thinning::shift());
        let token =
            token.map(|t| t.weaken(&below).weaken(&Thinning::shift()).weaken(&Thinning::shift()).weaken(&again.up));
        let emissions = st.emissions.inner(true, token);
        let inner = Dual {
            code: Code::start(again.code.size),
            adj,
            emb: again.emb,
            sites: Sites::nil(),
            idx: unit(),
            used: Used::default(),
            activity,
            emissions,
        };
        let mut dual = reverse(&tape.tele, inner, m, i)?;
        st.emissions.leave(std::mem::take(&mut dual.emissions.found));
        let mut adj = dual.adj;
        let of_state = total(&adj.take(&Idx::succ(&Idx::zero(state))), &tan_ty(state));
        let of_row = total(&adj.take(&Idx::zero(&l.row)), &tan_ty(&l.row));
        let mut adj = adj.shrink().shrink();
        let mut outside = adj.labels_of_both(&adj);
        outside.retain(|v| fresh1(|n| !dual.activity.is_passive(&v.open(n), labels)));
        let packed = pack(&outside, &mut adj, s);
        let result = Exp::pair(&Exp::pair(&of_state, &packed.1), &of_row);
        let mut used = dual.used;
        st.activity = dual.activity;
        let code = match dual.emissions.token {
            None => {
                used.scalars(&result, dual.code.size);
                StepCode::Plain(used.close(&again.code.tele, &dual.code.close(&result), again.code.size))
            }
            Some(token) => {
                let result = Exp::pair(&result, &token);
                used.scalars(&result, dual.code.size);
                StepCode::Emitting(used.close(&again.code.tele, &dual.code.close(&result), again.code.size))
            }
        };
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
