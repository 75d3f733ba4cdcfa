//! Runs a program step by step and records the steps: conditionals are decided, loops are unrolled, tuples dissolve.

use crate::closed::Operation;
use crate::kernel::{Kernels, tuple};
use crate::rows::{joined, one_row, row};
use crate::step::{Id, Origin, Step};
use crate::steps::Steps;
use accel_core::ast::*;
use accel_core::backend::{Backend, check_argument};
use accel_core::error::{Error, Result};
use accel_core::pass::arrays_of_code;
use accel_core::repr::tree::Tree;
use accel_core::repr::{ArrayTuple, Column, RawArray, RawTy, Scalar, ScalarType};
use frunk::{HCons, HNil};
use std::collections::HashMap;

/// The steps of all array variables.
type Arrays<A> = Env<ConstF<Tree<Id>>, A>;

/// Runs a program and records the steps on which its result depends, in clusters of at most `largest` steps.
///
/// # Errors
/// An argument of another type; whatever fails in the run.
pub fn record(program: &Program, argument: &ArrayTuple, backend: &dyn Backend, largest: usize) -> Result<Steps> {
    check_argument(argument, program.arg())?;
    let mut r = Recorder { backend, kernels: Kernels::default(), steps: vec![], positions: HashMap::new() };
    let arrays = argument.leaves();
    let mut arrays = arrays.iter().enumerate();
    let types = leaves(program.arg());
    let mut types = types.iter();
    let arguments = Tree::of(program.arg(), &mut || match (arrays.next(), types.next()) {
        (Some((k, a)), Some(ty)) => r.push(Origin::Argument(k), vec![], ty, (*a).clone()),
        _ => unreachable!("the argument has the type of the program's argument"),
    });
    let result = fresh2(|p, q| {
        let p = program.open(p, q);
        let env: Arrays<HCons<_, HNil>> = Env::empty().push(&arguments, &p.arg);
        r.acc(&p.body, &env)
    })?;
    let (argument, ty) = (program.arg().clone(), program.result().clone());
    Ok(Steps::new(r.steps, &result, argument, ty, largest))
}

/// The array types of a tuple type, from left to right.
fn leaves(t: &RawTy) -> Vec<RawTy> {
    match t {
        RawTy::Pair(p) => deep(|| [leaves(&p.0), leaves(&p.1)].concat()),
        RawTy::Array(_) => vec![t.clone()],
        RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => vec![],
    }
}

struct Recorder<'b> {
    backend: &'b dyn Backend,
    kernels: Kernels,
    steps: Vec<Step>,
    /// The steps of constant positions of rows.
    positions: HashMap<i64, Id>,
}

impl Recorder<'_> {
    fn push(&mut self, origin: Origin, inputs: Vec<Id>, ty: &RawTy, value: RawArray) -> Id {
        self.steps.push(Step { origin, inputs, ty: ty.clone(), value, boundary: false });
        self.steps.len() - 1
    }

    /// Records a computation; returns the steps of its result.
    fn acc<A, R>(&mut self, a: &Acc<A, R>, env: &Arrays<A>) -> Result<Tree<Id>> {
        fresh2(|n, m| {
            let (qa, qr) = (name(n), name(m));
            let (a, env) = (a.cast_env(qa).cast(qr), env.cast_env(qa));
            deep(|| self.acc_(&a, &env))
        })
    }

    // Generic in lifetimes only, so that it is compiled once.
    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>, env: &Arrays<X<'a>>) -> Result<Tree<Id>> {
        fresh1(|n| match a.view(n) {
            AccView::Use(arrays) => Ok(self.constant(arrays.arrays(), a.ty().raw())),
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
                    self.end_of_iteration(&state);
                }
            }
            AccView::Loop(l, _) => self.loop_(&l, env, a.at()),
            AccView::Op(op) => self.op(&op, a.ty(), a.at(), env),
        })
    }

    fn constant(&mut self, a: &ArrayTuple, t: &RawTy) -> Tree<Id> {
        match (a, t) {
            (ArrayTuple::Pair(a), RawTy::Pair(t)) => deep(|| {
                let x = self.constant(&a.0, &t.0);
                Tree::pair(x, self.constant(&a.1, &t.1))
            }),
            (ArrayTuple::Array(a), _) => Tree::Leaf(self.push(Origin::Constant, vec![], t, a.clone())),
            _ => Tree::Unit,
        }
    }

    /// Marks the arrays that an iteration of a loop leaves to the next one or lists.
    fn end_of_iteration(&mut self, left: &Tree<Id>) {
        left.leaves().into_iter().for_each(|id| self.steps[id].boundary = true);
    }

    /// The value of a condition. The steps that compute it only decide which path the run takes, so they are not kept.
    fn continues<A>(&mut self, cond: &Acc<A, Arr<(), bool>>, env: &Arrays<A>) -> Result<bool> {
        let before = self.steps.len();
        let id = self.acc(cond, env)?.leaf();
        let value = scalar(&self.steps[id].value);
        self.steps.truncate(before);
        self.positions.retain(|_, id| *id < before);
        truth(value)
    }

    /// The value of an expression without scalar variables, which is not recorded.
    fn value<A, T>(&mut self, e: &Exp<HNil, A, T>, env: &Arrays<A>) -> Result<Option<Scalar>> {
        let unit = Exp::constant(&Value::unit(), &Ty::of());
        let a = Acc::generate(&ShapeTy::known(), &unit, &Fun1(e.weaken(&Thinning::from_nil())), None);
        let before = self.steps.len();
        let id = self.acc(&a, env)?.leaf();
        let value = scalar(&self.steps[id].value);
        self.steps.truncate(before);
        Ok(value)
    }

    fn loop_<A, S, P, Y>(&mut self, l: &ALoop<A, S, P, Y>, env: &Arrays<A>, at: Src) -> Result<Tree<Id>> {
        let mut state = self.acc(&l.init, env)?;
        let xs = self.acc(&l.xs, env)?.leaves();
        let (n, dir) = match &l.trips {
            Trips::While(_) => (i64::MAX, Dir::Left),
            Trips::Times(n, dir) => match self.value(n, env)? {
                Some(Scalar::I64(n)) => (n, *dir),
                _ => return Err(Error::Internal("the number of steps of a loop".into())),
            },
        };
        let rows = l.argument().parts().1;
        let mut entries: Vec<Vec<Id>> = vec![vec![]; leaves(l.entry().raw()).len()];
        for k in 0..n {
            if let Trips::While(cond) = &l.trips
                && !self.continues(cond, &env.push(&state, l.init.ty()))?
            {
                break;
            }
            let k = if dir == Dir::Left { k } else { n - 1 - k };
            let mut taken = xs.iter().map(|xs| self.row(*xs, k, l.user, at)).collect::<Result<Vec<_>>>()?.into_iter();
            let taken = Tree::of(rows.raw(), &mut || taken.next().expect("a row of each array"));
            let result = self.acc(&l.body, &env.push(&Tree::pair(state, taken), &l.argument()))?;
            self.end_of_iteration(&result);
            state = result.fst();
            for (list, entry) in entries.iter_mut().zip(result.snd().leaves()) {
                if let Some(first) = list.first() {
                    self.same_shape(*first, entry, l.user, at)?;
                }
                list.push(entry);
            }
        }
        let mut lists = vec![];
        for (mut entries, ty) in entries.into_iter().zip(leaves(l.entry().raw())) {
            if dir == Dir::Right {
                entries.reverse();
            }
            lists.push(self.list(entries, &ty)?);
        }
        let mut lists = lists.into_iter();
        let lists = Tree::of(l.entry().raw(), &mut || lists.next().expect("a list of each array"));
        Ok(Tree::pair(state, lists))
    }

    fn same_shape(&self, first: Id, other: Id, user: &'static str, at: Src) -> Result<()> {
        let (first, other) = (&self.steps[first].value.extents, &self.steps[other].value.extents);
        if first == other {
            return Ok(());
        }
        Err(Error::other_row(place(user, at), first, other))
    }

    /// Row `k` of an array.
    fn row(&mut self, xs: Id, k: i64, user: &'static str, at: Src) -> Result<Id> {
        let extent = self.steps[xs].value.extents.first().copied().unwrap_or_default();
        if usize::try_from(k).map_or(true, |k| k >= extent) {
            return Err(Error::OutOfBounds { op: place(user, at), index: vec![k], shape: vec![extent] });
        }
        let position = match self.positions.get(&k) {
            Some(id) => *id,
            None => {
                let value = RawArray { extents: [].into_iter().collect(), columns: [Column::from(vec![k])].into() };
                let ty = RawTy::array(RawTy::Unit, RawTy::Scalar(ScalarType::I64));
                let id = self.push(Origin::Constant, vec![], &ty, value);
                self.positions.insert(k, id);
                id
            }
        };
        let [xs_ty, k_ty] = [&self.steps[xs].ty, &self.steps[position].ty].map(RawTy::clone);
        fresh3(|x, y, z| {
            let (t, k) = (named(&xs_ty, x), named(&k_ty, y));
            let env = Env::empty().push(&Tree::Leaf(xs), &t).push(&Tree::Leaf(position), &k);
            Ok(self.acc(&row(&t, &k, at, z), &env)?.leaf())
        })
    }

    /// The list of entries, all of type `ty` and of one shape. It is joined in halves, so each entry is copied only
    /// logarithmically often, and all joins are steps of one kernel.
    fn list(&mut self, entries: Vec<Id>, ty: &RawTy) -> Result<Id> {
        let RawTy::Array(p) = ty else { return Err(Error::Internal("an entry without an array".into())) };
        let list_ty = RawTy::array(RawTy::shape(p.0.width() + 1), p.1.clone());
        if entries.is_empty() {
            let extents = std::iter::repeat_n(0, p.0.width() + 1).collect();
            let value = RawArray { extents, columns: RawArray::columns_for(&p.1, 0) };
            return Ok(self.push(Origin::Constant, vec![], &list_ty, value));
        }
        let mut lists = vec![];
        for entry in entries {
            lists.push(fresh2(|x, y| {
                let (t, list) = (named(ty, x), named(&list_ty, y));
                let env = Env::empty().push(&Tree::Leaf(entry), &t);
                self.acc(&one_row(&t, &list), &env)
            })?);
        }
        while lists.len() > 1 {
            let mut halved = vec![];
            for pair in lists.chunks(2) {
                halved.push(match pair {
                    [a, b] => {
                        let joined = fresh1(|x| {
                            let t = named(&list_ty, x);
                            let env = Env::empty().push(a, &t).push(b, &t);
                            self.acc(&joined(&t), &env)
                        })?;
                        self.end_of_iteration(&joined);
                        joined
                    }
                    one => one[0].clone(),
                });
            }
            lists = halved;
        }
        Ok(lists[0].leaf())
    }

    fn op<'a, 'r>(
        &mut self,
        op: &AccOp<'_, X<'a>, X<'r>>,
        ty: &Ty<X<'r>>,
        at: Src,
        env: &Arrays<X<'a>>,
    ) -> Result<Tree<Id>> {
        match op {
            AccOp::Unit { .. } => Ok(Tree::Unit),
            AccOp::Pair { a, b, .. } => {
                let a = self.acc(a, env)?;
                Ok(Tree::pair(a, self.acc(b, env)?))
            }
            AccOp::Fst { a, .. } => Ok(self.acc(a, env)?.fst()),
            AccOp::Snd { a, .. } => Ok(self.acc(a, env)?.snd()),
            AccOp::Cond { cond, then, otherwise } => {
                let value = self.value(cond, env)?;
                self.acc(if truth(value)? { then } else { otherwise }, env)
            }
            // A step for each array of the result.
            AccOp::Accumulate { .. } | AccOp::Foreign { .. } => {
                let mut paths = vec![];
                array_paths(ty.raw(), &mut vec![], &mut paths);
                let mut paths = paths.iter();
                let mut error = None;
                let parts = Tree::of(ty.raw(), &mut || {
                    let part = paths.next().expect("a path for each array");
                    self.step(op, part, ty, at, env).unwrap_or_else(|e| {
                        error.get_or_insert(e);
                        Id::default()
                    })
                });
                error.map_or(Ok(parts), Err)
            }
            AccOp::Generate { .. }
            | AccOp::Map { .. }
            | AccOp::Agree { .. }
            | AccOp::ZipWith { .. }
            | AccOp::Fold { .. }
            | AccOp::Fold1 { .. }
            | AccOp::Scan { .. }
            | AccOp::Scan1 { .. }
            | AccOp::Permute { .. }
            | AccOp::Backpermute { .. }
            | AccOp::Argsort { .. }
            | AccOp::Reshape { .. }
            | AccOp::Replicate { .. }
            | AccOp::Slice { .. } => Ok(Tree::Leaf(self.step(op, &[], ty, at, env)?)),
        }
    }

    /// Executes an operation on arrays and records it. Its inputs are its arguments and the arrays that its scalar code
    /// reads.
    fn step<'a, 'r>(
        &mut self,
        op: &AccOp<'_, X<'a>, X<'r>>,
        part: &[bool],
        ty: &Ty<X<'r>>,
        at: Src,
        env: &Arrays<X<'a>>,
    ) -> Result<Id> {
        let mut found =
            Inputs { recorder: self, env, inputs: vec![], args: vec![], arrays: HashMap::new(), error: None };
        op.visit(&mut found);
        let Inputs { inputs, args, arrays, error, .. } = found;
        error.map_or(Ok(()), Err)?;
        let types: Vec<RawTy> = inputs.iter().map(|i| self.steps[*i].ty.clone()).collect();
        let operation = Operation { op, ty, at, args: &args, part, input: &|depth| arrays[&depth] };
        let kernel = self.kernels.get(&operation, &types);
        let value = kernel.run(self.backend, &tuple(inputs.iter().map(|i| &self.steps[*i].value)))?;
        Ok(self.push(Origin::Kernel(kernel), inputs, &operation.part_ty(), value))
    }
}

/// Finds the inputs of an operation and records its arguments.
struct Inputs<'r, 'b, 'a> {
    recorder: &'r mut Recorder<'b>,
    env: &'r Arrays<X<'a>>,
    inputs: Vec<Id>,
    args: Vec<usize>,
    /// The inputs for the De Bruijn indices of array variables.
    arrays: HashMap<usize, usize>,
    error: Option<Error>,
}

impl Inputs<'_, '_, '_> {
    fn input(&mut self, id: Id) -> usize {
        self.inputs.iter().position(|i| *i == id).unwrap_or_else(|| {
            self.inputs.push(id);
            self.inputs.len() - 1
        })
    }
}

impl<'a> AccVisit<X<'a>> for Inputs<'_, '_, 'a> {
    fn exp<E, T>(&mut self, e: &Exp<E, X<'a>, T>) {
        let mut found = vec![];
        arrays_of_code(e, &mut |depth| found.push(depth));
        for depth in found {
            if !self.arrays.contains_key(&depth) {
                let level = self.env.size().get() - 1 - depth;
                let steps = fresh1(|n| self.env.variable(level, n).map(|i| self.env.get(&i)));
                // Scalar code reads only arrays.
                let input = self.input(steps.expect("the variable is in scope").leaf());
                self.arrays.insert(depth, input);
            }
        }
    }
    fn acc<T>(&mut self, a: &Acc<X<'a>, T>) {
        if self.error.is_some() {
            return;
        }
        match self.recorder.acc(a, self.env) {
            Ok(steps) => {
                for step in steps.leaves() {
                    let input = self.input(step);
                    self.args.push(input);
                }
            }
            Err(e) => self.error = Some(e),
        }
    }
}

/// The paths to the arrays of a tuple, from left to right.
fn array_paths(t: &RawTy, path: &mut Vec<bool>, out: &mut Vec<Vec<bool>>) {
    match t {
        RawTy::Pair(p) => {
            for (second, t) in [(false, &p.0), (true, &p.1)] {
                path.push(second);
                array_paths(t, path, out);
                path.pop();
            }
        }
        RawTy::Array(_) => out.push(path.clone()),
        RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => {}
    }
}

/// A type of arrays with a name.
fn named<'n>(t: &RawTy, n: Guard<'n>) -> Ty<X<'n>> {
    Ty::from_raw(t, n).expect("the type of a step is an array type")
}

/// The single element of an array.
fn scalar(a: &RawArray) -> Option<Scalar> {
    a.columns.first().and_then(|c| c.get(0))
}

fn truth(x: Option<Scalar>) -> Result<bool> {
    match x {
        Some(Scalar::Bool(b)) => Ok(b),
        _ => Err(Error::Internal("a condition without a value".into())),
    }
}

fn place(name: &'static str, at: Src) -> String {
    at.map_or_else(|| format!("`{name}`"), |at| format!("`{}` at {at}", at.name))
}
