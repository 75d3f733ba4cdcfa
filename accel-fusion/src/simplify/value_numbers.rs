//! Value numbering: two operations with equal keys have equal values.
//!
//! NOTE [Value numbering]: operands are variables or constants. So a key has constant size, and common subexpressions
//! are found in linear time. The key of a variable is its level, which does not change when the environment grows.

use accel_core::ast::*;
use accel_core::repr::op::{Cmp, Float2, Int2, Logic, Num2, Op1, Op2};
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

impl Atom {
    /// The operand, in an environment of `size` variables; `None` if the expression is neither a variable nor a
    /// constant.
    fn of<E, A, T>(e: &Exp<E, A, T>, size: usize) -> Option<Atom> {
        fresh1(|n| match e.view(n) {
            ExpView::Var(i) => Some(Atom::Var(size - 1 - i.depth())),
            ExpView::Const(v) => Some(Atom::Const(v.scalars().iter().map(|s| (s.ty() as u8, s.bits())).collect())),
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
                // Each emission counts.
                ExpOp::Emit { .. } => return None,
            })
        })
    }
    /// Whether it pays to compute the operation only once. Others cost nothing.
    pub fn counts(&self) -> bool {
        matches!(self, Key::Prim1(..) | Key::Prim2(..) | Key::Cond(..) | Key::Index(..))
    }
}

/// Whether `f a b` = `f b a`, for floats up to the payload of NaNs.
fn commutes(op: Op2) -> bool {
    matches!(
        op,
        Op2::Num(Num2::Add | Num2::Mul)
            | Op2::Float(Float2::StrongMul)
            | Op2::Int(Int2::And | Int2::Or | Int2::Xor)
            | Op2::Cmp(Cmp::Eq | Cmp::Ne)
            | Op2::Logic(Logic::And | Logic::Or)
    )
}

/// Maps the keys in scope to their values: by default, variables by level.
pub struct Table<K, V = usize> {
    levels: HashMap<K, V>,
    /// The keys to forget at the end of a scope.
    trail: Vec<K>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Table { levels: HashMap::new(), trail: vec![] }
    }
}

impl<K: Clone + Eq + std::hash::Hash, V: Copy> Table<K, V> {
    /// The value of a key.
    pub fn get(&self, k: &K) -> Option<V> {
        self.levels.get(k).copied()
    }
    /// Adds a key.
    pub fn insert(&mut self, k: K, level: V) {
        self.trail.push(k.clone());
        self.levels.insert(k, level);
    }
    /// Begins a scope.
    pub fn enter(&self) -> usize {
        self.trail.len()
    }
    /// Ends the scope that began at `mark`.
    pub fn leave(&mut self, mark: usize) {
        for k in self.trail.drain(mark..) {
            self.levels.remove(&k);
        }
    }
}
