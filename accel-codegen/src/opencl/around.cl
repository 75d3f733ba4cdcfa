#if defined(__clang__) && defined(__x86_64__)
typedef ulong8 any_line __attribute__((may_alias, aligned(1)));
#endif
static void store_around(global void *column, const void *piece, i64 n) {
    global u8 *to = column;
    const u8 *from = piece;
    for (; n > 0 && (uintptr_t)to % 64; n--) *to++ = *from++;
#if defined(__clang__) && defined(__x86_64__)
    for (; n >= 64; n -= 64, to += 64, from += 64)
        __builtin_nontemporal_store(*(const any_line *)from, (global ulong8 *)to);
#endif
    for (; n > 0; n--) *to++ = *from++;
}
#define STORED() mem_fence(CLK_GLOBAL_MEM_FENCE)
