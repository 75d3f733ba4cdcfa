//! Sorting: a merge sort whose merges are cut into equal parts.
//!
//! NOTE [Merge sort on devices]: the first launch sorts short runs, each by one item. Each further launch merges all
//! pairs of adjacent runs, so that runs become twice as long. Every item computes an equal part of the result, wherever
//! the runs begin and end: the first `d` elements of a merged pair are the first `i` of one run and the first `d - i` of
//! the other one, and the item finds `i` for its first element by binary search. (O. Green, R. McColl, D. Bader: GPU
//! Merge Path, 2012.) Thus all items have the same work for rows of all lengths. An item takes equal keys from the first
//! run, so the sort is stable.
//!
//! The launches move sort keys together with positions: see NOTE [Sorted order] in `accel_core::repr::order`. They read
//! one pair of buffers and write the other one. A last launch moves elements to their positions.

use super::emitter::Emitter;
use super::launch;
use super::target::Target;
use super::work::{Kernel, Launch, Sizes, Work, size_of};
use crate::analysis::liveness::Step;
use crate::text::types::{is_signed, unsigned, width};
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::ArrayId;

/// The length of the runs that a single item sorts. The work for a run grows with its square, and runs of twice the length save one
/// launch. Chosen.
const RUN: usize = 16;
/// The number of elements that an item merges. They share its binary search, two loads for each doubling of the row; with more, short
/// rows have too few items. Chosen.
const MERGED: usize = 16;

/// The kernels of a sort. The first one of each pair writes the positions to their final place, the second one to a
/// buffer.
#[derive(Clone, Debug)]
pub struct Sorting {
    key: ScalarType,
    runs: [Kernel; 2],
    merge: [Kernel; 2],
    /// Whether a buffer for the positions is needed, because no array of the statement gets them.
    needs_positions: bool,
    /// Moves elements to their positions, if there are any.
    gather: Option<Kernel>,
}

impl Sorting {
    /// Generates the kernels.
    pub fn new(e: &mut Emitter, s: &Step, to: &[ArrayId], keys: ArrayId, moved: &[Option<ArrayId>]) -> Sorting {
        let key = e.program.arrays[keys].columns[0];
        let all = || to.iter().copied().zip(moved.iter().copied());
        let to = all().find(|(_, from)| from.is_none()).map(|(to, _)| to);
        let others: Vec<_> = all().filter(|(a, _)| Some(*a) != to).collect();
        let sides = [0, 1];
        let runs = sides.map(|side| {
            let name = format!("sort_{}_runs_{side}", s.number);
            e.kernel_of(s, &name, 0, 3, |w| w.sort_runs(to, keys, key, side))
        });
        let merge = sides.map(|side| {
            let name = format!("sort_{}_merge_{side}", s.number);
            e.kernel_of(s, &name, 0, 4, |w| w.merge_runs(to, key, side))
        });
        let gather = (!others.is_empty())
            .then(|| e.kernel_of(s, &format!("sort_{}_gather", s.number), 0, 3, |w| w.gather_moved(to, key, &others)));
        Sorting { key, runs, merge, needs_positions: to.is_none(), gather }
    }

    pub fn work(&self, sizes: &Sizes, target: &Target) -> Work {
        let (rows, len) = (launch::count(sizes.space), sizes.len as usize);
        let n = rows * len;
        if n == 0 {
            return Work::default();
        }
        let runs = rows * len.div_ceil(RUN);
        let widths: Vec<usize> = std::iter::successors(Some(RUN), |w| Some(2 * w)).take_while(|w| *w < len).collect();
        let mut side = widths.len() % 2;
        let first = launch(&self.runs[side], runs, 1, &[len], target);
        let merge = |width: &usize| {
            side = 1 - side;
            launch(&self.merge[side], n, MERGED, &[len, *width], target)
        };
        let launches = [first].into_iter().chain(widths.iter().map(merge));
        let gather = self.gather.iter().map(|kernel| launch(kernel, n, 1, &[len], target));
        let launches: Vec<Launch> = launches.chain(gather).collect();
        let positions = size_of(ScalarType::I64, n);
        let mut scratch = vec![size_of(self.key, n), size_of(self.key, n), positions];
        scratch.extend(self.needs_positions.then_some(positions));
        Work { scratch, launches }
    }
}

/// A launch for `n` parts of the work, of which each item has `each`.
fn launch(kernel: &Kernel, n: usize, each: usize, numbers: &[usize], target: &Target) -> Launch {
    let numbers = [each, n].iter().chain(numbers).map(|x| *x as i64).collect();
    launch::items(kernel, n.div_ceil(each), numbers, target)
}

/// The function from the bits of an element to its sort key.
fn key_function(t: ScalarType) -> String {
    let (u, sign) = (unsigned(t), format!("(({})1 << {})", unsigned(t), width(t) - 1));
    let body = match t {
        ScalarType::F32 | ScalarType::F64 => {
            let infinity = if t == ScalarType::F32 { "0x7f800000u" } else { "0x7ff0000000000000ul" };
            format!(
                "const {u} magnitude = bits & ~{sign};\n    if (magnitude > {infinity}) return ~({u})0;\n    \
                 return bits & {sign} ? {sign} - magnitude : bits | {sign};"
            )
        }
        _ if is_signed(t) => format!("return bits ^ {sign};"),
        _ => "return bits;".into(),
    };
    format!("static {u} sort_key_{t}(const {u} bits) {{\n    {body}\n}}")
}

impl Writer<'_> {
    /// Declares the buffers of a side, with a suffix for their names.
    fn side(&mut self, to: Option<ArrayId>, key: ScalarType, side: usize, suffix: &str) {
        let u = unsigned(key);
        self.scratch(side, &u);
        self.line(format!("global {u} *const keys{suffix} = s{side};"));
        let positions = match (side, to) {
            (0, Some(to)) => {
                self.hoist_output(to, false);
                format!("a{to}_0")
            }
            _ => {
                self.scratch(3 - side, "i64");
                format!("s{}", 3 - side)
            }
        };
        self.line(format!("global i64 *const positions{suffix} = {positions};"));
    }

    /// Moves elements to their positions: item `g` has the `arg0` elements from `g * arg0` on, of `arg1`. The length of
    /// rows is `arg2`.
    fn gather_moved(&mut self, to: Option<ArrayId>, key: ScalarType, moved: &[(ArrayId, Option<ArrayId>)]) {
        self.side(to, key, 0, "");
        for (to, from) in moved {
            self.hoist_output(*to, false);
            let columns = from.map_or(0, |a| self.columns(a).len());
            (0..columns).for_each(|c| from.iter().for_each(|a| self.hoist_column(*a, c, "const ")));
        }
        self.line("const i64 item = get_global_id(0);");
        self.braces("for (i64 i = item * arg0; i < min((item + 1) * arg0, arg1); i++)", |w| {
            w.line("const i64 from = i / arg2 * arg2 + positions[i];");
            for (to, from) in moved {
                for c in 0..w.columns(*to).len() {
                    match from {
                        Some(from) => w.line(format!("a{to}_{c}[i] = a{from}_{c}[from];")),
                        None => w.line(format!("a{to}_{c}[i] = positions[i];")),
                    }
                }
            }
        });
    }

    /// Sorts runs, each by insertion: item `g` has the `arg0` runs from `g * arg0` on, of `arg1`. The length of rows is
    /// `arg2`.
    fn sort_runs(&mut self, to: Option<ArrayId>, keys: ArrayId, key: ScalarType, side: usize) {
        let u = unsigned(key);
        self.declarations.declare_once(&format!("sort_key_{key}"), || key_function(key));
        self.hoist_column(keys, 0, "const ");
        self.side(to, key, side, "");
        self.line(format!("const global {u} *const from = (const global {u} *)a{keys}_0;"));
        self.line(format!("const i64 item = get_global_id(0), runs = (arg2 + {RUN} - 1) / {RUN};"));
        self.braces("for (i64 run = item * arg0; run < min((item + 1) * arg0, arg1); run++)", |w| {
            w.line(format!("const i64 row = run / runs * arg2, first = row + run % runs * {RUN};"));
            w.braces(&format!("for (i64 i = first; i < min(first + {RUN}, row + arg2); i++)"), |w| {
                w.line(format!("const {u} key = sort_key_{key}(from[i]);"));
                w.line("i64 k = i;");
                w.braces("for (; k > first && keys[k - 1] > key; k--)", |w| {
                    w.line("keys[k] = keys[k - 1];");
                    w.line("positions[k] = positions[k - 1];");
                });
                w.line("keys[k] = key;");
                w.line("positions[k] = i - row;");
            });
        });
    }

    /// Merges pairs of runs: item `g` has the `arg0` elements of the result from `g * arg0` on, of `arg1`. The length of
    /// rows is `arg2`, that of the runs `arg3`.
    fn merge_runs(&mut self, to: Option<ArrayId>, key: ScalarType, side: usize) {
        self.side(to, key, 1 - side, "");
        self.side(to, key, side, "_to");
        self.line("const i64 item = get_global_id(0), end = min((item + 1) * arg0, arg1);");
        self.braces("for (i64 o = item * arg0; o < end;)", |w| {
            w.line("const i64 row = o / arg2 * arg2, pair = row + (o - row) / (2 * arg3) * (2 * arg3);");
            w.line("const i64 middle = min(pair + arg3, row + arg2), stop = min(middle + arg3, row + arg2);");
            w.line("// The first `o - pair` elements are `low` of the first run, and others of the second one.");
            w.line("i64 low = max(o - pair - (stop - middle), (i64)0), high = min(o, middle) - pair;");
            w.braces("while (low < high)", |w| {
                w.line("const i64 i = (low + high) / 2;");
                w.line("if (keys[pair + i] <= keys[middle + o - pair - 1 - i]) low = i + 1; else high = i;");
            });
            w.line("i64 i = pair + low, k = middle + o - pair - low;");
            w.braces("for (const i64 last = min(end, stop); o < last; o++)", |w| {
                w.line("const i64 next = k >= stop || i < middle && keys[i] <= keys[k] ? i++ : k++;");
                w.line("keys_to[o] = keys[next];");
                w.line("positions_to[o] = positions[next];");
            });
        });
    }
}
