//! The OpenCL backend on the devices of this machine. Where there is none, every test says so and does nothing.
#![cfg(feature = "opencl")]

#[path = "conformance/mod.rs"]
mod suite;

use accel::opencl::{OpenCl, Shape, default_device};
use accel::prelude::*;
use std::sync::OnceLock;

/// The backend on the default device, if there is one.
fn opencl() -> Option<&'static OpenCl> {
    static FOUND: OnceLock<Option<OpenCl>> = OnceLock::new();
    let find = || match default_device().and_then(|d| OpenCl::on(&d)) {
        Ok(backend) => Some(backend),
        Err(e) => {
            println!("LEFT OUT: {e}");
            None
        }
    };
    FOUND.get_or_init(find).as_ref()
}

#[test]
fn axpy_runs() {
    let Some(backend) = opencl() else { return };
    let axpy = afun(|a: Acc<Scalar<f32>>, xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>| {
        let a = the(a);
        zip_with(move |x, y| a * x + y, xs, ys)
    });
    for n in [0, 1, 1000, 1 << 20] {
        let xs: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let ys = vec![1.0f32; n];
        let expected: Vec<f32> = xs.iter().map(|x| 2.0 * x + 1.0).collect();
        let found = run_on(backend, &axpy, (&Array::scalar(2.0), &Array::vector(xs), &Array::vector(ys))).unwrap();
        assert_eq!(found.as_slice(), expected);
    }
}

#[test]
fn conformance() {
    let Some(backend) = opencl() else { return };
    println!("{} results compared", suite::all(backend));
}

/// Kernels for graphics cards, on whatever device there is.
#[test]
fn conformance_of_kernels_for_gpus() {
    let Some(backend) = opencl() else { return };
    println!("{} results compared", suite::all(&backend.clone().with_shape(Shape::Gpu)));
}
