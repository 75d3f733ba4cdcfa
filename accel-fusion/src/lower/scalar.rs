//! Lowers scalar expressions to scalar functions. Tuples dissolve into their components.

use crate::kernel::builder::Builder;
use crate::kernel::{ArrayId, IndexVec, Instr, Origin, Reg, ScalarFn, Site, SiteId};
use accel_core::ast::*;
use accel_core::repr::op::{Cmp, Num2, Op2};
use accel_core::repr::tree::Tree;
use accel_core::repr::{RawTy, Scalar, ScalarType};
use frunk::HNil;
use std::collections::HashSet;

/// The registers of the scalar variables.
type RegEnv<E> = Env<ConstF<Tree<Reg>>, E>;
/// The arrays in memory of the array variables.
pub type ArrayEnv<A> = Env<ConstF<Tree<ArrayId>>, A>;

/// Lowers scalar expressions, and records the sites of array reads.
pub struct Scalars<'s, A> {
    pub arrays: &'s ArrayEnv<A>,
    pub sites: &'s mut IndexVec<SiteId, Site>,
    /// The lists whose elements are stored from the last to the first, because a loop to the left has made them.
    pub backwards: HashSet<Reg>,
    /// The accumulators to which the code emits.
    pub sums: &'s [ArrayId],
}

impl<A> Scalars<'_, A> {
    /// Lowers an expression without free scalar variables.
    pub fn closed<R>(&mut self, e: &Exp<HNil, A, R>) -> ScalarFn {
        let mut b = Builder::new(&[]);
        let r = self.exp(&mut b, e, &RegEnv::empty());
        b.finish(r.leaves())
    }
    /// Lowers a function of one argument.
    pub fn fun1<P, R>(&mut self, f: &Fun1<A, P, R>, p: &Ty<P>) -> ScalarFn {
        let mut b = Builder::new(&p.raw().leaves());
        let mut params = b.params().into_iter();
        let env = RegEnv::empty().push(&arguments(p.raw(), &mut params), p);
        let r = self.exp(&mut b, &f.0, &env);
        b.finish(r.leaves())
    }
    /// Lowers a function of two arguments.
    pub fn fun2<P, Q, R>(&mut self, f: &Fun2<A, P, Q, R>, p: &Ty<P>, q: &Ty<Q>) -> ScalarFn {
        let mut b = Builder::new(&[p.raw().leaves(), q.raw().leaves()].concat());
        let mut params = b.params().into_iter();
        let env = RegEnv::empty().push(&arguments(p.raw(), &mut params), p);
        let env = env.push(&arguments(q.raw(), &mut params), q);
        let r = self.exp(&mut b, &f.0, &env);
        b.finish(r.leaves())
    }

    fn exp<E, T>(&mut self, b: &mut Builder, e: &Exp<E, A, T>, env: &RegEnv<E>) -> Tree<Reg> {
        fresh3(|n, m, k| {
            let (qe, qa, qt) = (name(n), name(m), name(k));
            let arrays = self.arrays.cast_env(qa);
            let backwards = std::mem::take(&mut self.backwards);
            let mut this = Scalars { arrays: &arrays, sites: self.sites, backwards, sums: self.sums };
            let result = deep(|| this.exp_(b, &e.cast_all(qe, qa, qt), &env.cast_env(qe)));
            self.backwards = this.backwards;
            result
        })
    }
}

impl<'a> Scalars<'_, X<'a>> {
    fn exp_<'e, 't>(&mut self, b: &mut Builder, e: &Exp<X<'e>, X<'a>, X<'t>>, env: &RegEnv<X<'e>>) -> Tree<Reg> {
        fresh1(|n| match e.view(n) {
            ExpView::Const(v) => {
                let mut scalars = v.scalars().iter();
                Tree::of(e.ty().raw(), &mut || b.constant(*scalars.next().expect("as many leaves as the type has")))
            }
            ExpView::Var(i) => env.get(&i),
            ExpView::Let(d, body, q) => {
                let v = self.exp(b, &d, env);
                self.exp(b, &body, &env.push(&v, d.ty()).cast_env(q.sym()))
            }
            ExpView::While(w) => self.while_(b, &w, env),
            ExpView::Loop(l) => self.loop_(b, &l, env),
            ExpView::Op(op) => self.op(b, &op, e.ty(), env),
        })
    }

    fn while_<'e, 't>(
        &mut self,
        b: &mut Builder,
        w: &WhileView<'_, X<'e>, X<'a>, X<'t>>,
        env: &RegEnv<X<'e>>,
    ) -> Tree<Reg> {
        let t = w.init.ty();
        let init = self.exp(b, &w.init, env);
        let state = registers(b, t.raw());
        let inner = env.push(&state, t).cast_env(w.eq.sym());
        let (cond, continues) = b.block(|b| self.exp(b, &w.cond, &inner).leaf());
        let (body, next) = b.block(|b| self.exp(b, &w.body, &inner).leaves());
        let pairs = state.leaves().into_iter().zip(init.leaves()).collect();
        b.emit(Instr::While { state: pairs, cond, continues, body, next, lists: vec![] });
        state
    }

    /// A loop appends to its lists in the order of its steps. If it reads a list in the other order, it counts down.
    fn loop_<'e, 't>(
        &mut self,
        b: &mut Builder,
        l: &LoopView<'_, X<'e>, X<'a>, X<'t>>,
        env: &RegEnv<X<'e>>,
    ) -> Tree<Reg> {
        let t = l.init.ty();
        let (init, xs) = (self.exp(b, &l.init, env), self.exp(b, &l.xs, env));
        let n = match &l.trips {
            ExpTrips::Times(n) => self.exp(b, n, env).leaf(),
            ExpTrips::While(_) => b.constant(Scalar::I64(0)),
        };
        let counts = matches!(l.trips, ExpTrips::Times(_));
        let (zero, one) = (b.constant(Scalar::I64(0)), b.constant(Scalar::I64(1)));
        let last = b.index_op(Num2::Sub, n, one);
        let (state, step) = (registers(b, t.raw()), b.reg(ScalarType::I64));
        let inner = env.push(&state, t).cast_env(l.below_state.sym());
        let (cond, continues) = b.block(|b| match &l.trips {
            ExpTrips::While(cond) => self.exp(b, cond, &inner).leaf(),
            ExpTrips::Times(_) => {
                let to = b.reg(ScalarType::Bool);
                b.emit(Instr::Op2(to, Op2::Cmp(Cmp::Lt), step, n));
                to
            }
        });
        let (body, (next, ys)) = b.block(|b| {
            let rest = if counts { b.index_op(Num2::Sub, last, step) } else { step };
            let mut lists = xs.leaves().into_iter();
            let types = l.row.raw().leaves();
            let mut types = types.iter();
            let row = Tree::of(l.row.raw(), &mut || {
                let (list, t) = lists.next().zip(types.next()).expect("as many lists as the row has leaves");
                let (to, same) = (b.reg(*t), self.backwards.contains(&list) == (l.dir == Dir::Right));
                b.emit(Instr::Get { to, list, at: if same { step } else { rest } });
                to
            });
            let both = self.exp(b, &l.body, &inner.push(&row, &l.row).cast_env(l.below_row.sym()));
            let mut next = both.fst().leaves();
            if counts {
                next.push(b.index_op(Num2::Add, step, one));
            }
            (next, both.snd().leaves())
        });
        let lists = registers(b, l.body.ty().parts().1.raw());
        let made: Vec<_> = lists.leaves().into_iter().zip(ys).collect();
        if l.dir == Dir::Right {
            self.backwards.extend(made.iter().map(|l| l.0));
        }
        let counter = counts.then_some((step, zero));
        let pairs = state.leaves().into_iter().zip(init.leaves()).chain(counter).collect();
        b.emit(Instr::While { state: pairs, cond, continues, body, next, lists: made });
        Tree::pair(state, lists)
    }

    fn op<'e, 't>(
        &mut self,
        b: &mut Builder,
        op: &ExpOp<'_, X<'e>, X<'a>, X<'t>>,
        t: &Ty<X<'t>>,
        env: &RegEnv<X<'e>>,
    ) -> Tree<Reg> {
        match op {
            ExpOp::Pair(x, y, _) => {
                let x = self.exp(b, x, env);
                Tree::pair(x, self.exp(b, y, env))
            }
            ExpOp::Fst(x, _) => self.exp(b, x, env).fst(),
            ExpOp::Snd(x, _) => self.exp(b, x, env).snd(),
            ExpOp::Prim1(p, x) => {
                let x = self.exp(b, x, env).leaf();
                let to = registers(b, t.raw());
                b.emit(Instr::Op1(to.leaf(), p.op(), x));
                to
            }
            ExpOp::Prim2(p, x, y) => {
                let (x, y) = (self.exp(b, x, env).leaf(), self.exp(b, y, env).leaf());
                let to = registers(b, t.raw());
                b.emit(Instr::Op2(to.leaf(), p.op(), x, y));
                to
            }
            ExpOp::Cond(c, x, y) => {
                let cond = self.exp(b, c, env).leaf();
                let to = registers(b, t.raw());
                let (then, x) = b.block(|b| self.exp(b, x, env).leaves());
                let (otherwise, y) = b.block(|b| self.exp(b, y, env).leaves());
                let merge = to.leaves().into_iter().zip(x).zip(y).map(|((r, x), y)| (r, x, y)).collect();
                b.emit(Instr::If { cond, then, otherwise, merge });
                to
            }
            ExpOp::Index(a, ix, at) => {
                let index = self.exp(b, ix, env).leaves();
                let to = registers(b, t.raw());
                let array = self.arrays.get(a).leaf();
                let site = self.sites.push(Site { name: "index", at: at.map(Origin::from), proved: false, fixed: 0 });
                b.emit(Instr::Read { to: to.leaves(), array, index, site, inside: false });
                to
            }
            ExpOp::Shape(a, _) => {
                let array = self.arrays.get(a).leaf();
                let mut dim = 0..;
                Tree::of(t.raw(), &mut || b.extent(array, dim.next().expect("endless")))
            }
            ExpOp::Emit { token, to, ix, value, at, .. } => {
                let token = self.exp(b, token, env);
                let index = self.exp(b, ix, env).leaves();
                let values = self.exp(b, value, env).leaves();
                let site = self.sites.push(Site { name: "emit", at: at.map(Origin::from), proved: false, fixed: 0 });
                b.emit(Instr::Emit { to: self.sums[to.position()], index, values, site, inside: false });
                token
            }
        }
    }
}

/// The registers of a parameter.
fn arguments(t: &RawTy, params: &mut impl Iterator<Item = Reg>) -> Tree<Reg> {
    Tree::of(t, &mut || params.next().expect("as many parameters as leaves"))
}

/// Declares new registers for all leaves of a type.
fn registers(b: &mut Builder, t: &RawTy) -> Tree<Reg> {
    let mut types = t.leaves().into_iter();
    Tree::of(t, &mut || b.reg(types.next().expect("as many leaves as the type has")))
}
