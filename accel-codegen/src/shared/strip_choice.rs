//! Whether strips pay for the extents of arguments.
//!
//! NOTE [Choice of strips]: the host program decides in each run whether a strip pays, when the extents of its arrays are known. If one
//! does not, the program without it has to be compiled. A C compiler takes seconds for a large program, so before anything is compiled,
//! the decisions are predicted from the extents of the arguments. A prediction can be wrong, or be missing: extents may depend on elements.
//! Then the run finds out.

use super::strip::Strip;
use super::tiled_reduce::Tiled;
use crate::cost_model::STRIPS;
use crate::text::registers::Vectors;
use accel_core::error::{Error, Result};
use accel_core::repr::Scalar;
use accel_fusion::kernel::scalar_evaluation::{self, Store};
use accel_fusion::kernel::{ArrayId, Block, Op, Program, ScalarFn, SiteId};
use accel_fusion::strip::{Role, roles, sums_across};
use std::collections::{BTreeMap, BTreeSet};

/// A condition under which a strip does not pay.
pub enum Excluded {
    /// Its working memory is too large for the number of its positions.
    Memory,
    /// There are fewer positions than results of a position, so vectors of these results are better.
    Wide(ArrayId),
    /// The innermost extent of these results is at least this, so tiles are better.
    Tiles(ArrayId, i64),
}

/// The conditions under which a strip of these statements does not pay.
pub fn exclusions(program: &Program, vectors: Vectors, to: &[ArrayId], len: &ScalarFn, body: &Block) -> Vec<Excluded> {
    let mut all = vec![Excluded::Memory];
    for (role, s) in roles(to, len, body).unwrap_or_default().into_iter().zip(&body.stmts) {
        if let (Role::Row, true, Op::Reduce { to, rows, .. }) = (role, sums_across(&s.op), &s.op) {
            all.push(Excluded::Wide(*to));
            all.extend(Tiled::new(program, vectors, *to, rows).map(|tiled| Excluded::Tiles(*to, tiled.least())));
        }
    }
    all
}

/// The strips that do not pay for inputs of these extents, as far as this can be predicted: the first arrays that they define. NOTE
/// [Choice of strips].
pub fn excluded_strips(program: &Program, vectors: Vectors, inputs: &[Vec<usize>]) -> BTreeSet<ArrayId> {
    let mut known = Known::new(program, inputs);
    let mut excluded = BTreeSet::new();
    for s in program.body.walk() {
        known.note(&s.op, s.site);
        if let Op::Strip { to, len, body } = &s.op {
            body.stmts.iter().for_each(|s| known.note(&s.op, s.site));
            let conditions = exclusions(program, vectors, to, len, body);
            if conditions.iter().any(|c| known.holds(c, s.site, to, len, body) == Some(true)) {
                excluded.extend(to.first());
            }
        }
    }
    excluded
}

/// The extents of the arrays of which they are known.
pub struct Known<'p> {
    program: &'p Program,
    extents: BTreeMap<ArrayId, Vec<usize>>,
}

impl Store for Known<'_> {
    fn extent(&self, a: ArrayId, dim: usize) -> Result<usize> {
        let found = self.extents.get(&a).and_then(|extents| extents.get(dim));
        found.copied().ok_or_else(|| Error::Internal(format!("the extents of a{a} are not known")))
    }

    fn scalar(&self, a: ArrayId, _: usize, _: usize) -> Result<Scalar> {
        Err(Error::Internal(format!("the elements of a{a} are not known")))
    }
}

impl<'p> Known<'p> {
    /// With those of the inputs.
    pub fn new(program: &'p Program, inputs: &[Vec<usize>]) -> Self {
        Known { program, extents: program.inputs.iter().copied().zip(inputs.iter().cloned()).collect() }
    }

    /// Enters the extents of the arrays that the operation defines, if they follow from the known ones. The state of a loop is taken to
    /// keep its extents.
    pub fn note(&mut self, op: &Op, site: SiteId) {
        let same = |like: &ArrayId| self.extents.get(like).cloned();
        let found: Vec<Option<Vec<usize>>> = match op {
            Op::Literal { literal, .. } => vec![Some(self.program.literals[*literal].extents.to_vec())],
            Op::Loop { to, extents, .. } => vec![self.evaluated(extents, site); to.len()],
            Op::Accumulate { to, sums, extents, .. } => {
                let sums = sums.iter().map(|(_, from)| same(from));
                vec![self.evaluated(extents, site); to.len()].into_iter().chain(sums).collect()
            }
            Op::Reduce { extents, .. } | Op::Reshape { extents, .. } => vec![self.evaluated(extents, site)],
            Op::Scan { extents, down, rows, .. } => {
                let row = || Some(self.evaluated(&rows.len, site)?.first()? + usize::from(rows.init.is_some()));
                let with = |mut extents: Vec<usize>| {
                    extents.push(row()?);
                    let last = extents.len() - 1;
                    if *down && last > 0 {
                        extents.swap(last - 1, last);
                    }
                    Some(extents)
                };
                vec![self.evaluated(extents, site).and_then(with)]
            }
            Op::Permute { defaults, .. } => vec![same(defaults)],
            Op::Argsort { to, keys, .. } => vec![same(keys); to.len()],
            Op::Foreign { to, extents, .. } => {
                let all = scalar_evaluation::extents_of_each(self.program, self, extents, to, site);
                all.into_iter().flatten().map(Some).collect()
            }
            Op::While { init, .. } => init.iter().map(same).collect(),
            _ => vec![],
        };
        for (a, extents) in op.defines().iter().zip(found) {
            self.extents.extend(extents.map(|extents| (*a, extents)));
        }
    }

    /// The results of a function of extents, if they are known.
    pub fn evaluated(&self, code: &ScalarFn, site: SiteId) -> Option<Vec<usize>> {
        scalar_evaluation::extents(self.program, self, code, site).ok()
    }

    /// Whether a condition holds.
    fn holds(&self, excluded: &Excluded, site: SiteId, to: &[ArrayId], len: &ScalarFn, body: &Block) -> Option<bool> {
        let positions = *self.evaluated(len, site)?.first()?;
        let extents = |a: ArrayId| self.extents.get(&a).map(Vec::as_slice);
        Some(match excluded {
            Excluded::Memory => {
                let reduced = |rows: &ScalarFn| self.evaluated(rows, site)?.first().copied();
                let bytes = Strip::new(self.program, to, len, body).memory(extents, reduced)?;
                let [few @ .., (_, last)] = STRIPS;
                let limit = few.iter().find(|(below, _)| positions < *below).map_or(last, |(_, bytes)| *bytes);
                bytes > limit
            }
            Excluded::Wide(a) => positions < extents(*a)?.iter().skip(1).product::<usize>(),
            Excluded::Tiles(a, least) => *extents(*a)?.last().unwrap_or(&1) as i64 >= *least,
        })
    }
}
