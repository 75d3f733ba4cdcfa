//! The logarithm of the gamma function, precise also where it is small.

use super::polygamma::polygamma;

/// The logarithm of the absolute value of the gamma function; infinite at the poles.
pub fn log_gamma(x: f64) -> f64 {
    // Between -2 and -18 there are zeros, near which the formula of reflection cancels. Below, they are nearer to a pole than
    // the next number is.
    let point = if x < -2.0 && x > -18.0 && x != x.floor() { point_near(x) } else { None };
    point.map_or_else(|| libm::lgamma(x), |point| about_point(point, x))
}

/// A point: the nearest double, what remains, and the value of the function.
type Point = (f64, f64, f64);

/// Points between -2 and -3, where the function is small, and its zeros. (mpmath 1.3.0, with 80 digits)
#[rustfmt::skip]
const POINTS: [Point; 44] = [
    (-2.1875, 0.0, 0.8595421284819503),
    (-2.25, 0.0, 0.5555015450206475),
    (-2.3125, 0.0, 0.32922897638425735),
    (-2.375, 0.0, 0.15820757989552728),
    (-2.4375, 0.0, 0.03145561712747945),
    (-2.5, 0.0, -0.056243716497674054),
    (-2.5625, 0.0, -0.10643015620393895),
    (-2.625, 0.0, -0.11751110030890485),
    (-2.6875, 0.0, -0.084216747739869),
    (-2.75, 0.0, 0.004487897535955773),
    (-2.8125, 0.0, 0.1711733300796651),
    (-2.875, 0.0, 0.46828841650663106),
    (-2.9375, 0.0, 1.0652127813681322),
    (-2.4570247382208006, -3.7075610815513266e-17, 0.0),
    (-2.7476826467274127, 9.055340329338315e-17, 0.0),
    (-3.14358088834998, -2.1818179852331714e-16, 0.0),
    (-3.955294284858598, -1.999428391746348e-17, 0.0),
    (-4.039361839740537, 2.1143995503980602e-16, 0.0),
    (-4.991544640560048, 1.5174411760571722e-16, 0.0),
    (-5.0082181683225935, -4.3926353491015815e-17, 0.0),
    (-5.998607480080875, -3.311862478893795e-16, 0.0),
    (-6.001385294453155, 6.415847287933042e-17, 0.0),
    (-6.999801507890638, 1.0550130037400023e-17, 0.0),
    (-7.000198333407325, 2.504354173632409e-16, 0.0),
    (-7.999975197095821, -5.261737128572354e-17, 0.0),
    (-8.000024800270682, -4.354586297860107e-16, 0.0),
    (-8.999997244250977, -2.2185620509727132e-16, 0.0),
    (-9.000002755714823, -9.491348611623208e-17, 0.0),
    (-9.99999972442663, 4.883037618642443e-16, 0.0),
    (-10.000000275573013, -3.4909708332642057e-16, 0.0),
    (-10.99999997494789, 1.9843998306985407e-16, 0.0),
    (-11.000000025052106, -6.850849812286175e-16, 0.0),
    (-11.999999997912324, -1.0020693920103036e-16, 0.0),
    (-12.000000002087676, 1.2222548112048185e-16, 0.0),
    (-12.99999999983941, 6.747262033096337e-16, 0.0),
    (-13.00000000016059, -6.745919484964342e-16, 0.0),
    (-13.99999999998853, 8.094860741926607e-16, 0.0),
    (-14.00000000001147, -8.094853704222662e-16, 0.0),
    (-14.999999999999236, 8.82932241476868e-16, 0.0),
    (-15.000000000000764, -8.829322382710274e-16, 0.0),
    (-15.999999999999952, -1.668613399265054e-16, 0.0),
    (-16.000000000000046, -1.6094954994609367e-15, 0.0),
    (-16.999999999999996, -7.412564244549576e-16, 0.0),
    (-17.000000000000004, 7.412564244550028e-16, 0.0),
];

/// The nearest point between the same two poles, if it is near.
fn point_near(x: f64) -> Option<Point> {
    let distance = |point: &Point| (x - point.0).abs();
    let between = POINTS.into_iter().filter(|point| point.0.floor() == x.floor());
    between.min_by(|a, b| distance(a).total_cmp(&distance(b))).filter(|point| distance(point) < 0.3)
}

/// `lgamma(r + d) - lgamma(r) = lgamma(z + d) - lgamma(z) - sum of log(1 + d / (r + i)) for 0 <= i < n`, where `z = r + n` is between 2
/// and 3. The first difference on the right is a Taylor series. Each term is proportional to the distance `d`.
fn about_point((r, rest, value): Point, x: f64) -> f64 {
    let d = (x - r) - rest;
    let n = 2.0 - r.floor();
    let (mut sum, mut power) = (0.0, 1.0);
    for k in 1..=20 {
        power *= d / k as f64;
        sum += polygamma(k - 1, r + n) * power;
    }
    value + (0..n as i32).fold(sum, |sum, i| sum - (d / (r + i as f64 + rest)).ln_1p())
}
