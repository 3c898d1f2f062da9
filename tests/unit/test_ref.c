/* Each reference kernel against the formulas of docs/arithmetic.md written as plainly as possible. */
#include <float.h>
#include <math.h>

#include "core/arith.h"
#include "core/ops/ref.h"
#include "core/ops/ref_tile.h"
#include "tests/unit/ir.h"

/* ---- running one kernel on random tensors, its results filled with noise before ---- */

static xpu_tensor new_tensor(bench *b, xpu_dtype dtype, int rank, const int64_t *dims) {
    xpu_tensor tensor = {.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++) tensor.dims[i] = dims[i];
    tensor.data = xpu_alloc(b->arena, xpu_tensor_bytes(&tensor));
    return tensor;
}

static xpu_tensor random_tensor(bench *b, random_source *r, int rank, const int64_t *dims) {
    xpu_tensor tensor = new_tensor(b, XPU_F32, rank, dims);
    for (int64_t i = 0; i < xpu_tensor_count(&tensor); i++) ((float *)tensor.data)[i] = random_float(r);
    return tensor;
}

static float *f32(const xpu_tensor *tensor) {
    return tensor->data;
}

/* Builds the node on graph inputs of the tensors' types and runs its kernel. 0 (with a failed check) on errors. */
static int run_kernel(bench *b, xpu_op_id op, const xpu_tensor *const *operands, uint32_t count, const xpu_attr *attrs,
                      uint32_t attr_count, xpu_tensor *results, uint32_t result_count) {
    xpu_value inputs[XPU_IN_COUNT] = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i]) inputs[i] = bench_input(b, NULL, operands[i]->dtype, operands[i]->rank, operands[i]->dims);
    }
    xpu_node node = xpu_graph_add(b->graph, (xpu_node){0}, xpu_op_of(op), inputs, count, NULL, result_count, attrs,
                                  attr_count, NULL, 0);
    xpu_op_infer(b->graph, node, &b->diags);
    xpu_tensor *outputs[2];
    for (uint32_t i = 0; i < result_count && !b->diags.errors; i++) {
        xpu_value value = xpu_node_output(b->graph, node, i);
        int64_t dims[XPU_MAX_RANK];
        xpu_value_dims(b->graph, value, NULL, dims);
        results[i] = new_tensor(b, xpu_value_at(b->graph, value)->dtype, xpu_value_at(b->graph, value)->rank, dims);
        memset(results[i].data, 0xa5, xpu_tensor_bytes(&results[i]));
        outputs[i] = &results[i];
    }
    if (!b->diags.errors) {
        xpu_op_of(op)->ref(&(xpu_ref_args){.graph = b->graph,
                                           .node = node,
                                           .inputs = operands,
                                           .outputs = outputs,
                                           .scratch = b->arena,
                                           .diags = &b->diags});
    }
    bench_print(b);
    CU_ASSERT_EQUAL(b->diags.errors, 0);
    return b->diags.errors == 0;
}

static int64_t differences(const float *a, const float *b, int64_t count) {
    int64_t differ = 0;
    for (int64_t i = 0; i < count; i++) differ += !xa_same(a[i], b[i]);
    return differ;
}

/* ---- conv and matmul ---- */

typedef struct {
    int int16, activation, branch_after;
    float low, high, alpha;
    const xpu_tensor *bias, *branch, *scale, *absmax;
} layer;

static float layer_end(const layer *l, float y, int64_t channel, int64_t index) {
    if (!l->int16) y += l->bias ? f32(l->bias)[channel] : 0;
    if (l->branch && !l->branch_after) y += f32(l->branch)[index];
    if (l->activation == XPU_ACTIVATION_CLIP) y = xa_min(xa_max(y, l->low), l->high);
    if (l->activation == XPU_ACTIVATION_LEAKY) y = y < 0 ? xa_mul(y, l->alpha) : y;
    if (l->branch && l->branch_after) y += f32(l->branch)[index];
    return y;
}

static int32_t quantised(const layer *l, float x) {
    float absmax = *f32(l->absmax), inverse = absmax > 0 ? 32767.0f / absmax : 0;
    float scaled = xa_mul(x, inverse);
    if (scaled != scaled || scaled >= 32767) return 32767;
    return scaled <= -32767 ? -32767 : (int32_t)rintf(scaled);
}

static float int16_result(const layer *l, int64_t acc, int64_t channel) {
    float absmax = *f32(l->absmax), x_scale = absmax < INFINITY ? absmax / 32767.0f : NAN;
    acc = (int64_t)((uint64_t)acc << 16) >> 16;
    float y = xa_mul((float)acc, xa_mul(x_scale, f32(l->scale)[channel]));
    if (l->bias) y += f32(l->bias)[channel];
    return y;
}

typedef struct {
    int64_t n, group, cg, og, kh, kw, h, w, sh, sw, dh, dw, pt, pl, pb, pr;
} conv_case;

static void naive_conv(const conv_case *c, const layer *l, const xpu_tensor *x, const xpu_tensor *w,
                       const xpu_tensor *y, float *out) {
    int flat = x->rank == 3;
    int64_t oh = flat ? 1 : y->dims[2], ow = y->dims[y->rank - 1], o_count = c->group * c->og, index = 0;
    for (int64_t n = 0; n < c->n; n++)
        for (int64_t o = 0; o < o_count; o++)
            for (int64_t i = 0; i < oh; i++)
                for (int64_t j = 0; j < ow; j++, index++) {
                    float sum = -0.0f;
                    int64_t acc = 0;
                    for (int64_t kh = 0; kh < c->kh; kh++)
                        for (int64_t kw = 0; kw < c->kw; kw++) {
                            int64_t row = i * c->sh - c->pt + kh * c->dh, column = j * c->sw - c->pl + kw * c->dw;
                            if (row < 0 || row >= c->h || column < 0 || column >= c->w) continue;
                            for (int64_t ch = 0; ch < c->cg; ch++) {
                                int64_t channel = n * c->group * c->cg + o / c->og * c->cg + ch;
                                float value = f32(x)[(channel * c->h + row) * c->w + column];
                                int64_t weight = ((o * c->cg + ch) * c->kh + kh) * c->kw + kw;
                                if (l->int16) {
                                    acc += (int64_t)quantised(l, value) * ((const int16_t *)w->data)[weight];
                                } else {
                                    sum = fmaf(value, f32(w)[weight], sum);
                                }
                            }
                        }
                    out[index] = layer_end(l, l->int16 ? int16_result(l, acc, o) : sum, o, index);
                }
}

/* The operands and attributes that conv and matmul share, drawn at random. */
typedef struct {
    layer l;
    xpu_tensor bias, branch, scale, absmax;
    xpu_attr attrs[12];
    uint32_t attr_count;
} layer_setup;

static void draw_layer(bench *b, random_source *r, layer_setup *s, const xpu_tensor *x, int64_t channels,
                       int branch_rank, const int64_t *branch_dims) {
    layer *l = &s->l;
    l->activation = (int)random_range(r, 0, 2);
    l->branch_after = (int)random_range(r, 0, 1);
    l->low = -0.5f;
    l->high = random_range(r, 0, 1) ? INFINITY : 1.5f;
    l->alpha = 0.1f;
    if (random_range(r, 0, 1)) {
        s->bias = random_tensor(b, r, 1, &channels);
        l->bias = &s->bias;
    }
    if (random_range(r, 0, 2) == 0) {
        s->branch = random_tensor(b, r, branch_rank, branch_dims);
        l->branch = &s->branch;
    }
    if (l->int16) {
        s->scale = random_tensor(b, r, 1, &channels);
        s->absmax = new_tensor(b, XPU_F32, 0, NULL);
        *f32(&s->absmax) = xa_absmax_of(f32(x), (size_t)xpu_tensor_count(x));
        int64_t special = random_range(r, 0, 9);
        if (special == 0) *f32(&s->absmax) = INFINITY;
        if (special == 1) memset(x->data, 0, xpu_tensor_bytes(x)), *f32(&s->absmax) = 0;
        l->scale = &s->scale;
        l->absmax = &s->absmax;
    }
    s->attrs[s->attr_count++] = XPU_ATTR_INT_OF(PRECISION, l->int16 ? XPU_PRECISION_INT16 : XPU_PRECISION_FP32);
    s->attrs[s->attr_count++] = XPU_ATTR_INT_OF(ACTIVATION, l->activation);
    s->attrs[s->attr_count++] = XPU_ATTR_INT_OF(BRANCH_AFTER, l->branch_after);
    s->attrs[s->attr_count++] = XPU_ATTR_FLOAT_OF(LOW, l->low);
    s->attrs[s->attr_count++] = XPU_ATTR_FLOAT_OF(HIGH, l->high);
    s->attrs[s->attr_count++] = XPU_ATTR_FLOAT_OF(ALPHA, l->alpha);
}

static xpu_tensor draw_weights(bench *b, random_source *r, int int16, int rank, const int64_t *dims) {
    if (!int16) return random_tensor(b, r, rank, dims);
    xpu_tensor w = new_tensor(b, XPU_I16, rank, dims);
    for (int64_t i = 0; i < xpu_tensor_count(&w); i++) {
        ((int16_t *)w.data)[i] = (int16_t)random_range(r, -32767, 32767);
    }
    return w;
}

static void check_layer(bench *b, xpu_op_id op, const layer_setup *s, const xpu_tensor *x, const xpu_tensor *w,
                        const conv_case *c,
                        void (*naive)(const conv_case *, const layer *, const xpu_tensor *, const xpu_tensor *,
                                      const xpu_tensor *, float *)) {
    const layer *l = &s->l;
    const xpu_tensor *operands[XPU_IN_COUNT] = {x, w, l->bias, l->branch, l->scale, l->absmax};
    xpu_tensor results[2];
    if (!run_kernel(b, op, operands, XPU_IN_COUNT, s->attrs, s->attr_count, results, 2)) return;
    int64_t count = xpu_tensor_count(&results[0]);
    float *expected = XPU_NEW_ARRAY(b->arena, float, count);
    naive(c, l, x, w, &results[0], expected);
    CU_ASSERT_EQUAL(differences(f32(&results[0]), expected, count), 0);
    float most = 0;
    for (int64_t i = 0; i < count; i++) {
        float size = fabsf(expected[i]);
        if (size != size) size = INFINITY;
        if (size > most) most = size;
    }
    CU_ASSERT(xa_same(*f32(&results[1]), most));
}

static conv_case draw_conv(random_source *r, int flat) {
    for (;;) {
        int depthwise = random_range(r, 0, 3) == 0;
        conv_case c = {.n = random_range(r, 1, 2),
                       .group = depthwise               ? random_range(r, 2, 40)
                                : random_range(r, 0, 3) ? 1
                                                        : random_range(r, 2, 5),
                       .kh = flat ? 1 : random_range(r, 1, 4),
                       .kw = random_range(r, 1, 5),
                       .h = flat ? 1 : random_range(r, 1, 12),
                       .w = random_range(r, 1, 16),
                       .sh = flat ? 1 : random_range(r, 1, 3),
                       .sw = random_range(r, 1, 3),
                       .dh = flat ? 1 : random_range(r, 1, 3),
                       .dw = random_range(r, 1, 3),
                       .pt = flat ? 0 : random_range(r, 0, 3),
                       .pl = random_range(r, 0, 3),
                       .pb = flat ? 0 : random_range(r, 0, 3),
                       .pr = random_range(r, 0, 3)};
        int64_t most = c.group > 1 ? 12 : random_range(r, 0, 4) ? 24 : 200;
        c.cg = depthwise ? random_range(r, 1, 2) : random_range(r, 1, most);
        c.og = depthwise ? random_range(r, 1, 2) : random_range(r, 1, most);
        if (random_range(r, 0, 4) == 0) { /* pointwise */
            c.kh = c.kw = c.sh = c.sw = 1;
            c.pt = c.pl = c.pb = c.pr = 0;
        }
        if (c.h + c.pt + c.pb >= (c.kh - 1) * c.dh + 1 && c.w + c.pl + c.pr >= (c.kw - 1) * c.dw + 1) return c;
    }
}

static void one_conv(random_source *r, int flat, int int16) {
    BENCH_OPEN(b);
    conv_case c = draw_conv(r, flat);
    int skip = flat ? 1 : 0, rank = flat ? 3 : 4;
    int64_t x_dims[] = {c.n, c.group * c.cg, c.h, c.w}, w_dims[] = {c.group * c.og, c.cg, c.kh, c.kw};
    int64_t y_dims[] = {c.n, c.group * c.og, (c.h + c.pt + c.pb - (c.kh - 1) * c.dh - 1) / c.sh + 1,
                        (c.w + c.pl + c.pr - (c.kw - 1) * c.dw - 1) / c.sw + 1};
    if (flat) x_dims[2] = c.w, w_dims[2] = c.kw, y_dims[2] = y_dims[3];
    xpu_tensor x = random_tensor(&b, r, rank, x_dims), w = draw_weights(&b, r, int16, rank, w_dims);
    layer_setup s = {.l = {.int16 = int16}};
    draw_layer(&b, r, &s, &x, c.group * c.og, rank, y_dims);
    int64_t strides[] = {c.sh, c.sw}, dilations[] = {c.dh, c.dw}, pads[] = {c.pt, c.pl, c.pb, c.pr};
    int64_t flat_pads[] = {c.pl, c.pr};
    uint32_t spatial = (uint32_t)(2 - skip);
    s.attrs[s.attr_count++] = XPU_ATTR_INTS_OF(STRIDES, strides + skip, spatial);
    s.attrs[s.attr_count++] = XPU_ATTR_INTS_OF(DILATIONS, dilations + skip, spatial);
    s.attrs[s.attr_count++] = XPU_ATTR_INTS_OF(PADS, flat ? flat_pads : pads, 2 * spatial);
    s.attrs[s.attr_count++] = XPU_ATTR_INT_OF(GROUP, c.group);
    check_layer(&b, XPU_OP_CONV, &s, &x, &w, &c, naive_conv);
    bench_close(&b);
}

static void conv_is_canonical(void) {
    random_source r = random_open("conv");
    for (int i = 0; i < 600; i++) one_conv(&r, i % 4 == 0, i % 3 == 0);
}

static void naive_matmul(const conv_case *c, const layer *l, const xpu_tensor *x, const xpu_tensor *w,
                         const xpu_tensor *y, float *out) {
    (void)c;
    int64_t m = x->dims[x->rank - 2], k = x->dims[x->rank - 1], n = w->dims[w->rank - 1], index = 0;
    int64_t matrices = xpu_tensor_count(y) / (m * n);
    for (int64_t i = 0; i < matrices; i++) {
        /* y is [A, B, m, n]; x and w have these leading dims, 1 in their place, or none */
        int64_t a = i / y->dims[1], b = i % y->dims[1];
        int64_t xi = (x->dims[0] > 1 ? a : 0) * x->dims[1] + (x->dims[1] > 1 ? b : 0);
        int64_t wi = w->rank == 2 ? 0 : w->dims[0] > 1 ? b : 0;
        for (int64_t row = 0; row < m; row++)
            for (int64_t col = 0; col < n; col++, index++) {
                float sum = -0.0f;
                int64_t acc = 0;
                for (int64_t j = 0; j < k; j++) {
                    float value = f32(x)[(xi * m + row) * k + j];
                    int64_t weight = (wi * k + j) * n + col;
                    if (l->int16) {
                        acc += (int64_t)quantised(l, value) * ((const int16_t *)w->data)[weight];
                    } else {
                        sum = fmaf(value, f32(w)[weight], sum);
                    }
                }
                out[index] = layer_end(l, l->int16 ? int16_result(l, acc, col) : sum, col, index);
            }
    }
}

static void matmul_is_canonical(void) {
    random_source r = random_open("matmul");
    for (int i = 0; i < 200; i++) {
        BENCH_OPEN(b);
        int int16 = i % 3 == 0, w_rank = (int)random_range(&r, 2, 3);
        int64_t m = random_range(&r, 1, 20), k = random_range(&r, 1, 70), n = random_range(&r, 1, 50);
        int64_t lead_a = random_range(&r, 1, 3), lead_b = random_range(&r, 1, 3);
        int64_t x_dims[] = {lead_a, random_range(&r, 0, 1) && w_rank == 3 ? 1 : lead_b, m, k};
        int64_t w_dims[] = {random_range(&r, 0, 1) && x_dims[1] == lead_b ? 1 : lead_b, k, n};
        int64_t y_dims[] = {lead_a, lead_b, m, n};
        xpu_tensor x = random_tensor(&b, &r, 4, x_dims);
        xpu_tensor w = draw_weights(&b, &r, int16, w_rank, w_dims + (3 - w_rank));
        layer_setup s = {.l = {.int16 = int16}};
        draw_layer(&b, &r, &s, &x, n, 4, y_dims);
        check_layer(&b, XPU_OP_MATMUL, &s, &x, &w, NULL, naive_matmul);
        bench_close(&b);
    }
}

enum { END_X, END_W, END_BIAS, END_Y, END_K };
static void check_end(const float *c, int has_bias) {
    BENCH_OPEN(b);
    const int k = (int)c[END_K];
    xpu_tensor x = new_tensor(&b, XPU_F32, DIMS(1, k)), w = new_tensor(&b, XPU_F32, DIMS(k, 1)), y;
    xpu_tensor bias = new_tensor(&b, XPU_F32, DIMS(1));
    for (int j = 0; j < k; j++) f32(&x)[j] = c[END_X], f32(&w)[j] = c[END_W];
    *f32(&bias) = c[END_BIAS];
    if (run_kernel(&b, XPU_OP_MATMUL, (const xpu_tensor *[]){&x, &w, &bias}, 2 + (uint32_t)has_bias, NULL, 0, &y, 1))
        CU_ASSERT_EQUAL(xa_bits(*f32(&y)), xa_bits(has_bias ? c[END_Y] : (float)k * c[END_X] * c[END_W] + 0.0f));
    bench_close(&b);
}

/* Results are as exact as sums of products; their zeros have no sign, but where the bias is -0. */
static void bias_comes_last(void) {
    static const float cases[][5] = {{1, 1, 0x1p24f, 0x1p24f + 2, 2}, {0, -1, 0.0f, 0.0f, 2},
                                     {0, -1, -0.0f, -0.0f, 2},        {0, 1, -0.0f, 0.0f, 2},
                                     {0, 0, -0.0f, -0.0f, 0},         {0x1p-149f, -0.25f, 0, 0.0f, 1}};
    for (int i = 0; i < 12; i++) check_end(cases[i / 2], i % 2);
}

/* Sums beyond 48 bits wrap. */
static void int16_wraps_at_48_bits(void) {
    BENCH_OPEN(b);
    enum { K = 140000 };
    xpu_tensor x = new_tensor(&b, XPU_F32, DIMS(1, K)), w = new_tensor(&b, XPU_I16, DIMS(K, 1));
    for (int i = 0; i < K; i++) {
        f32(&x)[i] = 1;
        ((int16_t *)w.data)[i] = 32767;
    }
    xpu_tensor scale = new_tensor(&b, XPU_F32, DIMS(1)), absmax = new_tensor(&b, XPU_F32, 0, NULL), y;
    *f32(&scale) = *f32(&absmax) = 1;
    const xpu_tensor *operands[XPU_IN_COUNT] = {&x, &w, NULL, NULL, &scale, &absmax};
    xpu_attr attr = XPU_ATTR_INT_OF(PRECISION, XPU_PRECISION_INT16);
    if (run_kernel(&b, XPU_OP_MATMUL, operands, XPU_IN_COUNT, &attr, 1, &y, 1)) {
        int64_t acc = (int64_t)K * 32767 * 32767;
        CU_ASSERT(acc > (int64_t)1 << 47);
        acc -= (int64_t)1 << 48;
        CU_ASSERT_EQUAL(*f32(&y), xa_mul((float)acc, xa_mul(1.0f / 32767.0f, 1.0f)));
    }
    bench_close(&b);
}

/* The functions for this host's instruction set and the portable ones give the same bits. */
static void tiles_agree(void) {
    enum { K = 37, LANES = XPU_TILE_LANES_FLOAT };
    random_source r = random_open("tiles");
    float x[XPU_TILE_PIXELS * K * LANES], w[2 * K * LANES], init[LANES], a[XPU_TILE_PIXELS * LANES], c[sizeof a / 4];
    double xd[XPU_TILE_PIXELS * K * LANES], wd[2 * K * LANES], initd[LANES], ad[sizeof a / 4], cd[sizeof a / 4];
    for (size_t i = 0; i < sizeof x / 4; i++) xd[i] = (double)random_range(&r, -32767, 32767), x[i] = random_float(&r);
    for (size_t i = 0; i < sizeof w / 4; i++) wd[i] = (double)random_range(&r, -32767, 32767), w[i] = random_float(&r);
    for (int i = 0; i < LANES; i++) initd[i] = 0, init[i] = random_float(&r);
    const xpu_tile_run runs[] = {{0, 0, 11}, {13, 16, 0}, {12, 320, 20}};
    for (int lane_x = 0; lane_x < 2; lane_x++) {
        for (int pixels = 1; pixels <= XPU_TILE_PIXELS; pixels++) {
            const xpu_tiles *best = xpu_tiles_for_host(0), *plain = xpu_tiles_for_host(1);
            ptrdiff_t stride = lane_x ? K * LANES : K;
            (lane_x ? best->float_lane_x : best->float_scalar_x)(x, stride, w, runs, 3, init, a, pixels);
            (lane_x ? plain->float_lane_x : plain->float_scalar_x)(x, stride, w, runs, 3, init, c, pixels);
            CU_ASSERT_EQUAL(memcmp(a, c, (size_t)pixels * LANES * sizeof(float)), 0);
            (lane_x ? best->double_lane_x : best->double_scalar_x)(xd, stride, wd, runs, 3, initd, ad, pixels);
            (lane_x ? plain->double_lane_x : plain->double_scalar_x)(xd, stride, wd, runs, 3, initd, cd, pixels);
            CU_ASSERT_EQUAL(memcmp(ad, cd, (size_t)pixels * XPU_TILE_LANES_DOUBLE * sizeof(double)), 0);
        }
    }
}

/* ---- pooling ---- */

static void naive_pool(const conv_case *c, int average, int include_pad, const xpu_tensor *x, const xpu_tensor *y,
                       float *out) {
    int64_t oh = y->dims[2], ow = y->dims[3];
    for (int64_t p = 0; p < x->dims[0] * x->dims[1]; p++)
        for (int64_t i = 0; i < oh; i++)
            for (int64_t j = 0; j < ow; j++) {
                float most = -INFINITY, sum = 0;
                int count = 0, taps = 0;
                for (int64_t kh = 0; kh < c->kh; kh++)
                    for (int64_t kw = 0; kw < c->kw; kw++) {
                        int64_t row = i * c->sh - c->pt + kh * c->dh, column = j * c->sw - c->pl + kw * c->dw;
                        int inside = row >= 0 && row < c->h && column >= 0 && column < c->w;
                        count += inside || (include_pad && row < c->h + c->pb && column < c->w + c->pr);
                        if (!inside) continue;
                        taps++;
                        float value = f32(x)[(p * c->h + row) * c->w + column];
                        most = xa_max(most, value);
                        sum += value;
                    }
                *out++ = average ? sum / (float)count : taps ? most : -FLT_MAX;
            }
}

/* In float32 the order shows: by rows ((1e9 + 1) - 1e9) + 1, by columns (1e9 - 1e9) + (1 + 1). */
static void averages_have_an_order(void) {
    for (int by_columns = 0; by_columns < 2; by_columns++) {
        BENCH_OPEN(b);
        float values[] = {1e9f, 1, -1e9f, 1};
        xpu_tensor x = {.dtype = XPU_F32, .rank = 4, .dims = {1, 1, 2, 2}, .data = values}, y;
        xpu_attr attrs[] = {INTS(KERNEL, 2, 2), XPU_ATTR_INT_OF(BY_COLUMNS, by_columns)};
        const xpu_tensor *operands[] = {&x};
        CU_ASSERT(run_kernel(&b, XPU_OP_AVERAGE_POOL, operands, 1, attrs, 2, &y, 1));
        CU_ASSERT_EQUAL(f32(&y)[0], by_columns ? 0.5f : 0.25f);
        bench_close(&b);
    }
}

static void pools_are_canonical(void) {
    random_source r = random_open("pool");
    for (int i = 0; i < 80; i++) {
        BENCH_OPEN(b);
        conv_case c = draw_conv(&r, 0);
        int64_t eh = (c.kh - 1) * c.dh + 1, ew = (c.kw - 1) * c.dw + 1;
        if (c.pt >= eh) c.pt = eh - 1;
        if (c.pb >= eh) c.pb = eh - 1;
        if (c.pl >= ew) c.pl = ew - 1;
        if (c.pr >= ew) c.pr = ew - 1;
        if (c.h + c.pt + c.pb < eh) c.h = eh;
        if (c.w + c.pl + c.pr < ew) c.w = ew;
        int64_t x_dims[] = {c.n, random_range(&r, 1, 5), c.h, c.w};
        xpu_tensor x = random_tensor(&b, &r, 4, x_dims), y;
        if (i % 5 == 0) f32(&x)[0] = NAN;
        int average = (int)random_range(&r, 0, 1), include = (int)random_range(&r, 0, 1);
        xpu_attr attrs[] = {INTS(STRIDES, c.sh, c.sw),
                            INTS(DILATIONS, c.dh, c.dw),
                            INTS(PADS, c.pt, c.pl, c.pb, c.pr),
                            INTS(KERNEL, c.kh, c.kw),
                            XPU_ATTR_INT_OF(CEIL_MODE, random_range(&r, 0, 1)),
                            XPU_ATTR_INT_OF(COUNT_INCLUDE_PAD, include)};
        const xpu_tensor *operands[] = {&x};
        if (run_kernel(&b, average ? XPU_OP_AVERAGE_POOL : XPU_OP_MAX_POOL, operands, 1, attrs, average ? 6 : 5, &y,
                       1)) {
            float *expected = XPU_NEW_ARRAY(b.arena, float, xpu_tensor_count(&y));
            naive_pool(&c, average, include, &x, &y, expected);
            CU_ASSERT_EQUAL(differences(f32(&y), expected, xpu_tensor_count(&y)), 0);
        }
        bench_close(&b);
    }
}

static void global_average_is_in_lanes(void) {
    random_source r = random_open("global average");
    BENCH_OPEN(b);
    xpu_tensor x = random_tensor(&b, &r, DIMS(2, 3, 5, 7)), y;
    const xpu_tensor *operands[] = {&x};
    if (run_kernel(&b, XPU_OP_GLOBAL_AVERAGE_POOL, operands, 1, NULL, 0, &y, 1)) {
        for (int p = 0; p < 6; p++) {
            float lanes[16] = {0};
            for (int i = 0; i < 35; i++) lanes[i % 16] += f32(&x)[p * 35 + i];
            for (int step = 8; step > 0; step /= 2)
                for (int i = 0; i < step; i++) lanes[i] += lanes[i + step];
            CU_ASSERT(xa_same(f32(&y)[p], lanes[0] / 35.0f));
        }
    }
    bench_close(&b);
}

/* ---- elementwise ---- */

static float element(const xpu_tensor *t, const xpu_tensor *y, int64_t index) {
    int64_t offset = 0, step = 1;
    for (int i = y->rank - 1, d = t->rank - 1; i >= 0; i--, d--) {
        int64_t position = index % y->dims[i];
        index /= y->dims[i];
        if (d < 0) continue;
        offset += (t->dims[d] == 1 ? 0 : position) * step;
        step *= t->dims[d];
    }
    return f32(t)[offset];
}

/* A tensor that broadcasts to dims: some of them 1, some leading ones left out. */
static xpu_tensor random_operand(bench *b, random_source *r, int rank, const int64_t *dims) {
    int64_t own[XPU_MAX_RANK];
    int skip = random_range(r, 0, 2) ? 0 : (int)random_range(r, 0, rank);
    for (int i = skip; i < rank; i++) own[i - skip] = random_range(r, 0, 2) ? dims[i] : 1;
    return random_tensor(b, r, rank - skip, own);
}

static void elementwise_broadcasts(void) {
    random_source r = random_open("elementwise");
    for (int i = 0; i < 200; i++) {
        BENCH_OPEN(b);
        xpu_op_id op = (xpu_op_id)(XPU_OP_ADD + i % (XPU_OP_COUNT - XPU_OP_ADD));
        xpu_signature signature = xpu_elementwise_signature((xpu_elementwise)xpu_op_of(op)->elementwise);
        if (signature != XPU_EW_FLOATS && signature != XPU_EW_NUMBERS) {
            bench_close(&b);
            continue;
        }
        int arity = xpu_op_of(op)->min_inputs, rank = (int)random_range(&r, 0, XPU_MAX_RANK);
        int64_t dims[XPU_MAX_RANK];
        for (int d = 0; d < rank; d++) dims[d] = random_range(&r, 1, rank > 4 ? 3 : 9);
        if (rank && i % 7 == 0) dims[rank - 1] = 600;
        xpu_tensor operands[2] = {random_operand(&b, &r, rank, dims), random_operand(&b, &r, rank, dims)}, y;
        const xpu_tensor *list[] = {&operands[0], &operands[1]};
        xpu_attr all[] = {XPU_ATTR_FLOAT_OF(ALPHA, 0.3f), XPU_ATTR_FLOAT_OF(BETA, 0.4f), XPU_ATTR_FLOAT_OF(LOW, -0.2f),
                          XPU_ATTR_FLOAT_OF(HIGH, 0.7f)};
        float immediates[XPU_CHAIN_MAX_IMMEDIATES] = {0}; /* in the order of the row */
        for (int k = 0; k < xpu_elementwise_immediates((xpu_elementwise)xpu_op_of(op)->elementwise); k++) {
            for (int a = 0; a < 4; a++) {
                xpu_attr_id wanted = xpu_elementwise_attr((xpu_elementwise)xpu_op_of(op)->elementwise, k);
                if (all[a].id == wanted) immediates[k] = all[a].f;
            }
        }
        xpu_attr attrs[4];
        uint32_t count = 0;
        for (int a = 0; a < 4; a++) {
            if (xpu_op_attr(xpu_op_of(op), all[a].id)) attrs[count++] = all[a];
        }
        if (run_kernel(&b, op, list, (uint32_t)arity, attrs, count, &y, 1)) {
            int64_t differ = 0;
            for (int64_t e = 0; e < xpu_tensor_count(&y); e++) {
                float values[3] = {element(list[0], &y, e), arity > 1 ? element(list[1], &y, e) : 0};
                float expected = xpu_elementwise_apply((xpu_elementwise)xpu_op_of(op)->elementwise, values, immediates);
                differ += !xa_same(f32(&y)[e], expected);
            }
            CU_ASSERT_EQUAL(differ, 0);
        }
        bench_close(&b);
    }
}

static void chain_is_its_steps(void) {
    random_source r = random_open("chain");
    BENCH_OPEN(b);
    xpu_tensor x = random_tensor(&b, &r, DIMS(2, 5, 7, 3)), c = random_tensor(&b, &r, DIMS(5, 1, 1)), y;
    xpu_chain chain = {.input_count = 2, .step_count = 4};
    chain.steps[0] = (xpu_chain_step){.op = XPU_EW_mul, .operands = {0, 1}};
    chain.steps[1] = (xpu_chain_step){.op = XPU_EW_add, .operands = {2, 0}};
    chain.steps[2] = (xpu_chain_step){.op = XPU_EW_clip, .operands = {3}, .immediates = {-1, 1}};
    chain.steps[3] = (xpu_chain_step){.op = XPU_EW_mul_add, .operands = {4, 1, 2}};
    xpu_attr attr = XPU_ATTR_CHAIN_OF(STEPS, &chain);
    const xpu_tensor *operands[] = {&x, &c};
    if (run_kernel(&b, XPU_OP_CHAIN, operands, 2, &attr, 1, &y, 1)) {
        for (int64_t i = 0; i < xpu_tensor_count(&y); i++) {
            float v = f32(&x)[i], k = f32(&c)[i / 21 % 5], product = xa_mul(v, k);
            CU_ASSERT(xa_same(f32(&y)[i], xa_add(xa_mul(xa_clip(xa_add(product, v), -1, 1), k), product)));
        }
    }
    bench_close(&b);
}

static void softmax_and_batch_norm(void) {
    random_source r = random_open("softmax");
    for (int axis = 0; axis < 3; axis++) {
        BENCH_OPEN(b);
        int64_t dims[] = {3, 37, 4}, inner = axis == 2 ? 1 : axis == 1 ? 4 : 148;
        xpu_tensor x = random_tensor(&b, &r, 3, dims), y;
        const xpu_tensor *operands[] = {&x};
        xpu_attr attr = XPU_ATTR_INT_OF(AXIS, axis - 3);
        if (run_kernel(&b, XPU_OP_SOFTMAX, operands, 1, &attr, 1, &y, 1)) {
            for (int64_t i = 0; i < 3 * 37 * 4; i++) {
                if (i / inner % dims[axis] != 0) continue;
                float most = -INFINITY, lanes[16] = {0};
                for (int64_t j = 0; j < dims[axis]; j++) most = fmaxf(most, f32(&x)[i + j * inner]);
                for (int64_t j = 0; j < dims[axis]; j++) lanes[j % 16] += xa_exp(f32(&x)[i + j * inner] - most);
                for (int step = 8; step; step /= 2)
                    for (int j = 0; j < step; j++) lanes[j] += lanes[j + step];
                for (int64_t j = 0; j < dims[axis]; j++) {
                    float expected = xa_exp(f32(&x)[i + j * inner] - most) / lanes[0];
                    CU_ASSERT(xa_same(f32(&y)[i + j * inner], expected));
                }
            }
        }
        bench_close(&b);
    }
    BENCH_OPEN(b);
    xpu_tensor x = random_tensor(&b, &r, DIMS(2, 5, 3, 3)), p[4], y;
    const xpu_tensor *operands[] = {&x, &p[0], &p[1], &p[2], &p[3]};
    for (int i = 0; i < 4; i++) p[i] = random_tensor(&b, &r, DIMS(5));
    for (int i = 0; i < 5; i++) f32(&p[3])[i] = fabsf(f32(&p[3])[i]);
    if (run_kernel(&b, XPU_OP_BATCH_NORM, operands, 5, NULL, 0, &y, 1)) {
        for (int64_t i = 0; i < 90; i++) {
            int64_t c = i / 9 % 5;
            float factor = f32(&p[0])[c] / sqrtf(f32(&p[3])[c] + 1e-5f);
            float offset = f32(&p[1])[c] - xa_mul(f32(&p[2])[c], factor);
            CU_ASSERT(xa_same(f32(&y)[i], xa_add(xa_mul(f32(&x)[i], factor), offset)));
        }
    }
    bench_close(&b);
}

/* Nothing goes over dims beside an empty one: 2^39 rows of no elements would take minutes. */
static void empty_results(void) {
    static const xpu_op_id ops[] = {XPU_OP_SOFTMAX, XPU_OP_CONCAT, XPU_OP_TRANSPOSE};
    const xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 1), order = XPU_ATTR_INTS_OF(PERM, ((const int64_t[]){0, 2, 1}), 3);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        BENCH_OPEN(b);
        xpu_tensor x = {.dtype = XPU_F32, .rank = 3, .dims = {1 << 30, 0, 512}, .data = &b}, y;
        const xpu_tensor *operands[] = {&x};
        xpu_value input = bench_input(&b, NULL, XPU_F32, x.rank, x.dims);
        xpu_node node = xpu_graph_add(b.graph, (xpu_node){0}, xpu_op_of(ops[i]), &input, 1, NULL, 1,
                                      ops[i] == XPU_OP_TRANSPOSE ? &order : &axis, 1, NULL, 0);
        CU_ASSERT_EQUAL(xpu_op_infer(b.graph, node, &b.diags), XPU_OK);
        CU_ASSERT_EQUAL(xpu_ref_node(b.graph, node, NULL, operands, &y, b.arena, &b.diags), XPU_OK);
        CU_ASSERT_EQUAL(xpu_tensor_count(&y), 0);
        bench_close(&b);
    }
}

/* What stands behind a node's operands is none of them. */
static void absent_operands(void) {
    BENCH_OPEN(b);
    float data[4] = {3, -1, 2, 8}, other[4] = {7, 7, 7, 7};
    xpu_tensor x = {.dtype = XPU_F32, .rank = 2, .dims = {1, 4}, .data = data}, wrong = x, y;
    wrong.data = other;
    const xpu_tensor *operands[] = {&x, &wrong, &wrong};
    xpu_value input = bench_input(&b, NULL, XPU_F32, x.rank, x.dims);
    xpu_node node = xpu_graph_add(b.graph, (xpu_node){0}, xpu_op_of(XPU_OP_NORM), &input, 1, NULL, 1, NULL, 0, NULL, 0);
    CU_ASSERT_EQUAL(xpu_op_infer(b.graph, node, &b.diags), XPU_OK);
    CU_ASSERT_EQUAL_FATAL(xpu_ref_node(b.graph, node, NULL, operands, &y, b.arena, &b.diags), XPU_OK);
    for (int i = 0; i < 4; i++) CU_ASSERT(fabsf(f32(&y)[i] - (data[i] - 3) / sqrtf(10.5f)) < 1e-4f);
    bench_close(&b);
}

/* ---- copies of any element type ---- */

static void copies_keep_bytes(void) {
    random_source r = random_open("copies");
    for (int dtype = XPU_F32; dtype < XPU_DTYPE_COUNT; dtype++) {
        BENCH_OPEN(b);
        size_t size = xpu_dtype_bytes((xpu_dtype)dtype);
        xpu_tensor x = new_tensor(&b, (xpu_dtype)dtype, DIMS(2, 3, 4)), y;
        for (size_t i = 0; i < 24 * size; i++) ((unsigned char *)x.data)[i] = (unsigned char)random_bits(&r);
        const xpu_tensor *operands[] = {&x, &x};
        const char *in = x.data;
        xpu_attr perm = INTS(PERM, 2, 0, 1);
        if (run_kernel(&b, XPU_OP_TRANSPOSE, operands, 1, &perm, 1, &y, 1)) {
            for (size_t i = 0; i < 24; i++) {
                size_t from = i % 3 * 4 + i / 3 % 2 * 12 + i / 6;
                CU_ASSERT_EQUAL(memcmp((char *)y.data + i * size, in + from * size, size), 0);
            }
        }
        xpu_attr axis = XPU_ATTR_INT_OF(AXIS, 1);
        if (run_kernel(&b, XPU_OP_CONCAT, operands, 2, &axis, 1, &y, 1)) {
            for (size_t i = 0; i < 48; i++) {
                size_t from = i / 24 * 12 + i % 12;
                CU_ASSERT_EQUAL(memcmp((char *)y.data + i * size, in + from * size, size), 0);
            }
        }
        xpu_attr pads[] = {INTS(PADS, 0, 1, -1, 0, 2, 1), XPU_ATTR_STRING_OF(MODE, "constant")};
        if (run_kernel(&b, XPU_OP_PAD, operands, 1, pads, 2, &y, 1)) {
            static const char zeros[8];
            for (size_t i = 0; i < 48; i++) {
                size_t n = i / 24, row = i / 4 % 6, column = i % 4;
                int inside = row >= 1 && row < 4 && column < 3;
                const char *from = inside ? in + (n * 12 + (row - 1) * 4 + column + 1) * size : zeros;
                CU_ASSERT_EQUAL(memcmp((char *)y.data + i * size, from, size), 0);
            }
        }
        bench_close(&b);
    }
}

static void pad_modes(void) {
    static const struct {
        const char *mode;
        float expected[8];
    } cases[] = {{"constant", {9, 9, 1, 2, 3, 9}}, {"edge", {1, 1, 1, 2, 3, 3}}, {"reflect", {3, 2, 1, 2, 3, 2}}};
    for (size_t i = 0; i < 3; i++) {
        BENCH_OPEN(b);
        xpu_tensor x = new_tensor(&b, XPU_F32, DIMS(3)), y;
        for (int j = 0; j < 3; j++) f32(&x)[j] = (float)(j + 1);
        const xpu_tensor *operands[] = {&x};
        xpu_attr attrs[] = {INTS(PADS, 2, 1), XPU_ATTR_STRING_OF(MODE, cases[i].mode), XPU_ATTR_FLOAT_OF(VALUE, 9)};
        if (run_kernel(&b, XPU_OP_PAD, operands, 1, attrs, 3, &y, 1)) {
            CU_ASSERT_EQUAL(xpu_tensor_count(&y), 6);
            CU_ASSERT_EQUAL(memcmp(y.data, cases[i].expected, 24), 0);
        }
        bench_close(&b);
    }
}

/* What is added has the operand's type. */
static void pad_values(void) {
    static const struct {
        xpu_dtype dtype;
        float value;
        unsigned char element[8];
    } cases[] = {{XPU_I8, -3, {0xfd}},
                 {XPU_U8, 200, {200}},
                 {XPU_I16, -2, {0xfe, 0xff}},
                 {XPU_I64, 1 << 20, {0, 0, 16}},
                 {XPU_F64, -2, {0, 0, 0, 0, 0, 0, 0, 0xc0}},
                 {XPU_BOOL, 1, {1}}};
    for (volatile size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        BENCH_OPEN(b);
        xpu_tensor x = new_tensor(&b, cases[i].dtype, DIMS(2)), y;
        size_t size = xpu_dtype_bytes(cases[i].dtype);
        memset(x.data, 0, 2 * size);
        const xpu_tensor *operands[] = {&x};
        xpu_attr attrs[] = {INTS(PADS, 1, 0), XPU_ATTR_STRING_OF(MODE, "constant"),
                            XPU_ATTR_FLOAT_OF(VALUE, cases[i].value)};
        if (run_kernel(&b, XPU_OP_PAD, operands, 1, attrs, 3, &y, 1)) {
            CU_ASSERT_EQUAL(memcmp(y.data, cases[i].element, size), 0);
            CU_ASSERT_EQUAL(memcmp((char *)y.data + size, x.data, 2 * size), 0);
        } else {
            CU_FAIL("a padding is refused");
        }
        bench_close(&b);
    }
}

/* ---- whole graphs ---- */

typedef struct {
    int nodes;
} counter;

static xpu_status count_nodes(void *context, xpu_node node, const xpu_tensor *results, uint32_t count) {
    (void)node;
    CU_ASSERT(count == 1 && results[0].data != NULL);
    ((counter *)context)->nodes++;
    return XPU_OK;
}

/* One graph with a free batch dimension, run for two batches: y = relu(x * w) + x, z = transpose(y). */
static void runs_graphs(void) {
    random_source r = random_open("graphs");
    BENCH_OPEN(b);
    xpu_graph *g = b.graph;
    xpu_dim dims[] = {xpu_dim_symbol(&g->dims, "N", 1, 16, 1), xpu_dim_const(&g->dims, 4)};
    xpu_value x = xpu_graph_input(g, "x", XPU_F32, 2, dims);
    xpu_tensor weights = random_tensor(&b, &r, DIMS(4, 4));
    xpu_value w = xpu_graph_const_bytes(g, "w", &weights);
    xpu_value product = xpu_node_output(g, bench_node(&b, XPU_OP_MATMUL, (xpu_value[]){x, w}, 2, NULL, 0), 0);
    xpu_value relu = xpu_node_output(g, bench_node(&b, XPU_OP_RELU, &product, 1, NULL, 0), 0);
    xpu_value y = xpu_node_output(g, bench_node(&b, XPU_OP_ADD, (xpu_value[]){relu, x}, 2, NULL, 0), 0);
    xpu_value z = xpu_node_output(g, bench_node(&b, XPU_OP_TRANSPOSE, &y, 1, NULL, 0), 0);
    xpu_graph_output(g, y);
    xpu_graph_output(g, z);
    CU_ASSERT_EQUAL(xpu_verify(g, "test", &b.diags), XPU_OK);
    for (int64_t n = 1; n <= 5; n += 4) {
        counter seen = {0};
        xpu_tensor in = random_tensor(&b, &r, DIMS(n, 4)), out[2];
        xpu_ref_options options = {.symbols = &n, .inputs = &in, .observer = count_nodes, .context = &seen};
        CU_ASSERT_EQUAL_FATAL(xpu_ref_run(g, &options, out, b.arena, &b.diags), XPU_OK);
        CU_ASSERT_EQUAL(seen.nodes, 4);
        CU_ASSERT(out[0].dims[0] == n && out[1].dims[0] == 4 && out[1].dims[1] == n);
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j < 4; j++) {
                float sum = 0;
                for (int64_t k = 0; k < 4; k++) sum = fmaf(f32(&in)[i * 4 + k], f32(&weights)[k * 4 + j], sum);
                float expected = xa_relu(sum) + f32(&in)[i * 4 + j];
                CU_ASSERT(xa_same(f32(&out[0])[i * 4 + j], expected));
                CU_ASSERT(xa_same(f32(&out[1])[j * n + i], expected));
            }
        }
    }
    xpu_tensor wrong = random_tensor(&b, &r, DIMS(3, 4)), out[2];
    int64_t n = 2;
    CU_ASSERT_EQUAL(xpu_ref_run(g, &(xpu_ref_options){.symbols = &n, .inputs = &wrong}, out, b.arena, &b.diags),
                    XPU_EUSAGE);
    bench_close(&b);
}

/* ---- stopping ---- */

static int count_question(void *context) {
    ++*(int *)context;
    return 0;
}

/* How often one kernel asks whether it is to go on. */
static int questions(xpu_op_id op, const xpu_tensor *x, const xpu_tensor *w, bench *b) {
    const xpu_tensor *operands[XPU_IN_COUNT] = {[XPU_IN_X] = x, [XPU_IN_W] = w};
    xpu_tensor y;
    int asked = 0;
    b->mem.stop = count_question;
    b->mem.stop_context = &asked;
    run_kernel(b, op, operands, XPU_IN_W + 1, NULL, 0, &y, 1);
    b->mem.stop = NULL;
    return asked;
}

static void long_kernels_ask(void) {
    enum { CHANNELS = 200 };
    random_source r = random_open("questions");
    BENCH_OPEN(b);
    xpu_tensor x = random_tensor(&b, &r, DIMS(1, 2, 5, 5)), w = random_tensor(&b, &r, DIMS(CHANNELS, 2, 3, 3));
    xpu_tensor depth = random_tensor(&b, &r, DIMS(3, 7)), columns = random_tensor(&b, &r, DIMS(7, CHANNELS));
    CU_ASSERT(questions(XPU_OP_CONV, &x, &w, &b) > 2);
    CU_ASSERT(questions(XPU_OP_MATMUL, &depth, &columns, &b) > 2);
    bench_close(&b);
}

XPU_TEST_MAIN("ref", {"conv", conv_is_canonical}, {"matmul", matmul_is_canonical}, {"bias comes last", bias_comes_last},
              {"int16 wraps at 48 bits", int16_wraps_at_48_bits}, {"instruction sets agree", tiles_agree},
              {"pools", pools_are_canonical}, {"order of averages", averages_have_an_order},
              {"global average", global_average_is_in_lanes}, {"elementwise broadcasts", elementwise_broadcasts},
              {"chain", chain_is_its_steps}, {"softmax, batch norm", softmax_and_batch_norm},
              {"empty results", empty_results}, {"absent operands", absent_operands},
              {"copies of every element type", copies_keep_bytes}, {"pad modes", pad_modes}, {"pad values", pad_values},
              {"whole graphs", runs_graphs}, {"questions", long_kernels_ask})
