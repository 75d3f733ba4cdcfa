//! Elements that are made of others: Rust arrays, vectors, rotations, enums, numbers of 16 bits.

use super::check::Suite;
use super::samples::*;
use accel::geometry::{QuatExp, Vec3, Vec3Exp};
use accel::half::{Bf16, F16, narrow, rounded, widen};
use accel::prelude::*;

pub fn all(t: &Suite) {
    rust_arrays(t);
    sums_of_iterators(t);
    rotations(t);
    enums(t);
    halves(t);
}

fn rust_arrays(t: &Suite) {
    let prog = afun(|xs: Acc<Vector<[i64; 3]>>| {
        let turned = map(|[x, y, z]: [Exp<i64>; 3]| [y, z, x], xs);
        let sums = scanl1(|a: [Exp<i64>; 3], b: [Exp<i64>; 3]| [0, 1, 2].map(|k| a[k] + b[k]), turned);
        (imap(|i, x: [Exp<i64>; 3]| pick(x, i % 5 - 1), sums), [turned, sums])
    });
    for n in [0, 1, 2, 7, 1000] {
        let xs: Vec<[i64; 3]> = (0..n).map(|i| [i, i * i % 7, 1]).collect();
        let turned: Vec<[i64; 3]> = xs.iter().map(|[x, y, z]| [*y, *z, *x]).collect();
        let add = |sum: &mut [i64; 3], x: &[i64; 3]| {
            *sum = [0, 1, 2].map(|k| sum[k] + x[k]);
            Some(*sum)
        };
        let sums: Vec<[i64; 3]> = turned.iter().scan([0; 3], add).collect();
        let picked = sums.iter().enumerate().map(|(i, x)| x[(i as i64 % 5 - 1).clamp(0, 2) as usize]).collect();
        let expected = (Array::vector(picked), [Array::vector(turned), Array::vector(sums)]);
        t.is(prog.clone(), &Array::vector(xs), expected);
    }
}

fn sums_of_iterators(t: &Suite) {
    let prog = afun(|xs: Acc<Vector<[i64; 3]>>| {
        let numbers = |x: [Exp<i64>; 3]| -> [Exp<i64>; 4] {
            let none: [Exp<i64>; 0] = [];
            let squares: Exp<i64> = x.iter().map(|x| *x * *x).sum();
            [squares, x.iter().product(), none.iter().sum(), none.into_iter().product()]
        };
        map(numbers, xs)
    });
    let found = [[1, 2, 3], [-4, 0, 5]].map(|x: [i64; 3]| [x.iter().map(|x| x * x).sum(), x.iter().product(), 0, 1]);
    t.is(prog, &Array::vector(vec![[1, 2, 3], [-4, 0, 5]]), Array::vector(found.to_vec()));
}

/// Turned by a quarter around an axis, and the sum of all.
fn rotations(t: &Suite) {
    let prog = afun(|ps: Acc<Vector<Vec3<f64>>>| {
        let q = QuatExp::from_rotation_vector(Vec3Exp::new(0.0, 0.0, std::f64::consts::FRAC_PI_2));
        let turned = map(|p: Vec3Exp<f64>| q * p, ps);
        (turned, fold(|a: Vec3Exp<f64>, b: Vec3Exp<f64>| a + b, Vec3Exp::new(0.0, 0.0, 0.0), turned))
    });
    for n in [0, 1, 100] {
        let all: Vector<f64> = vector(3 * n);
        let number = |i: usize| at(&all, &[i]);
        let ps: Vec<Vec3<f64>> =
            (0..n).map(|i| Vec3::new(number(3 * i), number(3 * i + 1), number(3 * i + 2))).collect();
        let turned: Vec<Vec3<f64>> = ps.iter().map(|p| Vec3::new(-p.y, p.x, p.z)).collect();
        let zero = Vec3::new(0.0, 0.0, 0.0);
        let sum = turned.iter().fold(zero, |a, b| Vec3::new(a.x + b.x, a.y + b.y, a.z + b.z));
        t.near(1e-12, prog.clone(), &Array::vector(ps), (Array::vector(turned), Array::scalar(sum)));
    }
}

#[derive(Clone, Debug, PartialEq, Elt)]
enum Step {
    Stay,
    Walk { north: i64, east: i64 },
    Jump(i64, bool),
}

/// A walk of steps of several kinds.
fn enums(t: &Suite) {
    let prog = afun(|steps: Acc<Vector<Step>>| {
        let moved = |step: StepExp| {
            let jump = |far: Exp<i64>, up: Exp<bool>| cond(up, (far, 0), (0, far));
            step.match_(|| (0, 0), |north: Exp<i64>, east: Exp<i64>| (north, east), jump)
        };
        let undone = |step: StepExp| {
            let back = |north: Exp<i64>, east: Exp<i64>| StepExp::walk(-north, -east);
            step.match_(StepExp::stay, back, |far: Exp<i64>, up: Exp<bool>| StepExp::jump(-far, up))
        };
        (map(moved, steps), map(undone, steps))
    });
    for n in [0, 1, 3, 500] {
        let step = |i: i64| match i % 4 {
            0 => Step::Jump(i, i % 8 == 0),
            1 => Step::Walk { north: i, east: -2 },
            2 => Step::Stay,
            _ => Step::Walk { north: 0, east: 3 },
        };
        let steps: Vec<Step> = (0..n).map(step).collect();
        let moved = steps.iter().map(|s| match s {
            Step::Stay => (0, 0),
            Step::Walk { north, east } => (*north, *east),
            Step::Jump(far, true) => (*far, 0),
            Step::Jump(far, false) => (0, *far),
        });
        let undone = steps.iter().map(|s| match s {
            Step::Stay => Step::Stay,
            Step::Walk { north, east } => Step::Walk { north: -north, east: -east },
            Step::Jump(far, up) => Step::Jump(-far, *up),
        });
        let expected = (Array::vector(moved.collect()), Array::vector(undone.collect()));
        t.is(prog.clone(), &Array::vector(steps), expected);
    }
}

/// Stored with 16 bits between two computations.
fn halves(t: &Suite) {
    let prog = afun(|xs: Acc<Vector<F16>>, scale: Acc<Scalar<f32>>| {
        let stored = narrow::<Bf16, _>(widen(xs) * scale);
        (sum(widen(stored)), widen(stored), rounded::<F16, _>(widen(xs) * scale))
    });
    for n in [0, 1, 70] {
        let xs: Vec<F16> = (0..n).map(|i| F16::from_f32(i as f32 * 0.37 - 7.0)).collect();
        let scaled: Vec<f32> = xs.iter().map(|x| x.to_f32() * 300.3).collect();
        let stored: Vec<f32> = scaled.iter().map(|x| Bf16::from_f32(*x).to_f32()).collect();
        let total = stored.iter().map(|x| f64::from(*x)).sum::<f64>() as f32;
        let rounded = scaled.iter().map(|x| F16::from_f32(*x).to_f32()).collect();
        let expected = (Array::scalar(total), Array::vector(stored), Array::vector(rounded));
        t.near(1e-6, prog.clone(), (&Array::vector(xs), &Array::scalar(300.3)), expected);
    }
}
