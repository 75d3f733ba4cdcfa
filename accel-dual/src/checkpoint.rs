//! Parts of a program whose tapes exist only while the reverse pass needs them.

use crate::custom::wide;
use crate::differentiable::Differentiable;
use crate::dual::Dual;
use crate::error::Error;
use crate::real::Real;
use crate::record::{Numbers, Recorded};
use crate::rev::Rev;
use crate::tape::base::Base;
use crate::tape::cell::Cell;
use crate::tape::recorder::Settings;
use crate::tape::slots::Slots;

/// Numbers whose tapes can be shortened by [`checkpoint`]: all [`Real`] numbers of this crate.
pub trait Checkpoint: Real {
    /// Computes `f(x)`. Use [`checkpoint`] instead.
    #[doc(hidden)]
    fn checkpoint<X, Y, F>(f: F, x: X) -> Y
    where
        X: Differentiable<Self, With<Self> = X> + Send + Sync + 'static,
        Y: Differentiable<Self, With<Self> = Y>,
        F: Fn(X) -> Y + Send + Sync + 'static,
    {
        f(x)
    }
}

impl Checkpoint for f32 {}
impl Checkpoint for f64 {}
impl<T: Real, const N: usize> Checkpoint for Dual<T, N> {}

/// Computes `f(x)` without a tape. The reverse pass computes `f(x)` again, with a tape that it drops afterwards.
///
/// A loop whose body is a checkpoint needs memory only for its states, and time for one more evaluation. Apart from its
/// argument, `f` must not use numbers that depend on an input. Checkpoints can contain checkpoints: a loop of √n
/// checkpoints of loops of √n steps needs memory for 2√n states.
///
/// For numbers that are not recorded, this is the same as `f(x)`.
///
/// ```
/// use accel_dual::{Checkpoint, checkpoint, vjp};
///
/// fn simulate<T: Checkpoint>(start: [T; 2]) -> T {
///     let mut state = start;
///     for _ in 0..100 {
///         // A hundred steps of a pendulum.
///         state = checkpoint(
///             |mut s: [T; 2]| {
///                 for _ in 0..100 {
///                     s = [s[0] + s[1] * T::lit(0.001), s[1] - s[0].sin() * T::lit(0.001)];
///                 }
///                 s
///             },
///             state,
///         );
///     }
///     state[0]
/// }
///
/// let (_, pullback) = vjp(simulate, [1.0, 0.0])?;
/// assert_eq!(pullback.tape().nodes, 200);
/// let slope = pullback.call(&1.0)?;
/// let difference: f64 = (simulate([1.0 + 1e-6, 0.0]) - simulate([1.0f64 - 1e-6, 0.0])) / 2e-6;
/// assert!((slope[0] - difference).abs() < 1e-6);
/// # Ok::<(), accel_dual::Error>(())
/// ```
///
/// # Errors
/// If `f` captures a number that depends on an input, the function that differentiates returns [`Error::Captured`].
pub fn checkpoint<T, X, Y, F>(f: F, x: X) -> Y
where
    T: Checkpoint,
    X: Differentiable<T, With<T> = X> + Send + Sync + 'static,
    Y: Differentiable<T, With<T> = Y>,
    F: Fn(X) -> Y + Send + Sync + 'static,
{
    T::checkpoint(f, x)
}

impl<S: Base> Checkpoint for Rev<S> {
    fn checkpoint<X, Y, F>(f: F, x: X) -> Y
    where
        X: Differentiable<Self, With<Self> = X> + Send + Sync + 'static,
        Y: Differentiable<Self, With<Self> = Y>,
        F: Fn(X) -> Y + Send + Sync + 'static,
    {
        let inputs = numbers(&x);
        #[allow(unsafe_code)]
        // SAFETY: settings are copied.
        let settings = unsafe { S::with(|r| r.is_active().then_some(r.settings)) }.flatten();
        let Some(settings) = settings.filter(|_| inputs.iter().any(|r| !r.is_constant())) else {
            return f(x);
        };
        let x = x.map(&mut |r: Rev<S>| Rev::constant(r.value()));
        // Nothing is recorded: results that are not constant depend on something that was captured.
        let y = Slots::idle().run(|| f(x.map(&mut |r: Rev<S>| r))).0;
        let results = numbers(&y);
        if results.iter().any(|r| !r.is_constant()) {
            #[allow(unsafe_code)]
            // SAFETY: an error without anything of the user is stored.
            unsafe {
                S::with(|r| r.fail(Error::Captured));
            }
            return y;
        }
        let values: Vec<S> = results.iter().map(Rev::value).collect();
        let count = inputs.len();
        let pull = move |adjoints: &[S]| again(settings, &f, &x, count, adjoints);
        let mut outputs = wide(&inputs, &values, Box::new(pull)).into_iter();
        y.map(&mut |r: Rev<S>| outputs.next().unwrap_or(r))
    }
}

/// Computes `f(x)` with a tape, and the adjoints of `x` from those of the result.
fn again<S, X, Y>(
    settings: Settings,
    f: &impl Fn(X) -> Y,
    x: &X,
    count: usize,
    adjoints: &[S],
) -> crate::error::Result<Vec<S>>
where
    S: Base,
    X: Differentiable<Rev<S>, With<Rev<S>> = X>,
    Y: Differentiable<Rev<S>>,
{
    let program = |job| {
        let mut index = 0;
        f(x.map(&mut |r: Rev<S>| {
            index += 1;
            Rev::at(r.value(), job, index)
        }))
    };
    let (_, recorded) = Recorded::new("checkpoint", settings, count, program, numbers)?;
    recorded.pull("checkpoint", adjoints, |inputs| inputs.iter().map(Cell::get).collect())
}

/// The numbers of a structure.
fn numbers<S: Base, X: Differentiable<Rev<S>>>(x: &X) -> Numbers<S> {
    let mut numbers = Numbers::new();
    x.each(&mut |r| numbers.push(r));
    numbers
}
