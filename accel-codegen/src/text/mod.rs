//! The writer, and the text of types, names, primitive functions and scalar functions in both dialects.

pub mod arrays;
pub mod calls;
pub mod declarations;
pub mod dialect;
pub mod faults;
pub mod lists;
pub mod names;
pub mod outlined;
pub mod outlined_functions;
pub mod parameters;
pub mod primitives;
pub mod registers;
pub mod scalar_code;
pub mod sums;
pub mod types;
pub mod writer;
