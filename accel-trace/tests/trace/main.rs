//! Traces and their reverse pass.

mod arrays;
mod large;
mod support;
