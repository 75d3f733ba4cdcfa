//! Components of tuples that are not used.

use crate::support::{after, derivative, mapped};
use accel_core::prelude::*;
use accel_fusion::Rule;
use insta::assert_snapshot;

type V = Acc<Vector<f64>>;

#[test]
fn pairs() {
    assert_snapshot!(mapped(|x: Exp<f64>| snd(pair(x.sin(), fst(pair(x.cos(), x)))), &[Rule::Projection]), @"");
}

#[test]
fn elements() {
    // The sine is not computed, and the array has one component.
    let f = afun(|xs: V| {
        let both = map(|x| pair(x.sin(), x.cos()), xs);
        zip_with(|a, b| snd(a) * b, both, generate(xs.shape(), |i| snd(both.at(i)) + 1.0))
    });
    assert_snapshot!(after(&f, &[Rule::UnusedComponent, Rule::Retuple]), @"");
    // Through operations that copy elements.
    let f = afun(|xs: V| {
        let both = map(|x| pair(x.sin(), x.cos()), xs);
        let turned = reverse(both);
        zip_with(|a, b| fst(a) + fst(b), turned, both)
    });
    assert_snapshot!(after(&f, &[Rule::UnusedComponent, Rule::Retuple]), @"");
}

#[test]
fn folds_need_all_components() {
    let f = afun(|xs: V| {
        let both = map(|x| pair(x.sin(), x.cos()), xs);
        let (a, _) =
            unzip(fold_all(|a, b| pair(fst(a) + snd(b), snd(a)), pair(lit::<f64>(0.0), lit::<f64>(1.0)), both));
        a
    });
    assert_snapshot!(after(&f, &[]), @"");
}

#[test]
fn conditionals() {
    let f = |x: Exp<f64>| {
        let chosen = cond(x.lt(0.0), pair(x.sin(), pair(x.exp(), x)), pair(x.cos(), pair(x, x.tan())));
        fst(chosen) * snd(snd(chosen)) + fst(chosen)
    };
    assert_snapshot!(mapped(f, &[Rule::UnusedComponent]), @"");
}

#[test]
fn operands_and_adjoint_zeros() {
    let f = afun(|xs: V| {
        let zeros = map(|_| lit::<f64>(0.0), xs);
        zip_with(|x, y| x + y, zeros, map(|x| x.sin(), xs))
    });
    assert_snapshot!(after(&f, &[Rule::Retuple, Rule::UnusedOperand]), @"");
    assert_snapshot!(derivative(&f).to_string(), @"");
}
