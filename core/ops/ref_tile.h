/*
 * Tiles of pixels x output channels: what conv and matmul do the most. One set of functions per element type, for the
 * best instruction set of this host: float (canonical order of fma) and double (exact sums of int16 products).
 */
#ifndef XPU_CORE_OPS_REF_TILE_H
#define XPU_CORE_OPS_REF_TILE_H

#include <stddef.h>

enum { XPU_TILE_PIXELS = 6, XPU_TILE_LANES_FLOAT = 16, XPU_TILE_LANES_DOUBLE = 8 };

/* `length` steps of K from x + x and w + w (offsets in elements). w advances by the lanes at each step, x by one
 * element or, in lane_x functions, by the lanes. */
typedef struct {
    ptrdiff_t x, w;
    size_t length;
} xpu_tile_run;

/* out[pixel][lane] = init[lane] + the sum over the runs, for 1 <= pixels <= XPU_TILE_PIXELS. */
typedef void (*xpu_tile_float)(const float *x, ptrdiff_t pixel_stride, const float *w, const xpu_tile_run *runs,
                               size_t run_count, const float *init, float *out, int pixels);
typedef void (*xpu_tile_double)(const double *x, ptrdiff_t pixel_stride, const double *w, const xpu_tile_run *runs,
                                size_t run_count, const double *init, double *out, int pixels);

typedef struct {
    xpu_tile_float float_scalar_x, float_lane_x;
    xpu_tile_double double_scalar_x, double_lane_x;
} xpu_tiles;

/* plain 1: the portable functions, for tests. */
const xpu_tiles *xpu_tiles_for_host(int plain);

#endif
