//! Appendix A, the larger programs: the logarithm of a sum of exponentials, tuples of arrays, a neural network, and
//! conditionals that must not execute the wrong branch.

use crate::harness::{Differentiated, Tally, V, for_all, kinked, smooth};
use crate::refined::{Any, AtLeast3, Floats, Int, NonEmpty};
use accel::prelude::*;
use accel_core::repr::ArrayTuple;

/// The maximum, and the sum of the exponentials of the elements minus the maximum.
fn shifted_exponentials(a: V) -> (Acc<Scalar<f64>>, Acc<Scalar<f64>>) {
    let n = a.shape();
    let maxx = maximum(a);
    let shifted = zip_with(|x, m| x - m, a, replicate_inner(n, maxx));
    (maxx, sum(map(|x| x.exp(), shifted)))
}

#[test]
fn logsumexp1() {
    smooth(NonEmpty, |a: V| {
        let (maxx, total) = shifted_exponentials(a);
        zip_with(|x, y| x + y, map(|x| x.ln(), total), maxx)
    });
}

#[test]
fn logsumexp2() {
    kinked(NonEmpty, |a: V| map(|x| x.ln(), shifted_exponentials(a).1));
}

#[test]
fn logsumexp3() {
    kinked(NonEmpty, |a: V| {
        let maxx = maximum(a);
        zip_with(|x, y| x + y, maxx, maxx)
    });
}

#[test]
fn tuple1() {
    smooth(Any, |a: V| {
        let (b, _) = (map(|x| x * 2.0, a), map(|x| x + 3.0, a)).into_acc().unlift();
        let (a1, a2, a3) = (zip_with_min(|x, y| x.sin() * y, b, a), a, b).into_acc().unlift();
        map(|x| x + 5.0, sum(zip_with_min(|(x, y), z| x + y * z, zip_min(a1, a2), a3)))
    });
}

#[test]
fn tuple2() {
    kinked((Any, Any), |a: V, b: V| {
        let (a1, a2) = (b, zip_with_min(|x, y| x * y, a, b)).into_acc().unlift();
        let (b1, b2) = (zip_with_min(|x, y| x + y, a2, b), a1).into_acc().unlift();
        let (c1, c2) = (b2, zip_with_min(|x, y| x + y, a1, b2)).into_acc().unlift();
        let (d1, d2) = (sum(c2), sum(b1)).into_acc().unlift();
        zip_with_min(|x, (y, z)| (y * z).ln() + x, d1, zip_min(d2, sum(c1)))
    });
}

#[test]
fn tuple3() {
    smooth((NonEmpty, NonEmpty), |a: V, b: V| {
        let tup3 = acond::<(Matrix<f64>, Vector<f64>)>(
            (a.shape() % 3).eq(0),
            (replicate((All, 3), b), a),
            (generate((1, 2), |(i, j)| (i + j).cast::<f64>()), b),
        );
        let (a1, a2) = tup3;
        let (n, _) = a1.shape();
        let (b1, b2) = acond(
            cond::<f64>(n.gt(0), a1.at((0, 1)), 42.0).gt(0.0),
            tup3,
            (backpermute((4, 4), |(i, j)| i * j % a2.shape(), a2), slice((All, 0), a1)),
        );
        sum(zip_with_min(|x, y| x + y, b2, sum(b1)))
    });
}

#[test]
fn tuple4() {
    smooth((Any, Any), |a: V, b: V| {
        let nested = ((b, sum(a), (sum(b), a, ()), sum(a)), b).into_acc();
        let ((a1, s1, (s2, a2, ()), s3), a3) = nested.unlift();
        let times = |x, y| zip_with(|x, y| x * y, x, y);
        let plus = |x, y| zip_with(|x, y| x + y, x, y);
        plus(times(s1, sum(a3)), times(plus(times(sum(a1), product(a2)), s2), s3))
    });
}

/// An array of shape `size` with elements of `data`, chosen by an arbitrary formula.
fn pick_weights<S: IntoShape>(
    seed: i64,
    size: S,
    place: impl FnOnce(<S::Sh as Shape>::Index) -> (Exp<i64>, Exp<i64>),
    data: V,
) -> Acc<Array<S::Sh, f64>> {
    let n = data.shape();
    backpermute(
        size,
        |ix| {
            let (i, j) = place(ix);
            let base = i + j + j * j * seed;
            (0..seed).fold(base, |power, _| power * base) % n
        },
        data,
    )
}

fn sigmoid(v: Exp<f64>) -> Exp<f64> {
    1.0 / ((-v).exp() + 1.0)
}

#[test]
fn neural() {
    type Inputs = (Int<1, 15>, Int<1, 15>, Floats<NonEmpty>, Floats<AtLeast3>);
    for_all(|(len1, len2, input, weightdata): &Inputs| {
        let (len1, len2) = (len1.0, len2.0);
        let program = Differentiated::new(move |input: V, weightdata: V| {
            let activate = |v: V| map(sigmoid, v);
            let inlen = input.shape();
            let w1 = pick_weights(1, (len1, inlen), |ij| ij, weightdata);
            let w2 = pick_weights(2, (len2, len1), |ij| ij, weightdata);
            let w3 = pick_weights(3, len2, |i| (0i64.to_exp(), i), weightdata);
            let layer2 = activate(matvec(w2, activate(matvec(w1, input))));
            map(sigmoid, dot(w3, layer2))
        });
        program.check(&ArrayTuple::pair(input.array(), weightdata.array()), &Tally::default())
    });
}

#[test]
fn acond_cond1() {
    kinked(NonEmpty, |a: V| {
        let b = map(|x| x * 2.0, a);
        let n = a.shape();
        // From 0 to 2n - 1. In the wrong branch of one of the conditions, an index would be out of bounds.
        let idx = (sigmoid(the(sum(a))) * ((n * 2).cast::<f64>() - 0.01)).floor().cast::<i64>();
        sum(acond(
            idx.lt(n),
            generate(n * 2, |i| cond::<f64>(i.le(idx), a.at(i), b.at((i - idx) / 2))),
            generate(n * 2, |i| a.at(idx - n) + cond::<f64>(i.ge(n), b.at(i - n), a.at(i))),
        ))
    });
}
