//! Where NaN or infinity appears, for users.

use crate::ast::{Role, Src};
use crate::interp::Place;
use crate::repr::Scalar;
use std::fmt;

/// Where NaN and infinity appear first in a run: NOTE \[The first NaN\] in the source of this module.
#[derive(Clone, Default, Debug)]
pub struct Finding {
    /// Where the first infinity appeared, if there was one before the first NaN.
    pub infinity: Option<Appearance>,
    /// Where the first NaN appeared.
    pub nan: Option<Appearance>,
}

/// Where NaN or infinity appears.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Appearance {
    /// The primitive function: `log` or `/`.
    pub function: String,
    /// The arguments of the function.
    pub operands: Vec<Scalar>,
    /// The result of the function.
    pub result: Scalar,
    /// The array operation that contains the function, where the user wrote it, and whether it computes a derivative.
    /// `None` for sums of adjoints, which a derivative adds.
    pub source: Src,
    /// The index for which the function is evaluated. For folds, scans and permutes it is an index of the array that they
    /// combine, and elsewhere an index of the result. It is empty in code that is evaluated once.
    pub index: Vec<usize>,
    pub(crate) place: Place,
    /// The numbers of finished steps of loops in scalar code, outermost first.
    pub(crate) steps: Vec<u64>,
    /// The loops over arrays, with the numbers of finished steps, outermost first.
    pub(crate) loops: Vec<(Place, u64)>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.infinity, &self.nan) {
            (Some(infinity), Some(nan)) => write!(f, "first {infinity}; then {nan}")?,
            (Some(one), None) | (None, Some(one)) => one.fmt(f)?,
            (None, None) => f.write_str(
                "the result contains NaN or infinity, but not that of the interpreter: the backend combines sums and products in another order",
            )?,
        }
        match self.infinity.as_ref().and_then(Appearance::stable_form) {
            Some(stable) => write!(f, "; {stable}"),
            None => Ok(()),
        }
    }
}

impl Appearance {
    /// The functions that have the same values and derivatives as the usual formulas with this function, and do not overflow.
    fn stable_form(&self) -> Option<&'static str> {
        let is_exponential = matches!(&*self.function, "exp" | "exp2" | "expm1");
        is_exponential.then_some(
            "`softplus` is ln(1 + e^x), `log_sum_exp` ln(sum e^x), `sigmoid` 1 / (1 + e^-x) and `softmax` e^x / sum e^x without overflow",
        )
    }
}

impl fmt::Display for Appearance {
    /// ``` `log(-1.0)` is NaN at index [3] of the adjoint of `map` at src/main.rs:7:5 ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let x: Vec<String> = self.operands.iter().map(number).collect();
        match &*x {
            [x] if self.function.starts_with("as ") => write!(f, "`{x} {}`", self.function)?,
            [x, y] if !self.function.starts_with(char::is_alphabetic) => write!(f, "`{x} {} {y}`", self.function)?,
            _ => write!(f, "`{}({})`", self.function, x.join(", "))?,
        }
        write!(f, " is {}", number(&self.result))?;
        match &*self.index {
            [] => f.write_str(" in ")?,
            index => write!(f, " at index {index:?} of ")?,
        }
        match self.source.map(|s| s.role) {
            None => write!(f, "a sum of adjoints ({})", self.place)?,
            Some(Role::Primal) => write!(f, "{}", self.place)?,
            Some(Role::Adjoint) => write!(f, "the adjoint of {}", self.place)?,
            Some(Role::Tangent) => write!(f, "{}, or its tangent", self.place)?,
        }
        for n in self.steps.iter().rev() {
            write!(f, ", after {} of a loop in its scalar code", steps(*n))?;
        }
        for (place, n) in self.loops.iter().rev() {
            let adjoint = if place.at.is_some_and(|s| s.role == Role::Adjoint) { "the adjoint of " } else { "" };
            write!(f, ", after {} of {adjoint}{place}", steps(*n))?;
        }
        Ok(())
    }
}

fn number(x: &Scalar) -> String {
    match x {
        Scalar::F32(x) => format!("{x:?}"),
        Scalar::F64(x) => format!("{x:?}"),
        x => format!("{x:?}"),
    }
}

fn steps(n: u64) -> String {
    if n == 1 { "1 step".into() } else { format!("{n} steps") }
}
