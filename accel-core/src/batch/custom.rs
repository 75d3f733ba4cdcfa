//! Batching of functions with a rule: the function, its pushforward and its pullback become those of all rows, so that a derivative of the
//! batched program meets the rule.
//!
//! A component of the argument that no row changes stays shared if its adjoint does not depend on the row, as that of an integer.
//! Otherwise it is repeated, and the derivative of the repetition is the sum over the rows.

use super::arrays::batch;
use super::scope::{Form, Made, Scope, Stuck};
use crate::ast::*;
use frunk::HCons;

/// The new code for the result of a function with a rule.
pub fn custom<'b, 'm, A, R>(c: &CustomView<'_, A, R>, at: Src, s: Scope<'_, 'b>, m: Guard<'m>) -> Made<'b, 'm> {
    fresh1(|g| {
        let (arg, first) = batch(&c.arg, s, g)?;
        let mut form = first.clone();
        loop {
            let next = fresh1(|h| {
                let (arg, _) = s.convert(&arg, &first, &form, h)?;
                Ok(form.join(&adjoint(&c.functions, arg.ty(), &form, s)?))
            })?;
            if next == form {
                break;
            }
            form = next;
        }
        fresh3(|h, r, k| {
            let (arg, _) = s.convert(&arg, &first, &form, h)?;
            let (p, same) = (arg.ty(), || Stuck::broken("the derivative of a function with lanes"));
            let function = function(&c.functions, p, &form, s, r)?;
            let r = function.ty().clone();
            let along = |d: &Form| Form::pair(form.clone(), Form::pair(Form::Lanes, d.clone()));
            let pushforward = fresh1(|k| {
                let f =
                    below(&c.functions.pushforward, (&linearised(p, &r, p), &along(&form)), Some(&Form::Lanes), s, k)?
                        .0;
                Ok(f.cast(f.ty().same(&tan_ty(&r)).ok_or_else(same)?))
            })?;
            let pullback =
                below(&c.functions.pullback, (&linearised(p, &r, &r), &along(&Form::Lanes)), Some(&form), s, k)?.0;
            let pullback = pullback.cast(pullback.ty().same(&tan_ty(p)).ok_or_else(same)?);
            Ok((Acc::with_rule(&arg, &Custom { function, pushforward, pullback }, at).cast(name(m)), Form::Lanes))
        })
    })
}

/// The function of all rows, for an argument of type `p` and this form. Its result has lanes.
fn function<'b, 'r, A, P, R, Q>(
    c: &Custom<A, P, R>,
    p: &Ty<Q>,
    form: &Form,
    s: Scope<'_, 'b>,
    r: Guard<'r>,
) -> Result<Acc<HCons<Q, X<'b>>, X<'r>>, Stuck> {
    Ok(below(&c.function, (p, form), Some(&Form::Lanes), s, r)?.0)
}

/// The form of the adjoint of an argument of type `p` and this form.
fn adjoint<'b, A, P, R, Q>(c: &Custom<A, P, R>, p: &Ty<Q>, form: &Form, s: Scope<'_, 'b>) -> Result<Form, Stuck> {
    fresh2(|r, k| {
        let r = function(c, p, form, s, r)?.ty().clone();
        let along = Form::pair(form.clone(), Form::Lanes);
        Ok(below(&c.pullback, (&linearised(p, &r, &r), &along), None, s, k)?.1)
    })
}

/// The new code below a variable of type `t` and this form, and the form of its result, which is converted to `to`.
fn below<'b, 'k, A, P, R, T>(
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
