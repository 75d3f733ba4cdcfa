//! Turns a tape of numbers into a closed program: all steps in one piece of scalar code, and the arrays of the result,
//! whose elements are chosen from its results.

use super::tape::{Elements, Id, Op, Operand, Step, Tape};
use crate::closed::{Levels, variable};
use crate::rebuild::leaf;
use accel_core::ast::*;
use accel_core::repr::op::{Cmp, Num2};
use accel_core::repr::{RawTy, Scalar, ScalarType};
use frunk::{HCons, HNil};

/// The program of a tape.
pub fn rebuild(tape: &Tape) -> Program {
    fresh3(|p, e, r| {
        let named = "the types of a trace are those of a program";
        let arg = Ty::from_raw(&tape.argument, p).and_then(|t| ArraysTy::of(&t)).expect(named);
        let ty = Ty::from_raw(&tape.ty, r).expect(named);
        let env: Levels<_> = Env::empty().push(&(), &arg);
        let q = name(e);
        let body = arguments(tape, &array_types(&tape.argument), 0, &env.cast_env(q), &ty);
        Program::new(&arg, &body.cast_env(q.sym()))
    })
}

/// The array types of a tuple type, from left to right.
fn array_types(t: &RawTy) -> Vec<RawTy> {
    match t {
        RawTy::Pair(p) => deep(|| [array_types(&p.0), array_types(&p.1)].concat()),
        RawTy::Array(_) => vec![t.clone()],
        RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => vec![],
    }
}

/// Binds the arrays of the argument from number `k` on; array `k` gets the level `k + 1`.
fn arguments<'a, 'r>(tape: &Tape, types: &[RawTy], k: usize, env: &Levels<X<'a>>, ty: &Ty<X<'r>>) -> Acc<X<'a>, X<'r>> {
    let Some(wanted) = types.get(k) else { return numbers(tape, types, env, ty) };
    fresh3(|s, n, e| {
        let wanted = Ty::from_raw(wanted, s).expect("an array type");
        let all = Acc::var(&env.variable(0, n).expect("the argument is in scope"));
        let array = leaf(&all, &mut k.clone(), &wanted).expect("the argument has this array");
        let q = name(e);
        let body = deep(|| arguments(tape, types, k + 1, &env.push(&(), &wanted).cast_env(q), ty));
        Acc::let_(&array, &body.cast_env(q.sym()))
    })
}

/// The operands of the results, in order.
fn results(tape: &Tape) -> Vec<(Operand, ScalarType)> {
    let of = |e: &Elements| e.leaves.iter().map(|x| (x.operand(), x.value.ty())).collect::<Vec<_>>();
    tape.results.iter().flat_map(of).collect()
}

/// A tuple type whose components are in halves, so that each of them is reached in logarithmically many projections.
fn halves(types: &[ScalarType]) -> RawTy {
    match types {
        [] => RawTy::Unit,
        [t] => RawTy::Scalar(*t),
        _ => {
            let (a, b) = types.split_at(types.len() / 2);
            RawTy::pair(halves(a), halves(b))
        }
    }
}

/// Binds the tuple of all results' scalars, and then computes the result from them.
fn numbers<'a, 'r>(tape: &Tape, types: &[RawTy], env: &Levels<X<'a>>, ty: &Ty<X<'r>>) -> Acc<X<'a>, X<'r>> {
    let scalars: Vec<ScalarType> = results(tape).into_iter().map(|(_, t)| t).collect();
    fresh3(|t, v, e| {
        let all = Ty::from_raw(&halves(&scalars), t).expect("an element type");
        let scope: Levels<HCons<(), HNil>> = Env::empty().push(&(), &Ty::<()>::of());
        let q = name(v);
        let code = Code { tape, types, arrays: env };
        let code = code.steps(0, &scope.cast_env(q), &all).cast_env(q.sym());
        let made = Acc::generate(&ShapeTy::known(), &unit(), &Fun1(code), None);
        let q = name(e);
        let inner = env.push(&(), made.ty()).cast_env(q);
        let results = Results { tape, level: types.len() + 1, all: &all, count: scalars.len(), env: &inner };
        let body = results.tuple(ty, &mut 0, &mut 0);
        Acc::let_(&made, &body.cast_env(q.sym()))
    })
}

fn unit<E, A>() -> Exp<E, A, ()> {
    Exp::constant(&Value::unit(), &Ty::of())
}

struct Code<'t, 'a> {
    tape: &'t Tape,
    types: &'t [RawTy],
    arrays: &'t Levels<X<'a>>,
}

impl<'a> Code<'_, 'a> {
    /// The definitions of the steps from `id` on, and the tuple of the results. The step `id` has the level `id + 1`.
    fn steps<'e, 't>(&self, id: Id, env: &Levels<X<'e>>, all: &Ty<X<'t>>) -> Exp<X<'e>, X<'a>, X<'t>> {
        let Some(step) = self.tape.steps.get(id) else {
            return self.results(&mut results(self.tape).into_iter(), env, all);
        };
        fresh2(|s, e| {
            let t = Ty::from_raw(&RawTy::Scalar(step.value.ty()), s).expect("a scalar type");
            let rhs = self.step(step, env, &t);
            let q = name(e);
            let body = deep(|| self.steps(id + 1, &env.push(&(), &t).cast_env(q), all));
            Exp::let_(&rhs, &body.cast_env(q.sym()))
        })
    }

    fn results<'e, T>(
        &self,
        operands: &mut dyn Iterator<Item = (Operand, ScalarType)>,
        env: &Levels<X<'e>>,
        t: &Ty<T>,
    ) -> Exp<X<'e>, X<'a>, T> {
        fresh1(|n| match t.view(n) {
            TyView::Pair(a, b, q) => deep(|| {
                let a = self.results(operands, env, &a);
                Exp::pair(&a, &self.results(operands, env, &b)).cast(q.sym())
            }),
            TyView::Scalar(_) => self.operand(operands.next().expect("an operand for each scalar").0, env, t),
            TyView::Unit(q) => unit().cast(q.sym()),
            TyView::Arr(..) | TyView::List(..) => unreachable!("a tuple of scalars"),
        })
    }

    fn operand<'e, T>(&self, o: Operand, env: &Levels<X<'e>>, t: &Ty<T>) -> Exp<X<'e>, X<'a>, T> {
        match o {
            Operand::Step(id) => Exp::var(&variable(env, id + 1, t)),
            Operand::Constant(x) => Exp::constant(&Value::check(&[x], t).expect("a constant of the type"), t),
        }
    }

    fn ty(&self, o: Operand) -> RawTy {
        RawTy::Scalar(match o {
            Operand::Step(id) => self.tape.steps[id].value.ty(),
            Operand::Constant(x) => x.ty(),
        })
    }

    fn step<'e, 's>(&self, step: &Step, env: &Levels<X<'e>>, t: &Ty<X<'s>>) -> Exp<X<'e>, X<'a>, X<'s>> {
        let typed = "the function had arguments of these types when it was recorded";
        match step.op {
            Op::Argument(array, column, position) => self.argument(array, column, position, t),
            Op::One(op, a) => fresh1(|n| {
                let ta = Ty::from_raw(&self.ty(a), n).expect("a scalar type");
                Exp::prim1(Prim1::check(op, &ta, t).expect(typed), &self.operand(a, env, &ta))
            }),
            Op::Two(op, a, b) => fresh1(|n| {
                let ta = Ty::from_raw(&self.ty(a), n).expect("a scalar type");
                let (a, b) = (self.operand(a, env, &ta), self.operand(b, env, &ta));
                Exp::prim2(Prim2::check(op, &ta, t).expect(typed), &a, &b)
            }),
        }
    }

    /// A number of the argument.
    fn argument<'e, 's>(
        &self,
        array: usize,
        column: usize,
        mut position: usize,
        t: &Ty<X<'s>>,
    ) -> Exp<X<'e>, X<'a>, X<'s>> {
        let mut index = vec![];
        for extent in self.tape.arguments[array].extents.iter().rev() {
            index.push(Scalar::I64((position % extent) as i64));
            position /= extent;
        }
        index.reverse();
        fresh2(|n, m| {
            let ty = Ty::from_raw(&self.types[array], n).expect("an array type");
            let a = variable(self.arrays, array + 1, &ty);
            let TyView::Arr(sh, _, q) = ty.view(m) else { unreachable!("an array of the argument") };
            let index = Exp::constant(&Value::check(&index, &sh).expect("an index of the rank"), &sh);
            component(&Exp::index(&a.cast(q), &index, None), &mut column.clone(), t).expect("an element has this leaf")
        })
    }
}

/// Leaf number `k` of an element.
fn component<E, A, T, U>(e: &Exp<E, A, T>, k: &mut usize, wanted: &Ty<U>) -> Option<Exp<E, A, U>> {
    fresh1(|n| match e.ty().view(n) {
        TyView::Pair(_, _, q) => deep(|| {
            let e = e.cast(q);
            component(&e.fst(), k, wanted).or_else(|| component(&e.snd(), k, wanted))
        }),
        TyView::Scalar(_) if *k == 0 => Some(e.cast(e.ty().same(wanted)?)),
        TyView::Scalar(_) => {
            *k -= 1;
            None
        }
        TyView::Unit(_) | TyView::Arr(..) | TyView::List(..) => None,
    })
}

/// The result in terms of the tuple of all its scalars, which is the array at `level`.
struct Results<'t, 'e, 's> {
    tape: &'t Tape,
    level: usize,
    all: &'t Ty<X<'s>>,
    count: usize,
    env: &'t Levels<X<'e>>,
}

impl<'e, 's> Results<'_, 'e, 's> {
    /// The tuple of arrays of type `t`: the next arrays, whose first scalar is number `first`.
    fn tuple<T>(&self, t: &Ty<T>, array: &mut usize, first: &mut usize) -> Acc<X<'e>, T> {
        fresh1(|n| match t.view(n) {
            TyView::Unit(q) => Acc::unit().cast(q.sym()),
            TyView::Pair(a, b, q) => deep(|| {
                let a = self.tuple(&a, array, first);
                Acc::pair(&a, &self.tuple(&b, array, first)).cast(q.sym())
            }),
            TyView::Arr(sh, t, q) => {
                let elements = &self.tape.results[*array];
                let made = self.array(elements, &sh, &t, *first);
                *array += 1;
                *first += elements.leaves.len();
                made.cast(q.sym())
            }
            TyView::Scalar(_) | TyView::List(..) => unreachable!("a tuple of arrays"),
        })
    }

    fn array<Sh, T>(&self, a: &Elements, sh: &ShapeTy<Sh>, t: &ElementTy<T>, first: usize) -> Acc<X<'e>, Arr<Sh, T>> {
        let extents: Vec<Scalar> = a.extents.iter().map(|e| Scalar::I64(*e as i64)).collect();
        let shape = Exp::constant(&Value::check(&extents, sh).expect("extents of the rank"), sh);
        let element = match a.size() {
            0 => Exp::constant(&Value::zero(t), t),
            n => {
                let at = position(sh, &Exp::var(&Idx::zero(sh)), &mut a.extents.iter().rev());
                self.element(&at, n, t, first, &mut 0, a.types.len())
            }
        };
        Acc::generate(sh, &shape, &Fun1(element), None)
    }

    /// The element at a position; its next leaf is number `leaf` of `width`.
    fn element<E, T>(
        &self,
        at: &Exp<E, X<'e>, i64>,
        n: usize,
        t: &Ty<T>,
        first: usize,
        leaf: &mut usize,
        width: usize,
    ) -> Exp<E, X<'e>, T> {
        fresh1(|m| match t.view(m) {
            TyView::Unit(q) => unit().cast(q.sym()),
            TyView::Pair(a, b, q) => deep(|| {
                let a = self.element(at, n, &a, first, leaf, width);
                Exp::pair(&a, &self.element(at, n, &b, first, leaf, width)).cast(q.sym())
            }),
            TyView::Scalar(_) => {
                *leaf += 1;
                self.choose(at, (0, n), &|i| first + i * width + *leaf - 1, t)
            }
            TyView::Arr(..) | TyView::List(..) => unreachable!("an element"),
        })
    }

    /// The scalar `number(i)` for the `i` in this range that equals the position.
    fn choose<E, T>(
        &self,
        at: &Exp<E, X<'e>, i64>,
        (from, to): (usize, usize),
        number: &dyn Fn(usize) -> usize,
        t: &Ty<T>,
    ) -> Exp<E, X<'e>, T> {
        if to - from > 1 {
            let middle = from.midpoint(to);
            let half = Exp::constant(&Value::of(middle as i64), &Ty::of());
            let lower = Exp::prim2(Prim2::Cmp(Cmp::Lt, NumTy::index().any(), Equal::refl()), at, &half);
            let (a, b) = (self.choose(at, (from, middle), number, t), self.choose(at, (middle, to), number, t));
            return Exp::cond(&lower, &a, &b);
        }
        fresh1(|n| {
            let all = self.env.variable(self.level, n).expect("the numbers are in scope");
            let q = all.ty().same(&Ty::arr(&ShapeTy::known(), &ElementTy::of(self.all).expect("a tuple of scalars")));
            let all = Exp::index(&all.cast(q.expect("an array of one tuple")), &unit(), None);
            scalar(&all, number(from), self.count, t)
        })
    }
}

/// Scalar number `k` of a tuple in halves.
fn scalar<E, A, T, U>(e: &Exp<E, A, T>, k: usize, count: usize, wanted: &Ty<U>) -> Exp<E, A, U> {
    fresh1(|n| match e.ty().view(n) {
        TyView::Pair(_, _, q) => {
            let (e, half) = (e.cast(q), count / 2);
            match k.checked_sub(half) {
                None => scalar(&e.fst(), k, half, wanted),
                Some(k) => scalar(&e.snd(), k, count - half, wanted),
            }
        }
        _ => e.cast(e.ty().same(wanted).expect("a scalar of the type")),
    })
}

/// The row-major position of an index; the extents begin with the innermost one.
fn position<E, A, Sh>(sh: &Ty<Sh>, ix: &Exp<E, A, Sh>, extents: &mut dyn Iterator<Item = &usize>) -> Exp<E, A, i64> {
    let number = |n: usize| Exp::constant(&Value::of(n as i64), &Ty::of());
    fresh1(|n| match sh.view(n) {
        TyView::Pair(outer, inner, q) => {
            let ix = ix.cast(q);
            let extent = extents.next().copied().unwrap_or(0);
            let i = ix.snd().cast(inner.same(&Ty::of()).expect("an index is an integer"));
            let outer = deep(|| position(&outer, &ix.fst(), extents));
            let op = |op, a: &Exp<E, A, i64>, b: &Exp<E, A, i64>| {
                Exp::prim2(Prim2::Num(op, NumTy::index(), Equal::refl()), a, b)
            };
            op(Num2::Add, &op(Num2::Mul, &outer, &number(extent)), &i)
        }
        _ => number(0),
    })
}
