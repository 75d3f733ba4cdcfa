//! Runs a program element by element and records the steps on floating-point numbers.

use super::code::{Arrays, Code, Values, broken, index, integer, integers, position, scalars, truth, value};
use super::tape::{Elements, Tape, Traced, Value};
use accel_core::ast::*;
use accel_core::backend::Executable;
use accel_core::error::{Error, Result};
use accel_core::interp::Interpreted;
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::tree::Tree;
use accel_core::repr::{ArrayTuple, Call, RawExtents, RawTy, Scalar};
use frunk::{HCons, HNil};

/// Runs a program and records the steps on which its result depends. The interpreter runs it first and reports what is
/// wrong with it or with its argument.
///
/// # Errors
/// Those of the interpreter.
pub fn record(program: &Program, argument: &ArrayTuple) -> Result<Tape> {
    Interpreted::new(program).run(argument)?;
    let tape = Tape { argument: program.arg().clone(), ty: program.result().clone(), ..Tape::default() };
    let mut r = Recorder { tape, arrays: vec![] };
    let leaves = argument.leaves();
    let mut leaves = leaves.iter().enumerate();
    let arguments = Tree::of(program.arg(), &mut || match leaves.next() {
        Some((k, a)) => {
            let elements = r.tape.take(k, a);
            r.tape.arguments.push(elements.clone());
            r.push(elements)
        }
        None => unreachable!("the argument has the type of the program's argument"),
    });
    let result = fresh2(|p, q| {
        let p = program.open(p, q);
        let env: Arrays<HCons<_, HNil>> = Env::empty().push(&arguments, &p.arg);
        r.acc(&p.body, &env)
    })?;
    r.tape.results = result.leaves().into_iter().map(|k| r.arrays[k].clone()).collect();
    Ok(r.tape.prune())
}

struct Recorder {
    tape: Tape,
    arrays: Vec<Elements>,
}

/// The indices of an array in row-major order.
fn indices(extents: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let size: usize = extents.iter().product();
    (0..size).map(move |mut i| {
        let mut index = vec![0; extents.len()];
        for (k, extent) in index.iter_mut().zip(extents).rev() {
            *k = i % extent;
            i /= extent;
        }
        index
    })
}

impl Recorder {
    fn push(&mut self, a: Elements) -> usize {
        self.arrays.push(a);
        self.arrays.len() - 1
    }

    /// Computes an array of type `ty` from its extents and its elements in row-major order.
    fn array(&mut self, ty: &RawTy, extents: RawExtents, leaves: Vec<Traced>) -> Tree<usize> {
        Tree::Leaf(self.push(Elements { extents, types: ty.leaves().into_vec(), leaves }))
    }

    fn acc<A, R>(&mut self, a: &Acc<A, R>, env: &Arrays<A>) -> Result<Tree<usize>> {
        fresh2(|n, m| {
            let (qa, qr) = (name(n), name(m));
            let (a, env) = (a.cast_env(qa).cast(qr), env.cast_env(qa));
            deep(|| self.acc_(&a, &env))
        })
    }

    // Generic in lifetimes only, so that it is compiled once.
    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>, env: &Arrays<X<'a>>) -> Result<Tree<usize>> {
        fresh1(|n| match a.view(n) {
            AccView::Use(arrays) => Ok(self.constant(arrays.arrays())),
            AccView::Var(i) => Ok(env.get(&i)),
            AccView::Let(b, body, q) => {
                let v = self.acc(&b, env)?;
                self.acc(&body, &env.push(&v, b.ty()).cast_env(q.sym()))
            }
            AccView::While(w) => {
                let mut state = self.acc(&w.init, env)?;
                loop {
                    let inner = env.push(&state, w.init.ty()).cast_env(w.eq.sym());
                    if !self.continues(&w.cond, &inner)? {
                        return Ok(state);
                    }
                    state = self.acc(&w.body, &inner)?;
                }
            }
            AccView::Loop(l, _) => self.loop_(&l, env),
            AccView::Op(op) => self.op(&op, (a.ty(), a.at()), env),
        })
    }

    fn constant(&mut self, a: &ArrayTuple) -> Tree<usize> {
        match a {
            ArrayTuple::Unit => Tree::Unit,
            ArrayTuple::Pair(p) => deep(|| {
                let a = self.constant(&p.0);
                Tree::pair(a, self.constant(&p.1))
            }),
            ArrayTuple::Array(a) => {
                let types: Vec<_> = a.columns.iter().map(|c| c.ty()).collect();
                let element = |i| a.columns.iter().filter_map(move |c| c.get(i)).map(Traced::constant);
                let leaves = (0..a.size()).flat_map(element).collect();
                Tree::Leaf(self.push(Elements { extents: a.extents.clone(), types, leaves }))
            }
        }
    }

    fn continues<A>(&mut self, cond: &Acc<A, Arr<(), bool>>, env: &Arrays<A>) -> Result<bool> {
        let id = self.acc(cond, env)?.leaf();
        match self.arrays[id].leaves.first() {
            Some(Traced { value: Scalar::Bool(b), .. }) => Ok(*b),
            _ => Err(broken("a condition without a value")),
        }
    }

    fn loop_<A, S, P, Y>(&mut self, l: &ALoop<A, S, P, Y>, env: &Arrays<A>) -> Result<Tree<usize>> {
        let mut state = self.acc(&l.init, env)?;
        let xs = self.acc(&l.xs, env)?.leaves();
        let (n, dir) = match &l.trips {
            Trips::While(_) => (i64::MAX, Dir::Left),
            Trips::Times(n, dir) => {
                let n = self.closed(n, env)?;
                (integer(scalars(&n)[0])?, *dir)
            }
        };
        let rows = l.argument().parts().1;
        let mut entries: Vec<Vec<Tree<usize>>> = vec![];
        for k in 0..n {
            if let Trips::While(cond) = &l.trips
                && !self.continues(cond, &env.push(&state, l.init.ty()))?
            {
                break;
            }
            let k = if dir == Dir::Left { k } else { n - 1 - k };
            let mut next = xs.iter();
            let taken = Tree::of(rows.raw(), &mut || {
                let a = self.arrays[*next.next().expect("a row of each array")].clone();
                let size = a.leaves.len() / a.extents[0];
                let leaves = a.leaves[k as usize * size..(k as usize + 1) * size].to_vec();
                self.push(Elements { extents: a.extents[1..].into(), types: a.types, leaves })
            });
            let result = self.acc(&l.body, &env.push(&Tree::pair(state, taken), &l.argument()))?;
            state = result.fst();
            entries.push(result.snd().leaves().into_iter().map(Tree::Leaf).collect());
        }
        if dir == Dir::Right {
            entries.reverse();
        }
        let mut number = 0;
        let types = array_types(l.entry().raw());
        let lists = Tree::of(l.entry().raw(), &mut || {
            let entries: Vec<usize> = entries.iter().map(|e| e[number].leaf()).collect();
            number += 1;
            self.list(&entries, &types[number - 1])
        });
        Ok(Tree::pair(state, lists))
    }

    /// The list of entries of one shape.
    fn list(&mut self, entries: &[usize], ty: &RawTy) -> usize {
        let RawTy::Array(p) = ty else { unreachable!("an entry is an array") };
        let mut extents: RawExtents = [entries.len()].into_iter().collect();
        match entries.first() {
            Some(first) => extents.extend(self.arrays[*first].extents.iter().copied()),
            None => extents.extend(std::iter::repeat_n(0, p.0.width())),
        }
        let leaves = entries.iter().flat_map(|e| self.arrays[*e].leaves.iter().copied()).collect();
        self.push(Elements { extents, types: ty.leaves().into_vec(), leaves })
    }

    /// The value of an expression without scalar variables.
    fn closed<A, T>(&mut self, e: &Exp<HNil, A, T>, env: &Arrays<A>) -> Result<Value> {
        Code::new(&mut self.tape, &self.arrays).exp(e, &Env::empty(), env)
    }

    fn shape<A, T>(&mut self, e: &Exp<HNil, A, T>, env: &Arrays<A>) -> Result<RawExtents> {
        let extents = integers(&self.closed(e, env)?)?;
        extents.into_iter().map(|n| usize::try_from(n).map_err(|_| broken("a negative extent"))).collect()
    }

    /// The results of a function of one argument.
    fn call1<A, P, T>(&mut self, f: &Fun1<A, P, T>, x: &Value, t: &Ty<P>, env: &Arrays<A>) -> Result<Value> {
        let scope: Values<HCons<P, HNil>> = Env::empty().push(x, t);
        Code::new(&mut self.tape, &self.arrays).exp(&f.0, &scope, env)
    }

    /// The leaves of the results of a function of two arguments, given by their leaves.
    fn call2<A, P, Q, T>(
        &mut self,
        f: &Fun2<A, P, Q, T>,
        (x, tx): (&[Traced], &Ty<P>),
        (y, ty): (&[Traced], &Ty<Q>),
        env: &Arrays<A>,
    ) -> Result<Vec<Traced>> {
        let x = value(tx.raw(), &mut x.iter().copied());
        let y = value(ty.raw(), &mut y.iter().copied());
        let scope: Values<HCons<Q, HCons<P, HNil>>> = Env::empty().push(&x, tx).push(&y, ty);
        Ok(scalars(&Code::new(&mut self.tape, &self.arrays).exp(&f.0, &scope, env)?))
    }

    /// The array of a computation, and the type of its elements.
    fn source<A, Sh, T>(&mut self, a: &Acc<A, Arr<Sh, T>>, env: &Arrays<A>) -> Result<(Elements, ElementTy<T>)> {
        let id = self.acc(a, env)?.leaf();
        Ok((self.arrays[id].clone(), a.sh_elt().1))
    }

    fn op<'a, 'r>(
        &mut self,
        op: &AccOp<'_, X<'a>, X<'r>>,
        (ty, at): (&Ty<X<'r>>, Src),
        env: &Arrays<X<'a>>,
    ) -> Result<Tree<usize>> {
        let mut leaves = vec![];
        let extents = match op {
            AccOp::Unit { .. } => return Ok(Tree::Unit),
            AccOp::Pair { a, b, .. } => {
                let a = self.acc(a, env)?;
                return Ok(Tree::pair(a, self.acc(b, env)?));
            }
            AccOp::Fst { a, .. } => return Ok(self.acc(a, env)?.fst()),
            AccOp::Snd { a, .. } => return Ok(self.acc(a, env)?.snd()),
            AccOp::Cond { cond, then, otherwise } => {
                let taken = if truth(&self.closed(cond, env)?)? { then } else { otherwise };
                return self.acc(taken, env);
            }
            AccOp::Agree { user, left, right, a, .. } => {
                let id = self.acc(a, env)?.leaf();
                if crate::label::is_label(left, right) {
                    self.tape.named.push((user, self.arrays[id].clone()));
                }
                return Ok(Tree::Leaf(id));
            }
            AccOp::Generate { sh, f, .. } => {
                let extents = self.shape(sh, env)?;
                for ix in indices(&extents) {
                    let ix = index(sh.ty().raw(), &ix);
                    leaves.extend(scalars(&self.call1(f, &ix, sh.ty(), env)?));
                }
                extents
            }
            AccOp::Foreign { f, sh, a } => return self.foreign(f, sh, a, (ty, at), env),
            AccOp::Accumulate { sh, f, init, .. } => return self.accumulate(sh, f, init, env),
            AccOp::Map { f, a, .. } => {
                let (a, t) = self.source(a, env)?;
                for i in 0..a.size() {
                    let x = value(t.raw(), &mut a.get(i).iter().copied());
                    leaves.extend(scalars(&self.call1(f, &x, &t, env)?));
                }
                a.extents
            }
            AccOp::ZipWith { f, a, b, .. } => {
                let ((a, ta), (b, tb)) = (self.source(a, env)?, self.source(b, env)?);
                let extents: RawExtents = a.extents.iter().zip(&b.extents).map(|(m, n)| *m.min(n)).collect();
                for ix in indices(&extents) {
                    let ix: Vec<i64> = ix.into_iter().map(|i| i as i64).collect();
                    let (i, k) = (position(&a.extents, &ix)?, position(&b.extents, &ix)?);
                    leaves.extend(self.call2(f, (a.get(i), &ta), (b.get(k), &tb), env)?);
                }
                extents
            }
            AccOp::Fold { f, z, a, .. } => {
                let z = scalars(&self.closed(z, env)?);
                let (a, t) = self.source(a, env)?;
                self.folds(f, Some(z), &a, &t, env, &mut leaves)?
            }
            AccOp::Fold1 { f, a, .. } => {
                let (a, t) = self.source(a, env)?;
                self.folds(f, None, &a, &t, env, &mut leaves)?
            }
            AccOp::Scan { dir, f, z, a, .. } => {
                let z = scalars(&self.closed(z, env)?);
                let (a, t) = self.source(a, env)?;
                self.scans(*dir, f, Some(z), &a, &t, env, &mut leaves)?
            }
            AccOp::Scan1 { dir, f, a, .. } => {
                let (a, t) = self.source(a, env)?;
                self.scans(*dir, f, None, &a, &t, env, &mut leaves)?
            }
            AccOp::Permute { comb, defaults, index: to, a, .. } => {
                let sh = a.sh_elt().0;
                let ((mut out, t), (a, _)) = (self.source(defaults, env)?, self.source(a, env)?);
                for (i, ix) in indices(&a.extents).enumerate() {
                    let target = self.call1(to, &index(sh.raw(), &ix), &sh, env)?;
                    if truth(&target.fst())? {
                        let at = position(&out.extents, &integers(&target.snd())?)?;
                        let combined = self.call2(comb, (a.get(i), &t), (out.get(at), &t), env)?;
                        out.leaves[at * combined.len()..(at + 1) * combined.len()].copy_from_slice(&combined);
                    }
                }
                leaves = out.leaves;
                out.extents
            }
            AccOp::Backpermute { sh, f, a, .. } => {
                let extents = self.shape(sh, env)?;
                let (a, _) = self.source(a, env)?;
                for ix in indices(&extents) {
                    let from = integers(&self.call1(f, &index(sh.ty().raw(), &ix), sh.ty(), env)?)?;
                    leaves.extend(a.get(position(&a.extents, &from)?));
                }
                extents
            }
            AccOp::Argsort { a, .. } => {
                let (a, _) = self.source(a, env)?;
                let n = a.extents.last().copied().unwrap_or(0);
                for row in 0..a.size().checked_div(n).unwrap_or(0) {
                    let mut positions: Vec<usize> = (0..n).collect();
                    let key = |k: usize| a.get(row * n + k)[0].value;
                    positions.sort_by(|i, k| key(*i).sort_order(key(*k)));
                    leaves.extend(positions.into_iter().map(|k| Traced::constant(Scalar::I64(k as i64))));
                }
                a.extents
            }
            AccOp::Reshape { sh, a, .. } => {
                let extents = self.shape(sh, env)?;
                leaves = self.source(a, env)?.0.leaves;
                extents
            }
            AccOp::Replicate { spec, slx, a, .. } => {
                let added = self.shape(slx, env)?;
                let (a, _) = self.source(a, env)?;
                let (mut old, mut new) = (a.extents.iter(), added.iter());
                let next = |k: &bool| if *k { old.next() } else { new.next() };
                let extents: RawExtents = spec.kept().iter().filter_map(next).copied().collect();
                for ix in indices(&extents) {
                    let kept = ix.iter().zip(spec.kept()).filter(|(_, k)| **k).map(|(i, _)| *i as i64);
                    leaves.extend(a.get(position(&a.extents, &kept.collect::<Vec<_>>())?));
                }
                extents
            }
            AccOp::Slice { spec, slx, a, .. } => {
                let fixed = self.shape(slx, env)?;
                let (a, _) = self.source(a, env)?;
                let kept = a.extents.iter().zip(spec.kept()).filter(|(_, k)| **k);
                let extents: RawExtents = kept.map(|(e, _)| *e).collect();
                for ix in indices(&extents) {
                    let (mut ix, mut fixed) = (ix.iter(), fixed.iter());
                    let from = spec.kept().iter().filter_map(|k| if *k { ix.next() } else { fixed.next() });
                    let from: Vec<i64> = from.map(|i| *i as i64).collect();
                    leaves.extend(a.get(position(&a.extents, &from)?));
                }
                extents
            }
        };
        Ok(self.array(ty.raw(), extents, leaves))
    }

    /// The results of a foreign function, which has no derivative.
    fn foreign<A, Sh, P, R>(
        &mut self,
        f: &Call,
        sh: &Exp<HNil, A, Sh>,
        a: &Acc<A, P>,
        (ty, at): (&Ty<R>, Src),
        env: &Arrays<A>,
    ) -> Result<Tree<usize>> {
        let mut extents = self.shape(sh, env)?.into_iter();
        let mut from = vec![];
        for k in self.acc(a, env)?.leaves() {
            let a = &self.arrays[k];
            if let (true, Some(at)) = (a.leaves.iter().any(|x| x.step.is_some()), at) {
                return Err(Error::NoDerivative { op: f.function.name(), at: at.at });
            }
            from.push(a.array());
        }
        let types = ty.raw().arrays();
        let to = types.iter().map(|(rank, types)| (extents.by_ref().take(*rank).collect(), &types[..])).collect();
        let results = f.run(|| f.function.name().into(), &from.iter().collect::<Vec<_>>(), to)?;
        let mut results = results.into_iter();
        Ok(Tree::of(ty.raw(), &mut || {
            let a = results.next().expect("a result for each array");
            let leaves =
                (0..a.size()).flat_map(|i| a.columns.iter().filter_map(move |c| c.get(i))).map(Traced::constant);
            let (types, leaves) = (a.columns.iter().map(|c| c.ty()).collect(), leaves.collect());
            self.push(Elements { extents: a.extents.clone(), types, leaves })
        }))
    }

    /// The array that `f` computes, and the accumulators after all that `f` emits.
    fn accumulate<A, Sh, T, R>(
        &mut self,
        sh: &Exp<HNil, A, Sh>,
        f: &Fun1<A, Sh, (T, f32)>,
        init: &Acc<A, R>,
        env: &Arrays<A>,
    ) -> Result<Tree<usize>> {
        let extents = self.shape(sh, env)?;
        let init_ty = init.ty();
        let init = self.acc(init, env)?;
        let mut sums: Vec<Elements> = init.leaves().into_iter().map(|a| self.arrays[a].clone()).collect();
        let element = f.0.ty().parts().0;
        let mut leaves = vec![];
        for ix in indices(&extents) {
            let scope: Values<HCons<Sh, HNil>> = Env::empty().push(&index(sh.ty().raw(), &ix), sh.ty());
            let mut code = Code::new(&mut self.tape, &self.arrays);
            leaves.extend(scalars(&code.exp(&f.0, &scope, env)?.fst()));
            for e in std::mem::take(&mut code.emitted) {
                let sum = sums.get_mut(e.to).ok_or_else(|| broken("an emission without an accumulator"))?;
                let at = position(&sum.extents, &e.ix)? * e.values.len();
                for (k, x) in e.values.into_iter().enumerate() {
                    sum.leaves[at + k] = self.tape.two(Op2::Num(Num2::Add), sum.leaves[at + k], x)?;
                }
            }
        }
        let array = self.push(Elements { extents, types: element.raw().leaves().into_vec(), leaves });
        let mut sums = sums.into_iter();
        let sums = Tree::of(init_ty.raw(), &mut || self.push(sums.next().expect("a sum for each accumulator")));
        Ok(Tree::pair(Tree::Leaf(array), sums))
    }

    fn folds<A, T>(
        &mut self,
        f: &Fun2<A, T, T, T>,
        z: Option<Vec<Traced>>,
        a: &Elements,
        t: &Ty<T>,
        env: &Arrays<A>,
        leaves: &mut Vec<Traced>,
    ) -> Result<RawExtents> {
        let (n, outer) = a.extents.split_last().ok_or_else(|| broken("a row of a number"))?;
        for row in 0..outer.iter().product() {
            let mut elements = row * n..(row + 1) * n;
            let mut x = match &z {
                Some(z) => z.clone(),
                None => elements.next().map(|i| a.get(i).to_vec()).ok_or_else(empty)?,
            };
            for i in elements {
                x = self.call2(f, (&x, t), (a.get(i), t), env)?;
            }
            leaves.extend(x);
        }
        Ok(outer.into())
    }

    #[allow(clippy::too_many_arguments)]
    fn scans<A, T>(
        &mut self,
        dir: Dir,
        f: &Fun2<A, T, T, T>,
        z: Option<Vec<Traced>>,
        a: &Elements,
        t: &Ty<T>,
        env: &Arrays<A>,
        leaves: &mut Vec<Traced>,
    ) -> Result<RawExtents> {
        let (n, outer) = a.extents.split_last().ok_or_else(|| broken("a row of a number"))?;
        let length = n + usize::from(z.is_some());
        for row in 0..if length == 0 { 0 } else { outer.iter().product() } {
            let mut order: Vec<usize> = (row * n..(row + 1) * n).collect();
            if dir == Dir::Right {
                order.reverse();
            }
            let mut order = order.into_iter();
            let mut all = vec![match &z {
                Some(z) => z.clone(),
                None => order.next().map(|i| a.get(i).to_vec()).ok_or_else(empty)?,
            }];
            for i in order {
                let (x, y) = (all[all.len() - 1].as_slice(), a.get(i));
                let (x, y) = if dir == Dir::Left { (x, y) } else { (y, x) };
                let next = self.call2(f, (x, t), (y, t), env)?;
                all.push(next);
            }
            if dir == Dir::Right {
                all.reverse();
            }
            leaves.extend(all.into_iter().flatten());
        }
        Ok(outer.iter().copied().chain([length]).collect())
    }
}

fn empty() -> Error {
    broken("an empty row")
}

/// The array types of a tuple type, from left to right.
fn array_types(t: &RawTy) -> Vec<RawTy> {
    match t {
        RawTy::Pair(p) => deep(|| [array_types(&p.0), array_types(&p.1)].concat()),
        RawTy::Array(_) => vec![t.clone()],
        RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => vec![],
    }
}
