//! The arrays of a running program.

use super::watch::Watch;
use crate::error::{Error, Result};
use crate::repr::RawArray;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The number of a slot. A slot holds one array.
pub type Slot = usize;

/// The arrays of a running program, and the memory that they use.
pub struct Slots {
    arrays: Vec<Option<RawArray>>,
    /// For each column, the number of slots that share it.
    shared: HashMap<usize, usize>,
    live: usize,
    peak: usize,
    /// Looks for NaN, if somebody has asked for it.
    pub watch: Option<Watch>,
}

impl Slots {
    pub fn new(n: usize) -> Self {
        Slots { arrays: vec![None; n], shared: HashMap::new(), live: 0, peak: 0, watch: None }
    }

    pub fn get(&self, s: Slot) -> Result<&RawArray> {
        self.arrays[s].as_ref().ok_or_else(|| Error::Internal("an array was freed too early".into()))
    }

    pub fn put(&mut self, s: Slot, a: RawArray) {
        self.free(s);
        for c in &a.columns {
            let count = self.shared.entry(c.identity()).or_insert(0);
            if *count == 0 {
                self.live += c.bytes();
            }
            *count += 1;
        }
        self.peak = self.peak.max(self.live);
        self.arrays[s] = Some(a);
    }

    pub fn free(&mut self, s: Slot) {
        for c in self.arrays[s].take().iter().flat_map(|a| &a.columns) {
            if let Entry::Occupied(mut count) = self.shared.entry(c.identity()) {
                *count.get_mut() -= 1;
                if *count.get() == 0 {
                    count.remove();
                    self.live -= c.bytes();
                }
            }
        }
    }

    /// The largest number of bytes at one time.
    pub fn peak(&self) -> usize {
        self.peak
    }
}
