//! Small programs of few types, which plain Rust evaluates too (`plain.rs`), and whose values stay small.

use super::data::Random;
use super::generate::{Limits, Maker, Tried};
use super::plain::{Evaluator, Plain};
use super::program::*;
use super::shrink::swept;
use super::types::{Data, Elem, Given, Number, Prim, Ty};
use accel::repr::op::{Float1, Float2, Num2};
use accel::repr::{RawArray, Scalar};

/// What a small program may contain.
#[derive(Clone, Copy, Debug)]
pub struct Features {
    /// Only operations that are differentiable almost everywhere, with values for which differences are meaningful.
    pub smooth: bool,
    /// Also reads and writes at indices that are not checked: some programs fail.
    pub unchecked: bool,
    /// Also products of matrices, in whose derivatives zeros times NaN are NaN (NOTE [Strong zeros] in `accel-ad`).
    pub matrices: bool,
    /// How many of a hundred programs begin with a chain of small vectors, see `chains.rs`.
    pub chains: usize,
    /// How many of the others begin with loops that update their states, see `updating.rs`.
    pub updates: usize,
    /// How many of the others begin with functions of neighbours, see `stencils.rs`.
    pub stencils: usize,
}

/// All operations, without failures.
pub const EVERYTHING: Features =
    Features { smooth: false, unchecked: false, matrices: true, chains: 10, updates: 5, stencils: 5 };
/// What has derivatives.
pub const SMOOTH: Features =
    Features { smooth: true, unchecked: false, matrices: true, chains: 20, updates: 10, stencils: 10 };

/// The largest number of elements of an array.
const MOST_ELEMENTS: usize = 40;
/// The largest number in a program with derivatives.
pub const LARGEST: f64 = 30.0;

impl Features {
    pub fn functions(self) -> &'static [Float1] {
        use Float1::*;
        match self.smooth {
            true => &[Sin, Cos, Tanh, Atan, Exp],
            false => &[Sin, Cos, Tanh, Atan, Exp, Recip, Sqrt, Floor, Ceil, Round, Trunc],
        }
    }
    pub fn functions_of_two(self) -> &'static [Float2] {
        if self.smooth { &[] } else { &[Float2::Atan2, Float2::Hypot] }
    }
    pub fn arithmetic(self) -> &'static [Num2] {
        use Num2::*;
        if self.smooth { &[Add, Add, Sub, Mul, Mul, Min, Max] } else { &[Add, Add, Sub, Mul, Mul, Div, Rem, Min, Max] }
    }
    pub fn powers(self) -> &'static [i32] {
        if self.smooth { &[0, 1, 2, 2, 3] } else { &[-3, -1, 0, 1, 2, 2, 3, 5, 8] }
    }
}

/// The types of scalars.
pub const PRIMS: &[Prim] = &[Prim::Bool, Prim::I64, Prim::F64];

/// The program of a seed with these features.
pub fn small(seed: u64, features: Features) -> Program {
    let mut r = Random::new(seed);
    // Small programs first.
    let steps = 3 + seed as usize % 20;
    let mut next = || made(Random::new(r.next()), steps, features);
    // Derivatives are by floats.
    let fits = |p: &Program| !features.smooth || swept(p).inputs.iter().any(|x| x.size() > 0 && x.ty().has_floats());
    (0..5).map(|_| next()).find(fits).unwrap_or_else(next)
}

fn made(mut r: Random, steps: usize, features: Features) -> Program {
    let limits = Limits { extent: 4, elements: MOST_ELEMENTS, steps };
    let pair = Elem::Tuple(vec![Elem::F64, Elem::I64]);
    let palette = vec![Elem::F64, Elem::F64, Elem::F64, Elem::I64, pair.clone()];
    let inputs = inputs(&mut r, pair);
    let mut m = Maker::new(r, &inputs, palette, limits, Some(features));
    let params = m.types.clone();
    let mut defs = match () {
        () if m.r.chance(features.chains) => m.chain(),
        () if m.r.chance(features.updates) => m.updating_loops(),
        () if m.r.chance(features.stencils) => m.stencils(),
        () => vec![],
    };
    let wanted = 1 + m.r.below(limits.steps);
    defs.extend(m.defs(wanted.saturating_sub(defs.len())));
    let results = m.results(params.len(), &defs);
    let p = Program { inputs, body: Block { params, defs, results } };
    // Unused operations are part of the test, but not always.
    if m.r.chance(70) { swept(&p) } else { p }
}

/// Two vectors and a matrix of floats, integers, and sometimes pairs and a number.
fn inputs(r: &mut Random, pair: Elem) -> Vec<Given> {
    let extent = |r: &mut Random| r.pick(&[0, 1, 2, 2, 3, 3, 4]);
    let n = extent(r);
    // Equal extents should be common, because programs behave differently with them.
    let mut equal = |percent| if r.chance(percent) { n } else { extent(r) };
    let (k, rows, columns, l, p) = (equal(50), equal(20), equal(30).min(3), equal(30), equal(50));
    let mut all = vec![
        given(r, Elem::F64, vec![n]),
        given(r, Elem::F64, vec![k]),
        given(r, Elem::F64, vec![rows, columns]),
        given(r, Elem::I64, vec![l]),
    ];
    if r.chance(30) {
        all.push(given(r, pair, vec![p]));
    }
    if r.chance(20) {
        all.push(given(r, Elem::F64, vec![]));
    }
    all
}

/// An array of small numbers.
pub fn given(r: &mut Random, elem: Elem, extents: Vec<usize>) -> Given {
    let size: usize = extents.iter().product();
    let columns = elem.leaves().into_iter().map(|p| (0..size).map(|_| number(r, p)).collect()).collect();
    Given { elem, extents, data: Data::Listed(columns) }
}

/// A float between -2 and 2, rarely a special one, or a small integer.
pub fn number(r: &mut Random, p: Prim) -> Number {
    Number(match p {
        Prim::Bool => Scalar::Bool(r.chance(50)),
        Prim::I64 => Scalar::I64(r.pick(&[-7, -3, -2, -1, 0, 0, 1, 1, 2, 3, 4, 5, 11])),
        _ if r.chance(5) => Scalar::F64(r.pick(&[0.0, 1.0, -1.0, 0.5])),
        _ => Scalar::F64((r.next() >> 11) as f64 / (1u64 << 51) as f64 - 2.0),
    })
}

impl Maker {
    /// Evaluates a definition in plain Rust, and says whether a program with these features may contain it.
    pub fn attempt_plainly(&mut self, def: &Def, features: Features) -> Tried {
        let level = self.types.len();
        let used = def.step.arrays(level);
        let unused = Plain { shape: vec![], data: vec![] };
        let array = |a: Arr| if used.contains(&a) { Plain::of(&self.values[a]) } else { unused.clone() };
        let e = Evaluator::default();
        let found = e.step(&def.tys, &def.step, &(0..level).map(array).collect::<Vec<_>>());
        // A program that fails tests little of its other steps.
        if e.failed.get() && !(features.unchecked && self.r.chance(3)) {
            return Tried::Failed;
        }
        // A program that is not differentiated may have infinite values or NaN.
        let large = features.smooth && e.largest.get() > LARGEST;
        if large || found.iter().any(|a| a.data.len() > MOST_ELEMENTS) {
            return Tried::TooLarge;
        }
        let raw = |(a, ty): (&Plain, &Ty)| a.raw(&ty.elem);
        Tried::Done(found.iter().zip(&def.tys).map(raw).collect::<Vec<RawArray>>())
    }
}
