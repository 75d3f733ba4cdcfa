//! How much of the bandwidth of a GPU's memory programs reach, compared with copies of as many bytes.

use crate::raw::copies;
use crate::stencil;
use accel::afun::Afun;
use accel::opencl::{Device, OpenCl};
use accel::prelude::*;
use bench_common::axpy::axpy;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close};

/// The size of a large array: 2²⁷ f64, 2²⁸ f32.
pub const ARRAY: usize = 1 << 30;
/// The extent of a large square matrix of f32.
const SIDE: usize = 1 << 14;

/// A program whose speed memory limits.
pub struct Streaming<A, Sh, T> {
    pub work: &'static str,
    /// The number of bytes that it has to read and write.
    pub bytes: usize,
    pub program: Afun<A, Array<Sh, T>>,
    pub inputs: fn() -> Result<A>,
    /// The same function, computed on the host.
    pub expected: fn(&A) -> Vec<T>,
}

impl<A: Arrays + 'static, Sh: Shape + 'static, T: Floating + Into<f64>> Streaming<A, Sh, T> {
    pub fn case(self, device: &Device) -> Case {
        let device = device.clone();
        Case::new("bandwidth", self.work, "copies of as many bytes", [Asked::Speed(0.9)], move || {
            let opencl = OpenCl::on(&device)?;
            let program = opencl.compile(&self.program)?;
            let inputs = (self.inputs)()?;
            let arguments = opencl.to_device(&inputs)?;
            let found = program.run_async(&arguments)?.wait()?.to_host()?;
            check_close(found.as_slice(), &(self.expected)(&inputs), 1e-4)?;
            let ours = move || Ok(program.run_async(&arguments)?.wait()?);
            Ok(Pair { ours: Measure::work(ours), reference: Measure::Work(Box::new(copies(&device, self.bytes)?)) })
        })
    }
}

pub fn cases(device: &Device) -> Vec<Case> {
    [babel_stream(device), vectors(device), matrices(device), vec![stencil::case(device)]]
        .into_iter()
        .flatten()
        .collect()
}

/// The five kernels of BabelStream. To copy an array is no work in this language, so the copy is backwards.
fn babel_stream(device: &Device) -> Vec<Case> {
    const SCALE: f64 = 0.4;
    let one = || Ok(vector::<f64>(1));
    let two = || Ok((vector::<f64>(1), vector::<f64>(2)));
    vec![
        Streaming {
            work: "BabelStream: copy, backwards, 2²⁷ f64",
            bytes: 2 * ARRAY,
            program: afun(|a: Acc<Vector<f64>>| reverse(a)),
            inputs: one,
            expected: |a| a.as_slice().iter().rev().copied().collect(),
        }
        .case(device),
        Streaming {
            work: "BabelStream: mul, 2²⁷ f64",
            bytes: 2 * ARRAY,
            program: afun(|c: Acc<Vector<f64>>| map(|x| x * SCALE, c)),
            inputs: one,
            expected: |c| c.as_slice().iter().map(|x| x * SCALE).collect(),
        }
        .case(device),
        Streaming {
            work: "BabelStream: add, 2²⁷ f64",
            bytes: 3 * ARRAY,
            program: afun(|a: Acc<Vector<f64>>, b: Acc<Vector<f64>>| zip_with(|x, y| x + y, a, b)),
            inputs: two,
            expected: |(a, b)| a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| x + y).collect(),
        }
        .case(device),
        Streaming {
            work: "BabelStream: triad, 2²⁷ f64",
            bytes: 3 * ARRAY,
            program: afun(|b: Acc<Vector<f64>>, c: Acc<Vector<f64>>| zip_with(|x, y| x + y * SCALE, b, c)),
            inputs: two,
            expected: |(b, c)| b.as_slice().iter().zip(c.as_slice()).map(|(x, y)| x + y * SCALE).collect(),
        }
        .case(device),
        Streaming {
            work: "BabelStream: dot, 2²⁷ f64",
            bytes: 2 * ARRAY,
            program: afun(|a: Acc<Vector<f64>>, b: Acc<Vector<f64>>| dot(a, b)),
            inputs: two,
            expected: |(a, b)| vec![a.as_slice().iter().zip(b.as_slice()).map(|(x, y)| x * y).sum()],
        }
        .case(device),
    ]
}

fn vectors(device: &Device) -> Vec<Case> {
    let one = || Ok(vector::<f32>(1));
    vec![
        Streaming {
            work: "axpy, 2²⁸ f32",
            bytes: 3 * ARRAY,
            program: afun(axpy::<f32>),
            inputs: || Ok((Array::scalar(0.5), vector(1), vector(2))),
            expected: |(a, xs, ys)| xs.as_slice().iter().zip(ys.as_slice()).map(|(x, y)| a.item() * x + y).collect(),
        }
        .case(device),
        Streaming {
            work: "sum, 2²⁸ f32",
            bytes: ARRAY,
            program: afun(|xs: Acc<Vector<f32>>| sum(xs)),
            inputs: one,
            expected: |xs| vec![total(xs.as_slice().iter())],
        }
        .case(device),
        Streaming {
            work: "maximum, 2²⁸ f32",
            bytes: ARRAY,
            program: afun(|xs: Acc<Vector<f32>>| maximum(xs)),
            inputs: one,
            expected: |xs| vec![xs.as_slice().iter().copied().fold(f32::NEG_INFINITY, f32::max)],
        }
        .case(device),
        Streaming {
            work: "prefix sum, 2²⁸ f32",
            bytes: 2 * ARRAY,
            program: afun(|xs: Acc<Vector<f32>>| scanl1(|x, y| x + y, xs)),
            inputs: one,
            expected: |xs| prefix_sums(xs.as_slice()),
        }
        .case(device),
    ]
}

fn matrices(device: &Device) -> Vec<Case> {
    let one = || Ok(Array::matrix(SIDE, SIDE, numbers(1, SIDE * SIDE))?);
    vec![
        Streaming {
            work: "sums of rows, 2¹⁴ × 2¹⁴ f32",
            bytes: ARRAY,
            program: afun(|m: Acc<Matrix<f32>>| sum(m)),
            inputs: one,
            expected: |m| m.as_slice().chunks(SIDE).map(|row| total(row.iter())).collect(),
        }
        .case(device),
        Streaming {
            work: "sums of columns, 2¹⁴ × 2¹⁴ f32",
            bytes: ARRAY,
            program: afun(|m: Acc<Matrix<f32>>| sum(transpose(m))),
            inputs: one,
            expected: |m| (0..SIDE).map(|j| total(m.as_slice()[j..].iter().step_by(SIDE))).collect(),
        }
        .case(device),
        Streaming {
            work: "prefix sums of rows, 2¹⁴ × 2¹⁴ f32",
            bytes: 2 * ARRAY,
            program: afun(|m: Acc<Matrix<f32>>| scanl1(|x, y| x + y, m)),
            inputs: one,
            expected: |m| m.as_slice().chunks(SIDE).flat_map(prefix_sums).collect(),
        }
        .case(device),
        Streaming {
            work: "transposition, 2¹⁴ × 2¹⁴ f32",
            bytes: 2 * ARRAY,
            program: afun(|m: Acc<Matrix<f32>>| transpose(m)),
            inputs: one,
            expected: |m| (0..SIDE * SIDE).map(|p| m.as_slice()[p % SIDE * SIDE + p / SIDE]).collect(),
        }
        .case(device),
    ]
}

/// Numbers between 0 and 1 in no simple order, made faster than random ones.
pub fn numbers<T: Floating>(seed: usize, n: usize) -> Vec<T> {
    (0..n).map(|i| T::from_f64(((i + seed).wrapping_mul(0x9e37_79b9) >> 8 & 0xfff) as f64 / 4096.0)).collect()
}

fn vector<T: Floating>(seed: usize) -> Vector<T> {
    Array::vector(numbers(seed, ARRAY / size_of::<T>()))
}

fn total<'a>(xs: impl Iterator<Item = &'a f32>) -> f32 {
    xs.map(|x| f64::from(*x)).sum::<f64>() as f32
}

fn prefix_sums(xs: &[f32]) -> Vec<f32> {
    let add = |sum: &mut f64, x: &f32| {
        *sum += f64::from(*x);
        Some(*sum as f32)
    };
    xs.iter().scan(0.0, add).collect()
}
