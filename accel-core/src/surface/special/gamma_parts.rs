//! What the incomplete gamma and beta functions have in common: factors of Γ, and differences that would cancel.

use super::pairs::{self, Pair, exactly};
use crate::surface::exp::while_;
use crate::surface::{Exp, cond, iterate, lit};

type E = Exp<f64>;

/// `c0 + c1 x + c2 x^2 + …`
pub(in crate::surface) fn series(coefficients: &[f64], x: E) -> E {
    coefficients.iter().rev().fold(lit::<f64>(0.0), |s, c| s * x + *c)
}

/// B(2k) / (2k (2k - 1)) for k from 1 on, with the Bernoulli numbers B.
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
];

/// B(2k) / 2k
pub(in crate::surface) fn digamma_coefficients() -> [f64; 8] {
    let mut n = -1.0;
    STIRLING.map(|c| {
        n += 2.0;
        c * n
    })
}

/// What Stirling's formula adds to the logarithm of Γ(z), for `z` from 10 on: `ln Γ(z) - (z - 1/2) ln z + z - ln(2π) / 2`.
pub(in crate::surface) fn stirling(z: E) -> E {
    let r = z.recip();
    series(&STIRLING, r * r) * r
}

/// Γ(z) as Γ(y) / r, where `y` is between 1 and 2, for `z` from 0 to about 20. The differences `z - 1`, `z - 2`, …, whose product is
/// `1 / r`, are exact.
pub(in crate::surface) struct Reduced {
    pub(in crate::surface) argument: E,
    pub(in crate::surface) recip: E,
}

pub(in crate::surface) fn reduced(z: E) -> Reduced {
    let step = |(z, p, rest): (E, E, E)| {
        let z = z - 1.0;
        let next = pairs::product(p, z);
        (z, next.0, rest * z + next.1)
    };
    let init = (z, lit::<f64>(1.0), lit::<f64>(0.0));
    let (y, p, rest) = while_::<(f64, f64, f64), _, _, _>(|(z, ..)| z.ge(2.0), step, init);
    let is_below_one = z.lt(1.0);
    let argument = cond::<f64>(is_below_one, z + 1.0, y);
    Reduced { argument, recip: cond::<f64>(is_below_one, z, (p + rest).recip()) }
}

/// `1 / Γ(z)`
pub(in crate::surface) fn recip_gamma(z: E) -> E {
    let Reduced { argument, recip } = reduced(z);
    recip * (-argument.lgamma()).exp()
}

/// `ln(p / q)`, as `k ln 2 + 2 artanh z`, where `z` is `(p - b) / (p + b)` for `b = 2^k q` near `p`.
pub(in crate::surface) fn ln_ratio(p: Pair, q: Pair) -> Pair {
    let doubled = |(b, scale, k): (E, E, E)| {
        let is_less = b.lt(p.0);
        let factor = cond::<f64>(is_less, lit(2.0), lit(0.5));
        (b * factor, scale * factor, k + cond::<f64>(is_less, lit(1.0), lit(-1.0)))
    };
    let is_far = |(b, ..): (E, E, E)| p.0.gt(b * 1.5).or(b.gt(p.0 * 1.5));
    let init = (q.0, lit::<f64>(1.0), lit::<f64>(0.0));
    let (b, scale, k) = while_::<(f64, f64, f64), _, _, _>(is_far, doubled, init);
    let b = Pair(b, q.1 * scale);
    let z = p.plus(b.negated()).over(p.plus(b));
    let square = z.times(z);
    let term = |(n, s, rest): (E, E, E)| {
        let s = square.times(Pair(s, rest)).plus(exactly(lit(1.0)).over(exactly(n)));
        (n - 2.0, s.0, s.1)
    };
    let init = (lit::<f64>(29.0), lit::<f64>(0.0), lit::<f64>(0.0));
    let (_, s, rest) = iterate::<(f64, f64, f64), _, _>(15, term, init);
    let ln_2 = Pair(lit(std::f64::consts::LN_2), lit(2.319_046_813_846_299_6e-17));
    exactly(k).times(ln_2).plus(Pair(z.0 * 2.0, z.1 * 2.0).times(Pair(s, rest)))
}

/// `e^s - 1 - s`
pub(in crate::surface) fn exp_minus_line(s: E) -> E {
    let factorials = (1..=17).map(|k| (1..=k).map(f64::from).product::<f64>());
    let coefficients: Vec<f64> = factorials.skip(1).map(f64::recip).collect();
    cond(s.abs().lt(0.7), s * s * series(&coefficients, s), s.exp_m1() - s)
}

/// `ln(1 + z) - z` for `z` from -1/2 on: up to 1 as `2 (artanh w - w) - z w` with `w = z / (2 + z)`.
pub(in crate::surface) fn ln_1p_minus_line(z: E) -> E {
    let coefficients: Vec<f64> = (0..16).map(|k| 1.0 / f64::from(2 * k + 3)).collect();
    let w = z / (z + 2.0);
    let near = w * (w * w) * 2.0 * series(&coefficients, w * w) - w * z;
    cond(z.gt(1.0), z.ln_1p() - z, near)
}

/// `g(z) - g(z + w)`, where `g(z) = ln z - ψ(z)`: the recurrence `g(z) - g(z + 1) = 1 / z - ln(1 + 1 / z)` leads to `z` from 10 on, and
/// then Stirling's series. All terms have the same sign.
pub(in crate::surface) fn difference_of_digammas(z: E, w: E) -> E {
    let step = |(z, total): (E, E)| {
        let rest = w / (z * (z + w + 1.0));
        (z + 1.0, total + (rest / (z + w) - ln_1p_minus_line(rest)))
    };
    let init = (z, lit::<f64>(0.0));
    let (z, total) = while_::<(f64, f64), _, _, _>(|(z, _)| z.lt(10.0), step, init);
    let (u, v) = (z.recip(), (z + w).recip());
    // The series s at v^2, and d = (s(u^2) - s(v^2)) / (u^2 - v^2).
    let zeros = (lit::<f64>(0.0), lit::<f64>(0.0));
    let (s, d) = digamma_coefficients().iter().rev().fold(zeros, |(s, d), c| (s * (v * v) + *c, d * (u * u) + s));
    total + w * u * v * ((u + v) * (s + u * u * d) + 0.5)
}
