//! A session: an eval sends lines, and the tool answers every line.

use crate::evals::EVALS;
use crate::module::Module;
use crate::protocol::{Answer, BadMessage, Request};
use crate::timing::Timing;
use accel::backend::Backend;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::io::{self, BufRead, Read, Write};
use std::time::Instant;

/// The modules defined so far.
pub struct Session {
    backend: &'static dyn Backend,
    modules: HashMap<String, Module>,
}

/// The largest length of a message that is read.
const LONGEST: u64 = 1 << 30;

/// Answers each line of `input` with a line of `output`, until the input ends.
///
/// # Errors
/// Reading or writing fails. A malformed message is answered, and is no error.
pub fn serve(session: &mut Session, input: impl BufRead, output: impl Write) -> io::Result<()> {
    serve_lines(session, input, output, LONGEST)
}

fn serve_lines(session: &mut Session, mut input: impl BufRead, mut output: impl Write, longest: u64) -> io::Result<()> {
    let mut line = vec![];
    while (&mut input).take(longest).read_until(b'\n', &mut line)? > 0 {
        let whole = line.ends_with(b"\n") || (line.len() as u64) < longest;
        let answer = if whole {
            (!line.trim_ascii().is_empty()).then(|| session.answer(&line))
        } else {
            input.skip_until(b'\n')?;
            Some(Answer::failure(format!("a message has at most {longest} bytes")))
        };
        if let Some(answer) = answer {
            serde_json::to_writer(&mut output, &answer)?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

impl Session {
    /// A session whose programs run on this backend.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_too_long_is_answered_and_the_session_goes_on() {
        let mut session = Session::new(&accel::interp::Interpreter);
        let messages = format!("{}\n{{\"id\": 7, \"kind\": \"start\"}}\n\n{}", "x".repeat(200), "y".repeat(40));
        let mut answers = vec![];
        serve_lines(&mut session, messages.as_bytes(), &mut answers, 40).unwrap();
        let answers: Vec<&str> = std::str::from_utf8(&answers).unwrap().lines().collect();
        let [long, start, unfinished] = answers[..] else { panic!("{answers:?}") };
        assert!(long.contains("at most 40 bytes") && start.contains("\"id\":7") && unfinished.contains("at most"));
    }
}
