//! Reports a failed stage of the compiler: as a `tracing` error, and in a file to attach to a report.

use crate::kernel::Program;
use accel_core::error::Error;
use accel_core::notice::notice;
use accel_core::repr::Column;
use std::fmt::{self, Display};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The largest number of files per process: a program that is compiled in a loop must not fill the disk.
const MOST_FILES: usize = 100;
/// The largest length of a file: all files of a process together take less than 2 GB.
const LONGEST: usize = 16 << 20;
/// A report contains the elements of arrays in the program only up to this number. With about 16 characters for each, more would not
/// leave room for the program.
const MOST_ELEMENTS: usize = LONGEST / 16;

/// A failure of the compiler that the user's run survives.
pub struct Report<'a> {
    /// The stage that failed.
    pub stage: &'a str,
    /// The error of the stage.
    pub error: &'a Error,
    /// The input of the stage.
    pub last_good: &'a dyn Display,
}

/// The text of a kernel program.
pub struct Text<'a>(pub &'a Program);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elements: usize = self.0.literals.iter().flat_map(|a| &a.columns).map(Column::len).sum();
        if elements <= MOST_ELEMENTS {
            return self.0.fmt(f);
        }
        writeln!(f, "(literals with {elements} elements are left out)")?;
        Program { literals: vec![], ..self.0.clone() }.fmt(f)
    }
}

impl Report<'_> {
    /// Sends the report.
    pub fn send(&self) {
        let Report { stage, error, .. } = self;
        static WRITTEN: AtomicUsize = AtomicUsize::new(0);
        let file = match WRITTEN.fetch_add(1, Ordering::Relaxed) < MOST_FILES {
            true => self
                .write()
                .map_or_else(|e| format!("a file that could not be written: {e}"), |p| p.display().to_string()),
            false => "a file as those of earlier failures".into(),
        };
        notice(&format!(
            "the stage `{stage}` of the compiler failed, which is a mistake in it: the program runs without that stage, and slower; please report it with {file}"
        ));
        tracing::error!(
            stage, %error, file,
            "a stage of the compiler failed, which is a mistake in it: the program runs without that stage, and slower; please report it with the file"
        );
    }

    fn write(&self) -> std::io::Result<PathBuf> {
        let Report { stage, error, last_good } = self;
        let mut text = format!(
            "accel {version}, {os} on {arch}\nstage: {stage}\n{error}\n\nthe program before the stage:\n{last_good}\n",
            version = env!("CARGO_PKG_VERSION"),
            os = std::env::consts::OS,
            arch = std::env::consts::ARCH,
        );
        if text.len() > LONGEST {
            text.truncate((0..=LONGEST).rev().find(|n| text.is_char_boundary(*n)).unwrap_or(0));
            text += "\n(the rest is left out)\n";
        }
        write("accel-report-", ".txt", &text)
    }
}

/// Writes a new file in the folder for temporary files.
pub fn write(prefix: &str, suffix: &str, text: &str) -> std::io::Result<PathBuf> {
    let mut file = tempfile::Builder::new().prefix(prefix).suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file.keep()?.1)
}
