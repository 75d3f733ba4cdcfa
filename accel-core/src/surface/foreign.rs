//! Functions outside of the language as programs.

use super::graph::{ArrayOp, Handle};
use super::primitives::node;
use super::{Acc, IntoShape};
use crate::afun::{Afun, afun};
use crate::array::Array;
use crate::ast::ty::Repr;
use crate::repr::foreign::{View, ViewMut};
use crate::repr::{ArrayTuple, Call, Foreign, RawArray, RawTy};
use crate::types::arrays::Listed;
use crate::types::{Arrays, Elt};
use std::fmt::Display;
use std::panic::Location;
use std::sync::Arc;

/// The shapes of results of type `R`: for an array a shape, as [`generate`](super::generate) takes it; for a tuple of arrays a tuple of
/// shapes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shapes of `{R}`",
    note = "a foreign function says the shape of its result, or a tuple of shapes for a tuple of results"
)]
pub trait Shapes<R> {
    /// The shapes, one for each array.
    #[doc(hidden)]
    fn handles(self) -> Vec<Handle>;
}

impl<S: IntoShape, T: Elt> Shapes<Array<S::Sh, T>> for S {
    fn handles(self) -> Vec<Handle> {
        vec![self.into_shape().handle()]
    }
}

macro_rules! tuples {
    ($($($A:ident $S:ident $i:tt),+;)*) => { $(
        impl<$($A, $S: Shapes<$A>),+> Shapes<($($A,)+)> for ($($S,)+) {
            fn handles(self) -> Vec<Handle> {
                [$(self.$i.handles()),+].concat()
            }
        }
    )* };
}
tuples! {
    A S 0, B T 1;
    A S 0, B T 1, C U 2;
    A S 0, B T 1, C U 2, D V 3;
}

/// A program that calls a function of another library on host arrays.
///
/// `f` takes the arguments as host arrays, one array or a tuple of them, and returns the results or an error, which has a text. `shapes`
/// says in the language which shapes the results have. So the compiler knows them; if `f` returns others, it is an error when the
/// program runs, and so is an error of `f` or a panic, with the name and the line of this call.
///
/// The program is used as any other: it runs by itself, is called in other programs ([`call`](crate::afun::call)) also inside of loops, and
/// under [`vmap`](super::vmap()) `f` is called for each row, in parallel on the native backend; what [`foreign_batched`] makes is called
/// once. Of OpenCL devices, arrays are copied to the host and back. `f` has to be pure: the same arguments give the same results, and
/// nothing else happens. A call whose results nobody uses may be left out, and of equal calls one may be made.
///
/// It has no derivative, and to ask for one is an error, until it gets a rule by `custom_vjp` or `custom_jvp`.
///
/// A program is compiled again if it contains another `f`. So a function that captures something should be made once. The name
/// says what `f` is, with its version if there are several.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// // The median of a vector, by the sort of the standard library.
/// let median = foreign(
///     "median",
///     |x: Vector<f64>| {
///         let mut x = x.to_vec();
///         x.sort_by(f64::total_cmp);
///         x.get(x.len() / 2).map(|m| Array::scalar(*m)).ok_or("no numbers")
///     },
///     |_| (),
/// );
/// assert_eq!(run_with(&Interpreter, &median, &Array::vector(vec![3.0, 1.0, 2.0]))?.item(), 2.0);
/// let error = run_with(&Interpreter, &median, &Array::vector(vec![])).unwrap_err();
/// assert!(error.to_string().ends_with("no numbers"), "{error}");
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn foreign<X, R, S, E>(
    name: &'static str,
    f: impl Fn(X) -> Result<R, E> + Send + Sync + 'static,
    shapes: impl FnOnce(X::Acc) -> S,
) -> Afun<X, R>
where
    X: Arrays,
    R: Arrays,
    S: Shapes<R>,
    E: Display,
{
    program(Foreign::new(name, move |from: &[View], to: &mut [ViewMut]| of_arrays(&f, from, to)), shapes)
}

/// As [`foreign`], for a function that treats a batch of items in one call, such as a routine of a library for many small matrices.
///
/// `f` takes arguments with one more dimension than the program, the outermost one, and so are its results: item `k` of the results is
/// made of item `k` of the arguments. By itself, the program calls it with one item. Under [`vmap`](super::vmap()) it is called once, with
/// all rows; of nested ones, with the rows of all. It is not called with none. `shapes` says the shapes of the results of one item.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
/// let lengths = foreign_batched(
///     "lengths",
///     move |rows: Matrix<f64>| {
///         let columns = rows.shape()[1].max(1);
///         Ok::<_, Error>(Array::vector(rows.to_vec().chunks(columns).map(length).collect()))
///     },
///     |_: Acc<Vector<f64>>| (),
/// );
/// assert_eq!(run_with(&Interpreter, &lengths, &Array::vector(vec![3.0, 4.0]))?.item(), 5.0);
/// let rows = Array::matrix(2, 2, vec![3.0, 4.0, 6.0, 8.0])?;
/// assert_eq!(run_with(&Interpreter, &lengths.vmap(), &rows)?.as_slice(), [5.0, 10.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn foreign_batched<X, R, S, E>(
    name: &'static str,
    f: impl Fn(X::List) -> Result<R::List, E> + Send + Sync + 'static,
    shapes: impl FnOnce(X::Acc) -> S,
) -> Afun<X, R>
where
    X: Listed,
    R: Listed,
    S: Shapes<R>,
    E: Display,
{
    program(Foreign::batched(name, move |from: &[View], to: &mut [ViewMut]| of_arrays(&f, from, to)), shapes)
}

#[track_caller]
fn program<X: Arrays, R: Arrays, S: Shapes<R>>(function: Foreign, shapes: impl FnOnce(X::Acc) -> S) -> Afun<X, R> {
    let call = Call { function, lanes: 0 };
    let at = Location::caller();
    afun(|x: Acc<X>| -> Acc<R> { call_at(at, &call, shapes(X::unlift(x)), x) })
}

/// A call of a foreign function that works in the memory of arguments and results.
#[track_caller]
pub fn foreign_call<X: Arrays, R: Arrays>(call: &Call, shapes: impl Shapes<R>, x: Acc<X>) -> Acc<R> {
    call_at(Location::caller(), call, shapes, x)
}

fn call_at<X: Arrays, R: Arrays>(
    at: &'static Location<'static>,
    call: &Call,
    shapes: impl Shapes<R>,
    x: Acc<X>,
) -> Acc<R> {
    let shapes = shapes.handles();
    node(call.function.name(), at, |b| {
        let shapes: Arc<[_]> = shapes.into_iter().map(|sh| b.id(sh)).collect();
        ArrayOp::Foreign(call.clone(), shapes, b.id(x.handle()))
    })
}

/// Calls a function of host arrays.
fn of_arrays<X: Arrays, R: Arrays, E: Display>(
    f: impl Fn(X) -> Result<R, E>,
    from: &[View],
    to: &mut [ViewMut],
) -> Result<(), String> {
    let arguments = X::from_tuple(tuple(&X::Repr::raw(), &mut from.iter())).map_err(|e| e.to_string())?;
    let results = f(arguments).map_err(|e| e.to_string())?.to_tuple();
    for (found, to) in results.leaves().into_iter().zip(to) {
        if found.extents != to.extents {
            return Err(format!("expected a result of shape {:?}, found {:?}", &to.extents[..], &found.extents[..]));
        }
        if !to.columns.iter_mut().zip(&found.columns).all(|(to, found)| to.copy_from(found)) {
            return Err("a result of another type".into());
        }
    }
    Ok(())
}

/// The arrays of a type.
fn tuple<'v, 'a: 'v>(t: &RawTy, arrays: &mut impl Iterator<Item = &'v View<'a>>) -> ArrayTuple {
    match t {
        RawTy::Pair(p) => {
            let first = tuple(&p.0, arrays);
            ArrayTuple::pair(first, tuple(&p.1, arrays))
        }
        RawTy::Array(_) => arrays.next().map_or(ArrayTuple::Unit, |a| {
            let columns = a.columns.iter().map(|c| c.to_column()).collect();
            ArrayTuple::Array(RawArray { extents: a.extents.clone(), columns })
        }),
        RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => ArrayTuple::Unit,
    }
}
