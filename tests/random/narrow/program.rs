//! A random program as data: a list of array operations, each of which refers to earlier ones. Scalar functions are
//! lists of the same kind. A reference is a number, so whatever is referred to twice is shared.

use std::fmt;

/// The type of a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scalar {
    F,
    I,
    B,
}

/// The type of an array's elements: `f64`, `i64` or `(f64, i64)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elem {
    F,
    I,
    P,
}

impl Elem {
    pub fn scalars(self) -> &'static [Scalar] {
        match self {
            Elem::F => &[Scalar::F],
            Elem::I => &[Scalar::I],
            Elem::P => &[Scalar::F, Scalar::I],
        }
    }
}

/// The type of an array of rank 0, 1 or 2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ty {
    pub elem: Elem,
    pub rank: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    Neg,
    Abs,
    Signum,
    Sin,
    Cos,
    Tanh,
    Atan,
    Exp,
    Recip,
    Sqrt,
    Floor,
    /// Complement of an integer or `bool`.
    Not,
    CountOnes,
    ToFloat,
    ToInt,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    Atan2,
    Hypot,
    Xor,
    And,
    Or,
    Shl,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    Lt,
    Le,
    Eq,
    Ne,
}

/// How an index out of bounds is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outside {
    /// It is taken modulo the extents. A read of an empty array is zero, and nothing is written to one.
    Wraps,
    /// The read is zero, and nothing is written.
    Skips,
    /// The program fails.
    Fails,
}

/// One definition of a scalar function, which refers to earlier ones.
#[derive(Clone, PartialEq, Debug)]
pub enum Node {
    Param(usize),
    F(f64),
    I(i64),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    /// The quotient by a positive number, rounded down.
    Quotient(usize, i64),
    /// The remainder of the quotient.
    Modulo(usize, i64),
    Compare(Compare, usize, usize),
    Cond(usize, usize, usize),
    /// A component of the element of an array.
    Read {
        array: usize,
        index: Vec<usize>,
        part: usize,
        outside: Outside,
    },
    Extent {
        array: usize,
        dim: usize,
    },
    /// Repeats `body`, a function of the state, a captured float and the number of the step.
    Loop {
        times: i64,
        init: usize,
        capture: usize,
        body: Box<Fun>,
    },
}

/// A scalar function. Each node has its type beside it.
#[derive(Clone, PartialEq, Debug)]
pub struct Fun {
    pub params: usize,
    pub nodes: Vec<(Scalar, Node)>,
    pub results: Vec<usize>,
}

/// Associative operators on elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// `+`, for pairs by component.
    Add,
    Mul,
    Min,
    Max,
    /// `a + b + ab`; for pairs, this on the float and the maximum on the integer.
    General,
    /// The first argument. Not commutative.
    First,
    /// The second argument. Not commutative.
    Second,
    /// The last integer that is not zero. Not commutative.
    Last,
    /// The pair with the larger float, or the first of two equal ones. Not commutative.
    ArgMax,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    Const(i64),
    /// The extent of an array plus a number. If it is negative, the program fails.
    Of {
        array: usize,
        dim: usize,
        plus: i64,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rearrange {
    Transpose,
    Reverse,
    Take(i64),
    Skip(i64),
    /// All elements as a vector.
    Flatten,
    /// A vector as a matrix of one row.
    Row,
    /// A vector as a matrix of one column.
    Column,
    /// A matrix of n rows and m columns, reshaped to m rows and n columns.
    Swap,
    /// The array twice, side by side.
    Twice,
}

/// One array operation, which refers to earlier ones.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    Input(usize),
    Generate {
        extents: Vec<Extent>,
        f: Fun,
    },
    Map {
        f: Fun,
        x: usize,
    },
    ZipWith {
        f: Fun,
        x: usize,
        y: usize,
    },
    /// `fold` with an initial value; without one, `fold1`, with zeros if the rows are empty.
    Fold {
        op: Operator,
        z: Option<Fun>,
        x: usize,
    },
    Scan {
        left: bool,
        op: Operator,
        z: Option<Fun>,
        x: usize,
    },
    Permute {
        outside: Outside,
        op: Operator,
        defaults: usize,
        target: Fun,
        x: usize,
    },
    /// If indices wrap and `x` is empty, the result is empty. They are never skipped.
    Backpermute {
        outside: Outside,
        extents: Vec<Extent>,
        source: Fun,
        x: usize,
    },
    Replicate {
        dims: Vec<Option<Extent>>,
        x: usize,
    },
    /// Indices are taken modulo the extents. A slice of an empty dimension is zeros.
    Slice {
        dims: Vec<Option<i64>>,
        x: usize,
    },
    Rearrange(Rearrange, usize),
    Concat(usize, usize),
    /// With `tupled`, a conditional of pairs of arrays, and its first component.
    Acond {
        c: Fun,
        x: usize,
        y: usize,
        tupled: bool,
    },
    /// Repeatedly applies `f` to every element and the number of the step.
    Awhile {
        times: i64,
        f: Fun,
        x: usize,
    },
    /// A loop over two arrays that exchanges them. It applies `f` to every element of the array that becomes the second
    /// one, and to the number of the step. The result is the first array.
    Exchange {
        times: i64,
        f: Fun,
        x: usize,
        y: usize,
    },
    /// Repeated in a loop. The extents can change, but not the rank.
    Iterate {
        times: i64,
        what: Rearrange,
        x: usize,
    },
}

/// The inputs of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct Inputs {
    pub xs: Vec<f64>,
    pub ys: Vec<f64>,
    /// Rows, columns, elements.
    pub m: (usize, usize, Vec<f64>),
    pub is: Vec<i64>,
}

/// The types of the inputs, which are the first steps.
pub const INPUTS: [Ty; 4] = [F1, F1, F2, I1];
/// The types of the results.
pub const RESULTS: [Ty; 5] = [F0, F1, F2, I1, P1];
/// The number of steps with which every program starts. After them, there is an array of each result type.
pub const PRELUDE: usize = 6;

pub const F0: Ty = Ty { elem: Elem::F, rank: 0 };
pub const F1: Ty = Ty { elem: Elem::F, rank: 1 };
pub const F2: Ty = Ty { elem: Elem::F, rank: 2 };
pub const I1: Ty = Ty { elem: Elem::I, rank: 1 };
pub const P1: Ty = Ty { elem: Elem::P, rank: 1 };

/// A program with its inputs. Each step has its type beside it.
#[derive(Clone, PartialEq)]
pub struct Program {
    pub inputs: Inputs,
    pub steps: Vec<(Ty, Step)>,
    pub results: [usize; RESULTS.len()],
}

impl Node {
    /// Calls `f` on every reference to another node of the function.
    pub fn nodes_mut(&mut self, f: &mut dyn FnMut(&mut usize)) {
        match self {
            Node::Param(_) | Node::F(_) | Node::I(_) | Node::Extent { .. } => {}
            Node::Unary(_, a) | Node::Quotient(a, _) | Node::Modulo(a, _) => f(a),
            Node::Binary(_, a, b) | Node::Compare(_, a, b) => [a, b].into_iter().for_each(f),
            Node::Cond(a, b, c) => [a, b, c].into_iter().for_each(f),
            Node::Read { index, .. } => index.iter_mut().for_each(f),
            Node::Loop { init, capture, .. } => [init, capture].into_iter().for_each(f),
        }
    }

    /// The nodes that it refers to.
    pub fn nodes(&self) -> Vec<usize> {
        let mut all = vec![];
        self.clone().nodes_mut(&mut |i| all.push(*i));
        all
    }
}

impl Fun {
    /// Calls `f` on every reference to an array.
    pub fn arrays_mut(&mut self, f: &mut dyn FnMut(&mut usize)) {
        for (_, node) in &mut self.nodes {
            match node {
                Node::Read { array, .. } | Node::Extent { array, .. } => f(array),
                Node::Loop { body, .. } => body.arrays_mut(f),
                _ => {}
            }
        }
    }
}

impl Step {
    /// The scalar functions of the operation.
    pub fn funs_mut(&mut self) -> Option<&mut Fun> {
        match self {
            Step::Generate { f, .. } | Step::Map { f, .. } | Step::ZipWith { f, .. } => Some(f),
            Step::Awhile { f, .. } | Step::Exchange { f, .. } => Some(f),
            Step::Permute { target: f, .. } | Step::Backpermute { source: f, .. } | Step::Acond { c: f, .. } => Some(f),
            Step::Fold { z, .. } | Step::Scan { z, .. } => z.as_mut(),
            _ => None,
        }
    }

    /// Calls `f` on every reference to another step.
    pub fn arrays_mut(&mut self, f: &mut dyn FnMut(&mut usize)) {
        let mut extent = |e: &mut Extent| {
            if let Extent::Of { array, .. } = e {
                f(array);
            }
        };
        match self {
            Step::Generate { extents, .. } | Step::Backpermute { extents, .. } => {
                extents.iter_mut().for_each(&mut extent);
            }
            Step::Replicate { dims, .. } => dims.iter_mut().flatten().for_each(&mut extent),
            _ => {}
        }
        match self {
            Step::Input(_) | Step::Generate { .. } => {}
            Step::Map { x, .. } | Step::Fold { x, .. } | Step::Scan { x, .. } | Step::Backpermute { x, .. } => f(x),
            Step::Replicate { x, .. } | Step::Slice { x, .. } | Step::Awhile { x, .. } | Step::Rearrange(_, x) => f(x),
            Step::Iterate { x, .. } => f(x),
            Step::ZipWith { x, y, .. }
            | Step::Acond { x, y, .. }
            | Step::Exchange { x, y, .. }
            | Step::Concat(x, y) => [x, y].into_iter().for_each(&mut *f),
            Step::Permute { defaults, x, .. } => [defaults, x].into_iter().for_each(&mut *f),
        }
        if let Some(fun) = self.funs_mut() {
            fun.arrays_mut(f);
        }
    }

    /// The steps that it refers to.
    pub fn arrays(&self) -> Vec<usize> {
        let mut all = vec![];
        self.clone().arrays_mut(&mut |i| all.push(*i));
        all
    }
}

impl Program {
    /// The steps that the results need, and those with which every program starts.
    pub fn live(&self) -> Vec<bool> {
        let mut live: Vec<bool> = (0..self.steps.len()).map(|k| k < PRELUDE || self.results.contains(&k)).collect();
        for k in (0..self.steps.len()).rev().filter(|k| *k >= PRELUDE) {
            if live[k] {
                self.steps[k].1.arrays().into_iter().for_each(|i| live[i] = true);
            }
        }
        live
    }

    /// The size of the program without sharing.
    pub fn unshared_size(&self) -> u64 {
        let mut sizes: Vec<u64> = vec![];
        for (_, step) in &self.steps {
            let of = |arrays: Vec<usize>| arrays.into_iter().fold(1u64, |n, i| n.saturating_add(sizes[i]));
            let mut step = step.clone();
            let whole = match step.funs_mut().cloned() {
                None => of(step.arrays()),
                Some(fun) => {
                    *step.funs_mut().expect("the same step") = Fun { params: 0, nodes: vec![], results: vec![] };
                    of(step.arrays()).saturating_add(unshared(&fun, &sizes))
                }
            };
            sizes.push(whole);
        }
        self.results.iter().fold(0, |n, i| n.saturating_add(sizes[*i]))
    }
}

fn unshared(fun: &Fun, arrays: &[u64]) -> u64 {
    let mut sizes: Vec<u64> = vec![];
    for (_, node) in &fun.nodes {
        let inner = match node {
            // The array occurs twice, for its extents and for the read.
            Node::Read { array, .. } => arrays[*array].saturating_mul(3),
            Node::Extent { array, .. } => arrays[*array],
            Node::Loop { body, .. } => unshared(body, arrays),
            _ => 1,
        };
        sizes.push(node.nodes().into_iter().fold(inner, |n, i| n.saturating_add(sizes[i])));
    }
    fun.results.iter().fold(1, |n, i| n.saturating_add(sizes[*i]))
}

impl fmt::Display for Fun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{ ")?;
        for (i, (ty, node)) in self.nodes.iter().enumerate() {
            write!(f, "n{i}: {ty:?} = ")?;
            match node {
                Node::Param(p) => write!(f, "param {p}")?,
                Node::F(x) => write!(f, "{x:?}")?,
                Node::I(x) => write!(f, "{x}")?,
                Node::Unary(op, a) => write!(f, "{op:?} n{a}")?,
                Node::Binary(op, a, b) => write!(f, "{op:?} n{a} n{b}")?,
                Node::Quotient(a, k) => write!(f, "n{a} div {k}")?,
                Node::Modulo(a, k) => write!(f, "n{a} mod {k}")?,
                Node::Compare(op, a, b) => write!(f, "{op:?} n{a} n{b}")?,
                Node::Cond(c, a, b) => write!(f, "if n{c} then n{a} else n{b}")?,
                Node::Read { array, index, part, outside } => {
                    let index: Vec<_> = index.iter().map(|i| format!("n{i}")).collect();
                    write!(f, "a{array}[{}].{part} {outside:?}", index.join(", "))?;
                }
                Node::Extent { array, dim } => write!(f, "extent {dim} of a{array}")?,
                Node::Loop { times, init, capture, body } => {
                    write!(f, "loop {times} times from n{init} with n{capture}: {body}")?;
                }
            }
            write!(f, "; ")?;
        }
        let results: Vec<_> = self.results.iter().map(|i| format!("n{i}")).collect();
        write!(f, "({}) }}", results.join(", "))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let z = |z: &Option<Fun>| z.as_ref().map_or("no start".into(), |z| z.to_string());
        writeln!(f, "{:?}", self.inputs)?;
        for (k, (ty, step)) in self.steps.iter().enumerate() {
            write!(f, "a{k}: {:?}{} = ", ty.elem, ty.rank)?;
            match step {
                Step::Input(i) => writeln!(f, "input {i}"),
                Step::Generate { extents, f: fun } => writeln!(f, "generate {extents:?} {fun}"),
                Step::Map { f: fun, x } => writeln!(f, "map {fun} a{x}"),
                Step::ZipWith { f: fun, x, y } => writeln!(f, "zip_with {fun} a{x} a{y}"),
                Step::Fold { op, z: start, x } => writeln!(f, "fold {op:?} {} a{x}", z(start)),
                Step::Scan { left, op, z: start, x } => {
                    writeln!(f, "scan {} {op:?} {} a{x}", if *left { "left" } else { "right" }, z(start))
                }
                Step::Permute { outside, op, defaults, target, x } => {
                    writeln!(f, "permute {outside:?} {op:?} a{defaults} {target} a{x}")
                }
                Step::Backpermute { outside, extents, source, x } => {
                    writeln!(f, "backpermute {outside:?} {extents:?} {source} a{x}")
                }
                Step::Replicate { dims, x } => writeln!(f, "replicate {dims:?} a{x}"),
                Step::Slice { dims, x } => writeln!(f, "slice {dims:?} a{x}"),
                Step::Rearrange(what, x) => writeln!(f, "{what:?} a{x}"),
                Step::Concat(x, y) => writeln!(f, "concat a{x} a{y}"),
                Step::Acond { c, x, y, tupled } => {
                    writeln!(f, "acond {c} a{x} a{y}{}", if *tupled { " as a pair" } else { "" })
                }
                Step::Awhile { times, f: fun, x } => writeln!(f, "awhile {times} times {fun} a{x}"),
                Step::Exchange { times, f: fun, x, y } => writeln!(f, "exchange {times} times {fun} a{x} a{y}"),
                Step::Iterate { times, what, x } => writeln!(f, "{times} times {what:?} a{x}"),
            }?;
        }
        write!(f, "results {:?}", self.results)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
