//! Deeply nested programs are compiled and run on a small stack.

use crate::deep_kernels::{ARGUMENTS, on_a_small_stack, programs, vector};
use accel_fusion::kernel::{Verified, parse};
use accel_native::Kernels;

fn check(n: usize, kind: fn(&str) -> bool) {
    for p in programs().into_iter().filter(|p| kind(p.name)) {
        on_a_small_stack(|| {
            let program = parse(&(p.text)(n)).and_then(Verified::new).unwrap_or_else(|e| panic!("{}: {e}", p.name));
            let kernels = Kernels::new(program).unwrap_or_else(|e| panic!("{}: {e}", p.name));
            let kernels = kernels.expect("the tests need a C compiler");
            for xs in ARGUMENTS {
                let found = kernels.run(vec![vector(&xs)]).unwrap_or_else(|e| panic!("{}: {e}", p.name));
                assert_eq!(format!("{found:?}"), format!("{:?}", [p.expected(n, xs)]), "{}", p.name);
            }
        });
    }
}

#[test]
fn deep_programs_run() {
    check(300, |_| true);
}

#[test]
#[ignore = "takes the C compiler long: scripts/test.sh runs it"]
fn very_deep_scalar_code_runs() {
    check(10_000, |name| !name.starts_with("array"));
}

/// Every level has its own kernels, each of which takes the C compiler some 10 ms.
#[test]
#[ignore = "takes the C compiler long: scripts/test.sh runs it"]
fn very_deep_array_code_runs() {
    check(1_000, |name| name.starts_with("array"));
}
