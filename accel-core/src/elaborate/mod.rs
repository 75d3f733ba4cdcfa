//! Elaboration: from the untyped graph that the surface writes down to the typed tree.
//!
//! Expects a graph in which every node refers to earlier ones only. Establishes a well-typed closed program in which every
//! shared node is computed once, where the program needs it: see NOTE [Sharing and branches]. What rustc could not see in the
//! user's program is found here, as an [`Error`](crate::error::Error) that names the operation and its source line.
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
