//! Writes graphs of programs whose types are known at run time only.
//!
//! NOTE [Stand-ins]: the functions of the surface language are generic, and a random program has types that no list of instances
//! would have. So each function is called at fixed stand-in types, once per rank, in a little program of its own; the nodes that
//! it writes are then copied with the types of the random program. What is tested are the functions themselves. Scalar code
//! that the caller provides, such as the function that is mapped, stands in the little program as a read of an argument, a hole.

use super::types::{Elem, Number};
use accel::repr::op::{Op1, Op2};
use accel::repr::{RawTy, Scalar, ScalarType};
use accel::surface::graph::{Lam, Node, NodeId, Op, Staged};
use std::panic::Location;

/// The nodes of a program that is being written.
#[derive(Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
}

/// Writes what stands in a hole, given the parameters of the closures so far.
pub type Hole<'a> = &'a mut dyn FnMut(&mut Graph, &[NodeId]) -> NodeId;

/// The stand-ins: none of the surface's own functions uses these types.
pub type X = i8;
pub type Y = u16;
pub type W = u32;
const STAND_INS: [ScalarType; 3] = [ScalarType::I8, ScalarType::U16, ScalarType::U32];

impl Graph {
    #[track_caller]
    pub fn push(&mut self, name: &'static str, op: Op, ty: RawTy) -> NodeId {
        self.nodes.push(Node { op, ty, at: Location::caller(), name });
        NodeId(u32::try_from(self.nodes.len() - 1).expect("a small program"))
    }
    pub fn ty(&self, n: NodeId) -> RawTy {
        self.nodes[n.index()].ty.clone()
    }
    /// The type of the scalar that a node is.
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
        self.push("constant", Op::Const(leaves.iter().map(|x| x.0).collect()), elem.raw())
    }
    pub fn int(&mut self, x: i64) -> NodeId {
        self.constant(&Elem::I64, &[Number(Scalar::I64(x))])
    }
    pub fn op1(&mut self, op: Op1, a: NodeId) -> NodeId {
        let ty = op.result(self.scalar(a)).unwrap_or_else(|| panic!("{op} of {}", self.ty(a)));
        self.push(op.name(), Op::Prim1(op, a), RawTy::Scalar(ty))
    }
    pub fn op2(&mut self, op: Op2, a: NodeId, b: NodeId) -> NodeId {
        assert_eq!(self.ty(a), self.ty(b), "{op}");
        let ty = op.result(self.scalar(a)).unwrap_or_else(|| panic!("{op} of {}", self.ty(a)));
        self.push(op.name(), Op::Prim2(op, a, b), RawTy::Scalar(ty))
    }
    pub fn cond(&mut self, c: NodeId, a: NodeId, b: NodeId) -> NodeId {
        assert_eq!(self.ty(a), self.ty(b));
        let ty = self.ty(a);
        self.push("cond", Op::Cond(c, a, b), ty)
    }
    fn pair(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let ty = RawTy::pair(self.ty(a), self.ty(b));
        self.push("tuple", Op::Pair(a, b), ty)
    }
    /// A component of a pair of scalars or of arrays.
    fn component(&mut self, x: NodeId, first: bool) -> NodeId {
        if let Op::Pair(a, b) | Op::APair(a, b) = self.nodes[x.index()].op {
            return if first { a } else { b };
        }
        let RawTy::Pair(p) = self.ty(x) else { panic!("{} is no pair", self.ty(x)) };
        let arrays = is_arrays(&self.ty(x));
        let (op, ty) = match (arrays, first) {
            (false, true) => (Op::Fst(x), p.0.clone()),
            (false, false) => (Op::Snd(x), p.1.clone()),
            (true, true) => (Op::AFst(x), p.0.clone()),
            (true, false) => (Op::ASnd(x), p.1.clone()),
        };
        self.push("tuple", op, ty)
    }

    /// A tuple of scalar values; one is itself.
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
        let nil = self.push("shape", Op::Unit, RawTy::Unit);
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
        self.push("at", Op::Index(a, index), p.1.clone())
    }
    pub fn extents(&mut self, a: NodeId) -> Vec<NodeId> {
        let RawTy::Array(p) = self.ty(a) else { panic!("{} is no array", self.ty(a)) };
        let shape = self.push("shape", Op::Shape(a), p.0.clone());
        self.components(shape, p.0.width())
    }
    /// A tuple of arrays; one is itself.
    pub fn arrays(&mut self, parts: &[NodeId]) -> NodeId {
        let Some((first, rest)) = parts.split_first() else {
            return self.push("tuple", Op::AUnit, RawTy::Unit);
        };
        rest.iter().fold(*first, |t, a| {
            let ty = RawTy::pair(self.ty(t), self.ty(*a));
            self.push("tuple", Op::APair(t, *a), ty)
        })
    }

    /// Copies a little program: NOTE [Stand-ins]. Its arguments are `arrays` and the holes.
    pub fn splice(&mut self, staged: &Staged, elems: &[&Elem], arrays: &[NodeId], holes: &mut [Hole]) -> NodeId {
        enum Copied {
            Node(NodeId),
            /// The first so many arguments, as a tuple.
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
                Op::AFst(a) | Op::ASnd(a) if matches!(copies[a.index()], Copied::Arguments(_)) => {
                    let Copied::Arguments(n) = copies[a.index()] else { unreachable!("matched above") };
                    if matches!(node.op, Op::AFst(_)) { first(n - 1) } else { argument(n - 1) }
                }
                Op::Index(a, _) if matches!(copies[a.index()], Copied::Hole(_)) => {
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
                    let op = renamed(op, &get, elems);
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
            Some(k) => elems[k].raw(),
            None => ty.clone(),
        },
        RawTy::Unit => RawTy::Unit,
        RawTy::Pair(p) => RawTy::pair(retyped(&p.0, elems), retyped(&p.1, elems)),
        RawTy::Array(p) => RawTy::array(retyped(&p.0, elems), retyped(&p.1, elems)),
    }
}

/// A constant of a stand-in type, which is 0 or 1, as one of the type that it stands for.
fn converted(x: Scalar, elems: &[&Elem]) -> Scalar {
    match (x, elems.first()) {
        (Scalar::I8(x), Some(Elem::One(p))) => p.ty().from_f64(x.into()),
        (x, _) => x,
    }
}

/// An operation with other references and types.
fn renamed(op: &Op, get: &dyn Fn(NodeId) -> NodeId, elems: &[&Elem]) -> Op {
    let lam = |f: &Lam| Lam { params: f.params.iter().map(|p| get(*p)).collect(), body: get(f.body) };
    match op {
        Op::Const(xs) => Op::Const(xs.iter().map(|x| converted(*x, elems)).collect()),
        Op::Prim1(Op1::Cast(t), a) => {
            let RawTy::Scalar(t) = retyped(&RawTy::Scalar(*t), elems) else { panic!("a cast to a tuple") };
            Op::Prim1(Op1::Cast(t), get(*a))
        }
        Op::Param | Op::Unit | Op::AUnit | Op::Use(_) => op.clone(),
        Op::Pair(a, b) => Op::Pair(get(*a), get(*b)),
        Op::Fst(a) => Op::Fst(get(*a)),
        Op::Snd(a) => Op::Snd(get(*a)),
        Op::Prim1(f, a) => Op::Prim1(*f, get(*a)),
        Op::Prim2(f, a, b) => Op::Prim2(*f, get(*a), get(*b)),
        Op::Cond(c, a, b) => Op::Cond(get(*c), get(*a), get(*b)),
        Op::While { cond, body, init } => Op::While { cond: lam(cond), body: lam(body), init: get(*init) },
        Op::Index(a, i) => Op::Index(get(*a), get(*i)),
        Op::Shape(a) => Op::Shape(get(*a)),
        Op::Transform { transform, fun, arg } => {
            Op::Transform { transform: transform.clone(), fun: lam(fun), arg: get(*arg) }
        }
        Op::APair(a, b) => Op::APair(get(*a), get(*b)),
        Op::AFst(a) => Op::AFst(get(*a)),
        Op::ASnd(a) => Op::ASnd(get(*a)),
        Op::Generate(sh, f) => Op::Generate(get(*sh), lam(f)),
        Op::Map(f, a) => Op::Map(lam(f), get(*a)),
        Op::Agree { agreement, left, right, a } => {
            Op::Agree { agreement: *agreement, left: get(*left), right: get(*right), a: get(*a) }
        }
        Op::ZipWith(f, a, b) => Op::ZipWith(lam(f), get(*a), get(*b)),
        Op::Fold(f, z, a) => Op::Fold(lam(f), get(*z), get(*a)),
        Op::Fold1(f, a) => Op::Fold1(lam(f), get(*a)),
        Op::Scan { dir, f, z, a } => Op::Scan { dir: *dir, f: lam(f), z: get(*z), a: get(*a) },
        Op::Scan1 { dir, f, a } => Op::Scan1 { dir: *dir, f: lam(f), a: get(*a) },
        Op::Permute { comb, def, index, src } => {
            Op::Permute { comb: lam(comb), def: get(*def), index: lam(index), src: get(*src) }
        }
        Op::Backpermute(sh, f, a) => Op::Backpermute(get(*sh), lam(f), get(*a)),
        Op::Reshape(sh, a) => Op::Reshape(get(*sh), get(*a)),
        Op::Replicate { spec, slx, a } => Op::Replicate { spec: spec.clone(), slx: get(*slx), a: get(*a) },
        Op::Slice { spec, slx, a } => Op::Slice { spec: spec.clone(), slx: get(*slx), a: get(*a) },
        Op::Acond(c, a, b) => Op::Acond(get(*c), get(*a), get(*b)),
        Op::Call(p, a) => Op::Call(p.clone(), get(*a)),
        Op::Awhile { cond, body, init } => Op::Awhile { cond: lam(cond), body: lam(body), init: get(*init) },
    }
}
