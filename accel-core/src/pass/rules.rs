//! Functions with rules of one's own, for what only asks which numbers a result depends on: NOTE \[Rules of one's own\].

use super::{to_tangent, to_tangents};
use crate::ast::*;
use crate::repr::op::{Float1, Float2, Num2};
use frunk::HCons;

/// The first function with a rule of a program, if there is one.
pub fn first_rule(p: &Program) -> Option<Source> {
    let mut rules = Rules::default();
    rules.program(p);
    rules.first
}

/// A program with the same results, in which the numbers of a function's result that has a rule depend on those of its argument as
/// the rule says, and not as the function does.
pub fn with_dependences_of_rules(p: &Program) -> Program {
    Rules::default().program(p)
}

/// Replaces functions with rules, and keeps the place of the first one.
#[derive(Default)]
struct Rules {
    first: Option<Source>,
}

impl Rules {
    fn program(&mut self, p: &Program) -> Program {
        fresh2(|a, r| {
            let p = p.open(a, r);
            Program::new(&p.arg, &self.acc(&p.body))
        })
    }

    fn found(&mut self, at: Src) {
        self.first = self.first.or(at);
    }

    fn acc<A, R>(&mut self, a: &Acc<A, R>) -> Acc<A, R> {
        fresh2(|n, m| {
            let (q, r) = (name(n), name(m));
            deep(|| self.acc_(&a.cast_env(q).cast(r))).cast_env(q.sym()).cast(r.sym())
        })
    }

    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>) -> Acc<X<'a>, X<'r>> {
        fresh2(|n, c| match a.view(n) {
            _ if let Some(c) = a.custom(c) => {
                self.found(a.at());
                let (arg, function) = (self.acc(&c.arg), self.acc(&c.functions.function));
                let pushforward = self.acc(&c.functions.pushforward);
                let (x, y) = (Idx::succ(&Idx::zero(arg.ty())), Idx::zero(function.ty()));
                let (x, y) = (Acc::var(&x), Acc::var(&y));
                let at = Acc::pair(&x, &Acc::pair(&y, &to_tangents(&x)));
                let up = Thinning::shift().then(&Thinning::shift());
                let tangent = Acc::let_(&at, &pushforward.weaken(&up.lift()));
                let carried =
                    Acc::let_(&tangent, &arrays(&y.weaken(&Thinning::shift()), &Acc::var(&Idx::zero(tangent.ty()))));
                Acc::let_(&arg, &Acc::let_(&function, &carried))
            }
            AccView::Use(_) | AccView::Var(_) => a.clone(),
            AccView::Let(b, body, q) => Acc::let_(&self.acc(&b), &self.acc(&body).cast_env(q)),
            AccView::While(w) => {
                let (cond, body) = (self.acc(&w.cond).cast_env(w.eq), self.acc(&w.body).cast_env(w.eq));
                Acc::while_(&cond, &body, &self.acc(&w.init), a.at())
            }
            AccView::Loop(l, q) => {
                let trips = match &l.trips {
                    Trips::While(cond) => Trips::While(self.acc(cond)),
                    Trips::Times(n, dir) => Trips::Times(self.exp(n), *dir),
                };
                let (init, xs, body) = (self.acc(&l.init), self.acc(&l.xs), self.acc(&l.body));
                Acc::loop_(&ALoop { user: l.user, trips, init, xs, body }, a.at()).cast(q.sym())
            }
            AccView::Op(op) => Acc::op(&op.map(self), a.ty(), a.at()),
        })
    }

    fn exp<E, A, T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A, T> {
        fresh3(|x, a, t| {
            let (x, a, t) = (name(x), name(a), name(t));
            deep(|| self.exp_(&e.cast_all(x, a, t))).cast_all(x.sym(), a.sym(), t.sym())
        })
    }

    fn exp_<'e, 'a, 't>(&mut self, e: &Exp<X<'e>, X<'a>, X<'t>>) -> Exp<X<'e>, X<'a>, X<'t>> {
        fresh2(|n, c| match e.view(n) {
            _ if let Some(c) = e.custom(c) => {
                self.found(c.at);
                let (arg, function) = (self.exp(&c.arg), self.exp(&c.functions.function));
                let pushforward = self.exp(&c.functions.pushforward);
                let (x, y) = (Idx::succ(&Idx::zero(arg.ty())), Idx::zero(function.ty()));
                let (x, y) = (Exp::var(&x), Exp::var(&y));
                let at = Exp::pair(&x, &Exp::pair(&y, &to_tangent(&x)));
                let up = Thinning::shift().then(&Thinning::shift());
                let tangent = Exp::let_(&at, &pushforward.weaken(&up.lift()));
                let carried =
                    Exp::let_(&tangent, &numbers(&y.weaken(&Thinning::shift()), &Exp::var(&Idx::zero(tangent.ty()))));
                Exp::let_(&arg, &Exp::let_(&function, &carried))
            }
            ExpView::Const(_) | ExpView::Var(_) => e.clone(),
            ExpView::Let(b, body, q) => Exp::let_(&self.exp(&b), &self.exp(&body).cast_env(q)),
            ExpView::While(w) => {
                let (cond, body) = (self.exp(&w.cond).cast_env(w.eq), self.exp(&w.body).cast_env(w.eq));
                Exp::while_(&cond, &body, &self.exp(&w.init), w.at)
            }
            ExpView::Loop(l) => {
                let trips = match &l.trips {
                    ExpTrips::While(cond) => ExpTrips::While(self.exp(cond)),
                    ExpTrips::Times(n) => ExpTrips::Times(self.exp(n)),
                };
                let body = self.exp(&l.body).cast_env(l.below_rows());
                let (init, xs) = (self.exp(&l.init), self.exp(&l.xs));
                Exp::loop_(&trips.cast(l.below_state), l.dir, &init, (&xs, &l.row), &body, l.at).cast(l.eq.sym())
            }
            ExpView::Op(op) => Exp::op(&op.map(self), e.ty()),
        })
    }
}

impl<A> AccMap<A, A> for Rules {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A, T> {
        Rules::exp(self, e)
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) -> Acc<A, T> {
        Rules::acc(self, a)
    }
}
impl<E, A> ExpMap<E, A, E, A> for Rules {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A, T> {
        Rules::exp(self, e)
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) -> Idx<A, T> {
        i.clone()
    }
}

/// The arrays `y`, whose numbers depend on those of `d` at the same places.
fn arrays<A, R>(y: &Acc<A, R>, d: &Acc<A, Tan<R>>) -> Acc<A, R> {
    deep(|| {
        fresh1(|n| match y.ty().view(n) {
            TyView::Pair(_, _, q) => {
                let (y, d) = (y.cast(q), d.cast(eq_tan(q).then(tan_pair())));
                Acc::pair(&arrays(&y.fst(), &d.fst()), &arrays(&y.snd(), &d.snd())).cast(q.sym())
            }
            TyView::Arr(_, t, q) => {
                let (y, d) = (y.cast(q), d.cast(eq_tan(q).then(tan_arr())));
                let both: (Exp<HCons<_, HCons<_, frunk::HNil>>, A, _>, _) =
                    (Exp::var(&Idx::succ(&Idx::zero(&t))), Exp::var(&Idx::zero(&tan_ty(&t))));
                Acc::zip_with(&Fun2(numbers(&both.0, &both.1)), &y, &d, None).cast(q.sym())
            }
            TyView::Unit(_) | TyView::Scalar(_) | TyView::List(..) => y.clone(),
        })
    })
}

/// The value `y`, whose numbers depend on those of `d`.
fn numbers<E, A, T>(y: &Exp<E, A, T>, d: &Exp<E, A, Tan<T>>) -> Exp<E, A, T> {
    deep(|| {
        fresh1(|n| match y.ty().view(n) {
            TyView::Pair(_, _, q) => {
                let (y, d) = (y.cast(q), d.cast(eq_tan(q).then(tan_pair())));
                Exp::pair(&numbers(&y.fst(), &d.fst()), &numbers(&y.snd(), &d.snd())).cast(q.sym())
            }
            TyView::Scalar(t) => match t.float() {
                Some(f) => {
                    // -0 that depends on `d`.
                    let slope = Exp::constant(&f.value(1.0), &f.ty());
                    let along =
                        Exp::prim2(Prim2::Float(Float2::Along, f, Equal::refl()), &d.cast(tan_float(f)), &slope);
                    let value = Exp::prim1(Prim1::Float(Float1::Detach, f, Equal::refl()), y);
                    Exp::prim2(Prim2::Num(Num2::Add, f.num(), Equal::refl()), &value, &along)
                }
                None => y.clone(),
            },
            TyView::Unit(_) | TyView::Arr(..) | TyView::List(..) => y.clone(),
        })
    })
}
