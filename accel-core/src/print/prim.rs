//! The notation and precedence of primitive functions, and the printing of constants.

use crate::ast::deep;
use crate::repr::op::{Int1, Int2, Logic, Num1, Num2, Op1, Op2};
use crate::repr::{ArrayTuple, RawTy, Scalar};

/// The precedence of an operator, in the order of Rust.
pub(super) type Prec = u8;
/// Definitions, functions and conditionals: they extend as far to the right as possible.
pub(super) const LOW: Prec = 0;
/// `x as f32`
pub(super) const AS: Prec = 10;
/// `-x`
pub(super) const UNARY: Prec = 11;
/// `sin x`
pub(super) const APPLY: Prec = 12;
/// Arguments: variables, constants, components of pairs, anything in brackets.
pub(super) const ATOM: Prec = 13;

/// The notation of a function of one argument.
pub(super) enum Style1 {
    /// `-x`
    Prefix(&'static str),
    /// `sin x`
    Function(String),
    /// `x as f32`
    As(String),
}

/// The notation of a function of two arguments, with its name.
pub(super) enum Style2 {
    /// `x + y`, and so `x + y + z`
    Infix(Prec),
    /// `x < y`, and `(x < y) < z`
    Compare(Prec),
    /// `min x y`
    Function,
}

pub(super) fn style1(op: Op1) -> Style1 {
    match op {
        Op1::Num(Num1::Neg) => Style1::Prefix("-"),
        Op1::Int(Int1::BitNot) | Op1::Not => Style1::Prefix("!"),
        Op1::Cast(t) => Style1::As(t.to_string()),
        op => Style1::Function(op.to_string()),
    }
}

pub(super) fn style2(op: Op2) -> Style2 {
    match op {
        Op2::Logic(Logic::Or) => Style2::Infix(1),
        Op2::Logic(Logic::And) => Style2::Infix(2),
        Op2::Cmp(_) => Style2::Compare(3),
        Op2::Int(Int2::Or) => Style2::Infix(4),
        Op2::Int(Int2::Xor) => Style2::Infix(5),
        Op2::Int(Int2::And) => Style2::Infix(6),
        Op2::Int(Int2::Shl | Int2::Shr) => Style2::Infix(7),
        Op2::Num(Num2::Add | Num2::Sub) => Style2::Infix(8),
        Op2::Num(Num2::Mul | Num2::Div | Num2::Rem) => Style2::Infix(9),
        Op2::Num(Num2::Min | Num2::Max) | Op2::Int(Int2::DivEuclid | Int2::RemEuclid) | Op2::Float(_) => {
            Style2::Function
        }
    }
}

/// Prints a scalar constant. The type is omitted for `f64`, `i64` and `bool`.
pub(super) fn scalar(x: Scalar) -> String {
    match x {
        Scalar::Bool(x) => x.to_string(),
        Scalar::I64(x) => x.to_string(),
        Scalar::F64(x) => format!("{x:?}"),
        Scalar::F32(x) => format!("{x:?}f32"),
        Scalar::I8(x) => format!("{x}i8"),
        Scalar::I16(x) => format!("{x}i16"),
        Scalar::I32(x) => format!("{x}i32"),
        Scalar::U8(x) => format!("{x}u8"),
        Scalar::U16(x) => format!("{x}u16"),
        Scalar::U32(x) => format!("{x}u32"),
        Scalar::U64(x) => format!("{x}u64"),
    }
}

/// Prints a constant of type `t` with the given leaves; `?` for a missing leaf, which happens only in a broken tree.
pub(super) fn constant(t: &RawTy, leaves: &mut impl Iterator<Item = Scalar>) -> String {
    let mut text = String::new();
    write_constant(t, leaves, &mut text);
    text
}

fn write_constant(t: &RawTy, leaves: &mut impl Iterator<Item = Scalar>, out: &mut String) {
    let mut leaf = || leaves.next().map_or("?".into(), scalar);
    match t {
        _ if is_shape(t) && *t != RawTy::Unit => {
            let dims: Vec<String> = (0..t.width()).map(|_| leaf()).collect();
            out.push_str(&format!("[{}]", dims.join(", ")));
        }
        RawTy::Unit => out.push_str("()"),
        RawTy::Scalar(_) => out.push_str(&leaf()),
        RawTy::Pair(p) => deep(|| {
            out.push('(');
            write_constant(&p.0, leaves, out);
            out.push_str(", ");
            write_constant(&p.1, leaves, out);
            out.push(')');
        }),
        RawTy::Array(_) | RawTy::List(_) => out.push('?'),
    }
}

/// Whether a type is a shape type: `((), i64)` and so on. The function looks at a limited number of dimensions, more
/// than any array has, so it takes the same time for every tuple.
pub(super) fn is_shape(t: &RawTy) -> bool {
    const MAX_RANK: usize = 16;
    let mut t = t;
    for _ in 0..=MAX_RANK {
        match t {
            RawTy::Unit => return true,
            RawTy::Pair(p) if p.1 == RawTy::Scalar(crate::repr::ScalarType::I64) => t = &p.0,
            _ => return false,
        }
    }
    false
}

/// Prints arrays by type and extents: `Array1<f64>[3]`.
pub(super) fn arrays(a: &ArrayTuple, t: &RawTy) -> String {
    match (a, t) {
        (ArrayTuple::Unit, _) => "()".into(),
        (ArrayTuple::Array(a), t) => format!("{t}{:?}", a.extents),
        (ArrayTuple::Pair(p), RawTy::Pair(t)) => format!("({}, {})", arrays(&p.0, &t.0), arrays(&p.1, &t.1)),
        (ArrayTuple::Pair(p), t) => format!("({}, {})", arrays(&p.0, t), arrays(&p.1, t)),
    }
}
