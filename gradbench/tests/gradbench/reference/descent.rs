//! Gradient descent, a particle between two charges, and a saddle point.

fn length(xs: &[f64]) -> f64 {
    xs.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The minimum of a function, which returns its value and its gradient.
fn argmin<const N: usize>(f: impl Fn([f64; N]) -> (f64, [f64; N]), start: [f64; N]) -> [f64; N] {
    let (mut x, (mut height, mut slope)) = (start, f(start));
    let (mut size, mut taken) = (1e-5, 0);
    while length(&slope) > 1e-5 {
        if taken == 10 {
            (size, taken) = (size * 2.0, 0);
            continue;
        }
        let next: [f64; N] = std::array::from_fn(|i| x[i] - size * slope[i]);
        if length(&std::array::from_fn::<_, N, _>(|i| x[i] - next[i])) <= 1e-5 {
            break;
        }
        let (next_height, next_slope) = f(next);
        if next_height < height {
            (x, height, slope, taken) = (next, next_height, next_slope, taken + 1);
        } else {
            (size, taken) = (size / 2.0, 0);
        }
    }
    x
}

/// The square of the place at which the particle lands, and its derivative by w. A dot in the formulas is the derivative by
/// w: the path is differentiated step by step.
///
/// The force of a charge at distance r from the particle is r / |r|³, and its derivative is ṙ / |r|³ - 3 (r·ṙ) r / |r|⁵.
fn landing(w: f64) -> (f64, f64) {
    let (mut at, mut at_dot) = ([0.0, 8.0], [0.0, 0.0]);
    let (mut speed, mut speed_dot) = ([0.75, 0.0], [0.0, 0.0]);
    let step = |x: [f64; 2], t: f64, y: [f64; 2]| [x[0] + t * y[0], x[1] + t * y[1]];
    loop {
        let (next, next_dot) = (step(at, 0.1, speed), step(at_dot, 0.1, speed_dot));
        if next[1] <= 0.0 {
            let time = -next[1] / speed[1];
            let time_dot = (-next_dot[1] - time * speed_dot[1]) / speed[1];
            let place = next[0] + time * speed[0];
            let place_dot = next_dot[0] + time_dot * speed[0] + time * speed_dot[0];
            return (place * place, 2.0 * place * place_dot);
        }
        for (charge, charge_dot) in [([10.0, 10.0 - w], [0.0, -1.0]), ([10.0, 0.0], [0.0, 0.0])] {
            let (r, r_dot) = (step(at, -1.0, charge), step(at_dot, -1.0, charge_dot));
            let distance = length(&r);
            let along = r[0] * r_dot[0] + r[1] * r_dot[1];
            let force_dot = step([0.0; 2], distance.powi(-3), r_dot);
            speed = step(speed, 0.1 * distance.powi(-3), r);
            speed_dot = step(speed_dot, 0.1, step(force_dot, -3.0 * along * distance.powi(-5), r));
        }
        (at, at_dot) = (next, next_dot);
    }
}

/// The w for which the particle lands at the origin.
pub fn particle(w: f64) -> f64 {
    let [w] = argmin(
        |[w]| {
            let (value, by_w) = landing(w);
            (value, [by_w])
        },
        [w],
    );
    w
}

/// The saddle point of |x|² - |y|². The largest height over y does not depend on x otherwise than through |x|².
pub fn saddle(start: [f64; 2]) -> [f64; 4] {
    let square = |x: [f64; 2]| (x[0] * x[0] + x[1] * x[1], [2.0 * x[0], 2.0 * x[1]]);
    let lowest = |x: [f64; 2]| argmin(|y| (square(y).0 - square(x).0, square(y).1), start);
    let x = argmin(|x| (square(x).0 - square(lowest(x)).0, square(x).1), start);
    let y = lowest(x);
    [x[0], x[1], y[0], y[1]]
}
