//! The simplifier: one file for each family of rules, the results stay the same, and the time is linear.

// The prelude of the example's objective comes from here.
extern crate accel_core as accel;

mod proportion;
#[path = "simplify/support.rs"]
mod support;

#[path = "simplify/algebra.rs"]
mod algebra;
#[path = "simplify/components.rs"]
mod components;
#[path = "simplify/gmm.rs"]
mod gmm;
#[path = "simplify/gradients.rs"]
mod gradients;
#[path = "simplify/inlining.rs"]
mod inlining;
#[path = "simplify/logic.rs"]
mod logic;
#[path = "simplify/scale.rs"]
mod scale;
#[path = "simplify/shapes.rs"]
mod shapes;
