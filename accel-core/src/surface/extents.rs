//! Finds out which extents of arrays are visibly equal while a program is written.
//!
//! NOTE [Visible extents]: most arrays that are combined get their shapes from a common ancestor. Every extent of every
//! array gets a name when the array is written. If the names of two shapes are equal, no check is written. It would
//! only be elaborated and differentiated, and then dropped by the simplifier. (The simplifier's NOTE [Canonical
//! extents] does the same for the programs that it makes.) A checked array gets the names of the array with which it
//! was compared, since every use of it includes the check.

use super::node::{ArrayOp, NodeId, Op, ScalarOp};
use crate::error::Error;
use crate::repr::{Agreement, MAX_EXTENT, RawTy, Scalar, checked_size};
use std::collections::HashMap;

/// The name of an extent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extent {
    /// A constant.
    Const(i64),
    /// Dimension `dim`, outermost first, of an array, or component of a scalar expression.
    Dim { node: NodeId, dim: usize },
}

/// The extents of the arrays of a program.
#[derive(Default)]
pub struct Extents(HashMap<NodeId, Vec<Extent>>);

/// The nodes of a program, as far as shapes depend on them.
pub trait Nodes {
    /// The operation of a node.
    fn op(&self, n: NodeId) -> &Op;
    /// The type of its result.
    fn ty(&self, n: NodeId) -> &RawTy;
}

impl Extents {
    /// Names the extents of a new node.
    pub fn define(&mut self, n: NodeId, nodes: &impl Nodes) {
        if let RawTy::Array(t) = nodes.ty(n) {
            let rank = t.0.width();
            let names = self.of(n, nodes).filter(|names| names.len() == rank).unwrap_or_else(|| own(n, rank));
            self.0.insert(n, names);
        }
    }

    /// Why no array can have the shape of this one, if constants say so: an extent is negative, or the array is too large.
    pub fn impossible(&self, n: NodeId, op: impl FnOnce() -> String) -> Option<Error> {
        let names = self.0.get(&n)?;
        let constants = || names.iter().filter_map(|name| if let Extent::Const(x) = name { Some(*x) } else { None });
        let found = || {
            let text = |name: &Extent| if let Extent::Const(x) = name { x.to_string() } else { "_".into() };
            format!("[{}]", names.iter().map(text).collect::<Vec<_>>().join(", "))
        };
        if constants().any(|x| x < 0) {
            return Some(Error::Shape { op: op(), expected: "extents that are not negative".into(), found: found() });
        }
        let extents: Vec<usize> = constants().filter_map(|x| usize::try_from(x).ok()).collect();
        if extents.len() == names.len() {
            return checked_size(&extents).is_none().then(|| Error::Memory { op: op(), shape: extents });
        }
        let expected = || format!("extents of at most {MAX_EXTENT}");
        let is_large = extents.iter().any(|n| *n > MAX_EXTENT);
        is_large.then(|| Error::Shape { op: op(), expected: expected(), found: found() })
    }

    /// Whether the shapes of two arrays visibly agree.
    pub fn agree(&self, agreement: Agreement, left: NodeId, right: NodeId) -> bool {
        let (Some(left), Some(right)) = (self.0.get(&left), self.0.get(&right)) else { return false };
        let pairs = agreement.pairs(left.len(), right.len());
        pairs.is_some_and(|pairs| pairs.iter().all(|(i, j)| left[*i] == right[*j]))
    }

    fn of(&self, n: NodeId, nodes: &impl Nodes) -> Option<Vec<Extent>> {
        let array = |a: &NodeId| self.0.get(a).cloned();
        let Op::Array(op) = nodes.op(n) else { return None };
        match op {
            ArrayOp::Map(_, a) | ArrayOp::Scan1 { a, .. } | ArrayOp::Permute { def: a, .. } | ArrayOp::Argsort(a) => {
                array(a)
            }
            ArrayOp::Agree { agreement, left, right, a } => {
                let mut names = array(a)?;
                let (Op::Scalar(ScalarOp::Shape(x)), Op::Scalar(ScalarOp::Shape(y))) =
                    (nodes.op(*left), nodes.op(*right))
                else {
                    return Some(names);
                };
                if y == a {
                    let left = self.0.get(x)?;
                    agreement.pairs(left.len(), names.len())?.into_iter().for_each(|(i, j)| names[j] = left[i]);
                }
                Some(names)
            }
            ArrayOp::ZipWith(_, a, b) => array(a).filter(|names| self.0.get(b) == Some(names)),
            ArrayOp::Cond(_, a, b) => array(a).filter(|names| self.0.get(b) == Some(names)),
            ArrayOp::Generate(sh, _) | ArrayOp::Backpermute(sh, _, _) | ArrayOp::Reshape(sh, _) => {
                Some(self.shape(*sh, nodes))
            }
            ArrayOp::Fold(_, _, a) | ArrayOp::Fold1(_, a) => {
                let mut names = array(a)?;
                names.pop()?;
                Some(names)
            }
            ArrayOp::Scan { a, .. } => {
                let mut names = array(a)?;
                let dim = names.len().checked_sub(1)?;
                names[dim] = Extent::Dim { node: n, dim };
                Some(names)
            }
            ArrayOp::Replicate { spec, slx, a } => {
                let (mut old, mut new) = (array(a)?.into_iter(), self.shape(*slx, nodes).into_iter());
                spec.iter().map(|kept| if *kept { old.next() } else { new.next() }).collect()
            }
            ArrayOp::Slice { spec, a, .. } => {
                let names = array(a)?.into_iter().zip(spec.iter());
                Some(names.filter(|(_, kept)| **kept).map(|(name, _)| name).collect())
            }
            // The extents are names of their own. Those of a literal are not constants: see `simplify/shapes.rs`.
            ArrayOp::Use(_)
            | ArrayOp::Fst(_)
            | ArrayOp::Snd(_)
            | ArrayOp::Call(..)
            | ArrayOp::While { .. }
            | ArrayOp::MapAccum { .. } => None,
            // These are not single arrays.
            ArrayOp::Foreign(_, shapes, _) if let [sh] = &shapes[..] => Some(self.shape(*sh, nodes)),
            ArrayOp::Unit | ArrayOp::Pair(..) | ArrayOp::Foreign(..) => None,
        }
    }

    /// The extents that a scalar expression of shape type computes, outermost first.
    fn shape(&self, sh: NodeId, nodes: &impl Nodes) -> Vec<Extent> {
        let visible = match nodes.op(sh) {
            Op::Scalar(ScalarOp::Unit) => Some(vec![]),
            Op::Scalar(ScalarOp::Const(leaves)) => leaves.iter().map(constant).collect(),
            Op::Scalar(ScalarOp::Shape(a)) => self.0.get(a).cloned(),
            Op::Scalar(ScalarOp::Pair(outer, inner)) => {
                let mut names = self.shape(*outer, nodes);
                names.push(self.extent(*inner, nodes));
                Some(names)
            }
            Op::Scalar(ScalarOp::Fst(all)) if nodes.ty(*all).is_shape() => {
                let mut names = self.shape(*all, nodes);
                names.pop().map(|_| names)
            }
            _ => None,
        };
        visible.unwrap_or_else(|| own(sh, nodes.ty(sh).width()))
    }

    /// The extent that a scalar expression computes.
    fn extent(&self, e: NodeId, nodes: &impl Nodes) -> Extent {
        let visible = match nodes.op(e) {
            Op::Scalar(ScalarOp::Const(leaves)) => leaves.first().and_then(constant),
            Op::Scalar(ScalarOp::Snd(all)) if nodes.ty(*all).is_shape() => self.shape(*all, nodes).pop(),
            _ => None,
        };
        visible.unwrap_or(Extent::Dim { node: e, dim: 0 })
    }
}

/// New names, for the extents of this node only.
fn own(node: NodeId, rank: usize) -> Vec<Extent> {
    (0..rank).map(|dim| Extent::Dim { node, dim }).collect()
}

fn constant(x: &Scalar) -> Option<Extent> {
    match x {
        Scalar::I64(n) => Some(Extent::Const(*n)),
        _ => None,
    }
}
