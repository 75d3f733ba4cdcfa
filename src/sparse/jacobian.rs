//! The entries of a sparse Jacobian, from one product for each colour.
//!
//! NOTE [Constant directions]: the directions of most colourings are different for each element of an array, so they are arrays, and
//! `vmap` multiplies by all of them. But in a sparse least-squares problem such as bundle adjustment, each residual depends on all
//! parameters of one camera and one point. Then all first parameters of cameras have one colour, all second ones the next, and
//! in each direction the elements of an array are the same constant. The program contains such directions one after the other:
//! zeros of a direction make most of its tangent disappear, and what the directions have in common, as the primal, is computed once for each
//! residual, not once for each direction.

use super::colouring::Colouring;
use super::numbers::{Numbers, Place, Slice, columns};
use super::pattern::{Gradient, SparsePattern};
use crate::choice::{compile_on, default_backend};
use accel_ad::{Differentiable, OneNumber, jvp, vjp};
use accel_core::afun::{Afun, afun, call};
use accel_core::ast::Source;
use accel_core::ast::ty::Repr;
use accel_core::backend::Backend;
use accel_core::error::{Error, Result};
use accel_core::interp::Interpreter;
use accel_core::prelude::{Acc, Array, IntoAcc, Matrix, vmap};
use accel_core::repr::{ArrayTuple, Column, RawArray, RawTy, ScalarType, checked_size};
use accel_core::surface::derive_support::retype_acc;
use accel_core::surface::{along_constants, attributed};
use accel_core::types::{Arrays, Inputs, Listed, Rows};
use rayon::prelude::*;
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
    /// `Error::Memory` if an array of this size does not fit into memory.
    pub fn to_dense(&self) -> Result<Matrix<f64>> {
        let (rows, columns) = (self.pattern.rows(), self.pattern.columns());
        let zeros = checked_size(&[rows, columns]).and_then(|n| Column::zeros(ScalarType::F64, n));
        let Some(Column::F64(mut dense)) = zeros else {
            return Err(Error::Memory { op: "`to_dense`".into(), shape: vec![rows, columns] });
        };
        let (all, mut values) = (Arc::make_mut(&mut dense), self.values.iter());
        for row in 0..rows {
            for (column, value) in self.pattern.row(row).iter().zip(&mut values) {
                all[row * columns + column] = *value;
            }
        }
        Array::matrix(rows, columns, Arc::unwrap_or_clone(dense))
    }
}

/// The sparse Jacobian of a program, compiled, for any number of points: the result of [`sparse_jacobian`].
pub struct SparseJacobian<A> {
    at: Source,
    pattern: Arc<SparsePattern>,
    colouring: Colouring,
    /// The entries of each number of a product, with the directions of the product: the pattern or its transpose.
    lines: Arc<SparsePattern>,
    /// The part of the argument, or the result, whose directions have colours.
    seeded: Box<Map>,
    /// If all elements of an array seem to have the same colours, those of all components, and the products in these directions, which
    /// are constants: one after the other, and at last the check, whose direction is an argument.
    constant: Option<(Vec<usize>, Box<Products>)>,
    /// The products as lists: tangents of the result, or adjoints of the part of the argument.
    products: Box<Products>,
    kept: Mutex<Kept>,
    types: PhantomData<fn(A)>,
}

type Map = dyn Fn(&ArrayTuple) -> Result<ArrayTuple> + Send + Sync;
type Products = dyn Fn(&ArrayTuple, Vec<RawArray>) -> Result<ArrayTuple> + Send + Sync;

/// What depends only on the extents of arguments and results, since most runs have the same.
#[derive(Default)]
struct Kept {
    seeds: Option<(Numbers, Seeds)>,
    places: Option<(Numbers, Arc<[Place]>)>,
}

/// The arguments for the directions.
#[derive(Clone)]
struct Seeds {
    /// Whether all directions but the check are constants.
    are_constant: bool,
    arrays: Vec<RawArray>,
}

/// The largest number of constant directions, each of which is a derivative of its own in the program.
const CONSTANT: usize = 32;
/// The number of lines of a task.
const LINES: usize = 1 << 12;

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
    let colouring = Colouring::of(&pattern)?;
    let (pattern, mut constant) = (Arc::new(pattern), None);
    let (lines, seeded, products) = match colouring.of_rows {
        false => {
            let widths = widths(&<D::Parts as Arrays>::Repr::raw());
            let of_components = colouring.by_component(&widths).filter(|_| colouring.count <= CONSTANT);
            // The lists are hardly ever needed then.
            let products = if of_components.is_some() {
                by_columns(&Interpreter, &prog, at)?
            } else {
                by_columns(backend, &prog, at)?
            };
            if let Some(of_components) = of_components {
                let products = along_components(backend, &prog, colouring.count, &of_components)?;
                constant = Some((of_components, products));
            }
            (pattern.clone(), parts(backend, &prog)?, products)
        }
        true => {
            let value = compile_on(backend, prog.differentiable()?.0)?;
            let value = move |x: &ArrayTuple| Ok(value.run(&D::Args::from_tuple(x.clone())?)?.to_tuple());
            (Arc::new(pattern.transposed()?), Box::new(value) as Box<Map>, by_rows(backend, &prog, at)?)
        }
    };
    let kept = Mutex::default();
    Ok(SparseJacobian { at, pattern, colouring, lines, seeded, constant, products, kept, types: PhantomData })
}

/// For each array, the number of floating-point numbers in an element.
fn widths(arrays: &RawTy) -> Vec<usize> {
    match arrays {
        RawTy::Pair(p) => [widths(&p.0), widths(&p.1)].concat(),
        RawTy::Array(array) => vec![array.1.leaves().iter().filter(|t| t.is_float()).count()],
        RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => vec![],
    }
}

/// The choice of the parts of the argument.
fn parts<D: Differentiable>(backend: &dyn Backend, prog: &D) -> Result<Box<Map>> {
    let Some(by) = prog.differentiable()?.1 else { return Ok(Box::new(|x| Ok(x.clone()))) };
    let choice = compile_on::<D::Args, D::Parts>(backend, Afun::from_program(by.clone())?)?;
    Ok(Box::new(move |x| Ok(choice.run(&D::Args::from_tuple(x.clone())?)?.to_tuple())))
}

type ListOf<A> = <A as Listed>::List;

#[track_caller]
fn by_columns<D>(backend: &dyn Backend, prog: &D, at: Source) -> Result<Box<Products>>
where
    D: Differentiable<Parts: Batched, Result: Batched>,
{
    let product = jvp(prog);
    let products = afun(|x: Acc<D::Args>, dxs: Acc<ListOf<D::Parts>>| {
        attributed((at.name, at.at), || {
            vmap(|dx| call(&product, (x, retype_acc::<_, D::Parts>(dx.into_acc()))).1.into_acc(), dxs)
        })
    });
    erased(backend, &products)
}

/// The tangents of the result in directions that have 1 in all components of one colour. NOTE [Constant directions].
#[track_caller]
fn along_components<D: Differentiable>(
    backend: &dyn Backend,
    prog: &D,
    count: usize,
    colours: &[usize],
) -> Result<Box<Products>> {
    let direction = |k| colours.iter().map(|colour| f64::from(u8::from(*colour == k))).collect();
    let directions: Vec<Vec<f64>> = (0..count).map(direction).collect();
    let products = backend.compile(&along_constants(jvp(prog).program()?, &directions)?)?;
    Ok(Box::new(move |x, check| {
        let other = || Error::Internal("a check of another type".into());
        let check = ArrayTuple::of(&<D::Parts as Arrays>::Repr::raw(), &mut check.into_iter()).ok_or_else(other)?;
        products.run(&ArrayTuple::pair(x.clone(), check))
    }))
}

#[track_caller]
fn by_rows<D>(backend: &dyn Backend, prog: &D, at: Source) -> Result<Box<Products>>
where
    D: Differentiable<Parts: Batched, Result: Batched>,
{
    let product = vjp(prog);
    let products = afun(|x: Acc<D::Args>, dys: Acc<ListOf<D::Result>>| {
        attributed((at.name, at.at), || vmap(|dy| call(&product, (x, retype_acc::<_, D::Result>(dy.into_acc()))), dys))
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

/// Returns the Hessian of a program whose result is one number, with this pattern, by its whole argument or by the parts of it that
/// [`by`](accel_core::afun::Afun::by) has chosen.
///
/// It is symmetric, so an entry is found in one of two products, and fewer colours are enough than for [`sparse_jacobian`] of the gradient: two for a
/// matrix with a full row, a full column and a diagonal. [`SparsePattern::of_hessian`] finds the pattern.
///
/// ```
/// use accel::{SparsePattern, sparse_hessian};
/// use accel::prelude::*;
///
/// # fn main() -> Result<(), Error> {
/// // Each number times the first one.
/// let loss = afun(|x: Acc<Vector<f64>>| sum(map(|y| y * y * x.at(0), x)));
/// let x = Array::vector(vec![1.0, 2.0, 3.0]);
/// let hessian = sparse_hessian(&loss, SparsePattern::of_hessian(&loss, &x)?)?;
/// assert_eq!(hessian.run(&x)?.values(), [6.0, 4.0, 6.0, 4.0, 2.0, 6.0, 2.0]);
/// assert_eq!(hessian.directions(), 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Error::Shape` if the pattern is not symmetric. As [`grad`] and [`sparse_jacobian`].
#[track_caller]
pub fn sparse_hessian<D>(prog: D, pattern: SparsePattern) -> Result<SparseJacobian<D::Args>>
where
    D: Differentiable<Parts: Batched, Result: OneNumber>,
{
    let at = Source::new("sparse_hessian", Location::caller());
    if pattern.transposed()? != pattern {
        let found = format!("one of {} by {} with entries on one side only", pattern.rows(), pattern.columns());
        return Err(Error::Shape {
            op: format!("`sparse_hessian` at {at}"),
            expected: "a symmetric pattern".into(),
            found,
        });
    }
    let colouring = Colouring::symmetric(&pattern)?;
    let (backend, gradient, pattern) = (default_backend()?, Gradient::of(prog)?, Arc::new(pattern));
    let (seeded, products) = (parts(backend, &gradient)?, by_columns(backend, &gradient, at)?);
    let (lines, kept) = (pattern.clone(), Mutex::default());
    Ok(SparseJacobian { at, pattern, colouring, lines, seeded, constant: None, products, kept, types: PhantomData })
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
        let Seeds { are_constant, arrays } = self.seeds(&Numbers::of(&(self.seeded)(&x)?.leaves()))?;
        let directions = self.colouring.count + 1;
        let products = match &self.constant {
            Some((_, products)) if are_constant => products(&x, arrays)?,
            _ => (self.products)(&x, arrays)?,
        };
        let (leaves, columns) = (products.leaves(), columns(&products));
        // The numbers of one product, and the columns of all products, one product after the other.
        let (found, columns) = if are_constant {
            (Numbers::of(&leaves[..leaves.len() / directions]), columns)
        } else {
            let parts: Vec<Vec<Slice>> = columns.iter().map(|c| c.parts(directions)).collect();
            let of_product = |k| parts.iter().map(move |parts: &Vec<Slice>| parts[k]);
            (Numbers::of(&leaves).rows(), (0..directions).flat_map(of_product).collect())
        };
        if found.count() != self.lines.rows() {
            let name = if self.colouring.of_rows { "columns" } else { "rows" };
            return Err(self.wrong_size(name, found.count(), self.lines.rows()));
        }
        let values = self.values(&self.places(found), &columns)?;
        Ok(SparseMatrix { pattern: self.pattern.clone(), values })
    }

    /// A direction for each colour, and one for the check.
    fn seeds(&self, numbers: &Numbers) -> Result<Seeds> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, seeds)) = &kept.seeds
            && of == numbers
        {
            return Ok(seeds.clone());
        }
        let Colouring { of_rows, colours, count, .. } = &self.colouring;
        if numbers.count() != colours.len() {
            return Err(self.wrong_size(if *of_rows { "rows" } else { "columns" }, numbers.count(), colours.len()));
        }
        let are_constant = self.constant.as_ref().is_some_and(|c| numbers.have_colours(colours, &c.0));
        let check = |entry| (0..colours.len()).map(move |number| (entry, number, weight(number)));
        let arrays = if are_constant {
            numbers.lists(1, check(0))?.into_iter().map(first_row).collect()
        } else {
            let ones = colours.iter().enumerate().map(|(number, colour)| (*colour, number, 1.0));
            numbers.lists(count + 1, ones.chain(check(*count)))?
        };
        let seeds = Seeds { are_constant, arrays };
        kept.seeds = Some((numbers.clone(), seeds.clone()));
        Ok(seeds)
    }

    /// The places of the numbers of one product.
    fn places(&self, numbers: Numbers) -> Arc<[Place]> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match &kept.places {
            Some((of, places)) if *of == numbers => places.clone(),
            _ => {
                let places: Arc<[Place]> = numbers.places().into();
                kept.places = Some((numbers, places.clone()));
                places
            }
        }
    }

    /// Takes the entries out of the columns of all products.
    fn values(&self, places: &[Place], columns: &[Slice]) -> Result<Vec<f64>> {
        let Colouring { of_rows, colours, count, by_other } = &self.colouring;
        let width = columns.len() / (count + 1);
        let product =
            |direction: usize, Place { column, element }: Place| columns[direction * width + column].get(element);
        let mut values = vec![0.0; self.lines.indices().len()];
        let (mut tasks, mut rest) = (vec![], &mut values[..]);
        for from in (0..places.len()).step_by(LINES) {
            let to = places.len().min(from + LINES);
            let (part, others) = rest.split_at_mut(self.lines.starts()[to] - self.lines.starts()[from]);
            tasks.push((from..to, part));
            rest = others;
        }
        accel_native::prepare_threads();
        // For each line, the sums of the entries times the weights, and of the absolute values.
        let sums = tasks.into_par_iter().flat_map_iter(|(range, part)| {
            let mut values = part.iter_mut();
            range.map(move |line| {
                let mut sums = (0.0, 0.0f64);
                let is_by_other = by_other.get(self.lines.starts()[line]..).unwrap_or(&[]).iter().copied();
                let is_by_other = is_by_other.chain(std::iter::repeat(false));
                for ((other, value), is_by_other) in self.lines.row(line).iter().zip(&mut values).zip(is_by_other) {
                    let (line, other_line) = if is_by_other { (*other, line) } else { (line, *other) };
                    *value = product(colours[other_line], places[line]);
                    let part = *value * weight(*other);
                    sums = (sums.0 + part, sums.1 + part.abs());
                }
                sums
            })
        });
        let sums: Vec<(f64, f64)> = sums.collect();
        let is_single = columns.iter().any(|c| c.is_single());
        let eps: f64 = if is_single { f32::EPSILON.into() } else { f64::EPSILON };
        let largest = sums.iter().map(|s| s.1).filter(|s| s.is_finite()).fold(1.0, f64::max);
        let is_wrong = |line: usize| {
            let (sum, size) = sums[line];
            (product(*count, places[line]) - sum).abs() > eps.sqrt() * size + eps.powf(0.75) * largest
        };
        if let Some(line) = (0..places.len()).into_par_iter().find_first(|line| is_wrong(*line)) {
            return Err(self.too_small(line));
        }
        Ok(if *of_rows { self.by_rows(&values) } else { values })
    }

    /// The entries in the order of rows, from those in the order of columns.
    fn by_rows(&self, of_columns: &[f64]) -> Vec<f64> {
        let (mut next, mut values) = (self.pattern.starts().to_vec(), vec![0.0; of_columns.len()]);
        for (row, value) in self.lines.indices().iter().zip(of_columns) {
            values[next[*row]] = *value;
            next[*row] += 1;
        }
        values
    }

    fn wrong_size(&self, lines: &str, found: usize, expected: usize) -> Error {
        Error::Shape {
            op: format!("`{}` at {}", self.at.name, self.at),
            expected: format!("a pattern with {found} {lines}, one for each number"),
            found: format!("one with {expected}"),
        }
    }

    fn too_small(&self, line: usize) -> Error {
        let line = if self.colouring.of_rows { format!("column {line}") } else { format!("row {line}") };
        Error::Shape {
            op: format!("`{}` at {}", self.at.name, self.at),
            expected: "a pattern with all entries that are not zero".into(),
            found: format!("one without some entries of {line}, or with too few entries beside them"),
        }
    }
}

/// The only array of a list of arrays.
fn first_row(list: RawArray) -> RawArray {
    RawArray { extents: list.extents.iter().skip(1).copied().collect(), columns: list.columns }
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
