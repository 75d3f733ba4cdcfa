//! Mistake: `g . f` instead of `f . g`.
use accel_core::ast::*;

/// `f . g`
pub fn compose<A, P, Q, R>(f: &Fun1<A, Q, R>, g: &Fun1<A, P, Q>) -> Fun1<A, P, R> {
    Fun1(Exp::let_(&g.0, &f.0.weaken(&Thinning::from_nil().lift())))
}

/// `map f (map g a) = map (f . g) a`
pub fn fuse_maps<A, R>(e: &Acc<A, R>) -> Acc<A, R> {
    fresh2(|n, m| {
        let AccView::Op(AccOp::Map { f, a, eq }) = e.view(n) else { return e.clone() };
        let AccView::Op(AccOp::Map { f: g, a: source, eq: eq2 }) = a.view(m) else { return e.clone() };
        let both = compose(&g, &f.cast(eq2.elt(), Equal::refl()));
        let same_shape = eq_arr(eq2.sh().sym(), Equal::refl());
        Acc::map(&both, &source, e.at()).cast(same_shape.then(eq.sym()))
    })
}

fn main() {}
