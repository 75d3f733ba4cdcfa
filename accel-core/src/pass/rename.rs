//! Arbitrary renaming of variables. (For an embedding into a larger environment, `weaken` takes constant time.)

use crate::ast::*;
use frunk::HCons;

/// The expression with every scalar variable replaced by its entry in `env`.
pub fn rename<E, E2, A, T>(e: &Exp<E, A, T>, env: &Env<IdxF<E2>, E>) -> Exp<E2, A, T> {
    fresh4(|e1, e2, a, t| {
        let (e1, e2, a, t) = (name(e1), name(e2), name(a), name(t));
        let env = env.cast_all(e1, e2);
        deep(|| rename_(&e.cast_all(e1, a, t), &env)).cast_all(e2.sym(), a.sym(), t.sym())
    })
}

fn rename_<'e, 'f, 'a, 't>(e: &Exp<X<'e>, X<'a>, X<'t>>, env: &Env<IdxF<X<'f>>, X<'e>>) -> Exp<X<'f>, X<'a>, X<'t>> {
    fresh2(|n, c| match e.view(n) {
        _ if let Some(c) = e.custom(c) => {
            Exp::with_rule(&rename(&c.arg, env), &rename_custom_exp(&c.functions, c.arg.ty(), env), c.at)
        }
        ExpView::Const(v) => Exp::constant(&v, e.ty()),
        ExpView::Var(i) => Exp::var(&env.get(&i)),
        ExpView::Let(b, body, q) => Exp::let_(&rename(&b, env), &under(&body, q, b.ty(), env)),
        ExpView::While(w) => {
            let (cond, body) = (under(&w.cond, w.eq, e.ty(), env), under(&w.body, w.eq, e.ty(), env));
            Exp::while_(&cond, &body, &rename(&w.init, env), w.at)
        }
        ExpView::Loop(l) => {
            let (state, row) = (l.init.ty(), &l.row);
            let inner = env.weaken(&Thinning::shift()).push(&Idx::zero(state), state).cast_env(l.below_state.sym());
            let trips = match &l.trips {
                ExpTrips::While(cond) => ExpTrips::While(rename(cond, &inner)),
                ExpTrips::Times(n) => ExpTrips::Times(rename(n, env)),
            };
            let body = under(&l.body, l.below_row, row, &inner);
            let xs = rename(&l.xs, env);
            Exp::loop_(&trips, l.dir, &rename(&l.init, env), (&xs, row), &body, l.at).cast(l.eq.sym())
        }
        ExpView::Op(op) => Exp::op(&op.map(&mut Scalars(env)), e.ty()),
    })
}

/// Below one binder of type `B`.
fn under<Y, B, E, E2, A, T>(
    e: &Exp<Y, A, T>,
    q: Equal<Y, HCons<B, E>>,
    t: &Ty<B>,
    env: &Env<IdxF<E2>, E>,
) -> Exp<HCons<B, E2>, A, T> {
    let env = env.weaken(&Thinning::shift()).push(&Idx::zero(t), t);
    rename(e, &env.cast_env(q.sym()))
}

struct Scalars<'a, E, E2>(&'a Env<IdxF<E2>, E>);
impl<E, E2, A> ExpMap<E, A, E2, A> for Scalars<'_, E, E2> {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) -> Exp<E2, A, T> {
        rename(e, self.0)
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) -> Idx<A, T> {
        i.clone()
    }
}

/// A mapping of array variables.
pub trait Variables<A, A2> {
    /// The new variable.
    fn at<T>(&self, i: &Idx<A, T>) -> Idx<A2, T>;
}
impl<A, A2> Variables<A, A2> for Env<IdxF<A2>, A> {
    fn at<T>(&self, i: &Idx<A, T>) -> Idx<A2, T> {
        self.get(i)
    }
}
impl<A, A2> Variables<A, A2> for Renaming<A, A2> {
    fn at<T>(&self, i: &Idx<A, T>) -> Idx<A2, T> {
        self.get(i)
    }
}

/// The expression with every array variable replaced.
pub fn rename_arrays<E, A, A2, T>(e: &Exp<E, A, T>, to: &impl Variables<A, A2>) -> Exp<E, A2, T> {
    fresh2(|n, m| {
        let (env, t) = (name(n), name(m));
        rename_arrays_(&e.cast_all(env, Equal::refl(), t), to).cast_all(env.sym(), Equal::refl(), t.sym())
    })
}

// Generic in lifetimes only, but for the array environments.
fn rename_arrays_<'e, 't, A, A2>(e: &Exp<X<'e>, A, X<'t>>, to: &impl Variables<A, A2>) -> Exp<X<'e>, A2, X<'t>> {
    deep(|| {
        fresh2(|n, c| match e.view(n) {
            _ if let Some(c) = e.custom(c) => {
                Exp::with_rule(&rename_arrays(&c.arg, to), &rename_arrays_of_custom(&c.functions, to), c.at)
            }
            ExpView::Const(v) => Exp::constant(&v, e.ty()),
            ExpView::Var(i) => Exp::var(&i),
            ExpView::Let(b, body, q) => Exp::let_(&rename_arrays(&b, to), &rename_arrays(&body, to).cast_env(q)),
            ExpView::While(w) => {
                let (cond, body) = (rename_arrays(&w.cond, to), rename_arrays(&w.body, to));
                Exp::while_(&cond.cast_env(w.eq), &body.cast_env(w.eq), &rename_arrays(&w.init, to), w.at)
            }
            ExpView::Loop(l) => {
                let trips = match &l.trips {
                    ExpTrips::While(cond) => ExpTrips::While(rename_arrays(cond, to)),
                    ExpTrips::Times(n) => ExpTrips::Times(rename_arrays(n, to)),
                };
                let body = rename_arrays(&l.body, to).cast_env(l.below_rows());
                let (init, xs) = (rename_arrays(&l.init, to), rename_arrays(&l.xs, to));
                let trips = trips.cast(l.below_state);
                Exp::loop_(&trips, l.dir, &init, (&xs, &l.row), &body, l.at).cast(l.eq.sym())
            }
            ExpView::Op(op) => Exp::op(&op.map(&mut Arrays(to)), e.ty()),
        })
    })
}

/// A function with a rule, with every scalar variable from outside replaced. `p` is the type of its argument.
pub fn rename_custom_exp<E, E2, A, P, T>(
    c: &CustomExp<E, A, P, T>,
    p: &Ty<P>,
    env: &Env<IdxF<E2>, E>,
) -> CustomExp<E2, A, P, T> {
    let t = c.function.ty();
    CustomExp {
        function: under(&c.function, Equal::refl(), p, env),
        pushforward: under(&c.pushforward, Equal::refl(), &linearised(p, t, p), env),
        pullback: under(&c.pullback, Equal::refl(), &linearised(p, t, t), env),
    }
}

/// A function with a rule, with every array variable replaced.
pub fn rename_arrays_of_custom<E, A, A2, P, T>(
    c: &CustomExp<E, A, P, T>,
    to: &impl Variables<A, A2>,
) -> CustomExp<E, A2, P, T> {
    CustomExp {
        function: rename_arrays(&c.function, to),
        pushforward: rename_arrays(&c.pushforward, to),
        pullback: rename_arrays(&c.pullback, to),
    }
}

struct Arrays<'a, V>(&'a V);
impl<E, A, A2, V: Variables<A, A2>> ExpMap<E, A, E, A2> for Arrays<'_, V> {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A2, T> {
        rename_arrays(e, self.0)
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) -> Idx<A2, T> {
        self.0.at(i)
    }
}

/// The computation with every array variable replaced.
pub fn rename_acc<A, A2, R>(a: &Acc<A, R>, to: &Renaming<A, A2>) -> Acc<A2, R> {
    fresh3(|a1, a2, r| {
        let (a1, a2, r) = (name(a1), name(a2), name(r));
        let to = to.cast(a1, a2);
        deep(|| rename_acc_(&a.cast_env(a1).cast(r), &to)).cast_env(a2.sym()).cast(r.sym())
    })
}

fn rename_acc_<'a, 'b, 'r>(a: &Acc<X<'a>, X<'r>>, to: &Renaming<X<'a>, X<'b>>) -> Acc<X<'b>, X<'r>> {
    fresh2(|n, c| match a.view(n) {
        _ if let Some(c) = a.custom(c) => {
            Acc::with_rule(&rename_acc(&c.arg, to), &rename_custom(&c.functions, c.arg.ty(), to), a.at())
        }
        AccView::Use(lit) => Acc::use_(&lit, a.at()),
        AccView::Var(i) => Acc::var(&to.get(&i)),
        AccView::Let(b, body, q) => Acc::let_(&rename_acc(&b, to), &rename_acc(&body.cast_env(q), &to.below(b.ty()))),
        AccView::While(w) => {
            let inner = to.below(a.ty());
            let (cond, body) = (rename_acc(&w.cond.cast_env(w.eq), &inner), rename_acc(&w.body.cast_env(w.eq), &inner));
            Acc::while_(&cond, &body, &rename_acc(&w.init, to), a.at())
        }
        AccView::Loop(l, q) => {
            let (state, inner) = (to.below(l.init.ty()), to.below(&l.argument()));
            Acc::loop_(&l.map(&mut Arrays(to), &mut Arrays(&state), &mut Arrays(&inner)), a.at()).cast(q.sym())
        }
        AccView::Op(op) => Acc::op(&op.map(&mut Arrays(to)), a.ty(), a.at()),
    })
}

/// A function with a rule, with every array variable from outside replaced. `p` is the type of its argument.
pub fn rename_custom<A, A2, P, R>(c: &Custom<A, P, R>, p: &Ty<P>, to: &Renaming<A, A2>) -> Custom<A2, P, R> {
    let r = c.function.ty();
    Custom {
        function: rename_acc(&c.function, &to.below(p)),
        pushforward: rename_acc(&c.pushforward, &to.below(&linearised(p, r, p))),
        pullback: rename_acc(&c.pullback, &to.below(&linearised(p, r, r))),
    }
}

impl<A, A2> AccMap<A, A2> for Arrays<'_, Renaming<A, A2>> {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A2, T> {
        rename_arrays(e, self.0)
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) -> Acc<A2, T> {
        rename_acc(a, self.0)
    }
}
