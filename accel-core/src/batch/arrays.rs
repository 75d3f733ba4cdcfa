//! The rules of batching: what an operation becomes if its arrays have lanes. A loop with the same steps in all lanes runs them all at
//! once, with a state that has lanes where it depends on them.

use super::index::{components, from_components, join, split};
use super::numbers::numbers;
use super::scalars::{applied, code, free, free1, free2, of_index, uncurry};
use super::scope::{Form, Made, Scope, Stuck};
use crate::ast::*;
use crate::repr::op::{Cmp, Num2};
use crate::repr::{Call as ForeignCall, RawTy};
use frunk::{HCons, HNil};

/// The new code for a computation.
///
/// What depends on no lane stays as it is. So the parts of an inner loop that has already been batched are not made again for each
/// loop around it, which would take a time that is quadratic in the depth of a nest.
pub fn batch<'b, 'm, A, R>(a: &Acc<A, R>, s: Scope<'_, 'b>, m: Guard<'m>) -> Made<'b, 'm> {
    if let Some(a) = a.moved(s.arrays, |depth| s.shared(depth)) {
        return shared(&a, m);
    }
    fresh2(|x, y| deep(|| batch_(&a.cast_env(name(x)).cast(name(y)), s, m)))
}

fn batch_<'a, 'r, 'b, 'm>(a: &Acc<X<'a>, X<'r>>, s: Scope<'_, 'b>, m: Guard<'m>) -> Made<'b, 'm> {
    fresh3(|n, g, h| match a.view(n) {
        _ if let Some(c) = a.custom(h) => custom(&c, a.at(), s, m),
        AccView::Use(literal) => shared(&Acc::use_(&literal, a.at()), m),
        AccView::Var(i) => {
            let entry = s.entry(&i)?;
            let variable = s.arrays.variable(entry.level, m).ok_or_else(|| Stuck::broken("an array in scope"))?;
            Ok((Acc::var(&variable), entry.form))
        }
        AccView::Let(b, body, _) => {
            let (b, form) = batch(&b, s, g)?;
            s.bind(&b, |inner, _| inner.enter(form, || batch(&body, inner, m)))
        }
        AccView::While(w) => repeated(a, &w, s, m),
        AccView::Loop(l, _) => steps(&l, a.at(), s, m),
        AccView::Op(op) => operation(a, &op, s, m),
    })
}

fn shared<'b, 'm, R>(a: &Acc<X<'b>, R>, m: Guard<'m>) -> Made<'b, 'm> {
    Ok((a.cast(name(m)), Form::Shared))
}

fn lanes<'b, 'm, R>(a: &Acc<X<'b>, R>, m: Guard<'m>) -> Made<'b, 'm> {
    Ok((a.cast(name(m)), Form::Lanes))
}

/// An operand that is an array.
enum Operand<'b, 'k, Sh, T> {
    Shared(Acc<X<'b>, Arr<Sh, T>>),
    Lanes(Acc<X<'b>, Arr<X<'k>, T>>),
}

/// The new code for an array.
fn operand<'b, 'k, A, Sh, T>(
    a: &Acc<A, Arr<Sh, T>>,
    s: Scope<'_, 'b>,
    k: Guard<'k>,
) -> Result<Operand<'b, 'k, Sh, T>, Stuck> {
    fresh1(|m| {
        let (x, form) = batch(a, s, m)?;
        if form == Form::Shared {
            let q = x.ty().same(a.ty()).ok_or_else(|| Stuck::broken("an array"))?;
            return Ok(Operand::Shared(x.cast(q)));
        }
        Ok(Operand::Lanes(array(&x, &a.sh_elt().1, k)?))
    })
}

/// Code that is an array with elements of type `T`.
fn array<'b, 'k, Q, T>(x: &Acc<X<'b>, Q>, t: &Ty<T>, k: Guard<'k>) -> Result<Acc<X<'b>, Arr<X<'k>, T>>, Stuck> {
    let TyView::Arr(_, elt, q) = x.ty().view(k) else { return Err(Stuck::broken("an array")) };
    let elt = elt.same(t).ok_or_else(|| Stuck::broken("the same elements"))?;
    Ok(x.cast(q.then(eq_arr(Equal::refl(), elt))))
}

/// An operand with lanes in any case. The code that is already made is used, since to make it again for each operand of each operation
/// would take a time that is exponential in the depth of the code.
fn with_lanes<'b, 'g, 'k, Sh, T>(
    a: Operand<'b, 'g, Sh, T>,
    s: Scope<'_, 'b>,
    k: Guard<'k>,
) -> Result<Acc<X<'b>, Arr<X<'k>, T>>, Stuck> {
    fresh1(|h| match a {
        Operand::Lanes(x) => array(&x, &x.sh_elt().1, k),
        Operand::Shared(x) => array(&s.repeat(&x, h)?, &x.sh_elt().1, k),
    })
}

/// The array with its innermost dimension apart.
fn rows<'b, 'h, Sh, T>(a: &Acc<X<'b>, Arr<Sh, T>>, h: Guard<'h>) -> Result<Acc<X<'b>, Arr<(X<'h>, i64), T>>, Stuck> {
    let TyView::Pair(_, int, q) = a.sh_elt().0.view(h) else { return Err(Stuck::broken("rows")) };
    let int = int.same(&Ty::of()).ok_or_else(|| Stuck::broken("an extent"))?;
    Ok(a.cast(eq_arr(q.then(eq_pair(Equal::refl(), int)), Equal::refl())))
}

fn operation<'a, 'r, 'b, 'm>(
    a: &Acc<X<'a>, X<'r>>,
    op: &AccOp<'_, X<'a>, X<'r>>,
    s: Scope<'_, 'b>,
    m: Guard<'m>,
) -> Made<'b, 'm> {
    let at = a.at();
    let stuck = |why| Stuck::new(op.name(), at, why);
    let extents = || stuck("its extents depend on the row; make the largest, and select the elements");
    let operator = || stuck("its operator depends on the row");
    match op {
        AccOp::Unit { .. } => shared(&Acc::unit(), m),
        AccOp::Pair { a, b, .. } => fresh2(|g, h| {
            let ((a, fa), (b, fb)) = (batch(a, s, g)?, batch(b, s, h)?);
            Ok((Acc::pair(&a, &b).cast(name(m)), Form::pair(fa, fb)))
        }),
        AccOp::Fst { a, .. } => fresh2(|g, h| {
            let (a, form) = batch(a, s, g)?;
            let TyView::Pair(_, _, q) = a.ty().view(h) else { return Err(Stuck::broken("a pair")) };
            Ok((a.cast(q).fst().cast(name(m)), form.first()))
        }),
        AccOp::Snd { a, .. } => fresh2(|g, h| {
            let (a, form) = batch(a, s, g)?;
            let TyView::Pair(_, _, q) = a.ty().view(h) else { return Err(Stuck::broken("a pair")) };
            Ok((a.cast(q).snd().cast(name(m)), form.second()))
        }),
        AccOp::Cond { cond, then, otherwise } => match free(cond, s) {
            Some(cond) => branches(&cond, then, otherwise, at, s, m),
            None => numbers(a, s, m),
        },
        AccOp::Generate { sh, f, eq } => fresh1(|k| {
            let t = a.ty().cast(*eq).sh_elt().0;
            let sh = free(sh, s).ok_or_else(extents)?;
            if let Some(f) = free1(f, s) {
                return shared(&Acc::generate(&t, &sh, &f, at), m);
            }
            let outer = s.outer(&t, k)?;
            let f = of_index(f, (&t, &outer), s, |_, y| y.clone());
            lanes(&Acc::generate(&outer, &join(&outer, s.n, &sh), &f, at), m)
        }),
        AccOp::Map { f, a, .. } => fresh1(|k| match (free1(f, s), operand(a, s, k)?) {
            (Some(f), Operand::Shared(x)) => shared(&Acc::map(&f, &x, at), m),
            (Some(f), Operand::Lanes(x)) => lanes(&Acc::map(&f, &x, at), m),
            (None, x) => fresh1(|k| elementwise(f, &with_lanes(x, s, k)?, at, s, m)),
        }),
        AccOp::ZipWith { f, a, b, .. } => fresh2(|k, l| {
            let (free, x, y) = (free2(f, s), operand(a, s, k)?, operand(b, s, l)?);
            if let (Some(f), Operand::Shared(x), Operand::Shared(y)) = (&free, &x, &y) {
                return shared(&Acc::zip_with(f, x, y, at), m);
            }
            fresh2(|k, l| {
                let (x, y) = (with_lanes(x, s, k)?, with_lanes(y, s, l)?);
                let q = y.sh_elt().0.same(&x.sh_elt().0).ok_or_else(|| Stuck::broken("equal ranks"))?;
                let y = y.cast(eq_arr(q, Equal::refl()));
                if let Some(f) = &free {
                    return lanes(&Acc::zip_with(f, &x, &y, at), m);
                }
                let (t, u) = (a.sh_elt().1, b.sh_elt().1);
                let both = Fun2(Exp::pair(&Exp::var(&Idx::succ(&Idx::zero(&t))), &Exp::var(&Idx::zero(&u))));
                elementwise(&uncurry(f, &t, &u), &Acc::zip_with(&both, &x, &y, at), at, s, m)
            })
        }),
        AccOp::Agree { agreement, user, left, right, a, .. } => fresh1(|k| {
            let (left, right) = (free(left, s).ok_or_else(extents)?, free(right, s).ok_or_else(extents)?);
            match operand(a, s, k)? {
                Operand::Shared(x) => shared(&Acc::agree(*agreement, user, &left, &right, &x, at), m),
                Operand::Lanes(x) => lanes(&Acc::agree(*agreement, user, &left, &right, &x, at), m),
            }
        }),
        AccOp::Fold { f, z, a, .. } => fresh2(|k, h| {
            let f = free2(f, s).ok_or_else(operator)?;
            match (free(z, s), operand(a, s, k)?) {
                (Some(z), Operand::Shared(x)) => shared(&Acc::fold(&f, &z, &x, at), m),
                (Some(z), Operand::Lanes(x)) => lanes(&Acc::fold(&f, &z, &rows(&x, h)?, at), m),
                (None, x) => fresh1(|k| {
                    let x = rows(&with_lanes(x, s, k)?, h)?;
                    lanes(&Acc::fold1(&f, &with_first(Dir::Left, z, &x, at, s)?, at), m)
                }),
            }
        }),
        AccOp::Fold1 { f, a, .. } => fresh2(|k, h| {
            let f = free2(f, s).ok_or_else(operator)?;
            match operand(a, s, k)? {
                Operand::Shared(x) => shared(&Acc::fold1(&f, &x, at), m),
                Operand::Lanes(x) => lanes(&Acc::fold1(&f, &rows(&x, h)?, at), m),
            }
        }),
        AccOp::Scan { dir, f, z, a, .. } => fresh2(|k, h| {
            let f = free2(f, s).ok_or_else(operator)?;
            match (free(z, s), operand(a, s, k)?) {
                (Some(z), Operand::Shared(x)) => shared(&Acc::scan(*dir, &f, &z, &x, at), m),
                (Some(z), Operand::Lanes(x)) => lanes(&Acc::scan(*dir, &f, &z, &rows(&x, h)?, at), m),
                (None, x) => fresh1(|k| {
                    let x = rows(&with_lanes(x, s, k)?, h)?;
                    lanes(&Acc::scan1(*dir, &f, &with_first(*dir, z, &x, at, s)?, at), m)
                }),
            }
        }),
        AccOp::Scan1 { dir, f, a, .. } => fresh2(|k, h| {
            let f = free2(f, s).ok_or_else(operator)?;
            match operand(a, s, k)? {
                Operand::Shared(x) => shared(&Acc::scan1(*dir, &f, &x, at), m),
                Operand::Lanes(x) => lanes(&Acc::scan1(*dir, &f, &rows(&x, h)?, at), m),
            }
        }),
        AccOp::Argsort { key, a, .. } => fresh2(|k, h| match operand(a, s, k)? {
            Operand::Shared(x) => shared(&Acc::argsort(*key, &x, at), m),
            Operand::Lanes(x) => lanes(&Acc::argsort(*key, &rows(&x, h)?, at), m),
        }),
        AccOp::Foreign { f, sh, a: arg } => fresh3(|g, h, k| {
            let sh = free(sh, s).ok_or_else(extents)?;
            let (arg, form) = batch(arg, s, g)?;
            let result = || Stuck::broken("arrays");
            if form == Form::Shared {
                return shared(&Acc::foreign(f, &sh, &arg, &ArraysTy::of(a.ty()).ok_or_else(result)?, at), m);
            }
            let (arg, _) = s.lift(&arg, &form, h)?;
            let call = ForeignCall { lanes: f.lanes + 1, ..f.clone() };
            let all = batched_ty(a.ty());
            let (mut old, mut extents) = (components(&sh).into_iter(), vec![]);
            for (rank, _) in a.ty().raw().arrays() {
                extents.push(s.n.clone());
                extents.extend(old.by_ref().take(rank));
            }
            let t = Ty::from_raw(&RawTy::shape(extents.len()), k).ok_or_else(|| Stuck::broken("a shape"))?;
            let sh = from_components(&t, &extents);
            lanes(&Acc::foreign(&call, &sh, &arg, &ArraysTy::of(&all).ok_or_else(result)?, at), m)
        }),
        AccOp::Permute { comb, defaults, index, a, .. } => fresh2(|k, l| {
            let comb = free2(comb, s).ok_or_else(operator)?;
            let (free, d, x) = (free1(index, s), operand(defaults, s, k)?, operand(a, s, l)?);
            if let (Some(index), Operand::Shared(d), Operand::Shared(x)) = (&free, &d, &x) {
                return shared(&Acc::permute(&comb, d, index, x, at), m);
            }
            fresh2(|k, l| {
                let (d, x) = (with_lanes(d, s, k)?, with_lanes(x, s, l)?);
                let (to, from) = (d.sh_elt().0, x.sh_elt().0);
                let index = of_index(index, (&a.sh_elt().0, &from), s, |lane, target| {
                    Exp::pair(&target.fst(), &join(&to, lane, &target.snd()))
                });
                lanes(&Acc::permute(&comb, &d, &index, &x, at), m)
            })
        }),
        AccOp::Backpermute { sh, f, a: source, eq } => fresh2(|k, l| {
            let t = a.ty().cast(*eq).sh_elt().0;
            let sh = free(sh, s).ok_or_else(extents)?;
            let outer = s.outer(&t, l)?;
            let extents = join(&outer, s.n, &sh);
            match (free1(f, s), operand(source, s, k)?) {
                (Some(f), Operand::Shared(x)) => shared(&Acc::backpermute(&t, &sh, &f, &x, at), m),
                (None, Operand::Shared(x)) => {
                    let f = of_index(f, (&t, &outer), s, |_, ix| ix.clone());
                    lanes(&Acc::backpermute(&outer, &extents, &f, &x, at), m)
                }
                (_, Operand::Lanes(x)) => {
                    let from = x.sh_elt().0;
                    let f = of_index(f, (&t, &outer), s, |lane, ix| join(&from, lane, ix));
                    lanes(&Acc::backpermute(&outer, &extents, &f, &x, at), m)
                }
            }
        }),
        AccOp::Reshape { sh, a: source, eq } => fresh2(|k, l| {
            let t = a.ty().cast(*eq).sh_elt().0;
            let sh = free(sh, s).ok_or_else(extents)?;
            match operand(source, s, k)? {
                Operand::Shared(x) => shared(&Acc::reshape(&t, &sh, &x, at), m),
                Operand::Lanes(x) => {
                    let outer = s.outer(&t, l)?;
                    lanes(&Acc::reshape(&outer, &join(&outer, s.n, &sh), &x, at), m)
                }
            }
        }),
        AccOp::Replicate { spec, slx, a, .. } => fresh2(|k, l| {
            let slx = free(slx, s).ok_or_else(extents)?;
            match operand(a, s, k)? {
                Operand::Shared(x) => shared(&Acc::replicate(spec, &slx, &x, at), m),
                Operand::Lanes(x) => {
                    let kept = SliceSpec::from_kept(&in_front(spec), l);
                    let fixed = slx.ty().same(&kept.fixed()).ok_or_else(|| Stuck::broken("extents"))?;
                    let small = x.sh_elt().0.same(&kept.small()).ok_or_else(|| Stuck::broken("a shape"))?;
                    let x = x.cast(eq_arr(small, Equal::refl()));
                    lanes(&Acc::replicate(&kept, &slx.cast(fixed), &x, at), m)
                }
            }
        }),
        AccOp::Slice { spec, slx, a, .. } => fresh2(|k, l| match (free(slx, s), operand(a, s, k)?) {
            (Some(slx), Operand::Shared(x)) => shared(&Acc::slice(spec, &slx, &x, at), m),
            (Some(slx), Operand::Lanes(x)) => {
                let kept = SliceSpec::from_kept(&in_front(spec), l);
                let fixed = slx.ty().same(&kept.fixed()).ok_or_else(|| Stuck::broken("indices"))?;
                let large = x.sh_elt().0.same(&kept.large()).ok_or_else(|| Stuck::broken("a shape"))?;
                lanes(&Acc::slice(&kept, &slx.cast(fixed), &x.cast(eq_arr(large, Equal::refl())), at), m)
            }
            (None, Operand::Shared(x)) => part(spec, slx, &x, false, at, s, m),
            (None, Operand::Lanes(x)) => part(spec, slx, &x, true, at, s, m),
        }),
        AccOp::Accumulate { sh, f, init, eq } => fresh3(|g, i, k| {
            let t = a.ty().cast(*eq).parts().0.sh_elt().0;
            let sh = free(sh, s).ok_or_else(extents)?;
            let (init, form) = batch(init, s, g)?;
            let (init, _) = s.lift(&init, &form, i)?;
            let outer = s.outer(&t, k)?;
            let f = of_index(f, (&t, &outer), s, |_, y| y.clone());
            lanes(&Acc::accumulate(&outer, &join(&outer, s.n, &sh), &f, &init, at), m)
        }),
    }
}

/// The new code for the result of a function with a rule: the function, its pushforward and its pullback become those of all rows, so that a
/// derivative of the batched program meets the rule.
///
/// A component of the argument that no row changes stays shared if its adjoint does not depend on the row, as that of an integer.
/// Otherwise it is repeated, and the derivative of the repetition is the sum over the rows.
fn custom<'b, 'm, A, R>(c: &CustomView<'_, A, R>, at: Src, s: Scope<'_, 'b>, m: Guard<'m>) -> Made<'b, 'm> {
    fresh1(|g| {
        let (arg, first) = batch(&c.arg, s, g)?;
        let mut form = first.clone();
        loop {
            let next = fresh1(|h| {
                let (arg, _) = s.convert(&arg, &first, &form, h)?;
                Ok(form.join(&form_of_adjoint(&c.functions, arg.ty(), &form, s)?))
            })?;
            if next == form {
                break;
            }
            form = next;
        }
        fresh3(|h, r, k| {
            let (arg, _) = s.convert(&arg, &first, &form, h)?;
            let (p, same) = (arg.ty(), || Stuck::broken("the derivative of a function with lanes"));
            let function = function_of_all(&c.functions, p, &form, s, r)?;
            let r = function.ty().clone();
            let along = |d: &Form| Form::pair(form.clone(), Form::pair(Form::Lanes, d.clone()));
            let pushforward = fresh1(|k| {
                let f = below_binder(
                    &c.functions.pushforward,
                    (&linearised(p, &r, p), &along(&form)),
                    Some(&Form::Lanes),
                    s,
                    k,
                )?
                .0;
                Ok(f.cast(f.ty().same(&tan_ty(&r)).ok_or_else(same)?))
            })?;
            let pullback =
                below_binder(&c.functions.pullback, (&linearised(p, &r, &r), &along(&Form::Lanes)), Some(&form), s, k)?
                    .0;
            let pullback = pullback.cast(pullback.ty().same(&tan_ty(p)).ok_or_else(same)?);
            Ok((Acc::with_rule(&arg, &Custom { function, pushforward, pullback }, at).cast(name(m)), Form::Lanes))
        })
    })
}

/// The function of all rows, for an argument of type `p` and this form. Its result has lanes.
fn function_of_all<'b, 'r, A, P, R, Q>(
    c: &Custom<A, P, R>,
    p: &Ty<Q>,
    form: &Form,
    s: Scope<'_, 'b>,
    r: Guard<'r>,
) -> Result<Acc<HCons<Q, X<'b>>, X<'r>>, Stuck> {
    Ok(below_binder(&c.function, (p, form), Some(&Form::Lanes), s, r)?.0)
}

/// The form of the adjoint of an argument of type `p` and this form.
fn form_of_adjoint<'b, A, P, R, Q>(
    c: &Custom<A, P, R>,
    p: &Ty<Q>,
    form: &Form,
    s: Scope<'_, 'b>,
) -> Result<Form, Stuck> {
    fresh2(|r, k| {
        let r = function_of_all(c, p, form, s, r)?.ty().clone();
        let along = Form::pair(form.clone(), Form::Lanes);
        Ok(below_binder(&c.pullback, (&linearised(p, &r, &r), &along), None, s, k)?.1)
    })
}

/// The new code below a variable of type `t` and this form, and the form of its result, which is converted to `to`.
fn below_binder<'b, 'k, A, P, R, T>(
    f: &Acc<HCons<P, A>, R>,
    (t, form): (&Ty<T>, &Form),
    to: Option<&Form>,
    s: Scope<'_, 'b>,
    k: Guard<'k>,
) -> Result<(Acc<HCons<T, X<'b>>, X<'k>>, Form), Stuck> {
    s.under(t, |s, _| {
        fresh1(|g| {
            let (made, found) = s.enter(form.clone(), || batch(f, s, g))?;
            s.convert(&made, &found, to.unwrap_or(&found), k)
        })
    })
}

/// A loop `while`.
pub fn repeated<'b, 'm, A, R>(a: &Acc<A, R>, w: &AWhileView<A, R>, s: Scope<'_, 'b>, m: Guard<'m>) -> Made<'b, 'm> {
    if fresh1(|k| numbers(a, s, k).is_ok()) {
        return numbers(a, s, m);
    }
    fresh1(|g| {
        let (init, first) = batch(&w.init, s, g)?;
        let body = &w.body.cast_env(w.eq);
        let form = fixpoint(&first, |form| {
            fresh1(|k| {
                let (start, _) = s.convert(&init, &first, form, k)?;
                let made = s.under(start.ty(), |s, _| {
                    fresh1(|h| s.enter(form.clone(), || batch(body, s, h)).map(|(_, form)| (Acc::unit(), form)))
                })?;
                Ok(made.1)
            })
        })?;
        let (start, _) = s.convert(&init, &first, &form, m)?;
        let (cond, ()) = s.under(start.ty(), |s, _| {
            fresh1(|h| {
                let (cond, by_lane) = s.enter(form.clone(), || batch(&w.cond, s, h))?;
                if by_lane != Form::Shared {
                    return Err(Stuck::new("awhile", a.at(), "its condition depends on the row"));
                }
                let q = cond.ty().same(&Ty::of()).ok_or_else(|| Stuck::broken("a condition"))?;
                Ok((cond.cast(q), ()))
            })
        })?;
        let (body, ()) = s.under(start.ty(), |s, _| {
            fresh2(|h, k| {
                let (next, result) = s.enter(form.clone(), || batch(body, s, h))?;
                let (next, _) = s.convert(&next, &result, &form, k)?;
                let q = next.ty().same(start.ty()).ok_or_else(|| Stuck::broken("a state"))?;
                Ok((next.cast(q), ()))
            })
        })?;
        Ok((Acc::while_(&cond, &body, &start, a.at()), form))
    })
}

/// The form of a state: that of its first value and of the results of all steps.
fn fixpoint(first: &Form, mut step: impl FnMut(&Form) -> Result<Form, Stuck>) -> Result<Form, Stuck> {
    let mut form = first.clone();
    loop {
        let next = form.join(&step(&form)?);
        if next == form {
            return Ok(form);
        }
        form = next;
    }
}

/// A loop that takes rows and lists arrays. The number of steps must be the same for all lanes.
pub fn steps<'b, 'm, A, S, R, Y>(l: &ALoop<A, S, R, Y>, at: Src, s: Scope<'_, 'b>, m: Guard<'m>) -> Made<'b, 'm> {
    let Trips::Times(n, dir) = &l.trips else { return Err(Stuck::new(l.user, at, "it lists its states")) };
    let n = free(n, s).ok_or_else(|| Stuck::new(l.user, at, "its number of steps depends on the row"))?;
    fresh6(|g, h, i, j, k, e| {
        let ((init, first), (xs, rows)) = (batch(&l.init, s, g)?, batch(&l.xs, s, h)?);
        let (xs, _) = exchange(&xs, &rows, false, s, i)?;
        let (row, q) = rows_of(xs.ty(), j).ok_or_else(|| Stuck::broken("rows"))?;
        let form = fixpoint(&first, |form| {
            fresh1(|k| {
                let (start, _) = s.convert(&init, &first, form, k)?;
                let made = s.under(&Ty::pair(start.ty(), &row), |s, _| {
                    let argument = Form::pair(form.clone(), rows.clone());
                    fresh1(|h| s.enter(argument, || batch(&l.body, s, h)).map(|(_, form)| (Acc::unit(), form)))
                })?;
                Ok(made.1.first())
            })
        })?;
        let (start, _) = s.convert(&init, &first, &form, k)?;
        let (body, entry) = s.under(&Ty::pair(start.ty(), &row), |s, _| {
            fresh3(|h, v, k| {
                let (made, result) = s.enter(Form::pair(form.clone(), rows.clone()), || batch(&l.body, s, h))?;
                let TyView::Pair(_, _, q) = made.ty().view(v) else { return Err(Stuck::broken("a pair")) };
                s.bind(&made.cast(q), |s, both| {
                    let both = Acc::var(&both);
                    let (next, _) = s.convert(&both.fst(), &result.first(), &form, k)?;
                    let q = next.ty().same(start.ty()).ok_or_else(|| Stuck::broken("a state"))?;
                    Ok((Acc::pair(&next.cast(q), &both.snd().cast(name(e))), result.second()))
                })
            })
        })?;
        let all = ALoop { user: l.user, trips: Trips::Times(n, *dir), init: start, xs: xs.cast(q), body };
        s.bind(&Acc::loop_(&all, at), |s, both| {
            let both = Acc::var(&both);
            fresh1(|k| {
                let (list, _) = exchange(&both.snd(), &entry, true, s, k)?;
                Ok((Acc::pair(&both.fst(), &list).cast(name(m)), Form::pair(form, entry)))
            })
        })
    })
}

/// Exchanges the first two dimensions of the arrays that have lanes: from lanes of lists to lists of lanes, or back.
fn exchange<'b, 'm, Q>(x: &Acc<X<'b>, Q>, form: &Form, back: bool, s: Scope<'_, 'b>, m: Guard<'m>) -> Made<'b, 'm> {
    fresh1(|v| {
        let q = name(v);
        deep(|| exchange_(&x.cast(q), form, back, s, m))
    })
}

fn exchange_<'b, 'q, 'm>(
    x: &Acc<X<'b>, X<'q>>,
    form: &Form,
    back: bool,
    s: Scope<'_, 'b>,
    m: Guard<'m>,
) -> Made<'b, 'm> {
    if *form == Form::Shared {
        return Ok((x.cast(name(m)), Form::Shared));
    }
    fresh3(|v, g, h| match x.ty().view(v) {
        TyView::Unit(_) => Ok((x.cast(name(m)), form.clone())),
        TyView::Pair(_, _, q) => s.bind(&x.cast(q), |s, pair| {
            let pair = Acc::var(&pair);
            let (a, _) = exchange(&pair.fst(), &form.first(), back, s, g)?;
            let (b, _) = exchange(&pair.snd(), &form.second(), back, s, h)?;
            Ok((Acc::pair(&a, &b).cast(name(m)), form.clone()))
        }),
        TyView::Arr(sh, _, q) => s.bind(&x.cast(q), |s, v| {
            let mut extents = components(&Exp::<HNil, _, _>::shape(&v));
            let mut place = components(&Exp::var(&Idx::zero(&sh)));
            if extents.len() < 2 {
                return Err(Stuck::broken("lanes of lists"));
            }
            extents.swap(0, 1);
            if back {
                // A list without entries does not know the number of lanes.
                extents[0] = s.n.clone();
            }
            place.swap(0, 1);
            let (extents, place) = (from_components(&sh, &extents), Fun1(from_components(&sh, &place)));
            Ok((Acc::backpermute(&sh, &extents, &place, &Acc::var(&v), None).cast(name(m)), form.clone()))
        }),
        TyView::Scalar(_) | TyView::List(..) => Err(Stuck::broken("arrays")),
    })
}

/// The dimensions that a slice keeps, with the lanes in front.
fn in_front<L, S, G>(spec: &SliceSpec<L, S, G>) -> Vec<bool> {
    [true].into_iter().chain(spec.kept().iter().copied()).collect()
}

/// A conditional that is the same for all lanes.
fn branches<'b, 'm, A, R>(
    cond: &Exp<HNil, X<'b>, bool>,
    then: &Acc<A, R>,
    otherwise: &Acc<A, R>,
    at: Src,
    s: Scope<'_, 'b>,
    m: Guard<'m>,
) -> Made<'b, 'm> {
    fresh4(|g, h, i, j| {
        let ((t, ft), (e, fe)) = (batch(then, s, g)?, batch(otherwise, s, h)?);
        if ft == fe {
            let q = e.ty().same(t.ty()).ok_or_else(|| Stuck::broken("equal branches"))?;
            return Ok((Acc::cond(cond, &t, &e.cast(q), at).cast(name(m)), ft));
        }
        let ((t, _), (e, _)) = (s.lift(&t, &ft, i)?, s.lift(&e, &fe, j)?);
        let q = e.ty().same(t.ty()).ok_or_else(|| Stuck::broken("equal branches"))?;
        lanes(&Acc::cond(cond, &t, &e.cast(q), at), m)
    })
}

/// A function of the elements that needs the lane.
fn elementwise<'b, 'm, A, Out, P, R>(
    f: &Fun1<A, P, R>,
    x: &Acc<X<'b>, Arr<Out, P>>,
    at: Src,
    s: Scope<'_, 'b>,
    m: Guard<'m>,
) -> Made<'b, 'm> {
    let outer = x.sh_elt().0;
    s.bind(x, |s, v| {
        let ix = Exp::var(&Idx::zero(&outer));
        let lane = components(&ix).swap_remove(0);
        let f = Fun1(applied(f, &Exp::index(&v, &ix, at), &lane, s));
        lanes(&Acc::generate(&outer, &Exp::shape(&v), &f, at), m)
    })
}

/// Rows with an initial value of the lane as a further element, on the side where a fold or scan begins.
fn with_first<'b, A, Sh, T>(
    dir: Dir,
    z: &Exp<HNil, A, T>,
    x: &Acc<X<'b>, Arr<(Sh, i64), T>>,
    at: Src,
    s: Scope<'_, 'b>,
) -> Result<Acc<X<'b>, Arr<(Sh, i64), T>>, Stuck> {
    let t = x.sh_elt().0;
    let longer = s.bind(x, |s, v| {
        let (one, shape) = (int(1), Exp::shape(&v));
        let extents = Exp::pair(&shape.fst(), &arithmetic(Num2::Add, &shape.snd(), &one));
        let ix: Exp<HCons<_, HNil>, _, _> = Exp::var(&Idx::zero(&t));
        let lane = components(&ix).swap_remove(0);
        let z = code(&z.weaken(&Thinning::from_nil()), Some(&lane), s);
        let (first, read) = match dir {
            Dir::Left => (int(0), Exp::pair(&ix.fst(), &arithmetic(Num2::Sub, &ix.snd(), &int(1)))),
            Dir::Right => (Exp::shape(&v).snd(), ix.clone()),
        };
        let is_first = Exp::prim2(Prim2::Cmp(Cmp::Eq, NumTy::index().any(), Equal::refl()), &ix.snd(), &first);
        let f = Fun1(Exp::cond(&is_first, &z, &Exp::index(&v, &read, at)));
        Ok((Acc::generate(&t, &extents, &f, at), ()))
    });
    longer.map(|(x, ())| x)
}

/// A slice whose indices depend on the lane.
fn part<'b, 'm, A, Slx, Small, Large, Sh, T>(
    spec: &SliceSpec<Slx, Small, Large>,
    slx: &Exp<HNil, A, Slx>,
    x: &Acc<X<'b>, Arr<Sh, T>>,
    has_lanes: bool,
    at: Src,
    s: Scope<'_, 'b>,
    m: Guard<'m>,
) -> Made<'b, 'm> {
    fresh1(|k| {
        let (large, outer) = (x.sh_elt().0, s.outer(&spec.small(), k)?);
        s.bind(x, |s, v| {
            let mut all = components(&Exp::<HNil, _, _>::shape(&v));
            if has_lanes {
                all.remove(0);
            }
            let mut extents = vec![s.n.clone()];
            extents.extend(all.into_iter().zip(spec.kept()).filter(|(_, kept)| **kept).map(|(n, _)| n));
            let ix = Exp::var(&Idx::zero(&outer));
            let (lane, rest) = split(&ix, &spec.small());
            let slx = code(&slx.weaken(&Thinning::from_nil()), Some(&lane), s);
            let (mut kept, mut fixed) = (components(&rest).into_iter(), components(&slx).into_iter());
            let parts = spec.kept().iter().filter_map(|is_kept| if *is_kept { kept.next() } else { fixed.next() });
            let place: Vec<_> = has_lanes.then_some(lane).into_iter().chain(parts).collect();
            let f = Fun1(from_components(&large, &place));
            lanes(&Acc::backpermute(&outer, &from_components(&outer, &extents), &f, &Acc::var(&v), at), m)
        })
    })
}

fn int<E, A>(i: i64) -> Exp<E, A, i64> {
    Exp::constant(&Value::of(i), &Ty::of())
}

fn arithmetic<E, A>(op: Num2, a: &Exp<E, A, i64>, b: &Exp<E, A, i64>) -> Exp<E, A, i64> {
    Exp::prim2(Prim2::Num(op, NumTy::index(), Equal::refl()), a, b)
}
