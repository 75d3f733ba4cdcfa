//! Each array operation has a gradient test: the programs here contain all of them, and those functions of the surface that no other
//! gradient test uses.

use crate::harness::{V, kinked, smooth};
use crate::refined::AtLeast3;
use accel::ast::ACC_OPS;
use accel::prelude::*;
use accel_core::pass::operations;
use std::collections::BTreeSet;

type Number = Acc<Scalar<f64>>;

fn squares(a: V) -> Number {
    sum(map(|x| x * x, a))
}

/// A matrix of two rows that depend on the vector.
fn rows(a: V) -> Acc<Matrix<f64>> {
    generate((2, a.len()), |(i, j)| a.at(j) * (i + 1).cast::<f64>() + (j - i).cast::<f64>())
}

/// The cubes of all elements, by a foreign function with a rule.
fn cubes() -> Afun<Vector<f64>, Vector<f64>> {
    let cubes = foreign(
        "cubes",
        |x: Vector<f64>| Ok::<_, Error>(Array::vector(x.to_vec().iter().map(|x| x * x * x).collect())),
        |x| x.len(),
    );
    custom_vjp(&cubes, |x, _, dy| x * x * dy * 3.0)
}

const PROGRAMS: &[fn(V) -> Number] = &[
    |a| sum(map(|x| x.sin(), a)),
    |a| sum(zip_with(|x, y| x * y, a, map(|x| x.cos(), reverse(a)))),
    |a| sum(zip_with3(|x, y, z| x * y + z.sin(), a, reverse(a), a)),
    |a| sum(map(|(x, y, z)| x * y.sin() + z, zip3(a, reverse(a), a))),
    |a| squares(generate(a.len() + 1, |i| a.at(i % a.len()) * 0.5)),
    |a| fold(|x, y| x + y + x * y * 0.1, 0.5, map(|x| x.tanh(), a)),
    |a| fold1(|x, y| x + y + x * y * 0.1, map(|x| x.tanh(), a)),
    |a| squares(scanl(|x, y| x + y, 0.5, a)),
    |a| squares(scanl1(|x, y| x + y, a)),
    |a| squares(scanr(|x, y| x + y, 0.5, a)),
    |a| squares(permute(|new, old| new + old, fill(3, 1.0), |i| (true, i % 3), a)),
    |a| squares(call(cubes(), a) * a),
    |a| squares(backpermute(a.len() * 2, |i| i % a.len(), a)),
    |a| sum(map(|x| x * x, sum(reshape((1, a.len()), a)))),
    |a| sum(product(replicate((a.len(), 2i64), unit(the(sum(map(|x| x.sin(), a))))))),
    |a| squares(slice((1i64, All), rows(a))),
    |a| sum(map(|x| sfoldl(|y: Exp<f64>, c: Exp<f64>| y * x * 0.1 + c, 0.0f64, (), a), a)),
    |a| sum(map(|x| x.clamp(-100.0, 100.0) * x, a)),
    |a| {
        let (x, y) = acond(a.len().gt(3), (a, reverse(a)), (reverse(a), map(|x| x.sin(), a)));
        sum(zip_with(|x, y| x * y, x, y))
    },
    |a| {
        let step = |(n, v): (Acc<Scalar<i64>>, V)| (map(|n: Exp<i64>| n + 1, n), map(|x| x * 0.5 + x.sin(), v));
        let (_, v) = awhile(|(n, _): (Acc<Scalar<i64>>, V)| the(n).lt(3), step, (unit(0i64), a));
        squares(v)
    },
];

/// Programs with kinks, which random inputs hit.
const KINKED: &[fn(V) -> Number] = &[
    |a| sum(imap(|i, x| x * i.cast::<f64>(), sort(a))),
    |a| maximum_all(map(|x| x * x, rows(a))),
    |a| minimum_all(map(|x| x.sin(), rows(a))),
];

#[test]
fn every_operation_has_a_gradient_test() {
    let mut found = BTreeSet::new();
    for f in PROGRAMS.iter().chain(KINKED) {
        let program = afun(|a: V| f(a));
        found.extend(operations(program.program().unwrap()));
        found.extend(operations(grad(&program).program().unwrap()));
    }
    PROGRAMS.iter().for_each(|f| smooth(AtLeast3, |a: V| f(a)));
    KINKED.iter().for_each(|f| kinked(AtLeast3, |a: V| f(a)));
    let missing: Vec<_> = ACC_OPS.iter().filter(|op| !found.contains(*op)).collect();
    assert!(missing.is_empty(), "no gradient test contains {missing:?}");
}
