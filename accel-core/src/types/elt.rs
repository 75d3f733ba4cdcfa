//! Element types: the types of array elements and of scalar code.

use crate::ast::ty::{ElementRepr, Repr};
use crate::error::{Error, Result};
use crate::repr::{Column, Columns, RawArray, Scalar, Scalars};
use crate::surface::handles::Exp;

/// An element type: a scalar, `()`, a tuple of up to twelve element types, a Rust array of one to thirty-two, a shape, or a record with `#[derive(Elt)]`.
///
/// NOTE \[What the derive generates\]: `struct Complex { re: f64, im: f64 }` gets a companion for scalar code, `struct
/// ComplexExp { re: <f64 as Elt>::Exp, im: <f64 as Elt>::Exp }`, which is `Copy`, and
///
/// - `impl Elt for Complex`. `Repr` consists of the fields' representations as pairs nested to the left (for a single
///   field, its own representation), and `Exp = ComplexExp`. `to_scalars` and `from_scalars` process the fields in
///   order. `unlift` uses the `unlift` of the nested pairs of the fields' types, for which
///   [`retype_exp`](crate::surface::derive_support::retype_exp) changes the type of the handle;
/// - `impl IntoExp for ComplexExp` with `Elt = Complex`: `into_exp` of the nested pairs of the fields, with the type
///   changed back;
/// - `impl ToExp<Complex> for ComplexExp` by `into_exp`.
///
/// All names come from [`derive_support`](crate::surface::derive_support). `tests/surface.rs` contains such an
/// implementation written by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type",
    note = "elements are scalars, tuples, Rust arrays and shapes; a record or an enum becomes one with `#[derive(Elt)]`"
)]
pub trait Elt: Clone + Send + Sync + 'static {
    /// The representation type.
    type Repr: ElementRepr;
    /// What closures get: an [`Exp`] for a scalar, a tuple of components for a tuple, the companion for a record.
    type Exp: Copy + IntoExp<Elt = Self> + ToExp<Self>;

    /// Appends the scalars that the value consists of, left to right.
    fn to_scalars(&self, out: &mut Scalars);
    /// Reads the scalars of one value; `None` if there are too few or they have other types.
    fn from_scalars(scalars: &mut dyn Iterator<Item = Scalar>) -> Option<Self>;
    /// Splits an expression into its components.
    fn unlift(e: Exp<Self>) -> Self::Exp;

    /// Stores values in columns, one for each scalar leaf. A vector of scalars is its own column and is not copied.
    ///
    /// # Errors
    /// `Error::Internal` if `to_scalars` does not agree with `Repr`.
    fn into_columns(values: Vec<Self>) -> Result<Columns> {
        let mut columns = RawArray::columns_for(&Self::Repr::raw(), values.len());
        let mut scalars = Scalars::new();
        for x in values {
            scalars.clear();
            x.to_scalars(&mut scalars);
            let fits = scalars.len() == columns.len() && columns.iter_mut().zip(&scalars).all(|(c, s)| c.push(*s));
            if !fits {
                return Err(wrong_elt::<Self>());
            }
        }
        Ok(columns)
    }

    /// Reads `n` values from columns; `None` if there are fewer or they have other types.
    fn from_columns(columns: &[Column], n: usize) -> Option<Vec<Self>> {
        (0..n).map(|i| Self::from_column_row(columns, i)).collect()
    }

    /// Reads value `i` from columns; `None` if there is no such value or it has another type.
    fn from_column_row(columns: &[Column], i: usize) -> Option<Self> {
        let mut row = columns.iter().map_while(|c| c.get(i));
        Self::from_scalars(&mut row)
    }
}

/// Everything that a closure of scalar code may return and that can be converted to an [`Exp`]: expressions, scalars,
/// tuples of them, and the companions of records. The value determines the element type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar expression",
    note = "an array cannot be computed inside scalar code; read an element with `xs.at(i)`, and that of an array without dimensions with \
            `the(x)`"
)]
pub trait IntoExp {
    /// The element type.
    type Elt: Elt;
    /// Converts the value to an expression.
    fn into_exp(self) -> Exp<Self::Elt>;
}

/// Everything that is accepted where an element of type `T` is needed. In contrast to [`IntoExp`], the type is known in
/// advance, so a literal gets this type: `x.max(0.0)` works for `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar expression of type `{T}`",
    note = "numbers have this type if they are written as it: `2.0` for `f64` and `f32`, `2` for integers, `n as i64` for a `usize`",
    note = "`x.cast()` converts an expression, `lit(0.5)` makes a number of any type, and `the(x)` reads an array without dimensions",
    note = "`acond` chooses between arrays, `where_` between their elements"
)]
pub trait ToExp<T: Elt> {
    /// Converts the value to an expression.
    fn to_exp(self) -> Exp<T>;
}

/// The error for an implementation of [`Elt`] whose scalars do not match its representation.
pub(crate) fn wrong_elt<T>() -> Error {
    Error::Internal(format!("`Elt for {}`: `to_scalars` does not agree with `Repr`", std::any::type_name::<T>()))
}

impl Elt for () {
    type Repr = ();
    type Exp = ();
    fn to_scalars(&self, _: &mut Scalars) {}
    fn from_scalars(_: &mut dyn Iterator<Item = Scalar>) -> Option<Self> {
        Some(())
    }
    fn unlift(_: Exp<Self>) {}
}
