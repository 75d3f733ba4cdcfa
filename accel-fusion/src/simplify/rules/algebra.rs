//! Identities of numbers. For floats, only those that hold for all IEEE values, including signed zeros, infinities and
//! NaN: `x + 0.0` is not `x` if `x` is `-0.0`, and `x * 0.0` is not `0.0` if `x` is infinite. The sign of a strong zero
//! (NOTE [Strong zeros] in `accel-ad`) may be lost.

use crate::simplify::operand_facts::{Facts, literal, same, scalar};
use crate::simplify::stats::{Rewritten, Rule};
use accel_core::ast::*;
use accel_core::repr::op::{Float2, Int2, Num1, Num2, Op2};

pub fn prim1<E, A, P, T>(p: Prim1<P, T>, a: &Exp<E, A, P>, f: &Facts<E, A>) -> Rewritten<E, A, T> {
    match p {
        // --x = x
        Prim1::Num(Num1::Neg, _, q) => Some((Rule::Sign, f.negated(a)?.cast(q))),
        Prim1::Num(Num1::Abs, t, q) => match f.num1(a)? {
            // |-x| = |x|
            (Num1::Neg, x) => Some((Rule::Sign, Exp::prim1(Prim1::Num(Num1::Abs, t, q), &x))),
            // ||x|| = |x|
            (Num1::Abs, _) => Some((Rule::Idempotent, a.cast(q))),
            _ => None,
        },
        // A conversion to the same type
        Prim1::Cast(from, to) => Some((Rule::CastSame, a.cast(from.ty().same(&to.ty())?))),
        _ => None,
    }
}

pub fn prim2<E, A, P, T>(p: Prim2<P, T>, a: &Exp<E, A, P>, b: &Exp<E, A, P>, f: &Facts<E, A>) -> Rewritten<E, A, T> {
    match p {
        Prim2::Num(op, t, q) => {
            let found = if t.float().is_some() { float(op, t, a, b, f) } else { integer(op, t, a, b, f) };
            let (rule, e) = found.or_else(|| either(op, t, a, b, f))?;
            Some((rule, e.cast(q)))
        }
        Prim2::Float(op, t, q) => {
            let (rule, e) = strong(op, t, a, b, f)?;
            Some((rule, e.cast(q)))
        }
        Prim2::Int(op, t, q) => {
            let (rule, e) = bits(op, t, a, b)?;
            Some((rule, e.cast(q)))
        }
        _ => None,
    }
}

fn arithmetic<E, A, T>(op: Num2, t: NumTy<T>, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
    Exp::prim2(Prim2::Num(op, t, Equal::refl()), a, b)
}
fn negation<E, A, T>(t: NumTy<T>, a: &Exp<E, A, T>) -> Exp<E, A, T> {
    Exp::prim1(Prim1::Num(Num1::Neg, t, Equal::refl()), a)
}

/// Whether an operand is the constant nearest to `x`, with its sign if it is zero.
fn is<E, A, T>(e: &Exp<E, A, T>, t: NumTy<T>, x: f64) -> bool {
    scalar(e) == Some(t.scalar().from_f64(x))
}

/// Identities of integers and floats; integers wrap.
fn either<E, A, T>(op: Num2, t: NumTy<T>, a: &Exp<E, A, T>, b: &Exp<E, A, T>, f: &Facts<E, A>) -> Rewritten<E, A, T> {
    Some(match op {
        // x * 1 = x, 1 * x = x, x / 1 = x
        Num2::Mul | Num2::Div if is(b, t, 1.0) => (Rule::Neutral, a.clone()),
        Num2::Mul if is(a, t, 1.0) => (Rule::Neutral, b.clone()),
        // -x * -y = x * y
        Num2::Mul => (Rule::Sign, arithmetic(op, t, &f.negated(a)?, &f.negated(b)?)),
        // x + -y = x - y
        Num2::Add if let Some(y) = f.negated(b) => (Rule::Sign, arithmetic(Num2::Sub, t, a, &y)),
        // -x + y = y - x
        Num2::Add => (Rule::Sign, arithmetic(Num2::Sub, t, b, &f.negated(a)?)),
        // x - -y = x + y
        Num2::Sub => (Rule::Sign, arithmetic(Num2::Add, t, a, &f.negated(b)?)),
        // min x x = x, max x x = x
        Num2::Min | Num2::Max if same(a, b).is_some() => (Rule::Idempotent, a.clone()),
        _ => return None,
    })
}

fn float<E, A, T>(op: Num2, t: NumTy<T>, a: &Exp<E, A, T>, b: &Exp<E, A, T>, f: &Facts<E, A>) -> Rewritten<E, A, T> {
    Some(match op {
        // x + -0.0 = x, -0.0 + x = x
        Num2::Add if is(b, t, -0.0) => (Rule::Neutral, a.clone()),
        Num2::Add if is(a, t, -0.0) => (Rule::Neutral, b.clone()),
        // x + 0.0 = x, 0.0 + x = x, up to the sign of a zero
        Num2::Add if f.unsigned_zeros && is(b, t, 0.0) => (Rule::AdjointZero, a.clone()),
        Num2::Add if f.unsigned_zeros && is(a, t, 0.0) => (Rule::AdjointZero, b.clone()),
        // x - 0.0 = x
        Num2::Sub if is(b, t, 0.0) => (Rule::Neutral, a.clone()),
        // -0.0 - x = -x
        Num2::Sub if is(a, t, -0.0) => (Rule::Sign, negation(t, b)),
        // x * -1 = -x, -1 * x = -x, x / -1 = -x
        Num2::Mul | Num2::Div if is(b, t, -1.0) => (Rule::Sign, negation(t, a)),
        Num2::Mul if is(a, t, -1.0) => (Rule::Sign, negation(t, b)),
        _ => return None,
    })
}

/// Products and quotients with strong zeros, which have a sign, and are ordinary ones for most constants; and what is there only for
/// derivatives.
fn strong<E, A, T>(
    op: Float2,
    t: FloatTy<T>,
    a: &Exp<E, A, T>,
    b: &Exp<E, A, T>,
    f: &Facts<E, A>,
) -> Rewritten<E, A, T> {
    if op == Float2::Along {
        return Some((Rule::Annihilate, Exp::constant(&t.num().value(-0.0), &t.num().ty())));
    }
    op.without_strong_zeros()?;
    let again = |a: &_, b: &_| Exp::prim2(Prim2::Float(op, t, Equal::refl()), a, b);
    let (x, y, t) = (scalar(a), scalar(b), t.num());
    Some(match (f.negated(a), f.negated(b)) {
        _ if op.is_strong_zero(x, y) => (Rule::Annihilate, Exp::constant(&t.value(0.0), &t.ty())),
        _ if let Some(op) = op.ordinary(x, y) => (Rule::StrongZero, arithmetic(op, t, a, b)),
        // -x * -y = x * y, -x * y = -(x * y), x * -y = -(x * y)
        (Some(x), Some(y)) => (Rule::Sign, again(&x, &y)),
        (Some(x), None) => (Rule::Sign, negation(t, &again(&x, b))),
        (None, Some(y)) => (Rule::Sign, negation(t, &again(a, &y))),
        (None, None) => return None,
    })
}

fn integer<E, A, T>(op: Num2, t: NumTy<T>, a: &Exp<E, A, T>, b: &Exp<E, A, T>, f: &Facts<E, A>) -> Rewritten<E, A, T> {
    let zero = || Exp::constant(&t.value(0.0), &t.ty());
    Some(match op {
        // x + 0 = x, 0 + x = x, x - 0 = x
        Num2::Add | Num2::Sub if is(b, t, 0.0) => (Rule::Neutral, a.clone()),
        Num2::Add if is(a, t, 0.0) => (Rule::Neutral, b.clone()),
        // 0 - x = -x
        Num2::Sub if is(a, t, 0.0) => (Rule::Sign, negation(t, b)),
        // x - x = 0
        Num2::Sub if same(a, b).is_some() => (Rule::Annihilate, zero()),
        // x * 0 = 0
        Num2::Mul if is(a, t, 0.0) || is(b, t, 0.0) => (Rule::Annihilate, zero()),
        // x % 1 = 0
        Num2::Rem if is(b, t, 1.0) => (Rule::Annihilate, zero()),
        Num2::Add | Num2::Sub => constants_together(op, t, a, b, f)?,
        _ => return None,
    })
}

/// `(x + c) + d` = `x + (c + d)`, also with differences
fn constants_together<E, A, T>(
    op: Num2,
    t: NumTy<T>,
    a: &Exp<E, A, T>,
    b: &Exp<E, A, T>,
    f: &Facts<E, A>,
) -> Rewritten<E, A, T> {
    let d = scalar(b)?;
    let (inner, x, c) = f.num2(a)?;
    let c = scalar(&c)?;
    let combined = match (inner, op) {
        (Num2::Add, _) => Op2::Num(op).eval(c, d),
        (Num2::Sub, Num2::Add) => Op2::Num(Num2::Sub).eval(c, d),
        (Num2::Sub, _) => Op2::Num(Num2::Add).eval(c, d),
        _ => return None,
    };
    let c = literal(t.any(), combined.ok()?)?;
    Some((Rule::Reassociate, arithmetic(inner, t, &x, &c)))
}

fn bits<E, A, T>(op: Int2, t: IntTy<T>, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Rewritten<E, A, T> {
    let n = t.num();
    let zero = || Exp::constant(&n.value(0.0), &n.ty());
    Some(match op {
        // x & x = x, x | x = x
        Int2::And | Int2::Or if same(a, b).is_some() => (Rule::Idempotent, a.clone()),
        // x ^ x = 0
        Int2::Xor if same(a, b).is_some() => (Rule::Annihilate, zero()),
        // x & 0 = 0
        Int2::And if is(a, n, 0.0) || is(b, n, 0.0) => (Rule::Annihilate, zero()),
        // x | 0 = x, x ^ 0 = x, x << 0 = x, x >> 0 = x
        Int2::Or | Int2::Xor | Int2::Shl | Int2::Shr if is(b, n, 0.0) => (Rule::Neutral, a.clone()),
        // 0 | x = x, 0 ^ x = x
        Int2::Or | Int2::Xor if is(a, n, 0.0) => (Rule::Neutral, b.clone()),
        // div_euclid x 1 = x
        Int2::DivEuclid if is(b, n, 1.0) => (Rule::Neutral, a.clone()),
        // rem_euclid x 1 = 0
        Int2::RemEuclid if is(b, n, 1.0) => (Rule::Annihilate, zero()),
        _ => return None,
    })
}
