//! The table of the derivatives of all primitive functions, for both modes (see the glossary of the book: local
//! derivative).
//!
//! A local derivative is a linear map between scalars of one type, and so it is its own transpose. Forward mode applies
//! it to the tangent of the argument, reverse mode to the adjoint of the result. Where a function has no derivative (at
//! a kink or a jump), the table chooses one, which is the same for both modes: `abs` has the derivative 0 at 0, and for
//! equal arguments `min` and `max` have the derivatives of their first argument.

use crate::builders::{Floats, not};
use accel_core::ast::*;
use accel_core::repr::op::{Cmp, Float1, Float2, Num1, Num2};

/// A local derivative: multiplication by a factor. Special factors have their own variants.
///
/// NOTE [Strong zeros]: if the adjoint (in forward mode: the tangent) or the local derivative is exactly 0, the contribution is 0,
/// even if the other one is infinite or NaN. So what is not used has no derivative: `sum (drop 1 (map sqrt [0, 1]))` has the
/// gradient [0, 1/2]. And a square root of 0 whose argument is constant has the derivative 0.
///
/// The product `d ⊗ f` with this property, `strong_mul`, is not `if d == 0 || f == 0 then 0 else d * f`, whose derivative by `d`
/// at 0 is 0 although that of `d * f` is `f`: a second derivative would be wrong wherever a first one vanishes. It is a function
/// of its own, with a derivative of its own, and so is the quotient `d ⊘ f`, `strong_div`, which is 0 where `d` is:
///
/// - `d ⊗ f` has the tangent `d' ⊗ f + f' ⊗ d`.
/// - `y = d ⊘ f` has the tangent `d' ⊘ f - f' ⊗ (y ⊘ f)`.
///
/// So derivatives of all orders consist of these functions. Simplification turns them into `*` and `/` where an operand is
/// a constant. Where a sum of such products is a product of matrices, it is computed as one: zeros times infinities are NaN
/// there.
pub enum Factor<E, A, T> {
    /// 0
    Zero,
    /// 1
    One,
    /// -1
    MinusOne,
    /// The value of an expression.
    Times(Exp<E, A, T>),
    /// 1 divided by the value of an expression.
    Over(Exp<E, A, T>),
    /// 1 where the condition holds, and 0 elsewhere.
    Where(Exp<E, A, bool>),
}

impl<E, A, T> Factor<E, A, T> {
    /// Weakens the factor to a larger environment.
    pub fn weaken<E2>(&self, r: &Thinning<E, E2>) -> Factor<E2, A, T> {
        match self {
            Factor::Zero => Factor::Zero,
            Factor::One => Factor::One,
            Factor::MinusOne => Factor::MinusOne,
            Factor::Times(e) => Factor::Times(e.weaken(r)),
            Factor::Over(e) => Factor::Over(e.weaken(r)),
            Factor::Where(c) => Factor::Where(c.weaken(r)),
        }
    }
    /// Applies the derivative to `d`; `None` for zero.
    pub fn apply(&self, t: FloatTy<T>, d: &Exp<E, A, T>) -> Option<Exp<E, A, T>> {
        let o = Floats(t);
        Some(match self {
            Factor::Zero => return None,
            Factor::One => d.clone(),
            Factor::MinusOne => o.neg(d),
            Factor::Times(e) => o.strong_mul(d, e),
            Factor::Over(e) => o.strong_div(d, e),
            Factor::Where(c) => Exp::cond(c, d, &o.c(0.0)),
        })
    }
}

/// d op(x) / dx.
pub fn num1<E, A, T>(op: Num1, t: FloatTy<T>, x: &Exp<E, A, T>) -> Factor<E, A, T> {
    match op {
        Num1::Neg => Factor::MinusOne,
        Num1::Abs => Factor::Times(Floats(t).num1(Num1::Signum, x)),
        Num1::Signum => Factor::Zero,
    }
}

/// d op(x) / dx, where `y` is the result.
pub fn float1<E, A, T>(op: Float1, t: FloatTy<T>, x: &Exp<E, A, T>, y: &Exp<E, A, T>) -> Factor<E, A, T> {
    use Float1::*;
    let o = Floats(t);
    let c = |v| o.c(v);
    let square = |e: &_| o.mul(e, e);
    let one_plus_square = |e: &_| o.add(&c(1.0), &square(e));
    let one_minus_square = |e: &_| o.sub(&c(1.0), &square(e));
    match op {
        Sin => Factor::Times(o.f(Cos, x)),
        Cos => Factor::Times(o.neg(&o.f(Sin, x))),
        Tan => Factor::Times(one_plus_square(y)),
        Asin => Factor::Over(o.f(Sqrt, &one_minus_square(x))),
        Acos => Factor::Over(o.neg(&o.f(Sqrt, &one_minus_square(x)))),
        Atan => Factor::Over(one_plus_square(x)),
        Sinh => Factor::Times(o.f(Cosh, x)),
        Cosh => Factor::Times(o.f(Sinh, x)),
        Tanh => Factor::Times(one_minus_square(y)),
        Asinh => Factor::Over(o.f(Sqrt, &one_plus_square(x))),
        Acosh => Factor::Over(o.f(Sqrt, &o.sub(&square(x), &c(1.0)))),
        Atanh => Factor::Over(one_minus_square(x)),
        Exp => Factor::Times(y.clone()),
        Exp2 => Factor::Times(o.mul(y, &c(std::f64::consts::LN_2))),
        ExpM1 => Factor::Times(o.add(y, &c(1.0))),
        Log => Factor::Over(x.clone()),
        Log2 => Factor::Over(o.mul(x, &c(std::f64::consts::LN_2))),
        Log10 => Factor::Over(o.mul(x, &c(std::f64::consts::LN_10))),
        Log1p => Factor::Over(o.add(x, &c(1.0))),
        Sqrt => Factor::Over(o.mul(y, &c(2.0))),
        Cbrt => Factor::Over(o.mul(&square(y), &c(3.0))),
        Recip => Factor::Times(o.neg(&square(y))),
        Erf => Factor::Times(gauss(o, x, std::f64::consts::FRAC_2_SQRT_PI)),
        Erfc => Factor::Times(gauss(o, x, -std::f64::consts::FRAC_2_SQRT_PI)),
        LogGamma => Factor::Times(o.f(Polygamma(0), x)),
        Polygamma(n) => Factor::Times(o.f(Polygamma(n.saturating_add(1)), x)),
        Floor | Ceil | Round | Trunc => Factor::Zero,
    }
}

/// `scale * exp(-x^2)`
fn gauss<E, A, T>(o: Floats<T>, x: &Exp<E, A, T>, scale: f64) -> Exp<E, A, T> {
    o.mul(&o.c(scale), &o.f(Float1::Exp, &o.neg(&o.mul(x, x))))
}

/// The two partial derivatives of `y = op(a, b)`.
pub fn num2<E, A, T>(
    op: Num2,
    t: FloatTy<T>,
    a: &Exp<E, A, T>,
    b: &Exp<E, A, T>,
    y: &Exp<E, A, T>,
) -> (Factor<E, A, T>, Factor<E, A, T>) {
    let o = Floats(t);
    match op {
        Num2::Add => (Factor::One, Factor::One),
        Num2::Sub => (Factor::One, Factor::MinusOne),
        Num2::Mul => (Factor::Times(b.clone()), Factor::Times(a.clone())),
        Num2::Div => (Factor::Over(b.clone()), Factor::Times(o.neg(&o.div(y, b)))),
        Num2::Rem => (Factor::One, Factor::Times(o.neg(&o.f(Float1::Trunc, &o.div(a, b))))),
        // Also correct if one argument is NaN and the result is the other one.
        Num2::Min | Num2::Max => {
            let first = o.cmp(Cmp::Eq, a, y);
            (Factor::Where(first.clone()), Factor::Where(not(&first)))
        }
    }
}

/// The two partial derivatives of `y = op(a, b)`.
pub fn float2<E, A, T>(
    op: Float2,
    t: FloatTy<T>,
    a: &Exp<E, A, T>,
    b: &Exp<E, A, T>,
    y: &Exp<E, A, T>,
) -> (Factor<E, A, T>, Factor<E, A, T>) {
    let o = Floats(t);
    let zero_where = |x: &Exp<E, A, T>, e: &Exp<E, A, T>| Exp::cond(&o.cmp(Cmp::Eq, x, &o.c(0.0)), &o.c(0.0), e);
    match op {
        // b a^(b-1): at a = 0 and b = 0 this is 0. Elsewhere the formula stays as it is, even for b = 0, because it has
        // a derivative with respect to b. a^b log a: at a = 0 this is 0.
        Float2::Pow => {
            let less = o.f2(Float2::Pow, a, &o.sub(b, &o.c(1.0)));
            let (da, db) = (o.mul(b, &less), o.mul(y, &o.f(Float1::Log, a)));
            (
                Factor::Times(Exp::cond(&o.cmp(Cmp::Eq, a, &o.c(0.0)), &zero_where(b, &da), &da)),
                Factor::Times(zero_where(a, &db)),
            )
        }
        Float2::Atan2 => {
            let r2 = o.add(&o.mul(a, a), &o.mul(b, b));
            (Factor::Times(o.div(b, &r2)), Factor::Times(o.neg(&o.div(a, &r2))))
        }
        Float2::Hypot => (Factor::Times(zero_where(y, &o.div(a, y))), Factor::Times(zero_where(y, &o.div(b, y)))),
        Float2::StrongMul => (Factor::Times(b.clone()), Factor::Times(a.clone())),
        Float2::StrongDiv => (Factor::Over(b.clone()), Factor::Times(o.neg(&o.strong_div(y, b)))),
    }
}
