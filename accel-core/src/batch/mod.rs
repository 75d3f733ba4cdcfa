//! Batching: loops without a state, which `vmap` writes, become operations of one more dimension.
//!
//! NOTE [Batching]: `vmap` is a loop with the state `()`, so it has a meaning and derivatives, and runs everywhere, one row after the
//! other. This pass replaces such a loop by array operations on all rows at once. An array that depends on the row gets a
//! further dimension in front, the *lane*; what no row changes is shared. For most operations, the result is the same operation on
//! arrays of a higher rank, as in the vectorisation of Accelerate and in the batching rules of JAX. Scalar code that reads an array of
//! the row gets the lane as the first component of its index.
//!
//! A loop of which some operation has no rule, such as one whose extents depend on the row, stays a loop. `ACCEL_DUMP=batch`
//! says which and why. The pass runs when a program is recorded, before it is differentiated: so the derivatives see
//! array operations, and no loop.
//!
//! The pass trusts nothing: the types of arrays with lanes are compared at run time, which gives the proofs that rustc asks for.

mod arrays;
mod index;
mod numbers;
mod scalars;
mod scope;

pub use index::{components, from_components};

use crate::ast::*;
use crate::repr::RawTy;
use crate::surface::graph::{ArrayOp, Node, Op};
use frunk::{HCons, HNil};
use scope::{Entry, Form, Scope, Stuck};
use std::cell::RefCell;

/// Whether a recorded program contains loops without a state.
pub fn has_loops(nodes: &[Node]) -> bool {
    nodes.iter().any(|n| match &n.op {
        Op::Array(ArrayOp::MapAccum { init, .. }) => nodes[init.index()].ty == RawTy::Unit,
        _ => false,
    })
}

/// The program in which loops without a state are array operations, as far as there are rules.
pub fn batch(p: &Program) -> Program {
    fresh3(|a, r, e| {
        let p = p.open(a, r);
        let q = name(e);
        let arrays = Env::empty().push(&(), &p.arg).cast_env(q);
        let body = Loops { arrays: &arrays }.without(&p.body.cast_env(q));
        Program::new(&p.arg, &body.cast_env(q.sym()))
    })
}

/// Replaces loops. The arrays in scope stay the same.
struct Loops<'s, 'a> {
    arrays: &'s Env<UnitF, X<'a>>,
}

impl<'a> Loops<'_, 'a> {
    fn without<R>(&self, a: &Acc<X<'a>, R>) -> Acc<X<'a>, R> {
        fresh1(|r| {
            let r = name(r);
            deep(|| self.without_(&a.cast(r))).cast(r.sym())
        })
    }

    fn without_<'r>(&self, a: &Acc<X<'a>, X<'r>>) -> Acc<X<'a>, X<'r>> {
        fresh2(|n, c| match a.view(n) {
            _ if let Some(c) = a.custom(c) => {
                let (p, r) = (c.arg.ty(), a.ty());
                let functions = Custom {
                    function: self.below(p, &c.functions.function),
                    pushforward: self.below(&linearised(p, r, p), &c.functions.pushforward),
                    pullback: self.below(&linearised(p, r, r), &c.functions.pullback),
                };
                Acc::with_rule(&self.without(&c.arg), &functions, a.at())
            }
            AccView::Use(_) | AccView::Var(_) => a.clone(),
            AccView::Let(b, body, q) => Acc::let_(&self.without(&b), &self.below(b.ty(), &body.cast_env(q))),
            AccView::While(w) => {
                let (cond, body) =
                    (self.below(a.ty(), &w.cond.cast_env(w.eq)), self.below(a.ty(), &w.body.cast_env(w.eq)));
                Acc::while_(&cond, &body, &self.without(&w.init), a.at())
            }
            AccView::Loop(l, q) => {
                let trips = match &l.trips {
                    Trips::While(cond) => Trips::While(self.below(l.init.ty(), cond)),
                    Trips::Times(n, dir) => Trips::Times(n.clone(), *dir),
                };
                let (init, xs) = (self.without(&l.init), self.without(&l.xs));
                let l = ALoop { user: l.user, trips, init, xs, body: self.below(&l.argument(), &l.body) };
                self.lanes(&l, a.at()).unwrap_or_else(|| Acc::loop_(&l, a.at())).cast(q.sym())
            }
            AccView::Op(op) => Acc::op(&op.map(&mut Inside(self)), a.ty(), a.at()),
        })
    }

    /// Below one binder.
    fn below<B, R>(&self, t: &Ty<B>, a: &Acc<HCons<B, X<'a>>, R>) -> Acc<HCons<B, X<'a>>, R> {
        fresh1(|e| {
            let q = name(e);
            let arrays = self.arrays.push(&(), t).cast_env(q);
            Loops { arrays: &arrays }.without(&a.cast_env(q)).cast_env(q.sym())
        })
    }

    /// The loop as array operations, if it has no state, and all its operations have a rule.
    fn lanes<S, R, Y>(&self, l: &ALoop<X<'a>, S, R, Y>, at: Src) -> Option<Acc<X<'a>, (S, Batched<Y>)>> {
        let Trips::Times(n, _) = &l.trips else { return None };
        if *l.init.ty().raw() != RawTy::Unit {
            return None;
        }
        let lanes = self.try_lanes(n, l).map_err(|stuck| {
            let place = at.map_or_else(String::new, |at| format!(" at {at}"));
            crate::print::dump_with("batch", || format!("`{}`{place} stays a loop: {stuck}", l.user));
        });
        lanes.ok()
    }

    fn try_lanes<S, R, Y>(
        &self,
        n: &Exp<HNil, X<'a>, i64>,
        l: &ALoop<X<'a>, S, R, Y>,
    ) -> Result<Acc<X<'a>, (S, Batched<Y>)>, Stuck> {
        // The state and the rows; the first component of this variable is shared.
        let both = Acc::pair(&l.init, &l.xs);
        let level = self.arrays.size().get();
        let mut entries: Vec<_> = (0..level).map(|level| Entry { level, form: Form::Shared }).collect();
        entries.push(Entry { level, form: Form::pair(Form::Shared, Form::Lanes) });
        let entries = RefCell::new(entries);
        let around = Scope { arrays: self.arrays, n, entries: &entries };
        around
            .bind(&both, |s, both| {
                fresh3(|m, v, k| {
                    let (made, form) = arrays::batch(&l.body, s, m)?;
                    let TyView::Pair(_, _, q) = made.ty().view(v) else { return Err(Stuck::broken("a pair")) };
                    let (list, _) = s.lift(&made.cast(q).snd(), &form.second(), k)?;
                    let q = list.ty().same(&batched_ty(&l.entry())).ok_or_else(|| Stuck::broken("a list"))?;
                    Ok((Acc::pair(&Acc::var(&both).fst(), &list.cast(q)), ()))
                })
            })
            .map(|(both, ())| both)
    }
}

struct Inside<'l, 's, 'a>(&'l Loops<'s, 'a>);
impl<'a> AccMap<X<'a>, X<'a>> for Inside<'_, '_, 'a> {
    fn exp<E, T>(&mut self, e: &Exp<E, X<'a>, T>) -> Exp<E, X<'a>, T> {
        e.clone()
    }
    fn acc<T>(&mut self, a: &Acc<X<'a>, T>) -> Acc<X<'a>, T> {
        self.0.without(a)
    }
}
