//! Traced programs: the gradient of a traced Gaussian mixture, compared with that of the program; and the reverse pass of
//! a trace with independent branches on two threads, compared with one.

use accel::backend_named;
use accel::prelude::*;
use accel_trace::{Keep, Trace, trace_on};
use adbench::GmmFile;
use bench_common::case::{Asked, Case, Measure, Pair, Result, check_close, native};
use bench_common::data::uniform;
use bench_common::gmm::{self, Parameters, inputs, program};
use rayon::ThreadPoolBuilder;
use std::path::Path;

const FILE: &str = "10k_gmm_d10_K10";
const BRANCHES: usize = 32;
/// The adjoint of so many steps takes about a millisecond.
const STEPS: i64 = 120_000;

pub fn cases() -> Vec<Case> {
    let mut cases = gmm::cases("`grad` of the program", |file, name| {
        if name != FILE {
            return vec![];
        }
        let case = |work: &str, asked: Vec<Asked>, ours: fn(GmmTrace) -> Measure| {
            let file = file.clone();
            let work = format!("traced GMM gradient, {name}, {work}");
            Case::new("tracing", work, "`grad` of the program", asked, move || against_grad(&file, ours))
        };
        vec![
            case("`reverse` again", vec![Asked::Cost(2.0)], |t| {
                Measure::work(move || Ok(t.trace.reverse(&Array::scalar(1.0))?))
            }),
            case("`reverse` again, every array", vec![], |t| {
                Measure::work(move || Ok(t.every.reverse(&Array::scalar(1.0))?))
            }),
            case("`pullback` again", vec![Asked::Cost(2.0)], |t| {
                Measure::work(move || Ok(t.trace.pullback(&t.parameters, &Array::scalar(1.0))?))
            }),
        ]
    });
    cases.push(Case::new(
        "tracing",
        format!("reverse pass of {BRANCHES} branches of 1 ms, two threads"),
        "one thread",
        [Asked::Speed(1.8)],
        || {
            let rates: Vector<f64> = Array::vector(uniform(1, BRANCHES, 2.0, 3.4));
            let (_, trace) = trace_on(backend_named("native")?, branches(), &rates, Keep::Arrays)?;
            let seed = Array::vector(vec![1.0; BRANCHES]);
            let found = trace.reverse(&seed)?;
            let expected = native(&vjp(branches()))?.run((&rates, &seed))?;
            check_close(found.inputs().as_slice(), expected.as_slice(), 1e-12)?;
            let on = |threads: usize| {
                let (trace, seed) = (trace.clone(), seed.clone());
                let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
                Ok::<_, Box<dyn std::error::Error>>(Measure::work(move || Ok(pool.install(|| trace.reverse(&seed))?)))
            };
            Ok(Pair { ours: on(2)?, reference: on(1)? })
        },
    ));
    cases
}

struct GmmTrace {
    trace: Trace<Parameters, Scalar<f64>>,
    /// The same with `Keep::EveryArray`.
    every: Trace<Parameters, Scalar<f64>>,
    parameters: Parameters,
}

fn against_grad(file: &Path, ours: fn(GmmTrace) -> Measure) -> Result<Pair> {
    let problem = GmmFile::read(file)?;
    let (parameters, x) = inputs(&problem)?;
    let objective = program(&problem, &x);
    let gradient = native(&grad(&objective))?;
    let (_, trace) = trace_on(backend_named("native")?, &objective, &parameters, Keep::Arrays)?;
    let (_, every) = trace_on(backend_named("native")?, &objective, &parameters, Keep::EveryArray)?;
    let one = Array::scalar(1.0);
    let expected = gradient.run(&parameters)?;
    let by_steps = every.reverse(&one)?.into_inputs();
    for found in [trace.pullback(&parameters, &one)?, trace.reverse(&one)?.into_inputs(), by_steps] {
        check_close(found.0.as_slice(), expected.0.as_slice(), 1e-9)?;
        check_close(found.1.as_slice(), expected.1.as_slice(), 1e-9)?;
        check_close(found.2.as_slice(), expected.2.as_slice(), 1e-9)?;
    }
    let ours = ours(GmmTrace { trace, every, parameters: parameters.clone() });
    Ok(Pair { ours, reference: Measure::work(move || Ok(gradient.run(&parameters)?)) })
}

/// A logistic map of many steps for each rate. Every row of the loop over arrays is a branch of the trace.
fn branches() -> Afun<Vector<f64>, Vector<f64>> {
    let last = |r: Exp<f64>| {
        let step = |(k, y): (Exp<i64>, Exp<f64>)| (k + 1, r * y * (1.0 - y));
        while_(|(k, _): (Exp<i64>, Exp<f64>)| k.lt(STEPS), step, (0i64, 0.4)).1
    };
    afun(|rates: Acc<Vector<f64>>| {
        let (_, ys) = map_accum_l(|s: Acc<Scalar<f64>>, r: Acc<Scalar<f64>>| (s, map(last, r)), unit(0.0), rates);
        ys
    })
}
