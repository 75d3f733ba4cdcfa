//! Pendulums with friction, by the classical Runge-Kutta method in a loop of scalar code.

use accel::prelude::*;

const H: f64 = 0.05;

type State = (Exp<f64>, Exp<f64>);
type Pendulums = (Acc<Vector<f64>>, Acc<Vector<f64>>, Acc<Vector<f64>>, Acc<Vector<f64>>);

/// The sum of the squared distances of the angles after some steps from observed ones. A pendulum has a squared frequency, a
/// friction, a first angle and a first speed.
pub fn loss(steps: i64, (w, c, angle, speed): Pendulums, observed: Acc<Vector<f64>>) -> Acc<Scalar<f64>> {
    let distance = |((w, c), (angle, speed)), observed| {
        let difference = last_angle(steps, (w, c), (angle, speed)) - observed;
        difference * difference
    };
    sum(zip_with(distance, zip(zip(w, c), zip(angle, speed)), observed))
}

fn last_angle(steps: i64, (w, c): (Exp<f64>, Exp<f64>), start: State) -> Exp<f64> {
    let slope = |(angle, speed): State| (speed, -(w * angle.sin()) - c * speed);
    let moved = |(x, v): State, (dx, dv): State, h: f64| (x + dx * h, v + dv * h);
    let step = |s: State| {
        let k1 = slope(s);
        let k2 = slope(moved(s, k1, H / 2.0));
        let k3 = slope(moved(s, k2, H / 2.0));
        let k4 = slope(moved(s, k3, H));
        let mean = |a: Exp<f64>, b: Exp<f64>, c: Exp<f64>, d: Exp<f64>| (a + b * 2.0 + c * 2.0 + d) * (H / 6.0);
        (s.0 + mean(k1.0, k2.0, k3.0, k4.0), s.1 + mean(k1.1, k2.1, k3.1, k4.1))
    };
    type Counted = (Exp<i64>, State);
    let (_, (angle, _)) = while_(|(k, _): Counted| k.lt(steps), |(k, s): Counted| (k + 1, step(s)), (0i64, start));
    angle
}
