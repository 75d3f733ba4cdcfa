//! Mistake: that the shapes agree is not proved.
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
        let both = compose(&f.cast(eq2.elt(), Equal::refl()), &g);
        Acc::map(&both, &source, e.at()).cast(eq.sym())
    })
}

fn main() {}
