//! A kernel program as one C file, and which of its functions belong to which statement.
//!
//! A task is `{ from, to, row, slot, len, extents, state }`, all numbers `i64`: what it means for each function is told at
//! [`Kernel`]. `extents` are those of the index space that positions and rows are counted in (row-major), `state` is a list of
//! columns.

use crate::code::Writer;
use crate::columns::in_columns;
use crate::ops::Declarations;
use crate::permute::{Permute, in_parallel};
use accel_fusion::kernel::{Block, Code, Op, Program, Rows, SiteId};
use std::collections::HashMap;
use std::fmt::Write;

/// The number of a function in the table `accel_functions`.
pub type Function = usize;

/// What the code is printed for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Whether the C library has vector versions of all the mathematical functions (glibc's libmvec from 2.35 on).
    pub vector_math: bool,
}

/// A C file and how to use it.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text.
    pub source: String,
    /// One entry per statement, in the order of the text: a statement comes before the statements of its blocks, `then` before
    /// `otherwise`, a loop's condition before its body.
    pub kernels: Vec<Kernel>,
    /// How many functions the table has.
    pub functions: usize,
}

/// The functions of a statement. Those that compute extents, lengths and conditions write integers to `state[0]`.
///
/// A function `all`, if there is one, may do the whole statement, with several threads: `0..to` are all rows (or source elements),
/// `len` is the rows' length. It gives 0 if it has, 1 with a fault, and -1 if the other functions are the better way: then it has done nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// None.
    Nothing,
    /// `Loop`
    Loop {
        /// The extents.
        extents: Function,
        /// The elements at the positions `from..to`.
        body: Function,
    },
    /// `Reduce`
    Reduce {
        /// The outer extents.
        extents: Function,
        /// The length of the rows.
        len: Function,
        /// The rows `from..to` of length `len`; without an initial value it must not be 0.
        rows: Function,
        /// The elements `from..to` (not none) of row `row` without the initial value; the result goes to position `slot` of `state`.
        part: Function,
        /// Combines the first `to` partial results in `state` with the initial value to element `row` of the result.
        join: Function,
        /// To be called first: see [`Kernel`].
        all: Option<Function>,
    },
    /// `Scan`
    Scan {
        /// The outer extents.
        extents: Function,
        /// The length of the rows.
        len: Function,
        /// The rows `from..to` of length `len`.
        rows: Function,
        /// As for `Reduce`, the elements counted in the order in which they are visited.
        part: Function,
        /// Replaces each of the first `to` totals of parts in `state` by what was accumulated before it, and writes the initial value of
        /// row `row`.
        carry: Function,
        /// Writes the results of the elements `from..to` of row `row`, from position `slot` of `state` on.
        write: Function,
    },
    /// `Permute`
    Permute {
        /// The extents of the source.
        extents: Function,
        /// The source elements at the positions `from..to`; the target holds the defaults at first.
        scatter: Function,
        /// To be called first: see [`Kernel`].
        all: Option<Function>,
    },
    /// `Reshape`
    Reshape {
        /// The new extents.
        extents: Function,
    },
    /// `If`
    If {
        /// The condition: 0 or 1.
        cond: Function,
    },
}

/// Prints a program, which must be correct.
pub fn emit(program: &Program, options: Options) -> Module {
    let declarations = Declarations::new(options.vector_math);
    let mut e = Emitter {
        program,
        declarations,
        text: String::new(),
        functions: vec![],
        known: HashMap::new(),
        kernels: vec![],
    };
    e.block(&program.body);
    let mut source = PRELUDE.to_string();
    let declarations = e.declarations.print();
    source += &declarations;
    source += &e.text;
    let _ = write!(source, "\nint (*const accel_functions[])(const array *, const task *, i64 *) = {{ {} }};\n", {
        // A table without entries is not C.
        if e.functions.is_empty() { "0".to_string() } else { e.functions.join(", ") }
    });
    Module { source, kernels: e.kernels, functions: e.functions.len() }
}

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
";

struct Emitter<'a> {
    program: &'a Program,
    declarations: Declarations,
    text: String,
    functions: Vec<String>,
    /// Functions by their text: equal ones are printed once.
    known: HashMap<String, Function>,
    kernels: Vec<Kernel>,
}

impl Emitter<'_> {
    fn block(&mut self, block: &Block) {
        for s in &block.stmts {
            self.statement(&s.op, s.site);
        }
    }

    fn statement(&mut self, op: &Op, site: SiteId) {
        let n = self.kernels.len();
        let place = self.kernels.len();
        self.kernels.push(Kernel::Nothing);
        self.kernels[place] = match op {
            Op::Literal { .. } | Op::While { .. } => Kernel::Nothing,
            Op::Loop { to, extents, body } => Kernel::Loop {
                extents: self.host(extents, site),
                body: self.function(&format!("loop_{n}"), site, |w| w.elements(to, extents.results.len(), body)),
            },
            Op::Reduce { to, extents, rows } => self.reduce(n, site, *to, extents, rows),
            Op::Scan { to, extents, reverse, rows } => self.scan(n, site, *to, extents, *reverse, rows),
            Op::Permute { to, extents, target, element, comb, known, .. } => {
                let rank = extents.results.len();
                let p = Permute { to: *to, rank, target, element, comb, known: *known };
                self.permute(n, site, extents, &p)
            }
            Op::Reshape { extents, .. } => Kernel::Reshape { extents: self.host(extents, site) },
            Op::If { cond, .. } => Kernel::If { cond: self.host(cond, site) },
        };
        match op {
            Op::If { then: (a, _), otherwise: (b, _), .. } | Op::While { cond: (a, _), body: (b, _), .. } => {
                self.block(a);
                self.block(b);
            }
            _ => {}
        }
    }

    fn reduce(&mut self, n: usize, site: SiteId, to: usize, extents: &Code, rows: &Rows) -> Kernel {
        let (outer, fold) = (extents.results.len(), format!("fold_{n}"));
        self.inner(site, |w| w.fold(&fold, to, outer, rows));
        let (columns, part) = (format!("fold_{n}_columns"), format!("fold_{n}_column_part"));
        let in_columns = in_columns(outer, rows);
        if in_columns {
            self.inner(site, |w| w.fold_side_by_side(&columns, to, outer, rows));
            self.function(&part, site, |w| w.column_part(&columns, to, outer));
        }
        let product = rows.contraction();
        Kernel::Reduce {
            extents: self.host(extents, site),
            len: self.host(&rows.len, site),
            rows: self.function(&format!("fold_{n}_rows"), site, |w| match in_columns {
                true => w.fold_columns(&columns, to, outer, rows),
                false => w.fold_rows(&fold, to, outer, rows),
            }),
            part: self.function(&format!("fold_{n}_part"), site, |w| w.part(&fold, to, outer, "")),
            join: self.function(&format!("fold_{n}_join"), site, |w| w.join(to, rows)),
            all: (in_columns || product.is_some()).then(|| {
                self.function(&format!("fold_{n}_all"), site, |w| {
                    if let Some(c) = &product {
                        w.product(to, outer, rows, c);
                    }
                    match in_columns {
                        true => w.in_parts(&part, to, rows),
                        false => w.line("return -1;"),
                    }
                })
            }),
        }
    }

    fn scan(&mut self, n: usize, site: SiteId, to: usize, extents: &Code, reverse: bool, rows: &Rows) -> Kernel {
        let (outer, scan) = (extents.results.len(), format!("scan_{n}"));
        self.inner(site, |w| w.scan(&scan, to, outer, reverse, rows));
        Kernel::Scan {
            extents: self.host(extents, site),
            len: self.host(&rows.len, site),
            rows: self.function(&format!("scan_{n}_rows"), site, |w| w.scan_rows(&scan, to, outer, reverse, rows)),
            part: self.function(&format!("scan_{n}_part"), site, |w| w.part(&scan, to, outer, ", 0, task->len, 0")),
            carry: self.function(&format!("scan_{n}_carry"), site, |w| w.carry(to, reverse, rows)),
            write: self.function(&format!("scan_{n}_write"), site, |w| w.write_part(&scan, to, outer, rows)),
        }
    }

    fn permute(&mut self, n: usize, site: SiteId, extents: &Code, p: &Permute) -> Kernel {
        let (name, into) = (format!("permute_{n}"), format!("permute_{n}_into"));
        self.inner(site, |w| w.combine_into(&into, p));
        let types = &self.program.arrays[p.to].columns;
        Kernel::Permute {
            extents: self.host(extents, site),
            scatter: self.function(&name, site, |w| w.scatter(&into, p)),
            all: in_parallel(&name, p, types).iter().map(|(name, body)| self.function(name, site, body)).last(),
        }
    }

    /// A function that other functions call: `body` writes it and gives its head.
    fn inner(&mut self, site: SiteId, body: impl FnOnce(&mut Writer) -> String) {
        let mut w = Writer::new(self.program, &mut self.declarations, site);
        let head = body(&mut w);
        let body = w.finish();
        let _ = write!(self.text, "\n{head} {{\n{body}    return 0;\n}}\n");
    }

    fn function(&mut self, name: &str, site: SiteId, body: impl FnOnce(&mut Writer)) -> Function {
        let mut w = Writer::new(self.program, &mut self.declarations, site);
        body(&mut w);
        let body = w.finish();
        self.add(name, body)
    }

    fn host(&mut self, code: &Code, site: SiteId) -> Function {
        let mut w = Writer::new(self.program, &mut self.declarations, site);
        w.host(code);
        let body = w.finish();
        if let Some(f) = self.known.get(&body) {
            return *f;
        }
        let f = self.add(&format!("host_{}", self.known.len()), body.clone());
        self.known.insert(body, f);
        f
    }

    fn add(&mut self, name: &str, body: String) -> Function {
        // What runs once per statement need not be fast: optimising it costs time.
        let cold = ["host", "join", "carry"].iter().any(|part| name.contains(part));
        let attribute = if cold { "__attribute__((cold)) " } else { "" };
        let signature = "const array *arrays, const task *task, i64 *fault";
        let _ = write!(self.text, "\nstatic {attribute}int {name}({signature}) {{\n{body}    return 0;\n}}\n");
        self.functions.push(name.into());
        self.functions.len() - 1
    }
}
