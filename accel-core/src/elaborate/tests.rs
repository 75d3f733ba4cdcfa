//! Graphs written by hand: what the surface cannot write, and what is easier to see without it.

use super::elaborate;
use crate::ast::lint;
use crate::error::Error;
use crate::repr::op::{Cmp, Num2, Op2};
use crate::repr::{RawTy, Scalar, ScalarType};
use crate::surface::graph::{Lam, Node, NodeId, Op, Staged};
use std::panic::Location;

const F64: RawTy = RawTy::Scalar(ScalarType::F64);
const I64: RawTy = RawTy::Scalar(ScalarType::I64);
const BOOL: RawTy = RawTy::Scalar(ScalarType::Bool);

fn vector() -> RawTy {
    RawTy::array(RawTy::shape(1), F64)
}

/// A graph whose first node is the argument, a vector.
struct Builder(Vec<Node>);

impl Builder {
    fn new() -> (Builder, NodeId) {
        let mut b = Builder(vec![]);
        let xs = b.add("program", Op::Param, vector());
        (b, xs)
    }
    #[track_caller]
    fn add(&mut self, name: &'static str, op: Op, ty: RawTy) -> NodeId {
        self.0.push(Node { op, ty, at: Location::caller(), name });
        NodeId(self.0.len() as u32 - 1)
    }
    fn param(&mut self, ty: RawTy) -> NodeId {
        self.add("parameter", Op::Param, ty)
    }
    fn float(&mut self, x: f64) -> NodeId {
        self.add("constant", Op::Const([Scalar::F64(x)].into()), F64)
    }
    fn int(&mut self, x: i64) -> NodeId {
        self.add("constant", Op::Const([Scalar::I64(x)].into()), I64)
    }
    fn num(&mut self, f: Num2, a: NodeId, b: NodeId) -> NodeId {
        self.add("arithmetic", Op::Prim2(Op2::Num(f), a, b), self.0[a.index()].ty.clone())
    }
    fn add2(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.num(Num2::Add, a, b)
    }
    fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.num(Num2::Mul, a, b)
    }
    fn less(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.add("lt", Op::Prim2(Op2::Cmp(Cmp::Lt), a, b), BOOL)
    }
    fn cond(&mut self, c: NodeId, t: NodeId, e: NodeId) -> NodeId {
        self.add("cond", Op::Cond(c, t, e), self.0[t.index()].ty.clone())
    }
    fn index(&mut self, a: NodeId, i: NodeId) -> NodeId {
        let unit = self.add("index", Op::Unit, RawTy::Unit);
        let ix = self.add("index", Op::Pair(unit, i), RawTy::shape(1));
        self.add("index", Op::Index(a, ix), F64)
    }
    #[track_caller]
    fn map(&mut self, x: NodeId, body: NodeId, a: NodeId) -> NodeId {
        self.add("map", Op::Map(Lam { params: vec![x], body }, a), vector())
    }
    /// The program's text, below its head and without indentation of the whole.
    fn text(self, root: NodeId) -> String {
        let program = self.elaborate(root).unwrap();
        lint(&program).unwrap();
        let text = program.to_string();
        let lines: Vec<_> = text.lines().skip(1).map(|l| l.strip_prefix("  ").unwrap_or(l)).collect();
        lines.join("\n")
    }
    fn elaborate(self, root: NodeId) -> crate::error::Result<crate::ast::Program> {
        elaborate(&Staged { nodes: self.0, param: NodeId(0), root })
    }
    fn error(self, root: NodeId) -> String {
        self.elaborate(root).unwrap_err().to_string()
    }
}

#[test]
fn a_node_with_two_uses_is_defined_once_and_one_with_one_use_is_not() {
    let (mut b, xs) = Builder::new();
    let x = b.param(F64);
    let two = b.float(2.0);
    let square = b.mul(x, x);
    let twice = b.mul(square, two);
    let sum = b.add2(twice, square);
    let ys = b.map(x, sum, xs);
    assert_eq!(b.text(ys), r"map (\x0 -> let x1 = x0 * x0 in x1 * 2.0 + x1) a0");
}

#[test]
fn a_cheap_node_that_two_conditionals_share_is_defined_before_them() {
    let (mut b, xs) = Builder::new();
    let x = b.param(F64);
    let zero = b.float(0.0);
    let square = b.mul(x, x);
    let (c, d) = (b.less(x, zero), b.less(zero, x));
    let (p, q) = (b.cond(c, square, zero), b.cond(d, square, zero));
    let sum = b.add2(p, q);
    let ys = b.map(x, sum, xs);
    insta::assert_snapshot!(b.text(ys));
}

#[test]
fn a_guarded_read_that_two_conditionals_share_stays_below_both_guards() {
    let (mut b, xs) = Builder::new();
    let x = b.param(F64);
    let (zero, i) = (b.float(0.0), b.int(7));
    let read = b.index(xs, i);
    let more = b.add2(read, read);
    let (c, d) = (b.less(x, zero), b.less(zero, x));
    let (p, q) = (b.cond(c, more, zero), b.cond(d, more, zero));
    let sum = b.add2(p, q);
    let ys = b.map(x, sum, xs);
    insta::assert_snapshot!(b.text(ys));
}

#[test]
fn a_read_in_both_branches_is_defined_before_the_conditional() {
    let (mut b, xs) = Builder::new();
    let x = b.param(F64);
    let (zero, i) = (b.float(0.0), b.int(7));
    let read = b.index(xs, i);
    let square = b.mul(read, read);
    let (c, d) = (b.less(x, zero), b.less(zero, x));
    let inner = b.cond(d, square, read);
    let outer = b.cond(c, inner, square);
    let ys = b.map(x, outer, xs);
    // `read` is needed in both branches of the outer conditional, `square` is not in both of the inner one.
    insta::assert_snapshot!(b.text(ys));
}
