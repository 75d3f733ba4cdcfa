//! Where the cache is.

use super::folder::{self, Folder, Unusable};
use accel_core::notice::notice;
use std::path::PathBuf;
use std::sync::Once;

// NOTE [Layers of the cache]: `ACCEL_CACHE_DIR` names the folder of the cache, and after it folders that are only read, as in `PATH`. What is
// not in the first one is searched in these. So one process compiles the programs of a cluster, or the image of a container has them, and
// the others compile nothing. Nobody but its owner may write to a layer, and its owner is the user or the administrator:
// NOTE [Trusted cache files].

/// The folders that `ACCEL_CACHE_DIR` names.
fn chosen() -> Vec<PathBuf> {
    let all = std::env::var_os("ACCEL_CACHE_DIR").unwrap_or_default();
    std::env::split_paths(&all).filter(|p| p.is_absolute()).collect()
}

/// The candidates for the folder of the cache, the best first.
fn places(chosen: Option<&PathBuf>) -> impl Iterator<Item = PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = || absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")));
    chosen.cloned().or_else(|| Some(base()?.join("accel"))).into_iter().chain(folder::temporary())
}

/// The first folder that can be used, with the layers below it. If one exists but cannot be used, the reason is reported once per process.
pub fn folder() -> Option<Folder> {
    static TOLD: Once = Once::new();
    let usable = |path: &PathBuf, opened: Result<Folder, Unusable>| match opened {
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
    };
    let chosen = chosen();
    let layers = chosen.iter().skip(1).filter_map(|path| usable(path, Folder::open_layer(path))).collect();
    places(chosen.first()).find_map(|path| usable(&path, Folder::open(&path))).map(|folder| folder.over(layers))
}

/// The place for the working folders of compilations if there is none among the temporary files.
pub fn place_for_work() -> Option<PathBuf> {
    folder().map(|folder| folder.path().into())
}
