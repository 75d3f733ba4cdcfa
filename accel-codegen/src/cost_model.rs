//! The cost model: the numbers of a processor that generated code for processors is made for, and the thresholds that follow
//! from them.
//!
//! The model assumes a processor with these properties:
//! - Memory moves in lines of [`LINE`] bytes. There are caches of [`L1`], [`L2`] and [`L3`] bytes. What a loop uses again and
//!   again stays in the first one if it fits. A result that is larger than the last one is not worth a place in any.
//! - The largest vector registers have [`VECTOR`] bytes. The latency of an addition is [`LATENCY`] cycles, and
//!   [`PER_CYCLE`] additions start in each cycle. So loops keep several vectors of partial results.
//! - A statement costs its number of elements times the simple operations of an element (`ScalarFn::cost`). A simple
//!   operation takes about a third of a nanosecond. A call takes as long as [`CALL`] elements.
//! - It takes some microseconds to wake a thread, so a task has at least [`TASK`] operations. A statement has at most
//!   [`TASKS`] tasks, which keep [`THREADS`] threads busy.
//! - A C compiler takes well a function or a unit of [`COMPILED`] lines, and more than twice as long for a function of twice
//!   the size.
//!
//! These numbers are the same on every machine. Those of threads decide into how many parts sums are cut, and so the order
//! of floating-point additions: it must not depend on where a program runs. A threshold is an expression of these numbers
//! where there is a reason. The others are numbers, and their sentences say whether they were measured or only chosen. If a
//! constant is the shape of an algorithm, such as the rows of a tile of sums, it is in the file of the algorithm. The vector
//! registers of the actual machine are in `text/registers.rs`.

// ---- The machine.

/// The size of a cache line, in bytes: the unit in which memory moves, and for which two threads compete.
pub const LINE: usize = 64;
/// The size of the first-level cache of a core, in bytes: 32 KiB or more on current processors.
pub const L1: usize = 32 << 10;
/// The size of the second-level cache of a core, in bytes: 256 KiB or more on current processors.
pub const L2: usize = 256 << 10;
/// The size of the third-level cache, in bytes. Cores share it, so a statement can use all of it, or a part.
pub const L3: usize = 32 << 20;

/// The size of the largest vector registers, in bytes: those of AVX-512. Shorter ones take several for the same code.
pub const VECTOR: usize = 64;
/// The 64-bit numbers of a vector register.
pub const DOUBLES: usize = VECTOR / 8;
/// The latency of a floating-point addition, in cycles.
pub const LATENCY: usize = 4;
/// The number of additions of vectors that start in a cycle.
pub const PER_CYCLE: usize = 2;
/// The smallest number of vector registers of the processors in question: that of processors without AVX-512.
pub const REGISTERS: usize = 16;

/// The time of a call of a function that is not inlined, with its loads and stores, in simple elements.
pub const CALL: usize = 16;

/// The least work of a task, in simple operations: ten microseconds or more, since it takes some to wake a thread.
pub const TASK: usize = 1 << 15;
/// The number of threads that are kept busy.
pub const THREADS: usize = 16;
/// The largest number of tasks of a statement: several for each thread, since tasks take different times.
pub const TASKS: usize = 4 * THREADS;

/// The number of lines of C that a compiler takes well. Longer functions are not optimised, and units have about this many
/// lines, so that the time that the compiler may take for a unit is enough for programs of any length.
pub const COMPILED: usize = 20_000;

// ---- Lanes.

/// The number of lanes of a strip, and of others that compute 64-bit numbers: as many of the largest vector registers as an
/// addition has cycles, so that a sum does not wait for one addition before the next.
pub const LANES: usize = LATENCY * DOUBLES;
/// The number of elements whose loops end at different times and that are computed together. Measured: as fast as 512, and 128 take
/// a quarter longer.
pub const LEAVING: usize = 8 * LANES;
/// This many sums hide the latency of additions, in vectors.
pub const SUMS: i64 = (LATENCY * PER_CYCLE) as i64;
/// With fewer elements, most lanes of a scalar loop would be idle. Its elements take longer than those of a strip.
pub const FEW_ELEMENTS: usize = LANES / 8;
/// Below this number of rows side by side, vectors are mostly empty, so accumulated values are better kept in registers.
pub const NARROW: usize = DOUBLES;
/// The least number of elements that are selected from in lanes: combining the lanes takes as long as some elements.
pub const SELECTED: usize = 2 * LANES;
/// From this length on, rows in strips are executed one position at a time, with lanes along the row: NOTE [Strips of long
/// rows].
pub const LONG_ROW: usize = 2 * LANES;
/// From this length on, 32 rows may not fit into a cache together. Chosen: 32 of them are 1 MiB of 32 bits.
pub const LONGEST_ROW: usize = 1 << 13;
/// The interior of shorter rows does not pay for its separate loop, if C compilers use vectors for the decisions, too.
pub const INTERIOR: usize = LANES;
/// The bytes of the shortest such row, if they do not, because branches read. Measured: an interior of 8 numbers of 64 bits pays,
/// one of 14 numbers of 32 bits, which is less than a vector, does not.
pub const BRANCHING_INTERIOR: usize = 80;
/// Shorter rows are folded: NOTE [Folded rows] in `accel_fusion`. Measured: from about this length on, separate loops for the
/// interior of a row are as fast.
pub const FOLDED: usize = LANES;
/// The same for rows for which vectors gather what a loop along the row reads in order. Measured with AVX2: rows of 10 take a half to a
/// third of the time if they are not folded.
pub const GATHERED: usize = DOUBLES;

// ---- Memory.

/// The number of rows side by side that are executed together, of a scan or of a tile of a transposition: those that a line
/// of 32-bit numbers contains.
pub const SIDE_BY_SIDE: usize = LINE / 4;
/// The number of rows that are reduced or scanned side by side. Their accumulators, four of 64 bits for each row, stay in the
/// first-level cache.
pub const BLOCK: usize = L1 / (4 * 8);
/// The distance of requests for memory, in bytes. They are for the second-level cache, since the first level has better uses
/// than this much of every array.
pub const AHEAD: usize = L1 / 2;
/// Up to this number of simple operations per element, there is hardly more to compute than a sum, and the processor's own
/// requests are early enough. Measured: see the head of `shared/prefetch.rs`.
pub const QUICK: usize = 2;
/// Results of at least this size (in bytes, of all columns) are larger than the caches, so they are written around them. Only
/// x86-64 has the instructions.
pub const LARGE: usize = if cfg!(target_arch = "x86_64") { L3 } else { usize::MAX };
/// The size of the buffer of the widest column of a result that is written around the caches, in bytes: a few lines, see
/// NOTE [Non-temporal stores].
pub const PIECE: usize = 8 * LINE;
/// A strip of fewer positions than the first number does not pay if it needs more bytes than the second one. The lanes of few
/// positions are idle, so they pay only in the cache of a core. A strip that needs more than all caches never pays. In between,
/// strips of some hundred positions save less memory than they need: measured, mixtures of 50 to 200 components in 128
/// dimensions take half of the time without them.
pub const STRIPS: [(usize, usize); 3] = [(LANES, L2), (8 * LANES, 16 * L2), (usize::MAX, L3)];
/// The limit for the partial totals of all tasks of strips, in bytes, if there is more than one task. Chosen: a few times the
/// caches, as for [`COPIES`].
pub const TOTALS: usize = 2 * L3;
/// The limit for the size of all copies of a statement's sums, in bytes. Copies may exceed the caches if a single sum does,
/// too: two parts of 37 MB each took 0.75 of the time of one (XSBench's gradient, two processors).
pub const COPIES: usize = 4 * L3;

// ---- Tasks.

/// Below this number of simple operations, all work is one task.
pub const SERIAL: usize = 4 * TASK;
/// Below this number of elements, one thread combines all of them. An element takes two operations or more.
pub const SERIAL_ELEMENTS: usize = SERIAL / 2;
/// Below this number of rows, rows are split. More rows keep all threads busy without that.
pub const FEW_ROWS: usize = THREADS;
/// The shortest part of a row that is split, in elements: a few lines. Chosen.
pub const ROW_PART: usize = 2 * LINE;
/// Shorter rows are not split: they would have a single part.
pub const SPLIT_ROW: usize = 2 * ROW_PART;
/// The smallest number of neighbouring rows of a task that scans down, so that it uses whole lines of memory, and several in a
/// sequence.
pub const TASK_COLUMNS: usize = 2 * LINE;
/// Below this number of neighbouring rows, they are better reduced one by one. Chosen: half a vector of 64-bit numbers.
pub const FEW_COLUMNS: usize = DOUBLES / 2;
/// From this number of neighbouring rows on, blocks of rows keep all threads busy, so rows are not cut into parts.
pub const MANY_COLUMNS: usize = TASKS * BLOCK;
/// About the largest number of results of all parts of neighbouring rows together, since they have to be read again. So with
/// many rows there are few parts.
pub const PARTIAL_RESULTS: usize = 4 * TASKS * BLOCK;
/// The number of parts of neighbouring rows even so. Chosen.
pub const FEWEST_PARTS: usize = 8;
/// The smallest number of elements of each of the neighbouring rows in a part. Chosen.
pub const SHORTEST_PART: usize = 16;
/// The least work of a task of strips, in simple operations, as many of which are executed at once as a vector has 64-bit
/// numbers: fifty microseconds or more.
pub const STRIP_TASK: usize = DOUBLES * TASK;
/// The largest number of tasks of strips: one for each thread, since each has its own partial totals.
pub const STRIP_TASKS: usize = THREADS;

// ---- Tasks that combine elements at any targets.

/// The smallest number of elements of a part. An element takes four operations: its value, its target, a read and a write.
pub const SCATTERED: usize = TASK / 4;
/// The smallest number of elements of a part for each target, since each part has a copy of all targets. Chosen: a copy is
/// cleared, written and added.
pub const PER_TARGET: usize = 8;
/// The same if the targets of a part have at most [`CACHED_TARGETS`] bytes.
pub const PER_CACHED_TARGET: usize = 2;
/// The size of targets, in bytes, up to which they stay in the cache of a processor core.
pub const CACHED_TARGETS: usize = L2;
/// From this number of threads on, each has its own range of targets, whatever the elements. Chosen: each thread computes all
/// targets.
pub const OWN_RANGES: usize = 4;
/// The largest number of threads with ranges of their own. Chosen for the same reason.
pub const RANGES: usize = 8;
/// Fewer threads than [`OWN_RANGES`] have their own ranges only if the targets have more bytes than this, or elements at least
/// the cost [`COSTLY_ELEMENT`]. Other statements and threads use the other half of the cache.
pub const RANGED_TARGETS: usize = L3 / 2;
/// See [`RANGED_TARGETS`], in simple operations. Chosen.
pub const COSTLY_ELEMENT: usize = 64;
/// The largest number of instructions of a target that is so cheap that every thread can compute all of them. Chosen.
pub const CHEAP_TARGET: usize = 24;
/// The least number of operations of a part for each number of its copies of sums. Measured: such a number is written, read and
/// added once, which takes up to 7 ns where the copies do not stay in a cache; the operations take 3 to 50 ns.
pub const PER_COPIED: usize = 128;

// ---- Rows and operators.

/// Below this number of elements, rows are reduced without a function call for each.
pub const CALLED_ROW: usize = CALL;
/// The same for sums of integers, which C compilers add in vectors without lanes of ours.
pub const VECTORIZED_ROW: usize = 4 * LANES;
/// The largest number of instructions of an element or an operator for which several rows are reduced at a time. Chosen.
pub const SIMPLE: usize = 40;
/// The most operations of an operator of a scan that waits for itself. Longer ones keep the processor busy. Chosen.
pub const WAITING: usize = 40;
/// The largest number of pieces of a part of a scan: as many as hide the latency. Parts have more elements than this.
pub const CHAINS: usize = LATENCY;
/// The number of accumulated numbers that the registers of a processor hold besides other values. Chosen.
pub const ACCUMULATED: usize = 16;

// ---- The size of the code.

/// The approximate number of lines of a unit, as long as there are fewer than [`UNITS`] units. Chosen.
pub const UNIT: usize = 1_000;
/// The number of units that pays for processes that run at the same time. Chosen: each unit reads the whole text.
pub const UNITS: usize = 8;
/// The approximate number of statements of a function of the host program. Chosen: the compiler takes more than twice as long
/// for a function of twice the size.
pub const HOST_FUNCTION: usize = 40;
/// A scalar statement of a higher cost gets a kernel: it takes longer than the overhead of tables, and C compilers need more
/// than twice as long for a function of twice the size. Chosen.
pub const INLINED: usize = 5_000;
/// The same in a program that also has arrays. Chosen.
pub const INLINED_AMONG_ARRAYS: usize = 50;
/// The smallest number of equal statements that share kernels. Chosen: C compilers take some milliseconds for each kernel.
pub const WORTH_SHARING: usize = 4;
/// The largest number of nested conditions that are tested outside of lanes: each copies the instructions before it. Chosen.
pub const CONDITIONS: usize = 16;
/// The largest number of values of an index for which each value gets a copy of the code. Chosen.
pub const COPIED_VALUES: usize = 64;
/// The largest size of an array in a frame, in bytes: NOTE [Frames]. Chosen: a matrix of 22 by 22 numbers of 64 bits.
pub const FRAMED_ARRAY: i64 = 4096;
/// The largest size of a frame, in bytes. It stays in the first-level cache.
pub const FRAME: i64 = L1 as i64;
/// The largest number of instructions of a frame. Chosen: the time of C compilers grows with the square of the size of a function.
pub const FRAMED: usize = 4_000;
