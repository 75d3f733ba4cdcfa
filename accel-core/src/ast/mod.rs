//! The typed syntax tree.
//!
//! This is the trusted module, in the style of an LCF kernel: terms carry phantom type indices over private erased nodes.
//! Private fields, equality axioms and relabelling live here and nowhere else; every transformation is written outside, against
//! typed constructors and `view`, and is checked by rustc. See NOTE \[Names\], NOTE \[Suspended thinnings\], NOTE
//! \[Telescopes\].

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
    Arr, FloatTy, IntTy, NumTy, Repr, ScalarTy, Tan, Ty, TyView, eq_tan, tan_arr, tan_float, tan_pair, tan_ty, tan_unit,
};
pub use value::{Literal, Value, conforms};
