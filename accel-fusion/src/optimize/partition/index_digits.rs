//! Functions of the quotients and remainders of an index.
//!
//! NOTE [Digits of an index]: a sparse matrix has the entries of a row one after the other in memory, so the element at position
//! `i` belongs to row `i / 15`, and `i % 15` decides what it is. Processors take several instructions for a division by a
//! constant, vectors of 64-bit numbers have none, and the decisions change with every element. But for a whole run of 15
//! positions the quotient is the same, and the remainders are known: each of them gets a copy of the function, without
//! the divisions and the decisions. If there are several divisors, a run is as long as their greatest common divisor.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{Instr, Program, Reg, ScalarFn, walk, walk_mut};
use crate::optimize::specialized;
use accel_core::repr::Scalar;
use accel_core::repr::op::{Int2, Num2, Op2};
use std::collections::{BTreeMap, BTreeSet};

/// The longest run: [`MOST_COST`] then leaves a cost of 62 for each copy. Chosen.
const LONGEST: i64 = 64;
/// The largest cost of the copies together. Chosen: some thousand lines of C.
const MOST_COST: usize = 4_000;

/// A scalar function of an index without its divisions by constants: for each position of a run, a function of the number of
/// the run and of this position. See NOTE [Digits of an index].
pub fn by_digits(program: &Program, code: &ScalarFn) -> Option<Vec<ScalarFn>> {
    let index = code.param_regs().next().filter(|_| code.params == 1)?;
    let constants = constants(code);
    let divisions: Vec<_> = walk(&code.instrs).filter_map(|i| Division::new(i, index, &constants)).collect();
    let run = divisions.iter().map(|d| d.divisor).reduce(gcd).filter(|run| (2..=LONGEST).contains(run))?;
    // Compilers use vectors for divisions by powers of two, if nothing else prevents it.
    let takes_vectors = divisions.iter().all(|d| d.divisor.count_ones() == 1) && code.is_if_convertible();
    if takes_vectors || code.cost().saturating_mul(run as usize) > MOST_COST {
        return None;
    }
    let in_runs = in_runs(code, &divisions.iter().map(|d| d.divisor).collect(), run);
    Some((0..run).map(|place| specialized(program, &in_runs, 1, place)).collect())
}

/// `to = index / divisor`, or the remainder.
struct Division {
    to: Reg,
    divisor: i64,
    is_remainder: bool,
}

impl Division {
    /// The division of `index`, which is not negative, by a positive constant.
    fn new(i: &Instr, index: Reg, constants: &BTreeMap<Reg, i64>) -> Option<Division> {
        let Instr::Op2(to, op, a, b) = i else { return None };
        let is_remainder = match op {
            Op2::Num(Num2::Div) | Op2::Int(Int2::DivEuclid) => false,
            Op2::Num(Num2::Rem) | Op2::Int(Int2::RemEuclid) => true,
            _ => return None,
        };
        let divisor = *constants.get(b).filter(|n| *a == index && **n > 0)?;
        Some(Division { to: *to, divisor, is_remainder })
    }
}

fn constants(code: &ScalarFn) -> BTreeMap<Reg, i64> {
    let constant = |i: &Instr| match i {
        Instr::Const(to, Scalar::I64(x)) => Some((*to, *x)),
        _ => None,
    };
    walk(&code.instrs).filter_map(constant).collect()
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The function of the number of a run and the place in it.
fn in_runs(code: &ScalarFn, divisors: &BTreeSet<i64>, run: i64) -> ScalarFn {
    let mut b = Builder::new(&index_types(2));
    let [number, place] = [0, 1].map(Reg::new);
    let [zero, length] = [0, run].map(|x| b.constant(Scalar::I64(x)));
    let first = b.index_op(Num2::Mul, number, length);
    let index = b.index_op(Num2::Add, first, place);
    // For each divisor, the number of runs, and the index of the run's first position modulo the divisor.
    let mut digits = BTreeMap::new();
    for divisor in divisors {
        let runs = b.constant(Scalar::I64(divisor / run));
        let within = b.index_op(Num2::Rem, number, runs);
        digits.insert(*divisor, (runs, b.index_op(Num2::Mul, within, length)));
    }
    let results = b.inline(code, &[index]);
    let mut copy = b.finish(results);
    let constants = constants(&copy);
    let add = Op2::Num(Num2::Add);
    walk_mut(&mut copy.instrs, |i| {
        if let Some(Division { to, divisor, is_remainder }) = Division::new(i, index, &constants) {
            let (runs, offset) = digits[&divisor];
            *i = match (is_remainder, divisor == run) {
                (true, true) => Instr::Op2(to, add, place, zero),
                (true, false) => Instr::Op2(to, add, offset, place),
                (false, true) => Instr::Op2(to, add, number, zero),
                (false, false) => Instr::Op2(to, Op2::Num(Num2::Div), number, runs),
            };
        }
    });
    copy
}
