/* Loops over rows for hosts with AVX2. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#include "sim/func/rows.h"

#define ROWS xpu_rows_avx2
#include "sim/func/rows_body.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
