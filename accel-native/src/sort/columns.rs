//! The columns that a sort reads and writes. It only moves their elements, so they are unsigned integers of some size.

use super::record::Record;
use std::mem::MaybeUninit;
use std::ops::Range;

macro_rules! widths {
    ($($variant:ident $t:ident)*) => {
        /// The elements of a column.
        #[derive(Clone, Copy)]
        pub enum Column<'a> { $(#[doc = concat!("Of the size of `", stringify!($t), "`.")] $variant(&'a [$t])),* }

        /// The memory of a column that is written.
        pub enum Output<'a> {
            $(#[doc = concat!("Of the size of `", stringify!($t), "`.")] $variant(&'a mut [MaybeUninit<$t>])),*
        }

        impl<'a> Column<'a> {
            /// The number of bits of an element.
            pub fn bits(self) -> u32 {
                match self { $(Column::$variant(_) => $t::BITS),* }
            }
            /// Some of the elements.
            pub fn range(self, range: Range<usize>) -> Column<'a> {
                match self { $(Column::$variant(x) => Column::$variant(&x[range])),* }
            }
            /// Adds the elements to records, from bit `shift` on.
            pub fn add_to<R: Record>(self, records: &mut [R], shift: u32) {
                match self {
                    $(Column::$variant(x) => records.iter_mut().zip(x).for_each(|(r, x)| *r = *r | R::bits(u64::from(*x), shift))),*
                }
            }
        }

        impl<'a> Output<'a> {
            /// The places of the first `n` elements, and those of the others.
            pub fn split_at(self, n: usize) -> (Output<'a>, Output<'a>) {
                match self {
                    $(Output::$variant(x) => {
                        let (a, b) = x.split_at_mut(n);
                        (Output::$variant(a), Output::$variant(b))
                    })*
                }
            }
            /// Writes the elements that `element` finds in the records.
            fn write<R>(&mut self, records: impl Iterator<Item = R>, element: impl Fn(R) -> u64) {
                match self {
                    $(Output::$variant(to) => to.iter_mut().zip(records).for_each(|(to, r)| {
                        to.write(element(r) as $t);
                    })),*
                }
            }
            /// Writes the elements of a column at the positions in the records.
            fn gather<R: Record>(&mut self, from: Column, records: impl Iterator<Item = R>) {
                match (self, from) {
                    $((Output::$variant(to), Column::$variant(from)) => {
                        to.iter_mut().zip(records).for_each(|(to, r)| {
                            to.write(from[r.payload() as usize]);
                        });
                    })*
                    _ => unreachable!("a column moves to one of the same width"),
                }
            }
        }
    };
}
widths!(U8 u8 U16 u16 U32 u32 U64 u64);

/// How an element of the result is found in a record.
#[derive(Clone, Copy)]
pub enum Field<'a> {
    /// It consists of the bits of `mask` from `shift` on, of which those of `flipped` are inverted.
    Bits { shift: u32, mask: u64, flipped: u64 },
    /// The payload is its position in this row of a column.
    Gathered(Column<'a>),
}

/// Where sorted records go: the columns, and how their elements are found.
pub struct Outputs<'a>(pub Vec<(Field<'a>, Output<'a>)>);

impl<'a> Outputs<'a> {
    /// The places of the first `n` records, and those of the others.
    pub fn split_at(self, n: usize) -> (Outputs<'a>, Outputs<'a>) {
        let split = |(field, output): (Field<'a>, Output<'a>)| {
            let (a, b) = output.split_at(n);
            ((field, a), (field, b))
        };
        let (a, b) = self.0.into_iter().map(split).unzip();
        (Outputs(a), Outputs(b))
    }

    /// Takes all records in sorted order.
    pub fn write<R: Record>(self, records: impl Iterator<Item = R> + Clone) {
        for (field, mut output) in self.0 {
            let records = records.clone();
            match field {
                Field::Bits { shift, mask, flipped } => output.write(records, |r| r.upper_bits(shift) & mask ^ flipped),
                Field::Gathered(column) => output.gather(column, records),
            }
        }
    }
}
