//! Forward and reverse mode of whole programs.

use crate::activity::{Activity, ArrayLabels, of_parts};
use crate::array::code::{ACode, User, from_tangent, given, to_tangent};
use crate::array::dual::reverse;
use crate::array::forward::forward;
use crate::array::label::label;
use crate::array::state::ADual;
use crate::builders::{Floats, fun1, unit};
use crate::scalar::forward::Duals;
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::{Error, Result};
use accel_core::pass::finished;

/// What a reverse-mode program returns, and where the adjoint of the result comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reverse {
    /// `x -> dx` for a result that is one floating-point number.
    Gradient,
    /// `x -> (y, dx)` for a result that is one floating-point number.
    ValueAndGradient,
    /// `x -> ((y, aux), dx)` for a result `(y, aux)`, of which `y` is one floating-point number and `aux` is only returned.
    WithAux,
    /// `(x, dy) -> dx`
    Pullback {
        /// The place in the user's source where the derivative is requested.
        at: Src,
    },
}

/// Differentiates a program in reverse mode, by the parts of its argument that the function `by` returns (`None`: by the
/// whole argument). `by` consists of projections, pairs and local definitions.
///
/// # Errors
/// For gradients, a result that is not one floating-point number; an operation without a reverse derivative.
pub fn reverse_mode(p: &Program, by: Option<&Program>, mode: Reverse) -> Result<Program> {
    let _span = tracing::debug_span!("reverse mode").entered();
    fresh3(|a, r, c| {
        let p = p.open(a, r);
        let by = parts(by, &p, c)?;
        let d = match mode {
            Reverse::Gradient | Reverse::ValueAndGradient | Reverse::WithAux => gradient(&p, &by, mode)?,
            Reverse::Pullback { at } => pullback(&p, &by, at)?,
        };
        finished("ad", &d)?;
        Ok(d)
    })
}

/// The function `by`, which returns parts of the argument of `p`; the identity for `None`.
fn parts<'p, 'c>(by: Option<&Program>, p: &Opened<'p, '_>, c: Guard<'c>) -> Result<Opened<'p, 'c>> {
    let Some(by) = by else {
        let q = name(c);
        return Ok(Opened { arg: p.arg.clone(), result: p.arg.cast(q), body: Acc::var(&Idx::zero(&p.arg)).cast(q) });
    };
    fresh1(|b| {
        let by = by.open(b, c);
        let other = || Error::Internal("parts of another argument than the program's".into());
        let q = by.arg.same(&p.arg).ok_or_else(other)?;
        Ok(Opened { arg: p.arg.clone(), result: by.result, body: by.body.cast_env(eq_cons(q, Equal::refl())) })
    })
}

fn gradient<'p>(p: &Opened<'p, '_>, by: &Opened<'p, '_>, mode: Reverse) -> Result<Program> {
    fresh4(|m, s, k, l| {
        let x = Idx::zero(&p.arg);
        let primal =
            label(&p.body, &Renaming::embedding(&Thinning::from_nil()).push(&x), &ACode::start(Size::nil().push()), m);
        let seed = seed(&p.result, mode == Reverse::WithAux, &primal.code, s).ok_or_else(|| Error::Type {
            op: "gradient".into(),
            expected: "a program whose result is one floating-point number (use `vjp` for others)".into(),
            found: p.result.raw().to_string(),
        })?;
        let mut adj = Contributions::new(primal.code.size, seed.code.size);
        adj.add(&primal.var, &seed.adjoint);
        let start = ACode::start(seed.code.size);
        let mut activity = ArrayLabels::new(vec![of_parts(&by.body)]);
        activity.enter(&primal.code.tele, Size::nil().push());
        let start = ADual { code: start, adj, emb: seed.up.clone(), used: Used::default(), activity };
        let dual = adjoint_of_parts(reverse(&primal.code.tele, start, k)?, &x, by, l);
        if mode == Reverse::Gradient {
            return Ok(Program::new(&p.arg, &seed.code.close(&dual.code.close(&dual.dx))));
        }
        let y = Acc::var(&seed.up.at(&primal.var)).weaken(&dual.code.tele.embedding());
        Ok(Program::new(&p.arg, &seed.code.close(&dual.code.close(&Acc::pair(&y, &dual.dx)))))
    })
}

/// The code after the seed of a gradient, and the adjoint of the result.
struct Seed<'s, B, A, R> {
    code: ACode<B, X<'s>>,
    up: Thinning<A, X<'s>>,
    adjoint: SparseTangent<X<'s>, Tan<R>>,
}

/// Emits the adjoint 1 of a result that is one floating-point number. With auxiliary results, this number is the first component of the
/// result, and the adjoint of the rest is zero. `None` for other results.
fn seed<'s, B, A, R>(result: &Ty<R>, with_aux: bool, code: &ACode<B, A>, s: Guard<'s>) -> Option<Seed<'s, B, A, R>> {
    fresh1(|n| match result.view(n) {
        TyView::Pair(y, _, eq) if with_aux => {
            let Seed { code, up, adjoint } = seed(&y, false, code, s)?;
            let both = SparseTangent::pair(&adjoint, &SparseTangent::zero());
            Some(Seed { code, up, adjoint: both.cast(tan_pair().sym().then(eq_tan(eq.sym()))) })
        }
        TyView::Arr(sh, t, eq) if !with_aux => {
            let (none, t) = (sh.same(&Ty::of())?, ScalarTy::of(&t)?.float()?);
            let one = Acc::generate(&ShapeTy::known(), &unit(), &fun1(&Ty::of(), |_| Floats(t).c(1.0)), None);
            let float = eq_arr(none.sym(), tan_float(t).sym()).then(tan_arr().sym()).then(eq_tan(eq.sym()));
            let one = code.emit(&one.cast(float), s);
            Some(Seed { adjoint: SparseTangent::var(&one.var), code: one.code, up: one.up })
        }
        _ => None,
    })
}

fn pullback<'p>(p: &Opened<'p, '_>, by: &Opened<'p, '_>, at: Src) -> Result<Program> {
    fresh6(|k1, k2, m, s, k, l| {
        let both = ArraysTy::pair(&p.arg, &p.result);
        let v = Acc::var(&Idx::zero(&both));
        let x = ACode::start(Size::nil().push()).emit(&v.fst(), k1);
        let dy = x.code.emit(&to_tangent(&v.snd()).weaken(&x.up), k2);
        let x = dy.up.at(&x.var);
        let primal =
            label(&p.body, &Renaming::embedding(&Thinning::from_nil()).push(&x), &ACode::start(dy.code.size), m);
        let given_dy = Acc::var(&primal.up.at(&dy.var));
        let seed = given(&primal.code, &Acc::var(&primal.var), &given_dy, &User::One("vjp", at), s);
        let mut adj = Contributions::new(primal.code.size, seed.code.size);
        adj.add(&primal.var, &SparseTangent::var(&seed.var));
        // The argument of the pullback, its component `x`, and the adjoint of the result.
        let mut activity = ArrayLabels::new(vec![Activity::Passive, of_parts(&by.body), Activity::Passive]);
        activity.enter(&primal.code.tele, dy.code.size);
        let start = ADual { code: seed.code, adj, emb: seed.up, used: Used::default(), activity };
        let dual = adjoint_of_parts(reverse(&primal.code.tele, start, k)?, &x, by, l);
        Ok(Program::new(&both, &dy.code.close(&dual.code.close(&dual.dx))))
    })
}

/// The code of a dual pass, and the adjoint that it computes.
struct AdjointOf<'m, B, C> {
    code: ACode<B, X<'m>>,
    dx: Acc<X<'m>, C>,
}

/// The adjoint of the parts `by` of the label `x`. The choice of parts is a linear function, so that it is its own
/// derivative.
fn adjoint_of_parts<'p, 'c, 'm, B, A, A2>(
    mut dual: ADual<B, A, A2>,
    x: &Idx<A, X<'p>>,
    by: &Opened<'p, 'c>,
    m: Guard<'m>,
) -> AdjointOf<'m, B, X<'c>> {
    fresh1(|k| {
        let (adjoints, value) = (dual.adj.take(x), dual.value(x));
        let sum = dual.sum(&adjoints, &value, k);
        let x = Duals::empty().push(&sum.st.emb.at(x), &sum.val);
        let parts = forward(&by.body, &x, &sum.st.code, m);
        AdjointOf { dx: from_tangent(&parts.tangent(), &by.result), code: parts.code }
    })
}

/// Differentiates a program in forward mode, by the parts of its argument that the function `by` returns, as in
/// [`reverse_mode`]. The derivative goes from the argument and a tangent of these parts to the result and its tangent.
/// `at` is the place in the user's source where the derivative is requested.
///
/// # Errors
/// Only `Error::Internal`, for a broken tree (in debug builds) or parts of another argument.
pub fn forward_mode(p: &Program, by: Option<&Program>, at: Src) -> Result<Program> {
    let _span = tracing::debug_span!("forward mode").entered();
    fresh3(|a, r, c| {
        let p = p.open(a, r);
        let d = pushforward(&p, &parts(by, &p, c)?, at)?;
        finished("ad", &d)?;
        Ok(d)
    })
}

fn pushforward<'p>(p: &Opened<'p, '_>, by: &Opened<'p, '_>, at: Src) -> Result<Program> {
    fresh6(|k1, k2, l, k, h, m| {
        let both = ArraysTy::pair(&p.arg, &by.result);
        let v = Acc::var(&Idx::zero(&both));
        let x = ACode::start(Size::nil().push()).emit(&v.fst(), k1);
        let chosen =
            label(&by.body, &Renaming::embedding(&Thinning::from_nil()).push(&x.var), &ACode::start(x.code.size), k2);
        let d = to_tangent(&v.snd()).weaken(&x.up.then(&chosen.up));
        let d = given(&chosen.code, &Acc::var(&chosen.var), &d, &User::One("jvp", at), l);
        // The tangent of the argument has the chosen parts as components, and is zero elsewhere. Reverse mode of the
        // choice of parts computes it, because it transposes the choice, which is linear.
        let mut adj = Contributions::new(chosen.code.size, d.code.size);
        adj.add(&chosen.var, &SparseTangent::var(&d.var));
        let mut activity = ArrayLabels::new(vec![Activity::Passive, Activity::Active]);
        activity.enter(&chosen.code.tele, x.code.size);
        let start = ADual { code: d.code, adj, emb: d.up, used: Used::default(), activity };
        let mut dual = reverse(&chosen.code.tele, start, k)?;
        let (parts, value) = (dual.adj.take(&x.var), dual.value(&x.var));
        let dx = dual.sum(&parts, &value, h);
        let arrays = Duals::empty().push(&dx.st.emb.at(&x.var), &dx.val);
        let f = forward(&p.body, &arrays, &dx.st.code, m);
        if let Some(why) = arrays.refused() {
            return Err(why);
        }
        let dy = from_tangent(&f.tangent(), &p.result);
        Ok(Program::new(&both, &x.code.close(&f.code.close(&Acc::pair(&Acc::var(&f.var), &dy)))))
    })
}
