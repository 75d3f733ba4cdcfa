//! Mistake: the second component instead of the first.
use accel_core::ast::*;

/// `fst (x, y) = x`
pub fn simplify_fst<E, A, T>(e: &Exp<E, A, T>) -> Exp<E, A, T> {
    fresh2(|n, m| {
        if let ExpView::Op(ExpOp::Fst(a, q)) = e.view(n)
            && let ExpView::Op(ExpOp::Pair(x, _y, q2)) = a.view(m)
        {
            return _y.cast(q2.sym().then(q).fst());
        }
        e.clone()
    })
}

fn main() {}
