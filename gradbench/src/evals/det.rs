//! The determinant of a matrix by expansion in minors, and its gradient.

use crate::conversions::number;
use crate::module::{Failure, Module, ends, fits};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Deserialize;
use std::array;

/// The number of last rows whose minors are expanded when the program is staged.
const LAST: usize = 5;
/// The most rows: a list of columns is a number of 64 bits, with four bits for each.
const MOST: usize = 15;

/// The determinant of a square matrix, by expansion along its rows.
///
/// The expansion along the first rows is a sum over all choices of different columns, one for each of these rows. The
/// number of a choice consists of digits: the first digit is the place of the first row's column, the second one the
/// place of the second row's column among those that are left, and so on. What is left for the last five rows is a
/// minor, which is expanded in Rust.
pub fn determinant(a: Acc<Matrix<f64>>) -> Acc<Scalar<f64>> {
    let a = at_least(LAST as i64, a);
    let n = a.shape().0;
    let first = n - LAST as i64;
    let choices = iterate(first, |(left, choices): (Exp<i64>, Exp<i64>)| (left - 1, choices * left), (n, 1i64)).1;
    let term = |choice: Exp<i64>| {
        let expand = |(row, choice, columns, product): (Exp<i64>, Exp<i64>, Exp<i64>, Exp<f64>)| {
            let (place, rest) = (choice % (n - row), choice / (n - row));
            let factor = a.at((row, column(columns, place)));
            (row + 1, rest, without(columns, place), product * cond((place % 2).eq(0), factor, -factor))
        };
        let (_, _, columns, product) = iterate(first, expand, (0i64, choice, constant(ALL_COLUMNS), 1.0));
        let entry = |row: i64, place: i64| a.at((first + row, column(columns, constant(place))));
        product * minor(array::from_fn(|row| array::from_fn(|place| entry(row as i64, place as i64))))
    };
    sum(generate(choices, term))
}

/// The determinant of the last rows, restricted to as many columns, by expansion along the first of them. A set of columns is
/// a number with a bit for each. The minor of the last rows with the same columns occurs in several expansions, and is
/// computed once for all of them.
fn minor(entries: [[Exp<f64>; LAST]; LAST]) -> Exp<f64> {
    let mut minors = vec![lit(1.0)];
    for columns in 1usize..1 << LAST {
        let row = entries[LAST - columns.count_ones() as usize];
        let chosen = (0..LAST).filter(|column| columns >> column & 1 == 1);
        let terms = chosen.map(|column| row[column] * minors[columns & !(1 << column)]);
        let alternating = terms.enumerate().map(|(place, term)| if place % 2 == 0 { term } else { -term });
        minors.push(alternating.reduce(|sum, term| sum + term).expect("there is a column"));
    }
    minors[minors.len() - 1]
}

/// The list of the columns 0, 1, 2, …
const ALL_COLUMNS: i64 = 0x0EDC_BA98_7654_3210;

/// The column at this place of a list.
fn column(columns: Exp<i64>, place: Exp<i64>) -> Exp<i64> {
    (columns >> (place * 4)) & 15
}

/// The list without the column at this place.
fn without(columns: Exp<i64>, place: Exp<i64>) -> Exp<i64> {
    let before = (constant(1i64) << (place * 4)) - 1;
    (columns & before) | ((columns >> 4) & !before)
}

/// A matrix of at least this number of rows with the same determinant: ones on the diagonal, then `a`.
fn at_least(rows: i64, a: Acc<Matrix<f64>>) -> Acc<Matrix<f64>> {
    let n = a.shape().0;
    let added = (rows - n).max(0);
    generate((n + added, n + added), |(i, j)| {
        let of_identity = cond(i.eq(j), lit(1.0), lit(0.0));
        cond(i.min(j).lt(added), of_identity, a.at((i - added, j - added)))
    })
}

/// The determinant and its gradient.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    let primal = afun(determinant);
    let gradient = grad(&primal);
    Module::new(backend).function("primal", primal, argument, number)?.function(
        "gradient",
        gradient,
        argument,
        |gradient| gradient.to_vec(),
    )
}

/// The input that the eval sends: a matrix, row by row.
#[derive(Deserialize)]
struct Input {
    #[serde(rename = "A")]
    a: Vec<f64>,
    ell: usize,
}

fn argument(input: Input) -> Result<Matrix<f64>, Failure> {
    let Input { a, ell } = input;
    if ell > MOST {
        return Err(Failure::Input(format!("`ell` is {ell}, and a matrix has at most {MOST} rows")));
    }
    if a.len() != ell * ell {
        return Err(Failure::Input(format!("`A` has {} numbers and `ell` is {ell}", a.len())));
    }
    ends((1..=ell).map(|n| n as f64).product())?;
    // The gradient lists the contributions of all ell!/5! terms. They take 615 bytes for each.
    fits(640 * (LAST as u64 + 1..=ell as u64).product::<u64>())?;
    Ok(Array::matrix(ell, ell, a)?)
}
