//! The format of ADBench's bundle adjustment files: the numbers of cameras, points and observations, and one of each,
//! which stands for all of them.
//!
//! ```text
//! n m p
//! camera                   11 numbers: rotation (3), centre (3), focal length, principal point (2), distortion (2)
//! point                    3 numbers
//! weight                   1 number
//! feature                  2 numbers
//! ```

use crate::FileError;
use crate::gmm_file::write_rows;
use crate::lines::{Lines, read_text};
use crate::memory::{ba_bytes, check_memory};
use std::io::{self, Write};
use std::path::Path;

/// The limit for counts in a file.
const LARGEST_COUNT: usize = 50_000_000;

/// A bundle adjustment problem with equal cameras, points, weights and features. In observation `i` (from 0), camera
/// `i mod n` sees point `i mod m`.
#[derive(Clone, Debug, PartialEq)]
pub struct BaFile {
    /// Number of cameras.
    pub n: usize,
    /// Number of points.
    pub m: usize,
    /// Number of observations.
    pub p: usize,
    /// Rotation (axis times angle), centre, focal length, principal point and radial distortion.
    pub camera: [f64; 11],
    /// A point in space.
    pub point: [f64; 3],
    /// The weight of an observation.
    pub weight: f64,
    /// The place of the point in the image.
    pub feature: [f64; 2],
}

impl BaFile {
    /// Reads a file. An error names the file, the line, what was expected and what was found.
    pub fn read(file: &Path) -> Result<Self, FileError> {
        Self::parse(file, &read_text(file)?)
    }

    /// Parses the text of a file; `file` is for messages.
    pub fn parse(file: &Path, text: &str) -> Result<Self, FileError> {
        let mut lines = Lines::new(file, text);
        let [n, m, p] = lines.counts("n m p", LARGEST_COUNT)?;
        // The file contains one of each, whatever the counts are, so its size does not limit them.
        check_memory(ba_bytes(n, m, p)).map_err(|(needed, there)| {
            let expected = format!("counts (n m p) that fit into {there}");
            lines.error(expected, format!("{n} {m} {p}, which take {needed}"))
        })?;
        let camera = lines.array("camera")?;
        let point = lines.array("point")?;
        let [weight] = lines.array("weight")?;
        let feature = lines.array("feature")?;
        lines.end()?;
        Ok(BaFile { n, m, p, camera, point, weight, feature })
    }

    /// Writes the same format, with numbers that are read back exactly.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{} {} {}", self.n, self.m, self.p)?;
        write_rows(out, &self.camera, 11)?;
        write_rows(out, &self.point, 3)?;
        write_rows(out, &[self.weight], 1)?;
        write_rows(out, &self.feature, 2)
    }
}
