static inline i64 times(i64 a, i64 b) { i64 c; return __builtin_mul_overflow(a, b, &c) ? 0x7fffffffffffffff : c; }
static inline i64 plus(i64 a, i64 b) { i64 c; return __builtin_add_overflow(a, b, &c) ? 0x7fffffffffffffff : c; }
static inline i64 room(i64 bytes) { return bytes > 0x7fffffffffffff00 ? bytes : (bytes + 63) & -64; }
