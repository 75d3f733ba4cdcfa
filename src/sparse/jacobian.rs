//! The entries of a sparse Jacobian, from one product for each colour.

use super::colouring::Colouring;
use super::numbers::{Numbers, Place, columns};
use super::pattern::SparsePattern;
use crate::choice::{compile_on, default_backend};
use accel_ad::{Differentiable, jvp, vjp};
use accel_core::afun::{Afun, afun, call};
use accel_core::ast::Source;
use accel_core::ast::ty::Repr;
use accel_core::backend::Backend;
use accel_core::error::{Error, Result};
use accel_core::prelude::{Acc, Array, IntoAcc, Matrix, vmap};
use accel_core::repr::{ArrayTuple, RawArray};
use accel_core::surface::derive_support::retype_acc;
use accel_core::types::{Arrays, Inputs, Listed, Rows};
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, Mutex, PoisonError};

/// Arrays, and tuples and records of them, in as many versions as there are rows in a list of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither the argument nor the result of a program with a sparse Jacobian",
    note = "arrays, and tuples and records of them are; `by` chooses such parts of an argument"
)]
pub trait Batched: Listed<List: Rows<Row: Arrays<Repr = <Self as Arrays>::Repr>>> {}
impl<A: Listed<List: Rows<Row: Arrays<Repr = <A as Arrays>::Repr>>>> Batched for A {}

/// A sparse matrix in compressed rows.
#[derive(Clone, PartialEq, Debug)]
pub struct SparseMatrix {
    pattern: Arc<SparsePattern>,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// Where the entries are.
    pub fn pattern(&self) -> &SparsePattern {
        &self.pattern
    }

    /// The values of the entries, in the order of [`SparsePattern::indices`].
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The matrix with all zeros.
    ///
    /// # Errors
    /// A size that no array can have.
    pub fn to_dense(&self) -> Result<Matrix<f64>> {
        let (rows, columns) = (self.pattern.rows(), self.pattern.columns());
        let size = rows.checked_mul(columns).ok_or_else(|| Error::Host(format!("a {rows} by {columns} matrix")))?;
        let (mut dense, mut values) = (vec![0.0; size], self.values.iter());
        for row in 0..rows {
            for (column, value) in self.pattern.row(row).iter().zip(&mut values) {
                dense[row * columns + column] = *value;
            }
        }
        Array::matrix(rows, columns, dense)
    }
}

/// The sparse Jacobian of a program, compiled, for any number of points: the result of [`sparse_jacobian`].
pub struct SparseJacobian<A> {
    at: Source,
    pattern: Arc<SparsePattern>,
    colouring: Colouring,
    /// The part of the argument, or the result, whose directions have colours.
    seeded: Box<Map>,
    /// The products of several directions: tangents of the result, or adjoints of the part of the argument.
    products: Box<Products>,
    seeds: Mutex<Option<(Numbers, Vec<RawArray>)>>,
    types: PhantomData<fn(A)>,
}

type Map = dyn Fn(&ArrayTuple) -> Result<ArrayTuple> + Send + Sync;
type Products = dyn Fn(&ArrayTuple, Vec<RawArray>) -> Result<ArrayTuple> + Send + Sync;

/// Returns the Jacobian of a program with this pattern, by its whole argument or by the parts of it that
/// [`by`](accel_core::afun::Afun::by) has chosen. It is compiled on the default backend and can be evaluated at many points.
///
/// The columns are coloured so that those of one colour have no row in common: then one product of the Jacobian and a vector (`jvp`)
/// determines all their entries. Or the rows are coloured and multiplied from the left (`vjp`), if they need fewer
/// colours. All products are computed by one program. [`SparsePattern`] says what is a row and a column.
///
/// ```
/// use accel::SparsePattern;
/// use accel::prelude::*;
///
/// # fn main() -> Result<(), Error> {
/// let steps = afun(|x: Acc<Vector<f64>>| generate(x.len() - 1, |i| x.at(i) * x.at(i + 1)));
/// let x = Array::vector(vec![2.0, 3.0, 5.0, 7.0]);
/// let jacobian = sparse_jacobian(&steps, SparsePattern::of(&steps, &x)?)?;
/// assert_eq!(jacobian.run(&x)?.values(), [3.0, 2.0, 5.0, 3.0, 7.0, 5.0]);
/// assert_eq!(jacobian.directions(), 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As [`jvp`], [`vjp`] and [`compile`](crate::compile).
#[track_caller]
pub fn sparse_jacobian<D>(prog: D, pattern: SparsePattern) -> Result<SparseJacobian<D::Args>>
where
    D: Differentiable<Parts: Batched, Result: Batched>,
{
    sparse_jacobian_on(default_backend()?, prog, pattern)
}

/// As [`sparse_jacobian`], on the given backend.
///
/// # Errors
/// As [`sparse_jacobian`].
#[track_caller]
pub fn sparse_jacobian_on<D>(backend: &dyn Backend, prog: D, pattern: SparsePattern) -> Result<SparseJacobian<D::Args>>
where
    D: Differentiable<Parts: Batched, Result: Batched>,
{
    let at = Source::new("sparse_jacobian", Location::caller());
    let colouring = Colouring::of(&pattern);
    let (seeded, products) = match colouring.of_rows {
        false => (parts(backend, &prog)?, by_columns(backend, &prog)?),
        true => {
            let value = compile_on(backend, prog.differentiable()?.0)?;
            let value = move |x: &ArrayTuple| Ok(value.run(&D::Args::from_tuple(x.clone())?)?.to_tuple());
            (Box::new(value) as Box<Map>, by_rows(backend, &prog)?)
        }
    };
    let (pattern, seeds) = (Arc::new(pattern), Mutex::new(None));
    Ok(SparseJacobian { at, pattern, colouring, seeded, products, seeds, types: PhantomData })
}

/// The choice of the parts of the argument.
fn parts<D: Differentiable>(backend: &dyn Backend, prog: &D) -> Result<Box<Map>> {
    let Some(by) = prog.differentiable()?.1 else { return Ok(Box::new(|x| Ok(x.clone()))) };
    let choice = compile_on::<D::Args, D::Parts>(backend, Afun::from_program(by.clone())?)?;
    Ok(Box::new(move |x| Ok(choice.run(&D::Args::from_tuple(x.clone())?)?.to_tuple())))
}

type ListOf<A> = <A as Listed>::List;

fn by_columns<D>(backend: &dyn Backend, prog: &D) -> Result<Box<Products>>
where
    D: Differentiable<Parts: Batched, Result: Batched>,
{
    let product = jvp(prog);
    let products = afun(|x: Acc<D::Args>, dxs: Acc<ListOf<D::Parts>>| {
        vmap(|dx| call(&product, (x, retype_acc::<_, D::Parts>(dx.into_acc()))).1.into_acc(), dxs)
    });
    erased(backend, &products)
}

fn by_rows<D>(backend: &dyn Backend, prog: &D) -> Result<Box<Products>>
where
    D: Differentiable<Parts: Batched, Result: Batched>,
{
    let product = vjp(prog);
    let products = afun(|x: Acc<D::Args>, dys: Acc<ListOf<D::Result>>| {
        vmap(|dy| call(&product, (x, retype_acc::<_, D::Result>(dy.into_acc()))), dys)
    });
    erased(backend, &products)
}

fn erased<A: Arrays, S: Arrays, R: Arrays>(backend: &dyn Backend, products: &Afun<(A, S), R>) -> Result<Box<Products>> {
    let products = compile_on(backend, products)?;
    Ok(Box::new(move |x, seeds| {
        let other = || Error::Internal("seeds of another type".into());
        let seeds = ArrayTuple::of(&S::Repr::raw(), &mut seeds.into_iter()).ok_or_else(other)?;
        Ok(products.run((&A::from_tuple(x.clone())?, &S::from_tuple(seeds)?))?.to_tuple())
    }))
}

impl<A: Arrays> SparseJacobian<A> {
    /// Where the matrices have entries.
    pub fn pattern(&self) -> &SparsePattern {
        &self.pattern
    }

    /// The number of products that determine all entries: the number of colours of columns or of rows.
    pub fn directions(&self) -> usize {
        self.colouring.count
    }

    /// The Jacobian at a point.
    ///
    /// One more product, with a vector of all columns (or rows), checks that the pattern is not too small. Derivatives that are smaller than the
    /// precision of the others are not noticed.
    ///
    /// # Errors
    /// `Error::Shape` if the pattern is too small, or has another number of rows or columns than there are numbers in the result and
    /// in the argument. Those of a run of the program.
    pub fn run(&self, x: impl Inputs<A>) -> Result<SparseMatrix> {
        let x = x.to_tuple();
        let seeded = Numbers::of(&(self.seeded)(&x)?);
        let products = (self.products)(&x, self.seeds(&seeded)?)?;
        // The numbers of one product.
        let found = Numbers::of(&products).rows();
        let (lines, name) = match self.colouring.of_rows {
            false => (self.pattern.rows(), "rows"),
            true => (self.pattern.columns(), "columns"),
        };
        if found.count() != lines {
            return Err(self.wrong_size(name, found.count(), lines));
        }
        let values = self.values(&found.places(), &products)?;
        Ok(SparseMatrix { pattern: self.pattern.clone(), values })
    }

    /// A direction for each colour, and one for the check.
    fn seeds(&self, numbers: &Numbers) -> Result<Vec<RawArray>> {
        let mut kept = self.seeds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, seeds)) = &*kept
            && of == numbers
        {
            return Ok(seeds.clone());
        }
        let Colouring { of_rows, colours, count } = &self.colouring;
        if numbers.count() != colours.len() {
            return Err(self.wrong_size(if *of_rows { "rows" } else { "columns" }, numbers.count(), colours.len()));
        }
        let ones = colours.iter().enumerate().map(|(number, colour)| (*colour, number, 1.0));
        let check = (0..colours.len()).map(|number| (*count, number, weight(number)));
        let seeds = numbers.lists(count + 1, ones.chain(check));
        *kept = Some((numbers.clone(), seeds.clone()));
        Ok(seeds)
    }

    /// Takes the entries out of the products.
    fn values(&self, places: &[Place], products: &ArrayTuple) -> Result<Vec<f64>> {
        let Colouring { of_rows, colours, count } = &self.colouring;
        let products = columns(products);
        let product =
            |direction: usize, Place { column, element, size }: Place| products[column].get(direction * size + element);
        let mut values = Vec::with_capacity(self.pattern.indices().len());
        // The sums of the entries of each line times the weights, and of the absolute values.
        let mut sums = vec![(0.0, 0.0f64); places.len()];
        for row in 0..self.pattern.rows() {
            for column in self.pattern.row(row) {
                let (line, other) = if *of_rows { (*column, row) } else { (row, *column) };
                let value = product(colours[other], places[line]);
                let part = value * weight(other);
                sums[line] = (sums[line].0 + part, sums[line].1 + part.abs());
                values.push(value);
            }
        }
        let is_single = products.iter().any(|c| c.is_single());
        let eps: f64 = if is_single { f32::EPSILON.into() } else { f64::EPSILON };
        let largest = sums.iter().map(|s| s.1).filter(|s| s.is_finite()).fold(1.0, f64::max);
        for (line, ((sum, size), place)) in sums.into_iter().zip(places).enumerate() {
            let expected = product(*count, *place);
            if (expected - sum).abs() > eps.sqrt() * size + eps.powf(0.75) * largest {
                return Err(self.too_small(line));
            }
        }
        Ok(values)
    }

    fn wrong_size(&self, lines: &str, found: usize, expected: usize) -> Error {
        Error::Shape {
            op: format!("`sparse_jacobian` at {}", self.at),
            expected: format!("a pattern with {found} {lines}, one for each number"),
            found: format!("one with {expected}"),
        }
    }

    fn too_small(&self, line: usize) -> Error {
        let line = if self.colouring.of_rows { format!("column {line}") } else { format!("row {line}") };
        Error::Shape {
            op: format!("`sparse_jacobian` at {}", self.at),
            expected: "a pattern with all entries that are not zero".into(),
            found: format!("one without some entries of {line}, or with too few entries beside them"),
        }
    }
}

/// The component of the vector for the check: a number between 0.5 and 1, which is exact in both precisions.
fn weight(number: usize) -> f64 {
    let mixed = (number as u32).wrapping_mul(2_654_435_769) >> 12;
    0.5 + f64::from(mixed) / f64::from(1u32 << 21)
}

impl<A> fmt::Debug for SparseJacobian<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SparseJacobian({} by {})", self.pattern.rows(), self.pattern.columns())
    }
}
