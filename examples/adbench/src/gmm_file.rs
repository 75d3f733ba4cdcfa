//! The format of ADBench's Gaussian mixture files.
//!
//! ```text
//! d k n
//! alpha                    k lines of 1 number
//! mean                     k lines of d numbers
//! icf                      k lines of d + d(d-1)/2 numbers: log diagonal, then the lower triangle by columns
//! x                        n lines of d numbers
//! gamma m                  the Wishart prior: a positive number, and a whole number that is not negative
//! ```

use crate::FileError;
use crate::lines::{Lines, quote, read_text};
use std::io::{self, Write};
use std::path::Path;

/// The limit for counts in a file. If a file has fewer lines than it says, reading its lines finds this out.
const LARGEST_COUNT: usize = 1_000_000_000;

/// A Gaussian mixture, and the points to fit it to. Matrices are row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct GmmFile {
    /// Dimension of the points.
    pub d: usize,
    /// Number of Gaussians.
    pub k: usize,
    /// Number of points.
    pub n: usize,
    /// Logarithms of the mixture weights, up to a constant: `[k]`.
    pub alphas: Vec<f64>,
    /// Means: `[k, d]`.
    pub means: Vec<f64>,
    /// Factors of the inverse covariances: `[k, d + d(d-1)/2]`.
    pub icf: Vec<f64>,
    /// Points: `[n, d]`.
    pub x: Vec<f64>,
    /// Scale of the Wishart prior.
    pub gamma: f64,
    /// Excess degrees of freedom of the Wishart prior.
    pub m: u32,
}

impl GmmFile {
    /// Reads a file. An error names the file, the line, what was expected and what was found.
    pub fn read(file: &Path) -> Result<Self, FileError> {
        Self::parse(file, &read_text(file)?)
    }

    /// Parses the text of a file; `file` is for messages.
    pub fn parse(file: &Path, text: &str) -> Result<Self, FileError> {
        let mut lines = Lines::new(file, text);
        let [d, k, n] = lines.counts("d k n", LARGEST_COUNT)?;
        let rows = |lines: &mut Lines<'_>, name: &str, rows: usize, columns: usize| {
            let mut matrix = Vec::new();
            for row in 1..=rows {
                lines.numbers(&format!("{name} {row} of {rows}"), columns, &mut matrix)?;
            }
            Ok(matrix)
        };
        let alphas = rows(&mut lines, "alpha", k, 1)?;
        let means = rows(&mut lines, "mean", k, d)?;
        let icf = rows(&mut lines, "icf", k, icf_columns(d))?;
        let x = rows(&mut lines, "point", n, d)?;
        // A wrong n is first noticed here, so the message says how many points were read.
        let after = format!("after {n} points");
        let [gamma, m] = lines.pair(&format!("gamma m, {after}"))?;
        let gamma = match lines.number(&format!("gamma, {after}"), gamma)? {
            number if number > 0.0 => number,
            number => {
                let expected = format!("a positive gamma ({after})");
                return Err(lines.error(expected, number.to_string()));
            }
        };
        let m = m.parse().map_err(|_| {
            let expected = format!("a whole number that is not negative (m, {after})");
            lines.error(expected, quote(m))
        })?;
        lines.end()?;
        Ok(GmmFile { d, k, n, alphas, means, icf, x, gamma, m })
    }

    /// The number of columns of `icf`.
    pub fn icf_columns(&self) -> usize {
        icf_columns(self.d)
    }

    /// Writes the same format, with numbers that are read back exactly.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{} {} {}", self.d, self.k, self.n)?;
        write_rows(out, &self.alphas, 1)?;
        write_rows(out, &self.means, self.d)?;
        write_rows(out, &self.icf, self.icf_columns())?;
        write_rows(out, &self.x, self.d)?;
        writeln!(out, "{} {}", self.gamma, self.m)
    }
}

fn icf_columns(d: usize) -> usize {
    d + d * (d - 1) / 2
}

/// Writes a row-major matrix, one row per line.
pub(crate) fn write_rows(out: &mut impl Write, matrix: &[f64], columns: usize) -> io::Result<()> {
    for row in matrix.chunks(columns) {
        let words: Vec<_> = row.iter().map(f64::to_string).collect();
        writeln!(out, "{}", words.join(" "))?;
    }
    Ok(())
}
