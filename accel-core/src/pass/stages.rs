//! The stages of a program: what its operations compute, each as a program of the same argument.

use crate::ast::*;

/// The arrays that a program computes on the way, each as a program of the same argument, and the user's operation that computes it. What an
/// operation uses comes before it. A conditional and a loop are one operation, whatever is inside.
pub fn stages(p: &Program) -> Vec<(Source, Program)> {
    let mut found = vec![];
    fresh2(|p1, r| {
        let p = p.open(p1, r);
        Stages { close: &|part| Program::new(&p.arg, part), found: &mut found }.acc(&p.body);
    });
    found
}

/// `close` makes a program of a computation in the scope of the definitions around it.
struct Stages<'f, A> {
    close: &'f dyn for<'r> Fn(&Acc<A, X<'r>>) -> Program,
    found: &'f mut Vec<(Source, Program)>,
}

impl<A> Stages<'_, A> {
    fn acc<R>(&mut self, a: &Acc<A, R>) {
        fresh2(|e, r| {
            let (qe, close) = (name(e), self.close);
            let mut inner = Stages { close: &|part| close(&part.cast_env(qe.sym())), found: self.found };
            deep(|| inner.acc_(&a.cast_env(qe).cast(name(r))))
        })
    }
}

impl<'a> Stages<'_, X<'a>> {
    fn acc_<'r>(&mut self, a: &Acc<X<'a>, X<'r>>) {
        fresh1(|n| match a.view(n) {
            AccView::Use(_) | AccView::Var(_) => (),
            AccView::Let(b, body, q) => {
                self.acc(&b);
                let close = self.close;
                let close = |part: &Acc<_, X<'_>>| close(&Acc::let_(&b, &part.cast_env(q)));
                Stages { close: &close, found: self.found }.acc(&body)
            }
            AccView::While(w) => self.acc(&w.init),
            AccView::Loop(l, _) => {
                self.acc(&l.init);
                self.acc(&l.xs);
            }
            // A branch that is not taken may fail.
            AccView::Op(AccOp::Cond { .. }) => {}
            AccView::Op(op) => op.visit(self),
        });
        if let Some(at) = a.at() {
            self.found.push((at, (self.close)(a)));
        }
    }
}

impl<A> AccVisit<A> for Stages<'_, A> {
    fn exp<E, T>(&mut self, _: &Exp<E, A, T>) {}
    fn acc<T>(&mut self, a: &Acc<A, T>) {
        Stages::acc(self, a)
    }
}
