//! Refined types of inputs, as in section 4.3.1 of the thesis: vectors of length 0 to 20 with elements from -10 to 10 that
//! satisfy a predicate.

use accel::prelude::*;
use accel_core::repr::ArrayTuple;
use quickcheck::{Arbitrary, Gen};
use std::fmt::Debug;
use std::marker::PhantomData;

/// A condition on vectors.
pub trait Predicate: Copy + Debug + 'static {
    /// The condition on each element.
    fn element(_: f64) -> bool {
        true
    }
    /// The condition on all elements together.
    fn whole(_: &[f64]) -> bool {
        true
    }
}

/// Any vector.
#[derive(Clone, Copy, Debug)]
pub struct Any;
impl Predicate for Any {}

/// At least one element.
#[derive(Clone, Copy, Debug)]
pub struct NonEmpty;
impl Predicate for NonEmpty {
    fn whole(v: &[f64]) -> bool {
        !v.is_empty()
    }
}

/// At most four elements, for programs that take long.
#[derive(Clone, Copy, Debug)]
pub struct Few<P>(pub P);
impl<P: Predicate> Predicate for Few<P> {
    fn element(x: f64) -> bool {
        P::element(x)
    }
    fn whole(v: &[f64]) -> bool {
        v.len() <= 4 && P::whole(v)
    }
}

/// At least three elements.
#[derive(Clone, Copy, Debug)]
pub struct AtLeast3;
impl Predicate for AtLeast3 {
    fn whole(v: &[f64]) -> bool {
        v.len() >= 3
    }
}

/// An even number of elements.
#[derive(Clone, Copy, Debug)]
pub struct Even;
impl Predicate for Even {
    fn whole(v: &[f64]) -> bool {
        v.len().is_multiple_of(2)
    }
}

/// No element near 0.
#[derive(Clone, Copy, Debug)]
pub struct AllNonZero;
impl Predicate for AllNonZero {
    fn element(x: f64) -> bool {
        x.abs() > 0.1
    }
}

/// One element is clearly the largest one.
#[derive(Clone, Copy, Debug)]
pub struct UniqueMax;
impl Predicate for UniqueMax {
    fn whole(v: &[f64]) -> bool {
        let max = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        v.iter().filter(|x| **x >= max - 0.5).count() == 1
    }
}

/// No element is near a value where its rounding changes.
#[derive(Clone, Copy, Debug)]
pub struct AllNiceRound;
impl Predicate for AllNiceRound {
    fn element(x: f64) -> bool {
        (x - x.round()).abs() <= 0.4
    }
}

/// The sum is not near 2.
#[derive(Clone, Copy, Debug)]
pub struct SumNotTwo;
impl Predicate for SumNotTwo {
    fn whole(v: &[f64]) -> bool {
        (v.iter().sum::<f64>() - 2.0).abs() > 0.1
    }
}

/// Between 0.1 and 10.
#[derive(Clone, Copy, Debug)]
pub struct Positive;
impl Predicate for Positive {
    fn element(x: f64) -> bool {
        x > 0.1
    }
}

/// Between -0.9 and 0.9.
#[derive(Clone, Copy, Debug)]
pub struct BelowOne;
impl Predicate for BelowOne {
    fn element(x: f64) -> bool {
        x.abs() < 0.9
    }
}

/// Between 1.1 and 10.
#[derive(Clone, Copy, Debug)]
pub struct AboveOne;
impl Predicate for AboveOne {
    fn element(x: f64) -> bool {
        x > 1.1
    }
}

/// Whole numbers from -2 to 2, so that ties are frequent.
#[derive(Clone, Copy, Debug)]
pub struct FewValues;
impl Predicate for FewValues {
    fn element(x: f64) -> bool {
        x.abs() <= 2.0 && x.fract() == 0.0
    }
}

/// No two elements are near each other, so that small changes do not change their order.
#[derive(Clone, Copy, Debug)]
pub struct Apart;
impl Predicate for Apart {
    fn whole(v: &[f64]) -> bool {
        let mut sorted = v.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.windows(2).all(|w| w[1] - w[0] > 0.01)
    }
}

/// As `P`, and no two elements are near each other.
#[derive(Clone, Copy, Debug)]
pub struct AlsoApart<P>(pub P);
impl<P: Predicate> Predicate for AlsoApart<P> {
    fn element(x: f64) -> bool {
        P::element(x)
    }
    fn whole(v: &[f64]) -> bool {
        P::whole(v) && Apart::whole(v)
    }
}

/// A vector that satisfies `P`.
#[derive(Clone)]
pub struct Floats<P>(pub Vec<f64>, PhantomData<P>);

impl<P> Debug for Floats<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<P: Predicate> Floats<P> {
    /// The vector as an argument of a compiled program.
    pub fn array(&self) -> ArrayTuple {
        Arrays::to_tuple(&Vector::vector(self.0.clone()))
    }

    fn holds(v: &[f64]) -> bool {
        v.iter().all(|x| x.abs() <= 10.0 && P::element(*x)) && P::whole(v)
    }
}

/// A number from `low` to `high`.
fn integer(g: &mut Gen, low: i64, high: i64) -> i64 {
    low + (u32::arbitrary(g) as i64) % (high - low + 1)
}

/// A number from -10 to 10; every fourth is a whole number.
fn element(g: &mut Gen) -> f64 {
    match integer(g, 0, 3) {
        0 => integer(g, -10, 10) as f64,
        _ => f64::from(u32::arbitrary(g)) / f64::from(u32::MAX) * 20.0 - 10.0,
    }
}

impl<P: Predicate> Arbitrary for Floats<P> {
    fn arbitrary(g: &mut Gen) -> Self {
        loop {
            let n = integer(g, 0, 20);
            let mut one = || loop {
                let x = element(g);
                if P::element(x) {
                    return x;
                }
            };
            let v: Vec<f64> = (0..n).map(|_| one()).collect();
            if P::whole(&v) {
                return Floats(v, PhantomData);
            }
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        // First vectors with fewer elements, then those with simpler elements: with half of the whole part, and without
        // the fraction.
        let v = self.0.clone();
        let shorter = (0..v.len()).map({
            let v = v.clone();
            move |i| [&v[..i], &v[i + 1..]].concat()
        });
        let simpler = (0..v.len()).flat_map(move |i| {
            let v = v.clone();
            [(v[i] / 2.0).trunc(), v[i].trunc()].into_iter().filter_map(move |x| {
                let mut w = v.clone();
                w[i] = x;
                (w != v).then_some(w)
            })
        });
        Box::new(shorter.chain(simpler).filter(|v| Self::holds(v)).map(|v| Floats(v, PhantomData)))
    }
}

/// A whole number from `LOW` to `HIGH`.
#[derive(Clone, Copy, Debug)]
pub struct Int<const LOW: i64, const HIGH: i64>(pub i64);

impl<const LOW: i64, const HIGH: i64> Arbitrary for Int<LOW, HIGH> {
    fn arbitrary(g: &mut Gen) -> Self {
        Int(integer(g, LOW, HIGH))
    }
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        Box::new(Some(Int(self.0 - 1)).into_iter().filter(|n| n.0 >= LOW))
    }
}

/// The inputs of a program under test.
pub trait Refined: 'static {
    /// The type of the random sample.
    type Sample: Arbitrary + Debug;
    /// The type of the program's argument.
    type Arrays: Arrays;
    /// The argument.
    fn arrays(sample: &Self::Sample) -> Self::Arrays;
}

impl<P: Predicate> Refined for P {
    type Sample = Floats<P>;
    type Arrays = Vector<f64>;
    fn arrays(sample: &Floats<P>) -> Vector<f64> {
        Array::vector(sample.0.clone())
    }
}

impl<A: Refined, B: Refined> Refined for (A, B) {
    type Sample = (A::Sample, B::Sample);
    type Arrays = (A::Arrays, B::Arrays);
    fn arrays(sample: &Self::Sample) -> Self::Arrays {
        (A::arrays(&sample.0), B::arrays(&sample.1))
    }
}

impl<A: Refined, B: Refined, C: Refined> Refined for (A, B, C) {
    type Sample = (A::Sample, B::Sample, C::Sample);
    type Arrays = (A::Arrays, B::Arrays, C::Arrays);
    fn arrays(sample: &Self::Sample) -> Self::Arrays {
        (A::arrays(&sample.0), B::arrays(&sample.1), C::arrays(&sample.2))
    }
}
