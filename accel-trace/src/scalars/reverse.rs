//! The reverse pass over numbers: from the last step to the first, one adjoint each.

use super::derivatives::{one, two};
use super::tape::{Elements, Op, Operand, Tape};
use accel_core::repr::{Column, RawArray, Scalar, ScalarType};

/// The adjoints of arrays.
pub struct Resolved {
    /// Those of the arrays of the argument.
    pub arguments: Vec<RawArray>,
    /// Those of the arrays with names.
    pub named: Vec<(&'static str, RawArray)>,
    /// The number of steps on which the result depends.
    pub reachable: usize,
    /// The number of contributions.
    pub contributions: usize,
}

/// The adjoints of all arrays of the argument and of all arrays with names, for those of the result. Sums are computed in
/// double precision and then rounded to the type of the number.
pub fn reverse(tape: &Tape, seeds: &[RawArray]) -> Resolved {
    let mut adjoints: Vec<Option<f64>> = vec![None; tape.steps.len()];
    let mut contributions = 0;
    let mut add = |adjoints: &mut Vec<Option<f64>>, id: usize, x: f64| {
        *adjoints[id].get_or_insert(0.0) += x;
        contributions += 1;
    };
    for (result, seed) in tape.results.iter().zip(seeds) {
        for i in 0..result.size() {
            for (x, c) in result.get(i).iter().zip(&seed.columns) {
                if let (Some(id), Some(seed)) = (x.step, c.get(i)) {
                    add(&mut adjoints, id, float(seed));
                }
            }
        }
    }
    let mut reachable = 0;
    for (id, step) in tape.steps.iter().enumerate().rev() {
        let Some(adjoint) = adjoints[id] else { continue };
        let adjoint = match step.value {
            Scalar::F32(_) => f64::from(adjoint as f32),
            _ => adjoint,
        };
        reachable += 1;
        let value = |o| match o {
            Operand::Step(id) => float(tape.steps[id].value),
            Operand::Constant(x) => float(x),
        };
        let mut give = |o, derivative: f64| {
            if let Operand::Step(id) = o {
                // NOTE [Strong zeros] in `accel-ad`.
                add(&mut adjoints, id, if adjoint == 0.0 || derivative == 0.0 { 0.0 } else { adjoint * derivative });
            }
        };
        match step.op {
            Op::Argument(..) => {}
            Op::One(op, a) => give(a, one(op, value(a), float(step.value))),
            Op::Two(op, a, b) => {
                let (by_a, by_b) = two(op, value(a), value(b), float(step.value));
                give(a, by_a);
                give(b, by_b);
            }
        }
    }
    let of = |e: &Elements| gathered(e, &adjoints);
    Resolved {
        arguments: tape.arguments.iter().map(of).collect(),
        named: tape.named.iter().map(|(name, e)| (*name, of(e))).collect(),
        reachable,
        contributions,
    }
}

/// The adjoints of the elements of an array; discrete components are zero.
fn gathered(e: &Elements, adjoints: &[Option<f64>]) -> RawArray {
    let column = |k: usize| {
        let ty = e.types[k];
        let mut column = Column::with_capacity(ty, e.size());
        for i in 0..e.size() {
            let adjoint = e.get(i)[k].step.and_then(|id| adjoints[id]).unwrap_or(0.0);
            column.push(match ty {
                ScalarType::F64 => Scalar::F64(adjoint),
                ScalarType::F32 => Scalar::F32(adjoint as f32),
                discrete => discrete.zero(),
            });
        }
        column
    };
    RawArray { extents: e.extents.clone(), columns: (0..e.types.len()).map(column).collect() }
}

/// A floating-point number in double precision.
fn float(x: Scalar) -> f64 {
    // Operands of steps are floating-point numbers.
    x.float().unwrap_or(f64::NAN)
}
