//! Deeply nested programs become code that is not deeply nested, on a small stack.

#[path = "../../../accel-fusion/tests/fusion/deep_kernels/mod.rs"]
mod deep_kernels;

use accel_codegen::opencl::{self, Target};
use accel_codegen::{Options, emit};
use accel_fusion::kernel::{Program, Verified, parse};
use deep_kernels::{on_a_small_stack, programs};

/// clang's default limit for nested brackets.
const CLANG: i64 = 256;

#[track_caller]
fn is_not_deep(name: &str, source: &str) {
    let depths = source.bytes().scan(0, |depth, c| {
        *depth += i64::from(matches!(c, b'{' | b'(' | b'[')) - i64::from(matches!(c, b'}' | b')' | b']'));
        Some(*depth)
    });
    assert!(depths.max() < Some(CLANG), "{name}");
}

const TARGET: Target =
    Target { units: 4, largest_group: 256, local_memory: 32 << 10, wide: false, atomics_64: true, look_back: false };

fn check(few: usize, many: usize) {
    for p in programs() {
        on_a_small_stack(|| {
            let program = |n: usize| -> Verified<Program> {
                parse(&(p.text)(n)).and_then(Verified::new).unwrap_or_else(|e| panic!("{}: {e}", p.name))
            };
            let sizes = [few, many].map(|n| {
                let program = program(n);
                let all = [emit(&program, Options::default()).source, opencl::emit(&program, &TARGET).source];
                all.iter().for_each(|source| is_not_deep(p.name, source));
                all.iter().map(String::len).sum::<usize>() / n
            });
            // The text of the first program contains what is the same for all.
            assert!(sizes[1] < sizes[0] + sizes[0] / 2, "{}: {sizes:?} bytes for a level", p.name);
        });
    }
}

#[test]
fn code_is_not_deep_and_grows_with_the_program() {
    check(200, 1000);
}

#[test]
#[ignore = "takes long without optimisation: scripts/test.sh runs it"]
fn code_of_very_deep_programs_is_not_deep() {
    check(1000, 10_000);
}
