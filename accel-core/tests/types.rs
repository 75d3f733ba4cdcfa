//! Tests that rustc rejects passes over the typed tree with one mistake each.
//!
//! `compile-fail/right.rs` contains the correct passes. Every other file there is one of them with the mistake that its
//! first line names. The expected messages were recorded with rustc 1.95. After a change of the compiler or of the
//! constructors' types, record them again with `TRYBUILD=overwrite` and read the difference: the same mistake must
//! still be reported.

// A part of this program, as trybuild would build all dependencies once more for a program that is to run.
#[path = "compile-fail/right.rs"]
mod right;

#[test]
fn ill_typed_passes_are_rejected() {
    let cases = trybuild::TestCases::new();
    let folder = std::fs::read_dir("tests/compile-fail").expect("the folder exists");
    let mut mutants: Vec<_> = folder.map(|entry| entry.expect("a readable folder").path()).collect();
    mutants.retain(|path| path.extension().is_some_and(|e| e == "rs") && !path.ends_with("right.rs"));
    mutants.sort();
    mutants.iter().for_each(|path| cases.compile_fail(path));
    assert!(mutants.len() >= 20, "only {} mutants", mutants.len());
}
