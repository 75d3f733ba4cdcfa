//! Batching of control flow that depends on the lane, where scalar code can do it: a loop over arrays without dimensions becomes a
//! scalar loop in a `generate` over all lanes, so that each lane has its own number of steps, and a branch is only taken in the lanes that
//! take it.

use super::index::{components, from_components};
use super::scalars::{applied, code, depth, lane_of, uncurry, value};
use super::scope::{Entry, Form, Made, Scope, Stuck};
use crate::ast::*;
use crate::repr::RawTy;
use frunk::HCons;
use std::collections::BTreeSet;

/// Whether all arrays of a type are without dimensions.
fn are_numbers(t: &RawTy) -> bool {
    match t {
        RawTy::Pair(p) => deep(|| are_numbers(&p.0) && are_numbers(&p.1)),
        RawTy::Array(p) => p.0.width() == 0,
        RawTy::Unit => true,
        RawTy::Scalar(_) | RawTy::List(_) => false,
    }
}

/// A computation of arrays without dimensions as scalar code, for all lanes.
pub fn numbers<'b, 'm, A, R>(a: &Acc<A, R>, s: Scope<'_, 'b>, m: Guard<'m>) -> Made<'b, 'm> {
    if !are_numbers(a.ty().raw()) {
        return Err(stuck(a, "it depends on the row"));
    }
    let mut used = Used { outside: s.entries.borrow().len(), bound: 0, found: BTreeSet::new() };
    used.acc(a);
    let used: Vec<_> = used.found.into_iter().collect();
    let mut m = Some(m);
    let code = with_components(&used, &[], s, &mut |s, parts| {
        let m = m.take().ok_or_else(|| Stuck::broken("one result"))?;
        fresh2(|k, t| {
            let outer = s.outer(&Ty::<()>::of(), k)?;
            let lane = components(&Exp::var(&Idx::zero(&outer))).swap_remove(0);
            let f = Fun1(scalar(a, &lane, Numbers { s, parts }, t)?);
            let extents = from_components(&outer, std::slice::from_ref(s.n));
            let all = Acc::generate(&outer, &extents, &f, a.at());
            s.bind(&all, |_, v| Ok((columns(&Acc::var(&v), a.ty(), m)?, ()))).map(|(columns, ())| columns)
        })
    });
    Ok((code?, Form::Lanes))
}

/// A component of a variable of the old code: the position of the variable, and the way to the component, as in `by`.
type Component = (usize, Vec<bool>);

/// Finds the components of variables outside of a computation that are arrays.
struct Used {
    /// How many variables are outside.
    outside: usize,
    /// How many were bound on the way.
    bound: usize,
    found: BTreeSet<Component>,
}

impl Used {
    fn acc<A, R>(&mut self, a: &Acc<A, R>) {
        fresh2(|e, r| deep(|| self.acc_(&a.cast_env(name(e)).cast(name(r)))))
    }

    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>) {
        if let Some((depth, path)) = component(a) {
            if let Some(position) = (self.outside + self.bound).checked_sub(depth + 1).filter(|p| *p < self.outside) {
                self.leaves(position, path, a.ty().raw());
            }
            return;
        }
        fresh2(|n, c| match a.view(n) {
            _ if let Some(c) = a.custom(c) => {
                self.acc(&c.arg);
                self.below(&c.functions.function);
                self.below(&c.functions.pushforward);
                self.below(&c.functions.pullback)
            }
            AccView::Use(_) | AccView::Var(_) | AccView::Loop(..) => {}
            AccView::Let(b, body, _) => {
                self.acc(&b);
                self.below(&body)
            }
            AccView::While(w) => {
                self.acc(&w.init);
                self.below(&w.cond);
                self.below(&w.body)
            }
            AccView::Op(op) => op.visit(self),
        })
    }

    fn below<A, R>(&mut self, a: &Acc<A, R>) {
        self.bound += 1;
        self.acc(a);
        self.bound -= 1;
    }

    fn leaves(&mut self, position: usize, path: Vec<bool>, t: &RawTy) {
        match t {
            RawTy::Array(_) if path.is_empty() => {}
            RawTy::Array(_) => drop(self.found.insert((position, path))),
            RawTy::Pair(p) => {
                let way = |first| path.iter().copied().chain([first]).collect();
                self.leaves(position, way(true), &p.0);
                self.leaves(position, way(false), &p.1)
            }
            RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => {}
        }
    }
}

impl<A> AccVisit<A> for Used {
    fn exp<E, T>(&mut self, _: &Exp<E, A, T>) {}
    fn acc<T>(&mut self, a: &Acc<A, T>) {
        self.acc(a)
    }
}

/// The depth of the variable and the way to a component, if a computation is only that.
fn component<A, R>(a: &Acc<A, R>) -> Option<(usize, Vec<bool>)> {
    fresh1(|n| {
        let (mut found, first) = match a.view(n) {
            AccView::Var(i) => return Some((i.depth(), vec![])),
            AccView::Op(AccOp::Fst { a, .. }) => (component(&a)?, true),
            AccView::Op(AccOp::Snd { a, .. }) => (component(&a)?, false),
            _ => return None,
        };
        found.1.push(first);
        Some(found)
    })
}

/// A variable of the new code for a component.
#[derive(Clone)]
struct Part {
    component: Component,
    entry: Entry,
}

/// Defines variables for components, since scalar code reads variables only.
fn with_components<'b, 'm>(
    todo: &[Component],
    done: &[Part],
    s: Scope<'_, 'b>,
    f: &mut dyn for<'t, 'e> FnMut(Scope<'t, 'e>, &[Part]) -> Result<Acc<X<'e>, X<'m>>, Stuck>,
) -> Result<Acc<X<'b>, X<'m>>, Stuck> {
    let Some((component, rest)) = todo.split_first() else { return f(s, done) };
    let entry = s.entries.borrow().get(component.0).cloned();
    let entry = entry.ok_or_else(|| Stuck::broken("a variable in scope"))?;
    fresh2(|g, h| {
        let variable = s.arrays.variable(entry.level, g).ok_or_else(|| Stuck::broken("an array in scope"))?;
        let x = projection(&Acc::var(&variable), &component.1, h)?;
        let form = component.1.iter().fold(entry.form, |form, first| if *first { form.first() } else { form.second() });
        let body = s.bind(&x, |s, _| {
            let entry = Entry { level: s.arrays.size().get() - 1, form };
            let done: Vec<_> = done.iter().cloned().chain([Part { component: component.clone(), entry }]).collect();
            Ok((with_components(rest, &done, s, f)?, ()))
        });
        body.map(|(body, ())| body)
    })
}

/// A component of a tuple.
fn projection<'b, 'h, Q>(x: &Acc<X<'b>, Q>, path: &[bool], h: Guard<'h>) -> Result<Acc<X<'b>, X<'h>>, Stuck> {
    let Some((first, rest)) = path.split_first() else { return Ok(x.cast(name(h))) };
    fresh1(|v| {
        let TyView::Pair(_, _, q) = x.ty().view(v) else { return Err(Stuck::broken("a pair")) };
        let x = x.cast(q);
        if *first { projection(&x.fst(), rest, h) } else { projection(&x.snd(), rest, h) }
    })
}

/// The scope of scalar code, and the variables for components.
#[derive(Clone, Copy)]
struct Numbers<'s, 'b> {
    s: Scope<'s, 'b>,
    parts: &'s [Part],
}

impl Numbers<'_, '_> {
    /// The entry of a variable that is one array, or of a component that is.
    fn entry(self, position: usize, path: &[bool]) -> Result<Entry, Stuck> {
        let part = self.parts.iter().find(|part| part.component.0 == position && part.component.1 == path);
        let entry = match part {
            Some(part) => Some(part.entry.clone()),
            None if path.is_empty() => self.s.entries.borrow().get(position).cloned(),
            None => None,
        };
        entry.ok_or_else(|| Stuck::broken("a variable for the component"))
    }
}

fn stuck<A, R>(a: &Acc<A, R>, why: &'static str) -> Stuck {
    Stuck::new("control flow", a.at(), why)
}

/// The arrays of the components of an array.
fn columns<'b, 'm, Sh, T, R>(v: &Acc<X<'b>, Arr<Sh, T>>, t: &Ty<R>, m: Guard<'m>) -> Result<Acc<X<'b>, X<'m>>, Stuck> {
    fresh4(|g, h, i, j| match (t.view(g), v.sh_elt().1.view(h)) {
        (TyView::Unit(_), _) => Ok(Acc::unit().cast(name(m))),
        (TyView::Arr(..), _) => Ok(v.cast(name(m))),
        (TyView::Pair(a, b, _), TyView::Pair(_, _, q)) => {
            let x = Exp::var(&Idx::zero(&v.sh_elt().1)).cast(q);
            let (first, second) = (Fun1(x.fst()), Fun1(x.snd()));
            let a = columns(&Acc::map(&first, v, None), &a, i)?;
            Ok(Acc::pair(&a, &columns(&Acc::map(&second, v, None), &b, j)?).cast(name(m)))
        }
        _ => Err(Stuck::broken("as many components")),
    })
}

/// The elements of arrays without dimensions, as an expression for the lane.
fn scalar<'b, 't, A, R, E, L>(
    a: &Acc<A, R>,
    lane: &Exp<E, X<'b>, L>,
    n: Numbers<'_, 'b>,
    t: Guard<'t>,
) -> Result<Exp<E, X<'b>, X<'t>>, Stuck> {
    fresh4(|a1, r, e, l| {
        let (e, l) = (name(e), name(l));
        let a = a.cast_env(name(a1)).cast(name(r));
        Ok(deep(|| scalar_(&a, &lane.cast_env(e).cast(l), n, t))?.cast_env(e.sym()))
    })
}

fn scalar_<'b, 't, 'a, 'r, 'e, 'l>(
    a: &Acc<X<'a>, X<'r>>,
    lane: &Exp<X<'e>, X<'b>, X<'l>>,
    n: Numbers<'_, 'b>,
    t: Guard<'t>,
) -> Result<Exp<X<'e>, X<'b>, X<'t>>, Stuck> {
    if let Some((position, path)) = array(a, n) {
        return elements(a.ty(), (position, &path), lane, n, t);
    }
    fresh4(|v, c, g, h| {
        if let Some(c) = a.custom(c) {
            return custom(&c, a.at(), lane, n, t);
        }
        let op = match a.view(v) {
            AccView::Use(_) => return Err(stuck(a, "a literal in scalar code")),
            AccView::Var(i) => {
                let k = n.s.scalar(&i).ok_or_else(|| Stuck::broken("a variable that became a scalar"))?;
                return Ok(value(lane, k, t));
            }
            AccView::Let(b, body, _) => {
                if let (Some((position, path)), RawTy::Array(_)) = (array(&b, n), b.ty().raw()) {
                    let entry = n.entry(position, &path)?;
                    n.s.entries.borrow_mut().push(entry);
                    let body = scalar(&body, lane, n, t);
                    n.s.entries.borrow_mut().pop();
                    return body;
                }
                let b = scalar(&b, lane, n, g)?;
                let body = with_value(lane, b.ty(), n, |lane, n| scalar(&body, lane, n, t))?;
                return Ok(Exp::let_(&b, &body));
            }
            AccView::While(w) => {
                let init = scalar(&w.init, lane, n, t)?;
                let cond = with_value(lane, init.ty(), n, |lane, n| scalar(&w.cond, lane, n, g))?;
                let cond = cond.cast(cond.ty().same(&Ty::of()).ok_or_else(|| Stuck::broken("a condition"))?);
                let body = with_value(lane, init.ty(), n, |lane, n| scalar(&w.body, lane, n, h))?;
                let body = body.cast(body.ty().same(init.ty()).ok_or_else(|| Stuck::broken("a state"))?);
                return Ok(Exp::while_(&cond, &body, &init, a.at()));
            }
            AccView::Loop(..) => return Err(stuck(a, "a loop with lists in scalar code")),
            AccView::Op(op) => op,
        };
        let same = || Stuck::broken("equal types");
        match op {
            AccOp::Unit { .. } => Ok(Exp::constant(&Value::unit(), &Ty::of()).cast(name(t))),
            AccOp::Pair { a, b, .. } => Ok(Exp::pair(&scalar(&a, lane, n, g)?, &scalar(&b, lane, n, h)?).cast(name(t))),
            AccOp::Fst { a, .. } => {
                let a = scalar(&a, lane, n, g)?;
                let TyView::Pair(_, _, q) = a.ty().view(h) else { return Err(same()) };
                Ok(a.cast(q).fst().cast(name(t)))
            }
            AccOp::Snd { a, .. } => {
                let a = scalar(&a, lane, n, g)?;
                let TyView::Pair(_, _, q) = a.ty().view(h) else { return Err(same()) };
                Ok(a.cast(q).snd().cast(name(t)))
            }
            AccOp::Cond { cond, then, otherwise } => {
                let cond = code(&cond.weaken(&Thinning::from_nil()), Some(lane), n.s);
                let (x, y) = (scalar(&then, lane, n, t)?, scalar(&otherwise, lane, n, g)?);
                Ok(Exp::cond(&cond, &x, &y.cast(y.ty().same(x.ty()).ok_or_else(same)?)))
            }
            AccOp::Generate { f, eq, .. } => {
                let sh = a.ty().cast(eq).sh_elt().0;
                Ok(applied(&f, &from_components(&sh, &[]), lane, n.s).cast(name(t)))
            }
            AccOp::Map { f, a: x, .. } => {
                let elt = x.sh_elt().1;
                let x = scalar(&x, lane, n, g)?;
                Ok(applied(&f, &x.cast(x.ty().same(&elt).ok_or_else(same)?), lane, n.s).cast(name(t)))
            }
            AccOp::ZipWith { f, a: x, b: y, .. } => {
                let (p, q) = (x.sh_elt().1, y.sh_elt().1);
                let (x, y) = (scalar(&x, lane, n, g)?, scalar(&y, lane, n, h)?);
                let (x, y) = (x.cast(x.ty().same(&p).ok_or_else(same)?), y.cast(y.ty().same(&q).ok_or_else(same)?));
                Ok(applied(&uncurry(&f, &p, &q), &Exp::pair(&x, &y), lane, n.s).cast(name(t)))
            }
            AccOp::Agree { a, .. } => scalar(&a, lane, n, t),
            op => Err(Stuck::new(op.name(), a.at(), "it has dimensions, in control flow that depends on the row")),
        }
    })
}

/// A function with a rule as one in scalar code.
fn custom<'b, 't, 'a, 'r, 'e, 'l>(
    c: &CustomView<'_, X<'a>, X<'r>>,
    at: Src,
    lane: &Exp<X<'e>, X<'b>, X<'l>>,
    n: Numbers<'_, 'b>,
    t: Guard<'t>,
) -> Result<Exp<X<'e>, X<'b>, X<'t>>, Stuck> {
    let same = || Stuck::broken("equal types");
    fresh3(|g, h, k| {
        let arg = scalar(&c.arg, lane, n, g)?;
        let p = arg.ty();
        let function = with_value(lane, p, n, |lane, n| scalar(&c.functions.function, lane, n, t))?;
        let r = function.ty().clone();
        let pushforward =
            with_value(lane, &linearised(p, &r, p), n, |lane, n| scalar(&c.functions.pushforward, lane, n, h))?;
        let pullback =
            with_value(lane, &linearised(p, &r, &r), n, |lane, n| scalar(&c.functions.pullback, lane, n, k))?;
        let pushforward = pushforward.cast(pushforward.ty().same(&tan_ty(&r)).ok_or_else(same)?);
        let pullback = pullback.cast(pullback.ty().same(&tan_ty(p)).ok_or_else(same)?);
        Ok(Exp::with_rule(&arg, &CustomExp { function, pushforward, pullback }, at))
    })
}

/// The variable and the way to a component, if a computation is only that, and the variable did not become a scalar.
fn array<A, R>(a: &Acc<A, R>, n: Numbers) -> Option<Component> {
    let (depth, path) = component(a)?;
    let entries = n.s.entries.borrow();
    let position = entries.len().checked_sub(depth + 1)?;
    (!matches!(entries[position].form, Form::Scalar(_))).then_some((position, path))
}

/// Code below a binder, whose variable is the value of a further variable that became a scalar.
fn with_value<'b, 'e, 'l, P, R>(
    lane: &Exp<X<'e>, X<'b>, X<'l>>,
    t: &Ty<P>,
    n: Numbers<'_, 'b>,
    f: impl FnOnce(&Exp<HCons<P, X<'e>>, X<'b>, (X<'l>, P)>, Numbers<'_, 'b>) -> Result<R, Stuck>,
) -> Result<R, Stuck> {
    let both = Exp::pair(&lane.weaken(&Thinning::shift()), &Exp::var(&Idx::zero(t)));
    n.s.entries.borrow_mut().push(Entry { level: 0, form: Form::Scalar(depth(lane)) });
    let result = f(&both, n);
    n.s.entries.borrow_mut().pop();
    result
}

/// The elements of arrays without dimensions: of a variable or a component of it.
fn elements<'b, 't, R, E, L>(
    t: &Ty<R>,
    (position, path): (usize, &[bool]),
    lane: &Exp<E, X<'b>, L>,
    n: Numbers<'_, 'b>,
    m: Guard<'t>,
) -> Result<Exp<E, X<'b>, X<'t>>, Stuck> {
    fresh3(|v, g, h| match t.view(v) {
        TyView::Pair(a, b, _) => {
            let way = |first| path.iter().copied().chain([first]).collect::<Vec<_>>();
            let a = elements(&a, (position, &way(true)), lane, n, g)?;
            Ok(Exp::pair(&a, &elements(&b, (position, &way(false)), lane, n, h)?).cast(name(m)))
        }
        TyView::Arr(sh, ..) if sh.raw().width() == 0 => {
            let entry = n.entry(position, path)?;
            let variable = n.s.arrays.variable(entry.level, g).ok_or_else(|| Stuck::broken("an array in scope"))?;
            let TyView::Arr(sh, _, q) = variable.ty().view(h) else { return Err(Stuck::broken("an array")) };
            let lane = [lane_of(lane)];
            let ix = from_components(&sh, if entry.form == Form::Shared { &[] } else { &lane });
            Ok(Exp::index(&variable.cast(q), &ix, None).cast(name(m)))
        }
        TyView::Unit(_) => Ok(Exp::constant(&Value::unit(), &Ty::of()).cast(name(m))),
        TyView::Arr(..) | TyView::Scalar(_) | TyView::List(..) => Err(Stuck::broken("arrays without dimensions")),
    })
}
