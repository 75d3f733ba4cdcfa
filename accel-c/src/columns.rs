//! Columns in the memory of C.

use accel_core::error::Error;
use accel_core::repr::{ColumnPart, ColumnView, RawArray, RawTy, ScalarType, ViewMut, ViewsMut, checked_size};
use std::ffi::c_void;

/// The largest number of dimensions: `ACCEL_RANKS`.
const RANKS: usize = 8;

/// A column, as the header defines it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AccelColumn {
    /// Its position in [`ScalarType::ALL`], whose order is that of the header.
    ty: u32,
    rank: usize,
    extents: [usize; RANKS],
    pub data: *mut c_void,
}

impl AccelColumn {
    pub fn extents(&self) -> &[usize] {
        &self.extents[..self.rank.min(RANKS)]
    }

    fn ty(&self) -> Option<ScalarType> {
        ScalarType::ALL.get(self.ty as usize).copied()
    }

    fn size(&self) -> Result<usize, Error> {
        let too_large = || Error::Memory { op: "`accel.h`".into(), shape: self.extents().to_vec() };
        checked_size(self.extents()).ok_or_else(too_large)
    }

    /// The addresses of its elements.
    fn range(&self) -> std::ops::Range<usize> {
        let bytes = self.size().unwrap_or_default() * self.ty().map_or(0, width);
        let start = self.data as usize;
        start..start.saturating_add(bytes)
    }
}

/// The columns of an array.
pub struct Group {
    rank: usize,
    pub types: Vec<ScalarType>,
}

/// The ranks and the types of the columns of arrays.
fn expected(groups: &[Group]) -> impl Iterator<Item = (usize, ScalarType)> + Clone {
    groups.iter().flat_map(|group| group.types.iter().map(|t| (group.rank, *t)))
}

/// The columns of each array. There are as many as the arrays have.
pub fn of_each<'c>(groups: &'c [Group], mut columns: &'c [AccelColumn]) -> impl Iterator<Item = &'c [AccelColumn]> {
    groups.iter().map(move |group| {
        let (own, rest) = columns.split_at(group.types.len());
        columns = rest;
        own
    })
}

/// The arrays of a type.
///
/// # Errors
/// C cannot say what they are.
pub fn groups(ty: &RawTy) -> Result<Vec<Group>, Error> {
    let group = |(rank, types): (usize, Vec<ScalarType>)| {
        if rank > RANKS || types.is_empty() {
            let why = format!("the header of C has no arrays of {rank} dimensions with elements {types:?}");
            return Err(Error::Bundle { place: "of a program".into(), why });
        }
        Ok(Group { rank, types })
    };
    ty.arrays().into_iter().map(group).collect()
}

/// Writes the types and ranks of the first `room` columns, and gives the number of all.
///
/// # Safety
/// There are `room` columns at `columns`.
pub unsafe fn describe(groups: &[Group], columns: *mut AccelColumn, room: usize) -> usize {
    let all = expected(groups);
    let room = if columns.is_null() { 0 } else { room };
    for (k, (rank, t)) in all.clone().take(room).enumerate() {
        // SAFETY: the caller's guarantee.
        unsafe {
            columns.add(k).write(AccelColumn { ty: t as u32, rank, extents: [0; RANKS], data: std::ptr::null_mut() })
        };
    }
    all.count()
}

/// Checks that these are columns of these arrays. A result may have no memory yet.
pub fn check(what: &str, groups: &[Group], columns: &[AccelColumn], is_result: bool) -> Result<(), Error> {
    let expected: Vec<_> = expected(groups).collect();
    let wrong =
        |expected: String, found: String| Err(Error::Type { op: format!("`accel_run`, {what}"), expected, found });
    if columns.len() != expected.len() {
        return wrong(format!("of {} columns", expected.len()), columns.len().to_string());
    }
    for (k, (column, (rank, t))) in columns.iter().zip(&expected).enumerate() {
        let has_memory = !is_result || !column.data.is_null();
        if column.ty() != Some(*t) || column.rank != *rank {
            let found = column.ty().map_or("no type".into(), |t| t.to_string());
            return wrong(format!("{t} of {rank} dimensions in column {k}"), format!("{found} of {}", column.rank));
        }
        if has_memory
            && column.size()? > 0
            && (column.data.is_null() || !(column.data as usize).is_multiple_of(width(*t)))
        {
            return wrong(format!("an aligned address in column {k}"), format!("{:?}", column.data));
        }
    }
    for own in of_each(groups, columns) {
        if let Some(other) = own.iter().find(|c| c.extents() != own[0].extents()) {
            let (expected, found) = (format!("{:?}", own[0].extents()), format!("{:?}", other.extents()));
            let is_needed = !is_result || own.iter().all(|c| !c.data.is_null());
            if is_needed {
                return Err(Error::Shape { op: format!("`accel_run`, columns of one {what}"), expected, found });
            }
        }
    }
    Ok(())
}

/// Whether a result has memory that another column has, too.
pub fn overlap(arguments: &[AccelColumn], results: &[AccelColumn]) -> bool {
    let used: Vec<_> = results.iter().filter(|c| !c.data.is_null()).map(AccelColumn::range).collect();
    let meet = |a: &std::ops::Range<usize>, b: &std::ops::Range<usize>| a.start < b.end && b.start < a.end;
    let with_argument = used.iter().any(|r| arguments.iter().any(|a| meet(r, &a.range())));
    with_argument || used.iter().enumerate().any(|(k, r)| used[..k].iter().any(|other| meet(r, other)))
}

/// The size of an element, which is also its alignment.
fn width(t: ScalarType) -> usize {
    match t {
        ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => 1,
        ScalarType::I16 | ScalarType::U16 => 2,
        ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 4,
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => 8,
    }
}

/// Does the same for the type of a column.
macro_rules! for_type {
    ($column:expr, $of:ident, $slice:expr) => {
        match $column.ty() {
            Some(ScalarType::F32) => $of::F32($slice),
            Some(ScalarType::F64) => $of::F64($slice),
            Some(ScalarType::I8) => $of::I8($slice),
            Some(ScalarType::I16) => $of::I16($slice),
            Some(ScalarType::I32) => $of::I32($slice),
            Some(ScalarType::I64) => $of::I64($slice),
            Some(ScalarType::U8) => $of::U8($slice),
            Some(ScalarType::U16) => $of::U16($slice),
            Some(ScalarType::U32) => $of::U32($slice),
            Some(ScalarType::U64) => $of::U64($slice),
            Some(ScalarType::Bool) => $of::Bool($slice),
            None => return Err(Error::Internal("a column without a type".into())),
        }
    };
}

/// # Errors
/// A `bool` that is neither 0 nor 1: it must not even be looked at as one.
unsafe fn check_bools(column: &AccelColumn, n: usize) -> Result<(), Error> {
    if column.ty() != Some(ScalarType::Bool) || n == 0 {
        return Ok(());
    }
    // SAFETY: the caller's guarantee, and every byte is a `u8`.
    let bytes = unsafe { std::slice::from_raw_parts(column.data.cast::<u8>(), n) };
    match bytes.iter().find(|b| **b > 1) {
        None => Ok(()),
        Some(b) => Err(Error::Type { op: "`accel_run`".into(), expected: "a bool".into(), found: format!("{b}") }),
    }
}

/// The elements of a column.
///
/// # Safety
/// It was checked, it has memory with all its elements, and nobody changes them meanwhile.
///
/// # Errors
/// As [`check_bools`].
pub unsafe fn elements(column: &AccelColumn) -> Result<ColumnView<'_>, Error> {
    let n = column.size()?;
    // SAFETY: the caller's guarantee.
    unsafe { check_bools(column, n)? };
    // SAFETY: the caller's guarantee. A slice of no elements needs no address.
    Ok(for_type!(
        column,
        ColumnView,
        if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(column.data.cast(), n) } }
    ))
}

/// The places of results, each of one column.
///
/// # Safety
/// As [`elements`], and nobody else uses this memory.
///
/// # Errors
/// As [`elements`].
pub unsafe fn places(columns: &mut [AccelColumn]) -> Result<ViewsMut<'_>, Error> {
    columns.iter().map(|column| Ok(ViewMut::Part(column.extents(), unsafe { part(column)? }))).collect()
}

/// # Safety
/// As [`places`].
unsafe fn part(column: &AccelColumn) -> Result<ColumnPart<'_>, Error> {
    let n = column.size()?;
    if column.ty() == Some(ScalarType::Bool) && n > 0 {
        // What was there need not be a `bool`.
        // SAFETY: the caller's guarantee.
        unsafe { std::ptr::write_bytes(column.data.cast::<u8>(), 0, n) };
    }
    // SAFETY: as for `elements`.
    Ok(for_type!(
        column,
        ColumnPart,
        if n == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(column.data.cast(), n) } }
    ))
}

/// Copies results to their columns. Those without memory get some.
///
/// # Safety
/// As [`places`].
///
/// # Errors
/// Other extents than those of a column with memory, or not enough memory. Then no column has new memory.
pub unsafe fn put(results: &[&RawArray], columns: &mut [AccelColumn]) -> Result<(), Error> {
    let all = || results.iter().flat_map(|a| a.columns.iter().map(move |c| (&a.extents[..], c)));
    for (column, (extents, _)) in columns.iter().zip(all()).filter(|(c, _)| !c.data.is_null()) {
        if column.extents() != extents {
            let (expected, found) = (format!("a result of shape {:?}", column.extents()), format!("{extents:?}"));
            return Err(Error::Shape { op: "`accel_run`".into(), expected, found });
        }
    }
    let mut made: Vec<(usize, *mut c_void)> = vec![];
    for (k, (column, (extents, from))) in columns.iter().zip(all()).enumerate() {
        let to = if column.data.is_null() {
            // SAFETY: any size may be asked for.
            let new = unsafe { libc::malloc(from.bytes().max(1)) };
            if new.is_null() {
                // SAFETY: `malloc` has given them.
                made.iter().for_each(|(_, data)| unsafe { libc::free(*data) });
                return Err(Error::Memory { op: "`accel_run`".into(), shape: extents.to_vec() });
            }
            made.push((k, new));
            new
        } else {
            column.data
        };
        // SAFETY: the place has this size, and is new or of the caller, who gives it to nobody else.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.cast(), from.bytes()) };
    }
    let extents: Vec<_> = all().map(|(extents, _)| extents.to_vec()).collect();
    for (k, data) in made {
        columns[k].data = data;
        columns[k].extents[..extents[k].len()].copy_from_slice(&extents[k]);
    }
    Ok(())
}
