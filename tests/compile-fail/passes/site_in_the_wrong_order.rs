//! Mistake: adjoint and index are mixed up.
use accel_core::ast::*;

/// One more entry (adjoint, (executed?, index)) of an index-adjoint tuple, and of its layout.
pub fn record<E, A, T, Sh, V>(
    sites: &Sites<A, T>,
    tuple: &Exp<E, A, T>,
    a: &Idx<A, Arr<Sh, V>>,
    d: &Exp<E, A, Tan<V>>,
    ix: &Exp<E, A, Sh>,
) -> Layout<E, A, (T, (Tan<V>, (bool, Sh)))> {
    let executed = Exp::constant(&Value::of(true), &Ty::of());
    let entry = Exp::pair(ix, &Exp::pair(&executed, d));
    Layout { sites: sites.snoc(a, None), tuple: Exp::pair(tuple, &entry) }
}
pub struct Layout<E, A, T> {
    pub sites: Sites<A, T>,
    pub tuple: Exp<E, A, T>,
}

fn main() {}
