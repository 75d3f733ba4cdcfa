//! Clusters: steps that are differentiated together, as one program that the backend fuses.
//!
//! A product of matrices is four steps: two replications, a product of elements and a sum. Their intermediate arrays are
//! far larger than the matrices, and so would be their adjoints. So a step belongs to the cluster of the steps that use it,
//! if these are all in one cluster. Then only the last step of a cluster is used outside of it, and the order of
//! clusters is free wherever that of steps is. Only the arrays of last steps are stored; the adjoint of a cluster
//! computes the others again from its inputs.
//!
//! Clusters end where arrays are visible (names, results), where reading elements has a sparse adjoint, where a loop
//! was unrolled, so that its iterations have equal clusters, and at operations with loops in their scalar code, which
//! may take long and so are tasks of their own.

use crate::step::{Id, Step};

/// The largest number of steps of a cluster, which limits the time to compile it.
pub const LARGEST: usize = 64;

/// Whether the adjoint of a step that reads some elements of an array is sparse: the array is larger than the result by
/// this factor.
const SPARSE: usize = 4;

/// Steps that are differentiated together.
pub struct Cluster {
    /// The steps in order. The others are used only inside of the cluster.
    pub members: Vec<Id>,
    /// The steps outside that the members use, each once.
    pub inputs: Vec<Id>,
}

impl Cluster {
    /// The step whose array the cluster computes.
    pub fn last(&self) -> Id {
        self.members[self.members.len() - 1]
    }
}

/// Whether a step only reads elements of an array that is much larger than its result.
pub fn is_sparse(step: &Step, steps: &[Step]) -> bool {
    step.kernel().and_then(|k| k.reads.as_ref()).is_some_and(|reads| {
        let source = &steps[step.inputs[reads.source]];
        step.value.size().saturating_mul(SPARSE) <= source.value.size()
    })
}

/// The clusters in which a step is used.
#[derive(Clone, Copy)]
enum Home {
    Nowhere,
    /// In the cluster of this last step.
    One(Id),
    Several,
}

/// Divides steps into clusters of at most `largest` steps. Arguments and constants are clusters of their own. The clusters
/// are in the order of their last steps.
pub fn clusters(steps: &[Step], results: &[Id], largest: usize) -> Vec<Cluster> {
    let mut home = vec![Home::Nowhere; steps.len()];
    results.iter().for_each(|id| home[*id] = Home::Several);
    let mut members: Vec<Vec<Id>> = vec![vec![]; steps.len()];
    let alone: Vec<bool> = steps.iter().map(|s| s.kernel().is_none() || is_sparse(s, steps)).collect();
    for (id, step) in steps.iter().enumerate().rev() {
        let ends = alone[id] || step.boundary || step.kernel().is_some_and(|k| k.label.is_some() || k.loops);
        let last = match home[id] {
            Home::One(last) if !ends && !alone[last] && members[last].len() < largest => last,
            _ => id,
        };
        members[last].push(id);
        for i in &step.inputs {
            home[*i] = match home[*i] {
                Home::Nowhere => Home::One(last),
                Home::One(other) if other == last => Home::One(last),
                Home::One(_) | Home::Several => Home::Several,
            };
        }
    }
    members.into_iter().filter(|m| !m.is_empty()).map(|m| cluster(steps, m)).collect()
}

fn cluster(steps: &[Step], mut members: Vec<Id>) -> Cluster {
    members.reverse();
    let mut inputs = vec![];
    for i in members.iter().flat_map(|m| &steps[*m].inputs) {
        if members.binary_search(i).is_err() && !inputs.contains(i) {
            inputs.push(*i);
        }
    }
    Cluster { members, inputs }
}
