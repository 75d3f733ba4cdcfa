//! The source of numbers: choices of a generator, and the elements of arrays.

use super::types::{Kind, Number, Prim, column};
use accel::repr::{Column, Scalar};

/// A generator of random numbers (splitmix64). Its numbers depend only on its seed, on every machine.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        // Consecutive seeds should give unrelated numbers.
        Random(mix(seed ^ 0x5851_f42d_4c95_7f2d))
    }
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// `n` numbers. The first ones do not depend on `n`.
pub fn made(p: Prim, kind: Kind, seed: u64, n: usize) -> Column {
    let mut r = Random::new(seed);
    column(p, (0..n).map(|_| number(&mut r, p, kind).0))
}

/// A number of a kind.
pub fn number(r: &mut Random, p: Prim, kind: Kind) -> Number {
    let special = match kind {
        Kind::Small => 0,
        Kind::Spread => 3,
        Kind::Special => 40,
    };
    Number(if r.chance(special) {
        extreme(r, p)
    } else if p.is_float() {
        p.ty().from_f64(match kind {
            // Sums and products of such numbers are exact.
            Kind::Small => r.below(81) as f64 / 4.0 - 4.0,
            _ => (r.next() >> 11) as f64 / (1u64 << 51) as f64 - 2.0,
        })
    } else {
        match kind {
            Kind::Small => p.ty().from_f64(r.below(24) as f64 - 3.0),
            _ => {
                let bits = r.below(p.bits() as usize + 1) as u32;
                integer(p, r.next().checked_shr(64 - bits).unwrap_or(0).wrapping_sub(r.below(2) as u64))
            }
        }
    })
}

/// An integer or `bool` made of the last bits of a number.
fn integer(p: Prim, x: u64) -> Scalar {
    match p {
        Prim::Bool => Scalar::Bool(x & 1 == 1),
        Prim::I8 => Scalar::I8(x as i8),
        Prim::I16 => Scalar::I16(x as i16),
        Prim::I32 => Scalar::I32(x as i32),
        Prim::I64 => Scalar::I64(x as i64),
        Prim::U8 => Scalar::U8(x as u8),
        Prim::U16 => Scalar::U16(x as u16),
        Prim::U32 => Scalar::U32(x as u32),
        Prim::U64 => Scalar::U64(x),
        Prim::F32 | Prim::F64 => p.ty().from_f64(x as f64),
    }
}

/// The limits of a type, and numbers near them.
fn extreme(r: &mut Random, p: Prim) -> Scalar {
    let single = p == Prim::F32;
    let (most, tiny) = if single { (f64::from(f32::MAX), 1e-45) } else { (f64::MAX, 5e-324) };
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        most,
        -most,
        tiny,
        -tiny,
        1e-30,
        1e30,
        2147483648.0,
        9.3e18,
        -9.3e18,
        255.5,
    ];
    if p.is_float() {
        return p.ty().from_f64(r.pick(&floats));
    }
    let half = 1u64 << (p.bits() - 1).min(63);
    let (near, bit) = (r.below(3) as u64, 1u64 << r.below(64));
    integer(p, r.pick(&[near, 0u64.wrapping_sub(near), half.wrapping_sub(near), half.wrapping_add(near), bit]))
}
