//! Tests of the printer, on terms built by hand.

use super::*;
use crate::ast::{
    Arr, ArraysTy, CustomExp, Dir, Fun1, Fun2, Idx, Literal, Prim1, Prim2, Repr, ShapeTy, SliceSpec, Thinning, Ty,
    Value, linearised,
};
use crate::repr::op::{Cmp, Family, Float1, Float2, Logic, Num1, Num2, Op1, Op2};
use crate::repr::scalar::ScalarElt;
use crate::repr::{ArrayTuple, Column, RawArray, ScalarType};
use frunk::{HCons, HNil};
use insta::assert_snapshot;

type Dim1 = ((), i64);
type Dim2 = (Dim1, i64);
type Vector = Arr<Dim1, f64>;
type Matrix = Arr<Dim2, f64>;
/// Scalar code below one array variable.
type A1<T> = HCons<T, HNil>;

fn x0<E, T: Repr>() -> Idx<HCons<T, E>, T> {
    Idx::zero(&Ty::of())
}
fn x1<B, E, T: Repr>() -> Idx<HCons<B, HCons<T, E>>, T> {
    Idx::succ(&x0())
}
fn f64_<E, A>(x: f64) -> Exp<E, A, f64> {
    Exp::constant(&Value::of(x), &Ty::of())
}
fn i64_<E, A>(x: i64) -> Exp<E, A, i64> {
    Exp::constant(&Value::of(x), &Ty::of())
}
fn yes<E, A>() -> Exp<E, A, bool> {
    Exp::constant(&Value::of(true), &Ty::of())
}
fn unit<E, A>() -> Exp<E, A, ()> {
    Exp::constant(&Value::unit(), &Ty::of())
}
fn op2<E, A, P: Repr, R: Repr>(op: Op2, a: &Exp<E, A, P>, b: &Exp<E, A, P>) -> Exp<E, A, R> {
    Exp::prim2(Prim2::check(op, &Ty::of(), &Ty::of()).unwrap(), a, b)
}
fn op1<E, A, P: Repr, R: Repr>(op: Op1, a: &Exp<E, A, P>) -> Exp<E, A, R> {
    Exp::prim1(Prim1::check(op, &Ty::of(), &Ty::of()).unwrap(), a)
}
fn num<E, A>(op: Num2, a: &Exp<E, A, f64>, b: &Exp<E, A, f64>) -> Exp<E, A, f64> {
    op2(Op2::Num(op), a, b)
}
fn add<A>() -> Fun2<A, f64, f64, f64> {
    Fun2(num(Num2::Add, &Exp::var(&x1()), &Exp::var(&x0())))
}
fn square<E, A>(i: &Idx<E, f64>) -> Exp<E, A, f64> {
    num(Num2::Mul, &Exp::var(i), &Exp::var(i))
}
fn show<E, T>(e: &Exp<HCons<E, HNil>, HNil, T>) -> String {
    exp(e, Size::nil().push(), Size::nil(), &PrintOptions::default())
}
fn vector(v: Vec<f64>) -> Literal<Vector> {
    let array = RawArray { extents: vec![v.len()].into(), columns: vec![Column::from(v)].into() };
    Literal::check(ArrayTuple::Array(array), &Ty::of()).unwrap()
}

#[test]
fn arithmetic_has_rusts_precedences_and_no_superfluous_parentheses() {
    let x = Exp::<HCons<f64, HNil>, HNil, f64>::var(&x0());
    let (y, z) = (f64_(-2.0), f64_(0.5));
    let sum = num(Num2::Add, &num(Num2::Add, &x, &y), &z);
    assert_snapshot!(show(&sum), @"x0 + -2.0 + 0.5");
    assert_snapshot!(show(&num(Num2::Sub, &x, &num(Num2::Sub, &y, &z))), @"x0 - (-2.0 - 0.5)");
    assert_snapshot!(show(&num(Num2::Mul, &sum, &num(Num2::Div, &x, &z))), @"(x0 + -2.0 + 0.5) * (x0 / 0.5)");
    assert_snapshot!(show(&num(Num2::Min, &y, &sum)), @"min (-2.0) (x0 + -2.0 + 0.5)");
    let sin: Exp<_, _, f64> = op1(Op1::Float(Float1::Sin), &op1::<_, _, f64, f64>(Op1::Num(Num1::Neg), &x));
    assert_snapshot!(show(&op2::<_, _, f64, f64>(Op2::Float(Float2::Atan2), &sin, &x)), @"atan2 (sin (-x0)) x0");
    let less: Exp<_, _, bool> = op2(Op2::Cmp(Cmp::Lt), &sum, &x);
    let both: Exp<_, _, bool> = op2(Op2::Logic(Logic::And), &less, &op1::<_, _, bool, bool>(Op1::Not, &less));
    assert_snapshot!(show(&both), @"x0 + -2.0 + 0.5 < x0 && !(x0 + -2.0 + 0.5 < x0)");
    let cast: Exp<_, _, i32> = op1(Op1::Cast(ScalarType::I32), &sum);
    assert_snapshot!(show(&op1::<_, _, i32, f32>(Op1::Cast(ScalarType::F32), &cast)), @"(x0 + -2.0 + 0.5) as i32 as f32");
    assert_snapshot!(show(&Exp::cond(&less, &f64_(1.0), &x)), @"if x0 + -2.0 + 0.5 < x0 then 1.0 else x0");
    assert_snapshot!(show(&op1::<_, _, f64, f64>(Op1::Float(Float1::Family(Family::Polygamma, 0)), &x)), @"digamma x0");
}

#[test]
fn constants_pairs_and_shapes() {
    let x = Exp::<HCons<Dim1, HNil>, HNil, Dim1>::var(&x0());
    assert_snapshot!(show(&Exp::pair(&x, &i64_(3))), @"[..x0, 3]");
    assert_snapshot!(show(&Exp::pair(&Exp::pair(&unit(), &x.snd()), &i64_(3))), @"[x0.1, 3]");
    assert_snapshot!(show(&Exp::pair(&x.fst(), &Exp::pair(&x, &f64_(1.0)))), @"(x0.0, (x0, 1.0))");
    let ty = Ty::<((f32, u8), Dim2)>::of();
    let v = Value::check(&[1.5f32.to_scalar(), 7u8.to_scalar(), 2i64.to_scalar(), 3i64.to_scalar()], &ty).unwrap();
    assert_snapshot!(show(&Exp::<HCons<(), HNil>, _, _>::constant(&v, &ty)), @"((1.5f32, 7u8), [2, 3])");
}

#[test]
fn one_definition_shares_a_line_and_more_of_them_get_a_line_each() {
    let one = Exp::let_(&square(&x0()), &num(Num2::Add, &square(&x0()), &Exp::var(&x1::<f64, HNil, f64>())));
    assert_snapshot!(show(&one), @"let x1 = x0 * x0 in x1 * x1 + x0");
    assert_snapshot!(show(&num(Num2::Sub, &one, &one)), @"(let x1 = x0 * x0 in x1 * x1 + x0) - (let x1 = x0 * x0 in x1 * x1 + x0)");
    let two = Exp::let_(&square(&x0::<HNil, f64>()), &Exp::let_(&square(&x0()), &square(&x0())));
    assert_snapshot!(show(&two), @"
    let x1 = x0 * x0
    let x2 = x1 * x1
    x2 * x2
    ");
}

#[test]
fn long_expressions_are_broken_and_loops_have_two_functions() {
    let x = Exp::<HCons<f64, HNil>, HNil, f64>::var(&x0());
    let long = (0..30).fold(x.clone(), |s, i| num(Num2::Add, &s, &num(Num2::Mul, &x, &f64_(i as f64))));
    assert_snapshot!(show(&long), @"
    x0 + x0 * 0.0 + x0 * 1.0 + x0 * 2.0 + x0 * 3.0 + x0 * 4.0 + x0 * 5.0 + x0 * 6.0 + x0 * 7.0
      + x0 * 8.0 + x0 * 9.0 + x0 * 10.0 + x0 * 11.0 + x0 * 12.0 + x0 * 13.0 + x0 * 14.0 + x0 * 15.0
      + x0 * 16.0 + x0 * 17.0 + x0 * 18.0 + x0 * 19.0 + x0 * 20.0 + x0 * 21.0 + x0 * 22.0 + x0 * 23.0
      + x0 * 24.0 + x0 * 25.0 + x0 * 26.0 + x0 * 27.0 + x0 * 28.0 + x0 * 29.0
    ");
    let condition = op2(Op2::Cmp(Cmp::Lt), &Exp::var(&x0()), &f64_(9.0));
    let body = num(Num2::Mul, &Exp::var(&x0()), &f64_(2.0));
    assert_snapshot!(show(&Exp::while_(&condition, &body, &x, None)), @r"while (\x1 -> x1 < 9.0) (\x1 -> x1 * 2.0) x0");
    let body = Exp::let_(&long.weaken(&Thinning::shift()), &square(&x0()));
    assert_snapshot!(show(&Exp::while_(&condition, &body, &x, None)), @r"
    while
      (\x1 -> x1 < 9.0)
      (\x1 ->
        let x2 = x0 + x0 * 0.0 + x0 * 1.0 + x0 * 2.0 + x0 * 3.0 + x0 * 4.0 + x0 * 5.0 + x0 * 6.0
          + x0 * 7.0 + x0 * 8.0 + x0 * 9.0 + x0 * 10.0 + x0 * 11.0 + x0 * 12.0 + x0 * 13.0 + x0 * 14.0
          + x0 * 15.0 + x0 * 16.0 + x0 * 17.0 + x0 * 18.0 + x0 * 19.0 + x0 * 20.0 + x0 * 21.0
          + x0 * 22.0 + x0 * 23.0 + x0 * 24.0 + x0 * 25.0 + x0 * 26.0 + x0 * 27.0 + x0 * 28.0
          + x0 * 29.0
        x2 * x2)
      x0
    ");
}

/// The dot product of the first array with itself doubled, by rows of the second.
fn sample() -> Program {
    type Arg = (Vector, Matrix);
    let arg = Acc::<A1<Arg>, Arg>::var(&x0());
    let doubled = Acc::map(&Fun1(num(Num2::Add, &Exp::var(&x0()), &Exp::var(&x0()))), &arg.fst(), here());
    let zipped = Acc::zip_with(
        &Fun2(num(Num2::Mul, &Exp::var(&x1()), &Exp::var(&x0()))),
        &Acc::<HCons<Vector, A1<Arg>>, Vector>::var(&x0()),
        &Acc::<HCons<Vector, A1<Arg>>, Arg>::var(&x1()).fst(),
        None,
    );
    let sum = Acc::fold(&add(), &f64_(0.0), &zipped, here());
    let program = Acc::let_(&doubled, &Acc::let_(&sum, &Acc::pair(&Acc::var(&x0()), &Acc::var(&Idx::succ(&x0())))));
    Program::new(&ArraysTy::known(), &program)
}

#[track_caller]
fn here() -> crate::ast::Src {
    Some(crate::ast::Source::new("f", std::panic::Location::caller()))
}

#[test]
fn a_program_has_a_head_and_a_line_per_definition() {
    assert_snapshot!(sample(), @r"
    fn (a0: (Array1<f64>, Array2<f64>)) -> (Array0<f64>, Array1<f64>)
      let a1 = map (\x0 -> x0 + x0) a0.0
      let a2 = fold (\x0 x1 -> x0 + x1) 0.0 (zip_with (\x0 x1 -> x0 * x1) a1 a0.0)
      (a2, a1)
    ");
}

#[test]
fn types_and_source_lines_on_request() {
    let options = PrintOptions { types: true, source_lines: true, max_depth: None };
    let text = program(&sample(), &options);
    let digits = |s: &str| s.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].starts_with("  let a1: Array1<f64> = map@"), "{text}");
    assert!(digits(lines[1]).contains(r"print/tests.rs: (\(x: f) -> x + x) a."), "{text}");
}

#[test]
fn every_array_operation() {
    let v = Acc::<A1<Vector>, Vector>::var(&x0());
    let m = Acc::replicate(&SliceSpec::nil().keep().fix(), &Exp::pair(&unit(), &i64_(3)), &v, None);
    let shape: Exp<HNil, A1<Vector>, Dim1> = Exp::shape(&x0());
    let index: Fun1<A1<Vector>, Dim1, Dim1> = Fun1(Exp::var(&x0()));
    let read = |at| Fun1(Exp::index(&x0::<HNil, Vector>(), &Exp::<HCons<Dim1, HNil>, _, _>::var(&x0()), at));
    let rows = [
        text(&m),
        text(&Acc::slice(&SliceSpec::nil().fix().keep(), &Exp::pair(&unit(), &i64_(1)), &m, None)),
        text(&Acc::slice(&SliceSpec::nil().fix().keep(), &shape, &m, None)),
        text(&Acc::generate(&ShapeTy::known(), &shape, &read(None), None)),
        text(&Acc::generate(
            &ShapeTy::known(),
            &shape,
            &Fun1(Exp::pair(&Exp::var(&x0::<HNil, Dim1>()), &i64_(2))),
            None,
        )),
        text(&Acc::fold1(&add(), &m, None)),
        text(&Acc::scan(Dir::Left, &add(), &f64_(-1.0), &v, None)),
        text(&Acc::scan1(Dir::Right, &add(), &v, None)),
        text(&Acc::permute(&add(), &v, &Fun1(Exp::pair(&yes(), &Exp::var(&x0::<HNil, Dim1>()))), &v, None)),
        text(&Acc::backpermute(&ShapeTy::known(), &shape, &index, &v, None)),
        text(&Acc::reshape(&ShapeTy::known(), &Exp::pair(&shape, &i64_(1)), &v, None)),
        text::<(), _>(&Acc::use_(&vector(vec![1.0, 2.0]), None)),
        text(&Acc::<A1<Vector>, ()>::unit()),
        text(&Acc::cond(&yes(), &v, &Acc::let_(&v, &Acc::var(&x0())), None)),
    ];
    assert_snapshot!(rows.join("\n"), @r"
    replicate [:, 3] a0
    slice [1, :] (replicate [:, 3] a0)
    slice [_, :] (shape a0) (replicate [:, 3] a0)
    generate (shape a0) (\x0 -> a0 ! x0)
    generate (shape a0) (\x0 -> [..x0, 2])
    fold1 (\x0 x1 -> x0 + x1) (replicate [:, 3] a0)
    scanl (\x0 x1 -> x0 + x1) (-1.0) a0
    scanr1 (\x0 x1 -> x0 + x1) a0
    permute (\x0 x1 -> x0 + x1) a0 (\x0 -> (true, x0)) a0
    backpermute (shape a0) (\x0 -> x0) a0
    reshape [..shape a0, 1] a0
    use Array1<f64>[2]
    ()
    acond
      true
      a0
      (let a1 = a0
       a1)
    ");
    let one = Acc::<HCons<Vector, HNil>, _>::generate(
        &ShapeTy::known(),
        &unit(),
        &Fun1(Exp::index(&x0(), &Exp::pair(&unit(), &i64_(0)), None)),
        None,
    );
    assert_snapshot!(text(&one), @r"generate () (\x0 -> a0[0])");
    let go = Acc::generate(&ShapeTy::known(), &unit(), &Fun1(op2(Op2::Cmp(Cmp::Lt), &i64_(0), &i64_(1))), None);
    assert_snapshot!(text(&Acc::while_(&go, &Acc::var(&x0()), &v, None)), @r"awhile (\a1 -> generate () (\x0 -> 0 < 1)) (\a1 -> a1) a0");
}

fn text<T, R>(a: &Acc<A1<T>, R>) -> String {
    acc(a, Size::nil().push(), &PrintOptions::default())
}

#[test]
fn a_limit_of_depth_elides_what_is_below() {
    let options = PrintOptions { max_depth: Some(3), ..Default::default() };
    assert_snapshot!(program(&sample(), &options), @r"
    fn (a0: (Array1<f64>, Array2<f64>)) -> (Array0<f64>, Array1<f64>)
      let a1 = map (\x0 -> x0 + x0) a0.0
      let a2 = fold (\x0 x1 -> … + …) 0.0 (zip_with (\x0 x1 -> …) … …)
      (a2, a1)
    ");
}

#[test]
fn stages_are_chosen_by_name() {
    assert!(dump_text("ast,ad", "surface", &sample()).is_none());
    assert!(dump_text("", "ast", &sample()).is_none());
    let text = dump_text("ast, ad, types", "ad", &sample()).unwrap();
    assert!(text.starts_with("-- ad\nfn (a0: "));
    assert!(text.contains("let a1: Array1<f64> = "));
}

/// The embedding of one variable into two that leaves it the one bound last.
fn newest<T>() -> Thinning<HCons<T, HNil>, HCons<T, HCons<T, HNil>>> {
    Thinning::<HNil, HCons<T, HNil>>::shift().lift()
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn deep_and_wide_programs_are_printed_in_linear_time() {
    let n = 20_000;
    let x = Exp::<HCons<f64, HNil>, HNil, f64>::var(&x0());
    let wide = (0..n).fold(x.clone(), |e, _| num(Num2::Add, &e, &x));
    assert_eq!(show(&wide).matches('+').count(), n);
    let right = (0..n).fold(x.clone(), |e, _| num(Num2::Sub, &x, &e));
    assert_eq!(show(&right).matches('-').count(), n);
    let deep = (0..n).fold(x.clone(), |e, _| op1(Op1::Float(Float1::Sin), &e));
    assert_eq!(show(&deep).matches("sin").count(), n);
    let n = 100_000;
    let lets = (0..n).fold(x.clone(), |body, _| Exp::let_(&num(Num2::Mul, &x, &x), &body.weaken(&newest())));
    let text = show(&lets);
    assert_eq!(text.lines().count(), n + 1);
    assert!(text.ends_with("let x100000 = x99999 * x99999\nx100000"));
    let a = Acc::<A1<Vector>, Vector>::var(&x0());
    let step = Acc::map(&Fun1(square(&x0())), &a, None);
    let lets = (0..n).fold(a, |body, _| Acc::let_(&step, &body.weaken(&newest())));
    let text = acc(&lets, Size::nil().push(), &PrintOptions::default());
    assert_eq!(text.lines().count(), n + 1);
    assert!(text.ends_with("let a100000 = map (\\x0 -> x0 * x0) a99999\na100000"));
}

#[test]
fn functions_with_rules_have_three_functions() {
    let arg = Exp::<HCons<f64, HNil>, HNil, f64>::var(&x0());
    let square = CustomExp::<HCons<f64, HNil>, HNil, f64, f64> {
        function: square(&x0()),
        pushforward: Exp::var(&Idx::zero(&linearised(&Ty::of(), &Ty::of(), &Ty::<f64>::of()))).snd().snd(),
        pullback: Exp::var(&Idx::zero(&linearised(&Ty::of(), &Ty::of(), &Ty::<f64>::of()))).snd().snd(),
    };
    let applied = Exp::with_rule(&arg, &square, None);
    assert_snapshot!(show(&applied), @r"with_rule (\x1 -> x1 * x1) (\x1 -> x1.1.1) (\x1 -> x1.1.1) x0");
}
