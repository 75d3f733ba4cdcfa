//! Array conditionals and loops.

use super::graph::{ArrayOp, Dir, Handle, ScalarOp, attribute_to, build, visibly_agree};
use super::handles::{Acc, Exp};
use super::nodes::{At, array_components, array_tuple, closure, constant, fst, snd};
use super::primitives::unit;
use super::{iota, the};
use crate::array::Array;
use crate::ast::ty::Repr;
use crate::repr::{Agreement, RawTy, Scalar, ScalarType};
use crate::types::arrays::{Arrays, IntoAcc, Listed, Rows};
use crate::types::elt::ToExp;
use crate::types::shape::Z;
use std::panic::Location;

/// What [`map_accum_l`] lists of the entries `Y`, in its parts.
pub(super) type ListOf<Y> = <<<Y as IntoAcc>::Arrays as Listed>::List as Arrays>::Acc;

/// The user's function, and its place in the source.
type Site = (&'static str, At);

/// `a` if `c` is true, `b` otherwise; only the chosen one is computed. A tuple or a record is returned in its parts:
/// `let (x, y) = acond(c, (a, b), (b, a))`.
#[track_caller]
pub fn acond<A: Arrays>(c: impl ToExp<bool>, a: impl IntoAcc<Arrays = A>, b: impl IntoAcc<Arrays = A>) -> A::Acc {
    let (c, x, y) = (c.to_exp(), a.into_acc(), b.into_acc());
    A::unlift(Acc::new(build("acond", Location::caller(), |b| {
        let (c, x, y) = (b.id(c.handle()), b.id(x.handle()), b.id(y.handle()));
        b.push(ArrayOp::Cond(c, x, y), A::Repr::raw())
    })))
}

/// A loop over arrays: starts with the arrays `init` and applies `body` as long as `condition` is true. A state that is a tuple or a
/// record is passed and returned in its parts.
#[track_caller]
pub fn awhile<A: Arrays, C: ToExp<bool>, R: IntoAcc<Arrays = A>>(
    condition: impl FnOnce(A::Acc) -> C,
    body: impl FnOnce(A::Acc) -> R,
    init: impl IntoAcc<Arrays = A>,
) -> A::Acc {
    let at = Location::caller();
    let init = init.into_acc();
    let open = |[p]: [Handle; 1]| A::unlift(Acc::new(p));
    // The condition is a scalar. The result of an array function is an array, so an array of one element holds it.
    let condition = closure("awhile", at, [A::Repr::raw()], open, condition, |c| unit(c.to_exp()).handle());
    let body = closure("awhile", at, [A::Repr::raw()], open, body, |r| r.into_acc().handle());
    A::unlift(Acc::new(build("awhile", at, |b| {
        let (cond, body, init) = (condition.lam(b), body.lam(b), b.id(init.handle()));
        b.push(ArrayOp::While { cond, body, init }, A::Repr::raw())
    })))
}

/// `f`, applied `n` times to the arrays `init`. If `n` is negative, this is `init`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let powers = afun(|xs: Acc<Vector<f64>>| aiterate(3, |ys: Acc<Vector<f64>>| zip_with(|x, y| x * y, xs, ys), xs));
/// let ys = run_with(&Interpreter, &powers, &Array::vector(vec![1.0, 2.0])).unwrap();
/// assert_eq!(ys.to_vec(), [1.0, 16.0]);
/// ```
#[track_caller]
pub fn aiterate<A: Arrays, R: IntoAcc<Arrays = A>>(
    n: impl ToExp<i64>,
    f: impl FnOnce(A::Acc) -> R,
    init: impl IntoAcc<Arrays = A>,
) -> A::Acc {
    let (name, at) = ("aiterate", Location::caller());
    let (n, init, none) = (n.to_exp(), init.into_acc(), ().into_acc());
    let step = closure(
        name,
        at,
        [RawTy::pair(A::Repr::raw(), RawTy::Unit)],
        |[p]| A::unlift(Acc::new(array_components::<2>(p)[0])),
        f,
        |r| array_tuple(&[r.into_acc().handle(), none.handle()]),
    );
    let both = build(name, at, |b| {
        let (n, init, xs, step) = (b.id(n.handle()), b.id(init.handle()), b.id(none.handle()), step.lam(b));
        b.push(ArrayOp::MapAccum { dir: Dir::Left, n, step, init, xs }, RawTy::pair(A::Repr::raw(), RawTy::Unit))
    });
    A::unlift(Acc::new(array_components::<2>(both)[0]))
}

/// `f`, applied `n` times to the number of the step, from 0 on, and the arrays `init`. If `n` is negative, this is `init`.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// // 0, 1, 1, 2, 3, 5, ...
/// let step = |i: Exp<i64>, xs: Acc<Vector<i64>>| set(xs, i + 2, xs.at(i) + xs.at(i + 1));
/// let fibonacci = afun(|n: Acc<Scalar<i64>>| aiterate_indexed(the(n) - 2, step, generate(the(n), |i| i.min(1))));
/// assert_eq!(run_with(&Interpreter, &fibonacci, &Array::scalar(6i64))?.to_vec(), [0, 1, 1, 2, 3, 5]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn aiterate_indexed<A: Arrays, R: IntoAcc<Arrays = A>>(
    n: impl ToExp<i64>,
    f: impl FnOnce(Exp<i64>, A::Acc) -> R,
    init: impl IntoAcc<Arrays = A>,
) -> A::Acc {
    let site = ("aiterate_indexed", Location::caller());
    let numbers = {
        let _site = attribute_to(site.0, site.1);
        iota(n.to_exp().max(0))
    };
    let step = |s, k: Acc<Array<Z, i64>>| (f(the(k), s), ());
    map_accum(site, Dir::Left, step, init.into_acc(), numbers).0
}

/// Threads a state through the rows of arrays, from the first row to the last one, and lists what each step returns. Without a list, see [`afoldl`].
/// `f` maps the state and a row to the next state and an entry of the list. The result is the last state and the list.
///
/// The rows are those along the outermost dimension: the elements of a vector (as arrays without dimensions), the rows
/// of a matrix, and for a tuple of arrays a tuple of rows. The list is an array with one more dimension, the outermost
/// one, whose row `k` belongs to row `k` of the arrays. For a tuple of entries, it is a tuple of arrays. An entry `()`
/// lists nothing.
///
/// Arrays of a tuple with different numbers of rows are an error when the program runs, and so are entries of different
/// shapes. If there is no row, all extents of the list are 0. (In Haskell, this is `mapAccumL`; in JAX, `lax.scan`.)
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let sums = afun(|xs: Acc<Vector<f64>>| {
///     let step = |s: Acc<Scalar<f64>>, x| {
///         let s = zip_with(|s, x| s + x, s, x);
///         (s, map(|s| s * 10.0, s))
///     };
///     map_accum_l(step, unit(0.5), xs)
/// });
/// let (last, list) = run_with(&Interpreter, &sums, &Array::vector(vec![1.0, 2.0])).unwrap();
/// assert_eq!((last.to_vec(), list.to_vec()), (vec![3.5], vec![15.0, 35.0]));
/// ```
#[track_caller]
pub fn map_accum_l<S: Arrays, X: Rows, T: IntoAcc<Arrays = S>, Y: IntoAcc<Arrays: Listed>>(
    f: impl FnOnce(S::Acc, <X::Row as Arrays>::Acc) -> (T, Y),
    init: impl IntoAcc<Arrays = S>,
    xs: impl IntoAcc<Arrays = X>,
) -> (S::Acc, ListOf<Y>) {
    map_accum(("map_accum_l", Location::caller()), Dir::Left, f, init.into_acc(), xs.into_acc())
}

/// As [`map_accum_l`], from the last row to the first one. Row `k` of the list belongs to row `k` of the arrays here,
/// too. (In Haskell, this is `mapAccumR`.)
#[track_caller]
pub fn map_accum_r<S: Arrays, X: Rows, T: IntoAcc<Arrays = S>, Y: IntoAcc<Arrays: Listed>>(
    f: impl FnOnce(S::Acc, <X::Row as Arrays>::Acc) -> (T, Y),
    init: impl IntoAcc<Arrays = S>,
    xs: impl IntoAcc<Arrays = X>,
) -> (S::Acc, ListOf<Y>) {
    map_accum(("map_accum_r", Location::caller()), Dir::Right, f, init.into_acc(), xs.into_acc())
}

/// Threads a state through the rows of arrays, from the first row to the last one: [`map_accum_l`] without a list. `f` maps the state and a
/// row to the next state. The result is the last state. Rows are as described there. Unlike a [`fold`](super::fold), it goes from row to row,
/// and the state may have another type than the rows.
///
/// Arrays of a tuple with different numbers of rows are an error when the program runs. (In Haskell, this is `foldl`; in JAX, `lax.scan`
/// with outputs `None`.)
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// type V = Acc<Vector<f64>>;
/// let averages = afun(|m: Acc<Matrix<f64>>| afoldl(|a: V, row: V| 0.5 * a + 0.5 * row, fill(m.shape().1, 0.0), m));
/// let m = Array::matrix(2, 2, vec![4.0, 8.0, 1.0, 2.0])?;
/// assert_eq!(run_with(&Interpreter, &averages, &m)?.as_slice(), [1.5, 3.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn afoldl<S: Arrays, X: Rows, T: IntoAcc<Arrays = S>>(
    f: impl FnOnce(S::Acc, <X::Row as Arrays>::Acc) -> T,
    init: impl IntoAcc<Arrays = S>,
    xs: impl IntoAcc<Arrays = X>,
) -> S::Acc {
    let step = |s, x| (f(s, x), ());
    map_accum(("afoldl", Location::caller()), Dir::Left, step, init.into_acc(), xs.into_acc()).0
}

#[track_caller]
pub(super) fn map_accum<S: Arrays, X: Rows, T: IntoAcc<Arrays = S>, Y: IntoAcc<Arrays: Listed>>(
    (name, at): Site,
    dir: Dir,
    f: impl FnOnce(S::Acc, <X::Row as Arrays>::Acc) -> (T, Y),
    init: Acc<S>,
    xs: Acc<X>,
) -> (S::Acc, ListOf<Y>) {
    let (n, xs) = {
        let _site = attribute_to(name, at);
        rows((name, at), xs.handle(), &X::Repr::raw())
    };
    let step = closure(
        name,
        at,
        [RawTy::pair(S::Repr::raw(), <X::Row as Arrays>::Repr::raw())],
        |[p]| {
            let [s, x] = array_components::<2>(p);
            (S::unlift(Acc::new(s)), X::Row::unlift(Acc::new(x)))
        },
        |(s, x)| f(s, x),
        |(s, y)| array_tuple(&[s.into_acc().handle(), y.into_acc().handle()]),
    );
    let list = <<Y::Arrays as Listed>::List as Arrays>::Repr::raw();
    let both = build(name, at, |b| {
        let (n, init, xs, step) = (b.id(n), b.id(init.handle()), b.id(xs), step.lam(b));
        b.push(ArrayOp::MapAccum { dir, n, step, init, xs }, RawTy::pair(S::Repr::raw(), list))
    });
    let [last, list] = array_components::<2>(both);
    (S::unlift(Acc::new(last)), <Y::Arrays as Listed>::List::unlift(Acc::new(list)))
}

/// The number of rows of some arrays, and the arrays with a check that all have this number.
fn rows(site: Site, xs: Handle, t: &RawTy) -> (Handle, Handle) {
    let mut first = None;
    let xs = checked_rows(site, xs, t, &mut first);
    let n = first.map_or_else(
        || constant(site.1, RawTy::Scalar(ScalarType::I64), &[Scalar::I64(0)]),
        |(a, sh)| snd((1..sh.width()).fold(shape(site, a, &sh), |outer, _| fst(outer))),
    );
    (n, xs)
}

/// The arrays of a tuple, with a check that they have as many rows as the first array. This is set here if there is none.
fn checked_rows(site: Site, xs: Handle, t: &RawTy, first: &mut Option<(Handle, RawTy)>) -> Handle {
    match (t, first) {
        (RawTy::Pair(p), first) => {
            let [a, b] = array_components::<2>(xs);
            let a = checked_rows(site, a, &p.0, first);
            array_tuple(&[a, checked_rows(site, b, &p.1, first)])
        }
        (RawTy::Array(p), none @ None) => {
            *none = Some((xs, p.0.clone()));
            xs
        }
        (RawTy::Array(p), Some((a, sh))) if !visibly_agree(Agreement::Rows, *a, xs) => {
            let (left, right) = (shape(site, *a, sh), shape(site, xs, &p.0));
            build(site.0, site.1, |b| {
                let (left, right, a) = (b.id(left), b.id(right), b.id(xs));
                b.push(ArrayOp::Agree { agreement: Agreement::Rows, left, right, a }, t.clone())
            })
        }
        _ => xs,
    }
}

/// The shape of an array.
fn shape(site: Site, a: Handle, sh: &RawTy) -> Handle {
    build(site.0, site.1, |b| {
        let a = b.id(a);
        b.push(ScalarOp::Shape(a), sh.clone())
    })
}
