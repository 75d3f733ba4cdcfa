//! Modified Bessel functions without a scale.
//!
//! They are `i0e` and `i1e` times `e^|x|`. The kinks of these two factors cancel, but their conventional derivatives at 0 do not. So the
//! derivatives are given: those of `i0` and of the logarithm are odd functions, of which the products and quotients of the scaled
//! functions have the right values and slopes at 0.

use crate::surface::Exp;
use crate::surface::exp::along;
use crate::surface::graph::attribute_to;
use crate::types::Floating;
use std::panic::Location;

impl<T: Floating> Exp<T> {
    /// The modified Bessel function of the first kind of order 0. It overflows as e^|x|: see [`ln_i0`](Self::ln_i0) and
    /// [`i0e`](Self::i0e). Its derivatives up to the third one are right everywhere.
    #[track_caller]
    pub fn i0(self) -> Exp<T> {
        let _site = attribute_to("i0", Location::caller());
        let x = self.cast::<f64>();
        ((x.i0e() * x.abs().exp()).detach() + along(x, unscaled_i1(x))).cast()
    }

    /// The modified Bessel function of the first kind of order 1. Its derivatives up to the second one are right everywhere.
    #[track_caller]
    pub fn i1(self) -> Exp<T> {
        let _site = attribute_to("i1", Location::caller());
        unscaled_i1(self.cast::<f64>()).cast()
    }

    /// The logarithm of [`i0`](Self::i0), without overflow. Its derivatives up to the third one are right everywhere.
    #[track_caller]
    pub fn ln_i0(self) -> Exp<T> {
        let _site = attribute_to("ln_i0", Location::caller());
        let x = self.cast::<f64>();
        ((x.i0e().ln() + x.abs()).detach() + along(x, x.i1e() / x.i0e())).cast()
    }
}

/// I1(x) as the product of two functions. It vanishes at 0, where the slope of the second one does not count.
fn unscaled_i1(x: Exp<f64>) -> Exp<f64> {
    x.i1e() * x.abs().exp()
}
