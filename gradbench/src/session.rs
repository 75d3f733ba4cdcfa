//! A session: an eval asks, line by line, and every line is answered.

use crate::evals::{EVALS, Module};
use crate::protocol::{Answer, BadMessage, Request};
use crate::timing::Timing;
use accel::backend::Backend;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::time::Instant;

/// What has been defined so far.
pub struct Session {
    backend: &'static dyn Backend,
    modules: HashMap<String, Module>,
}

/// Answers each line of `input` with a line of `output`, until the input ends.
///
/// # Errors
/// Reading or writing. What is wrong with a message is an answer.
pub fn serve(session: &mut Session, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = vec![];
    while input.read_until(b'\n', &mut line)? > 0 {
        if !line.trim_ascii().is_empty() {
            serde_json::to_writer(&mut output, &session.answer(&line))?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

impl Session {
    /// A session whose programs run on that backend.
    pub fn new(backend: &'static dyn Backend) -> Session {
        Session { backend, modules: HashMap::new() }
    }

    /// The answer to a line.
    pub fn answer(&mut self, line: &[u8]) -> Answer {
        match Request::read(line) {
            Ok((id, request)) => Answer { id: Some(id), ..self.answer_request(request) },
            Err(BadMessage { id, error }) => Answer { id, ..Answer::failure(error) },
        }
    }

    fn answer_request(&mut self, request: Request) -> Answer {
        match request {
            Request::Start => self.start(),
            Request::Define { module } => self.define(module),
            Request::Evaluate { module, function, input } => self.evaluate(&module, &function, input),
            Request::Other => Answer::default(),
        }
    }

    fn start(&self) -> Answer {
        let config = json!({ "backend": self.backend.name(), "threads": rayon::current_num_threads() });
        Answer { tool: Some("accel"), config: Some(config), ..Answer::default() }
    }

    /// Compiles the functions of a module.
    fn define(&mut self, name: String) -> Answer {
        let Some((_, module)) = EVALS.iter().find(|(eval, _)| *eval == name) else {
            return Answer::failure(format!("there is no module `{name}`"));
        };
        let start = Instant::now();
        match module(self.backend) {
            Ok(module) => {
                let timings = Some(vec![Timing::new("prepare", start.elapsed())]);
                self.modules.insert(name, module);
                Answer { success: Some(true), timings, ..Answer::default() }
            }
            Err(error) => Answer::failure(error),
        }
    }

    fn evaluate(&self, module: &str, function: &str, input: &RawValue) -> Answer {
        let Some(defined) = self.modules.get(module) else {
            return Answer::failure(format!("the module `{module}` has not been defined"));
        };
        let Some(call) = defined.get(function) else {
            return Answer::failure(format!("the module `{module}` has no function `{function}`"));
        };
        match call(input) {
            Ok((output, timings)) => {
                Answer { success: Some(true), output: Some(output), timings: Some(timings), ..Answer::default() }
            }
            Err(error) => Answer::failure(error),
        }
    }
}
