/* The hash's update for hosts with AVX2, in half the time. */
#ifndef XPU_BASE_HASH_AVX2_H
#define XPU_BASE_HASH_AVX2_H

#include <stddef.h>

/* XXH3_128bits_update on an XXH3_state_t, with the same result. Only where xpu_hash_avx2_here() is not 0. */
void xpu_hash_avx2_update(void *state, const void *bytes, size_t length);
int xpu_hash_avx2_here(void);

#endif
