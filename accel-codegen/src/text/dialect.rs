//! The two dialects of C. Each method answers one question about a dialect, or returns a piece of its text.

use accel_core::repr::ScalarType;
use std::fmt::Display;

/// The dialect that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// C, for C compilers.
    C,
    /// OpenCL C, for the small work-items of graphics cards, which have no local arrays.
    OpenCl {
        /// Whether positions have 32 bits.
        narrow: bool,
        /// Whether there are atomic operations on 64-bit integers.
        atomics_64: bool,
    },
}

impl Dialect {
    /// Whether there are too few registers for many accumulators, which would then be in memory.
    pub fn has_few_registers(self) -> bool {
        self != Dialect::C
    }

    /// Whether the device has other work while it waits for memory, so that no prefetching is necessary.
    pub fn hides_latency(self) -> bool {
        self != Dialect::C
    }

    /// Whether there are atomic operations on 64-bit integers.
    pub fn has_atomics_64(self) -> bool {
        matches!(self, Dialect::OpenCl { atomics_64: true, .. })
    }

    /// Whether positions have 32 bits, so that index arithmetic takes fewer instructions.
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

    /// Whether functions find extents and addresses in tables. If not, they are parameters, because structures with
    /// addresses cannot be passed to kernels: NOTE [Arrays in OpenCL C].
    pub fn has_tables(self) -> bool {
        self == Dialect::C
    }

    /// Whether functions can call the runtime, through variables with the addresses of its functions. Kernels on devices
    /// cannot, so their memory does not grow: NOTE [Memory of lists].
    pub fn calls_runtime(self) -> bool {
        self == Dialect::C
    }

    /// Whether several work-items add to the same sum: NOTE [Additions at the same time].
    pub fn shares_sums(self) -> bool {
        self != Dialect::C
    }

    /// Whether mathematical functions belong to the language: overloaded, without declarations and side effects. In C,
    /// they are external functions with one name for each type.
    pub fn has_builtin_maths(self) -> bool {
        self != Dialect::C
    }

    /// A function that writes a fault record. `params` declares the components of the index, and `stores` stores them.
    /// On devices, items can fail at the same time, and only the first one writes.
    pub fn fault_function(self, name: &str, params: &str, stores: &str) -> String {
        match self {
            Dialect::C => format!(
                "static __attribute__((cold, noinline)) int {name}(i64 *fault, i64 kind, i64 site, i64 what{params}) \
                 {{ fault[0] = kind; fault[1] = site; fault[2] = what;{stores} return 1; }}"
            ),
            Dialect::OpenCl { .. } => format!(
                "static int {name}(global i64 *fault, i64 kind, i64 site, i64 what{params}) {{\n    \
                 if (atomic_cmpxchg((volatile global int *)fault, 0, (int)kind) != 0) return 1;\n    \
                 fault[1] = site; fault[2] = what;{stores}\n    return 1;\n}}"
            ),
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

    /// The suffix of a floating-point literal of this type, where it is necessary. C converts a constant to the type of
    /// the other operand, but a device may have no 64-bit numbers.
    pub fn suffix(self, t: ScalarType) -> &'static str {
        if self != Dialect::C && t == ScalarType::F32 { "f" } else { "" }
    }

    /// The literal of NaN or of an infinity.
    pub fn non_finite(self, x: f64, t: ScalarType) -> String {
        let sign = if x < 0.0 { "-" } else { "" };
        match (self, x.is_nan()) {
            (Dialect::C, nan) => {
                let suffix = if t == ScalarType::F32 { "f" } else { "" };
                if nan { format!("__builtin_nan{suffix}(\"\")") } else { format!("{sign}__builtin_inf{suffix}()") }
            }
            (Dialect::OpenCl { .. }, true) => "(NAN)".into(),
            (Dialect::OpenCl { .. }, false) => format!("({sign}INFINITY)"),
        }
    }

    /// The name of a function on all floating-point types that compilers know without a declaration.
    pub fn builtin(self, name: &str) -> String {
        match self {
            Dialect::C => format!("__builtin_{name}"),
            Dialect::OpenCl { .. } => name.into(),
        }
    }

    /// The number of bits that are set in a `u64`.
    pub fn count_ones(self, bits: &str) -> String {
        match self {
            // GCC 12 takes the bits of two numbers of 64 bits in a vector for their number, where a processor counts bits in
            // vectors: a loop of two steps was wrong. It has no vectors of two numbers of 32 bits.
            Dialect::C => format!("__builtin_popcount((u32)({bits})) + __builtin_popcount((u32)({bits} >> 32))"),
            Dialect::OpenCl { .. } => format!("popcount({bits})"),
        }
    }

    /// The number of zeros above the highest bit that is set in a `u64`, which is not zero.
    pub fn leading_zeros(self, bits: &str) -> String {
        match self {
            Dialect::C => format!("__builtin_clzll({bits})"),
            Dialect::OpenCl { .. } => format!("(int)clz({bits})"),
        }
    }

    /// The number of zeros below the lowest bit that is set in a `u64`, which is not zero.
    pub fn trailing_zeros(self, bits: &str) -> String {
        match self {
            Dialect::C => format!("__builtin_ctzll({bits})"),
            Dialect::OpenCl { .. } => format!("(int)popcount(~({bits}) & (({bits}) - 1))"),
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

    /// What is before a loop of which the compiler makes this many copies of the body.
    pub fn copies(self, times: i64) -> String {
        match self {
            Dialect::C => format!("#pragma GCC unroll {times}"),
            Dialect::OpenCl { .. } => format!("__attribute__((opencl_unroll_hint({times})))"),
        }
    }

    /// Whether a function is executed by the items of groups. If not, one thread executes it.
    pub fn has_groups(self) -> bool {
        self != Dialect::C
    }
}
