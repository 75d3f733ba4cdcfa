//! The arrays of a running program.

use super::watch::Watch;
use crate::error::{Error, Result};
use crate::repr::{Column, RawArray, RawExtents};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The number of a slot. A slot holds one array.
pub type Slot = usize;

/// What a slot holds.
#[derive(Clone)]
pub enum Content {
    Array(RawArray),
    /// No array, in a run that goes on after errors, but its extents if they are known. Negative ones are in two's complement.
    Failed(Option<RawExtents>),
}

/// The arrays of a running program, and the memory that they use.
pub struct Slots {
    arrays: Vec<Option<Content>>,
    /// For each column, the number of slots that share it.
    shared: HashMap<usize, usize>,
    live: usize,
    peak: usize,
    /// Looks for NaN, if somebody has asked for it.
    pub watch: Option<Watch>,
    /// The errors so far, in a run that goes on after them.
    pub errors: Option<Vec<Error>>,
}

impl Slots {
    pub fn new(n: usize) -> Self {
        Slots { arrays: vec![None; n], shared: HashMap::new(), live: 0, peak: 0, watch: None, errors: None }
    }

    pub fn content(&self, s: Slot) -> Result<&Content> {
        self.arrays[s].as_ref().ok_or_else(|| Error::Internal("an array was freed too early".into()))
    }

    pub fn get(&self, s: Slot) -> Result<&RawArray> {
        match self.content(s)? {
            Content::Array(a) => Ok(a),
            Content::Failed(_) => Err(failed()),
        }
    }

    pub fn extents(&self, s: Slot) -> Result<&RawExtents> {
        match self.content(s)? {
            Content::Array(a) => Ok(&a.extents),
            Content::Failed(extents) => extents.as_ref().ok_or_else(failed),
        }
    }

    /// Notes an error of an operation, if the run goes on after errors.
    ///
    /// # Errors
    /// This error, if the run does not.
    pub fn note(&mut self, e: Error) -> Result<()> {
        match (&mut self.errors, e) {
            // The operation reads what another one did not compute.
            (Some(_), Error::Internal(_)) => Ok(()),
            (Some(all), e) => {
                all.push(e);
                Ok(())
            }
            (None, e) => Err(e),
        }
    }

    pub fn put(&mut self, s: Slot, a: impl Into<Content>) {
        self.free(s);
        let a = a.into();
        for c in a.columns() {
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
        for c in self.arrays[s].take().iter().flat_map(Content::columns) {
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

impl Content {
    fn columns(&self) -> &[Column] {
        match self {
            Content::Array(a) => &a.columns,
            Content::Failed(_) => &[],
        }
    }
}

impl From<RawArray> for Content {
    fn from(a: RawArray) -> Self {
        Content::Array(a)
    }
}

/// The error of what reads an array that was not computed. Nobody sees it.
fn failed() -> Error {
    Error::Internal("an operation before has failed".into())
}
