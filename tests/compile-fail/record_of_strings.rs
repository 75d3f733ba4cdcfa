//! The fields of an element are elements.

use accel::prelude::*;

#[derive(Clone, Elt)]
struct Named {
    name: String,
    value: f64,
}

fn main() {}
