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
//! | `cost` | when a producer is computed again |
//! | `merge` | loops over the same index space become one |
//! | `compact` | what is left is numbered without gaps |

mod code;
mod columns;
mod compact;
mod cost;
mod evaluator;
mod facts;
mod merge;
mod pass;
mod poly;
mod scatter;

pub(crate) use cost::work;
pub use evaluator::OptimizedEvaluator;
pub use facts::Assumptions;

use crate::kernel::builder::Builder;
use crate::kernel::{Code, Op, Program};
use accel_core::repr::Scalar;
use compact::compact;
use std::collections::HashMap;

/// An optimised program, and what its inputs must be like.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The program.
    pub program: Program,
    /// Where these do not hold the program must not be run: NOTE [Assumptions on extents].
    pub assumptions: Assumptions,
}

impl Optimized {
    /// Whether the assumptions hold for inputs of these extents of the program that was optimised.
    pub fn fits<'a>(&self, original: &'a Program, inputs: impl IntoIterator<Item = &'a [usize]>) -> bool {
        if self.assumptions.is_empty() {
            return true;
        }
        let literals = original.body.stmts.iter().filter_map(|s| match s.op {
            Op::Literal { to, literal } => Some((to, &*original.literals[literal].extents)),
            _ => None,
        });
        let given: HashMap<_, _> = original.inputs.iter().copied().zip(inputs).chain(literals).collect();
        self.assumptions.hold(|a, dim| given.get(&a)?.get(dim).copied())
    }
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
    Optimized { program: compact(&merge::merge(&program)), assumptions: facts.into_assumptions() }
}
