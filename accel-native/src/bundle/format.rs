//! The bytes of bundles: numbers and strings of bytes.

use accel_codegen::GENERATOR;
use accel_core::ast::deep;
use accel_core::error::Error;
use accel_core::repr::{RawTy, ScalarType};
use accel_fusion::pipeline::PASSES;
use std::ops::Range;

/// The first bytes of a bundle.
pub const MAGIC: &[u8] = b"accel bundle\n";

/// What a bundle depends on besides its program: it is loaded by the same version of everything that has made it.
pub fn made_by() -> String {
    format!("{} {PASSES} {GENERATOR}", env!("CARGO_PKG_VERSION"))
}

/// An error of a bundle.
pub fn failed(place: impl ToString, why: impl ToString) -> Error {
    Error::Bundle { place: place.to_string(), why: why.to_string() }
}

/// Writes numbers and strings of bytes.
pub struct Writer(pub Vec<u8>);

impl Writer {
    pub fn number(&mut self, n: usize) {
        self.0.extend((n as u64).to_le_bytes());
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend(bytes);
    }

    pub fn ty(&mut self, ty: &RawTy) {
        match ty {
            RawTy::Unit => self.number(0),
            RawTy::Scalar(s) => [1, *s as usize].into_iter().for_each(|n| self.number(n)),
            RawTy::List(s) => [2, *s as usize].into_iter().for_each(|n| self.number(n)),
            RawTy::Pair(p) => deep(|| {
                self.number(3);
                self.ty(&p.0);
                self.ty(&p.1);
            }),
            RawTy::Array(p) => {
                self.number(4);
                self.ty(&p.0);
                self.ty(&p.1);
            }
        }
    }
}

/// Reads what a [`Writer`] has written. Nothing is read beyond the end, or after it.
pub struct Reader<'b> {
    pub bytes: &'b [u8],
    pub at: usize,
}

impl<'b> Reader<'b> {
    fn take(&mut self, n: usize) -> Option<Range<usize>> {
        let range = self.at..self.at.checked_add(n)?;
        self.bytes.get(range.clone())?;
        self.at = range.end;
        Some(range)
    }

    pub fn number(&mut self) -> Option<usize> {
        let range = self.take(8)?;
        u64::from_le_bytes(self.bytes[range].try_into().ok()?).try_into().ok()
    }

    pub fn range(&mut self) -> Option<Range<usize>> {
        let n = self.number()?;
        self.take(n)
    }

    pub fn text(&mut self) -> Option<&'b str> {
        let range = self.range()?;
        std::str::from_utf8(&self.bytes[range]).ok()
    }

    pub fn ty(&mut self) -> Option<RawTy> {
        let scalar = |reader: &mut Self| ScalarType::ALL.get(reader.number()?).copied();
        Some(match self.number()? {
            0 => RawTy::Unit,
            1 => RawTy::Scalar(scalar(self)?),
            2 => RawTy::List(scalar(self)?),
            3 => deep(|| Some(RawTy::pair(self.ty()?, self.ty()?)))?,
            4 => RawTy::array(self.ty()?, self.ty()?),
            _ => return None,
        })
    }

    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n = self.number()?;
        // The number may be wrong, so no memory is reserved for it.
        let mut items = vec![];
        for _ in 0..n {
            items.push(item(self)?);
        }
        Some(items)
    }
}
