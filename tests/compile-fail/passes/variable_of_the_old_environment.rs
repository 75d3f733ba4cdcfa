//! Mistake: the variable keeps its index.
use accel_core::ast::*;

/// Renames the variables of an expression.
pub fn rename<E, F, A, T>(e: &Exp<E, A, T>, r: &Thinning<E, F>) -> Exp<F, A, T> {
    fresh2(|n, m| match e.view(n) {
        ExpView::Var(i) => Exp::var(&i),
        ExpView::Let(b, body, q) => {
            let q2 = name(m); // HCons<X<'n>, F> = X<'m>
            let below = r.lift().cast(q.sym(), q2);
            Exp::let_(&rename(&b, r), &rename(&body, &below).cast_env(q2.sym()))
        }
        _ => e.weaken(r),
    })
}

fn main() {}
