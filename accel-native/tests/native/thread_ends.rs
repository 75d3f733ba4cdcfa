//! Programs that run in destructors of thread-local variables, when others of the thread's variables are gone already.

use crate::support::{array, compile, f64s};
use accel_core::afun::Compiled;
use accel_core::backend::Backend;
use accel_core::error::Result;
use accel_core::prelude::*;
use accel_native::{Native, VectorizedInterpreter};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

type Run = Arc<dyn Fn() -> Result<Vec<f64>> + Send + Sync>;

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| (i * 7919 % n) as f64 + 0.5).collect()
}

fn program(backend: &dyn Backend, f: impl FnOnce(Acc<Vector<f64>>) -> Acc<Vector<f64>>) -> Run {
    let (program, xs) = (Compiled::new(backend, &afun(f)).unwrap(), Array::vector(numbers(40_000)));
    Arc::new(move || Ok(program.run(&xs)?.to_vec()))
}

/// Runs a program when its thread ends.
struct AtEnd(Run, Sender<Result<Vec<f64>>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        let _ = self.1.send((self.0)());
    }
}

thread_local! { static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) }; }

/// What `last` gives when a thread ends. It is kept in a thread-local variable that is made between the other runs.
fn at_end(before: Option<&Run>, last: &Run, after: Option<&Run>) -> Result<Vec<f64>> {
    let (sender, result) = channel();
    let work = || {
        before.map(|run| run()).transpose().unwrap();
        AT_END.set(Some(AtEnd(last.clone(), sender)));
        after.map(|run| run()).transpose().unwrap();
    };
    std::thread::scope(|scope| scope.spawn(work).join().unwrap());
    result.recv().unwrap()
}

/// The variables of a thread are destroyed from the newest to the oldest. So those that `after` has made are gone in the
/// destructor.
#[test]
fn programs_run_at_the_end_of_a_thread() {
    const LISTS: &str = "program (a0: Array1<i64>)\nsite 0 = \"map\"\n{
          a1: Array1<f64> = loop @0
            extents () { x0: i64 = extent a0 0 -> x0 }
            body (x0: i64) {
              x1: i64 = a0[x0] @0 inside
              x2: i64 = 0
              x3: i64, x4: i64 = while x2 cond { x5: bool = x3 < x1 -> x5 } body { x6: i64 = 1; x7: i64 = x3 + x6 -> x7 } lists x7
              x8: f64 = 0.0
              x9: i64, x10: f64 = while x3, x8 cond { x11: bool = x9 > x2 -> x11 } body {
                x12: i64 = 1; x13: i64 = x9 - x12; x14: i64 = list x4[x13]; x15: f64 = as f64 x14; x16: f64 = x10 + x15 -> x13, x16
              }
              -> x10
            }
          -> a1
        }";
    let lists = compile(LISTS);
    let lengths = array(&[20_000], (0..20_000).map(|i| i % 500).collect::<Vec<i64>>());
    let wave = |xs: Acc<Vector<f64>>| map(|x| x.sin() + 1.0, xs);
    let product = |xs: Acc<Vector<f64>>| {
        let m = reshape((200, 200), xs);
        flatten(matmul(m, transpose(m)))
    };
    let programs: [(&str, Run); 6] = [
        ("map", program(&Native, wave)),
        ("scan", program(&Native, |xs| scanl1(|a, b| a + b, xs))),
        ("sort", program(&Native, sort)),
        ("product", program(&Native, product)),
        ("lists", Arc::new(move || Ok(f64s(&lists.run(vec![lengths.clone()])?[0]).to_vec()))),
        ("interpreted", program(&VectorizedInterpreter, wave)),
    ];
    for (what, last) in &programs {
        let expected = last().unwrap();
        for (other, run) in &programs {
            let results =
                [at_end(Some(run), last, None), at_end(None, last, Some(run)), at_end(Some(run), last, Some(run))];
            for result in results {
                let result = result.unwrap_or_else(|e| panic!("{what} at the end of a thread with {other}: {e}"));
                assert_eq!(result, expected, "{what} at the end of a thread with {other}");
            }
        }
    }
}

/// A panic in a task once freed what other threads still used, if the pool had executed all tasks of the thread's first
/// program: the thread then had no record for failures when it ended.
#[test]
fn threads_that_end_do_not_disturb_the_pool() {
    let quick = program(&Native, |xs| map(|x| x * 2.0 + 1.0, xs));
    let long = program(&Native, |xs| map(|x| iterate(constant(200), |y: Exp<f64>| (y * 1.000001).sin() + 0.5, x), xs));
    let expected = long().unwrap();
    for _ in 0..300 {
        assert!(at_end(Some(&quick), &long, Some(&long)).unwrap() == expected);
    }
}
