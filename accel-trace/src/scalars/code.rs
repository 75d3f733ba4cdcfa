//! Evaluates scalar code on traced scalars.

use super::tape::{Elements, Leaf, Tape, Traced, Value};
use accel_core::ast::{ConstF, Dir, Env, Exp, ExpOp, ExpTrips, ExpView, LoopView, Ty, X, deep, fresh1, fresh3, name};
use accel_core::error::{Error, Result};
use accel_core::repr::tree::Tree;
use accel_core::repr::{RawTy, Scalar};

/// The values of scalar variables.
pub type Values<E> = Env<ConstF<Value>, E>;
/// The arrays of array variables.
pub type Arrays<A> = Env<ConstF<Tree<usize>>, A>;

/// Evaluates scalar code.
pub struct Code<'t> {
    /// Where steps are recorded.
    pub tape: &'t mut Tape,
    /// All arrays.
    pub arrays: &'t [Elements],
    lists: Vec<Vec<Traced>>,
    /// What the code has emitted, in order.
    pub emitted: Vec<Emission>,
}

/// Values for an element of an accumulator.
pub struct Emission {
    /// The position of the accumulator.
    pub to: usize,
    pub ix: Vec<i64>,
    pub values: Vec<Traced>,
}

/// The value of type `ty` with these leaves.
pub fn value(ty: &RawTy, leaves: &mut impl Iterator<Item = Traced>) -> Value {
    let mut next = || Leaf::Scalar(leaves.next().unwrap_or(Traced::constant(Scalar::Bool(false))));
    Tree::of(ty, &mut next)
}

/// The value of an index or a shape.
pub fn index(ty: &RawTy, index: &[usize]) -> Value {
    value(ty, &mut index.iter().map(|i| Traced::constant(Scalar::I64(*i as i64))))
}

/// The scalar leaves of a value.
pub fn scalars(v: &Value) -> Vec<Traced> {
    let scalar = |l| match l {
        Leaf::Scalar(x) => Some(x),
        Leaf::List(_) => None,
    };
    v.leaves().into_iter().filter_map(scalar).collect()
}

/// The components of an index or a shape.
pub fn integers(v: &Value) -> Result<Vec<i64>> {
    scalars(v).into_iter().map(integer).collect()
}

pub fn integer(x: Traced) -> Result<i64> {
    match x.value {
        Scalar::I64(i) => Ok(i),
        _ => Err(broken("an index that is no integer")),
    }
}

/// The truth value of a condition.
pub fn truth(v: &Value) -> Result<bool> {
    match v {
        Tree::Leaf(Leaf::Scalar(Traced { value: Scalar::Bool(b), .. })) => Ok(*b),
        _ => Err(broken("a condition without a value")),
    }
}

/// An error that the run in the interpreter has excluded.
pub fn broken(what: &str) -> Error {
    Error::Internal(format!("trace of scalars: {what}"))
}

/// The row-major position of an index.
pub fn position(extents: &[usize], index: &[i64]) -> Result<usize> {
    extents.iter().zip(index).try_fold(0, |p, (extent, i)| match usize::try_from(*i) {
        Ok(i) if i < *extent => Ok(p * extent + i),
        _ => Err(broken("an index outside of its array")),
    })
}

fn scalar(v: &Value) -> Result<Traced> {
    match v {
        Tree::Leaf(Leaf::Scalar(x)) => Ok(*x),
        _ => Err(broken("a value that is no scalar")),
    }
}

impl<'t> Code<'t> {
    /// Records on this tape, and reads these arrays.
    pub fn new(tape: &'t mut Tape, arrays: &'t [Elements]) -> Self {
        Code { tape, arrays, lists: vec![], emitted: vec![] }
    }

    /// The value of an expression.
    pub fn exp<E, A, T>(&mut self, e: &Exp<E, A, T>, env: &Values<E>, arrays: &Arrays<A>) -> Result<Value> {
        fresh3(|n, m, k| {
            let (qe, qa, qt) = (name(n), name(m), name(k));
            let (e, env, arrays) = (e.cast_all(qe, qa, qt), env.cast_env(qe), arrays.cast_env(qa));
            deep(|| self.exp_(&e, &env, &arrays))
        })
    }

    // Generic in lifetimes only, so that it is compiled once.
    fn exp_<'e, 'a, 't2>(
        &mut self,
        e: &Exp<X<'e>, X<'a>, X<'t2>>,
        env: &Values<X<'e>>,
        arrays: &Arrays<X<'a>>,
    ) -> Result<Value> {
        fresh1(|n| match e.view(n) {
            ExpView::Const(v) => Ok(value(e.ty().raw(), &mut v.scalars().iter().map(|x| Traced::constant(*x)))),
            ExpView::Var(i) => Ok(env.get(&i)),
            ExpView::Let(b, body, q) => {
                let v = self.exp(&b, env, arrays)?;
                self.exp(&body, &env.push(&v, b.ty()).cast_env(q.sym()), arrays)
            }
            ExpView::While(w) => {
                let mut state = self.exp(&w.init, env, arrays)?;
                loop {
                    let inner = env.push(&state, w.init.ty()).cast_env(w.eq.sym());
                    if !truth(&self.exp(&w.cond, &inner, arrays)?)? {
                        return Ok(state);
                    }
                    state = self.exp(&w.body, &inner, arrays)?;
                }
            }
            ExpView::Loop(l) => self.loop_(&l, env, arrays),
            ExpView::Op(op) => self.op(&op, e.ty(), env, arrays),
        })
    }

    fn op<'e, 'a, 't2>(
        &mut self,
        op: &ExpOp<'_, X<'e>, X<'a>, X<'t2>>,
        ty: &Ty<X<'t2>>,
        env: &Values<X<'e>>,
        arrays: &Arrays<X<'a>>,
    ) -> Result<Value> {
        Ok(match op {
            ExpOp::Pair(a, b, _) => {
                let a = self.exp(a, env, arrays)?;
                Tree::pair(a, self.exp(b, env, arrays)?)
            }
            ExpOp::Fst(a, _) => self.exp(a, env, arrays)?.fst(),
            ExpOp::Snd(a, _) => self.exp(a, env, arrays)?.snd(),
            ExpOp::Prim1(p, a) => {
                let a = scalar(&self.exp(a, env, arrays)?)?;
                Tree::Leaf(Leaf::Scalar(self.tape.one(p.op(), a)?))
            }
            ExpOp::Prim2(p, a, b) => {
                let a = scalar(&self.exp(a, env, arrays)?)?;
                let b = scalar(&self.exp(b, env, arrays)?)?;
                Tree::Leaf(Leaf::Scalar(self.tape.two(p.op(), a, b)?))
            }
            ExpOp::Cond(c, then, otherwise) => {
                let taken = if truth(&self.exp(c, env, arrays)?)? { then } else { otherwise };
                self.exp(taken, env, arrays)?
            }
            ExpOp::Index(a, ix, _) => {
                let ix = integers(&self.exp(ix, env, arrays)?)?;
                let a = &self.arrays[arrays.get(a).leaf()];
                value(ty.raw(), &mut a.get(position(&a.extents, &ix)?).iter().copied())
            }
            ExpOp::Shape(a, _) => index(ty.raw(), &self.arrays[arrays.get(a).leaf()].extents),
            ExpOp::Emit { token, to, ix, value, .. } => {
                let token = self.exp(token, env, arrays)?;
                let ix = integers(&self.exp(ix, env, arrays)?)?;
                let values = scalars(&self.exp(value, env, arrays)?);
                self.emitted.push(Emission { to: to.position(), ix, values });
                token
            }
        })
    }

    fn loop_<'e, 'a, 't2>(
        &mut self,
        l: &LoopView<'_, X<'e>, X<'a>, X<'t2>>,
        env: &Values<X<'e>>,
        arrays: &Arrays<X<'a>>,
    ) -> Result<Value> {
        let mut state = self.exp(&l.init, env, arrays)?;
        let xs = lists(&self.exp(&l.xs, env, arrays)?);
        let n = match &l.trips {
            ExpTrips::Times(n) => integer(scalar(&self.exp(n, env, arrays)?)?)?,
            ExpTrips::While(_) => i64::MAX,
        };
        let entry = l.body.ty().parts().1;
        let mut made: Vec<Vec<Traced>> = vec![vec![]; entry.raw().leaves().len()];
        for k in 0..n {
            let inner = env.push(&state, l.init.ty()).cast_env(l.below_state.sym());
            if let ExpTrips::While(cond) = &l.trips
                && !truth(&self.exp(cond, &inner, arrays)?)?
            {
                break;
            }
            let k = if l.dir == Dir::Left { k } else { n - 1 - k };
            let at = |list: &usize| self.lists[*list].get(k as usize).copied().ok_or_else(|| broken("no row"));
            let row = xs.iter().map(at).collect::<Result<Vec<_>>>()?;
            let row = value(l.row.raw(), &mut row.into_iter());
            let next = self.exp(&l.body, &inner.push(&row, &l.row).cast_env(l.below_row.sym()), arrays)?;
            state = next.fst();
            made.iter_mut().zip(scalars(&next.snd())).for_each(|(list, y)| list.push(y));
        }
        if l.dir == Dir::Right {
            made.iter_mut().for_each(|list| list.reverse());
        }
        let first = self.lists.len();
        self.lists.extend(made);
        let mut next = first..;
        let made = Tree::of(entry.raw(), &mut || Leaf::List(next.next().unwrap_or_default()));
        Ok(Tree::pair(state, made))
    }
}

/// The lists of a value.
fn lists(v: &Value) -> Vec<usize> {
    let list = |l| match l {
        Leaf::List(k) => Some(k),
        Leaf::Scalar(_) => None,
    };
    v.leaves().into_iter().filter_map(list).collect()
}
