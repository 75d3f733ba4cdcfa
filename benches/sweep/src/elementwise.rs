//! Functions of single elements.

use crate::extents::{BOXES, MATRICES, VECTORS};
use crate::hand::{Real, array, integers, map as by_hand, name, real, reals, room, rows, truths, zip as zip_by_hand};
use crate::kernel::{Extents, Sweep, Work};
use accel::prelude::*;

pub fn add(sweep: &mut Sweep) {
    maps::<f32>(sweep);
    maps::<f64>(sweep);
    Work {
        name: "map, i32".into(),
        extents: VECTORS,
        inputs: |e| array(e, integers::<i32>(1, e[0], 1000)),
        program: afun(|xs: Acc<Vector<i32>>| map(|x| x * 3 + 1, xs)),
        by_hand: |xs| Vector::vector(by_hand(xs.as_slice(), |x| x * 3 + 1)),
    }
    .add(sweep);
    Work {
        name: "map, i64".into(),
        extents: VECTORS,
        inputs: |e| array(e, integers::<i64>(1, e[0], 1000)),
        program: afun(|xs: Acc<Vector<i64>>| map(|x| x * 3 + 1, xs)),
        by_hand: |xs| Vector::vector(by_hand(xs.as_slice(), |x| x * 3 + 1)),
    }
    .add(sweep);
    Work {
        name: "zip_with, bool".into(),
        extents: VECTORS,
        inputs: |e| (array(e, truths(1, e[0])), array(e, truths(2, e[0]))),
        program: afun(|xs: Acc<Vector<bool>>, ys: Acc<Vector<bool>>| zip_with(|x, y| x.and(!y), xs, ys)),
        by_hand: |(xs, ys)| Vector::vector(zip_by_hand(xs.as_slice(), ys.as_slice(), |x, y| x & !y)),
    }
    .add(sweep);
    hashes(sweep);
}

fn maps<T: Real>(sweep: &mut Sweep) {
    let inputs = |e: Extents| array::<Dim1, T>(e, reals(1, e[0]));
    let two = |e: Extents| (array::<Dim1, T>(e, reals(1, e[0])), array::<Dim1, T>(e, reals(2, e[0])));

    let program = afun(|xs: Acc<Vector<T>>| map(|x| x * x + real::<T>(1.0), xs));
    Work {
        name: format!("map, {}", name::<T>()),
        extents: VECTORS,
        inputs,
        program: program.clone(),
        by_hand: |xs| Vector::vector(by_hand(xs.as_slice(), |x| x * x + T::from_f64(1.0))),
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |xs, dy| Vector::vector(zip_by_hand(xs.as_slice(), dy.as_slice(), |x, dy| (x + x) * dy)),
        sweep,
    );

    let program = afun(|xs: Acc<Vector<T>>| map(|x| cond::<T>(x.gt(real::<T>(0.5)), x * x, x * real::<T>(0.5)), xs));
    Work {
        name: format!("conditional map, {}", name::<T>()),
        extents: VECTORS,
        inputs,
        program: program.clone(),
        by_hand: |xs| {
            let half = T::from_f64(0.5);
            Vector::vector(by_hand(xs.as_slice(), |x| if x > half { x * x } else { x * half }))
        },
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |xs, dy| {
            let half = T::from_f64(0.5);
            let each = |x, dy| if x > half { (x + x) * dy } else { half * dy };
            Vector::vector(zip_by_hand(xs.as_slice(), dy.as_slice(), each))
        },
        sweep,
    );

    let program = afun(|xs: Acc<Vector<T>>, ys: Acc<Vector<T>>| zip_with(|x, y| x * y + x, xs, ys));
    Work {
        name: format!("zip_with, {}", name::<T>()),
        extents: VECTORS,
        inputs: two,
        program: program.clone(),
        by_hand: |(xs, ys)| Vector::vector(zip_by_hand(xs.as_slice(), ys.as_slice(), |x, y| x * y + x)),
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |(xs, ys), dz| {
            let (by_x, by_y) = adjoints(xs.as_slice(), ys.as_slice(), dz.as_slice());
            (Vector::vector(by_x), Vector::vector(by_y))
        },
        sweep,
    );

    // The results of both sides are the columns of the tuples.
    let program = afun(|xs: Acc<Vector<T>>, ys: Acc<Vector<T>>| unzip(map(|(x, y)| (x * y, x - y), zip(xs, ys))));
    Work {
        name: format!("map of tuples, {}", name::<T>()),
        extents: VECTORS,
        inputs: two,
        program: program.clone(),
        by_hand: |(xs, ys)| {
            let products = zip_by_hand(xs.as_slice(), ys.as_slice(), |x, y| x * y);
            (Vector::vector(products), Vector::vector(zip_by_hand(xs.as_slice(), ys.as_slice(), |x, y| x - y)))
        },
    }
    .add(sweep);

    let matrices = |e: Extents| {
        let matrix = |seed| array::<Dim2, T>(e, reals(seed, e[0] * e[1]));
        (matrix(1), matrix(2))
    };
    let program = afun(|xs: Acc<Matrix<T>>, ys: Acc<Matrix<T>>| zip_with(|x, y| x * y + x, xs, ys));
    Work {
        name: format!("zip_with of matrices, {}", name::<T>()),
        extents: MATRICES,
        inputs: matrices,
        program: program.clone(),
        by_hand: |(xs, ys)| array(&xs.shape(), zip_by_hand(xs.as_slice(), ys.as_slice(), |x, y| x * y + x)),
    }
    .add(sweep)
    .adjoint(
        &vjp(&program),
        |(xs, ys), dz| {
            let (by_x, by_y) = adjoints(xs.as_slice(), ys.as_slice(), dz.as_slice());
            (array(&xs.shape(), by_x), array(&xs.shape(), by_y))
        },
        sweep,
    );

    let program = afun(|xs: Acc<Matrix<T>>, row: Acc<Vector<T>>| {
        let (n, _) = xs.shape();
        zip_with(|x, y| x - y, xs, replicate((n, All), row))
    });
    Work {
        name: format!("matrices minus a row, {}", name::<T>()),
        extents: MATRICES,
        inputs: |e: Extents| (array::<Dim2, T>(e, reals(1, e[0] * e[1])), array::<Dim1, T>(&e[1..], reals(2, e[1]))),
        program,
        by_hand: |(xs, row)| {
            let m = row.len();
            let mut out = room(xs.as_slice().len());
            rows(&mut out, m, m, |i, out| {
                for ((out, x), y) in out.iter_mut().zip(&xs.as_slice()[i * m..]).zip(row.as_slice()) {
                    *out = *x - *y;
                }
            });
            array(&xs.shape(), out)
        },
    }
    .add(sweep);

    let program = afun(|xs: Acc<Array<Dim4, T>>| map(|x| x * x + real::<T>(1.0), xs));
    Work {
        name: format!("map of rank 4, {}", name::<T>()),
        extents: BOXES,
        inputs: |e: Extents| array::<Dim4, T>(e, reals(1, e.iter().product())),
        program,
        by_hand: |xs| array(&xs.shape(), by_hand(xs.as_slice(), |x| x * x + T::from_f64(1.0))),
    }
    .add(sweep);
}

/// The adjoints of `x` and `y`, for that of `x * y + x`.
fn adjoints<T: Real>(xs: &[T], ys: &[T], dz: &[T]) -> (Vec<T>, Vec<T>) {
    (zip_by_hand(ys, dz, |y, dz| (y + T::from_f64(1.0)) * dz), zip_by_hand(xs, dz, |x, dz| x * dz))
}

/// Eight steps of a generator of random numbers.
fn hashes(sweep: &mut Sweep) {
    const STEPS: i64 = 8;
    Work {
        name: "hashes, i64".into(),
        extents: VECTORS,
        inputs: |e| array(e, integers::<i64>(1, e[0], 1 << 40)),
        program: afun(|xs: Acc<Vector<i64>>| {
            map(|x| iterate(STEPS, |x: Exp<i64>| x * 6364136223846793005 + 1442695040888963407, x), xs)
        }),
        by_hand: |xs| {
            let step = |x: i64, _| x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            Vector::vector(by_hand(xs.as_slice(), |x| (0..STEPS).fold(x, step)))
        },
    }
    .add(sweep);
    Work {
        name: "hashes, i32".into(),
        extents: VECTORS,
        inputs: |e| array(e, integers::<i32>(1, e[0], 1 << 30)),
        program: afun(|xs: Acc<Vector<i32>>| {
            map(
                |x| {
                    let x = x ^ (x << 13);
                    let x = x ^ (x >> 17);
                    (x ^ (x << 5)) * 1664525
                },
                xs,
            )
        }),
        by_hand: |xs| {
            let hash = |x: i32| {
                let x = x ^ (x << 13);
                let x = x ^ (x >> 17);
                (x ^ (x << 5)).wrapping_mul(1664525)
            };
            Vector::vector(by_hand(xs.as_slice(), hash))
        },
    }
    .add(sweep);
}
