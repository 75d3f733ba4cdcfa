//! What the two ADBench examples (`gmm` and `ba`) have in common besides array programs: the text formats of the
//! ADBench suite, a generator of small files in these formats, the command line, and the JSON reports.

#![forbid(unsafe_code)]

mod ba_file;
mod command_line;
mod error;
mod generate;
mod gmm_file;
mod lines;
mod memory;
mod report;
mod scene;

pub use ba_file::BaFile;
pub use command_line::{Command, Options, Precision, parse_args};
pub use error::{Failure, FileError};
pub use generate::{Lcg, generate_ba, generate_gmm};
pub use gmm_file::GmmFile;
pub use memory::{available_memory, ba_bytes, check_memory};
pub use report::{BaReport, GmmReport, SparseReport, exit_code, median_ms, print_line, timed};
pub use scene::{Scene, generate_scene};
