//! What is in the cache: damaged files, keys, the limit, several processes at the same time, and what killed ones leave.

use super::machine::{Machine, NOTHING, end, entries, fails, key, mode, with_digest, works, write};
use crate::support;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

#[test]
fn what_a_killed_process_leaves_is_removed_when_it_is_old() {
    let machine = Machine::new();
    let compiler = machine.compiler("touch \"$TMPDIR/../../started\"; sleep 5");
    let mut killed = machine.program().env("CC", &compiler).stderr(Stdio::null()).spawn().unwrap();
    while !machine.path("started").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = entries(&machine.path("tmp"));
    assert!(left.len() == 1 && left[0].is_dir(), "{left:?}");
    // A young file can be in use.
    works(&mut machine.program());
    assert_eq!(entries(&machine.path("tmp")), left);
    let two_hours_ago = SystemTime::now() - Duration::from_secs(7200);
    fs::File::open(&left[0]).unwrap().set_modified(two_hours_ago).unwrap();
    for file in machine.libraries() {
        fs::remove_file(file).unwrap();
    }
    works(&mut machine.program());
    assert_eq!(entries(&machine.path("tmp")), NOTHING);
}

#[test]
fn damaged_programs_are_replaced() {
    let machine = Machine::new();
    machine.fill();
    let programs = machine.programs();
    let good: Vec<_> = programs.iter().map(|p| fs::read(p).unwrap()).collect();
    for damage in
        [|_: &[u8]| vec![], |good: &[u8]| good[..good.len() / 2].to_vec(), |good: &[u8]| [good, good].concat()]
    {
        programs.iter().zip(&good).for_each(|(p, good)| fs::write(p, damage(good)).unwrap());
        assert_eq!(works(&mut machine.program()), "");
        programs.iter().zip(&good).for_each(|(p, good)| assert!(fs::read(p).unwrap() == *good));
    }
    // A program of others is not used, and cannot be replaced by writing to it.
    programs.iter().for_each(|p| mode(p, 0o666));
    assert_eq!(works(&mut machine.program()), "");
    programs.iter().for_each(|p| assert_eq!(fs::metadata(p).unwrap().permissions().mode() & 0o777, 0o600));
}

/// NOTE [Known libraries] in `accel-native/src/cache.rs`.
#[test]
fn a_library_that_is_known_is_found_without_its_source() {
    let machine = Machine::new();
    let libraries = machine.fill();
    // Under new names, which are not the digests of their sources, only the keys lead to them.
    for (k, library) in libraries.iter().enumerate() {
        let (renamed, mut code) = (machine.cache().join(format!("{k:064x}.so")), fs::read(library).unwrap());
        code.truncate(code.len() - 32);
        write(&renamed, &with_digest(&renamed, code), 0o600);
        let refers = |file: &&PathBuf| fs::read(file).unwrap().starts_with(&key(library));
        let keys = machine.keys();
        let file = keys.iter().find(refers).unwrap();
        write(file, &with_digest(file, key(&renamed)), 0o600);
        fs::remove_file(library).unwrap();
    }
    let renamed = machine.libraries();
    assert_eq!(works(&mut machine.program()), "");
    assert_eq!(machine.libraries(), renamed, "nothing is compiled");
}

/// If the optimised program cannot be compiled, that before all passes is, whose library is not that of the file in the cache.
#[test]
fn the_library_of_a_program_without_passes_is_not_taken_for_the_optimised_ones() {
    let machine = Machine::new();
    let compiler = machine.compiler("[ -e \"$0.works\" ] && exec cc \"$@\"; touch \"$0.works\"; exit 1");
    let program = || {
        let mut program = machine.program();
        program.env("CC", &compiler).env("ACCEL_STRICT", "0");
        program
    };
    let said = works(&mut program());
    assert!(said.starts_with("accel: the stage `emit` of the compiler failed") && said.lines().count() == 1, "{said}");
    assert_eq!((machine.programs().len(), machine.libraries().len(), machine.keys().len()), (2, 2, 1));
    assert_eq!(works(&mut program()), "");
    assert_eq!((machine.programs().len(), machine.libraries().len(), machine.keys().len()), (2, 3, 2));
}

#[test]
fn damaged_keys_are_replaced() {
    let machine = Machine::new();
    machine.fill();
    let keys = machine.keys();
    assert_eq!(keys.len(), 2, "one for each program");
    let good: Vec<_> = keys.iter().map(|file| fs::read(file).unwrap()).collect();
    let of_no_library = |file: &Path, _: &[u8]| with_digest(file, vec![1; 32]);
    let too_short = |file: &Path, good: &[u8]| with_digest(file, good[..31].to_vec());
    let half = |_: &Path, good: &[u8]| good[..good.len() / 2].to_vec();
    for damage in [of_no_library, too_short, half, |_: &Path, _: &[u8]| vec![]] {
        keys.iter().zip(&good).for_each(|(file, good)| fs::write(file, damage(file, good)).unwrap());
        assert_eq!(works(&mut machine.program()), "");
        keys.iter().zip(&good).for_each(|(file, good)| assert!(fs::read(file).unwrap() == *good));
    }
}

#[test]
fn twenty_processes_compile_one_program() {
    let machine = Machine::new();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| assert_eq!(works(&mut machine.program()), ""));
        }
    });
    assert_eq!(machine.libraries().len(), 2);
    assert_eq!(machine.programs().len(), 2);
    assert_eq!(machine.keys().len(), 2);
    assert_eq!(machine.files("extents").len(), 2);
    assert_eq!(entries(&machine.cache()).len(), 8, "nothing unfinished");
    assert_eq!(works(&mut machine.program()), "");
}

#[test]
fn the_cache_keeps_its_limit_with_several_processes() {
    let machine = Machine::new();
    let libraries = machine.fill();
    let sizes: Vec<_> = libraries.iter().map(|file| fs::metadata(file).unwrap().len()).collect();
    let limit = sizes.iter().max().unwrap() + 10;
    libraries.iter().for_each(|file| fs::remove_file(file).unwrap());
    let limited = |bytes: &str| works(machine.program().env("ACCEL_CACHE_BYTES", bytes));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| assert_eq!(limited(&limit.to_string()), ""));
        }
    });
    assert!(machine.libraries().len() <= 1);
    assert_eq!(limited(&limit.to_string()), "");
    assert_eq!(machine.libraries().len(), 1);
    fs::remove_file(&machine.libraries()[0]).unwrap();
    assert_eq!(limited("0"), "");
    assert_eq!(machine.libraries().len(), 0);
    for bad in [" ", "much", "-1", "1e9"] {
        let said = fails(machine.program().env("ACCEL_CACHE_BYTES", bad));
        assert!(said.contains("ACCEL_CACHE_BYTES"), "{said}");
    }
}

#[test]
fn the_cache_is_shown_and_cleared() {
    let machine = Machine::new();
    let cache = |arguments: &[&str]| {
        let mut command = Command::new(support::example("cache"));
        machine.environment(command.args(arguments));
        let output = end(&mut command);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let shows =
        |programs: usize, bytes: u64| format!("{}\n{programs} programs\n{bytes} bytes\n", machine.cache().display());
    assert_eq!(cache(&[]), shows(0, 0));
    machine.fill();
    let bytes = entries(&machine.cache()).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    fs::write(machine.cache().join("notes.txt"), "none of ours").unwrap();
    assert_eq!(cache(&[]), shows(2, bytes));
    assert_eq!(cache(&["clear"]), shows(0, 0));
    assert_eq!(entries(&machine.cache()), [machine.cache().join("notes.txt")]);
    // While other processes run.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(works(&mut machine.program()), ""));
            scope.spawn(|| cache(&["clear"]));
        }
    });
}
