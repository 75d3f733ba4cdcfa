//! Tests of kernels as files: each `*.kernel` file of this folder contains a kernel program, directives, and the
//! expected outputs. See "Tests of kernels as files" in `CONTRIBUTING.md`; [`file`] has the grammar.
//!
//! A file has up to four tests: `NAME::text` compares the expected outputs, which `ACCEL_UPDATE=1` rewrites;
//! `NAME::native`, `NAME::vectorized` (the native backend without a compiler) and `NAME::opencl` compare a backend with the
//! evaluator of kernel programs. The files are read when
//! the tests run, so a change to a file needs no compilation.

mod arguments;
mod file;
mod outputs;
mod run;

use file::TestFile;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The folder, relative to the package's folder, in which `cargo test` runs its tests.
const FOLDER: &str = "kernels";

/// All kernel files in a folder and its subfolders.
fn files(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "kernel") {
            found.push(path);
        }
    }
    Ok(())
}

/// The tests of a file; a test that fails, if the file has a mistake.
fn tests(path: &Path) -> Vec<Trial> {
    let relative = path.strip_prefix(FOLDER).unwrap_or(path).with_extension("");
    let name = |kind: &str| format!("{}::{kind}", relative.display());
    let file = match TestFile::read(path) {
        Ok(file) => Arc::new(file),
        Err(e) => return vec![Trial::test(name("text"), || Err(e.into()))],
    };
    let test = |kind: &str, run: fn(&TestFile) -> Result<Completion, Failed>| {
        let file = file.clone();
        Trial::ignorable_test(name(kind), move || run(&file))
    };
    let text = test("text", |file| outputs::check(file).map(|()| Completion::Completed));
    let native = file.runs_native().then(|| test("native", run::on_native));
    let vectorized = file.runs_native().then(|| test("vectorized", run::on_vectorized));
    let opencl = file.runs_opencl().then(|| test("opencl", run::on_opencl));
    [Some(text), native, vectorized, opencl].into_iter().flatten().collect()
}

/// Files with mistakes, and the expected messages.
fn mistakes() -> Result<(), Failed> {
    const PROGRAM: &str = "program (a0: Array1<f64>)\n{ -> a0 }";
    let wrong = [
        ("//@ run", "x.kernel:2:", "expected `program`"),
        (&format!("//@ runs\n{PROGRAM}"), "x.kernel:1:", "there is no directive `runs`"),
        (&format!(" //@run\n{PROGRAM}"), "x.kernel:1:", "begins with `//@` and a space"),
        (&format!("// Something.\n{PROGRAM}"), "x.kernel:1:", "no directive"),
        (&format!("\n//@ run [3], [4]\n{PROGRAM}"), "x.kernel:2:", "2 arguments for a program of 1"),
        (&format!("//@ run [3, 4]\n{PROGRAM}"), "x.kernel:1:", "2 extents, and the program takes 1"),
        (&format!("//@ run [2] f64 {{ 1.5 }}\n{PROGRAM}"), "x.kernel:1:", "other numbers of elements"),
        (&format!("//@ run 3\n{PROGRAM}"), "x.kernel:1:", "expected the extents of an argument"),
        (&format!("//@ run\n//@ on opencl fpga\n{PROGRAM}"), "x.kernel:2:", "found `fpga`"),
        (&format!("//@ emit-opencl units=many\n{PROGRAM}"), "x.kernel:1:", "found `units=many`"),
        (&format!("//@ on a machine\n//@ run\n{PROGRAM}"), "x.kernel:1:", "found `a machine`"),
        (&format!("//@ each A B: 1 2 3\n//@ run\n{PROGRAM}"), "x.kernel:1:", "3 words for 2 names"),
        (&format!("//@ each A: \"1\n//@ run\n{PROGRAM}"), "x.kernel:1:", "a quote has no end"),
        (&format!("//@ run\n{}", PROGRAM.replace("f64", "$T")), "x.kernel:2:", "no `each` has the name `$T`"),
        (&format!("//@ run\n\n{}", PROGRAM.replace("-> a0", "-> b0")), "x.kernel:4:", "`b0`"),
    ];
    for (text, place, message) in wrong {
        let found = TestFile::parse(Path::new("x.kernel"), text).map(|_| ()).map_err(|e| e.to_string());
        if !found.as_ref().is_err_and(|e| e.starts_with(place) && e.contains(message)) {
            return Err(format!("{text}\nexpected: {place} .. {message}\n   found: {found:?}").into());
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    let mut all = vec![];
    if let Err(e) = files(Path::new(FOLDER), &mut all) {
        eprintln!("{FOLDER}: {e} (these tests run in the folder of their package)");
        return ExitCode::FAILURE;
    }
    all.sort();
    let own = [
        Trial::test("mistakes_in_files_are_told", mistakes),
        Trial::test("generated_data_differs", arguments::data_differs),
    ];
    libtest_mimic::run(&args, all.iter().flat_map(|path| tests(path)).chain(own).collect()).exit_code()
}
