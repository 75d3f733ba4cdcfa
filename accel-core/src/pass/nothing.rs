//! Placeholders for arrays that are not used.

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
            TyView::Scalar(_) => unreachable!("array code has no scalar values"),
        })
    })
}
