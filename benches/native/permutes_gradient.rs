//! The derivatives of permutes of 10M f32 in reverse mode, compared with the permutes themselves: values and derivatives
//! by all elements, for numbers of targets and operators as in Futhark's paper on `reduce_by_index`.

use accel::afun::Afun;
use accel::prelude::*;
use bench_common::case::{Asked, Case, Measure, Pair, Result, native};
use bench_common::data::uniform;

const ELEMENTS: usize = 10_000_000;

type Permute = fn(Acc<Vector<i32>>, Acc<Vector<f32>>, i64) -> Acc<Vector<f32>>;

pub fn cases() -> Vec<Case> {
    // The costs that the paper reports for an A100.
    let operators: [(&str, Permute, (f64, f64), [f64; 3]); 5] = [
        ("+", sums, (-1.0, 1.0), [1.5, 1.4, 1.4]),
        ("min", minima, (-1.0, 1.0), [1.9, 2.0, 3.0]),
        // Close to 1, so that the products are neither 0 nor infinite.
        ("*", products, (0.9999, 1.0001), [2.1, 2.0, 2.6]),
        ("sum of products", sums_of_products, (-1.0, 1.0), [29.4, 48.6, 9.4]),
        ("saturated +", saturated_sums, (0.0, 1.0), [29.7, 50.6, 21.2]),
    ];
    let case = |name, permute, range, bins: usize, cost| {
        let work = format!("gradient of permute ({name}), 10M f32, {bins} targets");
        Case::new("permutes_gradient", work, "its own primal", [Asked::Cost(cost)], move || pair(permute, range, bins))
    };
    let rows = |(name, permute, range, costs): (&'static str, Permute, _, [f64; 3])| {
        [31, 401, 50_000].into_iter().zip(costs).map(move |(bins, cost)| case(name, permute, range, bins, cost))
    };
    let vectorised: [(&str, Rows, (f64, f64), [f64; 3]); 3] = [
        (
            "+ of rows",
            |places, xs, bins| rows_by(|x, y| (x + y).to_exp(), 0.0, places, xs, bins),
            (-1.0, 1.0),
            [1.6, 1.5, 1.1],
        ),
        (
            "min of rows",
            |places, xs, bins| rows_by(|x, y| x.min(y), f32::INFINITY, places, xs, bins),
            (-1.0, 1.0),
            [3.0, 4.1, 3.2],
        ),
        (
            "* of rows",
            |places, xs, bins| rows_by(|x, y| (x * y).to_exp(), 1.0, places, xs, bins),
            (0.9999, 1.0001),
            [4.0, 3.9, 4.5],
        ),
    ];
    let of_rows = |(name, permute, range, costs): (&'static str, Rows, _, [f64; 3])| {
        [31, 401, 50_000].into_iter().zip(costs).map(move |(bins, cost)| {
            let work = format!("gradient of permute ({name}), 1M rows of 10 f32, {bins} targets");
            let setup = move || pair_of_rows(permute, range, bins);
            Case::new("permutes_gradient", work, "its own primal", [Asked::Cost(cost)], setup)
        })
    };
    operators.into_iter().flat_map(rows).chain(vectorised.into_iter().flat_map(of_rows)).collect()
}

type Rows = fn(Acc<Vector<i32>>, Acc<Matrix<f32>>, i64) -> Acc<Matrix<f32>>;

/// The number of elements of a row.
const COLUMNS: usize = 10;

fn pair_of_rows(permute: Rows, (low, high): (f64, f64), bins: usize) -> Result<Pair> {
    let n = ELEMENTS / COLUMNS;
    let xs: Matrix<f32> = Array::matrix(n, COLUMNS, uniform(1, ELEMENTS, low, high))?;
    let places = random_places(n, bins);
    let weights: Matrix<f32> = Array::matrix(bins, COLUMNS, uniform(3, bins * COLUMNS, 1.0, 2.0))?;
    let primal = afun(|xs: Acc<Matrix<f32>>| permute(use_(&places), xs, bins as i64));
    let objective = afun(|xs: Acc<Matrix<f32>>| {
        sum_all(zip_with(|x, y| x * y, permute(use_(&places), xs, bins as i64), use_(&weights)))
    });
    measured(&primal, &objective, xs)
}

/// Each row goes to one target, where an operator combines rows component by component.
fn rows_by(
    operator: fn(Exp<f32>, Exp<f32>) -> Exp<f32>,
    neutral: f32,
    places: Acc<Vector<i32>>,
    xs: Acc<Matrix<f32>>,
    bins: i64,
) -> Acc<Matrix<f32>> {
    let (_, columns) = xs.shape();
    let row = |(i, j): (Exp<i64>, Exp<i64>)| (true, (places.at(i).cast::<i64>(), j));
    permute(operator, fill((bins, columns), neutral), row, xs)
}

fn pair(permute: Permute, (low, high): (f64, f64), bins: usize) -> Result<Pair> {
    let xs: Vector<f32> = Array::vector(uniform(1, ELEMENTS, low, high));
    let places = random_places(ELEMENTS, bins);
    let weights: Vector<f32> = Array::vector(uniform(3, bins, 1.0, 2.0));
    let primal = afun(|xs: Acc<Vector<f32>>| permute(use_(&places), xs, bins as i64));
    let objective = afun(|xs: Acc<Vector<f32>>| dot(permute(use_(&places), xs, bins as i64), use_(&weights)));
    measured(&primal, &objective, xs)
}

fn random_places(n: usize, bins: usize) -> Vector<i32> {
    let place = |x: f64| ((x * bins as f64) as i32).min(bins as i32 - 1);
    uniform::<f64>(2, n, 0.0, 1.0).into_iter().map(place).collect()
}

fn measured<Sh: Shape>(
    primal: &Afun<Array<Sh, f32>, Array<Sh, f32>>,
    objective: &Afun<Array<Sh, f32>, Scalar<f32>>,
    xs: Array<Sh, f32>,
) -> Result<Pair> {
    let (primal, gradient) = (native(primal)?, native(&value_and_grad(objective))?);
    let (_, found) = gradient.run(&xs)?;
    if found.len() != ELEMENTS || !found.as_slice().iter().all(|g| g.is_finite()) {
        return Err("the gradient is not a finite number for each element".into());
    }
    primal.run(&xs)?;
    let xs2 = xs.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(gradient.run(&xs)?)),
        reference: Measure::work(move || Ok(primal.run(&xs2)?)),
    })
}

/// The target of an element.
fn target(places: Acc<Vector<i32>>) -> impl FnOnce(Exp<i64>) -> (bool, Exp<i64>) {
    move |i| (true, places.at(i).cast::<i64>())
}

fn sums(places: Acc<Vector<i32>>, xs: Acc<Vector<f32>>, bins: i64) -> Acc<Vector<f32>> {
    permute(|x, y| x + y, fill(bins, 0f32), target(places), xs)
}

fn minima(places: Acc<Vector<i32>>, xs: Acc<Vector<f32>>, bins: i64) -> Acc<Vector<f32>> {
    permute(|x, y| x.min(y), fill(bins, f32::INFINITY), target(places), xs)
}

fn products(places: Acc<Vector<i32>>, xs: Acc<Vector<f32>>, bins: i64) -> Acc<Vector<f32>> {
    permute(|x, y| x * y, fill(bins, 1f32), target(places), xs)
}

/// The sum of the products of all pairs of elements.
fn sums_of_products(places: Acc<Vector<i32>>, xs: Acc<Vector<f32>>, bins: i64) -> Acc<Vector<f32>> {
    let combine = |(p, s): (Exp<f32>, Exp<f32>), (q, t): (Exp<f32>, Exp<f32>)| (p + q + s * t, s + t);
    let entries = map(|x| (0f32, x), xs);
    map(|(p, _)| p, permute(combine, fill(bins, (0f32, 0f32)), target(places), entries))
}

/// Sums of numbers that are not negative, up to a limit.
fn saturated_sums(places: Acc<Vector<i32>>, xs: Acc<Vector<f32>>, bins: i64) -> Acc<Vector<f32>> {
    permute(|x, y| (x + y).min(10_000f32), fill(bins, 0f32), target(places), xs)
}
