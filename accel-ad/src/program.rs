//! Forward and reverse mode of whole programs.

use crate::activity::{Activity, ArrayLabels};
use crate::array::code::{ACode, from_tangent, given, to_tangent, total};
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
use frunk::{HCons, HNil};

/// What a reverse-mode program returns, and where the adjoint of the result comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reverse {
    /// `x -> dx` for a result that is one floating-point number.
    Gradient,
    /// `x -> (y, dx)` for a result that is one floating-point number.
    ValueAndGradient,
    /// `(x, dy) -> dx`
    Pullback {
        /// The place in the user's source where the derivative is requested.
        at: Src,
    },
}

/// Differentiates a program in reverse mode.
///
/// # Errors
/// For gradients, a result that is not one floating-point number; an operation without a reverse derivative.
pub fn reverse_mode(p: &Program, mode: Reverse) -> Result<Program> {
    let _span = tracing::debug_span!("reverse mode").entered();
    fresh2(|a, r| {
        let p = p.open(a, r);
        let d = match mode {
            Reverse::Gradient | Reverse::ValueAndGradient => gradient(&p.arg, &p.body, mode)?,
            Reverse::Pullback { at } => pullback(&p, at)?,
        };
        finished("ad", &d)?;
        Ok(d)
    })
}

type Body<'p, 'r> = Acc<HCons<X<'p>, HNil>, X<'r>>;

fn gradient<'p, 'r>(arg: &ArraysTy<X<'p>>, body: &Body<'p, 'r>, mode: Reverse) -> Result<Program> {
    fresh4(|n, m, s, k| {
        let not_scalar = || Error::Type {
            op: "gradient".into(),
            expected: "a program whose result is one floating-point number (use `vjp` for others)".into(),
            found: body.ty().raw().to_string(),
        };
        let TyView::Arr(sh, t, eq) = body.ty().view(n) else { return Err(not_scalar()) };
        let (Some(none), Some(t)) = (sh.same(&Ty::of()), ScalarTy::of(&t).and_then(ScalarTy::float)) else {
            return Err(not_scalar());
        };
        let x = Idx::zero(arg);
        let env = Env::<IdxF<HCons<X<'p>, HNil>>, HNil>::empty().push(&x, arg);
        let primal = label(body, &env, &ACode::start(Size::nil().push()), m);
        let one = Acc::generate(&ShapeTy::known(), &unit(), &fun1(&Ty::of(), |_| Floats(t).c(1.0)), None);
        let float = eq_arr(none.sym(), tan_float(t).sym()).then(tan_arr().sym()).then(eq_tan(eq.sym()));
        let seed = primal.code.emit(&one.cast(float), s);
        let mut adj = Contributions::new(primal.code.size, seed.code.size);
        adj.add(&primal.var, &SparseTangent::var(&seed.var));
        let start = ACode::start(seed.code.size);
        let mut activity = ArrayLabels::new(vec![Activity::Active]);
        activity.enter(&primal.code.tele, Size::nil().push());
        let start = ADual { code: start, adj, emb: seed.up.clone(), used: Used::default(), activity };
        let mut st = reverse(&primal.code.tele, start, k)?;
        let dx = from_tangent(&total(&st.adj.take(&x), &st.value(&x)), arg);
        if mode == Reverse::Gradient {
            return Ok(Program::new(arg, &seed.code.close(&st.code.close(&dx))));
        }
        let y = Acc::var(&seed.up.at(&primal.var)).weaken(&st.code.tele.embedding());
        Ok(Program::new(arg, &seed.code.close(&st.code.close(&Acc::pair(&y, &dx)))))
    })
}

fn pullback(p: &Opened, at: Src) -> Result<Program> {
    fresh5(|k1, k2, m, s, k| {
        let both = ArraysTy::pair(&p.arg, &p.result);
        let v = Idx::zero(&both);
        let x = ACode::start(Size::nil().push()).emit(&Acc::var(&v).fst(), k1);
        let dy = x.code.emit(&to_tangent(&Acc::var(&v).snd()).weaken(&x.up), k2);
        let env = Env::empty().push(&dy.up.at(&x.var), &p.arg);
        let primal = label(&p.body, &env, &dy.code, m);
        let dy = Acc::var(&primal.up.at(&dy.var));
        let seed = given(&primal.code, &Acc::var(&primal.var), &dy, ("vjp", at), s);
        let mut adj = Contributions::new(primal.code.size, seed.code.size);
        adj.add(&primal.var, &SparseTangent::var(&seed.var));
        let mut activity = ArrayLabels::new(vec![Activity::pair(Activity::Active, Activity::Passive)]);
        activity.enter(&primal.code.tele, Size::nil().push());
        let start = ADual { code: seed.code, adj, emb: seed.up, used: Used::default(), activity };
        let mut st = reverse(&primal.code.tele, start, k)?;
        let d = total(&st.adj.take(&v), &st.value(&v)).cast(tan_pair());
        Ok(Program::new(&both, &st.code.close(&from_tangent(&d.fst(), &p.arg))))
    })
}

/// Differentiates a program in forward mode: `(x, dx) -> (y, dy)`. `at` is the place in the user's source where the
/// derivative is requested.
///
/// # Errors
/// Only `Error::Internal`, for a broken tree (in debug builds).
pub fn forward_mode(p: &Program, at: Src) -> Result<Program> {
    let _span = tracing::debug_span!("forward mode").entered();
    fresh5(|a, r, k1, k2, m| {
        let p = p.open(a, r);
        let both = ArraysTy::pair(&p.arg, &p.arg);
        let v = Acc::var(&Idx::zero(&both));
        let x = ACode::start(Size::nil().push()).emit(&v.fst(), k1);
        let dx = given(&x.code, &Acc::var(&x.var), &to_tangent(&v.snd()).weaken(&x.up), ("jvp", at), k2);
        let arrays = Duals::empty().push(&dx.up.at(&x.var), &SparseTangent::var(&dx.var));
        let f = forward(&p.body, &arrays, &dx.code, m);
        let dy = from_tangent(&f.tangent(), p.body.ty());
        let d = Program::new(&both, &f.code.close(&Acc::pair(&Acc::var(&f.var), &dy)));
        finished("ad", &d)?;
        Ok(d)
    })
}
