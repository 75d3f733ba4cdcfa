//! The grammar of test files.
//!
//! ```text
//! // What the test is about.
//! //@ each T: f32 f64
//! //@ optimize
//! //@ run
//! //@ run [3] i64 { 0 1 2 }, [7, 7]
//! program (a0: Array1<i64>, a1: Array2<$T>)
//! ...
//! //= optimize (T = f32)
//! what is expected
//! ```
//!
//! | directive | what it does |
//! | --- | --- |
//! | `each A B: a1 b1 a2 b2` | one test for each pair of words, which replace `$A` and `$B` everywhere in the program and the directives. `"..."` is one word. If there are several such lines, the test runs for all combinations |
//! | `optimize`, `optimize general` | prints the optimised program, with or without assumptions on extents; if there is a `run`, it must have the same results |
//! | `emit-c` | prints the program as C |
//! | `emit-opencl`, `emit-opencl TARGET` | prints the program's kernels in OpenCL C, see [`Device`] |
//! | `run` | runs the program for arguments of some common extents |
//! | `run EXTENTS, ...` | runs it for arguments of these extents; elements can be given as in literals. All runs use one compiled program, one after the other |
//! | `on native`, `on opencl`, `on opencl TARGET`, `on evaluator` | where the program runs. By default, it runs on the evaluator, whose results are part of the expected output, on the native backend, and with OpenCL, for scans also with `look-back` |
//! | `exact` | all backends must compute the same numbers to the last bit |
//!
//! Below the program are the expected outputs, each after a line `//= DIRECTIVE`.

use crate::arguments::{self, Arguments};
use accel_codegen::opencl::Target;
use accel_core::error::Error;
use accel_fusion::kernel::{Program, Verified, parse};
use std::fmt;
use std::path::{Path, PathBuf};

/// A file that could be read.
pub struct TestFile {
    pub path: PathBuf,
    /// The directives and the program.
    pub head: String,
    /// The expected outputs.
    pub expected: String,
    pub cases: Vec<Case>,
}

/// A program, and its directives.
pub struct Case {
    /// The words that replace the names of `each`, for titles.
    pub words: String,
    pub program: Verified<Program>,
    /// The outputs in order, with the texts of their directives.
    pub outputs: Vec<(String, Output)>,
    pub native: bool,
    pub opencl: Vec<Device>,
    pub exact: bool,
}

/// An output, which is a section of the expected outputs.
pub enum Output {
    Optimized { assume: bool },
    C,
    OpenCl(Device),
    Runs(Vec<Arguments>),
}

/// A target in words, its differences from the default: `units=16`, `largest-group=4`, `wide`, `look-back`,
/// `no-atomics-64`.
#[derive(Debug)]
pub struct Device {
    units: Option<usize>,
    largest_group: Option<usize>,
    wide: bool,
    look_back: bool,
    atomics_64: bool,
}

impl Device {
    fn parse(words: &str) -> Result<Device, String> {
        let mut device = Device::PLAIN;
        for word in words.split_whitespace() {
            match word.split_once('=').map_or((word, None), |(name, value)| (name, value.parse().ok())) {
                ("units", Some(n)) => device.units = Some(n),
                ("largest-group", Some(n)) => device.largest_group = Some(n),
                ("wide", None) => device.wide = true,
                ("look-back", None) => device.look_back = true,
                ("no-atomics-64", None) => device.atomics_64 = false,
                _ => {
                    return Err(format!(
                        "expected `units=N`, `largest-group=N`, `wide`, `look-back` or `no-atomics-64`, found `{word}`"
                    ));
                }
            }
        }
        Ok(device)
    }

    const PLAIN: Device = Device { units: None, largest_group: None, wide: false, look_back: false, atomics_64: true };

    /// The target; properties that are not given are those of another target.
    pub fn target(&self, other: Target) -> Target {
        Target {
            units: self.units.unwrap_or(other.units),
            largest_group: self.largest_group.unwrap_or(other.largest_group),
            wide: self.wide,
            look_back: self.look_back,
            atomics_64: self.atomics_64 && other.atomics_64,
            ..other
        }
    }
}

/// A mistake in a file.
pub struct Failure {
    path: PathBuf,
    line: usize,
    message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.message)
    }
}

/// A mistake in a line, counted from 1.
type Mistake = (usize, String);

impl TestFile {
    /// # Errors
    /// The file cannot be read, or a line is wrong.
    pub fn read(path: &Path) -> Result<TestFile, Failure> {
        let unreadable = |e: std::io::Error| Failure { path: path.into(), line: 1, message: e.to_string() };
        TestFile::parse(path, &std::fs::read_to_string(path).map_err(unreadable)?)
    }

    /// # Errors
    /// The line that is wrong.
    pub fn parse(path: &Path, text: &str) -> Result<TestFile, Failure> {
        let failure = |(line, message)| Failure { path: path.into(), line, message };
        let end = if text.starts_with("//=") { Some(0) } else { text.find("\n//=").map(|end| end + 1) };
        let (head, expected) = text.split_at(end.unwrap_or(text.len()));
        let cases = cases(head).map_err(failure)?;
        Ok(TestFile { path: path.into(), head: head.into(), expected: expected.into(), cases })
    }

    fn has_runs(&self) -> bool {
        self.cases.iter().any(|c| c.outputs.iter().any(|(_, o)| matches!(o, Output::Runs(_))))
    }

    pub fn runs_native(&self) -> bool {
        self.has_runs() && self.cases.iter().any(|c| c.native)
    }

    pub fn runs_opencl(&self) -> bool {
        self.has_runs() && self.cases.iter().any(|c| !c.opencl.is_empty())
    }
}

impl Case {
    /// The arguments of all runs.
    pub fn runs(&self) -> impl Iterator<Item = &Arguments> {
        self.outputs.iter().flat_map(|(_, output)| match output {
            Output::Runs(runs) => &runs[..],
            _ => &[],
        })
    }
}

/// The directives, with their lines.
fn directives(head: &str) -> Result<Vec<(usize, &str)>, Mistake> {
    let mut found = vec![];
    for (k, line) in head.lines().enumerate() {
        let Some(directive) = line.trim_start().strip_prefix("//@") else { continue };
        if !line.starts_with("//@ ") {
            return Err((k + 1, "a directive is a line that begins with `//@` and a space".into()));
        }
        found.push((k + 1, directive.trim()));
    }
    Ok(found)
}

/// Names, and the words that replace them.
type Words = Vec<(String, String)>;

/// A case for each combination of words.
fn cases(head: &str) -> Result<Vec<Case>, Mistake> {
    let mut all: Vec<Words> = vec![vec![]];
    for (line, directive) in directives(head)? {
        let Some(each) = directive.strip_prefix("each ") else { continue };
        let choices = choices(each).map_err(|e| (line, e))?;
        all = all.iter().flat_map(|before| choices.iter().map(|more| [&before[..], more].concat())).collect();
    }
    all.iter().map(|words| case(words, &substituted(head, words)?)).collect()
}

/// `A B: a1 b1 a2 b2`
fn choices(each: &str) -> Result<Vec<Words>, String> {
    let (names, values) = each.split_once(':').ok_or("expected `each NAME ...: WORD ...`")?;
    let names: Vec<&str> = names.split_whitespace().collect();
    if let Some(wrong) = names.iter().find(|n| !n.chars().all(is_of_name)) {
        return Err(format!("a name has capital letters and `_`, `{wrong}` has not"));
    }
    let mut words = vec![];
    let mut rest = values.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(inside) => inside.split_once('"').ok_or("a quote has no end")?,
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(word);
        rest = after.trim_start();
    }
    if names.is_empty() || words.is_empty() || words.len() % names.len() != 0 {
        return Err(format!("{} words for {} names", words.len(), names.len()));
    }
    let choice = |words: &[&str]| names.iter().zip(words).map(|(n, w)| (n.to_string(), w.to_string())).collect();
    Ok(words.chunks(names.len()).map(choice).collect())
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_uppercase() || c == '_'
}

/// The text with words in place of the names.
fn substituted(head: &str, words: &Words) -> Result<String, Mistake> {
    let mut out = String::new();
    for (k, line) in head.lines().enumerate() {
        let mut parts = line.split('$');
        out += parts.next().unwrap_or_default();
        for part in parts {
            let (name, rest) = part.split_at(part.find(|c| !is_of_name(c)).unwrap_or(part.len()));
            let word = words.iter().find(|(n, _)| n == name);
            let (_, word) = word.ok_or_else(|| (k + 1, format!("no `each` has the name `${name}`")))?;
            out += word;
            out += rest;
        }
        out.push('\n');
    }
    Ok(out)
}

/// The case of a text in which all names were replaced.
fn case(words: &Words, head: &str) -> Result<Case, Mistake> {
    let program = parse(head).and_then(Verified::new).map_err(|e| match e {
        Error::Syntax { line, .. } => (line, e.to_string()),
        e => (1, e.to_string()),
    })?;
    let words = words.iter().map(|(n, w)| format!("{n} = {w}")).collect::<Vec<_>>().join(", ");
    let mut case = Case { words, program, outputs: vec![], native: false, opencl: vec![], exact: false };
    let mut everywhere = true;
    for (line, text) in directives(head)? {
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        let output = |o| Ok(Some(o));
        let read = match (name, rest.trim()) {
            ("each", _) => Ok(None),
            ("optimize", "") => output(Output::Optimized { assume: true }),
            ("optimize", "general") => output(Output::Optimized { assume: false }),
            ("emit-c", "") => output(Output::C),
            ("emit-opencl", device) => Device::parse(device).map(|d| Some(Output::OpenCl(d))),
            ("run", "") => output(Output::Runs(arguments::common(&case.program))),
            ("run", given) => arguments::parse(&case.program, given).map(|a| Some(Output::Runs(vec![a]))),
            ("exact", "") => {
                case.exact = true;
                Ok(None)
            }
            ("on", place) => {
                everywhere = false;
                on(&mut case, place).map(|()| None)
            }
            _ => Err(format!(
                "there is no directive `{text}`: expected `each`, `optimize`, `emit-c`, `emit-opencl`, `run`, `on` or `exact`"
            )),
        };
        case.outputs.extend(read.map_err(|e| (line, e))?.map(|output| (text.to_string(), output)));
    }
    if case.outputs.is_empty() {
        return Err((1, "no directive says what is to be done: `//@ run`, `//@ optimize` ...".into()));
    }
    if everywhere {
        case.native = true;
        case.opencl = vec![Device::PLAIN];
        if case.program.to_string().contains("= scan @") {
            case.opencl.push(Device { look_back: true, ..Device::PLAIN });
        }
    }
    Ok(case)
}

/// Adds a place where the program runs.
fn on(case: &mut Case, place: &str) -> Result<(), String> {
    match place.split_once(' ').unwrap_or((place, "")) {
        ("evaluator", "") => {}
        ("native", "") => case.native = true,
        ("opencl", device) => case.opencl.push(Device::parse(device)?),
        _ => return Err(format!("expected `evaluator`, `native` or `opencl TARGET`, found `{place}`")),
    }
    Ok(())
}
