//! Counts the nodes of a program, for tests, benchmarks and statistics.

use crate::ast::*;

/// Numbers of nodes of a program's tree. Variables count as nodes; a definition counts as one node in addition to its
/// parts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Nodes of array computations.
    pub arrays: usize,
    /// Definitions among them.
    pub array_lets: usize,
    /// Nodes of scalar code.
    pub scalars: usize,
    /// Definitions among them.
    pub scalar_lets: usize,
}

/// Counts the nodes of a program.
pub fn count(p: &Program) -> Counts {
    let mut counts = Counts::default();
    fresh2(|p1, r| counts.acc(&p.open(p1, r).body));
    counts
}

impl Counts {
    fn acc<A, R>(&mut self, a: &Acc<A, R>) {
        fresh2(|e, r| deep(|| self.acc_(&a.cast_env(name(e)).cast(name(r)))))
    }

    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>) {
        self.arrays += 1;
        fresh1(|n| match a.view(n) {
            AccView::Use(_) | AccView::Var(_) => {}
            AccView::Let(b, body, _) => {
                self.array_lets += 1;
                self.acc(&b);
                self.acc(&body)
            }
            AccView::While(w) => {
                self.acc(&w.init);
                self.acc(&w.cond);
                self.acc(&w.body)
            }
            AccView::Loop(l, _) => {
                self.acc(&l.init);
                self.acc(&l.xs);
                match &l.trips {
                    Trips::While(cond) => self.acc(cond),
                    Trips::Times(n, _) => AccVisit::exp(self, n),
                }
                self.acc(&l.body)
            }
            AccView::Op(op) => op.visit(self),
        })
    }

    fn exp<E, A, T>(&mut self, x: &Exp<E, A, T>) {
        fresh3(|e, a, t| deep(|| self.exp_(&x.cast_all(name(e), name(a), name(t)))))
    }

    fn exp_<'e, 'a, 't>(&mut self, x: &Exp<X<'e>, X<'a>, X<'t>>) {
        self.scalars += 1;
        fresh1(|n| match x.view(n) {
            ExpView::Const(_) | ExpView::Var(_) => {}
            ExpView::Let(b, body, _) => {
                self.scalar_lets += 1;
                self.exp(&b);
                self.exp(&body)
            }
            ExpView::While(w) => {
                self.exp(&w.init);
                self.exp(&w.cond);
                self.exp(&w.body)
            }
            ExpView::Loop(l) => {
                match &l.trips {
                    ExpTrips::While(cond) => self.exp(cond),
                    ExpTrips::Times(n) => self.exp(n),
                }
                self.exp(&l.init);
                self.exp(&l.xs);
                self.exp(&l.body)
            }
            ExpView::Op(op) => op.visit(self),
        })
    }
}

impl<A> AccVisit<A> for Counts {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) {
        self.exp(e)
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) {
        self.acc(a)
    }
}
impl<E, A> ExpVisit<E, A> for Counts {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) {
        self.exp(e)
    }
    fn avar<T>(&mut self, _: &Idx<A, T>) {}
}
