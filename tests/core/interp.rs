//! Compares the interpreter with plain Rust loops, operation by operation, on terms built with the typed constructors.

use accel_core::ast::*;
use accel_core::backend::Backend;
use accel_core::error::{Error, Result};
use accel_core::interp::{Interpreted, Interpreter};
use accel_core::repr::op::{Cmp, Logic, Num2, Op1, Op2};
use accel_core::repr::scalar::ScalarElt;
use accel_core::repr::{ArrayTuple, Column, RawArray};
use frunk::{HCons, HNil};
use std::panic::Location;

type Z = ();
type D1 = (Z, i64);
type D2 = (D1, i64);
type D3 = (D2, i64);
type D4 = (D3, i64);
/// The array environment of a program with one argument.
type Args<P> = HCons<P, HNil>;
/// The scalar environments of functions.
type E1<P> = HCons<P, HNil>;
type E2<P, Q> = HCons<Q, HCons<P, HNil>>;

/// A call of the function `f`, which errors name.
#[track_caller]
fn here() -> Src {
    Some(Source::new("f", Location::caller()))
}

// ---- terms

fn lit<E, A, T: ScalarElt + Repr>(x: T) -> Exp<E, A, T> {
    Exp::constant(&Value::of(x), &Ty::of())
}
fn unit<E, A>() -> Exp<E, A, ()> {
    Exp::constant(&Value::unit(), &Ty::of())
}
fn op1<E, A, P, R: Repr>(op: Op1, a: &Exp<E, A, P>) -> Exp<E, A, R> {
    Exp::prim1(Prim1::check(op, a.ty(), &Ty::of()).expect("well-typed"), a)
}
fn op2<E, A, P, R: Repr>(op: Op2, a: &Exp<E, A, P>, b: &Exp<E, A, P>) -> Exp<E, A, R> {
    Exp::prim2(Prim2::check(op, a.ty(), &Ty::of()).expect("well-typed"), a, b)
}
fn num<E, A, T: Repr>(op: Num2, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
    op2(Op2::Num(op), a, b)
}
fn add<E, A, T: Repr>(a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
    num(Num2::Add, a, b)
}
fn sub<E, A, T: Repr>(a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
    num(Num2::Sub, a, b)
}
fn mul<E, A, T: Repr>(a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
    num(Num2::Mul, a, b)
}
fn lt<E, A, T>(a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, bool> {
    op2(Op2::Cmp(Cmp::Lt), a, b)
}
fn ix1<E, A>(i: &Exp<E, A, i64>) -> Exp<E, A, D1> {
    Exp::pair(&unit(), i)
}
fn ix2<E, A>(i: &Exp<E, A, i64>, j: &Exp<E, A, i64>) -> Exp<E, A, D2> {
    Exp::pair(&ix1(i), j)
}
fn fun1<A, P: Repr, R>(f: impl FnOnce(Exp<E1<P>, A, P>) -> Exp<E1<P>, A, R>) -> Fun1<A, P, R> {
    Fun1(f(Exp::var(&Idx::zero(&Ty::of()))))
}
fn fun2<A, P: Repr, Q: Repr, R>(
    f: impl FnOnce(Exp<E2<P, Q>, A, P>, Exp<E2<P, Q>, A, Q>) -> Exp<E2<P, Q>, A, R>,
) -> Fun2<A, P, Q, R> {
    Fun2(f(Exp::var(&Idx::succ(&Idx::zero(&Ty::of()))), Exp::var(&Idx::zero(&Ty::of()))))
}
fn plus<A, T: Repr>() -> Fun2<A, T, T, T> {
    fun2(|x, y| add(&x, &y))
}
/// An associative function that does not commute: composition of `t -> p t + q`.
fn compose<A>() -> Fun2<A, (i64, i64), (i64, i64), (i64, i64)> {
    fun2(|f, g| Exp::pair(&mul(&f.fst(), &g.fst()), &add(&mul(&f.snd(), &g.fst()), &g.snd())))
}
fn composed(f: (i64, i64), g: (i64, i64)) -> (i64, i64) {
    (f.0.wrapping_mul(g.0), f.1.wrapping_mul(g.0).wrapping_add(g.1))
}

// ---- arrays

fn array(extents: &[usize], columns: Vec<Column>) -> ArrayTuple {
    ArrayTuple::Array(RawArray { extents: extents.into(), columns: columns.into() })
}
fn ints(extents: &[usize], xs: Vec<i64>) -> ArrayTuple {
    array(extents, vec![xs.into()])
}
fn floats(xs: Vec<f64>) -> ArrayTuple {
    array(&[xs.len()], vec![xs.into()])
}
fn pairs(extents: &[usize], xs: &[(i64, i64)]) -> ArrayTuple {
    let (a, b): (Vec<_>, Vec<_>) = xs.iter().copied().unzip();
    array(extents, vec![a.into(), b.into()])
}
fn upto(n: usize) -> Vec<i64> {
    (0..n as i64).map(|i| i * i % 17 - 5).collect()
}
fn some_pairs(n: usize) -> Vec<(i64, i64)> {
    (0..n as i64).map(|i| (i % 3 + 1, i - 2)).collect()
}

// ---- running

fn program<P: ArraysRepr, R>(body: impl FnOnce(Acc<Args<P>, P>, Idx<Args<P>, P>) -> Acc<Args<P>, R>) -> Program {
    let i = Idx::zero(&Ty::of());
    let program = Program::new(&ArraysTy::<P>::known(), &body(Acc::var(&i), i));
    accel_core::ast::lint(&program).expect("a well-typed program");
    program
}
fn try_run<P: ArraysRepr, R>(
    arg: &ArrayTuple,
    body: impl FnOnce(Acc<Args<P>, P>, Idx<Args<P>, P>) -> Acc<Args<P>, R>,
) -> Result<ArrayTuple> {
    let p = program(body);
    let result = Interpreter.compile(&p)?.run(arg)?;
    assert!(conforms(&result, p.result()), "{result:?} should have the type {}", p.result());
    Ok(result)
}
#[track_caller]
fn run<P: ArraysRepr, R>(
    arg: &ArrayTuple,
    body: impl FnOnce(Acc<Args<P>, P>, Idx<Args<P>, P>) -> Acc<Args<P>, R>,
) -> ArrayTuple {
    try_run(arg, body).expect("runs")
}
#[track_caller]
fn fails<P: ArraysRepr, R>(
    arg: &ArrayTuple,
    body: impl FnOnce(Acc<Args<P>, P>, Idx<Args<P>, P>) -> Acc<Args<P>, R>,
) -> String {
    try_run(arg, body).expect_err("fails").to_string()
}

/// Extents of rank 1 to 4, with empty dimensions and ones.
const SHAPES: &[&[usize]] = &[&[0], &[1], &[7], &[3, 4], &[0, 3], &[3, 0], &[2, 3, 4], &[2, 0, 2], &[2, 1, 3, 2]];

fn size(extents: &[usize]) -> usize {
    extents.iter().product()
}

/// Runs a test of a generic function for the type-level rank of each shape.
macro_rules! for_shape {
    ($extents:expr, $f:ident) => {
        match $extents.len() {
            0 => $f::<Z>($extents),
            1 => $f::<D1>($extents),
            2 => $f::<D2>($extents),
            3 => $f::<D3>($extents),
            _ => $f::<D4>($extents),
        }
    };
}
/// The same for functions of the outer dimensions.
macro_rules! for_rows {
    ($extents:expr, $f:ident) => {
        match $extents.len() {
            1 => $f::<Z>($extents),
            2 => $f::<D1>($extents),
            3 => $f::<D2>($extents),
            _ => $f::<D3>($extents),
        }
    };
}

// ---- maps

fn maps<Sh: ShapeRepr>(sh: &[usize]) {
    let xs = upto(size(sh));
    let doubled = run::<Arr<Sh, i64>, _>(&ints(sh, xs.clone()), |a, _| Acc::map(&fun1(|x| add(&x, &x)), &a, here()));
    assert_eq!(doubled, ints(sh, xs.iter().map(|x| x + x).collect()));
    // An array of pairs, and one of units.
    let both = run::<Arr<Sh, i64>, _>(&ints(sh, xs.clone()), |a, _| {
        Acc::map(&fun1(|x| Exp::pair(&mul(&x, &x), &lt(&x, &lit(0)))), &a, here())
    });
    let (squares, signs): (Vec<_>, Vec<_>) = xs.iter().map(|x| (x * x, *x < 0)).unzip();
    assert_eq!(both, array(sh, vec![squares.into(), signs.into()]));
    let nothing = run::<Arr<Sh, i64>, _>(&ints(sh, xs), |a, _| Acc::map(&fun1(|_| unit()), &a, here()));
    assert_eq!(nothing, array(sh, vec![]));
}

#[test]
fn map_applies_the_function_to_every_element() {
    maps::<Z>(&[]);
    SHAPES.iter().for_each(|sh| for_shape!(sh, maps));
}

#[test]
fn generate_numbers_the_elements_in_row_major_order() {
    let got = run::<(), _>(&ArrayTuple::Unit, |_, _| {
        let f = fun1(|ix: Exp<_, _, D3>| {
            let (k, j, i) = (ix.snd(), ix.fst().snd(), ix.fst().fst().snd());
            add(&mul(&lit(100), &i), &add(&mul(&lit(10), &j), &k))
        });
        Acc::generate(&ShapeTy::known(), &Exp::pair(&ix2(&lit(2), &lit(3)), &lit(4)), &f, here())
    });
    let expected = (0..2).flat_map(|i| (0..3).flat_map(move |j| (0..4).map(move |k| 100 * i + 10 * j + k))).collect();
    assert_eq!(got, ints(&[2, 3, 4], expected));
    let scalar = run::<(), _>(&ArrayTuple::Unit, |_, _| {
        Acc::generate(&ShapeTy::known(), &unit(), &fun1(|_: Exp<_, _, Z>| lit(2.5)), None)
    });
    assert_eq!(scalar, array(&[], vec![vec![2.5].into()]));
}

#[test]
fn generate_rejects_impossible_shapes() {
    let generate = |m: i64, n: i64| {
        fails::<(), _>(&ArrayTuple::Unit, |_, _| {
            Acc::generate(&ShapeTy::known(), &ix2(&lit(m), &lit(n)), &fun1(|_: Exp<_, _, D2>| lit(0.0)), here())
        })
    };
    let e = generate(3, -1);
    assert!(e.contains("`f` at") && e.contains("interp.rs") && e.contains("[3, -1]"), "{e}");
    // Too large for a number, for a vector, for memory.
    for (m, n) in [(i64::MAX, i64::MAX), (i64::MAX, 2), (1 << 61, 1)] {
        let e = generate(m, n);
        assert!(e.contains("`f`") && e.contains("memory"), "{e}");
    }
}

#[test]
fn zip_with_works_on_the_intersection() {
    for (m, n) in [([2, 5], [4, 3]), ([3, 3], [3, 3]), ([0, 2], [5, 5]), ([4, 1], [1, 4])] {
        let arg = ArrayTuple::pair(ints(&m, upto(size(&m))), ints(&n, upto(size(&n))));
        let got = run::<(Arr<D2, i64>, Arr<D2, i64>), _>(&arg, |a, _| {
            Acc::zip_with(&fun2(|x, y| sub(&x, &y)), &a.fst(), &a.snd(), here())
        });
        let sh = [m[0].min(n[0]), m[1].min(n[1])];
        let (x, y) = (upto(size(&m)), upto(size(&n)));
        let expected = (0..sh[0]).flat_map(|i| (0..sh[1]).map(move |j| (i, j)));
        assert_eq!(got, ints(&sh, expected.map(|(i, j)| x[i * m[1] + j] - y[i * n[1] + j]).collect()));
    }
    // Of different element types.
    let arg = ArrayTuple::pair(pairs(&[2], &[(1, 2), (3, 4)]), array(&[3], vec![vec![true, false, true].into()]));
    let got = run::<(Arr<D1, (i64, i64)>, Arr<D1, bool>), _>(&arg, |a, _| {
        Acc::zip_with(
            &fun2(|x: Exp<_, _, (i64, i64)>, c| Exp::cond(&c, &x.fst(), &x.snd())),
            &a.fst(),
            &a.snd(),
            here(),
        )
    });
    assert_eq!(got, ints(&[2], vec![1, 4]));
}

// ---- reductions

/// The rows of an array of pairs.
fn rows(sh: &[usize]) -> Vec<Vec<(i64, i64)>> {
    let n = sh[sh.len() - 1];
    (0..size(&sh[..sh.len() - 1])).map(|r| some_pairs(size(sh))[r * n..(r + 1) * n].to_vec()).collect()
}
fn z() -> (i64, i64) {
    (2, 1)
}
fn z_exp<E, A>() -> Exp<E, A, (i64, i64)> {
    Exp::pair(&lit(z().0), &lit(z().1))
}

fn folds<Sh: ShapeRepr>(sh: &[usize]) {
    let arg = pairs(sh, &some_pairs(size(sh)));
    let outer = &sh[..sh.len() - 1];
    let got = run::<Arr<(Sh, i64), (i64, i64)>, _>(&arg, |a, _| Acc::fold(&compose(), &z_exp(), &a, here()));
    let expected: Vec<_> = rows(sh).into_iter().map(|row| row.into_iter().fold(z(), composed)).collect();
    assert_eq!(got, pairs(outer, &expected));
    let got = try_run::<Arr<(Sh, i64), (i64, i64)>, _>(&arg, |a, _| Acc::fold1(&compose(), &a, here()));
    let expected: Option<Vec<_>> = rows(sh).into_iter().map(|row| row.into_iter().reduce(composed)).collect();
    match expected {
        Some(expected) => assert_eq!(got.expect("no row is empty"), pairs(outer, &expected)),
        None => {
            let e = got.expect_err("a row is empty").to_string();
            assert!(e.contains("`f` at") && e.contains("interp.rs") && e.contains("non-empty"), "{e}");
        }
    }
}

#[test]
fn fold_goes_from_the_left_and_starts_with_z() {
    SHAPES.iter().for_each(|sh| for_rows!(sh, folds));
}

fn scans<Sh: ShapeRepr>(sh: &[usize]) {
    let arg = pairs(sh, &some_pairs(size(sh)));
    for dir in [Dir::Left, Dir::Right] {
        let scan = |z: Option<(i64, i64)>, mut row: Vec<(i64, i64)>| {
            if dir == Dir::Right {
                row.reverse();
            }
            let mut out: Vec<(i64, i64)> = z.into_iter().collect();
            for x in row {
                let next = match (out.last(), dir) {
                    (None, _) => x,
                    (Some(acc), Dir::Left) => composed(*acc, x),
                    (Some(acc), Dir::Right) => composed(x, *acc),
                };
                out.push(next);
            }
            if dir == Dir::Right {
                out.reverse();
            }
            out
        };
        let got = run::<Arr<(Sh, i64), (i64, i64)>, _>(&arg, |a, _| Acc::scan(dir, &compose(), &z_exp(), &a, here()));
        let mut longer = sh.to_vec();
        longer[sh.len() - 1] += 1;
        let expected: Vec<_> = rows(sh).into_iter().flat_map(|row| scan(Some(z()), row)).collect();
        assert_eq!(got, pairs(&longer, &expected));
        let got = run::<Arr<(Sh, i64), (i64, i64)>, _>(&arg, |a, _| Acc::scan1(dir, &compose(), &a, here()));
        let expected: Vec<_> = rows(sh).into_iter().flat_map(|row| scan(None, row)).collect();
        assert_eq!(got, pairs(sh, &expected));
    }
}

#[test]
fn scans_keep_all_intermediate_results() {
    SHAPES.iter().for_each(|sh| for_rows!(sh, scans));
}

#[test]
fn scan_elements_are_the_folds_of_prefixes_and_suffixes() {
    let arg = ints(&[3], vec![1, 10, 100]);
    let f = || fun2(|x, y| sub(&x, &y));
    let scan = |dir| run::<Arr<D1, i64>, _>(&arg, |a, _| Acc::scan(dir, &f(), &lit(1000), &a, here()));
    assert_eq!(scan(Dir::Left), ints(&[4], vec![1000, 999, 989, 889]));
    // 1 - (10 - (100 - 1000)), 10 - (100 - 1000), 100 - 1000, 1000
    assert_eq!(scan(Dir::Right), ints(&[4], vec![-909, 910, -900, 1000]));
}

// ---- data movement

#[test]
fn permute_combines_new_with_old_in_row_major_order() {
    // Histogram of the elements, with a combination that tells its arguments and the order apart.
    let xs: Vec<i64> = vec![3, 0, 3, 7, 1, 3];
    let got = run::<Arr<D1, i64>, _>(&ints(&[6], xs.clone()), |a, v| {
        let defaults = Acc::generate(&ShapeTy::known(), &ix1(&lit(4)), &fun1(|ix: Exp<_, _, D1>| ix.snd()), here());
        let comb = fun2(|new, old| add(&new, &mul(&old, &lit(10))));
        // 7 is not kept.
        let index = fun1(|ix: Exp<_, _, D1>| {
            let x: Exp<_, _, i64> = Exp::index(&v, &ix, here());
            Exp::pair(&lt(&x, &lit(4)), &ix1(&x))
        });
        Acc::permute(&comb, &defaults, &index, &a, here())
    });
    let mut expected = vec![0, 1, 2, 3];
    xs.iter().filter(|x| **x < 4).for_each(|x| expected[*x as usize] = x + 10 * expected[*x as usize]);
    assert_eq!(got, ints(&[4], expected));
}

#[test]
fn permute_does_not_change_its_defaults() {
    let got = run::<Arr<D1, i64>, _>(&ints(&[2], vec![1, 2]), |a, _| {
        let b = Acc::permute(&plus(), &a, &fun1(|ix: Exp<_, _, D1>| Exp::pair(&lit(true), &ix)), &a, here());
        Acc::pair(&a, &b)
    });
    assert_eq!(got, ArrayTuple::pair(ints(&[2], vec![1, 2]), ints(&[2], vec![2, 4])));
}

#[test]
fn permute_checks_its_targets() {
    let e = fails::<Arr<D1, i64>, _>(&ints(&[3], vec![0, 1, 2]), |a, _| {
        let index = fun1(|ix: Exp<_, _, D1>| Exp::pair(&lit(true), &ix1(&add(&ix.snd(), &lit(1)))));
        Acc::permute(&plus(), &a, &index, &a, here())
    });
    assert!(e.contains("`f` at") && e.contains("index [3] is outside the shape [3]"), "{e}");
}

#[test]
fn backpermute_gathers() {
    let got = run::<Arr<D2, i64>, _>(&ints(&[2, 3], upto(6)), |a, v| {
        let sh: Exp<HNil, _, D2> = Exp::shape(&v);
        let transposed = ix2(&sh.snd(), &sh.fst().snd());
        Acc::backpermute(
            &ShapeTy::known(),
            &transposed,
            &fun1(|ix: Exp<_, _, D2>| ix2(&ix.snd(), &ix.fst().snd())),
            &a,
            here(),
        )
    });
    let x = upto(6);
    assert_eq!(got, ints(&[3, 2], vec![x[0], x[3], x[1], x[4], x[2], x[5]]));
    let e = fails::<Arr<D1, i64>, _>(&ints(&[3], upto(3)), |a, _| {
        Acc::backpermute(
            &ShapeTy::known(),
            &ix1(&lit(1)),
            &fun1(|ix: Exp<_, _, D1>| ix1(&sub(&ix.snd(), &lit(1)))),
            &a,
            here(),
        )
    });
    assert!(e.contains("`f` at") && e.contains("index [-1] is outside the shape [3]"), "{e}");
    // Nothing is read for an empty result.
    let got = run::<Arr<D1, i64>, _>(&ints(&[0], vec![]), |a, _| {
        Acc::backpermute(&ShapeTy::known(), &ix1(&lit(0)), &fun1(|ix: Exp<_, _, D1>| ix), &a, here())
    });
    assert_eq!(got, ints(&[0], vec![]));
}

#[test]
fn reshape_keeps_the_elements() {
    let arg = ints(&[2, 3], upto(6));
    let reshape =
        |a: &Acc<_, _>, m, n| Acc::reshape(&ShapeTy::known(), &ix2(&lit::<HNil, _, i64>(m), &lit(n)), a, here());
    let got = run::<Arr<D2, i64>, Arr<D2, i64>>(&arg, |a, _| reshape(&a, 6, 1));
    assert_eq!(got, ints(&[6, 1], upto(6)));
    for (m, n, says) in [(2, 2, "6 elements"), (-2, -3, "not negative"), (i64::MAX, 4, "memory")] {
        let e = fails::<Arr<D2, i64>, Arr<D2, i64>>(&arg, |a, _| reshape(&a, m, n));
        assert!(e.contains("`f` at") && e.contains(says), "{e}");
    }
    let got = run::<Arr<D1, i64>, _>(&ints(&[0], vec![]), |a, _| {
        Acc::reshape(&ShapeTy::known(), &ix2(&lit::<HNil, _, i64>(0), &lit(5)), &a, here())
    });
    assert_eq!(got, ints(&[0, 5], vec![]));
}

#[test]
fn replicate_repeats_along_new_dimensions() {
    // From the outermost dimension: new 2, kept, new 2, kept.
    let spec = SliceSpec::nil().fix().keep().fix().keep();
    let x = upto(6);
    let got = run::<Arr<D2, i64>, _>(&ints(&[2, 3], x.clone()), |a, _| {
        Acc::replicate(&spec, &ix2(&lit(4), &lit(2)), &a, here())
    });
    let mut expected = vec![];
    for _ in 0..4 {
        for i in 0..2 {
            for _ in 0..2 {
                expected.extend_from_slice(&x[i * 3..(i + 1) * 3]);
            }
        }
    }
    assert_eq!(got, ints(&[4, 2, 2, 3], expected));
    // Zero times, and from rank 0.
    let spec = SliceSpec::nil().fix();
    let copies = |n: i64| {
        let spec = spec.clone();
        try_run::<Arr<Z, i64>, _>(&ints(&[], vec![7]), move |a, _| Acc::replicate(&spec, &ix1(&lit(n)), &a, here()))
    };
    assert_eq!(copies(3).expect("runs"), ints(&[3], vec![7, 7, 7]));
    assert_eq!(copies(0).expect("runs"), ints(&[0], vec![]));
    let e = copies(-1).expect_err("fails").to_string();
    assert!(e.contains("`f` at") && e.contains("not negative"), "{e}");
    let e = copies(1 << 62).expect_err("fails").to_string();
    assert!(e.contains("`f` at") && e.contains("memory"), "{e}");
}

#[test]
fn slice_cuts_dimensions() {
    let x = upto(24);
    let cut = |i: i64| {
        let spec = SliceSpec::nil().keep().fix().keep();
        try_run::<Arr<D3, i64>, _>(&ints(&[2, 3, 4], x.clone()), move |a, _| {
            Acc::slice(&spec, &ix1(&lit(i)), &a, here())
        })
    };
    let expected = (0..2).flat_map(|i| x[i * 12 + 4..i * 12 + 8].to_vec()).collect();
    assert_eq!(cut(1).expect("runs"), ints(&[2, 4], expected));
    for i in [-1, 3] {
        let e = cut(i).expect_err("fails").to_string();
        assert!(e.contains("`f` at") && e.contains(&format!("index [{i}] is outside the shape [3]")), "{e}");
    }
    let all = SliceSpec::nil().fix().fix();
    let got =
        run::<Arr<D2, i64>, _>(&ints(&[2, 3], upto(6)), |a, _| Acc::slice(&all, &ix2(&lit(1), &lit(2)), &a, here()));
    assert_eq!(got, ints(&[], vec![upto(6)[5]]));
}

// ---- scalar code

#[test]
fn conditionals_run_only_the_branch_that_is_taken() {
    // 100 / x where x is not 0.
    let got = run::<Arr<D1, i64>, _>(&ints(&[3], vec![5, 0, -7]), |a, _| {
        let f = fun1(|x: Exp<_, _, i64>| {
            Exp::cond(&op2(Op2::Cmp(Cmp::Eq), &x, &lit(0)), &lit(-1), &num(Num2::Div, &lit(100), &x))
        });
        Acc::map(&f, &a, here())
    });
    assert_eq!(got, ints(&[3], vec![20, -1, -14]));
}

#[test]
fn division_by_zero_names_the_array_operation() {
    for op in [Num2::Div, Num2::Rem] {
        let e = try_run::<Arr<D1, i64>, _>(&ints(&[1], vec![0]), |a, _| {
            Acc::map(&fun1(|x: Exp<_, _, i64>| num(op, &lit(1), &x)), &a, here())
        });
        let e = e.expect_err("fails");
        assert!(matches!(e, Error::DivisionByZero { .. }));
        let e = e.to_string();
        assert!(e.contains("division by zero") && e.contains(" in `f` at") && e.contains("interp.rs"), "{e}");
    }
}

#[test]
fn indices_are_checked() {
    let read = |i: i64, j: i64, at: Src| {
        try_run::<Arr<D2, i64>, _>(&ints(&[2, 3], upto(6)), |_, v| {
            Acc::generate(
                &ShapeTy::known(),
                &unit(),
                &fun1(|_: Exp<_, _, Z>| Exp::index(&v, &ix2(&lit(i), &lit(j)), at)),
                here(),
            )
        })
    };
    assert_eq!(read(1, 2, None).expect("runs"), ints(&[], vec![upto(6)[5]]));
    for (i, j) in [(2, 0), (0, 3), (-1, 0), (0, -1), (i64::MIN, i64::MAX)] {
        let e = read(i, j, here()).expect_err("fails").to_string();
        assert!(e.contains("`f` at") && e.contains(&format!("[{i}, {j}] is outside the shape [2, 3]")), "{e}");
        let e = read(i, j, None).expect_err("fails").to_string();
        assert!(e.contains("`index` in `f` at"), "{e}");
    }
}

#[test]
fn expression_loops_update_their_state_at_once() {
    // (a, (b, n)): while n < x { (b, (a + b, n + 1)) }: Fibonacci numbers.
    type State = (i64, (i64, i64));
    let got = run::<Arr<D1, i64>, _>(&ints(&[4], vec![0, 1, 2, 10]), |a, _| {
        let f = fun1(|x: Exp<_, _, i64>| {
            let s: Exp<HCons<State, E1<i64>>, _, State> = Exp::var(&Idx::zero(&Ty::of()));
            let (a, b, n) = (s.fst(), s.snd().fst(), s.snd().snd());
            let cond = lt(&n, &x.weaken(&Thinning::shift()));
            let body = Exp::pair(&b, &Exp::pair(&add(&a, &b), &add(&n, &lit(1))));
            Exp::while_(&cond, &body, &Exp::pair(&lit(0), &Exp::pair(&lit(1), &lit(0))), here()).fst()
        });
        Acc::map(&f, &a, here())
    });
    assert_eq!(got, ints(&[4], vec![0, 1, 1, 55]));
    // A swap.
    let got = run::<Arr<D1, (i64, i64)>, _>(&pairs(&[2], &[(1, 2), (4, 3)]), |a, _| {
        let f = fun1(|x: Exp<_, _, (i64, i64)>| {
            let s: Exp<HCons<(i64, i64), E1<(i64, i64)>>, _, (i64, i64)> = Exp::var(&Idx::zero(&Ty::of()));
            Exp::while_(&lt(&s.snd(), &s.fst()), &Exp::pair(&s.snd(), &s.fst()), &x, here())
        });
        Acc::map(&f, &a, here())
    });
    assert_eq!(got, pairs(&[2], &[(1, 2), (3, 4)]));
}

#[test]
fn nested_loops_start_afresh() {
    // The sum over i < x of the sum over j < i of j.
    fn sum_below<E: 'static, A>(
        bound: &Exp<E, A, i64>,
        term: impl FnOnce(&Exp<HCons<(i64, i64), E>, A, i64>) -> Exp<HCons<(i64, i64), E>, A, i64>,
    ) -> Exp<E, A, i64> {
        let s: Exp<HCons<(i64, i64), E>, A, (i64, i64)> = Exp::var(&Idx::zero(&Ty::of()));
        let cond = lt(&s.fst(), &bound.weaken(&Thinning::shift()));
        let body = Exp::pair(&add(&s.fst(), &lit(1)), &add(&s.snd(), &term(&s.fst())));
        Exp::while_(&cond, &body, &Exp::pair(&lit(0), &lit(0)), here()).snd()
    }
    let got = run::<Arr<D1, i64>, _>(&ints(&[4], vec![0, 1, 3, 6]), |a, _| {
        Acc::map(&fun1(|x: Exp<E1<i64>, _, i64>| sum_below(&x, |i| sum_below(i, |j| j.clone()))), &a, here())
    });
    let expected = |n: i64| (0..n).map(|i| (0..i).sum::<i64>()).sum();
    assert_eq!(got, ints(&[4], [0, 1, 3, 6].map(expected).to_vec()));
}

#[test]
fn long_chains_of_lets() {
    // x -> let x = x + 1 in … (100,000 times), built from the inside.
    let n = 100_000;
    let got = run::<Arr<D1, i64>, _>(&ints(&[2], vec![0, 5]), |a, _| {
        let f = fun1(|x: Exp<E1<i64>, _, i64>| {
            let step = |e: &Exp<HCons<i64, E1<i64>>, Args<Arr<D1, i64>>, i64>| {
                let v: Exp<HCons<i64, E1<i64>>, _, i64> = Exp::var(&Idx::zero(&Ty::of()));
                // `e` is a function of the variable bound last; the one below it is not used.
                let under = e.weaken(&Thinning::shift().lift());
                Exp::let_(&add(&v, &lit(1)), &under)
            };
            let mut body: Exp<HCons<i64, E1<i64>>, _, i64> = Exp::var(&Idx::zero(&Ty::of()));
            for _ in 0..n {
                body = step(&body);
            }
            Exp::let_(&x, &body)
        });
        Acc::map(&f, &a, here())
    });
    assert_eq!(got, ints(&[2], vec![n, n + 5]));
}

#[test]
fn long_chains_of_array_lets_reuse_memory() {
    let (n, len) = (10_000, 10);
    type V = Arr<D1, i64>;
    let p = program::<V, _>(|a, _| {
        let inc = |a: &Acc<HCons<V, Args<V>>, V>| Acc::map(&fun1(|x| add(&x, &lit(1))), a, None);
        let v = Acc::var(&Idx::zero(&Ty::of()));
        let mut body: Acc<HCons<V, Args<V>>, V> = v.clone();
        for _ in 0..n {
            body = Acc::let_(&inc(&v), &body.weaken(&Thinning::shift().lift()));
        }
        Acc::let_(&a, &body)
    });
    let (got, peak) = Interpreted::new(&p).run_measured(&ints(&[len], vec![0; len])).expect("runs");
    assert_eq!(got, ints(&[len], vec![n; len]));
    assert_eq!(peak, 2 * 8 * len, "only one source and one result at a time");
}

// ---- control and tuples

#[test]
fn array_conditionals_compute_only_the_chosen_branch() {
    let choose = |c: i64| {
        run::<Arr<Z, i64>, _>(&ints(&[], vec![c]), |a, v| {
            let x: Exp<HNil, _, i64> = Exp::index(&v, &unit(), here());
            // The other branch would divide by zero.
            let bad = Acc::map(&fun1(|x: Exp<_, _, i64>| num(Num2::Div, &x, &lit(0))), &a, here());
            Acc::cond(
                &lt(&x, &lit(0)),
                &Acc::pair(&a, &a),
                &Acc::cond(
                    &lit(true),
                    &Acc::pair(&a, &Acc::map(&fun1(|x| mul(&x, &x)), &a, here())),
                    &Acc::pair(&a, &bad),
                    here(),
                ),
                here(),
            )
        })
    };
    assert_eq!(choose(-3), ArrayTuple::pair(ints(&[], vec![-3]), ints(&[], vec![-3])));
    assert_eq!(choose(3), ArrayTuple::pair(ints(&[], vec![3]), ints(&[], vec![9])));
}

#[test]
fn array_loops() {
    // (xs, ys): while sum xs < 100 { (ys, xs + ys) }
    type V = Arr<D1, i64>;
    let arg = ArrayTuple::pair(ints(&[2], vec![0, 1]), ints(&[2], vec![1, 1]));
    let p = program::<(V, V), _>(|a, _| {
        let s: Acc<HCons<(V, V), Args<(V, V)>>, (V, V)> = Acc::var(&Idx::zero(&Ty::of()));
        let sum = Acc::fold(&plus(), &lit(0), &s.fst(), here());
        let cond = Acc::map(&fun1(|x| lt(&x, &lit(100))), &sum, here());
        let body = Acc::pair(&s.snd(), &Acc::zip_with(&plus(), &s.fst(), &s.snd(), here()));
        Acc::while_(&cond, &body, &a, here())
    });
    let (got, peak) = Interpreted::new(&p).run_measured(&arg).expect("runs");
    let (mut x, mut y) = ([0, 1], [1, 1]);
    while x[0] + x[1] < 100 {
        (x, y) = (y, [x[0] + y[0], x[1] + y[1]]);
    }
    assert_eq!(got, ArrayTuple::pair(ints(&[2], x.to_vec()), ints(&[2], y.to_vec())));
    // The argument, the state, and the next state.
    assert!(peak <= (2 + 2 + 1) * 16 + 9, "the state does not pile up: {peak} bytes");
}

#[test]
fn tuples_of_arrays_and_constants() {
    let lit_array =
        Literal::check(ArrayTuple::pair(ints(&[2], vec![7, 8]), ArrayTuple::Unit), &Ty::<(Arr<D1, i64>, ())>::of());
    let lit_array = lit_array.expect("has the type");
    let got = run::<(Arr<Z, i64>, Arr<Z, bool>), _>(
        &ArrayTuple::pair(ints(&[], vec![1]), array(&[], vec![vec![true].into()])),
        |a, _| {
            Acc::pair(&Acc::pair(&a.snd(), &Acc::unit()), &Acc::pair(&Acc::use_(&lit_array, here()).fst(), &a.fst()))
        },
    );
    let truth = array(&[], vec![vec![true].into()]);
    let expected = ArrayTuple::pair(
        ArrayTuple::pair(truth, ArrayTuple::Unit),
        ArrayTuple::pair(ints(&[2], vec![7, 8]), ints(&[], vec![1])),
    );
    assert_eq!(got, expected);
}

#[test]
fn unused_components_are_freed_before_the_end() {
    // let p = (map f a, map f a) in map f (map f (fst p)): the argument and p, then two arrays at a time.
    type V = Arr<D1, i64>;
    let p = program::<V, _>(|a, _| {
        let inc = fun1(|x| add(&x, &lit(1)));
        let m = Acc::map(&inc, &a, None);
        let v: Acc<HCons<(V, V), Args<V>>, (V, V)> = Acc::var(&Idx::zero(&Ty::of()));
        let inc = inc.aweaken(&Thinning::shift());
        let body = Acc::map(&inc, &Acc::map(&inc, &v.fst(), None), None);
        Acc::let_(&Acc::pair(&m, &m), &body)
    });
    let (got, peak) = Interpreted::new(&p).run_measured(&ints(&[4], vec![0; 4])).expect("runs");
    assert_eq!(got, ints(&[4], vec![3; 4]));
    assert_eq!(peak, 2 * 32 + 32);
}

#[test]
fn arguments_are_checked() {
    let p = program::<(Arr<D1, f64>, Arr<D2, i64>), _>(|a, _| a);
    let run = |a, b| Interpreter.compile(&p).expect("compiles").run(&ArrayTuple::pair(a, b));
    assert!(run(floats(vec![1.0]), ints(&[1, 1], vec![1])).is_ok());
    for (a, b) in [
        (floats(vec![1.0]), ints(&[1], vec![1])),
        (ints(&[1], vec![1]), ints(&[1, 1], vec![1])),
        (array(&[2], vec![vec![1.0].into()]), ints(&[1, 1], vec![1])),
        (floats(vec![1.0]), ints(&[usize::MAX, 2], vec![1])),
        (floats(vec![1.0]), ArrayTuple::Unit),
    ] {
        let e = run(a, b).expect_err("fails").to_string();
        assert!(e.contains("argument") && e.contains("(Array1<f64>, Array2<i64>)"), "{e}");
    }
    // Elements without scalars need no memory, but there cannot be more than can be counted.
    let p = program::<Arr<D2, ()>, _>(|a, _| Acc::scan(Dir::Left, &fun2(|x, _| x), &unit(), &a, None));
    for sh in [[0, usize::MAX], [1 << 40, 1 << 40]] {
        let e = Interpreter.compile(&p).expect("compiles").run(&array(&sh, vec![])).expect_err("fails").to_string();
        assert!(e.contains("`argument`"), "{e}");
    }
}

#[test]
fn a_program_can_run_many_times_and_in_threads() {
    let p = program::<Arr<D1, i64>, _>(|a, _| Acc::fold(&plus(), &lit(0), &a, here()));
    let exe = Interpreter.compile(&p).expect("compiles");
    std::thread::scope(|s| {
        let runs: Vec<_> = (0..4i64)
            .map(|k| {
                s.spawn({
                    let exe = &exe;
                    move || exe.run(&ints(&[2], vec![k, 1]))
                })
            })
            .collect();
        for (k, r) in runs.into_iter().enumerate() {
            assert_eq!(r.join().expect("no panic").expect("runs"), ints(&[], vec![k as i64 + 1]));
        }
    });
}

#[test]
fn booleans_and_shapes() {
    // Whether all elements are in range, with the extent from the shape.
    let got = run::<Arr<D1, i64>, _>(&ints(&[3], vec![0, 2, 1]), |a, v| {
        let ok = Acc::map(
            &fun1(|x: Exp<_, _, i64>| {
                let n = Exp::shape(&v).snd();
                op2(Op2::Logic(Logic::And), &lt(&x, &n), &op1(Op1::Not, &lt(&x, &lit(0))))
            }),
            &a,
            here(),
        );
        Acc::fold(&fun2(|x, y| op2(Op2::Logic(Logic::And), &x, &y)), &lit(true), &ok, here())
    });
    assert_eq!(got, array(&[], vec![vec![true].into()]));
}

/// How long a scalar operation takes; for people (`cargo test --release -- --ignored --nocapture nanoseconds`).
#[test]
#[ignore = "a measurement"]
fn nanoseconds_per_scalar_operation() {
    let n = 1_000_000;
    type V = Arr<D1, f64>;
    let p = program::<V, _>(|a, _| {
        let f = fun1(|x: Exp<_, _, f64>| {
            let mut y = x.clone();
            for k in 0..5 {
                y = add(&mul(&y, &x), &lit(k as f64));
            }
            y
        });
        Acc::map(&f, &a, None)
    });
    let exe = Interpreter.compile(&p).expect("compiles");
    let arg = floats((0..n).map(|i| i as f64 / n as f64).collect());
    for _ in 0..3 {
        let start = std::time::Instant::now();
        exe.run(&arg).expect("runs");
        println!("{:.1} ns per scalar operation", start.elapsed().as_nanos() as f64 / (10 * n) as f64);
    }
}
