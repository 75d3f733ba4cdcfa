//! Finds the operation that makes the first NaN or infinity of a run.
//!
//! NOTE [The first NaN]: NaN *appears* where a primitive function has the result NaN although none of its operands is
//! NaN, and infinity appears where the result is infinite although all operands are finite. So infinities of the argument
//! and constants such as the neutral element of `maximum` do not appear, and neither does what is made of them, except NaN.
//! The interpreter runs the program and looks at each result. Compiled programs omit operations, so only
//! the interpreter sees the place; they run with no additional cost, and only a result with NaN or infinity is a
//! reason to look for its origin. Where infinity is meant, as for `log(0.0)`, NaN has other reasons: so the
//! first of each is reported.
//!
//! NOTE [Kinks in a run]: a strong zero (NOTE [Strong zeros] in `accel-ad`) is right where something is not used. Where arithmetic made the
//! 0, as for the norm of zeros, it is a convention, and the two cannot be told apart by the numbers. So another search reports
//! the first one that replaces NaN, and users decide.

mod backend;
mod find;
mod finding;

pub use backend::FindNan;
pub(crate) use backend::with_nan_check;
pub use find::{find_kink, find_nan};
pub use finding::{Appearance, Finding};
