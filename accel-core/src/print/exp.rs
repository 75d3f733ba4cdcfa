//! Prints scalar expressions as documents.

use super::layout::{Doc, Printer, Scope};
use super::prim::{self, APPLY, AS, ATOM, LOW, Prec, Style1, Style2, UNARY};
use crate::ast::{
    CustomExpView, Dir, Exp, ExpOp, ExpTrips, ExpView, Fun1, Fun2, Idx, LoopView, Ty, X, deep, fresh1, fresh3,
    linearised, name,
};
use crate::repr::RawTy;
use frunk::HCons;
use pretty::DocAllocator;

impl<'d> Printer<'d, '_> {
    /// Prints an expression. In its context, everything that binds at least as tightly as `prec` needs no parentheses.
    pub fn exp<E, A, T>(&self, e: &Exp<E, A, T>, s: Scope, prec: Prec) -> Doc<'d> {
        fresh3(|n, m, k| deep(|| self.exp_(&e.cast_all(name(n), name(m), name(k)), s, prec)))
    }

    // Generic in lifetimes only, so that it is compiled once.
    fn exp_<'e, 'a, 't>(&self, e: &Exp<X<'e>, X<'a>, X<'t>>, s: Scope, prec: Prec) -> Doc<'d> {
        if self.elided(s) {
            return self.text("…");
        }
        let below = s.deeper();
        if let Some(doc) = fresh1(|n| Some(self.custom_exp(&e.custom(n)?, s, prec))) {
            return doc;
        }
        fresh1(|n| match e.view(n) {
            ExpView::Const(v) => {
                let text = prim::constant(e.ty().raw(), &mut v.scalars().iter().copied());
                self.parens_if(prec > UNARY && text.starts_with('-'), self.text(text))
            }
            ExpView::Var(i) => self.scalar_var(&i, s),
            ExpView::Let(..) => {
                let chain = self.let_chain(e, s, true).group();
                self.parens_if_lines(prec > LOW, chain, s)
            }
            ExpView::While(w) => {
                let inner = below.scalars(1);
                let arg = || vec![self.binder('x', s.scalars, e.ty().raw())];
                let cond = self.lambda(arg(), self.exp(&w.cond, inner, LOW), s);
                let body = self.lambda(arg(), self.exp(&w.body, inner, LOW), s);
                let init = self.exp(&w.init, below, ATOM);
                let head = self.operation("while", w.at);
                self.parens_if(prec > APPLY, self.apply(head, vec![cond, body, init], s))
            }
            ExpView::Loop(l) => self.loop_(&l, s, prec),
            ExpView::Op(op) => self.exp_op(&op, e.ty().raw(), s, prec),
        })
    }

    /// Prints `with_rule function pushforward pullback argument`.
    fn custom_exp<E, A, T>(&self, c: &CustomExpView<'_, E, A, T>, s: Scope, prec: Prec) -> Doc<'d> {
        let (p, t) = (c.arg.ty(), c.functions.function.ty());
        let args = vec![
            self.exp_below(&c.functions.function, p, s),
            self.exp_below(&c.functions.pushforward, &linearised(p, t, p), s),
            self.exp_below(&c.functions.pullback, &linearised(p, t, t), s),
            self.exp(&c.arg, s.deeper(), ATOM),
        ];
        self.parens_if(prec > APPLY, self.apply(self.operation("with_rule", c.at), args, s))
    }

    /// Prints code below a variable as a function, in parentheses.
    fn exp_below<E, A, P, T>(&self, f: &Exp<HCons<P, E>, A, T>, arg: &Ty<P>, s: Scope) -> Doc<'d> {
        self.lambda(vec![self.binder('x', s.scalars, arg.raw())], self.exp(f, s.deeper().scalars(1), LOW), s)
    }

    /// `while_list cond body init`, or `map_accum_l n body init xs`.
    fn loop_<E, A, T>(&self, l: &LoopView<'_, E, A, T>, s: Scope, prec: Prec) -> Doc<'d> {
        let below = s.deeper();
        let state = || self.binder('x', s.scalars, l.init.ty().raw());
        let row = self.binder('x', s.scalars + 1, l.row.raw());
        let (head, trips) = match (&l.trips, l.dir) {
            (ExpTrips::While(cond), _) => {
                ("while_list", self.lambda(vec![state()], self.exp(cond, below.scalars(1), LOW), s))
            }
            (ExpTrips::Times(n), Dir::Left) => ("map_accum_l", self.exp(n, below, ATOM)),
            (ExpTrips::Times(n), Dir::Right) => ("map_accum_r", self.exp(n, below, ATOM)),
        };
        let body = self.lambda(vec![state(), row], self.exp(&l.body, below.scalars(2), LOW), s);
        let mut parts = vec![trips, body, self.exp(&l.init, below, ATOM)];
        if let ExpTrips::Times(_) = l.trips {
            parts.push(self.exp(&l.xs, below, ATOM));
        }
        self.parens_if(prec > APPLY, self.apply(self.operation(head, l.at), parts, s))
    }

    /// Prints a chain of definitions. A single definition may share its line with the body; several get one line each.
    fn let_chain<E, A, T>(&self, e: &Exp<E, A, T>, s: Scope, first: bool) -> Doc<'d> {
        fresh3(|n, m, k| deep(|| self.let_chain_(&e.cast_all(name(n), name(m), name(k)), s, first)))
    }

    fn let_chain_<'e, 'a, 't>(&self, e: &Exp<X<'e>, X<'a>, X<'t>>, s: Scope, first: bool) -> Doc<'d> {
        fresh1(|n| match e.view(n) {
            ExpView::Let(b, body, _) if !self.elided(s) && !has_rule(e) => {
                let head = self.text("let ").append(self.binder('x', s.scalars, b.ty().raw())).append(" = ");
                let definition = head.append(self.exp(&b, s.deeper(), LOW));
                let body = self.let_body(&body, s);
                let next = self.arena.hardline().flat_alt(" in ");
                // Only a chain of a single definition may stay on one line.
                if first && !body.1 {
                    definition.append(next).append(body.0)
                } else {
                    definition.append(self.arena.hardline()).append(body.0)
                }
            }
            _ => self.exp(e, s, LOW),
        })
    }

    /// The body of a definition, and whether the body is a definition, too.
    fn let_body<E, A, T>(&self, body: &Exp<E, A, T>, s: Scope) -> (Doc<'d>, bool) {
        let more = fresh1(|n| matches!(body.view(n), ExpView::Let(..))) && !has_rule(body);
        (self.let_chain(body, self.along(s).scalars(1), false), more)
    }

    fn exp_op<'n, E, A, T>(&self, op: &ExpOp<'n, E, A, T>, ty: &RawTy, s: Scope, prec: Prec) -> Doc<'d> {
        let below = s.deeper();
        match op {
            ExpOp::Pair(a, b, _) if prim::is_shape(ty) => self.list("[", self.dims(a, b, below), "]", s),
            ExpOp::Pair(a, b, _) => self.list("(", vec![self.exp(a, below, LOW), self.exp(b, below, LOW)], ")", s),
            ExpOp::Fst(a, _) => self.exp(a, below, ATOM).append(".0"),
            ExpOp::Snd(a, _) => self.exp(a, below, ATOM).append(".1"),
            ExpOp::Prim1(p, a) => match prim::style1(p.op()) {
                Style1::Prefix(op) => self.parens_if(prec > UNARY, self.text(op).append(self.exp(a, below, APPLY))),
                Style1::Function(f) => {
                    self.parens_if(prec > APPLY, self.text(f).append(" ").append(self.exp(a, below, ATOM)))
                }
                Style1::As(t) => {
                    let x = self.exp(a, below, AS);
                    self.parens_if(prec > AS, x.append(" as ").append(t))
                }
            },
            ExpOp::Prim2(p, a, b) => {
                let name = p.op().name();
                let infix = |own: Prec, left: Prec| {
                    // `(x + y) + z` is `x + y + z`: the left operand joins the chain, which is filled line by line.
                    let left = self.exp(a, self.along(s), left);
                    let right = self.arena.line().append(name).append(" ").append(self.exp(b, below, own + 1));
                    self.parens_if(prec > own, left.append(self.indent(right.group(), s)))
                };
                match prim::style2(p.op()) {
                    Style2::Infix(own) => infix(own, own),
                    Style2::Compare(own) => infix(own, own + 1),
                    Style2::Function => {
                        let args = vec![self.exp(a, below, ATOM), self.exp(b, below, ATOM)];
                        self.parens_if(prec > APPLY, self.apply(self.text(name), args, s))
                    }
                }
            }
            ExpOp::Cond(c, t, e) => {
                let line = self.arena.line();
                let cond = self.block(self.text("if"), self.exp(c, below, LOW), s);
                let then = self.block(self.text("then"), self.exp(t, below, LOW), s);
                let otherwise = self.block(self.text("else"), self.exp(e, below, LOW), s);
                let all = cond.append(line.clone()).append(then).append(line).append(otherwise);
                self.parens_if(prec > LOW, all.group())
            }
            ExpOp::Index(a, ix, at) => {
                let array = self.array_var(a, s);
                match self.literal_shape(ix, below) {
                    Some(dims) => array.append(self.operation("", *at)).append(self.list("[", dims, "]", s)),
                    None => {
                        let op = self.operation("!", *at);
                        let read = array.append(" ").append(op).append(" ").append(self.exp(ix, below, ATOM));
                        self.parens_if(prec > APPLY, read)
                    }
                }
            }
            ExpOp::Shape(a, _) => self.parens_if(prec > APPLY, self.text("shape ").append(self.array_var(a, s))),
            ExpOp::Emit { token, to, ix, value, at, .. } => {
                let to = self.text(to.position().to_string());
                let args =
                    vec![self.exp(token, below, ATOM), to, self.exp(ix, below, ATOM), self.exp(value, below, ATOM)];
                self.parens_if(prec > APPLY, self.apply(self.operation("emit", *at), args, s))
            }
        }
    }

    fn scalar_var<E, T>(&self, i: &Idx<E, T>, s: Scope) -> Doc<'d> {
        self.variable('x', i.depth(), s.scalars)
    }

    /// Prints an array variable, in scalar or in array code.
    pub fn array_var<A, T>(&self, i: &Idx<A, T>, s: Scope) -> Doc<'d> {
        self.variable('a', i.depth(), s.arrays)
    }

    /// Prints the extents of the shape `(sh, n)`; `..sh` if the extents of `sh` are not visible.
    fn dims<E, A, Sh, N>(&self, sh: &Exp<E, A, Sh>, n: &Exp<E, A, N>, s: Scope) -> Vec<Doc<'d>> {
        let mut dims =
            self.literal_shape(sh, s).unwrap_or_else(|| vec![self.text("..").append(self.exp(sh, s.deeper(), LOW))]);
        dims.push(self.exp(n, s, LOW));
        dims
    }

    /// Prints the extents of a shape that is written as pairs or as a constant.
    pub fn literal_shape<E, A, T>(&self, e: &Exp<E, A, T>, s: Scope) -> Option<Vec<Doc<'d>>> {
        if !prim::is_shape(e.ty().raw()) || self.elided(s) {
            return None;
        }
        fresh1(|n| match e.view(n) {
            ExpView::Const(v) => Some(v.scalars().iter().map(|x| self.text(prim::scalar(*x))).collect()),
            ExpView::Op(ExpOp::Pair(a, b, _)) => Some(self.dims(&a, &b, s)),
            _ => None,
        })
    }

    /// Prints a function of one argument, in parentheses.
    pub fn fun1<A, P, R>(&self, f: &Fun1<A, P, R>, arg: &RawTy, s: Scope) -> Doc<'d> {
        let args = vec![self.binder('x', 0, arg)];
        self.lambda(args, self.exp(&f.0, s.deeper().closed(1), LOW), s)
    }

    /// Prints a function of two arguments, in parentheses.
    pub fn fun2<A, P, Q, R>(&self, f: &Fun2<A, P, Q, R>, args: [&RawTy; 2], s: Scope) -> Doc<'d> {
        let args = vec![self.binder('x', 0, args[0]), self.binder('x', 1, args[1])];
        self.lambda(args, self.exp(&f.0, s.deeper().closed(2), LOW), s)
    }
}

fn has_rule<E, A, T>(e: &Exp<E, A, T>) -> bool {
    fresh1(|n| e.custom(n).is_some())
}
