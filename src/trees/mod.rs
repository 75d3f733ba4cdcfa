//! Values of several arrays, such as the parameters of a model, as one value: element by element, in programs and on the host.
//!
//! A tree is an array, a tuple or a record of floating-point arrays, or one of trees. [`tree`] gives it the operators and functions that arrays
//! have. Both sides of an operator have the same type, and each array of it meets the one at its place. [`flatten`] and
//! [`unflatten`] are for code outside: it has one vector of all numbers. [`named`] lists the
//! arrays with their names; with the feature `npz`, `save` and `load` write and read files of them. In JAX, `jax.tree.map` and `ravel_pytree`.
//!
//! ```
//! use accel::prelude::*;
//! use accel::trees::{Tree, tree};
//!
//! #[derive(Clone, Arrays)]
//! struct Layer {
//!     weights: Matrix<f64>,
//!     bias: Vector<f64>,
//! }
//!
//! /// A step with a momentum: the new parameters and momenta.
//! fn step(x: Acc<Layer>, m: Acc<Layer>, slope: Tree<Layer>) -> (Acc<Layer>, Acc<Layer>) {
//!     let m = 0.9 * tree(m) + 0.1 * slope;
//!     ((tree(x) - 0.5 * m).into_acc(), m.into_acc())
//! }
//!
//! let program = afun(|x: Acc<Layer>, m: Acc<Layer>| step(x, m, tree(x) * tree(x).norm()));
//! let layer = Layer { weights: Array::matrix(1, 2, vec![2.0, 0.0])?, bias: Array::vector(vec![1.0, 2.0]) };
//! let (x, m) = run(&program, (&layer, &layer))?;
//! assert!((m.bias.to_vec()[0] - 1.2).abs() < 1e-15 && (x.bias.to_vec()[0] - 0.4).abs() < 1e-15);
//! # Ok::<(), Error>(())
//! ```

#[cfg(feature = "npz")]
mod files;

#[cfg(feature = "npz")]
pub use files::{load, save};

use crate::ast::ty::{Arr, ArraysRepr};
use crate::repr::RawArray;
use crate::surface::attributed;
use crate::surface::derive_support::retype_acc;
use crate::types::{Arrays, Dim0, Dim1, Dim2, Dim3, Dim4, Dim5, Dim6, Floating, Shape};
use crate::{Acc, Array, Exp, IntoAcc, Scalar, fill, lit, map, shape, sum_all, the, zip_with};
use crate::{Error, Result};
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::panic::Location;

/// A value of several arrays in a program, with the operators and functions of arrays: see [`tree`].
pub struct Tree<P>(Acc<P>);

impl<P> Clone for Tree<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for Tree<P> {}
impl<P> std::fmt::Debug for Tree<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tree").field(&self.0).finish()
    }
}

// In messages, it would hide `Acc`.
#[diagnostic::do_not_recommend]
impl<P: Arrays> IntoAcc for Tree<P> {
    type Arrays = P;
    fn into_acc(self) -> Acc<P> {
        self.0
    }
}

/// An array, a tuple or a record of arrays with Rust's operators and functions, which apply to each element of each array: see the [module](self).
/// Numbers are `f64`, and on the right also `Exp<f64>` or an array without dimensions: `tree(x) * rate`; beside arrays of `f32`, they are rounded to `f32`. Arrays of
/// different shapes at one place are an error when the program runs. [`Tree::unlift`] gives the arrays, and `into_acc` the value.
pub fn tree<P: Parameters>(x: impl IntoAcc<Arrays = P>) -> Tree<P> {
    Tree(x.into_acc())
}

/// Arrays of `f32` or `f64` with up to six dimensions, tuples and records of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has parts that are no parameters",
    note = "parameters are arrays of `f32` or `f64`, tuples of up to twelve and Rust arrays of them, and records of arrays"
)]
pub trait Parameters: Arrays {
    /// Applies a function to the arrays at each place.
    #[doc(hidden)]
    fn each<const N: usize>(f: &impl OfArrays<N>, xs: [Acc<Self>; N]) -> Acc<Self>;
    /// The sum of all elements of all results.
    #[doc(hidden)]
    fn total<const N: usize>(f: &impl OfArrays<N>, xs: [Acc<Self>; N]) -> Acc<Scalar<f64>>;
}

impl<P: Arrays<Repr: Leaves>> Parameters for P {
    fn each<const N: usize>(f: &impl OfArrays<N>, xs: [Acc<P>; N]) -> Acc<P> {
        retype_acc(P::Repr::each(f, xs.map(retype_acc)))
    }
    fn total<const N: usize>(f: &impl OfArrays<N>, xs: [Acc<P>; N]) -> Acc<Scalar<f64>> {
        P::Repr::total(f, xs.map(retype_acc))
    }
}

/// A function of arrays of any shape.
pub trait OfArrays<const N: usize> {
    /// Applies it.
    fn of<Sh: Shape, T: Floating>(&self, xs: [Acc<Array<Sh, T>>; N]) -> Acc<Array<Sh, T>>;
}

/// NOTE [Parameters by their representation]: a record of arrays is represented as pairs of arrays, as a tuple is. So a function of all arrays in
/// a value is one of pairs and of arrays of each rank, and records need no code of their own.
pub trait Leaves: ArraysRepr {
    /// The arrays or pairs that are represented like this.
    type Arrays: Arrays<Repr = Self>;
    /// As [`Parameters::each`].
    fn each<const N: usize>(f: &impl OfArrays<N>, xs: [Acc<Self::Arrays>; N]) -> Acc<Self::Arrays>;
    /// As [`Parameters::total`].
    fn total<const N: usize>(f: &impl OfArrays<N>, xs: [Acc<Self::Arrays>; N]) -> Acc<Scalar<f64>>;
}

impl<A: Leaves, B: Leaves> Leaves for (A, B) {
    type Arrays = (A::Arrays, B::Arrays);
    fn each<const N: usize>(f: &impl OfArrays<N>, xs: [Acc<Self::Arrays>; N]) -> Acc<Self::Arrays> {
        let xs = xs.map(Acc::unlift);
        (A::each(f, xs.map(|(a, _)| a.into_acc())), B::each(f, xs.map(|(_, b)| b.into_acc()))).into_acc()
    }
    fn total<const N: usize>(f: &impl OfArrays<N>, xs: [Acc<Self::Arrays>; N]) -> Acc<Scalar<f64>> {
        let xs = xs.map(Acc::unlift);
        A::total(f, xs.map(|(a, _)| a.into_acc())) + B::total(f, xs.map(|(_, b)| b.into_acc()))
    }
}

macro_rules! arrays {
    ($($t:ty: $($sh:ident $extents:ty),*;)*) => { $($(
        impl Leaves for Arr<$extents, $t> {
            type Arrays = Array<$sh, $t>;
            fn each<const N: usize>(f: &impl OfArrays<N>, xs: [Acc<Self::Arrays>; N]) -> Acc<Self::Arrays> {
                f.of(xs)
            }
            fn total<const N: usize>(f: &impl OfArrays<N>, xs: [Acc<Self::Arrays>; N]) -> Acc<Scalar<f64>> {
                sum_all(f.of(xs).cast::<f64>())
            }
        }
    )*)* };
    ($($t:ty)*) => { arrays! { $(
        $t: Dim0 (), Dim1 One, Dim2 Two, Dim3 Three, Dim4 (Three, i64), Dim5 ((Three, i64), i64),
            Dim6 (((Three, i64), i64), i64);
    )* } };
}
type One = ((), i64);
type Two = (One, i64);
type Three = (Two, i64);
arrays!(f32 f64);

/// The operators.
#[derive(Clone, Copy)]
enum Operator {
    Add,
    Sub,
    Mul,
    Div,
}

impl Operator {
    fn apply<T: Floating>(self, x: Exp<T>, y: Exp<T>) -> Exp<T> {
        match self {
            Operator::Add => x + y,
            Operator::Sub => x - y,
            Operator::Mul => x * y,
            Operator::Div => x / y,
        }
    }
}

impl OfArrays<2> for Operator {
    fn of<Sh: Shape, T: Floating>(&self, [x, y]: [Acc<Array<Sh, T>>; 2]) -> Acc<Array<Sh, T>> {
        zip_with(|x, y| self.apply(x, y), x, y)
    }
}

/// A number that stands beside every element.
#[derive(Clone, Copy)]
enum Number {
    Literal(f64),
    Computed(Exp<f64>),
}

impl Number {
    fn of<T: Floating>(self) -> Exp<T> {
        match self {
            Number::Literal(x) => lit(x),
            Number::Computed(x) => x.cast(),
        }
    }
}
impl From<f64> for Number {
    fn from(x: f64) -> Number {
        Number::Literal(x)
    }
}
impl From<Exp<f64>> for Number {
    fn from(x: Exp<f64>) -> Number {
        Number::Computed(x)
    }
}
impl From<Acc<Scalar<f64>>> for Number {
    fn from(x: Acc<Scalar<f64>>) -> Number {
        Number::Computed(the(x))
    }
}

/// An operator with a number on the right, or on the left.
struct Beside(Operator, Number, Side);
enum Side {
    Left,
    Right,
}

impl OfArrays<1> for Beside {
    fn of<Sh: Shape, T: Floating>(&self, [x]: [Acc<Array<Sh, T>>; 1]) -> Acc<Array<Sh, T>> {
        let Beside(operator, number, side) = self;
        let number = number.of();
        let apply = |x| match side {
            Side::Right => operator.apply(x, number),
            Side::Left => operator.apply(number, x),
        };
        map(apply, x)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $symbol:literal;)*) => { $(
        impl<P: Parameters> $trait for Tree<P> {
            type Output = Tree<P>;
            #[track_caller]
            fn $method(self, other: Tree<P>) -> Tree<P> {
                attributed(($symbol, Location::caller()), || Tree(P::each(&Operator::$trait, [self.0, other.0])))
            }
        }
        operators!($trait $method $symbol, f64);
        // Only literals: for numbers that are computed, rustc would name trees in all mistakes of types.
        #[diagnostic::do_not_recommend]
        impl<P: Parameters> $trait<Tree<P>> for f64 {
            type Output = Tree<P>;
            #[track_caller]
            fn $method(self, other: Tree<P>) -> Tree<P> {
                other.map(($symbol, Location::caller()), || Beside(Operator::$trait, self.into(), Side::Left))
            }
        }
        operators!($trait $method $symbol, Exp<f64>);
        operators!($trait $method $symbol, Acc<Scalar<f64>>);
    )* };
    ($trait:ident $method:ident $symbol:literal, $number:ty) => {
        #[diagnostic::do_not_recommend]
        impl<P: Parameters> $trait<$number> for Tree<P> {
            type Output = Tree<P>;
            #[track_caller]
            fn $method(self, other: $number) -> Tree<P> {
                self.map(($symbol, Location::caller()), || Beside(Operator::$trait, other.into(), Side::Right))
            }
        }
    };
}
operators! {
    Add add "+";
    Sub sub "-";
    Mul mul "*";
    Div div "/";
}

impl<P: Parameters> Neg for Tree<P> {
    type Output = Tree<P>;
    #[track_caller]
    fn neg(self) -> Tree<P> {
        struct Negative;
        impl OfArrays<1> for Negative {
            fn of<Sh: Shape, T: Floating>(&self, [x]: [Acc<Array<Sh, T>>; 1]) -> Acc<Array<Sh, T>> {
                -x
            }
        }
        self.map(("-", Location::caller()), || Negative)
    }
}

macro_rules! functions {
    ($($name:ident)*) => { $(
        #[doc = concat!("[`Exp::", stringify!($name), "`] of each element.")]
        #[track_caller]
        pub fn $name(self) -> Tree<P> {
            struct Function;
            impl OfArrays<1> for Function {
                fn of<Sh: Shape, T: Floating>(&self, [x]: [Acc<Array<Sh, T>>; 1]) -> Acc<Array<Sh, T>> {
                    x.$name()
                }
            }
            self.map((stringify!($name), Location::caller()), || Function)
        }
    )* };
}

impl<P: Parameters> Tree<P> {
    functions!(abs signum sqrt recip exp ln sin cos tanh sigmoid softplus relu detach);

    /// The arrays: an [`Acc`] for an array, a tuple for a tuple, and the companion of a record.
    pub fn unlift(self) -> P::Acc {
        P::unlift(self.0)
    }

    /// [`Exp::powi`] of each element.
    #[track_caller]
    pub fn powi(self, n: i32) -> Tree<P> {
        struct Power(i32);
        impl OfArrays<1> for Power {
            fn of<Sh: Shape, T: Floating>(&self, [x]: [Acc<Array<Sh, T>>; 1]) -> Acc<Array<Sh, T>> {
                x.powi(self.0)
            }
        }
        self.map(("powi", Location::caller()), || Power(n))
    }

    /// The number as each element of arrays of the same shapes.
    #[track_caller]
    pub fn filled(self, x: f64) -> Tree<P> {
        struct Filled(f64);
        impl OfArrays<1> for Filled {
            fn of<Sh: Shape, T: Floating>(&self, [x]: [Acc<Array<Sh, T>>; 1]) -> Acc<Array<Sh, T>> {
                fill(shape(x), lit::<T>(self.0))
            }
        }
        self.map(("filled", Location::caller()), || Filled(x))
    }

    /// The sum of all elements of all arrays.
    #[track_caller]
    pub fn sum(self) -> Acc<Scalar<f64>> {
        struct Itself;
        impl OfArrays<1> for Itself {
            fn of<Sh: Shape, T: Floating>(&self, [x]: [Acc<Array<Sh, T>>; 1]) -> Acc<Array<Sh, T>> {
                x
            }
        }
        attributed(("sum", Location::caller()), || P::total(&Itself, [self.0]))
    }

    /// The sum of the products of the elements at each place: the inner product of the vectors of all numbers.
    #[track_caller]
    pub fn dot(self, other: Tree<P>) -> Acc<Scalar<f64>> {
        attributed(("dot", Location::caller()), || P::total(&Operator::Mul, [self.0, other.0]))
    }

    /// The root of the sum of the squares of all elements. At 0, its derivative is 0.
    #[track_caller]
    pub fn norm(self) -> Acc<Scalar<f64>> {
        let square = self.dot(self);
        attributed(("norm", Location::caller()), || map(|square| square.sqrt(), square))
    }

    /// Applies a function to each array, for the operation of the user.
    fn map<F: OfArrays<1>>(self, source: (&'static str, &'static Location<'static>), f: impl FnOnce() -> F) -> Tree<P> {
        attributed(source, || Tree(P::each(&f(), [self.0])))
    }
}

/// The floating-point numbers of a value on the host: those of each array in row-major order, one array after the other.
///
/// ```
/// use accel::prelude::*;
/// use accel::trees::{flatten, unflatten};
///
/// let layer = (Array::matrix(1, 2, vec![1.0, 2.0])?, Array::scalar(3.0));
/// let numbers = flatten(&layer);
/// assert_eq!(numbers, [1.0, 2.0, 3.0]);
/// let doubled = unflatten(&layer, &numbers.iter().map(|x| x * 2.0).collect::<Vec<_>>())?;
/// assert_eq!(doubled.0.to_vec(), [2.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn flatten<P: Parameters>(x: &P) -> Vec<f64> {
    x.to_tuple().floats()
}

/// The arrays of a value with their names, from left to right: the fields of records and the places in tuples and Rust arrays, with dots between them. An
/// array that is no part of anything is `array`.
///
/// ```
/// use accel::prelude::*;
/// use accel::trees::named;
///
/// #[derive(Clone, Arrays)]
/// struct Layer {
///     weights: Matrix<f64>,
///     bias: Vector<f64>,
/// }
/// let layer = || Layer { weights: Array::matrix(0, 0, vec![]).unwrap(), bias: Array::vector(vec![1.0]) };
/// let all = named(&([layer(), layer()], Array::scalar(2.0)));
/// let names: Vec<&str> = all.iter().map(|(name, _)| &**name).collect();
/// assert_eq!(names, ["0.0.weights", "0.0.bias", "0.1.weights", "0.1.bias", "1"]);
/// assert_eq!(all[3].1.columns[0].floats(), [1.0]);
/// ```
pub fn named<P: Arrays>(x: &P) -> Vec<(String, RawArray)> {
    let mut names = vec![];
    P::names("", &mut names);
    names.into_iter().zip(x.to_tuple().leaves().into_iter().cloned()).collect()
}

/// The value with the shapes of `like` and these numbers, in the order of [`flatten`].
///
/// # Errors
/// `Error::Shape` if `like` has another number of numbers.
pub fn unflatten<P: Parameters>(like: &P, numbers: &[f64]) -> Result<P> {
    let expected = flatten(like).len();
    if expected != numbers.len() {
        let (expected, found) = (format!("{expected} numbers"), numbers.len().to_string());
        return Err(Error::Shape { op: "`unflatten`".into(), expected, found });
    }
    let mut numbers = numbers.iter().copied();
    P::from_tuple(like.to_tuple().map_floats(&mut |x| numbers.next().unwrap_or(x)))
}
