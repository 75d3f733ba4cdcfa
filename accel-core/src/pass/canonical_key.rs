//! Canonical keys: writes expressions and programs as lists of numbers, so that equal ones have equal lists.

use crate::ast::*;
use crate::repr::{ArrayTuple, Column, Foreign, RawTy};
use std::collections::HashMap;

/// How array variables are numbered, and which expressions are written.
pub trait Names<A> {
    /// The number of a variable.
    fn array<T>(&mut self, i: &Idx<A, T>) -> u64;
    /// Whether the writer continues with a scalar operation.
    fn accepts<E, T>(&mut self, _: &ExpOp<'_, E, A, T>) -> bool {
        true
    }
}

/// Numbers variables by their De Bruijn level, in an environment of this size.
pub struct Levels(pub usize);
impl<A> Names<A> for Levels {
    fn array<T>(&mut self, i: &Idx<A, T>) -> u64 {
        (self.0 - 1 - i.depth()) as u64
    }
}

/// Numbers variables by their De Bruijn index.
struct Indices;
impl<A> Names<A> for Indices {
    fn array<T>(&mut self, i: &Idx<A, T>) -> u64 {
        i.depth() as u64
    }
}

/// The key of a program.
///
/// Programs with equal words and equal large columns have the same types, compute the same, and report errors for the
/// same places in the source.
#[derive(Default)]
pub struct ProgramKey {
    /// The program without its large columns.
    pub words: Vec<u64>,
    /// The columns of arrays that are part of the program and have more than [`SMALL_BYTES`] bytes.
    pub large: Vec<Column>,
    /// The columns of all arrays that are part of the program.
    pub columns: Vec<Column>,
    /// The foreign functions, each once.
    pub functions: Vec<Foreign>,
}

/// The words of a key contain the elements of columns of at most this size.
pub const SMALL_BYTES: usize = 1 << 12;

/// Writes expressions.
struct Tokens<'n, N> {
    out: Vec<u64>,
    names: &'n mut N,
    failed: bool,
    /// What a key of a program contains besides its words. Keys of expressions contain neither places nor types: these do
    /// not distinguish expressions with the same variables.
    whole: Option<Whole>,
}

#[derive(Default)]
struct Whole {
    key: ProgramKey,
    /// The numbers of the places: name, file, line, column and role.
    numbers: HashMap<(&'static str, &'static str, u32, u32, Role), usize>,
}

impl<'n, N> Tokens<'n, N> {
    fn new(names: &'n mut N) -> Self {
        Tokens { out: vec![], names, failed: false, whole: None }
    }

    fn finished(self) -> Option<Vec<u64>> {
        (!self.failed).then_some(self.out)
    }
}

/// The key of a program.
pub fn program(p: &Program) -> ProgramKey {
    let mut names = Indices;
    let mut tokens = Tokens { whole: Some(Whole::default()), ..Tokens::new(&mut names) };
    tokens.ty(p.arg());
    fresh2(|arg, result| Computations(&mut tokens).acc(&p.open(arg, result).body));
    let key = tokens.whole.unwrap_or_default().key;
    ProgramKey { words: tokens.out, ..key }
}

/// The key of an expression; `None` if `names` does not accept it.
pub fn expression<E, A, T>(e: &Exp<E, A, T>, names: &mut impl Names<A>) -> Option<Vec<u64>> {
    let mut tokens = Tokens::new(names);
    tokens.exp(e);
    tokens.finished()
}

/// The key of an operation on variables; `None` for anything else.
pub fn operation<A, R>(a: &Acc<A, R>, names: &mut impl Names<A>) -> Option<Vec<u64>> {
    let mut tokens = Tokens::new(names);
    fresh1(|n| {
        let AccView::Op(op) = a.view(n) else { return None };
        if let AccOp::Cond { .. } = &op {
            return None;
        }
        tokens.head(&op);
        op.visit(&mut tokens);
        tokens.finished()
    })
}

/// Whether it pays to compute the operation only once. Projections from tuples of arrays cost nothing.
pub fn counts<A, R>(a: &Acc<A, R>) -> bool {
    let free = |op: &AccOp<'_, A, R>| {
        matches!(op, AccOp::Unit { .. } | AccOp::Pair { .. } | AccOp::Fst { .. } | AccOp::Snd { .. })
    };
    fresh1(|n| matches!(a.view(n), AccView::Op(op) if !free(&op)))
}

impl<N> Tokens<'_, N> {
    fn text(&mut self, s: &str) {
        self.out.push(s.len() as u64);
        let word = |bytes: &[u8]| bytes.iter().fold(0, |w, b| w << 8 | u64::from(*b));
        self.out.extend(s.as_bytes().chunks(8).map(word));
    }

    /// Everything about an operation but its parts.
    fn head<A, R>(&mut self, op: &AccOp<'_, A, R>) {
        self.text(op.operation());
        for detail in op.details() {
            match detail {
                Detail::Dir(dir) => self.out.push(u64::from(dir == Dir::Left)),
                Detail::Agreement(agreement) => self.text(agreement.name()),
                Detail::User(name) => self.text(name),
                Detail::Call(call) => {
                    self.text(call.function.name());
                    self.out.extend([call.function.identity(), call.lanes as u64]);
                    if let Some(Whole { key, .. }) = &mut self.whole
                        && !key.functions.contains(&call.function)
                    {
                        key.functions.push(call.function.clone());
                    }
                }
                Detail::Kept(kept) => {
                    self.out.push(kept.len() as u64);
                    self.out.extend(kept.iter().map(|k| u64::from(*k)))
                }
            }
        }
    }

    /// A place in the source. It is written once; then its number stands for it.
    fn source(&mut self, at: Src) {
        let Some(Whole { numbers, .. }) = &mut self.whole else { return };
        let Some(source) = at else { return self.out.push(0) };
        let (name, at, next) = (source.name, source.at, numbers.len());
        let number = *numbers.entry((name, at.file(), at.line(), at.column(), source.role)).or_insert(next);
        self.out.push(1 + number as u64);
        if number == next {
            self.out.extend([u64::from(at.line()), u64::from(at.column()), source.role as u64]);
            self.text(at.file());
            self.text(name);
        }
    }

    /// A type, if types are written.
    fn ty(&mut self, t: &RawTy) {
        if self.whole.is_none() {
            return;
        }
        match t {
            RawTy::Unit => self.out.push(0),
            RawTy::Scalar(s) => self.out.extend([1, *s as u64]),
            RawTy::List(s) => self.out.extend([2, *s as u64]),
            RawTy::Pair(p) | RawTy::Array(p) => {
                self.out.push(if matches!(t, RawTy::Pair(_)) { 3 } else { 4 });
                deep(|| {
                    self.ty(&p.0);
                    self.ty(&p.1)
                })
            }
        }
    }

    /// Arrays that are part of the program.
    fn literal(&mut self, arrays: &ArrayTuple) {
        let Some(Whole { key, .. }) = &mut self.whole else { return self.failed = true };
        for a in arrays.leaves() {
            self.out.push(a.extents.len() as u64);
            self.out.extend(a.extents.iter().map(|e| *e as u64));
            for column in &a.columns {
                key.columns.push(column.clone());
                if column.bytes() > SMALL_BYTES {
                    key.large.push(column.clone());
                } else {
                    self.out.extend((0..column.len()).filter_map(|i| column.get(i)).map(|x| x.bits()));
                }
            }
        }
    }

    fn exp<E, A, T>(&mut self, e: &Exp<E, A, T>)
    where
        N: Names<A>,
    {
        fresh2(|n, t| deep(|| self.exp_(&e.cast_all(name(n), Equal::refl(), name(t)))))
    }

    // Generic in lifetimes only, but for the array environment.
    fn exp_<'e, 't, A>(&mut self, e: &Exp<X<'e>, A, X<'t>>)
    where
        N: Names<A>,
    {
        fresh1(|n| match &e.view(n) {
            ExpView::Const(v) => {
                self.out.extend([0, v.scalars().len() as u64]);
                self.out.extend(v.scalars().iter().flat_map(|s| [s.ty() as u64, s.bits()]));
                self.ty(e.ty().raw())
            }
            ExpView::Var(i) => self.out.extend([1, i.depth() as u64]),
            ExpView::Let(b, body, _) => {
                self.out.push(2);
                self.exp(b);
                self.exp(body)
            }
            ExpView::While(w) => {
                self.out.push(3);
                self.source(w.at);
                self.exp(&w.cond);
                self.exp(&w.body);
                self.exp(&w.init)
            }
            ExpView::Loop(l) => {
                self.out.extend([12, u64::from(l.dir == Dir::Left), l.row.raw().width() as u64]);
                self.source(l.at);
                self.ty(l.row.raw());
                match &l.trips {
                    ExpTrips::While(cond) => {
                        self.out.push(0);
                        self.exp(cond)
                    }
                    ExpTrips::Times(n) => {
                        self.out.push(1);
                        self.exp(n)
                    }
                }
                self.exp(&l.body);
                self.exp(&l.init);
                self.exp(&l.xs)
            }
            ExpView::Op(op) if self.names.accepts(op) => self.op(op),
            ExpView::Op(_) => self.failed = true,
        })
    }

    fn op<E, A, T>(&mut self, op: &ExpOp<'_, E, A, T>)
    where
        N: Names<A>,
    {
        match op {
            ExpOp::Pair(a, b, _) => {
                self.out.push(4);
                self.exp(a);
                self.exp(b)
            }
            ExpOp::Fst(a, _) => {
                self.out.push(5);
                self.exp(a)
            }
            ExpOp::Snd(a, _) => {
                self.out.push(6);
                self.exp(a)
            }
            ExpOp::Cond(c, t, f) => {
                self.out.push(7);
                self.exp(c);
                self.exp(t);
                self.exp(f)
            }
            ExpOp::Index(a, ix, at) => {
                let a = self.names.array(a);
                self.out.extend([8, a]);
                self.source(*at);
                self.exp(ix)
            }
            ExpOp::Shape(a, _) => {
                let a = self.names.array(a);
                self.out.extend([9, a])
            }
            ExpOp::Emit { token, to, ix, value, at, .. } => {
                self.out.extend([13, to.position() as u64]);
                self.source(*at);
                self.exp(token);
                self.exp(ix);
                self.exp(value)
            }
            ExpOp::Prim1(p, a) => {
                self.out.push(10);
                self.text(&p.op().to_string());
                self.exp(a)
            }
            ExpOp::Prim2(p, a, b) => {
                self.out.push(11);
                self.text(p.op().name());
                self.exp(a);
                self.exp(b)
            }
        }
    }
}

impl<A, N: Names<A>> AccVisit<A> for Tokens<'_, N> {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) {
        self.exp(e)
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) {
        fresh1(|n| match a.view(n) {
            AccView::Var(i) => {
                let a = self.names.array(&i);
                self.out.push(a)
            }
            _ => self.failed = true,
        })
    }
}

/// Writes array computations of any form.
struct Computations<'t, 'n>(&'t mut Tokens<'n, Indices>);

impl Computations<'_, '_> {
    fn acc<A, R>(&mut self, a: &Acc<A, R>) {
        fresh2(|n, m| deep(|| self.acc_(&a.cast_env(name(n)).cast(name(m)))))
    }

    // Generic in lifetimes only, so that it is compiled once.
    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>) {
        self.0.source(a.at());
        fresh1(|n| match a.view(n) {
            AccView::Use(arrays) => {
                self.0.out.push(0);
                self.0.ty(arrays.ty().raw());
                self.0.literal(arrays.arrays())
            }
            AccView::Var(i) => self.0.out.extend([1, i.depth() as u64]),
            AccView::Let(b, body, _) => {
                self.0.out.push(2);
                self.acc(&b);
                self.acc(&body)
            }
            AccView::While(w) => {
                self.0.out.push(3);
                self.acc(&w.cond);
                self.acc(&w.body);
                self.acc(&w.init)
            }
            AccView::Loop(l, _) => {
                self.0.out.push(4);
                self.0.text(l.user);
                match &l.trips {
                    Trips::While(cond) => {
                        self.0.out.push(0);
                        self.acc(cond)
                    }
                    Trips::Times(n, dir) => {
                        self.0.out.extend([1, u64::from(*dir == Dir::Left)]);
                        self.0.exp(n)
                    }
                }
                self.acc(&l.init);
                self.acc(&l.xs);
                self.acc(&l.body)
            }
            AccView::Op(op) => {
                self.0.out.push(5);
                self.0.head(&op);
                op.visit(self)
            }
        })
    }
}

impl<A> AccVisit<A> for Computations<'_, '_> {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) {
        fresh3(|n, m, t| self.0.exp(&e.cast_all(name::<E>(n), name::<A>(m), name::<T>(t))))
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) {
        self.acc(a)
    }
}
