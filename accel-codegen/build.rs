//! A digest of the sources of the generator: a library that was compiled from the text of an earlier version is not taken for that of
//! this one.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=src");
    let mut digest = DefaultHasher::new();
    add(Path::new("src"), &mut digest);
    println!("cargo:rustc-env=ACCEL_GENERATOR={:016x}", digest.finish());
}

/// Adds a source file, or those of a folder in the order of their names.
fn add(path: &Path, digest: &mut DefaultHasher) {
    // Editors put other files beside them.
    let is_source = path.extension().is_some_and(|e| ["rs", "c", "cl"].iter().any(|s| e == *s));
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("a folder of sources");
        let mut paths: Vec<_> = entries.map(|e| e.expect("an entry of the folder").path()).collect();
        paths.sort();
        paths.iter().for_each(|p| add(p, digest));
    } else if is_source {
        (path, std::fs::read(path).expect("a source file")).hash(digest);
    }
}
