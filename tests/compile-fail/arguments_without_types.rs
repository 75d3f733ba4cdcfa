//! The argument types of a program come from its closure, unless a function in it leaves no choice.

use accel::prelude::*;

fn main() {
    let _ = afun(|xs| unit(xs.len()));
}
