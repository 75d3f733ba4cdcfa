//! Index functions of the forms that the index-function analysis recognises: projections, offsets, reversals,
//! constants.

use super::generate::{Maker, below, chance, pick};
use super::program::*;

impl Maker<'_> {
    /// How indices out of bounds are handled.
    pub fn outside(&mut self) -> Outside {
        match self.features.unchecked {
            true => pick(self.g, &[Outside::Wraps, Outside::Skips, Outside::Skips, Outside::Fails, Outside::Fails]),
            false => pick(self.g, &[Outside::Wraps, Outside::Skips]),
        }
    }

    /// A function from an index of rank `from` to an index of the array `of` of rank `to`. With `keep`, it also returns
    /// a condition.
    pub fn index(&mut self, from: usize, of: usize, to: usize, keep: bool) -> (Outside, Fun) {
        let mut outside = self.outside();
        if outside == Outside::Skips && !keep {
            outside = Outside::Wraps;
        }
        if chance(self.g, 25) {
            let first = if keep { vec![Scalar::B] } else { vec![] };
            return (outside, self.fun(&vec![Scalar::I; from], &[first, vec![Scalar::I; to]].concat()));
        }
        let mut nodes: Vec<_> = (0..from).map(|k| (Scalar::I, Node::Param(k))).collect();
        let mut results = vec![];
        if keep {
            results.push(self.condition(&mut nodes, from));
        }
        let shift = below(self.g, 2);
        for dim in 0..to {
            // Most often, each parameter occurs once.
            let param = if chance(self.g, 80) { (dim + shift) % from } else { below(self.g, from) };
            results.push(self.place(&mut nodes, param, of, dim));
        }
        (outside, Fun { params: from, nodes, results })
    }

    /// A condition that is mostly true.
    fn condition(&mut self, nodes: &mut Vec<(Scalar, Node)>, params: usize) -> usize {
        let p = below(self.g, params);
        let c = pick(self.g, &[0, 1, 2]);
        nodes.push((Scalar::I, Node::I(c)));
        let (op, a, b) = match below(self.g, 4) {
            0 => (pick(self.g, &[Compare::Lt, Compare::Le, Compare::Ne, Compare::Eq]), p, nodes.len() - 1),
            _ => (Compare::Eq, p, p),
        };
        nodes.push((Scalar::B, Node::Compare(op, a, b)));
        nodes.len() - 1
    }

    /// An index of dimension `dim` of an array, from a parameter or from none.
    fn place(&mut self, nodes: &mut Vec<(Scalar, Node)>, param: usize, array: usize, dim: usize) -> usize {
        fn add(nodes: &mut Vec<(Scalar, Node)>, node: Node) -> usize {
            nodes.push((Scalar::I, node));
            nodes.len() - 1
        }
        let kind = below(self.g, 12);
        if kind < 5 {
            return param;
        }
        let c = pick(self.g, &[-2, -1, 0, 1, 1, 2]);
        let c = add(nodes, Node::I(c));
        match kind {
            5..=7 => add(nodes, Node::Binary(Binary::Add, param, c)),
            8 => c,
            9 | 10 => {
                let n = add(nodes, Node::Extent { array, dim });
                let one = add(nodes, Node::I(1));
                let last = add(nodes, Node::Binary(Binary::Sub, n, one));
                match below(self.g, 3) {
                    0 => last,
                    1 => add(nodes, Node::Binary(Binary::Min, param, last)),
                    _ => add(nodes, Node::Binary(Binary::Sub, last, param)),
                }
            }
            _ => {
                let k = 1 + below(self.g, 3) as i64;
                match below(self.g, 3) {
                    0 => add(nodes, Node::Modulo(param, k)),
                    1 => add(nodes, Node::Quotient(param, k)),
                    _ => add(nodes, Node::Binary(Binary::Add, param, param)),
                }
            }
        }
    }

    /// A function of an index of the rank of `ty`: the sum of some reads of floats at indices of a simple form.
    pub fn reads(&mut self, ty: Ty) -> Option<Fun> {
        let mut nodes: Vec<_> = (0..ty.rank).map(|k| (Scalar::I, Node::Param(k))).collect();
        let mut total = None;
        for _ in 0..1 + below(self.g, 3) {
            let (array, a) = self.array(|a| a.elem != Elem::I)?;
            let index = (0..a.rank).map(|dim| match ty.rank {
                0 => {
                    nodes.push((Scalar::I, Node::I(below(self.g, 2) as i64)));
                    nodes.len() - 1
                }
                n => {
                    let param = if chance(self.g, 70) { dim % n } else { below(self.g, n) };
                    self.place(&mut nodes, param, array, dim)
                }
            });
            let index = index.collect();
            let outside = self.outside();
            nodes.push((Scalar::F, Node::Read { array, index, part: 0, outside }));
            let read = nodes.len() - 1;
            total = Some(match total {
                None => read,
                Some(t) => {
                    nodes.push((Scalar::F, Node::Binary(pick(self.g, &[Binary::Add, Binary::Mul]), t, read)));
                    nodes.len() - 1
                }
            });
        }
        let results = ty.elem.scalars().iter().map(|s| match s {
            Scalar::F => total.unwrap_or(0),
            s => self.operand(&mut nodes, *s),
        });
        let results = results.collect();
        Some(Fun { params: ty.rank, nodes, results })
    }
}
