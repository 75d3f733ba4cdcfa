//! Shapes, and operations on arrays.

use super::support::after;
use accel_core::prelude::*;
use accel_fusion::Rule;
use insta::assert_snapshot;

type V = Acc<Vector<f64>>;
type M = Acc<Matrix<f64>>;

#[test]
fn shapes_of_results() {
    let f = afun(|xs: V| generate(shape(map(|x| x.sin(), xs)), |i| xs.at(i) + 1.0));
    assert_snapshot!(after(&f, &[Rule::Shape, Rule::DeadArray]), @r"generate (shape a0) (\x0 -> a0 ! x0 + 1.0)");
    let f = afun(|m: M| {
        let (sums, n) = (sum(m), constant(3i64));
        let copies = replicate((All, n), sums);
        let (a, b) = copies.shape();
        unit(a * 100 + b * 10 + sums.shape())
    });
    assert_snapshot!(after(&f, &[Rule::Shape]), @r"generate () (\x0 -> (shape a0).0.1 * 100 + 30 + (shape a0).0.1)");
}

#[test]
fn comparisons_of_equal_extents() {
    let f = afun(|xs: V| {
        let (a, b) = (map(|x| x.sin(), xs), generate(xs.shape(), |_| lit::<f64>(1.0)));
        acond(a.shape().eq(b.shape()), a, b)
    });
    assert_snapshot!(after(&f, &[Rule::CompareSame, Rule::KnownCondition]), @r"map (\x0 -> sin x0) a0");
    let f = afun(|xs: V, ys: V| unit(zip_with_min(|x, y| x + y, xs, ys).shape().eq(xs.shape())));
    assert_snapshot!(after(&f, &[]), @r"
    let a1 = a0.0
    let a2 = zip_with (\x0 x1 -> ()) a1 a0.1
    generate () (\x0 -> (shape a2).1 == (shape a1).1)
    ");
}

#[test]
fn identities_of_arrays() {
    assert_snapshot!(after(&afun(|xs: V| map(|x| x / 1.0, xs)), &[Rule::MapIdentity]), @"a0");
    assert_snapshot!(after(&afun(|m: M| backpermute(m.shape(), |(i, j)| (i, j), m)), &[Rule::GatherIdentity]), @"a0");
    assert_snapshot!(after(&afun(|xs: V| generate(xs.shape(), |i| xs.at(i))), &[Rule::GatherIdentity]), @"a0");
    let f = afun(|m: M| {
        let (a, b) = m.shape();
        reshape((a, b), reshape(a * b, m))
    });
    // The size of a product is compared by later passes, which know more of numbers.
    assert_snapshot!(after(&f, &[Rule::Reshape]), @r"
    let a1 = agree [size reshape] [(shape a0).0.1 * (shape a0).1] (shape a0) (generate () (\x0 -> ()))
    a0
    ");
}

#[test]
fn a_gather_of_another_shape_stays() {
    assert_snapshot!(after(&afun(|xs: V| backpermute(xs.shape() - 1, |i| i, xs)), &[]), @r"backpermute [(shape a0).1 - 1] (\x0 -> x0) a0");
    let text = after(&afun(|xs: V, ys: V| generate(ys.shape(), |i| xs.at(i))), &[]);
    assert!(text.contains("generate"), "{text}");
}

#[test]
fn constant_elements() {
    let f = afun(|xs: V| map(|x| x * the(unit(lit::<f64>(2.0))), xs));
    assert_snapshot!(after(&f, &[Rule::ConstantElement]), @r"map (\x0 -> x0 * 2.0) a0");
    // The elements of a literal are data: the simplified code is the same for all of them.
    let scale: Scalar<f64> = Array::scalar(2.0);
    let f = afun(|xs: V| map(|x| x * the(use_(&scale)), xs));
    assert_snapshot!(after(&f, &[]), @r"
    let a1 = use Array0<f64>[]
    map (\x0 -> x0 * a1[]) a0
    ");
}

#[test]
fn an_extent_of_a_shape_that_is_named() {
    let f = afun(|m: M| {
        let sums = scanl(|a, b| a + b, 0.0, m);
        let (rows, columns) = sums.shape();
        unit(rows * 100 + rows * columns)
    });
    assert_snapshot!(after(&f, &[Rule::Shape]), @r"
    let a1 = scanl (\x0 x1 -> x0 + x1) 0.0 a0
    generate () (\x0 -> (shape a0).0.1 * 100 + (shape a0).0.1 * (shape a1).1)
    ");
}

#[test]
fn an_element_that_is_not_used_leaves_its_check() {
    let f = afun(|xs: V, ys: V, n: Acc<Scalar<i64>>| {
        let element = slice(the(n), zip_with(|_, _| lit::<f64>(2.0), xs, ys));
        acond(the(n).gt(1), map(|_| 1i64, element), n)
    });
    assert_snapshot!(after(&f, &[]), @r"
    let a1 = a0.1
    acond
      (a1[] > 1)
      (let a2 = a0.0.1
       let a3 = a0.0.0
       let a4 = zip_with (\x0 x1 -> ()) a3 (agree [all zip_with] (shape a3) (shape a2) a2)
       map (\x0 -> 1) (agree [inside slice] [a1[]] (shape a4) (generate () (\x0 -> ()))))
      a1
    ");
}
