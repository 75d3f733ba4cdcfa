//! Deep kernel programs are read, checked, printed, copied, evaluated, optimised and dropped on a small stack.

mod deep_kernels;

use accel_fusion::kernel::{Program, Verified, parse};
use accel_fusion::pipeline::{check_proofs, compute_operands, dissolve, optimize, strips};
use deep_kernels::{Deep, on_a_small_stack, programs};

const DEPTH: usize = 10_000;

fn program(p: &Deep, n: usize) -> Verified<Program> {
    parse(&(p.text)(n)).and_then(Verified::new).unwrap_or_else(|e| panic!("{}: {e}", p.name))
}

fn everything_else(n: usize) {
    for p in programs() {
        on_a_small_stack(|| {
            let program = program(&p, n);
            let text = program.to_string();
            let again = parse(&text).unwrap_or_else(|e| panic!("{}: {e}", p.name));
            assert!(again.to_string() == text, "{}", p.name);
            p.is_meant_by(n, &again.clone());
            assert!(again.stats().to_string().len() > 1, "{}", p.name);
        });
    }
}

#[test]
fn deep_programs_are_printed_read_back_copied_and_evaluated() {
    everything_else(2000);
}

#[test]
#[ignore = "takes long without optimisation: scripts/test.sh runs it with --release"]
fn very_deep_programs_are_printed_read_back_copied_and_evaluated() {
    everything_else(DEPTH);
}

fn every_pass(n: usize) {
    for p in programs() {
        on_a_small_stack(|| {
            let program = program(&p, n);
            for assume in [false, true] {
                let optimized = optimize(&program, assume).unwrap_or_else(|e| panic!("{}: {e}", p.name)).program;
                p.is_meant_by(n, &optimized);
                for pass in [strips, dissolve, compute_operands, check_proofs] {
                    p.is_meant_by(n, &pass(&optimized).unwrap_or_else(|e| panic!("{}: {e}", p.name)));
                }
            }
        });
    }
}

#[test]
fn deep_programs_go_through_every_pass() {
    every_pass(300);
}

#[test]
#[ignore = "takes long without optimisation: scripts/test.sh runs it with --release"]
fn very_deep_programs_go_through_every_pass() {
    every_pass(DEPTH);
}
