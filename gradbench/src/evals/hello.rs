//! The smallest program with a derivative: x².

use crate::module::Module;
use accel::backend::Backend;
use accel::prelude::*;

/// The square of x.
pub fn square(x: Acc<Scalar<f64>>) -> Acc<Scalar<f64>> {
    map(|x| x * x, x)
}

/// `square` and its derivative `double`.
pub fn module(backend: &'static dyn Backend) -> Result<Module, Error> {
    let square = afun(square);
    let double = grad(&square);
    Module::new(backend).function_of_numbers("square", square)?.function_of_numbers("double", double)
}
