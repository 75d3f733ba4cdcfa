//! Tables and order statistics: `searchsorted`, `interp`, `top_k`, `quantile`, `median`; `cov`, `layer_norm`, `log_cumsum_exp`, `logspace`,
//! and the functions `clip`, `relu`, `gelu` and `nan_to_num` of elements.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    places::<f64>(t, |x| x);
    places::<i64>(t, |x| x as i64);
    places_of_nan(t);
    lines(t);
    lines_without_knots(t);
    best::<f64>(t);
    best::<u8>(t);
    too_many(t);
    quantiles(t);
    statistics(t);
    elements(t);
    ladders(t);
}

fn places<T: Primitive + PartialOrd>(t: &Suite, number: fn(f64) -> T) {
    let prog =
        afun(|sorted: Acc<Vector<T>>, xs: Acc<Matrix<T>>| (searchsorted(sorted, xs), searchsorted_right(sorted, xs)));
    for n in [0, 1, 2, 7, 64, 1001] {
        let sorted: Vec<T> = (0..n).map(|i| number(f64::from(i * 3 / 2))).collect();
        let xs = tabulate::<Dim2, T>(&[5, 40], |ix| number(((ix[0] * 40 + ix[1]) * 9 % 1600) as f64 - 2.0));
        let of = |is_left: fn(&T, &T) -> bool| {
            tabulate::<Dim2, i64>(&[5, 40], |ix| sorted.iter().filter(|y| is_left(y, &at(&xs, ix))).count() as i64)
        };
        let expected = (of(|y, x| y < x), of(|y, x| y <= x));
        t.is(prog.clone(), (&Array::vector(sorted.clone()), &xs), expected);
    }
}

/// NaN come last, as for `sort`.
fn places_of_nan(t: &Suite) {
    let prog = afun(|sorted: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| {
        (searchsorted(sorted, xs), searchsorted_right(sorted, xs))
    });
    let sorted = Array::vector(vec![f64::NEG_INFINITY, -0.0, 0.0, f64::INFINITY, f64::NAN, f64::NAN]);
    let xs = Array::vector(vec![f64::NAN, f64::INFINITY, 0.0, -0.0, f64::NEG_INFINITY]);
    t.is(prog, (&sorted, &xs), (Array::vector(vec![4, 3, 1, 1, 0]), Array::vector(vec![6, 4, 3, 3, 1])));
}

fn lines(t: &Suite) {
    let prog =
        afun(|knots: Acc<Vector<f64>>, values: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| interp(knots, values, xs));
    for n in [1usize, 2, 9, 100] {
        let knots: Vec<f64> = (0..n).map(|i| (i * i) as f64 / 4.0).collect();
        let values: Vector<f64> = vector(n);
        let xs: Vec<f64> = (0..150).map(|i| f64::from(i) * 20.0 - 7.5).chain(knots.iter().copied()).collect();
        let value = |x: f64| match (0..n).filter(|i| knots[*i] <= x).max() {
            None => at(&values, &[0]),
            Some(i) if i + 1 == n => at(&values, &[i]),
            Some(i) => {
                let (a, b) = (at(&values, &[i]), at(&values, &[i + 1]));
                a + (b - a) / (knots[i + 1] - knots[i]) * (x - knots[i])
            }
        };
        let expected = Array::vector(xs.iter().map(|x| value(*x)).collect());
        t.near(1e-14, prog.clone(), (&Array::vector(knots.clone()), &values, &Array::vector(xs.clone())), expected);
    }
}

fn lines_without_knots(t: &Suite) {
    let prog =
        afun(|knots: Acc<Vector<f64>>, values: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| interp(knots, values, xs));
    let place = format!("`interp` at {}:{}: expected", file!(), line!() - 1);
    let (none, one, two): (Vector<f64>, Vector<f64>, Vector<f64>) = (vector(0), vector(1), vector(2));
    t.fails(prog.clone(), (&none, &none, &two), &format!("{place} at least 1, found 0"));
    t.fails(prog, (&two, &one, &two), &format!("{place} shapes [n] and [n], found [2] and [1]"));
}

fn best<T: Sample + Primitive + PartialOrd>(t: &Suite) {
    for [r, n, k] in [[2, 5, 0], [3, 1, 1], [4, 33, 5], [2, 300, 300], [0, 3, 2]] {
        let m: Matrix<T> = array(&[r, n]);
        let order = map_rows(
            &m,
            |_| k,
            |row| {
                let mut places: Vec<i64> = (0..n as i64).collect();
                let of = |i: &i64| row[*i as usize];
                places.sort_by(|i, j| of(j).partial_cmp(&of(i)).unwrap());
                places[..k].to_vec()
            },
        );
        let values = tabulate::<Dim2, T>(&[r, k], |ix| at(&m, &[ix[0], at(&order, ix) as usize]));
        let prog = afun(|k: Acc<Scalar<i64>>, m: Acc<Matrix<T>>| top_k(the(k), m));
        t.is(prog, (&Array::scalar(k as i64), &m), (values, order));
    }
}

fn too_many(t: &Suite) {
    let prog = afun(|k: Acc<Scalar<i64>>, m: Acc<Matrix<f64>>| top_k(the(k), m));
    let place = format!("`top_k` at {}:{}: expected", file!(), line!() - 1);
    for (k, text) in
        [(4, "at most 3, found 4"), (-1, "at least 0, found -1"), (i64::MIN, "at least 0, found -9223372036854775808")]
    {
        t.fails(prog.clone(), (&Array::scalar(k), &array::<Dim2, f64>(&[2, 3])), &format!("{place} {text}"));
    }
}

fn quantiles(t: &Suite) {
    let prog = afun(|q: Acc<Scalar<f64>>, m: Acc<Matrix<f64>>| (quantile(the(q), m), median(m)));
    for [r, n] in [[3, 1], [4, 2], [2, 7], [1, 1000]] {
        let m: Matrix<f64> = array(&[r, n]);
        for q in [0.0, 0.25, 0.5, 0.9, 1.0] {
            let of = |q: f64| {
                reduce_rows(&m, |mut row| {
                    row.sort_by(f64::total_cmp);
                    let (i, share) = ((q * (n - 1) as f64) as usize, (q * (n - 1) as f64).fract());
                    row[i] + (row[(i + 1).min(n - 1)] - row[i]) * share
                })
            };
            t.near(1e-14, prog.clone(), (&Array::scalar(q), &m), (of(q), of(0.5)));
        }
    }
}

fn statistics(t: &Suite) {
    for extents in [[3, 2], [4, 7], [2, 1000]] {
        let m: Matrix<f64> = array(&extents);
        let n = extents[1] as f64;
        let means: Vec<f64> = rows(&m).iter().map(|row| row.iter().sum::<f64>() / n).collect();
        let product = |i: usize, j: usize| -> f64 {
            rows(&m)[i].iter().zip(&rows(&m)[j]).map(|(x, y)| (x - means[i]) * (y - means[j])).sum()
        };
        let variances: Vec<f64> = (0..extents[0]).map(|i| product(i, i) / n).collect();
        let prog = afun(|m: Acc<Matrix<f64>>| (cov(m), layer_norm(0.5, m), log_cumsum_exp(m)));
        let expected = (
            tabulate::<Dim2, f64>(&[extents[0]; 2], |ix| product(ix[0], ix[1]) / (n - 1.0)),
            tabulate::<Dim2, f64>(&extents, |ix| (at(&m, ix) - means[ix[0]]) / (variances[ix[0]] + 0.5).sqrt()),
            tabulate::<Dim2, f64>(&extents, |ix| rows(&m)[ix[0]][..=ix[1]].iter().map(|x| x.exp()).sum::<f64>().ln()),
        );
        t.near(1e-12, prog, &m, expected);
    }
}

fn elements(t: &Suite) {
    let (inf, nan, most) = (f64::INFINITY, f64::NAN, f64::MAX);
    let prog = afun(|xs: Acc<Vector<f64>>| (xs.relu(), xs.clip(-1.0, 2.0), xs.nan_to_num(), xs.gelu()));
    let xs = Array::vector(vec![-inf, -3.0, -0.5, 0.0, 1.5, 5.0, inf, nan]);
    let gelu =
        vec![0.0, -0.0040496940948902835, -0.15426876936299344, 0.0, 1.399789198096713, 4.999998566742141, inf, nan];
    let expected = (
        Array::vector(vec![0.0, 0.0, 0.0, 0.0, 1.5, 5.0, inf, nan]),
        Array::vector(vec![-1.0, -1.0, -0.5, 0.0, 1.5, 2.0, 2.0, nan]),
        Array::vector(vec![-most, -3.0, -0.5, 0.0, 1.5, 5.0, most, 0.0]),
        Array::vector(gelu),
    );
    t.near(1e-14, prog, &xs, expected);
    let prog = afun(|xs: Acc<Vector<f32>>| (xs.nan_to_num(), xs.clip(xs - 1.0, 0.0)));
    let xs = Array::vector(vec![f32::NEG_INFINITY, 3.0, f32::NAN]);
    let clipped = Array::vector(vec![f32::NEG_INFINITY, 0.0, f32::NAN]);
    t.is(prog, &xs, (Array::vector(vec![f32::MIN, 3.0, 0.0]), clipped));
}

fn ladders(t: &Suite) {
    let prog = afun(|n: Acc<Scalar<i64>>| logspace::<f64>(-3.0, 3.0, the(n)));
    for (n, expected) in
        [(0, vec![]), (1, vec![1e-3]), (3, vec![1e-3, 1.0, 1e3]), (7, vec![1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3])]
    {
        t.near(1e-14, prog.clone(), &Array::scalar(n), Array::vector(expected));
    }
}
