//! Optimised programs on disk: what a process has optimised, another one does not simplify and optimise again.
//!
//! NOTE [Stored programs]: the name of a file is a digest of everything on which the optimised program depends: the typed
//! program with its places in the source and all arrays in it, the options, and the sources of the passes. The generated code
//! and the compiler do not matter here. Code is generated from the stored program, and the library is found by the digest of
//! this code, or known already: NOTE [Known libraries]. A stored program contains proofs, which the backend trusts. So its
//! file is as trusted as a library: NOTE [Trusted cache files]. A file that cannot be used is written again. A program is not
//! stored if a pass has failed, so that the failure is reported the next time, too.

use super::folder::{EXTENTS, Folder, PROGRAM};
use super::{Key, contents, file_name, folder, limit, store};
use accel_core::error::Result;
use accel_core::pass::canonical_key::{ProgramKey, SMALL_BYTES};
use accel_fusion::optimize::InputExtents;
use accel_fusion::pipeline::{Optimized, Options, PASSES, Pipeline};
use sha2::{Digest, Sha256};

/// A program with arrays of more bytes is not stored: their digest would take longer than the passes.
const LARGEST: usize = 1 << 24;

/// The optimised program, from the cache if it is there, and the digest of its file if there is one. It is for arguments with these
/// extents, and under conditions on others, or for all arguments.
///
/// # Errors
/// As [`Pipeline::optimized`], and `Error::Environment` if the limit of the cache is not a number.
pub(crate) fn optimized(pipeline: &Pipeline, extents: Option<&InputExtents>) -> Result<(Optimized, Option<Key>)> {
    let optimized = || match extents {
        Some(extents) => pipeline.optimized_for(extents),
        None => pipeline.optimized(false),
    };
    let not_stored = || Ok((optimized()?, None));
    let limit = limit()?;
    let options = pipeline.options();
    let Some(folder) = (limit > 0 && is_usual(options)).then(folder).flatten() else { return not_stored() };
    let program = pipeline.key();
    if program.large.iter().map(|c| c.bytes()).sum::<usize>() > LARGEST {
        return not_stored();
    }
    let key = key(program, &format!("{options:?} {extents:?}"));
    let name = file_name(&key, PROGRAM);
    if let Some((found, file)) = stored(&folder, &name, &key, program) {
        tracing::debug!(name, "an optimised program in the cache");
        return Ok((found, Some(file)));
    }
    let optimized = optimized()?;
    let bytes = optimized.complete.then(|| optimized.to_bytes(program, SMALL_BYTES)).flatten();
    let stored = bytes.and_then(|bytes| store(&folder, &name, &key, bytes, limit));
    Ok((optimized, stored))
}

/// Whether programs with these options are stored. What is to be printed, checked or tested is not in a stored program.
fn is_usual(options: &Options) -> bool {
    !options.check && options.fault.is_none() && std::env::var_os("ACCEL_DUMP").is_none()
}

/// A program in the cache on disk, where the extents with which it ran are remembered: NOTE [Versions] in [`crate::versions`].
pub(crate) struct KnownProgram {
    folder: Folder,
    limit: u64,
    key: Key,
}

impl KnownProgram {
    /// The program of a pipeline, if it is stored at all.
    pub fn new(pipeline: &Pipeline) -> Option<KnownProgram> {
        let (limit, program) = (limit().ok()?, pipeline.key());
        let is_stored = limit > 0
            && is_usual(pipeline.options())
            && program.large.iter().map(|c| c.bytes()).sum::<usize>() <= LARGEST;
        let folder = is_stored.then(folder).flatten()?;
        Some(KnownProgram { folder, limit, key: key(program, &format!("{:?} extents", pipeline.options())) })
    }

    /// The extents that all runs had in common, if there was one.
    pub fn extents(&self) -> Option<InputExtents> {
        let (bytes, _) = contents(&self.folder, &self.name(), &self.key).ok().flatten()?;
        let (words, _) = bytes.as_chunks::<8>();
        let mut words = words.iter().map(|w| u64::from_le_bytes(*w));
        let mut extents = InputExtents::default();
        while let Some(rank) = words.next() {
            extents.push(
                (0..rank).map(|_| Some(words.next()?.checked_sub(1).map(|n| n as usize))).collect::<Option<_>>()?,
            );
        }
        Some(extents)
    }

    /// Remembers the extents that all runs so far have in common.
    pub fn remember(&self, extents: &InputExtents) {
        let word = |n: &Option<usize>| n.map_or(0, |n| 1 + n as u64);
        let words = extents.iter().flat_map(|e| std::iter::once(e.len() as u64).chain(e.iter().map(word)));
        let bytes = words.flat_map(u64::to_le_bytes).collect();
        store(&self.folder, &self.name(), &self.key, bytes, self.limit);
    }

    fn name(&self) -> String {
        file_name(&self.key, EXTENTS)
    }
}

fn stored(folder: &Folder, name: &str, key: &Key, program: &ProgramKey) -> Option<(Optimized, Key)> {
    let (bytes, file) = contents(folder, name, key).unwrap_or_else(|why| {
        tracing::debug!("{name} in the cache is not used: {why}");
        None
    })?;
    Some((Optimized::from_bytes(&bytes, program)?, file))
}

fn key(program: &ProgramKey, options: &str) -> Key {
    let mut h = Sha256::new();
    for part in [env!("CARGO_PKG_VERSION"), PASSES, options] {
        h.update((part.len() as u64).to_le_bytes());
        h.update(part);
    }
    let words: Vec<u8> = program.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    h.update((words.len() as u64).to_le_bytes());
    h.update(words);
    for column in &program.large {
        // SAFETY: a column has this number of initialised bytes at this address.
        h.update(unsafe { std::slice::from_raw_parts(column.as_ptr(), column.bytes()) });
    }
    h.finalize().into()
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::digest;
    use super::super::folder::Folder;
    use super::*;
    use accel_core::afun::{Afun, afun};
    use accel_core::prelude::*;
    use accel_fusion::pipeline::Target;

    fn pipeline(prog: &Afun<Vector<f64>, Vector<f64>>) -> Pipeline {
        Pipeline::lazy(prog.program().unwrap(), Target::Processor, Options::default())
    }

    /// A program with places in the source, one of which is that of a slice, assumptions, and an array of many elements.
    fn program(shift: f64) -> Afun<Vector<f64>, Vector<f64>> {
        let table: Vec<f64> = (0..1000).map(|i| i as f64 + shift).collect();
        afun(move |xs: Acc<Vector<f64>>| {
            let table = use_(&Array::vector(table));
            let shifted = generate(xs.shape() - 2, |i| xs.at(i + 2) * table.at(i % 7));
            let total = sum(zip_with_min(|x, y| x * y, xs, shifted));
            let m = generate((2, xs.len()), |(i, j)| (xs.at(j) * i.cast::<f64>()).sin());
            let rows = aiterate(3, |r: Acc<Vector<f64>>| zip_with(|x, y| x + y, r, slice((1, All), m)), xs);
            map(move |x| x + the(total) + shift + the(sum(rows)), shifted)
        })
    }

    #[test]
    fn a_stored_program_is_the_optimised_one() {
        let dir = tempfile::TempDir::new().unwrap();
        let folder = Folder::open(&dir.path().join("accel")).unwrap();
        for (k, assume) in [(1.0, true), (1.0, false), (2.0, true)] {
            let pipeline = pipeline(&program(k));
            let program = pipeline.key();
            assert_eq!(program.large.len(), 1);
            let key = key(program, &format!("{assume}"));
            let name = file_name(&key, PROGRAM);
            assert!(stored(&folder, &name, &key, program).is_none());
            let optimized = pipeline.optimized(assume).unwrap();
            let mut bytes = optimized.to_bytes(program, SMALL_BYTES).unwrap();
            assert!(bytes.len() < 8000, "the array is not stored");
            let digest_of_file = digest(&key, &bytes);
            bytes.extend_from_slice(&digest_of_file);
            folder.store(&name, &bytes, 1 << 20).unwrap();
            let (found, file) = stored(&folder, &name, &key, program).unwrap();
            assert_eq!(file, digest_of_file);
            assert_eq!(found.program.to_string(), optimized.program.to_string());
            assert!(found.program.sites.iter().any(|site| site.fixed == 1));
            assert_eq!(format!("{:?}", found.program.sites), format!("{:?}", optimized.program.sites));
            assert_eq!(format!("{:?}", found.conditions), format!("{:?}", optimized.conditions));
            // What is damaged is not used, whatever has been damaged.
            let damaged: [&[u8]; 4] = [&[], &bytes[..bytes.len() / 2], &[&bytes[..], b"x"].concat(), &bytes[1..]];
            for bad in damaged {
                folder.store(&name, bad, 1 << 20).unwrap();
                assert!(stored(&folder, &name, &key, program).is_none());
            }
            for cut in (0..bytes.len() - 32).step_by(97) {
                let mut bad = bytes[..cut].to_vec();
                bad.extend_from_slice(&digest(&key, &bytes[..cut]));
                folder.store(&name, &bad, 1 << 20).unwrap();
                assert!(stored(&folder, &name, &key, program).is_none(), "{cut}");
            }
        }
    }

    #[test]
    fn everything_that_matters_is_part_of_the_key() {
        let keys = |k: f64, options: &str| key(pipeline(&program(k)).key(), options);
        assert_eq!(keys(1.0, "a"), keys(1.0, "a"));
        assert_ne!(keys(1.0, "a"), keys(2.0, "a"));
        assert_ne!(keys(1.0, "a"), keys(1.0, "b"));
    }
}
