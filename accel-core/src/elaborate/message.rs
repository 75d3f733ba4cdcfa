//! Errors of elaboration, which name the operation and its source line.

use super::parts::Graph;
use crate::error::Error;
use crate::repr::RawTy;
use crate::surface::graph::{Node, NodeId};
use std::fmt::Display;

/// The error of an operation whose operand has the wrong type.
pub fn type_error(node: &Node, expected: impl Display, found: &RawTy) -> Error {
    let op = format!("`{}` at {}", node.name, node.at);
    Error::Type { op, expected: expected.to_string(), found: found.to_string() }
}

/// The error of a graph that the surface never writes.
pub fn internal(node: &Node, expected: &str) -> Error {
    Error::Internal(format!("`{}` at {}: elaboration expected {expected}", node.name, node.at))
}

/// The error of scalar code of the array operation `array_op` that uses the parameter `param`, which is not in scope
/// there.
pub fn scalar_scope(graph: &Graph, param: NodeId, array_op: NodeId) -> Error {
    let op = graph.node(array_op);
    let Some(owner) = graph.owner(param) else {
        let detail = "a parameter of a closure is used outside of it".into();
        return Error::Scope { op: op.name, at: op.at, detail };
    };
    let binder = graph.node(owner);
    // The nodes of a closure come after its parameters and before the operation that takes the closure.
    if param < array_op && array_op < owner {
        return Error::NestedParallelism { op: op.name, at: op.at, binder: binder.name, binder_at: binder.at };
    }
    let detail =
        format!("a parameter of the closure given to `{}` at {} is used outside of it", binder.name, binder.at);
    Error::Scope { op: op.name, at: op.at, detail }
}

/// The error of an array operation, or of scalar code that reads an array, that uses a parameter of a closure that has
/// ended.
pub fn array_scope(user: &Node) -> Error {
    let detail = "an array that is a parameter of a loop's closure is used outside of it".into();
    Error::Scope { op: user.name, at: user.at, detail }
}
