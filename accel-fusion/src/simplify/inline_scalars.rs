//! Inlines definitions of scalars. Accepts any expression. In the result, every definition is used more than once or
//! inside a loop, and is not just a variable, a constant or a component of one.
//!
//! NOTE [Counting before inlining]: the first walk counts the uses of every definition. The second walk rebuilds the
//! expression, with a table that maps every old variable to its new expression. Definitions are identified by the order
//! in which the first walk visits them: the definition, then the body, then the bound expression. The bound expression
//! of an unused definition is not visited.
//!
//! A definition with one use is inlined there. If the use is in a branch, this can save the computation. It is never
//! inlined into a loop. So no work is repeated, and nothing that can fail leaves its branch.

use super::definitions::{Definition, Uses};
use super::projections::zero;
use super::stats::{Rule, Stats};
use super::used_components::{Demand, is_conditional, narrow_code, widen};
use accel_core::ast::*;
use frunk::HCons;

/// Removes superfluous definitions. `env` contains the variables in scope as expressions.
pub fn inline<E, A, T>(e: &Exp<E, A, T>, env: &Env<ExpF<E, A>, E>, stats: &mut Stats) -> Exp<E, A, T> {
    let mut uses = Uses::default();
    for _ in 0..env.size().get() {
        uses.enter();
    }
    uses.exp(e, &Demand::All);
    let mut rebuild = Rebuild { definitions: uses.definitions, next: env.size().get(), stats };
    rebuild.exp(e, env)
}

impl Uses {
    fn exp<E, A, T>(&mut self, e: &Exp<E, A, T>, d: &Demand) {
        fresh3(|x, a, t| deep(|| self.exp_(&e.cast_all(name(x), name(a), name(t)), d)))
    }

    // Generic in lifetimes only, so that it is compiled once.
    fn exp_<'e, 'a, 't>(&mut self, e: &Exp<X<'e>, X<'a>, X<'t>>, d: &Demand) {
        fresh1(|n| match &e.view(n) {
            ExpView::Const(_) => {}
            ExpView::Var(i) => self.used(i.depth(), d),
            ExpView::Let(b, body, _) => self.definition(
                |u| u.exp(body, d),
                |u, info| {
                    if info.is_used() {
                        u.exp(b, &info.demand);
                    }
                },
            ),
            ExpView::While(w) => {
                self.exp(&w.init, &Demand::All);
                self.inside_loop(|u| {
                    u.exp(&w.cond, &Demand::All);
                    u.exp(&w.body, &Demand::All);
                });
            }
            ExpView::Loop(l) => {
                self.exp(&l.init, &Demand::All);
                self.exp(&l.xs, &Demand::All);
                if let ExpTrips::Times(n) = &l.trips {
                    self.exp(n, &Demand::All);
                }
                self.inside_loop(|u| {
                    if let ExpTrips::While(cond) = &l.trips {
                        u.exp(cond, &Demand::All);
                    }
                    u.inside_loop(|u| u.exp(&l.body, &Demand::All));
                });
            }
            ExpView::Op(op) => match op {
                ExpOp::Pair(a, b, _) => {
                    let [da, db] = d.split();
                    self.exp(a, &da);
                    self.exp(b, &db);
                }
                ExpOp::Fst(a, _) => self.exp(a, &d.fst()),
                ExpOp::Snd(a, _) => self.exp(a, &d.snd()),
                ExpOp::Prim1(_, a) => self.exp(a, &Demand::All),
                ExpOp::Prim2(_, a, b) => {
                    self.exp(a, &Demand::All);
                    self.exp(b, &Demand::All);
                }
                ExpOp::Cond(c, t, f) => {
                    self.exp(c, &Demand::All);
                    self.exp(t, d);
                    self.exp(f, d);
                }
                ExpOp::Index(_, ix, _) => self.exp(ix, &Demand::All),
                ExpOp::Shape(..) => {}
                ExpOp::Emit { token, ix, value, .. } => {
                    self.exp(token, &Demand::All);
                    self.exp(ix, &Demand::All);
                    self.exp(value, &Demand::All);
                }
            },
        })
    }
}

struct Rebuild<'s> {
    definitions: Vec<Definition>,
    /// The number of the next definition.
    next: usize,
    stats: &'s mut Stats,
}

impl Rebuild<'_> {
    fn exp<E, E2, A, T>(&mut self, e: &Exp<E, A, T>, env: &Env<ExpF<E2, A>, E>) -> Exp<E2, A, T> {
        fresh3(|e1, e2, t| {
            let (e1, e2, t) = (name(e1), name(e2), name(t));
            let (e, env) = (e.cast_all(e1, Equal::refl(), t), env.cast_all(e1, e2));
            deep(|| self.named(&e, &env)).cast_all(e2.sym(), Equal::refl(), t.sym())
        })
    }

    /// As [`exp`](Self::exp), for environments that have names already.
    fn named<'e, 'f, A, T>(&mut self, e: &Exp<X<'e>, A, T>, env: &Env<ExpF<X<'f>, A>, X<'e>>) -> Exp<X<'f>, A, T> {
        fresh1(|n| match e.view(n) {
            ExpView::Const(v) => Exp::constant(&v, e.ty()),
            ExpView::Var(i) => env.get(&i),
            ExpView::Let(b, body, q) => {
                let info = self.definitions[self.next].clone();
                if info.uses == 0 {
                    self.stats.add(Rule::DeadScalar);
                    let nothing = zero(b.ty());
                    self.next = info.body;
                    let body = self.exp(&body, &env.push(&nothing, b.ty()).cast_env(q.sym()));
                    self.next = info.end;
                    return body;
                }
                self.next = info.bound;
                let rhs = deep(|| self.named(&b, env));
                self.next = info.body;
                if !info.demand.is_complete(b.ty().raw())
                    && is_conditional(&rhs)
                    && let Some(narrowed) = self.narrowed(&rhs, &body, q, &info.demand, env)
                {
                    self.next = info.end;
                    return narrowed;
                }
                let body = if is_free(&rhs) || (info.uses == 1 && !info.in_loop) {
                    self.exp(&body, &env.push(&rhs, b.ty()).cast_env(q.sym()))
                } else {
                    Exp::let_(&rhs, &self.under(&body, q, b.ty(), env))
                };
                self.next = info.end;
                body
            }
            ExpView::While(w) => {
                let init = deep(|| self.named(&w.init, env));
                self.next += 1;
                let cond = self.under(&w.cond, w.eq, e.ty(), env);
                let body = self.under(&w.body, w.eq, e.ty(), env);
                Exp::while_(&cond, &body, &init, w.at)
            }
            ExpView::Loop(l) => {
                let init = deep(|| self.named(&l.init, env));
                let xs = deep(|| self.named(&l.xs, env));
                let n = match &l.trips {
                    ExpTrips::Times(n) => Some(deep(|| self.named(n, env))),
                    ExpTrips::While(_) => None,
                };
                self.next += 1;
                let (state, row) = (Exp::var(&Idx::zero(l.init.ty())), Exp::var(&Idx::zero(&l.row)));
                let below = env.weaken(&Thinning::shift()).push(&state, l.init.ty()).cast_env(l.below_state.sym());
                let trips = match (&l.trips, n) {
                    (ExpTrips::While(cond), _) => ExpTrips::While(self.exp(cond, &below)),
                    (ExpTrips::Times(_), n) => ExpTrips::Times(n.expect("the number of steps")),
                };
                self.next += 1;
                let below = below.weaken(&Thinning::shift()).push(&row, &l.row).cast_env(l.below_row.sym());
                let body = self.exp(&l.body, &below);
                Exp::loop_(&trips, l.dir, &init, (&xs, &l.row), &body, l.at).cast(l.eq.sym())
            }
            ExpView::Op(op) => Exp::op(&op.map(&mut Parts { rebuild: self, env }), e.ty()),
        })
    }

    /// `let x = rhs in body`, where only some components of `x` are used.
    fn narrowed<Y, B, E, E2, A, T>(
        &mut self,
        rhs: &Exp<E2, A, B>,
        body: &Exp<Y, A, T>,
        q: Equal<Y, HCons<B, E>>,
        d: &Demand,
        env: &Env<ExpF<E2, A>, E>,
    ) -> Option<Exp<E2, A, T>> {
        fresh1(|m| {
            let narrow = narrow_code(rhs, d, m)?;
            let wide = widen(&Exp::var(&Idx::zero(narrow.ty())), rhs.ty(), d)?;
            self.stats.add(Rule::UnusedComponent);
            let env = env.weaken(&Thinning::shift()).push(&wide, rhs.ty()).cast_env(q.sym());
            Some(Exp::let_(&narrow, &self.exp(body, &env)))
        })
    }

    /// Goes below one binder of type `B`.
    fn under<Y, B, E, E2, A, T>(
        &mut self,
        e: &Exp<Y, A, T>,
        q: Equal<Y, HCons<B, E>>,
        t: &Ty<B>,
        env: &Env<ExpF<E2, A>, E>,
    ) -> Exp<HCons<B, E2>, A, T> {
        let env = env.weaken(&Thinning::shift()).push(&Exp::var(&Idx::zero(t)), t);
        self.exp(e, &env.cast_env(q.sym()))
    }
}

struct Parts<'r, 's, E, E2, A> {
    rebuild: &'r mut Rebuild<'s>,
    env: &'r Env<ExpF<E2, A>, E>,
}
impl<'e, 'f, A> ExpMap<X<'e>, A, X<'f>, A> for Parts<'_, '_, X<'e>, X<'f>, A> {
    fn exp<T>(&mut self, e: &Exp<X<'e>, A, T>) -> Exp<X<'f>, A, T> {
        deep(|| self.rebuild.named(e, self.env))
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) -> Idx<A, T> {
        i.clone()
    }
}

/// Whether an expression is free, so that it can be computed repeatedly: a variable, a constant, a shape, or a
/// component of one.
pub fn is_free<E, A, T>(e: &Exp<E, A, T>) -> bool {
    fresh3(|x, a, t| is_free_(&e.cast_all(name(x), name(a), name(t))))
}

fn is_free_<'e, 'a, 't>(e: &Exp<X<'e>, X<'a>, X<'t>>) -> bool {
    fresh1(|n| match e.view(n) {
        ExpView::Const(_) | ExpView::Var(_) | ExpView::Op(ExpOp::Shape(..)) => true,
        ExpView::Op(ExpOp::Fst(a, _)) => is_free(&a),
        ExpView::Op(ExpOp::Snd(a, _)) => is_free(&a),
        _ => false,
    })
}
