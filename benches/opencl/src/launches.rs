//! The cost of a run besides its kernels.

use crate::raw::empty_launches;
use accel::opencl::{Device, OpenCl};
use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair};

const RUNS: usize = 1_000;
const ELEMENTS: usize = 1_000;

/// Many runs of a small program. The host waits only for the last one.
pub fn case(device: &Device) -> Case {
    let work = format!("{RUNS} runs of a program of {ELEMENTS} elements");
    let device = device.clone();
    Case::new("launches", work, "as many empty kernels", [Asked::Cost(10.0)], move || {
        let opencl = OpenCl::on(&device)?;
        let program = opencl.compile(&afun(|xs: Acc<Vector<f32>>| map(|x| x * 0.5 + 1.0, xs)))?;
        let xs = opencl.to_device(&Array::vector(vec![1.0; ELEMENTS]))?;
        let ours = move || {
            let mut last = program.run_async(&xs)?;
            for _ in 1..RUNS {
                last = program.run_async(&xs)?;
            }
            Ok(last.wait()?)
        };
        Ok(Pair { ours: Measure::work(ours), reference: Measure::Work(Box::new(empty_launches(&device, RUNS)?)) })
    })
}
