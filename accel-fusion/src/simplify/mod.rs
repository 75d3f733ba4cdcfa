//! The simplifier. Expects any program; establishes an equal one, smaller and no more work, in which no rule applies any more
//! (up to a bound on the number of rounds).
//!
//! One round is two walks over the program:
//!
//! ```text
//! scalars, arrays: flatten into definitions, apply rules/, find common subexpressions, resolve shapes
//! lets, alets:     drop definitions that are not used, put those used once into their place
//! ```
//!
//! What is kept: results, bit by bit, except for the sign and payload of NaN. Errors (indices outside of arrays, division by zero) of
//! code whose value is not used disappear together with the code. No work is moved into a loop or into a function that runs
//! for every element, and nothing that may fail is moved out of a branch.

mod alets;
mod arrays;
mod block;
mod facts;
mod lets;
mod rules;
mod scalars;
mod shapes;
mod stats;
mod table;

use accel_core::ast::{Program, fresh2};
use accel_core::error::Result;
use accel_core::pass;
use arrays::Whole;

pub use stats::{Rule, Stats};

/// The bound on the number of rounds. Two or three are enough in practice.
const MAX_ROUNDS: usize = 8;

/// The simplified program, of the same type, and which rules were applied.
///
/// # Errors
/// Only `Error::Internal`, if a broken tree is found (in debug builds).
pub fn simplify(p: &Program) -> Result<(Program, Stats)> {
    let mut stats = Stats::default();
    let mut p = p.clone();
    while stats.rounds < MAX_ROUNDS {
        let before = stats.total();
        (p, stats) = round(&p, stats);
        stats.rounds += 1;
        if stats.total() == before {
            break;
        }
    }
    pass::finished("simplified", &p)?;
    tracing::debug!(%stats, "simplified");
    Ok((p, stats))
}

fn round(p: &Program, stats: Stats) -> (Program, Stats) {
    fresh2(|a, r| {
        let p = p.open(a, r);
        let mut whole = Whole::new(stats);
        let body = arrays::body(&p.arg, &p.body, &mut whole);
        let body = alets::tidy_body(&p.arg, &body, &mut whole.stats);
        (Program::new(&p.arg, &body), whole.stats)
    })
}
