//! The triangles of a matrix.

/// The part of a matrix that is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Triangle {
    /// The diagonal and what is below.
    Lower,
    /// The diagonal and what is above.
    Upper,
}

impl Triangle {
    /// That of the transposed matrix.
    pub(super) fn transposed(self) -> Triangle {
        match self {
            Triangle::Lower => Triangle::Upper,
            Triangle::Upper => Triangle::Lower,
        }
    }
}
