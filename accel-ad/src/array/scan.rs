//! The duals of `scan` and `scan1`, in both directions.
//!
//! NOTE [Dual of a scan]: let y(0) = z, y(i+1) = f(y(i), a(i)) be the results. The full adjoint r(i) of y(i), through
//! all results that depend on it, is the given adjoint dy(i) plus the dual of step i applied to r(i+1). For fixed y and
//! a, this is an affine map: r(i) = dy(i) + M(i) r(i+1). The composition of affine maps is associative, so a scan in
//! the opposite direction computes all r. The last map is constant, with M = 0 and c = dy(n). M(i) is a matrix with a
//! row and a column for each number of an element (NOTE [Matrices as tuples]); for one number, this is a linear
//! recurrence. The dual of f at (y(i), a(i)), applied to r(i+1), then gives the adjoint of a(i), and the contributions
//! of step i to arrays that f reads. The adjoint of z is r(0). This is the rule of Futhark's AD for scans, for elements
//! of any type. If f is `+`, all M are 1, and r is a scan with `+`.
//!
//! NOTE [Segments of a scan]: for elements of d numbers, M(i) has d * d numbers, and a composition costs d times as much as
//! a map does. But f is associative, so the steps from y(i) to y(j) are one step, with the element a(i) . .. . a(j-1).
//! A map is thus given by its segment: the value before it, the combination of its elements, and the constant c. The dual
//! of f, applied to the constant of the next segment, gives the constant of both together. So a composition costs as much
//! as f and its dual. No element follows the last result; the placeholder there is never combined. The paper on
//! Futhark's scans calls this rule PPAD, and compares it with the matrices.
//!
//! The composition of segments is associative only if the value before the second segment is the result of the first
//! one. All computed values satisfy this, but a change of the second value alone does not, and derivatives by this
//! value are about such changes. So the rule for segments may not be applied to this operator again. The operator
//! copies the value before the outer segment into its result. Operators that copy components get matrices, which
//! describe the steps in their order.

use super::fold::initial;
use super::shapes::bind;
use super::state::ADual;
use super::steps::{Called, Function};
use crate::activity::Activity;
use crate::builders::{add, args, call2, fun1, index_op, int, less, plus, uncurry, zero};
use crate::linear_maps::{apply, matrix, tabulate, then};
use crate::operators::{Operator, passes_part};
use accel_core::ast::*;
use accel_core::error::Result;
use accel_core::repr::op::Num2;
use frunk::{HCons, HNil};

/// With at most this many numbers per element, the maps of NOTE [Dual of a scan] are composed as matrices, which are
/// then no larger than segments.
const MATRIX: usize = 2;

/// The arrays of a scan, in an environment `A2`.
struct Scan<A2, Sh, T> {
    dir: Dir,
    /// Whether there is an initial value: then the results are one longer than the source.
    has_init: bool,
    a: Idx<A2, Arr<(Sh, i64), T>>,
    y: Idx<A2, Arr<(Sh, i64), T>>,
    dy: Idx<A2, Arr<(Sh, i64), Tan<T>>>,
    at: Src,
}

type Ix<Sh> = HCons<(Sh, i64), HNil>;
type Index<A2, Sh> = Exp<Ix<Sh>, A2, (Sh, i64)>;
type Dual<A2, T, I> = Fun2<A2, (T, T), Tan<T>, (Tan<(T, T)>, I)>;

/// A scan with the operator `f`.
pub struct Operation<'f, A, T> {
    pub dir: Dir,
    pub f: &'f Fun2<A, T, T, T>,
    /// The initial value of a `scan`; none for a `scan1`.
    pub z: Option<&'f Exp<HNil, A, T>>,
    pub at: Src,
}

/// Adds the contributions of a scan of `a`. `y` is the result, and `dy` its adjoint.
///
/// # Errors
/// [`Error::Internal`](accel_core::error::Error::Internal) if the code is not in normal form.
pub fn scan<'m, B, A, A2, Sh, T>(
    st: ADual<B, A, A2>,
    Operation { dir, f, z, at }: Operation<'_, A, T>,
    a: &Idx<A, Arr<(Sh, i64), T>>,
    y: &Idx<A2, Arr<(Sh, i64), T>>,
    dy: &Idx<A2, Arr<(Sh, i64), Tan<T>>>,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    fresh8(|i, k, l, h, n, i2, j, z2| {
        let arrays = Scan { dir, has_init: z.is_some(), a: st.emb.at(a), y: y.clone(), dy: dy.clone(), at };
        if let Operator::Sum = Operator::of(f) {
            let t = dy.ty().sh_elt().1.ty();
            let r = st.bind(&Acc::scan1(arrays.back(), &plus(&t), &Acc::var(dy), at), k);
            let arrays = arrays.weaken(&r.up);
            let da = arrays.over_source(|ix| Exp::index(&r.val, &arrays.result_of(ix), at));
            let s = r.st.contribute(a, &da.cast(tan_arr().sym()), l);
            let (arrays, r) = (arrays.weaken(&s.up), s.up.at(&r.val));
            return finish(s.st, z, &arrays, &r, m);
        }
        let t = arrays.a.ty().sh_elt().1.ty();
        let combined = st.activity.of_result(st.adj.label_size());
        let both = Activity::pair(combined.clone(), combined);
        let (operator, pair) = (uncurry(f, &t, &t), Ty::pair(&t, &t));
        let dual = st.fun_dual(&operator, &pair, both.clone(), i)?;
        let step = dual.dual.aweaken(&st.emb);
        let r = match has_small_matrices(f) {
            true => arrays.by_matrices(&step),
            false => arrays.by_segments(&f.aweaken(&st.emb), &step),
        };
        let r = st.bind(&r, k);
        let arrays = arrays.weaken(&r.up);
        let function = Function::new(&operator, &pair, both, &dual);
        let body = |dual: &Called<_, _, _, _>, ix: &Index<_, Sh>| arrays.step(dual, &r.val, ix);
        let (sh, extents) = (arrays.a.ty().sh_elt().0, Exp::shape(&arrays.a));
        let steps = r.st.run_dual(function, &sh, &extents, body, at, (i2, j, z2, l))?;
        let (arrays, r) = (arrays.weaken(&steps.up), steps.up.at(&r.val));
        let da = fun1(&steps.val.values.ty().sh_elt().1, |x| {
            let both = x.fst().cast(tan_pair());
            if dir == Dir::Left { both.snd() } else { both.fst() }
        });
        let da = Acc::map(&da, &Acc::var(&steps.val.values), at);
        let s = steps.st.contribute(a, &da.cast(tan_arr().sym()), h);
        let (arrays, r, steps) = (arrays.weaken(&s.up), s.up.at(&r), steps.val.weaken(&s.up));
        let all = steps.contribute(s.st, n);
        finish(all.st, z, &arrays.weaken(&all.up), &all.up.at(&r), m)
    })
}

/// Whether the adjoints of a scan are computed with matrices: NOTE [Segments of a scan].
fn has_small_matrices<A, T>(f: &Fun2<A, T, T, T>) -> bool {
    tan_ty(f.0.ty()).raw().width() <= MATRIX || passes_part(f)
}

/// Adds the contributions of the initial value, whose adjoint for every row is the first (last) element of `r`.
fn finish<'m, B, A, A2, Sh, T>(
    st: ADual<B, A, A2>,
    z: Option<&Exp<HNil, A, T>>,
    arrays: &Scan<A2, Sh, T>,
    r: &Idx<A2, Arr<(Sh, i64), Tan<T>>>,
    m: Guard<'m>,
) -> Result<ADual<B, A, X<'m>>> {
    let Some(z) = z else { return Ok(st.rename(m).0) };
    let rows = arrays.rows();
    let start = fun1(&rows, |row| {
        let place = match arrays.dir {
            Dir::Left => int(0),
            Dir::Right => index_op(Num2::Sub, &Exp::shape(r).snd(), &int(1)),
        };
        Exp::index(r, &Exp::pair(&row, &place), arrays.at)
    });
    let dz = Acc::generate(&rows, &Exp::shape(r).fst(), &start, arrays.at);
    initial(st, z, &dz, arrays.at, m)
}

impl<A2, Sh, T> Scan<A2, Sh, T> {
    fn rows(&self) -> ShapeTy<Sh> {
        let (rows, _) = self.a.ty().sh_elt().0.ty().parts();
        ShapeTy::of(&rows).expect("the rows of an array have a shape")
    }

    /// The direction in which adjoints are computed.
    fn back(&self) -> Dir {
        self.dir.opposite()
    }

    /// The array with the shape of the source that `f` computes from the index.
    fn over_source<V>(&self, f: impl FnOnce(&Index<A2, Sh>) -> Exp<Ix<Sh>, A2, V>) -> Acc<A2, Arr<(Sh, i64), V>> {
        let sh = self.a.ty().sh_elt().0;
        Acc::generate(&sh, &Exp::shape(&self.a), &fun1(&sh, |ix| f(&ix)), self.at)
    }

    /// The index of the result in which an element is combined first.
    fn result_of<E>(&self, ix: &Exp<E, A2, (Sh, i64)>) -> Exp<E, A2, (Sh, i64)> {
        match (self.dir, self.has_init) {
            (Dir::Left, true) => moved(ix, 1),
            (Dir::Left, false) | (Dir::Right, _) => ix.clone(),
        }
    }

    /// The full adjoints of all results, from the matrices of the steps.
    fn by_matrices<I>(&self, dual: &Dual<A2, T, I>) -> Acc<A2, Arr<(Sh, i64), Tan<T>>> {
        fresh1(|q| {
            let (sh, u) = (self.dy.ty().sh_elt().0, self.dy.ty().sh_elt().1.ty());
            let matrices = matrix(&u, &u, q);
            let map = fun1(&sh, |ix| {
                let jacobian = |d: &Exp<_, A2, Tan<T>>| {
                    let before = Exp::index(&self.y, &ix, self.at);
                    let element = Exp::index(&self.a, &self.next(&ix), self.at);
                    self.pulled_back(dual, &before, &element, d)
                };
                let m = tabulate(&u, &u, &matrices, &jacobian);
                let m = Exp::cond(&self.has_next(&ix), &m, &zero(&matrices));
                Exp::pair(&m, &Exp::index(&self.dy, &ix, self.at))
            });
            let maps = Acc::generate(&sh, &Exp::shape(&self.dy), &map, self.at);
            let entry = Ty::pair(&matrices, &u);
            let (x, y) = args(&entry, &entry);
            let (outer, inner) = self.outer_and_inner(x, y);
            let c = add(&outer.snd(), &apply(&u, &outer.fst(), &inner.snd()));
            let m = then(&u, &u, &inner.fst(), &|column| apply(&u, &outer.fst(), column));
            let compose = Fun2(Exp::pair(&m, &c));
            let all = Acc::scan1(self.back(), &compose, &maps, self.at);
            Acc::map(&fun1(&entry, |x| x.snd()), &all, self.at)
        })
    }

    /// The full adjoints of all results, from segments: NOTE [Segments of a scan].
    fn by_segments<I>(&self, f: &Fun2<A2, T, T, T>, dual: &Dual<A2, T, I>) -> Acc<A2, Arr<(Sh, i64), Tan<T>>> {
        let (sh, u) = (self.dy.ty().sh_elt().0, self.dy.ty().sh_elt().1.ty());
        let t = self.a.ty().sh_elt().1.ty();
        let segment = fun1(&sh, |ix| {
            let (y, c) = (Exp::index(&self.y, &ix, self.at), Exp::index(&self.dy, &ix, self.at));
            let has_next = self.has_next(&ix);
            let element = Exp::cond(&has_next, &Exp::index(&self.a, &self.next(&ix), self.at), &y);
            Exp::pair(&Exp::pair(&Exp::pair(&y, &element), &has_next), &c)
        });
        let segments = Acc::generate(&sh, &Exp::shape(&self.dy), &segment, self.at);
        let entry = Ty::pair(&Ty::pair(&Ty::pair(&t, &t), &Ty::<bool>::of()), &u);
        let (x, y) = args(&entry, &entry);
        let (outer, inner) = self.outer_and_inner(x, y);
        let (has_next, before) = (inner.fst().snd(), outer.fst().fst().fst());
        let (element, more) = (outer.fst().fst().snd(), inner.fst().fst().snd());
        let both = self.ordered(&element, &more);
        let all = Exp::cond(&has_next, &call2(f, &both.fst(), &both.snd()), &element);
        let c = add(&outer.snd(), &self.pulled_back(dual, &before, &element, &inner.snd()));
        let join = Fun2(Exp::pair(&Exp::pair(&Exp::pair(&before, &all), &has_next), &c));
        let all = Acc::scan1(self.back(), &join, &segments, self.at);
        Acc::map(&fun1(&entry, |x| x.snd()), &all, self.at)
    }

    /// Whether a step follows the result.
    fn has_next<E>(&self, ix: &Exp<E, A2, (Sh, i64)>) -> Exp<E, A2, bool> {
        match self.dir {
            Dir::Left => less(&self.next(ix).snd(), &Exp::shape(&self.a).snd()),
            Dir::Right => less(&int(0), &ix.snd()),
        }
    }

    /// The index of the element of the step that follows the result.
    fn next<E>(&self, ix: &Exp<E, A2, (Sh, i64)>) -> Exp<E, A2, (Sh, i64)> {
        match (self.dir, self.has_init) {
            (Dir::Left, true) => ix.clone(),
            (Dir::Left, false) => moved(ix, 1),
            (Dir::Right, _) => moved(ix, -1),
        }
    }

    /// Of the two arguments of the operator that composes maps, the outer one is nearer to the start of the scan.
    fn outer_and_inner<V>(&self, x: V, y: V) -> (V, V) {
        if self.dir == Dir::Left { (x, y) } else { (y, x) }
    }

    /// The adjoint of `before` in a step that combines it with `element`, if the adjoint of the result is `d`.
    fn pulled_back<E, I>(
        &self,
        dual: &Dual<A2, T, I>,
        before: &Exp<E, A2, T>,
        element: &Exp<E, A2, T>,
        d: &Exp<E, A2, Tan<T>>,
    ) -> Exp<E, A2, Tan<T>> {
        let both = call2(dual, &self.ordered(before, element), d).fst().cast(tan_pair());
        if self.dir == Dir::Left { both.fst() } else { both.snd() }
    }

    /// The dual of the step of a source element: the adjoints of its arguments, and the index-adjoint tuple. `r` are the
    /// adjoints of the results.
    fn step<I>(
        &self,
        dual: &Dual<A2, T, I>,
        r: &Idx<A2, Arr<(Sh, i64), Tan<T>>>,
        ix: &Index<A2, Sh>,
    ) -> Exp<Ix<Sh>, A2, (Tan<(T, T)>, I)> {
        let d = Exp::index(r, &self.result_of(ix), self.at);
        let before = match (self.dir, self.has_init) {
            (Dir::Left, true) => ix.clone(),
            (Dir::Left, false) => moved(ix, -1),
            (Dir::Right, _) => moved(ix, 1),
        };
        bind(&d, |d, up| {
            let before = before.weaken(&up);
            let y = Exp::index(&self.y, &before, self.at);
            let element = Exp::index(&self.a, &ix.weaken(&up), self.at);
            let step = call2(dual, &self.ordered(&y, &element), &d);
            if self.has_init {
                return step;
            }
            // The first element is a result by itself.
            let t = step.ty().parts();
            let none = zero(d.ty());
            let both = if self.dir == Dir::Left { Exp::pair(&none, &d) } else { Exp::pair(&d, &none) };
            let first = Exp::pair(&both.cast(tan_pair().sym()), &zero(&t.1));
            let is_step = match self.dir {
                Dir::Left => less(&int(0), &ix.weaken(&up).snd()),
                Dir::Right => less(&before.snd(), &Exp::shape(&self.a).snd()),
            };
            Exp::cond(&is_step, &step, &first)
        })
    }

    /// The arguments of the operator: a right scan combines the element with what is behind it.
    fn ordered<E>(&self, before: &Exp<E, A2, T>, element: &Exp<E, A2, T>) -> Exp<E, A2, (T, T)> {
        match self.dir {
            Dir::Left => Exp::pair(before, element),
            Dir::Right => Exp::pair(element, before),
        }
    }

    fn weaken<A3>(&self, up: &Thinning<A2, A3>) -> Scan<A3, Sh, T> {
        let (a, y, dy) = (up.at(&self.a), up.at(&self.y), up.at(&self.dy));
        Scan { dir: self.dir, has_init: self.has_init, a, y, dy, at: self.at }
    }
}

/// The index of another element of the same row.
fn moved<E, A, Sh>(ix: &Exp<E, A, (Sh, i64)>, by: i64) -> Exp<E, A, (Sh, i64)> {
    Exp::pair(&ix.fst(), &index_op(Num2::Add, &ix.snd(), &int(by)))
}
