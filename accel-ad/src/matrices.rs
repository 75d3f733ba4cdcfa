//! Matrices of derivatives: Jacobians and Hessians of programs, one direction after the other.
//!
//! A column of a Jacobian is the derivative in the direction of one number of the argument (forward mode); a row is the gradient of
//! one number of the result (reverse mode). The directions are the rows of an identity matrix, over which
//! [`vmap`] applies the derivative. What does not depend on the direction is computed once.

use accel_core::prelude::*;

/// Arrays of floating-point numbers, and tuples of them: the arguments and results of programs that have a Jacobian.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no matrix of derivatives",
    note = "arrays of `f32` or `f64` and tuples of them have; `by` chooses such parts of an argument: `jacobian(prog.by(|(w, _)| w))`"
)]
pub trait Coordinates: Listed {
    /// The same arrays with the dimensions of `Outer` in front of each.
    type Under<Outer: Shape>: Arrays;
    /// The derivatives of these arrays by `P`: for an array, `P` with the dimensions of the array in front of each part; for a
    /// tuple, the tuple of these.
    type Jacobian<P: Coordinates>: Arrays;
    /// Whether these are only numbers, so that there is at most one direction for each part.
    const NUMBERS: bool;

    /// Zeros.
    fn zeros(x: Acc<Self>) -> Acc<Self>;
    /// How many numbers there are.
    fn count(x: Acc<Self>) -> Exp<i64>;
    /// A list of such arrays, of which each belongs to a position in an array of the shape `outer`. `x` gives the extents.
    fn under<Outer: Shape>(list: Acc<Self::List>, outer: Exp<Outer>, x: Acc<Self>) -> Acc<Self::Under<Outer>>;
    /// The derivatives of `y` by `x` in reverse mode: `pull` maps adjoints of `y` to those of `x`.
    fn rows<P: Coordinates>(y: Acc<Self>, x: Acc<P>, pull: &dyn Fn(Acc<Self>) -> Acc<P>) -> Acc<Self::Jacobian<P>>;
    /// The derivatives of `y` by `x` in forward mode: `push` maps tangents of `x` to those of `y`.
    fn columns<P: Coordinates>(y: Acc<Self>, x: Acc<P>, push: &dyn Fn(Acc<P>) -> Acc<Self>) -> Acc<Self::Jacobian<P>>;
    /// The derivatives of the array `y` by these arrays.
    fn columns_of<Outer: Shape, T: Floating>(
        y: Acc<Array<Outer, T>>,
        x: Acc<Self>,
        push: &dyn Fn(Acc<Self>) -> Acc<Array<Outer, T>>,
    ) -> Acc<Self::Under<Outer>>;
}

/// The array of the shape of `x` that is 1 at position `k` of the row-major order, and 0 elsewhere.
fn direction<Sh: Shape, T: Floating>(x: Acc<Array<Sh, T>>, k: Acc<Scalar<i64>>) -> Acc<Array<Sh, T>> {
    let position: Acc<Array<Sh, i64>> = enum_from_n(shape(x), 0i64);
    map(|p| cond::<T>(p.eq(the(k)), lit::<T>(1.0), lit::<T>(0.0)), position)
}

impl<Sh: Shape, T: Floating> Coordinates for Array<Sh, T> {
    type Under<Outer: Shape> = Array<Sh::After<Outer>, T>;
    type Jacobian<P: Coordinates> = P::Under<Sh>;
    const NUMBERS: bool = Sh::RANK == 0;

    fn zeros(x: Acc<Self>) -> Acc<Self> {
        fill(shape(x), lit::<T>(0.0))
    }
    fn count(x: Acc<Self>) -> Exp<i64> {
        size(x)
    }
    fn under<Outer: Shape>(list: Acc<Self::List>, outer: Exp<Outer>, x: Acc<Self>) -> Acc<Self::Under<Outer>> {
        reshape(Sh::after(outer, shape(x)), list)
    }
    fn rows<P: Coordinates>(y: Acc<Self>, x: Acc<P>, pull: &dyn Fn(Acc<Self>) -> Acc<P>) -> Acc<Self::Jacobian<P>> {
        P::under(vmap(|k| pull(direction(y, k)), iota(size(y))).into_acc(), shape(y), x)
    }
    fn columns<P: Coordinates>(y: Acc<Self>, x: Acc<P>, push: &dyn Fn(Acc<P>) -> Acc<Self>) -> Acc<Self::Jacobian<P>> {
        P::columns_of(y, x, push)
    }
    fn columns_of<Outer: Shape, U: Floating>(
        y: Acc<Array<Outer, U>>,
        x: Acc<Self>,
        push: &dyn Fn(Acc<Self>) -> Acc<Array<Outer, U>>,
    ) -> Acc<Self::Under<Outer>> {
        let columns = vmap(|k| push(direction(x, k)), iota(size(x)));
        let matrix = transpose(reshape((size(x), size(y)), columns));
        reshape(Sh::after(shape(y), shape(x)), map(|d| d.cast::<T>(), matrix))
    }
}

/// The components of a tuple as arrays.
macro_rules! parts {
    ($x:expr, $($i:tt)+) => {{
        let x = $x.unlift();
        ($(x.$i.into_acc(),)+)
    }};
}
macro_rules! tuples {
    ($($($A:ident $a:ident $i:tt),+;)*) => { $(
        impl<$($A: Coordinates),+> Coordinates for ($($A,)+) {
            type Under<Outer: Shape> = ($($A::Under<Outer>,)+);
            type Jacobian<P: Coordinates> = ($($A::Jacobian<P>,)+);
            const NUMBERS: bool = $($A::NUMBERS)&&+;

            fn zeros(x: Acc<Self>) -> Acc<Self> {
                let x = x.unlift();
                ($($A::zeros(x.$i.into_acc()),)+).into_acc()
            }
            fn count(x: Acc<Self>) -> Exp<i64> {
                let x = x.unlift();
                lit::<i64>(0.0) $(+ $A::count(x.$i.into_acc()))+
            }
            fn under<Outer: Shape>(list: Acc<Self::List>, outer: Exp<Outer>, x: Acc<Self>) -> Acc<Self::Under<Outer>> {
                let (list, x) = (list.unlift(), x.unlift());
                ($($A::under(list.$i.into_acc(), outer, x.$i.into_acc()),)+).into_acc()
            }
            fn rows<P: Coordinates>(
                y: Acc<Self>,
                x: Acc<P>,
                pull: &dyn Fn(Acc<Self>) -> Acc<P>,
            ) -> Acc<Self::Jacobian<P>> {
                let (y, zeros) = (y.unlift(), parts!(Self::zeros(y), $($i)+));
                $(let $a = $A::rows(y.$i.into_acc(), x, &|dy| {
                    let mut all = zeros;
                    all.$i = dy;
                    pull(all.into_acc())
                });)+
                ($($a,)+).into_acc()
            }
            fn columns<P: Coordinates>(
                y: Acc<Self>,
                x: Acc<P>,
                push: &dyn Fn(Acc<P>) -> Acc<Self>,
            ) -> Acc<Self::Jacobian<P>> {
                let y = y.unlift();
                ($($A::columns(y.$i.into_acc(), x, &|dx| push(dx).unlift().$i.into_acc()),)+).into_acc()
            }
            fn columns_of<Outer: Shape, T: Floating>(
                y: Acc<Array<Outer, T>>,
                x: Acc<Self>,
                push: &dyn Fn(Acc<Self>) -> Acc<Array<Outer, T>>,
            ) -> Acc<Self::Under<Outer>> {
                let (zeros, x) = (parts!(Self::zeros(x), $($i)+), x.unlift());
                $(let $a = $A::columns_of(y, x.$i.into_acc(), &|dx| {
                    let mut all = zeros;
                    all.$i = dx;
                    push(all.into_acc())
                });)+
                ($($a,)+).into_acc()
            }
        }
    )* };
}
tuples! {
    A a 0, B b 1;
    A a 0, B b 1, C c 2;
    A a 0, B b 1, C c 2, D d 3;
    A a 0, B b 1, C c 2, D d 3, E e 4;
    A a 0, B b 1, C c 2, D d 3, E e 4, F f 5;
    A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6;
    A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7;
}
