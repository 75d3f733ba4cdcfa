//! The types of random programs, as data.

use accel::repr::{Column, RawArray, RawTy, Scalar, ScalarType};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The types of scalars with their names in Rust.
macro_rules! prims {
    ($($variant:ident $rust:ident $text:literal),*) => {
        /// A scalar type.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        pub enum Prim { $(#[serde(rename = $text)] $variant),* }

        impl Prim {
            pub const ALL: [Prim; 11] = [$(Prim::$variant),*];
            pub fn ty(self) -> ScalarType {
                match self { $(Prim::$variant => ScalarType::$variant),* }
            }
            pub fn of(ty: ScalarType) -> Prim {
                match ty { $(ScalarType::$variant => Prim::$variant),* }
            }
            /// Parses a value.
            fn parse(self, text: &str) -> Option<Scalar> {
                match self { $(Prim::$variant => text.parse().ok().map(Scalar::$variant)),* }
            }
        }

        /// A value in Rust's notation, without its type.
        fn text(x: Scalar) -> String {
            match x { $(Scalar::$variant(x) => format!("{x:?}")),* }
        }
    };
}
prims!(Bool bool "bool", I8 i8 "i8", I16 i16 "i16", I32 i32 "i32", I64 i64 "i64", U8 u8 "u8", U16 u16 "u16", U32 u32 "u32",
    U64 u64 "u64", F32 f32 "f32", F64 f64 "f64");

impl Prim {
    pub fn is_float(self) -> bool {
        self.ty().is_float()
    }
    pub fn is_num(self) -> bool {
        self.ty().is_num()
    }
    /// The number of bits of a value.
    pub fn bits(self) -> u32 {
        match self {
            Prim::Bool => 1,
            Prim::I8 | Prim::U8 => 8,
            Prim::I16 | Prim::U16 => 16,
            Prim::I32 | Prim::U32 | Prim::F32 => 32,
            Prim::I64 | Prim::U64 | Prim::F64 => 64,
        }
    }
}

impl fmt::Display for Prim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ty())
    }
}

/// A scalar value; in files, `"f64 -0.5"`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Number(pub Scalar);

impl Number {
    pub fn prim(self) -> Prim {
        Prim::of(self.0.ty())
    }
    /// As a literal of Rust.
    pub fn rust(self) -> String {
        let (ty, text) = (self.0.ty(), text(self.0));
        match text.as_str() {
            "NaN" => format!("{ty}::NAN"),
            "inf" => format!("{ty}::INFINITY"),
            "-inf" => format!("{ty}::NEG_INFINITY"),
            _ if ty == ScalarType::Bool => text,
            _ => format!("{text}{ty}"),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&format!("{} {}", self.0.ty(), text(self.0)))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Number, D::Error> {
        let text = String::deserialize(d)?;
        let number = text.split_once(' ').and_then(|(ty, x)| {
            let prim = Prim::ALL.into_iter().find(|p| p.to_string() == ty)?;
            prim.parse(x).map(Number)
        });
        number.ok_or_else(|| serde::de::Error::custom(format!("not a number: {text}")))
    }
}

/// The type of an element: a scalar, or a tuple of two to four.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Elem {
    One(Prim),
    Tuple(Vec<Elem>),
}

impl Elem {
    pub const BOOL: Elem = Elem::One(Prim::Bool);
    pub const I64: Elem = Elem::One(Prim::I64);
    pub const F64: Elem = Elem::One(Prim::F64);

    pub fn raw(&self) -> RawTy {
        match self {
            Elem::One(p) => RawTy::Scalar(p.ty()),
            Elem::Tuple(parts) => parts.iter().map(Elem::raw).reduce(RawTy::pair).unwrap_or(RawTy::Unit),
        }
    }
    /// The scalars that an element consists of.
    pub fn leaves(&self) -> Vec<Prim> {
        match self {
            Elem::One(p) => vec![*p],
            Elem::Tuple(parts) => parts.iter().flat_map(Elem::leaves).collect(),
        }
    }
    pub fn prim(&self) -> Option<Prim> {
        match self {
            Elem::One(p) => Some(*p),
            Elem::Tuple(_) => None,
        }
    }
    pub fn zero(&self) -> Vec<Number> {
        self.leaves().into_iter().map(|p| Number(p.ty().zero())).collect()
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elem::One(p) => write!(f, "{p}"),
            Elem::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(Elem::to_string).collect();
                write!(f, "({})", parts.join(", "))
            }
        }
    }
}

/// The type of an array.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ty {
    pub rank: usize,
    pub elem: Elem,
}

impl Ty {
    pub fn new(rank: usize, elem: Elem) -> Ty {
        Ty { rank, elem }
    }
    pub fn has_floats(&self) -> bool {
        self.elem.leaves().iter().any(|p| p.is_float())
    }
    pub fn raw(&self) -> RawTy {
        RawTy::array(RawTy::shape(self.rank), self.elem.raw())
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Array<Dim{}, {}>", self.rank, self.elem)
    }
}

/// The elements of an array.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Data {
    /// One column for each scalar of an element.
    Listed(Vec<Vec<Number>>),
    /// Generated from a seed, by [`made`](super::data::made).
    Made { seed: u64, kind: Kind },
}

/// The kind of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// Small numbers: from 0, or slightly below, to 20.
    Small,
    /// From -2 to 2 with many digits; integers of all sizes.
    Spread,
    /// Special values, among others: the largest, the smallest, zeros, NaN, infinities.
    Special,
}

/// An array of the host.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Given {
    pub elem: Elem,
    pub extents: Vec<usize>,
    pub data: Data,
}

impl Given {
    pub fn ty(&self) -> Ty {
        Ty::new(self.extents.len(), self.elem.clone())
    }
    pub fn size(&self) -> usize {
        self.extents.iter().product()
    }
    /// The array.
    pub fn raw(&self) -> RawArray {
        let prims = self.elem.leaves();
        let columns = prims.iter().enumerate().map(|(k, p)| match &self.data {
            Data::Listed(columns) => column(*p, columns[k].iter().map(|x| x.0)),
            Data::Made { seed, kind } => super::data::made(*p, *kind, seed.wrapping_add(k as u64), self.size()),
        });
        RawArray { extents: self.extents.iter().copied().collect(), columns: columns.collect() }
    }
    /// The array with its elements listed.
    pub fn listed(ty: &Ty, a: &RawArray) -> Given {
        let list = |c: &Column| (0..c.len()).filter_map(|i| c.get(i)).map(Number).collect();
        let columns = a.columns.iter().map(list).collect();
        Given { elem: ty.elem.clone(), extents: a.extents.to_vec(), data: Data::Listed(columns) }
    }
}

/// A column of these scalars.
pub fn column(p: Prim, xs: impl Iterator<Item = Scalar>) -> Column {
    let mut c = Column::with_capacity(p.ty(), 0);
    for x in xs {
        assert!(c.push(x), "{x:?} is no {p}");
    }
    c
}
