//! `pad` and `stencil` with all boundaries, on arrays of one to three dimensions, also with pads that are longer than the array.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    negative_widths(t);
    pads::<i32>(t);
    pads::<Run>(t);
    vectors(t);
    images(t);
    volumes(t);
}

/// The index inside for an index that may lie outside of an extent.
type Place = fn(i64, i64) -> i64;

const CLAMP: Place = |i, n| i.clamp(0, n - 1);
const WRAP: Place = |i, n| i.rem_euclid(n);
const MIRROR: Place = |i, n| {
    let i = i.rem_euclid((2 * n - 2).max(1));
    i.min(2 * n - 2 - i)
};

/// The element at an index that may lie outside; `None` where the boundary does not repeat elements.
fn read<Sh: Shape, T: Elt>(xs: &Array<Sh, T>, ix: &[i64], place: Option<Place>) -> Option<T> {
    let extents = xs.shape();
    let inside = ix.iter().zip(extents.iter()).all(|(i, n)| (0..*n as i64).contains(i));
    let place = if inside { CLAMP } else { place? };
    Some(at(xs, &ix.iter().zip(extents.iter()).map(|(i, n)| place(*i, *n as i64) as usize).collect::<Vec<_>>()))
}

/// A negative width would cut elements off.
fn negative_widths(t: &Suite) {
    let text = |line: u32, found: &str| format!("`pad` at {}:{line}: expected at least 0, found {found}", file!());
    let in_rows = text(line!() + 1, "-1 in [1, -1]");
    let prog = afun(|width: Acc<Scalar<i64>>, m: Acc<Matrix<f64>>| pad((1, the(width)), (0, 2), Clamp, m));
    t.fails(prog, (&Array::scalar(-1), &array::<Dim2, f64>(&[2, 3])), &in_rows);
    let in_vector = text(line!() + 1, "-2");
    let prog = afun(|v: Acc<Vector<f64>>| sum(pad(0, -2, Constant(0.0), v)));
    t.fails(grad(prog), &array::<Dim1, f64>(&[5]), &in_vector);
}

fn pads<T: Sample>(t: &Suite) {
    for extents in [[1, 1], [1, 3], [4, 2], [5, 40]] {
        let (m, x): (Matrix<T>, T) = (array(&extents), T::sample(77));
        let prog = afun(|m: Acc<Matrix<T>>, x: Acc<Scalar<T>>| {
            let (x, before, after) = (the(x), (2, 1), (0, 5));
            let first =
                |(i, j): (Exp<i64>, Exp<i64>)| cond::<T>(i.lt(0), m.at((0, 0)), cond::<T>(j.lt(0), x, m.at((0, 0))));
            (
                pad(before, after, Clamp, m),
                pad(before, after, Mirror, m),
                pad(before, after, Wrap, m),
                pad(before, after, Constant(x), m),
                pad(before, after, Outside(first), m),
            )
        });
        let of = |place: Option<Place>, outside: &dyn Fn(&[i64]) -> T| -> Matrix<T> {
            tabulate(&[extents[0] + 2, extents[1] + 6], |ix| {
                let ix = [ix[0] as i64 - 2, ix[1] as i64 - 1];
                read(&m, &ix, place).unwrap_or_else(|| outside(&ix))
            })
        };
        let (same, corner) = (|_: &[i64]| x.clone(), at(&m, &[0, 0]));
        let first = |ix: &[i64]| if ix[0] >= 0 && ix[1] < 0 { x.clone() } else { corner.clone() };
        let expected =
            (of(Some(CLAMP), &same), of(Some(MIRROR), &same), of(Some(WRAP), &same), of(None, &same), of(None, &first));
        t.is(prog, (&m, &Array::scalar(x.clone())), expected);
    }
}

fn vectors(t: &Suite) {
    for n in [0, 1, 2, 3, 200] {
        let xs: Vector<f64> = vector(n);
        let prog = afun(|xs: Acc<Vector<f64>>| {
            let f = |a: Exp<f64>, b: Exp<f64>, c: Exp<f64>| a - 2.0 * b + 0.5 * c;
            (
                stencil(Clamp, |x| f(x.at(-2), x.at(0), x.at(1)), xs),
                stencil(Mirror, |x| f(x.at(-2), x.at(0), x.at(1)), xs),
                stencil(Wrap, |x| f(x.at(-2), x.at(0), x.at(1)), xs),
                stencil(Constant(4.0), |x| f(x.at(-2), x.at(0), x.at(1)), xs),
                stencil(Outside(|i: Exp<i64>| i.cast::<f64>()), |x| f(x.at(-2), x.at(0), x.at(1)), xs),
            )
        });
        let of = |place: Option<Place>, outside: fn(i64) -> f64| -> Vector<f64> {
            tabulate(&[n], |ix| {
                let x = |d: i64| {
                    let i = ix[0] as i64 + d;
                    read(&xs, &[i], place).unwrap_or_else(|| outside(i))
                };
                x(-2) - 2.0 * x(0) + 0.5 * x(1)
            })
        };
        let four: fn(i64) -> f64 = |_| 4.0;
        let expected = (
            of(Some(CLAMP), four),
            of(Some(MIRROR), four),
            of(Some(WRAP), four),
            of(None, four),
            of(None, |i| i as f64),
        );
        t.is(prog, &xs, expected);
    }
}

fn images(t: &Suite) {
    for extents in [[1, 1], [2, 3], [20, 37]] {
        let m: Matrix<f64> = array(&extents);
        let prog = afun(|m: Acc<Matrix<f64>>| {
            let five = |x: Exp<f64>, [a, b, c, d]: [Exp<f64>; 4]| 4.0 * x - a - b - c - d;
            (
                stencil(Clamp, |x| five(x.at((0, 0)), [(-1, 0), (1, 0), (0, -1), (0, 1)].map(|d| x.at(d))), m),
                stencil(Mirror, |x| five(x.at((0, 0)), [(-1, -1), (1, 1), (1, -1), (-1, 1)].map(|d| x.at(d))), m),
                stencil(Wrap, |x| five(x.at((0, 0)), [(-2, 0), (1, 3), (0, -1), (0, 2)].map(|d| x.at(d))), m),
                stencil(Constant(1.5), |x| five(x.at((0, 0)), [(-1, 0), (1, 0), (0, -1), (0, 1)].map(|d| x.at(d))), m),
            )
        });
        let of = |place: Option<Place>, offsets: [(i64, i64); 4]| -> Matrix<f64> {
            tabulate(&extents, |ix| {
                let x = |(i, j)| read(&m, &[ix[0] as i64 + i, ix[1] as i64 + j], place).unwrap_or(1.5);
                offsets.into_iter().fold(4.0 * x((0, 0)), |sum, d| sum - x(d))
            })
        };
        let cross = [(-1, 0), (1, 0), (0, -1), (0, 1)];
        let expected = (
            of(Some(CLAMP), cross),
            of(Some(MIRROR), [(-1, -1), (1, 1), (1, -1), (-1, 1)]),
            of(Some(WRAP), [(-2, 0), (1, 3), (0, -1), (0, 2)]),
            of(None, cross),
        );
        t.is(prog, &m, expected);
    }
}

fn volumes(t: &Suite) {
    let extents = [3, 4, 5];
    let xs: Array<Dim3, i64> = array(&extents);
    let prog = afun(|xs: Acc<Array<Dim3, i64>>| {
        (
            stencil(Clamp, |x| x.at((1, -1, 0)) - x.at((0, 0, 2)), xs),
            stencil(Constant(7), |x| x.at((1, -1, 0)) - x.at((0, 0, 2)), xs),
        )
    });
    let of = |place: Option<Place>| -> Array<Dim3, i64> {
        tabulate(&extents, |ix| {
            let x = |d: [i64; 3]| {
                let ix: Vec<_> = ix.iter().zip(d).map(|(i, d)| *i as i64 + d).collect();
                read(&xs, &ix, place).unwrap_or(7)
            };
            x([1, -1, 0]).wrapping_sub(x([0, 0, 2]))
        })
    };
    t.is(prog, &xs, (of(Some(CLAMP)), of(None)));
}
