//! Numbers of 16 bits: what their bits mean, and how `f32` are rounded to them.

use accel::backend::Backend;
use accel::half::{Bf16, F16, narrow, rounded, widen};
use accel::interp::Interpreter;
use accel::native::Native;
use accel::prelude::*;

/// The value of positive bits, with `digits` after the point. That of infinity is where the next number would be.
fn value(bits: u16, digits: u32) -> f64 {
    let bias = (1 << (14 - digits)) - 1;
    let (exponent, fraction) = (i32::from(bits >> digits), f64::from(bits & ((1 << digits) - 1)));
    let unit = |exponent: i32| f64::from(exponent - bias - digits as i32).exp2();
    if exponent == 0 { fraction * unit(1) } else { (fraction + f64::from(1 << digits)) * unit(exponent) }
}

/// Each finite number of 16 bits, what lies between it and the next one, and what lies beside these, with the bits to which they are rounded; and the same
/// below 0.
fn numbers(digits: u32) -> Vec<(f32, u16)> {
    let infinite = ((1 << (15 - digits)) - 1) << digits;
    let around = |bits: u16| {
        let [x, next] = [bits, bits + 1].map(|bits| value(bits, digits));
        let middle = ((x + next) / 2.0) as f32;
        assert!(f64::from(middle) == (x + next) / 2.0);
        let even = bits + (bits & 1);
        [(x as f32, bits), (middle.next_down(), bits), (middle, even), (middle.next_up(), bits + 1)]
    };
    let large = [(f32::MAX, infinite), (f32::INFINITY, infinite)];
    let positive: Vec<_> = (0..infinite).flat_map(around).chain(large).collect();
    positive.iter().flat_map(|(x, bits)| [(*x, *bits), (-x, bits | 0x8000)]).collect()
}

macro_rules! rounds {
    ($half:ident, $digits:expr) => {{
        let (xs, bits): (Vec<f32>, Vec<u16>) = numbers($digits).into_iter().unzip();
        let xs = Array::vector([xs, vec![f32::NAN]].concat());
        let program = afun(|xs: Acc<Vector<f32>>| {
            let stored = narrow::<$half, _>(xs);
            (stored, widen(stored), rounded::<$half, _>(xs))
        });
        for backend in [&Interpreter as &dyn Backend, &Native] {
            let (stored, widened, rounded) = run_on(backend, &program, &xs).unwrap();
            let [stored, widened, rounded] =
                [stored.iter().map($half::to_f32).collect(), widened.to_vec(), rounded.to_vec()];
            for (i, bits) in bits.iter().enumerate() {
                let expected = if bits & 0x7fff == ((1 << (15 - $digits)) - 1) << $digits {
                    f32::INFINITY
                } else {
                    value(bits & 0x7fff, $digits) as f32
                };
                let expected = if bits & 0x8000 == 0 { expected } else { -expected };
                let x = xs.as_slice()[i];
                assert_eq!($half::from_f32(x).to_bits(), *bits, "{x:?}");
                for y in [$half::from_bits(*bits).to_f32(), stored[i], widened[i]] {
                    assert_eq!(y.to_bits(), expected.to_bits(), "{x:?}: {y:?}, and not {expected:?}");
                }
                // But for the sign of 0.
                assert_eq!(rounded[i], expected, "{x:?}");
            }
            assert!([stored, widened, rounded].iter().all(|found: &Vec<f32>| found[bits.len()].is_nan()));
        }
    }};
}

#[test]
fn round_to_the_nearest_even_number() {
    rounds!(F16, 10);
    rounds!(Bf16, 7);
}

/// Arrays of them are data, as those of integers, and rounded parameters have derivatives.
#[test]
fn derivatives_of_what_is_stored() {
    let xs = Array::vector([1.5, -2.0, 0.25].map(Bf16::from_f32).to_vec());
    let w = Array::vector(vec![0.1f32, 0.2, 0.3]);
    let loss = afun(|xs: Acc<Vector<Bf16>>, w: Acc<Vector<f32>>| {
        let y = widen(xs) * rounded::<F16, _>(w);
        sum(y * y)
    });
    let (_, by_w) = run(grad(&loss), (&xs, &w)).unwrap();
    for (i, slope) in by_w.iter().enumerate() {
        let (x, w) = (xs.to_vec()[i].to_f32(), F16::from_f32(w.to_vec()[i]).to_f32());
        assert_eq!(slope, 2.0 * (x * w) * x);
    }
    let second = run(grad(afun(|w: Acc<Vector<f32>>| sum(call(grad(&loss), (use_(&xs), w)).1))), &w).unwrap();
    assert_eq!(second.to_vec(), [2.0 * 1.5 * 1.5, 2.0 * 4.0, 2.0 * 0.0625]);
}
