//! The array operations of the interpreter, each as a simple loop.

use super::code::{Code, Emission, Machine, bool, no_element};
use super::extents::{check_size, extents, for_each_index, int, offset, out_of_bounds, position};
use super::place::Place;
use super::plan::Op;
use super::slots::{Slot, Slots};
use super::watch::Details;
use crate::ast::Dir;
use crate::error::{Error, Result};
use crate::repr::op::{Num2, Op2};
use crate::repr::{Agreement, Call, Column, Columns, RawArray, RawExtents, Scalar, ScalarType};

/// Computes the array that an operation defines.
pub fn compute(op: &Op, place: Place, slots: &Slots) -> Result<RawArray> {
    let machine = |code| Machine::new(code, slots, place);
    let value = |code| value(code, place, slots);
    let shape = |code| extents(place, value(code)?.into_iter());
    match op {
        Op::Use(a) => check_size(place, &a.extents).map(|_| a.clone()),
        Op::Generate { sh, f } => generate(shape(sh)?, machine(f)?, &f.types, place),
        Op::Map { f, a } => map(slots.get(*a)?, machine(f)?, &f.types, place),
        Op::ZipWith { f, a, b } => zip_with(slots.get(*a)?, slots.get(*b)?, machine(f)?, &f.types, place),
        Op::Fold { f, z, a } => {
            let z = z.as_ref().map(value).transpose()?;
            fold(slots.get(*a)?, z, machine(f)?, &f.types, place)
        }
        Op::Scan { dir, f, z, a } => {
            let z = z.as_ref().map(value).transpose()?;
            scan(*dir, slots.get(*a)?, z, machine(f)?, &f.types, place)
        }
        Op::Permute { comb, defaults, index, a } => {
            permute(slots.get(*defaults)?, slots.get(*a)?, machine(index)?, machine(comb)?, place)
        }
        Op::Backpermute { sh, f, a } => backpermute(shape(sh)?, slots.get(*a)?, machine(f)?, place),
        Op::Argsort { a } => argsort(slots.get(*a)?, place),
        Op::Reshape { sh, a } => reshape(shape(sh)?, slots.get(*a)?, place),
        Op::Replicate { kept, slx, a } => replicate(kept, &value(slx)?, slots.get(*a)?, place),
        Op::Slice { kept, slx, a } => slice(kept, &value(slx)?, slots.get(*a)?, place),
        Op::Copy(_)
        | Op::Cond { .. }
        | Op::While { .. }
        | Op::Loop { .. }
        | Op::Accumulate { .. }
        | Op::Foreign { .. }
        | Op::Agree { .. } => Err(Error::Internal(format!("{place} is not a single array operation"))),
    }
}

/// The value of an expression without variables.
fn value(code: &Code, place: Place, slots: &Slots) -> Result<Vec<Scalar>> {
    let mut m = Machine::new(code, slots, place)?;
    m.call()?;
    Ok(m.results().collect())
}

/// Whether two shapes agree.
pub fn agree(agreement: Agreement, left: &Code, right: &Code, place: Place, slots: &Slots) -> Result<()> {
    let extents = |code| value(code, place, slots)?.into_iter().map(int).collect::<Result<Vec<i64>>>();
    agreement.check(|| place.to_string(), &extents(left)?, &extents(right)?)
}

/// The extents of the result of an operation that fails, if they are known; negative ones in two's complement.
pub fn extents_of(op: &Op, place: Place, slots: &Slots) -> Option<RawExtents> {
    let extents = |s: &Slot| slots.extents(*s).ok();
    match op {
        Op::Generate { sh, .. } | Op::Backpermute { sh, .. } | Op::Reshape { sh, .. } => {
            let sh = value(sh, place, slots).ok()?;
            sh.into_iter().map(|e| int(e).ok().map(|e| e as usize)).collect()
        }
        Op::Map { a, .. } | Op::Permute { defaults: a, .. } | Op::Argsort { a } => extents(a).cloned(),
        Op::ZipWith { a, b, .. } => {
            Some(extents(a)?.iter().zip(&**extents(b)?).map(|(m, n)| (*m as i64).min(*n as i64) as usize).collect())
        }
        Op::Fold { a, .. } => extents(a)?.split_last().map(|(_, outer)| outer.into()),
        _ => None,
    }
}

/// The extent of the rows that an operation reads one by one.
pub fn row_length(op: &Op, slots: &Slots) -> Option<RawExtents> {
    let (Op::Fold { a, .. } | Op::Scan { a, .. }) = op else { return None };
    slots.extents(*a).ok()?.last().map(|n| RawExtents::from_slice(&[*n]))
}

/// The result of an operation, filled element by element.
struct Output {
    extents: RawExtents,
    columns: Columns,
}

impl Output {
    fn new(extents: RawExtents, types: &[ScalarType], place: Place) -> Result<Self> {
        let n = check_size(place, &extents)?;
        let columns: Option<Columns> = types.iter().map(|t| Column::zeros(*t, n)).collect();
        match columns {
            Some(columns) => Ok(Output { extents, columns }),
            None => Err(Error::Memory { op: place.to_string(), shape: extents.to_vec() }),
        }
    }

    /// An output for elements of the type of the elements of `a`.
    fn like(a: &RawArray, extents: RawExtents, place: Place) -> Result<Self> {
        let types: Vec<_> = a.columns.iter().map(Column::ty).collect();
        Output::new(extents, &types, place)
    }

    /// Sets element `i`.
    fn set(&mut self, i: usize, element: impl Iterator<Item = Scalar>) -> Result<()> {
        for (c, x) in self.columns.iter_mut().zip(element) {
            if !c.set(i, x) {
                return Err(Error::Internal(format!("a {} for element {i} of a {} array", x.ty(), c.ty())));
            }
        }
        Ok(())
    }

    fn finish(self) -> RawArray {
        RawArray { extents: self.extents, columns: self.columns }
    }
}

/// Element `i` of an array.
fn element(a: &RawArray, i: usize) -> impl Iterator<Item = Scalar> {
    // A column that is too short would give fewer scalars; `conforms` excludes this.
    a.columns.iter().map_while(move |c| c.get(i))
}

fn generate(sh: RawExtents, mut f: Machine, types: &[ScalarType], place: Place) -> Result<RawArray> {
    let mut out = Output::new(sh.clone(), types, place)?;
    for_each_index(&sh, |i, index| {
        f.set_index(index);
        f.call()?;
        out.set(i, f.results())
    })?;
    Ok(out.finish())
}

/// The array that `f` computes, and the accumulators after all that `f` emits.
pub fn accumulate(sh: &Code, f: &Code, init: &[Slot], place: Place, slots: &Slots) -> Result<Vec<RawArray>> {
    let mut extent = Machine::new(sh, slots, place)?;
    extent.call()?;
    let sh = extents(place, extent.results())?;
    let mut sums = init.iter().map(|s| slots.get(*s).cloned()).collect::<Result<Vec<RawArray>>>()?;
    // The last result is a token.
    let (_, types) = f.types.split_last().ok_or_else(|| Error::Internal("an accumulation without a token".into()))?;
    let mut f = Machine::new(f, slots, place)?;
    let mut out = Output::new(sh.clone(), types, place)?;
    for_each_index(&sh, |i, index| {
        f.set_index(index);
        f.call()?;
        out.set(i, f.results())?;
        f.emitted().iter().try_for_each(|e| add_emission(&mut sums, e, place, slots))
    })?;
    sums.insert(0, out.finish());
    Ok(sums)
}

/// The results of a foreign function.
pub fn foreign(
    call: &Call,
    sh: &Code,
    a: &[Slot],
    results: &[(usize, Vec<ScalarType>)],
    place: Place,
    slots: &Slots,
) -> Result<Vec<RawArray>> {
    let from = a.iter().map(|s| slots.get(*s)).collect::<Result<Vec<_>>>()?;
    called(call, &from, value(sh, place, slots)?, results, place)
}

/// The results of a foreign function for these arguments and extents.
pub fn called(
    call: &Call,
    from: &[&RawArray],
    all: Vec<Scalar>,
    results: &[(usize, Vec<ScalarType>)],
    place: Place,
) -> Result<Vec<RawArray>> {
    let mut all = all.into_iter();
    let to = results.iter().map(|(rank, types)| Ok((extents(place, all.by_ref().take(*rank))?, &types[..])));
    call.run(|| place.to_string(), from, to.collect::<Result<_>>()?)
}

/// Adds an emission to an element of its accumulator.
fn add_emission(sums: &mut [RawArray], e: &Emission, place: Place, slots: &Slots) -> Result<()> {
    let index = e.index.iter().copied();
    let sum = sums.get_mut(e.to).ok_or_else(|| Error::Internal("an emission without an accumulator".into()))?;
    let i = offset(&sum.extents, index.clone())?.ok_or_else(|| {
        let op = if e.at.is_some() { Place { name: "emit", at: e.at } } else { place };
        out_of_bounds(op.to_string(), index, &sum.extents)
    })?;
    let index = e.index.iter().filter_map(|i| int(*i).ok()).map(|i| i as usize);
    for (c, x) in sum.columns.iter_mut().zip(&e.values) {
        let old = c.get(i).ok_or_else(no_element)?;
        let add = Op2::Num(Num2::Add);
        let new = add.eval(old, *x)?;
        if let Some(watch) = &slots.watch {
            let details =
                || Details { function: add.to_string(), place, index: index.clone().collect(), steps: vec![] };
            watch.look(new, &[old, *x], false, details)?;
        }
        if !c.set(i, new) {
            return Err(Error::Internal(format!("a {} is emitted to a {} array", x.ty(), c.ty())));
        }
    }
    Ok(())
}

fn map(a: &RawArray, mut f: Machine, types: &[ScalarType], place: Place) -> Result<RawArray> {
    let mut out = Output::new(a.extents.clone(), types, place)?;
    for i in 0..a.size() {
        f.set_element(0, a, i)?;
        f.call()?;
        out.set(i, f.results())?;
    }
    Ok(out.finish())
}

fn zip_with(a: &RawArray, b: &RawArray, mut f: Machine, types: &[ScalarType], place: Place) -> Result<RawArray> {
    let sh: RawExtents = a.extents.iter().zip(&*b.extents).map(|(m, n)| *m.min(n)).collect();
    let mut out = Output::new(sh.clone(), types, place)?;
    for_each_index(&sh, |i, index| {
        f.set_element(0, a, position(&a.extents, index))?;
        f.set_element(a.columns.len(), b, position(&b.extents, index))?;
        f.call()?;
        out.set(i, f.results())
    })?;
    Ok(out.finish())
}

/// The outer extents of an array, the number of its rows, and their length.
fn rows(a: &RawArray) -> Result<(&[usize], usize, usize)> {
    let (n, outer) = a.extents.split_last().ok_or_else(|| Error::Internal("rows of an array of rank 0".into()))?;
    Ok((outer, outer.iter().product(), *n))
}

/// `x = f(x, a[i])`, or `x = f(a[i], x)` from the right.
fn combine(dir: Dir, f: &mut Machine, x: &mut Vec<Scalar>, a: &RawArray, i: usize) -> Result<()> {
    let width = x.len();
    let (first, second) = match dir {
        Dir::Left => (0, width),
        Dir::Right => (width, 0),
    };
    f.set_all(first, x);
    f.set_element(second, a, i)?;
    f.call()?;
    x.clear();
    x.extend(f.results());
    Ok(())
}

fn fold(a: &RawArray, z: Option<Vec<Scalar>>, mut f: Machine, types: &[ScalarType], place: Place) -> Result<RawArray> {
    let (outer, count, n) = rows(a)?;
    if z.is_none() && n == 0 && count > 0 {
        return Err(Error::Shape {
            op: place.to_string(),
            expected: "a non-empty innermost dimension".into(),
            found: format!("shape {:?}", a.extents),
        });
    }
    let mut out = Output::new(outer.into(), types, place)?;
    for row in 0..count {
        let mut row_elements = row * n..(row + 1) * n;
        let mut x = match &z {
            Some(z) => z.clone(),
            None => row_elements.next().map(|i| element(a, i).collect()).unwrap_or_default(),
        };
        for i in row_elements {
            combine(Dir::Left, &mut f, &mut x, a, i)?;
        }
        out.set(row, x.into_iter())?;
    }
    Ok(out.finish())
}

fn scan(
    dir: Dir,
    a: &RawArray,
    z: Option<Vec<Scalar>>,
    mut f: Machine,
    types: &[ScalarType],
    place: Place,
) -> Result<RawArray> {
    let (outer, count, n) = rows(a)?;
    let length = if z.is_some() { n + 1 } else { n };
    let mut out = Output::new(outer.iter().copied().chain([length]).collect(), types, place)?;
    // Both directions count the elements in the order of the visits.
    let at = |row: usize, k: usize, length: usize| match dir {
        Dir::Left => row * length + k,
        Dir::Right => row * length + (length - 1 - k),
    };
    // Rows without elements have no work; there may be any number of them.
    for row in 0..if length == 0 { 0 } else { count } {
        let mut visit = 0..n;
        let mut x = match (&z, n) {
            (Some(z), _) => z.clone(),
            (None, 0) => continue,
            (None, _) => visit.next().map(|k| element(a, at(row, k, n)).collect()).unwrap_or_default(),
        };
        out.set(at(row, 0, length), x.iter().copied())?;
        for (done, k) in visit.enumerate() {
            combine(dir, &mut f, &mut x, a, at(row, k, n))?;
            out.set(at(row, done + 1, length), x.iter().copied())?;
        }
    }
    Ok(out.finish())
}

/// The combination function gets the new element first and the element at the target second, as in Accelerate.
fn permute(defaults: &RawArray, a: &RawArray, mut index: Machine, mut comb: Machine, place: Place) -> Result<RawArray> {
    let extents = &defaults.extents;
    let mut out = Output { extents: extents.clone(), columns: defaults.columns.clone() };
    for_each_index(&a.extents, |i, ix| {
        index.set_index(ix);
        index.call()?;
        let mut target = index.results();
        if !target.next().map_or(Ok(false), bool)? {
            return Ok(());
        }
        let to = offset(extents, target)?
            .ok_or_else(|| out_of_bounds(place.to_string(), index.results().skip(1), extents))?;
        comb.set_element(0, a, i)?;
        for (k, c) in out.columns.iter().enumerate() {
            comb.set(a.columns.len() + k, c.get(to).ok_or_else(no_element)?);
        }
        comb.call()?;
        out.set(to, comb.results())
    })?;
    Ok(out.finish())
}

fn backpermute(sh: RawExtents, a: &RawArray, mut f: Machine, place: Place) -> Result<RawArray> {
    let mut out = Output::like(a, sh.clone(), place)?;
    for_each_index(&sh, |i, index| {
        f.set_index(index);
        f.call()?;
        let from = offset(&a.extents, f.results())?
            .ok_or_else(|| out_of_bounds(place.to_string(), f.results(), &a.extents))?;
        out.set(i, element(a, from))
    })?;
    Ok(out.finish())
}

/// The order is that of NOTE [Sorted order].
fn argsort(a: &RawArray, place: Place) -> Result<RawArray> {
    let (_, count, n) = rows(a)?;
    let mut out = Output::new(a.extents.clone(), &[ScalarType::I64], place)?;
    // Rows without elements have no work; there may be any number of them.
    for row in 0..if n == 0 { 0 } else { count } {
        let elements: Vec<Scalar> = (0..n).flat_map(|k| element(a, row * n + k)).collect();
        let mut positions: Vec<usize> = (0..n).collect();
        positions.sort_by(|i, k| elements[*i].sort_order(elements[*k]));
        for (k, position) in positions.into_iter().enumerate() {
            out.set(row * n + k, [Scalar::I64(position as i64)].into_iter())?;
        }
    }
    Ok(out.finish())
}

/// The result shares the elements of the source.
fn reshape(sh: RawExtents, a: &RawArray, place: Place) -> Result<RawArray> {
    let n = check_size(place, &sh)?;
    if n != a.size() {
        return Err(Error::Shape {
            op: place.to_string(),
            expected: format!("a shape of {} elements, as {:?} has", a.size(), a.extents),
            found: format!("{sh:?}, which has {n}"),
        });
    }
    Ok(RawArray { extents: sh, columns: a.columns.clone() })
}

fn replicate(kept: &[bool], added: &[Scalar], a: &RawArray, place: Place) -> Result<RawArray> {
    let (mut old, mut new) = (a.extents.iter().map(|n| Scalar::I64(*n as i64)), added.iter().copied());
    let sh = extents(place, kept.iter().filter_map(|k| if *k { old.next() } else { new.next() }))?;
    let mut out = Output::like(a, sh.clone(), place)?;
    for_each_index(&sh, |i, index| {
        let from = index.iter().zip(kept).filter(|(_, kept)| **kept).map(|(i, _)| *i);
        let from = from.zip(&*a.extents).fold(0, |p, (i, extent)| p * extent + i);
        out.set(i, element(a, from))
    })?;
    Ok(out.finish())
}

fn slice(kept: &[bool], fixed: &[Scalar], a: &RawArray, place: Place) -> Result<RawArray> {
    let part = |keep| kept.iter().zip(&*a.extents).filter(move |(k, _)| **k == keep).map(|(_, e)| *e);
    let cut: Vec<usize> = part(false).collect();
    if offset(&cut, fixed.iter().copied())?.is_none() {
        return Err(out_of_bounds(place.to_string(), fixed.iter().copied(), &cut));
    }
    let sh: RawExtents = part(true).collect();
    let mut out = Output::like(a, sh.clone(), place)?;
    for_each_index(&sh, |i, index| {
        let (mut index, mut fixed) = (index.iter().map(|i| Scalar::I64(*i as i64)), fixed.iter().copied());
        let from = kept.iter().filter_map(|k| if *k { index.next() } else { fixed.next() });
        // Within bounds, since both parts are within the bounds of their shapes.
        let from = offset(&a.extents, from)?.ok_or_else(no_element)?;
        out.set(i, element(a, from))
    })?;
    Ok(out.finish())
}
