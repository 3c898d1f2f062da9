#include "base/hash_avx2.h"

#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC target("avx2")
#define XXH_INLINE_ALL
#include <xxhash.h>

int xpu_hash_avx2_here(void) {
    return __builtin_cpu_supports("avx2");
}

void xpu_hash_avx2_update(void *state, const void *bytes, size_t length) {
    XXH3_128bits_update(state, bytes, length);
}
#else
int xpu_hash_avx2_here(void) {
    return 0;
}

void xpu_hash_avx2_update(void *state, const void *bytes, size_t length) {
    (void)state, (void)bytes, (void)length;
}
#endif
