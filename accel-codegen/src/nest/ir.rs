//! The data types of loop nests.

use accel_core::repr::{Scalar, ScalarType};
use accel_fusion::kernel::{ArrayId, IndexVec, Instr, Monoid, Reg, SiteId};

accel_fusion::kernel::define_index_type! {
    /// A buffer of a [`Nest`].
    pub struct BufferId = u32;
    DISPLAY_FORMAT = "{}";
}

/// The loops of one kernel function, or of a part of one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Nest {
    /// The types of all registers. Loop variables and extents are registers of type `i64`.
    pub types: IndexVec<Reg, ScalarType>,
    /// The registers that are set outside.
    pub params: Vec<Param>,
    /// The memory that the nest reads and writes.
    pub buffers: IndexVec<BufferId, Buffer>,
    /// The nodes, in order of execution.
    pub body: Vec<Node>,
}

/// A register that is set outside.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// The register. Its value is not negative if it is of type `i64`.
    pub register: Reg,
    /// The name that it has outside.
    pub name: String,
    /// A number of which it is a multiple.
    pub multiple: i64,
    /// The smallest number that it can be, if this is known.
    pub least: Option<i64>,
    /// The largest number that it can be, if this is known.
    pub most: Option<i64>,
}

/// Memory of numbers of one type, in row-major order.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    /// The type of the numbers.
    pub ty: ScalarType,
    /// Where the numbers are.
    pub space: Space,
    /// The extents, outermost first.
    pub extents: Vec<Affine>,
}

/// Where the numbers of a buffer are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// A column of an array in memory.
    Array(ArrayId, usize),
    /// A column of an array in the working memory of a strip. The lane is the innermost dimension.
    Strip(ArrayId, usize),
    /// A column of a task's partial total.
    Total(ArrayId, usize),
    /// Registers of the processor, or memory of the function. It begins at an [`Alloc`](Node::Alloc). Each task and each item
    /// has its own.
    Local,
    /// Memory that the items of a group have in common. It begins at an [`Alloc`](Node::Alloc).
    Group,
}

impl Space {
    /// Whether the memory begins at an [`Alloc`](Node::Alloc), so that no other buffer is the same memory.
    pub fn begins_inside(self) -> bool {
        matches!(self, Space::Local | Space::Group)
    }
}

/// A sum of multiples of registers, and a constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Affine {
    /// The registers, in ascending order, each once, with factors that are not zero.
    pub terms: Vec<(Reg, i64)>,
    /// The constant.
    pub constant: i64,
}

/// A number in a buffer: an index for each extent.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// The buffer.
    pub buffer: BufferId,
    /// The index, outermost first.
    pub index: Vec<Affine>,
    /// What is known about the index.
    pub bounds: Bounds,
}

/// What is known about an index.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Bounds {
    /// It is within the bounds.
    Proved,
    /// It is checked. If it is out of bounds, the nest fails at this site.
    Checked(SiteId),
    /// It may be out of bounds. There, this number is read, and nothing is written.
    Masked(Scalar),
}

/// Why a nest fails: what is written to the [record](crate::fault).
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// The kind of the fault.
    pub kind: i64,
    /// The place in the source.
    pub site: SiteId,
    /// What fails, as a number.
    pub what: usize,
    /// The numbers that belong to it.
    pub numbers: Vec<Affine>,
}

/// `smaller < larger`
#[derive(Clone, PartialEq, Debug)]
pub struct Guard {
    /// The smaller number.
    pub smaller: Affine,
    /// The larger number.
    pub larger: Affine,
}

/// One step of a nest.
#[derive(Clone, PartialEq, Debug)]
pub enum Node {
    /// A loop.
    For(For),
    /// Scalar code.
    Let(Instr),
    /// `to = value`, and `limit - 1` if this is less
    Index {
        /// The register that is set.
        to: Reg,
        /// The value.
        value: Affine,
        /// The number that the value stays below.
        limit: Option<Affine>,
    },
    /// `to = from`
    Load {
        /// The register that is set.
        to: Reg,
        /// The number that is read.
        from: Place,
    },
    /// `to = value`
    Store {
        /// The number that is written.
        to: Place,
        /// The register with its new value.
        value: Reg,
        /// Whether the number bypasses the caches, because its next use is far: NOTE \[Non-temporal stores\].
        around: bool,
    },
    /// Requests the number at a place, which need not exist, from memory. It will be read later: NOTE \[Prefetching\].
    Prefetch(Place),
    /// `to = to . value` for a monoid, or `to = to . (value * times)`, which may be rounded once: NOTE [Fused multiply-add].
    /// The order of additions is undefined.
    Acc {
        /// The number that is combined.
        to: Place,
        /// The operator.
        monoid: Monoid,
        /// The register with the other operand.
        value: Reg,
        /// Its factor.
        times: Option<Reg>,
    },
    /// Combines each number of `to`, if its guards hold, with all numbers of a local vector of its own.
    AccLanes {
        /// The operator.
        monoid: Monoid,
        /// The numbers that are combined, their guards, and the vectors.
        all: Vec<(Vec<Guard>, Place, BufferId)>,
    },
    /// `to[.., p, q] = from[.., q, .., p]` for all `p` and `q` below `n`, from the given places on. In `from`, `q` belongs to
    /// dimension `dim`.
    Transpose {
        /// The first number that is written.
        to: Place,
        /// The first number that is read.
        from: Place,
        /// The dimension of `from` that becomes the last one.
        dim: usize,
        /// The number of rows and columns.
        n: i64,
    },
    /// A buffer in local memory or in that of a group begins, with undefined numbers.
    Alloc(BufferId),
    /// Execution ends.
    Fail(Failure),
    /// Each item of a group waits for all others. Then it sees what they have written, and they do not see what it writes
    /// afterwards.
    Barrier,
    /// The body, if all guards hold.
    If {
        /// The guards.
        guards: Vec<Guard>,
        /// The body.
        body: Vec<Node>,
    },
}

/// `for var = from, from + step, .. below to`; only whole steps if `whole`: while `var + step <= to`.
#[derive(Clone, PartialEq, Debug)]
pub struct For {
    /// The loop variable.
    pub var: Reg,
    /// Its first value.
    pub from: Affine,
    /// The number that it stays below.
    pub to: Affine,
    /// The difference of its values.
    pub step: i64,
    /// Whether the last step is left out if it exceeds `to`.
    pub whole: bool,
    /// How the loop is executed.
    pub bind: Bind,
    /// The body.
    pub body: Vec<Node>,
}

/// How a loop is executed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bind {
    /// One iteration after the other.
    Seq,
    /// The iterations are divided among tasks. What is outside such a loop, every task executes.
    Parallel,
    /// All iterations at once, as the elements of vectors.
    Vector,
    /// One iteration after the other. The compiler makes a copy of the body for each.
    Unroll,
    /// An iteration for each group of items, in one of three dimensions. Groups execute their iterations at the same time.
    Group(u8),
    /// An iteration for each item of a group, in one of three dimensions. Items execute their iterations at the same time, and
    /// wait for each other at barriers.
    Item(u8),
}

impl Bind {
    /// Whether different tasks, groups or items execute the iterations.
    pub fn divides(self) -> bool {
        matches!(self, Bind::Parallel | Bind::Group(_) | Bind::Item(_))
    }
}

impl Affine {
    /// A constant.
    pub fn constant(constant: i64) -> Affine {
        Affine { terms: vec![], constant }
    }

    /// The number, if no register occurs.
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The register, if it is nothing else.
    pub fn as_register(&self) -> Option<Reg> {
        match self.terms[..] {
            [(r, 1)] if self.constant == 0 => Some(r),
            _ => None,
        }
    }

    /// The factor of a register.
    pub fn factor(&self, r: Reg) -> i64 {
        self.terms.iter().find(|t| t.0 == r).map_or(0, |t| t.1)
    }

    /// Whether a register occurs.
    pub fn contains(&self, r: Reg) -> bool {
        self.factor(r) != 0
    }

    /// The sum with a multiple of another one; `None` if a number is too large.
    pub fn plus(&self, other: &Affine, times: i64) -> Option<Affine> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant.checked_mul(times)?)?;
        for (r, k) in &other.terms {
            let k = k.checked_mul(times)?;
            match sum.terms.binary_search_by_key(r, |t| t.0) {
                Ok(at) => {
                    sum.terms[at].1 = sum.terms[at].1.checked_add(k)?;
                }
                Err(at) => sum.terms.insert(at, (*r, k)),
            }
        }
        sum.terms.retain(|t| t.1 != 0);
        Some(sum)
    }

    /// With another sum in place of a register.
    pub fn replaced(&self, r: Reg, by: &Affine) -> Option<Affine> {
        let factor = self.factor(r);
        if factor == 0 {
            return Some(self.clone());
        }
        let mut rest = self.clone();
        rest.terms.retain(|t| t.0 != r);
        rest.plus(by, factor)
    }

    /// With the sums of `of` in place of the registers that have one, also in these sums.
    pub fn expanded<'a>(&'a self, of: &impl Fn(Reg) -> Option<&'a Affine>) -> Option<Affine> {
        self.terms.iter().try_fold(Affine::constant(self.constant), |sum, (r, k)| match of(*r) {
            Some(own) => sum.plus(&own.expanded(of)?, *k),
            None => sum.plus(&Affine::from(*r), *k),
        })
    }
}

impl From<Reg> for Affine {
    fn from(r: Reg) -> Affine {
        Affine { terms: vec![(r, 1)], constant: 0 }
    }
}

impl Place {
    /// A place that is known to exist.
    pub fn new(buffer: BufferId, index: Vec<Affine>) -> Place {
        Place { buffer, index, bounds: Bounds::Proved }
    }

    /// Whether it is known to exist.
    pub fn is_proved(&self) -> bool {
        self.bounds == Bounds::Proved
    }
}

impl Nest {
    /// A new register.
    pub fn register(&mut self, ty: ScalarType) -> Reg {
        self.types.push(ty)
    }

    /// A new local buffer.
    pub fn local(&mut self, ty: ScalarType, extents: &[i64]) -> BufferId {
        let extents = extents.iter().map(|n| Affine::constant(*n)).collect();
        self.buffers.push(Buffer { ty, space: Space::Local, extents })
    }
}

impl Node {
    /// A store.
    pub fn store(to: Place, value: Reg) -> Node {
        Node::Store { to, value, around: false }
    }

    /// The registers that the node itself sets.
    pub fn sets(&self) -> Vec<Reg> {
        match self {
            Node::For(f) => vec![f.var],
            Node::Let(i) => i.sets().to_vec(),
            Node::Index { to, .. } | Node::Load { to, .. } => vec![*to],
            Node::Store { .. }
            | Node::Prefetch(_)
            | Node::Acc { .. }
            | Node::AccLanes { .. }
            | Node::Transpose { .. }
            | Node::Alloc(_)
            | Node::Fail(_)
            | Node::Barrier
            | Node::If { .. } => vec![],
        }
    }

    /// The nodes inside.
    pub fn inner(&self) -> &[Node] {
        match self {
            Node::For(f) => &f.body,
            Node::If { body, .. } => body,
            Node::Let(_)
            | Node::Index { .. }
            | Node::Load { .. }
            | Node::Store { .. }
            | Node::Prefetch(_)
            | Node::Acc { .. }
            | Node::AccLanes { .. }
            | Node::Transpose { .. }
            | Node::Alloc(_)
            | Node::Fail(_)
            | Node::Barrier => &[],
        }
    }
}

impl Guard {
    /// Both numbers.
    pub fn sides(&self) -> [&Affine; 2] {
        [&self.smaller, &self.larger]
    }
}
