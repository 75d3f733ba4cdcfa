//! Programs that capture values of the program around them, and the errors of such programs in the wrong place.

use accel::interp::Interpreter;
use accel::prelude::*;
use std::sync::Mutex;

type V = Acc<Vector<f64>>;
type Program = Afun<Vector<f64>, Vector<f64>>;

fn vector(xs: &[f64]) -> Vector<f64> {
    Array::vector(xs.to_vec())
}

/// The result on the interpreter; the default backend must have the same.
#[track_caller]
fn result<A: Arrays, R: Arrays + PartialEq + std::fmt::Debug>(prog: Afun<A, R>, inputs: impl Inputs<A> + Copy) -> R {
    let result = run_on(&Interpreter, &prog, inputs).unwrap();
    assert_eq!(run(&prog, inputs).unwrap(), result);
    result
}

/// `FILE:LINE` of a line of this file.
fn line(n: u32) -> String {
    format!("{}:{n}:", file!())
}

#[track_caller]
fn tells(error: &Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

const INNER: &str = "only `call` in that program can use this one";
const FINISHED: &str = "the program it belongs to is finished, or is written by another thread";

// ---- values

#[test]
fn arrays_and_numbers_of_the_program_around() {
    let prog = afun(|xs: V, k: Acc<Scalar<i64>>| {
        let (n, shape, half) = (the(k), shape(xs), xs.at(0) * 0.5);
        let inner = afun(|ys: V| {
            let shifted = generate(shape, |i| xs.at(i) + ys.at(i) + half);
            (map(|y| cond::<f64>(n.gt(2), y, -y), shifted), xs)
        });
        call(&inner, map(|x| x * 10.0, xs))
    });
    let (ys, xs) = result(prog.clone(), (&vector(&[1.0, 2.0]), &Array::scalar(3i64)));
    assert_eq!((ys.to_vec(), xs.to_vec()), (vec![11.5, 22.5], vec![1.0, 2.0]));
    let (ys, _) = result(prog, (&vector(&[1.0, 2.0]), &Array::scalar(2i64)));
    assert_eq!(ys.to_vec(), [-11.5, -22.5]);
}

#[test]
fn numbers_of_all_types() {
    let prog = afun(|xs: Acc<Vector<(i8, bool, (f32, u64))>>| {
        let (a, b, (c, d)) = xs.at(0);
        let pair = constant((7i16, 2.5f64));
        let inner = afun(|k: Acc<Scalar<i64>>| {
            let (e, f) = pair.unlift();
            let a = cond::<i64>(b, a.cast::<i64>() + the(k), lit(0.0));
            unit((a, b, c * 2.0, d + 1, e, f))
        });
        call(&inner, unit(5i64))
    });
    let y = result(prog, &Array::vector(vec![(3i8, true, (1.5f32, 9u64))]));
    assert_eq!(y.item(), (8, true, 3.0, 10, 7, 2.5));
}

#[test]
fn a_captured_value_is_one_argument_however_often_it_is_used() {
    let mut text = String::new();
    let prog = afun(|xs: V, ys: V| {
        let inner = afun(|zs: V| zip_with(|x, (y, z)| x + y * z, xs, zip(ys, zs)) + xs.at(0) * ys);
        text = inner.to_string();
        call(&inner, call(&inner, ys))
    });
    assert!(text.contains("(Array1<f64>, (Array1<f64>, (Array1<f64>, ())))"), "{text}");
    let (x, y) = (vector(&[1.0, 2.0]), vector(&[3.0, 5.0]));
    let step = |z: f64, x: f64, y: f64| x + y * z + y;
    let expected = [step(step(3.0, 1.0, 3.0), 1.0, 3.0), step(step(5.0, 2.0, 5.0), 2.0, 5.0)];
    assert_eq!(result(prog, (&x, &y)).to_vec(), expected);
}

#[test]
fn programs_in_programs_in_programs() {
    let prog = afun(|xs: V| {
        let outer = the(sum(xs));
        let middle = afun(|ys: V| {
            let inner = afun(|zs: V| zip_with(|x, z| x * z + outer, xs, zs) + the(sum(ys)));
            call(&inner, ys)
        });
        call(&middle, map(|x| x + 1.0, xs))
    });
    // 1 * 2 + 3 + 5, 2 * 3 + 3 + 5
    assert_eq!(result(prog, &vector(&[1.0, 2.0])).to_vec(), [10.0, 14.0]);
}

#[test]
fn a_program_that_only_returns_what_it_captures() {
    let prog = afun(|xs: V, ys: V| {
        let both = (xs, ys).into_acc();
        call(afun(|| both), ())
    });
    let (xs, ys) = result(prog, (&vector(&[1.0]), &vector(&[2.0, 3.0])));
    assert_eq!((xs.to_vec(), ys.to_vec()), (vec![1.0], vec![2.0, 3.0]));
}

#[test]
fn programs_can_be_made_in_one_program_and_used_in_a_program_in_it() {
    let prog = afun(|xs: V| {
        let scaled: Program = afun(|ys: V| zip_with(|x, y| x * y, xs, ys));
        let twice = afun(|ys: V| call(&scaled, call(&scaled, ys)));
        call(&twice, xs)
    });
    assert_eq!(result(prog, &vector(&[2.0, 3.0])).to_vec(), [8.0, 27.0]);
}

/// Each derivative is that of the program with the captured values as further arguments, by its own argument.
#[test]
fn derivatives_leave_out_what_is_captured() {
    let f = |w: V, d: V, t: Exp<f64>| sum(zip_with(|w, d| (w * d).sin() * t + w * w * d, w, d));
    let g = |w: V, d: V, t: Exp<f64>| zip_with(|w, d| (w * d).sin() * t + w * w * d, w, d);
    macro_rules! same {
        ($f:ident, $x:ident, $d:ident, $derivative:expr, $args:expr, $explicit:expr) => {{
            let captured = afun(|$x: V, $d: V| {
                let t = $d.at(0);
                call($derivative(afun(|w: V| $f(w, $d, t))), $args)
            });
            let explicit = afun(|$x: V, $d: V| {
                let prog = afun(|w: V, d: V, t: Acc<Scalar<f64>>| $f(w, d, the(t)));
                call($derivative(prog.by(|(w, _, _)| w)), $explicit)
            });
            let (x, d) = (vector(&[0.5, -1.5]), vector(&[0.25, 2.0]));
            assert_eq!(result(captured, (&x, &d)), result(explicit, (&x, &d)));
        }};
    }
    same!(f, x, d, grad, x, (x, d, unit(d.at(0))));
    same!(f, x, d, value_and_grad, x, (x, d, unit(d.at(0))));
    same!(f, x, d, hvp, (x, d), ((x, d, unit(d.at(0))), d));
    same!(f, x, d, hessian, x, (x, d, unit(d.at(0))));
    same!(g, x, d, vjp, (x, d), ((x, d, unit(d.at(0))), d));
    same!(g, x, d, jvp, (x, d), ((x, d, unit(d.at(0))), d));
    same!(g, x, d, jacobian, x, (x, d, unit(d.at(0))));
}

#[test]
fn a_program_remembers_its_derivatives() {
    let prog = afun(|xs: V| {
        let loss = afun(|w: V| dot(w, zip_with(|w, x| w * x, w, xs)));
        let (a, b) = (grad(&loss), grad(&loss));
        assert_eq!(a.to_string(), b.to_string());
        call(a, xs) + call(b, xs)
    });
    assert_eq!(result(prog, &vector(&[1.0, 2.0])).to_vec(), [4.0, 16.0]);
}

// ---- errors

#[test]
fn running_a_program_that_captures() {
    let mut seen = vec![];
    let at = line!() + 2;
    let prog = afun(|xs: V| {
        let inner = afun(|ys: V| zip_with(|x, y| x + y, xs, ys));
        seen.push(run(&inner, &vector(&[1.0])).unwrap_err());
        seen.push(compile(&inner).map(|_| ()).unwrap_err());
        seen.push(inner.program().map(|_| ()).unwrap_err());
        seen.push(run(grad(afun(|ys: V| dot(xs, ys))), &vector(&[1.0])).unwrap_err());
        seen.push(check_grad(afun(|ys: V| dot(xs, ys)), &vector(&[1.0])).map(|_| ()).unwrap_err());
        assert!(try_afun(|ys: V| zip_with(|x, y| x + y, xs, ys)).is_ok());
        xs
    });
    assert!(prog.program().is_ok());
    tells(&seen[0], &["`zip_with` at", &line(at), "another program", INNER]);
    seen.iter().for_each(|e| tells(e, &[INNER]));
}

/// A program that captures, after the program around it is finished.
fn leaked() -> Program {
    let mut leaked = None;
    let around = afun(|xs: V| {
        leaked = Some(afun(|ys: V| zip_with(|x, y| x + y, xs, ys)));
        xs
    });
    assert!(around.program().is_ok());
    leaked.unwrap()
}

#[test]
fn after_the_program_around_it() {
    let leaked = leaked();
    tells(&run(&leaked, &vector(&[1.0])).unwrap_err(), &["`zip_with` at", INNER]);
    let at = line!() + 1;
    let e = run(afun(|xs: V| call(&leaked, xs)), &vector(&[1.0])).unwrap_err();
    tells(&e, &["`call` at", &line(at), FINISHED]);
    let at = line!() + 1;
    let e = run(afun(|xs: V| call(leaked.vmap(), replicate_inner(2, xs))), &Array::vector(vec![1.0])).unwrap_err();
    tells(&e, &["`vmap` at", &line(at), FINISHED]);
    let at = line!() + 1;
    tells(&vjp(&leaked).program().unwrap_err(), &["`vjp` at", &line(at), FINISHED]);
    let at = line!() + 1;
    tells(&jacobian(&leaked).program().unwrap_err(), &["`jacobian` at", &line(at), FINISHED]);
}

#[test]
fn in_the_program_of_another_thread() {
    let prog = afun(|xs: V| {
        let inner: Program = afun(|ys: V| zip_with(|x, y| x + y, xs, ys));
        let other = std::thread::scope(|s| s.spawn(|| afun(|ys: V| call(&inner, ys)).program().cloned()).join());
        tells(&other.unwrap().map(|_| ()).unwrap_err(), &["`call` at", FINISHED]);
        let shared = Mutex::new(inner);
        call(&*shared.lock().unwrap(), xs)
    });
    assert_eq!(result(prog, &vector(&[2.0])).to_vec(), [4.0]);
}

#[test]
fn variables_of_scalar_code() {
    let at = line!() + 4;
    let prog = afun(|xs: V| {
        map(
            |x| {
                let y = call(afun(|ys: V| map(|y| y * x, ys)), xs);
                the(sum(y))
            },
            xs,
        )
    });
    let e = prog.program().map(|_| ()).unwrap_err();
    assert!(matches!(e, Error::NestedParallelism { op: "call", binder: "map", .. }), "{e}");
    tells(&e, &[&line(at), "nested parallelism"]);
    // A program that captures no variable of the scalar code is computed once.
    let prog = afun(|xs: V| map(|x| x + the(call(afun(|ys: V| sum(ys * xs.at(0))), xs)), xs));
    assert_eq!(result(prog, &vector(&[2.0, 3.0])).to_vec(), [12.0, 13.0]);
}

#[test]
fn the_state_of_a_loop_outside_of_it() {
    let prog = afun(|xs: V| {
        let mut leaked: Option<Program> = None;
        let last = aiterate(
            2,
            |s: V| {
                let inner = afun(|ys: V| zip_with(|s, y| s + y, s, ys));
                let next = call(&inner, xs);
                leaked = Some(inner);
                next
            },
            xs,
        );
        call(leaked.unwrap(), last)
    });
    let e = prog.program().map(|_| ()).unwrap_err();
    assert!(matches!(e, Error::Scope { .. }), "{e}");
}

#[test]
fn a_choice_of_a_captured_array() {
    let prog = afun(|xs: V| {
        let inner = afun(|ys: V| dot(xs, ys));
        let e = inner.by(|_| xs).parts().map(|_| ()).unwrap_err();
        assert!(matches!(e, Error::Choice { .. }), "{e}");
        tells(&e, &["a value of the program around it"]);
        let e = grad(inner.by(|ys| map(|_| xs.at(0), ys))).program().map(|_| ()).unwrap_err();
        assert!(matches!(e, Error::Choice { .. }), "{e}");
        xs
    });
    assert!(prog.program().is_ok());
}
