//! The vectorized interpreter, which runs programs until they are compiled, compared with compiled programs.

use crate::startup::FILE;
use accel::native::VectorizedInterpreter;
use accel::prelude::*;
use accel::types::Inputs;
use adbench::GmmFile;
use bench_common::case::{Asked, Case, Measure, Pair, Result, native};
use bench_common::data::{beside, uniform};
use bench_common::gmm::{inputs, program};

/// The number of elements.
const N: usize = 1 << 20;

pub fn cases() -> Vec<Case> {
    let case = |work: &str, pair: fn() -> Result<Pair>| {
        Case::new("tiers", format!("{work}, interpreted"), "compiled", [Asked::Cost(10.0)], pair)
    };
    vec![
        case("GMM gradient, d = 10, k = 5", || {
            let problem = GmmFile::read(&beside(FILE)?)?;
            let (parameters, x) = inputs(&problem)?;
            pair(value_and_grad(&program(&problem, &x)), parameters)
        }),
        case("map of 1M f64", || {
            let prog = afun(|xs: Acc<Vector<f64>>| map(|x| x * x + 1.0 / (x + 2.0), xs));
            pair(prog, Array::vector(uniform(1, N, 0.0, 1.0)))
        }),
        case("exp of 1M f64", || {
            let prog = afun(|xs: Acc<Vector<f64>>| map(|x| x.exp(), xs));
            pair(prog, Array::vector(uniform(1, N, 0.0, 1.0)))
        }),
        case("sum of 1M f64", || {
            let prog = afun(|xs: Acc<Vector<f64>>| sum(xs));
            pair(prog, Array::vector(uniform(1, N, 0.0, 1.0)))
        }),
        case("sums of rows and columns of 1000 x 1000 f64", || {
            let prog = afun(|m: Acc<Matrix<f64>>| zip_with(|r, c| r + c, sum(m), sum(transpose(m))));
            pair(prog, Array::matrix(1000, 1000, uniform(1, 1_000_000, 0.0, 1.0))?)
        }),
        case("softmax of 1000 rows of 1000 f64", || {
            let prog = afun(|m: Acc<Matrix<f64>>| {
                let e = map(|x| x.exp(), m);
                let totals = sum(e);
                imap(|(i, _), x| x / totals.at(i), e)
            });
            pair(prog, Array::matrix(1000, 1000, uniform(1, 1_000_000, 0.0, 1.0))?)
        }),
        case("prefix sums of 1M f64", || {
            let prog = afun(|xs: Acc<Vector<f64>>| scanl(|a, b| a + b, 0.0, xs));
            pair(prog, Array::vector(uniform(1, N, 0.0, 1.0)))
        }),
        case("histogram of 1M i64", || {
            let prog = afun(|is: Acc<Vector<i64>>| {
                permute(
                    |a, b| a + b,
                    fill(1000, lit::<i64>(0.0)),
                    |i| (true, (i * 7919 + is.at(i)) % 1000),
                    map(|_| lit::<i64>(1.0), is),
                )
            });
            pair(prog, Array::vector((0..N as i64).map(|i| i % 10).collect()))
        }),
        case("20 steps of Newton for 1M f64", || {
            let prog = afun(|xs: Acc<Vector<f64>>| map(|x| iterate(20, |y| (y + x / y) * 0.5, x), xs));
            pair(prog, Array::vector(uniform(1, N, 1.0, 2.0)))
        }),
    ]
}

fn pair<A: Arrays + Clone + 'static, R: Arrays + 'static>(prog: Afun<A, R>, inputs: A) -> Result<Pair>
where
    for<'a> &'a A: Inputs<A>,
{
    let (interpreted, compiled) = (compile_on(&VectorizedInterpreter, &prog)?, native(&prog)?);
    let same = inputs.clone();
    Ok(Pair {
        ours: Measure::work(move || Ok(interpreted.run(&inputs)?)),
        reference: Measure::work(move || Ok(compiled.run(&same)?)),
    })
}
