//! Properties of optimised kernel programs, which have the same results as the original. Tests that compare texts are files: see
//! `tests/kernels/optimize`.

mod agreement;
mod assumptions;
mod computed_extents;
mod control;
mod few_steps;
mod fewer_indices;
mod fusion;
mod hoisted_checks;
mod recomputed_operands;
mod recurrences;
mod scale;
mod scans;
mod scatters;
mod selections;
mod steps_of_batches;
mod strided_products;
mod sum_interchange;
mod unequal;

use accel_core::error::Error;
use accel_core::repr::{ArrayTuple, Column, RawArray};
use accel_fusion::kernel::{Program, Verified, evaluate, parse};
use accel_fusion::pipeline::{Optimized, Target, optimize_for};

/// A program, and its optimised forms.
struct Case {
    before: Verified<Program>,
    with_assumptions: Optimized,
    general: Verified<Program>,
}

/// Optimises a program of one site with these inputs and this body, for all targets.
fn optimized(inputs: &str, body: &str) -> Case {
    optimized_for(Target::Any, inputs, body)
}

/// Optimises a program of one site with these inputs and this body.
fn optimized_for(target: Target, inputs: &str, body: &str) -> Case {
    let text = format!("program ({inputs})\nsite 0 = \"here\"\n{{\n{body}\n}}");
    let before = parse(&text).and_then(Verified::new).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let optimized = |assume| optimize_for(&before, target, assume).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Case { with_assumptions: optimized(true), general: optimized(false).program, before }
}

impl Case {
    /// The statements of the program with assumptions.
    fn text(&self) -> String {
        statements(&self.with_assumptions.program)
    }

    /// The statements of the program without assumptions.
    fn general(&self) -> String {
        statements(&self.general)
    }

    /// Checks that all three programs have the same results, or the same error, for these inputs. Returns whether the
    /// assumptions hold.
    #[track_caller]
    fn agrees(&self, inputs: &[RawArray]) -> bool {
        let run = |p: &Program| evaluate(p, &argument(inputs));
        let expected = run(&self.before);
        assert!(
            !matches!(expected, Err(Error::Type { .. })),
            "the test has other inputs than its program: {expected:?}"
        );
        same(&expected, &run(&self.general));
        let fits = self.with_assumptions.conditions.hold(|k| inputs.get(k).map(|a| &*a.extents));
        if fits {
            same(&expected, &run(&self.with_assumptions.program));
        }
        fits
    }
}

#[track_caller]
fn same(expected: &Result<Vec<RawArray>, Error>, found: &Result<Vec<RawArray>, Error>) {
    assert_eq!(format!("{expected:?}"), format!("{found:?}"));
}

fn argument(inputs: &[RawArray]) -> ArrayTuple {
    inputs.iter().cloned().collect()
}

/// The lines of the body.
fn statements(p: &Program) -> String {
    let text = p.to_string();
    let body = text.split_once("\n{\n").expect("a body").1;
    body.strip_suffix("}").unwrap_or(body).lines().map(|l| format!("{}\n", l.trim_end())).collect()
}

fn array(extents: &[usize], column: impl Into<Column>) -> RawArray {
    RawArray { extents: extents.into(), columns: vec![column.into()].into() }
}

/// Numbers whose sums are exact.
fn floats(extents: &[usize]) -> RawArray {
    let n = extents.iter().product::<usize>();
    array(extents, (0..n).map(|i| i as f64 * 0.5 - 1.25).collect::<Vec<_>>())
}

fn ints(xs: &[i64]) -> RawArray {
    array(&[xs.len()], xs.to_vec())
}

/// `to[i] = code(from[i])`, where `code` computes x2 from x1.
fn map(to: usize, from: usize, code: &str) -> String {
    format!(
        "a{to}: Array1<f64> = loop @0 extents () {{ x0: i64 = extent a{from} 0 -> x0 }}
           body (x0: i64) {{ x1: f64 = a{from}[x0] @0 inside; {code} -> x2 }}\n"
    )
}
