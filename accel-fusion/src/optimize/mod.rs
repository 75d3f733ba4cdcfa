//! Optimisation of kernel programs: producers are fused into what uses them, also those that are used several times; scatters
//! whose target is known become sums and gathers; checks and branches that extents decide go away.
//!
//! | file | what it does |
//! | --- | --- |
//! | `poly`, `facts` | symbolic extents and indices, and what follows from them |
//! | `code` | cleans scalar code |
//! | `numbers` | which registers hold the same value |
//! | `columns` | arrays of tuples become arrays of their columns |
//! | `pass` | goes through the statements |
//! | `scatter` | the index-function analysis of `permute` |
//! | `exchange` | sums of products that are summed before they are multiplied |
//! | `cost` | when a producer is computed again |
//! | `merge` | loops over the same index space become one |
//! | `operands` | products on GPUs that compute their operands |
//! | `compact` | what is left is numbered without gaps |

mod code;
mod columns;
mod compact;
mod cost;
mod exchange;
mod facts;
mod merge;
mod numbers;
mod operands;
mod pass;
mod poly;
mod scatter;

pub(crate) use columns::split;
pub use compact::alone;
pub(crate) use compact::compact;
pub(crate) use cost::work;
pub use facts::Assumptions;
pub(crate) use merge::merge;
pub(crate) use operands::compute_operands;

use crate::kernel::builder::Builder;
use crate::kernel::{Code, Program};
use crate::stage::stage;
use accel_core::error::Result;
use accel_core::repr::Scalar;

/// The code for one value of an index: parameter `param` is `value`. The parameters stay as they are.
pub fn specialized(program: &Program, code: &Code, param: usize, value: i64) -> Code {
    let mut b = Builder::new(&code.types[..code.params]);
    let mut args = b.params();
    args[param] = b.constant(Scalar::I64(value));
    let results = b.inline(code, &args);
    let mut facts = facts::Facts::new(program, false);
    let ranges: Vec<_> = args.iter().map(|_| facts.unknown()).collect();
    code::clean(&mut facts, &code::Nothing, &b.finish(results), &ranges, code::Times::Maybe).code
}

/// Rounds: each may find what the one before made possible.
const ROUNDS: usize = 6;

/// Producers become part of what uses them, scatters become sums and gathers, and what extents decide goes away. With `assume`, the extents
/// of the arguments are assumed to be what makes the program simplest; the assumptions are about arrays as this program names them.
pub(crate) fn fuse(program: &Program, assume: bool) -> Result<(Program, Assumptions)> {
    let mut facts = facts::Facts::new(program, assume);
    let mut program = program.clone();
    let mut state = pass::State::default();
    for _ in 0..ROUNDS {
        let (next, learned, after) = pass::run(&program, facts, &state);
        let next = stage("fuse", next)?;
        let arrays = next.arrays.len();
        program = stage("columns", split(&next))?.into_inner();
        facts = learned;
        let done = after.is_stable(&state) && program.arrays.len() == arrays;
        state = after;
        if done {
            break;
        }
    }
    Ok((program, facts.into_assumptions()))
}
