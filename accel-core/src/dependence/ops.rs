//! The array operations of the interpreter on cells.

use super::cells::{Cell, Cells, Result, Set, Stop, index, join, positions};
use super::code::Machine;
use crate::ast::Dir;
use crate::error::Error;
use crate::interp::code::{Code, bool};
use crate::interp::extents::{extents, for_each_index, int, position};
use crate::interp::ops::called;
use crate::interp::place::Place;
use crate::interp::plan::Op;
use crate::interp::slots::Slot;
use crate::repr::op::{Num2, Op2};
use crate::repr::{Call, RawExtents, Scalar, ScalarType};
use std::rc::Rc;

/// The arrays of a running program.
#[derive(Clone)]
pub struct Slots(pub Vec<Option<Rc<Cells>>>);

impl Slots {
    pub fn get(&self, s: Slot) -> Result<&Rc<Cells>> {
        self.0[s].as_ref().ok_or_else(|| Error::Internal("an array was freed too early".into()).into())
    }

    pub fn machine<'a>(&self, code: &'a Code, place: Place) -> Result<Machine<'a>> {
        let arrays = code.arrays.iter().map(|s| self.get(*s).cloned()).collect::<Result<Vec<_>>>()?;
        Ok(Machine::new(code, arrays, place))
    }

    /// The value of an expression without variables.
    pub fn value(&self, code: &Code, place: Place) -> Result<Vec<Cell>> {
        self.machine(code, place)?.call()
    }

    /// The value of an expression that decides about shapes.
    pub fn integers(&self, code: &Code, place: Place, what: &str) -> Result<Vec<i64>> {
        let known = |c: Cell| c.value.ok_or_else(|| Stop::unknown(place, what));
        let cells = self.value(code, place)?.into_iter();
        cells.map(|c| Ok(int(known(c)?)?)).collect()
    }

    fn shape(&self, code: &Code, place: Place) -> Result<RawExtents> {
        let shape = self.integers(code, place, "a shape")?;
        Ok(extents(place, shape.into_iter().map(Scalar::I64))?)
    }
}

/// Computes the arrays that an operation defines.
pub fn compute(op: &Op, place: Place, slots: &Slots) -> Result<Vec<Rc<Cells>>> {
    let machine = |code| slots.machine(code, place);
    Ok(vec![Rc::new(match op {
        Op::Use(a) => Cells::known(a),
        Op::Copy(from) => return from.iter().map(|s| slots.get(*s).cloned()).collect(),
        Op::Generate { sh, f } => {
            let mut m = machine(f)?;
            generate(slots.shape(sh, place)?, &f.types, place, |_, ix| {
                m.set_index(ix);
                m.call()
            })?
        }
        Op::Accumulate { sh, f, init } => return accumulate(sh, f, init, place, slots),
        Op::Map { f, a } => {
            let (mut m, a) = (machine(f)?, slots.get(*a)?);
            generate(a.extents.clone(), &f.types, place, |i, _| {
                m.set(0, a.element(i));
                m.call()
            })?
        }
        Op::Agree { agreement, left, right, a } => {
            let integers = |code| slots.integers(code, place, "a shape");
            agreement.check(|| place.to_string(), &integers(left)?, &integers(right)?)?;
            return Ok(vec![slots.get(*a)?.clone()]);
        }
        Op::ZipWith { f, a, b } => {
            let (mut m, a, b) = (machine(f)?, slots.get(*a)?, slots.get(*b)?);
            let sh: RawExtents = a.extents.iter().zip(&*b.extents).map(|(m, n)| *m.min(n)).collect();
            generate(sh, &f.types, place, |_, ix| {
                m.set(0, a.element(position(&a.extents, ix)));
                m.set(a.types.len(), b.element(position(&b.extents, ix)));
                m.call()
            })?
        }
        Op::Fold { f, z, a } => {
            let z = z.as_ref().map(|z| slots.value(z, place)).transpose()?;
            fold(slots.get(*a)?, z, machine(f)?, place)?
        }
        Op::Scan { dir, f, z, a } => {
            let z = z.as_ref().map(|z| slots.value(z, place)).transpose()?;
            scan(*dir, slots.get(*a)?, z, machine(f)?, place)?
        }
        Op::Permute { comb, defaults, index, a } => {
            permute(slots.get(*defaults)?, slots.get(*a)?, machine(index)?, machine(comb)?, place)?
        }
        Op::Backpermute { sh, f, a } => {
            let (mut m, a) = (machine(f)?, slots.get(*a)?);
            generate(slots.shape(sh, place)?, &a.types, place, |_, ix| {
                m.set_index(ix);
                Ok(a.read(&index(&m.call()?, &a.extents, || place.to_string())?))
            })?
        }
        Op::Argsort { a } => argsort(slots.get(*a)?, place)?,
        Op::Foreign { call, sh, a, results } => {
            let a = a.iter().map(|s| slots.get(*s)).collect::<Result<Vec<_>>>()?;
            return foreign(call, slots.integers(sh, place, "a shape")?, &a, results, place);
        }
        Op::Reshape { sh, a } => {
            let (sh, a) = (slots.shape(sh, place)?, slots.get(*a)?);
            if sh.iter().product::<usize>() != a.size() {
                let expected = format!("a shape of {} elements, as {:?} has", a.size(), a.extents);
                return Err(Error::Shape { op: place.to_string(), expected, found: format!("{sh:?}") }.into());
            }
            Cells::new(sh, &a.types, a.cells.clone())
        }
        Op::Replicate { kept, slx, a } => {
            let (added, a) = (slots.shape(slx, place)?, slots.get(*a)?);
            let (mut old, mut new) = (a.extents.iter(), added.iter());
            let next = |k: &bool| if *k { old.next() } else { new.next() };
            let sh: RawExtents = kept.iter().filter_map(next).copied().collect();
            generate(sh, &a.types, place, |_, ix| {
                let from: Vec<usize> = ix.iter().zip(kept).filter(|(_, kept)| **kept).map(|(i, _)| *i).collect();
                Ok(a.element(position(&a.extents, &from)).to_vec())
            })?
        }
        Op::Slice { kept, slx, a } => {
            let (fixed, a) = (slots.value(slx, place)?, slots.get(*a)?);
            let part = |keep| kept.iter().zip(&*a.extents).filter(move |(k, _)| **k == keep).map(|(_, e)| *e);
            let fixed = index(&fixed, &part(false).collect::<Vec<_>>(), || place.to_string())?;
            generate(part(true).collect(), &a.types, place, |_, ix| {
                let (mut ix, mut fixed) = (ix.iter(), fixed.iter());
                let next = |k: &bool| if *k { ix.next().map(|i| Some(*i)) } else { fixed.next().copied() };
                Ok(a.read(&kept.iter().filter_map(next).collect()))
            })?
        }
        Op::Cond { .. } | Op::While { .. } | Op::Loop { .. } => {
            return Err(Error::Internal(format!("{place} is not a single array operation")).into());
        }
    })])
}

/// The array whose element at each position and index `f` computes.
fn generate(
    sh: RawExtents,
    types: &[ScalarType],
    place: Place,
    mut f: impl FnMut(usize, &[usize]) -> Result<Vec<Cell>>,
) -> Result<Cells> {
    let mut cells = Cells::space(&sh, types, place)?;
    let mut stop = Ok(());
    // The loop knows only errors; what stops it is kept.
    let each = for_each_index(&sh, |i, ix| match f(i, ix) {
        Ok(element) => {
            cells.extend(element);
            Ok(())
        }
        Err(e) => {
            stop = Err(e);
            Err(Error::Internal("stopped".into()))
        }
    });
    stop?;
    each?;
    Ok(Cells::new(sh, types, cells))
}

fn accumulate(sh: &Code, f: &Code, init: &[Slot], place: Place, slots: &Slots) -> Result<Vec<Rc<Cells>>> {
    let sums = init.iter().map(|s| slots.get(*s)).collect::<Result<Vec<_>>>()?;
    let mut cells: Vec<Vec<Cell>> = sums.iter().map(|a| a.cells.clone()).collect();
    let (_, types) = f.types.split_last().ok_or_else(|| Error::Internal("an accumulation without a token".into()))?;
    let mut m = slots.machine(f, place)?;
    let out = generate(slots.shape(sh, place)?, types, place, |_, ix| {
        m.set_index(ix);
        let mut element = m.call()?;
        // The last result is a token.
        element.truncate(types.len());
        for e in m.emitted() {
            let sum =
                sums.get(e.emit.to).ok_or_else(|| Error::Internal("an emission without an accumulator".into()))?;
            let name = || if e.emit.at.is_some() { Place { name: "emit", at: e.emit.at } } else { place }.to_string();
            let target = index(&e.index, &sum.extents, name)?;
            let is_known = target.iter().all(Option::is_some);
            for i in positions(&target, &sum.extents) {
                for (k, x) in e.values.iter().enumerate() {
                    let old = &mut cells[e.emit.to][i * e.values.len() + k];
                    let new = Cell::two(Op2::Num(Num2::Add), old, x)?;
                    *old = if is_known { new } else { new.unknown() };
                }
            }
        }
        Ok(element)
    })?;
    let sums = sums.iter().zip(cells).map(|(a, cells)| Rc::new(Cells::new(a.extents.clone(), &a.types, cells)));
    Ok([Rc::new(out)].into_iter().chain(sums).collect())
}

/// The outer extents of an array, the number of its rows, and their length.
fn rows(a: &Cells) -> Result<(&[usize], usize, usize)> {
    let (n, outer) = a.extents.split_last().ok_or_else(|| Error::Internal("rows of an array of rank 0".into()))?;
    Ok((outer, outer.iter().product(), *n))
}

/// `f(x, y)`, or `f(y, x)` from the right.
fn combine(dir: Dir, f: &mut Machine, x: &[Cell], y: &[Cell]) -> Result<Vec<Cell>> {
    let (first, second) = match dir {
        Dir::Left => (x, y),
        Dir::Right => (y, x),
    };
    f.set(0, first);
    f.set(first.len(), second);
    f.call()
}

fn fold(a: &Cells, z: Option<Vec<Cell>>, mut f: Machine, place: Place) -> Result<Cells> {
    let (outer, count, n) = rows(a)?;
    if z.is_none() && n == 0 && count > 0 {
        let expected = "a non-empty innermost dimension".into();
        return Err(Error::Shape { op: place.to_string(), expected, found: format!("shape {:?}", a.extents) }.into());
    }
    generate(outer.into(), &a.types, place, |row, _| {
        let mut elements = (row * n..(row + 1) * n).map(|i| a.element(i));
        let x = match &z {
            Some(z) => z.clone(),
            None => elements.next().unwrap_or_default().to_vec(),
        };
        elements.try_fold(x, |x, y| combine(Dir::Left, &mut f, &x, y))
    })
}

fn scan(dir: Dir, a: &Cells, z: Option<Vec<Cell>>, mut f: Machine, place: Place) -> Result<Cells> {
    let (outer, count, n) = rows(a)?;
    let sh: RawExtents = outer.iter().copied().chain([if z.is_some() { n + 1 } else { n }]).collect();
    let mut cells = Cells::space(&sh, &a.types, place)?;
    for row in 0..if sh.last() == Some(&0) { 0 } else { count } {
        // In the order of the visits.
        let mut elements: Vec<&[Cell]> = (row * n..(row + 1) * n).map(|i| a.element(i)).collect();
        if dir == Dir::Right {
            elements.reverse();
        }
        let mut elements = elements.into_iter();
        let mut x = match &z {
            Some(z) => z.clone(),
            None => elements.next().unwrap_or_default().to_vec(),
        };
        let mut made = vec![];
        for y in elements {
            let next = combine(dir, &mut f, &x, y)?;
            made.push(std::mem::replace(&mut x, next));
        }
        made.push(x);
        if dir == Dir::Right {
            made.reverse();
        }
        cells.extend(made.into_iter().flatten());
    }
    Ok(Cells::new(sh, &a.types, cells))
}

/// At a target that is not known, each element that it may be is the old one or the combined one.
fn permute(defaults: &Cells, a: &Cells, mut to: Machine, mut comb: Machine, place: Place) -> Result<Cells> {
    let (width, mut cells) = (a.types.len(), defaults.cells.clone());
    generate(a.extents.clone(), &[], place, |i, ix| {
        to.set_index(ix);
        let target = to.call()?;
        let (moves, target) = target.split_first().ok_or_else(|| Error::Internal("no target".into()))?;
        let moves = moves.value.map(bool).transpose()?;
        if moves == Some(false) {
            return Ok(vec![]);
        }
        let target = index(target, &defaults.extents, || place.to_string());
        let target = match target {
            // An element that is perhaps not moved.
            Err(Stop::Fails(_)) if moves.is_none() => return Ok(vec![]),
            target => target?,
        };
        let is_known = moves.is_some() && target.iter().all(Option::is_some);
        for at in positions(&target, &defaults.extents) {
            let old = &mut cells[at * width..(at + 1) * width];
            let new = combine(Dir::Left, &mut comb, a.element(i), old)?;
            let new = if is_known { new } else { join(&new, old) };
            old.clone_from_slice(&new);
        }
        Ok(vec![])
    })?;
    Ok(Cells::new(defaults.extents.clone(), &a.types, cells))
}

/// Each number of a result depends on all numbers of the arguments. The function is called where they are all known.
fn foreign(
    call: &Call,
    sh: Vec<i64>,
    a: &[&Rc<Cells>],
    results: &[(usize, Vec<ScalarType>)],
    place: Place,
) -> Result<Vec<Rc<Cells>>> {
    let mut sh = sh.into_iter().map(Scalar::I64);
    if let Some(a) = a.iter().map(|a| a.values()).collect::<Option<Vec<_>>>() {
        let results = called(call, &a.iter().collect::<Vec<_>>(), sh.collect(), results, place)?;
        return Ok(results.iter().map(|a| Rc::new(Cells::known(a))).collect());
    }
    let by = a.iter().flat_map(|a| a.numbers()).fold(Set::default(), |by, c| by.union(&c.by));
    let result = |(rank, types): &(usize, Vec<ScalarType>)| {
        let extents = extents(place, sh.by_ref().take(*rank))?;
        let by = |t: &ScalarType| if t.is_float() { by.clone() } else { Set::default() };
        generate(extents, types, place, |_, _| Ok(types.iter().map(|t| Cell { value: None, by: by(t) }).collect()))
    };
    results.iter().map(result).map(|a| a.map(Rc::new)).collect()
}

/// Positions have no derivative. They are known where all elements of a row are.
fn argsort(a: &Cells, place: Place) -> Result<Cells> {
    let (_, count, n) = rows(a)?;
    let mut cells = Cells::space(&a.extents, &[ScalarType::I64], place)?;
    for row in 0..if n == 0 { 0 } else { count } {
        let keys: Option<Vec<Scalar>> = (0..n).map(|k| a.element(row * n + k).first().and_then(|c| c.value)).collect();
        let unknown = || Cell::known(Scalar::I64(0)).unknown();
        match keys {
            None => cells.extend((0..n).map(|_| unknown())),
            Some(keys) => {
                let mut positions: Vec<usize> = (0..n).collect();
                positions.sort_by(|i, k| keys[*i].sort_order(keys[*k]));
                cells.extend(positions.into_iter().map(|k| Cell::known(Scalar::I64(k as i64))));
            }
        }
    }
    Ok(Cells::new(a.extents.clone(), &[ScalarType::I64], cells))
}
