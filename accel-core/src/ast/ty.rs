//! Representation types (at the level of Rust types) and their run-time singletons.

use super::names::{Equal, Guard, Inv, X, Y};
use super::thin::deep;
use crate::repr::scalar::ScalarElt;
use crate::repr::{RawTy, ScalarType, Scalars};
use std::marker::PhantomData;
use std::ops::Deref;

/// The representation type of arrays with shape `Sh` and elements `T`. It is only used as a type parameter and has no
/// values.
pub struct Arr<Sh, T>(PhantomData<(Sh, T)>);

impl<A, B, C, D> Equal<Arr<A, B>, Arr<C, D>> {
    /// Arrays are injective in the shape.
    pub fn sh(self) -> Equal<A, C> {
        Equal::axiom()
    }
    /// Arrays are injective in the element.
    pub fn elt(self) -> Equal<B, D> {
        Equal::axiom()
    }
}

/// Congruence of arrays.
pub fn eq_arr<A, B, C, D>(_: Equal<A, C>, _: Equal<B, D>) -> Equal<Arr<A, B>, Arr<C, D>> {
    Equal::axiom()
}
/// The type of private lists of values of type `T`: an uninterpreted type constructor with the equations below. Scalar
/// code makes and reads lists in loops, and only there: a list is never an element of an array, an argument, or part of
/// the state of a loop. See NOTE \[Loops and lists\].
pub struct List<T>(PhantomData<T>);

/// The representation of the type of lists; `t` is an element type.
pub fn list_ty<T>(t: &ElementTy<T>) -> Ty<List<T>> {
    fn go(t: &RawTy) -> RawTy {
        match t {
            RawTy::Scalar(s) => RawTy::List(*s),
            RawTy::Pair(p) => deep(|| RawTy::pair(go(&p.0), go(&p.1))),
            RawTy::Unit | RawTy::Array(_) | RawTy::List(_) => RawTy::Unit,
        }
    }
    ty(go(t.raw()))
}
/// Congruence of lists.
pub fn eq_list<A, B>(_: Equal<A, B>) -> Equal<List<A>, List<B>> {
    Equal::axiom()
}
/// `List<()> = ()`
pub fn list_unit() -> Equal<List<()>, ()> {
    Equal::axiom()
}
/// `List<(A, B)> = (List<A>, List<B>)`
pub fn list_pair<A, B>() -> Equal<List<(A, B)>, (List<A>, List<B>)> {
    Equal::axiom()
}
/// `Tan<List<T>> = List<Tan<T>>`
pub fn tan_list<T>() -> Equal<Tan<List<T>>, List<Tan<T>>> {
    Equal::axiom()
}

/// Representation types: `()`, the scalars, pairs and [`Arr`]. The trait and its kinds [`ElementRepr`], [`ShapeRepr`]
/// and [`ArraysRepr`] are sealed, because a wrong `raw` would break the typing of trees.
pub trait Repr: seal::Sealed + 'static {
    /// The type as data.
    fn raw() -> RawTy;
    /// Appends the zeros of all scalars of an element of the type, left to right. An array type is not an element type.
    fn zeros(out: &mut Scalars);
}

/// Representation types of elements: `()`, the scalars and pairs of elements.
#[diagnostic::on_unimplemented(message = "`{Self}` does not represent elements")]
pub trait ElementRepr: Repr + seal::Element {}
impl<T: Repr + seal::Element> ElementRepr for T {}

/// Representation types of shapes and indices: `()` and `(shape, i64)`.
#[diagnostic::on_unimplemented(message = "`{Self}` does not represent shapes")]
pub trait ShapeRepr: ElementRepr + seal::Shape {}
impl<T: ElementRepr + seal::Shape> ShapeRepr for T {}

/// Representation types of arrays and tuples of arrays: `()`, [`Arr`] and pairs of those.
#[diagnostic::on_unimplemented(message = "`{Self}` does not represent arrays")]
pub trait ArraysRepr: Repr + seal::Arrays {}
impl<T: Repr + seal::Arrays> ArraysRepr for T {}

mod seal {
    use super::Arr;
    pub trait Sealed {}
    pub trait Element: Sealed {}
    pub trait Shape: Element {}
    pub trait Arrays: Sealed {}
    macro_rules! scalars { ($($t:ty)*) => { $(impl Sealed for $t {} impl Element for $t {})* } }
    scalars!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
    impl Sealed for () {}
    impl Element for () {}
    impl Shape for () {}
    impl Arrays for () {}
    impl<A: Sealed, B: Sealed> Sealed for (A, B) {}
    impl<A: Element, B: Element> Element for (A, B) {}
    impl<Sh: Shape> Shape for (Sh, i64) {}
    impl<A: Arrays, B: Arrays> Arrays for (A, B) {}
    impl<Sh: Shape, T: Element> Sealed for Arr<Sh, T> {}
    impl<Sh: Shape, T: Element> Arrays for Arr<Sh, T> {}
}

impl Repr for () {
    fn raw() -> RawTy {
        RawTy::Unit
    }
    #[inline]
    fn zeros(_: &mut Scalars) {}
}
macro_rules! scalar_repr { ($($t:ty)*) => { $(impl Repr for $t {
    fn raw() -> RawTy { RawTy::Scalar(<$t as ScalarElt>::SCALAR) }
    #[inline]
    fn zeros(out: &mut Scalars) { out.push(<$t>::default().to_scalar()) }
})* } }
scalar_repr!(bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);
impl<A: Repr, B: Repr> Repr for (A, B) {
    fn raw() -> RawTy {
        RawTy::pair(A::raw(), B::raw())
    }
    #[inline]
    fn zeros(out: &mut Scalars) {
        A::zeros(out);
        B::zeros(out)
    }
}
impl<Sh: ShapeRepr, T: ElementRepr> Repr for Arr<Sh, T> {
    fn raw() -> RawTy {
        RawTy::array(Sh::raw(), T::raw())
    }
    fn zeros(_: &mut Scalars) {}
}

/// The run-time representation of the type `T`. There is exactly one for each type.
pub struct Ty<T>(pub(in crate::ast) RawTy, Inv<T>);

impl<T> Clone for Ty<T> {
    fn clone(&self) -> Self {
        self.relabel()
    }
}

/// The view of a type: its outermost constructor.
pub enum TyView<'n, T> {
    /// The empty tuple.
    Unit(Equal<T, ()>),
    /// A scalar.
    Scalar(ScalarTy<T>),
    /// A pair.
    Pair(Ty<X<'n>>, Ty<Y<'n>>, Equal<T, (X<'n>, Y<'n>)>),
    /// An array: shape and element.
    Arr(ShapeTy<X<'n>>, ElementTy<Y<'n>>, Equal<T, Arr<X<'n>, Y<'n>>>),
    /// A list of scalars.
    List(ScalarTy<X<'n>>, Equal<T, List<X<'n>>>),
}

pub(in crate::ast) fn ty<T>(raw: RawTy) -> Ty<T> {
    Ty(raw, PhantomData)
}

impl<T: Repr> Ty<T> {
    /// The representation of a type that is known to rustc.
    pub fn of() -> Self {
        ty(T::raw())
    }
}

impl<T> Ty<T> {
    /// The type as data.
    pub fn raw(&self) -> &RawTy {
        &self.0
    }
    pub(in crate::ast) fn relabel<U>(&self) -> Ty<U> {
        ty(self.0.clone())
    }
    /// Replaces the type parameter by an equal one.
    pub fn cast<U>(&self, _: Equal<T, U>) -> Ty<U> {
        self.relabel()
    }
    /// Whether two types are equal; if so, returns the proof.
    pub fn same<U>(&self, other: &Ty<U>) -> Option<Equal<T, U>> {
        (self.0 == other.0).then(Equal::axiom)
    }
    /// Takes the type apart.
    pub fn view<'n>(&self, _: Guard<'n>) -> TyView<'n, T> {
        match &self.0 {
            RawTy::Unit => TyView::Unit(Equal::axiom()),
            RawTy::Scalar(s) => TyView::Scalar(ScalarTy(*s, PhantomData)),
            RawTy::Pair(p) => TyView::Pair(ty(p.0.clone()), ty(p.1.clone()), Equal::axiom()),
            RawTy::Array(p) => TyView::Arr(ShapeTy(ty(p.0.clone())), ElementTy(ty(p.1.clone())), Equal::axiom()),
            RawTy::List(s) => TyView::List(ScalarTy(*s, PhantomData), Equal::axiom()),
        }
    }
}

impl<'n> Ty<X<'n>> {
    /// Names a type that is known only at run time; `None` if it is neither an element type nor an array type.
    pub fn from_raw(raw: &RawTy, _: Guard<'n>) -> Option<Self> {
        (raw.is_element() || raw.is_array_tuple()).then(|| ty(raw.clone()))
    }
}

impl<A, B> Ty<(A, B)> {
    /// The type of pairs.
    pub fn pair(a: &Ty<A>, b: &Ty<B>) -> Self {
        ty(RawTy::pair(a.0.clone(), b.0.clone()))
    }
    /// The types of the components.
    pub fn parts(&self) -> (Ty<A>, Ty<B>) {
        match &self.0 {
            RawTy::Pair(p) => (ty(p.0.clone()), ty(p.1.clone())),
            _ => unreachable!("Ty<(A, B)> is a pair"),
        }
    }
}

impl<Sh, T> Ty<Arr<Sh, T>> {
    /// The type of arrays.
    pub fn arr(sh: &ShapeTy<Sh>, t: &ElementTy<T>) -> Self {
        ty(RawTy::array(sh.raw().clone(), t.raw().clone()))
    }
    /// The types of the shape and of the elements.
    pub fn sh_elt(&self) -> (ShapeTy<Sh>, ElementTy<T>) {
        match &self.0 {
            RawTy::Array(p) => (ShapeTy(ty(p.0.clone())), ElementTy(ty(p.1.clone()))),
            _ => unreachable!("Ty<Arr<Sh, T>> is an array"),
        }
    }
}

/// Types of one kind. The proof that a [`Ty`] has this kind; it can be used wherever a [`Ty`] can.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident $repr:ident $is:ident;)*) => { $(
        $(#[$doc])*
        pub struct $name<T>(pub(in crate::ast) Ty<T>);
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                $name(self.0.clone())
            }
        }
        impl<T> Deref for $name<T> {
            type Target = Ty<T>;
            fn deref(&self) -> &Ty<T> {
                &self.0
            }
        }
        impl<T: $repr> $name<T> {
            /// A type that is known to rustc.
            pub fn known() -> Self {
                $name(Ty::of())
            }
        }
        impl<T> $name<T> {
            /// Forgets the kind.
            pub fn ty(self) -> Ty<T> {
                self.0
            }
            /// The proof, if the type has this kind.
            pub fn of(t: &Ty<T>) -> Option<Self> {
                t.0.$is().then(|| $name(t.clone()))
            }
            /// Replaces the type parameter by an equal one.
            pub fn cast<U>(&self, q: Equal<T, U>) -> $name<U> {
                $name(self.0.cast(q))
            }
        }
    )* };
}
kinds! {
    /// A proof that `T` is an element type: unit, a scalar, or a pair of element types.
    ElementTy ElementRepr is_element;
    /// A proof that `T` is a shape: `()` or `(shape, i64)`.
    ShapeTy ShapeRepr is_shape;
    /// A proof that `T` is an array type or a tuple of array types: unit, an array, or a pair of such.
    ArraysTy ArraysRepr is_array_tuple;
}

impl<T> ShapeTy<T> {
    /// Shapes are element types.
    pub fn element(&self) -> ElementTy<T> {
        ElementTy(self.0.clone())
    }
    /// The shape with one more dimension.
    pub fn push(&self) -> ShapeTy<(T, i64)> {
        ShapeTy(Ty::pair(&self.0, &Ty::of()))
    }
}
impl<T> ShapeTy<(T, i64)> {
    /// The shape without the innermost dimension.
    pub fn outer(&self) -> ShapeTy<T> {
        ShapeTy(self.parts().0)
    }
}
impl<A> ElementTy<A> {
    /// The type of pairs.
    pub fn pair<B>(&self, b: &ElementTy<B>) -> ElementTy<(A, B)> {
        ElementTy(Ty::pair(&self.0, &b.0))
    }
}
impl<A, B> ArraysTy<(A, B)> {
    /// The type of pairs.
    pub fn pair(a: &ArraysTy<A>, b: &ArraysTy<B>) -> Self {
        ArraysTy(Ty::pair(&a.0, &b.0))
    }
}

macro_rules! scalar_classes {
    ($($(#[$doc:meta])* $name:ident;)*) => { $(
        $(#[$doc])*
        pub struct $name<T>(pub(in crate::ast) ScalarType, pub(in crate::ast) Inv<T>);
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $name<T> {}
        impl<T> $name<T> {
            /// The type as data.
            pub fn scalar(self) -> ScalarType {
                self.0
            }
            /// The type.
            pub fn ty(self) -> Ty<T> {
                ty(RawTy::Scalar(self.0))
            }
            pub(in crate::ast) fn relabel<U>(self) -> $name<U> {
                $name(self.0, PhantomData)
            }
            /// Replaces the type parameter by an equal one.
            pub fn cast<U>(self, _: Equal<T, U>) -> $name<U> {
                self.relabel()
            }
        }
    )* };
}
scalar_classes! {
    /// A proof that `T` is a scalar type.
    ScalarTy;
    /// A proof that `T` is an integral or floating-point type.
    NumTy;
    /// A proof that `T` is a floating-point type.
    FloatTy;
    /// A proof that `T` is an integral type.
    IntTy;
}

impl<T> ScalarTy<T> {
    /// Whether `T` is a scalar type.
    pub fn of(t: &Ty<T>) -> Option<Self> {
        match t.0 {
            RawTy::Scalar(s) => Some(ScalarTy(s, PhantomData)),
            _ => None,
        }
    }
    /// Scalars are elements.
    pub fn element(self) -> ElementTy<T> {
        ElementTy(self.ty())
    }
    /// Whether `T` is numeric.
    pub fn num(self) -> Option<NumTy<T>> {
        self.0.is_num().then_some(NumTy(self.0, PhantomData))
    }
    /// Whether `T` is floating-point.
    pub fn float(self) -> Option<FloatTy<T>> {
        self.0.is_float().then_some(FloatTy(self.0, PhantomData))
    }
    /// Whether `T` is integral.
    pub fn int(self) -> Option<IntTy<T>> {
        self.0.is_integral().then_some(IntTy(self.0, PhantomData))
    }
    /// Whether `T` is `bool`.
    pub fn bool(self) -> Option<Equal<T, bool>> {
        (self.0 == ScalarType::Bool).then(Equal::axiom)
    }
}
impl<T> NumTy<T> {
    /// Whether `T` is floating-point.
    pub fn float(self) -> Option<FloatTy<T>> {
        self.0.is_float().then_some(FloatTy(self.0, PhantomData))
    }
    /// Forgets that `T` is numeric.
    pub fn any(self) -> ScalarTy<T> {
        ScalarTy(self.0, PhantomData)
    }
}
impl<T> FloatTy<T> {
    /// Forgets that `T` is floating-point.
    pub fn num(self) -> NumTy<T> {
        NumTy(self.0, PhantomData)
    }
}
impl NumTy<i64> {
    /// The type of indices and extents.
    pub fn index() -> Self {
        NumTy(ScalarType::I64, PhantomData)
    }
}
impl<T> IntTy<T> {
    /// Forgets that `T` is integral.
    pub fn num(self) -> NumTy<T> {
        NumTy(self.0, PhantomData)
    }
}

/// The type of tangents and adjoints of `T`: an uninterpreted type constructor with the equations below. The tangent of
/// a floating-point scalar has the type of the scalar. The tangent of a discrete scalar has the type `()`.
pub struct Tan<T>(PhantomData<T>);

/// The representation of the tangent type. It has the kind of `T`.
pub fn tan_ty<T>(t: &Ty<T>) -> Ty<Tan<T>> {
    fn go(t: &RawTy) -> RawTy {
        match t {
            RawTy::Scalar(s) | RawTy::List(s) if s.is_float() => t.clone(),
            RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => RawTy::Unit,
            RawTy::Pair(p) => deep(|| RawTy::pair(go(&p.0), go(&p.1))),
            RawTy::Array(p) => RawTy::array(p.0.clone(), go(&p.1)),
        }
    }
    ty(go(&t.0))
}
/// As [`tan_ty`], for an element type.
pub fn tan_element<T>(t: &ElementTy<T>) -> ElementTy<Tan<T>> {
    ElementTy(tan_ty(&t.0))
}
/// Congruence of tangents.
pub fn eq_tan<A, B>(_: Equal<A, B>) -> Equal<Tan<A>, Tan<B>> {
    Equal::axiom()
}
/// `Tan<()> = ()`
pub fn tan_unit() -> Equal<Tan<()>, ()> {
    Equal::axiom()
}
/// `Tan<T> = T` for floating-point `T`
pub fn tan_float<T>(_: FloatTy<T>) -> Equal<Tan<T>, T> {
    Equal::axiom()
}
/// `Tan<(A, B)> = (Tan<A>, Tan<B>)`
pub fn tan_pair<A, B>() -> Equal<Tan<(A, B)>, (Tan<A>, Tan<B>)> {
    Equal::axiom()
}
/// `Tan<Arr<Sh, T>> = Arr<Sh, Tan<T>>`
pub fn tan_arr<Sh, T>() -> Equal<Tan<Arr<Sh, T>>, Arr<Sh, Tan<T>>> {
    Equal::axiom()
}

/// The type of lists of arrays of type `T`: an uninterpreted type constructor with the equations below. The list of an
/// array is an array with one more dimension, the outermost one. The list of a tuple is a tuple of lists of one length.
pub struct Batched<T>(PhantomData<T>);

/// The representation of the type of lists. It has the kind of `T`.
pub fn batched_ty<T>(t: &Ty<T>) -> Ty<Batched<T>> {
    ty(with_ranks(&t.0, &|rank| rank + 1))
}
/// The type of the arrays in a list.
pub fn row_ty<T>(t: &Ty<Batched<T>>) -> Ty<T> {
    // A list has at least one dimension, except in a broken tree.
    ty(with_ranks(&t.0, &|rank| rank.saturating_sub(1)))
}
/// The type of the rows of arrays, if each has at least one dimension.
pub fn rows_of<'n, T>(t: &Ty<T>, _: Guard<'n>) -> Option<(Ty<X<'n>>, Equal<T, Batched<X<'n>>>)> {
    fn go(t: &RawTy) -> bool {
        match t {
            RawTy::Unit => true,
            RawTy::Scalar(_) | RawTy::List(_) => false,
            RawTy::Pair(p) => deep(|| go(&p.0) && go(&p.1)),
            RawTy::Array(p) => p.0.width() > 0,
        }
    }
    go(&t.0).then(|| (ty(with_ranks(&t.0, &|rank| rank - 1)), Equal::axiom()))
}
/// Array types with other ranks.
fn with_ranks(t: &RawTy, rank: &dyn Fn(usize) -> usize) -> RawTy {
    match t {
        RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => t.clone(),
        RawTy::Pair(p) => deep(|| RawTy::pair(with_ranks(&p.0, rank), with_ranks(&p.1, rank))),
        RawTy::Array(p) => RawTy::array(RawTy::shape(rank(p.0.width())), p.1.clone()),
    }
}
/// Congruence of lists.
pub fn eq_batched<A, B>(_: Equal<A, B>) -> Equal<Batched<A>, Batched<B>> {
    Equal::axiom()
}
/// `Batched<()> = ()`
pub fn batched_unit() -> Equal<Batched<()>, ()> {
    Equal::axiom()
}
/// `Batched<(A, B)> = (Batched<A>, Batched<B>)`
pub fn batched_pair<A, B>() -> Equal<Batched<(A, B)>, (Batched<A>, Batched<B>)> {
    Equal::axiom()
}
/// `Tan<Batched<T>> = Batched<Tan<T>>`
pub fn tan_batched<T>() -> Equal<Tan<Batched<T>>, Batched<Tan<T>>> {
    Equal::axiom()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::marker::PhantomData;

    /// Whether `T` is [`seal::Sealed`], according to rustc: an inherent method takes precedence over a method of a
    /// trait.
    struct Is<T>(PhantomData<T>);
    impl<T: seal::Sealed> Is<T> {
        fn sealed(&self) -> bool {
            true
        }
    }
    trait Otherwise {
        fn sealed(&self) -> bool {
            false
        }
    }
    impl<T> Otherwise for Is<T> {}

    #[test]
    fn kinds_are_decided_at_run_time_as_by_rustc() {
        type Matrix = Arr<(((), i64), i64), (f64, bool)>;
        type Both = ((), (Matrix, Arr<(), ()>));
        fn kinds<T: Repr>() -> [bool; 3] {
            let t = Ty::<T>::of();
            [ElementTy::of(&t).is_some(), ShapeTy::of(&t).is_some(), ArraysTy::of(&t).is_some()]
        }
        assert_eq!(kinds::<()>(), [true, true, true]);
        assert_eq!(kinds::<i64>(), [true, false, false]);
        assert_eq!(kinds::<(((), i64), i64)>(), [true, true, false]);
        assert_eq!(kinds::<((), f64)>(), [true, false, false]);
        assert_eq!(kinds::<((), ((), i64))>(), [true, false, false]);
        assert_eq!(kinds::<Both>(), [false, false, true]);
        assert_eq!(kinds::<(f64, Matrix)>(), [false, false, false]);
        let _: (ArraysTy<Both>, ElementTy<(f64, ())>, ShapeTy<((), i64)>) =
            (ArraysTy::known(), ElementTy::known(), ShapeTy::known());
    }

    #[test]
    fn types_of_no_kind_get_no_name() {
        use crate::ast::fresh1;
        let f64_ = RawTy::Scalar(ScalarType::F64);
        let array = |sh, t| RawTy::array(sh, t);
        for (t, right) in [
            (array(RawTy::shape(2), f64_.clone()), true),
            (RawTy::pair(f64_.clone(), RawTy::Unit), true),
            (array(f64_.clone(), f64_.clone()), false),
            (array(RawTy::pair(RawTy::Unit, f64_.clone()), f64_.clone()), false),
            (array(RawTy::shape(1), array(RawTy::shape(1), f64_.clone())), false),
            (RawTy::pair(f64_.clone(), array(RawTy::shape(1), f64_)), false),
        ] {
            assert_eq!(fresh1(|n| Ty::from_raw(&t, n).is_some()), right, "{t}");
        }
    }

    /// Without the seal, this crate could define the representation of a pair that contains its own type. Other crates
    /// could not, because the parts are foreign to them.
    #[test]
    fn types_with_foreign_parts_cannot_be_representations() {
        struct Mine;
        assert!(Is::<((), (f64, Arr<(), i64>))>(PhantomData).sealed());
        assert!(!Is::<Mine>(PhantomData).sealed());
        assert!(!Is::<(f64, Mine)>(PhantomData).sealed());
        assert!(!Is::<(Mine, f64)>(PhantomData).sealed());
        assert!(!Is::<Arr<(), Mine>>(PhantomData).sealed());
        assert!(!Is::<Arr<Mine, f64>>(PhantomData).sealed());
    }
}
