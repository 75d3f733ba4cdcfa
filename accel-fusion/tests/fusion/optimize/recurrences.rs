//! Random recurrences: loops that fill tables in place. Their derivatives agree with each other and with finite differences, and after all
//! passes, they take time and memory in proportion to their updates.

use accel_ad::{grad, hvp, jvp};
use accel_core::backend::Backend;
use accel_core::interp::Interpreter;
use accel_core::prelude::*;
use accel_core::repr::{ArrayTuple, Column, ScalarType};
use accel_fusion::kernel::{ArrayId, Op, Program, Stmt, Verified};
use accel_fusion::pipeline::{Target, lower, optimize_for};
use accel_fusion::simplify;

type V = Acc<Vector<f64>>;
type S = Acc<Scalar<f64>>;

/// How a step changes the state.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Step {
    Element,
    InBranch,
    Row,
    /// An inner loop changes an element in each of its steps.
    InnerLoop,
    /// Several recurrences at once.
    Batch,
}

/// A recurrence. The argument is a vector, of which the state is made.
#[derive(Clone, Copy, Debug)]
struct Recurrence {
    /// The form of the number of steps, and of those of an inner loop.
    steps: usize,
    inner: usize,
    step: Step,
    /// Which element is changed, and which ones are read.
    to: i64,
    from: [i64; 2],
    /// The value is a linear function of the state.
    linear: bool,
}

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

impl Recurrence {
    fn random(seed: u64) -> Recurrence {
        let mut r = Numbers(seed);
        (0..4).for_each(|_| _ = r.below(2));
        let step =
            [Step::Element, Step::Element, Step::InBranch, Step::Row, Step::InnerLoop, Step::InnerLoop, Step::Batch];
        Recurrence {
            steps: r.below(10),
            inner: r.below(11),
            step: step[r.below(step.len())],
            to: r.below(4) as i64,
            from: [0, 1].map(|_| r.below(3) as i64),
            linear: r.below(4) == 0,
        }
    }

    fn value(&self, y: V, k: Exp<i64>, x: V) -> Exp<f64> {
        let [i, j] = self.from.map(|d| y.at((k + d).min(y.len() - 1)));
        let next = x.at(k % x.len());
        if self.linear { i * 0.5 - j * next } else { (i * 0.7 + j * next).sin() }
    }

    fn place(&self, k: Exp<i64>, n: Exp<i64>) -> Exp<i64> {
        if self.to == 3 { n - 1 - k % n } else { (k + self.to).min(n - 1) }
    }

    fn of(self, x: V) -> S {
        let n = x.len();
        let number = |form: usize| match form {
            0 => constant(0i64),
            1 => n - 3,
            2 => n - 2,
            3 | 4 => n - 1,
            5 => n,
            6 => n + 1,
            7 => n / 2,
            8 => (n - 1).min(n * 2 - 3),
            9 => (n / 2).max(n - 2),
            _ => constant(3i64),
        };
        let element = move |k: Exp<i64>, y: V| set(y, self.place(k, y.len()), self.value(y, k, x));
        match self.step {
            Step::Element => sum(map(|y| y * y, aiterate_indexed(number(self.steps), element, x))),
            Step::InBranch => {
                let step = |k: Exp<i64>, y: V| acond((k % 2).eq(0), element(k, y), y);
                sum(map(|y| y * y, aiterate_indexed(number(self.steps), step, x)))
            }
            Step::Row => {
                let step = |k: Exp<i64>, m: Acc<Matrix<f64>>| {
                    let row = |d: i64| slice(((k + d).min(n - 1), All), m);
                    set_row(
                        m,
                        self.place(k, n),
                        zip_with(|a, b| (a + b * x.at(0)).sin(), row(self.from[0]), row(self.from[1])),
                    )
                };
                let start = generate((n, 3), |(i, j)| x.at(i) + j.cast::<f64>());
                sum_all(map(|y| y * y, aiterate_indexed(number(self.steps), step, start)))
            }
            Step::InnerLoop => {
                let sweep = |k: Exp<i64>, y: V| {
                    let entry = |j: Exp<i64>, y: V| {
                        set(y, self.place(j, y.len()), self.value(y, j, x) + y.at(k % y.len()) * 0.1)
                    };
                    aiterate_indexed(number(self.inner), entry, y)
                };
                sum(map(|y| y * y, aiterate_indexed(number(self.steps), sweep, x)))
            }
            Step::Batch => {
                let rows = generate((2, n), |(i, j)| x.at(j) * (i.cast::<f64>() + 1.0));
                sum(vmap(|y: V| sum(map(|y| y * y, aiterate_indexed(number(self.steps), element, y))), rows))
            }
        }
    }
}

fn vector(n: usize, seed: f64) -> Vector<f64> {
    Array::vector((0..n).map(|k| (k as f64 * 0.7 + seed).sin() * 0.6 + 0.1).collect())
}

/// The numbers of a result of one array.
fn numbers(found: &ArrayTuple) -> Vec<f64> {
    let ArrayTuple::Array(a) = found else { panic!("one array: {found:?}") };
    let Column::F64(all) = &a.columns[0] else { panic!("{found:?}") };
    all.to_vec()
}

fn interpreted<A: Arrays, R: Arrays>(f: &Afun<A, R>, x: &ArrayTuple) -> Vec<f64> {
    numbers(&Interpreter.compile(f.program().unwrap()).unwrap().run(x).unwrap())
}

/// The program after all passes, for each kind of target.
fn optimized<A: Arrays, R: Arrays>(f: &Afun<A, R>) -> [Verified<Program>; 2] {
    let lowered = lower(&simplify(f.program().unwrap()).unwrap().0).unwrap();
    [Target::Any, Target::Processor].map(|target| optimize_for(&lowered, target, false).unwrap().program)
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], tolerance: f64, what: &dyn std::fmt::Debug) {
    let near = |(x, y): (&f64, &f64)| (x - y).abs() <= tolerance * (1.0 + y.abs());
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?} {expected:?}\n{what:?}");
}

/// Loops keep no states of this rank, neither on tapes nor in lists.
fn keeps_no_states(p: &Program, rank: usize) -> bool {
    let numbers = |a: &ArrayId, rank: usize| p.arrays[*a].rank >= rank && p.arrays[*a].columns[..] == [ScalarType::F64];
    let is_in_proportion = |s: &Stmt| {
        let Op::While { to, init, .. } = &s.op else { return true };
        !to[init.len()..].iter().any(|a| numbers(a, rank + 1))
    };
    p.tapes() == 0 && p.body.walk().all(is_in_proportion)
}

/// Checks a random recurrence.
fn check(seed: u64) {
    let r = Recurrence::random(seed);
    let f = afun(move |x: V| r.of(x));
    let (gradient, product, tangent) = (grad(&f), hvp(&f), jvp(&f));
    let [gradients, products] = [optimized(&gradient), optimized(&product)];
    let rank = if matches!(r.step, Step::Row | Step::Batch) { 2 } else { 1 };
    for p in &gradients {
        assert!(keeps_no_states(p, rank), "{r:?}\n{p}");
    }
    if r.step != Step::InnerLoop {
        products.iter().for_each(|p| assert!(keeps_no_states(p, rank), "{r:?}\n{p}"));
    }
    let forward = afun(move |x: V, d: V| call(&tangent, (x, d)).1);
    for n in [1, 2, 3, 4, 7] {
        let (x, d) = (vector(n, 0.3), vector(n, 1.9));
        let both = (&x, &d).to_tuple();
        let argument = x.to_tuple();
        let slopes = interpreted(&gradient, &argument);
        for p in &gradients {
            close(&numbers(&ArrayTuple::Array(p.evaluate(&argument).unwrap().remove(0))), &slopes, 1e-12, &(n, r));
        }
        let expected = interpreted(&product, &both);
        for p in &products {
            close(&numbers(&ArrayTuple::Array(p.evaluate(&both).unwrap().remove(0))), &expected, 1e-11, &(n, r));
        }
        // Forward mode, and finite differences.
        let total = |a: &[f64]| a.iter().zip(d.to_vec()).map(|(a, d)| a * d).sum::<f64>();
        close(&interpreted(&forward, &both), &[total(&slopes)], 1e-10, &(n, r));
        let moved = |h: f64| {
            let all = x.to_vec().iter().zip(d.to_vec()).map(|(x, d)| x + h * d).collect();
            Array::vector(all).to_tuple()
        };
        // Two differences, without their errors of the second order: some of these functions bend much.
        let difference = |f: &dyn Fn(f64) -> Vec<f64>| -> Vec<f64> {
            let slope = |h: f64| f(h).into_iter().zip(f(-h)).map(move |(a, b)| (a - b) / (2.0 * h)).collect::<Vec<_>>();
            slope(1e-4).iter().zip(slope(2e-4)).map(|(a, b)| (4.0 * a - b) / 3.0).collect()
        };
        close(&difference(&|h| interpreted(&f, &moved(h))), &[total(&slopes)], 1e-5, &(n, r));
        close(&difference(&|h| interpreted(&gradient, &moved(h))), &expected, 1e-5, &(n, r));
    }
}

#[test]
fn recurrences_keep_no_states() {
    (0..40).for_each(check);
}

#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn many_recurrences_keep_no_states() {
    (0..400).for_each(check);
}
