//! Translates array computations to a [`Plan`] of steps, which frees each array after its last use.

use super::flatten::{SlotEnv, closed, fun1, fun2};
use super::lists::Entry;
use super::place::Place;
use super::plan::{self, Block, Op, Plan, Step};
use super::slots::Slot;
use crate::ast::{ALoop, AWhileView, Acc, AccOp, AccView, Arr, Env, Program, Trips, Ty, X, deep, fresh1, fresh2, name};
use crate::repr::tree::Tree;
use crate::repr::{ArrayTuple, RawArray, RawTy};
use frunk::{HCons, HNil};

/// The slots of a tuple of arrays.
type Arrays = Tree<Slot>;

/// Translates a program.
pub fn compile(program: &Program) -> Plan {
    fresh2(|p, r| {
        let program = program.open(p, r);
        let mut c = Compiler::default();
        c.open_block();
        let argument = c.new_slots(program.arg.raw());
        let env: SlotEnv<HCons<_, HNil>> = Env::empty().push(&argument, &program.arg);
        let result = c.acc(&program.body, &env);
        let body = c.close_block(result);
        Plan { slots: c.slots.len(), body }
    })
}

/// The blocks under construction, the innermost last, and all slots.
#[derive(Default)]
struct Compiler {
    open: Vec<OpenBlock>,
    slots: Vec<SlotInfo>,
}

#[derive(Default)]
struct OpenBlock {
    steps: Vec<Step>,
    slots: Vec<Slot>,
}

/// The lifetime of a slot: its block, as a position among the open ones, and the step of this block that uses it last
/// so far.
struct SlotInfo {
    block: usize,
    last_use: usize,
}

impl Compiler {
    fn open_block(&mut self) {
        self.open.push(OpenBlock::default());
    }

    /// Closes the innermost block. Now the last use of each of its slots is known.
    fn close_block(&mut self, result: Arrays) -> Block {
        let results = result.leaves();
        results.iter().for_each(|s| self.use_slot(*s));
        let OpenBlock { mut steps, slots } = self.open.pop().unwrap_or_default();
        let mut kept = vec![];
        for s in slots {
            // The results of the block are used after its last step.
            match steps.get_mut(self.slots[s].last_use) {
                Some(step) => step.frees.push(s),
                None => kept.push(s),
            }
        }
        Block { steps, result, kept }
    }

    /// Records that the next step uses a slot. It is the next step of the slot's own block, which may be an outer
    /// block.
    fn use_slot(&mut self, s: Slot) {
        let info = &mut self.slots[s];
        info.last_use = self.open[info.block].steps.len();
    }

    /// Adds slots to the innermost block, for all arrays of a type in order.
    fn new_slots(&mut self, t: &RawTy) -> Arrays {
        let block = self.open.len() - 1;
        let current = &mut self.open[block];
        Tree::of(t, &mut || {
            let s = self.slots.len();
            self.slots.push(SlotInfo { block, last_use: current.steps.len() });
            current.slots.push(s);
            s
        })
    }

    /// Adds a step whose result has the type `t`.
    fn step(&mut self, op: Op, t: &RawTy, place: Place) -> Arrays {
        op.uses().into_iter().for_each(|s| self.use_slot(s));
        let result = self.new_slots(t);
        let step = Step { op, to: result.leaves(), place, frees: vec![] };
        let block = self.open.len() - 1;
        self.open[block].steps.push(step);
        result
    }

    /// Adds the steps of a computation; returns the slots of its result.
    fn acc<A, R>(&mut self, a: &Acc<A, R>, env: &SlotEnv<A>) -> Arrays {
        fresh2(|n, m| {
            let (qa, qr) = (name(n), name(m));
            let (a, env) = (a.cast_env(qa).cast(qr), env.cast_env(qa));
            deep(|| self.acc_(&a, &env))
        })
    }

    /// One array, with the type of its elements.
    fn array<A, Sh, T>(&mut self, a: &Acc<A, Arr<Sh, T>>, env: &SlotEnv<A>) -> (Slot, Ty<T>) {
        (self.acc(a, env).leaf(), a.sh_elt().1.ty())
    }

    /// Translates a computation to a separate block.
    fn block<A, R>(&mut self, a: &Acc<A, R>, env: &SlotEnv<A>) -> Block {
        self.open_block();
        let result = self.acc(a, env);
        self.close_block(result)
    }

    /// Separate from the operations, which need much more stack than a `let`.
    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>, env: &SlotEnv<X<'a>>) -> Arrays {
        fresh1(|n| match a.view(n) {
            AccView::Use(arrays) => self.constant(arrays.arrays(), a.ty().raw()),
            AccView::Var(i) => env.get(&i),
            AccView::Let(b, body, q) => {
                let v = self.acc(&b, env);
                self.acc(&body, &env.push(&v, b.ty()).cast_env(q.sym()))
            }
            AccView::While(w) => self.while_(&w, env, Place { name: "awhile", at: a.at() }),
            AccView::Loop(l, _) => self.loop_(&l, env, Place { name: l.user, at: a.at() }),
            AccView::Op(op) => self.op(&op, a.ty(), env, Place { name: op.name(), at: a.at() }),
        })
    }

    fn constant(&mut self, a: &ArrayTuple, t: &RawTy) -> Arrays {
        match (a, t) {
            (ArrayTuple::Pair(a), RawTy::Pair(t)) => {
                let x = self.constant(&a.0, &t.0);
                Tree::pair(x, self.constant(&a.1, &t.1))
            }
            (ArrayTuple::Array(a), _) => {
                let a = RawArray { extents: a.extents.clone(), columns: a.columns.clone() };
                self.step(Op::Use(a), t, Place { name: "use", at: None })
            }
            _ => Tree::Unit,
        }
    }

    fn while_<'a, 'r>(&mut self, w: &AWhileView<'_, X<'a>, X<'r>>, env: &SlotEnv<X<'a>>, place: Place) -> Arrays {
        let t = w.init.ty();
        let init = self.acc(&w.init, env).leaves();
        // A separate step, so that the initial state can be freed before the loop.
        let state = self.step(Op::Copy(init), t.raw(), place);
        state.leaves().into_iter().for_each(|s| self.use_slot(s));
        let inner = env.push(&state, t).cast_env(w.eq.sym());
        let cond = self.block(&w.cond, &inner);
        let body = self.block(&w.body, &inner);
        let step = Step { op: Op::While { cond, body }, to: state.leaves(), place, frees: vec![] };
        let block = self.open.len() - 1;
        self.open[block].steps.push(step);
        state
    }

    fn loop_<A, S, P, Y>(&mut self, l: &ALoop<A, S, P, Y>, env: &SlotEnv<A>, place: Place) -> Arrays {
        let (s, x) = l.argument().parts();
        let init = self.acc(&l.init, env).leaves();
        let xs = self.acc(&l.xs, env).leaves();
        let state = self.step(Op::Copy(init), s.raw(), place);
        let rows = self.new_slots(x.raw());
        let inner = env.push(&Tree::pair(state.clone(), rows.clone()), &l.argument());
        let trips = match &l.trips {
            Trips::While(cond) => plan::Trips::While(self.block(cond, &env.push(&state, &s))),
            Trips::Times(n, dir) => plan::Trips::Times(closed(n, env), *dir),
        };
        let body = self.block(&l.body, &inner);
        let rows = xs.into_iter().zip(rows.leaves()).collect();
        let op = Op::Loop { trips, rows, body, lists: Entry::of(l.entry().raw()) };
        op.uses().into_iter().chain(state.leaves()).for_each(|s| self.use_slot(s));
        let lists = self.new_slots(l.entry().raw());
        let step = Step { op, to: [state.leaves(), lists.leaves()].concat(), place, frees: vec![] };
        let block = self.open.len() - 1;
        self.open[block].steps.push(step);
        Tree::pair(state, lists)
    }

    fn op<'n, 'a, 'r>(
        &mut self,
        op: &AccOp<'n, X<'a>, X<'r>>,
        t: &Ty<X<'r>>,
        env: &SlotEnv<X<'a>>,
        place: Place,
    ) -> Arrays {
        let op = match op {
            AccOp::Unit { .. } => return Tree::Unit,
            AccOp::Pair { a, b, .. } => {
                let a = self.acc(a, env);
                return Tree::pair(a, self.acc(b, env));
            }
            AccOp::Fst { a, .. } => return self.acc(a, env).fst(),
            AccOp::Snd { a, .. } => return self.acc(a, env).snd(),
            AccOp::Cond { cond, then, otherwise } => {
                let cond = closed(cond, env);
                let then = self.block(then, env);
                Op::Cond { cond, then, otherwise: self.block(otherwise, env) }
            }
            AccOp::Generate { sh, f, .. } => Op::Generate { sh: closed(sh, env), f: fun1(f, sh.ty(), env) },
            AccOp::Accumulate { sh, f, init, .. } => {
                let init = self.acc(init, env).leaves();
                Op::Accumulate { sh: closed(sh, env), f: fun1(f, sh.ty(), env), init }
            }
            AccOp::Map { f, a, .. } => {
                let (a, t) = self.array(a, env);
                Op::Map { f: fun1(f, &t, env), a }
            }
            AccOp::Agree { agreement, left, right, a, .. } => {
                let (a, _) = self.array(a, env);
                Op::Agree { agreement: *agreement, left: closed(left, env), right: closed(right, env), a }
            }
            AccOp::ZipWith { f, a, b, .. } => {
                let (a, ta) = self.array(a, env);
                let (b, tb) = self.array(b, env);
                Op::ZipWith { f: fun2(f, &ta, &tb, env), a, b }
            }
            AccOp::Fold { f, z, a, .. } => {
                let (a, t) = self.array(a, env);
                Op::Fold { f: fun2(f, &t, &t, env), z: Some(closed(z, env)), a }
            }
            AccOp::Fold1 { f, a, .. } => {
                let (a, t) = self.array(a, env);
                Op::Fold { f: fun2(f, &t, &t, env), z: None, a }
            }
            AccOp::Scan { dir, f, z, a, .. } => {
                let (a, t) = self.array(a, env);
                Op::Scan { dir: *dir, f: fun2(f, &t, &t, env), z: Some(closed(z, env)), a }
            }
            AccOp::Scan1 { dir, f, a, .. } => {
                let (a, t) = self.array(a, env);
                Op::Scan { dir: *dir, f: fun2(f, &t, &t, env), z: None, a }
            }
            AccOp::Permute { comb, defaults, index, a, .. } => {
                let (defaults, t) = self.array(defaults, env);
                let sh = a.sh_elt().0;
                let (a, _) = self.array(a, env);
                Op::Permute { comb: fun2(comb, &t, &t, env), defaults, index: fun1(index, &sh, env), a }
            }
            AccOp::Backpermute { sh, f, a, .. } => {
                let (a, _) = self.array(a, env);
                Op::Backpermute { sh: closed(sh, env), f: fun1(f, sh.ty(), env), a }
            }
            AccOp::Argsort { a, .. } => {
                let (a, _) = self.array(a, env);
                Op::Argsort { a }
            }
            AccOp::Foreign { f, sh, a } => {
                let a = self.acc(a, env).leaves();
                Op::Foreign { call: f.clone(), sh: closed(sh, env), a, results: t.raw().arrays() }
            }
            AccOp::Reshape { sh, a, .. } => {
                let (a, _) = self.array(a, env);
                Op::Reshape { sh: closed(sh, env), a }
            }
            AccOp::Replicate { spec, slx, a, .. } => {
                let (a, _) = self.array(a, env);
                Op::Replicate { kept: spec.kept().to_vec(), slx: closed(slx, env), a }
            }
            AccOp::Slice { spec, slx, a, .. } => {
                let (a, _) = self.array(a, env);
                Op::Slice { kept: spec.kept().to_vec(), slx: closed(slx, env), a }
            }
        };
        self.step(op, t.raw(), place)
    }
}
