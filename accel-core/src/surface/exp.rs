//! Scalar expressions in the surface language: literals, constants, conditionals and loops.

use super::graph::{Handle, ScalarOp, build};
use super::handles::Exp;
use super::nodes::{self, closure};
use crate::ast::ty::Repr;
use crate::ast::{ExpRule, ExpTransform, Source};
use crate::repr::op::{Float2, Op2};
use crate::types::Num;
use crate::types::elt::{Elt, IntoExp, ToExp};
use crate::types::num::leaves;
use std::panic::Location;
use std::sync::Arc;

impl<T: Elt> Exp<T> {
    /// Splits a tuple or a record into its components; a scalar is returned unchanged.
    #[track_caller]
    pub fn unlift(self) -> T::Exp {
        T::unlift(self)
    }
}

impl<A: Elt, B: Elt> Exp<(A, B)> {
    /// The first component.
    #[track_caller]
    pub fn fst(self) -> Exp<A> {
        Exp::new(nodes::fst(self.handle()))
    }
    /// The second component.
    #[track_caller]
    pub fn snd(self) -> Exp<B> {
        Exp::new(nodes::snd(self.handle()))
    }
}

impl<T: Elt> IntoExp for Exp<T> {
    type Elt = T;
    fn into_exp(self) -> Exp<T> {
        self
    }
}
impl<T: Elt> ToExp<T> for Exp<T> {
    fn to_exp(self) -> Exp<T> {
        self
    }
}

impl IntoExp for () {
    type Elt = ();
    #[track_caller]
    fn into_exp(self) -> Exp<()> {
        Exp::new(nodes::tuple(&[]))
    }
}
impl ToExp<()> for () {
    #[track_caller]
    fn to_exp(self) -> Exp<()> {
        self.into_exp()
    }
}

macro_rules! literals {
    ($($t:ty)*) => { $(
        impl IntoExp for $t {
            type Elt = $t;
            #[track_caller]
            fn into_exp(self) -> Exp<$t> {
                constant(self)
            }
        }
        impl ToExp<$t> for $t {
            #[track_caller]
            fn to_exp(self) -> Exp<$t> {
                constant(self)
            }
        }
    )* };
}
literals!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

/// Makes a value of the host a constant expression.
#[track_caller]
pub fn constant<T: Elt>(x: T) -> Exp<T> {
    let (ty, leaves) = (T::Repr::raw(), leaves(&x));
    let at = Location::caller();
    if !leaves.iter().map(|s| s.ty()).eq(ty.leaves()) {
        return Exp::new(build("constant", at, |b| {
            b.fail(crate::types::elt::wrong_elt::<T>());
            b.push(ScalarOp::Unit, ty)
        }));
    }
    Exp::new(nodes::constant(at, ty, &leaves))
}

/// Makes the number `x` a constant of type `T`, converted like Rust's `as`, in functions that are generic in their
/// number type: `lit::<T>(0.5) * x`.
#[track_caller]
pub fn lit<T: Num>(x: f64) -> Exp<T> {
    constant(T::from_f64(x))
}

/// -0, with the derivative `slope` by `x` at every order. Added to a number without derivatives, it gives it this one.
pub(super) fn along(x: Exp<f64>, slope: Exp<f64>) -> Exp<f64> {
    let op = Op2::Float(Float2::Along);
    Exp::new(nodes::prim2("along", Location::caller(), op, <f64 as Elt>::Repr::raw(), x.handle(), slope.handle()))
}

/// `a` if `c` is true, `b` otherwise; only the chosen one is computed. For a tuple or a record, [`Exp::unlift`] returns the parts.
// NOTE [Results of `cond`]: `cond` returns an `Exp<T>`, also for a tuple. In `count + cond(c, 1, 0)`, only the use says that the literals
// are `i64`. rustc finds this because the result is an `Exp<_>`; if it were an unknown `S` (NOTE [Types of scalar loops]), several
// implementations of `+` would apply, and the literals would be taken for `i32`.
#[track_caller]
pub fn cond<T: Elt>(c: impl ToExp<bool>, a: impl ToExp<T>, b: impl ToExp<T>) -> Exp<T> {
    let (c, x, y) = (c.to_exp(), a.to_exp(), b.to_exp());
    Exp::new(build("cond", Location::caller(), |b| {
        let (c, x, y) = (b.id(c.handle()), b.id(x.handle()), b.id(y.handle()));
        b.push(ScalarOp::Cond(c, x, y), T::Repr::raw())
    }))
}

/// Component `i` of a Rust array of scalar code, for an index that is computed; the first or the last one for an index outside. Where the index is
/// known, `parts[i]` is the component.
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// let chosen = afun(|xs: Acc<Vector<[f64; 3]>>| imap(|i, x| pick(x, i), xs));
/// let xs = Array::vector(vec![[1.0, 2.0, 3.0]; 4]);
/// assert_eq!(run_with(&Interpreter, &chosen, &xs)?.to_vec(), [1.0, 2.0, 3.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn pick<X: IntoExp, const N: usize>(parts: [X; N], i: impl ToExp<i64>) -> <X::Elt as Elt>::Exp
where
    [X::Elt; N]: Elt,
{
    let i = i.to_exp();
    let chosen = parts
        .map(IntoExp::into_exp)
        .into_iter()
        .enumerate()
        .rev()
        .fold(None, |rest, (k, part)| Some(rest.map_or(part, |rest| cond(i.le(k as i64), part, rest))));
    X::Elt::unlift(chosen.unwrap_or(Exp::new(Handle::DEAD)))
}

/// A loop: starts with `init` and applies `body` as long as `condition` is true. The state is one scalar, a tuple or a record, which is
/// passed and returned in its parts.
///
/// rustc must know the type of the state when it checks the closures: literals in `init` need a suffix (`0.0f64`), or the first closure
/// a type (`|(k, x): (Exp<i64>, Exp<f64>)|`).
///
/// ```
/// use accel_core::interp::Interpreter;
/// use accel_core::prelude::*;
///
/// // The number of digits of an integer, and their sum.
/// let digits = afun(|xs: Acc<Vector<i64>>| {
///     let digits = |x: Exp<i64>| {
///         let start = (x, 0i64, 0i64);
///         let (_, count, sum) = while_(|(n, ..)| n.gt(0), |(n, count, sum)| (n / 10, count + 1, sum + n % 10), start);
///         (count, sum)
///     };
///     map(digits, xs)
/// });
/// let ys = run_with(&Interpreter, &digits, &Array::vector(vec![7, 1984])).unwrap();
/// assert_eq!(ys.to_vec(), [(1, 7), (4, 22)]);
/// ```
// NOTE [Types of scalar loops]: `T` and `S` determine each other, and a bound in each direction says so to rustc. So the type of the
// state is known from `init`, from a closure with a type, or from the use of the result. An array loop needs only `A` with
// `A::Acc`: its `init` is no literal, so it always says which tuple of arrays it is.
#[track_caller]
pub fn while_<T: Elt<Exp = S>, S: IntoExp<Elt = T>, C: ToExp<bool>, R: ToExp<T>>(
    condition: impl FnOnce(S) -> C,
    body: impl FnOnce(S) -> R,
    init: impl ToExp<T>,
) -> S {
    let at = Location::caller();
    let init = init.to_exp();
    let open = |[p]: [Handle; 1]| T::unlift(Exp::new(p));
    let condition = closure("while_", at, [T::Repr::raw()], open, condition, |c| c.to_exp().handle());
    let body = closure("while_", at, [T::Repr::raw()], open, body, |r| r.to_exp().handle());
    T::unlift(Exp::new(build("while_", at, |b| {
        let (cond, body, init) = (condition.lam(b), body.lam(b), b.id(init.handle()));
        b.push(ScalarOp::While { cond, body, init }, T::Repr::raw())
    })))
}

/// A pair, the same as the tuple `(a, b)` converted to an expression.
#[track_caller]
pub fn pair<A: IntoExp, B: IntoExp>(a: A, b: B) -> Exp<(A::Elt, B::Elt)> {
    (a, b).into_exp()
}

/// The first component of a pair.
#[track_caller]
pub fn fst<A: Elt, B: Elt>(e: impl ToExp<(A, B)>) -> Exp<A> {
    e.to_exp().fst()
}

/// The second component of a pair.
#[track_caller]
pub fn snd<A: Elt, B: Elt>(e: impl ToExp<(A, B)>) -> Exp<B> {
    e.to_exp().snd()
}

/// Applies a transformation, such as the gradient, to the scalar function `f`, and the result to `arg`. `f` may use the
/// scalars and arrays in scope. The transformation determines what the result type `S` must be; elaboration checks it.
#[track_caller]
pub fn transform_exp<P: Elt, R: IntoExp, S: Elt>(
    name: &'static str,
    transform: Arc<dyn ExpTransform>,
    f: impl FnOnce(P::Exp) -> R,
    arg: Exp<P>,
) -> Exp<S> {
    let at = Location::caller();
    let f = closure(name, at, [P::Repr::raw()], |[p]| P::unlift(Exp::new(p)), f, |r| r.into_exp().handle());
    Exp::new(build(name, at, |b| {
        let (fun, arg) = (f.lam(b), b.id(arg.handle()));
        b.push(ScalarOp::Transform { transform, fun, arg }, S::Repr::raw())
    }))
}

/// Applies the scalar function `f`, whose derivative is `rule`, a function of the tuple `Q`, to `arg`. `make` checks the types.
pub fn custom_exp<P: Elt, T: Elt, Q: Elt>(
    Source { name, at, .. }: Source,
    make: Arc<dyn ExpRule>,
    f: impl FnOnce(P::Exp) -> Exp<T>,
    rule: impl FnOnce(Q::Exp) -> Handle,
    arg: Exp<P>,
) -> Exp<T> {
    let f = closure(name, at, [P::Repr::raw()], |[p]| P::unlift(Exp::new(p)), f, |r| r.handle());
    let rule = closure(name, at, [Q::Repr::raw()], |[q]| Q::unlift(Exp::new(q)), rule, |d| d);
    Exp::new(build(name, at, |b| {
        let (fun, rule, arg) = (f.lam(b), rule.lam(b), b.id(arg.handle()));
        b.push(ScalarOp::Custom { make, fun, rule, arg }, T::Repr::raw())
    }))
}
