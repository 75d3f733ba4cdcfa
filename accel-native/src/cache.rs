//! Compiled programs on disk, in one place for all processes of a user.
//!
//! Programs are kept in `$XDG_CACHE_HOME/accel` or `~/.cache/accel`. That folder must belong to the user, and nobody else may write to it;
//! where this is not so, or where there is no such folder and none can be made, `accel-UID` among the temporary files takes its place
//! under the same conditions. What cannot be kept (a full or read-only disk) is used all the same.
//!
//! Nothing in the cache is needed: it may be removed at any time, here with [`clear`], also while programs run. It grows up to
//! `$ACCEL_CACHE_BYTES` bytes (1 GiB by default; 0 keeps nothing), and what has not been used for longest goes first.

#[cfg(unix)]
mod folder;
#[cfg(not(unix))]
#[path = "cache/no_folder.rs"]
mod folder;

use crate::library::Library;
use crate::notice::notice;
use crate::toolchain::Toolchain;
use accel_codegen::Module;
use accel_core::error::{Error, Result};
pub(crate) use folder::remove_old_work;
use folder::{Folder, Unusable};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};

// NOTE [What is loaded from the cache]
// A file of the cache is a shared library with 32 bytes behind it: a digest of its key and of the library. It is written under another name
// and renamed, so that other processes see it as a whole or not at all.
//
// Code from a file runs with all the rights of the process, and a digest without a secret keeps nobody from making a file with the right
// one. So the files are taken only from a folder that belongs to the user and that nobody else may write to, and only if the same holds for the
// file; both are asked of the open descriptor, not of a name that may mean another file the next time. A link, a pipe or a device is no
// file of the cache. The contents are read once, the digest is that of these bytes in memory, and these bytes are what is loaded (NOTE
// [Libraries from memory]). So nothing depends on what becomes of the file meanwhile.
//
// A library is loaded before it is stored, and one in the cache that does not load is removed and built again: what some compiler has made
// once, or what a file system has lost, does not keep a program from running for ever.

/// How much the cache may hold if nothing else is said.
const DEFAULT_BYTES: u64 = 1 << 30;

/// What a library depends on, hashed.
type Key = [u8; 32];

/// Libraries that are loaded at the moment.
static LOADED: Mutex<Option<HashMap<Key, Weak<Library>>>> = Mutex::new(None);

/// Where the cache is and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Its folder.
    pub folder: PathBuf,
    /// The number of compiled programs in it.
    pub entries: usize,
    /// Their size.
    pub bytes: u64,
}

/// Where the cache of this process is and what it holds; `None` if no folder can be used.
///
/// # Errors
/// Those of reading the folder.
pub fn usage() -> io::Result<Option<Usage>> {
    let Some(folder) = folder() else { return Ok(None) };
    let files = folder.libraries()?;
    let bytes = files.iter().map(|f| f.bytes).sum();
    Ok(Some(Usage { folder: folder.path().into(), entries: files.len(), bytes }))
}

/// Removes all compiled programs from the cache. What is loaded goes on to work.
///
/// # Errors
/// Those of reading the folder, and the first one of removing a file; the others are removed nevertheless.
pub fn clear() -> io::Result<()> {
    let Some(folder) = folder() else { return Ok(()) };
    let results: Vec<_> = folder.libraries()?.iter().map(|f| folder.remove(&f.name)).collect();
    results.into_iter().collect()
}

/// The library of a module.
///
/// # Errors
/// `Error::Compiler`.
pub(crate) fn library(module: &Module, toolchain: &Toolchain) -> Result<Arc<Library>> {
    let key = key(&module.source, toolchain);
    if let Some(l) = loaded(&key) {
        return Ok(l);
    }
    let limit = limit()?;
    let folder = if limit > 0 { folder() } else { None };
    let library = Arc::new(find_or_build(module, &key, toolchain, folder.as_ref(), limit)?);
    let mut map = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let map = map.get_or_insert_default();
    // Another thread may have been as quick.
    if let Some(l) = map.get(&key).and_then(Weak::upgrade) {
        return Ok(l);
    }
    map.retain(|_, l| l.strong_count() > 0);
    map.insert(key, Arc::downgrade(&library));
    Ok(library)
}

fn loaded(key: &Key) -> Option<Arc<Library>> {
    let map = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    map.as_ref()?.get(key)?.upgrade()
}

/// How many bytes the cache may hold.
fn limit() -> Result<u64> {
    let Some(text) = std::env::var_os("ACCEL_CACHE_BYTES") else { return Ok(DEFAULT_BYTES) };
    let number = text.to_str().and_then(|t| t.trim().parse().ok());
    number.ok_or_else(|| Error::Compiler(format!("ACCEL_CACHE_BYTES: expected a number of bytes, found {text:?}")))
}

/// The folders that the cache can be in, best first.
fn places() -> impl Iterator<Item = PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")));
    base.map(|b| b.join("accel")).into_iter().chain(folder::temporary())
}

/// The first folder that can be used. Once in a process it is told why one that is there is not.
fn folder() -> Option<Folder> {
    static TOLD: Once = Once::new();
    places().find_map(|path| match Folder::open(&path) {
        Ok(folder) => Some(folder),
        Err(Unusable::NotOurs(why)) => {
            let path = path.display();
            TOLD.call_once(|| notice(&format!("the code cache {path} is not used, another place is: {why}")));
            None
        }
        Err(Unusable::Failed(e)) => {
            tracing::debug!("cannot use the code cache {}: {e}", path.display());
            None
        }
    })
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

fn file_name(key: &Key) -> String {
    let hex: String = key.iter().map(|b| format!("{b:02x}")).collect();
    hex + ".so"
}

/// Loads the library from the cache, or compiles it and keeps it there.
fn find_or_build(
    module: &Module,
    key: &Key,
    toolchain: &Toolchain,
    folder: Option<&Folder>,
    limit: u64,
) -> Result<Library> {
    let name = file_name(key);
    let mut stored_is_bad = None;
    if let Some(folder) = folder {
        match stored(folder, &name, key) {
            Ok(Some(library)) => return Ok(library),
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
        Err(why) => Err(toolchain.made_what_does_not_load(&why, &said)),
    });
    let (library, mut code) = built.map_err(|why| {
        let before = stored_is_bad.map(|(why, _)| format!("; what was in the cache could not be used either: {why}"));
        Error::Compiler(why + &before.unwrap_or_default())
    })?;
    if let Some(folder) = folder {
        code.extend_from_slice(&digest(key, &code));
        if let Err(e) = folder.store(&name, &code, limit) {
            tracing::debug!("cannot write to the cache: {e}");
        }
    }
    Ok(library)
}

/// The library of a file of the cache; `None` if there is no such file.
///
/// # Errors
/// Why the file cannot be used.
fn stored(folder: &Folder, name: &str, key: &Key) -> std::result::Result<Option<Library>, String> {
    let Some(bytes) = folder.read(name)? else { return Ok(None) };
    let whole = bytes.split_last_chunk::<32>().filter(|(code, end)| **end == digest(key, code));
    let (code, _) = whole.ok_or("it is damaged")?;
    let library = Library::load(code)?;
    tracing::debug!(name, "found in the cache");
    Ok(Some(library))
}

#[cfg(all(test, unix))]
mod tests;
