//! Programs for one row that `vmap` applies to many, and whole matrices of derivatives.

use super::ba::jacobian;
use accel::prelude::*;
use accel::{SparsePattern, sparse_jacobian_on};
use adbench::BaFile;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close, native};
use bench_common::data::{beside, uniform};
use bench_common::jax;
use rayon::prelude::*;
use std::hint::black_box;

pub fn cases() -> Vec<Case> {
    let case = |work: &str, reference, asked, setup: fn() -> Result<Pair>| {
        Case::new("vmap", work, reference, [Asked::Speed(asked)], setup)
    };
    let by_hand = "Rust by hand, rayon";
    vec![
        case("10,000 products of 4 × 4 f32", by_hand, 1.0, products::<4>),
        case("10,000 products of 8 × 8 f32", by_hand, 1.0, products::<8>),
        case("Newton's method on 1M f64, own numbers of steps", by_hand, 0.9, roots_by_hand),
        case("Newton's method on 1M f64, own numbers of steps", "JAX, `vmap` of `while_loop`", 10.0, roots_in_jax),
        case("attention, 8 heads of 256 × 64 f32", "JAX", 1.0, || {
            jax::beside(&afun(heads), "attention", queries()?, 1e-5)
        }),
        case("attention, 8 heads of 256 × 64 f32: gradient", "JAX", 1.0, || {
            jax::beside(&grad(afun(squared_heads)), "attention_gradient", queries()?, 1e-4)
        }),
        case("Hessian, 20 parameters, 50 rows", "JAX", 2.0, || {
            jax::beside(&hessian(afun(loss).by(|(w, _)| w)), "hessian", rows()?, 1e-12)
        }),
        case("Jacobian, 50 × 20", "JAX", 2.0, || {
            jax::beside(&accel::jacobian(afun(residuals).by(|(w, _)| w)), "jacobian", rows()?, 1e-12)
        }),
        case("BA by `sparse_jacobian`, ba1", "the entries written out", 0.8, || sparse("ba1_n49_m7776_p31843")),
        case("BA by `sparse_jacobian`, ba5", "the entries written out", 0.8, || sparse("ba5_n257_m65132_p225911")),
    ]
}

const PRODUCTS: usize = 10_000;

fn products<const N: usize>() -> Result<Pair> {
    let size = PRODUCTS * N * N;
    let matrices = |seed| Array::<Dim3, f32>::from_vec([PRODUCTS, N, N], uniform(seed, size, -1.0, 1.0));
    let (a, b) = (matrices(1)?, matrices(2)?);
    let ours = native(&afun(matmul::<Dim0, f32>).vmap())?;
    // Into memory that is there already, as accel writes to that of its last result.
    let by_hand = |a: &[f32], b: &[f32], to: &mut [[[f32; N]; N]]| {
        let [a, b] = [a, b].map(squares::<N>);
        to.par_iter_mut().zip(a).zip(b).with_min_len(500).for_each(|((to, a), b)| {
            for i in 0..N {
                let mut row = [0.0; N];
                for k in 0..N {
                    for j in 0..N {
                        row[j] = a[i][k].mul_add(b[k][j], row[j]);
                    }
                }
                to[i] = row;
            }
        });
    };
    let mut to = vec![[[0.0; N]; N]; PRODUCTS];
    by_hand(a.as_slice(), b.as_slice(), &mut to);
    check_close(ours.run((&a, &b))?.as_slice(), to.as_flattened().as_flattened(), 1e-6)?;
    let (a2, b2) = (a.clone(), b.clone());
    Ok(Pair {
        ours: Measure::work(move || Ok(ours.run((&a, &b))?)),
        reference: Measure::work(move || {
            by_hand(a2.as_slice(), b2.as_slice(), black_box(&mut to));
            Ok(())
        }),
    })
}

fn squares<const N: usize>(all: &[f32]) -> &[[[f32; N]; N]] {
    all.as_chunks().0.as_chunks().0
}

/// The numbers whose cubic equation is solved: they take between 4 and some 40 steps.
fn numbers() -> Vector<f64> {
    Array::vector(uniform::<f64>(1, 1_000_000, -6.0, 12.0).iter().map(|x| x.exp2().powi(2)).collect())
}

/// The root of `x^3 + x = a`.
fn root(a: Acc<Scalar<f64>>) -> Acc<Scalar<f64>> {
    let start = map(|a| (a + 1.0, lit(f64::INFINITY)), a);
    let goes_on = |s: Acc<Scalar<(f64, f64)>>| {
        let (x, last) = the(s);
        x.lt(last)
    };
    let step = |s: Acc<Scalar<(f64, f64)>>| {
        zip_with(|a, (x, _): (Exp<f64>, Exp<f64>)| (x - (x * x * x + x - a) / (x * x * 3.0 + 1.0), x), a, s)
    };
    map(|(x, _): (Exp<f64>, Exp<f64>)| x, awhile(goes_on, step, start))
}

fn roots() -> Afun<Vector<f64>, Vector<f64>> {
    afun(|a: Acc<Vector<f64>>| vmap(root, a))
}

fn roots_by_hand() -> Result<Pair> {
    let (a, ours) = (numbers(), native(&roots())?);
    let by_hand = |a: &[f64]| -> Vec<f64> {
        let root = |a: &f64| {
            let (mut x, mut last) = (a + 1.0, f64::INFINITY);
            while x < last {
                (x, last) = (x - (x * x * x + x - a) / (x * x * 3.0 + 1.0), x);
            }
            x
        };
        a.par_iter().with_min_len(10_000).map(root).collect()
    };
    check_close(ours.run(&a)?.as_slice(), &by_hand(a.as_slice()), 1e-12)?;
    let a2 = a.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(ours.run(&a)?)),
        reference: Measure::work(move || Ok(by_hand(a2.as_slice()))),
    })
}

fn roots_in_jax() -> Result<Pair> {
    jax::beside(&roots(), "newton", numbers(), 1e-12)
}

type Queries = (Array<Dim3, f32>, Array<Dim3, f32>, Array<Dim3, f32>);

fn queries() -> Result<Queries> {
    let array = |seed| Array::from_vec([8, 256, 64], uniform(seed, 8 * 256 * 64, -1.0, 1.0));
    Ok((array(1)?, array(2)?, array(3)?))
}

type Heads = Acc<Array<Dim3, f32>>;

/// Attention, written for one head.
fn heads(q: Heads, k: Heads, v: Heads) -> Heads {
    let head = |(q, k, v): (Acc<Matrix<f32>>, Acc<Matrix<f32>>, Acc<Matrix<f32>>)| {
        matmul(softmax(matmul(q, transpose(k)) * 0.125), v)
    };
    vmap(head, (q, k, v))
}

fn squared_heads(q: Heads, k: Heads, v: Heads) -> Acc<Scalar<f32>> {
    sum_all(map(|x| x * x, heads(q, k, v)))
}

type Rows = (Vector<f64>, Matrix<f64>);

fn rows() -> Result<Rows> {
    Ok((Array::vector(uniform(1, 20, -1.0, 1.0)), Array::matrix(50, 20, uniform(2, 1000, -1.0, 1.0))?))
}

/// A logistic loss with a square of the parameters.
fn loss(w: Acc<Vector<f64>>, a: Acc<Matrix<f64>>) -> Acc<Scalar<f64>> {
    let losses = sum(map(|z| z.exp().ln_1p(), matvec(a, w)));
    zip_with(|l, q| l + q * 0.05, losses, dot(w, w))
}

fn residuals(w: Acc<Vector<f64>>, a: Acc<Matrix<f64>>) -> Acc<Vector<f64>> {
    map(|z| z.tanh(), matvec(a, w))
}

/// The Jacobian of the residuals alone, beside the program that says where its entries are.
fn sparse(name: &str) -> Result<Pair> {
    let file = BaFile::read(&beside(&format!("data/adbench/ba/{name}.txt"))?)?;
    let problem: jacobian::Problem<f64> = jacobian::expanded(&file);
    let written_out = native(&afun(jacobian::jacobian::<f64>))?;
    let residuals = afun(jacobian::residuals::<f64>);
    let residuals = residuals.by(|(cameras, points, _, weights, _)| (cameras, points, weights));
    let pattern = SparsePattern::of(&residuals, &problem)?;
    let ours = sparse_jacobian_on(accel::backend_named("native")?, &residuals, pattern)?;
    // The pattern has no entry where the other one always has 0.
    let total = |values: &[f64]| [values.iter().map(|x| x.abs()).sum::<f64>()];
    check_close(&total(ours.run(&problem)?.values()), &total(written_out.run(&problem)?.2.as_slice()), 1e-9)?;
    let problem2 = problem.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(ours.run(&problem)?)),
        reference: Measure::work(move || Ok(written_out.run(&problem2)?)),
    })
}
