//! The duals of `fold` and `fold1`.
//!
//! NOTE [Dual of a fold]: let p(0) = z, p(i+1) = f(p(i), a(i)) be the prefixes and s(i) = a(i) . a(i+1) . .. a(n-1) the
//! suffixes. By associativity, the result is y = f(p(i), s(i)) for every i < n. So the dual of f at (p(i), s(i)),
//! applied to the adjoint of y, gives the adjoint of p(i). The adjoint of p(n) is the adjoint of y itself. The dual of
//! f at (p(i), a(i)), applied to the adjoint of p(i+1), then gives the adjoint of a(i) and the contributions of step i
//! to arrays that f reads. This takes two scans and one map, for elements of any type (compare `reduce` in Futhark's
//! AD: `l . a . r` differentiated in `a`). `+`, `*`, `min` and `max` have rules of their own.

use super::products::Products;
use super::shapes::{bind, size};
use super::state::ADual;
use super::steps::{Called, Function};
use crate::activity::Activity;
use crate::builders::{
    Args2, Floats, and, args, call2, compare, float_ty, fun1, index_op, int, less, not, plus, uncurry, unit, zero,
};
use crate::forms::Argument;
use crate::operators::Operator;
use accel_core::ast::*;
use accel_core::error::Result;
use accel_core::repr::op::{Cmp, Num2};
use frunk::{HCons, HNil};

/// The input of a rule: the operator, the initial value if there is one, the source and its label, and the adjoint of
/// the result.
struct Fold<'a, A, A2, Sh, T> {
    f: Fun2<A2, T, T, T>,
    z: Option<Exp<HNil, A2, T>>,
    a: Idx<A2, Arr<(Sh, i64), T>>,
    d: Idx<A2, Arr<Sh, Tan<T>>>,
    label: &'a Idx<A, Arr<(Sh, i64), T>>,
    at: Src,
}

/// The output of a rule: the new state, and the adjoint of the initial value for every row.
type Done<'k, B, A, Sh, T> = (ADual<B, A, X<'k>>, Acc<X<'k>, Arr<Sh, Tan<T>>>);

/// Adds the contributions of a fold of `a` with the operator `f`, whose adjoint is `d`.
pub fn fold<'m, B, A, A2, Sh, T>(
    st: ADual<B, A, A2>,
    f: &Fun2<A, T, T, T>,
    z: Option<&Exp<HNil, A, T>>,
    a: &Idx<A, Arr<(Sh, i64), T>>,
    d: &Idx<A2, Arr<Sh, Tan<T>>>,
    at: Src,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    let fold =
        Fold { f: f.aweaken(&st.emb), z: z.map(|z| z.aweaken(&st.emb)), a: st.emb.at(a), d: d.clone(), label: a, at };
    fresh1(|k| {
        let (st, dz) = match (Operator::of(f), float_ty(f.0.ty())) {
            (Operator::Sum, _) => fold.sum(st, k),
            (Operator::Product, Some(t)) => fold.product(st, t, k),
            (Operator::Extremum { is_minimum, first: Argument::First }, Some(t)) => {
                fold.extremum(st, if is_minimum { Cmp::Lt } else { Cmp::Gt }, t, k)
            }
            _ => fold.general(st, f, k)?,
        };
        match z {
            Some(z) => initial(st, z, &dz, at, m),
            None => Ok(st.rename(m).0),
        }
    })
}

/// Adds the contributions of the initial value, which may read arrays. `dz` is its adjoint for every row.
pub fn initial<'m, B, A, A2, Sh, T>(
    st: ADual<B, A, A2>,
    z: &Exp<HNil, A, T>,
    dz: &Acc<A2, Arr<Sh, Tan<T>>>,
    at: Src,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    fresh3(|i, k, l| {
        let (f, unit_ty) = (Fun1(z.weaken(&Thinning::from_nil())), Ty::of());
        let dual = st.fun_dual(&f, &unit_ty, Activity::Passive, i)?;
        if dual.is_local() {
            return Ok(st.rename(m).0);
        }
        let rows = st.bind(dz, k);
        let t = rows.val.ty().sh_elt().1;
        let flat = Exp::pair(&unit(), &size(&Exp::shape(&rows.val)));
        let flat = Acc::reshape(&ShapeTy::known(), &flat, &Acc::var(&rows.val), at);
        let total = rows.st.bind(&Acc::fold(&plus(&t), &zero(&t), &flat, at), l);
        let function = Function::new(&f, &unit_ty, Activity::Passive, &dual);
        total.st.reads_of(function, &ShapeTy::known(), &total.val, at, m)
    })
}

type Ix<Sh> = HCons<(Sh, i64), HNil>;

impl<A, A2, Sh, T> Fold<'_, A, A2, Sh, T> {
    fn element(&self) -> Ty<T> {
        self.a.ty().sh_elt().1.ty()
    }
    fn rows(&self) -> ShapeTy<Sh> {
        self.d.ty().sh_elt().0
    }
    /// The array with the shape of `a` that `f` computes from the index.
    fn over<V>(&self, f: impl FnOnce(&Exp<Ix<Sh>, A2, (Sh, i64)>) -> Exp<Ix<Sh>, A2, V>) -> Acc<A2, Arr<(Sh, i64), V>> {
        let sh = self.a.ty().sh_elt().0;
        Acc::generate(&sh, &Exp::shape(&self.a), &fun1(&sh, |ix| f(&ix)), self.at)
    }
    fn row<E>(&self, ix: &Exp<E, A2, Sh>) -> Exp<E, A2, Tan<T>> {
        Exp::index(&self.d, ix, self.at)
    }
    /// Adds `da` to the adjoint of the source.
    fn done<'k, B>(
        &self,
        st: ADual<B, A, A2>,
        da: &Acc<A2, Arr<(Sh, i64), Tan<T>>>,
        dz: &Acc<A2, Arr<Sh, Tan<T>>>,
        k: Guard<'k>,
    ) -> Done<'k, B, A, Sh, T> {
        let s = st.contribute(self.label, &da.cast(tan_arr().sym()), k);
        (s.st, dz.weaken(&s.up))
    }

    /// The rule for sums: every element gets the adjoint of its row, and so does the initial value.
    fn sum<'k, B>(&self, st: ADual<B, A, A2>, k: Guard<'k>) -> Done<'k, B, A, Sh, T> {
        let sh = self.a.ty().sh_elt().0;
        let d = Acc::var(&self.d);
        let da = Acc::backpermute(&sh, &Exp::shape(&self.a), &fun1(&sh, |ix| ix.fst()), &d, self.at);
        self.done(st, &da, &d, k)
    }

    /// The rule for products: the product of the other elements, without division by zero; see NOTE [Products
    /// with zeros].
    fn product<'k, B>(&self, st: ADual<B, A, A2>, t: FloatTy<T>, k: Guard<'k>) -> Done<'k, B, A, Sh, T> {
        let o = Floats(t);
        let products = Products(o);
        let entries = Acc::map(&fun1(&o.ty(), |x| products.entry(&x)), &Acc::var(&self.a), self.at);
        let stats = Acc::fold(&products.join(), &products.none(), &entries, self.at);
        fresh1(|l| {
            let s = st.bind(&stats, l);
            let (stats, at) = (s.val, self.at);
            let this = self.weaken(&s.up);
            let da = this.over(|ix| {
                let d = this.row(&ix.fst()).cast(tan_float(t));
                let d = this.z.as_ref().map_or(d.clone(), |z| o.strong_mul(&d, &z.weaken(&Thinning::from_nil())));
                let (x, stats) = (Exp::index(&this.a, ix, at), Exp::index(&stats, &ix.fst(), at));
                products.of_others(&d, &x, &stats).cast(tan_float(t).sym())
            });
            let dz = Acc::generate(
                &this.rows(),
                &Exp::shape(&this.d),
                &fun1(&this.rows(), |ix| {
                    let d = this.row(&ix).cast(tan_float(t));
                    products.of_all(&d, &Exp::index(&stats, &ix, at)).cast(tan_float(t).sym())
                }),
                at,
            );
            this.done(s.st, &da, &dz, k)
        })
    }

    /// The rule for minimum and maximum: the first element that is the minimum (maximum) gets the adjoint. The initial
    /// value comes before all elements.
    fn extremum<'k, B>(&self, st: ADual<B, A, A2>, wins: Cmp, t: FloatTy<T>, k: Guard<'k>) -> Done<'k, B, A, Sh, T> {
        let o = Floats(t);
        let at = self.at;
        let numbered = self.over(|ix| Exp::pair(&ix.snd(), &Exp::index(&self.a, ix, at)));
        let entry = Ty::pair(&Ty::<i64>::of(), &o.ty());
        let (x, y) = args(&entry, &entry);
        let is_nan = |x: &Args2<A2, (i64, T), (i64, T), T>| o.cmp(Cmp::Ne, x, x);
        let keep = and(&not(&o.cmp(wins, &y.snd(), &x.snd())), &not(&is_nan(&x.snd())));
        let better = Fun2(Exp::cond(&keep, &x, &y));
        let best = match &self.z {
            Some(z) => Acc::fold(&better, &Exp::pair(&int(-1), z), &numbered, at),
            None => Acc::fold1(&better, &numbered, at),
        };
        fresh1(|l| {
            let s = st.bind(&best, l);
            let this = self.weaken(&s.up);
            let chosen = |row: &Exp<_, _, Sh>| Exp::index(&s.val, row, at).fst();
            let is = |i: &Exp<_, _, i64>, j: &Exp<_, _, i64>| compare(Cmp::Eq, NumTy::index().any(), i, j);
            let da = this.over(|ix| {
                let hit = is(&chosen(&ix.fst()), &ix.snd());
                Exp::cond(&hit, &this.row(&ix.fst()), &zero(&tan_ty(&o.ty())))
            });
            let dz = fun1(&this.rows(), |ix| {
                let hit = compare(Cmp::Eq, NumTy::index().any(), &Exp::index(&s.val, &ix, at).fst(), &int(-1));
                Exp::cond(&hit, &this.row(&ix), &zero(&tan_ty(&o.ty())))
            });
            let dz = Acc::generate(&this.rows(), &Exp::shape(&this.d), &dz, at);
            this.done(s.st, &da, &dz, k)
        })
    }

    /// The rule for any associative operator, see NOTE [Dual of a fold].
    fn general<'k, B>(&self, st: ADual<B, A, A2>, f: &Fun2<A, T, T, T>, k: Guard<'k>) -> Result<Done<'k, B, A, Sh, T>> {
        let (t, at) = (self.element(), self.at);
        fresh8(|i, p, s, r, l, i2, j, z| {
            let combined = st.activity.of_result(st.adj.label_size());
            let both = Activity::pair(combined.clone(), combined);
            let (operator, pair) = (uncurry(f, &t, &t), Ty::pair(&t, &t));
            let own = st.fun_dual(&operator, &pair, both.clone(), i)?;
            let dual = own.dual.aweaken(&st.emb);
            let source = Acc::var(&self.a);
            let prefixes = match &self.z {
                Some(z) => Acc::scan(Dir::Left, &self.f, z, &source, at),
                None => Acc::scan1(Dir::Left, &self.f, &source, at),
            };
            let prefixes = st.bind(&prefixes, p);
            let suffixes = Acc::scan1(Dir::Right, &self.f, &source, at).weaken(&prefixes.up);
            let suffixes = prefixes.st.bind(&suffixes, s);
            let up = prefixes.up.then(&suffixes.up);
            let (pre, suf) = (suffixes.up.at(&prefixes.val), suffixes.val);
            let (this, dual) = (self.weaken(&up), dual.aweaken(&up));
            let run = Run { fold: &this, dual: &dual, pre: &pre, suf: &suf };
            let dz = run.initial();
            let function = Function::new(&operator, &pair, both, &own);
            let sh = this.a.ty().sh_elt().0;
            let body = |dual: &Called<_, _, _, _>, ix: &Exp<_, _, _>| run.step(dual, ix);
            let steps = suffixes.st.run_dual(function, &sh, &Exp::shape(&this.a), body, at, (i2, j, z, r))?;
            let dz = dz.weaken(&steps.up);
            let this = this.weaken(&steps.up);
            let da = fun1(&steps.val.values.ty().sh_elt().1, |x| x.fst().cast(tan_pair()).snd());
            let da = Acc::map(&da, &Acc::var(&steps.val.values), at);
            let s = steps.st.contribute(this.label, &da.cast(tan_arr().sym()), l);
            let all = steps.val.weaken(&s.up).contribute(s.st, k);
            Ok((all.st, dz.weaken(&s.up).weaken(&all.up)))
        })
    }

    fn weaken<A3>(&self, r: &Thinning<A2, A3>) -> Fold<'_, A, A3, Sh, T> {
        Fold {
            f: self.f.aweaken(r),
            z: self.z.as_ref().map(|z| z.aweaken(r)),
            a: r.at(&self.a),
            d: r.at(&self.d),
            label: self.label,
            at: self.at,
        }
    }
}

/// The intermediate values of the general rule.
struct Run<'a, 'b, A, A2, Sh, T, I> {
    fold: &'a Fold<'b, A, A2, Sh, T>,
    dual: &'a Fun2<A2, (T, T), Tan<T>, (Tan<(T, T)>, I)>,
    pre: &'a Idx<A2, Arr<(Sh, i64), T>>,
    suf: &'a Idx<A2, Arr<(Sh, i64), T>>,
}

impl<A, A2, Sh, T, I> Run<'_, '_, A, A2, Sh, T, I> {
    fn at<E>(&self, array: &Idx<A2, Arr<(Sh, i64), T>>, row: &Exp<E, A2, Sh>, i: &Exp<E, A2, i64>) -> Exp<E, A2, T> {
        Exp::index(array, &Exp::pair(row, i), self.fold.at)
    }
    /// The adjoint of the prefix whose suffix starts at `i`; `len` is the length of the row.
    fn prefix<E>(
        &self,
        prefix: &Exp<E, A2, T>,
        row: &Exp<E, A2, Sh>,
        i: &Exp<E, A2, i64>,
        len: &Exp<E, A2, i64>,
    ) -> Exp<E, A2, Tan<T>> {
        let d = self.fold.row(row);
        let both = Exp::pair(prefix, &self.at(self.suf, row, i));
        let through = call2(self.dual, &both, &d).fst().cast(tan_pair()).fst();
        Exp::cond(&less(i, len), &through, &d)
    }
    fn len<E>(&self) -> Exp<E, A2, i64> {
        Exp::shape(&self.fold.a).snd()
    }
    /// The dual of step `i`: the adjoints of prefix and element, and the index-adjoint tuple.
    fn step<J>(
        &self,
        dual: &Called<A2, (T, T), T, J>,
        ix: &Exp<Ix<Sh>, A2, (Sh, i64)>,
    ) -> Exp<Ix<Sh>, A2, (Tan<(T, T)>, J)> {
        let (row, i) = (ix.fst(), ix.snd());
        let next = index_op(Num2::Add, &i, &int(1));
        let element = self.at(&self.fold.a, &row, &i);
        match &self.fold.z {
            Some(_) => {
                let d = self.prefix(&self.at(self.pre, &row, &next), &row, &next, &self.len());
                call2(dual, &Exp::pair(&self.at(self.pre, &row, &i), &element), &d)
            }
            // Without an initial value, the first element is the first prefix, so there is no step for it.
            None => {
                let d = self.prefix(&self.at(self.pre, &row, &i), &row, &next, &self.len());
                bind(&d, |d, up| {
                    let (row, i, element) = (row.weaken(&up), i.weaken(&up), element.weaken(&up));
                    let before = self.at(self.pre, &row, &index_op(Num2::Sub, &i, &int(1)));
                    let step = call2(dual, &Exp::pair(&before, &element), &d);
                    let t = step.ty().parts();
                    let none = zero(&t.0.cast(tan_pair()).parts().0);
                    let first = Exp::pair(&Exp::pair(&none, &d).cast(tan_pair().sym()), &zero(&t.1));
                    Exp::cond(&less(&int(0), &i), &step, &first)
                })
            }
        }
    }
    /// The adjoint of the initial value for every row.
    fn initial(&self) -> Acc<A2, Arr<Sh, Tan<T>>> {
        let at = self.fold.at;
        if self.fold.z.is_none() {
            return Acc::var(&self.fold.d);
        }
        let f = fun1(&self.fold.rows(), |row| {
            let start = self.at(self.pre, &row, &int(0));
            self.prefix(&start, &row, &int(0), &self.len())
        });
        Acc::generate(&self.fold.rows(), &Exp::shape(&self.fold.d), &f, at)
    }
}
