//! Emits scalar code: a telescope of definitions that grows at its end, and sums of sparse tangents (see the glossary of
//! the book: telescope, sparse tangent).

use crate::builders::{add, zero};
use crate::sparse_tangents::{Summands, summands};
use accel_core::ast::*;

/// Definitions that lead from the environment `B` to `E`.
pub struct Code<A, B, E> {
    /// The definitions.
    pub tele: Tele<A, B, E>,
    /// The number of variables in scope at the end.
    pub size: Size<E>,
}

/// The code after a new definition; the extended environment has the name `X<'m>`.
pub struct Emitted<'m, A, B, E, T> {
    /// The code.
    pub code: Code<A, B, X<'m>>,
    /// The new variable.
    pub var: Idx<X<'m>, T>,
    /// The embedding of the previous environment.
    pub up: Thinning<E, X<'m>>,
}

impl<A, B, E> Clone for Code<A, B, E> {
    fn clone(&self) -> Self {
        Code { tele: self.tele.clone(), size: self.size }
    }
}

impl<A, B> Code<A, B, B> {
    /// Code without definitions.
    pub fn start(size: Size<B>) -> Self {
        Code { tele: Tele::nil(), size }
    }
}

impl<A, B, E> Code<A, B, E> {
    /// Appends a definition.
    pub fn emit<'m, T>(&self, rhs: &Exp<E, A, T>, m: Guard<'m>) -> Emitted<'m, A, B, E, T> {
        let q = name(m);
        Emitted {
            code: Code { tele: self.tele.snoc(rhs).cast(q), size: self.size.push().cast(q) },
            var: Idx::zero(rhs.ty()).cast_env(q),
            up: Thinning::id().up(q),
        }
    }
    /// Only gives the environment a name.
    pub fn rename<'m>(&self, q: Equal<E, X<'m>>) -> Code<A, B, X<'m>> {
        Code { tele: self.tele.cast(q), size: self.size.cast(q) }
    }
    /// Wraps the definitions around a result.
    pub fn close<T>(&self, body: &Exp<E, A, T>) -> Exp<B, A, T> {
        accel_core::pass::close(&self.tele, body)
    }
}

/// Converts a sparse tangent to an expression, with explicit zeros.
pub fn materialise<E, A, T>(p: &SparseTangent<E, T>, t: &Ty<T>) -> Exp<E, A, T> {
    deep(|| {
        fresh1(|n| match p.view(n) {
            SparseTangentView::Zero => zero(t),
            SparseTangentView::Var(i) => Exp::var(&i),
            SparseTangentView::Pair(a, b, q) => {
                let (ta, tb) = t.cast(q).parts();
                Exp::pair(&materialise(&a, &ta), &materialise(&b, &tb)).cast(q.sym())
            }
        })
    })
}

/// `x + p`; zeros cost nothing.
fn plus_part<E, A, T>(x: &Exp<E, A, T>, p: &SparseTangent<E, T>) -> Exp<E, A, T> {
    deep(|| {
        fresh1(|n| match p.view(n) {
            SparseTangentView::Zero => x.clone(),
            SparseTangentView::Var(i) => add(x, &Exp::var(&i)),
            SparseTangentView::Pair(a, b, q) => {
                let x = x.cast(q);
                Exp::pair(&plus_part(&x.fst(), &a), &plus_part(&x.snd(), &b)).cast(q.sym())
            }
        })
    })
}

/// The sum of sparse tangents as an expression.
pub fn total<E, A, U>(parts: &[SparseTangent<E, U>], t: &Ty<U>) -> Exp<E, A, U> {
    deep(|| {
        fresh1(|n| match summands(parts, n) {
            Summands::None => zero(t),
            Summands::One(p) => materialise(&p, t),
            Summands::Pairs(p) => {
                let (ta, tb) = t.cast(p.eq).parts();
                Exp::pair(&total(&p.firsts, &ta), &total(&p.seconds, &tb)).cast(p.eq.sym())
            }
            Summands::Overlapping(parts) => {
                parts[1..].iter().fold(materialise(&parts[0], t), |sum, p| plus_part(&sum, p))
            }
        })
    })
}
