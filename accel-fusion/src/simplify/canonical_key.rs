//! Canonical keys: writes expressions as lists of numbers, so that equal expressions have equal lists.

use super::operand_facts::constant;
use accel_core::ast::*;

/// How array variables are numbered, and which expressions are written.
pub trait Names<A> {
    /// The number of a variable.
    fn array<T>(&mut self, i: &Idx<A, T>) -> u64;
    /// Whether the writer continues with a scalar operation.
    fn accepts<E, T>(&mut self, _: &ExpOp<'_, E, A, T>) -> bool {
        true
    }
}

/// Numbers variables by their De Bruijn level, in an environment of this size.
pub struct Levels(pub usize);
impl<A> Names<A> for Levels {
    fn array<T>(&mut self, i: &Idx<A, T>) -> u64 {
        (self.0 - 1 - i.depth()) as u64
    }
}

/// Writes expressions.
struct Tokens<'n, N> {
    out: Vec<u64>,
    names: &'n mut N,
    failed: bool,
}

/// The key of an expression; `None` if `names` does not accept it.
pub fn expression<E, A, T>(e: &Exp<E, A, T>, names: &mut impl Names<A>) -> Option<Vec<u64>> {
    let mut tokens = Tokens { out: vec![], names, failed: false };
    tokens.exp(e);
    (!tokens.failed).then_some(tokens.out)
}

/// The key of an operation on variables; `None` for anything else.
pub fn operation<A, R>(a: &Acc<A, R>, names: &mut impl Names<A>) -> Option<Vec<u64>> {
    let mut tokens = Tokens { out: vec![], names, failed: false };
    fresh1(|n| {
        let AccView::Op(op) = a.view(n) else { return None };
        if let AccOp::Cond { .. } = &op {
            return None;
        }
        tokens.text(op.operation());
        for detail in op.details() {
            match detail {
                Detail::Dir(dir) => tokens.out.push(u64::from(dir == Dir::Left)),
                Detail::Agreement(agreement) => tokens.text(agreement.name()),
                Detail::User(name) => tokens.text(name),
                Detail::Kept(kept) => {
                    tokens.out.push(kept.len() as u64);
                    tokens.out.extend(kept.iter().map(|k| u64::from(*k)))
                }
            }
        }
        op.visit(&mut tokens);
        (!tokens.failed).then_some(tokens.out)
    })
}

/// Whether it pays to compute the operation only once. Projections from tuples of arrays cost nothing.
pub fn counts<A, R>(a: &Acc<A, R>) -> bool {
    let free = |op: &AccOp<'_, A, R>| {
        matches!(op, AccOp::Unit { .. } | AccOp::Pair { .. } | AccOp::Fst { .. } | AccOp::Snd { .. })
    };
    fresh1(|n| matches!(a.view(n), AccView::Op(op) if !free(&op)))
}

impl<N> Tokens<'_, N> {
    fn text(&mut self, s: &str) {
        self.out.push(s.len() as u64);
        let word = |bytes: &[u8]| bytes.iter().fold(0, |w, b| w << 8 | u64::from(*b));
        self.out.extend(s.as_bytes().chunks(8).map(word));
    }

    fn exp<E, A, T>(&mut self, e: &Exp<E, A, T>)
    where
        N: Names<A>,
    {
        deep(|| fresh1(|n| self.view(e, &e.view(n))))
    }

    fn view<E, A, T>(&mut self, e: &Exp<E, A, T>, view: &ExpView<'_, E, A, T>)
    where
        N: Names<A>,
    {
        match view {
            ExpView::Const(_) => {
                let scalars = constant(e).map_or(vec![], |v| v.scalars().to_vec());
                self.out.extend([0, scalars.len() as u64]);
                self.out.extend(scalars.into_iter().flat_map(|s| [s.ty() as u64, s.bits()]));
            }
            ExpView::Var(i) => self.out.extend([1, i.depth() as u64]),
            ExpView::Let(b, body, _) => {
                self.out.push(2);
                self.exp(b);
                self.exp(body)
            }
            ExpView::While(w) => {
                self.out.push(3);
                self.exp(&w.cond);
                self.exp(&w.body);
                self.exp(&w.init)
            }
            ExpView::Loop(l) => {
                self.out.extend([12, u64::from(l.dir == Dir::Left), l.row.raw().width() as u64]);
                match &l.trips {
                    ExpTrips::While(cond) => {
                        self.out.push(0);
                        self.exp(cond)
                    }
                    ExpTrips::Times(n) => {
                        self.out.push(1);
                        self.exp(n)
                    }
                }
                self.exp(&l.body);
                self.exp(&l.init);
                self.exp(&l.xs)
            }
            ExpView::Op(op) if self.names.accepts(op) => self.op(op),
            ExpView::Op(_) => self.failed = true,
        }
    }

    fn op<E, A, T>(&mut self, op: &ExpOp<'_, E, A, T>)
    where
        N: Names<A>,
    {
        match op {
            ExpOp::Pair(a, b, _) => {
                self.out.push(4);
                self.exp(a);
                self.exp(b)
            }
            ExpOp::Fst(a, _) => {
                self.out.push(5);
                self.exp(a)
            }
            ExpOp::Snd(a, _) => {
                self.out.push(6);
                self.exp(a)
            }
            ExpOp::Cond(c, t, f) => {
                self.out.push(7);
                self.exp(c);
                self.exp(t);
                self.exp(f)
            }
            ExpOp::Index(a, ix, _) => {
                let a = self.names.array(a);
                self.out.extend([8, a]);
                self.exp(ix)
            }
            ExpOp::Shape(a, _) => {
                let a = self.names.array(a);
                self.out.extend([9, a])
            }
            ExpOp::Emit { token, to, ix, value, .. } => {
                self.out.extend([13, to.position() as u64]);
                self.exp(token);
                self.exp(ix);
                self.exp(value)
            }
            ExpOp::Prim1(p, a) => {
                self.out.push(10);
                self.text(&p.op().to_string());
                self.exp(a)
            }
            ExpOp::Prim2(p, a, b) => {
                self.out.push(11);
                self.text(p.op().name());
                self.exp(a);
                self.exp(b)
            }
        }
    }
}

impl<A, N: Names<A>> AccVisit<A> for Tokens<'_, N> {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) {
        self.exp(e)
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) {
        fresh1(|n| match a.view(n) {
            AccView::Var(i) => {
                let a = self.names.array(&i);
                self.out.push(a)
            }
            _ => self.failed = true,
        })
    }
}
