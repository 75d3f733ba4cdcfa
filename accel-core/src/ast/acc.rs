//! Array computations: `Acc<A, R>` has type `R` (an array or a tuple of arrays) and free array variables in `A`.
//!
//! NOTE \[Shapes that agree\]: the surface operations that combine arrays require that the shapes of these arrays
//! agree. Only `agree` checks this. It compares two shapes and is an error if they do not agree; otherwise it is the
//! identity on an array, which the operation then uses in place of the original array. So a check is part of what the
//! array is. Every use of the elements or the shape of the array includes the check, in derivatives too; if nothing uses
//! a definition, its checks remain. `shape (agree .. a)` must not be replaced by `shape a`. Code that derivatives generate
//! themselves combines arrays whose shapes agree by construction; it uses `zip_with`, which checks nothing.
//!
//! Operations such as `reshape` check their own shapes. The simplifier makes these checks explicit, too, where the operation
//! may go: NOTE \[Checks of shapes\] (`accel-fusion`, `simplify/checks.rs`).
//!
//! The simplifier removes `agree` where the shapes are visibly equal (`accel-fusion`, `simplify/rules/operations.rs`).
//! Each remaining `agree` becomes a statement of the kernel program. No pass may drop such a statement: it is executed
//! whenever its block is. No other statement depends on it, so it may be moved. If the shapes consist of extents of
//! arguments, the optimised program assumes that they agree and has no check; if they do not agree, the general program
//! reports it.

use super::dir::Dir;
use super::env::{Family, Idx, Key, Thinning, Weaken, idx, seal};
use super::exp::{Exp, Fun1, Fun2, Src};
use super::names::{Equal, Erased, Guard, Inv, W, X, Y, Z};
use super::slice::SliceSpec;
use super::thin::{RawThinning, RawThinnings, SharedNode};
use super::ty::{Arr, ArraysTy, Batched, ElementTy, ScalarTy, ShapeTy, Ty, batched_ty, row_ty};
use super::value::Literal;
use crate::repr::{Agreement, Call as ForeignCall, RawTy};
use frunk::{HCons, HNil};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::sync::OnceLock;

/// An array computation: a handle of a node and a suspended thinning, which `view` pushes down one level.
pub struct Acc<A, R> {
    pub(in crate::ast) node: SharedNode<ANode>,
    pub(in crate::ast) th: RawThinning,
    pub(in crate::ast) ty: Ty<R>,
    ph: Inv<A>,
}

pub(in crate::ast) type Ac = Acc<Erased, Erased>;

/// The De Bruijn indices of the array variables that a node uses, and their types, the innermost variable first; `None` if they are too
/// many (`free.rs`).
pub(in crate::ast) type Free = Option<Box<[(u32, RawTy)]>>;

/// An erased node and its place in the user's source.
pub(in crate::ast) struct ANode {
    pub form: AForm,
    pub at: Src,
    /// The variables that it uses, once somebody has asked for them.
    pub free: OnceLock<Free>,
}

/// The erased forms.
pub(in crate::ast) enum AForm {
    Use(Literal<Erased>),
    Var(u32),
    Let(Ac, Ac),
    /// Condition and body below one binder, initial state.
    While(Box<[Ac; 3]>),
    Loop(Box<ALoop<Erased, Erased, Erased, Erased>>),
    /// Argument, function, pushforward and pullback: NOTE \[Rules of one's own\].
    Custom(Box<[Ac; 4]>),
    Op(RawAccOp),
}

/// The view of an array computation: its outermost constructor, taken apart.
pub enum AccView<'n, A, R> {
    /// Arrays that are part of the program.
    Use(Literal<R>),
    /// A variable.
    Var(Idx<A, R>),
    /// A local definition and the computation in its scope.
    Let(Acc<A, X<'n>>, Acc<Y<'n>, R>, Equal<Y<'n>, HCons<X<'n>, A>>),
    /// A loop.
    While(AWhileView<'n, A, R>),
    /// A loop that takes rows of arrays and lists arrays: `X` is its state, `Y` a row, `Z` an entry of the list.
    Loop(ALoop<A, X<'n>, Y<'n>, Z<'n>>, Equal<R, (X<'n>, Batched<Z<'n>>)>),
    /// All forms that bind no array variable.
    Op(AccOp<'n, A, R>),
}

/// `while the(cond(x)) { x = body(x) }` from `init`.
pub struct AWhileView<'n, A, R> {
    /// The condition: whether to continue.
    pub cond: Acc<Y<'n>, Arr<(), bool>>,
    /// The next state.
    pub body: Acc<Y<'n>, R>,
    /// The initial state.
    pub init: Acc<A, R>,
    /// `Y` is the environment with the state.
    pub eq: Equal<Y<'n>, HCons<R, A>>,
}

/// A loop that threads a state of type `S`, takes a row of type `X` in each step, and lists an entry of type `Y`:
/// `(s, y) = body (s, x)`. Its result is the last state and the list, `(S, Batched<Y>)`.
///
/// NOTE \[Loops and lists\]: this node makes loops closed under differentiation. In reverse mode, a loop `while` lists its
/// states. Its dual is a loop over this list in the opposite direction, whose state is the adjoint of the state. The
/// dual of a loop over a list is again such a loop; it takes the adjoints of the entries and lists the adjoints of the
/// rows.
///
/// All entries of a list have one shape, or it is an error when the program runs. After zero steps this shape is
/// unknown, so all extents of an empty list are 0. Nothing reads elements of an empty list. Code that needs the extents
/// of rows takes them from elsewhere.
///
/// Step k takes row k, and its entry is row k of the list; a loop to the right begins with the last row. A loop `while`
/// goes to the left.
pub struct ALoop<A, S, X, Y> {
    /// The name of the user's operation.
    pub user: &'static str,
    /// How many steps there are, and in which order they take the rows.
    pub trips: Trips<A, S>,
    /// The initial state.
    pub init: Acc<A, S>,
    /// The arrays whose rows the steps take. A step without a row is an error.
    pub xs: Acc<A, Batched<X>>,
    /// A step: from the state and the row to the next state and the entry of the list.
    pub body: Acc<HCons<(S, X), A>, (S, Y)>,
}

/// The steps of a loop with a state of type `S`.
pub enum Trips<A, S> {
    /// As long as a condition is true for the state.
    While(Acc<HCons<S, A>, Arr<(), bool>>),
    /// As many as a number says; none if it is negative.
    Times(Exp<HNil, A, i64>, Dir),
}

impl<A, S> Clone for Trips<A, S> {
    fn clone(&self) -> Self {
        match self {
            Trips::While(cond) => Trips::While(cond.clone()),
            Trips::Times(n, dir) => Trips::Times(n.clone(), *dir),
        }
    }
}

impl<A, S, X, Y> ALoop<A, S, X, Y> {
    fn thin<B, S2, X2, Y2>(&self, th: &RawThinning) -> ALoop<B, S2, X2, Y2> {
        let inner = th.lift(1);
        ALoop {
            user: self.user,
            trips: match &self.trips {
                Trips::While(cond) => Trips::While(cond.thin(&inner)),
                Trips::Times(n, dir) => Trips::Times(n.athin(th), *dir),
            },
            init: self.init.thin(th),
            xs: self.xs.thin(th),
            body: self.body.thin(&inner),
        }
    }
    /// The type of the argument of a step.
    pub fn argument(&self) -> Ty<(S, X)> {
        Ty::pair(&self.init.ty, &row_ty(&self.xs.ty))
    }
    /// The variable of the argument of a step.
    pub fn variable(&self) -> Idx<HCons<(S, X), A>, (S, X)> {
        Idx::zero(&self.argument())
    }
    /// The type of an entry of the list.
    pub fn entry(&self) -> Ty<Y> {
        self.body.ty.parts().1
    }
    /// The same loop with mapped parts: those outside, the condition, and the body.
    pub fn map<B>(
        &self,
        outer: &mut impl AccMap<A, B>,
        cond_map: &mut impl AccMap<HCons<S, A>, HCons<S, B>>,
        inner: &mut impl AccMap<HCons<(S, X), A>, HCons<(S, X), B>>,
    ) -> ALoop<B, S, X, Y> {
        let (init, xs) = (outer.acc(&self.init), outer.acc(&self.xs));
        let trips = match &self.trips {
            Trips::While(cond) => Trips::While(cond_map.acc(cond)),
            Trips::Times(n, dir) => Trips::Times(outer.exp(n), *dir),
        };
        ALoop { user: self.user, trips, init, xs, body: inner.acc(&self.body) }
    }
}

/// A mapping to another array environment, applied to the parts of an operation.
pub trait AccMap<A, A2> {
    /// Scalar code.
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>) -> Exp<E, A2, T>;
    /// Array arguments.
    fn acc<T>(&mut self, a: &Acc<A, T>) -> Acc<A2, T>;
}

/// Visits the parts of an operation.
pub trait AccVisit<A> {
    /// Scalar code.
    fn exp<E, T>(&mut self, e: &Exp<E, A, T>);
    /// Array arguments.
    fn acc<T>(&mut self, a: &Acc<A, T>);
}

/// A part of an operation that is neither scalar code nor an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail<'o> {
    /// The direction of a scan.
    Dir(Dir),
    /// How shapes must agree.
    Agreement(Agreement),
    /// The name of the user's operation.
    User(&'static str),
    /// Which dimensions of the larger array are kept.
    Kept(&'o [bool]),
    /// A call of a foreign function.
    Call(&'o ForeignCall),
}

/// The table of all operations that bind no array variable. It generates the erased node, the typed view, `view`, `op`,
/// `map`, `visit`, `details` and the names. Names in a view: `X` is the shape of the result, `Y` its element type, `Z`
/// and `W` those of the source.
macro_rules! acc_ops {
    ($( $(#[$doc:meta])* $Op:ident $name:literal { $($kind:ident $field:ident: $t:ty),* $(; $eq:ty = $eq2:ty)? } )*) => {
        pub(in crate::ast) enum RawAccOp { $( $Op { $($field: acc_ops!(@raw $kind)),* } ),* }

        /// Array operations.
        pub enum AccOp<'n, A, R> {
            $( $(#[$doc])* #[allow(missing_docs)] $Op { $($field: $t,)* $(eq: Equal<$eq, $eq2>)? } ),*
        }

        impl RawAccOp {
            fn view<'n, A, R>(&self, th: &RawThinning) -> AccOp<'n, A, R> {
                match self {
                    $( RawAccOp::$Op { $($field),* } => AccOp::$Op {
                        $($field: acc_ops!(@view $kind $field th),)* $(eq: Equal::<$eq, $eq2>::axiom())?
                    } ),*
                }
            }
        }

        /// The names of all operations, in the order of the table.
        pub const ACC_OPS: &[&str] = &[$($name),*];

        impl<'n, A, R> AccOp<'n, A, R> {
            fn erase(&self) -> RawAccOp {
                match self {
                    $( AccOp::$Op { $($field,)* .. } => RawAccOp::$Op { $($field: acc_ops!(@erase $kind $field)),* } ),*
                }
            }
            /// The same operation with mapped parts.
            pub fn map<A2>(&self, m: &mut impl AccMap<A, A2>) -> AccOp<'n, A2, R> {
                match self {
                    $( AccOp::$Op { $($field,)* .. } => AccOp::$Op {
                        $($field: acc_ops!(@map $kind $field m),)* $(eq: Equal::<$eq, $eq2>::axiom())?
                    } ),*
                }
            }
            /// Visits the scalar code and the arrays of the operation, in the order of the table.
            pub fn visit(&self, v: &mut impl AccVisit<A>) {
                match self {
                    $( AccOp::$Op { $($field,)* .. } => { $( acc_ops!(@visit $kind $field v); )* } ),*
                }
            }
            /// All other parts of the operation.
            pub fn details(&self) -> SmallVec<[Detail<'_>; 2]> {
                let mut details = SmallVec::new();
                match self {
                    $( AccOp::$Op { $($field,)* .. } => { $( acc_ops!(@detail $kind $field details); )* } ),*
                }
                details
            }
            /// The name of the operation in [`ACC_OPS`].
            pub fn operation(&self) -> &'static str {
                match self {
                    $( AccOp::$Op { .. } => $name ),*
                }
            }
            /// The name of the operation in messages.
            pub fn name(&self) -> &'static str {
                match self {
                    AccOp::Agree { user, .. } => user,
                    AccOp::Foreign { f, .. } => f.function.name(),
                    AccOp::Scan { dir: Dir::Right, .. } => "scanr",
                    AccOp::Scan1 { dir: Dir::Right, .. } => "scanr1",
                    op => op.operation(),
                }
            }
        }
    };
    (@raw acc) => { Ac };
    (@raw exp) => { Exp<Erased, Erased, Erased> };
    (@raw fun1) => { Fun1<Erased, Erased, Erased> };
    (@raw fun2) => { Fun2<Erased, Erased, Erased, Erased> };
    (@raw dir) => { Dir };
    (@raw agreement) => { Agreement };
    (@raw foreign) => { ForeignCall };
    (@raw word) => { &'static str };
    (@raw slice) => { SliceSpec<Erased, Erased, Erased> };
    (@raw scalar) => { ScalarTy<Erased> };
    (@view acc $f:ident $th:ident) => { $f.thin($th) };
    (@view dir $f:ident $th:ident) => { *$f };
    (@view agreement $f:ident $th:ident) => { *$f };
    (@view foreign $f:ident $th:ident) => { $f.clone() };
    (@view word $f:ident $th:ident) => { $f };
    (@view slice $f:ident $th:ident) => { $f.relabel() };
    (@view scalar $f:ident $th:ident) => { $f.relabel() };
    (@view $code:ident $f:ident $th:ident) => { $f.athin($th) };
    (@erase dir $f:ident) => { *$f };
    (@erase agreement $f:ident) => { *$f };
    (@erase foreign $f:ident) => { $f.clone() };
    (@erase word $f:ident) => { $f };
    (@erase $kind:ident $f:ident) => { $f.relabel() };
    (@visit acc $f:ident $v:ident) => { $v.acc($f) };
    (@visit exp $f:ident $v:ident) => { $v.exp($f) };
    (@visit fun1 $f:ident $v:ident) => { $v.exp(&$f.0) };
    (@visit fun2 $f:ident $v:ident) => { $v.exp(&$f.0) };
    (@visit dir $f:ident $v:ident) => { let _ = $f; };
    (@visit agreement $f:ident $v:ident) => { let _ = $f; };
    (@visit foreign $f:ident $v:ident) => { let _ = $f; };
    (@visit word $f:ident $v:ident) => { let _ = $f; };
    (@visit slice $f:ident $v:ident) => { let _ = $f; };
    (@visit scalar $f:ident $v:ident) => { let _ = $f; };
    (@detail acc $f:ident $d:ident) => { let _ = $f; };
    (@detail exp $f:ident $d:ident) => { let _ = $f; };
    (@detail fun1 $f:ident $d:ident) => { let _ = $f; };
    (@detail fun2 $f:ident $d:ident) => { let _ = $f; };
    (@detail dir $f:ident $d:ident) => { $d.push(Detail::Dir(*$f)) };
    (@detail agreement $f:ident $d:ident) => { $d.push(Detail::Agreement(*$f)) };
    (@detail foreign $f:ident $d:ident) => { $d.push(Detail::Call($f)) };
    (@detail word $f:ident $d:ident) => { $d.push(Detail::User($f)) };
    (@detail slice $f:ident $d:ident) => { $d.push(Detail::Kept($f.kept())) };
    (@detail scalar $f:ident $d:ident) => { let _ = $f; };
    (@map acc $f:ident $m:ident) => { $m.acc($f) };
    (@map exp $f:ident $m:ident) => { $m.exp($f) };
    (@map fun1 $f:ident $m:ident) => { Fun1($m.exp(&$f.0)) };
    (@map fun2 $f:ident $m:ident) => { Fun2($m.exp(&$f.0)) };
    (@map dir $f:ident $m:ident) => { *$f };
    (@map agreement $f:ident $m:ident) => { *$f };
    (@map foreign $f:ident $m:ident) => { $f.clone() };
    (@map word $f:ident $m:ident) => { $f };
    (@map slice $f:ident $m:ident) => { $f.relabel() };
    (@map scalar $f:ident $m:ident) => { $f.relabel() };
}

acc_ops! {
    /// The empty tuple.
    Unit "unit" { ; R = () }
    /// A pair of array tuples.
    Pair "pair" { acc a: Acc<A, X<'n>>, acc b: Acc<A, Y<'n>>; R = (X<'n>, Y<'n>) }
    /// The first component.
    Fst "fst" { acc a: Acc<A, X<'n>>; X<'n> = (R, Y<'n>) }
    /// The second component.
    Snd "snd" { acc a: Acc<A, X<'n>>; X<'n> = (Y<'n>, R) }
    /// A conditional; only the chosen branch is computed.
    Cond "acond" { exp cond: Exp<HNil, A, bool>, acc then: Acc<A, R>, acc otherwise: Acc<A, R> }
    /// The array of a given shape whose element at `ix` is `f(ix)`.
    Generate "generate" { exp sh: Exp<HNil, A, X<'n>>, fun1 f: Fun1<A, X<'n>, Y<'n>>; R = Arr<X<'n>, Y<'n>> }
    /// The array of `f(x)` for every element `x`.
    Map "map" { fun1 f: Fun1<A, W<'n>, Y<'n>>, acc a: Acc<A, Arr<X<'n>, W<'n>>>; R = Arr<X<'n>, Y<'n>> }
    /// The array `a`, after a check that two shapes agree. The check is made on behalf of the operation that the user
    /// calls `user`: see NOTE [Shapes that agree].
    Agree "agree" {
        agreement agreement: Agreement, word user: &'static str, exp left: Exp<HNil, A, Z<'n>>, exp right: Exp<HNil, A, W<'n>>,
        acc a: Acc<A, Arr<X<'n>, Y<'n>>>; R = Arr<X<'n>, Y<'n>>
    }
    /// `f` of the elements of two arrays, on the intersection of their shapes.
    ZipWith "zip_with" {
        fun2 f: Fun2<A, W<'n>, Z<'n>, Y<'n>>, acc a: Acc<A, Arr<X<'n>, W<'n>>>, acc b: Acc<A, Arr<X<'n>, Z<'n>>>;
        R = Arr<X<'n>, Y<'n>>
    }
    /// Reduction of the innermost dimension with an associative function; `z` is the initial value.
    Fold "fold" {
        fun2 f: Fun2<A, Y<'n>, Y<'n>, Y<'n>>, exp z: Exp<HNil, A, Y<'n>>, acc a: Acc<A, Arr<(X<'n>, i64), Y<'n>>>;
        R = Arr<X<'n>, Y<'n>>
    }
    /// Reduction of a non-empty innermost dimension.
    Fold1 "fold1" { fun2 f: Fun2<A, Y<'n>, Y<'n>, Y<'n>>, acc a: Acc<A, Arr<(X<'n>, i64), Y<'n>>>; R = Arr<X<'n>, Y<'n>> }
    /// All prefix (or suffix) reductions of the innermost dimension, including `z`: one element more than the source.
    Scan "scanl" {
        dir dir: Dir, fun2 f: Fun2<A, Y<'n>, Y<'n>, Y<'n>>, exp z: Exp<HNil, A, Y<'n>>,
        acc a: Acc<A, Arr<(X<'n>, i64), Y<'n>>>; R = Arr<(X<'n>, i64), Y<'n>>
    }
    /// All non-empty prefix (or suffix) reductions: as many elements as the source.
    Scan1 "scanl1" {
        dir dir: Dir, fun2 f: Fun2<A, Y<'n>, Y<'n>, Y<'n>>, acc a: Acc<A, Arr<(X<'n>, i64), Y<'n>>>;
        R = Arr<(X<'n>, i64), Y<'n>>
    }
    /// The array of a given shape whose element at `ix` is `f(ix)`, and the arrays `init` with what `f` adds to their
    /// elements: NOTE \[Emissions\]. Their elements are numbers or tuples of numbers. Besides the element, `f` returns the
    /// last token. Values are added in the order of the indices, and in the order of emission.
    Accumulate "accumulate" {
        exp sh: Exp<HNil, A, X<'n>>, fun1 f: Fun1<A, X<'n>, (Y<'n>, f32)>, acc init: Acc<A, Z<'n>>;
        R = (Arr<X<'n>, Y<'n>>, Z<'n>)
    }
    /// A copy of `defaults` into which each source element is combined, at the index that `index` returns, if it says
    /// to keep the element.
    Permute "permute" {
        fun2 comb: Fun2<A, Y<'n>, Y<'n>, Y<'n>>, acc defaults: Acc<A, Arr<X<'n>, Y<'n>>>,
        fun1 index: Fun1<A, Z<'n>, (bool, X<'n>)>, acc a: Acc<A, Arr<Z<'n>, Y<'n>>>; R = Arr<X<'n>, Y<'n>>
    }
    /// The array of a given shape whose element at `ix` is the source's element at `f(ix)`.
    Backpermute "backpermute" {
        exp sh: Exp<HNil, A, X<'n>>, fun1 f: Fun1<A, X<'n>, Z<'n>>, acc a: Acc<A, Arr<Z<'n>, Y<'n>>>;
        R = Arr<X<'n>, Y<'n>>
    }
    /// The positions at which the elements of each innermost row are in sorted order: NOTE \[Sorted order\]. The
    /// elements are scalars.
    Argsort "argsort" { scalar key: ScalarTy<W<'n>>, acc a: Acc<A, Arr<(X<'n>, i64), W<'n>>>; R = Arr<(X<'n>, i64), i64> }
    /// What a foreign function makes of arrays: NOTE \[Foreign functions\]. The components of `sh` are all extents of the results, one array
    /// after the other.
    Foreign "foreign" { foreign f: ForeignCall, exp sh: Exp<HNil, A, X<'n>>, acc a: Acc<A, Y<'n>> }
    /// The same elements in row-major order, in another shape of the same size.
    Reshape "reshape" { exp sh: Exp<HNil, A, X<'n>>, acc a: Acc<A, Arr<Z<'n>, Y<'n>>>; R = Arr<X<'n>, Y<'n>> }
    /// Adds dimensions along which the array is repeated.
    Replicate "replicate" {
        slice spec: SliceSpec<Z<'n>, W<'n>, X<'n>>, exp slx: Exp<HNil, A, Z<'n>>, acc a: Acc<A, Arr<W<'n>, Y<'n>>>;
        R = Arr<X<'n>, Y<'n>>
    }
    /// Removes dimensions by fixing their indices.
    Slice "slice" {
        slice spec: SliceSpec<Z<'n>, X<'n>, W<'n>>, exp slx: Exp<HNil, A, Z<'n>>, acc a: Acc<A, Arr<W<'n>, Y<'n>>>;
        R = Arr<X<'n>, Y<'n>>
    }
}

impl<A, R> Clone for Acc<A, R> {
    fn clone(&self) -> Self {
        self.relabel()
    }
}

pub(in crate::ast) fn acc<A, R>(form: AForm, ty: Ty<R>, at: Src) -> Acc<A, R> {
    Acc { node: SharedNode::new(ANode { form, at, free: OnceLock::new() }), th: RawThinning::Id, ty, ph: PhantomData }
}

impl<A, R> Acc<A, R> {
    pub(in crate::ast) fn relabel<B, Q>(&self) -> Acc<B, Q> {
        Acc { node: self.node.clone(), th: self.th.clone(), ty: self.ty.relabel(), ph: PhantomData }
    }
    pub(in crate::ast) fn thin<B, Q>(&self, t: &RawThinning) -> Acc<B, Q> {
        Acc { node: self.node.clone(), th: self.th.then(t), ty: self.ty.relabel(), ph: PhantomData }
    }
    /// The node without its suspended thinning.
    pub(in crate::ast) fn unthinned(&self) -> Ac {
        Acc { node: self.node.clone(), th: RawThinning::Id, ty: self.ty.relabel(), ph: PhantomData }
    }
    /// Weakens to a larger environment, in O(1) (see the glossary of the book: weakening).
    pub fn weaken<A2>(&self, r: &Thinning<A, A2>) -> Acc<A2, R> {
        self.thin(&r.0)
    }
    /// The type.
    pub fn ty(&self) -> &Ty<R> {
        &self.ty
    }
    /// The place in the user's source, if known.
    pub fn at(&self) -> Src {
        self.node.get().at
    }
    /// Replaces the type by an equal one.
    pub fn cast<Q>(&self, _: Equal<R, Q>) -> Acc<A, Q> {
        self.relabel()
    }
    /// Replaces the environment by an equal one.
    pub fn cast_env<B>(&self, _: Equal<A, B>) -> Acc<B, R> {
        self.relabel()
    }
    /// Arrays that are part of the program.
    pub fn use_(a: &Literal<R>, at: Src) -> Self {
        acc(AForm::Use(a.relabel()), a.ty().clone(), at)
    }
    /// A variable.
    pub fn var(i: &Idx<A, R>) -> Self {
        acc(AForm::Var(i.0), i.1.clone(), None)
    }
    /// `let x = b in body`
    pub fn let_<B>(b: &Acc<A, B>, body: &Acc<HCons<B, A>, R>) -> Self {
        acc(AForm::Let(b.relabel(), body.relabel()), body.ty.clone(), None)
    }
    /// A loop.
    pub fn while_(cond: &Acc<HCons<R, A>, Arr<(), bool>>, body: &Acc<HCons<R, A>, R>, init: &Self, at: Src) -> Self {
        let parts = Box::new([cond.relabel(), body.relabel(), init.relabel()]);
        acc(AForm::While(parts), init.ty.clone(), at)
    }
    /// A conditional.
    pub fn cond(c: &Exp<HNil, A, bool>, t: &Self, e: &Self, at: Src) -> Self {
        Self::op(&AccOp::Cond { cond: c.clone(), then: t.clone(), otherwise: e.clone() }, &t.ty, at)
    }
    /// Builds an operation of type `ty` from its parts.
    pub fn op(op: &AccOp<'_, A, R>, ty: &Ty<R>, at: Src) -> Self {
        acc(AForm::Op(op.erase()), ty.clone(), at)
    }
    /// Takes the computation apart.
    pub fn view<'n>(&self, _: Guard<'n>) -> AccView<'n, A, R> {
        let th = &self.th;
        match &self.node.get().form {
            AForm::Use(a) => AccView::Use(a.relabel()),
            AForm::Var(i) => AccView::Var(idx(th.at(*i), self.ty.clone())),
            AForm::Let(b, e) => AccView::Let(b.thin(th), e.thin(&th.lift(1)), Equal::axiom()),
            AForm::While(parts) => {
                let [cond, body, init] = &**parts;
                let inner = th.lift(1);
                AccView::While(AWhileView {
                    cond: cond.thin(&inner),
                    body: body.thin(&inner),
                    init: init.thin(th),
                    eq: Equal::axiom(),
                })
            }
            AForm::Loop(l) => AccView::Loop(l.thin(th), Equal::axiom()),
            AForm::Custom(parts) => AccView::Let(parts[0].thin(th), parts[1].thin(&th.lift(1)), Equal::axiom()),
            AForm::Op(op) => AccView::Op(op.view(th)),
        }
    }
}

impl<A, S, Y> Acc<A, (S, Batched<Y>)> {
    /// A loop that takes rows of arrays and lists arrays.
    pub fn loop_<X>(l: &ALoop<A, S, X, Y>, at: Src) -> Self {
        let ty = Ty::pair(&l.init.ty, &batched_ty(&l.entry()));
        acc(AForm::Loop(Box::new(l.thin(&RawThinning::Id))), ty, at)
    }
}

impl<A, Sh, T, R> Acc<A, (Arr<Sh, T>, R)> {
    /// Computes an array, and adds to the elements of others: see [`AccOp::Accumulate`].
    pub fn accumulate(
        t: &ShapeTy<Sh>,
        sh: &Exp<HNil, A, Sh>,
        f: &Fun1<A, Sh, (T, f32)>,
        init: &Acc<A, R>,
        at: Src,
    ) -> Self {
        let op = RawAccOp::Accumulate { sh: sh.relabel(), f: f.relabel(), init: init.relabel() };
        // Results of scalar code have element types.
        let array = Ty::arr(t, &ElementTy(f.0.ty.parts().0));
        acc(AForm::Op(op), Ty::pair(&array, &init.ty), at)
    }
}

impl<A> Acc<A, ()> {
    /// The empty tuple.
    pub fn unit() -> Self {
        acc(AForm::Op(RawAccOp::Unit {}), Ty::of(), None)
    }
}

impl<A, P, Q> Acc<A, (P, Q)> {
    /// A pair.
    pub fn pair(a: &Acc<A, P>, b: &Acc<A, Q>) -> Self {
        acc(AForm::Op(RawAccOp::Pair { a: a.relabel(), b: b.relabel() }), Ty::pair(&a.ty, &b.ty), None)
    }
    /// The first component. If the pair is visible, this is the component itself.
    pub fn fst(&self) -> Acc<A, P> {
        match &self.node.get().form {
            AForm::Op(RawAccOp::Pair { a, .. }) => a.thin(&self.th),
            _ => acc(AForm::Op(RawAccOp::Fst { a: self.relabel() }), self.ty.parts().0, None),
        }
    }
    /// The second component. If the pair is visible, this is the component itself.
    pub fn snd(&self) -> Acc<A, Q> {
        match &self.node.get().form {
            AForm::Op(RawAccOp::Pair { b, .. }) => b.thin(&self.th),
            _ => acc(AForm::Op(RawAccOp::Snd { a: self.relabel() }), self.ty.parts().1, None),
        }
    }
}

/// Constructors of arrays. [`AccOp`] describes shapes, errors and meaning. If the shape of the result is computed, its
/// type must be known to be the type of a shape: NOTE \[What the kernel guarantees\].
#[allow(missing_docs)]
impl<A, Sh, T> Acc<A, Arr<Sh, T>> {
    /// The types of the shape and of the elements.
    pub fn sh_elt(&self) -> (ShapeTy<Sh>, ElementTy<T>) {
        self.ty.sh_elt()
    }
    /// An array with elements of type `t`. They are results of scalar code, which has only element types.
    fn new(op: RawAccOp, sh: &ShapeTy<Sh>, t: &Ty<T>, at: Src) -> Self {
        acc(AForm::Op(op), Ty::arr(sh, &ElementTy(t.clone())), at)
    }
    pub fn generate(t: &ShapeTy<Sh>, sh: &Exp<HNil, A, Sh>, f: &Fun1<A, Sh, T>, at: Src) -> Self {
        Self::new(RawAccOp::Generate { sh: sh.relabel(), f: f.relabel() }, t, f.0.ty(), at)
    }
    pub fn map<P>(f: &Fun1<A, P, T>, a: &Acc<A, Arr<Sh, P>>, at: Src) -> Self {
        Self::new(RawAccOp::Map { f: f.relabel(), a: a.relabel() }, &a.sh_elt().0, f.0.ty(), at)
    }
    pub fn agree<L, M>(
        agreement: Agreement,
        user: &'static str,
        left: &Exp<HNil, A, L>,
        right: &Exp<HNil, A, M>,
        a: &Self,
        at: Src,
    ) -> Self {
        let op = RawAccOp::Agree { agreement, user, left: left.relabel(), right: right.relabel(), a: a.relabel() };
        acc(AForm::Op(op), a.ty.clone(), at)
    }
    pub fn zip_with<P, Q>(f: &Fun2<A, P, Q, T>, a: &Acc<A, Arr<Sh, P>>, b: &Acc<A, Arr<Sh, Q>>, at: Src) -> Self {
        let op = RawAccOp::ZipWith { f: f.relabel(), a: a.relabel(), b: b.relabel() };
        Self::new(op, &a.sh_elt().0, f.0.ty(), at)
    }
    pub fn fold(f: &Fun2<A, T, T, T>, z: &Exp<HNil, A, T>, a: &Acc<A, Arr<(Sh, i64), T>>, at: Src) -> Self {
        let op = RawAccOp::Fold { f: f.relabel(), z: z.relabel(), a: a.relabel() };
        Self::new(op, &a.sh_elt().0.outer(), z.ty(), at)
    }
    pub fn fold1(f: &Fun2<A, T, T, T>, a: &Acc<A, Arr<(Sh, i64), T>>, at: Src) -> Self {
        let (sh, t) = a.sh_elt();
        Self::new(RawAccOp::Fold1 { f: f.relabel(), a: a.relabel() }, &sh.outer(), &t, at)
    }
    pub fn permute<Sh2>(
        comb: &Fun2<A, T, T, T>,
        defaults: &Acc<A, Arr<Sh, T>>,
        index: &Fun1<A, Sh2, (bool, Sh)>,
        a: &Acc<A, Arr<Sh2, T>>,
        at: Src,
    ) -> Self {
        let op = RawAccOp::Permute {
            comb: comb.relabel(),
            defaults: defaults.relabel(),
            index: index.relabel(),
            a: a.relabel(),
        };
        acc(AForm::Op(op), defaults.ty.clone(), at)
    }
    pub fn backpermute<Sh2>(
        t: &ShapeTy<Sh>,
        sh: &Exp<HNil, A, Sh>,
        f: &Fun1<A, Sh, Sh2>,
        a: &Acc<A, Arr<Sh2, T>>,
        at: Src,
    ) -> Self {
        let op = RawAccOp::Backpermute { sh: sh.relabel(), f: f.relabel(), a: a.relabel() };
        Self::new(op, t, &a.sh_elt().1, at)
    }
    pub fn reshape<Sh2>(t: &ShapeTy<Sh>, sh: &Exp<HNil, A, Sh>, a: &Acc<A, Arr<Sh2, T>>, at: Src) -> Self {
        Self::new(RawAccOp::Reshape { sh: sh.relabel(), a: a.relabel() }, t, &a.sh_elt().1, at)
    }
    pub fn replicate<Slx, Co>(
        spec: &SliceSpec<Slx, Co, Sh>,
        slx: &Exp<HNil, A, Slx>,
        a: &Acc<A, Arr<Co, T>>,
        at: Src,
    ) -> Self {
        let op = RawAccOp::Replicate { spec: spec.relabel(), slx: slx.relabel(), a: a.relabel() };
        Self::new(op, &spec.large(), &a.sh_elt().1, at)
    }
    pub fn slice<Slx, Full>(
        spec: &SliceSpec<Slx, Sh, Full>,
        slx: &Exp<HNil, A, Slx>,
        a: &Acc<A, Arr<Full, T>>,
        at: Src,
    ) -> Self {
        let op = RawAccOp::Slice { spec: spec.relabel(), slx: slx.relabel(), a: a.relabel() };
        Self::new(op, &spec.small(), &a.sh_elt().1, at)
    }
}

#[allow(missing_docs)]
impl<A, Sh, T> Acc<A, Arr<(Sh, i64), T>> {
    pub fn scan(dir: Dir, f: &Fun2<A, T, T, T>, z: &Exp<HNil, A, T>, a: &Self, at: Src) -> Self {
        let op = RawAccOp::Scan { dir, f: f.relabel(), z: z.relabel(), a: a.relabel() };
        acc(AForm::Op(op), a.ty.clone(), at)
    }
    pub fn scan1(dir: Dir, f: &Fun2<A, T, T, T>, a: &Self, at: Src) -> Self {
        acc(AForm::Op(RawAccOp::Scan1 { dir, f: f.relabel(), a: a.relabel() }), a.ty.clone(), at)
    }
}

#[allow(missing_docs)]
impl<A, Sh> Acc<A, Arr<(Sh, i64), i64>> {
    pub fn argsort<K>(key: ScalarTy<K>, a: &Acc<A, Arr<(Sh, i64), K>>, at: Src) -> Self {
        let op = RawAccOp::Argsort { key: key.relabel(), a: a.relabel() };
        Self::new(op, &a.sh_elt().0, &Ty::of(), at)
    }
}

#[allow(missing_docs)]
impl<A, R> Acc<A, R> {
    pub fn foreign<Sh, P>(
        f: &ForeignCall,
        sh: &Exp<HNil, A, Sh>,
        a: &Acc<A, P>,
        result: &ArraysTy<R>,
        at: Src,
    ) -> Self {
        let op = RawAccOp::Foreign { f: f.clone(), sh: sh.relabel(), a: a.relabel() };
        acc(AForm::Op(op), result.clone().ty(), at)
    }
}

/// Array computations as entries of a table.
pub struct AccF<A>(PhantomData<A>);
impl<A> seal::Family for AccF<A> {}
impl<A, A2> seal::Move<A, A2> for AccF<A> {}
impl<A> Family for AccF<A> {
    type At<T> = Acc<A, T>;
    #[allow(private_interfaces)]
    type Raw = ErasedAcc;
    #[allow(private_interfaces)]
    fn raw<T>(x: &Acc<A, T>, _: Key) -> ErasedAcc {
        ErasedAcc(x.relabel())
    }
    #[allow(private_interfaces)]
    fn unraw<T>(r: &ErasedAcc, th: &RawThinnings, _: Key) -> Acc<A, T> {
        r.0.thin(&th.e)
    }
}
impl<A, A2> Weaken<A, A2> for AccF<A> {
    type To = AccF<A2>;
}
/// An array computation without type parameters.
#[derive(Clone)]
pub struct ErasedAcc(Ac);
