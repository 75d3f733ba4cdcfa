//! Tests of host arrays: construction, access, text, and what is rejected.

use accel_core::prelude::*;
use accel_core::repr::{ArrayTuple, Column, RawArray};

#[test]
fn elements_are_where_they_were_put() {
    let m = Array::matrix(2, 3, vec![1, 2, 3, 4, 5, 6]).unwrap();
    assert_eq!((m.shape().as_slice(), m.len(), m.is_empty()), (&[2, 3][..], 6, false));
    assert_eq!((m.get((1, 0)), m.get([0, 2]), m.get((2, 0)), m.get((0, 3))), (Some(4), Some(3), None, None));
    assert_eq!(m.as_slice(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(m.iter().collect::<Vec<i32>>(), m.to_vec());
    assert_eq!(m.get(m.shape()), None);
    let [rows, columns] = m.shape().into();
    assert_eq!((rows, columns), (2, 3));

    let s = Array::scalar(2.5f32);
    assert_eq!((s.get(()), s.item(), s.len(), s.shape().len()), (Some(2.5), 2.5, 1, 0));
    assert_eq!(Array::scalar((1, true)).item(), (1, true));
    assert_eq!((0..3).collect::<Vector<i64>>(), Array::vector(vec![0, 1, 2]));
    let pairs = Array::from_fn((2, 2), |ix| (ix[0] as i64, ix[1] as f64)).unwrap();
    assert_eq!(pairs.to_vec(), [(0, 0.0), (0, 1.0), (1, 0.0), (1, 1.0)]);
    assert_eq!(pairs.raw().columns[..], [Column::from(vec![0i64, 0, 1, 1]), Column::from(vec![0.0, 1.0, 0.0, 1.0])]);
    assert_eq!(Array::from_slice((1, 2, 1), &[true, false]).unwrap().get((0, 1, 0)), Some(false));
    let empty: Array<Dim2, f64> = Array::from_vec((0, 7), vec![]).unwrap();
    assert_eq!((empty.to_vec(), empty.as_slice()), (vec![], &[][..]));
    let units: Vector<()> = Array::vector(vec![(), ()]);
    assert_eq!((units.len(), units.to_vec()), (2, vec![(), ()]));
}

#[test]
fn vectors_of_scalars_are_not_copied() {
    let values = vec![1.0f64; 100];
    let place = values.as_ptr();
    let a = Array::vector(values);
    assert_eq!(a.as_slice().as_ptr(), place);
    assert_eq!(a.clone().as_slice().as_ptr(), place);
    let Ok(b) = Vector::<f64>::from_tuple(a.to_tuple()) else { panic!() };
    assert_eq!(b.as_slice().as_ptr(), place);
}

#[test]
fn equality_is_by_extents_and_elements() {
    let v = |n| Array::vector(vec![0.5; n]);
    assert_eq!(v(2), v(2));
    assert_ne!(v(2), v(3));
    assert_ne!(Array::vector(vec![f64::NAN]), Array::vector(vec![f64::NAN]));
    let wide = Array::matrix(1, 0, Vec::<i8>::new()).unwrap();
    let tall = Array::matrix(0, 1, Vec::<i8>::new()).unwrap();
    assert_ne!(wide, tall);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let e = Array::matrix(2, 3, vec![0.0]).unwrap_err().to_string();
    assert_eq!(e, "an array of shape [2, 3] has 6 elements, but 1 were given");
    let e = Array::from_vec((usize::MAX, 2), vec![1u8]).unwrap_err().to_string();
    assert!(e.contains("more than the largest extent"), "{e}");
    let e = Array::from_vec((1usize << 40, 1usize << 40), vec![1u8]).unwrap_err().to_string();
    assert!(e.contains("too many elements"), "{e}");
    assert!(Array::<Dim3, f64>::from_fn((usize::MAX, usize::MAX, 3), |_| 1.0).is_err());
    assert!(Array::<Dim2, u8>::from_extents(&[4], vec![0; 4]).unwrap_err().to_string().contains("2 dimensions"));

    let column = |v: Vec<f64>| RawArray { extents: vec![2].into(), columns: vec![v.into()].into() };
    assert!(Vector::<f64>::from_raw(column(vec![1.0, 2.0])).is_ok());
    let e = Vector::<f64>::from_raw(column(vec![1.0])).unwrap_err().to_string();
    assert_eq!(e, "an array of shape [2] has 2 elements in each column, but column 0 of those given has 1");
    let e = Vector::<f32>::from_raw(column(vec![1.0, 2.0])).unwrap_err().to_string();
    assert_eq!(e, "array: expected type Array1<f32>, found an array of 1 dimensions of (f64)");
    let e = <(Vector<f32>, ())>::from_tuple(ArrayTuple::Unit).unwrap_err().to_string();
    assert_eq!(e, "arrays: expected type (Array1<f32>, ()), found ()");
}

#[test]
fn tuples_of_arrays_nest_to_the_left() {
    let (a, b, c) = (Array::scalar(1i8), Array::scalar(2i16), Array::vector(vec![3i32]));
    let t = (a.clone(), b.clone(), c.clone());
    let ArrayTuple::Pair(p) = t.to_tuple() else { panic!() };
    assert_eq!(p.1, Arrays::to_tuple(&c));
    let back = <(Scalar<i8>, Scalar<i16>, Vector<i32>)>::from_tuple(t.to_tuple()).unwrap();
    assert_eq!(back, t);

    fn inputs<A: Arrays>(x: impl Inputs<A>) -> ArrayTuple {
        x.to_tuple()
    }
    assert_eq!(inputs::<(Scalar<i8>, Scalar<i16>, Vector<i32>)>((&a, &b, &c)), t.to_tuple());
    assert_eq!(inputs::<(Scalar<i8>, (Scalar<i16>, Vector<i32>))>((&a, (&b, &c))), (a, (b, c)).to_tuple());
    assert_eq!(inputs(&t), t.to_tuple());
}

#[test]
fn arrays_print_with_their_extents() {
    assert_eq!(Array::scalar(1.5).to_string(), "1.5");
    assert_eq!(Array::vector(vec![1.0, 2.0]).to_string(), "2 [1.0, 2.0]");
    assert_eq!(format!("{:.2}", Array::vector(vec![1.0, 2.0])), "2 [1.00, 2.00]");
    let m = Array::matrix(2, 2, vec![(1, true), (2, false), (3, true), (4, true)]).unwrap();
    assert_eq!(m.to_string(), "2×2 [[(1, true), (2, false)],\n     [(3, true), (4, true)]]");
    assert_eq!(format!("{m:?}"), m.to_string());
    let long = Array::vector((0..100).collect::<Vec<i64>>());
    assert_eq!(long.to_string(), "100 [0, 1, 2, 3, 4, …, 95, 96, 97, 98, 99]");
    let eleven = Array::vector((0..11).collect::<Vec<i64>>());
    assert_eq!(eleven.to_string(), "11 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]");
    let tall = Array::matrix(50, 1, (0..50).collect::<Vec<u8>>()).unwrap().to_string();
    assert!(tall.lines().count() == 11 && tall.lines().nth(5).unwrap().contains('…'), "{tall}");
    let cube = Array::from_vec((2, 1, 2), vec![1, 2, 3, 4]).unwrap();
    assert_eq!(cube.to_string(), "2×1×2 [[[1, 2]],\n\n       [[3, 4]]]");
    let empty = Array::matrix(2, 0, Vec::<f32>::new()).unwrap();
    assert_eq!(empty.to_string(), "2×0 [[],\n     []]");
}

#[cfg(feature = "ndarray")]
#[test]
fn arrays_convert_from_and_to_ndarray() {
    let nd = ndarray::Array2::from_shape_fn((2, 3), |(i, j)| (10 * i + j) as f64);
    let a: Matrix<f64> = nd.clone().into();
    assert_eq!((a.shape().as_slice(), a.as_slice()), (&[2, 3][..], &[0.0, 1.0, 2.0, 10.0, 11.0, 12.0][..]));
    assert_eq!(ndarray::Array2::try_from(&a).unwrap(), nd);
    // Other layouts and parts of larger arrays are copied in row-major order.
    let t: Matrix<f64> = nd.t().into();
    assert_eq!(t.to_vec(), [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]);
    let t: Matrix<f64> = nd.clone().reversed_axes().into();
    assert_eq!(t.to_vec(), [0.0, 10.0, 1.0, 11.0, 2.0, 12.0]);
    let part: Vector<f64> = nd.clone().slice_move(ndarray::s![1, 1..]).into();
    assert_eq!(part.to_vec(), [11.0, 12.0]);
    let dynamic = nd.clone().into_dyn();
    assert!(Matrix::<f64>::try_from(dynamic.clone()).is_ok_and(|b| b == a));
    assert!(Vector::<f64>::try_from(dynamic).is_err());
    let back = ndarray::ArrayD::try_from(&a).unwrap();
    assert_eq!(back.shape(), [2, 3]);
    let zero = ndarray::Array0::try_from(&Array::scalar(7u8)).unwrap();
    assert_eq!(zero.into_scalar(), 7);
}
