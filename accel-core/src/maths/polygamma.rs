//! The derivatives of the logarithm of the gamma function: by the Euler–Maclaurin formula of the Hurwitz zeta function for
//! positive arguments and by reflection for negative ones (Abramowitz and Stegun, *Handbook of Mathematical Functions*, 6.3
//! and 6.4).

use std::f64::consts::PI;

/// The derivative of order `n + 1` of `lgamma` at `x`: digamma for `n = 0`, trigamma for `n = 1`, and so on.
///
/// Digamma has poles at zero and at the negative integers. At zero it is infinite, with the sign opposite to that of
/// the zero; at the others it is NaN. The other functions are infinite at these poles, positive for odd `n` and
/// negative for even `n`. Orders up to 100 are accurate wherever the result can be represented. For higher orders,
/// intermediate results may overflow if `x` is negative.
pub fn polygamma(n: u8, x: f64) -> f64 {
    if x.is_nan() || x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    if x <= 0.0 && x == x.floor() {
        return match n {
            0 if x == 0.0 => -1.0 / x,
            0 => f64::NAN,
            _ => -parity(n) * f64::INFINITY,
        };
    }
    match n {
        0 => digamma(x),
        _ if x > 0.0 => zeta_form(n, x),
        // The n-th derivative of `psi(1 - x) - psi(x) = pi cot(pi x)`.
        _ => parity(n) * zeta_form(n, 1.0 - x) - cot_derivative(n, x),
    }
}

/// `(-1)^n`
fn parity(n: u8) -> f64 {
    if n.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// `B(2k) / (2k)!` for k = 1, 2, …, with the Bernoulli numbers B.
const BERNOULLI: [f64; 12] = [
    8.333_333_333_333_333e-2,
    -1.388_888_888_888_889e-3,
    3.306_878_306_878_307e-5,
    -8.267_195_767_195_768e-7,
    2.087_675_698_786_809_7e-8,
    -5.284_190_138_687_493e-10,
    1.338_253_653_068_467_8e-11,
    -3.389_680_296_322_583e-13,
    8.586_062_056_277_844e-15,
    -2.174_868_698_558_062e-16,
    5.509_002_828_360_23e-18,
    -1.395_446_468_581_252_3e-19,
];

/// The positive zero of digamma, and the largest negative ones, between two poles each: the nearest double, and what remains. (mpmath 1.3.0, with 50 digits)
#[rustfmt::skip]
const DIGAMMA_ROOTS: [(f64, f64); 21] = [
    (1.4616321449683622, 9.549995429965697e-17),
    (-0.5040830082644554, -8.15428206243813e-18),
    (-1.5734984731623904, -1.574185691077347e-17),
    (-2.6107208684441447, 9.881960746978353e-17),
    (-3.635293366436901, 5.454396163173039e-17),
    (-4.653237761743142, -2.5492686201468193e-16),
    (-5.6671624415568855, -3.2153051074948335e-18),
    (-6.678418213073427, 3.470798723495241e-16),
    (-7.687788325031626, -1.351562494643672e-16),
    (-8.695764163816401, -3.2859903716289447e-16),
    (-9.702672540001863, -3.2563178405401477e-16),
    (-10.708740838254144, -6.287211750540301e-16),
    (-11.714133061228955, 8.598250154343834e-16),
    (-12.718971025749207, -4.752312432106917e-16),
    (-13.723347457363827, 4.528278691518058e-16),
    (-14.727334416018529, -3.6618399963139786e-17),
    (-15.730988906332882, 1.0551956373365842e-16),
    (-16.734356723955734, -1.2039501631800144e-15),
    (-17.73747515997759, -5.125776230727235e-16),
    (-18.7403749447801, 7.757330874026816e-16),
    (-19.74308167259022, 6.505672516695227e-16),
];

/// Digamma of a finite number that is no pole.
fn digamma(x: f64) -> f64 {
    if x < -20.0 {
        return digamma(1.0 - x) - PI * cot_pi(x);
    }
    if x > 0.0 && x < 1.0 {
        return digamma(x + 1.0) - 1.0 / x;
    }
    if x < 15.0 {
        return digamma_from_root(x);
    }
    let z = 1.0 / (x * x);
    let series = digamma_coefficients().rfold(0.0, |series, c| (series + c) * z);
    x.ln() - 0.5 / x - series
}

/// `B(2k) / 2k`, the coefficients of the asymptotic series `psi(x) = ln(x) - 1 / (2 x) - sum of c(k) / x^(2k)`.
fn digamma_coefficients() -> impl DoubleEndedIterator<Item = f64> {
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    BERNOULLI.iter().enumerate().map(move |(k, b)| b * factorial(2 * k + 1))
}

/// Digamma at `x`, by its zero `r` between the same two poles: with `d = x - r`, it is `psi(x + n) - psi(r + n)` and the sum of `d / ((r +
/// i) (x + i))` for `0 <= i < n`. All terms have the sign of `d` and are proportional to it, so nothing cancels. For large `n`, the
/// difference is that of the asymptotic series. The error of each addition is added in the end.
fn digamma_from_root(x: f64) -> f64 {
    let (root, rest) = DIGAMMA_ROOTS[if x > 0.0 { 0 } else { -x.floor() as usize }];
    let d = (x - root) - rest;
    let (mut r, mut x, mut sum, mut errors) = (root, x, 0.0, 0.0);
    while r < 15.0 {
        let term = 1.0 / ((r + rest) * x);
        let next = sum + term;
        let added = next - sum;
        errors += (sum - (next - added)) + (term - added);
        sum = next;
        r += 1.0;
        x += 1.0;
    }
    // The difference of the powers `1 / x^(2k)` and `1 / r^(2k)`.
    let (first, z) = (-d * (x + r) / (x * r * (x * r)), 1.0 / (x * x));
    let (mut difference, mut power, mut series) = (first, 1.0, 0.0);
    for c in digamma_coefficients() {
        series += c * difference;
        power /= r * r;
        difference = difference * z + power * first;
    }
    d * sum + ((d / r).ln_1p() + (0.5 * d / (r * x) - series) + d * errors)
}

/// `(-1)^(n + 1) n! zeta(n + 1, x)`, the polygamma function of order `n >= 1`, for positive `x`.
fn zeta_form(n: u8, x: f64) -> f64 {
    let s = n as f64 + 1.0;
    // The result is the product of `(n - 1)! / x^n`, which it approaches for large `x`, and of a number near 1 or `n / x`. So
    // nothing overflows or vanishes unless the result does.
    let scale = (1..n).fold(1.0 / x, |p, i| p * (i as f64 / x));
    if scale.is_infinite() || scale == 0.0 {
        return -parity(n) * scale;
    }
    let mut sum = 0.0;
    let mut y = x;
    while y < 15.0 + s {
        sum += (x / y).powi(n as i32 + 1);
        y += 1.0;
    }
    let mut tail = y / n as f64 + 0.5;
    let mut rising = s / y;
    for (k, b) in BERNOULLI.iter().enumerate() {
        tail += b * rising;
        let k = (2 * k + 1) as f64;
        rising *= (s + k) / y * ((s + k + 1.0) / y);
    }
    sum += (x / y).powi(n as i32 + 1) * tail;
    -parity(n) * scale * (n as f64 / x * sum)
}

/// The `n`-th derivative of `pi cot(pi x)` in `x`, for `x` that is not an integer.
fn cot_derivative(n: u8, x: f64) -> f64 {
    let cot = cot_pi(x);
    // With `c = cot(pi x)`, each derivative is a polynomial in `c`, because `c' = -pi (1 + c^2)`. All its coefficients
    // have the same sign and all its exponents the same parity, so there is no cancellation. `p[i]` is the coefficient
    // of `c^i`, divided by `pi^k k!`.
    let mut p = vec![0.0, 1.0];
    for k in 1..=n as usize {
        let mut next = vec![0.0; p.len() + 1];
        for (i, a) in p.iter().enumerate().skip(1) {
            let d = -a * i as f64 / k as f64;
            next[i - 1] += d;
            next[i + 1] += d;
        }
        p = next;
    }
    let value = p.iter().rev().fold(0.0, |acc, a| acc * cot + a);
    (1..=n).fold(PI * value, |v, i| v * (i as f64 * PI))
}

/// `cot(pi x)`, with exact reduction by the period.
fn cot_pi(x: f64) -> f64 {
    let r = x - x.round();
    if r.abs() <= 0.25 { 1.0 / (PI * r).tan() } else { (PI * (0.5 - r.abs())).tan().copysign(r) }
}

#[cfg(test)]
mod tests {
    use super::super::special::tests::close;
    use super::*;

    /// Reference values: mpmath 1.3.0 with 400 digits, rounded to double; scipy 1.17.1 agrees to 1e-12, except where
    /// scipy itself loses digits (digamma next to -1, high orders at negative half-integers).
    #[rustfmt::skip]
    const POLYGAMMA: &[(u8, f64, f64)] = &[
        (0, 1e-300, -9.999999999999999e+299), (0, 1e-08, -100000000.57721564), (0, 0.125, -8.388492663295855),
        (0, 0.5, -1.9635100260214235), (0, 1.0, -0.5772156649015329), (0, 1.25, -0.22745353337626542),
        (0, 1.4616, -3.110625123034165e-05), (0, 1.5, 0.03648997397857652), (0, 2.0, 0.42278433509846713),
        (0, 3.75, 1.1825373886117962), (0, 10.0, 2.251752589066721), (0, 14.5, 2.6392697253489863),
        (0, 33.0, 3.4812795305349873), (0, 1000.0, 6.907255195648812), (0, 10000000000.0, 23.025850929890456),
        (0, 1e+300, 690.7755278982137), (0, -0.5, 0.03648997397857652), (0, -0.1, 9.245073050052948),
        (0, -1.5, 0.7031566406452432), (0, -2.6875, -0.9358745058159789), (0, -10.3, 4.662403493582087),
        (0, -1234.5678, 6.439415219013654), (0, -0.9999999, -9999999.58247896), (0, -1e-09, 999999999.4227843),
        (1, 1e-08, 1.0000000000000002e+16), (1, 0.125, 65.38813344498803), (1, 0.5, 4.934802200544679),
        (1, 1.0, 1.6449340668482264), (1, 1.25, 1.1973291545071107), (1, 1.4616, 0.9677007114650835),
        (1, 1.5, 0.9348022005446793), (1, 2.0, 0.6449340668482264), (1, 3.75, 0.3053398526902531),
        (1, 10.0, 0.10516633568168575), (1, 14.5, 0.07139825615164695), (1, 33.0, 0.03076680402030209),
        (1, 1000.0, 0.0010005001666666333), (1, 10000000000.0, 1.00000000005e-10), (1, -0.5, 8.934802200544679),
        (1, -0.1, 101.92253995947719), (1, -1.5, 9.379246644989124), (1, -2.6875, 13.96477968324576),
        (1, -10.3, 14.986887065722637), (1, -1234.5678, 10.330468712502443), (1, -0.9999999, 100000000105273.81),
        (1, -1e-09, 9.999999999999999e+17), (2, 1e-08, -2e+24), (2, 0.125, -1025.7533381181356),
        (2, 0.5, -16.82879664423432), (2, 1.0, -2.4041138063191885), (2, 1.25, -1.3277399375369203),
        (2, 1.4616, -0.8855761967999034), (2, 1.5, -0.82879664423432), (2, 2.0, -0.4041138063191886),
        (2, 3.75, -0.09254633851589927), (2, 10.0, -0.011049834970802067), (2, 14.5, -0.005095552370983587),
        (2, 33.0, -0.0009465216039640907), (2, 1000.0, -1.0010004999998333e-06), (2, 10000000000.0, -1.0000000001e-20),
        (2, -0.5, -0.82879664423432), (2, -0.1, 1996.798202956205), (2, -1.5, -0.2362040516417274),
        (2, -2.6875, -60.03097995997161), (2, -10.3, 68.82898861103696), (2, -1234.5678, -14.039504516114885),
        (2, -0.9999999, -2.000000003158135e+21), (2, -1e-09, 1.9999999999999998e+27), (3, 1e-08, 5.999999999999999e+32),
        (3, 0.125, 24580.143419063566), (3, 0.5, 97.40909103400244), (3, 1.0, 6.493939402266829),
        (3, 1.25, 2.782144009188396), (3, 1.4616, 1.5511250508129752), (3, 1.5, 1.4090910340024372),
        (3, 2.0, 0.49393940226682914), (3, 3.75, 0.05570526074539451), (3, 10.0, 0.0023199013042898686),
        (3, 14.5, 0.0007270118682901487), (3, 33.0, 5.82337088795388e-05), (3, 1000.0, 2.003001999999e-09),
        (3, 10000000000.0, 2.0000000003e-30), (3, -0.5, 193.40909103400244), (3, -0.1, 60009.739014093764),
        (3, -1.5, 194.59427621918763), (3, -2.6875, 659.1741375847516), (3, -10.3, 769.0193334243987),
        (3, -1234.5678, 232.54935590607118), (3, -0.9999999, 6.00000001263254e+28), (3, -1e-09, 5.999999999999999e+36),
        (4, 1e-08, -2.3999999999999998e+41), (4, 0.125, -786445.9854310638), (4, 0.5, -771.4742498266672),
        (4, 1.0, -24.88626612344088), (4, 1.25, -8.375388637933733), (4, 1.4616, -3.935040877560243),
        (4, 1.5, -3.4742498266672253), (4, 2.0, -0.8862661234408782), (4, 3.75, -0.04995784901655511),
        (4, 10.0, -0.0007299311682352867), (4, 14.5, -0.00015552498210442218), (4, 33.0, -5.373724899698026e-06),
        (4, 1000.0, -6.0120099999930004e-12), (4, 10000000000.0, -6.0000000012e-40), (4, -0.5, -3.4742498266672253),
        (4, -0.1, 2399958.2275538268), (4, -1.5, -0.3137559995067314), (4, -2.6875, -7901.490560986975),
        (4, -10.3, 9738.759863954216), (4, -1234.5678, -1186.294876816229), (4, -0.9999999, -2.4000000063162702e+36),
        (4, -1e-09, 2.399999999999999e+46), (5, 1e-08, 1.1999999999999999e+50), (5, 0.125, 31457340.659602646),
        (5, 0.5, 7691.113548602436), (5, 1.0, 122.0811674381339), (5, 1.25, 32.513767681292045),
        (5, 1.4616, 12.94055722392193), (5, 1.5, 11.113548602435497), (5, 2.0, 2.081167438133897),
        (5, 3.75, 0.05935845545024451), (5, 10.0, 0.0003059451621172682), (5, 14.5, 4.434201357071909e-05),
        (5, 33.0, 6.61121024359418e-07), (5, 1000.0, 2.4060059999944e-14), (5, 10000000000.0, 2.4000000006e-49),
        (5, -0.5, 15371.113548602436), (5, -0.1, 120000228.60140008), (5, -1.5, 15381.648528026304),
        (5, -2.6875, 130015.34698352765), (5, -10.3, 165660.17429175062), (5, -1234.5678, 22014.997046130058),
        (5, -0.9999999, 1.2000000037897622e+44), (5, -1e-09, 1.1999999999999996e+56), (7, 1e-08, 5.039999999999999e+67),
        (7, 0.125, 84557170617.06169), (7, 0.5, 1290440.218185598), (7, 1.4616, 246.01659622696957),
        (7, 1.5, 200.21818559806496), (7, 2.0, 20.54987523763947), (7, 10.0, 0.00010051111598689363),
        (7, 14.5, 6.750002128543294e-06), (7, 10000000000.0, 7.20000000252e-68), (7, -0.5, 2580680.218185598),
        (7, -0.1, 504000011739.0062), (7, -1.5, 2580876.8711348437), (7, -2.6875, 55517026.56667966),
        (7, -10.3, 76905684.33317207), (7, -1234.5678, 4606490.4082090845), (7, -0.9999999, 5.040000021222668e+59),
        (7, -1e-09, 5.039999999999998e+75), (10, 1e-08, -3.628799999999999e+94), (10, 0.125, -3.1171154648443836e+16),
        (10, 0.5, -7431824508.858769), (10, 1.4616, -55986.9148783302), (10, 1.5, -42108.85876897549),
        (10, 2.0, -1793.311606628713), (10, 10.0, -5.7675966863222595e-05), (10, 14.5, -1.225860656416669e-06),
        (10, 10000000000.0, -3.6288000018144e-95), (10, -0.5, -42108.85876897549), (10, -0.1, 3.6287999998843296e+17),
        (10, -1.5, -156.229596593233), (10, -2.6875, -1307189407154.5298), (10, -10.3, 2048284893018.4944),
        (10, -1234.5678, -35082499023.0897), (10, -0.9999999, -3.628800021010441e+83),
        (10, -1e-09, 3.6287999999999974e+105), (20, 1e-08, -2.4329020081766387e+186),
        (20, 0.125, -2.243956035062425e+37), (20, 0.5, -5.10216531273943e+24), (20, 1.4616, -840878117399212.1),
        (20, 1.5, -487772949462609.9), (20, 2.0, -1160331221321.7373), (20, 10.0, -0.0028271335649279823),
        (20, 14.5, -1.3331369073586822e-06), (20, 10000000000.0, -1.216451005304771e-183),
        (20, -0.5, -487772949462609.9), (20, -0.1, 2.432902008176637e+39), (20, -1.5, -10709198259.124132),
        (20, -2.6875, -9.86902237516463e+28), (20, -10.3, 2.3258315617066273e+29),
        (20, -1234.5678, -1.084757905566363e+26), (20, -0.9999999, -2.4329020350686564e+165),
        (20, -1e-09, 2.4329020081766367e+207), (100, 0.125, -1.520870867155659e+249),
        (100, 0.5, -2.366100660490897e+188), (100, 1.4616, -2.100495163663337e+141),
        (100, 1.5, -1.5303349262176004e+140), (100, 2.0, -3.6810701397980478e+127), (100, 10.0, -9.333237300479084e+56),
        (100, 14.5, -4.702749237961894e+40), (100, -0.5, -1.5303349262176004e+140), (100, -0.1, 9.332621544394363e+258),
        (100, -1.5, -5.998777844943402e+117), (100, -2.6875, -9.775781027350357e+208),
        (100, -10.3, 6.036106975935289e+210), (100, -1234.5678, -5.8323373668340646e+194),
    ];
    #[test]
    fn polygamma_agrees_with_reference_values() {
        for &(n, x, expected) in POLYGAMMA {
            close(polygamma(n, x), expected, 1e-12, &format!("polygamma({n}, {x})"));
            let range = f32::MIN_POSITIVE as f64..f32::MAX as f64;
            if range.contains(&expected.abs()) && x as f32 as f64 == x {
                let found = polygamma(n, x) as f32 as f64;
                close(found, expected, 1e-6, &format!("f32 polygamma({n}, {x})"));
            }
        }
    }

    #[test]
    fn digamma_is_smooth_about_its_zero() {
        let root = DIGAMMA_ROOTS[0].0;
        let at_root = digamma(root);
        close(at_root, -9.241265521729427e-17, 1e-15, "digamma at the double nearest to its zero");
        for d in [1e-15, 1e-12, 1e-6] {
            // Trigamma at the root is 0.96767…; the double nearest to `root + d` does not differ from the root by
            // exactly `d`.
            let slope = (digamma(root + d) - at_root) / (root + d - root);
            close(slope, 0.967_672_245_447_621, 1e-5, "slope");
        }
        // Both sides of the ends of the interval where the zero is used.
        for x in [1.0, 15.0] {
            close(digamma(x - 1e-13), digamma(x + 1e-13), 1e-11, "border");
        }
    }

    #[test]
    fn polygamma_at_poles_and_infinities() {
        assert_eq!(polygamma(0, 0.0), f64::NEG_INFINITY);
        assert_eq!(polygamma(0, -0.0), f64::INFINITY);
        assert!(polygamma(0, -1.0).is_nan());
        assert_eq!(polygamma(1, 0.0), f64::INFINITY);
        assert_eq!(polygamma(1, -2.0), f64::INFINITY);
        assert_eq!(polygamma(2, 0.0), f64::NEG_INFINITY);
        assert_eq!(polygamma(2, -1.0), f64::NEG_INFINITY);
        assert_eq!(polygamma(0, f64::INFINITY), f64::INFINITY);
        assert_eq!(polygamma(1, f64::INFINITY), 0.0);
        assert_eq!(polygamma(1, 1e-300), f64::INFINITY);
        for n in 0..5 {
            assert!(polygamma(n, f64::NAN).is_nan());
            assert!(polygamma(n, f64::NEG_INFINITY).is_nan());
        }
    }
}
