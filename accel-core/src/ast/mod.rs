//! The typed syntax tree: array computations, scalar expressions and their type parameters.
//!
//! This is the trusted module, in the style of an LCF kernel: terms are erased nodes with phantom type parameters.
//! Private fields, equality axioms and relabelling exist only here. Every transformation is written outside, with typed
//! constructors and `view`, and rustc checks it. See NOTE \[Names\], NOTE \[Suspended thinnings\], NOTE \[Telescopes\],
//! and the glossary of the book: environment, thinning, telescope, witness.
//!
//! NOTE \[What the kernel guarantees\]: safe Rust outside of this module, in this crate or in another one, can build
//! only terms that have the types of their type parameters.
//!
//! - *Types.* `Equal<A, B>` exists only where `A` and `B` stand for the same type. A variable `Idx<E, T>` is in scope
//!   in `E` and has type `T`; the run-time types `Ty<T>` of one `T` are all equal, those of different types differ.
//! - *Kinds.* A `Ty<Arr<Sh, T>>` has a shape type and an element type. An expression without free scalar variables has
//!   an element type, or it is (a tuple with) a private list, NOTE \[Loops and lists\]; an array operation whose scalar
//!   code returns a list can be written, and lint reports it. An array computation without free variables has an array
//!   type, and so do the argument and the result of every `Program`. Open terms over variables of another kind can be
//!   written (a variable of array type in scalar code, say), but nothing can close them: every binder takes its type
//!   from a term, from the elements or the shape of an array, or from a [`ShapeTy`] or [`ArraysTy`], the proofs that
//!   constructors require where a type comes from elsewhere. A `Ty` of a pair of an element and an array can be made,
//!   but no closed term has this type.
//! - *To whom.* Authors of passes, in this crate and in others: a pass that compiles preserves types, scopes and kinds.
//!   The kernel does not guarantee that a pass preserves the *meaning* of a program, nor that it terminates. Users of
//!   the surface write untyped graphs. `elaborate` decides at run time whether a graph has a type and reports an error
//!   otherwise; it returns a tree built with the same typed constructors. This module does not check the values of
//!   programs: extents and indices are checked where programs run.
//! - *What is trusted.* rustc for safe Rust, and the axioms of this module. Equations may make a name stand for an
//!   infinite type (`name` takes any type, even one that mentions the name itself): all axioms also hold for infinite
//!   types. All code that says `axiom` or `relabel`, or builds an erased node, is in this folder and is not visible
//!   outside. The traits that lead to such code ([`Repr`] and its kinds, [`Family`], [`Weaken`], `ScalarElt`) are sealed,
//!   also for pairs and arrays of foreign types. [`ExpMap`], [`AccMap`] and [`ExpTransform`] are open to everybody:
//!   they take and return only typed terms.
//! - *How it is tested.* `tests/compile-fail` contains the known attacks (`forged_*`, `kind_*`) and mutants of correct
//!   passes; rustc rejects all of them. [`lint()`](fn@lint) recomputes types, scopes and kinds of all nodes after every
//!   pass in debug builds. Its own tests break one node for each of its checks.

pub mod acc;
pub mod adjoint;
pub mod custom;
pub mod dir;
pub mod env;
pub mod exp;
mod free;
pub mod lint;
pub mod names;
pub mod prim;
pub mod program;
pub mod slice;
pub mod tele;
mod thin;
pub mod transform;
pub mod ty;
pub mod value;

pub use acc::{ACC_OPS, ALoop, AWhileView, Acc, AccF, AccMap, AccOp, AccView, AccVisit, Detail, Trips};
pub use adjoint::{Contributions, SparseTangent, SparseTangentView, TanF};
pub use custom::{Custom, CustomExp, CustomExpView, CustomView, Linearised, linearised};
pub use dir::Dir;
pub use env::{ConstF, Env, EnvView, Family, Idx, IdxF, Renaming, Size, SomeIdx, Thinning, UnitF, Weaken};
pub use exp::{
    Accumulator, Exp, ExpF, ExpMap, ExpOp, ExpTrips, ExpView, ExpVisit, Fun1, Fun2, LoopView, Role, Source, Src,
    WhileView,
};
pub use lint::{lint, lint_acc, lint_exp};
pub use names::{
    Equal, Guard, Name, V, W, X, Y, Z, eq_cons, eq_pair, fresh1, fresh2, fresh3, fresh4, fresh5, fresh6, fresh8,
    fresh12, name,
};
pub use prim::{Prim1, Prim2};
pub use program::{Opened, Program};
pub use slice::{SliceSpec, SliceView};
pub use tele::{ATele, ATeleView, Sites, SitesView, Tele, TeleView, VarTuple, VarTupleView};
pub use thin::{deep, steps};
pub use transform::{ExpRule, ExpTransform, Rule};
pub use ty::{
    Arr, ArraysRepr, ArraysTy, Batched, ElementRepr, ElementTy, FloatTy, IntTy, List, NumTy, Repr, ScalarTy, ShapeRepr,
    ShapeTy, Tan, Ty, TyView, batched_pair, batched_ty, batched_unit, eq_arr, eq_batched, eq_list, eq_tan, list_pair,
    list_ty, list_unit, row_ty, rows_of, tan_arr, tan_batched, tan_element, tan_float, tan_list, tan_pair, tan_ty,
    tan_unit,
};
pub use value::{Literal, Value, conforms};
