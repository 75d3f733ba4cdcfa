//! Kernels: the operations of a trace as closed programs, each compiled once.

use crate::closed::{Body, Levels, Operation, component, level, program};
use crate::elements::elements;
use crate::key::key;
use crate::label::is_label;
use crate::reads::{Reads, reads};
use accel_core::ast::*;
use accel_core::backend::{Backend, Executable};
use accel_core::error::{Error, Result};
use accel_core::interp::Interpreted;
use accel_core::print;
use accel_core::repr::{ArrayTuple, RawArray, RawTy};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// An operation over inputs. All steps that do the same share one kernel.
pub struct Kernel {
    /// The name of the operation.
    pub name: &'static str,
    /// The operation as text; input `k` is `a` and its De Bruijn level.
    pub text: String,
    /// The operation as a closed program.
    pub program: Program,
    /// For each input: whether the floating-point numbers of the result can depend on its elements.
    pub elements: Vec<bool>,
    /// The input whose elements are those of the result, in the same order (`agree`, `reshape`).
    pub same: Option<usize>,
    /// Where the operation reads, if this is all that it does.
    pub reads: Option<Reads>,
    /// The name that the user gave to the result.
    pub label: Option<&'static str>,
    /// Whether the scalar code has loops.
    pub loops: bool,
    forward: OnceLock<Arc<dyn Executable>>,
}

/// The tuple of the inputs of a kernel.
pub fn tuple<'v>(inputs: impl DoubleEndedIterator<Item = &'v RawArray>) -> ArrayTuple {
    inputs.rev().fold(ArrayTuple::Unit, |rest, a| ArrayTuple::pair(ArrayTuple::Array(a.clone()), rest))
}

impl Kernel {
    /// Computes the result from the inputs.
    pub fn run(&self, backend: &dyn Backend, inputs: &ArrayTuple) -> Result<RawArray> {
        let result = match self.forward.get() {
            Some(compiled) => compiled.run(inputs)?,
            None => {
                // The interpreter returns the elements without copying them.
                let compiled: Arc<dyn Executable> = match self.same {
                    Some(_) => Arc::new(Interpreted::new(&self.program)),
                    None => backend.compile(&self.program)?.into(),
                };
                self.forward.get_or_init(|| compiled).run(inputs)?
            }
        };
        match result {
            ArrayTuple::Array(a) => Ok(a),
            _ => Err(Error::Internal("a step without an array".into())),
        }
    }
}

/// All kernels of a trace, by their keys.
#[derive(Default)]
pub struct Kernels(HashMap<String, Arc<Kernel>>);

impl Kernels {
    /// The kernel of an operation with inputs of these types; see [`Operation`].
    pub fn get<A, R>(&mut self, o: &Operation<'_, '_, A, R>, inputs: &[RawTy]) -> Arc<Kernel> {
        let key = key(o.op, o.ty.raw(), o.at, inputs, o.args, o.part, o.input);
        let kernel = self.0.entry(key).or_insert_with(|| Arc::new(kernel(o, inputs)));
        kernel.clone()
    }
}

fn kernel<A, R>(o: &Operation<'_, '_, A, R>, inputs: &[RawTy]) -> Kernel {
    let mut text = String::new();
    let program = fresh1(|r| {
        let ty = Ty::from_raw(&o.part_ty(), r).expect("the type of a step is an array type");
        program(inputs, &mut Printed { operation: o, text: &mut text, ty: &ty })
    });
    let same = match o.op {
        AccOp::Agree { .. } | AccOp::Reshape { .. } => Some(o.args[0]),
        _ => None,
    };
    let reads = reads(o.op, o.ty, inputs, o.args, o.input);
    // Extents and indices are discrete, so no derivative comes from what computes them.
    let does = elements(o.op, inputs.len(), o.args, o.input);
    let elements = match (same, reads.as_ref()) {
        (Some(source), _) | (None, Some(&Reads { source, .. })) => (0..inputs.len()).map(|k| k == source).collect(),
        (None, None) => does.read,
    };
    Kernel {
        name: o.op.name(),
        text,
        program,
        elements,
        same,
        reads,
        label: label(o.op),
        loops: does.loops,
        forward: OnceLock::new(),
    }
}

/// The name that the user gave to an array.
fn label<A, R>(op: &AccOp<'_, A, R>) -> Option<&'static str> {
    match op {
        AccOp::Agree { user, left, right, .. } => is_label(left, right).then_some(*user),
        _ => None,
    }
}

/// The operation, which is also printed.
struct Printed<'o, 'n, 'r, A, R> {
    operation: &'o Operation<'o, 'n, A, R>,
    text: &'o mut String,
    ty: &'o Ty<X<'r>>,
}

impl<'r, A, R> Body<'r> for Printed<'_, '_, 'r, A, R> {
    fn body<'a>(&mut self, env: &Levels<X<'a>>) -> Acc<X<'a>, X<'r>> {
        let acc = component(&self.operation.acc(env), self.operation.part, self.ty);
        *self.text = print::acc(&acc, env.size(), &print::PrintOptions::default());
        acc
    }
}

/// The text of a kernel with names for its inputs.
pub fn with_names(text: &str, input: &dyn Fn(usize) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_alphanumeric() || c == '_') {
        out.push_str(&rest[..start]);
        let word = &rest[start..];
        let end = word.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let variable = word.strip_prefix('a').and_then(|n| n.parse::<usize>().ok());
        match variable.filter(|l| l % 2 == level(0) % 2) {
            Some(l) => out.push_str(&input(l / 2)),
            None => out.push_str(word),
        }
        rest = after;
    }
    out + rest
}
