//! When vertical fusion recomputes a producer.
//!
//! NOTE [Recomputation of producers]: a `Loop` replaces the reads of its result if
//! - its elements take no work: it moves, repeats or selects elements, or all elements are the same constant;
//! - it has one read, which reads every element at most once: then no work is repeated;
//! - its elements take little work ([`LITTLE_WORK`]), it has at most [`MAX_READS`] reads, and each of them reads every
//!   element at most once: recomputing takes less time than writing to memory and reading back.
//!
//! Otherwise it is stored. So only work of the third kind is repeated, at most `MAX_READS` times for each element.

/// The limit for little work: some additions and multiplications.
pub const LITTLE_WORK: usize = 6;
/// The largest number of reads of a cheap producer. All of them together repeat at most 24 operations, instead of a number that is
/// written and read back. Chosen.
pub const MAX_READS: usize = 4;
