//! Optimises kernel programs: fuses producers into their consumers, also producers with several consumers; turns
//! scatters with known targets into sums and gathers; removes checks and branches that extents decide.
//!
//! | file | what it does |
//! | --- | --- |
//! | `rules` | the driver that applies rules to the statements of all blocks |
//! | `facts/poly`, `facts/shape_analysis` | symbolic extents and indices, and proofs about them |
//! | `facts/known_extents` | extents that are constants |
//! | `facts/value_numbers` | value numbering: finds registers that hold the same value |
//! | `facts/edges` | decisions that change at the edges of an index space |
//! | `facts/strided_product` | sums of products whose indices are sums |
//! | `scalar/scalar_cleanup` | scalar clean-up: constant folding, value numbering, dead code elimination |
//! | `scalar/recomputation` | when a producer is recomputed |
//! | `scalar/few_steps` | loops of a known number of steps |
//! | `scalar/selections` | cheap conditionals that compute both branches |
//! | `scalar/cheap_branches` | when both branches can be computed |
//! | `fuse/accumulators` | drops unused sums, and sums to which nothing is added |
//! | `fuse/split_columns` | splits arrays of tuples into arrays of their columns |
//! | `fuse/vertical_fusion` | the pass over the statements that fuses producers into consumers |
//! | `fuse/fused_program` | the program that it constructs, and facts about its arrays |
//! | `fuse/scatter` | the index-function analysis of `permute` |
//! | `fuse/moved_elements` | lets sorts move the elements that are read through their positions |
//! | `fuse/reshapes` | sums of all elements, and elements that a reshape moves |
//! | `fuse/rewrites` | the rewrites of fusion by name, and its options |
//! | `fuse/horizontal_fusion` | merges loops over the same index space |
//! | `fuse/common_statements` | computes equal arrays once |
//! | `fuse/decisions` | decides once what is decided twice, and computes matrices in the branches that sum them |
//! | `sums/scattered_products` | adds the products of sums where they belong |
//! | `sums/permute_sums` | adds the elements of permutations where they belong |
//! | `sums/product_sums` | sums of sums of products as one reduction |
//! | `sums/selected_terms` | the one term of a sum that counts |
//! | `sums/sum_interchange` | sums factors before it multiplies them |
//! | `sums/loop_sums` | adds the sums of loops where they belong |
//! | `loops/hoisted_checks` | checks indices that are sums once for all elements |
//! | `loops/steps_of_batches` | writes few steps over a batch one after the other |
//! | `loops/tapes` | replaces lists of states by tapes |
//! | `loops/updates` | lets updates of arrays in loops happen in place |
//! | `layout/recomputed_operands` | lets products on GPUs compute their operands |
//! | `layout/transposed_operands` | gives sums transposed copies of operands |
//! | `layout/scan_copies` | lets scans define the arrays to which loops copy their results |
//! | `layout/scans_down` | lets scans of columns write their results where the columns are |
//! | `layout/checked_reads` | reads by checked indices before statements that call functions |
//! | `layout/fewer_indices` | computes what depends on fewer indices as often as there are such indices |
//! | `layout/functions_of_arrays` | computes mathematical functions for all elements of a small array at once |
//! | `layout/merged_dimensions` | reads elements by one index instead of by the digits of one |
//! | `layout/compact` | numbers the remaining arrays without gaps |
//! | `partition/folded_rows` | vectors of elements of several short rows |
//! | `partition/index_digits` | functions of the quotients and remainders of an index |
//! | `partition/interior` | elements that need no special rules for edges |
//! | `partition/row_decisions` | elements of rows that satisfy all conditions |

mod facts;
mod fuse;
mod layout;
mod loops;
mod partition;
mod rules;
mod scalar;
mod sums;

pub use facts::known_extents::{KnownExtents, constants, known_extents};
pub use facts::shape_analysis::{Assumptions, InputExtents};
pub use facts::strided_product::{Digit, Factor, StridedProduct, Sum};
pub(crate) use fuse::common_statements::Share;
pub(crate) use fuse::decisions::Decisions;
pub(crate) use fuse::horizontal_fusion::merge;
pub(crate) use fuse::rewrites::{Fusion, REWRITES, StepCheck};
pub(crate) use fuse::split_columns::split;
pub(crate) use layout::checked_reads::checked_reads;
pub use layout::compact::{Isolated, isolated};
pub(crate) use layout::compact::{Numbers, compact};
pub(crate) use layout::fewer_indices::fewer_indices;
pub(crate) use layout::functions_of_arrays::functions_of_arrays;
pub use layout::functions_of_arrays::{FunctionOfArrays, function_of_arrays};
pub(crate) use layout::merged_dimensions::merged_dimensions;
pub(crate) use layout::recomputed_operands::ComputeOperands;
pub(crate) use layout::scan_copies::define_copies;
pub(crate) use layout::scans_down::scans_down;
pub(crate) use layout::transposed_operands::TransposeOperands;
pub(crate) use loops::hoisted_checks::{hoist_checks, hoist_checks_of_states};
pub(crate) use loops::tapes::tapes;
pub(crate) use loops::updates::InPlace;
pub use partition::folded_rows::{FoldedRows, folded_rows};
pub use partition::index_digits::by_digits;
pub use partition::interior::{Interior, interior};
pub use partition::row_bounds::{RowBounds, row_bounds};
pub use partition::row_decisions::RowDecisions;
pub use partition::row_selections::RowSelections;
pub(crate) use rules::{Place, Rule, rewrite};
pub(crate) use sums::loop_sums::sums_of_loops;

use crate::kernel::builder::Builder;
use crate::kernel::{Program, ScalarFn};
use crate::stage::stage;
use accel_core::error::Result;
use accel_core::print;
use accel_core::repr::Scalar;

/// Specialises a scalar function to one value of an index: parameter `param` is `value`. The parameters stay as they
/// are.
pub fn specialized(program: &Program, code: &ScalarFn, param: usize, value: i64) -> ScalarFn {
    let mut b = Builder::new(code.param_types());
    let mut args = b.params();
    args[param] = b.constant(Scalar::I64(value));
    let results = b.inline(code, &args);
    let mut facts = facts::shape_analysis::Facts::new(program, false);
    let ranges: Vec<_> = args.iter().map(|_| facts.unknown()).collect();
    scalar::scalar_cleanup::clean(
        &mut facts,
        &scalar::scalar_cleanup::NoProducers,
        &b.finish(results),
        &ranges,
        scalar::scalar_cleanup::ExecutionCount::Maybe,
    )
    .code
}

/// The largest number of rounds: each can use what the round before made possible.
const ROUNDS: usize = 6;

impl Fusion<'_> {
    /// Runs all steps.
    pub fn run(self, program: &Program) -> Result<(Program, Assumptions)> {
        let step = |name: &str, before: Option<&Program>, after: Program, facts: &facts::shape_analysis::Facts| {
            let after = stage(name, after)?;
            if let (Some(check), Some(before)) = (self.check, before) {
                check(name, before, &after, &|| facts.clone().into_assumptions())?;
            }
            Ok(after.into_inner())
        };
        let mut facts = facts::shape_analysis::Facts::with(program, self.assume, self.known.clone());
        let mut program = program.clone();
        let mut state = fuse::fused_program::State::default();
        for _ in 0..ROUNDS {
            let (next, learned, after) = fuse::vertical_fusion::run(&program, facts, &state, self);
            facts = learned;
            let next = step("fuse", Some(&program), next, &facts)?;
            let arrays = next.arrays.len();
            program = step("columns", Some(&next), split(&next), &facts)?;
            let done = after.is_stable(&state) && program.arrays.len() == arrays;
            state = after;
            if done {
                let mut moved = program.clone();
                if self.does(fuse::rewrites::SORTS) {
                    moved = rewrite(&program, &mut fuse::moved_elements::MoveElements(&facts));
                    moved = step("sorts", Some(&program), moved, &facts)?;
                }
                if moved.arrays.len() == arrays {
                    let before = self.check.map(|_| program.clone());
                    scalar::selections::select(&mut program, &mut facts);
                    program = step("selections", before.as_ref(), program, &facts)?;
                    break;
                }
                print::dump_with("rules", || fuse::rewrites::SORTS.into());
                program = moved;
            }
        }
        Ok((program, facts.into_assumptions()))
    }
}
