//! Scalar code as C statements: a local variable per register.

use crate::dialect::Params;
use crate::fault;
use crate::layout::Layout;
use crate::opencl::Arg;
use crate::ops::{self, Declarations};
use accel_core::repr::Scalar;
use accel_fusion::kernel::{ArrayId, Code, Instr, Program, Reg, SiteId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// How many positions a strip has: four of the largest vector registers of 64-bit numbers, so that sums do not wait for one
/// addition before the next.
pub const LANES: usize = 32;

/// The body of one function while it is written.
pub struct Writer<'a> {
    pub program: &'a Program,
    pub declarations: &'a mut Declarations,
    /// The site of the statement that the function belongs to.
    pub site: SiteId,
    /// The host program finds arrays in the tables of the run at these places, kernels in the table of arrays.
    pub host: Option<&'a Layout>,
    /// Arrays that may have the same memory as an output: see NOTE [Writing over an input].
    pub aliased: BTreeSet<ArrayId>,
    /// In the loops over the positions of a strip: where some arrays are.
    pub lanes: Lanes,
    /// What the function uses, in OpenCL C: NOTE [Arrays in OpenCL C].
    pub params: Params,
    out: String,
    indent: usize,
}

/// The arrays of which a strip holds the elements of its positions, position within the strip innermost: `s3_0` is the first
/// column of array 3.
#[derive(Default)]
pub struct Lanes {
    pub arrays: BTreeSet<ArrayId>,
    /// The register with the position. An index that begins with it is looked up in the strip, at position `l`.
    pub position: Reg,
}

/// Registers whose value is known, to leave out checks.
pub type Constants = HashMap<Reg, Scalar>;

impl<'a> Writer<'a> {
    pub fn new(program: &'a Program, declarations: &'a mut Declarations, site: SiteId) -> Self {
        let aliased = BTreeSet::new();
        Writer {
            program,
            declarations,
            site,
            host: None,
            aliased,
            lanes: Lanes::default(),
            params: Params::new(),
            out: String::new(),
            indent: 1,
        }
    }

    /// What was written.
    pub fn finish(self) -> String {
        self.out
    }

    /// Puts aside what was written, to write another function.
    pub fn begin(&mut self) -> (String, usize) {
        (std::mem::take(&mut self.out), std::mem::replace(&mut self.indent, 1))
    }

    /// What was written since, and goes back to what was put aside.
    pub fn end(&mut self, (out, indent): (String, usize)) -> String {
        self.indent = indent;
        std::mem::replace(&mut self.out, out)
    }

    /// One line, at the current indentation. What is nested deeper than `DEEPEST` is not indented further: deep nests would be mostly blanks.
    pub fn line(&mut self, text: impl AsRef<str>) {
        const DEEPEST: usize = 40;
        let _ = writeln!(self.out, "{:1$}{2}", "", 4 * self.indent.min(DEEPEST), text.as_ref());
    }

    /// `head {`, what `body` writes, `}`.
    pub fn braces(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        self.open(head);
        body(self);
        self.close();
    }

    /// The head of a loop over all lanes. Each has its own place in what is written, which compilers would check at run time.
    pub fn lane(&self) -> &'static str {
        if self.is_opencl() { "EACH_LANE" } else { "_Pragma(\"GCC ivdep\") for (int l = 0; l < 32; l++)" }
    }

    /// `head {`
    pub fn open(&mut self, head: &str) {
        self.line(if head.is_empty() { "{".into() } else { format!("{head} {{") });
        self.indent += 1;
    }

    /// `}`
    pub fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    /// Local names for the extents and columns that codes read: `a3_n0` is the outermost extent of array 3, `a3_0` its first column.
    pub fn hoist(&mut self, codes: &[&Code]) {
        let mut used = BTreeMap::new();
        codes.iter().for_each(|c| uses(&c.instrs, &mut used));
        for (array, columns) in used {
            self.hoist_extents(array);
            columns.into_iter().for_each(|c| self.hoist_column(array, c, "const "));
        }
    }

    /// Local names for the columns of an array that the function writes, and for its extents if `extents`.
    pub fn hoist_output(&mut self, array: ArrayId, extents: bool) {
        if extents {
            self.hoist_extents(array);
        }
        (0..self.program.arrays[array].columns.len()).for_each(|c| self.hoist_column(array, c, ""));
    }

    /// Local names for the extents of an array.
    pub fn hoist_extents(&mut self, array: ArrayId) {
        for dim in 0..self.program.arrays[array].rank {
            if self.is_opencl() {
                self.param(Arg::Extent(array, dim), format!("const i64 a{array}_n{dim}"));
                continue;
            }
            let place = match self.host {
                Some(layout) => format!("r->extents[{}]", layout.extents[array] + dim),
                None => format!("arrays[{array}].extents[{dim}]"),
            };
            self.line(format!("const i64 a{array}_n{dim} = {place};"));
        }
    }

    /// A local name for a column of an array; `constant` is `const ` if it is only read.
    pub fn hoist_column(&mut self, array: ArrayId, c: usize, constant: &str) {
        let t = self.program.arrays[array].columns[c];
        if self.is_opencl() {
            let restrict = if self.aliased.contains(&array) { "" } else { "restrict " };
            return self.param(Arg::Column(array, c), format!("{constant}global {t} *{restrict}a{array}_{c}"));
        }
        let place = match self.host {
            Some(layout) => format!("r->columns[{}]", layout.columns[array] + c),
            None => format!("arrays[{array}].columns[{c}]"),
        };
        if self.program.arrays[array].rank == 0 && self.host.is_none() && !constant.is_empty() {
            // The value, which a compiler that does not know that nobody writes it would read again at each position.
            return self.line(format!("const {t} a{array}_{c}[] = {{ *(const {t} *){place} }};"));
        }
        // The functions of the host program read and write the same memory in one body.
        let restrict = if self.host.is_some() || self.aliased.contains(&array) { "" } else { "restrict " };
        self.line(format!("{constant}{t} *{restrict}const a{array}_{c} = {place};"));
    }

    /// Computes `code` from the values `args` and assigns its results to `to`.
    pub fn code(&mut self, code: &Code, args: &[String], to: &[String]) {
        self.braces("", |w| {
            for (r, arg) in args.iter().enumerate().take(code.params) {
                w.line(format!("const {} r{r} = {arg};", code.types[r]));
            }
            w.instrs(code, &code.instrs, &mut Constants::new());
            for (to, r) in to.iter().zip(&code.results) {
                w.line(format!("{to} = r{r};"));
            }
        });
    }

    /// Instructions whose operands are in registers already.
    pub fn instrs(&mut self, code: &Code, instrs: &[Instr], constants: &mut Constants) {
        for i in instrs {
            self.instr(code, i, constants);
        }
    }

    fn set(&mut self, code: &Code, to: Reg, value: String) {
        // The conversion matters for integers smaller than `int`: it makes them wrap.
        let t = code.types[to];
        let value = if t.is_integral() { format!("({t})({value})") } else { value };
        self.line(format!("const {t} r{to} = {value};"));
    }

    fn instr(&mut self, code: &Code, instr: &Instr, constants: &mut Constants) {
        match instr {
            Instr::Const(to, x) => {
                constants.insert(*to, *x);
                self.line(format!("const {} r{to} = {};", x.ty(), ops::constant(self.declarations, *x)));
            }
            Instr::Op1(to, op, a) => {
                let value = ops::op1(self.declarations, *op, code.types[*a], &format!("r{a}"));
                self.set(code, *to, value);
            }
            Instr::Op2(to, op, a, b) => {
                let t = code.types[*a];
                let known = constants.get(b);
                if let Some(which) = ops::division(*op, t).filter(|_| known.is_none_or(|b| *b == t.zero())) {
                    self.fault(&format!("r{b} == 0"), fault::DIVISION, self.site, which, &[]);
                }
                let value = ops::op2(self.declarations, *op, t, &format!("r{a}"), &format!("r{b}"));
                self.set(code, *to, value);
            }
            Instr::Extent(to, array, dim) => self.line(format!("const i64 r{to} = a{array}_n{dim};")),
            Instr::Read { to, array, index, site, inside } => {
                let in_strip = self.lanes.arrays.contains(array) && index.first() == Some(&self.lanes.position);
                let index: Vec<_> = index.iter().map(|r| format!("r{r}")).collect();
                if !inside && !index.is_empty() {
                    let outside = outside(*array, &index);
                    self.fault(&outside, fault::READ, *site, *array, &index);
                }
                let (letter, position) = if in_strip {
                    ("s", format!("({}) * {LANES} + l", position_in_strip(*array, &index)))
                } else {
                    ("a", self.place(*array, &index))
                };
                for (c, to) in to.iter().enumerate() {
                    self.line(format!("const {} r{to} = {letter}{array}_{c}[{position}];", code.types[*to]));
                }
            }
            Instr::If { cond, then, otherwise, merge } => {
                self.conditional(code, *cond, [then, otherwise], merge, constants)
            }
            Instr::While { state, cond, go_on, body, next } => {
                for (to, init) in state {
                    self.line(format!("{} r{to} = r{init};", code.types[*to]));
                }
                self.braces("for (;;)", |w| {
                    w.instrs(code, cond, constants);
                    w.line(format!("if (!r{go_on}) break;"));
                    w.instrs(code, body, constants);
                    // All at once: a part of the next state may be another part of the old one.
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

    fn conditional(
        &mut self,
        code: &Code,
        cond: Reg,
        branches: [&[Instr]; 2],
        merge: &[(Reg, Reg, Reg)],
        constants: &mut Constants,
    ) {
        for (to, ..) in merge {
            self.line(format!("{} r{to};", code.types[*to]));
        }
        self.braces(&format!("if (r{cond})"), |w| {
            w.instrs(code, branches[0], constants);
            merge.iter().for_each(|(to, a, _)| w.line(format!("r{to} = r{a};")));
        });
        self.braces("else", |w| {
            w.instrs(code, branches[1], constants);
            merge.iter().for_each(|(to, _, b)| w.line(format!("r{to} = r{b};")));
        });
    }

    /// The row-major position of an index of an array.
    pub fn place(&self, array: ArrayId, index: &[String]) -> String {
        if !self.declarations.dialect.is_narrow() {
            return position(array, index);
        }
        // Whatever is computed on the way, the position is the right one modulo 2³², and it fits.
        let narrow: Vec<_> = index.iter().map(|i| format!("(uint)({i})")).collect();
        let Some((first, rest)) = narrow.split_first() else { return "0".into() };
        let next = |p, (k, i): (usize, &String)| format!("({p}) * (uint)a{array}_n{} + {i}", k + 1);
        rest.iter().enumerate().fold(first.clone(), next)
    }

    /// Leaves a record and returns if `condition` holds.
    pub fn fault(&mut self, condition: &str, kind: i64, site: SiteId, what: usize, index: &[String]) {
        let (name, opencl) = (format!("fault{}", index.len()), self.is_opencl());
        self.declarations.fails = true;
        self.declarations.need(&name, || {
            let params: String = (0..index.len()).map(|k| format!(", i64 i{k}")).collect();
            let stores: String = (0..index.len()).map(|k| format!(" fault[{}] = i{k};", k + 3)).collect();
            if opencl {
                return format!(
                    "static int {name}(global i64 *fault, i64 kind, i64 site, i64 what{params}) {{\n    \
                     if (atomic_cmpxchg((volatile global int *)fault, 0, (int)kind) != 0) return 1;\n    \
                     fault[1] = site; fault[2] = what;{stores}\n    return 1;\n}}"
                );
            }
            format!(
                "static __attribute__((cold, noinline)) int {name}(i64 *fault, i64 kind, i64 site, i64 what{params}) \
                 {{ fault[0] = kind; fault[1] = site; fault[2] = what;{stores} return 1; }}"
            )
        });
        let index: String = index.iter().map(|i| format!(", {i}")).collect();
        let condition = if opencl { condition.into() } else { format!("__builtin_expect({condition}, 0)") };
        self.line(format!("if ({condition}) return {name}(fault, {kind}, {site}, {what}{index});"));
    }
}

/// Whether an index is outside of an array.
pub fn outside(array: ArrayId, index: &[String]) -> String {
    let parts: Vec<_> = index.iter().enumerate().map(|(k, i)| format!("(u64){i} >= (u64)a{array}_n{k}")).collect();
    parts.join(" || ")
}

/// The row-major position of an index of an array.
pub fn position(array: ArrayId, index: &[String]) -> String {
    let Some((first, rest)) = index.split_first() else { return "0".into() };
    rest.iter().enumerate().fold(first.clone(), |p, (k, i)| format!("({p}) * a{array}_n{} + {i}", k + 1))
}

/// The row-major position of an index without its first number.
pub fn position_in_strip(array: ArrayId, index: &[String]) -> String {
    let inner = index.get(1..).unwrap_or_default();
    let Some((first, rest)) = inner.split_first() else { return "0".into() };
    rest.iter().enumerate().fold(first.clone(), |p, (k, i)| format!("({p}) * a{array}_n{} + {i}", k + 2))
}

/// The arrays that instructions use, with the columns that they read.
pub fn uses(instrs: &[Instr], found: &mut BTreeMap<ArrayId, BTreeSet<usize>>) {
    for i in instrs {
        match i {
            Instr::Extent(_, array, _) => {
                found.entry(*array).or_default();
            }
            Instr::Read { to, array, .. } => found.entry(*array).or_default().extend(0..to.len()),
            _ => i.inner().into_iter().for_each(|inner| uses(inner, found)),
        }
    }
}

/// As [`is_straight`], but for branches that only compute: compilers turn them into selections.
pub fn is_smooth(code: &Code) -> bool {
    fn smooth(code: &Code, instrs: &[Instr], branch: bool) -> bool {
        instrs.iter().all(|i| match i {
            Instr::If { then, otherwise, .. } => smooth(code, then, true) && smooth(code, otherwise, true),
            Instr::Read { .. } => !branch && is_straight_instr(code, i),
            _ => is_straight_instr(code, i),
        })
    }
    smooth(code, &code.instrs, false)
}

/// Whether code always does the same: no branches, no loops, nothing that can fail.
pub fn is_straight(code: &Code) -> bool {
    code.instrs.iter().all(|i| is_straight_instr(code, i))
}

fn is_straight_instr(code: &Code, i: &Instr) -> bool {
    match i {
        Instr::Const(..) | Instr::Op1(..) | Instr::Extent(..) => true,
        Instr::Op2(_, op, a, _) => ops::division(*op, code.types[*a]).is_none(),
        Instr::Read { inside, index, .. } => *inside || index.is_empty(),
        Instr::If { .. } | Instr::While { .. } => false,
    }
}
