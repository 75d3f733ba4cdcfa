//! Gradients of whole programs: reverse mode = forward mode = finite differences, on random inputs of refined types.
//!
//! `appendix_*` contain the programs of appendix A of Smeding's thesis, with their names there; the other modules are
//! our own. A program with `friendly` in its name is the same as the one without, on inputs at a distance from the
//! places where it has no derivative.

mod harness;
mod refined;
#[path = "../support/mod.rs"]
mod support;

mod adbench;
mod appendix_arrays;
mod appendix_conditionals;
mod appendix_indexing;
mod appendix_tuples;
mod array_loops;
mod bundle_adjustment;
mod captured;
mod check_grad;
mod chosen;
mod derivative_edges;
mod distributions;
#[cfg(feature = "dual")]
mod dual;
#[cfg(feature = "dual")]
mod edges;
mod elementwise;
mod excluded;
mod folds;
mod forward_mode;
#[cfg(feature = "fft")]
mod fourier;
mod higher_order;
mod implicit;
#[cfg(feature = "dual")]
mod infinite_arguments;
mod joining;
mod linear_algebra;
mod matrices;
mod operations;
mod own_rules;
mod passive;
mod permutes;
mod primitives;
mod programs;
mod random;
mod reads_in_loops;
mod records;
mod rows;
mod rows_by_index;
mod scalar_gradients;
mod scalar_loops;
mod scans;
mod scientific;
mod segments;
mod selection;
mod several_outputs;
mod small_vectors;
mod solvers;
mod sort;
mod sparse;
mod special_values;
#[cfg(feature = "dual")]
mod strong_zeros;
mod tapes;
#[cfg(feature = "dual")]
mod three_ways;
mod updates;
mod vmap;
