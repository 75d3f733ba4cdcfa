//! The gradient of a large Gaussian mixture, compared with JAX on the same GPU.

use accel::opencl::OpenCl;
use accel::prelude::*;
use adbench::GmmFile;
use bench_common::case::{Asked, Case, Measure, Pair};
use bench_common::data::beside;
use bench_common::gmm::{inputs, program};
use bench_common::jax;

/// A file of 10,000 points in 32 dimensions and 200 components, which `examples/generate_adbench` makes. Parameters and
/// results stay on the device, as with JAX.
pub fn cases() -> Vec<Case> {
    let work = "GMM gradient, n = 10,000, d = 32, K = 200";
    vec![Case::new("gmm", work, "JAX", [Asked::Speed(1.0)], || {
        let file = beside("large_gmm.txt")?;
        let problem = GmmFile::read(&file)?;
        let (parameters, x) = inputs(&problem)?;
        let gradient = value_and_grad(&program(&problem, &x));
        let device = OpenCl::shared()?;
        let ours = device.compile(&gradient)?;
        let parameters = device.to_device(&parameters)?;
        Ok(Pair {
            ours: Measure::work(move || Ok(ours.run_async(&parameters)?.wait()?)),
            reference: jax::gmm(&file, "gradient_ms"),
        })
    })]
}
