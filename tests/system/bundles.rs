//! Compiled programs in files.

use accel::backend::Backend;
use accel::bundle::{load, save, save_for};
use accel::compile_for;
use accel::native::Native;
use accel::prelude::*;
use accel::types::{Arrays, Inputs};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

type V = Acc<Vector<f64>>;
type M = Acc<Matrix<f64>>;
type Doubled = Compiled<Vector<f64>, Vector<f64>>;

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|k| (k as f64 * 0.7).sin()).collect()
}

fn matrix(n: usize, m: usize) -> Matrix<f64> {
    Array::matrix(n, m, numbers(n * m)).unwrap()
}

fn vector(n: usize) -> Vector<f64> {
    Array::vector(numbers(n))
}

/// Runs a program, saves it, loads it again, and runs it with all arguments: as before, to the last bit, also the errors. The first
/// arguments are those for which it is compiled.
fn check<A: Arrays, R: Arrays, I: Inputs<A> + Copy>(name: &str, program: &Afun<A, R>, inputs: &[I]) -> PathBuf {
    let folder = folder();
    let path = folder.join(name);
    let compiled = compile_for(program, inputs[0]).unwrap();
    let first = text(compiled.run(inputs[0]));
    save(&compiled, &path).unwrap();
    let loaded: Compiled<A, R> = load(&path).unwrap();
    for (k, input) in inputs.iter().enumerate() {
        let expected = text(compile(program).unwrap().run(*input));
        if k == 0 {
            assert_eq!(expected, first, "{name}");
        }
        assert_eq!(text(loaded.run(*input)), expected, "{name}, arguments {k}");
        assert_eq!(text(loaded.run(*input)), expected, "{name}, arguments {k} again");
    }
    path
}

fn text<R: Arrays>(result: Result<R, accel::Error>) -> String {
    result.map_or_else(|e| e.to_string(), |r| format!("{:?}", r.to_tuple()))
}

/// A folder for files of this process.
fn folder() -> &'static Path {
    static FOLDER: std::sync::OnceLock<TempDir> = std::sync::OnceLock::new();
    FOLDER.get_or_init(|| TempDir::new().unwrap()).path()
}

/// The logarithm of the density of a mixture of spherical normal distributions.
fn mixture(weights: V, means: M, x: M) -> Acc<Scalar<f64>> {
    let ((n, d), k) = (x.shape(), weights.len());
    let distance = generate((n, k, d), |(i, j, l)| (x.at((i, l)) - means.at((j, l))).powi(2));
    let terms = generate((n, k), |(i, j)| weights.at(j) - sum(distance).at((i, j)) * 0.5);
    sum(log_sum_exp(terms))
}

#[test]
fn a_loaded_program_gives_the_same_bits() {
    let gmm = value_and_grad(afun(mixture).by(|(w, m, _)| (w, m)));
    let argument = |n, k, d| (vector(k), matrix(k, d), matrix(n, d));
    let all = [argument(100, 3, 2), argument(1000, 5, 10), argument(7, 3, 2), argument(0, 1, 1), argument(70, 2, 3)];
    check("gmm", &gmm, &all.each_ref().map(|(w, m, x)| (w, m, x)));
}

#[test]
fn loops_that_keep_states() {
    let filter = grad(afun(|a: M, xs: V| {
        let step = |k: Exp<i64>, y: V| map(|y| y.tanh(), matvec(a, y)) * 0.9 + the(unit(xs.at(k)));
        sum(aiterate_indexed(xs.len(), step, generate(a.shape().0, |i| i.cast::<f64>() * 0.1)))
    }));
    let all = [(matrix(4, 4), vector(20)), (matrix(3, 3), vector(100)), (matrix(4, 4), vector(0))];
    check("filter", &filter, &all.each_ref().map(|(a, xs)| (a, xs)));
}

#[test]
fn sorts_permutations_and_tables() {
    let table = Array::vector((0..1000).map(|k| f64::from(k) * 0.5).collect());
    let program = afun(move |xs: V| {
        let table = use_(&table);
        let sorted = sort(xs);
        let kept = filter(|x| x.gt(0.0), sorted);
        let n = xs.len();
        let swapped = permute(|a, b| a + b, fill(n, 0.0), |i| (i.lt(n), (i * 7 + 3) % n), map(|x| x * table.at(3), xs));
        (sorted, kept, swapped, scanl1(|a, b| a + b, xs))
    });
    check("sorts", &program, &[vector(100), vector(10_000), vector(1), vector(0)].each_ref());
}

/// Strips are left out where they do not pay: those forms of the program are in the bundle, too.
#[test]
fn rows_of_any_length() {
    let program = value_and_grad(afun(|m: M| {
        let total = sum(map(|x| x.exp(), m));
        sum(map(|x| x.ln(), total)) + sum(sum(generate(m.shape(), |(i, j)| m.at((i, j)).sin() / total.at(i))))
    }));
    let all = [matrix(100, 50), matrix(3, 100_000), matrix(100_000, 3), matrix(1, 1)];
    check("rows", &program, &all.each_ref());
}

#[test]
fn functions_of_numbers() {
    let program = value_and_grad(afun(|x: Acc<Scalar<f64>>| map(|x| x.sin() * x, x)));
    let path = check("numbers", &program, &[&Array::scalar(2.0), &Array::scalar(-1.0)]);
    let loaded: Compiled<Scalar<f64>, (Scalar<f64>, Scalar<f64>)> = load(path).unwrap();
    let (value, slope): (f64, f64) = loaded.call(2.0).unwrap();
    assert_eq!((value, slope), compile(&program).unwrap().call(2.0).unwrap());
    let (mut value_here, mut slope_here) = (0.0, 0.0);
    loaded.run_into(2.0, (&mut value_here, &mut slope_here)).unwrap();
    assert_eq!((value, slope), (value_here, slope_here));
}

#[test]
fn errors_name_the_line_of_the_source() {
    let program = afun(|xs: V, k: Acc<Scalar<i64>>| unit(xs.at(the(k)) / 2.0));
    let at = line!() - 1;
    let outside = (vector(3), Array::scalar(3));
    let path = check("errors", &program, &[(&vector(3), &Array::scalar(1)), (&outside.0, &outside.1)]);
    let loaded: Compiled<(Vector<f64>, Scalar<i64>), Scalar<f64>> = load(path).unwrap();
    let error = loaded.run((&outside.0, &outside.1)).unwrap_err().to_string();
    assert!(error.contains(&format!("bundles.rs:{at}:")) && error.contains("index [3]"), "{error}");
}

fn doubled() -> Afun<Vector<f64>, Vector<f64>> {
    afun(|xs: V| map(|x| x * 2.0, xs))
}

#[test]
fn what_cannot_be_loaded_is_an_error() {
    let path = folder().join("doubled");
    save(&compile(doubled()).unwrap(), &path).unwrap();
    let error = |e: accel::Error| e.to_string().replace(&*path.to_string_lossy(), "PATH");
    let other = load::<Vector<f32>, Vector<f64>>(&path).map_err(error).unwrap_err();
    assert_eq!(other, "the bundle PATH: the program has an argument of type Array1<f64>, expected Array1<f32>");
    let other = load::<Vector<f64>, Scalar<f64>>(&path).map_err(error).unwrap_err();
    assert_eq!(other, "the bundle PATH: the program has a result of type Array1<f64>, expected Array0<f64>");
    let load = || Doubled::clone(&load(&path)?).run(&vector(2));
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(whole.len() / 50) {
        fs::write(&path, &whole[..length]).unwrap();
        let found = load().map_err(error).unwrap_err();
        assert!(["it is damaged", "it is not a bundle"].iter().any(|why| found.ends_with(why)), "{length}: {found}");
    }
    for place in (20..whole.len()).step_by(whole.len() / 50) {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x10;
        fs::write(&path, damaged).unwrap();
        assert_eq!(load().map_err(error).unwrap_err(), "the bundle PATH: it is damaged", "{place}");
    }
    fs::write(&path, &whole).unwrap();
    assert_eq!(load().unwrap().to_vec(), vector(2).to_vec().iter().map(|x| x * 2.0).collect::<Vec<_>>());
    let missing: Result<Doubled, _> = accel::bundle::load(folder().join("missing"));
    assert!(missing.unwrap_err().to_string().contains("No such file"));
}

/// NOTE [Trusted bundles]: whoever may write to the file could run code as the user who loads it.
#[cfg(unix)]
#[test]
fn others_must_not_write_to_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let path = folder().join("shared");
    save(&compile(doubled()).unwrap(), &path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o022, 0);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    let error = load::<Vector<f64>, Vector<f64>>(&path).unwrap_err().to_string();
    assert!(error.ends_with("others may write to it (its mode is 0664)"), "{error}");
}

#[test]
fn what_cannot_be_saved_is_an_error() {
    let path = folder().join("unsaved");
    let error = |e: accel::Error| e.to_string().replace(&*path.to_string_lossy(), "PATH");
    let interpreted = Compiled::new(&accel::interp::Interpreter, &doubled()).unwrap();
    assert_eq!(
        save(&interpreted, &path).map_err(error).unwrap_err(),
        "the bundle PATH: only the native backend makes bundles"
    );
    let compiled = Compiled::new(&Native as &dyn Backend, &doubled()).unwrap();
    let unknown = save_for(&compiled, &path, &["i386"]).map_err(error).unwrap_err();
    assert!(
        unknown.starts_with("the bundle PATH: processors are ") && unknown.ends_with("found \"i386\""),
        "{unknown}"
    );
    assert!(!path.exists());
    let nowhere = save(&compiled, folder().join("no/folder")).unwrap_err().to_string();
    assert!(nowhere.contains("No such file"), "{nowhere}");
}

/// The best kind that the processor supports is used, whatever the order.
#[cfg(target_arch = "x86_64")]
#[test]
fn several_kinds_of_processors() {
    let path = folder().join("kinds");
    save_for(&compile(doubled()).unwrap(), &path, &["x86-64-v4", "x86-64", "x86-64-v3", "x86-64-v2"]).unwrap();
    let loaded: Doubled = load(&path).unwrap();
    assert_eq!(
        loaded.run(&vector(100)).unwrap().to_vec(),
        compile(doubled()).unwrap().run(&vector(100)).unwrap().to_vec()
    );
}
