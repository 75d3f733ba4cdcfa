//! Elaboration of scalar code: graph nodes become typed expressions.

use super::message::{internal, scalar_scope, type_error};
use super::parts::Graph;
use super::region::{RegionId, WHOLE};
use super::sharing::Plan;
use crate::ast::*;
use crate::error::Result;
use crate::repr::Scalar;
use crate::repr::op::{Op1, Op2};
use crate::surface::graph::{Lam, Node, NodeId, Op, ScalarOp};
use frunk::{HCons, HNil};

/// The context of an expression: the variables `'e` and arrays `'a` in scope, and the region in which it is computed.
#[derive(Clone, Copy)]
pub struct Scalars<'s, 'e, 'a> {
    pub graph: &'s Graph<'s>,
    pub plan: &'s Plan,
    /// The array operation to which the scalar code belongs.
    pub array_op: NodeId,
    pub region: RegionId,
    pub env: &'s Env<UnitF, X<'e>>,
    pub arrays: &'s Env<UnitF, X<'a>>,
}

type Typed<'e, 'a, T> = Result<Exp<X<'e>, X<'a>, T>>;

/// Elaborates a closed expression of the array operation `array_op`.
pub fn closed<'a, 'm>(
    graph: &Graph,
    plan: &Plan,
    array_op: NodeId,
    root: NodeId,
    arrays: &Env<UnitF, X<'a>>,
    m: Guard<'m>,
) -> Result<Exp<HNil, X<'a>, X<'m>>> {
    fresh1(|e| {
        let q = name(e);
        let env = Env::empty().cast_env(q);
        let here = Scalars { graph, plan, array_op, region: WHOLE, env: &env, arrays };
        Ok(here.region(WHOLE, root, m)?.cast_env(q.sym()))
    })
}

/// Elaborates a function of one argument of the array operation `array_op`.
pub fn fun1<'a, 'm, P>(
    graph: &Graph,
    plan: &Plan,
    array_op: NodeId,
    (f, p): (&Lam, &Ty<P>),
    arrays: &Env<UnitF, X<'a>>,
    m: Guard<'m>,
) -> Result<Fun1<X<'a>, P, X<'m>>> {
    let [x] = params(graph.node(array_op), f)?;
    fresh1(|e| {
        let env = Env::empty().push(&(), argument(graph, array_op, x, p)?);
        let q = name(e);
        let env = env.cast_env(q);
        let here = Scalars { graph, plan, array_op, region: WHOLE, env: &env, arrays };
        let body = graph.with_variable(x, 0, || here.region(WHOLE, f.body, m))?;
        Ok(Fun1(body.cast_env(q.sym())))
    })
}

/// Elaborates a function of two arguments of the array operation `array_op`.
pub fn fun2<'a, 'm, P, Q>(
    graph: &Graph,
    plan: &Plan,
    array_op: NodeId,
    (f, p, q): (&Lam, &Ty<P>, &Ty<Q>),
    arrays: &Env<UnitF, X<'a>>,
    m: Guard<'m>,
) -> Result<Fun2<X<'a>, P, Q, X<'m>>> {
    let [x, y] = params(graph.node(array_op), f)?;
    fresh1(|e| {
        let env = Env::empty().push(&(), argument(graph, array_op, x, p)?);
        let env = env.push(&(), argument(graph, array_op, y, q)?);
        let q = name(e);
        let env = env.cast_env(q);
        let here = Scalars { graph, plan, array_op, region: WHOLE, env: &env, arrays };
        let body = graph.with_variable(x, 0, || graph.with_variable(y, 1, || here.region(WHOLE, f.body, m)))?;
        Ok(Fun2(body.cast_env(q.sym())))
    })
}

/// The parameters of a closure. There must be `N` of them.
pub fn params<const N: usize>(node: &Node, f: &Lam) -> Result<[NodeId; N]> {
    <[NodeId; N]>::try_from(&f.params[..]).map_err(|_| internal(node, &format!("a closure of {N} parameters")))
}

/// Checks the type of a parameter: the closure was written for this type.
pub fn argument<'t, P>(graph: &Graph, op: NodeId, param: NodeId, t: &'t Ty<P>) -> Result<&'t Ty<P>> {
    let written = &graph.node(param).ty;
    if written == t.raw() { Ok(t) } else { Err(type_error(graph.node(op), written, t.raw())) }
}

impl<'s, 'e, 'a> Scalars<'s, 'e, 'a> {
    fn with_env<'t, 'f>(&self, env: &'t Env<UnitF, X<'f>>) -> Scalars<'t, 'f, 'a>
    where
        's: 't,
    {
        let Scalars { graph, plan, array_op, region, arrays, .. } = *self;
        Scalars { graph, plan, array_op, region, env, arrays }
    }

    /// Region `k` of the node `n`.
    fn sub(self, n: NodeId, k: u32) -> Result<RegionId> {
        self.plan.sub(self.graph, n, self.region, k)
    }

    /// The result of `f`, where the node `n` is the next variable.
    fn bind<R>(self, n: NodeId, f: impl FnOnce() -> R) -> R {
        self.graph.with_variable(n, self.env.size().get(), f)
    }

    /// The result `root` of a region, in the scope of the region's definitions.
    fn region<'m>(self, region: RegionId, root: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        Scalars { region, ..self }.define(self.plan.bindings(region), root, m)
    }

    fn define<'m>(self, bindings: &[NodeId], root: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        let Some((b, rest)) = bindings.split_first() else { return self.infer(root, m) };
        fresh2(|n, e| {
            let bound = self.infer(*b, n)?;
            let q = name(e);
            let env = self.env.push(&(), bound.ty()).cast_env(q);
            let body = self.bind(*b, || deep(|| self.with_env(&env).define(rest, root, m)))?;
            Ok(Exp::let_(&bound, &body.cast_env(q.sym())))
        })
    }

    /// An expression of the type `t`.
    fn check<T>(self, n: NodeId, t: &Ty<T>, user: &Node) -> Typed<'e, 'a, T> {
        fresh1(|m| {
            let x = self.infer(n, m)?;
            let q = x.ty().same(t).ok_or_else(|| type_error(user, t.raw(), x.ty().raw()))?;
            Ok(x.cast(q))
        })
    }

    /// The result of region `k` of the node `n`, which has the type `t`.
    fn check_region<T>(self, (n, k): (NodeId, u32), root: NodeId, t: &Ty<T>) -> Typed<'e, 'a, T> {
        fresh1(|m| {
            let x = self.region(self.sub(n, k)?, root, m)?;
            let q = x.ty().same(t).ok_or_else(|| type_error(self.graph.node(n), t.raw(), x.ty().raw()))?;
            Ok(x.cast(q))
        })
    }

    /// The expression of a node. Each case is a separate function, so that the stack frames of the recursion stay
    /// small.
    fn infer<'m>(self, n: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        let node = self.graph.node(n);
        match self.graph.level(n) {
            Some(level) => {
                let x = self.env.variable(level, m).ok_or_else(|| internal(node, "a variable in scope"))?;
                Ok(Exp::var(&x))
            }
            None => deep(|| self.operation(n, node, m)),
        }
    }

    fn operation<'m>(self, n: NodeId, node: &Node, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        let op = match &node.op {
            Op::Scalar(op) => op,
            Op::Param => return Err(scalar_scope(self.graph, n, self.array_op)),
            Op::Array(_) => return Err(internal(node, "scalar code")),
        };
        match op {
            ScalarOp::Const(v) => self.constant(node, v, m),
            ScalarOp::Unit => Ok(Exp::constant(&Value::unit(), &Ty::of()).cast(name(m))),
            ScalarOp::Pair(a, b) => self.pair(*a, *b, m),
            ScalarOp::Fst(a) => self.fst(node, *a, m),
            ScalarOp::Snd(a) => self.snd(node, *a, m),
            ScalarOp::Prim1(f, a) => self.prim1(node, *f, *a, m),
            ScalarOp::Prim2(f, a, b) => self.prim2(node, *f, *a, *b, m),
            ScalarOp::Cond(c, t, e) => self.cond(n, *c, *t, *e, m),
            ScalarOp::While { cond, body, init } => self.while_(n, cond, body, *init, m),
            ScalarOp::Index(a, ix) => self.index(node, *a, *ix, m),
            ScalarOp::Shape(a) => self.shape(node, *a, m),
            ScalarOp::Transform { transform, fun, arg } => self.transform(n, &**transform, fun, *arg, m),
            ScalarOp::Custom { make, fun, rule, arg } => self.custom(n, &**make, [fun, rule], *arg, m),
        }
    }

    #[inline(never)]
    fn constant<'m>(self, node: &Node, leaves: &[Scalar], m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        let constant = Ty::from_raw(&node.ty, m).and_then(|t| Some(Exp::constant(&Value::check(leaves, &t)?, &t)));
        constant.ok_or_else(|| internal(node, &format!("a constant of type {}", node.ty)))
    }

    #[inline(never)]
    fn pair<'m>(self, a: NodeId, b: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        fresh2(|g, h| Ok(Exp::pair(&self.infer(a, g)?, &self.infer(b, h)?).cast(name(m))))
    }

    #[inline(never)]
    fn fst<'m>(self, node: &Node, a: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.infer(a, g)?;
            match a.ty().view(h) {
                TyView::Pair(_, _, q) => Ok(a.cast(q).fst().cast(name(m))),
                _ => Err(type_error(node, "a pair", a.ty().raw())),
            }
        })
    }

    #[inline(never)]
    fn snd<'m>(self, node: &Node, a: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.infer(a, g)?;
            match a.ty().view(h) {
                TyView::Pair(_, _, q) => Ok(a.cast(q).snd().cast(name(m))),
                _ => Err(type_error(node, "a pair", a.ty().raw())),
            }
        })
    }

    #[inline(never)]
    fn prim1<'m>(self, node: &Node, f: Op1, a: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        fresh1(|g| {
            let a = self.infer(a, g)?;
            match Ty::from_raw(&node.ty, m).and_then(|r| Prim1::check(f, a.ty(), &r)) {
                Some(f) => Ok(Exp::prim1(f, &a)),
                None => Err(type_error(node, format!("an argument of {f:?} to {}", node.ty), a.ty().raw())),
            }
        })
    }

    #[inline(never)]
    fn prim2<'m>(self, node: &Node, f: Op2, a: NodeId, b: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        fresh1(|g| {
            let a = self.infer(a, g)?;
            let b = self.check(b, a.ty(), node)?;
            match Ty::from_raw(&node.ty, m).and_then(|r| Prim2::check(f, a.ty(), &r)) {
                Some(f) => Ok(Exp::prim2(f, &a, &b)),
                None => Err(type_error(node, format!("arguments of {f:?} to {}", node.ty), a.ty().raw())),
            }
        })
    }

    #[inline(never)]
    fn cond<'m>(self, n: NodeId, c: NodeId, t: NodeId, e: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        let c = self.check(c, &Ty::<bool>::of(), self.graph.node(n))?;
        let t = self.region(self.sub(n, 0)?, t, m)?;
        let e = self.check_region((n, 1), e, t.ty())?;
        Ok(Exp::cond(&c, &t, &e))
    }

    #[inline(never)]
    fn while_<'m>(self, n: NodeId, cond: &Lam, body: &Lam, init: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        let node = self.graph.node(n);
        let init = self.infer(init, m)?;
        let cond = self.step((n, 0), cond, init.ty(), &Ty::<bool>::of())?;
        let body = self.step((n, 1), body, init.ty(), init.ty())?;
        Ok(Exp::while_(&cond, &body, &init, node.source()))
    }

    /// The condition or the body of a loop with state `P`: region `k` of the node `n`.
    fn step<P, T>(
        self,
        (n, k): (NodeId, u32),
        f: &Lam,
        p: &Ty<P>,
        t: &Ty<T>,
    ) -> Result<Exp<HCons<P, X<'e>>, X<'a>, T>> {
        let [x] = params(self.graph.node(n), f)?;
        fresh1(|e| {
            let q = name(e);
            let env = self.env.push(&(), argument(self.graph, n, x, p)?).cast_env(q);
            let body = self.bind(x, || self.with_env(&env).check_region((n, k), f.body, t))?;
            Ok(body.cast_env(q.sym()))
        })
    }

    #[inline(never)]
    fn transform<'m>(
        self,
        n: NodeId,
        transform: &dyn ExpTransform,
        fun: &Lam,
        arg: NodeId,
        m: Guard<'m>,
    ) -> Typed<'e, 'a, X<'m>> {
        let node = self.graph.node(n);
        fresh2(|p, r| {
            let arg = self.infer(arg, p)?;
            let body = self.below((n, 0), fun, arg.ty(), r)?;
            let body = transform.transform(self.env, self.arrays, arg.ty(), &body, node.source(), m)?;
            if *body.ty().raw() != node.ty {
                return Err(type_error(node, &node.ty, body.ty().raw()));
            }
            Ok(Exp::let_(&arg, &body))
        })
    }

    #[inline(never)]
    fn custom<'m>(
        self,
        n: NodeId,
        make: &dyn ExpRule,
        [fun, rule]: [&Lam; 2],
        arg: NodeId,
        m: Guard<'m>,
    ) -> Typed<'e, 'a, X<'m>> {
        let node = self.graph.node(n);
        fresh3(|p, q, s| {
            let arg = self.infer(arg, p)?;
            let function = self.below((n, 0), fun, arg.ty(), m)?;
            let t = Ty::from_raw(&self.graph.node(params::<1>(node, rule)?[0]).ty, q);
            let t = t.ok_or_else(|| internal(node, "a rule of scalar code"))?;
            let rule = Rule { arg: &t, body: &self.below((n, 1), rule, &t, s)? };
            make.with_rule((self.env, self.arrays), (&arg, &function), rule, node.source())
        })
    }

    /// The body of a closure of one argument of type `P`: region `k` of the node `n`.
    fn below<'m, P>(
        self,
        (n, k): (NodeId, u32),
        f: &Lam,
        p: &Ty<P>,
        m: Guard<'m>,
    ) -> Result<Exp<HCons<P, X<'e>>, X<'a>, X<'m>>> {
        let [x] = params(self.graph.node(n), f)?;
        fresh1(|e| {
            let q = name(e);
            let env = self.env.push(&(), argument(self.graph, n, x, p)?).cast_env(q);
            let region = self.sub(n, k)?;
            let body = self.bind(x, || self.with_env(&env).region(region, f.body, m))?;
            Ok(body.cast_env(q.sym()))
        })
    }

    #[inline(never)]
    fn index<'m>(self, node: &Node, a: NodeId, ix: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.array(node, a, g)?;
            match a.ty().view(h) {
                TyView::Arr(sh, _, q) => {
                    let ix = self.check(ix, &sh, node)?;
                    Ok(Exp::index(&a.cast(q), &ix, node.source()).cast(name(m)))
                }
                _ => Err(type_error(node, "an array", a.ty().raw())),
            }
        })
    }

    #[inline(never)]
    fn shape<'m>(self, node: &Node, a: NodeId, m: Guard<'m>) -> Typed<'e, 'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.array(node, a, g)?;
            match a.ty().view(h) {
                TyView::Arr(_, _, q) => Ok(Exp::shape(&a.cast(q)).cast(name(m))),
                _ => Err(type_error(node, "an array", a.ty().raw())),
            }
        })
    }

    /// The variable of an array that scalar code reads. The array scope has bound it.
    fn array<'n>(self, user: &Node, a: NodeId, n: Guard<'n>) -> Result<Idx<X<'a>, X<'n>>> {
        let variable = self.graph.level(a).and_then(|level| self.arrays.variable(level, n));
        variable.ok_or_else(|| super::message::array_scope(user))
    }
}
