//! Derive macros for element and array records of the accel language.
