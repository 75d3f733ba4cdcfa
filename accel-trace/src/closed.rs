//! Closed programs over a list of arrays: the form in which every step of a trace is compiled and differentiated.
//!
//! The argument of such a program is the tuple of its inputs, nested to the right: `(i0, (i1, (i2, ())))`. Before the
//! body, every input is bound to a variable of its own, because scalar code reads only variables.

use accel_core::ast::*;
use accel_core::pass::{Variables, rename_arrays};
use accel_core::repr::RawTy;

/// An environment whose variables are found by their De Bruijn levels.
pub type Levels<A> = Env<UnitF, A>;

/// The part of a program in the scope of its inputs.
pub trait Body<'r> {
    /// The result in an environment in which input `k` has the level [`level`]`(k)`.
    fn body<'a>(&mut self, env: &Levels<X<'a>>) -> Acc<X<'a>, X<'r>>;
}

/// The De Bruijn level of input `k`.
pub fn level(k: usize) -> usize {
    2 * k + 1
}

/// The type of the argument of a program with these inputs.
pub fn argument(inputs: &[RawTy]) -> RawTy {
    inputs.iter().rev().fold(RawTy::Unit, |rest, t| RawTy::pair(t.clone(), rest))
}

/// The program with these inputs and this body.
pub fn program<'r>(inputs: &[RawTy], body: &mut dyn Body<'r>) -> Program {
    fresh2(|p, e| {
        // The inputs are arrays, so the argument is a tuple of arrays.
        let arg = Ty::from_raw(&argument(inputs), p).and_then(|t| ArraysTy::of(&t)).expect("a tuple of arrays");
        let env: Levels<_> = Env::empty().push(&(), &arg);
        let q = name(e);
        let body = bind(inputs.len(), 0, &env.cast_env(q), body);
        Program::new(&arg, &body.cast_env(q.sym()))
    })
}

/// Binds `n` inputs, which are in the tuple at `level`.
fn bind<'a, 'r>(n: usize, level: usize, env: &Levels<X<'a>>, body: &mut dyn Body<'r>) -> Acc<X<'a>, X<'r>> {
    if n == 0 {
        return body.body(env);
    }
    fresh4(|k, m, e1, e2| {
        let tuple = Acc::var(&env.variable(level, k).expect("the tuple of the inputs is in scope"));
        let TyView::Pair(first, rest, q) = tuple.ty().view(m) else { unreachable!("there are `n` inputs") };
        let tuple = tuple.cast(q);
        let (q1, q2) = (name(e1), name(e2));
        let inner = env.push(&(), &first).cast_env(q1);
        let others = tuple.weaken(&Thinning::shift()).cast_env(q1).snd();
        let inner = inner.push(&(), &rest).cast_env(q2);
        let below = deep(|| bind(n - 1, level + 2, &inner, body));
        Acc::let_(&tuple.fst(), &Acc::let_(&others, &below.cast_env(q2.sym())).cast_env(q1.sym()))
    })
}

/// The variable at a level, if it has this type.
pub fn variable<'a, T>(env: &Levels<X<'a>>, level: usize, ty: &Ty<T>) -> Idx<X<'a>, T> {
    fresh1(|n| {
        let i = env.variable(level, n).expect("the variable is in scope");
        let q = i.ty().same(ty).expect("the variable has the type of the step");
        i.cast(q)
    })
}

/// The tuple of type `ty` whose arrays are the variables at the next levels.
pub fn tuple<'a, T>(env: &Levels<X<'a>>, levels: &mut dyn Iterator<Item = usize>, ty: &Ty<T>) -> Acc<X<'a>, T> {
    fresh2(|n, m| {
        let q = name(m);
        tuple_(env, levels, &ty.cast(q), n).cast(q.sym())
    })
}

fn tuple_<'a, 't>(
    env: &Levels<X<'a>>,
    levels: &mut dyn Iterator<Item = usize>,
    ty: &Ty<X<'t>>,
    n: Guard<'_>,
) -> Acc<X<'a>, X<'t>> {
    match ty.view(n) {
        TyView::Unit(q) => Acc::unit().cast(q.sym()),
        TyView::Pair(a, b, q) => deep(|| {
            let a = tuple(env, levels, &a);
            Acc::pair(&a, &tuple(env, levels, &b)).cast(q.sym())
        }),
        TyView::Arr(..) => Acc::var(&variable(env, levels.next().expect("a level for each array"), ty)),
        TyView::Scalar(_) | TyView::List(..) => unreachable!("a tuple of arrays"),
    }
}

/// An operation over inputs: its arguments and the array variables of its code are replaced by the inputs.
pub struct Operation<'o, 'n, A, R> {
    /// The operation.
    pub op: &'o AccOp<'n, A, R>,
    /// The type of its result.
    pub ty: &'o Ty<R>,
    /// Its place in the source.
    pub at: Src,
    /// The inputs that are its arguments, in order.
    pub args: &'o [usize],
    /// The component of its result that is wanted, if it is a tuple: for each pair whether it is in the second one.
    pub part: &'o [bool],
    /// The input for the De Bruijn index of an array variable of its code.
    pub input: &'o dyn Fn(usize) -> usize,
}

impl<A, R> Operation<'_, '_, A, R> {
    /// The type of the wanted component.
    pub fn part_ty(&self) -> RawTy {
        let component = |t: &RawTy, second: &bool| match t {
            RawTy::Pair(p) => if *second { &p.1 } else { &p.0 }.clone(),
            t => t.clone(),
        };
        self.part.iter().fold(self.ty.raw().clone(), |t, second| component(&t, second))
    }
    /// The operation in an environment with the inputs.
    pub fn acc<'a>(&self, env: &Levels<X<'a>>) -> Acc<X<'a>, R> {
        let mut inputs = Inputs { env, args: self.args.iter(), input: self.input };
        Acc::op(&self.op.map(&mut inputs), self.ty, self.at)
    }
}

/// The component of a tuple at a path, whose type is known.
pub fn component<A, R, T>(a: &Acc<A, R>, part: &[bool], ty: &Ty<T>) -> Acc<A, T> {
    fresh1(|n| match (part.split_first(), a.ty().view(n)) {
        (Some((false, rest)), TyView::Pair(_, _, q)) => named_component(&a.cast(q).fst(), rest, ty),
        (Some((true, rest)), TyView::Pair(_, _, q)) => named_component(&a.cast(q).snd(), rest, ty),
        _ => a.cast(a.ty().same(ty).expect("the component has its type")),
    })
}

/// Generic in lifetimes only.
fn named_component<A, R, T>(a: &Acc<A, R>, part: &[bool], ty: &Ty<T>) -> Acc<A, T> {
    fresh3(|e, r, t| {
        let (e, r, t) = (name(e), name(r), name(t));
        deep(|| component(&a.cast_env(e).cast(r), part, &ty.cast(t))).cast_env(e.sym()).cast(t.sym())
    })
}

/// Replaces arguments and array variables by inputs.
pub struct Inputs<'o, 'a> {
    /// The environment with the inputs.
    pub env: &'o Levels<X<'a>>,
    /// The inputs that are the next arguments.
    pub args: std::slice::Iter<'o, usize>,
    /// The input for an array variable.
    pub input: &'o dyn Fn(usize) -> usize,
}

impl<'a, A> Variables<A, X<'a>> for Inputs<'_, 'a> {
    fn at<T>(&self, i: &Idx<A, T>) -> Idx<X<'a>, T> {
        variable(self.env, level((self.input)(i.depth())), i.ty())
    }
}

impl<'a, A> AccMap<A, X<'a>> for Inputs<'_, 'a> {
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, X<'a>, T> {
        rename_arrays(e, self)
    }
    fn acc<T>(&mut self, a: &Acc<A, T>) -> Acc<X<'a>, T> {
        tuple(self.env, &mut self.args.by_ref().map(|k| level(*k)), a.ty())
    }
}

/// The program that returns some of its inputs.
pub fn choice(inputs: &[RawTy], chosen: &[bool]) -> Program {
    let levels: Vec<usize> = (0..inputs.len()).filter(|k| chosen[*k]).map(level).collect();
    let types: Vec<RawTy> = inputs.iter().zip(chosen).filter(|(_, c)| **c).map(|(t, _)| t.clone()).collect();
    fresh1(|r| {
        let ty = Ty::from_raw(&argument(&types), r).expect("a tuple of arrays");
        program(inputs, &mut Chosen { levels: &levels, ty: &ty })
    })
}

struct Chosen<'o, 'r> {
    levels: &'o [usize],
    ty: &'o Ty<X<'r>>,
}

impl<'r> Body<'r> for Chosen<'_, 'r> {
    fn body<'a>(&mut self, env: &Levels<X<'a>>) -> Acc<X<'a>, X<'r>> {
        tuple(env, &mut self.levels.iter().copied(), self.ty)
    }
}
