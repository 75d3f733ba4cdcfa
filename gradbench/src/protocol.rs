//! Messages of an eval, and answers to them: lines of JSON.
//!
//! NOTE [Numbers that JSON lacks]
//! GradBench's intermediary between eval and tool takes lines for strict JSON, and ends the session at any other. So infinite numbers
//! and NaN cannot come; where they are results, they are written as `null`.

use crate::timing::Timing;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// What an eval wants.
#[derive(Debug)]
pub enum Request<'a> {
    /// To begin.
    Start,
    /// To have a module made ready.
    Define {
        /// The module's name, which is the eval's.
        module: String,
    },
    /// To have a function run.
    Evaluate {
        /// The function's module.
        module: String,
        /// The function's name.
        function: String,
        /// The function's input, not yet decoded.
        input: &'a RawValue,
    },
    /// Nothing but an answer: to tell what it thinks of an output, or something of a later version of the protocol.
    Other,
}

/// A message that is not one: what is wrong with it, and its number if that can be told.
#[derive(Debug)]
pub struct BadMessage {
    /// The message's number.
    pub id: Option<i64>,
    /// For people.
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

/// The number of a message of which nothing else need be right.
#[derive(Deserialize)]
struct Number {
    id: i64,
}

impl<'a> Request<'a> {
    /// Reads a line: the message's number, and what it says.
    ///
    /// # Errors
    /// Lines that are not JSON, missing fields, fields of other types.
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

/// An answer of any kind: the fields that it has are there.
#[derive(Debug, Default, Serialize)]
pub struct Answer {
    /// The number of the message; `null` if that could not be read.
    pub id: Option<i64>,
    /// To `start`: the tool's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<&'static str>,
    /// To `start`: how the tool has been started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Value>,
    /// Whether what was wanted has been done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// To `evaluate`: the function's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<RawValue>>,
    /// What took how long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timings: Option<Vec<Timing>>,
    /// Why there was no success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Answer {
    /// The answer that what was wanted could not be done.
    pub fn failure(error: impl ToString) -> Answer {
        Answer { success: Some(false), error: Some(error.to_string()), ..Answer::default() }
    }
}
