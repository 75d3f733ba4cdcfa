//! Mistake: an array has arrays as elements.
use accel_core::ast::*;

type Vector = Arr<((), i64), f64>;

pub fn known() -> Ty<Arr<(), Vector>> {
    Ty::of()
}

pub fn computed<Sh>(sh: &ShapeTy<Sh>, t: &ArraysTy<Vector>) -> Ty<Arr<Sh, Vector>> {
    Ty::arr(sh, t)
}

fn main() {}
