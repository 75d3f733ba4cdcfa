//! The choice of the ways in which reductions are computed: NOTE [Ways on demand] in [`super::ways`].

use super::interchanged_reduce::{are_parts, columns_nest};
use super::reduce::{Across, across, called};
use super::scan::Scan;
use super::strip_choice::Known;
use super::tiled_reduce::Tiled;
use super::ways::{KnownWays, Way, Ways};
use crate::analysis::partition::part_size;
use crate::cost_model::{SERIAL, TASKS};
use crate::text::dialect::Dialect;
use crate::text::registers::Vectors;
use accel_fusion::kernel::{ArrayId, Op, Program, Reduction, ScalarFn};

/// The ways in which a program computes its reductions and scans for inputs of these extents, as far as these tell.
pub fn ways_for(program: &Program, vectors: Vectors, inputs: &[Vec<usize>]) -> KnownWays {
    let mut known = Known::new(program, inputs);
    let mut ways = KnownWays::new();
    for s in program.body.walk() {
        known.note(&s.op, s.site);
        let sizes = |extents: &ScalarFn, rows: &Reduction| {
            let [extents, len] = [extents, &rows.len].map(|code| known.evaluated(code, s.site));
            Some((extents?, *len?.first()?))
        };
        let found = match &s.op {
            Op::Reduce { to, extents, rows } => sizes(extents, rows)
                .map(|(extents, len)| (*to, ways_of_reduction(program, vectors, *to, rows, &extents, len))),
            Op::Scan { to, extents, rows, .. } => {
                let blocks = Scan::new(&s.op).is_some_and(|scan| scan.in_blocks());
                sizes(extents, rows).map(|(extents, len)| (*to, ways_of_scan(rows, blocks, &extents, len)))
            }
            _ => None,
        };
        ways.extend(found);
    }
    ways
}

/// Whether this number of rows is processed by several threads.
fn are_large(n: usize, len: usize, rows: &Reduction) -> bool {
    n.saturating_mul(len.max(1)).saturating_mul(rows.cost()) >= SERIAL
}

fn product(extents: &[usize]) -> usize {
    extents.iter().fold(1, |n, e| n.saturating_mul(*e))
}

/// The ways in which a scan along rows of this length is computed, or one in blocks of rows.
fn ways_of_scan(rows: &Reduction, in_blocks: bool, extents: &[usize], len: usize) -> Ways {
    let n = product(extents);
    let are_large = are_large(n, len, rows);
    let ways = if are_large { Ways::NONE.with(Way::Large) } else { Ways::NONE };
    let is_cut = are_large && !in_blocks && part_size(n, len, rows.cost(), TASKS).is_some();
    ways.with(if is_cut { Way::Parts } else { Way::Long })
}

/// The ways in which a reduction with these extents is computed, with `len` elements in a row.
fn ways_of_reduction(
    program: &Program,
    vectors: Vectors,
    to: ArrayId,
    rows: &Reduction,
    extents: &[usize],
    len: usize,
) -> Ways {
    let outer = extents.len();
    let in_tiles = || {
        let width = *extents.last().unwrap_or(&1) as i64;
        Tiled::new(program, vectors, to, rows).is_some_and(|tiled| width >= tiled.least())
    };
    let columns = columns_nest(program, to, outer, rows).is_some();
    let along = || match across(program, Dialect::C, to, outer, rows) {
        _ if columns => Way::Columns,
        Across::If(lens, _) if lens.contains(&(len as i64)) => Way::Across,
        Across::Always(_) => Way::Across,
        _ if (len as i64) < called(rows) => Way::Short,
        _ => Way::Long,
    };
    let n = product(extents);
    if !are_large(n, len, rows) {
        return Ways::NONE.with(if in_tiles() { Way::Tiles } else { along() });
    }
    let ways = Ways::NONE.with(Way::Large);
    if in_tiles() {
        // A single row of tiles may be cut into tasks that are too narrow for them.
        let ways = ways.with(Way::Tiles);
        return if extents.first() > Some(&1) { ways } else { ways.with(along()) };
    }
    if columns && are_parts(n, len) {
        return ways.with(Way::ColumnParts);
    }
    ways.with(if part_size(n, len, rows.cost(), TASKS).is_some() { Way::Parts } else { along() })
}
