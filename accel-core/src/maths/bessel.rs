//! Bessel functions of the first kind, and modified ones that are divided by their growth.

use std::f64::consts::PI;

/// The Bessel function of the first kind of order `n`.
pub fn bessel_j(n: u8, x: f64) -> f64 {
    match n {
        0 => libm::j0(x),
        1 => libm::j1(x),
        _ => libm::jn(n.into(), x),
    }
}

/// `1 - cos(pi k / 32)`. (mpmath 1.3.0, with 50 digits)
const HEIGHTS: [f64; 17] = [
    0.0,
    0.004815273327803114,
    0.019214719596769552,
    0.043059664267791134,
    0.07612046748871325,
    0.11807873565164496,
    0.16853038769745476,
    0.22698954663726303,
    0.2928932188134525,
    0.3656067158363545,
    0.44442976698039777,
    0.5286032631740023,
    0.6173165676349103,
    0.7097153227455376,
    0.8049096779838717,
    0.9019828596704395,
    1.0,
];

/// With `c = 1 - cos t`, it is the mean of `w e^(-|x| c)` over all angles `t`, where `w = 1` for `i0e`, `w = x c (2 - c)` for `i1e`
/// (n = 1), and `w = c^(n - 1)` for n > 1. So each is the negative derivative of the one before, from n = 2 on and also from
/// `i0e` to n = 2, and nothing cancels.
///
/// For small `x`, the trapezoidal rule is exact to the last place (Trefethen and Weideman, *The exponentially convergent trapezoidal
/// rule*). For large ones, it is the asymptotic series of Kummer's function `M(a, b, -2 |x|)` (Abramowitz and Stegun, 13.5.1).
pub fn bessel_i(n: u8, x: f64) -> f64 {
    let (magnitude, power) = (x.abs(), i32::from(n.max(1)) - 1);
    let value = if magnitude < 30.0 { mean(n, power, magnitude) } else { far(n, power, magnitude) };
    if n == 1 { value.copysign(x) } else { value }
}

fn mean(n: u8, power: i32, x: f64) -> f64 {
    let (mut sum, mut rest) = (0.0, 0.0);
    for k in 0..=32 {
        let c = if k <= 16 { HEIGHTS[k] } else { 2.0 - HEIGHTS[32 - k] };
        let weight = if n == 1 { c * (2.0 - c) } else { c.powi(power) };
        let ends = if k % 32 == 0 { 0.5 } else { 1.0 };
        let term = ends * weight * (-x * c).exp();
        let next = sum + term;
        rest += (sum - next) + term;
        sum = next;
    }
    (sum + rest) / 32.0 * if n == 1 { x } else { 1.0 }
}

fn far(n: u8, power: i32, x: f64) -> f64 {
    let z = 2.0 * x;
    let (a, b) = if n == 1 { (1.5, -0.5) } else { (power as f64 + 0.5, 0.5) };
    let series = (0..=40).rev().map(f64::from).fold(0.0, |s, k| 1.0 + s * ((a + k) * (b + k) / ((k + 1.0) * z)));
    (0..power).fold(series / (4.0 * (PI * (x / 8.0)).sqrt()), |y, k| y * (f64::from(2 * k + 1) / z))
}

#[cfg(test)]
mod tests {
    use super::super::special::tests::close;
    use super::*;

    #[test]
    fn bessel_functions_agree_with_reference_values() {
        // mpmath 1.3.0, with 60 digits.
        JS.iter().for_each(|&(n, x, y)| close(bessel_j(n, x), y, 1e-14, &format!("bessel_j({n}, {x})")));
        IS.iter().for_each(|&(n, x, y)| close(bessel_i(n, x), y, 2e-15, &format!("bessel_i({n}, {x})")));
    }

    #[test]
    fn bessel_functions_at_zeros_and_infinities() {
        for n in 0..6 {
            assert_eq!(bessel_j(n, 0.0), if n == 0 { 1.0 } else { 0.0 });
            assert_eq!(bessel_j(n, f64::INFINITY), 0.0);
            assert_eq!(bessel_i(n, f64::NEG_INFINITY), 0.0);
            assert!(bessel_j(n, f64::NAN).is_nan() && bessel_i(n, f64::NAN).is_nan());
        }
        assert_eq!([0, 1, 2, 3].map(|n| bessel_i(n, 0.0)), [1.0, 0.0, 1.0, 1.5]);
        close(bessel_i(0, f64::MAX), 2.9754474593159e-155, 1e-13, "bessel_i of the largest number");
    }

    #[rustfmt::skip]
    const JS: &[(u8, f64, f64)] = &[
        (0, 1e-08, 1.0), (0, 0.5, 0.9384698072408129), (0, -2.25, 0.08274985128873404),
        (0, 10.0, -0.24593576445134835), (0, 40.0, 0.00736689058423729), (0, -1000000.0, 0.00033104301373987376),
        (1, 1e-08, 5e-09), (1, 0.5, 0.2422684576748739), (1, -2.25, -0.5483783566469601),
        (1, 10.0, 0.04347274616886144), (1, 40.0, 0.126038318037585), (1, -1000000.0, 0.000725968356813763),
        (2, 1e-08, 1.25e-17), (2, 0.5, 0.03060402345868264), (2, -2.25, 0.4046975768418972),
        (2, 10.0, 0.2546303136851206), (2, 40.0, -0.0010649746823580396), (2, -1000000.0, -0.00033104446567658736),
        (3, 1e-08, 2.0833333333333335e-26), (3, 0.5, 0.002563729994587244), (3, -2.25, -0.17108400218307934),
        (3, 10.0, 0.058379379305186815), (3, 40.0, -0.1261448155058208), (3, -1000000.0, -0.0007259670326359004),
        (7, 1e-08, 1.5500992063492067e-62), (7, 0.5, 1.2015867327763022e-08), (7, -2.25, -0.00038575663825854986),
        (7, 10.0, 0.21671091768505152), (7, 40.0, -0.10802343173577943), (7, -1000000.0, -0.0007259604115723551),
    ];

    #[rustfmt::skip]
    const IS: &[(u8, f64, f64)] = &[
        (0, 1e-08, 0.9999999900000001), (0, 0.5, 0.6450352704491501), (0, -2.25, 0.2874319388973915),
        (0, 10.0, 0.1278333371634286), (0, 29.75, 0.07345530228191528), (0, -31.0, 0.07194649669698383),
        (0, 1000000.0, 0.00039894233026924577), (1, 1e-08, 4.99999995e-09), (1, 0.5, 0.1564208031848717),
        (1, -2.25, -0.21121661600759037), (1, 10.0, 0.12126268138445552), (1, 29.75, 0.07221001664055529),
        (1, -31.0, -0.07077639283438568), (1, 1000000.0, 0.0003989421307980308), (2, 1e-08, 0.9999999850000001),
        (2, 0.5, 0.4886144672642784), (2, -2.25, 0.07621532288980112), (2, 10.0, 0.006570655778973088),
        (2, 29.75, 0.0012452856413599906), (2, -31.0, 0.0011701038625981527), (2, 1000000.0, 1.9947121500246404e-10),
        (3, 1e-08, 1.4999999750000002), (3, 0.5, 0.6643873281588133), (3, -2.25, 0.05855659422067319),
        (3, 10.0, 0.0010150434195006254), (3, 29.75, 6.334383261728215e-05), (3, -31.0, 5.7098278925799376e-05),
        (3, 1000000.0, 2.992068973055139e-16), (5, 1e-08, 4.374999921250001), (5, 0.5, 1.7932240413495455),
        (5, -2.25, 0.09501778138364829), (5, 10.0, 9.48455054314204e-05), (5, 29.75, 6.376993329389952e-07),
        (5, -31.0, 5.289842780299086e-07), (5, 1000000.0, 2.618061660456531e-27),
    ];
}
