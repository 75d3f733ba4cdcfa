//! Extents that are computed numbers do not keep arrays in memory.

use accel_core::prelude::*;
use accel_core::repr::{Column, RawArray};
use accel_fusion::kernel::{ArrayId, Block, Op, Program, Stmt};
use accel_fusion::pipeline::{Target, lower, optimize, optimize_for};
use accel_fusion::simplify;

type N = Acc<Scalar<i64>>;
type V = Acc<Vector<f64>>;

pub fn optimized<A: Arrays, R: Arrays>(f: &Afun<A, R>) -> Program {
    let (simple, _) = simplify(f.program().unwrap()).unwrap();
    optimize(&lower(&simple).unwrap(), true).unwrap().program.into_inner()
}

/// The number of matrices with columns that a run of a program stores, without those that strips keep a part of.
pub fn matrices(p: &Program) -> usize {
    fn stored(p: &Program, b: &Block) -> usize {
        let own = |s: &Stmt| {
            let is_matrix = |a: &&ArrayId| p.arrays[**a].rank > 1 && !p.arrays[**a].columns.is_empty();
            let inner = match &s.op {
                Op::If { then, otherwise, .. } => stored(p, &then.0).max(stored(p, &otherwise.0)),
                Op::Strip { .. } => 0,
                op => op.blocks().into_iter().map(|b| stored(p, b)).sum(),
            };
            s.op.defines().iter().filter(is_matrix).count() + inner
        };
        b.stmts.iter().map(own).sum()
    }
    stored(p, &p.body)
}

/// The number of statements that compute something.
fn kernels(p: &Program) -> usize {
    let computes = |op: &Op| match op {
        Op::Loop { body, .. } => !body.results.is_empty(),
        op => !matches!(op, Op::Agree { .. }),
    };
    p.body.walk().filter(|s| computes(&s.op)).count()
}

fn table(n: Exp<i64>, x: V) -> Acc<Matrix<f64>> {
    generate((n, n), move |(i, j)| x.at(i) * x.at(j) + 1.0)
}

#[test]
fn matrices_that_are_only_reduced_are_not_stored() {
    let programs = [
        afun(|n: N, x: V| sum_all(table(the(n), x))),
        afun(|n: N, x: V| sum_all(map(|y| y * y, table(the(n) + 1, x)))),
        afun(|n: N, x: V| sum(matvec(table(the(n), x), x))),
        afun(|n: N, x: V| sum_all(map(|x| x * 2.0, replicate((the(n), All), x)))),
    ];
    for f in &programs {
        let p = optimized(f);
        assert_eq!(matrices(&p), 0, "{p}");
    }
    let one_hot = afun(|k: Acc<Vector<i64>>, x: V| {
        let n = the(maximum(k)) + 1;
        matvec(generate((k.len(), n), |(i, j)| cond(k.at(i).eq(j), 1.0, 0.0)), x)
    });
    let p = optimized(&one_hot);
    assert_eq!(matrices(&p), 0, "{p}");
}

#[test]
fn they_take_as_many_kernels_as_with_the_extents_of_arguments() {
    let computed = optimized(&afun(|n: N, x: V| sum_all(table(the(n), x))));
    let given = optimized(&afun(|_: N, x: V| sum_all(table(x.len(), x))));
    assert_eq!(kernels(&computed), kernels(&given), "{computed}\n{given}");
}

/// Their gradients store the matrices that they store with the extents of arguments, and scatter only if an index is out of bounds.
#[test]
fn gradients_store_no_matrix_either() {
    type Extent = fn(N, V) -> Exp<i64>;
    let programs: [fn(Extent) -> Afun<(Scalar<i64>, Vector<f64>), Scalar<f64>>; 4] = [
        |len| afun(move |n: N, x: V| sum_all(table(len(n, x), x))),
        |len| afun(move |n: N, x: V| sum(matvec(table(len(n, x), x), x))),
        |len| afun(move |n: N, x: V| sum(map(|y| y * y, matvec(table(len(n, x), x), x)))),
        |len| afun(move |n: N, x: V| sum_all(map(|y| (y * 1.5).sin() * y.cos() + y.exp(), table(len(n, x), x)))),
    ];
    for f in programs {
        let gradient = |len: Extent| optimized(&accel_ad::value_and_grad(&f(len).by(|(_, x)| x)));
        let (computed, given) = (gradient(|n, _| the(n)), gradient(|_, x| x.len()));
        assert_eq!(matrices(&computed), matrices(&given), "{computed}\n{given}");
        assert!(!computed.body.stmts.iter().any(|s| matches!(s.op, Op::Permute { .. })), "{computed}");
    }
}

/// The adjoint of a matrix that two decisions read is computed in the branches of one, and there in strips.
#[test]
fn decided_sums_of_one_matrix_keep_parts_of_it() {
    type All = fn(V, Exp<i64>, Exp<i64>) -> Exp<f64>;
    let pairs: [All; 3] = [
        |x, i, j| ((x.at(j) - x.at(i)) * (x.at(i) - x.at(j))).exp(),
        |x, i, j| (x.at(i) * x.at(j)).sin() * x.at(j),
        |x, i, j| (x.at(i) * 2.0).exp() + (x.at(i) * x.at(j)).tanh(),
    ];
    for f in pairs {
        let f = afun(move |n: N, x: V| {
            let n = the(n);
            sum_all(map(|y| y * y, generate((n, n), move |(i, j)| f(x, i, j))))
        });
        let gradient = accel_ad::grad(&f.by(|(_, x)| x));
        let lowered = lower(&simplify(gradient.program().unwrap()).unwrap().0).unwrap();
        let p = optimize_for(&lowered, Target::Processor, false).unwrap().program;
        let decisions = p.body.stmts.iter().filter(|s| matches!(&s.op, Op::If { to, .. } if !to.is_empty()));
        let [Stmt { op: Op::If { then, otherwise, .. }, .. }] = decisions.collect::<Vec<_>>()[..] else {
            panic!("one decision\n{p}")
        };
        let is_stored =
            |s: &Stmt| s.op.defines().iter().any(|a| p.arrays[*a].rank > 1 && !p.arrays[*a].columns.is_empty());
        assert!(!p.body.stmts.iter().chain(&then.0.stmts).any(is_stored), "{p}");
        assert!(otherwise.0.stmts.iter().any(|s| matches!(s.op, Op::Permute { .. })), "{p}");
        for (n, len) in [(0, 3), (1, 1), (2, 3), (3, 3), (4, 3), (-1, 2)] {
            let x = Array::vector((0..len).map(|k| (k as f64).sin() * 0.5).collect());
            let arguments = (&Array::scalar(n), &x);
            let run = |backend: &dyn accel_core::backend::Backend| {
                let found = Compiled::new(backend, &gradient).unwrap().run(arguments);
                found.map(|by_x| by_x.to_vec()).map_err(|e| e.to_string())
            };
            let numbers = |found: Vec<RawArray>| match &found[0].columns[0] {
                Column::F64(by_x) => by_x.to_vec(),
                other => panic!("{other:?}"),
            };
            let own = p.evaluate(&arguments.to_tuple()).map(numbers).map_err(|e| e.to_string());
            for found in [own, run(&accel_fusion::OptimizedEvaluator)] {
                match (found, run(&accel_core::interp::Interpreter)) {
                    (Ok(x), Ok(y)) => {
                        let near = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-13;
                        assert!(x.len() == y.len() && x.iter().zip(&y).all(near), "{x:?}, {y:?}");
                    }
                    (x, y) => assert_eq!(x, y),
                }
            }
        }
    }
}

/// An array of which only an extent is used has no columns, whatever computes it.
#[test]
fn arrays_of_which_only_extents_are_used_are_not_computed() {
    let programs = [
        afun(|n: N, x: V| unit(table(the(n), x).shape().1)),
        afun(|n: N, x: V| unit(sum(table(the(n), x)).len())),
        afun(|n: N, x: V| unit(scanl(|a, b| a + b, 0.0, table(the(n), x)).shape().1)),
        afun(|n: N, x: V| unit(scanl1(|a, b| a + b, table(the(n), x)).shape().0)),
    ];
    for f in &programs {
        let p = optimized(f);
        assert_eq!((matrices(&p), kernels(&p)), (0, 1), "{p}");
    }
}

/// The program fails if they do not agree. So the extent of an argument is that number, and neither a minimum nor a check remains, here
/// in the step of a loop and in its derivative.
#[test]
fn an_extent_that_has_to_agree_with_a_number_is_that_number() {
    let state = |w: Acc<Matrix<f64>>| {
        let step = |h: V| {
            let y = matvec(w, h);
            generate(4i64, |i| y.at(i).tanh())
        };
        aiterate(3i64, step, fill(4i64, 0.5))
    };
    let f = afun(move |w| sum(state(w)));
    let gradient = accel_ad::grad(&f);
    for p in [optimized(&f), optimized(&gradient)] {
        let text = p.to_string();
        assert!(!text.contains(" min ") && !text.contains("agree"), "{text}");
    }
    for (n, m) in [(4, 4), (6, 4), (4, 3), (3, 4), (4, 0)] {
        let w = Array::matrix(n, m, (0..n * m).map(|k| (k as f64).sin()).collect()).unwrap();
        let run = |backend: &dyn accel_core::backend::Backend| match Compiled::new(backend, &gradient).unwrap().run(&w)
        {
            Ok(by_w) => Ok(by_w.to_vec()),
            Err(e) => Err(e.to_string()),
        };
        let expected = run(&accel_core::interp::Interpreter);
        assert_eq!(expected.is_ok(), n >= 4 && m == 4);
        match (run(&accel_fusion::OptimizedEvaluator), expected) {
            (Ok(x), Ok(y)) => assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() <= 1e-14), "{x:?}, {y:?}"),
            (x, y) => assert_eq!(x, y),
        }
    }
}
