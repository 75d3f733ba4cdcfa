//! The compiled functions of an eval, as a session calls them.

use crate::timing::{Repetition, Timing};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

/// The reason why a function has no value.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The input does not fit the function.
    #[error("bad input: {0}")]
    Input(String),
    /// The error of a program that cannot run.
    #[error(transparent)]
    Program(#[from] Error),
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::Input(error.to_string())
    }
}

/// A function as a session calls it: from its input in JSON to its output in JSON and the time of each run.
pub type Function = Box<dyn Fn(&RawValue) -> Result<(Box<RawValue>, Vec<Timing>), Failure>>;

/// The compiled functions of an eval.
pub struct Module {
    backend: &'static dyn Backend,
    functions: Vec<(&'static str, Function)>,
}

impl Module {
    /// A module without functions, whose programs will run on this backend.
    pub fn new(backend: &'static dyn Backend) -> Module {
        Module { backend, functions: vec![] }
    }

    /// Adds a function, which is a program. `arguments` are the program's arguments from the input that the eval sends,
    /// and `output` is the part of the result that the eval expects. Neither of these conversions is timed.
    ///
    /// # Errors
    /// As [`compile_on`].
    pub fn function<I, A, R, O>(
        self,
        name: &'static str,
        program: impl AsAfun<A, R>,
        arguments: impl Fn(I) -> Result<A, Failure> + 'static,
        output: impl Fn(R) -> O + 'static,
    ) -> Result<Module, Error>
    where
        I: DeserializeOwned,
        A: Arrays,
        R: Arrays,
        O: Serialize,
    {
        let program = compile_on(self.backend, program)?;
        Ok(self.with(name, move |input: I, repetition| {
            let arguments = arguments(input)?;
            let (result, timings) = repetition.run(|| program.run(&arguments))?;
            Ok((output(result), timings))
        }))
    }

    /// Adds a function, which is a scalar program: the input and the output are its numbers.
    ///
    /// # Errors
    /// As [`compile_on`].
    pub fn function_of_numbers<A: Numbers, R: Numbers>(
        self,
        name: &'static str,
        program: impl AsAfun<A, R>,
    ) -> Result<Module, Error>
    where
        A::Values: DeserializeOwned,
        R::Values: Serialize,
    {
        let program = compile_on(self.backend, program)?;
        Ok(self
            .with(name, move |argument: A::Values, repetition| Ok(repetition.run(|| program.call(argument.clone()))?)))
    }

    /// Adds a function, given as a function from its input to its output.
    pub fn with<I: DeserializeOwned, O: Serialize>(
        mut self,
        name: &'static str,
        function: impl Fn(I, Repetition) -> Result<(O, Vec<Timing>), Failure> + 'static,
    ) -> Module {
        let function = move |input: &RawValue| {
            let repetition = repetition(input)?;
            let (output, timings) = function(serde_json::from_str(input.get())?, repetition)?;
            Ok((to_raw_value(&output)?, timings))
        };
        self.functions.push((name, Box::new(function)));
        self
    }

    /// The function with this name.
    pub fn get(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|(known, _)| *known == name).map(|(_, function)| function)
    }
}

/// How often to run: fields of the input, if it has fields.
fn repetition(input: &RawValue) -> Result<Repetition, Failure> {
    match input.get().starts_with('{') {
        true => serde_json::from_str::<Repetition>(input.get())?.checked().map_err(Failure::Input),
        false => Ok(Repetition::default()),
    }
}

/// Checks that this number of bytes is available. A short message can ask for much memory.
///
/// # Errors
/// There is not enough memory.
pub fn fits(bytes: u64) -> Result<(), Failure> {
    adbench::check_memory(bytes)
        .map_err(|(needed, there)| Failure::Input(format!("this takes {needed}, and there are {there}")))
}

/// The most operations of a run: a minute or two.
const MOST_OPERATIONS: f64 = 1e11;

/// Checks that a run of about this many operations ends within minutes. A short message can ask for much work.
///
/// # Errors
/// It takes longer.
pub fn ends(operations: f64) -> Result<(), Failure> {
    match operations <= MOST_OPERATIONS {
        true => Ok(()),
        false => Err(Failure::Input(format!(
            "this takes about {operations:.0e} operations, and a run has at most {MOST_OPERATIONS:.0e}"
        ))),
    }
}
