//! The dual of a whole scalar function: the interface between scalar and array differentiation (see the glossary of the
//! book: dual of a function, recomputation).
//!
//! NOTE [Recomputed temporaries]: the thesis stores all temporaries of the primal lambda for the dual lambda (section
//! 3.4.1) and finds that this exhausts the memory (section 5.3, "recompute"). Here, the dual lambda takes the argument
//! and recomputes the temporaries, so they are never stored in memory.

use super::code::{Code, total};
use super::dual::reverse;
use super::primal::primal;
use super::state::Dual;
use crate::activity::Labels;
use crate::builders::unit;
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::Result;
use frunk::{HCons, HNil};

/// The dual of a function from `P` to `Q`. It maps the argument and the adjoint of the result to the adjoint of the
/// argument and an index-adjoint tuple, whose type has the name `X<'i>`.
pub struct FunDual<'i, A, P, Q> {
    pub dual: Fun2<A, P, Tan<Q>, (Tan<P>, X<'i>)>,
    pub sites: Sites<A, X<'i>>,
}

/// The dual of `f`. `activity` is that of its argument, of the adjoint of its result, and of the arrays in scope.
///
/// # Errors
/// An operation without a reverse derivative.
pub fn fun_dual<'i, A, P, Q>(
    f: &Fun1<A, P, Q>,
    p: &Ty<P>,
    activity: Labels,
    i: Guard<'i>,
) -> Result<FunDual<'i, A, P, Q>> {
    fresh3(|a, b, c| {
        let (qa, qp, qq) = (name(a), name(b), name(c));
        let arg = eq_cons(qp, Equal::refl());
        let d = fun_dual_(&Fun1(f.0.cast_all(arg, qa, qq)), &p.cast(qp), activity, i)?;
        let env = eq_cons(eq_tan(qq.sym()), arg.sym());
        let res = eq_pair(eq_tan(qp.sym()), Equal::refl());
        Ok(FunDual { dual: Fun2(d.dual.0.cast_all(env, qa.sym(), res)), sites: d.sites.cast_aenv(qa.sym()) })
    })
}

fn fun_dual_<'i, 'a, 'p, 'q>(
    f: &Fun1<X<'a>, X<'p>, X<'q>>,
    p: &Ty<X<'p>>,
    mut activity: Labels,
    i: Guard<'i>,
) -> Result<FunDual<'i, X<'a>, X<'p>, X<'q>>> {
    fresh2(|m, k| {
        let dq = tan_ty(f.0.ty());
        let x = Idx::succ(&Idx::zero(p));
        let env = Env::<IdxF<HCons<Tan<X<'q>>, HCons<X<'p>, HNil>>>, HNil>::empty().push(&x, p);
        let pr = primal(&f.0, &env, &Code::start(Size::nil().push().push()), m);
        let mut adj = Contributions::new(pr.code.size, pr.code.size);
        adj.add(&pr.var, &SparseTangent::var(&pr.up.at(&Idx::zero(&dq))));
        let tape = pr.code.tele.clone();
        activity.enter(&tape, Size::nil().push().push());
        let st = Dual {
            code: pr.code,
            adj,
            emb: Thinning::id(),
            sites: Sites::nil(),
            idx: unit(),
            used: Used::default(),
            activity,
        };
        let mut r = reverse(&tape, st, k, i)?;
        let dp = total(&r.adj.take(&x), &tan_ty(p));
        Ok(FunDual { dual: Fun2(r.code.close(&Exp::pair(&dp, &r.idx))), sites: r.sites })
    })
}
