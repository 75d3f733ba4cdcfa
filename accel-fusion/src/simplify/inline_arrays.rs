//! Inlines definitions of arrays, as `inline_scalars.rs` does for scalars. An array that scalar code reads stays a
//! variable.

use super::checks::{checks_of, is_only_checked, needed};
use super::definitions::{Definition, Uses};
use super::list_components::{plain, unlisted, without_rows};
use super::projections::only_rearranges;
use super::rules::operations::variable;
use super::stats::{Rule, Stats};
use super::used_components::{Demand, Flow, narrow_code, widen};
use accel_core::ast::*;
use accel_core::pass::{Variables, nothing, rename_arrays};
use accel_core::repr::RawTy;
use frunk::{HCons, HNil};

/// Removes superfluous definitions from the body of a program.
pub fn inline_body<'p, 'r>(
    t: &Ty<X<'p>>,
    e: &Acc<HCons<X<'p>, HNil>, X<'r>>,
    stats: &mut Stats,
) -> Acc<HCons<X<'p>, HNil>, X<'r>> {
    let mut uses = Uses::default();
    uses.enter();
    uses.acc(e, &Demand::All);
    let mut rebuild = Rebuild { definitions: uses.definitions, next: 1, stats };
    rebuild.acc(e, &Env::empty().push(&Acc::var(&Idx::zero(t)), t))
}

impl Uses {
    fn acc<A, R>(&mut self, a: &Acc<A, R>, d: &Demand) {
        fresh2(|x, r| deep(|| self.acc_(&a.cast_env(name(x)).cast(name(r)), d)))
    }

    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>, d: &Demand) {
        fresh1(|n| match a.view(n) {
            AccView::Use(_) => {}
            AccView::Var(i) => self.used(i.depth(), d),
            AccView::Let(b, body, _) => self.definition(
                |u| u.acc(&body, d),
                |u, info| {
                    if let Some(b) = needed(&b, info) {
                        match b.ty().raw() {
                            RawTy::Array(_) => u.acc(&b, &info.demand.of_array()),
                            _ => u.acc(&b, &info.demand),
                        }
                    } else if let Some(checks) = checks_of(&b) {
                        u.acc(&checks, &Demand::All);
                    }
                },
            ),
            AccView::While(w) => {
                self.acc(&w.init, &Demand::All);
                self.inside_loop(|u| {
                    u.acc(&w.cond, &Demand::All);
                    u.acc(&w.body, &Demand::All);
                });
            }
            AccView::Loop(l, _) => {
                self.acc(&l.init, &Demand::All);
                match &l.trips {
                    Trips::While(cond) => _ = self.inside_loop(|u| u.acc(cond, &Demand::All)),
                    Trips::Times(n, _) => _ = self.code(n, &Demand::All, 0),
                }
                let [_, entry] = d.split();
                let argument = self.inside_loop(|u| u.acc(&l.body, &Demand::pair(Demand::All, entry)));
                let [_, row] = argument.split();
                self.acc(&l.xs, &row);
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
                // A map that only rearranges components would have to stay in the branch.
                self.acc(then, &d.whole());
                self.acc(otherwise, &d.whole());
            }
            AccOp::Generate { sh, f, .. } => {
                self.code(sh, &Demand::All, 0);
                self.code(&f.0, &d.of_elements(), 1);
            }
            AccOp::Accumulate { sh, f, init, .. } => {
                self.code(sh, &Demand::All, 0);
                let [elements, _] = d.split();
                self.code(&f.0, &Demand::pair(elements.of_elements(), Demand::All), 1);
                self.acc(init, &Demand::All);
            }
            AccOp::Map { f, a, .. } => {
                let args = self.code(&f.0, &d.of_elements(), 1);
                self.acc(a, &args[0].of_array());
            }
            AccOp::ZipWith { f, a, b, .. } => {
                let args = self.code(&f.0, &d.of_elements(), 2);
                self.acc(a, &args[0].of_array());
                self.acc(b, &args[1].of_array());
            }
            AccOp::Backpermute { sh, f, a, .. } => {
                self.code(sh, &Demand::All, 0);
                self.code(&f.0, &Demand::All, 1);
                self.acc(a, &d.of_array());
            }
            AccOp::Agree { left, right, a, .. } => {
                self.code(left, &Demand::All, 0);
                self.code(right, &Demand::All, 0);
                self.acc(a, &d.of_array());
            }
            AccOp::Reshape { sh, a, .. } => {
                self.code(sh, &Demand::All, 0);
                self.acc(a, &d.of_array());
            }
            AccOp::Replicate { slx, a, .. } => {
                self.code(slx, &Demand::All, 0);
                self.acc(a, &d.of_array());
            }
            AccOp::Slice { slx, a, .. } => {
                self.code(slx, &Demand::All, 0);
                self.acc(a, &d.of_array());
            }
            AccOp::Unit { .. } => {}
            AccOp::Foreign { sh, a, .. } => {
                self.code(sh, &Demand::All, 0);
                self.acc(a, &Demand::All);
            }
            // The operators need all components.
            AccOp::Fold { .. }
            | AccOp::Fold1 { .. }
            | AccOp::Scan { .. }
            | AccOp::Scan1 { .. }
            | AccOp::Permute { .. }
            | AccOp::Argsort { .. } => op.visit(self),
        }
    }

    /// Counts the uses in scalar code with `arguments` parameters. Returns the components of the parameters that it
    /// uses.
    fn code<E, A, T>(&mut self, e: &Exp<E, A, T>, d: &Demand, arguments: usize) -> Vec<Demand> {
        let mut array = |depth: usize, d: &Demand| self.read(depth, d);
        let mut flow = Flow { scope: vec![Demand::None; arguments], array: &mut array };
        flow.exp(e, d);
        flow.scope
    }
}

/// Visits the operands of operations that use all components.
impl<A> AccVisit<A> for Uses {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) {
        self.code(e, &Demand::All, 2);
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) {
        self.acc(a, &Demand::All)
    }
}

struct Rebuild<'s> {
    definitions: Vec<Definition>,
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
                let info = self.definitions[self.next].clone();
                let Some(b) = needed(&b, &info) else {
                    return self.unused(&b, &body, q, &info, env);
                };
                self.next = info.bound;
                let rhs = self.acc(&b, env);
                self.next = info.body;
                if let Some(split) = self.split_loop(&rhs, &body, q, &info.demand, env) {
                    self.next = info.end;
                    return split;
                }
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
            AccView::Loop(l, q) => {
                let init = self.acc(&l.init, env);
                let trips = match &l.trips {
                    Trips::While(cond) => {
                        self.next += 1;
                        Trips::While(self.under(cond, Equal::refl(), l.init.ty(), env))
                    }
                    Trips::Times(n, dir) => Trips::Times(rename_arrays(n, &Reads(env)), *dir),
                };
                let used = self.definitions[self.next].demand.clone();
                self.next += 1;
                let body = self.under(&l.body, Equal::refl(), &l.argument(), env);
                let l = ALoop { user: l.user, trips, init, xs: self.acc(&l.xs, env), body };
                let simpler = without_rows(&l, &used, a.at()).or_else(|| plain(&l, a.at()));
                if simpler.is_some() {
                    self.stats.add(Rule::UnusedRows);
                }
                simpler.unwrap_or_else(|| Acc::loop_(&l, a.at())).cast(q.sym())
            }
            AccView::Op(op) => Acc::op(&op.map(&mut Parts { rebuild: self, env }), a.ty(), a.at()),
        })
    }

    /// `let a = rhs in body`, where `a` is not used. Only the checks of shapes in `rhs` are left.
    fn unused<Y, B, A, A2, R>(
        &mut self,
        rhs: &Acc<A, B>,
        body: &Acc<Y, R>,
        q: Equal<Y, HCons<B, A>>,
        info: &Definition,
        env: &Env<AccF<A2>, A>,
    ) -> Acc<A2, R> {
        if !is_only_checked(rhs.ty()) {
            self.stats.add(Rule::DeadArray);
        }
        let nothing = nothing(rhs.ty());
        let Some(checks) = checks_of(rhs) else {
            self.next = info.body;
            let body = self.acc(body, &env.push(&nothing, rhs.ty()).cast_env(q.sym()));
            self.next = info.end;
            return body;
        };
        self.next = info.bound;
        let checks = self.acc(&checks, env);
        self.next = info.body;
        let env = env.weaken(&Thinning::shift()).push(&nothing.weaken(&Thinning::shift()), rhs.ty());
        let body = self.acc(body, &env.cast_env(q.sym()));
        self.next = info.end;
        Acc::let_(&checks, &body)
    }

    /// `let a = rhs in body`, where only some components of `a` are used. It becomes two definitions; the rules for
    /// rearranging maps (`rules/operations.rs`) then remove the second one.
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
            let d = &d.of_elements();
            let narrow = narrowed(&rhs.cast(eq), d, m, k)?;
            let x = narrow.sh_elt().1;
            let wide = Fun1(widen(&Exp::var(&Idx::zero(&x)), &t, d)?);
            let wide = Acc::map(&wide, &Acc::var(&Idx::zero(narrow.ty())), rhs.at()).cast(eq.sym());
            self.stats.add(Rule::UnusedComponent);
            let env = env
                .weaken(&Thinning::shift())
                .weaken(&Thinning::shift())
                .push(&Acc::var(&Idx::zero(rhs.ty())), rhs.ty());
            Some(Acc::let_(&narrow, &Acc::let_(&wide, &self.acc(body, &env.cast_env(q.sym())))))
        })
    }

    /// As [`split`](Self::split), for a loop that lists more than is used.
    fn split_loop<Y, B, A, A2, R>(
        &mut self,
        rhs: &Acc<A2, B>,
        body: &Acc<Y, R>,
        q: Equal<Y, HCons<B, A>>,
        d: &Demand,
        env: &Env<AccF<A2>, A>,
    ) -> Option<Acc<A2, R>> {
        fresh2(|m, r| {
            let (narrow, wide) = unlisted(rhs, d, m, r)?;
            self.stats.add(Rule::Unlisted);
            let env = env
                .weaken(&Thinning::shift())
                .weaken(&Thinning::shift())
                .push(&Acc::var(&Idx::zero(rhs.ty())), rhs.ty());
            Some(Acc::let_(&narrow, &Acc::let_(&wide, &self.acc(body, &env.cast_env(q.sym())))))
        })
    }

    /// Goes below one binder of type `B`.
    fn under<Y, B, A, A2, R>(
        &mut self,
        a: &Acc<Y, R>,
        q: Equal<Y, HCons<B, A>>,
        t: &Ty<B>,
        env: &Env<AccF<A2>, A>,
    ) -> Acc<HCons<B, A2>, R> {
        let env = env.weaken(&Thinning::shift()).push(&Acc::var(&Idx::zero(t)), t);
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

/// Renames the array variables of scalar code.
struct Reads<'r, A, A2>(&'r Env<AccF<A2>, A>);
impl<A, A2> Variables<A, A2> for Reads<'_, A, A2> {
    fn at<T>(&self, i: &Idx<A, T>) -> Idx<A2, T> {
        variable(&self.0.get(i)).unwrap_or_else(|| unreachable!("an array that scalar code reads is not inlined"))
    }
}

/// Whether a computation is a variable or a component of a variable.
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

/// The same array with only some components of its elements, if they are computed here.
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
            // If components are only rearranged, there is no gain.
            if only_rearranges(&f.0) {
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
