//! Traces of numbers as text and as graphs, and their statistics.

use super::tape::{Elements, Op, Operand, Step, Tape};
use crate::show::scalar;
use crate::statistics::Stats;
use accel_core::repr::Scalar;
use std::collections::HashSet;
use std::fmt;

/// Prints one line for each step: `x3 = x1 * x2`.
pub fn print(tape: &Tape, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "trace (a0: {}) -> {}", tape.argument, tape.ty)?;
    for (id, step) in tape.steps.iter().enumerate() {
        writeln!(f, "  x{id} = {}", definition(tape, step))?;
    }
    for (label, e) in &tape.named {
        writeln!(f, "  named {label:?} {}", array(e))?;
    }
    write!(f, "  ({})", tape.results.iter().map(array).collect::<Vec<_>>().join(", "))
}

fn definition(tape: &Tape, step: &Step) -> String {
    match step.op {
        Op::Argument(array, column, position) => {
            let column = if tape.arguments[array].types.len() > 1 { format!(".{column}") } else { String::new() };
            format!("argument {array}[{position}]{column}")
        }
        Op::One(op, a) => format!("{op} {}", operand(a)),
        Op::Two(op, a, b) => match op.name() {
            name if name.starts_with(|c: char| c.is_alphabetic()) => format!("{name} {} {}", operand(a), operand(b)),
            name => format!("{} {name} {}", operand(a), operand(b)),
        },
    }
}

fn operand(o: Operand) -> String {
    match o {
        Operand::Step(id) => format!("x{id}"),
        Operand::Constant(x) => scalar(x),
    }
}

fn array(e: &Elements) -> String {
    let leaves: Vec<String> = e.leaves.iter().map(|x| operand(x.operand())).collect();
    format!("{:?}[{}]", e.extents, leaves.join(", "))
}

/// The graph in the language of Graphviz.
pub fn dot(tape: &Tape) -> String {
    let mut text = String::from("digraph trace {\n  node [shape=box, fontname=\"monospace\"];\n");
    let results: HashSet<usize> = tape.results.iter().flat_map(|e| &e.leaves).filter_map(|x| x.step).collect();
    for (id, step) in tape.steps.iter().enumerate() {
        let style = match step.op {
            Op::Argument(..) => ", style=filled, fillcolor=lightblue",
            _ if results.contains(&id) => ", style=filled, fillcolor=lightgreen",
            _ => "",
        };
        text += &format!("  x{id} [label={:?}{style}];\n", format!("x{id} = {}", definition(tape, step)));
        step.op.inputs().for_each(|i| text += &format!("  x{i} -> x{id};\n"));
    }
    text + "}\n"
}

/// The statistics of a trace; a kernel is a primitive function.
pub fn stats(tape: &Tape) -> Stats {
    let mut uses = tape.results.iter().flat_map(|e| &e.leaves).filter(|x| x.step.is_some()).count();
    let (mut depths, mut widths): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
    let mut functions = HashSet::new();
    let mut bytes = 0;
    for step in &tape.steps {
        bytes += if matches!(step.value, Scalar::F32(_)) { 4 } else { 8 };
        uses += step.op.inputs().count();
        let below = step.op.inputs().map(|i| depths[i]).max().unwrap_or(0);
        let function = match step.op {
            Op::Argument(..) => None,
            Op::One(op, _) => Some(op.to_string()),
            Op::Two(op, ..) => Some(op.name().to_string()),
        };
        depths.push(below + usize::from(function.is_some()));
        if let Some(function) = function {
            functions.insert(function);
            widths.resize(widths.len().max(below + 1), 0);
            widths[below] += 1;
        }
    }
    let (depth, width) = (widths.len(), widths.into_iter().max().unwrap_or(0));
    Stats { steps: tape.steps.len(), bytes, uses, depth, width, kernels: functions.len() }
}
