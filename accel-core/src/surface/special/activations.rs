//! Functions of numbers between the layers of neural networks.

use crate::surface::graph::attribute_to;
use crate::surface::{Exp, cond, lit};
use crate::types::Floating;
use std::panic::Location;

impl<T: Floating> Exp<T> {
    /// The number if it is positive, otherwise 0; NaN stays NaN. The derivative at 0 is 0. In JAX, `nn.relu(x)`.
    #[track_caller]
    pub fn relu(self) -> Exp<T> {
        let _site = attribute_to("relu", Location::caller());
        let zero = lit::<T>(0.0);
        cond(self.le(zero), zero, self)
    }

    /// x times the distribution function of the standard normal distribution at x, where `self` is x; 0 for -∞. In PyTorch, `gelu(x)`; in
    /// JAX, `nn.gelu(x, approximate=False)`.
    #[track_caller]
    pub fn gelu(self) -> Exp<T> {
        let _site = attribute_to("gelu", Location::caller());
        // The function vanishes below -40, and so do its derivatives; but -∞ times 0 is NaN.
        let share = self.normal_cdf();
        cond(self.lt(lit::<T>(-40.0)), lit::<T>(0.0), self * share)
    }
}
