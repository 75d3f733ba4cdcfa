#pragma OPENCL FP_CONTRACT OFF
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
// Compilers prefer vectors of 32 bytes where 64 bytes would slow a processor down. Here, functions have 64 bytes.
#define EACH_LANE _Pragma("clang loop vectorize_width(8)") for (int l = 0; l < 32; l++)
// Unrolls a loop over this number of vectors of 8, so that its partial results are in registers. A loop would have them in memory, and a sum of
// elements in the cache would take 1.5 times as long.
#define PRAGMA(text) _Pragma(#text)
#define UNROLLED(vectors) PRAGMA(clang loop vectorize_width(8) interleave_count(vectors))
#else
#define INDEPENDENT
#define UNROLLED(vectors)
#define EACH_LANE for (int l = 0; l < 32; l++)
#endif
// Columns of truth values are bytes.
#define bool uchar
typedef char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef float f32;
typedef struct { i64 from, to, row, slot, len; const i64 *extents; } task;
typedef task job;
