//! Matrix products on GPUs: each work-group does a tile of 64 by 64 results, each of its items 4 by 4 of them.
//!
//! For every sixteen steps along the reduced dimension the group copies the pieces of both operands that it needs to local memory,
//! each item four numbers of each; items next to each other read along the dimension in which the operand is contiguous.

use super::emit::Emitter;
use super::product::{row_major, size_of_role};
use super::{Kernel, Launch, Sizes, Work};
use crate::code::Writer;
use crate::liveness::Step;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Contraction, Operand, Role, Rows};

/// The rows and columns of a tile,
const SIDE: usize = 64;
/// the steps along the reduced dimension that are in local memory at the same time,
const DEPTH: usize = 16;
/// and the rows and columns of an item.
const EACH: usize = 4;
/// From a line of a tile in local memory to the next: a few more numbers than are used, so that items that copy different lines at the same
/// time do not wait for the same bank; whole vectors of four, which lines are read by.
const LINE: usize = SIDE + 4;
/// The items of a group.
const ITEMS: usize = (SIDE / EACH) * (SIDE / EACH);
/// Below so many multiplications other ways are faster.
const WORTH: usize = 32 * 32 * 32;

/// The kernel of a product.
#[derive(Clone, Debug)]
pub struct Tiled {
    roles: Vec<Role>,
    kernel: Kernel,
}

impl Tiled {
    /// Prints it, if the device's groups are large enough.
    pub fn new(e: &mut Emitter, s: &Step, to: ArrayId, outer: usize, rows: &Rows, c: &Contraction) -> Option<Tiled> {
        let room = 2 * LINE * DEPTH * crate::ops::bytes(c.ty) as usize;
        if e.target.largest_group < ITEMS || e.target.local_memory < room {
            return None;
        }
        let mut w = Writer::new(e.program, e.declarations, s.stmt.site);
        w.tile_of_group(to, outer, rows, c);
        let params = std::mem::take(&mut w.params);
        let body = w.finish();
        let kernel = e.entry(&format!("product_{}", s.number), params, outer, 1, &body);
        Some(Tiled { roles: c.roles.clone(), kernel })
    }

    /// The launch, if the product is large enough.
    pub fn work(&self, sizes: &Sizes) -> Option<Work<'_>> {
        let size = |role| size_of_role(&self.roles, role, sizes.space);
        let (batch, rows, columns, len) = (size(Role::Batch), size(Role::Row), size(Role::Column), sizes.len as usize);
        if rows.min(columns).min(len) < EACH || rows.saturating_mul(columns).saturating_mul(len) < WORTH {
            return None;
        }
        let groups = batch * rows.div_ceil(SIDE) * columns.div_ceil(SIDE);
        let numbers = vec![sizes.len];
        let launch =
            Launch { kernel: &self.kernel, global: [groups * ITEMS, 1], group: [ITEMS, 1], numbers, local: vec![] };
        Some(Work { scratch: vec![], launches: vec![launch] })
    }
}

/// The vectors of [`EACH`] numbers.
fn vector(t: ScalarType) -> &'static str {
    if t == ScalarType::F32 { "float4" } else { "double4" }
}

impl Writer<'_> {
    fn tile_of_group(&mut self, to: ArrayId, outer: usize, rows: &Rows, c: &Contraction) {
        let t = c.ty;
        self.factor_and_init(to, rows, c);
        for k in 0..outer {
            self.param(super::Arg::Space(k), format!("const i64 n{k}"));
        }
        let extent = |p: usize| format!("n{p}");
        let (height, width) = (row_major::size(c, Role::Row, extent), row_major::size(c, Role::Column, extent));
        self.line(format!("const i64 height = {height}, width = {width};"));
        self.line(format!(
            "const i64 high = (height + {}) / {SIDE}, wide = (width + {}) / {SIDE};",
            SIDE - 1,
            SIDE - 1
        ));
        self.line("const i64 group = get_group_id(0), batch = group / (high * wide);");
        self.line(format!("const i64 top = group / wide % high * {SIDE}, start = group % wide * {SIDE};"));
        self.line("const int item = get_local_id(0);");
        self.line(format!("const int down = item / {0} * {EACH}, along = item % {0} * {EACH};", SIDE / EACH));
        for (name, o, role, first, size) in
            [("left", &c.left, Role::Row, "top", "height"), ("right", &c.right, Role::Column, "start", "width")]
        {
            self.places(name, o, c, role, [first, size]);
        }
        let four = vector(t);
        let all = || (0..EACH).flat_map(|i| (0..EACH).map(move |j| (i, j)));
        all().for_each(|(i, j)| self.line(format!("{t} y{i}_{j} = 0;")));
        self.braces(&format!("for (P k = 0; k < (P)arg0; k += {DEPTH})"), |w| {
            for (name, o) in [("left", &c.left), ("right", &c.right)] {
                let column = format!("a{}_{}", o.array, o.column);
                w.braces(&format!("for (int e = 0; e < {}; e++)", SIDE * DEPTH / ITEMS), |w| {
                    w.line(format!(
                        "{name}[{name}_depth[e] * {LINE} + {name}_at[e]] = k + {name}_depth[e] < (P)arg0 ? {column}[{name}_place[e] + (k + {name}_depth[e]) * {name}_step] : 0;"
                    ));
                });
            }
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
            w.braces(&format!("for (int d = 0; d < {DEPTH}; d++)"), |w| {
                for (v, name, at) in [("b", "left", "down"), ("c", "right", "along")] {
                    w.line(format!("const {four} {v} = *(const local {four} *)({name} + d * {LINE} + {at});"));
                }
                all().for_each(|(i, j)| w.line(format!("y{i}_{j} = fma(b.s{i}, c.s{j}, y{i}_{j});")));
            });
            w.line("barrier(CLK_LOCAL_MEM_FENCE);");
        });
        let stride = |p: usize| -> String {
            let inner: String = (p + 1..outer).map(|k| format!(" * n{k}")).collect();
            format!("1{inner}")
        };
        self.line("i64 base;");
        self.offset("base", "batch", &row_major::dims(c, Role::Batch), extent, stride);
        for i in 0..EACH {
            self.line(format!("i64 row{i}, column{i};"));
            let last = |first: &str, side: &str, size: &str| format!("min({first} + {side} + {i}, {size} - 1)");
            let (row, column) = (last("top", "down", "height"), last("start", "along", "width"));
            self.offset(&format!("row{i}"), &row, &row_major::dims(c, Role::Row), extent, stride);
            self.offset(&format!("column{i}"), &column, &row_major::dims(c, Role::Column), extent, stride);
        }
        for (i, j) in all() {
            self.line(format!(
                "if (top + down + {i} < height && start + along + {j} < width) a{to}_0[base + row{i} + column{j}] = init + factor * y{i}_{j};"
            ));
        }
    }

    /// The local memory of an operand, and for each of the numbers that an item copies: where it is in memory but for the reduced
    /// dimension, how far along that it is, and in which row or column of the tile.
    fn places(&mut self, name: &str, o: &Operand, c: &Contraction, role: Role, [first, size]: [&str; 2]) {
        let t = c.ty;
        let each = SIDE * DEPTH / ITEMS;
        self.hoist_extents(o.array);
        self.hoist_column(o.array, o.column, "const ");
        let extent = |p: usize| format!("n{p}");
        let strides: Vec<String> = (0..c.roles.len()).map(|p| self.stride(o, p)).collect();
        let stride = |p: usize| strides[p].clone();
        let aligned = format!("__attribute__((aligned(sizeof({}))))", vector(t));
        self.line(format!("local {t} {name}[{}] {aligned};", LINE * DEPTH));
        self.line(format!("const P {name}_step = {};", strides[c.roles.len() - 1]));
        self.line(format!("P {name}_place[{each}];"));
        self.line(format!("int {name}_depth[{each}], {name}_at[{each}];"));
        self.braces(&format!("for (int e = 0; e < {each}; e++)"), |w| {
            w.line(format!("const int n = e * {ITEMS} + item;"));
            w.line(format!("{name}_depth[e] = {name}_step == 1 ? n % {DEPTH} : n / {SIDE};"));
            w.line(format!("{name}_at[e] = {name}_step == 1 ? n / {DEPTH} : n % {SIDE};"));
            w.line("i64 base, rest;");
            w.offset("base", "batch", &row_major::dims(c, Role::Batch), extent, stride);
            let at = format!("min({first} + {name}_at[e], {size} - 1)");
            w.offset("rest", &at, &row_major::dims(c, role), extent, stride);
            w.line(format!("{name}_place[e] = base + rest;"));
        });
    }
}
