//! What generated code declares before its functions.

use super::dialect::Dialect;
use super::parameters::Params;
use super::registers::Vectors;
use std::collections::{BTreeMap, BTreeSet};

/// The declarations that a text needs.
pub struct Declarations {
    /// Whether there are vector versions of the mathematical functions.
    pub vector_math: bool,
    /// The vector registers.
    pub vectors: Vectors,
    /// What is printed.
    pub dialect: Dialect,
    /// The parameters of functions in OpenCL C, by their names.
    pub functions: BTreeMap<String, Params>,
    /// Whether a function can fail.
    pub fails: bool,
    /// Functions, each after those that it calls: NOTE [Nests of functions].
    pub nests: Vec<String>,
    /// In the order in which they were first needed: each after those that it uses.
    texts: Vec<String>,
    names: BTreeSet<String>,
}

impl Declarations {
    pub fn new(vector_math: bool, vectors: Vectors, dialect: Dialect) -> Self {
        let (functions, names) = (BTreeMap::new(), BTreeSet::new());
        Declarations { vector_math, vectors, dialect, functions, fails: false, nests: vec![], texts: vec![], names }
    }

    /// The parameters of a function.
    pub fn params(&self, function: &str) -> Params {
        self.functions.get(function).cloned().unwrap_or_default()
    }

    /// Adds a declaration once.
    pub fn need(&mut self, name: &str, text: impl FnOnce() -> String) {
        if self.names.insert(name.into()) {
            self.texts.push(text());
        }
    }

    /// All of them, and the functions that use them.
    pub fn print(&self) -> String {
        self.texts.iter().map(|t| format!("{t}\n")).chain(self.nests.iter().cloned()).collect()
    }
}
