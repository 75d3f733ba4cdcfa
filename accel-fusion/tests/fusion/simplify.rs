//! The simplifier: one file for each family of rules, the results stay the same, and the time is linear.

mod support;

mod algebra;
mod components;
mod gmm;
mod gradients;
mod inlining;
mod logic;
mod scale;
mod shapes;
