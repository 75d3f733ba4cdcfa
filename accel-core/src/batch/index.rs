//! Shapes and indices with the lane as their first component.

use crate::ast::*;
use crate::repr::RawTy;
use frunk::HCons;

/// The type of shapes with one more dimension, in front.
pub fn outer<'k, Sh>(sh: &Ty<Sh>, k: Guard<'k>) -> Option<ShapeTy<X<'k>>> {
    Ty::from_raw(&RawTy::shape(sh.raw().width() + 1), k).and_then(|t| ShapeTy::of(&t))
}

/// The components of a shape or an index, outermost first.
pub fn components<E, A, Sh>(ix: &Exp<E, A, Sh>) -> Vec<Exp<E, A, i64>> {
    fresh1(|n| match ix.ty().view(n) {
        TyView::Pair(_, last, q) => {
            let ix = ix.cast(q);
            let mut all = components(&ix.fst());
            all.extend(last.same(&Ty::of()).map(|q| ix.snd().cast(q)));
            all
        }
        TyView::Unit(_) | TyView::Scalar(_) | TyView::Arr(..) | TyView::List(..) => vec![],
    })
}

/// The shape or index with these components.
pub fn from_components<E, A, Sh>(t: &Ty<Sh>, parts: &[Exp<E, A, i64>]) -> Exp<E, A, Sh> {
    fresh1(|n| match (t.view(n), parts.split_last()) {
        (TyView::Pair(rest, last, q), Some((i, parts))) => match Ty::<i64>::of().same(&last) {
            Some(int) => Exp::pair(&from_components(&rest, parts), &i.cast(int)).cast(q.sym()),
            None => unreachable!("a shape consists of indices"),
        },
        (TyView::Unit(q), None) => Exp::constant(&Value::unit(), &Ty::of()).cast(q.sym()),
        _ => unreachable!("as many indices as dimensions"),
    })
}

/// The shape or index `inner` with `lane` in front.
pub fn join<E, A, Sh, Out>(t: &Ty<Out>, lane: &Exp<E, A, i64>, inner: &Exp<E, A, Sh>) -> Exp<E, A, Out> {
    let x: Exp<HCons<Sh, E>, A, Sh> = Exp::var(&Idx::zero(inner.ty()));
    let mut parts = vec![lane.weaken(&Thinning::shift())];
    parts.extend(components(&x));
    Exp::let_(inner, &from_components(t, &parts))
}

/// The lane of an index, and the index without it.
pub fn split<E, A, Out, Sh>(ix: &Exp<E, A, Out>, t: &Ty<Sh>) -> (Exp<E, A, i64>, Exp<E, A, Sh>) {
    let parts = components(ix);
    match parts.split_first() {
        Some((lane, rest)) => (lane.clone(), from_components(t, rest)),
        None => unreachable!("a lane in front"),
    }
}
