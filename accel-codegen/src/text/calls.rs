//! Parameters and arguments of functions in both dialects.
//!
//! NOTE [Arrays in OpenCL C]: in C, a function gets the table of all arrays, and declares local names for the extents
//! and columns that it uses. In OpenCL, structures of addresses cannot be passed to kernels. There, the extents and
//! columns that a function uses are its parameters, with the same names. They are known when its body is complete. A
//! function that calls another one also has the parameters of that one.

use super::dialect::Dialect;
use super::parameters::{Arg, name};
use super::writer::Writer;
use crate::text::parameters::Parameter;

/// The parameters of a kernel.
pub const PARAMETERS: &str = "const array *arrays, const task *task, i64 *fault";

impl Writer<'_> {
    pub fn dialect(&self) -> Dialect {
        self.declarations.dialect
    }

    /// The address space of arrays.
    pub fn global(&self) -> &'static str {
        self.dialect().global()
    }

    /// The names of this function's parameters except those of its task, each after a comma.
    fn declared(&self) -> String {
        self.params.declared().iter().map(|d| format!(", {d}")).collect()
    }

    /// The parameters that every function has.
    pub fn parameters(&self) -> String {
        match self.dialect().has_tables() {
            true => "const array *arrays, i64 *fault".into(),
            false => format!("global i64 *fault{}", self.declared()),
        }
    }

    /// The parameters of a function of a task.
    pub fn task_parameters(&self) -> String {
        match self.dialect().has_tables() {
            true => PARAMETERS.into(),
            false => format!("const task *task, global i64 *fault{}", self.declared()),
        }
    }

    /// The arguments for these parameters in a call of `function`.
    pub fn arguments(&mut self, function: &str) -> String {
        self.arguments_as(function, name)
    }

    /// The same, if this function has other expressions for some of its parameters.
    pub fn arguments_as(&mut self, function: &str, argument: impl Fn(Arg) -> String) -> String {
        if self.dialect().has_tables() {
            return "arrays, fault".into();
        }
        let params = self.declarations.params(function);
        params.iter().for_each(|(arg, parameter)| self.params.add(arg, parameter.clone()));
        format!("fault{}", params.arguments(argument))
    }

    /// The same, for a function of a task.
    pub fn task_arguments(&mut self, function: &str, task: &str) -> String {
        match self.dialect().has_tables() {
            true => format!("arrays, {task}, fault"),
            false => format!("{task}, {}", self.arguments(function)),
        }
    }

    /// Declares a buffer of elements of type `t` that exists only during the statement.
    pub fn scratch(&mut self, k: usize, t: &str) {
        let arg = Arg::Scratch(k);
        self.params.add(arg, Parameter::buffer(&format!("global {t}"), name(arg)));
    }
}
