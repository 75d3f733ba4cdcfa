//! Log densities of probability distributions, and transformations to the values that they are densities of.
//!
//! The names and the parameters are those of Stan: `normal_lpdf` is the logarithm of a density, `poisson_log_lpmf` that of a probability, `_lcdf` and `_lccdf` are
//! the logarithms of the distribution function and of its complement. They are functions of an [`Exp`] in scalar code, or
//! of an array, element by element (Stan adds the elements up: here, write `sum`). A parameter is a number, or has one value for each
//! element: see [`Parameter`].
//!
//! ```
//! use accel::distributions::{normal_lpdf, positive};
//! use accel::prelude::*;
//!
//! // Eight schools: effects of a training, with known errors.
//! let density = afun(|mu: Acc<Scalar<f64>>, x: Acc<Scalar<f64>>, eta: Acc<Vector<f64>>, y: Acc<Vector<f64>>, error: Acc<Vector<f64>>| {
//!     let (tau, log_jacobian) = positive(x);
//!     let effects = eta * tau + mu;
//!     normal_lpdf(mu, 0.0, 5.0) + normal_lpdf(tau, 0.0, 5.0) + log_jacobian
//!         + sum(normal_lpdf(eta, 0.0, 1.0)) + sum(normal_lpdf(y, effects, error))
//! });
//! let y = Array::vector(vec![28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]);
//! let error = Array::vector(vec![15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]);
//! let (mu, x, eta) = (Array::scalar(4.0), Array::scalar(1.0), Array::vector(vec![0.0; 8]));
//! let by_parameters = grad(density.by(|(mu, x, eta, ..)| (mu, x, eta)));
//! let (by_mu, ..) = run(&by_parameters, (&mu, &x, &eta, &y, &error))?;
//! assert!(by_mu.item().is_finite());
//! # Ok::<(), Error>(())
//! ```
//!
//! They have derivatives of any order by all arguments that are no counts, and are precise in the tails and for large parameters. Outside of the support, a log
//! density is -∞ and its derivatives are 0. Parameters that there is no distribution for, such as a negative scale, give NaN.
//!
//! [`positive`], [`bounded`], [`simplex`], [`ordered`] and [`corr_cholesky`] make values with constraints of numbers without, for samplers and for
//! [`minimise`](crate::solvers::minimise). Each returns the values and the logarithm of the Jacobian determinant, which belongs to the log density of
//! the unconstrained numbers.
//!
//! Random numbers are in [`random`](crate::random).

mod discrete;
mod multivariate;
mod parts;
mod positive;
mod real;
mod transforms;
mod variates;

pub use discrete::{
    bernoulli_logit_lpmf, binomial_lccdf, binomial_lcdf, binomial_lpmf, categorical_logit_lpmf, neg_binomial_2_lccdf,
    neg_binomial_2_lcdf, neg_binomial_2_lpmf, poisson_lccdf, poisson_lcdf, poisson_log_lpmf, poisson_lpmf,
};
pub use multivariate::{dirichlet_lpdf, lkj_corr_cholesky_lpdf, multi_normal_cholesky_lpdf, multi_normal_lpdf};
pub use positive::{
    beta_lccdf, beta_lcdf, beta_lpdf, exponential_lccdf, exponential_lcdf, exponential_lpdf, gamma_lccdf, gamma_lcdf,
    gamma_lpdf, inv_gamma_lccdf, inv_gamma_lcdf, inv_gamma_lpdf, lognormal_lccdf, lognormal_lcdf, lognormal_lpdf,
};
pub use real::{
    cauchy_lccdf, cauchy_lcdf, cauchy_lpdf, laplace_lccdf, laplace_lcdf, laplace_lpdf, logistic_lccdf, logistic_lcdf,
    logistic_lpdf, normal_lccdf, normal_lcdf, normal_lpdf, student_t_lccdf, student_t_lcdf, student_t_lpdf,
    von_mises_lccdf, von_mises_lcdf, von_mises_lpdf,
};
pub use transforms::{bounded, corr_cholesky, ordered, positive, simplex};
pub use variates::{Parameter, Variate};
