//! The simplifier. Accepts any program and returns an equal one that is smaller and does no more work. No rule applies
//! to it any more (up to a bound on the number of rounds).
//!
//! One round is two walks over the program:
//!
//! ```text
//! scalars, arrays: flatten into definitions, apply rules/, find common subexpressions, resolve shapes
//! inline_*:       drop unused definitions, inline those that are used once
//! ```
//!
//! Results stay the same, bit by bit, except for the sign and payload of NaN. If the value of an expression is not
//! used, the expression disappears together with its errors (indices out of bounds, division by zero). No work is moved
//! into a loop or into a function that runs for every element, and nothing that can fail is moved out of a branch.

mod arrays;
mod block;
mod checks;
mod definitions;
mod fixpoint_cache;
mod inline_arrays;
mod inline_scalars;
mod list_components;
mod operand_facts;
mod options;
mod projections;
mod rules;
mod scalars;
mod shapes;
mod stats;
mod used_components;
mod value_numbers;

use accel_core::afun::Afun;
use accel_core::ast::{Program, fresh2};
use accel_core::error::Result;
use accel_core::pass;
use accel_core::types::Arrays;
use arrays::State;
use fixpoint_cache::FixpointCache;

pub(crate) use checks::is_only_checked;
pub use options::Options;
pub use stats::{Rule, Stats};

/// The largest number of rounds. Two or three are enough in practice.
const MAX_ROUNDS: usize = 8;

/// Simplifies a program. Also returns which rules were applied.
///
/// # Errors
/// `Error::Internal` if an invariant of the tree is broken (found in debug builds only).
pub fn simplify(p: &Program) -> Result<(Program, Stats)> {
    simplify_with(p, Options::default())
}

/// As [`simplify`], with options.
///
/// # Errors
/// As [`simplify`].
pub fn simplify_with(p: &Program, options: Options) -> Result<(Program, Stats)> {
    let (mut stats, mut cache) = (Stats::default(), FixpointCache::default());
    let mut p = p.clone();
    while stats.rounds < MAX_ROUNDS {
        let before = stats.total();
        (p, stats, cache) = round(&p, stats, cache, options);
        stats.rounds += 1;
        if stats.total() == before {
            break;
        }
    }
    pass::finished("simplified", &p)?;
    tracing::debug!(%stats, "simplified");
    Ok((p, stats))
}

fn round(p: &Program, stats: Stats, cache: FixpointCache, options: Options) -> (Program, Stats, FixpointCache) {
    fresh2(|a, r| {
        let p = p.open(a, r);
        let mut whole = State::new(stats, cache, options);
        let body = arrays::body(&p.arg, &p.body, &mut whole);
        let body = inline_arrays::inline_body(&p.arg, &body, &mut whole.stats);
        (Program::new(&p.arg, &body), whole.stats, whole.cache)
    })
}

/// Simplifies an array function. Errors in the function stay in it.
pub fn simplified<A: Arrays, R: Arrays>(f: &Afun<A, R>) -> Afun<A, R> {
    Afun::from_result(f.program().and_then(simplify).map(|(p, _)| p))
}
