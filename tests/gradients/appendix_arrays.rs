//! Appendix A, the programs that test one array operation each.

use crate::harness::{Differentiated, Tally, V, for_all, kinked, smooth};
use crate::refined::{AllNonZero, Any, Even, Floats, Int, NonEmpty, SumNotTwo, UniqueMax};
use accel::prelude::*;

#[test]
fn acond_0() {
    smooth(Any, |a: V| sum(acond(the(sum(a)).gt(0.0), a, map(|x| x * 2.0, a))));
}

#[test]
fn acond_0a() {
    smooth(Any, |a: V| sum(acond(the(sum(a)).gt(0.0), map(|x| x * 2.0, a), a)));
}

#[test]
fn acond_1() {
    smooth(Any, |a: V| {
        let b = map(|x| x * 2.0, a);
        let (a1, _) = acond::<(Vector<f64>, Vector<f64>)>(the(sum(a)).gt(0.0), (a, b), (b, a));
        sum(map(|x| x * a1.shape().cast::<f64>(), b))
    });
}

/// `b`, and a result that depends on a condition that jumps.
fn acond_2(a: V) -> (V, V) {
    let b = map(|x| x * 2.0, a);
    let y = acond(the(sum(a)).le(2.0), map(|x| x + 1.0, b), map(|x| x - 1.0, map(|x| x * 2.0, b)));
    (b, y)
}

fn acond_2a_program(a: V) -> Acc<Scalar<f64>> {
    let (b, y) = acond_2(a);
    sum(zip_with(|x, y| x * y, b, y))
}

fn acond_2b_program(a: V) -> Acc<Scalar<f64>> {
    let (b, y) = acond_2(a);
    sum(zip_with(|x, y| x * y, y, b))
}

#[test]
fn acond_2a() {
    kinked(Any, acond_2a_program);
}

#[test]
fn acond_2a_friendly() {
    smooth(SumNotTwo, acond_2a_program);
}

#[test]
fn acond_2b() {
    kinked(Any, acond_2b_program);
}

#[test]
fn acond_2b_friendly() {
    smooth(SumNotTwo, acond_2b_program);
}

#[test]
fn acond_3a() {
    smooth(Any, |a: V| sum(acond(true, generate(1, |_| 42.0), a)));
}

#[test]
fn acond_3b() {
    smooth(Any, |a: V| {
        let n = a.shape();
        let both = zip_with(|x, y| x + y, sum(map(|x| x * 2.0, a)), sum(map(|x| x + 3.0, a)));
        acond(n.ge(0), generate((), |()| 42.0), both)
    });
}

#[test]
fn map_() {
    smooth(Any, |a: V| sum(map(|x| x * 3.0, a)));
}

#[test]
fn zip_with_() {
    smooth((Any, Any), |a: V, b: V| sum(zip_with_min(|x, y| x.sin() * (x + y).cos(), a, b)));
}

#[test]
fn fold_1() {
    smooth(Any, |a: V| fold(|x, y| x * y, 1.0, a));
}

#[test]
fn fold_2() {
    smooth(Any, |a: V| fold(|x, y| x.max(y), 3.0, a));
}

fn fold_3_program(a: V) -> Acc<Scalar<f64>> {
    let abs = |v: Exp<f64>| cond::<f64>(v.lt(0.0), -v, v);
    fold(|x, y| abs(x) + abs(y), 0.0, a)
}

#[test]
fn fold_3() {
    kinked(Any, fold_3_program);
}

#[test]
fn fold_3_friendly() {
    smooth(AllNonZero, fold_3_program);
}

#[test]
fn fold1_1() {
    smooth(NonEmpty, |a: V| fold1(|x, y| x * y, a));
}

#[test]
fn fold1_2() {
    kinked(NonEmpty, |a: V| fold1(|x, y| x.max(y), a));
}

#[test]
fn fold1_2_friendly() {
    smooth(UniqueMax, |a: V| fold1(|x, y| x.max(y), a));
}

#[test]
fn replicate_1() {
    smooth(Any, |a: V| {
        let repeated = replicate((All, 5), map(|x| x * x + x, a));
        product(sum(map(|x| x * 2.0, repeated)))
    });
}

#[test]
fn replicate_2() {
    smooth(NonEmpty, |a: V| {
        let repeated = replicate((5, All), map(|x| x * x + x, a));
        fold1_all(|x, y| x + y, map(|x| x / 20.0, repeated))
    });
}

#[test]
fn replicate_3() {
    smooth(NonEmpty, |a: V| {
        let pairs = map(|x| x * x + x, replicate((All, 2), a));
        let repeated = replicate((All, 5, All, 3), pairs);
        fold1_all(|x, y| x + y, map(|x| x * 2.0, repeated))
    });
}

#[test]
fn replicate_4() {
    smooth(Any, |a: V| {
        let pairs = map(|x| x * x + x, replicate((All, 2), a));
        let repeated = replicate((5, All, 3, All), pairs);
        fold_all(|x, y| x + y, 0.0, map(|x| x * 2.0, repeated))
    });
}

#[test]
fn slice_1() {
    smooth(Any, |a: V| {
        let m = a.shape() / 4 + 3;
        sum(slice((2, 1, All), replicate((m, m, All), a)))
    });
}

#[test]
fn slice_2() {
    for_all(|(p1, p2, a): &(Int<0, 61>, Int<0, 61>, Floats<NonEmpty>)| {
        let (p1, p2) = (p1.0, p2.0);
        let program = Differentiated::new(move |a: V| {
            let n = a.shape();
            let a1 = backpermute((n, n, n + 1), |(i, j, k)| (i + j + k) % n, a);
            sum(slice((p1.to_exp() % n, p2.to_exp() % n, All), a1))
        });
        program.check(&a.array(), &Tally::default())
    });
}

#[test]
fn reshape_1() {
    smooth(Even, |a: V| {
        let n = a.shape();
        product(sum(reshape((2, n / 2), a)))
    });
}

#[test]
fn reshape_2() {
    smooth(Even, |a: V| {
        let n = a.shape();
        let b = reshape((2, n / 2), a);
        let c = reshape((n, 1), b);
        sum(product(c))
    });
}

#[test]
fn backpermute_1() {
    for_all(|(m, a): &(Int<5, 15>, Floats<NonEmpty>)| {
        let m = m.0;
        let program = Differentiated::new(move |a: V| {
            let n = a.shape();
            let b = backpermute((m, 2 * m), |(i, j)| (i + j) % n, a);
            fold_all(|x, y| x + y, 0.0, b)
        });
        program.check(&a.array(), &Tally::default())
    });
}

#[test]
fn backpermute_2() {
    for_all(|(m, a): &(Int<5, 15>, Floats<NonEmpty>)| {
        let m = m.0;
        let program = Differentiated::new(move |a: V| {
            let n = a.shape();
            let b = backpermute((m, 2 * m), |(i, j)| (i + j) % n, a);
            let c = sum(b);
            let d = backpermute((2, 3, m), |(_, i, j)| (i * j).min(m - 1), c);
            let e = map(|x| x / 2.0, d);
            let f = slice((All, All, 2), e);
            fold_all(|x, y| x + y, 0.0, f)
        });
        program.check(&a.array(), &Tally::default())
    });
}
