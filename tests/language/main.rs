//! The language on the host: types, records, sharing, errors, and programs that are hard to compile.

mod bad_cases;
mod captured;
mod derive;
mod errors;
mod not_finite;
mod sharing;
mod types;
