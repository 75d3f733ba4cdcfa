//! `permute` and `scatter`: operators with rules of their own, colliding and missing targets, and defaults.

use crate::harness::{V, jacobian, kinked, smooth, without_numbers};
use crate::refined::{AllNonZero, Any, Even, FewValues, NonEmpty};
use crate::scans::triangular;
use accel::prelude::*;

#[test]
fn sums() {
    jacobian(Any, |a: V| {
        let n = a.shape();
        permute(|x, y| x + y, fill(5, 1.5), |i| (i.ge(0), i * i % 5), map(|x| x * n.cast::<f64>(), a))
    });
    jacobian((Any, NonEmpty), |a: V, b: V| {
        let n = b.shape();
        permute(|x, y| y + x, map(|x| x.sin(), b), |i| ((i % 3).ne(0), i % n), map(|x| x * x, a))
    });
    // All elements are dropped, there are no targets, or there is one.
    jacobian((Any, Any), |a: V, b: V| permute(|x, y| x + y, b, |i| (i.lt(0), i), a));
    without_numbers((Any, Any), |a: V, b: V| permute(|x, y| x + y, take(0, a), |i| (i.lt(0), i), b));
    jacobian(NonEmpty, |a: V| permute(|x, y| x + y, take(1, a), |i| (true, i - i), map(|x| x.cos(), a)));
    // The targets are data, or depend on the argument.
    kinked(Any, |a: V| {
        let sums = permute(|x, y| x + y, fill(4, 0.5), |i| (a.at(i).gt(-5.0), a.at(i).floor().cast::<i64>() & 3), a);
        sum(map(|x| x * x, sums))
    });
}

#[test]
fn between_ranks() {
    jacobian(Even, |a: V| {
        let m = reshape((2, a.shape() / 2), map(|x| x * x, a));
        permute(|x, y| x + y, fill(3, 0.25), |(i, j)| ((i + j).ne(2), (i + j) % 3), m)
    });
    jacobian(Any, |a: V| permute(|x, y| x + y, fill((2, 3), 0.5), |i| (true, (i % 2, i % 3)), a));
    jacobian(Even, |a: V| {
        let n = a.shape() / 2;
        let cube = reshape((2, n, 1), a);
        permute(|x, y| x * y, fill((n, 1, 2), 1.5), |(i, j, k)| ((i * j).ne(3), (n - 1 - j, k, i)), cube)
    });
    jacobian(Any, |a: V| permute(|x, y| x + y, sum(a), |_| (true, ()), map(|x| x * x, a)));
    jacobian((Any, NonEmpty), |a: V, b: V| permute(|x, y| x + y, b, |()| (true, 0), sum(map(|x| x * x, a))));
    jacobian(Any, |a: V| permute(|x, y| x.max(y), unit(0.5), |i| ((i % 2).eq(0), ()), a));
    jacobian(Even, |a: V| {
        let m = reshape((a.shape() / 2, 2), a);
        permute(|x, y| x.min(y), fill((2, 1, 2), 3.0), |(i, j)| (true, (j, 0, i & 1)), m)
    });
}

#[test]
fn replacement() {
    // A permutation whose combination is never used.
    jacobian(Any, |a: V| {
        let n = a.shape();
        permute(|new, _| new, fill(n, 0.0), |i| (true, n - 1 - i), map(|x| x * x, a))
    });
    jacobian(NonEmpty, |a: V| scatter(iota(a.shape()), map(|x| x * 2.0, a), a));
    // The last element stays, and the defaults where there is none.
    jacobian((Any, NonEmpty), |a: V, b: V| {
        let n = b.shape();
        permute(|new, _| new, map(|x| x.sin(), b), |i| ((i * 3).lt(n), i * i % n), map(|x| x * x, a))
    });
    jacobian((NonEmpty, Any), |a: V, b: V| scatter(map(|x| x % a.shape(), iota(b.shape())), a, b));
    jacobian(Even, |a: V| {
        let m = reshape((2, a.shape() / 2), a);
        permute(|new, _| new, fill(3, 0.5), |(i, j)| (true, (i + j) % 3), m)
    });
    jacobian((NonEmpty, Any), |a: V, b: V| permute(|_, old| old, map(|x| x * x, a), |i| (i.eq(0), 0), b));
}

#[test]
fn products() {
    jacobian(Any, |a: V| permute(|x, y| x * y, fill(3, 2.0), |i| (true, i % 3), map(|x| x * 0.3, a)));
    jacobian((Any, NonEmpty), |a: V, b: V| {
        let n = b.shape();
        permute(|x, y| y * x, map(|x| x.sin(), b), |i| ((i % 4).ne(1), i / 2 % n), map(|x| x * 0.3, a))
    });
}

/// Zeros in the source and in the defaults, also several of them for one target.
#[test]
fn products_with_zeros() {
    let zeros = |k: i64| move |i: Exp<i64>, x: Exp<f64>| cond((i % k).eq(1), x - x, x * 0.3);
    for k in [2, 3, 7] {
        jacobian(Any, move |a: V| permute(|x, y| x * y, fill(4, 2.0), |i| (true, i % 4), imap(zeros(k), a)));
    }
    jacobian((Any, NonEmpty), move |a: V, b: V| {
        let n = b.shape();
        permute(|x, y| x * y, imap(zeros(3), b), |i| ((i % 5).ne(0), i % n), imap(zeros(4), a))
    });
    jacobian(FewValues, |a: V| permute(|x, y| x * y, fill(2, 1.5), |i| (true, i % 2), a));
}

#[test]
fn minima_and_maxima() {
    smooth(Any, |a: V| sum(permute(|x, y| x.min(y), fill(3, 30.5), |i| (true, i % 3), imap(distinct, a))));
    smooth(Any, |a: V| sum(permute(|x, y| y.max(x), fill(3, -30.5), |i| (true, i % 3), imap(distinct, a))));
    jacobian((Any, Any), |a: V, b: V| {
        let n = b.shape();
        permute(|x, y| x.max(y), imap(distinct, b), |i| ((i * 2).lt(n), i / 3), imap(distinct, a))
    });
}

/// Makes elements different.
fn distinct(i: Exp<i64>, x: Exp<f64>) -> Exp<f64> {
    x + (i.cast::<f64>() * 1.7).sin() * 0.01
}

/// Of equal elements, the one that the operator prefers gets the adjoint.
#[test]
fn ties() {
    kinked((FewValues, FewValues), |a: V, b: V| {
        sum(permute(|x, y| x.min(y), b, |i| (i.lt(b.shape()), i / 3), map(|x| x * x, a)))
    });
    kinked((FewValues, FewValues), |a: V, b: V| {
        sum(permute(|x, y| y.max(x), b, |i| (i.lt(b.shape()), i / 3), map(|x| x * 2.0, a)))
    });
    kinked((FewValues, FewValues), |a: V, b: V| {
        sum(permute(|x, y| y.min(x), b, |i| (i.lt(b.shape()), i / 3), map(|x| x * x, a)))
    });
    kinked((FewValues, FewValues), |a: V, b: V| {
        sum(permute(|x, y| x.max(y), b, |i| (i.lt(b.shape()), i / 3), map(|x| x * 3.0, a)))
    });
}

/// A minimum ignores NaN, unless there is nothing else.
#[test]
fn not_a_number() {
    let nan_where_large = |limit: f64| move |x: Exp<f64>| cond(x.gt(limit), x + f64::NAN, x);
    // No number of the arguments is 4.5. At a limit that is also a tie, no difference shows the derivative of the maximum.
    for limit in [-20.0, 0.0, 4.5] {
        let few = move |a: V| map(nan_where_large(limit), a);
        let places = |i: Exp<i64>| (true, i % 2);
        kinked(Any, move |a: V| sum(map(finite, permute(|x, y| x.min(y), fill(2, f64::NAN), places, few(a)))));
        kinked(Any, move |a: V| sum(map(finite, permute(|x, y| y.min(x), fill(2, f64::NAN), places, few(a)))));
        kinked((Any, Any), move |a: V, b: V| {
            let place = |i: Exp<i64>| (i.lt(b.shape()), i / 2);
            sum(map(finite, permute(|x, y| x.max(y), few(b), place, few(a))))
        });
    }
}

/// A function with a derivative also where its argument is NaN.
fn finite(x: Exp<f64>) -> Exp<f64> {
    cond(x.is_nan(), 0.0, x * x)
}

/// Each component of a tuple has its own rule.
#[test]
fn components() {
    jacobian(Any, |a: V| {
        let pairs = map(|x| (x, x * x * 0.1), a);
        permute(|(x, u), (y, v)| (x + y, u + v), fill(3, (0.5, 1.0)), |i| ((i % 5).ne(2), i % 3), pairs)
    });
    jacobian(Any, |a: V| {
        let triples = imap(|i, x| (x, i, x.sin()), a);
        permute(|(x, m, u), (y, n, v)| (x * y, m.max(n), u + v), fill(3, (0.5, 0i64, 1.0)), |i| (true, i % 3), triples)
    });
    jacobian((Any, NonEmpty), |a: V, b: V| {
        let pairs = |a| imap(|i, x| (distinct(i, x), (x * 0.3, i)), a);
        let combine = |(x, (u, _)): (Exp<f64>, (Exp<f64>, Exp<i64>)), (y, (v, n)): (Exp<f64>, (Exp<f64>, Exp<i64>))| {
            (x.max(y), (u * v, n))
        };
        permute(combine, pairs(b), |i| ((i % 4).ne(1), i % b.shape()), pairs(a))
    });
    jacobian((Any, NonEmpty), |a: V, b: V| {
        let pairs = |a| imap(|i, x| (i, x * x), a);
        permute(|new, _| new, pairs(b), |i| ((i % 4).ne(1), i * 2 % b.shape()), pairs(a))
    });
}

/// Operators without a rule of their own.
#[test]
fn other_operators() {
    let general = |x: Exp<f64>, y: Exp<f64>| x + y + x * y * 0.1;
    jacobian(Any, move |a: V| permute(general, fill(3, 0.5), |i| ((i % 5).ne(2), i * i % 3), map(|x| x * 0.3, a)));
    jacobian((Any, NonEmpty), move |a: V, b: V| {
        let n = b.shape();
        permute(general, map(|x| x.sin(), b), |i| ((i % 4).ne(1), i / 2 % n), map(|x| x * 0.3, a))
    });
    // Associative where no number is negative.
    jacobian(Any, |a: V| {
        permute(|x, y| (x * x + y * y).sqrt(), fill(2, 0.3), |i| (true, i % 2), map(|x| x * x + 0.1, a))
    });
    jacobian(Any, |a: V| {
        let total = |x: Exp<f64>, y: Exp<f64>| x.max(y) + (-(x - y).abs()).exp().ln_1p();
        permute(total, fill((2, 2), 0.5), |i| (i.ne(3), (i / 2 % 2, i % 2)), a)
    });
    // Addition that ends at 12.
    jacobian((Any, Any), |a: V, b: V| {
        let positive = |x: Exp<f64>| x.abs() + 0.01;
        permute(|x, y| (x + y).min(12.0), map(positive, b), |i| ((i * 2).lt(b.shape()), i * 2), map(positive, a))
    });
    // All elements are dropped, there are no targets, or there is one.
    jacobian((Any, Any), move |a: V, b: V| permute(general, b, |i| (i.lt(0), i), a));
    without_numbers((Any, Any), move |a: V, b: V| permute(general, take(0, a), |i| (i.lt(0), i), b));
    jacobian(Any, move |a: V| permute(general, unit(0.5), |_| (true, ()), map(|x| x * 0.1, a)));
    jacobian((Any, NonEmpty), move |a: V, b: V| permute(general, b, |()| (true, 0), sum(map(|x| x * 0.1, a))));
    jacobian(Even, move |a: V| {
        let m = reshape((2, a.shape() / 2), map(|x| x * 0.1, a));
        permute(general, fill((2, 1, 3), 0.25), |(i, j)| ((i + j).ne(2), (i, 0, (i + j) % 3)), m)
    });
}

/// Elements of several numbers, which depend on each other.
#[test]
fn other_operators_on_tuples() {
    // Products of complex numbers, and sums of products of all pairs.
    jacobian((Any, NonEmpty), |a: V, b: V| {
        let numbers = |a| map(|x: Exp<f64>| (x * 0.2, x.cos()), a);
        let times = |(a, b): (Exp<f64>, Exp<f64>), (c, d): (Exp<f64>, Exp<f64>)| (a * c - b * d, a * d + b * c);
        permute(times, numbers(b), |i| ((i % 4).ne(1), i / 2 % b.shape()), numbers(a))
    });
    jacobian(Any, |a: V| {
        let entries = map(|x| (constant(0.0), x), a);
        permute(|(p, s), (q, t)| (p + q + s * t, s + t), fill(3, (0.0, 0.5)), |i| (true, i % 3), entries)
    });
    // The largest number, and what belongs to it.
    jacobian((Any, NonEmpty), |a: V, b: V| {
        let entries = |a| imap(|i, x: Exp<f64>| (distinct(i, x), (i, x * x)), a);
        let larger = |x: (Exp<f64>, (Exp<i64>, Exp<f64>)), y: (Exp<f64>, (Exp<i64>, Exp<f64>))| {
            cond::<(f64, (i64, f64))>(x.0.gt(y.0), x, y)
        };
        permute(larger, entries(b), |i| ((i % 4).ne(1), i % b.shape()), entries(a))
    });
    // The sum of the numbers that are marked.
    jacobian(Any, |a: V| {
        let entries = imap(|i, x| ((i % 3).ne(0), x * x), a);
        let add =
            |(m, x): (Exp<bool>, Exp<f64>), (n, y): (Exp<bool>, Exp<f64>)| (m | n, cond(m & n, x + y, cond(m, x, y)));
        permute(add, fill(2, (false, 0.0)), |i| (true, i % 2), entries)
    });
}

/// Elements are combined in the order of the source, and after the default.
#[test]
fn operators_that_do_not_commute() {
    jacobian((Any, NonEmpty), |a: V, b: V| {
        let matrices = |a| map(|x: Exp<f64>| (x * 0.2, x.sin(), x.cos()), a);
        permute(triangular, matrices(b), |i| ((i % 4).ne(1), i / 2 % b.shape()), matrices(a))
    });
}

#[test]
fn operators_that_read_arrays() {
    jacobian((NonEmpty, Any), |a: V, b: V| {
        permute(|x, y| x * y * a.at(0).cos(), map(|x| x * 0.3, a), |i| (i.lt(a.shape()), i / 2), map(|x| x * 0.2, b))
    });
    jacobian((NonEmpty, Any), |a: V, b: V| {
        let k = the(sum(map(|x| x.sin(), a)));
        permute(|x, y| x + y + x * y * k * 0.1, fill(3, 0.5), |i| ((i % 5).ne(1), i % 3), map(|x| x * 0.2, b))
    });
    // The operator would read out of bounds for dropped elements. All others read the same element.
    jacobian(NonEmpty, |a: V| {
        let n = a.shape();
        permute(
            |(i, x), (j, y)| (i.max(j), x + y + x * y * a.at(i.max(j)) * 0.01),
            fill(2, (0i64, 0.5)),
            |i| ((i % 3).ne(1), i % 2),
            imap(|i, x| (cond((i % 3).eq(1), n + 7, n - 1), x * 0.2), a),
        )
    });
}

/// Permutes of integers and booleans are data.
#[test]
fn discrete_elements() {
    kinked(NonEmpty, |a: V| {
        let counts = permute(|x, y| x + y, fill(3, 0i64), |i| (true, i % 3), map(|x| x.gt(0.0).cast::<i64>(), a));
        let any = permute(|x, y| x | y, fill(2, false), |i| (true, i % 2), map(|x| x.gt(9.0), a));
        sum(imap(|i, x| cond(any.at(i % 2), x * x, x) * counts.at(i % 3).cast::<f64>(), a))
    });
}

#[test]
fn inside_of_programs() {
    smooth(NonEmpty, |a: V| {
        let bins = permute(|x, y| x + y, fill(4, 0.1), |i| (true, i % 4), map(|x| x * x, a));
        sum(imap(|i, x| x * bins.at(i % 4) * 0.01, a))
    });
    // Only a part of the program depends on the argument.
    smooth(NonEmpty, |a: V| {
        let n = a.shape();
        let counts = permute(|x, y| x + y, fill(4, 0.0), |i| (true, i % 4), fill(n, 1.0));
        let sums = permute(|x, y| x + y, counts, |i| ((i % 3).ne(0), i % 4), a);
        sum(zip_with(|x, y| x * x / y.max(1.0), sums, counts))
    });
    smooth(Any, |a: V| {
        let bins = |f: fn(Exp<f64>) -> Exp<f64>| permute(|x, y| x + y, fill(3, 0.5), |i| (true, i % 3), map(f, a));
        sum(acond(a.shape().gt(3), bins(|x| x.sin()), bins(|x| x * x)))
    });
    smooth(Any, |a: V| {
        let first = permute(|x, y| x + y, fill(6, 0.5), |i| (true, i % 6), a);
        sum(map(|x| x * x, permute(|x, y| x * y, fill(2, 1.0), |i| (true, i / 3), map(|x| x.cos(), first))))
    });
    smooth(Any, |a: V| sum(scanl1(|x, y| x * y, permute(|x, y| x + y, fill(4, 0.1), |i| (true, i % 4), a))));
}

/// A histogram with weights, and Poisson regression with a sparse matrix: its entries are stored in any order.
#[test]
fn histograms_and_sparse_matrices() {
    jacobian((NonEmpty, NonEmpty), |xs: V, weights: V| {
        let bin = |i: Exp<i64>| (xs.at(i) * 0.3 + 3.0).floor().cast::<i64>();
        let n = xs.shape().min(weights.shape());
        permute(
            |x, y| x + y,
            fill(6, 0.0),
            |i| (i.lt(n).and(bin(i.min(n - 1)).le(5)), bin(i.min(n - 1)).max(0)),
            weights,
        )
    });
    smooth((NonEmpty, NonEmpty), |coefficients: V, entries: V| {
        let columns = coefficients.shape();
        let (row, column) = (|i: Exp<i64>| i * 5 % 7, |i: Exp<i64>| i * i % columns);
        let terms = imap(|i, x| x * coefficients.at(column(i)) * 0.02, entries);
        let rates = permute(|x, y| x + y, fill(7, 0.1), |i| (true, row(i)), terms);
        sum(imap(|i, r| r.exp() - r * (i % 3).cast::<f64>(), rates))
    });
}

/// The derivatives are programs with permutes, which have derivatives again.
#[test]
fn second_derivatives() {
    let squares = |a: V| sum(map(|x| x * x * x, a));
    let sums = afun(move |a: V| squares(permute(|x, y| x + y, fill(3, 0.5), |i| (true, i % 3), map(|x| x.sin(), a))));
    smooth(Any, move |a: V| dot(call(grad(&sums), a), map(|x| x.cos(), a)));
    let last = afun(move |a: V| {
        let n = a.shape();
        squares(permute(|x, _| x, a, |i| ((i % 4).ne(0), i / 2 % n), map(|x| x.sin(), a)))
    });
    smooth(NonEmpty, move |a: V| dot(call(grad(&last), a), map(|x| x.cos(), a)));
    let largest = afun(move |a: V| {
        squares(permute(|x, y| x.max(y), fill(3, -3.0), |i| (true, i % 3), imap(distinct, map(|x| x.sin(), a))))
    });
    smooth(Any, move |a: V| dot(call(grad(&largest), a), a));
    let both = afun(move |a: V| {
        let pairs = imap(|i, x| (x.sin(), distinct(i, x) * 0.3), a);
        let (sums, least) =
            unzip(permute(|(x, u), (y, v)| (x + y, u.min(v)), fill(3, (0.5, 1.0)), |i| (true, i % 3), pairs));
        squares(zip_with(|x, y| x * y, sums, least))
    });
    smooth(Any, move |a: V| dot(call(grad(&both), a), a));
}

#[test]
fn second_derivatives_of_other_operators() {
    let squares = |a: V| sum(map(|x| x * x, a));
    let general = |x: Exp<f64>, y: Exp<f64>| x + y + x * y * 0.1;
    let target = |i: Exp<i64>| ((i % 5).ne(2), i * i % 3);
    let numbers = afun(move |a: V| squares(permute(general, fill(3, 0.5), target, map(|x| x.sin(), a))));
    smooth(Any, move |a: V| dot(call(grad(&numbers), a), map(|x| x.cos(), a)));
    let defaults = afun(move |a: V| squares(permute(general, a, |i| (i.gt(2), i / 2), map(|x| x.sin(), a))));
    smooth(Any, move |a: V| dot(call(grad(&defaults), map(|x| x * 0.1, a)), a));
    let pairs = afun(move |a: V| {
        let entries = map(|x| (x * 0.1, x.sin()), a);
        let combine = |(p, s): (Exp<f64>, Exp<f64>), (q, t): (Exp<f64>, Exp<f64>)| (p + q + s * t, s + t);
        let (products, _) = unzip(permute(combine, fill(3, (0.0, 0.5)), target, entries));
        squares(products)
    });
    smooth(Any, move |a: V| dot(call(grad(&pairs), a), map(|x| x.cos(), a)));
}

/// Also if factors are zero.
#[test]
fn second_derivatives_of_products() {
    let squares = |a: V| sum(map(|x| x * x + x, a));
    let products = move |k: i64| {
        afun(move |a: V| {
            let factors = imap(|i, x| cond((i % k).eq(2), x - x, x.sin()), a);
            squares(permute(|x, y| x * y, fill(3, 0.5), |i| (true, i % 3), factors))
        })
    };
    for program in [products(100), products(4), products(3)] {
        smooth(Any, move |a: V| dot(call(grad(&program), a), map(|x| x.cos(), a)));
    }
    let of_values = afun(move |a: V| squares(permute(|x, y| x * y, fill(2, 1.5), |i| (true, i % 2), a)));
    smooth(FewValues, move |a: V| dot(call(grad(&of_values), a), map(|x| x.cos(), a)));
    let of_others = afun(move |a: V| squares(permute(|x, y| x * y, a, |i| (i.gt(4), i % 3), a)));
    smooth(AllNonZero, move |a: V| dot(call(grad(&of_others), map(|x| x * 0.2, a)), a));
}
