//! A digest of the sources of the passes, which is part of the names of stored programs: a program that an earlier
//! version of a pass has made is not used.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let mut digest = DefaultHasher::new();
    // In a registry, the version determines the sources of the other crate.
    for folder in ["src", "../accel-core/src"].map(Path::new).into_iter().filter(|f| f.is_dir()) {
        println!("cargo:rerun-if-changed={}", folder.display());
        let mut files = vec![];
        collect(folder, &mut files);
        files.sort();
        for file in files {
            (&file, std::fs::read(&file).expect("a source file")).hash(&mut digest);
        }
    }
    println!("cargo:rustc-env=ACCEL_PASSES={:016x}", digest.finish());
}

/// Adds the sources in a folder and in the folders in it. Editors put other files beside them.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}
