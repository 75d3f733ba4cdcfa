//! Least squares of a polynomial and the sign function.

/// For each of n points from -1 to 1, the powers of its position, and the difference between polynomial and sign.
fn points(xs: &[f64], n: usize) -> impl Iterator<Item = (Vec<f64>, f64)> {
    (0..n).map(move |i| {
        let t = -1.0 + 2.0 * i as f64 / (n as f64 - 1.0);
        let mut powers = vec![1.0];
        while powers.len() < xs.len() {
            powers.push(powers[powers.len() - 1] * t);
        }
        let sign = if t == 0.0 { 0.0 } else { t.signum() };
        let difference = xs.iter().zip(&powers).map(|(x, p)| x * p).sum::<f64>() - sign;
        (powers, difference)
    })
}

/// Half of the sum of the squared differences.
pub fn value(xs: &[f64], n: usize) -> f64 {
    points(xs, n).map(|(_, difference)| 0.5 * difference * difference).sum()
}

/// The derivatives by xⱼ: the sum of the differences, each multiplied by tʲ.
pub fn gradient(xs: &[f64], n: usize) -> Vec<f64> {
    let mut by_xs = vec![0.0; xs.len()];
    for (powers, difference) in points(xs, n) {
        by_xs.iter_mut().zip(powers).for_each(|(by_x, power)| *by_x += difference * power);
    }
    by_xs
}
