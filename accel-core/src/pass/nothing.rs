//! Placeholders for values that are not used.

use crate::ast::*;

/// Empty arrays of a type, in place of unused arrays.
pub fn nothing<A, R>(t: &Ty<R>) -> Acc<A, R> {
    deep(|| {
        fresh1(|n| match t.view(n) {
            TyView::Unit(q) => Acc::unit().cast(q.sym()),
            TyView::Pair(a, b, q) => Acc::pair(&nothing(&a), &nothing(&b)).cast(q.sym()),
            TyView::Arr(sh, t, q) => {
                let zero = Exp::constant(&Value::zero(&t), &t);
                let empty = Exp::constant(&Value::zero(&sh.element()), &sh);
                Acc::generate(&sh, &empty, &Fun1(zero), None).cast(q.sym())
            }
            TyView::Scalar(_) | TyView::List(..) => unreachable!("array code has no scalar values"),
        })
    })
}

/// Zeros and empty lists of a type, in place of an unused scalar value.
pub fn no_value<E, A, T>(t: &Ty<T>) -> Exp<E, A, T> {
    if let Some(element) = ElementTy::of(t) {
        return Exp::constant(&Value::zero(&element), t);
    }
    fresh3(|e, a, n| {
        let (e, a, n) = (name::<E>(e), name::<A>(a), name::<T>(n));
        deep(|| no_value_(&t.cast(n))).cast_all(e.sym(), a.sym(), n.sym())
    })
}

// Generic in lifetimes only, so that it is compiled once.
fn no_value_<'e, 'a, 't>(t: &Ty<X<'t>>) -> Exp<X<'e>, X<'a>, X<'t>> {
    fresh1(|n| match t.view(n) {
        TyView::Pair(a, b, q) => Exp::pair(&no_value(&a), &no_value(&b)).cast(q.sym()),
        TyView::List(s, q) => {
            let row = s.element();
            let step = Exp::pair(&unit(), &Exp::constant(&Value::zero(&row), &row));
            let none = ExpTrips::Times(Exp::constant(&Value::of(0i64), &Ty::of()));
            let xs = (&unit().cast(list_unit().sym()), &ElementTy::known());
            Exp::loop_(&none, Dir::Left, &unit(), xs, &step, None).snd().cast(q.sym())
        }
        TyView::Unit(_) | TyView::Scalar(_) | TyView::Arr(..) => unreachable!("scalar code has no array values"),
    })
}

fn unit<E, A>() -> Exp<E, A, ()> {
    Exp::constant(&Value::unit(), &Ty::of())
}
