//! Kinds of processors: what machine code that was compiled elsewhere expects of the processor that runs it.

use accel_codegen::Vectors;

/// A kind of processors of this architecture. Code for it runs on all of its processors, and on those of later kinds in [`KINDS`].
pub struct Kind {
    /// Its name, which is that of the psABI on x86-64.
    pub name: &'static str,
    /// The option of the C compiler for it.
    pub option: Option<&'static str>,
    /// The vector registers that it certainly has.
    pub vectors: Vectors,
    /// Whether this process runs on such a processor.
    pub is_here: fn() -> bool,
}

/// The kinds of processors of this architecture, each with what the ones before it have.
#[cfg(target_arch = "x86_64")]
pub const KINDS: &[Kind] = {
    use std::is_x86_feature_detected as has;
    let (narrow, wide) = (Vectors { bytes: 16, registers: 16 }, Vectors { bytes: 32, registers: 16 });
    &[
        Kind { name: "x86-64", option: Some("-march=x86-64"), vectors: narrow, is_here: || true },
        Kind {
            name: "x86-64-v2",
            option: Some("-march=x86-64-v2"),
            vectors: narrow,
            is_here: || has!("ssse3") && has!("sse4.1") && has!("sse4.2") && has!("popcnt") && has!("cmpxchg16b"),
        },
        Kind {
            name: "x86-64-v3",
            option: Some("-march=x86-64-v3"),
            vectors: wide,
            is_here: || {
                let arithmetic = has!("avx2") && has!("fma") && has!("f16c");
                arithmetic && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("movbe")
            },
        },
        Kind {
            name: "x86-64-v4",
            option: Some("-march=x86-64-v4"),
            vectors: Vectors { bytes: 64, registers: 32 },
            is_here: || {
                let arithmetic = has!("avx512f") && has!("avx512dq") && has!("avx512cd");
                arithmetic && has!("avx512bw") && has!("avx512vl")
            },
        },
    ]
};

/// The kinds of processors of this architecture: one.
#[cfg(not(target_arch = "x86_64"))]
pub const KINDS: &[Kind] = &[Kind {
    name: std::env::consts::ARCH,
    option: None,
    vectors: Vectors { bytes: 16, registers: 32 },
    is_here: || true,
}];

/// The last kind of which this processor is.
pub fn here() -> &'static Kind {
    // Each kind has what the ones before it have, so a processor without one of them has none of those after it.
    KINDS.iter().take_while(|kind| (kind.is_here)()).last().unwrap_or(&KINDS[0])
}

/// The position of a kind in [`KINDS`].
pub fn position(name: &str) -> Option<usize> {
    KINDS.iter().position(|kind| kind.name == name)
}
