//! The devices for which kernels are generated.

/// The properties of the device for which kernels are generated.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    /// The number of compute units.
    pub units: usize,
    /// The largest number of work-items of a group.
    pub largest_group: usize,
    /// The size of the local memory of a work-group, in bytes.
    pub local_memory: usize,
    /// Whether positions have 64 bits. This is necessary if an array has 2³¹ elements or more.
    pub wide: bool,
    /// Whether the device has atomic operations on 64-bit integers.
    pub atomics_64: bool,
    /// Whether a started group makes progress while others wait for it, and there are atomic operations on 64-bit
    /// integers. Then long rows are scanned in one launch.
    pub look_back: bool,
}
