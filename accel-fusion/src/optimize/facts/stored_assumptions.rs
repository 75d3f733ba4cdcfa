//! Assumptions as words, in files.

use crate::optimize::facts::poly::{Poly, Product, Sym};
use crate::optimize::facts::shape_analysis::{Assumptions, BoundedNumber, Node};
use crate::words::{Reader, list};
use accel_core::repr::op::Op2;

impl Assumptions {
    /// Writes all assumptions.
    pub(crate) fn write(&self, out: &mut Vec<u64>) {
        list(out, self.zero.iter(), poly);
        list(out, self.not_negative.iter(), poly);
        list(out, self.exact.iter(), |out, number| {
            poly(out, &number.value);
            list(out, number.params.iter(), poly)
        });
        list(out, self.nodes.iter(), |out, node| match node {
            Node::Unknown => out.push(0),
            Node::Op(op, a, b) => {
                out.push(1 + Op2::all().position(|o| o == *op).unwrap_or_default() as u64);
                poly(out, a);
                poly(out, b)
            }
        });
    }

    /// Reads what [`write`](Self::write) has written.
    pub(crate) fn read(words: &mut Reader) -> Option<Assumptions> {
        let polys = |words: &mut Reader| words.list(read_poly);
        let (zero, not_negative) = (polys(words)?.into_iter().collect(), polys(words)?.into_iter().collect());
        let exact = words.list(|words| Some(BoundedNumber { value: read_poly(words)?, params: polys(words)? }))?;
        let nodes = words.list(|words| match words.number()? {
            0 => Some(Node::Unknown),
            op => Some(Node::Op(Op2::all().nth(op - 1)?, read_poly(words)?, read_poly(words)?)),
        })?;
        Some(Assumptions { zero, not_negative, exact: exact.into_iter().collect(), nodes })
    }
}

fn poly(out: &mut Vec<u64>, p: &Poly) {
    let terms: Vec<_> = p.terms().collect();
    list(out, terms.into_iter(), |out, (syms, factor)| {
        out.push(factor as u64);
        list(out, syms.iter(), |out, sym| match *sym {
            Sym::Extent(a, dim) => out.extend([0, a.index() as u64, dim as u64]),
            Sym::Param(k) => out.extend([1, k as u64]),
            Sym::Node(k) => out.extend([2, k as u64]),
        })
    });
}

fn read_poly(words: &mut Reader) -> Option<Poly> {
    let terms = words.list(|words| {
        let factor = words.word()? as i64;
        let syms = words.list(|words| match words.word()? {
            0 => Some(Sym::Extent(words.array()?, words.number()?)),
            1 => Some(Sym::Param(words.number()?)),
            2 => Some(Sym::Node(words.number()?)),
            _ => None,
        })?;
        Some((Product::from_vec(syms), factor))
    })?;
    Poly::of_terms(terms)
}
