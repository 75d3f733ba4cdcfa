//! Translates scalar expressions to the scalar [`Code`] of the interpreter.

use super::code::{Code, Emit, Instr, Read, Reg};
use super::slots::Slot;
use crate::ast::{
    ConstF, Dir, Env, Exp, ExpOp, ExpTrips, ExpView, Fun1, Fun2, LoopView, Ty, WhileView, X, deep, fresh1, fresh3, name,
};
use crate::repr::op::{Cmp, Num2, Op2};
use crate::repr::tree::Tree;
use crate::repr::{RawTy, Scalar};
use frunk::HNil;

/// The registers of a variable; for a list, its number.
type Regs = Tree<Reg>;
/// The registers of all scalar variables.
type RegEnv<E> = Env<ConstF<Regs>, E>;
/// The slots of all array variables.
pub type SlotEnv<A> = Env<ConstF<Tree<Slot>>, A>;

/// Translates an expression without variables.
pub fn closed<A, R>(e: &Exp<HNil, A, R>, arrays: &SlotEnv<A>) -> Code {
    let mut f = Flatten::default();
    let result = f.exp(e, &RegEnv::empty(), arrays);
    f.finish(e.ty(), &result)
}

/// Translates a function of one argument.
pub fn fun1<A, P, R>(f: &Fun1<A, P, R>, p: &Ty<P>, arrays: &SlotEnv<A>) -> Code {
    let mut flat = Flatten::default();
    let env = RegEnv::empty().push(&flat.registers(p.raw()), p);
    let result = flat.exp(&f.0, &env, arrays);
    flat.finish(f.0.ty(), &result)
}

/// Translates a function of two arguments.
pub fn fun2<A, P, Q, R>(f: &Fun2<A, P, Q, R>, p: &Ty<P>, q: &Ty<Q>, arrays: &SlotEnv<A>) -> Code {
    let mut flat = Flatten::default();
    let env = RegEnv::empty().push(&flat.registers(p.raw()), p);
    let env = env.push(&flat.registers(q.raw()), q);
    let result = flat.exp(&f.0, &env, arrays);
    flat.finish(f.0.ty(), &result)
}

/// Code under construction.
#[derive(Default)]
struct Flatten(Code);

impl Flatten {
    fn finish<R>(self, t: &Ty<R>, result: &Regs) -> Code {
        let mut code = self.0;
        code.results = result.leaves();
        code.types.extend(t.raw().leaves());
        code
    }

    /// A new register. Its initial content matters only for constants.
    fn register(&mut self, x: Scalar) -> Reg {
        self.0.registers.push(x);
        self.0.registers.len() - 1
    }

    /// New registers for all leaves of a type, in order.
    fn registers(&mut self, t: &RawTy) -> Regs {
        Tree::of(t, &mut || self.register(Scalar::Bool(false)))
    }

    fn emit(&mut self, i: Instr) {
        self.0.instrs.push(i);
    }

    fn moves(&mut self, to: &Regs, from: &Regs) {
        for (to, from) in to.leaves().into_iter().zip(from.leaves()) {
            self.emit(Instr::Move(to, from));
        }
    }

    /// A jump whose target is set by `land`.
    fn jump(&mut self, instr: fn(Reg, usize) -> Instr, condition: Reg) -> usize {
        self.emit(instr(condition, 0));
        self.0.instrs.len() - 1
    }

    /// Makes the next instruction the target of a jump.
    fn land(&mut self, jump: usize) {
        let here = self.0.instrs.len();
        if let Instr::Jump(target) | Instr::JumpUnless(_, target) = &mut self.0.instrs[jump] {
            *target = here;
        }
    }

    /// The position of an array among the arrays that the code reads.
    fn array(&mut self, s: Slot) -> usize {
        let arrays = &mut self.0.arrays;
        arrays.iter().position(|a| *a == s).unwrap_or_else(|| {
            arrays.push(s);
            arrays.len() - 1
        })
    }

    /// Emits the code for an expression; returns the registers of the result.
    fn exp<E, A, T>(&mut self, e: &Exp<E, A, T>, env: &RegEnv<E>, arrays: &SlotEnv<A>) -> Regs {
        fresh3(|n, m, k| {
            let (qe, qa, qt) = (name(n), name(m), name(k));
            let (e, env, arrays) = (e.cast_all(qe, qa, qt), env.cast_env(qe), arrays.cast_env(qa));
            deep(|| self.exp_(&e, &env, &arrays))
        })
    }

    /// Separate from the other forms, which need much more stack than a `let`.
    fn exp_<'e, 'a, 't>(&mut self, e: &Exp<X<'e>, X<'a>, X<'t>>, env: &RegEnv<X<'e>>, arrays: &SlotEnv<X<'a>>) -> Regs {
        fresh1(|n| match e.view(n) {
            ExpView::Const(v) => {
                let mut leaves = v.scalars().iter();
                // A constant of type T has the leaves of T.
                Tree::of(e.ty().raw(), &mut || self.register(*leaves.next().expect("as many leaves as the type has")))
            }
            ExpView::Var(i) => env.get(&i),
            ExpView::Let(b, body, q) => {
                let v = self.exp(&b, env, arrays);
                self.exp(&body, &env.push(&v, b.ty()).cast_env(q.sym()), arrays)
            }
            ExpView::While(w) => self.while_(&w, env, arrays),
            ExpView::Loop(l) => self.loop_(&l, env, arrays),
            ExpView::Op(op) => self.op(&op, e.ty(), env, arrays),
        })
    }

    fn while_<'e, 'a, 't>(
        &mut self,
        w: &WhileView<'_, X<'e>, X<'a>, X<'t>>,
        env: &RegEnv<X<'e>>,
        arrays: &SlotEnv<X<'a>>,
    ) -> Regs {
        let t = w.init.ty();
        let init = self.exp(&w.init, env, arrays);
        let state = self.registers(t.raw());
        self.moves(&state, &init);
        let env = env.push(&state, t).cast_env(w.eq.sym());
        let start = self.0.instrs.len();
        let continues = self.exp(&w.cond, &env, arrays).leaf();
        let exit = self.jump(Instr::JumpUnless, continues);
        let next = self.exp(&w.body, &env, arrays);
        // Uses temporaries, since the next state may be a permutation of the current one.
        let copy = self.registers(t.raw());
        self.moves(&copy, &next);
        self.moves(&state, &copy);
        self.emit(Instr::Jump(start));
        self.land(exit);
        // If this loop is inside another one and runs again, the registers of its state are overwritten. A variable
        // that is bound to the result is then computed again as well.
        state
    }

    fn loop_<'e, 'a, 't>(
        &mut self,
        l: &LoopView<'_, X<'e>, X<'a>, X<'t>>,
        env: &RegEnv<X<'e>>,
        arrays: &SlotEnv<X<'a>>,
    ) -> Regs {
        let t = l.init.ty();
        let init = self.exp(&l.init, env, arrays);
        let xs = self.exp(&l.xs, env, arrays);
        let state = self.registers(t.raw());
        self.moves(&state, &init);
        let ys = Tree::of(l.body.ty().parts().1.raw(), &mut || {
            self.0.lists += 1;
            self.0.lists - 1
        });
        ys.leaves().into_iter().for_each(|list| self.emit(Instr::Clear(list)));
        let inner = env.push(&state, t).cast_env(l.below_state.sym());

        // The position, and what is added to it in each step.
        let at = self.register(Scalar::I64(0));
        let step = self.register(Scalar::I64(if l.dir == Dir::Left { 1 } else { -1 }));
        let zero = self.register(Scalar::I64(0));
        let end = match &l.trips {
            ExpTrips::Times(n) => self.exp(n, env, arrays).leaf(),
            ExpTrips::While(_) => zero,
        };
        match l.dir {
            Dir::Left => self.emit(Instr::Move(at, zero)),
            Dir::Right => self.emit(Instr::Op2(Op2::Num(Num2::Add), at, end, step)),
        }
        let start = self.0.instrs.len();
        let continues = match (&l.trips, l.dir) {
            (ExpTrips::While(cond), _) => self.exp(cond, &inner, arrays).leaf(),
            (ExpTrips::Times(_), Dir::Left) => self.compare(Cmp::Lt, at, end),
            (ExpTrips::Times(_), Dir::Right) => self.compare(Cmp::Ge, at, zero),
        };
        let exit = self.jump(Instr::JumpUnless, continues);
        let row = self.registers(l.row.raw());
        for (to, list) in row.leaves().into_iter().zip(xs.leaves()) {
            self.emit(Instr::Get(to, list, at));
        }
        let next = self.exp(&l.body, &inner.push(&row, &l.row).cast_env(l.below_row.sym()), arrays);
        for (list, y) in ys.leaves().into_iter().zip(next.snd().leaves()) {
            self.emit(Instr::Push(list, y));
        }
        let copy = self.registers(t.raw());
        self.moves(&copy, &next.fst());
        self.moves(&state, &copy);
        self.emit(Instr::Op2(Op2::Num(Num2::Add), at, at, step));
        self.emit(Instr::Jump(start));
        self.land(exit);
        if l.dir == Dir::Right {
            ys.leaves().into_iter().for_each(|list| self.emit(Instr::Reverse(list)));
        }
        Tree::pair(state, ys)
    }

    fn compare(&mut self, op: Cmp, a: Reg, b: Reg) -> Reg {
        let to = self.register(Scalar::Bool(false));
        self.emit(Instr::Op2(Op2::Cmp(op), to, a, b));
        to
    }

    fn op<'n, 'e, 'a, 't>(
        &mut self,
        op: &ExpOp<'n, X<'e>, X<'a>, X<'t>>,
        t: &Ty<X<'t>>,
        env: &RegEnv<X<'e>>,
        arrays: &SlotEnv<X<'a>>,
    ) -> Regs {
        match op {
            ExpOp::Pair(a, b, _) => {
                let a = self.exp(a, env, arrays);
                Tree::pair(a, self.exp(b, env, arrays))
            }
            ExpOp::Fst(a, _) => self.exp(a, env, arrays).fst(),
            ExpOp::Snd(a, _) => self.exp(a, env, arrays).snd(),
            ExpOp::Prim1(p, a) => {
                let a = self.exp(a, env, arrays).leaf();
                let to = self.registers(t.raw());
                self.emit(Instr::Op1(p.op(), to.leaf(), a));
                to
            }
            ExpOp::Prim2(p, a, b) => {
                let a = self.exp(a, env, arrays).leaf();
                let b = self.exp(b, env, arrays).leaf();
                let to = self.registers(t.raw());
                self.emit(Instr::Op2(p.op(), to.leaf(), a, b));
                to
            }
            ExpOp::Cond(c, then, otherwise) => {
                let c = self.exp(c, env, arrays).leaf();
                let to = self.registers(t.raw());
                let skip_then = self.jump(Instr::JumpUnless, c);
                let x = self.exp(then, env, arrays);
                self.moves(&to, &x);
                let skip_otherwise = self.jump(|_, target| Instr::Jump(target), c);
                self.land(skip_then);
                let x = self.exp(otherwise, env, arrays);
                self.moves(&to, &x);
                self.land(skip_otherwise);
                to
            }
            ExpOp::Index(a, ix, at) => {
                let index = self.exp(ix, env, arrays).leaves();
                let array = self.array(arrays.get(a).leaf());
                let to = self.0.registers.len();
                let element = self.registers(t.raw());
                self.emit(Instr::Read(Box::new(Read { array, index, to, at: *at })));
                element
            }
            ExpOp::Shape(a, _) => {
                let array = self.array(arrays.get(a).leaf());
                let first = self.0.registers.len();
                let shape = self.registers(t.raw());
                self.0.shapes.push((array, first));
                shape
            }
            ExpOp::Emit { token, to, ix, value, at, .. } => {
                let token = self.exp(token, env, arrays);
                let index = self.exp(ix, env, arrays).leaves();
                let values = self.exp(value, env, arrays).leaves();
                self.emit(Instr::Emit(Box::new(Emit { to: to.position(), index, values, at: *at })));
                token
            }
        }
    }
}
