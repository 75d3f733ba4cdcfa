//! Tangents and adjoints of private lists: NOTE \[Loops and lists\] in `accel_core::ast::exp`.
//!
//! NOTE [Sums of lists]: contributions to the adjoint of a list are not added up at once. There can be several, each
//! for the whole list or for some of its components, and the length of a list that is zero is not known. So the loop
//! that needs their sum reads all contributions row by row and adds them.

use crate::builders::{add, unit, zero};
use crate::sparse_tangents::{Summands, summands};
use accel_core::ast::*;

/// Whether a type contains lists.
pub fn has_list<T>(t: &Ty<T>) -> bool {
    ElementTy::of(t).is_none()
}

/// Lists that are read together, and the type of their rows.
pub struct Lists<'m, A, E> {
    pub xs: Exp<E, A, List<X<'m>>>,
    pub row: ElementTy<X<'m>>,
}

impl<'m, A, E> Lists<'m, A, E> {
    fn none(m: Guard<'m>) -> Self {
        let w = name(m);
        Lists { xs: unit().cast(list_unit().sym().then(eq_list(w))), row: ElementTy::known().cast(w) }
    }
    /// Two lists as one.
    pub fn pair<P, Q>(
        (a, ta): (&Exp<E, A, List<P>>, &ElementTy<P>),
        (b, tb): (&Exp<E, A, List<Q>>, &ElementTy<Q>),
        m: Guard<'m>,
    ) -> Self {
        let w = name(m);
        Lists { xs: Exp::pair(a, b).cast(list_pair().sym().then(eq_list(w))), row: ta.pair(tb).cast(w) }
    }
}

/// All parts of a sum of lists, for rows of type `t`.
pub fn lists<'m, A, E, T>(parts: &[SparseTangent<E, List<T>>], t: &ElementTy<T>, m: Guard<'m>) -> Lists<'m, A, E> {
    deep(|| {
        fresh3(|n, k, l| match split(parts, n) {
            Parts::None => Lists::none(m),
            Parts::One(i) => {
                let w = name(m);
                Lists { xs: Exp::var(&i).cast(eq_list(w)), row: t.cast(w) }
            }
            Parts::Pairs(p) => fresh1(|h| {
                let (ta, tb, q) = components(t, h);
                let p = p.retype(eq_list(q).then(list_pair()));
                let (a, b) = (lists(&p.firsts, &ta, k), lists(&p.seconds, &tb, l));
                Lists::pair((&a.xs, &a.row), (&b.xs, &b.row), m)
            }),
            Parts::More(first, rest) => {
                let (a, b) = (lists(&[first], t, k), lists(&rest, t, l));
                Lists::pair((&a.xs, &a.row), (&b.xs, &b.row), m)
            }
        })
    })
}

/// The sum of the rows that [`lists`] has put together.
pub fn row_sum<A, E, F, R, T>(
    parts: &[SparseTangent<E, List<T>>],
    t: &ElementTy<T>,
    row: &Exp<F, A, R>,
) -> Exp<F, A, T> {
    deep(|| {
        fresh2(|n, k| match split(parts, n) {
            Parts::None => zero(t),
            Parts::One(_) => row.cast(row.ty().same(t).expect("a row of this list")),
            Parts::Pairs(p) => fresh1(|h| {
                let (ta, tb, q) = components(t, h);
                let p = p.retype(eq_list(q).then(list_pair()));
                let (a, b) = halves(row, k);
                Exp::pair(&row_sum(&p.firsts, &ta, &a), &row_sum(&p.seconds, &tb, &b)).cast(q.sym())
            }),
            Parts::More(first, rest) => {
                let (a, b) = halves(row, k);
                add(&row_sum(&[first], t, &a), &row_sum(&rest, t, &b))
            }
        })
    })
}

/// The contributions to a list.
enum Parts<'n, E, U> {
    None,
    One(Idx<E, U>),
    Pairs(crate::sparse_tangents::Pairs<E, U, X<'n>, Y<'n>>),
    More(SparseTangent<E, U>, Vec<SparseTangent<E, U>>),
}

fn split<'n, E, U>(parts: &[SparseTangent<E, U>], n: Guard<'n>) -> Parts<'n, E, U> {
    let pairs = |p: SparseTangent<E, U>, n: Guard<'n>| match p.view(n) {
        SparseTangentView::Zero => Parts::None,
        SparseTangentView::Var(i) => Parts::One(i),
        SparseTangentView::Pair(a, b, eq) => {
            Parts::Pairs(crate::sparse_tangents::Pairs { firsts: vec![a], seconds: vec![b], eq })
        }
    };
    let live: Vec<_> = parts.iter().filter(|p| !p.is_zero()).cloned().collect();
    match live.len() {
        0 | 1 => live.into_iter().next().map_or(Parts::None, |p| pairs(p, n)),
        _ => match summands(&live, n) {
            Summands::Pairs(p) => Parts::Pairs(p),
            _ => Parts::More(live[0].clone(), live[1..].to_vec()),
        },
    }
}

/// The types of the components of rows that are pairs.
fn components<'n, T>(t: &ElementTy<T>, n: Guard<'n>) -> (ElementTy<X<'n>>, ElementTy<Y<'n>>, Equal<T, (X<'n>, Y<'n>)>) {
    let TyView::Pair(a, b, q) = t.view(n) else { unreachable!("the adjoint of a pair is a pair") };
    let element = "components of elements are elements";
    (ElementTy::of(&a).expect(element), ElementTy::of(&b).expect(element), q)
}

/// The components of a row that is a pair.
fn halves<'n, A, F, R>(row: &Exp<F, A, R>, n: Guard<'n>) -> (Exp<F, A, X<'n>>, Exp<F, A, Y<'n>>) {
    let TyView::Pair(_, _, q) = row.ty().view(n) else { unreachable!("rows are put together as pairs") };
    let row = row.cast(q);
    (row.fst(), row.snd())
}
