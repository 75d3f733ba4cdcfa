//! The array operations that have their own node in the graph.

use super::graph::{ArrayOp, Builder, Dir, Handle, ScalarOp, attribute_to, build, visibly_agree};
use super::handles::{Acc, Exp};
use super::index::{components, from_components};
use super::nodes::{At, Closure, closure};
use super::slicing::{Part, Replication, Slicing, kept_extents, larger_index};
use crate::array::Array;
use crate::ast::ty::Repr;
use crate::error::Error;
use crate::repr::{Agreement, RawTy, ScalarType};
use crate::types::arrays::Arrays;
use crate::types::elt::{Elt, IntoExp, ToExp};
use crate::types::num::Primitive;
use crate::types::shape::{IntoShape, Shape, Snoc, Z};
use std::panic::Location;

type Arr<Sh, T> = Acc<Array<Sh, T>>;

/// A node whose result is of type `A`.
pub(super) fn node<A: Arrays>(name: &'static str, at: At, f: impl FnOnce(&mut Builder) -> ArrayOp) -> Acc<A> {
    Acc::new(build(name, at, |b| {
        let op = f(b);
        b.push(op, A::Repr::raw())
    }))
}

/// A placeholder for the result of a call that is wrong whatever the arrays are. The program contains the error.
pub(super) fn failed<A: Arrays>(
    (name, at): (&'static str, At),
    expected: impl Into<String>,
    found: impl Into<String>,
) -> Acc<A> {
    node(name, at, |b| {
        b.fail(Error::Shape { op: format!("`{name}` at {at}"), expected: expected.into(), found: found.into() });
        ArrayOp::Unit
    })
}

fn unlift<T: Elt>([x]: [Handle; 1]) -> T::Exp {
    T::unlift(Exp::new(x))
}

/// Calls a closure of one element; its result determines the type.
fn fun1<T: Elt, R: IntoExp>(name: &'static str, at: At, f: impl FnOnce(T::Exp) -> R) -> Closure {
    closure(name, at, [T::Repr::raw()], unlift::<T>, f, |r| r.into_exp().handle())
}

/// Calls a closure that combines two elements.
fn operator<T: Elt, R: ToExp<T>>(name: &'static str, at: At, f: impl FnOnce(T::Exp, T::Exp) -> R) -> Closure {
    closure(
        name,
        at,
        [T::Repr::raw(), T::Repr::raw()],
        |[x, y]| (T::unlift(Exp::new(x)), T::unlift(Exp::new(y))),
        |(x, y)| f(x, y),
        |r| r.to_exp().handle(),
    )
}

/// Calls a closure of an index.
fn of_index<Sh: Shape, R>(
    name: &'static str,
    at: At,
    f: impl FnOnce(Sh::Index) -> R,
    close: impl FnOnce(R) -> Handle,
) -> Closure {
    closure(name, at, [Sh::Repr::raw()], |[ix]| Sh::unlift_index(Exp::new(ix)), f, close)
}

/// The array of shape `shape` in which each element is `f` of its index.
#[track_caller]
pub fn generate<S: IntoShape, R: IntoExp>(
    shape: S,
    f: impl FnOnce(<S::Sh as Shape>::Index) -> R,
) -> Arr<S::Sh, R::Elt> {
    let (name, at) = ("generate", Location::caller());
    let shape = shape.into_shape();
    let f = of_index::<S::Sh, _>(name, at, f, |r| r.into_exp().handle());
    node(name, at, |b| ArrayOp::Generate(b.id(shape.handle()), f.lam(b)))
}

/// The array without dimensions that contains `x`.
#[track_caller]
pub fn unit<X: IntoExp>(x: X) -> Arr<Z, X::Elt> {
    let x = x.into_exp();
    Acc::new(build("unit", Location::caller(), |b| {
        let x = b.id(x.handle());
        b.unit(x)
    }))
}

/// Applies `f` to every element; the shape does not change.
#[track_caller]
pub fn map<Sh: Shape, T: Elt, R: IntoExp>(f: impl FnOnce(T::Exp) -> R, xs: Arr<Sh, T>) -> Arr<Sh, R::Elt> {
    let (name, at) = ("map", Location::caller());
    let f = fun1::<T, R>(name, at, f);
    node(name, at, |b| ArrayOp::Map(f.lam(b), b.id(xs.handle())))
}

/// `ys`, with a check that its shape agrees with that of `xs`; otherwise the run is an error. The error names the
/// function that the user called. This function uses the result in place of `ys`.
pub fn agree<Sh: Shape, Sh2: Shape, A: Elt, B: Elt>(
    site: (&'static str, At),
    agreement: Agreement,
    xs: Arr<Sh, A>,
    ys: Arr<Sh2, B>,
) -> Arr<Sh2, B> {
    if visibly_agree(agreement, xs.handle(), ys.handle()) {
        return ys;
    }
    let _site = attribute_to(site.0, site.1);
    agree_shapes(site, agreement, super::shape(xs), super::shape(ys), ys)
}

/// `xs`, with a check that two shapes agree; otherwise the run is an error. See [`agree`].
pub(super) fn agree_shapes<L: Shape, M: Shape, Sh: Shape, T: Elt>(
    (name, at): (&'static str, At),
    agreement: Agreement,
    left: Exp<L>,
    right: Exp<M>,
    xs: Arr<Sh, T>,
) -> Arr<Sh, T> {
    node(name, at, |b| {
        let (left, right, a) = (b.id(left.handle()), b.id(right.handle()), b.id(xs.handle()));
        ArrayOp::Agree { agreement, left, right, a }
    })
}

/// The array `xs`, after a check that each of some numbers lies within its bounds, both included.
///
/// NOTE [Extents do not wrap]: extents of arrays are at most [`MAX_EXTENT`], so sums of a few of them never wrap. A number that a user
/// writes may be any, and what is computed of it could be an extent by chance. So a function that adds such a number to extents,
/// multiplies or divides by it, checks its bounds first. The extents themselves stay sums and products, which the compiler knows. Sums
/// of whole arrays, such as those of the lengths of segments, are [`plus`](super::element_counts::plus).
pub(super) fn bounded<L: Shape, Sh: Shape, T: Elt>(
    site: (&'static str, At),
    numbers: &[Exp<i64>],
    bounds: impl Fn(usize) -> (Exp<i64>, Exp<i64>),
    xs: Arr<Sh, T>,
) -> Arr<Sh, T> {
    let inside = numbers.iter().enumerate().map(|(k, n)| {
        let (least, most) = bounds(k);
        n.max(least).min(most)
    });
    let inside = from_components::<L>(&inside.collect::<Vec<_>>());
    agree_shapes(site, Agreement::Bounds, inside, from_components::<L>(numbers), xs)
}

/// The array `xs`, after a check that no step is 0.
pub(super) fn steps_checked<Sh: Shape, T: Elt>(site: (&'static str, At), parts: &[Part], xs: Arr<Sh, T>) -> Arr<Sh, T> {
    let steps = parts.iter().filter_map(|part| if let Part::Range { step, .. } = part { *step } else { None });
    let bounds = |_| (1i64.to_exp(), i64::MAX.to_exp());
    steps.fold(xs, |xs, step| bounded::<Snoc<Z>, _, _>(site, &[step.abs()], bounds, xs))
}

/// The array itself, under a name. Tracing (`accel::trace`) finds the array and its adjoint by this name; elsewhere
/// the name costs nothing and means nothing. Several arrays may have one name, as in the body of a loop. A program that does not use
/// the result contains neither the array nor its name.
#[track_caller]
pub fn named<Sh: Shape, T: Elt>(name: &'static str, xs: Arr<Sh, T>) -> Arr<Sh, T> {
    // An agreement of nothing with nothing: no program of a user contains another one, and no pass needs to know it.
    let nothing = || ().into_shape();
    agree_shapes((name, Location::caller()), Agreement::All, nothing(), nothing(), xs)
}

/// Applies `f` to the elements at the same index. Arrays of different shapes are an error when the program runs;
/// [`zip_with_min`] cuts them off.
#[track_caller]
pub fn zip_with<Sh: Shape, A: Elt, B: Elt, R: IntoExp>(
    f: impl FnOnce(A::Exp, B::Exp) -> R,
    xs: Arr<Sh, A>,
    ys: Arr<Sh, B>,
) -> Arr<Sh, R::Elt> {
    let site = ("zip_with", Location::caller());
    zipped(site, f, xs, agree(site, Agreement::All, xs, ys))
}

/// Applies `f` to the elements at the same index. The shape of the result is the intersection: in each dimension the
/// smaller extent.
#[track_caller]
pub fn zip_with_min<Sh: Shape, A: Elt, B: Elt, R: IntoExp>(
    f: impl FnOnce(A::Exp, B::Exp) -> R,
    xs: Arr<Sh, A>,
    ys: Arr<Sh, B>,
) -> Arr<Sh, R::Elt> {
    zipped(("zip_with_min", Location::caller()), f, xs, ys)
}

fn zipped<Sh: Shape, A: Elt, B: Elt, R: IntoExp>(
    (name, at): (&'static str, At),
    f: impl FnOnce(A::Exp, B::Exp) -> R,
    xs: Arr<Sh, A>,
    ys: Arr<Sh, B>,
) -> Arr<Sh, R::Elt> {
    let f = closure(
        name,
        at,
        [A::Repr::raw(), B::Repr::raw()],
        |[x, y]| (A::unlift(Exp::new(x)), B::unlift(Exp::new(y))),
        |(x, y)| f(x, y),
        |r| r.into_exp().handle(),
    );
    node(name, at, |b| ArrayOp::ZipWith(f.lam(b), b.id(xs.handle()), b.id(ys.handle())))
}

/// Folds each innermost row with the associative function `f` and the initial value `z`, and so removes one dimension.
/// An empty row gives `z`.
#[track_caller]
pub fn fold<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    z: impl ToExp<T>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Sh, T> {
    let (name, at) = ("fold", Location::caller());
    let z = z.to_exp();
    let f = operator::<T, R>(name, at, f);
    node(name, at, |b| ArrayOp::Fold(f.lam(b), b.id(z.handle()), b.id(xs.handle())))
}

/// Folds each innermost row with the associative function `f`, and so removes one dimension. An empty row is an error
/// when the program runs.
#[track_caller]
pub fn fold1<Sh: Shape, T: Elt, R: ToExp<T>>(f: impl FnOnce(T::Exp, T::Exp) -> R, xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let (name, at) = ("fold1", Location::caller());
    let f = operator::<T, R>(name, at, f);
    node(name, at, |b| ArrayOp::Fold1(f.lam(b), b.id(xs.handle())))
}

fn scan<Sh: Shape, T: Elt>(
    name: &'static str,
    at: At,
    dir: Dir,
    f: Closure,
    z: Exp<T>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    node(name, at, |b| ArrayOp::Scan { dir, f: f.lam(b), z: b.id(z.handle()), a: b.id(xs.handle()) })
}

fn scan1<Sh: Shape, T: Elt>(
    name: &'static str,
    at: At,
    dir: Dir,
    f: Closure,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    node(name, at, |b| ArrayOp::Scan1 { dir, f: f.lam(b), a: b.id(xs.handle()) })
}

/// All partial results of folding each innermost row from the left, starting with `z`: n + 1 elements for n. `f` must
/// be associative.
#[track_caller]
pub fn scanl<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    z: impl ToExp<T>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let (name, at) = ("scanl", Location::caller());
    let z = z.to_exp();
    scan(name, at, Dir::Left, operator::<T, R>(name, at, f), z, xs)
}

/// Like [`scanl`], but from the right: `z` is the last of n + 1 elements.
#[track_caller]
pub fn scanr<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    z: impl ToExp<T>,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let (name, at) = ("scanr", Location::caller());
    let z = z.to_exp();
    scan(name, at, Dir::Right, operator::<T, R>(name, at, f), z, xs)
}

/// All partial results of folding each innermost row from the left, without an initial value; the shape does not
/// change. `f` must be associative.
#[track_caller]
pub fn scanl1<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let (name, at) = ("scanl1", Location::caller());
    scan1(name, at, Dir::Left, operator::<T, R>(name, at, f), xs)
}

/// Like [`scanl1`], but from the right.
#[track_caller]
pub fn scanr1<Sh: Shape, T: Elt, R: ToExp<T>>(
    f: impl FnOnce(T::Exp, T::Exp) -> R,
    xs: Arr<Snoc<Sh>, T>,
) -> Arr<Snoc<Sh>, T> {
    let (name, at) = ("scanr1", Location::caller());
    scan1(name, at, Dir::Right, operator::<T, R>(name, at, f), xs)
}

/// A scatter: sends the elements of `xs` to indices in a copy of `defaults`. `target` maps the index of an element to
/// `(keep, index)`: whether to send it at all, and where. Elements that arrive at the same index are combined by
/// `combine(new, old)`, which must be associative and commutative, or return its first argument: `|new, _| new` replaces
/// the default by the last element, in the order of the indices of `xs`, that arrives there. An index out of bounds of
/// `defaults` is an error when the program runs.
#[track_caller]
pub fn permute<Sh: Shape, Sh2: Shape, T: Elt, R: ToExp<T>, K: ToExp<bool>, I: IntoShape<Sh = Sh2>>(
    combine: impl FnOnce(T::Exp, T::Exp) -> R,
    defaults: Arr<Sh2, T>,
    target: impl FnOnce(Sh::Index) -> (K, I),
    xs: Arr<Sh, T>,
) -> Arr<Sh2, T> {
    let (name, at) = ("permute", Location::caller());
    let comb = operator::<T, R>(name, at, combine);
    let index = of_index::<Sh, _>(name, at, target, |(keep, place)| {
        super::nodes::tuple(&[keep.to_exp().handle(), place.into_shape().handle()])
    });
    node(name, at, |b| ArrayOp::Permute {
        comb: comb.lam(b),
        def: b.id(defaults.handle()),
        index: index.lam(b),
        src: b.id(xs.handle()),
    })
}

/// A gather: the array of shape `shape` in which each element is the element of `xs` at the index that `source`
/// returns. An index out of bounds is an error when the program runs.
#[track_caller]
pub fn backpermute<S: IntoShape, Sh: Shape, T: Elt, I: IntoShape<Sh = Sh>>(
    shape: S,
    source: impl FnOnce(<S::Sh as Shape>::Index) -> I,
    xs: Arr<Sh, T>,
) -> Arr<S::Sh, T> {
    let (name, at) = ("backpermute", Location::caller());
    let shape = shape.into_shape();
    let f = of_index::<S::Sh, _>(name, at, source, |ix| ix.into_shape().handle());
    node(name, at, |b| ArrayOp::Backpermute(b.id(shape.handle()), f.lam(b), b.id(xs.handle())))
}

/// The positions of the elements of each innermost row, from the smallest element to the largest one. Equal elements
/// stay in the order of their positions. Numbers have the order of `<`, so `0.0` and `-0.0` are equal; all NaN are equal
/// and come after all numbers; `false` comes before `true`. The result has the shape of `keys`. Its derivative is zero,
/// as that of all integers.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let program = afun(|keys: Acc<Vector<f64>>| argsort(keys));
/// let keys = Array::vector(vec![0.5, f64::NAN, -1.0, 0.5]);
/// assert_eq!(run_with(&Interpreter, &program, &keys)?.as_slice(), [2, 0, 3, 1]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn argsort<Sh: Shape, K: Primitive>(keys: Arr<Snoc<Sh>, K>) -> Arr<Snoc<Sh>, i64> {
    node("argsort", Location::caller(), |b| ArrayOp::Argsort(b.id(keys.handle())))
}

/// The same elements, row by row, in another shape. A shape of another size is an error when the program runs.
#[track_caller]
pub fn reshape<S: IntoShape, Sh: Shape, T: Elt>(shape: S, xs: Arr<Sh, T>) -> Arr<S::Sh, T> {
    let shape = shape.into_shape();
    node("reshape", Location::caller(), |b| ArrayOp::Reshape(b.id(shape.handle()), b.id(xs.handle())))
}

/// Which dimensions of the larger array stay, and one node with the extents or indices of the others.
fn dimensions(at: At, name: &'static str, dims: &[Option<Exp<i64>>]) -> (Vec<bool>, Handle) {
    let kept = dims.iter().map(Option::is_none).collect();
    let slx = build(name, at, |b| {
        let mut slx = b.push(ScalarOp::Unit, RawTy::Unit);
        for i in dims.iter().flatten() {
            let (i, ty) = (b.id(i.handle()), RawTy::pair(b.ty(slx), RawTy::Scalar(ScalarType::I64)));
            slx = b.push(ScalarOp::Pair(slx, i), ty);
        }
        slx
    });
    (kept, slx)
}

/// Adds dimensions by repeating the array: `replicate((n, All), xs)` is a matrix of `n` rows, each of them `xs`.
#[track_caller]
pub fn replicate<S: Replication, T: Elt>(dims: S, xs: Arr<S::Small, T>) -> Arr<S::Large, T> {
    let (name, at) = ("replicate", Location::caller());
    let (spec, slx) = dimensions(at, name, &dims.extents());
    node(name, at, |b| ArrayOp::Replicate { spec: spec.into(), slx: b.id(slx), a: b.id(xs.handle()) })
}

/// Part of an array: for each dimension, [`All`](super::All), a range for a part of it, or an index, which removes it. `slice((i, All), m)` is
/// row `i` of a matrix, `slice((1..3, 2..), m)` is `m[1:3, 2:]` in NumPy. An `i64` below 0 counts from the end, an `Exp` does not.
/// [`between`](super::between) is a range with ends of different kinds, [`every`](super::every) takes steps, also backwards. An
/// index out of bounds is an error when the program runs, and so is a range that ends before it begins: nothing is cut off silently.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let parts = afun(|m: Acc<Matrix<i64>>| (slice((-1, All), m), slice((..2, between(1, -1)), m), slice((0, every(2, ..)), m)));
/// let m = Array::matrix(2, 4, (0..8).collect())?;
/// let (last_row, middle, even) = run_with(&Interpreter, &parts, &m)?;
/// assert_eq!(last_row.as_slice(), [4, 5, 6, 7]);
/// assert_eq!(middle.as_slice(), [1, 2, 5, 6]);
/// assert_eq!(even.as_slice(), [0, 2]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn slice<S: Slicing, T: Elt>(dims: S, xs: Arr<S::Large, T>) -> Arr<S::Small, T> {
    let (name, at) = ("slice", Location::caller());
    let _site = attribute_to(name, at);
    let extents = components(super::shape(xs));
    let parts = dims.parts(&extents);
    let xs = steps_checked((name, at), &parts, xs);
    if parts.iter().any(|part| matches!(part, Part::Range { .. })) {
        let sh = kept_extents::<S::Small>(&parts, &extents);
        return backpermute(sh, |ix| larger_index::<S::Small, S::Large>(&parts, ix), xs);
    }
    let fixed: Vec<_> = parts.iter().map(|part| if let Part::At(i) = part { Some(*i) } else { None }).collect();
    let (spec, slx) = dimensions(at, name, &fixed);
    node(name, at, |b| ArrayOp::Slice { spec: spec.into(), slx: b.id(slx), a: b.id(xs.handle()) })
}

/// Adds an innermost dimension of extent `n` by repeating every element, for arrays of any rank.
#[track_caller]
pub fn replicate_inner<Sh: Shape, T: Elt>(n: impl ToExp<i64>, xs: Arr<Sh, T>) -> Arr<Snoc<Sh>, T> {
    let (name, at) = ("replicate_inner", Location::caller());
    let (spec, slx) = inner(at, name, Sh::RANK, n.to_exp());
    node(name, at, |b| ArrayOp::Replicate { spec: spec.into(), slx: b.id(slx), a: b.id(xs.handle()) })
}

/// Removes the innermost dimension by fixing its index to `i`, for arrays of any rank.
#[track_caller]
pub fn slice_inner<Sh: Shape, T: Elt>(i: impl ToExp<i64>, xs: Arr<Snoc<Sh>, T>) -> Arr<Sh, T> {
    let (name, at) = ("slice_inner", Location::caller());
    let (spec, slx) = inner(at, name, Sh::RANK, i.to_exp());
    node(name, at, |b| ArrayOp::Slice { spec: spec.into(), slx: b.id(slx), a: b.id(xs.handle()) })
}

/// All outer dimensions stay; the innermost dimension does not.
fn inner(at: At, name: &'static str, outer: usize, i: Exp<i64>) -> (Vec<bool>, Handle) {
    let mut dims = vec![None; outer];
    dims.push(Some(i));
    dimensions(at, name, &dims)
}

impl<Sh: Shape, T: Elt> Acc<Array<Sh, T>> {
    /// The number of elements: the product of the extents.
    #[track_caller]
    pub fn len(self) -> Exp<i64> {
        size(self)
    }
}

/// The number of elements: the product of the extents.
#[track_caller]
pub fn size<Sh: Shape, T: Elt>(xs: Arr<Sh, T>) -> Exp<i64> {
    let _site = attribute_to("size", Location::caller());
    size_of(super::shape(xs))
}

/// The number of elements of a shape.
pub fn size_of<Sh: Shape>(sh: Exp<Sh>) -> Exp<i64> {
    components(sh).into_iter().reduce(|n, m| n * m).unwrap_or_else(|| 1i64.to_exp())
}

/// The smaller extent in each dimension.
#[track_caller]
pub fn intersect<Sh: Shape>(a: Exp<Sh>, b: Exp<Sh>) -> Exp<Sh> {
    let _site = attribute_to("intersect", Location::caller());
    let (a, b) = (components(a), components(b));
    from_components(&a.into_iter().zip(b).map(|(a, b)| a.min(b)).collect::<Vec<_>>())
}
