//! The OpenCL backend against the native one, and what a run costs beside its kernels.
//!
//! ```text
//! cargo bench -p accel-opencl
//! ```

use accel_core::afun::Compiled;
use accel_core::error::Error;
use accel_core::prelude::*;
use accel_native::Native;
use accel_opencl::OpenCl;
use std::time::Instant;

/// The shortest time of `f` and of `g` in milliseconds, in turns.
fn best(turns: usize, mut f: impl FnMut(), mut g: impl FnMut()) -> (f64, f64) {
    let time = |f: &mut dyn FnMut()| {
        let begin = Instant::now();
        f();
        begin.elapsed().as_secs_f64() * 1e3
    };
    let (mut a, mut b) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..turns {
        a = a.min(time(&mut f));
        b = b.min(time(&mut g));
    }
    (a, b)
}

type V = Vector<f32>;

/// A program on both backends with arrays of the host, and on the device with arrays that are there.
fn compare<R: Arrays>(opencl: &OpenCl, name: &str, program: Afun<(V, V), R>, n: usize) -> Result<(), Error> {
    let native = Compiled::new(&Native, &program)?;
    let device = opencl.compile(&program)?;
    let (xs, ys) = (Array::vector(vec![1.0f32; n]), Array::vector(vec![0.5f32; n]));
    let there = (opencl.to_device(&xs)?, opencl.to_device(&ys)?);
    let run = |r: Result<R, Error>| std::mem::drop(r.expect("it runs"));
    let (a, b) = best(15, || run(device.run((&xs, &ys))), || run(native.run((&xs, &ys))));
    let kept = || std::mem::drop(device.run_async((&there.0, &there.1)).and_then(|r| r.wait()).expect("it runs"));
    let (c, _) = best(15, kept, || ());
    println!("{name:10} n = {n:9}: opencl {a:7.3} ms, kept there {c:7.3} ms, native {b:7.3} ms, ratio {:.2}", b / a);
    Ok(())
}

/// The time of each of a thousand runs that are begun before one is waited for, in microseconds.
fn batch(opencl: &OpenCl, n: usize) -> Result<f64, Error> {
    let program = opencl.compile(&afun(|xs: Acc<V>| map(|x| x * 0.5 + 1.0, xs)))?;
    let xs = opencl.to_device(&Array::vector(vec![1.0f32; n]))?;
    let runs = || {
        let runs: Vec<_> = (0..1000).map(|_| program.run_async(&xs).expect("it begins")).collect();
        runs.into_iter().for_each(|r| std::mem::drop(r.wait().expect("it runs")));
    };
    Ok(best(15, runs, || ()).0)
}

/// The time of each of a thousand launches of an empty kernel on the first device, in microseconds.
fn empty_kernel() -> ocl::Result<f64> {
    let queue = ocl::ProQue::builder().src("kernel void empty() {}").dims(1).build()?;
    let kernel = queue.kernel_builder("empty").build()?;
    let launches = || {
        for _ in 0..1000 {
            // SAFETY: the kernel does nothing.
            unsafe { kernel.enq().expect("it is enqueued") };
        }
        queue.finish().expect("it ends");
    };
    Ok(best(15, launches, || ()).0)
}

fn main() -> Result<(), Error> {
    let opencl = OpenCl::shared()?;
    println!("{}", opencl.device());
    let launch = empty_kernel().map_err(|e| Error::Device(e.to_string()))?;
    println!("an empty kernel, batched: {launch:.2} us");
    for n in [1, 1000] {
        println!("a run of {n} elements, batched: {:.2} us", batch(opencl, n)?);
    }
    for n in [1 << 24, 1 << 10] {
        compare(opencl, "axpy", afun(|xs: Acc<V>, ys: Acc<V>| zip_with(|x, y| x * 2.0 + y, xs, ys)), n)?;
        compare(opencl, "sum", afun(|xs: Acc<V>, _: Acc<V>| sum(xs)), n)?;
        compare(opencl, "dot", afun(|xs: Acc<V>, ys: Acc<V>| dot(xs, ys)), n)?;
    }
    Ok(())
}
