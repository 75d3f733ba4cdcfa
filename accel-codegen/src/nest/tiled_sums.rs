//! The schedule of sums that read few numbers many times: a tile of several rows and two vectors of results at a time, with
//! the sums in registers. NOTE [Tiled sums].
//!
//! NOTE [Tiled sums]: the distances of all pairs of `n` points with `d` coordinates need `n * n * d` operations on
//! `n * d` numbers. One result at a time, each operation loads two numbers, and vectors are as short as `d`. A tile of
//! `r` rows and two vectors of results loads `r + 2` vectors for `2 * r` operations.

use super::edit::Why;
use super::ir::Nest;
use super::lower::reduce::TiledSum;
use super::schedule::apply;
use super::strip_sums::Machine;

/// The number of rows of a tile. AVX2 has 16 registers: for 8 sums, which hide the latency of additions, and 6 loaded vectors.
pub const ROWS: i64 = 4;
/// The number of vectors of a row of a tile: each number that is loaded for a row serves twice.
const PAIR: i64 = 2;

/// The smallest innermost extent of a result for which the nest is right.
pub fn least(m: Machine) -> i64 {
    PAIR * m.vector
}

/// The nest of a tiled sum.
///
/// # Errors
/// A transformation does not apply.
pub fn tiled_sum(sum: &TiledSum, m: Machine) -> Result<Nest, Why> {
    let lowered = sum.lower(least(m));
    apply(&lowered.nest, &lowered.names, &schedule(sum.rank(), m).join("\n"))
}

/// The transformations of a sum with a result of this rank.
pub fn schedule(rank: usize, m: Machine) -> Vec<String> {
    let (i, j, width) = (format!("i{}", rank - 2), format!("i{}", rank - 1), least(m));
    vec![
        "accumulate k".into(),
        // A panel of the columns of an operand stays in the cache for all rows.
        format!("interchange {i}"),
        format!("split {j} {width} overlap j0 j1"),
        "interchange j1".into(),
        format!("split j1 {} exact pair lane", m.vector),
        "vectorise lane".into(),
        format!("split {i} {ROWS} clamp h0 h1"),
        // Tasks have whole tiles.
        format!("bind {} parallel", if rank == 2 { "h0" } else { "i0" }),
        "unroll pair".into(),
        "unroll h1".into(),
    ]
}
