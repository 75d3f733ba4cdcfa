//! What densities are functions of: numbers in scalar code, or arrays, element by element.

use crate::surface::Operand;
use crate::types::{Elt, Primitive, Shape};
use crate::{Acc, Array, Exp, IntoExp, ToExp, map, pair};

/// Where a density is evaluated: an [`Exp`] in scalar code, or an array, of which each element has its own density.
#[diagnostic::on_unimplemented(
    message = "a density cannot be evaluated at `{Self}`",
    note = "it is evaluated at an `Exp<..>` in scalar code, or at an array of numbers"
)]
pub trait Variate: Copy {
    /// The type of its numbers.
    type Element: Primitive;
    /// The same form with elements of another type.
    type With<U: Elt>: Copy;
    #[doc(hidden)]
    fn elements(self) -> Self::With<Self::Element>;
    /// Applies `f` to each element.
    #[doc(hidden)]
    fn each<R: IntoExp>(self, f: impl FnOnce(Exp<Self::Element>) -> R) -> Self::With<R::Elt>;
}

impl<E: Primitive> Variate for Exp<E> {
    type Element = E;
    type With<U: Elt> = Exp<U>;
    fn elements(self) -> Exp<E> {
        self
    }
    #[track_caller]
    fn each<R: IntoExp>(self, f: impl FnOnce(Exp<E>) -> R) -> Exp<R::Elt> {
        f(self).into_exp()
    }
}

impl<Sh: Shape, E: Primitive> Variate for Acc<Array<Sh, E>> {
    type Element = E;
    type With<U: Elt> = Acc<Array<Sh, U>>;
    fn elements(self) -> Acc<Array<Sh, E>> {
        self
    }
    #[track_caller]
    fn each<R: IntoExp>(self, f: impl FnOnce(Exp<E>) -> R) -> Acc<Array<Sh, R::Elt>> {
        map(f, self)
    }
}

/// A parameter of a density that is evaluated at `X`: for an [`Exp`], a number or another `Exp`; for an array, what can be combined with its elements
/// ([`Operand`]): a number, an `Exp`, an array of the same shape, an array without dimensions, and arrays of a lower rank as [`row`](crate::row) or
/// [`column`](crate::column).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no parameter of type `{T}` of a density at `{X}`",
    note = "parameters of a density at an `Exp` are numbers and expressions",
    note = "those of a density at an array are numbers, expressions, arrays of the same shape, arrays without dimensions, `row(v)` and `column(v)`"
)]
pub trait Parameter<X: Variate, T: Primitive>: Copy {
    /// Applies `f` to each element and the parameter that belongs to it.
    #[doc(hidden)]
    fn beside<U: Elt, R: IntoExp>(self, f: impl FnOnce(U::Exp, Exp<T>) -> R, xs: X::With<U>) -> X::With<R::Elt>;
}

impl<E: Primitive, T: Primitive, P: ToExp<T> + Copy> Parameter<Exp<E>, T> for P {
    #[track_caller]
    fn beside<U: Elt, R: IntoExp>(self, f: impl FnOnce(U::Exp, Exp<T>) -> R, x: Exp<U>) -> Exp<R::Elt> {
        f(x.unlift(), self.to_exp()).into_exp()
    }
}

impl<Sh: Shape, E: Primitive, T: Primitive, P: Operand<Sh, T>> Parameter<Acc<Array<Sh, E>>, T> for P {
    #[track_caller]
    fn beside<U: Elt, R: IntoExp>(
        self,
        f: impl FnOnce(U::Exp, Exp<T>) -> R,
        xs: Acc<Array<Sh, U>>,
    ) -> Acc<Array<Sh, R::Elt>> {
        Operand::beside(self, f, xs)
    }
}

/// A function of a variate and one parameter.
#[track_caller]
pub(super) fn with1<X: Variate, T: Primitive>(
    f: impl FnOnce(Exp<X::Element>, Exp<T>) -> Exp<T>,
    x: X,
    a: impl Parameter<X, T>,
) -> X::With<T> {
    a.beside(f, x.elements())
}

/// A function of a variate and two parameters.
#[track_caller]
pub(super) fn with2<X: Variate, T: Primitive>(
    f: impl FnOnce(Exp<X::Element>, [Exp<T>; 2]) -> Exp<T>,
    x: X,
    a: impl Parameter<X, T>,
    b: impl Parameter<X, T>,
) -> X::With<T> {
    let first = a.beside(|x: Exp<X::Element>, a| pair(x, a), x.elements());
    b.beside(|(x, a): (Exp<X::Element>, Exp<T>), b| f(x, [a, b]), first)
}

/// A function of a variate and three parameters.
#[track_caller]
pub(super) fn with3<X: Variate, T: Primitive>(
    f: impl FnOnce(Exp<X::Element>, [Exp<T>; 3]) -> Exp<T>,
    x: X,
    a: impl Parameter<X, T>,
    b: impl Parameter<X, T>,
    c: impl Parameter<X, T>,
) -> X::With<T> {
    let first = a.beside(|x: Exp<X::Element>, a| pair(x, a), x.elements());
    let both = b.beside(|(x, a): (Exp<X::Element>, Exp<T>), b| (x, a, b), first);
    c.beside(|(x, a, b): (Exp<X::Element>, Exp<T>, Exp<T>), c| f(x, [a, b, c]), both)
}
