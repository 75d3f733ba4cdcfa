//! Compilers that are missing, fail, hang, or say much.

use super::machine::{Machine, NOTHING, entries, fails, mode, works};
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn without_a_compiler_one_line_says_so() {
    let machine = Machine::new();
    let no_path = || {
        let mut program = machine.program();
        program.env("PATH", machine.path("bin"));
        program
    };
    let said = works(&mut no_path());
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("no C compiler") && said.contains("interpreted"), "{said}");
    assert_eq!(works(no_path().env("ACCEL_QUIET", "1")), "");
    assert_eq!(works(no_path().env("ACCEL_BACKEND", "interp")), "", "nobody has asked for one");
    // An empty name counts as no name.
    assert_eq!(works(no_path().env("CC", " ")), said);
}

#[test]
fn a_compiler_of_the_users_choice_that_does_not_run_is_an_error() {
    let machine = Machine::new();
    for bad in ["no-such-compiler", "/no/such/compiler -m64", "false", "/dev/null", "/"] {
        let said = fails(machine.program().env("CC", bad));
        assert!(said.contains("CC is") && said.contains(bad), "{said}");
    }
    let script = machine.path("bin/silent");
    fs::write(&script, "#!/bin/sh\nsleep 600\n").unwrap();
    mode(&script, 0o755);
    let said = fails(machine.program().env("CC", &script).env("ACCEL_CC_TIMEOUT", "0.3"));
    assert!(said.contains("bin/silent") && said.contains("killed after 0.3 s"), "{said}");
}

#[test]
fn a_compiler_that_fails_is_told_and_leaves_nothing() {
    let output = "while [ \"$1\" != -o ]; do shift; done";
    let cases = [
        ("echo 'the moon is full' >&2; exit 3".to_string(), vec!["the moon is full", "exit status: 3"]),
        ("kill -9 $$".to_string(), vec!["signal: 9"]),
        ("exit 0".to_string(), vec!["kernels.so", "No such file"]),
        (format!("{output}; echo garbage > \"$2\"; echo 'nearly done' >&2"), vec!["cannot be loaded", "nearly done", "too short"]),
        (format!("{output}; : > \"$2\""), vec!["cannot be loaded", "too short"]),
        (format!("cc \"$@\" && {output} && truncate -s 5000 \"$2\""), vec!["cannot be loaded", "too short"]),
        ("echo 'int f;' > \"$TMPDIR/f.c\"; shift $(($# - 1)); exec cc -shared -o \"$(dirname \"$TMPDIR\"/accel-build-*/kernels.c)/kernels.so\" \"$TMPDIR/f.c\"".to_string(), vec!["cannot be loaded", "accel_run"]),
    ];
    let machine = Machine::new();
    for (lines, told) in cases {
        let compiler = machine.compiler(&lines);
        let said = fails(machine.program().env("CC", &compiler));
        for part in told {
            assert!(said.contains(part), "{lines}: {said}, not {part}");
        }
        assert_eq!(machine.libraries(), NOTHING, "{lines}: nothing bad is kept");
        let left: Vec<_> = entries(&machine.path("tmp")).into_iter().filter(|p| p.is_dir()).collect();
        assert_eq!(left, NOTHING, "{lines}: no folder is left");
    }
    // The same compiler, after it works again.
    let compiler = machine.compiler("exec cc \"$@\"");
    assert_eq!(works(machine.program().env("CC", &compiler)), "");
    assert_eq!(machine.libraries().len(), 2);
}

#[test]
fn a_compiler_that_hangs_is_killed_with_what_it_has_started() {
    let machine = Machine::new();
    let survivor = machine.path("survivor");
    let compiler = machine.compiler(&format!("(sleep 3; touch {}) & sleep 600", survivor.display()));
    let start = Instant::now();
    let said = fails(machine.program().env("CC", &compiler).env("ACCEL_CC_TIMEOUT", "1"));
    assert!(said.contains("killed after 1 s") && said.contains("ACCEL_CC_TIMEOUT"), "{said}");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    std::thread::sleep(Duration::from_secs(4));
    assert!(!survivor.exists(), "its child lives on");

    for bad in ["", "soon", "0", "-1", "inf", "nan"] {
        let said = fails(machine.program().env("ACCEL_CC_TIMEOUT", bad));
        assert!(said.contains("ACCEL_CC_TIMEOUT") && said.contains(bad), "{said}");
    }
}

/// The output fills neither the pipe nor the memory, and the process does not wait for another process that the
/// compiler has left behind with its pipe.
#[test]
fn a_compiler_that_says_much_or_leaves_something_behind_is_no_trouble() {
    let machine = Machine::new();
    let talks = machine.compiler("head -c 50000000 /dev/zero >&2; exec cc \"$@\"");
    works(machine.program_after("ulimit -v 1000000").env("CC", &talks));
    let machine = Machine::new();
    let leaves = machine.compiler("sleep 20 & exec cc \"$@\"");
    let start = Instant::now();
    works(machine.program().env("CC", &leaves));
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}
