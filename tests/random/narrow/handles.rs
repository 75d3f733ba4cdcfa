//! The array operations of random programs on handles of any rank, and the scalar ones on handles of any type.

use super::program::{Binary, Compare, Operator, Outside, Rearrange, Unary};
use accel::prelude::{Scalar as Array0, *};

/// A scalar handle of any type.
#[derive(Clone, Copy)]
pub enum Sc {
    F(Exp<f64>),
    I(Exp<i64>),
    B(Exp<bool>),
}

/// Arrays of one element type.
#[derive(Clone, Copy)]
pub enum Ranked<T> {
    S(Acc<Array0<T>>),
    V(Acc<Vector<T>>),
    M(Acc<Matrix<T>>),
}

/// An array handle of any type.
#[derive(Clone, Copy)]
pub enum Arr {
    F(Ranked<f64>),
    I(Ranked<i64>),
    P(Ranked<(f64, i64)>),
}

/// The element types.
pub trait Element: Elt + Copy {
    const ZERO: Self;
    fn open(e: Self::Exp) -> Vec<Sc>;
    fn close(parts: &[Sc]) -> Exp<Self>;
    fn wrap(xs: Ranked<Self>) -> Arr;
    fn unwrap(xs: Arr) -> Ranked<Self>;
    fn operator(op: Operator, a: Self::Exp, b: Self::Exp) -> Exp<Self>;
}

pub fn add_general<T: Num>(a: Exp<T>, b: Exp<T>) -> Exp<T> {
    a + b + a * b
}

pub fn on_numbers<T: Num>(op: Operator, a: Exp<T>, b: Exp<T>) -> Exp<T> {
    match op {
        Operator::Add => a + b,
        Operator::Mul => a * b,
        Operator::Min => a.min(b),
        Operator::Max => a.max(b),
        Operator::General => add_general(a, b),
        Operator::First => a,
        Operator::Second => b,
        Operator::Last => cond(b.eq(constant(T::zero())), a, b),
        Operator::ArgMax => panic!("{op:?} of numbers"),
    }
}

impl Element for f64 {
    const ZERO: f64 = 0.0;
    fn open(e: Exp<f64>) -> Vec<Sc> {
        vec![Sc::F(e)]
    }
    fn close(parts: &[Sc]) -> Exp<f64> {
        parts[0].f()
    }
    fn wrap(xs: Ranked<f64>) -> Arr {
        Arr::F(xs)
    }
    fn unwrap(xs: Arr) -> Ranked<f64> {
        if let Arr::F(xs) = xs { xs } else { panic!("not floats") }
    }
    fn operator(op: Operator, a: Exp<f64>, b: Exp<f64>) -> Exp<f64> {
        on_numbers(op, a, b)
    }
}

impl Element for i64 {
    const ZERO: i64 = 0;
    fn open(e: Exp<i64>) -> Vec<Sc> {
        vec![Sc::I(e)]
    }
    fn close(parts: &[Sc]) -> Exp<i64> {
        parts[0].i()
    }
    fn wrap(xs: Ranked<i64>) -> Arr {
        Arr::I(xs)
    }
    fn unwrap(xs: Arr) -> Ranked<i64> {
        if let Arr::I(xs) = xs { xs } else { panic!("not integers") }
    }
    fn operator(op: Operator, a: Exp<i64>, b: Exp<i64>) -> Exp<i64> {
        on_numbers(op, a, b)
    }
}

impl Element for (f64, i64) {
    const ZERO: (f64, i64) = (0.0, 0);
    fn open((x, i): (Exp<f64>, Exp<i64>)) -> Vec<Sc> {
        vec![Sc::F(x), Sc::I(i)]
    }
    fn close(parts: &[Sc]) -> Exp<(f64, i64)> {
        pair(parts[0].f(), parts[1].i())
    }
    fn wrap(xs: Ranked<(f64, i64)>) -> Arr {
        Arr::P(xs)
    }
    fn unwrap(xs: Arr) -> Ranked<(f64, i64)> {
        if let Arr::P(xs) = xs { xs } else { panic!("not pairs") }
    }
    fn operator(op: Operator, a: (Exp<f64>, Exp<i64>), b: (Exp<f64>, Exp<i64>)) -> Exp<(f64, i64)> {
        match op {
            Operator::Add => pair(a.0 + b.0, a.1 + b.1),
            Operator::General => pair(add_general(a.0, b.0), a.1.max(b.1)),
            Operator::First => a.into_exp(),
            Operator::Second => b.into_exp(),
            Operator::ArgMax => cond::<(f64, i64)>(a.0.lt(b.0), b, a),
            op => panic!("{op:?} of pairs"),
        }
    }
}

impl Sc {
    pub fn f(self) -> Exp<f64> {
        if let Sc::F(x) = self { x } else { panic!("not a float") }
    }
    pub fn i(self) -> Exp<i64> {
        if let Sc::I(x) = self { x } else { panic!("not an integer") }
    }
    pub fn b(self) -> Exp<bool> {
        if let Sc::B(x) = self { x } else { panic!("not a bool") }
    }
}

pub fn unary(op: Unary, x: Sc) -> Sc {
    match (op, x) {
        (Unary::Neg, Sc::I(x)) => Sc::I(-x),
        (Unary::Abs, Sc::I(x)) => Sc::I(x.abs()),
        (Unary::Signum, Sc::I(x)) => Sc::I(x.signum()),
        (Unary::Not, Sc::B(x)) => Sc::B(!x),
        (Unary::Not, x) => Sc::I(!x.i()),
        (Unary::CountOnes, x) => Sc::I(x.i().count_ones()),
        (Unary::ToFloat, x) => Sc::F(x.i().cast()),
        (Unary::ToInt, x) => Sc::I(x.f().cast()),
        (op, x) => {
            let x = x.f();
            Sc::F(match op {
                Unary::Neg => -x,
                Unary::Abs => x.abs(),
                Unary::Signum => x.signum(),
                Unary::Sin => x.sin(),
                Unary::Cos => x.cos(),
                Unary::Tanh => x.tanh(),
                Unary::Atan => x.atan(),
                Unary::Exp => x.exp(),
                Unary::Recip => x.recip(),
                Unary::Sqrt => x.sqrt(),
                Unary::Floor => x.floor(),
                Unary::Not | Unary::CountOnes | Unary::ToFloat | Unary::ToInt => unreachable!("matched above"),
            })
        }
    }
}

pub fn binary(op: Binary, a: Sc, b: Sc) -> Sc {
    match (a, b) {
        (Sc::F(a), Sc::F(b)) => Sc::F(match op {
            Binary::Div => a / b,
            Binary::Rem => a % b,
            Binary::Atan2 => a.atan2(b),
            Binary::Hypot => a.hypot(b),
            op => arithmetic(op, a, b),
        }),
        (Sc::I(a), Sc::I(b)) => Sc::I(match op {
            Binary::Xor => a ^ b,
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Shl => a << b,
            op => arithmetic(op, a, b),
        }),
        (a, b) => Sc::B(if op == Binary::And { a.b() & b.b() } else { a.b() | b.b() }),
    }
}

pub fn arithmetic<T: Num>(op: Binary, a: Exp<T>, b: Exp<T>) -> Exp<T> {
    match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        op => panic!("{op:?} of numbers"),
    }
}

pub fn compare<T: Num>(op: Compare, a: Exp<T>, b: Exp<T>) -> Exp<bool> {
    match op {
        Compare::Lt => a.lt(b),
        Compare::Le => a.le(b),
        Compare::Eq => a.eq(b),
        Compare::Ne => a.ne(b),
    }
}

/// Whether the array has an element; `None` for rank 0, where it has one.
pub fn not_empty(extents: &[Exp<i64>]) -> Option<Exp<bool>> {
    extents.iter().map(|n| n.ne(0)).reduce(|a, b| a & b)
}

/// Indices modulo extents. If an extent is 0, there is no valid index.
pub fn wrap(index: &[Exp<i64>], extents: &[Exp<i64>]) -> Vec<Exp<i64>> {
    index.iter().zip(extents).map(|(i, n)| i.rem_euclid(n.max(1))).collect()
}

/// The condition under which an element is accessed, if there is one, and its index.
pub fn checked(outside: Outside, index: &[Exp<i64>], extents: &[Exp<i64>]) -> (Option<Exp<bool>>, Vec<Exp<i64>>) {
    match outside {
        Outside::Wraps => (not_empty(extents), wrap(index, extents)),
        Outside::Skips => {
            let one = |(i, n): (&Exp<i64>, &Exp<i64>)| i.ge(0) & i.lt(*n);
            (index.iter().zip(extents).map(one).reduce(|a, b| a & b), index.to_vec())
        }
        Outside::Fails => (None, index.to_vec()),
    }
}

impl<T: Element> Ranked<T> {
    pub fn extents(self) -> Vec<Exp<i64>> {
        match self {
            Ranked::S(_) => vec![],
            Ranked::V(xs) => vec![xs.shape()],
            Ranked::M(xs) => {
                let (n, m) = xs.shape();
                vec![n, m]
            }
        }
    }

    pub fn read(self, ix: &[Exp<i64>]) -> Vec<Sc> {
        T::open(match self {
            Ranked::S(xs) => the(xs),
            Ranked::V(xs) => xs.at(ix[0]),
            Ranked::M(xs) => xs.at((ix[0], ix[1])),
        })
    }
}

/// The array with these extents, of any rank.
pub fn generated<T: Element>(extents: &[Exp<i64>], f: impl FnOnce(&[Sc]) -> Vec<Sc>) -> Ranked<T> {
    match extents {
        [] => Ranked::S(unit(T::close(&f(&[])))),
        [n] => Ranked::V(generate(*n, |i| T::close(&f(&[Sc::I(i)])))),
        [n, m] => Ranked::M(generate((*n, *m), |(i, j)| T::close(&f(&[Sc::I(i), Sc::I(j)])))),
        _ => panic!("more than two dimensions"),
    }
}

pub fn mapped<T: Element, R: Element>(xs: Ranked<T>, f: impl FnOnce(&[Sc]) -> Vec<Sc>) -> Ranked<R> {
    let f = |x| R::close(&f(&T::open(x)));
    match xs {
        Ranked::S(xs) => Ranked::S(map(f, xs)),
        Ranked::V(xs) => Ranked::V(map(f, xs)),
        Ranked::M(xs) => Ranked::M(map(f, xs)),
    }
}

pub fn zipped<A: Element, B: Element, R: Element>(
    xs: Ranked<A>,
    ys: Ranked<B>,
    f: impl FnOnce(&[Sc]) -> Vec<Sc>,
) -> Ranked<R> {
    let f = |x, y| R::close(&f(&[A::open(x), B::open(y)].concat()));
    match (xs, ys) {
        (Ranked::S(xs), Ranked::S(ys)) => Ranked::S(zip_with_min(f, xs, ys)),
        (Ranked::V(xs), Ranked::V(ys)) => Ranked::V(zip_with_min(f, xs, ys)),
        (Ranked::M(xs), Ranked::M(ys)) => Ranked::M(zip_with_min(f, xs, ys)),
        _ => panic!("zip_with of other ranks"),
    }
}

pub fn folded<T: Element>(op: Operator, z: Option<&[Sc]>, xs: Ranked<T>) -> Ranked<T> {
    let f = |a, b| T::operator(op, a, b);
    match (xs, z) {
        (Ranked::V(xs), Some(z)) => Ranked::S(fold(f, T::close(z), xs)),
        (Ranked::M(xs), Some(z)) => Ranked::V(fold(f, T::close(z), xs)),
        (Ranked::V(xs), None) => Ranked::S(acond(xs.shape().ne(0), fold1(f, xs), fill((), constant(T::ZERO)))),
        (Ranked::M(xs), None) => {
            let (n, m) = xs.shape();
            Ranked::V(acond(m.ne(0), fold1(f, xs), fill(n, constant(T::ZERO))))
        }
        (Ranked::S(_), _) => panic!("fold of rank 0"),
    }
}

pub fn scanned<T: Element>(left: bool, op: Operator, z: Option<&[Sc]>, xs: Ranked<T>) -> Ranked<T> {
    match xs {
        Ranked::S(_) => panic!("scan of rank 0"),
        Ranked::V(xs) => Ranked::V(scanned_rows(left, op, z, xs)),
        Ranked::M(xs) => Ranked::M(scanned_rows(left, op, z, xs)),
    }
}

pub fn scanned_rows<Sh: Shape, T: Element>(
    left: bool,
    op: Operator,
    z: Option<&[Sc]>,
    xs: Acc<Array<Snoc<Sh>, T>>,
) -> Acc<Array<Snoc<Sh>, T>> {
    let f = |a, b| T::operator(op, a, b);
    match (z, left) {
        (Some(z), true) => scanl(f, T::close(z), xs),
        (Some(z), false) => scanr(f, T::close(z), xs),
        (None, true) => scanl1(f, xs),
        (None, false) => scanr1(f, xs),
    }
}

pub fn permuted<T: Element>(
    outside: Outside,
    op: Operator,
    defaults: Ranked<T>,
    xs: Ranked<T>,
    target: impl Fn(&[Sc]) -> Vec<Sc>,
) -> Ranked<T> {
    let extents = defaults.extents();
    let f = |a, b| T::operator(op, a, b);
    let to = |ix: &[Exp<i64>]| {
        let ix: Vec<_> = ix.iter().map(|i| Sc::I(*i)).collect();
        let t = target(&ix);
        let place: Vec<_> = t[1..].iter().map(|i| i.i()).collect();
        let (allowed, place) = checked(outside, &place, &extents);
        (allowed.map_or_else(|| t[0].b(), |allowed| t[0].b() & allowed), place)
    };
    let one = |ix: &[Exp<i64>]| {
        let (keep, place) = to(ix);
        (keep, place[0])
    };
    let two = |ix: &[Exp<i64>]| {
        let (keep, place) = to(ix);
        (keep, (place[0], place[1]))
    };
    match (defaults, xs) {
        (Ranked::V(d), Ranked::V(xs)) => Ranked::V(permute(f, d, |i| one(&[i]), xs)),
        (Ranked::V(d), Ranked::M(xs)) => Ranked::V(permute(f, d, |(i, j)| one(&[i, j]), xs)),
        (Ranked::M(d), Ranked::V(xs)) => Ranked::M(permute(f, d, |i| two(&[i]), xs)),
        (Ranked::M(d), Ranked::M(xs)) => Ranked::M(permute(f, d, |(i, j)| two(&[i, j]), xs)),
        _ => panic!("permute of other ranks"),
    }
}

pub fn backpermuted<T: Element>(
    outside: Outside,
    extents: &[Exp<i64>],
    xs: Ranked<T>,
    source: impl FnOnce(&[Sc]) -> Vec<Sc>,
) -> Ranked<T> {
    let old = xs.extents();
    let some = if outside == Outside::Wraps { not_empty(&old) } else { None };
    let sh: Vec<_> = extents.iter().map(|n| some.map_or(*n, |some| cond(some, *n, 0))).collect();
    let from = |ix: &[Exp<i64>]| {
        let ix: Vec<_> = ix.iter().map(|i| Sc::I(*i)).collect();
        let from: Vec<_> = source(&ix).iter().map(|i| i.i()).collect();
        checked(outside, &from, &old).1
    };
    match (&sh[..], xs) {
        ([n], Ranked::V(xs)) => Ranked::V(backpermute(*n, |i| from(&[i])[0], xs)),
        ([n], Ranked::M(xs)) => Ranked::V(backpermute(
            *n,
            |i| {
                let from = from(&[i]);
                (from[0], from[1])
            },
            xs,
        )),
        ([n, m], Ranked::V(xs)) => Ranked::M(backpermute((*n, *m), |(i, j)| from(&[i, j])[0], xs)),
        ([n, m], Ranked::M(xs)) => Ranked::M(backpermute(
            (*n, *m),
            |(i, j)| {
                let from = from(&[i, j]);
                (from[0], from[1])
            },
            xs,
        )),
        _ => panic!("backpermute of other ranks"),
    }
}

pub fn replicated<T: Element>(dims: &[Option<Exp<i64>>], xs: Ranked<T>) -> Ranked<T> {
    match (dims, xs) {
        ([Some(n)], Ranked::S(xs)) => Ranked::V(replicate(*n, xs)),
        ([Some(n), Some(m)], Ranked::S(xs)) => Ranked::M(replicate((*n, *m), xs)),
        ([Some(n), None], Ranked::V(xs)) => Ranked::M(replicate((*n, All), xs)),
        ([None, Some(n)], Ranked::V(xs)) => Ranked::M(replicate((All, *n), xs)),
        _ => panic!("replicate of other ranks"),
    }
}

pub fn sliced<T: Element>(dims: &[Option<i64>], xs: Ranked<T>) -> Ranked<T> {
    let extents = xs.extents();
    let fixed: Vec<_> = dims.iter().zip(&extents).filter_map(|(d, n)| d.map(|i| (constant(i), *n))).collect();
    let (ix, cut): (Vec<_>, Vec<_>) = fixed.into_iter().unzip();
    let (ix, some) = (wrap(&ix, &cut), not_empty(&cut).expect("a fixed dimension"));
    let zero = constant(T::ZERO);
    match (dims, xs) {
        ([Some(_)], Ranked::V(xs)) => Ranked::S(acond(some, slice(ix[0], xs), fill((), zero))),
        ([Some(_), Some(_)], Ranked::M(xs)) => Ranked::S(acond(some, slice((ix[0], ix[1]), xs), fill((), zero))),
        ([Some(_), None], Ranked::M(xs)) => Ranked::V(acond(some, slice((ix[0], All), xs), fill(extents[1], zero))),
        ([None, Some(_)], Ranked::M(xs)) => Ranked::V(acond(some, slice((All, ix[0]), xs), fill(extents[0], zero))),
        _ => panic!("slice of other ranks"),
    }
}

pub fn rearranged<T: Element>(what: Rearrange, xs: Ranked<T>) -> Ranked<T> {
    match (what, xs) {
        (Rearrange::Transpose, Ranked::M(xs)) => Ranked::M(transpose(xs)),
        (Rearrange::Reverse, Ranked::V(xs)) => Ranked::V(reverse(xs)),
        (Rearrange::Reverse, Ranked::M(xs)) => Ranked::M(reverse(xs)),
        (Rearrange::Take(n), Ranked::V(xs)) => Ranked::V(take(n, xs)),
        (Rearrange::Take(n), Ranked::M(xs)) => Ranked::M(take(n, xs)),
        (Rearrange::Skip(n), Ranked::V(xs)) => Ranked::V(skip(n, xs)),
        (Rearrange::Skip(n), Ranked::M(xs)) => Ranked::M(skip(n, xs)),
        (Rearrange::Flatten, Ranked::M(xs)) => Ranked::V(flatten(xs)),
        (Rearrange::Flatten, Ranked::S(xs)) => Ranked::V(flatten(xs)),
        (Rearrange::Row, Ranked::V(xs)) => Ranked::M(reshape((1, xs.len()), xs)),
        (Rearrange::Column, Ranked::V(xs)) => Ranked::M(reshape((xs.len(), 1), xs)),
        (Rearrange::Swap, Ranked::M(xs)) => {
            let (n, m) = xs.shape();
            Ranked::M(reshape((m, n), xs))
        }
        (Rearrange::Twice, Ranked::V(xs)) => Ranked::V(concat(xs, xs)),
        (Rearrange::Twice, Ranked::M(xs)) => Ranked::M(concat(xs, xs)),
        _ => panic!("{what:?} of another rank"),
    }
}

pub fn chosen<T: Element>(c: Exp<bool>, xs: Ranked<T>, ys: Ranked<T>, tupled: bool) -> Ranked<T> {
    fn choose<Sh: Shape, T: Element>(
        c: Exp<bool>,
        xs: Acc<Array<Sh, T>>,
        ys: Acc<Array<Sh, T>>,
        tupled: bool,
    ) -> Acc<Array<Sh, T>> {
        if tupled { acond(c, (xs, ys), (ys, xs)).unlift().0 } else { acond(c, xs, ys) }
    }
    match (xs, ys) {
        (Ranked::S(xs), Ranked::S(ys)) => Ranked::S(choose(c, xs, ys, tupled)),
        (Ranked::V(xs), Ranked::V(ys)) => Ranked::V(choose(c, xs, ys, tupled)),
        (Ranked::M(xs), Ranked::M(ys)) => Ranked::M(choose(c, xs, ys, tupled)),
        _ => panic!("acond of other ranks"),
    }
}
