//! Gradients of scalar functions in scalar code (the thesis's `gradientE`).

use super::code::{Code, total};
use super::dual::reverse;
use super::emissions::Emissions;
use super::primal::primal;
use super::state::Dual;
use crate::activity::{Activity, Labels};
use crate::builders::{Floats, from_tangent, unit};
use crate::used::Used;
use accel_core::ast::*;
use accel_core::error::{Error, Result};
use frunk::HCons;

/// The transformation of a function with a floating-point result to its gradient, or to the pair of its value and
/// gradient.
#[derive(Clone, Copy, Debug)]
pub struct Gradient {
    /// Whether the value is part of the result.
    pub with_value: bool,
}

impl ExpTransform for Gradient {
    fn transform<'e, 'a, 'p, 'r, 'm>(
        &self,
        env: &Env<UnitF, X<'e>>,
        _: &Env<UnitF, X<'a>>,
        p: &Ty<X<'p>>,
        f: &Exp<HCons<X<'p>, X<'e>>, X<'a>, X<'r>>,
        at: Src,
        m: Guard<'m>,
    ) -> Result<Exp<HCons<X<'p>, X<'e>>, X<'a>, X<'m>>> {
        let Some(t) = ScalarTy::of(f.ty()).and_then(ScalarTy::float) else {
            return Err(Error::Type {
                op: at.map_or("gradient".into(), |at| format!("gradient at {at}")),
                expected: "a function with a floating-point result".into(),
                found: f.ty().raw().to_string(),
            });
        };
        let env = env.push(&(), p);
        fresh4(|k1, k2, k3, i| {
            let pr = primal(f, &Env::identity(&env), &Code::start(env.size()), k1);
            let one = pr.code.emit(&Floats(t).c(1.0).cast(tan_float(t).sym()), k2);
            let mut adj = Contributions::new(pr.code.size, one.code.size);
            adj.add(&pr.var, &SparseTangent::var(&one.var));
            let y = Exp::var(&one.up.at(&pr.var));
            let code = Code::start(one.code.size);
            let mut before = vec![Activity::Passive; env.size().get() - 1];
            before.push(Activity::Active);
            let mut activity = Labels::new(before);
            activity.enter(&pr.code.tele, env.size());
            let st = Dual {
                code,
                adj,
                emb: one.up,
                sites: Sites::nil(),
                idx: unit(),
                used: Used::default(),
                activity,
                // All arrays are passive here, and programs of users do not emit.
                emissions: Emissions::finding(&[]),
            };
            let mut r = reverse(&pr.code.tele, st, k3, i)?;
            let dx = from_tangent(&total(&r.adj.take(&Idx::zero(p)), &tan_ty(p)), p);
            if self.with_value {
                let y = y.weaken(&r.code.tele.embedding());
                return Ok(one.code.close(&r.code.close(&Exp::pair(&y, &dx))).cast(name(m)));
            }
            Ok(one.code.close(&r.code.close(&dx)).cast(name(m)))
        })
    }
}
