//! The transforms of one row, as foreign functions.

use crate::repr::foreign::{View, ViewMut};
use crate::repr::{ColumnElt, Foreign};
use crate::types::Floating;
use realfft::num_traits::{One, Zero};
use realfft::{ComplexToReal, FftNum, RealFftPlanner, RealToComplex};
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftDirection, FftPlanner};
use std::cell::RefCell;
use std::sync::Arc;

/// The numbers that are transformed: `f32` and `f64`.
pub trait Number: Floating + ColumnElt + FftNum {
    /// Uses the plans of this thread.
    #[doc(hidden)]
    fn with_plans<R>(f: impl FnOnce(&mut Plans<Self>) -> R) -> R;
}

/// How to transform rows of the lengths that a thread has met, and memory for a row.
#[doc(hidden)]
pub struct Plans<T: FftNum> {
    complex: FftPlanner<T>,
    real: RealFftPlanner<T>,
    row: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
    reals: Vec<T>,
}

impl<T: FftNum> Plans<T> {
    fn new() -> Self {
        let (complex, real) = (FftPlanner::new(), RealFftPlanner::new());
        Plans { complex, real, row: vec![], scratch: vec![], reals: vec![] }
    }
}

macro_rules! numbers {
    ($($t:ty)*) => { $(
        impl Number for $t {
            fn with_plans<R>(f: impl FnOnce(&mut Plans<$t>) -> R) -> R {
                thread_local!(static PLANS: RefCell<Plans<$t>> = RefCell::new(Plans::new()));
                PLANS.with_borrow_mut(f)
            }
        }
    )* };
}
numbers!(f32 f64);

/// `Σ_j x_j e^(-2πi jk/n)`
pub fn forward<T: Number>() -> Foreign {
    fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        complex::<T>(from, to, FftDirection::Forward)
    }
    Foreign::linear("fft", work::<T>, backward::<T>)
}

/// `Σ_k z_k e^(2πi jk/n)`, the adjoint of [`forward`].
pub fn backward<T: Number>() -> Foreign {
    fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        complex::<T>(from, to, FftDirection::Inverse)
    }
    Foreign::linear("ifft", work::<T>, forward::<T>)
}

/// [`forward`] of real numbers: the first n/2 + 1 numbers, from which the others follow.
pub fn of_reals<T: Number>() -> Foreign {
    fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        real_to_complex::<T>(from, to, <T as One>::one())
    }
    fn adjoint<T: Number>() -> Foreign {
        fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
            complex_to_real::<T>(from, to, half())
        }
        Foreign::linear("rfft", work::<T>, of_reals::<T>)
    }
    Foreign::linear("rfft", work::<T>, adjoint::<T>)
}

/// [`backward`] to real numbers, from the first n/2 + 1 numbers.
pub fn to_reals<T: Number>() -> Foreign {
    fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
        complex_to_real::<T>(from, to, <T as One>::one())
    }
    fn adjoint<T: Number>() -> Foreign {
        fn work<T: Number>(from: &[View], to: &mut [ViewMut]) -> Result<(), String> {
            real_to_complex::<T>(from, to, <T as One>::one() + <T as One>::one())
        }
        Foreign::linear("irfft", work::<T>, to_reals::<T>)
    }
    Foreign::linear("irfft", work::<T>, adjoint::<T>)
}

fn half<T: Number>() -> T {
    <T as One>::one() / (<T as One>::one() + <T as One>::one())
}

fn no_row() -> String {
    "an array of another type".into()
}

fn complex<T: Number>(from: &[View], to: &mut [ViewMut], direction: FftDirection) -> Result<(), String> {
    let (re, im) = parts::<T>(from)?;
    let (to_re, to_im) = parts_mut::<T>(to)?;
    if re.is_empty() {
        return Ok(());
    }
    T::with_plans(|plans| {
        let Plans { complex, row, scratch, .. } = plans;
        let plan: Arc<dyn Fft<T>> = complex.plan_fft(re.len(), direction);
        gather(row, re, im);
        scratch.resize(plan.get_inplace_scratch_len(), Complex::zero());
        plan.process_with_scratch(row, scratch);
        scatter(row, to_re, to_im);
    });
    Ok(())
}

/// Numbers whose opposites are left out are multiplied by `factor`.
fn real_to_complex<T: Number>(from: &[View], to: &mut [ViewMut], factor: T) -> Result<(), String> {
    let x = from.first().and_then(|a| T::part(a.columns.first()?)).ok_or_else(no_row)?;
    let (re, im) = parts_mut::<T>(to)?;
    let n = x.len();
    if n == 0 {
        return Ok(());
    }
    T::with_plans(|plans| {
        let Plans { real, row, scratch, reals, .. } = plans;
        let plan: Arc<dyn RealToComplex<T>> = real.plan_fft_forward(n);
        reals.clear();
        reals.extend_from_slice(x);
        row.resize(n / 2 + 1, Complex::zero());
        scratch.resize(plan.get_scratch_len(), Complex::zero());
        plan.process_with_scratch(reals, row, scratch).map_err(|e| e.to_string())?;
        pairs(row, n, factor);
        scatter(row, re, im);
        Ok(())
    })
}

/// Numbers whose opposites are left out are multiplied by `factor`.
fn complex_to_real<T: Number>(from: &[View], to: &mut [ViewMut], factor: T) -> Result<(), String> {
    let (re, im) = parts::<T>(from)?;
    let y = to.first_mut().and_then(|a| T::part_mut(a.columns.first_mut()?)).ok_or_else(no_row)?;
    let n = y.len();
    if n == 0 {
        return Ok(());
    }
    if re.len() != n / 2 + 1 {
        return Err(format!("expected rows of {} numbers for {n} results, found {}", n / 2 + 1, re.len()));
    }
    T::with_plans(|plans| {
        let Plans { real, row, scratch, .. } = plans;
        let plan: Arc<dyn ComplexToReal<T>> = real.plan_fft_inverse(n);
        gather(row, re, im);
        pairs(row, n, factor);
        // The imaginary parts of numbers that are their own opposites count for nothing.
        row[0].im = <T as Zero>::zero();
        if n.is_multiple_of(2) {
            row[n / 2].im = <T as Zero>::zero();
        }
        scratch.resize(plan.get_scratch_len(), Complex::zero());
        plan.process_with_scratch(row, y, scratch).map_err(|e| e.to_string())
    })
}

/// Multiplies the numbers of a transform of `n` real numbers whose opposites are left out.
fn pairs<T: Number>(row: &mut [Complex<T>], n: usize, factor: T) {
    row[1..n.div_ceil(2)].iter_mut().for_each(|z| *z = *z * factor);
}

fn parts<'a, T: Number>(from: &[View<'a>]) -> Result<(&'a [T], &'a [T]), String> {
    let [re, im] = &from.first().ok_or_else(no_row)?.columns[..] else { return Err(no_row()) };
    T::part(re).zip(T::part(im)).ok_or_else(no_row)
}

fn parts_mut<'v, T: Number>(to: &'v mut [ViewMut]) -> Result<(&'v mut [T], &'v mut [T]), String> {
    let [re, im] = &mut to.first_mut().ok_or_else(no_row)?.columns[..] else { return Err(no_row()) };
    T::part_mut(re).zip(T::part_mut(im)).ok_or_else(no_row)
}

fn gather<T: Number>(row: &mut Vec<Complex<T>>, re: &[T], im: &[T]) {
    row.clear();
    row.extend(re.iter().zip(im).map(|(re, im)| Complex { re: *re, im: *im }));
}

fn scatter<T: Number>(row: &[Complex<T>], re: &mut [T], im: &mut [T]) {
    for ((z, re), im) in row.iter().zip(re).zip(im) {
        (*re, *im) = (z.re, z.im);
    }
}
