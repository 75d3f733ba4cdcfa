//! Collects which array operations occur in a program, so that tests can tell whether they cover all of them.

use crate::ast::*;
use std::collections::BTreeSet;

/// The names of the array operations of a program, as in [`ACC_OPS`].
pub fn operations(p: &Program) -> BTreeSet<&'static str> {
    let mut found = Operations(BTreeSet::new());
    fresh2(|p1, r| found.acc(&p.open(p1, r).body));
    found.0
}

struct Operations(BTreeSet<&'static str>);

impl Operations {
    fn acc<A, R>(&mut self, a: &Acc<A, R>) {
        fresh2(|e, r| deep(|| self.acc_(&a.cast_env(name(e)).cast(name(r)))))
    }

    fn acc_<'a, 'r>(&mut self, a: &Acc<X<'a>, X<'r>>) {
        fresh1(|n| match a.view(n) {
            AccView::Use(_) | AccView::Var(_) => {}
            AccView::Let(b, body, _) => {
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
            AccView::Op(op) => {
                self.0.insert(op.operation());
                op.visit(self)
            }
        })
    }
}

impl<A> AccVisit<A> for Operations {
    fn exp<E, T>(&mut self, _: &Exp<E, A, T>) {}
    fn acc<T>(&mut self, a: &Acc<A, T>) {
        self.acc(a)
    }
}
