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
mod demand;
mod facts;
mod lets;
mod retuple;
mod rules;
mod scalars;
mod settled;
mod shapes;
mod stats;
mod table;
mod tokens;

use accel_core::afun::Afun;
use accel_core::ast::{Program, fresh2};
use accel_core::error::Result;
use accel_core::pass;
use accel_core::types::Arrays;
use arrays::Whole;
use settled::Settled;

pub use stats::{Rule, Stats};

/// The bound on the number of rounds. Two or three are enough in practice.
const MAX_ROUNDS: usize = 8;

/// What is allowed besides what always is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// `x + 0.0` = `x`, which changes the sign of a zero: for derivatives, where zeros are contributions of nothing.
    pub unsigned_zeros: bool,
}

/// The simplified program, of the same type, and which rules were applied.
///
/// # Errors
/// Only `Error::Internal`, if a broken tree is found (in debug builds).
pub fn simplify(p: &Program) -> Result<(Program, Stats)> {
    simplify_with(p, Options::default())
}

/// As [`simplify`], with options.
///
/// # Errors
/// As [`simplify`].
pub fn simplify_with(p: &Program, options: Options) -> Result<(Program, Stats)> {
    let (mut stats, mut settled) = (Stats::default(), Settled::default());
    let mut p = p.clone();
    while stats.rounds < MAX_ROUNDS {
        let before = stats.total();
        (p, stats, settled) = round(&p, stats, settled, options);
        stats.rounds += 1;
        if stats.total() == before {
            break;
        }
    }
    pass::finished("simplified", &p)?;
    tracing::debug!(%stats, "simplified");
    Ok((p, stats))
}

fn round(p: &Program, stats: Stats, settled: Settled, options: Options) -> (Program, Stats, Settled) {
    fresh2(|a, r| {
        let p = p.open(a, r);
        let mut whole = Whole::new(stats, settled, options);
        let body = arrays::body(&p.arg, &p.body, &mut whole);
        let body = alets::tidy_body(&p.arg, &body, &mut whole.stats);
        (Program::new(&p.arg, &body), whole.stats, whole.settled)
    })
}

/// A simplified array function; mistakes of the function are kept.
pub fn simplified<A: Arrays, R: Arrays>(f: &Afun<A, R>) -> Afun<A, R> {
    Afun::from_result(f.program().and_then(simplify).map(|(p, _)| p))
}
