//! Explicit vectors in OpenCL C: their types, fused multiply-add and sums.

use crate::text::declarations::Declarations;
use crate::text::registers::Vectors;
use accel_core::repr::ScalarType;

/// The number of elements of a vector.
pub fn width(t: ScalarType) -> usize {
    Vectors::default().lanes(t)
}

/// The type of a vector.
pub fn name(t: ScalarType) -> &'static str {
    if t == ScalarType::F32 { "float16" } else { "double8" }
}

/// Declares vectors of 64 bytes, vectors of eight numbers, their fused multiply-add, and the sums of eight vectors at
/// once.
pub fn declare(d: &mut Declarations, t: ScalarType) {
    d.declare_once(&format!("V_{t}"), || match t {
        ScalarType::F32 => "typedef float16 v_f32;\ntypedef float8 w_f32;".into(),
        _ => "typedef double8 v_f64;\ntypedef double8 w_f64;".into(),
    });
    d.declare_once(&format!("fma_{t}"), || {
        format!("static v_{t} fma_{t}(v_{t} a, v_{t} b, v_{t} c) {{ return fma(a, b, c); }}")
    });
    d.declare_once(&format!("sums_{t}"), || {
        let params: Vec<_> = (0..8).map(|k| format!("v_{t} a{k}")).collect();
        // Vectors of sixteen numbers first become vectors of eight. Each further step halves the number of vectors and
        // doubles the number of sums in each.
        let folded = |k: usize| if t == ScalarType::F32 { format!("a{k}.lo + a{k}.hi") } else { format!("a{k}") };
        let mut values: Vec<String> = (0..8).map(folded).collect();
        while values.len() > 1 {
            values = values.chunks(2).map(|pair| format!("pairs_{t}({})", pair.join(", "))).collect();
        }
        format!(
            "static w_{t} pairs_{t}(w_{t} a, w_{t} b) {{ return (w_{t})(a.even + a.odd, b.even + b.odd); }}\n\
             static w_{t} sums_{t}({}) {{ return {}; }}",
            params.join(", "),
            values.concat()
        )
    });
}

/// Adds four of the eight `sums`, the first or the last four, to adjacent numbers.
pub fn add_half(to: &str, half: usize) -> String {
    let sums = ["sums.lo", "sums.hi"][half];
    format!("vstore4(vload4(0, {to}) + {sums}, 0, {to});")
}
