//! The nodes of the graph of a program that is being staged.

use crate::ast::{ExpRule, ExpTransform, Program, Source, Src};
use crate::repr::foreign::Call;
use crate::repr::op::{Op1, Op2};
use crate::repr::{Agreement, ArrayTuple, RawTy, Scalar};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// The number of a node in its graph. A node refers only to nodes with smaller numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index into [`Staged::nodes`](super::graph::Staged::nodes).
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it does.
    pub op: Op,
    /// The type of its result.
    pub ty: RawTy,
    /// The place in the user's source.
    pub at: &'static Location<'static>,
    /// The function, method or operator that the user called.
    pub name: &'static str,
}

impl Node {
    /// Where it comes from.
    pub fn source(&self) -> Src {
        Some(Source::new(self.name, self.at))
    }
}

/// A closure, which has been called once, with parameter nodes.
#[derive(Clone, Debug)]
pub struct Lam {
    /// Nodes with [`Op::Param`].
    pub params: Vec<NodeId>,
    /// The result, in terms of the parameters.
    pub body: NodeId,
}

/// The direction of a scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dir {
    /// From the first element.
    Left,
    /// From the last element.
    Right,
}

/// What a node does.
#[derive(Clone)]
pub enum Op {
    /// A parameter of a closure or of the program.
    Param,
    /// It computes a scalar value.
    Scalar(ScalarOp),
    /// It computes an array or a tuple of arrays.
    Array(ArrayOp),
}

impl fmt::Debug for Op {
    /// As the operation itself: the type of a node says to which layer it belongs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Param => f.write_str("Param"),
            Op::Scalar(op) => op.fmt(f),
            Op::Array(op) => op.fmt(f),
        }
    }
}

impl From<ScalarOp> for Op {
    fn from(op: ScalarOp) -> Self {
        Op::Scalar(op)
    }
}

impl From<ArrayOp> for Op {
    fn from(op: ArrayOp) -> Self {
        Op::Array(op)
    }
}

/// The operations of the scalar layer.
#[derive(Clone, Debug)]
pub enum ScalarOp {
    /// A constant, given by its scalar leaves.
    Const(Arc<[Scalar]>),
    /// The empty tuple.
    Unit,
    /// A pair of scalar values.
    Pair(NodeId, NodeId),
    /// The first component.
    Fst(NodeId),
    /// The second component.
    Snd(NodeId),
    /// A primitive function of one argument.
    Prim1(Op1, NodeId),
    /// A primitive function of two arguments.
    Prim2(Op2, NodeId, NodeId),
    /// A conditional: condition and branches.
    Cond(NodeId, NodeId, NodeId),
    /// A loop: applies `body` to the state, which starts as `init`, as long as `cond` is true.
    While {
        /// The condition: whether to continue.
        cond: Lam,
        /// One iteration.
        body: Lam,
        /// The initial state.
        init: NodeId,
    },
    /// The element of an array at an index.
    Index(NodeId, NodeId),
    /// The shape of an array.
    Shape(NodeId),
    /// A transformed scalar function applied to an argument, for example its gradient.
    Transform {
        /// The transformation, which makes another function from `fun`.
        transform: Arc<dyn ExpTransform>,
        /// The function.
        fun: Lam,
        /// The argument of the transformed function.
        arg: NodeId,
    },
    /// A function with a rule of one's own, applied to an argument.
    Custom {
        /// What makes the derivative of the rule.
        make: Arc<dyn ExpRule>,
        /// The function.
        fun: Lam,
        /// The rule, a function of a tuple.
        rule: Lam,
        /// The argument.
        arg: NodeId,
    },
}

/// The operations of the array layer.
#[derive(Clone, Debug)]
pub enum ArrayOp {
    /// A constant array or tuple of arrays.
    Use(ArrayTuple),
    /// The empty tuple of arrays.
    Unit,
    /// A pair of arrays or array tuples.
    Pair(NodeId, NodeId),
    /// The first component of an array tuple.
    Fst(NodeId),
    /// The second component of an array tuple.
    Snd(NodeId),
    /// The array of a shape with each element computed from its index.
    Generate(NodeId, Lam),
    /// A function of every element.
    Map(Lam, NodeId),
    /// An array, or an error if two shapes do not agree.
    Agree {
        /// Which extents must be equal.
        agreement: Agreement,
        /// The first shape.
        left: NodeId,
        /// The second shape.
        right: NodeId,
        /// The array.
        a: NodeId,
    },
    /// A function of the elements of two arrays at the same index; the shape is the intersection.
    ZipWith(Lam, NodeId, NodeId),
    /// A fold of each innermost row with an initial value: function, initial value, array.
    Fold(Lam, NodeId, NodeId),
    /// A fold of each innermost row without an initial value; a row must not be empty.
    Fold1(Lam, NodeId),
    /// A scan with an initial value: all partial results of a fold, n + 1 elements for n.
    Scan {
        /// The direction.
        dir: Dir,
        /// The operator.
        f: Lam,
        /// The initial value.
        z: NodeId,
        /// The array.
        a: NodeId,
    },
    /// A scan without an initial value: all partial results of a fold, n elements for n.
    Scan1 {
        /// The direction.
        dir: Dir,
        /// The operator.
        f: Lam,
        /// The array.
        a: NodeId,
    },
    /// A scatter: sends elements to indices of an array of defaults and combines elements that arrive at the same
    /// index.
    Permute {
        /// Combines a new and an old element.
        comb: Lam,
        /// The defaults, which determine the shape of the result.
        def: NodeId,
        /// Maps a source index to `(bool, target index)`: whether to send the element at all, and where.
        index: Lam,
        /// The elements.
        src: NodeId,
    },
    /// A gather: the array of a shape in which each element is read from the index that a function returns.
    Backpermute(NodeId, Lam, NodeId),
    /// The positions at which the elements of each innermost row are in sorted order.
    Argsort(NodeId),
    /// What a foreign function makes of arrays: the call, and the shape of each result.
    Foreign(Call, Arc<[NodeId]>, NodeId),
    /// The same elements in row-major order, in another shape of the same size.
    Reshape(NodeId, NodeId),
    /// Adds dimensions by repetition.
    Replicate {
        /// For each dimension of the result, outermost first: whether it is a dimension of the argument.
        spec: Arc<[bool]>,
        /// The extents of the added dimensions, as one value of the shape type.
        slx: NodeId,
        /// The array.
        a: NodeId,
    },
    /// Removes dimensions by fixing an index.
    Slice {
        /// For each dimension of the argument, outermost first: whether it is kept.
        spec: Arc<[bool]>,
        /// The fixed indices of the removed dimensions, as one value of the shape type.
        slx: NodeId,
        /// The array.
        a: NodeId,
    },
    /// A conditional: the condition (a scalar) and two arrays or array tuples.
    Cond(NodeId, NodeId, NodeId),
    /// Applies a finished program to its argument.
    Call(Program, NodeId),
    /// A loop over arrays. The result of the condition is a scalar array of `bool`.
    While {
        /// The condition: whether to continue.
        cond: Lam,
        /// One iteration.
        body: Lam,
        /// The initial state.
        init: NodeId,
    },
    /// A loop over rows that lists arrays.
    MapAccum {
        /// The direction.
        dir: Dir,
        /// The number of steps.
        n: NodeId,
        /// A step: from the pair of state and row to the pair of next state and entry.
        step: Lam,
        /// The initial state.
        init: NodeId,
        /// The arrays whose rows the steps take.
        xs: NodeId,
    },
}

/// A part of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Part<'o> {
    /// A value of the operation's own layer.
    Operand(NodeId),
    /// The result of the first branch of a conditional; the second one follows.
    Then(NodeId),
    /// The result of the second branch.
    Else(NodeId),
    /// A closure of the operation's own layer, which sees the variables around it.
    Closure(&'o Lam),
    /// An array that scalar code reads.
    Read(NodeId),
    /// A scalar expression of an array operation, which sees no scalar variables.
    Exp(NodeId),
    /// A scalar function of an array operation, which sees no scalar variables but its parameters.
    Function(&'o Lam),
}

impl Op {
    /// Calls `call` with each part, in the order in which elaboration numbers regions and scalar code.
    pub fn each_part<'o>(&'o self, call: impl FnMut(Part<'o>)) {
        match self {
            Op::Param => {}
            Op::Scalar(op) => op.each_part(call),
            Op::Array(op) => op.each_part(call),
        }
    }
}

impl ScalarOp {
    /// As [`Op::each_part`].
    pub fn each_part<'o>(&'o self, call: impl FnMut(Part<'o>)) {
        use Part::*;
        match self {
            ScalarOp::Const(_) | ScalarOp::Unit => {}
            ScalarOp::Pair(a, b) | ScalarOp::Prim2(_, a, b) => [Operand(*a), Operand(*b)].into_iter().for_each(call),
            ScalarOp::Fst(a) | ScalarOp::Snd(a) | ScalarOp::Prim1(_, a) => [Operand(*a)].into_iter().for_each(call),
            ScalarOp::Cond(c, t, e) => [Operand(*c), Then(*t), Else(*e)].into_iter().for_each(call),
            ScalarOp::While { cond, body, init } => {
                [Operand(*init), Closure(cond), Closure(body)].into_iter().for_each(call)
            }
            ScalarOp::Index(a, ix) => [Read(*a), Operand(*ix)].into_iter().for_each(call),
            ScalarOp::Shape(a) => [Read(*a)].into_iter().for_each(call),
            ScalarOp::Transform { transform: _, fun, arg } => [Operand(*arg), Closure(fun)].into_iter().for_each(call),
            ScalarOp::Custom { make: _, fun, rule, arg } => {
                [Operand(*arg), Closure(fun), Closure(rule)].into_iter().for_each(call)
            }
        }
    }
}

impl ArrayOp {
    /// As [`Op::each_part`].
    pub fn each_part<'o>(&'o self, call: impl FnMut(Part<'o>)) {
        use Part::*;
        match self {
            ArrayOp::Use(_) | ArrayOp::Unit => {}
            ArrayOp::Pair(a, b) => [Operand(*a), Operand(*b)].into_iter().for_each(call),
            ArrayOp::Fst(a) | ArrayOp::Snd(a) | ArrayOp::Call(_, a) => [Operand(*a)].into_iter().for_each(call),
            ArrayOp::Generate(sh, f) => [Exp(*sh), Function(f)].into_iter().for_each(call),
            ArrayOp::Map(f, a) | ArrayOp::Fold1(f, a) => [Function(f), Operand(*a)].into_iter().for_each(call),
            ArrayOp::Agree { agreement: _, left, right, a } => {
                [Exp(*left), Exp(*right), Operand(*a)].into_iter().for_each(call)
            }
            ArrayOp::ZipWith(f, a, b) => [Function(f), Operand(*a), Operand(*b)].into_iter().for_each(call),
            ArrayOp::Fold(f, z, a) => [Function(f), Exp(*z), Operand(*a)].into_iter().for_each(call),
            ArrayOp::Scan { dir: _, f, z, a } => [Function(f), Exp(*z), Operand(*a)].into_iter().for_each(call),
            ArrayOp::Scan1 { dir: _, f, a } => [Function(f), Operand(*a)].into_iter().for_each(call),
            ArrayOp::Permute { comb, def, index, src } => {
                [Function(comb), Operand(*def), Function(index), Operand(*src)].into_iter().for_each(call)
            }
            ArrayOp::Backpermute(sh, f, a) => [Exp(*sh), Function(f), Operand(*a)].into_iter().for_each(call),
            ArrayOp::Argsort(a) => [Operand(*a)].into_iter().for_each(call),
            ArrayOp::Foreign(_, shapes, a) => shapes.iter().map(|sh| Exp(*sh)).chain([Operand(*a)]).for_each(call),
            ArrayOp::Reshape(sh, a) => [Exp(*sh), Operand(*a)].into_iter().for_each(call),
            ArrayOp::Replicate { spec: _, slx, a } | ArrayOp::Slice { spec: _, slx, a } => {
                [Exp(*slx), Operand(*a)].into_iter().for_each(call)
            }
            ArrayOp::Cond(c, t, e) => [Exp(*c), Then(*t), Else(*e)].into_iter().for_each(call),
            ArrayOp::While { cond, body, init } => {
                [Operand(*init), Closure(cond), Closure(body)].into_iter().for_each(call)
            }
            ArrayOp::MapAccum { dir: _, n, step, init, xs } => {
                [Exp(*n), Operand(*init), Operand(*xs), Closure(step)].into_iter().for_each(call)
            }
        }
    }
}
