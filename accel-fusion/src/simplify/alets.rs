//! Definitions of arrays: the same as `lets.rs` one layer up. An array that scalar code reads stays a variable.

use super::stats::{Rule, Stats};
use accel_core::ast::*;
use frunk::{HCons, HNil};

/// The body of a program without superfluous definitions.
pub fn tidy_body<'p, 'r>(
    t: &Ty<X<'p>>,
    e: &Acc<HCons<X<'p>, HNil>, X<'r>>,
    stats: &mut Stats,
) -> Acc<HCons<X<'p>, HNil>, X<'r>> {
    let mut uses = Uses { infos: vec![], scope: vec![], loops: 0 };
    uses.enter();
    uses.acc(e);
    let mut rebuild = Rebuild { infos: uses.infos, next: 1, stats };
    rebuild.acc(e, &Env::empty().push(&Acc::var(&Idx::zero(t)), t))
}

/// What is known of a definition.
#[derive(Clone, Default)]
struct Info {
    /// Uses as arrays.
    uses: u32,
    /// Uses in scalar code.
    reads: u32,
    /// How many loops are around the definition.
    loops: u32,
    /// Whether a use is in a loop that the definition is not in.
    in_loop: bool,
    /// The number of the first definition in the right side, and of the first one after it.
    rhs: usize,
    end: usize,
}

struct Uses {
    infos: Vec<Info>,
    /// The numbers of the definitions in scope.
    scope: Vec<usize>,
    loops: u32,
}

impl Uses {
    fn enter(&mut self) -> usize {
        let id = self.infos.len();
        self.infos.push(Info { loops: self.loops, ..Info::default() });
        self.scope.push(id);
        id
    }

    fn info<A, T>(&mut self, i: &Idx<A, T>) -> &mut Info {
        &mut self.infos[self.scope[self.scope.len() - 1 - i.depth()]]
    }

    fn acc<A, R>(&mut self, a: &Acc<A, R>) {
        fresh2(|x, r| deep(|| self.acc_(&a.cast_env(name(x)).cast(name(r)))))
    }

    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>) {
        fresh1(|n| match a.view(n) {
            AccView::Use(_) => {}
            AccView::Var(i) => {
                let loops = self.loops;
                let info = self.info(&i);
                info.uses += 1;
                info.in_loop |= info.loops < loops;
            }
            AccView::Let(b, body, _) => {
                let id = self.enter();
                self.acc(&body);
                self.scope.pop();
                self.infos[id].rhs = self.infos.len();
                if self.infos[id].uses + self.infos[id].reads > 0 {
                    self.acc(&b);
                }
                self.infos[id].end = self.infos.len();
            }
            AccView::While(w) => {
                self.acc(&w.init);
                self.loops += 1;
                self.enter();
                self.acc(&w.cond);
                self.acc(&w.body);
                self.scope.pop();
                self.loops -= 1;
            }
            AccView::Op(op) => {
                op.map(self);
            }
        })
    }

    fn exp<E, A, T>(&mut self, e: &Exp<E, A, T>) {
        fresh3(|x, a, t| deep(|| self.exp_(&e.cast_all(name(x), name(a), name(t)))))
    }

    fn exp_<'e, 'a, 't>(&mut self, e: &Exp<X<'e>, X<'a>, X<'t>>) {
        fresh1(|n| match e.view(n) {
            ExpView::Const(_) | ExpView::Var(_) => {}
            ExpView::Let(b, body, _) => {
                self.exp(&b);
                self.exp(&body)
            }
            ExpView::While(w) => {
                self.exp(&w.init);
                self.exp(&w.cond);
                self.exp(&w.body)
            }
            ExpView::Op(op) => {
                op.map(self);
            }
        })
    }
}

/// Visits the parts of operations.
impl<A> AccMap<A, A> for Uses {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.exp(e);
        e.clone()
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) -> Acc<A, T> {
        self.acc(a);
        a.clone()
    }
}
impl<E, A> ExpMap<E, A, E, A> for Uses {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.exp(e);
        e.clone()
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) -> Idx<A, T> {
        self.info(i).reads += 1;
        i.clone()
    }
}

struct Rebuild<'s> {
    infos: Vec<Info>,
    /// The number of the next definition.
    next: usize,
    stats: &'s mut Stats,
}

impl Rebuild<'_> {
    fn acc<A, A2, R>(&mut self, a: &Acc<A, R>, env: &Env<AccF<A2>, A>) -> Acc<A2, R> {
        fresh3(|a1, a2, r| {
            let (a1, a2, r) = (name(a1), name(a2), name(r));
            let env = env.cast_env(a1).recast(a2);
            deep(|| self.acc_(&a.cast_env(a1).cast(r), &env)).cast_env(a2.sym()).cast(r.sym())
        })
    }

    fn acc_<'a, 'b, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>, env: &Env<AccF<X<'b>>, X<'a>>) -> Acc<X<'b>, X<'r>> {
        fresh1(|n| match a.view(n) {
            AccView::Use(lit) => Acc::use_(&lit, a.at()),
            AccView::Var(i) => env.get(&i),
            AccView::Let(b, body, q) => {
                let info = self.infos[self.next].clone();
                let first = self.next + 1;
                if info.uses + info.reads == 0 {
                    self.stats.add(Rule::DeadArray);
                    self.next = first;
                    let body = self.acc(&body, &env.push(&nothing(b.ty()), b.ty()).cast_env(q.sym()));
                    self.next = info.end;
                    return body;
                }
                self.next = info.rhs;
                let rhs = self.acc(&b, env);
                self.next = first;
                let once = info.uses == 1 && !info.in_loop || is_component(&rhs);
                let body = if info.reads == 0 && once {
                    self.acc(&body, &env.push(&rhs, b.ty()).cast_env(q.sym()))
                } else {
                    Acc::let_(&rhs, &self.under(&body, q, b.ty(), env))
                };
                self.next = info.end;
                body
            }
            AccView::While(w) => {
                let init = self.acc(&w.init, env);
                self.next += 1;
                let cond = self.under(&w.cond, w.eq, a.ty(), env);
                let body = self.under(&w.body, w.eq, a.ty(), env);
                Acc::while_(&cond, &body, &init, a.at())
            }
            AccView::Op(op) => Acc::op(&op.map(&mut Parts { rebuild: self, env }), a.ty(), a.at()),
        })
    }

    /// Below one binder of type `B`.
    fn under<Y, B, A, A2, R>(
        &mut self,
        a: &Acc<Y, R>,
        q: Equal<Y, HCons<B, A>>,
        t: &Ty<B>,
        env: &Env<AccF<A2>, A>,
    ) -> Acc<HCons<B, A2>, R> {
        let env = env.weaken(&Ren::shift()).push(&Acc::var(&Idx::zero(t)), t);
        self.acc(a, &env.cast_env(q.sym()))
    }
}

struct Parts<'r, 's, A, A2> {
    rebuild: &'r mut Rebuild<'s>,
    env: &'r Env<AccF<A2>, A>,
}
impl<A, A2> AccMap<A, A2> for Parts<'_, '_, A, A2> {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A2, T> {
        reads(e, self.env)
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) -> Acc<A2, T> {
        self.rebuild.acc(a, self.env)
    }
}

/// Scalar code with its array variables replaced; their entries are variables.
fn reads<E, A, A2, T>(e: &Exp<E, A, T>, env: &Env<AccF<A2>, A>) -> Exp<E, A2, T> {
    fresh4(|x, a1, a2, t| {
        let (x, a1, a2, t) = (name(x), name(a1), name(a2), name(t));
        let env = env.cast_env(a1).recast(a2);
        deep(|| reads_(&e.cast_all(x, a1, t), &env)).cast_all(x.sym(), a2.sym(), t.sym())
    })
}

fn reads_<'e, 'a, 'b, 't>(e: &Exp<X<'e>, X<'a>, X<'t>>, env: &Env<AccF<X<'b>>, X<'a>>) -> Exp<X<'e>, X<'b>, X<'t>> {
    fresh1(|n| match e.view(n) {
        ExpView::Const(v) => Exp::constant(&v, e.ty()),
        ExpView::Var(i) => Exp::var(&i),
        ExpView::Let(b, body, q) => Exp::let_(&reads(&b, env), &reads(&body, env).cast_env(q)),
        ExpView::While(w) => {
            let (cond, body) = (reads(&w.cond, env), reads(&w.body, env));
            Exp::while_(&cond.cast_env(w.eq), &body.cast_env(w.eq), &reads(&w.init, env), w.at)
        }
        ExpView::Op(op) => Exp::op(&op.map(&mut Reads(env)), e.ty()),
    })
}

struct Reads<'r, A, A2>(&'r Env<AccF<A2>, A>);
impl<E, A, A2> ExpMap<E, A, E, A2> for Reads<'_, A, A2> {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A2, T> {
        reads(e, self.0)
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) -> Idx<A2, T> {
        fresh1(|n| match self.0.get(i).view(n) {
            AccView::Var(i) => i,
            _ => unreachable!("an array that scalar code reads is not inlined"),
        })
    }
}

/// Whether a computation is a variable or a component of one.
fn is_component<A, R>(a: &Acc<A, R>) -> bool {
    fresh2(|x, r| is_component_(&a.cast_env(name(x)).cast(name(r))))
}

fn is_component_<'a, 'r>(a: &Acc<X<'a>, X<'r>>) -> bool {
    fresh1(|n| match a.view(n) {
        AccView::Var(_) => true,
        AccView::Op(AccOp::Fst { a, .. }) => is_component(&a),
        AccView::Op(AccOp::Snd { a, .. }) => is_component(&a),
        _ => false,
    })
}

/// Arrays that nobody looks at.
fn nothing<A, R>(t: &Ty<R>) -> Acc<A, R> {
    fresh1(|n| match t.view(n) {
        TyView::Unit(q) => Acc::unit().cast(q.sym()),
        TyView::Pair(a, b, q) => Acc::pair(&nothing(&a), &nothing(&b)).cast(q.sym()),
        TyView::Arr(sh, t, q) => {
            let zero = Exp::constant(&Value::zero(&t), &t);
            Acc::generate(&Exp::constant(&Value::zero(&sh), &sh), &Fun1(zero), None).cast(q.sym())
        }
        TyView::Scalar(_) => unreachable!("array code has no scalar values"),
    })
}
