//! Rules for pairs and projections.

use crate::simplify::operand_facts::{Facts, constant, same};
use crate::simplify::stats::{Rewritten, Rule};
use accel_core::ast::*;
use accel_core::repr::RawTy;

pub fn pair<E, A, P, Q, T>(a: &Exp<E, A, P>, b: &Exp<E, A, Q>, t: &Ty<T>, f: &Facts<E, A>) -> Rewritten<E, A, T> {
    // A pair of constants is a constant.
    if let (Some(x), Some(y)) = (constant(a), constant(b)) {
        let leaves: Vec<_> = x.scalars().iter().chain(y.scalars()).copied().collect();
        return Some((Rule::ConstantFold, Exp::constant(&Value::check(&leaves, t)?, t)));
    }
    // ((), snd p) = p, if the first component can only be ()
    if *a.ty().raw() == RawTy::Unit
        && let Some(p) = fresh1(|n| match f.definition(b).view(n) {
            ExpView::Op(ExpOp::Snd(y, _)) => Some(y.cast(y.ty().same(t)?)),
            _ => None,
        })
    {
        return Some((Rule::PairEta, p));
    }
    // (fst p, snd p) = p
    fresh2(|n, m| match (f.definition(a).view(n), f.definition(b).view(m)) {
        (ExpView::Op(ExpOp::Fst(x, _)), ExpView::Op(ExpOp::Snd(y, _))) => {
            same(&x, &y)?;
            Some((Rule::PairEta, x.cast(x.ty().same(t)?)))
        }
        _ => None,
    })
}

pub fn fst<E, A, T, U>(p: &Exp<E, A, (T, U)>, f: &Facts<E, A>) -> Rewritten<E, A, T> {
    // fst (a, b) = a
    if let Some(v) = constant(p) {
        let t = p.ty().parts().0;
        return Some((Rule::Projection, Exp::constant(&v.split(p.ty()).0, &t)));
    }
    fresh1(|n| match f.definition(p).view(n) {
        ExpView::Op(ExpOp::Pair(a, _, q)) => Some((Rule::Projection, a.cast(q.fst().sym()))),
        _ => None,
    })
}

pub fn snd<E, A, T, U>(p: &Exp<E, A, (T, U)>, f: &Facts<E, A>) -> Rewritten<E, A, U> {
    // snd (a, b) = b
    if let Some(v) = constant(p) {
        let t = p.ty().parts().1;
        return Some((Rule::Projection, Exp::constant(&v.split(p.ty()).1, &t)));
    }
    fresh1(|n| match f.definition(p).view(n) {
        ExpView::Op(ExpOp::Pair(_, b, q)) => Some((Rule::Projection, b.cast(q.snd().sym()))),
        _ => None,
    })
}
