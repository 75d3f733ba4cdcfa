//! Tests of the mistakes of users that rustc finds, and of its messages. The messages are part of the interface: after
//! a change, `TRYBUILD=overwrite cargo test --test types` shows the difference to review. They are those of rustc 1.95.

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("compile-fail/*.rs");
}
