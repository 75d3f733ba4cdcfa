//! Tests of elaboration: programs run as they were written, and mistakes are reported with their operation and source
//! line.

use accel_core::ast::{Env, Exp as TExp, ExpTransform, Guard, Idx, Prim2, Program, ScalarTy, Src, Ty, UnitF, X, name};
use accel_core::elaborate::elaborate;
use accel_core::error::Result;
use accel_core::interp::Interpreter;
use accel_core::prelude::*;
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{RawTy, ScalarType};
use accel_core::surface::graph::{ArrayOp, Lam, Node, NodeId, Op, ScalarOp, Staged};
use accel_core::surface::transform_exp;
use frunk::HCons;
use std::panic::Location;
use std::sync::Arc;

fn vector(xs: &[f64]) -> Vector<f64> {
    Array::vector(xs.to_vec())
}

/// The result of a program on one vector.
fn run1<M, R, F>(f: F, xs: &[f64]) -> R
where
    R: Arrays,
    F: ArrayFn<M, Args = Vector<f64>, Result = R>,
{
    run_with(&Interpreter, &afun(f), &vector(xs)).unwrap()
}

fn error<M, F: ArrayFn<M>>(f: F) -> Error {
    match try_afun(f) {
        Ok(f) => panic!("no error in {f}"),
        Err(e) => e,
    }
}

#[test]
fn programs_of_several_arguments_and_results_run() {
    let f = afun(|xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>, n: Acc<Scalar<i64>>| {
        let zs = zip_with(|x, y| x * y, xs, ys);
        (sum(zs), generate(the(n), |i| i * 2), map(|z| (z, z.gt(5.0)), zs))
    });
    let (total, evens, pairs) =
        run_with(&Interpreter, &f, (&vector(&[1.0, 2.0]), &vector(&[4.0, 5.0]), &Array::scalar(3))).unwrap();
    assert_eq!(total, Array::scalar(14.0));
    assert_eq!(evens.to_vec(), [0, 2, 4]);
    assert_eq!(pairs.to_vec(), [(4.0, false), (10.0, true)]);
}

#[test]
fn every_array_operation_elaborates() {
    let xs = [3.0, 1.0, 2.0];
    let all = |xs: Acc<Vector<f64>>| {
        let square = replicate((3, All), xs);
        let a = slice((1, All), square);
        let b = backpermute(3, |i| 2 - i, xs);
        let c = reshape((3, 1), xs);
        let d = scanl(|a, b| a + b, 0.0, xs);
        let e = scanr1(|a, b| a + b, xs);
        let f = fold1(|a, b| a * b, xs);
        let g = permute(|a, b| a + b, fill(2, constant(0.0)), |i| (i.lt(2), constant(1i64)), xs);
        let (rows, _) = c.shape();
        ((a, b), (d, e), (f, g), unit(rows))
    };
    let ((a, b), (d, e), (f, g), rows) = run1(all, &xs);
    assert_eq!((a.to_vec(), b.to_vec()), (xs.to_vec(), vec![2.0, 1.0, 3.0]));
    assert_eq!((d.to_vec(), e.to_vec()), (vec![0.0, 3.0, 4.0, 6.0], vec![6.0, 3.0, 2.0]));
    assert_eq!((f, g.to_vec(), rows), (Array::scalar(6.0), vec![0.0, 4.0], Array::scalar(3)));
}

#[test]
fn scalar_and_array_loops_and_choices_run() {
    let root =
        |xs: Acc<Vector<f64>>| map(|x| while_(|r: Exp<f64>| (r * r - x).abs().gt(1e-9), |r| (r + x / r) * 0.5, x), xs);
    let roots = run1(root, &[4.0, 9.0]).to_vec();
    assert!((roots[0] - 2.0).abs() < 1e-9 && (roots[1] - 3.0).abs() < 1e-9, "{roots:?}");
    let double = |xs: Acc<Vector<f64>>| {
        awhile(|s: Acc<Vector<f64>>| the(sum(s)).lt(20.0), |s| acond(s.len().gt(5), s, map(|x| x * 2.0, s)), xs)
    };
    assert_eq!(run1(double, &[1.0, 2.0]).to_vec(), [8.0, 16.0]);
}

#[test]
fn a_guarded_read_is_not_executed() {
    let guarded = |xs: Acc<Vector<f64>>| {
        imap(
            |i, x| {
                let next = xs.at(i + 1);
                let last = i.eq(xs.len() - 1);
                cond(last, x, next) + cond(last, 0.0, next * next)
            },
            xs,
        )
    };
    assert_eq!(run1(guarded, &[1.0, 2.0, 3.0]).to_vec(), [6.0, 12.0, 3.0]);
}

#[test]
fn long_programs_run() {
    let chain = |xs: Acc<Vector<f64>>| map(|x| (0..100_000).fold(x, |y, _| y + x), xs);
    assert_eq!(run1(chain, &[1.0, 2.0]).to_vec(), [100_001.0, 200_002.0]);
    let doubling = |xs: Acc<Vector<f64>>| map(|x| (0..1000).fold(x, |y, _| (y + y) * 0.5), xs);
    assert_eq!(run1(doubling, &[1.5]).to_vec(), [1.5]);
}

#[test]
fn compiled_programs_run_many_times_and_in_other_threads() {
    let f = afun(|xs: Acc<Vector<f64>>| sum(xs));
    let compiled = Compiled::new(&Interpreter, &f).unwrap();
    let thread = compiled.clone();
    let other = std::thread::spawn(move || thread.run(&vector(&[1.0, 2.0])).unwrap());
    assert_eq!(compiled.run(&vector(&[5.0])).unwrap(), Array::scalar(5.0));
    assert_eq!(other.join().unwrap(), Array::scalar(3.0));
}

#[test]
fn typed_programs_become_array_functions_of_their_types_only() {
    let f = afun(|xs: Acc<Vector<f64>>| sum(xs));
    let program: Program = f.program().unwrap().clone();
    assert!(Afun::<Vector<f64>, Scalar<f64>>::from_program(program.clone()).is_ok());
    let e = Afun::<Vector<f32>, Scalar<f64>>::from_program(program.clone()).unwrap_err();
    assert_eq!(e.to_string(), "argument of the program: expected type Array1<f32>, found Array1<f64>");
    let e = Afun::<Vector<f64>, Vector<f64>>::from_program(program).unwrap_err();
    assert_eq!(e.to_string(), "result of the program: expected type Array1<f64>, found Array0<f64>");
}

#[test]
fn errors_are_kept_until_the_program_is_used() {
    let mut leaked = None;
    let f = afun(|xs: Acc<Vector<f64>>| {
        leaked = Some(xs);
        xs
    });
    assert!(f.program().is_ok());
    let g = afun(|xs: Acc<Vector<f64>>| zip_with(|x, y| x + y, xs, leaked.unwrap()));
    assert!(matches!(g.program(), Err(Error::Scope { op: "zip_with", .. })));
    assert!(run_with(&Interpreter, &g, &vector(&[1.0])).is_err());
    assert!(g.to_string().starts_with("error: `zip_with` at "), "{g}");
}

// ---- mistakes

/// `FILE:LINE` of this file.
fn line(n: u32) -> String {
    format!("{}:{n}:", file!())
}

#[test]
fn nested_parallelism_names_the_operation_and_the_closure() {
    let (outer, inner) = (line!() + 2, line!() + 4);
    let e = error(|xs: Acc<Vector<f64>>| {
        map(
            |x| {
                let ys = generate(3, |i| x * i.cast::<f64>());
                the(sum(ys))
            },
            xs,
        )
    });
    assert!(matches!(e, Error::NestedParallelism { op: "generate", binder: "map", .. }), "{e}");
    let text = e.to_string();
    assert!(text.contains(&line(outer)) && text.contains(&line(inner)), "{text}");
}

#[test]
fn an_extent_that_depends_on_a_scalar_variable_is_nested_parallelism() {
    let e = error(|xs: Acc<Vector<f64>>| map(|x| the(sum(fill(x.cast::<i64>(), constant(1.0)))), xs));
    assert!(matches!(e, Error::NestedParallelism { op: "fill", binder: "map", .. }), "{e}");
}

#[test]
fn nested_parallelism_in_a_scalar_loop_names_the_loop() {
    let e =
        error(|xs: Acc<Vector<f64>>| map(|x| while_(|s: Exp<f64>| s.lt(x), |s| the(sum(map(|y| y + s, xs))), 0.0), xs));
    assert!(matches!(e, Error::NestedParallelism { op: "map", binder: "while_", .. }), "{e}");
}

#[test]
fn a_parameter_outside_of_its_closure_is_an_error_of_scope() {
    let e = error(|xs: Acc<Vector<f64>>| {
        let mut leaked = None;
        let ys = map(
            |x| {
                leaked = Some(x);
                x
            },
            xs,
        );
        zip_with(|y, z| y + z + leaked.unwrap(), ys, xs)
    });
    assert!(matches!(e, Error::Scope { op: "zip_with", .. }), "{e}");
    assert!(e.to_string().contains("the closure given to `map` at "), "{e}");
}

#[test]
fn the_state_of_an_array_loop_outside_of_it_is_an_error_of_scope() {
    let leak = |xs: Acc<Vector<f64>>| {
        let mut leaked = None;
        let ys = awhile(
            |s: Acc<Vector<f64>>| the(sum(s)).lt(1.0),
            |s| {
                leaked = Some(s);
                s
            },
            xs,
        );
        (ys, leaked.unwrap())
    };
    let e = error(move |xs: Acc<Vector<f64>>| leak(xs));
    assert!(matches!(e, Error::Scope { .. }), "{e}");
    let e = error(move |xs: Acc<Vector<f64>>| {
        let (ys, s) = leak(xs);
        map(|y| y + s.at(0), ys)
    });
    assert!(matches!(e, Error::Scope { .. }), "{e}");
}

// ---- graphs that only a broken front end writes

const F64: RawTy = RawTy::Scalar(ScalarType::F64);

/// `map(|x| body, a)` of a vector `a`, where `body` is the last one of the given nodes; `a` is node 0 and `x` node 1.
#[track_caller]
fn mapped(nodes: &[(Op, RawTy)], result: RawTy) -> Result<Program> {
    let at = Location::caller();
    let arg = RawTy::array(RawTy::shape(1), F64);
    let mut all = vec![(Op::Param, arg), (Op::Param, F64)];
    all.extend_from_slice(nodes);
    let lam = Lam { params: vec![NodeId(1)], body: NodeId(all.len() as u32 - 1) };
    all.push((ArrayOp::Map(lam, NodeId(0)).into(), RawTy::array(RawTy::shape(1), result)));
    let root = NodeId(all.len() as u32 - 1);
    let nodes = all.into_iter().map(|(op, ty)| Node { op, ty, at, name: "node" }).collect();
    elaborate(&Staged { nodes, param: NodeId(0), root, captured: vec![] })
}

#[test]
fn ill_typed_graphs_are_errors() {
    let (a, x, y) = (NodeId(0), NodeId(1), NodeId(2));
    let unit = (ScalarOp::Unit.into(), RawTy::Unit);
    let add = Op2::Num(Num2::Add);
    assert!(mapped(&[(ScalarOp::Prim2(add, x, x).into(), F64)], F64).is_ok());
    let type_errors = [
        mapped(&[unit.clone(), (ScalarOp::Prim2(add, x, y).into(), F64)], F64),
        mapped(&[unit.clone(), (ScalarOp::Prim2(add, y, y).into(), F64)], F64),
        mapped(&[(ScalarOp::Prim2(add, x, x).into(), RawTy::Unit)], RawTy::Unit),
        mapped(&[(ScalarOp::Fst(x).into(), F64)], F64),
        mapped(&[(ScalarOp::Cond(x, x, x).into(), F64)], F64),
        mapped(&[unit.clone(), (ScalarOp::Index(a, y).into(), F64)], F64),
    ];
    for e in type_errors {
        let e = e.unwrap_err();
        assert!(matches!(&e, Error::Type { op, .. } if op.starts_with("`node` at ")), "{e}");
    }
    // an array as scalar, a declared type that is not the result's
    assert!(matches!(
        mapped(&[(ArrayOp::Map(Lam { params: vec![x], body: x }, a).into(), F64)], F64),
        Err(Error::Internal(_))
    ));
    assert!(matches!(mapped(&[unit], F64), Err(Error::Internal(_))));
}

// ---- transformations of scalar functions

/// `\x -> f(x) + f(x)`
#[derive(Debug)]
struct Twice;

impl ExpTransform for Twice {
    fn transform<'e, 'a, 'p, 'r, 'm>(
        &self,
        _: &Env<UnitF, X<'e>>,
        _: &Env<UnitF, X<'a>>,
        p: &Ty<X<'p>>,
        f: &TExp<HCons<X<'p>, X<'e>>, X<'a>, X<'r>>,
        at: Src,
        m: Guard<'m>,
    ) -> Result<TExp<HCons<X<'p>, X<'e>>, X<'a>, X<'m>>> {
        let Some(num) = ScalarTy::of(f.ty()).and_then(ScalarTy::num) else {
            let op = at.map_or("twice".into(), |at| format!("twice at {at}"));
            return Err(Error::Type { op, expected: "a number".into(), found: p.raw().to_string() });
        };
        let y = TExp::var(&Idx::zero(f.ty()));
        Ok(TExp::let_(f, &TExp::prim2(Prim2::Num(Num2::Add, num, name(m)), &y, &y)))
    }
}

fn twice<R: IntoExp, S: Elt>(f: impl FnOnce(Exp<f64>) -> R, x: Exp<f64>) -> Exp<S> {
    transform_exp("twice", Arc::new(Twice), f, x)
}

#[test]
fn transformed_functions_see_what_is_around_them() {
    let f = |xs: Acc<Vector<f64>>| {
        map(
            |x| {
                let square = x * x;
                twice::<_, f64>(|y| y * square + xs.at(0) * x + y, x + 1.0) + square
            },
            xs,
        )
    };
    insta::assert_snapshot!(afun(f), @r"
        fn (a0: Array1<f64>) -> Array1<f64>
          map
            (\x0 ->
              let x1 = x0 * x0
              (let x2 = x0 + 1.0
               let x3 = x2 * x1 + a0[0] * x0 + x2
               x3 + x3) + x1)
            a0
    ");
    let xs = [2.0, 3.0];
    let expected = xs.map(|x| 2.0 * ((x + 1.0) * x * x + 2.0 * x + x + 1.0) + x * x);
    assert_eq!(run1(f, &xs).to_vec(), expected);
}

#[test]
fn transformations_nest() {
    let f = |xs: Acc<Vector<f64>>| map(|x| twice::<_, f64>(|y| twice::<_, f64>(|z| z * y + x, y), x), xs);
    assert_eq!(run1(f, &[3.0]).to_vec(), [48.0]);
}

#[test]
fn errors_of_transformations_are_errors_of_the_program() {
    let e = error(|xs: Acc<Vector<f64>>| map(|x| twice::<_, bool>(|y| y.lt(0.0), x), xs));
    assert!(matches!(&e, Error::Type { op, .. } if op.contains(file!())), "{e}");
    let e = error(|xs: Acc<Vector<f64>>| map(|x| twice::<_, f32>(|y| y, x), xs));
    assert!(e.to_string().ends_with("expected type f32, found f64"), "{e}");
}

#[test]
fn programs_are_called_in_others() {
    let scale = afun(|xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| {
        let total = sum(xs);
        (map(|y| y * the(total), ys), total)
    });
    let f = |xs: Acc<Vector<f64>>| {
        let doubled = map(|x| x + x, xs);
        let (scaled, total) = call(&scale, (doubled, xs));
        let (again, _) = call(&scale, (scaled, xs));
        (again, total)
    };
    let (again, total) = run1(f, &[1.0, 2.0]);
    assert_eq!((again.to_vec(), total.item()), (vec![18.0, 36.0], 6.0));

    // Below other variables, and in branches and loops.
    let f = |xs: Acc<Vector<f64>>| {
        let step = |xs: Acc<Vector<f64>>| call(&scale, (xs, xs)).0;
        let once = acond(the(sum(xs)).gt(0.0), step(xs), xs);
        awhile(|xs| the(sum(xs)).lt(100.0), step, once)
    };
    // Times 3, times 9, times 81.
    assert_eq!(run1(f, &[1.0, 2.0]).to_vec(), [2187.0, 4374.0]);
}

#[test]
fn errors_of_programs_that_are_called_are_told() {
    let wrong = afun(|xs: Acc<Vector<f64>>| map(|x| the(sum(map(|y| x * y, xs))), xs));
    let e = error(|xs: Acc<Vector<f64>>| call(&wrong, xs));
    assert!(matches!(e, Error::NestedParallelism { .. }), "{e}");
}
