//! The parser: reads the textual form of kernel programs, which [`super::print`] describes.
//!
//! The program need not be well formed: [`super::verify`] checks that. So the verifier's tests can be written as text.

use super::ids::{ArrayId, Reg, SiteId};
use super::ir::*;
use super::lex::{Token, tokens};
use super::lookup;
use accel_core::ast::{Dir, deep};
use accel_core::error::{Error, Result};
use accel_core::repr::op::{Float1, Op1};
use accel_core::repr::{Agreement, Call, Column, Foreign, RawArray, Scalar, ScalarType};
use index_vec::{Idx, IndexVec};
use std::str::FromStr;

/// Parses a program. Its sites have no source lines.
///
/// # Errors
/// `Error::Syntax`, with the line and what was expected there.
pub fn parse(text: &str) -> Result<Program> {
    Parser::new(text)?.program()
}

impl FromStr for Program {
    type Err = Error;
    fn from_str(text: &str) -> Result<Program> {
        parse(text)
    }
}

/// What a statement `agree` can demand.
const AGREEMENTS: &str = "`all`, `bounds`, `outer`, `inner`, `matrices`, `square`, `segments`, `rows`, `extents`, `size`, `inside` or `nonempty`";

/// The limit for array and register numbers, so that a typing error does not allocate all memory.
const MAX_NUMBER: usize = 1 << 24;

/// Reads a text from its first token to its last one. Other texts that contain instructions are read with it, too.
pub struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
    /// The arrays declared so far.
    arrays: IndexVec<ArrayId, Option<ArrayInfo>>,
    /// The registers declared so far in the current scalar function.
    types: IndexVec<Reg, Option<ScalarType>>,
}

impl Parser {
    /// A parser at the first token of a text.
    ///
    /// # Errors
    /// `Error::Syntax` for text that has no tokens.
    pub fn new(text: &str) -> Result<Parser> {
        Ok(Parser { tokens: tokens(text)?, next: 0, arrays: IndexVec::new(), types: IndexVec::new() })
    }

    // Tokens.

    fn peek(&self) -> &Token {
        // The last token is `End`; the parser never moves past it.
        &self.tokens[self.next.min(self.tokens.len() - 1)].0
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    /// The error that something else was expected at the next token.
    ///
    /// # Errors
    /// Always `Error::Syntax`.
    pub fn expected<T>(&self, what: impl Into<String>) -> Result<T> {
        let (token, line) = &self.tokens[self.next.min(self.tokens.len() - 1)];
        Err(Error::Syntax { line: *line, expected: what.into(), found: token.to_string() })
    }

    /// Skips a word or mark if it is the next token, and returns whether it was.
    pub fn accept(&mut self, text: &str) -> bool {
        let found = match self.peek() {
            Token::Word(w) => w == text,
            Token::Mark(m) => *m == text,
            _ => false,
        };
        self.next += usize::from(found);
        found
    }

    /// Skips a word or mark.
    ///
    /// # Errors
    /// The next token is another one, as for all functions below.
    pub fn expect(&mut self, text: &str) -> Result<()> {
        if self.accept(text) { Ok(()) } else { self.expected(format!("`{text}`")) }
    }

    /// Returns `f` of the next token, if it is a word for which `f` has a value.
    ///
    /// # Errors
    /// There is no such word.
    pub fn word<T>(&mut self, what: &str, f: impl Fn(&str) -> Option<T>) -> Result<T> {
        let found = match self.peek() {
            Token::Word(w) => f(w),
            _ => None,
        };
        match found {
            Some(x) => {
                self.next += 1;
                Ok(x)
            }
            None => self.expected(what),
        }
    }

    fn peeks<T>(&self, f: impl Fn(&str) -> Option<T>) -> bool {
        matches!(self.peek(), Token::Word(w) if f(w).is_some())
    }

    /// A number that is not negative.
    ///
    /// # Errors
    /// The next token is no such number.
    pub fn number(&mut self, what: &str) -> Result<usize> {
        self.word(what, |w| w.parse().ok())
    }

    /// The name of an array.
    ///
    /// # Errors
    /// The next token is no such name.
    pub fn array(&mut self) -> Result<ArrayId> {
        self.word("an array such as `a0`", |w| numbered('a', w)).map(ArrayId::new)
    }

    /// The name of a register.
    ///
    /// # Errors
    /// The next token is no such name.
    pub fn register(&mut self) -> Result<Reg> {
        self.word("a register such as `x0`", |w| numbered('x', w)).map(Reg::new)
    }

    /// A scalar type.
    ///
    /// # Errors
    /// The next token is no type.
    pub fn scalar_type(&mut self) -> Result<ScalarType> {
        self.word("a scalar type", lookup::scalar_type)
    }

    /// A constant of a type, such as `2.0` or `3u8`.
    ///
    /// # Errors
    /// The next token is no constant.
    pub fn constant(&mut self) -> Result<Scalar> {
        self.word("a constant", lookup::constant)
    }

    /// A site, such as `@0`.
    ///
    /// # Errors
    /// The text is another one.
    pub fn site(&mut self) -> Result<SiteId> {
        self.expect("@")?;
        self.word("the number of a site", |w| w.parse::<u32>().ok().filter(|n| *n < u32::MAX)).map(SiteId::from_raw)
    }

    /// Items separated by commas, up to and including a closing mark.
    ///
    /// # Errors
    /// Those of the items, or another mark follows.
    pub fn list<T>(&mut self, close: &str, item: fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![];
        if self.accept(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.accept(close) {
                return Ok(items);
            }
            if !self.accept(",") {
                return self.expected(format!("`,` or `{close}`"));
            }
        }
    }

    /// `()`, or items separated by commas.
    fn some<T>(&mut self, item: fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        if self.accept("(") {
            self.expect(")")?;
            return Ok(vec![]);
        }
        let mut items = vec![item(self)?];
        while self.accept(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `-> a, b }`
    fn results<T>(&mut self, item: fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect("->")?;
        self.list("}", item)
    }

    /// `-> a }`
    fn result<T>(&mut self, item: fn(&mut Self) -> Result<T>) -> Result<T> {
        self.expect("->")?;
        let x = item(self)?;
        self.expect("}")?;
        Ok(x)
    }

    // Declarations.

    fn array_decl(&mut self) -> Result<ArrayId> {
        let start = self.next;
        let id = self.array()?;
        self.expect(":")?;
        let rank =
            self.word("the type of an array such as `Array1<f64>`", |w| w.strip_prefix("Array")?.parse().ok())?;
        self.expect("<")?;
        let columns = self.list(">", Self::scalar_type)?;
        let info = ArrayInfo { rank, columns };
        match declare(&mut self.arrays, id, info) {
            None => Ok(id),
            Some(old) => self.conflict(start, format!("a{id}: {old}")),
        }
    }

    /// A register with its type, such as `x0: i64`.
    ///
    /// # Errors
    /// The register has another type before, or the text is another one.
    pub fn register_decl(&mut self) -> Result<Reg> {
        let start = self.next;
        let r = self.register()?;
        self.expect(":")?;
        let t = self.scalar_type()?;
        match declare(&mut self.types, r, t) {
            None => Ok(r),
            Some(old) => self.conflict(start, format!("x{r}: {old}")),
        }
    }

    /// The error of an item that was declared with another type before.
    fn conflict<T>(&mut self, start: usize, old: String) -> Result<T> {
        let found: Vec<String> =
            self.tokens[start..self.next].iter().map(|(t, _)| t.to_string().replace('`', "")).collect();
        let line = self.tokens[start].1;
        Err(Error::Syntax { line, expected: format!("`{old}` as before"), found: format!("`{}`", found.join(" ")) })
    }

    /// Declarations without definitions.
    fn unset<T>(&mut self, item: fn(&mut Self) -> Result<T>) -> Result<()> {
        while self.accept("unset") {
            item(self)?;
        }
        Ok(())
    }

    /// All types. Every number up to the largest one must have been declared.
    fn complete<I: Idx, T>(&self, items: IndexVec<I, Option<T>>, letter: char) -> Result<IndexVec<I, T>> {
        let missing = items.iter_enumerated().find(|(_, item)| item.is_none());
        match missing {
            Some((k, _)) => self.expected(format!("a definition or `unset` of {letter}{} before this", k.index())),
            None => Ok(items.into_iter().flatten().collect()),
        }
    }

    // Programs.

    fn program(&mut self) -> Result<Program> {
        self.expect("program")?;
        self.expect("(")?;
        let inputs = self.list(")", Self::array_decl)?;
        let mut sites = IndexVec::new();
        while self.accept("site") {
            self.entry(sites.len())?;
            match self.advance() {
                Token::Text(name) => {
                    let (name, proved) = (lookup::intern(&name), self.accept("proved"));
                    let mut fixed = 0;
                    if self.accept("fixed") {
                        self.expect("[")?;
                        let bit = |p: &mut Self| p.word("a dimension", |w| 1u64.checked_shl(w.parse().ok()?));
                        fixed = self.list("]", bit)?.into_iter().fold(0, |all, bit| all | bit);
                    }
                    sites.push(Site { name, at: None, proved, fixed });
                }
                _ => {
                    self.next -= 1;
                    return self.expected("a quoted name");
                }
            }
        }
        let mut literals = vec![];
        while self.accept("literal") {
            self.entry(literals.len())?;
            literals.push(self.literal()?);
        }
        self.unset(Self::array_decl)?;
        let (body, results) = self.block()?;
        if *self.peek() != Token::End {
            return self.expected("the end of the text");
        }
        let arrays = std::mem::take(&mut self.arrays);
        let arrays = self.complete(arrays, 'a')?;
        Ok(Program { arrays, inputs, body, results, literals, sites })
    }

    /// `k =`
    fn entry(&mut self, k: usize) -> Result<()> {
        self.expect(&k.to_string())?;
        self.expect("=")
    }

    fn literal(&mut self) -> Result<RawArray> {
        self.expect("[")?;
        let extents = self.list("]", |p| p.number("an extent"))?;
        let mut columns = vec![];
        while self.peeks(lookup::scalar_type) {
            let t = self.scalar_type()?;
            self.expect("{")?;
            let mut column = Column::with_capacity(t, 0);
            while !self.accept("}") {
                let x = self.word(&format!("a constant of type {t} or `}}`"), |w| lookup::constant_of(t, w))?;
                column.push(x);
            }
            columns.push(column);
        }
        Ok(RawArray { extents: extents.into(), columns: columns.into() })
    }

    /// `row` and an array, if the steps of a loop have rows.
    fn row(&mut self) -> Result<Option<ArrayId>> {
        if self.accept("row") { self.array_decl().map(Some) } else { Ok(None) }
    }

    fn block(&mut self) -> Result<(Block, Vec<ArrayId>)> {
        let block = self.stmts()?;
        Ok((block, self.results(Self::array)?))
    }

    /// `{` and statements.
    fn stmts(&mut self) -> Result<Block> {
        self.expect("{")?;
        let mut stmts = vec![];
        while *self.peek() != Token::Mark("->") {
            stmts.push(deep(|| self.stmt())?);
        }
        Ok(Block { stmts })
    }

    fn stmt(&mut self) -> Result<Stmt> {
        let start = self.next;
        let mut to = self.some(Self::array_decl)?;
        self.expect("=")?;
        let operation = "an operation (literal, loop, accumulate, reduce, scan, permute, argsort, foreign, reshape, agree, if, while, times, keep, recall, strip)";
        let keyword = self.word(operation, |w| Some(w.to_string()))?;
        let one = match keyword.as_str() {
            "literal" | "reduce" | "scan" | "permute" | "reshape" => match to.pop() {
                Some(one) if to.is_empty() => one,
                _ => {
                    self.next = start;
                    return self.expected(format!("one array for `{keyword}`"));
                }
            },
            _ => ArrayId::new(0),
        };
        let (op, site) = match keyword.as_str() {
            "literal" => {
                let literal = self.number("the number of a literal")?;
                (Op::Literal { to: one, literal }, self.site()?)
            }
            "loop" => {
                let site = self.site()?;
                (Op::Loop { to, extents: self.code("extents")?, body: self.code("body")? }, site)
            }
            "accumulate" => {
                let initial = self.some(Self::array)?;
                let Some(loops) = to.len().checked_sub(initial.len()) else {
                    self.next = start;
                    return self.expected(format!("an array for each of {} sums", initial.len()));
                };
                let sums = to.split_off(loops).into_iter().zip(initial).collect();
                let site = self.site()?;
                (Op::Accumulate { to, sums, extents: self.code("extents")?, body: self.code("body")? }, site)
            }
            "reduce" => {
                let (site, monoid) = (self.site()?, self.monoid());
                let extents = self.code("extents")?;
                (Op::Reduce { to: one, extents, rows: self.rows(monoid)? }, site)
            }
            "scan" => {
                let site = self.site()?;
                let (reverse, down, monoid) = (self.accept("reverse"), self.accept("down"), self.monoid());
                let kept = match self.accept("keeping") {
                    true => Some(self.some(|p| p.number("a column"))?),
                    false => None,
                };
                let (extents, rows) = (self.code("extents")?, self.rows(monoid)?);
                let kept = kept.unwrap_or_else(|| (0..rows.op.results.len()).collect());
                (Op::Scan { to: one, kept, extents, reverse, down, rows }, site)
            }
            "permute" => {
                let (defaults, site, monoid) = (self.array()?, self.site()?, self.monoid());
                let inside = self.accept("inside");
                let (extents, target) = (self.code("extents")?, self.code("target")?);
                let (element, comb) = (self.code("element")?, self.code("comb")?);
                (Op::Permute { to: one, defaults, extents, target, inside, element, comb, monoid }, site)
            }
            "argsort" => {
                let (keys, site) = (self.array()?, self.site()?);
                self.expect("moving")?;
                let moved = self.some(|p| if p.accept("positions") { Ok(None) } else { p.array().map(Some) })?;
                (Op::Argsort { to, keys, moved }, site)
            }
            "foreign" => {
                let Token::Text(name) = self.advance() else {
                    self.next -= 1;
                    return self.expected("a quoted name");
                };
                let function = Foreign::unknown(lookup::intern(&name));
                let call = Call { function, lanes: self.number("a number of dimensions")? };
                let (from, site) = (self.some(Self::array)?, self.site()?);
                (Op::Foreign { to, call, from, extents: self.code("extents")? }, site)
            }
            "reshape" => {
                let (from, site) = (self.array()?, self.site()?);
                (Op::Reshape { to: one, from, extents: self.code("extents")? }, site)
            }
            "agree" => {
                let agreement = self.word(AGREEMENTS, |w| Agreement::ALL.into_iter().find(|a| a.name() == w))?;
                let (site, left, right) = (self.site()?, self.code("left")?, self.code("right")?);
                if !to.is_empty() {
                    self.next = start;
                    return self.expected("no array for `agree`");
                }
                (Op::Agree { agreement, left, right }, site)
            }
            "if" => {
                let site = self.site()?;
                let cond = self.code("cond")?;
                self.expect("then")?;
                let then = self.block()?;
                self.expect("else")?;
                (Op::If { to, cond, then, otherwise: self.block()? }, site)
            }
            "while" => {
                let (init, site, row) = (self.some(Self::array)?, self.site()?, self.row()?);
                self.expect("cond")?;
                let trips = Trips::While(self.stmts()?, self.result(Self::array)?);
                self.expect("body")?;
                (Op::While { to, init, trips, row, body: self.block()? }, site)
            }
            "times" => {
                let n = self.array()?;
                let trips = Trips::Times(n, if self.accept("right") { Dir::Right } else { Dir::Left });
                let (init, site, row) = (self.some(Self::array)?, self.site()?, self.row()?);
                self.expect("body")?;
                (Op::While { to, init, trips, row, body: self.block()? }, site)
            }
            "keep" => {
                let (tape, arrays) = (self.number("the number of a tape")?, self.some(Self::array)?);
                let site = self.site()?;
                if !to.is_empty() {
                    self.next = start;
                    return self.expected("no array for `keep`");
                }
                (Op::Keep { tape, arrays }, site)
            }
            "recall" => {
                let (tape, site, at) = (self.number("the number of a tape")?, self.site()?, self.code("at")?);
                self.expect("step")?;
                (Op::Recall { to, tape, at, step: self.block()? }, site)
            }
            "strip" => {
                let (site, len) = (self.site()?, self.code("len")?);
                self.expect("body")?;
                let start = self.next;
                let (body, results) = self.block()?;
                if results != to {
                    self.next = start;
                    return self.expected("a body whose results are the arrays that are defined");
                }
                (Op::Strip { to, len, body }, site)
            }
            _ => {
                self.next -= 1;
                return self.expected(operation);
            }
        };
        Ok(Stmt { op, site })
    }

    /// The name of a monoid, if it is the next token.
    pub fn monoid(&mut self) -> Option<Monoid> {
        Monoid::ALL.into_iter().find(|k| self.accept(&k.to_string()))
    }

    fn rows(&mut self, monoid: Option<Monoid>) -> Result<Reduction> {
        let (len, element) = (self.code("len")?, self.code("element")?);
        let init = if *self.peek() == Token::Word("init".into()) { Some(self.code("init")?) } else { None };
        Ok(Reduction { len, element, init, op: self.code("op")?, monoid })
    }

    // Scalar code.

    fn code(&mut self, name: &str) -> Result<ScalarFn> {
        self.expect(name)?;
        self.expect("(")?;
        self.types.clear();
        let start = self.next;
        let params = self.list(")", Self::register_decl)?;
        if let Some((k, _)) = params.iter().enumerate().find(|(k, r)| k != *r) {
            self.next = start;
            return self.expected(format!("parameter {k} to be x{k}"));
        }
        self.expect("{")?;
        self.unset(Self::register_decl)?;
        let instrs = self.instrs()?;
        let results = self.results(Self::register)?;
        Ok(ScalarFn { params: params.len(), types: self.take_types()?, instrs, results })
    }

    /// Instructions up to `->`.
    fn instrs(&mut self) -> Result<Vec<Instr>> {
        let mut instrs = vec![];
        while *self.peek() != Token::Mark("->") {
            instrs.push(deep(|| self.instr())?);
            while self.accept(";") {}
        }
        Ok(instrs)
    }

    fn instr(&mut self) -> Result<Instr> {
        let start = self.next;
        let to = self.some(Self::register_decl)?;
        self.expect("=")?;
        self.definition(to, start)
    }

    /// The types of the registers that were declared.
    ///
    /// # Errors
    /// A register with a smaller number was not declared.
    pub fn take_types(&mut self) -> Result<IndexVec<Reg, ScalarType>> {
        let types = std::mem::take(&mut self.types);
        self.complete(types, 'x')
    }

    /// A register that has this type.
    ///
    /// # Errors
    /// The register has another type before, or the next token is no register.
    pub fn register_as(&mut self, t: ScalarType) -> Result<Reg> {
        let start = self.next;
        let r = self.register()?;
        match declare(&mut self.types, r, t) {
            None => Ok(r),
            Some(old) => self.conflict(start, format!("x{r}: {old}")),
        }
    }

    /// Whether the next token is the name of a register.
    pub fn next_is_register(&self) -> bool {
        self.peeks(|w| numbered('x', w))
    }

    /// The rest of the instruction that sets these registers, after `=`.
    ///
    /// # Errors
    /// The text is no instruction.
    pub fn instr_of(&mut self, to: Vec<Reg>) -> Result<Instr> {
        self.definition(to, self.next)
    }

    /// What follows `=`. The instruction began at the token `start`.
    fn definition(&mut self, to: Vec<Reg>, start: usize) -> Result<Instr> {
        if self.accept("if") {
            return self.branch(&to, start);
        }
        if self.accept("while") {
            return self.repeat(&to, start);
        }
        if self.accept("emit") {
            return self.emission(&to, start);
        }
        if self.peeks(|w| numbered('a', w)) {
            let array = self.array()?;
            self.expect("[")?;
            let index = self.list("]", Self::register)?;
            let site = self.site()?;
            return Ok(Instr::Read { to, array, index, site, inside: self.accept("inside") });
        }
        let [to] = to[..] else {
            self.next = start;
            return self.expected("one register for a constant, a function or an extent");
        };
        if self.accept("list") {
            let list = self.register()?;
            self.expect("[")?;
            let at = self.register()?;
            self.expect("]")?;
            return Ok(Instr::Get { to, list, at });
        }
        if self.accept("extent") {
            return Ok(Instr::Extent(to, self.array()?, self.number("a dimension")?));
        }
        if self.peeks(|w| numbered('x', w)) {
            let a = self.register()?;
            let op = match self.peek() {
                Token::Mark(m) => lookup::op2(m),
                _ => None,
            };
            let Some(op) = op else { return self.expected("an operator such as `+`") };
            self.next += 1;
            return Ok(Instr::Op2(to, op, a, self.register()?));
        }
        if self.accept("as") {
            let t = self.scalar_type()?;
            return Ok(Instr::Op1(to, lookup::cast(t), self.register()?));
        }
        if let Token::Word(w) = self.peek().clone() {
            if let Some(family) = lookup::family(&w) {
                self.next += 1;
                self.expect("(")?;
                let order = self.word("the order of a function", |w| w.parse().ok())?;
                self.expect(")")?;
                return Ok(Instr::Op1(to, Op1::Float(Float1::Family(family, order)), self.register()?));
            }
            if let Some(op) = lookup::op1(&w) {
                self.next += 1;
                return Ok(Instr::Op1(to, op, self.register()?));
            }
            if let Some(op) = lookup::op2(&w) {
                self.next += 1;
                return Ok(Instr::Op2(to, op, self.register()?, self.register()?));
            }
        }
        let x: Scalar =
            self.word("a constant, a function, a read, `extent`, `emit`, `if` or `while`", lookup::constant)?;
        Ok(Instr::Const(to, x))
    }

    fn emission(&mut self, to: &[Reg], start: usize) -> Result<Instr> {
        if !to.is_empty() {
            self.next = start;
            return self.expected("no register for `emit`");
        }
        let to = self.array()?;
        self.expect("[")?;
        let index = self.list("]", Self::register)?;
        let values = self.some(Self::register)?;
        let site = self.site()?;
        Ok(Instr::Emit { to, index, values, site, inside: self.accept("inside") })
    }

    fn branch(&mut self, to: &[Reg], start: usize) -> Result<Instr> {
        let cond = self.register()?;
        self.expect("{")?;
        let then = self.instrs()?;
        let a = self.results(Self::register)?;
        self.expect("else")?;
        self.expect("{")?;
        let otherwise = self.instrs()?;
        let b = self.results(Self::register)?;
        if a.len() != to.len() || b.len() != to.len() {
            self.next = start;
            return self.expected(format!(
                "as many registers as both branches have results ({}, {})",
                a.len(),
                b.len()
            ));
        }
        let merge = to.iter().zip(a).zip(b).map(|((to, a), b)| (*to, a, b)).collect();
        Ok(Instr::If { cond, then: then.into(), otherwise: otherwise.into(), merge })
    }

    fn repeat(&mut self, to: &[Reg], start: usize) -> Result<Instr> {
        let init = self.some(Self::register)?;
        self.expect("cond")?;
        self.expect("{")?;
        let cond = self.instrs()?;
        let continues = self.result(Self::register)?;
        self.expect("body")?;
        self.expect("{")?;
        let body = self.instrs()?;
        let next = self.results(Self::register)?;
        let listed = if self.accept("lists") { self.some(Self::register)? } else { vec![] };
        if init.len() + listed.len() != to.len() {
            self.next = start;
            return self.expected(format!(
                "as many registers as first values and lists ({}, {})",
                init.len(),
                listed.len()
            ));
        }
        let (state, lists) = to.split_at(init.len());
        let state = state.iter().copied().zip(init).collect();
        let lists = lists.iter().copied().zip(listed).collect();
        Ok(Instr::While { state, cond: cond.into(), continues, body: body.into(), next, lists })
    }
}

/// `12` for `a12`.
fn numbered(letter: char, word: &str) -> Option<usize> {
    let digits = word.strip_prefix(letter)?;
    digits.parse().ok().filter(|n| *n < MAX_NUMBER && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Records what item `k` is. Returns its earlier declaration if that was different.
fn declare<I: Idx, T: PartialEq + Clone>(items: &mut IndexVec<I, Option<T>>, k: I, item: T) -> Option<T> {
    if items.len() <= k.index() {
        items.resize(k.index() + 1, None);
    }
    match &items[k] {
        Some(old) if *old != item => Some(old.clone()),
        _ => {
            items[k] = Some(item);
            None
        }
    }
}
