//! Changes a text slightly: bytes, words and lines are removed, exchanged, repeated, replaced and taken from others.

/// Random numbers (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
    /// A number below `n`, or 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// The replacements of numbers and words.
const WORDS: [&str; 28] = [
    "0",
    "1",
    "2",
    "3",
    "-1",
    "7",
    "255",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "99999999999999999999",
    "NaN",
    "inf",
    "1e999",
    "0.5",
    "x0",
    "x1",
    "x2",
    "a0",
    "a1",
    "a3",
    "(",
    ")",
    "{",
    "}",
    "[",
    "null",
    "\"",
];

/// Words, numbers and marks, and the blanks between them.
fn tokens(text: &[u8]) -> Vec<Vec<u8>> {
    let class = |b: u8| match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' => 0,
        b' ' => 1,
        _ => 2,
    };
    let mut all: Vec<Vec<u8>> = vec![];
    for &b in text {
        match all.last_mut() {
            Some(t) if class(b) != 2 && class(t[0]) == class(b) => t.push(b),
            _ => all.push(vec![b]),
        }
    }
    all
}

/// A text with one to four changes.
pub fn mutated(r: &mut Random, text: &[u8], others: &[&[u8]]) -> Vec<u8> {
    let mut text = text.to_vec();
    for _ in 0..1 + r.below(4) * r.below(2) {
        text = match r.below(10) {
            0 => bytes(r, text),
            1 | 2 => parts(r, text, others, |t| t.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect()),
            _ => parts(r, text, others, tokens),
        };
    }
    text
}

fn bytes(r: &mut Random, mut text: Vec<u8>) -> Vec<u8> {
    let at = r.below(text.len());
    match r.below(4) {
        0 => text.truncate(at),
        1 if !text.is_empty() => {
            text.remove(at);
        }
        2 if !text.is_empty() => text[at] ^= 1 << r.below(8),
        _ => text.insert(at, r.next() as u8),
    }
    text
}

fn parts(r: &mut Random, text: Vec<u8>, others: &[&[u8]], split: impl Fn(&[u8]) -> Vec<Vec<u8>>) -> Vec<u8> {
    let mut all = split(&text);
    if all.is_empty() {
        return text;
    }
    let (i, j) = (r.below(all.len()), r.below(all.len()));
    match r.below(8) {
        0 => {
            all.remove(i);
        }
        1 => all.swap(i, j),
        2 => {
            let n = 1 + r.below(3);
            let part = all[i].clone();
            all.splice(i..i, std::iter::repeat_n(part, n));
        }
        3 => all[i] = all[j].clone(),
        4 => {
            let other = r.below(others.len());
            let from = split(others[other]);
            all[i] = from[r.below(from.len())].clone();
        }
        5 if r.below(40) == 0 => {
            // A very deep or very long text.
            let part = all[i].clone();
            all.splice(i..i, std::iter::repeat_n(part, 2000));
        }
        _ => {
            // Puts a number or a word in the place of another one.
            let words: Vec<usize> = (0..all.len()).filter(|k| all[*k][0].is_ascii_alphanumeric()).collect();
            let at = if words.is_empty() { i } else { words[r.below(words.len())] };
            all[at] = WORDS[r.below(WORDS.len())].into();
        }
    }
    all.concat()
}
