//! Plans: programs translated to steps that compute arrays into slots.

use super::code::Code;
use super::lists::Entry;
use super::place::Place;
use super::slots::Slot;
use crate::ast::{Dir, deep};
use crate::repr::tree::Tree;
use crate::repr::{Agreement, Call, RawArray, ScalarType};

/// A closed program. The leaves of its argument are in the first slots.
#[derive(Debug)]
pub struct Plan {
    pub slots: usize,
    pub body: Block,
}

/// Steps that are executed in order, and where the result is afterwards.
#[derive(Debug)]
pub struct Block {
    pub steps: Vec<Step>,
    pub result: Tree<Slot>,
    /// The slots of this block that are still needed at its end. The surrounding block frees them when it has taken the
    /// result.
    pub kept: Vec<Slot>,
}

impl Drop for Block {
    /// Blocks are nested as deeply as the program's conditionals and loops.
    fn drop(&mut self) {
        deep(|| self.steps.clear())
    }
}

/// An operation. Its results go to slots; after it, some arrays are not needed any more and are freed.
#[derive(Debug)]
pub struct Step {
    pub op: Op,
    pub to: Vec<Slot>,
    pub place: Place,
    pub frees: Vec<Slot>,
}

/// How many steps a loop has.
#[derive(Debug)]
pub enum Trips {
    While(Block),
    Times(Code, Dir),
}

/// Operations on arrays; [`crate::ast::AccOp`] describes their meaning.
#[derive(Debug)]
pub enum Op {
    Use(RawArray),
    /// The same arrays again.
    Copy(Vec<Slot>),
    Cond {
        cond: Code,
        then: Block,
        otherwise: Block,
    },
    /// The slots of the result hold the state. An earlier step has put the initial state there.
    While {
        cond: Block,
        body: Block,
    },
    /// The first slots of the result hold the state, as in `While`. The others receive the lists.
    Loop {
        trips: Trips,
        /// The arrays, and the slots of their rows.
        rows: Vec<(Slot, Slot)>,
        /// Computes the next state and the entries of the lists.
        body: Block,
        lists: Vec<Entry>,
    },
    Generate {
        sh: Code,
        f: Code,
    },
    /// The first slot of the result is the array that `f` computes; the others are the accumulators.
    Accumulate {
        sh: Code,
        f: Code,
        init: Vec<Slot>,
    },
    Map {
        f: Code,
        a: Slot,
    },
    /// The place is that of the user's operation that requires the shapes to agree.
    Agree {
        agreement: Agreement,
        left: Code,
        right: Code,
        a: Slot,
    },
    ZipWith {
        f: Code,
        a: Slot,
        b: Slot,
    },
    /// Without `z` it is `fold1`.
    Fold {
        f: Code,
        z: Option<Code>,
        a: Slot,
    },
    /// Without `z` it is `scan1`.
    Scan {
        dir: Dir,
        f: Code,
        z: Option<Code>,
        a: Slot,
    },
    Permute {
        comb: Code,
        defaults: Slot,
        index: Code,
        a: Slot,
    },
    Backpermute {
        sh: Code,
        f: Code,
        a: Slot,
    },
    Argsort {
        a: Slot,
    },
    /// The code computes all extents of the results, one array after the other. Of each result, its rank and its columns.
    Foreign {
        call: Call,
        sh: Code,
        a: Vec<Slot>,
        results: Vec<(usize, Vec<ScalarType>)>,
    },
    Reshape {
        sh: Code,
        a: Slot,
    },
    /// For every dimension of the result: whether it is a dimension of the source.
    Replicate {
        kept: Vec<bool>,
        slx: Code,
        a: Slot,
    },
    /// For every dimension of the source: whether it is a dimension of the result.
    Slice {
        kept: Vec<bool>,
        slx: Code,
        a: Slot,
    },
}

impl Op {
    /// The slots that the operation itself reads, without those that only inner blocks read.
    pub fn uses(&self) -> Vec<Slot> {
        let (slots, codes): (Vec<Slot>, Vec<&Code>) = match self {
            Op::Use(_) | Op::While { .. } => (vec![], vec![]),
            Op::Loop { trips, rows, .. } => {
                let n = if let Trips::Times(n, _) = trips { Some(n) } else { None };
                (rows.iter().map(|(xs, _)| *xs).collect(), n.into_iter().collect())
            }
            Op::Copy(slots) => (slots.clone(), vec![]),
            Op::Cond { cond, .. } => (vec![], vec![cond]),
            Op::Generate { sh, f } => (vec![], vec![sh, f]),
            Op::Accumulate { sh, f, init } => (init.clone(), vec![sh, f]),
            Op::Map { f, a } => (vec![*a], vec![f]),
            Op::Agree { left, right, a, .. } => (vec![*a], vec![left, right]),
            Op::ZipWith { f, a, b } => (vec![*a, *b], vec![f]),
            Op::Fold { f, z, a } | Op::Scan { f, z, a, .. } => (vec![*a], [f].into_iter().chain(z).collect()),
            Op::Permute { comb, defaults, index, a } => (vec![*defaults, *a], vec![comb, index]),
            Op::Backpermute { sh, f, a } => (vec![*a], vec![sh, f]),
            Op::Argsort { a } => (vec![*a], vec![]),
            Op::Foreign { sh, a, .. } => (a.clone(), vec![sh]),
            Op::Reshape { sh, a } => (vec![*a], vec![sh]),
            Op::Replicate { slx, a, .. } | Op::Slice { slx, a, .. } => (vec![*a], vec![slx]),
        };
        codes.into_iter().flat_map(|c| &c.arrays).copied().chain(slots).collect()
    }
}
