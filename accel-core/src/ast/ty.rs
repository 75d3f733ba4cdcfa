//! Type-level representation types and their run-time singletons.

use crate::repr::RawTy;
use crate::repr::scalar::ScalarElt;
use std::marker::PhantomData;

/// The representation type of arrays with shape `Sh` and elements `T`; only an index, it has no values.
pub struct Arr<Sh, T>(PhantomData<(Sh, T)>);

/// Representation types: `()`, the scalars, pairs and [`Arr`]. Sealed, since a wrong `raw` would break the typing of trees.
pub trait Repr: seal::Sealed + 'static {
    /// The type as data.
    fn raw() -> RawTy;
}

mod seal {
    pub trait Sealed {}
    impl Sealed for () {}
    macro_rules! sealed { ($($t:ty)*) => { $(impl Sealed for $t {})* } }
    sealed!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    impl<A, B> Sealed for (A, B) {}
    impl<Sh, T> Sealed for super::Arr<Sh, T> {}
}

impl Repr for () {
    fn raw() -> RawTy {
        RawTy::Unit
    }
}
macro_rules! scalar_repr { ($($t:ty)*) => { $(impl Repr for $t {
    fn raw() -> RawTy { RawTy::Scalar(<$t as ScalarElt>::SCALAR) }
})* } }
scalar_repr!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
impl<A: Repr, B: Repr> Repr for (A, B) {
    fn raw() -> RawTy {
        RawTy::pair(A::raw(), B::raw())
    }
}
impl<Sh: Repr, T: Repr> Repr for Arr<Sh, T> {
    fn raw() -> RawTy {
        RawTy::array(Sh::raw(), T::raw())
    }
}
