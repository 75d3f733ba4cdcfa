//! Traces that keep arrays: equations 8 and 9, and the reverse pass.

use crate::support::{by_elements, reversed, traced};
use accel_ad::{custom_jvp, custom_vjp, grad, vjp};
use accel_core::interp::Interpreter;
use accel_core::prelude::*;
use accel_core::surface::named;
use accel_trace::{Keep, RawTrace, trace_on};

fn vector(xs: &[f64]) -> Vector<f64> {
    Array::vector(xs.to_vec())
}

fn matrix(rows: usize, columns: usize) -> Matrix<f64> {
    let xs = (0..rows * columns).map(|i| (i as f64 * 0.7).sin() + 0.1).collect();
    Array::matrix(rows, columns, xs).expect("as many elements as the extents say")
}

#[test]
fn the_example_of_the_thesis() {
    let prog = afun(|x1: Acc<Scalar<f64>>, x2: Acc<Scalar<f64>>| {
        let r1 = zip_with(|x, y| x * y, x1, x2);
        zip_with(|x, y| x + y, x1, named("r1", r1))
    });
    let inputs = (Array::scalar(5.0), Array::scalar(3.0));
    let (y, t) = traced(&prog, &inputs);
    assert_eq!(y.item(), 20.0);
    let a = t.reverse(&Array::scalar(1.0)).expect("adjoints");
    assert_eq!((a.inputs().0.item(), a.inputs().1.item()), (4.0, 5.0));
    assert_eq!(a.named::<Scalar<f64>>("r1").expect("a number")[0].item(), 1.0);
    assert_eq!(t.named::<Scalar<f64>>("r1").expect("a number")[0].item(), 15.0);
    reversed(&prog, &inputs);
}

#[test]
fn maps_collect_what_closures_read() {
    let prog = afun(|a: Acc<Scalar<f64>>, bs: Acc<Vector<f64>>, ix: Acc<Vector<i64>>| {
        let ys = map(|b| the(a) * b.sin() + b, bs);
        let zs = map(|i| bs.at(i) * the(a), ix);
        (sum(ys), zs)
    });
    reversed(&prog, &(Array::scalar(0.5), vector(&[1.0, 2.0, 3.0]), Array::vector(vec![2, 0, 2, 2])));
}

#[test]
fn operations_of_every_kind() {
    let prog = afun(|m: Acc<Matrix<f64>>, v: Acc<Vector<f64>>| {
        let n = shape(v);
        let products = matmul(m, transpose(m));
        let scanned = scanl(|x, y| x * y + x, lit(0.5), v);
        let suffix = scanr1(|x, y| x + y, v);
        let folded = fold(|x, y| x * y, lit(1.0), m);
        let largest = maximum(m);
        let order = argsort(v);
        let sorted = gather(order, v);
        let back = permute(|x, y| x + y, fill(3, lit::<f64>(0.0)), |i| (constant(true), i % 3), v);
        let wide = replicate((All, 2), v);
        let column = slice((All, 1), m);
        let flat = flatten(m);
        let made = generate(n, |i| v.at(i) * v.at(0) + i.cast::<f64>());
        let all = (concat(products, reshape((2, 1), column)), wide);
        (all, scanned, suffix, (folded, largest, sorted, back), flat, made)
    });
    reversed(&prog, &(matrix(2, 3), vector(&[0.3, -1.0, 2.0, 0.7])));
}

#[test]
fn conditionals_are_decided() {
    let prog = afun(|x: Acc<Scalar<f64>>, v: Acc<Vector<f64>>| {
        acond(the(x).gt(1.0), map(|y| y * the(x), v), map(|y| y.sin(), v))
    });
    for x in [0.5, 2.0] {
        let inputs = (Array::scalar(x), vector(&[1.0, 2.0]));
        reversed(&prog, &inputs);
        let (_, t) = traced(&prog, &inputs);
        assert_eq!(t.stats().steps, 3, "{t}");
    }
}

/// The comparison uses `a`, but no adjoint ever comes from there. The thesis counts this use and never finishes.
#[test]
fn code_that_only_decides_does_not_hold_up_the_reverse_pass() {
    let prog = afun(|x: Acc<Scalar<f64>>| {
        let a = map(|x| x * x, x);
        acond(the(a).eq(4.0), x, map(|x| x * 2.0, x))
    });
    for (x, expected) in [(2.0, 1.0), (3.0, 2.0)] {
        let (_, t) = traced(&prog, &Array::scalar(x));
        let a = t.reverse(&Array::scalar(1.0)).expect("adjoints");
        assert_eq!(a.inputs().item(), expected);
        assert_eq!(a.work().resolved, a.work().reachable);
    }
    // A name keeps a step that nothing depends on.
    let prog = afun(|x: Acc<Scalar<f64>>| {
        let a = named("a", map(|x| x * x, x));
        acond(the(a).eq(4.0), x, map(|x| x * 2.0, x))
    });
    let (_, t) = traced(&prog, &Array::scalar(3.0));
    let a = t.reverse(&Array::scalar(1.0)).expect("adjoints");
    assert_eq!(a.named::<Scalar<f64>>("a").expect("numbers")[0].item(), 0.0);
    assert_eq!(a.inputs().item(), 2.0);
}

#[test]
fn loops_are_unrolled() {
    let newton = afun(|a: Acc<Scalar<f64>>| {
        let start = map(|a| a, a);
        let step = |x: Acc<Scalar<f64>>| named("x", zip_with(|x, a| (x + a / x) * 0.5, x, a));
        awhile(|x| (the(x) * the(x) - the(a)).abs().gt(1e-9), step, start)
    });
    let a = Array::scalar(2.0);
    reversed(&newton, &a);
    let (_, t) = traced(&newton, &a);
    let adjoints = t.reverse(&Array::scalar(1.0)).expect("adjoints");
    assert!((adjoints.inputs().item() - 0.5 / 2f64.sqrt()).abs() < 1e-9);
    let xs = t.named::<Scalar<f64>>("x").expect("numbers");
    assert!(xs.len() > 3 && xs.len() == adjoints.named::<Scalar<f64>>("x").expect("numbers").len());
    assert_eq!(adjoints.names(), ["x"]);
}

/// A loop whose state changes its extents has no gradient, but each of its runs has one.
#[test]
fn loops_may_change_the_extents_of_their_state() {
    let prog = afun(|v: Acc<Vector<f64>>| {
        let halve = |v: Acc<Vector<f64>>| {
            let pairs = generate(size(v) / 2, |i| v.at(i * 2) * v.at(i * 2 + 1).sin());
            concat(pairs, skip(size(v) / 2 * 2, v))
        };
        sum(awhile(|v| size(v).gt(1), halve, v))
    });
    let v = vector(&[0.3, 1.2, -0.7, 2.0, 0.9, 1.1, 0.4]);
    assert!(matches!(run_with(&Interpreter, &grad(&prog), &v), Err(Error::Shape { .. })));
    let t = by_elements(&prog, &v);
    assert!(t.stats().steps > 7, "{t}");
    let (y, t) = traced(&prog, &v);
    let adjoints = t.reverse(&Array::scalar(1.0)).expect("adjoints").into_inputs();
    for (i, adjoint) in adjoints.iter().enumerate() {
        let mut moved = v.to_vec();
        moved[i] += 1e-6;
        let moved = run_with(&Interpreter, &prog, &vector(&moved)).expect("a number").item();
        assert!(((moved - y.item()) / 1e-6 - adjoint).abs() < 1e-5, "{i}: {adjoint}");
    }
}

#[test]
fn loops_over_rows_list_their_entries() {
    let prog = afun(|m: Acc<Matrix<f64>>, s: Acc<Vector<f64>>| {
        map_accum_l(
            |s: Acc<Vector<f64>>, row: Acc<Vector<f64>>| {
                let next = zip_with(|x, y| x.sin() + y, s, row);
                (next, (sum(next), zip_with(|x, y| x * y, s, row)))
            },
            s,
            m,
        )
    });
    for rows in [0, 1, 2, 5] {
        reversed(&prog, &(matrix(rows, 3), vector(&[0.1, 0.2, 0.3])));
    }
    let right = afun(|m: Acc<Matrix<f64>>, s: Acc<Scalar<f64>>| {
        map_accum_r(
            |s: Acc<Scalar<f64>>, row: Acc<Vector<f64>>| {
                let next = zip_with(|x, y| x * y + 1.0, s, sum(row));
                (next, s)
            },
            s,
            m,
        )
    });
    reversed(&right, &(matrix(4, 3), Array::scalar(0.3)));
}

#[test]
fn results_may_be_arguments_and_discrete() {
    let prog = afun(|v: Acc<Vector<f64>>, n: Acc<Vector<i64>>| (v, (argsort(v), n), map(|x| x.gt(0.0), v), v));
    reversed(&prog, &(vector(&[3.0, 1.0]), Array::vector(vec![7])));
}

#[test]
fn discrete_components_of_adjoints_are_zero() {
    let prog = afun(|v: Acc<Vector<(f64, i64)>>| (v, map(|(x, i): (Exp<f64>, Exp<i64>)| pair(x * 2.0, i + 1), v)));
    let v = Array::vector(vec![(1.0, 5i64), (2.0, 6)]);
    for keep in [Keep::Arrays, Keep::EveryArray, Keep::Scalars] {
        let (_, t) = trace_on(&Interpreter, &prog, &v, keep).expect("a trace");
        let seed = Array::vector(vec![(1.0, 7i64), (10.0, 8)]);
        let adjoints = t.reverse((&seed, &seed)).expect("adjoints");
        assert_eq!(adjoints.inputs().to_vec(), [(3.0, 0), (30.0, 0)]);
    }
}

#[test]
fn empty_arrays() {
    let prog = afun(|v: Acc<Vector<f64>>| (map(|x| x * 2.0, v), sum(v), fold(|x, y| x * y, lit(3.0), v)));
    reversed(&prog, &vector(&[]));
    reversed(&prog, &vector(&[2.0]));
}

#[test]
fn traces_of_elements_agree_with_traces_of_arrays() {
    let prog = afun(|m: Acc<Matrix<f64>>, v: Acc<Vector<f64>>, ix: Acc<Vector<i64>>| {
        let products = matmul(m, transpose(m));
        let scanned = scanl(|x, y| x * y + x, lit(0.5), v);
        let suffix = scanr1(|x, y| x + y, v);
        let folded = fold(|x, y| x * y, lit(1.0), m);
        let order = argsort(v);
        let back = permute(|x, y| x + y, fill(3, lit::<f64>(0.0)), |i| (constant(true), i % 3), v);
        let branching = map(|x| cond(x.gt(0.5), x.sin(), x * x), v);
        let powers = map(
            |x| {
                let step = |(k, y): (Exp<i64>, Exp<f64>)| (k + 1, y * x);
                while_(|(_, y): (Exp<i64>, Exp<f64>)| y.abs().lt(3.0), step, (0i64, x + 2.0))
            },
            map(|x| x.abs() + 1.5, v),
        );
        (products, scanned, suffix, (folded, gather(order, v), back, gather(ix, v)), branching, powers, (order, m))
    });
    let inputs = (matrix(2, 3), vector(&[0.3, -1.0, 2.0, 0.7]), Array::vector(vec![3, 3, 0]));
    let t = by_elements(&prog, &inputs);
    assert!(t.stats().steps > 60, "{}", t.stats());
    for rows in [0, 1, 3] {
        let prog = afun(|m: Acc<Matrix<f64>>, s: Acc<Vector<f64>>| {
            let step = |s: Acc<Vector<f64>>, row: Acc<Vector<f64>>| {
                let next = zip_with(|x, y| x.sin() + y, s, row);
                (next, (sum(next), zip_with(|x, y| pair(x * y, x.gt(y)), s, row)))
            };
            map_accum_r(step, s, m)
        });
        by_elements(&prog, &(matrix(rows, 2), vector(&[0.1, 0.2])));
    }
}

#[test]
fn the_example_of_the_thesis_by_elements() {
    let prog = afun(|x1: Acc<Scalar<f64>>, x2: Acc<Scalar<f64>>| {
        zip_with(|x, y| x + y, x1, named("r1", zip_with(|x, y| x * y, x1, x2)))
    });
    let inputs = (Array::scalar(5.0), Array::scalar(3.0));
    let (y, t) = trace_on(&Interpreter, &prog, &inputs, Keep::Scalars).expect("a trace");
    assert_eq!(y.item(), 20.0);
    let lines: Vec<String> = t.to_string().lines().map(|l| l.trim().to_string()).collect();
    assert_eq!(lines[1..5], ["x0 = argument 0[0]", "x1 = argument 1[0]", "x2 = x0 * x1", "x3 = x0 + x2"]);
    let a = t.reverse(&Array::scalar(1.0)).expect("adjoints");
    assert_eq!((a.inputs().0.item(), a.inputs().1.item()), (4.0, 5.0));
    assert_eq!(a.named::<Scalar<f64>>("r1").expect("a number")[0].item(), 1.0);
}

/// Every primitive function, with the derivatives of both tables.
#[test]
fn derivatives_of_primitives_agree() {
    type F = fn(Exp<f64>) -> Exp<f64>;
    let functions: &[F] = &[
        |x| x.sin(),
        |x| x.cos(),
        |x| x.tan(),
        |x| x.asin(),
        |x| x.acos(),
        |x| x.atan(),
        |x| x.sinh(),
        |x| x.cosh(),
        |x| x.tanh(),
        |x| x.asinh(),
        |x| (x + 1.0).acosh(),
        |x| x.atanh(),
        |x| x.exp(),
        |x| x.exp2(),
        |x| x.exp_m1(),
        |x| x.ln(),
        |x| x.log2(),
        |x| x.log10(),
        |x| x.ln_1p(),
        |x| x.sqrt(),
        |x| x.cbrt(),
        |x| x.recip(),
        |x| x.erf(),
        |x| x.erfc(),
        |x| x.lgamma(),
        |x| x.digamma(),
        |x| x.floor() * x,
        |x| x.abs() + x.signum(),
        |x| -x,
        |x| x.pow(x + 1.0),
        |x| x.atan2(x * x + 1.0),
        |x| x.hypot(x * 3.0),
        |x| (x * 7.0) % x,
        |x| x.min(x * x),
        |x| x.max(x * x),
        |x| x / (x + 2.0),
        |x| x.cast::<f32>().cast::<f64>(),
    ];
    for f in functions {
        by_elements(&afun(|v: Acc<Vector<f64>>| map(f, v)), &vector(&[0.3, 0.8]));
    }
}

#[test]
fn a_trace_is_run_many_times() {
    let prog = afun(|v: Acc<Vector<f64>>| {
        let steps = aiterate(5, |v| map(|x| x.sin() + x * 0.1, v), v);
        sum(steps)
    });
    let (a, b, one) = (vector(&[0.1, 0.2]), vector(&[0.5, -0.3, 0.4]), Array::scalar(1.0));
    for keep in [Keep::Arrays, Keep::Scalars] {
        let (_, t) = trace_on(&Interpreter, &prog, &a, keep).expect("a trace");
        let expected = run_with(&Interpreter, &grad(&prog), &a).expect("a gradient");
        assert_eq!(t.pullback(&a, &one).expect("an adjoint").to_vec(), expected.to_vec());
        if keep == Keep::Arrays {
            let expected = run_with(&Interpreter, &vjp(&prog), (&b, &one)).expect("a gradient");
            assert_eq!(t.pullback(&b, &one).expect("an adjoint").to_vec(), expected.to_vec());
        }
    }
}

/// Reading rows one by one is linear: adjoints of rows are sparse.
#[test]
fn single_elements_have_sparse_adjoints() {
    let prog = afun(|v: Acc<Vector<f64>>| {
        let first = unit(v.at(0) * 1.0);
        let reads = (0..20).map(|k| unit(v.at(k * 2)));
        reads.fold(first, |s, x| zip_with(|s, x| s * x + x, s, x))
    });
    reversed(&prog, &Array::vector((0..64).map(|i| f64::from(i).cos()).collect()));
}

#[test]
fn seeds_have_the_shape_of_the_result() {
    let prog = afun(|v: Acc<Vector<f64>>| map(|x| x * 2.0, v));
    let (_, t) = trace_on(&Interpreter, &prog, &vector(&[1.0, 2.0]), Keep::Arrays).expect("a trace");
    let e = t.reverse(&vector(&[1.0])).unwrap_err().to_string();
    assert!(e.contains("`reverse`") && e.contains("[2]") && e.contains("[1]"), "{e}");
    let program = prog.program().expect("a program");
    let (_, raw) = RawTrace::record(&Interpreter, program, &vector(&[1.0]).to_tuple(), Keep::Arrays).expect("a trace");
    let e = raw.reverse(&Array::vector(vec![1i64]).to_tuple()).unwrap_err().to_string();
    assert!(e.contains("`reverse`: expected type Array1<f64>"), "{e}");
}

#[test]
fn failures_of_the_run_are_those_of_the_program() {
    let prog = afun(|v: Acc<Vector<f64>>| unit(v.at(7)));
    let e = trace_on(&Interpreter, &prog, &vector(&[1.0]), Keep::Arrays).unwrap_err();
    assert!(e.to_string().contains("[7]"), "{e}");
}

/// Each branch has a loop in its scalar code, so it is a task of its own.
#[test]
fn independent_branches_are_tasks_of_their_own() {
    let last = |r: Exp<f64>| {
        let step = |(k, y): (Exp<i64>, Exp<f64>)| (k + 1, r * y * (1.0 - y));
        while_(|(k, _): (Exp<i64>, Exp<f64>)| k.lt(50i64), step, (0i64, 0.4)).1
    };
    let prog = afun(|rates: Acc<Vector<f64>>| {
        map_accum_l(|s: Acc<Scalar<f64>>, r: Acc<Scalar<f64>>| (s, map(last, r)), unit(0.0), rates).1
    });
    let rates = Array::vector((0..32).map(|i| 2.5 + f64::from(i) / 40.0).collect());
    let adjoints = reversed(&prog, &rates);
    // For each branch a row and the map, the joins, and the argument.
    assert_eq!(adjoints.work().tasks, 32 + 32 + 31 + 1);
    let (_, t) = traced(&prog, &rates);
    assert_eq!(t.stats().width, 32);
    // One slice, one map, one list of one row, one join.
    assert_eq!(t.stats().kernels, 4);
}

/// The four steps of a product of matrices are one task, and only the product is stored.
#[test]
fn steps_that_only_each_other_use_are_fused() {
    let prog = afun(|a: Acc<Matrix<f64>>, b: Acc<Matrix<f64>>| named("c", matmul(a, b)));
    let inputs = (matrix(8, 16), matrix(16, 8));
    let (_, t) = traced(&prog, &inputs);
    let work = reversed(&prog, &inputs).work();
    // Two arguments and the product.
    assert_eq!(work.tasks, 3, "{work:?}");
    assert!(work.resolved > 5, "{work:?}");
    assert_eq!(t.stats().bytes, 8 * (2 * 8 * 16 + 8 * 8));
    let (_, every) = trace_on(&Interpreter, &prog, &inputs, Keep::EveryArray).expect("a trace");
    assert!(every.stats().bytes > 8 * 8 * 8 * 16, "{}", every.stats());
    let work = every.reverse(&matrix(8, 8)).expect("adjoints").work();
    assert_eq!(work.tasks, work.resolved);
}

#[test]
fn traces_are_drawn_and_counted() {
    let prog = afun(|x: Acc<Vector<f64>>| {
        let y = named("y", map(|x| x * 2.0, x));
        (sum(y), maximum(y))
    });
    let (_, t) = traced(&prog, &vector(&[1.0, 2.0]));
    let dot = t.to_dot();
    for part in ["digraph", "argument 0", "\\\"y\\\"", "s0 -> s1", "s2 -> s3", "s2 -> s4", "fold1"] {
        assert!(dot.contains(part), "{part} in {dot}");
    }
    let stats = t.stats();
    assert_eq!((stats.steps, stats.depth, stats.width, stats.uses), (5, 3, 2, 6), "{stats}");
    let (_, t) = trace_on(&Interpreter, &prog, &vector(&[1.0, 2.0]), Keep::Scalars).expect("a trace");
    assert!(t.to_dot().contains("x2 = x0 * 2.0"), "{}", t.to_dot());
    assert_eq!(t.stats().steps, 7, "{t}");
}

/// A loop in scalar code that reads an array has a derivative, which accumulates. It can be traced in turn, whole or by
/// elements.
#[test]
fn loops_that_read_arrays() {
    let prog = afun(|a: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| {
        map(|x| sfoldl(|y: Exp<f64>, c: Exp<f64>| y * x + c.sin(), 0.0f64, (), a), xs)
    });
    let inputs = (vector(&[1.0, -2.0, 0.5]), vector(&[0.3, 2.0, -1.0, 0.7]));
    reversed(&prog, &inputs);
    let squares = afun(move |a: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| {
        sum(map(|x| sfoldl(|y: Exp<f64>, c: Exp<f64>| y * x + c.sin(), 0.0f64, (), a), xs))
    });
    reversed(&grad(&squares), &inputs);
    for keep in [Keep::Arrays, Keep::Scalars] {
        let (y, t) = trace_on(&Interpreter, grad(&squares), &inputs, keep).expect("a trace");
        let again = run_with(&Interpreter, &t.to_program(), &inputs).expect("a result");
        assert_eq!(y.0.to_vec(), again.0.to_vec());
        assert_eq!(y.1.to_vec(), again.1.to_vec());
    }
}

/// A trace has the operations of a function, not its rule: it computes the value, and says that its derivative would be another one.
#[test]
fn functions_with_rules() {
    let round = custom_vjp(|x: Acc<Vector<f64>>| x.round(), |_, _, dy| dy);
    let cube = custom_jvp(|x: Exp<f64>| x * x * x, |x, dx| (x, x * x * dx * 3.0));
    let programs = [
        afun(|x: Acc<Vector<f64>>| sum(call(&round, x))),
        afun(|x: Acc<Vector<f64>>| sum(map(&cube, x))),
        afun(|x: Acc<Vector<f64>>| sum(acond(x.at(0).gt(0.0), x * 2.0, call(&round, x)))),
    ];
    for (prog, expected) in programs.iter().zip([3.0, 0.027 + 17.576, 5.8]) {
        for keep in [Keep::Arrays, Keep::EveryArray, Keep::Scalars] {
            let x = vector(&[0.3, 2.6]);
            let (y, t) = trace_on(&Interpreter, prog, &x, keep).expect("a trace");
            assert!((y.item() - expected).abs() < 1e-12, "{y:?}");
            let errors = [t.reverse(&Array::scalar(1.0)).err(), t.pullback(&x, &Array::scalar(1.0)).err()];
            for e in errors {
                let e = e.expect("no derivative").to_string();
                assert!(
                    e.contains("` at accel-trace/tests/trace/arrays.rs:") && e.contains("has a rule of its own"),
                    "{e}"
                );
            }
        }
    }
}
