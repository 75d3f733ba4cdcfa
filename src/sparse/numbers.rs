//! The floating-point numbers of a tuple of arrays, in the order of the rows and columns of a sparse Jacobian.

use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, Column, RawArray, RawExtents, checked_size};
use std::sync::Arc;

/// Where the numbers are: for each array, its extents and which of its columns have numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Numbers(Vec<Part>);

#[derive(Clone, PartialEq, Debug)]
struct Part {
    extents: RawExtents,
    /// An empty column of each type.
    columns: Vec<Column>,
    size: usize,
}

impl Part {
    fn numbers(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().enumerate().filter(|(_, c)| is_float(c)).map(|(k, _)| k)
    }
}

fn is_float(c: &Column) -> bool {
    c.ty().is_float()
}

/// The place of a number: among the floating-point columns of all arrays, and in its column.
#[derive(Clone, Copy)]
pub struct Place {
    pub column: usize,
    pub element: usize,
}

impl Numbers {
    pub fn of(arrays: &[&RawArray]) -> Numbers {
        let part = |a: &&RawArray| Part {
            extents: a.extents.clone(),
            columns: a.columns.iter().map(|c| Column::with_capacity(c.ty(), 0)).collect(),
            size: a.size(),
        };
        Numbers(arrays.iter().map(part).collect())
    }

    /// Those of one row of lists.
    pub fn rows(mut self) -> Numbers {
        for p in &mut self.0 {
            p.size /= p.extents.first().copied().unwrap_or(1).max(1);
            p.extents = p.extents.iter().skip(1).copied().collect();
        }
        self
    }

    pub fn count(&self) -> usize {
        self.0.iter().map(|p| p.numbers().count() * p.size).sum()
    }

    /// Whether each number has the colour of its component, of which each array has as many as floating-point columns.
    pub fn have_colours(&self, colours: &[usize], of_components: &[usize]) -> bool {
        let (mut colours, mut of_components) = (colours.iter(), of_components);
        let all = self.0.iter().all(|p| {
            let Some((own, rest)) = of_components.split_at_checked(p.numbers().count()) else { return false };
            of_components = rest;
            (0..p.size).all(|_| own.iter().all(|c| colours.next() == Some(c)))
        });
        all && colours.next().is_none()
    }

    /// The places of all numbers, in order.
    pub fn places(&self) -> Vec<Place> {
        let (mut first, mut all) = (0, Vec::with_capacity(self.count()));
        for p in &self.0 {
            let width = p.numbers().count();
            let of_element = |element| (first..first + width).map(move |column| Place { column, element });
            all.extend((0..p.size).flat_map(of_element));
            first += width;
        }
        all
    }

    /// Lists of `n` such arrays, in which the numbers are 0 except those that `set` names: the entry of the list, the number, its value.
    ///
    /// # Errors
    /// `Error::Memory` if they do not fit into memory.
    pub fn lists(&self, n: usize, set: impl Iterator<Item = (usize, usize, f64)>) -> Result<Vec<RawArray>> {
        let list = |p: &Part| {
            let extents: RawExtents = [n].into_iter().chain(p.extents.iter().copied()).collect();
            let no_memory =
                || Error::Memory { op: "the directions of `sparse_jacobian`".into(), shape: extents.to_vec() };
            let size = checked_size(&extents).ok_or_else(no_memory)?;
            let columns = p.columns.iter().map(|c| Column::zeros(c.ty(), size)).collect::<Option<_>>();
            Ok(RawArray { columns: columns.ok_or_else(no_memory)?, extents })
        };
        let mut lists = self.0.iter().map(list).collect::<Result<Vec<_>>>()?;
        let places = self.places();
        let mut columns: Vec<&mut Column> =
            lists.iter_mut().flat_map(|a| &mut a.columns).filter(|c| is_float(c)).collect();
        for (entry, number, value) in set {
            let Place { column, element } = places[number];
            let at = entry * (columns[column].len() / n) + element;
            match &mut *columns[column] {
                Column::F32(c) => Arc::make_mut(c)[at] = value as f32,
                Column::F64(c) => Arc::make_mut(c)[at] = value,
                _ => {}
            }
        }
        Ok(lists)
    }
}

/// The numbers of a column.
#[derive(Clone, Copy)]
pub enum Slice<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

impl<'a> Slice<'a> {
    pub fn is_single(&self) -> bool {
        matches!(self, Slice::Single(_))
    }

    /// The numbers in equal parts.
    pub fn parts(&self, count: usize) -> Vec<Slice<'a>> {
        let part = |k: usize, len: usize| k * (len / count)..(k + 1) * (len / count);
        let of = |k| match self {
            Slice::Single(c) => Slice::Single(&c[part(k, c.len())]),
            Slice::Double(c) => Slice::Double(&c[part(k, c.len())]),
        };
        (0..count).map(of).collect()
    }

    pub fn get(&self, k: usize) -> f64 {
        match self {
            Slice::Single(c) => c[k].into(),
            Slice::Double(c) => c[k],
        }
    }
}

/// The floating-point columns of all arrays.
pub fn columns(arrays: &ArrayTuple) -> Vec<Slice<'_>> {
    let mut all = vec![];
    for c in arrays.leaves().into_iter().flat_map(|a| &a.columns) {
        match c {
            Column::F32(c) => all.push(Slice::Single(c.as_slice())),
            Column::F64(c) => all.push(Slice::Double(c.as_slice())),
            _ => {}
        }
    }
    all
}
