/* Tiles for the tensor engine: the cheapest one that fits SM and the accumulators, by bytes moved and steps made. */
#include "xpu_codegen/codegen.h"
#include "xpu_runtime/include/generated/xpu_chip_regs.h"
#include "xpu_runtime/include/xpu_tiling.h"

enum {
    MAX_BYTE_FIELD = 255, /* kernel, stride and dilation in a descriptor */
    MAX_PAD = 32767,      /* padding in a descriptor, signed */
    MAX_EXTENT = 65535,   /* rows, pixels and channels of a tile */
    STEP_BYTES = 1024,    /* what a step's descriptors cost, as bytes moved */
    MAX_OFFSET = 1 << 28  /* dims that are larger do not get here */
};

typedef struct {
    xpu_tiling_shape shape;
    int64_t batch;
    int32_t columns, acc_rows, widest; /* widest: input channels of the widest column tile */
    uint32_t sm_bytes;
    int has_branch;
    xpu_tiling_format format;
} problem;

static int32_t bounded(const xpu_codegen *cg, xpu_dim dim) {
    int64_t most = xpu_dim_upper(cg, dim);
    return (int32_t)(most < 1 ? 1 : most > MAX_OFFSET ? MAX_OFFSET : most);
}

static problem make_problem(const xpu_codegen *cg, const xpu_conv_shape *s, int has_branch, xpu_tiling_format format) {
    problem p = {.batch = bounded(cg, s->batch),
                 .columns = (int32_t)cg->chip.array_columns,
                 .acc_rows = (int32_t)cg->chip.acc_rows,
                 .sm_bytes = cg->chip.sm_bytes - XPU_MAILBOX_BYTES * XPU_MAX_CORES,
                 .has_branch = has_branch,
                 .format = format};
    p.shape = (xpu_tiling_shape){.in_h = bounded(cg, s->in_h),
                                 .in_w = bounded(cg, s->in_w),
                                 .in_c = bounded(cg, s->in_c),
                                 .out_h = bounded(cg, s->out_h),
                                 .out_w = bounded(cg, s->out_w),
                                 .out_c = bounded(cg, s->out_c),
                                 .kernel_h = (int32_t)s->kernel[0],
                                 .kernel_w = (int32_t)s->kernel[1],
                                 .stride_h = (int32_t)s->stride[0],
                                 .stride_w = (int32_t)s->stride[1],
                                 .dilation_h = (int32_t)s->dilation[0],
                                 .dilation_w = (int32_t)s->dilation[1],
                                 .groups = (int32_t)s->groups};
    for (int32_t i = 0; i < xpu_tiling_column_tiles(p.shape.out_c, p.columns); i++) {
        int32_t begin, end;
        xpu_tiling_channels(p.shape.out_c, p.shape.in_c, p.shape.groups, p.columns, i, &begin, &end);
        if (end - begin > p.widest) p.widest = end - begin;
    }
    return p;
}

static const char *check_fields(const xpu_conv_shape *s) {
    for (int axis = 0; axis < 2; axis++) {
        if (s->kernel[axis] > MAX_BYTE_FIELD) return "a kernel over 255 does not fit a tensor descriptor";
        if (s->stride[axis] > MAX_BYTE_FIELD) return "a stride over 255 does not fit a tensor descriptor";
        if (s->dilation[axis] > MAX_BYTE_FIELD) return "a dilation over 255 does not fit a tensor descriptor";
        int64_t extent = (s->kernel[axis] - 1) * s->dilation[axis] + 1;
        if (s->begin[axis] > MAX_PAD || extent > MAX_PAD) return "padding over 32767 does not fit a tensor descriptor";
    }
    return NULL;
}

/* Bytes that all tiles move, and their steps weighed as bytes. */
static double cost_of(const problem *p, int32_t tile_h, int32_t tile_w, int32_t tile_c) {
    const xpu_tiling_shape *s = &p->shape;
    int32_t rows = xpu_tiling_input_extent(tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
    int32_t pixels = xpu_tiling_input_extent(tile_w, s->stride_w, s->kernel_w, s->dilation_w, s->in_w);
    int32_t column_tiles = xpu_tiling_column_tiles(s->out_c, p->columns);
    int32_t chunks = xpu_tiling_chunks(0, p->widest, tile_c);
    double tiles = (double)p->batch * ((s->out_h + tile_h - 1) / tile_h) * ((s->out_w + tile_w - 1) / tile_w);
    double input = (double)rows * pixels * p->widest * p->format.result;
    double inputs = chunks == 1 && s->groups == 1 ? 1 : column_tiles; /* a single chunk stays for all column tiles */
    double weights = (double)column_tiles * xpu_tiling_block_bytes(s->kernel_h, s->kernel_w, p->widest, p->columns, p->format);
    return tiles * (inputs * input + weights + (double)column_tiles * chunks * STEP_BYTES);
}

static int fits(const problem *p, int32_t tile_h, int32_t tile_w, int32_t tile_c, uint32_t *bytes) {
    const xpu_tiling_shape *s = &p->shape;
    int32_t rows = xpu_tiling_input_extent(tile_h, s->stride_h, s->kernel_h, s->dilation_h, s->in_h);
    int32_t pixels = xpu_tiling_input_extent(tile_w, s->stride_w, s->kernel_w, s->dilation_w, s->in_w);
    double each = (double)s->kernel_h * s->kernel_w * tile_c * p->columns * p->format.operand;
    if (rows > MAX_EXTENT || pixels > MAX_EXTENT || tile_c > MAX_EXTENT) return 0;
    if (each > p->sm_bytes || (double)rows * pixels * tile_c * p->format.operand > p->sm_bytes) return 0;
    *bytes = xpu_tiling_layout(s, tile_h, tile_w, tile_c, p->columns, p->has_branch, p->format).total;
    return *bytes <= p->sm_bytes;
}

static int32_t half(int32_t value) {
    return value == 1 ? 0 : (value + 1) / 2;
}

const char *xpu_choose_tile(xpu_codegen *cg, const xpu_conv_shape *s, int has_branch, xpu_tiling_format format,
                            xpu_tile *tile) {
    const char *wrong = check_fields(s);
    if (wrong) return wrong;
    problem p = make_problem(cg, s, has_branch, format);
    double best = -1;
    for (int32_t c = p.widest; c > 0; c = half(c)) {
        for (int32_t w = xpu_tiling_min(p.shape.out_w, p.acc_rows); w > 0; w = half(w)) {
            for (int32_t h = xpu_tiling_min(p.shape.out_h, p.acc_rows / w); h > 0; h = half(h)) {
                uint32_t bytes;
                if (!fits(&p, h, w, c, &bytes)) continue;
                double cost = cost_of(&p, h, w, c);
                if (best >= 0 && cost >= best) continue;
                best = cost;
                *tile = (xpu_tile){.tile_h = h, .tile_w = w, .tile_c = c, .sm_bytes = bytes};
            }
        }
    }
    return best < 0 ? "no tile of it fits this chip's shared memory" : NULL;
}
