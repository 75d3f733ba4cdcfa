//! Representation types: element and array types after records and tuples are replaced by pairs.

use super::{ScalarType, Two};
use crate::ast::deep;
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// A representation type. Elements are built from unit, scalars and pairs. Shapes are `()` or `(shape, i64)`. Tuples of
/// arrays are built from arrays, unit and pairs. Inside scalar code, there are lists of scalars, too.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub enum RawTy {
    /// The empty tuple, also the shape of a scalar array.
    #[default]
    Unit,
    /// One scalar.
    Scalar(ScalarType),
    /// A pair of elements, of a shape and an extent, or of array tuples.
    Pair(Arc<Two<RawTy>>),
    /// An array: shape and element type.
    Array(Arc<Two<RawTy>>),
    /// A private list of scalars, which only loops in scalar code make and read.
    List(ScalarType),
}

impl RawTy {
    /// The pair type of `a` and `b`.
    pub fn pair(a: RawTy, b: RawTy) -> RawTy {
        RawTy::Pair(Arc::new(Two(a, b)))
    }

    /// The type of arrays of shape `sh` and elements `t`.
    pub fn array(sh: RawTy, t: RawTy) -> RawTy {
        RawTy::Array(Arc::new(Two(sh, t)))
    }

    /// The shape type of rank `rank`.
    pub fn shape(rank: usize) -> RawTy {
        (0..rank).fold(RawTy::Unit, |sh, _| RawTy::pair(sh, RawTy::Scalar(ScalarType::I64)))
    }

    /// The arrays of a tuple of arrays, from left to right: of each, the rank and the columns.
    pub fn arrays(&self) -> Vec<(usize, Vec<ScalarType>)> {
        match self {
            RawTy::Unit | RawTy::Scalar(_) | RawTy::List(_) => vec![],
            RawTy::Pair(p) => deep(|| [p.0.arrays(), p.1.arrays()].concat()),
            RawTy::Array(p) => vec![(p.0.width(), p.1.leaves().to_vec())],
        }
    }

    /// The scalar leaves from left to right; an array or a list has the leaves of its elements.
    pub fn leaves(&self) -> SmallVec<[ScalarType; 8]> {
        fn go(t: &RawTy, out: &mut SmallVec<[ScalarType; 8]>) {
            match t {
                RawTy::Unit => {}
                RawTy::Scalar(s) | RawTy::List(s) => out.push(*s),
                RawTy::Pair(p) => deep(|| {
                    go(&p.0, out);
                    go(&p.1, out);
                }),
                RawTy::Array(p) => go(&p.1, out),
            }
        }
        let mut out = SmallVec::new();
        go(self, &mut out);
        out
    }

    /// Whether this is an element type: built from unit, scalars and pairs.
    pub fn is_element(&self) -> bool {
        match self {
            RawTy::Unit | RawTy::Scalar(_) => true,
            RawTy::Pair(p) => deep(|| p.0.is_element() && p.1.is_element()),
            RawTy::Array(_) | RawTy::List(_) => false,
        }
    }

    /// Whether this is a shape type: `()` or `(shape, i64)`.
    pub fn is_shape(&self) -> bool {
        let mut sh = self;
        while let RawTy::Pair(p) = sh
            && p.1 == RawTy::Scalar(ScalarType::I64)
        {
            sh = &p.0;
        }
        *sh == RawTy::Unit
    }

    /// Whether this is an array type or a tuple of array types: built from unit, arrays (elements with a shape) and
    /// pairs.
    pub fn is_array_tuple(&self) -> bool {
        match self {
            RawTy::Unit => true,
            RawTy::Scalar(_) | RawTy::List(_) => false,
            RawTy::Pair(p) => deep(|| p.0.is_array_tuple() && p.1.is_array_tuple()),
            RawTy::Array(p) => p.0.is_shape() && p.1.is_element(),
        }
    }

    /// The number of scalars in a value of this element type.
    pub fn width(&self) -> usize {
        match self {
            RawTy::Unit => 0,
            RawTy::Scalar(_) | RawTy::List(_) => 1,
            RawTy::Pair(p) => deep(|| p.0.width() + p.1.width()),
            RawTy::Array(p) => p.1.width(),
        }
    }
}

impl fmt::Display for RawTy {
    /// `f64`, `(f64, i64)`, `Array2<f64>`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RawTy::Unit => write!(f, "()"),
            RawTy::Scalar(s) => write!(f, "{s}"),
            RawTy::Pair(p) => deep(|| write!(f, "({}, {})", p.0, p.1)),
            RawTy::Array(p) => write!(f, "Array{}<{}>", p.0.width(), p.1),
            RawTy::List(s) => write!(f, "List<{s}>"),
        }
    }
}
