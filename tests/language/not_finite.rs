//! Tests of the search for NaN: the operation, its line, the index, the operands, and whether it computes a derivative.

use accel::array::Array;
use accel::ast::Role;
use accel::backend::Backend;
use accel::interp::Interpreter;
use accel::nan::{Appearance, FindNan, Finding};
use accel::native::{Native, VectorizedInterpreter};
use accel::prelude::*;
use accel::repr::Scalar as Number;

fn vector(xs: &[f64]) -> Vector<f64> {
    Array::vector(xs.to_vec())
}

#[track_caller]
fn found<A: Arrays, R: Arrays>(prog: Afun<A, R>, inputs: impl Inputs<A>) -> Finding {
    find_nan(prog, inputs).unwrap().expect("something is found")
}

#[track_caller]
fn nan<A: Arrays, R: Arrays>(prog: Afun<A, R>, inputs: impl Inputs<A>) -> Appearance {
    found(prog, inputs).nan.expect("NaN is found")
}

#[track_caller]
fn infinity<A: Arrays, R: Arrays>(prog: Afun<A, R>, inputs: impl Inputs<A>) -> Appearance {
    let found = found(prog, inputs);
    assert!(found.nan.is_none(), "{found}");
    found.infinity.expect("infinity is found")
}

/// Checks function, operands, index, operation, line and role.
#[track_caller]
fn check(a: &Appearance, (function, operands): (&str, &[f64]), index: &[usize], (name, line): (&str, u32), role: Role) {
    let operands: Vec<Number> = operands.iter().map(|x| Number::F64(*x)).collect();
    assert_eq!((&*a.function, &*a.operands, &*a.index), (function, &*operands, index), "{a}");
    let source = a.source.unwrap_or_else(|| panic!("no source: {a}"));
    assert_eq!((source.name, source.at.line(), source.role), (name, line, role), "{a}");
    assert_eq!(source.at.file(), file!());
}

const PRIMAL: Role = Role::Primal;
const ADJOINT: Role = Role::Adjoint;

#[test]
fn the_operation_that_makes_it_is_found() {
    let inf = f64::INFINITY;
    let xs = vector(&[4.0, 1.0, -2.0, 0.0]);
    let (prog, line) = (afun(|xs: Acc<Vector<f64>>| map(|x| x.sqrt() + 1.0, xs)), line!());
    check(&nan(prog, &xs), ("sqrt", &[-2.0]), &[2], ("map", line), PRIMAL);

    let (prog, line) = (afun(|xs: Acc<Vector<f64>>| map(|x| 1.0 / x, map(|x| x * 2.0, xs))), line!());
    check(&infinity(prog, &xs), ("/", &[1.0, 0.0]), &[3], ("map", line), PRIMAL);

    let (prog, line) = (afun(|xs: Acc<Vector<f64>>| zip_with(|x, y| x.pow(y), xs, xs)), line!());
    check(&nan(prog, &vector(&[2.0, -0.5])), ("pow", &[-0.5, -0.5]), &[1], ("zip_with", line), PRIMAL);

    let line = line!() + 1;
    let prog = afun(|xs: Acc<Vector<f64>>| generate((2, 2), |(i, j)| (xs.at(2 * i + j) - 3.0).ln()));
    check(&nan(prog, &vector(&[4.0, 5.0, 2.0, 6.0])), ("log", &[-1.0]), &[1, 0], ("generate", line), PRIMAL);

    // The index of a fold or scan is that of the element that is combined.
    let big = Array::matrix(2, 3, vec![1.0, 2.0, 3.0, 1e308, 1e308, -1e308]).unwrap();
    let (prog, line) = (afun(|m: Acc<Matrix<f64>>| sum(m)), line!());
    check(&infinity(prog, &big), ("+", &[1e308, 1e308]), &[1, 1], ("sum", line), PRIMAL);
    let (prog, line) = (afun(|m: Acc<Matrix<f64>>| scanr(|x, y| x + y, 0.0, m)), line!());
    check(
        &infinity(prog, &Array::matrix(1, 3, vec![-1e308, -1e308, 1.0]).unwrap()),
        ("+", &[-1e308, -1e308]),
        &[0, 0],
        ("scanr", line),
        PRIMAL,
    );

    // Infinities of the argument do not count. What is made of them does, if it is NaN.
    let masked = vector(&[1.0, -inf, 2.0]);
    assert!(find_nan(afun(|xs: Acc<Vector<f64>>| map(|x| x.exp() * 2.0 + x, xs)), &masked).unwrap().is_none());
    let neutral = afun(|xs: Acc<Vector<f64>>| fold(|x, y| x.max(y), lit(f64::NEG_INFINITY), xs));
    assert!(find_nan(neutral, &vector(&[])).unwrap().is_none());
    let (prog, line) = (afun(|xs: Acc<Vector<f64>>| map(|x| x * 0.0, xs)), line!());
    check(&nan(prog, &masked), ("*", &[-inf, 0.0]), &[1], ("map", line), PRIMAL);
    // NaN of the argument does not count either.
    assert!(find_nan(afun(|xs: Acc<Vector<f64>>| map(|x| x * 2.0, xs)), &vector(&[f64::NAN])).unwrap().is_none());
}

/// An infinity can be meant, and need not be the reason for NaN. So both are told.
#[test]
fn infinity_and_nan_are_both_told() {
    let (prog, line) = (afun(|xs: Acc<Vector<f64>>| map(|x| x - x, map(|x| x.ln(), xs))), line!());
    let found = found(prog, &vector(&[1.0, 0.0]));
    check(found.infinity.as_ref().unwrap(), ("log", &[0.0]), &[1], ("map", line), PRIMAL);
    let (nan, inf) = (found.nan.as_ref().unwrap(), f64::INFINITY);
    check(nan, ("-", &[-inf, -inf]), &[1], ("map", line), PRIMAL);
    let place = |a: &Option<Appearance>| format!("`map` at {}", a.as_ref().unwrap().source.unwrap());
    let told = format!(
        "first `log(0.0)` is -inf at index [1] of {}; then `-inf - -inf` is NaN at index [1] of {}",
        place(&found.infinity),
        place(&found.nan)
    );
    assert_eq!(found.to_string(), told);
}

#[test]
fn derivatives_tell_whose_adjoint_it_is() {
    // The derivatives of two roots are infinite at 0.
    let zero = vector(&[1.0, 0.0]);
    let (total, line) = (afun(|xs: Acc<Vector<f64>>| sum(map(|x| (x * 4.0).sqrt() - x.sqrt(), xs))), line!());
    assert!(find_nan(&total, &zero).unwrap().is_none());
    for found in [found(grad(&total), &zero), found(vjp(&total), (&zero, &Array::scalar(1.0)))] {
        let (infinity, at) = (found.infinity.unwrap(), found.nan.unwrap());
        check(&infinity, ("/", &[-1.0, 0.0]), &[1], ("map", line), ADJOINT);
        check(&at, ("+", &[-f64::INFINITY, f64::INFINITY]), &[1], ("map", line), ADJOINT);
        let told = format!("`-inf + inf` is NaN at index [1] of the adjoint of `map` at {}", at.source.unwrap());
        assert_eq!(at.to_string(), told);
    }

    let (root, line) = (afun(|xs: Acc<Vector<f64>>| sum(map(|x| x.sqrt(), xs))), line!());
    check(&infinity(grad(&root), &zero), ("/", &[1.0, 0.0]), &[1], ("map", line), ADJOINT);
    let at = infinity(jvp(&root), (&zero, &vector(&[1.0, 1.0])));
    check(&at, ("/", &[1.0, 0.0]), &[1], ("map", line), Role::Tangent);
    assert!(at.to_string().ends_with(", or its tangent"), "{at}");
    // Where the function itself is the reason, its adjoint is not.
    check(&nan(grad(&root), &vector(&[-1.0, 0.0])), ("sqrt", &[-1.0]), &[0], ("map", line), PRIMAL);

    // The second derivative: at 0, that of x^1.5 is infinite, and the first one is not.
    let (power, line) = (afun(|xs: Acc<Vector<f64>>| sum(map(|x| x.pow(1.5), xs))), line!());
    assert!(find_nan(grad(&power), &zero).unwrap().is_none());
    let gradient = grad(&power);
    let total = afun(|xs: Acc<Vector<f64>>| sum(call(&gradient, xs)));
    let second = [found(grad(&total), &zero), found(jvp(&gradient), (&zero, &vector(&[1.0, 1.0])))];
    for (found, role) in second.iter().zip([ADJOINT, Role::Tangent]) {
        check(found.infinity.as_ref().unwrap(), ("pow", &[0.0, -0.5]), &[1], ("map", line), role);
    }

    // A sum of contributions has no line.
    let twice =
        afun(|xs: Acc<Vector<f64>>| sum(zip_with(|x, y| x + y, map(|x| x * 1e308, xs), map(|x| x * 1e308, xs))));
    let at = infinity(grad(&twice), &vector(&[0.0]));
    assert_eq!(at.to_string(), "`1e308 + 1e308` is inf at index [0] of a sum of adjoints (`zip_with`)");
}

#[test]
fn loops_tell_their_steps() {
    let (prog, line) = (afun(|xs: Acc<Vector<f64>>| aiterate(9, |v| map(|x| x * x, v), xs)), line!());
    let at = infinity(prog, &vector(&[1.0, 1e100]));
    check(&at, ("*", &[1e200, 1e200]), &[1], ("map", line), PRIMAL);
    let told = format!(
        "`1e200 * 1e200` is inf at index [1] of `map` at {}, after 1 step of `aiterate` at ",
        at.source.unwrap()
    );
    assert!(at.to_string().starts_with(&told), "{at}");

    let line = line!() + 2;
    let prog = afun(|m: Acc<Matrix<f64>>| {
        let step = |v: Acc<Vector<f64>>, row: Acc<Vector<f64>>| (zip_with(|x, y| (x - y).sqrt(), v, row), ());
        let (last, _) = map_accum_l(step, fill(2, 4.0), m);
        sum(last)
    });
    let rows = Array::matrix(3, 2, vec![0.0, 0.0, 1.0, 2.0, -1.0, -1.0]).unwrap();
    let at = infinity(grad(&prog), &rows);
    check(&at, ("/", &[0.5, 0.0]), &[1], ("zip_with", line), ADJOINT);
    let told = at.to_string();
    assert!(told.contains(", after 1 step of the adjoint of `map_accum_l` at "), "{told}");

    // Loops in scalar code, one in another.
    let after = afun(|xs: Acc<Vector<f64>>| {
        let inner = |x: Exp<f64>| iterate(3, |y| y - 1.0, x);
        map(|x| iterate(2, |y: Exp<f64>| inner(y).sqrt(), x), xs)
    });
    let at = nan(after, &vector(&[103.0, 4.0]));
    assert_eq!(at.index, [1]);
    assert!(at.to_string().ends_with(", after 1 step of a loop in its scalar code"), "{at}");
    let inside = afun(|xs: Acc<Vector<f64>>| {
        let inner = |x: Exp<f64>| iterate(3, |y: Exp<f64>| (y - 1.0).sqrt(), x);
        map(|x| iterate(2, inner, x), xs)
    });
    let at = nan(inside, &vector(&[10.0])).to_string();
    let told = ", after 0 steps of a loop in its scalar code, after 1 step of a loop in its scalar code";
    assert!(at.starts_with("`sqrt(-0.") && at.ends_with(told), "{at}");
}

#[test]
fn other_operations_and_types() {
    let inf = f64::INFINITY;
    // Conversions, and single precision.
    let narrow = afun(|xs: Acc<Vector<f64>>| map(|x| x.cast::<f32>(), xs));
    let at = infinity(narrow, &vector(&[1.0, 1e39]));
    assert!(at.to_string().starts_with("`1e39 as f32` is inf at index [1] of `map` at "), "{at}");
    let single = afun(|xs: Acc<Vector<f32>>| product(map(|x| x.exp(), xs)));
    let at = infinity(single, &Array::vector(vec![1.0f32, 87.0, 88.0]));
    assert_eq!((&*at.index, at.source.unwrap().name), (&[2][..], "product"));
    assert_eq!(at.result, Number::F32(f32::INFINITY));
    assert!(matches!(*at.operands, [Number::F32(_), Number::F32(_)]));

    // A branch that is not taken is not looked at.
    let safe = afun(|xs: Acc<Vector<f64>>| map(|x| cond(x.gt(0.0), x.ln(), 0.0), xs));
    assert!(find_nan(&safe, &vector(&[0.0, -1.0])).unwrap().is_none());
    let safe = afun(|x: Acc<Scalar<f64>>| acond(the(x).gt(0.0), map(|x| x.ln(), x), x));
    assert!(find_nan(&safe, &Array::scalar(-1.0)).unwrap().is_none());
    let (prog, line) = (afun(|x: Acc<Scalar<f64>>| acond(the(x).lt(0.0), map(|x| x.sqrt(), x), x)), line!());
    check(&nan(prog, &Array::scalar(-1.0)), ("sqrt", &[-1.0]), &[], ("map", line), PRIMAL);

    // A permute, with the index of its source.
    let line = line!() + 2;
    let prog =
        afun(|xs: Acc<Vector<f64>>| permute(|a, b| a - b, fill(2, lit(f64::INFINITY)), |i| (i.ge(0), i / 2), xs));
    check(&nan(prog, &vector(&[1.0, 2.0, 3.0, -inf])), ("-", &[-inf, -inf]), &[3], ("permute", line), PRIMAL);

    // The adjoint of an array that a loop in scalar code reads.
    let reads = afun(|xs: Acc<Vector<f64>>| {
        let total = |k: Exp<i64>| iterate(2, |y: Exp<f64>| y + xs.at(k) * 1e308, constant(0.0));
        sum(generate(2, move |_| total(constant(0))))
    });
    let found = found(grad(&reads), &vector(&[1e-300]));
    assert!(found.to_string().contains("`1e308 + 1e308` is inf"), "{found}");

    // A failure of the program itself.
    let bad = afun(|xs: Acc<Vector<f64>>| map(|i| xs.at(i), iota(3)));
    assert!(matches!(find_nan(bad, &vector(&[1.0])), Err(Error::OutOfBounds { .. })));
}

/// An error where the result has NaN or infinity, and nothing else is different.
#[test]
fn backends_that_find_nan() {
    let backends: [&dyn Backend; 3] = [&Interpreter, &Native, &VectorizedInterpreter];
    for backend in backends {
        let backend = FindNan::on(backend);
        let logs = afun(|xs: Acc<Vector<f64>>| sum(map(|x| x.ln(), xs)));
        assert_eq!(run_on(&backend, &logs, &vector(&[1.0, 1.0])).unwrap().item(), 0.0);
        let told = |xs: &[f64]| match run_on(&backend, &logs, &vector(xs)) {
            Err(Error::NotFinite(told)) => told,
            other => panic!("{}: {other:?}", backend.name()),
        };
        assert!(told(&[1.0, 0.0]).starts_with("`log(0.0)` is -inf at index [1] of `map` at "));
        assert!(told(&[0.0, -1.0]).contains("; then `log(-1.0)` is NaN at index [1] of `map` at "));
        // What the argument contains is no finding.
        assert!(run_on(&backend, &logs, &vector(&[f64::NAN])).unwrap().item().is_nan());
        assert_eq!(run_on(&backend, &logs, &vector(&[f64::INFINITY])).unwrap().item(), f64::INFINITY);
        // An infinity on the way is none, either.
        let sigmoid = afun(|xs: Acc<Vector<f64>>| map(|x| 1.0 / (1.0 + (-x).exp()), xs));
        assert_eq!(run_on(&backend, &sigmoid, &vector(&[-800.0])).unwrap().to_vec(), [0.0]);
        // Calls with numbers.
        let root = compile_on(&backend, afun(|x: Acc<Scalar<f64>>| map(|x| x.sqrt(), x))).unwrap();
        assert_eq!(root.call(4.0).unwrap(), 2.0);
        assert!(matches!(root.call(-4.0), Err(Error::NotFinite(_))));
    }
}

/// The environment belongs to a process, so another process runs [`in_another_process`].
#[test]
fn all_backends_find_nan_if_the_environment_says_so() {
    let this = std::env::current_exe().unwrap();
    for (asked, outcome) in [("1", "error `sqrt(-1.0)` is NaN at index [0] of `map` at "), ("0", "result NaN")] {
        let output = std::process::Command::new(&this)
            .args(["--exact", "not_finite::in_another_process", "--ignored", "--nocapture"])
            .env("ACCEL_NAN", asked)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(text.matches(outcome).count(), 3, "{text}");
    }
}

#[test]
#[ignore = "run by all_backends_find_nan_if_the_environment_says_so"]
fn in_another_process() {
    let prog = afun(|xs: Acc<Vector<f64>>| map(|x| x.sqrt(), xs));
    let (xs, backends): (_, [&dyn Backend; 2]) = (vector(&[-1.0]), [&Native, &Interpreter]);
    let runs = backends.map(|b| run_on(b, &prog, &xs));
    for y in runs.into_iter().chain([compile(&prog).and_then(|p| p.run(&xs))]) {
        match y {
            Ok(y) => println!("result {}", y.as_slice()[0]),
            Err(e) => println!("error {e}"),
        }
    }
}

/// Where a derivative is a convention: a root of zero, a quotient of zeros, an absolute value at its kink; not where it is the derivative.
#[test]
fn kinks_are_found() {
    let kink = |f: &Afun<Vector<f64>, Scalar<f64>>, xs: &[f64]| find_kink(grad(f), &vector(xs)).unwrap();
    let squares = |xs: Acc<Vector<f64>>| map(|s: Exp<f64>| s.sqrt(), sum(xs * xs));
    let (norms, line) = (afun(|xs: Acc<Vector<f64>>| map(|r| r * r, squares(xs))), line!() - 1);
    let zeros = [0.0, 0.0];
    check(&kink(&norms, &zeros).unwrap(), ("/", &[0.0, 0.0]), &[], ("map", line), ADJOINT);
    assert!(kink(&norms, &[3.0, 1.0]).is_none() && kink(&norms, &[3.0, 0.0]).is_none());
    assert!(find_kink(&norms, &vector(&zeros)).unwrap().is_none());
    let found = find_kink(hessian(&norms), &vector(&zeros)).unwrap().unwrap();
    check(&found, ("/", &[0.0, 0.0]), &[], ("map", line), ADJOINT);

    let (signs, line) = (afun(|xs: Acc<Vector<f64>>| sum(map(|x| x.abs() + x.signum(), xs))), line!());
    check(&kink(&signs, &[1.0, 0.0]).unwrap(), ("*", &[1.0, 0.0]), &[1], ("map", line), ADJOINT);
    assert!(kink(&signs, &[1.0, -2.0]).is_none());

    // A mask hides the same as a convention.
    let masked = afun(|xs: Acc<Vector<f64>>| sum(map(|x| x.sqrt() * 0.0.into_exp().max(x), xs)));
    assert!(kink(&masked, &[1.0, 0.0]).is_some());
    let chosen = afun(|xs: Acc<Vector<f64>>| sum(map(|x| cond(x.gt(0.0), x.sqrt(), 0.0), xs)));
    assert!(kink(&chosen, &[1.0, 0.0]).is_none());

    // NaN ends nothing here.
    let both = afun(|xs: Acc<Vector<f64>>| sum(map(|x| (x - 1.0).ln() * 0.5, xs)) * squares(xs * 0.0));
    assert!(kink(&both, &[0.5, 0.0]).is_some());
    let wrong = check_grad(afun(|xs: Acc<Vector<f64>>| sum(call(grad(&norms), xs))), &vector(&zeros)).unwrap();
    assert!(wrong.to_string().contains("; a derivative is a convention: `0.0 / 0.0` is 0.0 in "), "{wrong}");
}
