//! Processes that cannot start threads.

use super::machine::{Machine, end};
use accel::SparsePattern;
use accel::prelude::*;
use std::process::Command;

/// No thread gets a stack of this size. Without threads, the compiler is not run, so the program is interpreted.
#[test]
fn without_threads_everything_runs_in_the_thread_itself() {
    let machine = Machine::new();
    for (backend, stack) in [("native", 1u64 << 46), ("native", 1 << 20), ("interp", 1 << 46)] {
        let mut part = Command::new(std::env::current_exe().unwrap());
        machine.environment(&mut part);
        part.env("RUST_MIN_STACK", stack.to_string()).env("ACCEL_BACKEND", backend);
        part.args(["--exact", "faults::threads::large_arrays", "--ignored", "--nocapture"]);
        let output = end(&mut part);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && said.contains("1 passed"), "{backend}, {stack}: {said}");
    }
}

/// Sums, sorts and products that threads would share.
#[test]
#[ignore = "a part"]
fn large_arrays() {
    let started = std::thread::Builder::new().spawn(|| {});
    let stack = std::env::var("RUST_MIN_STACK").ok().and_then(|bytes| bytes.parse::<u64>().ok());
    assert_eq!(started.is_err(), stack.is_some_and(|bytes| bytes > 1 << 40), "whether there are threads");
    let squares = afun(|xs: Acc<Vector<f64>>| map(|x| x * x, xs));
    let x = Array::vector(vec![1.0, 2.0, 3.0]);
    let jacobian = sparse_jacobian(&squares, SparsePattern::of(&squares, &x).unwrap()).unwrap().run(&x).unwrap();
    assert_eq!(jacobian.values(), [2.0, 4.0, 6.0]);
    let n = 300_000i64;
    let xs = Array::vector((0..n).map(|i| (i * 7919 % n) as f64).collect());
    let prog = afun(|xs: Acc<Vector<f64>>| {
        let m = generate((200, 200), |(i, j)| cond::<f64>(i.eq(j), 2.0, xs.at(i) * 0.0));
        (sort(xs), sum(map(|x| x.sqrt() * x.sqrt(), xs)), sum_all(matmul(m, m)))
    });
    let (sorted, total, product) = run(&prog, &xs).unwrap();
    assert!(sorted.iter().enumerate().all(|(i, x)| x == i as f64));
    let total = total.as_slice()[0];
    assert!((total / (n as f64 * (n - 1) as f64 / 2.0) - 1.0).abs() < 1e-9, "{total}");
    assert_eq!(product.as_slice(), [800.0]);
}
