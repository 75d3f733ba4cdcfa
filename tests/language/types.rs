//! Tests that rustc rejects the mistakes that users make, and passes over the typed tree with one mistake each, with messages
//! that name the mistake. They run as one set, so that trybuild builds the dependencies once.
//!
//! `compile-fail/passes/right.rs` contains correct passes. Every other file there is one of them with the mistake that its first
//! line names. The messages were recorded with rustc 1.95. After a change of the compiler, the constructors' types or the
//! surface, `TRYBUILD=overwrite cargo test --package accel-tests --test language types` records them again; read the difference:
//! the same mistake must still be reported.

// A part of this program, as trybuild would build all dependencies once more for a program that is to run.
#[path = "../compile-fail/passes/right.rs"]
mod right;

#[test]
fn mistakes_are_rejected() {
    let cases = trybuild::TestCases::new();
    for (folder, least) in [("compile-fail", 46), ("compile-fail/passes", 57)] {
        let files = std::fs::read_dir(folder).expect("the folder exists");
        let mut wrong: Vec<_> = files.map(|entry| entry.expect("a readable folder").path()).collect();
        wrong.retain(|path| path.extension().is_some_and(|e| e == "rs") && !path.ends_with("right.rs"));
        wrong.sort();
        wrong.iter().for_each(|path| cases.compile_fail(path));
        assert!(wrong.len() >= least, "only {} files in {folder}", wrong.len());
    }
}
