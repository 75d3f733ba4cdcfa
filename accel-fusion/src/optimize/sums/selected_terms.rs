//! Sums of which one term counts: the element itself.
//!
//! NOTE [Selected terms]: a Jacobian or a Hessian is computed for all unit vectors at once, so its program has sums such as
//! `Σ_k (k == j ? 1 : 0) x[i, k]`, which are `x[i, j]`: strong zeros (NOTE [Strong zeros] in `accel-ad`) let no other term count. The sum
//! of zeros and one number is this number plus 0. Outside of the rows, no term is selected. Of a sum of zeros, no term counts.

use crate::kernel::builder::{Builder, index_types};
use crate::kernel::dead_code::{defined, parameters, restricted_to};
use crate::kernel::{ArrayId, Instr, Reduction, Reg, ScalarFn, SiteId, walk};
use crate::optimize::facts::poly::Poly;
use crate::optimize::fuse::fused_program::Pass;
use crate::optimize::scalar::scalar_cleanup::code_of;
use accel_core::repr::Scalar;
use accel_core::repr::op::{Cmp, Float2, Num2, Op2};

/// If the sums of these rows have at most one term that counts, emits a loop that computes it. Returns whether it did.
pub fn selected(pass: &mut Pass, to: ArrayId, dims: &[Poly], len: &Poly, rows: &Reduction, site: SiteId) -> bool {
    let Some((result, zero)) = rows.float_sum().zip(rows.initial_zero()) else { return false };
    let code = &rows.element;
    // Terms that fail have to be computed.
    if !code.is_total() {
        return false;
    }
    let mut b = Builder::new(&index_types(dims.len()));
    if is_zero(code, result) {
        let sum = b.constant(zero);
        let extents = code_of(&mut pass.facts, dims);
        pass.loop_(&[to], extents, dims.to_vec(), &b.finish(vec![sum]), site);
        return true;
    }
    let Some(at) = selection(code, result).filter(|_| pass.facts.is_known(len)) else { return false };
    let args = |last: Reg| (0..dims.len()).map(Reg::new).chain([last]).collect::<Vec<_>>();
    let value = if dims.get(at.index()) == Some(len) {
        b.inline(code, &args(at))[0]
    } else {
        // What is selected does not depend on the last index, so any number can take its place.
        let none = b.constant(Scalar::I64(0));
        let at = b.inline(&restricted_to(code, vec![at]), &args(none))[0];
        let n = b.inline(&code_of(&mut pass.facts, std::slice::from_ref(len)), &[])[0];
        let inside = [b.compare(Cmp::Ge, at, none), b.compare(Cmp::Lt, at, n)];
        let cond = b.all(inside);
        let (then, term) = b.block(|b| b.inline(code, &args(at))[0]);
        let (otherwise, nothing) = b.block(|b| b.constant(zero));
        let value = b.reg(zero.ty());
        b.emit(Instr::If { cond, then, otherwise, merge: vec![(value, term, nothing)] });
        value
    };
    let (init, sum) = (b.constant(zero), b.reg(zero.ty()));
    b.emit(Instr::Op2(sum, Op2::Num(Num2::Add), init, value));
    let extents = code_of(&mut pass.facts, dims);
    pass.loop_(&[to], extents, dims.to_vec(), &b.finish(vec![sum]), site);
    true
}

/// What the last parameter has to equal, otherwise the register is a strong zero.
fn selection(code: &ScalarFn, r: Reg) -> Option<Reg> {
    match defined(code, r)? {
        Instr::Op2(_, Op2::Float(Float2::StrongMul), a, b) => selection(code, *a).or_else(|| selection(code, *b)),
        Instr::If { cond, merge, .. } => {
            let (_, then, otherwise) = merge.iter().find(|m| m.0 == r)?;
            let Instr::Op2(_, Op2::Cmp(cmp), a, b) = defined(code, *cond)? else { return None };
            let others = match cmp {
                Cmp::Eq => otherwise,
                Cmp::Ne => then,
                _ => return None,
            };
            if !is_zero(code, *others) {
                return None;
            }
            let last = Reg::new(code.params - 1);
            let (p, other) = if *a == last { (*a, *b) } else { (*b, *a) };
            (p == last && !parameters(code, other).contains(&last) && other != last).then_some(other)
        }
        _ => None,
    }
}

fn is_zero(code: &ScalarFn, r: Reg) -> bool {
    walk(&code.instrs).any(|i| matches!(i, Instr::Const(to, Scalar::F32(0.0) | Scalar::F64(0.0)) if *to == r))
}
