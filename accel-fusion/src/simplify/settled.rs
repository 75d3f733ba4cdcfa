//! Which scalar code needs no further look.
//!
//! NOTE [Settled code]: a program is simplified in rounds until nothing changes, but most of its scalar code is as simple as it can be
//! after the first. What a round makes of code in which it finds nothing to do is settled: if it occurs again in a later round, and the
//! definitions of the arrays that it reads still say nothing that a rule could use, then only its array variables are renamed. Code is
//! the same if its text is, with arrays numbered in the order in which they occur, and if its arguments and arrays have the same
//! types. A mistake here could leave code less simple than it might be, but not change its meaning.

use super::retuple::is_retuple;
use super::rules::operations::variable;
use super::scalars::{Arrays, Code, extent_of};
use super::shapes::constant_element;
use super::tokens::{Names, expression};
use accel_core::ast::*;
use accel_core::repr::RawTy;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

/// Settled code.
pub type Settled = HashSet<Text>;

/// What makes two codes the same.
#[derive(PartialEq, Eq)]
pub struct Text {
    tokens: Vec<u64>,
    /// Of the arguments, and of the arrays in the order in which they occur.
    types: Vec<RawTy>,
}

impl Hash for Text {
    /// Without the types, which rarely differ where the tokens do not.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tokens.hash(state);
    }
}

/// The text of a function of `arguments`; `None` if a definition of an array has a say in its simplification.
pub fn text<'z, 'a, E, T>(
    e: &Exp<E, X<'z>, T>,
    arguments: &[&RawTy],
    arrays: &Arrays<X<'z>, X<'a>>,
    code: &Code<'_, X<'a>>,
) -> Option<Text> {
    let types = arguments.iter().copied().cloned().collect();
    let mut uninvolved = Uninvolved { arrays, code, seen: vec![], types };
    let tokens = expression(e, &mut uninvolved)?;
    Some(Text { tokens, types: uninvolved.types })
}

/// Accepts reads of arrays of which nothing is known but that they are arrays.
struct Uninvolved<'u, 'c, 'z, 'a> {
    arrays: &'u Arrays<X<'z>, X<'a>>,
    code: &'u Code<'c, X<'a>>,
    /// The arrays read so far.
    seen: Vec<usize>,
    types: Vec<RawTy>,
}

impl<'z> Names<X<'z>> for Uninvolved<'_, '_, 'z, '_> {
    fn array<T>(&mut self, i: &Idx<X<'z>, T>) -> u64 {
        let depth = self.arrays.get(i).depth();
        let known = self.seen.iter().position(|d| *d == depth);
        known.unwrap_or_else(|| {
            self.seen.push(depth);
            self.types.push(i.ty().raw().clone());
            self.seen.len() - 1
        }) as u64
    }

    fn accepts<E, T>(&mut self, op: &ExpOp<'_, E, X<'z>, T>) -> bool {
        let Code { arrays: defs, shapes, once, .. } = self.code;
        match op {
            ExpOp::Index(a, ..) => {
                let a = self.arrays.get(a);
                constant_element(&a, defs).is_none() && !is_retupled(&defs.get(&a))
            }
            ExpOp::Shape(a, q) => shapes.resolve(&self.arrays.get(a).cast(*q), defs, *once).is_none(),
            ExpOp::Snd(a, _) => extent_of(a, self.arrays, self.code).is_none(),
            _ => true,
        }
    }
}

/// Whether an array is another one with its elements rearranged.
fn is_retupled<A, R>(a: &Acc<A, R>) -> bool {
    fresh1(|n| matches!(a.view(n), AccView::Op(AccOp::Map { f, a, .. }) if variable(&a).is_some() && is_retuple(&f.0)))
}
