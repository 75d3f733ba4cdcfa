//! Emits array code: a telescope of definitions that grows at its end, and sums of partial tangents (see the glossary
//! of the book: telescope, sparse tangent).

use crate::builders::{fun1, plus, zero};
use crate::sparse_tangents::{Summands, summands};
use accel_core::ast::*;
pub use accel_core::pass::to_tangents as to_tangent;
use accel_core::repr::Agreement;
use std::rc::Rc;

/// Definitions that lead from the environment `B` to `A`.
pub struct ACode<B, A> {
    /// The definitions.
    pub tele: ATele<B, A>,
    /// The number of variables in scope at the end.
    pub size: Size<A>,
}

/// The code after a new definition; the extended environment has the name `X<'m>`.
pub struct AEmitted<'m, B, A, R> {
    /// The code.
    pub code: ACode<B, X<'m>>,
    /// The new variable.
    pub var: Idx<X<'m>, R>,
    /// The embedding of the previous environment.
    pub up: Thinning<A, X<'m>>,
}

impl<B, A> Clone for ACode<B, A> {
    fn clone(&self) -> Self {
        ACode { tele: self.tele.clone(), size: self.size }
    }
}

impl<B> ACode<B, B> {
    /// Code without definitions.
    pub fn start(size: Size<B>) -> Self {
        ACode { tele: ATele::nil(), size }
    }
}

impl<B, A> ACode<B, A> {
    /// Appends a definition.
    pub fn emit<'m, R>(&self, rhs: &Acc<A, R>, m: Guard<'m>) -> AEmitted<'m, B, A, R> {
        let q = name(m);
        AEmitted {
            code: ACode { tele: self.tele.snoc(rhs).cast(q), size: self.size.push().cast(q) },
            var: Idx::zero(rhs.ty()).cast_env(q),
            up: Thinning::id().up(q),
        }
    }
    /// Only gives the environment a name.
    pub fn rename<'m>(&self, q: Equal<A, X<'m>>) -> ACode<B, X<'m>> {
        ACode { tele: self.tele.cast(q), size: self.size.cast(q) }
    }
    /// Wraps the definitions around a result.
    pub fn close<R>(&self, body: &Acc<A, R>) -> Acc<B, R> {
        accel_core::pass::aclose(&self.tele, body)
    }
}

/// Zero tangents with the shapes of `a`, which should be a variable or a component of a variable.
pub fn zeros<A, R>(a: &Acc<A, R>) -> Acc<A, Tan<R>> {
    fresh2(|x, r| {
        let (x, r) = (name(x), name(r));
        deep(|| zeros_(&a.cast_env(x).cast(r))).cast_env(x.sym()).cast(eq_tan(r.sym()))
    })
}

// Generic in lifetimes only, so that it is compiled once.
fn zeros_<'x, 'r>(a: &Acc<X<'x>, X<'r>>) -> Acc<X<'x>, Tan<X<'r>>> {
    fresh1(|n| match a.ty().view(n) {
        TyView::Arr(_, t, q) => {
            let dt = tan_ty(&t);
            Acc::map(&fun1(&t, |_| zero(&dt)), &a.cast(q), None).cast(eq_tan(q).then(tan_arr()).sym())
        }
        TyView::Pair(_, _, q) => {
            let a = a.cast(q);
            Acc::pair(&zeros(&a.fst()), &zeros(&a.snd())).cast(eq_tan(q).then(tan_pair()).sym())
        }
        TyView::Unit(q) => Acc::unit().cast(eq_tan(q).then(tan_unit()).sym()),
        TyView::Scalar(_) | TyView::List(..) => unreachable!("array code has no scalar values"),
    })
}

/// Who gives a tangent: the name of a derivative and its place, for the whole tangent or for each component of a pair.
#[derive(Clone)]
pub enum User {
    One(&'static str, Src),
    Pair(Rc<(User, User)>),
}

impl User {
    /// Who gives the first part.
    fn one(&self) -> (&'static str, Src) {
        match self {
            User::One(name, at) => (name, *at),
            User::Pair(p) => p.0.one(),
        }
    }
    /// Who gives a component.
    pub fn part(&self, first: bool) -> User {
        match self {
            User::Pair(p) if first => p.0.clone(),
            User::Pair(p) => p.1.clone(),
            one => one.clone(),
        }
    }
}

/// Emits a tangent of `value` that the user passes to the derivative `user`. If its shapes differ from those of
/// `value`, this is an error when the program runs.
pub fn given<'m, B, A, R>(
    code: &ACode<B, A>,
    value: &Acc<A, R>,
    d: &Acc<A, Tan<R>>,
    user: &User,
    m: Guard<'m>,
) -> AEmitted<'m, B, A, Tan<R>> {
    fresh3(|n, j, k| match value.ty().view(n) {
        TyView::Arr(sh, _, q) if sh.raw().width() > 0 => {
            let x = code.emit(&value.cast(q), j);
            let dx = x.code.emit(&d.cast(eq_tan(q).then(tan_arr())).weaken(&x.up), k);
            let (shape, own) = (Exp::shape(&dx.up.at(&x.var)), Exp::shape(&dx.var));
            let (name, at) = user.one();
            let checked = Acc::agree(Agreement::All, name, &shape, &own, &Acc::var(&dx.var), at);
            let all = dx.code.emit(&checked.cast(tan_arr().sym().then(eq_tan(q.sym()))), m);
            AEmitted { up: x.up.then(&dx.up).then(&all.up), code: all.code, var: all.var }
        }
        TyView::Pair(_, _, q) => {
            let (value, d) = (value.cast(q), d.cast(eq_tan(q).then(tan_pair())));
            let a = given(code, &value.fst(), &d.fst(), &user.part(true), j);
            let b = given(&a.code, &value.snd().weaken(&a.up), &d.snd().weaken(&a.up), &user.part(false), k);
            let both = Acc::pair(&Acc::var(&b.up.at(&a.var)), &Acc::var(&b.var));
            let all = b.code.emit(&both.cast(tan_pair().sym().then(eq_tan(q.sym()))), m);
            AEmitted { up: a.up.then(&b.up).then(&all.up), code: all.code, var: all.var }
        }
        TyView::Arr(..) | TyView::Unit(_) | TyView::Scalar(_) | TyView::List(..) => code.emit(d, m),
    })
}

/// `x + y`, elementwise, for arrays of tangents of equal shapes.
pub fn add<A, R>(x: &Acc<A, R>, y: &Acc<A, R>) -> Acc<A, R> {
    deep(|| {
        fresh1(|n| match x.ty().view(n) {
            TyView::Arr(_, t, q) => Acc::zip_with(&plus(&t), &x.cast(q), &y.cast(q), None).cast(q.sym()),
            TyView::Pair(_, _, q) => {
                let (x, y) = (x.cast(q), y.cast(q));
                Acc::pair(&add(&x.fst(), &y.fst()), &add(&x.snd(), &y.snd())).cast(q.sym())
            }
            TyView::Unit(_) | TyView::Scalar(_) | TyView::List(..) => x.clone(),
        })
    })
}

/// Converts a partial tangent of `value` to a computation, with explicit zeros.
pub fn materialise<A, R>(p: &SparseTangent<A, Tan<R>>, value: &Acc<A, R>) -> Acc<A, Tan<R>> {
    deep(|| {
        fresh2(|n, k| match p.view(n) {
            SparseTangentView::Zero => zeros(value),
            SparseTangentView::Var(i) => Acc::var(&i),
            SparseTangentView::Pair(a, b, q) => {
                let e = pair_of(value, k);
                let parts = q.sym().then(eq_tan(e).then(tan_pair()));
                let value = value.cast(e);
                let a = materialise(&a.cast(parts.fst()), &value.fst());
                let b = materialise(&b.cast(parts.snd()), &value.snd());
                Acc::pair(&a, &b).cast(parts.sym().then(q.sym()))
            }
        })
    })
}

/// The witness that a value is a pair if its tangent is one.
pub fn pair_of<'k, A, R>(value: &Acc<A, R>, k: Guard<'k>) -> Equal<R, (X<'k>, Y<'k>)> {
    match value.ty().view(k) {
        TyView::Pair(_, _, q) => q,
        _ => unreachable!("the tangent of a single array is not a pair"),
    }
}

/// `x + p`; zeros cost nothing.
fn plus_part<A, R>(x: &Acc<A, R>, p: &SparseTangent<A, R>) -> Acc<A, R> {
    deep(|| {
        fresh1(|n| match p.view(n) {
            SparseTangentView::Zero => x.clone(),
            SparseTangentView::Var(i) => add(x, &Acc::var(&i)),
            SparseTangentView::Pair(a, b, q) => {
                let x = x.cast(q);
                Acc::pair(&plus_part(&x.fst(), &a), &plus_part(&x.snd(), &b)).cast(q.sym())
            }
        })
    })
}

/// The sum of partial tangents of `value`.
pub fn total<A, R>(parts: &[SparseTangent<A, Tan<R>>], value: &Acc<A, R>) -> Acc<A, Tan<R>> {
    deep(|| {
        fresh2(|n, k| match summands(parts, n) {
            Summands::None => zeros(value),
            Summands::One(p) => materialise(&p, value),
            Summands::Pairs(pairs) => {
                let q = pair_of(value, k);
                let (value, pairs) = (value.cast(q), pairs.retype(eq_tan(q).then(tan_pair())));
                let (a, b) = (total(&pairs.firsts, &value.fst()), total(&pairs.seconds, &value.snd()));
                Acc::pair(&a, &b).cast(pairs.eq.sym())
            }
            Summands::Overlapping(parts) => {
                parts[1..].iter().fold(materialise(&parts[0], value), |sum, p| plus_part(&sum, p))
            }
        })
    })
}

/// Arrays with a given tangent part; their discrete leaves are zero.
pub fn from_tangent<A, R>(d: &Acc<A, Tan<R>>, t: &Ty<R>) -> Acc<A, R> {
    deep(|| {
        fresh1(|n| match t.view(n) {
            TyView::Arr(_, t, q) => {
                let d = d.cast(eq_tan(q).then(tan_arr()));
                Acc::map(&fun1(&tan_ty(&t), |x| crate::builders::from_tangent(&x, &t)), &d, None).cast(q.sym())
            }
            TyView::Pair(a, b, q) => {
                let d = d.cast(eq_tan(q).then(tan_pair()));
                Acc::pair(&from_tangent(&d.fst(), &a), &from_tangent(&d.snd(), &b)).cast(q.sym())
            }
            TyView::Unit(q) => Acc::unit().cast(q.sym()),
            TyView::Scalar(_) | TyView::List(..) => unreachable!("array code has no scalar values"),
        })
    })
}
