//! Blocks: telescopes of definitions that grow at their ends, with the known facts about every variable.

use accel_core::ast::*;
use accel_core::pass;

/// Scalar definitions that lead from the environment `B` to `E`.
pub struct Block<A, B, E> {
    /// The definitions.
    pub tele: Tele<A, B, E>,
    /// The definition of every variable. The arguments of functions and the states of loops are their own definitions.
    pub defs: Env<ExpF<E, A>, E>,
}

/// A block after more definitions, and a value there: a variable or a constant.
pub struct Out<'m, A, B, E, T> {
    /// The block.
    pub block: Block<A, B, X<'m>>,
    /// The value.
    pub val: Exp<X<'m>, A, T>,
    /// The thinning from the variables before.
    pub up: Thinning<E, X<'m>>,
}

impl<A, B> Block<A, B, B> {
    /// A block without definitions.
    pub fn start(defs: &Env<ExpF<B, A>, B>) -> Self {
        Block { tele: Tele::nil(), defs: defs.clone() }
    }
}

impl<A, B, E> Block<A, B, E> {
    /// Adds a definition.
    pub fn emit<'m, T>(&self, rhs: &Exp<E, A, T>, m: Guard<'m>) -> Out<'m, A, B, E, T> {
        let q = name(m);
        let defs = self.defs.weaken(&Thinning::shift()).push(&rhs.weaken(&Thinning::shift()), rhs.ty());
        let block = Block { tele: self.tele.snoc(rhs).cast(q), defs: defs.cast_all(q, q) };
        Out { block, val: Exp::var(&Idx::zero(rhs.ty())).cast_env(q), up: Thinning::id().up(q) }
    }
    /// Names the environment without adding a definition.
    pub fn atom<'m, T>(&self, val: &Exp<E, A, T>, m: Guard<'m>) -> Out<'m, A, B, E, T> {
        let q = name(m);
        let block = Block { tele: self.tele.cast(q), defs: self.defs.cast_all(q, q) };
        Out { block, val: val.cast_env(q), up: Thinning::id().to(q) }
    }
    /// Wraps the definitions around a result.
    pub fn close<T>(&self, body: &Exp<E, A, T>) -> Exp<B, A, T> {
        pass::close(&self.tele, body)
    }
}

/// Array definitions that lead from the environment `B` to `A`.
pub struct ABlock<B, A> {
    /// The definitions.
    pub tele: ATele<B, A>,
    /// The definition of every variable. The arguments of programs and the states of loops are their own definitions.
    pub defs: Env<AccF<A>, A>,
}

/// A block after more definitions, and a variable there.
pub struct AOut<'m, B, A, R> {
    /// The block.
    pub block: ABlock<B, X<'m>>,
    /// The variable.
    pub var: Idx<X<'m>, R>,
    /// The thinning from the variables before.
    pub up: Thinning<A, X<'m>>,
}

impl<B> ABlock<B, B> {
    /// A block without definitions.
    pub fn start(defs: &Env<AccF<B>, B>) -> Self {
        ABlock { tele: ATele::nil(), defs: defs.clone() }
    }
}

impl<B, A> ABlock<B, A> {
    /// Adds the definition of an operation: `rhs` is the operation, perhaps with a check around it.
    pub fn emit<'m, R>(&self, rhs: &Acc<A, R>, operation: &Acc<A, R>, m: Guard<'m>) -> AOut<'m, B, A, R> {
        let q = name(m);
        let defs = self.defs.weaken(&Thinning::shift()).push(&operation.weaken(&Thinning::shift()), rhs.ty());
        let block = ABlock { tele: self.tele.snoc(rhs).cast(q), defs: defs.cast_all(q, q) };
        AOut { block, var: Idx::zero(rhs.ty()).cast_env(q), up: Thinning::id().up(q) }
    }
    /// Names the environment without adding a definition.
    pub fn alias<'m, R>(&self, var: &Idx<A, R>, m: Guard<'m>) -> AOut<'m, B, A, R> {
        let q = name(m);
        let block = ABlock { tele: self.tele.cast(q), defs: self.defs.cast_all(q, q) };
        AOut { block, var: var.cast_env(q), up: Thinning::id().to(q) }
    }
    /// Wraps the definitions around a result.
    pub fn close<R>(&self, body: &Acc<A, R>) -> Acc<B, R> {
        pass::aclose(&self.tele, body)
    }
}
