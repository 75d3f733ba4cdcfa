//! Writes graphs of programs whose types are known at run time only.
//!
//! NOTE [Stand-ins]: the functions of the surface language are generic, and no list of instances would contain all
//! types of random programs. So each function is called at fixed stand-in types, once per rank, in a small program of
//! its own. Its nodes are then copied with the types of the random program. This tests the functions themselves. Scalar
//! code of the caller, such as the function that is mapped, is a hole: the small program reads an argument in its
//! place.

use super::types::{Elem, Number};
use accel::repr::op::{Num2, Op1, Op2};
use accel::repr::{RawTy, Scalar, ScalarType};
use accel::surface::graph::{ArrayOp, Lam, Node, NodeId, Op, ScalarOp, Staged};
use std::cell::{Cell, RefCell};
use std::panic::Location;

/// The nodes of the program under construction.
#[derive(Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
}

/// Writes the content of a hole, given the parameters of the closures so far.
pub type Hole<'a> = &'a mut dyn FnMut(&mut Graph, &[NodeId]) -> NodeId;

/// The stand-ins: no function of the surface language uses these types itself.
pub type X = i8;
pub type Y = u16;
pub type W = u32;
const STAND_INS: [ScalarType; 3] = [ScalarType::I8, ScalarType::U16, ScalarType::U32];

impl Graph {
    #[track_caller]
    pub fn push(&mut self, name: &'static str, op: impl Into<Op>, ty: RawTy) -> NodeId {
        self.nodes.push(Node { op: op.into(), ty, at: Location::caller(), name });
        NodeId(u32::try_from(self.nodes.len() - 1).expect("a small program"))
    }
    pub fn ty(&self, n: NodeId) -> RawTy {
        self.nodes[n.index()].ty.clone()
    }
    /// The type of a scalar node.
    pub fn scalar(&self, n: NodeId) -> ScalarType {
        match self.ty(n) {
            RawTy::Scalar(t) => t,
            other => panic!("{other} is no scalar"),
        }
    }
    pub fn param(&mut self, ty: RawTy) -> NodeId {
        self.push("program", Op::Param, ty)
    }

    pub fn constant(&mut self, elem: &Elem, leaves: &[Number]) -> NodeId {
        self.push("constant", ScalarOp::Const(leaves.iter().map(|x| x.0).collect()), elem.raw())
    }
    pub fn int(&mut self, x: i64) -> NodeId {
        self.constant(&Elem::I64, &[Number(Scalar::I64(x))])
    }
    /// The number of the next step, an array of rank 0.
    pub fn succ(&mut self, k: NodeId) -> NodeId {
        let step = &mut |g: &mut Graph, params: &[NodeId]| {
            let one = g.int(1);
            g.op2(Op2::Num(Num2::Add), params[params.len() - 1], one)
        };
        self.splice(&super::surface::map_(0), &[&Elem::I64, &Elem::I64], &[k], &mut [step])
    }
    pub fn op1(&mut self, op: Op1, a: NodeId) -> NodeId {
        let ty = op.result(self.scalar(a)).unwrap_or_else(|| panic!("{op} of {}", self.ty(a)));
        self.push(op.name(), ScalarOp::Prim1(op, a), RawTy::Scalar(ty))
    }
    pub fn op2(&mut self, op: Op2, a: NodeId, b: NodeId) -> NodeId {
        assert_eq!(self.ty(a), self.ty(b), "{op}");
        let ty = op.result(self.scalar(a)).unwrap_or_else(|| panic!("{op} of {}", self.ty(a)));
        self.push(op.name(), ScalarOp::Prim2(op, a, b), RawTy::Scalar(ty))
    }
    pub fn cond(&mut self, c: NodeId, a: NodeId, b: NodeId) -> NodeId {
        assert_eq!(self.ty(a), self.ty(b));
        let ty = self.ty(a);
        self.push("cond", ScalarOp::Cond(c, a, b), ty)
    }
    fn pair(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let ty = RawTy::pair(self.ty(a), self.ty(b));
        self.push("tuple", ScalarOp::Pair(a, b), ty)
    }
    /// A component of a pair of scalars or of arrays.
    fn component(&mut self, x: NodeId, first: bool) -> NodeId {
        if let Op::Scalar(ScalarOp::Pair(a, b)) | Op::Array(ArrayOp::Pair(a, b)) = self.nodes[x.index()].op {
            return if first { a } else { b };
        }
        let RawTy::Pair(p) = self.ty(x) else { panic!("{} is no pair", self.ty(x)) };
        let arrays = is_arrays(&self.ty(x));
        let (op, ty): (Op, RawTy) = match (arrays, first) {
            (false, true) => (ScalarOp::Fst(x).into(), p.0.clone()),
            (false, false) => (ScalarOp::Snd(x).into(), p.1.clone()),
            (true, true) => (ArrayOp::Fst(x).into(), p.0.clone()),
            (true, false) => (ArrayOp::Snd(x).into(), p.1.clone()),
        };
        self.push("tuple", op, ty)
    }

    /// The arrays of a tuple.
    pub fn leaves(&mut self, x: NodeId) -> Vec<NodeId> {
        match self.ty(x) {
            RawTy::Pair(_) => {
                let (a, b) = (self.component(x, true), self.component(x, false));
                [self.leaves(a), self.leaves(b)].concat()
            }
            RawTy::Array(_) => vec![x],
            _ => vec![],
        }
    }

    /// A tuple of scalar values; a single value is itself.
    pub fn tuple(&mut self, parts: &[NodeId]) -> NodeId {
        let (first, rest) = parts.split_first().expect("a part");
        rest.iter().fold(*first, |t, x| self.pair(t, *x))
    }
    /// A component of a tuple of `n` scalar values or arrays.
    pub fn part(&mut self, x: NodeId, i: usize, n: usize) -> NodeId {
        let outer = (i + 1..n).fold(x, |x, _| self.component(x, true));
        if i == 0 { outer } else { self.component(outer, false) }
    }
    /// A shape or index.
    pub fn shape(&mut self, parts: &[NodeId]) -> NodeId {
        let nil = self.push("shape", ScalarOp::Unit, RawTy::Unit);
        parts.iter().fold(nil, |sh, i| self.pair(sh, *i))
    }
    /// The components of a shape or index.
    pub fn components(&mut self, sh: NodeId, rank: usize) -> Vec<NodeId> {
        let mut rest = sh;
        let mut parts = vec![];
        for _ in 0..rank {
            parts.push(self.component(rest, false));
            rest = self.component(rest, true);
        }
        parts.reverse();
        parts
    }
    pub fn read(&mut self, a: NodeId, index: &[NodeId]) -> NodeId {
        let RawTy::Array(p) = self.ty(a) else { panic!("{} is no array", self.ty(a)) };
        let index = self.shape(index);
        self.push("at", ScalarOp::Index(a, index), p.1.clone())
    }
    pub fn extents(&mut self, a: NodeId) -> Vec<NodeId> {
        let RawTy::Array(p) = self.ty(a) else { panic!("{} is no array", self.ty(a)) };
        let shape = self.push("shape", ScalarOp::Shape(a), p.0.clone());
        self.components(shape, p.0.width())
    }
    /// A tuple of arrays; a single array is itself.
    pub fn arrays(&mut self, parts: &[NodeId]) -> NodeId {
        let Some((first, rest)) = parts.split_first() else {
            return self.push("tuple", ArrayOp::Unit, RawTy::Unit);
        };
        rest.iter().fold(*first, |t, a| {
            let ty = RawTy::pair(self.ty(t), self.ty(*a));
            self.push("tuple", ArrayOp::Pair(t, *a), ty)
        })
    }

    /// Copies a small program: NOTE [Stand-ins]. Its arguments are `arrays` and the holes.
    pub fn splice(&mut self, staged: &Staged, elems: &[&Elem], arrays: &[NodeId], holes: &mut [Hole]) -> NodeId {
        enum Copied {
            Node(NodeId),
            /// The first arguments, this many, as a tuple.
            Arguments(usize),
            Hole(usize),
        }
        let count = arrays.len() + holes.len();
        let argument = |i: usize| match arrays.get(i) {
            Some(a) => Copied::Node(*a),
            None => Copied::Hole(i - arrays.len()),
        };
        let first = |n: usize| if n == 1 { argument(0) } else { Copied::Arguments(n) };
        let mut copies: Vec<Copied> = vec![];
        let mut params = vec![];
        for (k, node) in staged.nodes.iter().enumerate() {
            let copy = match &node.op {
                Op::Param if k == staged.param.index() => first(count),
                Op::Array(ArrayOp::Fst(a) | ArrayOp::Snd(a)) if matches!(copies[a.index()], Copied::Arguments(_)) => {
                    let Copied::Arguments(n) = copies[a.index()] else { unreachable!("matched above") };
                    if matches!(node.op, Op::Array(ArrayOp::Fst(_))) { first(n - 1) } else { argument(n - 1) }
                }
                Op::Scalar(ScalarOp::Index(a, _)) if matches!(copies[a.index()], Copied::Hole(_)) => {
                    let Copied::Hole(h) = copies[a.index()] else { unreachable!("matched above") };
                    let filled = holes[h](self, &params);
                    assert_eq!(self.ty(filled), retyped(&node.ty, elems), "hole {h}");
                    Copied::Node(filled)
                }
                op => {
                    let get = |n: NodeId| match copies[n.index()] {
                        Copied::Node(n) => n,
                        _ => panic!("an argument of a little program is used as a whole"),
                    };
                    let op = renamed(
                        op,
                        &get,
                        &|f| Lam { params: f.params.iter().map(|p| get(*p)).collect(), body: get(f.body) },
                        elems,
                    );
                    let ty = retyped(&node.ty, elems);
                    self.nodes.push(Node { op, ty, at: node.at, name: node.name });
                    let n = NodeId(self.nodes.len() as u32 - 1);
                    if matches!(node.op, Op::Param) {
                        params.push(n);
                    }
                    Copied::Node(n)
                }
            };
            copies.push(copy);
        }
        match copies[staged.root.index()] {
            Copied::Node(n) => n,
            _ => panic!("the result of a little program is an argument"),
        }
    }
}

fn is_arrays(ty: &RawTy) -> bool {
    match ty {
        RawTy::Array(_) => true,
        RawTy::Pair(p) => is_arrays(&p.0) || is_arrays(&p.1),
        _ => false,
    }
}

/// A type with elements instead of stand-ins.
fn retyped(ty: &RawTy, elems: &[&Elem]) -> RawTy {
    match ty {
        RawTy::Scalar(s) => match STAND_INS.iter().position(|t| t == s) {
            Some(k) => elems.get(k).map_or_else(|| ty.clone(), |elem| elem.raw()),
            None => ty.clone(),
        },
        RawTy::Unit | RawTy::List(_) => ty.clone(),
        RawTy::Pair(p) => RawTy::pair(retyped(&p.0, elems), retyped(&p.1, elems)),
        RawTy::Array(p) => RawTy::array(retyped(&p.0, elems), retyped(&p.1, elems)),
    }
}

/// Converts a constant of a stand-in type, which is 0 or 1, to the type that it stands for.
fn converted(x: Scalar, elems: &[&Elem]) -> Scalar {
    match (x, elems.first()) {
        (Scalar::I8(x), Some(Elem::One(p))) => p.ty().from_f64(x.into()),
        (x, _) => x,
    }
}

/// An operation with other references and types.
fn renamed(op: &Op, get: &dyn Fn(NodeId) -> NodeId, lam: &dyn Fn(&Lam) -> Lam, elems: &[&Elem]) -> Op {
    match op {
        Op::Param => Op::Param,
        Op::Scalar(op) => Op::Scalar(renamed_scalar(op, get, lam, elems)),
        Op::Array(op) => Op::Array(renamed_array(op, get, lam)),
    }
}

fn renamed_scalar(
    op: &ScalarOp,
    get: &dyn Fn(NodeId) -> NodeId,
    lam: &dyn Fn(&Lam) -> Lam,
    elems: &[&Elem],
) -> ScalarOp {
    match op {
        ScalarOp::Const(xs) => ScalarOp::Const(xs.iter().map(|x| converted(*x, elems)).collect()),
        ScalarOp::Prim1(Op1::Cast(t), a) => {
            let RawTy::Scalar(t) = retyped(&RawTy::Scalar(*t), elems) else { panic!("a cast to a tuple") };
            ScalarOp::Prim1(Op1::Cast(t), get(*a))
        }
        ScalarOp::Pair(a, b) => ScalarOp::Pair(get(*a), get(*b)),
        ScalarOp::Fst(a) => ScalarOp::Fst(get(*a)),
        ScalarOp::Snd(a) => ScalarOp::Snd(get(*a)),
        ScalarOp::Prim1(f, a) => ScalarOp::Prim1(*f, get(*a)),
        ScalarOp::Prim2(f, a, b) => ScalarOp::Prim2(*f, get(*a), get(*b)),
        ScalarOp::Cond(c, a, b) => ScalarOp::Cond(get(*c), get(*a), get(*b)),
        ScalarOp::While { cond, body, init } => ScalarOp::While { cond: lam(cond), body: lam(body), init: get(*init) },
        ScalarOp::Index(a, i) => ScalarOp::Index(get(*a), get(*i)),
        ScalarOp::Shape(a) => ScalarOp::Shape(get(*a)),
        ScalarOp::Transform { transform, fun, arg } => {
            ScalarOp::Transform { transform: transform.clone(), fun: lam(fun), arg: get(*arg) }
        }
        ScalarOp::Custom { make, fun, rule, arg } => {
            ScalarOp::Custom { make: make.clone(), fun: lam(fun), rule: lam(rule), arg: get(*arg) }
        }
        ScalarOp::Unit => ScalarOp::Unit,
    }
}

fn renamed_array(op: &ArrayOp, get: &dyn Fn(NodeId) -> NodeId, lam: &dyn Fn(&Lam) -> Lam) -> ArrayOp {
    match op {
        ArrayOp::Use(_) | ArrayOp::Unit => op.clone(),
        ArrayOp::Pair(a, b) => ArrayOp::Pair(get(*a), get(*b)),
        ArrayOp::Fst(a) => ArrayOp::Fst(get(*a)),
        ArrayOp::Snd(a) => ArrayOp::Snd(get(*a)),
        ArrayOp::Generate(sh, f) => ArrayOp::Generate(get(*sh), lam(f)),
        ArrayOp::Map(f, a) => ArrayOp::Map(lam(f), get(*a)),
        ArrayOp::Agree { agreement, left, right, a } => {
            ArrayOp::Agree { agreement: *agreement, left: get(*left), right: get(*right), a: get(*a) }
        }
        ArrayOp::ZipWith(f, a, b) => ArrayOp::ZipWith(lam(f), get(*a), get(*b)),
        ArrayOp::Fold(f, z, a) => ArrayOp::Fold(lam(f), get(*z), get(*a)),
        ArrayOp::Fold1(f, a) => ArrayOp::Fold1(lam(f), get(*a)),
        ArrayOp::Scan { dir, f, z, a } => ArrayOp::Scan { dir: *dir, f: lam(f), z: get(*z), a: get(*a) },
        ArrayOp::Scan1 { dir, f, a } => ArrayOp::Scan1 { dir: *dir, f: lam(f), a: get(*a) },
        ArrayOp::Permute { comb, def, index, src } => {
            ArrayOp::Permute { comb: lam(comb), def: get(*def), index: lam(index), src: get(*src) }
        }
        ArrayOp::Backpermute(sh, f, a) => ArrayOp::Backpermute(get(*sh), lam(f), get(*a)),
        ArrayOp::Argsort(a) => ArrayOp::Argsort(get(*a)),
        ArrayOp::Foreign(call, shapes, a) => {
            ArrayOp::Foreign(call.clone(), shapes.iter().map(|sh| get(*sh)).collect(), get(*a))
        }
        ArrayOp::Reshape(sh, a) => ArrayOp::Reshape(get(*sh), get(*a)),
        ArrayOp::Replicate { spec, slx, a } => ArrayOp::Replicate { spec: spec.clone(), slx: get(*slx), a: get(*a) },
        ArrayOp::Slice { spec, slx, a } => ArrayOp::Slice { spec: spec.clone(), slx: get(*slx), a: get(*a) },
        ArrayOp::Cond(c, a, b) => ArrayOp::Cond(get(*c), get(*a), get(*b)),
        ArrayOp::Call(p, a) => ArrayOp::Call(p.clone(), get(*a)),
        ArrayOp::While { cond, body, init } => ArrayOp::While { cond: lam(cond), body: lam(body), init: get(*init) },
        ArrayOp::MapAccum { dir, n, step, init, xs } => {
            ArrayOp::MapAccum { dir: *dir, n: get(*n), step: lam(step), init: get(*init), xs: get(*xs) }
        }
    }
}

/// A program in which each term has one use, so nothing is shared; `None` if it would have more than `most` terms.
pub fn copied(staged: &Staged, most: usize) -> Option<Staged> {
    let copies = Copies {
        from: &staged.nodes,
        to: RefCell::default(),
        params: RefCell::new(vec![NodeId(0); staged.nodes.len()]),
        left: Cell::new(most),
    };
    let param = copies.bind(staged.param);
    let root = copies.node(staged.root);
    (copies.left.get() > 0).then(|| Staged { nodes: copies.to.into_inner().nodes, param, root, captured: vec![] })
}

struct Copies<'a> {
    from: &'a [Node],
    to: RefCell<Graph>,
    /// The latest copy of each parameter: that of the closure around the current place.
    params: RefCell<Vec<NodeId>>,
    /// How many nodes may follow.
    left: Cell<usize>,
}

impl Copies<'_> {
    fn push(&self, op: Op, like: &Node) -> NodeId {
        let mut to = self.to.borrow_mut();
        to.nodes.push(Node { op, ty: like.ty.clone(), at: like.at, name: like.name });
        NodeId(to.nodes.len() as u32 - 1)
    }
    fn bind(&self, param: NodeId) -> NodeId {
        let copy = self.push(Op::Param, &self.from[param.index()]);
        self.params.borrow_mut()[param.index()] = copy;
        copy
    }
    fn node(&self, n: NodeId) -> NodeId {
        let node = &self.from[n.index()];
        self.left.set(self.left.get().saturating_sub(1));
        match node.op {
            Op::Param => self.params.borrow()[n.index()],
            _ if self.left.get() == 0 => NodeId(0),
            _ => {
                let lam =
                    |f: &Lam| Lam { params: f.params.iter().map(|p| self.bind(*p)).collect(), body: self.node(f.body) };
                self.push(renamed(&node.op, &|n| self.node(n), &lam, &[]), node)
            }
        }
    }
}
