//! Delayed arrays: scalar functions for extents and elements, without memory.
//!
//! NOTE [Delayed arrays]: some producers compute every element from its index alone. Lowering composes their scalar
//! functions with those of their consumer. A source that is read at a computed index (`backpermute`, `slice`, `a ! i`)
//! must be in memory, because the read is checked against its extents. Scalar functions are extended in place. If every
//! operation of a long chain of producers copied the instructions of those before it, lowering would take quadratic
//! time.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::{ArrayId, ArrayInfo, Instr, Reg, ScalarFn, SiteId};
use accel_core::repr::ScalarType;
use accel_core::repr::op::Num2;

/// An array that need not be in memory.
#[derive(Clone)]
pub struct Delayed {
    /// Its extents, outermost first; without parameters.
    pub extents: ScalarFn,
    /// From an index within the extents to the columns of the element.
    pub element: ScalarFn,
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
    /// The rank.
    pub fn rank(&self) -> usize {
        self.element.params
    }
    /// The types of the columns.
    pub fn columns(&self) -> Vec<ScalarType> {
        self.element.results.iter().map(|r| self.element.types[*r]).collect()
    }
    /// The description of the array, once it is in memory.
    pub fn info(&self) -> ArrayInfo {
        ArrayInfo { rank: self.rank(), columns: self.columns() }
    }
    /// Applies `f` to every element.
    pub fn map(self, f: &ScalarFn) -> Delayed {
        Delayed { extents: self.extents, element: compose(f, self.element) }
    }
    /// Applies `f` to the elements of two arrays, on the intersection of their extents.
    pub fn zip_with(self, other: Delayed, f: &ScalarFn) -> Delayed {
        let (mut b, xs, ys) = both(self.extents, other.extents);
        let least = xs.into_iter().zip(ys).map(|(x, y)| b.index_op(Num2::Min, x, y)).collect();
        let extents = b.finish(least);
        let (mut b, x, y) = both(self.element, other.element);
        let results = b.inline(f, &[x, y].concat());
        Delayed { extents, element: b.finish(results) }
    }
    /// Repeats the array along new dimensions, whose extents are `slx`.
    pub fn replicate(&self, kept: &[bool], slx: &ScalarFn) -> Delayed {
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

/// The composition: first `g`, then `f`.
pub fn compose(f: &ScalarFn, g: ScalarFn) -> ScalarFn {
    let (mut b, args) = Builder::after(g);
    let results = b.inline(f, &args);
    b.finish(results)
}

/// The instructions of two functions of the same parameters, and the results of each. The shorter function is copied
/// into the longer one. So in a chain of such steps, each instruction is copied at most a logarithmic number of times.
fn both(f: ScalarFn, g: ScalarFn) -> (Builder, Vec<Reg>, Vec<Reg>) {
    let swap = f.instrs.len() < g.instrs.len();
    let (long, short) = if swap { (g, f) } else { (f, g) };
    let (mut b, first) = Builder::after(long);
    let params = b.params();
    let second = b.inline(&short, &params);
    if swap { (b, second, first) } else { (b, first, second) }
}
