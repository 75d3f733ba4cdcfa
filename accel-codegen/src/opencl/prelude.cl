#pragma OPENCL FP_CONTRACT OFF
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
// Half as wide otherwise where vectors of 64 bytes make a processor slower elsewhere, but functions have that width here.
#define EACH_LANE _Pragma("clang loop vectorize_width(8)") for (int l = 0; l < 32; l++)
// A loop over so many vectors of 8 becomes straight code, which has its partial results in registers. A loop has them in memory, and a sum of what
// is in the cache takes half as long again.
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
