//! Times of JAX, which runs in separate processes.

use crate::case::{Measure, Pair, Result, arrays, check_close, native, numbers};
use crate::data;
use accel::afun::Afun;
use accel::prelude::Arrays;
use accel::repr::Column;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// The number of runs in the JAX process, which reports their median.
const RUNS: &str = "20";

/// JAX's median time of one of its measurements, from a separate process.
pub fn gmm(file: &Path, field: &'static str) -> Measure {
    let file = file.to_owned();
    Measure::Elsewhere(Box::new(move || {
        let script = data::beside("peers/jax_adbench.py")?;
        let found = run_python(Command::new("python3").arg(script).arg("time").arg(&file).arg(RUNS))?;
        let found: Value = serde_json::from_str(&found)?;
        let ms = found[field].as_f64().ok_or("the JAX program printed something else than its times")?;
        Ok(Duration::from_secs_f64(ms / 1e3))
    }))
}

/// A program of accel beside the program of a file in `benches/jax` that has the same arguments and results.
///
/// # Errors
/// The results differ by more than `tolerance` times the largest number of an array, or JAX is not there.
pub fn beside<A: Arrays, R: Arrays>(
    program: &Afun<A, R>,
    module: &'static str,
    arguments: A,
    tolerance: f64,
) -> Result<Pair> {
    let (ours, theirs) = (native(program)?, Program::new(module, &arguments)?);
    theirs.check(&ours.run(&arguments)?, tolerance)?;
    Ok(Pair { ours: Measure::work(move || Ok(ours.run(&arguments)?)), reference: theirs.runs() })
}

/// A reference program in JAX with its arguments.
pub struct Program {
    module: &'static str,
    /// The files that `run.py` reads and writes.
    folder: TempDir,
}

impl Program {
    /// The program of a file in `benches/jax`, with arrays as arguments. Their elements are single numbers.
    ///
    /// # Errors
    /// The arguments cannot be written to a temporary folder.
    pub fn new(module: &'static str, arguments: &impl Arrays) -> Result<Program> {
        let folder = TempDir::new()?;
        let mut described = vec![];
        for array in arrays(arguments.to_tuple()) {
            let [column] = &array.columns[..] else { return Err("elements of several numbers".into()) };
            let (name, bytes) = raw(column)?;
            std::fs::write(folder.path().join(described.len().to_string()), bytes)?;
            described.push(json!({ "type": name, "shape": array.extents.as_slice() }));
        }
        std::fs::write(folder.path().join("arguments.json"), Value::from(described).to_string())?;
        Ok(Program { module, folder })
    }

    /// Checks that the program's results are `ours`, each up to `tolerance` times its largest number.
    ///
    /// # Errors
    /// They differ, or JAX is not there.
    pub fn check(&self, ours: &impl Arrays, tolerance: f64) -> Result<()> {
        self.run("1")?;
        let bytes = std::fs::read(self.folder.path().join("results"))?;
        let mut theirs = bytes.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x));
        for (number, array) in arrays(ours.to_tuple()).iter().enumerate() {
            let ours: Vec<f64> = array.columns.iter().flat_map(numbers).collect();
            let theirs: Vec<f64> = theirs.by_ref().take(ours.len()).collect();
            check_close(&ours, &theirs, tolerance).map_err(|e| format!("array {number}: {e}"))?;
        }
        if theirs.next().is_none() { Ok(()) } else { Err("JAX has more results".into()) }
    }

    /// The median time of runs of the compiled program.
    pub fn runs(self) -> Measure {
        Measure::Elsewhere(Box::new(move || self.run(RUNS)))
    }

    /// The time of the first call.
    pub fn first_call(self) -> Measure {
        Measure::Elsewhere(Box::new(move || self.run("first")))
    }

    fn run(&self, runs: &str) -> Result<Duration> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../jax/run.py");
        let found = run_python(Command::new("python3").arg(script).arg(self.module).arg(self.folder.path()).arg(runs))?;
        Ok(Duration::from_secs_f64(found.trim().parse::<f64>()? / 1e3))
    }
}

/// NumPy's name of the type, and the numbers as bytes.
fn raw(column: &Column) -> Result<(&'static str, Vec<u8>)> {
    Ok(match column {
        Column::F64(c) => ("float64", c.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Column::F32(c) => ("float32", c.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Column::I64(c) => ("int64", c.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Column::I32(c) => ("int32", c.iter().flat_map(|x| x.to_le_bytes()).collect()),
        _ => return Err("arguments are of type f64, f32, i64 or i32".into()),
    })
}

/// The standard output of a Python program.
///
/// # Errors
/// The program fails.
pub fn run_python(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("python3: {}", said.lines().last().unwrap_or_default()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
