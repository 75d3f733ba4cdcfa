//! Arrays put together, taken apart, turned round and repeated: `flip`, `roll`, `tile`, `split`, `split_at`, `stack`, `concat` along an
//! axis, `expand_dims`, `squeeze`, `in_order`, `axis`, `meshgrid`, and ranges in `slice` and `set_slice`. Each program has many results.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    matrices::<i32>(t);
    matrices::<Affine>(t);
    matrices::<Run>(t);
    ranges::<f64>(t);
    ranges::<Affine>(t);
    orders::<f32>(t);
    orders::<Run>(t);
    grids(t);
    steps(t);
    steps_down(t);
    wrong_steps(t);
    extents_that_would_wrap(t);
    distances(t);
}

type A3<T> = Array<Dim3, T>;

fn matrices<T: Sample>(t: &Suite) {
    for [r, c] in [[2, 2], [4, 6], [12, 2], [2, 130]] {
        let (m, w): (Matrix<T>, Matrix<T>) = (array(&[r, c]), other_array(&[r, c], 1));
        let of = |r, c, place: &dyn Fn(usize, usize) -> [usize; 2]| -> Matrix<T> {
            tabulate(&[r, c], |ix| at(&m, &place(ix[0], ix[1])))
        };
        let turned = afun(|m: Acc<Matrix<T>>| {
            (m.flip::<0>(), m.flip::<1>(), roll(1, m), roll(-3, m), tile((2, 3), m), tile((0, 1), m))
        });
        let turns = (
            of(r, c, &|i, j| [r - 1 - i, j]),
            of(r, c, &|i, j| [i, c - 1 - j]),
            of(r, c, &|i, j| [i, (j + c - 1) % c]),
            of(r, c, &|i, j| [i, (j + 3) % c]),
            of(2 * r, 3 * c, &|i, j| [i % r, j % c]),
            of(0, c, &|i, j| [i, j]),
        );
        t.is(turned, &m, turns);

        let parted = afun(|m: Acc<Matrix<T>>| {
            let ([a, b], [c, d]) = (m.split::<0, 2>(), m.split::<1, 2>());
            let ((e, f), (g, h)) = (m.split_at::<0>(1), m.split_at::<1>(-1));
            (a, b, c, d, e, f, g, h)
        });
        let parts = (
            of(r / 2, c, &|i, j| [i, j]),
            of(r / 2, c, &|i, j| [r / 2 + i, j]),
            of(r, c / 2, &|i, j| [i, j]),
            of(r, c / 2, &|i, j| [i, c / 2 + j]),
            of(1, c, &|i, j| [i, j]),
            of(r - 1, c, &|i, j| [i + 1, j]),
            of(r, c - 1, &|i, j| [i, j]),
            of(r, 1, &|i, _| [i, c - 1]),
        );
        t.is(parted, &m, parts);

        let joined = afun(|m: Acc<Matrix<T>>, w: Acc<Matrix<T>>| {
            let flat = (m.expand_dims::<0>(), m.expand_dims::<1>(), m.expand_dims::<2>());
            (stack([m, w]), stack_inner([m, w, m]), m.concat::<0>(w), m.concat::<1>(w), flat, stack([m]).squeeze::<0>())
        });
        let both = |k: usize, ix: &[usize]| at(if k == 1 { &w } else { &m }, ix);
        let flat =
            |extents: [usize; 3], (i, j): (usize, usize)| -> A3<T> { tabulate(&extents, |ix| at(&m, &[ix[i], ix[j]])) };
        let joints = (
            tabulate::<Dim3, T>(&[2, r, c], |ix| both(ix[0], &ix[1..])),
            tabulate::<Dim3, T>(&[r, c, 3], |ix| both(ix[2], &ix[..2])),
            tabulate::<Dim2, T>(&[2 * r, c], |ix| both(ix[0] / r, &[ix[0] % r, ix[1]])),
            tabulate::<Dim2, T>(&[r, 2 * c], |ix| both(ix[1] / c, &[ix[0], ix[1] % c])),
            (flat([1, r, c], (1, 2)), flat([r, 1, c], (0, 2)), flat([r, c, 1], (0, 1))),
            m.clone(),
        );
        t.is(joined, (&m, &w), joints);
    }
}

fn ranges<T: Sample>(t: &Suite) {
    for [r, c] in [[3, 4], [7, 33]] {
        let (m, w): (Matrix<T>, Matrix<T>) = (array(&[r, c]), other_array(&[r - 1, c - 2], 1));
        let of = |r, c, place: &dyn Fn(usize, usize) -> [usize; 2]| -> Matrix<T> {
            tabulate(&[r, c], |ix| at(&m, &place(ix[0], ix[1])))
        };
        let parts = afun(|m: Acc<Matrix<T>>, w: Acc<Matrix<T>>, k: Acc<Scalar<i64>>| {
            let last = slice((-1, between(1, the(k))), m);
            let changed = set_slice(m, (1.., between(1, -1)), w);
            (slice((1..3, ..-1), m), slice((every(2, ..), every(3, 1..)), m), last, changed, set_row(m, 1, last_row(m)))
        });
        let inside = |i: usize, j: usize| i > 0 && j > 0 && j + 1 < c;
        let expected = (
            of(2, c - 1, &|i, j| [i + 1, j]),
            of(r.div_ceil(2), (c - 1).div_ceil(3), &|i, j| [2 * i, 3 * j + 1]),
            tabulate::<Dim1, T>(&[2], |ix| at(&m, &[r - 1, ix[0] + 1])),
            tabulate::<Dim2, T>(&[r, c], |ix| match inside(ix[0], ix[1]) {
                true => at(&w, &[ix[0] - 1, ix[1] - 1]),
                false => at(&m, ix),
            }),
            of(r, c, &|i, j| [if i == 1 { r - 1 } else { i }, j]),
        );
        t.is(parts, (&m, &w, &Array::scalar(3)), expected);
    }
}

fn last_row<T: Elt>(m: Acc<Matrix<T>>) -> Acc<Vector<T>> {
    slice((-1, All), m)
}

fn orders<T: Sample>(t: &Suite) {
    for extents in [[2, 3, 5], [1, 7, 40], [3, 0, 4]] {
        let xs: A3<T> = array(&extents);
        let of = |order: [usize; 3]| -> A3<T> {
            tabulate(&order.map(|k| extents[k]), |ix| {
                let mut from = [0; 3];
                order.iter().zip(ix).for_each(|(k, i)| from[*k] = *i);
                at(&xs, &from)
            })
        };
        let moved = afun(|xs: Acc<A3<T>>| {
            let same = xs.axis::<1>().back_to_axis::<1>();
            (
                xs.in_order([2, 0, 1]),
                xs.in_order([2, 1, 0]),
                xs.in_order([0, 2, 1]),
                xs.axis::<0>(),
                xs.axis::<1>(),
                same,
            )
        });
        let expected = (of([2, 0, 1]), of([2, 1, 0]), of([0, 2, 1]), of([1, 2, 0]), of([0, 2, 1]), xs.clone());
        t.is(moved, &xs, expected);
    }
}

fn grids(t: &Suite) {
    for (n, k) in [(3, 4), (1, 50), (0, 2)] {
        let (xs, ys): (Vector<i64>, Vector<f64>) = (vector(n), vector(k));
        let expected = (
            tabulate::<Dim2, i64>(&[k, n], |ix| at(&xs, &ix[1..])),
            tabulate::<Dim2, f64>(&[k, n], |ix| at(&ys, &ix[..1])),
        );
        t.is(afun(|xs: Acc<Vector<i64>>, ys: Acc<Vector<f64>>| meshgrid(xs, ys)), (&xs, &ys), expected);
    }
}

/// Steps up to the largest integer, and of each remainder.
fn steps(t: &Suite) {
    for n in [0usize, 1, 2, 5, 130] {
        let xs: Vector<f64> = array(&[n]);
        for step in [1, 2, 3, 129, 130, i64::MAX] {
            let prog = afun(|step: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>| {
                let zeros = fill(shape(slice(every(the(step), ..), xs)), 0.0);
                (
                    slice(every(the(step), ..), xs),
                    slice(every(the(step), 0..), xs),
                    set_slice(xs, every(the(step), ..), zeros),
                )
            });
            let size = usize::try_from(step).unwrap();
            let chosen: Vector<f64> = Array::vector(xs.iter().step_by(size).collect());
            let rest = xs.iter().enumerate().map(|(i, x)| if i % size == 0 { 0.0 } else { x }).collect();
            t.is(prog, (&Array::scalar(step), &xs), (chosen.clone(), chosen, Array::vector(rest)));
        }
    }
}

/// Steps from the last index of a range down.
fn steps_down(t: &Suite) {
    let prog = afun(|step: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>| {
        let zeros = fill(shape(slice(every(the(step), ..), xs)), 0.0);
        let parts = (slice(every(the(step), ..), xs), slice(every(the(step), between(1, -1)), xs));
        (parts, set_slice(xs, every(the(step), ..), zeros), slice(every(-1, ..), xs), slice(every(-3, 1..), xs))
    });
    for n in [2usize, 5, 130] {
        let xs: Vector<f64> = array(&[n]);
        let down = |xs: &[f64], step: usize| Array::vector(xs.iter().rev().copied().step_by(step).collect::<Vec<_>>());
        for step in [-1, -2, -3, -130, i64::MIN + 1, i64::MIN] {
            let (all, size) = (xs.to_vec(), usize::try_from(step.unsigned_abs()).unwrap());
            let rest = (0..n).map(|i| if (n - 1 - i) % size == 0 { 0.0 } else { all[i] }).collect();
            let parts = (down(&all, size), down(&all[1..n - 1], size));
            let expected = (parts, Array::vector(rest), down(&all, 1), down(&all[1..], 3));
            t.is(prog.clone(), (&Array::scalar(step), &xs), expected);
        }
    }
}

/// A step of 0 is an error for any number of elements, and so is a range that ends before it begins.
fn wrong_steps(t: &Suite) {
    let prog = afun(|step: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>| slice(every(the(step), ..), xs));
    let line = line!() - 1;
    for n in [0usize, 1, 2, 5] {
        let text = format!("`slice` at {}:{line}: expected at least 1, found 0", file!());
        t.fails(prog.clone(), (&Array::scalar(0), &array::<Dim1, f64>(&[n])), &text);
    }
    let prog = afun(|xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| set_slice(xs, every(0, ..), ys));
    let text = format!("`set_slice` at {}:{}: expected at least 1, found 0", file!(), line!() - 1);
    t.fails(prog, (&array::<Dim1, f64>(&[3]), &array::<Dim1, f64>(&[3])), &text);
    let prog = afun(|step: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>| slice(every(the(step), between(4, 2)), xs));
    let line = line!() - 1;
    for step in [1, 5, i64::MAX, -1, i64::MIN] {
        let text = format!("`slice` at {}:{line}: expected extents that are not negative, found [-2]", file!());
        t.fails(prog.clone(), (&Array::scalar(step), &array::<Dim1, f64>(&[5])), &text);
    }
}

/// Numbers for which a sum or a product of extents would be an extent by chance.
fn extents_that_would_wrap(t: &Suite) {
    let (m, most) = (array::<Dim2, f64>(&[2, 4]), 1i64 << 48);
    let repeated = afun(|k: Acc<Scalar<i64>>, m: Acc<Matrix<f64>>| tile((1, the(k)), m));
    let line = line!() - 1;
    for k in [1i64 << 62, i64::MAX, -1, i64::MIN] {
        let bound = if k < 0 { "least 0".into() } else { format!("most {}", most / 4) };
        let text = format!("`tile` at {}:{line}: expected at {bound}, found {k} in [1, {k}]", file!());
        t.fails(repeated.clone(), (&Array::scalar(k), &m), &text);
    }
    let wider = afun(|k: Acc<Scalar<i64>>, m: Acc<Matrix<f64>>| pad((0, 0), (1, the(k)), Clamp, m));
    let line = line!() - 1;
    for k in [i64::MIN, i64::MAX, i64::MIN + 7, most + 1] {
        let bound = if k < 0 { "least 0".into() } else { format!("most {most}") };
        let text = format!("`pad` at {}:{line}: expected at {bound}, found {k} in [1, {k}]", file!());
        t.fails(wider.clone(), (&Array::scalar(k), &m), &text);
    }
}

/// `roll` by any distance.
fn distances(t: &Suite) {
    let prog = afun(|k: Acc<Scalar<i64>>, xs: Acc<Vector<f64>>| (roll(the(k), xs), roll(i64::MIN, xs)));
    for n in [0usize, 1, 3, 100] {
        let xs: Vector<f64> = array(&[n]);
        let rolled = |k: i64| -> Vector<f64> {
            tabulate(&[n], |ix| at(&xs, &[(ix[0] as i128 - i128::from(k)).rem_euclid(n as i128) as usize]))
        };
        for k in [i64::MIN, i64::MIN + 1, -1, 0, 2, i64::MAX] {
            t.is(prog.clone(), (&Array::scalar(k), &xs), (rolled(k), rolled(i64::MIN)));
        }
    }
}
