//! Products of all numbers but one.
//!
//! NOTE [Products with zeros]: the summary of some numbers consists of the number of their zeros, the product of the
//! others, and the sum of the zeros. This sum is 0, but it has derivatives; because of it the gradient can be
//! differentiated again. Without zeros, the product of the other numbers is p / x. With exactly one zero z, it is p at
//! this zero and p / x * z elsewhere. With two zeros, it is p times the other zero at both of them, and zero elsewhere
//! up to second order. With more zeros, it is zero everywhere. The counter of zeros has the type of the numbers, so
//! that vector registers hold as many counters as numbers. Small counts are exact, and rounding never makes a large
//! count small.

use super::shapes::bind;
use crate::builders::{Floats, args};
use accel_core::ast::*;
use accel_core::repr::op::Cmp;

/// A summary: the number of zeros, the product of the other numbers, and the sum of the zeros.
pub type Summary<T> = ((T, T), T);

/// Products of numbers of type `T`, by their summary: NOTE [Products with zeros].
pub struct Products<T>(pub Floats<T>);

impl<T> Products<T> {
    fn summary<E, A>(&self, n: f64, p: &Exp<E, A, T>, z: &Exp<E, A, T>) -> Exp<E, A, Summary<T>> {
        Exp::pair(&Exp::pair(&self.0.c(n), p), z)
    }
    /// The summary of no numbers.
    pub fn none<E, A>(&self) -> Exp<E, A, Summary<T>> {
        self.summary(0.0, &self.0.c(1.0), &self.0.c(0.0))
    }
    /// The summary of one number.
    pub fn entry<E, A>(&self, x: &Exp<E, A, T>) -> Exp<E, A, Summary<T>> {
        let is_zero = self.0.cmp(Cmp::Eq, x, &self.0.c(0.0));
        Exp::cond(&is_zero, &self.summary(1.0, &self.0.c(1.0), x), &self.summary(0.0, x, &self.0.c(0.0)))
    }
    /// Joins the summaries of some numbers and of some other numbers.
    pub fn join<A>(&self) -> Fun2<A, Summary<T>, Summary<T>, Summary<T>> {
        let o = self.0;
        let summary = Ty::pair(&Ty::pair(&o.ty(), &o.ty()), &o.ty());
        let (x, y) = args(&summary, &summary);
        let (n, m) = (x.fst(), y.fst());
        let both = Exp::pair(&o.add(&n.fst(), &m.fst()), &o.mul(&n.snd(), &m.snd()));
        Fun2(Exp::pair(&both, &o.add(&x.snd(), &y.snd())))
    }
    /// `d` times the product of all numbers except `x`, which is one of those in the summary.
    pub fn of_others<E, A>(&self, d: &Exp<E, A, T>, x: &Exp<E, A, T>, stats: &Exp<E, A, Summary<T>>) -> Exp<E, A, T> {
        let o = self.0;
        // `d` is multiplied in here, so the branches are only arithmetic, which C compilers turn into selections.
        let factors = Exp::pair(x, &o.strong_mul(d, &stats.fst().snd()));
        bind(&Exp::pair(&factors, &Exp::pair(&stats.fst().fst(), &stats.snd())), |v, _| {
            let (x, dp, zeros, z) = (v.fst().fst(), v.fst().snd(), v.snd().fst(), v.snd().snd());
            let n = |k| o.cmp(Cmp::Eq, &zeros, &o.c(k));
            let others = o.strong_div(&dp, &x);
            let two = Exp::cond(&n(2.0), &o.strong_mul(&dp, &o.sub(&z, &x)), &o.c(0.0));
            let at_zero = Exp::cond(&n(1.0), &dp, &two);
            let elsewhere = Exp::cond(&n(1.0), &o.strong_mul(&others, &z), &o.c(0.0));
            let some = Exp::cond(&o.cmp(Cmp::Eq, &x, &o.c(0.0)), &at_zero, &elsewhere);
            Exp::cond(&n(0.0), &others, &some)
        })
    }
    /// `d` times the product of all numbers.
    pub fn of_all<E, A>(&self, d: &Exp<E, A, T>, stats: &Exp<E, A, Summary<T>>) -> Exp<E, A, T> {
        let o = self.0;
        let n = |k| o.cmp(Cmp::Eq, &stats.fst().fst(), &o.c(k));
        let dp = o.strong_mul(d, &stats.fst().snd());
        let some = Exp::cond(&n(1.0), &o.strong_mul(&dp, &stats.snd()), &o.c(0.0));
        Exp::cond(&n(0.0), &dp, &some)
    }
}
