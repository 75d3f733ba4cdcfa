//! Functions of arrays with rules of one's own (NOTE \[Rules of one's own\] in `accel_core::ast::custom`): makes the pushforward and the pullback
//! of the rule that a user gives, the second one by transposing the first one.

use crate::activity::{Activity, ArrayLabels};
use crate::array::code::{ACode, User, from_tangent, given, materialise, to_tangent, zeros};
use crate::array::dual::reverse;
use crate::array::label::label;
use crate::array::state::ADual;
use crate::builders::has_tangent;
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::{Error, Result};
use accel_core::repr::RawTy;
use frunk::HCons;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

/// What a rule computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// `(x, dx) -> (y, dy)`
    Forward,
    /// `(x, y, dy) -> dx`
    Reverse,
}

/// The program that applies the function `f` with the rule `rule`, written at `at`. Its argument is `((x, c), d)`, where `c` are the values
/// that `f` captures, and `d` those that `rule` captures, or `()`. The argument of a function that captures values is
/// the pair of its own argument and these.
///
/// # Errors
/// `Error::Internal` for a function and a rule whose types do not fit, which rustc does not accept.
pub fn with_rule(f: &Program, rule: &Program, captures: [bool; 2], direction: Direction, at: Src) -> Result<Program> {
    let parts = |p: &RawTy, captures| match (p, captures) {
        (RawTy::Pair(p), true) => (p.0.clone(), p.1.clone()),
        (p, _) => (p.clone(), RawTy::Unit),
    };
    let ((x, c), d) = (parts(f.arg(), captures[0]), parts(rule.arg(), captures[1]).1);
    let all = RawTy::pair(RawTy::pair(x, c), d);
    fresh3(|w, r, e| {
        let whole = Ty::from_raw(&all, w).and_then(|t| ArraysTy::of(&t)).ok_or_else(broken)?;
        let q = name(e);
        let v = Idx::zero(&whole).cast_env(q);
        let scope = Size::nil().push().cast(q);
        let node = applied((f, rule), captures, (direction, at), &Acc::var(&v), scope, r)?;
        Ok(Program::new(&whole, &node.cast_env(q.sym())))
    })
}

/// The error of a function and a rule that do not fit.
pub fn broken() -> Error {
    Error::Internal("a rule of another type than its function".into())
}

/// The function with its rule, applied to `((x, c), d)`.
fn applied<'a, 'w, 'r>(
    (f, rule): (&Program, &Program),
    captures: [bool; 2],
    (direction, at): (Direction, Src),
    all: &Acc<X<'a>, X<'w>>,
    scope: Size<X<'a>>,
    r: Guard<'r>,
) -> Result<Acc<X<'a>, X<'r>>> {
    fresh2(|v1, v2| {
        let TyView::Pair(first, _, q1) = all.ty().view(v1) else { return Err(broken()) };
        let TyView::Pair(_, _, q2) = first.view(v2) else { return Err(broken()) };
        let all = all.cast(q1);
        let own = all.fst().cast(q2);
        let (x, up) = (own.fst(), Thinning::shift());
        let captured = captures[0].then(|| own.snd().weaken(&up));
        let function = called(f, &Acc::var(&Idx::zero(x.ty())), captured.as_ref(), r)?;
        let rule = Rule { program: rule, captured: captures[1].then(|| all.snd()), scope, user: at };
        let functions = match direction {
            Direction::Forward => rule.forward(x.ty(), function)?,
            Direction::Reverse => rule.reverse(x.ty(), function)?,
        };
        Ok(Acc::with_rule(&x, &functions, at))
    })
}

/// A rule of a user, and what it captures.
struct Rule<'p, A, C> {
    program: &'p Program,
    captured: Option<Acc<A, C>>,
    scope: Size<A>,
    user: Src,
}

impl<A, C> Rule<'_, A, C> {
    /// The function with the rule `(x, dx) -> (y, dy)`.
    fn forward<P, R>(&self, p: &Ty<P>, function: Acc<HCons<P, A>, R>) -> Result<Custom<A, P, R>> {
        let r = function.ty().clone();
        let v = Acc::var(&Idx::zero(&linearised(p, &r, p)));
        let argument = Acc::pair(&v.fst(), &from_tangent(&v.snd().snd(), p));
        let pushforward = fresh2(|n, k| {
            let both = self.called(&argument, k)?;
            let TyView::Pair(_, _, q) = both.ty().view(n) else { return Err(broken()) };
            checked(&both.cast(q).snd(), &v.snd().fst(), self.scope.push(), self.user)
        })?;
        let pullback = transposed(&pushforward, (p, &r), (p, &r), &|v| v.fst(), self.scope)?;
        Ok(Custom { function, pushforward, pullback })
    }

    /// The function with the rule `(x, y, dy) -> dx`.
    fn reverse<P, R>(&self, p: &Ty<P>, function: Acc<HCons<P, A>, R>) -> Result<Custom<A, P, R>> {
        let r = function.ty().clone();
        let v = Acc::var(&Idx::zero(&linearised(p, &r, &r)));
        let argument = Acc::pair(&Acc::pair(&v.fst(), &v.snd().fst()), &from_tangent(&v.snd().snd(), &r));
        let pullback = fresh1(|k| checked(&self.called(&argument, k)?, &v.fst(), self.scope.push(), self.user))?;
        let pushforward = transposed(&pullback, (p, &r), (&r, p), &|v| v.snd().fst(), self.scope)?;
        Ok(Custom { function, pushforward, pullback })
    }

    fn called<'k, P, Q>(&self, x: &Acc<HCons<Q, A>, P>, k: Guard<'k>) -> Result<Acc<HCons<Q, A>, X<'k>>> {
        let captured = self.captured.as_ref().map(|c| c.weaken(&Thinning::shift()));
        called(self.program, x, captured.as_ref(), k)
    }
}

/// The result of a program for an argument, and what it captures.
fn called<'k, A, P, C>(
    p: &Program,
    x: &Acc<A, P>,
    captured: Option<&Acc<A, C>>,
    k: Guard<'k>,
) -> Result<Acc<A, X<'k>>> {
    fn of<'k, A, Q>(p: &Program, x: &Acc<A, Q>, k: Guard<'k>) -> Result<Acc<A, X<'k>>> {
        fresh1(|a| {
            let p = p.open(a, k);
            let q = x.ty().same(&p.arg).ok_or_else(broken)?;
            Ok(Acc::let_(&x.cast(q), &p.body.weaken(&Thinning::from_nil().lift())))
        })
    }
    match captured {
        Some(c) => of(p, &Acc::pair(x, c), k),
        None => of(p, x, k),
    }
}

/// The tangent of `value` that a rule returns as `d`. If its shapes differ from those of `value`, this is an error when the program runs.
fn checked<A, R, D>(d: &Acc<A, D>, value: &Acc<A, R>, scope: Size<A>, user: Src) -> Result<Acc<A, Tan<R>>> {
    fresh3(|k, l, m| {
        let user = giver(d, user);
        let d = ACode::start(scope).emit(d, k);
        let value = d.code.emit(&value.weaken(&d.up), l);
        let tangent = tangent(&Acc::var(&value.up.at(&d.var)), &Acc::var(&value.var)).ok_or_else(broken)?;
        let all = given(&value.code, &Acc::var(&value.var), &tangent, &user, m);
        Ok(all.code.close(&Acc::var(&all.var)))
    })
}

/// Who is to blame for the shapes of what a rule returns: the operations that compute it, in the rule that `user` has given.
fn giver<A, D>(d: &Acc<A, D>, user: Src) -> User {
    fresh4(|a, r, n, c| {
        let d = d.cast_env(name(a)).cast(name(r));
        match d.view(n) {
            AccView::Let(_, body, _) if d.custom(c).is_none() => giver(&body, user),
            AccView::Op(AccOp::Fst { a, .. }) => giver(&a, user).part(true),
            AccView::Op(AccOp::Snd { a, .. }) => giver(&a, user).part(false),
            AccView::Op(AccOp::Pair { a, b, .. }) => User::Pair(Rc::new((giver(&a, user), giver(&b, user)))),
            _ => User::One("custom_vjp", named(d.at(), user)),
        }
    })
}

/// The place of a rule, with the operation of which the result is wrong.
fn named(operation: Src, user: Src) -> Src {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let (Some(operation), Some(user)) = (operation, user) else { return user };
    // Messages print this name in backticks, and then the place of the user. A place of a source has few names, so they stay.
    let text = format!("{}` at {operation}, in the rule of `{}", operation.name, user.name);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let name = names.get(text.as_str()).copied().unwrap_or_else(|| {
        let name: &'static str = text.leak();
        names.insert(name);
        name
    });
    Some(Source { name, ..user })
}

/// What a rule returns as a tangent of `value`. Discrete parts count nothing and may be `()`.
fn tangent<A, R, D>(d: &Acc<A, D>, value: &Acc<A, R>) -> Option<Acc<A, Tan<R>>> {
    if !has_tangent(value.ty()) {
        return Some(zeros(value));
    }
    deep(|| {
        fresh2(|n, k| match (value.ty().view(n), d.ty().view(k)) {
            (TyView::Pair(_, _, q), TyView::Pair(_, _, p)) => {
                let (value, d) = (value.cast(q), d.cast(p));
                let (a, b) = (tangent(&d.fst(), &value.fst())?, tangent(&d.snd(), &value.snd())?);
                Some(Acc::pair(&a, &b).cast(tan_pair().sym().then(eq_tan(q.sym()))))
            }
            _ => d.ty().same(value.ty()).map(|q| to_tangent(&d.cast(q))),
        })
    })
}

/// The transpose of a derivative in its tangent: from a tangent of `E` to one of `D`, if the derivative is from a tangent of `D`, the type of
/// `source`, to one of `E`. It is linear, so its derivative is the same at all tangents, and is taken at zero.
fn transposed<A, P, R, D, E>(
    derivative: &Acc<HCons<Linearised<P, R, D>, A>, Tan<E>>,
    (p, r): (&Ty<P>, &Ty<R>),
    (d, e): (&Ty<D>, &Ty<E>),
    source: &dyn for<'v> Fn(&Acc<X<'v>, (P, (R, Tan<E>))>) -> Acc<X<'v>, D>,
    scope: Size<A>,
) -> Result<Acc<HCons<Linearised<P, R, E>, A>, Tan<D>>> {
    fresh6(|a, b, c, m, k, l| {
        let q = name(a);
        let v = Acc::var(&Idx::zero(&linearised(p, r, e)).cast_env(q));
        let start = ACode::start(scope.push().cast(q));
        let zero = start.emit(&zeros(&source(&v)), b);
        let seed = zero.code.emit(&v.snd().snd().weaken(&zero.up), c);
        let (zero, up) = (seed.up.at(&zero.var), zero.up.then(&seed.up));
        let v = v.weaken(&up);
        let at = Acc::pair(&v.fst(), &Acc::pair(&v.snd().fst(), &Acc::var(&zero)));
        let outside = Thinning::shift().to(q).then(&up);
        let code = Acc::let_(&at, &derivative.weaken(&outside.lift()));
        let primal = label(&code, &Renaming::embedding(&Thinning::id()), &ACode::start(seed.code.size), m);

        let twice_e = tan_ty(&tan_ty(e)).same(&tan_ty(e)).ok_or_else(broken)?;
        let twice_d = tan_ty(&tan_ty(d)).same(&tan_ty(d)).ok_or_else(broken)?;
        let mut adj = Contributions::new(primal.code.size, primal.code.size);
        let seed_var = primal.up.at(&seed.var).cast(twice_e.sym());
        adj.add(&primal.var, &SparseTangent::var(&seed_var));
        let labels = (0..seed.code.size.get())
            .map(|level| if level + 2 == seed.code.size.get() { Activity::Active } else { Activity::Passive });
        let mut activity = ArrayLabels::new(labels.collect());
        activity.enter(&primal.code.tele, seed.code.size);
        let st = ADual { code: primal.code.clone(), adj, emb: Thinning::id(), used: Used::default(), activity };
        let mut dual = reverse(&primal.code.tele, st, k)?;
        let (parts, value) = (dual.adj.take(&zero), dual.value(&zero));
        let sum = dual.sum(&parts, &value, l);
        let result = materialise(&sum.val, &sum.st.value(&zero)).cast(twice_d);
        Ok(seed.code.close(&sum.st.code.close(&result)).cast_env(q.sym()))
    })
}
