//! The loops over arrays of random programs, on handles of any rank.

use super::handles::{Element, Ranked, Sc, rearranged};
use super::program::Rearrange;
use accel::prelude::{Scalar as Array0, *};

pub fn repeated<T: Element>(times: i64, xs: Ranked<T>, f: impl FnOnce(&[Sc]) -> Vec<Sc>) -> Ranked<T> {
    fn repeat<Sh: Shape, T: Element>(
        times: i64,
        xs: Acc<Array<Sh, T>>,
        f: impl FnOnce(&[Sc]) -> Vec<Sc>,
    ) -> Acc<Array<Sh, T>> {
        let (_, xs) = awhile(
            |(k, _): (Acc<Array0<i64>>, Acc<Array<Sh, T>>)| the(k).lt(times),
            |(k, xs)| {
                let step = |x| T::close(&f(&[T::open(x), vec![Sc::I(the(k))]].concat()));
                (map(|k: Exp<i64>| k + 1, k), map(step, xs))
            },
            (unit(0i64), xs),
        )
        .unlift();
        xs
    }
    match xs {
        Ranked::S(xs) => Ranked::S(repeat(times, xs, f)),
        Ranked::V(xs) => Ranked::V(repeat(times, xs, f)),
        Ranked::M(xs) => Ranked::M(repeat(times, xs, f)),
    }
}

pub fn exchanged<T: Element>(times: i64, xs: Ranked<T>, ys: Ranked<T>, f: impl FnOnce(&[Sc]) -> Vec<Sc>) -> Ranked<T> {
    fn exchange<Sh: Shape, T: Element>(
        times: i64,
        xs: Acc<Array<Sh, T>>,
        ys: Acc<Array<Sh, T>>,
        f: impl FnOnce(&[Sc]) -> Vec<Sc>,
    ) -> Acc<Array<Sh, T>> {
        let (_, xs, _) = awhile(
            |(k, _, _): (Acc<Array0<i64>>, Acc<Array<Sh, T>>, Acc<Array<Sh, T>>)| the(k).lt(times),
            |(k, xs, ys)| {
                let step = |x| T::close(&f(&[T::open(x), vec![Sc::I(the(k))]].concat()));
                (map(|k: Exp<i64>| k + 1, k), ys, map(step, xs))
            },
            (unit(0i64), xs, ys),
        )
        .unlift();
        xs
    }
    match (xs, ys) {
        (Ranked::S(xs), Ranked::S(ys)) => Ranked::S(exchange(times, xs, ys, f)),
        (Ranked::V(xs), Ranked::V(ys)) => Ranked::V(exchange(times, xs, ys, f)),
        (Ranked::M(xs), Ranked::M(ys)) => Ranked::M(exchange(times, xs, ys, f)),
        _ => panic!("exchange of other ranks"),
    }
}

pub fn iterated<T: Element>(times: i64, what: Rearrange, xs: Ranked<T>) -> Ranked<T> {
    fn iterate<Sh: Shape, T: Element>(
        times: i64,
        xs: Acc<Array<Sh, T>>,
        f: impl FnOnce(Acc<Array<Sh, T>>) -> Acc<Array<Sh, T>>,
    ) -> Acc<Array<Sh, T>> {
        let (_, xs) = awhile(
            |(k, _): (Acc<Array0<i64>>, Acc<Array<Sh, T>>)| the(k).lt(times),
            |(k, xs)| (map(|k: Exp<i64>| k + 1, k), f(xs)),
            (unit(0i64), xs),
        )
        .unlift();
        xs
    }
    match xs {
        Ranked::V(xs) => Ranked::V(iterate(times, xs, |xs| match rearranged(what, Ranked::V(xs)) {
            Ranked::V(xs) => xs,
            _ => panic!("{what:?} changes the rank"),
        })),
        Ranked::M(xs) => Ranked::M(iterate(times, xs, |xs| match rearranged(what, Ranked::M(xs)) {
            Ranked::M(xs) => xs,
            _ => panic!("{what:?} changes the rank"),
        })),
        Ranked::S(_) => panic!("iteration of rank 0"),
    }
}
