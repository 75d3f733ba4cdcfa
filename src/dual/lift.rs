//! Array programs as nodes of the tape of ordinary code.

use accel_core::afun::{Afun, Compiled};
use accel_core::array::Array;
use accel_core::backend::Backend;
use accel_core::error::{Error, Result};
use accel_core::prelude::{Matrix, Scalar, Vector};
use accel_core::types::{Arrays, Shape};
use accel_dual::{Rev, custom};
use std::fmt;

/// Arrays that ordinary code computes with as numbers: `f64` arrays of up to two dimensions, arrays of integers and `bool`,
/// which are data, and tuples of them.
pub trait Numbers: Arrays {
    /// The numbers: [`Rev`] for a `Scalar<f64>`, `Vec<Rev>` for a vector, a vector of rows for a matrix, the array itself
    /// for data.
    type Rev;

    /// The array with the values of the numbers. Appends the numbers to `out`.
    ///
    /// # Errors
    /// Rows of different lengths.
    #[doc(hidden)]
    fn lower(numbers: &Self::Rev, out: &mut Vec<Rev>) -> Result<Self>;

    /// The numbers of an array of this shape.
    #[doc(hidden)]
    fn raise(&self, numbers: &mut dyn Iterator<Item = Rev>) -> Self::Rev;

    /// Appends the values.
    #[doc(hidden)]
    fn values(&self, out: &mut Vec<f64>);

    /// The array of this shape with other values.
    #[doc(hidden)]
    fn with_values(&self, values: &mut dyn Iterator<Item = f64>) -> Result<Self>;
}

/// The numbers of rows and columns.
fn rows(matrix: &Matrix<f64>) -> (usize, usize) {
    let extents = &matrix.raw().extents;
    (extents[0], extents[1])
}

impl Numbers for Scalar<f64> {
    type Rev = Rev;
    fn lower(number: &Rev, out: &mut Vec<Rev>) -> Result<Self> {
        out.push(*number);
        Ok(Array::scalar(number.value()))
    }
    fn raise(&self, numbers: &mut dyn Iterator<Item = Rev>) -> Rev {
        numbers.next().unwrap_or_default()
    }
    fn values(&self, out: &mut Vec<f64>) {
        out.push(self.item());
    }
    fn with_values(&self, values: &mut dyn Iterator<Item = f64>) -> Result<Self> {
        Ok(Array::scalar(values.next().unwrap_or_default()))
    }
}

impl Numbers for Vector<f64> {
    type Rev = Vec<Rev>;
    fn lower(numbers: &Vec<Rev>, out: &mut Vec<Rev>) -> Result<Self> {
        out.extend(numbers);
        Ok(Array::vector(numbers.iter().map(Rev::value).collect()))
    }
    fn raise(&self, numbers: &mut dyn Iterator<Item = Rev>) -> Vec<Rev> {
        numbers.take(self.len()).collect()
    }
    fn values(&self, out: &mut Vec<f64>) {
        out.extend(self.as_slice());
    }
    fn with_values(&self, values: &mut dyn Iterator<Item = f64>) -> Result<Self> {
        Ok(Array::vector(values.take(self.len()).collect()))
    }
}

impl Numbers for Matrix<f64> {
    type Rev = Vec<Vec<Rev>>;
    fn lower(numbers: &Vec<Vec<Rev>>, out: &mut Vec<Rev>) -> Result<Self> {
        let columns = numbers.first().map_or(0, Vec::len);
        if let Some(row) = numbers.iter().find(|row| row.len() != columns) {
            let text = |n| format!("a row of {n} numbers");
            return Err(Error::Shape { op: "`lift`".into(), expected: text(columns), found: text(row.len()) });
        }
        out.extend(numbers.iter().flatten());
        Array::matrix(numbers.len(), columns, numbers.iter().flatten().map(Rev::value).collect())
    }
    fn raise(&self, numbers: &mut dyn Iterator<Item = Rev>) -> Vec<Vec<Rev>> {
        let (count, columns) = rows(self);
        (0..count).map(|_| numbers.take(columns).collect()).collect()
    }
    fn values(&self, out: &mut Vec<f64>) {
        out.extend(self.as_slice());
    }
    fn with_values(&self, values: &mut dyn Iterator<Item = f64>) -> Result<Self> {
        let (count, columns) = rows(self);
        Array::matrix(count, columns, values.take(count * columns).collect())
    }
}

macro_rules! data {
    ($($elt:ty)*) => {$(
        impl<Sh: Shape> Numbers for Array<Sh, $elt> {
            type Rev = Self;
            fn lower(data: &Self, _: &mut Vec<Rev>) -> Result<Self> {
                Ok(data.clone())
            }
            fn raise(&self, _: &mut dyn Iterator<Item = Rev>) -> Self {
                self.clone()
            }
            fn values(&self, _: &mut Vec<f64>) {}
            fn with_values(&self, _: &mut dyn Iterator<Item = f64>) -> Result<Self> {
                Ok(self.clone())
            }
        }
    )*};
}

data!(bool i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! tuples {
    ($(($($A:ident $k:tt),+))*) => {$(
        impl<$($A: Numbers),+> Numbers for ($($A,)+) {
            type Rev = ($($A::Rev,)+);
            fn lower(numbers: &Self::Rev, out: &mut Vec<Rev>) -> Result<Self> {
                Ok(($($A::lower(&numbers.$k, out)?,)+))
            }
            fn raise(&self, numbers: &mut dyn Iterator<Item = Rev>) -> Self::Rev {
                ($(self.$k.raise(numbers),)+)
            }
            fn values(&self, out: &mut Vec<f64>) {
                $(self.$k.values(out);)+
            }
            fn with_values(&self, values: &mut dyn Iterator<Item = f64>) -> Result<Self> {
                Ok(($(self.$k.with_values(values)?,)+))
            }
        }
    )*};
}

tuples!((A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) (A 0, B 1, C 2, D 3, E 4) (A 0, B 1, C 2, D 3, E 4, F 5));

/// An array program that ordinary code calls, made by [`lift`].
pub struct Lifted<A, R> {
    program: Compiled<A, R>,
    pullback: Compiled<(A, R), A>,
}

impl<A, R> Clone for Lifted<A, R> {
    fn clone(&self) -> Self {
        Lifted { program: self.program.clone(), pullback: self.pullback.clone() }
    }
}

impl<A, R> fmt::Debug for Lifted<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lifted")
    }
}

/// Compiles an array program and its [`vjp`](crate::vjp), so that code that is differentiated can call it. The call is one
/// node of the tape: heavy parts of a program run as kernels, forwards and backwards.
///
/// ```
/// use accel::dual::{Rev, grad, lift};
/// use accel::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let squares = lift(&afun(|xs: Acc<Vector<f64>>| sum(map(|x| x * x, xs))))?;
/// let program = |xs: Vec<Rev>| {
///     // Ordinary control flow around the kernel.
///     let y = squares.call(&xs).unwrap();
///     if y > 10.0 { y.sqrt() } else { y }
/// };
/// assert_eq!(grad(program, &vec![1.0, 2.0])?, [2.0, 4.0]);
/// assert_eq!(grad(program, &vec![6.0, 8.0])?, [0.6000000000000001, 0.8]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Those of [`compile`](crate::compile).
pub fn lift<A: Numbers, R: Numbers>(program: &Afun<A, R>) -> Result<Lifted<A, R>> {
    lift_on(crate::default_backend()?, program)
}

/// [`lift`] on the given backend.
///
/// # Errors
/// Those of [`lift`].
pub fn lift_on<A: Numbers, R: Numbers>(backend: &dyn Backend, program: &Afun<A, R>) -> Result<Lifted<A, R>> {
    let pullback = crate::compile_on(backend, accel_ad::vjp(program.clone()))?;
    Ok(Lifted { program: crate::compile_on(backend, program)?, pullback })
}

impl<A: Numbers, R: Numbers> Lifted<A, R> {
    /// Runs the program for numbers of the tape.
    ///
    /// # Errors
    /// Those of [`Compiled::run`]. If the derivative fails, the reverse pass returns [`accel_dual::Error::Custom`].
    pub fn call(&self, arguments: &A::Rev) -> Result<R::Rev> {
        let mut inputs = vec![];
        let arguments = A::lower(arguments, &mut inputs)?;
        let result = self.program.run(&arguments)?;
        let mut values = vec![];
        result.values(&mut values);
        let (pullback, shape) = (self.pullback.clone(), result.clone());
        let pull = move |adjoints: &[f64]| -> Result<Vec<f64>> {
            let adjoint = shape.with_values(&mut adjoints.iter().copied())?;
            let mut found = vec![];
            pullback.run((&arguments, &adjoint))?.values(&mut found);
            Ok(found)
        };
        Ok(result.raise(&mut custom("lift", &inputs, &values, pull).into_iter()))
    }
}
