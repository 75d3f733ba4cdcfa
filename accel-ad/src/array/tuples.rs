//! Tuples of the adjoints of some labels.

use super::code::zeros;
use super::state::{ABound, ADual};
use accel_core::ast::*;

/// Adds every component of a tuple of adjoints to the contribution map.
pub fn give<'m, B, A, A2, T>(
    st: ADual<B, A, A2>,
    vars: &VarTuple<A, T>,
    all: &Acc<A2, T>,
    m: Guard<'m>,
) -> ABound<'m, B, A, A2, ()> {
    deep(|| {
        fresh4(|n, n2, l, k| match vars.view(n) {
            VarTupleView::Nil(_) => st.unchanged(m),
            VarTupleView::Extended(rest, i, q) => {
                let all = all.cast(q);
                if let VarTupleView::Nil(_) = rest.view(n2) {
                    return st.contribute(&i, &all.snd(), m);
                }
                let s = st.contribute(&i, &all.snd(), l);
                // Binds the remaining components to a variable. Otherwise each component would be extracted from the
                // whole tuple.
                let left = s.st.bind(&all.fst().weaken(&s.up), k);
                let g = give(left.st, &rest, &Acc::var(&left.val), m);
                ABound { up: s.up.then(&left.up).then(&g.up), st: g.st, val: () }
            }
        })
    })
}

/// Zeros for the adjoints of some labels.
pub fn zero_sums<B, A, A2, T>(vars: &VarTuple<A, T>, st: &ADual<B, A, A2>) -> Acc<A2, T> {
    deep(|| {
        fresh1(|n| match vars.view(n) {
            VarTupleView::Nil(q) => Acc::unit().cast(q.sym()),
            VarTupleView::Extended(rest, i, q) => Acc::pair(&zero_sums(&rest, st), &zeros(&st.value(&i))).cast(q.sym()),
        })
    })
}
