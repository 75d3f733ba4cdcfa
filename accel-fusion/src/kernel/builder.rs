//! Scalar code under construction.

use super::ir::{ArrayId, Code, Instr, Instrs, Reg};
use accel_core::ast::deep;
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{Scalar, ScalarType};

/// Code under construction; the innermost open branch or loop is the last list of instructions.
pub struct Builder {
    code: Code,
    open: Vec<Vec<Instr>>,
}

impl Builder {
    /// Code with parameters of these types.
    pub fn new(params: &[ScalarType]) -> Self {
        let code = Code { params: params.len(), types: params.to_vec(), ..Code::default() };
        Builder { code, open: vec![vec![]] }
    }
    /// Code that goes on where other code ended, and the registers of its results. Nothing is copied.
    pub fn after(mut code: Code) -> (Builder, Vec<Reg>) {
        let (open, results) = (vec![std::mem::take(&mut code.instrs)], std::mem::take(&mut code.results));
        (Builder { code, open }, results)
    }
    /// The registers of the parameters.
    pub fn params(&self) -> Vec<Reg> {
        (0..self.code.params).collect()
    }
    /// A new register.
    pub fn reg(&mut self, t: ScalarType) -> Reg {
        self.code.types.push(t);
        self.code.types.len() - 1
    }
    /// One more instruction.
    pub fn emit(&mut self, i: Instr) {
        self.open.last_mut().expect("a list is open until the code is finished").push(i)
    }
    /// The instructions that `f` emits, apart.
    pub fn block<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> (Instrs, R) {
        self.open();
        let r = f(self);
        (self.close(), r)
    }
    /// Instructions from here on are kept apart.
    pub fn open(&mut self) {
        self.open.push(vec![]);
    }
    /// The instructions since the last `open`.
    pub fn close(&mut self) -> Instrs {
        self.open.pop().expect("something is open").into()
    }
    /// The finished code.
    pub fn finish(mut self, results: Vec<Reg>) -> Code {
        self.code.instrs = self.open.pop().expect("the first list");
        self.code.results = results;
        self.code
    }
    /// A constant.
    pub fn constant(&mut self, x: Scalar) -> Reg {
        let to = self.reg(x.ty());
        self.emit(Instr::Const(to, x));
        to
    }
    /// Index arithmetic.
    pub fn index_op(&mut self, op: Num2, a: Reg, b: Reg) -> Reg {
        let to = self.reg(ScalarType::I64);
        self.emit(Instr::Op2(to, Op2::Num(op), a, b));
        to
    }
    /// The product of numbers of one type, if there are any.
    pub fn product(&mut self, t: ScalarType, factors: impl IntoIterator<Item = Reg>) -> Option<Reg> {
        factors.into_iter().reduce(|a, b| {
            let to = self.reg(t);
            self.emit(Instr::Op2(to, Op2::Num(Num2::Mul), a, b));
            to
        })
    }
    /// An extent of an array in memory.
    pub fn extent(&mut self, array: ArrayId, dim: usize) -> Reg {
        let to = self.reg(ScalarType::I64);
        self.emit(Instr::Extent(to, array, dim));
        to
    }
    /// The code of a function applied to registers; gives those of its results.
    pub fn inline(&mut self, f: &Code, args: &[Reg]) -> Vec<Reg> {
        let mut to: Vec<Reg> = args.to_vec();
        for t in &f.types[f.params..] {
            to.push(self.reg(*t));
        }
        f.instrs.iter().for_each(|i| self.emit(moved(i, &|r| to[*r])));
        f.results.iter().map(|r| to[*r]).collect()
    }
}

/// An instruction over other registers.
pub fn moved(i: &Instr, to: &dyn Fn(&Reg) -> Reg) -> Instr {
    let all = |rs: &[Reg]| rs.iter().map(to).collect();
    let block = |is: &[Instr]| Instrs::from(deep(|| is.iter().map(|i| moved(i, to)).collect::<Vec<_>>()));
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
        Instr::While { state, cond, go_on, body, next } => Instr::While {
            state: state.iter().map(|(r, a)| (to(r), to(a))).collect(),
            cond: block(cond),
            go_on: to(go_on),
            body: block(body),
            next: all(next),
        },
    }
}
