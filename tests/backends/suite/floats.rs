//! The primitive functions of floats, compared with Rust's own, or with known values if Rust has none.

use super::check::Suite;
use super::numbers::{comparisons, one, one_near, two, two_near};
use accel::prelude::*;

pub fn all(t: &Suite) {
    floats!(t; f32 1e-5, f64 1e-13);
    special::<f64>(t, 1e-13);
    special::<f32>(t, 1e-5);
    generic_numbers(t);
}

/// Arithmetic and rounding are exact. The results of library functions may differ between backends in the last places.
macro_rules! floats {
    ($t:expr; $($ty:ident $tolerance:literal),*) => { $({
        let t = $t;
        let odd = &[<$ty>::NAN, <$ty>::INFINITY, <$ty>::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-20, 1e20];
        two(t, odd, |x, y| x + y, |x, y| Some(x + y));
        two(t, odd, |x, y| x - y, |x, y| Some(x - y));
        two(t, odd, |x, y| x * y, |x, y| Some(x * y));
        two(t, odd, |x, y| x / y, |x, y| Some(x / y));
        two(t, odd, |x, y| x % y, |x, y| Some(x % y));
        // The minimum and the maximum of NaN and a number are the number.
        two(t, odd, |x, y| x.min(y), |x, y| Some(x.min(y)));
        two(t, odd, |x, y| x.max(y), |x, y| Some(x.max(y)));
        comparisons(t, odd);
        one(t, odd, |x| -x, |x| -x);
        one(t, odd, |x| x.abs(), |x| x.abs());
        one(t, odd, |x| x.signum(), |x| if x == 0.0 { x } else { x.signum() });
        one(t, odd, |x| x.recip(), |x| 1.0 / x);
        one(t, odd, |x| x.is_nan(), |x| x.is_nan());
        one(t, odd, |x| x.is_infinite(), |x| x.is_infinite());
        one(t, odd, |x| x.is_finite(), |x| x.is_finite());
        one(t, odd, |x| 2.0 * x + 1.0 - (3.0 - x) / 4.0, |x| 2.0 * x + 1.0 - (3.0 - x) / 4.0);

        let halves = &[0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49, -0.49, 0.0, 7.0, -7.0, 1e10, -1e10, <$ty>::INFINITY, <$ty>::NAN];
        one(t, halves, |x| x.floor(), |x| x.floor());
        one(t, halves, |x| x.ceil(), |x| x.ceil());
        one(t, halves, |x| x.round(), |x| x.round());
        one(t, halves, |x| x.trunc(), |x| x.trunc());

        let plain = &[-9.0, -2.0, -1.0, -0.7, -0.1, 0.0, 1e-5, 0.3, 0.9, 1.0, 1.1, 2.0, 3.7, 20.0, <$ty>::NAN];
        transcendental!(t, $tolerance, plain;
            sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp exp2 exp_m1 ln log2 log10 ln_1p sqrt cbrt);
        two_near(t, $tolerance, plain, |x, y| x.powf(y), |x, y| Some(x.powf(y)));
        two_near(t, $tolerance, plain, |x, y| x.pow(y), |x, y| Some(x.powf(y)));
        two_near(t, $tolerance, plain, |x, y| x.atan2(y), |x, y| Some(x.atan2(y)));
        two_near(t, $tolerance, plain, |x, y| x.hypot(y), |x, y| Some(x.hypot(y)));
        for n in [0, 1, 2, 3, 7, 10, -1, -2, -5] {
            one_near(t, $tolerance, plain, |x| x.powi(n), |x| x.powi(n));
        }
    })* };
}
use floats;

macro_rules! transcendental {
    ($t:expr, $tolerance:literal, $xs:expr; $($name:ident)*) => { $(
        one_near($t, $tolerance, $xs, |x| x.$name(), |x| x.$name());
    )* };
}
use transcendental;

/// Values from tables: DLMF, and Abramowitz and Stegun.
fn special<T: Floating>(t: &Suite, tolerance: f64) {
    let pi = std::f64::consts::PI;
    type Table<'a> = &'a [(f64, f64)];
    let check = |f: fn(Exp<T>) -> Exp<T>, table: Table| {
        let (xs, ys): (Vec<T>, Vec<T>) = table.iter().map(|(x, y)| (T::from_f64(*x), T::from_f64(*y))).unzip();
        t.near(tolerance, afun(|xs: Acc<Vector<T>>| map(f, xs)), &Array::vector(xs), Array::vector(ys));
    };
    let (erf_half, erf_one) = (0.520_499_877_813_046_5, 0.842_700_792_949_714_9);
    check(
        |x| x.erf(),
        &[(0.0, 0.0), (0.5, erf_half), (1.0, erf_one), (-1.0, -erf_one), (9.0, 1.0), (f64::NAN, f64::NAN)],
    );
    check(|x| x.erfc(), &[(0.0, 1.0), (0.5, 1.0 - erf_half), (1.0, 0.157_299_207_050_285_1), (-9.0, 2.0)]);
    check(|x| x.erfinv(), &[(0.0, 0.0), (erf_half, 0.5), (-erf_one, -1.0), (1.0, f64::INFINITY), (2.0, f64::NAN)]);
    check(
        |x| x.normal_cdf(),
        &[(0.0, 0.5), (1.0, 0.841_344_746_068_542_9), (-3.0, 0.001_349_898_031_630_094_6), (40.0, 1.0)],
    );
    check(|x| x.log_normal_cdf(), &[(0.0, 0.5f64.ln()), (-100.0, -5_005.524_208_694_205)]);
    check(|x| x.sech(), &[(0.0, 1.0), (-2.0, 0.265_802_228_834_079_7), (80.0, 3.609_702_775_690_830_6e-35)]);
    check(|x| x.sigmoid(), &[(0.0, 0.5), (-80.0, 1.804_851_387_845_415_4e-35), (800.0, 1.0)]);
    check(|x| x.softplus(), &[(0.0, 2f64.ln()), (-80.0, 1.804_851_387_845_415_4e-35), (800.0, 800.0)]);
    check(|x| x.log_sigmoid(), &[(0.0, 0.5f64.ln()), (-800.0, -800.0)]);
    check(|x| x.logit(), &[(0.5, 0.0), (0.25, -(3f64.ln())), (1.0, f64::INFINITY), (0.0, f64::NEG_INFINITY)]);
    check(|x| x.log_add_exp(x), &[(0.0, 2f64.ln()), (f64::NEG_INFINITY, f64::NEG_INFINITY), (1e30, 1e30)]);
    check(|x| x.xlogy(x), &[(0.0, 0.0), (1.0, 0.0), (2.0, 4f64.ln()), (f64::NAN, f64::NAN)]);
    let log_of_24 = 24f64.ln();
    check(
        |x| x.lgamma(),
        &[(1.0, 0.0), (2.0, 0.0), (5.0, log_of_24), (0.5, pi.ln() / 2.0), (-0.5, (2.0 * pi.sqrt()).ln())],
    );
    let euler = 0.577_215_664_901_532_9;
    check(|x| x.digamma(), &[(1.0, -euler), (2.0, 1.0 - euler), (0.5, -euler - 2.0 * 2f64.ln())]);
    check(|x| x.polygamma(0), &[(1.0, -euler), (3.0, 1.5 - euler)]);
    check(|x| x.polygamma(1), &[(1.0, pi * pi / 6.0), (0.5, pi * pi / 2.0), (2.0, pi * pi / 6.0 - 1.0)]);
    let zeta_of_3 = 1.202_056_903_159_594_3;
    check(|x| x.polygamma(2), &[(1.0, -2.0 * zeta_of_3), (0.5, -14.0 * zeta_of_3)]);
    check(|x| x.j0(), &[(0.0, 1.0), (-2.5, -0.048383776468198), (80.0, -0.06974216551221002)]);
    check(|x| x.j1(), &[(0.0, 0.0), (-2.5, -0.49709410246427405), (80.0, -0.056057296675712576)]);
    check(|x| x.i0e(), &[(0.0, 1.0), (-2.5, 0.27004644161220276), (80.0, 0.044673291782275276)]);
    check(|x| x.i0(), &[(0.0, 1.0), (-2.5, 3.289839144050123)]);
    check(|x| x.i1(), &[(0.0, 0.0), (-2.5, -2.516716245288698)]);
    check(|x| x.ln_i0(), &[(0.0, 0.0), (-2.5, 3.289839144050123f64.ln())]);
    check(|x| x.i1e(), &[(0.0, 0.0), (-2.5, -0.20658464953126657), (80.0, 0.044393200058097465)]);
}

/// One program text for several number types.
fn generic_numbers(t: &Suite) {
    fn polynomial<T: Num>(x: Exp<T>) -> Exp<T> {
        (x * x - lit::<T>(2.0)) * x + lit::<T>(7.0)
    }
    one(t, &[0.0, 0.5, -3.0], polynomial, |x: f64| (x * x - 2.0) * x + 7.0);
    one(t, &[0.0, 0.5, -3.0], polynomial, |x: f32| (x * x - 2.0) * x + 7.0);
    one(t, &[0, 5, -3], polynomial, |x: i64| (x * x - 2) * x + 7);
    one(t, &[0, 5, 200], polynomial, |x: u8| x.wrapping_mul(x).wrapping_sub(2).wrapping_mul(x).wrapping_add(7));
}
