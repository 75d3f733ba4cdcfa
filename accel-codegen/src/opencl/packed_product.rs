//! Packed matrix products, for CPU devices.
//!
//! NOTE [Packed products]: the rows of the left operand are copied to panels of eight, the columns of the right one to
//! panels of two vectors. In each panel, the reduced dimension is outermost. The last panels are filled up with zeros.
//! A tile of the result is then a sum of outer products of adjacent numbers, with its accumulators in registers,
//! whatever the order of the dimensions was in memory. Several dimensions of one role count as one, in row-major order.

use super::emitter::{Emitter, Tasks};
use super::target::Target;
use super::work::{Kernel, Sizes, Work, size_of};
use super::{launch, row_major, vectors};
use crate::analysis::liveness::Step;
use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Contraction, Operand, Reduction, Role};

/// The number of rows of a panel of the left operand.
const HIGH: usize = 8;
/// Below this number of multiplications, other kernels are faster.
const WORTH: usize = 16 * 16 * 16;

/// The kernels of a product.
#[derive(Clone, Debug)]
pub struct Product {
    ty: ScalarType,
    roles: Vec<Role>,
    left: Kernel,
    right: Kernel,
    tiles: Kernel,
}

/// The number of columns of a panel of the right operand: two vectors.
fn wide(t: ScalarType) -> usize {
    2 * vectors::width(t)
}

impl Product {
    /// Generates the kernels.
    pub fn new(e: &mut Emitter, s: &Step, to: ArrayId, outer: usize, rows: &Reduction, c: &Contraction) -> Product {
        let name = |what: &str| format!("product_{}_{what}", s.number);
        let (left, right, tiles) = (name("left"), name("right"), name("tiles"));
        e.task_function(s, &left, |w| w.pack(0, &c.left, c, Role::Row, HIGH));
        e.task_function(s, &right, |w| w.pack(1, &c.right, c, Role::Column, wide(c.ty)));
        e.task_function(s, &tiles, |w| w.tiles(to, rows, c));
        Product {
            ty: c.ty,
            roles: c.roles.clone(),
            left: e.kernel(&left, outer, Tasks::Ranges),
            right: e.kernel(&right, outer, Tasks::Ranges),
            tiles: e.kernel(&tiles, outer, Tasks::Ranges),
        }
    }

    /// The launches, if the product is large enough.
    pub fn work(&self, sizes: &Sizes, target: &Target) -> Option<Work> {
        let size = |role| row_major::count(&self.roles, role, sizes.space);
        let (batch, rows, columns, len) = (size(Role::Batch), size(Role::Row), size(Role::Column), sizes.len as usize);
        if rows.min(columns).min(len) < 4 || rows.saturating_mul(columns).saturating_mul(len) < WORTH {
            return None;
        }
        let (high, wide) = (rows.div_ceil(HIGH), columns.div_ceil(wide(self.ty)));
        let panel = |width: usize| len * width;
        let launches = vec![
            launch::positions(&self.left, batch * high, 2 * panel(HIGH), len, target),
            launch::positions(&self.right, batch * wide, 2 * panel(self::wide(self.ty)), len, target),
            launch::positions(&self.tiles, batch * wide * high, panel(HIGH * 2), len, target),
        ];
        let bytes = |panels: usize, width: usize| size_of(self.ty, batch * panels * panel(width));
        Some(Work { scratch: vec![bytes(high, HIGH), bytes(wide, self::wide(self.ty))], launches })
    }
}

/// An extent of the index space of a task.
fn extent(p: usize) -> String {
    format!("task->extents[{p}]")
}

impl Writer<'_> {
    /// Declares `name` as the distance from the start of an array to the element at position `at` of the dimensions
    /// `dims`.
    pub fn offset(
        &mut self,
        name: &str,
        at: &str,
        dims: &[usize],
        extent: impl Fn(usize) -> String,
        stride: impl Fn(usize) -> String,
    ) {
        let p = self.dialect().position();
        self.line(format!("{name} = 0;"));
        self.braces("", |w| {
            w.line(format!("{p} position = {at};"));
            for (k, dim) in dims.iter().enumerate().rev() {
                let (step, size) = (stride(*dim), extent(*dim));
                match k {
                    0 => w.line(format!("{name} += position * ({p})({step});")),
                    _ => {
                        w.line(format!("{name} += position % {size} * ({p})({step});"));
                        w.line(format!("position /= {size};"));
                    }
                }
            }
        });
    }

    /// Copies the panels `from..to` of an operand; a panel has `width` rows (or columns).
    fn pack(&mut self, scratch: usize, o: &Operand, c: &Contraction, role: Role, width: usize) {
        let (t, a) = (c.ty, o.array);
        self.scratch(scratch, &t.to_string());
        self.hoist_extents(a);
        self.hoist_column(a, o.column, "const ");
        let size = row_major::size(c, role, "(i64)1", extent);
        self.line(format!("const i64 size = {size}, panels = (size + {width} - 1) / {width};"));
        let strides: Vec<String> = (0..c.roles.len()).map(|p| self.stride(o, p)).collect();
        let stride = |p: usize| strides[p].clone();
        self.line(format!("const i64 step = {};", strides[c.roles.len() - 1]));
        self.braces("for (i64 p = task->from; p < task->to; p++)", |w| {
            w.line("i64 base;");
            w.offset("base", "p / panels", &row_major::dims(c, Role::Batch), extent, stride);
            w.line(format!("const i64 first = p % panels * {width};"));
            w.line(format!("i64 place[{width}];"));
            w.line("bool even = 1;");
            w.braces(&format!("for (int i = 0; i < {width}; i++)"), |w| {
                w.offset("place[i]", "min(first + i, size - 1)", &row_major::dims(c, role), extent, stride);
                w.line("place[i] += base;");
                w.line("even &= place[i] == place[0] + i;");
            });
            w.line(format!("global {t} *out = s{scratch} + p * {width} * task->len;"));
            let column = format!("a{a}_{}", o.column);
            w.braces("if (even)", |w| {
                w.line(format!("const global {t} *in = {column} + place[0];"));
                w.braces(&format!("for (i64 k = 0; k < task->len; k++, out += {width}, in += step)"), |w| {
                    w.line(format!("for (int i = 0; i < {width}; i++) out[i] = in[i];"));
                });
                w.line("continue;");
            });
            w.line(format!("const int width = min(size - first, (i64){width});"));
            w.line(format!("const global {t} *in = {column};"));
            w.braces(&format!("for (i64 k = 0; k < task->len; k++, out += {width}, in += step)"), |w| {
                w.line(format!("for (int i = 0; i < {width}; i++) out[i] = i < width ? in[place[i]] : 0;"));
            });
        });
    }

    /// Declares `factor` and `init`: the factor of all products, and the initial value of the sums.
    pub fn factor_and_init<O>(&mut self, to: ArrayId, rows: &Reduction, c: &Contraction<O>) {
        self.hoist(&rows.init.iter().chain([&c.factor]).collect::<Vec<_>>());
        self.hoist_output(to, false);
        self.line(format!("{} factor, init = 0;", c.ty));
        self.code(&c.factor, &[], &["factor".into()]);
        if let Some(init) = &rows.init {
            self.code(init, &[], &["init".into()]);
        }
    }

    /// Computes the tiles `from..to` of the result. Tiles of the same columns follow one another.
    fn tiles(&mut self, to: ArrayId, rows: &Reduction, c: &Contraction) {
        let (t, outer, wide) = (c.ty, c.roles.len() - 1, wide(c.ty));
        let n = vectors::width(t);
        vectors::declare(self.declarations, t);
        self.scratch(0, &t.to_string());
        self.scratch(1, &t.to_string());
        self.factor_and_init(to, rows, c);
        let stride = |p: usize| -> String {
            let inner: String = (p + 1..outer).map(|k| format!(" * task->extents[{k}]")).collect();
            format!("1{inner}")
        };
        let [height, width] = [Role::Row, Role::Column].map(|role| row_major::size(c, role, "(i64)1", extent));
        self.line(format!("const i64 height = {height}, high = (height + {HIGH} - 1) / {HIGH};"));
        self.line(format!("const i64 width = {width}, wide = (width + {wide} - 1) / {wide}, len = task->len;"));
        self.braces("for (i64 p = task->from; p < task->to; p++)", |w| {
            w.line("const i64 across = p / high, batch = across / wide;");
            w.line("const i64 row = p % high, column = across % wide;");
            w.line(format!("const global {t} *left = s0 + (batch * high + row) * {HIGH} * len;"));
            w.line(format!("const global {t} *right = s1 + across * {wide} * len;"));
            let all = || (0..HIGH).flat_map(|i| [(i, 0), (i, 1)]);
            all().for_each(|(i, v)| w.line(format!("v_{t} y{i}_{v} = (v_{t})(0);")));
            w.braces(&format!("for (i64 k = 0; k < len; k++, left += {HIGH}, right += {wide})"), |w| {
                w.line(format!("const v_{t} b0 = vload{n}(0, right), b1 = vload{n}(1, right);"));
                all().for_each(|(i, v)| w.line(format!("y{i}_{v} = fma_{t}((v_{t})(left[{i}]), b{v}, y{i}_{v});")));
            });
            w.line(format!("{t} tile[{}];", HIGH * wide));
            for (i, v) in all() {
                w.line(format!("vstore{n}(init + factor * y{i}_{v}, {}, tile);", 2 * i + v));
            }
            w.line("i64 base;");
            w.offset("base", "batch", &row_major::dims(c, Role::Batch), extent, stride);
            w.line(format!("i64 place[{wide}];"));
            w.line("bool even = 1;");
            w.line(format!("const i64 left_columns = min((i64){wide}, width - column * {wide});"));
            w.braces(&format!("for (int j = 0; j < {wide}; j++)"), |w| {
                let at = format!("min(column * {wide} + j, width - 1)");
                w.offset("place[j]", &at, &row_major::dims(c, Role::Column), extent, stride);
                w.line("place[j] += base;");
                w.line("even &= place[j] == place[0] + j;");
            });
            w.braces(&format!("for (int i = 0; i < {HIGH} && row * {HIGH} + i < height; i++)"), |w| {
                w.line("i64 at;");
                w.offset("at", &format!("row * {HIGH} + i"), &row_major::dims(c, Role::Row), extent, stride);
                w.line(format!("const {t} *const from = tile + i * {wide};"));
                w.line(format!("global {t} *const out = a{to}_0 + at;"));
                w.line(format!("if (even) for (int j = 0; j < {wide}; j++) out[place[0] + j] = from[j];"));
                w.line("else for (int j = 0; j < left_columns; j++) out[place[j]] = from[j];");
            });
        });
    }
}
