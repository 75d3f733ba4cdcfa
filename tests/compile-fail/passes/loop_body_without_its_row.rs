//! Mistake: the body of a loop with lists is below two binders, the state and the row.
use accel_core::ast::*;
use frunk::HCons;

/// Replaces every variable by an expression.
pub fn subst<E, F, A, T>(e: &Exp<E, A, T>, s: &Env<ExpF<F, A>, E>) -> Exp<F, A, T> {
    fresh2(|n, m| match e.view(n) {
        ExpView::Const(v) => Exp::constant(&v, e.ty()),
        ExpView::Var(i) => s.get(&i),
        ExpView::Let(b, body, q) => {
            let q2 = name(m); // HCons<X<'n>, F> = X<'m>
            let below = under(s, b.ty(), q2).cast_env(q.sym());
            Exp::let_(&subst(&b, s), &subst(&body, &below).cast_env(q2.sym()))
        }
        ExpView::While(w) => {
            let q2 = name(m); // HCons<T, F> = X<'m>
            let below = under(s, e.ty(), q2).cast_env(w.eq.sym());
            let (cond, body) = (subst(&w.cond, &below), subst(&w.body, &below));
            Exp::while_(&cond.cast_env(q2.sym()), &body.cast_env(q2.sym()), &subst(&w.init, s), w.at)
        }
        ExpView::Loop(l) => fresh1(|k| {
            let (q2, q3) = (name(m), name(k)); // HCons<X<'n>, F> = X<'m>, HCons<Y<'n>, X<'m>> = X<'k>
            let below = under(s, l.init.ty(), q2).cast_env(l.below_state.sym());
            let inner = under(&below, &l.row, q3).cast_env(l.below_row.sym());
            let trips = match &l.trips {
                ExpTrips::While(cond) => ExpTrips::While(subst(cond, &below).cast_env(q2.sym())),
                ExpTrips::Times(n) => ExpTrips::Times(subst(n, s)),
            };
            let body = subst(&l.body, &below).cast_env(q2.sym());
            let (init, xs) = (subst(&l.init, s), subst(&l.xs, s));
            Exp::loop_(&trips, l.dir, &init, (&xs, &l.row), &body, l.at).cast(l.eq.sym())
        }),
        ExpView::Op(op) => Exp::op(&op.map(&mut Subst(s)), e.ty()),
    })
}
/// The substitution under a binder: the bound variable stands for itself.
pub fn under<'m, B, E, F, A>(
    s: &Env<ExpF<F, A>, E>,
    t: &Ty<B>,
    q: Equal<HCons<B, F>, X<'m>>,
) -> Env<ExpF<X<'m>, A>, HCons<B, E>> {
    s.weaken(&Thinning::shift().to(q)).push(&Exp::var(&Idx::zero(t)).cast_env(q), t)
}
pub struct Subst<'s, E, F, A>(&'s Env<ExpF<F, A>, E>);
impl<E, F, A> ExpMap<E, A, F, A> for Subst<'_, E, F, A> {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) -> Exp<F, A, T> {
        subst(e, self.0)
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) -> Idx<A, T> {
        i.clone()
    }
}

fn main() {}
