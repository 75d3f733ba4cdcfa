//! Tracing of random programs: the traces mean the same and are traced as themselves, and their reverse pass agrees with
//! the derivatives of the program, for any number of threads.

use crate::check::{Verdict, check, check_most, check_some};
use crate::derived::{self, changes_extents, distance, forward, is_differentiable, text, typed};
use crate::support::agree::{compare, outcome};
use crate::support::traced::Traced;
use crate::wide::build::build;
use crate::wide::generate::{constant, inputs_of};
use crate::wide::objective::objective;
use crate::wide::program::{Arr, Block, Def, Fun, Node, Program, Step};
use crate::wide::small::{EVERYTHING, SMOOTH};
use crate::wide::types::{Elem, Number, Ty};
use accel::interp::Interpreter;
use accel::prelude::*;
use accel::repr::Column;
use accel_fusion::simplify;
use accel_trace::{Adjoints, Keep, Trace, named, trace_on};

/// All floats and all integers of an argument.
type Args = (Vector<f64>, Vector<i64>);

/// An objective as a function of all floats and integers of its argument: traces need arguments of a known type.
fn packed(o: &Program) -> Result<(Afun<Args, Scalar<f64>>, Args), String> {
    /// Defines the arrays of the objective.
    struct Unpacking {
        defs: Vec<Def>,
        /// How many floats and integers belong to arrays that are defined.
        taken: [usize; 2],
    }
    impl Unpacking {
        fn define(&mut self, ty: Ty, step: Step) -> Arr {
            self.defs.push(Def { tys: vec![ty], step });
            self.defs.len() + 1
        }
        fn array(&mut self, elem: &Elem, extents: &[usize]) -> Arr {
            let number = |n: usize| Number(accel::repr::Scalar::I64(n as i64));
            let ty = |rank| Ty::new(rank, elem.clone());
            match elem {
                Elem::One(p) => {
                    let from = usize::from(!p.is_float());
                    let (first, size) = (self.taken[from], extents.iter().product());
                    self.taken[from] += size;
                    let x = self.define(ty(1), Step::Skip { n: constant(number(first)), x: from });
                    let x = self.define(ty(1), Step::Take { n: constant(number(size)), x });
                    let nodes = extents.iter().map(|n| (Elem::I64, Node::Const(vec![number(*n)]))).collect();
                    let shape = Fun { params: vec![], nodes, results: (0..extents.len()).collect() };
                    self.define(ty(extents.len()), Step::Reshape { shape, x })
                }
                Elem::Tuple(parts) => {
                    let step = match parts.iter().map(|part| self.array(part, extents)).collect::<Vec<_>>()[..] {
                        [x, y] => Step::Zip { strict: true, x, y },
                        [x, y, z] => Step::Zip3 { strict: true, x, y, z },
                        _ => panic!("{elem} in a small program"),
                    };
                    self.define(ty(extents.len()), step)
                }
            }
        }
    }
    let x = inputs_of(o);
    let ints = x.leaves().into_iter().flat_map(|a| &a.columns).flat_map(|c| match c {
        Column::I64(c) => c.to_vec(),
        _ => vec![],
    });
    let args = (Array::vector(x.floats()), Array::vector(ints.collect()));
    let mut u = Unpacking { defs: vec![], taken: [0, 0] };
    let arrays = o.inputs.iter().map(|given| u.array(&given.elem, &given.extents)).collect();
    let result = u.define(Ty::new(0, Elem::F64), Step::Call { program: o.body.clone(), args: arrays });
    let params = vec![Ty::new(1, Elem::F64), Ty::new(1, Elem::I64)];
    let body = Block { params, defs: u.defs, results: vec![result] };
    let f = build(&body, None).and_then(Afun::from_program).map_err(text)?;
    Ok((f, args))
}

fn bits(a: &Adjoints<Args>) -> Vec<u64> {
    a.inputs().0.iter().map(f64::to_bits).collect()
}

/// The trace computes what the program computes, bit by bit (equation 8), and its trace is itself (equation 9). The same
/// holds for derivatives, which are programs, too.
fn means_the_same(p: &Program, keep: Keep) -> Result<Verdict, String> {
    let x = inputs_of(p);
    let same = |f: &accel::ast::Program| match outcome(&Traced(keep), f, &x) {
        // A trace of elements does not go through foreign functions.
        Err(Error::NoDerivative { .. }) if keep == Keep::Scalars => Ok(()),
        found => compare(&outcome(&Interpreter, f, &x), &found, 0.0),
    };
    same(&typed(p)?)?;
    if let Ok(gradient) = derived::value_and_grad(&typed(&objective(p))?) {
        same(&gradient)?;
    }
    Ok(Verdict::Holds)
}

#[test]
fn traces_mean_the_same() {
    check(EVERYTHING, |p| means_the_same(p, Keep::Arrays));
    check_some(60, SMOOTH, |p| means_the_same(p, Keep::Arrays));
}

#[test]
fn traces_of_elements_mean_the_same() {
    check_some(60, EVERYTHING, |p| means_the_same(p, Keep::Scalars));
}

/// Names cost nothing: the simplifier removes them. They do not change derivatives either.
#[test]
fn names_mean_nothing_outside_of_traces() {
    let plain = afun(|x: Acc<Vector<f64>>| sum(map(|x| x.sin(), map(|x| x * x, x))));
    let named = afun(|x: Acc<Vector<f64>>| sum(map(|x| x.sin(), named("squares", map(|x| x * x, x)))));
    let x = Array::vector(vec![0.3, -1.2, 2.0]);
    for (plain, named) in [(plain.program(), named.program()), (grad(&plain).program(), grad(&named).program())] {
        let (plain, _) = simplify(plain.expect("a program")).expect("a simplified program");
        let (named, _) = simplify(named.expect("a program")).expect("a simplified program");
        assert_eq!(named.to_string(), plain.to_string());
    }
    assert_eq!(run(grad(&named), &x).expect("a gradient"), run(grad(&plain), &x).expect("a gradient"));
}

/// The default backend compiles each step. Rounding is that of the steps.
#[test]
fn compiled_steps_agree_with_the_interpreter() {
    let prog = afun(|m: Acc<Matrix<f64>>, v: Acc<Vector<f64>>| {
        let step = |s: Acc<Vector<f64>>, row: Acc<Vector<f64>>| {
            let next = zip_with(|x, y| (x + y).tanh(), s, row);
            (next, sum(next))
        };
        let (last, sums) = map_accum_l(step, v, m);
        (matvec(m, last), maximum(sums))
    });
    let m = Array::matrix(4, 3, (0..12).map(|i| f64::from(i).sin()).collect()).expect("a matrix");
    let v = Array::vector(vec![0.1, 0.2, 0.3]);
    let seed = (Array::vector(vec![1.0, -1.0, 0.5, 2.0]), Array::scalar(0.7));
    let native = accel::backend_named("native").expect("a backend of this build");
    let (_, compiled) = trace_on(native, &prog, (&m, &v), Keep::Arrays).expect("a trace");
    let (_, interpreted) = trace_on(&Interpreter, &prog, (&m, &v), Keep::Arrays).expect("a trace");
    assert_eq!(compiled.to_string(), interpreted.to_string());
    let found = compiled.reverse((&seed.0, &seed.1)).expect("adjoints").into_inputs();
    let expected = interpreted.reverse((&seed.0, &seed.1)).expect("adjoints").into_inputs();
    assert!(distance(found.0.as_slice(), expected.0.as_slice()) < 1e-12, "{found:?}, {expected:?}");
    assert!(distance(found.1.as_slice(), expected.1.as_slice()) < 1e-12, "{found:?}, {expected:?}");
    let pulled = compiled.pullback((&m, &v), (&seed.0, &seed.1)).expect("adjoints");
    assert!(distance(pulled.0.as_slice(), expected.0.as_slice()) < 1e-12, "{pulled:?}, {expected:?}");
}

fn do_not_depend_on_threads(t: &Trace<Args, Scalar<f64>>, pools: &[rayon::ThreadPool]) -> Result<(), String> {
    let seed = Array::scalar(1.0);
    let first = t.reverse(&seed).map_err(text)?;
    for pool in pools {
        let again = pool.install(|| t.reverse(&seed)).map_err(text)?;
        if bits(&again) != bits(&first) || again.work() != first.work() {
            return Err(format!("{} threads: {:?}, {:?}", pool.current_num_threads(), again.inputs(), first.inputs()));
        }
    }
    Ok(())
}

#[test]
fn reverse_passes_agree_with_the_derivatives_of_the_program() {
    let pools = [1, 2, 4, 16].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("a pool"));
    check_most(80, 0.08, SMOOTH, |p| {
        let (x, o) = (inputs_of(p), objective(p));
        if !is_differentiable(p, &x) {
            return Ok(Verdict::Skipped);
        }
        let ((f, args), seed) = (packed(&o)?, Array::scalar(1.0));
        let (_, t) = trace_on(&Interpreter, &f, &args, Keep::Arrays).map_err(text)?;
        let adjoints = t.reverse(&seed).map_err(text)?;
        let found = adjoints.inputs().0.as_slice();
        let program = typed(&o)?;
        match derived::run(&derived::grad(&program)?, &x) {
            // A trace has each step of such a loop.
            Err(e) if changes_extents(&e) => {}
            source => {
                let source = source.map_err(text)?.floats();
                if distance(found, &source) > 1e-9 {
                    return Err(format!("trace {found:?}, source {source:?}"));
                }
            }
        }
        let (_, tangents) = forward(&program, &x)?;
        if distance(found, &tangents) > 1e-9 {
            return Err(format!("trace {found:?}, forward {tangents:?}"));
        }
        match trace_on(&Interpreter, &f, &args, Keep::Scalars) {
            // It does not go through foreign functions.
            Err(Error::NoDerivative { .. }) => {}
            elements => {
                let (by_elements, _) = elements.map_err(text)?.1.reverse(&seed).map_err(text)?.into_inputs();
                if distance(found, by_elements.as_slice()) > 1e-9 {
                    return Err(format!("arrays {found:?}, elements {by_elements:?}"));
                }
            }
        }
        let work = adjoints.work();
        if work.resolved != work.reachable || work.reachable > t.stats().steps {
            return Err(format!("{work:?} in {}", t.stats()));
        }
        let (_, every) = trace_on(&Interpreter, &f, &args, Keep::EveryArray).map_err(text)?;
        let (by_steps, _) = every.reverse(&seed).map_err(text)?.into_inputs();
        if distance(found, by_steps.as_slice()) > 1e-9 {
            return Err(format!("clusters {found:?}, steps {by_steps:?}"));
        }
        do_not_depend_on_threads(&t, &pools)?;
        do_not_depend_on_threads(&every, &pools)?;
        Ok(Verdict::Holds)
    });
}
