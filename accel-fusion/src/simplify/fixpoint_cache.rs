//! The fixpoint cache: scalar code that needs no further simplification.
//!
//! NOTE [Fixpoint cache]: a program is simplified in rounds until nothing changes. But after the first round, most
//! scalar code cannot be simplified further. If a round finds nothing to do in a piece of scalar code, the code is
//! entered in the cache. If the code occurs again in a later round, and the definitions of the arrays that it reads
//! still enable no rule, then only its array variables are renamed. Two pieces of code are the same if their keys are
//! equal, with arrays numbered in order of occurrence, and if their arguments and arrays have the same types. A mistake
//! here can leave code less simple than possible, but cannot change its meaning.

use super::projections::is_projection;
use super::rules::operations::variable;
use super::scalars::{Arrays, Code, extent_of};
use super::shapes::constant_element;
use accel_core::ast::*;
use accel_core::pass::canonical_key::{Names, expression};
use accel_core::repr::RawTy;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

/// The scalar code in the cache.
pub type FixpointCache = HashSet<Key>;

/// The key of a piece of scalar code.
#[derive(PartialEq, Eq)]
pub struct Key {
    tokens: Vec<u64>,
    /// The types of the arguments, and of the arrays in order of occurrence.
    types: Vec<RawTy>,
}

impl Hash for Key {
    /// Does not hash the types, which rarely differ where the tokens are equal.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tokens.hash(state);
    }
}

/// The key of a function of `arguments`; `None` if the definition of an array influences its simplification.
pub fn key<'z, 'a, E, T>(
    e: &Exp<E, X<'z>, T>,
    arguments: &[&RawTy],
    arrays: &Arrays<X<'z>, X<'a>>,
    code: &Code<'_, X<'a>>,
) -> Option<Key> {
    let types = arguments.iter().copied().cloned().collect();
    let mut irrelevant = IrrelevantDefinitions { arrays, code, seen: vec![], types };
    let tokens = expression(e, &mut irrelevant)?;
    Some(Key { tokens, types: irrelevant.types })
}

/// Accepts reads of arrays whose definitions enable no rule.
struct IrrelevantDefinitions<'u, 'c, 'z, 'a> {
    arrays: &'u Arrays<X<'z>, X<'a>>,
    code: &'u Code<'c, X<'a>>,
    /// The arrays read so far.
    seen: Vec<usize>,
    types: Vec<RawTy>,
}

impl<'z> Names<X<'z>> for IrrelevantDefinitions<'_, '_, 'z, '_> {
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

/// Whether the array's definition only rearranges the components of another array's elements.
fn is_retupled<A, R>(a: &Acc<A, R>) -> bool {
    fresh1(
        |n| matches!(a.view(n), AccView::Op(AccOp::Map { f, a, .. }) if variable(&a).is_some() && is_projection(&f.0)),
    )
}
