//! The free variables of array computations. Each node keeps those that it has been asked for, so that the questions of a pass about all
//! parts of a program take a time proportional to its size.

use super::acc::{Ac, Acc, AccView, AccVisit, Free, Trips};
use super::env::{Env, Idx, Renaming, UnitF};
use super::exp::{Ex, Exp, ExpTrips, ExpView, ExpVisit};
use super::names::{Erased, fresh1, fresh2};
use super::thin::{RawThinning, deep};
use crate::repr::RawTy;

/// More variables are not listed: sets of all sizes would take memory that is quadratic in the length of a chain of definitions.
const MOST: usize = 64;

impl<A, R> Acc<A, R> {
    /// The same computation in another environment, whose types are `arrays`. `to` says which De Bruijn level the variable with a
    /// De Bruijn index has there. `None` if it does not say so for a variable that the computation uses, if the types differ, or if
    /// the other environment has these variables in another order or closer to the end.
    ///
    /// The parts of the computation stay as they are. The first question about a computation takes a time proportional to its
    /// size, further ones about it and its parts do not. There is no answer for a computation with very many variables.
    pub fn moved<A2>(&self, arrays: &Env<UnitF, A2>, mut to: impl FnMut(usize) -> Option<usize>) -> Option<Acc<A2, R>> {
        self.embedded(|i, t| {
            fresh1(|n| {
                let j = arrays.variable(to(i as usize)?, n)?;
                (j.ty().raw() == t).then_some(j.0)
            })
        })
    }
    /// The same computation with other variables, if they are in the same order and not closer to the end. Otherwise, [`rename_acc`]
    /// makes it anew. As for [`moved`](Self::moved), its parts stay as they are, and there must not be very many variables.
    ///
    /// [`rename_acc`]: crate::pass::rename_acc
    pub fn renamed<A2>(&self, to: &Renaming<A, A2>) -> Option<Acc<A2, R>> {
        self.embedded(|i, _| Some(to.raw(i)))
    }
    /// The same computation with other variables, as far as a thinning can express it.
    fn embedded<A2>(&self, mut to: impl FnMut(u32, &RawTy) -> Option<u32>) -> Option<Acc<A2, R>> {
        let (mut cuts, mut by, mut from) = (vec![], 0, 0);
        for (i, t) in free(self)? {
            let i = self.th.at(*i);
            let more = to(i, t)?.checked_sub(i)?.checked_sub(by)?;
            if more > 0 {
                // Variables between this one and the one before do not occur.
                cuts.push((from, more));
            }
            (by, from) = (by + more, i + 1);
        }
        Some(self.thin(&RawThinning::of(&cuts)))
    }
}

/// The variables that the node of a computation uses, without its suspended thinning.
fn free<A, R>(a: &Acc<A, R>) -> Option<&[(u32, RawTy)]> {
    a.node.get().free.get_or_init(|| deep(|| find(&a.unthinned()))).as_deref()
}

fn find(a: &Ac) -> Free {
    let mut used = Used { found: Some(vec![]), binders: 0 };
    fresh2(|n, c| match a.view(n) {
        _ if let Some(c) = a.custom(c) => {
            used.acc(&c.arg);
            used.below(&c.functions.function);
            used.below(&c.functions.pushforward);
            used.below(&c.functions.pullback)
        }
        AccView::Use(_) => {}
        AccView::Var(i) => used.add(i.0, i.ty().raw()),
        AccView::Let(b, body, _) => {
            used.acc(&b);
            used.below(&body)
        }
        AccView::While(w) => {
            used.acc(&w.init);
            used.below(&w.cond);
            used.below(&w.body)
        }
        AccView::Loop(l, _) => {
            used.acc(&l.init);
            used.acc(&l.xs);
            match &l.trips {
                Trips::While(cond) => used.below(cond),
                Trips::Times(n, _) => used.exp(n),
            }
            used.below(&l.body)
        }
        AccView::Op(op) => op.visit(&mut used),
    });
    used.found.map(Vec::into_boxed_slice)
}

/// Collects variables of parts.
struct Used {
    /// In order; `None` as soon as there are too many.
    found: Option<Vec<(u32, RawTy)>>,
    /// How many variables were bound on the way to the part.
    binders: u32,
}

impl Used {
    fn add(&mut self, i: u32, t: &RawTy) {
        let (Some(found), Some(i)) = (&mut self.found, i.checked_sub(self.binders)) else { return };
        if let Err(place) = found.binary_search_by_key(&i, |(i, _)| *i) {
            found.insert(place, (i, t.clone()));
        }
        if found.len() > MOST {
            self.found = None;
        }
    }

    fn acc<A, R>(&mut self, a: &Acc<A, R>) {
        match free(a) {
            Some(variables) => variables.iter().for_each(|(i, t)| self.add(a.th.at(*i), t)),
            None => self.found = None,
        }
    }

    fn below<A, R>(&mut self, a: &Acc<A, R>) {
        self.binders += 1;
        self.acc(a);
        self.binders -= 1;
    }

    fn exp<E, A, T>(&mut self, e: &Exp<E, A, T>) {
        deep(|| self.exp_(&e.relabel()))
    }

    fn exp_(&mut self, e: &Ex) {
        fresh2(|n, c| match e.view(n) {
            _ if let Some(c) = e.custom(c) => {
                self.exp(&c.arg);
                self.exp(&c.functions.function);
                self.exp(&c.functions.pushforward);
                self.exp(&c.functions.pullback)
            }
            ExpView::Const(_) | ExpView::Var(_) => {}
            ExpView::Let(b, body, _) => {
                self.exp(&b);
                self.exp(&body)
            }
            ExpView::While(w) => {
                self.exp(&w.init);
                self.exp(&w.cond);
                self.exp(&w.body)
            }
            ExpView::Loop(l) => {
                self.exp(&l.init);
                self.exp(&l.xs);
                match &l.trips {
                    ExpTrips::While(cond) => self.exp(cond),
                    ExpTrips::Times(n) => self.exp(n),
                }
                self.exp(&l.body)
            }
            ExpView::Op(op) => op.visit(self),
        })
    }
}

impl AccVisit<Erased> for Used {
    fn exp<E, T>(&mut self, e: &Exp<E, Erased, T>) {
        self.exp(e)
    }
    fn acc<T>(&mut self, a: &Acc<Erased, T>) {
        self.acc(a)
    }
}

impl ExpVisit<Erased, Erased> for Used {
    fn exp<T>(&mut self, e: &Exp<Erased, Erased, T>) {
        self.exp(e)
    }
    fn avar<T>(&mut self, i: &Idx<Erased, T>) {
        self.add(i.0, i.ty().raw())
    }
}

#[cfg(test)]
mod tests {
    use crate::ast::*;
    use crate::pass::{array_uses, rename_acc};
    use frunk::{HCons, HNil};

    type V = Arr<((), i64), f64>;
    type Three = HCons<V, HCons<V, HCons<V, HNil>>>;

    fn used<A, R>(a: &Acc<A, R>) -> Vec<usize> {
        let mut found = vec![];
        array_uses(a, &mut |depth| found.push(depth));
        found
    }

    /// The first and the last one of three variables, and the last one again below a definition.
    fn term() -> Acc<Three, (V, (V, V))> {
        let t: Ty<V> = Ty::of();
        let (first, last) = (Idx::zero(&t), Idx::succ(&Idx::succ(&Idx::zero(&t))));
        let below = Acc::pair(&Acc::var(&Idx::zero(&t)), &Acc::var(&Idx::succ(&last)));
        Acc::pair(&Acc::var(&first), &Acc::let_(&Acc::var(&last), &below))
    }

    /// The variables of a larger environment with these De Bruijn indices.
    fn renaming<'a>(arrays: &Env<UnitF, X<'a>>, to: [usize; 3]) -> Renaming<Three, X<'a>> {
        let at = |i: usize| {
            fresh1(|n| {
                let variable = arrays.variable(arrays.size().get() - 1 - i, n).expect("in scope");
                let same = variable.ty().same(&Ty::of()).expect("a vector");
                variable.cast(same)
            })
        };
        Renaming::embedding(&Thinning::from_nil()).push(&at(to[2])).push(&at(to[1])).push(&at(to[0]))
    }

    #[test]
    fn renaming_in_order_is_a_thinning() {
        let t: Ty<V> = Ty::of();
        fresh1(|a| {
            let arrays = Env::<UnitF, _>::empty().push(&(), &t).push(&(), &t).push(&(), &t).push(&(), &t);
            let arrays = arrays.push(&(), &t).push(&(), &t).cast_env(name(a));
            for to in [[0, 1, 2], [0, 1, 5], [0, 4, 3], [1, 1, 3], [3, 4, 5], [2, 0, 4]] {
                let (to, expected) = (renaming(&arrays, to), [to[0], to[2], to[2]]);
                let renamed = term().renamed(&to).expect("a thinning");
                lint_acc(&renamed, &arrays).unwrap();
                assert_eq!(used(&renamed), expected);
                assert_eq!(used(&rename_acc(&term(), &to)), expected);
            }
            // Other orders, and fewer variables between them.
            for to in [[2, 1, 0], [3, 1, 4], [1, 2, 2]] {
                assert!(term().renamed(&renaming(&arrays, to)).is_none(), "{to:?}");
            }
        });
    }

    #[test]
    fn moved_computations_keep_their_types() {
        let (t, other): (Ty<V>, Ty<Arr<(), f64>>) = (Ty::of(), Ty::of());
        let arrays = Env::<UnitF, _>::empty().push(&(), &t).push(&(), &other).push(&(), &t).push(&(), &t);
        let level = |to: [usize; 3]| move |depth: usize| Some(to[depth]);
        let moved = term().moved(&arrays, level([3, 1, 0])).expect("the same types");
        lint_acc(&moved, &arrays).unwrap();
        assert_eq!(used(&moved), [0, 3, 3]);
        assert!(term().moved(&arrays, level([3, 2, 1])).is_none());
        assert!(term().moved(&arrays, |depth| (depth == 0).then_some(3)).is_none());
    }
}
