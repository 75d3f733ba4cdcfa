//! Loops over arrays: their rows, tapes, updates in place, and checks before them.

pub mod hoisted_checks;
pub mod loop_rows;
pub mod tapes;
pub mod updates;
