//! Special functions of numbers, which the interpreter and the runtime of the native backend evaluate.

mod bessel;
mod log_gamma;
mod normal;
mod polygamma;
pub mod special;
