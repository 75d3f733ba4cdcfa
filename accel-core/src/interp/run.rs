//! Executes a plan step by step and frees arrays after their last use.

use super::code::{Machine, bool, no_element};
use super::extents::{extents, int};
use super::lists::{self, Entry, List};
use super::ops;
use super::plan::{Block, Op, Plan, Step, Trips};
use super::slots::{Content, Slot, Slots};
use super::watch::Watch;
use crate::ast::{Dir, deep};
use crate::error::{Error, Result};
use crate::nan::{Appearance, Finding};
use crate::repr::tree::Tree;
use crate::repr::{ArrayTuple, Scalar};

/// The result for an argument of the program's type, and the peak of [`Slots`].
pub fn run(plan: &Plan, argument: &ArrayTuple) -> Result<(ArrayTuple, usize)> {
    let mut slots = Slots::new(plan.slots);
    let result = result(plan, argument, &mut slots)?;
    Ok((result, slots.peak()))
}

/// As [`Interpreted::run_watched`](super::Interpreted::run_watched).
pub fn run_watched(plan: &Plan, argument: &ArrayTuple) -> Result<(Option<Finding>, Option<ArrayTuple>)> {
    let mut slots = Slots::new(plan.slots);
    slots.watch = Some(Watch::for_nan());
    let result = result(plan, argument, &mut slots);
    let found = slots.watch.and_then(Watch::finding);
    match (result, found) {
        (Err(e), None) => Err(e),
        (result, found) => Ok((found, result.ok())),
    }
}

/// As [`Interpreted::first_kink`](super::Interpreted::first_kink).
pub fn first_kink(plan: &Plan, argument: &ArrayTuple) -> Result<Option<Appearance>> {
    let mut slots = Slots::new(plan.slots);
    slots.watch = Some(Watch::for_kinks());
    result(plan, argument, &mut slots)?;
    Ok(slots.watch.and_then(Watch::kink))
}

/// As [`Interpreted::errors`](super::Interpreted::errors).
pub fn errors(plan: &Plan, argument: &ArrayTuple) -> Result<Vec<Error>> {
    let mut slots = Slots::new(plan.slots);
    slots.errors = Some(vec![]);
    put_argument(argument, &mut 0, &mut slots)?;
    block(&plan.body, &mut slots)?;
    Ok(slots.errors.unwrap_or_default())
}

fn result(plan: &Plan, argument: &ArrayTuple, slots: &mut Slots) -> Result<ArrayTuple> {
    put_argument(argument, &mut 0, slots)?;
    block(&plan.body, slots)?;
    tuple(&plan.body.result, slots)
}

/// Puts the arrays of the argument into the slots from `next` on.
fn put_argument(a: &ArrayTuple, next: &mut Slot, slots: &mut Slots) -> Result<()> {
    match a {
        ArrayTuple::Unit => {}
        ArrayTuple::Array(a) => {
            slots.put(*next, a.clone());
            *next += 1;
        }
        ArrayTuple::Pair(p) => {
            put_argument(&p.0, next, slots)?;
            put_argument(&p.1, next, slots)?;
        }
    }
    Ok(())
}

fn tuple(t: &Tree<Slot>, slots: &Slots) -> Result<ArrayTuple> {
    Ok(match t {
        Tree::Unit => ArrayTuple::Unit,
        Tree::Leaf(s) => ArrayTuple::Array(slots.get(*s)?.clone()),
        Tree::Pair(p) => ArrayTuple::pair(tuple(&p.0, slots)?, tuple(&p.1, slots)?),
    })
}

/// Executes the steps of a block. The slots of its result are not freed.
fn block(b: &Block, slots: &mut Slots) -> Result<()> {
    for s in &b.steps {
        if let Err(e) = deep(|| step(s, slots)) {
            slots.note(e)?;
            let sh = ops::extents_of(&s.op, s.place, slots);
            // What has its extents from a failed operation has negative ones, too. Folds and scans also have the length of its rows.
            let inherited = match &s.op {
                Op::Generate { .. } | Op::Backpermute { .. } | Op::Reshape { .. } => None,
                _ => sh.clone(),
            };
            for sh in inherited.into_iter().chain(ops::row_length(&s.op, slots)) {
                if let Err(e) = extents(s.place, sh.iter().map(|e| Scalar::I64(*e as i64))) {
                    slots.note(e)?;
                }
            }
            s.to.iter().for_each(|to| slots.put(*to, Content::Failed(sh.clone())));
        }
        s.frees.iter().for_each(|s| slots.free(*s));
    }
    Ok(())
}

/// Executes a block, moves its result to other slots, which may be among those that it reads, and frees its own slots.
fn block_into(b: &Block, to: &[Slot], slots: &mut Slots) -> Result<()> {
    block(b, slots)?;
    let arrays = copies(&b.result.leaves(), slots)?;
    b.kept.iter().for_each(|s| slots.free(*s));
    put_all(to, arrays, slots);
    Ok(())
}

fn copies(from: &[Slot], slots: &Slots) -> Result<Vec<Content>> {
    from.iter().map(|s| slots.content(*s).cloned()).collect()
}

fn put_all(to: &[Slot], arrays: impl IntoIterator<Item = Content>, slots: &mut Slots) {
    to.iter().zip(arrays).for_each(|(to, a)| slots.put(*to, a));
}

fn step(s: &Step, slots: &mut Slots) -> Result<()> {
    let arrays = match &s.op {
        Op::Copy(from) => copies(from, slots)?,
        Op::Cond { cond, then, otherwise } => {
            let mut m = Machine::new(cond, slots, s.place)?;
            m.call()?;
            let chosen = if bool(m.result(0))? { then } else { otherwise };
            return block_into(chosen, &s.to, slots);
        }
        Op::While { cond, body } => {
            watch(slots, |w| w.enter_loop(s.place));
            while continues(cond, slots)? {
                block_into(body, &s.to, slots)?;
                watch(slots, Watch::finish_step);
            }
            watch(slots, Watch::leave_loop);
            return Ok(());
        }
        Op::Accumulate { sh, f, init } => {
            ops::accumulate(sh, f, init, s.place, slots)?.into_iter().map(Content::Array).collect()
        }
        Op::Foreign { call, sh, a, results } => {
            ops::foreign(call, sh, a, results, s.place, slots)?.into_iter().map(Content::Array).collect()
        }
        Op::Agree { agreement, left, right, a } => {
            if let Err(e) = ops::agree(*agreement, left, right, s.place, slots) {
                slots.note(e)?;
            }
            copies(&[*a], slots)?
        }
        Op::Loop { trips, rows, body, lists } => return loop_(s, trips, rows, body, lists, slots),
        op => vec![Content::Array(ops::compute(op, s.place, slots)?)],
    };
    put_all(&s.to, arrays, slots);
    Ok(())
}

/// Tells the watch, if there is one.
fn watch(slots: &mut Slots, tell: impl FnOnce(&mut Watch)) {
    if let Some(watch) = &mut slots.watch {
        tell(watch);
    }
}

/// Executes a loop that takes rows of arrays and lists arrays.
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
            let mut m = Machine::new(n, slots, s.place)?;
            m.call()?;
            (int(m.result(0))?, *dir)
        }
    };
    let mut lists: Vec<Option<List>> = entries.iter().map(|_| Some(List::new())).collect();
    watch(slots, |w| w.enter_loop(s.place));
    for k in 0..n {
        if let Trips::While(cond) = trips
            && !continues(cond, slots)?
        {
            break;
        }
        for (xs, row) in rows {
            let k = if dir == Dir::Left { k } else { n - 1 - k };
            let x = lists::row(slots.get(*xs)?, k, s.place)?;
            slots.put(*row, x);
        }
        block(body, slots)?;
        let mut arrays = copies(&body.result.leaves(), slots)?;
        body.kept.iter().for_each(|s| slots.free(*s));
        let listed = arrays.split_off(state.len());
        put_all(state, arrays, slots);
        for (list, a) in lists.iter_mut().zip(listed) {
            let pushed = match (&mut *list, a) {
                (Some(list), Content::Array(a)) => list.push(a, s.place).map_err(|e| slots.note(e)),
                _ => Err(Ok(())),
            };
            // In a run that goes on after errors, the other lists and the state go on.
            if let Err(noted) = pushed {
                noted?;
                *list = None;
            }
        }
        watch(slots, Watch::finish_step);
    }
    watch(slots, Watch::leave_loop);
    let reverse = dir == Dir::Right;
    let finish = |(list, t): (Option<List>, &Entry)| match list {
        Some(list) => list.finish(t, reverse, s.place).map(Content::Array),
        None => Ok(Content::Failed(None)),
    };
    let lists = lists.into_iter().zip(entries).map(finish).collect::<Result<Vec<_>>>()?;
    put_all(to, lists, slots);
    Ok(())
}

/// Whether a loop continues: the condition is an array of one element.
fn continues(cond: &Block, slots: &mut Slots) -> Result<bool> {
    block(cond, slots)?;
    let element = match cond.result.leaves().first() {
        Some(s) => slots.get(*s)?.columns.first().and_then(|c| c.get(0)).ok_or_else(no_element)?,
        None => return Err(Error::Internal("a loop condition without a value".into())),
    };
    cond.kept.iter().for_each(|s| slots.free(*s));
    bool(element)
}
