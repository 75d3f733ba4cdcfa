//! A compiled program, and its versions for extents of arguments.

use crate::bundle::write::bundle;
use crate::cache::KnownProgram;
use crate::kernels::each;
use crate::version::{Tiers, Version, views};
use accel_core::ast::deep;
use accel_core::backend::{Backend, Executable, check_argument};
use accel_core::error::{Error, Result};
use accel_core::interp::Interpreter;
use accel_core::repr::{ArrayTuple, RawTy, Scalar, View, ViewMut};
use accel_fusion::optimize::InputExtents;
use accel_fusion::pipeline::Pipeline;
use std::sync::{Arc, OnceLock};

/// The largest extent that is a constant of a version: NOTE [Versions]. Chosen: data has more elements than this, and states,
/// layers and coordinates have fewer.
const CONSTANT: usize = 64;
/// The largest number of versions with constant extents.
const VERSIONS: usize = 4;

/// A typed program, ready to run.
///
/// NOTE [Versions]: a program is compiled for the extents that it meets. In the first run, every extent of an argument that is at most
/// [`CONSTANT`] becomes a constant of the program, so loops over small arrays are loops between constants
/// (NOTE [Frames] in `accel_codegen`), and what is decided by extents is decided once. Larger extents stay symbols. If a run meets other
/// extents, then those that differ become symbols in a further version, for ever. After [`VERSIONS`] of them, or if no constant is left,
/// one version is for all extents. The cache on disk remembers which extents became symbols, so that a program that meets other
/// files in each process is compiled a few times in all.
pub struct Versions {
    /// The extents that became constants at first.
    first: OnceLock<InputExtents>,
    /// Where the extents of all processes are remembered.
    known: OnceLock<Option<KnownProgram>>,
    /// The versions with constant extents, in the order in which they were made.
    constant: [OnceLock<Result<Version>>; VERSIONS],
    /// The version for extents that satisfy the assumptions. It is made on first use.
    symbolic: OnceLock<Result<Version>>,
    /// The version for other extents.
    general: OnceLock<Result<Version>>,
    pipeline: Arc<Pipeline>,
    tiers: Tiers,
}

impl Executable for Versions {
    fn run(&self, argument: &ArrayTuple) -> Result<ArrayTuple> {
        let inputs = views(&check_argument(argument, self.pipeline.program().arg())?);
        let version = match self.version_for(&inputs) {
            // The pipeline has reported this error.
            Err(Error::Internal(_)) if !self.pipeline.options().strict => {
                return Interpreter.compile(self.pipeline.program())?.run(argument);
            }
            version => version?,
        };
        version.run(argument, &inputs, self.pipeline.program().result())
    }

    fn run_into(&self, arguments: &[View<'_>], results: &mut [ViewMut<'_>]) -> Result<bool> {
        match self.version_for(arguments) {
            Err(Error::Internal(_)) if !self.pipeline.options().strict => Ok(false),
            version => version?.run_into(arguments, results),
        }
    }

    fn prepare(&self, argument: &ArrayTuple) -> Result<()> {
        self.version_for(&views(&check_argument(argument, self.pipeline.program().arg())?)).map(|_| ())
    }

    fn bundle(&self, processors: &[&str]) -> Result<Vec<u8>> {
        // Versions that nobody has run are not compiled for this processor.
        let optimized = |extents: Option<&_>| Version::new(&self.pipeline, extents, &[], true, Tiers::Interpreted);
        let (any, none);
        let symbolic = match self.symbolic.get() {
            Some(Ok(made)) => made,
            _ => {
                any = optimized(Some(&InputExtents::default()))?;
                &any
            }
        };
        let mut versions: Vec<_> = self.constant.iter().map_while(OnceLock::get).flatten().collect();
        versions.push(symbolic);
        if !symbolic.optimized().conditions.is_empty() {
            versions.push(match self.general.get() {
                Some(Ok(made)) => made,
                _ => {
                    none = optimized(None)?;
                    &none
                }
            });
        }
        let program = self.pipeline.program();
        bundle(program.arg(), program.result(), &versions, processors)
    }

    fn call(&self, argument: &[Scalar], result: &mut [Scalar]) -> bool {
        // A program of arrays of rank 0 has no assumptions on extents.
        self.symbolic.get().is_some_and(|made| made.as_ref().is_ok_and(|version| version.call(argument, result)))
    }
}

impl Versions {
    /// Compiles what does not depend on extents of arguments: a program without dimensions, or the only version.
    ///
    /// # Errors
    /// As [`Version::new`].
    pub fn new(pipeline: Pipeline, tiers: Tiers) -> Result<Versions> {
        let (first, known, constant, symbolic, general) = Default::default();
        let compiled = Versions { first, known, constant, symbolic, general, pipeline: Arc::new(pipeline), tiers };
        if !compiled.has_versions() {
            compiled.symbolic(&[])?;
        }
        Ok(compiled)
    }

    /// The version for arguments of these extents.
    fn version_for(&self, inputs: &[View<'_>]) -> Result<&Version> {
        let mut made = self.constant.iter().map_while(OnceLock::get).flatten();
        match made.find(|version| version.has_extents(inputs)) {
            Some(version) => self.or_general(version, inputs),
            None => self.further_version_for(inputs),
        }
    }

    /// The version for extents that no version has had as constants so far.
    fn further_version_for(&self, inputs: &[View<'_>]) -> Result<&Version> {
        let mut known = self.first_extents(inputs);
        for version in &self.constant {
            if !have_common(known, inputs) {
                break;
            }
            let make = || {
                let extents = common(known, inputs);
                tracing::debug!(?extents, "the program is compiled for constant extents");
                self.remember(&extents);
                self.version(&extents, inputs)
            };
            let version = version.get_or_init(make).as_ref().map_err(Clone::clone)?;
            if version.has_extents(inputs) {
                return self.or_general(version, inputs);
            }
            known = version.extents();
        }
        if self.symbolic.get().is_none() {
            self.remember(&common(known, inputs));
        }
        self.or_general(self.symbolic(inputs)?, inputs)
    }

    /// A version, or the one for all arguments if these do not satisfy its assumptions.
    fn or_general<'v>(&'v self, version: &'v Version, inputs: &[View<'_>]) -> Result<&'v Version> {
        if version.is_for(inputs) { Ok(version) } else { self.general(inputs) }
    }

    /// The extents that become constants in the first version: small ones that all runs had, also those of other processes.
    fn first_extents(&self, inputs: &[View<'_>]) -> &InputExtents {
        self.first.get_or_init(|| {
            if !self.has_versions() {
                return InputExtents::default();
            }
            self.known().and_then(|known| known.extents()).unwrap_or_else(|| constants(inputs))
        })
    }

    fn known(&self) -> Option<&KnownProgram> {
        self.known.get_or_init(|| KnownProgram::new(&self.pipeline)).as_ref()
    }

    /// Remembers the extents that all runs have in common, if they are others than before.
    fn remember(&self, extents: &InputExtents) {
        if self.has_versions()
            && let Some(known) = self.known()
            && known.extents().as_ref() != Some(extents)
        {
            known.remember(extents);
        }
    }

    /// Whether there are versions for constant extents.
    fn has_versions(&self) -> bool {
        let is_compiled = self.tiers != Tiers::Interpreted;
        is_compiled && !self.pipeline.options().one_version && has_dimensions(self.pipeline.program().arg())
    }

    /// The version with these constants, for these inputs and others. If the inputs have more small extents, then others were there.
    fn version(&self, extents: &InputExtents, inputs: &[View<'_>]) -> Result<Version> {
        let count = |extents: &InputExtents| extents.iter().flatten().flatten().count();
        let varies = count(extents) < count(&constants(inputs));
        Version::new(&self.pipeline, Some(extents), &each(inputs), varies, self.tiers)
    }

    fn symbolic(&self, inputs: &[View<'_>]) -> Result<&Version> {
        let make = || self.version(&InputExtents::default(), inputs);
        self.symbolic.get_or_init(make).as_ref().map_err(Clone::clone)
    }

    fn general(&self, inputs: &[View<'_>]) -> Result<&Version> {
        let make = || {
            tracing::debug!("the extents are not as assumed: the program is compiled without assumptions");
            Version::new(&self.pipeline, None, &each(inputs), true, self.tiers)
        };
        self.general.get_or_init(make).as_ref().map_err(Clone::clone)
    }
}

/// The extents that become constants.
fn constants(inputs: &[View<'_>]) -> InputExtents {
    let small = |a: &View<'_>| a.extents().iter().map(|n| Some(*n).filter(|n| *n <= CONSTANT)).collect();
    inputs.iter().map(small).collect()
}

/// The constants of a version that fit other arguments, too.
fn common(version: &InputExtents, inputs: &[View<'_>]) -> InputExtents {
    let common = |known: &[Option<usize>], a: &View<'_>| {
        known.iter().zip(a.extents()).map(|(known, n)| known.filter(|known| known == n)).collect()
    };
    version.iter().zip(inputs).map(|(known, a)| common(known, a)).collect()
}

/// Whether there are such constants.
fn have_common(version: &InputExtents, inputs: &[View<'_>]) -> bool {
    let mut both = version.iter().zip(inputs).flat_map(|(known, a)| known.iter().zip(a.extents()));
    both.any(|(known, n)| known.as_ref() == Some(n))
}

/// Whether some array of a type has a dimension.
fn has_dimensions(ty: &RawTy) -> bool {
    match ty {
        RawTy::Pair(p) => deep(|| has_dimensions(&p.0) || has_dimensions(&p.1)),
        RawTy::Array(p) => p.0 != RawTy::Unit,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use accel_core::afun::{Afun, afun};
    use accel_core::prelude::*;
    use accel_fusion::pipeline::{Options, Target};

    /// A recurrence over the rows of a matrix with a state of a column's length, so that it has a frame, and the products of its
    /// states with a vector.
    fn program() -> Afun<(Matrix<f64>, Vector<f64>), Vector<f64>> {
        afun(|m: Acc<Matrix<f64>>, v: Acc<Vector<f64>>| {
            let step = |k: Exp<i64>, y: Acc<Vector<f64>>| {
                let row = generate(y.shape(), |i| m.at((k, i)));
                zip_with(|y, x| y * 0.5 + x, y, row)
            };
            let last = aiterate_indexed(m.shape().0, step, v);
            scanl1(|a, b| a + b, last)
        })
    }

    fn compiled() -> Versions {
        // Nothing is remembered, so that tests do not depend on those before.
        let pipeline =
            Pipeline::lazy(program().program().unwrap(), Target::Processor, Options { check: true, ..strict() });
        Versions::new(pipeline, Tiers::Compiled).unwrap()
    }

    fn strict() -> Options {
        Options { strict: true, ..Options::default() }
    }

    fn argument(rows: usize, columns: usize) -> ArrayTuple {
        let m = (0..rows * columns).map(|k| (k % 7) as f64 * 0.25).collect();
        let v = (0..columns).map(|k| k as f64).collect();
        (Array::matrix(rows, columns, m).unwrap(), Array::vector(v)).to_tuple()
    }

    fn versions(compiled: &Versions) -> (usize, bool) {
        (compiled.constant.iter().filter(|v| v.get().is_some()).count(), compiled.symbolic.get().is_some())
    }

    /// Runs with other extents, each compared with the interpreter, and the numbers of versions after each.
    #[test]
    fn extents_that_change_become_symbols() {
        let compiled = compiled();
        let interpreted = Interpreter.compile(compiled.pipeline.program()).unwrap();
        for (extents, expected) in [
            ((3, 4), (1, false)),
            ((3, 4), (1, false)),
            ((5, 4), (2, false)),
            ((100, 4), (2, false)),
            ((0, 4), (2, false)),
            ((5, 2), (2, true)),
            ((64, 65), (2, true)),
            ((3, 4), (2, true)),
            ((3, 0), (2, true)),
        ] {
            let argument = argument(extents.0, extents.1);
            let expected_result = interpreted.run(&argument).unwrap();
            assert_eq!(
                format!("{:?}", compiled.run(&argument).unwrap()),
                format!("{expected_result:?}"),
                "{extents:?}"
            );
            assert_eq!(versions(&compiled), expected, "{extents:?}");
        }
    }

    #[test]
    fn small_extents_are_constants() {
        let compiled = compiled();
        compiled.prepare(&argument(65, 64)).unwrap();
        let first: Vec<_> =
            compiled.constant[0].get().unwrap().as_ref().unwrap().extents().iter().flatten().copied().collect();
        assert_eq!(first, [None, Some(64), Some(64)]);
    }

    /// A program whose arguments do not fit together has the same error in each version.
    #[test]
    fn errors_are_those_of_the_general_program() {
        let wrong = (Array::matrix(2, 3, vec![1.0; 6]).unwrap(), Array::vector(vec![1.0; 4])).to_tuple();
        let found = compiled().run(&wrong).unwrap_err().to_string();
        let one_version =
            Pipeline::lazy(program().program().unwrap(), Target::Processor, Options { one_version: true, ..strict() });
        let expected = Versions::new(one_version, Tiers::Compiled).unwrap().run(&wrong).unwrap_err().to_string();
        assert_eq!(found, expected);
    }

    #[test]
    fn threads_make_versions_at_the_same_time() {
        let compiled = compiled();
        let interpreted = Interpreter.compile(compiled.pipeline.program()).unwrap();
        std::thread::scope(|scope| {
            for k in 0..8 {
                let (compiled, interpreted) = (&compiled, &interpreted);
                scope.spawn(move || {
                    let argument = argument(1 + k % 4, 2 + k / 4);
                    let [found, expected] =
                        [compiled.run(&argument), interpreted.run(&argument)].map(|r| format!("{:?}", r.unwrap()));
                    assert_eq!(found, expected);
                });
            }
        });
        assert!(versions(&compiled).0 <= VERSIONS);
    }
}
