//! Turns the steps of a trace into a closed program: one definition for each step.

use crate::closed::{Levels, tuple};
use crate::step::{Id, Origin, Step, Steps};
use accel_core::ast::*;
use accel_core::repr::ArrayTuple;

/// The program of a trace. It computes what the traced program computes for every argument for which the traced program
/// takes the same way through conditionals and loops.
pub fn rebuild(steps: &Steps) -> Program {
    fresh3(|p, e, r| {
        let named = "the types of a trace are those of a program";
        let arg = Ty::from_raw(&steps.argument, p).and_then(|t| ArraysTy::of(&t)).expect(named);
        let ty = Ty::from_raw(&steps.ty, r).expect(named);
        let env: Levels<_> = Env::empty().push(&(), &arg);
        let q = name(e);
        let body = definitions(steps, 0, &env.cast_env(q), &ty);
        Program::new(&arg, &body.cast_env(q.sym()))
    })
}

/// The De Bruijn level of a step: below the argument.
fn level(id: Id) -> usize {
    id + 1
}

/// The definitions of the steps from `id` on, and the result.
fn definitions<'a, 'r>(steps: &Steps, id: Id, env: &Levels<X<'a>>, ty: &Ty<X<'r>>) -> Acc<X<'a>, X<'r>> {
    let Some(step) = steps.steps.get(id) else {
        return tuple(env, &mut steps.result.leaves().into_iter().map(level), ty);
    };
    fresh2(|s, e| {
        let step = definition(step, env, s);
        let q = name(e);
        let body = deep(|| definitions(steps, id + 1, &env.push(&(), step.ty()).cast_env(q), ty));
        Acc::let_(&step, &body.cast_env(q.sym()))
    })
}

/// A step in terms of earlier ones.
fn definition<'a, 's>(step: &Step, env: &Levels<X<'a>>, s: Guard<'s>) -> Acc<X<'a>, X<'s>> {
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
            let inputs = tuple(env, &mut step.inputs.iter().map(|i| level(*i)), &kernel.arg);
            let q = kernel.result.same(&wanted).expect("the step has the type of its kernel");
            Acc::let_(&inputs, &kernel.body.weaken(&Thinning::from_nil().lift())).cast(q)
        }),
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
