//! Matrix products: reductions that a library computes where that pays.

use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Contraction, Operand, Role, Rows};

/// What an element of a dimension's description is: see [`declaration`].
const ROLES: [Role; 4] = [Role::Batch, Role::Row, Role::Column, Role::Reduced];

/// The variable that holds the address of the function that multiplies matrices, and what it is called with: for each dimension its
/// role (a position in `ROLES`), its extent, and its strides in the result, the left and the right operand (0: not used there); the
/// arrays; the factor of all products, and what the sums start with. It gives 0, or -1 if it did nothing since its way would be slower.
fn declaration(t: ScalarType) -> String {
    format!(
        "int (*accel_product_{t})(const i64 (*dims)[5], i64 count, {t} *to, const {t} *left, const {t} *right, {t} factor, {t} init);"
    )
}

impl Writer<'_> {
    /// All rows of a reduction that is a contraction, in one call, which returns 0; nothing if the library does not take it.
    pub fn product(&mut self, to: ArrayId, outer: usize, rows: &Rows, c: &Contraction) {
        let t = c.ty;
        self.declarations.need(&format!("accel_product_{t}"), || declaration(t));
        // In a block of its own: what follows has the same names.
        self.braces("", |w| {
            let more = rows.init.iter().chain([&rows.element, &c.factor]).collect::<Vec<_>>();
            w.hoist(&more);
            w.hoist_output(to, false);
            w.line(format!("{t} factor, init = 0;"));
            w.code(&c.factor, &[], &["factor".into()]);
            if let Some(init) = &rows.init {
                w.code(init, &[], &["init".into()]);
            }
            let count = outer + 1;
            w.line(format!("const i64 dims[{count}][5] = {{"));
            for (p, role) in c.roles.iter().enumerate() {
                let role = ROLES.iter().position(|r| r == role).unwrap_or(0);
                let extent = if p == outer { "task->len".into() } else { format!("task->extents[{p}]") };
                // The outer dimensions are those of the result.
                let inner: String = (p + 1..outer).map(|k| format!(" * task->extents[{k}]")).collect();
                let stride = if p == outer { "0".into() } else { format!("1{inner}") };
                let (left, right) = (w.stride(&c.left, p), w.stride(&c.right, p));
                w.line(format!("    {{ {role}, {extent}, {stride}, {left}, {right} }},"));
            }
            w.line("};");
            let column = |o: &Operand| format!("a{}_{}", o.array, o.column);
            let (left, right) = (column(&c.left), column(&c.right));
            w.line(format!(
                "if (accel_product_{t}(dims, {count}, a{to}_0, {left}, {right}, factor, init) == 0) return 0;"
            ));
        });
    }
}
