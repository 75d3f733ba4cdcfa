//! Keys of operations: two operations with the same key compute the same from the same inputs.
//!
//! The key of an operation consists of everything but the values of its inputs: its name and place in the source, the
//! types, the details and the scalar code. Array variables in the code are numbers of inputs. So a loop that is unrolled
//! a thousand times has a thousand steps, but only as many keys as its body has operations. Printed code cannot be a
//! key, because it does not distinguish all functions and constants.

use accel_core::ast::*;
use accel_core::repr::RawTy;
use std::fmt::Write;

/// The key of an operation with these inputs. `input` maps the De Bruijn index of an array variable to its input.
/// `args` are the inputs that are its arguments, and `part` is the component of its result that is wanted.
pub fn key<A, R>(
    op: &AccOp<'_, A, R>,
    ty: &RawTy,
    at: Src,
    inputs: &[RawTy],
    args: &[usize],
    part: &[bool],
    input: &dyn Fn(usize) -> usize,
) -> String {
    let mut key = Key { text: String::new(), input };
    key.write(format_args!(
        "{} {part:?} {:?} {ty} {args:?} {:?}",
        op.operation(),
        op.details(),
        at.map(|s| (s.name, s.at))
    ));
    inputs.iter().for_each(|t| key.write(format_args!(" {t}")));
    op.visit(&mut key);
    key.text
}

struct Key<'i> {
    text: String,
    input: &'i dyn Fn(usize) -> usize,
}

impl Key<'_> {
    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.text.write_fmt(text);
    }

    fn code<E, A, T>(&mut self, e: &Exp<E, A, T>) {
        self.write(format_args!("("));
        fresh3(|x, a, t| deep(|| self.code_(&e.cast_all(name(x), name(a), name(t)))));
        self.write(format_args!(")"));
    }

    // Generic in lifetimes only, so that it is compiled once.
    fn code_<'e, 'a, 't>(&mut self, e: &Exp<X<'e>, X<'a>, X<'t>>) {
        self.write(format_args!("{} ", e.ty().raw()));
        fresh1(|n| match e.view(n) {
            ExpView::Const(v) => {
                v.scalars().iter().for_each(|x| self.write(format_args!("{} {:x},", x.ty(), x.bits())));
            }
            ExpView::Var(i) => self.write(format_args!("x{}", i.depth())),
            ExpView::Let(b, body, _) => {
                self.write(format_args!("let"));
                self.code(&b);
                self.code(&body);
            }
            ExpView::While(w) => {
                self.write(format_args!("while {:?}", w.at));
                self.code(&w.cond);
                self.code(&w.body);
                self.code(&w.init);
            }
            ExpView::Loop(l) => {
                self.write(format_args!("loop {:?} {:?} {}", l.at, l.dir, l.row.raw()));
                match &l.trips {
                    ExpTrips::While(cond) => {
                        self.write(format_args!("while"));
                        self.code(cond);
                    }
                    ExpTrips::Times(n) => self.code(n),
                }
                self.code(&l.init);
                self.code(&l.xs);
                self.code(&l.body);
            }
            ExpView::Op(op) => {
                match &op {
                    ExpOp::Pair(..) => self.write(format_args!("pair")),
                    ExpOp::Fst(..) => self.write(format_args!("fst")),
                    ExpOp::Snd(..) => self.write(format_args!("snd")),
                    ExpOp::Prim1(p, _) => self.write(format_args!("{:?}", p.op())),
                    ExpOp::Prim2(p, _, _) => self.write(format_args!("{:?}", p.op())),
                    ExpOp::Cond(..) => self.write(format_args!("cond")),
                    ExpOp::Index(_, _, at) => self.write(format_args!("index {at:?}")),
                    ExpOp::Shape(..) => self.write(format_args!("shape")),
                    ExpOp::Emit { to, at, .. } => self.write(format_args!("emit {} {at:?}", to.position())),
                }
                op.visit(self)
            }
        })
    }
}

impl<E, A> ExpVisit<E, A> for Key<'_> {
    fn exp<T>(&mut self, e: &Exp<E, A, T>) {
        self.code(e)
    }
    fn avar<T>(&mut self, i: &Idx<A, T>) {
        let input = (self.input)(i.depth());
        self.write(format_args!(" a{input}"))
    }
}

impl<A> AccVisit<A> for Key<'_> {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) {
        self.code(e)
    }
    fn acc<T>(&mut self, _: &Acc<A, T>) {}
}
