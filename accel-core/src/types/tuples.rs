//! Tuples of two to eight elements or arrays, all from one macro.

use super::arrays::wrong_tuple;
use super::{Arrays, Elt, Inputs, Numbers};
use crate::error::Result;
use crate::repr::{ArrayTuple, Scalar, Scalars};
use crate::surface::nodes::{array_components, array_tuple, components, tuple};
use crate::surface::{Acc, Exp, IntoAcc, IntoExp, ToExp};
use std::sync::Arc;

/// The components of `N` array tuples, as pairs nested to the left.
fn split<A: Arrays, const N: usize>(arrays: ArrayTuple) -> Result<[ArrayTuple; N]> {
    let mut parts = [const { ArrayTuple::Unit }; N];
    let mut rest = arrays;
    for last in (1..N).rev() {
        match rest {
            ArrayTuple::Pair(p) => (rest, parts[last]) = Arc::unwrap_or_clone(p),
            other => return Err(wrong_tuple::<A>(&other)),
        }
    }
    parts[0] = rest;
    Ok(parts)
}

/// `((a, b), c)` from `a, b, c`, for types.
macro_rules! nest {
    ($acc:ty;) => { $acc };
    ($acc:ty; $head:ty $(, $tail:ty)*) => { nest!(($acc, $head); $($tail),*) };
}

macro_rules! tuples {
    ($($n:literal: $A:ident $X:ident $($i:tt $B:ident $Y:ident),+;)*) => { $(
        impl<$A: Elt, $($B: Elt),+> Elt for ($A, $($B),+) {
            type Repr = nest!($A::Repr; $($B::Repr),+);
            type Exp = ($A::Exp, $($B::Exp),+);
            fn to_scalars(&self, out: &mut Scalars) {
                self.0.to_scalars(out);
                $(self.$i.to_scalars(out);)+
            }
            fn from_scalars(scalars: &mut dyn Iterator<Item = Scalar>) -> Option<Self> {
                Some(($A::from_scalars(scalars)?, $($B::from_scalars(scalars)?),+))
            }
            #[track_caller]
            fn unlift(e: Exp<Self>) -> Self::Exp {
                let parts = components::<$n>(e.handle());
                ($A::unlift(Exp::new(parts[0])), $($B::unlift(Exp::new(parts[$i]))),+)
            }
        }
        impl<$X: IntoExp, $($Y: IntoExp),+> IntoExp for ($X, $($Y),+) {
            type Elt = ($X::Elt, $($Y::Elt),+);
            #[track_caller]
            fn into_exp(self) -> Exp<Self::Elt> {
                Exp::new(tuple(&[self.0.into_exp().handle(), $(self.$i.into_exp().handle()),+]))
            }
        }
        impl<$A: Elt, $($B: Elt,)+ $X: ToExp<$A>, $($Y: ToExp<$B>),+> ToExp<($A, $($B),+)> for ($X, $($Y),+) {
            #[track_caller]
            fn to_exp(self) -> Exp<($A, $($B),+)> {
                Exp::new(tuple(&[self.0.to_exp().handle(), $(self.$i.to_exp().handle()),+]))
            }
        }

        impl<$A: Arrays, $($B: Arrays),+> Arrays for ($A, $($B),+) {
            type Repr = nest!($A::Repr; $($B::Repr),+);
            type Acc = ($A::Acc, $($B::Acc),+);
            fn to_tuple(&self) -> ArrayTuple {
                let t = self.0.to_tuple();
                $(let t = ArrayTuple::pair(t, self.$i.to_tuple());)+
                t
            }
            #[allow(non_snake_case)]
            fn from_tuple(arrays: ArrayTuple) -> Result<Self> {
                let [$X, $($Y),+] = split::<Self, $n>(arrays)?;
                Ok(($A::from_tuple($X)?, $($B::from_tuple($Y)?),+))
            }
            #[track_caller]
            fn unlift(a: Acc<Self>) -> Self::Acc {
                let parts = array_components::<$n>(a.handle());
                ($A::unlift(Acc::new(parts[0])), $($B::unlift(Acc::new(parts[$i]))),+)
            }
        }
        impl<$A: Numbers, $($B: Numbers),+> Numbers for ($A, $($B),+) {
            type Values = ($A::Values, $($B::Values),+);
            fn from_values(values: Self::Values) -> Self {
                ($A::from_values(values.0), $($B::from_values(values.$i)),+)
            }
            fn values(&self) -> Self::Values {
                (self.0.values(), $(self.$i.values()),+)
            }
        }
        impl<$X: IntoAcc, $($Y: IntoAcc),+> IntoAcc for ($X, $($Y),+) {
            type Arrays = ($X::Arrays, $($Y::Arrays),+);
            #[track_caller]
            fn into_acc(self) -> Acc<Self::Arrays> {
                Acc::new(array_tuple(&[self.0.into_acc().handle(), $(self.$i.into_acc().handle()),+]))
            }
        }
        impl<$A: Arrays, $($B: Arrays,)+ $X: Inputs<$A>, $($Y: Inputs<$B>),+> Inputs<($A, $($B),+)> for ($X, $($Y),+) {
            fn to_tuple(&self) -> ArrayTuple {
                let t = self.0.to_tuple();
                $(let t = ArrayTuple::pair(t, self.$i.to_tuple());)+
                t
            }
        }
    )* };
}
tuples! {
    2: A X 1 B Y;
    3: A X 1 B Y, 2 C W;
    4: A X 1 B Y, 2 C W, 3 D V;
    5: A X 1 B Y, 2 C W, 3 D V, 4 E U;
    6: A X 1 B Y, 2 C W, 3 D V, 4 E U, 5 F T;
    7: A X 1 B Y, 2 C W, 3 D V, 4 E U, 5 F T, 6 G S;
    8: A X 1 B Y, 2 C W, 3 D V, 4 E U, 5 F T, 6 G S, 7 H R;
}
