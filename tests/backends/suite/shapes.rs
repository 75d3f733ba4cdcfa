//! Operations that combine arrays: if their shapes do not agree, the error names the operation, its line and both
//! shapes, wherever the operation stands and whatever part of its result is used.

use super::check::Suite;
use super::samples::{array, other_array};
use accel::prelude::*;
use accel::{grad, jvp, value_and_grad, vjp};

pub fn all(t: &Suite) {
    sorts(t);
    zips::<Dim1>(t);
    zips::<Dim2>(t);
    zips::<Dim3>(t);
    zips::<Dim4>(t);
    numbers(t);
    rows::<Dim1>(t);
    rows::<Dim2>(t);
    rows::<Dim3>(t);
    products(t);
    scatters(t);
    parts(t);
    derivatives(t);
    seeds(t);
    uses(t);
    control(t);
    computed(t);
    if t.simplifies() {
        parts_of_shapes(t);
        single_operations(t);
        checks_in_control(t);
        checks_in_derivatives(t);
    }
}

/// The error message of the operation `name` on a line of this file.
macro_rules! message {
    ($name:literal, $line:expr, $expected:expr, $found:expr) => {
        format!("`{}` at {}:{}: expected shapes {}, found {}", $name, file!(), $line, $expected, $found)
    };
}

/// Every shape of this rank that differs from `extents` in one dimension: it is larger, smaller, or empty.
fn others(extents: &[usize]) -> Vec<Vec<usize>> {
    let change = |dim: usize, n: usize| {
        let mut other = extents.to_vec();
        other[dim] = n;
        other
    };
    let dims = 0..extents.len();
    dims.flat_map(|dim| [extents[dim] + 1, extents[dim] - 1, 0].map(|n| change(dim, n))).collect()
}

/// `[n, m, p]`
fn letters(rank: usize) -> String {
    format!("[{}]", ["n", "m", "p", "q"][..rank].join(", "))
}

fn zips<Sh: Shape>(t: &Suite) {
    type A<Sh> = Acc<Array<Sh, f64>>;
    let extents = &[3, 4, 2, 5][..Sh::RANK];
    let xs = array::<Sh, f64>(extents);
    for other in others(extents) {
        let ys = other_array::<Sh, f64>(&other, 1);
        let both = format!("{0} and {0}", letters(Sh::RANK));
        let shapes = format!("{extents:?} and {other:?}");
        let prog = afun(|xs: A<Sh>, ys: A<Sh>| zip_with(|x, y| x * y, xs, ys));
        t.fails(prog, (&xs, &ys), &message!("zip_with", line!() - 1, both, shapes));
        let prog = afun(|xs: A<Sh>, ys: A<Sh>| zip(xs, ys));
        t.fails(prog, (&xs, &ys), &message!("zip", line!() - 1, both, shapes));
        let prog = afun(|xs: A<Sh>, ys: A<Sh>| zip_with3(|x, y, z| x * y + z, xs, xs, ys));
        t.fails(prog, (&xs, &ys), &message!("zip_with3", line!() - 1, both, shapes));
        let prog = afun(|xs: A<Sh>, ys: A<Sh>| zip3(xs, ys, xs));
        t.fails(prog, (&xs, &ys), &message!("zip3", line!() - 1, both, shapes));
    }
    // Empty arrays are no exception: they agree with others of the same shape.
    let mut none = extents.to_vec();
    none[Sh::RANK - 1] = 0;
    let empty = array::<Sh, f64>(&none);
    t.is(afun(|xs: A<Sh>, ys: A<Sh>| zip_with(|x, y| x * y, xs, ys)), (&empty, &empty), empty.clone());
}

fn sorts(t: &Suite) {
    type A<T> = Acc<Matrix<T>>;
    let extents = [3, 4];
    let keys = array::<Dim2, i64>(&extents);
    for other in others(&extents) {
        let values = other_array::<Dim2, f64>(&other, 1);
        let (both, shapes) = ("[n, m] and [n, m]", format!("{extents:?} and {other:?}"));
        let prog = afun(|keys: A<i64>, values: A<f64>| sort_by_key(keys, values));
        t.fails(prog, (&keys, &values), &message!("sort_by_key", line!() - 1, both, shapes));
        let prog = afun(|keys: A<i64>, values: A<f64>| sort_by_key_descending(keys, values).1);
        t.fails(prog, (&keys, &values), &message!("sort_by_key_descending", line!() - 1, both, shapes));
    }
}

/// Arrays of rank 0 always agree.
fn numbers(t: &Suite) {
    let prog = afun(|x: Acc<Scalar<i64>>, y: Acc<Scalar<i64>>| zip_with(|x, y| x - y, x, y));
    t.is(prog, (&Array::scalar(5), &Array::scalar(3)), Array::scalar(2));
}

fn rows<Sh: Shape>(t: &Suite) {
    type A<Sh> = Acc<Array<Snoc<Sh>, i64>>;
    let extents = &[3, 4, 2, 5][..Sh::RANK + 1];
    let xs = array::<Snoc<Sh>, i64>(extents);
    for other in others(extents) {
        if other[..Sh::RANK] == extents[..Sh::RANK] {
            continue;
        }
        let ys = other_array::<Snoc<Sh>, i64>(&other, 1);
        let prog = afun(|xs: A<Sh>, ys: A<Sh>| concat(xs, ys));
        let all = letters(Sh::RANK + 1);
        let next = ["m", "p", "q", "r"][Sh::RANK];
        let second = format!("{}, {next}]", all.rsplit_once(", ").map_or("[", |(outer, _)| outer));
        let (both, shapes) = (format!("{all} and {second}"), format!("{extents:?} and {other:?}"));
        t.fails(prog, (&xs, &ys), &message!("concat", line!() - 5, both, shapes));
    }
}

fn products(t: &Suite) {
    let v = |n: usize| array::<Dim1, f64>(&[n]);
    let m = |n: usize, k: usize| array::<Dim2, f64>(&[n, k]);
    for (n, k) in [(2, 3), (3, 2), (0, 1), (1, 0), (300, 299)] {
        let prog = afun(|xs: Acc<Vector<f64>>, ys: Acc<Vector<f64>>| dot(xs, ys));
        let text = message!("dot", line!() - 1, "[n] and [n]", format!("[{n}] and [{k}]"));
        t.fails(prog, (&v(n), &v(k)), &text);
        for rows in [0, 1, 4] {
            let prog = afun(|a: Acc<Matrix<f64>>, x: Acc<Vector<f64>>| matvec(a, x));
            let text = message!("matvec", line!() - 1, "[n, m] and [m]", format!("[{rows}, {n}] and [{k}]"));
            t.fails(prog, (&m(rows, n), &v(k)), &text);
            for columns in [0, 1, 5] {
                let prog = afun(|a: Acc<Matrix<f64>>, b: Acc<Matrix<f64>>| matmul(a, b));
                let shapes = format!("[{rows}, {n}] and [{k}, {columns}]");
                let text = message!("matmul", line!() - 2, "[n, m] and [m, p]", shapes);
                t.fails(prog, (&m(rows, n), &m(k, columns)), &text);
            }
        }
    }
}

fn scatters(t: &Suite) {
    let defaults = array::<Dim1, f64>(&[9]);
    for (n, k) in [(2, 3), (3, 2), (0, 1), (1, 0)] {
        let to = Array::vector((0..n).collect());
        let prog = afun(|to: Acc<Vector<i64>>, d: Acc<Vector<f64>>, xs: Acc<Vector<f64>>| scatter(to, d, xs));
        let text = message!("scatter", line!() - 1, "[n] and [n]", format!("[{n}] and [{k}]"));
        t.fails(prog, (&to, &defaults, &array::<Dim1, f64>(&[k])), &text);
    }
}

/// Checks of one array's extent that are not those of the operations inside of them.
fn parts(t: &Suite) {
    type M = Acc<Matrix<f64>>;
    let message = |name: &str, line: u32, n: usize, parts: [usize; 2]| {
        let found = format!("found {parts:?}, which has {}", parts[0] * parts[1]);
        format!("`{name}` at {}:{line}: expected a shape of {n} elements, as [{n}] has, {found}", file!())
    };
    let other = |line: u32, n: usize| {
        let side = if n == 0 { "least" } else { "most" };
        format!("`squeeze` at {}:{line}: expected at {side} 1, found {n}", file!())
    };
    for n in [0, 2, 3, 5, 7] {
        let (rows, columns) = (array::<Dim2, f64>(&[n, 4]), array::<Dim2, f64>(&[4, n]));
        t.fails(afun(|m: M| m.squeeze::<0>()), &rows, &other(line!(), n));
        t.fails(afun(|m: M| m.squeeze::<1>() * 2.0), &columns, &other(line!(), n));
        if n > 0 && n % 2 == 1 {
            let first = afun(|m: M| {
                let [a, _] = m.split::<0, 2>();
                a
            });
            t.fails(first, &rows, &message("split", line!() - 3, n, [2, n / 2]));
            let sum = afun(|m: M| {
                let [a, b] = (m * m).split::<1, 2>();
                sum_all(a * b)
            });
            t.fails(grad(sum), &columns, &message("split", line!() - 3, n, [2, n / 2]));
        }
    }
}

/// A derivative fails as its program does, even if it does not need the values.
fn derivatives(t: &Suite) {
    type V = Acc<Vector<f64>>;
    let (xs, ys) = (array::<Dim1, f64>(&[3]), array::<Dim1, f64>(&[2]));
    let (wide, one) = (array::<Dim2, f64>(&[2, 3]), Array::scalar(1.0));
    let text = |name: &str, line: u32| {
        format!("`{name}` at {}:{line}: expected shapes [n] and [n], found [3] and [2]", file!())
    };
    let programs = [
        (afun(|xs: V, ys: V| dot(xs, ys)), "dot", line!()),
        (afun(|xs: V, ys: V| sum(zip_with(|x, y| x + y, xs, ys))), "zip_with", line!()),
        (afun(|xs: V, ys: V| sum(zip_with(|x, _| x * 2.0, xs, ys))), "zip_with", line!()),
        (afun(|xs: V, ys: V| sum(zip_with(|_, y| y * y, xs, ys))), "zip_with", line!()),
    ];
    for (f, name, line) in programs {
        let text = &text(name, line);
        t.fails(grad(&f), (&xs, &ys), text);
        t.fails(value_and_grad(&f), (&xs, &ys), text);
        t.fails(vjp(&f), ((&xs, &ys), &one), text);
        t.fails(jvp(&f), ((&xs, &ys), (&xs, &ys)), text);
        t.fails(jvp(&grad(&f)), ((&xs, &ys), (&xs, &ys)), text);
        // The second derivative of a sum is 0: compiled programs compute nothing for it.
        if name == "dot" {
            t.fails(vjp(&grad(&f)), ((&xs, &ys), (&xs, &ys)), text);
        }
    }
    // If the shapes agree, the check does not change the gradient.
    let gradient = grad(&afun(|m: Acc<Matrix<f64>>, v: V| sum(matvec(m, v))));
    let columns = Array::vector((0..3).map(|j| wide.get((0, j)).unwrap() + wide.get((1, j)).unwrap()).collect());
    let rows = Array::matrix(2, 3, [xs.to_vec(), xs.to_vec()].concat()).unwrap();
    t.is(gradient, (&wide, &xs), (rows, columns));
}

/// The seeds of `vjp` and `jvp` have the shapes of the results and of the arguments.
fn seeds(t: &Suite) {
    type M = Acc<Matrix<f64>>;
    let m = |n: usize, k: usize| array::<Dim2, f64>(&[n, k]);
    let square = afun(|m: M| map(|x| x * x, m));
    let both = "[n, m] and [n, m]";
    for (n, k) in [(2, 4), (3, 3), (1, 3), (2, 0), (0, 3)] {
        let shapes = format!("[2, 3] and [{n}, {k}]");
        t.fails(vjp(&square), (&m(2, 3), &m(n, k)), &message!("vjp", line!(), both, shapes));
        t.fails(jvp(&square), (&m(2, 3), &m(n, k)), &message!("jvp", line!(), both, shapes));
    }
    // One of several results, and one on which nothing depends.
    let two = afun(|m: M| (sum(m), m));
    let (good, sums) = (m(2, 3), array::<Dim1, f64>(&[2]));
    let text = message!("vjp", line!() + 1, "[n] and [n]", "[2] and [3]");
    t.fails(vjp(&two), (&good, (&array::<Dim1, f64>(&[3]), &good)), &text);
    let text = message!("vjp", line!() + 1, both, "[2, 3] and [3, 2]");
    t.fails(vjp(&two), (&good, (&sums, &m(3, 2))), &text);
    let first = afun(|a: M, _: M| a);
    let expected = (m(2, 3), m(2, 3));
    t.is(jvp(&first), ((&m(2, 3), &m(1, 1)), (&m(2, 3), &m(1, 1))), expected);
}

/// The shapes are compared whether all, a part or nothing of the result is used.
fn uses(t: &Suite) {
    type V = Acc<Vector<i64>>;
    let (xs, ys) = (array::<Dim1, i64>(&[5]), array::<Dim1, i64>(&[4]));
    fn both(xs: V, ys: V) -> Acc<Vector<i64>> {
        zip_with(|x, y| x + y, xs, ys)
    }
    let text = &message!("zip_with", line!() - 2, "[n] and [n]", "[5] and [4]");
    // One element, no element, the shape.
    t.fails(afun(|xs: V, ys: V| unit(both(xs, ys).at(0))), (&xs, &ys), text);
    t.fails(afun(|xs: V, ys: V| take(2, both(xs, ys))), (&xs, &ys), text);
    t.fails(afun(|xs: V, ys: V| take(0, both(xs, ys))), (&xs, &ys), text);
    t.fails(afun(|xs: V, ys: V| unit(both(xs, ys).len())), (&xs, &ys), text);
    t.fails(afun(|xs: V, ys: V| fill(both(xs, ys).shape(), 1i64)), (&xs, &ys), text);
    // Only elements of one operand, or of neither.
    t.fails(afun(|xs: V, ys: V| zip(both(xs, ys), xs)), (&xs, &ys), text);
    t.fails(afun(|xs: V, ys: V| map(|(x, _)| x, zip(xs, both(xs, ys)))), (&xs, &ys), text);
    t.fails(afun(|xs: V, ys: V| map(|_| 1i64, both(xs, ys))), (&xs, &ys), text);
    // Under other operations.
    t.fails(afun(|xs: V, ys: V| sum(reverse(both(xs, ys)))), (&xs, &ys), text);
    t.fails(afun(|xs: V, ys: V| replicate((2, All), both(xs, ys))), (&xs, &ys), text);
    t.fails(afun(|xs: V, ys: V| scanl(|a, b| a + b, 0, both(xs, ys))), (&xs, &ys), text);
    t.fails(afun(|xs: V, ys: V| (xs, (both(xs, ys), ys))), (&xs, &ys), text);
}

/// A check in a branch or a loop is made when the branch or loop is executed.
fn control(t: &Suite) {
    type V = Acc<Vector<f64>>;
    type N = Acc<Scalar<i64>>;
    fn both(xs: V, ys: V) -> V {
        zip_with(|x, y| x + y, xs, ys)
    }
    let (xs, ys) = (array::<Dim1, f64>(&[3]), array::<Dim1, f64>(&[2]));
    let line = line!() - 3;
    let text = &message!("zip_with", line, "[n] and [n]", "[3] and [2]");
    let n = Array::scalar;
    let branch = || afun(|n: N, xs: V, ys: V| acond(the(n).gt(0), both(xs, ys), xs));
    t.fails(branch(), (&n(1), &xs, &ys), text);
    t.is(branch(), (&n(0), &xs, &ys), xs.clone());
    // Only the shape of the conditional is used.
    let shape = || afun(|n: N, xs: V, ys: V| unit(acond(the(n).gt(0), both(xs, ys), xs).len()));
    t.fails(shape(), (&n(1), &xs, &ys), text);
    t.is(shape(), (&n(0), &xs, &ys), n(3));
    let steps = || {
        afun(|n: N, xs: V, ys: V| {
            let step = |(k, xs): (N, V)| (map(|k| k - 1, k), both(xs, ys));
            awhile(|(k, _)| the(k).gt(0), step, (n, xs)).1
        })
    };
    t.fails(steps(), (&n(2), &xs, &ys), text);
    t.is(steps(), (&n(0), &xs, &ys), xs.clone());
    t.is(steps(), (&n(1), &xs, &xs), xs.iter().map(|x| x + x).collect::<Vec<_>>().into());
    // A state whose extents change: the second step has other extents than the first.
    let grows = afun(|n: N, xs: V, ys: V| {
        let step = |(k, xs): (N, V)| (map(|k| k - 1, k), concat(both(ys, xs), fill(1, 0.5)));
        awhile(|(k, _)| the(k).gt(0), step, (n, xs)).1
    });
    let text = &message!("zip_with", line, "[n] and [n]", "[2] and [3]");
    t.fails(grows, (&n(5), &ys, &ys), text);
}

/// Extents computed from extents and from elements.
fn computed(t: &Suite) {
    type V = Acc<Vector<i64>>;
    let xs = Array::vector(vec![4i64, 0, 2]);
    let by_data = || afun(|xs: V| dot(iota(xs.at(0)), iota(xs.at(2) * 2)));
    t.is(by_data(), &xs, Array::scalar(14));
    let text = message!("dot", line!() - 2, "[n] and [n]", "[4] and [6]");
    t.fails(by_data(), &Array::vector(vec![4i64, 0, 3]), &text);
    let neighbours = afun(|xs: V| zip_with(|x, y| x - y, xs, tail(xs)));
    let text = message!("zip_with", line!() - 1, "[n] and [n]", "[3] and [2]");
    t.fails(neighbours, &xs, &text);
    t.is(afun(|xs: V| zip_with_min(|x, y| x - y, xs, tail(xs))), &xs, Array::vector(vec![4i64, -2]));
    // A matrix reshaped to a vector and to another matrix.
    let m = array::<Dim2, i64>(&[2, 3]);
    let flat = || afun(|m: Acc<Matrix<i64>>, xs: V| zip_with(|x, y| x - y, flatten(m), xs));
    let text = message!("zip_with", line!() - 1, "[n] and [n]", "[6] and [5]");
    t.is(flat(), (&m, &array::<Dim1, i64>(&[6])), Array::vector(vec![0i64; 6]));
    t.fails(flat(), (&m, &array::<Dim1, i64>(&[5])), &text);
    let turned = afun(|m: Acc<Matrix<i64>>| zip_with(|x, y| x * y, m, transpose(m)));
    let text = message!("zip_with", line!() - 1, "[n, m] and [n, m]", "[2, 3] and [3, 2]");
    t.fails(turned, &m, &text);
}

/// The error message of the operation `name` on a line of this file, if it does not concern two shapes.
fn text(name: &str, line: u32, rest: &str) -> String {
    format!("`{name}` at {}:{line}: {rest}", file!())
}

/// A wrong reshape, from three to twelve elements, and its message.
fn wide(a: Acc<Vector<f64>>) -> Acc<Matrix<f64>> {
    reshape((a.len(), 4), a)
}

fn wide_text() -> String {
    text("reshape", line!() - 4, "expected a shape of 3 elements, as [3] has, found [3, 4], which has 12")
}

/// A mistake is an error even if only a part of a shape is used that does not depend on it, of the array itself or of one
/// that is made from it.
fn parts_of_shapes(t: &Suite) {
    type V = Acc<Vector<f64>>;
    type M = Acc<Matrix<f64>>;
    let (three, m) = (array::<Dim1, f64>(&[3]), array::<Dim2, f64>(&[2, 3]));
    let both = message!("matmul", line!() + 1, "[n, m] and [m, p]", "[2, 3] and [2, 3]");
    t.fails(afun(|a: M, b: M| unit(matmul(a, b).shape().0)), (&m, &m), &both);
    let both = message!("zip_with", line!() + 1, "[n, m] and [n, m]", "[2, 3] and [2, 2]");
    let sum_of = |a: M, b: M| zip_with(|a, b| a + b, a, b);
    let narrow = array::<Dim2, f64>(&[2, 2]);
    t.fails(afun(|a: M, b: M| unit(sum_of(a, b).shape().0)), (&m, &narrow), &both);

    let text = &wide_text();
    t.fails(afun(|a: V| unit(wide(a).shape().0)), &three, text);
    t.fails(afun(|a: V| unit(wide(a).shape().1)), &three, text);
    t.fails(afun(|a: V| unit(flatten(wide(a)).len())), &three, text);
    t.fails(afun(|a: V| fill(wide(a).shape().1, 1.0)), &three, text);
    t.fails(afun(|a: V| unit(map(|x| x + 1.0, wide(a)).shape().1)), &three, text);
    t.fails(afun(|a: V| unit(sum(wide(a)).len())), &three, text);
    t.fails(afun(|a: V| unit(scanl(|x, y| x + y, 0.0, wide(a)).shape().0)), &three, text);
    t.fails(afun(|a: V| unit(scanl1(|x, y| x + y, wide(a)).shape().1)), &three, text);
    t.fails(afun(|a: V| unit(transpose(wide(a)).shape().0)), &three, text);
    t.fails(afun(|a: V| unit(concat(wide(a), wide(a)).shape().0)), &three, text);
    t.fails(afun(|a: V| unit(matmul(wide(a), transpose(wide(a))).shape().0)), &three, text);
    t.fails(afun(|a: V| unit(replicate((2, All, All), wide(a)).shape().0)), &three, text);
    t.fails(afun(|a: V| unit(reshape(7, wide(a)).len())), &three, text);
    t.fails(afun(|a: V| reshape(3, wide(a))), &three, text);
    // Of the other operands, only the default elements decide on the shape.
    t.fails(afun(|a: V| unit(permute(|x, y| x + y, fill(3, 0.0), |(i, _)| (true, i), wide(a)).len())), &three, text);
    // Scalar code reads an array that no element needs.
    let reads = |a: V| {
        let a = wide(a);
        generate(2, |i| a.at((i, 0)))
    };
    t.fails(afun(move |a: V| unit(reads(a).len())), &three, text);
    // An operand whose elements are not used.
    t.fails(afun(|a: V| zip_with(|x, _| x, fill((3, 4), 0.5), wide(a))), &three, text);
    // What is right stays right.
    let good = afun(|a: V| unit(reshape((2, 3), concat(a, a)).shape().1));
    t.is(good, &three, Array::scalar(3));
}

/// Each operation that checks a shape, where only a part of the shape of its result is used.
fn single_operations(t: &Suite) {
    type V = Acc<Vector<f64>>;
    type M = Acc<Matrix<f64>>;
    type N = Acc<Scalar<i64>>;
    let (three, m) = (array::<Dim1, f64>(&[3]), array::<Dim2, f64>(&[2, 3]));
    let n = Array::scalar;
    let negative = "expected extents that are not negative, found";
    // Extents.
    let row = text("generate", line!() + 1, &format!("{negative} [-2, 3]"));
    let made = |n: N| generate((the(n), 3), |(i, j)| i + j);
    t.fails(afun(move |n: N| unit(made(n).shape().1)), &n(-2), &row);
    t.fails(afun(move |n: N| unit(made(n).shape().0)), &n(-2), &row);
    t.fails(afun(move |n: N| unit(flatten(made(n)).len())), &n(-2), &row);
    t.is(afun(move |n: N| unit(made(n).shape().1)), &n(0), n(3));
    let prog = afun(|n: N, a: V| unit(backpermute((the(n), 2), |(i, _)| i, a).shape().1));
    t.fails(prog, (&n(-1), &three), &text("backpermute", line!() - 1, &format!("{negative} [-1, 2]")));
    let prog = afun(|n: N, a: V| unit(reshape((the(n), 2), a).shape().1));
    t.fails(prog, (&n(-1), &three), &text("reshape", line!() - 1, &format!("{negative} [-1, 2]")));
    let prog = afun(|n: N, a: V| unit(replicate((the(n), All), a).shape().1));
    t.fails(prog, (&n(-1), &three), &text("replicate", line!() - 1, &format!("{negative} [-1, 3]")));
    // Indices.
    let row = |i: N, a: M| slice((the(i), All), a);
    let line = line!() - 1;
    for i in [-1, 2, 7] {
        let text = text("slice", line, &format!("index [{i}] is outside the shape [2]"));
        t.fails(afun(move |i: N, a: M| unit(row(i, a).len())), (&n(i), &m), &text);
        t.fails(afun(move |i: N, a: M| fill(row(i, a).shape(), 1.0)), (&n(i), &m), &text);
    }
    t.is(afun(move |i: N, a: M| unit(row(i, a).len())), (&n(1), &m), n(3));
    // An element that nothing needs, of elements that nothing needs.
    let element = |i: N, a: V| map(|_| 1i64, slice(the(i), zip_with(|_, _| 2.0, a, a)));
    t.is(afun(element), (&n(2), &three), n(1));
    let outside = text("slice", line!() - 2, "index [3] is outside the shape [3]");
    t.fails(afun(element), (&n(3), &three), &outside);
    // Rows without elements. There may be no rows.
    let least = |a: M| fold1(|x, y| x.min(y), a);
    let empty = text("fold1", line!() - 1, "expected a non-empty innermost dimension, found shape [2, 0]");
    let no_columns = array::<Dim2, f64>(&[2, 0]);
    t.fails(afun(move |a: M| unit(least(a).len())), &no_columns, &empty);
    t.is(afun(move |a: M| unit(least(a).len())), &array::<Dim2, f64>(&[0, 0]), n(0));
    t.is(afun(move |a: M| unit(least(a).len())), &m, n(2));
}

/// Checks in branches are made if the branch is taken, and checks in loops in each step.
fn checks_in_control(t: &Suite) {
    type V = Acc<Vector<f64>>;
    type N = Acc<Scalar<i64>>;
    let (three, n, text) = (array::<Dim1, f64>(&[3]), Array::scalar, &wide_text());
    let chosen = || afun(|n: N, a: V| unit(acond(the(n).gt(0), sum(wide(a)), a).len()));
    t.fails(chosen(), (&n(1), &three), text);
    t.is(chosen(), (&n(0), &three), n(3));
    let nested = || {
        afun(|n: N, a: V| {
            let inner = acond(the(n).gt(1), a, sum(wide(a)));
            unit(acond(the(n).gt(0), inner, a).len())
        })
    };
    t.fails(nested(), (&n(1), &three), text);
    t.is(nested(), (&n(0), &three), n(3));
    t.is(nested(), (&n(2), &three), n(3));
    // Inside of a loop, of an array from outside and of the state.
    let steps = || {
        afun(|n: N, a: V| {
            let step = |(k, xs): (N, V)| (map(|k| k - 1, k), map(|x| x + wide(a).shape().1.cast::<f64>(), xs));
            awhile(|(k, _)| the(k).gt(0), step, (n, a)).1
        })
    };
    t.fails(steps(), (&n(2), &three), text);
    let of_state = || {
        afun(|n: N, a: V| {
            let step = |(k, xs): (N, V)| {
                let columns = wide(xs).shape().1;
                (map(|k| k - 1, k), map(|x| x + columns.cast::<f64>(), xs))
            };
            awhile(|(k, _)| the(k).gt(0), step, (n, a)).1
        })
    };
    t.fails(of_state(), (&n(2), &three), text);
    t.is(of_state(), (&n(0), &three), three.clone());
    // The extents are those of the step.
    let line = line!() + 2;
    let shrinks = afun(|n: N, a: V| {
        let step = |(k, xs): (N, V)| (map(|k| k - 1, k), map(|x| x + fill(the(k), 1.0).len().cast::<f64>(), xs));
        awhile(|(k, _)| the(k).gt(-5), step, (n, a)).1
    });
    let negative = format!("`fill` at {}:{line}: expected extents that are not negative, found [-1]", file!());
    t.fails(shrinks, (&n(2), &three), &negative);
}

/// Derivatives make the checks of their program, of values that they do not need, too.
fn checks_in_derivatives(t: &Suite) {
    type V = Acc<Vector<f64>>;
    type M = Acc<Matrix<f64>>;
    let (three, m) = (array::<Dim1, f64>(&[3]), array::<Dim2, f64>(&[2, 3]));
    let f = afun(|a: V| sum(map(|x| x * x * wide(a).shape().1.cast::<f64>(), a)));
    t.fails(grad(&f), &three, &wide_text());
    t.fails(value_and_grad(&f), &three, &wide_text());
    t.fails(jvp(&f), (&three, &three), &wide_text());
    let row = afun(|a: M| sum(slice((7i64, All), a)));
    let outside = text("slice", line!() - 1, "index [7] is outside the shape [2]");
    t.fails(grad(&row), &m, &outside);
    t.fails(vjp(&row), (&m, &Array::scalar(1.0)), &outside);
    let sums = afun(|a: M| sum(fold1(|x, y| x + y, a)));
    let empty = text("fold1", line!() - 1, "expected a non-empty innermost dimension, found shape [2, 0]");
    let no_columns = array::<Dim2, f64>(&[2, 0]);
    t.fails(grad(&sums), &no_columns, &empty);
    t.fails(jvp(&sums), (&no_columns, &no_columns), &empty);
}
