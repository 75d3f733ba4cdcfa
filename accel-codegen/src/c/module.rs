//! Generates one C file from a kernel program.

use super::host::statements;
use super::kernels::kernels;
use super::translation_units::Units;
use crate::analysis::layout::Layout;
use crate::analysis::liveness;
use crate::c::frames::Frames;
use crate::c::host::inline::are_all_numbers;
use crate::shared::ways::KnownWays;
use crate::text::declarations::Declarations;
use crate::text::dialect::Dialect;
use crate::text::registers::Vectors;
use accel_fusion::kernel::{Program, Verified};
use accel_fusion::optimize::InputExtents;

/// Identifies the sources of the generator.
pub const GENERATOR: &str = env!("ACCEL_GENERATOR");

/// The options of the generator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Whether the C library has vector versions of all mathematical functions (glibc's libmvec from 2.35 on).
    pub vector_math: bool,
    /// The vector registers of the processor.
    pub vectors: Vectors,
}

/// A C file, and what is needed to use it.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text. It defines `int accel_run(run *)`: the program, which returns 0, or 1 with a record in `fault`. For
    /// scalar programs only, it also defines `int accel_call(const scalar *given, scalar *found)`, see NOTE [Scalar
    /// programs]. If it needs one of the functions `accel_polygamma`, `accel_bessel_j`, `accel_bessel_i`, `accel_parallel`, `accel_threads`,
    /// `accel_product_f32` and `accel_product_f64`, it defines a variable with that name for the address, which must be
    /// set before use.
    pub source: String,
    /// The number of translation units in which it can be compiled: with the macro `PART` defined as 0, 1, … it is only
    /// that unit.
    pub units: usize,
    /// Whether it calls mathematical functions of the C library.
    pub calls_library: bool,
}

/// Generates the C file of a program.
pub fn emit(program: &Verified<Program>, options: Options) -> Module {
    emit_for(program, &InputExtents::default(), &KnownWays::new(), options)
}

/// Generates the C file of a program, for inputs with these extents, with these ways of its reductions and all of the others.
pub fn emit_for(program: &Verified<Program>, extents: &InputExtents, ways: &KnownWays, options: Options) -> Module {
    let layout = Layout::new(program);
    let mut body = liveness::analyse(program);
    let mut declarations = Declarations::new(program, Dialect::C);
    (declarations.vector_math, declarations.vectors) = (options.vector_math, options.vectors);
    let numbers = are_all_numbers(program);
    let frames = if numbers { Frames::none(program) } else { Frames::choose(program, extents, &mut body) };
    let functions = kernels(program, &mut declarations, &body, numbers, ways);
    let host = statements::emit(program, &layout, &frames, &mut declarations, &body, numbers, ways);
    // The host program is cold code: compilers need half as much time for each of its lines.
    let units = Units::new(&functions, host.lines().count() / 2);
    let calls_library = declarations.calls_library;
    let helpers = statements::prelude(declarations.record_length);
    let source = [PRELUDE, &helpers, &declarations.print(), &units.text, &units.first(&host)].concat();
    Module { source, units: units.count, calls_library }
}

/// Types. `job` is another name for `task`, because kernels use `task` as the name of their parameter. A backend calls
/// the code with these layouts:
/// - the tables of a run contain the extents and the columns of all arrays one after the other, see [`Layout`];
/// - a block is the memory of a column of rank 1 or more; `count` arrays share it, and it is written to only if `count`
///   is one;
/// - `allocate` returns a block with room for `n` elements of `size` bytes each, with a count of one, or null;
///   `release` takes it back;
/// - `ranges` calls a function for the positions up to `n`, each of which takes about `cost` operations, in parallel;
///   if `width` is not zero, the arrays that the function writes have this number of bytes at a position, and they share their
///   memory with no other array;
/// - `reduce` and `scan` process all rows of an operation with the functions of the statement (`rows`, `part`, `join`,
///   and `rows`, `part`, `carry`, `write`), whose result is the array `to`; `cost` is that of an element;
/// - `strip` processes all positions of a strip's dimension with the functions of the statement (the strips, and
///   `join`); its sizes are those of [`sizes`](crate::shared::strip::Strip::sizes);
/// - `argsort` sorts the rows of an array, and defines `count` arrays of its extents; each of `moved` is such an array
///   and the one whose elements move there, or -1 for positions;
/// - `foreign` calls the foreign function whose first result is the array `to`, and which has memory for its results;
/// - `keep` offers the arrays of a `Keep` to a tape; `recall` defines those of a `Recall` as the last state until `at`
///   and returns its number, or -1; `again` offers state `k` on the way from there to `at`;
/// - a tape has the memory of NOTE [Small states]: `count` states with room for `room`, of `size` bytes each; the
///   extents of their arrays, and for each column the size in bytes and a block for `Recall`.
const PRELUDE: &str = "\
typedef _Bool bool;
typedef __INT8_TYPE__ i8;
typedef __INT16_TYPE__ i16;
typedef __INT32_TYPE__ i32;
typedef __INT64_TYPE__ i64;
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef float f32;
typedef double f64;
typedef struct { const i64 *extents; void *const *columns; } array;
typedef struct { i64 from, to, row, slot, len; const i64 *extents; void *const *state; } task;
typedef task job;
typedef int function(const array *, const task *, i64 *);
typedef struct { void *data; i64 count; } block;
typedef struct { char *data; i64 count, room, size; const i64 *extents, *bytes; block *const *blocks; } tape;
typedef struct run run;
typedef struct {
    block *(*allocate)(run *, i64 n, i64 size);
    void (*release)(run *, block *);
    int (*ranges)(run *, function *, i64 width, i64 n, i64 cost, const i64 *extents);
    int (*reduce)(run *, i64 to, function *const *, i64 rows, i64 len, i64 cost, const i64 *extents);
    int (*scan)(run *, i64 to, function *const *, i64 rows, i64 len, i64 cost, const i64 *extents);
    int (*strip)(run *, function *const *, i64 n, const i64 *sizes);
    int (*argsort)(run *, i64 keys, const i64 (*moved)[2], i64 count);
    int (*foreign)(run *, i64 to);
    int (*keep)(run *, i64 tape);
    i64 (*recall)(run *, i64 tape, i64 at);
    int (*again)(run *, i64 tape, i64 k, i64 at);
} calls;
struct run { const array *arrays; i64 *extents; void **columns; block **blocks; i64 *fault; i64 site; const calls *calls; tape *tapes; };
";
