//! Arrays in the memory of the caller: what a run reads, and where it puts its results.

use super::{Column, ColumnPart, ColumnView, RawArray, ScalarType, checked_size};
use crate::error::{Error, Result};
use smallvec::SmallVec;

/// An array that a run reads.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// An array of the library.
    Array(&'a RawArray),
    /// A slice as an array of one dimension, with its length.
    Slice([usize; 1], ColumnView<'a>),
    /// Elements with their extents, as many as these say. A number has none.
    Part(&'a [usize], ColumnView<'a>),
}

/// Arrays that a run reads, from left to right.
pub type Views<'a> = SmallVec<[View<'a>; 8]>;

impl View<'_> {
    /// The extents, outermost dimension first.
    pub fn extents(&self) -> &[usize] {
        match self {
            View::Array(a) => &a.extents,
            View::Slice(n, _) => n,
            View::Part(extents, _) => extents,
        }
    }

    /// Whether there is one column for each of these types, with all elements.
    pub fn has_elements_of(&self, types: &[ScalarType]) -> bool {
        match self {
            View::Array(a) => {
                let n = a.size();
                a.columns.iter().map(Column::ty).eq(types.iter().copied()) && a.columns.iter().all(|c| c.len() == n)
            }
            View::Slice([n], elements) => *types == [elements.ty()] && elements.len() == *n,
            View::Part(extents, elements) => *types == [elements.ty()] && checked_size(extents) == Some(elements.len()),
        }
    }

    /// An array of the library. The elements of another one are copied.
    pub fn to_array(self) -> RawArray {
        match self {
            View::Array(a) => a.clone(),
            View::Slice(_, column) | View::Part(_, column) => {
                RawArray { extents: self.extents().into(), columns: [column.to_column()].into() }
            }
        }
    }
}

/// A place for a result.
#[derive(Debug)]
pub enum ViewMut<'a> {
    /// An array of the library.
    Array(&'a mut RawArray),
    /// A slice for an array of one dimension, with its length.
    Slice([usize; 1], ColumnPart<'a>),
    /// Elements with their extents, as many as these say. A number has none.
    Part(&'a [usize], ColumnPart<'a>),
}

/// Places for results, from left to right.
pub type ViewsMut<'a> = SmallVec<[ViewMut<'a>; 4]>;

impl ViewMut<'_> {
    /// The extents, outermost dimension first.
    pub fn extents(&self) -> &[usize] {
        match self {
            ViewMut::Array(a) => &a.extents,
            ViewMut::Slice(n, _) => n,
            ViewMut::Part(extents, _) => extents,
        }
    }

    /// Checks that a result has the extents of this place.
    ///
    /// # Errors
    /// `Error::Shape` if it has others.
    pub fn check(&self, found: &[usize]) -> Result<()> {
        if self.extents() == found {
            return Ok(());
        }
        let (expected, found) = (format!("a result of shape {:?}", self.extents()), format!("{found:?}"));
        Err(Error::Shape { op: "`run_into`".into(), expected, found })
    }

    /// Gives the elements of each column to `write`, in order, to be overwritten. A column that others share stays as it is for them.
    pub fn overwrite(&mut self, mut write: impl FnMut(usize, ColumnPart<'_>)) {
        match self {
            ViewMut::Array(a) => {
                for (k, column) in a.columns.iter_mut().enumerate() {
                    if column.as_mut_ptr().is_none()
                        && let Some(new) = Column::zeros(column.ty(), column.len())
                    {
                        *column = new;
                    }
                    write(k, column.view_mut());
                }
            }
            ViewMut::Slice(_, part) | ViewMut::Part(_, part) => write(0, part.reborrow()),
        }
    }

    /// Takes the elements of an array of the same extents and types.
    ///
    /// # Errors
    /// `Error::Internal` if it has others.
    pub fn take(&mut self, from: RawArray) -> Result<()> {
        let fits = match (self, from) {
            (ViewMut::Array(a), from) => {
                let types = |a: &RawArray| a.columns.iter().map(Column::ty).collect::<SmallVec<[_; 8]>>();
                let fits = a.extents == from.extents && types(a) == types(&from);
                if fits {
                    a.columns = from.columns;
                }
                fits
            }
            (ViewMut::Slice(_, part) | ViewMut::Part(_, part), from) => {
                matches!(&*from.columns, [column] if part.copy_from(column))
            }
        };
        fits.then_some(()).ok_or_else(|| Error::Internal("a result of another type than its place".into()))
    }
}
