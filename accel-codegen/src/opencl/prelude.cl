#pragma OPENCL FP_CONTRACT OFF
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
