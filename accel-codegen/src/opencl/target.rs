//! The devices for which kernels are generated.

/// The kind of device for which kernels are generated: NOTE [Two shapes of kernels].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// Many small work-items with common local memory.
    Gpu,
    /// One work-item for each part of the work, which it processes with vector operations.
    Cpu,
}

/// The properties of the device for which kernels are generated.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Target {
    /// The kind of device.
    pub shape: Shape,
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
    /// integers. Then a GPU scans long rows in one launch.
    pub look_back: bool,
}
