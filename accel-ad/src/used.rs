//! The variables that expressions and computations use.
//!
//! NOTE [Recomputed definitions]: the dual of a branch recomputes the primal of the branch, because its definitions are
//! not in scope outside the branch. Only some of them are needed: the contribution of `x * c` to the adjoint of `x`
//! does not depend on `x`. If all were recomputed, an inner conditional would be recomputed in every conditional around
//! it, as a definition without uses, and the derivative would have quadratic size. So each branch records the variables
//! that its dual uses, by level, since levels do not change when an environment grows. The other definitions are
//! replaced by a constant.

use accel_core::ast::*;
use accel_core::pass::{array_uses, arrays_of_code, no_value, nothing, uses};
use std::collections::HashSet;

/// A set of variables of an environment, by level.
#[derive(Default)]
pub struct Used(HashSet<usize>);

impl Used {
    /// Adds the scalar variables that an expression uses, in an environment of this size.
    pub fn scalars<E, A, T>(&mut self, e: &Exp<E, A, T>, size: Size<E>) {
        self.scalars_of(e, size.get())
    }
    fn scalars_of<E, A, T>(&mut self, e: &Exp<E, A, T>, size: usize) {
        uses(e, &mut |depth| _ = self.0.insert(size - 1 - depth))
    }
    /// Adds the array variables that a computation uses, in an environment of this size.
    pub fn arrays<A, R>(&mut self, a: &Acc<A, R>, size: Size<A>) {
        self.arrays_of(a, size.get())
    }
    fn arrays_of<A, R>(&mut self, a: &Acc<A, R>, size: usize) {
        array_uses(a, &mut |depth| _ = self.0.insert(size - 1 - depth))
    }
    /// Adds the array variables that scalar code uses, in an environment of this size.
    pub fn arrays_of_code<E, A, T>(&mut self, e: &Exp<E, A, T>, size: Size<A>) {
        arrays_of_code(e, &mut |depth| _ = self.0.insert(size.get() - 1 - depth))
    }
    /// Forgets the variables that are not among the first `size` ones.
    pub fn leave<A>(&mut self, size: Size<A>) {
        self.0.retain(|level| *level < size.get())
    }
    /// Adds the variables of another set.
    pub fn join(&mut self, mut other: Used) {
        if other.0.len() > self.0.len() {
            std::mem::swap(self, &mut other);
        }
        self.0.extend(other.0)
    }

    /// Wraps the definitions of `tele` around a result, with zeros in place of unused definitions. `size` is the size of
    /// the environment at the end of `tele`. The set contains the variables of that environment that are used, and
    /// afterwards those of the environment at the beginning.
    pub fn close<A, E, E2, T>(&mut self, tele: &Tele<A, E, E2>, body: &Exp<E2, A, T>, size: Size<E2>) -> Exp<E, A, T> {
        fresh4(|a, e, f, t| {
            let (a, e, f, t) = (name(a), name(e), name(f), name(t));
            let (tele, body) = (tele.cast_all(a, e, f), body.cast_all(f, a, t));
            self.close_(&tele, &body, size.get()).cast_all(e.sym(), a.sym(), t.sym())
        })
    }

    fn close_<'a, 'e, 'f, 't>(
        &mut self,
        tele: &Tele<X<'a>, X<'e>, X<'f>>,
        body: &Exp<X<'f>, X<'a>, X<'t>>,
        size: usize,
    ) -> Exp<X<'e>, X<'a>, X<'t>> {
        fresh1(|n| match tele.view(n) {
            TeleView::Nil(q) => {
                self.0.retain(|level| *level < size);
                body.cast_env(q.sym())
            }
            TeleView::Extended(init, rhs, q) => {
                let level = size - 1;
                let rhs = if self.0.contains(&level) {
                    self.scalars_of(&rhs, level);
                    rhs
                } else {
                    no_value(rhs.ty())
                };
                let body = Exp::let_(&rhs, &body.cast_env(q));
                deep(|| self.close_(&init, &body, level))
            }
        })
    }

    /// As [`close`](Self::close), for definitions of arrays.
    pub fn aclose<A, A2, R>(&mut self, tele: &ATele<A, A2>, body: &Acc<A2, R>, size: Size<A2>) -> Acc<A, R> {
        fresh3(|a, b, r| {
            let (a, b, r) = (name(a), name(b), name(r));
            let (tele, body) = (tele.cast_all(a, b), body.cast_env(b).cast(r));
            self.aclose_(&tele, &body, size.get()).cast_env(a.sym()).cast(r.sym())
        })
    }

    fn aclose_<'a, 'b, 'r>(
        &mut self,
        tele: &ATele<X<'a>, X<'b>>,
        body: &Acc<X<'b>, X<'r>>,
        size: usize,
    ) -> Acc<X<'a>, X<'r>> {
        fresh1(|n| match tele.view(n) {
            ATeleView::Nil(q) => {
                self.0.retain(|level| *level < size);
                body.cast_env(q.sym())
            }
            ATeleView::Extended(init, rhs, q) => {
                let level = size - 1;
                let rhs = if self.0.contains(&level) {
                    self.arrays_of(&rhs, level);
                    rhs
                } else {
                    nothing(rhs.ty())
                };
                let body = Acc::let_(&rhs, &body.cast_env(q));
                deep(|| self.aclose_(&init, &body, level))
            }
        })
    }
}
