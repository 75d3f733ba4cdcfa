//! Tests of the surface language: typical programs compile without type annotations, and record the graph that they
//! describe.

use accel_core::prelude::*;
use accel_core::repr::op::{Num2, Op2};
use accel_core::repr::{RawTy, ScalarType};
use accel_core::surface::derive_support::{self, retype_exp};
use accel_core::surface::graph::{ArrayOp, Node, Op, Part, ScalarOp};
use accel_core::surface::{Staged, index_head, stage};
use std::cell::Cell;

/// Stages a function or closure of any number of arguments.
fn staged<M, F: ArrayFn<M>>(f: F) -> Staged {
    stage::<F::Args, F::Result>(|args| f.apply(args)).unwrap()
}

/// The error that staging ends with.
fn staging_error<M, F: ArrayFn<M>>(f: F) -> String {
    stage::<F::Args, F::Result>(|args| f.apply(args)).unwrap_err().to_string()
}

impl Show for Staged {
    fn root(&self) -> &Node {
        &self.nodes[self.root.index()]
    }
    /// The types of argument and result.
    fn types(&self) -> String {
        format!("{} -> {}", self.nodes[self.param.index()].ty, self.root().ty)
    }
}
trait Show {
    fn root(&self) -> &Node;
    fn types(&self) -> String;
}

// ---- programs

fn dotp(xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Scalar<f32>> {
    sum(zip_with(|x, y| x * y, xs, ys))
}

/// Over the rows of an array of any rank.
fn logsumexp<Sh: Shape, T: Floating>(m: Acc<Array<Snoc<Sh>, T>>) -> Acc<Array<Sh, T>> {
    let largest = maximum(m);
    let shifted = zip_with(|x, l| (x - l).exp(), m, replicate_inner(index_head(shape(m)), largest));
    zip_with(|s, l| s.ln() + l, sum(shifted), largest)
}

fn matrix_product<T: Num>(a: Acc<Matrix<T>>, b: Acc<Matrix<T>>) -> Acc<Matrix<T>> {
    let ((rows, inner), (_, columns)) = (a.shape(), b.shape());
    let products = generate((rows, columns, inner), |(i, j, k)| a.at((i, k)).into_exp() * b.at((k, j)));
    sum(products)
}

fn mandelbrot(points: Acc<Matrix<(f64, f64)>>) -> Acc<Matrix<i32>> {
    map(
        |(a, b)| {
            while_(
                |(x, y, n)| (x * x + y * y).lt(4.0).and(n.lt(100)),
                |(x, y, n)| (x * x - y * y + a, 2.0 * x * y + b, n + 1),
                (0.0f64, 0.0f64, 0i32),
            )
            .2
        },
        points,
    )
}

fn polar(points: Acc<Vector<(f64, f64)>>) -> Acc<Vector<(f64, f64)>> {
    map(|(x, y)| (x.hypot(y), y.atan2(x)), points)
}

fn mean_and_variance(xs: Acc<Vector<f64>>) -> (Acc<Scalar<f64>>, Acc<Scalar<f64>>) {
    let n = xs.len().cast::<f64>();
    let mean = map(|s| s / n, sum(xs));
    let m = the(mean);
    (mean, map(|s| s / n, sum(map(|x| (x - m).powi(2), xs))))
}

fn norm<T: Floating>(xs: Acc<Vector<T>>) -> Acc<Scalar<T>> {
    map(|s| s.sqrt() * lit(0.5) + T::one(), sum(map(|x| x * x, xs)))
}

fn transposed_twice<T: Elt>(m: Acc<Matrix<T>>) -> Acc<Matrix<T>> {
    transpose(transpose(m))
}

#[test]
fn programs_have_the_types_they_say() {
    assert_eq!(staged(dotp).types(), "(Array1<f32>, Array1<f32>) -> Array0<f32>");
    assert_eq!(staged(logsumexp::<Dim1, f64>).types(), "Array2<f64> -> Array1<f64>");
    assert_eq!(staged(logsumexp::<Dim0, f32>).types(), "Array1<f32> -> Array0<f32>");
    assert_eq!(staged(matrix_product::<i32>).types(), "(Array2<i32>, Array2<i32>) -> Array2<i32>");
    assert_eq!(staged(mandelbrot).types(), "Array2<(f64, f64)> -> Array2<i32>");
    assert_eq!(staged(polar).types(), "Array1<(f64, f64)> -> Array1<(f64, f64)>");
    assert_eq!(staged(mean_and_variance).types(), "Array1<f64> -> (Array0<f64>, Array0<f64>)");
    assert_eq!(staged(norm::<f32>).types(), "Array1<f32> -> Array0<f32>");
    assert_eq!(staged(transposed_twice::<(bool, i8)>).types(), "Array2<(bool, i8)> -> Array2<(bool, i8)>");
}

#[test]
fn literals_take_the_type_that_is_needed() {
    let all = |xs: Acc<Vector<f32>>, ns: Acc<Vector<u8>>, m: Acc<Matrix<i64>>| {
        let a = map(|x| cond(x.gt(0.5), 2.0 * x - 1.0, 0.0), xs);
        let b = map(|n| (((1 + n) % 7) & 3) | (n << 2), ns);
        let c = scanl(|x, y| x + y, 0.0, fill(10, 1.5f32));
        let d = slice((All, 0), m);
        let e = replicate((3, All, 4, All), reshape((2, 2), iota(4)));
        let f = generate((2, m.len()), |(i, j)| (i.max(0), cond(j.eq(0), 1.0, 2.0)));
        ((a, b, c, d, take(2, reverse(xs))), (e, f))
    };
    let five = "((((Array1<f32>, Array1<u8>), Array1<f32>), Array1<i64>), Array1<f32>)";
    assert_eq!(staged(all).root().ty.to_string(), format!("({five}, (Array4<i64>, Array2<(i64, f64)>))"));
}

#[test]
fn closures_get_indices_of_every_rank() {
    let ranks = || {
        let x0: Acc<Scalar<i64>> = generate((), |()| 1i64);
        let x1 = generate(2, |i| i);
        let x2 = generate((2, 2), |(i, j)| i + j);
        let x3 = generate((2, 2, 2), |(i, j, k)| i + j + k);
        let x4 = generate((1, 2, 3, 4), |(i, j, k, l)| i + j + k + l);
        let x5 = generate((1, 2, 3, 4, 5), |(i, j, k, l, m)| i + j + k + l + m);
        let x6 = generate((1, 2, 3, 4, 5, 6), |(i, j, k, l, m, n)| i + j + k + l + m + n);
        let x7 = replicate_inner(2, x6);
        let x7 = map(|x| x + 1, generate(shape(x7), |ix| x7.at(ix)));
        ((x0, x1, x2, x3), (x4, x5, x6, x7))
    };
    let s = staged(|_: Acc<()>| ranks());
    assert!(s.root().ty.to_string().ends_with("Array7<i64>))"), "{}", s.root().ty);
}

#[test]
fn all_array_functions_compose() {
    let s = staged(|xs: Acc<Vector<f64>>, ns: Acc<Vector<i64>>, m: Acc<Matrix<f64>>, c: Acc<Scalar<bool>>| {
        let (firsts, total) = scanl_ex(|a, b| a + b, 0.0, xs);
        let (lasts, _) = scanr_ex(|a, b| a + b, 0.0, m);
        let histogram =
            permute(|new, old| new + old, fill(4, 0i64), |i| (ns.at(i).lt(4), ns.at(i)), fill(ns.shape(), 1i64));
        let (a, b) = unzip(zip(xs, ns));
        let (d, e, f) = unzip3(zip3(a, b, firsts));
        let g = zip_with3(|x, y, z| x + y.cast::<f64>() + z, d, e, f);
        let (g, lasts) = acond(the(c), (g, lasts), (concat(xs, skip(1, xs)), m));
        let (count, powers) =
            awhile(|(n, _)| the(n).lt(3), |(n, p)| (map(|n| n + 1, n), matmul(p, m)), (unit(0i64), m));
        let wide = imap(|(i, j), x| (i.cast::<f64>() + j.cast::<f64>()) * x, powers);
        let back = map(|(ix, x)| x * ix.index().1.cast::<f64>(), indexed(wide));
        let scans = (scanl1(|a, b| a.max(b), g), scanr1(|a, b| a.min(b), g), scanr(|a, b| b + a, 1.0, g));
        let folds =
            (product(back), minimum(lasts), fold_all(|a, b| a + b, 0.0, back), fold1_all(|a, b| a.max(b), back));
        let bools = (all(map(|x| x.is_finite(), xs)), any(map(|x| x.is_nan(), xs)));
        let moved = (gather(ns, xs), scatter(ns, xs, init(xs)), tail(xs), flatten(m), enum_from_n((2, 3), 1.0f32));
        let products = (dot(xs, xs), matvec(m, xs), sum_all(m), total, maximum_all(m), minimum_all(m), product_all(m));
        ((count, histogram, scans), (folds, bools), (moved, products))
    });
    assert!(s.nodes.iter().any(|n| n.name == "permute"));
}

// ---- the graph

#[test]
fn sum_is_the_fold_of_plus_from_zero() {
    let s = staged(|m: Acc<Matrix<f64>>| sum(m));
    let Op::Array(ArrayOp::Fold(f, z, a)) = &s.root().op else { panic!("{:?}", s.root()) };
    assert_eq!((s.root().name, *a), ("sum", s.param));
    let Op::Scalar(ScalarOp::Prim2(op, x, y)) = s.nodes[f.body.index()].op else { panic!() };
    assert_eq!((op, vec![x, y]), (Op2::Num(Num2::Add), f.params.clone()));
    let Op::Scalar(ScalarOp::Const(zero)) = &s.nodes[z.index()].op else { panic!() };
    assert_eq!(**zero, [accel_core::repr::Scalar::F64(0.0)]);
    assert_eq!(s.nodes[f.params[0].index()].ty, RawTy::Scalar(ScalarType::F64));
    assert_eq!(s.nodes.len(), 7, "place of captured values, argument, zero, two parameters, sum, fold");
}

#[test]
fn nodes_know_their_line_and_the_function_called() {
    let first_line = line!() + 2;
    let s = staged(|m: Acc<Matrix<f64>>| {
        let largest = maximum(m);
        let p = matmul(m, m);
        let q = imap(|(i, _), x| x.sin() + i.cast::<f64>(), p);
        zip_with(|x, l| x - l, q, replicate_inner(2, largest))
    });
    assert!(s.nodes.iter().all(|n| n.at.file() == file!()), "{:?}", s.nodes);
    let folds_and_zips = s
        .nodes
        .iter()
        .filter(|n| matches!(n.op, Op::Array(ArrayOp::ZipWith(..) | ArrayOp::Fold(..) | ArrayOp::Fold1(..))));
    let found: Vec<_> = folds_and_zips.map(|n| (n.name, n.at.line() - first_line)).collect();
    assert_eq!(found, [("maximum", 0), ("matmul", 1), ("matmul", 1), ("imap", 2), ("zip_with", 3)]);
    // Inside a derived function the user's own closure keeps its own names.
    assert!(s.nodes.iter().any(|n| n.name == "sin"));
}

#[test]
fn operands_come_before_what_uses_them() {
    let s = staged(mandelbrot);
    for (i, node) in s.nodes.iter().enumerate() {
        node.op.each_part(|part| {
            let operands = match part {
                Part::Operand(a) | Part::Then(a) | Part::Else(a) | Part::Read(a) | Part::Exp(a) => vec![a],
                Part::Closure(f) | Part::Function(f) => [f.params.clone(), vec![f.body]].concat(),
            };
            operands.iter().for_each(|o| assert!(o.index() < i));
        });
    }
}

#[test]
fn taking_a_new_tuple_apart_is_free() {
    let s = staged(|xs: Acc<Vector<f64>>| map(|x| (x, x + 1.0).into_exp().snd(), xs));
    assert!(!s.nodes.iter().any(|n| matches!(n.op, Op::Scalar(ScalarOp::Snd(_)))));
}

// ---- misuse of handles

#[test]
fn a_handle_of_the_program_around_is_captured() {
    let outer = stage::<Vector<f64>, Vector<f64>>(|xs| {
        let first = xs.at(0);
        let inner = staged(|ys: Acc<Vector<f64>>| (xs, map(|y| y * first + xs.at(1), ys)));
        assert_eq!(inner.types(), "(Array1<f64>, (Array0<f64>, (Array1<f64>, ()))) -> (Array1<f64>, Array1<f64>)");
        assert_eq!(inner.captured.len(), 2);
        let inner = staged(|ys: Acc<Vector<f64>>| map(|y| y * 2.0, ys));
        assert_eq!(inner.root().name, "map");
        map(|x| x + 1.0, xs)
    });
    assert_eq!(outer.unwrap().root().name, "map");
}

#[test]
fn a_handle_of_a_finished_program_or_of_none_is_an_error() {
    let kept = Cell::new(None);
    staged(|xs: Acc<Vector<f64>>| {
        kept.set(Some(xs));
        xs
    });
    let old = kept.get().unwrap();
    let message = staging_error(|_: Acc<Vector<f64>>| map(|x| -x, old));
    assert!(message.contains("finished"), "{message}");

    let nowhere = constant(1.0); // no panic outside of a program
    let message = staging_error(|xs: Acc<Vector<f64>>| map(|x| x * nowhere, xs));
    assert!(message.contains("`*`") && message.contains("no program was being written"), "{message}");
    let message = staging_error(|_: Acc<Vector<f64>>| old);
    assert!(message.contains("finished"), "{message}");

    let other = std::thread::spawn(move || staging_error(|_: Acc<Vector<f64>>| old)).join().unwrap();
    assert!(other.contains("finished, or is written by another thread"), "{other}");
}

#[test]
fn a_panic_in_a_program_ends_its_session() {
    let panicked = std::panic::catch_unwind(|| staged(|_: Acc<Vector<f64>>| -> Acc<Vector<f64>> { panic!("stop") }));
    assert!(panicked.is_err());
    let outside = constant(1.0);
    let message = staging_error(|xs: Acc<Vector<f64>>| map(|x| x * outside, xs));
    assert!(message.contains("no program"), "{message}");
    // A closure that panics and is caught leaves the attribution of nodes as it was.
    let s = staged(|xs: Acc<Vector<f64>>| {
        let caught = std::panic::catch_unwind(|| imap(|_, x| -> Exp<f64> { panic!("{x:?}") }, xs));
        assert!(caught.is_err());
        map(|x| x + 1.0, xs)
    });
    assert_eq!(s.root().name, "map");
}

// ---- records, as the derive generates them

#[derive(Clone, Debug, PartialEq)]
struct Complex {
    re: f64,
    im: f64,
}

#[derive(Clone, Copy)]
struct ComplexExp {
    re: <f64 as derive_support::Elt>::Exp,
    im: <f64 as derive_support::Elt>::Exp,
}

impl derive_support::IntoExp for ComplexExp {
    type Elt = Complex;
    #[track_caller]
    fn into_exp(self) -> derive_support::Exp<Complex> {
        retype_exp::<(f64, f64), _>(IntoExp::into_exp((self.re, self.im)))
    }
}

impl derive_support::ToExp<Complex> for ComplexExp {
    #[track_caller]
    fn to_exp(self) -> derive_support::Exp<Complex> {
        self.into_exp()
    }
}

impl derive_support::Elt for Complex {
    type Repr = (<f64 as Elt>::Repr, <f64 as Elt>::Repr);
    type Exp = ComplexExp;
    fn to_scalars(&self, out: &mut derive_support::Scalars) {
        self.re.to_scalars(out);
        self.im.to_scalars(out);
    }
    fn from_scalars(scalars: &mut dyn Iterator<Item = derive_support::Scalar>) -> Option<Self> {
        Some(Complex { re: f64::from_scalars(scalars)?, im: f64::from_scalars(scalars)? })
    }
    #[track_caller]
    fn unlift(e: Exp<Self>) -> ComplexExp {
        let (re, im) = <(f64, f64) as Elt>::unlift(retype_exp(e));
        ComplexExp { re, im }
    }
}

#[test]
fn records_come_apart_in_closures() {
    let s = staged(|zs: Acc<Vector<Complex>>| {
        let turned = map(|z| ComplexExp { re: -z.im, ..z }, zs);
        let zero = constant(Complex { re: 0.0, im: 0.0 });
        let total = fold(|a, b| ComplexExp { re: a.re + b.re, im: a.im + b.im }, zero, turned);
        let largest = fold1(|a, b| cond(a.re.gt(b.re), a, b), zs);
        (total, map(|z| (z.re, z), largest))
    });
    assert_eq!(s.types(), "Array1<(f64, f64)> -> (Array0<(f64, f64)>, Array0<(f64, (f64, f64))>)");
    let zs = Array::vector(vec![Complex { re: 1.0, im: 2.0 }, Complex { re: 3.0, im: 4.0 }]);
    assert_eq!(zs.get(1), Some(Complex { re: 3.0, im: 4.0 }));
    assert_eq!(zs.raw().columns.len(), 2);
}

// ---- checks of shapes

#[test]
fn shapes_that_are_visibly_equal_are_not_compared() {
    type V = Acc<Vector<f64>>;
    type M = Acc<Matrix<f64>>;
    fn checks(s: Staged) -> usize {
        s.nodes.iter().filter(|n| matches!(n.op, Op::Array(ArrayOp::Agree { .. }))).count()
    }
    let add = |x: Exp<f64>, y: Exp<f64>| x + y;
    assert_eq!(checks(staged(|xs: V| zip_with(add, xs, map(|x| x.sin(), xs)))), 0);
    assert_eq!(checks(staged(|xs: V| zip_with(add, reverse(xs), generate(xs.shape(), |i| xs.at(i))))), 0);
    assert_eq!(checks(staged(|xs: V| zip_with(add, fill(7, 1.0), fill(7, the(sum(xs)))))), 0);
    assert_eq!(checks(staged(|m: M| zip(sum(m), maximum(m)))), 0);
    assert_eq!(checks(staged(|m: M| matmul(m, transpose(m)))), 0);
    assert_eq!(checks(staged(|m: M| zip_with(add, m, replicate_inner(m.shape().1, sum(m))))), 0);
    assert_eq!(checks(staged(|m: M| zip_with(add, slice_inner(0, m), sum(m)))), 0);
    assert_eq!(checks(staged(|xs: V| acond(xs.at(0).lt(1.0), zip_with(add, xs, xs), map(|x| -x, xs)))), 0);
    // Different arrays, dimensions and constants.
    assert_eq!(checks(staged(|xs: V, ys: V| zip_with(add, xs, ys))), 1);
    assert_eq!(checks(staged(|m: M| zip_with(add, m, transpose(m)))), 1);
    assert_eq!(checks(staged(|m: M| matmul(m, m))), 1);
    assert_eq!(checks(staged(|xs: V| zip_with(add, fill(7, 1.0), fill(8, the(sum(xs)))))), 1);
    assert_eq!(checks(staged(|xs: V| zip_with(add, xs, scanl(add, 0.0, xs)))), 1);
    assert_eq!(checks(staged(|xs: V, ys: V| zip_with(add, acond(xs.at(0).lt(1.0), xs, ys), xs))), 1);
    // What was cut off has not the shape of either.
    assert_eq!(checks(staged(|xs: V, ys: V| zip_with(add, zip_with_min(add, xs, ys), xs))), 1);
    // The state of a loop may have another shape in every round.
    let grow = |xs: V| awhile(|xs: V| xs.len().lt(9), |ys: V| concat(zip_with(add, ys, xs), ys), xs);
    assert_eq!(checks(staged(grow)), 1);
    // What was compared agrees with what it was compared with.
    assert_eq!(checks(staged(|xs: V, ys: V| zip_with(add, zip_with(add, xs, ys), xs))), 1);
    assert_eq!(checks(staged(|a: M, v: V| zip_with(add, matvec(a, v), sum(a)))), 1);
}
