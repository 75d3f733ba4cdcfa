//! Elaboration: type-checks the untyped graph of the surface and builds the typed tree.
//!
//! It expects a graph in which every node refers only to earlier nodes. It establishes a well-typed closed program that
//! computes every shared node once, where the program needs it: see NOTE [Sharing and branches]. Elaboration finds the
//! mistakes in the user's program that rustc could not see, and reports them as an [`Error`](crate::error::Error) with
//! the operation and its source line.
//!
//! | module | what it does |
//! | --- | --- |
//! | `parts` | what each node consists of |
//! | `region`, `sharing` | where each node is computed |
//! | `exp`, `acc` | types: dynamic checks give the witnesses that the typed tree asks for |

mod acc;
mod exp;
mod message;
mod parts;
mod region;
mod sharing;

pub use acc::elaborate;
