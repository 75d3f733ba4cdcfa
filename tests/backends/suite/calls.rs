//! Scalar programs, called with numbers: `Compiled::call`.

use super::check::Suite;
use accel::prelude::*;

pub fn all(t: &Suite) {
    scalars(t, [true, false]);
    scalars(t, [0, i8::MIN, i8::MAX]);
    scalars(t, [0, i16::MIN, i16::MAX]);
    scalars(t, [0, i32::MIN, i32::MAX]);
    scalars(t, [0, i64::MIN, i64::MAX]);
    scalars(t, [0, 1, u8::MAX]);
    scalars(t, [0, 1, u16::MAX]);
    scalars(t, [0, 1, u32::MAX]);
    scalars(t, [0, 1, u64::MAX]);
    scalars(t, [0.5, -0.0, f32::MIN_POSITIVE, f32::INFINITY, f32::NAN]);
    scalars(t, [0.5, -0.0, f64::MIN_POSITIVE, f64::INFINITY, f64::NAN]);
    tuples(t);
    choices_and_loops(t);
    long_code(t);
    arrays_on_the_way(t);
    derivatives(t);
    a_failure_is_told_and_forgotten(t);
    many_threads(t);
}

fn scalars<T: Elt + Copy, const N: usize>(t: &Suite, samples: [T; N]) {
    let same = t.function(afun(|x: Acc<Scalar<T>>| map(|x| x, x)));
    let swapped = t.function(afun(|x: Acc<Scalar<T>>, y: Acc<Scalar<T>>| (y, x)));
    for x in samples {
        same.gives(x, x);
        swapped.gives((x, samples[0]), (samples[0], x));
    }
}

fn tuples(t: &Suite) {
    t.function(afun(|| unit(constant(7i64)))).gives((), 7);
    let f = t.function(afun(|x: Acc<Scalar<(f64, (i8, bool))>>, n: Acc<Scalar<f32>>| {
        (map(|(x, (n, b))| ((n, x + 0.5), b.not()), x), (n, map(|(x, _)| x.cast::<i32>(), x)))
    }));
    f.gives(((2.25, (-3, true)), 1.5), (((-3, 2.75), false), (1.5, 2)));
    f.gives(((-7.5, (4, false)), f32::INFINITY), (((4, -7.0), true), (f32::INFINITY, -7)));
    // More numbers than fit into the buffer on the stack.
    let sums = t.function(afun(|x: Acc<Scalar<Eight>>, y: Acc<Scalar<Eight>>| {
        zip_with(
            |(a, b, c, d, e, f, g, h), (i, j, k, l, m, n, o, p)| {
                (a + p, b + o, c + n, d + m, e + l, f + k, g + j, h + i)
            },
            x,
            y,
        )
    }));
    sums.gives(((1, 2, 3, 4, 5, 6, 7, 8), (10, 20, 30, 40, 50, 60, 70, 80)), (81, 72, 63, 54, 45, 36, 27, 18));
}

type Eight = (i64, i64, i64, i64, i64, i64, i64, i64);

fn choices_and_loops(t: &Suite) {
    // The greatest common divisor, in scalar code and as a loop over arrays.
    let inner = t.function(afun(|x: Acc<Scalar<(i64, i64)>>| {
        map(|(a, b)| while_(|(_, b)| b.ne(0), |(a, b)| (b, a % b), (a, b)).0, x)
    }));
    let outer = t.function(afun(|a: Acc<Scalar<i64>>, b: Acc<Scalar<i64>>| {
        let step = |(a, b): (Acc<Scalar<i64>>, Acc<Scalar<i64>>)| (b, zip_with(|a, b| a % b, a, b));
        awhile(|(_, b): (Acc<Scalar<i64>>, Acc<Scalar<i64>>)| the(b).ne(0), step, (a, b)).0
    }));
    for (a, b, d) in [(12, 18, 6), (17, 5, 1), (0, 9, 9), (9, 0, 9), (1 << 40, 3 << 20, 1 << 20)] {
        inner.gives((a, b), d);
        outer.gives((a, b), d);
    }
    let larger = t.function(afun(|x: Acc<Scalar<f64>>, y: Acc<Scalar<f64>>| acond(the(x).gt(the(y)), x, y)));
    larger.gives((1.0, 2.0), 2.0);
    larger.gives((3.0, 2.0), 3.0);
}

/// More operations than the host program executes inline in other programs.
fn long_code(t: &Suite) {
    let horner = |x: Exp<f64>| (0..100).fold(x, |y, k| y * x + k as f64);
    let f = t.function(afun(move |x: Acc<Scalar<f64>>| map(horner, x)));
    for x in [0.0, 0.5, -0.875] {
        f.gives(x, (0..100).fold(x, |y, k| y * x + k as f64));
    }
}

/// These are not scalar programs, because they contain arrays.
fn arrays_on_the_way(t: &Suite) {
    let f = t.function(afun(|n: Acc<Scalar<i64>>| sum(generate(the(n), |i| i * i))));
    f.gives(0, 0);
    f.gives(1000, 332_833_500);
    // So many elements that several threads take part.
    f.gives(300_000, 8_999_955_000_050_000);
    let f = t.function(afun(|n: Acc<Scalar<i64>>| {
        let squares = scanl1(|a, b| a + b, generate(10, |i| i * i));
        unit(squares.at(the(n)))
    }));
    f.gives(9, 285);
    assert!(matches!(f.compiled.call(10), Err(Error::OutOfBounds { .. })));
}

fn derivatives(t: &Suite) {
    let f = afun(|x: Acc<Scalar<f64>>, y: Acc<Scalar<f64>>| zip_with(|x, y| x * x * y, x, y));
    t.function(value_and_grad(&f)).gives((3.0, 5.0), (45.0, (30.0, 9.0)));
    let with_sum = afun(|x: Acc<Scalar<f64>>, y: Acc<Scalar<f64>>| (x * x * y, x + y));
    t.function(value_and_grad_with_aux(&with_sum)).gives((3.0, 5.0), ((45.0, 8.0), (30.0, 9.0)));
}

fn a_failure_is_told_and_forgotten(t: &Suite) {
    let f = t.function(afun(|x: Acc<Scalar<i64>>| map(|x| 100 / x, x)));
    for _ in 0..3 {
        f.gives(7, 14);
        assert!(matches!(f.compiled.call(0), Err(Error::DivisionByZero { .. })));
    }
}

fn many_threads(t: &Suite) {
    let f = t.function(afun(|x: Acc<Scalar<i64>>| {
        map(|x| while_(|(n, _)| n.gt(0), |(n, s)| (n - 1, s + n), (x, 0i64)).1, x)
    }));
    std::thread::scope(|scope| {
        for first in 0..4 {
            let f = &f.compiled;
            let sum = |n: i64| n * (n + 1) / 2;
            scope.spawn(move || (first..first + 50).for_each(|n| assert_eq!(f.call(n).unwrap(), sum(n))));
        }
    });
}
