//! Checks that a kernel program is well formed, so that what is generated from it need not be afraid of anything.
//!
//! NOTE [Verified programs]: in a verified program
//! - every array is defined once, before it is used, where it is used (what a block defines is visible only in it);
//! - every register is set once, before it is used, where it is used; the registers of the condition of a loop are not visible in its body;
//! - functions are applied to the types for which they are defined, and codes have the parameters and results of their place;
//! - ranks and columns fit, numbers of sites and literals exist, the columns of literals are as long as their extents say;
//! - an operator that is said to be well known has that form;
//! - the statements of a strip can be executed in strips: what [`crate::strip::roles`] says.
//!
//! What is not known before a program runs is not checked: extents, indices (also those said to be inside), division by zero.
//!
//! A [`Verified`] program is one that was checked: only the verifier makes one, nothing changes it, and code is generated from nothing
//! else. So a backend need not, and does not, handle what is excluded here.

use super::ir::*;
use super::print::{array, list, straight};
use accel_core::ast::deep;
use accel_core::error::{Error, Result};
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{RawArray, ScalarType};
use std::fmt::{self, Display};
use std::ops::Deref;

/// What the verifier has accepted: see NOTE [Verified programs]. It can be read and taken out again, but not changed.
#[derive(Clone, Debug)]
pub struct Verified<P>(P);

impl Verified<Program> {
    /// Checks that a program is well formed.
    ///
    /// # Errors
    /// As [`verify`].
    pub fn new(program: Program) -> Result<Self> {
        verify(&program)?;
        Ok(Verified(program))
    }
}

impl<P> Verified<P> {
    /// What was accepted, to be changed.
    pub fn into_inner(self) -> P {
        self.0
    }
}

impl<P> Deref for Verified<P> {
    type Target = P;
    fn deref(&self) -> &P {
        &self.0
    }
}

impl<P: Display> Display for Verified<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Checks that a program is well formed.
///
/// # Errors
/// `Error::Internal`, which says where and what is wrong: only an error in the compiler makes such a program.
pub fn verify(p: &Program) -> Result<()> {
    Verifier::new(p).program().map_err(|e| Error::Internal(format!("kernel program: {e}")))
}

/// What is wrong; the place is put before it on the way up.
type Check<T = ()> = std::result::Result<T, String>;

fn ensure(condition: bool, message: impl FnOnce() -> String) -> Check {
    if condition { Ok(()) } else { Err(message()) }
}

trait At {
    /// Says where something is wrong.
    fn at(self, place: impl Display) -> Self;
}
impl<T> At for Check<T> {
    fn at(self, place: impl Display) -> Self {
        self.map_err(|e| format!("{place}: {e}"))
    }
}

fn types(t: &[ScalarType]) -> String {
    format!("({})", list(t, |t| t.to_string()))
}

fn indices(n: usize) -> Vec<ScalarType> {
    vec![ScalarType::I64; n]
}

/// Names that are defined once, and for a while visible.
struct Scope {
    letter: char,
    defined: Vec<bool>,
    visible: Vec<bool>,
    /// What became visible, latest last.
    stack: Vec<usize>,
}

impl Scope {
    fn new(letter: char, n: usize) -> Self {
        Scope { letter, defined: vec![false; n], visible: vec![false; n], stack: vec![] }
    }

    fn define(&mut self, k: usize) -> Check {
        let letter = self.letter;
        match self.defined.get_mut(k) {
            None => Err(format!("{letter}{k} does not exist")),
            Some(true) => Err(format!("{letter}{k} is defined twice")),
            Some(defined) => {
                *defined = true;
                self.visible[k] = true;
                self.stack.push(k);
                Ok(())
            }
        }
    }

    /// What was defined in an inner block becomes visible again.
    fn reveal(&mut self, k: usize) {
        self.visible[k] = true;
        self.stack.push(k);
    }

    fn use_(&self, k: usize) -> Check {
        match self.visible.get(k) {
            Some(true) => Ok(()),
            Some(false) if self.defined[k] => {
                Err(format!("{}{k} is used outside of the block that defines it", self.letter))
            }
            Some(false) => Err(format!("{}{k} is used before it is defined", self.letter)),
            None => Err(format!("{}{k} does not exist", self.letter)),
        }
    }

    /// What was defined since the scope had this depth is visible no more.
    fn leave(&mut self, depth: usize) {
        self.stack.drain(depth..).for_each(|k| self.visible[k] = false);
    }
}

struct Verifier<'a> {
    p: &'a Program,
    arrays: Scope,
}

impl<'a> Verifier<'a> {
    fn new(p: &'a Program) -> Self {
        Verifier { p, arrays: Scope::new('a', p.arrays.len()) }
    }

    fn program(mut self) -> Check {
        for (k, a) in self.p.literals.iter().enumerate() {
            check_literal(a).at(format_args!("literal {k}"))?;
        }
        for a in &self.p.inputs {
            self.arrays.define(*a).at("inputs")?;
        }
        self.block(&self.p.body)?;
        self.p.results.iter().try_for_each(|a| self.arrays.use_(*a)).at("results")
    }

    /// What an array is like that is visible here.
    fn used(&self, a: ArrayId) -> Check<&'a ArrayInfo> {
        self.arrays.use_(a)?;
        Ok(&self.p.arrays[a])
    }

    /// What an array is like that is to be defined; it need not be visible.
    fn info(&self, a: ArrayId) -> Check<&'a ArrayInfo> {
        self.p.arrays.get(a).ok_or_else(|| format!("a{a} does not exist"))
    }

    fn site(&self, site: SiteId) -> Check {
        ensure(site < self.p.sites.len(), || format!("site {site} does not exist"))
    }

    /// The statements of a block; what they define stays visible.
    fn block(&mut self, b: &Block) -> Check {
        b.stmts.iter().try_for_each(|s| {
            deep(|| self.stmt(s)).map_err(|e| {
                let to = list(s.op.defines(), array);
                let site = self.p.sites.get(s.site).map(|s| format!(" of {s}")).unwrap_or_default();
                format!("{to} = {}{site}: {e}", s.op.keyword())
            })
        })
    }

    /// The statements and results of an inner block; the results must be like `to`.
    fn inner(&mut self, name: &str, b: &Block, results: &[ArrayId], to: &[ArrayId]) -> Check {
        let depth = self.arrays.stack.len();
        self.block(b).at(name)?;
        self.same(results, to).at(name)?;
        self.arrays.leave(depth);
        Ok(())
    }

    /// Arrays that are visible are like those that they become.
    fn same(&self, from: &[ArrayId], to: &[ArrayId]) -> Check {
        ensure(from.len() == to.len(), || format!("{} arrays for {}", from.len(), to.len()))?;
        from.iter().zip(to).try_for_each(|(from, to)| {
            let (a, b) = (self.used(*from)?, self.info(*to)?);
            ensure(a == b, || format!("a{to} is an {b}, but a{from} an {a}"))
        })
    }

    fn stmt(&mut self, s: &Stmt) -> Check {
        self.site(s.site)?;
        // Before the definitions: an operation does not read what it defines.
        match &s.op {
            Op::Literal { to, literal } => self.literal(*to, *literal)?,
            Op::Loop { to, extents, body } => self.loop_(to, extents, body)?,
            Op::Reduce { to, extents, rows } => {
                let to = self.info(*to)?;
                self.code("extents", extents, &[], &indices(to.rank))?;
                self.rows(rows, to.rank, &to.columns)?;
            }
            Op::Scan { to, extents, rows, .. } => {
                let to = self.info(*to)?;
                let outer = to.rank.checked_sub(1).ok_or("the result of a scan has no dimension")?;
                self.code("extents", extents, &[], &indices(outer))?;
                self.rows(rows, outer, &to.columns)?;
            }
            Op::Permute { to, defaults, extents, target, element, comb, known } => {
                self.same(&[*defaults], &[*to])?;
                let to = self.info(*to)?;
                let source = indices(extents.results.len());
                self.code("extents", extents, &[], &source)?;
                let keep_and_index: Vec<_> = [ScalarType::Bool].into_iter().chain(indices(to.rank)).collect();
                self.code("target", target, &source, &keep_and_index)?;
                self.code("element", element, &source, &to.columns)?;
                self.operator("comb", comb, &to.columns, *known)?;
            }
            Op::Reshape { to, from, extents } => {
                let (to, source) = (self.info(*to)?, self.used(*from)?);
                self.code("extents", extents, &[], &indices(to.rank))?;
                ensure(to.columns == source.columns, || {
                    format!("columns {} from an array with {}", types(&to.columns), types(&source.columns))
                })?;
            }
            Op::Agree { agreement, left, right } => {
                let ranks = [left, right].map(|c| c.results.len());
                self.code("left", left, &[], &indices(ranks[0]))?;
                self.code("right", right, &[], &indices(ranks[1]))?;
                let [m, n] = ranks;
                ensure(agreement.pairs(m, n).is_some(), || format!("`{agreement}` of {m} and {n} extents"))?;
            }
            Op::If { to, cond, then, otherwise } => {
                self.code("cond", cond, &[], &[ScalarType::Bool])?;
                self.inner("then", &then.0, &then.1, to)?;
                self.inner("else", &otherwise.0, &otherwise.1, to)?;
            }
            Op::While { to, init, .. } => self.same(init, to)?,
            Op::Strip { to, len, body } => return self.strip(to, len, body),
        }
        s.op.defines().iter().try_for_each(|a| self.arrays.define(*a))?;
        if let Op::While { to, cond, body, .. } = &s.op {
            let depth = self.arrays.stack.len();
            self.block(&cond.0).at("cond")?;
            let go_on = self.used(cond.1).at("cond")?;
            ensure(go_on.rank == 0 && go_on.columns == [ScalarType::Bool], || {
                format!("cond: a{} is an {go_on}", cond.1)
            })?;
            self.arrays.leave(depth);
            self.inner("body", &body.0, &body.1, to)?;
        }
        Ok(())
    }

    /// The statements of the body define their arrays; those that are seen outside stay visible.
    fn strip(&mut self, to: &[ArrayId], len: &Code, body: &Block) -> Check {
        self.code("len", len, &[], &indices(1))?;
        let depth = self.arrays.stack.len();
        self.block(body).at("body")?;
        to.iter().try_for_each(|a| self.arrays.use_(*a))?;
        ensure(to.iter().all(|a| self.arrays.stack[depth..].contains(a)), || "a result of another place".into())?;
        crate::strip::roles(to, len, body).at("body")?;
        self.arrays.leave(depth);
        to.iter().for_each(|a| self.arrays.reveal(*a));
        Ok(())
    }

    fn literal(&self, to: ArrayId, literal: usize) -> Check {
        let to = self.info(to)?;
        let a = self.p.literals.get(literal).ok_or_else(|| format!("literal {literal} does not exist"))?;
        let found = ArrayInfo { rank: a.extents.len(), columns: a.columns.iter().map(|c| c.ty()).collect() };
        ensure(*to == found, || format!("literal {literal} is an {found}, not an {to}"))
    }

    fn loop_(&self, to: &[ArrayId], extents: &Code, body: &Code) -> Check {
        let infos = to.iter().map(|a| self.info(*a)).collect::<Check<Vec<_>>>()?;
        let rank = infos.first().ok_or("no array is defined")?.rank;
        ensure(infos.iter().all(|a| a.rank == rank), || "arrays of several ranks".into())?;
        self.code("extents", extents, &[], &indices(rank))?;
        let columns: Vec<_> = infos.iter().flat_map(|a| a.columns.iter().copied()).collect();
        self.code("body", body, &indices(rank), &columns)
    }

    fn rows(&self, rows: &Rows, outer: usize, columns: &[ScalarType]) -> Check {
        self.code("len", &rows.len, &[], &indices(1))?;
        self.code("element", &rows.element, &indices(outer + 1), columns)?;
        if let Some(init) = &rows.init {
            self.code("init", init, &[], columns)?;
        }
        self.operator("op", &rows.op, columns, rows.known)
    }

    /// A code that combines two elements to one.
    fn operator(&self, name: &str, op: &Code, columns: &[ScalarType], known: Option<Known>) -> Check {
        self.code(name, op, &[columns, columns].concat(), columns)?;
        let Some(known) = known else { return Ok(()) };
        // The minimum keeps the first of two zeros: there the order counts.
        let (function, commutes) = match known {
            Known::Sum => (Num2::Add, true),
            Known::Product => (Num2::Mul, true),
            Known::Min => (Num2::Min, false),
            Known::Max => (Num2::Max, false),
        };
        let is_known = match (&op.instrs[..], &op.results[..]) {
            ([Instr::Op2(to, f, a, b)], [result]) => {
                let in_order = (*a, *b) == (0, 1) || commutes && (*a, *b) == (1, 0);
                *f == Op2::Num(function) && to == result && in_order
            }
            _ => false,
        };
        ensure(is_known, || format!("{name}: this is not the operator `{known}`"))
    }

    /// A scalar code with these types of parameters and results.
    fn code(&self, name: &str, c: &Code, params: &[ScalarType], results: &[ScalarType]) -> Check {
        let mut scalars = Scalars { v: self, c, registers: Scope::new('x', c.types.len()) };
        scalars.code(params, results).at(name)
    }
}

fn check_literal(a: &RawArray) -> Check {
    let size = a.extents.iter().try_fold(1usize, |n, e| n.checked_mul(*e));
    let size = if a.extents.contains(&0) { Some(0) } else { size };
    a.columns
        .iter()
        .try_for_each(|c| ensure(size == Some(c.len()), || format!("{} elements for extents {:?}", c.len(), a.extents)))
}

struct Scalars<'a, 'b> {
    v: &'b Verifier<'a>,
    c: &'b Code,
    registers: Scope,
}

impl Scalars<'_, '_> {
    fn code(&mut self, params: &[ScalarType], results: &[ScalarType]) -> Check {
        ensure(self.c.params == params.len(), || format!("{} parameters instead of {}", self.c.params, params.len()))?;
        for (r, t) in params.iter().enumerate() {
            self.registers.define(r)?;
            self.has_type(r, *t).at("parameters")?;
        }
        self.instrs(&self.c.instrs)?;
        self.are(&self.c.results, results).at("results")
    }

    /// The type of a register that is visible here.
    fn used(&self, r: Reg) -> Check<ScalarType> {
        self.registers.use_(r)?;
        Ok(self.c.types[r])
    }

    fn has_type(&self, r: Reg, t: ScalarType) -> Check {
        let found = self.c.types.get(r).ok_or_else(|| format!("x{r} does not exist"))?;
        ensure(*found == t, || format!("x{r} is {found}, and should be {t}"))
    }

    /// A register is visible and has a type.
    fn is(&self, r: Reg, t: ScalarType) -> Check {
        self.registers.use_(r)?;
        self.has_type(r, t)
    }

    fn are(&self, registers: &[Reg], types: &[ScalarType]) -> Check {
        ensure(registers.len() == types.len(), || {
            format!("{} registers for {} scalars", registers.len(), types.len())
        })?;
        registers.iter().zip(types).try_for_each(|(r, t)| self.is(*r, *t))
    }

    fn instrs(&mut self, instrs: &[Instr]) -> Check {
        deep(|| {
            // The text is made only when it is needed.
            instrs.iter().try_for_each(|i| self.instr(i).map_err(|e| format!("{}: {e}", straight(self.c, i))))
        })
    }

    /// Inner instructions, and what must hold at their end.
    fn inner(&mut self, instrs: &[Instr], at_end: impl FnOnce(&Self) -> Check) -> Check {
        let depth = self.registers.stack.len();
        self.instrs(instrs)?;
        at_end(self)?;
        self.registers.leave(depth);
        Ok(())
    }

    fn instr(&mut self, i: &Instr) -> Check {
        // The register set and its type, where there is one; an instruction does not use what it sets.
        let set = match i {
            Instr::Const(to, x) => Some((*to, x.ty())),
            Instr::Op1(to, op, a) => {
                let t = self.used(*a)?;
                Some((*to, op.result(t).ok_or_else(|| format!("`{op}` is not defined for {t}"))?))
            }
            Instr::Op2(to, op, a, b) => {
                let t = self.used(*a)?;
                self.is(*b, t)?;
                Some((*to, op.result(t).ok_or_else(|| format!("`{op}` is not defined for {t}"))?))
            }
            Instr::Extent(to, a, dim) => {
                let a = self.v.used(*a)?;
                ensure(*dim < a.rank, || format!("an {a} has no dimension {dim}"))?;
                Some((*to, ScalarType::I64))
            }
            Instr::Read { to, array, index, site, .. } => {
                self.v.site(*site)?;
                let a = self.v.used(*array)?;
                self.are(index, &indices(a.rank)).at("index")?;
                self.define_all(to, &a.columns)?;
                None
            }
            Instr::If { cond, then, otherwise, merge } => {
                self.is(*cond, ScalarType::Bool)?;
                let types = merge.iter().map(|m| self.type_of(m.0)).collect::<Check<Vec<_>>>()?;
                let (a, b): (Vec<_>, Vec<_>) = merge.iter().map(|m| (m.1, m.2)).unzip();
                self.inner(then, |s| s.are(&a, &types)).at("then")?;
                self.inner(otherwise, |s| s.are(&b, &types)).at("else")?;
                let to: Vec<_> = merge.iter().map(|m| m.0).collect();
                self.define_all(&to, &types)?;
                None
            }
            Instr::While { state, cond, go_on, body, next } => {
                let (to, init): (Vec<_>, Vec<_>) = state.iter().copied().unzip();
                let types = to.iter().map(|r| self.type_of(*r)).collect::<Check<Vec<_>>>()?;
                self.are(&init, &types)?;
                self.define_all(&to, &types)?;
                self.inner(cond, |s| s.is(*go_on, ScalarType::Bool)).at("cond")?;
                self.inner(body, |s| s.are(next, &types)).at("body")?;
                None
            }
        };
        set.map_or(Ok(()), |(to, t)| self.define_all(&[to], &[t]))
    }

    fn type_of(&self, r: Reg) -> Check<ScalarType> {
        self.c.types.get(r).copied().ok_or_else(|| format!("x{r} does not exist"))
    }

    fn define_all(&mut self, to: &[Reg], types: &[ScalarType]) -> Check {
        ensure(to.len() == types.len(), || format!("{} registers for {} scalars", to.len(), types.len()))?;
        to.iter().zip(types).try_for_each(|(r, t)| {
            self.registers.define(*r)?;
            self.has_type(*r, *t)
        })
    }
}
