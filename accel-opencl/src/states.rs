//! The parts of the tapes of a run.

use crate::location::Location;
use accel_fusion::kernel::tape::{Budget, Tape};
use std::collections::BTreeMap;

/// The arrays of a state: their extents, and where their columns are.
pub type State = Vec<(Vec<i64>, Location)>;

/// The tapes of a run that have been filled.
pub type Tapes = BTreeMap<usize, Tape<State>>;

/// The memory for states on a device: `bytes` if given, otherwise a quarter of the device's memory.
pub fn budget(bytes: Option<usize>, memory: u64) -> Budget {
    let quarter = usize::try_from(memory / 4).unwrap_or(usize::MAX);
    Budget::new(Some(bytes.unwrap_or(quarter)))
}
