//! Optimisation of kernel programs: producers are fused into what uses them, also those that are used several times; scatters
//! whose target is known become sums and gathers; checks and branches that extents decide go away.
//!
//! | file | what it does |
//! | --- | --- |
//! | `poly`, `facts` | symbolic extents and indices, and what follows from them |
//! | `code` | cleans scalar code |
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
mod evaluator;
mod exchange;
mod facts;
mod merge;
mod operands;
mod pass;
mod poly;
mod scatter;

pub(crate) use cost::work;
pub use evaluator::OptimizedEvaluator;
pub use facts::Assumptions;
pub use operands::compute_operands;

use crate::kernel::builder::Builder;
use crate::kernel::{ArrayId, Code, Op, Program};
use accel_core::repr::{RawExtents, Scalar};
use compact::compact;
use std::collections::BTreeMap;

/// An optimised program, and what its inputs must be like.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The program.
    pub program: Program,
    /// Where these do not hold the program must not be run: NOTE [Assumptions on extents].
    pub assumptions: Assumptions,
    /// The arrays that they are about, as the program that was optimised names them.
    given: BTreeMap<ArrayId, Given>,
}

/// Extents that are not computed.
#[derive(Clone, Debug)]
enum Given {
    /// Of an input, by its number.
    Input(usize),
    /// Of a literal.
    Literal(RawExtents),
}

impl Optimized {
    /// Whether the assumptions hold for inputs of these extents, each by its number.
    pub fn fits<'a>(&self, input: impl Fn(usize) -> Option<&'a [usize]>) -> bool {
        self.assumptions.hold(|a, dim| match self.given.get(&a)? {
            Given::Input(k) => input(*k)?.get(dim).copied(),
            Given::Literal(extents) => extents.get(dim).copied(),
        })
    }
}

/// Inputs and literals.
fn given(program: &Program) -> BTreeMap<ArrayId, Given> {
    let inputs = program.inputs.iter().enumerate().map(|(k, a)| (*a, Given::Input(k)));
    let literals = program.body.stmts.iter().filter_map(|s| match s.op {
        Op::Literal { to, literal } => Some((to, Given::Literal(program.literals[literal].extents.clone()))),
        _ => None,
    });
    inputs.chain(literals).collect()
}

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

/// An equivalent program that does less. It may fail less often: what is not needed for the results is not computed. With `assume`, the
/// extents of the arguments are assumed to be what makes it simplest.
pub fn optimize(program: &Program, assume: bool) -> Optimized {
    let given = given(program);
    let mut facts = facts::Facts::new(program, assume);
    let mut program = columns::split(program);
    let mut state = pass::State::default();
    for _ in 0..ROUNDS {
        let (next, learned, after) = pass::run(&program, facts, &state);
        let arrays = next.arrays.len();
        program = columns::split(&next);
        facts = learned;
        let done = after.is_stable(&state) && program.arrays.len() == arrays;
        state = after;
        if done {
            break;
        }
    }
    Optimized { program: compact(&merge::merge(&program)), assumptions: facts.into_assumptions(), given }
}
