//! The evals: for each a module with the program, and with what its input and its output are in JSON.

pub mod ba;
pub mod gmm;
pub mod hello;
pub mod kmeans;
pub mod llsq;
pub mod lse;

use crate::timing::{Repetition, Timing};
use accel::backend::Backend;
use accel::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Borrow;

/// The evals that this tool answers, and what makes their modules, which takes as long as compilation.
pub const EVALS: &[(&str, fn(&'static dyn Backend) -> Result<Module, Error>)] = &[
    ("ba", ba::module),
    ("gmm", gmm::module),
    ("hello", hello::module),
    ("kmeans", kmeans::module),
    ("llsq", llsq::module),
    ("lse", lse::module),
];

/// Why a function has no value.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The input is not what the function takes.
    #[error("bad input: {0}")]
    Input(String),
    /// What a program says that cannot run.
    #[error(transparent)]
    Program(#[from] Error),
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Failure {
        Failure::Input(error.to_string())
    }
}

/// A function as a session calls it: takes its input in JSON to its output in JSON and the time of each run.
pub type Function = Box<dyn Fn(&RawValue) -> Result<(Box<RawValue>, Vec<Timing>), Failure>>;

/// The compiled functions of an eval.
pub struct Module {
    backend: &'static dyn Backend,
    functions: Vec<(&'static str, Function)>,
}

impl Module {
    /// A module without functions, whose programs are to run on that backend.
    pub fn new(backend: &'static dyn Backend) -> Module {
        Module { backend, functions: vec![] }
    }

    /// With one more function, which is a program. `arguments` are the program's, of the input that the eval sends; `output` is what the
    /// eval wants to see of the result. Both are outside of the time that is measured.
    ///
    /// # Errors
    /// Those of [`compile_on`].
    pub fn function<I, A, R, O>(
        self,
        name: &'static str,
        program: impl Borrow<Afun<A, R>>,
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

    /// With one more function, which is a program of numbers: the input and the output are its numbers.
    ///
    /// # Errors
    /// Those of [`compile_on`].
    pub fn function_of_numbers<A: Numbers, R: Numbers>(
        self,
        name: &'static str,
        program: impl Borrow<Afun<A, R>>,
    ) -> Result<Module, Error>
    where
        A::Values: DeserializeOwned,
        R::Values: Serialize,
    {
        let program = compile_on(self.backend, program)?;
        Ok(self
            .with(name, move |argument: A::Values, repetition| Ok(repetition.run(|| program.call(argument.clone()))?)))
    }

    /// With one more function, from its input to its output.
    fn with<I: DeserializeOwned, O: Serialize>(
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

    /// The function of that name.
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

/// Checks that there is memory for so many bytes, which a short message may ask for.
///
/// # Errors
/// If there is not.
pub fn fits(bytes: u64) -> Result<(), Failure> {
    adbench::check_memory(bytes)
        .map_err(|(needed, there)| Failure::Input(format!("this takes {needed}, and there are {there}")))
}

/// The matrix of these rows.
///
/// # Errors
/// Rows of different lengths.
pub fn matrix(name: &str, rows: Vec<Vec<f64>>) -> Result<Matrix<f64>, Failure> {
    let (n, m) = (rows.len(), rows.first().map_or(0, Vec::len));
    if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != m) {
        let lengths = format!("row 0 has {m} numbers and row {i} has {}", row.len());
        return Err(Failure::Input(format!("`{name}` is not a matrix: {lengths}")));
    }
    Ok(Array::matrix(n, m, rows.concat())?)
}

/// A number of the host.
pub fn number(x: Scalar<f64>) -> f64 {
    x.item()
}

/// The numbers of a vector.
pub fn vector(xs: Vector<f64>) -> Vec<f64> {
    xs.to_vec()
}

/// The rows of a matrix.
pub fn rows(m: Matrix<f64>) -> Vec<Vec<f64>> {
    let [n, columns] = m.shape().into();
    (0..n).map(|i| m.as_slice()[i * columns..(i + 1) * columns].to_vec()).collect()
}
