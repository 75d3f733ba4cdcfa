//! Tests of the derivatives of programs built from typed terms: reverse = forward = finite differences.

use accel_ad::{Reverse, forward_mode, reverse_mode};
use accel_core::ast::*;
use accel_core::backend::Backend;
use accel_core::interp::Interpreter;
use accel_core::repr::op::{Float1, Num2};
use accel_core::repr::{ArrayTuple, Column, RawArray};
use frunk::{HCons, HNil};

type V = Arr<((), i64), f64>;
type S = Arr<(), f64>;
type E1 = HCons<f64, HNil>;
type E2 = HCons<f64, HCons<f64, HNil>>;

fn vector(v: &[f64]) -> ArrayTuple {
    ArrayTuple::Array(RawArray { extents: vec![v.len()].into(), columns: vec![Column::from(v.to_vec())].into() })
}
fn run(p: &Program, x: &ArrayTuple) -> Vec<f64> {
    lint(p).expect("lint");
    Interpreter.compile(p).expect("compile").run(x).expect("run").floats()
}

fn check(body: &Acc<HCons<V, HNil>, S>, xs: &[f64]) -> Vec<f64> {
    let p = Program::new(&ArraysTy::known(), body);
    let g = run(&reverse_mode(&p, None, Reverse::Gradient).expect("gradient"), &vector(xs));
    let j = forward_mode(&p, None, None).expect("forward");
    for k in 0..xs.len() {
        let (mut up, mut down, mut dx) = (xs.to_vec(), xs.to_vec(), vec![0.0; xs.len()]);
        up[k] += 1e-5;
        down[k] -= 1e-5;
        dx[k] = 1.0;
        let fd = (run(&p, &vector(&up))[0] - run(&p, &vector(&down))[0]) / 2e-5;
        let fwd = run(&j, &ArrayTuple::pair(vector(xs), vector(&dx)))[1];
        assert!((fd - g[k]).abs() < 1e-6 * (1.0 + fd.abs()), "{k}: finite difference {fd}, gradient {g:?}\n{p}");
        assert!((fwd - g[k]).abs() < 1e-11 * (1.0 + fwd.abs()), "{k}: forward {fwd}, gradient {g:?}\n{p}");
    }
    g
}

fn num<E, A>(op: Num2, a: &Exp<E, A, f64>, b: &Exp<E, A, f64>) -> Exp<E, A, f64> {
    let t = ScalarTy::of(&Ty::<f64>::of()).and_then(ScalarTy::num).unwrap();
    Exp::prim2(Prim2::Num(op, t, Equal::refl()), a, b)
}
fn float<E, A>(op: Float1, a: &Exp<E, A, f64>) -> Exp<E, A, f64> {
    let t = ScalarTy::of(&Ty::<f64>::of()).and_then(ScalarTy::float).unwrap();
    Exp::prim1(Prim1::Float(op, t, Equal::refl()), a)
}
fn c<E, A>(x: f64) -> Exp<E, A, f64> {
    Exp::constant(&Value::of(x), &Ty::of())
}
fn f1<A>(f: impl FnOnce(Exp<E1, A, f64>) -> Exp<E1, A, f64>) -> Fun1<A, f64, f64> {
    Fun1(f(Exp::var(&Idx::zero(&Ty::of()))))
}
fn f2<A>(f: impl FnOnce(Exp<E2, A, f64>, Exp<E2, A, f64>) -> Exp<E2, A, f64>) -> Fun2<A, f64, f64, f64> {
    let t = Ty::of();
    Fun2(f(Exp::var(&Idx::succ(&Idx::zero(&t))), Exp::var(&Idx::zero(&t))))
}
fn x() -> Acc<HCons<V, HNil>, V> {
    Acc::var(&Idx::zero(&Ty::of()))
}
fn plus<A>() -> Fun2<A, f64, f64, f64> {
    f2(|a, b| num(Num2::Add, &a, &b))
}
fn sum(a: &Acc<HCons<V, HNil>, V>) -> Acc<HCons<V, HNil>, S> {
    Acc::fold(&plus(), &c(0.0), a, None)
}

#[test]
fn sum_of_squares() {
    let square = Acc::map(&f1(|x| num(Num2::Mul, &x, &x)), &x(), None);
    assert_eq!(check(&sum(&square), &[1.0, 2.0, -3.0]), [2.0, 4.0, -6.0]);
}

#[test]
fn zip_with_of_functions() {
    let f = f2(|a, b| num(Num2::Mul, &float(Float1::Sin, &a), &float(Float1::Cos, &num(Num2::Add, &a, &b))));
    let square = Acc::map(&f1(|x| num(Num2::Mul, &x, &x)), &x(), None);
    check(&sum(&Acc::zip_with(&f, &x(), &square, None)), &[0.3, 1.2, -0.7]);
}

#[test]
fn reading_the_argument() {
    // sum (map (\v -> v * x ! i) x) for a fixed index, and the same array read twice
    let arr: Idx<HCons<V, HNil>, V> = Idx::zero(&Ty::of());
    let at = |i: i64| {
        let ix = Exp::pair(&Exp::constant(&Value::unit(), &Ty::of()), &Exp::constant(&Value::of(i), &Ty::of()));
        Exp::index(&arr, &ix, None)
    };
    let f = f1(|v| num(Num2::Mul, &num(Num2::Mul, &v, &at(1)), &float(Float1::Exp, &at(0))));
    check(&sum(&Acc::map(&f, &x(), None)), &[0.3, 1.2, -0.7]);
}

#[test]
fn conditionals() {
    let f = f1(|v| {
        let t = ScalarTy::of(&Ty::<f64>::of()).unwrap();
        let pos = Exp::prim2(Prim2::Cmp(accel_core::repr::op::Cmp::Lt, t, Equal::refl()), &c(0.5), &v);
        Exp::cond(&pos, &num(Num2::Mul, &v, &v), &float(Float1::Sin, &v))
    });
    check(&sum(&Acc::map(&f, &x(), None)), &[0.3, 1.2, -0.7]);
}

#[test]
fn folds() {
    let product = Acc::fold(&f2(|a, b| num(Num2::Mul, &a, &b)), &c(2.0), &x(), None);
    assert_eq!(check(&product, &[2.0, 0.0, -3.0, 4.0]), [0.0, -48.0, 0.0, 0.0]);
    check(&product, &[2.0, 1.5, -3.0, 4.0]);
    assert_eq!(check(&product, &[]), []);
    let product = Acc::fold1(&f2(|a, b| num(Num2::Mul, &a, &b)), &x(), None);
    check(&product, &[2.0, 0.0, -3.0, 4.0]);
    let maximum = |z| Acc::fold(&f2(|a, b| num(Num2::Max, &a, &b)), &c(z), &x(), None);
    assert_eq!(check(&maximum(-9.0), &[2.0, 5.0, -3.0, 4.0]), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(check(&maximum(9.0), &[2.0, 5.0, -3.0, 4.0]), [0.0; 4]);
    // a . b = a + b + a b is associative
    let general = f2(|a, b| num(Num2::Add, &num(Num2::Add, &a, &b), &num(Num2::Mul, &a, &b)));
    check(&Acc::fold(&general, &c(0.5), &x(), None), &[0.3, 1.2, -0.7]);
    check(&Acc::fold(&general, &c(0.5), &x(), None), &[0.3]);
    check(&Acc::fold1(&general, &x(), None), &[0.3, 1.2, -0.7]);
    check(&Acc::fold1(&general, &x(), None), &[0.3]);
}

#[test]
fn array_conditionals() {
    let arr: Idx<HCons<V, HNil>, V> = Idx::zero(&Ty::of());
    let ix = Exp::pair(&Exp::constant(&Value::unit(), &Ty::of()), &Exp::constant(&Value::of(0i64), &Ty::of()));
    let t = ScalarTy::of(&Ty::<f64>::of()).unwrap();
    let first: Exp<HNil, _, f64> = Exp::index(&arr, &ix, None);
    let pos = Exp::prim2(Prim2::Cmp(accel_core::repr::op::Cmp::Lt, t, Equal::refl()), &c(0.5), &first);
    let square = Acc::map(&f1(|x| num(Num2::Mul, &x, &x)), &x(), None);
    let both = Acc::cond(&pos, &square, &Acc::map(&f1(|x| float(Float1::Sin, &x)), &x(), None), None);
    check(&sum(&both), &[0.3, 1.2]);
    check(&sum(&both), &[1.3, 1.2]);
}
