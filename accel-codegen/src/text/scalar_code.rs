//! Writes scalar functions as C statements: a local variable per register.

use super::names::{outside, position_in_strip};
use super::outlined::DEEPEST;
use super::writer::{Scope, Writer};
use crate::analysis::fault;
use crate::cost_model::LANES;
use crate::text::dialect::Dialect;
use crate::text::primitives;
use accel_core::ast::deep;
use accel_core::repr::op::{Float2, Op2};
use accel_fusion::kernel::{Instr, Reg, ScalarFn};

impl<'a> Writer<'a> {
    /// Computes `code` from the values `args`, and assigns its results to `to`.
    pub fn code(&mut self, code: &ScalarFn, args: &[String], to: &[String]) {
        let outer = std::mem::replace(&mut self.jumps, code.can_fail() || code.has_loop());
        self.braces("", |w| {
            for (r, arg) in args.iter().enumerate().take(code.params) {
                w.line(format!("const {} r{r} = {arg};", code.types[r]));
            }
            w.instrs(code, &code.instrs);
            for (to, r) in to.iter().zip(&code.results) {
                w.line(format!("{to} = r{r};"));
            }
        });
        self.jumps = outer;
    }

    /// Writes instructions whose operands are in registers already.
    pub fn instrs(&mut self, code: &ScalarFn, instrs: &[Instr]) {
        for i in instrs {
            match i {
                Instr::If { .. } | Instr::While { .. } if self.depth == DEEPEST => self.outline(code, i),
                _ => self.instr(code, i),
            }
        }
    }

    /// Writes the inner instructions of an instruction.
    fn inner(&mut self, code: &ScalarFn, instrs: &[Instr]) {
        self.depth += 1;
        deep(|| self.instrs(code, instrs));
        self.depth -= 1;
    }

    fn set(&mut self, code: &ScalarFn, to: Reg, value: String) {
        // The conversion matters for integers smaller than `int`: it makes them wrap.
        let t = code.types[to];
        let value = if t.is_integral() { format!("({t})({value})") } else { value };
        self.line(format!("const {t} r{to} = {value};"));
    }

    pub fn instr(&mut self, code: &ScalarFn, instr: &Instr) {
        if let Some(outlined) = &mut self.outlined {
            outlined.enter(instr);
        }
        self.statements(code, instr);
        let in_strip = self.is_in_strip(instr);
        if let Some(outlined) = &mut self.outlined {
            outlined.leave(instr, in_strip);
        }
    }

    /// Whether an instruction reads at the position of a strip that has the array in its working memory.
    fn is_in_strip(&self, instr: &Instr) -> bool {
        matches!(instr, Instr::Read { array, index, .. }
            if self.lanes.arrays.contains(array) && index.first() == Some(&self.lanes.position))
    }

    fn statements(&mut self, code: &ScalarFn, instr: &Instr) {
        match instr {
            Instr::Const(to, x) => {
                self.line(format!("const {} r{to} = {};", x.ty(), primitives::constant(self.declarations, *x)));
            }
            Instr::Op1(to, op, a) => {
                let value = primitives::op1(self.declarations, *op, code.types[*a], &format!("r{a}"));
                self.set(code, *to, value);
            }
            Instr::Op2(to, op, a, b) => {
                let (t, mut divisor) = (code.types[*a], format!("r{b}"));
                if instr.check(code).is_some() {
                    self.fault(&format!("r{b} == 0"), fault::DIVISION, self.site, fault::division(*op), &[]);
                    if self.scope == Scope::Lane {
                        divisor = format!("(r{b} == 0 ? 1 : r{b})");
                    }
                }
                let a = format!("r{a}");
                let value = match (op, self.declarations.dialect) {
                    (Op2::Float(Float2::StrongMul), Dialect::C) if self.jumps => {
                        primitives::strong_product(self.declarations, t, &a, &divisor)
                    }
                    _ => primitives::op2(self.declarations, *op, t, &a, &divisor),
                };
                self.set(code, *to, value);
            }
            Instr::Extent(to, array, dim) => self.line(format!("const i64 r{to} = a{array}_n{dim};")),
            Instr::Read { to, array, index, site, .. } => {
                let in_strip = self.is_in_strip(instr);
                let index: Vec<_> = index.iter().map(|r| format!("r{r}")).collect();
                let mut otherwise = String::new();
                if instr.check(code).is_some() {
                    let mut outside = outside(*array, &index);
                    if let (Scope::Lane, Some(to)) = (self.scope, to.first()) {
                        self.line(format!("const bool o{to} = {outside};"));
                        outside = format!("o{to}");
                        otherwise = format!("o{to} ? 0 : ");
                    }
                    self.fault(&outside, fault::READ, *site, array.index(), &index);
                }
                let (letter, position) = match in_strip {
                    true if self.lanes.in_rows => ("s", position_in_strip(*array, &index)),
                    true => ("s", format!("({}) * {LANES} + l", position_in_strip(*array, &index))),
                    false => ("a", self.place(*array, &index)),
                };
                for (c, to) in to.iter().enumerate() {
                    self.line(format!("const {} r{to} = {otherwise}{letter}{array}_{c}[{position}];", code.types[*to]));
                }
            }
            Instr::Emit { to, index, values, site, .. } => {
                let index: Vec<_> = index.iter().map(|r| format!("r{r}")).collect();
                if instr.check(code).is_some() {
                    self.fault(&outside(*to, &index), fault::READ, *site, to.index(), &index);
                }
                let position = self.place(*to, &index);
                for (c, x) in values.iter().enumerate() {
                    self.add_to_sum(&format!("a{to}_{c}[{position}]"), code.types[*x], &format!("r{x}"));
                }
            }
            Instr::If { cond, merge, .. } if instr.is_selection() => {
                for (to, a, b) in merge {
                    self.line(format!("const {} r{to} = r{cond} ? r{a} : r{b};", code.types[*to]));
                }
            }
            Instr::If { cond, then, otherwise, merge } => self.conditional(code, *cond, [then, otherwise], merge),
            Instr::Get { to, list, at } => {
                let element = self.listed(*list, &format!("r{at}"));
                self.line(format!("const {} r{to} = {element};", code.types[*to]));
            }
            Instr::While { state, cond, continues, body, next, lists } => {
                for (to, init) in state {
                    self.line(format!("{} r{to} = r{init};", code.types[*to]));
                }
                self.declare_lists(code, lists);
                self.braces("for (;;)", |w| {
                    w.inner(code, cond);
                    w.line(format!("if (!r{continues}) break;"));
                    w.inner(code, body);
                    w.append(code, lists);
                    // All at once, because the next value of one variable can be the old value of another.
                    for ((to, _), n) in state.iter().zip(next) {
                        w.line(format!("const {} n{to} = r{n};", code.types[*to]));
                    }
                    for (to, _) in state {
                        w.line(format!("r{to} = n{to};"));
                    }
                });
            }
        }
    }

    fn conditional(&mut self, code: &ScalarFn, cond: Reg, branches: [&[Instr]; 2], merge: &[(Reg, Reg, Reg)]) {
        for (to, ..) in merge {
            self.line(format!("{} r{to};", code.types[*to]));
        }
        self.braces(&format!("if (r{cond})"), |w| {
            w.inner(code, branches[0]);
            merge.iter().for_each(|(to, a, _)| w.line(format!("r{to} = r{a};")));
        });
        self.braces("else", |w| {
            w.inner(code, branches[1]);
            merge.iter().for_each(|(to, _, b)| w.line(format!("r{to} = r{b};")));
        });
    }
}
