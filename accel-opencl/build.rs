//! Provides the library `OpenCL` that `ocl` demands, where the linker finds none: an empty one. No function of it is linked with;
//! `loader.rs` finds them at run time. Where there is a real one, another crate of the program may need it.

use std::{env, fs, path::PathBuf, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    println!("cargo::rerun-if-env-changed=LIBRARY_PATH");
    if ["so", "a"].iter().any(|ending| is_found(&format!("libOpenCL.{ending}"))) {
        return;
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(folder.join("libOpenCL.a"), "!<arch>\n").expect("the output folder can be written to");
    println!("cargo::rustc-link-search=native={}", folder.display());
}

/// Whether the linker finds a library. It answers with a path then, and otherwise with the name.
fn is_found(library: &str) -> bool {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let answer = Command::new(linker).arg(format!("-print-file-name={library}")).output();
    answer.is_ok_and(|answer| answer.status.success() && answer.stdout.contains(&b'/'))
}
