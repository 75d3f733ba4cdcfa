//! Linear maps between tuples of numbers, as matrices in scalar code.
//!
//! NOTE [Matrices as tuples]: the matrix of a linear map from `U` to `V` is the tuple `U` with a value of `V` in place of
//! each number: the column of the matrix for this number. So its type follows from `U` and `V`. In Rust, it is a name
//! ([`matrix`] makes the type for it), and the functions below take `U` and the matrix apart side by side. Entries that
//! are constant zeros or ones, because components do not depend on each other, disappear when the code is simplified.

use crate::builders::{Floats, add, zero};
use accel_core::ast::*;

/// The type of the matrices of linear maps from `U` to `V`, both tangent types.
pub fn matrix<'m, U, V>(u: &Ty<U>, v: &Ty<V>, m: Guard<'m>) -> Ty<X<'m>> {
    deep(|| {
        fresh3(|n, p, q| match u.view(n) {
            TyView::Pair(a, b, _) => Ty::pair(&matrix(&a, v, p), &matrix(&b, v, q)).cast(name(m)),
            TyView::Scalar(_) => v.cast(name(m)),
            TyView::Unit(_) | TyView::Arr(..) | TyView::List(..) => Ty::<()>::of().cast(name(m)),
        })
    })
}

/// The matrix of type `t` of the linear map `f` from `U` to `V`.
pub fn tabulate<E, A, U, V, M>(
    u: &Ty<U>,
    v: &Ty<V>,
    t: &Ty<M>,
    f: &dyn Fn(&Exp<E, A, U>) -> Exp<E, A, V>,
) -> Exp<E, A, M> {
    deep(|| {
        fresh2(|n, k| match (u.view(n), t.view(k)) {
            (TyView::Pair(a, b, q), TyView::Pair(ma, mb, p)) => {
                let columns = tabulate(&a, v, &ma, &|x| f(&Exp::pair(x, &zero(&b)).cast(q.sym())));
                let others = tabulate(&b, v, &mb, &|x| f(&Exp::pair(&zero(&a), x).cast(q.sym())));
                Exp::pair(&columns, &others).cast(p.sym())
            }
            (TyView::Scalar(s), _) => {
                let one = s.float().map_or_else(|| zero(u), |s| Floats(s).c(1.0));
                f(&one).cast(column(t, v).sym())
            }
            _ => zero(t),
        })
    })
}

/// Applies the linear map with matrix `m` to `x`.
pub fn apply<E, A, U, V, M>(v: &Ty<V>, m: &Exp<E, A, M>, x: &Exp<E, A, U>) -> Exp<E, A, V> {
    deep(|| {
        fresh2(|n, k| match (x.ty().view(n), m.ty().view(k)) {
            (TyView::Pair(_, _, q), TyView::Pair(_, _, p)) => {
                let (x, m) = (x.cast(q), m.cast(p));
                add(&apply(v, &m.fst(), &x.fst()), &apply(v, &m.snd(), &x.snd()))
            }
            (TyView::Scalar(s), _) => match s.float() {
                Some(s) => scale(&m.cast(column(m.ty(), v)), s, x),
                None => zero(v),
            },
            _ => zero(v),
        })
    })
}

/// The matrix of the linear map that applies the one with matrix `m`, from `U` to `V`, and then `g`, from `V` to `V`.
pub fn then<E, A, U, V, M>(
    u: &Ty<U>,
    v: &Ty<V>,
    m: &Exp<E, A, M>,
    g: &dyn Fn(&Exp<E, A, V>) -> Exp<E, A, V>,
) -> Exp<E, A, M> {
    deep(|| {
        fresh2(|n, k| match (u.view(n), m.ty().view(k)) {
            (TyView::Pair(a, b, _), TyView::Pair(_, _, p)) => {
                let m = m.cast(p);
                Exp::pair(&then(&a, v, &m.fst(), g), &then(&b, v, &m.snd(), g)).cast(p.sym())
            }
            (TyView::Scalar(_), _) => {
                let same = column(m.ty(), v);
                g(&m.cast(same)).cast(same.sym())
            }
            _ => m.clone(),
        })
    })
}

/// The part of a matrix for one number is a column.
fn column<M, V>(m: &Ty<M>, v: &Ty<V>) -> Equal<M, V> {
    m.same(v).expect("`matrix` has made the type")
}

/// `x` times every number of `v`, which have another floating-point type if they are results of a conversion.
fn scale<E, A, V, T>(v: &Exp<E, A, V>, s: FloatTy<T>, x: &Exp<E, A, T>) -> Exp<E, A, V> {
    deep(|| {
        fresh1(|n| match v.ty().view(n) {
            TyView::Pair(_, _, q) => {
                let v = v.cast(q);
                Exp::pair(&scale(&v.fst(), s, x), &scale(&v.snd(), s, x)).cast(q.sym())
            }
            TyView::Scalar(t) => match t.float() {
                Some(t) => {
                    let x = match s.ty().same(&t.ty()) {
                        Some(same) => x.cast(same),
                        None => Exp::prim1(Prim1::Cast(s.num().any(), t.num().any()), x),
                    };
                    Floats(t).strong_mul(v, &x)
                }
                None => v.clone(),
            },
            TyView::Unit(_) | TyView::Arr(..) | TyView::List(..) => v.clone(),
        })
    })
}
