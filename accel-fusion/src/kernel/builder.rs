//! Builds scalar functions instruction by instruction.

use super::ids::{ArrayId, Reg};
use super::ir::{Instr, Instrs, ScalarFn};
use accel_core::ast::deep;
use accel_core::repr::op::{Cmp, Logic, Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};
use index_vec::IndexVec;

/// A scalar function under construction. The last list of instructions belongs to the innermost open branch or loop.
pub struct Builder {
    code: ScalarFn,
    open: Vec<Vec<Instr>>,
}

impl Builder {
    /// A scalar function with parameters of these types, and no instructions yet.
    pub fn new(params: &[ScalarType]) -> Self {
        let code = ScalarFn { params: params.len(), types: params.to_vec().into(), ..ScalarFn::default() };
        Builder { code, open: vec![vec![]] }
    }
    /// Continues the scalar function `code` after its last instruction. Also returns the registers of its results.
    /// Nothing is copied.
    pub fn after(mut code: ScalarFn) -> (Builder, Vec<Reg>) {
        let (open, results) = (vec![std::mem::take(&mut code.instrs)], std::mem::take(&mut code.results));
        (Builder { code, open }, results)
    }
    /// The registers of the parameters.
    pub fn params(&self) -> Vec<Reg> {
        self.code.param_regs().collect()
    }
    /// The function so far, without the instructions and results: it has the types of the registers.
    pub fn so_far(&self) -> &ScalarFn {
        &self.code
    }
    /// Declares a new register of type `t`.
    pub fn reg(&mut self, t: ScalarType) -> Reg {
        self.code.types.push(t)
    }
    /// Adds an instruction.
    pub fn emit(&mut self, i: Instr) {
        self.open.last_mut().expect("a list is open until the code is finished").push(i)
    }
    /// Collects the instructions that `f` emits in a list of their own.
    pub fn block<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> (Instrs, R) {
        self.open();
        let r = f(self);
        (self.close(), r)
    }
    /// Starts a list for the instructions that follow.
    pub fn open(&mut self) {
        self.open.push(vec![]);
    }
    /// Ends the innermost list and returns its instructions.
    pub fn close(&mut self) -> Instrs {
        self.open.pop().expect("something is open").into()
    }
    /// The finished scalar function, with these results.
    pub fn finish(mut self, results: Vec<Reg>) -> ScalarFn {
        self.code.instrs = self.open.pop().expect("the first list");
        self.code.results = results;
        self.code
    }
    /// Emits a constant.
    pub fn constant(&mut self, x: Scalar) -> Reg {
        let to = self.reg(x.ty());
        self.emit(Instr::Const(to, x));
        to
    }
    /// Emits an arithmetic operation on indices.
    pub fn index_op(&mut self, op: Num2, a: Reg, b: Reg) -> Reg {
        let to = self.reg(ScalarType::I64);
        self.emit(Instr::Op2(to, Op2::Num(op), a, b));
        to
    }
    /// Emits an operation whose result is a boolean.
    pub fn test(&mut self, op: Op2, a: Reg, b: Reg) -> Reg {
        let to = self.reg(ScalarType::Bool);
        self.emit(Instr::Op2(to, op, a, b));
        to
    }
    /// Emits a comparison.
    pub fn compare(&mut self, cmp: Cmp, a: Reg, b: Reg) -> Reg {
        self.test(Op2::Cmp(cmp), a, b)
    }
    /// Emits whether all conditions hold; a constant if there are none.
    pub fn all(&mut self, conditions: impl IntoIterator<Item = Reg>) -> Reg {
        let all = conditions.into_iter().reduce(|a, b| self.test(Op2::Logic(Logic::And), a, b));
        all.unwrap_or_else(|| self.constant(Scalar::Bool(true)))
    }
    /// Emits the product of the factors, all of type `t`; `None` if there are no factors.
    pub fn product(&mut self, t: ScalarType, factors: impl IntoIterator<Item = Reg>) -> Option<Reg> {
        factors.into_iter().reduce(|a, b| {
            let to = self.reg(t);
            self.emit(Instr::Op2(to, Op2::Num(Num2::Mul), a, b));
            to
        })
    }
    /// Emits a query for extent `dim` of an array in memory.
    pub fn extent(&mut self, array: ArrayId, dim: usize) -> Reg {
        let to = self.reg(ScalarType::I64);
        self.emit(Instr::Extent(to, array, dim));
        to
    }
    /// Copies the body of `f`, applied to the registers `args`; returns the registers of its results.
    pub fn inline(&mut self, f: &ScalarFn, args: &[Reg]) -> Vec<Reg> {
        let mut to: IndexVec<Reg, Reg> = args.to_vec().into();
        to.extend(f.types.iter().skip(f.params).map(|t| self.reg(*t)));
        f.instrs.iter().for_each(|i| self.emit(renamed(i, &|r| to[*r])));
        f.results.iter().map(|r| to[*r]).collect()
    }
}

/// The results of scalar functions without parameters, one after the other.
pub fn joined(codes: &[&ScalarFn]) -> ScalarFn {
    let mut b = Builder::new(&[]);
    let results = codes.iter().flat_map(|c| b.inline(c, &[])).collect();
    b.finish(results)
}

/// The types of an index.
pub fn index_types(rank: usize) -> Vec<ScalarType> {
    vec![ScalarType::I64; rank]
}

/// The instruction with all its registers renamed by `to`.
pub fn renamed(i: &Instr, to: &dyn Fn(&Reg) -> Reg) -> Instr {
    let all = |rs: &[Reg]| rs.iter().map(to).collect();
    let block = |is: &[Instr]| Instrs::from(deep(|| is.iter().map(|i| renamed(i, to)).collect::<Vec<_>>()));
    match i {
        Instr::Const(r, x) => Instr::Const(to(r), *x),
        Instr::Op1(r, op, a) => Instr::Op1(to(r), *op, to(a)),
        Instr::Op2(r, op, a, b) => Instr::Op2(to(r), *op, to(a), to(b)),
        Instr::Extent(r, a, d) => Instr::Extent(to(r), *a, *d),
        Instr::Read { to: rs, array, index, site, inside } => {
            Instr::Read { to: all(rs), array: *array, index: all(index), site: *site, inside: *inside }
        }
        Instr::If { cond, then, otherwise, merge } => Instr::If {
            cond: to(cond),
            then: block(then),
            otherwise: block(otherwise),
            merge: merge.iter().map(|(r, a, b)| (to(r), to(a), to(b))).collect(),
        },
        Instr::Emit { to: array, index, values, site, inside } => {
            Instr::Emit { to: *array, index: all(index), values: all(values), site: *site, inside: *inside }
        }
        Instr::Get { to: r, list, at } => Instr::Get { to: to(r), list: to(list), at: to(at) },
        Instr::While { state, cond, continues, body, next, lists } => Instr::While {
            state: state.iter().map(|(r, a)| (to(r), to(a))).collect(),
            cond: block(cond),
            continues: to(continues),
            body: block(body),
            next: all(next),
            lists: lists.iter().map(|(r, a)| (to(r), to(a))).collect(),
        },
    }
}
