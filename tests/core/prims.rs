//! Compares every primitive function on every type that it accepts with plain Rust (integers: with arithmetic in
//! `i128`).

use accel_core::error::Error;
use accel_core::repr::op::*;
use accel_core::repr::scalar::ScalarElt;
use accel_core::repr::{Scalar, ScalarType};
use quickcheck::quickcheck;

/// Equal bits, or two NaNs (IEEE leaves the payload open).
fn same(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::F32(x), Scalar::F32(y)) if x.is_nan() => y.is_nan(),
        (Scalar::F64(x), Scalar::F64(y)) if x.is_nan() => y.is_nan(),
        _ => a == b,
    }
}

#[track_caller]
fn check1<A: ScalarElt, R: ScalarElt>(op: Op1, x: A, expected: R) {
    let found = op.eval(x.to_scalar()).unwrap();
    let ok = same(found, expected.to_scalar());
    assert!(ok, "{op} {x:?}: found {found:?}, expected {expected:?}");
}

#[track_caller]
fn check2<A: ScalarElt, R: ScalarElt>(op: Op2, x: A, y: A, expected: R) {
    let found = op.eval(x.to_scalar(), y.to_scalar()).unwrap();
    let ok = same(found, expected.to_scalar());
    assert!(ok, "{x:?} {op} {y:?}: found {found:?}, expected {expected:?}");
}

#[track_caller]
fn check_comparisons<A: ScalarElt + PartialOrd>(x: A, y: A) {
    let order = x.partial_cmp(&y);
    check2(Op2::Cmp(Cmp::Lt), x, y, order.is_some_and(|o| o.is_lt()));
    check2(Op2::Cmp(Cmp::Le), x, y, order.is_some_and(|o| o.is_le()));
    check2(Op2::Cmp(Cmp::Gt), x, y, order.is_some_and(|o| o.is_gt()));
    check2(Op2::Cmp(Cmp::Ge), x, y, order.is_some_and(|o| o.is_ge()));
    check2(Op2::Cmp(Cmp::Eq), x, y, order.is_some_and(|o| o.is_eq()));
    check2(Op2::Cmp(Cmp::Ne), x, y, !order.is_some_and(|o| o.is_eq()));
}

macro_rules! integer_tests {
    ($($module:ident $int:ty),*) => {$(mod $module {
        use super::*;

        const BITS: i128 = <$int>::BITS as i128;

        fn unary(x: $int) {
            let wide = x as i128;
            check1(Op1::Num(Num1::Neg), x, -wide as $int);
            check1(Op1::Num(Num1::Abs), x, wide.unsigned_abs() as $int);
            check1(Op1::Num(Num1::Signum), x, wide.signum() as $int);
            check1(Op1::Int(Int1::BitNot), x, (-1 - wide) as $int);
            let digits = format!("{x:0width$b}", width = BITS as usize);
            assert_eq!(digits.len(), BITS as usize);
            let ones = digits.matches('1').count();
            let leading = digits.find('1').unwrap_or(digits.len());
            let trailing = digits.rfind('1').map_or(digits.len(), |i| digits.len() - 1 - i);
            check1(Op1::Int(Int1::CountOnes), x, ones as $int);
            check1(Op1::Int(Int1::LeadingZeros), x, leading as $int);
            check1(Op1::Int(Int1::TrailingZeros), x, trailing as $int);
        }

        fn binary(x: $int, y: $int) {
            let (a, b) = (x as i128, y as i128);
            check2(Op2::Num(Num2::Add), x, y, (a + b) as $int);
            check2(Op2::Num(Num2::Sub), x, y, (a - b) as $int);
            // Only the product of two numbers near the top of u64 wraps in i128, without harm to its low half.
            check2(Op2::Num(Num2::Mul), x, y, a.wrapping_mul(b) as $int);
            check2(Op2::Num(Num2::Min), x, y, a.min(b) as $int);
            check2(Op2::Num(Num2::Max), x, y, a.max(b) as $int);
            check2(Op2::Int(Int2::And), x, y, (a & b) as $int);
            check2(Op2::Int(Int2::Or), x, y, (a | b) as $int);
            check2(Op2::Int(Int2::Xor), x, y, (a ^ b) as $int);
            let power = 1 << b.rem_euclid(BITS);
            check2(Op2::Int(Int2::Shl), x, y, a.wrapping_mul(power) as $int);
            check2(Op2::Int(Int2::Shr), x, y, a.div_euclid(power) as $int);
            let divisions = [
                Op2::Num(Num2::Div),
                Op2::Num(Num2::Rem),
                Op2::Int(Int2::DivEuclid),
                Op2::Int(Int2::RemEuclid),
            ];
            if b == 0 {
                for op in divisions {
                    match op.eval(x.to_scalar(), y.to_scalar()) {
                        Err(Error::DivisionByZero { op: name, .. }) => assert_eq!(name, op.name()),
                        other => panic!("{x} {op} 0: {other:?}"),
                    }
                }
            } else {
                let expected = [a / b, a % b, a.div_euclid(b), a.rem_euclid(b)];
                for (op, e) in divisions.into_iter().zip(expected) {
                    check2(op, x, y, e as $int);
                }
            }
            check_comparisons(x, y);
        }

        fn casts(x: $int) {
            let wide = x as i128;
            check1(Op1::Cast(ScalarType::Bool), x, wide != 0);
            check1(Op1::Cast(ScalarType::I8), x, wide as i8);
            check1(Op1::Cast(ScalarType::I16), x, wide as i16);
            check1(Op1::Cast(ScalarType::I32), x, wide as i32);
            check1(Op1::Cast(ScalarType::I64), x, wide as i64);
            check1(Op1::Cast(ScalarType::U8), x, wide as u8);
            check1(Op1::Cast(ScalarType::U16), x, wide as u16);
            check1(Op1::Cast(ScalarType::U32), x, wide as u32);
            check1(Op1::Cast(ScalarType::U64), x, wide as u64);
            // Reading the decimal digits rounds to nearest, ties to even, too.
            let digits = x.to_string();
            check1(Op1::Cast(ScalarType::F32), x, digits.parse::<f32>().unwrap());
            check1(Op1::Cast(ScalarType::F64), x, digits.parse::<f64>().unwrap());
        }

        #[test]
        fn edge_cases() {
            let mut edges: Vec<$int> = vec![<$int>::MIN, <$int>::MAX, <$int>::MAX / 2, <$int>::MIN / 2];
            // Small numbers, the shift amounts about the width, and their negatives (large ones, if unsigned).
            edges.extend((-3..=3).chain([BITS - 1, BITS, BITS + 1, -BITS]).map(|i| i as $int));
            for &x in &edges {
                unary(x);
                casts(x);
                for &y in &edges {
                    binary(x, y);
                }
            }
        }

        quickcheck! {
            fn random(x: $int, y: $int) -> bool {
                unary(x);
                casts(x);
                binary(x, y);
                true
            }
        }
    })*};
}
integer_tests!(int8 i8, int16 i16, int32 i32, int64 i64, uint8 u8, uint16 u16, uint32 u32, uint64 u64);

macro_rules! check_saturating {
    ($x:expr, $wide:expr, $($t:ident $int:ty),*) => {$({
        let expected = $wide.clamp(<$int>::MIN as i128, <$int>::MAX as i128) as $int;
        check1(Op1::Cast(ScalarType::$t), $x, expected);
    })*};
}

macro_rules! float_tests {
    ($($module:ident $float:ident),*) => {$(mod $module {
        use super::*;

        const UNARY: &[(Float1, fn($float) -> $float)] = &[
            (Float1::Sin, $float::sin),
            (Float1::Cos, $float::cos),
            (Float1::Tan, $float::tan),
            (Float1::Asin, $float::asin),
            (Float1::Acos, $float::acos),
            (Float1::Atan, $float::atan),
            (Float1::Sinh, $float::sinh),
            (Float1::Cosh, $float::cosh),
            (Float1::Tanh, $float::tanh),
            (Float1::Exp, $float::exp),
            (Float1::Exp2, $float::exp2),
            (Float1::ExpM1, $float::exp_m1),
            (Float1::Log, $float::ln),
            (Float1::Log2, $float::log2),
            (Float1::Log10, $float::log10),
            (Float1::Log1p, $float::ln_1p),
            (Float1::Sqrt, $float::sqrt),
            (Float1::Cbrt, $float::cbrt),
            (Float1::Recip, |x| 1.0 / x),
            (Float1::Floor, $float::floor),
            (Float1::Ceil, $float::ceil),
            (Float1::Round, $float::round),
            (Float1::Trunc, $float::trunc),
        ];

        fn unary(x: $float) {
            for &(op, f) in UNARY {
                check1(Op1::Float(op), x, f(x));
            }
            inverse_hyperbolic(x);
            check1(Op1::Num(Num1::Neg), x, -x);
            check1(Op1::Num(Num1::Abs), x, if x.is_sign_negative() { -x } else { x });
            let sign = if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x };
            check1(Op1::Num(Num1::Signum), x, sign);
            let infinite = x == $float::INFINITY || x == -$float::INFINITY;
            let nan = x.partial_cmp(&x).is_none();
            check1(Op1::Test(FloatTest::IsNan), x, nan);
            check1(Op1::Test(FloatTest::IsInfinite), x, infinite);
            check1(Op1::Test(FloatTest::IsFinite), x, !nan && !infinite);
        }

        /// Hyperbolic functions agree with Rust's to a few last places. (They are not Rust's: `asinh` and `acosh` overflow there for
        /// large numbers, where `asinh x = ln 2x`, and `atanh` loses digits near -1.)
        fn inverse_hyperbolic(x: $float) {
            let large = x.abs() > 1.0 / $float::EPSILON;
            let log_of_double = x.abs().ln() + (2.0 as $float).ln();
            let asinh = if large { log_of_double.copysign(x) } else { x.asinh() };
            let acosh = if large && x > 0.0 { log_of_double } else { x.acosh() };
            let atanh = x.abs().atanh().copysign(x);
            // The hyperbolic cosine overflows before its inverse vanishes.
            let sech = if x.abs() < 50.0 { 1.0 / x.cosh() } else { 2.0 * (-x.abs()).exp() };
            let all = [
                (Float1::Asinh, asinh), (Float1::Acosh, acosh), (Float1::Atanh, atanh), (Float1::Sech, sech),
            ];
            for (op, expected) in all {
                let found = Op1::Float(op).eval(x.to_scalar()).unwrap();
                let found = $float::from_scalar(found).unwrap();
                let close = (found - expected).abs() <= 4.0 * $float::EPSILON * expected.abs();
                let same = found == expected || found.is_nan() && expected.is_nan();
                assert!(close || same, "{op:?} {x}: found {found}, expected {expected}");
            }
        }

        fn binary(x: $float, y: $float) {
            check2(Op2::Num(Num2::Add), x, y, x + y);
            check2(Op2::Num(Num2::Sub), x, y, x - y);
            check2(Op2::Num(Num2::Mul), x, y, x * y);
            check2(Op2::Num(Num2::Div), x, y, x / y);
            check2(Op2::Num(Num2::Rem), x, y, x % y);
            // Rust's min and max leave open which of two equal zeros they return: here it is the first.
            check2(Op2::Num(Num2::Min), x, y, if x == y { x } else { x.min(y) });
            check2(Op2::Num(Num2::Max), x, y, if x == y { x } else { x.max(y) });
            check2(Op2::Float(Float2::Pow), x, y, x.powf(y));
            check2(Op2::Float(Float2::Atan2), x, y, x.atan2(y));
            check2(Op2::Float(Float2::Hypot), x, y, x.hypot(y));
            check2(Op2::Float(Float2::StrongMul), x, y, if x == 0.0 || y == 0.0 { 0.0 } else { x * y });
            check2(Op2::Float(Float2::StrongDiv), x, y, if x == 0.0 { 0.0 } else { x / y });
            check_comparisons(x, y);
        }

        fn casts(x: $float) {
            // Through i128, which holds every target's range: NaN is 0, the rest truncates and saturates.
            let wide = x as i128;
            check_saturating!(x, wide, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
            check1(Op1::Cast(ScalarType::Bool), x, !(x == 0.0));
            check1(Op1::Cast(ScalarType::F32), x, x as f32);
            check1(Op1::Cast(ScalarType::F64), x, x as f64);
            check1(Op1::Bits, x, x.to_bits());
            check1(Op1::Bits, x.to_bits(), x);
        }

        #[test]
        fn edge_cases() {
            let positive = [
                0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 1e-30, 127.5, 128.0, 255.9, 256.0, 2147483648.0, 1e19, 1e20,
                $float::EPSILON, $float::MIN_POSITIVE, $float::MIN_POSITIVE / 4.0, $float::MAX, $float::INFINITY,
                $float::NAN,
            ];
            let edges: Vec<$float> = positive.into_iter().flat_map(|x| [x, -x]).collect();
            for &x in &edges {
                unary(x);
                casts(x);
                for &y in &edges {
                    binary(x, y);
                }
            }
        }

        quickcheck! {
            // Numbers of any magnitude, and of a moderate one.
            fn random(any: ($float, $float), moderate: (i8, i8)) -> bool {
                let moderate = (moderate.0 as $float / 50.0, moderate.1 as $float / 50.0);
                for (x, y) in [any, moderate] {
                    unary(x);
                    casts(x);
                    binary(x, y);
                }
                true
            }
        }

        #[test]
        fn min_and_max_of_nan_and_zeros() {
            for (op, x) in [(Num2::Min, 3.0), (Num2::Max, -$float::INFINITY)] {
                check2(Op2::Num(op), $float::NAN, x, x);
                check2(Op2::Num(op), x, $float::NAN, x);
                let zero: $float = 0.0;
                check2(Op2::Num(op), zero, -zero, zero);
                check2(Op2::Num(op), -zero, zero, -zero);
            }
        }

        #[test]
        fn special_functions() {
            // Values: Abramowitz and Stegun, tables 7.1, 6.1 and 6.2; trigamma(1) is pi^2 / 6.
            let close = |op, x: $float, expected: f64| {
                let found = Op1::Float(op).eval(x.to_scalar()).unwrap();
                let found = $float::from_scalar(found).unwrap() as f64;
                assert!((found - expected).abs() < 1e-6, "{op:?} {x}: found {found}, expected {expected}");
            };
            close(Float1::Erf, 0.5, 0.5204998778);
            close(Float1::Erfc, 0.5, 0.4795001222);
            close(Float1::LogGamma, 1.5, -0.1207822376);
            close(Float1::LogGamma, 5.0, 24f64.ln());
            close(Float1::Family(Family::Polygamma, 0), 1.0, -0.5772156649);
            close(Float1::Family(Family::Polygamma, 0), 1.5, 0.0364899740);
            close(Float1::Family(Family::Polygamma, 1), 1.0, std::f64::consts::PI.powi(2) / 6.0);
            close(Float1::Family(Family::Polygamma, 2), 1.0, -2.4041138063);
        }
    })*};
}
float_tests!(single f32, double f64);

#[test]
fn booleans() {
    for x in [false, true] {
        check1(Op1::Not, x, !x);
        check1(Op1::Cast(ScalarType::Bool), x, x);
        for t in ScalarType::ALL {
            let found = Op1::Cast(t).eval(Scalar::Bool(x)).unwrap();
            assert_eq!(found, if x { t.one() } else { t.zero() });
        }
        for y in [false, true] {
            check2(Op2::Logic(Logic::And), x, y, x && y);
            check2(Op2::Logic(Logic::Or), x, y, x || y);
            check_comparisons(x, y);
        }
    }
}

/// Every function of one argument, and a polygamma function without a name of its own.
fn all_op1() -> impl Iterator<Item = Op1> {
    Op1::all().chain([Op1::Float(Float1::Family(Family::Polygamma, 2))])
}

#[test]
fn eval_is_defined_exactly_where_the_type_says() {
    let internal = |e| matches!(e, Error::Internal(_));
    for t in ScalarType::ALL {
        for op in all_op1() {
            match (op.result(t), op.eval(t.one())) {
                (Some(r), Ok(x)) => assert_eq!(x.ty(), r, "{op} on {t}"),
                (None, Err(e)) => assert!(internal(e), "{op} on {t}"),
                other => panic!("{op} on {t}: {other:?}"),
            }
        }
        for op in Op2::all() {
            match (op.result(t), op.eval(t.one(), t.one())) {
                (Some(r), Ok(x)) => assert_eq!(x.ty(), r, "{op} on {t}"),
                (None, Err(e)) => assert!(internal(e), "{op} on {t}"),
                other => panic!("{op} on {t}: {other:?}"),
            }
            for u in ScalarType::ALL.into_iter().filter(|u| *u != t) {
                let mixed = op.eval(t.one(), u.one());
                assert!(mixed.is_err_and(internal), "{op} on {t} and {u}");
            }
        }
    }
}

#[test]
fn names_are_distinct_and_readable() {
    let mut names: Vec<String> = all_op1().map(|op| op.to_string()).collect();
    names.extend(Op2::all().map(|op| op.to_string()));
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    assert_eq!(Op1::Cast(ScalarType::F64).name(), "as f64");
    assert_eq!(Op1::Float(Float1::Sin).to_string(), "sin");
    let third = Op1::Float(Float1::Family(Family::Polygamma, 3));
    assert_eq!(third.to_string(), "polygamma(3)");
    assert_eq!(Op2::Num(Num2::Add).name(), "+");
}

#[test]
fn constants_of_each_type() {
    assert_eq!(ScalarType::I16.zero(), Scalar::I16(0));
    assert_eq!(ScalarType::U64.one(), Scalar::U64(1));
    assert_eq!(ScalarType::F32.from_f64(0.1), Scalar::F32(0.1));
    assert_eq!(ScalarType::U8.from_f64(300.7), Scalar::U8(255));
    assert_eq!(ScalarType::I64.least(), Scalar::I64(i64::MIN));
    assert_eq!(ScalarType::U64.greatest(), Scalar::U64(u64::MAX));
    assert_eq!(ScalarType::F32.least(), Scalar::F32(f32::NEG_INFINITY));
    for t in ScalarType::ALL {
        let (least, greatest) = (t.least(), t.greatest());
        for x in [t.zero(), t.one(), least, greatest] {
            assert_eq!(x.ty(), t);
            if t.is_num() {
                assert_eq!(Op2::Num(Num2::Max).eval(least, x).unwrap(), x, "{t}");
                assert_eq!(Op2::Num(Num2::Min).eval(greatest, x).unwrap(), x, "{t}");
            }
        }
    }
}
