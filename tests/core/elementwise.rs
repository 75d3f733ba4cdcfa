//! Operators and functions of arrays mean what `map` and `zip_with` with the same operators and functions of numbers mean.

use accel_core::interp::Interpreter;
use accel_core::prelude::*;

type V<T> = Acc<Vector<T>>;
type M<T> = Acc<Matrix<T>>;

/// All results of the program are equal in pairs, bit by bit. Returns the error, if there is one.
fn pairs<A: Arrays, T: Elt, Sh: Shape, M>(
    f: impl ArrayFn<M, Args = A, Result = (Array<Sh, T>, Array<Sh, T>)>,
    inputs: impl Inputs<A>,
) -> Result<(), Error> {
    let (found, expected) = run_with(&Interpreter, &afun(f), inputs)?;
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    Ok(())
}

/// An operator between two arrays, an array and a number, and the other way round.
macro_rules! operator {
    ($t:ty, $op:tt, $assign:tt, $number:expr, $xs:expr, $ys:expr) => {{
        let (xs, ys): (&Vector<$t>, &Vector<$t>) = ($xs, $ys);
        let s = &Array::scalar($number);
        pairs(|x: V<$t>, y: V<$t>| (x $op y, zip_with(|x, y| x $op y, x, y)), (xs, ys)).unwrap();
        pairs(|x: V<$t>| (x $op $number, map(|x| x $op $number, x)), xs).unwrap();
        pairs(|x: V<$t>| ($number $op x, map(|x| $number $op x, x)), xs).unwrap();
        pairs(|x: V<$t>, s: Acc<Scalar<$t>>| (x $op s, map(|x| x $op the(s), x)), (xs, s)).unwrap();
        pairs(|x: V<$t>, s: Acc<Scalar<$t>>| (s $op x, map(|x| the(s) $op x, x)), (xs, s)).unwrap();
        pairs(|x: V<$t>| (x $op x.at(0), map(|y| y $op x.at(0), x)), xs).unwrap();
        pairs(|x: V<$t>| (x.at(0) $op x, map(|y| x.at(0) $op y, x)), xs).unwrap();
        pairs(|s: Acc<Scalar<$t>>| (s $op s, map(|x| x $op x, s)), s).unwrap();
        let assigned = |x: V<$t>, y: V<$t>| {
            let mut z = x;
            z $assign y;
            z $assign $number;
            (z, zip_with(|x, y| (x $op y) $op $number, x, y))
        };
        pairs(assigned, (xs, ys)).unwrap();
        let m = &Array::matrix(2, 2, xs.to_vec()[..4].to_vec()).unwrap();
        let two = &Array::vector(ys.to_vec()[..2].to_vec());
        pairs(|m: M<$t>, v: V<$t>| (m $op row(v), imap(|(_, j), x| x $op v.at(j), m)), (m, two)).unwrap();
        pairs(|m: M<$t>, v: V<$t>| (row(v) $op m, imap(|(_, j), x| v.at(j) $op x, m)), (m, two)).unwrap();
        pairs(|m: M<$t>, v: V<$t>| (m $op column(v), imap(|(i, _), x| x $op v.at(i), m)), (m, two)).unwrap();
        pairs(|m: M<$t>, v: V<$t>| (column(v) $op m, imap(|(i, _), x| v.at(i) $op x, m)), (m, two)).unwrap();
    }};
}

#[test]
fn operators_of_all_types() {
    macro_rules! numbers {
        ($($t:ty)*) => { $({
            let (xs, ys) = (&Array::vector([9, 7, 1, 2, 6].map(|x| x as $t).to_vec()), &Array::vector([3, 2, 1, 1, 5].map(|x| x as $t).to_vec()));
            operator!($t, *, *=, 3 as $t, xs, ys);
        })* };
    }
    numbers!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    let (xs, ys) = (&Array::vector(vec![9, 7, 1, 2, 6]), &Array::vector(vec![3, 2, 1, 1, 5]));
    operator!(i64, +, +=, 3i64, xs, ys);
    operator!(i64, -, -=, 3i64, xs, ys);
    operator!(i64, /, /=, 3i64, xs, ys);
    operator!(i64, %, %=, 3i64, xs, ys);
    operator!(i64, &, &=, 3i64, xs, ys);
    operator!(i64, |, |=, 3i64, xs, ys);
    operator!(i64, ^, ^=, 3i64, xs, ys);
    operator!(i64, <<, <<=, 3i64, xs, ys);
    operator!(i64, >>, >>=, 3i64, xs, ys);
    pairs(|x: V<i64>| (-x, map(|x| -x, x)), xs).unwrap();
    pairs(|x: V<i64>| (!x, map(|x| !x, x)), xs).unwrap();
    let (xs, ys) =
        (&Array::vector(vec![true, false, true, false, true]), &Array::vector(vec![true, true, false, false, true]));
    operator!(bool, &, &=, true, xs, ys);
    operator!(bool, |, |=, false, xs, ys);
    pairs(|x: V<bool>| (!x, map(|x| !x, x)), xs).unwrap();
}

#[test]
fn functions_of_all_elements() {
    let xs = &Array::vector(vec![0.25, -0.5, 1.0, 0.0, -0.0, f64::NAN, f64::INFINITY, 3.5]);
    let ys = &Array::vector(vec![1.5, 0.5, -1.0, 0.0, 2.0, 1.0, f64::NAN, 0.75]);
    macro_rules! unary {
        ($($name:ident)*) => { $(pairs(|x: V<f64>| (x.$name(), map(|x| x.$name(), x)), xs).unwrap();)* };
    }
    unary!(abs signum sin cos tan asin acos atan sinh cosh tanh sech asinh acosh atanh exp exp2 exp_m1 ln log2 log10 ln_1p);
    unary!(sqrt cbrt recip erf erfc erfinv normal_cdf log_normal_cdf lgamma digamma j0 j1 i0e i1e sigmoid log_sigmoid);
    unary!(softplus logit detach floor ceil round trunc);
    macro_rules! tests {
        ($($name:ident)*) => { $(pairs(|x: V<f64>| (x.$name(), map(|x| x.$name(), x)), xs).unwrap();)* };
    }
    tests!(is_nan is_infinite is_finite);
    macro_rules! binary {
        ($($name:ident)*) => { $(
            pairs(|x: V<f64>, y: V<f64>| (x.$name(y), zip_with(|x, y| x.$name(y), x, y)), (xs, ys)).unwrap();
            pairs(|x: V<f64>| (x.$name(0.5), map(|x| x.$name(0.5), x)), xs).unwrap();
        )* };
    }
    binary!(lt le gt ge eq ne min max powf atan2 hypot log_add_exp xlogy gamma_inc gamma_inc_upper);
    pairs(|x: V<f64>| (x.beta_inc(2.0, x), map(|x| x.beta_inc(2.0, x), x)), xs).unwrap();
    pairs(|x: V<f64>| (x.beta_inc_upper(2.0, x), map(|x| x.beta_inc_upper(2.0, x), x)), xs).unwrap();
    pairs(|x: V<f64>| (x.clamp(0.0, 1.0), map(|x| x.clamp(0.0, 1.0), x)), xs).unwrap();
    pairs(|x: V<f64>| (x.powi(-3), map(|x| x.powi(-3), x)), xs).unwrap();
    pairs(|x: V<f64>| (x.cast::<i32>(), map(|x| x.cast::<i32>(), x)), xs).unwrap();
    let is = &Array::vector(vec![5, -7, 0, i64::MIN, 12]);
    pairs(|x: V<i64>| (x.rem_euclid(3), map(|x| x.rem_euclid(3), x)), is).unwrap();
    pairs(|x: V<i64>| (x.div_euclid(3), map(|x| x.div_euclid(3), x)), is).unwrap();
    pairs(|x: V<i64>| (x.count_ones(), map(|x| x.count_ones(), x)), is).unwrap();
}

#[test]
fn masks() {
    let (xs, ys) = (&Array::vector(vec![1.0, -2.0, 3.0]), &Array::vector(vec![10.0, 20.0, 30.0]));
    let chosen = |x: V<f64>, y: V<f64>| {
        (where_(x.gt(0.0) & x.lt(2.0), x, y), zip_with(|x, y| cond(x.gt(0.0).and(x.lt(2.0)), x, y), x, y))
    };
    pairs(chosen, (xs, ys)).unwrap();
    pairs(|x: V<f64>| (where_(x.lt(0.0), -1.0, x), map(|x| cond(x.lt(0.0), -1.0, x), x)), xs).unwrap();
    pairs(|x: V<f64>| (where_(x.lt(0.0), 1i64, 0), map(|x| cond(x.lt(0.0), 1i64, 0), x)), xs).unwrap();
}

/// Nothing is repeated or cut off silently.
#[test]
fn other_shapes_are_errors() {
    let (two, three) = (&Array::vector(vec![1.0, 2.0]), &Array::vector(vec![1.0, 2.0, 3.0]));
    let e = pairs(|x: V<f64>, y: V<f64>| (x + y, x), (two, three)).unwrap_err().to_string();
    assert!(e.contains("`+` at ") && e.contains(file!()) && e.contains("[2]") && e.contains("[3]"), "{e}");
    let m = &Array::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let e = pairs(|m: M<f64>, v: V<f64>| (m * row(v), m), (m, three)).unwrap_err().to_string();
    assert!(e.contains("`*` at ") && e.contains(file!()), "{e}");
    let e = pairs(|m: M<f64>, v: V<f64>| (m - column(v), m), (m, three)).unwrap_err().to_string();
    assert!(e.contains("`-` at ") && e.contains(file!()), "{e}");
    let e = pairs(|x: V<f64>, y: V<f64>| (x.max(y), x), (two, three)).unwrap_err().to_string();
    assert!(e.contains("`max` at ") && e.contains(file!()), "{e}");
}

/// A number per row of an array of three dimensions, and a number per column.
#[test]
fn rows_and_columns_of_any_rank() {
    type C = Array<Dim3, i64>;
    let xs = &Array::from_vec([2, 3, 2], (0..12).collect()).unwrap();
    let v = &Array::vector(vec![100, 200]);
    pairs(|x: Acc<C>, v: V<i64>| (x + row(v), imap(|(_, _, k), x| x + v.at(k), x)), (xs, v)).unwrap();
    pairs(|x: Acc<C>| (x - column(sum(x)), imap(|(i, j, _), y| y - sum(x).at((i, j)), x)), xs).unwrap();
}

#[test]
fn axes_of_three_dimensions() {
    type C = Acc<Array<Dim3, i64>>;
    let xs = &Array::from_vec([2, 3, 4], (0..24).collect()).unwrap();
    pairs(|x: C| (x.axis::<0>(), generate((3, 4, 2), |(i, j, k)| x.at((k, i, j)))), xs).unwrap();
    pairs(|x: C| (x.axis::<1>(), generate((2, 4, 3), |(i, j, k)| x.at((i, k, j)))), xs).unwrap();
    pairs(|x: C| (x.axis::<2>(), x), xs).unwrap();
    pairs(|x: C| (x.axis::<0>().back_to_axis::<0>(), x), xs).unwrap();
    pairs(|x: C| (x.axis::<1>().back_to_axis::<1>(), x), xs).unwrap();
    pairs(|x: C| (x.in_order([2, 0, 1]), generate((4, 2, 3), |(i, j, k)| x.at((j, k, i)))), xs).unwrap();
    for wrong in [[0, 1, 1], [0, 1, 3]] {
        let e = try_afun(move |x: C| x.in_order(wrong)).expect_err("a wrong order").to_string();
        assert!(e.contains("`in_order` at ") && e.contains("each of the 3 dimensions once"), "{e}");
    }
    assert!(try_afun(|x: C| x.in_order([1, 0])).is_err());
}

#[test]
fn the_library() {
    let m = &Array::matrix(2, 3, vec![4.0, 1.0, 4.0, -2.0, -2.0, 1.0]).unwrap();
    let found = run_with(&Interpreter, &afun(|m: M<f64>| (mean(m), var(m), std(m), mean_all(m))), m).unwrap();
    assert_eq!((found.0.to_vec(), found.1.to_vec()), (vec![3.0, -1.0], vec![2.0, 2.0]));
    assert!(found.2.to_vec().iter().all(|s| (s - 2f64.sqrt()).abs() < 1e-15));
    assert_eq!(found.3.item(), 1.0);
    let scans = afun(|m: M<f64>| (cumsum(m), cumprod(m), cummax(m), cummin(m)));
    let (sums, products, most, least) = run_with(&Interpreter, &scans, m).unwrap();
    assert_eq!(sums.to_vec(), [4.0, 5.0, 9.0, -2.0, -4.0, -3.0]);
    assert_eq!(products.to_vec(), [4.0, 4.0, 16.0, -2.0, 4.0, 4.0]);
    assert_eq!(most.to_vec(), [4.0, 4.0, 4.0, -2.0, -2.0, 1.0]);
    assert_eq!(least.to_vec(), [4.0, 1.0, 1.0, -2.0, -2.0, -2.0]);
    let places = afun(|m: M<f64>| (argmax(m), argmin(m), argmax(m.axis::<0>()), argmin(m.axis::<0>())));
    let (a, b, c, d) = run_with(&Interpreter, &places, m).unwrap();
    assert_eq!((a.to_vec(), b.to_vec()), (vec![0, 2], vec![1, 0]));
    assert_eq!((c.to_vec(), d.to_vec()), (vec![0, 0, 0], vec![1, 1, 1]));
    let moved = afun(|m: M<f64>| (diff(m), roll(1, m), roll(-4, m)));
    let (d, r, l) = run_with(&Interpreter, &moved, m).unwrap();
    assert_eq!(d.to_vec(), [-3.0, 3.0, 0.0, 3.0]);
    assert_eq!(r.to_vec(), [4.0, 4.0, 1.0, 1.0, -2.0, -2.0]);
    assert_eq!(l.to_vec(), [1.0, 4.0, 4.0, -2.0, 1.0, -2.0]);
    let made = afun(|n: Acc<Scalar<i64>>| (linspace(-1.0, 0.7, the(n)), outer(iota(2), iota(3))));
    let (points, products): (Vector<f64>, Matrix<i64>) = run_with(&Interpreter, &made, &Array::scalar(18)).unwrap();
    assert_eq!((points.as_slice()[0], points.as_slice()[17], points.len()), (-1.0, 0.7, 18));
    assert!(points.as_slice().windows(2).all(|w| (w[1] - w[0] - 0.1).abs() < 1e-15));
    assert_eq!(products.to_vec(), [0, 0, 0, 0, 1, 2]);
    for (n, expected) in [(0, vec![]), (1, vec![-1.0])] {
        assert_eq!(run_with(&Interpreter, &made, &Array::scalar(n)).unwrap().0.to_vec(), expected);
    }
}

/// Rows without elements.
#[test]
fn the_library_without_elements() {
    let m = &Array::<Dim2, f64>::matrix(2, 0, vec![]).unwrap();
    let f = afun(|m: M<f64>| (mean(m), std(m), cumsum(m), diff(m), roll(3, m)));
    let (mean, std, sums, differences, rolled) = run_with(&Interpreter, &f, m).unwrap();
    assert!(mean.to_vec().iter().chain(&std.to_vec()).all(|x| x.is_nan()));
    for found in [sums, differences, rolled] {
        assert_eq!(<[usize; 2]>::from(found.shape()), [2, 0]);
    }
    let e = run_with(&Interpreter, &afun(|m: M<f64>| argmax(m)), m).unwrap_err().to_string();
    assert!(e.contains("`argmax` at ") && e.contains(file!()), "{e}");
}
