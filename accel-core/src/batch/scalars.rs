//! Scalar code inside of a loop that is batched.

use super::index::{from_components, join, outer, split};
use super::scope::{Form, Scope};
use crate::ast::*;
use frunk::{HCons, HNil};

/// Whether scalar code reads an element of an array that depends on the lane, or adds to one.
pub fn needs_lane<E, A, T>(e: &Exp<E, A, T>, s: Scope) -> bool {
    fresh2(|n, m| needs_lane_(&e.cast_all(name(n), Equal::refl(), name(m)), s))
}

// Generic in lifetimes only, so that it is compiled once.
fn needs_lane_<'e, 't, A>(e: &Exp<X<'e>, A, X<'t>>, s: Scope) -> bool {
    struct Reads<'s, 'b> {
        s: Scope<'s, 'b>,
        found: bool,
    }
    impl<E, A> ExpVisit<E, A> for Reads<'_, '_> {
        fn exp<T>(&mut self, e: &Exp<E, A, T>) {
            self.found = self.found || needs_lane(e, self.s);
        }
        fn avar<T>(&mut self, i: &Idx<A, T>) {
            self.found = self.found || !self.s.entry(i).is_ok_and(|entry| entry.form == Form::Shared);
        }
    }
    deep(|| {
        fresh2(|n, c| match e.view(n) {
            _ if let Some(c) = e.custom(c) => {
                let CustomExp { function, pushforward, pullback } = &c.functions;
                needs_lane(&c.arg, s)
                    || needs_lane(function, s)
                    || needs_lane(pushforward, s)
                    || needs_lane(pullback, s)
            }
            ExpView::Const(_) | ExpView::Var(_) => false,
            ExpView::Let(b, body, _) => needs_lane(&b, s) || needs_lane(&body, s),
            ExpView::While(w) => needs_lane(&w.init, s) || needs_lane(&w.cond, s) || needs_lane(&w.body, s),
            ExpView::Loop(l) => {
                let trips = match &l.trips {
                    ExpTrips::While(cond) => needs_lane(cond, s),
                    ExpTrips::Times(n) => needs_lane(n, s),
                };
                trips || needs_lane(&l.init, s) || needs_lane(&l.xs, s) || needs_lane(&l.body, s)
            }
            // The shapes of all lanes are the same.
            ExpView::Op(ExpOp::Shape(..)) => false,
            ExpView::Op(op) => {
                let mut reads = Reads { s, found: matches!(op, ExpOp::Emit { .. }) };
                op.visit(&mut reads);
                reads.found
            }
        })
    })
}

/// The new scalar code. `lane` is the lane for which it is computed; `None` for code that does not [need](needs_lane) it. Inside of
/// arrays that became scalars, it is a pair of this and the value of the [last variable](Form::Scalar) that did.
pub fn code<'b, E, A, T, L>(e: &Exp<E, A, T>, lane: Option<&Exp<E, X<'b>, L>>, s: Scope<'_, 'b>) -> Exp<E, X<'b>, T> {
    fresh3(|n, m, k| {
        let (env, t, l) = (name(n), name(m), name(k));
        let lane = lane.map(|lane| lane.cast_all(env, Equal::refl(), l));
        code_(&e.cast_all(env, Equal::refl(), t), lane.as_ref(), s).cast_all(env.sym(), Equal::refl(), t.sym())
    })
}

// Generic in lifetimes only, so that it is compiled once: with all that it calls it was a third of this crate's code.
fn code_<'b, 'e, 't, 'l, A>(
    e: &Exp<X<'e>, A, X<'t>>,
    lane: Option<&Exp<X<'e>, X<'b>, X<'l>>>,
    s: Scope<'_, 'b>,
) -> Exp<X<'e>, X<'b>, X<'t>> {
    deep(|| {
        fresh4(|n, c, g, h| match e.view(n) {
            _ if let Some(c) = e.custom(c) => {
                let functions = CustomExp {
                    function: under(&c.functions.function, Equal::refl(), lane, s),
                    pushforward: under(&c.functions.pushforward, Equal::refl(), lane, s),
                    pullback: under(&c.functions.pullback, Equal::refl(), lane, s),
                };
                Exp::with_rule(&code(&c.arg, lane, s), &functions, c.at)
            }
            ExpView::Const(v) => Exp::constant(&v, e.ty()),
            ExpView::Var(i) => Exp::var(&i),
            ExpView::Let(b, body, q) => Exp::let_(&code(&b, lane, s), &under(&body, q, lane, s)),
            ExpView::While(w) => {
                let (cond, body) = (under(&w.cond, w.eq, lane, s), under(&w.body, w.eq, lane, s));
                Exp::while_(&cond, &body, &code(&w.init, lane, s), w.at)
            }
            ExpView::Loop(l) => {
                let trips = match &l.trips {
                    ExpTrips::While(cond) => ExpTrips::While(under(cond, l.below_state, lane, s)),
                    ExpTrips::Times(n) => ExpTrips::Times(code(n, lane, s)),
                };
                let below = lane.map(|lane| lane.weaken(&Thinning::shift()).cast_env(l.below_state.sym()));
                let body = under(&l.body, l.below_row, below.as_ref(), s);
                let body = body.cast_env(eq_cons(Equal::refl(), l.below_state));
                let (init, xs) = (code(&l.init, lane, s), code(&l.xs, lane, s));
                Exp::loop_(&trips, l.dir, &init, (&xs, &l.row), &body, l.at).cast(l.eq.sym())
            }
            ExpView::Op(ExpOp::Index(a, _, _)) if let (Some(k), Some(lane)) = (s.scalar(&a), lane) => {
                let value = value(lane, k, g);
                match value.ty().same(e.ty()) {
                    Some(q) => value.cast(q),
                    None => unreachable!("an array without dimensions became its element"),
                }
            }
            ExpView::Op(ExpOp::Shape(a, q)) if s.scalar(&a).is_some() => {
                from_components(&a.ty().cast(q).sh_elt().0, &[])
            }
            ExpView::Op(ExpOp::Index(a, ix, at)) => {
                let ix = code(&ix, lane, s);
                let variable = variable(&a, s, g);
                match variable.ty().same(a.ty()) {
                    Some(q) => Exp::index(&variable.cast(q), &ix, at),
                    None => {
                        let (TyView::Arr(sh, t, q), Some(lane)) = (variable.ty().view(h), lane) else {
                            unreachable!("code that reads an array of the lane needs the lane")
                        };
                        let Some(t) = t.same(&a.ty().sh_elt().1) else { unreachable!("lanes have the same elements") };
                        Exp::index(&variable.cast(q), &join(&sh, &lane_of(lane), &ix), at).cast(t)
                    }
                }
            }
            ExpView::Op(ExpOp::Shape(a, q)) => {
                let variable = variable(&a, s, g);
                let shape = a.ty().cast(q).sh_elt().0;
                match variable.ty().same(a.ty()) {
                    Some(same) => Exp::shape(&variable.cast(same.then(q))),
                    None => {
                        let TyView::Arr(_, _, array) = variable.ty().view(h) else {
                            unreachable!("scalar code reads arrays")
                        };
                        split(&Exp::shape(&variable.cast(array)), &shape).1
                    }
                }
            }
            // What a lane adds goes to its own elements.
            ExpView::Op(ExpOp::Emit { token, to, ix, value, at, eq }) => {
                let (sh, t) = to.array().sh_elt();
                let (Some(lane), Some(outer)) = (lane, outer(&sh, g)) else {
                    unreachable!("code that emits needs the lane")
                };
                let to = Accumulator::new(to.position(), &Ty::arr(&outer, &t));
                let ix = join(&outer, &lane_of(lane), &code(&ix, Some(lane), s));
                let value = code(&value, Some(lane), s);
                code(&token, Some(lane), s).cast(eq).emit(&to, &ix, &value, at).cast(eq.sym())
            }
            ExpView::Op(op) => Exp::op(&op.map(&mut Parts { lane, s }), e.ty()),
        })
    })
}

/// The new variable for an array that scalar code reads.
fn variable<'b, 'g, A, T>(i: &Idx<A, T>, s: Scope<'_, 'b>, g: Guard<'g>) -> Idx<X<'b>, X<'g>> {
    match s.entry(i).ok().and_then(|entry| s.arrays.variable(entry.level, g)) {
        Some(variable) => variable,
        None => unreachable!("an array in scope"),
    }
}

/// The lane: the first component of all pairs.
pub fn lane_of<E, A, L>(lane: &Exp<E, A, L>) -> Exp<E, A, i64> {
    fresh1(|n| match (lane.ty().view(n), lane.ty().same(&Ty::of())) {
        (_, Some(q)) => lane.cast(q),
        (TyView::Pair(_, _, q), None) => lane_of(&lane.cast(q).fst()),
        _ => unreachable!("a lane is an index, or a pair of a lane and a value"),
    })
}

/// The number of variables that became scalars.
pub fn depth<E, A, L>(lane: &Exp<E, A, L>) -> usize {
    fresh1(|n| match lane.ty().view(n) {
        TyView::Pair(_, _, q) => 1 + depth(&lane.cast(q).fst()),
        _ => 0,
    })
}

/// The value of variable number `k` among those that became scalars.
pub fn value<'g, E, A, L>(lane: &Exp<E, A, L>, k: usize, g: Guard<'g>) -> Exp<E, A, X<'g>> {
    fresh1(|n| match lane.ty().view(n) {
        TyView::Pair(_, _, q) if depth(lane) == k + 1 => lane.cast(q).snd().cast(name(g)),
        TyView::Pair(_, _, q) => value(&lane.cast(q).fst(), k, g),
        _ => unreachable!("a variable in scope"),
    })
}

/// Below one binder.
fn under<'b, Y, B, E, A, T, L>(
    e: &Exp<Y, A, T>,
    q: Equal<Y, HCons<B, E>>,
    lane: Option<&Exp<E, X<'b>, L>>,
    s: Scope<'_, 'b>,
) -> Exp<HCons<B, E>, X<'b>, T> {
    let lane = lane.map(|lane| lane.weaken(&Thinning::shift()).cast_env(q.sym()));
    code(e, lane.as_ref(), s).cast_env(q)
}

struct Parts<'l, 's, 'b, E, L> {
    lane: Option<&'l Exp<E, X<'b>, L>>,
    s: Scope<'s, 'b>,
}
impl<'b, E, A, L> ExpMap<E, A, E, X<'b>> for Parts<'_, '_, 'b, E, L> {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, X<'b>, T> {
        code(e, self.lane, self.s)
    }
    fn avar<T>(&mut self, _: &Idx<A, T>) -> Idx<X<'b>, T> {
        unreachable!("only reads have array variables")
    }
}

/// An expression without scalar variables, which does not need the lane.
pub fn free<'b, A, T>(e: &Exp<HNil, A, T>, s: Scope<'_, 'b>) -> Option<Exp<HNil, X<'b>, T>> {
    (!needs_lane(e, s)).then(|| code(e, None::<&Exp<_, _, i64>>, s))
}

/// A function of one argument that does not need the lane.
pub fn free1<'b, A, P, R>(f: &Fun1<A, P, R>, s: Scope<'_, 'b>) -> Option<Fun1<X<'b>, P, R>> {
    (!needs_lane(&f.0, s)).then(|| Fun1(code(&f.0, None::<&Exp<_, _, i64>>, s)))
}

/// A function of two arguments that does not need the lane.
pub fn free2<'b, A, P, Q, R>(f: &Fun2<A, P, Q, R>, s: Scope<'_, 'b>) -> Option<Fun2<X<'b>, P, Q, R>> {
    (!needs_lane(&f.0, s)).then(|| Fun2(code(&f.0, None::<&Exp<_, _, i64>>, s)))
}

/// The value of a function in a lane.
pub fn applied<'b, A, E, L, P, R>(
    f: &Fun1<A, P, R>,
    x: &Exp<E, X<'b>, P>,
    lane: &Exp<E, X<'b>, L>,
    s: Scope<'_, 'b>,
) -> Exp<E, X<'b>, R> {
    let body = f.0.weaken(&Thinning::from_nil().lift());
    Exp::let_(x, &code(&body, Some(&lane.weaken(&Thinning::shift())), s))
}

/// A function of two arguments as a function of a pair.
pub fn uncurry<A, P, Q, R>(f: &Fun2<A, P, Q, R>, p: &Ty<P>, q: &Ty<Q>) -> Fun1<A, (P, Q), R> {
    let both = Exp::var(&Idx::zero(&Ty::pair(p, q)));
    let body = f.0.weaken(&Thinning::from_nil().lift().lift());
    Fun1(Exp::let_(&both.fst(), &Exp::let_(&both.snd().weaken(&Thinning::shift()), &body)))
}

/// The function of an index with the lane in front that applies `f` to the index without the lane, in this lane. `then` makes the result
/// of the lane and the result of `f`.
pub fn of_index<'b, A, Sh, Out, P, R>(
    f: &Fun1<A, Sh, P>,
    (sh, outer): (&Ty<Sh>, &Ty<Out>),
    s: Scope<'_, 'b>,
    then: impl FnOnce(
        &Exp<HCons<P, HCons<Out, HNil>>, X<'b>, i64>,
        &Exp<HCons<P, HCons<Out, HNil>>, X<'b>, P>,
    ) -> Exp<HCons<P, HCons<Out, HNil>>, X<'b>, R>,
) -> Fun1<X<'b>, Out, R> {
    let (lane, ix) = split(&Exp::var(&Idx::zero(outer)), sh);
    let applied = applied(f, &ix, &lane, s);
    let result = Exp::var(&Idx::zero(applied.ty()));
    Fun1(Exp::let_(&applied, &then(&lane.weaken(&Thinning::shift()), &result)))
}
