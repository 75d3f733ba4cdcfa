//! Runs many random programs, and shrinks those that fail.

use super::generate::program;
use super::oracle::{Oracle, Outcome, Verdict, expected, judge, judge_one_of};
use super::program::Program;
use super::shrink;
use crate::smallest::smallest;
use accel::repr::RawArray;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A failure.
pub struct Failure {
    pub oracle: Oracle,
    pub message: String,
    pub program: Program,
}

/// The number of programs of each kind.
#[derive(Default, Debug)]
pub struct Counts(pub BTreeMap<(String, Verdict), usize>);

impl Counts {
    fn add(&mut self, oracle: Oracle, verdict: Verdict) {
        *self.0.entry((format!("{oracle:?}"), verdict)).or_default() += 1;
    }

    /// Nearly all of `n` programs must have the same bits, so that little is excused. (Of 400 programs, some 10 fail as the
    /// interpreter does, one is near, one has an error that the results do not need, and none is unstable.)
    fn assert_nearly_all_are_same(&self, n: usize) {
        for ((oracle, verdict), count) in &self.0 {
            let most = match verdict {
                Verdict::Same => n,
                Verdict::Fails => n / 20 + 2,
                Verdict::Near | Verdict::Dropped => n / 100 + 1,
                Verdict::Unstable => n / 400 + 1,
            };
            assert!(*count <= most, "{oracle}: {count} of {n} are {verdict:?}");
        }
    }
}

/// Runs the programs of some seeds on evaluators one by one, and on other backends in groups of `group`, each as one
/// program, because compiling takes so long. Programs that fail are in other groups than programs that do not.
pub fn compare(
    seeds: Range<u64>,
    evaluators: &[Oracle],
    compilers: &[Oracle],
    group: usize,
    begin: &mut dyn FnMut(u64),
    report: &mut dyn FnMut(u64, Failure),
) -> Counts {
    let mut counts = Counts::default();
    let (mut right, mut failing) = (vec![], vec![]);
    let last = seeds.end;
    for seed in seeds {
        begin(seed);
        let p = program(seed);
        let outcome = expected(&p);
        for oracle in evaluators {
            match judge(*oracle, &p, &outcome) {
                Ok(verdict) => counts.add(*oracle, verdict),
                Err(message) => report(seed, Failure { oracle: *oracle, message, program: p.clone() }),
            }
        }
        let waiting = if outcome.is_err() { &mut failing } else { &mut right };
        waiting.push((p, outcome));
        for waiting in [&mut right, &mut failing] {
            if waiting.len() >= group || seed + 1 == last && !waiting.is_empty() {
                compilers.iter().for_each(|oracle| together(seed, *oracle, waiting, &mut counts, report));
                waiting.clear();
            }
        }
    }
    counts
}

/// Runs programs as one; either all of them fail or none does. If something is wrong, runs them one by one.
fn together(
    seed: u64,
    oracle: Oracle,
    programs: &[(Program, Outcome)],
    counts: &mut Counts,
    report: &mut dyn FnMut(u64, Failure),
) {
    let (programs, outcomes): (Vec<Program>, Vec<Outcome>) = programs.iter().cloned().unzip();
    let results: Result<Vec<Vec<RawArray>>, _> = outcomes.iter().cloned().collect();
    let verdicts = match results {
        Ok(results) => {
            let whole = Program::merged(&programs);
            match judge(oracle, &whole, &Ok(results.concat())) {
                Ok(Verdict::Same) => Ok(vec![Verdict::Same; programs.len()]),
                // One of them excuses no other.
                Ok(_) => {
                    let each = programs.iter().zip(&outcomes);
                    each.map(|(p, outcome)| judge(oracle, p, outcome).map_err(|message| (p.clone(), message))).collect()
                }
                Err(message) => Err((whole, message)),
            }
        }
        Err(_) => {
            judge_one_of(oracle, &programs, &outcomes).map_err(|(k, message)| (Program::one_of(&programs, k), message))
        }
    };
    match verdicts {
        Ok(verdicts) => verdicts.into_iter().for_each(|verdict| counts.add(oracle, verdict)),
        Err((whole, message)) => {
            let mut each = programs.into_iter().zip(&outcomes);
            let alone = each.find_map(|(p, outcome)| Some((judge(oracle, &p, outcome).err()?, p)));
            let (message, program) = alone.unwrap_or((message, whole));
            report(seed, Failure { oracle, message, program });
        }
    }
}

/// Compares, and panics with the first program that is wrong, or if too few could be compared.
pub fn check(seeds: Range<u64>, evaluators: &[Oracle], compilers: &[Oracle], group: usize) {
    let n = seeds.clone().count();
    let counts = compare(seeds, evaluators, compilers, group, &mut |_| {}, &mut |seed, failure| {
        let (p, message) = shrunk(failure);
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("random-{seed}.json"));
        write(&file, &p);
        panic!("seed {seed}: {message}\nThe program is in {}; tests/found/ keeps such files.", file.display());
    });
    counts.assert_nearly_all_are_same(n);
}

/// Writes a program to a file, which is replayed if it is in `tests/found/`, and a Rust program beside it.
pub fn write(file: &Path, p: &Program) {
    let text = serde_json::to_string_pretty(p).expect("a program as text");
    std::fs::write(file, text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    if let Some(text) = super::rust::rust(p) {
        std::fs::write(file.with_extension("rs"), text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    }
}

/// The smallest failing program that single shrinking steps lead to.
pub fn shrunk(failure: Failure) -> (Program, String) {
    let Failure { oracle, message, program } = failure;
    // Compiling takes a while, so fewer steps are tried.
    let most = if matches!(oracle, Oracle::Native | Oracle::OpenCl) { 600 } else { 3000 };
    let fails = |p: &Program| judge(oracle, p, &expected(p)).err();
    let (p, message) = smallest(program, message, most, shrink::candidates, fails);
    (p, format!("{oracle:?}: {message}"))
}
