//! Whole programs: many arguments and results, records of arrays, and some well-known algorithms.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    arguments_of_every_number(t);
    results_in_tuples(t);
    records_of_arrays(t);
    one_array_many_times(t);
    sieve(t);
    parentheses(t);
    sparse_matrix_times_vector(t);
}

type S = Acc<Scalar<i64>>;

fn number(x: S) -> Exp<i64> {
    the(x)
}

/// One to eight arguments in order, as the digits of a number.
fn arguments_of_every_number(t: &Suite) {
    let s: Vec<Scalar<i64>> = (1..=8).map(Array::scalar).collect();
    let digits = |xs: &[S]| unit(xs.iter().map(|x| number(*x)).reduce(|n, d| n * 10 + d).unwrap_or(0i64.to_exp()));
    t.is(afun(|a: S| digits(&[a])), &s[0], Array::scalar(1));
    t.is(afun(|a: S, b: S| digits(&[a, b])), (&s[0], &s[1]), Array::scalar(12));
    t.is(afun(|a: S, b: S, c: S| digits(&[a, b, c])), (&s[0], &s[1], &s[2]), Array::scalar(123));
    let prog = afun(|a: S, b: S, c: S, d: S| digits(&[a, b, c, d]));
    t.is(prog, (&s[0], &s[1], &s[2], &s[3]), Array::scalar(1234));
    let prog = afun(|a: S, b: S, c: S, d: S, e: S| digits(&[a, b, c, d, e]));
    t.is(prog, (&s[0], &s[1], &s[2], &s[3], &s[4]), Array::scalar(12345));
    let prog = afun(|a: S, b: S, c: S, d: S, e: S, f: S| digits(&[a, b, c, d, e, f]));
    t.is(prog, (&s[0], &s[1], &s[2], &s[3], &s[4], &s[5]), Array::scalar(123456));
    let prog = afun(|a: S, b: S, c: S, d: S, e: S, f: S, g: S| digits(&[a, b, c, d, e, f, g]));
    t.is(prog, (&s[0], &s[1], &s[2], &s[3], &s[4], &s[5], &s[6]), Array::scalar(1234567));
    let prog = afun(|a: S, b: S, c: S, d: S, e: S, f: S, g: S, h: S| digits(&[a, b, c, d, e, f, g, h]));
    t.is(prog, (&s[0], &s[1], &s[2], &s[3], &s[4], &s[5], &s[6], &s[7]), Array::scalar(12345678));
}

/// Arguments that are tuples; results that are nested, repeated or empty.
fn results_in_tuples(t: &Suite) {
    let (xs, m) = (vector::<f32>(4), array::<Dim2, bool>(&[2, 3]));
    t.is(afun(|_: Acc<Vector<f32>>| ()), &xs, ());
    let prog = afun(|args: Acc<(Vector<f32>, Matrix<bool>)>| {
        let (xs, m) = args.unlift();
        ((m, xs), (), (xs, (xs, args)))
    });
    let expected = ((m.clone(), xs.clone()), (), (xs.clone(), (xs.clone(), (xs.clone(), m.clone()))));
    t.is(prog, &(xs.clone(), m.clone()), expected);
    let prog = afun(|a: Acc<((), Vector<f32>)>, m: Acc<Matrix<bool>>| {
        let ((), xs) = a.unlift();
        (m, xs)
    });
    t.is(prog, (&((), xs.clone()), &m), (m.clone(), xs.clone()));
}

/// A layer of a neural network.
#[derive(Clone, Arrays)]
struct Layer {
    weights: Matrix<f64>,
    bias: Vector<f64>,
}

fn records_of_arrays(t: &Suite) {
    let layer = Layer { weights: array(&[3, 4]), bias: other_array(&[3], 1) };
    let x = other_array::<Dim1, f64>(&[4], 2);
    let prog = afun(|layer: Acc<Layer>, x: Acc<Vector<f64>>| {
        let LayerAcc { weights, bias } = layer.unlift();
        let y = zip_with(|y, b| (y + b).max(0.0), matvec(weights, x), bias);
        (y, LayerAcc { weights: map(|w| w * 2.0, weights), bias: y })
    });
    let y: Vec<f64> = rows(&layer.weights)
        .iter()
        .zip(layer.bias.iter())
        .map(|(row, b)| (row.iter().zip(x.iter()).map(|(w, x)| w * x).sum::<f64>() + b).max(0.0))
        .collect();
    let y = Array::vector(y);
    let twice = host(&[3, 4], layer.weights.iter().map(|w| w * 2.0).collect());
    t.is(prog, (&layer, &x), (y.clone(), Layer { weights: twice, bias: y }));
}

/// Many uses of the same node, in both layers.
fn one_array_many_times(t: &Suite) {
    let xs = vector::<i64>(9);
    let prog = afun(|xs: Acc<Vector<i64>>| {
        (0..20).fold(xs, |ys, _| {
            zip_with(
                |x, y| {
                    let s = x + y;
                    s * s - s
                },
                ys,
                ys,
            )
        })
    });
    let step = |x: i64| {
        let s = x.wrapping_add(x);
        s.wrapping_mul(s).wrapping_sub(s)
    };
    t.is(prog, &xs, Array::vector(xs.iter().map(|x| (0..20).fold(x, |x, _| step(x))).collect()));
}

/// The number of primes below some numbers.
fn sieve(t: &Suite) {
    let prog = afun(|n: S| {
        let limit = the(n);
        let prime = generate(limit, |k| {
            let divisor = while_(|d: Exp<i64>| (d * d).le(k).and((k % d).ne(0)), |d| d + 1, 2i64);
            k.ge(2).and((divisor * divisor).gt(k))
        });
        sum(map(|p| p.cast::<i64>(), prime))
    });
    for (n, primes) in [(0, 0i64), (2, 0), (3, 1), (100, 25), (1000, 168)] {
        t.is(prog.clone(), &Array::scalar(n), Array::scalar(primes));
    }
}

/// Whether parentheses match: a fold of pairs (unmatched closing ones, unmatched opening ones).
fn parentheses(t: &Suite) {
    let prog = afun(|text: Acc<Vector<u8>>| {
        let one = |c: Exp<u8>| (c.eq(b')').cast::<i32>(), c.eq(b'(').cast::<i32>());
        type P = (Exp<i32>, Exp<i32>);
        let join = |(c, o): P, (c2, o2): P| {
            let matched = o.min(c2);
            (c + c2 - matched, o + o2 - matched)
        };
        map(|(c, o)| c.eq(0).and(o.eq(0)), fold(join, (0, 0), map(one, text)))
    });
    for (text, matches) in [("", true), ("(())()", true), ("())(", false), ("(a(b)c)", true), ("((", false)] {
        t.is(prog.clone(), &Array::vector(text.as_bytes().to_vec()), Array::scalar(matches));
    }
}

/// A sparse matrix as (row, column, value), times a vector.
fn sparse_matrix_times_vector(t: &Suite) {
    let entries = Array::vector((0..40).map(|k| ((k * 7 % 6) as i64, (k * 5 % 9) as i64, f64::sample(k))).collect());
    let v = vector::<f64>(9);
    let mut expected = vec![0.0; 6];
    entries.iter().for_each(|(i, j, x)| expected[i as usize] += x * v.to_vec()[j as usize]);
    let prog = afun(|entries: Acc<Vector<(i64, i64, f64)>>, v: Acc<Vector<f64>>| {
        let (rows, columns, xs) = unzip3(entries);
        let products = zip_with(|x, y| x * y, xs, gather(columns, v));
        permute(|a, b| a + b, fill(6, 0.0), |k| (true, rows.at(k)), products)
    });
    t.is(prog, (&entries, &v), Array::vector(expected));
}
