//! The right versions of the passes of which the other files here are variants with one mistake each.
#![allow(dead_code)]
use accel_core::ast::*;
use accel_core::print::{PrintOptions, exp};
use accel_core::repr::op::Num2;
use frunk::{HCons, HNil};

/// Renames the variables of an expression.
pub fn rename<E, F, A, T>(e: &Exp<E, A, T>, r: &Thinning<E, F>) -> Exp<F, A, T> {
    fresh2(|n, m| match e.view(n) {
        ExpView::Var(i) => Exp::var(&r.at(&i)),
        ExpView::Let(b, body, q) => {
            let q2 = name(m); // HCons<X<'n>, F> = X<'m>
            let below = r.lift().cast(q.sym(), q2);
            Exp::let_(&rename(&b, r), &rename(&body, &below).cast_env(q2.sym()))
        }
        _ => e.weaken(r),
    })
}

/// Replaces every variable by an expression.
pub fn subst<E, F, A, T>(e: &Exp<E, A, T>, s: &Env<ExpF<F, A>, E>) -> Exp<F, A, T> {
    fresh2(|n, m| match e.view(n) {
        ExpView::Const(v) => Exp::constant(&v, e.ty()),
        ExpView::Var(i) => s.get(&i),
        ExpView::Let(b, body, q) => {
            let q2 = name(m); // HCons<X<'n>, F> = X<'m>
            let below = under(s, b.ty(), q2).cast_env(q.sym());
            Exp::let_(&subst(&b, s), &subst(&body, &below).cast_env(q2.sym()))
        }
        ExpView::While(w) => {
            let q2 = name(m); // HCons<T, F> = X<'m>
            let below = under(s, e.ty(), q2).cast_env(w.eq.sym());
            let (cond, body) = (subst(&w.cond, &below), subst(&w.body, &below));
            Exp::while_(&cond.cast_env(q2.sym()), &body.cast_env(q2.sym()), &subst(&w.init, s), w.at)
        }
        ExpView::Loop(l) => fresh1(|k| {
            let (q2, q3) = (name(m), name(k)); // HCons<X<'n>, F> = X<'m>, HCons<Y<'n>, X<'m>> = X<'k>
            let below = under(s, l.init.ty(), q2).cast_env(l.below_state.sym());
            let inner = under(&below, &l.row, q3).cast_env(l.below_row.sym());
            let trips = match &l.trips {
                ExpTrips::While(cond) => ExpTrips::While(subst(cond, &below).cast_env(q2.sym())),
                ExpTrips::Times(n) => ExpTrips::Times(subst(n, s)),
            };
            let body = subst(&l.body, &inner).cast_env(q3.sym().then(eq_cons(Equal::refl(), q2.sym())));
            let (init, xs) = (subst(&l.init, s), subst(&l.xs, s));
            Exp::loop_(&trips, l.dir, &init, (&xs, &l.row), &body, l.at).cast(l.eq.sym())
        }),
        ExpView::Op(op) => Exp::op(&op.map(&mut Subst(s)), e.ty()),
    })
}
/// The substitution under a binder: the bound variable stands for itself.
pub fn under<'m, B, E, F, A>(
    s: &Env<ExpF<F, A>, E>,
    t: &Ty<B>,
    q: Equal<HCons<B, F>, X<'m>>,
) -> Env<ExpF<X<'m>, A>, HCons<B, E>> {
    s.weaken(&Thinning::shift().to(q)).push(&Exp::var(&Idx::zero(t)).cast_env(q), t)
}
pub struct Subst<'s, E, F, A>(&'s Env<ExpF<F, A>, E>);
impl<E, F, A> ExpMap<E, A, F, A> for Subst<'_, E, F, A> {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) -> Exp<F, A, T> {
        subst(e, self.0)
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) -> Idx<A, T> {
        i.clone()
    }
}

/// Exchanges the components of a pair.
pub fn swap<E, A, P, Q>(e: &Exp<E, A, (P, Q)>) -> Exp<E, A, (Q, P)> {
    Exp::pair(&e.snd(), &e.fst())
}

/// `fst (x, y) = x`
pub fn simplify_fst<E, A, T>(e: &Exp<E, A, T>) -> Exp<E, A, T> {
    fresh2(|n, m| {
        if let ExpView::Op(ExpOp::Fst(a, q)) = e.view(n)
            && let ExpView::Op(ExpOp::Pair(x, _y, q2)) = a.view(m)
        {
            return x.cast(q2.sym().then(q).fst());
        }
        e.clone()
    })
}

/// `f . g`
pub fn compose<A, P, Q, R>(f: &Fun1<A, Q, R>, g: &Fun1<A, P, Q>) -> Fun1<A, P, R> {
    Fun1(Exp::let_(&g.0, &f.0.weaken(&Thinning::from_nil().lift())))
}

/// `map f (map g a) = map (f . g) a`
pub fn fuse_maps<A, R>(e: &Acc<A, R>) -> Acc<A, R> {
    fresh2(|n, m| {
        let AccView::Op(AccOp::Map { f, a, eq }) = e.view(n) else { return e.clone() };
        let AccView::Op(AccOp::Map { f: g, a: source, eq: eq2 }) = a.view(m) else { return e.clone() };
        let both = compose(&f.cast(eq2.elt(), Equal::refl()), &g);
        let same_shape = eq_arr(eq2.sh().sym(), Equal::refl());
        Acc::map(&both, &source, e.at()).cast(same_shape.then(eq.sym()))
    })
}

/// `backpermute sh f (backpermute sh2 g a) = backpermute sh (g . f) a`
pub fn fuse_gathers<A, Sh, Sh2, Sh3, T>(
    t: &ShapeTy<Sh>,
    sh: &Exp<HNil, A, Sh>,
    f: &Fun1<A, Sh, Sh2>,
    g: &Fun1<A, Sh2, Sh3>,
    a: &Acc<A, Arr<Sh3, T>>,
) -> Acc<A, Arr<Sh, T>> {
    Acc::backpermute(t, sh, &compose(g, f), a, None)
}

/// `fold comb z (map f a)`
pub fn map_reduce<A, Sh, P, T>(
    f: &Fun1<A, P, T>,
    comb: &Fun2<A, T, T, T>,
    z: &Exp<HNil, A, T>,
    a: &Acc<A, Arr<(Sh, i64), P>>,
) -> Acc<A, Arr<Sh, T>> {
    Acc::fold(comb, z, &Acc::map(f, a, None), None)
}

/// The adjoint of `backpermute _ f` of an array of shape `sh`: every element is added at the index it was read from.
pub fn scatter<A, Sh, Sh2, T>(
    add: &Fun2<A, T, T, T>,
    zero: &Exp<HNil, A, T>,
    t: &ShapeTy<Sh2>,
    sh: &Exp<HNil, A, Sh2>,
    f: &Fun1<A, Sh, Sh2>,
    da: &Acc<A, Arr<Sh, T>>,
) -> Acc<A, Arr<Sh2, T>> {
    let keep = Exp::constant(&Value::of(true), &Ty::of());
    let zeros = Acc::generate(t, sh, &Fun1(zero.weaken(&Thinning::shift())), None);
    Acc::permute(add, &zeros, &Fun1(Exp::pair(&keep, &f.0)), da, None)
}

/// The definitions of a telescope around a body.
pub fn close<A, E, E2, T>(tele: &Tele<A, E, E2>, body: &Exp<E2, A, T>) -> Exp<E, A, T> {
    fresh1(|n| match tele.view(n) {
        TeleView::Nil(q) => body.cast_env(q.sym()),
        TeleView::Extended(init, last, q) => close(&init, &Exp::let_(&last, &body.cast_env(q))),
    })
}

/// The adjoint of a variable at the end of the dual, which is built on top of the primal.
pub fn gradient<A, E, E2, E3, T>(
    primal: &Tele<A, E, E2>,
    dual: &Tele<A, E2, E3>,
    adjoint: &Idx<E3, T>,
) -> Exp<E, A, T> {
    close(primal, &close(dual, &Exp::var(adjoint)))
}

/// A telescope from `E`, the thinning from `E2` to its environment, and the variable with the result.
pub struct Emitted<'m, A, E, E2, T> {
    pub tele: Tele<A, E, X<'m>>,
    pub ren: Thinning<E2, X<'m>>,
    pub res: Idx<X<'m>, T>,
}
/// Adds a definition to a telescope.
pub fn emit<'m, A, E, E2, T>(tele: &Tele<A, E, E2>, e: &Exp<E2, A, T>, m: Guard<'m>) -> Emitted<'m, A, E, E2, T> {
    let q = name(m); // HCons<T, E2> = X<'m>
    Emitted { tele: tele.snoc(e).cast(q), ren: Thinning::shift().to(q), res: Idx::zero(e.ty()).cast_env(q) }
}

/// Defines two values and their pair.
pub fn emit_pair<'m, A, E, E2, P>(
    tele: &Tele<A, E, E2>,
    a: &Exp<E2, A, P>,
    b: &Exp<E2, A, P>,
    m: Guard<'m>,
) -> Emitted<'m, A, E, E2, (P, P)> {
    fresh2(|k, l| {
        let a = emit(tele, a, k);
        let b = emit(&a.tele, &b.weaken(&a.ren), l);
        let pair = Exp::pair(&Exp::var(&b.ren.at(&a.res)), &Exp::var(&b.res));
        let r = emit(&b.tele, &pair, m);
        Emitted { tele: r.tele, ren: a.ren.then(&b.ren).then(&r.ren), res: r.res }
    })
}

/// `let x = e in x` through a telescope.
pub fn define<E, A, T>(e: &Exp<E, A, T>) -> Exp<E, A, T> {
    fresh1(|m| {
        let emitted = emit(&Tele::nil(), e, m);
        close(&emitted.tele, &Exp::var(&emitted.res))
    })
}

/// `map f (let x = b in a) = let x = b in map f a`
pub fn float_let<A, B, Sh, P, T>(
    f: &Fun1<A, P, T>,
    b: &Acc<A, B>,
    a: &Acc<HCons<B, A>, Arr<Sh, P>>,
) -> Acc<A, Arr<Sh, T>> {
    Acc::let_(b, &Acc::map(&f.aweaken(&Thinning::shift()), a, None))
}

/// `x + dx`: a floating-point number is its own tangent.
pub fn step<E, A, T>(t: FloatTy<T>, x: &Exp<E, A, T>, dx: &Exp<E, A, Tan<T>>) -> Exp<E, A, T> {
    let add = Prim2::Num(Num2::Add, t.num(), Equal::refl());
    Exp::prim2(add, x, &dx.cast(tan_float(t)))
}

/// The adjoints of the components of a pair.
pub fn pair_adjoints<E, A, P, Q>(d: &Exp<E, A, Tan<(P, Q)>>) -> (Exp<E, A, Tan<P>>, Exp<E, A, Tan<Q>>) {
    let d = d.cast(tan_pair());
    (d.fst(), d.snd())
}

/// The part of an array at an index of the fixed dimensions.
pub fn cut<A, Slx, Small, Large, T>(
    spec: &SliceSpec<Slx, Small, Large>,
    slx: &Exp<HNil, A, Slx>,
    a: &Acc<A, Arr<Large, T>>,
) -> Acc<A, Arr<Small, T>> {
    Acc::slice(spec, slx, a, None)
}

/// `while c b i = if c i then while c b (b i) else i`
pub fn unroll<E, A, T>(c: &Exp<HCons<T, E>, A, bool>, b: &Exp<HCons<T, E>, A, T>, i: &Exp<E, A, T>) -> Exp<E, A, T> {
    let again = Exp::while_(c, b, &Exp::let_(i, b), None);
    Exp::cond(&Exp::let_(i, c), &again, i)
}

/// A table of variables, below one more binder of both environments.
pub fn bind<'m, E, F, B>(s: &Env<IdxF<F>, E>, t: &Ty<B>, m: Guard<'m>) -> Env<IdxF<X<'m>>, HCons<B, E>> {
    let q = name(m); // HCons<B, F> = X<'m>
    s.weaken(&Thinning::shift().to(q)).push(&Idx::zero(t).cast_env(q), t)
}

/// `generate (shape a) (\ix -> a[ix])`
pub fn copy<A, Sh, T>(a: &Idx<A, Arr<Sh, T>>) -> Acc<A, Arr<Sh, T>> {
    let (sh, _element) = a.ty().sh_elt();
    let ix = Exp::var(&Idx::zero(&sh));
    Acc::generate(&sh, &Exp::shape(a), &Fun1(Exp::index(a, &ix, None)), None)
}

/// One more entry (adjoint, (executed?, index)) of an index-adjoint tuple, and of its layout.
pub fn record<E, A, T, Sh, V>(
    sites: &Sites<A, T>,
    tuple: &Exp<E, A, T>,
    a: &Idx<A, Arr<Sh, V>>,
    d: &Exp<E, A, Tan<V>>,
    ix: &Exp<E, A, Sh>,
) -> Layout<E, A, (T, (Tan<V>, (bool, Sh)))> {
    let executed = Exp::constant(&Value::of(true), &Ty::of());
    let entry = Exp::pair(d, &Exp::pair(&executed, ix));
    Layout { sites: sites.snoc(a, None), tuple: Exp::pair(tuple, &entry) }
}
pub struct Layout<E, A, T> {
    pub sites: Sites<A, T>,
    pub tuple: Exp<E, A, T>,
}

/// The adjoint of `x * y` with respect to `x`: a value of the primal, used in the dual.
pub fn contribution<E2, E3, A, T>(
    t: NumTy<T>,
    primal_in_dual: &Thinning<E2, E3>,
    y: &Idx<E2, T>,
    adjoint: &Idx<E3, T>,
) -> Exp<E3, A, T> {
    let mul = Prim2::Num(Num2::Mul, t, Equal::refl());
    Exp::prim2(mul, &Exp::var(&primal_in_dual.at(y)), &Exp::var(adjoint))
}

/// The passes whose recursion goes under binders, on terms of known types: their instantiation must come to an end.
#[test]
fn right_passes_are_accepted() {
    type One = HCons<f64, HNil>;
    let show = |e: &Exp<One, HNil, f64>| exp(e, Size::nil().push(), Size::nil(), &PrintOptions::default());
    let x = Exp::<One, HNil, f64>::var(&Idx::zero(&Ty::of()));
    let chain = Exp::let_(&x, &Exp::let_(&x.weaken(&Thinning::shift()), &Exp::var(&Idx::zero(&Ty::of()))));
    assert_eq!(show(&chain), "let x1 = x0\nlet x2 = x0\nx2");
    assert_eq!(show(&rename(&chain, &Thinning::id())), show(&chain));
    let two = Exp::<One, HNil, f64>::constant(&Value::of(2.0), &Ty::of());
    let table = Env::<ExpF<One, HNil>, HNil>::empty().push(&two, &Ty::of());
    assert_eq!(show(&subst(&chain, &table)), "let x1 = 2.0\nlet x2 = 2.0\nx2");
    assert_eq!(show(&define(&two)), "let x1 = 2.0 in x1");
    assert_eq!(show(&simplify_fst(&Exp::pair(&x, &two).fst())), "x0");
}
