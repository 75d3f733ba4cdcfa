//! The rules for array operations on variables.

use crate::simplify::projections::{apply2, compose, is_projection, uses_of_arguments, zero};
use crate::simplify::shapes::Shapes;
use crate::simplify::stats::Rule;
use accel_core::ast::*;

/// The definitions of all array variables in scope, and their shapes.
pub struct AFacts<'f, A> {
    pub defs: &'f Env<AccF<A>, A>,
    pub shapes: &'f Shapes,
}

/// The result of a rule.
pub type Rewritten<A, R> = Option<(Rule, Acc<A, R>)>;

/// The variable, if a computation is one.
pub fn variable<A, R>(a: &Acc<A, R>) -> Option<Idx<A, R>> {
    fresh1(|n| match a.view(n) {
        AccView::Var(i) => Some(i),
        _ => None,
    })
}

/// A proof that a function of one argument is the identity.
fn identity<A, P, R>(f: &Fun1<A, P, R>, p: &Ty<P>) -> Option<Equal<P, R>> {
    fresh1(|n| match f.0.view(n) {
        ExpView::Var(i) => Idx::zero(p).same(&i),
        _ => None,
    })
}

/// The array that a function reads at its argument, if it does nothing else.
fn reader<A, P, R>(f: &Fun1<A, P, R>, p: &Ty<P>) -> Option<Idx<A, Arr<P, R>>> {
    fresh1(|n| {
        let ExpView::Op(ExpOp::Index(a, ix, _)) = f.0.view(n) else { return None };
        let q = identity(&Fun1(ix), p)?;
        Some(a.cast(eq_arr(q.sym(), Equal::refl())))
    })
}

impl<A> AFacts<'_, A> {
    fn definition<R>(&self, a: &Acc<A, R>) -> Option<Acc<A, R>> {
        Some(self.defs.get(&variable(a)?))
    }

    /// The result of the first rule that applies to an operation on variables.
    pub fn rewrite<R>(&self, e: &Acc<A, R>) -> Rewritten<A, R> {
        fresh3(|n, m, k| {
            let AccView::Op(op) = e.view(n) else { return None };
            match op {
                // fst (a, b) = a
                AccOp::Fst { a, eq } => match self.definition(&a)?.view(m) {
                    AccView::Op(AccOp::Pair { a, eq: q, .. }) => {
                        Some((Rule::Projection, a.cast(q.sym().then(eq).fst())))
                    }
                    _ => None,
                },
                // snd (a, b) = b
                AccOp::Snd { a, eq } => match self.definition(&a)?.view(m) {
                    AccView::Op(AccOp::Pair { b, eq: q, .. }) => {
                        Some((Rule::Projection, b.cast(q.sym().then(eq).snd())))
                    }
                    _ => None,
                },
                // (fst p, snd p) = p
                AccOp::Pair { a, b, .. } => {
                    let (a, b) = (self.definition(&a)?, self.definition(&b)?);
                    fresh1(|k| match (a.view(m), b.view(k)) {
                        (AccView::Op(AccOp::Fst { a: x, .. }), AccView::Op(AccOp::Snd { a: y, .. })) => {
                            variable(&x)?.same(&variable(&y)?)?;
                            Some((Rule::PairEta, x.cast(x.ty().same(e.ty())?)))
                        }
                        _ => None,
                    })
                }
                // if c then x else x = x
                AccOp::Cond { then, otherwise, .. } => {
                    variable(&then)?.same(&variable(&otherwise)?)?;
                    Some((Rule::SameBranches, then))
                }
                // map (\x -> x) a = a
                AccOp::Map { f, a, eq } => {
                    if let Some(q) = identity(&f, &a.sh_elt().1) {
                        return Some((Rule::MapIdentity, a.cast(eq_arr(Equal::refl(), q).then(eq.sym()))));
                    }
                    // map f (map w a) = map (f . w) a
                    let AccView::Op(AccOp::Map { f: w, a, eq: q }) = self.definition(&a)?.view(m) else { return None };
                    is_projection(&w.0).then_some(())?;
                    let f = compose(&f, &w.cast(Equal::refl(), q.elt().sym()));
                    let a = a.cast(eq_arr(q.sh().sym(), Equal::refl()));
                    Some((Rule::Retuple, Acc::map(&f, &a, e.at()).cast(eq.sym())))
                }
                // agree s t a = a if s = t
                AccOp::Agree { agreement, left, right, a, eq, .. } => {
                    self.shapes.agree(agreement, &left, &right).then_some(())?;
                    Some((Rule::Agree, a.cast(eq.sym())))
                }
                AccOp::ZipWith { f, a, b, eq } => {
                    let (ta, tb) = (a.sh_elt().1, b.sh_elt().1);
                    let same_shape = self.shapes.get(&variable(&a)?) == self.shapes.get(&variable(&b)?);
                    let [first, second] = uses_of_arguments(&f);
                    // zip_with (\x y -> e y) a b = map (\y -> e y) b
                    if same_shape && !first {
                        let f = Fun1(apply2(&f, &zero(&ta), &Exp::var(&Idx::zero(&tb))));
                        return Some((Rule::UnusedOperand, Acc::map(&f, &b, e.at()).cast(eq.sym())));
                    }
                    // zip_with (\x y -> e x) a b = map (\x -> e x) a
                    if same_shape && !second {
                        let f = Fun1(apply2(&f, &Exp::var(&Idx::zero(&ta)), &zero(&tb)));
                        return Some((Rule::UnusedOperand, Acc::map(&f, &a, e.at()).cast(eq.sym())));
                    }
                    // zip_with f (map w a) b = zip_with (\x y -> f (w x) y) a b
                    if let AccView::Op(AccOp::Map { f: w, a, eq: q }) = self.definition(&a)?.view(m)
                        && is_projection(&w.0)
                    {
                        let w = w.cast(Equal::refl(), q.elt().sym());
                        let f = Fun2(apply2(&f, &w.0.weaken(&Thinning::shift()), &Exp::var(&Idx::zero(&tb))));
                        let a = a.cast(eq_arr(q.sh().sym(), Equal::refl()));
                        return Some((Rule::Retuple, Acc::zip_with(&f, &a, &b, e.at()).cast(eq.sym())));
                    }
                    // zip_with f a (map w b) = zip_with (\x y -> f x (w y)) a b
                    if let AccView::Op(AccOp::Map { f: w, a: b, eq: q }) = self.definition(&b)?.view(k)
                        && is_projection(&w.0)
                    {
                        let w = w.cast(Equal::refl(), q.elt().sym());
                        let x = Exp::var(&Idx::succ(&Idx::zero(&ta)));
                        let f = Fun2(apply2(&f, &x, &w.0.weaken(&Thinning::from_nil().lift())));
                        let b = b.cast(eq_arr(q.sh().sym(), Equal::refl()));
                        return Some((Rule::Retuple, Acc::zip_with(&f, &a, &b, e.at()).cast(eq.sym())));
                    }
                    None
                }
                // generate (shape a) (\i -> a ! i) = a
                AccOp::Generate { sh, f, eq } => {
                    let a = reader(&f, sh.ty())?;
                    (self.shapes.known(e)? == self.shapes.get(&a)).then_some(())?;
                    Some((Rule::GatherIdentity, Acc::var(&a).cast(eq.sym())))
                }
                // backpermute (shape a) (\i -> i) a = a
                AccOp::Backpermute { sh, f, a, eq } => {
                    let q = identity(&f, sh.ty())?;
                    (self.shapes.known(e)? == self.shapes.get(&variable(&a)?)).then_some(())?;
                    Some((Rule::GatherIdentity, a.cast(eq_arr(q.sym(), Equal::refl()).then(eq.sym()))))
                }
                AccOp::Reshape { sh, a, eq } => {
                    // reshape (shape a) a = a
                    if self.shapes.known(e).as_deref() == Some(self.shapes.get(&variable(&a)?))
                        && let Some(q) = a.ty().same(e.ty())
                    {
                        return Some((Rule::Reshape, a.cast(q)));
                    }
                    // reshape s (reshape t a) = reshape s a
                    match self.definition(&a)?.view(m) {
                        AccView::Op(AccOp::Reshape { a, eq: q, .. }) => {
                            let a = a.cast(eq_arr(Equal::refl(), q.elt().sym()));
                            Some((
                                Rule::Reshape,
                                Acc::reshape(&e.ty().cast(eq).sh_elt().0, &sh, &a, e.at()).cast(eq.sym()),
                            ))
                        }
                        _ => None,
                    }
                }
                // replicate [:, :] a = a
                AccOp::Replicate { spec, a, .. } if spec.kept().iter().all(|k| *k) => {
                    Some((Rule::SliceAll, a.cast(a.ty().same(e.ty())?)))
                }
                // slice [:, :] a = a
                AccOp::Slice { spec, a, .. } if spec.kept().iter().all(|k| *k) => {
                    Some((Rule::SliceAll, a.cast(a.ty().same(e.ty())?)))
                }
                _ => None,
            }
        })
    }
}
