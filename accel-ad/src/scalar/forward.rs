//! Forward mode for scalar code: every value is followed by its tangent. Tangents that are known to be zero are not
//! computed.

use super::code::{Code, Emitted, materialise};
use super::lists::{lists, row_sum};
use crate::builders::{arg, args, has_tangent, let4};
use crate::rules::{self, Factor};
use accel_core::ast::*;
use accel_core::error::Error;
use accel_core::pass::{rename, rename_arrays, rename_arrays_of_custom, rename_custom_exp};
use frunk::{HCons, HNil};
use std::cell::RefCell;
use std::rc::Rc;

/// Maps the variables of a source environment `E0` to `E`: to their values and their tangents.
pub struct Duals<E0, E> {
    pub values: Env<IdxF<E>, E0>,
    pub tangents: Env<TanF<E>, E0>,
    /// For arrays: the number of accumulators to which scalar code emits. Those for the tangents come after them.
    pub accumulators: usize,
    /// Why there is no derivative.
    refused: Rc<RefCell<Option<Error>>>,
}

impl<E> Duals<HNil, E> {
    pub fn empty() -> Self {
        Duals::new(Env::empty(), Env::empty())
    }
}

impl<E0, E> Duals<E0, E> {
    pub fn new(values: Env<IdxF<E>, E0>, tangents: Env<TanF<E>, E0>) -> Self {
        Duals { values, tangents, accumulators: 0, refused: Rc::default() }
    }
    /// Other variables at the same place.
    fn with<F0, F>(&self, values: Env<IdxF<F>, F0>, tangents: Env<TanF<F>, F0>) -> Duals<F0, F> {
        Duals { values, tangents, accumulators: self.accumulators, refused: self.refused.clone() }
    }
    pub fn weaken<E2>(&self, r: &Thinning<E, E2>) -> Duals<E0, E2> {
        let (values, tangents) = (self.values.weaken(r), self.tangents.weaken(r));
        self.with(values, tangents)
    }
    pub fn push<B>(&self, x: &Idx<E, B>, dx: &SparseTangent<E, Tan<B>>) -> Duals<HCons<B, E0>, E> {
        let (values, tangents) = (self.values.push(x, x.ty()), self.tangents.push(dx, x.ty()));
        self.with(values, tangents)
    }
    pub fn cast<E1>(&self, q: Equal<E0, E1>) -> Duals<E1, E> {
        let (values, tangents) = (self.values.cast_env(q), self.tangents.cast_env(q));
        self.with(values, tangents)
    }
    pub fn recast<E2>(&self, q: Equal<E, E2>) -> Duals<E0, E2> {
        let (values, tangents) = (self.values.recast(q), self.tangents.recast(q));
        self.with(values, tangents)
    }
    /// The same arrays, for scalar code that emits to accumulators.
    pub fn emitting(&self, accumulators: usize) -> Duals<E0, E> {
        Duals { accumulators, ..self.with(self.values.clone(), self.tangents.clone()) }
    }
    /// Notes that something has no derivative.
    pub fn refuse(&self, why: Error) {
        self.refused.borrow_mut().get_or_insert(why);
    }
    /// Why there is no derivative, if something has none.
    pub fn refused(&self) -> Option<Error> {
        self.refused.borrow_mut().take()
    }
}

/// The code after a value and its tangent.
pub struct Forward<'m, A, B, E, T> {
    pub code: Code<A, B, X<'m>>,
    pub var: Idx<X<'m>, T>,
    pub tan: SparseTangent<X<'m>, Tan<T>>,
    pub up: Thinning<E, X<'m>>,
}

impl<'m, A, B, E, T> Forward<'m, A, B, E, T> {
    fn constant(e: Emitted<'m, A, B, E, T>) -> Self {
        Forward { code: e.code, var: e.var, tan: SparseTangent::zero(), up: e.up }
    }
    /// Adds a value whose tangent is known.
    fn then<'k, U>(
        &self,
        rhs: &Exp<X<'m>, A, U>,
        tan: &SparseTangent<X<'m>, Tan<U>>,
        k: Guard<'k>,
    ) -> Forward<'k, A, B, E, U> {
        let e = self.code.emit(rhs, k);
        Forward { code: e.code, var: e.var, tan: tan.weaken(&e.up), up: self.up.then(&e.up) }
    }
    /// Adds a value, and an expression for its tangent in terms of the value.
    fn then_with<'k, U>(
        &self,
        rhs: &Exp<X<'m>, A, U>,
        tan: impl for<'l> FnOnce(&Thinning<X<'m>, X<'l>>, &Exp<X<'l>, A, U>) -> Option<Exp<X<'l>, A, Tan<U>>>,
        k: Guard<'k>,
    ) -> Forward<'k, A, B, E, U> {
        fresh1(|l| {
            let e = self.code.emit(rhs, l);
            match tan(&e.up, &Exp::var(&e.var)) {
                Some(t) => {
                    let d = e.code.emit(&t, k);
                    let up = self.up.then(&e.up).then(&d.up);
                    Forward { var: d.up.at(&e.var), tan: SparseTangent::var(&d.var), code: d.code, up }
                }
                None => {
                    let q = name(k);
                    let up = self.up.then(&e.up).to(q);
                    Forward { code: e.code.rename(q), var: e.var.cast_env(q), tan: SparseTangent::zero(), up }
                }
            }
        })
    }
}

/// Emits the value and the tangent of `e`.
pub fn forward<'m, A0, A, B, E0, E, T>(
    e: &Exp<E0, A0, T>,
    scalars: &Duals<E0, E>,
    arrays: &Duals<A0, A>,
    code: &Code<A, B, E>,
    m: Guard<'m>,
) -> Forward<'m, A, B, E, T> {
    fresh6(|e0, e1, a0, a1, b, t| {
        let (e0, e1, a0, a1, b, t) = (name(e0), name(e1), name(a0), name(a1), name(b), name(t));
        let scalars = scalars.cast(e0).recast(e1);
        let arrays = arrays.cast(a0).recast(a1);
        let code = Code { tele: code.tele.cast_all(a1, b, e1), size: code.size.cast(e1) };
        let f = deep(|| forward_(&e.cast_all(e0, a0, t), &scalars, &arrays, &code, m));
        let same = Equal::refl();
        Forward {
            code: Code { tele: f.code.tele.cast_all(a1.sym(), b.sym(), same), size: f.code.size },
            var: f.var.cast(t.sym()),
            tan: f.tan.cast(eq_tan(t.sym())),
            up: f.up.cast(e1.sym(), same),
        }
    })
}

fn forward_<'m, 'z, 'e, 'y, 'a, 'b, 't>(
    e: &Exp<X<'z>, X<'y>, X<'t>>,
    scalars: &Duals<X<'z>, X<'e>>,
    arrays: &Duals<X<'y>, X<'a>>,
    code: &Code<X<'a>, X<'b>, X<'e>>,
    m: Guard<'m>,
) -> Forward<'m, X<'a>, X<'b>, X<'e>, X<'t>> {
    fresh5(|n, c, p, r, l| {
        if has_tangent(e.ty())
            && let Some(c) = e.custom(c)
        {
            let arg = forward(&c.arg, scalars, arrays, code, p);
            let functions = rename_arrays_of_custom(&c.functions, &arrays.values);
            let functions = rename_custom_exp(&functions, c.arg.ty(), &scalars.values.weaken(&arg.up));
            let value = Exp::with_rule(&Exp::var(&arg.var), &functions, c.at);
            return arg.then_with(
                &value,
                |up, y| {
                    let dx = Some(&arg.tan).filter(|d| !d.is_zero()).map(|d| materialise(d, &tan_ty(arg.var.ty())))?;
                    let at = Exp::pair(&Exp::var(&arg.var).weaken(up), &Exp::pair(y, &dx.weaken(up)));
                    Some(Exp::let_(&at, &functions.pushforward.weaken(&up.lift())))
                },
                m,
            );
        }
        let op = match e.view(n) {
            ExpView::Var(i) => {
                let q = name(m);
                let (var, tan) = (scalars.values.get(&i).cast_env(q), scalars.tangents.get(&i).cast_env(q));
                return Forward { code: code.rename(q), var, tan, up: Thinning::id().to(q) };
            }
            ExpView::Const(v) => return Forward::constant(code.emit(&Exp::constant(&v, e.ty()), m)),
            _ if !has_tangent(e.ty()) => return Forward::constant(code.emit(&moved(e, scalars, arrays), m)),
            ExpView::Let(b, body, q) => {
                let b = forward(&b, scalars, arrays, code, p);
                let scalars = scalars.weaken(&b.up).push(&b.var, &b.tan).cast(q.sym());
                let e = forward(&body, &scalars, arrays, &b.code, m);
                return Forward { up: b.up.then(&e.up), code: e.code, var: e.var, tan: e.tan };
            }
            ExpView::While(w) => return forward_while(&w, e.ty(), scalars, arrays, code, m),
            ExpView::Loop(l) => return forward_loop(&l, scalars, arrays, code, m),
            ExpView::Op(op) => op,
        };
        match op {
            ExpOp::Pair(a, b, q) => {
                let (a, da, b) = both(&a, &b, scalars, arrays, code, r);
                let tan = SparseTangent::pair(&da, &b.tan).cast(tan_pair().sym().then(eq_tan(q.sym())));
                b.then(&Exp::pair(&Exp::var(&a), &Exp::var(&b.var)).cast(q.sym()), &tan, m)
            }
            ExpOp::Fst(a, q) => {
                let a = forward(&a, scalars, arrays, code, p);
                let tan = a.tan.cast(eq_tan(q).then(tan_pair()));
                component(&a, &Exp::var(&a.var.cast(q)).fst(), &tan, |a, _| a, Exp::fst, l, m)
            }
            ExpOp::Snd(a, q) => {
                let a = forward(&a, scalars, arrays, code, p);
                let tan = a.tan.cast(eq_tan(q).then(tan_pair()));
                component(&a, &Exp::var(&a.var.cast(q)).snd(), &tan, |_, b| b, Exp::snd, l, m)
            }
            ExpOp::Prim1(o, a) => {
                let a = forward(&a, scalars, arrays, code, p);
                let rhs = Exp::prim1(o, &Exp::var(&a.var));
                let ta = tan_ty(a.var.ty());
                a.then_with(
                    &rhs,
                    |up, y| {
                        let d = Some(a.tan.weaken(up)).filter(|d| !d.is_zero()).map(|d| materialise(&d, &ta))?;
                        let x = Exp::var(&up.at(&a.var));
                        let (t, q, factor) = match o {
                            Prim1::Num(o, t, q) => (t.float()?, q, rules::num1(o, t.float()?, &x)),
                            Prim1::Float(o, t, q) => (t, q, rules::float1(o, t, &x, &y.cast(q.sym()))),
                            Prim1::Cast(from, to) => {
                                let (from, to) = (from.float()?, to.float()?);
                                let e =
                                    Exp::prim1(Prim1::Cast(from.num().any(), to.num().any()), &d.cast(tan_float(from)));
                                return Some(e.cast(tan_float(to).sym()));
                            }
                            Prim1::Test(..) | Prim1::Int(..) | Prim1::Not(..) | Prim1::Bits(..) => return None,
                        };
                        let dy = factor.apply(t, &d.cast(tan_float(t)))?;
                        Some(dy.cast(tan_float(t).sym().then(eq_tan(q))))
                    },
                    m,
                )
            }
            ExpOp::Prim2(o, a, b) => {
                let (a, da, b) = both(&a, &b, scalars, arrays, code, r);
                let rhs = Exp::prim2(o, &Exp::var(&a), &Exp::var(&b.var));
                let ta = tan_ty(a.ty());
                b.then_with(
                    &rhs,
                    |up, y| {
                        let (va, vb) = (Exp::var(&up.at(&a)), Exp::var(&up.at(&b.var)));
                        let (t, q, (fa, fb)) = match o {
                            Prim2::Num(o, t, q) => {
                                (t.float()?, q, rules::num2(o, t.float()?, &va, &vb, &y.cast(q.sym())))
                            }
                            Prim2::Float(o, t, q) => (t, q, rules::float2(o, t, &va, &vb, &y.cast(q.sym()))),
                            Prim2::Int(..) | Prim2::Cmp(..) | Prim2::Logic(..) => return None,
                        };
                        let term = |f: &Factor<_, _, _>, d: &SparseTangent<_, _>| {
                            let d = Some(d.weaken(up)).filter(|d| !d.is_zero()).map(|d| materialise(&d, &ta))?;
                            f.apply(t, &d.cast(tan_float(t)))
                        };
                        let dy = match (term(&fa, &da), term(&fb, &b.tan)) {
                            (Some(x), Some(y)) => crate::builders::add(&x, &y),
                            (x, y) => x.or(y)?,
                        };
                        Some(dy.cast(tan_float(t).sym().then(eq_tan(q))))
                    },
                    m,
                )
            }
            ExpOp::Cond(c, t, f) => {
                let c = code.emit(&moved(&c, scalars, arrays), p);
                let scalars = scalars.weaken(&c.up);
                let c = Forward::constant(c);
                let (t, f) =
                    (Branch::of(&t, &scalars, arrays, c.code.size), Branch::of(&f, &scalars, arrays, c.code.size));
                let test = Exp::var(&c.var);
                if t.constant && f.constant {
                    return c.then(&Exp::cond(&test, &t.both.fst(), &f.both.fst()), &SparseTangent::zero(), m);
                }
                let all = c.then(&Exp::cond(&test, &t.both, &f.both), &SparseTangent::zero(), r);
                split(&all, m)
            }
            ExpOp::Index(array, ix, at) => {
                let ix = Forward::constant(code.emit(&moved(&ix, scalars, arrays), p));
                let at_ix = Exp::var(&ix.var);
                let rhs = Exp::index(&arrays.values.get(&array), &at_ix, at);
                let tangents = arrays.tangents.get(&array).cast(tan_arr());
                ix.then_with(
                    &rhs,
                    |up, _| {
                        let SparseTangentView::Var(v) = tangents.view(l) else { return None };
                        Some(Exp::index(&v, &at_ix.weaken(up), at))
                    },
                    m,
                )
            }
            ExpOp::Shape(..) => Forward::constant(code.emit(&moved(e, scalars, arrays), m)),
            ExpOp::Emit { token, to, ix, value, at, eq } => {
                let token = forward(&token, scalars, arrays, code, p);
                let scalars = scalars.weaken(&token.up);
                let ix = token.code.emit(&moved(&ix, &scalars, arrays), r);
                let value = forward(&value, &scalars.weaken(&ix.up), arrays, &ix.code, l);
                let index = Exp::var(&value.up.at(&ix.var));
                let up = ix.up.then(&value.up);
                let emitted = Exp::var(&up.at(&token.var)).cast(eq).emit(&to, &index, &Exp::var(&value.var), at);
                let both = match value.tan.is_zero() {
                    true => emitted,
                    false => {
                        let tangent = materialise(&value.tan, &tan_ty(value.var.ty()));
                        let array = tan_ty(to.array()).cast(tan_arr());
                        let to = Accumulator::new(arrays.accumulators + to.position(), &array);
                        emitted.emit(&to, &index, &tangent, at)
                    }
                };
                let e = value.code.emit(&both.cast(eq.sym()), m);
                let up = up.then(&e.up);
                Forward { code: e.code, var: e.var, tan: token.tan.weaken(&up), up: token.up.then(&up) }
            }
        }
    })
}

/// Code without a tangent; only its variables are replaced.
fn moved<E0, E, A0, A, T>(e: &Exp<E0, A0, T>, scalars: &Duals<E0, E>, arrays: &Duals<A0, A>) -> Exp<E, A, T> {
    rename_arrays(&rename(e, &scalars.values), &arrays.values)
}

fn both<'m, A0, A, B, E0, E, P, Q>(
    a: &Exp<E0, A0, P>,
    b: &Exp<E0, A0, Q>,
    scalars: &Duals<E0, E>,
    arrays: &Duals<A0, A>,
    code: &Code<A, B, E>,
    m: Guard<'m>,
) -> (Idx<X<'m>, P>, SparseTangent<X<'m>, Tan<P>>, Forward<'m, A, B, E, Q>) {
    fresh1(|p| {
        let a = forward(a, scalars, arrays, code, p);
        let b = forward(b, &scalars.weaken(&a.up), arrays, &a.code, m);
        let up = a.up.then(&b.up);
        (b.up.at(&a.var), a.tan.weaken(&b.up), Forward { up, code: b.code, var: b.var, tan: b.tan })
    })
}

/// A component of a pair. If the tangent is a visible pair, the component is taken from it.
fn component<'k, 'm, 'l, A, B, E, W, P, Q, U>(
    a: &Forward<'k, A, B, E, W>,
    value: &Exp<X<'k>, A, U>,
    tan: &SparseTangent<X<'k>, (P, Q)>,
    visible: impl FnOnce(SparseTangent<X<'k>, P>, SparseTangent<X<'k>, Q>) -> SparseTangent<X<'k>, Tan<U>>,
    hidden: impl FnOnce(&Exp<X<'k>, A, (P, Q)>) -> Exp<X<'k>, A, Tan<U>>,
    l: Guard<'l>,
    m: Guard<'m>,
) -> Forward<'m, A, B, E, U> {
    match tan.view(l) {
        SparseTangentView::Zero => a.then(value, &SparseTangent::zero(), m),
        SparseTangentView::Pair(p, q, eq) => {
            let eq = eq.sym();
            a.then(value, &visible(p.cast(eq.fst()), q.cast(eq.snd())), m)
        }
        SparseTangentView::Var(i) => {
            let d = hidden(&Exp::var(&i));
            a.then_with(value, |up, _| Some(d.weaken(up)), m)
        }
    }
}

/// Splits a variable of pair type into value and tangent.
fn split<'k, 'm, A, B, E, T>(all: &Forward<'k, A, B, E, (T, Tan<T>)>, m: Guard<'m>) -> Forward<'m, A, B, E, T> {
    let v = Exp::var(&all.var);
    all.then_with(&v.fst(), |up, _| Some(v.snd().weaken(up)), m)
}

/// A branch as a single expression of value and tangent.
struct Branch<E, A, T> {
    both: Exp<E, A, (T, Tan<T>)>,
    /// The tangent is zero.
    constant: bool,
}
impl<E, A, T> Branch<E, A, T> {
    fn of<E0, A0>(e: &Exp<E0, A0, T>, scalars: &Duals<E0, E>, arrays: &Duals<A0, A>, size: Size<E>) -> Self {
        fresh1(|m| {
            let f = forward(e, scalars, arrays, &Code::start(size), m);
            let tan = materialise(&f.tan, &tan_ty(e.ty()));
            Branch { both: f.code.close(&Exp::pair(&Exp::var(&f.var), &tan)), constant: f.tan.is_zero() }
        })
    }
}

/// A loop whose state consists of value and tangent.
fn forward_while<'m, A0, A, B, E0, E, T>(
    w: &WhileView<'_, E0, A0, T>,
    t: &Ty<T>,
    scalars: &Duals<E0, E>,
    arrays: &Duals<A0, A>,
    code: &Code<A, B, E>,
    m: Guard<'m>,
) -> Forward<'m, A, B, E, T> {
    fresh4(|p, r, k, l| {
        let init = forward(&w.init, scalars, arrays, code, p);
        let state = Ty::pair(t, &tan_ty(t));
        let scalars = scalars.weaken(&init.up);
        let start = Exp::pair(&Exp::var(&init.var), &materialise(&init.tan, &tan_ty(t)));
        // In the scope of the state: split it, then continue as usual.
        let s = Exp::var(&Idx::zero(&state));
        let inner = Code::start(init.code.size.push());
        let x = inner.emit(&s.fst(), k);
        let dx = x.code.emit(&s.snd().weaken(&x.up), l);
        let up = Thinning::shift().then(&x.up).then(&dx.up);
        let scalars = scalars.weaken(&up).push(&dx.up.at(&x.var), &SparseTangent::var(&dx.var)).cast(w.eq.sym());
        let cond = dx.code.close(&moved(&w.cond, &scalars, arrays));
        let body = fresh1(|h| {
            let f = forward(&w.body, &scalars, arrays, &dx.code, h);
            f.code.close(&Exp::pair(&Exp::var(&f.var), &materialise(&f.tan, &tan_ty(t))))
        });
        let all = init.then(&Exp::while_(&cond, &body, &start, w.at), &SparseTangent::zero(), r);
        split(&all, m)
    })
}

/// A loop whose state, rows and listed rows consist of value and tangent.
fn forward_loop<'m, A0, A, B, E0, E, T>(
    w: &LoopView<'_, E0, A0, T>,
    scalars: &Duals<E0, E>,
    arrays: &Duals<A0, A>,
    code: &Code<A, B, E>,
    m: Guard<'m>,
) -> Forward<'m, A, B, E, T> {
    fresh5(|p, k, l, g, h| {
        let (xs, dxs, init) = both(&w.xs, &w.init, scalars, arrays, code, p);
        let scalars = scalars.weaken(&init.up);
        let t = w.init.ty();
        let start = Exp::pair(&Exp::var(&init.var), &materialise(&init.tan, &tan_ty(t)));
        let (dxs, tangent) = ([dxs.cast(tan_list())], tan_element(&w.row));
        let read = lists(&dxs, &tangent, g);
        let row = w.row.pair(&read.row);
        let xs = Exp::pair(&Exp::var(&xs), &read.xs).cast(list_pair().sym());

        let (state, outside) = (Ty::pair(t, &tan_ty(t)), init.code.size);
        let trips = match &w.trips {
            ExpTrips::Times(n) => ExpTrips::Times(moved(n, &scalars, arrays)),
            ExpTrips::While(cond) => ExpTrips::While({
                let x = Code::start(outside.push()).emit(&Exp::var(&Idx::zero(&state)).fst(), k);
                let scalars = scalars.weaken(&Thinning::shift()).weaken(&x.up);
                let scalars = scalars.push(&x.var, &SparseTangent::zero()).cast(w.below_state.sym());
                x.code.close(&moved(cond, &scalars, arrays))
            }),
        };
        // The body, below the state, its tangent, the row, and its tangent.
        let (x, dx) = (Idx::succ(&Idx::succ(&Idx::succ(&Idx::zero(t)))), Idx::succ(&Idx::succ(&Idx::zero(&tan_ty(t)))));
        let (y, dy) = (Idx::succ(&Idx::zero(&w.row)), SparseTangent::var(&Idx::zero(&tangent)));
        let dy = if dxs[0].is_zero() { SparseTangent::zero() } else { dy };
        let up = Thinning::shift().then(&Thinning::shift()).then(&Thinning::shift()).then(&Thinning::shift());
        let scalars = scalars.weaken(&up).push(&x, &SparseTangent::var(&dx)).cast(w.below_state.sym());
        let scalars = scalars.push(&y, &dy).cast(w.below_row.sym());
        let size = outside.push().push().push().push();
        let f = forward(&w.body, &scalars, arrays, &Code::start(size), l);
        let (v, d) = (Exp::var(&f.var), materialise(&f.tan, &tan_ty(w.body.ty())).cast(tan_pair()));
        let next = Exp::pair(&Exp::pair(&v.fst(), &d.fst()), &Exp::pair(&v.snd(), &d.snd()));
        let (s, r) = (Exp::var(&Idx::succ(&Idx::zero(&state))), Exp::var(&Idx::zero(&row)));
        let dr = row_sum(&dxs, &tangent, &r.snd());
        let up = Thinning::shift().then(&Thinning::shift());
        let body = let4((&s.fst(), &s.snd(), &r.fst(), &dr), &f.code.close(&next), &up);

        let all = Exp::loop_(&trips, w.dir, &start, (&xs, &row), &body, w.at);
        let all = init.then(&all, &SparseTangent::zero(), h);
        let v = Exp::var(&all.var);
        let lists = v.snd().cast(list_pair());
        let value = Exp::pair(&v.fst().fst(), &lists.fst()).cast(w.eq.sym());
        let tangent = Exp::pair(&v.fst().snd(), &lists.snd().cast(tan_list().sym()));
        let tangent = tangent.cast(tan_pair().sym().then(eq_tan(w.eq.sym())));
        all.then_with(&value, |up, _| Some(tangent.weaken(up)), m)
    })
}

/// A function of an argument and (unless it is zero) its tangent, which computes the value and the tangent of the
/// result.
pub struct FunForward<A, P, Q> {
    /// The value.
    pub value: Fun1<A, P, Q>,
    /// The tangent; `None` if it is zero.
    pub tangent: Option<Fun2<A, P, Tan<P>, Tan<Q>>>,
    /// Value and tangent together, for operators.
    pub both: Fun1<A, (P, Tan<P>), (Q, Tan<Q>)>,
}

/// Forward mode of a function. `varies` says whether the tangent of the argument can be different from zero.
pub fn fun_forward<A0, A, P, Q>(
    f: &Fun1<A0, P, Q>,
    p: &Ty<P>,
    varies: bool,
    arrays: &Duals<A0, A>,
) -> FunForward<A, P, Q> {
    let dq = tan_ty(f.0.ty());
    let value = Fun1(rename_arrays(&f.0, &arrays.values));
    let tangent = fresh1(|m| {
        let (x, dx) = (Idx::succ(&Idx::zero(p)), Idx::zero(&tan_ty(p)));
        let dx = if varies { SparseTangent::var(&dx) } else { SparseTangent::zero() };
        let scalars = Duals::empty().push(&x, &dx);
        let r = forward(&f.0, &scalars, arrays, &Code::start(Size::nil().push().push()), m);
        (!r.tan.is_zero()).then(|| Fun2(r.code.close(&materialise(&r.tan, &dq))))
    });
    let both = fresh3(|k, l, m| {
        let pair = arg(&Ty::pair(p, &tan_ty(p)));
        let x = Code::start(Size::nil().push()).emit(&pair.fst(), k);
        let dx = x.code.emit(&pair.snd().weaken(&x.up), l);
        let scalars = Duals::empty().push(&dx.up.at(&x.var), &SparseTangent::var(&dx.var));
        let r = forward(&f.0, &scalars, arrays, &dx.code, m);
        Fun1(r.code.close(&Exp::pair(&Exp::var(&r.var), &materialise(&r.tan, &dq))))
    });
    FunForward { value, tangent, both }
}

/// The tangent of a function of two arguments, each of which comes with its tangent; `None` if it is zero. `varies` says which of the
/// arguments' tangents can be different from zero.
pub fn tangent_of_two<A0, A, P, Q, R>(
    f: &Fun2<A0, P, Q, R>,
    (p, q): (&Ty<P>, &Ty<Q>),
    varies: [bool; 2],
    arrays: &Duals<A0, A>,
) -> Option<Fun2<A, (P, Tan<P>), (Q, Tan<Q>), Tan<R>>> {
    fresh5(|a, b, c, d, m| {
        let (xs, ys) = args(&Ty::pair(p, &tan_ty(p)), &Ty::pair(q, &tan_ty(q)));
        let x = Code::start(Size::nil().push().push()).emit(&xs.fst(), a);
        let y = x.code.emit(&ys.fst().weaken(&x.up), b);
        let dx = y.code.emit(&xs.snd().weaken(&x.up.then(&y.up)), c);
        let dy = dx.code.emit(&ys.snd().weaken(&x.up.then(&y.up).then(&dx.up)), d);
        let to_end = dx.up.then(&dy.up);
        let tangent_x = if varies[0] { SparseTangent::var(&dy.up.at(&dx.var)) } else { SparseTangent::zero() };
        let tangent_y = if varies[1] { SparseTangent::var(&dy.var) } else { SparseTangent::zero() };
        let scalars = Duals::empty().push(&y.up.then(&to_end).at(&x.var), &tangent_x);
        let scalars = scalars.push(&to_end.at(&y.var), &tangent_y);
        let r = forward(&f.0, &scalars, arrays, &dy.code, m);
        (!r.tan.is_zero()).then(|| Fun2(r.code.close(&materialise(&r.tan, &tan_ty(f.0.ty())))))
    })
}
