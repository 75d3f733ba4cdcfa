//! Turns steps into closed programs with one definition for each step: a whole trace, or a cluster of steps.

use crate::closed::{self, Body, Levels, tuple};
use crate::cluster::Cluster;
use crate::step::{Id, Origin, Step};
use crate::steps::Steps;
use accel_core::ast::*;
use accel_core::repr::{ArrayTuple, RawTy};

/// The program of a trace. It computes what the traced program computes for every argument for which the traced program
/// takes the same path through conditionals and loops.
pub fn rebuild(steps: &Steps) -> Program {
    fresh3(|p, e, r| {
        let named = "the types of a trace are those of a program";
        let arg = Ty::from_raw(&steps.argument, p).and_then(|t| ArraysTy::of(&t)).expect(named);
        let ty = Ty::from_raw(&steps.ty, r).expect(named);
        let env: Levels<_> = Env::empty().push(&(), &arg);
        let q = name(e);
        let order: Vec<Id> = (0..steps.steps.len()).collect();
        let chain = Chain { steps: &steps.steps, order: &order, level: &|id| id + 1, results: &steps.result.leaves() };
        let body = chain.definitions(0, &env.cast_env(q), &ty);
        Program::new(&arg, &body.cast_env(q.sym()))
    })
}

/// The program that computes the last step of a cluster from its inputs: see [`closed`].
pub fn compose(steps: &[Step], cluster: &Cluster) -> Program {
    let types: Vec<RawTy> = cluster.inputs.iter().map(|i| steps[*i].ty.clone()).collect();
    fresh1(|r| {
        let ty = Ty::from_raw(&steps[cluster.last()].ty, r).expect("the type of a step is an array type");
        closed::program(&types, &mut Members { steps, cluster, ty: &ty })
    })
}

struct Members<'s, 'r> {
    steps: &'s [Step],
    cluster: &'s Cluster,
    ty: &'s Ty<X<'r>>,
}

impl<'r> Body<'r> for Members<'_, 'r> {
    fn body<'a>(&mut self, env: &Levels<X<'a>>) -> Acc<X<'a>, X<'r>> {
        let Cluster { members, inputs } = self.cluster;
        let first = env.size().get();
        let level = |id: Id| match members.binary_search(&id) {
            Ok(k) => first + k,
            Err(_) => closed::level(inputs.iter().position(|i| *i == id).expect("members use members and inputs")),
        };
        let chain = Chain { steps: self.steps, order: members, level: &level, results: &[self.cluster.last()] };
        chain.definitions(0, env, self.ty)
    }
}

/// A chain of definitions.
struct Chain<'s> {
    steps: &'s [Step],
    /// The steps that are defined, in order.
    order: &'s [Id],
    /// The De Bruijn levels of steps.
    level: &'s dyn Fn(Id) -> usize,
    /// The arrays of the result.
    results: &'s [Id],
}

impl Chain<'_> {
    /// The definitions from number `k` on, and the result.
    fn definitions<'a, 'r>(&self, k: usize, env: &Levels<X<'a>>, ty: &Ty<X<'r>>) -> Acc<X<'a>, X<'r>> {
        let Some(id) = self.order.get(k) else {
            return tuple(env, &mut self.results.iter().map(|id| (self.level)(*id)), ty);
        };
        fresh2(|s, e| {
            let step = self.definition(&self.steps[*id], env, s);
            let q = name(e);
            let body = deep(|| self.definitions(k + 1, &env.push(&(), step.ty()).cast_env(q), ty));
            Acc::let_(&step, &body.cast_env(q.sym()))
        })
    }

    /// A step in terms of earlier ones.
    fn definition<'a, 's>(&self, step: &Step, env: &Levels<X<'a>>, s: Guard<'s>) -> Acc<X<'a>, X<'s>> {
        let wanted = Ty::from_raw(&step.ty, s).expect("the type of a step is an array type");
        match &step.origin {
            Origin::Argument(k) => fresh1(|n| {
                let argument = Acc::var(&env.variable(0, n).expect("the argument is in scope"));
                leaf(&argument, &mut k.clone(), &wanted).expect("the argument has this array")
            }),
            Origin::Constant => {
                let literal = Literal::check(ArrayTuple::Array(step.value.clone()), &wanted);
                Acc::use_(&literal.expect("the array has the type of the step"), None)
            }
            Origin::Kernel(kernel) => fresh2(|p, r| {
                let kernel = kernel.program.open(p, r);
                let inputs = tuple(env, &mut step.inputs.iter().map(|i| (self.level)(*i)), &kernel.arg);
                let q = kernel.result.same(&wanted).expect("the step has the type of its kernel");
                Acc::let_(&inputs, &kernel.body.weaken(&Thinning::from_nil().lift())).cast(q)
            }),
        }
    }
}

/// Array number `k` of a tuple, counted from the left.
pub fn leaf<A, T, U>(a: &Acc<A, T>, k: &mut usize, wanted: &Ty<U>) -> Option<Acc<A, U>> {
    fresh1(|n| match a.ty().view(n) {
        TyView::Pair(_, _, q) => deep(|| {
            let a = a.cast(q);
            leaf(&a.fst(), k, wanted).or_else(|| leaf(&a.snd(), k, wanted))
        }),
        TyView::Arr(..) if *k == 0 => Some(a.cast(a.ty().same(wanted)?)),
        TyView::Arr(..) => {
            *k -= 1;
            None
        }
        TyView::Unit(_) | TyView::Scalar(_) | TyView::List(..) => None,
    })
}
