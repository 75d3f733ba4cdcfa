//! When a producer is computed again.
//!
//! NOTE [When a producer is computed again]: a `Loop` is put into what reads it, in place of the read, if
//! - its elements take no work: it moves, repeats or selects elements, or all are the same number;
//! - it is read in one place only, where every element is read at most once: no work is repeated at all;
//! - its elements take little work ([`LITTLE`]), it is read in at most [`PLACES`] places, and in each of them every element at most
//!   once: computing it again takes less time than writing it to memory and reading it back.
//!
//! Otherwise it is stored. So no work is repeated but that of the third kind, at most `PLACES` times for each element.

use crate::kernel::{Code, Instr};
use accel_core::ast::deep;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Float1, Num2, Op1, Op2};

/// The work that is little: some additions and multiplications.
pub const LITTLE: usize = 6;
/// The places that cheap producers may be read in.
pub const PLACES: usize = 4;

/// Whatever is more is not told apart: loops in loops take any time.
const MOST: usize = 1 << 30;

/// What a code does beyond moving elements, in additions.
pub fn work(code: &Code) -> usize {
    let reads = count_reads(&code.instrs);
    instrs(code, &code.instrs) + reads.saturating_sub(1)
}

fn count_reads(instrs: &[Instr]) -> usize {
    let one = |i: &Instr| match i {
        Instr::Read { .. } => 1,
        Instr::If { then, otherwise, .. } => count_reads(then).max(count_reads(otherwise)),
        Instr::While { cond, body, .. } => 10 * (count_reads(cond) + count_reads(body)),
        _ => 0,
    };
    MOST.min(deep(|| instrs.iter().map(one).sum()))
}

fn instrs(code: &Code, is: &[Instr]) -> usize {
    MOST.min(deep(|| is.iter().map(|i| instr(code, i)).sum()))
}

fn instr(code: &Code, i: &Instr) -> usize {
    let is_index = |r: &usize| code.types[*r] == ScalarType::I64;
    match i {
        Instr::Const(..) | Instr::Extent(..) | Instr::Read { .. } => 0,
        Instr::Op1(_, Op1::Float(Float1::Recip | Float1::Sqrt), _) => 4,
        Instr::Op1(_, Op1::Float(_), _) => 20,
        Instr::Op1(_, _, _) => 1,
        Instr::Op2(_, Op2::Num(Num2::Div | Num2::Rem), ..) => 4,
        Instr::Op2(_, Op2::Float(_), ..) => 30,
        Instr::Op2(_, Op2::Num(_), a, _) if is_index(a) => 0,
        Instr::Op2(_, Op2::Cmp(_), a, _) if is_index(a) => 0,
        Instr::Op2(_, Op2::Logic(_), ..) => 0,
        Instr::Op2(..) => 1,
        Instr::If { then, otherwise, .. } => instrs(code, then).max(instrs(code, otherwise)),
        Instr::While { cond, body, .. } => 20 * (1 + instrs(code, cond) + instrs(code, body)),
    }
}
