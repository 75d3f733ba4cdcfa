//! The declarations before the functions of generated code.

use super::dialect::Dialect;
use super::parameters::Params;
use super::registers::Vectors;
use crate::analysis::fault::record_length;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::Program;
use std::collections::{BTreeMap, BTreeSet};

/// The declarations that a text needs.
pub struct Declarations {
    /// Whether there are vector versions of the mathematical functions.
    pub vector_math: bool,
    /// Whether mathematical functions are computed for one number at a time all the same: NOTE [Frames] in [`crate::c::frames`].
    pub one_by_one: bool,
    /// The vector registers.
    pub vectors: Vectors,
    /// The dialect.
    pub dialect: Dialect,
    /// The length of the fault record: NOTE [Length of fault records].
    pub record_length: usize,
    /// The parameters of functions in OpenCL C, by the names of the functions.
    pub functions: BTreeMap<String, Params>,
    /// Whether any function can fail.
    pub fails: bool,
    /// Whether mathematical functions of the C library are called that are more than an instruction.
    pub calls_library: bool,
    /// Outlined functions, each after those that it calls: NOTE [Outlined functions].
    pub outlined: Vec<String>,
    /// The declarations in the order of their first use, each after those that it uses.
    texts: Vec<String>,
    /// The functions of arrays: their parameters and code.
    of_arrays: Vec<String>,
    names: BTreeSet<String>,
}

impl Declarations {
    /// No declarations yet, for a program and a dialect without vectors.
    pub fn new(program: &Program, dialect: Dialect) -> Self {
        Declarations {
            vector_math: false,
            one_by_one: false,
            vectors: Vectors::default(),
            dialect,
            record_length: record_length(program),
            functions: BTreeMap::new(),
            fails: false,
            calls_library: false,
            outlined: vec![],
            texts: vec![],
            of_arrays: vec![],
            names: BTreeSet::new(),
        }
    }

    /// The parameters of a function.
    pub fn params(&self, function: &str) -> Params {
        self.functions.get(function).cloned().unwrap_or_default()
    }

    /// Adds a declaration once.
    pub fn declare_once(&mut self, name: &str, text: impl FnOnce() -> String) {
        if self.names.insert(name.into()) {
            self.texts.push(text());
        }
    }

    /// Defines a function that computes `y[p]` from `x0[p]`, … for `n` positions by this code, once for each code. Returns its name. It is not
    /// inlined, so that its results do not depend on the code around a call.
    pub fn function_of_arrays(&mut self, t: ScalarType, arguments: usize, code: &str) -> String {
        let x: String = (0..arguments).map(|k| format!(", const {t} *restrict x{k}")).collect();
        let text = format!("(i64 n{x}, {t} *restrict y) {{\n    for (i64 p = 0; p < n; p++) {{\n{code}    }}\n}}");
        let known = self.of_arrays.iter().position(|known| *known == text);
        let k = known.unwrap_or_else(|| {
            self.of_arrays.push(text.clone());
            self.of_arrays.len() - 1
        });
        let name = format!("of_arrays_{k}");
        self.declare_once(&name, || format!("HOT void {name}{text}"));
        name
    }

    /// The text of all declarations, and of the outlined functions.
    pub fn print(&self) -> String {
        self.texts.iter().map(|t| format!("{t}\n")).chain(self.outlined.iter().cloned()).collect()
    }
}
