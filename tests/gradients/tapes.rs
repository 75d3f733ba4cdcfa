//! Gradients of array loops with little memory for states: NOTE [Kept states] in `accel_fusion::kernel::tape`. The results are
//! the same bits with every budget, and close to those of the interpreter, which lists all states.

use crate::harness::V;
use crate::support::agree;
use accel::backend::Backend;
use accel::native::{Native, Options};
use accel::prelude::*;
use accel_core::interp::Interpreter;
use accel_core::repr::ArrayTuple;
use accel_fusion::kernel::tape::Budget;
use accel_fusion::kernel::{Block, Op};
use accel_fusion::pipeline::{Pipeline, Target, lower, optimize, optimize_for};
use accel_fusion::simplify;

type M = Acc<Matrix<f64>>;
type Number = Acc<Scalar<f64>>;
type Count = Acc<Scalar<i64>>;

/// Memory for one state, for a few, and for all. What a state takes besides its elements differs between backends, but does not count
/// for a few states.
const BUDGETS: [usize; 10] = [0, 80, 130, 250, 450, 900, 3_000, 4_000, 8_000, 1 << 40];

/// Checks a program that has as many tapes, with all budgets.
#[track_caller]
fn tapes<A: Arrays, R: Arrays>(program: &Afun<A, R>, arguments: &[ArrayTuple], number: usize) {
    let program = program.program().unwrap();
    let interpreted = Interpreter.compile(program).unwrap();
    let lowered = lower(&simplify(program).unwrap().0).unwrap();
    let kernels = optimize(&lowered, false).unwrap().program;
    assert_eq!(kernels.tapes(), number, "the number of tapes in\n{kernels}");
    let native = BUDGETS.map(|bytes| {
        let options = Options { strict: true, tape_bytes: Some(bytes), ..Options::default() };
        Native::with(options).compile(program).unwrap()
    });
    for x in arguments {
        let expected = interpreted.run(x);
        let near = |found| agree::compare(&expected, &found, agree::CLOSE).unwrap_or_else(|e| panic!("{e}\n{kernels}"));
        let evaluate = |bytes| format!("{:?}", kernels.evaluate_keeping(x, Budget::Bytes(bytes)));
        let evaluated = BUDGETS.map(evaluate);
        let ran = native.each_ref().map(|program| program.run(x));
        let bits = ran.each_ref().map(|found| format!("{found:?}"));
        for k in 1..BUDGETS.len() {
            assert_eq!(evaluated[0], evaluated[k], "evaluated with {} bytes", BUDGETS[k]);
            assert_eq!(bits[0], bits[k], "native with {} bytes", BUDGETS[k]);
        }
        ran.into_iter().take(1).for_each(near);
    }
}

/// Vectors of several lengths.
fn vectors() -> Vec<ArrayTuple> {
    [0, 1, 2, 3, 17, 100].map(vector).into()
}

fn vector(n: usize) -> ArrayTuple {
    Arrays::to_tuple(&Vector::vector((0..n).map(|k| (k as f64 * 0.7).sin() * 0.6 + 0.1).collect()))
}

/// Numbers of steps, each with a vector.
fn steps() -> Vec<ArrayTuple> {
    let count = |n: i64| Arrays::to_tuple(&Scalar::scalar(n));
    let all = [-1, 0, 1, 2, 3, 4, 5, 8, 9, 30, 100].into_iter();
    all.map(|n| ArrayTuple::pair(count(n), vector(5))).collect()
}

fn next(x: Exp<f64>) -> Exp<f64> {
    x * 0.9 + x.sin() * 0.2
}

/// The gradient by the vector of a program of a number of steps and a vector.
fn by_vector(f: impl Fn(Count, V) -> Number + 'static) -> Afun<(Scalar<i64>, Vector<f64>), Vector<f64>> {
    let f = afun(f);
    afun(move |n: Count, a: V| call(grad(&f), (n, a)).1)
}

#[test]
fn a_number_of_steps() {
    tapes(&by_vector(|n, a| sum(aiterate(the(n), |v: V| map(next, v), a))), &steps(), 1);
    tapes(&grad(&afun(|a: V| sum(aiterate(13, |v: V| map(next, v), a)))), &vectors(), 1);
    tapes(&by_vector(|n, a| sum(aiterate(the(n) * 2 - 1, |v: V| zip_with(|x, y| x * y.cos(), v, a), a))), &steps(), 1);
}

#[test]
fn data_decides_about_steps() {
    let f = |n: Count, a: V| {
        let (_, v) = awhile(
            move |(i, v): (Count, V)| the(i).lt(the(n)).and(the(sum(map(|x| x * x, v))).gt(0.02)),
            |(i, v)| (map(|i| i + 1, i), map(|x| x * 0.8 + x.sin() * 0.1, v)),
            (unit(0i64), a),
        );
        sum(map(|x| x * x, v))
    };
    tapes(&by_vector(f), &steps(), 1);
}

#[test]
fn states_of_several_arrays() {
    // A part that does not change, two that are exchanged, and a number.
    let f = |n: Count, a: V| {
        let step = |(x, y, c, s): (V, V, V, Number)| {
            let s = map(|s| s * 0.5 + 0.1, s);
            (y, zip_with(|x, c| x * c.cos() + the(s) * 0.1, x, c), c, s)
        };
        let (x, y, ..) = aiterate(the(n), step, (a, map(|x| x + 1.0, a), map(|x| x * 0.3, a), sum(a)));
        sum(zip_with(|x, y| x + y * 0.5, x, y))
    };
    tapes(&by_vector(f), &steps(), 1);
    // Elements that are tuples.
    let f = |n: Count, a: V| {
        let pairs = imap(|i, x| (x, (i, x * 0.5)), a);
        let step = |v: Acc<Vector<(f64, (i64, f64))>>| {
            map(|(x, (i, y))| (x * y + i.cast::<f64>() * 0.1, (i + 1, y * 0.9 + x.sin() * 0.1)), v)
        };
        sum(map(|(x, (_, y))| x + y, aiterate(the(n), step, pairs)))
    };
    tapes(&by_vector(f), &steps(), 1);
}

#[test]
fn rows_and_lists() {
    let step = |s: Number, x: Number| {
        let s = zip_with(|s, x| s * 0.5 + x.sin() * s, s, x);
        (s, zip_with(|s, x| s * x, s, x))
    };
    tapes(&grad(&afun(move |a: V| map_accum_l(step, sum(a), a).0)), &vectors(), 1);
    tapes(&grad(&afun(move |a: V| map_accum_r(step, sum(a), a).0)), &vectors(), 1);
    tapes(&grad(&afun(move |a: V| sum(map_accum_l(step, unit(0.2), a).1))), &vectors(), 1);
    let step = |s: V, x: V| {
        let next = zip_with(|s, x| s * 0.5 + x * x * s, s, x);
        (next, map(|x| x.cos(), next))
    };
    let matrix = |a: V| generate((a.shape(), 3), |(i, j)| a.at(i) + j.cast::<f64>() * 0.1);
    let f = afun(move |a: V| {
        let (s, ys) = map_accum_r(step, fill(3, 0.3), matrix(a));
        zip_with(|x, y| x + y, sum(s), sum(flatten(ys)))
    });
    tapes(&grad(&f), &vectors(), 1);
}

#[test]
fn a_list_that_the_user_asked_for_stays() {
    // The entries are the states before the steps: a result, so this list is not a tape.
    let f = afun(|a: V| {
        map_accum_l(|s: Number, x: Number| (zip_with(|s, x| s * 0.9 + x * s.sin(), s, x), s), unit(0.3), a).1
    });
    let both = afun(move |a: V| {
        let f = afun(|a: V| {
            map_accum_l(|s: Number, x: Number| (zip_with(|s, x| s * 0.9 + x * s.sin(), s, x), s), unit(0.3), a).1
        });
        (call(&f, a), call(vjp(&f), (a, a)))
    });
    tapes(&f, &vectors(), 0);
    tapes(&both, &vectors(), 1);
}

#[test]
fn loops_in_loops() {
    let f = |n: Count, a: V| {
        let inner = move |v: V| aiterate(the(n) / 2, |w: V| zip_with(|x, y| x * 0.8 + (x * y).sin() * 0.1, w, v), v);
        sum(aiterate(the(n) / 5 + 2, inner, a))
    };
    tapes(&by_vector(f), &steps(), 2);
    // The number of inner steps depends on the outer one.
    let f = |n: Count, a: V| {
        let (_, v) = awhile(
            move |(i, _): (Count, V)| the(i).lt(the(n).min(12)),
            |(i, v)| (map(|i| i + 1, i), aiterate(the(i), |w: V| map(next, w), v)),
            (unit(0i64), a),
        );
        sum(v)
    };
    tapes(&by_vector(f), &steps(), 2);
    // One loop after the other.
    let f = |n: Count, a: V| {
        let v = aiterate(the(n), |v: V| map(next, v), a);
        sum(aiterate(the(n) + 3, |v: V| map(|x| x.cos(), v), v))
    };
    tapes(&by_vector(f), &steps(), 2);
}

#[test]
fn operations_that_sum() {
    // Sums, products of matrices, scans and permutations in a body give the same bits each time.
    let f = |n: Count, a: V| {
        let m = generate((5, 5), |(i, j)| a.at((i * 2 + j) % a.shape()) * 0.3);
        let step = move |v: V| {
            let w = map(|x| x.sin(), matvec(m, v));
            let total = the(sum(map(|x| x * x, w)));
            let w = map(|x| x / (1.0 + total), w);
            permute(|x, y| x + y, map(|x| x * 0.1, v), |i| (true, i / 2), scanl1(|x, y| x + y, w))
        };
        sum(aiterate(the(n), step, a))
    };
    tapes(&by_vector(f), &steps(), 1);
    let rows = |m: M| {
        let total = the(sum(flatten(m))).sin();
        map(|x| x * 0.5 + total * 0.1, m)
    };
    let f = move |n: Count, a: V| sum(flatten(aiterate(the(n), rows, replicate_rows(a))));
    tapes(&by_vector(f), &steps(), 1);
}

fn replicate_rows(a: V) -> M {
    generate((3, a.shape()), |(i, j)| a.at(j) + i.cast::<f64>() * 0.1)
}

#[test]
fn second_derivatives_use_tapes_where_states_are_taken_once() {
    let f = afun(|a: V| sum(aiterate(6, |v: V| map(|x| x * x * 0.4 + 0.1, v), a)));
    let g = afun(move |a: V| sum(call(grad(&f), a)));
    let program = grad(&g);
    let kernels = optimize(&lower(&simplify(program.program().unwrap()).unwrap().0).unwrap(), false).unwrap().program;
    tapes(&program, &vectors(), kernels.tapes());
}

/// Checks of rows that a step reads are made once for all elements, but not those of lists that become tapes.
#[test]
fn hoisted_checks_leave_lists_to_tapes() {
    let step = |v: V, row: V| {
        let next = zip_with(|x, y| (x * y).sin() + 0.1, v, row);
        (next, sum(next))
    };
    let f = afun(move |a: V, rows: Acc<Matrix<f64>>| sum(map_accum_l(step, a, rows).1));
    let program = grad(&f);
    let lowered = lower(&simplify(program.program().unwrap()).unwrap().0).unwrap();
    let kernels = optimize_for(&lowered, Target::Processor, false).unwrap().program;
    let text = kernels.to_string();
    assert!(kernels.tapes() == 1 && text.contains("() = if"), "{text}");
}

/// A tape has no place for a state of changing extents from which the listed one could be computed: the list stays.
#[test]
fn a_listed_state_beside_one_that_grows() {
    let f = afun(|a: V| {
        let step = |(t, x, y): (Count, V, V)| (map(|t| t + 1, t), scanl(|s, y| s.min(y), 0.0, y), x);
        let goes_on = |(t, _, _): (Count, V, V)| the(t).lt(2);
        let (_, x, y) = awhile(goes_on, step, (unit(0i64), a, a));
        sum(map(|x| x.sin(), x)) + sum(y)
    });
    tapes(&grad(&f), &vectors(), 0);
}

/// States of which there are no lists, since the derivative does not need them, have a place beside those that it needs: a velocity
/// that stays a linear function, and two such arrays that change places in each step.
#[test]
fn states_without_lists() {
    let add = |a: V, b: V| zip_with(|a, b| a + b, a, b);
    let pushed = move |(x, v): (V, V)| (add(x, v), zip_with(|v, x: Exp<f64>| v - x.sin() * 0.01, v, x));
    tapes(&by_vector(move |n, a| sum(aiterate(the(n), pushed, (a, a)).0)), &steps(), 1);
    let turned = move |(x, u, v): (V, V, V)| (map(next, add(x, u)), v, u);
    tapes(&by_vector(move |n, a| sum(aiterate(the(n), turned, (a, a, map(|a| a * 0.5, a))).0)), &steps(), 1);
}

/// In a loop over the rows of a list, these have the extents of what was listed: NOTE [Rows of lists] in `accel_fusion`. So steps do
/// not compare them, also if the list could have no rows.
#[test]
fn steps_do_not_compare_rows_of_lists() {
    let f = afun(|m: M| {
        let start = generate(m.shape().1 - 2, |j| j.cast::<f64>() * 0.1);
        let down = |s: V, row: V| {
            let next = imap(|j, s| s * 0.5 + row.at(j + 1).sin() * row.at(j), s);
            (next, (next, map(|x| x.cos(), next)))
        };
        let (last, (a, b)) = map_accum_l(down, start, m);
        let up = |s: V, (a, b): (V, V)| {
            let next = zip_with3(|s: Exp<f64>, a: Exp<f64>, b: Exp<f64>| s * 0.3 + a * b, s, a, b);
            (next, map(|x| x * x, next))
        };
        let (first, all) = map_accum_r(up, last, (a, b));
        sum(first) + sum(flatten(all))
    });
    let program = grad(&f);
    let kernels = optimize(&lower(&simplify(program.program().unwrap()).unwrap().0).unwrap(), false).unwrap().program;
    let text = kernels.to_string();
    // That there can be a source of a permutation is no comparison of rows.
    let compares =
        |line: &str| line.starts_with("    ") && line.contains("= agree") && !line.contains("= agree extents");
    assert!(!text.lines().any(compares), "{text}");
    let matrices = [(0, 5), (1, 2), (1, 5), (3, 2), (4, 3), (6, 7)].map(|(n, m)| {
        let numbers = (0..n * m).map(|k| (k as f64 * 0.7).sin() * 0.6 + 0.1).collect();
        Arrays::to_tuple(&Matrix::matrix(n, m, numbers).unwrap())
    });
    tapes(&program, &matrices, kernels.tapes());
}

#[test]
fn a_state_of_another_shape_is_an_error() {
    let f = afun(|a: V| sum(aiterate(3, |v: V| map(|x| x * x, take(v.shape() - 1, v)), a)));
    let program = grad(&f);
    let program = program.program().unwrap();
    let kernels = optimize(&lower(&simplify(program).unwrap().0).unwrap(), false).unwrap().program;
    assert_eq!(kernels.tapes(), 1, "{kernels}");
    let x = vector(5);
    let expected = Interpreter.compile(program).unwrap().run(&x).unwrap_err().to_string();
    assert!(expected.contains("arrays of one shape in every step, such as [5]"), "{expected}");
    for bytes in BUDGETS {
        let evaluated = kernels.evaluate_keeping(&x, Budget::Bytes(bytes)).unwrap_err();
        assert_eq!(evaluated.to_string(), expected);
        let options = Options { strict: true, tape_bytes: Some(bytes), ..Options::default() };
        let ran = Native::with(options).compile(program).unwrap().run(&x).unwrap_err();
        assert_eq!(ran.to_string(), expected);
    }
}

/// With a budget, the updates of a loop are listed block by block: NOTE [Blocks of updates] in `accel_fusion`.
#[test]
fn updates_in_blocks() {
    type Steps = fn(Exp<i64>, V, V) -> V;
    let programs: [Steps; 5] = [
        |i, xs, a| set(xs, i % xs.len(), xs.at((i + 1) % xs.len()).sin() + a.at(i % a.len()) * 0.5),
        |i, xs, a| {
            let k = i * i % xs.len();
            acond(
                xs.at(k).gt(0.2),
                update(xs, k, |x| x * x - a.at(0)),
                update(update(xs, 0, |x| x * 0.9), k, |x| x.sin()),
            )
        },
        // A part of the state of its own that all steps change.
        |i, xs, a| {
            let total = sum(zip_with(|x, y| x * y, xs, a));
            set(xs, i % xs.len(), the(total).sin())
        },
        // The block of an update.
        |i, xs, a| set_block(xs, (i % (xs.len() - 1)).max(0), generate(2, |j| (a.at(j) * xs.at(j)).sin())),
        |i, xs, _| aiterate_indexed(xs.len(), |j, ys: V| set(ys, j, ys.at(j).sin() + xs.at(i % xs.len()) * 0.1), xs),
    ];
    for step in programs {
        let f = move |n: Count, a: V| {
            let start = (map(|x| x + 0.3, a), sum(a), map(|x| x.cos(), a));
            let body = |i, (xs, s, ys): (V, Number, V)| {
                (step(i, xs, a), map(|s| s * 0.5 + xs.at(0), s), map(|y| y * 0.5 + the(s) * 0.1, ys))
            };
            let (xs, s, ys) = aiterate_indexed(the(n), body, start);
            zip_with(|x, y| x + y, sum(zip_with(|x, y| x * y, xs, ys)), s)
        };
        in_blocks(&by_vector(f), &steps()[3..]);
        let f = move |n: Count, a: V| sum(aiterate_indexed(the(n), |i, xs| step(i, xs, a), a));
        in_blocks(&by_vector(f), &steps());
        // From the right, the first step has the last row.
        let f = move |n: Count, a: V| {
            let of_row = |xs: V, i: Count| (step(the(i), xs, a), ());
            sum(map_accum_r(of_row, a, iota(the(n).max(0))).0)
        };
        in_blocks(&by_vector(f), &steps());
    }
}

/// With a budget, a loop that updates in an inner loop keeps states before its blocks only: an inner loop that is taken again lists what
/// it overwrites, as the outer one does for a step, and copies no array.
#[test]
fn updates_in_inner_loops_need_one_tape() {
    let f = afun(|a: V| {
        let row = |i: Exp<i64>, t: Acc<Matrix<f64>>| {
            let cell = |j: Exp<i64>, t: Acc<Matrix<f64>>| set(t, (i + 1, j + 1), (t.at((i, j)) * 0.5 + a.at(i)).sin());
            aiterate_indexed(3, cell, t)
        };
        let t = aiterate_indexed(a.len() - 1, row, fill((a.len(), 4), 0.1));
        sum_all(t * t)
    });
    let arguments: Vec<ArrayTuple> = (4..8).map(vector).collect();
    let program = grad(&f);
    in_blocks(&program, &arguments);
    let options = Options { strict: true, tape_bytes: Some(1 << 20), ..Options::default() };
    let kernels = Pipeline::lazy(program.program().unwrap(), Target::Any, options).optimized(false).unwrap().program;
    assert_eq!(kernels.tapes(), 1, "{kernels}");
}

/// The steps of an inner loop over a triangle are undone in place: what comes back from a tape has the extents of what was kept, so no
/// step copies the matrix.
#[test]
fn steps_of_triangles_copy_no_state() {
    let eliminated = |a: V| {
        let n = a.len();
        let of_column = |k: Exp<i64>, m: M| {
            let of_row = |i: Exp<i64>, m: M| {
                let i = i + k + 1;
                let factor = m.at((i, k)) / m.at((k, k));
                set_row(m, i, generate(n, |j| m.at((i, j)) - factor * m.at((k, j))))
            };
            aiterate_indexed(n - 1 - k, of_row, m)
        };
        let start = generate((n, n), |(i, j)| cond(i.eq(j), 4.0, a.at(i) * a.at(j)));
        map(|x| x.sin(), sum_all(aiterate_indexed(n - 1, of_column, start)))
    };
    let program = grad(&afun(eliminated));
    tapes(&program, &[1, 2, 5, 8].map(vector), 1);
    let kernels = optimize(&lower(&simplify(program.program().unwrap()).unwrap().0).unwrap(), false).unwrap().program;
    let is_matrix = |op: &Op| matches!(op, Op::Loop { extents, .. } if extents.results.len() == 2);
    let inside = kernels.body.stmts.iter().flat_map(|s| s.op.blocks()).flat_map(Block::walk);
    assert_eq!(inside.filter(|s| is_matrix(&s.op)).count(), 0, "{kernels}");
}

/// As [`tapes`], for programs that the budget changes.
#[track_caller]
fn in_blocks<A: Arrays, R: Arrays>(program: &Afun<A, R>, arguments: &[ArrayTuple]) {
    let program = program.program().unwrap();
    let interpreted = Interpreter.compile(program).unwrap();
    let compiled = [None, Some(0), Some(100), Some(900), Some(8_000), Some(1 << 40)].map(|tape_bytes| {
        let options = Options { strict: true, tape_bytes, ..Options::default() };
        let kernels = Pipeline::lazy(program, Target::Any, options.clone()).optimized(false).unwrap().program;
        assert!(tape_bytes.is_none() || kernels.tapes() > 0, "{kernels}");
        (tape_bytes, kernels, Native::with(options).compile(program).unwrap())
    });
    for x in arguments {
        let expected = interpreted.run(x);
        let all = compiled.each_ref().map(|(bytes, kernels, native)| {
            let evaluated = kernels.evaluate_keeping(x, Budget::new(*bytes));
            let ran = native.run(x);
            agree::compare(&expected, &ran, agree::CLOSE).unwrap_or_else(|e| panic!("{bytes:?}: {e}\n{kernels}"));
            (format!("{evaluated:?}"), format!("{ran:?}"))
        });
        for (found, (bytes, kernels, _)) in all.iter().zip(&compiled) {
            assert_eq!(*found, all[0], "with {bytes:?} bytes\n{kernels}");
        }
    }
}

/// Devices compute states again as well.
#[cfg(feature = "opencl")]
#[test]
fn on_a_device() {
    use accel::opencl::OpenCl;
    let device = match OpenCl::shared() {
        Ok(device) => device,
        Err(e) => return println!("LEFT OUT: {e}"),
    };
    let f = |n: Count, a: V| {
        let inner = move |v: V| aiterate(the(n) / 2, |w: V| zip_with(|x, y| x * 0.8 + (x * y).sin() * 0.1, w, v), v);
        sum(aiterate(the(n), inner, map(next, a)))
    };
    let program = by_vector(f);
    let program = program.program().unwrap();
    let interpreted = Interpreter.compile(program).unwrap();
    let compiled = [0, 2_000, 1 << 40].map(|bytes| {
        let options = Options { strict: true, tape_bytes: Some(bytes), ..Options::default() };
        Backend::compile(&device.clone().with_options(options), program).unwrap()
    });
    for n in [0, 1, 2, 7, 12] {
        let x = ArrayTuple::pair(Arrays::to_tuple(&Scalar::scalar(n)), vector(5));
        let ran = compiled.each_ref().map(|program| program.run(&x));
        let bits = ran.each_ref().map(|found| format!("{found:?}"));
        assert_eq!(bits[0], bits[1]);
        assert_eq!(bits[0], bits[2]);
        ran.into_iter().take(1).for_each(|found| agree::compare(&interpreted.run(&x), &found, agree::CLOSE).unwrap());
    }
}

/// Each number of states has room, also a few: NOTE [Kept states].
#[test]
fn room_for_a_few_states() {
    let gradient = grad(&afun(|a: V| sum(aiterate(39, |v: V| zip_with(|x, y| x * 0.9 + (x * y).sin(), v, a), a))));
    let x = Vector::vector(vec![0.3; 8]);
    let with = |tape_bytes| {
        let native = Native::with(Options { strict: true, tape_bytes, ..Options::default() });
        run_on(&native, &gradient, &x).unwrap().to_vec()
    };
    let expected = with(None);
    for room in 1..=10 {
        // The state has 8 numbers of 8 bytes.
        assert_eq!(with(Some(room * 64)), expected, "room for {room} states");
    }
}
