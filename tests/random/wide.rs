//! Tests with random programs in the whole language: compares the interpreter with the evaluator of kernel programs,
//! with all passes of the optimiser, with native code and with OpenCL.

pub mod batching;
pub mod build;
mod chains;
pub mod data;
pub mod derivatives;
pub mod functions;
pub mod generate;
pub mod graph;
pub mod objective;
pub mod ops;
pub mod oracle;
pub mod plain;
#[rustfmt::skip]
#[allow(warnings, clippy::all)]
pub mod printed;
pub mod program;
pub mod runner;
pub mod rust;
pub mod scalar;
pub mod shrink;
pub mod small;
mod stencils;
pub mod surface;
pub mod types;
mod updating;

use self::oracle::Oracle;
use self::program::Program;
use self::runner::{check, compare, shrunk, write};
use self::small::{Features, SMOOTH};
use crate::budget::chunks;
use crate::smallest::smallest;
use crate::support::left_out;
use accel::ast::ACC_OPS;
use accel_core::pass::operations;
use std::collections::BTreeSet;
use std::mem::discriminant;
use std::path::Path;

const EVALUATORS: [Oracle; 5] = [Oracle::Kernel, Oracle::Passes, Oracle::General, Oracle::Traced, Oracle::Vectorized];

#[test]
fn programs_mean_the_same() {
    check(0..120, &EVALUATORS, &[], 1);
    check(0..24, &[], &[Oracle::Native], 12);
}

/// A new operation needs a [`Step`](self::program::Step) that produces it.
#[test]
fn every_operation_occurs() {
    let programs = (0..120).filter_map(|seed| self::build::build(&self::generate::program(seed).body, None).ok());
    let found: BTreeSet<_> = programs.flat_map(|p| operations(&p)).collect();
    let missing: Vec<_> = ACC_OPS.iter().filter(|op| !found.contains(*op)).collect();
    // A random program has results, and only derivatives accumulate: `conformance/derivatives.rs` runs some.
    assert!(missing == [&"unit", &"accumulate"], "no random program contains {missing:?}");
}

#[test]
fn both_modes_are_transposed() {
    let compared = self::derivatives::transposed(0..200);
    assert!(compared >= 40, "only {compared} programs have finite derivatives");
}

/// `vmap`, nested twice, and with derivatives in both orders.
#[test]
fn batches_mean_the_same() {
    let counts = self::batching::batches_mean_the_same(0..120);
    let enough = counts.rows >= 80
        && counts.nested >= 40
        && counts.without_rows >= 40
        && counts.rows_of_derivatives >= 80
        && counts.derivatives_of_rows >= 40;
    assert!(enough, "{counts:?}");
}

#[test]
fn patterns_of_jacobians_hold() {
    let (zeros, programs) = self::derivatives::patterns_hold(0..120);
    assert!(zeros >= 2000 && programs >= 40, "{programs} programs have a pattern, with {zeros} zeros");
}

#[test]
fn derivatives_of_derivatives_mean_the_same() {
    let compared = self::derivatives::derivatives_mean_the_same(0..60, self::generate::program);
    assert!(compared >= 150, "only {compared} derivatives were compared");
    let updates = Features { chains: 0, updates: 100, ..SMOOTH };
    let compared = self::derivatives::derivatives_mean_the_same(0..40, |seed| self::small::small(seed, updates));
    assert!(compared >= 100, "only {compared} derivatives of updates were compared");
}

#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn many_derivatives_mean_the_same() {
    let compared = self::derivatives::transposed(1000..4000);
    assert!(compared >= 550, "only {compared} programs have finite derivatives");
    let compared = self::derivatives::derivatives_mean_the_same(1000..1500, self::generate::program);
    assert!(compared >= 1200, "only {compared} derivatives were compared");
}

#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn many_programs_mean_the_same() {
    // The shares that may differ are chosen for 400 programs.
    chunks(1000..4000, 400).for_each(|seeds| check(seeds, &EVALUATORS, &[Oracle::Native], 12));
}

/// A failure prints a Rust program in the surface language with the same meaning. `wide/printed.rs` contains some
/// of them; `ACCEL_UPDATE=1` writes it anew.
#[test]
fn printed_programs_are_right() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("random/wide/printed.rs");
    let seeds = (0..).filter(|seed| self::generate::program(*seed).inputs.iter().all(|i| i.size() < 40)).take(40);
    let text = self::rust::module(&seeds.collect::<Vec<_>>());
    if std::env::var_os("ACCEL_UPDATE").is_some() {
        return std::fs::write(&file, text).expect("a file");
    }
    assert!(std::fs::read_to_string(&file).expect("a file") == text, "{} is not what is printed", file.display());
    for (seed, run) in self::printed::ALL {
        let p = self::generate::program(*seed);
        let found = run().map(|found| found.leaves().into_iter().cloned().collect());
        let right = self::oracle::expected(&p);
        match (&right, &found) {
            // The two errors name different places.
            (Err(x), Err(y)) => assert_eq!(discriminant(x), discriminant(y), "seed {seed}: {x}, {y}"),
            _ => {
                self::oracle::compare(&p, &right, &found, true).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            }
        }
    }
}

/// Programs in which a failure was found.
#[test]
fn programs_that_were_found_mean_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("a folder").map(|f| f.expect("a file").path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "json"));
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file");
        let p: Program = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        for oracle in EVALUATORS.into_iter().chain([Oracle::Native]) {
            if let Err(message) = self::oracle::judge(oracle, &p, &self::oracle::expected(&p)) {
                panic!("{}, {oracle:?}: {message}", file.display());
            }
        }
    }
}

/// The test that `scripts/fuzz.sh` runs: `ACCEL_FUZZ_COUNT` programs from seed `ACCEL_FUZZ_FROM` on. Failing programs
/// are shrunk and written to the folder `ACCEL_FUZZ_OUT`. The current seed is in `ACCEL_FUZZ_AT`, in case the process
/// crashes.
#[test]
#[ignore = "scripts/fuzz.sh runs it"]
fn fuzz() {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let (Some(from), Some(count)) = (number("ACCEL_FUZZ_FROM"), number("ACCEL_FUZZ_COUNT")) else {
        return left_out("fuzz: it needs the variables that scripts/fuzz.sh sets");
    };
    let out = std::env::var("ACCEL_FUZZ_OUT").expect("ACCEL_FUZZ_OUT: a folder");
    let at = std::env::var("ACCEL_FUZZ_AT").expect("ACCEL_FUZZ_AT: a file");
    let compilers: &[Oracle] = match std::env::var("ACCEL_FUZZ_ON").as_deref() {
        Ok("opencl") => &[Oracle::OpenCl],
        Ok("evaluators") => &[],
        _ => &[Oracle::Native],
    };
    let mut failures = 0;
    let begin = &mut |seed: u64| std::fs::write(&at, seed.to_string()).expect("a file");
    let counts = compare(from..from + count, &EVALUATORS, compilers, 12, begin, &mut |seed, failure| {
        failures += 1;
        let oracle = failure.oracle;
        let (p, message) = shrunk(failure);
        let file = Path::new(&out).join(format!("{seed}-{oracle:?}.json"));
        write(&file, &p);
        println!("FOUND seed {seed}: {message}\n  {}", file.display());
    });
    println!("DONE {from}+{count}: {failures} failures, {:?}", counts.0);
}

/// Runs the program of the file `ACCEL_REPLAY` natively, in a process of its own, which may crash.
#[test]
#[ignore = "scripts/fuzz.sh runs it"]
fn replay() {
    let Some(file) = std::env::var_os("ACCEL_REPLAY") else {
        return left_out("replay: it needs the variables that scripts/fuzz.sh sets");
    };
    let p: Program = serde_json::from_str(&std::fs::read_to_string(file).expect("a file")).expect("a program");
    let found = self::oracle::judge(Oracle::Native, &p, &self::oracle::expected(&p));
    println!("{found:?}");
}

/// Shrinks the programs of the seeds from `ACCEL_FUZZ_FROM` on, together one program that crashes, and writes the
/// result to the folder `ACCEL_FUZZ_OUT`.
#[test]
#[ignore = "scripts/fuzz.sh runs it"]
fn shrink_crash() {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let (Some(from), Some(count)) = (number("ACCEL_FUZZ_FROM"), number("ACCEL_FUZZ_COUNT")) else {
        return left_out("shrink_crash: it needs the variables that scripts/fuzz.sh sets");
    };
    let out = std::env::var("ACCEL_FUZZ_OUT").expect("ACCEL_FUZZ_OUT: a folder");
    let file = Path::new(&out).join(format!("{from}-crash.json"));
    let crashes = |p: &Program| {
        write(&file, p);
        let this = std::env::current_exe().expect("this program");
        let mut child = std::process::Command::new(this);
        child.args(["--exact", "wide::replay", "--ignored"]).env("ACCEL_REPLAY", &file);
        child.output().expect("a process").status.code().is_none()
    };
    let all: Vec<Program> = (from..from + count).map(self::generate::program).collect();
    let mut right: Vec<Program> = all.into_iter().filter(|p| self::oracle::expected(p).is_ok()).collect();
    assert!(crashes(&Program::merged(&right)), "it does not crash");
    for k in (0..right.len()).rev() {
        let mut fewer = right.clone();
        fewer.remove(k);
        if !fewer.is_empty() && crashes(&Program::merged(&fewer)) {
            right = fewer;
        }
    }
    let mut attempts = 0;
    let (p, _) = smallest(Program::merged(&right), String::new(), 1500, self::shrink::candidates, |q| {
        attempts += 1;
        (self::oracle::expected(q).is_ok() && crashes(q)).then(String::new)
    });
    assert!(crashes(&p));
    println!("{attempts} attempts: {}", file.display());
}

/// The reverse pass of a trace computes what the derivative of the program computes. Programs whose derivatives are not
/// finite, or that have none, are left out.
#[test]
fn reverse_passes_of_traces_agree_with_derivatives() {
    use accel::backend::Executable;
    use accel::interp::{Interpreted, Interpreter};
    use accel::repr::ArrayTuple;
    use accel_ad::{Reverse, reverse_mode};
    use accel_trace::{Keep, RawTrace};

    let mut compared = 0;
    for seed in 0..200 {
        let p = self::generate::program(seed);
        let inputs = self::generate::inputs_of(&p);
        let Ok(program) = self::build::build(&p.body, None) else { continue };
        let Ok(reverse) = reverse_mode(&program, None, Reverse::Pullback { at: None }) else { continue };
        let Ok(result) = Interpreted::new(&program).run(&inputs) else { continue };
        let dy = result.map_floats(&mut |_| 1.0);
        let Ok(expected) = Interpreted::new(&reverse).run(&ArrayTuple::pair(inputs.clone(), dy.clone())) else {
            continue;
        };
        let expected = expected.floats();
        if expected.is_empty() || expected.iter().any(|x| !x.is_finite()) {
            continue;
        }
        let scale = expected.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        for keep in [Keep::Arrays, Keep::EveryArray] {
            let (_, t) = RawTrace::record(&Interpreter, &program, &inputs, keep).expect("a trace");
            let found = t.reverse(&dy).unwrap_or_else(|e| panic!("seed {seed}: {e}")).floats();
            assert_eq!(found.len(), expected.len());
            let near = found.iter().zip(&expected).all(|(x, y)| (x - y).abs() <= 1e-9 * scale);
            assert!(near, "seed {seed}: trace {found:?}, source {expected:?}");
        }
        compared += 1;
    }
    assert!(compared >= 85, "only {compared} programs have a finite derivative");
}
