//! The parts of the tapes of a run.

use crate::location::Location;
use accel_fusion::kernel::tape::{Budget, Tape};
use std::collections::BTreeMap;

/// The arrays of a state: their extents, and where their columns are.
pub type State = Vec<(Vec<i64>, Location)>;

/// The tapes of a run that have been filled.
pub type Tapes = BTreeMap<usize, Tape<State>>;

/// The memory for states on a device: `bytes` if given, otherwise a quarter of the memory of a device that does not use
/// that of the host.
pub fn budget(bytes: Option<usize>, is_host: bool, memory: u64) -> Budget {
    let quarter = usize::try_from(memory / 4).unwrap_or(usize::MAX);
    Budget::new(bytes.or((!is_host).then_some(quarter)))
}
