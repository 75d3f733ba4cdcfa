//! Mistake: index functions compose the other way round.
use accel_core::ast::*;
use frunk::HNil;

/// `f . g`
pub fn compose<A, P, Q, R>(f: &Fun1<A, Q, R>, g: &Fun1<A, P, Q>) -> Fun1<A, P, R> {
    Fun1(Exp::let_(&g.0, &f.0.weaken(&Thinning::from_nil().lift())))
}

/// `backpermute sh f (backpermute sh2 g a) = backpermute sh (g . f) a`
pub fn fuse_gathers<A, Sh, Sh2, Sh3, T>(
    t: &ShapeTy<Sh>,
    sh: &Exp<HNil, A, Sh>,
    f: &Fun1<A, Sh, Sh2>,
    g: &Fun1<A, Sh2, Sh3>,
    a: &Acc<A, Arr<Sh3, T>>,
) -> Acc<A, Arr<Sh, T>> {
    Acc::backpermute(t, sh, &compose(f, g), a, None)
}

fn main() {}
