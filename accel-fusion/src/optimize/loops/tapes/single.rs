//! Arrays of single numbers, and the functions that compute them.

use crate::kernel::builder::Builder;
use crate::kernel::{ArrayId, ArrayInfo, Instr, Op, Program, Reg, ScalarFn, SiteId, Stmt};
use accel_core::repr::op::{Cmp, Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};

/// The scalar function of an array of rank 0, or a condition.
pub struct Code(pub Builder, pub SiteId);

impl Code {
    pub fn new(site: SiteId) -> Code {
        Code(Builder::new(&[]), site)
    }

    /// The number in an array of rank 0.
    pub fn number(&mut self, array: ArrayId) -> Reg {
        let to = self.0.reg(ScalarType::I64);
        self.0.emit(Instr::Read { to: vec![to], array, index: vec![], site: self.1, inside: true });
        to
    }

    pub fn constant(&mut self, x: i64) -> Reg {
        self.0.constant(Scalar::I64(x))
    }

    pub fn op(&mut self, op: Num2, a: Reg, b: Reg) -> Reg {
        self.0.index_op(op, a, b)
    }

    pub fn done(self, result: Reg) -> ScalarFn {
        self.0.finish(vec![result])
    }

    pub fn compared(mut self, cmp: Cmp, a: Reg, b: Reg) -> ScalarFn {
        let to = self.0.reg(ScalarType::Bool);
        self.0.emit(Instr::Op2(to, Op2::Cmp(cmp), a, b));
        self.done(to)
    }
}

/// Defines an array of rank 0.
pub fn single(to: ArrayId, body: ScalarFn, site: SiteId) -> Stmt {
    let extents = Builder::new(&[]).finish(vec![]);
    Stmt { op: Op::Loop { to: vec![to], extents, body }, site }
}

/// A new array that is described as another one.
pub fn new_like(program: &mut Program, a: ArrayId) -> ArrayId {
    let info = program.arrays[a].clone();
    program.arrays.push(info)
}

/// A new array of rank 0.
pub fn new_single(program: &mut Program, t: ScalarType) -> ArrayId {
    program.arrays.push(ArrayInfo { rank: 0, columns: vec![t] })
}
