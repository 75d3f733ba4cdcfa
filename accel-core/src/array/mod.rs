//! Host arrays: the inputs and results of programs.

#[cfg(feature = "ndarray")]
mod ndarray;
mod show;

use crate::ast::ty::Repr;
use crate::error::{Error, Result};
use crate::repr::array::unravel;
use crate::repr::{MAX_EXTENT, RawArray, RawTy, checked_size};
use crate::types::{Dim1, Dim2, Elt, Extents, Primitive, Shape, ToExtents, Z};
use generic_array::GenericArray;
use generic_array::sequence::GenericSequence;
use std::marker::PhantomData;

/// An array of shape `Sh` with elements of type `T`. It is stored in row-major order, with one column for each scalar
/// component of an element (see the glossary of the book: column). Clones share the columns.
pub struct Array<Sh, T> {
    raw: RawArray,
    types: PhantomData<fn() -> (Sh, T)>,
}

/// An array with no dimensions: a single element.
pub type Scalar<T> = Array<Z, T>;
/// An array with one dimension.
pub type Vector<T> = Array<Dim1, T>;
/// An array with two dimensions: rows and columns.
pub type Matrix<T> = Array<Dim2, T>;

impl<Sh, T> Clone for Array<Sh, T> {
    fn clone(&self) -> Self {
        Array { raw: self.raw.clone(), types: PhantomData }
    }
}
impl<Sh, T> PartialEq for Array<Sh, T> {
    /// Compares extents and elements. NaN is not equal to itself.
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl<Sh: Shape, T: Elt> Array<Sh, T> {
    fn from_columns(extents: &[usize], values: Vec<T>) -> Result<Self> {
        let columns = T::into_columns(values)?;
        Ok(Array { raw: RawArray { extents: extents.into(), columns }, types: PhantomData })
    }

    /// Makes an array of the given extents from its elements, row by row. A vector of scalars is not copied.
    ///
    /// # Errors
    /// `Error::Host` if the number of values differs from the number of elements.
    pub fn from_vec(shape: impl ToExtents<Sh>, values: Vec<T>) -> Result<Self> {
        Self::from_extents(&shape.to_extents(), values)
    }

    /// Like [`from_vec`](Self::from_vec), but copies the elements.
    ///
    /// # Errors
    /// As `from_vec`.
    pub fn from_slice(shape: impl ToExtents<Sh>, values: &[T]) -> Result<Self> {
        Self::from_vec(shape, values.to_vec())
    }

    /// Like [`from_vec`](Self::from_vec), for extents whose number is known only at run time.
    ///
    /// # Errors
    /// As `from_vec`, and if the number of extents is not the rank.
    pub fn from_extents(extents: &[usize], values: Vec<T>) -> Result<Self> {
        let size = check_extents::<Sh>(extents)?;
        if size != values.len() {
            let n = values.len();
            return Err(Error::Host(format!("an array of shape {extents:?} has {size} elements, but {n} were given")));
        }
        Self::from_columns(extents, values)
    }

    /// Makes an array of the given extents and computes each element from its index.
    ///
    /// # Errors
    /// `Error::Host` if the number of elements overflows.
    pub fn from_fn(shape: impl ToExtents<Sh>, mut f: impl FnMut(Extents<Sh>) -> T) -> Result<Self> {
        let extents = shape.to_extents();
        let size = check_extents::<Sh>(&extents)?;
        let values = (0..size).map(|i| f(index_at::<Sh>(i, &extents))).collect();
        Self::from_columns(&extents, values)
    }

    /// Gives an untyped array its type.
    ///
    /// # Errors
    /// `Error::Type` if it has another rank or element type, `Error::Host` if its columns do not match its extents.
    pub fn from_raw(raw: RawArray) -> Result<Self> {
        if raw.extents.len() != Sh::RANK || !raw.has_elements_of(&T::Repr::raw()) {
            let columns: Vec<_> = raw.columns.iter().map(|c| c.ty().to_string()).collect();
            return Err(Error::Type {
                op: "array".into(),
                expected: RawTy::array(Sh::Repr::raw(), T::Repr::raw()).to_string(),
                found: format!("an array of {} dimensions of ({})", raw.extents.len(), columns.join(", ")),
            });
        }
        let size = check_extents::<Sh>(&raw.extents)?;
        if let Some((k, c)) = raw.columns.iter().enumerate().find(|(_, c)| c.len() != size) {
            let (shape, n) = (&raw.extents, c.len());
            let given = format!("column {k} of those given has {n}");
            return Err(Error::Host(format!(
                "an array of shape {shape:?} has {size} elements in each column, but {given}"
            )));
        }
        Ok(Array { raw, types: PhantomData })
    }

    /// The array without its types.
    pub fn raw(&self) -> &RawArray {
        &self.raw
    }

    pub(crate) fn raw_mut(&mut self) -> &mut RawArray {
        &mut self.raw
    }

    /// The extents, outermost dimension first: `let [rows, columns] = m.shape().into()`. They can be used wherever a
    /// function takes a shape, and they dereference to a slice of `usize`.
    pub fn shape(&self) -> Extents<Sh> {
        let mut extents = self.raw.extents.iter();
        GenericArray::generate(|_| extents.next().copied().unwrap_or(0))
    }

    /// The number of elements: the product of the extents.
    pub fn len(&self) -> usize {
        self.raw.size()
    }

    /// Whether the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at an index; `None` if the index is out of bounds.
    pub fn get(&self, index: impl ToExtents<Sh>) -> Option<T> {
        let mut place = 0;
        for (i, n) in index.to_extents().iter().zip(self.raw.extents.iter()) {
            if i >= n {
                return None;
            }
            place = place * n + i;
        }
        T::from_column_row(&self.raw.columns, place)
    }

    /// The elements, row by row.
    pub fn to_vec(&self) -> Vec<T> {
        // The columns were checked when the array was made.
        T::from_columns(&self.raw.columns, self.len()).unwrap_or_default()
    }

    /// The elements, row by row, one at a time.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.len()).map_while(|i| T::from_column_row(&self.raw.columns, i))
    }
}

impl<Sh: Shape, T: Primitive> Array<Sh, T> {
    /// The elements, row by row, without copying.
    pub fn as_slice(&self) -> &[T] {
        self.raw.columns.first().and_then(T::elements).unwrap_or_default()
    }
}

impl<T: Elt> Array<Z, T> {
    /// The array without dimensions that holds `x`.
    pub fn scalar(x: T) -> Self {
        made(Self::from_columns(&[], vec![x]))
    }

    /// The single element.
    pub fn item(&self) -> T {
        made(self.get(()).ok_or_else(crate::types::elt::wrong_elt::<T>))
    }
}

impl<T: Elt> Array<Dim1, T> {
    /// Makes a vector. A vector of scalars is not copied.
    pub fn vector(values: Vec<T>) -> Self {
        made(Self::from_columns(&[values.len()], values))
    }
}

impl<T: Elt> Array<Dim2, T> {
    /// Makes a matrix from its elements, row by row.
    ///
    /// # Errors
    /// `Error::Host` if the number of values is not `rows * columns`.
    pub fn matrix(rows: usize, columns: usize, values: Vec<T>) -> Result<Self> {
        Self::from_vec((rows, columns), values)
    }
}

impl<T: Elt> From<Vec<T>> for Array<Dim1, T> {
    fn from(values: Vec<T>) -> Self {
        Array::vector(values)
    }
}

impl<T: Elt> FromIterator<T> for Array<Dim1, T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Array::vector(values.into_iter().collect())
    }
}

/// Unwraps an array whose number of values is right by construction. Only an implementation of `Elt` that contradicts
/// itself can make this panic; derived implementations do not.
fn made<A>(array: Result<A>) -> A {
    array.unwrap_or_else(|e| panic!("{e}"))
}

/// The number of elements of an array of shape `Sh` with these extents.
fn check_extents<Sh: Shape>(extents: &[usize]) -> Result<usize> {
    if extents.len() != Sh::RANK {
        return Err(Error::Host(format!("an array of {} dimensions cannot have the shape {extents:?}", Sh::RANK)));
    }
    checked_size(extents).ok_or_else(|| {
        Error::Host(match extents.iter().find(|e| **e > MAX_EXTENT) {
            Some(e) => format!("an array of shape {extents:?}: {e} is more than the largest extent, {MAX_EXTENT}"),
            None => format!("an array of shape {extents:?} has too many elements for this machine"),
        })
    })
}

/// The index of element `i` in row-major order.
fn index_at<Sh: Shape>(i: usize, extents: &Extents<Sh>) -> Extents<Sh> {
    let mut index = Extents::<Sh>::default();
    unravel(i, extents, &mut index);
    index
}
