//! The lexer: cuts the text of a kernel program into tokens.

use accel_core::error::{Error, Result};
use std::fmt;

#[derive(Clone, PartialEq, Debug)]
pub enum Token {
    /// A name, a keyword or a number: `a1`, `reduce`, `-1.5e-7f32`.
    Word(String),
    /// `"..."`
    Text(String),
    /// Punctuation or an operator.
    Mark(&'static str),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(w) => write!(f, "`{w}`"),
            Token::Text(t) => write!(f, "{t:?}"),
            Token::Mark(m) => write!(f, "`{m}`"),
            Token::End => f.write_str("the end of the text"),
        }
    }
}

/// A mark that starts with another mark stands before it.
const MARKS: [&str; 29] = [
    "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "(", ")",
    "[", "]", "{", "}", ",", ":", ";", "=",
];

/// The tokens with their lines, counted from 1. The last token is `End`.
pub fn tokens(text: &str) -> Result<Vec<(Token, usize)>> {
    let mut out = vec![];
    let mut line = 1;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '\n' {
            line += 1;
        }
        if c.is_whitespace() {
            rest = &rest[c.len_utf8()..];
        } else if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if let Some(inside) = rest.strip_prefix('"') {
            let (token, after) = quoted(inside, line)?;
            out.push((token, line));
            line += inside[..inside.len() - after.len()].matches('\n').count();
            rest = after;
        } else if let Some(length) = word(rest) {
            out.push((Token::Word(rest[..length].into()), line));
            rest = &rest[length..];
        } else if let Some(mark) = MARKS.iter().chain(&["@", "?"]).find(|m| rest.starts_with(**m)) {
            out.push((Token::Mark(mark), line));
            rest = &rest[mark.len()..];
        } else {
            return Err(Error::Syntax { line, expected: "a kernel program".into(), found: format!("`{c}`") });
        }
    }
    out.push((Token::End, line));
    Ok(out)
}

/// The text up to the closing quote, and the rest of the input. Understands all escapes that Rust prints.
fn quoted(text: &str, line: usize) -> Result<(Token, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Text(out), &text[at + 1..])),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, 'r')) => out.push('\r'),
                Some((_, '0')) => out.push('\0'),
                Some((_, 'u')) => {
                    let code = chars.as_str().strip_prefix('{').and_then(|t| t.split_once('}')).map(|(code, _)| code);
                    let c = code.and_then(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?));
                    let (Some(code), Some(c)) = (code, c) else { break };
                    chars.nth(code.len() + 1);
                    out.push(c);
                }
                Some((_, c @ ('"' | '\\' | '\''))) => out.push(c),
                _ => break,
            },
            c => out.push(c),
        }
    }
    Err(Error::Syntax { line, expected: "the end of a quoted name".into(), found: format!("\"{out}") })
}

/// The length of the word at the start of the text.
fn word(text: &str) -> Option<usize> {
    let body = text.strip_prefix('-').unwrap_or(text);
    let start = text.len() - body.len();
    let first = body.chars().next().filter(|c| c.is_ascii_alphanumeric())?;
    let mut before = first;
    for (k, c) in body.char_indices() {
        // A sign after the `e` of an exponent belongs to the number.
        let exponent = matches!(c, '+' | '-') && before == 'e' && first.is_ascii_digit();
        if !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || exponent) {
            return Some(start + k);
        }
        before = c;
    }
    Some(text.len())
}
