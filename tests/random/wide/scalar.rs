//! Writes the scalar functions of a random program.

use super::graph::Graph;
use super::ops;
use super::program::*;
use super::types::{Elem, Number, Prim, Ty};
use accel::repr::RawTy;
use accel::repr::op::{Cmp, FloatTest, Int2, Logic, Num1, Num2, Op1, Op2};
use accel::surface::graph::{Lam, NodeId, ScalarOp};
use accel_ad::Gradient;
use std::sync::Arc;

/// NOTE [Permitted differences]: backends combine the elements of a reduction, a scan or a scatter in another order
/// than the interpreter, and compute functions such as `sin` to a few units in the last place. To find out how much
/// this can change the results of a program, the interpreter runs it with such changes: the results of these functions,
/// and the combined elements, are multiplied by numbers near 1. Results that depend on none of them must be equal bit
/// by bit. Sums of products may be factored (NOTE [Sum interchange]): an infinite factor then meets the sum of numbers
/// of which some are 0, or of both signs, and the result is infinite instead of NaN. Where products are summed, subnormal numbers count
/// as zero (NOTE [Subnormal factors]).
#[derive(Clone, Copy, Debug)]
pub enum Perturb {
    Up,
    Down,
    /// Some up and some down, in one of several patterns.
    Mixed(i64),
    /// As `Up`, and rows are folded from their last element: partial results that overflow turn others into infinities
    /// and NaN.
    Backwards,
    /// Nothing changes but subnormal summands, and factors of summands, which are zero.
    Flushed,
    /// As `Up`, and summands that are not finite are infinite.
    Factored,
}

impl Perturb {
    pub const ALL: [Perturb; 7] = [
        Perturb::Up,
        Perturb::Down,
        Perturb::Mixed(1),
        Perturb::Mixed(3),
        Perturb::Mixed(4),
        Perturb::Backwards,
        Perturb::Flushed,
    ];

    /// A relative difference of some units in the last place.
    fn step(self, p: Prim) -> f64 {
        let ulps = 4.0;
        let unit = if p == Prim::F32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
        let sign = match self {
            Perturb::Down | Perturb::Mixed(1) => -1.0,
            Perturb::Flushed => 0.0,
            _ => 1.0,
        };
        sign * ulps * unit
    }

    /// Whether the result of a function changes in the other direction: with one direction for all, `sin(2 * normal_cdf(x))` was the
    /// same, as the changes cancelled each other.
    fn turns(self, x: NodeId) -> bool {
        matches!(self, Perturb::Mixed(k @ 2..32) if x.0.wrapping_mul(0x9E37_79B9) >> (32 - k) & 1 == 1)
    }

    /// A value with all its floats changed.
    fn value(self, g: &mut Graph, elem: &Elem, x: NodeId) -> NodeId {
        leaf_by_leaf(g, elem, x, &mut |g, p, x| {
            if !p.is_float() {
                return x;
            }
            let step = if self.turns(x) { -self.step(p) } else { self.step(p) };
            let near = Number(p.ty().from_f64(1.0 + step));
            let near = g.constant(&Elem::One(p), &[near]);
            g.op2(Op2::Num(Num2::Mul), x, near)
        })
    }

    /// An element at an index of an array, `n` of which are combined.
    pub fn element(self, g: &mut Graph, elem: &Elem, x: NodeId, index: &[NodeId], n: Option<NodeId>) -> NodeId {
        let (four, n) = (g.int(4), n.unwrap_or_else(|| g.int(1)));
        let n = g.op2(Op2::Num(Num2::Add), n, four);
        let up = match (self, index) {
            (Perturb::Mixed(k), [.., i]) => {
                let (k, one, zero) = (g.int(k), g.int(1), g.int(0));
                let bit = g.op2(Op2::Int(Int2::Shr), *i, k);
                let bit = g.op2(Op2::Int(Int2::And), bit, one);
                Some(g.op2(Op2::Cmp(Cmp::Eq), bit, zero))
            }
            _ => None,
        };
        leaf_by_leaf(g, elem, x, &mut |g, p, x| {
            if !p.is_float() {
                return x;
            }
            let one_type = Elem::One(p);
            let step = g.constant(&one_type, &[Number(p.ty().from_f64(self.step(p) / 4.0))]);
            let n = g.op1(Op1::Cast(p.ty()), n);
            let step = g.op2(Op2::Num(Num2::Mul), step, n);
            let step = match up {
                Some(up) => {
                    let down = g.op1(Op1::Num(Num1::Neg), step);
                    g.cond(up, step, down)
                }
                None => step,
            };
            let one = g.constant(&one_type, &[Number(p.ty().one())]);
            let factor = g.op2(Op2::Num(Num2::Add), one, step);
            let near = g.op2(Op2::Num(Num2::Mul), x, factor);
            let number = |g: &mut Graph, x: f64| g.constant(&one_type, &[Number(p.ty().from_f64(x))]);
            match self {
                Perturb::Flushed => {
                    let least = if p == Prim::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
                    let (least, zero, size) = (number(g, least), number(g, 0.0), g.op1(Op1::Num(Num1::Abs), x));
                    let is_subnormal = g.op2(Op2::Cmp(Cmp::Lt), size, least);
                    g.cond(is_subnormal, zero, near)
                }
                Perturb::Factored => {
                    let infinite = number(g, f64::INFINITY);
                    let is_finite = g.op1(Op1::Test(FloatTest::IsFinite), x);
                    g.cond(is_finite, near, infinite)
                }
                _ => near,
            }
        })
    }
}

/// Applies `f` to each scalar of a value.
fn leaf_by_leaf(
    g: &mut Graph,
    elem: &Elem,
    x: NodeId,
    f: &mut dyn FnMut(&mut Graph, Prim, NodeId) -> NodeId,
) -> NodeId {
    match elem {
        Elem::One(p) => f(g, *p, x),
        Elem::Tuple(parts) => {
            let new: Vec<_> = (0..parts.len())
                .map(|i| {
                    let part = g.part(x, i, parts.len());
                    leaf_by_leaf(g, &parts[i], part, f)
                })
                .collect();
            g.tuple(&new)
        }
    }
}

/// Whether the order in which floats are combined makes a difference.
pub fn is_inexact(op: &Operator, elem: &Elem) -> bool {
    match op {
        Operator::Each(ops) => ops
            .iter()
            .zip(elem.leaves())
            .any(|(op, p)| p.is_float() && matches!(op, Basic::Add | Basic::Mul | Basic::General)),
        Operator::Affine => elem.leaves()[0].is_float(),
        Operator::First | Operator::Second | Operator::ArgMax => false,
    }
}

/// The scalar functions of an operation.
pub struct Scalars<'a> {
    pub arrays: &'a [(NodeId, Ty)],
    pub perturb: Option<Perturb>,
}

impl Scalars<'_> {
    /// The results of a function of some values, given the values around it.
    pub fn fun(&self, g: &mut Graph, f: &Fun, params: &[NodeId], outer: &[(NodeId, Elem)]) -> Vec<NodeId> {
        assert_eq!(params.len(), f.params.len(), "{f:?}");
        let mut values = outer.to_vec();
        values.extend(params.iter().copied().zip(f.params.iter().cloned()));
        for (elem, node) in &f.nodes {
            let x = self.node(g, elem, node, &values);
            assert_eq!(g.ty(x), elem.raw(), "{node:?}");
            values.push((x, elem.clone()));
        }
        f.results.iter().map(|v| values[*v].0).collect()
    }

    fn node(&self, g: &mut Graph, elem: &Elem, node: &Node, values: &[(NodeId, Elem)]) -> NodeId {
        let get = |v: &Val| values[*v].0;
        let changed = |g: &mut Graph, x: NodeId, inexact: bool| match self.perturb {
            Some(perturb) if inexact => perturb.value(g, elem, x),
            _ => x,
        };
        match node {
            Node::Const(leaves) => g.constant(elem, leaves),
            Node::Op1(op, a) => {
                let x = g.op1(*op, get(a));
                changed(g, x, ops::is_inexact(*op))
            }
            Node::Op2(op, a, b) => {
                let x = g.op2(*op, get(a), get(b));
                changed(g, x, matches!(op, Op2::Float(_)))
            }
            Node::Clamp(x, low, high) => {
                let x = g.op2(Op2::Num(Num2::Max), get(x), get(low));
                g.op2(Op2::Num(Num2::Min), x, get(high))
            }
            Node::Powi(x, n) => powi(g, get(x), *n),
            Node::Cond(c, a, b) => g.cond(get(c), get(a), get(b)),
            Node::Tuple(parts) => g.tuple(&parts.iter().map(get).collect::<Vec<_>>()),
            Node::Part(x, i) => {
                let Elem::Tuple(parts) = &values[*x].1 else { panic!("a part of a scalar") };
                g.part(get(x), *i, parts.len())
            }
            Node::Read { array, index, outside } => {
                let (a, index) = (self.arrays[*array].0, index.iter().map(get).collect::<Vec<_>>());
                let (allowed, index) = self.checked(g, *outside, &index, a);
                let x = g.read(a, &index);
                match allowed {
                    None => x,
                    Some(c) => {
                        let zero = g.constant(elem, &elem.zero());
                        g.cond(c, x, zero)
                    }
                }
            }
            Node::Extent { array, dim } => g.extents(self.arrays[*array].0)[*dim],
            Node::Size(array) => {
                let extents = g.extents(self.arrays[*array].0);
                let one = g.int(1);
                extents.into_iter().reduce(|n, m| g.op2(Op2::Num(Num2::Mul), n, m)).unwrap_or(one)
            }
            Node::While { times, init, continues, body } => {
                self.repeated(g, get(times), get(init), [continues, body], values)
            }
            Node::Gradient { f, at, with_value } => {
                let param = g.param(values[*at].1.raw());
                let body = self.fun(g, f, &[param], values)[0];
                let fun = Lam { params: vec![param], body };
                let (transform, name) = (
                    Arc::new(Gradient { with_value: *with_value }),
                    if *with_value { "value_and_gradient" } else { "gradient" },
                );
                let x = g.push(name, ScalarOp::Transform { transform, fun, arg: get(at) }, elem.raw());
                changed(g, x, true)
            }
        }
    }

    fn repeated(
        &self,
        g: &mut Graph,
        times: NodeId,
        init: NodeId,
        [continues, body]: [&Fun; 2],
        values: &[(NodeId, Elem)],
    ) -> NodeId {
        let (zero, one, most) = (g.int(0), g.int(1), g.int(MOST_STEPS));
        let times = g.op2(Op2::Num(Num2::Min), times, most);
        let init = g.tuple(&[zero, init]);
        let ty: RawTy = g.ty(init);
        let open = |g: &mut Graph| {
            let p = g.param(ty.clone());
            (p, g.part(p, 0, 2), g.part(p, 1, 2))
        };
        let (p, k, x) = open(g);
        let more = g.op2(Op2::Cmp(Cmp::Lt), k, times);
        let wanted = self.fun(g, continues, &[k, x], values)[0];
        let c = g.op2(Op2::Logic(Logic::And), more, wanted);
        let cond = Lam { params: vec![p], body: c };
        let (p, k, x) = open(g);
        let x = self.fun(g, body, &[k, x], values)[0];
        let k = g.op2(Op2::Num(Num2::Add), k, one);
        let next = g.tuple(&[k, x]);
        let body = Lam { params: vec![p], body: next };
        let end = g.push("while_", ScalarOp::While { cond, body, init }, ty);
        g.part(end, 1, 2)
    }

    /// Whether an array has an element; `None` for rank 0.
    pub fn not_empty(&self, g: &mut Graph, a: NodeId) -> Option<NodeId> {
        let zero = g.int(0);
        let some: Vec<_> = g.extents(a).into_iter().map(|n| g.op2(Op2::Cmp(Cmp::Ne), n, zero)).collect();
        some.into_iter().reduce(|a, b| g.op2(Op2::Logic(Logic::And), a, b))
    }

    /// The condition under which an element is accessed, if there is one, and its index.
    pub fn checked(
        &self,
        g: &mut Graph,
        outside: Outside,
        index: &[NodeId],
        a: NodeId,
    ) -> (Option<NodeId>, Vec<NodeId>) {
        let extents = g.extents(a);
        match outside {
            Outside::Fails => (None, index.to_vec()),
            Outside::Wraps => {
                let one = g.int(1);
                let wrapped = index.iter().zip(&extents).map(|(i, n)| {
                    let n = g.op2(Op2::Num(Num2::Max), *n, one);
                    g.op2(Op2::Int(Int2::RemEuclid), *i, n)
                });
                let wrapped = wrapped.collect();
                (self.not_empty(g, a), wrapped)
            }
            Outside::Skips => {
                let zero = g.int(0);
                let inside: Vec<_> = index
                    .iter()
                    .zip(&extents)
                    .map(|(i, n)| {
                        let (low, high) = (g.op2(Op2::Cmp(Cmp::Ge), *i, zero), g.op2(Op2::Cmp(Cmp::Lt), *i, *n));
                        g.op2(Op2::Logic(Logic::And), low, high)
                    })
                    .collect();
                (inside.into_iter().reduce(|a, b| g.op2(Op2::Logic(Logic::And), a, b)), index.to_vec())
            }
        }
    }

    /// Two elements combined.
    pub fn operator(&self, g: &mut Graph, op: &Operator, elem: &Elem, a: NodeId, b: NodeId) -> NodeId {
        match op {
            Operator::First => a,
            Operator::Second => b,
            Operator::Each(ops) => {
                let (mut ops, mut right) = (ops.iter(), vec![]);
                leaf_by_leaf(g, elem, b, &mut |_, _, x| {
                    right.push(x);
                    x
                });
                let mut right = right.into_iter();
                leaf_by_leaf(g, elem, a, &mut |g, _, x| {
                    let (op, y) =
                        (ops.next().expect("an operator for each scalar"), right.next().expect("as many scalars"));
                    basic(g, *op, x, y)
                })
            }
            Operator::ArgMax => {
                let mut first = |x: NodeId| {
                    let mut leaf = None;
                    leaf_by_leaf(g, elem, x, &mut |_, _, y| {
                        leaf.get_or_insert(y);
                        y
                    });
                    leaf.expect("a scalar")
                };
                let (x, y) = (first(a), first(b));
                let mut larger = g.op2(Op2::Cmp(Cmp::Lt), x, y);
                if elem.leaves()[0].is_float() {
                    let nan = g.op2(Op2::Cmp(Cmp::Ne), y, y);
                    larger = g.op2(Op2::Logic(Logic::Or), larger, nan);
                }
                g.cond(larger, b, a)
            }
            Operator::Affine => {
                let [(a0, a1), (b0, b1)] = [a, b].map(|x| (g.part(x, 0, 2), g.part(x, 1, 2)));
                let (mul, add) = (Op2::Num(Num2::Mul), Op2::Num(Num2::Add));
                let factor = g.op2(mul, a0, b0);
                let shifted = g.op2(mul, b0, a1);
                let shifted = g.op2(add, shifted, b1);
                g.tuple(&[factor, shifted])
            }
        }
    }
}

fn basic(g: &mut Graph, op: Basic, a: NodeId, b: NodeId) -> NodeId {
    let boolean = g.ty(a) == Elem::BOOL.raw();
    let bits = |int: Int2, logic: Logic| if boolean { Op2::Logic(logic) } else { Op2::Int(int) };
    let op = match op {
        Basic::Add => Op2::Num(Num2::Add),
        Basic::Mul => Op2::Num(Num2::Mul),
        Basic::Min => Op2::Num(Num2::Min),
        Basic::Max => Op2::Num(Num2::Max),
        Basic::And => bits(Int2::And, Logic::And),
        Basic::Or => bits(Int2::Or, Logic::Or),
        Basic::Xor if boolean => Op2::Cmp(Cmp::Ne),
        Basic::Xor => Op2::Int(Int2::Xor),
        Basic::General => {
            let (sum, product) = (g.op2(Op2::Num(Num2::Add), a, b), g.op2(Op2::Num(Num2::Mul), a, b));
            return g.op2(Op2::Num(Num2::Add), sum, product);
        }
    };
    g.op2(op, a, b)
}

/// As `powi` of the surface language.
fn powi(g: &mut Graph, x: NodeId, n: i32) -> NodeId {
    let mul = Op2::Num(Num2::Mul);
    let (mut square, mut rest, mut power) = (x, n.unsigned_abs(), None);
    while rest > 0 {
        if rest % 2 == 1 {
            power = Some(power.map_or(square, |p| g.op2(mul, p, square)));
        }
        rest /= 2;
        if rest > 0 {
            square = g.op2(mul, square, square);
        }
    }
    let p = Prim::of(g.scalar(x));
    let power = power.unwrap_or_else(|| g.constant(&Elem::One(p), &[Number(p.ty().one())]));
    if n < 0 { g.op1(Op1::Float(accel::repr::op::Float1::Recip), power) } else { power }
}
