//! Array computations to statements.

use super::delayed::{Delayed, compose, index_types};
use super::scalar::{ArrayEnv, Scalars};
use crate::kernel::builder::Builder;
use crate::kernel::{ArrayId, ArrayInfo, Block, Code, Instr, Known, Op, Program, Rows, Site, SiteId, Stmt};
use crate::optimize::work;
use accel_core::ast::*;
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::tree::Tree;
use accel_core::repr::{Agreement, ArrayTuple, RawTy};
use frunk::{HCons, HNil};

/// Translates a program.
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

/// The program so far, and the blocks that are being filled, the innermost last.
struct Lower {
    program: Program,
    open: Vec<Block>,
}

impl Lower {
    fn array(&mut self, info: ArrayInfo) -> ArrayId {
        self.program.arrays.push(info);
        self.program.arrays.len() - 1
    }
    /// New arrays for all leaves of a type.
    fn arrays_of(&mut self, t: &RawTy) -> Tree<ArrayId> {
        let mut infos = vec![];
        array_leaves(t, &mut infos);
        let mut infos = infos.into_iter();
        Tree::of(t, &mut || self.array(infos.next().expect("as many arrays as the type has")))
    }
    fn site(&mut self, name: &'static str, at: Src) -> SiteId {
        self.program.sites.push(Site { name, at, proved: false });
        self.program.sites.len() - 1
    }
    fn stmt(&mut self, op: Op, site: SiteId) {
        self.open.last_mut().expect("a block is open").stmts.push(Stmt { op, site })
    }
    fn scalars<'s, A>(&'s mut self, env: &'s ArrayEnv<A>) -> Scalars<'s, A> {
        Scalars { arrays: env, sites: &mut self.program.sites }
    }

    /// Adds the statements of a computation; gives the arrays of its result.
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
            AccView::Op(op) => {
                let site = self.site(op.name(), a.at());
                self.op(&op, a.ty(), env, site)
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

    /// A computation in a block of its own.
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
        let (cond, go_on) = self.block(&w.cond, &inner);
        let body = self.block(&w.body, &inner);
        let site = self.site("awhile", at);
        self.stmt(Op::While { to: state.leaves(), init, cond: (cond, go_on[0]), body }, site);
        state
    }

    /// A single array that need not be in memory.
    fn delayed<A, Sh, T>(&mut self, a: &Acc<A, Arr<Sh, T>>, env: &ArrayEnv<A>) -> Delayed {
        fresh2(|n, m| {
            let (qa, qr) = (name(n), name(m));
            deep(|| self.delayed_(&a.cast_env(qa).cast(qr), &env.cast_env(qa)))
        })
    }

    /// The argument has the type of an array.
    fn delayed_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>, env: &ArrayEnv<X<'a>>) -> Delayed {
        fresh1(|n| {
            if let AccView::Op(op) = a.view(n) {
                match op {
                    AccOp::Generate { sh, f, .. } => {
                        let extents = self.scalars(env).closed(&sh);
                        return Delayed { extents, element: self.scalars(env).fun1(&f, sh.ty()) };
                    }
                    AccOp::Map { f, a, .. } => {
                        let source = self.delayed(&a, env);
                        return source.map(&self.scalars(env).fun1(&f, &a.sh_elt().1));
                    }
                    AccOp::ZipWith { f, a, b, .. } => {
                        let (x, y) = (self.delayed(&a, env), self.delayed(&b, env));
                        return x.zip_with(y, &self.scalars(env).fun2(&f, &a.sh_elt().1, &b.sh_elt().1));
                    }
                    AccOp::Agree { agreement, user, left, right, a: source, .. } => {
                        let site = self.site(user, a.at());
                        self.agree(agreement, &left, &right, env, site);
                        return self.delayed(&source, env);
                    }
                    AccOp::Replicate { spec, slx, a, .. } => {
                        // What takes work is stored first: it would be repeated.
                        let mut source = self.delayed(&a, env);
                        if work(&source.element) > 0 {
                            let site = self.site("replicate", a.at());
                            source = self.stored(source, site);
                        }
                        return source.replicate(spec.kept(), &self.scalars(env).closed(&slx));
                    }
                    AccOp::Backpermute { sh, f, a: source, .. } => {
                        let array = self.acc(&source, env).leaf();
                        let extents = self.scalars(env).closed(&sh);
                        let from = self.scalars(env).fun1(&f, sh.ty());
                        let site = self.site("backpermute", a.at());
                        return Delayed { extents, element: compose(&self.read(array, site), from) };
                    }
                    AccOp::Slice { spec, slx, a: source, .. } => {
                        let array = self.acc(&source, env).leaf();
                        let slx = self.scalars(env).closed(&slx);
                        let site = self.site("slice", a.at());
                        return self.slice(array, spec.kept(), &slx, site);
                    }
                    _ => {}
                }
            }
            let array = self.acc(a, env).leaf();
            let site = self.site("read", a.at());
            Delayed::manifest(array, &self.program.arrays[array], site)
        })
    }

    fn agree<A, L, M>(
        &mut self,
        agreement: Agreement,
        left: &Exp<HNil, A, L>,
        right: &Exp<HNil, A, M>,
        env: &ArrayEnv<A>,
        site: SiteId,
    ) {
        let (left, right) = (self.scalars(env).closed(left), self.scalars(env).closed(right));
        self.stmt(Op::Agree { agreement, left, right }, site);
    }

    /// From an index, which is checked, to the element of an array in memory.
    fn read(&self, array: ArrayId, site: SiteId) -> Code {
        let info = &self.program.arrays[array];
        let mut b = Builder::new(&index_types(info.rank));
        let to: Vec<_> = info.columns.iter().map(|t| b.reg(*t)).collect();
        let index = b.params();
        b.emit(Instr::Read { to: to.clone(), array, index, site, inside: false });
        b.finish(to)
    }

    fn slice(&self, array: ArrayId, kept: &[bool], slx: &Code, site: SiteId) -> Delayed {
        let mut b = Builder::new(&[]);
        let dims = kept.iter().enumerate().filter(|(_, kept)| **kept);
        let extents = dims.map(|(dim, _)| b.extent(array, dim)).collect();
        let extents = b.finish(extents);
        let mut b = Builder::new(&index_types(kept.iter().filter(|kept| **kept).count()));
        let mut small = b.params().into_iter();
        let mut fixed = b.inline(slx, &[]).into_iter();
        let index: Vec<_> = kept.iter().filter_map(|kept| if *kept { small.next() } else { fixed.next() }).collect();
        let element = b.inline(&self.read(array, site), &index);
        Delayed { extents, element: b.finish(element) }
    }

    /// A delayed array, stored and read.
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
    ) -> (Code, Rows) {
        let op = self.scalars(env).fun2(f, t, t);
        let init = z.map(|z| self.scalars(env).closed(z));
        let (outer, inner) = split_extents(&d.extents);
        (outer, Rows { len: inner, element: d.element, init, known: known(&op), op })
    }

    fn op<'a, 'r>(
        &mut self,
        op: &AccOp<'_, X<'a>, X<'r>>,
        t: &Ty<X<'r>>,
        env: &ArrayEnv<X<'a>>,
        site: SiteId,
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
                self.agree(*agreement, left, right, env, site);
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
                let known = known(&comb);
                self.stmt(Op::Permute { to: to.leaf(), defaults, extents, target, element, comb, known }, site);
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
                let whole = Acc::op(op, t, self.program.sites[site].at);
                let d = self.delayed_(&whole, env);
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
        self.stmt(Op::Scan { to: to.leaf(), extents, reverse: dir == Dir::Right, rows }, site);
        to
    }
}

/// What is known of the arrays of a type, from left to right.
fn array_leaves(t: &RawTy, out: &mut Vec<ArrayInfo>) {
    match t {
        RawTy::Unit | RawTy::Scalar(_) => {}
        RawTy::Pair(p) => {
            array_leaves(&p.0, out);
            array_leaves(&p.1, out)
        }
        RawTy::Array(p) => out.push(ArrayInfo { rank: p.0.width(), columns: p.1.leaves().into_vec() }),
    }
}

/// The outer extents and the innermost one.
fn split_extents(extents: &Code) -> (Code, Code) {
    let part = |keep: &dyn Fn(&[usize]) -> Vec<usize>| {
        let mut b = Builder::new(&[]);
        let all = b.inline(extents, &[]);
        b.finish(keep(&all))
    };
    (part(&|all| all[..all.len() - 1].to_vec()), part(&|all| all[all.len() - 1..].to_vec()))
}

/// Recognises an operator by its form: a primitive function of the two parameters.
fn known(op: &Code) -> Option<Known> {
    let ([Instr::Op2(to, Op2::Num(f), x, y)], [result]) = (&op.instrs[..], &op.results[..]) else { return None };
    match (f, x, y) {
        _ if to != result || op.params != 2 => None,
        (Num2::Add, 0, 1) | (Num2::Add, 1, 0) => Some(Known::Sum),
        (Num2::Mul, 0, 1) | (Num2::Mul, 1, 0) => Some(Known::Product),
        (Num2::Min, 0, 1) => Some(Known::Min),
        (Num2::Max, 0, 1) => Some(Known::Max),
        _ => None,
    }
}
