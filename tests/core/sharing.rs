//! Tests where elaboration computes shared nodes: NOTE [Sharing and branches]. Programs are compared as text.

use crate::growth;
use accel_core::ast::lint;
use accel_core::pass::count;
use accel_core::prelude::*;
use insta::assert_snapshot;
use std::time::{Duration, Instant};

/// The body of a program, checked, as text.
fn body<M, F: ArrayFn<M>>(f: F) -> String {
    let program = try_afun(f).unwrap();
    lint(program.program().unwrap()).unwrap();
    let text = program.to_string();
    let lines: Vec<_> = text.lines().skip(1).map(|l| l.strip_prefix("  ").unwrap_or(l)).collect();
    lines.join("\n")
}

/// The body of `map(f, xs)` over a vector.
fn mapped<R: IntoExp>(f: impl FnOnce(Exp<f64>, Acc<Vector<f64>>) -> R) -> String {
    body(|xs: Acc<Vector<f64>>| map(|x| f(x, xs), xs))
}

#[test]
fn one_use_is_not_a_definition_and_two_are_one() {
    assert_snapshot!(mapped(|x, _| x * x * 2.0), @r"map (\x0 -> x0 * x0 * 2.0) a0");
    assert_snapshot!(mapped(|x, _| {
        let square = x * x;
        square * 2.0 + square
    }), @r"map (\x0 -> let x1 = x0 * x0 in x1 * 2.0 + x1) a0");
}

#[test]
fn constants_and_variables_are_not_defined() {
    assert_snapshot!(mapped(|x, xs| {
        let two = constant(2.0);
        xs.at(3) * two + xs.at(3) * two + x + x
    }), @r"map (\x0 -> a0[3] * 2.0 + a0[3] * 2.0 + x0 + x0) a0");
}

#[test]
fn a_definition_stands_before_all_definitions_that_use_it() {
    assert_snapshot!(mapped(|x, _| {
        let a = x + 1.0;
        let b = a * a;
        let c = b * a;
        c * b + c
    }), @r"
        map
          (\x0 ->
            let x1 = x0 + 1.0
            let x2 = x1 * x1
            let x3 = x2 * x1
            x3 * x2 + x3)
          a0
    ");
}

#[test]
fn total_code_that_two_conditionals_share_is_defined_before_them() {
    assert_snapshot!(mapped(|x, _| {
        let square = x * x;
        cond(x.lt(0.0), square, 0.0) + cond(x.gt(1.0), square, 1.0)
    }), @r"map (\x0 -> let x1 = x0 * x0 in (if x0 < 0.0 then x1 else 0.0) + (if x0 > 1.0 then x1 else 1.0)) a0");
}

#[test]
fn what_only_one_branch_uses_is_defined_in_it() {
    assert_snapshot!(mapped(|x, _| {
        let square = x * x;
        cond(x.lt(0.0), square + square, 0.0)
    }), @r"map (\x0 -> if x0 < 0.0 then let x1 = x0 * x0 in x1 + x1 else 0.0) a0");
}

#[test]
fn a_guarded_read_that_two_conditionals_share_stays_below_both_guards() {
    assert_snapshot!(mapped(|x, xs| {
        let i = x.cast::<i64>();
        let read = xs.at(i);
        cond(i.lt(3), read * read, 0.0) + cond(i.gt(5), read + read, 1.0)
    }), @r"
        map
          (\x0 ->
            let x1 = x0 as i64
            let x2 = [x1]
            (if x1 < 3 then let x3 = a0 ! x2 in x3 * x3 else 0.0)
              + (if x1 > 5 then let x3 = a0 ! x2 in x3 + x3 else 1.0))
          a0
    ");
}

#[test]
fn a_guarded_read_is_safe_in_nested_conditionals() {
    assert_snapshot!(mapped(|x, xs| {
        let i = x.cast::<i64>();
        let read = xs.at(i);
        let inner = cond(i.lt(9), read, 2.0);
        cond(i.ge(0), inner + cond(i.lt(7), read, 3.0), inner)
    }), @r"
        map
          (\x0 ->
            let x1 = x0 as i64
            let x2 = [x1]
            let x3 = if x1 < 9 then a0 ! x2 else 2.0
            if x1 >= 0 then x3 + (if x1 < 7 then a0 ! x2 else 3.0) else x3)
          a0
    ");
}

#[test]
fn a_read_in_both_branches_is_defined_before_the_conditional() {
    assert_snapshot!(mapped(|x, xs| {
        let read = xs.at(0);
        cond(x.lt(0.0), cond(x.gt(-1.0), read, 1.0) + read, read * 2.0)
    }), @r"
        map
          (\x0 -> let x1 = a0[0] in if x0 < 0.0 then (if x0 > -1.0 then x1 else 1.0) + x1 else x1 * 2.0)
          a0
    ");
}

#[test]
fn a_read_that_is_needed_anyway_is_defined_once() {
    assert_snapshot!(mapped(|x, xs| {
        let read = xs.at(0);
        cond(x.lt(0.0), read, 1.0) + read
    }), @r"map (\x0 -> let x1 = a0[0] in (if x0 < 0.0 then x1 else 1.0) + x1) a0");
}

#[test]
fn division_of_integers_is_partial_unless_the_divisor_is_a_constant() {
    let program = |divide: fn(Exp<i64>) -> Exp<i64>| {
        body(move |xs: Acc<Vector<i64>>| {
            map(
                |x| {
                    let q = divide(x);
                    cond(x.gt(0), q, 0) + cond(x.lt(-5), q, 1)
                },
                xs,
            )
        })
    };
    assert_snapshot!(program(|x| 10 / x), @r"map (\x0 -> (if x0 > 0 then 10 / x0 else 0) + (if x0 < -5 then 10 / x0 else 1)) a0");
    assert_snapshot!(program(|x| x / 10), @r"map (\x0 -> let x1 = x0 / 10 in (if x0 > 0 then x1 else 0) + (if x0 < -5 then x1 else 1)) a0");
}

#[test]
fn what_was_written_before_a_loop_is_computed_before_it() {
    assert_snapshot!(mapped(|x, xs| {
        let step = x.sin() * xs.at(0);
        while_(|s: Exp<f64>| s.lt(100.0), |s| s + step, 0.0)
    }), @r"map (\x0 -> let x1 = sin x0 * a0[0] in while (\x2 -> x2 < 100.0) (\x2 -> x2 + x1) 0.0) a0");
    assert_snapshot!(mapped(|x, xs| while_(|s: Exp<f64>| s.lt(100.0), |s| s + x.sin() * xs.at(0), 0.0)), @r"map (\x0 -> while (\x1 -> x1 < 100.0) (\x1 -> x1 + sin x0 * a0[0]) 0.0) a0");
}

#[test]
fn what_depends_on_the_state_of_a_loop_is_defined_in_it() {
    assert_snapshot!(mapped(|x, _| while_(
        |s: Exp<f64>| {
            let t = s * x;
            (t * t).lt(100.0)
        },
        |s| {
            let t = s + x;
            t * t
        },
        1.0
    )), @r"
        map
          (\x0 ->
            while (\x1 -> let x2 = x1 * x0 in x2 * x2 < 100.0) (\x1 -> let x2 = x1 + x0 in x2 * x2) 1.0)
          a0
    ");
}

#[test]
fn arrays_that_scalar_code_reads_are_variables() {
    assert_snapshot!(body(|xs: Acc<Vector<f64>>| {
        let total = sum(xs);
        map(|x| x / the(total), xs)
    }), @r"
        let a1 = fold (\x0 x1 -> x0 + x1) 0.0 a0
        map (\x0 -> x0 / a1[]) a0
    ");
}

#[test]
fn an_array_written_in_a_closure_that_does_not_use_its_variables_is_computed_outside() {
    assert_snapshot!(body(|xs: Acc<Vector<f64>>| map(|x| x / the(sum(xs)), xs)), @r"
        let a1 = fold (\x0 x1 -> x0 + x1) 0.0 a0
        map (\x0 -> x0 / a1[]) a0
    ");
}

#[test]
fn shared_arrays_are_defined_and_their_tuples_are_not_copied() {
    assert_snapshot!(body(|xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| {
        let zs = zip_with(|x, y| x * y, xs, ys);
        (map(|z| z + 1.0, zs), sum(zs))
    }), @r"
        let a1 = a0.1
        let a2 = a0.0
        let a3 = zip_with (\x0 x1 -> x0 * x1) a2 (agree [all zip_with] (shape a2) (shape a1) a1)
        (map (\x0 -> x0 + 1.0) a3, fold (\x0 x1 -> x0 + x1) 0.0 a3)
    ");
}

#[test]
fn an_array_that_branches_share_is_not_computed_without_need() {
    assert_snapshot!(body(|xs: Acc<Vector<f64>>| {
        let squares = map(|x| x * x, xs);
        let first = xs.at(0);
        let a = acond(first.lt(0.0), sum(squares), unit(0.0));
        let b = acond(first.gt(1.0), product(squares), unit(1.0));
        (a, b)
    }), @r"
        (
          acond
            (a0[0] < 0.0)
            (fold (\x0 x1 -> x0 + x1) 0.0 (map (\x0 -> x0 * x0) a0))
            (generate () (\x0 -> 0.0)),
          acond
            (a0[0] > 1.0)
            (fold (\x0 x1 -> x0 * x1) 1.0 (map (\x0 -> x0 * x0) a0))
            (generate () (\x0 -> 1.0))
        )
    ");
    assert_snapshot!(body(|xs: Acc<Vector<f64>>| {
        let squares = map(|x| x * x, xs);
        acond(xs.at(0).lt(0.0), sum(squares), product(squares))
    }), @r"
        let a1 = map (\x0 -> x0 * x0) a0
        acond (a0[0] < 0.0) (fold (\x0 x1 -> x0 + x1) 0.0 a1) (fold (\x0 x1 -> x0 * x1) 1.0 a1)
    ");
}

#[test]
fn array_loops_see_what_is_around_them() {
    assert_snapshot!(body(|xs: Acc<Vector<f64>>| {
        let ys = map(|x| x.sin(), xs);
        awhile(|s| the(sum_all(s)).lt(1.0), |s| zip_with(|a, b| a + b, s, ys), xs)
    }), @r"
        let a1 = map (\x0 -> sin x0) a0
        awhile
          (\a2 ->
            let a3 = fold (\x0 x1 -> x0 + x1) 0.0 (reshape [(shape a2).1] a2)
            generate () (\x0 -> a3[] < 1.0))
          (\a2 -> zip_with (\x0 x1 -> x0 + x1) a2 (agree [all zip_with] (shape a2) (shape a1) a1))
          a0
    ");
}

/// Elaboration time of a program.
fn timed<M, F: ArrayFn<M>>(f: F) -> (accel_core::pass::Counts, Duration) {
    let start = Instant::now();
    let program = try_afun(f).unwrap();
    let time = start.elapsed();
    (count(program.program().unwrap()), time)
}

/// Time per step at `large` steps is at most ten times that at `small`: nothing is quadratic. (The benchmark measures better;
/// this has to hold on a busy machine in a debug build.)
fn linear(small: usize, large: usize, run: impl Fn(usize) -> Duration) {
    growth::within([small, large], |short| short * 10 * (large / small) as u32, run);
}

#[test]
fn a_doubling_chain_is_linear_in_size_and_time() {
    let chain = |n: usize| timed(move |xs: Acc<Vector<f64>>| map(|x| (0..n).fold(x, |x, _| x + x), xs));
    let (counts, _) = chain(10_000);
    assert_eq!(counts.scalar_lets, 9_999);
    // each step is an addition of two variables, each definition one more node
    assert_eq!(counts.scalars, 3 * 10_000 + 9_999);
    linear(200, 10_000, |n| chain(n).1);
}

#[test]
fn a_chain_of_100_000_operations_elaborates() {
    let (counts, _) = timed(|xs: Acc<Vector<f64>>| map(|x| (0..100_000).fold(x, |y, _| y * x), xs));
    assert_eq!((counts.scalar_lets, counts.scalars), (0, 200_001));
    let (counts, _) = timed(|xs: Acc<Vector<f64>>| map(|x| (0..100_000).fold(x, |y, _| y * y), xs));
    assert_eq!(counts.scalar_lets, 99_999);
}

#[test]
fn wide_sums_of_shared_terms_are_linear() {
    let wide = |n: usize| {
        timed(move |xs: Acc<Vector<f64>>| {
            map(
                |x| {
                    let terms: Vec<_> = (0..n).map(|k| x * k as f64).collect();
                    terms.iter().fold(x, |s, t| s + *t * *t)
                },
                xs,
            )
        })
    };
    assert_eq!(wide(10_000).0.scalar_lets, 10_000);
    linear(200, 10_000, |n| wide(n).1);
}

#[test]
fn nested_conditionals_are_linear() {
    let nested = |n: usize| {
        timed(move |xs: Acc<Vector<f64>>| {
            map(
                |x| {
                    let read = xs.at(0);
                    (0..n).fold(x, |y, k| cond(x.lt(k as f64), y + read, read * 2.0))
                },
                xs,
            )
        })
    };
    assert_eq!(nested(5_000).0.scalar_lets, 1);
    linear(200, 5_000, |n| nested(n).1);
}

#[test]
fn ten_thousand_array_operations_elaborate_in_linear_time() {
    let chain = |n: usize| timed(move |xs: Acc<Vector<f64>>| (0..n).fold(xs, |ys, _| map(|y| y + 1.0, ys)));
    let (counts, _) = chain(10_000);
    assert_eq!((counts.arrays, counts.array_lets, counts.scalars), (10_001, 0, 30_000));
    let shared = |n: usize| {
        timed(move |xs: Acc<Vector<f64>>| (0..n).fold(xs, |ys, _| zip_with(|a, b| a + b * xs.at(0), ys, ys)))
    };
    assert_eq!(shared(10_000).0.array_lets, 9_999);
    linear(200, 10_000, |n| chain(n).1);
    linear(200, 10_000, |n| shared(n).1);
}

#[test]
fn code_that_too_many_branches_share_is_an_error() {
    let e = try_afun(|xs: Acc<Vector<f64>>| {
        map(|x| (0..40).fold(xs.at(0), |y, k| cond(x.lt(k as f64), y, 0.0) + cond(x.gt(-k as f64), y, 1.0)), xs)
    })
    .unwrap_err();
    assert!(e.to_string().contains("too many branches of conditionals"), "{e}");
}

#[test]
fn a_loop_that_is_written_down_twice_keeps_its_code_in_each_copy() {
    // The double of the state is total and used in both copies, but its place is not before the conditionals.
    assert_snapshot!(mapped(|x, _| {
        let r = while_(
            |s: Exp<f64>| s.lt(100.0),
            |s| {
                let double = s * 2.0;
                double * double
            },
            x,
        );
        cond::<f64>(x.lt(1.0), r, cond::<f64>(x.lt(2.0), x, r))
    }), @r"
        map
          (\x0 ->
            if x0 < 1.0
            then while (\x1 -> x1 < 100.0) (\x1 -> let x2 = x1 * 2.0 in x2 * x2) x0
            else
              if x0 < 2.0 then x0 else while (\x1 -> x1 < 100.0) (\x1 -> let x2 = x1 * 2.0 in x2 * x2) x0)
          a0
    ");
}

#[test]
fn an_array_loop_that_is_written_down_twice_keeps_its_code_in_each_copy() {
    assert_snapshot!(body(|xs: Acc<Vector<f64>>, n: Acc<Scalar<i64>>| {
        let (_, ys) = awhile(
            |(k, _): (Acc<Scalar<i64>>, Acc<Vector<f64>>)| the(k).lt(3),
            |(k, ys)| (map(|k| k + 1i64, k), map(|y| y + 1.0f64, ys)),
            (n, xs),
        );
        acond(the(n).lt(1), ys, acond(the(n).lt(2), xs, ys))
    }), @r"
        let a1 = a0.1
        let a2 = a0.0
        let a3 = (a1, a2)
        acond
          (a1[] < 1)
          (awhile
            (\a4 ->
              let a5 = a4.0
              generate () (\x0 -> a5[] < 3))
            (\a4 -> (map (\x0 -> x0 + 1) a4.0, map (\x0 -> x0 + 1.0) a4.1))
            a3).1
          (acond
            (a1[] < 2)
            a2
            (awhile
              (\a4 ->
                let a5 = a4.0
                generate () (\x0 -> a5[] < 3))
              (\a4 -> (map (\x0 -> x0 + 1) a4.0, map (\x0 -> x0 + 1.0) a4.1))
              a3).1)
    ");
}
