//! The front end: from closures to the gradient program, for chains and for wide programs; and the optimiser, also for
//! nests. The time per operation should stay constant. Criterion's throughput shows it, in operations per second. Then, what
//! a run costs besides its work.

#[path = "programs/long.rs"]
mod long;
#[path = "programs/lstm_cell.rs"]
mod lstm_cell;

use accel::prelude::*;
use accel::{Result, ast};
use accel_fusion::pipeline::{Optimized, Options, Pipeline, Target};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use long::{lstm, mixed};
use std::time::Duration;

type Xs = Acc<Vector<f64>>;
type Program = Afun<Vector<f64>, Scalar<f64>>;

/// Every operation uses the one before it twice, so that each is bound by a `let`.
fn scalar_chain(n: usize) -> Program {
    afun(move |xs: Xs| sum(map(|x| (0..n / 2).fold(x, |e, _| (e + e).sin()), xs)))
}

/// The sum of operations that do not depend on each other.
fn scalar_wide(n: usize) -> Program {
    afun(move |xs: Xs| sum(map(|x| (0..n / 2).fold(x, |total, i| total + (x * i as f64)), xs)))
}

/// Maps and zips alternately.
fn array_chain(n: usize) -> Program {
    let step = |a: Xs, i: usize| match i % 2 {
        0 => map(|x| x.sin(), a),
        _ => zip_with(|x, y| x + y, a, a),
    };
    afun(move |xs: Xs| sum((0..n).fold(xs, step)))
}

/// The sum of maps that do not depend on each other.
fn array_wide(n: usize) -> Program {
    afun(move |xs: Xs| {
        let total = (0..n / 2).fold(xs, |total, i| zip_with(|x, y| x + y, total, map(|x| x * i as f64, xs)));
        sum(total)
    })
}

/// Conditionals, each in the first branch of the next one.
fn conditionals(n: usize) -> Program {
    afun(move |xs: Xs| sum(map(|x| (0..n).fold(x, |y, i| cond(x.gt(i as f64), y, x * 2.0 + i as f64)), xs)))
}

/// The same for arrays.
fn array_conditionals(n: usize) -> Program {
    afun(move |xs: Xs| sum((0..n).fold(xs, |ys, i| acond(xs.at(0).gt(i as f64), ys, map(|x| x + i as f64, xs)))))
}

/// From the typed program to the kernel program from which C is generated.
fn optimised(program: &ast::Program) -> Optimized {
    let pipeline = Pipeline::new(program, Target::Processor, Options::default());
    pipeline.and_then(|p| p.optimized(true)).expect("a program that can be optimised")
}

/// The stages before the C compiler, in two parts.
fn optimiser(c: &mut Criterion) {
    let programs: [(&str, fn(usize) -> Result<ast::Program>); 6] = [
        ("maps", |n| array_chain(n).program().cloned()),
        ("gradient of maps", |n| grad(&array_chain(n)).program().cloned()),
        ("conditionals", |n| conditionals(n).program().cloned()),
        ("array conditionals", |n| array_conditionals(n).program().cloned()),
        ("mixed operations", |n| mixed(n).program().cloned()),
        ("gradient of mixed operations", |n| grad(&mixed(n)).program().cloned()),
    ];
    for (name, program) in programs {
        let mut group = c.benchmark_group(name);
        group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
        for n in [300, 1_000, 3_000] {
            group.throughput(Throughput::Elements(n as u64));
            group.bench_with_input(BenchmarkId::new("front end", n), &n, |b, &n| b.iter(|| program(n)));
            let ready = program(n).expect("a program");
            group.bench_with_input(BenchmarkId::new("optimise", n), &n, |b, _| b.iter(|| optimised(&ready)));
        }
        group.finish();
    }
}

/// The gradient of an unrolled loop.
fn unrolled(c: &mut Criterion) {
    let program = |n| value_and_grad(&lstm(n)).program().cloned().expect("a program");
    let mut group = c.benchmark_group("gradient of an unrolled LSTM");
    group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    for n in [20, 100] {
        group.throughput(Throughput::Elements(n as u64));
        group.bench_with_input(BenchmarkId::new("front end", n), &n, |b, &n| b.iter(|| program(n)));
        let ready = program(n);
        group.bench_with_input(BenchmarkId::new("optimise", n), &n, |b, _| b.iter(|| optimised(&ready)));
    }
    group.finish();
}

/// Runs on an array of ten elements, which cost nothing but the call.
fn runs(c: &mut Criterion) {
    let xs = Array::vector(vec![1.0; 10]);
    let squares = || afun(|xs: Xs| sum(map(|x| x * x, xs)));
    let prog = squares();
    let compiled = compile(&prog).expect("a program");
    let mut group = c.benchmark_group("run");
    group.bench_function("compiled program", |b| b.iter(|| compiled.run(&xs)));
    group.bench_function("program", |b| b.iter(|| run(&prog, &xs)));
    group.bench_function("gradient of a program", |b| b.iter(|| run(grad(&prog), &xs)));
    group.bench_function("function", |b| b.iter(|| run(squares(), &xs)));
    group.finish();
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

criterion_group!(benches, frontend, optimiser, unrolled, runs);
criterion_main!(benches);
