//! Rust arrays `[T; N]` of one to thirty-two elements, or of as many arrays. Their representation is that of tuples: pairs nested to the
//! left.

use super::arrays::name_of_part;
use super::tuples::split;
use super::{Arrays, Elt, Inputs, Listed, Numbers, Outputs, Rows, Tangent};
use crate::error::{Error, Result};
use crate::repr::{ArrayTuple, Scalar, Scalars, Views, ViewsMut};
use crate::surface::graph::Handle;
use crate::surface::nodes::{array_components, array_tuple, components, either_tuple, tuple};
use crate::surface::{Acc, Exp, IntoAcc, IntoExp, ToExp};

/// `N` values, of as many as there may be.
fn exactly<T, const N: usize>(values: impl Iterator<Item = Option<T>>) -> Option<[T; N]> {
    let values: Vec<T> = values.collect::<Option<_>>()?;
    values.try_into().ok()
}

/// `((T, T), T)`, with a `T` for each of these tokens.
macro_rules! nest {
    ($acc:ty, $t:ty;) => { $acc };
    ($acc:ty, $t:ty; $head:tt $($tail:tt)*) => { nest!(($acc, $t), $t; $($tail)*) };
}

macro_rules! fixed_sizes {
    // One size, and those that follow it with one more token each.
    ([$($done:tt)*] $n:literal $($rest:literal)*) => {
        impl<T: Elt> Elt for [T; $n] {
            type Repr = nest!(T::Repr, T::Repr; $($done)*);
            type Exp = [T::Exp; $n];
            fn to_scalars(&self, out: &mut Scalars) {
                self.iter().for_each(|x| x.to_scalars(out));
            }
            fn from_scalars(scalars: &mut dyn Iterator<Item = Scalar>) -> Option<Self> {
                exactly((0..$n).map(|_| T::from_scalars(scalars)))
            }
            #[track_caller]
            fn unlift(e: Exp<Self>) -> Self::Exp {
                components::<$n>(e.handle()).map(|part| T::unlift(Exp::new(part)))
            }
        }
        impl<A: Arrays> Arrays for [A; $n] {
            type Repr = nest!(A::Repr, A::Repr; $($done)*);
            type Acc = [A::Acc; $n];
            fn to_tuple(&self) -> ArrayTuple {
                of_parts(self.iter().map(A::to_tuple))
            }
            fn from_tuple(arrays: ArrayTuple) -> Result<Self> {
                let parts: Result<Vec<A>> = split::<Self, $n>(arrays)?.into_iter().map(A::from_tuple).collect();
                parts?.try_into().map_err(|_| Error::Internal("parts of another number".into()))
            }
            fn views<'a>(&'a self, to: &mut Views<'a>) {
                self.iter().for_each(|a| a.views(to));
            }
            fn views_mut<'a>(&'a mut self, to: &mut ViewsMut<'a>) {
                self.iter_mut().for_each(|a| a.views_mut(to));
            }
            #[track_caller]
            fn unlift(a: Acc<Self>) -> Self::Acc {
                array_components::<$n>(a.handle()).map(|part| A::unlift(Acc::new(part)))
            }
            fn names(within: &str, to: &mut Vec<String>) {
                (0..$n).for_each(|k: usize| A::names(&name_of_part(within, k), to));
            }
        }
        impl<A: Rows> Rows for [A; $n]
        where
            [A::Row; $n]: Arrays,
        {
            type Row = [A::Row; $n];
        }
        impl<A: Listed> Listed for [A; $n] {
            type List = [A::List; $n];
        }
        fixed_sizes!([$($done)* +] $($rest)*);
    };
    ([$($done:tt)*]) => {};
}
fixed_sizes!([] 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);

/// Pairs nested to the left.
fn of_parts(parts: impl Iterator<Item = ArrayTuple>) -> ArrayTuple {
    parts.reduce(ArrayTuple::pair).unwrap_or(ArrayTuple::Unit)
}

#[diagnostic::do_not_recommend]
impl<X: IntoExp, const N: usize> IntoExp for [X; N]
where
    [X::Elt; N]: Elt,
{
    type Elt = [X::Elt; N];
    #[track_caller]
    fn into_exp(self) -> Exp<Self::Elt> {
        Exp::new(tuple(&self.map(|x| x.into_exp().handle())))
    }
}

#[diagnostic::do_not_recommend]
impl<T: Elt, X: ToExp<T>, const N: usize> ToExp<[T; N]> for [X; N]
where
    [T; N]: Elt,
{
    #[track_caller]
    fn to_exp(self) -> Exp<[T; N]> {
        Exp::new(tuple(&self.map(|x| x.to_exp().handle())))
    }
}

#[diagnostic::do_not_recommend]
impl<X: IntoAcc, const N: usize> IntoAcc for [X; N]
where
    [X::Arrays; N]: Arrays,
{
    type Arrays = [X::Arrays; N];
    #[track_caller]
    fn into_acc(self) -> Acc<Self::Arrays> {
        Acc::new(array_tuple(&self.map(|x| x.into_acc().handle())))
    }
}

#[diagnostic::do_not_recommend]
impl<A, X: Tangent<A>, const N: usize> Tangent<[A; N]> for [X; N] {
    #[track_caller]
    fn into_handle(self) -> Handle {
        either_tuple(&self.map(Tangent::into_handle))
    }
}

#[diagnostic::do_not_recommend]
impl<A: Arrays, X: Inputs<A>, const N: usize> Inputs<[A; N]> for [X; N]
where
    [A; N]: Arrays,
{
    fn to_tuple(&self) -> ArrayTuple {
        of_parts(self.iter().map(Inputs::to_tuple))
    }
    fn views<'a>(&'a self, to: &mut Views<'a>) {
        self.iter().for_each(|a| a.views(to));
    }
}

#[diagnostic::do_not_recommend]
impl<A: Arrays, X: Outputs<A>, const N: usize> Outputs<[A; N]> for [X; N]
where
    [A; N]: Arrays,
{
    fn views_mut<'a>(&'a mut self, to: &mut ViewsMut<'a>) {
        self.iter_mut().for_each(|a| a.views_mut(to));
    }
}

impl<A: Numbers, const N: usize> Numbers for [A; N]
where
    [A; N]: Arrays,
    [A::Values; N]: Elt,
{
    type Values = [A::Values; N];
    fn from_values(values: Self::Values) -> Self {
        values.map(A::from_values)
    }
    fn values(&self) -> Self::Values {
        self.each_ref().map(A::values)
    }
}
