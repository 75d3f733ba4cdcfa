//! ADBench's Gaussian mixture as a program with its inputs; the objective is that of the example.

#[path = "../../examples/gmm/objective.rs"]
mod objective;

use accel::afun::Afun;
use accel::prelude::*;
use adbench::GmmFile;
use objective::{constant_term, objective};

/// Weights, means and factors.
pub type Parameters = (Vector<f64>, Matrix<f64>, Matrix<f64>);

/// The parameters of a file, and the points as an array of the host.
pub fn inputs(file: &GmmFile) -> Result<(Parameters, Matrix<f64>), Error> {
    let GmmFile { d, k, n, .. } = *file;
    let means = Array::matrix(k, d, file.means.clone())?;
    let icf = Array::matrix(k, file.icf_columns(), file.icf.clone())?;
    Ok(((Array::vector(file.alphas.clone()), means, icf), Array::matrix(n, d, file.x.clone())?))
}

/// The objective as a program of the parameters; the points are constants of it.
pub fn program(file: &GmmFile, x: &Matrix<f64>) -> Afun<Parameters, Scalar<f64>> {
    let scalar = Array::scalar;
    let (gamma, m) = (scalar(file.gamma), scalar(f64::from(file.m)));
    let constant = scalar(constant_term(file.n, file.d, file.k, file.gamma, file.m));
    afun(|alphas: Acc<Vector<f64>>, means: Acc<Matrix<f64>>, icf: Acc<Matrix<f64>>| {
        objective((alphas, means, icf), use_(x), (use_(&gamma), use_(&m), use_(&constant)))
    })
}
