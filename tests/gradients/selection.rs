//! Vectors whose lengths depend on elements: their derivatives are gathers and scatters.

use crate::harness::{V, jacobian, kinked};
use crate::refined::{Any, Few, FewValues, NonEmpty};
use accel::prelude::*;

#[test]
fn selected_elements() {
    kinked(Any, |a: V| sum(map(|x| x * x, filter(|x| x.gt(0.3), a))));
    kinked(Any, |a: V| {
        let (high, low) = partition(|x| x.gt(0.0), a);
        unit(the(sum(map(|x| x.sin(), high))) * the(sum(map(|x| x * x, low))))
    });
    kinked(FewValues, |a: V| sum(imap(|i, x| x * x * i.cast::<f64>(), unique(a))));
}

#[test]
fn sums_by_number() {
    jacobian(Few(Any), |a: V| sums_at(3, generate(a.len(), |i| i % 4 - 1), map(|x| x * x, a)));
    jacobian(Few(NonEmpty), |a: V| {
        let segments = expand(generate(a.len(), |i| i % 3));
        map(|k| a.at(k) * a.at(k), segments)
    });
}

#[test]
fn numbered_steps() {
    jacobian(Few(NonEmpty), |a: V| aiterate_indexed(a.len(), |i, xs: V| update(xs, i, |x| x * x + a.at(0)), a));
    jacobian(Few(Any), |a: V| aiterate_indexed(3, |i, xs: V| map(|x| x * (i + 1).cast::<f64>(), xs), a));
    jacobian(Few(Any), |a: V| aiterate_indexed(-1, |_, xs: V| map(|x| x * x, xs), a));
}

/// Values, beside plain Rust: empty vectors, nothing and all kept, equal elements, numbers outside.
#[test]
fn values() {
    let integers = |xs: &[i64]| Array::vector(xs.to_vec());
    for xs in [&[][..], &[5], &[3, -1, 4, -1, 5, -9, 2, 6], &[-2, -2], &[7, 7, 7]] {
        let array = integers(xs);
        let positive = afun(|xs: Acc<Vector<i64>>| partition(|x| x.gt(0), xs));
        let (found, others) = run(&positive, &array).unwrap();
        assert_eq!(found.to_vec(), xs.iter().copied().filter(|x| *x > 0).collect::<Vec<_>>());
        assert_eq!(others.to_vec(), xs.iter().copied().filter(|x| *x <= 0).collect::<Vec<_>>());
        let mut expected = xs.to_vec();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(run(afun(unique::<i64>), &array).unwrap().to_vec(), expected);
        let counts: Vec<i64> = (0..6).map(|k| xs.iter().filter(|x| **x == k).count() as i64).collect();
        assert_eq!(run(afun(|xs: Acc<Vector<i64>>| bincount(6, xs)), &array).unwrap().to_vec(), counts);
        let segments: Vec<i64> = (0..xs.len()).flat_map(|k| vec![k as i64; xs[k].max(0) as usize]).collect();
        assert_eq!(run(afun(expand), &array).unwrap().to_vec(), segments);
    }
}
