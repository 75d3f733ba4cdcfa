//! The data of kernel programs.

use accel_core::ast::{Src, deep};
use accel_core::repr::op::{Op1, Op2};
use accel_core::repr::{Agreement, RawArray, Scalar, ScalarType};
use std::ops::{Deref, DerefMut};

/// A scalar register of a [`Code`]; its type is `Code::types[reg]`.
pub type Reg = usize;
/// An array of a [`Program`]; what it is like is `Program::arrays[id]`.
pub type ArrayId = usize;
/// A place in the source, for messages: `Program::sites[site]`.
pub type SiteId = usize;

/// A closed program: arrays in, arrays out.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Every array that occurs. Each is defined once: as an input, or by one statement.
    pub arrays: Vec<ArrayInfo>,
    /// The leaves of the argument, from left to right.
    pub inputs: Vec<ArrayId>,
    /// What is computed, in order.
    pub body: Block,
    /// The leaves of the result, from left to right.
    pub results: Vec<ArrayId>,
    /// Arrays that are part of the program.
    pub literals: Vec<RawArray>,
    /// Operations and their source lines.
    pub sites: Vec<Site>,
}

/// What is known of an array: its extents are known only when the program runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayInfo {
    /// The number of dimensions.
    pub rank: usize,
    /// The scalar leaves of the elements: an array is stored as one column for each (structure of arrays).
    pub columns: Vec<ScalarType>,
}

/// An array operation of the source program.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Its name.
    pub name: &'static str,
    /// Where it was written, if known.
    pub at: Src,
    /// Whether it is that of reads that were proved to be inside, and are checked all the same. If one is not, the proof is wrong.
    pub proved: bool,
}

/// Statements that are executed one after the other.
#[derive(Debug, Default)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
}

/// NOTE [Deep nests]: programs are nested as deeply as their users like. What goes through nests by recursion, asks at every level for more
/// stack if little is left ([`deep`]); what only looks at all instructions, uses [`walk`](super::walk()) instead. What compilers
/// derive, such as copying and dropping, is recursion, too: so it is written out where a block or a list of instructions is part of another one.
impl Clone for Block {
    fn clone(&self) -> Block {
        deep(|| Block { stmts: self.stmts.clone() })
    }
}
impl Drop for Block {
    fn drop(&mut self) {
        deep(|| self.stmts.clear());
    }
}

/// A statement: an operation, and where it comes from.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What is done.
    pub op: Op,
    /// Where it comes from.
    pub site: SiteId,
}

/// The operations. Codes named `extents` give one `i64` per dimension, outermost first; a negative extent is an error, as
/// is a size that does not fit. Codes over indices have one `i64` parameter per dimension, outermost first.
#[derive(Clone, Debug)]
pub enum Op {
    /// `to = a literal`
    Literal {
        /// The array defined.
        to: ArrayId,
        /// A position in `Program::literals`.
        literal: usize,
    },
    /// `to[ix] = body(ix)` for all `ix`, in any order. Several arrays of the same extents may be defined at once; the results
    /// of the body are their columns, one array after the other.
    Loop {
        /// The arrays defined.
        to: Vec<ArrayId>,
        /// Their extents.
        extents: Code,
        /// The elements.
        body: Code,
    },
    /// `to[ix] = init . element(ix, 0) . .. . element(ix, n - 1)` for the associative operator `.`
    Reduce {
        /// The array defined.
        to: ArrayId,
        /// Its extents.
        extents: Code,
        /// What is combined.
        rows: Rows,
    },
    /// All partial reductions along the innermost dimension.
    Scan {
        /// The array defined: extents `(extents, n + 1)` with an initial value, `(extents, n)` without.
        to: ArrayId,
        /// The outer extents.
        extents: Code,
        /// From the last element to the first: `element . accumulator`, and the initial value comes at the end.
        reverse: bool,
        /// What is combined.
        rows: Rows,
    },
    /// A copy of `defaults` into which every source element is combined: `to[t] = comb(element(ix), to[t])` where `target(ix)`
    /// is `(true, t)`. The operator is associative and commutative.
    Permute {
        /// The array defined.
        to: ArrayId,
        /// What it holds at first.
        defaults: ArrayId,
        /// The extents of the source.
        extents: Code,
        /// From an index of the source: keep it? and the index of the target. Outside of the target is an error.
        target: Code,
        /// From an index of the source: the element.
        element: Code,
        /// The new and the old element to the combined one.
        comb: Code,
        /// What the operator is, if it is a well-known one.
        known: Option<Known>,
    },
    /// The same elements in row-major order under other extents; a different size is an error.
    Reshape {
        /// The array defined.
        to: ArrayId,
        /// The source.
        from: ArrayId,
        /// The new extents.
        extents: Code,
    },
    /// An error if two shapes do not agree. Nothing is defined, and no other statement relies on it: see NOTE [Shapes that agree] in
    /// `accel_core::ast::acc`.
    Agree {
        /// What is demanded.
        agreement: Agreement,
        /// One `i64` for every extent of the first shape.
        left: Code,
        /// The same for the second one.
        right: Code,
    },
    /// A conditional; `to` are the results of the block that was chosen.
    If {
        /// The arrays defined.
        to: Vec<ArrayId>,
        /// One boolean.
        cond: Code,
        /// What is done if it is true, and the results.
        then: (Block, Vec<ArrayId>),
        /// What is done if it is false, and the results.
        otherwise: (Block, Vec<ArrayId>),
    },
    /// `to = init; while cond(to) { to = body(to) }`
    While {
        /// The state: defined here, visible in both blocks, and what it is at the end.
        to: Vec<ArrayId>,
        /// The first state.
        init: Vec<ArrayId>,
        /// Computes an array of rank 0 of one boolean from the state.
        cond: (Block, ArrayId),
        /// Computes the next state.
        body: (Block, Vec<ArrayId>),
    },
    /// The statements of `body`, which can be executed together in strips of their outermost dimension: see
    /// [`crate::strip::roles`].
    Strip {
        /// The arrays of the body that are used afterwards; the others exist only within a strip.
        to: Vec<ArrayId>,
        /// The extent of the dimension: one `i64`.
        len: Code,
        /// `Loop` and `Reduce` statements.
        body: Block,
    },
}

/// Rows to be reduced or scanned.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The length of the rows: one `i64`, no parameters.
    pub len: Code,
    /// From the outer index and the position in the row: the element.
    pub element: Code,
    /// The initial value, no parameters. Without one, an empty row is an error (for a scan: an empty result).
    pub init: Option<Code>,
    /// The operator: the accumulated value and the element (in this order, for a reverse scan the other way round) to the
    /// next accumulated value.
    pub op: Code,
    /// What the operator is, if it is a well-known one.
    pub known: Option<Known>,
}

/// Well-known operators on one numeric column, recognised by their form.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Known {
    /// `a + b`
    Sum,
    /// `a * b`
    Product,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
}

/// A scalar function. Its parameters are the first registers. Every other register is set by one instruction before it is used;
/// registers set inside a branch or a loop are used only there.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Code {
    /// How many registers are parameters.
    pub params: usize,
    /// The types of all registers.
    pub types: Vec<ScalarType>,
    /// What is done.
    pub instrs: Vec<Instr>,
    /// The results.
    pub results: Vec<Reg>,
}

/// An instruction of scalar code.
#[derive(Clone, PartialEq, Debug)]
pub enum Instr {
    /// `to = x`
    Const(Reg, Scalar),
    /// `to = op(a)`
    Op1(Reg, Op1, Reg),
    /// `to = op(a, b)`; division of integers by zero is an error
    Op2(Reg, Op2, Reg, Reg),
    /// `to = ` extent `dim` of an array, outermost first
    Extent(Reg, ArrayId, usize),
    /// The columns of an element.
    Read {
        /// One register for every column.
        to: Vec<Reg>,
        /// The array.
        array: ArrayId,
        /// The index, outermost first.
        index: Vec<Reg>,
        /// Where it comes from. An index out of bounds is an error, unless it is known to be inside.
        site: SiteId,
        /// Whether the index is known to be inside.
        inside: bool,
    },
    /// A conditional.
    If {
        /// A boolean.
        cond: Reg,
        /// What is done if it is true.
        then: Instrs,
        /// What is done if it is false.
        otherwise: Instrs,
        /// `(to, a, b)`: `to = a` after `then`, `to = b` after `otherwise`.
        merge: Vec<(Reg, Reg, Reg)>,
    },
    /// A loop.
    While {
        /// `(to, init)`: the state, and what it is at first; what it is at the end.
        state: Vec<(Reg, Reg)>,
        /// Computes whether to go on from the state.
        cond: Instrs,
        /// The register of that.
        go_on: Reg,
        /// Computes the next state.
        body: Instrs,
        /// One register for every part of the state.
        next: Vec<Reg>,
    },
}

/// Instructions inside of another one: a list that can be copied, compared and dropped however deep the nest is, see NOTE [Deep nests].
#[derive(Debug, Default)]
pub struct Instrs(Vec<Instr>);

impl From<Vec<Instr>> for Instrs {
    fn from(instrs: Vec<Instr>) -> Self {
        Instrs(instrs)
    }
}
impl Deref for Instrs {
    type Target = Vec<Instr>;
    fn deref(&self) -> &Vec<Instr> {
        &self.0
    }
}
impl DerefMut for Instrs {
    fn deref_mut(&mut self) -> &mut Vec<Instr> {
        &mut self.0
    }
}
impl Clone for Instrs {
    fn clone(&self) -> Self {
        deep(|| Instrs(self.0.clone()))
    }
}
impl PartialEq for Instrs {
    fn eq(&self, other: &Self) -> bool {
        deep(|| self.0 == other.0)
    }
}
impl Drop for Instrs {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            deep(|| self.0.clear());
        }
    }
}
