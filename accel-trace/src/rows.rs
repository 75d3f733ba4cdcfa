//! Rows of arrays and lists of arrays, as operations: an unrolled loop takes rows and joins entries.

use accel_core::ast::*;
use accel_core::repr::op::{Cmp, Num2};
use frunk::{HCons, HNil};

/// The environment of two arrays.
type Two<A, B> = HCons<B, HCons<A, HNil>>;

/// Row `k` of `xs`, where `xs` and then the array `k` of one position are in scope.
pub fn row<'x, 'k, 'r>(xs: &Ty<X<'x>>, k: &Ty<X<'k>>, at: Src, r: Guard<'r>) -> Acc<Two<X<'x>, X<'k>>, X<'r>> {
    fresh3(|n, m, s| {
        let TyView::Arr(sh, _, q) = xs.view(n) else { unreachable!("rows of an array") };
        let TyView::Arr(none, int, p) = k.view(m) else { unreachable!("a position") };
        let spec = SliceSpec::from_kept(&outermost_fixed(sh.raw().width()), s);
        let large = sh.same(&spec.large()).expect("the specification has the rank of the array");
        let fixed = Ty::<((), i64)>::of().same(&spec.fixed()).expect("one dimension is fixed");
        let array = Idx::succ(&Idx::zero(xs)).cast(q);
        let position = Idx::zero(k).cast(p);
        let (none, int) = (none.same(&Ty::of()).expect("no dimension"), int.same(&Ty::of()).expect("an integer"));
        let position = Exp::index(&position, &unit().cast(none.sym()), None).cast(int);
        let slx = Exp::pair(&unit(), &position).cast(fixed);
        let array = Acc::var(&array).cast(eq_arr(large, Equal::refl()));
        Acc::slice(&spec, &slx, &array, at).cast(name(r))
    })
}

/// The list whose only entry is the array in scope.
pub fn one_row<'x, 'l>(entry: &Ty<X<'x>>, list: &Ty<X<'l>>) -> Acc<HCons<X<'x>, HNil>, X<'l>> {
    fresh3(|n, m, s| {
        let TyView::Arr(sh, t, q) = entry.view(n) else { unreachable!("an entry is an array") };
        let TyView::Arr(large, u, p) = list.view(m) else { unreachable!("a list is an array") };
        let spec = SliceSpec::from_kept(&outermost_fixed(large.raw().width()), s);
        let small = sh.same(&spec.small()).expect("an entry has one dimension less");
        let large = spec.large().same(&large).expect("the specification has the rank of the list");
        let fixed = Ty::<((), i64)>::of().same(&spec.fixed()).expect("one dimension is new");
        let one = Exp::pair(&unit(), &Exp::constant(&Value::of(1i64), &Ty::of())).cast(fixed);
        let entry = Acc::var(&Idx::zero(entry).cast(q)).cast(eq_arr(small, Equal::refl()));
        let elements = t.same(&u).expect("the elements of a list are those of its entries");
        Acc::replicate(&spec, &one, &entry, None).cast(eq_arr(large, elements).then(p.sym()))
    })
}

/// Two lists one after the other.
pub fn joined<'l>(list: &Ty<X<'l>>) -> Acc<Two<X<'l>, X<'l>>, X<'l>> {
    fresh1(|n| {
        let TyView::Arr(sh, _, q) = list.view(n) else { unreachable!("a list is an array") };
        let (first, second) = (Idx::succ(&Idx::zero(list)).cast(q), Idx::zero(list).cast(q));
        let length = outermost(&sh, &Exp::shape(&second));
        let shape = with_outermost(&sh, &Exp::shape(&first), &|n| num2(Num2::Add, n, &length));
        let ix = Exp::var(&Idx::zero(&sh));
        let before = outermost(&sh, &Exp::shape(&first));
        let is_first =
            Exp::prim2(Prim2::Cmp(Cmp::Lt, NumTy::index().any(), Equal::refl()), &outermost(&sh, &ix), &before);
        let beyond = with_outermost(&sh, &ix, &|i| num2(Num2::Sub, i, &before));
        let element = Exp::cond(&is_first, &Exp::index(&first, &ix, None), &Exp::index(&second, &beyond, None));
        Acc::generate(&sh, &shape, &Fun1(element), None).cast(q.sym())
    })
}

/// For every dimension: whether it is not the outermost one.
fn outermost_fixed(rank: usize) -> Vec<bool> {
    (0..rank).map(|dim| dim > 0).collect()
}

fn unit<E, A>() -> Exp<E, A, ()> {
    Exp::constant(&Value::unit(), &Ty::of())
}

fn num2<E, A>(op: Num2, a: &Exp<E, A, i64>, b: &Exp<E, A, i64>) -> Exp<E, A, i64> {
    Exp::prim2(Prim2::Num(op, NumTy::index(), Equal::refl()), a, b)
}

/// The outermost component of a shape or an index.
fn outermost<E, A, Sh>(sh: &Ty<Sh>, e: &Exp<E, A, Sh>) -> Exp<E, A, i64> {
    fresh1(|n| {
        let TyView::Pair(outer, inner, q) = sh.view(n) else { unreachable!("a list has a dimension") };
        let e = e.cast(q);
        match *outer.raw() == accel_core::repr::RawTy::Unit {
            true => e.snd().cast(inner.same(&Ty::of()).expect("an extent")),
            false => deep(|| outermost(&outer, &e.fst())),
        }
    })
}

/// The same shape or index with another outermost component.
fn with_outermost<E, A, Sh>(
    sh: &Ty<Sh>,
    e: &Exp<E, A, Sh>,
    f: &dyn Fn(&Exp<E, A, i64>) -> Exp<E, A, i64>,
) -> Exp<E, A, Sh> {
    fresh1(|n| {
        let TyView::Pair(outer, inner, q) = sh.view(n) else { unreachable!("a list has a dimension") };
        let e = e.cast(q);
        match *outer.raw() == accel_core::repr::RawTy::Unit {
            true => {
                let int = inner.same(&Ty::of()).expect("an extent");
                Exp::pair(&e.fst(), &f(&e.snd().cast(int)).cast(int.sym())).cast(q.sym())
            }
            false => {
                let outer = deep(|| with_outermost(&outer, &e.fst(), f));
                Exp::pair(&outer, &e.snd()).cast(q.sym())
            }
        }
    })
}
