//! Builders of typed expressions for derivatives: arithmetic, conditions, functions, and sums of tangents.

use accel_core::ast::*;
pub use accel_core::pass::to_tangent;
use accel_core::repr::op::{Cmp, Float1, Float2, Logic, Num1, Num2};
use frunk::{HCons, HNil};

/// Arithmetic on expressions of the floating-point type `T`.
pub struct Floats<T>(pub FloatTy<T>);

impl<T> Clone for Floats<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Floats<T> {}

#[allow(clippy::should_implement_trait)]
impl<T> Floats<T> {
    /// The type.
    pub fn ty(self) -> Ty<T> {
        self.0.ty()
    }
    /// The constant nearest to `x`.
    pub fn c<E, A>(self, x: f64) -> Exp<E, A, T> {
        Exp::constant(&self.0.value(x), &self.0.ty())
    }
    fn op<E, A>(self, op: Num2, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
        Exp::prim2(Prim2::Num(op, self.0.num(), Equal::refl()), a, b)
    }
    /// `a + b`
    pub fn add<E, A>(self, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.op(Num2::Add, a, b)
    }
    /// `a - b`
    pub fn sub<E, A>(self, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.op(Num2::Sub, a, b)
    }
    /// `a * b`
    pub fn mul<E, A>(self, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.op(Num2::Mul, a, b)
    }
    /// `a / b`
    pub fn div<E, A>(self, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.op(Num2::Div, a, b)
    }
    /// `a * b`, and 0 where one of them is 0: NOTE [Strong zeros].
    pub fn strong_mul<E, A>(self, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.f2(Float2::StrongMul, a, b)
    }
    /// `a / b`, and 0 where `a` is 0.
    pub fn strong_div<E, A>(self, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.f2(Float2::StrongDiv, a, b)
    }
    /// `-a`
    pub fn neg<E, A>(self, a: &Exp<E, A, T>) -> Exp<E, A, T> {
        self.num1(Num1::Neg, a)
    }
    /// A function of one number.
    pub fn num1<E, A>(self, op: Num1, a: &Exp<E, A, T>) -> Exp<E, A, T> {
        Exp::prim1(Prim1::Num(op, self.0.num(), Equal::refl()), a)
    }
    /// A function of one floating-point number.
    pub fn f<E, A>(self, op: Float1, a: &Exp<E, A, T>) -> Exp<E, A, T> {
        Exp::prim1(Prim1::Float(op, self.0, Equal::refl()), a)
    }
    /// A function of two floating-point numbers.
    pub fn f2<E, A>(self, op: Float2, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
        Exp::prim2(Prim2::Float(op, self.0, Equal::refl()), a, b)
    }
    /// A comparison.
    pub fn cmp<E, A>(self, op: Cmp, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, bool> {
        compare(op, self.0.num().any(), a, b)
    }
}

/// A comparison of scalars.
pub fn compare<E, A, T>(op: Cmp, t: ScalarTy<T>, a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, bool> {
    Exp::prim2(Prim2::Cmp(op, t, Equal::refl()), a, b)
}
/// Whether an index is less than another one. Where this is true, it proves that reads are within bounds.
pub fn less<E, A>(a: &Exp<E, A, i64>, b: &Exp<E, A, i64>) -> Exp<E, A, bool> {
    compare(Cmp::Lt, NumTy::index().any(), a, b)
}
/// Negation.
pub fn not<E, A>(a: &Exp<E, A, bool>) -> Exp<E, A, bool> {
    Exp::prim1(Prim1::Not(Equal::refl(), Equal::refl()), a)
}
/// The conjunction of two conditions.
pub fn and<E, A>(a: &Exp<E, A, bool>, b: &Exp<E, A, bool>) -> Exp<E, A, bool> {
    Exp::prim2(Prim2::Logic(Logic::And, Equal::refl(), Equal::refl()), a, b)
}
/// The disjunction of two conditions.
pub fn or<E, A>(a: &Exp<E, A, bool>, b: &Exp<E, A, bool>) -> Exp<E, A, bool> {
    Exp::prim2(Prim2::Logic(Logic::Or, Equal::refl(), Equal::refl()), a, b)
}
/// A boolean constant.
pub fn truth<E, A>(b: bool) -> Exp<E, A, bool> {
    Exp::constant(&Value::of(b), &Ty::of())
}
/// The empty tuple.
pub fn unit<E, A>() -> Exp<E, A, ()> {
    Exp::constant(&Value::unit(), &Ty::of())
}
/// An index constant.
pub fn int<E, A>(i: i64) -> Exp<E, A, i64> {
    Exp::constant(&Value::of(i), &Ty::of())
}
/// Arithmetic on indices.
pub fn index_op<E, A>(op: Num2, a: &Exp<E, A, i64>, b: &Exp<E, A, i64>) -> Exp<E, A, i64> {
    Exp::prim2(Prim2::Num(op, NumTy::index(), Equal::refl()), a, b)
}
/// Zero in every leaf.
pub fn zero<E, A, T>(t: &Ty<T>) -> Exp<E, A, T> {
    match ElementTy::of(t) {
        Some(element) => Exp::constant(&Value::zero(&element), t),
        None => unreachable!("scalar code has no array values"),
    }
}

/// Whether values of this type have a tangent: whether the type has a floating-point leaf.
pub fn has_tangent<T>(t: &Ty<T>) -> bool {
    tan_ty(t).raw().width() > 0
}

/// The type as a floating-point type, if it is one.
pub fn float_ty<T>(t: &Ty<T>) -> Option<FloatTy<T>> {
    fresh1(|n| match t.view(n) {
        TyView::Scalar(s) => s.float(),
        _ => None,
    })
}

/// Whether two values of a discrete type are equal. The type is usually that of a shape.
pub fn equal<E, A, T>(a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, bool> {
    deep(|| {
        fresh1(|n| match a.ty().view(n) {
            TyView::Pair(_, _, q) => {
                let (a, b) = (a.cast(q), b.cast(q));
                let inner = equal(&a.snd(), &b.snd());
                match a.fst().ty().raw().width() {
                    0 => inner,
                    _ => and(&equal(&a.fst(), &b.fst()), &inner),
                }
            }
            TyView::Scalar(t) => compare(Cmp::Eq, t, a, b),
            TyView::Unit(_) | TyView::Arr(..) | TyView::List(..) => truth(true),
        })
    })
}

/// `a + b` in every leaf of a tangent type, which has no discrete leaves.
pub fn add<E, A, T>(a: &Exp<E, A, T>, b: &Exp<E, A, T>) -> Exp<E, A, T> {
    fresh3(|x, y, t| {
        let (x, y, t) = (name(x), name(y), name(t));
        deep(|| add_(&a.cast_all(x, y, t), &b.cast_all(x, y, t))).cast_all(x.sym(), y.sym(), t.sym())
    })
}

// Generic in lifetimes only, so that it is compiled once.
fn add_<'x, 'y, 't>(a: &Exp<X<'x>, X<'y>, X<'t>>, b: &Exp<X<'x>, X<'y>, X<'t>>) -> Exp<X<'x>, X<'y>, X<'t>> {
    fresh1(|n| match a.ty().view(n) {
        TyView::Pair(_, _, q) => {
            let (x, y) = (a.cast(q), b.cast(q));
            Exp::pair(&add(&x.fst(), &y.fst()), &add(&x.snd(), &y.snd())).cast(q.sym())
        }
        TyView::Scalar(t) => match t.num() {
            Some(t) => Exp::prim2(Prim2::Num(Num2::Add, t, Equal::refl()), a, b),
            None => a.clone(),
        },
        TyView::Unit(_) => a.clone(),
        TyView::Arr(..) | TyView::List(..) => unreachable!("only scalars are added here"),
    })
}

/// The argument of a function of one argument.
pub fn arg<A, P>(t: &Ty<P>) -> Exp<HCons<P, HNil>, A, P> {
    Exp::var(&Idx::zero(t))
}
/// The arguments of a function of two arguments.
pub fn args<A, P, Q>(p: &Ty<P>, q: &Ty<Q>) -> (Args2<A, P, Q, P>, Args2<A, P, Q, Q>) {
    (Exp::var(&Idx::succ(&Idx::zero(p))), Exp::var(&Idx::zero(q)))
}
/// An expression over the arguments of a function of two arguments.
pub type Args2<A, P, Q, R> = Exp<HCons<Q, HCons<P, HNil>>, A, R>;

/// A function of one argument.
pub fn fun1<A, P, R>(
    t: &Ty<P>,
    f: impl FnOnce(Exp<HCons<P, HNil>, A, P>) -> Exp<HCons<P, HNil>, A, R>,
) -> Fun1<A, P, R> {
    Fun1(f(arg(t)))
}
/// `f(x)`
pub fn call<E, A, P, R>(f: &Fun1<A, P, R>, x: &Exp<E, A, P>) -> Exp<E, A, R> {
    Exp::let_(x, &f.0.weaken(&Thinning::from_nil().lift()))
}
/// `f(x, y)`
pub fn call2<E, A, P, Q, R>(f: &Fun2<A, P, Q, R>, x: &Exp<E, A, P>, y: &Exp<E, A, Q>) -> Exp<E, A, R> {
    let body = f.0.weaken(&Thinning::from_nil().lift().lift());
    Exp::let_(x, &Exp::let_(&y.weaken(&Thinning::shift()), &body))
}
/// Definitions of four variables around `code`. `up` leads from the environment around `code` to that of the values.
pub fn let4<E, E2, A, P, Q, R, S, T>(
    (p, q, r, s): (&Exp<E2, A, P>, &Exp<E2, A, Q>, &Exp<E2, A, R>, &Exp<E2, A, S>),
    code: &Exp<HCons<S, HCons<R, HCons<Q, HCons<P, E>>>>, A, T>,
    up: &Thinning<E, E2>,
) -> Exp<E2, A, T> {
    let code = code.weaken(&up.lift().lift().lift().lift());
    let code = Exp::let_(&s.weaken(&Thinning::shift().then(&Thinning::shift()).then(&Thinning::shift())), &code);
    let code = Exp::let_(&r.weaken(&Thinning::shift().then(&Thinning::shift())), &code);
    Exp::let_(p, &Exp::let_(&q.weaken(&Thinning::shift()), &code))
}
/// Turns a function of two arguments into a function of a pair.
pub fn uncurry<A, P, Q, R>(f: &Fun2<A, P, Q, R>, p: &Ty<P>, q: &Ty<Q>) -> Fun1<A, (P, Q), R> {
    fun1(&Ty::pair(p, q), |v| call2(f, &v.fst(), &v.snd()))
}
/// Addition of tangents as a function.
pub fn plus<A, T>(t: &Ty<T>) -> Fun2<A, T, T, T> {
    let (x, y) = args(t, t);
    Fun2(add(&x, &y))
}

/// A value with a given tangent part; its discrete leaves are zero.
pub fn from_tangent<E, A, T>(d: &Exp<E, A, Tan<T>>, t: &Ty<T>) -> Exp<E, A, T> {
    deep(|| {
        fresh1(|n| match t.view(n) {
            TyView::Unit(q) => unit().cast(q.sym()),
            TyView::Scalar(s) => match s.float() {
                Some(f) => d.cast(tan_float(f)),
                None => zero(t),
            },
            TyView::Pair(a, b, q) => {
                let d = d.cast(eq_tan(q).then(tan_pair()));
                Exp::pair(&from_tangent(&d.fst(), &a), &from_tangent(&d.snd(), &b)).cast(q.sym())
            }
            TyView::Arr(..) | TyView::List(..) => unreachable!("scalar functions have neither arrays nor lists"),
        })
    })
}
