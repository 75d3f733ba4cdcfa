//! The table of the derivatives of all primitive functions, for both modes (see the glossary of the book: local
//! derivative).
//!
//! A local derivative is a linear map between scalars of one type, and so it is its own transpose. Forward mode applies
//! it to the tangent of the argument, reverse mode to the adjoint of the result. Where a function has no derivative (at
//! a kink or a jump), the table chooses one, which is the same for both modes: `abs` has the derivative 0 at 0, and for
//! equal arguments `min` and `max` have the derivatives of their first argument.

use crate::builders::{Floats, and, not};
use accel_core::ast::*;
use accel_core::repr::op::{self, Cmp, Family, Float1, Float2, Num1, Num2};

/// A local derivative: multiplication by a factor. Special factors have their own variants.
///
/// NOTE [Strong zeros]: if the adjoint (in forward mode: the tangent) or the local derivative is exactly 0, the contribution is 0,
/// even if the other one is infinite or NaN. So what is not used has no derivative: `sum (skip 1 (map sqrt [0, 1]))` has the
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
    use op::Family::Polygamma;
    let o = Floats(t);
    let c = |v| o.c(v);
    let square = |e: &_| o.mul(e, e);
    let one_plus_square = |e: &_| o.add(&c(1.0), &square(e));
    match op {
        Sin => Factor::Times(o.f(Cos, x)),
        Cos => Factor::Times(o.neg(&o.f(Sin, x))),
        Tan => Factor::Times(one_plus_square(y)),
        Asin => Factor::Over(o.f(Sqrt, &one_minus_square(o, x))),
        Acos => Factor::Over(o.neg(&o.f(Sqrt, &one_minus_square(o, x)))),
        Atan => Factor::Times(recip_one_plus_square(o, x)),
        Sinh => Factor::Times(o.f(Cosh, x)),
        Cosh => Factor::Times(o.f(Sinh, x)),
        // 1 - y^2 vanishes where y is rounded to 1.
        Tanh => Factor::Times(square(&o.f(Sech, x))),
        Sech => Factor::Times(o.neg(&o.mul(y, &o.f(Tanh, x)))),
        Asinh => Factor::Over(finite(o, &o.f2(Float2::Hypot, x, &c(1.0)))),
        Acosh => Factor::Over(finite(o, &o.mul(&o.f(Sqrt, &o.sub(x, &c(1.0))), &o.f(Sqrt, &o.add(x, &c(1.0)))))),
        Atanh => Factor::Over(one_minus_square(o, x)),
        Exp => Factor::Times(y.clone()),
        Exp2 => Factor::Times(o.mul(y, &c(std::f64::consts::LN_2))),
        ExpM1 => Factor::Times(o.f(Exp, x)),
        Log => Factor::Over(finite(o, x)),
        Log2 => Factor::Times(o.div(&c(std::f64::consts::LOG2_E), &finite(o, x))),
        Log10 => Factor::Times(o.div(&c(std::f64::consts::LOG10_E), &finite(o, x))),
        Log1p => Factor::Over(o.add(&finite(o, x), &c(1.0))),
        Sqrt => Factor::Over(o.mul(&finite(o, y), &c(2.0))),
        Cbrt => Factor::Over(o.mul(&square(&finite(o, y)), &c(3.0))),
        Recip => Factor::Times(o.neg(&square(y))),
        Erf => Factor::Times(gauss(o, std::f64::consts::FRAC_2_SQRT_PI, -1.0, x)),
        Erfc => Factor::Times(gauss(o, -std::f64::consts::FRAC_2_SQRT_PI, -1.0, x)),
        ErfInv => Factor::Times(erfinv_derivative(o, x, y)),
        NormalCdf => Factor::Times(gauss(o, 1.0 / (2.0 * std::f64::consts::PI).sqrt(), -0.5, x)),
        LogGamma => Factor::Times(o.f(Family(Polygamma, 0), x)),
        Family(family, n) => Factor::Times(family_derivative(o, family, n, x)),
        Detach | Floor | Ceil | Round | Trunc => Factor::Zero,
    }
}

/// The derivative of the function of order `n`.
fn family_derivative<E, A, T>(o: Floats<T>, family: Family, n: u8, x: &Exp<E, A, T>) -> Exp<E, A, T> {
    let of = |n| o.f(Float1::Family(family, n), x);
    let next = n.saturating_add(1);
    match (family, n) {
        (Family::Polygamma, _) => of(next),
        (Family::BesselJ, 0) => o.neg(&of(1)),
        (Family::BesselJ, _) => o.mul(&o.c(0.5), &o.sub(&of(n - 1), &of(next))),
        // The functions from order 2 on do not cancel, other than the difference of those of order 0 and 1.
        (Family::BesselI, 1) => o.sub(&of(3), &of(2)),
        (Family::BesselI, _) => o.neg(&o.mul(&o.num1(Num1::Signum, x), &of(next.max(2)))),
    }
}

/// `x`, and NaN where `x` is infinite.
///
/// NOTE [Infinite arguments]: logarithms and roots of infinity are infinite, and their local derivatives would be `1 / ∞ = 0`. But an
/// infinite number is most often one that has overflowed, as `1 + exp(x)` does at 1000, and then its own derivative is infinite,
/// too. This zero, which arithmetic produced, is not the zero of what is not used (NOTE [Strong zeros]): `ln(1 + exp(x))` would have the
/// derivative `0 ⊗ ∞ = 0` instead of 1. So the local derivative of a function that is infinite at infinity is NaN there. NaN
/// stays NaN in every product except for those with a strong zero, so what is not used still has the derivative 0. Both modes have the
/// same results, because NaN does not depend on the order of the factors.
///
/// Functions that are finite at infinity, such as `1 / x` and `atan(x)`, are constant there as far as numbers tell, and
/// have the derivative 0.
fn finite<E, A, T>(o: Floats<T>, x: &Exp<E, A, T>) -> Exp<E, A, T> {
    o.add(x, &o.mul(x, &o.c(0.0)))
}

/// `1 - x^2`; near 1 and -1 as a product without cancellation. Near 0, its derivative would cancel.
fn one_minus_square<E, A, T>(o: Floats<T>, x: &Exp<E, A, T>) -> Exp<E, A, T> {
    let one = o.c(1.0);
    let is_small = o.cmp(Cmp::Lt, &o.num1(Num1::Abs, x), &o.c(0.5));
    Exp::cond(&is_small, &o.sub(&one, &o.mul(x, x)), &o.mul(&o.sub(&one, x), &o.add(&one, x)))
}

/// `1 / (1 + x^2)`; where the square may overflow, it is `1 / x^2`.
fn recip_one_plus_square<E, A, T>(o: Floats<T>, x: &Exp<E, A, T>) -> Exp<E, A, T> {
    let is_small = o.cmp(Cmp::Lt, &o.num1(Num1::Abs, x), &o.c(2f64.powi(30)));
    let recip = |e: &_| o.f(Float1::Recip, e);
    let inverse = recip(x);
    Exp::cond(&is_small, &recip(&o.add(&o.c(1.0), &o.mul(x, x))), &o.mul(&inverse, &inverse))
}

/// `scale * exp(k x^2)`. The rounding error of `x^2` would be multiplied by the exponent. So the square is split: with `h` near `x`
/// and of few digits, `h^2` is exact, and `x^2 = h^2 + (x - h) (x + h)`. Although `h` is constant between its jumps, the derivative is
/// right.
fn gauss<E, A, T>(o: Floats<T>, scale: f64, k: f64, x: &Exp<E, A, T>) -> Exp<E, A, T> {
    let (c, exp) = (|v| o.c(v), |e: &_| o.f(Float1::Exp, &o.mul(&o.c(k), e)));
    let is_small = o.cmp(Cmp::Lt, &o.num1(Num1::Abs, x), &c(64.0));
    let sixteenths = o.f(Float1::Trunc, &o.mul(x, &c(16.0)));
    let h = Exp::cond(&is_small, &o.mul(&sixteenths, &c(1.0 / 16.0)), &c(0.0));
    let rest = o.mul(&o.sub(x, &h), &o.add(x, &h));
    o.mul(&c(scale), &o.mul(&exp(&o.mul(&h, &h)), &exp(&rest)))
}

/// The derivative of `y = erfinv(x)`, `sqrt(pi) / 2 exp(y^2)`. Near 1 and -1, the rounding error of `y` would be multiplied by `y^2`. So
/// it is computed, and the derivative of the exponential corrects it.
fn erfinv_derivative<E, A, T>(o: Floats<T>, x: &Exp<E, A, T>, y: &Exp<E, A, T>) -> Exp<E, A, T> {
    let (c, abs) = (|v| o.c(v), |e: &_| o.num1(Num1::Abs, e));
    let less = |a: &_, b: f64| o.cmp(Cmp::Lt, a, &o.c(b));
    let g = gauss(o, 1.0 / std::f64::consts::FRAC_2_SQRT_PI, 1.0, y);
    let from_one = o.sub(&o.f(Float1::Erfc, &abs(y)), &o.sub(&c(1.0), &abs(x)));
    let from_one = Exp::cond(&less(x, 0.0), &o.neg(&from_one), &from_one);
    let difference = Exp::cond(&less(&abs(x), 0.5), &o.sub(x, &o.f(Float1::Erf, y)), &from_one);
    let correction = o.mul(&o.mul(&c(2.0), y), &o.mul(&g, &difference));
    Exp::cond(&less(&abs(x), 1.0), &o.mul(&g, &o.add(&c(1.0), &correction)), &g)
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
            // Of a root of infinity, as for `sqrt`: NOTE [Infinite arguments].
            let is = |x: &Exp<E, A, T>, value: f64| o.cmp(Cmp::Eq, x, &o.c(value));
            let is_root = and(&is(&o.num1(Num1::Abs, y), f64::INFINITY), &is(&less, 0.0));
            let less = Exp::cond(&is_root, &o.mul(y, &less), &less);
            let (da, db) = (o.mul(b, &less), o.mul(y, &o.f(Float1::Log, a)));
            (
                Factor::Times(Exp::cond(&o.cmp(Cmp::Eq, a, &o.c(0.0)), &zero_where(b, &da), &da)),
                Factor::Times(zero_where(a, &db)),
            )
        }
        Float2::Atan2 => {
            // b / (a^2 + b^2), without squares, which overflow or vanish.
            let r = o.f2(Float2::Hypot, a, b);
            let of = |x| zero_where(&r, &o.div(&o.div(x, &r), &r));
            (Factor::Times(of(b)), Factor::Times(o.neg(&of(a))))
        }
        Float2::Hypot => {
            // A length that is subnormal has few digits, and that of a multiple has all.
            let multiple = |x: &Exp<E, A, T>| o.mul(x, &o.c(2f64.powi(100)));
            let r = o.f2(Float2::Hypot, &multiple(a), &multiple(b));
            let is_tiny = o.cmp(Cmp::Lt, y, &o.c(1e-30));
            let of = |x: &Exp<E, A, T>| {
                zero_where(y, &Exp::cond(&is_tiny, &o.div(&multiple(x), &r), &o.div(x, &finite(o, y))))
            };
            (Factor::Times(of(a)), Factor::Times(of(b)))
        }
        Float2::StrongMul => (Factor::Times(b.clone()), Factor::Times(a.clone())),
        Float2::StrongDiv => (Factor::Over(b.clone()), Factor::Times(o.neg(&o.strong_div(y, b)))),
        Float2::Along => (Factor::Times(b.clone()), Factor::Zero),
    }
}
