//! Who uses the arrays of a block.

use crate::kernel::{ArrayId, Block, Op};
use std::collections::{BTreeSet, HashMap};

/// The statements of a block that use each array, also in their own blocks. Without this table, each loop would look through all
/// statements behind it. Statements are known by the first array that they define.
#[derive(Default)]
pub struct Users {
    of: HashMap<ArrayId, BTreeSet<ArrayId>>,
    /// The arrays that each statement uses.
    used: HashMap<ArrayId, BTreeSet<ArrayId>>,
    /// The arrays that statements use that define nothing: checks.
    pub checked: BTreeSet<ArrayId>,
    /// The places of statements in the block.
    places: HashMap<ArrayId, usize>,
}

impl Users {
    /// The users in a block.
    pub fn new(b: &Block) -> Users {
        let mut users = Users::default();
        users.update(b);
        let checks = b.stmts.iter().filter(|s| name(&s.op).is_none());
        checks.for_each(|s| s.op.used_arrays(&mut users.checked));
        users
    }

    /// Adds the users in new statements of a block.
    pub fn update(&mut self, b: &Block) {
        self.places.clear();
        for (at, s) in b.stmts.iter().enumerate() {
            let Some(user) = name(&s.op) else { continue };
            self.places.insert(user, at);
            if !self.used.contains_key(&user) {
                let mut used = BTreeSet::new();
                s.op.used_arrays(&mut used);
                self.add(user, used);
            }
        }
    }

    /// A statement may now use what another one uses.
    pub fn copy(&mut self, from: Option<ArrayId>, to: Option<ArrayId>) {
        if let (Some(used), Some(to)) = (from.and_then(|s| self.used.get(&s)), to) {
            self.add(to, used.clone());
        }
    }

    fn add(&mut self, user: ArrayId, used: BTreeSet<ArrayId>) {
        used.iter().for_each(|a| _ = self.of.entry(*a).or_default().insert(user));
        self.used.entry(user).or_default().extend(used);
    }

    /// The places of the statements that may use an array.
    pub fn of(&self, a: ArrayId) -> impl Iterator<Item = usize> {
        self.of.get(&a).into_iter().flatten().filter_map(|s| self.places.get(s).copied())
    }
}

/// The first array that a statement defines, by which it is known although its place changes.
pub fn name(op: &Op) -> Option<ArrayId> {
    op.defines().into_iter().next()
}
