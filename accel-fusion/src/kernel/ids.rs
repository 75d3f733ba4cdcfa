//! The numbers of registers, arrays and sites. Each kind is a separate type, so that rustc distinguishes them. They are
//! printed as numbers, because the letter before them depends on the text: register 3 is `x3` in a kernel program and `r3`
//! in C; array 3 is `a3`, and its strip in C is `s3`.

index_vec::define_index_type! {
    /// A register of a scalar function; its type is `ScalarFn::types[reg]`.
    pub struct Reg = u32;
    DISPLAY_FORMAT = "{}";
    MAX_INDEX = u32::MAX as usize - 1;
}
index_vec::define_index_type! {
    /// An array of a [`Program`](super::Program); `Program::arrays[id]` describes it.
    pub struct ArrayId = u32;
    DISPLAY_FORMAT = "{}";
    MAX_INDEX = u32::MAX as usize - 1;
}
index_vec::define_index_type! {
    /// A place in the source, for error messages: `Program::sites[site]`.
    pub struct SiteId = u32;
    DISPLAY_FORMAT = "{}";
    MAX_INDEX = u32::MAX as usize - 1;
}

impl Reg {
    /// Stands for a register that is not used. No scalar function has a register with this number.
    pub const NONE: Reg = Reg::from_raw_unchecked(u32::MAX);
}
