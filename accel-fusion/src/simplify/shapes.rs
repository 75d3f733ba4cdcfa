//! What is known about the shapes and elements of arrays from their definitions.
//!
//! NOTE [Roots]: arrays that visibly have the same shape have the same root, the level of the first of them. It is found when
//! an array is defined, so that a question about a shape takes no walk along the definitions.

use super::lets::is_free;
use super::table::{Table, Tokens};
use accel_core::ast::*;
use accel_core::repr::{ArrayTuple, RawTy};
use frunk::HNil;

/// Shape expressions of more nodes than this are not copied.
const SMALL: usize = 24;

/// The roots of all array variables in scope.
#[derive(Default)]
pub struct Shapes {
    /// By level.
    roots: Vec<usize>,
    /// The arrays of a shape that is computed in a certain way.
    computed: Table<Vec<u64>>,
}

/// How the root of an array is found.
pub enum Origin {
    /// It has the shape of an array with this root.
    Of(usize),
    /// Its shape is computed like this.
    Computed(Vec<u64>),
    /// Nothing is known.
    Unknown,
}

impl Shapes {
    /// The beginning of a scope.
    pub fn enter(&self) -> (usize, usize) {
        (self.roots.len(), self.computed.enter())
    }
    /// The end of a scope.
    pub fn leave(&mut self, (roots, mark): (usize, usize)) {
        self.roots.truncate(roots);
        self.computed.leave(mark);
    }
    /// One more variable, the definition of which is `a`.
    pub fn define(&mut self, origin: Origin) {
        let level = self.roots.len();
        let root = match origin {
            Origin::Of(root) => root,
            Origin::Unknown => level,
            Origin::Computed(key) => self.computed.get(&key).unwrap_or_else(|| {
                self.computed.insert(key, level);
                level
            }),
        };
        self.roots.push(root);
    }
    /// The root of a variable.
    pub fn root<A, T>(&self, i: &Idx<A, T>) -> usize {
        self.roots[self.roots.len() - 1 - i.depth()]
    }
    fn root_of<A, R>(&self, a: &Acc<A, R>) -> Option<usize> {
        fresh1(|n| match a.view(n) {
            AccView::Var(i) => Some(self.root(&i)),
            _ => None,
        })
    }
    /// The root that an operation would have, if one of the variables has it.
    pub fn known<A, R>(&self, a: &Acc<A, R>) -> Option<usize> {
        match self.origin(a) {
            Origin::Of(root) => Some(root),
            Origin::Computed(key) => self.computed.get(&key),
            Origin::Unknown => None,
        }
    }
    /// How the shape of an operation on variables comes about.
    pub fn origin<A, R>(&self, a: &Acc<A, R>) -> Origin {
        fresh1(|n| self.origin_of(&a.view(n)).unwrap_or(Origin::Unknown))
    }
    fn origin_of<A, R>(&self, a: &AccView<'_, A, R>) -> Option<Origin> {
        let op = match a {
            AccView::Op(op) => op,
            AccView::Use(array) => {
                let ArrayTuple::Array(array) = array.arrays() else { return None };
                let extents = array.extents.iter().map(|e| *e as i64);
                return Some(Origin::Computed(Tokens::constant_shape(extents)));
            }
            _ => return None,
        };
        let computed = |a: usize, extra: Vec<u64>| {
            let tag = op.name().bytes().map(u64::from);
            Some(Origin::Computed(tag.chain([a as u64]).chain(extra).collect()))
        };
        match op {
            // shape (map f a) = shape a, and so on
            AccOp::Map { a, .. } => Some(Origin::Of(self.root_of(a)?)),
            AccOp::Scan1 { a, .. } => Some(Origin::Of(self.root_of(a)?)),
            AccOp::Permute { defaults, .. } => Some(Origin::Of(self.root_of(defaults)?)),
            AccOp::ZipWith { a, b, .. } => {
                let (a, b) = (self.root_of(a)?, self.root_of(b)?);
                if a == b { Some(Origin::Of(a)) } else { computed(a, vec![b as u64]) }
            }
            AccOp::Generate { sh, .. } => self.shape(sh),
            AccOp::Backpermute { sh, .. } => self.shape(sh),
            AccOp::Reshape { sh, .. } => self.shape(sh),
            // Reductions and copies along dimensions: equal for equal shapes of the sources
            AccOp::Fold { a, .. } | AccOp::Fold1 { a, .. } => {
                Some(Origin::Computed(vec![u64::MAX, self.root_of(a)? as u64]))
            }
            AccOp::Scan { a, .. } => computed(self.root_of(a)?, vec![]),
            AccOp::Replicate { spec, slx, a, .. } => computed(self.root_of(a)?, self.slicing(spec.kept(), slx)),
            AccOp::Slice { spec, a, .. } => {
                computed(self.root_of(a)?, spec.kept().iter().map(|k| u64::from(*k)).collect())
            }
            _ => None,
        }
    }
    fn slicing<A, T>(&self, kept: &[bool], slx: &Exp<HNil, A, T>) -> Vec<u64> {
        kept.iter().map(|k| u64::from(*k)).chain(Tokens::of(slx, self.roots.len())).collect()
    }
    fn shape<A, Sh>(&self, sh: &Exp<HNil, A, Sh>) -> Option<Origin> {
        fresh1(|n| match sh.view(n) {
            ExpView::Op(ExpOp::Shape(a, _)) => Some(Origin::Of(self.root(&a))),
            _ => Some(Origin::Computed(Tokens::of(sh, self.roots.len()))),
        })
    }
    /// The shape of an array variable in terms of arrays before it, if that is known and not more work; `once` tells whether
    /// the shape is computed only once.
    pub fn resolve<A, Sh, T>(
        &self,
        a: &Idx<A, Arr<Sh, T>>,
        defs: &Env<AccF<A>, A>,
        once: bool,
    ) -> Option<Exp<HNil, A, Sh>> {
        fresh2(|n, m| {
            let root = defs.variable(self.root(a), n)?;
            let t = a.ty().sh_elt().0;
            if let Some(e) = expression(&defs.get(&root), &t).filter(|e| is_cheap(e, once)) {
                return Some(e);
            }
            if root.depth() == a.depth() {
                return None;
            }
            let TyView::Arr(sh, _, q) = root.ty().view(m) else { return None };
            Some(Exp::shape(&root.cast(q)).cast(sh.same(&t)?))
        })
    }
}

/// The shape of an array of this definition, of type `t`.
fn expression<A, R, Sh>(a: &Acc<A, R>, t: &Ty<Sh>) -> Option<Exp<HNil, A, Sh>> {
    fresh1(|n| {
        let op = match a.view(n) {
            AccView::Op(op) => op,
            AccView::Use(array) => {
                let ArrayTuple::Array(array) = array.arrays() else { return None };
                let leaves: Vec<_> = array.extents.iter().map(|e| accel_core::repr::Scalar::I64(*e as i64)).collect();
                return Some(Exp::constant(&Value::check(&leaves, t)?, t));
            }
            _ => return None,
        };
        match op {
            AccOp::Generate { sh, .. } => Some(sh.cast(sh.ty().same(t)?)),
            AccOp::Backpermute { sh, .. } => Some(sh.cast(sh.ty().same(t)?)),
            AccOp::Reshape { sh, .. } => Some(sh.cast(sh.ty().same(t)?)),
            AccOp::Fold { a, .. } | AccOp::Fold1 { a, .. } => {
                let sh = shape_of_variable(&a)?.fst();
                Some(sh.cast(sh.ty().same(t)?))
            }
            AccOp::Replicate { spec, slx, a, .. } => {
                let sh = large(&spec, &slx, &shape_of_variable(&a)?);
                Some(sh.cast(sh.ty().same(t)?))
            }
            AccOp::Slice { spec, a, .. } => {
                let sh = small(&spec, &shape_of_variable(&a)?);
                Some(sh.cast(sh.ty().same(t)?))
            }
            _ => None,
        }
    })
}

fn shape_of_variable<A, Sh, T>(a: &Acc<A, Arr<Sh, T>>) -> Option<Exp<HNil, A, Sh>> {
    fresh1(|n| match a.view(n) {
        AccView::Var(i) => Some(Exp::shape(&i)),
        _ => None,
    })
}

/// The shape of a replicated array.
fn large<A, L, S, G>(spec: &SliceSpec<L, S, G>, slx: &Exp<HNil, A, L>, sh: &Exp<HNil, A, S>) -> Exp<HNil, A, G> {
    fresh4(|l, s, g, a| {
        let (l, s, g, a) = (name(l), name(s), name(g), name(a));
        let (spec, slx, sh) = (spec.cast(l, s, g), slx.cast_aenv(a).cast(l), sh.cast_aenv(a).cast(s));
        large_(&spec, &slx, &sh).cast_aenv(a.sym()).cast(g.sym())
    })
}

fn large_<'a, 'l, 's, 'g>(
    spec: &SliceSpec<X<'l>, X<'s>, X<'g>>,
    slx: &Exp<HNil, X<'a>, X<'l>>,
    sh: &Exp<HNil, X<'a>, X<'s>>,
) -> Exp<HNil, X<'a>, X<'g>> {
    fresh1(|n| match spec.view(n) {
        SliceView::Nil(_, _, q) => Exp::constant(&Value::unit(), &Ty::of()).cast(q.sym()),
        SliceView::Keep(rest, l, s, g) => {
            let sh = sh.cast(s);
            Exp::pair(&large(&rest, &slx.cast(l), &sh.fst()), &sh.snd()).cast(g.sym())
        }
        SliceView::Fix(rest, l, s, g) => {
            let slx = slx.cast(l);
            Exp::pair(&large(&rest, &slx.fst(), &sh.cast(s)), &slx.snd()).cast(g.sym())
        }
    })
}

/// The shape of a slice.
fn small<A, L, S, G>(spec: &SliceSpec<L, S, G>, sh: &Exp<HNil, A, G>) -> Exp<HNil, A, S> {
    fresh4(|l, s, g, a| {
        let (l, s, g, a) = (name(l), name(s), name(g), name(a));
        small_(&spec.cast(l, s, g), &sh.cast_aenv(a).cast(g)).cast_aenv(a.sym()).cast(s.sym())
    })
}

fn small_<'a, 'l, 's, 'g>(
    spec: &SliceSpec<X<'l>, X<'s>, X<'g>>,
    sh: &Exp<HNil, X<'a>, X<'g>>,
) -> Exp<HNil, X<'a>, X<'s>> {
    fresh1(|n| match spec.view(n) {
        SliceView::Nil(_, q, _) => Exp::constant(&Value::unit(), &Ty::of()).cast(q.sym()),
        SliceView::Keep(rest, _, s, g) => {
            let sh = sh.cast(g);
            Exp::pair(&small(&rest, &sh.fst()), &sh.snd()).cast(s.sym())
        }
        SliceView::Fix(rest, _, s, g) => small(&rest, &sh.cast(g).fst()).cast(s.sym()),
    })
}

/// Whether a shape may be computed again: once more, if it is small; otherwise only if it costs nothing.
fn is_cheap<A, T>(e: &Exp<HNil, A, T>, once: bool) -> bool {
    let mut left = SMALL;
    costs_little(e, once, &mut left)
}

fn costs_little<E, A, T>(e: &Exp<E, A, T>, once: bool, left: &mut usize) -> bool {
    fresh3(|x, a, t| costs_little_(&e.cast_all(name(x), name(a), name(t)), once, left))
}

fn costs_little_<'e, 'a, 't>(e: &Exp<X<'e>, X<'a>, X<'t>>, once: bool, left: &mut usize) -> bool {
    if *left == 0 {
        return false;
    }
    *left -= 1;
    fresh1(|n| match e.view(n) {
        ExpView::Op(ExpOp::Pair(a, b, _)) => costs_little(&a, once, left) && costs_little(&b, once, left),
        ExpView::Op(ExpOp::Fst(a, _)) => costs_little(&a, once, left),
        ExpView::Op(ExpOp::Snd(a, _)) => costs_little(&a, once, left),
        ExpView::Op(ExpOp::Prim1(_, a)) => once && costs_little(&a, once, left),
        ExpView::Op(ExpOp::Prim2(_, a, b)) => once && costs_little(&a, once, left) && costs_little(&b, once, left),
        _ => is_free(e),
    })
}

/// The element of an array without dimensions that is the same constant in every run.
pub fn constant_element<A, Sh, T>(a: &Idx<A, Arr<Sh, T>>, defs: &Env<AccF<A>, A>, t: &Ty<T>) -> Option<Value<T>> {
    if *a.ty().sh_elt().0.raw() != RawTy::Unit {
        return None;
    }
    fresh2(|n, m| match defs.get(a).view(n) {
        AccView::Use(array) => {
            let ArrayTuple::Array(array) = array.arrays() else { return None };
            let leaves: Option<Vec<_>> = array.columns.iter().map(|c| c.get(0)).collect();
            Value::check(&leaves?, t)
        }
        AccView::Op(AccOp::Generate { f, eq, .. }) => match f.0.view(m) {
            ExpView::Const(v) => Some(v.cast(eq.elt().sym())),
            _ => None,
        },
        _ => None,
    })
}
