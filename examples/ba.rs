//! The residuals of bundle adjustment and their sparse Jacobian: ADBench's BA problem.
//!
//! ```text
//! cargo run --release --example ba -- --input FILE [--backend B] [--precision f32|f64] [--repeat N] [--memory] [--sparse] [--json]
//! ```
//!
//! `jacobian.rs` writes down the gradient of each residual and where its entries are. With `--sparse`, `sparse_jacobian` makes the same matrix
//! of the residuals alone.

#[path = "frame/mod.rs"]
mod frame;
#[path = "ba/geometry.rs"]
mod geometry;
#[path = "ba/jacobian.rs"]
mod jacobian;

use accel::backend::Backend;
use accel::prelude::*;
use accel::{SparseMatrix, SparsePattern, sparse_jacobian_on};
use adbench::{BaFile, BaReport, Failure, FileError, Options, SparseReport, median_ms, print_line, timed};
use frame::Example;
use jacobian::{Problem, expanded, jacobian, residuals};
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    frame::run::<BaFile>()
}

impl Example for BaFile {
    const ABOUT: &str = "The residuals of bundle adjustment, and their sparse Jacobian by cameras, points and weights.";
    const JSON: &str = "the first observation's rows";
    const SMALL: &str = "ba_n3_m7_p20.txt";
    const SPARSE: bool = true;
    type Report = BaReport;

    fn read(file: &Path) -> Result<BaFile, FileError> {
        BaFile::read(file)
    }

    fn compute<T: Floating + Into<f64>>(&self, options: &Options, backend: &dyn Backend) -> Result<BaReport, Error> {
        let problem: Problem<T> = expanded(self);
        let ((residuals, jacobian, program), compile_ms) = timed(|| {
            let residuals = afun(residuals::<T>);
            let program = afun(jacobian::<T>);
            Ok::<_, Error>((compile_on(backend, &residuals)?, compile_on(backend, &program)?, program))
        })?;
        let (reprojection, weights) = residuals.run(&problem)?;
        let ((starts, columns, values), jacobian_ms) = median_ms(options.repeat, || jacobian.run(&problem))?;
        let peak_bytes = frame::peak_bytes(options, program.program()?, &Arrays::to_tuple(&problem))?;
        let written_out = (starts.as_slice(), columns.as_slice(), values.as_slice());
        let sparse = options.sparse.then(|| by_sparse_jacobian(&problem, options, backend, written_out)).transpose()?;
        let row = |row: usize| -> Vec<f64> {
            let [start, end] = [starts.as_slice()[row], starts.as_slice()[row + 1]];
            let entries = &values.as_slice()[start as usize..end as usize];
            entries.iter().map(|entry| (*entry).into()).collect()
        };
        let first = reprojection.get(0).map_or([f64::NAN; 2], |error| [error.0.into(), error.1.into()]);
        Ok(BaReport {
            backend: backend.name().to_string(),
            nnz: values.len(),
            reproj_err: first,
            w_err: weights.as_slice()[0].into(),
            jac_row0: row(0),
            jac_row1: row(1),
            jac_werr0: row(2 * self.p)[0],
            jacobian_ms,
            compile_ms,
            peak_bytes,
            sparse,
        })
    }

    fn json(&self, file: &Path, report: &BaReport) -> impl Display {
        report.json(file, self.n, self.m, self.p)
    }

    fn print(&self, file: &Path, report: &BaReport) -> Result<(), Failure> {
        print_line(format_args!(
            "{}: {} cameras, {} points, {} observations; backend {}",
            file.display(),
            self.n,
            self.m,
            self.p,
            report.backend
        ))?;
        print_line(format_args!("reprojection error  {:?}", report.reproj_err))?;
        print_line(format_args!("weight error        {}", report.w_err))?;
        print_line(format_args!("Jacobian            {} entries", report.nnz))?;
        print_line(format_args!("  row 0             {:.6?}", report.jac_row0))?;
        print_line(format_args!("  row 1             {:.6?}", report.jac_row1))?;
        print_line(format_args!("  first weight row  {}", report.jac_werr0))?;
        print_line(format_args!(
            "time                compile {:.2} ms, Jacobian {:.2} ms",
            report.compile_ms, report.jacobian_ms
        ))?;
        if let Some(sparse) = &report.sparse {
            let SparseReport { directions, difference, pattern_ms, compile_ms, jacobian_ms } = sparse;
            print_line(format_args!(
                "sparse_jacobian     {directions} directions, largest difference {difference:.0e}"
            ))?;
            print_line(format_args!(
                "  time              pattern {pattern_ms:.2} ms, compile {compile_ms:.2} ms, Jacobian {jacobian_ms:.2} ms"
            ))?;
        }
        frame::print_memory("memory              ", report.peak_bytes)
    }
}

/// The Jacobian of the residuals with no word on its entries, compared with the other one.
fn by_sparse_jacobian<T: Floating + Into<f64>>(
    problem: &Problem<T>,
    options: &Options,
    backend: &dyn Backend,
    written_out: (&[i64], &[i64], &[T]),
) -> Result<SparseReport, Error> {
    let residuals = afun(residuals::<T>);
    let residuals = residuals.by(|(cameras, points, _, weights, _)| (cameras, points, weights));
    let (pattern, pattern_ms) = timed(|| SparsePattern::of(&residuals, problem))?;
    let (jacobian, compile_ms) = timed(|| sparse_jacobian_on(backend, &residuals, pattern))?;
    let (found, jacobian_ms) = median_ms(options.repeat, || jacobian.run(problem))?;
    let difference = difference(&found, written_out);
    Ok(SparseReport { directions: jacobian.directions(), difference, pattern_ms, compile_ms, jacobian_ms })
}

/// The largest difference of two entries, relative to the larger of the entry and 1. The pattern that is found has no entry where the other
/// one is always 0, such as that of the first component of an error by the second one of the principal point.
fn difference<T: Floating + Into<f64>>(found: &SparseMatrix, (starts, columns, values): (&[i64], &[i64], &[T])) -> f64 {
    let pattern = found.pattern();
    let mut largest = 0.0f64;
    for row in 0..pattern.rows() {
        let [start, end] = [starts[row] as usize, starts[row + 1] as usize];
        let mut entries = pattern.row(row).iter().zip(&found.values()[pattern.starts()[row]..]).peekable();
        for (column, value) in columns[start..end].iter().zip(&values[start..end]) {
            let value: f64 = (*value).into();
            let entry = entries.next_if(|(c, _)| **c as i64 == *column).map_or(0.0, |(_, x)| *x);
            largest = largest.max((entry - value).abs() / value.abs().max(1.0));
        }
        if entries.next().is_some() {
            return f64::INFINITY;
        }
    }
    largest
}
