//! Programs of one to six dimensions whose extents are numbers of the input, which are small, zero, negative or too large: all backends
//! have the result of the interpreter, or an error of the same kind. `scripts/sanitize.sh` runs this with AddressSanitizer.

use crate::budget::seeds;
use crate::support::agree::{CLOSE, compare};
use crate::wide::data::Random;
use accel::backend::{Backend, Executable};
use accel::interp::Interpreter;
use accel::native::VectorizedInterpreter;
use accel::prelude::*;
use accel::repr::MAX_EXTENT;
use accel::types::{Dim4, Dim5, Dim6};
use accel_fusion::{KernelEvaluator, OptimizedEvaluator};
use std::mem::discriminant;

/// The largest number of dimensions.
const MOST: usize = 6;

type Numbers = Acc<Vector<i64>>;
type Floats = Acc<Vector<f64>>;
type E = Exp<i64>;

/// A program on all backends, the interpreter first.
struct Ready {
    text: String,
    all: Vec<(&'static str, Box<dyn Executable>)>,
}

impl Ready {
    fn new<R: Arrays>(f: &Afun<(Vector<i64>, Vector<f64>), R>) -> Ready {
        let program = f.program().unwrap_or_else(|e| panic!("{e}"));
        let native = accel::backend_named("native").expect("a backend of this build");
        let backends: [&dyn Backend; 5] =
            [&Interpreter, &KernelEvaluator, &OptimizedEvaluator, &VectorizedInterpreter, native];
        let compile = |b: &dyn Backend| (b.name(), b.compile(program).unwrap_or_else(|e| panic!("{e}\n{program}")));
        Ready { text: f.to_string(), all: backends.map(compile).into() }
    }

    fn check(&self, extents: &[i64]) {
        let x: Vec<f64> = (0..4).map(|i| f64::from(i) - 1.5).collect();
        let input = (Array::vector(extents.to_vec()), Array::vector(x)).to_tuple();
        let expected = self.all[0].1.run(&input);
        for (name, other) in &self.all[1..] {
            let found = other.run(&input);
            let agrees = match (&expected, &found) {
                // An array that is not stored needs no memory, but one of its elements can fail.
                (Err(Error::Memory { .. }), Err(Error::OutOfBounds { .. })) => true,
                (Err(x), Err(y)) => discriminant(x) == discriminant(y),
                _ => compare(&expected, &found, CLOSE).is_ok(),
            };
            assert!(agrees, "{name} for {extents:?}: {found:?}, expected {expected:?}\n{}", self.text);
        }
    }
}

/// The programs of a dimension: its type, the extents, the index and its innermost part, and the slice at a row.
macro_rules! programs {
    ($all:ident, $dim:ty, |$k:ident| $extents:expr, |$index:pat_param| $last:expr, $type:ty) => {
        let source =
            |$k: Numbers, x: Floats| -> Acc<Array<$dim, f64>> { generate($extents, |$index: $type| x.at($last % 4)) };
        let add = |a: Exp<f64>, b: Exp<f64>| a + b;
        let target = |$index: $type| -> (bool, E) { (true, $last % 4) };
        let direct = |$index: $type| -> (bool, E) { (true, $last) };
        $all.extend([
            Ready::new(&afun(|k: Numbers, x: Floats| source(k, x))),
            Ready::new(&afun(|k: Numbers, x: Floats| sum_all(source(k, x)))),
            Ready::new(&afun(|k: Numbers, x: Floats| fold(add, 1.0, source(k, x)))),
            Ready::new(&afun(|k: Numbers, x: Floats| maximum(source(k, x)))),
            Ready::new(&afun(|k: Numbers, x: Floats| scanl(add, 1.0, source(k, x)))),
            Ready::new(&afun(|k: Numbers, x: Floats| scanr1(add, source(k, x)))),
            Ready::new(&afun(|k: Numbers, x: Floats| permute(add, x, target, source(k, x)))),
            Ready::new(&afun(|k: Numbers, x: Floats| permute(add, x, direct, source(k, x)))),
            Ready::new(&afun(|k: Numbers, x: Floats| permute(add, fill(k.at(6), 0.0), direct, source(k, x)))),
            Ready::new(&grad(
                &afun(|k: Numbers, x: Floats| sum_all(map(|x| x * x, source(k, x)))).by(|(_, x): (_, Floats)| x),
            )),
        ]);
    };
}

fn programs() -> Vec<Ready> {
    let mut all = vec![];
    programs!(all, Dim1, |k| k.at(0), |i| i, E);
    programs!(all, Dim2, |k| (k.at(0), k.at(1)), |(_, i)| i, (E, E));
    programs!(all, Dim3, |k| (k.at(0), k.at(1), k.at(2)), |(_, _, i)| i, (E, E, E));
    programs!(all, Dim4, |k| (k.at(0), k.at(1), k.at(2), k.at(3)), |(_, _, _, i)| i, (E, E, E, E));
    programs!(all, Dim5, |k| (k.at(0), k.at(1), k.at(2), k.at(3), k.at(4)), |(_, _, _, _, i)| i, (E, E, E, E, E));
    programs!(
        all,
        Dim6,
        |k| (k.at(0), k.at(1), k.at(2), k.at(3), k.at(4), k.at(5)),
        |(_, _, _, _, _, i)| i,
        (E, E, E, E, E, E)
    );
    let matrix = |k: Numbers, x: Floats| -> Acc<Matrix<f64>> { generate((k.at(0), k.at(1)), |(_, i)| x.at(i % 4)) };
    all.extend([
        Ready::new(&afun(|k: Numbers, x: Floats| slice((k.at(2), All), matrix(k, x)))),
        Ready::new(&afun(|k: Numbers, x: Floats| slice((All, k.at(2)), matrix(k, x)))),
        Ready::new(&afun(|k: Numbers, x: Floats| slice((between(k.at(2), k.at(3)), ..), matrix(k, x)))),
        Ready::new(&afun(|k: Numbers, x: Floats| set_block(x, k.at(2), slice(between(k.at(0), k.at(1)), x)))),
        Ready::new(&afun(|k: Numbers, x: Floats| reshape((k.at(0), k.at(1)), x))),
    ]);
    all
}

/// Random extents, a further one and an index.
fn extents(r: &mut Random) -> Vec<i64> {
    let most = MAX_EXTENT as i64;
    let special: &[i64] = match r.below(5) {
        0 | 1 => &[0, 1, 2, 3],
        2 => &[-1, -3, i64::MIN, i64::MIN + 1, -0x4141_4141_4141],
        3 => &[most + 1, 1 << 62, i64::MAX],
        _ => &[most],
    };
    let mut all: Vec<i64> =
        (0..MOST + 1).map(|_| if r.chance(30) { r.pick(special) } else { r.below(4) as i64 }).collect();
    // As many elements as possible would take too long.
    if all.contains(&most) {
        all[0] = 0;
    }
    all
}

fn check(cases: u64) {
    let all = programs();
    for seed in seeds(cases) {
        let mut r = Random::new(seed);
        let extents = extents(&mut r);
        all[seed as usize % all.len()].check(&extents);
    }
}

#[test]
fn extents_of_all_kinds() {
    check(5000);
}
