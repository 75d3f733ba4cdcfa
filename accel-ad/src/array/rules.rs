//! The dual rules: the contributions of each array operation to the adjoints of its arguments (thesis table 2).

use super::accumulate;
use super::branches::branches;
use super::code::materialise;
use super::fold;
use super::loops::{Loop, loop_};
use super::permute;
use super::scan::{self, scan};
use super::shapes::{from_linear, in_bounds, merge, size};
use super::sorted_permute;
use super::state::ADual;
use super::steps::{Called, Function};
use crate::activity::Activity;
use crate::builders::{call2, equal, fun1, has_tangent, plus, truth, uncurry, zero};
use crate::operators::Operator;
use accel_core::ast::*;
use accel_core::error::{Error, Result};
use accel_core::pass::uses;
use accel_core::repr::Call;
use frunk::{HCons, HNil};

/// In normal form, arguments are variables.
pub fn label<A, R>(a: &Acc<A, R>) -> Result<Idx<A, R>> {
    fresh1(|n| match a.view(n) {
        AccView::Var(i) => Ok(i),
        _ => Err(Error::Internal("dual pass: an array argument is not in normal form".into())),
    })
}

/// The adjoint of a single array is always a variable.
fn single<A, Sh, T>(d: &SparseTangent<A, Tan<Arr<Sh, T>>>) -> Result<Idx<A, Arr<Sh, Tan<T>>>> {
    fresh1(|n| match d.cast(tan_arr()).view(n) {
        SparseTangentView::Var(i) => Ok(i),
        _ => Err(Error::Internal("dual pass: the adjoint of an array is not a variable".into())),
    })
}

/// Adds the contributions of the definition `rhs`. `y` is its value, and `d` its adjoint, which is not zero.
pub fn step<'m, B, A, A2, R>(
    rhs: &Acc<A, R>,
    st: ADual<B, A, A2>,
    d: &SparseTangent<A2, Tan<R>>,
    y: &Idx<A2, R>,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    fresh1(|n| match rhs.custom(n) {
        None => operation(rhs, st, d, y, m),
        Some(c) => {
            let (arg, y) = (label(&c.arg)?, Acc::var(y));
            let at = Acc::pair(&st.value(&arg), &Acc::pair(&y, &materialise(d, &y)));
            let adjoint = Acc::let_(&at, &c.functions.pullback.weaken(&st.emb.lift()));
            Ok(st.contribute(&arg, &adjoint, m).st)
        }
    })
}

/// As [`step`], for a definition without a rule of its own.
fn operation<'m, B, A, A2, R>(
    rhs: &Acc<A, R>,
    mut st: ADual<B, A, A2>,
    d: &SparseTangent<A2, Tan<R>>,
    y: &Idx<A2, R>,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    let at = rhs.at().map(Source::adjoint);
    fresh8(|n, k, l, i, j, h, g, i2| {
        let op = match rhs.view(n) {
            AccView::Use(_) => return Ok(st.rename(m).0),
            AccView::Var(a) => {
                st.adj.add(&a, d);
                return Ok(st.rename(m).0);
            }
            AccView::Let(..) => return Err(Error::Internal("dual pass: a let in normal form".into())),
            AccView::While(_) => {
                return Err(Error::Internal("dual pass: a loop in normal form lists its states".into()));
            }
            AccView::Loop(w, q) => {
                let w = Loop { init: label(&w.init)?, xs: label(&w.xs)?, parts: &w, at };
                return loop_(st, &w, &d.cast(eq_tan(q)), &y.cast(q), m);
            }
            AccView::Op(op) => op,
        };
        match op {
            AccOp::Unit { .. } => Ok(st.rename(m).0),
            AccOp::Pair { a, b, eq } => {
                let parts = eq_tan(eq).then(tan_pair());
                let (a, b, p) = (label(&a)?, label(&b)?, d.cast(parts));
                match p.view(k) {
                    SparseTangentView::Pair(da, db, q) => {
                        st.adj.add(&a, &da.cast(q.fst().sym()));
                        st.adj.add(&b, &db.cast(q.snd().sym()));
                        Ok(st.rename(m).0)
                    }
                    _ => {
                        let whole = materialise(d, &Acc::var(y)).cast(parts);
                        let s = st.contribute(&a, &whole.fst(), l);
                        Ok(s.st.contribute(&b, &whole.snd().weaken(&s.up), m).st)
                    }
                }
            }
            AccOp::Fst { a, eq } => {
                let whole =
                    SparseTangent::pair(d, &SparseTangent::zero()).cast(tan_pair().sym().then(eq_tan(eq.sym())));
                st.adj.add(&label(&a)?, &whole);
                Ok(st.rename(m).0)
            }
            AccOp::Snd { a, eq } => {
                let whole =
                    SparseTangent::pair(&SparseTangent::zero(), d).cast(tan_pair().sym().then(eq_tan(eq.sym())));
                st.adj.add(&label(&a)?, &whole);
                Ok(st.rename(m).0)
            }
            AccOp::Cond { cond, then, otherwise } => branches(st, &cond, &then, &otherwise, d, at, m),
            AccOp::Generate { sh, f, eq } => {
                let d = single(&d.cast(eq_tan(eq)))?;
                let dual = st.fun_dual(&f, sh.ty(), Activity::Passive, i)?;
                st.reads_of(Function::new(&f, sh.ty(), Activity::Passive, &dual), &d.ty().sh_elt().0, &d, at, m)
            }
            AccOp::Accumulate { sh, f, init, eq } => {
                let t = rhs.ty().cast(eq).parts().0.sh_elt().0;
                let op = accumulate::Operation { f: &f, sh: &sh, t, init: label(&init)?, at };
                accumulate::accumulate(st, &op, &d.cast(eq_tan(eq)), &y.cast(eq), m)
            }
            AccOp::Map { f, a, eq } => {
                let (a, d) = (label(&a)?, single(&d.cast(eq_tan(eq)))?);
                let p = a.ty().sh_elt().1;
                let all = st.fun_dual(&f, &p, st.activity_of(&a), i)?;
                let (x, dx) = (st.value(&a), Acc::var(&d));
                if all.is_local() {
                    let dual = all.dual.aweaken(&st.emb);
                    let df = dual.0.fst();
                    // If the derivative does not depend on the value, the value need not be recomputed.
                    let da = match uses_first(&df) {
                        true => Acc::zip_with(&Fun2(df), &x, &dx, at),
                        false => Acc::map(&fun1(&tan_ty(f.0.ty()), |d| call2(&Fun2(df), &zero(&p), &d)), &dx, at),
                    };
                    let da = da.cast(tan_arr().sym());
                    return Ok(if has_tangent(&p) { st.contribute(&a, &da, m).st } else { st.rename(m).0 });
                }
                if all.in_loops.is_empty() {
                    let dual = all.dual.aweaken(&st.emb);
                    let res = st.bind(&Acc::zip_with(&dual, &x, &dx, at), k);
                    let pair = res.val.ty().sh_elt().1;
                    let da = Acc::map(&fun1(&pair, |x| x.fst()), &Acc::var(&res.val), at).cast(tan_arr().sym());
                    let s = res.st.contribute(&a, &da, l);
                    let (values, tuple) = (s.up.at(&res.val), fun1(&pair, |x| x.snd()));
                    return Ok(s.st.scatter(&all.sites, &values, &tuple, m).0);
                }
                // Scalar code that emits has a statement of its own, which reads the arrays.
                let function = Function::new(&f, &p, st.activity_of(&a), &all);
                let (t, x) = (d.ty().sh_elt().0, st.emb.at(&a));
                let body = |dual: &Called<A2, _, _, _>, ix: &Exp<_, A2, _>| {
                    call2(dual, &Exp::index(&x, ix, at), &Exp::index(&d, ix, at))
                };
                let res = st.run_dual(function, &t, &Exp::shape(&d), body, at, (i2, j, h, k))?;
                let values = &res.val.values;
                let da = Acc::map(&fun1(&values.ty().sh_elt().1, |x| x.fst()), &Acc::var(values), at);
                let s = res.st.contribute(&a, &da.cast(tan_arr().sym()), l);
                Ok(res.val.weaken(&s.up).contribute(s.st, m).st)
            }
            // The primal program checks this.
            AccOp::Agree { a, eq, .. } => {
                st.adj.add(&label(&a)?, &d.cast(eq_tan(eq)));
                Ok(st.rename(m).0)
            }
            AccOp::ZipWith { f, a, b, eq } => {
                let (a, b, d) = (label(&a)?, label(&b)?, single(&d.cast(eq_tan(eq)))?);
                let ((sh, ta), tb) = (a.ty().sh_elt(), b.ty().sh_elt().1);
                let both = Activity::pair(st.activity_of(&a), st.activity_of(&b));
                let (f, p) = (uncurry(&f, &ta, &tb), Ty::pair(&ta, &tb));
                let dual = st.fun_dual(&f, &p, both.clone(), i)?;
                let (va, vb) = (st.emb.at(&a), st.emb.at(&b));
                let values = uses_first(&dual.dual.0) || !dual.in_loops.is_empty();
                let body = |dual: &Called<A2, _, _, _>, ix: &Exp<_, A2, _>| {
                    let x = match values {
                        true => Exp::pair(&Exp::index(&va, ix, at), &Exp::index(&vb, ix, at)),
                        false => zero(&p),
                    };
                    call2(dual, &x, &Exp::index(&d, ix, at))
                };
                let function = Function::new(&f, &p, both, &dual);
                let res = st.run_dual(function, &sh, &Exp::shape(&d), body, at, (i2, g, h, k))?;
                let pair = res.val.values.ty().sh_elt().1;
                let da = fun1(&pair, |x| x.fst().cast(tan_pair()).fst());
                let s = spread(res.st, &a, &Acc::map(&da, &Acc::var(&res.val.values), at), at, l);
                let res = res.val.weaken(&s.1);
                let db = fun1(&pair, |x| x.fst().cast(tan_pair()).snd());
                let s = spread(s.0, &b, &Acc::map(&db, &Acc::var(&res.values), at), at, j);
                Ok(res.weaken(&s.1).contribute(s.0, m).st)
            }
            AccOp::Fold { f, z, a, eq } => {
                let (a, d) = (label(&a)?, single(&d.cast(eq_tan(eq)))?);
                fold::fold(st, &f, Some(&z), &a, &d, at, m)
            }
            AccOp::Fold1 { f, a, eq } => {
                let (a, d) = (label(&a)?, single(&d.cast(eq_tan(eq)))?);
                fold::fold(st, &f, None, &a, &d, at, m)
            }
            AccOp::Scan { dir, f, z, a, eq } => {
                let (a, d) = (label(&a)?, single(&d.cast(eq_tan(eq)))?);
                scan(st, scan::Operation { dir, f: &f, z: Some(&z), at }, &a, &y.cast(eq), &d, m)
            }
            AccOp::Scan1 { dir, f, a, eq } => {
                let (a, d) = (label(&a)?, single(&d.cast(eq_tan(eq)))?);
                scan(st, scan::Operation { dir, f: &f, z: None, at }, &a, &y.cast(eq), &d, m)
            }
            AccOp::Permute { comb, defaults, index, a, eq } => {
                let (defaults, a, d) = (label(&defaults)?, label(&a)?, single(&d.cast(eq_tan(eq)))?);
                let op = permute::Operation { comb: &comb, defaults, index: &index, a, at };
                match Operator::of(&comb) {
                    Operator::Other => sorted_permute::permute(st, &op, &d, m),
                    operator => Ok(permute::permute(st, &op, &operator, &y.cast(eq), &d, m)),
                }
            }
            AccOp::Backpermute { f, a, eq, .. } => {
                let (a, d) = (label(&a)?, single(&d.cast(eq_tan(eq)))?);
                let target = f.aweaken(&st.emb);
                let index = Fun1(Exp::pair(&truth(true), &target.0));
                let da = onto(&st, &a, &index, &Acc::var(&d), at);
                Ok(st.contribute(&a, &da, m).st)
            }
            // Its result consists of integers, whose adjoints are empty. The derivative is that of a gather through it.
            AccOp::Argsort { .. } => Ok(st.rename(m).0),
            AccOp::Foreign { f, a, .. } => {
                let a = label(&a)?;
                if st.activity_of(&a).is_passive() {
                    return Ok(st.rename(m).0);
                }
                let (Some(function), TyView::Arr(_, _, q)) = (f.function.adjoint(), a.ty().view(k)) else {
                    return Err(no_derivative(&f, rhs.at()));
                };
                let (sh, d) = (Exp::shape(&st.emb.at(&a.cast(q))), materialise(d, &Acc::var(y)));
                let t = ArraysTy::of(&tan_ty(a.ty())).ok_or_else(|| no_derivative(&f, rhs.at()))?;
                let da = Acc::foreign(&Call { function, lanes: f.lanes }, &sh, &d, &t, at);
                Ok(st.contribute(&a, &da, m).st)
            }
            AccOp::Reshape { a, eq, .. } => {
                let (a, d) = (label(&a)?, single(&d.cast(eq_tan(eq)))?);
                // Errors of the adjoint swap the shapes, those of its own adjoint do not.
                let at =
                    rhs.at().map(|s| if s.role == Role::Adjoint { Source::new(s.name, s.at) } else { s.adjoint() });
                let da = Acc::reshape(&a.ty().sh_elt().0, &Exp::shape(&st.emb.at(&a)), &Acc::var(&d), at);
                Ok(st.contribute(&a, &da.cast(tan_arr().sym()), m).st)
            }
            AccOp::Replicate { spec, slx, a, eq } => {
                let (a, d) = (label(&a)?, single(&d.cast(eq_tan(eq)))?);
                let slx = slx.aweaken(&st.emb);
                let small = Exp::shape(&st.emb.at(&a));
                // Sums the rows of all copies of each element.
                let rows = Exp::pair(&small, &size(&slx));
                let source = fun1(rows.ty(), |ix| {
                    let fixed = from_linear(&slx.weaken(&Thinning::from_nil()), &ix.snd());
                    merge(&spec, &fixed, &ix.fst())
                });
                let copies = Acc::backpermute(&a.ty().sh_elt().0.push(), &rows, &source, &Acc::var(&d), at);
                let t = d.ty().sh_elt().1;
                let da = Acc::fold(&plus(&t), &zero(&t), &copies, at).cast(tan_arr().sym());
                Ok(st.contribute(&a, &da, m).st)
            }
            AccOp::Slice { spec, slx, a, eq } => {
                let (a, d) = (label(&a)?, single(&d.cast(eq_tan(eq)))?);
                let slx = slx.aweaken(&st.emb);
                let place = fun1(&spec.small(), |ix| {
                    Exp::pair(&truth(true), &merge(&spec, &slx.weaken(&Thinning::from_nil()), &ix))
                });
                let da = onto(&st, &a, &place, &Acc::var(&d), at);
                Ok(st.contribute(&a, &da, m).st)
            }
        }
    })
}

/// The error of a derivative of a foreign function that has none.
pub fn no_derivative(f: &Call, at: Src) -> Error {
    match at {
        Some(at) => Error::NoDerivative { op: f.function.name(), at: at.at },
        None => Error::Internal(format!("the derivative of the foreign function `{}`", f.function.name())),
    }
}

/// Whether the expression uses the first of its two arguments.
fn uses_first<A, P, Q, R>(code: &Exp<HCons<Q, HCons<P, HNil>>, A, R>) -> bool {
    let mut found = false;
    uses(code, &mut |k| found |= k == 1);
    found
}

/// A `permute (+)` of adjoints onto zeros of the shape of `a`.
pub fn onto<B, A, A2, Sh, Sh2, T>(
    st: &ADual<B, A, A2>,
    a: &Idx<A, Arr<Sh, T>>,
    index: &Fun1<A2, Sh2, (bool, Sh)>,
    d: &Acc<A2, Arr<Sh2, Tan<T>>>,
    at: Src,
) -> Acc<A2, Tan<Arr<Sh, T>>> {
    let zeros = super::code::zeros(&st.value(a)).cast(tan_arr());
    Acc::permute(&plus(&tan_ty(&a.ty().sh_elt().1)), &zeros, index, d, at).cast(tan_arr().sym())
}

/// Contributes `da`, which may be smaller than `a` (`zip_with` ignores elements outside the intersection of the
/// shapes).
fn spread<'k, B, A, A2, Sh, T>(
    st: ADual<B, A, A2>,
    a: &Idx<A, Arr<Sh, T>>,
    da: &Acc<A2, Arr<Sh, Tan<T>>>,
    at: Src,
    k: Guard<'k>,
) -> (ADual<B, A, X<'k>>, Thinning<A2, X<'k>>) {
    let (sh, t) = a.ty().sh_elt();
    if !has_tangent(&t) || st.activity_of(a).is_passive() {
        let (st, q) = st.rename(k);
        return (st, Thinning::id().to(q));
    }
    fresh1(|l| {
        let small = st.bind(da, l);
        let (st, d) = (small.st, small.val);
        let full = Exp::shape(&st.emb.at(a));
        let padded = fun1(&sh, |ix| {
            let inside = in_bounds(&ix, &Exp::shape(&d));
            Exp::cond(&inside, &Exp::index(&d, &ix, at), &zero(&tan_ty(&t)))
        });
        let same = equal(&full, &Exp::shape(&d));
        let whole = Acc::cond(&same, &Acc::var(&d), &Acc::generate(&sh, &full, &padded, at), at);
        let s = st.contribute(a, &whole.cast(tan_arr().sym()), k);
        (s.st, small.up.then(&s.up))
    })
}
