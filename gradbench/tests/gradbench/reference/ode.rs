//! A chain of differential equations, solved by the method of Runge and Kutta.

/// y₀' = x₀, yᵢ' = xᵢ yᵢ₋₁.
fn slope(xs: &[f64], ys: &[f64]) -> Vec<f64> {
    (0..xs.len()).map(|i| xs[i] * if i == 0 { 1.0 } else { ys[i - 1] }).collect()
}

/// xs + t ys.
fn along(xs: &[f64], t: f64, ys: &[f64]) -> Vec<f64> {
    xs.iter().zip(ys).map(|(x, y)| x + t * y).collect()
}

/// The four points of a step at which the slope is computed, and the four slopes.
fn stages(xs: &[f64], ys: &[f64], h: f64) -> [(Vec<f64>, Vec<f64>); 4] {
    let stage = |point: Vec<f64>| {
        let slope = slope(xs, &point);
        (point, slope)
    };
    let first = stage(ys.to_vec());
    let second = stage(along(ys, 0.5 * h, &first.1));
    let third = stage(along(ys, 0.5 * h, &second.1));
    let fourth = stage(along(ys, h, &third.1));
    [first, second, third, fourth]
}

/// The weights of the slopes, in a step of length 1.
const WEIGHTS: [f64; 4] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];

/// The solutions before each step, and the last one.
fn solutions(xs: &[f64], steps: usize) -> Vec<Vec<f64>> {
    let h = 2.0 / steps as f64;
    let mut all = vec![vec![0.0; xs.len()]];
    for step in 0..steps {
        let slopes = stages(xs, &all[step], h);
        let next = slopes.iter().zip(WEIGHTS).fold(all[step].clone(), |ys, ((_, k), w)| along(&ys, w * h, k));
        all.push(next);
    }
    all
}

/// The solution at time 2.
pub fn value(xs: &[f64], steps: usize) -> Vec<f64> {
    solutions(xs, steps).pop().unwrap()
}

/// The gradient of the last number of the solution: the steps in reverse order, and in each step the slopes in reverse
/// order. The point of a slope depends on the slope before it.
pub fn gradient(xs: &[f64], steps: usize) -> Vec<f64> {
    let (n, h) = (xs.len(), 2.0 / steps as f64);
    let (mut by_xs, mut by_ys) = (vec![0.0; n], vec![0.0; n]);
    by_ys[n - 1] = 1.0;
    for ys in solutions(xs, steps).iter().rev().skip(1) {
        let stages = stages(xs, ys, h);
        let (mut by_start, mut by_next_point) = (by_ys.clone(), vec![0.0; n]);
        for stage in (0..4).rev() {
            let reach = [0.5 * h, 0.5 * h, h, 0.0][stage];
            let by_slope = along(&along(&vec![0.0; n], WEIGHTS[stage] * h, &by_ys), reach, &by_next_point);
            by_next_point = (0..n).map(|i| if i + 1 < n { xs[i + 1] * by_slope[i + 1] } else { 0.0 }).collect();
            let point = &stages[stage].0;
            (0..n).for_each(|i| by_xs[i] += by_slope[i] * if i == 0 { 1.0 } else { point[i - 1] });
            by_start = along(&by_start, 1.0, &by_next_point);
        }
        by_ys = by_start;
    }
    by_xs
}
