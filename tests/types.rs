//! Tests of users' mistakes that rustc finds, and of its messages. The messages are part of the interface. After a
//! change, `TRYBUILD=overwrite cargo test --test types` shows the differences to review. The messages are those of
//! rustc 1.95.

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("compile-fail/*.rs");
}
