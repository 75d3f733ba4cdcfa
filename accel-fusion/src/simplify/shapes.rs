//! What the definitions of arrays imply about their shapes and elements.
//!
//! NOTE [Canonical extents]: every extent of every array has one name: a constant, or the first extent known to be
//! equal, as a dimension of an array variable. So two arrays have visibly equal shapes if the names are equal. Names
//! are found when an array is defined, so a query of a shape does not search the definitions.

use super::inline_scalars::is_free;
use super::value_numbers::Table;
use accel_core::ast::*;
use accel_core::pass::canonical_key::{Levels, expression};
use accel_core::repr::{Agreement, RawTy, Scalar};
use frunk::HNil;

/// Shape expressions of more nodes than this are not copied.
const SMALL: usize = 24;

/// The name of an extent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// A constant.
    Const(i64),
    /// Dimension `dim`, outermost first, of the array variable at a level.
    Dim { level: usize, dim: usize },
}

/// The source of an extent.
#[derive(Clone)]
pub enum Origin {
    /// It has this name.
    Known(Extent),
    /// It is computed as this key says.
    Computed(Vec<u64>),
    /// It is unknown.
    Unknown,
}

/// The extents of all array variables in scope.
#[derive(Default)]
pub struct Shapes {
    /// By level, outermost dimension first. Tuples of arrays have none.
    extents: Vec<Vec<Extent>>,
    /// The extents with each key.
    computed: Table<Vec<u64>, (usize, usize)>,
}

impl Extent {
    fn tokens(self) -> [u64; 3] {
        match self {
            Extent::Const(x) => [0, x as u64, 0],
            Extent::Dim { level, dim } => [1, level as u64, dim as u64],
        }
    }
}

/// The rank of an array type, and 0 for tuples.
fn rank(t: &RawTy) -> usize {
    match t {
        RawTy::Array(p) => p.0.width(),
        _ => 0,
    }
}

impl Shapes {
    /// Begins a scope.
    pub fn enter(&self) -> (usize, usize) {
        (self.extents.len(), self.computed.enter())
    }
    /// Ends a scope.
    pub fn leave(&mut self, (variables, mark): (usize, usize)) {
        self.extents.truncate(variables);
        self.computed.leave(mark);
    }
    /// Adds a variable of type `t`, whose extents come from `origins`.
    pub fn define(&mut self, t: &RawTy, origins: Option<Vec<Origin>>) {
        let (level, rank) = (self.extents.len(), rank(t));
        let origins = origins.filter(|o| o.len() == rank).unwrap_or_else(|| vec![Origin::Unknown; rank]);
        let name = |(dim, origin)| match origin {
            Origin::Known(e) => e,
            Origin::Unknown => Extent::Dim { level, dim },
            Origin::Computed(key) => {
                let (level, dim) = self.computed.get(&key).unwrap_or_else(|| {
                    self.computed.insert(key, (level, dim));
                    (level, dim)
                });
                Extent::Dim { level, dim }
            }
        };
        let extents = origins.into_iter().enumerate().map(name).collect();
        self.extents.push(extents);
    }
    /// The extents of a variable.
    pub fn get<A, T>(&self, i: &Idx<A, T>) -> &[Extent] {
        &self.extents[self.extents.len() - 1 - i.depth()]
    }
    fn variable<A, R>(&self, a: &Acc<A, R>) -> Option<Vec<Extent>> {
        fresh1(|n| match a.view(n) {
            AccView::Var(i) => Some(self.get(&i).to_vec()),
            _ => None,
        })
    }
    /// The extents of the result of an operation on variables, if they have names.
    pub fn known<A, R>(&self, a: &Acc<A, R>) -> Option<Vec<Extent>> {
        let name = |origin| match origin {
            Origin::Known(e) => Some(e),
            Origin::Computed(key) => self.computed.get(&key).map(|(level, dim)| Extent::Dim { level, dim }),
            Origin::Unknown => None,
        };
        self.origins(a)?.into_iter().map(name).collect()
    }
    /// The sources of the extents of the result of an operation on variables.
    pub fn origins<A, R>(&self, a: &Acc<A, R>) -> Option<Vec<Origin>> {
        fresh1(|n| self.origins_of(&a.view(n)))
    }
    fn origins_of<A, R>(&self, a: &AccView<'_, A, R>) -> Option<Vec<Origin>> {
        let known = |e: Vec<Extent>| e.into_iter().map(Origin::Known).collect::<Vec<_>>();
        let op = match a {
            AccView::Op(op) => op,
            AccView::Var(i) => return Some(known(self.get(i).to_vec())),
            // `Use` has no known extents: a literal is data, and a program that was compiled for one file should also
            // serve for the next file.
            _ => return None,
        };
        match op {
            // shape (map f a) = shape a
            AccOp::Map { a, .. } => Some(known(self.variable(a)?)),
            AccOp::Scan1 { a, .. } => Some(known(self.variable(a)?)),
            AccOp::Argsort { a, .. } => Some(known(self.variable(a)?)),
            AccOp::Permute { defaults, .. } => Some(known(self.variable(defaults)?)),
            // shape (zip_with f a b) = the smaller extents
            AccOp::ZipWith { a, b, .. } => {
                let smaller = |(a, b)| match (a, b) {
                    (a, b) if a == b => Origin::Known(a),
                    (Extent::Const(a), Extent::Const(b)) => Origin::Known(Extent::Const(a.min(b))),
                    (a, b) => Origin::Computed([Extent::tokens(a), Extent::tokens(b)].concat()),
                };
                Some(self.variable(a)?.into_iter().zip(self.variable(b)?).map(smaller).collect())
            }
            AccOp::Cond { then, otherwise, .. } => {
                let extents = self.known(then)?;
                (self.known(otherwise)? == extents).then(|| known(extents))
            }
            // shape (generate sh f) = sh
            AccOp::Generate { sh, .. } => self.shape(sh),
            AccOp::Backpermute { sh, .. } => self.shape(sh),
            AccOp::Reshape { sh, .. } => self.shape(sh),
            AccOp::Fold { a, .. } | AccOp::Fold1 { a, .. } => {
                let mut extents = self.variable(a)?;
                extents.pop()?;
                Some(known(extents))
            }
            AccOp::Scan { a, .. } => {
                let mut extents = self.variable(a)?;
                let last = match extents.pop()? {
                    // An extent that no array has is an error at run time.
                    Extent::Const(n) => n.checked_add(1).map_or(Origin::Unknown, |n| Origin::Known(Extent::Const(n))),
                    n => Origin::Computed(n.tokens().to_vec()),
                };
                Some(known(extents).into_iter().chain([last]).collect())
            }
            AccOp::Replicate { spec, slx, a, .. } => {
                let (mut old, mut new) = (known(self.variable(a)?).into_iter(), self.shape(slx)?.into_iter());
                spec.kept().iter().map(|k| if *k { old.next() } else { new.next() }).collect()
            }
            AccOp::Slice { spec, a, .. } => {
                let all = self.variable(a)?.into_iter().zip(spec.kept());
                Some(known(all.filter(|(_, kept)| **kept).map(|(e, _)| e).collect()))
            }
            AccOp::Agree { .. } => None,
            // These are not single arrays, or unknown components of tuples.
            AccOp::Unit { .. }
            | AccOp::Pair { .. }
            | AccOp::Fst { .. }
            | AccOp::Snd { .. }
            | AccOp::Foreign { .. }
            | AccOp::Accumulate { .. } => None,
        }
    }
    /// Whether two shapes visibly agree.
    pub fn agree<A, L, M>(&self, agreement: Agreement, left: &Exp<HNil, A, L>, right: &Exp<HNil, A, M>) -> bool {
        let (Some(left), Some(right)) = (self.shape(left), self.shape(right)) else { return false };
        let same = |a: &Origin, b: &Origin| match (a, b) {
            (Origin::Known(a), Origin::Known(b)) => a == b,
            (Origin::Computed(a), Origin::Computed(b)) => a == b,
            _ => false,
        };
        let pairs = agreement.pairs(left.len(), right.len());
        pairs.is_some_and(|pairs| pairs.iter().all(|(i, j)| same(&left[*i], &right[*j])))
    }
    /// The sources of the extents of a shape.
    fn shape<A, Sh>(&self, sh: &Exp<HNil, A, Sh>) -> Option<Vec<Origin>> {
        self.visible(sh).or_else(|| {
            let whole = expression(sh, &mut Levels(self.extents.len()))?;
            let dims = 0..sh.ty().raw().width();
            Some(dims.map(|d| Origin::Computed([whole.as_slice(), &[d as u64]].concat())).collect())
        })
    }
    fn visible<A, Sh>(&self, sh: &Exp<HNil, A, Sh>) -> Option<Vec<Origin>> {
        fresh1(|n| match sh.view(n) {
            ExpView::Const(v) => {
                let leaf = |s: &Scalar| match s {
                    Scalar::I64(x) => Some(Origin::Known(Extent::Const(*x))),
                    _ => None,
                };
                v.scalars().iter().map(leaf).collect()
            }
            ExpView::Op(ExpOp::Pair(a, b, _)) => {
                let mut dims = self.visible(&a)?;
                // The last constructor of a shape: a shape of one dimension less, and an extent
                dims.push(match self.visible(&b).as_deref() {
                    Some([extent]) => extent.clone(),
                    _ => Origin::Computed(expression(&b, &mut Levels(self.extents.len()))?),
                });
                Some(dims)
            }
            ExpView::Op(ExpOp::Shape(a, _)) => Some(self.get(&a).iter().copied().map(Origin::Known).collect()),
            ExpView::Op(ExpOp::Fst(a, _)) => {
                let mut dims = self.visible(&a)?;
                dims.pop()?;
                Some(dims)
            }
            ExpView::Op(ExpOp::Snd(a, _)) => Some(vec![self.visible(&a)?.pop()?]),
            _ => None,
        })
    }
    /// The shape of an array variable in terms of earlier arrays, if it is known and takes no more work. `once` says
    /// whether the shape is computed only once.
    pub fn resolve<A, Sh, T>(
        &self,
        a: &Idx<A, Arr<Sh, T>>,
        defs: &Env<AccF<A>, A>,
        once: bool,
    ) -> Option<Exp<HNil, A, Sh>> {
        let t = a.ty().sh_elt().0;
        if once && let Some(sh) = given_shape(&defs.get(a), &t) {
            return Some(sh);
        }
        let (extents, own) = (self.get(a), self.extents.len() - 1 - a.depth());
        // All dimensions of another array
        if let Some(Extent::Dim { level, .. }) = extents.first()
            && *level != own
            && self.extents[*level] == *extents
        {
            return fresh2(|n, m| {
                let other = defs.variable(*level, n)?;
                let TyView::Arr(sh, _, q) = other.ty().view(m) else { return None };
                Some(Exp::shape(&other.cast(q)).cast(sh.same(&t)?))
            });
        }
        let extents: Option<Vec<_>> = extents.iter().map(|e| self.extent(*e, own, defs, once)).collect();
        shape_of(&extents?, &t)
    }
    /// As [`Shapes::resolve`], for one extent of an array variable: `drop` dimensions before the innermost one.
    pub fn resolve_one<A, T>(
        &self,
        a: &Idx<A, T>,
        drop: usize,
        defs: &Env<AccF<A>, A>,
        once: bool,
    ) -> Option<Exp<HNil, A, i64>> {
        let extents = self.get(a);
        let extent = extents.len().checked_sub(drop + 1).map(|dim| extents[dim])?;
        self.extent(extent, self.extents.len() - 1 - a.depth(), defs, once)
    }
    /// An extent as an expression; `None` if it would be an extent of the array at level `own` itself.
    fn extent<A>(&self, e: Extent, own: usize, defs: &Env<AccF<A>, A>, once: bool) -> Option<Exp<HNil, A, i64>> {
        match e {
            Extent::Const(x) => Some(Exp::constant(&Value::of(x), &Ty::of())),
            Extent::Dim { level, dim } => fresh2(|n, m| {
                let a = defs.variable(level, n)?;
                let TyView::Arr(sh, _, q) = a.ty().view(m) else { return None };
                let drop = self.extents[level].len() - 1 - dim;
                if once && let Some(given) = given_shape(&defs.get(&a), &sh) {
                    return component(&given, drop);
                }
                (level != own).then_some(())?;
                component(&Exp::shape(&a.cast(q)), drop)
            }),
        }
    }
}

/// The shape of type `t` with these extents, outermost first.
pub fn shape_of<A, Sh>(extents: &[Exp<HNil, A, i64>], t: &Ty<Sh>) -> Option<Exp<HNil, A, Sh>> {
    fresh1(|n| match t.view(n) {
        TyView::Unit(q) => Some(Exp::constant(&Value::unit(), &Ty::of()).cast(q.sym())),
        TyView::Pair(rest, last, q) => {
            let (extent, outer) = extents.split_last()?;
            let i64 = Ty::<i64>::of().same(&last)?;
            Some(Exp::pair(&shape_of(outer, &rest)?, &extent.cast(i64)).cast(q.sym()))
        }
        _ => None,
    })
}

/// The extent of a shape, `drop` dimensions before the innermost one.
pub fn component<A, T>(e: &Exp<HNil, A, T>, drop: usize) -> Option<Exp<HNil, A, i64>> {
    fresh1(|n| {
        let TyView::Pair(_, last, q) = e.ty().view(n) else { return None };
        match drop {
            0 => Some(e.cast(q).snd().cast(last.same(&Ty::of())?)),
            _ => component(&e.cast(q).fst(), drop - 1),
        }
    })
}

/// The shape in the definition of an array, if it is small.
fn given_shape<A, R, Sh>(a: &Acc<A, R>, t: &Ty<Sh>) -> Option<Exp<HNil, A, Sh>> {
    fn small<A, S, Sh>(sh: &Exp<HNil, A, S>, t: &Ty<Sh>) -> Option<Exp<HNil, A, Sh>> {
        if is_cheap(sh) { Some(sh.cast(sh.ty().same(t)?)) } else { None }
    }
    fresh1(|n| match a.view(n) {
        AccView::Op(AccOp::Generate { sh, .. }) => small(&sh, t),
        AccView::Op(AccOp::Backpermute { sh, .. }) => small(&sh, t),
        AccView::Op(AccOp::Reshape { sh, .. }) => small(&sh, t),
        _ => None,
    })
}

/// Whether a shape is small enough to be computed twice.
fn is_cheap<A, T>(e: &Exp<HNil, A, T>) -> bool {
    let mut left = SMALL;
    costs_little(e, &mut left)
}

fn costs_little<E, A, T>(e: &Exp<E, A, T>, left: &mut usize) -> bool {
    fresh3(|x, a, t| costs_little_(&e.cast_all(name(x), name(a), name(t)), left))
}

fn costs_little_<'e, 'a, 't>(e: &Exp<X<'e>, X<'a>, X<'t>>, left: &mut usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    fresh1(|n| match e.view(n) {
        ExpView::Op(ExpOp::Pair(a, b, _)) => costs_little(&a, left) && costs_little(&b, left),
        ExpView::Op(ExpOp::Fst(a, _)) => costs_little(&a, left),
        ExpView::Op(ExpOp::Snd(a, _)) => costs_little(&a, left),
        ExpView::Op(ExpOp::Prim1(_, a)) => costs_little(&a, left),
        ExpView::Op(ExpOp::Prim2(_, a, b)) => costs_little(&a, left) && costs_little(&b, left),
        _ => is_free(e),
    })
}

/// The element of an array of rank 0, if it is the same constant in every run.
pub fn constant_element<A, Sh, T>(a: &Idx<A, Arr<Sh, T>>, defs: &Env<AccF<A>, A>) -> Option<Value<T>> {
    if *a.ty().sh_elt().0.raw() != RawTy::Unit {
        return None;
    }
    fresh2(|n, m| match defs.get(a).view(n) {
        AccView::Op(AccOp::Generate { f, eq, .. }) => match f.0.view(m) {
            ExpView::Const(v) => Some(v.cast(eq.elt().sym())),
            _ => None,
        },
        _ => None,
    })
}
