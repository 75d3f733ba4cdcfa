//! The generator of random words: Philox 4×32-10.

use crate::Exp;

/// The words of a counter, and those of a block.
type Words = [Exp<u32>; 4];

/// The block of four random words that belongs to a key and a counter: Philox 4×32-10 of Salmon, Moraes, Dror and Shaw, *Parallel random numbers:
/// as easy as 1, 2, 3* (2011). All functions of this module take their words from it; it is the building block for samplers of one's own.
///
/// ```
/// use accel::prelude::*;
/// use accel::random::philox;
///
/// let first = afun(|| unit(philox([0u32.to_exp(); 2], [0u32.to_exp(); 4])[0]));
/// assert_eq!(run(&first, &())?.item(), 0x6627e8d5);
/// # Ok::<(), Error>(())
/// ```
pub fn philox(key: [Exp<u32>; 2], counter: Words) -> Words {
    let rounds = (0..10).scan(key, |[k, l], _| {
        let now = [*k, *l];
        (*k, *l) = (*k + 0x9E37_79B9, *l + 0xBB67_AE85);
        Some(now)
    });
    rounds.fold(counter, |[a, b, c, d], [k, l]| {
        let ([low_a, high_a], [low_c, high_c]) = (product(a, 0xD251_1F53), product(c, 0xCD9E_8D57));
        [high_c ^ b ^ k, low_c, high_a ^ d ^ l, low_a]
    })
}

/// The low and the high word of a product.
fn product(x: Exp<u32>, factor: u32) -> [Exp<u32>; 2] {
    halves(x.cast::<u64>() * u64::from(factor))
}

/// The low and the high word of a number.
pub(super) fn halves(x: Exp<u64>) -> [Exp<u32>; 2] {
    [x.cast::<u32>(), (x >> 32).cast::<u32>()]
}

/// The number with these words.
pub(super) fn joined(low: Exp<u32>, high: Exp<u32>) -> Exp<u64> {
    (high.cast::<u64>() << 32) | low.cast::<u64>()
}
