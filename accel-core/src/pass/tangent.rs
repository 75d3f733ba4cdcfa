//! The tangent part of values.

use super::no_value;
use crate::ast::*;

/// The tangent part of a value: its floating-point leaves.
pub fn to_tangent<E, A, T>(x: &Exp<E, A, T>) -> Exp<E, A, Tan<T>> {
    deep(|| {
        fresh1(|n| match x.ty().view(n) {
            TyView::Unit(_) => no_value(&tan_ty(x.ty())),
            TyView::Scalar(t) => match t.float() {
                Some(f) => x.cast(tan_float(f).sym()),
                None => no_value(&tan_ty(x.ty())),
            },
            TyView::Pair(_, _, q) => {
                let x = x.cast(q);
                Exp::pair(&to_tangent(&x.fst()), &to_tangent(&x.snd())).cast(eq_tan(q).then(tan_pair()).sym())
            }
            TyView::Arr(..) | TyView::List(..) => unreachable!("scalar functions have neither arrays nor lists"),
        })
    })
}

/// The tangent part of arrays: their floating-point leaves.
pub fn to_tangents<A, R>(a: &Acc<A, R>) -> Acc<A, Tan<R>> {
    deep(|| {
        fresh1(|n| match a.ty().view(n) {
            TyView::Unit(q) => Acc::unit().cast(eq_tan(q).then(tan_unit()).sym()),
            TyView::Arr(_, t, q) => {
                let part = Fun1(to_tangent(&Exp::var(&Idx::zero(&t))));
                Acc::map(&part, &a.cast(q), None).cast(eq_tan(q).then(tan_arr()).sym())
            }
            TyView::Pair(_, _, q) => {
                let a = a.cast(q);
                Acc::pair(&to_tangents(&a.fst()), &to_tangents(&a.snd())).cast(eq_tan(q).then(tan_pair()).sym())
            }
            TyView::Scalar(_) | TyView::List(..) => unreachable!("array code has no scalar values"),
        })
    })
}
