//! Optimises kernel programs: fuses producers into their consumers, also producers with several consumers; turns
//! scatters with known targets into sums and gathers; removes checks and branches that extents decide.
//!
//! | file | what it does |
//! | --- | --- |
//! | `poly`, `shape_analysis` | symbolic extents and indices, and proofs about them |
//! | `scalar_cleanup` | scalar clean-up: constant folding, value numbering, dead code elimination |
//! | `value_numbers` | value numbering: finds registers that hold the same value |
//! | `accumulators` | drops unused sums, and sums to which nothing is added |
//! | `split_columns` | splits arrays of tuples into arrays of their columns |
//! | `vertical_fusion` | the pass over the statements that fuses producers into consumers |
//! | `fused_program` | the program that it constructs, and facts about its arrays |
//! | `scatter` | the index-function analysis of `permute` |
//! | `scattered_products` | adds the products of sums where they belong |
//! | `permute_sums` | adds the elements of permutations where they belong |
//! | `product_sums` | sums of sums of products as one reduction |
//! | `sum_interchange` | sums factors before it multiplies them |
//! | `loop_sums` | adds the sums of loops where they belong |
//! | `moved_elements` | lets sorts move the elements that are read through their positions |
//! | `reshapes` | sums of all elements, and elements that a reshape moves |
//! | `rewrites` | the rewrites of fusion by name, and its options |
//! | `recomputation` | when a producer is recomputed |
//! | `hoisted_checks` | checks indices that are sums once for all elements |
//! | `horizontal_fusion` | merges loops over the same index space |
//! | `common_statements` | computes equal arrays once |
//! | `edges` | decisions that change at the edges of an index space |
//! | `few_steps` | loops of a known number of steps |
//! | `folded_rows` | vectors of elements of several short rows |
//! | `index_digits` | functions of the quotients and remainders of an index |
//! | `interior` | elements that need no special rules for edges |
//! | `row_decisions` | elements of rows that satisfy all conditions |
//! | `selections` | cheap conditionals that compute both branches |
//! | `cheap_branches` | when both branches can be computed |
//! | `recomputed_operands` | lets products on GPUs compute their operands |
//! | `strided_product` | sums of products whose indices are sums |
//! | `transposed_operands` | gives sums transposed copies of operands |
//! | `scan_copies` | lets scans define the arrays to which loops copy their results |
//! | `scans_down` | lets scans of columns write their results where the columns are |
//! | `tapes` | replaces lists of states by tapes |
//! | `updates` | lets updates of arrays in loops happen in place |
//! | `compact` | numbers the remaining arrays without gaps |

mod accumulators;
mod cheap_branches;
mod common_statements;
mod compact;
mod edges;
mod few_steps;
mod folded_rows;
mod fused_program;
mod hoisted_checks;
mod horizontal_fusion;
mod index_digits;
mod interior;
mod loop_rows;
mod loop_sums;
mod moved_elements;
mod permute_sums;
mod poly;
mod product_sums;
mod recomputation;
mod recomputed_operands;
mod reshapes;
mod rewrites;
mod row_bounds;
mod row_decisions;
mod row_selections;
mod scalar_cleanup;
mod scan_copies;
mod scans_down;
mod scatter;
mod scattered_products;
mod selections;
mod shape_analysis;
mod split_columns;
mod stored_assumptions;
mod strided_product;
mod sum_interchange;
mod tapes;
mod transposed_operands;
mod updates;
mod value_numbers;
mod vertical_fusion;

pub(crate) use common_statements::share;
pub use compact::{Isolated, isolated};
pub(crate) use compact::{Numbers, compact};
pub use folded_rows::{FoldedRows, folded_rows};
pub(crate) use hoisted_checks::{hoist_checks, hoist_checks_of_states};
pub(crate) use horizontal_fusion::merge;
pub use index_digits::by_digits;
pub use interior::{Interior, interior};
pub(crate) use loop_sums::sums_of_loops;
pub(crate) use recomputed_operands::compute_operands;
pub(crate) use rewrites::{Fusion, REWRITES, StepCheck};
pub use row_bounds::{RowBounds, row_bounds};
pub use row_decisions::RowDecisions;
pub use row_selections::RowSelections;
pub(crate) use scan_copies::define_copies;
pub(crate) use scans_down::scans_down;
pub use shape_analysis::Assumptions;
pub(crate) use split_columns::split;
pub use strided_product::{Digit, Factor, StridedProduct, Sum};
pub(crate) use tapes::tapes;
pub(crate) use transposed_operands::transpose_operands;
pub(crate) use updates::in_place;

use crate::kernel::builder::Builder;
use crate::kernel::{Program, ScalarFn};
use crate::stage::stage;
use accel_core::error::Result;
use accel_core::repr::Scalar;

/// Specialises a scalar function to one value of an index: parameter `param` is `value`. The parameters stay as they
/// are.
pub fn specialized(program: &Program, code: &ScalarFn, param: usize, value: i64) -> ScalarFn {
    let mut b = Builder::new(code.param_types());
    let mut args = b.params();
    args[param] = b.constant(Scalar::I64(value));
    let results = b.inline(code, &args);
    let mut facts = shape_analysis::Facts::new(program, false);
    let ranges: Vec<_> = args.iter().map(|_| facts.unknown()).collect();
    scalar_cleanup::clean(
        &mut facts,
        &scalar_cleanup::NoProducers,
        &b.finish(results),
        &ranges,
        scalar_cleanup::ExecutionCount::Maybe,
    )
    .code
}

/// The largest number of rounds: each can use what the round before made possible.
const ROUNDS: usize = 6;

impl Fusion<'_> {
    /// Runs all steps.
    pub fn run(self, program: &Program) -> Result<(Program, Assumptions)> {
        let step = |name: &str, before: Option<&Program>, after: Program, facts: &shape_analysis::Facts| {
            let after = stage(name, after)?;
            if let (Some(check), Some(before)) = (self.check, before) {
                check(name, before, &after, &|| facts.clone().into_assumptions())?;
            }
            Ok(after.into_inner())
        };
        let mut facts = shape_analysis::Facts::new(program, self.assume);
        let mut program = program.clone();
        let mut state = fused_program::State::default();
        for _ in 0..ROUNDS {
            let (next, learned, after) = vertical_fusion::run(&program, facts, &state, self);
            facts = learned;
            let next = step("fuse", Some(&program), next, &facts)?;
            let arrays = next.arrays.len();
            program = step("columns", Some(&next), split(&next), &facts)?;
            let done = after.is_stable(&state) && program.arrays.len() == arrays;
            state = after;
            if done {
                let mut moved = program.clone();
                if self.does(rewrites::MOVED_ELEMENTS) {
                    moved = step("sorts", Some(&program), moved_elements::move_elements(&program, &facts), &facts)?;
                }
                if moved.arrays.len() == arrays {
                    let before = self.check.map(|_| program.clone());
                    selections::select(&mut program, &mut facts);
                    program = step("selections", before.as_ref(), program, &facts)?;
                    break;
                }
                program = moved;
            }
        }
        Ok((program, facts.into_assumptions()))
    }
}
