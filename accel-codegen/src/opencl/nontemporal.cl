#if defined(__clang__) && defined(__x86_64__)
typedef ulong8 any_line __attribute__((may_alias, aligned(1)));
// That the line is a parameter makes compilers use vectors of its width.
static void store_line(global ulong8 *to, ulong8 line) { __builtin_nontemporal_store(line, to); }
#endif
static void store_around(global void *column, const void *piece, i64 n) {
    global u8 *to = column;
    const u8 *from = piece;
    for (; n > 0 && (uintptr_t)to % 64; n--) *to++ = *from++;
#if defined(__clang__) && defined(__x86_64__)
    for (; n >= 64; n -= 64, to += 64, from += 64) store_line((global ulong8 *)to, *(const any_line *)from);
#endif
    for (; n > 0; n--) *to++ = *from++;
}
#define STORED() mem_fence(CLK_GLOBAL_MEM_FENCE)
