//! Wraps the definitions of a telescope around a term (see the glossary of the book: telescope). This is the only way
//! to leave a computed environment.

use crate::ast::*;

/// Wraps the definitions of a telescope of scalars around `body`.
pub fn close<A, E, E2, T>(tele: &Tele<A, E, E2>, body: &Exp<E2, A, T>) -> Exp<E, A, T> {
    fresh4(|a, e, f, t| {
        let (a, e, f, t) = (name(a), name(e), name(f), name(t));
        close_(&tele.cast_all(a, e, f), &body.cast_all(f, a, t)).cast_all(e.sym(), a.sym(), t.sym())
    })
}

fn close_<'a, 'e, 'f, 't>(
    tele: &Tele<X<'a>, X<'e>, X<'f>>,
    body: &Exp<X<'f>, X<'a>, X<'t>>,
) -> Exp<X<'e>, X<'a>, X<'t>> {
    fresh1(|n| match tele.view(n) {
        TeleView::Nil(q) => body.cast_env(q.sym()),
        TeleView::Extended(init, rhs, q) => {
            let body = Exp::let_(&rhs, &body.cast_env(q));
            deep(|| close_(&init, &body))
        }
    })
}

/// Wraps the definitions of a telescope of arrays around `body`.
pub fn aclose<A, A2, R>(tele: &ATele<A, A2>, body: &Acc<A2, R>) -> Acc<A, R> {
    fresh3(|a, b, r| {
        let (a, b, r) = (name(a), name(b), name(r));
        aclose_(&tele.cast_all(a, b), &body.cast_env(b).cast(r)).cast_env(a.sym()).cast(r.sym())
    })
}

fn aclose_<'a, 'b, 'r>(tele: &ATele<X<'a>, X<'b>>, body: &Acc<X<'b>, X<'r>>) -> Acc<X<'a>, X<'r>> {
    fresh1(|n| match tele.view(n) {
        ATeleView::Nil(q) => body.cast_env(q.sym()),
        ATeleView::Extended(init, rhs, q) => {
            let body = Acc::let_(&rhs, &body.cast_env(q));
            deep(|| aclose_(&init, &body))
        }
    })
}
