//! Trees for destructured tuples: one leaf for each scalar of a value, or for each array of a tuple of arrays.

use crate::ast::deep;
use crate::repr::{RawTy, Two};
use std::sync::Arc;

/// The structure of a tuple, with an `L` for every scalar or array.
#[derive(Clone, Debug, Default)]
pub enum Tree<L> {
    /// The empty tuple.
    #[default]
    Unit,
    /// A scalar or an array.
    Leaf(L),
    /// A pair.
    Pair(Arc<Two<Tree<L>>>),
}

impl<L: Copy> Tree<L> {
    /// A pair of tuples.
    pub fn pair(a: Tree<L>, b: Tree<L>) -> Tree<L> {
        Tree::Pair(Arc::new(Two(a, b)))
    }

    /// A tree with the structure of the type `t`; `leaf` makes its leaves from left to right.
    pub fn of(t: &RawTy, leaf: &mut impl FnMut() -> L) -> Tree<L> {
        match t {
            RawTy::Unit => Tree::Unit,
            RawTy::Scalar(_) | RawTy::Array(_) | RawTy::List(_) => Tree::Leaf(leaf()),
            RawTy::Pair(p) => deep(|| {
                let a = Tree::of(&p.0, leaf);
                Tree::pair(a, Tree::of(&p.1, leaf))
            }),
        }
    }

    /// The first component.
    pub fn fst(&self) -> Tree<L> {
        self.parts().0.clone()
    }

    /// The second component.
    pub fn snd(&self) -> Tree<L> {
        self.parts().1.clone()
    }

    fn parts(&self) -> &Two<Tree<L>> {
        match self {
            Tree::Pair(p) => p,
            _ => unreachable!("a value of a pair type is a pair"),
        }
    }

    /// The single leaf of a scalar or of one array.
    pub fn leaf(&self) -> L {
        match self {
            Tree::Leaf(l) => *l,
            _ => unreachable!("a value of a scalar or array type is one leaf"),
        }
    }

    /// The leaves from left to right.
    pub fn leaves(&self) -> Vec<L> {
        fn go<L: Copy>(t: &Tree<L>, out: &mut Vec<L>) {
            match t {
                Tree::Unit => {}
                Tree::Leaf(l) => out.push(*l),
                Tree::Pair(p) => deep(|| {
                    go(&p.0, out);
                    go(&p.1, out);
                }),
            }
        }
        let mut out = vec![];
        go(self, &mut out);
        out
    }
}
