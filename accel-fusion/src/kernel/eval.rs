//! A sequential evaluator of kernel programs: a second test oracle beside the interpreter of the typed tree.
//!
//! It visits all elements one after the other, in row-major order, and each row from its first element (for reverse
//! scans from its last one). It checks what the interpreter checks, with the same errors. A read that is marked
//! `inside` but is out of bounds is an internal error.

use super::ids::{ArrayId, SiteId};
use super::ir::*;
use super::last_uses::{LastUses, last_uses};
use super::lists::List;
use super::scalar_evaluation::{
    self, ScalarEvaluator, Store, check_size, int, no_element, offset, out_of_bounds, position, truth,
};
use super::tape::{Budget, Found, Limit, StateSize, Tape};
use super::verify::{Verified, verify};
use accel_core::ast::{Dir, deep};
use accel_core::error::{Error, Result};
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{ArrayTuple, Call, Column, RawArray, RawExtents, Scalar, ScalarType, View};
use index_vec::{IndexVec, index_vec};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Checks and runs a program; returns its results, from left to right.
///
/// # Errors
/// `Error::Type` if the argument does not fit the program; the errors of run time: indices, extents, division by zero;
/// `Error::Internal` if the program is not well formed.
pub fn evaluate(p: &Program, argument: &ArrayTuple) -> Result<Vec<RawArray>> {
    verify(p)?;
    run(p, argument, &Cell::new(Some(u64::MAX)), Budget::new(Budget::from_env()?), &ElementByElement)
}

/// The arrays of a program that were computed so far.
pub type Arrays = IndexVec<ArrayId, Option<RawArray>>;

/// A faster way to execute statements.
pub trait Executor {
    /// The arrays that the statement defines. `None` if there is no faster way, or if a check fails: then the evaluator
    /// executes the statement element by element. So it finds the same error as without an executor.
    fn execute(&self, program: &Program, arrays: &Arrays, statement: &Stmt) -> Option<Vec<RawArray>>;
}

/// No faster way.
struct ElementByElement;

impl Executor for ElementByElement {
    fn execute(&self, _: &Program, _: &Arrays, _: &Stmt) -> Option<Vec<RawArray>> {
        None
    }
}

impl Verified<Program> {
    /// Runs the program; returns its results, from left to right.
    ///
    /// # Errors
    /// As for [`evaluate`], except that the program is known to be well formed.
    pub fn evaluate(&self, argument: &ArrayTuple) -> Result<Vec<RawArray>> {
        self.evaluate_keeping(argument, Budget::new(Budget::from_env()?))
    }

    /// As [`Verified::evaluate`], with a budget for the states of loops: see NOTE [Kept states](super::tape).
    ///
    /// # Errors
    /// As [`Verified::evaluate`].
    pub fn evaluate_keeping(&self, argument: &ArrayTuple, budget: Budget) -> Result<Vec<RawArray>> {
        self.evaluate_with(argument, budget, &ElementByElement)
    }

    /// As [`Verified::evaluate_keeping`], where an executor takes the statements that it can execute.
    ///
    /// # Errors
    /// As [`Verified::evaluate`].
    pub fn evaluate_with(
        &self,
        argument: &ArrayTuple,
        budget: Budget,
        executor: &dyn Executor,
    ) -> Result<Vec<RawArray>> {
        run(self, argument, &Cell::new(Some(u64::MAX)), budget, executor)
    }

    /// As [`Verified::evaluate`], but returns `None` if the run takes more than `steps` steps. Each executed
    /// instruction, each call of a scalar function, each visited index and each array element that is made or copied is
    /// one step. So the run of an unknown program ends soon, and needs memory for at most `steps` elements.
    ///
    /// # Errors
    /// As [`Verified::evaluate`].
    pub fn evaluate_within(&self, argument: &ArrayTuple, steps: u64) -> Result<Option<Vec<RawArray>>> {
        let left = Cell::new(Some(steps));
        let found = run(self, argument, &left, Budget::Free, &ElementByElement);
        if left.get().is_none() { Ok(None) } else { found.map(Some) }
    }
}

fn wrong_argument(expected: String, argument: &ArrayTuple) -> Error {
    let arrays = argument.leaves();
    let describe = |a: &&RawArray| {
        let columns: Vec<_> = a.columns.iter().map(|c| format!("{} {}", c.len(), c.ty())).collect();
        format!("array of shape {:?} with columns of ({})", a.extents, columns.join(", "))
    };
    let found = super::print::list(&arrays, describe);
    Error::Type { op: "argument of the program".into(), expected, found: format!("({found})") }
}

/// Runs a verified program. NOTE [Verified programs] explains why array and register numbers need no check.
fn run(
    p: &Program,
    argument: &ArrayTuple,
    left: &Cell<Option<u64>>,
    budget: Budget,
    executor: &dyn Executor,
) -> Result<Vec<RawArray>> {
    let inputs = argument.leaves();
    if !p.takes(inputs.iter().map(|a| View::Array(a))) {
        let expected = super::print::list(&p.inputs, |id| p.arrays[*id].to_string());
        return Err(wrong_argument(format!("({expected})"), argument));
    }
    let limit = budget.shared(p.tapes());
    let mut e = Evaluator {
        p,
        arrays: index_vec![None; p.arrays.len()],
        left,
        limit,
        tapes: BTreeMap::new(),
        executor,
        last_uses: last_uses(p),
    };
    for (a, id) in inputs.into_iter().zip(&p.inputs) {
        check_size(|| "`argument`".into(), &a.extents)?;
        e.arrays[*id] = Some(a.clone());
    }
    e.results(&p.body, &p.results)
}

struct Evaluator<'a> {
    p: &'a Program,
    arrays: Arrays,
    executor: &'a dyn Executor,
    /// How many steps are left; `None` once the limit was exceeded. See [`Verified::evaluate_within`].
    left: &'a Cell<Option<u64>>,
    /// The room for the states of each tape, and the tapes that were filled.
    limit: Limit,
    tapes: BTreeMap<usize, Tape<Vec<RawArray>>>,
    last_uses: LastUses,
}

/// An array that was computed.
fn computed(arrays: &Arrays, a: ArrayId) -> Result<&RawArray> {
    arrays[a].as_ref().ok_or_else(|| Error::Internal(format!("a{a} is not computed yet")))
}

impl Store for Arrays {
    fn extent(&self, a: ArrayId, dim: usize) -> Result<usize> {
        Ok(computed(self, a)?.extents[dim])
    }

    fn scalar(&self, a: ArrayId, column: usize, at: usize) -> Result<Scalar> {
        computed(self, a)?.columns[column].get(at).ok_or_else(no_element)
    }
}

impl Store for Evaluator<'_> {
    fn extent(&self, a: ArrayId, dim: usize) -> Result<usize> {
        self.arrays.extent(a, dim)
    }

    fn scalar(&self, a: ArrayId, column: usize, at: usize) -> Result<Scalar> {
        self.arrays.scalar(a, column, at)
    }

    fn step(&self) -> Result<()> {
        self.steps(1)
    }
}

/// The sums of a statement, in front of the arrays that are defined before it.
struct Sums<'e, 'a> {
    names: Vec<ArrayId>,
    arrays: RefCell<Vec<RawArray>>,
    outer: &'e Evaluator<'a>,
}

impl Sums<'_, '_> {
    fn place(&self, a: ArrayId) -> Option<usize> {
        self.names.iter().position(|name| *name == a)
    }
}

impl Store for Sums<'_, '_> {
    fn extent(&self, a: ArrayId, dim: usize) -> Result<usize> {
        match self.place(a) {
            Some(k) => Ok(self.arrays.borrow()[k].extents[dim]),
            None => self.outer.extent(a, dim),
        }
    }

    fn scalar(&self, a: ArrayId, column: usize, at: usize) -> Result<Scalar> {
        self.outer.scalar(a, column, at)
    }

    fn add(&self, sum: ArrayId, at: usize, values: &[Scalar]) -> Result<()> {
        let missing = || Error::Internal(format!("a{sum} is no sum of this statement"));
        let array = &mut self.arrays.borrow_mut()[self.place(sum).ok_or_else(missing)?];
        for (column, x) in array.columns.iter_mut().zip(values) {
            let old = column.get(at).ok_or_else(no_element)?;
            set(column, at, Op2::Num(Num2::Add).eval(old, *x)?)?;
        }
        Ok(())
    }

    fn step(&self) -> Result<()> {
        self.outer.step()
    }
}

impl Evaluator<'_> {
    fn get(&self, a: ArrayId) -> Result<&RawArray> {
        computed(&self.arrays, a)
    }

    fn copy(&self, a: ArrayId) -> Result<RawArray> {
        let a = self.get(a)?;
        self.steps(a.size())?;
        Ok(a.clone())
    }

    fn get_all(&self, ids: &[ArrayId]) -> Result<Vec<RawArray>> {
        ids.iter().map(|a| self.copy(*a)).collect()
    }

    fn steps(&self, n: usize) -> Result<()> {
        let left = self.left.get().and_then(|left| left.checked_sub(n as u64));
        self.left.set(left);
        if left.is_none() { Err(Error::Internal("too many steps".into())) } else { Ok(()) }
    }

    /// Calls `f` with every position and index within the extents, in row-major order.
    fn for_each_index(&self, extents: &[usize], mut f: impl FnMut(usize, &[Scalar]) -> Result<()>) -> Result<()> {
        let size = extents.iter().product();
        let mut index = vec![0; extents.len()];
        for i in 0..size {
            self.step()?;
            let scalars: Vec<Scalar> = index.iter().map(|i| position(*i)).collect();
            f(i, &scalars)?;
            for (k, extent) in index.iter_mut().zip(extents).rev() {
                *k += 1;
                if *k < *extent {
                    break;
                }
                *k = 0;
            }
        }
        Ok(())
    }

    fn put(&mut self, to: &[ArrayId], arrays: Vec<RawArray>) {
        to.iter().zip(arrays).for_each(|(to, a)| self.arrays[*to] = Some(a));
    }

    fn block(&mut self, b: &Block) -> Result<()> {
        let Some(last_uses) = self.last_uses.get(&std::ptr::from_ref(b)).cloned() else {
            return Err(Error::Internal("a block that is no part of the program".into()));
        };
        for (s, dead) in b.stmts.iter().zip(&*last_uses) {
            deep(|| self.stmt(s))?;
            dead.iter().for_each(|a| self.arrays[*a] = None);
        }
        Ok(())
    }

    /// Executes an inner block and returns its results.
    fn results(&mut self, b: &Block, results: &[ArrayId]) -> Result<Vec<RawArray>> {
        self.block(b)?;
        self.get_all(results)
    }

    fn machine<'e>(&'e self, c: &'e ScalarFn, site: SiteId) -> ScalarEvaluator<'e, Self> {
        ScalarEvaluator::new(self.p, self, c, site)
    }

    /// Evaluates a scalar function without parameters.
    fn value(&self, c: &ScalarFn, site: SiteId) -> Result<Vec<Scalar>> {
        scalar_evaluation::values(self.p, self, c, site)
    }

    fn extents(&self, c: &ScalarFn, site: SiteId) -> Result<Vec<usize>> {
        scalar_evaluation::extents(self.p, self, c, site)
    }

    fn output(&self, extents: &[usize], columns: &[ScalarType], site: SiteId) -> Result<RawArray> {
        let place = || self.p.sites[site].to_string();
        let n = check_size(place, extents)?;
        self.steps(n)?;
        let columns = columns.iter().map(|t| Column::zeros(*t, n)).collect::<Option<_>>();
        let columns = columns.ok_or_else(|| Error::Memory { op: place(), shape: extents.to_vec() })?;
        Ok(RawArray { extents: extents.into(), columns })
    }

    fn stmt(&mut self, s: &Stmt) -> Result<()> {
        let site = s.site;
        if let Some(arrays) = self.executor.execute(self.p, &self.arrays, s) {
            self.put(&s.op.defines(), arrays);
            return Ok(());
        }
        let arrays = match &s.op {
            Op::Literal { literal, .. } => {
                let a = &self.p.literals[*literal];
                self.steps(check_size(|| self.p.sites[site].to_string(), &a.extents)?)?;
                vec![a.clone()]
            }
            Op::Loop { to, extents, body } => self.loop_(to, extents, body, site)?,
            Op::Accumulate { to, sums, extents, body } => self.accumulate(to, sums, extents, body, site)?,
            Op::Reduce { to, extents, rows } => vec![self.reduce(*to, extents, rows, site)?],
            Op::Scan { to, kept, extents, reverse, down, rows } => {
                vec![self.scan((*to, kept), extents, (*reverse, *down), rows, site)?]
            }
            Op::Permute { defaults, extents, target, inside, element, comb, .. } => {
                let permuted = self.permute(*defaults, extents, [target, element, comb], site);
                let is_outside = |e: &Error| *inside && matches!(e, Error::OutOfBounds { .. });
                vec![permuted.map_err(|e| if is_outside(&e) { scalar_evaluation::failed_proof(&e) } else { e })?]
            }
            Op::Argsort { keys, moved, .. } => self.argsort(*keys, moved, site)?,
            Op::Foreign { to, call, from, extents } => self.foreign(to, call, from, extents, site)?,
            Op::Reshape { from, extents, .. } => vec![self.reshape(*from, extents, site)?],
            Op::Agree { agreement, left, right } => {
                scalar_evaluation::check_agreement(self.p, self, *agreement, [left, right], site)?;
                vec![]
            }
            Op::If { cond, then, otherwise, .. } => {
                let chosen = if truth(self.value(cond, site)?[0])? { then } else { otherwise };
                self.results(&chosen.0, &chosen.1)?
            }
            Op::Keep { tape, arrays } => {
                self.offer(*tape, arrays, site)?;
                vec![]
            }
            Op::Recall { to, tape, at, step } => self.recall(to, *tape, at, step, site)?,
            Op::Strip { to, body, .. } => self.results(body, to)?,
            Op::While { to, init, trips, row, body } => {
                return self.while_(to.split_at(init.len()), init, trips, *row, body, site);
            }
        };
        self.put(&s.op.defines(), arrays);
        Ok(())
    }

    /// Executes a loop with this state and these lists.
    fn while_(
        &mut self,
        (state, lists): (&[ArrayId], &[ArrayId]),
        init: &[ArrayId],
        trips: &Trips,
        row: Option<ArrayId>,
        body: &(Block, Vec<ArrayId>),
        site: SiteId,
    ) -> Result<()> {
        let n = match trips {
            Trips::While(..) => i64::MAX,
            Trips::Times(n, _) => int(element(self.get(*n)?, 0)?[0])?,
        };
        let first = self.get_all(init)?;
        self.put(state, first);
        let mut listed: Vec<_> = lists.iter().map(|list| List::new(&self.p.arrays[*list])).collect();
        for k in 0..n {
            self.step()?;
            if let Trips::While(cond, continues) = trips
                && !truth(element(&self.results(cond, &[*continues])?[0], 0)?[0])?
            {
                break;
            }
            if let Some(row) = row {
                let k = if trips.dir() == Dir::Left { k } else { n - 1 - k };
                self.put(&[row], vec![RawArray { extents: RawExtents::new(), columns: vec![vec![k].into()].into() }]);
            }
            let mut next = self.results(&body.0, &body.1)?;
            for (list, row) in listed.iter_mut().zip(next.drain(state.len()..)) {
                self.steps(row.size())?;
                list.push(&row, || self.p.sites[site].to_string())?;
            }
            self.put(state, next);
        }
        self.put(lists, listed.into_iter().map(|list| list.finish(trips.dir())).collect());
        Ok(())
    }

    /// Offers arrays to a tape.
    fn offer(&mut self, tape: usize, arrays: &[ArrayId], site: SiteId) -> Result<()> {
        let state = self.get_all(arrays)?;
        let tape = self.tapes.entry(tape).or_insert_with(|| Tape::new(self.limit));
        for (a, first) in state.iter().zip(tape.first().into_iter().flatten()) {
            if a.extents != first.extents {
                return Err(Error::other_row(self.p.sites[site].to_string(), &first.extents, &a.extents));
            }
        }
        let elements = state.iter().flat_map(|a| &a.columns).map(Column::bytes).sum();
        if tape.keeps_next(StateSize { elements, besides: 0 }, drop) {
            tape.keep(state);
        }
        Ok(())
    }

    /// Gets arrays back from a tape: the values for the arrays `to`.
    fn recall(
        &mut self,
        to: &[ArrayId],
        tape: usize,
        at: &ScalarFn,
        step: &(Block, Vec<ArrayId>),
        site: SiteId,
    ) -> Result<Vec<RawArray>> {
        let lost = || Error::Internal(format!("tape {tape} has no such state"));
        let [Scalar::I64(at)] = self.value(at, site)?[..] else { return Err(lost()) };
        let at = usize::try_from(at).map_err(|_| lost())?;
        let (mut k, mut state) =
            match self.tapes.get_mut(&tape).and_then(|tape| tape.back(at, drop)).ok_or_else(lost)? {
                Found::Exact(state) => (at, state),
                Found::Before(k, state) => (k, state.clone()),
            };
        while k < at {
            self.put(to, state);
            state = self.results(&step.0, &step.1)?;
            k += 1;
            let tape = self.tapes.get_mut(&tape).ok_or_else(lost)?;
            if tape.keeps(k, at) {
                tape.keep_again(k, at, state.clone());
            }
        }
        Ok(state)
    }

    fn loop_(&self, to: &[ArrayId], extents: &ScalarFn, body: &ScalarFn, site: SiteId) -> Result<Vec<RawArray>> {
        let extents = self.extents(extents, site)?;
        self.elements(to, &extents, self.machine(body, site), site)
    }

    /// The elements come in index order, and what is added to a sum in the order of execution.
    fn accumulate(
        &self,
        to: &[ArrayId],
        sums: &[(ArrayId, ArrayId)],
        extents: &ScalarFn,
        body: &ScalarFn,
        site: SiteId,
    ) -> Result<Vec<RawArray>> {
        let extents = self.extents(extents, site)?;
        let (names, initial): (Vec<_>, Vec<_>) = sums.iter().copied().unzip();
        let sums = Sums { names, arrays: RefCell::new(self.get_all(&initial)?), outer: self };
        let mut out = self.elements(to, &extents, ScalarEvaluator::new(self.p, &sums, body, site), site)?;
        out.extend(sums.arrays.into_inner());
        Ok(out)
    }

    /// The arrays `to`, whose columns `body` computes.
    fn elements<S: Store>(
        &self,
        to: &[ArrayId],
        extents: &[usize],
        mut body: ScalarEvaluator<'_, S>,
        site: SiteId,
    ) -> Result<Vec<RawArray>> {
        let infos = to.iter().map(|a| &self.p.arrays[*a]);
        let mut out = infos.map(|a| self.output(extents, &a.columns, site)).collect::<Result<Vec<_>>>()?;
        self.for_each_index(extents, |i, index| {
            let mut results = body.call(index)?.into_iter();
            out.iter_mut().flat_map(|a| &mut a.columns).zip(&mut results).try_for_each(|(c, x)| set(c, i, x))
        })?;
        Ok(out)
    }

    fn reduce(&self, to: ArrayId, extents: &ScalarFn, rows: &Reduction, site: SiteId) -> Result<RawArray> {
        let outer = self.extents(extents, site)?;
        let len = scalar_evaluation::row_length(self.p, self, rows, &outer, site)?;
        let init = rows.init.as_ref().map(|init| self.value(init, site)).transpose()?;
        if init.is_none() && len == 0 && !outer.contains(&0) {
            return Err(scalar_evaluation::empty_rows(self.p, site, &outer));
        }
        let mut out = self.output(&outer, &self.p.arrays[to].columns, site)?;
        let (mut get, mut op) = (self.machine(&rows.element, site), self.machine(&rows.op, site));
        self.for_each_index(&outer, |i, index| {
            let mut x = init.clone();
            for k in 0..len {
                let element = get.call(&[index, &[position(k)]].concat())?;
                x = Some(match x {
                    Some(x) => op.call(&[x, element].concat())?,
                    None => element,
                });
            }
            set_all(&mut out, i, x.unwrap_or_default())
        })?;
        Ok(out)
    }

    fn scan(
        &self,
        (to, kept): (ArrayId, &[usize]),
        extents: &ScalarFn,
        (reverse, down): (bool, bool),
        rows: &Reduction,
        site: SiteId,
    ) -> Result<RawArray> {
        let outer = self.extents(extents, site)?;
        let len = scalar_evaluation::row_length(self.p, self, rows, &outer, site)?;
        let init = rows.init.as_ref().map(|init| self.value(init, site)).transpose()?;
        let length = len + usize::from(init.is_some());
        let mut out = self.output(&scan_extents(&outer, length, down), &self.p.arrays[to].columns, site)?;
        if length == 0 {
            return Ok(out);
        }
        let (mut get, mut op) = (self.machine(&rows.element, site), self.machine(&rows.op, site));
        self.for_each_index(&outer, |i, index| {
            let mut x = init.clone();
            // The number of results of the row computed so far.
            let mut done = 0;
            let mut put = |x: &[Scalar]| {
                let at = if reverse { length - 1 - done } else { done };
                done += 1;
                let side = outer.last().copied().filter(|_| down).unwrap_or(1);
                let place = (i / side * length + at) * side + i % side;
                set_all(&mut out, place, kept.iter().map(|c| x[*c]).collect())
            };
            x.iter().try_for_each(|x| put(x))?;
            for k in 0..len {
                let k = if reverse { len - 1 - k } else { k };
                let element = get.call(&[index, &[position(k)]].concat())?;
                let next = match x {
                    None => element,
                    Some(x) if reverse => op.call(&[element, x].concat())?,
                    Some(x) => op.call(&[x, element].concat())?,
                };
                put(&next)?;
                x = Some(next);
            }
            Ok(())
        })?;
        Ok(out)
    }

    fn permute(&self, defaults: ArrayId, extents: &ScalarFn, codes: [&ScalarFn; 3], site: SiteId) -> Result<RawArray> {
        let extents = self.extents(extents, site)?;
        let mut out = self.copy(defaults)?;
        let [mut target, mut get, mut comb] = codes.map(|c| self.machine(c, site));
        self.for_each_index(&extents, |_, index| {
            let found = target.call(index)?;
            if !truth(found[0])? {
                return Ok(());
            }
            let Some(at) = offset(out.extents.iter().copied(), found[1..].iter().copied())? else {
                let site = &self.p.sites[site];
                return Err(out_of_bounds(site, site.to_string(), &found[1..], &out.extents));
            };
            let combined = comb.call(&[get.call(index)?, element(&out, at)?].concat())?;
            set_all(&mut out, at, combined)
        })?;
        Ok(out)
    }

    fn argsort(&self, keys: ArrayId, moved: &[Option<ArrayId>], site: SiteId) -> Result<Vec<RawArray>> {
        let keys = self.get(keys)?;
        let mut out = vec![];
        for moved in moved {
            let from = moved.map(|a| self.get(a)).transpose()?;
            if from.is_some_and(|a| a.extents != keys.extents) {
                return Err(Error::Internal("an array that moves with keys of other extents".into()));
            }
            let types = from.map_or(vec![ScalarType::I64], |a| a.columns.iter().map(Column::ty).collect());
            out.push((self.output(&keys.extents, &types, site)?, from));
        }
        let n = keys.extents.last().copied().unwrap_or_default();
        for row in (0..keys.size()).step_by(n.max(1)) {
            let row_keys: Vec<_> = (row..row + n).map(|i| element(keys, i)).collect::<Result<_>>()?;
            let mut positions: Vec<usize> = (0..n).collect();
            positions.sort_by(|i, k| row_keys[*i][0].sort_order(row_keys[*k][0]));
            for (k, i) in positions.into_iter().enumerate() {
                for (out, from) in &mut out {
                    set_all(out, row + k, from.map_or(Ok(vec![position(i)]), |a| element(a, row + i))?)?;
                }
            }
        }
        Ok(out.into_iter().map(|(out, _)| out).collect())
    }

    fn foreign(
        &self,
        to: &[ArrayId],
        call: &Call,
        from: &[ArrayId],
        extents: &ScalarFn,
        site: SiteId,
    ) -> Result<Vec<RawArray>> {
        let from = from.iter().map(|a| self.get(*a)).collect::<Result<Vec<_>>>()?;
        let shapes = scalar_evaluation::extents_of_each(self.p, self, extents, to, site)?;
        let op = || self.p.sites[site].to_string();
        shapes.iter().try_for_each(|own| self.steps(check_size(op, own)?))?;
        let columns = |a: &ArrayId| &self.p.arrays[*a].columns[..];
        let results = shapes.iter().zip(to).map(|(own, a)| (RawExtents::from_slice(own), columns(a))).collect();
        call.run(op, &from, results)
    }

    fn reshape(&self, from: ArrayId, extents: &ScalarFn, site: SiteId) -> Result<RawArray> {
        let extents = self.extents(extents, site)?;
        let from = self.copy(from)?;
        scalar_evaluation::check_reshape(self.p, site, &from.extents, &extents)?;
        Ok(RawArray { extents: extents.into(), columns: from.columns })
    }
}

/// Element `i` of an array.
fn element(a: &RawArray, i: usize) -> Result<Vec<Scalar>> {
    let x = a.columns.iter().map(|c| c.get(i)).collect::<Option<_>>();
    x.ok_or_else(no_element)
}

fn set(c: &mut Column, i: usize, x: Scalar) -> Result<()> {
    if c.set(i, x) {
        return Ok(());
    }
    Err(Error::Internal(format!("a {} for element {i} of a column of {} {}", x.ty(), c.len(), c.ty())))
}

fn set_all(a: &mut RawArray, i: usize, element: Vec<Scalar>) -> Result<()> {
    a.columns.iter_mut().zip(element).try_for_each(|(c, x)| set(c, i, x))
}
