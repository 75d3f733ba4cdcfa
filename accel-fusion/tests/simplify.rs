//! What the simplifier makes of programs: one file for each family of rules; that results stay the same; that it is linear.

// What the example's objective takes its prelude from.
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
#[path = "simplify/lets.rs"]
mod lets;
#[path = "simplify/logic.rs"]
mod logic;
#[path = "simplify/scale.rs"]
mod scale;
#[path = "simplify/shapes.rs"]
mod shapes;
