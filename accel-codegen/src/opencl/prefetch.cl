#ifdef __SSE2__
#define PREFETCH(at, write, near) __builtin_prefetch((const void *)(size_t)(at), write, near)
#else
#define PREFETCH(at, write, near)
#endif
