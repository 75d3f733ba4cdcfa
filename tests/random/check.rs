//! Runs a property on many small random programs and shrinks the first one for which it does not hold.

use crate::budget::{assert_share, seeds};
use crate::smallest::{guarded, smallest};
use crate::wide::program::Program;
use crate::wide::rust::rust;
use crate::wide::shrink;
use crate::wide::small::{Features, small};

/// The outcome of a property for one program.
pub enum Verdict {
    Holds,
    /// The program fails, so there are no results to compare.
    Fails,
    /// The property does not apply to the program.
    Skipped,
}

/// Checks a property for 200 programs with these features, or as many as the environment says (`random/budget.rs`). No program may be
/// skipped.
pub fn check(features: Features, property: impl Fn(&Program) -> Result<Verdict, String>) {
    check_some(200, features, property);
}

/// The same, with another number of programs.
pub fn check_some(cases: u64, features: Features, property: impl Fn(&Program) -> Result<Verdict, String>) {
    check_most(cases, 0.0, features, property);
}

/// The largest share of programs that may fail: of those whose reads are not checked, few do.
const FAILING: f64 = 0.05;

/// The same, where at most this share of the programs may be skipped.
pub fn check_most(cases: u64, most: f64, features: Features, property: impl Fn(&Program) -> Result<Verdict, String>) {
    let (mut checked, mut skipped, mut failing) = (0, 0, 0);
    for seed in seeds(cases) {
        checked += 1;
        let p = small(seed, features);
        match judge(&p, &property) {
            Ok(Verdict::Holds) => {}
            Ok(Verdict::Fails) => failing += 1,
            Ok(Verdict::Skipped) => skipped += 1,
            Err(message) => {
                let fails = |p: &Program| judge(p, &property).err();
                let (p, message) = smallest(p, message, 3000, shrink::candidates, fails);
                let text = rust(&p).unwrap_or_else(|| format!("{p:?}"));
                panic!("with ACCEL_RANDOM_SEED={seed}: {message}\n{text}");
            }
        }
    }
    assert_share("were skipped", skipped, checked, most);
    assert_share("fail", failing, checked, FAILING);
}

/// A panic counts as a failure.
fn judge(p: &Program, property: &impl Fn(&Program) -> Result<Verdict, String>) -> Result<Verdict, String> {
    guarded(|| property(p)).flatten()
}
