//! Permutations: elements are combined into a copy of an array, in the order of the source.

use super::lanes::scatter;
use super::machine::{Context, Machine};
use super::primitives::{New, combine_at};
use super::space::batches;
use accel_core::repr::{Column, ColumnElt, RawArray, Scalar};
use accel_fusion::kernel::scalar_evaluation::ScalarEvaluator;
use accel_fusion::kernel::{Arrays, Monoid, ScalarFn};

/// The functions of a permutation.
pub struct Permutation<'e> {
    pub target: &'e ScalarFn,
    pub element: &'e ScalarFn,
    pub comb: &'e ScalarFn,
    pub monoid: Option<Monoid>,
}

/// How new elements are combined with old ones.
enum Combination<'e> {
    /// The new element replaces the old one.
    Replace,
    /// By the operator of a monoid.
    Monoid(Monoid),
    /// By a scalar function, element by element: the next element may go to the same place.
    Function(ScalarEvaluator<'e, Arrays>),
}

/// The array `defaults`, with every source element combined into it.
pub fn permute(context: Context, p: Permutation, defaults: &RawArray, extents: &[usize]) -> Option<RawArray> {
    let mut out = defaults.clone();
    let mut combination = match p.monoid {
        Some(monoid) => Combination::Monoid(monoid),
        None if p.comb.is_first_argument() => Combination::Replace,
        None => Combination::Function(ScalarEvaluator::new(context.program, context.arrays, p.comb, context.site)),
    };
    let (mut target, mut element) = (Machine::new(context, p.target, 0), Machine::new(context, p.element, 0));
    let width = target.width().min(element.width());
    for (first, n) in batches(extents, 0..extents.iter().product(), width) {
        target.set_index(extents, first, n)?;
        target.batch()?;
        target.fill_results()?;
        let kept = bool::elements(target.results().next()?.lanes()?)?.get(..n)?.to_vec();
        if !kept.contains(&true) {
            continue;
        }
        let positions = target.result_positions(1, &defaults.extents, &kept)?;
        let kept = kept.contains(&false).then_some(kept.as_slice());
        element.set_index(extents, first, n)?;
        match kept {
            None => element.batch()?,
            Some(kept) => element.batch_where(kept)?,
        }
        element.fill_results()?;
        let columns = element.results().map(|value| value.lanes()).collect::<Option<Vec<_>>>()?;
        combination.apply(&columns, positions, kept, &mut out)?;
    }
    Some(out)
}

impl Combination<'_> {
    fn apply(&mut self, new: &[&Column], positions: &[usize], kept: Option<&[bool]>, out: &mut RawArray) -> Option<()> {
        match self {
            Combination::Replace => {
                out.columns.iter_mut().zip(new).try_for_each(|(out, new)| scatter(new, positions, kept, out))
            }
            Combination::Monoid(monoid) => {
                combine_at(monoid.operator(), New::First(new.first()?), positions, kept, out.columns.first_mut()?)
            }
            Combination::Function(comb) => {
                for (l, at) in positions.iter().enumerate() {
                    if kept.is_none_or(|kept| kept[l]) {
                        let new = new.iter().map(|column| column.get(l));
                        let old = out.columns.iter().map(|column| column.get(*at));
                        let arguments = new.chain(old).collect::<Option<Vec<Scalar>>>()?;
                        let combined = comb.call(&arguments).ok()?;
                        out.columns.iter_mut().zip(combined).all(|(column, x)| column.set(*at, x)).then_some(())?;
                    }
                }
                Some(())
            }
        }
    }
}
