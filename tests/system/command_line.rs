//! Tests of the examples as separate processes: exit codes, messages and JSON.

use crate::support::bad_files::bad_files;
use crate::support::{example, run_example, run_json};
use std::process::Command;

/// One wrong file for each kind of mistake.
#[test]
fn a_bad_file_is_an_error_with_file_and_line() {
    let folder = crate::support::temporary_folder("bad_files");
    for (number, bad) in bad_files().into_iter().enumerate() {
        let file = folder.join(format!("{number}_{}.txt", bad.example));
        std::fs::write(&file, &bad.bytes).unwrap();
        let output = run_example(bad.example, &["--json", "--input", file.to_str().unwrap()]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{}: {stderr}", bad.name);
        assert!(output.stdout.is_empty(), "{}", bad.name);
        let place = format!("{}:{}: expected {}", file.display(), bad.line, bad.expected);
        assert!(stderr.starts_with(&place), "{}: {stderr}\nnot: {place}", bad.name);
        assert!(stderr.contains(", found "), "{}: {stderr}", bad.name);
        assert!(!stderr.contains("panicked"), "{}: {stderr}", bad.name);
        assert_eq!(stderr.lines().count(), 1, "{}: {stderr}", bad.name);
    }
}

#[test]
fn a_missing_file_or_a_folder_is_an_error() {
    for name in ["gmm", "ba"] {
        for file in ["no/such/file.txt", env!("CARGO_MANIFEST_DIR")] {
            let output = run_example(name, &["--input", file]);
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{stderr}");
            assert!(stderr.starts_with(file), "{stderr}");
            assert!(stderr.contains("expected a readable file"), "{stderr}");
        }
    }
}

#[test]
fn a_bad_option_is_an_error() {
    let cases: [(&[&str], &str); 8] = [
        (&["--nonsense"], "--nonsense"),
        (&["stray"], "stray"),
        (&["--input"], "--input"),
        (&["--precision", "f16"], "expected f32 or f64"),
        (&["--repeat", "0"], "expected a whole number from 1"),
        (&["--repeat", "many"], "expected a whole number from 1"),
        (&["--json=yes"], "--json"),
        (&["-x"], "-x"),
    ];
    for name in ["gmm", "ba"] {
        for (args, message) in cases {
            let output = run_example(name, args);
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
            assert!(stderr.contains(message), "{args:?}: {stderr}");
            assert!(!stderr.contains("panicked"), "{stderr}");
        }
    }
}

#[test]
fn an_unknown_backend_is_an_error() {
    for name in ["gmm", "ba"] {
        let by_option = run_example(name, &["--backend", "abacus"]);
        let by_variable = Command::new(example(name)).env("ACCEL_BACKEND", "abacus").output().unwrap();
        for output in [by_option, by_variable] {
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{stderr}");
            assert!(stderr.contains("abacus") && stderr.contains("interp"), "{stderr}");
        }
        let report = run_json(name, &["--backend", "interp", "--memory"]);
        assert_eq!(report["backend"], "interp");
        assert!(report["peak_bytes"].as_u64().unwrap() > 1000);
    }
}

#[test]
fn people_get_a_table() {
    for (name, line) in [("gmm", "objective  -"), ("ba", "reprojection error  [")] {
        let output = run_example(name, &["--repeat", "2", "--memory"]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success());
        assert!(text.contains(line) && text.contains("memory"), "{text}");
    }
    let output = run_example("quickstart", &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(text.contains("32") && text.contains("[4.0, 5.0, 6.0]") && text.contains("[1.0, 2.0, 3.0]"), "{text}");
}

/// The Jacobian by `sparse_jacobian` is the one whose entries are written out: a row has entries for 10 of the 11 numbers of a camera (the other
/// component of the principal point does not count), 3 of a point, and a weight.
#[test]
fn both_ways_to_a_sparse_jacobian() {
    let report = run_json("ba", &["--sparse"]);
    let sparse = &report["sparse"];
    assert_eq!(sparse["directions"], 14, "{report}");
    assert!(sparse["difference"].as_f64().unwrap() < 1e-11, "{report}");
    let output = run_example("gmm", &["--sparse"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("--sparse"), "{stderr}");
}

#[test]
fn help_lists_the_options() {
    for name in ["gmm", "ba"] {
        let output = run_example(name, &["--help"]);
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        for option in ["--input", "--backend", "--precision", "--repeat", "--memory", "--json"] {
            assert!(text.contains(option), "{text}");
        }
    }
}

#[test]
fn the_generator_makes_the_files_that_ship() {
    let cases = [("gmm 2 3 50 1", "gmm_d2_k3_n50.txt"), ("ba 3 7 20 1", "ba_n3_m7_p20.txt")];
    for (args, file) in cases {
        let args: Vec<_> = args.split(' ').collect();
        let output = run_example("generate_adbench", &args);
        let path = crate::support::data_file(file);
        assert_eq!(output.stdout, std::fs::read(path).unwrap(), "{file}");
    }
    for args in [&[][..], &["gmm"], &["gmm", "0", "1", "1"], &["sum", "1", "1", "1"]] {
        let output = run_example("generate_adbench", args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
    assert!(example("generate_adbench").is_file());
}

/// A scene has its observations, cameras and points; after an adjustment, only the noise of half a pixel is left.
#[test]
fn a_scene_is_adjusted() {
    let numbers = ["5", "40", "160"];
    let output = run_example("generate_adbench", &["scene", numbers[0], numbers[1], numbers[2]]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().next(), Some("5 40 160"));
    let columns: Vec<usize> = text.lines().skip(1).map(|line| line.split(' ').count()).collect();
    assert_eq!(columns, [vec![4; 160], vec![11; 5], vec![3; 40]].concat());

    let output = run_example("adjust", &[numbers[0], numbers[1], numbers[2], "20"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let half: f64 =
        text.split("half of squares ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
    // 320 numbers with 175 unknowns, of which 7 change nothing.
    let expected = 0.5 * 0.25 * f64::from(320 - (175 - 7));
    assert!((half / expected - 1.0).abs() < 0.5, "{text}");
    assert_eq!(run_example("adjust", &["1", "2", "3"]).status.code(), Some(2));
}
