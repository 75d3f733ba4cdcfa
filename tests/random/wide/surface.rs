//! The array functions of the surface language as small programs: NOTE [Stand-ins]. Their arguments are arrays, then
//! holes.

use super::graph::{W, X, Y};
use super::program::{Product, Rearrange, Reduce, Sort};
use accel::prelude::*;
use accel::repr::foreign::{View, ViewMut};
use accel::repr::{Call, Column, Foreign};
use accel::surface::{Staged, foreign_call, stage};

type Hole<T> = Scalar<T>;

/// The same at a rank from 0 to 4.
macro_rules! at_rank {
    ($rank:expr, $Sh:ident => $body:expr) => {
        match $rank {
            0 => at_rank!(@ Dim0, $Sh, $body),
            1 => at_rank!(@ Dim1, $Sh, $body),
            2 => at_rank!(@ Dim2, $Sh, $body),
            3 => at_rank!(@ Dim3, $Sh, $body),
            4 => at_rank!(@ Dim4, $Sh, $body),
            rank => panic!("rank {rank}"),
        }
    };
    (@ $dim:ident, $Sh:ident, $body:expr) => {{
        type $Sh = $dim;
        $body
    }};
}

/// A small program.
macro_rules! little {
    (|$x:ident: $T:ty| $body:expr) => {
        stage(|$x: Acc<$T>| $body.into_acc()).expect("a program of the surface language")
    };
    (|$($x:ident: $T:ty),+| $body:expr) => {
        stage(|args: Acc<($($T),+)>| {
            let ($($x),+) = args.unlift();
            $body.into_acc()
        })
        .expect("a program of the surface language")
    };
}

pub fn unit_() -> Staged {
    little!(|h: Hole<X>| unit(the(h)))
}
pub fn generate_(rank: usize) -> Staged {
    at_rank!(rank, Sh => little!(|sh: Hole<Sh>, h: Hole<X>| generate(the(sh), |_| the(h))))
}
pub fn fill_(rank: usize) -> Staged {
    at_rank!(rank, Sh => little!(|sh: Hole<Sh>, h: Hole<X>| fill(the(sh), the(h))))
}
pub fn enum_from_n_(rank: usize) -> Staged {
    at_rank!(rank, Sh => little!(|sh: Hole<Sh>, h: Hole<X>| enum_from_n(the(sh), the(h))))
}
pub fn map_(rank: usize) -> Staged {
    at_rank!(rank, Sh => little!(|xs: Array<Sh, X>, h: Hole<Y>| map(|_| the(h), xs)))
}
pub fn imap_(rank: usize) -> Staged {
    at_rank!(rank, Sh => little!(|xs: Array<Sh, X>, h: Hole<Y>| imap(|_, _| the(h), xs)))
}
/// With `strict`, different extents are an error, as in the next three functions.
pub fn zip_with_(rank: usize, strict: bool) -> Staged {
    at_rank!(rank, Sh => match strict {
        true => little!(|xs: Array<Sh, X>, ys: Array<Sh, Y>, h: Hole<W>| zip_with(|_, _| the(h), xs, ys)),
        false => little!(|xs: Array<Sh, X>, ys: Array<Sh, Y>, h: Hole<W>| zip_with_min(|_, _| the(h), xs, ys)),
    })
}
/// The result has the type of the first array.
pub fn zip_with3_(rank: usize, strict: bool) -> Staged {
    at_rank!(rank, Sh => match strict {
        true => little!(|xs: Array<Sh, X>, ys: Array<Sh, Y>, zs: Array<Sh, W>, h: Hole<X>| {
            zip_with3(|_, _, _| the(h), xs, ys, zs)
        }),
        false => little!(|xs: Array<Sh, X>, ys: Array<Sh, Y>, zs: Array<Sh, W>, h: Hole<X>| {
            zip_with3_min(|_, _, _| the(h), xs, ys, zs)
        }),
    })
}
pub fn zip_(rank: usize, strict: bool) -> Staged {
    at_rank!(rank, Sh => match strict {
        true => little!(|xs: Array<Sh, X>, ys: Array<Sh, Y>| zip(xs, ys)),
        false => little!(|xs: Array<Sh, X>, ys: Array<Sh, Y>| zip_min(xs, ys)),
    })
}
pub fn zip3_(rank: usize, strict: bool) -> Staged {
    at_rank!(rank, Sh => match strict {
        true => little!(|xs: Array<Sh, X>, ys: Array<Sh, Y>, zs: Array<Sh, W>| zip3(xs, ys, zs)),
        false => little!(|xs: Array<Sh, X>, ys: Array<Sh, Y>, zs: Array<Sh, W>| zip3_min(xs, ys, zs)),
    })
}
pub fn unzip_(rank: usize) -> Staged {
    at_rank!(rank, Sh => little!(|xs: Array<Sh, (X, Y)>| unzip(xs)))
}
pub fn unzip3_(rank: usize) -> Staged {
    at_rank!(rank, Sh => little!(|xs: Array<Sh, (X, Y, W)>| unzip3(xs)))
}

/// The holes are the initial value, if there is one, and the operator.
pub fn fold_(rank: usize, start: bool, all: bool) -> Staged {
    match (start, all) {
        (true, false) => at_rank!(rank - 1, Sh => {
            little!(|xs: Array<Snoc<Sh>, X>, z: Hole<X>, h: Hole<X>| fold(|_, _| the(h), the(z), xs))
        }),
        (false, false) => at_rank!(rank - 1, Sh => {
            little!(|xs: Array<Snoc<Sh>, X>, h: Hole<X>| fold1(|_, _| the(h), xs))
        }),
        (true, true) => at_rank!(rank, Sh => {
            little!(|xs: Array<Sh, X>, z: Hole<X>, h: Hole<X>| fold_all(|_, _| the(h), the(z), xs))
        }),
        (false, true) => at_rank!(rank, Sh => {
            little!(|xs: Array<Sh, X>, h: Hole<X>| fold1_all(|_, _| the(h), xs))
        }),
    }
}
pub fn reduce_(rank: usize, what: Reduce, all_: bool) -> Staged {
    match (what, all_) {
        (Reduce::Sum, false) => at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, X>| sum(xs))),
        (Reduce::Product, false) => at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, X>| product(xs))),
        (Reduce::Maximum, false) => at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, X>| maximum(xs))),
        (Reduce::Minimum, false) => at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, X>| minimum(xs))),
        (Reduce::All, _) => at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, bool>| all(xs))),
        (Reduce::Any, _) => at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, bool>| any(xs))),
        (Reduce::Sum, true) => at_rank!(rank, Sh => little!(|xs: Array<Sh, X>| sum_all(xs))),
        (Reduce::Product, true) => at_rank!(rank, Sh => little!(|xs: Array<Sh, X>| product_all(xs))),
        (Reduce::Maximum, true) => at_rank!(rank, Sh => little!(|xs: Array<Sh, X>| maximum_all(xs))),
        (Reduce::Minimum, true) => at_rank!(rank, Sh => little!(|xs: Array<Sh, X>| minimum_all(xs))),
    }
}
pub fn scan_(rank: usize, start: bool, right: bool) -> Staged {
    at_rank!(rank - 1, Sh => match (start, right) {
        (true, false) => {
            little!(|xs: Array<Snoc<Sh>, X>, z: Hole<X>, h: Hole<X>| scanl(|_, _| the(h), the(z), xs))
        }
        (true, true) => {
            little!(|xs: Array<Snoc<Sh>, X>, z: Hole<X>, h: Hole<X>| scanr(|_, _| the(h), the(z), xs))
        }
        (false, false) => little!(|xs: Array<Snoc<Sh>, X>, h: Hole<X>| scanl1(|_, _| the(h), xs)),
        (false, true) => little!(|xs: Array<Snoc<Sh>, X>, h: Hole<X>| scanr1(|_, _| the(h), xs)),
    })
}
pub fn scan_ex_(rank: usize, right: bool) -> Staged {
    at_rank!(rank - 1, Sh => match right {
        false => {
            little!(|xs: Array<Snoc<Sh>, X>, z: Hole<X>, h: Hole<X>| scanl_ex(|_, _| the(h), the(z), xs))
        }
        true => {
            little!(|xs: Array<Snoc<Sh>, X>, z: Hole<X>, h: Hole<X>| scanr_ex(|_, _| the(h), the(z), xs))
        }
    })
}

/// The holes are the operator, whether an element is kept, and its target.
pub fn permute_(from: usize, to: usize) -> Staged {
    at_rank!(from, Sh => at_rank!(to, To => little!(
        |def: Array<To, X>, xs: Array<Sh, X>, h: Hole<X>, keep: Hole<bool>, place: Hole<To>| {
            permute(|_, _| the(h), def, |_| (the(keep), the(place)), xs)
        }
    )))
}
pub fn scatter_() -> Staged {
    little!(|to: Vector<i64>, def: Vector<X>, xs: Vector<X>| scatter(to, def, xs))
}
/// The holes are the shape, and the index of an element's source.
pub fn backpermute_(from: usize, to: usize) -> Staged {
    at_rank!(from, Sh => at_rank!(to, To => {
        little!(|xs: Array<Sh, X>, sh: Hole<To>, h: Hole<Sh>| backpermute(the(sh), |_| the(h), xs))
    }))
}
pub fn gather_(rank: usize) -> Staged {
    at_rank!(rank, Sh => little!(|from: Array<Sh, i64>, xs: Vector<X>| gather(from, xs)))
}
pub fn reshape_(from: usize, to: usize) -> Staged {
    at_rank!(from, Sh => at_rank!(to, To => little!(|xs: Array<Sh, X>, sh: Hole<To>| reshape(the(sh), xs))))
}
pub fn flatten_(rank: usize) -> Staged {
    at_rank!(rank, Sh => little!(|xs: Array<Sh, X>| flatten(xs)))
}

/// All ways to keep some of two to four dimensions. `N` stands for a new or a removed dimension.
macro_rules! dimensions {
    ($spec:expr, $go:ident) => {
        match $spec {
            [true] => $go!(Exp<i64>; |h| the(h.0)),
            [false] => $go!(All; |h| All),
            dimensions!(@ true true) => $go!((N, N); |h| (the(h.0), the(h.1))),
            dimensions!(@ true false) => $go!((N, All); |h| (the(h.0), All)),
            dimensions!(@ false true) => $go!((All, N); |h| (All, the(h.1))),
            dimensions!(@ false false) => $go!((All, All); |h| (All, All)),
            dimensions!(@ true true true) => $go!((N, N, N); |h| (the(h.0), the(h.1), the(h.2))),
            dimensions!(@ true true false) => $go!((N, N, All); |h| (the(h.0), the(h.1), All)),
            dimensions!(@ true false true) => $go!((N, All, N); |h| (the(h.0), All, the(h.2))),
            dimensions!(@ false true true) => $go!((All, N, N); |h| (All, the(h.1), the(h.2))),
            dimensions!(@ true false false) => $go!((N, All, All); |h| (the(h.0), All, All)),
            dimensions!(@ false true false) => $go!((All, N, All); |h| (All, the(h.1), All)),
            dimensions!(@ false false true) => $go!((All, All, N); |h| (All, All, the(h.2))),
            dimensions!(@ true true true true) => {
                $go!((N, N, N, N); |h| (the(h.0), the(h.1), the(h.2), the(h.3)))
            }
            dimensions!(@ true true true false) => $go!((N, N, N, All); |h| (the(h.0), the(h.1), the(h.2), All)),
            dimensions!(@ true false true true) => $go!((N, All, N, N); |h| (the(h.0), All, the(h.2), the(h.3))),
            dimensions!(@ true false false true) => $go!((N, All, All, N); |h| (the(h.0), All, All, the(h.3))),
            dimensions!(@ false true true false) => $go!((All, N, N, All); |h| (All, the(h.1), the(h.2), All)),
            dimensions!(@ false true false true) => $go!((All, N, All, N); |h| (All, the(h.1), All, the(h.3))),
            dimensions!(@ false true false false) => $go!((All, N, All, All); |h| (All, the(h.1), All, All)),
            dimensions!(@ false false false true) => $go!((All, All, All, N); |h| (All, All, All, the(h.3))),
            other => panic!("dimensions {other:?}"),
        }
    };
    (@ $($b:literal)+) => { [$($b),+] };
}
/// The ways of [`dimensions`].
pub const DIMENSIONS: &[&[bool]] = &[
    &[true],
    &[false],
    &[true, true],
    &[true, false],
    &[false, true],
    &[false, false],
    &[true, true, true],
    &[true, true, false],
    &[true, false, true],
    &[false, true, true],
    &[true, false, false],
    &[false, true, false],
    &[false, false, true],
    &[true, true, true, true],
    &[true, true, true, false],
    &[true, false, true, true],
    &[true, false, false, true],
    &[false, true, true, false],
    &[false, true, false, true],
    &[false, true, false, false],
    &[false, false, false, true],
];
type N = Exp<i64>;
/// A hole for each dimension.
type Four = (Hole<i64>, Hole<i64>, Hole<i64>, Hole<i64>);

pub fn replicate_(new: &[bool]) -> Staged {
    macro_rules! go {
        ($D:ty; |$h:ident| $dims:expr) => {
            stage(|args: Acc<(Array<<$D as Slicing>::Small, X>, Hole<i64>, Hole<i64>, Hole<i64>, Hole<i64>)>| {
                let (xs, a, b, c, d) = args.unlift();
                let $h: <Four as Arrays>::Acc = (a, b, c, d);
                replicate($dims, xs)
            })
        };
    }
    #[allow(unused_variables)]
    let staged = dimensions!(new, go);
    staged.expect("a program of the surface language")
}
pub fn slice_(gone: &[bool]) -> Staged {
    macro_rules! go {
        ($D:ty; |$h:ident| $dims:expr) => {
            stage(|args: Acc<(Array<<$D as Slicing>::Large, X>, Hole<i64>, Hole<i64>, Hole<i64>, Hole<i64>)>| {
                let (xs, a, b, c, d) = args.unlift();
                let $h: <Four as Arrays>::Acc = (a, b, c, d);
                slice($dims, xs)
            })
        };
    }
    #[allow(unused_variables)]
    let staged = dimensions!(gone, go);
    staged.expect("a program of the surface language")
}

pub fn rearrange_(rank: usize, what: Rearrange) -> Staged {
    match what {
        Rearrange::Transpose => little!(|xs: Matrix<X>| transpose(xs)),
        Rearrange::Reverse => at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, X>| reverse(xs))),
        Rearrange::Init => at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, X>| init(xs))),
        Rearrange::Tail => at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, X>| tail(xs))),
        Rearrange::Turned => at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, X>| turned(xs))),
    }
}

/// Rows in the other direction, by a foreign function.
pub fn turned<Sh: Shape, T: Elt>(xs: Acc<Array<Snoc<Sh>, T>>) -> Acc<Array<Snoc<Sh>, T>> {
    fn turn() -> Foreign {
        let work = |from: &[View], to: &mut [ViewMut]| {
            for (from, to) in from[0].columns.iter().zip(&mut to[0].columns) {
                let row = from.to_column();
                let mut turned = Column::with_capacity(row.ty(), row.len());
                (0..row.len()).rev().for_each(|i| _ = turned.push(row.get(i).expect("an element")));
                assert!(to.copy_from(&turned), "a column of this type");
            }
            Ok(())
        };
        Foreign::linear("turned", work, turn)
    }
    foreign_call(&Call { function: turn(), lanes: Sh::RANK }, shape(xs), xs)
}
pub fn sort_(rank: usize, what: Sort) -> Staged {
    at_rank!(rank - 1, Sh => match what {
        Sort::Positions => little!(|xs: Array<Snoc<Sh>, X>| argsort(xs)),
        Sort::PositionsDescending => little!(|xs: Array<Snoc<Sh>, X>| argsort_descending(xs)),
        Sort::Elements => little!(|xs: Array<Snoc<Sh>, X>| sort(xs)),
        Sort::ElementsDescending => little!(|xs: Array<Snoc<Sh>, X>| sort_descending(xs)),
    })
}
pub fn sort_by_key_(rank: usize, descending: bool) -> Staged {
    at_rank!(rank - 1, Sh => match descending {
        false => little!(|xs: Array<Snoc<Sh>, X>, ys: Array<Snoc<Sh>, Y>| sort_by_key(xs, ys)),
        true => little!(|xs: Array<Snoc<Sh>, X>, ys: Array<Snoc<Sh>, Y>| sort_by_key_descending(xs, ys)),
    })
}
pub fn take_(rank: usize) -> Staged {
    at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, X>, n: Hole<i64>| take(the(n), xs)))
}
pub fn skip_(rank: usize) -> Staged {
    at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, X>, n: Hole<i64>| skip(the(n), xs)))
}
pub fn concat_(rank: usize) -> Staged {
    at_rank!(rank - 1, Sh => little!(|xs: Array<Snoc<Sh>, X>, ys: Array<Snoc<Sh>, X>| concat(xs, ys)))
}
pub fn product_(what: Product) -> Staged {
    match what {
        Product::Dot => little!(|xs: Vector<X>, ys: Vector<X>| dot(xs, ys)),
        Product::Matvec => little!(|xs: Matrix<X>, ys: Vector<X>| matvec(xs, ys)),
        Product::Matmul => little!(|xs: Matrix<X>, ys: Matrix<X>| matmul(xs, ys)),
    }
}
