//! Tests with random well-typed programs: compares the interpreter with plain Rust, the derivatives with each other and
//! with finite differences, and programs with and without sharing. `budget.rs` explains the variables that
//! say how many.

use crate::directions::{both_products, numbers};
use crate::narrow::build::{Args, Results};
use crate::narrow::functions::{args, changes_extents, distance, flat, is_differentiable, objective, program, text};
use crate::narrow::generate::{EVERYTHING, Features, SMOOTH};
use crate::narrow::objective::{difference, direction, floats, objective_at, with_floats};
use crate::narrow::plain::{Evaluator, Plain, Value, evaluate};
use crate::narrow::program::{Inputs, Program};
use crate::narrow::runner::{Verdict, check, check_most, check_some};
use crate::support::agree::{CLOSE, compare, outcome, permitted};
#[cfg(feature = "opencl")]
use crate::support::left_out;
use crate::support::passes::AllPasses;
use accel::ast::lint;
use accel::backend::Backend;
use accel::interp::Interpreter;
use accel::native::VectorizedInterpreter;
use accel::prelude::*;
use accel_fusion::{KernelEvaluator, OptimizedEvaluator};

const UNCHECKED: Features = Features { unchecked: true, ..EVERYTHING };
const SMOOTH_UNCHECKED: Features = Features { unchecked: true, ..SMOOTH };

fn flat_results(r: &Results) -> Vec<f64> {
    let pairs = r.4.iter().map(|(x, _)| x).collect::<Vec<_>>();
    [r.0.as_slice(), r.1.as_slice(), r.2.as_slice(), &pairs].concat()
}

/// The results in the form of the plain evaluator.
fn plain(r: &Results) -> Vec<Plain> {
    let floats = |shape: Vec<usize>, xs: &[f64]| Plain { shape, data: xs.iter().map(|x| vec![Value::F(*x)]).collect() };
    vec![
        floats(vec![], r.0.as_slice()),
        floats(r.1.shape().to_vec(), r.1.as_slice()),
        floats(r.2.shape().to_vec(), r.2.as_slice()),
        Plain { shape: r.3.shape().to_vec(), data: r.3.iter().map(|i| vec![Value::I(i)]).collect() },
        Plain { shape: r.4.shape().to_vec(), data: r.4.iter().map(|(x, i)| vec![Value::F(x), Value::I(i)]).collect() },
    ]
}

/// Equality, where NaN equals NaN.
fn same(a: &Plain, b: &Plain) -> bool {
    let equal = |(a, b): (&Value, &Value)| match (a, b) {
        (Value::F(a), Value::F(b)) => a == b || a.is_nan() && b.is_nan(),
        (a, b) => a == b,
    };
    a.shape == b.shape
        && a.data.len() == b.data.len()
        && a.data.iter().flatten().zip(b.data.iter().flatten()).all(equal)
}

/// The largest number in the program.
fn largest(p: &Program) -> f64 {
    let mut e = Evaluator::new(&p.inputs);
    p.steps.iter().for_each(|(ty, s)| e.step(*ty, s));
    e.largest.get()
}

/// Whether the program takes the minimum of equal numbers, or compares them.
fn has_ties(p: &Program) -> bool {
    let mut e = Evaluator::new(&p.inputs);
    p.steps.iter().for_each(|(ty, s)| e.step(*ty, s));
    e.tie.get()
}

#[test]
fn the_interpreter_agrees_with_plain_rust() {
    check(EVERYTHING, |p| {
        let found = plain(&run_on(&Interpreter, program(p, true), &args(&p.inputs)).map_err(text)?);
        let arrays = evaluate(p, &p.inputs);
        for (found, k) in found.iter().zip(p.results) {
            if !same(found, &arrays[k]) {
                return Err(format!("a{k}: found {found:?}, expected {:?}", arrays[k]));
            }
        }
        Ok(Verdict::Holds)
    });
}

#[test]
fn programs_and_derivatives_pass_lint_and_print() {
    fn accept<A: Arrays, R: Arrays>(what: &str, f: &Afun<A, R>) -> Result<(), String> {
        let program = f.program().map_err(text)?;
        lint(program).map_err(|e| format!("{what}: {e}\n{program}"))?;
        if f.to_string().starts_with("fn (") { Ok(()) } else { Err(format!("{what} is printed as {f}")) }
    }
    check(EVERYTHING, |p| {
        let f = program(p, true);
        accept("program", &f)?;
        accept("jvp", &jvp(&f))?;
        accept("jvp of jvp", &jvp(&jvp(&f)))?;
        Ok(Verdict::Holds)
    });
    check(SMOOTH, |p| {
        let (f, o) = (program(p, true), objective(p));
        accept("vjp", &vjp(&f))?;
        accept("gradient", &grad(&o))?;
        accept("value and gradient", &value_and_grad(&o))?;
        accept("jvp of the gradient", &jvp(&grad(&o)))?;
        Ok(Verdict::Holds)
    });
}

/// The derivatives of the objective in the direction of each float, in forward mode, and its value.
fn forward(p: &Program) -> Result<(f64, Vec<f64>), String> {
    let jvp = compile_on(&Interpreter, jvp(&objective(p))).map_err(text)?;
    let (args, n) = (self::args(&p.inputs), floats(&p.inputs).len());
    let mut value = objective_at(p, &p.inputs);
    let mut tangents = vec![];
    for i in 0..n {
        let unit: Vec<f64> = (0..n).map(|j| f64::from(u8::from(i == j))).collect();
        let (y, dy) = jvp.run((&args, &self::args(&direction(&p.inputs, &unit)))).map_err(text)?;
        value = y.as_slice()[0];
        tangents.push(dy.as_slice()[0]);
    }
    Ok((value, tangents))
}

/// Compares the value and the derivatives in forward mode with plain Rust and its differences.
fn agrees_with_differences(p: &Program, value: f64, tangents: &[f64]) -> Result<(), String> {
    let expected = objective_at(p, &p.inputs);
    if distance(&[value], &[expected]) > 1e-12 {
        return Err(format!("value {value}, expected {expected}"));
    }
    if has_ties(p) {
        // The derivative follows one branch of each minimum, which can be a different one each time.
        return Ok(());
    }
    for (i, found) in tangents.iter().enumerate() {
        let (expected, apart) = difference(p, i);
        // If the one-sided differences are far apart, there is a kink or a jump: then any derivative is accepted.
        let close = (found - expected).abs() <= 1e-5 * expected.abs().max(1.0) + apart;
        if apart.is_nan() || !close {
            return Err(format!("by float {i}: jvp {found}, differences {expected} ± {apart}"));
        }
    }
    Ok(())
}

#[test]
fn reverse_mode_agrees_with_forward_mode_and_differences() {
    check_most(200, 0.08, SMOOTH, |p| {
        if !is_differentiable(p) {
            return Ok(Verdict::Skipped);
        }
        let (value, tangents) = forward(p)?;
        let (y, gradient) = match run_on(&Interpreter, value_and_grad(&objective(p)), &args(&p.inputs)) {
            Err(e) if changes_extents(&e) => {
                return agrees_with_differences(p, value, &tangents).map(|_| Verdict::Holds);
            }
            other => other.map_err(text)?,
        };
        if distance(y.as_slice(), &[value]) > 1e-12 {
            return Err(format!("reverse mode has the value {y:?}, forward mode {value}"));
        }
        let gradient = flat(&gradient);
        if distance(&gradient, &tangents) > 1e-9 {
            return Err(format!("reverse {gradient:?}, forward {tangents:?}"));
        }
        agrees_with_differences(p, value, &tangents)?;
        Ok(Verdict::Holds)
    });
}

/// Numbers between -1 and 1.
fn spread(n: usize) -> Vec<f64> {
    numbers().take(n).collect()
}

#[test]
fn vjp_is_the_transpose_of_jvp() {
    check_most(200, 0.12, SMOOTH, |p| {
        let f = program(p, true);
        let args = self::args(&p.inputs);
        if !is_differentiable(p) {
            return Ok(Verdict::Skipped);
        }
        let dx = spread(floats(&p.inputs).len());
        let (y, jdx) = run_on(&Interpreter, jvp(&f), (&args, &self::args(&direction(&p.inputs, &dx)))).map_err(text)?;
        let dy = spread(flat_results(&y).len());
        let jtdy = match run_on(&Interpreter, vjp(&f), (&args, &seeded(&y, &dy))) {
            Err(e) if changes_extents(&e) => return Ok(Verdict::Skipped),
            other => other.map_err(text)?,
        };
        let (jdx, jtdy) = (flat_results(&jdx), flat(&jtdy));
        let [left, right, size] = both_products(&dy, &jdx, &jtdy, &dx);
        if (left - right).abs() <= 1e-9 * size.max(1.0) {
            Ok(Verdict::Holds)
        } else {
            Err(format!("<dy, J dx> = {left}, <J^T dy, dx> = {right}"))
        }
    });
}

/// An adjoint of the results with these floats.
fn seeded(y: &Results, dy: &[f64]) -> Results {
    let (x, rest) = dy.split_at(1);
    let (v, rest) = rest.split_at(y.1.len());
    let (m, p) = rest.split_at(y.2.len());
    let shape = y.2.shape();
    (
        Array::scalar(x[0]),
        Array::vector(v.to_vec()),
        Array::matrix(shape[0], shape[1], m.to_vec()).expect("as many elements as the extents say"),
        Array::vector(vec![0; y.3.len()]),
        Array::vector(p.iter().map(|x| (*x, 0)).collect()),
    )
}

/// Numbers whose functions have no finite derivatives.
const PLANTED: [f64; 5] = [f64::NAN, 0.0, f64::INFINITY, -1e308, f64::NEG_INFINITY];

/// Whether a second copy of a program, whose result is not used, has derivatives that are all zero, and changes no others, if its
/// arguments are not finite: NOTE [Strong zeros] in `accel-ad`.
fn unused_is_zero<B: Backend>(backend: &B, p: &Program) -> Result<Verdict, String> {
    if !is_differentiable(p) {
        return Ok(Verdict::Skipped);
    }
    let both = {
        let p = objective(p);
        afun(move |used: Acc<Args>, unused: Acc<Args>| {
            let (x, y) = (call(&p, used), call(&p, unused));
            unit(cond(the(x).gt(-1e300), the(x), the(y)))
        })
    };
    let args = self::args(&p.inputs);
    let planted: Vec<f64> = PLANTED.iter().cycle().take(floats(&p.inputs).len()).copied().collect();
    let planted = self::args(&with_floats(&p.inputs, &planted));
    let wanted = match run_on(backend, grad(&objective(p)), &args) {
        Err(e) if changes_extents(&e) => return Ok(Verdict::Skipped),
        other => flat(&other.map_err(text)?),
    };
    // Loops and indices can depend on the numbers.
    let Ok((used, unused)) = run_on(backend, grad(&both), (&args, &planted)) else { return Ok(Verdict::Fails) };
    if distance(&flat(&used), &wanted) > 1e-12 {
        return Err(format!("the derivatives are {:?}, and without the other copy {wanted:?}", flat(&used)));
    }
    if flat(&unused).iter().any(|d| *d != 0.0) {
        return Err(format!("the derivatives by what is not used are {:?}", flat(&unused)));
    }
    Ok(Verdict::Holds)
}

#[test]
fn what_is_not_used_has_no_derivatives() {
    check_most(200, 0.12, SMOOTH, |p| unused_is_zero(&Interpreter, p));
    check_most(60, 0.12, SMOOTH, |p| unused_is_zero(&AllPasses { assume: true }, p));
}

#[test]
fn shared_and_copied_terms_mean_the_same() {
    check_most(200, 0.08, EVERYTHING, |p| {
        if p.unshared_size() > 4000 {
            return Ok(Verdict::Skipped);
        }
        let args = args(&p.inputs);
        let shared = plain(&run_on(&Interpreter, program(p, true), &args).map_err(text)?);
        let copied = plain(&run_on(&Interpreter, program(p, false), &args).map_err(text)?);
        match shared.iter().zip(&copied).all(|(a, b)| same(a, b)) {
            true => Ok(Verdict::Holds),
            false => Err(format!("shared {shared:?}, copied {copied:?}")),
        }
    });
}

/// Compares a program, and its derivatives if it has them, on a backend and on the interpreter.
fn agrees(backend: &dyn Backend, p: &Program, derivatives: bool, close: f64) -> Result<Verdict, String> {
    fn same<A: Arrays, R: Arrays>(
        backend: &dyn Backend,
        what: &str,
        f: &Afun<A, R>,
        inputs: impl accel::types::Inputs<A>,
        close: f64,
    ) -> Result<Verdict, String> {
        let argument = inputs.to_tuple();
        let found = outcome(backend, f, &argument);
        let expected = permitted(outcome(&Interpreter, f, &argument), &found, f, &argument);
        compare(&expected, &found, close).map_err(|e| format!("{what}: {e}"))?;
        Ok(if expected.is_ok() { Verdict::Holds } else { Verdict::Fails })
    }
    let args = args(&p.inputs);
    let f = program(p, true);
    let verdict = same(backend, "program", &f, &args, close)?;
    if derivatives {
        let direction = self::args(&direction(&p.inputs, &spread(floats(&p.inputs).len())));
        same(backend, "jvp", &jvp(&f), (&args, &direction), close)?;
        same(backend, "gradient", &value_and_grad(&objective(p)), &args, close)?;
    }
    Ok(verdict)
}

/// NOTE [Which error a run has] in `accel-core/src/interp/mod.rs`.
#[test]
fn a_backend_may_have_a_later_error_but_no_other() {
    // Fused, the elements have their extents from `imap`.
    let fused = afun(|xs: Acc<Vector<f64>>| {
        sum_all(imap(
            |(i, j), x: Exp<f64>| x + (i - j).cast::<f64>(),
            generate((1i64, xs.len() - 1), |_| lit::<f64>(1.0)),
        ))
    });
    let (none, backend) = (Array::vector(vec![0.0; 0]).to_tuple(), AllPasses { assume: false });
    let expected = outcome(&Interpreter, &fused, &none);
    let found = outcome(&backend, &fused, &none);
    compare(&permitted(expected.clone(), &found, &fused, &none), &found, CLOSE).unwrap();
    let other = |op: &str| Err(Error::Shape { op: op.into(), expected: String::new(), found: String::new() });
    let found = other("`map` at nowhere");
    assert!(compare(&permitted(expected, &found, &fused, &none), &found, CLOSE).is_err());
}

#[test]
fn kernel_programs_agree_with_the_interpreter() {
    check_some(60, UNCHECKED, |p| agrees(&KernelEvaluator, p, true, 0.0));
    check_some(60, SMOOTH_UNCHECKED, |p| agrees(&KernelEvaluator, p, true, 0.0));
}

#[test]
fn optimised_kernel_programs_agree_with_the_interpreter() {
    check_some(60, UNCHECKED, |p| agrees(&OptimizedEvaluator, p, true, CLOSE));
    check_some(60, SMOOTH_UNCHECKED, |p| agrees(&OptimizedEvaluator, p, true, CLOSE));
}

/// With assumptions and without them.
fn agrees_after_all_passes(p: &Program) -> Result<Verdict, String> {
    agrees(&AllPasses { assume: false }, p, true, CLOSE)?;
    agrees(&AllPasses { assume: true }, p, true, CLOSE)
}

/// Chains of small vectors, whose adjoints have many parts.
const CHAINS: Features = Features { chains: 100, ..SMOOTH };

#[test]
fn all_passes_keep_what_chains_mean() {
    check_some(60, CHAINS, agrees_after_all_passes);
}

#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn all_passes_keep_what_many_chains_mean() {
    check_some(2000, CHAINS, agrees_after_all_passes);
    check_some(100, CHAINS, |p| agrees(native(), p, true, CLOSE));
}

#[test]
fn all_passes_keep_what_programs_mean() {
    check_some(60, UNCHECKED, agrees_after_all_passes);
    check_some(60, SMOOTH_UNCHECKED, agrees_after_all_passes);
}

/// The backend that programs run on.
fn native() -> &'static dyn Backend {
    accel::backend_named("native").expect("a backend of this build")
}

/// The program on inputs with many times the extents, so that vectors, strips and several threads are used.
fn enlarged(p: &Program, times: usize) -> Program {
    let longer = |xs: &[f64]| {
        let n = xs.len().max(1);
        (0..xs.len() * times).map(|i| xs[i % n] * (1.0 + (i / n) as f64 / 64.0).cos()).collect::<Vec<_>>()
    };
    let (rows, columns, m) = &p.inputs.m;
    let m = (rows * times, columns * times, longer(&longer(m)));
    let Inputs { xs, ys, is, .. } = &p.inputs;
    let inputs = Inputs { xs: longer(xs), ys: longer(ys), m, is: is.repeat(times) };
    Program { inputs, ..p.clone() }
}

/// Whether the results, and the derivatives if they are compared, do not depend on the last places of the inputs, as a
/// comparison of sums does, nor on those of intermediate results, as the sine of a large number does.
fn is_stable(p: &Program, derivatives: bool) -> bool {
    fn same<A: Arrays, R: Arrays, I: accel::types::Inputs<A>>(f: &Afun<A, R>, at: I, near: I) -> bool {
        let on = |inputs: I| outcome(&Interpreter, f, &inputs.to_tuple());
        compare(&on(at), &on(near), CLOSE).is_ok()
    }
    let numbers = floats(&p.inputs);
    let nudged: Vec<f64> = numbers.iter().enumerate().map(|(i, x)| x * (1.0 + (i % 7) as f64 * 2e-15)).collect();
    let (at, near) = (args(&p.inputs), args(&crate::narrow::objective::with_floats(&p.inputs, &nudged)));
    let f = program(p, true);
    if !same(&f, &at, &near) || derivatives && largest(p) > 1e6 {
        return false;
    }
    let direction = args(&direction(&p.inputs, &spread(numbers.len())));
    !derivatives
        || same(&jvp(&f), (&at, &direction), (&near, &direction)) && same(&value_and_grad(&objective(p)), &at, &near)
}

/// Compares on larger inputs.
fn agrees_at_large(backend: &dyn Backend, p: &Program, derivatives: bool) -> Result<Verdict, String> {
    let p = enlarged(p, 40);
    if !is_stable(&p, derivatives) {
        return Ok(Verdict::Skipped);
    }
    agrees(backend, &p, derivatives, CLOSE)
}

#[test]
fn vectorized_programs_agree_with_the_interpreter() {
    check_some(30, UNCHECKED, |p| agrees(&VectorizedInterpreter, p, true, CLOSE));
    check_some(30, SMOOTH_UNCHECKED, |p| agrees(&VectorizedInterpreter, p, true, CLOSE));
    check_most(12, 0.1, UNCHECKED, |p| agrees_at_large(&VectorizedInterpreter, p, false));
    check_most(6, 0.1, SMOOTH_UNCHECKED, |p| agrees_at_large(&VectorizedInterpreter, p, true));
}

#[test]
fn native_programs_agree_on_long_arrays() {
    check_most(12, 0.1, UNCHECKED, |p| agrees_at_large(native(), p, false));
    check_most(6, 0.1, SMOOTH_UNCHECKED, |p| agrees_at_large(native(), p, true));
}

/// The C compiler takes time for every program: a few are always tested, many in the long test.
#[test]
fn native_programs_agree_with_the_interpreter() {
    check_some(12, UNCHECKED, |p| agrees(native(), p, false, CLOSE));
    check_some(6, SMOOTH_UNCHECKED, |p| agrees(native(), p, true, CLOSE));
}

/// The OpenCL backend, and with groups that wait for each other. There is none without a device.
#[cfg(feature = "opencl")]
fn opencl() -> Vec<accel::opencl::OpenCl> {
    use accel::opencl::{OpenCl, Target};
    match OpenCl::shared() {
        Ok(backend) => vec![backend.clone(), backend.clone().with_target(|t| Target { look_back: true, ..t })],
        Err(e) => {
            left_out(&format!("random programs: {e}"));
            vec![]
        }
    }
}

#[cfg(feature = "opencl")]
#[test]
fn opencl_programs_agree_with_the_interpreter() {
    for backend in opencl() {
        check_some(4, UNCHECKED, |p| agrees(&backend, p, false, CLOSE));
        check_some(2, SMOOTH_UNCHECKED, |p| agrees(&backend, p, true, CLOSE));
        check_most(3, 0.1, UNCHECKED, |p| agrees_at_large(&backend, p, false));
    }
}

#[cfg(feature = "opencl")]
#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn many_opencl_programs_agree_with_the_interpreter() {
    for backend in opencl() {
        check_some(50, UNCHECKED, |p| agrees(&backend, p, false, CLOSE));
        check_some(20, SMOOTH_UNCHECKED, |p| agrees(&backend, p, true, CLOSE));
        check_most(50, 0.1, UNCHECKED, |p| agrees_at_large(&backend, p, false));
        check_most(20, 0.1, SMOOTH_UNCHECKED, |p| agrees_at_large(&backend, p, true));
    }
}

#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn many_native_programs_agree_with_the_interpreter() {
    check_some(200, UNCHECKED, |p| agrees(native(), p, false, CLOSE));
    check_some(100, SMOOTH_UNCHECKED, |p| agrees(native(), p, true, CLOSE));
    check_most(200, 0.1, UNCHECKED, |p| agrees_at_large(native(), p, false));
    check_most(100, 0.1, SMOOTH_UNCHECKED, |p| agrees_at_large(native(), p, true));
}

#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn all_passes_keep_what_many_programs_mean() {
    check_some(2000, UNCHECKED, agrees_after_all_passes);
    check_some(2000, SMOOTH_UNCHECKED, agrees_after_all_passes);
}
