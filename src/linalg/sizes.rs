//! Small matrices in the language, large ones by a library.

/// What `small` computes of a matrix with `n` rows, or, with the feature `linalg`, what `large` does if there are many.
macro_rules! by_size {
    ($n:expr, $small:expr, $large:expr) => {{
        #[cfg(feature = "linalg")]
        let found = large::by_size($n, $small, $large);
        #[cfg(not(feature = "linalg"))]
        let found = $small;
        found
    }};
}
pub(super) use by_size;
