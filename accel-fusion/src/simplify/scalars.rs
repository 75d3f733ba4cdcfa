//! Simplifies scalar expressions. Accepts any expression. In the result, no rule of `rules/` applies to an operation as
//! written, and no two visible operations compute the same.
//!
//! The expression is flattened: every operation becomes a definition of a [`Block`], with variables or constants as
//! operands. Rules inspect the definitions of the operands. If an operation was computed before, here or around the
//! branch, its variable takes its place (NOTE [Value numbering]). `inline_scalars.rs` then inlines the definitions that
//! are used only once.

use super::block::{Block, Out};
use super::operand_facts::{Facts, is_atom};
use super::projections::{is_projection, zero};
use super::rules::logic::{known, negated};
use super::rules::operations::variable;
use super::rules::rewrite;
use super::shapes::{Shapes, constant_element};
use super::stats::{Rule, Stats};
use super::value_numbers::{Key, Table};
use accel_core::ast::*;
use frunk::{HCons, HNil};

/// Maps the array variables of the old expression to the new ones.
pub enum Arrays<A0, A> {
    /// By a table.
    Table(Env<IdxF<A>, A0>),
    /// The environments are equal.
    Same(Equal<A0, A>),
}

impl<A0, A> Arrays<A0, A> {
    /// The new variable.
    pub fn get<T>(&self, i: &Idx<A0, T>) -> Idx<A, T> {
        match self {
            Arrays::Table(t) => t.get(i),
            Arrays::Same(q) => i.cast_env(*q),
        }
    }
}

/// The state that a whole function shares.
pub struct Code<'c, A> {
    /// The definitions of the array variables.
    pub arrays: &'c Env<AccF<A>, A>,
    /// The known shapes of the array variables.
    pub shapes: &'c Shapes,
    /// The values computed so far.
    pub table: Table<Key>,
    /// The applications of rules so far.
    pub stats: &'c mut Stats,
    /// Whether the expression is evaluated only once, so that work can be moved into it.
    pub once: bool,
    /// Whether the sign of a zero does not matter.
    pub unsigned_zeros: bool,
    /// Whether queries of shapes have been simplified already.
    pub resolved: bool,
}

/// Emits definitions for `e`. `env` maps its scalar variables to the new ones.
pub fn flatten<'m, 'z, 'a, E0, B, E, T>(
    e: &Exp<E0, X<'z>, T>,
    env: &Env<ExpF<E, X<'a>>, E0>,
    arrays: &Arrays<X<'z>, X<'a>>,
    block: &Block<X<'a>, B, E>,
    code: &mut Code<'_, X<'a>>,
    m: Guard<'m>,
) -> Out<'m, X<'a>, B, E, T> {
    fresh4(|e0, b, e1, t| {
        let (e0, b, e1, t) = (name(e0), name(b), name(e1), name(t));
        let env = env.cast_all(e0, e1);
        let block = Block { tele: block.tele.cast_all(Equal::refl(), b, e1), defs: block.defs.cast_all(e1, e1) };
        let out = named(&e.cast_all(e0, Equal::refl(), t), &env, arrays, &block, code, m);
        let tele = out.block.tele.cast_all(Equal::refl(), b.sym(), Equal::refl());
        Out {
            block: Block { tele, defs: out.block.defs },
            val: out.val.cast(t.sym()),
            up: out.up.cast(e1.sym(), Equal::refl()),
        }
    })
}

/// As [`flatten`], for environments that have names already.
fn named<'m, 'z, 'a, 'y, 'b, 'e, T>(
    e: &Exp<X<'y>, X<'z>, T>,
    env: &Env<ExpF<X<'e>, X<'a>>, X<'y>>,
    arrays: &Arrays<X<'z>, X<'a>>,
    block: &Block<X<'a>, X<'b>, X<'e>>,
    code: &mut Code<'_, X<'a>>,
    m: Guard<'m>,
) -> Out<'m, X<'a>, X<'b>, X<'e>, T> {
    deep(|| {
        fresh2(|n, p| match e.view(n) {
            ExpView::Const(v) => block.atom(&Exp::constant(&v, e.ty()), m),
            ExpView::Var(i) => block.atom(&env.get(&i), m),
            ExpView::Let(b, body, q) => {
                if fresh1(|n| matches!(b.view(n), ExpView::Var(_) | ExpView::Const(_))) {
                    code.stats.add(Rule::ScalarLet);
                }
                let b1 = named(&b, env, arrays, block, code, p);
                let env = env.weaken(&b1.up).push(&b1.val, b.ty()).cast_env(q.sym());
                after(b1.up, flatten(&body, &env, arrays, &b1.block, code, m))
            }
            ExpView::While(w) => loop_(&w, env, arrays, block, code, m),
            ExpView::Loop(l) => loop_with_lists(&l, env, arrays, block, code, m),
            ExpView::Op(op) => operation(&op, e.ty(), env, arrays, block, code, m),
        })
    })
}

/// Simplifies a loop. Condition and body have definitions of their own, since they are executed repeatedly.
fn loop_<'m, 'z, 'a, 'y, 'b, 'e, T>(
    w: &WhileView<'_, X<'y>, X<'z>, T>,
    env: &Env<ExpF<X<'e>, X<'a>>, X<'y>>,
    arrays: &Arrays<X<'z>, X<'a>>,
    block: &Block<X<'a>, X<'b>, X<'e>>,
    code: &mut Code<'_, X<'a>>,
    m: Guard<'m>,
) -> Out<'m, X<'a>, X<'b>, X<'e>, T> {
    fresh1(|p| {
        let init = named(&w.init, env, arrays, block, code, p);
        let t = w.init.ty();
        let state = Exp::var(&Idx::zero(t));
        let inner = env.weaken(&init.up).weaken(&Thinning::shift()).push(&state, t).cast_env(w.eq.sym());
        let defs = init.block.defs.weaken(&Thinning::shift()).push(&state, t);
        let once = std::mem::replace(&mut code.once, false);
        let cond = scoped(&w.cond, &inner, arrays, &defs, code);
        let body = scoped(&w.body, &inner, arrays, &defs, code);
        code.once = once;
        let out = init.block.emit(&Exp::while_(&cond, &body, &init.val, w.at), m);
        after(init.up, out)
    })
}

/// As [`loop_`], for a loop that reads and makes lists.
fn loop_with_lists<'m, 'z, 'a, 'y, 'b, 'e, T>(
    l: &LoopView<'_, X<'y>, X<'z>, T>,
    env: &Env<ExpF<X<'e>, X<'a>>, X<'y>>,
    arrays: &Arrays<X<'z>, X<'a>>,
    block: &Block<X<'a>, X<'b>, X<'e>>,
    code: &mut Code<'_, X<'a>>,
    m: Guard<'m>,
) -> Out<'m, X<'a>, X<'b>, X<'e>, T> {
    fresh3(|p, q, r| {
        let init = named(&l.init, env, arrays, block, code, p);
        let xs = named(&l.xs, &env.weaken(&init.up), arrays, &init.block, code, q);
        let n = match &l.trips {
            ExpTrips::Times(n) => named(n, &env.weaken(&init.up).weaken(&xs.up), arrays, &xs.block, code, r),
            ExpTrips::While(_) => xs.block.atom(&zero(&Ty::of()), r),
        };
        let after_init = xs.up.then(&n.up);
        let up = init.up.then(&after_init);
        let (state, row) = (Exp::var(&Idx::zero(l.init.ty())), Exp::var(&Idx::zero(&l.row)));
        let (t, shift) = (l.init.ty(), Thinning::shift());
        let env = env.weaken(&up).weaken(&shift).push(&state, t).cast_env(l.below_state.sym());
        let defs = n.block.defs.weaken(&shift).push(&state, t);
        let once = std::mem::replace(&mut code.once, false);
        let trips = match &l.trips {
            ExpTrips::Times(_) => ExpTrips::Times(n.val.clone()),
            ExpTrips::While(cond) => ExpTrips::While(scoped(cond, &env, arrays, &defs, code)),
        };
        let env = env.weaken(&Thinning::shift()).push(&row, &l.row).cast_env(l.below_row.sym());
        let defs = defs.weaken(&Thinning::shift()).push(&row, &l.row);
        let body = scoped(&l.body, &env, arrays, &defs, code);
        code.once = once;
        let (init, xs) = (init.val.weaken(&after_init), xs.val.weaken(&n.up));
        let all = Exp::loop_(&trips, l.dir, &init, (&xs, &l.row), &body, l.at).cast(l.eq.sym());
        after(up, n.block.emit(&all, m))
    })
}

/// Simplifies an expression that is executed conditionally or repeatedly. Its definitions stay around its result.
fn scoped<'z, 'a, E0, E, T>(
    e: &Exp<E0, X<'z>, T>,
    env: &Env<ExpF<E, X<'a>>, E0>,
    arrays: &Arrays<X<'z>, X<'a>>,
    defs: &Env<ExpF<E, X<'a>>, E>,
    code: &mut Code<'_, X<'a>>,
) -> Exp<E, X<'a>, T> {
    fresh1(|k| {
        let mark = code.table.enter();
        let out = flatten(e, env, arrays, &Block::start(defs), code, k);
        code.table.leave(mark);
        out.block.close(&out.val)
    })
}

/// Prepends the definitions of `up` to a result.
fn after<'m, 'k, A, B, E, T>(up: Thinning<E, X<'k>>, out: Out<'m, A, B, X<'k>, T>) -> Out<'m, A, B, E, T> {
    Out { up: up.then(&out.up), block: out.block, val: out.val }
}

fn operation<'n, 'm, 'z, 'a, 'y, 'b, 'e, T>(
    op: &ExpOp<'n, X<'y>, X<'z>, T>,
    ty: &Ty<T>,
    env: &Env<ExpF<X<'e>, X<'a>>, X<'y>>,
    arrays: &Arrays<X<'z>, X<'a>>,
    block: &Block<X<'a>, X<'b>, X<'e>>,
    code: &mut Code<'_, X<'a>>,
    m: Guard<'m>,
) -> Out<'m, X<'a>, X<'b>, X<'e>, T> {
    fresh2(|p, r| match op {
        ExpOp::Pair(a, b, q) => {
            let a = named(a, env, arrays, block, code, p);
            let b = named(b, &env.weaken(&a.up), arrays, &a.block, code, r);
            let e = Exp::pair(&a.val.weaken(&b.up), &b.val).cast(q.sym());
            after(a.up.then(&b.up), emit(e, &b.block, code, m))
        }
        ExpOp::Fst(a, q) => {
            let a = named(a, env, arrays, block, code, p);
            after(a.up, emit(a.val.cast(*q).fst(), &a.block, code, m))
        }
        ExpOp::Snd(a, _) if let Some(extent) = extent_of(a, arrays, code) => {
            code.stats.add(Rule::Shape);
            let Some(q) = Ty::<i64>::of().same(ty) else { unreachable!("extents are i64") };
            resolved(&extent.cast(q), block, code, m)
        }
        ExpOp::Snd(a, q) => {
            let a = named(a, env, arrays, block, code, p);
            let known = shape_chain(&a.val, Some(&a.block.defs), 0);
            let known = known.and_then(|(array, drop)| fresh1(|n| extent(&array.open(n), drop, code)));
            let out = match known.and_then(|e| Some(e.cast(e.ty().same(ty)?))) {
                Some(extent) => {
                    code.stats.add(Rule::Shape);
                    resolved(&extent, &a.block, code, m)
                }
                None => emit(a.val.cast(*q).snd(), &a.block, code, m),
            };
            after(a.up, out)
        }
        ExpOp::Prim1(o, a) => {
            let a = named(a, env, arrays, block, code, p);
            after(a.up, emit(Exp::prim1(*o, &a.val), &a.block, code, m))
        }
        ExpOp::Prim2(o, a, b) => {
            let a = named(a, env, arrays, block, code, p);
            let b = named(b, &env.weaken(&a.up), arrays, &a.block, code, r);
            let e = Exp::prim2(*o, &a.val.weaken(&b.up), &b.val);
            after(a.up.then(&b.up), emit(e, &b.block, code, m))
        }
        ExpOp::Cond(c, t, f) => {
            let c = named(c, env, arrays, block, code, p);
            let env = env.weaken(&c.up);
            // if true then a else b = a
            if let Some(known) = known(&c.val) {
                code.stats.add(Rule::KnownCondition);
                return after(c.up, named(if known { t } else { f }, &env, arrays, &c.block, code, m));
            }
            let t = scoped(t, &env, arrays, &c.block.defs, code);
            let f = scoped(f, &env, arrays, &c.block.defs, code);
            let facts = Facts { scalars: &c.block.defs, unsigned_zeros: code.unsigned_zeros };
            let negated = negated(&c.val, &facts);
            let out = match negated {
                _ if is_atom(&t) && is_atom(&f) => emit(Exp::cond(&c.val, &t, &f), &c.block, code, m),
                // if !c then a else b = if c then b else a
                Some(positive) => {
                    code.stats.add(Rule::BooleanCondition);
                    c.block.emit(&Exp::cond(&positive, &f, &t), m)
                }
                None => c.block.emit(&Exp::cond(&c.val, &t, &f), m),
            };
            after(c.up, out)
        }
        ExpOp::Index(array, ix, at) => {
            let array = arrays.get(array);
            let ix = named(ix, env, arrays, block, code, p);
            // The element of a constant array of rank 0.
            if let Some(v) = constant_element(&array, code.arrays) {
                code.stats.add(Rule::ConstantElement);
                return after(ix.up, ix.block.atom(&Exp::constant(&v, ty), m));
            }
            // (map w a) ! i = w (a ! i)
            let out = fresh2(|n, k| {
                let AccView::Op(AccOp::Map { f, a, eq }) = code.arrays.get(&array).view(n) else { return Err(m) };
                let Some(source) = variable(&a).filter(|_| is_projection(&f.0)) else { return Err(m) };
                code.stats.add(Rule::Retuple);
                let at_index = ix.val.cast(eq.sh());
                let x = emit(Exp::index(&source, &at_index, *at), &ix.block, code, k);
                let env = Env::empty().push(&x.val, x.val.ty());
                let y = flatten(&f.0.cast(eq.elt().sym()), &env, &Arrays::Same(Equal::refl()), &x.block, code, m);
                Ok(after(x.up, y))
            });
            let out = out.unwrap_or_else(|m| emit(Exp::index(&array, &ix.val, *at), &ix.block, code, m));
            after(ix.up, out)
        }
        ExpOp::Emit { token, to, ix, value, at, eq } => fresh1(|h| {
            let token = named(token, env, arrays, block, code, p);
            let ix = named(ix, &env.weaken(&token.up), arrays, &token.block, code, r);
            let up = token.up.then(&ix.up);
            let value = named(value, &env.weaken(&up), arrays, &ix.block, code, h);
            let token = token.val.weaken(&ix.up).weaken(&value.up).cast(*eq);
            let e = token.emit(to, &ix.val.weaken(&value.up), &value.val, *at).cast(eq.sym());
            after(up.then(&value.up), emit(e, &value.block, code, m))
        }),
        ExpOp::Shape(array, q) => {
            let array = arrays.get(array).cast(*q);
            let sh = if code.resolved { None } else { code.shapes.resolve(&array, code.arrays, code.once) };
            match sh {
                None => emit(Exp::shape(&array), block, code, m),
                Some(sh) => {
                    code.stats.add(Rule::Shape);
                    resolved(&sh, block, code, m)
                }
            }
        }
    })
}

/// Emits a shape or an extent in its simplest form.
fn resolved<'m, 'a, 'b, 'e, T>(
    e: &Exp<HNil, X<'a>, T>,
    block: &Block<X<'a>, X<'b>, X<'e>>,
    code: &mut Code<'_, X<'a>>,
    m: Guard<'m>,
) -> Out<'m, X<'a>, X<'b>, X<'e>, T> {
    let before = std::mem::replace(&mut code.resolved, true);
    let out = flatten(e, &Env::empty(), &Arrays::Same(Equal::refl()), block, code, m);
    code.resolved = before;
    out
}

/// `snd (fst (.. (shape a)))` in terms of other arrays. `e` is the operand of `snd`.
pub fn extent_of<'z, 'a, E, T>(
    e: &Exp<E, X<'z>, T>,
    arrays: &Arrays<X<'z>, X<'a>>,
    code: &Code<'_, X<'a>>,
) -> Option<Exp<HNil, X<'a>, i64>> {
    let (a, drop) = shape_chain(e, None, 0)?;
    fresh1(|n| extent(&arrays.get(&a.open(n)), drop, code))
}

/// An extent of an array in terms of other arrays.
fn extent<'a, T>(a: &Idx<X<'a>, T>, drop: usize, code: &Code<'_, X<'a>>) -> Option<Exp<HNil, X<'a>, i64>> {
    if code.resolved { None } else { code.shapes.resolve_one(a, drop, code.arrays, code.once) }
}

/// The array and the number of `fst` in `fst (fst (.. (shape a)))`. If definitions are given, variables are replaced by
/// them.
fn shape_chain<E, A, T>(
    e: &Exp<E, A, T>,
    defs: Option<&Env<ExpF<E, A>, E>>,
    drop: usize,
) -> Option<(SomeIdx<A>, usize)> {
    fresh2(|n, m| {
        let view = match (e.view(n), defs) {
            (ExpView::Var(i), Some(defs)) => defs.get(&i).view(m),
            _ => e.view(m),
        };
        match view {
            ExpView::Op(ExpOp::Shape(a, _)) => Some((SomeIdx::new(&a), drop)),
            ExpView::Op(ExpOp::Fst(a, _)) => shape_chain(&a, defs, drop + 1),
            _ => None,
        }
    })
}

/// Applies the rules to an operation on variables and constants, and emits the result.
fn emit<'m, 'a, 'b, 'k, T>(
    mut e: Exp<X<'k>, X<'a>, T>,
    block: &Block<X<'a>, X<'b>, X<'k>>,
    code: &mut Code<'_, X<'a>>,
    m: Guard<'m>,
) -> Out<'m, X<'a>, X<'b>, X<'k>, T> {
    let facts = Facts { scalars: &block.defs, unsigned_zeros: code.unsigned_zeros };
    while let Some((rule, simpler)) = rewrite(&e, &facts) {
        code.stats.add(rule);
        e = simpler;
    }
    let size = block.defs.size().get();
    let Some(key) = Key::of(&e, size, code.arrays.size().get()) else {
        // Variables and constants have no key.
        return if is_atom(&e) { block.atom(&e, m) } else { block.emit(&e, m) };
    };
    let known = code.table.get(&key).and_then(|level| {
        fresh1(|n| {
            let i = block.defs.variable(level, n)?;
            Some(Exp::var(&i).cast(i.ty().same(e.ty())?))
        })
    });
    match known {
        Some(x) => {
            if key.counts() {
                code.stats.add(Rule::CommonScalar);
            }
            block.atom(&x, m)
        }
        None => {
            code.table.insert(key, size);
            block.emit(&e, m)
        }
    }
}

/// The environment extended by the argument of a function.
pub fn with_argument<E, A, P>(env: &Env<ExpF<E, A>, E>, t: &Ty<P>) -> Env<ExpF<HCons<P, E>, A>, HCons<P, E>> {
    env.weaken(&Thinning::shift()).push(&Exp::var(&Idx::zero(t)), t)
}
