//! Systems of linear equations whose matrix is known by its products only.

use super::conjugate_gradients::conjugate_gradients;
use super::gmres::minimal_residuals;
use super::{Equations, Found, ORDERS, Solution, Stop, V, no_rule, no_rule_of};
use crate::surface::attributed;
use crate::types::{Arrays, Floating, Tangent};
use crate::{Acc, Afun, IntoAcc, Vector, afun, call, custom_vjp, fill, lit, vjp};
use std::panic::Location;

/// A linear map, given by its product with a vector: a program of the vector and of parameters. In a pair with it, a preconditioner: the product with an
/// approximation of the inverse, which makes the methods take fewer steps and changes nothing of the solution.
pub trait LinearMap<A, T> {
    /// The product.
    fn product(&self) -> &Afun<(Vector<T>, A), Vector<T>>;
    /// The product with an approximation of the inverse, if there is one.
    fn preconditioner(&self) -> Option<&Afun<(Vector<T>, A), Vector<T>>>;
}

impl<A, T> LinearMap<A, T> for &Afun<(Vector<T>, A), Vector<T>> {
    fn product(&self) -> &Afun<(Vector<T>, A), Vector<T>> {
        self
    }
    fn preconditioner(&self) -> Option<&Afun<(Vector<T>, A), Vector<T>>> {
        None
    }
}

impl<A, T> LinearMap<A, T> for (&Afun<(Vector<T>, A), Vector<T>>, &Afun<(Vector<T>, A), Vector<T>>) {
    fn product(&self) -> &Afun<(Vector<T>, A), Vector<T>> {
        self.0
    }
    fn preconditioner(&self) -> Option<&Afun<(Vector<T>, A), Vector<T>>> {
        Some(self.1)
    }
}

/// The solution of the linear equations `product(x, a) = b` by the method of conjugate gradients (Hestenes and Stiefel 1952): `product` is the product of a
/// symmetric positive definite matrix, which is never stored, and x. `map` is this program, or a pair of it and of a preconditioner, which has
/// to be symmetric and positive definite, too. The residual is the norm of `b - product(x, a)` in relation to that of `b`. In SciPy, `sparse.linalg.cg`.
///
/// The adjoint of `b` is the solution λ for the right side `x̄`, and that of the parameters the one of `-product(x, a)` for λ. For a matrix in memory,
/// [`linalg::solve`](crate::linalg::solve) and [`linalg::cho_solve`](crate::linalg::cho_solve) are there.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Stop, cg};
///
/// // The second difference, with a number added to the diagonal.
/// let product = afun(|x: Acc<Vector<f64>>, a: Acc<Scalar<f64>>| {
///     let padded = pad(1, 1, Constant(0.0), x);
///     generate(x.len(), |i| (the(a) + 2.0) * x.at(i) - padded.at(i) - padded.at(i + 2))
/// });
/// let program = afun(|b: Acc<Vector<f64>>, a: Acc<Scalar<f64>>| {
///     let found = cg(Stop::default(), &product, b, a);
///     (found.x, found.converged)
/// });
/// let (x, converged) = run(&program, (&Array::vector(vec![1.0, 0.0, 1.0]), &Array::scalar(0.0)))?;
/// assert!(converged.item() && x.to_vec().iter().all(|x| (x - 1.0).abs() < 1e-9));
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn cg<A, T>(stop: Stop, map: impl LinearMap<A, T>, b: V<T>, a: impl IntoAcc<Arrays = A>) -> Solution<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    solution(("cg", Location::caller()), Method::ConjugateGradients, stop, map, b, a.into_acc())
}

/// The solution of the linear equations `product(x, a) = b` by generalised minimal residuals (Saad and Schultz 1986): `product` is the product of any
/// regular matrix, which is never stored, and x. `map` is this program, or a pair of it and of a preconditioner. The residual is the norm of
/// `b - product(x, a)` in relation to that of `b`. In SciPy, `sparse.linalg.gmres`.
///
/// A step is a product; after 20 of them, the method begins again from where it is. So 20 vectors of the length of `b` are stored. Up to 20 unknowns, the
/// solution is exact up to rounding. For more, eigenvalues far from each other make the method slow, and a preconditioner has to bring them together.
///
/// The derivatives are those of [`cg`] with the transposed map.
///
/// ```
/// use accel::prelude::*;
/// use accel::solvers::{Stop, gmres};
///
/// // A flow: what comes from the left stays in part.
/// let product = afun(|x: Acc<Vector<f64>>, a: Acc<Scalar<f64>>| x - roll(1, x) * a);
/// // An approximation of its inverse.
/// let inverse = afun(|x: Acc<Vector<f64>>, a: Acc<Scalar<f64>>| x + roll(1, x) * a);
/// let total = afun(|b: Acc<Vector<f64>>, a: Acc<Scalar<f64>>| sum(gmres(Stop::default(), (&product, &inverse), b, a).x));
/// let (value, (_, by_a)) = run(value_and_grad(&total), (&Array::vector(vec![1.0; 100]), &Array::scalar(0.5)))?;
/// assert!((value.item() - 200.0).abs() < 1e-6 && (by_a.item() - 400.0).abs() < 1e-6); // 100 / (1 - a)
/// # Ok::<(), Error>(())
/// ```
#[track_caller]
pub fn gmres<A, T>(stop: Stop, map: impl LinearMap<A, T>, b: V<T>, a: impl IntoAcc<Arrays = A>) -> Solution<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    solution(("gmres", Location::caller()), Method::MinimalResiduals, stop, map, b, a.into_acc())
}

fn solution<A, T>(
    site: (&'static str, &'static Location<'static>),
    method: Method,
    stop: Stop,
    map: impl LinearMap<A, T>,
    b: V<T>,
    a: Acc<A>,
) -> Solution<T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    let system = System { method, stop, product: map.product().clone(), preconditioner: map.preconditioner().cloned() };
    attributed(site, || Solution::new(stop, call(system.solver(ORDERS), (b, a))))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    ConjugateGradients,
    MinimalResiduals,
}

/// A linear map and how its systems are solved.
pub(super) struct System<A, T> {
    pub method: Method,
    pub stop: Stop,
    pub product: Equations<A, T>,
    pub preconditioner: Option<Equations<A, T>>,
}

impl<A, T> System<A, T>
where
    A: Arrays<Acc: Tangent<A::Acc>>,
    T: Floating,
{
    /// The solution of right sides and parameters, with the rule for derivatives up to this order.
    pub(super) fn solver(&self, orders: usize) -> Afun<(Vector<T>, A), Found<T>> {
        let method = afun(|b: V<T>, a: Acc<A>| {
            let product = |x: V<T>| call(&self.product, (x, a));
            let precondition = |x: V<T>| self.preconditioner.as_ref().map_or(x, |p| call(p, (x, a)));
            match self.method {
                Method::ConjugateGradients => conjugate_gradients(self.stop, product, precondition, b),
                Method::MinimalResiduals => minimal_residuals(self.stop, product, precondition, b),
            }
        });
        custom_vjp(&method, |(b, a): (V<T>, A::Acc), (x, _, _), (dx, _, _)| {
            let (a, product) = (a.into_acc(), &self.product);
            let Some(orders) = orders.checked_sub(1) else { return (no_rule(b), no_rule_of::<A, T>(product, b, a)) };
            let (adjoint, ..) = call(self.transposed().solver(orders), (dx, a));
            (adjoint, call(vjp(product), ((x, a), -adjoint)).1)
        })
    }

    fn transposed(&self) -> System<A, T> {
        let (product, preconditioner) = match self.method {
            // The matrix is symmetric.
            Method::ConjugateGradients => (self.product.clone(), self.preconditioner.clone()),
            Method::MinimalResiduals => (transposed(&self.product), self.preconditioner.as_ref().map(transposed)),
        };
        System { product, preconditioner, ..*self }
    }
}

/// The product with the transposed map.
pub(super) fn transposed<A, T>(product: &Equations<A, T>) -> Equations<A, T>
where
    A: Arrays,
    T: Floating,
{
    // The map is linear, so its derivative is the same everywhere.
    afun(|y: V<T>, a: Acc<A>| call(vjp(product.by(|(x, _)| x)), ((fill(y.shape(), lit::<T>(0.0)), a), y)))
}
