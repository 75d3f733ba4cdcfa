//! The dual of an array loop.
//!
//! NOTE [Dual of a loop]: the loop `(s, y) = body (s, x)` in normal form lists the states before its steps (NOTE [Normal
//! form of loops]). Its dual takes the same steps in the opposite order. Its state is the adjoint of the state, together
//! with the sums of the adjoints of the arrays from outside that the body uses. Each step takes a state from the list, a
//! row, and the adjoint of an entry; it computes the body again, applies the dual of the body, and lists the adjoint of
//! the row. So the dual is a loop of the same kind, which can be differentiated in turn. The list has one state for each
//! step, and nothing else is stored. Compiled programs keep states within a budget instead: NOTE [Lists that become tapes]
//! in `accel_fusion::optimize`. In a nest of loops, the body of an inner loop is computed once more for every loop around it.

use super::branches::{Replay, replay};
use super::code::{ACode, add, materialise, total};
use super::dual::reverse;
use super::label::tape;
use super::state::ADual;
use super::tuples::{give, zero_sums};
use crate::activity::Activity;
use crate::builders::{fun1, has_tangent, unit};
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::{Error, Result};
use frunk::{HCons, HNil};

/// A loop in normal form that takes the rows of the label `xs`, from the initial state in the label `init`.
pub struct Loop<'l, A, S, P, Y> {
    pub parts: &'l ALoop<A, S, P, Y>,
    pub init: Idx<A, S>,
    pub xs: Idx<A, Batched<P>>,
    pub at: Src,
}

/// Adds the contributions of a loop. `y` is its value, and `d` its adjoint.
///
/// # Errors
/// [`Error::Internal`](accel_core::error::Error::Internal) if the code is not in normal form.
pub fn loop_<'m, B, A, A2, S, P, Y>(
    mut st: ADual<B, A, A2>,
    l: &Loop<'_, A, S, P, Y>,
    d: &SparseTangent<A2, Tan<(S, Batched<Y>)>>,
    y: &Idx<A2, (S, Batched<Y>)>,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    fresh8(|n, i, s, k, g, h, o, p| {
        let w = l.parts;
        let entry = entry(w, n)?;
        let value = Acc::var(y);
        let list = value.snd().cast(eq_batched(entry).then(batched_pair()));
        let (ds, entries) = Adjoint::Sparse(d.cast(tan_pair())).split();
        let entries = entries.cast(eq_tan(eq_batched(entry).then(batched_pair())).then(tan_pair()));
        let entries = Entries::new(entries.split().0, &list.fst(), i);
        let body = body_dual(&mut st, l, entry, &entries, s)?;

        let init = Acc::pair(&ds.code(&value.fst()), &zero_sums(&body.vars, &st));
        let states = shaped(&list.snd(), &st.value(&l.init));
        let rows = Acc::pair(&states, &st.value(&l.xs)).cast(batched_pair().sym());
        let rows = Acc::pair(&rows, &entries.all).cast(batched_pair().sym());
        let Steps { st, n, up } = steps(st, w, &value.fst(), k)?;
        let dual = ALoop {
            user: w.user,
            trips: Trips::Times(n, opposite(&w.trips)),
            body: body.step(init.ty(), &row_ty(rows.ty())).weaken(&up.lift()),
            init: init.weaken(&up),
            xs: rows.weaken(&up),
        };
        let all = note(st, &dual).bind_noted(&Acc::loop_(&dual, l.at), g);
        let result = Acc::var(&all.val);
        let first = all.st.contribute(&l.init, &result.fst().fst(), h);
        let result = result.weaken(&first.up);
        let rows = like(&result.snd().cast(tan_batched().sym()), &first.st.value(&l.xs));
        let second = first.st.contribute(&l.xs, &rows, o);
        let totals = second.st.bind(&result.fst().snd().weaken(&second.up), p);
        Ok(give(totals.st, &body.vars, &Acc::var(&totals.val), m).st)
    })
}

/// Notes the variables that a dual loop uses outside of its body. Those of the body have been noted already.
fn note<B, A, A2, S, P, Y>(mut st: ADual<B, A, A2>, dual: &ALoop<A2, S, P, Y>) -> ADual<B, A, A2> {
    st.used.arrays(&dual.init, st.code.size);
    st.used.arrays(&dual.xs, st.code.size);
    if let Trips::Times(n, _) = &dual.trips {
        st.used.arrays_of_code(n, st.code.size);
    }
    st
}

/// The direction of the dual.
fn opposite<A, S>(trips: &Trips<A, S>) -> Dir {
    match trips {
        Trips::While(_) | Trips::Times(_, Dir::Left) => Dir::Right,
        Trips::Times(_, Dir::Right) => Dir::Left,
    }
}

/// The type of the entries of a loop in normal form: something, and the state.
fn entry<'n, A, S, P, Y>(w: &ALoop<A, S, P, Y>, n: Guard<'n>) -> Result<Equal<Y, (X<'n>, S)>> {
    let wrong = || Error::Internal("dual pass: a loop does not list its states".into());
    let TyView::Pair(_, state, q) = w.entry().view(n) else { return Err(wrong()) };
    let same = state.same(w.init.ty()).ok_or_else(wrong)?;
    Ok(q.then(eq_pair(Equal::refl(), same)))
}

/// The state of the dual pass, and the number of steps of a loop in normal form.
struct Steps<'k, B, A, A2> {
    st: ADual<B, A, X<'k>>,
    n: Exp<HNil, X<'k>, i64>,
    up: Thinning<A2, X<'k>>,
}

/// The number of steps: a `while` loop has counted them in the last component of its state `s`.
fn steps<'k, B, A, A2, S, P, Y>(
    st: ADual<B, A, A2>,
    w: &ALoop<A, S, P, Y>,
    s: &Acc<A2, S>,
    k: Guard<'k>,
) -> Result<Steps<'k, B, A, A2>> {
    if let Trips::Times(n, _) = &w.trips {
        let n = n.aweaken(&st.emb);
        let (st, q) = st.rename(k);
        return Ok(Steps { st, n: n.cast_aenv(q), up: Thinning::id().to(q) });
    }
    fresh1(|n| {
        let wrong = || Error::Internal("dual pass: a loop does not count its steps".into());
        let TyView::Pair(_, steps, q) = s.ty().view(n) else { return Err(wrong()) };
        let number = steps.same(&Ty::<Arr<(), i64>>::of()).ok_or_else(wrong)?;
        let steps = st.bind(&s.cast(q).snd().cast(number), k);
        Ok(Steps { st: steps.st, n: Exp::index(&steps.val, &unit(), None), up: steps.up })
    })
}

/// An adjoint, or a component of one.
enum Adjoint<A, T> {
    Sparse(SparseTangent<A, T>),
    Code(Acc<A, T>),
}

impl<A, T> Adjoint<A, T> {
    fn cast<U>(&self, q: Equal<T, U>) -> Adjoint<A, U> {
        match self {
            Adjoint::Sparse(d) => Adjoint::Sparse(d.cast(q)),
            Adjoint::Code(d) => Adjoint::Code(d.cast(q)),
        }
    }
    fn is_zero(&self) -> bool {
        matches!(self, Adjoint::Sparse(d) if d.is_zero())
    }
}
impl<A, P, Q> Adjoint<A, (P, Q)> {
    /// The components.
    fn split(&self) -> (Adjoint<A, P>, Adjoint<A, Q>) {
        let whole = match self {
            Adjoint::Code(d) => d.clone(),
            Adjoint::Sparse(d) => match fresh1(|n| match d.view(n) {
                SparseTangentView::Zero => Err((SparseTangent::zero(), SparseTangent::zero())),
                SparseTangentView::Pair(a, b, q) => Err((a.cast(q.fst().sym()), b.cast(q.snd().sym()))),
                SparseTangentView::Var(i) => Ok(Acc::var(&i)),
            }) {
                Err((a, b)) => return (Adjoint::Sparse(a), Adjoint::Sparse(b)),
                Ok(whole) => whole,
            },
        };
        (Adjoint::Code(whole.fst()), Adjoint::Code(whole.snd()))
    }
}
impl<A, R> Adjoint<A, Tan<R>> {
    /// The adjoint of `value`, with explicit zeros.
    fn code(&self, value: &Acc<A, R>) -> Acc<A, Tan<R>> {
        match self {
            Adjoint::Sparse(d) => materialise(d, value),
            Adjoint::Code(d) => d.clone(),
        }
    }
}

/// The adjoints of the entries of a list, which are of type `T`; nothing if they are zero.
struct Entries<'i, A, T> {
    all: Acc<A, Batched<X<'i>>>,
    known: Option<Equal<X<'i>, T>>,
}

impl<'i, A, T> Entries<'i, A, Tan<T>> {
    fn new(d: Adjoint<A, Tan<Batched<T>>>, value: &Acc<A, Batched<T>>, i: Guard<'i>) -> Self {
        if d.is_zero() || !has_tangent(value.ty()) {
            let q: Equal<(), _> = name(i);
            return Entries { all: Acc::unit().cast(batched_unit().sym().then(eq_batched(q))), known: None };
        }
        let q = name(i);
        Entries { all: d.code(value).cast(tan_batched().then(eq_batched(q))), known: Some(q.sym()) }
    }
}

/// The argument of the dual of a body: the adjoint of the next state, the argument of the body, and the adjoint of the
/// entry.
type Argument<S, P, D> = (Tan<S>, ((S, P), D));

/// The dual of a body. It computes the adjoints of the state, of the row, and of some labels outside.
struct BodyDual<'s, A, A2, S, P, D> {
    code: Acc<HCons<Argument<S, P, D>, A2>, (Tan<S>, (Tan<P>, X<'s>))>,
    vars: VarTuple<A, X<'s>>,
}

/// The state of the dual loop: the adjoint of the state, and sums of adjoints of labels.
type State<S, G> = (Tan<S>, G);

impl<'s, A, A2, S, P, D> BodyDual<'s, A, A2, S, P, D> {
    /// The body of the dual loop, which adds the adjoints of labels to the sums.
    #[allow(clippy::type_complexity)]
    fn step(
        &self,
        state: &Ty<State<S, X<'s>>>,
        row: &Ty<((S, P), D)>,
    ) -> Acc<HCons<(State<S, X<'s>>, ((S, P), D)), A2>, (State<S, X<'s>>, Tan<P>)> {
        let v = Acc::var(&Idx::zero(&Ty::pair(state, row)));
        let argument = Acc::pair(&v.fst().fst(), &v.snd());
        let all = Acc::let_(&argument, &self.code.weaken(&Thinning::shift().lift()));
        let d = Acc::var(&Idx::zero(all.ty()));
        let before = v.fst().snd().weaken(&Thinning::shift());
        let next = Acc::pair(&d.fst(), &add(&before, &d.snd().snd()));
        Acc::let_(&all, &Acc::pair(&next, &d.snd().fst()))
    }
}

fn body_dual<'s, 'i, B, A, A2, S, P, Y, E>(
    st: &mut ADual<B, A, A2>,
    l: &Loop<'_, A, S, P, Y>,
    entry: Equal<Y, (E, S)>,
    entries: &Entries<'i, A2, Tan<E>>,
    s: Guard<'s>,
) -> Result<BodyDual<'s, A, A2, S, P, X<'i>>> {
    fresh6(|k1, k2, k3, n, p, m| {
        let (w, labels) = (l.parts, st.adj.label_size());
        let state = st.activity.of_result(labels).fst();
        let argument = Activity::pair(state, st.activity_of(&l.xs));

        let t = Ty::pair(&w.argument(), &row_ty(entries.all.ty()));
        let v = Acc::var(&Idx::zero(&Ty::pair(&tan_ty(w.init.ty()), &t)));
        let size = st.code.size.push();
        let q = name(k1);
        let code = ACode { tele: ATele::nil().snoc(&v.snd().fst()).cast(q), size: size.push().cast(q) };
        let emb = st.emb.then(&Thinning::shift()).lift().to(q);
        let v = v.weaken(&Thinning::id().up(q));
        let ds = code.emit(&v.fst(), k2);
        let dy = ds.code.emit(&v.snd().snd().weaken(&ds.up), k3);
        let emb = emb.then(&ds.up).then(&dy.up);

        let body = tape(&w.body, labels.push(), n);
        let tape = &body.code.tele;
        let Replay { code: again, emb, up } = replay(tape, &emb, dy.code.size, p);
        let mut adj = Contributions::new(body.code.size, again.size);
        let of_entry = match entries.known {
            Some(q) => SparseTangent::var(&up.at(&dy.var)).cast(q),
            None => SparseTangent::zero(),
        };
        let of_entry = SparseTangent::pair(&of_entry, &SparseTangent::zero());
        let of_entry = of_entry.cast(tan_pair().sym().then(eq_tan(entry.sym())));
        let of_state = SparseTangent::var(&up.at(&dy.up.at(&ds.var)));
        adj.add(&body.var, &SparseTangent::pair(&of_state, &of_entry).cast(tan_pair().sym()));
        let mut activity = std::mem::take(&mut st.activity);
        activity.enter_loop(argument, tape, labels);
        let inner = ADual { code: ACode::start(again.size), adj, emb, used: Used::default(), activity };
        let mut dual = reverse(tape, inner, m)?;
        st.activity = std::mem::take(&mut dual.activity);

        let v = w.variable();
        let d = total(&dual.adj.take(&v), &dual.value(&v)).cast(tan_pair());
        let ADual { code, adj, emb, mut used, activity } = dual;
        let mut dual =
            ADual { code, adj: adj.shrink(), emb: Thinning::shift().then(&emb), used: Used::default(), activity };
        let (vars, adjoints) = pack(&active(&dual, st), &mut dual, s);
        let result = Acc::pair(&d.fst(), &Acc::pair(&d.snd(), &adjoints));
        used.arrays(&result, dual.code.size);
        let code = used.aclose(&again.tele, &dual.code.close(&result), again.size);
        let code = used.aclose(&dy.code.tele, &code, dy.code.size);
        used.leave(st.code.size);
        st.used.join(used);
        Ok(BodyDual { code, vars })
    })
}

/// The labels outside that have contributions in the dual of a body and depend on what is differentiated.
fn active<B, B2, A, A2, A3>(dual: &ADual<B, A, A3>, st: &ADual<B2, A, A2>) -> Vec<SomeIdx<A>> {
    let mut labels = dual.adj.labels_of_both(&dual.adj);
    labels.retain(|i| {
        fresh1(|n| {
            let i = i.open(n);
            has_tangent(i.ty()) && !st.activity_of(&i).is_passive()
        })
    });
    labels
}

/// The tuple of the adjoints of some labels.
fn pack<'s, B, A, A2>(
    labels: &[SomeIdx<A>],
    dual: &mut ADual<B, A, A2>,
    s: Guard<'s>,
) -> (VarTuple<A, X<'s>>, Acc<A2, X<'s>>) {
    deep(|| {
        fresh2(|k, v| match labels.split_last() {
            None => {
                let w = name(s);
                (VarTuple::nil().cast(w), Acc::unit().cast(w))
            }
            Some((last, rest)) => {
                let i = last.open(v);
                let (vars, adjoints) = pack(rest, dual, k);
                let w = name(s);
                let d = total(&dual.adj.take(&i), &dual.value(&i));
                (vars.snoc(&i).cast(w), Acc::pair(&adjoints, &d).cast(w))
            }
        })
    })
}

/// A list of states, each with the shape of the initial state. This changes a list only after zero steps, but it tells
/// the optimiser the extents.
fn shaped<A, S>(list: &Acc<A, Batched<S>>, init: &Acc<A, S>) -> Acc<A, Batched<S>> {
    deep(|| {
        fresh2(|n, k| match init.ty().view(n) {
            TyView::Pair(_, _, q) => {
                let parts = eq_batched(q).then(batched_pair());
                let (list, init) = (list.cast(parts), init.cast(q));
                Acc::pair(&shaped(&list.fst(), &init.fst()), &shaped(&list.snd(), &init.snd())).cast(parts.sym())
            }
            TyView::Arr(sh, _, q) if sh.raw().width() > 0 => {
                let TyView::Arr(all, _, p) = list.ty().view(k) else { return list.clone() };
                let (list, init) = (list.cast(p), init.cast(q));
                let (xs, x) = (Idx::succ(&Idx::zero(list.ty())), Idx::zero(init.ty()));
                let extents = of_rows(&Exp::shape(&xs), &Exp::shape(&x));
                let own = Acc::backpermute(&all, &extents, &fun1(&all, |ix| ix), &Acc::var(&xs), None);
                Acc::let_(&list, &Acc::let_(&init.weaken(&Thinning::shift()), &own)).cast(p.sym())
            }
            TyView::Arr(..) | TyView::Unit(_) | TyView::Scalar(_) | TyView::List(..) => list.clone(),
        })
    })
}

/// The shape of a list, from its number of rows, the outermost extent of `all`, and the shape of a row.
fn of_rows<A, Sh, Row>(all: &Exp<HNil, A, Sh>, row: &Exp<HNil, A, Row>) -> Exp<HNil, A, Sh> {
    fresh2(|n, k| match (all.ty().view(n), row.ty().view(k)) {
        (TyView::Pair(_, s, q), TyView::Pair(_, t, p)) => {
            let (all, row) = (all.cast(q), row.cast(p));
            let same = t.same(&s).expect("the dimensions of shapes are i64");
            Exp::pair(&of_rows(&all.fst(), &row.fst()), &row.snd().cast(same)).cast(q.sym())
        }
        _ => all.clone(),
    })
}

/// A list of adjoints with the shape of `value`. After zero steps, the extents of its rows are 0.
fn like<A, R>(d: &Acc<A, Tan<R>>, value: &Acc<A, R>) -> Acc<A, Tan<R>> {
    deep(|| {
        fresh1(|n| match value.ty().view(n) {
            TyView::Pair(_, _, q) => {
                let (value, d) = (value.cast(q), d.cast(eq_tan(q).then(tan_pair())));
                let both = Acc::pair(&like(&d.fst(), &value.fst()), &like(&d.snd(), &value.snd()));
                both.cast(tan_pair().sym().then(eq_tan(q.sym())))
            }
            TyView::Arr(sh, _, q) if sh.raw().width() > 1 => {
                let d = d.cast(eq_tan(q).then(tan_arr()));
                let own = Acc::backpermute(
                    &sh,
                    &Exp::shape(&Idx::succ(&Idx::zero(value.cast(q).ty()))),
                    &fun1(&sh, |ix| ix),
                    &Acc::var(&Idx::zero(d.ty())),
                    None,
                );
                let own = Acc::let_(&value.cast(q), &Acc::let_(&d.weaken(&Thinning::shift()), &own));
                own.cast(tan_arr().sym().then(eq_tan(q.sym())))
            }
            TyView::Arr(..) | TyView::Unit(_) | TyView::Scalar(_) | TyView::List(..) => d.clone(),
        })
    })
}
