//! Mistake: a foreign crate makes a family of entries, which would see what the kernel stores.
use accel_core::ast::*;

struct Mine;

impl Family for Mine {
    type At<T> = u8;
    type Raw = u8;
}

fn main() {}
