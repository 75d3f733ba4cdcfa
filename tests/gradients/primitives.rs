//! Every differentiable primitive function, on ranges where it is smooth, and at its kinks.

use crate::harness::{V, kinked, smooth};
use crate::refined::{
    AboveOne, AllNiceRound, AllNonZero, Any, BelowOne, Few, FewValues, NonEmpty, Positive, Predicate, Refined,
};
use accel::prelude::*;

type Fun1 = fn(Exp<f64>) -> Exp<f64>;
type Fun2 = fn(Exp<f64>, Exp<f64>) -> Exp<f64>;

/// Checks a function on the elements of a vector. The adjoints depend on the values, so that not all of them are 1.
fn elements<P: Predicate>(range: P, f: Fun1) {
    smooth(range, move |a: V| {
        let b = map(f, a);
        sum(zip_with(|x, y| x * (y * 0.1).sin(), b, a))
    });
}

fn pairs<P: Predicate, Q: Predicate>(ranges: (P, Q), f: Fun2) {
    smooth(ranges, move |a: V, b: V| sum(map(|y| y * 1.5, zip_with_min(f, a, b))));
}

macro_rules! functions {
    ($($name:ident: $check:ident, $range:expr, $f:expr;)*) => { $(
        #[test]
        fn $name() {
            $check($range, $f);
        }
    )* };
}

functions! {
    neg: elements, Any, |x| -x;
    sin: elements, Any, |x| x.sin();
    cos: elements, Any, |x| x.cos();
    tan: elements, BelowOne, |x| x.tan();
    asin: elements, BelowOne, |x| x.asin();
    acos: elements, BelowOne, |x| x.acos();
    atan: elements, Any, |x| x.atan();
    sinh: elements, Any, |x| x.sinh();
    cosh: elements, Any, |x| x.cosh();
    tanh: elements, Any, |x| x.tanh();
    sech: elements, Any, |x| x.sech();
    asinh: elements, Any, |x| x.asinh();
    acosh: elements, AboveOne, |x| x.acosh();
    atanh: elements, BelowOne, |x| x.atanh();
    exp: elements, Any, |x| x.exp();
    exp2: elements, Any, |x| x.exp2();
    to_bits: elements, Any, |x| (1.0 + (x.to_bits() >> 63u64).cast::<f64>()) * x * x;
    from_bits: elements, Any, |x| Exp::<f64>::from_bits((x.to_bits() & (1u64 << 63)) | 1f64.to_bits()) * x * x;
    exp_m1: elements, Any, |x| x.exp_m1();
    ln: elements, Positive, |x| x.ln();
    log2: elements, Positive, |x| x.log2();
    log10: elements, Positive, |x| x.log10();
    ln_1p: elements, BelowOne, |x| x.ln_1p();
    sqrt: elements, Positive, |x| x.sqrt();
    cbrt: elements, AllNonZero, |x| x.cbrt();
    recip: elements, AllNonZero, |x| x.recip();
    erf: elements, Any, |x| x.erf();
    erfc: elements, Any, |x| x.erfc();
    erfinv: elements, BelowOne, |x| x.erfinv();
    normal_cdf: elements, Any, |x| x.normal_cdf();
    log_normal_cdf: elements, Any, |x| x.log_normal_cdf();
    sigmoid: elements, Any, |x| x.sigmoid();
    log_sigmoid: elements, Any, |x| x.log_sigmoid();
    softplus: elements, Any, |x| x.softplus();
    logit: elements, BelowOne, |x| (x * 0.5 + 0.5).logit();
    lgamma: elements, Positive, |x| x.lgamma();
    digamma: elements, Positive, |x| x.digamma();
    trigamma: elements, Positive, |x| x.polygamma(1);
    polygamma_3: elements, AboveOne, |x| x.polygamma(3);
    j0: elements, Any, |x| x.j0();
    j1: elements, Any, |x| x.j1();
    i0e: elements, AllNonZero, |x| x.i0e();
    i1e: elements, Any, |x| x.i1e();
    i0: elements, Any, |x| x.i0();
    i1: elements, Any, |x| x.i1();
    ln_i0: elements, Any, |x| x.ln_i0();
    abs: elements, AllNonZero, |x| x.abs();
    signum: elements, AllNonZero, |x| x.signum() * x;
    powi: elements, Any, |x| x.powi(0) + x.powi(1) + x.powi(2) + x.powi(7);
    powi_negative: elements, AboveOne, |x| x.powi(-3);
    powf: elements, Positive, |x| x.powf(2.5);
    powf_of_negative: elements, AllNonZero, |x| x.powf(3.0);
    to_f32_and_back: elements, AllNonZero, |x| x * 2.0 + constant(1.5f32).cast::<f64>() * x;

    add: pairs, (Any, Any), |x, y| x + y;
    sub: pairs, (Any, Any), |x, y| x - y;
    mul: pairs, (Any, Any), |x, y| x * y;
    div: pairs, (Any, AllNonZero), |x, y| x / y;
    pow: pairs, (Positive, BelowOne), |x, y| x.pow(y * 3.0);
    log_add_exp: pairs, (Any, Any), |x, y| x.log_add_exp(y);
    xlogy: pairs, (Any, Positive), |x, y| x.xlogy(y);
    gamma_inc: pairs, (Few(Positive), Few(Positive)), |a, x| a.gamma_inc(x);
    beta_inc: pairs, (Few(Positive), Few(Positive)), |a, b| a.beta_inc(b, 0.3);
    beta_inc_of: pairs, (Few(Positive), Few(BelowOne)), |a, x| a.beta_inc(0.7, x * 0.4 + 0.5);
    gamma_inc_upper: pairs, (Few(AboveOne), Few(Positive)), |a, x| a.gamma_inc_upper(x * 3.0);
    atan2: pairs, (AllNonZero, Positive), |y, x| y.atan2(x);
    hypot: pairs, (AllNonZero, Any), |x, y| x.hypot(y);
    // All operands keep a distance from each other and from multiples.
    rem: pairs, (BelowOne, AboveOne), |x, y| (x + y * 2.0 + y.signum()) % (y + 1.1);
    min: pairs, (BelowOne, AboveOne), |x, y| x.min(y) * y.min(x);
    max: pairs, (BelowOne, AboveOne), |x, y| x.max(y) * y.max(x);
}

/// Checks a sum over a vector of a function with kinks or jumps.
fn with_kinks<I: Refined<Arrays = Vector<f64>>>(range: I, f: Fun1) {
    kinked(range, move |a: V| sum(map(f, a)));
}

/// The same for two vectors with frequent ties.
fn with_ties(f: Fun2) {
    kinked((FewValues, FewValues), move |a: V, b: V| sum(zip_with_min(f, a, b)));
}

functions! {
    abs_at_zero: with_kinks, FewValues, |x| x.abs();
    floor: with_kinks, Any, |x| x.floor() * x;
    ceil: with_kinks, Any, |x| x.ceil() * x;
    round: with_kinks, Any, |x| x.round() * x;
    trunc: with_kinks, Any, |x| x.trunc() * x;
    signum_at_zero: with_kinks, FewValues, |x| x.signum() * x.sin();
}

#[test]
fn min_of_ties() {
    with_ties(|x, y| x.min(y));
}

#[test]
fn max_of_ties() {
    with_ties(|x, y| x.max(y) * 2.0);
}

/// Both sides of a tie are parts of one smooth function.
#[test]
fn smooth_functions_of_ties() {
    smooth((FewValues, FewValues), |a: V, b: V| sum(zip_with_min(|x, y| x.log_add_exp(y), a, b)));
    smooth(FewValues, |a: V| sum(map(|x| x.softplus() + x.sigmoid() * x.log_sigmoid(), a)));
}

/// The derivative of a detached number is zero, at every order.
#[test]
fn detached_numbers_are_constant() {
    let f = afun(|a: V| sum(map(|x| x.detach() * x * x, a)));
    let x = Array::vector(vec![-1.5, 0.5, 3.0]);
    assert_eq!(run(grad(&f), &x).unwrap().to_vec(), [4.5, 0.5, 18.0]);
    let second = grad(&afun(|a: V| sum(call(grad(&f), a))));
    assert_eq!(run(second, &x).unwrap().to_vec(), [-3.0, 1.0, 6.0]);
    assert_eq!(run(jvp(&f), (&x, &Array::vector(vec![1.0, 0.0, 0.0]))).unwrap().1.item(), 4.5);
}

#[test]
fn rem_of_multiples() {
    with_ties(|x, y| x % (y + 3.0));
}

#[test]
fn pow_of_zero() {
    with_ties(|x, y| x.abs().pow(y.abs()));
}

#[test]
fn hypot_of_zeros() {
    with_ties(|x, y| x.hypot(y));
}

/// The derivative of rounding is zero everywhere, also at its jumps.
#[test]
fn rounding_is_constant() {
    let round = afun(|a: V| sum(map(|x| x.round() + x.floor() + x.ceil() + x.trunc(), a)));
    let x = Array::vector(vec![-1.5, -0.2, 0.0, 0.5, 3.0]);
    assert_eq!(run(grad(&round), &x).unwrap().to_vec(), [0.0; 5]);
}

#[test]
fn rounding_of_others() {
    smooth(AllNiceRound, |a: V| sum(map(|x| x.round() * x.sin(), a)));
}

/// An integer has no derivative.
#[test]
fn casts_to_integers_are_constant() {
    let program = afun(|a: V| sum(map(|x| x.cast::<i64>().cast::<f64>() * x, a)));
    let x = Array::vector(vec![-1.5, 0.5, 3.25]);
    assert_eq!(run(grad(&program), &x).unwrap().to_vec(), [-1.0, 0.0, 3.0]);
}

#[test]
fn nested_conditionals() {
    kinked(Any, |a: V| {
        let f = |x: Exp<f64>| {
            let y = x * x;
            let inner = cond::<f64>(y.lt(16.0), y.sin(), cond::<f64>(x.gt(0.0), y.sqrt() * x, x - y));
            cond::<f64>(x.abs().lt(1.0), y * 3.0, inner * y)
        };
        sum(map(f, a))
    });
}

/// The branch that is not taken would be out of bounds, or NaN.
#[test]
fn branches_not_taken_are_not_run() {
    kinked(NonEmpty, |a: V| {
        let n = a.shape();
        let neighbours = imap(|i, x| cond::<f64>(i.gt(0), a.at(i - 1) * x, cond::<f64>(n.gt(1), a.at(1), 7.0)), a);
        sum(map(|x| cond::<f64>(x.gt(0.0), x.ln() * x, x), neighbours))
    });
}
