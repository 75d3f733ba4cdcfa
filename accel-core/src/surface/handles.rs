//! The handles of scalar and array computations in the program that is being recorded.

use super::graph::Handle;
use std::marker::PhantomData;

/// A scalar computation with a result of type `T`, in the program that is being recorded. It is only the number of a
/// node, so it can be copied and used any number of times. Its value is computed once.
///
/// A program that is written inside of that program may use it, too ([`afun`](crate::afun::afun)). Any other program that uses it has an
/// error.
pub struct Exp<T>(Handle, PhantomData<fn() -> T>);

impl<T> Clone for Exp<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Exp<T> {}
impl<T> std::fmt::Debug for Exp<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Exp<{}>", std::any::type_name::<T>())
    }
}

impl<T> Exp<T> {
    pub(crate) fn new(h: Handle) -> Self {
        Exp(h, PhantomData)
    }
    pub(crate) fn handle(self) -> Handle {
        self.0
    }
}

/// An array computation with a result of type `A`, in the program that is being recorded. Like [`Exp`], it is only the
/// number of a node.
pub struct Acc<A>(Handle, PhantomData<fn() -> A>);

impl<A> Clone for Acc<A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A> Copy for Acc<A> {}
impl<A> std::fmt::Debug for Acc<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Acc<{}>", std::any::type_name::<A>())
    }
}

impl<A> Acc<A> {
    pub(crate) fn new(h: Handle) -> Self {
        Acc(h, PhantomData)
    }
    pub(crate) fn handle(self) -> Handle {
        self.0
    }
}
