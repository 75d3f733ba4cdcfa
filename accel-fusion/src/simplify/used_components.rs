//! Liveness of components: finds the used components of values, and computes only those.

use super::projections::zero;
use accel_core::ast::*;
use accel_core::repr::RawTy;

/// The used components of a value. For an array, these are components of its elements. A tuple of arrays is like any
/// other tuple.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum Demand {
    /// None of them.
    #[default]
    None,
    /// Of an array, only its shape.
    Shape,
    /// Parts of the first and of the second component of a pair.
    Pair(Box<[Demand; 2]>),
    /// All of them.
    All,
}

impl Demand {
    /// A demand on the first component only.
    pub fn fst(&self) -> Demand {
        Demand::pair(self.clone(), Demand::None)
    }
    /// A demand on the second component only.
    pub fn snd(&self) -> Demand {
        Demand::pair(Demand::None, self.clone())
    }
    /// A demand on both components.
    pub fn pair(a: Demand, b: Demand) -> Demand {
        if a == Demand::None && b == Demand::None { Demand::None } else { Demand::Pair(Box::new([a, b])) }
    }
    /// The demands on the components of a pair.
    pub fn split(&self) -> [Demand; 2] {
        match self {
            Demand::Pair(p) => (**p).clone(),
            d => [d.clone(), d.clone()],
        }
    }
    /// The demand on all components, unless there is none on any.
    pub fn whole(&self) -> Demand {
        if matches!(self, Demand::None | Demand::Shape) { self.clone() } else { Demand::All }
    }
    /// The demand on an array of which at least the shape is used.
    pub fn of_array(&self) -> Demand {
        if *self == Demand::None { Demand::Shape } else { self.clone() }
    }
    /// The demand on the elements of an array.
    pub fn of_elements(&self) -> Demand {
        if *self == Demand::Shape { Demand::None } else { self.clone() }
    }
    /// Adds another demand.
    pub fn join(&mut self, other: &Demand) {
        match (&mut *self, other) {
            (Demand::All, _) | (_, Demand::None) | (Demand::Pair(_), Demand::Shape) => {}
            (Demand::Pair(a), Demand::Pair(b)) => {
                a[0].join(&b[0]);
                a[1].join(&b[1]);
            }
            (_, other) => *self = other.clone(),
        }
    }
    /// Whether the omitted parts of a value of type `t` take no memory.
    pub fn is_complete(&self, t: &RawTy) -> bool {
        match (self, t) {
            (Demand::All, _) => true,
            (Demand::None | Demand::Shape, t) => t.width() == 0,
            (d, RawTy::Array(p)) => d.is_complete(&p.1),
            (Demand::Pair(d), RawTy::Pair(p)) => d[0].is_complete(&p.0) && d[1].is_complete(&p.1),
            (Demand::Pair(_), _) => true,
        }
    }
}

/// Propagates demands from the result of scalar code to the variables and arrays that it uses.
pub struct Flow<'f> {
    /// The demands on the scalar variables in scope.
    pub scope: Vec<Demand>,
    /// Called for every array that is read, with its De Bruijn index and the demand on the element; `None` if only its
    /// shape is used.
    pub array: &'f mut dyn FnMut(usize, &Demand),
}

impl Flow<'_> {
    /// Adds the demand `d` on `e`.
    pub fn exp<E, A, T>(&mut self, e: &Exp<E, A, T>, d: &Demand) {
        fresh3(|x, a, t| deep(|| self.exp_(&e.cast_all(name(x), name(a), name(t)), d)))
    }

    fn exp_<'e, 'a, 't>(&mut self, e: &Exp<X<'e>, X<'a>, X<'t>>, d: &Demand) {
        fresh1(|n| match e.view(n) {
            ExpView::Const(_) => {}
            ExpView::Var(i) => {
                let level = self.scope.len() - 1 - i.depth();
                self.scope[level].join(d);
            }
            ExpView::Let(b, body, _) => {
                self.scope.push(Demand::None);
                self.exp(&body, d);
                let d = self.scope.pop().unwrap_or_default();
                self.exp(&b, &d);
            }
            ExpView::While(w) => {
                let d = d.whole();
                self.exp(&w.init, &d);
                self.scope.push(d.clone());
                self.exp(&w.cond, &d);
                self.exp(&w.body, &d);
                self.scope.pop();
            }
            ExpView::Loop(l) => {
                let d = d.whole();
                self.exp(&l.init, &d);
                self.exp(&l.xs, &d);
                if let ExpTrips::Times(n) = &l.trips {
                    self.exp(n, &d);
                }
                self.scope.push(d.clone());
                if let ExpTrips::While(cond) = &l.trips {
                    self.exp(cond, &d);
                }
                self.scope.push(d.clone());
                self.exp(&l.body, &d);
                self.scope.truncate(self.scope.len() - 2);
            }
            ExpView::Op(op) => match op {
                ExpOp::Pair(a, b, _) => {
                    let [da, db] = d.split();
                    self.exp(&a, &da);
                    self.exp(&b, &db);
                }
                ExpOp::Fst(a, _) => self.exp(&a, &d.fst()),
                ExpOp::Snd(a, _) => self.exp(&a, &d.snd()),
                ExpOp::Prim1(_, a) => self.exp(&a, &d.whole()),
                ExpOp::Prim2(_, a, b) => {
                    self.exp(&a, &d.whole());
                    self.exp(&b, &d.whole());
                }
                ExpOp::Cond(c, t, f) => {
                    self.exp(&c, &d.whole());
                    self.exp(&t, d);
                    self.exp(&f, d);
                }
                ExpOp::Index(a, ix, _) => {
                    (self.array)(a.depth(), d);
                    self.exp(&ix, &d.whole());
                }
                ExpOp::Shape(a, _) => (self.array)(a.depth(), &Demand::None),
                ExpOp::Emit { token, ix, value, .. } => {
                    let d = d.whole();
                    self.exp(&token, &d);
                    self.exp(&ix, &d);
                    self.exp(&value, &d);
                }
            },
        })
    }
}

/// The demanded components of a value, as a smaller tuple.
pub fn narrow<'m, E, A, T>(e: &Exp<E, A, T>, d: &Demand, m: Guard<'m>) -> Exp<E, A, X<'m>> {
    fresh3(|n, k, l| match (d, e.ty().view(n)) {
        (Demand::None, _) => Exp::constant(&Value::unit(), &Ty::of()).cast(name(m)),
        (Demand::Pair(p), TyView::Pair(_, _, q)) => {
            let e = e.cast(q);
            match &**p {
                [d, Demand::None] => narrow(&e.fst(), d, m),
                [Demand::None, d] => narrow(&e.snd(), d, m),
                [a, b] => Exp::pair(&narrow(&e.fst(), a, k), &narrow(&e.snd(), b, l)).cast(name(m)),
            }
        }
        _ => e.cast(name(m)),
    })
}

/// The value of type `t` whose demanded components are those of `x`, and whose other components are zero. `None` if `x`
/// does not have the type that [`narrow`] gives.
pub fn widen<E, A, U, T>(x: &Exp<E, A, U>, t: &Ty<T>, d: &Demand) -> Option<Exp<E, A, T>> {
    fresh2(|n, m| match (d, t.view(n)) {
        (Demand::None, _) => Some(zero(t)),
        (Demand::Pair(p), TyView::Pair(ta, tb, q)) => {
            let (a, b) = match &**p {
                [d, Demand::None] => (widen(x, &ta, d)?, zero(&tb)),
                [Demand::None, d] => (zero(&ta), widen(x, &tb, d)?),
                [a, b] => {
                    let TyView::Pair(_, _, p) = x.ty().view(m) else { return None };
                    let x = x.cast(p);
                    (widen(&x.fst(), &ta, a)?, widen(&x.snd(), &tb, b)?)
                }
            };
            Some(Exp::pair(&a, &b).cast(q.sym()))
        }
        _ => Some(x.cast(x.ty().same(t)?)),
    })
}

/// Code that computes only the demanded components: as [`narrow`], but also inside definitions, pairs and branches.
pub fn narrow_code<'m, E, A, T>(e: &Exp<E, A, T>, d: &Demand, m: Guard<'m>) -> Option<Exp<E, A, X<'m>>> {
    fresh3(|x, a, t| {
        let (x, a) = (name(x), name(a));
        let e = deep(|| narrow_code_(&e.cast_all(x, a, name(t)), d, m))?;
        Some(e.cast_env(x.sym()).cast_aenv(a.sym()))
    })
}

fn narrow_code_<'m, 'e, 'a, 't>(
    e: &Exp<X<'e>, X<'a>, X<'t>>,
    d: &Demand,
    m: Guard<'m>,
) -> Option<Exp<X<'e>, X<'a>, X<'m>>> {
    fresh3(|n, k, l| match (e.view(n), d) {
        (ExpView::Let(b, body, q), _) => Some(Exp::let_(&b, &narrow_code(&body, d, m)?.cast_env(q))),
        (ExpView::Op(ExpOp::Cond(c, t, f)), _) => {
            let (t, f) = (narrow_code(&t, d, m)?, narrow_code(&f, d, k)?);
            let q = f.ty().same(t.ty())?;
            Some(Exp::cond(&c, &t, &f.cast(q)))
        }
        (ExpView::Op(ExpOp::Pair(a, b, _)), Demand::Pair(p)) => match &**p {
            [d, Demand::None] => narrow_code(&a, d, m),
            [Demand::None, d] => narrow_code(&b, d, m),
            [da, db] => Some(Exp::pair(&narrow_code(&a, da, k)?, &narrow_code(&b, db, l)?).cast(name(m))),
        },
        (ExpView::Const(_) | ExpView::Var(_), _) | (_, Demand::All) => Some(narrow(e, d, m)),
        _ => {
            let t = e.ty();
            Some(Exp::let_(e, &narrow(&Exp::var(&Idx::zero(t)), d, m)))
        }
    })
}

/// Whether the value of an expression is that of a conditional.
pub fn is_conditional<E, A, T>(e: &Exp<E, A, T>) -> bool {
    fresh3(|x, a, t| deep(|| is_conditional_(&e.cast_all(name(x), name(a), name(t)))))
}

fn is_conditional_<'e, 'a, 't>(e: &Exp<X<'e>, X<'a>, X<'t>>) -> bool {
    fresh1(|n| match e.view(n) {
        ExpView::Op(ExpOp::Cond(..)) => true,
        ExpView::Let(_, body, _) => is_conditional(&body),
        _ => false,
    })
}
