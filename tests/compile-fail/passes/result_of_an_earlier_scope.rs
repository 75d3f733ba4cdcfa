//! Mistake: the telescope ends before the definition of the pair.
use accel_core::ast::*;

/// A telescope from `E`, how its environment extends `E2`, and the variable that holds the result.
pub struct Emitted<'m, A, E, E2, T> {
    pub tele: Tele<A, E, X<'m>>,
    pub ren: Thinning<E2, X<'m>>,
    pub res: Idx<X<'m>, T>,
}
/// Adds a definition to a telescope.
pub fn emit<'m, A, E, E2, T>(tele: &Tele<A, E, E2>, e: &Exp<E2, A, T>, m: Guard<'m>) -> Emitted<'m, A, E, E2, T> {
    let q = name(m); // HCons<T, E2> = X<'m>
    Emitted { tele: tele.snoc(e).cast(q), ren: Thinning::shift().to(q), res: Idx::zero(e.ty()).cast_env(q) }
}

/// Defines two values and their pair.
pub fn emit_pair<'m, A, E, E2, P>(
    tele: &Tele<A, E, E2>,
    a: &Exp<E2, A, P>,
    b: &Exp<E2, A, P>,
    m: Guard<'m>,
) -> Emitted<'m, A, E, E2, (P, P)> {
    fresh2(|k, l| {
        let a = emit(tele, a, k);
        let b = emit(&a.tele, &b.weaken(&a.ren), l);
        let pair = Exp::pair(&Exp::var(&b.ren.at(&a.res)), &Exp::var(&b.res));
        let r = emit(&b.tele, &pair, m);
        Emitted { tele: b.tele, ren: a.ren.then(&b.ren).then(&r.ren), res: r.res }
    })
}

fn main() {}
