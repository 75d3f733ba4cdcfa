//! Matrix products: calls of a library for contractions, where this pays.

use crate::text::writer::Writer;
use accel_core::repr::ScalarType;
use accel_fusion::kernel::{ArrayId, Contraction, Operand, Reduction, Role};

/// The roles in the description of a dimension: see [`declaration`].
const ROLES: [Role; 4] = [Role::Batch, Role::Row, Role::Column, Role::Reduced];

/// Declares the variable with the address of the library's function for matrix products. Its parameters are, for each
/// dimension, its role (a position in `ROLES`), its extent, and its strides in the result, the left and the right
/// operand (0 where it does not occur); the arrays; the factor of all products; and the initial value of the sums. The
/// function returns 0, or -1 if it did nothing because it would be slower.
fn declaration(t: ScalarType) -> String {
    format!(
        "int (*accel_product_{t})(const i64 (*dims)[5], i64 count, {t} *to, const {t} *left, const {t} *right, {t} factor, {t} init);"
    )
}

impl Writer<'_> {
    /// Writes a call that computes all rows of a contraction and then returns 0. If the library does not take the
    /// product, execution continues after it.
    pub fn product(&mut self, to: ArrayId, outer: usize, rows: &Reduction, c: &Contraction) {
        let t = c.ty;
        self.declarations.declare_once(&format!("accel_product_{t}"), || declaration(t));
        // In a block, because the following code uses the same names.
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
