//! Sorting: the order, ties, rows of all lengths, and keys of all types.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;
use std::cmp::Ordering;

pub fn all(t: &Suite) {
    of_type::<f64>(t);
    of_type::<f32>(t);
    of_type::<i64>(t);
    of_type::<i32>(t);
    of_type::<i16>(t);
    of_type::<i8>(t);
    of_type::<u64>(t);
    of_type::<u32>(t);
    of_type::<u16>(t);
    of_type::<u8>(t);
    of_type::<bool>(t);
    with_values::<Dim0, i32, Run>(t);
    with_values::<Dim1, u8, Affine>(t);
    with_values::<Dim2, f32, ()>(t);
    with_values::<Dim3, bool, f64>(t);
    of_computed_keys(t);
}

/// Keys with an order in which all elements can be compared.
trait Key: Primitive {
    /// Key `i` of the test data: many are equal.
    fn few(i: usize) -> Self;
    /// Key `i` of other test data: of all magnitudes, with the least and the greatest values.
    fn any(i: usize) -> Self;
    fn order(&self, other: &Self) -> Ordering;
}

macro_rules! integers {
    ($($t:ident)*) => { $(
        impl Key for $t {
            fn few(i: usize) -> Self {
                (i64::sample(i) % 5) as $t
            }
            fn any(i: usize) -> Self {
                match i % 11 {
                    3 => $t::MIN,
                    7 => $t::MAX,
                    k => (i64::sample(i) as $t) >> k.min($t::BITS as usize - 1),
                }
            }
            fn order(&self, other: &Self) -> Ordering {
                self.cmp(other)
            }
        }
    )* };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($t:ident)*) => { $(
        impl Key for $t {
            fn few(i: usize) -> Self {
                const KEYS: [$t; 7] = [0.0, -0.0, 1.5, -1.5, $t::NAN, -$t::NAN, $t::INFINITY];
                KEYS[i64::sample(i).rem_euclid(7) as usize]
            }
            fn any(i: usize) -> Self {
                let x = i64::sample(i) as $t;
                match i % 13 {
                    2 => $t::NEG_INFINITY,
                    5 => $t::MIN_POSITIVE / (3 + i) as $t,
                    6 => -$t::MIN_POSITIVE / (3 + i) as $t,
                    8 => x / $t::MAX,
                    k => x / (1u64 << k) as $t,
                }
            }
            fn order(&self, other: &Self) -> Ordering {
                self.partial_cmp(other).unwrap_or_else(|| self.is_nan().cmp(&other.is_nan()))
            }
        }
    )* };
}
floats!(f32 f64);

impl Key for bool {
    fn few(i: usize) -> Self {
        bool::sample(i)
    }
    fn any(i: usize) -> Self {
        i % 50 != 1
    }
    fn order(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }
}

fn keys<Sh: Shape, K: Key>(extents: &[usize], key: fn(usize) -> K) -> Array<Sh, K> {
    host(extents, (0..extents.iter().product()).map(key).collect())
}

fn positions<K: Key>(row: &[K]) -> Vec<i64> {
    let mut positions: Vec<i64> = (0..row.len() as i64).collect();
    positions.sort_by(|i, k| row[*i as usize].order(&row[*k as usize]));
    positions
}

/// From the largest key to the smallest one.
fn descending<K: Key>(row: &[K]) -> Vec<i64> {
    let mut positions: Vec<i64> = (0..row.len() as i64).collect();
    positions.sort_by(|i, k| row[*k as usize].order(&row[*i as usize]));
    positions
}

fn gathered<T: Clone>(row: &[T], positions: &[i64]) -> Vec<T> {
    positions.iter().map(|i| row[*i as usize].clone()).collect()
}

fn of_type<K: Key>(t: &Suite) {
    // Rows of lengths around powers of two, long rows, and many rows.
    let prog = afun(|xs: Acc<Matrix<K>>| (argsort(xs), sort(xs), argsort_descending(xs), sort_descending(xs)));
    for extents in [[0, 0], [0, 4], [4, 0], [1, 1], [3, 2], [2, 15], [2, 16], [3, 17], [2, 33], [1, 3_000], [100, 21]] {
        for xs in [keys::<Dim2, K>(&extents, K::few), keys(&extents, K::any)] {
            let up = map_rows(&xs, |n| n, |row| positions(&row));
            let down = map_rows(&xs, |n| n, |row| descending(&row));
            let sorted = |order: fn(&[K]) -> Vec<i64>| map_rows(&xs, |n| n, |row| gathered(&row, &order(&row)));
            let expected = (up, sorted(positions), down, sorted(descending));
            t.is(prog.clone(), &xs, expected);
        }
    }
    for extents in shapes(1) {
        let xs = keys::<Dim1, K>(extents, K::any);
        let expected = map_rows(&xs, |n| n, |row| positions(&row));
        t.is(afun(|xs: Acc<Vector<K>>| argsort(xs)), &xs, expected);
    }
}

fn with_values<Sh: Shape, K: Key, T: Sample>(t: &Suite) {
    for extents in shapes(Sh::RANK + 1) {
        let (keys, values) = (keys::<Snoc<Sh>, K>(extents, K::few), array::<Snoc<Sh>, T>(extents));
        let expected = |order: fn(&[K]) -> Vec<i64>| {
            let sorted = rows(&keys).into_iter().zip(rows(&values)).map(|(keys, values)| {
                let order = order(&keys);
                (gathered(&keys, &order), gathered(&values, &order))
            });
            let (keys, values): (Vec<_>, Vec<_>) = sorted.unzip();
            (host::<Snoc<Sh>, K>(extents, keys.concat()), host::<Snoc<Sh>, T>(extents, values.concat()))
        };
        type Arr<Sh, T> = Acc<Array<Snoc<Sh>, T>>;
        let prog = afun(|keys: Arr<Sh, K>, values: Arr<Sh, T>| sort_by_key(keys, values));
        t.is(prog, (&keys, &values), expected(positions));
        let prog = afun(|keys: Arr<Sh, K>, values: Arr<Sh, T>| sort_by_key_descending(keys, values));
        t.is(prog, (&keys, &values), expected(descending));
    }
}

/// The keys are computed in the program, and the positions are used in it.
fn of_computed_keys(t: &Suite) {
    let prog = afun(|xs: Acc<Vector<f64>>| {
        let squares = map(|x| x * x, xs);
        let from = argsort(squares);
        (map(|i| i * 2, from), scanl1(|a, b| a + b, gather(from, xs)))
    });
    for n in [0, 1, 40, 5000] {
        let xs = vector::<f64>(n);
        let order = positions(&xs.to_vec().iter().map(|x| x * x).collect::<Vec<_>>());
        let mut total = 0.0;
        let totals = gathered(&xs.to_vec(), &order).into_iter().map(|x| {
            total += x;
            total
        });
        let (totals, order) = (totals.collect(), order.iter().map(|i| 2 * i).collect());
        t.is(prog.clone(), &xs, (Array::vector(order), Array::vector(totals)));
    }
}
