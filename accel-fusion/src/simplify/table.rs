//! Value numbering: two operations with equal keys have equal values.
//!
//! NOTE [Numbering]: operands are variables or constants, so that a key has constant size and common subexpressions are found
//! in linear time. Variables are keyed by level, which does not change as the environment grows.

use super::facts::constant;
use accel_core::ast::*;
use accel_core::repr::op::{Cmp, Int2, Logic, Num2, Op1, Op2};
use accel_core::repr::{Scalar, ScalarType};
use std::collections::HashMap;

/// An operand.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    Var(usize),
    Const(Vec<(u8, u64)>),
}

/// An operation on operands.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Key {
    Prim1(Op1, Atom),
    Prim2(Op2, Atom, Atom),
    Pair(Atom, Atom),
    Fst(Atom),
    Snd(Atom),
    Cond(Atom, Atom, Atom),
    Index(usize, Atom),
    Shape(usize),
}

/// The bits of a scalar and its type.
pub fn bits(s: Scalar) -> (u8, u64) {
    let tag = s.ty() as u8;
    let value = match s {
        Scalar::F32(x) => u64::from(x.to_bits()),
        Scalar::F64(x) => x.to_bits(),
        s => match Op1::Cast(ScalarType::I64).eval(s) {
            Ok(Scalar::I64(x)) => x as u64,
            _ => 0,
        },
    };
    (tag, value)
}

impl Atom {
    /// The operand in an environment of `size` variables; `None` for anything but variables and constants.
    fn of<E, A, T>(e: &Exp<E, A, T>, size: usize) -> Option<Atom> {
        fresh1(|n| match e.view(n) {
            ExpView::Var(i) => Some(Atom::Var(size - 1 - i.depth())),
            ExpView::Const(v) => Some(Atom::Const(v.scalars().iter().map(|s| bits(*s)).collect())),
            _ => None,
        })
    }
}

impl Key {
    /// The key of an operation in an environment of `size` scalar and `arrays` array variables.
    pub fn of<E, A, T>(e: &Exp<E, A, T>, size: usize, arrays: usize) -> Option<Key> {
        fresh1(|n| {
            let ExpView::Op(op) = e.view(n) else { return None };
            Some(match op {
                ExpOp::Pair(a, b, _) => Key::Pair(Atom::of(&a, size)?, Atom::of(&b, size)?),
                ExpOp::Fst(a, _) => Key::Fst(Atom::of(&a, size)?),
                ExpOp::Snd(a, _) => Key::Snd(Atom::of(&a, size)?),
                ExpOp::Prim1(p, a) => Key::Prim1(p.op(), Atom::of(&a, size)?),
                ExpOp::Prim2(p, a, b) => {
                    let (a, b) = (Atom::of(&a, size)?, Atom::of(&b, size)?);
                    let (a, b) = if commutes(p.op()) && b < a { (b, a) } else { (a, b) };
                    Key::Prim2(p.op(), a, b)
                }
                ExpOp::Cond(c, t, f) => Key::Cond(Atom::of(&c, size)?, Atom::of(&t, size)?, Atom::of(&f, size)?),
                ExpOp::Index(a, ix, _) => Key::Index(arrays - 1 - a.depth(), Atom::of(&ix, size)?),
                ExpOp::Shape(a, _) => Key::Shape(arrays - 1 - a.depth()),
            })
        })
    }
    /// Whether it is worth while to compute such an operation only once. Others cost nothing.
    pub fn counts(&self) -> bool {
        matches!(self, Key::Prim1(..) | Key::Prim2(..) | Key::Cond(..) | Key::Index(..))
    }
}

/// Whether `f a b` = `f b a`, for floats up to the payload of NaNs.
fn commutes(op: Op2) -> bool {
    matches!(
        op,
        Op2::Num(Num2::Add | Num2::Mul)
            | Op2::Int(Int2::And | Int2::Or | Int2::Xor)
            | Op2::Cmp(Cmp::Eq | Cmp::Ne)
            | Op2::Logic(Logic::And | Logic::Or)
    )
}

/// What holds the values in scope: a variable, by level, or something else.
pub struct Table<K, V = usize> {
    levels: HashMap<K, V>,
    /// What to forget at the end of a scope.
    trail: Vec<K>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table { levels: HashMap::new(), trail: vec![] }
    }
}

impl<K: Clone + Eq + std::hash::Hash, V: Copy> Table<K, V> {
    /// What has this value.
    pub fn get(&self, k: &K) -> Option<V> {
        self.levels.get(k).copied()
    }
    /// A new value.
    pub fn insert(&mut self, k: K, level: V) {
        self.trail.push(k.clone());
        self.levels.insert(k, level);
    }
    /// The beginning of a scope.
    pub fn enter(&self) -> usize {
        self.trail.len()
    }
    /// The end of the scope that began at `mark`.
    pub fn leave(&mut self, mark: usize) {
        for k in self.trail.drain(mark..) {
            self.levels.remove(&k);
        }
    }
}

/// Writes down array operations as numbers, so that equal ones are written equally.
pub struct Tokens {
    /// The numbers.
    pub out: Vec<u64>,
    arrays: usize,
    failed: bool,
}

impl Tokens {
    /// For an environment of `arrays` variables.
    pub fn new(arrays: usize) -> Self {
        Tokens { out: vec![], arrays, failed: false }
    }
    /// The numbers of an expression; `arrays` variables are in scope.
    pub fn of<E, A, T>(e: &Exp<E, A, T>, arrays: usize) -> Vec<u64> {
        let mut tokens = Tokens::new(arrays);
        tokens.exp(e);
        tokens.out
    }
    fn text(&mut self, s: &str) {
        self.out.push(s.len() as u64);
        self.out.extend(s.bytes().map(u64::from));
    }
    fn array<A, T>(&mut self, i: &Idx<A, T>) {
        self.out.push((self.arrays - 1 - i.depth()) as u64);
    }
    /// Whether the operation is worth while to be computed only once; taking tuples of arrays apart costs nothing.
    pub fn counts<A, R>(a: &Acc<A, R>) -> bool {
        let free = |op: &AccOp<'_, A, R>| {
            matches!(op, AccOp::Unit { .. } | AccOp::Pair { .. } | AccOp::Fst { .. } | AccOp::Snd { .. })
        };
        fresh1(|n| matches!(a.view(n), AccView::Op(op) if !free(&op)))
    }
    /// An operation on variables; `None` for anything else.
    pub fn op<A, R>(&mut self, a: &Acc<A, R>) -> Option<()> {
        fresh1(|n| {
            let AccView::Op(op) = a.view(n) else { return None };
            if let AccOp::Cond { .. } = &op {
                return None;
            }
            self.text(op.name());
            match &op {
                AccOp::Scan { dir, .. } | AccOp::Scan1 { dir, .. } => self.out.push(u64::from(*dir == Dir::Left)),
                AccOp::Replicate { spec, .. } => self.out.extend(spec.kept().iter().map(|k| u64::from(*k))),
                AccOp::Slice { spec, .. } => self.out.extend(spec.kept().iter().map(|k| u64::from(*k))),
                _ => {}
            }
            op.map(self);
            (!self.failed).then_some(())
        })
    }
    fn exp<E, A, T>(&mut self, e: &Exp<E, A, T>) {
        fresh3(|x, a, t| deep(|| self.exp_(&e.cast_all(name(x), name(a), name(t)))))
    }
    fn exp_<'e, 'a, 't>(&mut self, e: &Exp<X<'e>, X<'a>, X<'t>>) {
        fresh1(|n| match e.view(n) {
            ExpView::Const(_) => {
                let scalars = constant(e).map_or(vec![], |v| v.scalars().to_vec());
                self.out.extend([0, scalars.len() as u64]);
                self.out.extend(scalars.into_iter().flat_map(|s| [bits(s).0.into(), bits(s).1]));
            }
            ExpView::Var(i) => self.out.extend([1, i.depth() as u64]),
            ExpView::Let(b, body, _) => {
                self.out.push(2);
                self.exp(&b);
                self.exp(&body)
            }
            ExpView::While(w) => {
                self.out.push(3);
                self.exp(&w.cond);
                self.exp(&w.body);
                self.exp(&w.init)
            }
            ExpView::Op(op) => {
                match &op {
                    ExpOp::Pair(..) => self.out.push(4),
                    ExpOp::Fst(..) => self.out.push(5),
                    ExpOp::Snd(..) => self.out.push(6),
                    ExpOp::Cond(..) => self.out.push(7),
                    ExpOp::Index(..) => self.out.push(8),
                    ExpOp::Shape(..) => self.out.push(9),
                    ExpOp::Prim1(p, _) => {
                        self.out.push(10);
                        self.text(&p.op().to_string())
                    }
                    ExpOp::Prim2(p, ..) => {
                        self.out.push(11);
                        self.text(p.op().name())
                    }
                }
                op.map(self);
            }
        })
    }
}

/// Visits the parts of operations, which stay as they are.
impl<A> AccMap<A, A> for Tokens {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.exp(e);
        e.clone()
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) -> Acc<A, T> {
        fresh1(|n| match a.view(n) {
            AccView::Var(i) => self.array(&i),
            _ => self.failed = true,
        });
        a.clone()
    }
}
impl<E, A> ExpMap<E, A, E, A> for Tokens {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.exp(e);
        e.clone()
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) -> Idx<A, T> {
        self.array(i);
        i.clone()
    }
}
