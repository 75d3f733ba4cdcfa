//! Random numbers: the words of the generator, the same bits everywhere, and the distributions of what is made of them. All keys are fixed, so each run
//! has the same numbers.

use accel::backend::Backend;
use accel::distributions::{binomial_lpmf, poisson_lpmf};
use accel::interp::Interpreter;
use accel::native::{Native, VectorizedInterpreter};
use accel::prelude::*;
use accel::random::*;
use accel_fusion::{KernelEvaluator, OptimizedEvaluator};
use rayon::ThreadPoolBuilder;

use std::fmt::Debug;

type V = Acc<Vector<f64>>;

/// The known answers of Random123 (kat_vectors, `philox4x32 10`).
#[test]
fn known_answers() {
    let answers: [([u32; 4], [u32; 2], [u32; 4]); 3] = [
        ([0; 4], [0; 2], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]),
        ([u32::MAX; 4], [u32::MAX; 2], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]),
        (
            [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
            [0xa4093822, 0x299f31d0],
            [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
        ),
    ];
    let block = afun(|counter: Acc<Vector<u32>>, key: Acc<Vector<u32>>| {
        let words = philox([0, 1].map(|i| key.at(i)), [0, 1, 2, 3].map(|i| counter.at(i)));
        stack(words.map(|word| unit(word)))
    });
    for backend in backends() {
        for (counter, key, words) in answers {
            let (counter, key) = (Array::vector(counter.to_vec()), Array::vector(key.to_vec()));
            assert_eq!(run_on(&*backend, &block, (&counter, &key)).unwrap().to_vec(), words, "{}", backend.name());
        }
    }
}

fn backends() -> Vec<Box<dyn Backend>> {
    vec![
        Box::new(Interpreter),
        Box::new(KernelEvaluator),
        Box::new(OptimizedEvaluator),
        Box::new(Native),
        Box::new(VectorizedInterpreter),
    ]
}

/// Runs a program on all backends, in several pools of threads, and expects the same results. They contain no NaN.
#[track_caller]
fn same<R: Arrays + Debug>(what: &str, program: Afun<(), R>) {
    let text = |backend: &dyn Backend| {
        format!("{:?}", run_on(backend, &program, &()).unwrap_or_else(|e| panic!("{what}: {e}")))
    };
    let expected = text(&Interpreter);
    for backend in backends() {
        assert_eq!(text(&*backend), expected, "{what} on {}", backend.name());
    }
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| text(&Native)), expected, "{what} with {threads} threads");
    }
    #[cfg(feature = "opencl")]
    same_on_opencl(what, &program, &expected);
}

#[cfg(feature = "opencl")]
fn same_on_opencl<R: Arrays + Debug>(what: &str, program: &Afun<(), R>, expected: &str) {
    use crate::support::left_out;
    use accel::opencl::OpenCl;
    let opencl = match OpenCl::shared() {
        Ok(opencl) => opencl,
        Err(e) => return left_out(&e.to_string()),
    };
    assert_eq!(format!("{:?}", run_on(opencl, program, &()).unwrap()), expected, "{what} on OpenCL");
}

fn numbers_of<T: Floating + Debug>() {
    let n = 1003;
    same("uniform", afun(move || uniform::<_, T>(key(1), n)));
    same("uniform, a matrix", afun(move || uniform::<_, T>(key(1), (17, 59))));
    same("normal", afun(move || normal::<_, T>(key(2), n)));
    same("exponential", afun(move || exponential::<_, T>(key(3), (7, 3, 5))));
    same("bernoulli", afun(move || bernoulli(key(4), fill(n, lit::<T>(0.3)))));
    same("categorical", afun(move || categorical(key(5), fill((101, 7), lit::<T>(0.0)))));
    let parameters = |n: i64| generate(n, |i: Exp<i64>| (i + 1).cast::<T>() * lit::<T>(0.01));
    same("gamma", afun(move || gamma(key(6), parameters(n))));
    same("beta", afun(move || beta(key(7), parameters(n), reverse(parameters(n)))));
    same("poisson", afun(move || poisson(key(8), parameters(n) * lit::<T>(3.0))));
}

#[test]
fn the_same_bits() {
    numbers_of::<f32>();
    numbers_of::<f64>();
    same("keys", afun(|| map(|k: KeyExp| philox_of(k), keys(key(9), (3, 4)))));
    same("randint", afun(|| randint(key(10), 1003, -5, 1i64 << 62)));
    same("permutation", afun(|| permutation(key(11), 1003)));
    same("choice", afun(|| choice(key(12), (20, 20), iota(7))));
}

fn philox_of(k: KeyExp) -> Exp<f64> {
    k.uniform(0)
}

/// An element depends on the key and on its number only: in arrays of any shape, in scalar code, in loops, and in lanes.
#[test]
fn elements_are_functions_of_their_numbers() {
    let program = afun(|| {
        let all = normal::<_, f64>(key(1), 24);
        let matrix = flatten(normal::<_, f64>(key(1), (4, 6)));
        let of_scalar_code = generate(24, |i: Exp<i64>| key(1).normal::<f64>(i));
        let one_by_one = aiterate_indexed(24, |i, xs: V| set(xs, i, key(1).normal::<f64>(i)), fill(24, 0.0));
        let in_lanes = vmap(|k: Acc<Scalar<Key>>| normal::<_, f64>(the(k), 24), fill(1, key(1)));
        (all, matrix, of_scalar_code, one_by_one, flatten(in_lanes))
    });
    let (all, b, c, d, e) = run(&program, &()).unwrap();
    for other in [b, c, d, e] {
        assert_eq!(all.to_vec(), other.to_vec());
    }
    let program = afun(|key: Acc<Scalar<Key>>| {
        let key = the(key);
        let [a, b] = split(key);
        let array = keys(key, 5);
        let of = |k: KeyExp| unit(k.uniform::<f64>(0));
        (
            concat_all([of(a), of(b), of(fold_in(key, 0)), of(fold_in(key, 1)), of(key)]),
            map(|k: KeyExp| k.uniform::<f64>(0), array),
        )
    });
    let (some, array) = run(&program, &Array::scalar(Key::new(u64::MAX))).unwrap();
    assert_eq!(some.as_slice()[..2], array.as_slice()[..2]);
    let mut different = [some.to_vec(), array.to_vec()].concat();
    different.sort_by(f64::total_cmp);
    different.dedup();
    assert_eq!(different.len(), 8);
    let of_seed = run(afun(|| unit(key(u64::MAX).uniform::<f64>(0))), &()).unwrap();
    assert_eq!(of_seed.item(), some.as_slice()[4]);
}

fn concat_all(xs: [Acc<Scalar<f64>>; 5]) -> V {
    stack(xs)
}

const N: i64 = 100_000;

/// The distance of Kolmogorov and Smirnov between a sample and a distribution, times √n: above 1.95 with probability 0.001.
fn distance(mut sample: Vec<f64>, cdf: fn(Exp<f64>) -> Exp<f64>) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let xs = Array::vector(sample);
    let shares = run(afun(move |xs: V| map(cdf, xs)), &xs).unwrap();
    let from = |(i, share): (usize, &f64)| (share - i as f64 / n).abs().max((share - (i + 1) as f64 / n).abs());
    n.sqrt() * shares.as_slice().iter().enumerate().map(from).fold(0.0, f64::max)
}

#[track_caller]
fn follows(program: Afun<(), Vector<f64>>, cdf: fn(Exp<f64>) -> Exp<f64>) {
    let sample = run(&program, &()).unwrap();
    assert!(sample.as_slice().iter().all(|x| x.is_finite()));
    let found = distance(sample.to_vec(), cdf);
    assert!(found < 1.95, "{found}");
}

#[test]
fn continuous_distributions() {
    follows(afun(|| uniform(key(1), N)), |x| x);
    follows(afun(|| uniform::<_, f32>(key(2), N).cast()), |x| x);
    follows(afun(|| normal(key(3), N)), |x| x.normal_cdf());
    follows(afun(|| normal::<_, f32>(key(4), N).cast()), |x| x.normal_cdf());
    follows(afun(|| exponential(key(5), N)), |x| -(-x).exp_m1());
    follows(afun(|| exponential::<_, f32>(key(6), N).cast()), |x| -(-x).exp_m1());
    follows(afun(|| gamma(key(7), fill(N, 0.1))), |x| lit::<f64>(0.1).gamma_inc(x));
    follows(afun(|| gamma(key(8), fill(N, 1.0))), |x| lit::<f64>(1.0).gamma_inc(x));
    follows(afun(|| gamma(key(9), fill(N, 2.5f32)).cast()), |x| lit::<f64>(2.5).gamma_inc(x));
    follows(afun(|| gamma(key(10), fill(N, 1e6))), |x| lit::<f64>(1e6).gamma_inc(x));
    follows(afun(|| beta(key(11), fill(N, 0.5), fill(N, 0.3))), |x| lit::<f64>(0.5).beta_inc(0.3, x));
    follows(afun(|| beta(key(12), fill(N, 3.0f32), fill(N, 20.0f32)).cast()), |x| lit::<f64>(3.0).beta_inc(20.0, x));
    // Each part of a Dirichlet variable has a beta distribution.
    let part = afun(|| slice((All, 1), dirichlet(key(13), replicate((N, All), linspace(0.5, 2.5, 3)))));
    follows(part, |x| lit::<f64>(1.5).beta_inc(3.0, x));
    // So has a combination of the parts of a normal vector.
    let combined = afun(|| {
        let covariance = generate((2, 2), |(i, k): (Exp<i64>, Exp<i64>)| cond(i.eq(k), lit::<f64>(2.0), lit(-1.2)));
        map(|x: Exp<f64>| (x - 3.0) / 1.6f64.sqrt(), sum(multivariate_normal(key(14), fill((N, 2), 1.5), covariance)))
    });
    follows(combined, |x| x.normal_cdf());
}

/// Pearson's statistic of counts of which each is expected to be at least 5, standardised: above 3.1 with probability 0.001.
fn deviation(counts: &[f64], expected: &[f64]) -> f64 {
    let (mut square, mut degrees, mut rest) = (0.0, -1.0, (0.0, 0.0));
    for (found, expected) in counts.iter().zip(expected).map(|(a, b)| (*a, *b)) {
        if expected < 5.0 {
            rest = (rest.0 + found, rest.1 + expected);
            continue;
        }
        (square, degrees) = (square + (found - expected).powi(2) / expected, degrees + 1.0);
    }
    if rest.1 >= 5.0 {
        (square, degrees) = (square + (rest.0 - rest.1).powi(2) / rest.1, degrees + 1.0);
    }
    (square - degrees) / f64::sqrt(2.0 * degrees)
}

#[track_caller]
fn counts(program: Afun<(), Vector<i64>>, log_of: fn(Exp<f64>) -> Exp<f64>, classes: i64) {
    let sample = run(&program, &()).unwrap();
    let mut counts = vec![0.0; classes as usize];
    for x in sample.as_slice() {
        counts[*x as usize] += 1.0;
    }
    let expected = run(afun(move || generate(classes, |k: Exp<i64>| log_of(k.cast()).exp() * N as f64)), &()).unwrap();
    let found = deviation(&counts, expected.as_slice());
    assert!(found < 4.0, "{found}: {counts:?} and not {expected:?}");
}

#[test]
fn discrete_distributions() {
    counts(afun(|| randint(key(1), N, 0, 7)), |_| lit(-(7f64.ln())), 7);
    counts(afun(|| choice(key(2), N, iota(5))), |_| lit(-(5f64.ln())), 5);
    counts(afun(|| bernoulli(key(3), fill(N, 0.3)).cast()), |k| binomial_lpmf(k, 1.0, 0.3), 2);
    let weights = |k: Exp<i64>| (k.cast::<f64>() + 1.0).ln();
    counts(
        afun(move || categorical(key(4), generate((N, 4), move |(_, k): (Exp<i64>, Exp<i64>)| weights(k)))),
        |k| (k + 1.0).ln() - 10f64.ln(),
        4,
    );
    for (k, rate) in [0.1, 3.0, 9.99, 10.0, 30.0, 200.0].into_iter().enumerate() {
        let sample = run(afun(move || poisson(key(5 + k as u64), fill(N, rate))), &()).unwrap();
        let mut counts = vec![0.0; 400];
        sample.as_slice().iter().for_each(|x| counts[*x as usize] += 1.0);
        let expected =
            run(afun(move || generate(400, |k: Exp<i64>| poisson_lpmf(k, rate).exp() * N as f64)), &()).unwrap();
        let found = deviation(&counts, expected.as_slice());
        assert!(found < 4.0, "{rate}: {found}");
    }
}

#[test]
fn permutations() {
    let program = afun(|n: Acc<Scalar<i64>>| (permutation(key(1), the(n)), permutation(key(2), the(n))));
    for n in [0, 1, 2, 1000] {
        let (a, b) = run(&program, &Array::scalar(n)).unwrap();
        let mut sorted = a.to_vec();
        sorted.sort();
        assert_eq!(sorted, (0..n).collect::<Vec<_>>());
        assert!(n < 1000 || a.to_vec() != b.to_vec());
    }
    // All orders of three numbers are equally frequent.
    let orders = afun(|| vmap(|k: Acc<Scalar<Key>>| permutation(the(k), 3), keys(key(3), 60_000)));
    let orders = run(&orders, &()).unwrap();
    let mut counts = [0.0; 27];
    orders.as_slice().chunks(3).for_each(|o| counts[(o[0] * 9 + o[1] * 3 + o[2]) as usize] += 1.0);
    let counts: Vec<f64> = counts.into_iter().filter(|c| *c > 0.0).collect();
    assert_eq!(counts.len(), 6);
    let found = deviation(&counts, &[10_000.0; 6]);
    assert!(found < 4.0, "{found}");
}

/// Parameters that have no distribution, and arrays without elements.
#[test]
fn edges() {
    let wrong = Array::vector(vec![0.0, -1.0, f64::NAN, f64::INFINITY]);
    let program = afun(|a: V| (gamma(key(1), a), beta(key(2), a, a), poisson(key(3), a * -1.0 - 1e-300)));
    let (g, b, p) = run(&program, &wrong).unwrap();
    assert!(g.as_slice().iter().chain(b.as_slice()).all(|x| x.is_nan()), "{g:?} {b:?}");
    assert_eq!(p.to_vec()[..1], [-1]);
    assert_eq!(p.to_vec()[2..], [-1, -1]);
    let none = afun(|| (normal::<_, f32>(key(1), (0, 3)), gamma(key(2), fill(0, 1.0)), keys(key(3), 0)));
    let (a, b, c) = run(&none, &()).unwrap();
    assert_eq!(a.shape().as_slice(), [0, 3]);
    assert!(b.is_empty() && c.is_empty());
    assert_eq!(run(afun(|| randint(key(1), 3, 5, 5)), &()).unwrap().to_vec(), [5; 3]);
    let error = run(afun(|xs: V| choice(key(1), 2, xs)), &Array::vector(vec![])).unwrap_err().to_string();
    assert!(error.contains("choice"), "{error}");
    let singular = afun(|m: Acc<Matrix<f64>>| multivariate_normal(key(1), fill((1, 3), 0.0), m));
    let error = run(&singular, &Array::matrix(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap()).unwrap_err().to_string();
    assert!(error.contains("multivariate_normal"), "{error}");
}
