//! What rules can ask about the operands of an operation.

use accel_core::ast::*;
use accel_core::repr::Scalar;
use accel_core::repr::op::{Num1, Num2};

/// The definitions of all scalar variables in scope.
pub struct Facts<'f, E, A> {
    /// One definition for each variable.
    pub scalars: &'f Env<ExpF<E, A>, E>,
    /// Whether the sign of a zero does not matter.
    pub unsigned_zeros: bool,
}

impl<E, A> Facts<'_, E, A> {
    /// The definition of a variable. Other expressions are returned unchanged.
    pub fn definition<T>(&self, e: &Exp<E, A, T>) -> Exp<E, A, T> {
        fresh1(|n| match e.view(n) {
            ExpView::Var(i) => self.scalars.get(&i),
            _ => e.clone(),
        })
    }
    /// The function and the operand of an expression such as `-x`.
    pub fn num1<T>(&self, e: &Exp<E, A, T>) -> Option<(Num1, Exp<E, A, T>)> {
        fresh1(|n| match self.definition(e).view(n) {
            ExpView::Op(ExpOp::Prim1(Prim1::Num(op, _, q), x)) => Some((op, x.cast(q))),
            _ => None,
        })
    }
    /// The operand of a negation of numbers.
    pub fn negated<T>(&self, e: &Exp<E, A, T>) -> Option<Exp<E, A, T>> {
        self.num1(e).filter(|(op, _)| *op == Num1::Neg).map(|(_, x)| x)
    }
    /// The operands of an arithmetic operation.
    pub fn num2<T>(&self, e: &Exp<E, A, T>) -> Option<(Num2, Exp<E, A, T>, Exp<E, A, T>)> {
        fresh1(|n| match self.definition(e).view(n) {
            ExpView::Op(ExpOp::Prim2(Prim2::Num(op, _, q), x, y)) => Some((op, x.cast(q), y.cast(q))),
            _ => None,
        })
    }
}

/// The value of a constant.
pub fn constant<E, A, T>(e: &Exp<E, A, T>) -> Option<Value<T>> {
    fresh1(|n| match e.view(n) {
        ExpView::Const(v) => Some(v),
        _ => None,
    })
}

/// A scalar constant.
pub fn scalar<E, A, T>(e: &Exp<E, A, T>) -> Option<Scalar> {
    ScalarTy::of(e.ty())?;
    constant(e)?.scalars().first().copied()
}

/// A proof that two operands, which are variables or constants, are equal and so have the same type.
pub fn same<E, A, T, U>(a: &Exp<E, A, T>, b: &Exp<E, A, U>) -> Option<Equal<T, U>> {
    fresh2(|n, m| match (a.view(n), b.view(m)) {
        (ExpView::Var(i), ExpView::Var(j)) => i.same(&j),
        (ExpView::Const(x), ExpView::Const(y)) if x.scalars() == y.scalars() => a.ty().same(b.ty()),
        _ => None,
    })
}

/// Whether an expression is a variable or a constant.
pub fn is_atom<E, A, T>(e: &Exp<E, A, T>) -> bool {
    fresh1(|n| matches!(e.view(n), ExpView::Var(_) | ExpView::Const(_)))
}

/// The scalar constant `x` of type `t`.
pub fn literal<E, A, T>(t: ScalarTy<T>, x: Scalar) -> Option<Exp<E, A, T>> {
    Some(Exp::constant(&t.value(x)?, &t.ty()))
}

/// `true` or `false`.
pub fn truth<E, A>(b: bool) -> Exp<E, A, bool> {
    Exp::constant(&Value::of(b), &Ty::of())
}
