//! Array functions: Rust functions and closures of one to eight array arguments.

use super::graph::{self, Staged};
use super::nodes::array_components;
use super::{Acc, IntoAcc};
use crate::ast::ty::Repr;
use crate::error::Result;
use crate::types::Arrays;
use std::panic::Location;

/// A Rust function from array computations to array computations: `Fn(Acc<A>) -> R` with `R` an [`IntoAcc`], or with up
/// to eight such arguments, which form a tuple. `M` only distinguishes the numbers of arguments and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array function",
    note = "it takes one to eight arguments of type `Acc<..>` and returns `Acc`s; a scalar expression becomes one with `unit(x)`",
    note = "more arguments go into a record: with `#[derive(Clone, Arrays)]`, a struct `Parameters` of arrays is one argument, `Acc<Parameters>`"
)]
pub trait ArrayFn<M> {
    /// The type of the argument, or the tuple type of all arguments.
    type Args: Arrays;
    /// The type of the result.
    type Result: Arrays;
    /// Calls the function.
    fn apply(self, args: Acc<Self::Args>) -> Acc<Self::Result>;
}

impl<F, A, R> ArrayFn<fn(Acc<A>) -> R> for F
where
    F: FnOnce(Acc<A>) -> R,
    A: Arrays,
    R: IntoAcc,
{
    type Args = A;
    type Result = R::Arrays;
    #[track_caller]
    fn apply(self, args: Acc<A>) -> Acc<R::Arrays> {
        self(args).into_acc()
    }
}

/// A program without arguments. It is run on `&()`.
impl<F, R> ArrayFn<fn() -> R> for F
where
    F: FnOnce() -> R,
    R: IntoAcc,
{
    type Args = ();
    type Result = R::Arrays;
    #[track_caller]
    fn apply(self, _: Acc<()>) -> Acc<R::Arrays> {
        self().into_acc()
    }
}

macro_rules! array_fn {
    ($($n:literal: $($A:ident $i:tt),+;)*) => { $(
        impl<F, $($A: Arrays,)+ R: IntoAcc> ArrayFn<fn($(Acc<$A>),+) -> R> for F
        where
            F: FnOnce($(Acc<$A>),+) -> R,
        {
            type Args = ($($A,)+);
            type Result = R::Arrays;
            #[track_caller]
            fn apply(self, args: Acc<Self::Args>) -> Acc<R::Arrays> {
                let args = array_components::<$n>(args.handle());
                self($(Acc::new(args[$i])),+).into_acc()
            }
        }
    )* };
}
array_fn! {
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, G 5;
    7: A 0, B 1, C 2, D 3, E 4, G 5, H 6;
    8: A 0, B 1, C 2, D 3, E 4, G 5, H 6, I 7;
}

/// Calls `f` once with a handle of the program's argument, and returns the recorded program.
///
/// # Errors
/// The first wrong use of a handle, such as a handle of another program.
#[track_caller]
pub fn stage<A: Arrays, R: Arrays>(f: impl FnOnce(Acc<A>) -> Acc<R>) -> Result<Staged> {
    let at = Location::caller();
    graph::record(A::Repr::raw(), at, |h| f(Acc::new(h)).handle())
}
