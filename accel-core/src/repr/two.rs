//! A pair of subtrees. Trees can be as deep as a program is long; they are dropped, compared and hashed without stack
//! overflow.

use crate::ast::deep;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::take;

/// Two subtrees. When they are dropped, the default of `T`, a leaf, takes their place.
pub struct Two<T: Default>(pub T, pub T);

impl<T: Default> Drop for Two<T> {
    fn drop(&mut self) {
        deep(|| drop((take(&mut self.0), take(&mut self.1))))
    }
}

impl<T: Default + PartialEq> PartialEq for Two<T> {
    fn eq(&self, other: &Self) -> bool {
        deep(|| self.0 == other.0 && self.1 == other.1)
    }
}
impl<T: Default + Eq> Eq for Two<T> {}

impl<T: Default + Hash> Hash for Two<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        deep(|| {
            self.0.hash(state);
            self.1.hash(state)
        })
    }
}

impl<T: Default + fmt::Debug> fmt::Debug for Two<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        deep(|| f.debug_tuple("").field(&self.0).field(&self.1).finish())
    }
}
