//! Elements are structs.

use accel::prelude::*;

#[derive(Clone, Elt)]
enum Sign {
    Minus,
    Plus,
}

fn main() {}
