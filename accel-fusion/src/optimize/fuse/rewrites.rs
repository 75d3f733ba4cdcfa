//! The rewrites of fusion by name, and the options of fusion: a wrong rewrite is found by switching off one after the other.

use crate::kernel::{Program, Verified};
use crate::optimize::facts::shape_analysis::{Assumptions, InputExtents};
use accel_core::error::Result;

/// The rewrites of fusion that can be switched off.
pub(crate) const REWRITES: [&str; 11] = [
    REDUCED_IN_PLACE,
    PERMUTE_SUMS,
    PRODUCT_SUMS,
    SUM_BY_ROWS,
    SUM_INTERCHANGE,
    SELECTED_TERMS,
    SCATTER,
    SCATTERED_PRODUCTS,
    CHAINS,
    SORTS,
    STEPS,
];
pub(crate) const REDUCED_IN_PLACE: &str = "reduced_in_place";
pub(crate) const PERMUTE_SUMS: &str = "permute_sums";
pub(crate) const PRODUCT_SUMS: &str = "product_sums";
pub(crate) const SUM_BY_ROWS: &str = "sum_by_rows";
pub(crate) const SUM_INTERCHANGE: &str = "sum_interchange";
pub(crate) const SELECTED_TERMS: &str = "selected_terms";
pub(crate) const SCATTER: &str = "scatter";
pub(crate) const SCATTERED_PRODUCTS: &str = "scattered_products";
pub(crate) const CHAINS: &str = "chains";
pub(crate) const SORTS: &str = "sorts";
pub(crate) const STEPS: &str = "steps";

/// Fuses producers into their consumers, turns scatters into sums and gathers, lets sorts move elements, and simplifies
/// by what the extents imply.
#[derive(Clone, Copy)]
pub(crate) struct Fusion<'a> {
    /// The extents of inputs that are constants.
    pub known: &'a InputExtents,
    /// It assumes those conditions on the extents of the arguments that make the program simplest. The assumptions use the
    /// array numbers of the given program.
    pub assume: bool,
    /// The target is a processor, with fast products of matrices with any strides (NOTE [Strided products]) and strips.
    pub strided: bool,
    /// The rewrites that are switched off.
    pub without: &'a [&'static str],
    /// Compares the program after a step with the one before all of them, under the assumptions so far.
    pub check: Option<&'a StepCheck<'a>>,
}

/// From the name of a step, the programs before and after it, and the assumptions so far, to an error if it is wrong.
pub(crate) type StepCheck<'a> = dyn Fn(&str, &Program, &Verified<Program>, &dyn Fn() -> Assumptions) -> Result<()> + 'a;

impl Fusion<'_> {
    /// Whether a rewrite is not switched off, and makes sense for the target.
    pub fn does(&self, rewrite: &'static str) -> bool {
        (self.strided || ![PRODUCT_SUMS, SCATTERED_PRODUCTS, STEPS].contains(&rewrite))
            && !self.without.contains(&rewrite)
    }
}
