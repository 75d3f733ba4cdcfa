//! Compiled programs on disk and in the process.
//!
//! A file of the cache is a shared library with 32 bytes behind it: a digest of its key and of the library. It is written
//! elsewhere and renamed, so that other processes see it as a whole or not at all, and it is loaded only if the digest is right: a
//! truncated library would end the process. Where the cache cannot be used (a read-only or full disk), the library is built in
//! a temporary directory.

use crate::library::Library;
use crate::toolchain::Toolchain;
use accel_codegen::Module;
use accel_core::error::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What a library depends on, hashed.
type Key = [u8; 32];

/// Libraries that are loaded at the moment.
static LOADED: Mutex<Option<HashMap<Key, Weak<Library>>>> = Mutex::new(None);

/// The library of a module.
///
/// # Errors
/// `Error::Compiler`.
pub fn library(module: &Module, toolchain: &Toolchain) -> Result<Arc<Library>> {
    let key = key(&module.source, toolchain);
    if let Some(l) = loaded(&key) {
        return Ok(l);
    }
    let file = build(&module.source, &key, toolchain, directory().as_deref())?;
    // Under the lock, so that a library is loaded once and its variables are set before it is used.
    let mut map = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let map = map.get_or_insert_default();
    if let Some(l) = map.get(&key).and_then(Weak::upgrade) {
        return Ok(l);
    }
    map.retain(|_, l| l.strong_count() > 0);
    let library = Arc::new(Library::load(file.path())?);
    map.insert(key, Arc::downgrade(&library));
    Ok(library)
}

fn loaded(key: &Key) -> Option<Arc<Library>> {
    let map = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    map.as_ref()?.get(key)?.upgrade()
}

/// `$XDG_CACHE_HOME/accel` or `~/.cache/accel`.
fn directory() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")))?;
    Some(base.join("accel"))
}

fn key(source: &str, toolchain: &Toolchain) -> Key {
    let mut h = Sha256::new();
    for part in [env!("CARGO_PKG_VERSION"), &toolchain.identity, &toolchain.flags.join(" "), source] {
        h.update((part.len() as u64).to_le_bytes());
        h.update(part);
    }
    h.finalize().into()
}

fn digest(key: &Key, library: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(key).chain_update(library).finalize().into()
}

/// A library that is ready to be loaded.
enum Built {
    Cached(PathBuf),
    /// It may go when it has been loaded.
    Temporary(PathBuf, #[allow(dead_code)] tempfile::TempDir),
}

impl Built {
    fn path(&self) -> &Path {
        match self {
            Built::Cached(p) | Built::Temporary(p, _) => p,
        }
    }
}

/// Finds the library in the cache, or compiles it.
fn build(source: &str, key: &Key, toolchain: &Toolchain, cache: Option<&Path>) -> Result<Built> {
    let name: String = key.iter().map(|b| format!("{b:02x}")).collect();
    if let Some(dir) = cache {
        let path = dir.join(format!("{name}.so"));
        if is_whole(&path, key) {
            tracing::debug!(path = %path.display(), "found in the cache");
            return Ok(Built::Cached(path));
        }
        match private_directory(dir).and_then(|()| tempfile::TempDir::with_prefix_in("build-", dir)) {
            Ok(work) => match compile(source, key, toolchain, work.path()) {
                Ok(built) => match fs::rename(&built, &path) {
                    Ok(()) => return Ok(Built::Cached(path)),
                    Err(e) => tracing::debug!("cannot write to the cache: {e}"),
                },
                // The disk may be full: it is tried again elsewhere.
                Err(e) => tracing::debug!("{e}"),
            },
            Err(e) => tracing::debug!("cannot use the cache: {e}"),
        }
    }
    let work = tempfile::TempDir::with_prefix("accel-").map_err(|e| Error::Compiler(e.to_string()))?;
    let path = compile(source, key, toolchain, work.path()).map_err(Error::Compiler)?;
    Ok(Built::Temporary(path, work))
}

/// Code that is loaded must not be writable by others.
fn private_directory(dir: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(dir)
}

fn is_whole(path: &Path, key: &Key) -> bool {
    let Ok(bytes) = fs::read(path) else { return false };
    bytes.split_last_chunk::<32>().is_some_and(|(library, end)| *end == digest(key, library))
}

/// Compiles in a directory and appends the digest.
fn compile(source: &str, key: &Key, toolchain: &Toolchain, work: &Path) -> std::result::Result<PathBuf, String> {
    let _span = tracing::debug_span!("C compiler", bytes = source.len()).entered();
    let (text, library) = (work.join("kernels.c"), work.join("kernels.so"));
    fs::write(&text, source).map_err(|e| format!("{}: {e}", text.display()))?;
    toolchain.compile(&text, &library)?;
    let append = || {
        let end = digest(key, &fs::read(&library)?);
        fs::OpenOptions::new().append(true).open(&library)?.write_all(&end)
    };
    append().map_err(|e: std::io::Error| format!("{}: {e}", library.display()))?;
    Ok(library)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "int accel_run(void *run) { return 0; }\n";

    fn toolchain() -> Toolchain {
        Toolchain::new("cc").expect("the tests need a C compiler")
    }

    #[test]
    fn a_damaged_file_is_rebuilt() {
        let (t, dir) = (toolchain(), tempfile::TempDir::new().unwrap());
        let key = key(SOURCE, &t);
        let first = build(SOURCE, &key, &t, Some(dir.path())).unwrap();
        let path = first.path().to_path_buf();
        assert!(matches!(first, Built::Cached(_)));
        let good = fs::read(&path).unwrap();
        let cases: [Vec<u8>; 4] =
            [vec![], good[..good.len() / 2].to_vec(), b"something else".to_vec(), [&good[..], b"x"].concat()];
        for bad in cases {
            fs::write(&path, &bad).unwrap();
            assert!(!is_whole(&path, &key));
            build(SOURCE, &key, &t, Some(dir.path())).unwrap();
            assert!(is_whole(&path, &key), "rebuilt");
        }
        // The file of another program.
        let other = super::key("other", &t);
        assert!(!is_whole(&path, &other));
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "no working files are left: {left:?}");
    }

    #[test]
    fn without_a_usable_cache_it_is_built_elsewhere() {
        let (t, dir) = (toolchain(), tempfile::TempDir::new().unwrap());
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let key = key(SOURCE, &t);
        for cache in [Some(file.join("below")), Some(PathBuf::from("/proc/accel")), None] {
            let built = build(SOURCE, &key, &t, cache.as_deref()).unwrap();
            assert!(matches!(built, Built::Temporary(..)));
            assert!(built.path().exists());
        }
    }

    #[test]
    fn what_the_compiler_says_is_told() {
        let (t, dir) = (toolchain(), tempfile::TempDir::new().unwrap());
        let missing = "int accel_run(void *run) { return no_such_function(run); }\n";
        for (source, said) in [("nonsense", "nonsense"), (missing, "no_such_function")] {
            let e = build(source, &[0; 32], &t, Some(dir.path())).err().unwrap();
            assert!(e.to_string().contains(said), "{e}");
        }
    }

    #[test]
    fn there_may_be_no_compiler() {
        assert!(Toolchain::new("no-such-compiler").is_none());
        assert!(Toolchain::new("").is_none());
    }
}
