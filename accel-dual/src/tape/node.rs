//! A node of a tape: the derivative of one operation with two operands.

/// An operation's partial derivatives, and the places of its operands on the tape of the same job.
#[derive(Clone, Copy, Debug)]
pub struct Node<S> {
    /// The partial derivatives by the two operands.
    pub partials: [S; 2],
    /// The places of the operands.
    pub parents: [u32; 2],
}

/// The place whose adjoint nobody reads. Nodes without operands name it.
pub const NOWHERE: u32 = 0;

/// The job of constants.
pub const CONSTANT: u32 = 0;

/// The job of numbers that were computed where no tape was recorded.
pub const LOST: u32 = u32::MAX;
