//! What tapes of a run consist of.

use crate::location::Location;
use accel_fusion::kernel::tape::{Budget, Tape};
use std::collections::BTreeMap;

/// The arrays of a state: their extents, and where their columns are.
pub type State = Vec<(Vec<i64>, Location)>;

/// The tapes of a run that have been filled.
pub type Tapes = BTreeMap<usize, Tape<State>>;

/// The memory for states on a device: a quarter of its own, if no number is given and it is not that of the host.
pub fn budget(bytes: Option<usize>, is_host: bool, memory: u64) -> Budget {
    let quarter = usize::try_from(memory / 4).unwrap_or(usize::MAX);
    Budget::new(bytes.or((!is_host).then_some(quarter)))
}
