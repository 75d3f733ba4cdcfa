//! Tests of errors: a mistake in a program, or a failure of its run, is an error that names the operation and the
//! source line, and never a panic. The operation is the function that the user called, also if it is composed of others.

use accel::array::Array;
use accel::interp::Interpreter;
use accel::prelude::*;
use accel::{backend_named, default_backend};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The error of a run. It must be an error and not a panic.
#[track_caller]
fn failure<A: Arrays, R: Arrays>(prog: Afun<A, R>, inputs: impl Inputs<A>) -> String {
    match catch_unwind(AssertUnwindSafe(|| run(&prog, inputs))) {
        Ok(Ok(_)) => panic!("no error"),
        Ok(Err(e)) => e.to_string(),
        Err(_) => panic!("a panic instead of an error"),
    }
}

/// The program that `write` returns. Writing it must not panic.
#[track_caller]
fn written<P>(write: impl FnOnce() -> P) -> P {
    catch_unwind(AssertUnwindSafe(write)).unwrap_or_else(|_| panic!("a panic while the program is written"))
}

/// The interpreter's error, for messages that depend on the backend.
#[track_caller]
fn interpreted<A: Arrays, R: Arrays>(prog: &Afun<A, R>, inputs: impl Inputs<A>) -> String {
    match run_on(&Interpreter, prog, inputs) {
        Ok(_) => panic!("no error"),
        Err(e) => e.to_string(),
    }
}

/// `FILE:LINE` of a line of this file.
fn line(n: u32) -> String {
    format!("{}:{n}:", file!())
}

/// Checks that `text` contains all `parts`.
#[track_caller]
fn tells(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

fn vector(xs: &[f64]) -> Vector<f64> {
    Array::vector(xs.to_vec())
}

fn integers(xs: &[i64]) -> Vector<i64> {
    Array::vector(xs.to_vec())
}

/// The error of a run, which is the same on the interpreter.
#[track_caller]
fn agreed<A: Arrays, R: Arrays>(prog: Afun<A, R>, inputs: impl Inputs<A> + Copy) -> String {
    let text = interpreted(&prog, inputs);
    assert_eq!(failure(prog, inputs), text);
    text
}

// ---- writing

/// A slice tells of the part of the index that the user has written. A compiled one is a loop that reads elements.
#[test]
fn slices_outside() {
    type M = Acc<Matrix<f64>>;
    type V = Acc<Vector<f64>>;
    let m = &Array::matrix(2, 3, vec![1.0; 6]).unwrap();
    let prog = afun(|m: M| slice((All, 3), m));
    tells(&agreed(prog, m), &["`slice`", &line(line!() - 1), "index [3] is outside the shape [3]"]);
    let prog = afun(|m: M| slice((constant(-1), All), m));
    tells(&agreed(prog, m), &["`slice`", &line(line!() - 1), "index [-1] is outside the shape [2]"]);
    let prog = afun(|m: M, i: Acc<Scalar<i64>>| slice_inner(the(i), m));
    let said = agreed(prog, (m, &Array::scalar(7)));
    tells(&said, &["`slice_inner`", &line(line!() - 2), "index [7] is outside the shape [3]"]);
    // In loops, on the way to other operations, and where the index depends on the step.
    let prog = afun(|m: M| aiterate(3, |v: V| zip_with(|x, y| x + y, v, slice((5, All), m)), slice((0, All), m)));
    tells(&agreed(prog, m), &["`slice`", &line(line!() - 1), "index [5] is outside the shape [2]"]);
    let prog = afun(|m: M| aiterate(3, |v: V| map(|x| x * 2.0, slice_inner(v.len() + 1, m)), slice((All, 0), m)));
    tells(&agreed(prog, m), &["`slice_inner`", &line(line!() - 1), "index [3] is outside the shape [3]"]);
    let prog = afun(|m: M| {
        let next = |(i, v): (Acc<Scalar<i64>>, V)| {
            let row = slice((the(i), All), m);
            (map(|i| i + 1, i), zip_with(|x, y| x.max(y), v, row))
        };
        awhile(|(i, _): (Acc<Scalar<i64>>, V)| the(i).lt(4), next, (unit(0i64), slice((0, All), m))).1
    });
    tells(&agreed(prog, m), &["`slice`", &line(line!() - 5), "index [2] is outside the shape [2]"]);
    let prog = afun(|xs: Acc<Array<Dim3, f64>>| {
        aiterate(2, |v: V| zip_with(|x, y| x + y, v, slice((1, All, 4), xs)), slice((0, All, 0), xs))
    });
    let xs = &Array::from_vec([2, 3, 4], vec![1.0; 24]).unwrap();
    tells(&agreed(prog, xs), &["`slice`", &line(line!() - 3), "index [1, 4] is outside the shape [2, 4]"]);
}

/// An error shows what the user has written.
#[test]
fn extents_that_the_user_wrote() {
    let m = &Array::matrix(2, 3, vec![1.0; 6]).unwrap();
    let prog = afun(|m: Acc<Matrix<f64>>| m.squeeze::<0>());
    tells(&agreed(prog, m), &["`squeeze`", &line(line!() - 1), "expected at most 1, found 2"]);
    let prog = afun(|m: Acc<Matrix<f64>>, n: Acc<Scalar<i64>>| replicate((All, the(n), All), m));
    tells(&agreed(prog, (m, &Array::scalar(-2))), &["`replicate`", &line(line!() - 1), "[2, -2, 3]"]);
}

#[test]
fn nested_parallelism() {
    let (binder, op) = (line(line!() + 3), line(line!() + 5));
    let prog = written(|| {
        afun(|xs: Acc<Vector<f64>>| {
            map(
                |x| {
                    let row = fill(3, x);
                    the(sum(row))
                },
                xs,
            )
        })
    });
    let text = failure(prog, &vector(&[1.0]));
    tells(&text, &["`fill`", &op, "`map`", &binder, "nested parallelism"]);

    // The shape of the inner array depends on a variable.
    let prog = written(|| afun(|xs: Acc<Vector<i64>>| generate(4, |i| the(sum(iota(xs.at(i)))))));
    tells(&failure(prog, &integers(&[1])), &["`iota`", "`generate`", &line(line!() - 1), "nested parallelism"]);
    // The row that is reduced depends on a variable.
    let prog = written(|| afun(|m: Acc<Matrix<f64>>| generate(2, |i| the(sum(slice((i, All), m))))));
    tells(&failure(prog, &Array::matrix(1, 1, vec![1.0]).unwrap()), &["`slice`", "`generate`", "nested parallelism"]);
    // In the operator of a fold, and in the index function of a permute.
    let prog = written(|| afun(|xs: Acc<Vector<f64>>| fold(|x, y| the(product(map(|z| z + y, xs))) + x, 0.0, xs)));
    tells(&failure(prog, &vector(&[])), &["`map`", "`fold`"]);
    let prog =
        written(|| afun(|xs: Acc<Vector<i64>>| permute(|x, y| x + y, xs, |i| (true, the(minimum(take(i, xs)))), xs)));
    tells(&failure(prog, &integers(&[])), &["`take`", "`permute`"]);
}

#[test]
fn values_of_finished_programs() {
    let (mut array, mut scalar) = (None, None);
    let first = written(|| {
        afun(|xs: Acc<Vector<f64>>| {
            array = Some(xs);
            scalar = Some(xs.at(0));
            xs
        })
    });
    assert!(run(&first, &vector(&[1.0])).is_ok());
    let (array, scalar) = (array.unwrap(), scalar.unwrap());
    let here = line(line!() + 1);
    let prog = written(|| afun(|ys: Acc<Vector<f64>>| zip_with(|x, y| x * y, array, ys)));
    tells(&failure(prog, &vector(&[1.0])), &["`zip_with`", &here, "another program", "finished"]);
    let prog = written(|| afun(|ys: Acc<Vector<f64>>| map(|y| y + scalar, ys)));
    tells(&failure(prog, &vector(&[1.0])), &["`+`", "another program"]);
    let prog = written(|| afun(|_: Acc<Vector<f64>>| array));
    tells(&failure(prog, &vector(&[1.0])), &["another program"]);
    // Also if the same program is written twice.
    assert!(run(&first, &vector(&[1.0])).is_ok());
}

#[test]
fn values_of_the_program_around() {
    let outer = written(|| {
        afun(|xs: Acc<Vector<f64>>| {
            let inner = afun(|ys: Acc<Vector<f64>>| zip_with(|x, y| x * y, xs, ys));
            tells(&failure(inner, &vector(&[1.0])), &["`zip_with`", "the program around this one", "`call`"]);
            // A program inside another one is allowed if it uses only its own values.
            let inner = afun(|ys: Acc<Vector<f64>>| map(|y| y * 2.0, ys));
            assert_eq!(run(&inner, &vector(&[1.0])).unwrap(), vector(&[2.0]));
            map(|x| x + 1.0, xs)
        })
    });
    assert_eq!(run(&outer, &vector(&[1.0])).unwrap(), vector(&[2.0]));
}

#[test]
fn values_of_another_thread() {
    let outer = written(|| {
        afun(|xs: Acc<Vector<f64>>| {
            let text =
                std::thread::spawn(move || failure(afun(|ys: Acc<Vector<f64>>| concat(xs, ys)), &vector(&[1.0])));
            tells(&text.join().unwrap(), &["`concat`", "another thread"]);
            // In a thread that writes no program, nothing happens until a program uses the value.
            let lost = std::thread::spawn(move || map(|x| x + 1.0, xs)).join().unwrap();
            concat(xs, lost)
        })
    });
    tells(&failure(outer, &vector(&[1.0])), &["`concat`", "no program was being written"]);
}

#[test]
fn values_made_outside_of_any_program() {
    let two = constant(2.0);
    let doubled = written(|| iota(3));
    let prog = written(|| afun(|xs: Acc<Vector<f64>>| map(|x| x * two, xs)));
    tells(&failure(prog, &vector(&[1.0])), &["`*`", &line(line!() - 1), "no program was being written"]);
    let prog = written(|| afun(|_: Acc<Vector<f64>>| doubled));
    tells(&failure(prog, &vector(&[1.0])), &["no program was being written"]);
}

#[test]
fn parameters_outside_of_their_closures() {
    let prog = written(|| {
        afun(|xs: Acc<Vector<f64>>| {
            let mut kept = None;
            let ys = map(
                |x| {
                    kept = Some(x);
                    x
                },
                xs,
            );
            map(|y| y + kept.unwrap(), ys)
        })
    });
    tells(&failure(prog, &vector(&[1.0])), &["`map`", "outside"]);
}

#[test]
fn a_panic_of_the_user_leaves_nothing_behind() {
    let broken = catch_unwind(|| afun(|xs: Acc<Vector<f64>>| map(|_| -> Exp<f64> { panic!("the user's own") }, xs)));
    assert!(broken.is_err());
    let prog = afun(|xs: Acc<Vector<f64>>| sum(xs));
    assert_eq!(run(&prog, &vector(&[1.0, 2.0])).unwrap(), Array::scalar(3.0));
    // A value made now belongs to no program, and not to the broken one.
    let two = constant(2.0);
    tells(&failure(afun(|_: Acc<()>| unit(two)), &()), &["no program was being written"]);
}

#[test]
fn errors_are_kept_and_told_by_every_use() {
    let here = line(line!() + 1);
    let bad = || afun(|xs: Acc<Vector<f64>>| sum(map(|x| the(sum(fill(2, x))), xs)));
    let (xs, one) = (vector(&[1.0]), Array::scalar(1.0));
    let expected = bad().program().unwrap_err().to_string();
    tells(&expected, &["`fill`", "`map`", &here]);
    assert_eq!(failure(bad(), &xs), expected);
    assert_eq!(failure(bad().clone(), &xs), expected);
    assert_eq!(failure(written(|| grad(&bad())), &xs), expected);
    assert_eq!(failure(written(|| value_and_grad(&bad())), &xs), expected);
    assert_eq!(failure(written(|| vjp(&bad())), (&xs, &one)), expected);
    assert_eq!(failure(written(|| jvp(&bad())), (&xs, &xs)), expected);
    assert_eq!(failure(written(|| grad(&grad_sum(&bad()))), &xs), expected);
    assert_eq!(compile(bad()).unwrap_err().to_string(), expected);
    tells(&bad().to_string(), &[&expected]);
    let same = try_afun(|xs: Acc<Vector<f64>>| sum(map(|x| the(sum(fill(2, x))), xs)));
    tells(&same.unwrap_err().to_string(), &["`fill`"]);
}

/// A program that is broken if the program that it contains is.
fn grad_sum(prog: &Afun<Vector<f64>, Scalar<f64>>) -> Afun<Vector<f64>, Scalar<f64>> {
    Afun::from_result(prog.program().cloned())
}

#[test]
fn programs_have_the_types_they_are_given() {
    let prog = afun(|xs: Acc<Vector<f64>>| sum(xs));
    let program = prog.program().unwrap().clone();
    let wrong = Afun::<Vector<f64>, Scalar<f32>>::from_result(Ok(program.clone()));
    tells(&failure(wrong, &vector(&[1.0])), &["f32", "f64"]);
    assert!(Afun::<Vector<i64>, Scalar<f64>>::from_program(program).is_err());
}

// ---- running

#[test]
fn indices_outside() {
    let xs = vector(&[1.0, 2.0, 3.0]);
    let m = Array::matrix(2, 3, vec![0.0; 6]).unwrap();
    let here = line(line!() + 1);
    let prog = afun(|xs: Acc<Vector<f64>>| map(|x| x + xs.at(3), xs));
    tells(&failure(prog, &xs), &["`at`", &here, "[3]"]);
    let prog = afun(|m: Acc<Matrix<f64>>| unit(m.at((1, -1))));
    tells(&failure(prog, &m), &[&line(line!() - 1), "[1, -1]", "[2, 3]"]);
    let prog = afun(|m: Acc<Matrix<f64>>| unit(m.at((2, 0))));
    tells(&failure(prog, &m), &["[2, 0]", "[2, 3]"]);
    let prog = afun(|xs: Acc<Vector<f64>>| backpermute(2, |i| i + 2, xs));
    tells(&failure(prog, &xs), &["`backpermute`", &line(line!() - 1), "[3]"]);
    let prog = afun(|xs: Acc<Vector<f64>>| permute(|x, y| x + y, fill(2, 0.0), |i| (true, i), xs));
    tells(&failure(prog, &xs), &["`permute`", &line(line!() - 1), "[2]"]);
    let prog = afun(|m: Acc<Matrix<f64>>| slice_inner(i64::MAX, m));
    tells(&failure(prog, &m), &["`slice_inner`", &line(line!() - 1)]);
    let prog = afun(|is: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| gather(is, xs));
    tells(&failure(prog, (&integers(&[0, 7]), &xs)), &["`gather`", &line(line!() - 1), "[7]"]);
    let prog = afun(|is: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| scatter(is, xs, take(2, xs)));
    tells(&failure(prog, (&integers(&[0, 7]), &xs)), &["`scatter`", &line(line!() - 1), "[7]"]);
    // Extreme indices.
    for i in [i64::MIN, i64::MAX, -1, 3] {
        let prog = afun(|xs: Acc<Vector<f64>>, i: Acc<Scalar<i64>>| unit(xs.at(the(i))));
        tells(&failure(prog, (&xs, &Array::scalar(i))), &[&format!("[{i}]"), "[3]"]);
    }
    // An empty array causes no reads.
    let prog = afun(|xs: Acc<Vector<f64>>| map(|x| x + xs.at(0), xs));
    assert!(run(prog, &vector(&[])).unwrap().is_empty());
}

#[test]
fn extents_that_do_not_fit() {
    let xs = vector(&[1.0, 2.0, 3.0]);
    let prog = afun(|xs: Acc<Vector<f64>>| reshape((2, 2), xs));
    tells(&failure(prog, &xs), &["`reshape`", &line(line!() - 1), "[2, 2]", "[3]"]);
    // The adjoint of a wrong reshape goes back, and the error does not.
    let prog = grad(afun(|xs: Acc<Vector<f64>>| sum_all(map(|x| x * 2.0, reshape((2, 2), xs)))));
    tells(&failure(prog, &xs), &["`reshape`", &line(line!() - 1), "3 elements, as [3] has", "found [2, 2]"]);
    let prog = afun(|xs: Acc<Vector<f64>>| reshape((), xs));
    tells(&failure(prog, &vector(&[])), &["`reshape`"]);
    let prog = afun(|xs: Acc<Vector<f64>>| reshape((-1, -3), xs));
    tells(&failure(prog, &xs), &["`reshape`", "negative", "[-1, -3]"]);

    let n = |n: i64| Array::scalar(n);
    let prog = afun(|n: Acc<Scalar<i64>>| generate(the(n), |i| i));
    tells(&failure(prog, &n(-1)), &["`generate`", &line(line!() - 1), "negative", "[-1]"]);
    let prog = afun(|n: Acc<Scalar<i64>>| iota(the(n)));
    tells(&failure(prog, &n(i64::MIN)), &["`iota`", &line(line!() - 1), "negative"]);
    let prog = afun(|n: Acc<Scalar<i64>>| fill((2, the(n)), 1.5));
    tells(&failure(prog, &n(-4)), &["`fill`", "[2, -4]"]);
    let prog = afun(|n: Acc<Scalar<i64>>| replicate((the(n), 2), n));
    tells(&failure(prog, &n(-4)), &["`replicate`", &line(line!() - 1), "[-4, 2]"]);
    let prog = afun(|n: Acc<Scalar<i64>>| replicate_inner(the(n), n));
    tells(&agreed(prog, &n(-4)), &["`replicate_inner`", &line(line!() - 1), "negative"]);
    let prog = afun(|n: Acc<Scalar<i64>>| backpermute(the(n), |_| (), n));
    tells(&failure(prog, &n(-4)), &["`backpermute`", "negative"]);
}

#[test]
fn arrays_too_large_for_memory() {
    for n in [i64::MAX, 1 << 60, 1 << 48] {
        let n = Array::scalar(n);
        let prog = afun(|n: Acc<Scalar<i64>>| fill(the(n), 1.0));
        tells(&failure(prog, &n), &["`fill`", &line(line!() - 1), "no memory"]);
        let prog = afun(|n: Acc<Scalar<i64>>| fill((the(n), the(n)), 1.0));
        tells(&failure(prog, &n), &["`fill`", "no memory"]);
        let prog = afun(|n: Acc<Scalar<i64>>| replicate((the(n), All), replicate(the(n), n)));
        tells(&failure(prog, &n), &["`replicate`", "no memory"]);
    }
}

#[test]
fn folds_of_nothing() {
    let empty = vector(&[]);
    let prog = afun(|xs: Acc<Vector<f64>>| fold1(|x, y| x + y, xs));
    tells(&failure(prog, &empty), &["`fold1`", &line(line!() - 1), "empty"]);
    let prog = afun(|xs: Acc<Vector<f64>>| maximum(xs));
    tells(&failure(prog, &empty), &["`maximum`", &line(line!() - 1), "empty"]);
    let prog = afun(|m: Acc<Matrix<f64>>| minimum(m));
    tells(&failure(prog, &Array::matrix(2, 0, vec![]).unwrap()), &["`minimum`", "[2, 0]"]);
    // If there are no rows, they can be empty.
    let prog = afun(|m: Acc<Matrix<f64>>| minimum(m));
    assert!(run(prog, &Array::matrix(0, 0, vec![]).unwrap()).unwrap().is_empty());
}

#[test]
fn segments_that_do_not_fit() {
    let xs = vector(&[1.0, 2.0, 3.0]);
    let prog = afun(|n: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| fold_seg(|x, y| x + y, 0.0, n, xs));
    let here = line(line!() - 1);
    tells(
        &failure(prog.clone(), (&integers(&[1, 1]), &xs)),
        &["`fold_seg`", &here, "fill the rows", "2 elements", "[3]"],
    );
    tells(&failure(prog.clone(), (&integers(&[2, 2]), &xs)), &["`fold_seg`", &here, "4 elements"]);
    tells(&failure(prog.clone(), (&integers(&[4, -1]), &xs)), &["`fold_seg`", &here, "a segment of length -1"]);
    // The sum of these lengths wraps to 3.
    let wraps = integers(&[1 << 62, 1 << 62, 1 << 62, 1 << 62, 3]);
    tells(&failure(prog.clone(), (&wraps, &xs)), &["`fold_seg`", &here, "fill the rows", "more elements", "[3]"]);
    tells(
        &failure(
            grad(afun(|n: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| sum(call(&prog, (n, xs))))),
            (&integers(&[4]), &xs),
        ),
        &["`fold_seg`", &here],
    );
    // An empty segment has no largest element.
    let prog = afun(|n: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| fold1_seg(|x, y| x.max(y), n, xs));
    tells(&failure(prog, (&integers(&[2, 0, 1]), &xs)), &["`fold1_seg`", &line(line!() - 1), "[-1]", "[3]"]);
}

#[test]
fn division_by_zero() {
    let xs = integers(&[1, 0]);
    let prog = afun(|xs: Acc<Vector<i64>>| map(|x| 10 / x, xs));
    tells(&failure(prog, &xs), &["/", "`map`", &line(line!() - 1), "division by zero"]);
    let prog = afun(|xs: Acc<Vector<i64>>| map(|x| 10 % x, xs));
    tells(&failure(prog, &xs), &["%", "division by zero"]);
    let prog = afun(|xs: Acc<Vector<i64>>| fold(|x, y| x.div_euclid(y), 10, xs));
    tells(&failure(prog, &xs), &["div_euclid", "`fold`", "division by zero"]);
    let prog = afun(|xs: Acc<Vector<i64>>| scanl1(|x, y| x.rem_euclid(y), xs));
    tells(&failure(prog, &xs), &["rem_euclid", "`scanl1`", "division by zero"]);
    let prog = afun(|xs: Acc<Vector<i64>>| fill(4 / (xs.at(0) - 1), 0.0));
    tells(&failure(prog, &xs), &["/", "`fill`", "division by zero"]);
    let prog = afun(|xs: Acc<Vector<i64>>| acond((1 / xs.at(1)).gt(0), xs, map(|x| x + 1, xs)));
    tells(&failure(prog, &xs), &["/", "`acond`", "division by zero"]);
    // The interpreter computes everything. Other backends omit what does not influence the result, here the condition.
    let prog = afun(|xs: Acc<Vector<i64>>| acond((1 / xs.at(1)).gt(0), xs, xs));
    tells(&interpreted(&prog, &xs), &["/", "`acond`", "division by zero"]);
    // Division of floats by zero is no error.
    let prog = afun(|xs: Acc<Vector<f64>>| map(|x| 1.0 / x, xs));
    assert_eq!(run(prog, &vector(&[0.0])).unwrap(), vector(&[f64::INFINITY]));
}

/// An error in a branch or a loop occurs only if the branch or loop is executed.
#[test]
fn errors_happen_where_the_program_goes() {
    let prog = || {
        afun(|xs: Acc<Vector<f64>>, c: Acc<Scalar<bool>>| {
            awhile(|s: Acc<Vector<f64>>| the(c).and(s.at(0).lt(4.0)), |s| map(|x| x + s.at(5), s), xs)
        })
    };
    let xs = vector(&[1.0]);
    assert_eq!(run(prog(), (&xs, &Array::scalar(false))).unwrap(), xs);
    tells(&failure(prog(), (&xs, &Array::scalar(true))), &["[5]"]);
    // In the condition.
    tells(&failure(prog(), (&vector(&[]), &Array::scalar(true))), &["[0]"]);
}

// ---- derivatives

/// If a program fails, its derivatives fail, with the line of the program.
#[test]
fn derivatives_fail_where_the_program_does() {
    let (xs, one) = (vector(&[1.0]), Array::scalar(1.0));
    let here = line(line!() + 1);
    let prog = afun(|xs: Acc<Vector<f64>>| sum(map(|x| x * xs.at(7), xs)));
    for text in [failure(grad(&prog), &xs), failure(vjp(&prog), (&xs, &one)), failure(jvp(&prog), (&xs, &xs))] {
        tells(&text, &["[7]", "[1]", &here]);
    }
    let prog = afun(|xs: Acc<Vector<f64>>| maximum(xs));
    tells(&failure(grad(&prog), &vector(&[])), &["`maximum`", &line(line!() - 1)]);
}

/// Also if the derivative of a permute does not need the result.
#[test]
fn derivatives_of_permutes_check_targets() {
    type Operator = fn(Exp<f64>, Exp<f64>) -> Exp<f64>;
    let operators: [Operator; 5] = [|x, y| x + y, |x, y| x * y, |x, y| x.min(y), |x, _| x, |x, y| x + y + x * y];
    let (to, xs) = (vector(&[0.0, 1.0, 0.0]), vector(&[1.0, 2.0, 3.0]));
    for operator in operators {
        let prog = afun(move |to: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| {
            let place = |i: Exp<i64>| (true, (0i64, to.at(i).cast::<i64>()));
            map(|x| x * x, sum(sum(permute(operator, fill((2, 2), 0.5), place, xs))))
        });
        let here = line(line!() - 2);
        assert!(run(grad(&prog), (&to, &xs)).is_ok());
        for outside in [2.0, -1.0] {
            let to = vector(&[0.0, outside, 0.0]);
            tells(&failure(grad(&prog), (&to, &xs)), &["`permute`", &here]);
        }
    }
}

/// An adjoint or a tangent of the wrong shape can be an error or be cut off, but must not panic.
#[test]
fn seeds_of_the_wrong_shape() {
    let xs = vector(&[1.0, 2.0, 3.0]);
    let prog = afun(|xs: Acc<Vector<f64>>| map(|x| x * x, xs));
    for n in [0, 1, 2, 4, 10] {
        let seed = vector(&vec![1.0; n]);
        let shapes = format!("[3] and [{n}]");
        tells(&failure(vjp(&prog), (&xs, &seed)), &["`vjp`", &line(line!()), &shapes]);
        tells(&failure(jvp(&prog), (&xs, &seed)), &["`jvp`", &line(line!()), &shapes]);
    }
}

// ---- backends and host arrays

#[test]
fn backends_by_name() {
    assert_eq!(backend_named("interp").map(|b| b.name()).ok(), Some("interp"));
    for name in ["", "INTERP", "cuda"] {
        let text = backend_named(name).err().map(|e| e.to_string()).unwrap_or_default();
        tells(&text, &["unknown backend", &format!("{name:?}"), "interp"]);
    }
}

/// The environment belongs to a process, so another process runs [`in_another_process`].
#[test]
fn backends_of_the_environment() {
    let this = std::env::current_exe().unwrap();
    for (name, outcome) in [("interp", "result 6"), ("no-such-backend", "error unknown backend \"no-such-backend\"")] {
        let output = std::process::Command::new(&this)
            .args(["--exact", "errors::in_another_process", "--ignored", "--nocapture"])
            .env("ACCEL_BACKEND", name)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        tells(&text, &[outcome]);
    }
}

#[test]
#[ignore = "run by backends_of_the_environment"]
fn in_another_process() {
    let prog = afun(|xs: Acc<Vector<f64>>| sum(xs));
    match run(&prog, &vector(&[1.0, 2.0, 3.0])) {
        Ok(y) => println!("result {}", y.as_slice()[0]),
        Err(e) => {
            assert_eq!(compile(&prog).unwrap_err().to_string(), e.to_string());
            assert!(default_backend().is_err());
            println!("error {e}");
        }
    }
}

/// A line on standard error for each derivative that is zero because of its types, and none for others.
#[test]
fn derivatives_by_integers_are_noted() {
    let this = std::env::current_exe().unwrap();
    for (quiet, lines) in [("0", 2), ("1", 0)] {
        let output = std::process::Command::new(&this)
            .args(["--exact", "errors::derivatives_by_integers", "--ignored", "--nocapture"])
            .env("ACCEL_QUIET", quiet)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let notes: Vec<_> = said.lines().filter(|l| l.starts_with("accel: ")).collect();
        assert_eq!(notes.len(), lines, "{said}");
        for (note, name) in notes.iter().zip(["grad", "jvp"]) {
            tells(note, &["the derivative by Array1<i64>", "is zero", &format!("`{name}` at {}:", file!())]);
        }
    }
}

#[test]
#[ignore = "run by derivatives_by_integers_are_noted"]
fn derivatives_by_integers() {
    let (n, xs) = (integers(&[1, 2]), vector(&[0.5, 0.25]));
    let total = afun(|n: Acc<Vector<i64>>| sum(map(|n| n.cast::<f64>(), n)));
    let gradient = grad(&total);
    assert_eq!(run(&gradient, &n).unwrap().to_vec(), [0, 0]);
    // A program remembers its derivatives.
    assert_eq!(run(grad(&total), &n).unwrap().to_vec(), [0, 0]);
    let both = afun(|n: Acc<Vector<i64>>, xs: Acc<Vector<f64>>| sum(zip_with(|n, x| n.cast::<f64>() * x, n, xs)));
    assert_eq!(run(grad(&both), (&n, &xs)).unwrap().1.to_vec(), [1.0, 2.0]);
    assert_eq!(run(grad(both.by(|(_, x)| x)), (&n, &xs)).unwrap().to_vec(), [1.0, 2.0]);
    let (_, tangent) = run(jvp(both.by(|(n, _)| n)), ((&n, &xs), &n)).unwrap();
    assert_eq!(tangent.item(), 0.0);
}

#[test]
fn host_arrays() {
    let text = Array::<Dim2, f64>::from_vec((2, 3), vec![0.0; 5]).unwrap_err().to_string();
    tells(&text, &["[2, 3]", "6", "5"]);
    assert!(Array::matrix(usize::MAX, 2, vec![1.0]).is_err());
    assert!(Array::<Dim2, f64>::from_extents(&[3], vec![1.0; 3]).is_err());
    assert!(Array::<Dim1, f64>::from_fn(usize::MAX, |_| 0.0).is_err());
    let m = Array::matrix(2, 2, vec![1, 2, 3, 4]).unwrap();
    assert_eq!((m.get((1, 0)), m.get((2, 0)), m.get((0, usize::MAX))), (Some(3), None, None));
    let raw = m.raw().clone();
    assert!(Array::<Dim2, f32>::from_raw(raw.clone()).is_err());
    assert!(Array::<Dim1, i32>::from_raw(raw).is_err());
}
