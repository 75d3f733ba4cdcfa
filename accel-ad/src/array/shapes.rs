//! Index arithmetic in scalar code: sizes, bounds and row-major positions.

use crate::builders::{and, compare, index_op, int, truth, unit};
use accel_core::ast::*;
use accel_core::repr::op::{Cmp, Num2};
use frunk::HCons;

/// `let x = e in f(x, up)`, where `up` embeds the other variables into the scope of `x`.
pub fn bind<E, A, B, T>(
    e: &Exp<E, A, B>,
    f: impl FnOnce(Exp<HCons<B, E>, A, B>, Thinning<E, HCons<B, E>>) -> Exp<HCons<B, E>, A, T>,
) -> Exp<E, A, T> {
    Exp::let_(e, &f(Exp::var(&Idx::zero(e.ty())), Thinning::shift()))
}

/// The number of elements of a shape.
pub fn size<E, A, Sh>(sh: &Exp<E, A, Sh>) -> Exp<E, A, i64> {
    fresh2(|n, k| match sh.ty().view(n) {
        TyView::Pair(_, t, q) => {
            let sh = sh.cast(q);
            let extent = as_index(&sh.snd(), &t);
            match sh.fst().ty().view(k) {
                TyView::Unit(_) => extent,
                _ => index_op(Num2::Mul, &size(&sh.fst()), &extent),
            }
        }
        _ => int(1),
    })
}

/// An extent or index of a shape whose type is only known by name.
pub fn as_index<E, A, T>(e: &Exp<E, A, T>, t: &Ty<T>) -> Exp<E, A, i64> {
    let q = t.same(&Ty::of()).expect("the dimensions of shapes are i64");
    e.cast(q)
}

/// Whether an index is within the bounds of a shape.
pub fn in_bounds<E, A, Sh>(ix: &Exp<E, A, Sh>, sh: &Exp<E, A, Sh>) -> Exp<E, A, bool> {
    fresh1(|n| match ix.ty().view(n) {
        TyView::Pair(_, _, q) => {
            let (ix, sh) = (ix.cast(q), sh.cast(q));
            let inner = fresh1(|k| match ix.snd().ty().view(k) {
                TyView::Scalar(t) => compare(Cmp::Lt, t, &ix.snd(), &sh.snd()),
                _ => truth(true),
            });
            match ix.fst().ty().raw().width() {
                0 => inner,
                _ => and(&in_bounds(&ix.fst(), &sh.fst()), &inner),
            }
        }
        _ => truth(true),
    })
}

/// Whether an index, which may be negative, is within the bounds of a shape.
pub fn inside<E, A, Sh>(ix: &Exp<E, A, Sh>, sh: &Exp<E, A, Sh>) -> Exp<E, A, bool> {
    fresh1(|n| match ix.ty().view(n) {
        TyView::Pair(_, t, q) => {
            let (outer, i) = (ix.cast(q).fst(), as_index(&ix.cast(q).snd(), &t));
            let not_negative = compare(Cmp::Ge, NumTy::index().any(), &i, &int(0));
            let own = and(&not_negative, &compare(Cmp::Lt, NumTy::index().any(), &i, &as_index(&sh.cast(q).snd(), &t)));
            and(&inside(&outer, &sh.cast(q).fst()), &own)
        }
        _ => truth(true),
    })
}

/// Joins the parts of an index of the large shape.
pub fn merge<E, A, Slx, Small, Large>(
    spec: &SliceSpec<Slx, Small, Large>,
    fixed: &Exp<E, A, Slx>,
    small: &Exp<E, A, Small>,
) -> Exp<E, A, Large> {
    fresh1(|n| match spec.view(n) {
        SliceView::Nil(_, _, ql) => unit().cast(ql.sym()),
        SliceView::Keep(rest, qf, qs, ql) => {
            let small = small.cast(qs);
            Exp::pair(&merge(&rest, &fixed.cast(qf), &small.fst()), &small.snd()).cast(ql.sym())
        }
        SliceView::Fix(rest, qf, qs, ql) => {
            let fixed = fixed.cast(qf);
            Exp::pair(&merge(&rest, &fixed.fst(), &small.cast(qs)), &fixed.snd()).cast(ql.sym())
        }
    })
}

/// The row-major position of an index of a shape.
pub fn to_linear<E, A, Sh>(sh: &Exp<E, A, Sh>, ix: &Exp<E, A, Sh>) -> Exp<E, A, i64> {
    fresh2(|n, k| match sh.ty().view(n) {
        TyView::Pair(_, t, q) => {
            let (sh, ix) = (sh.cast(q), ix.cast(q));
            let inner = as_index(&ix.snd(), &t);
            match sh.fst().ty().view(k) {
                TyView::Unit(_) => inner,
                _ => {
                    let outer = to_linear(&sh.fst(), &ix.fst());
                    index_op(Num2::Add, &index_op(Num2::Mul, &outer, &as_index(&sh.snd(), &t)), &inner)
                }
            }
        }
        _ => int(0),
    })
}

/// The index at row-major position `k` of a shape.
pub fn from_linear<E, A, Sh>(sh: &Exp<E, A, Sh>, k: &Exp<E, A, i64>) -> Exp<E, A, Sh> {
    fresh1(|n| match sh.ty().view(n) {
        TyView::Pair(_, t, q) => {
            let sh = sh.cast(q);
            let extent = as_index(&sh.snd(), &t);
            let back = t.same(&Ty::of()).expect("the dimensions of shapes are i64").sym();
            let outer = from_linear(&sh.fst(), &index_op(Num2::Div, k, &extent));
            Exp::pair(&outer, &index_op(Num2::Rem, k, &extent).cast(back)).cast(q.sym())
        }
        TyView::Unit(q) => unit().cast(q.sym()),
        _ => unreachable!("shapes are tuples"),
    })
}
