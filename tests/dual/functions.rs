//! Every function of numbers: reverse mode = forward mode = finite differences.

use crate::support::{Function, assert_close, check, close};
use accel_dual::num_traits::Float;
use accel_dual::{Dual, Real, Rev, Second, grad, hessian, value_and_grad};

/// Defines functions of a vector and the points at which they are tested.
macro_rules! functions {
    ($($test:ident: $x:ident, $y:ident => $value:expr; $($points:expr),+;)*) => {$(
        #[test]
        fn $test() {
            struct F;
            impl Function for F {
                fn at<T: Real>(&self, xs: &[T]) -> T {
                    #[allow(unused_variables)]
                    let ($x, $y) = (xs[0], xs[1]);
                    $value
                }
            }
            /// The function with other functions around it, so that its derivative is multiplied and shared.
            struct Inside;
            impl Function for Inside {
                fn at<T: Real>(&self, xs: &[T]) -> T {
                    let z = F.at(xs);
                    z * xs[0] + xs[1] * T::lit(2.0) + z * z
                }
            }
            for point in [$($points),+] {
                check(&F, &point, stringify!($test));
                check(&Inside, &point, stringify!($test));
                second_derivatives(&Inside, &point);
                single(&F, &point);
            }
        }
    )*};
}

functions! {
    add: x, y => x + y; [1.5, -0.5];
    sub: x, y => x - y; [1.5, -0.5];
    mul: x, y => x * y; [1.5, -0.5];
    div: x, y => x / y; [1.5, -0.5], [0.0, 2.0];
    rem: x, y => x % y; [5.3, 2.0], [-5.3, 2.0], [5.3, -2.0];
    neg: x, y => -x * -y; [1.5, -0.5];
    recip: x, y => x.recip(); [1.5, -0.5], [-2.0, 1.0];
    sqrt: x, y => x.sqrt(); [1.5, -0.5];
    cbrt: x, y => x.cbrt(); [1.5, -0.5], [-1.5, 0.0];
    exp: x, y => x.exp(); [1.5, -0.5];
    exp2: x, y => x.exp2(); [1.5, -0.5];
    exp_m1: x, y => x.exp_m1(); [1.5, -0.5], [0.0, 1.0];
    ln: x, y => x.ln(); [1.5, -0.5];
    log2: x, y => x.log2(); [1.5, -0.5];
    log10: x, y => x.log10(); [1.5, -0.5];
    ln_1p: x, y => x.ln_1p(); [1.5, -0.5], [0.0, 1.0];
    log: x, y => x.log(y); [1.5, 2.5];
    sin: x, y => x.sin(); [1.5, -0.5];
    cos: x, y => x.cos(); [1.5, -0.5];
    tan: x, y => x.tan(); [1.2, -0.5];
    asin: x, y => x.asin(); [0.4, -0.5];
    acos: x, y => x.acos(); [0.4, -0.5];
    atan: x, y => x.atan(); [1.5, -0.5];
    sinh: x, y => x.sinh(); [1.5, -0.5];
    cosh: x, y => x.cosh(); [1.5, -0.5];
    tanh: x, y => x.tanh(); [1.5, -0.5];
    asinh: x, y => x.asinh(); [1.5, -0.5], [-1.5, 1.0];
    acosh: x, y => x.acosh(); [1.5, -0.5];
    atanh: x, y => x.atanh(); [0.4, -0.5];
    sigmoid: x, y => x.sigmoid(); [1.5, -0.5], [-1.5, 0.5], [0.0, 1.0];
    log_sigmoid: x, y => x.log_sigmoid(); [1.5, -0.5], [-1.5, 0.5], [0.0, 1.0];
    softplus: x, y => x.softplus(); [1.5, -0.5], [-1.5, 0.5], [0.0, 1.0];
    log_add_exp: x, y => x.log_add_exp(y); [1.5, -0.5], [-1.5, 0.5], [0.7, 0.7];
    xlogy: x, y => x.xlogy(y); [1.5, 0.5], [-1.5, 2.0], [0.0, 2.0];
    logit: x, y => x.logit(); [0.1, -0.5], [0.6, -0.5], [0.9, 1.0];
    fract: x, y => x.fract(); [1.5, -0.5];
    abs: x, y => x.abs(); [1.5, -0.5], [-1.5, 1.0];
    abs_sub: x, y => positive_difference(x, y); [1.5, -0.5], [-1.5, 0.5];
    max: x, y => x.max(y); [1.5, -0.5], [-1.5, 0.5];
    min: x, y => x.min(y); [1.5, -0.5], [-1.5, 0.5];
    mul_add: x, y => x.mul_add(y, x); [1.5, -0.5];
    powi: x, y => x.powi(3) + x.powi(-2) + x.powi(0) + x.powi(1); [1.5, -0.5], [-1.5, 0.5];
    powf: x, y => x.powf(y); [1.5, -0.5], [0.7, 2.0];
    powf_constant: x, y => x.powf(T::lit(2.5)); [1.5, -0.5];
    constant_powf: x, y => T::lit(2.5).powf(x); [1.5, -0.5];
    hypot: x, y => x.hypot(y); [1.5, -0.5], [0.0, 2.0];
    atan2: x, y => x.atan2(y); [1.5, -0.5], [-1.5, -0.5], [0.5, 2.0];
    sin_cos: x, y => { let (s, c) = x.sin_cos(); s * c * y }; [1.5, -0.5];
    degrees: x, y => x.to_degrees() * y.to_radians(); [1.5, -0.5];
    copysign: x, y => x.copysign(y); [1.5, -0.5], [1.5, 0.5], [-1.5, -0.5];
    steps: x, y => x.floor() + x.ceil() + x.round() + x.trunc() + x.signum(); [1.3, 0.0];
    sums: x, y => [x, y, x].into_iter().sum::<T>() * [x, y].into_iter().product::<T>(); [1.5, -0.5];
    assignments: x, y => { let mut z = x; z += y; z *= x; z -= y; z /= T::lit(3.0); z }; [1.5, -0.5];
    branches: x, y => if x > y { x * y } else { x - y }; [1.5, -0.5], [-1.5, 0.5];
}

#[allow(deprecated)]
fn positive_difference<T: Real>(x: T, y: T) -> T {
    x.abs_sub(y)
}

/// Forward over reverse mode, reverse over forward mode, and differences of gradients agree.
fn second_derivatives(f: &impl Function, point: &[f64; 2]) {
    let rows = hessian(|xs: [Second; 2]| f.at(&xs), point).unwrap();
    for k in 0..2 {
        let derivative = |xs: [Rev; 2]| {
            let xs: [Dual<Rev, 1>; 2] = std::array::from_fn(|j| Dual::variable(xs[j], if j == k { 0 } else { 1 }));
            f.at(&xs).tangent[0]
        };
        let row = grad(derivative, point).unwrap();
        assert_close(&rows[k], &row, 1e-10, "forward over reverse, reverse over forward");
        let h = 1e-4;
        let moved = |h: f64| {
            let mut xs = *point;
            xs[k] += h;
            grad(|xs: [Rev; 2]| f.at(&xs), &xs).unwrap()
        };
        let (plus, minus) = (moved(h), moved(-h));
        let differences: Vec<f64> = (0..2).map(|j| (plus[j] - minus[j]) / (2.0 * h)).collect();
        assert_close(&rows[k], &differences, 1e-5, "second derivatives and differences of gradients");
    }
}

/// Single precision agrees with double precision.
fn single(f: &impl Function, point: &[f64; 2]) {
    let double = grad(|xs: [Rev; 2]| f.at(&xs), point).unwrap();
    let single = grad(|xs: [Rev<f32>; 2]| f.at(&xs), &point.map(|x| x as f32)).unwrap();
    assert_close(&single.map(f64::from), &double, 2e-5, "single and double precision");
}

/// The derivative at a kink or a jump.
fn slope(f: impl Fn(Rev) -> Rev, x: f64) -> f64 {
    let reverse = grad(&f, &x).unwrap();
    assert!(reverse.is_finite());
    reverse
}

/// The references are computed with 60 digits (mpmath).
#[test]
fn derivatives_at_extremes() {
    let close = |f: fn(Rev) -> Rev, x: f64, expected: f64| {
        let found = grad(f, &x).unwrap();
        assert!((found - expected).abs() <= 8.0 * f64::EPSILON * expected.abs(), "{x}: {found}, and not {expected}");
    };
    close(|x| x.tanh(), 20.0, 1.6993417021166355e-17);
    close(|x| x.tanh(), -300.0, 1.0601586212017243e-260);
    close(|x| x.exp_m1(), -50.0, 1.9287498479639178e-22);
    close(|x| x.asinh(), 1e200, 1e-200);
    close(|x| x.acosh(), 1e200, 1e-200);
    close(|x| x.atan(), 1e155, 1e-310);
    close(|x| x.asin(), 0.9999999999999999, 67108864.0);
    close(|x| x.log10(), 1.7e308, 2.554673422960305e-309);
    close(|x| x.sigmoid(), -700.0, 9.85967654375977e-305);
    close(|x| x.softplus(), 0.0, 0.5);
    close(|x| x.softplus(), 1000.0, 1.0);
    close(|x| x.log_sigmoid(), -1000.0, 1.0);
    close(|x| x.logit(), 1e-100, 1e100);
    let single = grad(|x: Rev<f32>| x.tanh(), &9.0).unwrap();
    assert!((single - 6.0919917e-8).abs() <= 8.0 * f32::EPSILON * 6.0919917e-8, "{single}");
    let atan2 = |y: f64, x: f64| grad(|(y, x): (Rev, Rev)| y.atan2(x), &(y, x)).unwrap();
    assert_eq!(atan2(1e200, 1e200).0, 0.5e-200);
    assert!((atan2(1e-200, 1e-200).1 + 0.5e200).abs() <= 1e185);
    assert_eq!(atan2(0.0, 0.0), (0.0, 0.0));
    let tie = |a: f64| grad(|(a, b): (Rev, Rev)| a.log_add_exp(b), &(a, a)).unwrap();
    assert_eq!((tie(3.0), tie(-1000.0)), ((0.5, 0.5), (0.5, 0.5)));
    assert_eq!(grad(|(x, y): (Rev, Rev)| x.xlogy(y), &(0.0, 0.0)).unwrap(), (0.0, 0.0));
}

#[test]
fn kinks_have_the_chosen_derivatives() {
    assert_eq!(slope(|x| x.abs(), 0.0), 0.0);
    assert_eq!(slope(|x| x.max(x * 3.0), 0.0), 1.0);
    assert_eq!(slope(|x| (x * 3.0).max(x), 0.0), 3.0);
    assert_eq!(slope(|x| x.min(x * 3.0), 0.0), 1.0);
    assert_eq!(slope(|x| x.hypot(x * 2.0), 0.0), 0.0);
    assert_eq!(slope(|x| x.powf(Rev::lit(0.0)), 0.0), 0.0);
    assert_eq!(slope(|x| x.powf(Rev::lit(1.0)), 0.0), 1.0);
    assert_eq!(slope(|x| x.powi(0), 0.0), 0.0);
    assert_eq!(slope(|x| x.powi(1), 0.0), 1.0);
    // The power 0^n is 0 for all n around 2.
    assert_eq!(grad(|(x, n): (Rev, Rev)| x.powf(n), &(0.0, 2.0)).unwrap(), (0.0, 0.0));
    assert_eq!(slope(|x| x.floor(), 1.0), 0.0);
}

#[test]
fn nan_loses_in_max_and_min_as_for_f64() {
    let nan = Rev::constant(f64::NAN);
    assert_eq!(value_and_grad(|x: Rev| x.max(nan) + nan.max(x), &2.0).unwrap(), (4.0, 2.0));
    assert_eq!(value_and_grad(|x: Rev| x.min(nan) + nan.min(x), &2.0).unwrap(), (4.0, 2.0));
    assert!(Float::max(nan, nan).value().is_nan());
}

#[test]
fn values_are_those_of_the_code_without_derivatives() {
    fn f<T: Real>(x: T) -> T {
        (x.sin() * T::PI() + T::E()).exp().ln_1p() / T::from_f64(3.5).unwrap_or_else(T::nan) + T::epsilon()
    }
    let (value, _) = value_and_grad(f, &0.7).unwrap();
    assert_eq!(value, f(0.7));
    assert_eq!(f(Dual::<f64, 1>::constant(0.7)).value, f(0.7));
    assert_eq!(format!("{:.3} {}", Rev::constant(1.5), Dual::<f64>::constant(2.5)), "1.500 2.5");
    assert_eq!(Rev::<f64>::default(), 0.0);
    assert!(Rev::constant(1.0) < 2.0 && Rev::constant(3.0) > Rev::constant(2.0));
}

#[test]
fn plain_numbers_are_operands_on_both_sides() {
    let f = |x: Rev| 2.0 * x + x * 3.0 - 1.0 / x + (x - 1.0) / 2.0 - (5.0 - x) + 7.0 % x;
    let expected = 2.0 + 3.0 + 1.0 / 4.0 + 0.5 + 1.0 - 3.0;
    assert!(close(grad(f, &2.0).unwrap(), expected, 1e-14));
    let g = |x: Dual<f64, 1>| 2.0 * x + x * 3.0 - 1.0 / x;
    assert_eq!(g(Dual::variable(2.0, 0)).tangent, [5.25]);
    let h = |x: &Rev| x * x + &(-x) * 2.0;
    assert_eq!(grad(|x| h(&x), &3.0).unwrap(), 4.0);
}

#[test]
fn functions_of_one_number_need_no_node() {
    let sigmoid = |x: Rev| 1.0 / (1.0 + (-x).exp());
    let (_, pullback) = accel_dual::vjp(|x: Rev| sigmoid(x * 2.0 + 1.0).tanh() - x * x, 0.5).unwrap();
    assert_eq!(pullback.tape().nodes, 0);
    let f = |x: f64| (1.0 / (1.0 + (-(x * 2.0 + 1.0)).exp())).tanh() - x * x;
    assert!(close(pullback.call(&1.0).unwrap(), (f(0.5 + 1e-5) - f(0.5 - 1e-5)) / 2e-5, 1e-9));
}
