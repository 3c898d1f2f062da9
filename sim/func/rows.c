/* Loops over rows for any host, and the choice. */
#include "sim/func/rows.h"

#define ROWS xpu_rows_any
#include "sim/func/rows_body.h"

const xpu_rows *xpu_rows_best(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &xpu_rows_avx2 : &xpu_rows_any;
}
