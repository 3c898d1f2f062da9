/* Pooling: taps in (kh, kw) order, padded taps skipped. */
#include "core/arith.h"
#include "core/ops/ref_util.h"
#include "core/ops/rows.h"
#include "core/ops/window.h"

typedef struct {
    int64_t planes, h, w, oh, ow, kh, kw;
    int64_t stride_h, stride_w, dilation_h, dilation_w, pad_h, pad_w, end_h, end_w;
    int count_include_pad;
} geometry;

static void read_geometry(const xpu_ref_args *args, geometry *g) {
    const xpu_tensor *x = args->inputs[0], *y = args->outputs[0];
    const xpu_window window = xpu_window_of(args->graph, args->node);
    int counts = xpu_op_attr(xpu_node_at(args->graph, args->node)->op, XPU_ATTR_COUNT_INCLUDE_PAD) &&
                 xpu_node_int(args->graph, args->node, XPU_ATTR_COUNT_INCLUDE_PAD) != 0;
    int last = x->rank - 1, flat = x->rank == 3;
    *g = (geometry){.planes = x->dims[0] * x->dims[1],
                    .h = flat ? 1 : x->dims[2],
                    .w = x->dims[last],
                    .oh = flat ? 1 : y->dims[2],
                    .ow = y->dims[last],
                    .kh = window.kernel[0],
                    .kw = window.kernel[1],
                    .stride_h = window.stride[0],
                    .stride_w = window.stride[1],
                    .dilation_h = window.dilation[0],
                    .dilation_w = window.dilation[1],
                    .pad_h = window.begin[0],
                    .pad_w = window.begin[1],
                    .end_h = window.end[0],
                    .end_w = window.end[1],
                    .count_include_pad = counts};
}

/* The taps k of a window at `start` with lo <= start + k * dilation < hi: [*first, *end). */
static void taps_in(int64_t start, int64_t lo, int64_t hi, int64_t kernel, int64_t dilation, int64_t *first,
                    int64_t *end) {
    *first = start >= lo ? 0 : (lo - start + dilation - 1) / dilation;
    *end = hi <= start ? 0 : (hi - start + dilation - 1) / dilation;
    if (*end > kernel) *end = kernel;
    if (*first > *end) *first = *end;
}

typedef struct {
    int64_t row, column, kh, kh_end, kw, kw_end;
    int64_t count; /* taps inside the padded operand */
} taps;

static taps taps_at(const geometry *g, int64_t oh, int64_t ow) {
    taps v = {.row = oh * g->stride_h - g->pad_h, .column = ow * g->stride_w - g->pad_w};
    int64_t first, end, first_w, end_w;
    taps_in(v.row, 0, g->h, g->kh, g->dilation_h, &v.kh, &v.kh_end);
    taps_in(v.column, 0, g->w, g->kw, g->dilation_w, &v.kw, &v.kw_end);
    taps_in(v.row, -g->pad_h, g->h + g->end_h, g->kh, g->dilation_h, &first, &end);
    taps_in(v.column, -g->pad_w, g->w + g->end_w, g->kw, g->dilation_w, &first_w, &end_w);
    v.count = (end - first) * (end_w - first_w);
    return v;
}

static float max_of(const geometry *g, const taps *v, const float *plane) {
    if (v->kh == v->kh_end || v->kw == v->kw_end) return xa_lowest();
    float most = -xa_inf();
    for (int64_t kh = v->kh; kh < v->kh_end; kh++) {
        const float *row = plane + (v->row + kh * g->dilation_h) * g->w + v->column;
        for (int64_t kw = v->kw; kw < v->kw_end; kw++) most = xa_max(most, row[kw * g->dilation_w]);
    }
    return most;
}

/* Each column from the top, then the columns from the left. */
static float sum_by_columns(const geometry *g, const taps *v, const float *plane) {
    float sum = 0;
    for (int64_t kw = v->kw; kw < v->kw_end; kw++) {
        const float *x = plane + v->row * g->w + v->column + kw * g->dilation_w;
        float column = 0;
        for (int64_t kh = v->kh; kh < v->kh_end; kh++) column += x[kh * g->dilation_h * g->w];
        sum += column;
    }
    return sum;
}

static float sum_of(const geometry *g, const taps *v, const float *plane) {
    float sum = 0;
    for (int64_t kh = v->kh; kh < v->kh_end; kh++) {
        const float *row = plane + (v->row + kh * g->dilation_h) * g->w + v->column;
        for (int64_t kw = v->kw; kw < v->kw_end; kw++) sum += row[kw * g->dilation_w];
    }
    return sum;
}

/* Order of bytes by `flip`: 0x80 for int8, 0 for uint8. */
static uint8_t max_of_bytes(const geometry *g, const taps *v, const uint8_t *plane, uint8_t flip) {
    uint8_t most = 0;
    for (int64_t kh = v->kh; kh < v->kh_end; kh++) {
        const uint8_t *row = plane + (v->row + kh * g->dilation_h) * g->w + v->column;
        for (int64_t kw = v->kw; kw < v->kw_end; kw++) {
            uint8_t value = row[kw * g->dilation_w] ^ flip;
            most = value > most ? value : most;
        }
    }
    return most ^ flip;
}

static void max_pool_bytes(const geometry *g, const uint8_t *x, uint8_t *y, uint8_t flip) {
    for (int64_t plane = 0; plane < g->planes; plane++, x += g->h * g->w) {
        for (int64_t i = 0; i < g->oh * g->ow; i++) {
            taps v = taps_at(g, i / g->ow, i % g->ow);
            *y++ = max_of_bytes(g, &v, x, flip);
        }
    }
}

/* As integers, by the largest magnitude of the whole operand: the maximum of these is that of the floats, rounded. */
static void round_maxima(const xpu_ref_args *args) {
    const float absmax = *(const float *)args->inputs[XPU_IN_ABSMAX]->data;
    const float inverse = xa_absmax_inverse(absmax, XA_I16_MAX), scale = xa_absmax_scale(absmax, XA_I16_MAX);
    float *y = args->outputs[XPU_OUT_Y]->data;
    for (int64_t i = 0; i < xpu_tensor_count(args->outputs[XPU_OUT_Y]); i++)
        y[i] = xa_mul((float)xa_absmax_quantize(y[i], inverse, XA_I16_MAX), scale);
    xpu_ref_write_absmax(args);
}

/* A NaN in a window is its result; a window of padding only gives the lowest value of the type. */
xpu_status xpu_ref_max_pool(const xpu_ref_args *args) {
    geometry g;
    read_geometry(args, &g);
    if (args->inputs[0]->dtype != XPU_F32) {
        uint8_t flip = args->inputs[0]->dtype == XPU_I8 ? 0x80 : 0;
        max_pool_bytes(&g, args->inputs[0]->data, args->outputs[0]->data, flip);
        return XPU_OK;
    }
    const float *x = args->inputs[0]->data;
    float *y = args->outputs[0]->data;
    for (int64_t plane = 0; plane < g.planes; plane++, x += g.h * g.w) {
        for (int64_t i = 0; i < g.oh * g.ow; i++) {
            taps v = taps_at(&g, i / g.ow, i % g.ow);
            *y++ = max_of(&g, &v, x);
        }
    }
    if (xpu_ref_int(args, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32) round_maxima(args);
    return XPU_OK;
}

/* The taps inside the operand, with count_include_pad those inside the padded operand: what ceil_mode adds beyond the
 * padding never counts. */
static int64_t divisor_of(const geometry *g, const taps *v) {
    return g->count_include_pad ? v->count : (v->kh_end - v->kh) * (v->kw_end - v->kw);
}

/* By the largest magnitude of the whole operand. */
static void average_windows_of_integers(const xpu_ref_args *args, const geometry *g) {
    const float absmax = *(const float *)args->inputs[XPU_IN_ABSMAX]->data, *x = args->inputs[XPU_IN_X]->data;
    const float inverse = xa_absmax_inverse(absmax, XA_I16_MAX), scale = xa_absmax_scale(absmax, XA_I16_MAX);
    float *y = args->outputs[XPU_OUT_Y]->data;
    for (int64_t plane = 0; plane < g->planes; plane++, x += g->h * g->w) {
        for (int64_t i = 0; i < g->oh * g->ow; i++) {
            const taps v = taps_at(g, i / g->ow, i % g->ow);
            int64_t sum = 0;
            for (int64_t kh = v.kh; kh < v.kh_end; kh++) {
                const float *row = x + (v.row + kh * g->dilation_h) * g->w + v.column;
                for (int64_t kw = v.kw; kw < v.kw_end; kw++)
                    sum += xa_absmax_quantize(row[kw * g->dilation_w], inverse, XA_I16_MAX);
            }
            *y++ = xa_mul(xa_acc48_to_float(sum), xa_mean_scale(scale, divisor_of(g, &v)));
        }
    }
    xpu_ref_write_absmax(args);
}

/* The sum starts at +0. */
xpu_status xpu_ref_average_pool(const xpu_ref_args *args) {
    geometry g;
    read_geometry(args, &g);
    const float *x = args->inputs[0]->data;
    float *y = args->outputs[0]->data;
    int by_columns = xpu_node_int(args->graph, args->node, XPU_ATTR_BY_COLUMNS) != 0;
    if (xpu_ref_int(args, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32) {
        average_windows_of_integers(args, &g);
        return XPU_OK;
    }
    for (int64_t plane = 0; plane < g.planes; plane++, x += g.h * g.w) {
        for (int64_t i = 0; i < g.oh * g.ow; i++) {
            taps v = taps_at(&g, i / g.ow, i % g.ow);
            float sum = by_columns ? sum_by_columns(&g, &v, x) : sum_of(&g, &v, x);
            *y++ = xa_div(sum, (float)divisor_of(&g, &v));
        }
    }
    return XPU_OK;
}

/* As integers, by the largest magnitude of the whole operand. */
static void average_integers(const xpu_ref_args *args, int64_t planes, int64_t size) {
    const float absmax = *(const float *)args->inputs[XPU_IN_ABSMAX]->data, *in = args->inputs[XPU_IN_X]->data;
    const float inverse = xa_absmax_inverse(absmax, XA_I16_MAX);
    const float scale = xa_mean_scale(xa_absmax_scale(absmax, XA_I16_MAX), size);
    float *y = args->outputs[XPU_OUT_Y]->data;
    for (int64_t plane = 0; plane < planes; plane++, in += size) {
        int64_t sum = 0;
        for (int64_t i = 0; i < size; i++) sum += xa_absmax_quantize(in[i], inverse, XA_I16_MAX);
        y[plane] = xa_mul(xa_acc48_to_float(xa_acc48_wrap(sum)), scale);
    }
    xpu_ref_write_absmax(args);
}

xpu_status xpu_ref_global_average_pool(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    int64_t planes = x->dims[0] * x->dims[1], size = xpu_product(x->dims, 2, x->rank);
    const float *in = x->data;
    float *y = args->outputs[0]->data;
    if (xpu_ref_int(args, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32) {
        average_integers(args, planes, size);
        return XPU_OK;
    }
    for (int64_t plane = 0; plane < planes; plane++) {
        y[plane] = xa_reduce(XA_REDUCE_MEAN, in, (size_t)size, 1);
        in += size;
    }
    return XPU_OK;
}
