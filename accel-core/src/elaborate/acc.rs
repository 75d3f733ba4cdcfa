//! Elaboration of array operations: graph nodes become typed array computations.

use super::exp::{self, argument, params};
use super::message::{array_scope, internal, type_error};
use super::parts::Graph;
use super::region::{RegionId, WHOLE};
use super::sharing::{Plan, Slots, plan};
use crate::ast::*;
use crate::batch::{self, components, from_components};
use crate::error::Result;
use crate::pass::finished;
use crate::repr::{Agreement, ArrayTuple, Call as ForeignCall, RawTy};
use crate::surface::graph::{self, ArrayOp, Lam, Node, NodeId, Op, Staged};
use frunk::{HCons, HNil};
use std::collections::HashMap;

/// Elaborates a graph to a typed program.
///
/// # Errors
/// Every mistake in the user's program that rustc cannot see: mismatched types, an array computation that depends on a
/// scalar variable, a parameter used outside of its closure.
pub fn elaborate(staged: &Staged) -> Result<Program> {
    let program = typed(staged)?;
    finished("ast", &program)?;
    if !batch::has_loops(&staged.nodes) {
        return Ok(program);
    }
    let program = batch::batch(&program);
    finished("batch", &program)?;
    Ok(program)
}

fn typed(staged: &Staged) -> Result<Program> {
    let graph = Graph::new(&staged.nodes);
    let plans = Plans::new(&graph, staged.root)?;
    fresh3(|p, e, m| {
        let arg = Ty::from_raw(&graph.node(staged.param).ty, p).and_then(|t| ArraysTy::of(&t));
        let arg = arg.ok_or_else(|| internal(graph.node(staged.param), "an argument of arrays"))?;
        let q = name(e);
        let arrays = Env::empty().push(&(), &arg).cast_env(q);
        let here = Arrays { graph: &graph, plans: &plans, region: WHOLE, arrays: &arrays };
        let body = graph.with_variable(staged.param, 0, || here.region(WHOLE, staged.root, m))?;
        if *body.ty().raw() != graph.node(staged.root).ty {
            return Err(internal(graph.node(staged.root), "a node of the declared type"));
        }
        Ok(Program::new(&arg, &body.cast_env(q.sym())))
    })
}

/// The plans that say where each node is computed: one for the arrays, and one for the scalar code of each array
/// operation.
struct Plans {
    arrays: Plan,
    /// In the order of [`Graph::scalar_roots`].
    scalars: HashMap<NodeId, ScalarPlans>,
}

struct ScalarPlans {
    plans: Vec<Plan>,
    /// The arrays that the scalar code reads.
    reads: Vec<NodeId>,
}

impl Plans {
    fn new(graph: &Graph, root: NodeId) -> Result<Plans> {
        let mut scalars = HashMap::new();
        let mut scalar_slots = Slots::new(graph);
        let arrays = plan(graph, root, &mut Slots::new(graph), &mut |n, parts| {
            let code = match scalars.entry(n) {
                std::collections::hash_map::Entry::Occupied(code) => code.into_mut(),
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(ScalarPlans::new(graph, n, &mut scalar_slots)?)
                }
            };
            graph.array_parts(n, parts);
            code.reads.iter().for_each(|a| parts.array(*a));
            Ok(())
        })?;
        Ok(Plans { arrays, scalars })
    }
}

impl ScalarPlans {
    fn new(graph: &Graph, n: NodeId, slots: &mut Slots) -> Result<Self> {
        let (mut plans, mut reads) = (vec![], vec![]);
        for root in graph.scalar_roots(n) {
            plans.push(plan(graph, root, slots, &mut |n, parts| {
                graph.scalar_parts(n, parts, &mut reads);
                Ok(())
            })?);
        }
        reads.sort_unstable();
        reads.dedup();
        Ok(ScalarPlans { plans, reads })
    }
}

/// The context of an array computation: the arrays `'a` in scope, and the region in which it is computed.
#[derive(Clone, Copy)]
struct Arrays<'s, 'a> {
    graph: &'s Graph<'s>,
    plans: &'s Plans,
    region: RegionId,
    arrays: &'s Env<UnitF, X<'a>>,
}

type Typed<'a, R> = Result<Acc<X<'a>, R>>;

/// An expression of shape type, with its type.
type Extents<'a, Sh> = (ShapeTy<Sh>, Exp<HNil, X<'a>, Sh>);

/// An array computation with the types of its shape and elements.
struct Array<'a, Sh, T> {
    acc: Acc<X<'a>, Arr<Sh, T>>,
    sh: ShapeTy<Sh>,
    elt: ElementTy<T>,
}

impl<'s, 'a> Arrays<'s, 'a> {
    fn with_arrays<'t, 'b>(&self, arrays: &'t Env<UnitF, X<'b>>) -> Arrays<'t, 'b>
    where
        's: 't,
    {
        Arrays { graph: self.graph, plans: self.plans, region: self.region, arrays }
    }

    /// Region `k` of the node `n`.
    fn sub(self, n: NodeId, k: u32) -> Result<RegionId> {
        self.plans.arrays.sub(self.graph, n, self.region, k)
    }

    /// The result of `f`, where the node `n` is the next variable.
    fn bind<R>(self, n: NodeId, f: impl FnOnce() -> R) -> R {
        self.graph.with_variable(n, self.arrays.size().get(), f)
    }

    /// The result `root` of a region, in the scope of the region's definitions.
    fn region<'m>(self, region: RegionId, root: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        Arrays { region, ..self }.define(self.plans.arrays.bindings(region), root, m)
    }

    fn define<'m>(self, bindings: &[NodeId], root: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        let Some((b, rest)) = bindings.split_first() else { return self.infer(root, m) };
        fresh2(|n, e| {
            let bound = self.infer(*b, n)?;
            let q = name(e);
            let arrays = self.arrays.push(&(), bound.ty()).cast_env(q);
            let body = self.bind(*b, || deep(|| self.with_arrays(&arrays).define(rest, root, m)))?;
            Ok(Acc::let_(&bound, &body.cast_env(q.sym())))
        })
    }

    /// The result of region `k` of the node `n`, which has the type `t`.
    fn check_region<T>(self, (n, k): (NodeId, u32), root: NodeId, t: &Ty<T>) -> Typed<'a, T> {
        fresh1(|m| {
            let x = self.region(self.sub(n, k)?, root, m)?;
            let q = x.ty().same(t).ok_or_else(|| type_error(self.graph.node(n), t.raw(), x.ty().raw()))?;
            Ok(x.cast(q))
        })
    }

    fn infer<'m>(self, n: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        match self.graph.level(n) {
            Some(level) => {
                let x = self.arrays.variable(level, m);
                Ok(Acc::var(&x.ok_or_else(|| internal(self.graph.node(n), "an array variable in scope"))?))
            }
            None => deep(|| self.operation(n, m)),
        }
    }

    /// The computation of a node. Each case is a separate function, so that the stack frames of the recursion stay
    /// small.
    fn operation<'m>(self, n: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        let node = self.graph.node(n);
        let op = match &node.op {
            Op::Array(op) => op,
            Op::Param => return Err(array_scope(node)),
            Op::Scalar(_) => return Err(internal(node, "an array computation")),
        };
        match op {
            ArrayOp::Use(a) => use_(node, a, m),
            ArrayOp::Unit => Ok(Acc::unit().cast(name(m))),
            ArrayOp::Pair(a, b) => self.pair(*a, *b, m),
            ArrayOp::Fst(a) => self.fst(node, *a, m),
            ArrayOp::Snd(a) => self.snd(node, *a, m),
            ArrayOp::Generate(sh, f) => self.generate(n, *sh, f, m),
            ArrayOp::Map(f, a) => self.map(n, f, *a, m),
            ArrayOp::Agree { agreement, left, right, a } => self.agree(n, *agreement, [*left, *right], *a, m),
            ArrayOp::ZipWith(f, a, b) => self.zip_with(n, f, *a, *b, m),
            ArrayOp::Fold(f, z, a) => self.fold(n, f, *z, *a, m),
            ArrayOp::Fold1(f, a) => self.fold1(n, f, *a, m),
            ArrayOp::Scan { dir, f, z, a } => self.scan(n, (*dir, f), *z, *a, m),
            ArrayOp::Scan1 { dir, f, a } => self.scan1(n, (*dir, f), *a, m),
            ArrayOp::Permute { comb, def, index, src } => self.permute(n, (comb, index), *def, *src, m),
            ArrayOp::Backpermute(sh, f, a) => self.backpermute(n, *sh, f, *a, m),
            ArrayOp::Argsort(a) => self.argsort(n, *a, m),
            ArrayOp::Foreign(f, shapes, a) => self.foreign(n, f, shapes, *a, m),
            ArrayOp::Reshape(sh, a) => self.reshape(n, *sh, *a, m),
            ArrayOp::Replicate { spec, slx, a } => self.replicate(n, spec, *slx, *a, m),
            ArrayOp::Slice { spec, slx, a } => self.slice(n, spec, *slx, *a, m),
            ArrayOp::Cond(c, t, e) => self.acond(n, *c, *t, *e, m),
            ArrayOp::Call(program, arg) => self.call(node, program, *arg, m),
            ArrayOp::While { cond, body, init } => self.awhile(n, cond, body, *init, m),
            ArrayOp::MapAccum { dir, n: steps, step, init, xs } => {
                self.map_accum(n, (*dir, *steps, step), *init, *xs, m)
            }
        }
    }

    /// The plan for scalar code number `k` of the node `n`.
    fn code(self, n: NodeId, k: usize) -> Result<&'s Plan> {
        let plans = self.plans.scalars.get(&n).and_then(|s| s.plans.get(k));
        plans.ok_or_else(|| internal(self.graph.node(n), "planned scalar code"))
    }

    /// Scalar code number `k` of the node `n`, as an expression.
    fn exp<'m>(self, (n, k): (NodeId, usize), root: NodeId, m: Guard<'m>) -> Result<Exp<HNil, X<'a>, X<'m>>> {
        exp::closed(self.graph, self.code(n, k)?, n, root, self.arrays, m)
    }

    fn exp_of<T>(self, code: (NodeId, usize), root: NodeId, t: &Ty<T>) -> Result<Exp<HNil, X<'a>, T>> {
        fresh1(|m| {
            let x = self.exp(code, root, m)?;
            let q = x.ty().same(t).ok_or_else(|| type_error(self.graph.node(code.0), t.raw(), x.ty().raw()))?;
            Ok(x.cast(q))
        })
    }

    /// An expression of shape type.
    fn extents<'m>(self, code: (NodeId, usize), root: NodeId, m: Guard<'m>) -> Result<Extents<'a, X<'m>>> {
        let sh = self.exp(code, root, m)?;
        let t = ShapeTy::of(sh.ty()).ok_or_else(|| type_error(self.graph.node(code.0), "a shape", sh.ty().raw()))?;
        Ok((t, sh))
    }

    /// Scalar code number `k` of the node `n`, as a function.
    fn fun1<'m, P>(self, (n, k): (NodeId, usize), f: &Lam, p: &Ty<P>, m: Guard<'m>) -> Result<Fun1<X<'a>, P, X<'m>>> {
        exp::fun1(self.graph, self.code(n, k)?, n, (f, p), self.arrays, m)
    }

    fn fun1_to<P, R>(self, code: (NodeId, usize), f: &Lam, p: &Ty<P>, r: &Ty<R>) -> Result<Fun1<X<'a>, P, R>> {
        fresh1(|m| {
            let f = self.fun1(code, f, p, m)?;
            let q = f.0.ty().same(r).ok_or_else(|| type_error(self.graph.node(code.0), r.raw(), f.0.ty().raw()))?;
            Ok(Fun1(f.0.cast(q)))
        })
    }

    /// Scalar code number `k` of the node `n`, as an operator on `T`.
    fn operator<T>(self, (n, k): (NodeId, usize), f: &Lam, t: &Ty<T>) -> Result<Fun2<X<'a>, T, T, T>> {
        fresh1(|m| {
            let f = exp::fun2(self.graph, self.code(n, k)?, n, (f, t, t), self.arrays, m)?;
            let q = f.0.ty().same(t).ok_or_else(|| type_error(self.graph.node(n), t.raw(), f.0.ty().raw()))?;
            Ok(Fun2(f.0.cast(q)))
        })
    }

    /// An array whose shape and element types get names.
    fn array<'g>(self, user: &Node, a: NodeId, g: Guard<'g>) -> Result<Array<'a, X<'g>, Y<'g>>> {
        fresh1(|h| {
            let a = self.infer(a, h)?;
            match a.ty().view(g) {
                TyView::Arr(sh, elt, q) => Ok(Array { acc: a.cast(q), sh, elt }),
                _ => Err(type_error(user, "an array", a.ty().raw())),
            }
        })
    }

    /// An array with at least one dimension.
    fn rows<'g, 'h>(
        self,
        user: &Node,
        a: NodeId,
        g: Guard<'g>,
        h: Guard<'h>,
    ) -> Result<Array<'a, (X<'h>, i64), Y<'g>>> {
        let Array { acc, sh, elt } = self.array(user, a, g)?;
        let wrong = || type_error(user, "an array of at least one dimension", acc.ty().raw());
        let TyView::Pair(_, extent, pair) = sh.view(h) else { return Err(wrong()) };
        let int = extent.same(&Ty::<i64>::of()).ok_or_else(wrong)?;
        let q = pair.then(eq_pair(Equal::refl(), int));
        Ok(Array { acc: acc.cast(eq_arr(q, Equal::refl())), sh: sh.cast(q), elt })
    }

    fn pair<'m>(self, a: NodeId, b: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| Ok(Acc::pair(&self.infer(a, g)?, &self.infer(b, h)?).cast(name(m))))
    }

    fn fst<'m>(self, node: &Node, a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.infer(a, g)?;
            match a.ty().view(h) {
                TyView::Pair(_, _, q) => Ok(a.cast(q).fst().cast(name(m))),
                _ => Err(type_error(node, "a pair of arrays", a.ty().raw())),
            }
        })
    }

    fn snd<'m>(self, node: &Node, a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.infer(a, g)?;
            match a.ty().view(h) {
                TyView::Pair(_, _, q) => Ok(a.cast(q).snd().cast(name(m))),
                _ => Err(type_error(node, "a pair of arrays", a.ty().raw())),
            }
        })
    }

    /// The body of a program, in the scope of its argument.
    fn call<'m>(self, node: &Node, program: &Program, arg: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| {
            let arg = self.infer(arg, g)?;
            let program = program.open(h, m);
            let q = arg.ty().same(&program.arg);
            let q = q.ok_or_else(|| type_error(node, program.arg.raw(), arg.ty().raw()))?;
            Ok(Acc::let_(&arg.cast(q), &program.body.weaken(&Thinning::from_nil().lift())))
        })
    }

    fn generate<'m>(self, n: NodeId, sh: NodeId, f: &Lam, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| {
            let (t, sh) = self.extents((n, 0), sh, g)?;
            let f = self.fun1((n, 1), f, sh.ty(), h)?;
            Ok(Acc::generate(&t, &sh, &f, self.at(n)).cast(name(m)))
        })
    }

    fn map<'m>(self, n: NodeId, f: &Lam, a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.array(self.graph.node(n), a, g)?;
            let f = self.fun1((n, 0), f, &a.elt, h)?;
            Ok(Acc::map(&f, &a.acc, self.at(n)).cast(name(m)))
        })
    }

    fn agree<'m>(
        self,
        n: NodeId,
        agreement: Agreement,
        [left, right]: [NodeId; 2],
        a: NodeId,
        m: Guard<'m>,
    ) -> Typed<'a, X<'m>> {
        let node = self.graph.node(n);
        fresh3(|g, h, i| {
            let a = self.array(node, a, g)?;
            let ((_, left), (_, right)) = (self.extents((n, 0), left, h)?, self.extents((n, 1), right, i)?);
            if !agreement.is_defined(left.ty().raw().width(), right.ty().raw().width()) {
                return Err(internal(node, "shapes of other ranks"));
            }
            Ok(Acc::agree(agreement, node.name, &left, &right, &a.acc, self.at(n)).cast(name(m)))
        })
    }

    fn zip_with<'m>(self, n: NodeId, f: &Lam, a: NodeId, b: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        let node = self.graph.node(n);
        fresh3(|g, h, i| {
            let (a, b) = (self.array(node, a, g)?, self.array(node, b, h)?);
            let q = b.sh.same(&a.sh);
            let q = q.ok_or_else(|| type_error(node, "two arrays of one rank", &both(&a.acc, &b.acc)))?;
            let f = exp::fun2(self.graph, self.code(n, 0)?, n, (f, &a.elt, &b.elt), self.arrays, i)?;
            Ok(Acc::zip_with(&f, &a.acc, &b.acc.cast(eq_arr(q, Equal::refl())), self.at(n)).cast(name(m)))
        })
    }

    fn fold<'m>(self, n: NodeId, f: &Lam, z: NodeId, a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.rows(self.graph.node(n), a, g, h)?;
            let (f, z) = (self.operator((n, 0), f, &a.elt)?, self.exp_of((n, 1), z, &a.elt)?);
            Ok(Acc::fold(&f, &z, &a.acc, self.at(n)).cast(name(m)))
        })
    }

    fn fold1<'m>(self, n: NodeId, f: &Lam, a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.rows(self.graph.node(n), a, g, h)?;
            let f = self.operator((n, 0), f, &a.elt)?;
            Ok(Acc::fold1(&f, &a.acc, self.at(n)).cast(name(m)))
        })
    }

    fn scan<'m>(self, n: NodeId, (dir, f): (graph::Dir, &Lam), z: NodeId, a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.rows(self.graph.node(n), a, g, h)?;
            let (f, z) = (self.operator((n, 0), f, &a.elt)?, self.exp_of((n, 1), z, &a.elt)?);
            Ok(Acc::scan(direction(dir), &f, &z, &a.acc, self.at(n)).cast(name(m)))
        })
    }

    fn scan1<'m>(self, n: NodeId, (dir, f): (graph::Dir, &Lam), a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.rows(self.graph.node(n), a, g, h)?;
            let f = self.operator((n, 0), f, &a.elt)?;
            Ok(Acc::scan1(direction(dir), &f, &a.acc, self.at(n)).cast(name(m)))
        })
    }

    fn permute<'m>(
        self,
        n: NodeId,
        (comb, index): (&Lam, &Lam),
        def: NodeId,
        src: NodeId,
        m: Guard<'m>,
    ) -> Typed<'a, X<'m>> {
        let node = self.graph.node(n);
        fresh2(|g, h| {
            let (def, src) = (self.array(node, def, g)?, self.array(node, src, h)?);
            let q = src.elt.same(&def.elt);
            let q = q.ok_or_else(|| type_error(node, "two arrays of one element type", &both(&def.acc, &src.acc)))?;
            let comb = self.operator((n, 0), comb, &def.elt)?;
            let index = self.fun1_to((n, 1), index, &src.sh, &Ty::pair(&Ty::<bool>::of(), &def.sh))?;
            let src = src.acc.cast(eq_arr(Equal::refl(), q));
            Ok(Acc::permute(&comb, &def.acc, &index, &src, self.at(n)).cast(name(m)))
        })
    }

    fn backpermute<'m>(self, n: NodeId, sh: NodeId, f: &Lam, a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.array(self.graph.node(n), a, g)?;
            let (t, sh) = self.extents((n, 0), sh, h)?;
            let f = self.fun1_to((n, 1), f, sh.ty(), &a.sh)?;
            Ok(Acc::backpermute(&t, &sh, &f, &a.acc, self.at(n)).cast(name(m)))
        })
    }

    fn argsort<'m>(self, n: NodeId, a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        let node = self.graph.node(n);
        fresh2(|g, h| {
            let a = self.rows(node, a, g, h)?;
            let key = ScalarTy::of(&a.elt).ok_or_else(|| type_error(node, "an array of scalars", a.acc.ty().raw()))?;
            Ok(Acc::argsort(key, &a.acc, self.at(n)).cast(name(m)))
        })
    }

    fn foreign<'m>(self, n: NodeId, f: &ForeignCall, shapes: &[NodeId], a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        let node = self.graph.node(n);
        fresh3(|g, h, k| {
            let a = self.infer(a, g)?;
            let mut extents = vec![];
            for (i, sh) in shapes.iter().enumerate() {
                extents.extend(fresh1(|h| Ok(components(&self.extents((n, i), *sh, h)?.1)))?);
            }
            let t = Ty::from_raw(&RawTy::shape(extents.len()), h);
            let t = t.ok_or_else(|| internal(node, "a shape"))?;
            let result = Ty::from_raw(&node.ty, k).and_then(|t| ArraysTy::of(&t));
            let result = result.ok_or_else(|| internal(node, "a result of arrays"))?;
            Ok(Acc::foreign(f, &from_components(&t, &extents), &a, &result, self.at(n)).cast(name(m)))
        })
    }

    fn reshape<'m>(self, n: NodeId, sh: NodeId, a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        fresh2(|g, h| {
            let a = self.array(self.graph.node(n), a, g)?;
            let (t, sh) = self.extents((n, 0), sh, h)?;
            Ok(Acc::reshape(&t, &sh, &a.acc, self.at(n)).cast(name(m)))
        })
    }

    fn replicate<'m>(self, n: NodeId, kept: &[bool], slx: NodeId, a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        let node = self.graph.node(n);
        fresh2(|g, h| {
            let spec = SliceSpec::from_kept(kept, g);
            let a = self.array(node, a, h)?;
            let q = a.sh.same(&spec.small());
            let q = q.ok_or_else(|| type_error(node, rank(spec.small().raw()), a.acc.ty().raw()))?;
            let slx = self.exp_of((n, 0), slx, &spec.fixed())?;
            Ok(Acc::replicate(&spec, &slx, &a.acc.cast(eq_arr(q, Equal::refl())), self.at(n)).cast(name(m)))
        })
    }

    fn slice<'m>(self, n: NodeId, kept: &[bool], slx: NodeId, a: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        let node = self.graph.node(n);
        fresh2(|g, h| {
            let spec = SliceSpec::from_kept(kept, g);
            let a = self.array(node, a, h)?;
            let q = a.sh.same(&spec.large());
            let q = q.ok_or_else(|| type_error(node, rank(spec.large().raw()), a.acc.ty().raw()))?;
            let slx = self.exp_of((n, 0), slx, &spec.fixed())?;
            Ok(Acc::slice(&spec, &slx, &a.acc.cast(eq_arr(q, Equal::refl())), self.at(n)).cast(name(m)))
        })
    }

    fn acond<'m>(self, n: NodeId, c: NodeId, t: NodeId, e: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        let c = self.exp_of((n, 0), c, &Ty::<bool>::of())?;
        let t = self.region(self.sub(n, 0)?, t, m)?;
        let e = self.check_region((n, 1), e, t.ty())?;
        Ok(Acc::cond(&c, &t, &e, self.at(n)))
    }

    fn awhile<'m>(self, n: NodeId, cond: &Lam, body: &Lam, init: NodeId, m: Guard<'m>) -> Typed<'a, X<'m>> {
        let init = self.infer(init, m)?;
        let cond = self.step((n, 0), cond, init.ty(), &Ty::<Arr<(), bool>>::of())?;
        let body = self.step((n, 1), body, init.ty(), init.ty())?;
        Ok(Acc::while_(&cond, &body, &init, self.at(n)))
    }

    fn map_accum<'m>(
        self,
        n: NodeId,
        (dir, steps, step): (graph::Dir, NodeId, &Lam),
        init: NodeId,
        xs: NodeId,
        m: Guard<'m>,
    ) -> Typed<'a, X<'m>> {
        let node = self.graph.node(n);
        fresh6(|g, h, i, e, j, k| {
            let (init, xs) = (self.infer(init, g)?, self.infer(xs, h)?);
            let rows = rows_of(xs.ty(), i);
            let (row, q) = rows.ok_or_else(|| type_error(node, "arrays of at least one dimension", xs.ty().raw()))?;
            let steps = self.exp_of((n, 0), steps, &Ty::of())?;
            let [x] = params(node, step)?;
            let t = Ty::pair(init.ty(), &row);
            let w = name(e);
            let arrays = self.arrays.push(&(), argument(self.graph, n, x, &t)?).cast_env(w);
            let region = self.sub(n, 0)?;
            let body = self.bind(x, || self.with_arrays(&arrays).region(region, step.body, j))?;
            let wrong = || type_error(node, format!("the state {} and an entry", init.ty().raw()), body.ty().raw());
            let TyView::Pair(next, _, pair) = body.ty().view(k) else { return Err(wrong()) };
            let same = next.same(init.ty()).ok_or_else(wrong)?;
            let body = body.cast(pair.then(eq_pair(same, Equal::refl()))).cast_env(w.sym());
            let trips = Trips::Times(steps, direction(dir));
            let l = ALoop { user: node.name, trips, init: init.clone(), xs: xs.cast(q), body };
            Ok(Acc::loop_(&l, self.at(n)).cast(name(m)))
        })
    }

    /// The condition or the body of a loop with state `P`: region `k` of the node `n`.
    fn step<P, R>(self, (n, k): (NodeId, u32), f: &Lam, p: &Ty<P>, r: &Ty<R>) -> Result<Acc<HCons<P, X<'a>>, R>> {
        let [x] = params(self.graph.node(n), f)?;
        fresh1(|e| {
            let q = name(e);
            let arrays = self.arrays.push(&(), argument(self.graph, n, x, p)?).cast_env(q);
            let body = self.bind(x, || self.with_arrays(&arrays).check_region((n, k), f.body, r))?;
            Ok(body.cast_env(q.sym()))
        })
    }

    /// The place in the user's source where the node was written.
    fn at(self, n: NodeId) -> Src {
        self.graph.node(n).source()
    }
}

fn use_<'a, 'm>(node: &Node, a: &ArrayTuple, m: Guard<'m>) -> Typed<'a, X<'m>> {
    let literal = Ty::from_raw(&node.ty, m).and_then(|t| Literal::check(a.clone(), &t));
    let literal = literal.ok_or_else(|| internal(node, &format!("arrays of type {}", node.ty)))?;
    Ok(Acc::use_(&literal, node.source()))
}

fn direction(d: graph::Dir) -> Dir {
    match d {
        graph::Dir::Left => Dir::Left,
        graph::Dir::Right => Dir::Right,
    }
}

/// The types of two arrays, for messages.
fn both<A, P, Q>(a: &Acc<A, P>, b: &Acc<A, Q>) -> RawTy {
    RawTy::pair(a.ty().raw().clone(), b.ty().raw().clone())
}

fn rank(sh: &RawTy) -> String {
    format!("an array of {} dimensions", sh.width())
}
