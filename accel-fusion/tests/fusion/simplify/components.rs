//! Unused components of tuples.

use super::support::{after, derivative, mapped};
use accel_core::prelude::*;
use accel_core::surface::{fst, snd};
use accel_fusion::Rule;
use insta::assert_snapshot;

type V = Acc<Vector<f64>>;

#[test]
fn pairs() {
    let f = |x: Exp<f64>| {
        let p = cond(constant(1i64).lt(2), pair(x.sin(), x.cos()), pair(x, x));
        snd(p) + pair_of_parts(p)
    };
    assert_snapshot!(mapped(f, &[Rule::Projection, Rule::KnownCondition]), @r"map (\x0 -> cos x0 + sin x0) a0");
    let f = |x: Exp<f64>| {
        let p = cond(x.lt(0.0), pair(x.sin(), x.cos()), pair(x, x));
        let q = cond(x.lt(1.0), pair(fst(p), snd(p)), p);
        fst(q) + snd(q)
    };
    assert_snapshot!(mapped(f, &[Rule::PairEta]), @r"map (\x0 -> let x1 = if x0 < 0.0 then (sin x0, cos x0) else (x0, x0) in x1.0 + x1.1) a0");
}

/// The first component, extracted by way of another pair.
fn pair_of_parts(p: Exp<(f64, f64)>) -> Exp<f64> {
    fst(pair(fst(p), snd(p)))
}

#[test]
fn elements() {
    // The sine is not computed, and the array has one column.
    let f = afun(|xs: V| {
        let both = map(|x| pair(x.sin(), x.cos()), xs);
        zip_with(|a, b| snd(a) * b, both, generate(xs.shape(), |i| snd(both.at(i)) + 1.0))
    });
    assert_snapshot!(after(&f, &[Rule::UnusedComponent, Rule::Retuple]), @r"
    let a1 = map (\x0 -> cos x0) a0
    zip_with (\x0 x1 -> x0 * x1) a1 (generate (shape a0) (\x0 -> a1 ! x0 + 1.0))
    ");
    // Components are also dropped through operations that copy elements.
    let f = afun(|xs: V| {
        let both = map(|x| pair(x.sin(), x.cos()), xs);
        let turned = reverse(both);
        zip_with(|a, b| fst(a) + fst(b), turned, both)
    });
    assert_snapshot!(after(&f, &[Rule::UnusedComponent, Rule::Retuple]), @r"
    let a1 = map (\x0 -> sin x0) a0
    zip_with (\x0 x1 -> x0 + x1) (backpermute (shape a0) (\x0 -> [(shape a0).1 - 1 - x0.1]) a1) a1
    ");
}

#[test]
fn folds_need_all_components() {
    let f = afun(|xs: V| {
        let both = map(|x| pair(x.sin(), x.cos()), xs);
        let (a, _) =
            unzip(fold_all(|a, b| pair(fst(a) + snd(b), snd(a)), pair(lit::<f64>(0.0), lit::<f64>(1.0)), both));
        a
    });
    assert_snapshot!(after(&f, &[]), @r"
    map
      (\x0 -> x0.0)
      (fold (\x0 x1 -> (x0.0 + x1.1, x0.1)) (0.0, 1.0) (map (\x0 -> (sin x0, cos x0)) a0))
    ");
}

#[test]
fn conditionals() {
    let f = |x: Exp<f64>| {
        let chosen = cond(x.lt(0.0), pair(x.sin(), pair(x.exp(), x)), pair(x.cos(), pair(x, x.tan())));
        fst(chosen) * snd(snd(chosen)) + fst(chosen)
    };
    assert_snapshot!(mapped(f, &[Rule::UnusedComponent]), @r"map (\x0 -> let x1 = if x0 < 0.0 then (sin x0, x0) else (cos x0, tan x0) in x1.0 * x1.1 + x1.0) a0");
}

#[test]
fn operands_and_adjoint_zeros() {
    let f = afun(|xs: V| {
        let zeros = map(|_| lit::<f64>(0.0), xs);
        zip_with(|x, y| x + y, zeros, map(|x| x.sin(), xs))
    });
    assert_snapshot!(after(&f, &[Rule::Retuple, Rule::UnusedOperand]), @r"map (\x0 -> 0.0 + x0) (map (\x0 -> sin x0) a0)");
    assert_snapshot!(derivative(&f).to_string(), @r"
    fn (a0: Array1<f64>) -> Array1<f64>
      map (\x0 -> sin x0) a0
    ");
}

#[test]
fn a_component_that_only_gives_an_extent_is_dropped_once() {
    let f = afun(|xs: V, is: Acc<Vector<i64>>| zip_with(|x, i| pair(x, i), xs, is));
    assert_snapshot!(after(&accel_ad::jvp(&f), &[Rule::UnusedComponent, Rule::Retuple]), @r"
    let a1 = a0.0.0
    let a2 = a0.1.0
    let a3 = a0.0.1
    let a4 = a0.1.1
    let a5 = agree [all jvp] (shape a3) (shape a4) (generate () (\x0 -> ()))
    let a6 = agree [all zip_with] (shape a1) (shape a3) a3
    (
      zip_with (\x0 x1 -> (x0, x1)) a1 a6,
      map
        (\x0 -> (x0.0, 0))
        (zip_with
          (\x0 x1 -> (x0, ()))
          (zip_with (\x0 x1 -> x1) a1 (agree [all jvp] (shape a1) (shape a2) a2))
          a6)
    )
    ");
}
