//! Kernels for devices, and their launches. The texts of kernels are in the files of `tests/kernels`.

use accel_codegen::opencl::{Arg, Module, Sizes, Target, Work, emit};
use accel_fusion::kernel::{Verified, index_vec, parse};

fn target() -> Target {
    Target { units: 16, largest_group: 1024, local_memory: 32 << 10, wide: false, atomics_64: true, look_back: false }
}

fn module(text: &str, target: &Target) -> Module {
    emit(&parse(text).and_then(Verified::new).unwrap_or_else(|e| panic!("{e}\n{text}")), target)
}

/// A program of one statement on an array of rank 1 or 2.
fn program(inputs: &str, statement: &str) -> String {
    format!("program ({inputs})\nsite 0 = \"here\"\n{{\n{statement}\n}}")
}

const SUM: &str = "a1: Array0<f32> = reduce @0 sum
    extents () { -> }
    len () { x0: i64 = extent a0 0 -> x0 }
    element (x0: i64) { x1: f32 = a0[x0] @0 inside -> x1 }
    init () { x0: f32 = 0.0f32 -> x0 }
    op (x0: f32, x1: f32) { x2: f32 = x0 + x1 -> x2 }
  -> a1";

const DOUBLED: &str = "a1: Array1<f32> = loop @0
    extents () { x0: i64 = extent a0 0 -> x0 }
    body (x0: i64) { x1: f32 = a0[x0] @0 inside; x2: f32 = x1 + x1 -> x2 }
  -> a1";

/// Calls `check` with the launches of a program's only statement.
fn work(text: &str, space: &[i64], len: i64, check: impl FnOnce(&Work)) {
    let target = target();
    let module = module(text, &target);
    let n = space.first().copied().unwrap_or(len);
    let extents = index_vec![vec![n]; 4];
    check(&module.statements[&0].work(&Sizes { space, len, extents: &extents }, &target));
}

#[test]
fn numbers_that_need_64_bits_are_only_asked_for_where_there_are_some() {
    let f32s = module(&program("a0: Array1<f32>", DOUBLED), &target());
    let f64s = module(&program("a0: Array1<f64>", &DOUBLED.replace("f32", "f64")), &target());
    assert!(!f32s.needs_fp64 && !f32s.source.contains("double"));
    assert!(f64s.needs_fp64 && f64s.source.contains("cl_khr_fp64 : enable"));
}

/// Kernels check for failures only if something can fail on the device.
#[test]
fn programs_that_cannot_fail_have_no_record_of_faults() {
    for (loop_, fails) in [(DOUBLED.to_string(), false), (DOUBLED.replace(" inside", ""), true)] {
        work(&program("a0: Array1<f32>", &loop_), &[10], 1, |w| {
            assert_eq!(w.launches[0].kernel.args.contains(&Arg::Fault), fails);
        });
    }
}

#[test]
fn nothing_is_launched_for_no_elements() {
    work(&program("a0: Array1<f32>", DOUBLED), &[0], 1, |w| assert_eq!(*w, Work::default()));
}

#[test]
fn items_compute_several_elements_only_if_there_is_enough_work_for_all_items() {
    let text = program("a0: Array1<f32>", DOUBLED);
    for (n, each) in [(100_003, 1), (1 << 28, 4)] {
        work(&text, &[n], 1, |w| {
            let [l] = w.launches.as_slice() else { panic!("{w:?}") };
            assert!(l.global[0] * each >= n as usize && l.global[0] % l.group[0] == 0);
            assert_eq!(l.numbers, [n]);
        });
    }
}

#[test]
fn a_long_row_is_reduced_in_two_stages() {
    let text = program("a0: Array1<f32>", SUM);
    work(&text, &[], 1 << 24, |w| {
        let [part, join] = w.launches.as_slice() else { panic!("{w:?}") };
        let parts = part.global[0] / part.group[0];
        assert_eq!(w.scratch, [4 * parts]);
        assert_eq!((join.global[0], join.numbers[0]), (join.group[0], parts as i64));
    });
    work(&text, &[], 10, |w| assert_eq!(w.launches.len(), 1));
}

#[test]
fn all_that_a_kernel_takes_is_there() {
    work(&program("a0: Array1<f32>", SUM), &[], 1 << 20, |w| {
        for l in &w.launches {
            let there = |a: &Arg| match a {
                Arg::Number(k) => *k < l.numbers.len(),
                Arg::Scratch(k) => *k < w.scratch.len(),
                Arg::Local(k) => *k < l.local.len(),
                _ => true,
            };
            assert!(l.kernel.args.iter().all(there), "{l:?}");
            assert!(l.local.iter().sum::<usize>() <= 32 << 10);
        }
    });
}

const PREFIX_SUMS: &str = "a1: Array2<i64, f32> = scan @0 reverse
    extents () { x0: i64 = extent a0 0 -> x0 }
    len () { x0: i64 = extent a0 1 -> x0 }
    element (x0: i64, x1: i64) { x2: f32 = a0[x0, x1] @0 inside -> x1, x2 }
    init () { x0: i64 = 0; x1: f32 = 1.0f32 -> x0, x1 }
    op (x0: i64, x1: f32, x2: i64, x3: f32) { x4: i64 = x0 + x2; x5: f32 = x1 * x3 -> x4, x5 }
  -> a1";

/// If groups can wait for others, long rows are scanned in one launch, after a launch that clears what the groups
/// publish.
#[test]
fn a_long_row_is_scanned_in_one_launch_where_groups_may_wait() {
    let text = program("a0: Array2<f32>", PREFIX_SUMS);
    let target = Target { look_back: true, ..target() };
    let module = module(&text, &target);
    let extents = index_vec![vec![3, 1 << 20]; 2];
    let work = |rows: i64, len| module.statements[&0].work(&Sizes { space: &[rows], len, extents: &extents }, &target);
    let long = work(3, 1 << 20);
    let [clear, scan] = long.launches.as_slice() else { panic!("{long:?}") };
    let [part, _, parts] = scan.numbers[..] else { panic!("{scan:?}") };
    assert!(part * parts >= 1 << 20 && part * (parts - 1) < 1 << 20 && part >= 1024, "{scan:?}");
    assert_eq!(scan.global[0], 3 * parts as usize * scan.group[0]);
    assert!(scan.local.iter().sum::<usize>() <= 32 << 10, "{scan:?}");
    // The counter, and three words for the totals of parts and for the totals and heads of blocks.
    let words = 1 + 3 * 3 * (parts + 2 * ((parts + 31) / 32));
    assert_eq!((&long.scratch[..], &clear.numbers[..]), (&[8 * words as usize][..], &[words][..]));
    // If a group scans a whole row, no group waits.
    for (rows, len) in [(3, part), (4096, 1 << 18)] {
        let short = work(rows, len);
        let [write] = short.launches.as_slice() else { panic!("{short:?}") };
        assert!(
            write.kernel.args.iter().all(|a| !matches!(a, Arg::Scratch(k) if *k >= short.scratch.len())),
            "{short:?}"
        );
        assert_eq!((&write.numbers[..], &*write.kernel.name), (&[len, len, 1][..], "run_scan_0_write_group"));
    }
}

/// A matrix product uses local memory, if it is large enough.
#[test]
fn products_have_kernels_of_their_own() {
    let text = program(
        "a0: Array2<f32>, a1: Array2<f32>",
        "a2: Array2<f32> = reduce @0 sum
           extents () { x0: i64 = extent a0 0; x1: i64 = extent a1 1 -> x0, x1 }
           len () { x0: i64 = extent a0 1 -> x0 }
           element (x0: i64, x1: i64, x2: i64) {
             x3: f32 = a0[x0, x2] @0 inside; x4: f32 = a1[x2, x1] @0 inside; x5: f32 = x3 * x4 -> x5 }
           op (x0: f32, x1: f32) { x2: f32 = x0 + x1 -> x2 }
         -> a2",
    );
    work(&text, &[100, 130], 70, |w| {
        assert_eq!(w.launches.len(), 1);
        assert!(w.launches[0].kernel.name.contains("product"));
    });
    work(&text, &[2, 130], 70, |w| assert!(w.launches.iter().all(|l| !l.kernel.name.contains("product"))));
}
