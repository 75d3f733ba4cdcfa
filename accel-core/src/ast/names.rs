//! Names (type parameters for types that are only known to exist) and equality witnesses.
//!
//! NOTE \[Names\]: Rust has no existential types in data. A *name* is a phantom type with an invariant, generative
//! lifetime: `fresh1(|n| ..)` provides a lifetime that is equal to no other one, so `X<'n>` can stand for one unknown
//! type. Lifetimes are erased before code generation, so a pass that recurses over ever new names is compiled only
//! once. An equation [`Equal`]`<X<'n>, HCons<B, E>>` connects a name with its meaning. [`name`] gives any type a name.
//! Where callers choose the types, a pass first gives them names, and so is compiled once, too, with all that it calls.

use frunk::HCons;
use std::marker::PhantomData;

/// Invariant in `T`, and `Send + Sync`.
pub(in crate::ast) type Inv<T> = PhantomData<fn(T) -> T>;

/// A type-level name. Names differ for each lifetime `'n` and each tag `K`.
pub struct Name<'n, const K: u8>(PhantomData<fn(&'n ()) -> &'n ()>);
/// The first name of a scope.
pub type X<'n> = Name<'n, 0>;
/// The second name of a scope.
pub type Y<'n> = Name<'n, 1>;
/// The third name of a scope.
pub type Z<'n> = Name<'n, 2>;
/// The fourth name of a scope.
pub type W<'n> = Name<'n, 3>;
/// The fifth name of a scope.
pub type V<'n> = Name<'n, 4>;
/// The erased type parameter; it is never handed out.
pub(in crate::ast) type Erased = Name<'static, 255>;

/// The permission to use a name once.
pub struct Guard<'n>(PhantomData<fn(&'n ()) -> &'n ()>);

macro_rules! fresh {
    ($($f:ident: $($n:lifetime)*;)*) => { $(
        /// Runs `f` with names that are different from all others.
        #[inline(always)]
        pub fn $f<R>(f: impl for<$($n),*> FnOnce($(Guard<$n>),*) -> R) -> R {
            f($(fresh!(@guard $n)),*)
        }
    )* };
    (@guard $n:lifetime) => { Guard(PhantomData) };
}
fresh! {
    fresh1: 'a;
    fresh2: 'a 'b;
    fresh3: 'a 'b 'c;
    fresh4: 'a 'b 'c 'd;
    fresh5: 'a 'b 'c 'd 'e;
    fresh6: 'a 'b 'c 'd 'e 'f;
    fresh8: 'a 'b 'c 'd 'e 'f 'g 'h;
    fresh12: 'a 'b 'c 'd 'e 'f 'g 'h 'i 'j 'k 'l;
}

/// A witness that the types `A` and `B` are the same.
pub struct Equal<A, B>(Inv<(A, B)>);

impl<A, B> Clone for Equal<A, B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, B> Copy for Equal<A, B> {}

impl<A, B> Equal<A, B> {
    pub(in crate::ast) fn axiom() -> Self {
        Equal(PhantomData)
    }
    /// Symmetry.
    pub fn sym(self) -> Equal<B, A> {
        Equal::axiom()
    }
    /// Transitivity.
    pub fn then<C>(self, _: Equal<B, C>) -> Equal<A, C> {
        Equal::axiom()
    }
}
impl<A> Equal<A, A> {
    /// Reflexivity.
    pub fn refl() -> Self {
        Equal::axiom()
    }
}
impl<A, B, C, D> Equal<(A, B), (C, D)> {
    /// Pairs are injective in the first component.
    pub fn fst(self) -> Equal<A, C> {
        Equal::axiom()
    }
    /// Pairs are injective in the second component.
    pub fn snd(self) -> Equal<B, D> {
        Equal::axiom()
    }
}
/// Gives any type a name of an outer scope, even a type that mentions names with shorter lifetimes.
pub fn name<'n, T>(_: Guard<'n>) -> Equal<T, X<'n>> {
    Equal::axiom()
}
/// Congruence of pairs.
pub fn eq_pair<A, B, C, D>(_: Equal<A, C>, _: Equal<B, D>) -> Equal<(A, B), (C, D)> {
    Equal::axiom()
}
/// Congruence of environments.
pub fn eq_cons<A, B, C, D>(_: Equal<A, C>, _: Equal<B, D>) -> Equal<HCons<A, B>, HCons<C, D>> {
    Equal::axiom()
}
