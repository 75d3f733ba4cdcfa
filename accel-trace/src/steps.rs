//! Traces of array operations: their steps, divided into clusters.

use crate::cluster::{Cluster, clusters};
use crate::step::{Id, Origin, Step};
use accel_core::repr::RawTy;
use accel_core::repr::tree::Tree;

/// The straight-line program of one run, with whole array operations. The arrays of the argument come first.
pub struct Steps {
    /// All steps; each uses only earlier ones.
    pub steps: Vec<Step>,
    /// The steps of the result.
    pub result: Tree<Id>,
    /// The type of the argument.
    pub argument: RawTy,
    /// The type of the result.
    pub ty: RawTy,
    /// The steps that are differentiated together.
    pub clusters: Vec<Cluster>,
}

impl Steps {
    /// A trace of these steps, without those on which neither the result nor an array with a name depends: they only
    /// decided which path the run took. Arrays that are only used inside of their clusters, of at most `largest` steps,
    /// are freed.
    pub fn new(steps: Vec<Step>, result: &Tree<Id>, argument: RawTy, ty: RawTy, largest: usize) -> Steps {
        let (mut steps, new) = pruned(steps, &result.leaves());
        let results: Vec<Id> = result.leaves().into_iter().map(|id| new[id]).collect();
        let clusters = clusters(&steps, &results, largest);
        for c in &clusters {
            let (_, inside) = c.members.split_last().unwrap_or((&0, &[]));
            inside.iter().for_each(|id| steps[*id].value.columns.clear());
        }
        let mut leaves = results.into_iter();
        let result = Tree::of(&ty, &mut || leaves.next().unwrap_or_default());
        Steps { steps, result, argument, ty, clusters }
    }
}

/// The needed steps, and the new numbers of steps.
fn pruned(steps: Vec<Step>, results: &[Id]) -> (Vec<Step>, Vec<Id>) {
    let mut needed = vec![false; steps.len()];
    results.iter().for_each(|id| needed[*id] = true);
    for (id, step) in steps.iter().enumerate().rev() {
        needed[id] |= matches!(step.origin, Origin::Argument(_)) || step.label().is_some();
        if needed[id] {
            step.inputs.iter().for_each(|i| needed[*i] = true);
        }
    }
    let mut new = vec![0; needed.len()];
    for (next, (new, _)) in new.iter_mut().zip(&needed).filter(|(_, n)| **n).enumerate() {
        *new = next;
    }
    let kept = steps.into_iter().zip(&needed).filter(|(_, needed)| **needed);
    let renumbered = kept.map(|(step, _)| Step { inputs: step.inputs.iter().map(|i| new[*i]).collect(), ..step });
    (renumbered.collect(), new)
}
