//! The data types of kernel programs.

use super::ids::{ArrayId, Reg, SiteId};
use accel_core::ast::{Dir, Role, Source, deep};
use accel_core::error::Error;
use accel_core::repr::op::{Op1, Op2};
use accel_core::repr::{Agreement, Call, RawArray, Scalar, ScalarType, View};
use index_vec::IndexVec;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// A closed program that computes arrays from arrays.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// All arrays. Each is defined once: as an input, or by one statement.
    pub arrays: IndexVec<ArrayId, ArrayInfo>,
    /// The leaves of the argument, from left to right.
    pub inputs: Vec<ArrayId>,
    /// The statements, in order of execution.
    pub body: Block,
    /// The leaves of the result, from left to right.
    pub results: Vec<ArrayId>,
    /// Arrays whose elements are part of the program.
    pub literals: Vec<RawArray>,
    /// Operations and their source lines.
    pub sites: IndexVec<SiteId, Site>,
}

impl Program {
    /// The number of tapes.
    pub fn tapes(&self) -> usize {
        self.body.walk().filter(|s| matches!(s.op, Op::Keep { .. })).count()
    }

    /// Whether arrays fit as arguments of this program: their number, their ranks and their element types.
    pub fn takes<'a>(&self, arguments: impl ExactSizeIterator<Item = View<'a>>) -> bool {
        let fits = |(a, id): (View<'_>, &ArrayId)| {
            let info = &self.arrays[*id];
            a.extents().len() == info.rank && a.has_elements_of(&info.columns)
        };
        arguments.len() == self.inputs.len() && arguments.zip(&self.inputs).all(fits)
    }
}

/// The static description of an array. Its extents are known only at run time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayInfo {
    /// The rank: the number of dimensions.
    pub rank: usize,
    /// The scalar components of the elements. The array stores one column for each of them (structure of arrays).
    pub columns: Vec<ScalarType>,
}

/// Where an operation comes from: a [`Source`] as plain data, which can be read from a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// The name of the function, method or operator.
    pub name: &'static str,
    /// The file of the user's source.
    pub file: &'static str,
    /// The line in it, from 1.
    pub line: u32,
    /// The column in it, from 1.
    pub column: u32,
    /// What the operation computes.
    pub role: Role,
}

impl From<Source> for Origin {
    fn from(Source { name, at, role }: Source) -> Origin {
        Origin { name, file: at.file(), line: at.line(), column: at.column(), role }
    }
}

impl fmt::Display for Origin {
    /// The place, as [`Source`] prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// An array operation of the source program.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// Its name.
    pub name: &'static str,
    /// The place in the source, if known.
    pub at: Option<Origin>,
    /// Whether the reads of this site are checked although they were proved to be within bounds. If such a check fails,
    /// the proof is wrong.
    pub proved: bool,
    /// The dimensions of which the error of an index tells, as bits; 0 for all. A slice tells of those that the user has fixed.
    pub fixed: u64,
}

impl Site {
    /// The dimensions that are fixed.
    pub fn fixed_dimensions(&self) -> Vec<usize> {
        (0..u64::BITS as usize).filter(|dim| self.fixed >> dim & 1 == 1).collect()
    }

    /// The error of an index outside of an array.
    pub fn out_of_bounds(&self, op: String, index: &[i64], shape: &[usize]) -> Error {
        let of = |told: &[usize]| told.iter().filter_map(|dim| Some((*index.get(*dim)?, *shape.get(*dim)?))).unzip();
        let (mut told, mut within): (Vec<_>, Vec<_>) = of(&self.fixed_dimensions());
        if told.is_empty() {
            (told, within) = (index.to_vec(), shape.to_vec());
        }
        Error::OutOfBounds { op, index: told, shape: within }
    }
}

/// A sequence of statements.
#[derive(Debug, Default)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
}

/// NOTE [Deep nests]: programs of users can be nested to any depth. A recursive function over nests asks at every level
/// for more stack if little is left ([`deep`]). A function that only visits all instructions uses
/// [`walk`](super::walk()), which does not recurse. Derived implementations, such as `Clone`, recurse too, and so does
/// dropping. So these are written by hand where a block or a list of instructions is part of another one.
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

/// A statement: an operation, and its place in the source.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The operation.
    pub op: Op,
    /// Its place in the source.
    pub site: SiteId,
}

/// The operations on arrays.
///
/// Scalar functions named `extents` return one `i64` per dimension, outermost first. A negative extent is an error, and
/// so is a size that does not fit in memory. Scalar functions of an index have one `i64` parameter per dimension,
/// outermost first.
#[derive(Clone, Debug)]
pub enum Op {
    /// `to = a literal`
    Literal {
        /// The array defined.
        to: ArrayId,
        /// A position in `Program::literals`.
        literal: usize,
    },
    /// `to[ix] = body(ix)` for all `ix`, in any order. A loop can define several arrays of the same extents. The
    /// results of the body are their columns, one array after the other.
    Loop {
        /// The arrays defined.
        to: Vec<ArrayId>,
        /// Their extents.
        extents: ScalarFn,
        /// The scalar function from the index to the elements.
        body: ScalarFn,
    },
    /// `to[ix] = body(ix)` for all `ix`, and sums: `sums` are copies of arrays, to whose elements the body adds (see
    /// [`Instr::Emit`]). The elements are computed in any order, each once.
    Accumulate {
        /// The arrays defined as by a loop: all have the same extents, and the results of the body are their columns.
        to: Vec<ArrayId>,
        /// The sums: the array defined, and the initial array, which has the same extents and columns. Each column is
        /// of a number type.
        sums: Vec<(ArrayId, ArrayId)>,
        /// The extents of the index space.
        extents: ScalarFn,
        /// The scalar function from the index to the elements of `to`, which also adds to the sums.
        body: ScalarFn,
    },
    /// `to[ix] = init . element(ix, 0) . .. . element(ix, n - 1)` for the associative operator `.`
    Reduce {
        /// The array defined.
        to: ArrayId,
        /// Its extents.
        extents: ScalarFn,
        /// The reduction.
        rows: Reduction,
    },
    /// All partial reductions along the innermost dimension.
    Scan {
        /// The array defined. Its extents are `(extents, n + 1)` with an initial value, and `(extents, n)` without. If the
        /// scan goes down, the last two of them are exchanged.
        to: ArrayId,
        /// The columns of the accumulated values that the array has, in ascending order: those that something uses.
        kept: Vec<usize>,
        /// The outer extents.
        extents: ScalarFn,
        /// Whether the scan goes from the last element to the first. It then combines `element . accumulator`, and the
        /// initial value comes at the end.
        reverse: bool,
        /// Whether the rows lie side by side in the array: its last index is the last outer one, and the position in the row
        /// is the index before it. Then there is an outer extent.
        down: bool,
        /// The operator, and the rows that it combines.
        rows: Reduction,
    },
    /// A copy of `defaults` with every source element combined into it: `to[t] = comb(element(ix), to[t])` where
    /// `target(ix)` is `(true, t)`. The operator is associative and commutative.
    Permute {
        /// The array defined.
        to: ArrayId,
        /// Its elements before any source element is combined into it.
        defaults: ArrayId,
        /// The extents of the source.
        extents: ScalarFn,
        /// From an index of the source: whether the element is kept, and the index of its target. A target out of
        /// bounds is an error.
        target: ScalarFn,
        /// Whether all targets are within bounds, as something checked before: NOTE [Hoisted checks].
        inside: bool,
        /// From an index of the source: the element.
        element: ScalarFn,
        /// From the new element and the old one: the combined one.
        comb: ScalarFn,
        /// The monoid of the operator, if it is a recognised one.
        monoid: Option<Monoid>,
    },
    /// Sorts each innermost row: see NOTE [Sorted order] in `accel_core::repr::order`.
    Argsort {
        /// The arrays defined, one for each array of `moved`.
        to: Vec<ArrayId>,
        /// The keys: one column, and at least one dimension.
        keys: ArrayId,
        /// What moves as the keys do: the elements of an array with the extents of the keys, or the positions of the
        /// keys, which are of type `i64`.
        moved: Vec<Option<ArrayId>>,
    },
    /// What a foreign function makes of arrays: see NOTE [Foreign functions] in `accel_core::repr::foreign`.
    Foreign {
        /// The arrays defined.
        to: Vec<ArrayId>,
        /// The function.
        call: Call,
        /// The arguments.
        from: Vec<ArrayId>,
        /// The extents of all results, one array after the other.
        extents: ScalarFn,
    },
    /// The same elements in row-major order, with other extents. A different size is an error.
    Reshape {
        /// The array defined.
        to: ArrayId,
        /// The source.
        from: ArrayId,
        /// The new extents.
        extents: ScalarFn,
    },
    /// An error if two shapes do not agree. It defines no array, and no other statement relies on it: see NOTE [Shapes
    /// that agree] in `accel_core::ast::acc`.
    Agree {
        /// The condition.
        agreement: Agreement,
        /// One `i64` for every extent of the first shape.
        left: ScalarFn,
        /// The same for the second one.
        right: ScalarFn,
    },
    /// A conditional. `to` are the results of the block that is executed.
    If {
        /// The arrays defined.
        to: Vec<ArrayId>,
        /// One boolean.
        cond: ScalarFn,
        /// The block for true, and its results.
        then: (Block, Vec<ArrayId>),
        /// The block for false, and its results.
        otherwise: (Block, Vec<ArrayId>),
    },
    /// `to = init; while .. { to = body(to) }`, and lists: arrays that get one more row in each step. A list has one more
    /// dimension than its rows, the outermost one. Rows of different extents are an error. A list without rows has extents
    /// of 0.
    While {
        /// The state, as long as `init`: defined here and visible in the blocks. After the loop, it is the last state.
        /// Behind it are the lists, which are visible only after the loop.
        to: Vec<ArrayId>,
        /// The initial state.
        init: Vec<ArrayId>,
        /// How many steps there are.
        trips: Trips,
        /// The row of the step: an array of rank 0 with one `i64`, defined here and visible only in the body. Step `k` has row
        /// `k`, or the row `n - 1 - k` if `n` steps go from the right. In this row of each list is what the step computes.
        row: Option<ArrayId>,
        /// Computes the next state, and the row of each list.
        body: (Block, Vec<ArrayId>),
    },
    /// Offers the present values of arrays to a tape, which keeps them or leaves them out: see NOTE [Kept states] in
    /// [`super::tape`]. It defines no array. Values with other extents than those before are an error.
    Keep {
        /// The number of the tape. Each tape has one `Keep` and one `Recall`.
        tape: usize,
        /// The arrays: a part of the state of the loop around this statement.
        arrays: Vec<ArrayId>,
    },
    /// The values that were offered to a tape at some time. If the tape has left them out, they are computed again:
    /// `to = the last values kept until then; while they are earlier ones { to = step(to) }`
    Recall {
        /// The arrays defined, as many as `Keep` has, of the same types. They are visible in the block, too.
        to: Vec<ArrayId>,
        /// The number of the tape.
        tape: usize,
        /// How many values were offered before: one `i64`.
        at: ScalarFn,
        /// From the values at some time: those that were offered next.
        step: (Block, Vec<ArrayId>),
    },
    /// Statements that can be executed together, in strips of their outermost dimension: see [`crate::strip::roles`].
    Strip {
        /// The arrays of the body that are used after it. The others exist only within a strip.
        to: Vec<ArrayId>,
        /// The extent of the dimension: one `i64`.
        len: ScalarFn,
        /// The statements: `Loop` and `Reduce`.
        body: Block,
    },
}

/// The steps of a loop.
#[derive(Clone, Debug)]
pub enum Trips {
    /// As long as a block computes true from the state: an array of rank 0 with one boolean.
    While(Block, ArrayId),
    /// As many as an array of rank 0 says, which is one `i64`; none if it is negative. They go through the rows from the left or
    /// from the right.
    Times(ArrayId, Dir),
}

impl Trips {
    /// The array of their number, if it is known before the loop.
    pub fn number(&self) -> Option<ArrayId> {
        match self {
            Trips::While(..) => None,
            Trips::Times(n, _) => Some(*n),
        }
    }

    /// The direction in which the steps go through the rows.
    pub fn dir(&self) -> Dir {
        match self {
            Trips::While(..) => Dir::Left,
            Trips::Times(_, dir) => *dir,
        }
    }
}

/// The extents of a scan whose rows have this number of results.
pub fn scan_extents<T: Clone>(outer: &[T], length: T, down: bool) -> Vec<T> {
    let mut all = outer.to_vec();
    all.insert(outer.len().saturating_sub(usize::from(down)), length);
    all
}

/// The rows of a reduction or a scan, and the operator that combines their elements.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// The length of the rows: one `i64`, without parameters.
    pub len: ScalarFn,
    /// From the outer index and the position in the row: the element.
    pub element: ScalarFn,
    /// The initial value, without parameters. Without an initial value, an empty row is an error (for a scan: an empty
    /// result).
    pub init: Option<ScalarFn>,
    /// The operator: from the accumulated value and the element to the next accumulated value. A reverse scan passes
    /// the element first.
    pub op: ScalarFn,
    /// The monoid of the operator, if it is a recognised one.
    pub monoid: Option<Monoid>,
}

impl Reduction {
    /// The types of the columns of the accumulated values.
    pub fn columns(&self) -> Vec<ScalarType> {
        self.op.results.iter().map(|r| self.op.types[*r]).collect()
    }
}

/// The monoids on one column that the compiler recognises by their operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Monoid {
    /// `a + b`
    Sum,
    /// `a * b`
    Product,
    /// `min(a, b)`
    Min,
    /// `max(a, b)`
    Max,
    /// `a and b`, of booleans
    And,
    /// `a or b`, of booleans
    Or,
}

/// A scalar function. Its parameters are the first registers. Every other register is set by one instruction before it
/// is used. Registers that are set inside a branch or a loop are used only there.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ScalarFn {
    /// The number of parameters.
    pub params: usize,
    /// The types of all registers.
    pub types: IndexVec<Reg, ScalarType>,
    /// The instructions.
    pub instrs: Vec<Instr>,
    /// The results.
    pub results: Vec<Reg>,
}

impl ScalarFn {
    /// The registers of the parameters.
    pub fn param_regs(&self) -> impl DoubleEndedIterator<Item = Reg> + ExactSizeIterator + use<> {
        (0..self.params).map(Reg::new)
    }

    /// The results as the body of a loop that defines these arrays: one by one, each with the registers of its columns.
    pub fn results_of(&self, to: &[ArrayId], arrays: &IndexVec<ArrayId, ArrayInfo>) -> Vec<(ArrayId, &[Reg])> {
        let mut left = &self.results[..];
        let of_array = |a: &ArrayId| {
            let (own, rest) = left.split_at(arrays[*a].columns.len());
            left = rest;
            (*a, own)
        };
        to.iter().map(of_array).collect()
    }

    /// The types of the parameters.
    pub fn param_types(&self) -> &[ScalarType] {
        &self.types.raw[..self.params]
    }
}

/// The parts of a list of extents that belong to these arrays, one after the other.
pub fn extents_of_each<'e, T>(
    to: &[ArrayId],
    extents: &'e [T],
    arrays: &IndexVec<ArrayId, ArrayInfo>,
) -> Vec<(ArrayId, &'e [T])> {
    let mut left = extents;
    let of_array = |a: &ArrayId| {
        let (own, rest) = left.split_at(arrays[*a].rank.min(left.len()));
        left = rest;
        (*a, own)
    };
    to.iter().map(of_array).collect()
}

/// An instruction of a scalar function.
#[derive(Clone, PartialEq, Debug)]
pub enum Instr {
    /// `to = x`
    Const(Reg, Scalar),
    /// `to = op(a)`
    Op1(Reg, Op1, Reg),
    /// `to = op(a, b)`; a division of integers by zero is an error
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
        /// The place in the source. An index out of bounds is an error, unless the read is marked `inside`.
        site: SiteId,
        /// Whether the index was proved to be within bounds.
        inside: bool,
    },
    /// A conditional.
    If {
        /// A boolean.
        cond: Reg,
        /// Executed if it is true.
        then: Instrs,
        /// Executed if it is false.
        otherwise: Instrs,
        /// `(to, a, b)`: `to = a` after `then`, `to = b` after `otherwise`.
        merge: Vec<(Reg, Reg, Reg)>,
    },
    /// A loop.
    While {
        /// `(to, init)`: the registers of the state, and their initial values. After the loop, they hold the last
        /// state.
        state: Vec<(Reg, Reg)>,
        /// Computes from the state whether the loop continues.
        cond: Instrs,
        /// The register with this boolean.
        continues: Reg,
        /// Computes the next state.
        body: Instrs,
        /// The next value of every register of the state.
        next: Vec<Reg>,
        /// `(to, value)`: after each execution of the body, `value` is appended to the list `to`, which is empty before
        /// the loop. The registers of lists are used by `Get` only.
        lists: Vec<(Reg, Reg)>,
    },
    /// Adds values to the columns of an element of a sum of the statement ([`Op::Accumulate`]), when it is executed: in
    /// branches and loops of the body, any number of times. Integers wrap. It occurs only in the body of this
    /// statement, which cannot read the sum.
    Emit {
        /// The sum: an array that the statement defines.
        to: ArrayId,
        /// The index, outermost first.
        index: Vec<Reg>,
        /// One value for every column.
        values: Vec<Reg>,
        /// The place in the source. An index out of bounds is an error, unless the instruction is marked `inside`.
        site: SiteId,
        /// Whether the index was proved to be within bounds.
        inside: bool,
    },
    /// `to = list[at]`: an element of a list that a loop has made. The position is within bounds.
    Get {
        /// The element.
        to: Reg,
        /// The register of the list.
        list: Reg,
        /// The position.
        at: Reg,
    },
}

/// Instructions inside another instruction: a list that can be cloned, compared and dropped at any depth of nesting,
/// see NOTE [Deep nests].
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
