//! Writes bundles.

use super::format::{MAGIC, Writer, failed, made_by};
use crate::kernels::Form;
use crate::processor::{self, KINDS, Kind};
use crate::toolchain;
use crate::version::Version;
use accel_codegen::KnownWays;
use accel_core::error::{Error, Result};
use accel_core::pass::canonical_key::ProgramKey;
use accel_core::repr::RawTy;
use accel_fusion::pipeline::Optimized;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The bundle of versions of a program, in the order in which they are tried.
///
/// # Errors
/// As [`save_for`](super::save_for).
pub fn bundle(arg: &RawTy, result: &RawTy, versions: &[&Version], processors: &[&str]) -> Result<Vec<u8>> {
    let kinds = kinds(processors)?;
    let toolchain = toolchain::toolchain()?.ok_or_else(|| failed("of a program", "there is no C compiler"))?;
    let mut out = Writer(MAGIC.to_vec());
    out.bytes(made_by().as_bytes());
    [arg, result].into_iter().for_each(|ty| out.ty(ty));
    out.number(kinds.len());
    kinds.iter().for_each(|kind| out.bytes(kind.name.as_bytes()));
    out.number(versions.len());
    for version in versions {
        let forms = version.forms_to_store();
        out.number(forms.len());
        for left in forms {
            let of_version = version.optimized();
            let optimized = Optimized { program: left.of(&of_version.program)?, ..of_version.clone() };
            let why = "the program calls foreign functions, which are only in the process that has made them";
            left.write(&mut out);
            let bytes = optimized.to_bytes(&ProgramKey::default(), usize::MAX);
            out.bytes(&bytes.ok_or_else(|| failed("of a program", why))?);
            for kind in &kinds {
                let form = Form { vectors: kind.vectors, ..version.form() };
                let module = form.emit(&optimized.program, &KnownWays::new(), toolchain);
                out.bytes(&toolchain.for_kind(kind).compile(&module).map_err(|e| Error::Compiler(e.text()))?.0);
            }
        }
        let known: BTreeMap<_, _> = version.known_forms().into_iter().collect();
        out.number(known.len());
        for (extents, left) in known {
            out.number(extents.len());
            extents.iter().for_each(|n| out.number(*n));
            left.write(&mut out);
        }
    }
    let digest: [u8; 32] = Sha256::digest(&out.0).into();
    out.0.extend(digest);
    Ok(out.0)
}

/// The kinds of these names; that of this processor if there are none.
fn kinds(names: &[&str]) -> Result<Vec<&'static Kind>> {
    if names.is_empty() {
        return Ok(vec![processor::here()]);
    }
    let kind = |name: &&str| {
        let known: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
        let why = || format!("processors are {}, found {name:?}", known.join(", "));
        processor::position(name).map(|k| &KINDS[k]).ok_or_else(|| failed("of a program", why()))
    };
    names.iter().map(kind).collect()
}
