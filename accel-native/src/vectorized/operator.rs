//! The operators of reductions and scans, applied to lanes.

use super::lanes::{Form, Value, strided};
use super::machine::{Context, Machine};
use super::primitives::zip;
use accel_core::repr::op::Op2;
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{Reduction, Reg};

/// An associative operator.
pub enum Operator<'e> {
    /// A primitive function on one column.
    Primitive(Op2),
    /// A scalar function.
    Function(Box<Machine<'e>>),
}

impl<'e> Operator<'e> {
    pub fn new(context: Context<'e>, rows: &'e Reduction) -> Operator<'e> {
        match rows.monoid {
            Some(monoid) => Operator::Primitive(monoid.operator()),
            None => Operator::Function(Box::new(Machine::new(context, &rows.op, 0))),
        }
    }

    /// Replaces `left` by `left . right` in the first `n` lanes. `None` if a check fails.
    pub fn append(&mut self, left: &mut [Value], right: &mut [Value], n: usize) -> Option<()> {
        self.combine(left, right, n, true)
    }

    /// Replaces `right` by `left . right` in the first `n` lanes. `None` if a check fails.
    pub fn prepend(&mut self, left: &mut [Value], right: &mut [Value], n: usize) -> Option<()> {
        self.combine(left, right, n, false)
    }

    fn combine(&mut self, left: &mut [Value], right: &mut [Value], n: usize, to_left: bool) -> Option<()> {
        match self {
            Operator::Primitive(op) => {
                let ([a], [b]) = (left, right) else { return None };
                if let (Form::Uniform(x), Form::Uniform(y)) = (a.form(), b.form()) {
                    let combined = op.eval(x, y).ok()?;
                    (if to_left { a } else { b }).set_uniform(combined);
                    return Some(());
                }
                let mut lanes = a.spare(n)?;
                a.fill(n)?;
                b.fill(n)?;
                zip(*op, [a.lanes()?, b.lanes()?], &mut lanes, n, None)?;
                (if to_left { a } else { b }).replace(lanes);
            }
            Operator::Function(machine) => {
                machine.set_lanes(n);
                for (k, value) in left.iter().chain(right.iter()).enumerate() {
                    machine.value_mut(Reg::new(k)).copy_from(value, n)?;
                }
                machine.batch()?;
                let to = if to_left { left } else { right };
                to.iter_mut().zip(machine.results()).try_for_each(|(to, x)| to.copy_from(x, n))?;
            }
        }
        Some(())
    }

    /// Combines the first `n` lanes, in their order, into one. `n` is a power of two.
    pub fn fold(&mut self, mut lanes: Vec<Value>, n: usize) -> Option<Vec<Value>> {
        let mut half = n / 2;
        while half > 0 {
            let mut every_second = |first: usize| {
                let one = |value: &mut Value| {
                    value.fill(2 * half)?;
                    let mut picked = Value::new(value.ty());
                    let mut memory = picked.take(half)?;
                    strided(value.lanes()?, first, 2, &mut memory, half)?;
                    picked.set(memory);
                    Some(picked)
                };
                lanes.iter_mut().map(one).collect::<Option<Vec<_>>>()
            };
            let (mut left, mut right) = (every_second(0)?, every_second(1)?);
            self.append(&mut left, &mut right, half)?;
            lanes = left;
            half /= 2;
        }
        lanes.iter().map(|value| uniform(value.get(0)?)).collect()
    }
}

/// Values that are the same in all lanes.
pub fn uniform(x: Scalar) -> Option<Value> {
    let mut value = Value::new(x.ty());
    value.set_uniform(x);
    Some(value)
}

/// Registers of these types.
pub fn registers(types: &[ScalarType]) -> Vec<Value> {
    types.iter().map(|t| Value::new(*t)).collect()
}
