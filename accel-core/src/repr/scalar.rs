//! Scalar types and scalar values.

use smallvec::SmallVec;
use std::fmt;
use std::hash::{Hash, Hasher};

macro_rules! scalars {
    ($($variant:ident $rust:ty),* $(,)?) => {
        /// The scalar types of the language.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum ScalarType { $(#[doc = concat!("`", stringify!($rust), "`")] $variant),* }

        /// A scalar value. In memory it is one word for the type, and the value at byte 8, where compiled code can find
        /// it.
        // One byte would be enough for the type. But a reader of the whole word would then have to wait until the byte
        // is stored: a `SmallVec` always reads its first word. This took half of the time of a call with numbers.
        #[derive(Clone, Copy, Debug)]
        #[repr(C, u64)]
        pub enum Scalar { $(#[doc = concat!("A value of type `", stringify!($rust), "`")] $variant($rust)),* }

        impl Scalar {
            /// The type of the value.
            pub fn ty(self) -> ScalarType {
                match self { $(Scalar::$variant(_) => ScalarType::$variant),* }
            }
        }

        impl ScalarType {
            /// All of them.
            pub const ALL: [ScalarType; [$(stringify!($variant)),*].len()] = [$(ScalarType::$variant),*];
        }

        impl fmt::Display for ScalarType {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(ScalarType::$variant => f.write_str(stringify!($rust))),* }
            }
        }

        /// Rust types that are scalars of the language. The trait is sealed, because constants of the typed tree get
        /// their type from it.
        pub trait ScalarElt: seal::Sealed + Copy + PartialEq + fmt::Debug + fmt::Display + Send + Sync + 'static {
            /// The type in the untyped representation.
            const SCALAR: ScalarType;
            /// Wraps a value.
            fn to_scalar(self) -> Scalar;
            /// Unwraps a value; `None` if it has another type.
            fn from_scalar(s: Scalar) -> Option<Self>;
        }
        mod seal {
            pub trait Sealed {}
            $(impl Sealed for $rust {})*
        }
        $(impl ScalarElt for $rust {
            const SCALAR: ScalarType = ScalarType::$variant;
            #[inline]
            fn to_scalar(self) -> Scalar { Scalar::$variant(self) }
            #[inline]
            fn from_scalar(s: Scalar) -> Option<Self> {
                match s { Scalar::$variant(x) => Some(x), _ => None }
            }
        })*
    };
}

scalars!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64);

/// A list of scalars; a few need no heap memory.
pub type Scalars = SmallVec<[Scalar; 8]>;

impl PartialEq for Scalar {
    /// Whether type and bits are the same: two NaNs with equal bits are equal, `0.0` and `-0.0` are not.
    fn eq(&self, other: &Scalar) -> bool {
        self.ty() == other.ty() && self.bits() == other.bits()
    }
}
impl Eq for Scalar {}
impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.ty(), self.bits()).hash(state);
    }
}

impl Scalar {
    /// The bits. Those of integers and booleans are extended to 64 bits, with their sign if they have one.
    pub fn bits(self) -> u64 {
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
            Scalar::F32(x) => x.to_bits().into(),
            Scalar::F64(x) => x.to_bits(),
        }
    }

    /// The value of a floating-point number; `None` for other scalars.
    pub fn float(self) -> Option<f64> {
        match self {
            Scalar::F32(x) => Some(x.into()),
            Scalar::F64(x) => Some(x),
            _ => None,
        }
    }

    /// The value of type `t` with these [`bits`](Self::bits); `None` if there is none.
    pub fn from_bits(t: ScalarType, bits: u64) -> Option<Scalar> {
        let x = match t {
            ScalarType::Bool => Scalar::Bool(bits == 1),
            ScalarType::I8 => Scalar::I8(bits as i8),
            ScalarType::I16 => Scalar::I16(bits as i16),
            ScalarType::I32 => Scalar::I32(bits as i32),
            ScalarType::I64 => Scalar::I64(bits as i64),
            ScalarType::U8 => Scalar::U8(bits as u8),
            ScalarType::U16 => Scalar::U16(bits as u16),
            ScalarType::U32 => Scalar::U32(bits as u32),
            ScalarType::U64 => Scalar::U64(bits),
            ScalarType::F32 => Scalar::F32(f32::from_bits(bits as u32)),
            ScalarType::F64 => Scalar::F64(f64::from_bits(bits)),
        };
        (x.bits() == bits).then_some(x)
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

    /// Zero; `false` for `bool`.
    pub fn zero(self) -> Scalar {
        self.from_f64(0.0)
    }

    /// One; `true` for `bool`.
    pub fn one(self) -> Scalar {
        self.from_f64(1.0)
    }

    /// Converts `x` to this type like Rust's `as`: rounds to `f32`, truncates and saturates to an integer (0 for NaN);
    /// for `bool` it is `x != 0`.
    #[allow(clippy::wrong_self_convention)] // the type is the receiver
    pub fn from_f64(self, x: f64) -> Scalar {
        match self {
            ScalarType::Bool => Scalar::Bool(x != 0.0),
            ScalarType::I8 => Scalar::I8(x as i8),
            ScalarType::I16 => Scalar::I16(x as i16),
            ScalarType::I32 => Scalar::I32(x as i32),
            ScalarType::I64 => Scalar::I64(x as i64),
            ScalarType::U8 => Scalar::U8(x as u8),
            ScalarType::U16 => Scalar::U16(x as u16),
            ScalarType::U32 => Scalar::U32(x as u32),
            ScalarType::U64 => Scalar::U64(x as u64),
            ScalarType::F32 => Scalar::F32(x as f32),
            ScalarType::F64 => Scalar::F64(x),
        }
    }

    /// The smallest value, minus infinity for floating-point types: the neutral element of the maximum.
    pub fn least(self) -> Scalar {
        match self {
            ScalarType::Bool => Scalar::Bool(false),
            _ => self.from_f64(f64::NEG_INFINITY),
        }
    }

    /// The largest value, infinity for floating-point types: the neutral element of the minimum.
    pub fn greatest(self) -> Scalar {
        self.from_f64(f64::INFINITY)
    }
}
