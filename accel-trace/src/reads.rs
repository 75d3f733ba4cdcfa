//! Steps that only read elements of one array: their adjoints are sparse.
//!
//! The adjoint of a row of a matrix is zero outside of this row. Reading all rows of a matrix one after the other, as an
//! unrolled loop does, would take quadratic time if each adjoint were a whole matrix. So the adjoint of such a step is a
//! list of positions and values, if the array is much larger than the result.

use crate::closed::{Body, Inputs, Levels, program};
use accel_core::ast::*;
use accel_core::backend::Executable;
use accel_core::error::{Error, Result};
use accel_core::interp::Interpreted;
use accel_core::repr::{ArrayTuple, RawArray, RawTy, Scalar};
use frunk::HNil;

/// Where a step reads.
pub struct Reads {
    /// The input whose elements the step reads.
    pub source: usize,
    /// Computes the indices of all elements from the inputs; for a slice, the indices of the fixed dimensions.
    indices: Interpreted,
    /// For a slice: for every dimension of the source, whether it is kept.
    kept: Option<Vec<bool>>,
}

impl Reads {
    /// The row-major positions of the elements that the step reads, in the order of the elements of its result.
    pub fn positions(&self, argument: &ArrayTuple, source: &RawArray) -> Result<Vec<usize>> {
        let indices = self.indices.run(argument)?;
        let [indices] = indices.leaves()[..] else { return Err(broken()) };
        let index = |i: usize, dim: usize| match indices.columns.get(dim).and_then(|c| c.get(i)) {
            Some(Scalar::I64(k)) => usize::try_from(k).map_err(|_| broken()),
            _ => Err(broken()),
        };
        let Some(kept) = &self.kept else {
            let dims = || source.extents.iter().enumerate();
            let position = |i| dims().try_fold(0, |p, (dim, extent)| Ok(p * extent + index(i, dim)?));
            return (0..indices.size()).map(position).collect();
        };
        // All combinations of indices, dimension by dimension.
        let (mut positions, mut fixed) = (vec![0], 0);
        for (extent, kept) in source.extents.iter().zip(kept) {
            let range = if *kept {
                0..*extent
            } else {
                let k = index(0, fixed)?;
                fixed += 1;
                k..k + 1
            };
            positions = positions.iter().flat_map(|p| range.clone().map(move |k| p * extent + k)).collect();
        }
        Ok(positions)
    }
}

fn broken() -> Error {
    Error::Internal("the positions that a step reads".into())
}

/// Where an operation reads, if this is all that it does. The other arguments are those of
/// [`Operation`](crate::closed::Operation).
pub fn reads<A, R>(
    op: &AccOp<'_, A, R>,
    ty: &Ty<R>,
    inputs: &[RawTy],
    args: &[usize],
    input: &dyn Fn(usize) -> usize,
) -> Option<Reads> {
    let whole = |source, program: Program| Some(Reads { source, indices: Interpreted::new(&program), kept: None });
    match op {
        AccOp::Backpermute { sh, f, eq, .. } => {
            let shape = ty.cast(*eq).sh_elt().0;
            whole(args[0], fresh1(|r| program(inputs, &mut Indices { shape: &shape, sh, f, input, q: name(r) })))
        }
        AccOp::Generate { sh, f, eq } => fresh1(|n| {
            // generate sh (\i -> a ! e i) = backpermute sh e a
            let ExpView::Op(ExpOp::Index(a, ix, _)) = f.0.view(n) else { return None };
            let shape = ty.cast(*eq).sh_elt().0;
            let f = Fun1(ix);
            let indices = fresh1(|r| program(inputs, &mut Indices { shape: &shape, sh, f: &f, input, q: name(r) }));
            whole(input(a.depth()), indices)
        }),
        AccOp::Slice { spec, slx, .. } => {
            let program = fresh1(|r| program(inputs, &mut Fixed { slx, input, q: name(r) }));
            Some(Reads { source: args[0], indices: Interpreted::new(&program), kept: Some(spec.kept().to_vec()) })
        }
        AccOp::Unit { .. }
        | AccOp::Pair { .. }
        | AccOp::Fst { .. }
        | AccOp::Snd { .. }
        | AccOp::Cond { .. }
        | AccOp::Accumulate { .. }
        | AccOp::Foreign { .. }
        | AccOp::Map { .. }
        | AccOp::Agree { .. }
        | AccOp::ZipWith { .. }
        | AccOp::Fold { .. }
        | AccOp::Fold1 { .. }
        | AccOp::Scan { .. }
        | AccOp::Scan1 { .. }
        | AccOp::Permute { .. }
        | AccOp::Argsort { .. }
        | AccOp::Reshape { .. }
        | AccOp::Replicate { .. } => None,
    }
}

/// `generate sh f`, where `f` computes an index.
struct Indices<'o, 'r, A, Sh, Ix> {
    shape: &'o ShapeTy<Sh>,
    sh: &'o Exp<HNil, A, Sh>,
    f: &'o Fun1<A, Sh, Ix>,
    input: &'o dyn Fn(usize) -> usize,
    q: Equal<Arr<Sh, Ix>, X<'r>>,
}

impl<'r, A, Sh, Ix> Body<'r> for Indices<'_, 'r, A, Sh, Ix> {
    fn body<'a>(&mut self, env: &Levels<X<'a>>) -> Acc<X<'a>, X<'r>> {
        let mut inputs = Inputs { env, args: [].iter(), input: self.input };
        let (sh, f) = (AccMap::exp(&mut inputs, self.sh), Fun1(AccMap::exp(&mut inputs, &self.f.0)));
        Acc::generate(self.shape, &sh, &f, None).cast(self.q)
    }
}

/// The array without dimensions that holds the indices of the fixed dimensions.
struct Fixed<'o, 'r, A, Slx> {
    slx: &'o Exp<HNil, A, Slx>,
    input: &'o dyn Fn(usize) -> usize,
    q: Equal<Arr<(), Slx>, X<'r>>,
}

impl<'r, A, Slx> Body<'r> for Fixed<'_, 'r, A, Slx> {
    fn body<'a>(&mut self, env: &Levels<X<'a>>) -> Acc<X<'a>, X<'r>> {
        let slx = AccMap::exp(&mut Inputs { env, args: [].iter(), input: self.input }, self.slx);
        let unit = Exp::constant(&Value::unit(), &Ty::of());
        Acc::generate(&ShapeTy::known(), &unit, &Fun1(slx.weaken(&Thinning::from_nil())), None).cast(self.q)
    }
}
