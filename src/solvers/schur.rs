//! Least squares whose unknowns are of two kinds, by the Schur complement.

use super::conjugate_gradients::conjugate_gradients;
use super::least_squares::{Normal, damped, descent, half_of_squares, positive};
use super::linear_systems::{Method, System};
use super::minimise::{of_slope, products_of_hessian, slope_of};
use super::{Equations, INNER, Minimum, ORDERS, S, Stop, V, epsilon, implicit};
use crate::linalg::{cho_solve, cholesky, diagonal, eye};
use crate::surface::attributed;
use crate::types::{Arrays, Dim3, Floating, Rows, Shape, Snoc, Tangent};
use crate::{
    Acc, Afun, Array, Exp, IntoAcc, Matrix, Vector, afun, call, concat, cond, flatten, gather, generate,
    jacobian_reverse, lit, map, matmul, matvec, reshape, size, sum, sums_at, transpose, vmap,
};
use std::panic::Location;

type M<T> = Acc<Matrix<T>>;
type Numbers = Acc<Vector<i64>>;
/// A list of matrices.
type Blocks<T> = Acc<Array<Dim3, T>>;
/// The residuals of one observation, by its row of either matrix of unknowns and by its data.
type Residual<T, D> = Afun<(Vector<T>, Vector<T>, <D as Rows>::Row), Vector<T>>;
/// The unknowns at the start, of which only the shapes count; which rows of them belong to each observation; and the data.
type Observed<T, D> = ((Matrix<T>, Matrix<T>), (Vector<i64>, Vector<i64>), D);

/// [`levenberg_marquardt`](super::levenberg_marquardt) for unknowns of two kinds, where each observation depends on one of either kind: the cameras and points of bundle
/// adjustment, the users and items of recommendations, the crossed effects of a statistical model.
///
/// Unknowns are the rows of two matrices. `residual` is a program of one row of each and of the data of one observation, a row of `data`; it gives a vector. Observation i
/// belongs to row `of.0[i]` of the first matrix and to row `of.1[i]` of the second one. A number of a row that is not there is an error when the program runs, and so are
/// numbers of observations that differ. The two matrices in the result, `x`, have the shapes of those in `start`.
///
/// Only the derivatives of each observation by its two rows are stored. The damped normal equations have two square blocks, U and V, which consist of small blocks for each row,
/// and W between them. The second unknowns are eliminated: their matrix V falls apart into one small system for each row. What is left, the Schur complement
/// `S = U - W V⁻¹ Wᵀ` (Brown 1958; Triggs and others 2000, section 6.1), is never stored; its system is solved by conjugate gradients, with the small blocks
/// on its diagonal as preconditioner (Agarwal and others 2010). So put the kind of which there are more rows in the second place. Damping and residual are those of
/// [`levenberg_marquardt`](super::levenberg_marquardt), and so is the derivative by `data`; its system is solved by conjugate gradients, too.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Stop, levenberg_marquardt_schur};
///
/// // Ratings as products of what two persons like and what three films offer.
/// let residual = afun(|person: Acc<Vector<f64>>, film: Acc<Vector<f64>>, rating: Acc<Scalar<f64>>| {
///     concat(reshape(1, dot(person, film) - rating), concat(person, film) * 0.1)
/// });
/// let fit = afun(|persons: Acc<Vector<i64>>, films: Acc<Vector<i64>>, ratings: Acc<Vector<f64>>| {
///     let (stop, start) = (Stop { tolerance: 1e-8, ..Stop::default() }, (fill((2, 1), 1.0), fill((3, 1), 1.0)));
///     let found = levenberg_marquardt_schur(stop, &residual, start, (persons, films), ratings);
///     let (persons, films) = found.x;
///     (matmul(persons, transpose(films)), found.converged)
/// });
/// let (persons, films) = (Array::vector(vec![0, 0, 1, 1]), Array::vector(vec![0, 1, 1, 2]));
/// let (all, converged) = run(&fit, (&persons, &films, &Array::vector(vec![4.0, 2.0, 1.0, 2.0])))?;
/// assert!(converged.item());
/// // The first person likes twice what the second one likes, also the film that it has not seen.
/// assert!((all.as_slice()[2] / all.as_slice()[5] - 2.0).abs() < 0.1);
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn levenberg_marquardt_schur<D, T>(
    stop: Stop,
    residual: &Residual<T, D>,
    start: (M<T>, M<T>),
    of: (Numbers, Numbers),
    data: impl IntoAcc<Arrays = D>,
) -> Minimum<T, (M<T>, M<T>)>
where
    D: Rows + Arrays<Acc: Tangent<D::Acc>>,
    T: Floating,
{
    let site = ("levenberg_marquardt_schur", Location::caller());
    attributed(site, || {
        let f = all_residuals(site, residual);
        let half = half_of_squares(&f);
        let slope = slope_of(&half);
        let hessian = products_of_hessian(&slope);
        let method = |start: V<T>, at: Acc<Observed<T, D>>| {
            let normal = |x: V<T>, value: V<T>| Linear::of(residual, x, at).normal(value);
            descent(stop, |x| call(&f, (x, at)), normal, start)
        };
        let inverse = |x: V<T>, at: Acc<Observed<T, D>>, dx: V<T>| {
            let inverses = Linear::of(residual, x, at).inverses_of_squares();
            call(preconditioned(&hessian).solver(ORDERS), (dx, ((x, at), inverses))).0
        };
        let at: Acc<Observed<T, D>> = (start, of, data.into_acc()).into_acc();
        let found = implicit(stop, method, of_slope(&slope, inverse), joined(start), at);
        let found = Minimum::new(found, |x| call(&half, (x, at)));
        found.with(parts(start, found.x))
    })
}

/// The two matrices, of these shapes, whose elements are in the vector.
fn parts<T: Floating>((kept, eliminated): (M<T>, M<T>), x: V<T>) -> (M<T>, M<T>) {
    let (first, second) = x.split_at::<0>(size(kept));
    (reshape(kept.shape(), first), reshape(eliminated.shape(), second))
}

fn joined<T: Floating>((kept, eliminated): (M<T>, M<T>)) -> V<T> {
    concat(flatten(kept), flatten(eliminated))
}

/// The residuals of all observations. What is wrong with numbers of rows or of observations is found here.
fn all_residuals<D, T>(
    site: (&'static str, &'static Location<'static>),
    residual: &Residual<T, D>,
) -> Equations<Observed<T, D>, T>
where
    D: Rows,
    T: Floating,
{
    let all = |x: V<T>, at: Acc<Observed<T, D>>| {
        let (start, (of_kept, of_eliminated), data) = at.unlift();
        let (kept, eliminated) = parts(start, x);
        let rows = (gather(of_kept, kept), gather(of_eliminated, eliminated), data);
        flatten(vmap(|(u, v, data)| call(residual, (u, v, data)), rows))
    };
    afun(|x: V<T>, at: Acc<Observed<T, D>>| attributed(site, || all(x, at)))
}

/// The derivatives of all observations by one of the two kinds of unknowns: a block for each observation, in the columns of its row.
#[derive(Clone, Copy)]
struct Columns<T: Floating> {
    of: Numbers,
    rows: Exp<i64>,
    blocks: Blocks<T>,
}

impl<T: Floating> Columns<T> {
    fn product(self, v: M<T>) -> M<T> {
        vmap(|(block, v)| matvec(block, v), (self.blocks, gather(self.of, v)))
    }
    fn transposed_product(self, w: M<T>) -> M<T> {
        self.sums(vmap(|(block, w)| matvec(transpose(block), w), (self.blocks, w)))
    }
    /// The sums of what belongs to the same row.
    fn sums<Sh: Shape>(self, xs: Acc<Array<Snoc<Sh>, T>>) -> Acc<Array<Snoc<Sh>, T>> {
        sums_at(self.rows, self.of, xs)
    }
    /// The blocks on the diagonal of the product of the transpose of this and of other columns of the same rows.
    fn products(self, other: Blocks<T>) -> Blocks<T> {
        let (observations, residuals, columns) = self.blocks.shape();
        // One term for each residual: sums of products in a list would take much more memory than the blocks.
        let all = (observations * residuals, columns);
        let (left, right) = (reshape(all, self.blocks), reshape(all, other));
        let of = generate(all.0, |q: Exp<i64>| self.of.at(q / residuals));
        let terms = generate((all.0, columns, columns), |(q, i, k): (Exp<i64>, Exp<i64>, Exp<i64>)| {
            left.at((q, i)) * right.at((q, k))
        });
        sums_at(self.rows, of, terms)
    }
    fn squares(self) -> Blocks<T> {
        self.products(self.blocks)
    }
}

/// The residuals near a point.
#[derive(Clone, Copy)]
struct Linear<T: Floating> {
    kept: Columns<T>,
    eliminated: Columns<T>,
    /// Where the derivatives are taken.
    at: (M<T>, M<T>),
}

impl<T: Floating> Linear<T> {
    fn of<D: Rows>(residual: &Residual<T, D>, x: V<T>, at: Acc<Observed<T, D>>) -> Self {
        let (start, (of_kept, of_eliminated), data) = at.unlift();
        let (kept, eliminated) = parts(start, x);
        let derivatives = jacobian_reverse(residual.by(|(u, v, _)| (u, v)));
        let rows = (gather(of_kept, kept), gather(of_eliminated, eliminated), data);
        let (by_kept, by_eliminated) = vmap(|(u, v, data)| call(&derivatives, (u, v, data)), rows);
        Linear {
            kept: Columns { of: of_kept, rows: kept.shape().0, blocks: by_kept },
            eliminated: Columns { of: of_eliminated, rows: eliminated.shape().0, blocks: by_eliminated },
            at: (kept, eliminated),
        }
    }

    fn normal(self, value: V<T>) -> Normal<T, impl Fn(S<T>, V<T>) -> V<T>> {
        let Linear { kept, eliminated, at } = self;
        let (observations, residuals, _) = kept.blocks.shape();
        let value = reshape((observations, residuals), value);
        let slope = joined((kept.transposed_product(value), eliminated.transposed_product(value)));
        let squares = eliminated.squares();
        let of_kept = kept.sums(vmap(|j: M<T>| sum_of_squares(j), kept.blocks));
        let scale = positive(joined((of_kept, diagonal(squares))));
        let solve = move |damping: S<T>, slope: V<T>| {
            let ((by_kept, by_eliminated), (damping, small_damping)) = (parts(at, slope), parts(at, damping * scale));
            let inverses = inverses(squares, small_damping);
            // S u, and with it the other unknowns that belong to u.
            let without = |w: M<T>| w - eliminated.product(products(inverses, eliminated.transposed_product(w)));
            let complement = |u: V<T>| {
                let u = reshape(by_kept.shape(), u);
                flatten(kept.transposed_product(without(kept.product(u))) + damping * u)
            };
            // The share of each observation in S.
            let rest = vmap(
                |(j, k, inverse)| j - matmul(matmul(matmul(k, inverse), transpose(k)), j),
                (kept.blocks, eliminated.blocks, gather(eliminated.of, inverses)),
            );
            let approximate = self::inverses(kept.products(rest), damping);
            let precondition = |u: V<T>| flatten(products(approximate, reshape(by_kept.shape(), u)));
            let alone = products(inverses, by_eliminated);
            let right = by_kept - kept.transposed_product(eliminated.product(alone));
            let u = conjugate_gradients(ROUGH, complement, precondition, flatten(right)).0;
            let u = reshape(by_kept.shape(), u);
            let v = alone - products(inverses, eliminated.transposed_product(kept.product(u)));
            joined((u, v))
        };
        Normal { slope, scale, solve }
    }

    /// The inverses of the blocks on the diagonal of JᵀJ, a little damped, since they may be singular.
    fn inverses_of_squares(self) -> (Blocks<T>, Blocks<T>) {
        let inverses = |squares: Blocks<T>| {
            let scale = diagonal(squares);
            inverses(
                squares,
                map(|d: Exp<T>| cond(d.gt(lit::<T>(0.0)), d * epsilon::<T>().sqrt(), lit::<T>(1.0)), scale),
            )
        };
        (inverses(self.kept.squares()), inverses(self.eliminated.squares()))
    }
}

/// A step need not be exact.
const ROUGH: Stop = Stop { tolerance: 1e-2, ..INNER };

/// The sums of the squares of the columns.
fn sum_of_squares<T: Floating>(j: M<T>) -> V<T> {
    sum(transpose(j * j))
}

/// The inverses of positive definite matrices with something added to their diagonals.
fn inverses<T: Floating>(blocks: Blocks<T>, added: M<T>) -> Blocks<T> {
    let inverse = |(block, added): (M<T>, V<T>)| cho_solve(cholesky(damped(block, added)), eye::<T>(added.len()));
    vmap(inverse, (blocks, added))
}

fn products<T: Floating>(blocks: Blocks<T>, vectors: M<T>) -> M<T> {
    vmap(|(block, v)| matvec(block, v), (blocks, vectors))
}

/// Where a Hessian is taken, and the inverses of blocks on the diagonal of its approximation.
type Approximated<T, D> = ((Vector<T>, Observed<T, D>), (Array<Dim3, T>, Array<Dim3, T>));

/// The system of the Hessian with the blocks as preconditioner.
fn preconditioned<D, T>(hessian: &Equations<(Vector<T>, Observed<T, D>), T>) -> System<Approximated<T, D>, T>
where
    D: Rows,
    T: Floating,
{
    let product = afun(|v: V<T>, at: Acc<Approximated<T, D>>| call(hessian, (v, at.unlift().0)));
    let preconditioner = afun(|v: V<T>, at: Acc<Approximated<T, D>>| {
        let ((_, (start, ..)), (of_kept, of_eliminated)) = at.unlift();
        let (kept, eliminated) = parts(start, v);
        joined((products(of_kept, kept), products(of_eliminated, eliminated)))
    });
    System { method: Method::ConjugateGradients, stop: INNER, product, preconditioner: Some(preconditioner) }
}
