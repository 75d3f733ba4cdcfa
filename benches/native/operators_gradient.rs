//! Values and derivatives of reductions and scans of 10M f32 in reverse mode, compared with the values alone, for the
//! operators of Futhark's paper on the derivatives of these operations.

use accel::afun::Afun;
use accel::prelude::*;
use accel::repr::{ArrayTuple, Column, RawArray};
use adbench::Lcg;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close, native};

/// The number of f32 in the argument: elements of several numbers are accordingly fewer.
const NUMBERS: usize = 10_000_000;
/// The same, where both modes are compared: sums of more numbers lose too many digits in single precision.
const COMPARED: usize = 10_000;

type E = Exp<f32>;
type LinearFunction = (f32, f32);
type Row3 = (f32, f32, f32);
type Row5 = (f32, f32, f32, f32, f32);
type Matrix2 = ((f32, f32), (f32, f32));
type Matrix3 = (Row3, Row3, Row3);
type Matrix5 = (Row5, Row5, Row5, Row5, Row5);

/// What the paper reports for an A100: the time of values and derivatives over that of the values, for a reduction and
/// for a scan.
type Costs = (f64, f64);

pub fn cases() -> Vec<Case> {
    let id2 = ((1.0, 0.0), (0.0, 1.0));
    let id3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0));
    let id5 = (
        (1.0, 0.0, 0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 1.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 1.0, 0.0),
        (0.0, 0.0, 0.0, 0.0, 1.0),
    );
    [
        rows::<f32>("+", (2.4, 1.8), 0.0, (0.0, 1.0), |x, y| (x + y).to_exp()),
        rows::<f32>("min", (2.8, 2.5), 0.0, (0.0, 1.0), |x, y| x.min(y)),
        // Close to 1, so that products are neither 0 nor infinite; likewise below.
        rows::<f32>("*", (2.7, 3.4), 1.0, (-1e-4, 1e-4), |x, y| (x * y).to_exp()),
        rows::<LinearFunction>("linear functions", (5.0, 3.4), (1.0, 0.0), (-1e-4, 1e-4), linear),
        rows::<(f32, f32)>("sum of products", (7.2, 4.5), (0.0, 0.0), (0.0, 1.0), sum_of_products),
        rows::<Matrix2>("2×2 matrices", (4.6, 4.3), id2, (-1e-4, 1e-4), |a, b| {
            product::<2, (E, E), _>(a, b).into_exp()
        }),
        rows::<Matrix3>("3×3 matrices", (6.4, 7.6), id3, (-1e-4, 1e-4), |a, b| {
            product::<3, (E, E, E), _>(a, b).into_exp()
        }),
        rows::<Matrix5>("5×5 matrices", (6.3, 6.9), id5, (-1e-4, 1e-4), |a, b| {
            product::<5, (E, E, E, E, E), _>(a, b).into_exp()
        }),
        columns(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A reduction and a scan of elements that are the neutral element, with noise.
fn rows<T: Elt + Sync>(
    name: &'static str,
    (reduction, scan): Costs,
    neutral: T,
    noise: (f64, f64),
    operator: fn(T::Exp, T::Exp) -> Exp<T>,
) -> Vec<Case> {
    let neutral2 = neutral.clone();
    let argument = move |neutral: &T, numbers: usize| -> Result<Vector<T>> {
        let components = floats(&Array::vector(vec![neutral.clone()])).len();
        with_noise(&Array::vector(vec![neutral.clone(); numbers / components]), noise)
    };
    vec![
        case("reduction", name, reduction, move || {
            let program = afun(|xs: Acc<Vector<T>>| fold1(operator, xs));
            pair(&program, argument(&neutral, COMPARED)?, argument(&neutral, NUMBERS)?)
        }),
        case("scan", name, scan, move || {
            let program = afun(|xs: Acc<Vector<T>>| scanl1(operator, xs));
            pair(&program, argument(&neutral2, COMPARED)?, argument(&neutral2, NUMBERS)?)
        }),
    ]
}

/// Products of the columns of a matrix, which is the vectorised operator `map2 (*)` on its rows.
fn columns() -> Vec<Case> {
    const COLUMNS: usize = 16;
    let argument =
        |numbers| with_noise(&Array::matrix(numbers / COLUMNS, COLUMNS, vec![1f32; numbers])?, (-1e-4, 1e-4));
    vec![
        case("reduction", "* of each of 16 columns", 3.4, move || {
            let program = afun(|m: Acc<Matrix<f32>>| fold1(|x, y| x * y, transpose(m)));
            pair(&program, argument(COMPARED)?, argument(NUMBERS)?)
        }),
        case("scan", "* of each of 16 columns", 0.44, move || {
            let program = afun(|m: Acc<Matrix<f32>>| transpose(scanl1(|x, y| x * y, transpose(m))));
            pair(&program, argument(COMPARED)?, argument(NUMBERS)?)
        }),
    ]
}

fn case(operation: &str, operator: &str, cost: f64, setup: impl FnOnce() -> Result<Pair> + 'static) -> Case {
    let work = format!("gradient of a {operation} ({operator}), 10M f32");
    Case::new("operators_gradient", work, "its own primal", [Asked::Cost(cost)], setup)
}

/// Values and derivatives of `xs` beside its values. The derivatives of `small` are compared with those of forward mode.
fn pair<A, R>(program: &Afun<A, R>, small: A, xs: A) -> Result<Pair>
where
    A: Arrays + Clone + 'static,
    R: Arrays + Clone + 'static,
{
    let pullback = vjp(program);
    let both = native(&afun(|xs: Acc<A>, dy: Acc<R>| (call(program, xs), call(&pullback, (xs, dy)))))?;
    let primal = native(program)?;
    let adjoint_of = |y: &R| with_noise(&zeros(y)?, (0.5, 1.5));

    let (y, dx) = (primal.run(&small)?, with_noise(&zeros(&small)?, (0.5, 1.5))?);
    let dy = adjoint_of(&y)?;
    let (_, tangent) = native(&jvp(program))?.run((&small, &dx))?;
    let (value, adjoint) = both.run((&small, &dy))?;
    if floats(&value) != floats(&y) {
        return Err("the values differ with and without derivatives".into());
    }
    let (forward, reverse) = (inner_product(&tangent, &dy), inner_product(&adjoint, &dx));
    check_close(&[reverse], &[forward], 1e-4)?;

    let dy = adjoint_of(&primal.run(&xs)?)?;
    let xs2 = xs.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(both.run((&xs, &dy))?)),
        reference: Measure::work(move || Ok(primal.run(&xs2)?)),
    })
}

fn linear((a, b): (E, E), (c, d): (E, E)) -> Exp<LinearFunction> {
    (a * c, b * c + d).into_exp()
}

/// The sum of the products of all pairs of elements.
fn sum_of_products((p, s): (E, E), (q, t): (E, E)) -> Exp<(f32, f32)> {
    (p + q + s * t, s + t).into_exp()
}

/// The product of two square matrices, which are tuples of rows.
fn product<const N: usize, R, M>(a: M, b: M) -> M
where
    M: Into<[R; N]> + From<[R; N]>,
    R: Into<[E; N]> + From<[E; N]>,
{
    let rows = |m: M| -> [[E; N]; N] { m.into().map(Into::into) };
    let (a, b) = (rows(a), rows(b));
    let entry = |i: usize, j: usize| (1..N).fold(a[i][0] * b[0][j], |sum, k| sum + a[i][k] * b[k][j]);
    let row = |i: usize| R::from(std::array::from_fn(|j| entry(i, j)));
    M::from(std::array::from_fn(row))
}

/// The arrays with 0 for each number.
fn zeros<A: Arrays>(arrays: &A) -> Result<A> {
    mapped(arrays, |_| 0.0)
}

/// The arrays with uniformly distributed numbers added.
fn with_noise<A: Arrays>(arrays: &A, (low, high): (f64, f64)) -> Result<A> {
    let mut random = Lcg::new(1);
    mapped(arrays, |x| x + random.uniform(low, high) as f32)
}

fn mapped<A: Arrays>(arrays: &A, mut f: impl FnMut(f32) -> f32) -> Result<A> {
    let ArrayTuple::Array(raw) = arrays.to_tuple() else { return Err("one array was expected".into()) };
    let mut column = |c: &Column| match c {
        Column::F32(c) => c.iter().map(|x| f(*x)).collect::<Vec<f32>>().into(),
        other => other.clone(),
    };
    let columns = raw.columns.iter().map(&mut column).collect();
    Ok(A::from_tuple(ArrayTuple::Array(RawArray { extents: raw.extents.clone(), columns }))?)
}

/// All numbers of an array, component by component.
fn floats<A: Arrays>(arrays: &A) -> Vec<Vec<f32>> {
    let ArrayTuple::Array(raw) = arrays.to_tuple() else { return vec![] };
    let numbers = |c: &Column| if let Column::F32(c) = c { c.to_vec() } else { vec![] };
    raw.columns.iter().map(numbers).collect()
}

fn inner_product<A: Arrays>(xs: &A, ys: &A) -> f64 {
    let (xs, ys) = (floats(xs), floats(ys));
    let products = |(xs, ys): (&Vec<f32>, &Vec<f32>)| -> f64 {
        xs.iter().zip(ys).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
    };
    xs.iter().zip(&ys).map(products).sum()
}
