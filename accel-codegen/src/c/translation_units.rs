//! The functions of a program's statements, in several translation units if they are long, so that several processes can compile them.
//!
//! The units are in one text: compiled with the macro `PART` defined as 0, 1, … it is only that unit, which declares what it needs of the
//! others. Compiled without the macro it is everything. Kernels, which the host program calls from another unit, have the prefix `KERNEL`.

use crate::text::calls::PARAMETERS;
use std::fmt::{self, Write};

/// A unit has about this many lines.
const LINES: usize = 1_000;
/// There are at most so many units.
const MOST: usize = 8;

/// A function of a statement.
pub struct Function {
    pub head: Head,
    /// `static` functions that are not to be optimised have an attribute before that word.
    pub level: &'static str,
    pub body: String,
}

/// The first line of a function.
pub enum Head {
    /// A kernel: the host program calls it.
    Kernel { attribute: &'static str, name: Name },
    /// The whole line of a function that only kernels of the same statement call.
    Own(String),
}

/// The name of a kernel, such as `fold_3_part`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    /// What the statement does.
    pub operation: &'static str,
    /// The number of the statement.
    pub number: usize,
    /// What the kernel does for it, or nothing.
    pub role: &'static str,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let low = if self.role.is_empty() { "" } else { "_" };
        write!(f, "{}_{}{low}{}", self.operation, self.number, self.role)
    }
}

impl Function {
    fn lines(&self) -> usize {
        self.body.lines().count() + 4
    }

    /// The first line, where kernels have this linkage.
    fn head(&self, linkage: &str) -> String {
        match &self.head {
            Head::Kernel { attribute, name } => format!("{}{linkage} {attribute}int {name}({PARAMETERS})", self.level),
            Head::Own(head) => format!("{}{head}", self.level),
        }
    }

    fn print(&self, linkage: &str) -> String {
        format!("\n{} {{\n{}    return 0;\n}}\n", self.head(linkage), self.body)
    }

    /// Its name, if it is a kernel.
    pub fn kernel(&self) -> Option<Name> {
        match self.head {
            Head::Kernel { name, .. } => Some(name),
            Head::Own(_) => None,
        }
    }

    /// Makes a kernel stay a function of its own where it is called.
    pub fn keep(&mut self) {
        if let Head::Kernel { attribute, .. } = &mut self.head
            && attribute.is_empty()
        {
            *attribute = "__attribute__((noinline)) ";
        }
    }

    /// Its declaration in other units.
    fn declaration(&self) -> Option<String> {
        matches!(self.head, Head::Kernel { .. }).then(|| format!("{};\n", self.head("KERNEL")))
    }
}

/// The functions as text.
pub struct Units {
    pub text: String,
    /// How many there are.
    pub count: usize,
}

impl Units {
    /// The functions of all statements, in units if they are long. The first unit also has something else that takes as long as `first`
    /// lines of functions.
    pub fn new(statements: &[Vec<Function>], first: usize) -> Units {
        let lines: Vec<usize> = statements.iter().map(|s| s.iter().map(Function::lines).sum()).collect();
        let count = (lines.iter().sum::<usize>() / LINES).min(MOST);
        if count < 2 {
            let text = statements.iter().flatten().map(|f| f.print("static")).collect();
            return Units { text, count: 1 };
        }
        // The longest ones first, each to the unit that is the shortest so far.
        let mut order: Vec<usize> = (0..statements.len()).filter(|k| lines[*k] > 0).collect();
        order.sort_by_key(|k| std::cmp::Reverse(lines[*k]));
        let mut members = vec![(0, vec![]); count];
        members[0].0 = first;
        for k in order {
            if let Some((length, unit)) = members.iter_mut().min_by_key(|(length, _)| *length) {
                *length += lines[k];
                unit.push(k);
            }
        }
        let mut text = "\n#ifdef PART\n#define KERNEL __attribute__((visibility(\"hidden\")))\n#else\n#define KERNEL static\n#endif\n"
            .to_string();
        for (unit, (_, mut statements_of)) in members.into_iter().enumerate() {
            statements_of.sort_unstable();
            let functions = || statements_of.iter().flat_map(|k| &statements[*k]);
            let bodies: String = functions().map(|f| f.print("KERNEL")).collect();
            let declarations: String = functions().filter_map(Function::declaration).collect();
            let _ = write!(text, "#if !defined PART || PART == {unit}\n{bodies}\n#else\n{declarations}#endif\n");
        }
        Units { text, count }
    }

    /// What belongs to the first unit, after the functions.
    pub fn first(&self, text: &str) -> String {
        if self.count < 2 { text.into() } else { format!("#if !defined PART || PART == 0\n{text}\n#endif\n") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A statement of `n` lines with a kernel and a function of its own.
    fn statement(name: &'static str, n: usize) -> Vec<Function> {
        let own = Function { head: Head::Own(format!("static int {name}_own(int x)")), level: "", body: String::new() };
        let name = Name { operation: name, number: 0, role: "" };
        let head = Head::Kernel { attribute: "", name };
        vec![own, Function { head, level: "", body: format!("{}    {name}_own(0);\n", "    ;\n".repeat(n)) }]
    }

    #[test]
    fn short_texts_are_one_unit() {
        let units = Units::new(&[statement("a", 10), statement("b", 20)], 0);
        assert_eq!(units.count, 1);
        assert_eq!(units.text.matches("static int").count(), 4);
        assert!(!units.text.contains("PART"), "{}", units.text);
        assert_eq!(units.first("host"), "host");
    }

    #[test]
    fn every_kernel_is_in_one_unit_and_declared_in_the_others() {
        let units = Units::new(&[statement("a", 1500), statement("b", 700), statement("c", 900)], 0);
        assert_eq!(units.count, 3);
        for name in ["a", "b", "c"] {
            assert_eq!(units.text.matches(&format!("KERNEL int {name}_0({PARAMETERS}) {{")).count(), 1);
            assert_eq!(units.text.matches(&format!("KERNEL int {name}_0({PARAMETERS});")).count(), 1);
            assert_eq!(units.text.matches(&format!("static int {name}_own(int x) {{")).count(), 1);
        }
        assert!(units.first("host").starts_with("#if !defined PART || PART == 0\nhost"));
    }
}
