//! Scalar types and scalar values.

use std::fmt;

macro_rules! scalars {
    ($($variant:ident $rust:ty),* $(,)?) => {
        /// The scalar types of the language.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ScalarType { $(#[doc = concat!("`", stringify!($rust), "`")] $variant),* }

        /// One scalar value.
        #[derive(Clone, Copy, Debug)]
        pub enum Scalar { $(#[doc = concat!("A value of type `", stringify!($rust), "`")] $variant($rust)),* }

        impl Scalar {
            /// The type of the value.
            pub fn ty(self) -> ScalarType {
                match self { $(Scalar::$variant(_) => ScalarType::$variant),* }
            }
        }

        impl fmt::Display for ScalarType {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(ScalarType::$variant => f.write_str(stringify!($rust))),* }
            }
        }

        /// Rust types that are scalars of the language. Sealed by being implemented here for all of them.
        pub trait ScalarElt: Copy + PartialEq + fmt::Debug + fmt::Display + Send + Sync + 'static {
            /// The type's name in the representation.
            const SCALAR: ScalarType;
            /// Wraps a value.
            fn to_scalar(self) -> Scalar;
            /// Unwraps a value; `None` if it has another type.
            fn from_scalar(s: Scalar) -> Option<Self>;
        }
        $(impl ScalarElt for $rust {
            const SCALAR: ScalarType = ScalarType::$variant;
            fn to_scalar(self) -> Scalar { Scalar::$variant(self) }
            fn from_scalar(s: Scalar) -> Option<Self> {
                match s { Scalar::$variant(x) => Some(x), _ => None }
            }
        })*
    };
}
scalars!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64);

impl PartialEq for Scalar {
    /// Same type and same bits: two NaNs with equal bits are equal, `0.0` and `-0.0` are not.
    fn eq(&self, other: &Scalar) -> bool {
        match (self, other) {
            (Scalar::F32(a), Scalar::F32(b)) => a.to_bits() == b.to_bits(),
            (Scalar::F64(a), Scalar::F64(b)) => a.to_bits() == b.to_bits(),
            _ => self.ty() == other.ty() && self.int_bits() == other.int_bits(),
        }
    }
}

impl Scalar {
    /// The bits of an integer or boolean, sign-extended to 64 (0 for floats).
    fn int_bits(self) -> u64 {
        match self {
            Scalar::Bool(x) => x as u64,
            Scalar::I8(x) => x as u64,
            Scalar::I16(x) => x as u64,
            Scalar::I32(x) => x as u64,
            Scalar::I64(x) => x as u64,
            Scalar::U8(x) => x as u64,
            Scalar::U16(x) => x as u64,
            Scalar::U32(x) => x as u64,
            Scalar::U64(x) => x,
            Scalar::F32(_) | Scalar::F64(_) => 0,
        }
    }
}

impl ScalarType {
    /// `f32` and `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, ScalarType::F32 | ScalarType::F64)
    }

    /// Every type but `bool`, `f32` and `f64`.
    pub fn is_integral(self) -> bool {
        !self.is_float() && self != ScalarType::Bool
    }

    /// The integral and the floating-point types.
    pub fn is_num(self) -> bool {
        self != ScalarType::Bool
    }
}

// TEMPORARY until the primitives land.
impl ScalarType {
    /// Zero.
    pub fn zero(self) -> Scalar {
        self.from_f64(0.0)
    }
    /// From float.
    pub fn from_f64(self, x: f64) -> Scalar {
        match self {
            ScalarType::F64 => Scalar::F64(x),
            ScalarType::F32 => Scalar::F32(x as f32),
            ScalarType::I64 => Scalar::I64(x as i64),
            ScalarType::Bool => Scalar::Bool(x != 0.0),
            _ => Scalar::I32(x as i32),
        }
    }
}
