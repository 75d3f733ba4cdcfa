//! Delayed arrays: code for the extents and code for the elements, and no memory.
//!
//! NOTE [Delayed arrays]: producers that compute every element from its index alone are composed with whatever uses them, as
//! code. A source that is read at an index the program computes (`backpermute`, `slice`, `a ! i`) must be in memory, since the
//! read has to be checked against its extents. Code is extended in place: a chain of producers is as long as its operations, and would
//! take the square of that time if every one of them copied those before.

use crate::kernel::builder::Builder;
use crate::kernel::{ArrayId, ArrayInfo, Code, Instr, Reg, SiteId};
use accel_core::repr::ScalarType;
use accel_core::repr::op::Num2;

/// An array that may not be in memory.
#[derive(Clone)]
pub struct Delayed {
    /// Its extents, outermost first; no parameters.
    pub extents: Code,
    /// From an index inside of the extents to the columns of the element.
    pub element: Code,
}

impl Delayed {
    /// An array in memory.
    pub fn manifest(array: ArrayId, info: &ArrayInfo, site: SiteId) -> Delayed {
        let mut b = Builder::new(&[]);
        let extents = (0..info.rank).map(|dim| b.extent(array, dim)).collect();
        let extents = b.finish(extents);
        let mut b = Builder::new(&index_types(info.rank));
        let to: Vec<_> = info.columns.iter().map(|t| b.reg(*t)).collect();
        let index = b.params();
        b.emit(Instr::Read { to: to.clone(), array, index, site, inside: true });
        Delayed { extents, element: b.finish(to) }
    }
    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.element.params
    }
    /// The types of the columns.
    pub fn columns(&self) -> Vec<ScalarType> {
        self.element.results.iter().map(|r| self.element.types[*r]).collect()
    }
    /// What is known of the array, once it is in memory.
    pub fn info(&self) -> ArrayInfo {
        ArrayInfo { rank: self.rank(), columns: self.columns() }
    }
    /// `f` of every element.
    pub fn map(self, f: &Code) -> Delayed {
        Delayed { extents: self.extents, element: compose(f, self.element) }
    }
    /// `f` of the elements of two arrays, on the intersection of their extents.
    pub fn zip_with(self, other: Delayed, f: &Code) -> Delayed {
        let (mut b, xs, ys) = both(self.extents, other.extents);
        let least = xs.into_iter().zip(ys).map(|(x, y)| b.index_op(Num2::Min, x, y)).collect();
        let extents = b.finish(least);
        let (mut b, x, y) = both(self.element, other.element);
        let results = b.inline(f, &[x, y].concat());
        Delayed { extents, element: b.finish(results) }
    }
    /// The array repeated along new dimensions, whose extents are `slx`.
    pub fn replicate(&self, kept: &[bool], slx: &Code) -> Delayed {
        let mut b = Builder::new(&[]);
        let mut fixed = b.inline(slx, &[]).into_iter();
        let mut small = b.inline(&self.extents, &[]).into_iter();
        let all = kept.iter().filter_map(|kept| if *kept { small.next() } else { fixed.next() }).collect();
        let extents = b.finish(all);
        let mut b = Builder::new(&index_types(kept.len()));
        let index: Vec<_> = b.params().into_iter().zip(kept).filter(|(_, kept)| **kept).map(|(r, _)| r).collect();
        let results = b.inline(&self.element, &index);
        Delayed { extents, element: b.finish(results) }
    }
}

/// The types of an index.
pub fn index_types(rank: usize) -> Vec<ScalarType> {
    vec![ScalarType::I64; rank]
}

/// First `g`, then `f`.
pub fn compose(f: &Code, g: Code) -> Code {
    let (mut b, args) = Builder::after(g);
    let results = b.inline(f, &args);
    b.finish(results)
}

/// The code of both functions of the same parameters, and their results. The shorter one is copied, so that no instruction is copied more often
/// than the logarithm of how many there are.
fn both(f: Code, g: Code) -> (Builder, Vec<Reg>, Vec<Reg>) {
    let swap = f.instrs.len() < g.instrs.len();
    let (long, short) = if swap { (g, f) } else { (f, g) };
    let (mut b, first) = Builder::after(long);
    let params = b.params();
    let second = b.inline(&short, &params);
    if swap { (b, second, first) } else { (b, first, second) }
}
