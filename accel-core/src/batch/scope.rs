//! What is in scope inside of a loop that is batched, and how variables depend on the lane.

use super::index::{from_components, outer};
use crate::ast::*;
use frunk::{HCons, HNil};
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// Why a loop stays a loop.
#[derive(Debug)]
pub struct Stuck {
    op: &'static str,
    at: Src,
    why: &'static str,
}

impl Stuck {
    /// An operation without a rule.
    pub fn new(op: &'static str, at: Src, why: &'static str) -> Self {
        Stuck { op, at, why }
    }
    /// A tree of other types than expected. The loop stays.
    pub fn broken(expected: &'static str) -> Self {
        Stuck { op: "batching", at: None, why: expected }
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "`{}` at {at}: {}", at.name, self.why),
            None => write!(f, "`{}`: {}", self.op, self.why),
        }
    }
}

/// How an array or a tuple of arrays depends on the lane.
#[derive(Clone, PartialEq, Debug)]
pub enum Form {
    /// It is the same for all lanes, and has its own type.
    Shared,
    /// It has the type of a list, with the lanes in front.
    Lanes,
    /// Its components have other forms.
    Pair(Rc<(Form, Form)>),
    /// It is a value in scalar code: the variable with this number among those that became scalars.
    Scalar(usize),
}

impl Form {
    /// The form of a pair.
    pub fn pair(a: Form, b: Form) -> Form {
        if a == b && !matches!(a, Form::Pair(_)) { a } else { Form::Pair(Rc::new((a, b))) }
    }
    /// The form of what has one of two forms, after a conversion.
    pub fn join(&self, other: &Form) -> Form {
        match (self, other) {
            (a, b) if a == b => a.clone(),
            (Form::Pair(_), _) | (_, Form::Pair(_)) => {
                Form::pair(self.first().join(&other.first()), self.second().join(&other.second()))
            }
            _ => Form::Lanes,
        }
    }
    /// The form of the first component.
    pub fn first(&self) -> Form {
        if let Form::Pair(p) = self { p.0.clone() } else { self.clone() }
    }
    /// The form of the second component.
    pub fn second(&self) -> Form {
        if let Form::Pair(p) = self { p.1.clone() } else { self.clone() }
    }
}

/// A variable of the loop's body: the level of the variable that replaces it.
#[derive(Clone)]
pub struct Entry {
    pub level: usize,
    pub form: Form,
}

/// The arrays `'b` in scope of the new code, the number of lanes, and the variables of the old code.
#[derive(Clone, Copy)]
pub struct Scope<'s, 'b> {
    pub arrays: &'s Env<UnitF, X<'b>>,
    pub n: &'s Exp<HNil, X<'b>, i64>,
    /// The variable that was bound last comes last.
    pub entries: &'s RefCell<Vec<Entry>>,
}

/// The new code for a computation of type `R`: a type that is `R` or that of lists of `R`, as the form says.
pub type Made<'b, 'm> = Result<(Acc<X<'b>, X<'m>>, Form), Stuck>;

impl<'b> Scope<'_, 'b> {
    /// The entry of a variable of the old code.
    pub fn entry<A, T>(self, i: &Idx<A, T>) -> Result<Entry, Stuck> {
        let entries = self.entries.borrow();
        let entry = entries.len().checked_sub(i.depth() + 1).and_then(|level| entries.get(level));
        entry.cloned().ok_or_else(|| Stuck::broken("a variable in scope"))
    }

    /// The level of the new variable for one of the old code, if it is the same for all lanes.
    pub fn shared(self, depth: usize) -> Option<usize> {
        let entries = self.entries.borrow();
        let entry = entries.get(entries.len().checked_sub(depth + 1)?)?;
        (entry.form == Form::Shared).then_some(entry.level)
    }

    /// The number of a variable of the old code, if it became a scalar.
    pub fn scalar<A, T>(self, i: &Idx<A, T>) -> Option<usize> {
        self.entry(i).ok().and_then(|entry| if let Form::Scalar(k) = entry.form { Some(k) } else { None })
    }

    /// Defines a variable of the new code.
    pub fn bind<T, R, U>(
        self,
        x: &Acc<X<'b>, T>,
        body: impl for<'t, 'e> FnOnce(Scope<'t, 'e>, Idx<X<'e>, T>) -> Result<(Acc<X<'e>, R>, U), Stuck>,
    ) -> Result<(Acc<X<'b>, R>, U), Stuck> {
        let (body, more) = self.under(x.ty(), body)?;
        Ok((Acc::let_(x, &body), more))
    }

    /// New code in the scope of a further variable.
    pub fn under<T, R, U>(
        self,
        t: &Ty<T>,
        body: impl for<'t, 'e> FnOnce(Scope<'t, 'e>, Idx<X<'e>, T>) -> Result<(Acc<X<'e>, R>, U), Stuck>,
    ) -> Result<(Acc<HCons<T, X<'b>>, R>, U), Stuck> {
        fresh1(|e| {
            let q: Equal<HCons<T, X<'b>>, _> = name(e);
            let arrays = self.arrays.push(&(), t).cast_env(q);
            let n = self.n.aweaken(&Thinning::shift()).cast_aenv(q);
            let inner = Scope { arrays: &arrays, n: &n, entries: self.entries };
            let (body, more) = body(inner, Idx::zero(t).cast_env(q))?;
            Ok((body.cast_env(q.sym()), more))
        })
    }

    /// Runs `f` with the new variable that was bound last as a further variable of the old code.
    pub fn enter<R>(self, form: Form, f: impl FnOnce() -> R) -> R {
        self.entries.borrow_mut().push(Entry { level: self.arrays.size().get() - 1, form });
        let result = f();
        self.entries.borrow_mut().pop();
        result
    }

    /// Gives all components lanes: an array that all lanes share is repeated.
    pub fn lift<'m, Q>(self, x: &Acc<X<'b>, Q>, form: &Form, m: Guard<'m>) -> Made<'b, 'm> {
        self.convert(x, form, &Form::Lanes, m)
    }

    /// Gives those components lanes that have some in the form `to`.
    pub fn convert<'m, Q>(self, x: &Acc<X<'b>, Q>, from: &Form, to: &Form, m: Guard<'m>) -> Made<'b, 'm> {
        fresh1(|v| {
            let q = name(v);
            deep(|| self.convert_(&x.cast(q), from, to, m))
        })
    }

    fn convert_<'q, 'm>(self, x: &Acc<X<'b>, X<'q>>, from: &Form, to: &Form, m: Guard<'m>) -> Made<'b, 'm> {
        if from == to {
            return Ok((x.cast(name(m)), to.clone()));
        }
        fresh3(|v, g, h| match x.ty().view(v) {
            TyView::Unit(_) => Ok((x.cast(name(m)), to.clone())),
            TyView::Arr(_, _, q) => Ok((self.repeat(&x.cast(q), h)?.cast(name(m)), to.clone())),
            TyView::Pair(_, _, q) => self.bind(&x.cast(q), |s, pair| {
                let pair = Acc::var(&pair);
                let a = s.convert(&pair.fst(), &from.first(), &to.first(), g)?.0;
                let b = s.convert(&pair.snd(), &from.second(), &to.second(), h)?.0;
                Ok((Acc::pair(&a, &b).cast(name(m)), to.clone()))
            }),
            TyView::Scalar(_) | TyView::List(..) => Err(Stuck::broken("arrays")),
        })
    }

    /// The array in each lane.
    pub fn repeat<'k, Sh, T>(
        self,
        a: &Acc<X<'b>, Arr<Sh, T>>,
        k: Guard<'k>,
    ) -> Result<Acc<X<'b>, Arr<Z<'k>, T>>, Stuck> {
        let (sh, _) = a.sh_elt();
        let kept: Vec<_> = [false].into_iter().chain((0..sh.raw().width()).map(|_| true)).collect();
        let spec = SliceSpec::from_kept(&kept, k);
        let small = sh.same(&spec.small()).ok_or_else(|| Stuck::broken("a shape"))?;
        let n = from_components(&spec.fixed(), std::slice::from_ref(self.n));
        Ok(Acc::replicate(&spec, &n, &a.cast(eq_arr(small, Equal::refl())), None))
    }

    /// The type of shapes with the lanes in front.
    pub fn outer<'k, Sh>(self, sh: &Ty<Sh>, k: Guard<'k>) -> Result<ShapeTy<X<'k>>, Stuck> {
        outer(sh, k).ok_or_else(|| Stuck::broken("a shape"))
    }
}
