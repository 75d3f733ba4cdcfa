//! Special functions as compositions of others, and functions that stay accurate where their formulas do not.

mod activations;
mod bessel;
mod gamma_parts;
mod incomplete_beta;
mod incomplete_gamma;
mod pairs;
mod stable_functions;
