//! Gradients of whole programs: reverse mode = forward mode = finite differences, on random inputs of refined types.
//!
//! `appendix_*` hold the programs of appendix A of Smeding's thesis, under their names there; the other modules are our
//! own. A program whose name has `friendly` in it is the same as the one without, on inputs that keep away from the places
//! where it has no derivative.

mod harness;
mod refined;

mod appendix_arrays;
mod appendix_conditionals;
mod appendix_indexing;
mod appendix_tuples;
mod folds;
mod forward_only;
mod higher_order;
mod primitives;
mod records;
mod scalar_gradients;
mod several_outputs;
