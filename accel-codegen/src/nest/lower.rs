//! Lowering: the naive nest of a sum in a strip. Each element of the result has its own loops, around the loop over the
//! elements that it sums.

use super::ir::*;
use super::schedule::Names;
use accel_core::repr::ScalarType;
use accel_core::repr::op::{Num1, Num2, Op1, Op2};
use accel_fusion::kernel::{ArrayId, IndexVec, Instr, Monoid, Program, Reduction, Reg, ScalarFn, index_vec};
use std::collections::{BTreeMap, BTreeSet};

/// A naive nest, and the names of its loops: `i0`, `i1`, … for the index of the result (of a row: without the position),
/// `l` for the lane, `k` for the element of a row.
pub struct Lowered {
    /// The nest.
    pub nest: Nest,
    /// The names of the loops.
    pub names: Names,
    /// The numbers of the strip that an element reads.
    pub reads: Vec<Place>,
    /// Whether an element is a product.
    pub is_product: bool,
    /// The places of its factors, if both are numbers of the strip.
    pub factors: Option<[Place; 2]>,
}

/// The element that a nest sums.
struct Element {
    reads: BTreeMap<Reg, Place>,
    value: Reg,
    times: Option<Reg>,
    factors: Option<[Place; 2]>,
}

/// The sums of the rows of all lanes, for a result in the strip's working memory.
pub fn row_sums(s: &StripSum) -> Lowered {
    let rank = s.rank();
    let mut b = Builder::new(s);
    let inner: Vec<Reg> = (1..rank).map(|d| b.variable(&format!("i{d}"))).collect();
    let (l, k) = (b.variable("l"), b.variable("k"));
    let extents = (1..rank).map(|d| b.extent(s.to, d)).collect::<Vec<_>>();
    let length = b.param(format!("m{}", s.to), ScalarType::I64);
    let to = Place {
        buffer: b.buffer(Space::Strip(s.to, 0), [&extents[..], &[Affine::constant(s.lanes)]].concat()),
        index: inner.iter().chain([&l]).map(|r| Affine::from(*r)).collect(),
    };
    let first = match s.rows.init {
        Some(_) => b.param(format!("z{}_0", s.to), s.t),
        None => b.constant(),
    };
    let start = b.take();
    let args = [&[l], &inner[..], &[k]].concat();
    let e = b.element(&args);
    let mut element = b.take();
    element.push(Node::Acc { to: to.clone(), monoid: Monoid::Sum, value: e.value, times: e.times });
    let row = each(k, length.into(), element);
    let body = [start, vec![Node::Store { to, value: first }, row]].concat();
    let lanes = each(l, Affine::constant(s.lanes), body);
    let body = inner.iter().zip(extents).rev().fold(lanes, |body, (r, n)| each(*r, n, vec![body]));
    b.lowered(body, e)
}

/// The sums of the elements of the first `full` lanes, added to the task's partial total. `full` is a multiple of
/// `vector`.
pub fn totals(s: &StripSum, vector: i64) -> Lowered {
    let rank = s.rank();
    let mut b = Builder::new(s);
    let index: Vec<Reg> = (0..rank).map(|d| b.variable(&format!("i{d}"))).collect();
    let l = b.variable("l");
    let extents = (0..rank).map(|d| b.extent(s.to, d)).collect::<Vec<_>>();
    let full = b.param("full".into(), ScalarType::I64);
    if let Some(p) = b.nest.params.last_mut() {
        (p.multiple, p.most) = (vector, Some(s.lanes));
    }
    let to = Place {
        buffer: b.buffer(Space::Total(s.to, 0), extents.clone()),
        index: index.iter().map(|r| Affine::from(*r)).collect(),
    };
    let args = [&index[..], &[l]].concat();
    let e = b.element(&args);
    let mut element = b.take();
    element.push(Node::Acc { to, monoid: Monoid::Sum, value: e.value, times: e.times });
    let lanes = each(l, full.into(), element);
    let body = index.iter().zip(extents).rev().fold(lanes, |body, (r, n)| each(*r, n, vec![body]));
    b.lowered(body, e)
}

/// A sum of floating-point numbers in a strip.
pub struct StripSum<'a> {
    /// The program.
    pub program: &'a Program,
    /// The result.
    pub to: ArrayId,
    /// What is summed.
    pub rows: &'a Reduction,
    /// The type of the numbers.
    pub t: ScalarType,
    /// The number of lanes.
    pub lanes: i64,
    /// The parameter of the element with the position.
    pub position: Reg,
    /// The arrays in the strip's working memory.
    pub held: &'a BTreeSet<ArrayId>,
    /// For each register of the element, whether it differs between lanes.
    pub varying: IndexVec<Reg, bool>,
}

impl<'a> StripSum<'a> {
    /// The sum, if its elements consist of floating-point arithmetic on arrays in the strip's working memory and on values
    /// that are the same for all lanes.
    pub fn new(
        program: &'a Program,
        to: ArrayId,
        rows: &'a Reduction,
        position: Reg,
        held: &'a BTreeSet<ArrayId>,
        lanes: usize,
    ) -> Option<StripSum<'a>> {
        let types = &program.arrays[to].columns[..];
        let (Some(Monoid::Sum), [t @ (ScalarType::F32 | ScalarType::F64)]) = (rows.monoid, types) else { return None };
        let code = &rows.element;
        let mut varying = index_vec![false; code.types.len()];
        if !code.is_branch_free() {
            return None;
        }
        let depends = |varying: &IndexVec<Reg, bool>, r: Reg| varying[r] || r == position;
        for i in &code.instrs {
            match i {
                Instr::Read { to, array, index, .. } if index.first() == Some(&position) => {
                    if !held.contains(array) || index[1..].iter().any(|r| depends(&varying, *r)) {
                        return None;
                    }
                    to.iter().for_each(|r| varying[*r] = true);
                }
                Instr::Op1(to, Op1::Num(Num1::Neg), a) if varying[*a] && code.types[*a] == *t => varying[*to] = true,
                Instr::Op2(to, Op2::Num(Num2::Add | Num2::Sub | Num2::Mul | Num2::Div), a, b)
                    if (varying[*a] || varying[*b]) && code.types[*a] == *t =>
                {
                    varying[*to] = true
                }
                i => {
                    let mut used = vec![];
                    i.direct_uses(&mut used);
                    if used.iter().any(|r| depends(&varying, *r)) {
                        return None;
                    }
                }
            }
        }
        let lanes = lanes as i64;
        varying[code.results[0]].then_some(StripSum { program, to, rows, t: *t, lanes, position, held, varying })
    }

    /// The rank of the result.
    pub fn rank(&self) -> usize {
        self.program.arrays[self.to].rank
    }

    /// The registers that are multiplied, if the element is a product.
    pub fn factors(&self) -> Option<[Reg; 2]> {
        match self.rows.element.instrs.last() {
            Some(Instr::Op2(to, Op2::Num(Num2::Mul), a, b)) if *to == self.rows.element.results[0] => Some([*a, *b]),
            _ => None,
        }
    }
}

fn each(var: Reg, to: Affine, body: Vec<Node>) -> Node {
    Node::For(For { var, from: Affine::constant(0), to, step: 1, whole: false, bind: Bind::Seq, body })
}

struct Builder<'a> {
    sum: &'a StripSum<'a>,
    nest: Nest,
    names: Names,
    nodes: Vec<Node>,
    extents: BTreeMap<(ArrayId, usize), Affine>,
    buffers: BTreeMap<(ArrayId, usize), BufferId>,
}

impl<'a> Builder<'a> {
    fn new(sum: &'a StripSum<'a>) -> Self {
        let (extents, buffers) = (BTreeMap::new(), BTreeMap::new());
        Builder { sum, nest: Nest::default(), names: Names::new(), nodes: vec![], extents, buffers }
    }

    fn variable(&mut self, name: &str) -> Reg {
        let r = self.nest.register(ScalarType::I64);
        self.names.insert(name.into(), r);
        r
    }

    fn param(&mut self, name: String, t: ScalarType) -> Reg {
        let register = self.nest.register(t);
        self.nest.params.push(Param { register, name, multiple: 1, most: None });
        register
    }

    fn extent(&mut self, a: ArrayId, dim: usize) -> Affine {
        if let Some(e) = self.extents.get(&(a, dim)) {
            return e.clone();
        }
        let e = Affine::from(self.param(format!("a{a}_n{dim}"), ScalarType::I64));
        self.extents.insert((a, dim), e.clone());
        e
    }

    fn buffer(&mut self, space: Space, extents: Vec<Affine>) -> BufferId {
        let ty = match space {
            Space::Array(a, c) | Space::Strip(a, c) | Space::Total(a, c) => self.sum.program.arrays[a].columns[c],
            Space::Local => self.sum.t,
        };
        self.nest.buffers.push(Buffer { ty, space, extents })
    }

    /// The neutral element.
    fn constant(&mut self) -> Reg {
        let r = self.nest.register(self.sum.t);
        self.nodes.push(Node::Let(Instr::Const(r, Monoid::Sum.neutral(self.sum.t))));
        r
    }

    fn take(&mut self) -> Vec<Node> {
        std::mem::take(&mut self.nodes)
    }

    /// The nest with this body.
    fn lowered(mut self, body: Node, e: Element) -> Lowered {
        self.nest.body = vec![body];
        let reads = e.reads.into_values().collect();
        Lowered { nest: self.nest, names: self.names, reads, is_product: e.times.is_some(), factors: e.factors }
    }

    /// The nodes of an element for these arguments.
    fn element(&mut self, args: &[Reg]) -> Element {
        let code: &ScalarFn = &self.sum.rows.element;
        let factors = self.sum.factors();
        let mut own: IndexVec<Reg, Reg> = index_vec![Reg::NONE; code.types.len()];
        code.param_regs().zip(args).for_each(|(r, arg)| own[r] = *arg);
        let mut reads = BTreeMap::new();
        let last = code.instrs.len() - factors.is_some() as usize;
        for i in &code.instrs[..last] {
            match i {
                Instr::Read { to, array, index, .. } if index.first() == Some(&self.sum.position) => {
                    let index: Vec<Affine> = index[1..].iter().chain(&index[..1]).map(|r| own[*r].into()).collect();
                    for (c, r) in to.iter().enumerate() {
                        let from = Place { buffer: self.held(*array, c), index: index.clone() };
                        own[*r] = self.nest.register(code.types[*r]);
                        self.nodes.push(Node::Load { to: own[*r], from: from.clone() });
                        reads.insert(*r, from);
                    }
                }
                i => {
                    for r in i.sets() {
                        own[r] = self.nest.register(code.types[r]);
                    }
                    self.nodes.push(Node::Let(accel_fusion::kernel::renamed(i, &|r| own[*r])));
                }
            }
        }
        match factors {
            None => Element { reads, value: own[code.results[0]], times: None, factors: None },
            Some([a, b]) => {
                let factors = reads.get(&a).cloned().zip(reads.get(&b).cloned()).map(|(a, b)| [a, b]);
                // The first one is a vector.
                let [a, b] = if self.sum.varying[a] { [a, b] } else { [b, a] };
                Element { reads, value: own[a], times: Some(own[b]), factors }
            }
        }
    }

    /// A column of an array in the strip's working memory.
    fn held(&mut self, a: ArrayId, c: usize) -> BufferId {
        if let Some(b) = self.buffers.get(&(a, c)) {
            return *b;
        }
        let rank = self.sum.program.arrays[a].rank;
        let mut extents: Vec<Affine> = (1..rank).map(|d| self.extent(a, d)).collect();
        extents.push(Affine::constant(self.sum.lanes));
        let b = self.buffer(Space::Strip(a, c), extents);
        self.buffers.insert((a, c), b);
        b
    }
}
