//! The objective of a small program, a program that is differentiated, and its differences in plain Rust.

use super::generate::constant;
use super::plain::evaluate;
use super::program::*;
use super::types::{Elem, Number, Ty};
use accel::repr::op::{Float1, Num2, Op1, Op2};
use accel::repr::{ArrayTuple, Scalar, ScalarType};

const SUM: Op2 = Op2::Num(Num2::Add);
const PRODUCT: Op2 = Op2::Num(Num2::Mul);

/// The program with a single result: a number that depends on all floats of its results.
pub fn objective(p: &Program) -> Program {
    let mut q = p.clone();
    let types = p.body.types();
    let mut define = |rank, step| {
        q.body.defs.push(Def { tys: vec![Ty::new(rank, Elem::F64)], step });
        types.len() + q.body.defs.len() - 1 - p.body.defs.len()
    };
    let shape = Fun { params: vec![], nodes: vec![], results: vec![] };
    let plus = Fun { params: vec![Elem::F64; 2], nodes: vec![(Elem::F64, Node::Op2(SUM, 0, 1))], results: vec![2] };
    let mut total = define(0, Step::Fill { shape, x: constant(Number(Scalar::F64(0.25))) });
    for a in p.body.results.iter().filter(|a| types[**a].has_floats()) {
        let x = define(types[*a].rank, Step::Imap { f: waves(&types[*a]), x: *a });
        let y = define(0, Step::Reduce { what: Reduce::Sum, all: true, x });
        total = define(0, Step::ZipWith { strict: true, f: plus.clone(), x: total, y });
    }
    q.body.results = vec![total];
    q
}

/// A bounded number that depends on all floats of an element and on its index.
fn waves(ty: &Ty) -> Fun {
    fn floats(f: &mut Fun, x: Val, elem: &Elem, sum: &mut Val) {
        match elem {
            Elem::One(p) if p.is_float() => {
                let half = add(f, Node::Const(vec![Number(Scalar::F64(0.5))]));
                let x = add(f, Node::Op2(PRODUCT, x, half));
                let x = add(f, Node::Op2(SUM, x, *sum));
                *sum = add(f, Node::Op1(Op1::Float(Float1::Sin), x));
            }
            Elem::One(_) => {}
            Elem::Tuple(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    f.nodes.push((part.clone(), Node::Part(x, i)));
                    floats(f, f.params.len() + f.nodes.len() - 1, part, sum);
                }
            }
        }
    }
    fn add(f: &mut Fun, node: Node) -> Val {
        f.nodes.push((Elem::F64, node));
        f.params.len() + f.nodes.len() - 1
    }
    let params = [vec![Elem::I64; ty.rank], vec![ty.elem.clone()]].concat();
    let mut f = Fun { params, nodes: vec![], results: vec![] };
    let mut sum = add(&mut f, Node::Const(vec![Number(Scalar::F64(0.0))]));
    for (dim, weight) in [0.1, -0.1, 0.2, -0.2].into_iter().enumerate().take(ty.rank) {
        let i = add(&mut f, Node::Op1(Op1::Cast(ScalarType::F64), dim));
        let weight = add(&mut f, Node::Const(vec![Number(Scalar::F64(weight))]));
        let part = add(&mut f, Node::Op2(PRODUCT, i, weight));
        sum = add(&mut f, Node::Op2(SUM, sum, part));
    }
    floats(&mut f, ty.rank, &ty.elem, &mut sum);
    f.results = vec![sum];
    f
}

/// The value of an objective; `None` if it fails.
pub fn value(objective: &Program, argument: &ArrayTuple) -> Option<f64> {
    let (results, e) = evaluate(objective, argument);
    match results[0].data[0][0] {
        Scalar::F64(x) => (!e.failed.get()).then_some(x),
        other => panic!("{other:?} is not a float"),
    }
}

/// The argument with other floats.
pub fn with_floats(argument: &ArrayTuple, floats: impl IntoIterator<Item = f64>) -> ArrayTuple {
    let mut floats = floats.into_iter();
    argument.map_floats(&mut |_| floats.next().expect("a float for each one"))
}

/// The central difference of an objective by one of the floats, and the distance of the one-sided differences; `None` if it fails
/// near the argument.
pub fn difference(objective: &Program, argument: &ArrayTuple, i: usize) -> Option<(f64, f64)> {
    const STEP: f64 = 1e-5;
    let at = |step: f64| {
        let mut xs = argument.floats();
        xs[i] += step;
        value(objective, &with_floats(argument, xs))
    };
    let (below, here, above) = (at(-STEP)?, at(0.0)?, at(STEP)?);
    Some(((above - below) / (2.0 * STEP), ((above - here) - (here - below)).abs() / STEP))
}
