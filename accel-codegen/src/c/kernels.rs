//! The kernels of each statement, as functions of a task.

use super::translation_units::{Function, Head};
use crate::analysis::liveness::{Block, Step};
use crate::c::host::inline::is_inline;
use crate::shared::interchanged_reduce::in_columns;
use crate::shared::permute::Permute;
use crate::shared::strip::Strip;
use crate::text::declarations::Declarations;
use crate::text::writer::Writer;
use accel_core::ast::deep;
use accel_fusion::kernel::{Code, Op, Program, Rows};

/// Prints the kernels; statement `n` has those with `n` in their names.
pub struct Kernels<'a> {
    pub program: &'a Program,
    pub numbers: bool,
    pub declarations: &'a mut Declarations,
    /// The functions of one statement.
    pub functions: Vec<Function>,
    /// Those of the statements before it.
    pub statements: Vec<Vec<Function>>,
}

impl Kernels<'_> {
    pub fn block(&mut self, b: &Block) {
        for s in &b.steps {
            self.statement(s);
            self.statements.push(std::mem::take(&mut self.functions));
            deep(|| s.blocks.iter().for_each(|b| self.block(b)));
        }
    }

    fn statement(&mut self, s: &Step) {
        let n = s.number;
        match &s.stmt.op {
            Op::Loop { to, extents, body } if !is_inline(&s.stmt.op, self.numbers) => {
                self.function(s, &format!("loop_{n}"), |w| {
                    w.aliased = s.aliased();
                    w.elements(to, extents.results.len(), body);
                });
            }
            Op::Reduce { to, extents, rows } => self.reduce(s, *to, extents, rows),
            Op::Scan { to, extents, reverse, rows } => self.scan(s, *to, extents, *reverse, rows),
            Op::Strip { to, len, body } => {
                let strip = Strip::new(self.program, to, len, body);
                self.once(s, &format!("strip_{n}_sizes"), |w| strip.sizes(w));
                self.function(s, &format!("strip_{n}"), |w| strip.body(w));
                let join = format!("strip_{n}_join");
                match strip.has_large_totals() {
                    true => self.function(s, &join, |w| strip.join(w)),
                    false => self.cold(s, &join, |w| strip.join(w)),
                }
            }
            Op::Permute { .. } => self.permute(s),
            Op::Literal { .. }
            | Op::Loop { .. }
            | Op::Reshape { .. }
            | Op::Agree { .. }
            | Op::If { .. }
            | Op::While { .. } => {}
        }
    }

    fn reduce(&mut self, s: &Step, to: usize, extents: &Code, rows: &Rows) {
        let (outer, fold) = (extents.results.len(), format!("fold_{}", s.number));
        self.inner(s, |w| w.fold(&fold, to, outer, rows));
        self.function(s, &format!("{fold}_part"), |w| w.part(&fold, to, outer, ""));
        self.cold(s, &format!("{fold}_join"), |w| w.join(to, rows));
        let (columns, column_part) = (format!("{fold}_columns"), format!("{fold}_column_part"));
        let in_columns = in_columns(outer, rows);
        if in_columns {
            self.inner(s, |w| w.fold_side_by_side(&columns, to, outer, rows));
            self.function(s, &column_part, |w| w.column_part(&columns, to, outer));
            self.function(s, &format!("{fold}_rows"), |w| w.fold_columns(&columns, to, outer, rows));
        } else {
            self.function(s, &format!("{fold}_rows"), |w| w.fold_rows(&fold, to, outer, rows));
        }
        if has_all(self.program, &s.stmt.op) {
            self.function(s, &format!("{fold}_all"), |w| {
                if let Some(c) = rows.contraction() {
                    w.product(to, outer, rows, &c);
                }
                match in_columns {
                    true => w.in_parts(&column_part, to, rows),
                    false => w.line("return -1;"),
                }
            });
        }
    }

    fn permute(&mut self, s: &Step) {
        let Some(p) = Permute::new(self.program, &s.stmt.op) else { return };
        let name = format!("permute_{}", s.number);
        self.inner(s, |w| w.combine_into(&format!("{name}_into"), &p));
        self.function(s, &name, |w| w.scatter(&name, &p));
        if let Some(k) = p.known {
            self.function(s, &format!("{name}_part"), |w| w.private(&name, &p, k));
            self.function(s, &format!("{name}_copies"), |w| w.combine_copies(&p));
        }
        if p.has_cheap_targets() {
            self.function(s, &format!("{name}_range"), |w| w.owned(&name, &p));
        }
        if has_all(self.program, &s.stmt.op) {
            self.function(s, &format!("{name}_all"), |w| w.scatter_all(&name, &p));
        }
    }

    fn scan(&mut self, s: &Step, to: usize, extents: &Code, reverse: bool, rows: &Rows) {
        let (outer, scan) = (extents.results.len(), format!("scan_{}", s.number));
        self.inner(s, |w| w.scan(&scan, to, outer, reverse, rows));
        self.function(s, &format!("{scan}_rows"), |w| w.scan_rows(&scan, to, outer, reverse, rows));
        self.function(s, &format!("{scan}_part"), |w| w.part(&scan, to, outer, ", 0, task->len, 0"));
        self.cold(s, &format!("{scan}_carry"), |w| w.carry(to, reverse, rows));
        self.function(s, &format!("{scan}_write"), |w| w.write_part(&scan, to, outer, rows));
    }

    /// A function that kernels call: `body` writes it and gives its head.
    fn inner(&mut self, s: &Step, body: impl FnOnce(&mut Writer) -> String) {
        self.add(s, |w| Head::Own(body(w)));
    }

    fn function(&mut self, s: &Step, name: &str, body: impl FnOnce(&mut Writer)) {
        self.kernel(s, "", name, body);
    }

    /// What runs once per row need not be fast: optimising it costs time.
    fn cold(&mut self, s: &Step, name: &str, body: impl FnOnce(&mut Writer)) {
        self.kernel(s, "__attribute__((cold)) ", name, body);
    }

    /// What runs once, without loops: it is over before it could have been optimised.
    fn once(&mut self, s: &Step, name: &str, body: impl FnOnce(&mut Writer)) {
        self.kernel(s, AS_IT_IS, name, body);
    }

    /// A function of a task with an attribute.
    fn kernel(&mut self, s: &Step, attribute: &'static str, name: &str, body: impl FnOnce(&mut Writer)) {
        self.add(s, |w| {
            body(w);
            Head::Kernel { attribute, name: name.into() }
        });
    }

    fn add(&mut self, s: &Step, body: impl FnOnce(&mut Writer) -> Head) {
        let mut w = Writer::new(self.program, self.declarations, s.stmt.site);
        let head = body(&mut w);
        let body = w.finish();
        // Compilers take a time that grows with the square of the size of a function, most of it to optimise.
        let level = if body.lines().count() < HUGE { "" } else { AS_IT_IS };
        self.functions.push(Function { head, level, body });
    }
}

/// A function of so many lines is not optimised.
const HUGE: usize = 20_000;

/// A function that is not optimised.
const AS_IT_IS: &str = "__attribute__((optimize(\"O0\"))) ";

/// Whether a statement has a kernel that may do all of it, with several threads if that is better: it gives 0 if it has, 1 with a record,
/// and -1 if the other kernels are the better way: then it has done nothing. Its task has all rows, or all source elements.
pub fn has_all(program: &Program, op: &Op) -> bool {
    match op {
        Op::Reduce { extents, rows, .. } => in_columns(extents.results.len(), rows) || rows.contraction().is_some(),
        Op::Permute { .. } => Permute::new(program, op).is_some_and(|p| p.known.is_some() || p.has_cheap_targets()),
        _ => false,
    }
}
