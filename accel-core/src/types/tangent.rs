//! What rules of one's own return: tangents and adjoints.

use super::{Elt, Shape};
use crate::array::Array;
use crate::surface::graph::Handle;
use crate::surface::{Acc, Exp, IntoAcc, IntoExp};

/// What a rule may return as the tangent or the adjoint of `X`: a value of the same type. `X` is the form of an argument in closures: an
/// [`Acc`], an [`Exp`], a tuple of these, or the companion of a record. Integers and booleans have no derivative: whatever is returned
/// for them counts nothing, and `()` is enough.
#[diagnostic::on_unimplemented(
    message = "the rule returns `{Self}` as a tangent or adjoint of `{X}`",
    label = "this function takes a rule that returns another type",
    note = "the adjoint of an argument has the type of the argument, and the tangent of a result that of the result",
    note = "for a tuple it is a tuple of as many parts, for integers and booleans `()`"
)]
pub trait Tangent<X> {
    /// The untyped handle.
    #[doc(hidden)]
    fn into_handle(self) -> Handle;
}

impl<Sh: Shape, T: Elt> Tangent<Acc<Array<Sh, T>>> for Acc<Array<Sh, T>> {
    fn into_handle(self) -> Handle {
        self.handle()
    }
}
impl<T: Elt> Tangent<Exp<T>> for Exp<T> {
    fn into_handle(self) -> Handle {
        self.handle()
    }
}
impl Tangent<()> for () {
    #[track_caller]
    fn into_handle(self) -> Handle {
        self.into_acc().handle()
    }
}

macro_rules! numbers { ($($t:ty)*) => { $(
    impl Tangent<Exp<$t>> for $t {
        #[track_caller]
        fn into_handle(self) -> Handle {
            self.into_exp().handle()
        }
    }
)* } }
numbers!(f32 f64);

macro_rules! discrete { ($($t:ty)*) => { $(
    impl Tangent<Exp<$t>> for () {
        #[track_caller]
        fn into_handle(self) -> Handle {
            self.into_exp().handle()
        }
    }
    impl<Sh: Shape> Tangent<Acc<Array<Sh, $t>>> for () {
        #[track_caller]
        fn into_handle(self) -> Handle {
            self.into_acc().handle()
        }
    }
)* } }
discrete!(bool i8 i16 i32 i64 u8 u16 u32 u64);
