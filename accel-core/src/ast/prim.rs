//! Typed primitive functions: each one carries the witness that its argument and result types match.

use super::names::{Equal, Erased};
use super::ty::{FloatTy, IntTy, NumTy, ScalarTy, Ty};
use crate::repr::op::{Cmp, Float1, Float2, FloatTest, Int1, Int2, Logic, Num1, Num2, Op1, Op2};

/// A primitive function from `A` to `R`.
pub enum Prim1<A, R> {
    /// On numbers.
    Num(Num1, NumTy<A>, Equal<A, R>),
    /// On floating-point numbers.
    Float(Float1, FloatTy<A>, Equal<A, R>),
    /// Predicates of floating-point numbers.
    Test(FloatTest, FloatTy<A>, Equal<R, bool>),
    /// On integers.
    Int(Int1, IntTy<A>, Equal<A, R>),
    /// Negation of a boolean.
    Not(Equal<A, bool>, Equal<R, bool>),
    /// Conversion between scalars.
    Cast(ScalarTy<A>, ScalarTy<R>),
    /// The number with the same bits.
    Bits(ScalarTy<A>, ScalarTy<R>),
}

/// A primitive function from two `A` to `R`.
pub enum Prim2<A, R> {
    /// On numbers.
    Num(Num2, NumTy<A>, Equal<A, R>),
    /// On floating-point numbers.
    Float(Float2, FloatTy<A>, Equal<A, R>),
    /// On integers.
    Int(Int2, IntTy<A>, Equal<A, R>),
    /// Comparison.
    Cmp(Cmp, ScalarTy<A>, Equal<R, bool>),
    /// On booleans.
    Logic(Logic, Equal<A, bool>, Equal<R, bool>),
}

impl<A, R> Clone for Prim1<A, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, R> Copy for Prim1<A, R> {}
impl<A, R> Clone for Prim2<A, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, R> Copy for Prim2<A, R> {}

impl<A, R> Prim1<A, R> {
    /// The type of the result.
    pub fn result(self) -> Ty<R> {
        match self {
            Prim1::Num(_, t, q) => t.ty().cast(q),
            Prim1::Float(_, t, q) => t.ty().cast(q),
            Prim1::Int(_, t, q) => t.ty().cast(q),
            Prim1::Test(_, _, q) | Prim1::Not(_, q) => Ty::<bool>::of().cast(q.sym()),
            Prim1::Cast(_, t) | Prim1::Bits(_, t) => t.ty(),
        }
    }
    /// The function without types.
    pub fn op(self) -> Op1 {
        match self {
            Prim1::Num(o, ..) => Op1::Num(o),
            Prim1::Float(o, ..) => Op1::Float(o),
            Prim1::Test(o, ..) => Op1::Test(o),
            Prim1::Int(o, ..) => Op1::Int(o),
            Prim1::Not(..) => Op1::Not,
            Prim1::Cast(_, t) => Op1::Cast(t.scalar()),
            Prim1::Bits(..) => Op1::Bits,
        }
    }
    /// Gives an untyped function its type, for arguments of type `t` and any result type; `None` if it is not defined
    /// on `t`.
    pub fn check(op: Op1, t: &Ty<A>, r: &Ty<R>) -> Option<Self> {
        let s = ScalarTy::of(t)?;
        Some(match op {
            Op1::Num(o) => Prim1::Num(o, s.num()?, t.same(r)?),
            Op1::Float(o) => Prim1::Float(o, s.float()?, t.same(r)?),
            Op1::Test(o) => Prim1::Test(o, s.float()?, r.same(&Ty::of())?),
            Op1::Int(o) => Prim1::Int(o, s.int()?, t.same(r)?),
            Op1::Not => Prim1::Not(s.bool()?, r.same(&Ty::of())?),
            Op1::Cast(to) => Prim1::Cast(s, ScalarTy::of(r).filter(|r| r.scalar() == to)?),
            Op1::Bits => Prim1::Bits(s, ScalarTy::of(r).filter(|r| op.result(s.scalar()) == Some(r.scalar()))?),
        })
    }
    pub(in crate::ast) fn relabel<B, Q>(self) -> Prim1<B, Q> {
        match self {
            Prim1::Num(o, t, _) => Prim1::Num(o, t.relabel(), Equal::axiom()),
            Prim1::Float(o, t, _) => Prim1::Float(o, t.relabel(), Equal::axiom()),
            Prim1::Test(o, t, _) => Prim1::Test(o, t.relabel(), Equal::axiom()),
            Prim1::Int(o, t, _) => Prim1::Int(o, t.relabel(), Equal::axiom()),
            Prim1::Not(..) => Prim1::Not(Equal::axiom(), Equal::axiom()),
            Prim1::Cast(s, t) => Prim1::Cast(s.relabel(), t.relabel()),
            Prim1::Bits(s, t) => Prim1::Bits(s.relabel(), t.relabel()),
        }
    }
}

impl<A, R> Prim2<A, R> {
    /// The type of the result.
    pub fn result(self) -> Ty<R> {
        match self {
            Prim2::Num(_, t, q) => t.ty().cast(q),
            Prim2::Float(_, t, q) => t.ty().cast(q),
            Prim2::Int(_, t, q) => t.ty().cast(q),
            Prim2::Cmp(_, _, q) | Prim2::Logic(_, _, q) => Ty::<bool>::of().cast(q.sym()),
        }
    }
    /// The function without types.
    pub fn op(self) -> Op2 {
        match self {
            Prim2::Num(o, ..) => Op2::Num(o),
            Prim2::Float(o, ..) => Op2::Float(o),
            Prim2::Int(o, ..) => Op2::Int(o),
            Prim2::Cmp(o, ..) => Op2::Cmp(o),
            Prim2::Logic(o, ..) => Op2::Logic(o),
        }
    }
    /// Gives an untyped function its type, for arguments of type `t`; `None` if it is not defined on `t`.
    pub fn check(op: Op2, t: &Ty<A>, r: &Ty<R>) -> Option<Self> {
        let s = ScalarTy::of(t)?;
        Some(match op {
            Op2::Num(o) => Prim2::Num(o, s.num()?, t.same(r)?),
            Op2::Float(o) => Prim2::Float(o, s.float()?, t.same(r)?),
            Op2::Int(o) => Prim2::Int(o, s.int()?, t.same(r)?),
            Op2::Cmp(o) => Prim2::Cmp(o, s, r.same(&Ty::of())?),
            Op2::Logic(o) => Prim2::Logic(o, s.bool()?, r.same(&Ty::of())?),
        })
    }
    pub(in crate::ast) fn relabel<B, Q>(self) -> Prim2<B, Q> {
        match self {
            Prim2::Num(o, t, _) => Prim2::Num(o, t.relabel(), Equal::axiom()),
            Prim2::Float(o, t, _) => Prim2::Float(o, t.relabel(), Equal::axiom()),
            Prim2::Int(o, t, _) => Prim2::Int(o, t.relabel(), Equal::axiom()),
            Prim2::Cmp(o, t, _) => Prim2::Cmp(o, t.relabel(), Equal::axiom()),
            Prim2::Logic(o, ..) => Prim2::Logic(o, Equal::axiom(), Equal::axiom()),
        }
    }
}

/// Primitive functions with erased types, as nodes store them.
pub(in crate::ast) type RawPrim1 = Prim1<Erased, Erased>;
/// Primitive functions with erased types, as nodes store them.
pub(in crate::ast) type RawPrim2 = Prim2<Erased, Erased>;
