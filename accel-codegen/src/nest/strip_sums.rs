//! The schedules of sums in strips: several results at a time, with explicit vectors. Common operands are loaded once, and
//! every accumulated vector stays in a register.
//!
//! NOTE [Outer products]: suppose that a total is the sum over positions of the products of `x[.., h]` and `y[.., j]`,
//! for all `h` and all `j`. With vectors over the positions, each result would be the sum of the lanes of a vector,
//! which takes as long as the products of a strip. So `y` is transposed first, to vectors over `j` for each position:
//! then the vectors are those of the result. The transposition pays if it is used for many `h`. The result is computed
//! in whole pairs of vectors; the rest is computed as any other total.

use super::edit::Why;
use super::ir::*;
use super::lower::Lowered;
use super::lower::strip::{StripSum, row_sums, totals};
use super::schedule::apply;
use crate::cost_model::{REGISTERS, SUMS};
use crate::text::registers::Vectors;
use accel_core::repr::ScalarType;

/// The vector registers of a processor.
#[derive(Clone, Copy)]
pub struct Machine {
    /// The numbers in a register.
    pub vector: i64,
    /// The number of registers.
    pub registers: usize,
}

impl Machine {
    /// The registers, for numbers of type `t`.
    pub fn new(vectors: Vectors, t: ScalarType) -> Machine {
        Machine { vector: vectors.lanes(t) as i64, registers: vectors.registers }
    }
}

/// The largest number of vectors of the lanes that are computed together. The rest of the [`SUMS`] are for several results, which share
/// their loads. Chosen.
const GROUP: i64 = 4;

/// The nest of the sums of rows.
///
/// # Errors
/// A transformation does not apply.
pub fn rows(sum: &StripSum, m: Machine) -> Result<Nest, Why> {
    let lowered = row_sums(sum);
    apply(&lowered.nest, &lowered.names, &row_schedule(sum, &lowered, m))
}

fn row_schedule(sum: &StripSum, lowered: &Lowered, m: Machine) -> String {
    let (rank, v) = (sum.rank(), m.vector);
    let group = (sum.lanes / v).min(GROUP);
    let mut steps = vec!["accumulate k".to_string(), format!("split l {} exact g p", group * v)];
    let last = format!("i{}", rank.max(1) - 1);
    if rank > 1 {
        steps.insert(0, format!("interchange {last}"));
        steps.push("interchange p".into());
    }
    steps.extend([format!("split p {v} exact v lane"), "vectorise lane".into(), "unroll v".into()]);
    if rank > 1 {
        let few = SUMS / group;
        let mut rest = last.clone();
        // Twice as many sums need half as many loads of common operands.
        if lowered.shares(&last) && m.registers > REGISTERS {
            steps.extend([format!("split {last} {} peel j0 j1 rest", 2 * few), "unroll j1".into()]);
            rest = "rest".into();
        }
        steps.extend([format!("split {rest} {few} clamp j2 j3"), "unroll j3".into()]);
    }
    if group * v == sum.lanes {
        steps.push("unroll g".into());
    }
    steps.join("\n")
}

/// The nest of a total: the sum of the elements of the first `full` lanes, which are whole vectors.
///
/// # Errors
/// A transformation does not apply.
pub fn total(sum: &StripSum, m: Machine) -> Result<Nest, Why> {
    let lowered = totals(sum, m.vector);
    let rank = sum.rank();
    let (h, j) = (format!("i{}", rank.max(2) - 2), format!("i{}", rank.max(1) - 1));
    let outer = if rank > 1 { lowered.outer_product(&h, &j) } else { None };
    let schedule = match outer {
        Some((buffer, dim)) => outer_product(&h, &j, buffer, dim, m),
        None => total_schedule(rank, &h, &j, "l", m),
    };
    apply(&lowered.nest, &lowered.names, &schedule)
}

/// Two by four results at a time of the innermost two indices, or eight of one.
fn total_schedule(rank: usize, h: &str, j: &str, l: &str, m: Machine) -> String {
    let (v, wide) = (m.vector, if rank > 1 { SUMS / 2 } else { SUMS });
    let mut steps = vec![format!("rfactor {l} {v} vectors"), format!("split {j} {wide} clamp j2 j3")];
    if rank > 1 {
        steps.extend([format!("split {h} {} clamp h2 h3", SUMS / wide), "interchange h3".into()]);
    }
    steps.push("unroll j3".into());
    if rank > 1 {
        steps.push("unroll h3".into());
    }
    steps.push("specialise vectors".into());
    steps.join("\n")
}

/// NOTE [Outer products]: `buffer` is that of `y`, and `dim` is its dimension with the index `j`.
fn outer_product(h: &str, j: &str, buffer: BufferId, dim: usize, m: Machine) -> String {
    let v = m.vector;
    let mut steps = vec![
        format!("interchange {h}"),
        format!("split {j} {} peel j0 j1 rest", 2 * v),
        // The rest of the result.
        "interchange rest".into(),
        total_schedule(2, &format!("{h}'"), "rest", "l'", m),
        "interchange j1".into(),
        "accumulate l".into(),
        format!("split j1 {v} exact pair lane"),
        "vectorise lane".into(),
        "unroll pair".into(),
    ];
    let mut rows = h.to_string();
    if m.registers > REGISTERS {
        steps.extend([format!("split {h} {SUMS} peel h0 h1 last"), "unroll h1".into()]);
        rows = "last".into();
    }
    steps.extend([format!("split {rows} {} clamp h4 h5", SUMS / 2), "unroll h5".into()]);
    steps.push(format!("stage j0 b{buffer} {dim} {v}"));
    steps.join("\n")
}

impl Lowered {
    /// Whether results that differ only in this index have numbers of the lanes in common.
    fn shares(&self, index: &str) -> bool {
        let (Some(r), true) = (self.names.get(index), self.is_product) else { return false };
        self.reads.iter().any(|p| !p.index.iter().any(|i| i.contains(*r)))
    }

    /// If the elements are products `x[.., h, ..] * y[.., j, ..]` of numbers of the strip: the buffer of `y`, and the
    /// dimension of `j`.
    fn outer_product(&self, h: &str, j: &str) -> Option<(BufferId, usize)> {
        let (h, j) = (*self.names.get(h)?, *self.names.get(j)?);
        let both = self.factors.as_ref()?;
        let only = |p: &Place, yes, no| {
            let registers = p.index.iter().all(|i| i.as_register().is_some());
            registers && p.index.iter().any(|i| i.contains(yes)) && !p.index.iter().any(|i| i.contains(no))
        };
        let (x, y) = if only(&both[0], h, j) { (&both[0], &both[1]) } else { (&both[1], &both[0]) };
        let fits = only(x, h, j) && only(y, j, h);
        let dim = y.index.iter().position(|i| i.contains(j))?;
        fits.then_some((y.buffer, dim))
    }
}
