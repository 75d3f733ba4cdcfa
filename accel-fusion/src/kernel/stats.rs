//! Estimates the cost of a kernel program without running it.

use super::ids::{ArrayId, Reg};
use super::ir::*;
use super::uses::arrays_read;
use accel_core::ast::deep;
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The cost of a program. It counts both branches of conditionals, and the body of a loop once.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Statements that compute elements: `Loop`, `Accumulate`, `Reduce`, `Scan`, `Permute`, and strips. The
    /// statements inside a strip are not counted.
    pub kernels: usize,
    /// Kernels that go through memory: all except those for single elements. A `Permute` and an `Accumulate` count twice,
    /// since they copy first.
    pub loops: usize,
    /// Arrays with memory of their own. Literals, results of `Reshape`, and what control flow defines have none.
    pub arrays: usize,
    /// The bytes of the arrays that each kernel reads. Each array counts once per kernel, with its full size.
    pub bytes_read: Formula,
    /// The bytes of the arrays that each kernel writes.
    pub bytes_written: Formula,
}

impl fmt::Display for Stats {
    /// `kernels 3, loops 2, arrays 3, bytes read 8·a0.0, bytes written 8`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stats { kernels, loops, arrays, bytes_read, bytes_written } = self;
        write!(f, "kernels {kernels}, loops {loops}, arrays {arrays}, ")?;
        write!(f, "bytes read {bytes_read}, bytes written {bytes_written}")
    }
}

/// Extent `.1` of array `.0`, which is an input, or an array whose extents are not a simple function of those of
/// inputs.
type Symbol = (ArrayId, usize);

/// A number of bytes or elements: a sum of products of extents. It is written `16·a0.0·a0.1 + 8`, where `a0.1` is
/// extent 1 of array 0.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Formula {
    /// The coefficient of every product; none is 0.
    terms: BTreeMap<Vec<Symbol>, i128>,
}

impl Formula {
    /// A constant.
    fn constant(n: i128) -> Formula {
        Formula::term(vec![], n)
    }

    fn term(extents: Vec<Symbol>, factor: i128) -> Formula {
        Formula { terms: [(extents, factor)].into_iter().filter(|t| t.1 != 0).collect() }
    }

    fn add(&mut self, other: &Formula, factor: i128) {
        for (extents, n) in &other.terms {
            let sum = self.terms.entry(extents.clone()).or_insert(0);
            *sum = sum.saturating_add(n.saturating_mul(factor));
            if *sum == 0 {
                self.terms.remove(extents);
            }
        }
    }

    fn times(&self, other: &Formula) -> Formula {
        let mut product = Formula::default();
        for (a, m) in &self.terms {
            for (b, n) in &other.terms {
                let mut extents = [&a[..], b].concat();
                extents.sort_unstable();
                product.add(&Formula::term(extents, m.saturating_mul(*n)), 1);
            }
        }
        product
    }

    /// The value for known extents: `extents(a)` are those of array `a`. `None` if an extent is unknown or the value is
    /// too large.
    pub fn value(&self, extents: impl Fn(ArrayId) -> Option<Vec<usize>>) -> Option<i128> {
        self.terms.iter().try_fold(0i128, |sum, (symbols, factor)| {
            let product = symbols
                .iter()
                .try_fold(*factor, |n, (a, dim)| n.checked_mul(i128::try_from(*extents(*a)?.get(*dim)?).ok()?));
            sum.checked_add(product?)
        })
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        // Products of many extents come first.
        let mut terms: Vec<_> = self.terms.iter().collect();
        terms.sort_by_key(|(symbols, _)| std::cmp::Reverse(symbols.len()));
        for (k, (symbols, n)) in terms.into_iter().enumerate() {
            let sign = match (k, *n < 0) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            };
            write!(f, "{sign}{}", n.unsigned_abs())?;
            symbols.iter().try_for_each(|(a, dim)| write!(f, "·a{a}.{dim}"))?;
        }
        Ok(())
    }
}

impl Program {
    /// The cost of the program. The figures are meaningful only for a well-formed program.
    pub fn stats(&self) -> Stats {
        let mut c = Counter { p: self, extents: BTreeMap::new(), stats: Stats::default() };
        c.block(&self.body);
        c.stats
    }
}

struct Counter<'a> {
    p: &'a Program,
    /// The extents of those arrays for which they are simple functions of others.
    extents: BTreeMap<ArrayId, Vec<Formula>>,
    stats: Stats,
}

/// The size of an element in memory, in bytes.
pub(crate) fn width(columns: &[ScalarType]) -> i128 {
    let bytes = |t: &ScalarType| match t {
        ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => 1,
        ScalarType::I16 | ScalarType::U16 => 2,
        ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 4,
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => 8,
    };
    columns.iter().map(bytes).sum()
}

impl Counter<'_> {
    fn block(&mut self, b: &Block) {
        for s in &b.stmts {
            self.stmt(&s.op);
            if !matches!(s.op, Op::Strip { .. }) {
                s.op.blocks().into_iter().for_each(|b| deep(|| self.block(b)));
            }
        }
    }

    fn stmt(&mut self, op: &Op) {
        if let Op::Strip { body, .. } = op {
            body.stmts.iter().for_each(|s| self.note_extents(&s.op));
        }
        self.note_extents(op);
        let single = |to: &[ArrayId]| to.iter().all(|a| self.p.arrays.get(*a).is_some_and(|a| a.rank == 0));
        let passes = match op {
            Op::Loop { to, .. } => usize::from(!single(to)),
            Op::Reduce { .. } | Op::Scan { .. } | Op::Strip { .. } => 1,
            Op::Permute { .. } | Op::Argsort { .. } | Op::Accumulate { .. } | Op::Foreign { .. } => 2,
            Op::Literal { .. } | Op::Reshape { .. } | Op::Agree { .. } => return,
            Op::If { .. } | Op::While { .. } | Op::Keep { .. } | Op::Recall { .. } => return,
        };
        self.stats.kernels += 1;
        self.stats.loops += passes;
        self.stats.arrays += op.defines().len();
        let mut read = BTreeSet::new();
        op.arrays_used_whole(&mut read);
        op.defines().iter().for_each(|a| _ = read.remove(a));
        op.scalar_fns().into_iter().for_each(|(_, c)| arrays_read(&c.instrs, &mut read));
        if let Op::Strip { body, .. } = op {
            let mut inside: BTreeSet<ArrayId> = BTreeSet::new();
            for s in &body.stmts {
                s.op.scalar_fns().into_iter().for_each(|(_, c)| arrays_read(&c.instrs, &mut read));
                inside.extend(s.op.defines());
            }
            read.retain(|a| !inside.contains(a));
        }
        for a in read {
            let bytes = self.bytes(a);
            self.stats.bytes_read.add(&bytes, 1);
        }
        for a in op.defines() {
            let bytes = self.bytes(a);
            self.stats.bytes_written.add(&bytes, 1);
        }
    }

    /// Records the extents of the arrays that an operation defines.
    fn note_extents(&mut self, op: &Op) {
        let mut to = op.defines();
        if let Op::Accumulate { to: loops, sums, .. } = op {
            to.truncate(loops.len());
            for (sum, initial) in sums {
                let same = self.extents_like(*initial);
                self.note(*sum, &same);
            }
        }
        if let Op::Foreign { to, extents, .. } = op {
            let all = self.formulas(extents);
            extents_of_each(to, &all, &self.p.arrays).into_iter().for_each(|(a, own)| self.note(a, own));
        }
        if let Some(extents) = self.extents_of(op) {
            to.into_iter().for_each(|a| self.note(a, &extents));
        }
    }

    /// Records the extents of an array. Those that are not a function of others become symbols.
    fn note(&mut self, to: ArrayId, extents: &[Option<Formula>]) {
        let symbol = |dim| Formula::term(vec![(to, dim)], 1);
        let all = extents.iter().enumerate().map(|(dim, e)| e.clone().unwrap_or_else(|| symbol(dim))).collect();
        self.extents.insert(to, all);
    }

    /// The extents of an array, for one that has the same.
    fn extents_like(&self, a: ArrayId) -> Vec<Option<Formula>> {
        let rank = self.p.arrays.get(a).map_or(0, |a| a.rank);
        (0..rank).map(|dim| Some(self.extent(a, dim))).collect()
    }

    /// The size of an array in memory.
    fn bytes(&self, a: ArrayId) -> Formula {
        let Some(info) = self.p.arrays.get(a) else { return Formula::default() };
        let extents = (0..info.rank).map(|dim| self.extent(a, dim));
        extents.fold(Formula::constant(width(&info.columns)), |n, e| n.times(&e))
    }

    fn extent(&self, a: ArrayId, dim: usize) -> Formula {
        let known = self.extents.get(&a).and_then(|e| e.get(dim));
        known.cloned().unwrap_or_else(|| Formula::term(vec![(a, dim)], 1))
    }

    /// The extents of the arrays that an operation defines; `None` if they are results of a block.
    fn extents_of(&self, op: &Op) -> Option<Vec<Option<Formula>>> {
        Some(match op {
            Op::Literal { literal, .. } => {
                let a = self.p.literals.get(*literal)?;
                a.extents.iter().map(|e| Some(Formula::constant(i128::try_from(*e).ok()?))).collect()
            }
            Op::Loop { extents, .. }
            | Op::Accumulate { extents, .. }
            | Op::Reduce { extents, .. }
            | Op::Reshape { extents, .. } => self.formulas(extents),
            Op::Scan { extents, rows, .. } => {
                let mut all = self.formulas(extents);
                let mut len = self.formulas(&rows.len).pop()?;
                if let (Some(len), true) = (&mut len, rows.init.is_some()) {
                    len.add(&Formula::constant(1), 1);
                }
                all.push(len);
                all
            }
            Op::Permute { defaults: from, .. } | Op::Argsort { keys: from, .. } => self.extents_like(*from),
            Op::Foreign { .. } | Op::Agree { .. } | Op::Keep { .. } => return None,
            Op::If { .. } | Op::While { .. } | Op::Recall { .. } | Op::Strip { .. } => return None,
        })
    }

    /// The results of a scalar function without parameters, where they are sums and products of extents and constants.
    fn formulas(&self, c: &ScalarFn) -> Vec<Option<Formula>> {
        let mut known: BTreeMap<Reg, Formula> = BTreeMap::new();
        for i in &c.instrs {
            let value = match i {
                Instr::Const(to, Scalar::I64(n)) => Some((*to, Formula::constant(i128::from(*n)))),
                Instr::Extent(to, a, dim) => Some((*to, self.extent(*a, *dim))),
                Instr::Op2(to, Op2::Num(op), a, b) => match (op, known.get(a), known.get(b)) {
                    (Num2::Mul, Some(a), Some(b)) => Some((*to, a.times(b))),
                    (Num2::Add | Num2::Sub, Some(a), Some(b)) => {
                        let mut sum = a.clone();
                        sum.add(b, if *op == Num2::Add { 1 } else { -1 });
                        Some((*to, sum))
                    }
                    (Num2::Min | Num2::Max, Some(a), Some(b)) if a == b => Some((*to, a.clone())),
                    _ => None,
                },
                _ => None,
            };
            known.extend(value);
        }
        c.results.iter().map(|r| known.get(r).cloned()).collect()
    }
}
