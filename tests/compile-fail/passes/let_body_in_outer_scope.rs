//! Mistake: the renamed body is returned without its definition.
use accel_core::ast::*;

/// Renames the variables of an expression.
pub fn rename<E, F, A, T>(e: &Exp<E, A, T>, r: &Thinning<E, F>) -> Exp<F, A, T> {
    fresh2(|n, m| match e.view(n) {
        ExpView::Var(i) => Exp::var(&r.at(&i)),
        ExpView::Let(b, body, q) => {
            let q2 = name(m); // HCons<X<'n>, F> = X<'m>
            let below = r.lift().cast(q.sym(), q2);
            rename(&body, &below)
        }
        _ => e.weaken(r),
    })
}

fn main() {}
