//! Tests of the two tiers of the native backend, each in a process of its own with a compiler of its own: a script.

use accel::backend::{Backend, Executable};
use accel::native::{Native, Options};
use accel::prelude::*;
use accel::repr::Scalar as Number;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What a process may take that does not wait for a compiler of [`SLOW`].
const SOON: Duration = Duration::from_secs(20);
/// Longer than any test waits.
const SLOW: &str = "sleep 60; exit 1";

/// A folder with a compiler: a script that answers `--version` as `cc` does, and otherwise executes these lines.
fn machine(lines: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("tmp")).unwrap();
    let path = folder.path().join("compiler");
    fs::write(&path, format!("#!/bin/sh\ncase \"$*\" in *--version) exec cc --version;; esac\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Executes one of the tests that are parts, with the compiler of this machine.
fn part(name: &str, machine: &TempDir) -> Output {
    let at = |below: &str| machine.path().join(below);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("tiers::{name}"), "--ignored", "--nocapture"]);
    command.env("CC", at("compiler")).env("XDG_CACHE_HOME", at("cache")).env("TMPDIR", at("tmp"));
    command.env("GATE", at("gate")).env("ACCEL_TIERED", "1").env_remove("ACCEL_BACKEND").env_remove("ACCEL_STRICT");
    let output = command.output().unwrap();
    let said = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).join("\n");
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    output
}

fn tiered() -> impl Backend {
    Native::with(Options { tiered: true, ..Options::default() })
}

/// Whether the program is compiled. It doubles a number.
fn is_compiled(executable: &dyn Executable) -> bool {
    let mut result = [Number::F64(0.0)];
    let is_compiled = executable.call(&[Number::F64(4.0)], &mut result);
    assert_eq!(result, [Number::F64(if is_compiled { 8.0 } else { 0.0 })]);
    is_compiled
}

fn double() -> Afun<Scalar<f64>, Scalar<f64>> {
    afun(|x: Acc<Scalar<f64>>| map(|x| x * 2.0, x))
}

/// Reads an element that does not exist.
fn out_of_bounds() -> Afun<Vector<f64>, Vector<f64>> {
    afun(|xs: Acc<Vector<f64>>| backpermute(1, |i| i + 1000, xs))
}

/// Sums that are exact in any order.
fn squares() -> Afun<Vector<f64>, (Vector<f64>, Scalar<f64>)> {
    afun(|xs: Acc<Vector<f64>>| (map(|x| x * x, xs), sum(map(|x| x * x + 1.0, xs))))
}

fn check_squares(found: (Vector<f64>, Scalar<f64>), xs: &[f64]) {
    assert_eq!(found.0.as_slice(), xs.iter().map(|x| x * x).collect::<Vec<_>>());
    assert_eq!(found.1.item(), xs.iter().map(|x| x * x + 1.0).sum::<f64>());
}

#[test]
fn the_compiled_program_takes_over() {
    let machine = machine("while [ ! -e \"$GATE\" ]; do sleep 0.05; done; exec cc \"$@\"");
    part("takes_over", &machine);
    // Now the library is in the cache.
    part("is_compiled_at_once", &machine);
}

#[test]
#[ignore = "a part"]
fn takes_over() {
    let xs: Vec<f64> = (0..1000).map(f64::from).collect();
    let argument = Array::vector(xs.clone());
    let number = tiered().compile(double().program().unwrap()).unwrap();
    let program = Compiled::new(&tiered(), &squares()).unwrap();
    for _ in 0..3 {
        check_squares(program.run(&argument).unwrap(), &xs);
        assert!(!is_compiled(&*number));
    }
    let wrong = Compiled::new(&tiered(), &out_of_bounds()).unwrap();
    let first = wrong.run(&argument).unwrap_err().to_string();
    fs::write(std::env::var_os("GATE").unwrap(), "").unwrap();
    let begin = Instant::now();
    while !is_compiled(&*number) {
        assert!(begin.elapsed() < 3 * SOON, "the compiled program does not take over");
        std::thread::sleep(Duration::from_millis(5));
    }
    // The other programs are compiled by now or soon.
    for _ in 0..100 {
        check_squares(program.run(&argument).unwrap(), &xs);
        assert_eq!(wrong.run(&argument).unwrap_err().to_string(), first);
        std::thread::sleep(Duration::from_millis(5));
    }
    let compiled = Compiled::new(&Native, &out_of_bounds()).unwrap();
    assert_eq!(compiled.run(&argument).unwrap_err().to_string(), first);
}

#[test]
#[ignore = "a part"]
fn is_compiled_at_once() {
    assert!(is_compiled(&*tiered().compile(double().program().unwrap()).unwrap()));
}

#[test]
fn a_compiler_that_fails_in_the_background_loses_nothing() {
    part("stays_interpreted", &machine("echo no >&2; touch \"$GATE\"; exit 1"));
}

#[test]
#[ignore = "a part"]
fn stays_interpreted() {
    let xs: Vec<f64> = (0..1000).map(f64::from).collect();
    let program = Compiled::new(&tiered(), &squares()).unwrap();
    let (gate, begin) = (std::env::var_os("GATE").unwrap(), Instant::now());
    while !Path::new(&gate).exists() {
        check_squares(program.run(&Array::vector(xs.clone())).unwrap(), &xs);
        assert!(begin.elapsed() < SOON);
    }
    for _ in 0..20 {
        check_squares(program.run(&Array::vector(xs.clone())).unwrap(), &xs);
        std::thread::sleep(Duration::from_millis(10));
    }
    // Who waits for the compiler gets its error.
    let waited = Compiled::new(&Native, &squares()).and_then(|program| program.run(&Array::vector(xs)));
    assert!(matches!(waited.err(), Some(Error::Compiler(_))));
}

#[test]
fn a_process_that_ends_does_not_wait_for_the_compiler() {
    let machine = machine(SLOW);
    let begin = Instant::now();
    part("runs_once", &machine);
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
    // No library is in the cache.
    let files = fs::read_dir(machine.path().join("cache/accel")).into_iter().flatten().filter_map(Result::ok);
    assert_eq!(files.filter(|f| f.path().extension().is_some_and(|e| e == "so")).count(), 0);
}

#[test]
#[ignore = "a part"]
fn runs_once() {
    let xs: Vec<f64> = (0..1000).map(f64::from).collect();
    check_squares(run(squares(), &Array::vector(xs.clone())).unwrap(), &xs);
    // More programs than there are compilers at a time.
    for k in 0..40 {
        let found = run(afun(|x: Acc<Scalar<f64>>| map(|x| x + f64::from(k), x)), &Array::scalar(1.0)).unwrap();
        assert_eq!(found.item(), 1.0 + f64::from(k));
    }
}
