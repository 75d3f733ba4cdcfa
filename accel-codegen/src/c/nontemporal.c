#if defined __clang__ && defined __SSE2__
typedef float line __attribute__((vector_size(64), may_alias));
typedef float any_line __attribute__((vector_size(64), may_alias, aligned(1)));
static inline void store_line(char *to, const char *from) { __builtin_nontemporal_store(*(const any_line *)from, (line *)to); }
#define STORED() __builtin_ia32_sfence()
#elif defined __SSE2__
#if defined __AVX512F__
#define LINE_PART 64
#define STORE __builtin_ia32_movntps512
#elif defined __AVX__
#define LINE_PART 32
#define STORE __builtin_ia32_movntps256
#else
#define LINE_PART 16
#define STORE __builtin_ia32_movntps
#endif
typedef float line_part __attribute__((vector_size(LINE_PART), may_alias));
typedef float any_part __attribute__((vector_size(LINE_PART), may_alias, aligned(1)));
static inline void store_line(char *to, const char *from) {
    for (int k = 0; k < 64; k += LINE_PART) STORE((float *)(to + k), (line_part)*(const any_part *)(from + k));
}
#define STORED() __builtin_ia32_sfence()
#else
static inline void store_line(char *to, const char *from) { __builtin_memcpy(to, from, 64); }
#define STORED()
#endif
static inline void store_around(void *column, const void *piece, i64 n) {
    char *to = column;
    const char *from = piece;
    const i64 up = -(u64)to % 64, head = up < n ? up : n;
    if (head) __builtin_memcpy(to, from, head);
    i64 k = head;
    for (; k + 64 <= n; k += 64) store_line(to + k, from + k);
    if (k < n) __builtin_memcpy(to + k, from + k, n - k);
}
