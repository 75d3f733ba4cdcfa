//! A stencil over a cube: the mean of an element and its neighbours, weighted.

use crate::bandwidth::{Streaming, numbers};
use accel::opencl::Device;
use accel::prelude::*;
use bench_common::case::Case;

/// The extent of the cube.
const N: usize = 512;
const CENTRE: f32 = 0.4;
const NEIGHBOUR: f32 = 0.1;

/// Each element is read once and each result written, if neighbours are read from caches. The neighbours of an element at
/// the edge of the cube include itself.
pub fn case(device: &Device) -> Case {
    Streaming {
        work: "7-point stencil, 512³ f32",
        bytes: 2 * N * N * N * size_of::<f32>(),
        program: afun(|xs: Acc<Array<Dim3, f32>>| {
            let (n, m, l) = xs.shape();
            generate((n, m, l), |(i, j, k)| {
                let (up, down) = (xs.at(((i - 1).max(0), j, k)), xs.at(((i + 1).min(n - 1), j, k)));
                let (back, front) = (xs.at((i, (j - 1).max(0), k)), xs.at((i, (j + 1).min(m - 1), k)));
                let (left, right) = (xs.at((i, j, (k - 1).max(0))), xs.at((i, j, (k + 1).min(l - 1))));
                xs.at((i, j, k)) * CENTRE + (up + down + back + front + left + right) * NEIGHBOUR
            })
        }),
        inputs: || Ok(Array::from_extents(&[N, N, N], numbers(1, N * N * N))?),
        expected: |xs| by_hand(xs.as_slice()),
    }
    .case(device)
}

fn by_hand(xs: &[f32]) -> Vec<f32> {
    let at = |i: usize, j: usize, k: usize| xs[(i * N + j) * N + k];
    let (before, after) = (|i: usize| i.saturating_sub(1), |i: usize| (i + 1).min(N - 1));
    let element = |p: usize| {
        let (i, j, k) = (p / N / N, p / N % N, p % N);
        let around = at(before(i), j, k)
            + at(after(i), j, k)
            + at(i, before(j), k)
            + at(i, after(j), k)
            + at(i, j, before(k))
            + at(i, j, after(k));
        at(i, j, k) * CENTRE + around * NEIGHBOUR
    };
    (0..xs.len()).map(element).collect()
}
