//! Prints array computations as documents.

use super::layout::{Doc, Printer, Scope};
use super::prim::{self, APPLY, ATOM, LOW, Prec};
use crate::ast::{
    Acc, AccOp, AccView, CustomView, Dir, Exp, SliceSpec, Src, Trips, Ty, X, deep, fresh1, fresh2, linearised, name,
};
use crate::repr::RawTy;
use frunk::{HCons, HNil};
use pretty::DocAllocator;

impl<'d> Printer<'d, '_> {
    /// Prints an array computation. In its context, everything that binds at least as tightly as `prec` needs no
    /// parentheses.
    pub fn acc<A, R>(&self, a: &Acc<A, R>, s: Scope, prec: Prec) -> Doc<'d> {
        fresh2(|n, m| deep(|| self.acc_(&a.cast_env(name(n)).cast(name(m)), s, prec)))
    }

    // Generic in lifetimes only, so that it is compiled once.
    fn acc_<'a, 'r>(&self, a: &Acc<X<'a>, X<'r>>, s: Scope, prec: Prec) -> Doc<'d> {
        if self.elided(s) {
            return self.text("…");
        }
        let below = s.deeper();
        if let Some(doc) = fresh1(|n| Some(self.custom(&a.custom(n)?, a.at(), s, prec))) {
            return doc;
        }
        fresh1(|n| match a.view(n) {
            AccView::Use(arrays) => {
                let head = self.operation("use", a.at()).append(" ");
                self.parens_if(prec > APPLY, head.append(prim::arrays(arrays.arrays(), arrays.ty().raw())))
            }
            AccView::Var(i) => self.array_var(&i, s),
            AccView::Let(b, body, _) => {
                let head = self.text("let ").append(self.binder('a', s.arrays, b.ty().raw())).append(" = ");
                let definition = head.append(self.acc(&b, below, LOW)).append(self.arena.hardline());
                let body = self.acc(&body, self.along(s).array(), LOW);
                self.parens_if_lines(prec > LOW, definition.append(body), s)
            }
            AccView::While(w) => {
                let inner = below.array();
                let arg = || vec![self.binder('a', s.arrays, a.ty().raw())];
                let cond = self.lambda(arg(), self.acc(&w.cond, inner, LOW), s);
                let body = self.lambda(arg(), self.acc(&w.body, inner, LOW), s);
                let args = vec![cond, body, self.acc(&w.init, below, ATOM)];
                self.parens_if(prec > APPLY, self.apply(self.operation("awhile", a.at()), args, s))
            }
            AccView::Loop(l, _) => {
                let inner = below.array();
                let arg = |t| vec![self.binder('a', s.arrays, t)];
                let steps = match &l.trips {
                    Trips::While(cond) => self.lambda(arg(l.init.ty().raw()), self.acc(cond, inner, LOW), s),
                    Trips::Times(n, _) => self.exp::<HNil, _, _>(n, below.closed(0), ATOM),
                };
                let name = match &l.trips {
                    Trips::While(_) => "unfold",
                    Trips::Times(_, Dir::Left) => "map_accum_l",
                    Trips::Times(_, Dir::Right) => "map_accum_r",
                };
                let body = self.lambda(arg(l.argument().raw()), self.acc(&l.body, inner, LOW), s);
                let args = vec![steps, body, self.acc(&l.init, below, ATOM), self.acc(&l.xs, below, ATOM)];
                self.parens_if(prec > APPLY, self.apply(self.operation(name, a.at()), args, s))
            }
            AccView::Op(op) => self.acc_op(&op, a.ty().raw(), a.at(), s, prec),
        })
    }

    /// Prints `with_rule function pushforward pullback argument`.
    fn custom<A, R>(&self, c: &CustomView<'_, A, R>, at: Src, s: Scope, prec: Prec) -> Doc<'d> {
        let below = s.deeper();
        let (p, r) = (c.arg.ty(), c.functions.function.ty());
        let args = vec![
            self.acc_below(&c.functions.function, p, s),
            self.acc_below(&c.functions.pushforward, &linearised(p, r, p), s),
            self.acc_below(&c.functions.pullback, &linearised(p, r, r), s),
            self.acc(&c.arg, below, ATOM),
        ];
        self.parens_if(prec > APPLY, self.apply(self.operation("with_rule", at), args, s))
    }

    /// Prints code below a variable as a function, in parentheses.
    fn acc_below<A, P, R>(&self, f: &Acc<HCons<P, A>, R>, arg: &Ty<P>, s: Scope) -> Doc<'d> {
        self.lambda(vec![self.binder('a', s.arrays, arg.raw())], self.acc(f, s.deeper().array(), LOW), s)
    }

    fn acc_op<'n, A, R>(&self, op: &AccOp<'n, A, R>, ty: &RawTy, at: Src, s: Scope, prec: Prec) -> Doc<'d> {
        let below = s.deeper();
        let (sh, elt) = shape_and_element(ty);
        let exp = |e| self.exp::<HNil, A, _>(e, below.closed(0), ATOM);
        let name = if let AccOp::Agree { .. } = op { "agree" } else { op.name() };
        let args = match op {
            AccOp::Unit { .. } => return self.text("()"),
            AccOp::Pair { a, b, .. } => {
                return self.list("(", vec![self.acc(a, below, LOW), self.acc(b, below, LOW)], ")", s);
            }
            AccOp::Fst { a, .. } => return self.acc(a, below, ATOM).append(".0"),
            AccOp::Snd { a, .. } => return self.acc(a, below, ATOM).append(".1"),
            AccOp::Cond { cond, then, otherwise, .. } => {
                let cond = self.exp(cond, below.closed(0), ATOM);
                vec![cond, self.acc(then, below, ATOM), self.acc(otherwise, below, ATOM)]
            }
            AccOp::Generate { sh: size, f, .. } => vec![exp(size), self.fun1(f, sh, s)],
            AccOp::Accumulate { sh: size, f, init, .. } => {
                vec![exp(size), self.fun1(f, size.ty().raw(), s), self.acc(init, below, ATOM)]
            }
            AccOp::Map { f, a, .. } => vec![self.fun1(f, element(a), s), self.acc(a, below, ATOM)],
            AccOp::Agree { agreement, user, left, right, a, .. } => {
                let of = self.text(format!("[{agreement} {user}]"));
                let (left, right) = (self.exp(left, below.closed(0), ATOM), self.exp(right, below.closed(0), ATOM));
                vec![of, left, right, self.acc(a, below, ATOM)]
            }
            AccOp::ZipWith { f, a, b, .. } => {
                let f = self.fun2(f, [element(a), element(b)], s);
                vec![f, self.acc(a, below, ATOM), self.acc(b, below, ATOM)]
            }
            AccOp::Fold { f, z, a, .. } | AccOp::Scan { f, z, a, .. } => {
                let z = self.exp(z, below.closed(0), ATOM);
                vec![self.fun2(f, [elt, elt], s), z, self.acc(a, below, ATOM)]
            }
            AccOp::Fold1 { f, a, .. } | AccOp::Scan1 { f, a, .. } => {
                vec![self.fun2(f, [elt, elt], s), self.acc(a, below, ATOM)]
            }
            AccOp::Permute { comb, defaults, index, a, .. } => vec![
                self.fun2(comb, [elt, elt], s),
                self.acc(defaults, below, ATOM),
                self.fun1(index, shape_and_element(a.ty().raw()).0, s),
                self.acc(a, below, ATOM),
            ],
            AccOp::Backpermute { sh: size, f, a, .. } => {
                vec![exp(size), self.fun1(f, sh, s), self.acc(a, below, ATOM)]
            }
            AccOp::Argsort { a, .. } => vec![self.acc(a, below, ATOM)],
            AccOp::Foreign { f, sh, a } => {
                let function = self.text(format!("{:?}", f.function.name()));
                vec![function, exp(sh), self.acc(a, below, ATOM)]
            }
            AccOp::Reshape { sh: size, a, .. } => vec![exp(size), self.acc(a, below, ATOM)],
            AccOp::Replicate { spec, slx, a, .. } => self.sliced(spec, slx, a, s),
            AccOp::Slice { spec, slx, a, .. } => self.sliced(spec, slx, a, s),
        };
        self.parens_if(prec > APPLY, self.apply(self.operation(name, at), args, s))
    }

    /// Prints the arguments of `slice` and `replicate`: `[:, 3] a0`, or `[:, _] x0 a0` if the indices are not visible.
    fn sliced<A, Slx, Small, Large, R>(
        &self,
        spec: &SliceSpec<Slx, Small, Large>,
        slx: &Exp<HNil, A, Slx>,
        a: &Acc<A, R>,
        s: Scope,
    ) -> Vec<Doc<'d>> {
        let below = s.deeper();
        let fixed = spec.kept().iter().filter(|kept| !**kept).count();
        let dims = self.literal_shape(slx, below.closed(0)).filter(|dims| dims.len() == fixed);
        let visible = dims.is_some();
        let mut dims = dims.unwrap_or_default().into_iter();
        let pattern = spec.kept().iter().map(|kept| match kept {
            true => self.text(":"),
            false => dims.next().unwrap_or_else(|| self.text("_")),
        });
        let mut args = vec![self.list("[", pattern.collect(), "]", s)];
        if !visible {
            args.push(self.exp(slx, below.closed(0), ATOM));
        }
        args.push(self.acc(a, below, ATOM));
        args
    }
}

/// The types of the shape and of the elements of an array type. For any other type, which occurs only in a broken tree,
/// the type itself.
fn shape_and_element(t: &RawTy) -> (&RawTy, &RawTy) {
    match t {
        RawTy::Array(p) => (&p.0, &p.1),
        t => (t, t),
    }
}

fn element<A, R>(a: &Acc<A, R>) -> &RawTy {
    shape_and_element(a.ty().raw()).1
}
