//! The dual of `permute` with any operator, by sorting.
//!
//! NOTE [Permutes by sorting]: a stable sort of the elements by their targets makes the elements of each target a
//! segment, in the order of the source. The permutation is a fold of each segment that starts with the default. So the
//! rule is that of folds (NOTE [Dual of a fold]), with segmented scans: the prefixes of a segment start with the default,
//! and the dual of its first step gives the adjoint of the default (Futhark's AD: `reduce_by_index`). Elements that are
//! dropped come last; each of them is a segment of its own, so that the operator is not applied to them.

use super::permute::Operation;
use super::shapes::{bind, inside, size, to_linear};
use super::state::{ABound, ADual};
use super::steps::{Called, Function};
use crate::activity::Activity;
use crate::builders::{
    Args2, and, args, call, call2, compare, fun1, index_op, int, not, or, plus, truth, uncurry, unit, zero,
};
use accel_core::ast::*;
use accel_core::error::Result;
use accel_core::repr::op::{Cmp, Num2};
use frunk::{HCons, HNil};

/// The shape of a vector.
type Length = ((), i64);
type Vector<T> = Arr<Length, T>;
type Ix = HCons<Length, HNil>;
type Dual<A2, T, I> = Fun2<A2, (T, T), Tan<T>, (Tan<(T, T)>, I)>;

/// Adds the contributions of a permutation. `dy` is the adjoint of its result.
///
/// # Errors
/// [`Error::Internal`](accel_core::error::Error::Internal) if the code is not in normal form.
pub fn permute<'m, B, A, A2, Sh, Sh2, T>(
    st: ADual<B, A, A2>,
    op: &Operation<'_, A, Sh, Sh2, T>,
    dy: &Idx<A2, Arr<Sh2, Tan<T>>>,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    fresh12(|i, s, p, k, l, h, i2, j, z, _, _, _| {
        let t = op.a.ty().sh_elt().1.ty();
        let combined = st.activity.of_result(st.adj.label_size());
        let both = Activity::pair(combined.clone(), combined);
        let (operator, pair) = (uncurry(op.comb, &t, &t), Ty::pair(&t, &t));
        let own = st.fun_dual(&operator, &pair, both.clone(), i)?;
        let dual = own.dual.aweaken(&st.emb);
        let comb = op.comb.aweaken(&st.emb);
        let sorted = sort(st, op, dy, s);
        let (segments, dual, comb) = (sorted.val, dual.aweaken(&sorted.up), comb.aweaken(&sorted.up));
        let prefixes = sorted.st.bind(&segments.prefixes(&comb), p);
        let (segments, comb) = (segments.weaken(&prefixes.up), comb.aweaken(&prefixes.up));
        let suffixes = prefixes.st.bind(&segments.suffixes(&comb), k);
        let segments = segments.weaken(&suffixes.up);
        let (pre, suf) = (suffixes.up.at(&prefixes.val), suffixes.val);
        let dual = dual.aweaken(&prefixes.up).aweaken(&suffixes.up);
        let body =
            |called: &Called<_, _, _, _>, ix: &Exp<_, _, Length>| segments.step(&dual, called, &pre, &suf, &ix.snd());
        let function = Function::new(&operator, &pair, both, &own);
        let (sh, extents) = (ShapeTy::known(), Exp::shape(&segments.values));
        let steps = suffixes.st.run_dual(function, &sh, &extents, body, op.at, (i2, j, z, l))?;
        let segments = segments.weaken(&steps.up);
        let st = steps.st;
        let da = segments.source_adjoint(&steps.val.values);
        let a = st.emb.at(&op.a);
        let da = Acc::reshape(&a.ty().sh_elt().0, &Exp::shape(&a), &da, op.at);
        let dd = segments.default_adjoint(&steps.val.values);
        let d = st.emb.at(&op.defaults);
        let dd = Acc::reshape(&d.ty().sh_elt().0, &Exp::shape(&d), &dd, op.at);
        let steps = steps.val;
        fresh1(|g| {
            let s = st.contribute(&op.a, &da.cast(tan_arr().sym()), h);
            let up = s.up;
            let s = s.st.contribute(&op.defaults, &dd.weaken(&up).cast(tan_arr().sym()), g);
            let up = up.then(&s.up);
            Ok(steps.weaken(&up).contribute(s.st, m).st)
        })
    })
}

/// The elements of a permutation, sorted by their targets, and the targets as vectors.
struct Segments<A2, T> {
    /// The positions of the elements in the source.
    places: Idx<A2, Vector<i64>>,
    /// The positions of their targets, which are the keys of the sort. For a dropped element, the number of targets.
    targets: Idx<A2, Vector<i64>>,
    /// The values of the elements.
    values: Idx<A2, Vector<T>>,
    defaults: Idx<A2, Vector<T>>,
    /// The adjoints of the targets.
    dy: Idx<A2, Vector<Tan<T>>>,
    at: Src,
}

/// Sorts the elements of a permutation.
fn sort<'k, B, A, A2, Sh, Sh2, T>(
    st: ADual<B, A, A2>,
    op: &Operation<'_, A, Sh, Sh2, T>,
    dy: &Idx<A2, Arr<Sh2, Tan<T>>>,
    k: Guard<'k>,
) -> ABound<'k, B, A, A2, Segments<X<'k>, T>> {
    fresh6(|i, j, h, l, m, n| {
        let at = op.at;
        let (a, index) = (st.emb.at(&op.a), op.index.aweaken(&st.emb));
        let sh = a.ty().sh_elt().0;
        // An index out of bounds becomes a position out of bounds.
        let position = fun1(&sh, |ix| {
            bind(&call(&index, &ix), |target, _| {
                let (to, extents) = (target.snd(), Exp::shape(dy));
                let place = Exp::cond(&inside(&to, &extents), &to_linear(&extents, &to), &int(-1));
                Exp::cond(&target.fst(), &place, &size(&extents))
            })
        });
        let keys = flat(&Acc::generate(&sh, &Exp::shape(&a), &position, at), &Exp::shape(&a), at);
        let keys = st.bind(&keys, i);
        let places = keys.st.bind(&Acc::argsort(NumTy::index().any(), &Acc::var(&keys.val), at), j);
        let up = keys.up.then(&places.up);
        let keys = places.up.at(&keys.val);
        let gathered = |places: &Idx<_, Vector<i64>>| {
            Acc::map(&fun1(&Ty::of(), |p| Exp::index(&keys, &nth(&p), at)), &Acc::var(places), at)
        };
        let targets = places.st.bind(&gathered(&places.val), h);
        let (up, places) = (up.then(&targets.up), targets.up.at(&places.val));
        let source = targets.st.bind(&flat(&Acc::var(&up.at(&a)), &Exp::shape(&up.at(&a)), at), l);
        let (up, places, targets) = (up.then(&source.up), source.up.at(&places), source.up.at(&targets.val));
        let values = fun1(&Ty::of(), |p| Exp::index(&source.val, &nth(&p), at));
        let values = source.st.bind(&Acc::map(&values, &Acc::var(&places), at), m);
        let up = up.then(&values.up);
        let dy = up.at(dy);
        let defaults = values.st.emb.at(&op.defaults);
        let defaults = values.st.bind(&flat(&Acc::var(&defaults), &Exp::shape(&defaults), at), n);
        let dy = flat(&Acc::var(&dy), &Exp::shape(&dy), at).weaken(&defaults.up);
        let dy = defaults.st.bind(&dy, k);
        let late = defaults.up.then(&dy.up);
        let since = values.up.then(&late);
        let val = Segments {
            places: since.at(&places),
            targets: since.at(&targets),
            values: late.at(&values.val),
            defaults: dy.up.at(&defaults.val),
            dy: dy.val,
            at,
        };
        ABound { st: dy.st, val, up: up.then(&late) }
    })
}

/// The elements of an array as a vector.
fn flat<A, Sh, T>(a: &Acc<A, Arr<Sh, T>>, sh: &Exp<HNil, A, Sh>, at: Src) -> Acc<A, Vector<T>> {
    Acc::reshape(&ShapeTy::known(), &Exp::pair(&unit(), &size(sh)), a, at)
}

/// The index of an element of a vector.
fn nth<E, A>(j: &Exp<E, A, i64>) -> Exp<E, A, Length> {
    Exp::pair(&unit(), j)
}

impl<A2, T> Segments<A2, T> {
    fn element(&self) -> Ty<T> {
        self.values.ty().sh_elt().1.ty()
    }
    fn read<E, V>(&self, array: &Idx<A2, Vector<V>>, j: &Exp<E, A2, i64>) -> Exp<E, A2, V> {
        Exp::index(array, &nth(j), self.at)
    }
    /// For each position in the order of the sort, what `f` computes from it.
    fn over<V>(&self, f: impl FnOnce(&Exp<Ix, A2, i64>) -> Exp<Ix, A2, V>) -> Acc<A2, Vector<V>> {
        let sh = ShapeTy::known();
        Acc::generate(&sh, &Exp::shape(&self.places), &fun1(&sh, |ix| f(&ix.snd())), self.at)
    }
    fn len<E>(&self) -> Exp<E, A2, i64> {
        Exp::shape(&self.places).snd()
    }
    fn is_dropped<E>(&self, j: &Exp<E, A2, i64>) -> Exp<E, A2, bool> {
        equal(&self.read(&self.targets, j), &Exp::shape(&self.dy).snd())
    }
    /// Whether the neighbour of an element, if there is one, belongs to another segment.
    fn is_alone<E>(
        &self,
        j: &Exp<E, A2, i64>,
        neighbour: &Exp<E, A2, i64>,
        outside: &Exp<E, A2, i64>,
    ) -> Exp<E, A2, bool> {
        let other =
            compare(Cmp::Ne, NumTy::index().any(), &self.read(&self.targets, j), &self.read(&self.targets, neighbour));
        or(&self.is_dropped(j), &Exp::cond(&equal(neighbour, outside), &truth(true), &other))
    }
    /// Whether an element is the first one of its segment.
    fn starts<E>(&self, j: &Exp<E, A2, i64>) -> Exp<E, A2, bool> {
        self.is_alone(j, &before(j), &int(-1))
    }
    /// Whether an element is the last one of its segment.
    fn ends<E>(&self, j: &Exp<E, A2, i64>) -> Exp<E, A2, bool> {
        self.is_alone(j, &after(j), &self.len())
    }

    /// For each element, the combination of the default with the elements of the segment up to it.
    fn prefixes(&self, comb: &Fun2<A2, T, T, T>) -> Acc<A2, Vector<(bool, T)>> {
        let entries = self.over(|j| {
            let value = self.read(&self.values, j);
            let default = self.read(&self.defaults, &self.read(&self.targets, j));
            let combined = Exp::cond(&self.is_dropped(j), &value, &call2(comb, &value, &default));
            let starts = self.starts(j);
            Exp::pair(&starts, &Exp::cond(&starts, &combined, &value))
        });
        let (x, y) = self.flagged();
        let combined = Exp::cond(&y.fst(), &y.snd(), &call2(comb, &y.snd(), &x.snd()));
        let f = Fun2(Exp::pair(&or(&x.fst(), &y.fst()), &combined));
        Acc::scan1(Dir::Left, &f, &entries, self.at)
    }

    /// For each element, the combination of the elements of the segment from it on.
    fn suffixes(&self, comb: &Fun2<A2, T, T, T>) -> Acc<A2, Vector<(bool, T)>> {
        let entries = self.over(|j| Exp::pair(&self.ends(j), &self.read(&self.values, j)));
        let (x, y) = self.flagged();
        let combined = Exp::cond(&x.fst(), &x.snd(), &call2(comb, &y.snd(), &x.snd()));
        let f = Fun2(Exp::pair(&or(&x.fst(), &y.fst()), &combined));
        Acc::scan1(Dir::Right, &f, &entries, self.at)
    }

    /// The arguments of an operator of a segmented scan: values, and whether a segment starts (ends) in them.
    #[allow(clippy::type_complexity, reason = "two arguments")]
    fn flagged(&self) -> (Args2<A2, (bool, T), (bool, T), (bool, T)>, Args2<A2, (bool, T), (bool, T), (bool, T)>) {
        let entry = Ty::pair(&Ty::of(), &self.element());
        args(&entry, &entry)
    }

    /// The dual of the step of an element: the adjoints of the element and of what it is combined with, and the
    /// index-adjoint tuple. `pre` and `suf` are the prefixes and suffixes.
    /// `through` only computes adjoints, and `called` contributes to arrays as well.
    fn step<I, J>(
        &self,
        through: &Dual<A2, T, I>,
        called: &Dual<A2, T, J>,
        pre: &Idx<A2, Vector<(bool, T)>>,
        suf: &Idx<A2, Vector<(bool, T)>>,
        j: &Exp<Ix, A2, i64>,
    ) -> Exp<Ix, A2, (Tan<(T, T)>, J)> {
        let to = self.read(&self.targets, j);
        let given = self.read(&self.dy, &to);
        let around = Exp::pair(&self.read(suf, &after(j)).snd(), &self.read(pre, j).snd());
        let through = call2(through, &around, &given);
        let d = Exp::cond(&self.ends(j), &given, &through.fst().cast(tan_pair()).snd());
        let old = Exp::cond(&self.starts(j), &self.read(&self.defaults, &to), &self.read(pre, &before(j)).snd());
        let step = call2(called, &Exp::pair(&self.read(&self.values, j), &old), &d);
        Exp::cond(&self.is_dropped(j), &zero(step.ty()), &step)
    }

    /// The adjoints of the elements, in the order of the source.
    fn source_adjoint<I>(&self, steps: &Idx<A2, Vector<(Tan<(T, T)>, I)>>) -> Acc<A2, Vector<Tan<T>>> {
        let t = self.dy.ty().sh_elt().1.ty();
        let d = Acc::map(&fun1(&steps.ty().sh_elt().1, |x| x.fst().cast(tan_pair()).fst()), &Acc::var(steps), self.at);
        let zeros = self.over(|_| zero(&t));
        let back = fun1(&ShapeTy::known(), |j: Exp<_, _, Length>| {
            Exp::pair(&truth(true), &nth(&self.read(&self.places, &j.snd())))
        });
        Acc::permute(&plus(&t), &zeros, &back, &d, self.at)
    }

    /// The adjoints of the defaults.
    fn default_adjoint<I>(&self, steps: &Idx<A2, Vector<(Tan<(T, T)>, I)>>) -> Acc<A2, Vector<Tan<T>>> {
        let t = self.dy.ty().sh_elt().1.ty();
        let d = Acc::map(&fun1(&steps.ty().sh_elt().1, |x| x.fst().cast(tan_pair()).snd()), &Acc::var(steps), self.at);
        let first = fun1(&ShapeTy::known(), |j: Exp<_, _, Length>| {
            let j = j.snd();
            let is_first = and(&self.starts(&j), &not(&self.is_dropped(&j)));
            Exp::pair(&is_first, &nth(&self.read(&self.targets, &j)))
        });
        let (new, _) = args(&t, &t);
        Acc::permute(&Fun2(new), &Acc::var(&self.dy), &first, &d, self.at)
    }

    fn weaken<A3>(&self, up: &Thinning<A2, A3>) -> Segments<A3, T> {
        Segments {
            places: up.at(&self.places),
            targets: up.at(&self.targets),
            values: up.at(&self.values),
            defaults: up.at(&self.defaults),
            dy: up.at(&self.dy),
            at: self.at,
        }
    }
}

fn equal<E, A>(a: &Exp<E, A, i64>, b: &Exp<E, A, i64>) -> Exp<E, A, bool> {
    compare(Cmp::Eq, NumTy::index().any(), a, b)
}
fn before<E, A>(j: &Exp<E, A, i64>) -> Exp<E, A, i64> {
    index_op(Num2::Sub, j, &int(1))
}
fn after<E, A>(j: &Exp<E, A, i64>) -> Exp<E, A, i64> {
    index_op(Num2::Add, j, &int(1))
}
