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
    derivatives(t);
    seeds(t);
    uses(t);
    control(t);
    computed(t);
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
            awhile(|(k, _)| the(k).gt(0), step, (n, xs)).unlift().1
        })
    };
    t.fails(steps(), (&n(2), &xs, &ys), text);
    t.is(steps(), (&n(0), &xs, &ys), xs.clone());
    t.is(steps(), (&n(1), &xs, &xs), xs.iter().map(|x| x + x).collect::<Vec<_>>().into());
    // A state whose extents change: the second step has other extents than the first.
    let grows = afun(|n: N, xs: V, ys: V| {
        let step = |(k, xs): (N, V)| (map(|k| k - 1, k), concat(both(ys, xs), fill(1, 0.5)));
        awhile(|(k, _)| the(k).gt(0), step, (n, xs)).unlift().1
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
