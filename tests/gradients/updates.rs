//! Updates: `set`, `update`, `set_row`, `set_slice`, `set_block`, alone and in loops.

use crate::array_loops::{matrix, succ};
use crate::harness::{V, jacobian};
use crate::refined::{Any, Few, NonEmpty};
use accel::prelude::*;
use accel_fusion::kernel::{ArrayId, Block, Op, Program, Verified};
use accel_fusion::pipeline::{lower, optimize};
use accel_fusion::simplify;
use std::collections::BTreeSet;

type Count = Acc<Scalar<i64>>;
type M = Acc<Matrix<f64>>;

/// The state after `n` steps, each with its number.
fn steps(n: impl ToExp<i64>, step: impl FnOnce(Exp<i64>, V) -> V, start: V) -> V {
    let n = n.to_exp();
    let body = |(k, xs): (Count, V)| (succ(k), step(the(k), xs));
    awhile(|(k, _)| the(k).lt(n), body, (unit(0i64), start)).1
}

#[test]
fn single_updates() {
    jacobian(Few(NonEmpty), |a: V| set(a, a.len() - 1, a.at(0).sin()));
    jacobian(Few(NonEmpty), |a: V| set(a, 0, 2.0));
    jacobian(Few(NonEmpty), |a: V| update(a, a.len() / 2, |x| x * x));
    jacobian(Few(NonEmpty), |a: V| set_row(matrix(a), 0, generate(3, |j| a.at(0) * j.cast::<f64>())));
    jacobian(Few(NonEmpty), |a: V| set_slice(matrix(a), (All, 1i64), map(|x| x * x, a)));
    jacobian(Few(Any), |a: V| set_slice(matrix(a), (All, All), map(|x| x * x, matrix(a))));
    jacobian(Few(NonEmpty), |a: V| {
        set_block(matrix(a), (a.len() - 1, 1), generate((1, 2), |(_, j)| a.at(0) + j.cast::<f64>()))
    });
    jacobian(Few(Any), |a: V| set_block(a, 0, map(|x| x.exp(), take(2, a))));
}

/// What is used besides the new array: the old one, twice updated, in both orders.
#[test]
fn both_versions() {
    jacobian(Few(NonEmpty), |a: V| zip_with(|x, y| x * y, a, set(a, 0, a.at(0).cos())));
    jacobian(Few(NonEmpty), |a: V| {
        let last = a.len() - 1;
        let (b, c) = (update(a, 0, |x| x.sin()), update(a, last, |x| x * x));
        zip_with(|x, y| x * y, b, update(c, last, |x| x * 0.5))
    });
    // The same place twice.
    jacobian(Few(NonEmpty), |a: V| update(update(a, 0, |x| x * x), 0, |x| x * x + x));
    jacobian(Few(NonEmpty), |a: V| set(set(a, 0, a.at(0) * 3.0), 0, a.at(0) * a.at(0)));
}

/// Of elements with the same target, the last one counts: of a vector of one, of all of another one, of none.
#[test]
fn elements_with_the_same_target() {
    let put = |a: V, i: Exp<i64>, all: V| permute(|new, _| new, a, move |_: Exp<i64>| (true, i), all);
    jacobian(Few(NonEmpty), move |a: V| put(a, a.len() - 1, fill(1, a.at(0).sin())));
    jacobian(Few(NonEmpty), move |a: V| put(a, constant(0), map(|x| x * x, a)));
    jacobian(Few(NonEmpty), move |a: V| put(map(|x| x * x, a), constant(0), take(0, a)));
    let step = move |i: Exp<i64>, xs: V| put(xs, i, fill(1, xs.at(i) * xs.at(0)));
    jacobian(Few(Any), move |a: V| steps(a.len(), step, a));
    // Rows of which all or none are kept.
    let rows = |a: V, from: i64| {
        let all = generate((2, 3), |(i, j)| a.at(0) * i.cast::<f64>() + j.cast::<f64>());
        permute(|new, _| new, a, move |_| (a.len().gt(from), 0), all)
    };
    jacobian(Few(NonEmpty), move |a: V| rows(a, 0));
    jacobian(Few(NonEmpty), move |a: V| rows(a, 2));
}

#[test]
fn updates_in_loops() {
    // Each element once, in place and from its neighbour.
    jacobian(Few(Any), |a: V| steps(a.len(), |i, xs| update(xs, i, |x| x * x), a));
    jacobian(Few(Any), |a: V| steps(a.len(), |i, xs| set(xs, i, xs.at((i - 1).max(0)).sin() + xs.at(i) * 0.5), a));
    // What another array says, several times at the same place, and by a place that is computed.
    jacobian(Few(Any), |a: V| steps(a.len(), |i, xs| set(xs, i, a.at(a.len() - 1 - i) * xs.at(0)), a));
    jacobian(Few(NonEmpty), |a: V| steps(5, |i, xs| update(xs, (i * i) % xs.len(), |x| x.sin() + 0.3), a));
    // Two updates in a step, at the same place and at different ones.
    jacobian(Few(NonEmpty), |a: V| {
        let step = |i: Exp<i64>, xs: V| {
            let (i, j) = (i % xs.len(), (i * 2) % xs.len());
            let (x, y) = (xs.at(i), xs.at(j));
            set(set(xs, i, y * 0.5 + x), j, x * x)
        };
        steps(4, step, a)
    });
    // Reads after the update, of the whole array and of its old elements.
    jacobian(Few(NonEmpty), |a: V| {
        let step = |i: Exp<i64>, xs: V| {
            let ys = set(xs, i % xs.len(), the(sum(xs)) * 0.3);
            set(ys, (i + 1) % xs.len(), the(sum(zip_with(|x, y| x * y, xs, ys))))
        };
        steps(3, step, a)
    });
    // Neither the first step nor all others change the array.
    jacobian(Few(NonEmpty), |a: V| {
        let step = |i: Exp<i64>, xs: V| acond((i % 2).eq(1), update(xs, i % xs.len(), |x| x * x), xs);
        steps(5, step, a)
    });
}

/// Updates in the branches of conditionals: in one, in both, of rows, several, and in branches of branches.
#[test]
fn updates_in_branches() {
    for program in in_branches() {
        jacobian(Few(NonEmpty), program);
    }
}

/// The loop of reverse mode lists places and old elements, not states.
#[test]
fn loops_list_what_branches_overwrite() {
    for program in &in_branches()[..2] {
        let program = *program;
        let gradient = grad(afun(move |a: V| sum(program(a))));
        let lowered = lower(&simplify(gradient.program().unwrap()).unwrap().0).unwrap();
        let text = optimize(&lowered, false).unwrap().program.to_string();
        assert!(text.contains("Array1<bool, i64, f64>") && !text.contains("Array2<f64>"), "{text}");
    }
}

/// Columns of different lengths: the list has rows of the matrix's extent.
#[test]
fn loops_list_updates_of_different_extents() {
    let triangle = |m: M| {
        let (n, _) = m.shape();
        let column = |j: Exp<i64>, l: M| {
            let below = generate(n - j, |i| (l.at((i + j, j)) * m.at((j, i + j))).sin());
            permute(|new, _| new, l, |i: Exp<i64>| (true, (i + j, j)), below)
        };
        aiterate_indexed(n, column, m)
    };
    let square = |a: V| generate((a.len(), a.len()), |(i, j)| a.at(i) * a.at(j) + 0.1);
    jacobian(Few(Any), move |a: V| triangle(square(a)));
    let program = optimized_gradient(&afun(move |m: M| sum_all(triangle(m))));
    assert!(program.tapes() == 0 && program.to_string().contains("Array2<bool, i64, i64, f64>"), "{program}");
    // A branch does not update in some steps, and the first one has no element.
    jacobian(Few(NonEmpty), move |a: V| {
        let step = |i: Exp<i64>, l: M| {
            let part = generate(i, |k| l.at((k, i)) * a.at(k));
            acond((i % 2).eq(0), permute(|new, _| new, l, |k: Exp<i64>| (true, (i, k)), part), l)
        };
        aiterate_indexed(a.len(), step, square(a))
    });
}

/// The optimised gradient of a program with one result.
fn optimized_gradient<A: Arrays>(f: &Afun<A, Scalar<f64>>) -> Verified<Program> {
    let gradient = grad(f);
    let lowered = lower(&simplify(gradient.program().unwrap()).unwrap().0).unwrap();
    optimize(&lowered, false).unwrap().program
}

/// The optimised Hessian-vector product of a program with one result.
fn optimized_hvp(f: &Afun<Vector<f64>, Scalar<f64>>) -> Verified<Program> {
    let product = hvp(f);
    let lowered = lower(&simplify(product.program().unwrap()).unwrap().0).unwrap();
    optimize(&lowered, false).unwrap().program
}

/// Checks that loops with states of this rank take time and memory in proportion to their updates: they keep no states, neither on tapes
/// nor in lists, and no step computes an array as large as a state.
#[track_caller]
fn in_proportion(program: &Program, rank: usize) {
    for s in program.body.walk() {
        // A tape of numbers, such as counters, is in proportion.
        if let Op::Keep { arrays, .. } = &s.op {
            assert!(arrays.iter().all(|a| program.arrays[*a].rank < rank), "a tape of states\n{program}");
        }
        let Op::While { to, init, body, .. } = &s.op else { continue };
        let lists = to[init.len()..].iter();
        lists.for_each(|a| assert!(program.arrays[*a].rank <= rank, "a{a} is a list of states\n{program}"));
        for s in body.0.walk() {
            let large = |a: &ArrayId| program.arrays[*a].rank >= rank;
            assert!(
                !matches!(&s.op, Op::Loop { to, .. } if to.iter().any(large)),
                "a step computes a state\n{program}"
            );
        }
    }
}

/// The loop of reverse mode takes as many steps as the loop that it differentiates, in whatever form this number is given.
#[test]
fn numbers_of_steps_of_any_form() {
    for f in recurrences() {
        jacobian(Few(Any), f);
        let f = afun(move |a: V| sum(map(|x| x * x, f(a))));
        in_proportion(&optimized_gradient(&f), 1);
        in_proportion(&optimized_hvp(&f), 1);
    }
}

/// Recurrences with numbers of steps that depend on the length, the last ones by two arrays, in branches, and over rows.
fn recurrences() -> Vec<fn(V) -> V> {
    fn next(k: Exp<i64>, y: V) -> V {
        set(y, (k + 1).min(y.len() - 1), (y.at(k) * 0.5 + y.at(0)).sin())
    }
    vec![
        |a| aiterate_indexed(a.len(), next, a),
        |a| aiterate_indexed(a.len() - 1, next, a),
        |a| aiterate_indexed(a.len() - 2, next, a),
        |a| aiterate_indexed(a.len() - 3, |k, y: V| set(y, k + 3, (y.at(k) * y.at(0) + y.at(1) * y.at(2)).sin()), a),
        |a| aiterate_indexed(a.len() / 2, |k, y: V| set(y, k * 2, y.at(k).sin()), a),
        |a| aiterate_indexed((a.len() - 1).min(a.len() * 7), next, a),
        |a| aiterate_indexed((a.len() / 2).max(a.len() - 2), next, a),
        |a| aiterate_indexed(a.len() + 1, |k, y: V| set(y, k / 2, y.at(k / 2).sin()), concat(a, fill(2, 0.5))),
        |a| steps(a.len() - 1, next, a),
        |a| {
            let step = |(y, k): (V, Count), x| ((next(the(k), y), succ(k)), map(|x| x * y.at(0), x));
            let ((y, _), rows) = map_accum_l(step, (a, unit(0i64)), tail(a));
            concat(y, rows)
        },
        |a| {
            let step = |k, (y, z): (V, V)| (next(k, y), set(z, k + 1, (z.at(k) * y.at(k)).cos()));
            let (y, z) = aiterate_indexed(a.len() - 1, step, (a, map(|x| x.sin(), a)));
            zip_with(|y, z| y * z, y, z)
        },
        |a| aiterate_indexed(a.len() - 1, |k, y| acond((k % 2).eq(0), next(k, y), y), a),
    ]
}

/// The same with updates of rows and of columns.
#[test]
fn numbers_of_steps_of_row_updates() {
    let rows: [fn(V) -> M; 2] = [
        |a| {
            let step = |k: Exp<i64>, m: M| set_row(m, k + 1, map(|x| (x * 0.5).sin(), slice((k, All), m)));
            aiterate_indexed(a.len() - 1, step, matrix(a))
        },
        |a| {
            let step = |k: Exp<i64>, m: M| set_slice(m, (All, k + 1), map(|x| (x * 0.5).sin(), slice((All, k), m)));
            aiterate_indexed(a.len() - 1, step, generate((2, a.len()), |(i, j)| a.at(j) * (i + 1).cast::<f64>()))
        },
    ];
    for f in rows {
        jacobian(Few(Any), f);
        let f = afun(move |a: V| sum_all(map(|x| x * x, f(a))));
        in_proportion(&optimized_gradient(&f), 2);
    }
}

/// An adjoint is read before it is changed, also if two terms read it.
#[test]
fn adjoints_are_updated_in_place() {
    let squares = |a: V| steps(a.len(), |i, xs| set(xs, i, xs.at(i) * xs.at(i)), a);
    jacobian(Few(Any), squares);
    let program = optimized_gradient(&afun(move |a: V| sum(squares(a))));
    for s in program.body.walk() {
        let Op::While { body, .. } = &s.op else { continue };
        for (k, s) in body.0.stmts.iter().enumerate() {
            let Op::Permute { defaults, .. } = s.op else { continue };
            let mut later = BTreeSet::new();
            body.0.stmts[k + 1..].iter().for_each(|s| s.op.used_arrays(&mut later));
            assert!(!later.contains(&defaults), "a{defaults} is read after it is changed\n{program}");
        }
    }
}

/// The adjoint of an array that inner loops read is one sum: no step fills an array with zeros or adds two arrays.
#[test]
fn inner_loops_add_to_the_sums_of_outer_ones() {
    let f = |m: M| {
        let (rows, columns) = m.shape();
        let row = |i: Exp<i64>, xs: V| {
            let entry = |j: Exp<i64>, xs: V| set(xs, j, (xs.at(j) * m.at((i, j))).sin() + xs.at((j - 1).max(0)));
            aiterate_indexed(columns, entry, xs)
        };
        sum(aiterate_indexed(rows, row, fill(columns, 1.0)))
    };
    jacobian(Few(Any), move |a: V| f(matrix(a)));
    let program = optimized_gradient(&afun(f));
    let loops =
        program.body.walk().filter_map(|s| if let Op::While { body, .. } = &s.op { Some(&body.0) } else { None });
    for s in loops.flat_map(Block::walk) {
        let large = matches!(&s.op, Op::Loop { to, .. } if to.iter().any(|a| program.arrays[*a].rank == 2));
        assert!(!large, "a step computes a matrix\n{program}");
    }
}

/// Sums that begin with zeros and are added to something afterwards, but whose steps also use what has been added up so far.
#[test]
fn sums_that_steps_read_begin_with_zeros() {
    let f = |a: V| {
        let step = |(xs, total): (V, Acc<Scalar<f64>>)| {
            (zip_with(|x, a| x + a * a, xs, a), zip_with(|t, x| t + x, total, sum(map(|x| x.sin(), xs))))
        };
        let (xs, total) = aiterate(3, step, (fill(a.shape(), 0.0), unit(0.0)));
        (zip_with(|a, x| a + x, a, xs), total)
    };
    jacobian(Few(Any), f);
}

/// Programs with loops whose steps update something else by a condition.
fn in_branches() -> [fn(V) -> V; 4] {
    [
        |a| {
            let step = |i: Exp<i64>, xs: V| {
                let (k, x) = (i % xs.len(), xs.at(i * 2 % xs.len()));
                acond(x.lt(a.at(0)), set(xs, k, x.sin()), update(update(xs, k, |x| x * 0.5), 0, |y| y + x * y))
            };
            steps(5, step, a)
        },
        |a| {
            let step = |i: Exp<i64>, xs: V| {
                let changed = acond((i % 3).eq(2), set(xs, 0, xs.at(0).cos()), update(xs, i % xs.len(), |x| x * x));
                acond((i % 2).eq(1), xs, changed)
            };
            steps(6, step, a)
        },
        |a| {
            let row = |(k, m): (Count, M)| {
                let i = the(k);
                let new = map(|x| x * a.at(i % a.len()), slice((0i64, All), m));
                (succ(k), acond((i % 3).ne(1), set_row(m, i % a.len(), new), m))
            };
            flatten(awhile(|(k, _)| the(k).lt(5), row, (unit(0i64), matrix(a))).1)
        },
        // The other branch changes all elements.
        |a| steps(4, |i, xs| acond((i % 2).eq(1), set(xs, 0, xs.at(0) * a.at(0)), map(|x| x.sin(), xs)), a),
    ]
}

/// Forward substitution and the Cholesky decomposition, as textbooks write them.
#[test]
fn algorithms_of_textbooks() {
    jacobian(Few(NonEmpty), |a: V| {
        let n = a.len();
        let m = generate((n, n), |(i, j)| cond(i.eq(j), 2.0 + a.at(i) * a.at(i), (a.at(j) * 0.5).sin()));
        let step = |i: Exp<i64>, xs: V| {
            let before = sum(generate(i, |j| m.at((i, j)) * xs.at(j)));
            set(xs, i, (a.at(i) - the(before)) / m.at((i, i)))
        };
        steps(n, step, fill(n, 0.0))
    });
    jacobian(Few(NonEmpty), |a: V| {
        let n = a.len();
        let m = generate((n, n), |(i, j)| a.at(i) * a.at(j) + cond(i.eq(j), lit::<f64>(3.0), 0.2));
        let column = |(k, l): (Count, M)| {
            let j = the(k);
            let reduced = |i: Exp<i64>| m.at((i, j)) - the(sum(generate(j, |p| l.at((i, p)) * l.at((j, p)))));
            let pivot = reduced(j).sqrt();
            let products = generate((n - j - 1, j), |(r, p)| l.at((r + j + 1, p)) * l.at((j, p)));
            let rows = imap(|r, before| (m.at((r + j + 1, j)) - before) / pivot, sum(products));
            let l = set(l, (j, j), pivot);
            (succ(k), permute(|new, _| new, l, |r: Exp<i64>| (true, (r + j + 1, j)), rows))
        };
        awhile(|(k, _)| the(k).lt(n), column, (unit(0i64), fill((n, n), 0.0))).1
    });
}

#[test]
fn second_derivatives() {
    let powers = afun(|a: V| sum(steps(a.len(), |i, xs| set(xs, i, xs.at((i - 1).max(0)) * xs.at(i) * a.at(i)), a)));
    let slopes = grad(&powers);
    jacobian(Few(Any), move |a: V| call(&slopes, a));
    let rows = afun(|a: V| {
        let row = |(k, m): (Count, M)| {
            let i = the(k);
            (succ(k), set_row(m, i, map(|x| x * a.at(i), slice(((i - 1).max(0), All), m))))
        };
        let last = awhile(|(k, _)| the(k).lt(a.len()), row, (unit(0i64), matrix(a))).1;
        sum_all(map(|x| x.sin(), last))
    });
    let slopes = grad(&rows);
    jacobian(Few(Any), move |a: V| call(&slopes, a));
}
