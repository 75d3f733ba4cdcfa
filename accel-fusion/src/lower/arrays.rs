//! Lowers array computations to statements.

use super::delayed::{Delayed, compose};
use super::scalar::{ArrayEnv, Scalars};
use crate::kernel::builder::{Builder, index_types};
use crate::kernel::dead_code::restricted_to;
use crate::kernel::{
    self, ArrayId, ArrayInfo, Block, Instr, Op, Origin, Program, Reduction, Reg, ScalarFn, Site, SiteId, Stmt,
};
use crate::simplify::is_only_checked;
use accel_core::ast::*;
use accel_core::repr::tree::Tree;
use accel_core::repr::{Agreement, ArrayTuple, RawTy, ScalarType};
use frunk::{HCons, HNil};
use std::collections::HashSet;

/// Lowers a program.
pub fn lower(program: &accel_core::ast::Program) -> Program {
    fresh2(|p, r| {
        let program = program.open(p, r);
        let mut l = Lower { program: Program::default(), open: vec![Block::default()] };
        let argument = l.arrays_of(program.arg.raw());
        l.program.inputs = argument.leaves();
        let env: ArrayEnv<HCons<_, HNil>> = Env::empty().push(&argument, &program.arg);
        l.program.results = l.acc(&program.body, &env).leaves();
        l.program.body = l.open.pop().unwrap_or_default();
        l.program
    })
}

/// The program so far, and the open blocks, the innermost last.
struct Lower {
    program: Program,
    open: Vec<Block>,
}

impl Lower {
    fn array(&mut self, info: ArrayInfo) -> ArrayId {
        self.program.arrays.push(info)
    }
    /// Declares new arrays for all leaves of a type.
    fn arrays_of(&mut self, t: &RawTy) -> Tree<ArrayId> {
        let mut infos = vec![];
        array_leaves(t, &mut infos);
        let mut infos = infos.into_iter();
        Tree::of(t, &mut || self.array(infos.next().expect("as many arrays as the type has")))
    }
    fn site(&mut self, name: &'static str, at: Src) -> SiteId {
        self.program.sites.push(Site { name, at: at.map(Origin::from), proved: false, fixed: 0 })
    }
    fn stmt(&mut self, op: Op, site: SiteId) {
        self.open.last_mut().expect("a block is open").stmts.push(Stmt { op, site })
    }
    fn scalars<'s, A>(&'s mut self, env: &'s ArrayEnv<A>) -> Scalars<'s, A> {
        Scalars { arrays: env, sites: &mut self.program.sites, backwards: HashSet::new(), sums: &[] }
    }

    /// Adds the statements of a computation, and returns the arrays of its result.
    fn acc<A, R>(&mut self, a: &Acc<A, R>, env: &ArrayEnv<A>) -> Tree<ArrayId> {
        fresh2(|n, m| {
            let (qa, qr) = (name(n), name(m));
            deep(|| self.acc_(&a.cast_env(qa).cast(qr), &env.cast_env(qa)))
        })
    }

    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>, env: &ArrayEnv<X<'a>>) -> Tree<ArrayId> {
        fresh1(|n| match a.view(n) {
            AccView::Use(lit) => self.literal(lit.arrays(), a.ty().raw()),
            AccView::Var(i) => env.get(&i),
            AccView::Let(b, body, q) => {
                let v = self.acc(&b, env);
                self.acc(&body, &env.push(&v, b.ty()).cast_env(q.sym()))
            }
            AccView::While(w) => self.while_(&w, env, a.at()),
            AccView::Loop(l, _) => self.loop_(&l, env, a.at()),
            AccView::Op(op) => {
                let site = self.site(op.name(), a.at());
                self.op(&op, a.ty(), env, (site, a.at()))
            }
        })
    }

    fn literal(&mut self, a: &ArrayTuple, t: &RawTy) -> Tree<ArrayId> {
        match (a, t) {
            (ArrayTuple::Pair(a), RawTy::Pair(t)) => {
                let x = self.literal(&a.0, &t.0);
                Tree::pair(x, self.literal(&a.1, &t.1))
            }
            (ArrayTuple::Array(a), _) => {
                self.program.literals.push(a.clone());
                let (literal, site) = (self.program.literals.len() - 1, self.site("use", None));
                let to = self.arrays_of(t);
                self.stmt(Op::Literal { to: to.leaf(), literal }, site);
                to
            }
            _ => Tree::Unit,
        }
    }

    /// Lowers a computation to a block of its own.
    fn block<A, R>(&mut self, a: &Acc<A, R>, env: &ArrayEnv<A>) -> (Block, Vec<ArrayId>) {
        self.open.push(Block::default());
        let results = self.acc(a, env).leaves();
        (self.open.pop().unwrap_or_default(), results)
    }

    fn while_<'a, 'r>(&mut self, w: &AWhileView<'_, X<'a>, X<'r>>, env: &ArrayEnv<X<'a>>, at: Src) -> Tree<ArrayId> {
        let t = w.init.ty();
        let init = self.acc(&w.init, env).leaves();
        let state = self.arrays_of(t.raw());
        let inner = env.push(&state, t).cast_env(w.eq.sym());
        let (cond, continues) = self.block(&w.cond, &inner);
        let body = self.block(&w.body, &inner);
        let site = self.site("awhile", at);
        let trips = kernel::Trips::While(cond, continues[0]);
        self.stmt(Op::While { to: state.leaves(), init, trips, row: None, body }, site);
        state
    }

    /// Lowers a loop with lists. If steps take rows or have a number, their rows are counted.
    fn loop_<A, S, P, Y>(&mut self, l: &ALoop<A, S, P, Y>, env: &ArrayEnv<A>, at: Src) -> Tree<ArrayId> {
        let site = self.site(l.user, at);
        let (s, x) = l.argument().parts();
        let init = self.acc(&l.init, env).leaves();
        let xs = self.acc(&l.xs, env).leaves();
        let state = self.arrays_of(s.raw());
        let lists = self.arrays_of(batched_ty(&l.entry()).raw());
        let trips = match &l.trips {
            Trips::While(cond) => {
                let (cond, continues) = self.block(cond, &env.push(&state, &s));
                kernel::Trips::While(cond, continues[0])
            }
            Trips::Times(n, dir) => {
                let (body, to) = (self.scalars(env).closed(n), self.array(number()));
                self.stmt(Op::Loop { to: vec![to], extents: ScalarFn::default(), body }, site);
                kernel::Trips::Times(to, *dir)
            }
        };
        let is_counted = matches!(trips, kernel::Trips::Times(..)) || !xs.is_empty();
        let row = is_counted.then(|| self.array(number()));

        self.open.push(Block::default());
        let mut taken = xs.into_iter();
        let x = Tree::of(x.raw(), &mut || {
            let (array, row) = (taken.next().expect("as many arrays as rows"), row.expect("loops over rows count"));
            let x = row_of(array, &self.program.arrays[array], row, site);
            self.store(x, site).leaf()
        });
        let next = self.acc(&l.body, &env.push(&Tree::pair(state.clone(), x), &l.argument()));
        let results = [next.fst().leaves(), next.snd().leaves()].concat();
        let body = (self.open.pop().unwrap_or_default(), results);
        let to = [state.leaves(), lists.leaves()].concat();
        self.stmt(Op::While { to, init, trips, row, body }, site);
        Tree::pair(state, lists)
    }

    /// Lowers a single array, which need not be stored.
    fn delayed<A, Sh, T>(&mut self, a: &Acc<A, Arr<Sh, T>>, env: &ArrayEnv<A>) -> Delayed {
        fresh2(|n, m| {
            let (qa, qr) = (name(n), name(m));
            deep(|| self.delayed_(&a.cast_env(qa).cast(qr), &env.cast_env(qa)))
        })
    }

    /// As [`delayed`](Self::delayed); `a` has an array type.
    fn delayed_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>, env: &ArrayEnv<X<'a>>) -> Delayed {
        fresh1(|n| {
            if let AccView::Op(op) = a.view(n)
                && let Some(delayed) = self.computed(&op, env, a.at())
            {
                return delayed;
            }
            let array = self.acc(a, env).leaf();
            let site = self.site("read", a.at());
            Delayed::manifest(array, &self.program.arrays[array], site)
        })
    }

    /// The result of an operation that computes each element from its index. `None` if the operation is a statement of
    /// its own; [`op`](Self::op) adds it.
    fn computed<'a, 'r>(&mut self, op: &AccOp<'_, X<'a>, X<'r>>, env: &ArrayEnv<X<'a>>, at: Src) -> Option<Delayed> {
        Some(match op {
            AccOp::Generate { sh, f, .. } => {
                let extents = self.scalars(env).closed(sh);
                Delayed { extents, element: self.scalars(env).fun1(f, sh.ty()) }
            }
            AccOp::Map { f, a, .. } => self.delayed(a, env).map(&self.scalars(env).fun1(f, &a.sh_elt().1)),
            AccOp::ZipWith { f, a, b, .. } => {
                let (x, y) = (self.delayed(a, env), self.delayed(b, env));
                x.zip_with(y, &self.scalars(env).fun2(f, &a.sh_elt().1, &b.sh_elt().1))
            }
            AccOp::Agree { agreement, user, left, right, a, .. } => {
                let site = self.site(user, at);
                self.agree(*agreement, (left, right), a.ty(), env, site);
                self.delayed(a, env)
            }
            AccOp::Replicate { spec, slx, a, .. } => {
                // An element that takes work is stored first. Otherwise every repetition would compute it again.
                let mut source = self.delayed(a, env);
                if source.element.work() > 0 {
                    let site = self.site("replicate", at);
                    source = self.stored(source, site);
                }
                source.replicate(spec.kept(), &self.scalars(env).closed(slx))
            }
            AccOp::Backpermute { sh, f, a, .. } => {
                let array = self.acc(a, env).leaf();
                let extents = self.scalars(env).closed(sh);
                let from = self.scalars(env).fun1(f, sh.ty());
                let site = self.site("backpermute", at);
                Delayed { extents, element: compose(&self.read(array, site), from) }
            }
            AccOp::Slice { spec, slx, a, .. } => {
                let array = self.acc(a, env).leaf();
                let slx = self.scalars(env).closed(slx);
                let site = self.site("slice", at);
                let fixed = spec.kept().iter().zip(0..u64::BITS).filter(|(kept, _)| !**kept);
                self.program.sites[site].fixed = fixed.map(|(_, dim)| 1 << dim).sum();
                // Reads check the index, too, but there are none if the result has no elements. Rows of loops are not checked twice.
                let is_outside = self.open.len() == 1;
                if is_outside && spec.kept().contains(&true) {
                    let right = self.extents_of(array, spec.kept(), false);
                    self.stmt(Op::Agree { agreement: Agreement::Inside, left: slx.clone(), right }, site);
                }
                self.slice(array, spec.kept(), &slx, site)
            }
            AccOp::Unit { .. }
            | AccOp::Pair { .. }
            | AccOp::Fst { .. }
            | AccOp::Snd { .. }
            | AccOp::Cond { .. }
            | AccOp::Fold { .. }
            | AccOp::Fold1 { .. }
            | AccOp::Scan { .. }
            | AccOp::Scan1 { .. }
            | AccOp::Permute { .. }
            | AccOp::Accumulate { .. }
            | AccOp::Argsort { .. }
            | AccOp::Foreign { .. }
            | AccOp::Reshape { .. } => return None,
        })
    }

    /// Adds a check on behalf of an array of type `t`.
    fn agree<A, L, M, R>(
        &mut self,
        agreement: Agreement,
        (left, right): (&Exp<HNil, A, L>, &Exp<HNil, A, M>),
        t: &Ty<R>,
        env: &ArrayEnv<A>,
        site: SiteId,
    ) {
        let (left, right) = (self.scalars(env).closed(left), self.scalars(env).closed(right));
        // If all extents are read from memory, they have no other names. So the array stays where they are used, and checks
        // them.
        let is_read = |r: &Reg| restricted_to(&left, vec![*r]).instrs.iter().any(|i| matches!(i, Instr::Read { .. }));
        if agreement == Agreement::Extents && !is_only_checked(t) && left.results.iter().all(is_read) {
            return;
        }
        self.stmt(Op::Agree { agreement, left, right }, site);
    }

    /// From an index to the element of an array in memory, with a check of the index.
    fn read(&self, array: ArrayId, site: SiteId) -> ScalarFn {
        let info = &self.program.arrays[array];
        let mut b = Builder::new(&index_types(info.rank));
        let to: Vec<_> = info.columns.iter().map(|t| b.reg(*t)).collect();
        let index = b.params();
        b.emit(Instr::Read { to: to.clone(), array, index, site, inside: false });
        b.finish(to)
    }

    /// The extents of an array in the dimensions that a slice keeps, or in the others.
    fn extents_of(&self, array: ArrayId, kept: &[bool], which: bool) -> ScalarFn {
        let mut b = Builder::new(&[]);
        let dims = kept.iter().enumerate().filter(|(_, kept)| **kept == which);
        let extents = dims.map(|(dim, _)| b.extent(array, dim)).collect();
        b.finish(extents)
    }

    fn slice(&self, array: ArrayId, kept: &[bool], slx: &ScalarFn, site: SiteId) -> Delayed {
        let extents = self.extents_of(array, kept, true);
        let mut b = Builder::new(&index_types(kept.iter().filter(|kept| **kept).count()));
        let mut small = b.params().into_iter();
        let mut fixed = b.inline(slx, &[]).into_iter();
        let index: Vec<_> = kept.iter().filter_map(|kept| if *kept { small.next() } else { fixed.next() }).collect();
        let element = b.inline(&self.read(array, site), &index);
        Delayed { extents, element: b.finish(element) }
    }

    /// Stores a delayed array; the result reads it.
    fn stored(&mut self, d: Delayed, site: SiteId) -> Delayed {
        let array = self.store(d, site).leaf();
        Delayed::manifest(array, &self.program.arrays[array], site)
    }

    /// Stores a delayed array.
    fn store(&mut self, d: Delayed, site: SiteId) -> Tree<ArrayId> {
        let to = self.array(d.info());
        self.stmt(Op::Loop { to: vec![to], extents: d.extents, body: d.element }, site);
        Tree::Leaf(to)
    }

    fn rows<A, T>(
        &mut self,
        d: Delayed,
        f: &Fun2<A, T, T, T>,
        z: Option<&Exp<HNil, A, T>>,
        t: &Ty<T>,
        env: &ArrayEnv<A>,
    ) -> (ScalarFn, Reduction) {
        let op = self.scalars(env).fun2(f, t, t);
        let init = z.map(|z| self.scalars(env).closed(z));
        let (outer, inner) = split_extents(&d.extents);
        (outer, Reduction { len: inner, element: d.element, init, monoid: op.monoid(), op })
    }

    fn op<'a, 'r>(
        &mut self,
        op: &AccOp<'_, X<'a>, X<'r>>,
        t: &Ty<X<'r>>,
        env: &ArrayEnv<X<'a>>,
        (site, at): (SiteId, Src),
    ) -> Tree<ArrayId> {
        match op {
            AccOp::Unit { .. } => Tree::Unit,
            AccOp::Pair { a, b, .. } => {
                let a = self.acc(a, env);
                Tree::pair(a, self.acc(b, env))
            }
            AccOp::Fst { a, .. } => self.acc(a, env).fst(),
            AccOp::Snd { a, .. } => self.acc(a, env).snd(),
            AccOp::Cond { cond, then, otherwise } => {
                let cond = self.scalars(env).closed(cond);
                let (then, otherwise) = (self.block(then, env), self.block(otherwise, env));
                let to = self.arrays_of(t.raw());
                self.stmt(Op::If { to: to.leaves(), cond, then, otherwise }, site);
                to
            }
            AccOp::Agree { agreement, left, right, a, .. } => {
                self.agree(*agreement, (left, right), a.ty(), env, site);
                self.acc(a, env)
            }
            AccOp::Fold { f, z, a, .. } => self.reduce(f, Some(z), a, t, env, site),
            AccOp::Fold1 { f, a, .. } => self.reduce(f, None, a, t, env, site),
            AccOp::Scan { dir, f, z, a, .. } => self.scan(*dir, f, Some(z), a, t, env, site),
            AccOp::Scan1 { dir, f, a, .. } => self.scan(*dir, f, None, a, t, env, site),
            AccOp::Permute { comb, defaults, index, a, .. } => {
                let (sh, elt) = a.sh_elt();
                let defaults = self.acc(defaults, env).leaf();
                let source = self.delayed(a, env);
                let target = self.scalars(env).fun1(index, &sh);
                let comb = self.scalars(env).fun2(comb, &elt, &elt);
                let to = self.arrays_of(t.raw());
                let (extents, element) = (source.extents, source.element);
                let monoid = comb.monoid();
                let inside = false;
                self.stmt(
                    Op::Permute { to: to.leaf(), defaults, extents, target, inside, element, comb, monoid },
                    site,
                );
                to
            }
            AccOp::Accumulate { sh, f, init, .. } => {
                let init = self.acc(init, env).leaves();
                let to = self.arrays_of(t.raw());
                let all = to.leaves();
                let (array, sums) = all.split_first().expect("an accumulation computes an array");
                let extents = self.scalars(env).closed(sh);
                let mut body = Scalars { sums, ..self.scalars(env) }.fun1(f, sh.ty());
                // The last token.
                body.results.pop();
                let sums = sums.iter().copied().zip(init).collect();
                self.stmt(Op::Accumulate { to: vec![*array], sums, extents, body }, site);
                to
            }
            AccOp::Argsort { a, .. } => {
                let keys = self.acc(a, env).leaf();
                let to = self.arrays_of(t.raw());
                self.stmt(Op::Argsort { to: to.leaves(), keys, moved: vec![None] }, site);
                to
            }
            AccOp::Foreign { f, sh, a } => {
                let from = self.acc(a, env).leaves();
                let extents = self.scalars(env).closed(sh);
                let to = self.arrays_of(t.raw());
                self.stmt(Op::Foreign { to: to.leaves(), call: f.clone(), from, extents }, site);
                to
            }
            AccOp::Reshape { sh, a, .. } => {
                let from = self.acc(a, env).leaf();
                let extents = self.scalars(env).closed(sh);
                let to = self.arrays_of(t.raw());
                self.stmt(Op::Reshape { to: to.leaf(), from, extents }, site);
                to
            }
            AccOp::Generate { .. }
            | AccOp::Map { .. }
            | AccOp::ZipWith { .. }
            | AccOp::Replicate { .. }
            | AccOp::Backpermute { .. }
            | AccOp::Slice { .. } => {
                let d = self.computed(op, env, at).expect("these operations are computed from the index");
                self.store(d, site)
            }
        }
    }

    fn reduce<A, Sh, T, R>(
        &mut self,
        f: &Fun2<A, T, T, T>,
        z: Option<&Exp<HNil, A, T>>,
        a: &Acc<A, Arr<(Sh, i64), T>>,
        t: &Ty<R>,
        env: &ArrayEnv<A>,
        site: SiteId,
    ) -> Tree<ArrayId> {
        let d = self.delayed(a, env);
        let (extents, rows) = self.rows(d, f, z, &a.sh_elt().1, env);
        let to = self.arrays_of(t.raw());
        self.stmt(Op::Reduce { to: to.leaf(), extents, rows }, site);
        to
    }

    #[allow(clippy::too_many_arguments)]
    fn scan<A, Sh, T, R>(
        &mut self,
        dir: Dir,
        f: &Fun2<A, T, T, T>,
        z: Option<&Exp<HNil, A, T>>,
        a: &Acc<A, Arr<(Sh, i64), T>>,
        t: &Ty<R>,
        env: &ArrayEnv<A>,
        site: SiteId,
    ) -> Tree<ArrayId> {
        let d = self.delayed(a, env);
        let (extents, rows) = self.rows(d, f, z, &a.sh_elt().1, env);
        let to = self.arrays_of(t.raw());
        let kept = (0..rows.op.results.len()).collect();
        self.stmt(Op::Scan { to: to.leaf(), kept, extents, reverse: dir == Dir::Right, down: false, rows }, site);
        to
    }
}

/// The description of a single integer, in an array of rank 0.
fn number() -> ArrayInfo {
    ArrayInfo { rank: 0, columns: vec![ScalarType::I64] }
}

/// The row of an array whose position is the number in the array `row`.
fn row_of(array: ArrayId, info: &ArrayInfo, row: ArrayId, site: SiteId) -> Delayed {
    let mut b = Builder::new(&[]);
    let extents = (1..info.rank).map(|dim| b.extent(array, dim)).collect();
    let extents = b.finish(extents);
    let mut b = Builder::new(&index_types(info.rank - 1));
    let position = b.reg(ScalarType::I64);
    b.emit(Instr::Read { to: vec![position], array: row, index: vec![], site, inside: true });
    let index = [&[position], &b.params()[..]].concat();
    let to: Vec<_> = info.columns.iter().map(|t| b.reg(*t)).collect();
    b.emit(Instr::Read { to: to.clone(), array, index, site, inside: false });
    Delayed { extents, element: b.finish(to) }
}

/// The descriptions of the arrays of a type, from left to right.
fn array_leaves(t: &RawTy, out: &mut Vec<ArrayInfo>) {
    match t {
        RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => {}
        RawTy::Pair(p) => {
            array_leaves(&p.0, out);
            array_leaves(&p.1, out)
        }
        RawTy::Array(p) => out.push(ArrayInfo { rank: p.0.width(), columns: p.1.leaves().into_vec() }),
    }
}

/// The outer extents, and the innermost extent.
fn split_extents(extents: &ScalarFn) -> (ScalarFn, ScalarFn) {
    let part = |keep: &dyn Fn(&[Reg]) -> Vec<Reg>| {
        let mut b = Builder::new(&[]);
        let all = b.inline(extents, &[]);
        b.finish(keep(&all))
    };
    (part(&|all| all[..all.len() - 1].to_vec()), part(&|all| all[all.len() - 1..].to_vec()))
}
