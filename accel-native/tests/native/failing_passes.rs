//! Fallback after a failed pass: whatever pass fails, the program gives its results, and the failure is reported.

use accel_core::backend::Backend;
use accel_core::error::Error;
use accel_core::prelude::*;
use accel_core::repr::ArrayTuple;
use accel_fusion::kernel::{Verified, parse};
use accel_fusion::pipeline::{Fault, Options, Target};
use accel_native::Native;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The reported errors, with their fields.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Vec<(String, String)>>>>);

struct Fields<'a>(&'a mut Vec<(String, String)>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push((field.name().into(), format!("{value:?}").trim_matches('"').into()));
    }
}

impl Subscriber for Told {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut fields = vec![];
        event.record(&mut Fields(&mut fields));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(fields);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The passes that have nothing to do in the program.
const IDLE: [&str; 7] = ["loop_sums", "decisions", "gathers", "digits", "scans", "loops", "functions"];

/// A program in which the other passes have something to do, on the rows of a matrix and a vector. All sums are exact, in any order.
fn program() -> Afun<(Matrix<f64>, Vector<f64>), Vector<f64>> {
    afun(|m: Acc<Matrix<f64>>, v: Acc<Vector<f64>>| {
        let scaled = map(|x| x * x + 0.5, m);
        let rows = zip_with(|a, b| (a / (b + 8.0), b), sum(scaled), maximum(m));
        let squares = map(|x| x * x + x, v);
        // A loop that updates its state, and one that reads all states from the last to the first.
        let update = |s: Acc<Vector<f64>>, row: Acc<Vector<f64>>| {
            let to = row.at(0).abs().cast::<i64>();
            (permute(|x, y| x + y, s, |_| (true, to), generate(1, |_| s.at(to).min(1.0))), s)
        };
        let (_, states) = map_accum_l(update, v, m);
        let (back, _) = map_accum_r(|s, x| (zip_with(|a, b| a + b, s, x), sum(x)), v, states);
        // A loop in scalar code.
        let halved = |x: Exp<f64>, n: i64| while_(|(k, _)| k.lt(n), |(k, x)| (k + 1, x * 0.5 + 1.0), (0i64, x)).1;
        let (halves, quarters) = (map(|x| halved(x, 3), v), map(|x| halved(x, 4), v));
        let weighted = |xs: Acc<Vector<f64>>| sum(imap(|(_, j), x| x * xs.at(j.min(xs.shape() - 1)), m));
        // Scans of the columns, of the vector in two ways, and of pairs.
        let down = transpose(scanl1(|x, y| x + y, transpose(m)));
        let prefixes = |xs: Acc<Vector<f64>>| sum(scanl1(|x, y| x + y, xs));
        let largest = map(|(_, x)| x, scanl1(|(a, b), (c, d)| (a * c, b.max(d)), map(|x| (x, x), v)));
        // The program cannot know that these are elements.
        let from = the(maximum(v)).cast::<i64>();
        let shifted = sum(generate((v.shape() - 4).max(0), |i| v.at(i + from)));
        let numbers = [sum(back), prefixes(v), prefixes(reverse(reverse(v))), sum(largest), shifted];
        let by_rows =
            zip_with3(|a, b, c| a + b + c, weighted(halves), weighted(quarters), sum(map(|x| halved(x, 2), m)));
        // A function of one of two indices.
        let waves = imap(|(_, j), x: Exp<f64>| x * (j.cast::<f64>() * 0.5).cos(), m);
        let more = zip_with3(|a, b, c| a + b + c, by_rows, sum(down), zip_with(|x, y| x + y, maximum(m), sum(waves)));
        imap(
            |i, ((x, y), z)| numbers.iter().fold(x + y * squares.at(i) + z, |sum, number| sum + the(*number)),
            zip(rows, more),
        )
    })
}

fn arguments(n: usize, k: usize) -> ArrayTuple {
    let numbers = |n: usize| (0..n).map(|i| (i % 7) as f64 - 2.5).collect::<Vec<_>>();
    let m = Array::matrix(n, 5, numbers(n * 5)).unwrap();
    (m, Array::vector(numbers(k))).to_tuple()
}

/// Runs the program with a failure. Returns the reported errors, and the files that they name.
fn run_with(fault: Fault) -> Vec<(Vec<(String, String)>, PathBuf)> {
    let (told, program) = (Told::default(), program());
    let typed = program.program().unwrap();
    let interpreted = accel_core::interp::Interpreter.compile(typed).unwrap();
    tracing::subscriber::with_default(told.clone(), || {
        let options = Options { fault: Some(fault), one_version: true, ..Options::default() };
        let compiled = Native::with(options).compile(typed).unwrap();
        // The first extents satisfy the assumptions. The others do not: an index is out of bounds.
        for (n, k) in [(40, 40), (9, 4)] {
            let argument = arguments(n, k);
            let (found, expected) = (compiled.run(&argument), interpreted.run(&argument));
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{fault:?}");
        }
    });
    let told = told.0.lock().unwrap();
    let file = |fields: &Vec<(String, String)>| {
        PathBuf::from(&fields.iter().find(|(name, _)| name == "file").expect("a file").1)
    };
    told.iter().map(|fields| (fields.clone(), file(fields))).collect()
}

/// Returns the program before the stage.
fn check(fault: Fault, stage: &str, message: &str) -> String {
    let told = run_with(fault);
    // If a pass makes assumptions on extents, a second program is compiled for the other extents.
    let programs = if ["simplify", "lower", "columns", "fuse"].contains(&stage) { 1 } else { 2 };
    assert_eq!(told.len(), programs, "{fault:?}");
    let mut first = None;
    for (fields, file) in told {
        let field = |name: &str| fields.iter().find(|(n, _)| n == name).map(|(_, x)| x.clone()).unwrap_or_default();
        assert_eq!(field("stage"), stage);
        assert!(field("error").contains(message), "{fields:?}");
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        std::fs::remove_file(&file).unwrap();
        assert!(text.starts_with(&format!("accel {}", env!("CARGO_PKG_VERSION"))), "{text}");
        assert!(text.contains(&format!("stage: {stage}\n")) && text.contains(message), "{text}");
        let (_, program) = text.split_once("the program before the stage:\n").expect("the program");
        match stage {
            "simplify" | "lower" => assert!(program.starts_with("fn (a0: (Array2<f64>, Array1<f64>)) ->"), "{program}"),
            // The program in the file can be run again.
            _ => _ = parse(program).and_then(Verified::new).unwrap(),
        }
        first.get_or_insert(program.to_string());
    }
    first.expect("a program")
}

#[test]
fn a_stage_that_panics() {
    let stages = ["simplify", "lower"].into_iter().chain(Target::Processor.pass_names()).chain(["emit"]);
    let fails = |stage| (stage, check(Fault::Panic(stage), stage, &format!("{stage} panicked: a test asks for it")));
    let before: Vec<_> = stages.map(fails).collect();
    // Only then is a failure of the pass a failure to do something.
    let idle: Vec<_> = before.windows(2).filter(|w| w[0].1 == w[1].1).map(|w| w[0].0).collect();
    assert_eq!(idle, IDLE, "the passes that have nothing to do");
}

#[test]
fn a_compiler_that_refuses_the_optimised_program() {
    _ = check(Fault::Refuse, "emit", "a test asks for it");
}

#[test]
fn a_pass_whose_program_the_verifier_rejects() {
    for pass in Target::Processor.pass_names() {
        _ = check(Fault::Reject(pass), pass, "kernel program: results: ");
    }
}

#[test]
fn a_strict_pipeline_ends_there() {
    let program = program();
    for fault in [Fault::Panic("simplify"), Fault::Panic("lower"), Fault::Reject("merge"), Fault::Panic("emit")] {
        let compiled =
            Native::with(Options { strict: true, fault: Some(fault), one_version: true, ..Options::default() })
                .compile(program.program().unwrap());
        assert!(matches!(compiled.err(), Some(Error::Internal(_))), "{fault:?}");
    }
}

/// A pass that returns a well-formed program that computes something else: NOTE [Validation by evaluation].
#[test]
fn a_pass_that_changes_results_is_found() {
    let program = afun(|v: Acc<Vector<f64>>| (map(|x| x * x, v), imap(|i, x| x + i.cast::<f64>(), reverse(v))));
    for pass in Target::Processor.pass_names() {
        let fault = Some(Fault::Wrong(pass));
        let options = Options { strict: true, validate: true, fault, one_version: true, ..Options::default() };
        let compiled = Native::with(options).compile(program.program().unwrap());
        let error = compiled.err().unwrap_or_else(|| panic!("nobody saw `{pass}`")).to_string();
        assert!(error.contains(&format!("`{pass}` changes what the program computes")), "{error}");
        let (_, file) = error.split_once("the program and the arguments are in ").expect("a file");
        let file = file.split_whitespace().next().expect("a name");
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{file}: {e}"));
        std::fs::remove_file(file).unwrap();
        assert!(text.contains("\n//@ run [3] f64 { "), "{text}");
        _ = parse(&text).and_then(Verified::new).unwrap();
    }
    let options = Options { strict: true, validate: true, ..Options::default() };
    assert!(Native::with(options).compile(program.program().unwrap()).is_ok());
}
