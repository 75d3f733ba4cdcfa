//! A kernel program as one C file.

use crate::code::Writer;
use crate::columns::in_columns;
use crate::dialect::Dialect;
use crate::host::{self, is_inline, is_of_numbers};
use crate::layout::Layout;
use crate::liveness::{self, Block, Step};
use crate::ops::Declarations;
use crate::parts;
use crate::permute::Permute;
use crate::strip::Strip;
use crate::vectors::Vectors;
use accel_fusion::kernel::{Code, Op, Program, Rows, Verified};
use std::fmt::Write;

/// What the code is printed for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Whether the C library has vector versions of all the mathematical functions (glibc's libmvec from 2.35 on).
    pub vector_math: bool,
    /// The vector registers of the processor.
    pub vectors: Vectors,
}

/// A C file and how to use it.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text. It defines `int accel_run(run *)`: the program, which returns 0, or 1 with a record in `fault`; and for programs of numbers
    /// only `int accel_call(const scalar *given, scalar *found)`, see NOTE [Programs of numbers]. Where it needs
    /// one of the functions `accel_polygamma`, `accel_parallel`, `accel_threads`, `accel_product_f32` and `accel_product_f64`, it defines
    /// a variable of that name for its address, which must be set before use.
    pub source: String,
}

/// Prints a program.
pub fn emit(program: &Verified<Program>, options: Options) -> Module {
    let layout = Layout::new(program);
    let body = liveness::analyse(program);
    let mut declarations = Declarations::new(options.vector_math, options.vectors, Dialect::C);
    let numbers = is_of_numbers(program);
    let mut kernels =
        Kernels { program, numbers, declarations: &mut declarations, text: String::new(), statements: vec![] };
    kernels.block(&body);
    let statements = kernels.statements;
    let host = host::emit(program, &layout, &mut declarations, &body, numbers);
    // It is cold code: compilers spend half the time on a line of it.
    let kernels = parts::print(statements, host.lines().count() / 2);
    let host = parts::first(&host, &kernels);
    let declarations = declarations.print();
    Module { source: [PRELUDE, &host::prelude(), &declarations, &kernels, &host].concat() }
}

/// Types; `job` is another name for `task`, which is what kernels call their parameter. A backend calls the code with these layouts:
/// - the tables of a run hold the extents and the columns of all arrays one after the other, see [`Layout`];
/// - a block is the memory of a column that is not of rank 0; `count` arrays share it, and it is written to only if that is one;
/// - `allocate` gives a block of room for `n` elements of `size` bytes each that one array has, or null; `release` takes it back;
/// - `ranges` calls a function for the positions up to `n`, each of which takes about `cost` operations, in parallel; if `to` is not
///   negative, it is the only array that the function writes, and shares its memory with no other;
/// - `reduce` and `scan` do all rows of an operation with the functions of the statement (`rows`, `part`, `join`, and `rows`, `part`,
///   `carry`, `write`), whose result is the array `to`; a `cost` is that of an element;
/// - `strip` does all positions of a strip's dimension with the functions of the statement (the strips, and `join`); its sizes
///   are those of [`Strip::sizes`].
const PRELUDE: &str = "\
typedef _Bool bool;
typedef __INT8_TYPE__ i8;
typedef __INT16_TYPE__ i16;
typedef __INT32_TYPE__ i32;
typedef __INT64_TYPE__ i64;
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef float f32;
typedef double f64;
typedef struct { const i64 *extents; void *const *columns; } array;
typedef struct { i64 from, to, row, slot, len; const i64 *extents; void *const *state; } task;
typedef task job;
typedef int function(const array *, const task *, i64 *);
typedef struct { void *data; i64 count; } block;
typedef struct run run;
typedef struct {
    block *(*allocate)(run *, i64 n, i64 size);
    void (*release)(run *, block *);
    int (*ranges)(run *, function *, i64 to, i64 n, i64 cost, const i64 *extents);
    int (*reduce)(run *, i64 to, function *const *, i64 rows, i64 len, i64 cost, const i64 *extents);
    int (*scan)(run *, i64 to, function *const *, i64 rows, i64 len, i64 cost, const i64 *extents);
    int (*strip)(run *, function *const *, i64 n, const i64 *sizes);
} calls;
struct run { const array *arrays; i64 *extents; void **columns; block **blocks; i64 *fault; i64 site; const calls *calls; };
";

/// Prints the kernels; statement `n` has those with `n` in their names.
struct Kernels<'a> {
    program: &'a Program,
    numbers: bool,
    declarations: &'a mut Declarations,
    /// Of one statement.
    text: String,
    statements: Vec<String>,
}

impl Kernels<'_> {
    fn block(&mut self, b: &Block) {
        for s in &b.steps {
            self.statement(s);
            self.statements.push(std::mem::take(&mut self.text));
            s.blocks.iter().for_each(|b| self.block(b));
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
        let mut w = Writer::new(self.program, self.declarations, s.stmt.site);
        let head = body(&mut w);
        let body = w.finish();
        // Compilers take a time that grows with the square of the size of a function, most of it to optimise.
        let level = if body.lines().count() < HUGE { "" } else { AS_IT_IS };
        let _ = write!(self.text, "\n{level}{head} {{\n{body}    return 0;\n}}\n");
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
    fn kernel(&mut self, s: &Step, attribute: &str, name: &str, body: impl FnOnce(&mut Writer)) {
        self.inner(s, |w| {
            body(w);
            format!("static {attribute}int {name}({PARAMETERS})")
        });
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

/// The parameters of a kernel.
pub const PARAMETERS: &str = "const array *arrays, const task *task, i64 *fault";
