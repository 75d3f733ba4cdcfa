//! Values of arrays in files of NumPy's format.

use accel::prelude::*;
use accel::trees::{load, named, save};
use std::io::Write;

#[derive(Clone, Debug, PartialEq, Arrays)]
struct Layer {
    weights: Matrix<f64>,
    bias: Vector<f32>,
}

#[derive(Clone, Debug, PartialEq, Arrays)]
struct Model {
    layers: [Layer; 2],
    counts: (Vector<i64>, Scalar<bool>),
    places: Vector<(u8, [f64; 2])>,
    empty: Array<Dim3, u64>,
}

fn model() -> Model {
    let layer = |x: f64| Layer {
        weights: Array::matrix(2, 3, (0..6).map(|k| x + f64::from(k)).collect()).unwrap(),
        bias: Array::vector(vec![f32::NAN, -0.0, x as f32]),
    };
    Model {
        layers: [layer(0.5), layer(f64::MIN_POSITIVE)],
        counts: (Array::vector(vec![i64::MIN, i64::MAX]), Array::scalar(true)),
        places: Array::vector(vec![(7, [1.0, 2.0]), (8, [3.0, 4.0])]),
        empty: Array::from_vec([2, 0, 3], vec![]).unwrap(),
    }
}

#[test]
fn values_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.npz");
    save(&file, &model()).unwrap();
    save(&file, &model()).unwrap();
    let again: Model = load(&file).unwrap();
    assert_eq!(format!("{again:?}"), format!("{:?}", model()));
    let names: Vec<String> = named(&again).into_iter().map(|(name, _)| name).collect();
    let expected = [
        "layers.0.weights",
        "layers.0.bias",
        "layers.1.weights",
        "layers.1.bias",
        "counts.0",
        "counts.1",
        "places",
        "empty",
    ];
    assert_eq!(names, expected);
    // Nothing else is left behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    // An array alone.
    save(&file, &Array::scalar(1.5)).unwrap();
    assert_eq!(load::<Scalar<f64>>(&file).unwrap().item(), 1.5);
}

#[track_caller]
fn fails<P: Arrays>(file: &std::path::Path, expected: &str) {
    let error = load::<P>(file).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("the file ") && error.contains(expected), "{error}");
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pair.npz");
    save(&file, &(Array::vector(vec![1.0, 2.0]), Array::scalar(3i64))).unwrap();
    fails::<Layer>(&file, "there is no array `weights`; there are `0`, `1`");
    fails::<(Vector<f32>, Scalar<i64>)>(&file, "the array `0` has the type '<f8', expected f32");
    fails::<(Vector<f64>, Vector<i64>)>(&file, "the array `1` has the extents [], expected 1 dimensions");
    fails::<Scalar<f64>>(&folder.path().join("other.npz"), "other.npz");
    let error = save(folder.path().join("no/folder.npz"), &Array::scalar(1.0)).unwrap_err().to_string();
    assert!(error.contains("no/folder.npz"), "{error}");

    // Every prefix, and every changed byte, is an error or another value, and never a panic.
    let bytes = std::fs::read(&file).unwrap();
    let changed = |bytes: &[u8]| {
        let file = folder.path().join("changed.npz");
        std::fs::File::create(&file).unwrap().write_all(bytes).unwrap();
        load::<(Vector<f64>, Scalar<i64>)>(&file)
    };
    assert!(changed(&bytes).is_ok());
    for n in 0..bytes.len() {
        assert!(changed(&bytes[..n]).is_err(), "{n}");
        let mut other = bytes.clone();
        other[n] ^= 0xff;
        _ = changed(&other);
    }
}

/// A file that NumPy has written with `numpy.savez_compressed(file, a=numpy.asfortranarray([[1., 2., 3.], [4., 5., 6.]]), b=numpy.array([1, 2], '>i2'))`.
#[test]
fn files_of_numpy() {
    #[derive(Clone, Arrays)]
    struct Pair {
        a: Matrix<f64>,
        b: Vector<i16>,
    }
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("core/data/numpy.npz");
    let found: Pair = load(file).unwrap();
    assert_eq!((found.a.shape().as_slice(), found.a.to_vec()), (&[2, 3][..], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    assert_eq!(found.b.to_vec(), [1, 2]);
}
