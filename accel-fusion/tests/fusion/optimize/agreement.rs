//! Checks that shapes agree: the optimiser drops the superfluous ones, and the others are executed.

use super::{argument, floats, optimized, statements};
use accel_core::prelude::*;
use accel_core::repr::RawArray;
use accel_fusion::kernel::{Program, Verified, evaluate, parse};
use accel_fusion::pipeline::{lower, optimize};
use accel_fusion::simplify;

type V = Acc<Vector<f64>>;
type M = Acc<Matrix<f64>>;

/// The number of checks in a user's program: after lowering, with assumptions, and without assumptions.
fn checks<A: Arrays, R: Arrays>(f: &Afun<A, R>) -> [usize; 3] {
    let (simple, _) = simplify(f.program().unwrap()).unwrap();
    let lowered = lower(&simple).unwrap();
    let count = |p: &Program| statements(p).matches(" = agree ").count();
    let optimized = |assume| optimize(&lowered, assume).unwrap().program;
    [count(&lowered), count(&optimized(true)), count(&optimized(false))]
}

#[test]
fn shapes_that_are_visibly_equal_are_not_compared() {
    let none = [0, 0, 0];
    assert_eq!(checks(&afun(|xs: V| dot(xs, map(|x| x.sin(), xs)))), none);
    assert_eq!(checks(&afun(|xs: V| zip3(xs, reverse(xs), imap(|i, x| x * i.cast::<f64>(), xs)))), none);
    assert_eq!(
        checks(&afun(|xs: V| zip_with(|x, y| x + y, fill(7, 1.0), map(|x| x * 2.0, fill(7, the(sum(xs))))))),
        none
    );
    assert_eq!(checks(&afun(|m: M| zip(sum(m), maximum(m)))), none);
    assert_eq!(checks(&afun(|m: M| matmul(m, transpose(m)))), none);
    assert_eq!(checks(&afun(|m: M| matvec(m, sum(transpose(m))))), none);
    assert_eq!(checks(&afun(|m: M| concat(m, map(|x| -x, m)))), none);
    assert_eq!(checks(&afun(|m: M| zip_with(|x, y| x - y, m, replicate_inner(m.shape().1, sum(m))))), none);
    assert_eq!(checks(&afun(|xs: V, ys: V| concat(xs, ys))), none);
    assert_eq!(checks(&afun(|x: Acc<Scalar<f64>>, y: Acc<Scalar<f64>>| zip(x, y))), none);
    // Checks that a derivative adds.
    let f = afun(|xs: V| sum(zip_with(|x, y| x * y, xs, map(|x| x.sin(), xs))));
    assert_eq!(checks(&accel_ad::grad(&f)), none);
    assert_eq!(checks(&accel_ad::vjp(&f)), none);
}

#[test]
fn shapes_of_arguments_are_assumed_to_agree() {
    assert_eq!(checks(&afun(|xs: V, ys: V| dot(xs, ys))), [1, 0, 1]);
    assert_eq!(checks(&afun(|a: M, b: M| matmul(a, b))), [1, 0, 1]);
    assert_eq!(checks(&afun(|a: M, b: M| concat(a, b))), [1, 0, 1]);
    assert_eq!(checks(&afun(|a: M, v: V| sum(zip_with(|x, y| x + y, matvec(a, v), sum(a))))), [1, 0, 1]);
    let f = afun(|xs: V, ys: V| dot(xs, ys));
    assert_eq!(checks(&accel_ad::grad(&f)), [1, 0, 1]);
    // The seeds of two arguments.
    assert_eq!(checks(&accel_ad::jvp(&f))[1], 0);
    assert_eq!(checks(&accel_ad::vjp(&afun(|m: M| map(|x| x * x, m)))), [1, 0, 1]);
    // Repeated comparisons of the same shapes become one.
    let f = afun(|xs: V, ys: V| (zip_with(|x, y| x + y, xs, ys), zip_with(|x, y| x * y, map(|x| x.sin(), ys), xs)));
    assert_eq!(checks(&f)[1..], [0, 1]);
}

#[test]
fn shapes_that_data_decides_are_compared_once() {
    let f = afun(|xs: Acc<Vector<i64>>| dot(iota(xs.at(0)), iota(xs.at(1))));
    assert_eq!(checks(&f), [1, 1, 1]);
    // A comparison of a size with a product of extents.
    assert_eq!(checks(&afun(|m: M, xs: V| zip_with(|x, y| x + y, flatten(m), xs)))[2], 1);
}

#[test]
fn loops_that_keep_extents_are_not_slowed_down() {
    let f = afun(|xs: V| {
        let ys = map(|x| x.sin(), xs);
        awhile(|xs| the(sum(xs)).lt(9.0), |xs| zip_with(|x, y| x + y, xs, ys), xs)
    });
    assert_eq!(checks(&f)[1..], [0, 0]);
}

/// A check defines no array. It stays even if the statement after it is dropped.
#[test]
fn checks_are_not_dropped() {
    let c = optimized(
        "a0: Array1<f64>, a1: Array0<bool>",
        "a2: Array1<f64> = if @0
           cond () { x0: bool = a1[] @0 inside -> x0 }
           then {
             () = agree all @0
               left () { x0: i64 = extent a0 0 -> x0 }
               right () { x0: i64 = 3 -> x0 }
             -> a0
           }
           else {
             a3: Array1<f64> = loop @0
               extents () { x0: i64 = extent a0 0 -> x0 }
               body (x0: i64) { x1: f64 = a0[x0] @0 inside; x2: f64 = sin x1 -> x2 }
             -> a3
           }
         () = agree outer @0
           left () { x0: i64 = extent a0 0; x1: i64 = 1 -> x0, x1 }
           right () { x0: i64 = extent a0 0; x1: i64 = 2 -> x0, x1 }
         -> a0",
    );
    for text in [c.text(), c.general()] {
        assert_eq!(text.matches(" = agree all @0").count(), 1, "{text}");
        assert_eq!(text.matches(" = agree outer @0").count(), 0, "{text}");
    }
    let chosen = |b: bool| RawArray { extents: vec![].into(), columns: vec![vec![b].into()].into() };
    for n in [2, 3] {
        for b in [false, true] {
            c.agrees(&[floats(&[n]), chosen(b)]);
        }
    }
    let error = evaluate(&c.general, &argument(&[floats(&[2]), chosen(true)])).unwrap_err();
    assert_eq!(error.to_string(), "`here`: expected shapes [n] and [n], found [2] and [3]");
    assert!(evaluate(&c.general, &argument(&[floats(&[2]), chosen(false)])).is_ok());
}

#[test]
fn checks_are_written_and_read() {
    let body = "  () = agree inner @0
    left () { x0: i64 = 2; x1: i64 = 3 -> x0, x1 }
    right () { x0: i64 = 3 -> x0 }
  -> a0";
    let text = |body: &str| format!("program (a0: Array1<f64>)\nsite 0 = \"matvec\"\n{{\n{body}\n}}");
    let p = parse(&text(body)).unwrap();
    assert_eq!(parse(&p.to_string()).unwrap().to_string(), p.to_string());
    assert!(Verified::new(p).is_ok());
    let wrong = |from: &str, to: &str| {
        let p = parse(&text(&body.replace(from, to)));
        p.and_then(Verified::new).map(|_| ()).unwrap_err().to_string()
    };
    assert!(wrong("() = agree", "a1: Array1<f64> = agree").contains("no array for `agree`"));
    assert!(wrong("inner", "all").contains("`all` of 2 and 1 extents"));
    assert!(wrong("inner", "some").contains(
        "`all`, `bounds`, `outer`, `inner`, `matrices`, `square`, `segments`, `rows`, `extents`, `size`, `inside` or `nonempty`"
    ));
    assert!(wrong("-> x0 }", "-> }").contains("`inner` of 2 and 0 extents"));
    assert!(wrong("x1: i64 = 3", "x1: f64 = 3.0").contains("left"));
}
