//! Fork and join: parallel reverse passes, their order, and what goes wrong.

use crate::support::{Function, Random, assert_close, check, reverse};
use accel_dual::{Dual, Error, Real, Rev, Settings, grad, join, par_map, value_and_grad, vjp};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

const DETERMINISTIC: Settings = Settings { deterministic: true, ..Settings::DEFAULT };

/// Runs a function in a pool of rayon.
fn with_threads<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
}

/// A random program that forks, and uses numbers of all jobs that its place in the order allows.
struct Program {
    seed: u64,
    depth: usize,
}

impl Program {
    fn part<T: Real>(&self, random: &mut Random, depth: usize, known: &mut Vec<T>) {
        for _ in 0..3 + random.below(6) {
            let (a, b) = (known[random.below(known.len())], known[random.below(known.len())]);
            let next = match random.below(if depth == 0 { 4 } else { 6 }) {
                0 => a + b * T::lit(0.5),
                1 => a * b,
                2 => (a - b).sin(),
                3 => a.tanh(),
                4 => {
                    let (s, t) = (random.below(1 << 30) as u64, random.below(1 << 30) as u64);
                    let part = |seed, known: &[T]| {
                        let mut known = known.to_vec();
                        self.part(&mut Random(seed), depth - 1, &mut known);
                        known
                    };
                    let (left, right) = join(|| part(s, known), || part(t, known));
                    // All numbers of both jobs can be used from now on.
                    known.extend(&left[left.len() / 2..]);
                    known.extend(&right[right.len() / 2..]);
                    left[left.len() - 1] * T::lit(0.7) + right[right.len() - 1]
                }
                _ => {
                    let seeds: Vec<u64> = (0..random.below(5)).map(|_| random.below(1 << 30) as u64).collect();
                    let results = par_map(&seeds, |seed| {
                        let mut known = known.clone();
                        self.part(&mut Random(*seed), depth - 1, &mut known);
                        known[known.len() - 1]
                    });
                    known.extend(&results);
                    results.into_iter().fold(a, |sum, x| sum + x * x * T::lit(0.1))
                }
            };
            known.push(next.tanh());
        }
    }
}

impl Function for Program {
    fn at<T: Real>(&self, xs: &[T]) -> T {
        let mut known = xs.to_vec();
        self.part(&mut Random(self.seed), self.depth, &mut known);
        known[xs.len()..].iter().enumerate().fold(T::zero(), |sum, (k, x)| sum + *x * T::lit(1.0 / (k + 1) as f64))
    }
}

#[test]
fn random_programs_have_the_derivatives_of_forward_mode_and_of_differences() {
    let mut random = Random(7);
    for seed in 0..200 {
        let xs: Vec<f64> = (0..4).map(|_| random.next() * 2.0 - 1.0).collect();
        check(&Program { seed, depth: (seed % 4) as usize }, &xs, &format!("program {seed}"));
    }
}

#[test]
fn thread_counts_agree_and_the_deterministic_mode_has_the_same_bits() {
    let mut random = Random(8);
    let build = |threads| (threads, rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    let pools = [1, 2, 4].map(build);
    for seed in 1000..1020 {
        let program = Program { seed, depth: 3 };
        let xs: Vec<f64> = (0..6).map(|_| random.next() * 2.0 - 1.0).collect();
        let run = |settings: Settings| settings.value_and_grad(|xs: Vec<Rev>| program.at(&xs), &xs).unwrap();
        let (value, gradient) = run(DETERMINISTIC);
        for (threads, pool) in &pools {
            for _ in 0..3 {
                let (v, g) = pool.install(|| run(DETERMINISTIC));
                assert_eq!(v.to_bits(), value.to_bits());
                let bits = |g: &[f64]| g.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&g), bits(&gradient), "program {seed} on {threads} threads");
            }
            let (_, g) = pool.install(|| run(Settings::DEFAULT));
            assert_close(&g, &gradient, 1e-11, &format!("program {seed} on {threads} threads"));
        }
    }
}

#[test]
fn second_derivatives_go_through_forks() {
    let program = Program { seed: 5, depth: 3 };
    let xs = [0.3, -0.2, 0.5];
    let rows = accel_dual::hessian(|xs: [accel_dual::Second; 3]| program.at(&xs), &xs).unwrap();
    for (k, expected) in rows.iter().enumerate() {
        let row = grad(
            |xs: [Rev; 3]| {
                let xs: [Dual<Rev, 1>; 3] = std::array::from_fn(|j| Dual::variable(xs[j], if j == k { 0 } else { 1 }));
                program.at(&xs).tangent[0]
            },
            &xs,
        );
        assert_close(expected, &row.unwrap(), 1e-10, "reverse over forward");
    }
    let single = grad(|xs: [Rev<f32>; 3]| program.at(&xs), &xs.map(|x| x as f32)).unwrap();
    assert_close(&single.map(f64::from), &reverse(&program, &xs), 1e-4, "single precision");
}

#[test]
fn empty_jobs_and_forks_before_any_operation() {
    let f = |(x, y): (Rev, Rev)| {
        let ((a, ()), b) = join(|| join(|| x, || ()), || y);
        let ((), ()) = join(|| (), || ());
        a * b
    };
    assert_eq!(grad(f, &(3.0, 4.0)).unwrap(), (4.0, 3.0));
    let (_, pullback) = vjp(f, (3.0, 4.0)).unwrap();
    assert_eq!((pullback.tape().jobs, pullback.tape().nodes), (1, 1));
    // A job that records nothing itself, but contains one that does.
    let f = |(x, y): (Rev, Rev)| join(|| join(|| x * y, || ()).0, || x).0;
    assert_eq!(grad(f, &(3.0, 4.0)).unwrap(), (4.0, 3.0));
    assert_eq!(grad(|x: Rev| par_map(&[] as &[f64], |_| x).len() as f64 * x, &1.0).unwrap(), 0.0);
}

#[test]
fn numbers_of_all_earlier_jobs_can_be_used() {
    // A result of the first fork is used in the second one, by both jobs, and after it.
    let f = |(x, y): (Rev, Rev)| {
        let (a, b) = join(|| x * y, || x + y);
        let (c, d) = join(|| a * b, || a + b * x);
        let (e, ()) = join(|| join(|| a * c, || b * d).0, || ());
        (a * c + b * d) * e
    };
    let g = |[x, y]: [f64; 2]| {
        let (a, b) = (x * y, x + y);
        let (c, d) = (a * b, a + b * x);
        (a * c + b * d) * (a * c)
    };
    for settings in [Settings::DEFAULT, DETERMINISTIC] {
        let (value, (dx, dy)) = settings.value_and_grad(f, &(1.2, 0.7)).unwrap();
        assert!((value - g([1.2, 0.7])).abs() < 1e-12);
        let slope = |k: usize| {
            let moved = |h: f64| std::array::from_fn(|j| [1.2, 0.7][j] + if j == k { h } else { 0.0 });
            (g(moved(1e-5)) - g(moved(-1e-5))) / 2e-5
        };
        assert_close(&[dx, dy], &[slope(0), slope(1)], 1e-8, "numbers of earlier jobs");
    }
}

#[test]
fn a_hundred_thousand_forks() {
    // Inside of a pool: rayon wakes a thread for each fork of a thread outside.
    with_threads(2, forks);
}

fn forks() {
    // One after the other,
    let chain = |(x, y): (Rev, Rev)| {
        let mut z = x;
        for _ in 0..100_000 {
            let (a, b) = join(|| z * y, || z * x);
            z = (a + b) * 0.5;
        }
        z
    };
    for settings in [Settings::DEFAULT, DETERMINISTIC] {
        // z = x ((x + y) / 2)^n
        let (value, (dx, dy)) = settings.value_and_grad(chain, &(1.0, 1.0)).unwrap();
        assert_close(&[value, dx, dy], &[1.0, 1.0 + 50_000.0, 50_000.0], 1e-9, "a chain of forks");
    }
    // empty ones,
    let empty = |x: Rev| {
        for _ in 0..100_000 {
            let ((), ()) = join(|| (), || ());
        }
        x * x
    };
    assert_eq!(grad(empty, &3.0).unwrap(), 6.0);
    // and nested ones, as a tree.
    fn tree(n: usize, x: Rev, y: Rev) -> Rev {
        if n < 2 {
            return x * y;
        }
        let (a, b) = join(|| tree(n / 2, x, y), || tree(n - n / 2, x, y));
        a + b
    }
    let (value, slope) = value_and_grad(|(x, y)| tree(100_000, x, y), &(2.0, 3.0)).unwrap();
    assert_eq!((value, slope), (600_000.0, (300_000.0, 200_000.0)));
    let squares = |xs: Vec<Rev>| par_map(&xs, |x| *x * *x * xs[0]).iter().sum();
    let gradient = grad(squares, &vec![1.0; 100_000]).unwrap();
    assert_eq!((gradient[0], gradient[1], gradient[99_999]), (100_002.0, 2.0, 2.0));
}

#[test]
fn deep_nesting() {
    // As deep as the stack of a thread allows for the program itself.
    fn nest(n: usize, x: Rev, y: Rev) -> Rev {
        if n == 0 { x * y } else { join(|| nest(n - 1, x * y, y), || x * y).0 + x * y }
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(2).stack_size(64 << 20).build().unwrap();
    let (dx, dy) = threads.install(|| grad(|(x, y)| nest(1000, x, y), &(2.0, 1.0)).unwrap());
    // The sum of x y^k for k from 1 to 1001.
    assert_close(&[dx, dy], &[1001.0, 2.0 * 1001.0 * 1002.0 / 2.0], 1e-12, "deep nesting");
}

#[test]
fn a_panic_reaches_the_caller_and_the_thread_can_go_on() {
    for left in [true, false] {
        let panics = |x: Rev| {
            let fail = |fails: bool| if fails { panic!("a job fails") } else { x * x };
            join(|| fail(left), || fail(!left)).0
        };
        let caught = catch_unwind(AssertUnwindSafe(|| grad(panics, &2.0)));
        let message = caught.unwrap_err();
        assert_eq!(message.downcast_ref::<&str>(), Some(&"a job fails"));
        assert_eq!(grad(|x| x * x, &2.0).unwrap(), 4.0);
    }
    let caught = catch_unwind(|| grad(|_: Rev| -> Rev { panic!("the program fails") }, &2.0));
    assert!(caught.is_err());
    let caught = catch_unwind(|| {
        grad(|x: Rev| par_map(&[1, 2, 3], |k| if *k == 2 { panic!("an element fails") } else { x * x })[0], &2.0)
    });
    assert!(caught.is_err());
    assert_eq!(grad(|x| x * x, &2.0).unwrap(), 4.0);
}

#[test]
fn a_program_can_catch_a_panic_of_its_jobs() {
    let f = |(x, y): (Rev, Rev)| {
        let z = x * y;
        let caught = catch_unwind(AssertUnwindSafe(|| join(|| z * x, || -> Rev { panic!("a job fails") })));
        assert!(caught.is_err());
        let (a, b) = join(|| z * y, || z * x);
        a + b
    };
    // x y² + x² y
    assert_eq!(grad(f, &(2.0, 3.0)).unwrap(), (9.0 + 12.0, 12.0 + 4.0));
}

#[test]
fn numbers_that_move_between_parallel_jobs_are_errors() {
    for settings in [Settings::DEFAULT, DETERMINISTIC] {
        let slot = Mutex::new(None);
        let smuggle = |(x, y): (Rev, Rev)| {
            let give = || {
                let z = x * y;
                *slot.lock().unwrap() = Some(z);
                z
            };
            let take = || loop {
                if let Some(z) = *slot.lock().unwrap() {
                    return z * x;
                }
                std::thread::yield_now();
            };
            let (a, b) = with_threads(2, || join(give, take));
            a + b
        };
        // The pool of this program belongs to no job, so its numbers are foreign.
        let e = settings.value_and_grad(smuggle, &(1.0, 2.0)).unwrap_err();
        assert_eq!(e, Error::Foreign { op: "grad" });
        *slot.lock().unwrap() = None;
        let (give, take) = (Mutex::new(None), Mutex::new(None));
        let smuggle = |(x, y): (Rev, Rev)| {
            // The jobs may run one after the other: the error does not depend on it.
            let (a, b) = join(
                || {
                    let z = x * y;
                    *give.lock().unwrap() = Some(z);
                    z + take.lock().unwrap().map_or(x, |t: Rev| t * x)
                },
                || {
                    let z = x + y;
                    *take.lock().unwrap() = Some(z);
                    z + give.lock().unwrap().map_or(x, |t: Rev| t * x)
                },
            );
            a + b
        };
        let e = with_threads(1, || settings.value_and_grad(smuggle, &(1.0, 2.0))).unwrap_err();
        assert_eq!(e, Error::Smuggled { op: "grad" });
        assert!(e.to_string().contains("from before the fork"), "{e}");
    }
}

#[test]
fn numbers_of_other_calls_are_errors() {
    let kept = Mutex::new(None);
    let keep = |x: Rev| {
        let z = x * x + x;
        *kept.lock().unwrap() = Some(z * 2.0);
        z
    };
    let _ = value_and_grad(keep, &2.0).unwrap();
    let stale: Rev = kept.lock().unwrap().unwrap();
    let foreign = Error::Foreign { op: "grad" };
    // In a later call, also as its result, and where nothing is recorded.
    assert_eq!(grad(|x: Rev| x * stale, &2.0).unwrap_err(), foreign);
    assert_eq!(grad(|_: Rev| stale, &2.0).unwrap_err(), foreign);
    assert_eq!(grad(|x: Rev| join(|| x * stale, || x).0, &2.0).unwrap_err(), foreign);
    let outside = stale * stale.exp();
    assert_eq!(outside.value(), 12.0 * 12f64.exp());
    assert_eq!(grad(|x: Rev| outside + x, &2.0).unwrap_err(), foreign);
    // The number of an outer call in an inner one.
    let outer = |x: Rev| {
        let inner = grad(|y: Rev| x * y, &3.0);
        assert_eq!(inner.unwrap_err(), Error::Foreign { op: "grad" });
        // An inner call with its own numbers does not disturb the outer one.
        x * grad(|y: Rev| y * y * y, &x.value()).unwrap()
    };
    assert_eq!(grad(outer, &2.0).unwrap(), 12.0);
    // Threads that `join` did not start record nothing.
    let threads = |(x, y): (Rev, Rev)| std::thread::scope(|s| s.spawn(|| x * y).join().unwrap());
    assert_eq!(grad(threads, &(2.0, 3.0)).unwrap_err(), foreign.clone());
    assert!(foreign.to_string().starts_with("grad: expected numbers of this call"));
}

#[test]
fn programs_without_derivatives_run_in_parallel_too() {
    let program = Program { seed: 3, depth: 4 };
    let xs = [0.1, 0.2, 0.3];
    let plain = program.at(&xs);
    assert_eq!(value_and_grad(|xs: [Rev; 3]| program.at(&xs), &xs).unwrap().0, plain);
    assert_eq!(program.at(&xs.map(Dual::<f64, 2>::constant)).value, plain);
    assert_eq!(join(|| 1, || "two"), (1, "two"));
    assert_eq!(par_map(&[1, 2, 3], |k| k * k), [1, 4, 9]);
}

#[test]
fn pullbacks_can_be_called_from_several_threads_and_in_other_programs() {
    let program = Program { seed: 11, depth: 4 };
    let xs = vec![0.1, 0.2, 0.3];
    let (_, pullback) = vjp(|xs: Vec<Rev>| program.at(&xs), xs.clone()).unwrap();
    let expected = reverse(&program, &xs);
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| (0..20).for_each(|_| assert_close(&pullback.call(&1.0).unwrap(), &expected, 1e-12, "threads")));
        }
    });
    let outer = |x: Rev| {
        let (a, b) = join(|| x * pullback.call(&1.0).unwrap()[0], || x * x);
        a + b * pullback.call(&2.0).unwrap()[1]
    };
    let slope = expected[0] + 2.0 * 2.0 * 2.0 * expected[1];
    assert_close(&[grad(outer, &2.0).unwrap()], &[slope], 1e-12, "a pullback inside a program");
}
