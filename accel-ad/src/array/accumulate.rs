//! The dual of `accumulate`.
//!
//! NOTE [Dual of an accumulation]: each accumulator is the sum of its initial array and of what the function emits to
//! it. So the adjoint of an initial array is that of its accumulator, and the adjoint of a value that is emitted to an
//! element is the adjoint of this element. Scalar code can read only variables that are single arrays, so the adjoint
//! of each accumulator becomes a variable, and also a passive label, because the dual of the function is built in the
//! environment of the labels.

use super::code::materialise;
use super::state::ADual;
use super::steps::{Called, Function};
use crate::activity::Activity;
use crate::builders::{Floats, call2, zero};
use accel_core::ast::*;
use accel_core::error::Result;
use frunk::HNil;

/// An accumulation.
pub struct Operation<'f, A, Sh, T, R> {
    pub f: &'f Fun1<A, Sh, (T, f32)>,
    pub sh: &'f Exp<HNil, A, Sh>,
    pub t: ShapeTy<Sh>,
    pub init: Idx<A, R>,
    pub at: Src,
}

/// Adds the contributions of an accumulation, whose value is `y`, with the adjoint `d`, which is not zero.
///
/// # Errors
/// [`Error::Internal`](accel_core::error::Error::Internal) if the code is not in normal form.
pub fn accumulate<'m, B, A, A2, Sh, T, R>(
    mut st: ADual<B, A, A2>,
    op: &Operation<'_, A, Sh, T, R>,
    d: &SparseTangent<A2, Tan<(Arr<Sh, T>, R)>>,
    y: &Idx<A2, (Arr<Sh, T>, R)>,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    fresh4(|n, k, l, h| {
        let (elements, sums) = match d.cast(tan_pair()).view(n) {
            SparseTangentView::Zero => return Ok(st.rename(m).0),
            SparseTangentView::Pair(a, b, q) => (a.cast(q.fst().sym()), b.cast(q.snd().sym())),
            SparseTangentView::Var(_) => {
                let whole = materialise(d, &Acc::var(y)).cast(tan_pair());
                let a = st.bind(&whole.fst(), k);
                let b = a.st.bind(&whole.snd().weaken(&a.up), l);
                let up = a.up.then(&b.up);
                let parts = SparseTangent::pair(&SparseTangent::var(&b.up.at(&a.val)), &SparseTangent::var(&b.val));
                return accumulate(b.st, op, &parts.cast(tan_pair().sym()), &up.at(y), m);
            }
        };
        st.adj.add(&op.init, &sums);
        let value = Acc::var(y);
        let elements = match elements.is_zero() {
            true => None,
            false => Some(materialise(&elements, &value.fst()).cast(tan_arr())),
        };
        // Even if it is zero: the dual needs to know how many accumulators there are.
        let sums = vec![some(materialise(&sums, &value.snd()))];
        let Some(elements) = elements else { return run(st, op, &Thinning::id(), None, sums, vec![], m) };
        let b = st.bind(&elements, h);
        let sums = sums.into_iter().map(|a| weakened(a, b.up.clone())).collect();
        run(b.st, op, &Thinning::id(), Some(&b.val), sums, vec![], m)
    })
}

/// An array computation whose type is hidden.
type SomeAcc<'a, A> = Box<dyn for<'n> Fn(Guard<'n>) -> Acc<A, X<'n>> + 'a>;

fn some<'a, A: 'a, R: 'a>(a: Acc<A, R>) -> SomeAcc<'a, A> {
    Box::new(move |n| a.cast(name(n)))
}
fn weakened<'a, A: 'a, A2: 'a>(a: SomeAcc<'a, A>, up: Thinning<A, A2>) -> SomeAcc<'a, A2> {
    Box::new(move |n| a(n).weaken(&up))
}

/// Makes a label of the adjoint of each accumulator, and then runs the dual of the function. `rest` are the adjoints
/// that have no label yet, the next one last; `ext` leads from the labels of the operation to those so far.
fn run<'m, B, A0, A, A2, Sh, T, R>(
    st: ADual<B, A, A2>,
    op: &Operation<'_, A0, Sh, T, R>,
    ext: &Thinning<A0, A>,
    elements: Option<&Idx<A2, Arr<Sh, Tan<T>>>>,
    mut rest: Vec<SomeAcc<'_, A2>>,
    adjoints: Vec<SomeIdx<A>>,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    let Some(next) = rest.pop() else { return steps(st, op, ext, elements, &adjoints, m) };
    fresh4(|n, k, l, e| {
        let next = next(n);
        match next.ty().view(k) {
            TyView::Pair(_, _, q) => {
                let next = next.cast(q);
                let mut rest: Vec<SomeAcc<'_, A2>> = rest;
                rest.extend([some(next.snd()), some(next.fst())]);
                run(st, op, ext, elements, rest, adjoints, m)
            }
            TyView::Arr(..) => {
                let x = st.bind_label(&next, e, l);
                let rest = rest.into_iter().map(|a| weakened(a, x.up.clone())).collect();
                let known = |a: &SomeIdx<A>| fresh1(|n| SomeIdx::new(&x.ext.at(&a.open(n))));
                let mut adjoints: Vec<_> = adjoints.iter().map(known).collect();
                adjoints.push(SomeIdx::new(&x.label));
                let elements = elements.map(|e| x.up.at(e));
                let r = run(x.st, op, &ext.then(&x.ext), elements.as_ref(), rest, adjoints, m)?;
                Ok(r.without_label(x.back))
            }
            TyView::Unit(_) | TyView::Scalar(_) | TyView::List(..) => run(st, op, ext, elements, rest, adjoints, m),
        }
    })
}

/// Runs the dual of the function.
fn steps<'m, B, A0, A, A2, Sh, T, R>(
    st: ADual<B, A, A2>,
    op: &Operation<'_, A0, Sh, T, R>,
    ext: &Thinning<A0, A>,
    elements: Option<&Idx<A2, Arr<Sh, Tan<T>>>>,
    adjoints: &[SomeIdx<A>],
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    fresh5(|i, j, z, k, h| {
        let f = op.f.aweaken(ext);
        let index = op.t.clone().ty();
        let dual = st.fun_dual_emitting(&f, &index, Activity::Passive, adjoints, i)?;
        if dual.is_local() {
            return Ok(st.rename(m).0);
        }
        let token = ScalarTy::of(&Ty::<f32>::of()).and_then(ScalarTy::float).expect("f32 is a floating-point type");
        let dt = tan_ty(&f.0.ty().parts().0);
        let body = |dual: &Called<A2, _, _, _>, ix: &Exp<_, A2, Sh>| {
            let d = elements.map_or_else(|| zero(&dt), |d| Exp::index(d, ix, op.at));
            let one = Floats(token).c(1.0).cast(tan_float(token).sym());
            call2(dual, ix, &Exp::pair(&d, &one).cast(tan_pair().sym()))
        };
        let sh = op.sh.aweaken(ext).aweaken(&st.emb);
        let f = Function { f: &f, argument: &index, activity: Activity::Passive, dual: &dual, adjoints };
        let s = st.run_dual(f, &op.t, &sh, body, op.at, (h, j, z, k))?;
        Ok(s.val.contribute(s.st, m).st)
    })
}
