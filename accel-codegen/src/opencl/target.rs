//! The devices that kernels are printed for.

/// What kind of device kernels are printed for: NOTE [Two shapes of kernels].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// Many small work-items that share local memory.
    Gpu,
    /// One work-item for each part of the work, which runs through it with vector operations.
    Cpu,
}

/// What the code is printed for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    /// Its kind.
    pub shape: Shape,
    /// How many compute units the device has.
    pub units: usize,
    /// The largest work-group that the device takes.
    pub largest_group: usize,
    /// The bytes of local memory of a work-group.
    pub local_memory: usize,
    /// Whether positions are counted with 64 bits: they must be where an array has 2³¹ elements or more.
    pub wide: bool,
    /// Whether there are atomic operations on 64-bit integers.
    pub atomics_64: bool,
    /// Whether a group that has started goes on while others wait for it, and there are atomic operations on 64-bit integers: then a
    /// GPU scans long rows in one launch.
    pub look_back: bool,
}
