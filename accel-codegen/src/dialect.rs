//! The two dialects of C, and how functions get at arrays in each.
//!
//! NOTE [Arrays in OpenCL C]
//! In C a function gets the table of all arrays, and gives the extents and columns that it uses local names. Structures of addresses
//! cannot be passed to kernels of OpenCL. There, the extents and columns that a function uses are its parameters, with the same names; which they
//! are is known when its body has been written. A function that calls another one has the parameters of that one as well.

use crate::code::Writer;
use crate::module::PARAMETERS;
use crate::opencl::Arg;
use std::collections::BTreeMap;

/// Which C is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// What C compilers take.
    C,
    /// What devices take.
    OpenCl {
        /// Whether work-items are small: no local arrays.
        gpu: bool,
        /// Whether positions fit into 32 bits.
        narrow: bool,
    },
}

impl Dialect {
    pub fn is_opencl(self) -> bool {
        self != Dialect::C
    }

    pub fn is_gpu(self) -> bool {
        matches!(self, Dialect::OpenCl { gpu: true, .. })
    }

    pub fn is_narrow(self) -> bool {
        matches!(self, Dialect::OpenCl { narrow: true, .. })
    }
}

/// The parameters of a function, and how they are declared.
pub type Params = BTreeMap<Arg, String>;

/// The name of a parameter in the text.
pub fn name(arg: Arg) -> String {
    match arg {
        Arg::Extent(a, d) => format!("a{a}_n{d}"),
        Arg::Column(a, c) => format!("a{a}_{c}"),
        Arg::Space(k) => format!("n{k}"),
        Arg::Number(k) => format!("arg{k}"),
        Arg::Scratch(k) => format!("s{k}"),
        Arg::Local(k) => format!("l{k}"),
        Arg::Fault => "fault".into(),
    }
}

impl Writer<'_> {
    pub fn is_opencl(&self) -> bool {
        self.declarations.dialect.is_opencl()
    }

    /// The address space of arrays.
    pub fn global(&self) -> &'static str {
        if self.is_opencl() { "global " } else { "" }
    }

    /// The names of this function's parameters but for those of its task, each with a comma before it.
    fn declared(&self) -> String {
        self.params.values().map(|d| format!(", {d}")).collect()
    }

    /// The parameters that every function has.
    pub fn parameters(&self) -> String {
        match self.is_opencl() {
            true => format!("global i64 *fault{}", self.declared()),
            false => "const array *arrays, i64 *fault".into(),
        }
    }

    /// The parameters of a function of a task.
    pub fn task_parameters(&self) -> String {
        match self.is_opencl() {
            true => format!("const task *task, global i64 *fault{}", self.declared()),
            false => PARAMETERS.into(),
        }
    }

    /// The arguments for them in a call of `function`.
    pub fn arguments(&mut self, function: &str) -> String {
        if !self.is_opencl() {
            return "arrays, fault".into();
        }
        let params = self.declarations.functions.get(function).cloned().unwrap_or_default();
        let names: String = params.keys().map(|a| format!(", {}", name(*a))).collect();
        for (arg, declaration) in params {
            self.param(arg, declaration);
        }
        format!("fault{names}")
    }

    /// The same for a function of a task.
    pub fn task_arguments(&mut self, function: &str, task: &str) -> String {
        match self.is_opencl() {
            true => format!("{task}, {}", self.arguments(function)),
            false => format!("arrays, {task}, fault"),
        }
    }

    /// Makes something a parameter; what is written to stays so.
    pub fn param(&mut self, arg: Arg, declaration: String) {
        let old = self.params.entry(arg).or_insert_with(|| declaration.clone());
        if old.starts_with("const") {
            *old = declaration;
        }
    }

    /// A buffer that exists only during the statement, of elements of a type.
    pub fn scratch(&mut self, k: usize, t: &str) {
        self.param(Arg::Scratch(k), format!("global {t} *s{k}"));
    }
}
