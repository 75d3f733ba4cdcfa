//! What the simplifier makes of programs: one file for each family of rules, and that results stay the same.

#[path = "simplify/support.rs"]
mod support;

#[path = "simplify/algebra.rs"]
mod algebra;
#[path = "simplify/gmm.rs"]
mod gmm;
#[path = "simplify/gradients.rs"]
mod gradients;
