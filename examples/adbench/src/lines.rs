//! Reads a text file of numbers line by line. Errors name the line, what was expected and what was found.

use crate::FileError;
use crate::memory::available_memory;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The lines of a file that are not blank, with their numbers.
pub(crate) struct Lines<'t> {
    file: PathBuf,
    lines: std::iter::Enumerate<std::str::Lines<'t>>,
    /// The number of the last line read.
    line: usize,
}

/// The contents of a file of at most `limit` bytes. A device is not read, since it may have no end.
fn read(file: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = File::open(file)?;
    let about = file.metadata()?;
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_char_device(&about.file_type()) {
        return Err(io::Error::other("a device"));
    }
    let too_long =
        || io::Error::other(format!("more than {limit} bytes, which is too much for the memory of this machine"));
    if about.len() > limit {
        return Err(too_long());
    }
    let mut bytes = vec![];
    // The length of a pipe is not known before it is read.
    match file.take(limit.saturating_add(1)).read_to_end(&mut bytes)? as u64 > limit {
        true => Err(too_long()),
        false => Ok(bytes),
    }
}

/// The text of a file, which must be UTF-8 and fit into half of the available memory.
pub(crate) fn read_text(file: &Path) -> Result<String, FileError> {
    let limit = available_memory().unwrap_or(u64::MAX) / 2;
    let bytes = read(file, limit).map_err(|cause| FileError::Unreadable { file: file.to_path_buf(), cause })?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        FileError::Malformed {
            file: file.to_path_buf(),
            line: 1 + valid.iter().filter(|b| **b == b'\n').count(),
            expected: "text".to_string(),
            found: "bytes that are not UTF-8".to_string(),
        }
    })
}

impl<'t> Lines<'t> {
    /// The lines of `text`; `file` is for messages.
    pub(crate) fn new(file: &Path, text: &'t str) -> Self {
        Lines { file: file.to_path_buf(), lines: text.lines().enumerate(), line: 0 }
    }

    /// An error at the last line read.
    pub(crate) fn error(&self, expected: String, found: String) -> FileError {
        FileError::Malformed { file: self.file.clone(), line: self.line, expected, found }
    }

    /// The next line that is not blank. At the end of the file, the line number is that of the missing line.
    fn next_line(&mut self) -> Option<&'t str> {
        for (index, line) in self.lines.by_ref() {
            self.line = index + 1;
            if !line.trim().is_empty() {
                return Some(line);
            }
        }
        self.line += 1;
        None
    }

    /// The words of the next line. Their number must be `count`.
    fn words(&mut self, what: &str, count: usize) -> Result<Vec<&'t str>, FileError> {
        let plural = if count == 1 { "number" } else { "numbers" };
        let expected = || format!("{count} {plural} ({what})");
        let Some(line) = self.next_line() else {
            return Err(self.error(expected(), "the end of the file".to_string()));
        };
        let words: Vec<_> = line.split_whitespace().collect();
        if words.len() == count {
            return Ok(words);
        }
        let found = format!("{}: {}", words.len(), quote(line.trim()));
        Err(self.error(expected(), found))
    }

    /// The next line: `counts` whole numbers from 1 to `limit`.
    pub(crate) fn counts<const N: usize>(&mut self, what: &str, limit: usize) -> Result<[usize; N], FileError> {
        let words = self.words(what, N)?;
        let mut counts = [0; N];
        for (count, word) in counts.iter_mut().zip(words) {
            *count = match word.parse() {
                Ok(number) if (1..=limit).contains(&number) => number,
                _ => {
                    let expected = format!("a whole number from 1 to {limit} ({what})");
                    return Err(self.error(expected, quote(word)));
                }
            };
        }
        Ok(counts)
    }

    /// Appends the numbers of the next line to `to`. There must be `count` numbers.
    pub(crate) fn numbers(&mut self, what: &str, count: usize, to: &mut Vec<f64>) -> Result<(), FileError> {
        for word in self.words(what, count)? {
            to.push(self.number(what, word)?);
        }
        Ok(())
    }

    /// The next line: `N` numbers.
    pub(crate) fn array<const N: usize>(&mut self, what: &str) -> Result<[f64; N], FileError> {
        let words = self.words(what, N)?;
        let mut numbers = [0.0; N];
        for (number, word) in numbers.iter_mut().zip(words) {
            *number = self.number(what, word)?;
        }
        Ok(numbers)
    }

    /// The next line: two words, for the caller to parse.
    pub(crate) fn pair(&mut self, what: &str) -> Result<[&'t str; 2], FileError> {
        let words = self.words(what, 2)?;
        Ok([words[0], words[1]])
    }

    /// A finite number.
    pub(crate) fn number(&self, what: &str, word: &str) -> Result<f64, FileError> {
        match word.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.error(format!("a finite number ({what})"), quote(word))),
        }
    }

    /// Checks that only blank lines follow.
    pub(crate) fn end(&mut self) -> Result<(), FileError> {
        match self.next_line() {
            None => Ok(()),
            Some(line) => Err(self.error("the end of the file".to_string(), quote(line.trim()))),
        }
    }
}

/// A part of the file in quotation marks, shortened to fit a message.
pub(crate) fn quote(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_read() {
        let error = |file: &str, limit| read(Path::new(file), limit).unwrap_err().to_string();
        assert_eq!(error("/dev/zero", 10), "a device");
        assert!(error("src/lines.rs", 10).contains("more than 10 bytes"));
        assert_eq!(read(Path::new("src/lines.rs"), 1 << 20).unwrap(), include_bytes!("lines.rs"));
        // Files whose length is not known before they are read.
        assert!(error("/proc/self/status", 10).contains("more than 10 bytes"));
    }
}
