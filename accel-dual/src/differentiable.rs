//! Structures of numbers: inputs, results and their derivatives.

use crate::real::Real;
use std::rc::Rc;
use std::sync::Arc;

/// A structure that contains numbers of type `S`: numbers, vectors, arrays, tuples, options, and the structs and enums with
/// `#[derive(Differentiable)]`.
///
/// Integers, strings and so on are discrete leaves. They have no derivatives and are copied.
///
/// ```
/// use accel_dual::{Differentiable, Real, grad};
///
/// #[derive(Clone, Debug, PartialEq, Differentiable)]
/// # #[differentiable(crate = accel_dual)]
/// struct Spring<T> {
///     stiffness: T,
///     ends: [T; 2],
///     name: String,
/// }
///
/// fn energy<T: Real>(s: &Spring<T>) -> T {
///     let stretch = s.ends[1] - s.ends[0];
///     T::lit(0.5) * s.stiffness * stretch * stretch
/// }
///
/// let spring = Spring { stiffness: 2.0, ends: [1.0, 4.0], name: "left".into() };
/// let slope = grad(|s| energy(&s), &spring)?;
/// assert_eq!(slope, Spring { stiffness: 4.5, ends: [-6.0, 6.0], name: "left".into() });
/// # Ok::<(), accel_dual::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a structure of numbers of type `{S}`",
    note = "a struct or an enum needs `#[derive(Differentiable)]` and the type of its numbers as a parameter: `struct P<T> {{ x: T }}`"
)]
pub trait Differentiable<S: Real>: Sized {
    /// The same structure with numbers of type `U`.
    type With<U: Real>: Differentiable<U>;

    /// The structure in which `f` has replaced each number.
    fn map<U: Real>(&self, f: &mut impl FnMut(S) -> U) -> Self::With<U>;

    /// Gives each number to `f`.
    fn each(&self, f: &mut impl FnMut(S));

    /// Gives each number to `f`, together with the number at the same place of another structure. Discrete leaves are not
    /// compared.
    ///
    /// # Errors
    /// Structures of different shapes: lengths of vectors, variants of enums.
    fn zip<U: Real>(&self, other: &Self::With<U>, f: &mut impl FnMut(S, U)) -> Result<(), Mismatch>;

    /// The number of numbers.
    fn count(&self) -> usize {
        let mut count = 0;
        self.each(&mut |_| count += 1);
        count
    }
}

/// Two structures that have different shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The part of the first structure.
    pub expected: String,
    /// The part of the second structure.
    pub found: String,
}

impl Mismatch {
    /// Two different parts.
    pub fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Mismatch { expected: expected.into(), found: found.into() }
    }
}

impl<S: Real> Differentiable<S> for S {
    type With<U: Real> = U;
    #[inline]
    fn map<U: Real>(&self, f: &mut impl FnMut(S) -> U) -> U {
        f(*self)
    }
    #[inline]
    fn each(&self, f: &mut impl FnMut(S)) {
        f(*self);
    }
    #[inline]
    fn zip<U: Real>(&self, other: &U, f: &mut impl FnMut(S, U)) -> Result<(), Mismatch> {
        f(*self, *other);
        Ok(())
    }
}

impl<S: Real, E: Differentiable<S>> Differentiable<S> for Vec<E> {
    type With<U: Real> = Vec<E::With<U>>;
    fn map<U: Real>(&self, f: &mut impl FnMut(S) -> U) -> Self::With<U> {
        self.iter().map(|e| e.map(f)).collect()
    }
    fn each(&self, f: &mut impl FnMut(S)) {
        self.iter().for_each(|e| e.each(f));
    }
    fn zip<U: Real>(&self, other: &Self::With<U>, f: &mut impl FnMut(S, U)) -> Result<(), Mismatch> {
        if self.len() != other.len() {
            let text = |len| format!("a vector of length {len}");
            return Err(Mismatch::new(text(self.len()), text(other.len())));
        }
        self.iter().zip(other).try_for_each(|(a, b)| a.zip(b, f))
    }
}

impl<S: Real, E: Differentiable<S>, const N: usize> Differentiable<S> for [E; N] {
    type With<U: Real> = [E::With<U>; N];
    fn map<U: Real>(&self, f: &mut impl FnMut(S) -> U) -> Self::With<U> {
        self.each_ref().map(|e| e.map(f))
    }
    fn each(&self, f: &mut impl FnMut(S)) {
        self.iter().for_each(|e| e.each(f));
    }
    fn zip<U: Real>(&self, other: &Self::With<U>, f: &mut impl FnMut(S, U)) -> Result<(), Mismatch> {
        self.iter().zip(other).try_for_each(|(a, b)| a.zip(b, f))
    }
}

macro_rules! shared {
    ($($Pointer:ident)*) => {$(
        impl<S: Real, E: Differentiable<S>> Differentiable<S> for $Pointer<E> {
            type With<U: Real> = $Pointer<E::With<U>>;
            fn map<U: Real>(&self, f: &mut impl FnMut(S) -> U) -> Self::With<U> {
                $Pointer::new((**self).map(f))
            }
            fn each(&self, f: &mut impl FnMut(S)) {
                (**self).each(f);
            }
            fn zip<U: Real>(&self, other: &Self::With<U>, f: &mut impl FnMut(S, U)) -> Result<(), Mismatch> {
                (**self).zip(other, f)
            }
        }
    )*};
}

// A blanket implementation for `Box` would overlap with that for numbers, as rustc sees it. The derive macro knows `Box`.
shared!(Arc Rc);

impl<S: Real, E: Differentiable<S>> Differentiable<S> for Option<E> {
    type With<U: Real> = Option<E::With<U>>;
    fn map<U: Real>(&self, f: &mut impl FnMut(S) -> U) -> Self::With<U> {
        self.as_ref().map(|e| e.map(f))
    }
    fn each(&self, f: &mut impl FnMut(S)) {
        if let Some(e) = self {
            e.each(f);
        }
    }
    fn zip<U: Real>(&self, other: &Self::With<U>, f: &mut impl FnMut(S, U)) -> Result<(), Mismatch> {
        match (self, other) {
            (Some(a), Some(b)) => a.zip(b, f),
            (None, None) => Ok(()),
            (Some(_), None) => Err(Mismatch::new("`Some`", "`None`")),
            (None, Some(_)) => Err(Mismatch::new("`None`", "`Some`")),
        }
    }
}

macro_rules! tuples {
    ($(($($T:ident $k:tt),+))*) => {$(
        impl<S: Real, $($T: Differentiable<S>),+> Differentiable<S> for ($($T,)+) {
            type With<U: Real> = ($($T::With<U>,)+);
            fn map<U: Real>(&self, f: &mut impl FnMut(S) -> U) -> Self::With<U> {
                ($(self.$k.map(f),)+)
            }
            fn each(&self, f: &mut impl FnMut(S)) {
                $(self.$k.each(f);)+
            }
            fn zip<U: Real>(&self, other: &Self::With<U>, f: &mut impl FnMut(S, U)) -> Result<(), Mismatch> {
                $(self.$k.zip(&other.$k, f)?;)+
                Ok(())
            }
        }
    )*};
}

tuples! {
    (A 0) (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) (A 0, B 1, C 2, D 3, E 4) (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6) (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

macro_rules! discrete {
    ($($ty:ty)*) => {$(
        impl<S: Real> Differentiable<S> for $ty {
            type With<U: Real> = $ty;
            fn map<U: Real>(&self, _: &mut impl FnMut(S) -> U) -> Self {
                self.clone()
            }
            fn each(&self, _: &mut impl FnMut(S)) {}
            fn zip<U: Real>(&self, _: &Self, _: &mut impl FnMut(S, U)) -> Result<(), Mismatch> {
                Ok(())
            }
        }
    )*};
}

discrete!(() bool char String &'static str u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
