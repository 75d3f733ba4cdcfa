//! A version of a program, for constant extents, with assumptions on extents or without: the optimised program, and its compiled form as
//! soon as it exists.
//!
//! NOTE [Tiers]: the C compiler takes long, a hundred milliseconds for a small program. The vectorized interpreter needs
//! no time to start, and takes some ten times as long for a run as compiled code. So a program that is
//! [started](accel_core::backend::Backend::start) is interpreted until the compiler has finished in the background. Each
//! run asks which tier there is, and executes to its end in it. If the library is known already (NOTE [Known libraries]), the program
//! is compiled from the first run on. The tiers may differ in the last places of floating-point results, since they add in
//! another order and compute mathematical functions in other ways. So tiers are an option.
//!
//! If the compiler fails in the background, this is reported as usual, and the program stays interpreted. Without a
//! compiler, every program is interpreted, and also one for which the compiler takes too long.

use crate::background::submit;
use crate::cache::{self, Key};
use crate::kernels::{Form, Found, Kernels, Known, Left};
use crate::runtime::{Into, New, Results};
use crate::vectorized::Vectorized;
use accel_core::error::{Error, Result};
use accel_core::repr::{ArrayTuple, RawArray, RawTy, Scalar, View, ViewMut, Views};
use accel_fusion::kernel::tape::Budget;
use accel_fusion::kernel::{Program, Verified};
use accel_fusion::optimize::InputExtents;
use accel_fusion::pipeline::{Optimized, Pipeline};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// When a program is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tiers {
    /// Before its first run.
    Compiled,
    /// During its first runs, in the background.
    Both,
    /// Never.
    Interpreted,
}

/// A version of a program.
pub struct Version {
    optimized: Arc<Optimized>,
    /// The compiled form. There is no value while the compiler works, and `None` if the program stays interpreted.
    kernels: Arc<OnceLock<Option<Kernels>>>,
    budget: Budget,
    /// Whether arguments of other extents have come before, so that more are expected.
    varies: bool,
    /// The digest of the optimised program's file if it is in the cache.
    stored: Option<Key>,
    /// Runs the program without a compiled form. A version from a bundle always has one, and does not need the code of an interpreter.
    interpret: Option<fn(&Verified<Program>, &ArrayTuple, Budget) -> Result<Vec<RawArray>>>,
}

impl Version {
    /// The version for arguments with these extents, and with assumptions on others; or the one for all arguments. `inputs` are the extents
    /// of the first ones if they are known. If arguments `vary`, others have come before them.
    ///
    /// # Errors
    /// A pass of a strict pipeline fails, or the compiler does while somebody waits for it.
    pub fn new(
        pipeline: &Arc<Pipeline>,
        extents: Option<&InputExtents>,
        inputs: &[Vec<usize>],
        varies: bool,
        tiers: Tiers,
    ) -> Result<Version> {
        let (optimized, stored) = cache::optimized(pipeline, extents)?;
        let budget = Budget::new(pipeline.tape_bytes());
        let version = Version {
            optimized: Arc::new(optimized),
            kernels: Arc::default(),
            budget,
            varies,
            stored,
            interpret: Some(interpret),
        };
        match tiers {
            Tiers::Compiled => version.compile(pipeline, inputs)?,
            Tiers::Interpreted => version.set(None),
            Tiers::Both => {
                let in_cache = |p: &_| Kernels::in_cache(p, version.form(), version.file_of(p), inputs);
                match pipeline.emit(&version.optimized, in_cache)? {
                    Found::Kernels(kernels) => version.set(Some(*kernels)),
                    Found::NoCompiler => version.set(None),
                    Found::Nothing => version.compile_in_background(pipeline.clone(), inputs.to_vec()),
                }
            }
        }
        Ok(version)
    }

    /// A version that was compiled elsewhere.
    pub fn stored(optimized: Optimized, kernels: Kernels, budget: Budget) -> Version {
        let optimized = Arc::new(optimized);
        Version {
            optimized,
            kernels: Arc::new(Some(kernels).into()),
            budget,
            varies: true,
            stored: None,
            interpret: None,
        }
    }

    /// The optimised program.
    pub fn optimized(&self) -> &Optimized {
        &self.optimized
    }

    /// The forms that a stored program needs: the one with all strips, those for which runs have asked, and one that runs for all
    /// arguments.
    pub fn forms_to_store(&self) -> BTreeSet<Left> {
        let asked = self.kernels().map(Kernels::forms).unwrap_or_default();
        asked.into_iter().chain(Left::all(&self.optimized.program)).chain([Left::default()]).collect()
    }

    /// The forms that runs have used, for inputs of some extents.
    pub fn known_forms(&self) -> Known {
        self.kernels().map(Kernels::known).unwrap_or_default()
    }

    fn set(&self, kernels: Option<Kernels>) {
        // Only one thread makes the compiled form.
        let _ = self.kernels.set(kernels);
    }

    /// The digest of the file of the program of which code is generated. After a failure, this is not the optimised one, and has none.
    fn file_of(&self, program: &Verified<Program>) -> Option<&Key> {
        self.stored.as_ref().filter(|_| std::ptr::eq(program, &raw const self.optimized.program))
    }

    /// What its compiled form depends on.
    pub fn form(&self) -> Form {
        Form { varies: self.varies, ..Form::new(self.budget, self.optimized.conditions.extents.clone()) }
    }

    fn compile(&self, pipeline: &Pipeline, inputs: &[Vec<usize>]) -> Result<()> {
        let compile = |program: &_| Kernels::of_pipeline(program, self.form(), self.file_of(program), inputs);
        self.set(pipeline.emit(&self.optimized, compile)?);
        Ok(())
    }

    fn compile_in_background(&self, pipeline: Arc<Pipeline>, inputs: Vec<Vec<usize>>) {
        let (optimized, kernels) = (self.optimized.clone(), self.kernels.clone());
        let version = Version { optimized, kernels, ..*self };
        submit(move || {
            let _span = tracing::debug_span!("compile in the background").entered();
            if let Err(error) = version.compile(&pipeline, &inputs) {
                tracing::error!("the program stays interpreted, because it cannot be compiled: {error}");
                version.set(None);
            }
        });
    }

    /// Whether this version is for arguments of these extents.
    pub fn is_for(&self, inputs: &[View<'_>]) -> bool {
        self.optimized.conditions.hold(|k| inputs.get(k).map(View::extents))
    }

    /// The extents of inputs for which this version is.
    pub fn extents(&self) -> &InputExtents {
        &self.optimized.conditions.extents
    }

    /// Whether arguments have the extents for which this version is. They may still not satisfy its assumptions on others.
    pub fn has_extents(&self, inputs: &[View<'_>]) -> bool {
        self.optimized.conditions.have_extents(|k| inputs.get(k).map(View::extents))
    }

    /// The compiled form, if there is one at the moment.
    pub fn kernels(&self) -> Option<&Kernels> {
        self.kernels.get()?.as_ref()
    }

    /// Runs the program on an argument of its type, which consists of `inputs`. The result has type `ty`.
    ///
    /// # Errors
    /// A check at run time fails.
    pub fn run(&self, argument: &ArrayTuple, inputs: &[View<'_>], ty: &RawTy) -> Result<ArrayTuple> {
        let mut results = self.results(argument, inputs)?.into_iter();
        ArrayTuple::of(ty, &mut results).ok_or_else(|| Error::Internal("a program with too few results".into()))
    }

    /// The results, from left to right.
    fn results(&self, argument: &ArrayTuple, inputs: &[View<'_>]) -> Result<Results> {
        if let Some(kernels) = self.kernels()
            && let Some(results) = kernels.run_with(inputs, &mut New)?
        {
            return Ok(results);
        }
        let _span = tracing::debug_span!("interpret").entered();
        let interpret =
            self.interpret.ok_or_else(|| Error::Internal("a bundle without a form for all arguments".into()))?;
        Ok(interpret(&self.optimized.program, argument, self.budget)?.into())
    }

    /// Computes on numbers, for a program without dimensions: see [`accel_core::backend::Executable::call`].
    pub fn call(&self, argument: &[Scalar], result: &mut [Scalar]) -> bool {
        let numbers = self.kernels().and_then(|kernels| kernels.whole()?.numbers.as_ref());
        numbers.is_some_and(|n| n.call(argument, result))
    }

    /// As [`run`](Self::run), with results in the memory of the caller; `false` if there is no compiled form at the moment, or if the
    /// inputs have other types.
    ///
    /// # Errors
    /// As [`run`](Self::run), and results of other extents than their places.
    pub fn run_into(&self, inputs: &[View<'_>], results: &mut [ViewMut<'_>]) -> Result<bool> {
        match self.kernels().filter(|kernels| kernels.takes(inputs)) {
            None => Ok(false),
            Some(kernels) => Ok(kernels.run_with(inputs, &mut Into(results))?.is_some()),
        }
    }
}

/// Arrays as arguments of a run.
pub fn views<'a>(arrays: &[&'a RawArray]) -> Views<'a> {
    arrays.iter().map(|a| View::Array(a)).collect()
}

/// Runs a program in the vectorized interpreter.
fn interpret(program: &Verified<Program>, argument: &ArrayTuple, budget: Budget) -> Result<Vec<RawArray>> {
    program.evaluate_with(argument, budget, &Vectorized)
}
