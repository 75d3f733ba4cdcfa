//! Functions of numbers for which the formula of the textbook overflows, cancels, or has a wrong derivative at a tie.
//!
//! They are written in terms of the primitive functions, so that differentiating them as they are gives derivatives that are
//! precise. At a tie, each term takes the branch of the same side. Both branches are then parts of the same smooth function, whose
//! derivatives of all orders are right.

use crate::surface::graph::attribute_to;
use crate::surface::{Exp, ToExp, cond, lit};
use crate::types::Floating;
use std::panic::Location;

impl<T: Floating> Exp<T> {
    /// The logistic function, 1 / (1 + e^-x).
    #[track_caller]
    pub fn sigmoid(self) -> Exp<T> {
        let _site = attribute_to("sigmoid", Location::caller());
        let e = (-self).min(self).exp();
        let r = (e + lit::<T>(1.0)).recip();
        cond(self.ge(lit::<T>(0.0)), r, e * r)
    }

    /// The logarithm of the logistic function.
    #[track_caller]
    pub fn log_sigmoid(self) -> Exp<T> {
        let _site = attribute_to("log_sigmoid", Location::caller());
        -(-self).softplus()
    }

    /// ln(1 + e^x).
    #[track_caller]
    pub fn softplus(self) -> Exp<T> {
        let _site = attribute_to("softplus", Location::caller());
        self.max(lit::<T>(0.0)) + (-self).min(self).exp().ln_1p()
    }

    /// ln(e^`self` + e^`other`). Two infinities of the same sign give this infinity.
    #[track_caller]
    pub fn log_add_exp(self, other: impl ToExp<T>) -> Exp<T> {
        let _site = attribute_to("log_add_exp", Location::caller());
        let other = other.to_exp();
        let is_first = self.ge(other);
        let (most, least) = (cond::<T>(is_first, self, other), cond::<T>(is_first, other, self));
        let are_one_infinity = most.is_infinite().and(least.eq(most));
        most + cond::<T>(are_one_infinity, lit::<T>(0.0), least - most).exp().ln_1p()
    }

    /// x ln `y`, where `self` is x; 0 for x = 0, unless `y` is NaN.
    #[track_caller]
    pub fn xlogy(self, y: impl ToExp<T>) -> Exp<T> {
        let _site = attribute_to("xlogy", Location::caller());
        let y = y.to_exp();
        // The logarithm as a factor of zero, where it is no number.
        let is_no_number = y.le(lit::<T>(0.0)).or(y.eq(lit::<T>(f64::INFINITY)));
        self * cond::<T>(self.eq(lit::<T>(0.0)).and(is_no_number), lit::<T>(0.0), y.ln())
    }

    /// The logarithm of the odds, ln(x / (1 - x)): the inverse of [`sigmoid`](Exp::sigmoid). NaN outside 0 to 1.
    #[track_caller]
    pub fn logit(self) -> Exp<T> {
        let _site = attribute_to("logit", Location::caller());
        let one = lit::<T>(1.0);
        let is_near_half = (self - lit::<T>(0.5)).abs().lt(lit::<T>(0.25));
        let from_half = ((self + self - one) / (one - self)).ln_1p();
        cond(is_near_half, from_half, self.ln() - (-self).ln_1p())
    }

    /// The logarithm of [`normal_cdf`](Exp::normal_cdf), also where that vanishes.
    #[track_caller]
    pub fn log_normal_cdf(self) -> Exp<T> {
        let _site = attribute_to("log_normal_cdf", Location::caller());
        let is_right = self.gt(lit::<T>(-1.0));
        let tail = cond::<T>(is_right, -self, self).normal_cdf();
        // Far to the left, where powers of the tail vanish, it is the density divided by a continued fraction (Abramowitz and Stegun,
        // 26.2.14), of which 18 terms are enough.
        let t = -self;
        let fraction = (1..=18).rev().fold(t, |rest, k| t + lit::<T>(f64::from(k)) / rest);
        let log_sqrt_2_pi = lit::<T>(0.918_938_533_204_672_7);
        let far = -(self * self * lit::<T>(0.5) + log_sqrt_2_pi + fraction.ln());
        cond(is_right, (-tail).ln_1p(), cond::<T>(self.gt(lit::<T>(-7.0)), tail.ln(), far))
    }
}
