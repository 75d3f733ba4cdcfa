//! The dual of a whole scalar function: the interface between scalar and array differentiation (see the glossary of the
//! book: dual of a function, recomputation).
//!
//! NOTE [Recomputed temporaries]: the thesis stores all temporaries of the primal lambda for the dual lambda (section
//! 3.4.1) and finds that this exhausts the memory (section 5.3, "recompute"). Here, the dual lambda takes the argument
//! and recomputes the temporaries, so they are never stored in memory.

use super::code::{Code, total};
use super::dual::reverse;
use super::emissions::{Emissions, without_emissions};
use super::primal::primal;
use super::state::Dual;
use crate::activity::Labels;
use crate::builders::unit;
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::{Error, Result};
use frunk::{HCons, HNil};

/// The dual of a function from `P` to `Q`. It maps the argument and the adjoint of the result to the adjoint of the
/// argument and an index-adjoint tuple, whose type has the name `X<'i>`.
pub struct FunDual<'i, A, P, Q> {
    pub dual: Fun2<A, P, Tan<Q>, (Tan<P>, X<'i>)>,
    pub sites: Sites<A, X<'i>>,
    /// The arrays that loops in the function read: NOTE [Reads in loops]. The dual does not contribute to their
    /// adjoints.
    pub in_loops: Vec<SomeIdx<A>>,
}

impl<A, P, Q> FunDual<'_, A, P, Q> {
    /// Whether the function reads no active array.
    pub fn is_local(&self) -> bool {
        self.sites.is_empty() && self.in_loops.is_empty()
    }
}

/// The dual of a function with loops that read arrays. It also emits to accumulators for the adjoints of these arrays, and
/// returns the last token.
pub struct EmittingDual<'i, A, P, Q> {
    pub dual: Fun2<A, P, Tan<Q>, ((Tan<P>, X<'i>), f32)>,
    pub sites: Sites<A, X<'i>>,
}

/// The dual of `f`. `activity` is that of its argument, of the adjoint of its result, and of the arrays in scope.
/// `adjoints` are those of the accumulators to which `f` itself emits.
///
/// # Errors
/// An operation without a reverse derivative.
pub fn fun_dual<'i, A, P, Q>(
    f: &Fun1<A, P, Q>,
    p: &Ty<P>,
    activity: Labels,
    adjoints: &[SomeIdx<A>],
    i: Guard<'i>,
) -> Result<FunDual<'i, A, P, Q>> {
    let d = reversed(f, p, activity, None, adjoints, i)?;
    let Code2::Plain(dual) = d.dual else { return Err(Error::Internal("dual pass: a token from nowhere".into())) };
    Ok(FunDual { dual: Fun2(dual), sites: d.sites, in_loops: d.in_loops })
}

/// The dual of `f`, with accumulators for the adjoints of the arrays `targets`.
///
/// # Errors
/// As [`fun_dual`].
pub fn emitting_dual<'i, A, P, Q>(
    f: &Fun1<A, P, Q>,
    p: &Ty<P>,
    activity: Labels,
    targets: &[SomeIdx<A>],
    adjoints: &[SomeIdx<A>],
    i: Guard<'i>,
) -> Result<EmittingDual<'i, A, P, Q>> {
    let d = reversed(f, p, activity, Some(targets), adjoints, i)?;
    let Code2::Emitting(dual) = d.dual else { return Err(Error::Internal("dual pass: a token is lost".into())) };
    Ok(EmittingDual { dual: Fun2(dual), sites: d.sites })
}

/// The code of a dual, with the last token if it emits.
enum Code2<A, P, Q, R> {
    Plain(Exp<HCons<Tan<Q>, HCons<P, HNil>>, A, R>),
    Emitting(Exp<HCons<Tan<Q>, HCons<P, HNil>>, A, (R, f32)>),
}

struct Reversed<'i, A, P, Q> {
    dual: Code2<A, P, Q, (Tan<P>, X<'i>)>,
    sites: Sites<A, X<'i>>,
    in_loops: Vec<SomeIdx<A>>,
}

fn reversed<'i, A, P, Q>(
    f: &Fun1<A, P, Q>,
    p: &Ty<P>,
    activity: Labels,
    targets: Option<&[SomeIdx<A>]>,
    adjoints: &[SomeIdx<A>],
    i: Guard<'i>,
) -> Result<Reversed<'i, A, P, Q>> {
    fresh3(|a, b, c| {
        let (qa, qp, qq) = (name(a), name(b), name(c));
        let arg = eq_cons(qp, Equal::refl());
        let targets: Option<Vec<_>> = targets.map(|t| t.iter().map(|a| a.cast(qa)).collect());
        let adjoints: Vec<_> = adjoints.iter().map(|a| a.cast(qa)).collect();
        let f = Fun1(f.0.cast_all(arg, qa, qq));
        let d = reversed_(&f, &p.cast(qp), activity, targets.as_deref(), &adjoints, i)?;
        let env = eq_cons(eq_tan(qq.sym()), arg.sym());
        let (qa, res) = (qa.sym(), eq_pair(eq_tan(qp.sym()), Equal::refl()));
        let dual = match d.dual {
            Code2::Plain(e) => Code2::Plain(e.cast_all(env, qa, res)),
            Code2::Emitting(e) => Code2::Emitting(e.cast_all(env, qa, eq_pair(res, Equal::refl()))),
        };
        let in_loops = d.in_loops.iter().map(|a| a.cast(qa)).collect();
        Ok(Reversed { dual, sites: d.sites.cast_aenv(qa), in_loops })
    })
}

fn reversed_<'i, 'a, 'p, 'q>(
    f: &Fun1<X<'a>, X<'p>, X<'q>>,
    p: &Ty<X<'p>>,
    mut activity: Labels,
    targets: Option<&[SomeIdx<X<'a>>]>,
    adjoints: &[SomeIdx<X<'a>>],
    i: Guard<'i>,
) -> Result<Reversed<'i, X<'a>, X<'p>, X<'q>>> {
    fresh2(|m, k| {
        let dq = tan_ty(f.0.ty());
        let x = Idx::succ(&Idx::zero(p));
        let env = Env::<IdxF<HCons<Tan<X<'q>>, HCons<X<'p>, HNil>>>, HNil>::empty().push(&x, p);
        let pr = primal(&f.0, &env, &Code::start(Size::nil().push().push()), m);
        let mut adj = Contributions::new(pr.code.size, pr.code.size);
        adj.add(&pr.var, &SparseTangent::var(&pr.up.at(&Idx::zero(&dq))));
        let tape = pr.code.tele.clone();
        activity.enter(&tape, Size::nil().push().push());
        let emissions = match targets {
            None => Emissions::finding(adjoints),
            Some(targets) => Emissions::emitting(targets, &Exp::constant(&Value::of(0f32), &Ty::of()), adjoints),
        };
        let st = Dual {
            code: pr.code,
            adj,
            emb: Thinning::id(),
            sites: Sites::nil(),
            idx: unit(),
            used: Used::default(),
            activity,
            emissions,
        };
        let mut r = reverse(&tape, st, k, i)?;
        let dp = total(&r.adj.take(&x), &tan_ty(p));
        let result = Exp::pair(&dp, &r.idx);
        // The primal of the function emits, too, but its dual does not.
        let n = adjoints.len();
        let dual = match r.emissions.token {
            None => Code2::Plain(own(&r.code.close(&result), n)),
            Some(token) => Code2::Emitting(own(&r.code.close(&Exp::pair(&result, &token)), n)),
        };
        Ok(Reversed { dual, sites: r.sites, in_loops: r.emissions.found })
    })
}

/// The code without the emissions to the first `n` accumulators.
fn own<E, A, T>(code: &Exp<E, A, T>, n: usize) -> Exp<E, A, T> {
    if n == 0 { code.clone() } else { without_emissions(code, n) }
}
