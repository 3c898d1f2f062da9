/* What depends on the size of images that is known only when shapes are bound: ranges of sizes. */
#include "xpu_codegen/choose/tile_by_size.h"

enum { LEAST_SQUARE = 8 };

/* Adds the images of which `measure` is at most `most`, unless there are none; 1: these are all that are left. */
static int add_size(const xpu_codegen *cg, xpu_sizes *sizes, xpu_dim measure, int32_t most) {
    if (xpu_dim_upper(cg, measure) <= most) return 1;
    if (xpu_dim_min(&cg->graph->dims, measure) <= most) {
        sizes->items[sizes->count++] = (xpu_size){.measure = measure, .most = most};
    }
    return 0;
}

/* `pixels` is what a tile or task has at most: up to its root an image may be one, above whole rows fill it. */
static void list_sizes(xpu_codegen *cg, const xpu_conv_shape *s, int32_t pixels, xpu_sizes *sizes) {
    const xpu_dim side = xpu_dim_op(&cg->graph->dims, XPU_DIM_MAX, s->out_h, s->out_w);
    int32_t square = LEAST_SQUARE;
    int all = !side.id || xpu_dim_is_const(&cg->graph->dims, side, NULL);
    for (; !all && square * square <= pixels; square += square / 2) all = add_size(cg, sizes, side, square);
    sizes->squares = sizes->count;
    all |= xpu_dim_is_const(&cg->graph->dims, s->out_w, NULL);
    for (int32_t rows = pixels / square; !all && rows > 0; rows -= 1 + rows / 6) {
        all = add_size(cg, sizes, s->out_w, pixels / rows);
    }
    sizes->items[sizes->count++].measure = s->out_w;
}

void xpu_list_sizes(xpu_codegen *cg, const xpu_conv_shape *s, xpu_sizes *sizes) {
    const xpu_tiling_shape upper = xpu_tiling_shape_of(cg, s);
    const int64_t least = xpu_dim_min(&cg->graph->dims, s->out_h);
    const int32_t least_h = least < upper.out_h ? (int32_t)least : upper.out_h;
    *sizes = (xpu_sizes){.count = 0};
    list_sizes(cg, s, (int32_t)cg->chip.acc_rows, sizes);
    for (uint32_t i = 0; i < sizes->count; i++) {
        xpu_size *size = &sizes->items[i];
        int is_last = i == sizes->count - 1;
        size->out_w = is_last ? upper.out_w : xpu_tiling_min(upper.out_w, size->most);
        size->out_h = is_last ? upper.out_h : xpu_tiling_min(upper.out_h, size->most > least_h ? size->most : least_h);
        size->most_h = i < sizes->squares ? size->out_h : upper.out_h;
    }
}

xpu_tiling_shape xpu_shape_of_size(const xpu_tiling_shape *upper, const xpu_size *size) {
    xpu_tiling_shape s = *upper;
    if (size->out_h == s.out_h && size->out_w == s.out_w) return s;
    s.out_h = size->out_h;
    s.out_w = size->out_w;
    s.in_h = xpu_tiling_input_extent(s.out_h, s.stride_h, s.kernel_h, s.dilation_h, s.in_h);
    s.in_w = xpu_tiling_input_extent(s.out_w, s.stride_w, s.kernel_w, s.dilation_w, s.in_w);
    return s;
}
