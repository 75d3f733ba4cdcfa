//! All backends compute what the interpreter computes, with the same errors, at all extents.

mod conformance;
mod convolutions;
mod hoisted_checks;
mod large_rows;
#[cfg(feature = "opencl")]
mod opencl;
mod overflow;
mod random_numbers;
mod row_bounds;
mod same_bits;
mod short_rows;
mod suite;
#[path = "../support/mod.rs"]
mod support;
#[cfg(unix)]
mod tiers;
