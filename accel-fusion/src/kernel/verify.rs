//! The verifier: checks that a kernel program is well formed. Code generators rely on it.
//!
//! NOTE [Verified programs]: in a verified program
//! - every array is defined once, before its uses and in their scope (the arrays that a block defines are visible only
//!   in it);
//! - every register is set once, before its uses and in their scope; the registers of a loop's condition are not
//!   visible in its body;
//! - every primitive function is applied to types for which it is defined, and every scalar function has the parameters
//!   and results that its place demands;
//! - ranks and columns fit, sites and literals exist, and the columns of literals are as long as their extents say;
//! - what adds to a sum is in the body of the statement that defines it, and the body does not use the sum otherwise;
//! - an operator that is marked as a monoid has the form of this monoid;
//! - the statements of a strip can be executed in strips: see [`crate::strip::roles`].
//!
//! The verifier does not check what is known only at run time: extents, indices (also those marked `inside`), division
//! by zero.
//!
//! A [`Verified`] program is one that was checked. Only the verifier makes it, nothing changes it, and backends
//! generate code from nothing else. So a backend does not handle what is excluded here.

use super::builder::index_types;
use super::ids::{ArrayId, Reg, SiteId};
use super::ir::*;
use super::print::{array, list, without_inner};
use accel_core::ast::deep;
use accel_core::error::{Error, Result};
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{RawArray, ScalarType};
use index_vec::{Idx, IndexVec, index_vec};
use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display};
use std::ops::Deref;

/// A program that the verifier has accepted: see NOTE [Verified programs]. It can be read and taken out again, but not
/// changed.
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
    /// Takes the program out, so that it can be changed.
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

/// The result of a check. The error text says what is wrong; every caller puts the place before it.
type Check<T = ()> = std::result::Result<T, String>;

fn ensure(condition: bool, message: impl FnOnce() -> String) -> Check {
    if condition { Ok(()) } else { Err(message()) }
}

trait At {
    /// Puts the place before an error text.
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

/// Names that are defined once, and visible in a part of the program.
struct Scope<I: Idx> {
    letter: char,
    defined: IndexVec<I, bool>,
    visible: IndexVec<I, bool>,
    /// The visible names, the latest last.
    stack: Vec<I>,
}

impl<I: Idx> Scope<I> {
    fn new(letter: char, n: usize) -> Self {
        Scope { letter, defined: index_vec![false; n], visible: index_vec![false; n], stack: vec![] }
    }

    fn name(&self, k: I) -> String {
        format!("{}{}", self.letter, k.index())
    }

    fn define(&mut self, k: I) -> Check {
        match self.defined.get_mut(k) {
            None => Err(format!("{} does not exist", self.name(k))),
            Some(true) => Err(format!("{} is defined twice", self.name(k))),
            Some(defined) => {
                *defined = true;
                self.visible[k] = true;
                self.stack.push(k);
                Ok(())
            }
        }
    }

    /// Makes a name visible again that was defined in an inner block.
    fn reveal(&mut self, k: I) {
        self.visible[k] = true;
        self.stack.push(k);
    }

    fn use_(&self, k: I) -> Check {
        match self.visible.get(k) {
            Some(true) => Ok(()),
            Some(false) if self.defined[k] => {
                Err(format!("{} is used outside of the block that defines it", self.name(k)))
            }
            Some(false) => Err(format!("{} is used before it is defined", self.name(k))),
            None => Err(format!("{} does not exist", self.name(k))),
        }
    }

    /// Hides the names that were defined since the scope had this depth.
    fn leave(&mut self, depth: usize) {
        self.stack.drain(depth..).for_each(|k| self.visible[k] = false);
    }
}

struct Verifier<'a> {
    p: &'a Program,
    arrays: Scope<ArrayId>,
    /// The types of the arrays of each tape that has been filled, and the tapes that have been used.
    kept: HashMap<usize, Vec<&'a ArrayInfo>>,
    recalled: HashSet<usize>,
}

impl<'a> Verifier<'a> {
    fn new(p: &'a Program) -> Self {
        let arrays = Scope::new('a', p.arrays.len());
        Verifier { p, arrays, kept: HashMap::new(), recalled: HashSet::new() }
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

    /// The description of an array that is used here, so it must be visible.
    fn used(&self, a: ArrayId) -> Check<&'a ArrayInfo> {
        self.arrays.use_(a)?;
        Ok(&self.p.arrays[a])
    }

    /// The description of an array that is defined here, so it need not be visible.
    fn info(&self, a: ArrayId) -> Check<&'a ArrayInfo> {
        self.p.arrays.get(a).ok_or_else(|| format!("a{a} does not exist"))
    }

    fn site(&self, site: SiteId) -> Check {
        ensure(site < self.p.sites.len(), || format!("site {site} does not exist"))
    }

    /// Checks the statements of a block. The arrays that they define stay visible.
    fn block(&mut self, b: &Block) -> Check {
        b.stmts.iter().try_for_each(|s| {
            deep(|| self.stmt(s)).map_err(|e| {
                let to = list(&s.op.defines(), array);
                let site = self.p.sites.get(s.site).map(|s| format!(" of {s}")).unwrap_or_default();
                format!("{to} = {}{site}: {e}", s.op.keyword())
            })
        })
    }

    /// Checks the statements and results of an inner block. The results must have the types of `to`.
    fn inner(&mut self, name: &str, b: &Block, results: &[ArrayId], to: &[ArrayId]) -> Check {
        let depth = self.arrays.stack.len();
        self.block(b).at(name)?;
        self.same(results, to).at(name)?;
        self.arrays.leave(depth);
        Ok(())
    }

    /// Checks that the arrays `from` are visible and have the types of the arrays `to`.
    fn same(&self, from: &[ArrayId], to: &[ArrayId]) -> Check {
        ensure(from.len() == to.len(), || format!("{} arrays for {}", from.len(), to.len()))?;
        from.iter().zip(to).try_for_each(|(from, to)| {
            let (a, b) = (self.used(*from)?, self.info(*to)?);
            ensure(a == b, || format!("a{to} is an {b}, but a{from} an {a}"))
        })
    }

    fn stmt(&mut self, s: &Stmt) -> Check {
        self.site(s.site)?;
        // These checks come before the definitions, because an operation does not read what it defines.
        match &s.op {
            Op::Literal { to, literal } => self.literal(*to, *literal)?,
            Op::Loop { to, extents, body } => self.loop_(to, extents, body)?,
            Op::Accumulate { to, sums, extents, body } => self.accumulate(to, sums, extents, body)?,
            Op::Reduce { to, extents, rows } => {
                let to = self.info(*to)?;
                self.code("extents", extents, &[], &index_types(to.rank))?;
                self.rows(rows, to.rank, &to.columns)?;
            }
            Op::Scan { to, kept, extents, down, rows, .. } => {
                let to = self.info(*to)?;
                let outer = to.rank.checked_sub(1).ok_or("the result of a scan has no dimension")?;
                ensure(!down || outer > 0, || "a scan that goes down has one row".into())?;
                self.code("extents", extents, &[], &index_types(outer))?;
                let all: Option<Vec<_>> = rows.op.results.iter().map(|r| rows.op.types.get(*r).copied()).collect();
                let all = all.ok_or("op: a result that does not exist")?;
                self.rows(rows, outer, &all)?;
                ensure(kept.is_sorted_by(|a, b| a < b), || format!("kept columns {kept:?} not in order"))?;
                let columns: Option<Vec<_>> = kept.iter().map(|c| all.get(*c).copied()).collect();
                ensure(columns.as_ref() == Some(&to.columns), || {
                    format!("columns {kept:?} of {} kept as {}", types(&all), types(&to.columns))
                })?;
            }
            Op::Permute { to, defaults, extents, target, element, comb, monoid, .. } => {
                self.same(&[*defaults], &[*to])?;
                let to = self.info(*to)?;
                let source = index_types(extents.results.len());
                self.code("extents", extents, &[], &source)?;
                let keep_and_index: Vec<_> = [ScalarType::Bool].into_iter().chain(index_types(to.rank)).collect();
                self.code("target", target, &source, &keep_and_index)?;
                self.code("element", element, &source, &to.columns)?;
                self.operator("comb", comb, &to.columns, *monoid)?;
            }
            Op::Argsort { to, keys, moved } => {
                let keys = self.used(*keys)?;
                ensure(keys.rank > 0 && keys.columns.len() == 1, || format!("keys of {keys}"))?;
                ensure(!to.is_empty() && to.len() == moved.len(), || {
                    format!("{} arrays for {}", moved.len(), to.len())
                })?;
                let positions = ArrayInfo { rank: keys.rank, columns: vec![ScalarType::I64] };
                for (to, moved) in to.iter().zip(moved) {
                    let moved = moved.map_or(Ok(&positions), |a| self.used(a))?;
                    let to = self.info(*to)?;
                    ensure(to == moved && moved.rank == keys.rank, || format!("an {to} from an {moved}"))?;
                }
            }
            Op::Foreign { to, call, from, extents } => {
                ensure(!to.is_empty(), || "a foreign function without a result".into())?;
                let mut rank = 0;
                for a in to {
                    rank += self.info(*a)?.rank;
                    ensure(self.info(*a)?.rank >= call.lanes, || format!("a{a} has no lanes"))?;
                }
                for a in from {
                    ensure(self.used(*a)?.rank >= call.lanes, || format!("a{a} has no lanes"))?;
                }
                self.code("extents", extents, &[], &index_types(rank))?;
            }
            Op::Reshape { to, from, extents } => {
                let (to, source) = (self.info(*to)?, self.used(*from)?);
                self.code("extents", extents, &[], &index_types(to.rank))?;
                ensure(to.columns == source.columns, || {
                    format!("columns {} from an array with {}", types(&to.columns), types(&source.columns))
                })?;
            }
            Op::Agree { agreement, left, right } => {
                let ranks = [left, right].map(|c| c.results.len());
                self.code("left", left, &[], &index_types(ranks[0]))?;
                self.code("right", right, &[], &index_types(ranks[1]))?;
                let [m, n] = ranks;
                ensure(agreement.is_defined(m, n), || format!("`{agreement}` of {m} and {n} extents"))?;
            }
            Op::If { to, cond, then, otherwise } => {
                self.code("cond", cond, &[], &[ScalarType::Bool])?;
                self.inner("then", &then.0, &then.1, to)?;
                self.inner("else", &otherwise.0, &otherwise.1, to)?;
            }
            Op::While { to, init, .. } => {
                ensure(init.len() <= to.len(), || format!("{} arrays for {}", init.len(), to.len()))?;
                self.same(init, &to[..init.len()])?
            }
            Op::Keep { tape, arrays } => {
                arrays.iter().try_for_each(|a| self.arrays.use_(*a))?;
                let infos = arrays.iter().map(|a| self.info(*a)).collect::<Check<_>>()?;
                ensure(self.kept.insert(*tape, infos).is_none(), || format!("tape {tape} is filled twice"))?;
            }
            Op::Recall { to, tape, at, step } => return self.recall(to, *tape, at, step),
            Op::Strip { to, len, body } => return self.strip(to, len, body),
        }
        if let Op::While { to, init, trips, row, body } = &s.op {
            return self.while_(to.split_at(init.len()), trips, *row, body);
        }
        s.op.defines().iter().try_for_each(|a| self.arrays.define(*a))
    }

    /// Checks the blocks of a loop with this state and these lists.
    fn while_(
        &mut self,
        (state, lists): (&[ArrayId], &[ArrayId]),
        trips: &Trips,
        row: Option<ArrayId>,
        body: &(Block, Vec<ArrayId>),
    ) -> Check {
        let single = |name: &str, a: ArrayId, info: &ArrayInfo, t| {
            ensure(info.rank == 0 && info.columns == [t], || format!("{name}: a{a} is an {info}"))
        };
        if let Trips::Times(n, _) = trips {
            single("times", *n, self.used(*n).at("times")?, ScalarType::I64)?;
        }
        state.iter().try_for_each(|a| self.arrays.define(*a))?;
        let depth = self.arrays.stack.len();
        if let Trips::While(cond, continues) = trips {
            self.block(cond).at("cond")?;
            single("cond", *continues, self.used(*continues).at("cond")?, ScalarType::Bool)?;
            self.arrays.leave(depth);
        }
        if let Some(row) = row {
            self.arrays.define(row)?;
            single("row", row, self.info(row)?, ScalarType::I64)?;
        }
        self.block(&body.0).at("body")?;
        let to = state.len() + lists.len();
        ensure(body.1.len() == to, || format!("body: {} arrays for {to}", body.1.len()))?;
        let (next, rows) = body.1.split_at(state.len());
        self.same(next, state).at("body")?;
        lists.iter().zip(rows).try_for_each(|(list, row)| self.list(*list, *row)).at("body")?;
        self.arrays.leave(depth);
        lists.iter().try_for_each(|a| self.arrays.define(*a))
    }

    /// Checks the use of a tape.
    fn recall(&mut self, to: &[ArrayId], tape: usize, at: &ScalarFn, step: &(Block, Vec<ArrayId>)) -> Check {
        self.code("at", at, &[], &index_types(1))?;
        ensure(self.recalled.insert(tape), || format!("tape {tape} is used twice"))?;
        let infos = to.iter().map(|a| self.info(*a)).collect::<Check<Vec<_>>>()?;
        let kept = self.kept.get(&tape).ok_or_else(|| format!("tape {tape} is not filled before"))?;
        ensure(*kept == infos, || format!("tape {tape} has other arrays"))?;
        to.iter().try_for_each(|a| self.arrays.define(*a))?;
        self.inner("step", &step.0, &step.1, to)
    }

    /// Checks that an array is a list of rows like `row`.
    fn list(&self, list: ArrayId, row: ArrayId) -> Check {
        let (list_info, info) = (self.info(list)?, self.used(row)?);
        ensure(list_info.rank == info.rank + 1 && list_info.columns == info.columns, || {
            format!("a{list} is an {list_info}, but its row a{row} an {info}")
        })
    }

    /// Checks a strip. The statements of the body define their arrays; those that are used outside stay visible.
    fn strip(&mut self, to: &[ArrayId], len: &ScalarFn, body: &Block) -> Check {
        self.code("len", len, &[], &index_types(1))?;
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

    fn loop_(&self, to: &[ArrayId], extents: &ScalarFn, body: &ScalarFn) -> Check {
        let infos = to.iter().map(|a| self.info(*a)).collect::<Check<Vec<_>>>()?;
        let rank = infos.first().ok_or("no array is defined")?.rank;
        ensure(infos.iter().all(|a| a.rank == rank), || "arrays of several ranks".into())?;
        self.code("extents", extents, &[], &index_types(rank))?;
        let columns: Vec<_> = infos.iter().flat_map(|a| a.columns.iter().copied()).collect();
        self.code("body", body, &index_types(rank), &columns)
    }

    fn accumulate(&self, to: &[ArrayId], sums: &[(ArrayId, ArrayId)], extents: &ScalarFn, body: &ScalarFn) -> Check {
        let index = index_types(extents.results.len());
        self.code("extents", extents, &[], &index)?;
        let infos = to.iter().map(|a| self.info(*a)).collect::<Check<Vec<_>>>()?;
        ensure(infos.iter().all(|a| a.rank == index.len()), || format!("arrays of a rank other than {}", index.len()))?;
        let (defined, initial): (Vec<_>, Vec<_>) = sums.iter().copied().unzip();
        self.same(&initial, &defined).at("sums")?;
        for a in &defined {
            let info = self.info(*a)?;
            let number = |t: &ScalarType| Op2::Num(Num2::Add).result(*t).is_some();
            ensure(info.columns.iter().all(number), || {
                format!("sums: a{a} is an {info}, with a column of no numbers")
            })?;
        }
        let columns: Vec<_> = infos.iter().flat_map(|a| a.columns.iter().copied()).collect();
        self.body("body", body, &index, &columns, &defined)
    }

    fn rows(&self, rows: &Reduction, outer: usize, columns: &[ScalarType]) -> Check {
        self.code("len", &rows.len, &[], &index_types(1))?;
        self.code("element", &rows.element, &index_types(outer + 1), columns)?;
        if let Some(init) = &rows.init {
            self.code("init", init, &[], columns)?;
        }
        self.operator("op", &rows.op, columns, rows.monoid)
    }

    /// Checks a scalar function that combines two elements to one.
    fn operator(&self, name: &str, op: &ScalarFn, columns: &[ScalarType], monoid: Option<Monoid>) -> Check {
        self.code(name, op, &[columns, columns].concat(), columns)?;
        let Some(monoid) = monoid else { return Ok(()) };
        ensure(op.monoid() == Some(monoid), || format!("{name}: this is not the operator `{monoid}`"))
    }

    /// Checks a scalar function with these types of parameters and results.
    fn code(&self, name: &str, c: &ScalarFn, params: &[ScalarType], results: &[ScalarType]) -> Check {
        self.body(name, c, params, results, &[])
    }

    /// Checks a scalar function that can also add to `sums`.
    fn body(&self, name: &str, c: &ScalarFn, params: &[ScalarType], results: &[ScalarType], sums: &[ArrayId]) -> Check {
        let registers = Scope::new('x', c.types.len());
        let mut scalars = Scalars { v: self, c, registers, lists: HashSet::new(), sums };
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
    c: &'b ScalarFn,
    registers: Scope<Reg>,
    /// The registers that hold lists.
    lists: HashSet<Reg>,
    /// The sums of the statement.
    sums: &'b [ArrayId],
}

impl Scalars<'_, '_> {
    fn code(&mut self, params: &[ScalarType], results: &[ScalarType]) -> Check {
        ensure(self.c.params == params.len(), || format!("{} parameters instead of {}", self.c.params, params.len()))?;
        for (r, t) in self.c.param_regs().zip(params) {
            self.registers.define(r)?;
            self.has_type(r, *t).at("parameters")?;
        }
        self.instrs(&self.c.instrs)?;
        self.are(&self.c.results, results).at("results")
    }

    /// The type of a register that is used here, so it must be visible, and not a list.
    fn used(&self, r: Reg) -> Check<ScalarType> {
        self.registers.use_(r)?;
        ensure(!self.lists.contains(&r), || format!("x{r} is a list"))?;
        Ok(self.c.types[r])
    }

    fn has_type(&self, r: Reg, t: ScalarType) -> Check {
        let found = self.c.types.get(r).ok_or_else(|| format!("x{r} does not exist"))?;
        ensure(*found == t, || format!("x{r} is {found}, and should be {t}"))
    }

    /// Checks that a register is visible and has this type.
    fn is(&self, r: Reg, t: ScalarType) -> Check {
        self.used(r)?;
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
            // The text is built only if there is an error.
            instrs
                .iter()
                .try_for_each(|i| self.instr(i).map_err(|e| format!("{}: {e}", without_inner(&self.c.types, i))))
        })
    }

    /// Checks inner instructions, and then what must hold at their end.
    fn inner(&mut self, instrs: &[Instr], at_end: impl FnOnce(&Self) -> Check) -> Check {
        let depth = self.registers.stack.len();
        self.instrs(instrs)?;
        at_end(self)?;
        self.registers.leave(depth);
        Ok(())
    }

    fn instr(&mut self, i: &Instr) -> Check {
        // The register set and its type, if there is one. An instruction does not use what it sets.
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
                self.are(index, &index_types(a.rank)).at("index")?;
                self.define_all(to, &a.columns)?;
                None
            }
            Instr::Emit { to, index, values, site, .. } => {
                self.v.site(*site)?;
                ensure(self.sums.contains(to), || format!("a{to} is no sum of this statement"))?;
                let a = self.v.info(*to)?;
                self.are(index, &index_types(a.rank)).at("index")?;
                self.are(values, &a.columns).at("values")?;
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
            Instr::Get { to, list, at } => {
                self.registers.use_(*list)?;
                ensure(self.lists.contains(list), || format!("x{list} is not a list"))?;
                self.is(*at, ScalarType::I64)?;
                Some((*to, self.type_of(*list)?))
            }
            Instr::While { state, cond, continues, body, next, lists } => {
                let (to, init): (Vec<_>, Vec<_>) = state.iter().copied().unzip();
                let types = to.iter().map(|r| self.type_of(*r)).collect::<Check<Vec<_>>>()?;
                self.are(&init, &types)?;
                self.define_all(&to, &types)?;
                self.inner(cond, |s| s.is(*continues, ScalarType::Bool)).at("cond")?;
                let (to, values): (Vec<_>, Vec<_>) = lists.iter().copied().unzip();
                let rows = to.iter().map(|r| self.type_of(*r)).collect::<Check<Vec<_>>>()?;
                self.inner(body, |s| {
                    s.are(next, &types)?;
                    s.are(&values, &rows).at("lists")
                })
                .at("body")?;
                self.define_all(&to, &rows)?;
                self.lists.extend(to);
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
