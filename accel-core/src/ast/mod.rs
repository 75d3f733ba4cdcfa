//! The typed syntax tree.
//!
//! This is the trusted module, in the style of an LCF kernel: terms carry phantom type indices over private erased nodes.
//! Private fields, equality axioms and relabelling live here and nowhere else; every transformation is written outside, against
//! typed constructors and `view`, and is checked by rustc. See NOTE \[Names\], NOTE \[Suspended thinnings\], NOTE
//! \[Telescopes\].
//!
//! NOTE \[What the kernel guarantees\]: whoever writes safe Rust outside of this module, in this crate or in another one, can make only
//! terms that have the types of their indices.
//!
//! - *Types.* `Equal<A, B>` exists only where `A` and `B` stand for the same type. A variable `Idx<E, T>` is in scope in `E` and has type
//!   `T`; the run-time types `Ty<T>` of one `T` are all equal, those of different types differ.
//! - *Kinds.* A `Ty<Arr<Sh, T>>` has a shape and elements. An expression without free scalar variables has an element type, an array
//!   computation without free variables has arrays as its type, and so do argument and result of every `Program`. Open terms over
//!   variables of another kind can be written down (a variable of array type in scalar code, say), but nothing closes them: every binder
//!   takes its type from a term, from the elements or the shape of an array, or from a [`ShapeTy`] or [`ArraysTy`], the proofs that
//!   constructors ask for where a type comes from elsewhere. A `Ty` of a pair of an element and an array can be made; no closed term has it.
//! - *To whom.* Authors of passes, here and in foreign crates: a pass that compiles keeps types, scopes and kinds. That it also keeps the
//!   *meaning* is not guaranteed, nor that it ends. Users of the surface write untyped graphs; `elaborate` decides at run time whether a
//!   graph has a type and reports an error otherwise, and what it returns is typed by the same constructors. Values of programs
//!   are no concern of this module: extents and indices are checked where programs run.
//! - *What is believed.* rustc, in safe code, and that the axioms of this module hold. Equations may make a name stand for an infinite type
//!   (`name` takes any type, also one that mentions the name itself): in infinite types all axioms hold as well. All code that says
//!   `axiom`, `relabel`, or builds an erased node is in this folder, and its visibility ends here. The traits that lead to such code
//!   ([`Repr`] and its kinds, [`Fam`], [`Weaken`], `ScalarElt`) are sealed for themselves and for pairs and arrays of foreign types;
//!   [`ExpMap`], [`AccMap`] and [`ExpTransform`] are for everybody: they get and give typed terms only.
//! - *How it is tested.* `tests/compile-fail` has the known attacks (`forged_*`, `kind_*`) and mutants of right passes, which
//!   rustc rejects. [`lint()`](fn@lint) recomputes types, scopes and kinds of all nodes after every pass in debug builds, and its own tests
//!   break a node for each of its checks.

pub mod acc;
pub mod adjoint;
pub mod env;
pub mod exp;
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

pub use acc::{AWhileView, Acc, AccF, AccMap, AccOp, AccView, Dir};
pub use adjoint::{Contributions, Part, PartView, TanF};
pub use env::{ConstF, Env, EnvView, Fam, Idx, IdxF, Ren, Size, SomeIdx, UnitF, Weaken};
pub use exp::{Exp, ExpF, ExpMap, ExpOp, ExpView, Fun1, Fun2, Src, WhileView};
pub use lint::{lint, lint_acc, lint_exp};
pub use names::{
    Equal, Guard, Name, W, X, Y, Z, eq_arr, eq_cons, eq_pair, fresh1, fresh2, fresh3, fresh4, fresh5, fresh6, fresh8,
    fresh12, name,
};
pub use prim::{Prim1, Prim2};
pub use program::{Opened, Program};
pub use slice::{SliceSpec, SliceView};
pub use tele::{ATele, ATeleView, Sites, SitesView, Tele, TeleView, VarTuple, VarTupleView};
pub use thin::deep;
pub use transform::ExpTransform;
pub use ty::{
    Arr, ArraysRepr, ArraysTy, ElementRepr, ElementTy, FloatTy, IntTy, NumTy, Repr, ScalarTy, ShapeRepr, ShapeTy, Tan,
    Ty, TyView, eq_tan, tan_arr, tan_float, tan_pair, tan_ty, tan_unit,
};
pub use value::{Literal, Value, conforms};
