//! The cache of compiled programs on disk, common to all processes of a user.
//!
//! The cache is in the first folder of `$ACCEL_CACHE_DIR`, whose other folders are only read, or else in `$XDG_CACHE_HOME/accel` or
//! `~/.cache/accel`. This folder must belong to the user, and nobody else
//! may write to it. Otherwise, or if the folder cannot be made, the cache is in `accel-UID` in the folder for temporary
//! files, under the same conditions. A program that cannot be stored (on a full or read-only disk) is used all the
//! same.
//!
//! The contents of the cache can be removed at any time, for example with [`clear`], also while programs run. The cache
//! grows up to `$ACCEL_CACHE_BYTES` bytes (1 GiB by default; 0 stores nothing). The files that were not used for the
//! longest time are removed first.

#[cfg(unix)]
mod folder;
#[cfg(not(unix))]
#[path = "cache/no_folder.rs"]
mod folder;
mod place;
mod programs;

use crate::library::Library;
use crate::toolchain::{Failure, Toolchain};
use accel_codegen::{GENERATOR, Module, Vectors};
use accel_core::error::{Error, Result};
use accel_core::notice::notice;
use folder::{Folder, KEY, LIBRARY};
pub(crate) use folder::{Work, read_trusted, remove_old_work};
use place::folder;
pub(crate) use place::place_for_work;
pub(crate) use programs::{KnownProgram, optimized};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

// NOTE [Trusted cache files]: a file of the cache is a shared library, an optimised program or a key, followed by 32 bytes: a digest
// of its own key and of the contents. It is written under another name and then renamed, so other processes see all of it or nothing.
//
// Code from a file runs with all rights of the process, and a digest without a secret does not stop an attacker from
// making a file with the right digest. So a file is used only if the folder and the file belong to the user and nobody
// else may write to them. Both checks use the open descriptor, since a name can mean another file the next time. Links,
// pipes and devices are not files of the cache. The contents are read once. The digest is computed from these bytes in
// memory, and the same bytes are loaded (NOTE [Libraries from memory]). So later changes of the file have no effect.
//
// A library is loaded before it is stored. A library in the cache that does not load is removed and built again. So
// neither a broken compiler nor a file system that lost data can stop a program from running for ever.

/// The default limit of the cache.
const DEFAULT_BYTES: u64 = 1 << 30;

// NOTE [Known libraries]: a library is found by the digest of its source, so that programs with the same source share it. But half
// of the time of a start with a full cache would be the generation of this source. So the key of the library is stored, too, in a
// file whose name is a digest of everything on which the source depends: the digest of the stored program's file, not only its key,
// the sources of the generator and its options, and the compiler.

/// The hash of everything that a library or a stored program depends on.
pub(crate) type Key = [u8; 32];

/// The libraries that are loaded at the moment.
static LOADED: Mutex<Option<HashMap<Key, Weak<Library>>>> = Mutex::new(None);

/// The programs for which the compiler took too long or could not run. It is not asked again.
static LATE: Mutex<BTreeSet<Key>> = Mutex::new(BTreeSet::new());

/// The place and the contents of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Its folder.
    pub folder: PathBuf,
    /// The number of compiled programs in it.
    pub entries: usize,
    /// The total size of all files, with the optimised programs from which libraries were made, and the keys of these libraries.
    pub bytes: u64,
}

/// The place and the contents of this process's cache; `None` if no folder can be used.
///
/// # Errors
/// An error of reading the folder.
pub fn usage() -> io::Result<Option<Usage>> {
    let Some(folder) = folder() else { return Ok(None) };
    let files = folder.files()?;
    let bytes = files.iter().map(|f| f.bytes).sum();
    let entries = files.iter().filter(|f| f.name.ends_with(LIBRARY)).count();
    Ok(Some(Usage { folder: folder.path().into(), entries, bytes }))
}

/// Removes all compiled programs from the cache. Loaded programs continue to work.
///
/// # Errors
/// An error of reading the folder, or the first error of removing a file. The other files are removed nevertheless.
pub fn clear() -> io::Result<()> {
    let Some(folder) = folder() else { return Ok(()) };
    let results: Vec<_> = folder.files()?.iter().map(|f| folder.remove(&f.name)).collect();
    results.into_iter().collect()
}

/// The library of a module and its key: loaded already, or from the cache, or compiled. `None` if the compiler takes too long or cannot
/// run; a notice says so.
///
/// # Errors
/// `Error::Compiler` if it cannot be compiled.
pub(crate) fn library(module: &Module, toolchain: &Toolchain) -> Result<Option<(Arc<Library>, Key)>> {
    let key = key(&module.source, toolchain);
    if let Some(library) = loaded(&key) {
        return Ok(Some((library, key)));
    }
    let late = || LATE.lock().unwrap_or_else(PoisonError::into_inner);
    if late().contains(&key) {
        return Ok(None);
    }
    let limit = limit()?;
    let folder = if limit > 0 { folder() } else { None };
    let library = find_or_build(module, &key, toolchain, folder.as_ref(), limit)?;
    if library.is_none() {
        late().insert(key);
    }
    Ok(library.map(|library| (share(key, library), key)))
}

/// The library of a module, if it is loaded already or in the cache.
///
/// # Errors
/// `Error::Environment` if the limit of the cache is not a number.
pub(crate) fn stored_library(module: &Module, toolchain: &Toolchain) -> Result<Option<Arc<Library>>> {
    let key = key(&module.source, toolchain);
    let folder = if limit()? > 0 { folder() } else { None };
    Ok(loaded(&key).or_else(|| library_of(&folder?, key)))
}

/// The name under which the key of the library of a form of a stored program is stored. `program` is the digest of the program's file.
pub(crate) fn name_of_key(program: &Key, form: &str, vectors: Vectors, toolchain: &Toolchain) -> Key {
    let options = format!("{:?} {form}", toolchain.options(vectors));
    let hex = file_name(program, "");
    hash(&[GENERATOR, &options, &toolchain.identity, &toolchain.all_flags(), &hex])
}

/// The library of a stored program, without its source: NOTE [Known libraries].
pub(crate) fn known_library(name: &Key) -> Option<Arc<Library>> {
    let folder = folder()?;
    let (key, _) = contents(&folder, &file_name(name, KEY), name).ok().flatten()?;
    let key: Key = key.try_into().ok()?;
    loaded(&key).or_else(|| library_of(&folder, key))
}

/// Stores the key of a library under this name.
///
/// # Errors
/// `Error::Environment` if the limit of the cache is not a number.
pub(crate) fn remember_library(name: &Key, key: &Key) -> Result<()> {
    let limit = limit()?;
    if let Some(folder) = folder() {
        store(&folder, &file_name(name, KEY), name, key.to_vec(), limit);
    }
    Ok(())
}

/// The library with this key in the cache. If its file cannot be used, the compilation removes it and reports why.
fn library_of(folder: &Folder, key: Key) -> Option<Arc<Library>> {
    let library = stored(folder, &file_name(&key, LIBRARY), &key).ok().flatten()?;
    Some(share(key, library))
}

/// Remembers that a library is loaded. If another thread has loaded it meanwhile, that one is used.
fn share(key: Key, library: Library) -> Arc<Library> {
    let mut map = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let map = map.get_or_insert_default();
    if let Some(l) = map.get(&key).and_then(Weak::upgrade) {
        return l;
    }
    let library = Arc::new(library);
    map.retain(|_, l| l.strong_count() > 0);
    map.insert(key, Arc::downgrade(&library));
    library
}

fn loaded(key: &Key) -> Option<Arc<Library>> {
    let map = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    map.as_ref()?.get(key)?.upgrade()
}

/// The limit of the cache in bytes.
fn limit() -> Result<u64> {
    let name = "ACCEL_CACHE_BYTES";
    let Some(text) = std::env::var_os(name).filter(|text| !text.is_empty()) else { return Ok(DEFAULT_BYTES) };
    let number = text.to_str().and_then(|t| t.trim().parse().ok());
    let found = || text.to_string_lossy().into_owned();
    number.ok_or_else(|| Error::Environment { name, expected: "a number of bytes", found: found() })
}

fn key(source: &str, toolchain: &Toolchain) -> Key {
    hash(&[env!("CARGO_PKG_VERSION"), &toolchain.identity, &toolchain.all_flags(), source])
}

/// A digest of texts and their lengths.
fn hash(parts: &[&str]) -> Key {
    let mut h = Sha256::new();
    for part in parts {
        h.update((part.len() as u64).to_le_bytes());
        h.update(part);
    }
    h.finalize().into()
}

fn digest(key: &Key, library: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(key).chain_update(library).finalize().into()
}

fn file_name(key: &Key, ending: &str) -> String {
    let hex: String = key.iter().map(|b| format!("{b:02x}")).collect();
    hex + ending
}

/// Loads the library from the cache, or compiles it and stores it there. `None` if the compiler takes too long or cannot run.
fn find_or_build(
    module: &Module,
    key: &Key,
    toolchain: &Toolchain,
    folder: Option<&Folder>,
    limit: u64,
) -> Result<Option<Library>> {
    let name = file_name(key, LIBRARY);
    let mut stored_is_bad = None;
    if let Some(folder) = folder {
        match stored(folder, &name, key) {
            Ok(Some(library)) => return Ok(Some(library)),
            Ok(None) => {}
            Err(why) => {
                tracing::debug!("{name} in the cache is removed: {why}");
                let removed = folder.remove(&name).map_err(|e| tracing::debug!("it cannot be removed: {e}"));
                stored_is_bad = Some((why, removed));
            }
        }
    }
    let built = toolchain.compile(module).and_then(|(code, said)| match Library::load(&code) {
        Ok(library) => Ok((library, code)),
        Err(why) => Err(toolchain.unloadable_library_error(&why, &said).into()),
    });
    let (library, code) = match built {
        Ok(built) => built,
        Err(Failure::Late { why, .. }) => {
            let which = if toolchain.hangs() { "programs are" } else { "the program is" };
            notice(&format!("{why}: {which} interpreted, which is slower"));
            return Ok(None);
        }
        Err(Failure::Unable(why)) => {
            notice(&format!("the program cannot be compiled, so it is interpreted, which is slower: {why}"));
            return Ok(None);
        }
        Err(Failure::Other(why)) => {
            let before =
                stored_is_bad.map(|(why, _)| format!("; what was in the cache could not be used either: {why}"));
            return Err(Error::Compiler(why + &before.unwrap_or_default()));
        }
    };
    if let Some(folder) = folder {
        store(folder, &name, key, code, limit);
    }
    Ok(Some(library))
}

/// Writes a file of the cache. Returns the digest at its end if that worked.
fn store(folder: &Folder, name: &str, key: &Key, mut contents: Vec<u8>, limit: u64) -> Option<Key> {
    let digest = digest(key, &contents);
    contents.extend_from_slice(&digest);
    let stored = folder.store(name, &contents, limit);
    stored.inspect_err(|e| tracing::debug!("cannot write to the cache: {e}")).ok().map(|()| digest)
}

/// The library of a file of the cache; `None` if there is no such file.
///
/// # Errors
/// The reason why the file cannot be used.
fn stored(folder: &Folder, name: &str, key: &Key) -> std::result::Result<Option<Library>, String> {
    let Some((code, _)) = contents(folder, name, key)? else { return Ok(None) };
    let library = Library::load(&code)?;
    tracing::debug!(name, "found in the cache");
    Ok(Some(library))
}

/// The contents of a file of the cache, and the digest at its end; `None` if there is no such file.
///
/// # Errors
/// The reason why the file cannot be used.
fn contents(folder: &Folder, name: &str, key: &Key) -> std::result::Result<Option<(Vec<u8>, Key)>, String> {
    let Some(mut bytes) = folder.read(name)? else { return Ok(None) };
    let whole = bytes.split_last_chunk::<32>().filter(|(code, end)| **end == digest(key, code));
    let (code, end) = whole.ok_or("it is damaged")?;
    let (length, end) = (code.len(), *end);
    bytes.truncate(length);
    Ok(Some((bytes, end)))
}

#[cfg(all(test, unix))]
mod tests;
