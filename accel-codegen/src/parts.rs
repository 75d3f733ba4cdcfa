//! Long files in parts, so that several processes can compile them.
//!
//! The parts are in one text: compiled with the macro `PART` defined as 0, 1, .. it is only that part, and what it needs of others is
//! declared. Compiled without it is everything. Functions that several parts use have the prefix `KERNEL`.

use crate::module::PARAMETERS;
use std::fmt::Write;

/// A part has about this many lines.
const LINES: usize = 1_000;
/// There are at most so many parts.
const MOST: usize = 8;

/// How many parts a text has.
pub fn count(source: &str) -> usize {
    source.lines().filter_map(part_of).max().map_or(1, |k| k + 1)
}

fn part_of(line: &str) -> Option<usize> {
    line.strip_prefix("#if !defined PART || PART == ")?.parse().ok()
}

/// The kernels of the statements, in parts if they are long. The first part also has something else that takes as long as `first` lines
/// of kernels.
pub fn print(statements: Vec<String>, first: usize) -> String {
    let lines: Vec<usize> = statements.iter().map(|s| s.lines().count()).collect();
    let parts = (lines.iter().sum::<usize>() / LINES).min(MOST);
    if parts < 2 {
        return statements.concat();
    }
    // The longest ones first, each to the part that is the shortest so far.
    let mut order: Vec<usize> = (0..statements.len()).filter(|k| lines[*k] > 0).collect();
    order.sort_by_key(|k| std::cmp::Reverse(lines[*k]));
    let mut members = vec![(0, vec![]); parts];
    members[0].0 = first;
    for k in order {
        if let Some((length, part)) = members.iter_mut().min_by_key(|(length, _)| *length) {
            *length += lines[k];
            part.push(k);
        }
    }
    let mut text =
        "\n#ifdef PART\n#define KERNEL __attribute__((visibility(\"hidden\")))\n#else\n#define KERNEL static\n#endif\n"
            .to_string();
    for (part, (_, mut statements_of)) in members.into_iter().enumerate() {
        statements_of.sort_unstable();
        let bodies: String = statements_of.iter().map(|k| shared(&statements[*k])).collect();
        let _ = write!(text, "#if !defined PART || PART == {part}\n{bodies}\n#else\n");
        bodies.lines().filter_map(declaration).for_each(|d| text.push_str(&d));
        text.push_str("#endif\n");
    }
    text
}

/// What belongs to the first part, after kernels that may be in parts.
pub fn first(text: &str, kernels: &str) -> String {
    if count(kernels) < 2 { text.into() } else { format!("#if !defined PART || PART == 0\n{text}\n#endif\n") }
}

/// A statement's functions: those that the host program calls are known to all parts.
fn shared(statement: &str) -> String {
    let line = |l: &str| match l.strip_suffix(" {").filter(|head| head.contains("static") && head.ends_with(&end())) {
        Some(head) => format!("{} {{\n", head.replacen("static", "KERNEL", 1)),
        None => format!("{l}\n"),
    };
    statement.lines().map(line).collect()
}

/// How the head of a kernel ends.
fn end() -> String {
    format!("({PARAMETERS})")
}

/// The declaration of a function that is known to all parts.
fn declaration(line: &str) -> Option<String> {
    let head = line.strip_suffix(" {").filter(|head| head.contains("KERNEL") && head.ends_with(&end()))?;
    Some(format!("{head};\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A statement of `n` lines with a kernel and a function of its own.
    fn statement(name: &str, n: usize) -> String {
        let own = format!("static int {name}_own(int x) {{\n    return x;\n}}\n");
        format!("{own}static int {name}({PARAMETERS}) {{\n{}    return {name}_own(0);\n}}\n", "    ;\n".repeat(n))
    }

    #[test]
    fn short_texts_have_one_part() {
        let text = print(vec![statement("a", 10), statement("b", 20)], 0);
        assert_eq!(text, statement("a", 10) + &statement("b", 20));
        assert_eq!(count(&text), 1);
        assert_eq!(first("host", &text), "host");
    }

    #[test]
    fn every_kernel_is_in_one_part_and_declared_in_the_others() {
        let text = print(vec![statement("a", 1500), statement("b", 700), statement("c", 900)], 0);
        assert_eq!(count(&text), 3);
        for name in ["a", "b", "c"] {
            assert_eq!(text.matches(&format!("KERNEL int {name}({PARAMETERS}) {{")).count(), 1);
            assert_eq!(text.matches(&format!("KERNEL int {name}({PARAMETERS});")).count(), 1);
            assert_eq!(text.matches(&format!("static int {name}_own(int x) {{")).count(), 1);
        }
        assert!(first("host", &text).starts_with("#if !defined PART || PART == 0\nhost"));
    }
}
