//! Code under construction: telescopes of definitions that grow at their ends, and what is known about every variable.

use accel_core::ast::*;
use accel_core::pass;

/// Scalar definitions that lead from the environment `B` to `E`.
pub struct Block<A, B, E> {
    /// The definitions.
    pub tele: Tele<A, B, E>,
    /// The definition of every variable; arguments of functions and states of loops stand for themselves.
    pub defs: Env<ExpF<E, A>, E>,
}

/// A block after some definitions, and a value there: a variable or a constant.
pub struct Out<'m, A, B, E, T> {
    /// The block.
    pub block: Block<A, B, X<'m>>,
    /// The value.
    pub val: Exp<X<'m>, A, T>,
    /// Where the variables before went.
    pub up: Ren<E, X<'m>>,
}

impl<A, B> Block<A, B, B> {
    /// No definition yet.
    pub fn start(defs: &Env<ExpF<B, A>, B>) -> Self {
        Block { tele: Tele::nil(), defs: defs.clone() }
    }
}

impl<A, B, E> Block<A, B, E> {
    /// One more definition.
    pub fn emit<'m, T>(&self, rhs: &Exp<E, A, T>, m: Guard<'m>) -> Out<'m, A, B, E, T> {
        let q = name(m);
        let defs = self.defs.weaken(&Ren::shift()).push(&rhs.weaken(&Ren::shift()), rhs.ty());
        let block = Block { tele: self.tele.snoc(rhs).cast(q), defs: defs.cast_all(q, q) };
        Out { block, val: Exp::var(&Idx::zero(rhs.ty())).cast_env(q), up: Ren::id().up(q) }
    }
    /// No new definition, only a name for the environment.
    pub fn atom<'m, T>(&self, val: &Exp<E, A, T>, m: Guard<'m>) -> Out<'m, A, B, E, T> {
        let q = name(m);
        let block = Block { tele: self.tele.cast(q), defs: self.defs.cast_all(q, q) };
        Out { block, val: val.cast_env(q), up: Ren::id().to(q) }
    }
    /// The definitions around a result.
    pub fn close<T>(&self, body: &Exp<E, A, T>) -> Exp<B, A, T> {
        pass::close(&self.tele, body)
    }
}

/// Array definitions that lead from the environment `B` to `A`.
pub struct ABlock<B, A> {
    /// The definitions.
    pub tele: ATele<B, A>,
    /// The definition of every variable; arguments of programs and states of loops stand for themselves.
    pub defs: Env<AccF<A>, A>,
}

/// A block after some definitions, and a variable there.
pub struct AOut<'m, B, A, R> {
    /// The block.
    pub block: ABlock<B, X<'m>>,
    /// The variable.
    pub var: Idx<X<'m>, R>,
    /// Where the variables before went.
    pub up: Ren<A, X<'m>>,
}

impl<B> ABlock<B, B> {
    /// No definition yet.
    pub fn start(defs: &Env<AccF<B>, B>) -> Self {
        ABlock { tele: ATele::nil(), defs: defs.clone() }
    }
}

impl<B, A> ABlock<B, A> {
    /// One more definition.
    pub fn emit<'m, R>(&self, rhs: &Acc<A, R>, m: Guard<'m>) -> AOut<'m, B, A, R> {
        let q = name(m);
        let defs = self.defs.weaken(&Ren::shift()).push(&rhs.weaken(&Ren::shift()), rhs.ty());
        let block = ABlock { tele: self.tele.snoc(rhs).cast(q), defs: defs.cast_all(q, q) };
        AOut { block, var: Idx::zero(rhs.ty()).cast_env(q), up: Ren::id().up(q) }
    }
    /// No new definition, only a name for the environment.
    pub fn alias<'m, R>(&self, var: &Idx<A, R>, m: Guard<'m>) -> AOut<'m, B, A, R> {
        let q = name(m);
        let block = ABlock { tele: self.tele.cast(q), defs: self.defs.cast_all(q, q) };
        AOut { block, var: var.cast_env(q), up: Ren::id().to(q) }
    }
    /// The definitions around a result.
    pub fn close<R>(&self, body: &Acc<A, R>) -> Acc<B, R> {
        pass::aclose(&self.tele, body)
    }
}
