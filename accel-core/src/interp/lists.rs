//! Rows of arrays, and lists of arrays: arrays that grow by one row in every step of a loop.

use super::code::no_element;
use super::extents::{check_size, out_of_bounds};
use super::place::Place;
use crate::error::{Error, Result};
use crate::repr::{Column, Columns, RawArray, RawExtents, RawTy, Scalar, ScalarType};
use std::ops::Range;

/// The extents of row `k` of an array with these extents, along the outermost dimension, and the places of its elements.
pub fn place_of_row(extents: &[usize], k: i64, place: Place) -> Result<(&[usize], Range<usize>)> {
    let (n, inner) = extents.split_first().ok_or_else(|| Error::Internal("a row of an array of rank 0".into()))?;
    let Some(k) = usize::try_from(k).ok().filter(|k| k < n) else {
        return Err(out_of_bounds(place.to_string(), [Scalar::I64(k)].into_iter(), &[*n]));
    };
    let size: usize = inner.iter().product();
    Ok((inner, k * size..(k + 1) * size))
}

/// Row `k` of an array.
pub fn row(a: &RawArray, k: i64, place: Place) -> Result<RawArray> {
    let (inner, places) = place_of_row(&a.extents, k, place)?;
    let part = |c: &Column| {
        let mut row = Column::with_capacity(c.ty(), places.len());
        for i in places.clone() {
            row.push(c.get(i).ok_or_else(no_element)?);
        }
        Ok(row)
    };
    Ok(RawArray { extents: inner.into(), columns: a.columns.iter().map(part).collect::<Result<Columns>>()? })
}

/// The type of an array in a list: its rank, and the types of its columns.
#[derive(Clone, Debug)]
pub struct Entry {
    pub rank: usize,
    pub columns: Vec<ScalarType>,
}

impl Entry {
    /// The entries of a type, from left to right.
    pub fn of(t: &RawTy) -> Vec<Entry> {
        match t {
            RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => vec![],
            RawTy::Pair(p) => [Entry::of(&p.0), Entry::of(&p.1)].concat(),
            RawTy::Array(p) => vec![Entry { rank: p.0.width(), columns: p.1.leaves().into_vec() }],
        }
    }
}

/// Whether an array can follow the first one of a list.
pub fn check_shape(first: &[usize], next: &[usize], place: Place) -> Result<()> {
    if first == next {
        return Ok(());
    }
    Err(Error::other_row(place.to_string(), first, next))
}

/// The extents of a list of `n` arrays with the extents of the first one. Without any, they are 0.
pub fn extents_of_list(n: usize, first: Option<&[usize]>, t: &Entry) -> RawExtents {
    let mut extents: RawExtents = [n].into_iter().collect();
    match first {
        Some(first) => extents.extend_from_slice(first),
        None => extents.extend(std::iter::repeat_n(0, t.rank)),
    }
    extents
}

/// The entries of a list so far.
pub struct List(Vec<RawArray>);

impl List {
    pub fn new() -> List {
        List(vec![])
    }
    /// Adds an entry, which must have the shape of the others.
    pub fn push(&mut self, a: RawArray, place: Place) -> Result<()> {
        self.0.first().map_or(Ok(()), |first| check_shape(&first.extents, &a.extents, place))?;
        self.0.push(a);
        Ok(())
    }
    /// The list as an array. The last entry comes first if `reverse` is set. An empty list has extents of 0.
    pub fn finish(mut self, t: &Entry, reverse: bool, place: Place) -> Result<RawArray> {
        if reverse {
            self.0.reverse();
        }
        let extents = extents_of_list(self.0.len(), self.0.first().map(|a| &a.extents[..]), t);
        let size = check_size(place, &extents)?;
        let mut columns: Columns = t.columns.iter().map(|t| Column::with_capacity(*t, size)).collect();
        for a in &self.0 {
            for (to, from) in columns.iter_mut().zip(&a.columns) {
                (0..from.len())
                    .try_for_each(|i| from.get(i).filter(|x| to.push(*x)).map(|_| ()).ok_or_else(no_element))?;
            }
        }
        Ok(RawArray { extents, columns })
    }
}
