//! Jacobi's rotations of pairs of rows or columns.
//!
//! NOTE [Rounds of pairs]: in a sweep, each pair of the n rows of a matrix is rotated once. As in a tournament, a round has n / 2 pairs that have no
//! row in common, and there are n - 1 rounds, or n for an odd number of rows, of which one pauses. So a round is one operation on the whole matrix.
//! After some sweeps, about log n, what is rotated away is smaller than the rounding (Brent and Luk 1985).

use super::{M, one, zero};
use crate::types::Floating;
use crate::{Acc, Exp, Vector, cond, generate, lit, unzip3};

/// The most sweeps: twice as many as any matrix was seen to need.
pub(super) const SWEEPS: i64 = 30;

/// The number of rounds of a sweep over n rows.
pub(super) fn rounds(n: Exp<i64>) -> Exp<i64> {
    cond((n % 2).eq(0), n - 1, n).max(0)
}

/// What is smaller than this, in relation to the whole, is rounding: n times the distance of 1 to the next number.
pub(super) fn precision<T: Floating>(n: Exp<i64>) -> Exp<T> {
    ((lit::<T>(4.0) / lit::<T>(3.0) - one::<T>()) * lit::<T>(3.0) - one::<T>()).abs() * n.cast::<T>()
}

/// What a round does with row i: it becomes `cosine[i]` times itself plus `sine[i]` times row `partner[i]`.
#[derive(Clone, Copy)]
pub(super) struct Round<T: Floating> {
    partner: Acc<Vector<i64>>,
    cosine: Acc<Vector<T>>,
    sine: Acc<Vector<T>>,
}

/// The partner of row i of n in a round; i itself if it pauses.
pub(super) fn partner(i: Exp<i64>, round: Exp<i64>, n: Exp<i64>) -> Exp<i64> {
    // With a last player that stays, whose partner is the one that would meet itself.
    let last = rounds(n);
    let other = (round * 2 - i + last * 2) % last;
    let other = cond(i.eq(last), round, cond(other.eq(i), last, other));
    cond(other.ge(n), i, other)
}

impl<T: Floating> Round<T> {
    /// The rotations of all pairs p < q for which `elements` gives the symmetric matrix `[[a, b], [b, c]]` that is to become diagonal, as (a, b, c).
    pub(super) fn new(
        n: Exp<i64>,
        round: Exp<i64>,
        elements: impl Fn(Exp<i64>, Exp<i64>) -> (Exp<T>, Exp<T>, Exp<T>),
    ) -> Self {
        let of = |i: Exp<i64>| {
            let other = partner(i, round, n);
            let (a, b, c) = elements(i.min(other), i.max(other));
            let ratio = (c - a) / (b * lit::<T>(2.0));
            let sign = cond(ratio.lt(zero::<T>()), -one::<T>(), one::<T>());
            // The smaller angle.
            let tangent = sign / (ratio.abs() + (ratio * ratio + one::<T>()).sqrt());
            let tangent = cond(other.eq(i).or(b.eq(zero::<T>())), zero::<T>(), tangent);
            let cosine = one::<T>() / (tangent * tangent + one::<T>()).sqrt();
            let sine = cond(i.lt(other), -tangent * cosine, tangent * cosine);
            (other, cosine, sine)
        };
        let (partner, cosine, sine) = unzip3(generate(n, of));
        Round { partner, cosine, sine }
    }

    /// The matrix with its columns rotated.
    pub(super) fn columns(self, a: M<T>) -> M<T> {
        generate(a.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
            a.at((i, k)) * self.cosine.at(k) + a.at((i, self.partner.at(k))) * self.sine.at(k)
        })
    }

    /// The matrix with its rows rotated.
    pub(super) fn rows(self, a: M<T>) -> M<T> {
        generate(a.shape(), |(i, k): (Exp<i64>, Exp<i64>)| {
            a.at((i, k)) * self.cosine.at(i) + a.at((self.partner.at(i), k)) * self.sine.at(i)
        })
    }
}
