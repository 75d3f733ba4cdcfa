//! Definitions of arrays: the same as `lets.rs` one layer up. An array that scalar code reads stays a variable.

use super::demand::{Demand, Flow, narrow_code, widen};
use super::retuple::is_retuple;
use super::rules::operations::variable;
use super::stats::{Rule, Stats};
use accel_core::ast::*;
use accel_core::pass::{Variables, nothing, rename_arrays};
use frunk::{HCons, HNil};

/// The body of a program without superfluous definitions.
pub fn tidy_body<'p, 'r>(
    t: &Ty<X<'p>>,
    e: &Acc<HCons<X<'p>, HNil>, X<'r>>,
    stats: &mut Stats,
) -> Acc<HCons<X<'p>, HNil>, X<'r>> {
    let mut uses = Uses { infos: vec![], scope: vec![], loops: 0 };
    uses.enter();
    uses.acc(e, &Demand::All);
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
    /// The components that are used.
    demand: Demand,
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

    fn acc<A, R>(&mut self, a: &Acc<A, R>, d: &Demand) {
        fresh2(|x, r| deep(|| self.acc_(&a.cast_env(name(x)).cast(name(r)), d)))
    }

    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>, d: &Demand) {
        fresh1(|n| match a.view(n) {
            AccView::Use(_) => {}
            AccView::Var(i) => {
                let loops = self.loops;
                let info = self.info(&i);
                info.uses += 1;
                info.in_loop |= info.loops < loops;
                info.demand.join(d);
            }
            AccView::Let(b, body, _) => {
                let id = self.enter();
                self.acc(&body, d);
                self.scope.pop();
                self.infos[id].rhs = self.infos.len();
                if self.infos[id].uses + self.infos[id].reads > 0 {
                    let d = self.infos[id].demand.clone();
                    self.acc(&b, &d);
                }
                self.infos[id].end = self.infos.len();
            }
            AccView::While(w) => {
                self.acc(&w.init, &Demand::All);
                self.loops += 1;
                self.enter();
                self.acc(&w.cond, &Demand::All);
                self.acc(&w.body, &Demand::All);
                self.scope.pop();
                self.loops -= 1;
            }
            AccView::Op(op) => self.op(&op, d),
        })
    }

    fn op<A, R>(&mut self, op: &AccOp<'_, A, R>, d: &Demand) {
        match op {
            AccOp::Pair { a, b, .. } => {
                let [da, db] = d.split();
                self.acc(a, &da);
                self.acc(b, &db);
            }
            AccOp::Fst { a, .. } => self.acc(a, &d.fst()),
            AccOp::Snd { a, .. } => self.acc(a, &d.snd()),
            AccOp::Cond { cond, then, otherwise } => {
                self.code(cond, &Demand::All, 0);
                // A retupling map would have to stay in the branch.
                self.acc(then, &d.whole());
                self.acc(otherwise, &d.whole());
            }
            AccOp::Generate { sh, f, .. } => {
                self.code(sh, &Demand::All, 0);
                self.code(&f.0, d, 1);
            }
            AccOp::Map { f, a, .. } => {
                let args = self.code(&f.0, d, 1);
                self.acc(a, &args[0]);
            }
            AccOp::ZipWith { f, a, b, .. } => {
                let args = self.code(&f.0, d, 2);
                self.acc(a, &args[0]);
                self.acc(b, &args[1]);
            }
            AccOp::Backpermute { sh, f, a, .. } => {
                self.code(sh, &Demand::All, 0);
                self.code(&f.0, &Demand::All, 1);
                self.acc(a, d);
            }
            AccOp::Agree { left, right, a, .. } => {
                self.code(left, &Demand::All, 0);
                self.code(right, &Demand::All, 0);
                self.acc(a, d);
            }
            AccOp::Reshape { sh, a, .. } => {
                self.code(sh, &Demand::All, 0);
                self.acc(a, d);
            }
            AccOp::Replicate { slx, a, .. } => {
                self.code(slx, &Demand::All, 0);
                self.acc(a, d);
            }
            AccOp::Slice { slx, a, .. } => {
                self.code(slx, &Demand::All, 0);
                self.acc(a, d);
            }
            // Operators of folds and scans, and combinations of permutations, need all components.
            op => {
                op.map(self);
            }
        }
    }

    /// Scalar code of `arguments` arguments; what it demands of them.
    fn code<E, A, T>(&mut self, e: &Exp<E, A, T>, d: &Demand, arguments: usize) -> Vec<Demand> {
        let (infos, scope) = (&mut self.infos, &self.scope);
        let mut array = |depth: usize, d: &Demand| {
            let info = &mut infos[scope[scope.len() - 1 - depth]];
            info.reads += 1;
            info.demand.join(d);
        };
        let mut flow = Flow { scope: vec![Demand::None; arguments], array: &mut array };
        flow.exp(e, d);
        flow.scope
    }
}

/// Visits the parts of operations of which all is used.
impl<A> AccMap<A, A> for Uses {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.code(e, &Demand::All, 2);
        e.clone()
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) -> Acc<A, T> {
        self.acc(a, &Demand::All);
        a.clone()
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
            let env = env.cast_all(a1, a2);
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
                if !info.demand.is_complete(b.ty().raw())
                    && let Some(split) = self.split(&rhs, &body, q, &info.demand, env)
                {
                    self.next = info.end;
                    return split;
                }
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

    /// `let a = rhs in body` of which only some components are used: the rules for retupling (`rules/operations.rs`) take
    /// the second of the two new definitions away.
    fn split<Y, B, A, A2, R>(
        &mut self,
        rhs: &Acc<A2, B>,
        body: &Acc<Y, R>,
        q: Equal<Y, HCons<B, A>>,
        d: &Demand,
        env: &Env<AccF<A2>, A>,
    ) -> Option<Acc<A2, R>> {
        fresh3(|n, m, k| {
            let TyView::Arr(_, t, eq) = rhs.ty().view(n) else { return None };
            let narrow = narrowed(&rhs.cast(eq), d, m, k)?;
            let x = narrow.sh_elt().1;
            let wide = Fun1(widen(&Exp::var(&Idx::zero(&x)), &t, d)?);
            let wide = Acc::map(&wide, &Acc::var(&Idx::zero(narrow.ty())), rhs.at()).cast(eq.sym());
            self.stats.add(Rule::UnusedComponent);
            let env = env.weaken(&Ren::shift()).weaken(&Ren::shift()).push(&Acc::var(&Idx::zero(rhs.ty())), rhs.ty());
            Some(Acc::let_(&narrow, &Acc::let_(&wide, &self.acc(body, &env.cast_env(q.sym())))))
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
        rename_arrays(e, &Reads(self.env))
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) -> Acc<A2, T> {
        self.rebuild.acc(a, self.env)
    }
}

/// The new array variables of scalar code.
struct Reads<'r, A, A2>(&'r Env<AccF<A2>, A>);
impl<A, A2> Variables<A, A2> for Reads<'_, A, A2> {
    fn at<T>(&self, i: &Idx<A, T>) -> Idx<A2, T> {
        variable(&self.0.get(i)).unwrap_or_else(|| unreachable!("an array that scalar code reads is not inlined"))
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

/// The same array with only some components of its elements, if they are computed right here.
fn narrowed<'m, 'k, A, Sh, T>(
    a: &Acc<A, Arr<Sh, T>>,
    d: &Demand,
    m: Guard<'m>,
    k: Guard<'k>,
) -> Option<Acc<A, Arr<Sh, X<'m>>>> {
    let AccView::Op(op) = a.view(k) else { return None };
    let at = a.at();
    match op {
        AccOp::Generate { sh, f, eq } => {
            let a = Acc::generate(&a.sh_elt().0.cast(eq.sh()), &sh, &Fun1(narrow_code(&f.0, d, m)?), at);
            Some(a.cast(eq_arr(eq.sh().sym(), Equal::refl())))
        }
        AccOp::Map { f, a, eq } => {
            // Nothing is gained where components are only rearranged.
            if is_retuple(&f.0) {
                return None;
            }
            let a = Acc::map(&Fun1(narrow_code(&f.0, d, m)?), &a, at);
            Some(a.cast(eq_arr(eq.sh().sym(), Equal::refl())))
        }
        AccOp::ZipWith { f, a, b, eq } => {
            let a = Acc::zip_with(&Fun2(narrow_code(&f.0, d, m)?), &a, &b, at);
            Some(a.cast(eq_arr(eq.sh().sym(), Equal::refl())))
        }
        _ => None,
    }
}
