//! The criterion of Smeding and Vákár: the cost of a gradient is at most a constant times the cost of the program plus the
//! size of its input, with one constant for all programs. Costs are counted in nodes of the tape, each of which the reverse
//! pass visits once.

use accel_dual::{Rev, custom, grad, jacobian, par_map, vjp};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of nodes of a program.
fn nodes<X: accel_dual::Differentiable<f64>>(f: impl FnOnce(X::With<Rev>) -> Rev, x: X) -> usize {
    vjp(f, x).unwrap().1.tape().nodes
}

#[test]
fn a_sharing_chain_of_a_hundred_thousand_is_linear() {
    // x' = x + x of the article. As functions of one number, these need no node at all.
    let one = |n: usize| move |x: Rev| (0..n).fold(x, |x, _| (x + x) * 0.5);
    assert_eq!(nodes(one(100_000), 1.5), 0);
    assert_eq!(grad(one(100_000), &1.5).unwrap(), 1.0);
    // With two numbers, each step is a node. Without sharing, the cost would be that of the Fibonacci numbers.
    let two = |n: usize| move |(x, y): (Rev, Rev)| (0..n).fold((x, y), |(x, y), _| ((x + y) * 0.5, x)).0;
    for n in [10, 1000, 100_000] {
        assert_eq!(nodes(two(n), (1.0, 2.0)), n);
    }
    let (dx, dy) = grad(two(100_000), &(1.0, 2.0)).unwrap();
    // The limit of the sequence is (2 x + y) / 3.
    assert!((dx - 2.0 / 3.0).abs() < 1e-12 && (dy - 1.0 / 3.0).abs() < 1e-12, "{dx} {dy}");
}

#[test]
fn each_function_of_the_call_graph_is_resolved_once() {
    // Section 6: f1 is used by f2 and f3, f2 by f3 and f4, f3 by f4. Without linear factoring, f1 is called five times.
    let calls: Arc<[AtomicUsize; 4]> = Arc::default();
    let function = |k: usize, inputs: &[(f64, Rev)]| {
        let value = inputs.iter().map(|(a, x)| a * x.value()).sum();
        let (factors, numbers): (Vec<f64>, Vec<Rev>) = inputs.iter().copied().unzip();
        let calls = calls.clone();
        let pullback = move |z: &[f64]| {
            calls[k - 1].fetch_add(1, Relaxed);
            Ok::<_, String>(factors.iter().map(|a| a * z[0]).collect())
        };
        custom("f", &numbers, &[value], pullback)[0]
    };
    let program = |x: Rev| {
        let f1 = function(1, &[(1.0, x)]);
        let f2 = function(2, &[(1.0, f1), (2.0, f1)]);
        let f3 = function(3, &[(4.0, f2), (5.0, f1)]);
        function(4, &[(1.0, f2), (2.0, f3)])
    };
    let (_, pullback) = vjp(program, 1.0).unwrap();
    for n in 1..=3 {
        // f2 gets 1 + 2 · 4 = 9, and f1 gets 9 · 3 + 2 · 5.
        assert_eq!(pullback.call(&1.0).unwrap(), 37.0);
        assert!(calls.iter().all(|c| c.load(Relaxed) == n));
    }
    // Nothing is called for an adjoint that is zero.
    assert_eq!(pullback.call(&0.0).unwrap(), 0.0);
    assert!(calls.iter().all(|c| c.load(Relaxed) == 3));
}

#[test]
fn programs_that_do_nothing_cost_nothing_but_their_input() {
    let large: Vec<f64> = (0..1_000_000).map(f64::from).collect();
    // The identity, the first part of a pair, a constant.
    assert_eq!(nodes(|x| x, 1.0), 0);
    let (y, pullback) = vjp(|(x, _): (Vec<Rev>, Vec<Rev>)| x, (vec![1.0, 2.0], large.clone())).unwrap();
    assert_eq!((y, pullback.tape().nodes), (vec![1.0, 2.0], 0));
    let (dx, dy) = pullback.call(&vec![3.0, 4.0]).unwrap();
    assert_eq!(dx, [3.0, 4.0]);
    assert!(dy.len() == large.len() && dy.iter().all(|d| *d == 0.0));
    let (_, pullback) = vjp(|x: (Vec<Rev>, Vec<Rev>)| x.0[0], (large.clone(), large.clone())).unwrap();
    assert_eq!(pullback.tape().nodes, 0);
    let dx = pullback.call(&2.0).unwrap().0;
    assert_eq!((dx[0], dx[1..].iter().sum::<f64>()), (2.0, 0.0));
    // Some bytes, but none for each input.
    assert!(pullback.tape().bytes < 1000, "{:?}", pullback.tape());
    assert_eq!(nodes(|_: Vec<Rev>| Rev::constant(3.0) * 5.0, large.clone()), 0);
    assert_eq!(nodes(|x: Vec<Rev>| x[1] * 2.0 + Rev::constant(4.0).exp(), large), 0);
}

#[test]
fn nodes_are_linear_in_the_operations() {
    for n in [10, 100, 1000, 10_000] {
        let xs = vec![1.5; n];
        // The sums of section 9.
        assert_eq!(nodes(|xs: Vec<Rev>| xs.iter().sum(), xs.clone()), n - 1);
        assert_eq!(nodes(|xs: Vec<Rev>| xs.iter().map(|x| *x + 1.0).sum(), xs.clone()), n - 1);
        let dot = |(a, b): (Vec<Rev>, Vec<Rev>)| a.iter().zip(&b).map(|(a, b)| *a * *b).sum();
        assert_eq!(nodes(dot, (xs.clone(), xs.clone())), 2 * n - 1);
        // In jobs: a node for each number that a job uses for the first time, and for each result.
        let parallel = |xs: Vec<Rev>| par_map(&xs, |x| *x * xs[0]).iter().sum();
        let found = nodes(parallel, xs.clone());
        assert!(found <= 5 * n + 64, "{found} nodes for {n} elements");
    }
}

#[test]
fn an_operation_needs_24_bytes() {
    let n = 100_000;
    let (_, pullback) = vjp(|(x, y): (Rev, Rev)| (0..n).fold(x, |z, _| z * y + x), (0.5, 0.5)).unwrap();
    let tape = pullback.tape();
    assert_eq!(tape.nodes, 2 * n);
    assert!(tape.bytes <= 24 * tape.nodes + 500, "{tape:?}");
}

#[test]
fn the_reverse_pass_skips_what_does_not_matter() {
    // The derivative of the part that is not used would be NaN.
    let f = |x: Rev| {
        let unused = (x - x).sqrt() * x.ln();
        if unused.value() == 0.0 { x * 2.0 } else { unused }
    };
    assert_eq!(grad(f, &1.0).unwrap(), 2.0);
    let (_, rows) = jacobian(|(x, y): (Rev, Rev)| [x * y, (x * y - 1.0).sqrt() * y], &(1.0, 1.0)).unwrap();
    assert_eq!(rows[0], (1.0, 1.0));
}
