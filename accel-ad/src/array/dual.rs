//! The dual pass for arrays (thesis section 3.4.4, table 2). It expects a telescope from the label pass, walks through
//! it backwards, and establishes the adjoint of every variable before the telescope (see the glossary of the book: dual
//! pass, contribution map).

use super::code::ACode;
use super::rules::step;
use super::state::ADual;
use crate::builders::has_tangent;
use accel_core::ast::*;
use accel_core::error::Result;

/// Walks through the telescope backwards. `m` names the final code environment.
///
/// # Errors
/// [`Error::Internal`](accel_core::error::Error::Internal) if the code is not in normal form.
pub fn reverse<'m, B, A, A2, A3>(
    tape: &ATele<A, A2>,
    st: ADual<B, A2, A3>,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    fresh4(|a, b, a2, a3| {
        let (a, b, a2, a3) = (name(a), name(b), name(a2), name(a3));
        let st = ADual {
            code: ACode { tele: st.code.tele.cast_all(b, a3), size: st.code.size.cast(a3) },
            adj: st.adj.cast_labels(a2).cast_code(a3),
            emb: st.emb.cast(a2, a3),
            used: st.used,
            activity: st.activity,
        };
        let r = deep(|| reverse_(&tape.cast_all(a, a2), st, m))?;
        let same = Equal::refl();
        Ok(ADual {
            code: ACode { tele: r.code.tele.cast_all(b.sym(), same), size: r.code.size },
            adj: r.adj.cast_labels(a.sym()),
            emb: r.emb.cast(a.sym(), same),
            used: r.used,
            activity: r.activity,
        })
    })
}

fn reverse_<'m, 'a, 'b, 'c, 'd>(
    tape: &ATele<X<'a>, X<'c>>,
    st: ADual<X<'b>, X<'c>, X<'d>>,
    m: Guard<'m>,
) -> Result<ADual<X<'b>, X<'a>, X<'m>>> {
    fresh3(|n, k, l| match tape.view(n) {
        ATeleView::Nil(q) => {
            let (st, _) = st.rename(m);
            let emb = st.emb.cast(q.sym(), Equal::refl());
            Ok(ADual { code: st.code, adj: st.adj.cast_labels(q.sym()), emb, used: st.used, activity: st.activity })
        }
        ATeleView::Extended(init, rhs, q) => {
            let last = Idx::zero(rhs.ty());
            let mut adj = st.adj.cast_labels(q);
            let parts = adj.take(&last);
            let emb = st.emb.cast(q, Equal::refl());
            let y = emb.at(&last);
            let is_passive = st.activity.of(&last, adj.label_size()).is_passive();
            let st = ADual {
                code: st.code,
                adj: adj.shrink(),
                emb: Thinning::shift().then(&emb),
                used: st.used,
                activity: st.activity,
            };
            if parts.iter().all(SparseTangent::is_zero) || !has_tangent(rhs.ty()) || is_passive {
                return reverse(&init, st, m);
            }
            let d = st.sum(&parts, &Acc::var(&y), k);
            let st = step(&rhs, d.st, &d.val, &d.up.at(&y), l)?;
            reverse(&init, st, m)
        }
    })
}
