//! The two dialects of C, and how they say the same thing.

use accel_core::repr::ScalarType;
use std::fmt::Display;

/// The dialect that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// C, for C compilers.
    C,
    /// OpenCL C, for devices.
    OpenCl {
        /// Whether it is for the small work-items of GPUs, which have no local arrays.
        gpu: bool,
        /// Whether positions have 32 bits.
        narrow: bool,
        /// Whether there are atomic operations on 64-bit integers.
        atomics_64: bool,
    },
}

impl Dialect {
    pub fn is_opencl(self) -> bool {
        self != Dialect::C
    }

    pub fn is_gpu(self) -> bool {
        matches!(self, Dialect::OpenCl { gpu: true, .. })
    }

    pub fn has_atomics_64(self) -> bool {
        matches!(self, Dialect::OpenCl { atomics_64: true, .. })
    }

    pub fn is_narrow(self) -> bool {
        matches!(self, Dialect::OpenCl { narrow: true, .. })
    }

    /// The address space of arrays, before the type of a pointer.
    pub fn global(self) -> &'static str {
        match self {
            Dialect::C => "",
            Dialect::OpenCl { .. } => "global ",
        }
    }

    /// Whether signed integers wrap. If not, arithmetic is done in unsigned types: NOTE [Integers in OpenCL C].
    pub fn wraps(self) -> bool {
        self == Dialect::C
    }

    /// The literal of an integer of 64 bits.
    pub fn long(self, digits: impl Display, unsigned: bool) -> String {
        match (self, unsigned) {
            (Dialect::C, false) => format!("{digits}ll"),
            (Dialect::C, true) => format!("{digits}ull"),
            (Dialect::OpenCl { .. }, false) => format!("{digits}L"),
            (Dialect::OpenCl { .. }, true) => format!("{digits}UL"),
        }
    }

    /// A condition that seldom holds.
    pub fn unlikely(self, condition: &str) -> String {
        match self {
            Dialect::C => format!("__builtin_expect({condition}, 0)"),
            Dialect::OpenCl { .. } => condition.into(),
        }
    }

    /// What is before a function that must be inlined.
    pub fn always_inline(self) -> &'static str {
        match self {
            Dialect::C => "__attribute__((always_inline)) ",
            Dialect::OpenCl { .. } => "",
        }
    }

    /// The head of a loop over all lanes. Each lane writes its own place, which compilers would otherwise check at run
    /// time.
    pub fn each_lane(self) -> &'static str {
        match self {
            Dialect::C => "_Pragma(\"GCC ivdep\") for (int l = 0; l < 32; l++)",
            Dialect::OpenCl { .. } => "EACH_LANE",
        }
    }

    /// The line before a loop whose iterations do not depend on each other.
    pub fn independent(self) -> &'static str {
        match self {
            Dialect::C => "#pragma GCC ivdep",
            Dialect::OpenCl { .. } => "INDEPENDENT",
        }
    }

    /// What is before a loop that is unrolled so many times. C compilers decide that themselves.
    pub fn unrolled(self, times: usize) -> String {
        match self {
            Dialect::C => String::new(),
            Dialect::OpenCl { .. } => format!("UNROLLED({times}) "),
        }
    }

    /// A vector of zeros.
    pub fn zeros(self, t: ScalarType) -> String {
        match self {
            Dialect::C => format!("(v_{t}){{0}}"),
            Dialect::OpenCl { .. } => format!("(v_{t})(0)"),
        }
    }

    /// Element `k` of a vector.
    pub fn element(self, vector: &str, k: usize) -> String {
        match self {
            Dialect::C => format!("{vector}[{k}]"),
            Dialect::OpenCl { .. } => format!("{vector}.s{k}"),
        }
    }

    /// Adds a vector of `n` numbers to those in memory from an address on.
    pub fn add_to(self, address: &str, vector: &str, n: usize, t: ScalarType) -> String {
        match self {
            Dialect::C => format!("*(u_{t} *)({address}) += {vector};"),
            Dialect::OpenCl { .. } => format!("vstore{n}(vload{n}(0, {address}) + {vector}, 0, {address});"),
        }
    }
}
