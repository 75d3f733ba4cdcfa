//! Large pages for large arrays.

/// Arrays from this size on (in bytes) are large.
pub const LARGE: usize = 4 << 20;

/// Asks the system to back new memory by large pages: the first write to each page of a fresh array costs far more than the write
/// itself, and there are 512 times fewer of them. The advice changes nothing else, and where it is not understood nothing at all.
pub fn advise(address: *mut std::ffi::c_void, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= LARGE {
        const PAGE: usize = 4096;
        // Only whole pages inside of the memory: what is around it is not ours.
        let skip = address.addr().wrapping_neg() % PAGE;
        let whole = (bytes - skip) / PAGE * PAGE;
        // SAFETY: the range lies within memory that the caller has just allocated, and the advice does not change its contents.
        unsafe { libc::madvise(address.byte_add(skip), whole, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (address, bytes);
}
