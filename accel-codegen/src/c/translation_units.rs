//! Divides long programs into several translation units, so that several processes can compile them.
//!
//! All units are in one text. Compiled with the macro `PART` defined as 0, 1, …, it is only that unit, which declares
//! what it needs of the others. Compiled without the macro, it is the whole program. Kernels, which the host program
//! calls from another unit, have the prefix `KERNEL`.

use crate::cost_model::{COMPILED, UNIT, UNITS};
use crate::text::calls::PARAMETERS;
use accel_fusion::kernel::Op;
use std::fmt::{self, Write};

/// A function of a statement.
pub struct Function {
    pub head: Head,
    /// The attribute of `static` functions that are not to be optimised; it stands before that word.
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
    /// The operation of the statement.
    pub operation: &'static str,
    /// The number of the statement.
    pub number: usize,
    /// The role of the kernel in the statement, or an empty text.
    pub role: &'static str,
}

/// The name of an operation in the names of its kernels, if it has kernels.
pub fn operation(op: &Op) -> Option<&'static str> {
    match op {
        Op::Loop { .. } => Some("loop"),
        Op::Reduce { .. } => Some("fold"),
        Op::Scan { .. } => Some("scan"),
        Op::Permute { .. } => Some("permute"),
        Op::Strip { .. } => Some("strip"),
        Op::Accumulate { .. } => Some("accumulate"),
        Op::Literal { .. }
        | Op::Argsort { .. }
        | Op::Foreign { .. }
        | Op::Reshape { .. }
        | Op::Agree { .. }
        | Op::If { .. }
        | Op::While { .. }
        | Op::Keep { .. }
        | Op::Recall { .. } => None,
    }
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

    /// The first line, with this linkage for kernels.
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

    /// Keeps a kernel from being inlined where it is called.
    pub fn keep(&mut self) {
        if let Head::Kernel { attribute, .. } = &mut self.head
            && attribute.is_empty()
        {
            *attribute = "__attribute__((noinline)) ";
        }
    }

    /// The declaration of a kernel in other units.
    fn declaration(&self) -> Option<String> {
        matches!(self.head, Head::Kernel { .. }).then(|| format!("{};\n", self.head("KERNEL")))
    }
}

/// The functions, divided into units.
pub struct Units {
    pub text: String,
    /// The number of units.
    pub count: usize,
}

impl Units {
    /// Divides the functions of all statements into units, if they are long. The first unit also contains other text,
    /// which takes as long as `first` lines of functions.
    pub fn new(statements: &[Vec<Function>], first: usize) -> Units {
        let lines: Vec<usize> = statements.iter().map(|s| s.iter().map(Function::lines).sum()).collect();
        let total: usize = lines.iter().sum();
        let count = (total / UNIT).min(UNITS).max(total / COMPILED);
        if count < 2 {
            let text = statements.iter().flatten().map(|f| f.print("static")).collect();
            return Units { text, count: 1 };
        }
        // Starts with the longest statement, and adds each to the unit that is the shortest so far.
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

    /// Text that belongs to the first unit, after the functions.
    pub fn first(&self, text: &str) -> String {
        if self.count < 2 { text.into() } else { format!("#if !defined PART || PART == 0\n{text}\n#endif\n") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A statement of `n` lines, with a kernel and a function that the kernel calls.
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

    #[test]
    fn units_of_long_programs_have_a_bounded_length() {
        let statements: Vec<_> = (0..1000).map(|_| statement("long", 1000)).collect();
        let units = Units::new(&statements, 0);
        assert!(units.count >= 1000 * 1000 / COMPILED);
    }
}
