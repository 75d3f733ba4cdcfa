//! The parts of a graph node: its operands, and the closures and branches that are regions of their own.

use crate::repr::op::{Int2, Num2, Op2};
use crate::repr::{RawTy, Scalar};
use crate::surface::graph::{ArrayOp, Lam, Node, NodeId, Op, Part, ScalarOp};
use std::cell::Cell;

/// The graph, with facts about each node.
pub struct Graph<'g> {
    pub nodes: &'g [Node],
    /// The operation to whose closure a parameter belongs.
    owners: Vec<Option<NodeId>>,
    /// Whether a node, together with everything it needs, is total and cheap.
    cheap: Vec<bool>,
    /// The number of nodes of a constant; [`NO_CONSTANT`] for everything else.
    constant: Vec<usize>,
    /// For a node that is a variable: how many variables of its layer were bound before it.
    levels: Vec<Cell<Option<u32>>>,
}

const NO_CONSTANT: usize = usize::MAX;
/// Tuples of constants larger than this are shared.
const SMALL_CONSTANT: usize = 16;

/// A part of a node that is a separate region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sub {
    /// The branches of a conditional; `Else` follows `Then`.
    Then,
    Else,
    /// A closure that sees the variables around it, given by its first parameter.
    Closure(NodeId),
}

/// An operand of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    pub node: NodeId,
    /// The region in which the operand is used, as a region of the node that needs it; `None` if it is outside of them.
    pub sub: Option<usize>,
    /// Whether the operand must be a variable.
    pub bound: bool,
}

/// The operands and regions of a node.
#[derive(Default)]
pub struct Parts {
    pub uses: Vec<Use>,
    pub subs: Vec<Sub>,
}

impl Parts {
    pub fn clear(&mut self) {
        self.uses.clear();
        self.subs.clear();
    }
    /// A part that is used in the operation's own layer.
    fn own(&mut self, part: Part) {
        match part {
            Part::Operand(node) => self.uses.push(Use { node, sub: None, bound: false }),
            Part::Then(node) => self.within(Sub::Then, node),
            Part::Else(node) => self.within(Sub::Else, node),
            Part::Closure(f) => self.closure(f),
            Part::Read(_) | Part::Exp(_) | Part::Function(_) => {}
        }
    }
    fn within(&mut self, sub: Sub, node: NodeId) {
        self.uses.push(Use { node, sub: Some(self.subs.len()), bound: false });
        self.subs.push(sub);
    }
    fn closure(&mut self, f: &Lam) {
        self.within(Sub::Closure(f.params.first().copied().unwrap_or(f.body)), f.body)
    }
    /// An array that scalar code reads.
    pub fn array(&mut self, node: NodeId) {
        self.uses.push(Use { node, sub: None, bound: true });
    }
}

impl<'g> Graph<'g> {
    pub fn new(nodes: &'g [Node]) -> Self {
        let mut owners = vec![None; nodes.len()];
        let (mut cheap, mut constant) = (Vec::with_capacity(nodes.len()), Vec::with_capacity(nodes.len()));
        for (k, node) in nodes.iter().enumerate() {
            node.op.each_part(|part| {
                if let Part::Closure(f) | Part::Function(f) = part {
                    f.params.iter().for_each(|p| owners[p.index()] = Some(NodeId(k as u32)));
                }
            });
            let is_cheap = is_cheap(nodes, &cheap, &node.op);
            cheap.push(is_cheap);
            constant.push(constant_size(&constant, &node.op));
        }
        let levels = vec![Cell::new(None); nodes.len()];
        Graph { nodes, owners, cheap, constant, levels }
    }

    pub fn node(&self, n: NodeId) -> &'g Node {
        &self.nodes[n.index()]
    }

    /// The operation to whose closure the parameter `n` belongs.
    pub fn owner(&self, n: NodeId) -> Option<NodeId> {
        self.owners[n.index()]
    }

    /// The level of a node that is a variable in the current scope.
    pub fn level(&self, n: NodeId) -> Option<usize> {
        self.levels[n.index()].get().map(|l| l as usize)
    }

    /// The result of `f`, while the node `n` is the variable of a level.
    pub fn with_variable<R>(&self, n: NodeId, level: usize, f: impl FnOnce() -> R) -> R {
        let before = self.levels[n.index()].replace(Some(level as u32));
        let result = f();
        self.levels[n.index()].set(before);
        result
    }

    /// Whether it does not matter how often `n` is executed: it cannot fail and is cheap.
    pub fn is_cheap(&self, n: NodeId) -> bool {
        self.cheap[n.index()]
    }

    /// Variables and small constants are never bound to a variable.
    pub fn is_atom(&self, n: NodeId) -> bool {
        matches!(self.node(n).op, Op::Param | Op::Array(ArrayOp::Unit)) || self.constant[n.index()] <= SMALL_CONSTANT
    }

    /// The operands of a scalar node in its scope. `arrays` receives the arrays that it reads. Array operations have
    /// none here: elaboration rejects them in scalar code.
    pub fn scalar_parts(&self, n: NodeId, parts: &mut Parts, arrays: &mut Vec<NodeId>) {
        let Op::Scalar(op) = &self.node(n).op else { return };
        op.each_part(|part| match part {
            Part::Read(a) => arrays.push(a),
            part => parts.own(part),
        });
    }

    /// The operands of an array node in the array scope, except for the arrays that its scalar code reads.
    pub fn array_parts(&self, n: NodeId, parts: &mut Parts) {
        let Op::Array(op) = &self.node(n).op else { return };
        op.each_part(|part| parts.own(part));
    }

    /// The results of the closed scalar functions and expressions of an array node.
    pub fn scalar_roots(&self, n: NodeId) -> Vec<NodeId> {
        let mut roots = vec![];
        self.node(n).op.each_part(|part| match part {
            Part::Exp(e) => roots.push(e),
            Part::Function(f) => roots.push(f.body),
            Part::Operand(_) | Part::Then(_) | Part::Else(_) | Part::Closure(_) | Part::Read(_) => {}
        });
        roots
    }
}

fn constant_size(sizes: &[usize], op: &Op) -> usize {
    match op {
        Op::Scalar(ScalarOp::Const(_) | ScalarOp::Unit) => 1,
        Op::Scalar(ScalarOp::Pair(a, b)) => sizes[a.index()].saturating_add(sizes[b.index()]).saturating_add(1),
        _ => NO_CONSTANT,
    }
}

/// Whether an operation is total and cheap: it reads or computes no array, does not loop, and divides no integer by a
/// value that may be zero.
fn is_cheap(nodes: &[Node], cheap: &[bool], op: &Op) -> bool {
    let total = match op {
        Op::Param => true,
        Op::Scalar(op) => match op {
            ScalarOp::Prim2(f, _, b) => !divides(*f, &nodes[b.index()].ty) || is_nonzero(&nodes[b.index()].op),
            ScalarOp::Const(_)
            | ScalarOp::Unit
            | ScalarOp::Pair(..)
            | ScalarOp::Fst(_)
            | ScalarOp::Snd(_)
            | ScalarOp::Prim1(..)
            | ScalarOp::Cond(..)
            | ScalarOp::Shape(_) => true,
            ScalarOp::While { .. } | ScalarOp::Index(..) | ScalarOp::Transform { .. } | ScalarOp::Custom { .. } => {
                false
            }
        },
        // Other operations are executed once.
        Op::Array(op) => {
            matches!(op, ArrayOp::Use(_) | ArrayOp::Unit | ArrayOp::Pair(..) | ArrayOp::Fst(_) | ArrayOp::Snd(_))
        }
    };
    let is_cheap = |part| match part {
        Part::Operand(n) | Part::Then(n) | Part::Else(n) => cheap[n.index()],
        // The shape of an array is known, however the array is computed.
        Part::Read(_) => true,
        Part::Closure(_) | Part::Exp(_) | Part::Function(_) => false,
    };
    let mut all = total;
    op.each_part(|part| all = all && is_cheap(part));
    all
}

/// Whether a primitive function on a type fails if its second argument is zero.
fn divides(f: Op2, t: &RawTy) -> bool {
    let integral = matches!(t, RawTy::Scalar(s) if s.is_integral());
    let division = Op2::Num(Num2::Div) == f || Op2::Num(Num2::Rem) == f;
    (division && integral) || matches!(f, Op2::Int(Int2::DivEuclid | Int2::RemEuclid))
}

fn is_nonzero(op: &Op) -> bool {
    match op {
        Op::Scalar(ScalarOp::Const(v)) => matches!(**v, [x] if x != Scalar::ty(x).zero()),
        _ => false,
    }
}
