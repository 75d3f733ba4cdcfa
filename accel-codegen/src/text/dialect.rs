//! The two dialects of C.

/// Which C is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// What C compilers take.
    C,
    /// What devices take.
    OpenCl {
        /// Whether work-items are small: no local arrays.
        gpu: bool,
        /// Whether positions fit into 32 bits.
        narrow: bool,
    },
}

impl Dialect {
    pub fn is_opencl(self) -> bool {
        self != Dialect::C
    }

    pub fn is_gpu(self) -> bool {
        matches!(self, Dialect::OpenCl { gpu: true, .. })
    }

    pub fn is_narrow(self) -> bool {
        matches!(self, Dialect::OpenCl { narrow: true, .. })
    }
}
