//! Directions.

/// The direction of a scan along the innermost dimension, and of a loop along a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dir {
    /// From the first element to the last.
    Left,
    /// From the last element to the first.
    Right,
}

impl Dir {
    /// The opposite direction.
    pub fn opposite(self) -> Dir {
        match self {
            Dir::Left => Dir::Right,
            Dir::Right => Dir::Left,
        }
    }
}
