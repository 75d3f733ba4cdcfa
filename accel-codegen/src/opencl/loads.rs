//! Several loads in flight per work-item, for GPUs.
//!
//! NOTE [Loads in flight]: an item waits for a load at the first use of its value. No compiler may move a load before
//! the test whether there is another iteration, or before a store that could be to the same place. So in a loop with
//! one load per iteration, each item has one load in flight. All items that fit on a GPU then request 8 KB for each
//! unit, but bandwidth times latency is some 25 KB. So if memory limits the speed, the elements of several iterations
//! are computed before the first one is stored or combined, with one test for all of them.

use crate::text::names::names_at;
use crate::text::parameters::{Arg, Parameter, name};
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::ScalarFn;

/// The number of elements that an item computes at a time if they are cheap: NOTE [Loads in flight].
pub const AT_ONCE: usize = 4;

/// NOTE [Reciprocals]: GPUs have no instruction for the division of integers; it takes about 20. So positions below 2³¹ are
/// multiplied by a reciprocal of the extent `n` that the host computes: `m = (2⁶³ + e) / n` with `0 <= e < n`. For a position
/// `p`, `2 p m / 2⁶⁴ = p / n + p e / (2⁶³ n)`, and the second term is less than `1 / n`, so the integer part is the quotient.
pub fn reciprocal(n: i64) -> i64 {
    (1_u64 << 63).div_ceil(n.max(1) as u64) as i64
}

/// The upper word of `2 p` times the reciprocal, from the products by its halves.
const QUOTIENT: &str = "\
static uint quotient(uint p, i64 over) {
    return (uint)(((u64)(2 * p) * (uint)((u64)over >> 32) + mul_hi(2 * p, (uint)over)) >> 32);
}";

/// The limit for the instructions of a scalar function that is unrolled. Longer ones compute while loads are in flight, and several at a
/// time would need so many registers that fewer items run. Chosen.
const FEW: usize = 16;

/// Whether a scalar function is so short that memory limits the speed.
pub fn is_cheap(code: &ScalarFn) -> bool {
    code.instrs.len() <= FEW && code.is_straight_line()
}

impl Writer<'_> {
    /// Computes several elements `v0[u]`, .. before it uses the first one: NOTE [Loads in flight].
    pub fn several(
        &mut self,
        turns: usize,
        types: &[ScalarType],
        compute: impl FnOnce(&mut Self, &[String]),
        then: impl FnOnce(&mut Self, &[String]),
    ) {
        let values = names_at("v", types, "u");
        types.iter().enumerate().for_each(|(c, t)| self.line(format!("{t} v{c}[{turns}];")));
        self.unrolled(turns, |w| compute(w, &values));
        self.unrolled(turns, |w| then(w, &values));
    }

    /// A loop of `turns` iterations with the counter `u`, which compilers unroll completely.
    pub fn unrolled(&mut self, turns: usize, body: impl FnOnce(&mut Self)) {
        self.line("#pragma unroll");
        self.braces(&format!("for (uint u = 0; u < {turns}; u++)"), body);
    }

    /// Sets `i0`, `i1`, … to the index of a position within the index space.
    pub fn narrow_index(&mut self, rank: usize, p: &str) {
        let mut rest = p.to_string();
        for k in (1..rank).rev() {
            let extent = Arg::Space(k);
            self.params.add(extent, Parameter::number(extent));
            let quotient = self.quotient(&rest, k);
            self.line(format!("const P q{k} = {quotient}, i{k} = {rest} - q{k} * (P)n{k};"));
            rest = format!("q{k}");
        }
        if rank > 0 {
            self.line(format!("const P i0 = {rest};"));
        }
    }

    /// A position divided by an extent of the index space: NOTE [Reciprocals].
    fn quotient(&mut self, position: &str, k: usize) -> String {
        if !self.dialect().is_narrow() {
            return format!("{position} / (P)n{k}");
        }
        let over = Arg::Reciprocal(k);
        self.params.add(over, Parameter::number(over));
        self.declarations.declare_once("quotient", || QUOTIENT.into());
        format!("quotient({position}, {})", name(over))
    }
}

#[cfg(test)]
mod tests {
    use super::reciprocal;

    /// What `QUOTIENT` computes.
    fn quotient(p: u32, over: i64) -> u32 {
        let (twice, over) = (u64::from(2 * p), over as u64);
        ((twice * (over >> 32) + ((twice * (over & 0xffff_ffff)) >> 32)) >> 32) as u32
    }

    #[test]
    fn quotients_by_reciprocals() {
        let largest = (1 << 31) - 1;
        let near = |x: u32| [x.saturating_sub(1), x, (x + 1).min(largest)];
        let interesting: Vec<u32> =
            (0..31).flat_map(|k| near(1 << k)).chain([3, 7, 10, 641, 46_341, 715_827_883, largest]).collect();
        for n in interesting.iter().copied().filter(|n| *n > 0) {
            let over = reciprocal(i64::from(n));
            let multiples = [1, 2, 3, largest / n].into_iter().flat_map(|k| near(n.saturating_mul(k).min(largest)));
            for p in interesting.iter().copied().chain(multiples) {
                assert_eq!(quotient(p, over), p / n, "{p} / {n}");
            }
        }
    }
}
