//! Makes an empty library with the name that `ocl` is linked with. `loader.rs` finds the functions of the real one at
//! run time.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_CFG_UNIX").is_none() || env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "macos") {
        return;
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(folder.join("libOpenCL.a"), "!<arch>\n").expect("the output folder can be written to");
    println!("cargo::rustc-link-search=native={}", folder.display());
}
