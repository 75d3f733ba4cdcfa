//! The objective of fitting a Gaussian mixture, and its gradient: ADBench's GMM problem.
//!
//! ```text
//! cargo run --release --example gmm -- --input FILE [--backend B] [--precision f32|f64] [--repeat N] [--memory] [--json]
//! ```

#[path = "frame/mod.rs"]
mod frame;
#[path = "gmm/objective.rs"]
mod objective;

use accel::backend::Backend;
use accel::prelude::*;
use adbench::{Failure, FileError, GmmFile, GmmReport, Options, median_ms, print_line, timed};
use frame::Example;
use objective::{constant_term, objective};
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    frame::run::<GmmFile>()
}

impl Example for GmmFile {
    const ABOUT: &str = "The objective of a Gaussian mixture, and its gradient by the alphas, the means and the inverse covariance factors.";
    const JSON: &str = "the whole gradient";
    const SMALL: &str = "gmm_d2_k3_n50.txt";
    type Report = GmmReport;

    fn read(file: &Path) -> Result<GmmFile, FileError> {
        GmmFile::read(file)
    }

    fn compute<T: Floating + Into<f64>>(&self, options: &Options, backend: &dyn Backend) -> Result<GmmReport, Error> {
        let GmmFile { d, k, n, .. } = *self;
        let scalar = |x: f64| Array::scalar(T::from_f64(x));
        let matrix = |rows, columns, numbers: &[f64]| Array::matrix(rows, columns, converted(numbers));
        let alphas: Vector<T> = Array::vector(converted(&self.alphas));
        let means: Matrix<T> = matrix(k, d, &self.means)?;
        let icf: Matrix<T> = matrix(k, self.icf_columns(), &self.icf)?;
        let x: Matrix<T> = matrix(n, d, &self.x)?;
        let gamma: Scalar<T> = scalar(self.gamma);
        let m: Scalar<T> = scalar(f64::from(self.m));
        let constant: Scalar<T> = scalar(constant_term(n, d, k, self.gamma, self.m));

        // The points and the prior are constants of the program, which is not differentiated by them.
        let ((value, gradient, program), compile_ms) = timed(|| {
            let prog = afun(|alphas: Acc<Vector<T>>, means: Acc<Matrix<T>>, icf: Acc<Matrix<T>>| {
                let prior = (use_(&gamma), use_(&m), use_(&constant));
                objective((alphas, means, icf), use_(&x), prior)
            });
            let program = value_and_grad(&prog);
            Ok::<_, Error>((compile_on(backend, &prog)?, compile_on(backend, &program)?, program))
        })?;
        let (_, objective_ms) = median_ms(options.repeat, || value.run((&alphas, &means, &icf)))?;
        let (results, gradient_ms) = median_ms(options.repeat, || gradient.run((&alphas, &means, &icf)))?;
        let peak_bytes = frame::peak_bytes(options, program.program()?, &Inputs::to_tuple(&(&alphas, &means, &icf)))?;
        let (objective, (d_alphas, d_means, d_icf)) = results;
        Ok(GmmReport {
            backend: backend.name().to_string(),
            objective: objective.as_slice()[0].into(),
            d_alphas: d_alphas.iter().map(T::into).collect(),
            d_means: d_means.iter().map(T::into).collect(),
            d_icf: d_icf.iter().map(T::into).collect(),
            objective_ms,
            gradient_ms,
            compile_ms,
            peak_bytes,
        })
    }

    fn json(&self, file: &Path, report: &GmmReport) -> impl Display {
        report.json(file, self.n, self.d, self.k)
    }

    fn print(&self, file: &Path, report: &GmmReport) -> Result<(), Failure> {
        print_line(format_args!(
            "{}: {} points in {} dimensions, {} Gaussians; backend {}",
            file.display(),
            self.n,
            self.d,
            self.k,
            report.backend
        ))?;
        print_line(format_args!("objective  {}", report.objective))?;
        for (name, gradient) in [("d_alphas", &report.d_alphas), ("d_means", &report.d_means), ("d_icf", &report.d_icf)]
        {
            let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            let first = &gradient[..gradient.len().min(4)];
            let more = if first.len() < gradient.len() { ", …" } else { "" };
            let first: Vec<_> = first.iter().map(|g| format!("{g:.6}")).collect();
            print_line(format_args!(
                "{name:<9}  [{}{more}]  {} entries, norm {norm:.6}",
                first.join(", "),
                gradient.len()
            ))?;
        }
        print_line(format_args!(
            "time       compile {:.2} ms, objective {:.2} ms, objective and gradient {:.2} ms",
            report.compile_ms, report.objective_ms, report.gradient_ms
        ))?;
        frame::print_memory("memory     ", report.peak_bytes)
    }
}

fn converted<T: Floating>(numbers: &[f64]) -> Vec<T> {
    numbers.iter().map(|x| T::from_f64(*x)).collect()
}
