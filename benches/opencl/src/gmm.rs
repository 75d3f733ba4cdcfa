//! The gradient of Gaussian mixtures: on a processor compared with the native backend, on a GPU a large one compared
//! with JAX on the same GPU.

use crate::processor::opencl;
use accel::opencl::OpenCl;
use accel::prelude::*;
use adbench::GmmFile;
use bench_common::case::{Asked, Case, Measure, Pair, Result, native};
use bench_common::data::beside;
use bench_common::gmm::{self, check, inputs, program};
use bench_common::jax;
use std::path::Path;

/// ADBench's files, from arrays of the host to arrays of the host.
pub fn beside_native() -> Vec<Case> {
    gmm::cases("native backend", |file, name| {
        let work = format!("GMM gradient, {name}");
        vec![Case::new("gmm", work, "native backend", [Asked::Speed(0.5)], move || pair(&file))]
    })
}

fn pair(file: &Path) -> Result<Pair> {
    let problem = GmmFile::read(file)?;
    let (parameters, x) = inputs(&problem)?;
    let gradient = value_and_grad(&program(&problem, &x));
    let (ours, reference) = (opencl(&gradient)?, native(&gradient)?);
    for backend in [&ours, &reference] {
        check(file, backend.run(&parameters)?.0.item())?;
    }
    let same = parameters.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(ours.run(&parameters)?)),
        reference: Measure::work(move || Ok(reference.run(&same)?)),
    })
}

/// A file of 10,000 points in 32 dimensions and 200 components, which `examples/generate_adbench` makes. Parameters and
/// results stay on the device, as with JAX.
pub fn beside_jax() -> Vec<Case> {
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
