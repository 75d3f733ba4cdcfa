//! Deeply nested programs on a small stack. Typed programs are simplified and lowered. Kernel programs are parsed,
//! verified, printed, cloned, evaluated, optimised and dropped.

use crate::deep_kernels::{Deep, on_a_small_stack, programs, vector};
use crate::deep_programs::ARGUMENT;
use accel_core::repr::ArrayTuple;
use accel_fusion::kernel::{Program, Verified, evaluate, parse};
use accel_fusion::pipeline::{compute_operands, dissolve, lower, optimize, strips, with_checked_proofs};
use accel_fusion::simplify;
use accel_fusion::strip::defined_by_strips;

const DEPTH: usize = 4_000;

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
#[ignore = "takes long without optimisation: scripts/test.sh runs it"]
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
                let dissolve = |p: &Program| dissolve(p, &defined_by_strips(p));
                let passes: [&dyn Fn(&Program) -> _; 4] = [&strips, &dissolve, &compute_operands, &with_checked_proofs];
                for pass in passes {
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
#[ignore = "takes long without optimisation: scripts/test.sh runs it"]
fn very_deep_programs_go_through_every_pass() {
    every_pass(DEPTH);
}

/// Programs give the right results after simplifying and lowering, and after lowering alone.
fn typed_programs(n: usize) {
    for p in crate::deep_programs::programs() {
        on_a_small_stack(|| {
            let f = (p.stage)(n);
            let program = f.program().unwrap_or_else(|e| panic!("{}: {e}", p.name));
            let (simple, _) = simplify(program).unwrap_or_else(|e| panic!("{}: {e}", p.name));
            let argument = ArrayTuple::Array(vector(&ARGUMENT));
            let expected = vector(&(p.value)(n, ARGUMENT));
            for program in [program, &simple] {
                let kernels = lower(program).unwrap_or_else(|e| panic!("{}: {e}", p.name));
                let found = evaluate(&kernels, &argument).unwrap_or_else(|e| panic!("{}: {e}", p.name));
                assert_eq!(format!("{found:?}"), format!("{:?}", [&expected]), "{}", p.name);
            }
        });
    }
}

#[test]
fn deep_programs_are_simplified_and_lowered() {
    typed_programs(300);
}

#[test]
#[ignore = "takes long without optimisation: scripts/test.sh runs it"]
fn very_deep_programs_are_simplified_and_lowered() {
    typed_programs(DEPTH);
}
