//! The parameters of functions in OpenCL C.

use accel_fusion::kernel::ArrayId;
use std::collections::BTreeMap;
use std::fmt;

/// A parameter of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Arg {
    /// An extent of an array, an `i64`.
    Extent(ArrayId, usize),
    /// A column of an array, a buffer.
    Column(ArrayId, usize),
    /// An extent of the index space of the statement (its outer extents for rows), an `i64`.
    Space(usize),
    /// A number of the [`Launch`](crate::opencl::Launch), an `i64`.
    Number(usize),
    /// A buffer of the [`Work`](crate::opencl::Work).
    Scratch(usize),
    /// Local memory of the [`Launch`](crate::opencl::Launch).
    Local(usize),
    /// The record of what failed, a buffer of [`crate::fault::record_length`] `i64`, of which the first is 0 as long as nothing has.
    Fault,
}

/// How a parameter is declared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its type, with a star if it is an address.
    ty: String,
    name: String,
    /// Whether what it is, or the address leads to, is only read.
    constant: bool,
    /// Whether the memory is that of no other parameter.
    alone: bool,
}

impl Parameter {
    /// A number.
    pub fn number(arg: Arg) -> Parameter {
        Parameter { ty: "i64 ".into(), name: name(arg), constant: true, alone: false }
    }

    /// A buffer whose elements have a type, which includes the address space.
    pub fn buffer(ty: &str, name: String) -> Parameter {
        Parameter { ty: format!("{ty} *"), name, constant: false, alone: false }
    }

    /// The same if it is only read.
    pub fn constant(self) -> Parameter {
        Parameter { constant: true, ..self }
    }

    /// The same if no other parameter has this memory.
    pub fn alone(self) -> Parameter {
        Parameter { alone: true, ..self }
    }

    /// The same with another name, in a function where other parameters may have the same memory.
    pub fn among_others(&self, name: String) -> Parameter {
        Parameter { name, alone: false, ..self.clone() }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (constant, alone) = (if self.constant { "const " } else { "" }, if self.alone { "restrict " } else { "" });
        write!(f, "{constant}{}{alone}{}", self.ty, self.name)
    }
}

/// The parameters of a function.
#[derive(Clone, Default, Debug)]
pub struct Params(BTreeMap<Arg, Parameter>);

impl Params {
    /// Adds a parameter. What is written to stays so.
    pub fn add(&mut self, arg: Arg, parameter: Parameter) {
        let old = self.0.entry(arg).or_insert_with(|| parameter.clone());
        if old.constant {
            *old = parameter;
        }
    }

    /// What they are, in order.
    pub fn args(&self) -> impl Iterator<Item = Arg> {
        self.0.keys().copied()
    }

    /// What they are and how they are declared, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Arg, &Parameter)> {
        self.0.iter().map(|(arg, parameter)| (*arg, parameter))
    }

    /// All declarations.
    pub fn declared(&self) -> Vec<String> {
        self.0.values().map(Parameter::to_string).collect()
    }

    /// Arguments for them, each with a comma before it.
    pub fn arguments(&self, argument: impl Fn(Arg) -> String) -> String {
        self.args().map(|arg| format!(", {}", argument(arg))).collect()
    }
}

/// The name of a parameter in the text.
pub fn name(arg: Arg) -> String {
    match arg {
        Arg::Extent(a, d) => format!("a{a}_n{d}"),
        Arg::Column(a, c) => format!("a{a}_{c}"),
        Arg::Space(k) => format!("n{k}"),
        Arg::Number(k) => format!("arg{k}"),
        Arg::Scratch(k) => format!("s{k}"),
        Arg::Local(k) => format!("l{k}"),
        Arg::Fault => "fault".into(),
    }
}
