//! Compilers that are missing, fail, hang, or say much.

use super::machine::{self, Machine, NOTHING, entries, fails, works};
use std::fs;
use std::path::Path;
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
}

/// A daemon may leave it like this to its children. The system then keeps no status of processes that have ended.
#[test]
fn a_compiler_works_if_the_end_of_processes_is_ignored() {
    let machine = Machine::new();
    // Shells do not leave this signal ignored to their children.
    let ignoring = || machine.program_after("exec env --ignore-signal=CHLD \"$0\"");
    assert_eq!(works(&mut ignoring()), "");
    assert_eq!(machine.libraries().len(), 2);
    let compiler = machine.compiler("echo 'the moon is full' >&2; exit 3");
    let said = fails(ignoring().env("CC", &compiler));
    assert!(said.contains("the moon is full") && said.contains("SIGCHLD"), "{said}");
    // None of these prints a version.
    ["cc", "gcc", "clang"]
        .iter()
        .for_each(|name| machine::write(&machine.path("bin").join(name), b"#!/bin/sh\n", 0o755));
    for name in ["sh", "env"] {
        std::os::unix::fs::symlink(Path::new("/usr/bin").join(name), machine.path("bin").join(name)).unwrap();
    }
    let said = works(ignoring().env("PATH", machine.path("bin")));
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("clang failed") && said.contains("SIGCHLD"), "{said}");
}

#[test]
fn a_path_of_a_compiler_can_have_spaces() {
    let machine = Machine::new();
    let folder = machine.path("my compilers  are");
    fs::create_dir(&folder).unwrap();
    let log = machine.path("log");
    let text = format!("#!/bin/sh\necho \"$1\" >> {}\nexec cc \"$@\"\n", log.display());
    machine::write(&folder.join("a compiler"), text.as_bytes(), 0o755);
    let named = format!("{} -DA -DB", folder.join("a compiler").display());
    assert_eq!(works(machine.program().env("CC", &named)), "");
    assert!(fs::read_to_string(&log).unwrap().lines().all(|first| first == "-DA"));
}

#[test]
fn a_compiler_that_fails_is_told_and_leaves_nothing() {
    let output = "while [ \"$1\" != -o ]; do shift; done";
    let cases = [
        ("echo 'the moon is full' >&2; exit 3".to_string(), vec!["the moon is full", "exit status: 3"]),
        ("kill -9 $$".to_string(), vec!["signal: 9"]),
        ("exit 0".to_string(), vec!["kernels.so", "No such file"]),
        (
            format!("{output}; echo garbage > \"$2\"; echo 'nearly done' >&2"),
            vec!["cannot be loaded", "nearly done", "too short"],
        ),
        (format!("{output}; : > \"$2\""), vec!["cannot be loaded", "too short"]),
        (format!("cc \"$@\" && {output} && truncate -s 5000 \"$2\""), vec!["cannot be loaded", "too short"]),
        (
            "echo 'int f;' > \"$TMPDIR/f.c\"; exec cc -shared -o \"$TMPDIR/kernels.so\" \"$TMPDIR/f.c\"".to_string(),
            vec!["cannot be loaded", "accel_run"],
        ),
    ];
    let machine = Machine::new();
    for (lines, told) in cases {
        let compiler = machine.compiler(&lines);
        let said = fails(machine.program().env("CC", &compiler));
        for part in told {
            assert!(said.contains(part), "{lines}: {said}, not {part}");
        }
        assert_eq!(machine.libraries(), NOTHING, "{lines}: nothing bad is kept");
        assert_eq!(entries(&machine.path("tmp")), NOTHING, "{lines}");
    }
    // The same compiler, after it works again.
    let compiler = machine.compiler("exec cc \"$@\"");
    assert_eq!(works(machine.program().env("CC", &compiler)), "");
    assert_eq!(machine.libraries().len(), 2);
}

#[test]
fn a_compiler_that_hangs_is_killed_with_what_it_has_started() {
    let machine = Machine::new();
    let (survivor, calls) = (machine.path("survivor"), machine.path("calls"));
    let lines = format!(
        "echo >> {}; touch \"$TMPDIR/part\"; (sleep 6; touch {}) & sleep 600",
        calls.display(),
        survivor.display()
    );
    let compiler = machine.compiler(&lines);
    let start = Instant::now();
    // Also in a strict pipeline, which this one is.
    let said = works(machine.program().env("CC", &compiler).env("ACCEL_CC_TIMEOUT", "1").env("ACCEL_STRICT", "1"));
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("killed after 1 s") && said.contains("ACCEL_CC_TIMEOUT"), "{said}");
    assert!(said.contains("programs are interpreted"), "{said}");
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    // For the first program, not for the second one. On other systems, nobody knows that it only waits, so it gets an empty file, too.
    assert_eq!(fs::read_to_string(&calls).unwrap().lines().count(), if cfg!(target_os = "linux") { 1 } else { 2 });
    assert_eq!(entries(&machine.path("tmp")), NOTHING);
    std::thread::sleep(Duration::from_secs(7));
    assert!(!survivor.exists(), "its child lives on");

    // One that does not even tell its version.
    let silent = machine.path("bin/silent");
    machine::write(&silent, b"#!/bin/sh\nsleep 600\n", 0o755);
    let said = works(machine.program().env("CC", &silent).env("ACCEL_CC_TIMEOUT", "0.3"));
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("bin/silent") && said.contains("killed after 0.3 s"), "{said}");

    // One that is slow: other programs may be fast. It is tried for both.
    let slow = machine.compiler("case \"$*\" in *empty.c) exec cc \"$@\";; esac; while :; do :; done");
    let said = works(machine.program().env("CC", &slow).env("ACCEL_CC_TIMEOUT", "1"));
    assert_eq!(said.matches("the program is interpreted").count(), 2, "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");

    for bad in ["", "soon", "0", "-1", "inf", "nan"] {
        let said = fails(machine.program().env("ACCEL_CC_TIMEOUT", bad));
        assert!(said.contains("ACCEL_CC_TIMEOUT") && said.contains(bad), "{said}");
    }
}

/// To read a pipe would wait for ever, and a device gives bytes for ever.
#[test]
fn what_is_no_regular_file_is_not_read() {
    let machine = Machine::new();
    let output = "while [ \"$1\" != -o ]; do shift; done";
    for make in ["mkfifo \"$2\"", "ln -s /dev/zero \"$2\"", "mkdir \"$2\""] {
        let compiler = machine.compiler(&format!("{output}; {make}"));
        let said = fails(machine.program().env("CC", &compiler));
        assert!(said.contains("it is not a regular file"), "{make}: {said}");
    }
    let compiler = machine.compiler(&format!("{output}; truncate -s 1T \"$2\""));
    let said = fails(machine.program().env("CC", &compiler));
    assert!(said.contains("it has 1099511627776 bytes"), "{said}");
}

/// GCC then finds no assembler. Nobody has asked for this compiler.
#[test]
fn a_compiler_that_is_found_but_does_not_work_is_done_without() {
    let machine = Machine::new();
    let text =
        b"#!/bin/sh\ncase \"$*\" in *--version) exec /usr/bin/cc --version;; esac\necho 'no assembler' >&2; exit 1\n";
    machine::write(&machine.path("bin/cc"), text, 0o755);
    let said = works(machine.program().env("PATH", machine.path("bin")));
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.lines().all(|line| line.contains("no assembler") && line.contains("interpreted")), "{said}");
    works(machine.program().env_remove("PATH"));
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
