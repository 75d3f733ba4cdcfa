//! Shapes, and operations on arrays.

use crate::support::after;
use accel_core::prelude::*;
use accel_fusion::Rule;
use insta::assert_snapshot;

type V = Acc<Vector<f64>>;
type M = Acc<Matrix<f64>>;

#[test]
fn shapes_of_results() {
    let f = afun(|xs: V| generate(shape(map(|x| x.sin(), xs)), |i| xs.at(i) + 1.0));
    assert_snapshot!(after(&f, &[Rule::Shape, Rule::DeadArray]), @"");
    let f = afun(|m: M| {
        let (sums, n) = (sum(m), lit::<i64>(3));
        let copies = replicate((All, n), sums);
        let (a, b) = copies.shape();
        unit(a * 100 + b * 10 + sums.shape())
    });
    assert_snapshot!(after(&f, &[Rule::Shape]), @"");
    let constants: Vector<f64> = Array::vector(vec![1.0, 2.0]);
    let f = afun(|c: Acc<Scalar<i64>>| unit(the(c) + use_(&constants).shape()));
    assert_snapshot!(after(&f, &[Rule::Shape]), @"");
}

#[test]
fn comparisons_of_equal_extents() {
    let f = afun(|xs: V| {
        let (a, b) = (map(|x| x.sin(), xs), generate(xs.shape(), |_| lit::<f64>(1.0)));
        acond(a.shape().eq(b.shape()), a, b)
    });
    assert_snapshot!(after(&f, &[Rule::CompareSame, Rule::KnownCondition]), @"");
    let f = afun(|xs: V, ys: V| unit(zip_with(|x, y| x + y, xs, ys).shape().eq(xs.shape())));
    assert_snapshot!(after(&f, &[]), @"");
}

#[test]
fn identities_of_arrays() {
    assert_snapshot!(after(&afun(|xs: V| map(|x| x / 1.0, xs)), &[Rule::MapIdentity]), @"");
    assert_snapshot!(after(&afun(|m: M| backpermute(m.shape(), |(i, j)| (i, j), m)), &[Rule::GatherIdentity]), @"");
    assert_snapshot!(after(&afun(|xs: V| generate(xs.shape(), |i| xs.at(i))), &[Rule::GatherIdentity]), @"");
    let f = afun(|m: M| {
        let (a, b) = m.shape();
        reshape((a, b), reshape(a * b, m))
    });
    assert_snapshot!(after(&f, &[Rule::Reshape]), @"");
    assert_snapshot!(after(&afun(|xs: V, ys: V| pair(xs, ys)), &[]), @"");
}

#[test]
fn a_gather_of_another_shape_stays() {
    assert_snapshot!(after(&afun(|xs: V| backpermute(xs.shape() - 1, |i| i, xs)), &[]), @"");
}

#[test]
fn constant_elements() {
    let scale: Scalar<f64> = Array::scalar(2.0);
    let f = afun(|xs: V| map(|x| x * the(use_(&scale)) * the(unit(lit::<f64>(1.0))), xs));
    assert_snapshot!(after(&f, &[Rule::ConstantElement]), @"");
}
