//! Simplifies array computations. Accepts any computation. In the result, no rule applies to an operation as written,
//! including its scalar code, and no two visible operations compute the same.
//!
//! As for scalar code (`scalars.rs`), every operation becomes a definition of an [`ABlock`], with variables as its
//! array operands. `inline_arrays.rs` then inlines the definitions that are used only once.

use super::block::{ABlock, AOut, Block};
use super::checks::{Checks, is_only_checked, standing, unchecked};
use super::fixpoint_cache::{FixpointCache, key};
use super::inline_scalars::inline;
use super::options::Options;
use super::projections::is_projection;
use super::rules::logic::known;
use super::rules::operations::{AFacts, variable};
use super::scalars::{Arrays, Code, flatten, with_argument};
use super::shapes::Shapes;
use super::stats::{Rule, Stats};
use super::value_numbers::Table;
use accel_core::ast::*;
use accel_core::pass::canonical_key::{self, Levels};
use accel_core::pass::rename_arrays;
use accel_core::repr::RawTy;
use frunk::{HCons, HNil};

/// The state that the whole program shares.
pub struct State {
    /// The known shapes of the variables in scope.
    pub shapes: Shapes,
    /// The arrays computed so far.
    pub table: Table<Vec<u64>>,
    /// The applications of rules so far.
    pub stats: Stats,
    /// The scalar code that needs no further simplification, of this round and of earlier ones.
    pub cache: FixpointCache,
    /// The rules that may be used.
    options: Options,
    /// The number of loops around the current computation.
    loops: usize,
}

impl State {
    /// The state at the beginning of a round.
    pub fn new(stats: Stats, cache: FixpointCache, options: Options) -> Self {
        State { shapes: Shapes::default(), table: Table::default(), stats, cache, options, loops: 0 }
    }
}

/// Simplifies the body of a program with an argument of type `t`.
pub fn body<'p, 'r>(
    t: &Ty<X<'p>>,
    e: &Acc<HCons<X<'p>, HNil>, X<'r>>,
    w: &mut State,
) -> Acc<HCons<X<'p>, HNil>, X<'r>> {
    let i = Idx::zero(t);
    let defs = Env::empty().push(&Acc::var(&i), t);
    let env = Env::empty().push(&i, t);
    w.shapes.define(t.raw(), None);
    scoped(e, &env, &defs, w)
}

/// Simplifies a computation that is executed conditionally or repeatedly. Its definitions stay around its result.
fn scoped<A0, A, R>(e: &Acc<A0, R>, env: &Env<IdxF<A>, A0>, defs: &Env<AccF<A>, A>, w: &mut State) -> Acc<A, R> {
    fresh1(|k| {
        let (shapes, mark) = (w.shapes.enter(), w.table.enter());
        let out = flatten_arrays(e, env, &ABlock::start(defs), w, k);
        w.shapes.leave(shapes);
        w.table.leave(mark);
        out.block.close(&Acc::var(&out.var))
    })
}

/// Emits definitions for `e`. `env` maps its variables to the new ones.
fn flatten_arrays<'m, B, A0, A, R>(
    e: &Acc<A0, R>,
    env: &Env<IdxF<A>, A0>,
    block: &ABlock<B, A>,
    w: &mut State,
    m: Guard<'m>,
) -> AOut<'m, B, A, R> {
    fresh4(|a0, a1, b, r| {
        let (a0, a1, b, r) = (name(a0), name(a1), name(b), name(r));
        let block = ABlock { tele: block.tele.cast_all(b, a1), defs: block.defs.cast_all(a1, a1) };
        let env = env.cast_all(a0, a1);
        let out = deep(|| number_acc_(&e.cast_env(a0).cast(r), &env, &block, w, m));
        AOut {
            block: ABlock { tele: out.block.tele.cast_all(b.sym(), Equal::refl()), defs: out.block.defs },
            var: out.var.cast(r.sym()),
            up: out.up.cast(a1.sym(), Equal::refl()),
        }
    })
}

fn number_acc_<'m, 'z, 'a, 'b, 'r>(
    e: &Acc<X<'z>, X<'r>>,
    env: &Env<IdxF<X<'a>>, X<'z>>,
    block: &ABlock<X<'b>, X<'a>>,
    w: &mut State,
    m: Guard<'m>,
) -> AOut<'m, X<'b>, X<'a>, X<'r>> {
    fresh2(|n, p| match e.view(n) {
        AccView::Use(lit) => emit(Acc::use_(&lit, e.at()), block, w, m),
        AccView::Var(i) => block.alias(&env.get(&i), m),
        AccView::Let(b, body, q) => {
            if fresh1(|n| matches!(b.view(n), AccView::Var(_))) {
                w.stats.add(Rule::ArrayLet);
            }
            let b = flatten_arrays(&b, env, block, w, p);
            let env = env.weaken(&b.up).push(&b.var, b.var.ty()).cast_env(q.sym());
            after(b.up, flatten_arrays(&body, &env, &b.block, w, m))
        }
        AccView::While(l) => {
            let init = flatten_arrays(&l.init, env, block, w, p);
            let (env, defs) = (env.weaken(&init.up), &init.block.defs);
            let cond = below(&l.cond.cast_env(l.eq), e.ty(), &env, defs, w);
            let body = below(&l.body.cast_env(l.eq), e.ty(), &env, defs, w);
            let rhs = Acc::while_(&cond, &body, &Acc::var(&init.var), e.at());
            after(init.up, emit(rhs, &init.block, w, m))
        }
        AccView::Loop(l, q) => loop_(&l, e, q, env, block, w, m),
        AccView::Op(op) => operation(&op, e, env, block, w, m),
    })
}

#[allow(clippy::too_many_arguments)]
fn loop_<'m, 'z, 'a, 'b, S, P, Y, R>(
    l: &ALoop<X<'z>, S, P, Y>,
    e: &Acc<X<'z>, R>,
    q: Equal<R, (S, Batched<Y>)>,
    env: &Env<IdxF<X<'a>>, X<'z>>,
    block: &ABlock<X<'b>, X<'a>>,
    w: &mut State,
    m: Guard<'m>,
) -> AOut<'m, X<'b>, X<'a>, R> {
    fresh2(|p, k| {
        let init = flatten_arrays(&l.init, env, block, w, p);
        let env = env.weaken(&init.up);
        let xs = flatten_arrays(&l.xs, &env, &init.block, w, k);
        let env = env.weaken(&xs.up);
        let trips = match &l.trips {
            Trips::While(cond) => Trips::While(below(cond, l.init.ty(), &env, &xs.block.defs, w)),
            Trips::Times(n, dir) => Trips::Times(Scalars::new(&env, &xs.block.defs, w).exp(n), *dir),
        };
        let body = below(&l.body, &l.argument(), &env, &xs.block.defs, w);
        let init = (Acc::var(&xs.up.at(&init.var)), init.up);
        let l = ALoop { user: l.user, trips, init: init.0, xs: Acc::var(&xs.var), body };
        let rhs = Acc::loop_(&l, e.at()).cast(q.sym());
        after(init.1.then(&xs.up), emit(rhs, &xs.block, w, m))
    })
}

/// Simplifies a computation inside of a loop, in the scope of a variable of type `t`.
fn below<A0, A, T, R>(
    e: &Acc<HCons<T, A0>, R>,
    t: &Ty<T>,
    env: &Env<IdxF<A>, A0>,
    defs: &Env<AccF<A>, A>,
    w: &mut State,
) -> Acc<HCons<T, A>, R> {
    let v = Idx::zero(t);
    let inner = env.weaken(&Thinning::shift()).push(&v, t);
    let defs = defs.weaken(&Thinning::shift()).push(&Acc::var(&v), t);
    let scope = w.shapes.enter();
    w.shapes.define(t.raw(), None);
    w.loops += 1;
    let e = scoped(e, &inner, &defs, w);
    w.loops -= 1;
    w.shapes.leave(scope);
    e
}

/// Prepends the definitions of `up` to a result.
fn after<'m, 'k, B, A, R>(up: Thinning<A, X<'k>>, out: AOut<'m, B, X<'k>, R>) -> AOut<'m, B, A, R> {
    AOut { up: up.then(&out.up), block: out.block, var: out.var }
}

fn operation<'n, 'm, 'z, 'a, 'b, 'r>(
    op: &AccOp<'n, X<'z>, X<'r>>,
    e: &Acc<X<'z>, X<'r>>,
    env: &Env<IdxF<X<'a>>, X<'z>>,
    block: &ABlock<X<'b>, X<'a>>,
    w: &mut State,
    m: Guard<'m>,
) -> AOut<'m, X<'b>, X<'a>, X<'r>> {
    let at = e.at();
    fresh1(|k| match op {
        AccOp::Unit { eq } => emit(Acc::unit().cast(eq.sym()), block, w, m),
        AccOp::Generate { sh, f, eq } => {
            let mut c = Scalars::new(env, &block.defs, w);
            let t = e.ty().cast(*eq).sh_elt().0;
            let rhs = Acc::generate(&t, &c.exp(sh), &c.fun1(f, sh.ty()), at).cast(eq.sym());
            emit(rhs, block, w, m)
        }
        AccOp::Accumulate { sh, f, init, eq } => one(init, env, block, w, (k, m), |mut c, init| {
            let t = e.ty().cast(*eq).parts().0.sh_elt().0;
            Acc::accumulate(&t, &c.exp(sh), &c.fun1(f, sh.ty()), &init, at).cast(eq.sym())
        }),
        AccOp::Cond { cond, then, otherwise } => {
            let cond = Scalars::new(env, &block.defs, w).exp(cond);
            // if true then a else b = a
            if let Some(c) = known(&cond) {
                w.stats.add(Rule::KnownCondition);
                return flatten_arrays(if c { then } else { otherwise }, env, block, w, m);
            }
            let (t, f) = (scoped(then, env, &block.defs, w), scoped(otherwise, env, &block.defs, w));
            emit(Acc::cond(&cond, &t, &f, at), block, w, m)
        }
        AccOp::Pair { a, b, eq } => two(a, b, env, block, w, m, |_, a, b| Acc::pair(&a, &b).cast(eq.sym())),
        // `emit` adds the check again.
        AccOp::Agree { .. } if let Some(operation) = unchecked(e) => flatten_arrays(&operation, env, block, w, m),
        AccOp::Agree { agreement, user, left, right, a, eq } => {
            let a = flatten_arrays(a, env, block, w, k);
            let env = env.weaken(&a.up);
            // agree s t a = a if s = t: this holds for most of them, so it is tried first.
            let (s, t) = (rename_arrays(left, &env), rename_arrays(right, &env));
            if w.shapes.agree(*agreement, &s, &t) {
                w.stats.add(Rule::Agree);
                return after(a.up, a.block.alias(&a.var.cast(eq.sym()), m));
            }
            let mut c = Scalars::new(&env, &a.block.defs, w);
            let rhs = Acc::agree(*agreement, user, &c.exp(left), &c.exp(right), &Acc::var(&a.var), at).cast(eq.sym());
            after(a.up, emit(rhs, &a.block, w, m))
        }
        AccOp::ZipWith { f, a, b, eq } => two(a, b, env, block, w, m, |mut c, x, y| {
            Acc::zip_with(&c.fun2(f, &a.sh_elt().1, &b.sh_elt().1), &x, &y, at).cast(eq.sym())
        }),
        AccOp::Permute { comb, defaults, index, a, eq } => two(defaults, a, env, block, w, m, |mut c, d, x| {
            let t = a.sh_elt().1;
            Acc::permute(&c.fun2(comb, &t, &t), &d, &c.fun1(index, &a.sh_elt().0), &x, at).cast(eq.sym())
        }),
        AccOp::Fst { a, eq } => one(a, env, block, w, (k, m), |_, a| a.cast(*eq).fst()),
        AccOp::Snd { a, eq } => one(a, env, block, w, (k, m), |_, a| a.cast(*eq).snd()),
        AccOp::Map { f, a, eq } => {
            let t = a.sh_elt().1;
            one(a, env, block, w, (k, m), |mut c, a| Acc::map(&c.fun1(f, &t), &a, at).cast(eq.sym()))
        }
        AccOp::Fold { f, z, a, eq } => one(a, env, block, w, (k, m), |mut c, a| {
            Acc::fold(&c.fun2(f, z.ty(), z.ty()), &c.exp(z), &a, at).cast(eq.sym())
        }),
        AccOp::Fold1 { f, a, eq } => {
            let t = a.sh_elt().1;
            one(a, env, block, w, (k, m), |mut c, a| Acc::fold1(&c.fun2(f, &t, &t), &a, at).cast(eq.sym()))
        }
        AccOp::Scan { dir, f, z, a, eq } => one(a, env, block, w, (k, m), |mut c, a| {
            Acc::scan(*dir, &c.fun2(f, z.ty(), z.ty()), &c.exp(z), &a, at).cast(eq.sym())
        }),
        AccOp::Scan1 { dir, f, a, eq } => {
            let t = a.sh_elt().1;
            one(a, env, block, w, (k, m), |mut c, a| Acc::scan1(*dir, &c.fun2(f, &t, &t), &a, at).cast(eq.sym()))
        }
        AccOp::Backpermute { sh, f, a, eq } => one(a, env, block, w, (k, m), |mut c, a| {
            let t = e.ty().cast(*eq).sh_elt().0;
            Acc::backpermute(&t, &c.exp(sh), &c.fun1(f, sh.ty()), &a, at).cast(eq.sym())
        }),
        AccOp::Argsort { key, a, eq } => {
            one(a, env, block, w, (k, m), |_, a| Acc::argsort(*key, &a, at).cast(eq.sym()))
        }
        AccOp::Foreign { f, sh, a } => one(a, env, block, w, (k, m), |mut c, a| {
            let result = ArraysTy::of(e.ty()).expect("a foreign function computes arrays");
            Acc::foreign(f, &c.exp(sh), &a, &result, at)
        }),
        AccOp::Reshape { sh, a, eq } => {
            let t = e.ty().cast(*eq).sh_elt().0;
            one(a, env, block, w, (k, m), |mut c, a| Acc::reshape(&t, &c.exp(sh), &a, at).cast(eq.sym()))
        }
        AccOp::Replicate { spec, slx, a, eq } => {
            one(a, env, block, w, (k, m), |mut c, a| Acc::replicate(spec, &c.exp(slx), &a, at).cast(eq.sym()))
        }
        AccOp::Slice { spec, slx, a, eq } => {
            one(a, env, block, w, (k, m), |mut c, a| Acc::slice(spec, &c.exp(slx), &a, at).cast(eq.sym()))
        }
    })
}

/// Emits an operation on one array.
fn one<'m, 'k, 'z, 'b, A, P, R>(
    a: &Acc<X<'z>, P>,
    env: &Env<IdxF<A>, X<'z>>,
    block: &ABlock<X<'b>, A>,
    w: &mut State,
    (k, m): (Guard<'k>, Guard<'m>),
    op: impl FnOnce(Scalars<'_, 'z, 'k>, Acc<X<'k>, P>) -> Acc<X<'k>, R>,
) -> AOut<'m, X<'b>, A, R> {
    let a = flatten_arrays(a, env, block, w, k);
    let rhs = op(Scalars::new(&env.weaken(&a.up), &a.block.defs, w), Acc::var(&a.var));
    after(a.up, emit(rhs, &a.block, w, m))
}

/// Emits an operation on two arrays.
fn two<'m, 'z, 'b, A, P, Q, R>(
    a: &Acc<X<'z>, P>,
    b: &Acc<X<'z>, Q>,
    env: &Env<IdxF<A>, X<'z>>,
    block: &ABlock<X<'b>, A>,
    w: &mut State,
    m: Guard<'m>,
    op: impl for<'k> FnOnce(Scalars<'_, 'z, 'k>, Acc<X<'k>, P>, Acc<X<'k>, Q>) -> Acc<X<'k>, R>,
) -> AOut<'m, X<'b>, A, R> {
    fresh2(|p, k| {
        let a = flatten_arrays(a, env, block, w, p);
        let env = env.weaken(&a.up);
        let b = flatten_arrays(b, &env, &a.block, w, k);
        let first = Acc::var(&b.up.at(&a.var));
        let rhs = op(Scalars::new(&env.weaken(&b.up), &b.block.defs, w), first, Acc::var(&b.var));
        after(a.up.then(&b.up), emit(rhs, &b.block, w, m))
    })
}

/// Applies the rules to an operation on variables, and emits the result.
fn emit<'m, 'b, 'k, R>(
    mut e: Acc<X<'k>, R>,
    block: &ABlock<X<'b>, X<'k>>,
    w: &mut State,
    m: Guard<'m>,
) -> AOut<'m, X<'b>, X<'k>, R> {
    while let Some((rule, simpler)) = (AFacts { defs: &block.defs, shapes: &w.shapes }).rewrite(&e) {
        w.stats.add(rule);
        e = simpler;
    }
    if let Some(i) = variable(&e) {
        return block.alias(&i, m);
    }
    let m = match widening(&e, block, w, m) {
        Ok(out) => return out,
        Err(m) => m,
    };
    let size = block.defs.size().get();
    let key = canonical_key::operation(&e, &mut Levels(size));
    let known = key.as_ref().and_then(|key| {
        fresh1(|n| {
            let i = block.defs.variable(w.table.get(key)?, n)?;
            let q = i.ty().same(e.ty())?;
            Some(i.cast(q))
        })
    });
    if let Some(i) = known {
        // Arrays around checks that stand by themselves are written for each of them.
        if canonical_key::counts(&e) && !is_only_checked(e.ty()) {
            w.stats.add(Rule::CommonArray);
        }
        return block.alias(&i, m);
    }
    if let Some(key) = key {
        w.table.insert(key, size);
    }
    let checked = Checks { shapes: &w.shapes, defs: &block.defs, once: w.loops == 0 }.checked(&e);
    let origins = w.shapes.origins(&e);
    w.shapes.define(e.ty().raw(), origins);
    let rhs = checked.map(|c| standing(&c).unwrap_or(c));
    block.emit(&rhs.unwrap_or_else(|| e.clone()), &e, m)
}

/// `backpermute sh f (map w a)` = `map w (backpermute sh f a)` and similar rules, if the elements of `a` are not
/// larger.
fn widening<'m, 'b, 'k, R>(
    e: &Acc<X<'k>, R>,
    block: &ABlock<X<'b>, X<'k>>,
    whole: &mut State,
    m: Guard<'m>,
) -> Result<AOut<'m, X<'b>, X<'k>, R>, Guard<'m>> {
    let at = e.at();
    fresh3(|n, p, k| {
        let AccView::Op(op) = e.view(n) else { return Err(m) };
        macro_rules! push {
            ($a:ident, $eq:ident, $op:expr) => {{
                let Some(i) = variable(&$a) else { return Err(m) };
                let AccView::Op(AccOp::Map { f: w, a: source, eq: q }) = block.defs.get(&i).view(p) else {
                    return Err(m);
                };
                let from = source.sh_elt().1.raw().width();
                if !is_projection(&w.0) || from > $a.sh_elt().1.raw().width() {
                    return Err(m);
                }
                whole.stats.add(Rule::Retuple);
                let inner = $op(source.cast(eq_arr(q.sh().sym(), Equal::refl())));
                let inner = emit(inner, block, whole, k);
                let w = w.cast(Equal::refl(), q.elt().sym()).aweaken(&inner.up);
                let outer = Acc::map(&w, &Acc::var(&inner.var), at).cast($eq.sym());
                Ok(after(inner.up, emit(outer, &inner.block, whole, m)))
            }};
        }
        match op {
            AccOp::Agree { agreement, user, left, right, a, eq } => {
                push!(a, eq, |a| Acc::agree(agreement, user, &left, &right, &a, at))
            }
            AccOp::Backpermute { sh, f, a, eq } => {
                let t = e.ty().cast(eq).sh_elt().0;
                push!(a, eq, |a| Acc::backpermute(&t, &sh, &f, &a, at))
            }
            AccOp::Reshape { sh, a, eq } => {
                let t = e.ty().cast(eq).sh_elt().0;
                push!(a, eq, |a| Acc::reshape(&t, &sh, &a, at))
            }
            AccOp::Replicate { spec, slx, a, eq } => push!(a, eq, |a| Acc::replicate(&spec, &slx, &a, at)),
            AccOp::Slice { spec, slx, a, eq } => push!(a, eq, |a| Acc::slice(&spec, &slx, &a, at)),
            // Their elements are not those of one source.
            AccOp::Unit { .. }
            | AccOp::Pair { .. }
            | AccOp::Fst { .. }
            | AccOp::Snd { .. }
            | AccOp::Cond { .. }
            | AccOp::Generate { .. }
            | AccOp::Map { .. }
            | AccOp::ZipWith { .. }
            | AccOp::Fold { .. }
            | AccOp::Fold1 { .. }
            | AccOp::Scan { .. }
            | AccOp::Scan1 { .. }
            | AccOp::Permute { .. }
            | AccOp::Accumulate { .. }
            | AccOp::Foreign { .. }
            | AccOp::Argsort { .. } => Err(m),
        }
    })
}

/// Simplifies the scalar code of an array operation.
struct Scalars<'w, 'z, 'a> {
    arrays: Env<IdxF<X<'a>>, X<'z>>,
    defs: Env<AccF<X<'a>>, X<'a>>,
    whole: &'w mut State,
}

impl<'w, 'z, 'a> Scalars<'w, 'z, 'a> {
    fn new(env: &Env<IdxF<X<'a>>, X<'z>>, defs: &Env<AccF<X<'a>>, X<'a>>, whole: &'w mut State) -> Self {
        Scalars { arrays: env.clone(), defs: defs.clone(), whole }
    }
    fn code<E, T>(
        &mut self,
        e: &Exp<E, X<'z>, T>,
        args: &Env<ExpF<E, X<'a>>, E>,
        types: &[&RawTy],
        once: bool,
    ) -> Exp<E, X<'a>, T> {
        let unsigned_zeros = self.whole.options.unsigned_zeros;
        let State { shapes, stats, cache, .. } = self.whole;
        let arrays = Arrays::Table(self.arrays.clone());
        let before = stats.total();
        let mut code =
            Code { arrays: &self.defs, shapes, table: Table::default(), stats, once, unsigned_zeros, resolved: false };
        if key(e, types, &arrays, &code).is_some_and(|t| cache.contains(&t)) {
            return rename_arrays(e, &self.arrays);
        }
        let flat = fresh1(|k| {
            let out = flatten(e, args, &arrays, &Block::start(args), &mut code, k);
            out.block.close(&out.val)
        });
        let inlined = inline(&flat, args, code.stats);
        if code.stats.total() == before {
            cache.extend(key(&inlined, types, &Arrays::Same(Equal::refl()), &code));
        }
        inlined
    }
    fn exp<T>(&mut self, e: &Exp<HNil, X<'z>, T>) -> Exp<HNil, X<'a>, T> {
        let once = self.whole.loops == 0;
        self.code(e, &Env::empty(), &[], once)
    }
    fn fun1<P, R>(&mut self, f: &Fun1<X<'z>, P, R>, p: &Ty<P>) -> Fun1<X<'a>, P, R> {
        Fun1(self.code(&f.0, &with_argument(&Env::empty(), p), &[p.raw()], false))
    }
    fn fun2<P, Q, R>(&mut self, f: &Fun2<X<'z>, P, Q, R>, p: &Ty<P>, q: &Ty<Q>) -> Fun2<X<'a>, P, Q, R> {
        Fun2(self.code(&f.0, &with_argument(&with_argument(&Env::empty(), p), q), &[p.raw(), q.raw()], false))
    }
}
