//! A random program as data, which is stored in files as JSON.
//!
//! NOTE [Levels]: the number of an array is the number of arrays defined before it: first the parameters of the
//! program, then the arrays of its definitions. The numbers inside the body of a loop continue from that of the loop's
//! definition, so the body refers to the arrays around it by their own numbers. The values of scalar functions are
//! numbered in the same way.

use super::types::{Data, Elem, Given, Kind, Number, Ty};
use accel::repr::Scalar;
use accel::repr::op::{Cmp, Op1, Op2};
use serde::{Deserialize, Serialize};

/// An array.
pub type Arr = usize;
/// A value in a scalar function.
pub type Val = usize;

/// A program with its inputs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Program {
    pub inputs: Vec<Given>,
    pub body: Block,
}

/// A function of arrays: the program, the body of a loop, or a program that is called.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Block {
    pub params: Vec<Ty>,
    pub defs: Vec<Def>,
    pub results: Vec<Arr>,
}

/// One operation with the types of the arrays that it defines.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Def {
    pub tys: Vec<Ty>,
    pub step: Step,
}

/// An array operation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Step {
    /// A constant of the program.
    Use(Given),
    /// The results of `shape` are the extents.
    Generate {
        shape: Fun,
        f: Fun,
    },
    Fill {
        shape: Fun,
        x: Fun,
    },
    EnumFromN {
        shape: Fun,
        start: Fun,
    },
    Map {
        f: Fun,
        x: Arr,
    },
    Imap {
        f: Fun,
        x: Arr,
    },
    ZipWith {
        /// Whether different extents are an error. Otherwise the result has the smaller ones.
        #[serde(default)]
        strict: bool,
        f: Fun,
        x: Arr,
        y: Arr,
    },
    ZipWith3 {
        #[serde(default)]
        strict: bool,
        f: Fun,
        x: Arr,
        y: Arr,
        z: Arr,
    },
    Zip {
        #[serde(default)]
        strict: bool,
        x: Arr,
        y: Arr,
    },
    Zip3 {
        #[serde(default)]
        strict: bool,
        x: Arr,
        y: Arr,
        z: Arr,
    },
    Unzip {
        x: Arr,
    },
    Unzip3 {
        x: Arr,
    },
    /// Without `z`, `fold1`. With `all`, over all elements.
    Fold {
        op: Operator,
        z: Option<Fun>,
        all: bool,
        x: Arr,
    },
    Reduce {
        what: Reduce,
        all: bool,
        x: Arr,
    },
    Scan {
        op: Operator,
        z: Option<Fun>,
        right: bool,
        x: Arr,
    },
    /// `scanl_ex` and `scanr_ex`.
    ScanEx {
        op: Operator,
        z: Fun,
        right: bool,
        x: Arr,
    },
    /// The results of `target` are a `bool` and an index.
    Permute {
        op: Operator,
        defaults: Arr,
        outside: Outside,
        target: Fun,
        x: Arr,
    },
    Scatter {
        to: Arr,
        defaults: Arr,
        x: Arr,
    },
    Backpermute {
        shape: Fun,
        outside: Outside,
        source: Fun,
        x: Arr,
    },
    Gather {
        from: Arr,
        x: Arr,
    },
    Reshape {
        shape: Fun,
        x: Arr,
    },
    Flatten {
        x: Arr,
    },
    /// The dimensions of the result that are new, and their extents.
    Replicate {
        new: Vec<bool>,
        extents: Fun,
        x: Arr,
    },
    /// The dimensions that are removed, and the indices in them.
    Slice {
        gone: Vec<bool>,
        indices: Fun,
        x: Arr,
    },
    Rearrange {
        what: Rearrange,
        x: Arr,
    },
    Take {
        n: Fun,
        x: Arr,
    },
    Skip {
        n: Fun,
        x: Arr,
    },
    Concat {
        x: Arr,
        y: Arr,
    },
    /// Of an array of scalars.
    Sort {
        what: Sort,
        x: Arr,
    },
    /// The keys and the values in sorted order.
    SortByKey {
        descending: bool,
        x: Arr,
        y: Arr,
    },
    Product {
        what: Product,
        x: Arr,
        y: Arr,
    },
    /// A choice between two tuples of arrays.
    Acond {
        c: Fun,
        then: Vec<Arr>,
        otherwise: Vec<Arr>,
    },
    /// At most `times`, and at most [`MOST_STEPS`], steps while `continues` holds. The body's parameters are the number of
    /// the step, an array of rank 0, and the state.
    Awhile {
        times: Fun,
        continues: Fun,
        init: Vec<Arr>,
        body: Block,
    },
    /// A finished program, which refers to no array around it. Its numbers start at 0.
    Call {
        program: Block,
        args: Vec<Arr>,
    },
}

/// The largest number of steps of a loop.
pub const MOST_STEPS: i64 = 40;

/// An array of numbers or of `bool` with one dimension less.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Reduce {
    Sum,
    Product,
    Maximum,
    Minimum,
    All,
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Rearrange {
    Transpose,
    Reverse,
    Init,
    Tail,
    /// As `Reverse`, by a foreign function.
    Turned,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Sort {
    Positions,
    PositionsDescending,
    Elements,
    ElementsDescending,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Product {
    Dot,
    Matvec,
    Matmul,
}

/// An associative operator.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Operator {
    /// One operator for each scalar. All of them are commutative.
    Each(Vec<Basic>),
    First,
    Second,
    /// The element with the larger first scalar, or the first of two equal ones. NaN is the largest number: without a place for it, the
    /// operator would not be associative.
    ArgMax,
    /// On pairs of numbers of a type: `(a, b)` stands for `x -> a x + b`.
    Affine,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Basic {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// `a + b + a b`
    General,
}

/// How an index out of bounds is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Outside {
    /// It is taken modulo the extents. A read of an empty array is zero, and nothing is written to one.
    Wraps,
    /// The read is zero, and nothing is written.
    Skips,
    /// The program fails.
    Fails,
}

/// A scalar function.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fun {
    pub params: Vec<Elem>,
    pub nodes: Vec<(Elem, Node)>,
    pub results: Vec<Val>,
}

/// A definition in a scalar function.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Node {
    Const(Vec<Number>),
    Op1(#[serde(with = "super::ops::one")] Op1, Val),
    Op2(#[serde(with = "super::ops::two")] Op2, Val, Val),
    Clamp(Val, Val, Val),
    Powi(Val, i32),
    Cond(Val, Val, Val),
    Tuple(Vec<Val>),
    Part(Val, usize),
    Read {
        array: Arr,
        index: Vec<Val>,
        outside: Outside,
    },
    Extent {
        array: Arr,
        dim: usize,
    },
    Size(Arr),
    /// At most `times`, and at most [`MOST_STEPS`], steps while `continues` holds. Both functions take the number of the
    /// step and the state.
    While {
        times: Val,
        init: Val,
        continues: Fun,
        body: Fun,
    },
    /// The gradient of a function with a floating-point result, or the pair of value and gradient.
    Gradient {
        f: Fun,
        at: Val,
        with_value: bool,
    },
}

impl Node {
    /// Calls `f` on every reference to a value outside this node's own functions, also inside these functions.
    pub fn vals_mut(&mut self, f: &mut dyn FnMut(&mut Val)) {
        match self {
            Node::Const(_) | Node::Extent { .. } | Node::Size(_) => {}
            Node::Op1(_, a) | Node::Powi(a, _) | Node::Part(a, _) => f(a),
            Node::Op2(_, a, b) => [a, b].into_iter().for_each(f),
            Node::Clamp(a, b, c) | Node::Cond(a, b, c) => [a, b, c].into_iter().for_each(f),
            Node::Tuple(parts) => parts.iter_mut().for_each(f),
            Node::Read { index, .. } => index.iter_mut().for_each(f),
            Node::While { times, init, continues, body } => {
                f(times);
                f(init);
                continues.vals_mut(f);
                body.vals_mut(f);
            }
            Node::Gradient { f: fun, at, .. } => {
                f(at);
                fun.vals_mut(f);
            }
        }
    }

    /// The functions in it.
    pub fn funs_mut(&mut self) -> Vec<&mut Fun> {
        match self {
            Node::While { continues, body, .. } => vec![continues, body],
            Node::Gradient { f, .. } => vec![f],
            _ => vec![],
        }
    }
}

impl Fun {
    pub fn vals_mut(&mut self, f: &mut dyn FnMut(&mut Val)) {
        self.nodes.iter_mut().for_each(|(_, n)| n.vals_mut(f));
        self.results.iter_mut().for_each(f);
    }

    /// Calls `f` on every reference to an array.
    pub fn arrays_mut(&mut self, f: &mut dyn FnMut(&mut Arr)) {
        for (_, node) in &mut self.nodes {
            match node {
                Node::Read { array, .. } | Node::Extent { array, .. } | Node::Size(array) => f(array),
                _ => {}
            }
            node.funs_mut().into_iter().for_each(|fun| fun.arrays_mut(f));
        }
    }

    /// The type of a value, in a function that begins at level `base`, given those around it.
    pub fn elem(&self, outer: &[Elem], v: Val) -> Elem {
        let own = |k: usize| self.params.get(k).unwrap_or_else(|| &self.nodes[k - self.params.len()].0);
        if v < outer.len() { outer[v].clone() } else { own(v - outer.len()).clone() }
    }
}

impl Step {
    /// The scalar functions.
    pub fn funs_mut(&mut self) -> Vec<&mut Fun> {
        match self {
            Step::Generate { shape, f } => vec![shape, f],
            Step::Fill { shape, x } => vec![shape, x],
            Step::EnumFromN { shape, start } => vec![shape, start],
            Step::Map { f, .. } | Step::Imap { f, .. } | Step::ZipWith { f, .. } | Step::ZipWith3 { f, .. } => vec![f],
            Step::Fold { z, .. } | Step::Scan { z, .. } => z.iter_mut().collect(),
            Step::ScanEx { z, .. } => vec![z],
            Step::Permute { target, .. } => vec![target],
            Step::Backpermute { shape, source, .. } => vec![shape, source],
            Step::Reshape { shape, .. } => vec![shape],
            Step::Replicate { extents, .. } => vec![extents],
            Step::Slice { indices, .. } => vec![indices],
            Step::Take { n, .. } | Step::Skip { n, .. } => vec![n],
            Step::Acond { c, .. } => vec![c],
            Step::Awhile { times, continues, .. } => vec![times, continues],
            _ => vec![],
        }
    }

    /// The blocks whose numbers continue from those around.
    pub fn block_mut(&mut self) -> Option<&mut Block> {
        match self {
            Step::Awhile { body, .. } => Some(body),
            _ => None,
        }
    }

    /// Calls `f` on every reference to an array.
    pub fn arrays_mut(&mut self, f: &mut dyn FnMut(&mut Arr)) {
        match self {
            Step::Use(_) | Step::Generate { .. } | Step::Fill { .. } | Step::EnumFromN { .. } => {}
            Step::Map { x, .. }
            | Step::Imap { x, .. }
            | Step::Unzip { x }
            | Step::Unzip3 { x }
            | Step::Fold { x, .. }
            | Step::Reduce { x, .. }
            | Step::Scan { x, .. }
            | Step::ScanEx { x, .. }
            | Step::Backpermute { x, .. }
            | Step::Reshape { x, .. }
            | Step::Flatten { x }
            | Step::Replicate { x, .. }
            | Step::Slice { x, .. }
            | Step::Rearrange { x, .. }
            | Step::Sort { x, .. }
            | Step::Take { x, .. }
            | Step::Skip { x, .. } => f(x),
            Step::ZipWith { x, y, .. }
            | Step::Zip { x, y, .. }
            | Step::Concat { x, y }
            | Step::SortByKey { x, y, .. }
            | Step::Product { x, y, .. }
            | Step::Permute { defaults: x, x: y, .. }
            | Step::Gather { from: x, x: y } => [x, y].into_iter().for_each(&mut *f),
            Step::ZipWith3 { x, y, z, .. }
            | Step::Zip3 { x, y, z, .. }
            | Step::Scatter { to: x, defaults: y, x: z } => {
                [x, y, z].into_iter().for_each(&mut *f);
            }
            Step::Acond { then, otherwise, .. } => then.iter_mut().chain(otherwise).for_each(&mut *f),
            Step::Awhile { init: args, .. } | Step::Call { args, .. } => args.iter_mut().for_each(&mut *f),
        }
        self.funs_mut().into_iter().for_each(|fun| fun.arrays_mut(f));
        if let Some(block) = self.block_mut() {
            block.arrays_mut(f);
        }
    }

    /// The arrays below a number that it refers to.
    pub fn arrays(&self, below: Arr) -> Vec<Arr> {
        let mut all = vec![];
        self.clone().arrays_mut(&mut |a| all.push(*a));
        all.retain(|a| *a < below);
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Block {
    pub fn arrays_mut(&mut self, f: &mut dyn FnMut(&mut Arr)) {
        self.defs.iter_mut().for_each(|d| d.step.arrays_mut(f));
        self.results.iter_mut().for_each(f);
    }

    /// The types of the arrays of the block, in their order.
    pub fn types(&self) -> Vec<Ty> {
        self.params.iter().chain(self.defs.iter().flat_map(|d| &d.tys)).cloned().collect()
    }

    /// The number of the first array of each definition, in a block that begins at `base`.
    pub fn levels(&self, base: Arr) -> Vec<Arr> {
        let mut next = base + self.params.len();
        self.defs
            .iter()
            .map(|d| {
                let level = next;
                next += d.tys.len();
                level
            })
            .collect()
    }
}

impl Program {
    /// Several programs as one.
    pub fn merged(programs: &[Program]) -> Program {
        let params: usize = programs.iter().map(|p| p.inputs.len()).sum();
        let mut all = Program { inputs: vec![], body: Block { params: vec![], defs: vec![], results: vec![] } };
        let (mut first, mut next) = (0, params);
        for p in programs {
            let mut body = p.body.clone();
            let own = body.params.len();
            body.arrays_mut(&mut |a| *a = if *a < own { *a + first } else { *a - own + next });
            first += own;
            next += body.defs.iter().map(|d| d.tys.len()).sum::<usize>();
            all.inputs.extend(p.inputs.iter().cloned());
            all.body.params.extend(body.params);
            all.body.defs.extend(body.defs);
            all.body.results.extend(body.results);
        }
        all
    }

    /// Several programs as one, which executes only the program whose number the last input is.
    pub fn one_of(programs: &[Program], chosen: usize) -> Program {
        let mut all = Program::merged(programs);
        let which = all.inputs.len();
        all.body.arrays_mut(&mut |a| *a += usize::from(*a >= which));
        let number = Given { elem: Elem::I64, extents: vec![], data: Data::Listed(vec![vec![int(chosen)]]) };
        all.body.params.push(number.ty());
        all.inputs.push(number);
        let types = all.body.types();
        let mut results = std::mem::take(&mut all.body.results).into_iter();
        let mut next = types.len();
        let mut define = |tys: Vec<Ty>, step: Step| {
            let arrays = next..next + tys.len();
            next = arrays.end;
            all.body.defs.push(Def { tys, step });
            arrays
        };
        for (k, p) in programs.iter().enumerate() {
            let then: Vec<Arr> = results.by_ref().take(p.body.results.len()).collect();
            let tys: Vec<Ty> = then.iter().map(|a| types[*a].clone()).collect();
            let nothing = |ty: &Ty| {
                let data = Data::Made { seed: 0, kind: Kind::Small };
                Step::Use(Given { elem: ty.elem.clone(), extents: vec![0; ty.rank], data })
            };
            let otherwise = tys.iter().map(|ty| define(vec![ty.clone()], nothing(ty)).start).collect();
            let c = Fun {
                params: vec![],
                nodes: vec![
                    (Elem::I64, Node::Read { array: which, index: vec![], outside: Outside::Fails }),
                    (Elem::I64, Node::Const(vec![int(k)])),
                    (Elem::BOOL, Node::Op2(Op2::Cmp(Cmp::Eq), 0, 1)),
                ],
                results: vec![2],
            };
            let chosen = define(tys, Step::Acond { c, then, otherwise });
            all.body.results.extend(chosen);
        }
        all
    }
}

fn int(x: usize) -> Number {
    Number(Scalar::I64(x as i64))
}
