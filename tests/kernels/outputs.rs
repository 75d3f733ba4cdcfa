//! The expected outputs of a file.

use crate::arguments::Arguments;
use crate::file::{Case, Device, Output, TestFile};
use accel_codegen::opencl::{self, Target};
use accel_codegen::{Options, emit};
use accel_core::error::Result as Evaluated;
use accel_core::repr::{RawArray, Scalar};
use accel_fusion::kernel::Program;
use accel_fusion::pipeline::{Optimized, optimize};
use libtest_mimic::Failed;

/// Compares the outputs with what the file expects, or updates the file.
pub fn check(file: &TestFile) -> Result<(), Failed> {
    let mut found = String::new();
    for case in &file.cases {
        for (title, text) in sections(case)? {
            let words = if case.words.is_empty() { String::new() } else { format!(" ({})", case.words) };
            found += &format!("//= {title}{words}\n{}\n", text.trim_end());
        }
    }
    let path = file.path.display();
    if std::env::var_os("ACCEL_UPDATE").is_some() {
        // A file is written only if it changes.
        let text = format!("{}\n\n{found}", file.head.trim_end());
        let old = std::fs::read_to_string(&file.path)?;
        return if text == old { Ok(()) } else { Ok(std::fs::write(&file.path, text)?) };
    }
    let (mut old, mut new) = (file.expected.lines(), found.lines());
    for line in file.head.lines().count() + 1.. {
        match (old.next(), new.next()) {
            (None, None) => return Ok(()),
            (old, new) if old == new => {}
            (old, new) => {
                let [old, new] = [old, new].map(|l| l.unwrap_or("(the end)"));
                let how = "the output has changed; ACCEL_UPDATE=1 rewrites it";
                return Err(format!(
                    "{path}:{line}: {how}\nexpected: {old}\n   found: {new}\n\nall that was found:\n{found}"
                )
                .into());
            }
        }
    }
    Ok(())
}

/// The outputs of a case, with their titles.
fn sections(case: &Case) -> Result<Vec<(&str, String)>, Failed> {
    let is_optimized = case.outputs.iter().any(|(_, o)| matches!(o, Output::Optimized { .. }));
    let optimized = |assume| optimize(&case.program, assume).map_err(|e| Failed::from(e.to_string()));
    let both = if is_optimized { Some([optimized(false)?, optimized(true)?]) } else { None };
    let mut all = vec![];
    for (title, output) in &case.outputs {
        let text = match (output, &both) {
            (Output::Optimized { assume }, Some(both)) => statements(&both[usize::from(*assume)].program),
            (Output::Optimized { .. }, None) => unreachable!("what is printed was optimised"),
            (Output::C, _) => {
                let source = emit(&case.program, Options::default()).source;
                after(&source, "callback(r, to, f, n, len, cost, extents);\n}\n")?.into()
            }
            (Output::OpenCl(device), _) => {
                let source = opencl::emit(&case.program, &target(device)).source;
                after(&source, "const i64 *extents; } task;\n")?.into()
            }
            (Output::Runs(runs), _) => {
                let lines = runs.iter().map(|run| Ok(format!("{}\n", line(case, run, both.as_ref())?)));
                lines.collect::<Result<String, Failed>>()?
            }
        };
        all.push((&title[..], text));
    }
    Ok(all)
}

/// A target that is different from every real device, so that the emitted code is the same on every machine.
fn target(device: &Device) -> Target {
    device.target(Target {
        units: 16,
        largest_group: 1024,
        local_memory: 32 << 10,
        wide: false,
        atomics_64: true,
        look_back: false,
    })
}

/// The code after the text that all programs have in common, which ends with the line `last`.
fn after<'a>(source: &'a str, last: &str) -> Result<&'a str, Failed> {
    let start = source.find(last).ok_or("the generated code does not begin as it always does")?;
    Ok(&source[start + last.len()..])
}

/// The lines of the body.
fn statements(program: &Program) -> String {
    let text = program.to_string();
    let body = text.split_once("\n{\n").map_or(&text[..], |(_, body)| body);
    body.strip_suffix("}").unwrap_or(body).lines().map(|l| format!("{}\n", l.trim_end())).collect()
}

/// The evaluator's result of a run. The optimised programs must have the same result.
fn line(case: &Case, run: &Arguments, optimized: Option<&[Optimized; 2]>) -> Result<String, Failed> {
    let expected = run.expected(&case.program);
    let mut note = "";
    for Optimized { program, conditions, .. } in optimized.into_iter().flatten() {
        if !conditions.hold(|k| run.arrays.get(k).map(|a| &*a.extents)) {
            note = " (not as assumed)";
            continue;
        }
        let found = run.evaluated(program);
        if format!("{found:?}") != format!("{expected:?}") {
            return Err(
                format!("with {}, the optimised program gives {}\n{program}", run.extents(), told(&found)).into()
            );
        }
    }
    Ok(format!("{}{note} -> {}", run.extents(), told(expected)).trim_start().into())
}

/// A short text for results: extents, types, and the elements of small arrays; or the error.
pub fn told(results: &Evaluated<Vec<RawArray>>) -> String {
    match results {
        Ok(arrays) => arrays.iter().map(array).collect::<Vec<_>>().join(", "),
        Err(e) => format!("error: {e}"),
    }
}

/// An array, printed as a literal of a program, without the last digits of numbers, in which mathematical libraries
/// differ.
fn array(a: &RawArray) -> String {
    if a.size() > 16 {
        return format!("{:?}{}", a.extents, a.columns.iter().map(|c| format!(" {}", c.ty())).collect::<String>());
    }
    let mut short = a.clone();
    for column in short.columns.iter_mut() {
        (0..column.len()).for_each(|i| {
            if let Some(x) = column.get(i) {
                column.set(i, rounded(x));
            }
        });
    }
    let text = Program { literals: vec![short], ..Program::default() }.to_string();
    text.lines().find_map(|l| l.trim().strip_prefix("literal 0 = ")).unwrap_or_default().into()
}

fn rounded(x: Scalar) -> Scalar {
    let short = |x: f64| format!("{x:.5e}").parse().unwrap_or(x);
    match x {
        Scalar::F32(x) => Scalar::F32(short(x.into()) as f32),
        Scalar::F64(x) => Scalar::F64(short(x)),
        x => x,
    }
}
