//! Traces as text and as graphs.

use crate::kernel::with_names;
use crate::step::{Id, Origin, Step};
use crate::steps::Steps;
use accel_core::repr::Scalar;
use accel_core::repr::tree::Tree;
use std::fmt;

/// Prints one line for each step: `s3: Array1<f64>[8] = map (\x0 -> x0 * 2.0) s0`.
pub fn print(steps: &Steps, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "trace (a0: {}) -> {}", steps.argument, steps.ty)?;
    for (id, step) in steps.steps.iter().enumerate() {
        let text = definition(step).replace('\n', "\n    ");
        writeln!(f, "  s{id}: {} = {text}", shape(step))?;
    }
    write!(f, "  {}", result(&steps.result))
}

fn definition(step: &Step) -> String {
    match &step.origin {
        Origin::Argument(k) => format!("argument {k}"),
        Origin::Constant => match (step.value.size(), &step.value.columns[..]) {
            (1, [column]) => format!("constant {}", column.get(0).map(scalar).unwrap_or_default()),
            _ => "constant".into(),
        },
        Origin::Kernel(k) => match (k.label, &step.inputs[..]) {
            (Some(label), [named]) => format!("named {label:?} s{named}"),
            _ => with_names(&k.text, &|input| format!("s{}", step.inputs[input])),
        },
    }
}

/// A scalar without its type.
pub fn scalar(x: Scalar) -> String {
    match x {
        Scalar::F64(x) => format!("{x:?}"),
        Scalar::F32(x) => format!("{x:?}"),
        Scalar::Bool(x) => x.to_string(),
        Scalar::I64(x) => x.to_string(),
        Scalar::I32(x) => x.to_string(),
        Scalar::I16(x) => x.to_string(),
        Scalar::I8(x) => x.to_string(),
        Scalar::U64(x) => x.to_string(),
        Scalar::U32(x) => x.to_string(),
        Scalar::U16(x) => x.to_string(),
        Scalar::U8(x) => x.to_string(),
    }
}

/// The type and the extents.
fn shape(step: &Step) -> String {
    format!("{}{:?}", step.ty, step.value.extents)
}

fn result(t: &Tree<Id>) -> String {
    match t {
        Tree::Unit => "()".into(),
        Tree::Leaf(id) => format!("s{id}"),
        Tree::Pair(p) => format!("({}, {})", result(&p.0), result(&p.1)),
    }
}

/// The graph in the language of Graphviz: `dot -Tsvg` draws it. Arrows go from inputs to the steps that use them.
pub fn dot(steps: &Steps) -> String {
    let mut text = String::from("digraph trace {\n  node [shape=box, fontname=\"monospace\"];\n");
    let results = steps.result.leaves();
    for (id, step) in steps.steps.iter().enumerate() {
        let what = match &step.origin {
            Origin::Argument(k) => format!("argument {k}"),
            Origin::Constant => "constant".into(),
            Origin::Kernel(k) => k.label.map_or_else(|| k.name.to_string(), |label| format!("{label:?}")),
        };
        let label = format!("s{id} {what}\n{}", shape(step));
        let style = match step.origin {
            Origin::Argument(_) => ", style=filled, fillcolor=lightblue",
            _ if results.contains(&id) => ", style=filled, fillcolor=lightgreen",
            _ if step.label().is_some() => ", style=filled, fillcolor=lightyellow",
            _ => "",
        };
        text += &format!("  s{id} [label={label:?}{style}];\n");
        step.inputs.iter().for_each(|i| text += &format!("  s{i} -> s{id};\n"));
    }
    text + "}\n"
}
