//! The same functions of large matrices by the library `faer`, whose algorithms work on blocks: with the feature `linalg`.

use super::triangle::Triangle;
use super::{M, V};
use crate::repr::foreign::{View, ViewMut};
use crate::repr::{Call, ColumnElt, Foreign, ScalarType};
use crate::surface::foreign_call;
use crate::types::{Arrays, Floating};
use crate::{Acc, Exp, IntoAcc, Matrix, Vector, acond};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::inverse::{inverse as invert, inverse_scratch};
use faer::perm::PermRef;
use faer::traits::RealField;
use faer::{MatMut, MatRef, Side, get_global_parallelism};

/// Up to this number of rows, the steps in the language are as fast, and many matrices go side by side.
const SMALL: i64 = 32;

/// What is computed of a matrix with `n` rows: `large` if there are many.
pub fn by_size<Y>(n: Exp<i64>, small: Y, large: Y) -> Y
where
    Y: IntoAcc<Arrays: Arrays<Acc = Y>>,
{
    acond(n.le(SMALL), small, large)
}

/// The numbers of the library.
trait Number: ColumnElt + RealField {
    const NAN: Self;
}
impl Number for f32 {
    const NAN: f32 = f32::NAN;
}
impl Number for f64 {
    const NAN: f64 = f64::NAN;
}

/// The function of this type of numbers.
macro_rules! function {
    ($T:ident, $name:literal, $work:ident) => {
        Call {
            function: match $T::SCALAR {
                ScalarType::F32 => Foreign::new($name, $work::<f32>),
                _ => Foreign::new($name, $work::<f64>),
            },
            lanes: 0,
        }
    };
}

pub fn cholesky<T: Floating>(a: M<T>) -> M<T> {
    fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        let (a, mut l) = (matrix::<T>(from, 0)?, matrix_mut::<T>(to, 0)?);
        match a.llt(Side::Lower) {
            Ok(found) => l.copy_from_triangular_lower(found.L()),
            Err(_) => l.fill(T::NAN),
        }
        Ok(())
    }
    foreign_call(&function!(T, "cholesky", work), a.shape(), a)
}

/// L without its diagonal of ones and U in one matrix, and the rows of the matrix in the order in which they were pivots.
pub fn lu<T: Floating>(a: M<T>) -> (M<T>, V<i64>) {
    fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        let found = matrix::<T>(from, 0)?.partial_piv_lu();
        let mut both = matrix_mut::<T>(to, 0)?;
        both.copy_from_strict_triangular_lower(found.L());
        both.copy_from_triangular_upper(found.U());
        let rows = to.get_mut(1).and_then(|a| i64::part_mut(a.columns.first_mut()?)).ok_or_else(wrong)?;
        rows.iter_mut().zip(found.P().arrays().0).for_each(|(to, row)| *to = *row as i64);
        Ok(())
    }
    let all: Acc<(Matrix<T>, Vector<i64>)> = foreign_call(&function!(T, "lu", work), (a.shape(), a.shape().0), a);
    all.unlift()
}

/// The inverse of the matrix with these factors. Of the factors, each inverse takes half of the products that systems with the unit matrix would take.
pub fn inverse<T: Floating>(lu: M<T>, rows: V<i64>) -> M<T> {
    fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        let (lu, x) = (matrix::<T>(from, 0)?, matrix_mut::<T>(to, 0)?);
        let rows = from.get(1).and_then(|a| i64::part(a.columns.first()?)).ok_or_else(wrong)?;
        let n = rows.len();
        let forward: Vec<usize> = rows.iter().map(|row| *row as usize).collect();
        let mut back = vec![0; n];
        forward.iter().enumerate().for_each(|(to, from)| back[*from] = to);
        let order = PermRef::new_checked(&forward, &back, n);
        let mut memory = MemBuffer::try_new(inverse_scratch::<usize, T>(n, get_global_parallelism()))
            .map_err(|_| "no memory".to_string())?;
        let stack = MemStack::new(&mut memory);
        invert(x, lu, lu, order, get_global_parallelism(), stack);
        Ok(())
    }
    foreign_call(&function!(T, "inv", work), lu.shape(), (lu, rows).into_acc())
}

pub fn solutions<T: Floating>(triangle: Triangle, a: M<T>, b: M<T>) -> M<T> {
    fn lower<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        let (a, b, mut x) = (matrix::<T>(from, 0)?, matrix::<T>(from, 1)?, matrix_mut::<T>(to, 0)?);
        x.copy_from(b);
        a.solve_lower_triangular_in_place(x);
        Ok(())
    }
    fn upper<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        let (a, b, mut x) = (matrix::<T>(from, 0)?, matrix::<T>(from, 1)?, matrix_mut::<T>(to, 0)?);
        x.copy_from(b);
        a.solve_upper_triangular_in_place(x);
        Ok(())
    }
    let call = match triangle {
        Triangle::Lower => function!(T, "solve_triangular", lower),
        Triangle::Upper => function!(T, "solve_triangular", upper),
    };
    foreign_call(&call, b.shape(), (a, b).into_acc())
}

pub fn qr<T: Floating>(a: M<T>) -> (M<T>, M<T>) {
    fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        let found = matrix::<T>(from, 0)?.qr();
        matrix_mut::<T>(to, 0)?.copy_from(found.compute_thin_Q());
        let mut r = matrix_mut::<T>(to, 1)?;
        r.copy_from_triangular_upper(found.thin_R());
        Ok(())
    }
    let ((n, m), k) = (a.shape(), a.shape().0.min(a.shape().1));
    let all: Acc<(Matrix<T>, Matrix<T>)> = foreign_call(&function!(T, "qr", work), ((n, k), (k, m)), a);
    all.unlift()
}

/// The eigenvalues of a symmetric matrix, in ascending order, and the eigenvectors.
pub fn eigh<T: Floating>(a: M<T>) -> (V<T>, M<T>) {
    fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        let found = matrix::<T>(from, 0)?.self_adjoint_eigen(Side::Lower);
        let values = vector::<T>(to, 0)?;
        match &found {
            Ok(found) => values.iter_mut().zip(found.S().column_vector().iter()).for_each(|(to, w)| *to = *w),
            Err(_) => values.fill(T::NAN),
        }
        let mut vectors = matrix_mut::<T>(to, 1)?;
        match &found {
            Ok(found) => vectors.copy_from(found.U()),
            Err(_) => vectors.fill(T::NAN),
        }
        Ok(())
    }
    let all: Acc<(Vector<T>, Matrix<T>)> = foreign_call(&function!(T, "eigh", work), (a.shape().0, a.shape()), a);
    all.unlift()
}

/// U, the singular values in descending order, and Vᵀ.
pub fn svd<T: Floating>(a: M<T>) -> (M<T>, V<T>, M<T>) {
    fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        let found = matrix::<T>(from, 0)?.thin_svd();
        let values = vector::<T>(to, 1)?;
        match &found {
            Ok(found) => values.iter_mut().zip(found.S().column_vector().iter()).for_each(|(to, s)| *to = *s),
            Err(_) => values.fill(T::NAN),
        }
        for (k, transposed) in [(0, false), (2, true)] {
            let mut vectors = matrix_mut::<T>(to, k)?;
            match &found {
                Ok(found) if transposed => vectors.copy_from(found.V().transpose()),
                Ok(found) => vectors.copy_from(found.U()),
                Err(_) => vectors.fill(T::NAN),
            }
        }
        Ok(())
    }
    let ((n, m), k) = (a.shape(), a.shape().0.min(a.shape().1));
    let all: Acc<(Matrix<T>, Vector<T>, Matrix<T>)> = foreign_call(&function!(T, "svd", work), ((n, k), k, (k, m)), a);
    all.unlift()
}

fn wrong() -> String {
    "an array of another type".into()
}

fn matrix<'a, T: Number>(from: &[View<'a>], k: usize) -> Result<MatRef<'a, T>, String> {
    let a = from.get(k).ok_or_else(wrong)?;
    let elements = a.columns.first().and_then(T::part).ok_or_else(wrong)?;
    Ok(MatRef::from_row_major_slice(elements, a.extents[0], a.extents[1]))
}

fn matrix_mut<'v, T: Number>(to: &'v mut [ViewMut], k: usize) -> Result<MatMut<'v, T>, String> {
    let a = to.get_mut(k).ok_or_else(wrong)?;
    let (n, m) = (a.extents[0], a.extents[1]);
    let elements = a.columns.first_mut().and_then(T::part_mut).ok_or_else(wrong)?;
    Ok(MatMut::from_row_major_slice_mut(elements, n, m))
}

fn vector<'v, T: Number>(to: &'v mut [ViewMut], k: usize) -> Result<&'v mut [T], String> {
    to.get_mut(k).and_then(|a| T::part_mut(a.columns.first_mut()?)).ok_or_else(wrong)
}
