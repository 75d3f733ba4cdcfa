//! Finds the variables that expressions and computations use.

use crate::ast::*;

/// Calls `found` with the De Bruijn index of every scalar variable that an expression uses, once for each use.
pub fn uses<E, A, T>(e: &Exp<E, A, T>, found: &mut dyn FnMut(usize)) {
    Uses { scalars: 0, arrays: 0, scalar: found, array: &mut |_| {} }.exp(e)
}

/// Calls `found` with the De Bruijn index of every array variable that a computation uses, once for each use.
pub fn array_uses<A, R>(a: &Acc<A, R>, found: &mut dyn FnMut(usize)) {
    Uses { scalars: 0, arrays: 0, scalar: &mut |_| {}, array: found }.acc(a)
}

/// Calls `found` with the De Bruijn index of every array variable that scalar code uses, once for each use.
pub fn arrays_of_code<E, A, T>(e: &Exp<E, A, T>, found: &mut dyn FnMut(usize)) {
    Uses { scalars: 0, arrays: 0, scalar: &mut |_| {}, array: found }.exp(e)
}

/// The number of binders passed so far, and the function to call for variables from outside.
struct Uses<'f> {
    scalars: usize,
    arrays: usize,
    scalar: &'f mut dyn FnMut(usize),
    array: &'f mut dyn FnMut(usize),
}

impl Uses<'_> {
    fn exp<E, A, T>(&mut self, e: &Exp<E, A, T>) {
        fresh3(|x, a, t| deep(|| self.exp_(&e.cast_all(name(x), name(a), name(t)))))
    }

    fn exp_<'e, 'a, 't>(&mut self, e: &Exp<X<'e>, X<'a>, X<'t>>) {
        fresh2(|n, c| match e.view(n) {
            _ if let Some(c) = e.custom(c) => {
                self.exp(&c.arg);
                self.scalars += 1;
                self.exp(&c.functions.function);
                self.exp(&c.functions.pushforward);
                self.exp(&c.functions.pullback);
                self.scalars -= 1;
            }
            ExpView::Const(_) => {}
            ExpView::Var(i) => {
                if let Some(depth) = i.depth().checked_sub(self.scalars) {
                    (self.scalar)(depth)
                }
            }
            ExpView::Let(b, body, _) => {
                self.exp(&b);
                self.scalars += 1;
                self.exp(&body);
                self.scalars -= 1;
            }
            ExpView::While(w) => {
                self.exp(&w.init);
                self.scalars += 1;
                self.exp(&w.cond);
                self.exp(&w.body);
                self.scalars -= 1;
            }
            ExpView::Loop(l) => {
                self.exp(&l.init);
                self.exp(&l.xs);
                if let ExpTrips::Times(n) = &l.trips {
                    self.exp(n);
                }
                self.scalars += 1;
                if let ExpTrips::While(cond) = &l.trips {
                    self.exp(cond);
                }
                self.scalars += 1;
                self.exp(&l.body);
                self.scalars -= 2;
            }
            ExpView::Op(op) => op.visit(self),
        })
    }

    fn acc<A, R>(&mut self, a: &Acc<A, R>) {
        fresh2(|x, r| deep(|| self.acc_(&a.cast_env(name(x)).cast(name(r)))))
    }

    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>) {
        fresh2(|n, c| match a.view(n) {
            _ if let Some(c) = a.custom(c) => {
                self.acc(&c.arg);
                self.arrays += 1;
                self.acc(&c.functions.function);
                self.acc(&c.functions.pushforward);
                self.acc(&c.functions.pullback);
                self.arrays -= 1;
            }
            AccView::Use(_) => {}
            AccView::Var(i) => self.avar(i.depth()),
            AccView::Let(b, body, _) => {
                self.acc(&b);
                self.arrays += 1;
                self.acc(&body);
                self.arrays -= 1;
            }
            AccView::While(w) => {
                self.acc(&w.init);
                self.arrays += 1;
                self.acc(&w.cond);
                self.acc(&w.body);
                self.arrays -= 1;
            }
            AccView::Loop(l, _) => {
                self.acc(&l.init);
                self.acc(&l.xs);
                if let Trips::Times(n, _) = &l.trips {
                    self.exp(n);
                }
                self.arrays += 1;
                if let Trips::While(cond) = &l.trips {
                    self.acc(cond);
                }
                self.acc(&l.body);
                self.arrays -= 1;
            }
            AccView::Op(op) => op.visit(self),
        })
    }

    fn avar(&mut self, depth: usize) {
        if let Some(depth) = depth.checked_sub(self.arrays) {
            (self.array)(depth)
        }
    }
}

impl<E, A> ExpVisit<E, A> for Uses<'_> {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) {
        self.exp(e)
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) {
        self.avar(i.depth())
    }
}
impl<A> AccVisit<A> for Uses<'_> {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) {
        self.exp(e)
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) {
        self.acc(a)
    }
}
