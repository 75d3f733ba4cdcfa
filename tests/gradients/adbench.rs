//! Compares the results of the ADBench examples with independent results.

use crate::support::reference::{ba_residual, central_differences, gmm_objective};
use crate::support::{all_of_adbench, data_file, left_out, numbers, relative_error, run_json, shipped_adbench};
use ::adbench::{BaFile, GmmFile, ba_bytes, check_memory, generate_gmm};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// An expected result, and the input file to which it belongs.
struct Expected {
    result: Value,
    input: PathBuf,
}

/// The expected results of ADBench for `gmm` or `ba` that a folder has.
fn expected_in(folder: &Path, kind: &str) -> Vec<Expected> {
    let lines = std::fs::read_to_string(folder.join(format!("expected/{kind}.jsonl"))).unwrap();
    let of_line = |line: &str| {
        let result: Value = serde_json::from_str(line).unwrap();
        let input = folder.join(kind).join(result["file"].as_str().unwrap());
        Expected { result, input }
    };
    lines.lines().map(of_line).collect()
}

/// The expected result of a file that ships with the project.
fn shipped(kind: &str, file: &str) -> Expected {
    let found = expected_in(&shipped_adbench(), kind).into_iter().find(|e| e.result["file"] == file);
    found.unwrap_or_else(|| panic!("no expected result of {file}"))
}

/// All expected results that are here: at least those that ship with the project.
fn expected(kind: &str) -> Vec<Expected> {
    let all = expected_in(&all_of_adbench().unwrap_or_else(shipped_adbench), kind);
    assert!(all.len() >= 3, "{} expected results", all.len());
    all
}

fn read_gmm(file: &Path) -> GmmFile {
    GmmFile::read(file).unwrap_or_else(|error| panic!("{error}"))
}

fn read_ba(file: &Path) -> BaFile {
    BaFile::read(file).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn files_survive_writing_and_reading() {
    let gmm = read_gmm(&data_file("gmm_d2_k3_n50.txt"));
    assert_eq!((gmm.d, gmm.k, gmm.n), (2, 3, 50));
    let mut text = Vec::new();
    gmm.write(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(GmmFile::parse(Path::new("again"), &text).unwrap(), gmm);

    let ba = read_ba(&data_file("ba_n3_m7_p20.txt"));
    assert_eq!((ba.n, ba.m, ba.p), (3, 7, 20));
    let mut text = Vec::new();
    ba.write(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(BaFile::parse(Path::new("again"), &text).unwrap(), ba);
}

#[test]
fn one_dimension_and_blank_lines_are_read() {
    let text = "1 1 2\n\n0.5\n 0.25 \n-1\n\n3\n4\n2 5\n\n";
    let gmm = GmmFile::parse(Path::new("one"), text).unwrap();
    assert_eq!((gmm.icf, gmm.x), (vec![-1.0], vec![3.0, 4.0]));
    assert_eq!((gmm.gamma, gmm.m), (2.0, 5));
}

/// Checks the reference implementation of these tests against the independent one.
#[test]
fn the_reference_agrees_with_the_expected_objectives() {
    for Expected { result, input } in expected("gmm") {
        let found = gmm_objective(&read_gmm(&input));
        let error = relative_error(&[found], &numbers(&result["objective"]));
        assert!(error < 1e-12, "{}: {error:e}", result["file"]);
    }
    // The largest file is refused on a machine whose memory is too small for its Jacobian.
    let fits = |Expected { result, .. }: &Expected| {
        let [n, m, p] = ["n", "m", "p"].map(|count| result[count].as_u64().unwrap() as usize);
        let fit = check_memory(ba_bytes(n, m, p));
        fit.inspect_err(|(needed, there)| left_out(&format!("{}: {needed}, found {there}", result["file"]))).is_ok()
    };
    for Expected { result, input } in expected("ba").into_iter().filter(fits) {
        let found = ba_residual(&read_ba(&input));
        let error = relative_error(&found, &numbers(&result["reproj_err"]));
        assert!(error < 1e-9, "{}: {error:e}", result["file"]);
    }
}

/// Checks central differences of the reference against the independent gradients.
#[test]
fn central_differences_agree_with_the_expected_gradient() {
    let Expected { result, input } = shipped("gmm", "1k_gmm_d2_K5.txt");
    let found = central_differences(&read_gmm(&input), |f| &mut f.icf, gmm_objective);
    let error = relative_error(&found, &numbers(&result["d_icf"]));
    assert!(error < 1e-7, "{error:e}");
}

/// The fields of a report that contain the gradient, with the parameters they belong to.
type Parameter = (&'static str, fn(&mut GmmFile) -> &mut [f64]);
const GRADIENT: [Parameter; 3] =
    [("d_alphas", |file| &mut file.alphas), ("d_means", |file| &mut file.means), ("d_icf", |file| &mut file.icf)];

#[test]
fn gmm_agrees_with_central_differences_on_the_shipped_file() {
    let file = read_gmm(&data_file("gmm_d2_k3_n50.txt"));
    let report = run_json("gmm", &["--repeat", "3"]);
    assert_eq!(report["file"], "gmm_d2_k3_n50.txt");
    assert_eq!((&report["n"], &report["d"], &report["k"]), (&json!(50), &json!(2), &json!(3)));
    for time in ["objective_ms", "gradient_ms", "compile_ms"] {
        assert!(report[time].as_f64().unwrap() > 0.0, "{time}");
    }
    assert!(report["backend"].is_string());
    let error = relative_error(&numbers(&report["objective"]), &[gmm_objective(&file)]);
    assert!(error < 1e-12, "{error:e}");
    for (name, parameter) in GRADIENT {
        let expected = central_differences(&file, parameter, gmm_objective);
        let error = relative_error(&numbers(&report[name]), &expected);
        assert!(error < 1e-8, "{name}: {error:e}");
    }

    let single = run_json("gmm", &["--precision", "f32"]);
    for name in ["objective", "d_alphas", "d_means", "d_icf"] {
        let error = relative_error(&numbers(&single[name]), &numbers(&report[name]));
        assert!(error < 1e-4, "{name} in f32: {error:e}");
        assert!(error > 0.0, "{name} was not computed in f32");
    }
}

/// A problem with one dimension has no lower triangle; one with a single Gaussian is no mixture.
#[test]
fn gmm_agrees_with_central_differences_at_the_smallest_sizes() {
    let folder = crate::support::temporary_folder("small_gmm");
    for (d, k, n) in [(1, 1, 1), (1, 3, 4), (4, 1, 3), (3, 2, 1)] {
        let mut file = generate_gmm(7, d, k, n);
        (file.gamma, file.m) = (0.75, 2);
        let path = folder.join(format!("{d}_{k}_{n}.txt"));
        let mut text = Vec::new();
        file.write(&mut text).unwrap();
        std::fs::write(&path, text).unwrap();
        let report = run_json("gmm", &["--input", path.to_str().unwrap()]);
        let error = relative_error(&numbers(&report["objective"]), &[gmm_objective(&file)]);
        assert!(error < 1e-12, "{d} {k} {n}: {error:e}");
        for (name, parameter) in GRADIENT {
            let expected = central_differences(&file, parameter, gmm_objective);
            let found = numbers(&report[name]);
            // The derivative by a single alpha is exactly zero.
            if !(name == "d_alphas" && k == 1) {
                let error = relative_error(&found, &expected);
                assert!(error < 1e-7, "{d} {k} {n} {name}: {error:e}");
            }
        }
    }
}

fn check_gmm(Expected { result: expected, input }: &Expected, precision: &str, tolerance: f64) {
    let report = run_json("gmm", &["--precision", precision, "--input", input.to_str().unwrap()]);
    assert_eq!(report["file"], expected["file"]);
    for name in ["objective", "d_alphas", "d_means", "d_icf"] {
        let error = relative_error(&numbers(&report[name]), &numbers(&expected[name]));
        assert!(error < tolerance, "{} {name}: {error:e}", expected["file"]);
    }
}

#[test]
fn gmm_agrees_with_the_expected_gradient() {
    for file in ["1k_gmm_d2_K5.txt", "1k_gmm_d10_K5.txt"] {
        check_gmm(&shipped("gmm", file), "f64", 1e-9);
        check_gmm(&shipped("gmm", file), "f32", 1e-4);
    }
}

#[test]
#[ignore = "takes minutes without optimisation: scripts/test.sh runs it"]
fn gmm_agrees_with_every_expected_gradient() {
    if all_of_adbench().is_none() {
        left_out("the files of ADBench that do not ship with the project are not beside this checkout");
    }
    for expected in expected("gmm") {
        check_gmm(&expected, "f64", 1e-9);
    }
}

/// The derivatives of the reference's residual by the camera, the point or the weight: two rows of the Jacobian, one
/// after the other.
fn ba_rows(file: &BaFile, parameter: fn(&mut BaFile) -> &mut [f64]) -> [Vec<f64>; 2] {
    [0, 1].map(|row| central_differences(file, parameter, |f| ba_residual(f)[row]))
}

#[test]
fn ba_agrees_with_central_differences_on_the_shipped_file() {
    let file = read_ba(&data_file("ba_n3_m7_p20.txt"));
    let report = run_json("ba", &[]);
    assert_eq!((&report["n"], &report["m"], &report["p"]), (&json!(3), &json!(7), &json!(20)));
    assert_eq!(report["nnz"], 31 * 20);
    assert!(report["jacobian_ms"].as_f64().unwrap() > 0.0);
    let error = relative_error(&numbers(&report["reproj_err"]), &ba_residual(&file));
    assert!(error < 1e-12, "{error:e}");
    let weight_error = 1.0 - file.weight * file.weight;
    assert!((report["w_err"].as_f64().unwrap() - weight_error).abs() < 1e-15);
    assert!((report["jac_werr0"].as_f64().unwrap() + 2.0 * file.weight).abs() < 1e-15);

    let camera = ba_rows(&file, |f| &mut f.camera);
    let point = ba_rows(&file, |f| &mut f.point);
    let weight = ba_rows(&file, |f| std::slice::from_mut(&mut f.weight));
    for row in 0..2 {
        let found = numbers(&report[format!("jac_row{row}")]);
        let expected = [&camera[row][..], &point[row], &weight[row]].concat();
        let error = relative_error(&found, &expected);
        assert!(error < 1e-7, "row {row}: {error:e}");
    }
}

/// Without a rotation, the formula takes another branch.
#[test]
fn ba_without_rotation_is_finite_and_right() {
    let mut file = read_ba(&data_file("ba_n3_m7_p20.txt"));
    file.camera[..3].fill(0.0);
    let path = crate::support::temporary_folder("ba").join("no_rotation.txt");
    let mut text = Vec::new();
    file.write(&mut text).unwrap();
    std::fs::write(&path, text).unwrap();
    let report = run_json("ba", &["--input", path.to_str().unwrap()]);
    let camera = ba_rows(&file, |f| &mut f.camera);
    for row in 0..2 {
        let found = numbers(&report[format!("jac_row{row}")]);
        let error = relative_error(&found[..11], &camera[row]);
        assert!(error < 1e-5, "row {row}: {error:e}");
    }
}

fn check_ba(Expected { result: expected, input }: &Expected, precision: &str, tolerance: f64) {
    let report = run_json("ba", &["--precision", precision, "--input", input.to_str().unwrap()]);
    let (p, row) = (expected["p"].as_u64().unwrap(), |row: usize| {
        let parts = ["d_cam", "d_point", "d_w_reproj"].map(|name| numbers(&expected[name][row]));
        parts.concat()
    });
    assert_eq!(report["nnz"], 31 * p);
    let pairs = [
        ("reproj_err", numbers(&expected["reproj_err"])),
        ("w_err", numbers(&expected["w_err"])),
        ("jac_row0", row(0)),
        ("jac_row1", row(1)),
        ("jac_werr0", numbers(&expected["d_w_err"])),
    ];
    for (name, expected_numbers) in pairs {
        let error = relative_error(&numbers(&report[name]), &expected_numbers);
        assert!(error < tolerance, "{} {name}: {error:e}", expected["file"]);
    }
}

#[test]
fn ba_agrees_with_the_expected_jacobian() {
    check_ba(&shipped("ba", "test.txt"), "f64", 1e-9);
    check_ba(&shipped("ba", "test.txt"), "f32", 1e-4);
}

#[test]
#[ignore = "takes minutes without optimisation: scripts/test.sh runs it"]
fn ba_agrees_with_the_expected_jacobian_of_the_large_files() {
    for file in ["ba1_n49_m7776_p31843.txt", "ba2_n21_m11315_p36455.txt"] {
        check_ba(&shipped("ba", file), "f64", 1e-9);
    }
}
