//! Lowering: the naive nest of an operation. Each element of the result has its own loops, around the loop over the elements
//! that it combines.

pub mod reduce;
pub mod side_by_side;
pub mod strip;

use super::ir::*;
use super::schedule::Names;
use accel_core::repr::op::{Num1, Num2, Op1, Op2};
use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{ArrayId, IndexVec, Instr, Monoid, Program, Reg, ScalarFn, index_vec, renamed, walk};
use std::collections::BTreeMap;

/// A naive nest, and the names of its loops: `i0`, `i1`, … for the index of the result (in a strip: without the position),
/// `l` for the lane of a strip, `k` for the element of a row.
pub struct Lowered {
    /// The nest.
    pub nest: Nest,
    /// The names of the loops.
    pub names: Names,
    /// The numbers in buffers that an element reads.
    pub reads: Vec<Place>,
    /// Whether an element is a product.
    pub is_product: bool,
    /// The places of its factors, if both are read.
    pub factors: Option<[Place; 2]>,
}

/// The element that a nest combines.
struct Element {
    reads: BTreeMap<Reg, Place>,
    value: Reg,
    times: Option<Reg>,
    factors: Option<[Place; 2]>,
}

/// The product that a scalar function computes last.
struct Product {
    factors: [Reg; 2],
    /// A third factor, which is a power of two or the negation of one.
    scale: i32,
    /// The number of instructions before the multiplication.
    before: usize,
}

/// The product that is the result of a scalar function, if it is one.
///
/// NOTE [Scaled products]: derivatives of squares add products to themselves, and negate them. A power of two is a factor that
/// is never rounded, so `-(a * b + a * b)` is `(-2 * a) * b`, which is added to a sum in a single operation. They differ only
/// where one of them is too large or too small for its type.
fn product(code: &ScalarFn) -> Option<Product> {
    let (mut result, mut scale) = (code.results[0], 1);
    for (before, i) in code.instrs.iter().enumerate().rev() {
        match i {
            Instr::Op2(to, Op2::Num(Num2::Mul), a, b) if *to == result => {
                return Some(Product { factors: [*a, *b], scale, before });
            }
            Instr::Op1(to, Op1::Num(Num1::Neg), a) if *to == result => (result, scale) = (*a, -scale),
            Instr::Op2(to, Op2::Num(Num2::Add), a, b) if *to == result && a == b && scale.abs() < 1 << 20 => {
                (result, scale) = (*a, 2 * scale);
            }
            _ => return None,
        }
    }
    None
}

/// The register that an instruction sets, if it is arithmetic on numbers that differ between lanes.
fn arithmetic(code: &ScalarFn, i: &Instr, varying: &IndexVec<Reg, bool>) -> Option<Reg> {
    let mut used = vec![];
    i.direct_uses(&mut used);
    (i.is_float_arithmetic(&code.types) && used.iter().any(|r| varying[*r])).then(|| i.sets()[0])
}

fn each(var: Reg, from: Affine, to: Affine, body: Vec<Node>) -> Node {
    Node::For(For { var, from, to, step: 1, whole: false, bind: Bind::Seq, body })
}

/// Loops over an index, from its last component to its first one, around a node.
fn nested(index: &[Reg], extents: &[Affine], body: Node) -> Node {
    let zero = Affine::constant(0);
    index.iter().zip(extents).rev().fold(body, |body, (r, n)| each(*r, zero.clone(), n.clone(), vec![body]))
}

/// Builds a naive nest whose numbers are of type `t`.
struct Builder<'a> {
    program: &'a Program,
    t: ScalarType,
    nest: Nest,
    names: Names,
    nodes: Vec<Node>,
    extents: BTreeMap<(ArrayId, usize), Affine>,
}

/// The place of a column of an element, if the nest reads it from a buffer. The index consists of sums.
type Reads<'r> = &'r dyn Fn(&mut Builder, &Instr, usize, &dyn Fn(Reg) -> Affine) -> Option<Place>;

impl<'a> Builder<'a> {
    fn new(program: &'a Program, t: ScalarType) -> Self {
        let extents = BTreeMap::new();
        Builder { program, t, nest: Nest::default(), names: Names::new(), nodes: vec![], extents }
    }

    fn variable(&mut self, name: &str) -> Reg {
        let r = self.nest.register(ScalarType::I64);
        self.names.insert(name.into(), r);
        r
    }

    fn param(&mut self, name: String, t: ScalarType) -> Reg {
        let register = self.nest.register(t);
        self.nest.params.push(Param { register, name, multiple: 1, least: None, most: None });
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
            Space::Array(a, c) | Space::Strip(a, c) | Space::Total(a, c) => self.program.arrays[a].columns[c],
            Space::Local | Space::Group => self.t,
        };
        self.nest.buffers.push(Buffer { ty, space, extents })
    }

    /// The neutral element of a monoid.
    fn neutral(&mut self, monoid: Monoid) -> Reg {
        let r = self.nest.register(self.t);
        self.nodes.push(Node::Let(Instr::Const(r, monoid.neutral(self.t))));
        r
    }

    /// The sum of a row of elements, with a register for its first value. The elements are at `k` below `length`.
    fn row(
        &mut self,
        k: Reg,
        length: Reg,
        to: Place,
        init: Option<String>,
        element: impl FnOnce(&mut Self) -> Element,
    ) -> (Vec<Node>, Element) {
        let value = match init {
            Some(name) => self.param(name, self.t),
            None => self.neutral(Monoid::Sum),
        };
        let mut nodes = self.take();
        nodes.push(Node::store(to.clone(), value));
        let (element, body) = self.summed(to, element);
        nodes.push(each(k, Affine::constant(0), length.into(), body));
        (nodes, element)
    }

    /// An element that is added to a number.
    fn summed(&mut self, to: Place, element: impl FnOnce(&mut Self) -> Element) -> (Element, Vec<Node>) {
        let e = element(self);
        let mut nodes = self.take();
        nodes.push(Node::Acc { to, monoid: Monoid::Sum, value: e.value, times: e.times });
        (e, nodes)
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

    /// The nodes of an element for these arguments. Of a product, `is_first` chooses the first factor.
    fn element(&mut self, code: &ScalarFn, args: &[Reg], is_first: impl Fn(Reg) -> bool, read: Reads) -> Element {
        let product = product(code);
        let last = product.as_ref().map_or(code.instrs.len(), |p| p.before);
        let (own, reads) = self.instrs(code, &code.instrs[..last], args, read);
        match product {
            None => Element { reads, value: own[code.results[0]], times: None, factors: None },
            Some(Product { factors: [a, b], scale, .. }) => {
                let factors = reads.get(&a).cloned().zip(reads.get(&b).cloned()).map(|(a, b)| [a, b]);
                let [a, b] = if is_first(a) { [own[a], own[b]] } else { [own[b], own[a]] };
                if scale == 1 {
                    return Element { reads, value: a, times: Some(b), factors };
                }
                let [factor, scaled] = [(); 2].map(|()| self.nest.register(self.t));
                self.nodes.push(Node::Let(Instr::Const(factor, self.t.from_f64(scale.into()))));
                self.nodes.push(Node::Let(Instr::Op2(scaled, Op2::Num(Num2::Mul), b, factor)));
                Element { reads, value: a, times: Some(scaled), factors: None }
            }
        }
    }

    /// The nodes of these instructions of a scalar function. Returns what stands for its registers, and what is read from buffers.
    fn instrs(
        &mut self,
        code: &ScalarFn,
        instrs: &[Instr],
        args: &[Reg],
        read: Reads,
    ) -> (IndexVec<Reg, Reg>, BTreeMap<Reg, Place>) {
        let mut own: IndexVec<Reg, Reg> = index_vec![Reg::NONE; code.types.len()];
        code.param_regs().zip(args).for_each(|(r, arg)| own[r] = *arg);
        let mut sums: IndexVec<Reg, Option<Affine>> = index_vec![None; code.types.len()];
        let mut reads = BTreeMap::new();
        for i in instrs {
            let sum = |r: Reg| sums[r].clone().unwrap_or_else(|| own[r].into());
            if let Instr::Read { to, .. } = i {
                let places: Option<Vec<Place>> = (0..to.len()).map(|c| read(self, i, c, &sum)).collect();
                if let Some(places) = places {
                    for (r, from) in to.iter().zip(places) {
                        own[*r] = self.nest.register(code.types[*r]);
                        self.nodes.push(Node::Load { to: own[*r], from: from.clone() });
                        reads.insert(*r, from);
                    }
                    continue;
                }
            }
            let value = value(i, &sum);
            for r in walk(std::slice::from_ref(i)).flat_map(|i| i.sets().to_vec()) {
                own[r] = self.nest.register(code.types[r]);
            }
            self.nodes.push(Node::Let(renamed(i, &|r| own[*r])));
            if let (Some(value), [r]) = (value, &i.sets()[..]) {
                sums[*r] = Some(value);
            }
        }
        (own, reads)
    }

    /// A column of an array in memory.
    fn in_memory(&mut self, (a, c): (ArrayId, usize)) -> BufferId {
        let rank = self.program.arrays[a].rank;
        self.column(Space::Array, (a, c), |b| (0..rank).map(|d| b.extent(a, d)).collect())
    }

    /// A column of an array, in memory or in the working memory of a strip, whose elements have these extents.
    fn column(
        &mut self,
        space: fn(ArrayId, usize) -> Space,
        (a, c): (ArrayId, usize),
        extents: impl FnOnce(&mut Self) -> Vec<Affine>,
    ) -> BufferId {
        let space = space(a, c);
        if let Some((b, _)) = self.nest.buffers.iter_enumerated().find(|(_, b)| b.space == space) {
            return b;
        }
        let extents = extents(self);
        self.buffer(space, extents)
    }
}

/// The value of an instruction as a sum of multiples of registers.
fn value(i: &Instr, sum: &dyn Fn(Reg) -> Affine) -> Option<Affine> {
    match i {
        Instr::Const(_, Scalar::I64(x)) => Some(Affine::constant(*x)),
        Instr::Op2(_, Op2::Num(op), a, b) => {
            let (a, b) = (sum(*a), sum(*b));
            match op {
                Num2::Add => a.plus(&b, 1),
                Num2::Sub => a.plus(&b, -1),
                Num2::Mul => match (a.as_constant(), b.as_constant()) {
                    (Some(k), _) => Affine::default().plus(&b, k),
                    (_, Some(k)) => Affine::default().plus(&a, k),
                    _ => None,
                },
                _ => None,
            }
        }
        _ => None,
    }
}
