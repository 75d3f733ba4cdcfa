//! Loops by hand, as a careful programmer writes them with rayon. Small work is done in the calling thread.

use accel::prelude::{Array, Elt, Exp, Floating, Num, Shape};
use accel::repr::{ArrayTuple, Column};
use bench_common::data::uniform;
use num_traits::Float;
use rayon::prelude::*;
use std::cell::RefCell;
use std::iter::Sum;
use std::ops::AddAssign;
use std::sync::Arc;

/// The type of elements of derivatives.
pub trait Real: Floating + Float + Single + Sum + AddAssign + Into<f64> {}
impl<T: Floating + Float + Single + Sum + AddAssign + Into<f64>> Real for T {}

/// About how many operations a thread does at a time.
const GRAIN: usize = 1 << 14;
/// The number of accumulators of a sum: four of the widest registers.
const LANES: usize = 32;

/// The name of a type of elements.
pub fn name<T>() -> &'static str {
    std::any::type_name::<T>()
}

/// An array of the host. The extents fit.
pub fn array<Sh: Shape, T: Elt>(extents: &[usize], values: Vec<T>) -> Array<Sh, T> {
    Array::from_extents(extents, values).expect("as many values as the extents say")
}

/// Random numbers, all positive.
pub fn reals<T: Floating>(seed: u64, n: usize) -> Vec<T> {
    uniform(seed, n, 0.1, 1.0)
}

/// Random integers from 0 to `bound - 1`.
pub fn integers<T: Num>(seed: u64, n: usize, bound: usize) -> Vec<T> {
    uniform::<f64>(seed, n, 0.0, bound as f64).into_iter().map(|x| T::from_f64(x.floor())).collect()
}

/// Random truth values.
pub fn truths(seed: u64, n: usize) -> Vec<bool> {
    uniform::<f64>(seed, n, 0.0, 1.0).into_iter().map(|x| x < 0.5).collect()
}

/// A literal of a program.
pub fn real<T: Real>(x: f64) -> Exp<T> {
    accel::prelude::lit(x)
}

thread_local! {
    /// The memory of results that were dropped.
    static DROPPED: RefCell<Vec<Column>> = RefCell::default();
}
/// The number of vectors that are kept.
const KEPT: usize = 8;

/// Keeps the memory of a result for the next one, as accel does: a new vector would take longer than most loops.
pub fn reuse(result: ArrayTuple) {
    match result {
        ArrayTuple::Unit => {}
        ArrayTuple::Array(a) => DROPPED.with_borrow_mut(|all| {
            all.extend(a.columns);
            all.drain(..all.len().saturating_sub(KEPT));
        }),
        ArrayTuple::Pair(p) => Arc::try_unwrap(p).into_iter().for_each(|(a, b)| [a, b].into_iter().for_each(reuse)),
    }
}

/// A type of elements whose vectors are columns.
pub trait Single: Elt + Copy + Default + Send {
    /// The vector of a column of this type that nobody else uses.
    fn taken(column: &mut Column) -> Option<Vec<Self>>;
}
macro_rules! singles {
    ($($variant:ident $t:ty),*) => { $(impl Single for $t {
        fn taken(column: &mut Column) -> Option<Vec<Self>> {
            match column {
                Column::$variant(c) => Some(std::mem::take(Arc::get_mut(c)?)),
                _ => None,
            }
        }
    })* };
}
singles!(F32 f32, F64 f64, I32 i32, I64 i64, Bool bool);

/// A vector of elements that have any values, in the memory of a result that was dropped if there is one of this length.
pub fn room<T: Single>(n: usize) -> Vec<T> {
    let dropped = DROPPED.with_borrow_mut(|all| {
        let (place, taken) =
            all.iter_mut().enumerate().filter(|(_, c)| c.len() == n).find_map(|(k, c)| Some((k, T::taken(c)?)))?;
        all.swap_remove(place);
        Some(taken)
    });
    dropped.unwrap_or_else(|| vec![T::default(); n])
}

/// The same with zeros.
pub fn zeroed<T: Single>(n: usize) -> Vec<T> {
    let mut all = room(n);
    all.fill(T::default());
    all
}

/// Fills parts of a vector. `f` gets the position of the first element.
pub fn parts<Y: Send>(out: &mut [Y], f: impl Fn(usize, &mut [Y]) + Sync) {
    if out.len() <= GRAIN {
        f(0, out)
    } else {
        out.par_chunks_mut(GRAIN).enumerate().for_each(|(part, out)| f(part * GRAIN, out))
    }
}

/// Fills the rows of a matrix. `f` gets the number of the row; `cost` says about how many operations a row takes.
pub fn rows<Y: Send>(out: &mut [Y], width: usize, cost: usize, f: impl Fn(usize, &mut [Y]) + Sync) {
    let at_once = (GRAIN / cost.max(1)).max(1);
    let some = |first: usize, out: &mut [Y]| {
        for (i, row) in out.chunks_exact_mut(width).enumerate() {
            f(first + i, row)
        }
    };
    if out.len() <= at_once * width {
        some(0, out)
    } else {
        out.par_chunks_mut(at_once * width).enumerate().for_each(|(part, out)| some(part * at_once, out))
    }
}

/// The vector that `f` computes element by element.
pub fn map<X: Copy + Sync, Y: Single>(xs: &[X], f: impl Fn(X) -> Y + Sync) -> Vec<Y> {
    let mut out = room(xs.len());
    parts(&mut out, |first, out| {
        for (out, x) in out.iter_mut().zip(&xs[first..]) {
            *out = f(*x);
        }
    });
    out
}

/// The vector that `f` computes from the elements of two vectors.
pub fn zip<X, W, Y>(xs: &[X], ws: &[W], f: impl Fn(X, W) -> Y + Sync) -> Vec<Y>
where
    X: Copy + Sync,
    W: Copy + Sync,
    Y: Single,
{
    let mut out = room(xs.len());
    parts(&mut out, |first, out| {
        for ((out, x), w) in out.iter_mut().zip(&xs[first..]).zip(&ws[first..]) {
            *out = f(*x, *w);
        }
    });
    out
}

/// A fold in one thread, in lanes.
pub fn fold<X: Copy, A: Copy>(xs: &[X], start: A, step: impl Fn(A, X) -> A, join: impl Fn(A, A) -> A) -> A {
    let (chunks, rest) = xs.as_chunks::<LANES>();
    let mut total = rest.iter().fold(start, |a, x| step(a, *x));
    if !chunks.is_empty() {
        let mut lanes = [start; LANES];
        for xs in chunks {
            for (lane, x) in lanes.iter_mut().zip(xs) {
                *lane = step(*lane, *x);
            }
        }
        total = lanes.into_iter().fold(total, join);
    }
    total
}

/// A fold in all threads.
pub fn fold_all<X, A>(xs: &[X], start: A, step: impl Fn(A, X) -> A + Sync, join: impl Fn(A, A) -> A + Sync) -> A
where
    X: Copy + Sync,
    A: Copy + Send + Sync,
{
    if xs.len() <= GRAIN {
        return fold(xs, start, step, join);
    }
    xs.par_chunks(4 * GRAIN).map(|xs| fold(xs, start, &step, &join)).reduce(|| start, &join)
}

/// The sum in one thread.
pub fn sum<T: Num + AddAssign + Default>(xs: &[T]) -> T {
    let add = |mut a: T, b: T| {
        a += b;
        a
    };
    fold(xs, T::default(), add, add)
}

/// The inner product in one thread.
pub fn dot<T: Real>(xs: &[T], ys: &[T]) -> T {
    let ((xs, xs_rest), (ys, ys_rest)) = (xs.as_chunks::<LANES>(), ys.as_chunks::<LANES>());
    let rest = xs_rest.iter().zip(ys_rest).map(|(x, y)| *x * *y).sum();
    if xs.is_empty() {
        return rest;
    }
    let mut lanes = [T::default(); LANES];
    for (xs, ys) in xs.iter().zip(ys) {
        for ((lane, x), y) in lanes.iter_mut().zip(xs).zip(ys) {
            *lane += *x * *y;
        }
    }
    lanes.into_iter().sum::<T>() + rest
}

/// `ys += a xs`.
pub fn axpy<T: Real>(a: T, xs: &[T], ys: &mut [T]) {
    for (y, x) in ys.iter_mut().zip(xs) {
        *y += a * *x;
    }
}

/// `ys += xs`.
pub fn add<T: Copy + AddAssign>(xs: &[T], ys: &mut [T]) {
    for (y, x) in ys.iter_mut().zip(xs) {
        *y += *x;
    }
}

/// Sums of `width` numbers, to which `f` adds the share of each of `n` rows. Each thread has sums of its own.
pub fn totals<T>(n: usize, cost: usize, width: usize, f: impl Fn(usize, &mut [T]) + Sync) -> Vec<T>
where
    T: Copy + Default + AddAssign + Send + Sync,
{
    let threads = if n * cost <= GRAIN { 1 } else { rayon::current_num_threads().min(n) };
    let part = |thread: usize| {
        let mut sums = vec![T::default(); width];
        for i in n * thread / threads..n * (thread + 1) / threads {
            f(i, &mut sums);
        }
        sums
    };
    if threads == 1 {
        return part(0);
    }
    let mut parts: Vec<Vec<T>> = (0..threads).into_par_iter().map(part).collect();
    let mut total = parts.swap_remove(0);
    for part in parts {
        add(&part, &mut total);
    }
    total
}

/// The matrix with rows and columns exchanged, in blocks that fit the first-level cache.
pub fn transposed<T: Single + Sync>(xs: &[T], n: usize, m: usize) -> Vec<T> {
    const BLOCK: usize = 16;
    let mut out = room(n * m);
    let band = |first: usize, out: &mut [T]| {
        for i0 in (0..n).step_by(BLOCK) {
            for (j, out) in out.chunks_exact_mut(n).enumerate() {
                for i in i0..n.min(i0 + BLOCK) {
                    out[i] = xs[i * m + first + j];
                }
            }
        }
    };
    if n * m <= GRAIN {
        band(0, &mut out)
    } else {
        out.par_chunks_mut(n * BLOCK).enumerate().for_each(|(b, out)| band(b * BLOCK, out))
    }
    out
}
