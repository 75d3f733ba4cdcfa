//! Which rules the simplifier may apply.

/// Rules that are not always allowed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Allows `x + 0.0` = `x`, which changes the sign of a zero. Derivatives use it, because there such zeros are empty
    /// sums of contributions.
    pub unsigned_zeros: bool,
}
