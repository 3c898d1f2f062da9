/*
 * conv and matmul, of floats in the canonical order: every output is one chain of fma over K = (kh, kw, c), padded taps
 * skipped, to which the bias or 0 is added. Operands are repacked (channels last; weights by lanes of output channels),
 * so that tiles of pixels x output channels run over contiguous memory. qconv and qmatmul sum integers.
 */
#include <string.h>

#include "core/arith.h"
#include "core/ops/ref_tile.h"
#include "core/ops/ref_util.h"
#include "core/ops/rows.h"
#include "core/ops/window.h"

/* Sums of fewer products of two int16 are below 2^53: exact in double. Bytes minus their zero points are smaller. */
enum { MAX_INTEGER_K = (1 << 23) - 1 };

/* Pixels that are repacked at a time, all channels of them: what is written stays in the cache. */
enum { PACK_PIXELS = 32 };

/* ---- what precision changes: packing and the tile functions ---- */

typedef enum {
    FLOATS, /* results are floats */
    INT16,  /* float activations become int16; results are float(sum), rounded once */
    BYTES   /* int8 or uint8 minus zero points; results are the bits of int32 sums, the bias included */
} arithmetic;

typedef struct {
    arithmetic kind;
    size_t lanes, element;  /* lanes of a tile; bytes of a packed element: float or double */
    float inverse;          /* INT16: of the activations' scale */
    int narrow;             /* INT16: weights are int8 */
    int x_signed, w_signed; /* BYTES */
    int32_t x_zero, w_zero;
    const int32_t *bias; /* BYTES: NULL where absent */
    const xpu_tiles *tiles;
} engine;

static void *at(const engine *e, const void *packed, size_t index) {
    return (char *)(uintptr_t)packed + index * e->element;
}

static int32_t byte_at(const void *bytes, size_t index, int is_signed) {
    return is_signed ? ((const int8_t *)bytes)[index] : ((const uint8_t *)bytes)[index];
}

/* `count` neighbours of x, from `index` on. */
static void pack_x(const engine *e, const void *x, size_t index, void *out, size_t out_step, size_t count) {
    const float *from = (const float *)x + index;
    double *to = out;
    if (e->kind == FLOATS) {
        for (size_t i = 0; i < count; i++) ((float *)out)[i * out_step] = from[i];
    } else if (e->kind == INT16) {
        for (size_t i = 0; i < count; i++) {
            to[i * out_step] = (double)xa_absmax_quantize(from[i], e->inverse, XA_I16_MAX);
        }
    } else {
        for (size_t i = 0; i < count; i++) to[i * out_step] = (double)(byte_at(x, index + i, e->x_signed) - e->x_zero);
    }
}

static void pack_w(const engine *e, const void *w, size_t index, void *packed, size_t at_index) {
    if (e->kind == FLOATS) {
        ((float *)packed)[at_index] = ((const float *)w)[index];
    } else if (e->kind == INT16) {
        ((double *)packed)[at_index] = e->narrow ? ((const int8_t *)w)[index] : ((const int16_t *)w)[index];
    } else {
        ((double *)packed)[at_index] = (double)(byte_at(w, index, e->w_signed) - e->w_zero);
    }
}

/* The int32 sum of a tile of bytes and the bias, both wrapping. */
static float wrapped_sum(double sum, int32_t bias) {
    return xa_float((uint32_t)(uint64_t)(int64_t)sum + (uint32_t)bias);
}

/* One tile: results as `arithmetic` says, not scaled yet, to out[pixel * pixel_step + lane * lane_step]. `channel`: of
 * the first lane. */
static void run_tile(const engine *e, int lane_x, const void *x, ptrdiff_t pixel_stride, const void *w,
                     const xpu_tile_run *runs, size_t run_count, size_t channel, int pixels, float *out,
                     size_t pixel_step, size_t lane_step, size_t lanes) {
    float values[XPU_TILE_PIXELS * XPU_TILE_LANES_FLOAT];
    if (e->kind != FLOATS) {
        static const double zero[XPU_TILE_LANES_DOUBLE];
        double sums[XPU_TILE_PIXELS * XPU_TILE_LANES_DOUBLE];
        xpu_tile_double tile = lane_x ? e->tiles->double_lane_x : e->tiles->double_scalar_x;
        tile(x, pixel_stride, w, runs, run_count, zero, sums, pixels);
        for (size_t i = 0; i < (size_t)pixels * XPU_TILE_LANES_DOUBLE; i++) {
            size_t lane = i % XPU_TILE_LANES_DOUBLE;
            values[i] = e->kind == INT16 ? xa_acc48_to_float(xa_acc48_wrap((int64_t)sums[i]))
                                         : wrapped_sum(sums[i], e->bias && lane < lanes ? e->bias[channel + lane] : 0);
        }
    } else {
        float first[XPU_TILE_LANES_FLOAT];
        for (size_t lane = 0; lane < XPU_TILE_LANES_FLOAT; lane++) first[lane] = XA_NO_PRODUCTS;
        xpu_tile_float tile = lane_x ? e->tiles->float_lane_x : e->tiles->float_scalar_x;
        tile(x, pixel_stride, w, runs, run_count, first, values, pixels);
    }
    for (size_t lane = 0; lane < lanes; lane++) {
        for (size_t p = 0; p < (size_t)pixels; p++) {
            out[p * pixel_step + lane * lane_step] = values[p * e->lanes + lane];
        }
    }
}

/* ---- behind the accumulation ---- */

typedef struct {
    const float *scale, *bias, *branch; /* NULL where absent; scale only for INT16 and BYTES, bias not for these */
    xa_post_float post;
    xa_post_quantised quantised; /* BYTES; its branch and result: */
    const xpu_tensor *branch_bytes;
    uint8_t *bytes; /* NULL: the sums are the result, or become it: */
    float *scaled;  /* as floats, times the scale */
} epilogue;

/* xa_post_floating, or behind float sums its like without a scale, over `count` elements of y, channel by channel
 * (step 0: all are channel 0; step 1: consecutive). */
static void finish(const epilogue *e, float *y, const float *branch, size_t channel, size_t step, size_t count) {
    if (e->scale) {
        const float *s = e->scale + channel;
        for (size_t i = 0; i < count; i++) y[i] = xa_mul(y[i], s[i * step]);
    }
    if (e->bias) {
        const float *b = e->bias + channel;
        for (size_t i = 0; i < count; i++) y[i] = xa_end_sum(y[i], b[i * step]);
    } else if (!e->scale) {
        for (size_t i = 0; i < count; i++) y[i] = xa_end_sum(y[i], 0);
    }
    if (branch && e->post.act_after) {
        for (size_t i = 0; i < count; i++) y[i] += branch[i];
    }
    if (e->post.activation == XA_ACT_CLIP) {
        for (size_t i = 0; i < count; i++) y[i] = xa_clip(y[i], e->post.lo, e->post.hi);
    } else if (e->post.activation == XA_ACT_LEAKY) {
        for (size_t i = 0; i < count; i++) y[i] = xa_leaky_relu(y[i], e->post.slope);
    } else if (e->post.activation == XA_ACT_HARD_SWISH) {
        for (size_t i = 0; i < count; i++) y[i] = xa_scaled_swish(y[i], e->post.slope, e->post.lo);
    }
    if (branch && !e->post.act_after) {
        for (size_t i = 0; i < count; i++) y[i] += branch[i];
    }
    for (size_t i = 0; e->post.clips_last && i < count; i++) y[i] = xa_clip(y[i], e->post.last_lo, e->post.last_hi);
}

/* The same for BYTES: `count` sums that are elements `index` and following of the result. */
static void finish_bytes(const epilogue *e, const float *sums, size_t index, size_t channel, size_t step,
                         size_t count) {
    const xpu_tensor *branch = e->branch_bytes;
    for (size_t i = 0; e->bytes && i < count; i++) {
        int32_t other = branch ? byte_at(branch->data, index + i, branch->dtype == XPU_I8) : 0;
        int32_t sum = (int32_t)xa_bits(sums[i]);
        e->bytes[index + i] = (uint8_t)xa_post_quantise(sum, e->scale[channel + i * step], other, &e->quantised);
    }
    for (size_t i = 0; e->scaled && i < count; i++) {
        e->scaled[index + i] = xa_mul((float)(int32_t)xa_bits(sums[i]), e->scale[channel + i * step]);
    }
}

static const float *float_input(const xpu_ref_args *args, uint32_t i) {
    const xpu_tensor *tensor = i < xpu_node_at(args->graph, args->node)->input_count ? args->inputs[i] : NULL;
    return tensor ? tensor->data : NULL;
}

static const xpu_tensor *operand(const xpu_ref_args *args, uint32_t i) {
    return i < xpu_node_at(args->graph, args->node)->input_count ? args->inputs[i] : NULL;
}

/* How bytes are read and finished. */
static void prepare_bytes(const xpu_ref_args *args, engine *e, epilogue *end) {
    const xpu_graph *graph = args->graph;
    const xpu_tensor *zero = operand(args, XPU_IN_XZERO), *bias = operand(args, XPU_IN_BIAS);
    e->x_signed = args->inputs[XPU_IN_X]->dtype == XPU_I8;
    e->w_signed = args->inputs[XPU_IN_W]->dtype == XPU_I8;
    e->x_zero = zero ? byte_at(zero->data, 0, zero->dtype == XPU_I8) : xpu_ref_int(args, XPU_ATTR_X_ZERO);
    e->w_zero = xpu_ref_int(args, XPU_ATTR_W_ZERO);
    e->bias = bias ? bias->data : NULL;
    end->scale = float_input(args, XPU_IN_WSCALE);
    if (!end->scale) return;
    if (args->outputs[XPU_OUT_Y]->dtype == XPU_F32) {
        end->scaled = args->outputs[XPU_OUT_Y]->data;
        return;
    }
    int32_t zero_y = xpu_ref_int(args, XPU_ATTR_Y_ZERO), low = xpu_ref_int(args, XPU_ATTR_Y_LOW);
    int32_t high = xpu_ref_int(args, XPU_ATTR_Y_HIGH);
    end->bytes = args->outputs[XPU_OUT_Y]->data;
    end->branch_bytes = operand(args, XPU_IN_BRANCH);
    end->quantised = (xa_post_quantised){.zero = zero_y, .lo = low, .hi = high};
    if (!end->branch_bytes) return;
    end->quantised = (xa_post_quantised){.zero = xpu_ref_int(args, XPU_ATTR_MID_ZERO),
                                         .lo = xpu_ref_int(args, XPU_ATTR_MID_LOW),
                                         .hi = xpu_ref_int(args, XPU_ATTR_MID_HIGH),
                                         .has_branch = true,
                                         .branch_first = xpu_ref_int(args, XPU_ATTR_BRANCH_FIRST) != 0,
                                         .ra = xpu_node_float(graph, args->node, XPU_ATTR_X_FACTOR),
                                         .rb = xpu_node_float(graph, args->node, XPU_ATTR_B_FACTOR),
                                         .f = xpu_node_float(graph, args->node, XPU_ATTR_ADDEND),
                                         .lo2 = low,
                                         .hi2 = high};
}

xa_post_float xpu_ref_epilogue(const xpu_ref_args *args) {
    static const xa_activation kinds[] = {[XPU_ACTIVATION_NONE] = XA_ACT_NONE,
                                          [XPU_ACTIVATION_CLIP] = XA_ACT_CLIP,
                                          [XPU_ACTIVATION_LEAKY] = XA_ACT_LEAKY,
                                          [XPU_ACTIVATION_HARD_SWISH] = XA_ACT_HARD_SWISH};
    return (xa_post_float){.activation = kinds[xpu_ref_int(args, XPU_ATTR_ACTIVATION)],
                           .act_after = !xpu_ref_int(args, XPU_ATTR_BRANCH_AFTER),
                           .lo = xpu_ref_float(args, XPU_ATTR_LOW),
                           .hi = xpu_ref_float(args, XPU_ATTR_HIGH),
                           .slope = xpu_ref_float(args, XPU_ATTR_ALPHA)};
}

static void prepare(const xpu_ref_args *args, size_t channels, engine *e, epilogue *end) {
    const xpu_graph *graph = args->graph;
    memset(e, 0, sizeof *e);
    memset(end, 0, sizeof *end);
    int quantised = xpu_node_is(graph, args->node, XPU_OP_QCONV) || xpu_node_is(graph, args->node, XPU_OP_QMATMUL);
    int64_t precision = xpu_node_int(graph, args->node, XPU_ATTR_PRECISION);
    e->kind = quantised ? BYTES : precision != XPU_PRECISION_FP32 ? INT16 : FLOATS;
    e->narrow = precision == XPU_PRECISION_INT16X8;
    e->lanes = e->kind == FLOATS ? XPU_TILE_LANES_FLOAT : XPU_TILE_LANES_DOUBLE;
    e->element = e->kind == FLOATS ? sizeof(float) : sizeof(double);
    e->tiles = xpu_tiles_for_host(0);
    if (e->kind == BYTES) {
        prepare_bytes(args, e, end);
        return;
    }
    end->bias = float_input(args, XPU_IN_BIAS);
    end->branch = float_input(args, XPU_IN_BRANCH);
    end->post = xpu_ref_epilogue(args);
    if (e->kind == FLOATS) return;
    end->post.clips_last = xpu_node_attr(graph, args->node, XPU_ATTR_LAST_LOW) != NULL;
    if (end->post.clips_last) {
        end->post.last_lo = xpu_ref_float(args, XPU_ATTR_LAST_LOW);
        end->post.last_hi = xpu_ref_float(args, XPU_ATTR_LAST_HIGH);
    }
    float absmax = *float_input(args, XPU_IN_ABSMAX), x_scale = xa_absmax_scale(absmax, XA_I16_MAX);
    const float *w_scale = float_input(args, XPU_IN_WSCALE);
    float *scale = XPU_NEW_ARRAY(args->scratch, float, channels);
    for (size_t c = 0; c < channels; c++) scale[c] = xa_channel_scale(x_scale, w_scale[c]);
    end->scale = scale;
    e->inverse = xa_absmax_inverse(absmax, XA_I16_MAX);
}

/* Where tiles write to: the result itself, or sums that become its bytes. */
static float *sums_of(const xpu_ref_args *args, const epilogue *end) {
    const xpu_tensor *y = args->outputs[XPU_OUT_Y];
    return end->bytes ? XPU_NEW_ARRAY(args->scratch, float, (size_t)xpu_tensor_count(y)) : y->data;
}

static xpu_status check_k(const xpu_ref_args *args, const engine *e, int64_t k) {
    if (e->kind == FLOATS || k <= MAX_INTEGER_K) return XPU_OK;
    return xpu_ref_refuse(args, "a sum of integers has more than 2^23 products");
}

/* ---- convolution ---- */

/* All in elements; a 1-D convolution is a 2-D one of height 1. */
typedef struct {
    int64_t n, c, h, w;        /* operand */
    int64_t o, oh, ow;         /* result */
    int64_t kh, kw, group, cg; /* cg: channels per group */
    int64_t stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w;
} geometry;

static void read_geometry(const xpu_ref_args *args, geometry *g) {
    const xpu_tensor *x = args->inputs[XPU_IN_X], *w = args->inputs[XPU_IN_W], *y = args->outputs[XPU_OUT_Y];
    const xpu_window window = xpu_window_of(args->graph, args->node);
    int last = x->rank - 1, flat = x->rank == 3;
    *g = (geometry){.n = x->dims[0],
                    .c = x->dims[1],
                    .h = flat ? 1 : x->dims[2],
                    .w = x->dims[last],
                    .o = y->dims[1],
                    .oh = flat ? 1 : y->dims[2],
                    .ow = y->dims[last],
                    .kh = window.kernel[0],
                    .kw = window.kernel[1],
                    .group = window.groups,
                    .cg = w->dims[1],
                    .stride_h = window.stride[0],
                    .stride_w = window.stride[1],
                    .dilation_h = window.dilation[0],
                    .dilation_w = window.dilation[1],
                    .pad_h = window.begin[0],
                    .pad_w = window.begin[1]};
    int is_pointwise = g->kh == 1 && g->kw == 1 && g->stride_h == 1 && g->stride_w == 1 && g->oh == g->h &&
                       g->ow == g->w && g->pad_h == 0 && g->pad_w == 0;
    if (is_pointwise) { /* one long row */
        g->w = g->ow = g->w * g->h;
        g->h = g->oh = 1;
    }
}

/* The taps k of a window at `start` that lie inside [0, size): [*first, *end). */
static void valid_taps(int64_t start, int64_t size, int64_t kernel, int64_t dilation, int64_t *first, int64_t *end) {
    *first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    *end = size <= start ? 0 : (size - start + dilation - 1) / dilation;
    if (*end > kernel) *end = kernel;
    if (*first > *end) *first = *end;
}

/* One block of output channels of one image. x is packed as [h][w][cg] (of lanes where lane_x), w as
 * [kh][kw][cg][lanes]. */
typedef struct {
    const geometry *g;
    const engine *e;
    int lane_x;
    const void *x, *w;
    size_t channel, lanes; /* the first one; how many exist */
    float *y;              /* plane of the block's first channel */
    xpu_tile_run *runs;
} conv_block;

/* Runs of the window at (row, column); returns how many. Neighbouring taps without dilation are one run. */
static size_t window_runs(const conv_block *b, int64_t row, int64_t column) {
    const geometry *g = b->g;
    int64_t kh_first, kh_end, kw_first, kw_end;
    valid_taps(row, g->h, g->kh, g->dilation_h, &kh_first, &kh_end);
    valid_taps(column, g->w, g->kw, g->dilation_w, &kw_first, &kw_end);
    int64_t unit = b->lane_x ? (int64_t)b->e->lanes : 1, lanes = (int64_t)b->e->lanes;
    int64_t taps = g->dilation_w == 1 ? kw_end - kw_first : 1;
    size_t count = 0;
    for (int64_t kh = kh_first; kh < kh_end; kh++) {
        for (int64_t kw = kw_first; kw < kw_end; kw += taps) {
            int64_t pixel = (row + kh * g->dilation_h) * g->w + column + kw * g->dilation_w;
            b->runs[count++] = (xpu_tile_run){
                .x = pixel * g->cg * unit, .w = (kh * g->kw + kw) * g->cg * lanes, .length = (size_t)(taps * g->cg)};
        }
    }
    return count;
}

static void conv_row(const conv_block *b, int64_t oh) {
    const geometry *g = b->g;
    int64_t row = oh * g->stride_h - g->pad_h, unit = b->lane_x ? (int64_t)b->e->lanes : 1;
    size_t plane = (size_t)(g->oh * g->ow);
    int64_t extent = (g->kw - 1) * g->dilation_w;
    for (int64_t ow = 0; ow < g->ow;) {
        int64_t column = ow * g->stride_w - g->pad_w, pixels = 1;
        if (column >= 0 && column + extent < g->w) { /* the window is inside: its neighbours may share its runs */
            int64_t inside = (g->w - 1 - extent - column) / g->stride_w + 1, left = g->ow - ow;
            pixels = inside < left ? inside : left;
            if (pixels > XPU_TILE_PIXELS) pixels = XPU_TILE_PIXELS;
        }
        size_t runs = window_runs(b, row, column);
        run_tile(b->e, b->lane_x, b->x, g->stride_w * g->cg * unit, b->w, b->runs, runs, b->channel, (int)pixels,
                 b->y + oh * g->ow + ow, 1, plane, b->lanes);
        ow += pixels;
    }
}

/* Weights of output channels [first, first + count) as [kh][kw][cg][lanes]; missing lanes stay 0. */
static void pack_conv_weights(const geometry *g, const engine *e, const void *w, int64_t first, size_t count,
                              void *out) {
    size_t taps = (size_t)(g->kh * g->kw), k = taps * (size_t)g->cg;
    for (size_t lane = 0; lane < count; lane++) {
        size_t channel = ((size_t)first + lane) * k;
        for (size_t c = 0; c < (size_t)g->cg; c++) {
            for (size_t tap = 0; tap < taps; tap++) {
                pack_w(e, w, channel + c * taps + tap, out, (tap * (size_t)g->cg + c) * e->lanes + lane);
            }
        }
    }
}

typedef struct {
    geometry g;
    engine e;
    epilogue end;
    const void *x;
    const char *w; /* packed, block after block */
    size_t block_elements;
    float *y; /* see sums_of */
    xpu_tile_run *runs;
    void *packed_x;
    const xpu_arena *scratch;
} conv_job;

static void conv_channels(const conv_job *job, int64_t n, int64_t first, size_t count, size_t block, int lane_x) {
    const geometry *g = &job->g;
    size_t plane = (size_t)(g->oh * g->ow);
    float *y = job->y + (size_t)(n * g->o + first) * plane;
    conv_block b = {.g = g,
                    .e = &job->e,
                    .lane_x = lane_x,
                    .x = job->packed_x,
                    .w = at(&job->e, job->w, block * job->block_elements),
                    .channel = (size_t)first,
                    .lanes = count,
                    .y = y,
                    .runs = job->runs};
    for (int64_t oh = 0; oh < g->oh; oh++) conv_row(&b, oh);
    for (size_t lane = 0; lane < count; lane++) {
        size_t index = (size_t)(y - job->y) + lane * plane, channel = (size_t)first + lane;
        if (job->e.kind == BYTES) {
            finish_bytes(&job->end, job->y + index, index, channel, 0, plane);
        } else {
            finish(&job->end, job->y + index, job->end.branch ? job->end.branch + index : NULL, channel, 0, plane);
        }
    }
}

/* Few output channels per group: lanes are output channels of several groups, each with its own operand. */
static xpu_status conv_by_lanes(const conv_job *job, int64_t n) {
    const geometry *g = &job->g;
    size_t pixels = (size_t)(g->h * g->w), lanes = job->e.lanes;
    size_t image = (size_t)(n * g->c) * pixels;
    for (int64_t first = 0; first < g->o; first += (int64_t)lanes) {
        if (xpu_stopped(job->scratch)) return XPU_ESTOPPED;
        size_t count = (size_t)(g->o - first) < lanes ? (size_t)(g->o - first) : lanes;
        for (size_t p = 0; p < pixels; p += PACK_PIXELS) {
            size_t chunk = pixels - p < PACK_PIXELS ? pixels - p : PACK_PIXELS;
            for (size_t i = 0; i < count * (size_t)g->cg; i++) {
                size_t lane = i / (size_t)g->cg, c = i % (size_t)g->cg;
                size_t channel = ((size_t)first + lane) / (size_t)(g->o / g->group) * (size_t)g->cg + c;
                pack_x(&job->e, job->x, image + channel * pixels + p,
                       at(&job->e, job->packed_x, (p * (size_t)g->cg + c) * lanes + lane), (size_t)g->cg * lanes,
                       chunk);
            }
        }
        conv_channels(job, n, first, count, (size_t)first / lanes, 1);
    }
    return XPU_OK;
}

static xpu_status conv_by_groups(const conv_job *job, int64_t n) {
    const geometry *g = &job->g;
    size_t pixels = (size_t)(g->h * g->w), lanes = job->e.lanes, block = 0;
    int64_t per_group = g->o / g->group;
    for (int64_t group = 0; group < g->group; group++) {
        size_t image = (size_t)(n * g->c + group * g->cg) * pixels;
        for (size_t p = 0; p < pixels; p += PACK_PIXELS) {
            size_t chunk = pixels - p < PACK_PIXELS ? pixels - p : PACK_PIXELS;
            for (size_t c = 0; c < (size_t)g->cg; c++) {
                pack_x(&job->e, job->x, image + c * pixels + p, at(&job->e, job->packed_x, p * (size_t)g->cg + c),
                       (size_t)g->cg, chunk);
            }
        }
        for (int64_t first = 0; first < per_group; first += (int64_t)lanes) {
            if (xpu_stopped(job->scratch)) return XPU_ESTOPPED;
            size_t count = (size_t)(per_group - first) < lanes ? (size_t)(per_group - first) : lanes;
            conv_channels(job, n, group * per_group + first, count, block++, 0);
        }
    }
    return XPU_OK;
}

xpu_status xpu_ref_conv(const xpu_ref_args *args) {
    conv_job job = {.scratch = args->scratch};
    geometry *g = &job.g;
    if (xpu_ref_prologue(args, &job.x) != XPU_OK) return XPU_EBUG;
    read_geometry(args, g);
    prepare(args, (size_t)g->o, &job.e, &job.end);
    int64_t per_group = g->o / g->group, lanes = (int64_t)job.e.lanes, k = g->kh * g->kw * g->cg;
    if (check_k(args, &job.e, k) != XPU_OK) return XPU_EUSAGE;
    job.y = sums_of(args, &job.end);
    int lane_x = g->group > 1 && per_group < lanes;
    int64_t span = lane_x ? g->o : per_group, spans = lane_x ? 1 : g->group;
    int64_t blocks_per_span = (span + lanes - 1) / lanes;
    job.block_elements = (size_t)(k * lanes);
    char *packed =
        xpu_alloc_array(args->scratch, (size_t)(blocks_per_span * spans), job.block_elements * job.e.element);
    job.w = packed;
    for (int64_t block = 0; block < blocks_per_span * spans; block++) {
        int64_t in_span = block % blocks_per_span * lanes, first = block / blocks_per_span * span + in_span;
        size_t count = (size_t)(span - in_span < lanes ? span - in_span : lanes);
        pack_conv_weights(g, &job.e, args->inputs[XPU_IN_W]->data, first, count,
                          at(&job.e, packed, (size_t)block * job.block_elements));
    }
    job.packed_x = xpu_alloc_array(args->scratch, (size_t)(g->h * g->w * g->cg * (lane_x ? lanes : 1)), job.e.element);
    job.runs = XPU_NEW_ARRAY(args->scratch, xpu_tile_run, g->kh * g->kw);
    for (int64_t n = 0; n < g->n; n++) {
        xpu_status status = lane_x ? conv_by_lanes(&job, n) : conv_by_groups(&job, n);
        if (status != XPU_OK) return status;
    }
    xpu_ref_write_absmax(args);
    return XPU_OK;
}

/* ---- matrix product ---- */

/* Index of the matrix of `tensor` that result matrix `index` uses, under broadcast leading dims. */
static size_t matrix_index(const xpu_tensor *tensor, const xpu_tensor *y, size_t index) {
    size_t result = 0, step = 1;
    for (int i = y->rank - 3, t = tensor->rank - 3; i >= 0; i--, t--) {
        size_t position = index % (size_t)y->dims[i];
        index /= (size_t)y->dims[i];
        if (t < 0) continue;
        if (tensor->dims[t] != 1) result += position * step;
        step *= (size_t)tensor->dims[t];
    }
    return result;
}

xpu_status xpu_ref_matmul(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[XPU_IN_X], *w = args->inputs[XPU_IN_W], *y = args->outputs[XPU_OUT_Y];
    size_t m = (size_t)y->dims[y->rank - 2], n = (size_t)y->dims[y->rank - 1], k = (size_t)x->dims[x->rank - 1];
    size_t count = (size_t)xpu_product(y->dims, 0, y->rank - 2);
    engine e;
    epilogue end;
    prepare(args, n, &e, &end);
    if (check_k(args, &e, (int64_t)k) != XPU_OK) return XPU_EUSAGE;
    float *sums = sums_of(args, &end);
    size_t blocks = (n + e.lanes - 1) / e.lanes, packed_w_index = SIZE_MAX, packed_x_index = SIZE_MAX;
    void *packed_w = xpu_alloc_array(args->scratch, blocks * e.lanes * k, e.element);
    void *packed_x = e.kind == FLOATS ? NULL : xpu_alloc_array(args->scratch, m * k, e.element);
    const xpu_tile_run run = {.length = k};
    for (size_t i = 0; i < count; i++) {
        size_t x_index = matrix_index(x, y, i), w_index = matrix_index(w, y, i);
        float *y_matrix = sums + i * m * n;
        if (w_index != packed_w_index) {
            for (size_t row = 0; row < k; row++) {
                for (size_t c = 0; c < n; c++) {
                    pack_w(&e, w->data, (w_index * k + row) * n + c, packed_w,
                           (c / e.lanes * k + row) * e.lanes + c % e.lanes);
                }
            }
            packed_w_index = w_index;
        }
        if (e.kind != FLOATS && x_index != packed_x_index) {
            pack_x(&e, x->data, x_index * m * k, packed_x, 1, m * k);
            packed_x_index = x_index;
        }
        const void *rows = e.kind == FLOATS ? at(&e, x->data, x_index * m * k) : packed_x;
        for (size_t c = 0; c < n; c += e.lanes) {
            if (xpu_stopped(args->scratch)) return XPU_ESTOPPED;
            size_t lanes = n - c < e.lanes ? n - c : e.lanes;
            for (size_t row = 0; row < m; row += XPU_TILE_PIXELS) {
                int pixels = m - row < XPU_TILE_PIXELS ? (int)(m - row) : XPU_TILE_PIXELS;
                run_tile(&e, 0, at(&e, rows, row * k), (ptrdiff_t)k, at(&e, packed_w, c * k), &run, 1, c, pixels,
                         y_matrix + row * n + c, n, 1, lanes);
            }
        }
        for (size_t row = 0; row < m; row++) {
            size_t offset = (i * m + row) * n;
            if (e.kind == BYTES) {
                finish_bytes(&end, sums + offset, offset, 0, 1, n);
            } else {
                finish(&end, sums + offset, end.branch ? end.branch + offset : NULL, 0, 1, n);
            }
        }
    }
    xpu_ref_write_absmax(args);
    return XPU_OK;
}
