//! The eval's side of a session, and numbers for its inputs.
#![allow(dead_code, reason = "each test program uses a part")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A session with the tool, and the record of it.
pub struct Driver {
    tool: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Messages and answers alternately.
    pub record: Vec<Value>,
}

impl Driver {
    /// Starts the tool with these options.
    pub fn new(options: &[&str]) -> Driver {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_gradbench-accel"));
        tool.args(options);
        Driver::of(tool)
    }

    /// Starts the tool with this command.
    pub fn of(mut tool: Command) -> Driver {
        let mut tool = tool.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (tool.stdin.take().unwrap(), BufReader::new(tool.stdout.take().unwrap()));
        Driver { tool, input, output, record: vec![] }
    }

    /// Sends a line unchanged. The answer is one line of JSON.
    pub fn send_line(&mut self, line: &[u8]) -> Value {
        self.input.write_all(line).unwrap();
        self.input.write_all(b"\n").unwrap();
        self.input.flush().unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        assert!(answer.ends_with('\n'), "not a line: {answer:?}");
        serde_json::from_str(&answer).unwrap()
    }

    /// Sends a message with the next number. The answer has the same number.
    pub fn send(&mut self, kind: &str, fields: Value) -> Value {
        let id = self.record.len() / 2;
        let mut message = json!({ "id": id, "kind": kind });
        message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let answer = self.send_line(message.to_string().as_bytes());
        assert_eq!(answer["id"], id, "{answer}");
        self.record.extend([message, answer.clone()]);
        answer
    }

    /// The beginning of every session.
    pub fn start(&mut self, module: &str) {
        let answer = self.send("start", json!({ "eval": module }));
        assert_eq!(answer["tool"], "accel");
        let answer = self.send("define", json!({ "module": module }));
        assert_eq!(answer["success"], true, "{answer}");
        assert_eq!(answer["timings"][0]["name"], "prepare");
    }

    /// The output of a function, which must have one. Then sends an analysis, as an eval does.
    pub fn evaluate(&mut self, module: &str, function: &str, input: Value) -> Value {
        let (min_runs, min_seconds) = (input["min_runs"].as_u64(), input["min_seconds"].as_f64());
        let of = self.record.len() / 2;
        let answer = self.send("evaluate", json!({ "module": module, "function": function, "input": input }));
        assert_eq!(answer["success"], true, "{module}.{function}: {answer}");
        let (preparation, timings) = answer["timings"].as_array().unwrap().split_first().unwrap();
        assert_eq!(preparation["name"], "prepare");
        assert!(timings.iter().all(|timing| timing["name"] == "evaluate"), "{answer}");
        assert!(timings.len() as u64 >= min_runs.unwrap_or(1), "{answer}");
        let nanoseconds: u64 = timings.iter().map(|timing| timing["nanoseconds"].as_u64().unwrap()).sum();
        assert!(nanoseconds as f64 * 1e-9 >= min_seconds.unwrap_or(0.0), "{answer}");
        let analysis = self.send("analysis", json!({ "of": of, "valid": true }));
        assert_eq!(analysis.as_object().unwrap().len(), 1, "{analysis}");
        answer["output"].clone()
    }

    /// Ends the input, and with it the session.
    pub fn finish(self) {
        let Driver { mut tool, input, .. } = self;
        drop(input);
        assert!(tool.wait().unwrap().success());
    }
}

/// All numbers of a JSON value, in order; `null` is not a number.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        Value::Null => vec![f64::NAN],
        number => vec![number.as_f64().unwrap_or_else(|| panic!("not a number: {number}"))],
    }
}

/// The extents of nested lists, which must all have the same length.
pub fn extents(value: &Value) -> Vec<usize> {
    let Value::Array(values) = value else { return vec![] };
    let inner: Vec<Vec<usize>> = values.iter().map(extents).collect();
    assert!(inner.windows(2).all(|pair| pair[0] == pair[1]), "ragged: {inner:?}");
    let mut all = vec![values.len()];
    all.extend(inner.into_iter().next().unwrap_or_default());
    all
}

/// Checks that the numbers of `found` are those of `expected` within 1e-10, absolute below 1 and relative above.
pub fn assert_close(what: &str, found: &Value, expected: &[f64]) {
    let found = numbers(found);
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let close = (found - expected).abs() <= 1e-10 * expected.abs().max(1.0);
        assert!(close || found.is_nan() && expected.is_nan(), "{what}[{i}]: {found}, expected {expected}");
    }
}

/// The backends on which every eval is tested.
pub const BACKENDS: [&[&str]; 3] =
    [&["--backend", "native"], &["--backend", "native", "--multithreaded"], &["--backend", "interp"]];
