//! Reductions of neighbouring rows, in the order of their elements.

use super::{Builder, each};
use crate::nest::ir::*;
use crate::nest::schedule::Names;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Instr, Program, Reduction, Reg, ScalarFn};

/// The naive nest of `width` rows with `outer` indices, whose first one has the index `i0`, `i1`, … It combines the accumulated
/// value of each row with `count` elements, from `first` on. If they have not `started`, the elements `first - 1` come before.
/// The loops are `j` over rows and `k` over elements.
pub fn side_by_side(program: &Program, to: ArrayId, outer: usize, rows: &Reduction) -> (Nest, Names) {
    let types = rows.columns();
    let mut b = Builder::new(program, types[0]);
    let index: Vec<Reg> = (0..outer).map(|d| b.param(format!("i{d}"), ScalarType::I64)).collect();
    let [started, first, count, width] =
        ["started", "first", "count", "width"].map(|name| b.param(name.into(), ScalarType::I64));
    let accumulated: Vec<BufferId> =
        (0..types.len()).map(|c| b.buffer(Space::Total(to, c), vec![width.into()])).collect();
    let at = |j: Reg| accumulated.iter().map(move |b| Place::new(*b, vec![j.into()]));
    let rows_loop = |j: Reg, body: Vec<Node>| each(j, Affine::constant(0), width.into(), body);

    let j = b.variable("begin");
    let k = b.sum(Affine { terms: vec![(first, 1)], constant: -1 });
    let values = b.element_of_row(&rows.element, &index, j, k);
    let mut body = b.take();
    body.extend(at(j).zip(values).map(|(to, value)| Node::store(to, value)));
    let begins = Guard { smaller: started.into(), larger: Affine::constant(1) };
    let begin = Node::If { guards: vec![begins], body: vec![rows_loop(j, body)] };

    let (j, k) = (b.variable("j"), b.variable("k"));
    let mut operands: Vec<Reg> = vec![];
    for (from, t) in at(j).zip(&types) {
        let to = b.nest.register(*t);
        b.nodes.push(Node::Load { to, from });
        operands.push(to);
    }
    let element = b.sum(Affine::from(first).plus(&k.into(), 1).unwrap_or_default());
    operands.extend(b.element_of_row(&rows.element, &index, j, element));
    let combined = b.all(&rows.op, &operands);
    let mut body = b.take();
    body.extend(at(j).zip(combined).map(|(to, value)| Node::store(to, value)));
    let fold = rows_loop(j, vec![each(k, Affine::constant(0), count.into(), body)]);

    b.nest.body = vec![begin, fold];
    (b.nest, b.names)
}

impl Builder<'_> {
    /// Element `k` of the row that is `j` after the one with this index.
    fn element_of_row(&mut self, element: &ScalarFn, index: &[Reg], j: Reg, k: Reg) -> Vec<Reg> {
        let mut args = index.to_vec();
        if let Some(last) = args.last_mut() {
            *last = self.sum(Affine::from(*last).plus(&j.into(), 1).unwrap_or_default());
        }
        args.push(k);
        self.all(element, &args)
    }

    /// The results of a scalar function that reads arrays in memory.
    fn all(&mut self, code: &ScalarFn, args: &[Reg]) -> Vec<Reg> {
        let (own, _) = self.instrs(code, &code.instrs, args, &|b, i, c, sum| {
            let Instr::Read { array, index, inside: true, .. } = i else { return None };
            Some(Place::new(b.in_memory((*array, c)), index.iter().map(|r| sum(*r)).collect()))
        });
        code.results.iter().map(|r| own[*r]).collect()
    }

    /// A register with the value of a sum.
    fn sum(&mut self, value: Affine) -> Reg {
        let to = self.nest.register(ScalarType::I64);
        self.nodes.push(Node::Index { to, value, limit: None });
        to
    }
}
