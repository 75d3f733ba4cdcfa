//! The duals of `permute`.
//!
//! NOTE [Dual of a permutation]: a result is the combination of a default with all elements that arrive at its index, in
//! the order of the source. So it is a fold over these elements, and the rules are those of folds (Futhark's AD:
//! `reduce_by_index`), with the index of a target in place of a row. The default is one more element, the first one.
//! - `+`: each element gets the adjoint of its target, and so does the default.
//! - `min`, `max`: the element that equals the result gets the adjoint. Of several equal elements, it is the last one,
//!   because `combine(new, old)` is its first argument if both are equal. If the arguments are exchanged, it is the first
//!   one, and the default comes before all.
//! - `combine(new, old) = new`: the last element gets the adjoint, and the default does where there is none (NOTE [Targets of
//!   their own]).
//! - `*`: if no result is 0, the product of all others than x is y / x. Otherwise, it follows from a summary of the
//!   elements and the default (NOTE [Products with zeros]).
//! - Components of tuples that do not depend on each other are differentiated one by one.
//! - All other operators: NOTE [Permutes by sorting].

use super::code::ACode;
use super::one_to_one::{is_one_to_one, is_the_same};
use super::products::{Products, Summary};
use super::shapes::{bind, from_linear, size, to_linear};
use super::state::{ABound, ADual};
use crate::builders::{Floats, and, args, call, compare, float_ty, fun1, index_op, int, not, plus, truth, unit, zero};
use crate::forms::Argument;
use crate::operators::Operator;
use accel_core::ast::*;
use accel_core::repr::op::{Cmp, Num2};
use frunk::{HCons, HNil};

/// A permutation: its operator, the defaults, the targets and the source.
pub struct Operation<'f, A, Sh, Sh2, T> {
    pub comb: &'f Fun2<A, T, T, T>,
    pub defaults: Idx<A, Arr<Sh2, T>>,
    pub index: &'f Fun1<A, Sh, (bool, Sh2)>,
    pub a: Idx<A, Arr<Sh, T>>,
    pub at: Src,
}

/// Adds the contributions of a permutation with an operator that has a special rule, not [`Operator::Other`]. `y` is the
/// result, and `dy` its adjoint.
pub fn permute<'m, B, A, A2, Sh, Sh2, T>(
    st: ADual<B, A, A2>,
    op: &Operation<'_, A, Sh, Sh2, T>,
    operator: &Operator,
    y: &Idx<A2, Arr<Sh2, T>>,
    dy: &Idx<A2, Arr<Sh2, Tan<T>>>,
    m: Guard<'m>,
) -> ADual<B, A, X<'m>> {
    fresh2(|k, l| {
        let arrays = Permute {
            a: st.emb.at(&op.a),
            defaults: st.emb.at(&op.defaults),
            y: y.clone(),
            dy: dy.clone(),
            index: op.index.aweaken(&st.emb),
            at: op.at,
        };
        let done = arrays.adjoints(operator, st, k);
        let s = done.st.contribute(&op.a, &done.val.source.cast(tan_arr().sym()), l);
        s.st.contribute(&op.defaults, &done.val.defaults.weaken(&s.up).cast(tan_arr().sym()), m).st
    })
}

/// The arrays of a permutation, in an environment `A2`.
struct Permute<A2, Sh, Sh2, T> {
    a: Idx<A2, Arr<Sh, T>>,
    defaults: Idx<A2, Arr<Sh2, T>>,
    y: Idx<A2, Arr<Sh2, T>>,
    dy: Idx<A2, Arr<Sh2, Tan<T>>>,
    index: Fun1<A2, Sh, (bool, Sh2)>,
    at: Src,
}

/// The contributions to the adjoints of the source and of the defaults.
struct Adjoints<A, Sh, Sh2, T> {
    source: Acc<A, Arr<Sh, Tan<T>>>,
    defaults: Acc<A, Arr<Sh2, Tan<T>>>,
}

/// Both contributions as arrays of one computation.
type Both<Sh, Sh2, T> = (Arr<Sh, Tan<T>>, Arr<Sh2, Tan<T>>);
type Done<'k, B, A, A2, Sh, Sh2, T> = ABound<'k, B, A, A2, Adjoints<X<'k>, Sh, Sh2, T>>;

/// How the adjoints reach the chosen elements.
enum Visit {
    /// Each element checks whether its target has chosen it. This is better for many targets.
    Elements,
    /// Each target visits the element that it has chosen. This is better for few targets.
    Targets,
}

/// The environment of scalar code over the source: its index.
type Ix<Sh> = HCons<Sh, HNil>;
/// The same, with the target of the element.
type Kept<Sh, Sh2> = HCons<(bool, Sh2), Ix<Sh>>;
/// An index in that scope.
type At<A, Sh, Sh2, S> = Exp<Kept<Sh, Sh2>, A, S>;

impl<A2, Sh, Sh2, T> Permute<A2, Sh, Sh2, T> {
    /// The contributions for an operator with a special rule.
    fn adjoints<'k, B, A>(
        &self,
        operator: &Operator,
        st: ADual<B, A, A2>,
        k: Guard<'k>,
    ) -> Done<'k, B, A, A2, Sh, Sh2, T> {
        match (operator, float_ty(&self.element())) {
            (Operator::Sum, _) => {
                let source = self.kept(|_, to| self.adjoint(to));
                self.done(st, source, Acc::var(&self.dy), k)
            }
            (Operator::Argument(Argument::First), _) => self.replaced(st, k),
            (Operator::Extremum { first: Argument::First, .. }, Some(t)) => self.last_extremum(Floats(t), st, k),
            (Operator::Extremum { first: Argument::Second, .. }, Some(t)) => self.first_extremum(Floats(t), st, k),
            (Operator::Product, Some(t)) => self.product(t, st, k),
            (Operator::Pair(both), _) => self.pair(both, st, k),
            // The result is the default, at least in all its floating-point numbers.
            _ => self.done(st, self.kept(|_, _| zero(&self.tangent())), Acc::var(&self.dy), k),
        }
    }

    fn element(&self) -> Ty<T> {
        self.a.ty().sh_elt().1.ty()
    }
    fn tangent(&self) -> Ty<Tan<T>> {
        self.dy.ty().sh_elt().1.ty()
    }
    fn adjoint<E>(&self, to: &Exp<E, A2, Sh2>) -> Exp<E, A2, Tan<T>> {
        Exp::index(&self.dy, to, self.at)
    }
    fn result<E>(&self, to: &Exp<E, A2, Sh2>) -> Exp<E, A2, T> {
        Exp::index(&self.y, to, self.at)
    }
    fn default<E>(&self, to: &Exp<E, A2, Sh2>) -> Exp<E, A2, T> {
        Exp::index(&self.defaults, to, self.at)
    }
    fn source<E>(&self, ix: &Exp<E, A2, Sh>) -> Exp<E, A2, T> {
        Exp::index(&self.a, ix, self.at)
    }
    /// The position of a source element.
    fn number<E>(&self, ix: &Exp<E, A2, Sh>) -> Exp<E, A2, i64> {
        to_linear(&Exp::shape(&self.a), ix)
    }

    /// For every element that is kept, what `f` computes from its index and its target; zero for the others.
    fn kept<V>(
        &self,
        f: impl FnOnce(&At<A2, Sh, Sh2, Sh>, &At<A2, Sh, Sh2, Sh2>) -> At<A2, Sh, Sh2, V>,
    ) -> Acc<A2, Arr<Sh, V>> {
        let sh = self.a.ty().sh_elt().0;
        let run = fun1(&sh, |ix| {
            bind(&call(&self.index, &ix), |target, up| {
                let value = f(&ix.weaken(&up), &target.snd());
                Exp::cond(&target.fst(), &value, &zero(value.ty()))
            })
        });
        Acc::generate(&sh, &Exp::shape(&self.a), &run, self.at)
    }
    /// The positions of all source elements.
    fn numbers(&self) -> Acc<A2, Arr<Sh, i64>> {
        let sh = self.a.ty().sh_elt().0;
        Acc::generate(&sh, &Exp::shape(&self.a), &fun1(&sh, |ix| self.number(&ix)), self.at)
    }
    /// For every target, what `f` computes from its index.
    fn targets<V>(&self, f: impl FnOnce(&Exp<Ix<Sh2>, A2, Sh2>) -> Exp<Ix<Sh2>, A2, V>) -> Acc<A2, Arr<Sh2, V>> {
        let sh = self.y.ty().sh_elt().0;
        Acc::generate(&sh, &Exp::shape(&self.y), &fun1(&sh, |ix| f(&ix)), self.at)
    }

    fn done<'k, B, A>(
        &self,
        st: ADual<B, A, A2>,
        source: Acc<A2, Arr<Sh, Tan<T>>>,
        defaults: Acc<A2, Arr<Sh2, Tan<T>>>,
        k: Guard<'k>,
    ) -> Done<'k, B, A, A2, Sh, Sh2, T> {
        let s = st.unchanged(k);
        let val = Adjoints { source: source.weaken(&s.up), defaults: defaults.weaken(&s.up) };
        ABound { st: s.st, val, up: s.up }
    }

    /// The rule for replacement. There are seldom many more elements than targets.
    fn replaced<'k, B, A>(&self, st: ADual<B, A, A2>, k: Guard<'k>) -> Done<'k, B, A, A2, Sh, Sh2, T> {
        let (sh, d) = (self.a.ty().sh_elt().0, self.tangent());
        let same = is_the_same(&self.index);
        if same || is_one_to_one(&self.index, &sh) {
            // Of elements with the same target, the last one counts.
            let source = self.kept(|ix, to| match same {
                true => {
                    let last = index_op(Num2::Sub, &size(&Exp::shape(&self.a)), &int(1));
                    let is_last = compare(Cmp::Eq, NumTy::index().any(), &self.number(ix), &last);
                    Exp::cond(&is_last, &self.adjoint(to), &zero(&d))
                }
                false => self.adjoint(to),
            });
            let zeros = Acc::generate(&sh, &Exp::shape(&self.a), &fun1(&sh, |_| zero(&d)), self.at);
            let new = Fun2(args(&d, &d).0);
            let defaults = Acc::permute(&new, &Acc::var(&self.dy), &self.index, &zeros, self.at);
            return self.done(st, source, defaults, k);
        }
        self.chosen(st, &self.numbers(), |_, _| truth(true), Visit::Elements, k)
    }

    /// The rule for a minimum or a maximum that chooses the new element if both are equal.
    fn last_extremum<'k, B, A>(
        &self,
        o: Floats<T>,
        st: ADual<B, A, A2>,
        k: Guard<'k>,
    ) -> Done<'k, B, A, A2, Sh, Sh2, T> {
        let hit = |ix: &_, to: &_| o.cmp(Cmp::Eq, &self.source(ix), &self.result(to));
        self.chosen(st, &self.numbers(), hit, Visit::Targets, k)
    }

    /// The rule for a minimum or a maximum that chooses the old element if both are equal. If both are NaN, it chooses
    /// the new one.
    fn first_extremum<'k, B, A>(
        &self,
        o: Floats<T>,
        st: ADual<B, A, A2>,
        k: Guard<'k>,
    ) -> Done<'k, B, A, A2, Sh, Sh2, T> {
        let keys = self.kept(|ix, to| {
            let (n, y) = (self.number(ix), self.result(to));
            Exp::cond(&o.cmp(Cmp::Ne, &y, &y), &n, &index_op(Num2::Sub, &int(-1), &n))
        });
        let hit = |ix: &_, to: &_| {
            let y = self.result(to);
            let equal = o.cmp(Cmp::Eq, &self.source(ix), &y);
            let by_default = o.cmp(Cmp::Eq, &self.default(to), &y);
            and(&not(&by_default), &Exp::cond(&equal, &truth(true), &o.cmp(Cmp::Ne, &y, &y)))
        };
        self.chosen(st, &keys, hit, Visit::Targets, k)
    }

    /// The rule for an operator that chooses one of its arguments. Among the elements of a target for which `hit` holds,
    /// the one with the largest key is chosen; if there is none, it is the default. The key of an element is its position
    /// i, or -1 - i.
    fn chosen<'k, B, A>(
        &self,
        st: ADual<B, A, A2>,
        keys: &Acc<A2, Arr<Sh, i64>>,
        hit: impl FnOnce(&At<A2, Sh, Sh2, Sh>, &At<A2, Sh, Sh2, Sh2>) -> At<A2, Sh, Sh2, bool>,
        visit: Visit,
        k: Guard<'k>,
    ) -> Done<'k, B, A, A2, Sh, Sh2, T> {
        let hits = fun1(&self.a.ty().sh_elt().0, |ix| {
            bind(&call(&self.index, &ix), |target, up| {
                let hit = hit(&ix.weaken(&up), &target.snd());
                Exp::pair(&Exp::cond(&target.fst(), &hit, &truth(false)), &target.snd())
            })
        });
        let (x, y) = args(&Ty::of(), &Ty::of());
        let largest = Fun2(index_op(Num2::Max, &x, &y));
        let largest = Acc::permute(&largest, &self.targets(|_| int(i64::MIN)), &hits, keys, self.at);
        fresh2(|i, l| {
            let keys = st.bind(keys, i);
            let largest = keys.st.bind(&largest.weaken(&keys.up), l);
            let up = keys.up.then(&largest.up);
            let (this, keys) = (self.weaken(&up), largest.up.at(&keys.val));
            let source = match visit {
                Visit::Elements => this.kept(|ix, to| this.if_equal(&largest.val, to, &Exp::index(&keys, ix, this.at))),
                Visit::Targets => this.to_chosen(&largest.val),
            };
            let defaults = this.targets(|to| this.if_equal(&largest.val, to, &int(i64::MIN)));
            let done = this.done(largest.st, source, defaults, k);
            ABound { st: done.st, val: done.val, up: up.then(&done.up) }
        })
    }

    /// For each element, the adjoint of the target that has chosen it, if there is one: a scatter of the adjoints.
    fn to_chosen(&self, keys: &Idx<A2, Arr<Sh2, i64>>) -> Acc<A2, Arr<Sh, Tan<T>>> {
        let sh = self.a.ty().sh_elt().0;
        let place = fun1(&self.y.ty().sh_elt().0, |to| {
            bind(&Exp::index(keys, &to, self.at), |key, _| {
                let some = compare(Cmp::Ne, NumTy::index().any(), &key, &int(i64::MIN));
                let from_end = index_op(Num2::Sub, &int(-1), &key);
                let is_position = compare(Cmp::Ge, NumTy::index().any(), &key, &int(0));
                let position = Exp::cond(&is_position, &key, &from_end);
                let place = from_linear(&Exp::shape(&self.a), &position);
                Exp::pair(&some, &Exp::cond(&some, &place, &zero(place.ty())))
            })
        });
        let zeros = Acc::generate(&sh, &Exp::shape(&self.a), &fun1(&sh, |_| zero(&self.tangent())), self.at);
        Acc::permute(&plus(&self.tangent()), &zeros, &place, &Acc::var(&self.dy), self.at)
    }

    /// The adjoint of a target if its largest key is `key`, and 0 otherwise.
    fn if_equal<E>(
        &self,
        largest: &Idx<A2, Arr<Sh2, i64>>,
        to: &Exp<E, A2, Sh2>,
        key: &Exp<E, A2, i64>,
    ) -> Exp<E, A2, Tan<T>> {
        let is_chosen = compare(Cmp::Eq, NumTy::index().any(), &Exp::index(largest, to, self.at), key);
        Exp::cond(&is_chosen, &self.adjoint(to), &zero(&self.tangent()))
    }

    /// The rule for products.
    fn product<'k, B, A>(&self, t: FloatTy<T>, st: ADual<B, A, A2>, k: Guard<'k>) -> Done<'k, B, A, A2, Sh, Sh2, T> {
        let (o, at) = (Floats(t), self.at);
        let products = Products(o);
        let flat = Exp::pair(&unit(), &size(&Exp::shape(&self.y)));
        let flat = Acc::reshape(&ShapeTy::known(), &flat, &Acc::var(&self.y), at);
        let not_zero = Acc::map(&fun1(&o.ty(), |y| o.cmp(Cmp::Ne, &y, &o.c(0.0))), &flat, at);
        let (x, y) = args(&Ty::of(), &Ty::of());
        let not_zero = Acc::fold(&Fun2(and(&x, &y)), &truth(true), &not_zero, at);
        fresh4(|i, j, l, n| {
            let not_zero = st.bind(&not_zero, i);
            let this = self.weaken(&not_zero.up);
            let branch = ACode::start(not_zero.st.code.size);
            let quotients = branch.emit(&this.quotients(o), j);
            let with_quotients = this.weaken(&quotients.up).by_quotients(t, &quotients.var);
            let entries = fun1(&o.ty(), |x| products.entry(&x));
            let defaults = Acc::map(&entries, &Acc::var(&this.defaults), at);
            let source = Acc::map(&entries, &Acc::var(&this.a), at);
            let stats = Acc::permute(&products.join(), &defaults, &this.index, &source, at);
            let stats = branch.emit(&stats, l);
            let with_stats = this.weaken(&stats.up).by_summaries(t, &stats.var);
            let (quick, slow) = (quotients.code.close(&with_quotients), stats.code.close(&with_stats));
            let both = Acc::cond(&Exp::index(&not_zero.val, &unit(), at), &quick, &slow, at);
            let both = not_zero.st.bind(&both, n);
            let up = not_zero.up.then(&both.up);
            let val = Acc::var(&both.val);
            let done = self.weaken(&up).done(both.st, val.fst(), val.snd(), k);
            ABound { st: done.st, val: done.val, up: up.then(&done.up) }
        })
    }

    /// For each target, its adjoint times the product. Divided by one of its elements, this is the adjoint times the
    /// product of the others.
    fn quotients(&self, o: Floats<T>) -> Acc<A2, Arr<Sh2, T>> {
        self.targets(|to| o.strong_mul(&self.adjoint(to).cast(tan_float(o.0)), &self.result(to)))
    }

    /// The adjoints of the source and of the defaults, if no result is 0.
    fn by_quotients(&self, t: FloatTy<T>, quotients: &Idx<A2, Arr<Sh2, T>>) -> Acc<A2, Both<Sh, Sh2, T>> {
        let o = Floats(t);
        let source = self.kept(|ix, to| {
            o.strong_div(&Exp::index(quotients, to, self.at), &self.source(ix)).cast(tan_float(t).sym())
        });
        let defaults = self.targets(|to| {
            o.strong_div(&Exp::index(quotients, to, self.at), &self.default(to)).cast(tan_float(t).sym())
        });
        Acc::pair(&source, &defaults)
    }

    /// The adjoints of the source and of the defaults, by the summary of each target.
    fn by_summaries(&self, t: FloatTy<T>, stats: &Idx<A2, Arr<Sh2, Summary<T>>>) -> Acc<A2, Both<Sh, Sh2, T>> {
        let source = self.kept(|ix, to| self.product_of_others(t, &self.source(ix), to, stats));
        let defaults = self.targets(|to| self.product_of_others(t, &self.default(to), to, stats));
        Acc::pair(&source, &defaults)
    }

    /// The adjoint of a target times the product of its elements except `x`.
    fn product_of_others<E>(
        &self,
        t: FloatTy<T>,
        x: &Exp<E, A2, T>,
        to: &Exp<E, A2, Sh2>,
        stats: &Idx<A2, Arr<Sh2, Summary<T>>>,
    ) -> Exp<E, A2, Tan<T>> {
        let d = self.adjoint(to).cast(tan_float(t));
        Products(Floats(t)).of_others(&d, x, &Exp::index(stats, to, self.at)).cast(tan_float(t).sym())
    }

    /// The rule for operators on the components of pairs.
    fn pair<'k, B, A>(
        &self,
        (first, second): &(Operator, Operator),
        st: ADual<B, A, A2>,
        k: Guard<'k>,
    ) -> Done<'k, B, A, A2, Sh, Sh2, T> {
        fresh5(|n, i, j, h, l| {
            let TyView::Pair(p, q, eq) = self.element().view(n) else {
                unreachable!("an operator on pairs has a pair as its result")
            };
            let tan = eq_tan(eq).then(tan_pair());
            let (t, d) = (self.element(), self.tangent());
            let a = self.part(&fun1(&t, |x| x.cast(eq).fst()), &fun1(&d, |x| x.cast(tan).fst()), st, i);
            let da = a.val.adjoints(first, a.st, j);
            let up = a.up.then(&da.up);
            let b = self.weaken(&up).part(&fun1(&t, |x| x.cast(eq).snd()), &fun1(&d, |x| x.cast(tan).snd()), da.st, h);
            let db = b.val.adjoints(second, b.st, l);
            let since = b.up.then(&db.up);
            let (x, y) = args(&tan_ty(&p), &tan_ty(&q));
            let both = Fun2(Exp::pair(&x, &y).cast(tan.sym()));
            let source = Acc::zip_with(&both, &da.val.source.weaken(&since), &db.val.source, self.at);
            let (x, y) = args(&tan_ty(&p), &tan_ty(&q));
            let both = Fun2(Exp::pair(&x, &y).cast(tan.sym()));
            let defaults = Acc::zip_with(&both, &da.val.defaults.weaken(&since), &db.val.defaults, self.at);
            let up = up.then(&since);
            let done = self.weaken(&up).done(db.st, source, defaults, k);
            ABound { st: done.st, val: done.val, up: up.then(&done.up) }
        })
    }

    /// The arrays of a component.
    fn part<'k, B, A, V>(
        &self,
        value: &Fun1<A2, T, V>,
        tangent: &Fun1<A2, Tan<T>, Tan<V>>,
        st: ADual<B, A, A2>,
        k: Guard<'k>,
    ) -> ABound<'k, B, A, A2, Permute<X<'k>, Sh, Sh2, V>> {
        fresh3(|h, i, j| {
            let a = st.bind(&Acc::map(value, &Acc::var(&self.a), self.at), h);
            let y = Acc::map(value, &Acc::var(&self.y), self.at).weaken(&a.up);
            let y = a.st.bind(&y, i);
            let up = a.up.then(&y.up);
            let defaults = Acc::map(value, &Acc::var(&self.defaults), self.at).weaken(&up);
            let defaults = y.st.bind(&defaults, j);
            let up = up.then(&defaults.up);
            let dy = Acc::map(tangent, &Acc::var(&self.dy), self.at).weaken(&up);
            let dy = defaults.st.bind(&dy, k);
            let after_y = defaults.up.then(&dy.up);
            let val = Permute {
                a: y.up.then(&after_y).at(&a.val),
                defaults: dy.up.at(&defaults.val),
                y: after_y.at(&y.val),
                index: self.index.aweaken(&up.then(&dy.up)),
                at: self.at,
                dy: dy.val,
            };
            ABound { st: dy.st, val, up: up.then(&dy.up) }
        })
    }

    fn weaken<A3>(&self, r: &Thinning<A2, A3>) -> Permute<A3, Sh, Sh2, T> {
        Permute {
            a: r.at(&self.a),
            defaults: r.at(&self.defaults),
            y: r.at(&self.y),
            dy: r.at(&self.dy),
            index: self.index.aweaken(r),
            at: self.at,
        }
    }
}
