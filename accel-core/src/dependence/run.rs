//! Executes a plan on cells.

use super::cells::{Arrays, Cell, Cells, Result, Stop};
use super::code::either;
use super::ops::{Slots, compute};
use crate::ast::{Dir, deep};
use crate::error::Error;
use crate::interp::code::bool;
use crate::interp::lists::{Entry, check_shape, extents_of_list, place_of_row};
use crate::interp::place::Place;
use crate::interp::plan::{Block, Op, Plan, Step, Trips};
use crate::interp::slots::Slot;
use std::rc::Rc;

/// The arrays of the result, from left to right.
pub fn run(plan: &Plan, arguments: &Arrays) -> Result<Arrays> {
    let mut slots = Slots(vec![None; plan.slots]);
    put(&mut slots, 0..arguments.len(), arguments.clone());
    block(&plan.body, &mut slots)?;
    results(&plan.body, &slots)
}

fn put(slots: &mut Slots, to: impl IntoIterator<Item = Slot>, arrays: Arrays) {
    to.into_iter().zip(arrays).for_each(|(to, a)| slots.0[to] = Some(a));
}

fn results(b: &Block, slots: &Slots) -> Result<Arrays> {
    b.result.leaves().into_iter().map(|s| slots.get(s).cloned()).collect()
}

fn block(b: &Block, slots: &mut Slots) -> Result<()> {
    for s in &b.steps {
        deep(|| step(s, slots))?;
        s.frees.iter().for_each(|s| slots.0[*s] = None);
    }
    Ok(())
}

/// The results of a block, which frees its own slots.
fn value(b: &Block, slots: &mut Slots) -> Result<Arrays> {
    block(b, slots)?;
    let arrays = results(b, slots)?;
    b.kept.iter().for_each(|s| slots.0[*s] = None);
    Ok(arrays)
}

fn step(s: &Step, slots: &mut Slots) -> Result<()> {
    let arrays = match &s.op {
        Op::Cond { cond, then, otherwise } => {
            let cond = slots.value(cond, s.place)?;
            match truth(&cond)? {
                Some(true) => value(then, slots)?,
                Some(false) => value(otherwise, slots)?,
                None => {
                    let first = value(then, &mut slots.clone());
                    match either(first, value(otherwise, &mut slots.clone()))? {
                        (Some(first), Some(second)) => join(&first, &second, s.place)?,
                        (first, second) => first.or(second).unwrap_or_default(),
                    }
                }
            }
        }
        Op::While { cond, body } => loop {
            match continues(cond, slots)? {
                Some(false) => return Ok(()),
                Some(true) => {
                    let next = value(body, slots)?;
                    put(slots, s.to.iter().copied(), next);
                }
                None => return repeat(s, body, slots),
            }
        },
        Op::Loop { trips, rows, body, lists } => return loop_(s, trips, rows, body, lists, slots),
        op => compute(op, s.place, slots)?,
    };
    put(slots, s.to.iter().copied(), arrays);
    Ok(())
}

/// Repeats a loop whose condition is not known until its state does not change.
fn repeat(s: &Step, body: &Block, slots: &mut Slots) -> Result<()> {
    loop {
        let before = s.to.iter().map(|s| slots.get(*s).cloned()).collect::<Result<Arrays>>()?;
        let (Some(next), _) = either(value(body, &mut slots.clone()), Ok(vec![]))? else { return Ok(()) };
        let state = join(&before, &next, s.place)?;
        let is_the_same = before.iter().zip(&state).all(|(a, b)| a.cells == b.cells);
        put(slots, s.to.iter().copied(), state);
        if is_the_same {
            return Ok(());
        }
    }
}

fn join(first: &Arrays, second: &Arrays, place: Place) -> Result<Arrays> {
    first.iter().zip(second).map(|(a, b)| a.join(b, place)).collect()
}

fn truth(cells: &[Cell]) -> Result<Option<bool>> {
    let cell = cells.first().ok_or_else(|| Error::Internal("a condition without a value".into()))?;
    Ok(cell.value.map(bool).transpose()?)
}

fn continues(cond: &Block, slots: &mut Slots) -> Result<Option<bool>> {
    let arrays = value(cond, slots)?;
    truth(arrays.first().map(|a| &*a.cells).unwrap_or_default())
}

fn loop_(
    s: &Step,
    trips: &Trips,
    rows: &[(Slot, Slot)],
    body: &Block,
    entries: &[Entry],
    slots: &mut Slots,
) -> Result<()> {
    let (state, to) = s.to.split_at(s.to.len() - entries.len());
    let (n, dir) = match trips {
        Trips::While(_) => (i64::MAX, Dir::Left),
        Trips::Times(n, dir) => {
            let n = slots.integers(n, s.place, "a number of steps")?;
            (n.first().copied().unwrap_or_default(), *dir)
        }
    };
    let mut lists: Vec<Arrays> = vec![vec![]; entries.len()];
    for k in 0..n {
        if let Trips::While(cond) = trips {
            match continues(cond, slots)? {
                Some(true) => {}
                Some(false) => break,
                None => return Err(Stop::unknown(s.place, "a number of steps")),
            }
        }
        for (xs, row) in rows {
            let k = if dir == Dir::Left { k } else { n - 1 - k };
            let row_cells = row_of(slots.get(*xs)?, k, s.place)?;
            slots.0[*row] = Some(Rc::new(row_cells));
        }
        let mut arrays = value(body, slots)?;
        let listed = arrays.split_off(state.len());
        put(slots, state.iter().copied(), arrays);
        lists.iter_mut().zip(listed).for_each(|(list, a)| list.push(a));
    }
    let list = |(list, t)| list_of(list, t, dir == Dir::Right, s.place).map(Rc::new);
    let lists = lists.into_iter().zip(entries).map(list).collect::<Result<_>>()?;
    put(slots, to.iter().copied(), lists);
    Ok(())
}

fn row_of(a: &Cells, k: i64, place: Place) -> Result<Cells> {
    let (inner, places) = place_of_row(&a.extents, k, place)?;
    let width = a.types.len();
    Ok(Cells::new(inner.into(), &a.types, a.cells[places.start * width..places.end * width].to_vec()))
}

fn list_of(mut list: Arrays, t: &Entry, reverse: bool, place: Place) -> Result<Cells> {
    if reverse {
        list.reverse();
    }
    let extents = extents_of_list(list.len(), list.first().map(|a| &a.extents[..]), t);
    list.iter().try_for_each(|a| check_shape(&extents[1..], &a.extents, place))?;
    let mut cells = Cells::space(&extents, &t.columns, place)?;
    cells.extend(list.iter().flat_map(|a| a.cells.iter().cloned()));
    Ok(Cells::new(extents, &t.columns, cells))
}
