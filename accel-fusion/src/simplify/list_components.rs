//! Liveness of lists and rows: loops take and list only those arrays of a tuple that are used.

use super::used_components::Demand;
use accel_core::ast::*;
use accel_core::pass::nothing;
use accel_core::repr::RawTy;
use frunk::HCons;

/// Whether a demand leaves out some array of a tuple of type `t`.
fn leaves_out(d: &Demand, t: &RawTy) -> bool {
    match (d, t) {
        (Demand::None, RawTy::Array(_)) => true,
        (Demand::Pair(d), RawTy::Pair(p)) => leaves_out(&d[0], &p.0) || leaves_out(&d[1], &p.1),
        (Demand::None, RawTy::Pair(p)) => leaves_out(d, &p.0) || leaves_out(d, &p.1),
        _ => false,
    }
}

/// The demanded arrays of a tuple, as a smaller tuple.
fn narrow<'m, A, R>(a: &Acc<A, R>, d: &Demand, m: Guard<'m>) -> Acc<A, X<'m>> {
    fresh3(|n, k, l| match (d, a.ty().view(n)) {
        (Demand::None, _) => Acc::unit().cast(name(m)),
        (Demand::Pair(p), TyView::Pair(_, _, q)) => {
            let a = a.cast(q);
            match &**p {
                [d, Demand::None] => deep(|| narrow(&a.fst(), d, m)),
                [Demand::None, d] => deep(|| narrow(&a.snd(), d, m)),
                [x, y] => deep(|| Acc::pair(&narrow(&a.fst(), x, k), &narrow(&a.snd(), y, l)).cast(name(m))),
            }
        }
        _ => a.cast(name(m)),
    })
}

/// The tuple of type `t` whose demanded arrays are those of `a`, and whose other arrays are empty. `None` if `a` does not
/// have the type that [`narrow`] gives.
fn widen<A, U, R>(a: &Acc<A, U>, t: &Ty<R>, d: &Demand) -> Option<Acc<A, R>> {
    fresh2(|n, m| match (d, t.view(n)) {
        (Demand::None, _) => Some(nothing(t)),
        (Demand::Pair(p), TyView::Pair(s, t, q)) => {
            let (x, y) = match &**p {
                [d, Demand::None] => (deep(|| widen(a, &s, d))?, nothing(&t)),
                [Demand::None, d] => (nothing(&s), deep(|| widen(a, &t, d))?),
                [x, y] => {
                    let TyView::Pair(_, _, q) = a.ty().view(m) else { return None };
                    let a = a.cast(q);
                    (deep(|| widen(&a.fst(), &s, x))?, deep(|| widen(&a.snd(), &t, y))?)
                }
            };
            Some(Acc::pair(&x, &y).cast(q.sym()))
        }
        _ => Some(a.cast(a.ty().same(t)?)),
    })
}

/// The loop that lists only the demanded arrays, and the result of the loop in terms of that of the new one; `None` if
/// all are demanded.
pub fn unlisted<'m, 'r, A, R>(
    a: &Acc<A, R>,
    d: &Demand,
    m: Guard<'m>,
    r: Guard<'r>,
) -> Option<(Acc<A, X<'r>>, Acc<HCons<X<'r>, A>, R>)> {
    fresh1(|n| {
        let AccView::Loop(l, q) = a.view(n) else { return None };
        let [_, d] = d.split();
        if !leaves_out(&d, l.entry().raw()) {
            return None;
        }
        let step = Acc::var(&Idx::zero(l.body.ty()));
        let body = Acc::let_(&l.body, &Acc::pair(&step.fst(), &narrow(&step.snd(), &d, m)));
        let narrow = ALoop { user: l.user, trips: l.trips, init: l.init, xs: l.xs, body };
        let narrow = Acc::loop_(&narrow, a.at());
        let all = Acc::var(&Idx::zero(narrow.ty()));
        let (_, list) = a.ty().cast(q).parts();
        let wide = Acc::pair(&all.fst(), &widen(&all.snd(), &list, &d)?).cast(q.sym());
        let q = name(r);
        Some((narrow.cast(q), wide.cast_env(eq_cons(q, Equal::refl()))))
    })
}

/// The loop that takes only the demanded rows; `None` if all are demanded. `d` is the demand on the argument of a step.
pub fn without_rows<A, S, P, Y>(l: &ALoop<A, S, P, Y>, d: &Demand, at: Src) -> Option<Acc<A, (S, Batched<Y>)>> {
    fresh2(|n, m| {
        let ([_, d], (s, t)) = (d.split(), l.argument().parts());
        if !leaves_out(&d, t.raw()) {
            return None;
        }
        let xs = narrow(&l.xs, &d, n);
        let (row, q) = rows_of(xs.ty(), m)?;
        let argument = Acc::var(&Idx::zero(&Ty::pair(&s, &row)));
        let argument = Acc::pair(&argument.fst(), &widen(&argument.snd(), &t, &d)?);
        let body = Acc::let_(&argument, &l.body.weaken(&Thinning::shift().lift()));
        let (trips, init) = (l.trips.clone(), l.init.clone());
        Some(Acc::loop_(&ALoop { user: l.user, trips, init, xs: xs.cast(q), body }, at))
    })
}

/// The loop as a loop `while`, if it neither takes rows nor lists arrays.
pub fn plain<A, S, P, Y>(l: &ALoop<A, S, P, Y>, at: Src) -> Option<Acc<A, (S, Batched<Y>)>> {
    let Trips::While(cond) = &l.trips else { return None };
    let (s, t) = l.argument().parts();
    let (no_row, no_entry) = (t.same(&Ty::of())?.sym(), l.entry().same(&Ty::of())?.sym());
    let argument = Acc::pair(&Acc::var(&Idx::zero(&s)), &Acc::unit().cast(no_row));
    let body = Acc::let_(&argument, &l.body.weaken(&Thinning::shift().lift())).fst();
    let state = Acc::while_(cond, &body, &l.init, at);
    Some(Acc::pair(&state, &Acc::unit().cast(batched_unit().sym().then(eq_batched(no_entry)))))
}
