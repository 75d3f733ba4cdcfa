//! Asks the operating system for large memory pages for large arrays. This is a separate crate, so that crates without
//! unsafe code can use it.

use std::mem::MaybeUninit;

/// Arrays of at least this size (in bytes) are large.
pub const LARGE: usize = 4 << 20;

/// Asks the operating system to back new memory with large pages, if it is large. The first write to each page of a
/// fresh array costs far more than the write itself, and there are 512 times fewer large pages. The advice changes
/// nothing else. A system that does not know it ignores it.
pub fn advise<T>(memory: &mut [MaybeUninit<T>]) {
    #[cfg(target_os = "linux")]
    if size_of_val(memory) >= LARGE {
        const PAGE: usize = 4096;
        // The advice covers only whole pages inside the memory, because the memory around it is not ours.
        let address = memory.as_mut_ptr().cast::<libc::c_void>();
        let skip = address.addr().wrapping_neg() % PAGE;
        let whole = (size_of_val(memory) - skip) / PAGE * PAGE;
        // SAFETY: the range lies within memory that nobody else uses at the same time, and the advice does not change
        // its contents.
        unsafe { libc::madvise(address.byte_add(skip), whole, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_as_it_was() {
        for n in [0, 1, LARGE - 1, LARGE, LARGE + 4097] {
            let mut numbers = vec![0u8; n + 1];
            let some = numbers.iter_mut().step_by(511);
            some.enumerate().for_each(|(k, x)| *x = k as u8);
            let mut memory: Vec<_> = numbers.iter().map(|x| MaybeUninit::new(*x)).collect();
            advise(&mut memory[1..]);
            // SAFETY: all of it was written.
            let same = |(x, y): (&MaybeUninit<u8>, &u8)| unsafe { x.assume_init() == *y };
            assert!(memory.iter().zip(&numbers).all(same));
        }
    }
}
