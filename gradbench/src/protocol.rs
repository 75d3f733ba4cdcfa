//! Messages of an eval, and answers to them: lines of JSON.
//!
//! NOTE [Numbers that JSON lacks]: GradBench's intermediary between eval and tool expects lines of strict JSON, and
//! ends the session at any other line. So messages cannot contain infinite numbers or NaN. In results, they are written
//! as `null`.

use crate::timing::Timing;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The request in a message.
#[derive(Debug)]
pub enum Request<'a> {
    /// The start of a session.
    Start,
    /// A request to prepare a module.
    Define {
        /// The module's name, which is the eval's.
        module: String,
    },
    /// A request to run a function.
    Evaluate {
        /// The function's module.
        module: String,
        /// The function's name.
        function: String,
        /// The function's input, not yet decoded.
        input: &'a RawValue,
    },
    /// A message that only needs an answer: the eval's analysis of an output, or something of a later version of the
    /// protocol.
    Other,
}

/// A malformed message: what is wrong with it, and its number if that can be read.
#[derive(Debug)]
pub struct BadMessage {
    /// The message's number.
    pub id: Option<i64>,
    /// The error text, for users.
    pub error: String,
}

/// The fields of all kinds of messages.
#[derive(Deserialize)]
struct Fields<'a> {
    id: i64,
    kind: String,
    module: Option<String>,
    function: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// The number of a message. Its other fields can be wrong.
#[derive(Deserialize)]
struct Number {
    id: i64,
}

impl<'a> Request<'a> {
    /// Parses a line: the message's number, and its request.
    ///
    /// # Errors
    /// The line is not JSON, a field is missing, or a field has another type.
    pub fn read(line: &'a [u8]) -> Result<(i64, Request<'a>), BadMessage> {
        let fields: Fields = serde_json::from_slice(line).map_err(|error| BadMessage {
            id: serde_json::from_slice(line).ok().map(|number: Number| number.id),
            error: format!("not a message: {error}"),
        })?;
        let Fields { id, kind, module, function, input } = fields;
        let lacks = |field: &str| BadMessage { id: Some(id), error: format!("a message `{kind}` without `{field}`") };
        let request = match kind.as_str() {
            "start" => Request::Start,
            "define" => Request::Define { module: module.ok_or_else(|| lacks("module"))? },
            "evaluate" => Request::Evaluate {
                module: module.ok_or_else(|| lacks("module"))?,
                function: function.ok_or_else(|| lacks("function"))?,
                input: input.ok_or_else(|| lacks("input"))?,
            },
            _ => Request::Other,
        };
        Ok((id, request))
    }
}

/// An answer of any kind; it contains the fields that are present.
#[derive(Debug, Default, Serialize)]
pub struct Answer {
    /// The number of the message; `null` if it could not be read.
    pub id: Option<i64>,
    /// To `start`: the tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<&'static str>,
    /// To `start`: the options with which the tool was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
    /// Whether the request succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// To `evaluate`: the function's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<RawValue>>,
    /// The times of the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timings: Option<Vec<Timing>>,
    /// The reason of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Answer {
    /// The answer to a request that failed.
    pub fn failure(error: impl ToString) -> Answer {
        Answer { success: Some(false), error: Some(error.to_string()), ..Answer::default() }
    }
}
