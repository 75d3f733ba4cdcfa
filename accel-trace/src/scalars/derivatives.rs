//! The derivatives of primitive functions as numbers. They are written independently of `accel-ad`, so that the traces of
//! scalars can check it. Kinks have the derivatives that `accel-ad` states: 0 for `abs` at 0, the first of equal arguments
//! for `min` and `max`.

use accel_core::repr::Scalar;
use accel_core::repr::op::{Family, Float1, Float2, Num1, Num2, Op1, Op2};

/// d op(x) / dx, where `y` is the result.
pub fn one(op: Op1, x: f64, y: f64) -> f64 {
    match op {
        Op1::Num(Num1::Neg) => -1.0,
        Op1::Num(Num1::Abs) => {
            if x == 0.0 {
                0.0
            } else {
                x.signum()
            }
        }
        Op1::Num(Num1::Signum) => 0.0,
        Op1::Float(f) => float(f, x, y),
        // From one floating-point type to another.
        Op1::Cast(_) => 1.0,
        Op1::Test(_) | Op1::Int(_) | Op1::Not | Op1::Bits => 0.0,
    }
}

fn float(f: Float1, x: f64, y: f64) -> f64 {
    use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10, PI};
    match f {
        Float1::Sin => x.cos(),
        Float1::Cos => -x.sin(),
        Float1::Tan => x.cos().powi(-2),
        Float1::Asin => ((1.0 - x) * (1.0 + x)).sqrt().recip(),
        Float1::Acos => -((1.0 - x) * (1.0 + x)).sqrt().recip(),
        Float1::Atan => 1f64.hypot(x).recip().powi(2),
        Float1::Sinh => x.cosh(),
        Float1::Cosh => x.sinh(),
        Float1::Tanh => x.cosh().recip().powi(2),
        Float1::Sech => -y * x.tanh(),
        Float1::Asinh => 1f64.hypot(finite(x)).recip(),
        Float1::Acosh => ((finite(x) - 1.0).sqrt() * (x + 1.0).sqrt()).recip(),
        Float1::Atanh => ((1.0 - x) * (1.0 + x)).recip(),
        Float1::Exp => y,
        Float1::Exp2 => y * LN_2,
        Float1::ExpM1 => x.exp(),
        Float1::Log => finite(x).recip(),
        Float1::Log2 => finite(x).recip() / LN_2,
        Float1::Log10 => finite(x).recip() / LN_10,
        Float1::Log1p => (1.0 + finite(x)).recip(),
        Float1::Sqrt => 0.5 / finite(y),
        Float1::Cbrt => (3.0 * y * finite(y)).recip(),
        Float1::Recip => -(x * x).recip(),
        Float1::Erf => FRAC_2_SQRT_PI * gauss(x, 1.0),
        Float1::Erfc => -FRAC_2_SQRT_PI * gauss(x, 1.0),
        Float1::ErfInv => (y * y).exp() / FRAC_2_SQRT_PI,
        Float1::NormalCdf => gauss(x, 0.5) / (2.0 * PI).sqrt(),
        Float1::LogGamma => of_family(Family::Polygamma, 0, x),
        Float1::Family(family, n) => {
            let of = |n| of_family(family, n, x);
            match (family, n) {
                (Family::Polygamma, _) => of(n.saturating_add(1)),
                (Family::BesselJ, 0) => -of(1),
                (Family::BesselJ, _) => (of(n - 1) - of(n.saturating_add(1))) / 2.0,
                (Family::BesselI, 1) => of(3) - of(2),
                (Family::BesselI, _) if x == 0.0 => 0.0,
                (Family::BesselI, _) => -of(n.saturating_add(1).max(2)).copysign(x),
            }
        }
        Float1::Detach | Float1::Floor | Float1::Ceil | Float1::Round | Float1::Trunc => 0.0,
    }
}

/// The number, and NaN if it is infinite: NOTE [Infinite arguments] in `accel-ad`.
fn finite(x: f64) -> f64 {
    if x.is_infinite() { f64::NAN } else { x }
}

/// exp(-k x^2), with the rounding error of the square.
fn gauss(x: f64, k: f64) -> f64 {
    let square = x * x;
    let error = if square.is_finite() { x.mul_add(x, -square) } else { 0.0 };
    (-k * square).exp() * (-k * error).exp()
}

fn of_family(family: Family, n: u8, x: f64) -> f64 {
    match Op1::Float(Float1::Family(family, n)).eval(Scalar::F64(x)) {
        Ok(Scalar::F64(y)) => y,
        _ => f64::NAN,
    }
}

/// The partial derivatives of `y = op(a, b)`.
pub fn two(op: Op2, a: f64, b: f64, y: f64) -> (f64, f64) {
    match op {
        Op2::Num(Num2::Add) => (1.0, 1.0),
        Op2::Num(Num2::Sub) => (1.0, -1.0),
        Op2::Num(Num2::Mul) => (b, a),
        Op2::Num(Num2::Div) => (b.recip(), -a / (b * b)),
        Op2::Num(Num2::Rem) => (1.0, -(a / b).trunc()),
        Op2::Num(Num2::Min | Num2::Max) => {
            if a == y {
                (1.0, 0.0)
            } else {
                (0.0, 1.0)
            }
        }
        Op2::Float(Float2::Pow) => {
            let less = a.powf(b - 1.0);
            let by_a = match () {
                () if b == 0.0 && a == 0.0 => 0.0,
                () if less == 0.0 => b * less * if y.is_infinite() { f64::NAN } else { 1.0 },
                () => b * less,
            };
            (by_a, if a == 0.0 { 0.0 } else { y * a.ln() })
        }
        Op2::Float(Float2::Atan2) => {
            let r = a.hypot(b);
            if r == 0.0 { (0.0, 0.0) } else { (b / r / r, -a / r / r) }
        }
        Op2::Float(Float2::Hypot) => {
            if y == 0.0 {
                (0.0, 0.0)
            } else if y < 1e-30 {
                let (a, b) = (a * 2f64.powi(100), b * 2f64.powi(100));
                (a / a.hypot(b), b / a.hypot(b))
            } else {
                (a / finite(y), b / finite(y))
            }
        }
        Op2::Float(Float2::Along) => (b, 0.0),
        Op2::Float(Float2::StrongMul) => (b, a),
        Op2::Float(Float2::StrongDiv) => (b.recip(), -(y / b)),
        Op2::Int(_) | Op2::Cmp(_) | Op2::Logic(_) => (0.0, 0.0),
    }
}
