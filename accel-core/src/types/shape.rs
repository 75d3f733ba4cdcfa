//! Shapes: the extents of arrays, and indices into them.

use crate::ast::ty::ShapeRepr;
use crate::repr::{Scalar, Scalars};
use crate::surface::handles::Exp;
use crate::surface::nodes::{fst, snd, tuple};
use crate::types::Elt;
use generic_array::{ArrayLength, GenericArray};
use typenum::{U0, U1, U2, U3, U4, U5, U6, U7, U8, U9, U10, U11, U12, U13, U14, U15, U16};

/// The shape of an array without dimensions, which has one element; also the only index of this element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Z;

/// The shape `Sh` with one more, innermost, dimension: the outer shape, and the innermost extent or index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Snoc<Sh>(pub Sh, pub i64);

/// No dimension.
pub type Dim0 = Z;
/// One dimension.
pub type Dim1 = Snoc<Dim0>;
/// Two dimensions: rows and columns.
pub type Dim2 = Snoc<Dim1>;
/// Three dimensions.
pub type Dim3 = Snoc<Dim2>;
/// Four dimensions.
pub type Dim4 = Snoc<Dim3>;
/// Five dimensions.
pub type Dim5 = Snoc<Dim4>;
/// Six dimensions.
pub type Dim6 = Snoc<Dim5>;

/// Shapes: [`Z`] and [`Snoc`] of a shape, for up to 16 dimensions. For more, [`Shape::Rank`] does not count any
/// further, and making an array is an error.
pub trait Shape: Elt<Repr: ShapeRepr, Exp = Exp<Self>> + ShapeLike<Sh = Self> {
    /// The number of dimensions as a type.
    type Rank: RankNat;
    /// What closures get as an index: `()`, `Exp<i64>`, or a tuple of these (`Exp<Self>` for more than six dimensions).
    type Index: PushIndex<Self>;
    /// The shape whose dimensions are those of `Outer`, and then these.
    type After<Outer: Shape>: Shape;
    /// The number of dimensions.
    const RANK: usize;

    /// Splits an index into its components.
    fn unlift_index(ix: Exp<Self>) -> Self::Index;
    /// Joins the shapes or indices of outer and inner dimensions.
    fn after<Outer: Shape>(outer: Exp<Outer>, inner: Exp<Self>) -> Exp<Self::After<Outer>>;
}

/// Everything that is accepted as a shape or an index: `()`, an `i64` or `Exp<i64>`, a tuple of up to six of these
/// (outermost first), or an expression of shape type. Extents of the host are `usize`; write `n as i64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape or index",
    note = "shapes are `()`, an `i64` or `Exp<i64>`, tuples of them, and `Exp<Sh>`; write `n as i64` for a `usize`"
)]
pub trait IntoShape {
    /// The shape type.
    type Sh: Shape;
    /// Converts the value to an expression.
    fn into_shape(self) -> Exp<Self::Sh>;
}

/// Elements that can be used as shapes: shapes, and `i64` as the shape of a vector.
#[diagnostic::on_unimplemented(
    message = "`Exp<{Self}>` is not a shape or index",
    note = "indices and extents are `i64`: `x.cast::<i64>()` converts"
)]
pub trait ShapeLike: Elt {
    /// The shape type.
    type Sh: Shape;
    /// Converts the expression to a shape.
    fn shape_exp(e: Exp<Self>) -> Exp<Self::Sh>;
}

/// An index in the form that closures get; it can be extended by one dimension.
pub trait PushIndex<Sh: Shape>: Copy + IntoShape<Sh = Sh> {
    /// The index with one more dimension.
    type Pushed: PushIndex<Snoc<Sh>>;
    /// Adds an innermost dimension to an index.
    fn push(self, i: Exp<i64>) -> Self::Pushed;
}

/// Type-level numbers with a successor. (The addition of typenum would require bounds in every function that is generic
/// in a shape.)
pub trait RankNat: ArrayLength {
    /// The next number; 16 stays 16.
    type Succ: RankNat;
}
macro_rules! succ {
    ($($n:ident $m:ident),*) => { $(impl RankNat for $n { type Succ = $m; })* };
}
succ!(U0 U1, U1 U2, U2 U3, U3 U4, U4 U5, U5 U6, U6 U7, U7 U8, U8 U9, U9 U10, U10 U11, U11 U12, U12 U13, U13 U14, U14 U15, U15 U16, U16 U16);

impl Elt for Z {
    type Repr = ();
    type Exp = Exp<Z>;
    fn to_scalars(&self, _: &mut Scalars) {}
    fn from_scalars(_: &mut dyn Iterator<Item = Scalar>) -> Option<Self> {
        Some(Z)
    }
    fn unlift(e: Exp<Self>) -> Exp<Self> {
        e
    }
}

impl<Sh: Shape> Elt for Snoc<Sh> {
    type Repr = (Sh::Repr, i64);
    type Exp = Exp<Snoc<Sh>>;
    fn to_scalars(&self, out: &mut Scalars) {
        self.0.to_scalars(out);
        self.1.to_scalars(out)
    }
    fn from_scalars(scalars: &mut dyn Iterator<Item = Scalar>) -> Option<Self> {
        Some(Snoc(Sh::from_scalars(scalars)?, i64::from_scalars(scalars)?))
    }
    fn unlift(e: Exp<Self>) -> Exp<Self> {
        e
    }
}

impl Shape for Z {
    type Rank = U0;
    type Index = ();
    type After<Outer: Shape> = Outer;
    const RANK: usize = 0;
    fn unlift_index(_: Exp<Self>) {}
    fn after<Outer: Shape>(outer: Exp<Outer>, _: Exp<Self>) -> Exp<Outer> {
        outer
    }
}

impl<Sh: Shape> Shape for Snoc<Sh> {
    type Rank = <Sh::Rank as RankNat>::Succ;
    type Index = <Sh::Index as PushIndex<Sh>>::Pushed;
    type After<Outer: Shape> = Snoc<Sh::After<Outer>>;
    const RANK: usize = Sh::RANK + 1;
    #[track_caller]
    fn unlift_index(ix: Exp<Self>) -> Self::Index {
        Sh::unlift_index(Exp::new(fst(ix.handle()))).push(Exp::new(snd(ix.handle())))
    }
    #[track_caller]
    fn after<Outer: Shape>(outer: Exp<Outer>, inner: Exp<Self>) -> Exp<Self::After<Outer>> {
        let rest = Sh::after(outer, Exp::new(fst(inner.handle())));
        Exp::new(tuple(&[rest.handle(), snd(inner.handle())]))
    }
}

/// The extents of a host array, outermost dimension first.
pub type Extents<Sh> = GenericArray<usize, <Sh as Shape>::Rank>;

/// Everything that is accepted as extents or as an index of a host array: `()`, a `usize`, a tuple or an array of up to
/// six `usize`, or [`Extents`].
#[diagnostic::on_unimplemented(message = "`{Self}` is not a host shape or index of rank `{Sh}`")]
pub trait ToExtents<Sh: Shape> {
    /// The numbers, one for each dimension, outermost first.
    fn to_extents(self) -> Extents<Sh>;
}

impl<Sh: Shape> ToExtents<Sh> for GenericArray<usize, Sh::Rank> {
    fn to_extents(self) -> Extents<Sh> {
        self
    }
}
impl ToExtents<Dim0> for () {
    fn to_extents(self) -> Extents<Dim0> {
        GenericArray::from_array([])
    }
}
impl ToExtents<Dim1> for usize {
    fn to_extents(self) -> Extents<Dim1> {
        GenericArray::from_array([self])
    }
}
macro_rules! to_extents {
    ($($dim:ty, $n:literal: $($x:ident $usize:ty),+;)*) => { $(
        impl ToExtents<$dim> for [usize; $n] {
            fn to_extents(self) -> Extents<$dim> {
                GenericArray::from_array(self)
            }
        }
        impl ToExtents<$dim> for ($($usize,)+) {
            fn to_extents(self) -> Extents<$dim> {
                let ($($x,)+) = self;
                GenericArray::from_array([$($x),+])
            }
        }
    )* };
}
to_extents! {
    Dim1, 1: a usize;
    Dim2, 2: a usize, b usize;
    Dim3, 3: a usize, b usize, c usize;
    Dim4, 4: a usize, b usize, c usize, d usize;
    Dim5, 5: a usize, b usize, c usize, d usize, e usize;
    Dim6, 6: a usize, b usize, c usize, d usize, e usize, f usize;
}
