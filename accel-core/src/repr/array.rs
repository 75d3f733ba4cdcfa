//! Untyped arrays: extents, and one column for each scalar component of the elements.

use super::scalar::ScalarElt;
use super::{RawTy, Scalar, ScalarType};
use smallvec::SmallVec;
use std::sync::Arc;

/// Scalar types as the elements of columns.
pub trait ColumnElt: ScalarElt + Default {
    /// The elements of a column; `None` if it has another type.
    fn elements(column: &Column) -> Option<&[Self]>;
    /// The elements of a column, for writing; `None` if it has another type. Copies the column if it is shared.
    fn elements_mut(column: &mut Column) -> Option<&mut [Self]>;
    /// The elements of a part of a column; `None` if it has another type.
    fn part<'a>(part: &ColumnView<'a>) -> Option<&'a [Self]>;
    /// The elements of a part of a column, for writing; `None` if it has another type.
    fn part_mut<'a>(part: &'a mut ColumnPart<'_>) -> Option<&'a mut [Self]>;
    /// A slice as a part of a column.
    fn view(elements: &[Self]) -> ColumnView<'_>;
    /// A slice as a part of a column, for writing.
    fn view_mut(elements: &mut [Self]) -> ColumnPart<'_>;
}

macro_rules! columns {
    ($($variant:ident $rust:ty),* $(,)?) => {
        /// One scalar leaf of all elements of an array, in row-major order.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Column { $(#[doc = concat!("Elements of type `", stringify!($rust), "`")] $variant(Arc<Vec<$rust>>)),* }

        /// Consecutive elements of a column, for writing.
        #[derive(Debug)]
        pub enum ColumnPart<'a> { $(#[doc = concat!("Elements of type `", stringify!($rust), "`")] $variant(&'a mut [$rust])),* }

        /// Consecutive elements of a column.
        #[derive(Clone, Copy, Debug)]
        pub enum ColumnView<'a> { $(#[doc = concat!("Elements of type `", stringify!($rust), "`")] $variant(&'a [$rust])),* }

        impl<'a> ColumnView<'a> {
            /// The `n` elements from `first` on.
            pub fn part(self, first: usize, n: usize) -> ColumnView<'a> {
                match self { $(ColumnView::$variant(c) => ColumnView::$variant(&c[first..first + n])),* }
            }
            /// The type of the elements.
            pub fn ty(self) -> ScalarType {
                match self { $(ColumnView::$variant(_) => ScalarType::$variant),* }
            }
            /// The number of elements.
            #[allow(clippy::len_without_is_empty)]
            pub fn len(self) -> usize {
                match self { $(ColumnView::$variant(c) => c.len()),* }
            }
            /// The address of the elements.
            pub fn as_ptr(self) -> *const u8 {
                match self { $(ColumnView::$variant(c) => c.as_ptr().cast()),* }
            }
            /// A column of these elements.
            pub fn to_column(self) -> Column {
                match self { $(ColumnView::$variant(c) => c.to_vec().into()),* }
            }
        }

        impl<'a> ColumnPart<'a> {
            /// The first `n` elements, and the others.
            pub fn split(self, n: usize) -> (ColumnPart<'a>, ColumnPart<'a>) {
                match self { $(ColumnPart::$variant(c) => {
                    let (a, b) = c.split_at_mut(n);
                    (ColumnPart::$variant(a), ColumnPart::$variant(b))
                })* }
            }
            /// The same elements, for a shorter time.
            pub fn reborrow(&mut self) -> ColumnPart<'_> {
                match self { $(ColumnPart::$variant(c) => ColumnPart::$variant(c)),* }
            }
            /// The type of the elements.
            pub fn ty(&self) -> ScalarType {
                match self { $(ColumnPart::$variant(_) => ScalarType::$variant),* }
            }
            /// The address of the elements, for writing.
            pub fn as_mut_ptr(&mut self) -> *mut u8 {
                match self { $(ColumnPart::$variant(c) => c.as_mut_ptr().cast()),* }
            }
            /// The memory of the elements, in bytes.
            pub fn bytes(&self) -> usize {
                match self { $(ColumnPart::$variant(c) => size_of_val(&**c)),* }
            }
            /// Copies the elements of a column; `false` if it has other ones.
            pub fn copy_from(&mut self, from: &Column) -> bool {
                match (self, from) {
                    $((ColumnPart::$variant(c), Column::$variant(from)) if c.len() == from.len() => {
                        c.copy_from_slice(from);
                        true
                    })*
                    _ => false,
                }
            }
        }

        $(impl ColumnElt for $rust {
            #[inline]
            fn elements(column: &Column) -> Option<&[$rust]> {
                match column { Column::$variant(c) => Some(c), _ => None }
            }
            #[inline]
            fn elements_mut(column: &mut Column) -> Option<&mut [$rust]> {
                match column { Column::$variant(c) => Some(Arc::<Vec<_>>::make_mut(c).as_mut_slice()), _ => None }
            }
            #[inline]
            fn part<'a>(part: &ColumnView<'a>) -> Option<&'a [$rust]> {
                match part { ColumnView::$variant(c) => Some(c), _ => None }
            }
            #[inline]
            fn part_mut<'a>(part: &'a mut ColumnPart<'_>) -> Option<&'a mut [$rust]> {
                match part { ColumnPart::$variant(c) => Some(c), _ => None }
            }
            #[inline]
            fn view(elements: &[$rust]) -> ColumnView<'_> {
                ColumnView::$variant(elements)
            }
            #[inline]
            fn view_mut(elements: &mut [$rust]) -> ColumnPart<'_> {
                ColumnPart::$variant(elements)
            }
        })*

        impl Column {
            /// The column in parts of `len` elements; the last part may be shorter. Copies the column if it is shared.
            pub fn parts_mut(&mut self, len: usize) -> Vec<ColumnPart<'_>> {
                match self {
                    $(Column::$variant(c) => Arc::make_mut(c).chunks_mut(len.max(1)).map(ColumnPart::$variant).collect()),*
                }
            }
            /// An empty column with capacity for `n` elements of type `t`.
            pub fn with_capacity(t: ScalarType, n: usize) -> Column {
                match t { $(ScalarType::$variant => Column::$variant(Arc::new(Vec::with_capacity(n)))),* }
            }
            /// A column of `n` zeros (`false`) of type `t`; `None` if there is not enough memory.
            pub fn zeros(t: ScalarType, n: usize) -> Option<Column> {
                match t { $(ScalarType::$variant => {
                    let mut c = Vec::new();
                    c.try_reserve_exact(n).ok()?;
                    accel_pages::advise(c.spare_capacity_mut());
                    c.resize(n, <$rust>::default());
                    Some(c.into())
                })* }
            }
            /// All elements.
            pub fn view(&self) -> ColumnView<'_> {
                match self { $(Column::$variant(c) => ColumnView::$variant(c)),* }
            }
            /// All elements, for writing. Copies the column if it is shared.
            pub fn view_mut(&mut self) -> ColumnPart<'_> {
                match self { $(Column::$variant(c) => ColumnPart::$variant(Arc::make_mut(c).as_mut_slice())),* }
            }
            /// The memory of the elements, in bytes.
            pub fn bytes(&self) -> usize {
                match self { $(Column::$variant(c) => size_of_val(c.as_slice())),* }
            }
            /// A number that identifies the elements: it is equal for columns that share their elements, and different
            /// for other columns that exist at the same time.
            pub fn identity(&self) -> usize {
                match self { $(Column::$variant(c) => Arc::as_ptr(c).addr()),* }
            }
            /// The address of the elements.
            pub fn as_ptr(&self) -> *const u8 {
                match self { $(Column::$variant(c) => c.as_ptr().cast()),* }
            }
            /// The address of the elements, for writing; `None` if the column is shared.
            pub fn as_mut_ptr(&mut self) -> Option<*mut u8> {
                match self { $(Column::$variant(c) => Arc::get_mut(c).map(|c| c.as_mut_ptr().cast())),* }
            }
            /// The number of elements.
            pub fn len(&self) -> usize {
                match self { $(Column::$variant(c) => c.len()),* }
            }
            /// Whether the column has no elements.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
            /// The type of the elements.
            pub fn ty(&self) -> ScalarType {
                match self { $(Column::$variant(_) => ScalarType::$variant),* }
            }
            /// Element `i`, if there is one.
            pub fn get(&self, i: usize) -> Option<Scalar> {
                match self { $(Column::$variant(c) => c.get(i).map(|x| Scalar::$variant(*x))),* }
            }
            /// Appends a value of the column's type; `false` if the value has another type. Copies the column if it is
            /// shared.
            pub fn push(&mut self, x: Scalar) -> bool {
                match (self, x) {
                    $((Column::$variant(c), Scalar::$variant(x)) => { Arc::make_mut(c).push(x); true })*
                    _ => false,
                }
            }
            /// Appends all elements of another column of the same type; `false` if it has another type. Copies the column
            /// if it is shared.
            pub fn append(&mut self, other: &Column) -> bool {
                match (self, other) {
                    $((Column::$variant(c), Column::$variant(other)) => {
                        Arc::make_mut(c).extend_from_slice(other);
                        true
                    })*
                    _ => false,
                }
            }
            /// Replaces element `i` by a value of the column's type; `false` if there is no such element or the value
            /// has another type.
            pub fn set(&mut self, i: usize, x: Scalar) -> bool {
                match (self, x) {
                    $((Column::$variant(c), Scalar::$variant(x)) => {
                        Arc::make_mut(c).get_mut(i).map(|y| *y = x).is_some()
                    })*
                    _ => false,
                }
            }
        }

        $(impl From<Vec<$rust>> for Column {
            fn from(v: Vec<$rust>) -> Column { Column::$variant(Arc::new(v)) }
        })*
    };
}
columns!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64);

/// The extents of an array, outermost dimension first. A few extents, as most arrays have, need no heap memory.
pub type RawExtents = SmallVec<[usize; 4]>;

/// The columns of an array. A single column needs no heap memory.
pub type Columns = SmallVec<[Column; 1]>;

/// The largest extent that an array may have.
///
/// NOTE [The largest extent]: an array in memory has fewer than 2^48 elements, but an array with an extent of 0 takes
/// no memory, whatever its other extents are. If these could be arbitrary, sums of a few extents might overflow, and
/// hardly anything could be proved about them. So an extent that no array in memory needs is refused everywhere: in an
/// argument, in a literal, and in what a program computes.
pub const MAX_EXTENT: usize = 1 << 48;

/// The largest number of elements that an array may have, and of indices that an operation may visit.
///
/// NOTE [The largest size]: the size in bytes of an array with this number of elements fits into an `isize`. Generated
/// code divides index spaces into equal parts, and the end of the last part may lie beyond the last index. There are
/// some spare bits, so it does not overflow either.
pub const MAX_SIZE: usize = isize::MAX as usize / 8;

/// The number of elements of an array with these extents. `None` if an extent is above [`MAX_EXTENT`], or if the
/// product of all extents other than 0 is above [`MAX_SIZE`]: positions never overflow.
pub fn checked_size(extents: &[usize]) -> Option<usize> {
    let product = extents.iter().filter(|e| **e != 0).try_fold(1usize, |n, e| n.checked_mul(*e));
    let product = product.filter(|n| *n <= MAX_SIZE && extents.iter().all(|e| *e <= MAX_EXTENT))?;
    Some(if extents.contains(&0) { 0 } else { product })
}

/// An array: extents, outermost first, and one column for each scalar leaf of the element type.
#[derive(PartialEq, Debug)]
pub struct RawArray {
    /// The extents, outermost dimension first; empty for a scalar array.
    pub extents: RawExtents,
    /// The leaves of the element type from left to right; every column has `size()` elements.
    pub columns: Columns,
}

impl Column {
    /// The floating-point numbers; none if it has other elements.
    pub fn floats(&self) -> Vec<f64> {
        match self {
            Column::F64(c) => c.to_vec(),
            Column::F32(c) => c.iter().map(|x| f64::from(*x)).collect(),
            _ => vec![],
        }
    }
}

impl Clone for RawArray {
    fn clone(&self) -> Self {
        // The extents are copied at once, not one after the other.
        RawArray { extents: SmallVec::from_slice(&self.extents), columns: self.columns.clone() }
    }
}

impl RawArray {
    /// Whether the columns are those of elements of type `t`.
    pub fn has_elements_of(&self, t: &RawTy) -> bool {
        match (t, &*self.columns) {
            (RawTy::Scalar(s), [column]) => column.ty() == *s,
            (t, columns) => columns.iter().map(Column::ty).eq(t.leaves()),
        }
    }

    /// The index of the element at a position in row-major order.
    pub fn index(&self, position: usize) -> Vec<usize> {
        let mut index = vec![0; self.extents.len()];
        unravel(position, &self.extents, &mut index);
        index
    }

    /// The number of elements: the product of the extents. It saturates for extents that no array can have.
    pub fn size(&self) -> usize {
        self.extents.iter().fold(1, |n, e| n.saturating_mul(*e))
    }

    /// An array of zeros; `None` if there is not enough memory. The extents are those of an array.
    pub fn zeros(extents: RawExtents, types: &[ScalarType]) -> Option<RawArray> {
        let n = checked_size(&extents)?;
        let columns = types.iter().map(|t| Column::zeros(*t, n)).collect::<Option<_>>()?;
        Some(RawArray { extents, columns })
    }

    /// An array with an empty column for every leaf of the element type `t`.
    pub fn columns_for(t: &RawTy, capacity: usize) -> Columns {
        t.leaves().into_iter().map(|s| Column::with_capacity(s, capacity)).collect()
    }
}

/// Sets `index` to the index of the element at a position in row-major order.
pub(crate) fn unravel(mut position: usize, extents: &[usize], index: &mut [usize]) {
    for (place, n) in index.iter_mut().zip(extents).rev() {
        *place = position % n;
        position /= n;
    }
}

/// An array or a tuple of arrays.
#[derive(Clone, PartialEq, Debug)]
pub enum ArrayTuple {
    /// The empty tuple.
    Unit,
    /// One array.
    Array(RawArray),
    /// A pair of tuples.
    Pair(Arc<(ArrayTuple, ArrayTuple)>),
}

impl ArrayTuple {
    /// The pair of `a` and `b`.
    pub fn pair(a: ArrayTuple, b: ArrayTuple) -> ArrayTuple {
        ArrayTuple::Pair(Arc::new((a, b)))
    }
    /// The arrays, from left to right.
    pub fn leaves(&self) -> SmallVec<[&RawArray; 8]> {
        fn go<'a>(t: &'a ArrayTuple, out: &mut SmallVec<[&'a RawArray; 8]>) {
            match t {
                ArrayTuple::Unit => {}
                ArrayTuple::Array(a) => out.push(a),
                ArrayTuple::Pair(p) => {
                    go(&p.0, out);
                    go(&p.1, out);
                }
            }
        }
        let mut out = SmallVec::new();
        go(self, &mut out);
        out
    }
    /// The floating-point numbers, column by column.
    pub fn floats(&self) -> Vec<f64> {
        self.leaves().iter().flat_map(|a| &a.columns).flat_map(Column::floats).collect()
    }
    /// The arrays in which `f` replaces the floating-point numbers, in the order of [`floats`](Self::floats).
    pub fn map_floats(&self, f: &mut dyn FnMut(f64) -> f64) -> ArrayTuple {
        match self {
            ArrayTuple::Unit => ArrayTuple::Unit,
            ArrayTuple::Pair(p) => {
                let first = p.0.map_floats(f);
                ArrayTuple::pair(first, p.1.map_floats(f))
            }
            ArrayTuple::Array(a) => {
                let mut column = |c: &Column| match c {
                    Column::F64(c) => c.iter().map(|x| f(*x)).collect::<Vec<_>>().into(),
                    Column::F32(c) => c.iter().map(|x| f((*x).into()) as f32).collect::<Vec<_>>().into(),
                    other => other.clone(),
                };
                let columns = a.columns.iter().map(&mut column).collect();
                ArrayTuple::Array(RawArray { extents: a.extents.clone(), columns })
            }
        }
    }
    /// Makes a tuple of type `t` from the next arrays; `None` if there are too few.
    pub fn of(t: &RawTy, arrays: &mut impl Iterator<Item = RawArray>) -> Option<ArrayTuple> {
        Some(match t {
            RawTy::Pair(p) => {
                let first = ArrayTuple::of(&p.0, arrays)?;
                ArrayTuple::pair(first, ArrayTuple::of(&p.1, arrays)?)
            }
            RawTy::Array(_) => ArrayTuple::Array(arrays.next()?),
            RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => ArrayTuple::Unit,
        })
    }
}

/// The tuple with these leaves.
impl FromIterator<RawArray> for ArrayTuple {
    fn from_iter<I: IntoIterator<Item = RawArray>>(leaves: I) -> ArrayTuple {
        leaves.into_iter().map(ArrayTuple::Array).reduce(ArrayTuple::pair).unwrap_or(ArrayTuple::Unit)
    }
}
