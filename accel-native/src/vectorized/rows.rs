//! The rows of reductions and scans.

use super::lanes::Value;
use super::machine::Context;
use super::operator::uniform;
use accel_core::repr::Scalar;
use accel_fusion::kernel::Reduction;
use accel_fusion::kernel::scalar_evaluation::{row_length, values};

/// The rows of a reduction or a scan, with their extents.
pub struct Rows<'e> {
    pub context: Context<'e>,
    pub code: &'e Reduction,
    /// The extents of the rows' index.
    pub outer: &'e [usize],
    /// The length of a row.
    pub len: usize,
    /// The initial value.
    pub init: Option<Vec<Scalar>>,
}

impl<'e> Rows<'e> {
    pub fn new(context: Context<'e>, code: &'e Reduction, outer: &'e [usize]) -> Option<Rows<'e>> {
        let Context { program, arrays, site } = context;
        let len = row_length(program, arrays, code, outer, site).ok()?;
        let init = code.init.as_ref().map(|init| values(program, arrays, init, site)).transpose().ok()?;
        Some(Rows { context, code, outer, len, init })
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.outer.iter().product()
    }

    /// The initial value in all lanes.
    pub fn initial(&self) -> Option<Vec<Value>> {
        self.init.as_ref()?.iter().map(|x| uniform(*x)).collect()
    }
}

/// Cuts the first elements of `rest` into parts of equal length: their number, a power of two, which is about `wanted`
/// and at most `width`, and their length, which is not 0.
pub fn cut(rest: usize, wanted: usize, width: usize) -> (usize, usize) {
    let most = wanted.clamp(1, width).min(rest);
    let parts = (most + 1).next_power_of_two() / 2;
    (parts, rest / parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_some_elements_at_least() {
        for rest in 1..300usize {
            for (wanted, width) in [(0, 64), (1, 64), (rest / 4, 64), (2 * rest.isqrt(), 16), (1000, 256)] {
                let (parts, len) = cut(rest, wanted, width);
                assert!(parts.is_power_of_two() && parts <= width && parts <= wanted.max(1));
                assert!(len > 0 && parts * len <= rest && rest - parts * len < parts);
            }
        }
    }
}
