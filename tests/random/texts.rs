//! Tests with mutated texts of kernel programs and of ADBench's files. Whatever they contain, reading them neither
//! panics nor takes long.

mod mutate;

use accel::repr::{ArrayTuple, Column, RawArray};
use accel_fusion::kernel::{Program, Verified, parse};
use adbench::{BaFile, GmmFile};
use mutate::{Random, mutated};
use std::path::Path;

/// Kernel programs with all constructs. The first one is not well formed.
const PROGRAMS: [&str; 4] = [
    include_str!("texts/statements.txt"),
    include_str!("texts/control.txt"),
    include_str!("texts/columns.txt"),
    include_str!("texts/permute.txt"),
];

/// An argument of small arrays for a program.
fn argument(p: &Program) -> ArrayTuple {
    let inputs = p.inputs.iter().map(|a| {
        let info = &p.arrays[*a];
        let n = 2usize.pow(info.rank as u32);
        let columns = info.columns.iter().map(|t| Column::zeros(*t, n).expect("a few bytes"));
        RawArray { extents: vec![2; info.rank].into(), columns: columns.collect() }
    });
    inputs.collect()
}

/// The largest number of steps of an evaluation.
const STEPS: u64 = 20_000;

/// Parses a text as a kernel program. If the verifier accepts it, the program is printed, parsed again and evaluated.
/// The last boolean says whether the evaluation ended.
fn read_kernel(text: &str) -> [bool; 3] {
    let Ok(p) = parse(text) else { return [false; 3] };
    let printed = p.to_string();
    let Ok(p) = Verified::new(p) else { return [true, false, false] };
    let again = parse(&printed).unwrap_or_else(|e| panic!("what is printed is not read: {e}\n{printed}"));
    assert_eq!(again.to_string(), printed);
    let ranks = p.inputs.iter().map(|a| p.arrays[*a].rank);
    if ranks.max().unwrap_or(0) > 6 {
        return [true, true, false];
    }
    match p.evaluate_within(&argument(&p), STEPS) {
        // A verified program has only errors of indices, extents and divisions. Reads marked `inside` may be out of
        // bounds.
        Err(accel::Error::Internal(e)) if !e.contains("inside") => panic!("{e}\n{printed}"),
        found => [true, true, !matches!(found, Ok(None))],
    }
}

fn kernel_programs(count: u64) {
    let mut counts = [0; 3];
    for seed in 0..count {
        let mut r = Random::new(seed);
        let sample = PROGRAMS[r.below(PROGRAMS.len())];
        let text = mutated(&mut r, sample.as_bytes(), &PROGRAMS.map(str::as_bytes));
        let text = String::from_utf8_lossy(&text);
        for (n, b) in counts.iter_mut().zip(read_kernel(&text)) {
            *n += u64::from(b);
        }
    }
    let [read, accepted, ended] = counts;
    println!("{count} texts: {read} are programs, {accepted} are accepted, {ended} end within {STEPS} steps");
    // Otherwise, there would be too many mistakes to test more than the first lines.
    assert!(read > count / 20 && accepted > count / 100 && ended > accepted / 2, "{counts:?}");
}

fn files(count: u64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/data");
    let read = |name: &str| std::fs::read(folder.join(name)).expect("a file of the examples");
    let (gmm, ba) = (read("gmm_d2_k3_n50.txt"), read("ba_n3_m7_p20.txt"));
    let mut good = 0;
    for seed in 0..count {
        let mut r = Random::new(seed);
        let all = [&gmm[..], &ba];
        let which = r.below(2);
        let text = mutated(&mut r, all[which], &all);
        // Files that are not text are rejected when they are opened.
        let text = String::from_utf8_lossy(&text);
        let file = Path::new("made up");
        good += if which == 0 {
            u64::from(GmmFile::parse(file, &text).is_ok_and(|f| f.x.len() == f.n * f.d && f.means.len() == f.k * f.d))
        } else {
            u64::from(BaFile::parse(file, &text).is_ok_and(|f| f.n > 0 && f.m > 0 && f.p > 0))
        };
    }
    println!("{count} files: {good} are right");
    assert!(good > 0);
}

#[test]
fn kernel_programs_with_mistakes() {
    kernel_programs(3000);
}

#[test]
fn files_with_mistakes() {
    files(2000);
}

#[test]
#[ignore = "takes minutes: scripts/test.sh runs it"]
fn many_texts_with_mistakes() {
    kernel_programs(100_000);
    files(100_000);
}

#[test]
fn the_samples_are_right() {
    for text in &PROGRAMS[1..] {
        let p = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        Verified::new(p).unwrap_or_else(|e| panic!("{e}\n{text}"));
    }
}
