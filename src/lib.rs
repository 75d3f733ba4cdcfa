//! A typed, staged, differentiable array language embedded in Rust.
