//! Differentiation of array programs: label and primal pass, dual pass, forward mode.

pub mod accumulate;
pub mod branches;
pub mod code;
pub mod dual;
pub mod fold;
pub mod forward;
pub mod label;
pub mod loops;
pub mod one_to_one;
pub mod permute;
pub mod products;
pub mod rules;
pub mod scan;
pub mod shapes;
pub mod sorted_permute;
pub mod state;
pub mod steps;
pub mod tuples;
