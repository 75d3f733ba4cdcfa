//! How a program gives names to arrays: `named` is an `agree` that compares nothing.

use accel_core::ast::{Exp, ExpView, fresh2};
use frunk::HNil;

/// Whether an `agree` of these shapes gives a name to an array.
pub fn is_label<A, L, M>(left: &Exp<HNil, A, L>, right: &Exp<HNil, A, M>) -> bool {
    fresh2(|n, m| match (left.view(n), right.view(m)) {
        (ExpView::Const(a), ExpView::Const(b)) => a.scalars().is_empty() && b.scalars().is_empty(),
        _ => false,
    })
}
