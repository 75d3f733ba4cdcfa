//! Arrays put together, taken apart, turned round, repeated, padded and multiplied in batches: values against plain Rust.

use accel_core::interp::Interpreter;
use accel_core::prelude::*;

type V = Acc<Vector<i64>>;
type M = Acc<Matrix<i64>>;
type C = Acc<Array<Dim3, i64>>;
type Cube = Array<Dim3, i64>;

/// The array of this shape whose element is this function of its index.
fn cube([a, b, c]: [usize; 3], f: impl Fn(usize, usize, usize) -> i64) -> Cube {
    let elements = (0..a).flat_map(|i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))));
    Array::from_vec([a, b, c], elements.map(|(i, j, k)| f(i, j, k)).collect()).unwrap()
}

/// All elements differ.
fn numbers(shape: [usize; 3]) -> Cube {
    cube(shape, |i, j, k| (100 * i + 10 * j + k) as i64)
}

fn matrix(rows: usize, columns: usize) -> Matrix<i64> {
    Array::matrix(rows, columns, (0..rows * columns).map(|k| (10 * (k / columns) + k % columns) as i64).collect())
        .unwrap()
}

/// The result of the program, and the rows and columns of a matrix.
#[track_caller]
fn expect<A: Arrays, R: Arrays + std::fmt::Debug + PartialEq, M>(
    f: impl ArrayFn<M, Args = A, Result = R>,
    inputs: impl Inputs<A>,
    expected: &R,
) {
    assert_eq!(&run_with(&Interpreter, &afun(f), inputs).unwrap(), expected);
}

#[track_caller]
fn failure<A: Arrays, R: Arrays + std::fmt::Debug, M>(
    f: impl ArrayFn<M, Args = A, Result = R>,
    inputs: impl Inputs<A>,
    parts: &[&str],
) {
    let error = run_with(&Interpreter, &afun(f), inputs).expect_err("a mistake").to_string();
    assert!(error.contains(file!()) && parts.iter().all(|part| error.contains(part)), "{error}");
}

#[test]
fn slices_with_ranges() {
    let xs = &numbers([4, 3, 5]);
    let x = |i, j, k| (100 * i + 10 * j + k) as i64;
    expect(|c: C| slice((1..3, All, 2..), c), xs, &cube([2, 3, 3], |i, j, k| x(i + 1, j, k + 2)));
    expect(|c: C| slice((..-1, ..=1, -3..=-2), c), xs, &cube([3, 2, 2], |i, j, k| x(i, j, k + 2)));
    expect(|c: C| slice((.., every(2, ..), every(3, 1..)), c), xs, &cube([4, 2, 2], |i, j, k| x(i, 2 * j, 3 * k + 1)));
    expect(
        |c: C| slice((every(2, between(1, -1)), 1..2, every(4, ..4)), c),
        xs,
        &cube([1, 1, 1], |_, _, _| x(1, 1, 0)),
    );
    expect(|c: C| slice((-1, 1, between(1, -1)), c), xs, &Array::vector(vec![311, 312, 313]));
    expect(|c: C| slice((-1, -1, All), c), xs, &Array::vector(vec![320, 321, 322, 323, 324]));
    expect(|c: C| slice((2..2, All, All), c), xs, &cube([0, 3, 5], |_, _, _| 0));
    let v = &Array::vector(vec![0, 10, 20, 30]);
    expect(
        |v: V, n: Acc<Scalar<i64>>| slice(between(1, the(n)), v),
        (v, &Array::scalar(3)),
        &Array::vector(vec![10, 20]),
    );
    expect(|v: V| slice(every(3, ..), v), v, &Array::vector(vec![0, 30]));
    expect(|v: V| slice(-3.., v), v, &Array::vector(vec![10, 20, 30]));
    failure(|v: V| slice(1..6, v), v, &["`slice` at ", "[4]"]);
    failure(|v: V| slice(-5..2, v), v, &["`slice` at ", "[-1]", "[4]"]);
    failure(|v: V| slice(between(3, 1), v), v, &["`slice` at ", "not negative", "[-2]"]);
    failure(|v: V| slice(every(0, ..), v), v, &["`slice` at ", "expected at least 1, found 0"]);
    expect(|v: V| slice(every(-2, ..), v), v, &Array::vector(vec![30, 10]));
    failure(|v: V, n: Acc<Scalar<i64>>| slice(..the(n), v), (v, &Array::scalar(-1)), &["`slice` at ", "not negative"]);
}

#[test]
fn slices_with_ranges_are_replaced() {
    let m = &matrix(3, 4);
    let expected = |place: fn(usize, usize) -> Option<i64>| {
        let element = |k: usize| place(k / 4, k % 4).unwrap_or((10 * (k / 4) + k % 4) as i64);
        Array::matrix(3, 4, (0..12).map(element).collect()).unwrap()
    };
    let middle = expected(|i, j| (i < 2 && (1..3).contains(&j)).then_some(-(i as i64) - 7 * j as i64));
    let block = Array::matrix(2, 2, vec![-7, -14, -8, -15]).unwrap();
    expect(|m: M, b: M| set_slice(m, (..2, between(1, -1)), b), (m, &block), &middle);
    let steps = expected(|i, j| (i == 2 && j % 2 == 1).then_some(5 + j as i64));
    expect(|m: M, v: V| set_slice(m, (-1, every(2, 1..)), v), (m, &Array::vector(vec![6, 8])), &steps);
    failure(|m: M, v: V| set_slice(m, (0, 1..3), v), (m, &Array::vector(vec![6])), &["`set_slice` at ", "[2] and [1]"]);
}

#[test]
fn stacks() {
    let (a, b, c) = (
        &matrix(2, 3),
        &Array::matrix(2, 3, (20..26).collect()).unwrap(),
        &Array::matrix(2, 3, (40..46).collect()).unwrap(),
    );
    let element = |n: usize, i: usize, j: usize| [a, b, c][n].get((i, j)).unwrap();
    expect(|a: M, b: M, c: M| stack([a, b, c]), (a, b, c), &cube([3, 2, 3], element));
    expect(|a: M, b: M, c: M| stack_inner([a, b, c]), (a, b, c), &cube([2, 3, 3], |i, j, n| element(n, i, j)));
    let between = |a: M, b: M, c: M| stack_inner(vec![a, b, c]).back_to_axis::<1>();
    expect(between, (a, b, c), &cube([2, 3, 3], |i, n, j| element(n, i, j)));
    expect(|s: Acc<Scalar<i64>>| stack([s, s + 1, s + 2]), &Array::scalar(4), &Array::vector(vec![4, 5, 6]));
    failure(|a: M, b: M| stack([a, b]), (a, &matrix(2, 2)), &["`stack` at ", "[2, 3] and [2, 2]"]);
    failure(|_: V| stack([] as [V; 0]), &Array::vector(vec![1]), &["`stack` at ", "at least one array"]);
}

#[test]
fn joined_and_split_along_any_axis() {
    let (xs, ys) = (&numbers([2, 3, 4]), &cube([2, 3, 4], |i, j, k| -((100 * i + 10 * j + k) as i64) - 1));
    let x = |i, j, k| xs.get((i, j, k)).or(ys.get((i % 2, j % 3, k % 4))).unwrap();
    expect(|a: C, b: C| a.concat::<0>(b), (xs, ys), &cube([4, 3, 4], x));
    expect(|a: C, b: C| a.concat::<1>(b), (xs, ys), &cube([2, 6, 4], x));
    expect(|a: C, b: C| a.concat::<2>(b), (xs, ys), &cube([2, 3, 8], x));
    failure(|a: C, b: C| a.concat::<1>(b), (xs, &numbers([2, 1, 5])), &["`concat` at ", "[2, 4, 3] and [2, 5, 1]"]);
    let halves = |c: C| {
        let [first, second] = c.split::<2, 2>();
        (second, first)
    };
    expect(halves, xs, &(cube([2, 3, 2], |i, j, k| x(i, j, k + 2)), cube([2, 3, 2], x)));
    let thirds = |c: C| {
        let [a, b, c] = c.split::<1, 3>();
        (c, b, a)
    };
    let row = |r: usize| cube([2, 1, 4], |i, _, k| x(i, r, k));
    expect(thirds, xs, &(row(2), row(1), row(0)));
    failure(|c: C| c.split::<2, 3>()[1], xs, &["`split` at ", "4 elements", "[3, 1]"]);
    let parts = (cube([2, 2, 4], x), cube([2, 1, 4], |i, j, k| x(i, j + 2, k)));
    expect(|c: C| c.split_at::<1>(2), xs, &parts);
    expect(|c: C| c.split_at::<1>(-1), xs, &parts);
    failure(|c: C| c.split_at::<1>(4).1, xs, &["`split_at` at ", "not negative"]);
}

#[test]
fn turned_and_repeated() {
    let xs = &numbers([2, 3, 4]);
    let x = |i, j, k| xs.get((i, j, k)).unwrap();
    expect(|c: C| c.flip::<0>(), xs, &cube([2, 3, 4], |i, j, k| x(1 - i, j, k)));
    expect(|c: C| c.flip::<1>(), xs, &cube([2, 3, 4], |i, j, k| x(i, 2 - j, k)));
    expect(|c: C| c.flip::<2>(), xs, &cube([2, 3, 4], |i, j, k| x(i, j, 3 - k)));
    expect(|c: C| tile((2, 1, 3), c), xs, &cube([4, 3, 12], |i, j, k| x(i % 2, j, k % 4)));
    expect(
        |v: V| (tile(2, v), tile(0, v)),
        &Array::vector(vec![7, 8]),
        &(Array::vector(vec![7, 8, 7, 8]), Array::vector(vec![])),
    );
    expect(|v: V| tile(3, v), &Array::vector(vec![]), &Array::vector(vec![]));
    failure(|v: V| tile(-1, v), &Array::vector(vec![7, 8]), &["`tile` at ", "expected at least 0, found -1"]);
    let m = &matrix(2, 3);
    let one = |c: &Cube| <[usize; 3]>::from(c.shape());
    let (a, b, c) =
        run_with(&Interpreter, &afun(|m: M| (m.expand_dims::<0>(), m.expand_dims::<1>(), m.expand_dims::<2>())), m)
            .unwrap();
    assert_eq!((one(&a), one(&b), one(&c)), ([1, 2, 3], [2, 1, 3], [2, 3, 1]));
    for expanded in [&a, &b, &c] {
        assert_eq!(expanded.to_vec(), m.to_vec());
    }
    expect(
        |a: C, b: C, c: C| (a.squeeze::<0>(), b.squeeze::<1>(), c.squeeze::<2>()),
        (&a, &b, &c),
        &(m.clone(), m.clone(), m.clone()),
    );
    failure(|a: C| a.squeeze::<1>(), &a, &["`squeeze` at ", "at most 1, found 2"]);
    let grid = |v: V, w: V| meshgrid(v, w);
    let (v, w) = (&Array::vector(vec![1, 2, 3]), &Array::vector(vec![10, 20]));
    let coordinates = (
        Array::matrix(2, 3, vec![1, 2, 3, 1, 2, 3]).unwrap(),
        Array::matrix(2, 3, vec![10, 10, 10, 20, 20, 20]).unwrap(),
    );
    expect(grid, (v, w), &coordinates);
}

/// What NumPy's modes give for an index, whatever its distance from the array.
fn clamp(i: i64, n: i64) -> i64 {
    i.clamp(0, n - 1)
}
fn mirror(i: i64, n: i64) -> i64 {
    let mut i = i;
    while n > 1 && !(0..n).contains(&i) {
        i = if i < 0 { -i } else { 2 * (n - 1) - i };
    }
    if n == 1 { 0 } else { i }
}
fn wrap(i: i64, n: i64) -> i64 {
    (i + 100 * n) % n
}

#[test]
fn pads() {
    for n in [1, 2, 5] {
        let v = &Array::vector((0..n).map(|i| 10 * i + 3).collect());
        let padded = |place: fn(i64, i64) -> i64| Array::vector((-7..n + 4).map(|i| 10 * place(i, n) + 3).collect());
        let all = |v: V| (pad(7, 4, Clamp, v), pad(7, 4, Mirror, v), pad(7, 4, Wrap, v));
        expect(all, v, &(padded(clamp), padded(mirror), padded(wrap)));
        let zeros = Array::vector((-7..n + 4).map(|i| if (0..n).contains(&i) { 10 * i + 3 } else { -1 }).collect());
        expect(|v: V| pad(7, 4, Constant(-1), v), v, &zeros);
        let indices =
            Array::vector((-7..n + 4).map(|i| if (0..n).contains(&i) { 10 * i + 3 } else { i * i }).collect());
        expect(|v: V| pad(7, 4, Outside(|i: Exp<i64>| i * i), v), v, &indices);
    }
    let m = &matrix(2, 3);
    let expected = cube([1, 4, 6], |_, i, j| 10 * clamp(i as i64 - 2, 2) + clamp(j as i64 - 1, 3));
    expect(|m: M| pad((2, 1), (0, 2), Clamp, m).expand_dims::<0>(), m, &expected);
    expect(|s: Acc<Scalar<i64>>| pad((), (), Clamp, s), &Array::scalar(4), &Array::scalar(4));
    failure(|v: V| pad(1, 1, Wrap, v), &Array::vector(vec![]), &["`pad` at ", "[0]"]);
    expect(|v: V| pad(1, 1, Constant(0), v), &Array::vector(vec![]), &Array::vector(vec![0, 0]));
    failure(|v: V| pad(-3, 0, Clamp, v), &Array::vector(vec![1, 2]), &["`pad` at ", "expected at least 0, found -3"]);
}

#[test]
fn stencils_of_three_ranks() {
    let v = &Array::vector(vec![3, 1, 4, 1, 5]);
    let neighbours = |i: i64, place: fn(i64, i64) -> i64| {
        [-2, 0, 1]
            .map(|d| v.get(place(i + d, 5) as usize).unwrap())
            .iter()
            .zip([1, 10, 100])
            .map(|(x, k)| x * k)
            .sum::<i64>()
    };
    macro_rules! rank_1 {
        ($($boundary:ident $place:ident)*) => { $(
            let program = |v: V| stencil($boundary, |x| x.at(-2) + 10 * x.at(0) + 100 * x.at(1), v);
            expect(program, v, &Array::vector((0..5).map(|i| neighbours(i, $place)).collect()));
        )* };
    }
    rank_1!(Clamp clamp Mirror mirror Wrap wrap);
    let m = &matrix(3, 4);
    let element = |i: i64, j: i64| m.get((i as usize, j as usize));
    let sums = |outside: &dyn Fn(i64, i64) -> i64| {
        let at = |i: i64, j: i64| {
            if i < 0 || j < 0 { outside(i, j) } else { element(i, j).unwrap_or_else(|| outside(i, j)) }
        };
        let sum = |(i, j)| at(i - 1, j) + 3 * at(i, j + 1) - at(i + 2, j - 1);
        Array::matrix(3, 4, (0..12).map(|k| sum((k / 4, k % 4))).collect()).unwrap()
    };
    macro_rules! rank_2 {
        ($($boundary:expr => $outside:expr;)*) => { $(
            expect(|m: M| stencil($boundary, |x| x.at((-1, 0)) + 3 * x.at((0, 1)) - x.at((2, -1)), m), m, &sums(&$outside));
        )* };
    }
    rank_2! {
        Clamp => |i, j| element(clamp(i, 3), clamp(j, 4)).unwrap();
        Mirror => |i, j| element(mirror(i, 3), mirror(j, 4)).unwrap();
        Wrap => |i, j| element(wrap(i, 3), wrap(j, 4)).unwrap();
        Constant(7) => |_, _| 7;
        Outside(|(i, j): (Exp<i64>, Exp<i64>)| i * 100 + j) => |i, j| i * 100 + j;
    }
    let xs = &numbers([2, 3, 4]);
    let x =
        |i: i64, j: i64, k: i64| xs.get((clamp(i, 2) as usize, clamp(j, 3) as usize, clamp(k, 4) as usize)).unwrap();
    let expected = cube([2, 3, 4], |i, j, k| {
        let (i, j, k) = (i as i64, j as i64, k as i64);
        x(i - 1, j, k + 1) - 2 * x(i, j - 1, k) + x(i + 1, j + 1, k - 1)
    });
    expect(|c: C| stencil(Clamp, |x| x.at((-1, 0, 1)) - 2 * x.at((0, -1, 0)) + x.at((1, 1, -1)), c), xs, &expected);
}

#[test]
fn batched_products() {
    let (a, b) = (&numbers([2, 3, 2]), &cube([2, 2, 4], |i, j, k| (5 * i + 3 * j) as i64 - k as i64));
    let entry = |i, j, k| (0..2).map(|m| a.get((i, j, m)).unwrap() * b.get((i, m, k)).unwrap()).sum();
    let expected = &cube([2, 3, 4], entry);
    expect(|a: C, b: C| bmm(a, b), (a, b), expected);
    expect(|a: C, b: C| vmap(|(a, b)| matmul(a, b), (a, b)), (a, b), expected);
    failure(
        |a: C, b: C| bmm(a, b),
        (a, &numbers([2, 3, 4])),
        &["`bmm` at ", "[n, m, p] and [n, p, q], found [2, 3, 2] and [2, 3, 4]"],
    );
    failure(|a: C, b: C| bmm(a, b), (a, &numbers([1, 2, 4])), &["`bmm` at ", "[2, 3, 2] and [1, 2, 4]"]);
}

#[test]
fn sparse_products() {
    // 0 2 0 3, a row of zeros, 5 0 0 7, 0 0 -1 0.
    let (columns, values) = (&Array::vector(vec![1, 3, 0, 3, 2]), &Array::vector(vec![2, 3, 5, 7, -1]));
    let x = &Array::vector(vec![1, 10, 100, 1000]);
    let product = |p: V, c: V, v: V, x: V| csr_matvec(p, c, v, x);
    let pointers = |p: [i64; 5]| Array::vector(p.to_vec());
    expect(product, (&pointers([0, 2, 2, 4, 5]), columns, values, x), &Array::vector(vec![3020, 0, 7005, -100]));
    for (wrong, found) in
        [([0, 2, 2, 4, 6], "6 elements"), ([1, 2, 2, 4, 5], "4 elements"), ([0, 2, 1, 4, 5], "length -1")]
    {
        failure(
            product,
            (&pointers(wrong), columns, values, x),
            &["`csr_matvec` at ", "segments that fill the rows", found],
        );
    }
    failure(product, (&pointers([1, 2, 2, 4, 6]), columns, values, x), &["`csr_matvec` at ", "[5]"]);
    failure(
        product,
        (&pointers([0, 2, 2, 4, 5]), &Array::vector(vec![1]), values, x),
        &["`csr_matvec` at ", "[1] and [5]"],
    );
    failure(
        product,
        (&pointers([0, 2, 2, 4, 5]), &Array::vector(vec![1, 3, 0, 4, 2]), values, x),
        &["`csr_matvec` at ", "[4]"],
    );
}

/// The convolution by its definition, for any layout.
fn convolved(conv: Conv<2>, w: &Array<Dim4, i64>, x: &Array<Dim4, i64>) -> Array<Dim4, i64> {
    let first = conv.layout == Layout::ChannelsFirst;
    let order = |[a, b, c, d]: [usize; 4]| if first { [a, b, c, d] } else { [a, c, d, b] };
    let weights = |[o, c, k, l]: [usize; 4]| if first { [o, c, k, l] } else { [k, l, c, o] };
    let ([a, b, c, d], [e, f, g, h]) = (<[usize; 4]>::from(x.shape()), <[usize; 4]>::from(w.shape()));
    let ([n, _, rows, columns], [outputs, per_group, height, width]) =
        if first { ([a, b, c, d], [e, f, g, h]) } else { ([a, d, b, c], [h, g, e, f]) };
    let [p, q] = conv.padding.map(|p| p as usize);
    let [s, t] = conv.stride.map(|s| s as usize);
    let (oh, ow) = ((rows + 2 * p - height) / s + 1, (columns + 2 * q - width) / t + 1);
    let mut found = vec![0; n * outputs * oh * ow];
    let extents = order([n, outputs, oh, ow]);
    for n in 0..n {
        for o in 0..outputs {
            for (i, j) in (0..oh).flat_map(|i| (0..ow).map(move |j| (i, j))) {
                let mut sum = 0;
                for c in 0..per_group {
                    let channel = o / (outputs / conv.groups as usize) * per_group + c;
                    for (k, l) in (0..height).flat_map(|k| (0..width).map(move |l| (k, l))) {
                        let inside = (i * s + k).checked_sub(p).zip((j * t + l).checked_sub(q));
                        // Outside, there are zeros.
                        let pixel = inside.and_then(|(i, j)| x.get(order([n, channel, i, j])));
                        sum += pixel.unwrap_or(0) * w.get(weights([o, c, k, l])).unwrap();
                    }
                }
                let [a, b, c, d] = order([n, o, i, j]);
                found[((a * extents[1] + b) * extents[2] + c) * extents[3] + d] = sum;
            }
        }
    }
    Array::from_vec(extents, found).unwrap()
}

/// As [`Array::from_vec`], with numbers that look random.
fn mixed<Sh: Shape>(extents: impl ToExtents<Sh> + Copy, n: usize, seed: i64) -> Array<Sh, i64> {
    Array::from_vec(extents, (0..n as i64).map(|k| (k * k * 31 + k * 17 + seed) % 23 - 11).collect()).unwrap()
}

#[test]
fn convolutions() {
    type F = Acc<Array<Dim4, i64>>;
    for layout in [Layout::ChannelsFirst, Layout::ChannelsLast] {
        for (stride, padding, groups) in
            [([1, 1], [0, 0], 1), ([1, 1], [1, 2], 1), ([2, 3], [1, 0], 1), ([1, 2], [2, 1], 2), ([1, 1], [1, 1], 4)]
        {
            let conv = Conv { stride, padding, groups, layout, ..Conv::default() };
            let per_group = 4 / groups as usize;
            let (x, w) = match layout {
                Layout::ChannelsFirst => (mixed([2, 4, 5, 6], 240, 1), mixed([8, per_group, 3, 2], 48 * per_group, 5)),
                Layout::ChannelsLast => (mixed([2, 5, 6, 4], 240, 1), mixed([3, 2, per_group, 8], 48 * per_group, 5)),
            };
            expect(move |w: F, x: F| conv2d(conv, w, x), (&w, &x), &convolved(conv, &w, &x));
        }
        // One dimension is an image of one row.
        let conv = Conv { stride: [2], padding: [1], groups: 2, layout, ..Conv::default() };
        let (x, w, x2, w2): (Cube, Cube, _, _) = match layout {
            Layout::ChannelsFirst => {
                let (x, w) = (mixed([2, 4, 7], 56, 3), mixed([6, 2, 3], 36, 4));
                let wide = (Array::from_vec([2, 4, 1, 7], x.to_vec()), Array::from_vec([6, 2, 1, 3], w.to_vec()));
                (x, w, wide.0.unwrap(), wide.1.unwrap())
            }
            Layout::ChannelsLast => {
                let (x, w) = (mixed([2, 7, 4], 56, 3), mixed([3, 2, 6], 36, 4));
                let wide = (Array::from_vec([2, 1, 7, 4], x.to_vec()), Array::from_vec([1, 3, 2, 6], w.to_vec()));
                (x, w, wide.0.unwrap(), wide.1.unwrap())
            }
        };
        let found = run_with(&Interpreter, &afun(move |w: C, x: C| conv1d(conv, w, x)), (&w, &x)).unwrap();
        let expected =
            convolved(Conv { stride: [1, 2], padding: [0, 1], groups: 2, layout, ..Conv::default() }, &w2, &x2);
        assert_eq!(found.to_vec(), expected.to_vec());
        let shape = if layout == Layout::ChannelsFirst { [2, 6, 4] } else { [2, 4, 6] };
        assert_eq!(<[usize; 3]>::from(found.shape()), shape);
    }
    let (x, w): (Array<Dim4, i64>, Array<Dim4, i64>) = (mixed([1, 4, 5, 5], 100, 0), mixed([6, 3, 2, 2], 72, 0));
    let of = |conv: Conv<2>| move |w: F, x: F| conv2d(conv, w, x);
    failure(of(Conv::default()), (&w, &x), &["`conv2d` at ", "[1, 3, 5, 5] and [1, 4, 5, 5]"]);
    failure(of(Conv { groups: 4, ..Conv::default() }), (&w, &x), &["`conv2d` at ", "[1, 12, 5, 5] and [1, 4, 5, 5]"]);
    for wrong in [
        Conv { stride: [0, 1], ..Conv::default() },
        Conv { padding: [1, -1], ..Conv::default() },
        Conv { groups: 0, ..Conv::default() },
    ] {
        failure(of(wrong), (&w, &x), &["`conv2d` at ", "strides, dilations and groups of at least 1"]);
    }
    // Weights that are larger than the image have no place.
    let (image, large) = (mixed([1, 1, 2, 2], 4, 0), mixed([1, 1, 3, 1], 3, 0));
    failure(of(Conv::default()), (&large, &image), &["`conv2d` at ", "expected at most 2, found 3 in [1, 1, 3, 1]"]);
}

/// An equation that does not fit to the arrays is an error that shows it.
#[test]
fn equations_that_do_not_fit() {
    let m = &Array::matrix(2, 2, vec![1i64, 2, 3, 4]).unwrap();
    let of = |equation: &'static str| move |m: M| -> M { einsum(equation, (m, m)) };
    for (equation, parts) in [
        ("ij,jk", ["an equation such as \"ij,jk->ik\"", "no `->` in \"ij,jk\""]),
        ("ij,j1->ij", ["the letters a to z and A to Z", "`1`"]),
        ("ij->ij", ["letters for 2 arrays", "letters for 1 in \"ij->ij\""]),
        ("ij,jkl->ik", ["2 letters for an array of 2 dimensions", "`jkl`"]),
        ("ij,jk->ix", ["letters of the result that an array has", "`x`"]),
        ("ij,jk->ii", ["each letter of the result once", "`i` twice"]),
        ("ij,jk->i", ["2 letters for a result of 2 dimensions", "`i`"]),
    ] {
        failure(of(equation), m, &[&["`einsum` at "][..], &parts].concat());
    }
    let six = |x: C| -> Acc<Scalar<i64>> { einsum("abc,def->", (x, x)) };
    let text = "at most four letters that are summed at once";
    failure(six, &numbers([1, 2, 3]), &["`einsum` at ", text, "6: `abcdef`"]);
}

/// The name is that of the function that the user called.
#[test]
fn rows_outside() {
    let (m, from) = (&Array::matrix(2, 2, vec![1i64, 2, 3, 4]).unwrap(), &Array::vector(vec![1i64, 2]));
    failure(|m: M, from: V| gather(from, m), (m, from), &["`gather` at ", "index [2, 0] is outside the shape [2, 2]"]);
    let along = |m: M, from: V| take_along(from.expand_dims::<1>(), m);
    failure(along, (m, from), &["`take_along` at ", "index [1, 2] is outside the shape [2, 2]"]);
}
