//! The function of an accumulation returns no token, so nothing says that its emissions are wanted.

use accel_core::ast::*;
use frunk::HNil;

pub fn accumulate<A, Sh, T, R>(
    t: &ShapeTy<Sh>,
    sh: &Exp<HNil, A, Sh>,
    f: &Fun1<A, Sh, T>,
    sums: &Acc<A, R>,
) -> Acc<A, (Arr<Sh, T>, R)> {
    Acc::accumulate(t, sh, f, sums, None)
}

fn main() {}
