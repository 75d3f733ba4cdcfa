//! The typed syntax tree: the trusted module. Private fields, equality axioms and relabelling live here and nowhere else.

pub mod ty;
