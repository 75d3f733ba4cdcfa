//! The arguments of `replicate` and `slice`: which dimensions are added or removed.

use super::{Exp, ToExp};
use crate::types::{Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Shape, Snoc, Z};

/// A dimension that both arrays have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct All;

/// One dimension of the larger array: [`All`] if the smaller array has it as well, otherwise an `i64` or `Exp<i64>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what happens to a dimension",
    note = "write `All` for one that stays, an `i64` or `Exp<i64>` for one that is added or removed"
)]
pub trait SliceDim {
    /// The smaller shape, extended by this dimension if the smaller array has it.
    type Push<Sh: Shape>: Shape;
    /// The extent or index, if the smaller array does not have the dimension.
    fn fixed(self) -> Option<Exp<i64>>;
}

impl SliceDim for All {
    type Push<Sh: Shape> = Snoc<Sh>;
    fn fixed(self) -> Option<Exp<i64>> {
        None
    }
}
impl SliceDim for i64 {
    type Push<Sh: Shape> = Sh;
    #[track_caller]
    fn fixed(self) -> Option<Exp<i64>> {
        Some(self.to_exp())
    }
}
impl SliceDim for Exp<i64> {
    type Push<Sh: Shape> = Sh;
    fn fixed(self) -> Option<Exp<i64>> {
        Some(self)
    }
}

/// The dimensions of the larger array, outermost first: one [`SliceDim`] or a tuple of up to six.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what happens to each dimension",
    note = "write a tuple with `All` for a dimension that stays, an `i64` or `Exp<i64>` for one that is added or removed"
)]
pub trait Slicing {
    /// The shape of the larger array.
    type Large: Shape;
    /// The shape of the smaller array.
    type Small: Shape;
    /// The dimensions one by one.
    fn dimensions(self) -> Vec<Option<Exp<i64>>>;
}

macro_rules! bare {
    ($($t:ty),*) => { $(
        impl Slicing for $t {
            type Large = Dim1;
            type Small = <$t as SliceDim>::Push<Z>;
            #[track_caller]
            fn dimensions(self) -> Vec<Option<Exp<i64>>> {
                vec![self.fixed()]
            }
        }
    )* };
}
bare!(All, i64, Exp<i64>);

/// The smaller shape that results from some dimensions.
macro_rules! small {
    ($acc:ty;) => { $acc };
    ($acc:ty; $head:ident $($tail:ident)*) => { small!($head::Push<$acc>; $($tail)*) };
}

macro_rules! slicing {
    ($($dim:ty: $($A:ident $i:tt),+;)*) => { $(
        impl<$($A: SliceDim),+> Slicing for ($($A,)+) {
            type Large = $dim;
            type Small = small!(Z; $($A)+);
            #[track_caller]
            fn dimensions(self) -> Vec<Option<Exp<i64>>> {
                vec![$(self.$i.fixed()),+]
            }
        }
    )* };
}
slicing! {
    Dim2: A 0, B 1;
    Dim3: A 0, B 1, C 2;
    Dim4: A 0, B 1, C 2, D 3;
    Dim5: A 0, B 1, C 2, D 3, E 4;
    Dim6: A 0, B 1, C 2, D 3, E 4, F 5;
}
