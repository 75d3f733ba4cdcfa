//! The roles of the statements of a strip.

use super::value::value;
use crate::kernel::{ArrayId, Block, Instr, Op, Reduction, ScalarFn, walk};
use std::collections::BTreeSet;

/// The role of a statement in strips of a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A `Loop` or `Reduce` whose results have the dimension as their outermost one. It computes every position
    /// independently.
    Row,
    /// A `Reduce` along the dimension.
    Total,
}

/// The roles of the statements of a strip with the results `to`.
///
/// # Errors
/// The reason why the statements cannot be executed in strips. They can if
/// - the outermost extent of a row statement, or the length of the rows of a total, is the same value as `len`;
/// - the elements of a row statement, and those that a total combines, read arrays of the body only where the outermost
///   index is the position in the dimension (the first parameter, for a total the last one), and other scalar functions
///   read none of these arrays;
/// - no statement of the body reads a total, and the totals are among the results.
pub fn roles(to: &[ArrayId], len: &ScalarFn, body: &Block) -> Result<Vec<Role>, String> {
    let unique: BTreeSet<_> = to.iter().collect();
    if unique.len() < to.len() {
        return Err("a result is named twice".into());
    }
    let len = value(len, 0).ok_or("the extent is no simple value")?;
    let (mut rows, mut totals) = (BTreeSet::new(), BTreeSet::new());
    let mut found = vec![];
    for s in &body.stmts {
        let names = || s.op.defines().iter().map(|a| format!("a{a}")).collect::<Vec<_>>().join(", ");
        if s.op.scalar_fns().iter().any(|(_, c)| reads_any(&c.instrs, &totals)) {
            return Err(format!("{}: reads a total", names()));
        }
        let role = role(&s.op, &Lengths::new(&s.op), &len, &rows)
            .ok_or_else(|| format!("{}: cannot be executed in strips", names()))?;
        let defined = s.op.defines();
        match role {
            Role::Row => rows.extend(defined),
            Role::Total if s.op.defines().iter().all(|a| unique.contains(a)) => totals.extend(defined),
            Role::Total => return Err(format!("{}: a total that is not a result", names())),
        }
        found.push(role);
    }
    Ok(found)
}

/// The symbolic lengths of a statement: its outermost extent, and the length of the rows that it reduces, if it has
/// them.
#[derive(Clone, Default)]
pub(super) struct Lengths {
    pub outermost: Option<String>,
    pub reduced: Option<String>,
}

impl Lengths {
    pub fn new(op: &Op) -> Lengths {
        match op {
            Op::Loop { extents, .. } => Lengths { outermost: value(extents, 0), reduced: None },
            Op::Reduce { extents, rows, .. } => Lengths { outermost: value(extents, 0), reduced: value(&rows.len, 0) },
            _ => Lengths::default(),
        }
    }
}

/// The role of a statement in strips of a dimension with extent `len`, in which `rows` are computed. `None` if it has
/// none.
pub(super) fn role(op: &Op, lengths: &Lengths, len: &str, rows: &BTreeSet<ArrayId>) -> Option<Role> {
    let is_outermost = lengths.outermost.as_deref() == Some(len);
    let reads_none = |codes: &[&ScalarFn]| codes.iter().all(|c| !reads_any(&c.instrs, rows));
    match op {
        Op::Loop { extents, body, .. } => {
            let fits = is_outermost && reads_none(&[extents]) && reads_at(&body.instrs, 0, rows);
            fits.then_some(Role::Row)
        }
        Op::Reduce { extents, rows: Reduction { len: length, element, init, op, .. }, .. } => {
            let is_reduced = lengths.reduced.as_deref() == Some(len);
            let others: Vec<&ScalarFn> = [extents, length, op].into_iter().chain(init).collect();
            if !(is_outermost || is_reduced) || !reads_none(&others) {
                None
            } else if is_outermost && reads_at(&element.instrs, 0, rows) {
                Some(Role::Row)
            } else {
                (is_reduced && reads_at(&element.instrs, extents.results.len(), rows)).then_some(Role::Total)
            }
        }
        _ => None,
    }
}

fn reads_any(instrs: &[Instr], arrays: &BTreeSet<ArrayId>) -> bool {
    walk(instrs).any(|i| matches!(i, Instr::Read { array, .. } if arrays.contains(array)))
}

/// Whether `arrays` are read only where the outermost index is `position`.
fn reads_at(instrs: &[Instr], position: usize, arrays: &BTreeSet<ArrayId>) -> bool {
    walk(instrs).all(|i| match i {
        Instr::Read { array, index, .. } => !arrays.contains(array) || index.first().is_some_and(|r| *r == position),
        _ => true,
    })
}
