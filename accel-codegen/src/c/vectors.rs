//! Explicit vectors in C: their types, fused multiply-add and sums.

use crate::text::declarations::Declarations;
use crate::text::registers::Vectors;
use crate::text::types::bytes;
use accel_core::repr::ScalarType;
use accel_core::repr::op::Float2;

/// Declares vectors of numbers, vectors of eight numbers, their fused multiply-add, and the sums of eight vectors at
/// once.
pub fn declare(d: &mut Declarations, t: ScalarType) {
    let (vectors, width) = (d.vectors, bytes(t));
    d.declare_once(&format!("V_{t}"), || {
        let (bytes, eight) = (vectors.bytes, 8 * width);
        format!(
            "typedef {t} v_{t} __attribute__((vector_size({bytes}), may_alias));\n\
             typedef {t} u_{t} __attribute__((vector_size({bytes}), aligned({width}), may_alias));\n\
             typedef {t} w_{t} __attribute__((vector_size({eight})));"
        )
    });
    d.declare_once(&format!("fma_{t}"), || fused(t, vectors));
    d.declare_once(&format!("sums_{t}"), || sums(t, vectors.lanes(t)));
}

/// Adds four of the eight `sums`, the first or the last four, to adjacent numbers.
pub fn add_half(d: &mut Declarations, t: ScalarType, to: &str, half: usize) -> String {
    d.declare_once(&format!("Q_{t}"), || {
        let width = bytes(t);
        format!("typedef {t} q_{t} __attribute__((vector_size({}), aligned({width}), may_alias));", 4 * width)
    });
    let lanes: Vec<_> = (4 * half..4 * half + 4).map(|l| l.to_string()).collect();
    format!("*(q_{t} *){to} += __builtin_shufflevector(sums, sums, {});", lanes.join(", "))
}

/// The product or quotient of vectors with strong zeros: C has no choice between vectors.
pub fn strong(d: &mut Declarations, op: Float2, t: ScalarType, a: &str, b: &str) -> String {
    let name = format!("{}_{t}", op.name());
    // Written as what is no zero, gcc computes the second comparison and the product under the mask of the one before.
    let (sign, kept) = match op {
        Float2::StrongMul => ("*", "(a != zero) & (b != zero)"),
        _ => ("/", "a != zero"),
    };
    d.declare_once(&format!("v_{name}"), || {
        format!(
            "static inline v_{t} v_{name}(v_{t} a, v_{t} b) {{\n    \
             typedef i{width} mask __attribute__((vector_size(sizeof(v_{t}))));\n    \
             const v_{t} zero = {{ 0 }};\n    \
             return (v_{t})((mask)(a {sign} b) & (mask)({kept}));\n}}",
            width = 8 * bytes(t)
        )
    });
    format!("v_{name}({a}, {b})")
}

/// Declares `a * b + c` with one rounding, if the processor supports it.
fn fused(t: ScalarType, vectors: Vectors) -> String {
    let is_f32 = t == ScalarType::F32;
    let (letter, suffix) = if is_f32 { ("s", "f") } else { ("d", "") };
    let fast = if is_f32 { "__FP_FAST_FMAF" } else { "__FP_FAST_FMA" };
    let n = vectors.lanes(t);
    // gcc has no such function for vectors of any size.
    let own = match vectors.bytes {
        64 => {
            let mask = if is_f32 { "unsigned short" } else { "unsigned char" };
            format!(
                "#elif defined __AVX512F__\n    \
                 return (v_{t})__builtin_ia32_vfmaddp{letter}512_mask(a, b, c, ({mask})-1, 4);\n"
            )
        }
        32 => format!("#elif defined __FMA__\n    return (v_{t})__builtin_ia32_vfmaddp{letter}256(a, b, c);\n"),
        _ => format!(
            "#elif defined __FMA__\n    return (v_{t})__builtin_ia32_vfmaddp{letter}(a, b, c);\n\
             #elif defined __aarch64__ && defined __GNUC__ && !defined __clang__\n    \
             return __builtin_aarch64_fmav{n}{mode}(a, b, c);\n",
            mode = if is_f32 { "sf" } else { "df" }
        ),
    };
    format!(
        "#ifndef __has_builtin\n#define __has_builtin(x) 0\n#endif\n\
         static inline v_{t} fma_{t}(v_{t} a, v_{t} b, v_{t} c) {{\n\
         #if __has_builtin(__builtin_elementwise_fma)\n    \
         return __builtin_elementwise_fma(a, b, c);\n\
         {own}\
         #elif defined {fast}\n    \
         v_{t} x; for (int l = 0; l < {n}; l++) x[l] = __builtin_fma{suffix}(a[l], b[l], c[l]); return x;\n\
         #else\n    \
         return a * b + c;\n\
         #endif\n}}"
    )
}

/// The sums of eight vectors of `n` numbers.
fn sums(t: ScalarType, n: usize) -> String {
    let shuffle = |a: &str, b: &str, lanes: &[usize]| {
        let lanes: Vec<_> = lanes.iter().map(usize::to_string).collect();
        format!("__builtin_shufflevector({a}, {b}, {})", lanes.join(", "))
    };
    let range = |from: usize, to: usize| (from..to).collect::<Vec<_>>();
    let params: Vec<_> = (0..8).map(|k| format!("v_{t} a{k}")).collect();
    let mut text = format!("static inline w_{t} sums_{t}({}) {{\n", params.join(", "));
    let mut names: Vec<String> = (0..8).map(|k| format!("a{k}")).collect();
    // The halves of vectors of 16 numbers.
    let (n, part) = if n == 16 { (8, "w") } else { (n, "v") };
    if part == "w" {
        for (k, name) in names.iter_mut().enumerate() {
            let (low, high) = (shuffle(name, name, &range(0, 8)), shuffle(name, name, &range(8, 16)));
            text += &format!("    const w_{t} b{k} = {low} + {high};\n");
            *name = format!("b{k}");
        }
    }
    // Combines neighbours, pairs of neighbours, halves: half as many vectors each time.
    let mut size = 1;
    while size < n {
        let lane = |q: usize| (q / size % 2) * n + q / (2 * size) * (2 * size) + q % size;
        let even: Vec<usize> = (0..n).map(lane).collect();
        let odd: Vec<usize> = even.iter().map(|l| l + size).collect();
        let next = |(k, pair): (usize, &[String])| {
            let (a, b) = (&pair[0], &pair[1]);
            text +=
                &format!("    const {part}_{t} c{size}_{k} = {} + {};\n", shuffle(a, b, &even), shuffle(a, b, &odd));
            format!("c{size}_{k}")
        };
        names = names.chunks(2).enumerate().map(next).collect();
        size *= 2;
    }
    // The remaining vectors contain all sums, `n` in each.
    while names.len() > 1 {
        names = names.chunks(2).map(|pair| shuffle(&pair[0], &pair[1], &range(0, 16 / names.len()))).collect();
    }
    format!("{text}    return (w_{t}){};\n}}", names.concat())
}
