//! Programs in C and C++, which run bundles.

use accel_ad::value_and_grad;
use accel_core::prelude::*;
use accel_native::{Native, bundle};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

type V = Acc<Vector<f64>>;

/// The folder of the shared library.
fn libraries() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let folder = own.ancestors().nth(1).unwrap();
    let found = folder.ancestors().take(2).find(|f| f.join("libaccel_c.so").exists());
    found.expect("cargo has built the library").into()
}

/// Compiles a program of C or C++ in a folder, and runs it with the folder as its argument: the lines that it prints.
fn run(compiler: &str, source: &str, folder: &Path) -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (library, program) = (libraries(), folder.join("program"));
    let mut command = Command::new(compiler);
    command.arg("-Wall").arg("-Wextra").arg("-Werror").arg("-I").arg(here.join("include"));
    command.arg(here.join("tests/programs").join(source)).arg("-o").arg(&program);
    command.arg("-L").arg(&library).arg("-laccel_c").arg("-pthread").arg(format!("-Wl,-rpath,{}", library.display()));
    assert!(command.status().unwrap().success());
    // No compiler, and no cache.
    let output = Command::new(program).arg(folder).env_clear().output().unwrap();
    let (text, errors) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && errors.is_empty(), "{text}{errors}");
    text.lines().map(|line| line.trim_end().to_string()).collect()
}

fn element() -> Afun<(Vector<f64>, Scalar<i64>), Scalar<f64>> {
    afun(|x: V, k: Acc<Scalar<i64>>| unit(x.at(the(k)) / 2.0))
}

#[test]
fn values_results_in_place_and_errors() {
    let folder = TempDir::new().unwrap();
    let save = |name: &str| folder.path().join(name);
    let loss = afun(|data: Acc<Matrix<f64>>, y: V, x: V| {
        let residual = zip_with(|a, b| a - b, matvec(data, x), y);
        sum(map(|r| r * r, residual))
    });
    let regression = Compiled::new(&Native, &value_and_grad(loss.by(|(_, _, x)| x))).unwrap();
    bundle::save(&regression, save("regression")).unwrap();
    let pairs = afun(|xs: Acc<Vector<(f32, bool)>>| {
        let numbered = generate(xs.shape(), |i| (xs.at(i).0, i));
        let kept = filter(|(x, i)| xs.at(i).1 & x.gt(0.0), numbered);
        map(|(x, i)| (x, i), kept)
    });
    bundle::save(&Compiled::new(&Native, &pairs).unwrap(), save("pairs")).unwrap();
    let element = Compiled::new(&Native, &element()).unwrap();
    bundle::save(&element, save("element")).unwrap();

    let numbers = |n: usize| (0..n).map(|k| (k % 17) as f64 * 0.25 - 1.0).collect::<Vec<_>>();
    let argument = (Array::matrix(30, 4, numbers(120)).unwrap(), Array::vector(numbers(30)), Array::vector(numbers(4)));
    let (value, gradient) = regression.run((&argument.0, &argument.1, &argument.2)).unwrap();
    let lines = run("cc", "example.c", folder.path());
    let found: Vec<f64> = lines[2].split(' ').map(|x| x.parse().unwrap()).collect();
    assert_eq!(found, [&[value.item()], gradient.as_slice()].concat());
    let short = Array::vector(numbers(29));
    let other_shape = regression.run((&argument.0, &short, &argument.2)).unwrap_err();
    let outside = element.run((&Array::vector(vec![1.0, 2.0, 4.0]), &Array::scalar(3))).unwrap_err();
    let expected = [
        "1",
        "3 arguments, the first one of 2 dimensions, 2 results",
        &lines[2],
        "1",
        &format!("1 {other_shape}"),
        "1 `accel_run`, argument: expected type f64 of 1 dimensions in column 1, found f32 of 1",
        "1 `accel_run`, argument: expected type of 3 columns, found 2",
        "1 `run_into`: expected a result of shape [3], found [4]",
        "1",
        "1",
        "3 0 5 3",
        "1 `accel_run`: expected type a bool, found 7",
        "1 `accel_run`, columns of one argument: expected [4], found [3]",
        "1 2",
        &format!("1 {outside}"),
        "1 1",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn threads_of_another_program() {
    let folder = TempDir::new().unwrap();
    bundle::save(&Compiled::new(&Native, &element()).unwrap(), folder.path().join("element")).unwrap();
    assert_eq!(run("c++", "threads.cpp", folder.path()), ["100 100 100 100 100 100 100 100"]);
}
