//! Tiled matrix products, for GPUs: each work-group computes a tile of the result, each of its items 4 by 4 numbers.
//!
//! For every sixteen steps along the reduced dimension, the group copies the pieces of both operands that it needs to
//! local memory. Neighbouring items read along the dimension in which the operand is contiguous. The numbers for the
//! next sixteen steps are loaded while the group multiplies: NOTE [Loads in flight].
//!
//! NOTE [Split products]: tiles of 64 by 64 need the fewest loads for each multiplication, but a result of 32 rows or
//! columns would fill only half of a tile. So it gets tiles of 32 by 32, with smaller groups. If there are too few
//! tiles to keep the device busy, as for few results that are sums of very many products, the reduced dimension is
//! split into parts. Each part has its own groups, and another kernel adds their results, always in the same order.

use super::emitter::Emitter;
use super::target::Target;
use super::work::{Kernel, Launch, Sizes, Work, size_of};
use super::{launch, row_major};
use crate::analysis::liveness::Step;
use crate::text::parameters::{Arg, Parameter};
use crate::text::types::bytes;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Computed, Contraction, Reduction, Role};

/// The number of steps along the reduced dimension that are in local memory at the same time. Twice as many of `f64` would not fit into
/// 32 KB, the least local memory that OpenCL demands.
const DEPTH: usize = 16;
/// The smallest number of steps of a part. A part writes its results, and another kernel reads them, so it should multiply many times
/// as often. Chosen.
const PART: usize = 8 * DEPTH;
/// The number of rows and columns of an item: it loads 8 numbers for 16 multiplications. Twice as many would need 64 registers for sums.
const EACH: usize = 4;
/// A product of fewer multiplications does not fill a small tile, so other kernels compute it.
const WORTH: usize = SMALL.side * SMALL.side * SMALL.side;

/// A size of tiles. A group computes each tile.
#[derive(Clone, Copy)]
struct Tile {
    /// The number of rows and of columns of a tile.
    side: usize,
    /// The number of groups that keep a compute unit busy.
    busy: usize,
}

const SMALL: Tile = Tile { side: 32, busy: 16 };
const LARGE: Tile = Tile { side: 64, busy: 2 };

impl Tile {
    /// The number of items of a group.
    const fn items(self) -> usize {
        (self.side / EACH) * (self.side / EACH)
    }

    /// The number of elements of each operand that an item copies.
    const fn copies(self) -> usize {
        self.side * DEPTH / self.items()
    }

    /// The distance of the lines of a tile in local memory. It is a few numbers more than the width, so that items that
    /// copy different lines at the same time do not wait for the same bank. It is a multiple of four, because lines are
    /// read in vectors of four.
    const fn line(self) -> usize {
        self.side + EACH
    }
}

/// The kernels of a product.
#[derive(Clone, Debug)]
pub struct Tiled {
    ty: ScalarType,
    roles: Vec<Role>,
    small: Kernel,
    large: Kernel,
    /// Adds the results of the parts.
    join: Kernel,
}

impl Tiled {
    /// Generates the kernels, if the device supports groups of this size.
    pub fn new(
        e: &mut Emitter,
        s: &Step,
        to: ArrayId,
        outer: usize,
        rows: &Reduction,
        c: &Contraction<Computed>,
    ) -> Option<Tiled> {
        let room = 2 * LARGE.line() * DEPTH * bytes(c.ty) as usize;
        if e.target.largest_group < LARGE.items() || e.target.local_memory < room {
            return None;
        }
        let mut print = |tile: Tile| {
            let name = format!("product_{}_{}", s.number, tile.side);
            e.kernel_of(s, &name, outer, 3, |w| w.tile_of_group(tile, to, outer, rows, c))
        };
        let (small, large) = (print(SMALL), print(LARGE));
        let join = format!("product_{}_join", s.number);
        e.function(s, &join, |w| {
            w.scratch(0, &c.ty.to_string());
            (0..2).for_each(|k| w.params.add(Arg::Number(k), Parameter::number(Arg::Number(k))));
            w.factor_and_init(to, rows, c);
            w.line(format!("{} sum = s0[p];", c.ty));
            w.line("for (P part = 1; part < (P)arg1; part++) sum += s0[part * (P)arg0 + p];");
            w.line(format!("a{to}_0[p] = init + factor * sum;"));
            format!("static int {join}({}, const P p)", w.parameters())
        });
        Some(Tiled { ty: c.ty, roles: c.roles.clone(), small, large, join: e.grid_kernel(&join) })
    }

    /// The launches, if the product is large enough.
    pub fn work(&self, sizes: &Sizes, target: &Target) -> Option<Work> {
        let size = |role| row_major::count(&self.roles, role, sizes.space);
        let (batch, rows, columns, len) = (size(Role::Batch), size(Role::Row), size(Role::Column), sizes.len as usize);
        if rows.min(columns).min(len) < EACH || rows.saturating_mul(columns).saturating_mul(len) < WORTH {
            return None;
        }
        let (kernel, tile) = if rows.min(columns) <= SMALL.side { (&self.small, SMALL) } else { (&self.large, LARGE) };
        let tiles = batch * rows.div_ceil(tile.side) * columns.div_ceil(tile.side);
        let parts = (target.units * tile.busy / tiles).clamp(1, len.div_ceil(PART));
        let size = len.div_ceil(parts).next_multiple_of(DEPTH);
        let parts = len.div_ceil(size);
        let numbers = [len, size, parts].map(|n| n as i64).to_vec();
        let global = [tiles * parts * tile.items(), 1];
        let mut launches =
            vec![Launch { kernel: kernel.clone(), global, group: [tile.items(), 1], numbers, local: vec![] }];
        let mut scratch = 1;
        if parts > 1 {
            let results = batch * rows * columns;
            scratch = parts * results;
            launches.push(launch::items(&self.join, results, vec![results as i64, parts as i64], target));
        }
        Some(Work { scratch: vec![size_of(self.ty, scratch)], launches })
    }
}

/// The vectors of [`EACH`] numbers.
fn vector(t: ScalarType) -> &'static str {
    if t == ScalarType::F32 { "float4" } else { "double4" }
}

/// The operands with their names in the text, each with the role of the dimensions that only it has, the start of the
/// tile along them, and their size.
fn operands(c: &Contraction<Computed>) -> [(&'static str, &Computed, Role, &'static str, &'static str); 2] {
    [("left", &c.left, Role::Row, "top", "height"), ("right", &c.right, Role::Column, "start", "width")]
}

impl Writer<'_> {
    /// Declares `factor` and `init`: the factor of all products, and the initial value of the sums.
    fn factor_and_init(&mut self, to: ArrayId, rows: &Reduction, c: &Contraction<Computed>) {
        self.hoist(&rows.init.iter().chain([&c.factor]).collect::<Vec<_>>());
        self.hoist_output(to, false);
        self.line(format!("{} factor, init = 0;", c.ty));
        self.code(&c.factor, &[], &["factor".into()]);
        if let Some(init) = &rows.init {
            self.code(init, &[], &["init".into()]);
        }
    }

    fn tile_of_group(&mut self, tile: Tile, to: ArrayId, outer: usize, rows: &Reduction, c: &Contraction<Computed>) {
        let (t, side) = (c.ty, tile.side);
        self.factor_and_init(to, rows, c);
        self.scratch(0, &t.to_string());
        let extent = |p: usize| format!("(P)n{p}");
        let [batches, height, width] =
            [Role::Batch, Role::Row, Role::Column].map(|role| row_major::size(c, role, "(P)1", extent));
        self.line(format!("const P height = {height}, width = {width};"));
        self.line(format!("const P high = (height + {0}) / {side}, wide = (width + {0}) / {side};", side - 1));
        self.line("const P group = get_group_id(0), part = group % (P)arg2, tile = group / (P)arg2;");
        self.line(format!("const P batch = tile / (high * wide), top = tile / wide % high * {side};"));
        self.line(format!("const P start = tile % wide * {side};"));
        self.line("const P from = part * (P)arg1, to = min(from + (P)arg1, (P)arg0);");
        self.line("const int item = get_local_id(0);");
        self.line(format!("const int down = item / {0} * {EACH}, along = item % {0} * {EACH};", side / EACH));
        for (name, o, role, first, size) in operands(c) {
            self.places(tile, name, o, c, role, [first, size]);
        }
        let four = vector(t);
        let all = || (0..EACH).flat_map(|i| (0..EACH).map(move |j| (i, j)));
        all().for_each(|(i, j)| self.line(format!("{t} y{i}_{j} = 0;")));
        self.load(tile, c, "from");
        self.braces(&format!("for (P k = from; k < to; k += {DEPTH})"), |w| {
            operands(c).into_iter().for_each(|(name, o, ..)| w.copy(tile, name, o));
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
            w.load(tile, c, &format!("k + {DEPTH}"));
            w.braces(&format!("for (int d = 0; d < {DEPTH}; d++)"), |w| {
                for (v, name, at) in [("b", "left", "down"), ("c", "right", "along")] {
                    w.line(format!("const {four} {v} = *(const local {four} *)({name} + d * {} + {at});", tile.line()));
                }
                all().for_each(|(i, j)| w.line(format!("y{i}_{j} = fma(b.s{i}, c.s{j}, y{i}_{j});")));
            });
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        });
        self.braces("if (arg2 == 1)", |w| {
            all().for_each(|(i, j)| w.line(format!("y{i}_{j} = init + factor * y{i}_{j};")));
        });
        self.line(format!("global {t} *const out = arg2 == 1 ? a{to}_0 : s0 + part * ({batches} * height * width);"));
        self.store_tile_of_item(outer, c);
    }

    /// Writes the numbers of an item that are within the result to `out`.
    fn store_tile_of_item(&mut self, outer: usize, c: &Contraction<Computed>) {
        let t = c.ty;
        let extent = |p: usize| format!("(P)n{p}");
        let stride = |p: usize| -> String {
            let inner: String = (p + 1..outer).map(|k| format!(" * n{k}")).collect();
            format!("1{inner}")
        };
        self.line("P base;");
        self.offset("base", "batch", &row_major::dims(c, Role::Batch), extent, stride);
        for i in 0..EACH {
            self.line(format!("P row{i}, column{i};"));
            let last = |first: &str, side: &str, size: &str| format!("min({first} + {side} + {i}, {size} - 1)");
            let (row, column) = (last("top", "down", "height"), last("start", "along", "width"));
            self.offset(&format!("row{i}"), &row, &row_major::dims(c, Role::Row), extent, stride);
            self.offset(&format!("column{i}"), &column, &row_major::dims(c, Role::Column), extent, stride);
        }
        let inside = |i: usize| format!("top + down + {i} < height");
        let scalars = |w: &mut Self| {
            for (i, j) in (0..EACH).flat_map(|i| (0..EACH).map(move |j| (i, j))) {
                let inside = inside(i);
                w.line(format!(
                    "if ({inside} && start + along + {j} < width) out[base + row{i} + column{j}] = y{i}_{j};"
                ));
            }
        };
        if c.roles[outer - 1] != Role::Column {
            return scalars(self);
        }
        // Vectors of 16 bytes, where four columns are adjacent and all rows start at a multiple of such a vector.
        self.braces(&format!("if (n{} % {EACH} == 0 && start + along < width)", outer - 1), |w| {
            for i in 0..EACH {
                w.braces(&format!("if ({})", inside(i)), |w| {
                    let (vector, lanes) = if t == ScalarType::F32 { ("float4", 4) } else { ("double2", 2) };
                    w.line(format!(
                        "global {vector} *const four = (global {vector} *)(out + base + row{i} + column0);"
                    ));
                    for k in 0..EACH / lanes {
                        let values: Vec<_> = (k * lanes..(k + 1) * lanes).map(|j| format!("y{i}_{j}")).collect();
                        w.line(format!("four[{k}] = ({vector})({});", values.join(", ")));
                    }
                });
            }
        });
        self.braces("else", scalars);
    }

    /// Copies the loaded numbers of an operand for the steps from `k` on to local memory. This is their first use;
    /// before it, the loads can still be in flight.
    fn copy(&mut self, tile: Tile, name: &str, o: &Computed) {
        let place = format!("{name}[{name}_depth[u] * {} + {name}_at[u]]", tile.line());
        let loaded: Vec<_> = (0..o.reads.len()).map(|r| format!("{name}_next{r}[u]")).collect();
        self.unrolled(tile.copies(), |w| {
            if o.plain().is_some() {
                return w.line(format!("{place} = {};", loaded[0]));
            }
            w.line(format!("{place} = 0;"));
            let inside = format!("if (k + {name}_depth[u] < to)");
            w.braces(&inside, |w| w.code(&o.value, &loaded, std::slice::from_ref(&place)));
        });
    }

    /// Loads the elements for the numbers that an item copies for the steps from `k` on, and zeros beyond the part.
    fn load(&mut self, tile: Tile, c: &Contraction<Computed>, k: &str) {
        for (name, o, ..) in operands(c) {
            self.unrolled(tile.copies(), |w| {
                w.line(format!("const P at = {k} + {name}_depth[u];"));
                for (r, read) in o.reads.iter().enumerate() {
                    let element = format!("a{}_{}[{name}_place{r}[u] + at * {name}_step{r}]", read.array, read.column);
                    w.line(format!("{name}_next{r}[u] = at < to ? {element} : 0;"));
                }
            });
        }
    }

    /// Declares the local memory of an operand, and for each number that an item copies: its place in memory except for
    /// the reduced dimension, its position along that dimension, and its row or column in the tile.
    fn places(
        &mut self,
        tile: Tile,
        name: &str,
        o: &Computed,
        c: &Contraction<Computed>,
        role: Role,
        [first, size]: [&str; 2],
    ) {
        let (t, side, copies) = (c.ty, tile.side, tile.copies());
        let extent = |p: usize| format!("(P)n{p}");
        let mut strides: Vec<Vec<String>> = vec![];
        for read in &o.reads {
            self.hoist_extents(read.array);
            self.hoist_column(read.array, read.column, "const ");
            strides.push((0..c.roles.len()).map(|p| self.stride(read, p)).collect());
        }
        let aligned = format!("__attribute__((aligned(sizeof({}))))", vector(t));
        self.line(format!("local {t} {name}[{}] {aligned};", tile.line() * DEPTH));
        for (r, (read, strides)) in o.reads.iter().zip(&strides).enumerate() {
            let element = self.program.arrays[read.array].columns[read.column];
            self.line(format!("{element} {name}_next{r}[{copies}];"));
            self.line(format!("const P {name}_step{r} = {};", strides[c.roles.len() - 1]));
            self.line(format!("P {name}_place{r}[{copies}];"));
        }
        self.line(format!("int {name}_depth[{copies}], {name}_at[{copies}];"));
        self.unrolled(copies, |w| {
            w.line(format!("const int n = u * {} + item;", tile.items()));
            w.line(format!("{name}_depth[u] = {name}_step0 == 1 ? n % {DEPTH} : n / {side};"));
            w.line(format!("{name}_at[u] = {name}_step0 == 1 ? n / {DEPTH} : n % {side};"));
            w.line("P base, rest;");
            let at = format!("min({first} + {name}_at[u], {size} - 1)");
            for (r, strides) in strides.iter().enumerate() {
                let stride = |p: usize| strides[p].clone();
                w.offset("base", "batch", &row_major::dims(c, Role::Batch), extent, stride);
                w.offset("rest", &at, &row_major::dims(c, role), extent, stride);
                w.line(format!("{name}_place{r}[u] = base + rest;"));
            }
        });
    }
}
