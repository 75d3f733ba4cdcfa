//! Input files with one mistake each.

use super::data_file;

/// A wrong file, and the expected error.
pub struct BadFile {
    /// The mistake.
    pub name: &'static str,
    /// The example that must reject it.
    pub example: &'static str,
    /// The contents.
    pub bytes: Vec<u8>,
    /// The line that the error must name.
    pub line: usize,
    /// How the expectation in the error must begin.
    pub expected: &'static str,
}

/// Edits the lines of a good file; lines count from 1.
fn edited(file: &str, edit: impl FnOnce(&mut Vec<String>)) -> Vec<u8> {
    let text = std::fs::read_to_string(data_file(file)).unwrap();
    let mut lines = text.lines().map(str::to_string).collect();
    edit(&mut lines);
    (lines.join("\n") + "\n").into_bytes()
}

/// Replaces one line.
fn replaced(file: &str, line: usize, with: &str) -> Vec<u8> {
    edited(file, |lines| lines[line - 1] = with.to_string())
}

/// All wrong files: the shipped files (d = 2, k = 3, n = 50: 61 lines; and 5 lines) with one mistake each.
pub fn bad_files() -> Vec<BadFile> {
    let mut files = gmm_files();
    files.extend(ba_files());
    files
}

fn gmm_files() -> Vec<BadFile> {
    const FILE: &str = "gmm_d2_k3_n50.txt";
    const COUNT: &str = "a whole number from 1 to";
    let bad = |name, bytes, line, expected| BadFile { name, example: "gmm", bytes, line, expected };
    let line = |number, with| replaced(FILE, number, with);
    vec![
        bad("empty", vec![], 1, "3 numbers (d k n)"),
        bad("blank", b"\n \n".to_vec(), 3, "3 numbers (d k n)"),
        bad("header too short", line(1, "2 3"), 1, "3 numbers (d k n)"),
        bad("header too long", line(1, "2 3 50 1"), 1, "3 numbers (d k n)"),
        bad("header of words", line(1, "two 3 50"), 1, COUNT),
        bad("negative count", line(1, "2 -3 50"), 1, COUNT),
        bad("zero dimensions", line(1, "0 3 50"), 1, COUNT),
        bad("zero Gaussians", line(1, "2 0 50"), 1, COUNT),
        bad("zero points", line(1, "2 3 0"), 1, COUNT),
        bad("fractional count", line(1, "2 3 50.5"), 1, COUNT),
        bad("absurd count", line(1, "2 3 99999999999999999999999"), 1, COUNT),
        bad("count beyond memory", line(1, "2 3 1000000000000"), 1, COUNT),
        bad("count beyond the file", line(1, "2 3 1000000000"), 62, "2 numbers (point 52 of 1000000000)"),
        bad("dimension beyond the file", line(1, "1000000000 3 50"), 5, "1000000000 numbers (mean 1 of 3)"),
        bad("too many points", line(1, "2 3 49"), 60, "a whole number that is not negative (m, after 49 points)"),
        bad("too few points", line(1, "2 3 51"), 62, "2 numbers (gamma m, after 51 points)"),
        bad("too many Gaussians", line(1, "2 2 50"), 4, "2 numbers (mean 1 of 2)"),
        bad("not a number", line(3, "abc"), 3, "a finite number (alpha 2 of 3)"),
        bad("NaN", line(3, "NaN"), 3, "a finite number (alpha 2 of 3)"),
        bad("infinity", line(3, "inf"), 3, "a finite number (alpha 2 of 3)"),
        bad("beyond f64", line(3, "1e999"), 3, "a finite number (alpha 2 of 3)"),
        bad("decimal comma", line(6, "0,5 1.5"), 6, "a finite number (mean 2 of 3)"),
        bad("short row", line(6, "0.5"), 6, "2 numbers (mean 2 of 3)"),
        bad("long row", line(6, "0.5 0.5 0.5"), 6, "2 numbers (mean 2 of 3)"),
        bad("short icf", line(8, "0.5 0.5"), 8, "3 numbers (icf 1 of 3)"),
        bad("a word among points", line(30, "0.1 x"), 30, "a finite number (point 20 of 50)"),
        bad("no prior", edited(FILE, |lines| lines.truncate(60)), 61, "2 numbers (gamma m, after 50 points)"),
        bad("cut in a row", cut_in_row(FILE, 20), 20, "2 numbers (point 10 of 50)"),
        bad("cut between rows", edited(FILE, |lines| lines.truncate(20)), 21, "2 numbers (point 11 of 50)"),
        bad("gamma of zero", line(61, "0 0"), 61, "a positive gamma (after 50 points)"),
        bad("negative gamma", line(61, "-1 0"), 61, "a positive gamma (after 50 points)"),
        bad("gamma of words", line(61, "one 0"), 61, "a finite number (gamma, after 50 points)"),
        bad("fractional m", line(61, "1 0.5"), 61, "a whole number that is not negative (m, after 50 points)"),
        bad("negative m", line(61, "1 -1"), 61, "a whole number that is not negative (m, after 50 points)"),
        bad("trailing data", edited(FILE, |lines| lines.push("1 2".into())), 62, "the end of the file"),
        bad("not text", vec![b'2', b'\n', 0xff, 0xfe], 2, "text"),
    ]
}

fn ba_files() -> Vec<BadFile> {
    const FILE: &str = "ba_n3_m7_p20.txt";
    const COUNT: &str = "a whole number from 1 to";
    let bad = |name, bytes, line, expected| BadFile { name, example: "ba", bytes, line, expected };
    let line = |number, with| replaced(FILE, number, with);
    vec![
        bad("empty", vec![], 1, "3 numbers (n m p)"),
        bad("header too short", line(1, "3 7"), 1, "3 numbers (n m p)"),
        bad("no cameras", line(1, "0 7 20"), 1, COUNT),
        bad("negative points", line(1, "3 -7 20"), 1, COUNT),
        bad("absurd count", line(1, "3 7 99999999999"), 1, COUNT),
        bad("count of words", line(1, "3 7 many"), 1, COUNT),
        bad("short camera", line(2, "1 2 3"), 2, "11 numbers (camera)"),
        bad("camera of words", line(2, "0 0 0 0 0 0 f 0 0 0 0"), 2, "a finite number (camera)"),
        bad("short point", line(3, "1 2"), 3, "3 numbers (point)"),
        bad("long point", line(3, "1 2 3 4"), 3, "3 numbers (point)"),
        bad("no weight", line(4, ""), 5, "1 number (weight)"),
        bad("weight of words", line(4, "heavy"), 4, "a finite number (weight)"),
        bad("infinite feature", line(5, "0 -inf"), 5, "a finite number (feature)"),
        bad("no feature", edited(FILE, |lines| lines.truncate(4)), 5, "2 numbers (feature)"),
        bad("trailing data", edited(FILE, |lines| lines.push("0".into())), 6, "the end of the file"),
        bad("not text", vec![0xff], 1, "text"),
    ]
}

/// The file up to the first number of a line.
fn cut_in_row(file: &str, line: usize) -> Vec<u8> {
    edited(file, |lines| {
        lines.truncate(line);
        let first = lines[line - 1].split(' ').next().unwrap().to_string();
        lines[line - 1] = first;
    })
}
