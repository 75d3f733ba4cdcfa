//! What the scalar code of an operation does: whether it reads the elements of an input or only its shape, and whether it
//! has loops.

use accel_core::ast::*;

/// What an operation with `n` inputs does. The other arguments are those of [`Operation`](crate::closed::Operation).
pub fn elements<A, R>(op: &AccOp<'_, A, R>, n: usize, args: &[usize], input: &dyn Fn(usize) -> usize) -> Elements {
    let mut found = Found { does: Elements { read: vec![false; n], loops: false }, input };
    args.iter().for_each(|k| found.does.read[*k] = true);
    op.visit(&mut found);
    found.does
}

/// What an operation does.
pub struct Elements {
    /// For each input: whether it is an argument of the operation, or scalar code reads its elements.
    pub read: Vec<bool>,
    /// Whether scalar code has loops.
    pub loops: bool,
}

struct Found<'i> {
    does: Elements,
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
                self.does.loops = true;
                self.code(&w.cond);
                self.code(&w.body);
                self.code(&w.init);
            }
            ExpView::Loop(l) => {
                self.does.loops = true;
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
        self.does.read[(self.input)(i.depth())] = true;
    }
}

impl<A> AccVisit<A> for Found<'_> {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) {
        self.code(e)
    }
    fn acc<T>(&mut self, _: &Acc<A, T>) {}
}
