//! The commands of a recorded run: NOTE [Recorded runs].

use crate::cl::{Kernel, Mem};
use crate::memory::Buffer;
use std::sync::Arc;

/// A kernel launch of a recorded run, with its parameters.
pub struct Command {
    pub kernel: Kernel,
    /// The buffer of the kernel's numbers, if it has one. It lives as long as the kernel.
    pub _numbers: Option<Mem>,
    pub global: [usize; 2],
    pub group: [usize; 2],
}

/// The recorded commands of a run.
#[derive(Default)]
pub struct Commands {
    /// The launches, in order.
    pub commands: Vec<Command>,
    /// The memory that the run does not need any more, but the commands do.
    pub held: Vec<Arc<Buffer>>,
}
