//! Races: what happens at the same time in different tasks, groups and items must not depend on the order. Used by the
//! evaluator only.

use super::ir::{Bind, BufferId};
use accel_core::repr::Scalar;
use std::collections::{BTreeSet, HashMap};

/// Who executes a node, and when: the task, the groups and items in three dimensions (counted from 1; 0 outside their loops),
/// and the number of barriers that the group has passed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Agent {
    /// The task, and the group.
    pub group: [usize; 4],
    /// The item of the group.
    pub item: [usize; 3],
    /// How often its group has waited.
    pub barriers: usize,
}

impl Agent {
    /// The agent of the iteration with this number.
    pub fn of_iteration(mut self, bind: Bind, number: usize) -> Agent {
        match bind {
            Bind::Group(dim) => self.group[1 + dim as usize] = number + 1,
            Bind::Item(dim) => self.item[dim as usize] = number + 1,
            Bind::Seq | Bind::Parallel | Bind::Vector | Bind::Unroll => {}
        }
        self
    }

    /// Whether what another agent did before, in the order of the evaluator, may happen later.
    fn is_beside(&self, earlier: &Agent) -> bool {
        self.group != earlier.group || (self.item != earlier.item && self.barriers == earlier.barriers)
    }
}

/// What was read and written.
#[derive(Default)]
pub struct Races {
    seen: HashMap<(BufferId, usize), Seen>,
}

#[derive(Default)]
struct Seen {
    written: Vec<(Agent, Scalar)>,
    read: BTreeSet<Agent>,
}

impl Races {
    /// A buffer begins in a group: those of other groups were other ones.
    pub fn begin(&mut self, buffer: BufferId, agent: Agent) {
        self.seen.retain(|(b, _), seen| {
            seen.written.retain(|(other, _)| *b != buffer || other.group == agent.group);
            seen.read.retain(|other| *b != buffer || other.group == agent.group);
            !seen.written.is_empty() || !seen.read.is_empty()
        });
    }

    /// An agent reads a number.
    ///
    /// # Errors
    /// Another one may write it at the same time.
    pub fn read(&mut self, place: (BufferId, usize), agent: Agent) -> Result<(), String> {
        let seen = self.seen.entry(place).or_default();
        if seen.written.iter().any(|(other, _)| agent.is_beside(other)) {
            return Err("a race: it is read while another item writes it".into());
        }
        seen.read.insert(agent);
        Ok(())
    }

    /// An agent writes a number.
    ///
    /// # Errors
    /// Another one may read it, or write another number there, at the same time.
    pub fn write(&mut self, place: (BufferId, usize), agent: Agent, value: Scalar) -> Result<(), String> {
        let seen = self.seen.entry(place).or_default();
        if seen.written.iter().any(|(other, x)| *x != value && agent.is_beside(other)) {
            return Err("a race: two items write different numbers".into());
        }
        if seen.read.iter().any(|other| agent.is_beside(other)) {
            return Err("a race: it is written while another item reads it".into());
        }
        seen.written.retain(|(other, _)| *other != agent);
        seen.written.push((agent, value));
        Ok(())
    }
}
