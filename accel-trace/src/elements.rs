//! Which inputs of an operation its result depends on by their elements, not only by their shapes.

use accel_core::ast::*;

/// For each of `n` inputs: whether it is an argument of the operation, or scalar code reads its elements. The other
/// arguments are those of [`Operation`](crate::closed::Operation).
pub fn elements<A, R>(op: &AccOp<'_, A, R>, n: usize, args: &[usize], input: &dyn Fn(usize) -> usize) -> Vec<bool> {
    let mut found = Found { read: vec![false; n], input };
    args.iter().for_each(|k| found.read[*k] = true);
    op.visit(&mut found);
    found.read
}

struct Found<'i> {
    read: Vec<bool>,
    input: &'i dyn Fn(usize) -> usize,
}

impl Found<'_> {
    fn code<E, A, T>(&mut self, e: &Exp<E, A, T>) {
        fresh3(|x, a, t| deep(|| self.code_(&e.cast_all(name(x), name(a), name(t)))));
    }

    // Generic in lifetimes only, so that it is compiled once.
    fn code_<'e, 'a, 't>(&mut self, e: &Exp<X<'e>, X<'a>, X<'t>>) {
        fresh1(|n| match e.view(n) {
            ExpView::Const(_) | ExpView::Var(_) => {}
            ExpView::Let(b, body, _) => {
                self.code(&b);
                self.code(&body);
            }
            ExpView::While(w) => {
                self.code(&w.cond);
                self.code(&w.body);
                self.code(&w.init);
            }
            ExpView::Loop(l) => {
                match &l.trips {
                    ExpTrips::While(cond) => self.code(cond),
                    ExpTrips::Times(n) => self.code(n),
                }
                self.code(&l.init);
                self.code(&l.xs);
                self.code(&l.body);
            }
            ExpView::Op(ExpOp::Shape(..)) => {}
            ExpView::Op(op) => op.visit(self),
        })
    }
}

impl<E, A> ExpVisit<E, A> for Found<'_> {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) {
        self.code(e)
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) {
        self.read[(self.input)(i.depth())] = true;
    }
}

impl<A> AccVisit<A> for Found<'_> {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) {
        self.code(e)
    }
    fn acc<T>(&mut self, _: &Acc<A, T>) {}
}
