//! Tests of lint: one broken node for each of its checks. Only the trusted module can build such nodes, and each of
//! them differs from a correct one in one respect. Scalar code sees `x0: f64` and `x1: i64`, and the arrays `a0:
//! Array1<f64>` and `a1: Array0<bool>`.

use super::super::acc::{AForm, ALoop, Ac, RawAccOp, Trips, acc};
use super::super::env::{Thinning, idx};
use super::super::exp::{Accumulator, Fun1, Fun2, exp};
use super::super::slice::SliceSpec;
use super::super::ty::{Arr, ArraysTy, ElementTy, ScalarTy, ty};
use super::super::value::{Literal, Value, unchecked_literal};
use super::*;
use crate::ast::{Dir, Equal, Idx, NumTy};
use crate::repr::op::{Float1, Num1, Num2};
use crate::repr::{Agreement, ArrayTuple, Column, RawArray};
use frunk::{HCons, HNil};

type Vector = Arr<((), i64), f64>;

fn f64_t() -> RawTy {
    f64::raw()
}
fn i64_t() -> RawTy {
    i64::raw()
}
fn vector_t() -> RawTy {
    Vector::raw()
}
fn array_t(rank: usize, t: RawTy) -> RawTy {
    RawTy::array(RawTy::shape(rank), t)
}
fn e(node: Node, t: &RawTy) -> Ex {
    exp(node, ty(t.clone()))
}
fn a(form: AForm, t: &RawTy) -> Ac {
    acc(form, ty(t.clone()), None)
}
fn op(op: RawAccOp, t: &RawTy) -> Ac {
    a(AForm::Op(op), t)
}
/// A constant zero of type `t`.
fn zero(t: &RawTy) -> Ex {
    Exp::constant(&Value::zero(&ElementTy::<Erased>(ty(t.clone()))), &ty(t.clone()))
}
fn x(i: u32, t: &RawTy) -> Ex {
    e(Node::Var(i), t)
}
fn av(i: u32, t: &RawTy) -> Ac {
    a(AForm::Var(i), t)
}
fn f1(body: &Ex) -> Fun1<Erased, Erased, Erased> {
    Fun1(body.relabel())
}
fn f2(body: &Ex) -> Fun2<Erased, Erased, Erased, Erased> {
    Fun2(body.relabel())
}
fn num() -> NumTy<Erased> {
    ScalarTy::of(&ty::<Erased>(f64_t())).unwrap().num().unwrap()
}

fn check_exp(e: &Ex) -> Result<()> {
    let arrays = vec![vector_t(), array_t(0, bool::raw())];
    let mut lint = Lint { scalars: vec![f64_t(), i64_t()], arrays, ..Lint::default() };
    let result = lint.exp("expression", e).map_err(Fault::into_error);
    assert!(result.is_err() || (lint.scalars.len() == 2 && lint.path.is_empty()));
    result
}
fn check_acc(a: &Ac) -> Result<()> {
    let mut lint = Lint { arrays: vec![vector_t(), array_t(0, bool::raw())], ..Lint::default() };
    let result = lint.acc("array computation", a).map_err(Fault::into_error);
    assert!(result.is_err() || (lint.arrays.len() == 2 && lint.path.is_empty()));
    result
}
#[track_caller]
fn rejects(result: Result<()>, why: &str) {
    let text = result.expect_err("a broken node is rejected").to_string();
    assert!(text.contains(why), "expected {why:?} in {text}");
}
#[track_caller]
fn rejects_exps(cases: &[(Ex, &str)]) {
    for (e, why) in cases {
        rejects(check_exp(e), why)
    }
}
#[track_caller]
fn rejects_accs(cases: &[(Ac, &str)]) {
    for (a, why) in cases {
        rejects(check_acc(a), why)
    }
}

#[test]
fn constants_and_variables() {
    let one = Value::of(1.0f64).relabel::<Erased>();
    check_exp(&x(0, &i64_t())).unwrap();
    check_exp(&x(1, &f64_t())).unwrap();
    rejects_exps(&[
        (e(Node::Const(one.clone()), &i64_t()), "a constant of type i64 has the leaves [F64]"),
        (
            e(Node::Const(one.clone()), &RawTy::pair(f64_t(), f64_t())),
            "a constant of type (f64, f64) has the leaves [F64]",
        ),
        (e(Node::Const(one), &vector_t()), "a constant has the type Array1<f64>"),
        (x(2, &f64_t()), "the scalar variable of index 2 is not in scope: there are 2"),
        (x(0, &f64_t()), "the scalar variable of index 0 has the type i64, expected f64"),
        // Weakening has moved it: under the suspended thinning the variable is another one, or none.
        (
            x(0, &i64_t()).weaken(&Thinning::<HNil, HCons<(), HNil>>::shift().cast(Equal::axiom(), Equal::axiom())),
            "of index 1 has",
        ),
        (
            x(1, &f64_t()).weaken(&Thinning::<HNil, HCons<(), HNil>>::shift().cast(Equal::axiom(), Equal::axiom())),
            "2 is not in",
        ),
    ]);
}

#[test]
fn definitions_pairs_and_components() {
    let both = e(Node::Pair(x(0, &i64_t()), x(1, &f64_t())), &RawTy::pair(i64_t(), f64_t()));
    check_exp(&both).unwrap();
    check_exp(&e(Node::Let(zero(&bool::raw()), x(0, &bool::raw())), &bool::raw())).unwrap();
    rejects_exps(&[
        (
            e(Node::Let(x(0, &i64_t()), x(1, &i64_t())), &f64_t()),
            "the body of a definition has the type i64, expected f64",
        ),
        (e(Node::Let(x(1, &f64_t()), x(0, &i64_t())), &i64_t()), "of index 0 has the type f64"),
        (e(Node::Let(x(0, &f64_t()), x(0, &f64_t())), &f64_t()), "at: expression > definition\n  in: x1"),
        (e(Node::Pair(x(1, &f64_t()), x(0, &i64_t())), &RawTy::pair(i64_t(), f64_t())), "a pair has"),
        (e(Node::Fst(both.clone()), &f64_t()), "the first component has the type i64, expected f64"),
        (e(Node::Snd(both), &i64_t()), "the second component has the type f64, expected i64"),
        (e(Node::Fst(x(0, &i64_t())), &i64_t()), "i64 is not a pair"),
        (e(Node::Snd(x(0, &i64_t())), &i64_t()), "i64 is not a pair"),
    ]);
}

#[test]
fn primitive_functions() {
    let neg = RawPrim1::Num(Num1::Neg, num(), Equal::refl());
    let sin = Prim1::Float(Float1::Sin, ScalarTy::of(&ty::<Erased>(f64_t())).unwrap().float().unwrap(), Equal::refl());
    let sin_of_int =
        Prim1::Float(Float1::Sin, super::super::ty::FloatTy(ScalarType::I64, std::marker::PhantomData), Equal::refl());
    let add = RawPrim2::Num(Num2::Add, num(), Equal::refl());
    let (f, i) = (x(1, &f64_t()), x(0, &i64_t()));
    check_exp(&e(Node::Prim1(neg, f.clone()), &f64_t())).unwrap();
    check_exp(&e(Node::Prim2(add, f.clone(), f.clone()), &f64_t())).unwrap();
    rejects_exps(&[
        (
            e(Node::Prim1(sin, i.clone()), &i64_t()),
            "the argument of a primitive function has the type i64, expected f64",
        ),
        (e(Node::Prim1(sin_of_int, i.clone()), &i64_t()), "`sin` is not defined from i64 to i64"),
        (e(Node::Prim1(neg, f.clone()), &i64_t()), "`neg` is not defined from f64 to i64"),
        (e(Node::Prim2(add, f.clone(), i.clone()), &f64_t()), "the right operand has the type i64, expected f64"),
        (
            e(Node::Prim2(add, i.clone(), i), &i64_t()),
            "the operands of a primitive function has the type i64, expected f64",
        ),
        (e(Node::Prim2(add, f.clone(), f), &bool::raw()), "`+` is not defined from two f64 to bool"),
    ]);
}

#[test]
fn conditionals_loops_and_array_reads() {
    let cond = |c: &Ex, t: &Ex, f: &Ex| e(Node::Cond(Box::new([c.clone(), t.clone(), f.clone()])), &f64_t());
    let loop_ = |c: &Ex, b: &Ex, i: &Ex| e(Node::While(Box::new([c.clone(), b.clone(), i.clone()]), None), &f64_t());
    let (yes, f, i) = (zero(&bool::raw()), zero(&f64_t()), zero(&i64_t()));
    let ix = zero(&RawTy::shape(1));
    let read = |v: Idx<Erased, Erased>, ix: &Ex, t: &RawTy| e(Node::Index(v, ix.clone(), None), t);
    let (v0, v1) = (idx::<Erased, Erased>(1, ty(vector_t())), idx::<Erased, Erased>(0, ty(array_t(0, bool::raw()))));
    check_exp(&cond(&yes, &f, &f)).unwrap();
    check_exp(&loop_(&yes, &x(0, &f64_t()), &f)).unwrap();
    check_exp(&read(v0.clone(), &ix, &f64_t())).unwrap();
    check_exp(&e(Node::Shape(v0.clone()), &RawTy::shape(1))).unwrap();
    rejects_exps(&[
        (cond(&i, &f, &f), "a condition has the type i64, expected bool"),
        (cond(&yes, &i, &f), "the first branch has the type i64, expected f64"),
        (cond(&yes, &f, &i), "the second branch has the type i64, expected f64"),
        (loop_(&f, &f, &f), "the condition of a loop has the type f64, expected bool"),
        (loop_(&yes, &i, &f), "the body of a loop has the type i64, expected f64"),
        (loop_(&yes, &f, &i), "the initial state has the type i64, expected f64"),
        (loop_(&yes, &x(0, &i64_t()), &f), "at: expression > loop body"),
        (read(idx(2, ty(vector_t())), &ix, &f64_t()), "the array variable of index 2 is not in scope"),
        (read(idx(0, ty(vector_t())), &ix, &f64_t()), "index 0 has the type Array0<bool>, expected Array1<f64>"),
        (read(v0.clone(), &i, &f64_t()), "an index has the type i64, expected ((), i64)"),
        (read(v0.clone(), &ix, &i64_t()), "an array element has the type f64, expected i64"),
        (e(Node::Shape(v0.clone()), &RawTy::Unit), "a shape has the type ((), i64), expected ()"),
        (e(Node::Shape(idx(1, ty(f64_t()))), &RawTy::Unit), "of index 1 has the type Array1<f64>, expected f64"),
    ]);
    check_exp(&read(v1, &zero(&RawTy::Unit), &bool::raw())).unwrap();
}

#[test]
fn loops_with_lists() {
    let list = |t: ScalarType| RawTy::List(t);
    let (f, i, yes, unit) = (zero(&f64_t()), zero(&i64_t()), zero(&bool::raw()), zero(&RawTy::Unit));
    let neg = RawPrim1::Num(Num1::Neg, num(), Equal::refl());
    let both = |s: &Ex, y: &Ex| e(Node::Pair(s.clone(), y.clone()), &RawTy::pair(s.ty.0.clone(), y.ty.0.clone()));
    let loop_of = |trips: ExpTrips<Erased, Erased, Erased>, xs: &Ex, row: &RawTy, body: &Ex, y: &RawTy| {
        let (init, xs, body) = (f.clone(), xs.clone(), body.clone());
        let parts = RawLoop { trips, dir: Dir::Left, init, xs, row: row.clone(), body, at: None };
        e(Node::Loop(Box::new(parts)), &RawTy::pair(f64_t(), y.clone()))
    };
    let times = || ExpTrips::Times(i.relabel());
    let floats = list(ScalarType::F64);
    // The state is listed; the list is read again.
    let states = loop_of(ExpTrips::While(yes.relabel()), &unit, &RawTy::Unit, &both(&f, &x(1, &f64_t())), &floats);
    let xs = e(Node::Snd(states.clone()), &floats);
    let sum = loop_of(times(), &xs, &f64_t(), &both(&x(0, &f64_t()), &unit), &RawTy::Unit);
    check_exp(&states).unwrap();
    check_exp(&sum).unwrap();
    let body = both(&f, &f);
    rejects_exps(&[
        (
            loop_of(ExpTrips::While(i.relabel()), &unit, &RawTy::Unit, &body, &floats),
            "the condition of a loop has the type i64",
        ),
        (
            loop_of(ExpTrips::Times(f.relabel()), &unit, &RawTy::Unit, &body, &floats),
            "the number of steps has the type f64",
        ),
        (loop_of(ExpTrips::While(yes.relabel()), &xs, &f64_t(), &body, &floats), "a loop with a condition reads lists"),
        (
            loop_of(times(), &xs, &i64_t(), &body, &floats),
            "the lists of a loop has the type List<f64>, expected List<i64>",
        ),
        (loop_of(times(), &unit, &f64_t(), &body, &floats), "the lists of a loop has the type ()"),
        (loop_of(times(), &xs, &f64_t(), &both(&i, &f), &floats), "the next state of a loop has the type i64"),
        (loop_of(times(), &xs, &f64_t(), &both(&f, &i), &floats), "a loop has the type (f64, List<f64>)"),
        (loop_of(times(), &xs, &f64_t(), &both(&f, &xs), &floats), "a loop lists values of the type List<f64>"),
        (loop_of(times(), &xs, &f64_t(), &both(&x(2, &f64_t()), &f), &floats), "index 2"),
        (loop_of(times(), &xs, &floats, &body, &floats), "the rows of a list have the type List<f64>"),
        (e(Node::Prim1(neg, xs), &floats), "the argument of a primitive function has the type List<f64>"),
    ]);
}

fn literal(columns: Vec<Column>, extents: &[usize], t: &RawTy) -> Literal<Erased> {
    unchecked_literal(ArrayTuple::Array(RawArray { extents: extents.into(), columns: columns.into() }), &ty(t.clone()))
}

#[test]
fn array_literals_variables_definitions_and_loops() {
    let two = || vec![Column::from(vec![1.0, 2.0])];
    let one_bool = array_t(0, bool::raw());
    let (v, b) = (av(1, &vector_t()), av(0, &one_bool));
    let loop_ =
        |c: &Ac, body: &Ac, i: &Ac| a(AForm::While(Box::new([c.clone(), body.clone(), i.clone()])), &vector_t());
    check_acc(&a(AForm::Use(literal(two(), &[2], &vector_t())), &vector_t())).unwrap();
    check_acc(&a(AForm::Let(v.clone(), av(0, &vector_t())), &vector_t())).unwrap();
    check_acc(&loop_(&av(1, &one_bool), &av(0, &vector_t()), &v)).unwrap();
    rejects_accs(&[
        (
            a(AForm::Use(literal(two(), &[2], &vector_t())), &one_bool),
            "a literal has the type Array1<f64>, expected Array0<bool>",
        ),
        (a(AForm::Use(literal(two(), &[3], &vector_t())), &vector_t()), "do not have type Array1<f64>"),
        (a(AForm::Use(literal(two(), &[2, 1], &vector_t())), &vector_t()), "do not have type Array1<f64>"),
        (a(AForm::Use(literal(vec![], &[], &f64_t())), &f64_t()), "a literal has the type f64"),
        (av(2, &vector_t()), "the array variable of index 2 is not in scope: there are 2"),
        (av(0, &vector_t()), "the array variable of index 0 has the type Array0<bool>, expected Array1<f64>"),
        (
            v.weaken(&Thinning::<HNil, HCons<(), HNil>>::shift().cast(Equal::axiom(), Equal::axiom())),
            "of index 2 is not in scope",
        ),
        (
            a(AForm::Let(v.clone(), av(0, &one_bool)), &one_bool),
            "of index 0 has the type Array1<f64>, expected Array0<bool>",
        ),
        (a(AForm::Let(v.clone(), av(0, &vector_t())), &one_bool), "the body of a definition has the type Array1<f64>"),
        (loop_(&v, &av(0, &vector_t()), &v), "of index 1 has the type Array0<bool>, expected Array1<f64>"),
        (loop_(&av(0, &vector_t()), &av(0, &vector_t()), &v), "the condition of a loop has the type Array1<f64>"),
        (loop_(&av(1, &one_bool), &av(1, &one_bool), &v), "the body of a loop has the type Array0<bool>"),
        (loop_(&av(1, &one_bool), &av(0, &vector_t()), &b), "the initial state has the type Array0<bool>"),
    ]);
}

/// The state is a vector, a row a number, an entry of the list a vector.
#[test]
fn loops_over_rows() {
    let one_bool = array_t(0, bool::raw());
    let (number, matrix) = (array_t(0, f64_t()), array_t(2, f64_t()));
    let (v, b) = (av(1, &vector_t()), av(0, &one_bool));
    let argument = av(0, &RawTy::pair(vector_t(), number.clone()));
    let state = op(RawAccOp::Fst { a: argument.clone() }, &vector_t());
    let pair = |x: &Ac, y: &Ac, t: &RawTy| op(RawAccOp::Pair { a: x.clone(), b: y.clone() }, t);
    let next = pair(&state, &state, &RawTy::pair(vector_t(), vector_t()));
    let loop_ = |trips: Trips<Erased, Erased>, init: &Ac, xs: &Ac, body: &Ac, t: &RawTy| {
        let (init, xs, body) = (init.clone(), xs.relabel(), body.relabel());
        a(AForm::Loop(Box::new(ALoop { user: "f", trips, init, xs, body })), t)
    };
    let times = |n: &Ex| Trips::Times(n.relabel(), Dir::Left);
    let n = zero(&i64_t());
    let listed = RawTy::pair(vector_t(), matrix);
    check_acc(&loop_(times(&n), &v, &v, &next, &listed)).unwrap();
    let while_ = |c: &Ac| Trips::While(c.relabel());
    check_acc(&loop_(while_(&av(1, &one_bool)), &v, &v, &next, &listed)).unwrap();
    let swapped = pair(&argument, &state, &RawTy::pair(argument.ty.0.clone(), vector_t()));
    rejects_accs(&[
        (loop_(times(&zero(&f64_t())), &v, &v, &next, &listed), "the number of steps has the type f64, expected i64"),
        (loop_(times(&n), &v, &b, &next, &listed), "rows of Array0<bool>"),
        (loop_(times(&n), &v, &v, &state, &listed), "Array1<f64> is not a pair"),
        (loop_(times(&n), &v, &v, &swapped, &listed), "the next state has the type (Array1<f64>, Array0<f64>)"),
        (loop_(times(&n), &v, &v, &next, &RawTy::pair(vector_t(), vector_t())), "loop has the type"),
        (loop_(times(&n), &b, &v, &next, &listed), "index 0 has the type (Array0<bool>, Array0<f64>), expected"),
        (loop_(while_(&v), &v, &v, &next, &listed), "of index 1 has the type Array0<bool>, expected Array1<f64>"),
        (
            loop_(while_(&av(0, &vector_t())), &v, &v, &next, &listed),
            "the condition of a loop has the type Array1<f64>",
        ),
    ]);
}

#[test]
fn array_tuples_conditionals_and_elementwise_operations() {
    let one_bool = array_t(0, bool::raw());
    let (v, b) = (av(1, &vector_t()), av(0, &one_bool));
    let both = op(RawAccOp::Pair { a: v.clone(), b: b.clone() }, &RawTy::pair(vector_t(), one_bool.clone()));
    let (yes, f, sh) = (zero(&bool::raw()), zero(&f64_t()), zero(&RawTy::shape(1)));
    let cond = |c: &Ex, t: &Ac, o: &Ac| {
        let c: Ex = c.clone();
        op(RawAccOp::Cond { cond: c, then: t.clone(), otherwise: o.clone() }, &vector_t())
    };
    let generate = |sh: &Ex, f: &Ex, t: &RawTy| op(RawAccOp::Generate { sh: sh.clone(), f: f1(f) }, t);
    let map = |f: &Ex, a: &Ac, t: &RawTy| op(RawAccOp::Map { f: f1(f), a: a.clone() }, t);
    let zip = |f: &Ex, a: &Ac, b: &Ac, t: &RawTy| op(RawAccOp::ZipWith { f: f2(f), a: a.clone(), b: b.clone() }, t);
    for right in [
        &both,
        &cond(&yes, &v, &v),
        &generate(&sh, &f, &vector_t()),
        &map(&x(0, &f64_t()), &v, &vector_t()),
        &zip(&x(1, &f64_t()), &v, &v, &vector_t()),
    ] {
        check_acc(right).unwrap();
    }
    rejects_accs(&[
        (op(RawAccOp::Unit {}, &vector_t()), "the empty tuple has the type Array1<f64>"),
        (op(RawAccOp::Pair { a: b.clone(), b: v.clone() }, &RawTy::pair(vector_t(), one_bool.clone())), "a pair has"),
        (op(RawAccOp::Fst { a: both.clone() }, &one_bool), "the first component has the type Array1<f64>"),
        (op(RawAccOp::Snd { a: both }, &vector_t()), "the second component has the type Array0<bool>"),
        (op(RawAccOp::Fst { a: v.clone() }, &vector_t()), "Array1<f64> is not a pair"),
        (cond(&f, &v, &v), "a condition has the type f64, expected bool"),
        (cond(&yes, &b, &v), "the first branch has the type Array0<bool>"),
        (cond(&yes, &v, &b), "the second branch has the type Array0<bool>"),
        (cond(&x(0, &bool::raw()), &v, &v), "the scalar variable of index 0 is not in scope: there are 0"),
        (generate(&f, &f, &vector_t()), "f64 is not a shape"),
        (generate(&sh, &x(0, &i64_t()), &array_t(1, i64_t())), "index 0 has the type ((), i64), expected i64"),
        (generate(&sh, &yes, &vector_t()), "generate has the type Array1<f64>, expected Array1<bool>"),
        (map(&x(0, &f64_t()), &b, &vector_t()), "index 0 has the type bool, expected f64"),
        (map(&x(1, &f64_t()), &v, &vector_t()), "index 1 is not in scope: there are 1"),
        (map(&x(0, &f64_t()), &v, &array_t(0, f64_t())), "map has the type Array0<f64>, expected Array1<f64>"),
        (
            zip(&x(1, &f64_t()), &v, &b, &vector_t()),
            "the shape of the second source has the type (), expected ((), i64)",
        ),
        (zip(&yes, &v, &v, &vector_t()), "zip_with has the type Array1<f64>, expected Array1<bool>"),
    ]);
    let pair = op(RawAccOp::Pair { a: v.clone(), b: v }, &RawTy::pair(vector_t(), vector_t()));
    rejects(check_acc(&map(&f, &pair, &vector_t())), "(Array1<f64>, Array1<f64>) is not an array");
}

#[test]
fn reductions_and_scans() {
    let one_bool = array_t(0, bool::raw());
    let (v, b) = (av(1, &vector_t()), av(0, &one_bool));
    let (f, i, yes) = (zero(&f64_t()), zero(&i64_t()), zero(&bool::raw()));
    let fold = |f: &Ex, z: &Ex, a: &Ac, t: &RawTy| op(RawAccOp::Fold { f: f2(f), z: z.clone(), a: a.clone() }, t);
    let fold1 = |f: &Ex, a: &Ac, t: &RawTy| op(RawAccOp::Fold1 { f: f2(f), a: a.clone() }, t);
    let scan = |f: &Ex, z: &Ex, a: &Ac, t: &RawTy| {
        op(RawAccOp::Scan { dir: Dir::Left, f: f2(f), z: z.clone(), a: a.clone() }, t)
    };
    let scan1 = |f: &Ex, a: &Ac, t: &RawTy| op(RawAccOp::Scan1 { dir: Dir::Right, f: f2(f), a: a.clone() }, t);
    let (first, total) = (x(1, &f64_t()), array_t(0, f64_t()));
    for right in [
        fold(&first, &f, &v, &total),
        fold1(&first, &v, &total),
        scan(&f, &f, &v, &vector_t()),
        scan1(&f, &v, &vector_t()),
    ] {
        check_acc(&right).unwrap();
    }
    rejects_accs(&[
        (fold(&yes, &f, &v, &total), "the result of a combination has the type bool, expected f64"),
        (fold(&x(2, &f64_t()), &f, &v, &total), "index 2 is not in scope: there are 2"),
        (fold(&first, &i, &v, &total), "the initial value has the type i64, expected f64"),
        (fold(&yes, &yes, &b, &one_bool), "() is not a pair"),
        (fold(&first, &f, &v, &vector_t()), "fold has the type Array1<f64>, expected Array0<f64>"),
        (fold1(&yes, &v, &total), "the result of a combination has"),
        (fold1(&first, &v, &vector_t()), "fold1 has the type Array1<f64>, expected Array0<f64>"),
        (scan(&yes, &f, &v, &vector_t()), "the result of a combination has"),
        (scan(&f, &i, &v, &vector_t()), "the initial value has"),
        (scan(&f, &f, &v, &total), "scan has the type Array0<f64>"),
        (scan1(&yes, &v, &vector_t()), "the result of a combination has"),
        (scan1(&f, &v, &total), "scan1 has the type Array0<f64>"),
    ]);
}

#[test]
fn index_transformations_and_slices() {
    let one_bool = array_t(0, bool::raw());
    let (v, b) = (av(1, &vector_t()), av(0, &one_bool));
    let (f, yes) = (zero(&f64_t()), zero(&bool::raw()));
    let (point, sh1, sh2) = (zero(&RawTy::Unit), zero(&RawTy::shape(1)), zero(&RawTy::shape(2)));
    let target = zero(&RawTy::pair(bool::raw(), RawTy::shape(1)));
    let permute = |c: &Ex, d: &Ac, i: &Ex, a: &Ac| {
        op(RawAccOp::Permute { comb: f2(c), defaults: d.clone(), index: f1(i), a: a.clone() }, &vector_t())
    };
    let back =
        |sh: &Ex, i: &Ex, a: &Ac, t: &RawTy| op(RawAccOp::Backpermute { sh: sh.clone(), f: f1(i), a: a.clone() }, t);
    let reshape = |sh: &Ex, a: &Ac, t: &RawTy| op(RawAccOp::Reshape { sh: sh.clone(), a: a.clone() }, t);
    let require = |agreement: Agreement, left: &Ex, right: &Ex, a: &Ac, t: &RawTy| {
        let (left, right, a) = (left.clone(), right.clone(), a.clone());
        op(RawAccOp::Agree { agreement, user: "zip_with", left, right, a }, t)
    };
    let agree = |left: &Ex, right: &Ex, a: &Ac, t: &RawTy| require(Agreement::All, left, right, a, t);
    let kept: SliceSpec<Erased, Erased, Erased> = SliceSpec::nil().keep().fix().relabel();
    let replicate =
        |slx: &Ex, a: &Ac, t: &RawTy| op(RawAccOp::Replicate { spec: kept.clone(), slx: slx.clone(), a: a.clone() }, t);
    let slice =
        |slx: &Ex, a: &Ac, t: &RawTy| op(RawAccOp::Slice { spec: kept.clone(), slx: slx.clone(), a: a.clone() }, t);
    let argsort = |key: RawTy, a: &Ac, t: &RawTy| {
        op(RawAccOp::Argsort { key: ScalarTy::of(&ty::<Erased>(key)).unwrap(), a: a.clone() }, t)
    };
    let matrix_t = array_t(2, f64_t());
    let matrix = replicate(&sh1, &v, &matrix_t);
    for right in [
        &permute(&f, &v, &target, &v),
        &back(&sh2, &sh1, &v, &matrix_t),
        &reshape(&sh2, &v, &matrix_t),
        &agree(&sh2, &sh2, &v, &vector_t()),
        &require(Agreement::Extents, &sh2, &point, &v, &vector_t()),
        &require(Agreement::Size, &sh1, &sh2, &v, &vector_t()),
        &require(Agreement::Inside, &sh2, &sh2, &v, &vector_t()),
        &require(Agreement::Nonempty, &sh1, &point, &v, &vector_t()),
        &matrix,
        &slice(&sh1, &matrix, &vector_t()),
        &argsort(f64_t(), &v, &array_t(1, i64_t())),
    ] {
        check_acc(right).unwrap();
    }
    rejects_accs(&[
        (agree(&sh1, &sh2, &v, &vector_t()), "shapes of 1 and 2 dimensions"),
        (require(Agreement::Extents, &sh1, &sh1, &v, &vector_t()), "shapes of 1 and 1 dimensions"),
        (require(Agreement::Size, &f, &sh1, &v, &vector_t()), "f64 is not a shape"),
        (require(Agreement::Size, &sh1, &sh2, &v, &matrix_t), "agree has the type Array2<f64>, expected Array1<f64>"),
        (require(Agreement::Inside, &sh1, &sh2, &v, &vector_t()), "shapes of 1 and 2 dimensions"),
        (require(Agreement::Nonempty, &point, &point, &v, &vector_t()), "shapes of 0 and 0 dimensions"),
        (require(Agreement::Nonempty, &sh1, &sh1, &v, &vector_t()), "shapes of 1 and 1 dimensions"),
        (agree(&f, &sh1, &v, &vector_t()), "f64 is not a shape"),
        (agree(&sh1, &f, &v, &vector_t()), "f64 is not a shape"),
        (agree(&sh1, &sh1, &v, &matrix_t), "agree has the type Array2<f64>, expected Array1<f64>"),
        (permute(&yes, &v, &target, &v), "the result of a combination has"),
        (
            permute(&f, &v, &sh1, &v),
            "the result of the index function has the type ((), i64), expected (bool, ((), i64))",
        ),
        (permute(&f, &v, &target, &b), "the elements of the source has the type bool, expected f64"),
        (permute(&f, &matrix, &target, &v), "the result of the index function has the type (bool, ((), i64))"),
        (
            op(RawAccOp::Permute { comb: f2(&f), defaults: v.clone(), index: f1(&target), a: v.clone() }, &matrix_t),
            "permute has",
        ),
        (back(&f, &sh1, &v, &matrix_t), "f64 is not a shape"),
        (back(&sh2, &point, &v, &matrix_t), "the result of the index function has the type (), expected ((), i64)"),
        (back(&sh2, &sh1, &v, &vector_t()), "backpermute has the type Array1<f64>, expected Array2<f64>"),
        (reshape(&f, &v, &matrix_t), "f64 is not a shape"),
        (reshape(&sh2, &v, &vector_t()), "reshape has the type Array1<f64>, expected Array2<f64>"),
        (replicate(&sh1, &b, &matrix_t), "the shape of the source has the type (), expected ((), i64)"),
        (
            replicate(&sh2, &v, &matrix_t),
            "the index of the fixed dimensions has the type (((), i64), i64), expected ((), i64)",
        ),
        (replicate(&sh1, &v, &vector_t()), "replicate has the type Array1<f64>, expected Array2<f64>"),
        (slice(&sh1, &v, &vector_t()), "the shape of the source has the type ((), i64), expected (((), i64), i64)"),
        (slice(&point, &matrix, &vector_t()), "the index of the fixed dimensions has the type ()"),
        (slice(&sh1, &matrix, &matrix_t), "slice has the type Array2<f64>, expected Array1<f64>"),
        (argsort(i64_t(), &v, &array_t(1, i64_t())), "the keys has the type f64, expected i64"),
        (argsort(bool::raw(), &b, &array_t(0, i64_t())), "() is not a pair"),
        (argsort(f64_t(), &v, &vector_t()), "argsort has the type Array1<f64>, expected Array1<i64>"),
    ]);
}

#[test]
fn programs_and_open_terms() {
    let v = Ty::<Vector>::of();
    let var = Acc::<HCons<Vector, HNil>, Vector>::var(&Idx::zero(&v));
    lint(&Program::new(&ArraysTy::known(), &var)).unwrap();
    // The body believes that the argument has another type.
    let wrong = Program::new(&ArraysTy::<Arr<(), f64>>::known(), &var.relabel::<_, Vector>());
    rejects(
        lint(&wrong),
        "the array variable of index 0 has the type Array0<f64>, expected Array1<f64>\n  at: program\n  in: a0",
    );
    let scalar = Program::new(&ArraysTy(Ty::<f64>::of()), &Acc::<HCons<f64, HNil>, ()>::unit());
    rejects(lint(&scalar), "the argument of a program has the type f64");
    let scalars = Env::<UnitF, HNil>::empty().push(&(), &Ty::<f64>::of());
    let arrays = Env::<UnitF, HNil>::empty().push(&(), &v);
    lint_acc(&var, &arrays).unwrap();
    lint_exp(&Exp::var(&Idx::zero(&Ty::<f64>::of())), &scalars, &arrays).unwrap();
    rejects(lint_exp(&x(1, &f64_t()).relabel::<_, _, f64>(), &scalars, &arrays), "not in scope");
    rejects(lint_acc(&av(1, &vector_t()).relabel::<_, Vector>(), &arrays), "not in scope");
}

#[test]
fn accumulations() {
    let (token, index, value) = (zero(&f32::raw()), zero(&RawTy::shape(1)), zero(&f64_t()));
    let to = |k: usize, t: RawTy| Accumulator::new(k, &ty::<Arr<Erased, Erased>>(t));
    let emit = |to, token: &Ex, index: &Ex, value: &Ex, t: &RawTy| {
        e(Node::Emit(to, Box::new([token.clone(), index.clone(), value.clone()]), None), t)
    };
    let pair = |a: &Ex, b: &Ex| e(Node::Pair(a.clone(), b.clone()), &RawTy::pair(a.ty.0.clone(), b.ty.0.clone()));
    let accumulate = |token: &Ex, sums: &Ac, t: &RawTy| {
        let f = f1(&pair(&value, token));
        op(RawAccOp::Accumulate { sh: zero(&RawTy::shape(0)), f, init: sums.clone() }, t)
    };
    let sums = av(1, &vector_t());
    let all = RawTy::pair(array_t(0, f64_t()), vector_t());
    let right = emit(to(0, vector_t()), &token, &index, &value, &f32::raw());
    check_acc(&accumulate(&right, &sums, &all)).unwrap();
    rejects(check_exp(&right), "accumulator 0 is not in scope: there are 0");
    let flags = av(0, &array_t(0, bool::raw()));
    let of_flags = RawTy::pair(array_t(0, f64_t()), array_t(0, bool::raw()));
    rejects_accs(&[
        (
            accumulate(&emit(to(1, vector_t()), &token, &index, &value, &f32::raw()), &sums, &all),
            "accumulator 1 is not in scope: there are 1",
        ),
        (
            accumulate(&emit(to(0, array_t(2, f64_t())), &token, &index, &value, &f32::raw()), &sums, &all),
            "an accumulator has the type Array2<f64>, expected Array1<f64>",
        ),
        (
            accumulate(&emit(to(0, vector_t()), &token, &zero(&RawTy::shape(2)), &value, &f32::raw()), &sums, &all),
            "the index of an emission has the type (((), i64), i64), expected ((), i64)",
        ),
        (
            accumulate(&emit(to(0, vector_t()), &token, &index, &zero(&i64_t()), &f32::raw()), &sums, &all),
            "an emitted value has the type i64, expected f64",
        ),
        (accumulate(&emit(to(0, vector_t()), &value, &index, &value, &f32::raw()), &sums, &all), "a token has"),
        (accumulate(&emit(to(0, vector_t()), &token, &index, &value, &f64_t()), &sums, &all), "an emission has"),
        (accumulate(&value, &sums, &all), "the last token has the type f64, expected f32"),
        (accumulate(&token, &sums, &of_flags), "accumulate has the type"),
        (accumulate(&token, &flags, &of_flags), "an accumulator has the type Array0<bool>"),
    ]);
    // Code inside of other operations does not see the accumulators around it.
    let generate = op(RawAccOp::Generate { sh: zero(&RawTy::shape(0)), f: f1(&right) }, &array_t(0, f32::raw()));
    rejects(check_acc(&generate), "accumulator 0 is not in scope: there are 0");
}

#[test]
fn free_variables_have_their_kinds() {
    let (array, scalar) =
        (Env::<UnitF, HNil>::empty().push(&(), &Ty::<Vector>::of()), Env::empty().push(&(), &Ty::<f64>::of()));
    let mixed = Ty::<(f64, Vector)>::of();
    let with_mixed = Env::<UnitF, HNil>::empty().push(&(), &mixed);
    let nested = ty::<Erased>(RawTy::array(RawTy::shape(1), vector_t()));
    let no_shape = ty::<Erased>(RawTy::array(f64_t(), f64_t()));
    let of = |t: &Ty<Erased>| Env::<UnitF, HNil>::empty().push(&(), t);
    let none = Env::<UnitF, HNil>::empty();
    // Nothing is wrong with the terms themselves.
    let unit = Exp::<_, _, ()>::constant(&Value::unit(), &Ty::of());
    rejects(lint_exp(&unit, &array, &none), "a free scalar variable has the type Array1<f64>");
    rejects(
        lint_exp(&unit.relabel::<_, _, ()>(), &with_mixed, &none),
        "a free scalar variable has the type (f64, Array1<f64>)",
    );
    rejects(lint_exp(&unit.relabel::<_, _, ()>(), &none, &scalar), "a free array variable has the type f64");
    rejects(lint_acc(&Acc::unit(), &scalar), "a free array variable has the type f64");
    rejects(lint_acc(&Acc::unit(), &with_mixed), "a free array variable has the type (f64, Array1<f64>)");
    rejects(lint_acc(&Acc::unit(), &of(&nested)), "a free array variable has the type Array1<Array1<f64>>");
    rejects(lint_acc(&Acc::unit(), &of(&no_shape)), "a free array variable has the type Array1<f64>");
    let program = Program::new(&ArraysTy(no_shape), &Acc::unit());
    rejects(lint(&program), "the argument of a program has the type Array1<f64>");
}

#[test]
fn functions_with_rules() {
    // From (i64, f64) to f64, so that tangents differ from values.
    let (p, dp, r) = (RawTy::pair(i64_t(), f64_t()), RawTy::pair(RawTy::Unit, f64_t()), f64_t());
    let at = |d: &RawTy| RawTy::pair(p.clone(), RawTy::pair(r.clone(), d.clone()));
    let custom = |arg: &RawTy, function: &Ex, pushforward: &Ex, pullback: &Ex, t: &RawTy| {
        e(Node::Custom(Box::new([zero(arg), function.clone(), pushforward.clone(), pullback.clone()]), None), t)
    };
    let function = e(Node::Snd(x(0, &p)), &r);
    let (forward, back) = (x(0, &at(&dp)), x(0, &at(&r)));
    let pushforward = e(Node::Fst(e(Node::Snd(forward.clone()), &RawTy::pair(r.clone(), dp.clone()))), &r);
    let pullback = zero(&dp);
    check_exp(&custom(&p, &function, &pushforward, &pullback, &r)).unwrap();
    rejects_exps(&[
        (custom(&i64_t(), &function, &pushforward, &pullback, &r), "of index 0 has the type i64, expected (i64, f64)"),
        (
            custom(&p, &function, &pushforward, &pullback, &i64_t()),
            "a function with a rule has the type f64, expected i64",
        ),
        (custom(&p, &function, &zero(&i64_t()), &pullback, &r), "a pushforward has the type i64, expected f64"),
        (custom(&p, &function, &e(Node::Snd(back.clone()), &r), &pullback, &r), "of index 0 has"),
        (custom(&p, &function, &pushforward, &zero(&p), &r), "a pullback has the type (i64, f64), expected ((), f64)"),
        (custom(&p, &function, &pushforward, &e(Node::Fst(forward), &dp), &r), "of index 0 has"),
        (custom(&p, &x(3, &r), &pushforward, &pullback, &r), "is not in scope: there are 3"),
    ]);
    let number = array_t(0, f64_t());
    let (p, r) = (vector_t(), number.clone());
    let at = |d: &RawTy| RawTy::pair(p.clone(), RawTy::pair(r.clone(), d.clone()));
    let custom = |arg: &Ac, function: &Ac, pushforward: &Ac, pullback: &Ac, t: &RawTy| {
        a(AForm::Custom(Box::new([arg.clone(), function.clone(), pushforward.clone(), pullback.clone()])), t)
    };
    let literal = |t: &RawTy| {
        let f = f1(&zero(&f64_t()));
        op(RawAccOp::Generate { sh: zero(&t_shape(t)).relabel(), f }, t)
    };
    let pushforward =
        op(RawAccOp::Fst { a: op(RawAccOp::Snd { a: av(0, &at(&p)) }, &RawTy::pair(r.clone(), p.clone())) }, &r);
    let pullback = op(RawAccOp::Fst { a: av(0, &at(&r)) }, &p);
    let function = literal(&r);
    check_acc(&custom(&literal(&p), &function, &pushforward, &pullback, &r)).unwrap();
    rejects_accs(&[
        (custom(&literal(&r), &function, &pushforward, &pullback, &r), "of index 0 has"),
        (custom(&literal(&p), &function, &pushforward, &pullback, &p), "a function with a rule has the type"),
        (custom(&literal(&p), &function, &literal(&p), &pullback, &r), "a pushforward has the type Array1<f64>"),
        (custom(&literal(&p), &function, &pushforward, &literal(&r), &r), "a pullback has the type Array0<f64>"),
        (custom(&literal(&p), &av(3, &r), &pushforward, &pullback, &r), "is not in scope: there are 3"),
    ]);
}

/// The type of the shape of an array type.
fn t_shape(t: &RawTy) -> RawTy {
    match t {
        RawTy::Array(p) => p.0.clone(),
        _ => unreachable!("an array type"),
    }
}

#[test]
fn bound_variables_have_their_kinds() {
    // Terms of the wrong kind, which only the trusted module can build, where a variable is bound to them.
    let array_constant = e(Node::Const(Value::zero(&ElementTy::<Erased>(ty(f64_t())))), &vector_t());
    rejects(check_exp(&e(Node::Let(array_constant, zero(&f64_t())), &f64_t())), "a constant has the type Array1<f64>");
    let f = zero(&f64_t());
    let generate = op(RawAccOp::Generate { sh: f.clone(), f: f1(&f) }, &RawTy::array(f64_t(), f64_t()));
    rejects(
        check_acc(&a(AForm::Let(generate, av(1, &array_t(0, bool::raw()))), &array_t(0, bool::raw()))),
        "f64 is not a shape",
    );
    let nothing = a(AForm::Use(literal(vec![], &[], &f64_t())), &f64_t());
    rejects(check_acc(&a(AForm::Let(nothing, av(2, &vector_t())), &vector_t())), "a literal has the type f64");
}

#[test]
fn the_message_shows_the_way_and_the_node() {
    let add = RawPrim2::Num(Num2::Add, num(), Equal::refl());
    let bad = e(Node::Prim2(add, x(1, &f64_t()), x(0, &i64_t())), &f64_t());
    let root = e(
        Node::Let(
            zero(&f64_t()),
            e(
                Node::Fst(e(
                    Node::Pair(
                        bad.weaken(&Thinning::<Erased, HCons<(), Erased>>::shift().cast(Equal::refl(), Equal::axiom())),
                        zero(&f64_t()),
                    ),
                    &RawTy::pair(f64_t(), f64_t()),
                )),
                &f64_t(),
            ),
        ),
        &f64_t(),
    );
    let text = check_exp(&root).unwrap_err().to_string();
    assert_eq!(
        text,
        "internal error: lint: the right operand has the type i64, expected f64\n  \
         at: expression > let body > fst > first\n  in: x0 + x1"
    );
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn deep_programs_take_linear_time() {
    let n = 100_000;
    let x0 = Exp::<HCons<f64, HNil>, HNil, f64>::var(&Idx::zero(&Ty::of()));
    let newest = Thinning::<HNil, HCons<f64, HNil>>::shift().lift::<f64>();
    let two = Exp::prim2(Prim2::check(crate::repr::op::Op2::Num(Num2::Add), &Ty::of(), &Ty::of()).unwrap(), &x0, &x0);
    let chain = (0..n).fold(x0, |body, _| Exp::let_(&two, &body.weaken(&newest)));
    let scalars = Env::<UnitF, HNil>::empty().push(&(), &Ty::<f64>::of());
    lint_exp(&chain, &scalars, &Env::empty()).unwrap();
    let broken = Exp::<HCons<f64, HNil>, HNil, f64>::let_(&chain, &x(0, &i64_t()).relabel());
    let broken = (0..100).fold(broken, |body, _| Exp::let_(&two, &body.weaken(&newest)));
    rejects(lint_exp(&broken, &scalars, &Env::empty()), "(90 steps) > let body");
}
