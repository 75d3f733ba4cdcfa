//! Tests with random well-typed programs: compares the interpreter with plain Rust, the derivatives with each other and
//! with finite differences, and programs with and without sharing. `budget.rs` explains the variables that
//! say how many.

use crate::check::{Verdict, check, check_most, check_some};
use crate::derived::{
    both, changes_extents, distance, forward, grad, is_differentiable, jvp, run, spread, text, typed, value_and_grad,
    vjp,
};
use crate::directions::both_products;
use crate::support::agree::{CLOSE, compare, outcome, permitted};
#[cfg(feature = "opencl")]
use crate::support::left_out;
use crate::support::passes::AllPasses;
use crate::wide::build::build_unshared;
use crate::wide::generate::inputs_of;
use crate::wide::objective::{difference, objective, value, with_floats};
use crate::wide::oracle::same_array;
use crate::wide::plain::evaluate;
use crate::wide::program::{Block, Def, Fun, Node, Outside, Program, Step};
use crate::wide::small::{EVERYTHING, Features, SMOOTH};
use crate::wide::types::{Data, Elem, Given, Number, Ty};
use accel::ast::{self, lint};
use accel::backend::Backend;
use accel::interp::Interpreter;
use accel::native::VectorizedInterpreter;
use accel::prelude::{Acc, Array, Arrays, Error, Exp, Vector, afun, generate, imap, lit, sum_all};
use accel::repr::op::{Cmp, Op2};
use accel::repr::{ArrayTuple, Scalar};
use accel_fusion::{KernelEvaluator, OptimizedEvaluator};

const UNCHECKED: Features = Features { unchecked: true, ..EVERYTHING };
const SMOOTH_UNCHECKED: Features = Features { unchecked: true, ..SMOOTH };

/// Compares results with those of the plain evaluator, bit by bit. Of a program that fails there, also in an operation that the
/// results do not need, only results that the interpreter has are compared.
#[test]
fn the_interpreter_agrees_with_plain_rust() {
    let agrees = |p: &Program| {
        let (x, types) = (inputs_of(p), p.body.types());
        let (expected, e) = evaluate(p, &x);
        let found = match run(&typed(p)?, &x) {
            Err(_) if e.failed.get() => return Ok(Verdict::Fails),
            found => found.map_err(text)?,
        };
        for ((found, expected), a) in found.leaves().into_iter().zip(&expected).zip(&p.body.results) {
            let expected = expected.raw(&types[*a].elem);
            if !same_array(found, &expected) {
                return Err(format!("a{a}: found {found:?}, expected {expected:?}"));
            }
        }
        Ok(Verdict::Holds)
    };
    [EVERYTHING, UNCHECKED].into_iter().for_each(|features| check_some(500, features, agrees));
}

#[test]
fn programs_and_derivatives_pass_lint_and_print() {
    fn accept(what: &str, program: &ast::Program) -> Result<(), String> {
        lint(program).map_err(|e| format!("{what}: {e}\n{program}"))?;
        let text = program.to_string();
        if text.starts_with("fn (") { Ok(()) } else { Err(format!("{what} is printed as {text}")) }
    }
    check(EVERYTHING, |p| {
        let f = typed(p)?;
        accept("program", &f)?;
        accept("jvp", &jvp(&f)?)?;
        accept("jvp of jvp", &jvp(&jvp(&f)?)?)?;
        Ok(Verdict::Holds)
    });
    check(SMOOTH, |p| {
        let (f, o) = (typed(p)?, typed(&objective(p))?);
        accept("vjp", &vjp(&f)?)?;
        accept("gradient", &grad(&o)?)?;
        accept("value and gradient", &value_and_grad(&o)?)?;
        accept("jvp of the gradient", &jvp(&grad(&o)?)?)?;
        Ok(Verdict::Holds)
    });
}

/// Compares the value and the derivatives of an objective in forward mode with plain Rust and its differences.
fn agrees_with_differences(o: &Program, x: &ArrayTuple, y: f64, tangents: &[f64]) -> Result<(), String> {
    let expected = value(o, x).ok_or("it fails in plain Rust")?;
    if distance(&[y], &[expected]) > 1e-12 {
        return Err(format!("value {y}, expected {expected}"));
    }
    if evaluate(o, x).1.tie.get() {
        // The derivative follows one branch of each minimum, which can be a different one each time.
        return Ok(());
    }
    for (i, found) in tangents.iter().enumerate() {
        // Where it fails nearby, there is a jump.
        let Some((expected, apart)) = difference(o, x, i) else { continue };
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
    let agree = |p: &Program| {
        let (x, o) = (inputs_of(p), objective(p));
        if !is_differentiable(p, &x) {
            return Ok(Verdict::Skipped);
        }
        let program = typed(&o)?;
        let (value, tangents) = forward(&program, &x)?;
        let (y, gradient) = match run(&value_and_grad(&program)?, &x) {
            Err(e) if changes_extents(&e) => {
                return agrees_with_differences(&o, &x, value, &tangents).map(|_| Verdict::Holds);
            }
            other => both(other.map_err(text)?),
        };
        if distance(&y.floats(), &[value]) > 1e-12 {
            return Err(format!("reverse mode has the value {y:?}, forward mode {value}"));
        }
        if distance(&gradient.floats(), &tangents) > 1e-9 {
            return Err(format!("reverse {:?}, forward {tangents:?}", gradient.floats()));
        }
        agrees_with_differences(&o, &x, value, &tangents)?;
        Ok(Verdict::Holds)
    };
    check_most(400, 0.08, SMOOTH, agree);
    check_most(200, 0.08, UPDATES, agree);
}

#[test]
fn vjp_is_the_transpose_of_jvp() {
    check_most(400, 0.12, SMOOTH, |p| {
        let (f, x) = (typed(p)?, inputs_of(p));
        if !is_differentiable(p, &x) {
            return Ok(Verdict::Skipped);
        }
        let dx = spread(&x);
        let (y, jdx) = both(run(&jvp(&f)?, &ArrayTuple::pair(x.clone(), dx.clone())).map_err(text)?);
        let dy = spread(&y);
        let jtdy = match run(&vjp(&f)?, &ArrayTuple::pair(x, dy.clone())) {
            Err(e) if changes_extents(&e) => return Ok(Verdict::Skipped),
            other => other.map_err(text)?,
        };
        let [left, right, size] = both_products(&dy.floats(), &jdx.floats(), &jtdy.floats(), &dx.floats());
        if (left - right).abs() <= 1e-9 * size.max(1.0) {
            Ok(Verdict::Holds)
        } else {
            Err(format!("<dy, J dx> = {left}, <J^T dy, dx> = {right}"))
        }
    });
}

/// Numbers whose functions have no finite derivatives.
const PLANTED: [f64; 5] = [f64::NAN, 0.0, f64::INFINITY, -1e308, f64::NEG_INFINITY];

/// Two calls of an objective, each with its own arguments. The result is that of the first one, which is not NaN.
fn with_unused_copy(o: &Program) -> Program {
    let (n, number) = (o.inputs.len(), Ty::new(0, Elem::F64));
    let call = |first| Def {
        tys: vec![number.clone()],
        step: Step::Call { program: o.body.clone(), args: (first..first + n).collect() },
    };
    let read = |array| (Elem::F64, Node::Read { array, index: vec![], outside: Outside::Fails });
    let nodes = vec![
        read(2 * n),
        read(2 * n + 1),
        (Elem::F64, Node::Const(vec![Number(Scalar::F64(-1e300))])),
        (Elem::BOOL, Node::Op2(Op2::Cmp(Cmp::Gt), 0, 2)),
        (Elem::F64, Node::Cond(3, 0, 1)),
    ];
    let shape = Fun { params: vec![], nodes: vec![], results: vec![] };
    let chosen = Step::Generate { shape, f: Fun { params: vec![], nodes, results: vec![4] } };
    let defs = vec![call(0), call(n), Def { tys: vec![number.clone()], step: chosen }];
    let params = [&o.body.params[..], &o.body.params].concat();
    let inputs = [&o.inputs[..], &o.inputs].concat();
    Program { inputs, body: Block { params, defs, results: vec![2 * n + 2] } }
}

/// Whether a second copy of a program, whose result is not used, has derivatives that are all zero, and changes no others, if its
/// arguments are not finite: NOTE [Strong zeros] in `accel-ad`.
fn unused_is_zero(backend: &dyn Backend, p: &Program) -> Result<Verdict, String> {
    let (x, o) = (inputs_of(p), objective(p));
    if !is_differentiable(p, &x) {
        return Ok(Verdict::Skipped);
    }
    let wanted = match outcome(backend, &grad(&typed(&o)?)?, &x) {
        Err(e) if changes_extents(&e) => return Ok(Verdict::Skipped),
        other => other.map_err(text)?.floats(),
    };
    let doubled = with_unused_copy(&o);
    let planted = inputs_of(&doubled);
    let planted = with_floats(&planted, x.floats().into_iter().chain(PLANTED.into_iter().cycle()));
    // Loops and indices can depend on the numbers.
    let Ok(found) = outcome(backend, &grad(&typed(&doubled)?)?, &planted) else { return Ok(Verdict::Fails) };
    let found = found.floats();
    let (used, unused) = found.split_at(wanted.len());
    if distance(used, &wanted) > 1e-12 {
        return Err(format!("the derivatives are {used:?}, and without the other copy {wanted:?}"));
    }
    if unused.iter().any(|d| *d != 0.0) {
        return Err(format!("the derivatives by what is not used are {unused:?}"));
    }
    Ok(Verdict::Holds)
}

#[test]
fn what_is_not_used_has_no_derivatives() {
    let features = Features { matrices: false, ..SMOOTH };
    check_most(200, 0.12, features, |p| unused_is_zero(&Interpreter, p));
    check_most(60, 0.12, features, |p| unused_is_zero(&AllPasses { assume: true }, p));
}

/// The largest program without sharing.
const MOST_TERMS: usize = 20_000;

#[test]
fn shared_and_copied_terms_mean_the_same() {
    check_most(200, 0.08, EVERYTHING, |p| {
        let Some(copied) = build_unshared(&p.body, MOST_TERMS) else { return Ok(Verdict::Skipped) };
        let x = inputs_of(p);
        match (run(&typed(p)?, &x), run(&copied.map_err(text)?, &x)) {
            (Ok(shared), Ok(copied)) => {
                let same = shared.leaves().into_iter().zip(copied.leaves()).all(|(a, b)| same_array(a, b));
                if same { Ok(Verdict::Holds) } else { Err(format!("shared {shared:?}, copied {copied:?}")) }
            }
            // What is shared is also computed where only one of its uses is not executed.
            (Err(_), _) => Ok(Verdict::Fails),
            (Ok(_), Err(e)) => Err(format!("the copied program fails: {e}")),
        }
    });
}

/// Compares a program, and its derivatives if it has them, on a backend and on the interpreter.
fn agrees(backend: &dyn Backend, p: &Program, derivatives: bool, close: f64) -> Result<Verdict, String> {
    let same = |what: &str, f: &ast::Program, x: &ArrayTuple| -> Result<Verdict, String> {
        let found = outcome(backend, f, x);
        let expected = permitted(outcome(&Interpreter, f, x), &found, f, x);
        compare(&expected, &found, close).map_err(|e| format!("{what}: {e}"))?;
        Ok(if expected.is_ok() { Verdict::Holds } else { Verdict::Fails })
    };
    let (f, x) = (typed(p)?, inputs_of(p));
    let verdict = same("program", &f, &x)?;
    if derivatives {
        same("jvp", &jvp(&f)?, &ArrayTuple::pair(x.clone(), spread(&x)))?;
        same("gradient", &value_and_grad(&typed(&objective(p))?)?, &x)?;
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
    let fused = fused.program().unwrap();
    let expected = outcome(&Interpreter, fused, &none);
    let found = outcome(&backend, fused, &none);
    compare(&permitted(expected.clone(), &found, fused, &none), &found, CLOSE).unwrap();
    let other = |op: &str| Err(Error::Shape { op: op.into(), expected: String::new(), found: String::new() });
    let found = other("`map` at nowhere");
    assert!(compare(&permitted(expected, &found, fused, &none), &found, CLOSE).is_err());
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

/// Loops that update their states in place, and undo the updates in reverse mode.
const UPDATES: Features = Features { chains: 0, updates: 100, ..SMOOTH };

#[test]
fn all_passes_keep_what_updates_mean() {
    check_some(60, UPDATES, agrees_after_all_passes);
    check_some(30, Features { unchecked: true, ..UPDATES }, agrees_after_all_passes);
    check_some(6, UPDATES, |p| agrees(native(), p, true, CLOSE));
}

/// Functions of neighbours, whose adjoints share work and factors.
const STENCILS: Features = Features { chains: 0, updates: 0, stencils: 100, ..SMOOTH };

#[test]
fn all_passes_keep_what_stencils_mean() {
    check_some(60, STENCILS, agrees_after_all_passes);
    check_some(6, STENCILS, |p| agrees(native(), p, true, CLOSE));
}

#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn all_passes_keep_what_many_stencils_mean() {
    check_some(1000, STENCILS, agrees_after_all_passes);
    check_some(100, STENCILS, |p| agrees(native(), p, true, CLOSE));
}

#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn all_passes_keep_what_many_chains_mean() {
    check_some(2000, CHAINS, agrees_after_all_passes);
    check_some(100, CHAINS, |p| agrees(native(), p, true, CLOSE));
}

#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn all_passes_keep_what_many_updates_mean() {
    check_some(1000, UPDATES, agrees_after_all_passes);
    check_some(1000, Features { unchecked: true, ..UPDATES }, agrees_after_all_passes);
    check_some(100, UPDATES, |p| agrees(native(), p, true, CLOSE));
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
    let larger = |given: &Given| {
        let (raw, n) = (given.raw(), given.size().max(1));
        let extents: Vec<usize> = given.extents.iter().map(|extent| extent * times).collect();
        let element = |x: Scalar, copy: usize| match x {
            Scalar::F64(x) => Scalar::F64(x * (1.0 + copy as f64 / 64.0).cos()),
            other => other,
        };
        let size = 0..extents.iter().product();
        let longer = raw
            .columns
            .iter()
            .map(|c| size.clone().map(|i: usize| Number(element(c.get(i % n).expect("an element"), i / n))).collect());
        Given { data: Data::Listed(longer.collect()), extents, ..given.clone() }
    };
    Program { inputs: p.inputs.iter().map(larger).collect(), ..p.clone() }
}

/// Whether the results, and the derivatives if they are compared, do not depend on the last places of the inputs, as a
/// comparison of sums does, nor on those of intermediate results, as the sine of a large number does.
fn is_stable(p: &Program, derivatives: bool) -> Result<bool, String> {
    let same = |f: &ast::Program, at: &ArrayTuple, near: &ArrayTuple| {
        compare(&outcome(&Interpreter, f, at), &outcome(&Interpreter, f, near), CLOSE).is_ok()
    };
    let at = inputs_of(p);
    let nudged = at.floats().into_iter().enumerate().map(|(i, x)| x * (1.0 + (i % 7) as f64 * 2e-15));
    let near = with_floats(&at, nudged.collect::<Vec<_>>());
    let f = typed(p)?;
    if !same(&f, &at, &near) || derivatives && evaluate(p, &at).1.largest.get() > 1e6 {
        return Ok(false);
    }
    if !derivatives {
        return Ok(true);
    }
    let along = |x: &ArrayTuple| ArrayTuple::pair(x.clone(), spread(x));
    Ok(same(&jvp(&f)?, &along(&at), &along(&near)) && same(&value_and_grad(&typed(&objective(p))?)?, &at, &near))
}

/// Compares on larger inputs.
fn agrees_at_large(backend: &dyn Backend, p: &Program, derivatives: bool) -> Result<Verdict, String> {
    let p = enlarged(p, 40);
    if !is_stable(&p, derivatives)? {
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
        check_some(2, UPDATES, |p| agrees(&backend, p, true, CLOSE));
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
        check_some(20, UPDATES, |p| agrees(&backend, p, true, CLOSE));
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
