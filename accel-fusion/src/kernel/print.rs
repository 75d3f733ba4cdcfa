//! Kernel programs as text; [`super::parse`] reads it back.
//!
//! ```text
//! program (a0: Array1<f64>)
//! site 0 = "sum" // src/main.rs:7:5
//! literal 0 = [2] f64 { 1.0 2.0 } bool { true false }
//! {
//!   a1: Array0<f64> = reduce @0 sum
//!     extents () { -> }
//!     len () { x0: i64 = extent a0 0 -> x0 }
//!     element (x0: i64) { x1: f64 = a0[x0] @0 inside -> x1 }
//!     init () { x0: f64 = 0.0 -> x0 }
//!     op (x0: f64, x1: f64) { x2: f64 = x0 + x1 -> x2 }
//!   -> a1
//! }
//! ```
//!
//! | text | meaning |
//! | --- | --- |
//! | `a1`, `x1` | arrays of the program, registers of a scalar function; the type is written at their definition |
//! | `-> a1, a2`, `-> x1` | the results of a block, of a scalar function, of a branch; the condition and the next state of a loop |
//! | `@0` | the site of a statement or of a read |
//! | `site 1 = "index" proved` | the site of reads that are checked although they were proved to be within bounds |
//! | `site 2 = "slice" fixed [0]` | the site of a slice, which fixes the index in these dimensions |
//! | `x1: f64 = a0[x0] @0 inside` | a read whose index was proved to be within bounds |
//! | `x3: f64 = if x0 { -> x1 } else { -> x2 }` | a branch that merges `x1` and `x2` |
//! | `x3: i64 = while x0 cond { .. -> x4 } body { .. -> x5 }` | a loop whose state `x3` starts with `x0` |
//! | `x3: i64, x6: f64 = while x0 .. } lists x7` | the same, and the list `x6` of the `x7` of each step |
//! | `x8: f64 = list x6[x4]` | an element of a list |
//! | `a3: .. = while a1 @0 row a2: .. cond { .. } body { .. }` | a loop over arrays that counts its rows in `a2` |
//! | `a3: .. = times a0 a1 @0 row a2: .. body { .. }` | a loop of as many steps as `a0` says; with `times a0 right`, the last row comes first |
//! | `a3: .., a4: .. = accumulate a1 @0` | the array `a3` defined as by a loop, and the sum `a4`, which starts as a copy of `a1` |
//! | `() = emit a4[x0] x8 @0 inside` | adds `x8` to an element of the sum `a4`; the index was proved to be within bounds |
//! | `2.0`, `3`, `true`, `2.0f32`, `3u8` | constants; the type is written unless it is `f64`, `i64` or `bool` |
//! | `inf`, `-inf_f32`, `nan`, `nan_0xFFF8000000000000` | infinities and NaNs; the bits are written if they differ from `f64::NAN` |
//! | `unset a7: ..`, `unset x7: ..` | an array or a register that nothing defines |
//!
//! The text contains everything except the source lines of sites, which are comments: Rust cannot construct a
//! `Location`.

use super::ids::{ArrayId, Reg};
use super::ir::*;
use super::walk::walk;
use accel_core::ast::{Dir, deep};
use accel_core::repr::op::Op2;
use accel_core::repr::{Column, RawArray, Scalar, ScalarType};
use index_vec::{IndexVec, index_vec};
use smallvec::{SmallVec, smallvec};
use std::fmt::{self, Write};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut p = Printer { program: self, out: String::new(), indent: 0 };
        p.program();
        f.write_str(p.out.trim_end())
    }
}

impl fmt::Display for ArrayInfo {
    /// `Array2<f64, i64>`: rank and columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array{}<{}>", self.rank, list(&self.columns, |t| t.to_string()))
    }
}

impl fmt::Display for Monoid {
    /// `sum`, `product`, `min`, `max`, `and`, `or`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Monoid::Sum => "sum",
            Monoid::Product => "product",
            Monoid::Min => "min",
            Monoid::Max => "max",
            Monoid::And => "and",
            Monoid::Or => "or",
        })
    }
}

impl fmt::Display for Site {
    /// `` `map` at src/main.rs:7:5``: the function that the user called.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "`{}` at {at}", at.name),
            None => write!(f, "`{}`", self.name),
        }
    }
}

impl Op {
    /// The arrays that the operation defines.
    pub fn defines(&self) -> SmallVec<[ArrayId; 2]> {
        match self {
            Op::Loop { to, .. }
            | Op::Argsort { to, .. }
            | Op::Foreign { to, .. }
            | Op::If { to, .. }
            | Op::Recall { to, .. }
            | Op::Strip { to, .. } => to.as_slice().into(),
            Op::While { to, row, .. } => to.iter().chain(row).copied().collect(),
            Op::Accumulate { to, sums, .. } => to.iter().copied().chain(sums.iter().map(|s| s.0)).collect(),
            Op::Literal { to, .. }
            | Op::Reduce { to, .. }
            | Op::Scan { to, .. }
            | Op::Permute { to, .. }
            | Op::Reshape { to, .. } => smallvec![*to],
            Op::Agree { .. } | Op::Keep { .. } => smallvec![],
        }
    }

    /// Its keyword in the textual form.
    pub fn keyword(&self) -> &'static str {
        match self {
            Op::Literal { .. } => "literal",
            Op::Loop { .. } => "loop",
            Op::Accumulate { .. } => "accumulate",
            Op::Reduce { .. } => "reduce",
            Op::Scan { .. } => "scan",
            Op::Permute { .. } => "permute",
            Op::Argsort { .. } => "argsort",
            Op::Foreign { .. } => "foreign",
            Op::Reshape { .. } => "reshape",
            Op::Agree { .. } => "agree",
            Op::If { .. } => "if",
            Op::While { .. } => "while",
            Op::Keep { .. } => "keep",
            Op::Recall { .. } => "recall",
            Op::Strip { .. } => "strip",
        }
    }

    /// The blocks of the operation, with their results.
    pub fn blocks_with_results(&self) -> Vec<(&Block, &[ArrayId])> {
        match self {
            Op::If { then, otherwise, .. } => vec![(&then.0, &then.1), (&otherwise.0, &otherwise.1)],
            Op::While { trips: Trips::While(cond, continues), body, .. } => {
                vec![(cond, std::slice::from_ref(continues)), (&body.0, &body.1)]
            }
            Op::While { body, .. } => vec![(&body.0, &body.1)],
            Op::Recall { step, .. } => vec![(&step.0, &step.1)],
            Op::Strip { to, body, .. } => vec![(body, to)],
            Op::Literal { .. }
            | Op::Loop { .. }
            | Op::Accumulate { .. }
            | Op::Reduce { .. }
            | Op::Scan { .. }
            | Op::Permute { .. }
            | Op::Argsort { .. }
            | Op::Foreign { .. }
            | Op::Reshape { .. }
            | Op::Agree { .. }
            | Op::Keep { .. } => vec![],
        }
    }

    /// The blocks of the operation.
    pub fn blocks(&self) -> Vec<&Block> {
        self.blocks_with_results().into_iter().map(|(b, _)| b).collect()
    }

    /// As [`blocks_with_results`](Self::blocks_with_results), mutable.
    pub fn blocks_with_results_mut(&mut self) -> Vec<(&mut Block, &mut [ArrayId])> {
        match self {
            Op::If { then, otherwise, .. } => vec![(&mut then.0, &mut then.1), (&mut otherwise.0, &mut otherwise.1)],
            Op::While { trips: Trips::While(cond, continues), body, .. } => {
                vec![(cond, std::slice::from_mut(continues)), (&mut body.0, &mut body.1)]
            }
            Op::While { body, .. } => vec![(&mut body.0, &mut body.1)],
            Op::Recall { step, .. } => vec![(&mut step.0, &mut step.1)],
            Op::Strip { to, body, .. } => vec![(body, to)],
            _ => vec![],
        }
    }

    /// As [`blocks`](Self::blocks), mutable.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        self.blocks_with_results_mut().into_iter().map(|(b, _)| b).collect()
    }

    /// The scalar functions of [`scalar_fns`](Self::scalar_fns), mutable.
    pub fn scalar_fns_mut(&mut self) -> Vec<&mut ScalarFn> {
        match self {
            Op::Literal { .. } | Op::Argsort { .. } | Op::While { .. } | Op::Keep { .. } => vec![],
            Op::Recall { at, .. } => vec![at],
            Op::Loop { extents, body, .. } | Op::Accumulate { extents, body, .. } => vec![extents, body],
            Op::Reduce { extents, rows, .. } | Op::Scan { extents, rows, .. } => {
                let Reduction { len, element, init, op, .. } = rows;
                [Some(extents), Some(len), Some(element), init.as_mut(), Some(op)].into_iter().flatten().collect()
            }
            Op::Permute { extents, target, element, comb, .. } => vec![extents, target, element, comb],
            Op::Foreign { extents, .. } | Op::Reshape { extents, .. } => vec![extents],
            Op::Agree { left, right, .. } => vec![left, right],
            Op::If { cond, .. } => vec![cond],
            Op::Strip { len, .. } => vec![len],
        }
    }

    /// The scalar functions of the operation, with their names in the textual form and in its order.
    pub fn scalar_fns(&self) -> Vec<(&'static str, &ScalarFn)> {
        match self {
            Op::Literal { .. } | Op::Argsort { .. } | Op::While { .. } | Op::Keep { .. } => vec![],
            Op::Recall { at, .. } => vec![("at", at)],
            Op::Loop { extents, body, .. } | Op::Accumulate { extents, body, .. } => {
                vec![("extents", extents), ("body", body)]
            }
            Op::Reduce { extents, rows, .. } | Op::Scan { extents, rows, .. } => {
                let mut codes = vec![("extents", extents), ("len", &rows.len), ("element", &rows.element)];
                codes.extend(rows.init.as_ref().map(|init| ("init", init)));
                codes.push(("op", &rows.op));
                codes
            }
            Op::Permute { extents, target, element, comb, .. } => {
                vec![("extents", extents), ("target", target), ("element", element), ("comb", comb)]
            }
            Op::Foreign { extents, .. } | Op::Reshape { extents, .. } => vec![("extents", extents)],
            Op::Agree { left, right, .. } => vec![("left", left), ("right", right)],
            Op::If { cond, .. } => vec![("cond", cond)],
            Op::Strip { len, .. } => vec![("len", len)],
        }
    }
}

impl Instr {
    /// The registers that the instruction sets, except those set by inner instructions.
    pub fn sets(&self) -> SmallVec<[Reg; 2]> {
        match self {
            Instr::Const(to, _) | Instr::Op1(to, ..) | Instr::Op2(to, ..) | Instr::Extent(to, ..) => smallvec![*to],
            Instr::Read { to, .. } => to.as_slice().into(),
            Instr::If { merge, .. } => merge.iter().map(|m| m.0).collect(),
            Instr::While { state, lists, .. } => state.iter().chain(lists).map(|s| s.0).collect(),
            Instr::Get { to, .. } => smallvec![*to],
            Instr::Emit { .. } => smallvec![],
        }
    }

    /// The registers that the instruction and its inner instructions use.
    pub fn uses(&self, found: &mut impl Extend<Reg>) {
        self.direct_uses(found);
        self.inner().into_iter().flat_map(walk).for_each(|i| i.direct_uses(found));
    }

    /// The registers that the instruction uses, except those used by inner instructions.
    pub fn direct_uses(&self, found: &mut impl Extend<Reg>) {
        match self {
            Instr::Const(..) | Instr::Extent(..) => {}
            Instr::Op1(_, _, a) => found.extend([*a]),
            Instr::Op2(_, _, a, b) => found.extend([*a, *b]),
            Instr::Read { index, .. } => found.extend(index.iter().copied()),
            Instr::If { cond, merge, .. } => {
                found.extend([*cond]);
                found.extend(merge.iter().flat_map(|m| [m.1, m.2]));
            }
            Instr::While { state, continues, next, lists, .. } => {
                found.extend([*continues]);
                found.extend(state.iter().chain(lists).map(|s| s.1).chain(next.iter().copied()));
            }
            Instr::Get { list, at, .. } => found.extend([*list, *at]),
            Instr::Emit { index, values, .. } => found.extend(index.iter().chain(values).copied()),
        }
    }

    /// The lists of inner instructions.
    pub fn inner(&self) -> SmallVec<[&[Instr]; 2]> {
        match self {
            Instr::If { then, otherwise, .. } => [then.as_slice(), otherwise].into(),
            Instr::While { cond, body, .. } => [cond.as_slice(), body].into(),
            _ => smallvec![],
        }
    }
}

/// Items separated by commas.
pub(super) fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// As `list`, with `()` for no items.
fn list_or_unit<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    if items.is_empty() { "()".into() } else { list(items, text) }
}

pub(super) fn array(id: &ArrayId) -> String {
    format!("a{id}")
}

pub(super) fn register(r: &Reg) -> String {
    format!("x{r}")
}

/// Whether the operator is written between its two arguments.
pub(super) fn is_infix(op: Op2) -> bool {
    !op.name().starts_with(|c: char| c.is_alphabetic())
}

/// A constant without its type.
fn without_type(x: Scalar) -> String {
    match x {
        Scalar::F64(x) if x.is_nan() && x.to_bits() != f64::NAN.to_bits() => format!("nan_0x{:X}", x.to_bits()),
        Scalar::F32(x) if x.is_nan() && x.to_bits() != f32::NAN.to_bits() => format!("nan_0x{:X}", x.to_bits()),
        Scalar::F64(x) if x.is_nan() => "nan".into(),
        Scalar::F32(x) if x.is_nan() => "nan".into(),
        Scalar::F64(x) => format!("{x:?}"),
        Scalar::F32(x) => format!("{x:?}"),
        Scalar::Bool(x) => x.to_string(),
        Scalar::I8(x) => x.to_string(),
        Scalar::I16(x) => x.to_string(),
        Scalar::I32(x) => x.to_string(),
        Scalar::I64(x) => x.to_string(),
        Scalar::U8(x) => x.to_string(),
        Scalar::U16(x) => x.to_string(),
        Scalar::U32(x) => x.to_string(),
        Scalar::U64(x) => x.to_string(),
    }
}

/// A constant, with its type unless it is `f64`, `i64` or `bool`.
pub fn constant(x: Scalar) -> String {
    let text = without_type(x);
    match x.ty() {
        ScalarType::Bool | ScalarType::I64 | ScalarType::F64 => text,
        t if text.ends_with(|c: char| c.is_ascii_digit()) && !text.starts_with('n') => format!("{text}{t}"),
        t => format!("{text}_{t}"),
    }
}

/// The largest indentation. With more, the length of the text would grow with the square of the depth.
const MAX_INDENT: usize = 40;

struct Printer<'a> {
    program: &'a Program,
    out: String,
    indent: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.out, "{:width$}{text}", "", width = 2 * self.indent.min(MAX_INDENT));
    }

    fn array_decl(&self, id: &ArrayId) -> String {
        match self.program.arrays.get(*id) {
            Some(info) => format!("a{id}: {info}"),
            None => format!("a{id}: ?"),
        }
    }

    fn program(&mut self) {
        let p = self.program;
        self.line(&format!("program ({})", list(&p.inputs, |a| self.array_decl(a))));
        for (k, site) in p.sites.iter_enumerated() {
            let at = site.at.map(|at| format!(" // {at}")).unwrap_or_default();
            let proved = if site.proved { " proved" } else { "" };
            let fixed = if site.fixed == 0 { String::new() } else { format!(" fixed {:?}", site.fixed_dimensions()) };
            self.line(&format!("site {k} = {:?}{proved}{fixed}{at}", site.name));
        }
        for (k, a) in p.literals.iter().enumerate() {
            self.line(&format!("literal {k} = {}", literal(a)));
        }
        let mut defined = index_vec![false; p.arrays.len()];
        let mut define = |a: ArrayId| defined.get_mut(a).into_iter().for_each(|d| *d = true);
        p.inputs.iter().for_each(|a| define(*a));
        p.body.walk().flat_map(|s| s.op.defines()).for_each(&mut define);
        for a in p.arrays.indices().filter(|a| !defined[*a]) {
            self.line(&format!("unset {}", self.array_decl(&a)));
        }
        self.line("{");
        self.block(&p.body, &p.results);
        self.line("}");
    }

    /// The statements and results of a block, without its brackets.
    fn block(&mut self, b: &Block, results: &[ArrayId]) {
        self.indent += 1;
        deep(|| b.stmts.iter().for_each(|s| self.stmt(s)));
        self.line(format!("-> {}", list(results, array)).trim_end());
        self.indent -= 1;
    }

    fn stmt(&mut self, s: &Stmt) {
        let to = match &s.op {
            Op::While { to, .. } => list_or_unit(to, |a| self.array_decl(a)),
            op => list_or_unit(&op.defines(), |a| self.array_decl(a)),
        };
        let monoid = |k: &Option<Monoid>| k.map(|k| format!(" {k}")).unwrap_or_default();
        let site = s.site;
        let head = match &s.op {
            Op::Literal { literal, .. } => format!("literal {literal} @{site}"),
            Op::Loop { .. } | Op::If { .. } | Op::Strip { .. } => format!("{} @{site}", s.op.keyword()),
            Op::Reduce { rows, .. } => format!("reduce @{site}{}", monoid(&rows.monoid)),
            Op::Scan { kept, reverse, down, rows, .. } => {
                let reverse = if *reverse { " reverse" } else { "" };
                let down = if *down { " down" } else { "" };
                let all = kept.len() == rows.op.results.len();
                let kept = if all { String::new() } else { format!(" keeping {}", list(kept, usize::to_string)) };
                format!("scan @{site}{reverse}{down}{}{kept}", monoid(&rows.monoid))
            }
            Op::Permute { defaults, monoid: k, inside, .. } => {
                let inside = if *inside { " inside" } else { "" };
                format!("permute a{defaults} @{site}{}{inside}", monoid(k))
            }
            Op::Argsort { keys, moved, .. } => {
                let moved = list(moved, |a| a.map_or("positions".into(), |a| format!("a{a}")));
                format!("argsort a{keys} @{site} moving {moved}")
            }
            Op::Foreign { call, from, .. } => {
                format!("foreign {:?} {} {} @{site}", call.function.name(), call.lanes, list_or_unit(from, array))
            }
            Op::Reshape { from, .. } => format!("reshape a{from} @{site}"),
            Op::Agree { agreement, .. } => format!("agree {agreement} @{site}"),
            Op::While { init, trips, row, .. } => {
                let init = list_or_unit(init, array);
                let row = row.iter().map(|a| format!(" row {}", self.array_decl(a))).collect::<String>();
                match trips {
                    Trips::While(..) => format!("while {init} @{site}{row}"),
                    Trips::Times(n, Dir::Left) => format!("times a{n} {init} @{site}{row}"),
                    Trips::Times(n, Dir::Right) => format!("times a{n} right {init} @{site}{row}"),
                }
            }
            Op::Accumulate { sums, .. } => format!("accumulate {} @{site}", list_or_unit(sums, |s| array(&s.1))),
            Op::Keep { tape, arrays } => format!("keep {tape} {} @{site}", list_or_unit(arrays, array)),
            Op::Recall { tape, .. } => format!("recall {tape} @{site}"),
        };
        self.line(&format!("{to} = {head}"));
        self.indent += 1;
        s.op.scalar_fns().into_iter().for_each(|(name, c)| self.code(name, c));
        match &s.op {
            Op::If { then, otherwise, .. } => {
                self.named_block("then", &then.0, &then.1);
                self.named_block("else", &otherwise.0, &otherwise.1);
            }
            Op::While { trips, body, .. } => {
                if let Trips::While(cond, continues) = trips {
                    self.named_block("cond", cond, &[*continues]);
                }
                self.named_block("body", &body.0, &body.1);
            }
            Op::Recall { step, .. } => self.named_block("step", &step.0, &step.1),
            Op::Strip { to, body, .. } => self.named_block("body", body, to),
            _ => {}
        }
        self.indent -= 1;
    }

    fn named_block(&mut self, name: &str, b: &Block, results: &[ArrayId]) {
        self.line(&format!("{name} {{"));
        self.block(b, results);
        self.line("}");
    }

    fn code(&mut self, name: &str, c: &ScalarFn) {
        let params: Vec<Reg> = c.param_regs().collect();
        let head = format!("{name} ({})", list(&params, |r| register_decl(&c.types, r)));
        let mut defined = index_vec![false; c.types.len()];
        let mut define = |r: Reg| defined.get_mut(r).into_iter().for_each(|d| *d = true);
        params.iter().for_each(|r| define(*r));
        walk(&c.instrs).flat_map(Instr::sets).for_each(&mut define);
        let unset: Vec<String> = c
            .types
            .indices()
            .filter(|r| !defined[*r])
            .map(|r| format!("unset {}", register_decl(&c.types, &r)))
            .collect();
        // A short scalar function without branches goes on one line.
        if c.instrs.len() <= 3 && unset.is_empty() && c.instrs.iter().all(|i| i.inner().is_empty()) {
            let instrs: Vec<String> = c.instrs.iter().map(|i| without_inner(&c.types, i)).collect();
            let space = if instrs.is_empty() { "" } else { " " };
            let results = format!("-> {}", list(&c.results, register));
            return self.line(&format!("{head} {{ {}{space}{} }}", instrs.join("; "), results.trim_end()));
        }
        self.line(&format!("{head} {{"));
        self.indent += 1;
        unset.iter().for_each(|u| self.line(u));
        self.indent -= 1;
        self.instrs(&c.types, &c.instrs, &c.results);
        self.line("}");
    }

    /// Instructions and results, without brackets.
    fn instrs(&mut self, types: &IndexVec<Reg, ScalarType>, instrs: &[Instr], results: &[Reg]) {
        self.indent += 1;
        instrs.iter().for_each(|i| self.instr(types, i));
        self.line(format!("-> {}", list(results, register)).trim_end());
        self.indent -= 1;
    }

    fn instr(&mut self, types: &IndexVec<Reg, ScalarType>, i: &Instr) {
        let first = without_inner(types, i);
        match i {
            Instr::If { then, otherwise, merge, .. } => {
                let results = |part: fn(&(Reg, Reg, Reg)) -> Reg| merge.iter().map(part).collect::<Vec<_>>();
                self.line(&format!("{first} {{"));
                deep(|| self.instrs(types, then, &results(|m| m.1)));
                self.line("} else {");
                deep(|| self.instrs(types, otherwise, &results(|m| m.2)));
                self.line("}");
            }
            Instr::While { cond, continues, body, next, lists, .. } => {
                self.line(&format!("{first} cond {{"));
                deep(|| self.instrs(types, cond, &[*continues]));
                self.line("} body {");
                deep(|| self.instrs(types, body, next));
                match lists.as_slice() {
                    [] => self.line("}"),
                    lists => self.line(&format!("}} lists {}", list(lists, |l| register(&l.1)))),
                }
            }
            _ => self.line(&first),
        }
    }
}

/// An instruction with its inner instructions, on lines that begin with `indent` times two blanks. `types` are those of the
/// registers.
pub fn with_inner(types: &IndexVec<Reg, ScalarType>, i: &Instr, indent: usize) -> String {
    let mut p = Printer { program: &Program::default(), out: String::new(), indent };
    p.instr(types, i);
    p.out
}

fn register_decl(types: &IndexVec<Reg, ScalarType>, r: &Reg) -> String {
    match types.get(*r) {
        Some(t) => format!("x{r}: {t}"),
        None => format!("x{r}: ?"),
    }
}

/// An instruction without inner instructions; of others, only the first line. `types` are those of the registers.
pub fn without_inner(types: &IndexVec<Reg, ScalarType>, i: &Instr) -> String {
    let to = list_or_unit(&i.sets(), |r| register_decl(types, r));
    match i {
        Instr::Const(_, x) => format!("{to} = {}", constant(*x)),
        Instr::Op1(_, op, a) => format!("{to} = {op} x{a}"),
        Instr::Op2(_, op, a, b) if is_infix(*op) => format!("{to} = x{a} {op} x{b}"),
        Instr::Op2(_, op, a, b) => format!("{to} = {op} x{a} x{b}"),
        Instr::Extent(_, a, dim) => format!("{to} = extent a{a} {dim}"),
        Instr::Read { array, index, site, inside, .. } => {
            let inside = if *inside { " inside" } else { "" };
            format!("{to} = a{array}[{}] @{site}{inside}", list(index, register))
        }
        Instr::If { cond, .. } => format!("{to} = if x{cond}"),
        Instr::Emit { to: sum, index, values, site, inside } => {
            let inside = if *inside { " inside" } else { "" };
            let values = list_or_unit(values, register);
            format!("{to} = emit a{sum}[{}] {values} @{site}{inside}", list(index, register))
        }
        Instr::Get { list, at, .. } => format!("{to} = list x{list}[x{at}]"),
        Instr::While { state, .. } => format!("{to} = while {}", list_or_unit(state, |s| register(&s.1))),
    }
}

fn literal(a: &RawArray) -> String {
    let column = |c: &Column| {
        let elements: String = (0..c.len()).filter_map(|i| c.get(i)).map(|x| format!("{} ", without_type(x))).collect();
        format!(" {} {{ {elements}}}", c.ty())
    };
    format!("[{}]{}", list(&a.extents, |e| e.to_string()), a.columns.iter().map(column).collect::<String>())
}
