//! Loops over arrays: their rows, tapes, updates in place, and checks before them.

pub mod hoisted_checks;
pub mod loop_rows;
pub mod steps_of_batches;
pub mod tapes;
pub mod updates;
