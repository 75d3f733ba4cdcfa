//! The parts of a graph node: its operands, and the closures and branches that are regions of their own.

use crate::repr::op::{Int2, Num2, Op2};
use crate::repr::{RawTy, Scalar};
use crate::surface::graph::{Lam, Node, NodeId, Op};
use std::cell::Cell;

/// The graph, with what is known about each node.
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
    fn here(&mut self, nodes: &[NodeId]) {
        self.uses.extend(nodes.iter().map(|n| Use { node: *n, sub: None, bound: false }));
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
            for f in closures(&node.op) {
                f.params.iter().for_each(|p| owners[p.index()] = Some(NodeId(k as u32)));
            }
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
        matches!(self.node(n).op, Op::Param | Op::AUnit) || self.constant[n.index()] <= SMALL_CONSTANT
    }

    /// The operands of a scalar node in its scope. `arrays` receives the arrays that it reads.
    pub fn scalar_parts(&self, n: NodeId, parts: &mut Parts, arrays: &mut Vec<NodeId>) {
        match &self.node(n).op {
            Op::Pair(a, b) | Op::Prim2(_, a, b) => parts.here(&[*a, *b]),
            Op::Fst(a) | Op::Snd(a) | Op::Prim1(_, a) => parts.here(&[*a]),
            Op::Cond(c, t, e) => {
                parts.here(&[*c]);
                parts.within(Sub::Then, *t);
                parts.within(Sub::Else, *e);
            }
            Op::While { cond, body, init } => {
                parts.here(&[*init]);
                parts.closure(cond);
                parts.closure(body);
            }
            Op::Transform { fun, arg, .. } => {
                parts.here(&[*arg]);
                parts.closure(fun);
            }
            Op::Index(a, ix) => {
                arrays.push(*a);
                parts.here(&[*ix]);
            }
            Op::Shape(a) => arrays.push(*a),
            // Constants and parameters have no operands. Elaboration rejects array operations in scalar code.
            Op::Const(..)
            | Op::Param
            | Op::Unit
            | Op::Use(..)
            | Op::AUnit
            | Op::APair(..)
            | Op::AFst(..)
            | Op::ASnd(..)
            | Op::Generate(..)
            | Op::Map(..)
            | Op::Agree { .. }
            | Op::ZipWith(..)
            | Op::Fold(..)
            | Op::Fold1(..)
            | Op::Scan { .. }
            | Op::Scan1 { .. }
            | Op::Permute { .. }
            | Op::Backpermute(..)
            | Op::Reshape(..)
            | Op::Replicate { .. }
            | Op::Slice { .. }
            | Op::Acond(..)
            | Op::Call(..)
            | Op::Awhile { .. } => {}
        }
    }

    /// The operands of an array node in the array scope, except for the arrays that its scalar code reads.
    pub fn array_parts(&self, n: NodeId, parts: &mut Parts) {
        match &self.node(n).op {
            Op::APair(a, b) | Op::ZipWith(_, a, b) => parts.here(&[*a, *b]),
            Op::AFst(a) | Op::ASnd(a) | Op::Call(_, a) => parts.here(&[*a]),
            Op::Map(_, a) | Op::Fold(_, _, a) | Op::Fold1(_, a) | Op::Agree { a, .. } => parts.here(&[*a]),
            Op::Scan { a, .. } | Op::Scan1 { a, .. } | Op::Replicate { a, .. } | Op::Slice { a, .. } => {
                parts.here(&[*a])
            }
            Op::Backpermute(_, _, a) | Op::Reshape(_, a) => parts.here(&[*a]),
            Op::Permute { def, src, .. } => parts.here(&[*def, *src]),
            Op::Acond(_, t, e) => {
                parts.within(Sub::Then, *t);
                parts.within(Sub::Else, *e);
            }
            Op::Awhile { cond, body, init } => {
                parts.here(&[*init]);
                parts.closure(cond);
                parts.closure(body);
            }
            Op::Const(..)
            | Op::Param
            | Op::Unit
            | Op::Pair(..)
            | Op::Fst(..)
            | Op::Snd(..)
            | Op::Prim1(..)
            | Op::Prim2(..)
            | Op::Cond(..)
            | Op::While { .. }
            | Op::Index(..)
            | Op::Shape(..)
            | Op::Transform { .. }
            | Op::Use(..)
            | Op::AUnit
            | Op::Generate(..) => {}
        }
    }

    /// The results of the closed scalar functions and expressions of an array node.
    pub fn scalar_roots(&self, n: NodeId) -> Vec<NodeId> {
        match &self.node(n).op {
            Op::Generate(sh, f) | Op::Backpermute(sh, f, _) => vec![*sh, f.body],
            Op::Map(f, _) | Op::ZipWith(f, _, _) | Op::Fold1(f, _) | Op::Scan1 { f, .. } => vec![f.body],
            Op::Fold(f, z, _) | Op::Scan { f, z, .. } => vec![f.body, *z],
            Op::Permute { comb, index, .. } => vec![comb.body, index.body],
            Op::Agree { left, right, .. } => vec![*left, *right],
            Op::Reshape(e, _) | Op::Replicate { slx: e, .. } | Op::Slice { slx: e, .. } | Op::Acond(e, _, _) => {
                vec![*e]
            }
            Op::Const(..)
            | Op::Param
            | Op::Unit
            | Op::Pair(..)
            | Op::Fst(..)
            | Op::Snd(..)
            | Op::Prim1(..)
            | Op::Prim2(..)
            | Op::Cond(..)
            | Op::While { .. }
            | Op::Index(..)
            | Op::Shape(..)
            | Op::Transform { .. }
            | Op::Use(..)
            | Op::AUnit
            | Op::APair(..)
            | Op::AFst(..)
            | Op::ASnd(..)
            | Op::Call(..)
            | Op::Awhile { .. } => vec![],
        }
    }
}

fn closures(op: &Op) -> Vec<&Lam> {
    match op {
        Op::While { cond, body, .. } | Op::Awhile { cond, body, .. } => vec![cond, body],
        Op::Permute { comb, index, .. } => vec![comb, index],
        Op::Transform { fun: f, .. } | Op::Scan { f, .. } | Op::Scan1 { f, .. } => vec![f],
        Op::Generate(_, f) | Op::Map(f, _) | Op::ZipWith(f, _, _) => vec![f],
        Op::Fold(f, _, _) | Op::Fold1(f, _) | Op::Backpermute(_, f, _) => vec![f],
        Op::Const(..)
        | Op::Param
        | Op::Unit
        | Op::Pair(..)
        | Op::Fst(..)
        | Op::Snd(..)
        | Op::Prim1(..)
        | Op::Prim2(..)
        | Op::Cond(..)
        | Op::Index(..)
        | Op::Shape(..)
        | Op::Use(..)
        | Op::AUnit
        | Op::APair(..)
        | Op::AFst(..)
        | Op::ASnd(..)
        | Op::Agree { .. }
        | Op::Reshape(..)
        | Op::Replicate { .. }
        | Op::Slice { .. }
        | Op::Acond(..)
        | Op::Call(..) => vec![],
    }
}

fn constant_size(sizes: &[usize], op: &Op) -> usize {
    match op {
        Op::Const(_) | Op::Unit => 1,
        Op::Pair(a, b) => sizes[a.index()].saturating_add(sizes[b.index()]).saturating_add(1),
        _ => NO_CONSTANT,
    }
}

/// Whether an operation is total and cheap: it reads or computes no array, does not loop, and divides no integer by a
/// value that may be zero.
fn is_cheap(nodes: &[Node], cheap: &[bool], op: &Op) -> bool {
    let all = |parts: &[NodeId]| parts.iter().all(|p| cheap[p.index()]);
    match op {
        Op::Const(_) | Op::Param | Op::Unit | Op::Shape(_) | Op::Use(_) | Op::AUnit => true,
        Op::Fst(a) | Op::Snd(a) | Op::Prim1(_, a) | Op::AFst(a) | Op::ASnd(a) => all(&[*a]),
        Op::Pair(a, b) | Op::APair(a, b) => all(&[*a, *b]),
        Op::Cond(c, t, e) => all(&[*c, *t, *e]),
        Op::Prim2(f, a, b) => {
            all(&[*a, *b]) && (!divides(*f, &nodes[b.index()].ty) || is_nonzero(&nodes[b.index()].op))
        }
        // What is not known to be cheap is executed once.
        _ => false,
    }
}

/// Whether a primitive function on a type fails if its second argument is zero.
fn divides(f: Op2, t: &RawTy) -> bool {
    let integral = matches!(t, RawTy::Scalar(s) if s.is_integral());
    let division = Op2::Num(Num2::Div) == f || Op2::Num(Num2::Rem) == f;
    (division && integral) || matches!(f, Op2::Int(Int2::DivEuclid | Int2::RemEuclid))
}

fn is_nonzero(op: &Op) -> bool {
    match op {
        Op::Const(v) => matches!(**v, [x] if x != Scalar::ty(x).zero()),
        _ => false,
    }
}
