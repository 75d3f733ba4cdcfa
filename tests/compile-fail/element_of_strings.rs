//! Not everything can be an element.

use accel::prelude::*;

fn main() {
    let _ = Array::vector(vec!["one".to_string()]);
}
