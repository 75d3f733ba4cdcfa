//! The method of generalised minimal residuals, restarted.

use super::{S, Steps, Stop, V, epsilon};
use crate::linalg::{Triangle, eye, solve_triangular};
use crate::types::Floating;
use crate::{
    Acc, All, Exp, Matrix, awhile, cond, fill, generate, lit, map, matvec, norm, set_row, slice, the, transpose, unit,
};

/// The number of steps between two restarts.
const RESTART: i64 = 20;

/// The solution, the number of steps, and the residual in relation to `b` (Saad 2003, algorithm 9.5, with restarts).
pub(super) fn minimal_residuals<T: Floating>(
    stop: Stop,
    product: impl Fn(V<T>) -> V<T>,
    precondition: impl Fn(V<T>) -> V<T>,
    b: V<T>,
) -> (V<T>, Steps, S<T>) {
    type State<T> = (V<T>, V<T>, S<T>, Steps);
    let all = norm(b);
    let relative = |size: S<T>| map(|x: Exp<T>| x / the(all).max(lit::<T>(f64::MIN_POSITIVE)), size);
    let goes_on = |size: S<T>, steps: Steps| the(size).gt(lit::<T>(0.0)).and(stop.goes_on(relative(size), steps));
    let cycle = |(x, rest, size, steps): State<T>| {
        let map = |v: V<T>| product(precondition(v));
        let more = |left: S<T>, taken: Exp<i64>| goes_on(left, unit(the(steps) + taken));
        let (change, taken) = cycle(map, more, rest, size);
        let x = x + precondition(change);
        let rest = b - product(x);
        (x, rest, norm(rest), unit(the(steps) + the(taken).max(1)))
    };
    let begin = (fill(b.shape(), lit::<T>(0.0)), b, all, unit(0i64));
    let (x, _, size, steps) = awhile(|(_, _, size, steps)| goes_on(size, steps), cycle, begin);
    (x, steps, relative(size))
}

/// The vector of the Krylov space of `rest` whose image is nearest to `rest`, and the dimension of the space. It grows as long as `more` of what is left and of
/// the dimension says so.
///
/// Row k of the basis is orthogonal to those before. The image of row k is the sum of the rows with the factors in a column of a Hessenberg matrix;
/// rotations turn this matrix into a triangle. What is left of `rest` is in the first column of their product.
fn cycle<T: Floating>(
    map: impl Fn(V<T>) -> V<T>,
    more: impl Fn(S<T>, Exp<i64>) -> Exp<bool>,
    rest: V<T>,
    size: S<T>,
) -> (V<T>, Steps) {
    type M<T> = Acc<Matrix<T>>;
    type State<T> = (M<T>, M<T>, M<T>, S<T>, Steps);
    let zero = || lit::<T>(0.0);
    let step = |(basis, triangle, rotations, _, taken): State<T>| {
        let k = the(taken);
        let image = map(slice((k, All), basis));
        let without = |v: V<T>| {
            let parts = matvec(basis, v);
            (parts, v - matvec(transpose(basis), parts))
        };
        // Once is not enough where little is left.
        let ((first, v), before) = (without(image), norm(image));
        let (second, v) = without(v);
        // Rounding is no new direction.
        let length = unit(cond(the(norm(v)).gt(the(before) * epsilon::<T>()), the(norm(v)), zero()));
        let v = crate::map(|v: Exp<T>| cond(the(length).gt(zero()), v / the(length), zero()), v);
        let parts = first + second;
        let column = generate(RESTART + 1, |i: Exp<i64>| cond(i.eq(k + 1), the(length), parts.at(i)));
        let turned = matvec(rotations, column);
        let (p, q) = (turned.at(k), turned.at(k + 1));
        let radius = unit((p * p + q * q).sqrt());
        let grows = the(radius).gt(zero());
        let (cos, sin) = (unit(p / the(radius)), unit(q / the(radius)));
        let rotations = generate(rotations.shape(), |(i, j): (Exp<i64>, Exp<i64>)| {
            let (x, y) = (rotations.at((k, j)), rotations.at((k + 1, j)));
            let below = cond(i.eq(k + 1), the(cos) * y - the(sin) * x, rotations.at((i, j)));
            cond(grows.and(i.eq(k)), the(cos) * x + the(sin) * y, cond(grows, below, rotations.at((i, j))))
        });
        let turned =
            generate(RESTART + 1, |i: Exp<i64>| cond(i.lt(k), turned.at(i), cond(i.eq(k), the(radius), zero())));
        let triangle = generate(triangle.shape(), |(i, j): (Exp<i64>, Exp<i64>)| {
            cond(grows.and(i.eq(k)), turned.at(j), triangle.at((i, j)))
        });
        // A singular map leaves nothing to go on with.
        let left = unit(cond(grows, (the(size) * rotations.at((k + 1, 0i64))).abs(), zero()));
        (set_row(basis, k + 1, v), triangle, rotations, left, unit(cond(grows, k + 1, k)))
    };
    let unit_matrix = || eye::<T>(RESTART + 1);
    let basis = fill((RESTART + 1, rest.len()), zero());
    let first = crate::map(|r: Exp<T>| r / the(size), rest);
    let begin = (set_row(basis, 0i64, first), unit_matrix(), unit_matrix(), size, unit(0i64));
    let goes_on = |(_, _, _, left, taken): State<T>| the(taken).lt(RESTART).and(more(left, the(taken)));
    let (basis, triangle, rotations, _, taken) = awhile(goes_on, step, begin);
    let right =
        generate(RESTART + 1, |i: Exp<i64>| cond(i.lt(the(taken)), the(size) * rotations.at((i, 0i64)), zero()));
    let factors = solve_triangular(Triangle::Upper, transpose(triangle), right);
    (matvec(transpose(basis), factors), taken)
}
