//! Evaluates scalar functions, one instruction after the other, each for all lanes of a batch.
//!
//! NOTE [Masks]: where lanes take different branches, both branches are executed for all lanes, each with a mask of the
//! lanes that take it, and the results are selected. A loop is executed until no lane continues. A lane outside of the
//! mask computes something without a meaning, which no lane inside uses: it may divide by zero or read out of bounds, but
//! does not add to sums. (ISPC and compilers for graphics processors do the same.)

use super::lanes::{Form, Value, copy, gather, select, strided};
use super::memory::WIDTH;
use super::primitives::{New, combine_at, map, zip};
use super::registers::with_vectors;
use accel_core::ast::deep;
use accel_core::repr::op::{Num2, Op1, Op2};
use accel_core::repr::{Column, ColumnElt, RawArray, RawExtents, Scalar, ScalarType};
use accel_fusion::kernel::{ArrayId, Arrays, IndexVec, Instr, Program, Reg, ScalarFn, SiteId, walk};
use std::collections::{BTreeSet, HashMap};

/// What is known about the statement that is executed.
#[derive(Clone, Copy)]
pub struct Context<'e> {
    pub program: &'e Program,
    pub arrays: &'e Arrays,
    pub site: SiteId,
}

impl<'e> Context<'e> {
    pub fn array(&self, a: ArrayId) -> Option<&'e RawArray> {
        self.arrays[a].as_ref()
    }
}

/// How often an instruction is executed: it depends on what can change meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rate {
    /// Once: it depends on no parameter.
    Once,
    /// For each batch.
    Batch,
    /// For each step of a batch.
    Step,
}

/// The memory that the lists of a loop may take in a batch, in bytes. For longer ones, the elements are computed one by
/// one.
const LIST_BYTES: usize = 256 << 20;

/// The positions of lanes in an array.
enum Place {
    /// Lane `l` is at `first + l * step`.
    Ramp { first: usize, step: isize },
    /// They are in [`Machine::positions`].
    Varying,
}

/// The next value of a register of a loop's state.
enum Next {
    Form(Form),
    Lanes(Column),
}

/// Parameters that are the index of consecutive positions.
struct Consecutive {
    params: usize,
    extents: RawExtents,
    first: usize,
}

/// A scalar function with its registers.
pub struct Machine<'e> {
    context: Context<'e>,
    code: &'e ScalarFn,
    rates: Vec<Rate>,
    values: IndexVec<Reg, Value>,
    /// The lists of each lane.
    lists: HashMap<Reg, Vec<Column>>,
    /// The first execution comes next.
    is_new: bool,
    /// The number of lanes.
    n: usize,
    consecutive: Option<Consecutive>,
    positions: Vec<usize>,
    /// Copies of the results.
    collected: Vec<Value>,
    /// The sums to which the function adds.
    pub sums: Vec<(ArrayId, RawArray)>,
}

impl<'e> Machine<'e> {
    /// Prepares a scalar function. Its last `steps` parameters change with each step of a batch, the others with each
    /// batch.
    pub fn new(context: Context<'e>, code: &'e ScalarFn, steps: usize) -> Machine<'e> {
        Machine {
            context,
            code,
            rates: rates(code, steps),
            values: code.types.iter().map(|t| Value::new(*t)).collect(),
            lists: HashMap::new(),
            is_new: true,
            n: 0,
            consecutive: None,
            positions: vec![],
            collected: code.results.iter().map(|r| Value::new(code.types[*r])).collect(),
            sums: vec![],
        }
    }

    /// A good number of lanes: the values of all registers fit into a cache.
    pub fn width(&self) -> usize {
        width(self.code)
    }

    /// The parameters of the next batch are the indices of `n` positions from `first` on within these extents.
    pub fn set_index(&mut self, extents: &[usize], first: usize, n: usize) -> Option<()> {
        self.n = n;
        self.consecutive = Some(Consecutive { params: extents.len(), extents: extents.into(), first });
        let (mut inner, last) = (1, first + n - 1);
        for (dim, extent) in extents.iter().enumerate().rev() {
            let value = &mut self.values[dim];
            let (from, to) = (first / inner, last / inner);
            if from == to {
                value.set_uniform(Scalar::I64((from % extent) as i64));
            } else if inner == 1 && from / extent == to / extent {
                value.set_ramp((from % extent) as i64, 1);
            } else {
                let mut lanes = value.take(n)?;
                digits(i64::elements_mut(&mut lanes)?.get_mut(..n)?, *extent, inner, first);
                value.set(lanes);
            }
            inner *= extent;
        }
        Some(())
    }

    /// The number of lanes of the next batch, whose parameters are set by the other functions.
    pub fn set_lanes(&mut self, n: usize) {
        (self.n, self.consecutive) = (n, None);
    }

    /// A register, for writing a parameter.
    pub fn value_mut(&mut self, r: Reg) -> &mut Value {
        &mut self.values[r]
    }

    /// The results.
    pub fn results(&self) -> impl Iterator<Item = &Value> {
        self.code.results.iter().map(|r| &self.values[*r])
    }

    /// Calls `f` with each result.
    pub fn each_result(&mut self, mut f: impl FnMut(usize, &mut Value) -> Option<()>) -> Option<()> {
        let code = self.code;
        code.results.iter().enumerate().try_for_each(|(k, r)| f(k, &mut self.values[*r]))
    }

    /// The memory of the results.
    pub fn fill_results(&mut self) -> Option<()> {
        let n = self.n;
        self.each_result(|_, value| value.fill(n))
    }

    /// Calls `f` with the results, each in memory of its own.
    pub fn with_results(&mut self, f: impl FnOnce(&mut [Value]) -> Option<()>) -> Option<()> {
        self.collected
            .iter_mut()
            .zip(&self.code.results)
            .try_for_each(|(to, r)| to.copy_from(&self.values[*r], self.n))?;
        f(&mut self.collected)
    }

    /// Executes the function for a batch. `None` if a check fails, or if there is not enough memory.
    pub fn batch(&mut self) -> Option<()> {
        let from = if self.is_new { Rate::Once } else { Rate::Batch };
        self.is_new = false;
        self.from(from, None)
    }

    /// As [`batch`](Self::batch), only for the lanes where `mask` is true, which is so in one lane at least.
    pub fn batch_where(&mut self, mask: &[bool]) -> Option<()> {
        self.from(Rate::Once, Some(mask))
    }

    /// Executes the function again for the same batch, after parameters of the step have changed. `None` as for
    /// [`batch`](Self::batch).
    pub fn step(&mut self) -> Option<()> {
        self.from(Rate::Step, None)
    }

    fn from(&mut self, from: Rate, mask: Option<&[bool]>) -> Option<()> {
        let code = self.code;
        for (k, i) in code.instrs.iter().enumerate() {
            if self.rates[k] >= from {
                self.instr(i, mask)?;
            }
        }
        Some(())
    }

    fn instrs(&mut self, instrs: &'e [Instr], mask: Option<&[bool]>) -> Option<()> {
        instrs.iter().try_for_each(|i| self.instr(i, mask))
    }

    fn instr(&mut self, i: &'e Instr, mask: Option<&[bool]>) -> Option<()> {
        match i {
            Instr::Const(to, x) => self.values[*to].set_uniform(*x),
            Instr::Op1(to, op, a) => self.op1(*to, *op, *a)?,
            Instr::Op2(to, op, a, b) => self.op2(*to, *op, [*a, *b], mask)?,
            Instr::Extent(to, a, dim) => {
                let extent = *self.extents(*a)?.get(*dim)?;
                self.values[*to].set_uniform(Scalar::I64(extent as i64));
            }
            Instr::Read { to, array, index, .. } => {
                let array = self.context.array(*array)?;
                let place = self.place(&array.extents, index, mask)?;
                to.iter().zip(&array.columns).try_for_each(|(to, column)| self.read(*to, column, &place))?;
            }
            Instr::Emit { to, index, values, .. } => self.emit(*to, index, values, mask)?,
            Instr::If { cond, then, otherwise, merge } => {
                deep(|| self.branch(*cond, [then, otherwise], merge, mask))?;
            }
            Instr::While { state, cond, continues, body, next, lists } => {
                deep(|| self.repeat(state, (cond, *continues), (body, next), lists, mask))?;
            }
            Instr::Get { to, list, at } => self.get(*to, *list, *at, mask)?,
        }
        Some(())
    }

    fn op1(&mut self, to: Reg, op: Op1, a: Reg) -> Option<()> {
        if let Form::Uniform(x) = self.values[a].form() {
            self.values[to].set_uniform(op.eval(x).ok()?);
            return Some(());
        }
        let mut lanes = self.values[to].take(self.n)?;
        self.values[a].fill(self.n)?;
        map(op, self.values[a].lanes()?, &mut lanes, self.n)?;
        self.values[to].set(lanes);
        Some(())
    }

    fn op2(&mut self, to: Reg, op: Op2, [a, b]: [Reg; 2], mask: Option<&[bool]>) -> Option<()> {
        match (op, self.values[a].form(), self.values[b].form()) {
            (_, Form::Uniform(x), Form::Uniform(y)) => {
                self.values[to].set_uniform(op.eval(x, y).ok()?);
                return Some(());
            }
            (Op2::Num(op), a, b) => {
                if let Some((first, step)) = ramp(op, a, b) {
                    self.values[to].set_ramp(first, step);
                    return Some(());
                }
            }
            _ => {}
        }
        let mut lanes = self.values[to].take(self.n)?;
        self.values[a].fill(self.n)?;
        self.values[b].fill(self.n)?;
        zip(op, [self.values[a].lanes()?, self.values[b].lanes()?], &mut lanes, self.n, mask)?;
        self.values[to].set(lanes);
        Some(())
    }

    /// The extents of an array or a sum.
    fn extents(&self, a: ArrayId) -> Option<&[usize]> {
        let sum = self.sums.iter().find(|(sum, _)| *sum == a);
        Some(&sum.map_or_else(|| self.context.array(a), |(_, array)| Some(array))?.extents)
    }

    /// The positions of the lanes' indices. `None` if an index is out of bounds in a lane where `mask` is true.
    fn place(&mut self, extents: &[usize], index: &[Reg], mask: Option<&[bool]>) -> Option<Place> {
        self.ramp_of_positions(extents, index).or_else(|| {
            self.varying_positions(extents, index, mask)?;
            Some(Place::Varying)
        })
    }

    /// The dimensions from the outermost one on whose indices are the parameters of consecutive positions, and the
    /// first position.
    fn consecutive(&self, extents: &[usize], index: &[Reg]) -> (usize, usize) {
        let found = self.consecutive.as_ref().filter(|c| {
            let params = c.params;
            let is_prefix = params <= index.len() && index[..params].iter().enumerate().all(|(k, r)| *r == k);
            params > 0 && is_prefix && extents[..params] == *c.extents
        });
        found.map_or((0, 0), |c| (c.params, c.first))
    }

    /// The positions, if they are a ramp and all within bounds.
    fn ramp_of_positions(&self, extents: &[usize], index: &[Reg]) -> Option<Place> {
        let (params, first) = self.consecutive(extents, index);
        let (mut first, mut step) = (first, isize::from(params > 0 && self.n > 1));
        for (extent, r) in extents.iter().zip(index).skip(params) {
            let (from, by) = match self.values[*r].form() {
                Form::Uniform(Scalar::I64(x)) => (x, 0),
                Form::Ramp { first, step } => (first, step),
                _ => return None,
            };
            let by = if self.n == 1 { 0 } else { by };
            let last = by.checked_mul(self.n as i64 - 1)?.checked_add(from)?;
            let within = |x: i64| usize::try_from(x).ok().filter(|x| x < extent);
            within(last)?;
            first = first * extent + within(from)?;
            step = step * *extent as isize + by as isize;
        }
        Some(Place::Ramp { first, step })
    }

    /// Computes [`positions`](Self::positions). Those outside of the mask may be 0 instead.
    fn varying_positions(&mut self, extents: &[usize], index: &[Reg], mask: Option<&[bool]>) -> Option<()> {
        let (params, first) = self.consecutive(extents, index);
        let n = self.n;
        let mut positions = std::mem::take(&mut self.positions);
        positions.clear();
        match params {
            0 => positions.resize(n, 0),
            _ => positions.extend(first..first + n),
        }
        let mut is_outside = false;
        for (extent, r) in extents.iter().zip(index).skip(params) {
            self.values[*r].fill(n)?;
            let lanes = i64::elements(self.values[*r].lanes()?)?;
            with_vectors(
                #[inline(always)]
                || {
                    for (at, i) in positions.iter_mut().zip(lanes) {
                        is_outside |= *i as u64 >= *extent as u64;
                        *at = at.wrapping_mul(*extent).wrapping_add(*i as usize);
                    }
                },
            );
        }
        if is_outside {
            let mask = mask?;
            let is_inside = |l: usize| {
                let within = |extent: &usize, r: &Reg| match self.values[*r].get(l) {
                    Some(Scalar::I64(i)) => usize::try_from(i).is_ok_and(|i| i < *extent),
                    _ => false,
                };
                extents.iter().zip(index).all(|(extent, r)| within(extent, r))
            };
            for (l, at) in positions.iter_mut().enumerate() {
                if !is_inside(l) {
                    if mask[l] {
                        return None;
                    }
                    *at = 0;
                }
            }
        }
        self.positions = positions;
        Some(())
    }

    fn read(&mut self, to: Reg, column: &Column, place: &Place) -> Option<()> {
        if let Place::Ramp { first, step: 0 } = place {
            self.values[to].set_uniform(column.get(*first)?);
            return Some(());
        }
        let mut lanes = self.values[to].take(self.n)?;
        match place {
            Place::Ramp { first, step } => strided(column, *first, *step, &mut lanes, self.n)?,
            Place::Varying => gather(column, &self.positions, &mut lanes)?,
        }
        self.values[to].set(lanes);
        Some(())
    }

    fn emit(&mut self, to: ArrayId, index: &[Reg], values: &[Reg], mask: Option<&[bool]>) -> Option<()> {
        let k = self.sums.iter().position(|(sum, _)| *sum == to)?;
        let extents = self.sums[k].1.extents.clone();
        self.varying_positions(&extents, index, mask)?;
        for (c, r) in values.iter().enumerate() {
            self.values[*r].fill(self.n)?;
            let new = New::Second(self.values[*r].lanes()?);
            combine_at(Op2::Num(Num2::Add), new, &self.positions, mask, self.sums[k].1.columns.get_mut(c)?)?;
        }
        Some(())
    }

    /// The positions of indices that are results, from result `from` on, where result 0 is the mask. `None` if one is out
    /// of bounds.
    pub fn result_positions(&mut self, from: usize, extents: &[usize], mask: &[bool]) -> Option<&[usize]> {
        let code = self.code;
        self.consecutive = None;
        self.varying_positions(extents, code.results.get(from..)?, Some(mask))?;
        Some(&self.positions)
    }

    fn branch(
        &mut self,
        cond: Reg,
        [then, otherwise]: [&'e [Instr]; 2],
        merge: &[(Reg, Reg, Reg)],
        mask: Option<&[bool]>,
    ) -> Option<()> {
        let n = self.n;
        let is_inside = |l: usize| mask.is_none_or(|mask| mask[l]);
        let (mut is_true, mut is_false) = (vec![], vec![]);
        let one_branch = match self.values[cond].form() {
            Form::Uniform(Scalar::Bool(chosen)) => Some(chosen),
            _ => {
                let lanes = bool::elements(self.values[cond].lanes()?)?.get(..n)?;
                is_true.extend(lanes.iter().enumerate().map(|(l, c)| *c && is_inside(l)));
                is_false.extend(lanes.iter().enumerate().map(|(l, c)| !*c && is_inside(l)));
                let (any_true, any_false) = (is_true.contains(&true), is_false.contains(&true));
                (!any_true || !any_false).then_some(any_true)
            }
        };
        if let Some(chosen) = one_branch {
            self.instrs(if chosen { then } else { otherwise }, mask)?;
            return merge.iter().try_for_each(|(to, a, b)| self.copy(*to, if chosen { *a } else { *b }));
        }
        self.instrs(then, Some(&is_true))?;
        self.instrs(otherwise, Some(&is_false))?;
        for (to, a, b) in merge {
            let mut lanes = self.values[*to].take(n)?;
            self.values[*a].fill(n)?;
            self.values[*b].fill(n)?;
            select(&is_true, self.values[*a].lanes()?, self.values[*b].lanes()?, &mut lanes)?;
            self.values[*to].set(lanes);
        }
        Some(())
    }

    fn copy(&mut self, to: Reg, from: Reg) -> Option<()> {
        let mut value = std::mem::replace(&mut self.values[to], Value::new(ScalarType::Bool));
        value.copy_from(&self.values[from], self.n)?;
        self.values[to] = value;
        Some(())
    }

    fn repeat(
        &mut self,
        state: &[(Reg, Reg)],
        (cond, continues): (&'e [Instr], Reg),
        (body, next): (&'e [Instr], &[Reg]),
        lists: &[(Reg, Reg)],
        mask: Option<&[bool]>,
    ) -> Option<()> {
        let n = self.n;
        for (to, _) in lists {
            let empty = Column::with_capacity(self.values[*to].ty(), 0);
            self.lists.insert(*to, vec![empty; n]);
        }
        state.iter().try_for_each(|(to, init)| self.copy(*to, *init))?;
        let mut active: Option<Vec<bool>> = mask.map(<[bool]>::to_vec);
        let mut bytes = 0usize;
        loop {
            self.instrs(cond, active.as_deref())?;
            match self.values[continues].form() {
                Form::Uniform(Scalar::Bool(true)) => {}
                Form::Uniform(_) => return Some(()),
                _ => {
                    let lanes = bool::elements(self.values[continues].lanes()?)?.get(..n)?;
                    let is_active = |l: usize| active.as_ref().is_none_or(|active| active[l]);
                    let now: Vec<bool> = lanes.iter().enumerate().map(|(l, c)| *c && is_active(l)).collect();
                    if !now.contains(&true) {
                        return Some(());
                    }
                    if active.is_some() || now.contains(&false) {
                        active = Some(now);
                    }
                }
            }
            self.instrs(body, active.as_deref())?;
            for (to, value) in lists {
                bytes += push(&self.values[*value], self.lists.get_mut(to)?, active.as_deref())?;
            }
            if bytes > LIST_BYTES {
                return None;
            }
            self.advance(state, next, active.as_deref())?;
        }
    }

    /// Replaces the state of a loop by the next one in the lanes where `mask` is true.
    fn advance(&mut self, state: &[(Reg, Reg)], next: &[Reg], mask: Option<&[bool]>) -> Option<()> {
        let n = self.n;
        // The next state may use all of the present one, so that stays until the next one is complete.
        let mut new = vec![];
        for ((to, _), next) in state.iter().zip(next) {
            let form = self.values[*next].form();
            if mask.is_none() && !matches!(form, Form::Varying) {
                new.push(Next::Form(form));
                continue;
            }
            let mut memory = self.values[*to].spare(n)?;
            self.values[*next].fill(n)?;
            match mask {
                None => copy(self.values[*next].lanes()?, &mut memory, n)?,
                Some(mask) => {
                    self.values[*to].fill(n)?;
                    select(mask, self.values[*next].lanes()?, self.values[*to].lanes()?, &mut memory)?;
                }
            }
            new.push(Next::Lanes(memory));
        }
        for ((to, _), next) in state.iter().zip(new) {
            match next {
                Next::Form(form) => self.values[*to].set_form(form),
                Next::Lanes(lanes) => self.values[*to].replace(lanes),
            }
        }
        Some(())
    }

    fn get(&mut self, to: Reg, list: Reg, at: Reg, mask: Option<&[bool]>) -> Option<()> {
        let n = self.n;
        let mut out = std::mem::replace(&mut self.values[to], Value::new(ScalarType::Bool));
        let lists = self.lists.get(&list)?;
        let mut lanes = out.take(n)?;
        for (l, list) in lists.iter().enumerate() {
            let Some(Scalar::I64(at)) = self.values[at].get(l) else { return None };
            match usize::try_from(at).ok().and_then(|at| list.get(at)) {
                Some(x) => _ = lanes.set(l, x),
                None if mask.is_none_or(|mask| mask[l]) => return None,
                None => {}
            }
        }
        out.set(lanes);
        self.values[to] = out;
        Some(())
    }
}

/// Appends the values of lanes to the lists of the lanes where `mask` is true. Returns the number of bytes.
fn push(value: &Value, lists: &mut [Column], mask: Option<&[bool]>) -> Option<usize> {
    let mut bytes = 0;
    for (l, list) in lists.iter_mut().enumerate() {
        if mask.is_none_or(|mask| mask[l]) {
            list.push(value.get(l)?).then_some(())?;
            bytes += 8;
        }
    }
    Some(bytes)
}

/// A good number of lanes for a scalar function: the values of all registers fit into a cache.
pub fn width(code: &ScalarFn) -> usize {
    /// The part of the cache that the values may take, in bytes.
    const CACHE: usize = 256 << 10;
    (CACHE / 8 / code.types.len().max(1)).clamp(64, WIDTH)
}

/// The digit of `first`, `first + 1`, ... that counts to `extent`, where `inner` positions have the same digit.
fn digits(to: &mut [i64], extent: usize, inner: usize, first: usize) {
    let mut digit = first / inner % extent;
    let mut rest = inner - first % inner;
    let mut done = to.len().min(extent.saturating_mul(inner));
    for x in &mut to[..done] {
        *x = digit as i64;
        rest -= 1;
        if rest == 0 {
            rest = inner;
            digit = if digit + 1 == extent { 0 } else { digit + 1 };
        }
    }
    // The digits repeat.
    while done < to.len() {
        let n = done.min(to.len() - done);
        to.copy_within(..n, done);
        done += n;
    }
}

/// The sum, the difference or the product of two ramps, if it is a ramp.
fn ramp(op: Num2, a: Form, b: Form) -> Option<(i64, i64)> {
    let parts = |form| match form {
        Form::Uniform(Scalar::I64(x)) => Some((x, 0)),
        Form::Ramp { first, step } => Some((first, step)),
        _ => None,
    };
    let ((a, da), (b, db)) = (parts(a)?, parts(b)?);
    match op {
        Num2::Add => Some((a.wrapping_add(b), da.wrapping_add(db))),
        Num2::Sub => Some((a.wrapping_sub(b), da.wrapping_sub(db))),
        Num2::Mul if da == 0 => Some((a.wrapping_mul(b), a.wrapping_mul(db))),
        Num2::Mul if db == 0 => Some((a.wrapping_mul(b), da.wrapping_mul(b))),
        _ => None,
    }
}

/// How often each instruction is executed, if the last `steps` parameters change with each step.
fn rates(code: &ScalarFn, steps: usize) -> Vec<Rate> {
    let mut of: Vec<Rate> = vec![Rate::Once; code.types.len()];
    of[..code.params - steps].fill(Rate::Batch);
    of[code.params - steps..code.params].fill(Rate::Step);
    let mut rates = vec![];
    for i in &code.instrs {
        let (mut used, mut set) = (BTreeSet::new(), vec![]);
        i.uses(&mut used);
        let mut rate = Rate::Once;
        for inner in walk(std::slice::from_ref(i)) {
            set.extend(inner.sets());
            // It adds for each element.
            if matches!(inner, Instr::Emit { .. }) {
                rate = Rate::Step;
            }
        }
        let rate = used.into_iter().map(|r: Reg| of[r.index()]).fold(rate, Rate::max);
        set.into_iter().for_each(|r| of[r.index()] = rate);
        rates.push(rate);
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_positions() {
        for (extent, inner) in [(1, 1), (3, 1), (3, 4), (5, 100), (1000, 1)] {
            for first in [0, 1, 7, 123] {
                let mut found = [0; 50];
                digits(&mut found, extent, inner, first);
                let expected = |l: usize| ((first + l) / inner % extent) as i64;
                assert!(found.iter().enumerate().all(|(l, x)| *x == expected(l)));
            }
        }
    }

    #[test]
    fn sums_and_products_of_ramps_are_ramps() {
        let at = |(first, step): (i64, i64), l: i64| first.wrapping_add(step.wrapping_mul(l));
        let parts = [(0, 1), (5, 0), (-3, 7), (i64::MAX, 2), (3, i64::MIN)];
        for (a, b) in parts.into_iter().flat_map(|a| parts.map(|b| (a, b))) {
            let form =
                |(first, step)| if step == 0 { Form::Uniform(Scalar::I64(first)) } else { Form::Ramp { first, step } };
            for op in [Num2::Add, Num2::Sub, Num2::Mul] {
                let Some(found) = ramp(op, form(a), form(b)) else {
                    assert!(op == Num2::Mul && a.1 != 0 && b.1 != 0);
                    continue;
                };
                for l in 0..10 {
                    let expected = Op2::Num(op).eval(Scalar::I64(at(a, l)), Scalar::I64(at(b, l))).unwrap();
                    assert_eq!(Scalar::I64(at(found, l)), expected);
                }
            }
        }
    }
}
