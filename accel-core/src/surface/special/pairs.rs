//! Numbers of twice the precision, as unevaluated sums of two numbers (Dekker, *A floating-point technique for extending the available
//! precision*, 1971).

use crate::surface::Exp;

type E = Exp<f64>;

/// The sum of a number and a small one.
#[derive(Clone, Copy)]
pub(in crate::surface) struct Pair(pub E, pub E);

pub(in crate::surface) fn exactly(x: E) -> Pair {
    Pair(x, crate::surface::lit(0.0))
}

/// The exact sum of two numbers.
pub(in crate::surface) fn sum(a: E, b: E) -> Pair {
    let s = a + b;
    let v = s - a;
    Pair(s, (a - (s - v)) + (b - v))
}

/// The exact product of two numbers.
pub(in crate::surface) fn product(a: E, b: E) -> Pair {
    let halves = |a: E| {
        let t = a * 134_217_729.0;
        let high = t - (t - a);
        (high, a - high)
    };
    let (p, (a, a1), (b, b1)) = (a * b, halves(a), halves(b));
    Pair(p, ((a * b - p) + a * b1 + a1 * b) + a1 * b1)
}

impl Pair {
    pub(in crate::surface) fn negated(self) -> Pair {
        Pair(-self.0, -self.1)
    }

    pub(in crate::surface) fn plus(self, other: Pair) -> Pair {
        let s = sum(self.0, other.0);
        sum(s.0, s.1 + self.1 + other.1)
    }

    pub(in crate::surface) fn times(self, other: Pair) -> Pair {
        let p = product(self.0, other.0);
        sum(p.0, p.1 + (self.0 * other.1 + self.1 * other.0))
    }

    pub(in crate::surface) fn over(self, other: Pair) -> Pair {
        let q = self.0 / other.0;
        let p = product(q, other.0);
        Pair(q, (((self.0 - p.0) - p.1) + self.1 - q * other.1) / other.0)
    }
}
