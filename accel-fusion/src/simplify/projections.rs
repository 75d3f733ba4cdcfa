//! Functions that only project and build tuples. They cost nothing, so every consumer can repeat them.

use accel_core::ast::*;
use accel_core::pass::{no_value, uses};

/// Functions of more nodes than this are not repeated.
const SMALL: usize = 64;

/// Whether the body of a function consists only of its arguments, constants, pairs, projections, and definitions of
/// such expressions.
pub fn is_projection<E, A, T>(e: &Exp<E, A, T>) -> bool {
    retuples(e, &mut { SMALL })
}

/// The same for functions of any size.
pub fn only_rearranges<E, A, T>(e: &Exp<E, A, T>) -> bool {
    retuples(e, &mut { usize::MAX })
}

fn retuples<E, A, T>(e: &Exp<E, A, T>, left: &mut usize) -> bool {
    deep(|| fresh3(|x, a, t| retuples_(&e.cast_all(name(x), name(a), name(t)), left)))
}

fn retuples_<'e, 'a, 't>(e: &Exp<X<'e>, X<'a>, X<'t>>, left: &mut usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    fresh1(|n| match e.view(n) {
        ExpView::Const(_) | ExpView::Var(_) => true,
        ExpView::Let(b, body, _) => retuples(&b, left) && retuples(&body, left),
        ExpView::Op(ExpOp::Pair(a, b, _)) => retuples(&a, left) && retuples(&b, left),
        ExpView::Op(ExpOp::Fst(a, _)) => retuples(&a, left),
        ExpView::Op(ExpOp::Snd(a, _)) => retuples(&a, left),
        _ => false,
    })
}

/// `\x -> f (g x)`
pub fn compose<A, P, Q, R>(f: &Fun1<A, Q, R>, g: &Fun1<A, P, Q>) -> Fun1<A, P, R> {
    Fun1(Exp::let_(&g.0, &f.0.weaken(&Thinning::from_nil().lift())))
}

/// `f x y`
pub fn apply2<E, A, P, Q, R>(f: &Fun2<A, P, Q, R>, x: &Exp<E, A, P>, y: &Exp<E, A, Q>) -> Exp<E, A, R> {
    let body = f.0.weaken(&Thinning::from_nil().lift().lift());
    Exp::let_(x, &Exp::let_(&y.weaken(&Thinning::shift()), &body))
}

/// The value that is zero in every leaf, without elements in its lists.
pub fn zero<E, A, T>(t: &Ty<T>) -> Exp<E, A, T> {
    no_value(t)
}

/// Whether a function uses its first argument, and whether it uses its second one.
pub fn uses_of_arguments<A, P, Q, R>(f: &Fun2<A, P, Q, R>) -> [bool; 2] {
    let mut found = [false; 2];
    uses(&f.0, &mut |k| found[1 - k] = true);
    found
}
