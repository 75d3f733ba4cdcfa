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
    /// The [`reciprocal`](crate::opencl::reciprocal) of an extent of the index space, an `i64`.
    Reciprocal(usize),
    /// A number of the [`Launch`](crate::opencl::Launch), an `i64`.
    Number(usize),
    /// A buffer of the [`Work`](crate::opencl::Work).
    Scratch(usize),
    /// Local memory of the [`Launch`](crate::opencl::Launch).
    Local(usize),
    /// The memory of lists: NOTE [Memory of lists]. Items of a launch of `n` items need 16 bytes, and 8 bytes for each
    /// element of each list of each item.
    Tape,
    /// The fault record: a buffer of [`crate::fault::record_length`] `i64`, the first of which is 0 until a failure.
    Fault,
}

/// The declaration of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its type, with a star if it is an address.
    ty: String,
    name: String,
    /// Whether it, or the memory that it points to, is only read.
    constant: bool,
    /// Whether no other parameter points to the same memory.
    alone: bool,
}

impl Parameter {
    /// A number.
    pub fn number(arg: Arg) -> Parameter {
        Parameter { ty: "i64 ".into(), name: name(arg), constant: true, alone: false }
    }

    /// A buffer with elements of type `ty`, which includes the address space.
    pub fn buffer(ty: &str, name: String) -> Parameter {
        Parameter { ty: format!("{ty} *"), name, constant: false, alone: false }
    }

    /// The same parameter, only read.
    pub fn constant(self) -> Parameter {
        Parameter { constant: true, ..self }
    }

    /// The same parameter, if no other parameter has this memory.
    pub fn alone(self) -> Parameter {
        Parameter { alone: true, ..self }
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
    /// Adds a parameter. If it was written to before, it stays writable.
    pub fn add(&mut self, arg: Arg, parameter: Parameter) {
        let old = self.0.entry(arg).or_insert_with(|| parameter.clone());
        if old.constant {
            *old = parameter;
        }
    }

    /// The parameters, in order.
    pub fn args(&self) -> impl Iterator<Item = Arg> {
        self.0.keys().copied()
    }

    /// The parameters with their declarations, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Arg, &Parameter)> {
        self.0.iter().map(|(arg, parameter)| (*arg, parameter))
    }

    /// All declarations.
    pub fn declared(&self) -> Vec<String> {
        self.0.values().map(Parameter::to_string).collect()
    }

    /// Arguments for the parameters, each after a comma.
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
        Arg::Reciprocal(k) => format!("over_n{k}"),
        Arg::Number(k) => format!("arg{k}"),
        Arg::Scratch(k) => format!("s{k}"),
        Arg::Local(k) => format!("l{k}"),
        Arg::Tape => "tape".into(),
        Arg::Fault => "fault".into(),
    }
}
