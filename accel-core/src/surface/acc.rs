//! Array computations in the surface language: the handle `Acc`, conversions, reads from scalar code, conditionals and
//! loops.

use super::graph::{Handle, Op, build};
use super::index::IntoShape;
use super::nodes::closure;
use super::{Exp, ToExp};
use crate::array::Array;
use crate::ast::ty::Repr;
use crate::repr::RawTy;
use crate::types::{Arrays, Elt, Shape, Z};
use std::marker::PhantomData;
use std::panic::Location;

/// An array computation with a result of type `A`, in the program that is being recorded. Like [`Exp`], it is only the
/// number of a node.
pub struct Acc<A>(Handle, PhantomData<fn() -> A>);

impl<A> Clone for Acc<A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Acc<A> {}
impl<A> std::fmt::Debug for Acc<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Acc<{}>", std::any::type_name::<A>())
    }
}

impl<A> Acc<A> {
    pub(crate) fn new(h: Handle) -> Self {
        Acc(h, PhantomData)
    }
    pub(crate) fn handle(self) -> Handle {
        self.0
    }
}

impl<A: Arrays> Acc<A> {
    /// Splits a tuple or a record of arrays into its components; an array is returned unchanged.
    #[track_caller]
    pub fn unlift(self) -> A::Acc {
        A::unlift(self)
    }
}

impl<Sh: Shape, T: Elt> Acc<Array<Sh, T>> {
    /// The element at an index, split into its components. An index out of bounds is an error when the program runs.
    #[track_caller]
    pub fn at(self, ix: impl IntoShape<Sh = Sh>) -> T::Exp {
        read("at", self, ix.into_shape()).unlift()
    }

    /// The extents as an index: `Exp<i64>` for a vector, `(rows, columns)` for a matrix.
    #[track_caller]
    pub fn shape(self) -> Sh::Index {
        shape(self).index()
    }

    /// The number of elements: the product of the extents.
    #[track_caller]
    pub fn len(self) -> Exp<i64> {
        super::size(self)
    }
}

#[track_caller]
fn read<Sh: Shape, T: Elt>(name: &'static str, xs: Acc<Array<Sh, T>>, ix: Exp<Sh>) -> Exp<T> {
    Exp::new(build(name, Location::caller(), |b| {
        let (xs, ix) = (b.id(xs.0), b.id(ix.handle()));
        b.push(Op::Index(xs, ix), T::Repr::raw())
    }))
}

/// The shape of an array, as a single expression. [`Acc::shape`] returns its components.
#[track_caller]
pub fn shape<Sh: Shape, T: Elt>(xs: Acc<Array<Sh, T>>) -> Exp<Sh> {
    Exp::new(build("shape", Location::caller(), |b| {
        let xs = b.id(xs.0);
        b.push(Op::Shape(xs), Sh::Repr::raw())
    }))
}

/// The element of an array without dimensions, split into its components.
#[track_caller]
pub fn the<T: Elt>(x: Acc<Array<Z, T>>) -> T::Exp {
    let ix = ().into_shape();
    read("the", x, ix).unlift()
}

/// Makes arrays of the host a constant of the program. The data is shared, not copied.
#[track_caller]
pub fn use_<A: Arrays>(arrays: &A) -> Acc<A> {
    let arrays = arrays.to_tuple();
    Acc::new(build("use_", Location::caller(), |b| b.push(Op::Use(arrays), A::Repr::raw())))
}

/// Everything that an array function may return: array computations, tuples of them, and the companions of records.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array computation",
    note = "a scalar expression becomes an array with `unit(x)`"
)]
pub trait IntoAcc {
    /// The type of the result.
    type Arrays: Arrays;
    /// Converts the value to a computation.
    fn into_acc(self) -> Acc<Self::Arrays>;
}

impl<A: Arrays> IntoAcc for Acc<A> {
    type Arrays = A;
    fn into_acc(self) -> Acc<A> {
        self
    }
}
impl IntoAcc for () {
    type Arrays = ();
    #[track_caller]
    fn into_acc(self) -> Acc<()> {
        Acc::new(build("tuple", Location::caller(), |b| b.push(Op::AUnit, RawTy::Unit)))
    }
}

/// `a` if `c` is true, `b` otherwise; only the chosen one is computed.
#[track_caller]
pub fn acond<A: Arrays>(c: impl ToExp<bool>, a: impl IntoAcc<Arrays = A>, b: impl IntoAcc<Arrays = A>) -> Acc<A> {
    let (c, x, y) = (c.to_exp(), a.into_acc(), b.into_acc());
    Acc::new(build("acond", Location::caller(), |b| {
        let (c, x, y) = (b.id(c.handle()), b.id(x.0), b.id(y.0));
        b.push(Op::Acond(c, x, y), A::Repr::raw())
    }))
}

/// A loop over arrays: starts with the arrays `init` and applies `body` as long as `condition` is true.
#[track_caller]
pub fn awhile<A: Arrays, C: ToExp<bool>, R: IntoAcc<Arrays = A>>(
    condition: impl FnOnce(A::Acc) -> C,
    body: impl FnOnce(A::Acc) -> R,
    init: impl IntoAcc<Arrays = A>,
) -> Acc<A> {
    let at = Location::caller();
    let init = init.into_acc();
    let open = |[p]: [Handle; 1]| A::unlift(Acc::new(p));
    // The condition is a scalar. The result of an array function is an array, so an array of one element holds it.
    let condition = closure("awhile", at, [A::Repr::raw()], open, condition, |c| super::unit(c.to_exp()).0);
    let body = closure("awhile", at, [A::Repr::raw()], open, body, |r| r.into_acc().0);
    Acc::new(build("awhile", at, |b| {
        let (cond, body, init) = (condition.lam(b), body.lam(b), b.id(init.0));
        b.push(Op::Awhile { cond, body, init }, A::Repr::raw())
    }))
}
