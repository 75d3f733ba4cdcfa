//! Conditionals and loops: `cond`, `while_`, `iterate_indexed`, `acond`, `awhile`, `afoldl`.

use super::check::Suite;
use super::samples::*;
use accel::prelude::*;

pub fn all(t: &Suite) {
    every!(chosen_arrays(t));
    every!(chosen_elements(t));
    only_the_chosen_is_computed(t);
    loops_in_scalar_code(t);
    numbered_steps(t);
    states_without_lists::<f64>(t);
    states_without_lists::<Run>(t);
    steps_of_their_own(t);
    loops_of_records(t);
    loops_over_arrays(t);
    loops_over_tuples(t);
    loops_in_loops(t);
    conditions_of_loops_read_arrays(t);
    applications(t);
    every!(rows_and_lists(t));
    lists_of_sums(t);
    lists_of_rows_and_tuples(t);
}

fn chosen_arrays<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let (xs, ys) = (array::<Sh, T>(extents), other_array::<Sh, T>(extents, 1));
        let prog = afun(|c: Acc<Scalar<bool>>, xs: Acc<Array<Sh, T>>, ys: Acc<Array<Sh, T>>| acond(the(c), xs, ys));
        t.is(prog.clone(), (&Array::scalar(true), &xs, &ys), xs.clone());
        t.is(prog, (&Array::scalar(false), &xs, &ys), ys.clone());
        let prog = afun(|c: Acc<Scalar<bool>>, xs: Acc<Array<Sh, T>>, ys: Acc<Array<Sh, T>>| {
            let (a, b) = acond(the(c), (xs, ys), (ys, map(|x| x, ys)));
            (b, a)
        });
        t.is(prog.clone(), (&Array::scalar(true), &xs, &ys), (ys.clone(), xs.clone()));
        t.is(prog, (&Array::scalar(false), &xs, &ys), (ys.clone(), ys.clone()));
    }
}

fn chosen_elements<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let (xs, ys) = (array::<Sh, T>(extents), other_array::<Sh, T>(extents, 1));
        let flags = array::<Sh, bool>(extents);
        let prog = afun(|flags: Acc<Array<Sh, bool>>, xs: Acc<Array<Sh, T>>, ys: Acc<Array<Sh, T>>| {
            zip_with3(|c, x, y| cond::<T>(c, x, y), flags, xs, ys)
        });
        let expected = tabulate::<Sh, T>(extents, |ix| at(if at(&flags, ix) { &xs } else { &ys }, ix));
        t.is(prog, (&flags, &xs, &ys), expected);
    }
}

/// The other branch would be an error.
fn only_the_chosen_is_computed(t: &Suite) {
    let xs = Array::vector(vec![6i64, 0, -3, 0]);
    let prog = afun(|xs: Acc<Vector<i64>>| map(|x| cond(x.eq(0), -1, 60 / x), xs));
    t.is(prog, &xs, Array::vector(vec![10, -1, -20, -1]));
    let prog = afun(|xs: Acc<Vector<i64>>| {
        let n = xs.len();
        generate(8, |i| cond(i.lt(n), xs.at(i), cond(i.lt(n + 2), xs.at(i - n), 100)))
    });
    t.is(prog, &xs, Array::vector(vec![6, 0, -3, 0, 6, 0, 100, 100]));
    let prog = afun(|xs: Acc<Vector<i64>>, c: Acc<Scalar<bool>>| acond(the(c), unit(xs.at(100)), unit(xs.at(0))));
    t.is(prog, (&xs, &Array::scalar(false)), Array::scalar(6));
    // An array that only one branch uses is not computed either if the other branch is taken.
    let prog = afun(|xs: Acc<Vector<i64>>, c: Acc<Scalar<bool>>| {
        let inverse = map(|x| 100 / x, xs);
        acond(the(c), zip_with(|x, y| x + y, inverse, inverse), xs)
    });
    t.is(prog, (&xs, &Array::scalar(false)), xs.clone());
}

/// The number of steps to get to 1, where even numbers are halved and odd ones become 3 n + 1.
fn collatz(n: i64) -> i64 {
    if n == 1 { 0 } else { 1 + collatz(if n % 2 == 0 { n / 2 } else { 3 * n + 1 }) }
}

fn loops_in_scalar_code(t: &Suite) {
    let prog = afun(|xs: Acc<Vector<i64>>| {
        let next = |n: Exp<i64>| cond((n % 2).eq(0), n / 2, n * 3 + 1);
        map(|x| while_(|(n, _)| n.ne(1), |(n, steps)| (next(n), steps + 1), (x, 0i64)).1, xs)
    });
    let xs = Array::vector((1..=100).collect::<Vec<i64>>());
    t.is(prog, &xs, Array::vector((1..=100).map(collatz).collect()));
    // The loop makes no step for some elements; the state is one scalar.
    let prog = afun(|xs: Acc<Vector<f64>>| map(|x| while_(|x: Exp<f64>| x.gt(1.0), |x| x / 2.0, x), xs));
    t.is(prog, &Array::vector(vec![-5.0, 1.0, 12.0]), Array::vector(vec![-5.0, 1.0, 0.75]));
    // The loop uses variables from outside, and reads arrays.
    let prog = afun(|xs: Acc<Vector<i64>>| {
        imap(
            |i, x| {
                let sum = while_(|(k, _)| k.lt(i), |(k, s)| (k + 1, s + x * xs.at(k)), (0i64, 0i64));
                sum.1
            },
            xs,
        )
    });
    let xs: Vec<i64> = (1..20).collect();
    let expected = (0..xs.len()).map(|i| xs[..i].iter().map(|y| xs[i] * y).sum()).collect();
    t.is(prog, &Array::vector(xs), Array::vector(expected));
}

/// Elements whose loops end at different times, more than are computed together: NOTE [Lanes that leave] in `LaneFn`.
fn steps_of_their_own(t: &Suite) {
    let smaller = |y: Exp<f64>| cond(y.lt(8.0), y - 1.5, y * 0.5);
    let steps = move |x: Exp<f64>| while_(|(y, _)| y.gt(1.0), move |(y, n)| (smaller(y), n + 1), (x, 0i64));
    let by_hand = |mut y: f64| {
        let mut n = 0;
        while y > 1.0 {
            (y, n) = (if y < 8.0 { y - 1.5 } else { y * 0.5 }, n + 1);
        }
        (y, n)
    };
    for n in [0, 1, 3, 4, 5, 33, 255, 256, 257, 700] {
        let numbers = |factor: usize| -> Vec<f64> { (0..n).map(|k| (k * factor % 1009) as f64 / 4.0).collect() };
        let (xs, mut sorted) = (numbers(577), numbers(577));
        sorted.sort_by(f64::total_cmp);
        // Code before and after the loop, several results, and an argument that nobody uses afterwards.
        let prog = afun(move |xs: Acc<Vector<f64>>| {
            map(
                |x| {
                    let (y, n) = steps(x * 3.0);
                    (y * x, cond(n.gt(3), n.cast::<f64>() * 0.5, y))
                },
                sort(xs),
            )
        });
        let of = |x: &f64| {
            let (y, n) = by_hand(x * 3.0);
            (y * x, if n > 3 { n as f64 * 0.5 } else { y })
        };
        t.is(prog, &Array::vector(xs.clone()), Array::vector(sorted.iter().map(of).collect()));
        // A loop in the loop, and the index.
        let prog = afun(move |xs: Acc<Vector<f64>>| {
            let count =
                |y: Exp<f64>| while_(|(z, _)| z.lt(y), |(z, n)| (z * 2.0 + 1.0, n + 1), (y * 0.0 + 0.5, 0i64)).1;
            let sum =
                move |x: Exp<f64>| while_(|(y, _)| y.gt(1.0), move |(y, n)| (smaller(y), n + count(y)), (x, 0i64)).1;
            generate((3, xs.shape()), move |(i, j)| sum(xs.at(j) + i.cast::<f64>()) + i)
        });
        let count = |y: f64| std::iter::successors(Some(0.5), |z| Some(z * 2.0 + 1.0)).take_while(|z| *z < y).count();
        let sum = |mut y: f64| {
            let mut n = 0;
            while y > 1.0 {
                n += count(y) as i64;
                y = if y < 8.0 { y - 1.5 } else { y * 0.5 };
            }
            n
        };
        let all = (0..3).flat_map(|i| xs.iter().map(move |x| sum(x + i as f64) + i)).collect();
        t.is(prog, &Array::vector(xs.clone()), Array::matrix(3, n, all).unwrap());
    }
}

fn loops_of_records(t: &Suite) {
    let prog = afun(|xs: Acc<Vector<Run>>| {
        let step = |r: RunExp| RunExp { ends: (r.ends.1, r.ends.0), changes: r.changes - 1, wide: !r.wide };
        map(|r: RunExp| while_(|r: RunExp| r.changes.gt(0), step, r), xs)
    });
    let xs = vector::<Run>(30);
    let step = |r: Run| Run { ends: (r.ends.1, r.ends.0), changes: r.changes - 1, wide: !r.wide };
    let expected = xs.iter().map(|r| (0..r.changes).fold(r, |r, _| step(r))).collect();
    t.is(prog, &xs, Array::vector(expected));
}

fn loops_over_arrays(t: &Suite) {
    let prog = afun(|xs: Acc<Vector<i64>>| {
        awhile(|xs: Acc<Vector<i64>>| the(sum(xs)).lt(1000), |xs| map(|x| x * 2 + 1, xs), xs)
    });
    for start in [vec![], vec![5000], vec![1], vec![3, -1, 200]] {
        let mut xs = start.clone();
        // The sum of an empty vector stays 0 for ever.
        if !start.is_empty() {
            while xs.iter().sum::<i64>() < 1000 {
                xs.iter_mut().for_each(|x| *x = *x * 2 + 1);
            }
            t.is(prog.clone(), &Array::vector(start), Array::vector(xs));
        }
    }
    // The shape can change from step to step.
    let prog = afun(|xs: Acc<Vector<f32>>| {
        let halves = |xs: Acc<Vector<f32>>| {
            let half = xs.len() / 2;
            zip_with(|x, y| x + y, take(half, xs), skip(half, xs))
        };
        awhile(|xs: Acc<Vector<f32>>| xs.len().gt(1), halves, xs)
    });
    let xs = vector::<f32>(256);
    t.is(prog, &xs, Array::vector(vec![xs.iter().sum()]));
}

/// Several arrays as state. The next value of each depends on the others.
fn loops_over_tuples(t: &Suite) {
    let prog = afun(|n: Acc<Scalar<i64>>| {
        type State = (Acc<Scalar<i64>>, Acc<Vector<i64>>, Acc<Vector<i64>>);
        let start = (n, fill(3, 0i64), fill(3, 1i64));
        awhile(|(n, _, _): State| the(n).gt(0), |(n, a, b)| (map(|n| n - 1, n), b, zip_with(|x, y| x + y, a, b)), start)
    });
    for (n, a, b) in [(0, 0, 1), (1, 1, 1), (10, 55, 89)] {
        let expected = (Array::scalar(0i64), Array::vector(vec![a; 3]), Array::vector(vec![b; 3]));
        t.is(prog.clone(), &Array::scalar(n), expected);
    }
}

/// Nested loops, in both layers, that use variables from outside.
fn loops_in_loops(t: &Suite) {
    let prog = afun(|xs: Acc<Vector<i64>>, rounds: Acc<Scalar<i64>>| {
        let inner = |k: Acc<Scalar<i64>>, ys: Acc<Vector<i64>>| {
            let (_, ys) = awhile(
                |(j, _): (Acc<Scalar<i64>>, Acc<Vector<i64>>)| the(j).lt(the(k)),
                |(j, ys)| (map(|j| j + 1, j), zip_with(|x, y| (x * the(k) + y) % 1009, xs, ys)),
                (unit(0i64), ys),
            );
            ys
        };
        let (_, ys) = awhile(
            |(k, _): (Acc<Scalar<i64>>, Acc<Vector<i64>>)| the(k).lt(the(rounds)),
            |(k, ys)| (map(|k| k + 1, k), inner(k, ys)),
            (unit(0i64), xs),
        );
        ys
    });
    let start: Vec<i64> = (0..9).collect();
    let mut ys = start.clone();
    for k in 0..4 {
        for _ in 0..k {
            ys.iter_mut().zip(&start).for_each(|(y, x)| *y = (x * k + *y) % 1009);
        }
    }
    t.is(prog, (&Array::vector(start), &Array::scalar(4)), Array::vector(ys));
    // In scalar code: a nested loop that counts numbers.
    let prog = afun(|n: Acc<Vector<i64>>| {
        map(
            |n| {
                let count = while_(
                    |(i, _)| i.lt(n),
                    |(i, c)| (i + 1, while_(|(j, _)| j.lt(i), |(j, c)| (j + 1, c + 1), (0i64, c)).1),
                    (0i64, 0i64),
                );
                count.1
            },
            n,
        )
    });
    t.is(prog, &Array::vector(vec![0, 1, 2, 10]), Array::vector(vec![0i64, 0, 1, 45]));
}

/// Newton's method until the largest change is small.
fn conditions_of_loops_read_arrays(t: &Suite) {
    let prog = afun(|xs: Acc<Vector<f64>>| {
        awhile(
            |roots: Acc<Vector<f64>>| the(maximum(zip_with(|r, x| (r * r - x).abs(), roots, xs))).gt(1e-9),
            |roots| zip_with(|r, x| (r + x / r) / 2.0, roots, xs),
            fill(xs.len(), 1.0),
        )
    });
    let xs = Array::vector(vec![1.0, 2.0, 9.0, 10.0]);
    t.near(1e-9, prog, &xs, Array::vector(xs.iter().map(f64::sqrt).collect()));
}

fn applications(t: &Suite) {
    for n in [-1i64, 0, 1, 7, 40] {
        let prog = afun(move |xs: Acc<Vector<i64>>| aiterate(n, |xs: Acc<Vector<i64>>| map(|x| x * 3 + 1, xs), xs));
        let applied = |x: i64| (0..n).fold(x, |x, _| x.wrapping_mul(3).wrapping_add(1));
        for xs in [vec![], vec![5], (0..20).collect()] {
            let expected = xs.iter().map(|x| applied(*x)).collect();
            t.is(prog.clone(), &Array::vector(xs), Array::vector(expected));
        }
    }
}

/// The rows of an array of rank 1 and more, listed again, and the last of them.
fn rows_and_lists<Sh: Shape, T: Sample>(t: &Suite) {
    for extents in shapes_of::<Sh>() {
        let (xs, n) = (array::<Sh, T>(extents), 3);
        let prog = afun(move |xs: Acc<Array<Sh, T>>| {
            let step = |_: Acc<Array<Sh, T>>, k: Acc<Scalar<i64>>| (xs, (xs, k));
            let (last, (_, numbers)) = map_accum_l(step, xs, iota(n));
            (last, numbers)
        });
        t.is(prog, &xs, (xs.clone(), Array::vector(vec![0, 1, 2])));
    }
}

fn lists_of_sums(t: &Suite) {
    type Number = Acc<Scalar<i64>>;
    let step = |s: Number, x: Number| {
        let s = zip_with(|s, x| s * 2 + x, s, x);
        (s, map(|s| s * 10, s))
    };
    let left = afun(move |xs: Acc<Vector<i64>>| map_accum_l(step, unit(1i64), xs));
    let right = afun(move |xs: Acc<Vector<i64>>| map_accum_r(step, unit(1i64), xs));
    let none = afun(|xs: Acc<Vector<i64>>| {
        map_accum_l(|s: Number, x: Number| (zip_with(|s, x| s * 2 + x, s, x), ()), unit(1i64), xs).0
    });
    for n in [0, 1, 2, 17, 40] {
        let xs: Vec<i64> = (0..n).map(|k| k * 7 % 5 - 2).collect();
        let sums = |xs: &mut dyn Iterator<Item = &i64>| {
            xs.scan(1i64, |s, x| {
                *s = s.wrapping_mul(2).wrapping_add(*x);
                Some(*s)
            })
            .collect::<Vec<_>>()
        };
        let (forth, mut back) = (sums(&mut xs.iter()), sums(&mut xs.iter().rev()));
        let last = |all: &[i64]| Array::scalar(all.last().copied().unwrap_or(1));
        let listed = |all: &[i64]| Array::vector(all.iter().map(|s| s.wrapping_mul(10)).collect());
        let last_back = last(&back);
        back.reverse();
        let xs = Array::vector(xs);
        t.is(left.clone(), &xs, (last(&forth), listed(&forth)));
        t.is(right.clone(), &xs, (last_back, listed(&back)));
        t.is(none.clone(), &xs, last(&forth));
    }
}

/// Rows of a matrix together with numbers; entries of two ranks, one of them the state before the step.
fn lists_of_rows_and_tuples(t: &Suite) {
    let prog = afun(|m: Acc<Matrix<f64>>, weights: Acc<Vector<f64>>| {
        let step = |s: Acc<Vector<f64>>, (row, w): (Acc<Vector<f64>>, Acc<Scalar<f64>>)| {
            (zip_with(|s, x| s + x * the(w), s, row), (s, sum(row)))
        };
        map_accum_r(step, fill(m.shape().1, 0.5), (m, weights))
    });
    for (n, k) in [(0, 3), (1, 2), (5, 0), (6, 4), (33, 3)] {
        let m: Vec<f64> = (0..n * k).map(|i| (i * 7 % 11) as f64 - 3.0).collect();
        let weights: Vec<f64> = (0..n).map(|i| i as f64 * 0.25).collect();
        let mut s = vec![0.5; k];
        let (mut states, mut sums) = (vec![vec![]; n], vec![0.0; n]);
        for i in (0..n).rev() {
            let row = &m[i * k..(i + 1) * k];
            (states[i], sums[i]) = (s.clone(), row.iter().sum());
            s.iter_mut().zip(row).for_each(|(s, x)| *s += x * weights[i]);
        }
        let columns = if n == 0 { 0 } else { k };
        let states = Array::matrix(n, columns, states.concat()).unwrap();
        let (m, weights) = (Array::matrix(n, k, m).unwrap(), Array::vector(weights));
        t.is(prog.clone(), (&m, &weights), (Array::vector(s), (states, Array::vector(sums))));
    }
}

fn numbered_steps(t: &Suite) {
    let prog = afun(|ns: Acc<Vector<i64>>, xs: Acc<Vector<i64>>| {
        zip_with(|n, x| iterate_indexed(n, |k: Exp<i64>, y: Exp<i64>| y * 3 + k, x), ns, xs)
    });
    let (ns, xs) = (vec![-1i64, 0, 1, 5, 9], vec![2i64, 3, 5, 7, 11]);
    let expected = ns.iter().zip(&xs).map(|(n, x)| (0..*n).fold(*x, |y, k| y * 3 + k)).collect();
    t.is(prog, (&Array::vector(ns.clone()), &Array::vector(xs.clone())), Array::vector(expected));
}

/// Of rows, and of several arrays at once; without a row, the state stays.
fn states_without_lists<T: Sample>(t: &Suite) {
    for extents in [[0, 3], [1, 1], [4, 5], [20, 70]] {
        let (m, v): (Matrix<T>, Vector<T>) = (array(&extents), vector(extents[1]));
        let ks = Array::vector((0..extents[0] as i64).collect());
        let prog = afun(|ks: Acc<Vector<i64>>, m: Acc<Matrix<T>>, v: Acc<Vector<T>>| {
            let step = |(n, s): (Acc<Scalar<i64>>, Acc<Vector<T>>), (k, row): (Acc<Scalar<i64>>, Acc<Vector<T>>)| {
                (n * 2 + k, zip_with(|x, y| T::combine_exp(x, y), s, row))
            };
            afoldl(step, (unit(1i64), v), (ks, m))
        });
        let number = (0..extents[0] as i64).fold(1i64, |n, k| n.wrapping_mul(2).wrapping_add(k));
        let last =
            rows(&m).iter().fold(v.to_vec(), |s, row| s.iter().zip(row).map(|(x, y)| T::combine(x, y)).collect());
        t.is(prog, (&ks, &m, &v), (Array::scalar(number), Array::vector(last)));
    }
}
