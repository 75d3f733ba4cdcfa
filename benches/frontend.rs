//! The front end: from closures to the gradient program, for chains and for wide programs. What counts is that the time per
//! operation stays flat: criterion's throughput is operations per second.

use accel::prelude::*;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::time::Duration;

type Xs = Acc<Vector<f64>>;
type Program = Afun<Vector<f64>, Scalar<f64>>;

/// Every operation uses the one before twice, so that each is bound by a let.
fn scalar_chain(n: usize) -> Program {
    afun(move |xs: Xs| sum(map(|x| (0..n / 2).fold(x, |e, _| (e + e).sin()), xs)))
}

/// Operations that do not depend on each other, added up.
fn scalar_wide(n: usize) -> Program {
    afun(move |xs: Xs| sum(map(|x| (0..n / 2).fold(x, |total, i| total + (x * i as f64)), xs)))
}

/// Maps and zips in turn.
fn array_chain(n: usize) -> Program {
    let step = |a: Xs, i: usize| match i % 2 {
        0 => map(|x| x.sin(), a),
        _ => zip_with(|x, y| x + y, a, a),
    };
    afun(move |xs: Xs| sum((0..n).fold(xs, step)))
}

/// Maps that do not depend on each other, added up.
fn array_wide(n: usize) -> Program {
    afun(move |xs: Xs| {
        let total = (0..n / 2).fold(xs, |total, i| zip_with(|x, y| x + y, total, map(|x| x * i as f64, xs)));
        sum(total)
    })
}

fn frontend(c: &mut Criterion) {
    let shapes: [(&str, fn(usize) -> Program, &[usize]); 4] = [
        ("scalar chain", scalar_chain, &[100, 1_000, 10_000, 100_000]),
        ("scalar wide", scalar_wide, &[100, 1_000, 10_000, 100_000]),
        ("array chain", array_chain, &[100, 1_000, 10_000]),
        ("array wide", array_wide, &[100, 1_000, 10_000]),
    ];
    for (name, program, sizes) in shapes {
        let mut group = c.benchmark_group(name);
        group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
        for &n in sizes {
            group.throughput(Throughput::Elements(n as u64));
            group.bench_with_input(BenchmarkId::new("elaborate", n), &n, |b, &n| b.iter(|| program(n)));
            let ready = program(n);
            group.bench_with_input(BenchmarkId::new("grad", n), &n, |b, _| b.iter(|| grad(&ready)));
        }
        group.finish();
    }
}

criterion_group!(benches, frontend);
criterion_main!(benches);
