//! Directional derivatives of scalar functions in scalar code (forward mode).

use super::code::{Code, materialise};
use super::forward::{Duals, forward};
use crate::builders::{from_tangent, to_tangent};
use accel_core::ast::*;
use accel_core::error::{Error, Result};
use frunk::HCons;

/// The transformation of a function of `(x, dx)` that only uses `x` to the function that returns its derivative at `x` in the
/// direction `dx`, or the pair of its value and this derivative.
#[derive(Clone, Copy, Debug)]
pub struct Directional {
    /// Whether the value is part of the result.
    pub with_value: bool,
}

impl ExpTransform for Directional {
    fn transform<'e, 'a, 'p, 'r, 'm>(
        &self,
        env: &Env<UnitF, X<'e>>,
        arrays: &Env<UnitF, X<'a>>,
        p: &Ty<X<'p>>,
        f: &Exp<HCons<X<'p>, X<'e>>, X<'a>, X<'r>>,
        _: Src,
        m: Guard<'m>,
    ) -> Result<Exp<HCons<X<'p>, X<'e>>, X<'a>, X<'m>>> {
        fresh3(|v, k, l| {
            let no_pair = || Error::Internal("a direction of another type than the argument".into());
            let TyView::Pair(_, _, pair) = p.view(v) else { return Err(no_pair()) };
            let both = env.push(&(), p);
            let x = Idx::zero(p);
            let dx = Code::start(both.size()).emit(&to_tangent(&Exp::var(&x).cast(pair).snd()), k);
            let tangent = pair_types(p.cast(pair)).map(|same| SparseTangent::var(&dx.var).cast(eq_tan(same)));
            let tangent = SparseTangent::pair(&tangent.ok_or_else(no_pair)?, &SparseTangent::zero());
            let tangent = tangent.cast(tan_pair().sym().then(eq_tan(pair.sym())));
            let scalars = Duals::new(Env::identity(&both).weaken(&dx.up), passive(env).push(&tangent, p));
            let arrays = Duals::new(Env::identity(arrays), passive(arrays));
            let y = forward(f, &scalars, &arrays, &dx.code, l);
            let dy = from_tangent(&materialise(&y.tan, &tan_ty(f.ty())), f.ty());
            Ok(match self.with_value {
                true => y.code.close(&Exp::pair(&Exp::var(&y.var), &dy)).cast(name(m)),
                false => y.code.close(&dy).cast(name(m)),
            })
        })
    }
}

/// The proof that the components of a pair have one type, if they have.
fn pair_types<P, Q>(t: Ty<(P, Q)>) -> Option<Equal<Q, P>> {
    let (p, q) = t.parts();
    q.same(&p)
}

/// Zero tangents of all variables.
fn passive<E, E2>(env: &Env<UnitF, E>) -> Env<TanF<E2>, E> {
    deep(|| {
        fresh1(|n| match env.view(n) {
            EnvView::Nil(q) => Env::empty().cast_env(q.sym()),
            EnvView::Cons((), t, rest, q) => passive(&rest).push(&SparseTangent::zero(), &t).cast_env(q.sym()),
        })
    })
}
