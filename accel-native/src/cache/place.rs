//! Where the cache is.

use super::folder::{self, Folder, Unusable};
use accel_core::notice::notice;
use std::path::PathBuf;
use std::sync::Once;

/// The candidates for the folder of the cache, the best first.
fn places() -> impl Iterator<Item = PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")));
    base.map(|b| b.join("accel")).into_iter().chain(folder::temporary())
}

/// The first folder that can be used. If one exists but cannot be used, the reason is reported once per process.
pub fn folder() -> Option<Folder> {
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

/// The place for the working folders of compilations if there is none among the temporary files.
pub fn place_for_work() -> Option<PathBuf> {
    folder().map(|folder| folder.path().into())
}
