//! Prints typed programs for people: with names instead of De Bruijn indices, infix arithmetic, and one definition per
//! line.
//!
//! A variable is named by its De Bruijn level, outermost first: `a0` is the argument of the program, `x0` the first
//! argument of a scalar function. So a name does not depend on the code around it, and two dumps can be compared.
//!
//! | text | meaning |
//! | --- | --- |
//! | `let a1 = .. ` and a new line, or `let x1 = .. in ..` | a definition and what is below it |
//! | `\x0 x1 -> ..` | a scalar function, or the condition and body of a loop |
//! | `[x0, 3]`, `[..x0, 3]` | a shape or an index, all extents or those of `x0` and one more |
//! | `a0[x0, 3]`, `a0 ! x0` | an element of an array, with an index given by its components or as a whole |
//! | `x0.0`, `x0.1` | the components of a pair |
//! | `slice [:, 3] a0` | kept dimensions are `:`, fixed ones have an index |
//! | `2.0`, `3`, `2.0f32` | constants; the type is written unless it is `f64`, `i64` or `bool` |
//! | `use Array1<f64>[3]` | an array that is part of the program, by type and extents |
//! | `map@src/main.rs:7` | an operation and where it was written, on request |

mod acc;
mod exp;
mod layout;
mod prim;

use crate::ast::{Acc, Exp, Program, Size, fresh2};
use layout::{Printer, Scope};
use pretty::Arena;
use std::fmt;

pub use layout::PrintOptions;

/// Prints a closed array function: its type, then its body.
pub fn program(p: &Program, options: &PrintOptions) -> String {
    let head = format!("fn (a0: {}) -> {}", p.arg(), p.result());
    let body = fresh2(|n, m| acc(&p.open(n, m).body, Size::nil().push(), options));
    let mut text = head;
    for line in body.lines() {
        text.push_str("\n  ");
        text.push_str(line);
    }
    text
}

/// Prints an array computation with `arrays` free array variables.
pub fn acc<A, R>(a: &Acc<A, R>, arrays: Size<A>, options: &PrintOptions) -> String {
    let arena = Arena::new();
    layout::render(&Printer { arena: &arena, options }.acc(a, Scope::new(0, arrays.get()), prim::LOW))
}

/// Prints a scalar expression with free scalar and array variables.
pub fn exp<E, A, T>(e: &Exp<E, A, T>, scalars: Size<E>, arrays: Size<A>, options: &PrintOptions) -> String {
    let arena = Arena::new();
    layout::render(&Printer { arena: &arena, options }.exp(e, Scope::new(scalars.get(), arrays.get()), prim::LOW))
}

/// Prints a program to stderr if the environment variable `ACCEL_DUMP` names the stage. The value of the variable is a
/// list of stages, such as `ast,ad`. The words `types` and `lines` in this list turn on the types of variables and the
/// source lines.
pub fn dump(stage: &str, p: &Program) {
    let Ok(wanted) = std::env::var("ACCEL_DUMP") else { return };
    if let Some(text) = dump_text(&wanted, stage, p) {
        eprintln!("{text}");
    }
}

/// Like [`dump`], for a stage whose result is not a typed tree.
pub fn dump_with(stage: &str, text: impl FnOnce() -> String) {
    let wanted = std::env::var("ACCEL_DUMP").unwrap_or_default();
    if wanted.split(',').any(|w| w.trim() == stage) {
        eprintln!("-- {stage}\n{}", text());
    }
}

fn dump_text(wanted: &str, stage: &str, p: &Program) -> Option<String> {
    let asks_for = |word| wanted.split(',').any(|w| w.trim() == word);
    let options = PrintOptions { types: asks_for("types"), source_lines: asks_for("lines"), max_depth: None };
    asks_for(stage).then(|| format!("-- {stage}\n{}", program(p, &options)))
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&program(self, &PrintOptions::default()))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
