//! Forward mode for arrays: every array is followed by the array of its tangents (see the glossary of the book:
//! tangent). Tangents that are known to be zero are not computed. It supports the whole language and is also the oracle
//! in tests of reverse mode.

use super::code::{ACode, AEmitted, materialise};
use super::rules::no_derivative;
use crate::builders::{arg, args, call, call2, fun1, has_tangent, plus, uncurry, unit, zero};
use crate::forms::Argument;
use crate::operators::Operator;
use crate::scalar::forward::{Duals, FunForward, fun_forward, tangent_of_two};
use accel_core::ast::*;
use accel_core::pass::{rename_acc, rename_arrays, rename_custom};
use accel_core::repr::RawTy;
use frunk::HNil;

/// The code after an array and its tangent.
pub struct AForward<'m, B, A, R> {
    pub code: ACode<B, X<'m>>,
    pub var: Idx<X<'m>, R>,
    pub tan: SparseTangent<X<'m>, Tan<R>>,
    pub up: Thinning<A, X<'m>>,
}

impl<'m, B, A, R> AForward<'m, B, A, R> {
    fn constant(e: AEmitted<'m, B, A, R>) -> Self {
        AForward { code: e.code, var: e.var, tan: SparseTangent::zero(), up: e.up }
    }
    /// Adds a value whose tangent is known.
    fn then<'k, U>(
        &self,
        rhs: &Acc<X<'m>, U>,
        tan: &SparseTangent<X<'m>, Tan<U>>,
        k: Guard<'k>,
    ) -> AForward<'k, B, A, U> {
        let e = self.code.emit(rhs, k);
        AForward { code: e.code, var: e.var, tan: tan.weaken(&e.up), up: self.up.then(&e.up) }
    }
    /// Adds a value and its tangent.
    fn then_both<'k, U>(
        &self,
        rhs: &Acc<X<'m>, U>,
        tan: Option<Acc<X<'m>, Tan<U>>>,
        k: Guard<'k>,
    ) -> AForward<'k, B, A, U> {
        let Some(tan) = tan else { return self.then(rhs, &SparseTangent::zero(), k) };
        fresh1(|l| {
            let e = self.code.emit(rhs, l);
            let d = e.code.emit(&tan.weaken(&e.up), k);
            let up = self.up.then(&e.up).then(&d.up);
            AForward { var: d.up.at(&e.var), tan: SparseTangent::var(&d.var), code: d.code, up }
        })
    }
    /// The tangent, with explicit zeros.
    pub fn tangent(&self) -> Acc<X<'m>, Tan<R>> {
        materialise(&self.tan, &Acc::var(&self.var))
    }
}

/// A value and its tangent in one environment.
struct Dual<A, R> {
    var: Idx<A, R>,
    tan: SparseTangent<A, Tan<R>>,
}

impl<A, Sh, T> Dual<A, Arr<Sh, T>> {
    /// The tangent, with explicit zeros.
    fn tangent(&self) -> Acc<A, Arr<Sh, Tan<T>>> {
        materialise(&self.tan, &Acc::var(&self.var)).cast(tan_arr())
    }
    /// The array of pairs of value and tangent.
    fn bundle(&self, at: Src) -> Acc<A, Arr<Sh, (T, Tan<T>)>> {
        let t = self.var.ty().sh_elt().1;
        let (x, dx) = args(&t, &tan_ty(&t));
        Acc::zip_with(&Fun2(Exp::pair(&x, &dx)), &Acc::var(&self.var), &self.tangent(), at)
    }
}

impl<'m, B, A, Sh, T> AForward<'m, B, A, Arr<Sh, T>> {
    /// The tangent of a single array, unless it is zero.
    fn single(&self) -> Option<Acc<X<'m>, Arr<Sh, Tan<T>>>> {
        (!self.tan.is_zero()).then(|| self.tangent().cast(tan_arr()))
    }
    /// The array of pairs of value and tangent.
    fn bundle(&self, at: Src) -> Acc<X<'m>, Arr<Sh, (T, Tan<T>)>> {
        Dual { var: self.var.clone(), tan: self.tan.clone() }.bundle(at)
    }
}

/// Splits an array of pairs of value and tangent.
fn unbundle<'k, 'm, B, A, P, Sh, T>(
    before: &AForward<'k, B, A, P>,
    pairs: &Acc<X<'k>, Arr<Sh, (T, Tan<T>)>>,
    at: Src,
    m: Guard<'m>,
) -> AForward<'m, B, A, Arr<Sh, T>> {
    fresh1(|l| {
        let all = before.then(pairs, &SparseTangent::zero(), l);
        let t = all.var.ty().sh_elt().1;
        let v = Acc::var(&all.var);
        let tan = has_tangent(&t.parts().0).then(|| Acc::map(&fun1(&t, |x| x.snd()), &v, at).cast(tan_arr().sym()));
        all.then_both(&Acc::map(&fun1(&t, |x| x.fst()), &v, at), tan, m)
    })
}

/// Emits the value and the tangent of `e`.
pub fn forward<'m, B, A0, A, R>(
    e: &Acc<A0, R>,
    arrays: &Duals<A0, A>,
    code: &ACode<B, A>,
    m: Guard<'m>,
) -> AForward<'m, B, A, R> {
    fresh4(|a0, a1, b, r| {
        let (a0, a1, b, r) = (name(a0), name(a1), name(b), name(r));
        let arrays = arrays.cast(a0).recast(a1);
        let code = ACode { tele: code.tele.cast_all(b, a1), size: code.size.cast(a1) };
        let f = deep(|| forward_(&e.cast_env(a0).cast(r), &arrays, &code, m));
        let same = Equal::refl();
        AForward {
            code: ACode { tele: f.code.tele.cast_all(b.sym(), same), size: f.code.size },
            var: f.var.cast(r.sym()),
            tan: f.tan.cast(eq_tan(r.sym())),
            up: f.up.cast(a1.sym(), same),
        }
    })
}

fn forward_<'m, 'z, 'a, 'b, 'r>(
    e: &Acc<X<'z>, X<'r>>,
    arrays: &Duals<X<'z>, X<'a>>,
    code: &ACode<X<'b>, X<'a>>,
    m: Guard<'m>,
) -> AForward<'m, X<'b>, X<'a>, X<'r>> {
    let at = e.at().map(Source::tangent);
    fresh5(|n, c, p, r, l| {
        if has_tangent(e.ty())
            && let Some(c) = e.custom(c)
        {
            let arg = forward(&c.arg, arrays, code, p);
            let outside = (&arrays.weaken(&arg.up).values).into();
            let functions = rename_custom(&c.functions, c.arg.ty(), &outside);
            let e = arg.code.emit(&Acc::with_rule(&Acc::var(&arg.var), &functions, at), r);
            let tan = (!arg.tan.is_zero()).then(|| {
                let (x, dx) = (Acc::var(&e.up.at(&arg.var)), arg.tangent().weaken(&e.up));
                let at = Acc::pair(&x, &Acc::pair(&Acc::var(&e.var), &dx));
                Acc::let_(&at, &functions.pushforward.weaken(&e.up.lift()))
            });
            let up = arg.up.then(&e.up);
            let value = AForward { up, ..AForward::constant(e) };
            return value.then_both(&Acc::var(&value.var), tan, m);
        }
        let op = match e.view(n) {
            AccView::Use(lit) => return AForward::constant(code.emit(&Acc::use_(&lit, at), m)),
            AccView::Var(i) => {
                let q = name(m);
                let (var, tan) = (arrays.values.get(&i).cast_env(q), arrays.tangents.get(&i).cast_env(q));
                return AForward { code: code.rename(q), var, tan, up: Thinning::id().to(q) };
            }
            _ if !has_tangent(e.ty()) => {
                return AForward::constant(code.emit(&rename_acc(e, &(&arrays.values).into()), m));
            }
            AccView::Let(b, body, q) => {
                let b = forward(&b, arrays, code, p);
                let arrays = arrays.weaken(&b.up).push(&b.var, &b.tan).cast(q.sym());
                let e = forward(&body, &arrays, &b.code, m);
                return AForward { up: b.up.then(&e.up), code: e.code, var: e.var, tan: e.tan };
            }
            AccView::While(w) => return forward_while(&w, e.ty(), arrays, code, at, m),
            AccView::Loop(loop_, q) => return retype(forward_loop(&loop_, arrays, code, at, r), q, m),
            AccView::Op(op) => op,
        };
        match op {
            AccOp::Unit { .. } | AccOp::Argsort { .. } => {
                AForward::constant(code.emit(&rename_acc(e, &(&arrays.values).into()), m))
            }
            AccOp::Pair { a, b, eq } => {
                let (a, b, _) = both(&a, &b, arrays, code, r);
                let tan = SparseTangent::pair(&a.tan, &b.tan).cast(tan_pair().sym().then(eq_tan(eq.sym())));
                b.then(&Acc::pair(&Acc::var(&a.var), &Acc::var(&b.var)).cast(eq.sym()), &tan, m)
            }
            AccOp::Fst { a, eq } => {
                let a = forward(&a, arrays, code, p);
                let tan = a.tan.cast(eq_tan(eq).then(tan_pair()));
                let value = Acc::var(&a.var.cast(eq)).fst();
                match tan.view(l) {
                    SparseTangentView::Zero => a.then(&value, &SparseTangent::zero(), m),
                    SparseTangentView::Pair(d, _, q) => a.then(&value, &d.cast(q.fst().sym()), m),
                    SparseTangentView::Var(d) => a.then_both(&value, Some(Acc::var(&d).fst()), m),
                }
            }
            AccOp::Snd { a, eq } => {
                let a = forward(&a, arrays, code, p);
                let tan = a.tan.cast(eq_tan(eq).then(tan_pair()));
                let value = Acc::var(&a.var.cast(eq)).snd();
                match tan.view(l) {
                    SparseTangentView::Zero => a.then(&value, &SparseTangent::zero(), m),
                    SparseTangentView::Pair(_, d, q) => a.then(&value, &d.cast(q.snd().sym()), m),
                    SparseTangentView::Var(d) => a.then_both(&value, Some(Acc::var(&d).snd()), m),
                }
            }
            AccOp::Cond { cond, then, otherwise } => {
                let (t, f) = (Branch::of(&then, arrays, code.size), Branch::of(&otherwise, arrays, code.size));
                let cond = rename_arrays(&cond, &arrays.values);
                if t.constant && f.constant {
                    return AForward::constant(code.emit(&Acc::cond(&cond, &t.both.fst(), &f.both.fst(), at), m));
                }
                let all = AForward::constant(code.emit(&Acc::cond(&cond, &t.both, &f.both, at), r));
                split(&all, m)
            }
            AccOp::Generate { sh, f, eq } => {
                let ff = fun_forward(&f, sh.ty(), false, arrays);
                let t = e.ty().cast(eq).sh_elt().0;
                let sh = rename_arrays(&sh, &arrays.values);
                let value = AForward::constant(code.emit(&Acc::generate(&t, &sh, &ff.value, at), r));
                let tan = ff.tangent.map(|d| {
                    let d = d.aweaken(&value.up);
                    let over = fun1(sh.ty(), |ix| call2(&d, &ix, &zero(&tan_ty(sh.ty()))));
                    Acc::generate(&t, &Exp::shape(&value.var), &over, at).cast(tan_arr().sym().then(eq_tan(eq.sym())))
                });
                value.then_both(&Acc::var(&value.var).cast(eq.sym()), tan, m)
            }
            AccOp::Accumulate { sh, f, init, eq } => {
                let init = forward(&init, arrays, code, p);
                let arrays = arrays.weaken(&init.up).emitting(number_of_arrays(init.var.ty().raw()));
                let ff = fun_forward(&f, sh.ty(), false, &arrays);
                let (ty, t) = (e.ty().cast(eq).parts().0, arg(sh.ty()));
                let none = zero(&tan_ty(sh.ty()));
                let both = call(&ff.both, &Exp::pair(&t, &none));
                let v = Exp::var(&Idx::zero(both.ty()));
                let (y, dy) = (v.fst(), v.snd().cast(tan_pair()));
                let result = Exp::pair(&Exp::pair(&y.fst(), &dy.fst()), &y.snd());
                let f = Fun1(Exp::let_(&both, &result));
                let sh = rename_arrays(&sh, &arrays.values);
                let sums = Acc::pair(&Acc::var(&init.var), &init.tangent());
                let all = Acc::accumulate(&ty.sh_elt().0, &sh, &f, &sums, at);
                let all = init.then(&all, &SparseTangent::zero(), r);
                let v = Acc::var(&all.var);
                let pair = all.var.ty().parts().0.sh_elt().1;
                let value = Acc::pair(&Acc::map(&fun1(&pair, |x| x.fst()), &v.fst(), at), &v.snd().fst());
                let tangents = Acc::map(&fun1(&pair, |x| x.snd()), &v.fst(), at).cast(tan_arr().sym());
                let tan = Acc::pair(&tangents, &v.snd().snd()).cast(tan_pair().sym());
                retype(all.then_both(&value, Some(tan), l), eq, m)
            }
            AccOp::Foreign { f, sh, a } => {
                let a = forward(&a, arrays, code, p);
                let sh = rename_arrays(&sh, &arrays.weaken(&a.up).values);
                let t = ArraysTy::of(e.ty()).expect("a foreign function computes arrays");
                let value = Acc::foreign(&f, &sh, &Acc::var(&a.var), &t, at);
                let tan = (!a.tan.is_zero()).then(|| {
                    if f.function.adjoint().is_none() {
                        arrays.refuse(no_derivative(&f, e.at()));
                    }
                    let t = ArraysTy::of(&tan_ty(e.ty())).expect("tangents of arrays are arrays");
                    Acc::foreign(&f, &sh, &a.tangent(), &t, at)
                });
                a.then_both(&value, tan, m)
            }
            AccOp::Map { f, a, eq } => {
                let a = forward(&a, arrays, code, p);
                let arrays = arrays.weaken(&a.up);
                let (x, dx) = (Acc::var(&a.var), a.single());
                let FunForward { value, tangent, .. } = fun_forward(&f, &a.var.ty().sh_elt().1, dx.is_some(), &arrays);
                let tan = tangent.map(|t| {
                    let dx = dx.unwrap_or_else(|| a.tangent().cast(tan_arr()));
                    Acc::zip_with(&t, &x, &dx, at).cast(tan_arr().sym().then(eq_tan(eq.sym())))
                });
                a.then_both(&Acc::map(&value, &x, at).cast(eq.sym()), tan, m)
            }
            // The tangent has the shape of the value.
            AccOp::Agree { agreement, user, left, right, a, eq } => {
                let a = forward(&a, arrays, code, p);
                let arrays = arrays.weaken(&a.up);
                let (left, right) = (rename_arrays(&left, &arrays.values), rename_arrays(&right, &arrays.values));
                let value = Acc::agree(agreement, user, &left, &right, &Acc::var(&a.var), at);
                a.then(&value.cast(eq.sym()), &a.tan.cast(eq_tan(eq.sym())), m)
            }
            AccOp::ZipWith { f, a, b, eq } => {
                let (a, b, arrays) = both(&a, &b, arrays, code, r);
                let (ta, tb) = (a.var.ty().sh_elt().1, b.var.ty().sh_elt().1);
                let varies = [!a.tan.is_zero(), !b.tan.is_zero()];
                let tangent = tangent_of_two(&f, (&ta, &tb), varies, &arrays);
                let value = Fun2(rename_arrays(&f.0, &arrays.values));
                let value = Acc::zip_with(&value, &Acc::var(&a.var), &Acc::var(&b.var), at);
                let Some(t) = tangent else { return b.then(&value.cast(eq.sym()), &SparseTangent::zero(), m) };
                // Zips the values and tangents of both sources; elements outside the intersection are ignored later.
                let tan = Acc::zip_with(&t, &a.bundle(at), &b.bundle(at), at);
                b.then_both(&value.cast(eq.sym()), Some(tan.cast(tan_arr().sym().then(eq_tan(eq.sym())))), m)
            }
            AccOp::Fold { f, z, a, eq } => {
                let a = forward(&a, arrays, code, p);
                let arrays = arrays.weaken(&a.up);
                let start = fun_forward(&Fun1(z.weaken(&Thinning::from_nil())), &Ty::of(), false, &arrays);
                // The tangent of a sum does not need the values. In a loop over directions, they are computed once.
                if Operator::of(&f) == Operator::Sum && start.tangent.is_none() {
                    let (t, z) = (tan_ty(&a.var.ty().sh_elt().1), call(&start.value, &unit()));
                    let value = Fun2(rename_arrays(&f.0, &arrays.values));
                    let value = Acc::fold(&value, &z, &Acc::var(&a.var), at);
                    let tan = (!a.tan.is_zero())
                        .then(|| Acc::fold(&plus(&t), &zero(&t), &a.tangent().cast(tan_arr()), at))
                        .map(|t| t.cast(tan_arr().sym().then(eq_tan(eq.sym()))));
                    return a.then_both(&value.cast(eq.sym()), tan, m);
                }
                let (f, z) = (operator(&f, &arrays), initial(&z, &arrays));
                retype(unbundle(&a, &Acc::fold(&f, &z, &a.bundle(at), at), at, r), eq, m)
            }
            AccOp::Fold1 { f, a, eq } => {
                let a = forward(&a, arrays, code, p);
                let f = operator(&f, &arrays.weaken(&a.up));
                retype(unbundle(&a, &Acc::fold1(&f, &a.bundle(at), at), at, r), eq, m)
            }
            AccOp::Scan { dir, f, z, a, eq } => {
                let a = forward(&a, arrays, code, p);
                let arrays = arrays.weaken(&a.up);
                let (f, z) = (operator(&f, &arrays), initial(&z, &arrays));
                let bundled = Acc::scan(dir, &f, &z, &a.bundle(at), at);
                retype(unbundle(&a, &bundled, at, r), eq, m)
            }
            AccOp::Scan1 { dir, f, a, eq } => {
                let a = forward(&a, arrays, code, p);
                let f = operator(&f, &arrays.weaken(&a.up));
                retype(unbundle(&a, &Acc::scan1(dir, &f, &a.bundle(at), at), at, r), eq, m)
            }
            AccOp::Permute { comb, defaults, index, a, eq } => {
                let (d, a, arrays) = both(&defaults, &a, arrays, code, r);
                let index = Fun1(rename_arrays(&index.0, &arrays.values));
                // The tangents are moved as the values are.
                if Operator::of(&comb) == Operator::Argument(Argument::First) {
                    let t = tan_ty(&a.var.ty().sh_elt().1);
                    let new = Fun2(args(&t, &t).0);
                    let tan = (!d.tan.is_zero() || !a.tan.is_zero())
                        .then(|| Acc::permute(&new, &d.tangent(), &index, &a.tangent().cast(tan_arr()), at));
                    let comb = Fun2(rename_arrays(&comb.0, &arrays.values));
                    let value = Acc::permute(&comb, &Acc::var(&d.var), &index, &Acc::var(&a.var), at);
                    let tan = tan.map(|t| t.cast(tan_arr().sym().then(eq_tan(eq.sym()))));
                    return a.then_both(&value.cast(eq.sym()), tan, m);
                }
                let comb = operator(&comb, &arrays);
                let bundled = Acc::permute(&comb, &d.bundle(at), &index, &a.bundle(at), at);
                retype(unbundle(&a, &bundled, at, l), eq, m)
            }
            AccOp::Backpermute { sh, f, a, eq } => {
                let t = e.ty().cast(eq).sh_elt().0;
                let a = forward(&a, arrays, code, p);
                let arrays = arrays.weaken(&a.up);
                let (sh, f) = (rename_arrays(&sh, &arrays.values), Fun1(rename_arrays(&f.0, &arrays.values)));
                let tan = a
                    .single()
                    .map(|d| Acc::backpermute(&t, &sh, &f, &d, at).cast(tan_arr().sym().then(eq_tan(eq.sym()))));
                a.then_both(&Acc::backpermute(&t, &sh, &f, &Acc::var(&a.var), at).cast(eq.sym()), tan, m)
            }
            AccOp::Reshape { sh, a, eq } => {
                let t = e.ty().cast(eq).sh_elt().0;
                let a = forward(&a, arrays, code, p);
                let sh = rename_arrays(&sh, &arrays.weaken(&a.up).values);
                let tan =
                    a.single().map(|d| Acc::reshape(&t, &sh, &d, at).cast(tan_arr().sym().then(eq_tan(eq.sym()))));
                a.then_both(&Acc::reshape(&t, &sh, &Acc::var(&a.var), at).cast(eq.sym()), tan, m)
            }
            AccOp::Replicate { spec, slx, a, eq } => {
                let a = forward(&a, arrays, code, p);
                let slx = rename_arrays(&slx, &arrays.weaken(&a.up).values);
                let tan = a
                    .single()
                    .map(|d| Acc::replicate(&spec, &slx, &d, at).cast(tan_arr().sym().then(eq_tan(eq.sym()))));
                a.then_both(&Acc::replicate(&spec, &slx, &Acc::var(&a.var), at).cast(eq.sym()), tan, m)
            }
            AccOp::Slice { spec, slx, a, eq } => {
                let a = forward(&a, arrays, code, p);
                let slx = rename_arrays(&slx, &arrays.weaken(&a.up).values);
                let tan =
                    a.single().map(|d| Acc::slice(&spec, &slx, &d, at).cast(tan_arr().sym().then(eq_tan(eq.sym()))));
                a.then_both(&Acc::slice(&spec, &slx, &Acc::var(&a.var), at).cast(eq.sym()), tan, m)
            }
        }
    })
}

/// The number of arrays in a tuple.
fn number_of_arrays(t: &RawTy) -> usize {
    match t {
        RawTy::Pair(p) => number_of_arrays(&p.0) + number_of_arrays(&p.1),
        RawTy::Array(_) => 1,
        RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => 0,
    }
}

/// Replaces the result type by an equal one.
fn retype<'k, 'm, B, A, R, Q>(f: AForward<'k, B, A, R>, q: Equal<Q, R>, m: Guard<'m>) -> AForward<'m, B, A, Q> {
    let w = name(m);
    let q = q.sym();
    AForward {
        code: f.code.rename(w),
        var: f.var.cast(q).cast_env(w),
        tan: f.tan.cast(eq_tan(q)).cast_env(w),
        up: f.up.to(w),
    }
}

/// Both arguments of an operation, and the state after them.
type Both<'m, B, A0, A, P, Q> = (Dual<X<'m>, P>, AForward<'m, B, A, Q>, Duals<A0, X<'m>>);

fn both<'m, B, A0, A, P, Q>(
    a: &Acc<A0, P>,
    b: &Acc<A0, Q>,
    arrays: &Duals<A0, A>,
    code: &ACode<B, A>,
    m: Guard<'m>,
) -> Both<'m, B, A0, A, P, Q> {
    fresh1(|p| {
        let a = forward(a, arrays, code, p);
        let b = forward(b, &arrays.weaken(&a.up), &a.code, m);
        let up = a.up.then(&b.up);
        let arrays = arrays.weaken(&up);
        let first = Dual { var: b.up.at(&a.var), tan: a.tan.weaken(&b.up) };
        (first, AForward { up, code: b.code, var: b.var, tan: b.tan }, arrays)
    })
}

/// Splits a variable of pair type into value and tangent.
fn split<'k, 'm, B, A, R>(all: &AForward<'k, B, A, (R, Tan<R>)>, m: Guard<'m>) -> AForward<'m, B, A, R> {
    let v = Acc::var(&all.var);
    all.then_both(&v.fst(), Some(v.snd()), m)
}

/// A branch as a single computation of value and tangent.
struct Branch<A, R> {
    both: Acc<A, (R, Tan<R>)>,
    /// The tangent is zero.
    constant: bool,
}
impl<A, R> Branch<A, R> {
    fn of<A0>(e: &Acc<A0, R>, arrays: &Duals<A0, A>, size: Size<A>) -> Self {
        fresh1(|m| {
            let f = forward(e, arrays, &ACode::start(size), m);
            let both = Acc::pair(&Acc::var(&f.var), &f.tangent());
            Branch { both: f.code.close(&both), constant: f.tan.is_zero() }
        })
    }
}

/// A loop whose state consists of value and tangent.
fn forward_while<'m, B, A0, A, R>(
    w: &AWhileView<'_, A0, R>,
    t: &Ty<R>,
    arrays: &Duals<A0, A>,
    code: &ACode<B, A>,
    at: Src,
    m: Guard<'m>,
) -> AForward<'m, B, A, R> {
    fresh5(|p, r, k, l, h| {
        let init = forward(&w.init, arrays, code, p);
        let start = Acc::pair(&Acc::var(&init.var), &init.tangent());
        // In the scope of the state: split it, then continue as usual.
        let s = Acc::var(&Idx::zero(&Ty::pair(t, &tan_ty(t))));
        let x = ACode::start(init.code.size.push()).emit(&s.fst(), k);
        let dx = x.code.emit(&s.snd().weaken(&x.up), l);
        let up = Thinning::shift().then(&x.up).then(&dx.up);
        let inner =
            arrays.weaken(&init.up).weaken(&up).push(&dx.up.at(&x.var), &SparseTangent::var(&dx.var)).cast(w.eq.sym());
        let cond = dx.code.close(&rename_acc(&w.cond, &(&inner.values).into()));
        let f = forward(&w.body, &inner, &dx.code, h);
        let body = f.code.close(&Acc::pair(&Acc::var(&f.var), &f.tangent()));
        let all = init.then(&Acc::while_(&cond, &body, &start, at), &SparseTangent::zero(), r);
        split(&all, m)
    })
}

/// A loop whose state, rows and entries consist of value and tangent.
fn forward_loop<'m, B, A0, A, S, P, Y>(
    w: &ALoop<A0, S, P, Y>,
    arrays: &Duals<A0, A>,
    code: &ACode<B, A>,
    at: Src,
    m: Guard<'m>,
) -> AForward<'m, B, A, (S, Batched<Y>)> {
    fresh6(|p, r, k, l, h, o| {
        let (init, xs, arrays) = both(&w.init, &w.xs, arrays, code, p);
        let (s, x) = w.argument().parts();
        let start = Acc::pair(&Acc::var(&init.var), &materialise(&init.tan, &Acc::var(&init.var)));
        let rows = Acc::pair(&Acc::var(&xs.var), &xs.tangent().cast(tan_batched())).cast(batched_pair().sym());
        // In the scope of the argument: split it, then continue as usual.
        let pairs = (Ty::pair(&s, &tan_ty(&s)), Ty::pair(&x, &tan_ty(&x)));
        let v = Acc::var(&Idx::zero(&Ty::pair(&pairs.0, &pairs.1)));
        let value = ACode::start(xs.code.size.push()).emit(&Acc::pair(&v.fst().fst(), &v.snd().fst()), k);
        let tan = Acc::pair(&v.fst().snd(), &v.snd().snd()).cast(tan_pair().sym());
        let tan = value.code.emit(&tan.weaken(&value.up), l);
        let up = Thinning::shift().then(&value.up).then(&tan.up);
        let inner = arrays.weaken(&up).push(&tan.up.at(&value.var), &SparseTangent::var(&tan.var));
        let trips = match &w.trips {
            Trips::While(cond) => {
                let state = Acc::var(&Idx::zero(&pairs.0)).fst();
                let below = arrays.values.weaken(&Thinning::shift()).push(&Idx::zero(&s), &s);
                let cond = rename_acc(cond, &(&below).into());
                Trips::While(Acc::let_(&state, &cond.weaken(&Thinning::shift().lift())))
            }
            Trips::Times(n, dir) => Trips::Times(rename_arrays(n, &arrays.values), *dir),
        };
        let f = forward(&w.body, &inner, &tan.code, h);
        let (y, dy) = (Acc::var(&f.var), f.tangent().cast(tan_pair()));
        let next = Acc::pair(&y.fst(), &dy.fst());
        let body = f.code.close(&Acc::pair(&next, &Acc::pair(&y.snd(), &dy.snd())));
        let all = Acc::loop_(&ALoop { user: w.user, trips, init: start, xs: rows, body }, at);
        let all = xs.then(&all, &SparseTangent::zero(), r);
        let (state, list) = (Acc::var(&all.var).fst(), Acc::var(&all.var).snd().cast(batched_pair()));
        let tan = Acc::pair(&state.snd(), &list.snd().cast(tan_batched().sym())).cast(tan_pair().sym());
        retype(all.then_both(&Acc::pair(&state.fst(), &list.fst()), Some(tan), o), Equal::refl(), m)
    })
}

/// The operator of a fold, scan or permute, on pairs of value and tangent.
fn operator<A0, A, T>(f: &Fun2<A0, T, T, T>, arrays: &Duals<A0, A>) -> Fun2<A, (T, Tan<T>), (T, Tan<T>), (T, Tan<T>)> {
    let t = f.0.ty();
    let ff = fun_forward(&uncurry(f, t, t), &Ty::pair(t, t), true, arrays);
    let pair = Ty::pair(t, &tan_ty(t));
    let (x, y) = args(&pair, &pair);
    let tangents = Exp::pair(&x.snd(), &y.snd()).cast(tan_pair().sym());
    Fun2(call(&ff.both, &Exp::pair(&Exp::pair(&x.fst(), &y.fst()), &tangents)))
}

/// An initial value with its tangent.
fn initial<A0, A, T>(z: &Exp<HNil, A0, T>, arrays: &Duals<A0, A>) -> Exp<HNil, A, (T, Tan<T>)> {
    let ff = fun_forward(&Fun1(z.weaken(&Thinning::from_nil())), &Ty::of(), false, arrays);
    call(&ff.both, &Exp::pair(&unit(), &unit().cast(tan_unit().sym())))
}
