//! The main job: ADBench's problems, computed by the examples, against independent results.

mod support;

use adbench::{BaFile, GmmFile};
use serde_json::Value;
use std::path::Path;
use support::reference::{ba_residual, central_differences, gmm_objective};
use support::{adbench_folder, data_file, numbers, relative_error};

/// The expected results of one problem kind, one JSON object per line, where they are.
fn expected(kind: &str) -> Vec<Value> {
    let Some(folder) = adbench_folder() else {
        eprintln!("no ADBench files beside this checkout: only the shipped ones are tested");
        return vec![];
    };
    let lines = std::fs::read_to_string(folder.join("expected").join(kind)).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The file that an expected result is about.
fn input(kind: &str, expected: &Value) -> std::path::PathBuf {
    let name = expected["file"].as_str().unwrap();
    adbench_folder().unwrap().join(kind).join(name)
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

/// The reference of these tests against the independent implementation.
#[test]
fn the_reference_agrees_with_the_expected_objectives() {
    for expected in expected("gmm.jsonl") {
        let found = gmm_objective(&read_gmm(&input("gmm", &expected)));
        let error = relative_error(&[found], &numbers(&expected["objective"]));
        assert!(error < 1e-12, "{}: {error:e}", expected["file"]);
    }
    for expected in expected("ba.jsonl") {
        let found = ba_residual(&read_ba(&input("ba", &expected)));
        let error = relative_error(&found, &numbers(&expected["reproj_err"]));
        assert!(error < 1e-9, "{}: {error:e}", expected["file"]);
    }
}

/// Central differences of the reference against the independent gradients.
#[test]
fn central_differences_agree_with_the_expected_gradient() {
    for expected in expected("gmm.jsonl").iter().filter(|e| e["file"] == "1k_gmm_d2_K5.txt") {
        let file = read_gmm(&input("gmm", expected));
        let found = central_differences(&file, |f| &mut f.icf, gmm_objective);
        let error = relative_error(&found, &numbers(&expected["d_icf"]));
        assert!(error < 1e-7, "{error:e}");
    }
}
