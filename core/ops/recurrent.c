/*
 * The recurrence of LSTM, GRU and RNN: shapes and the reference kernel. In each step the product of the state with w,
 * in the order of matmul, or of int16 as there with the largest magnitude of the batch's state; then gate by gate.
 */
#include "core/ops/recurrent.h"

#include <string.h>

#include "core/ops/infer.h"
#include "core/ops/ref_tile.h"
#include "core/ops/ref_util.h"

enum { X, W };
enum { MOST_DIRECTIONS = 2, MOST_INTEGER_K = (1 << 23) - 1 };

/* ---- shapes ---- */

int xpu_recurrence_of(const xpu_graph *graph, xpu_node node, xpu_recurrence *sizes) {
    const xpu_value_info *x = xpu_operand(graph, node, X), *w = xpu_operand(graph, node, W);
    const int64_t kind = xpu_node_int(graph, node, XPU_ATTR_KIND);
    int64_t rows, columns;
    *sizes = (xpu_recurrence){.kind = (xa_recurrence)kind};
    if (kind < 0 || kind >= XA_RECURRENCES || x->rank != 3 || w->rank != 2) return 0;
    sizes->gates = (int)xa_gates_of(sizes->kind);
    if (!xpu_dim_is_const(&graph->dims, w->dims[0], &rows) || !xpu_dim_is_const(&graph->dims, w->dims[1], &columns))
        return 0;
    sizes->hidden = columns / sizes->gates;
    if (sizes->hidden < 1 || sizes->hidden * sizes->gates != columns || rows % sizes->hidden) return 0;
    sizes->directions = rows / sizes->hidden;
    sizes->steps = x->dims[0];
    sizes->batch = x->dims[1];
    sizes->backwards = xpu_node_int(graph, node, XPU_ATTR_BACKWARDS) != 0;
    return sizes->directions >= 1 && sizes->directions <= MOST_DIRECTIONS;
}

static int has_dims(xpu_graph *graph, xpu_node node, uint32_t input, int rank, const xpu_dim *dims) {
    const xpu_value_info *info = xpu_operand(graph, node, input);
    if (!info) return 1;
    int fits = info->rank == rank;
    for (int i = 0; fits && i < rank; i++) fits = xpu_equal_dims(graph, node, info->dims[i], dims[i], NULL);
    return fits;
}

static int operands_fit(xpu_graph *graph, xpu_node node, const xpu_recurrence *r) {
    const xpu_dim directions = xpu_dim_const(&graph->dims, r->directions);
    const xpu_dim hidden = xpu_dim_const(&graph->dims, r->hidden);
    const xpu_dim gates = xpu_dim_const(&graph->dims, r->gates * r->hidden);
    const xpu_dim columns = xpu_dim_const(&graph->dims, r->directions * r->gates * r->hidden);
    const int narrow = xpu_node_int(graph, node, XPU_ATTR_PRECISION) != XPU_PRECISION_FP32;
    return has_dims(graph, node, X, 3, (xpu_dim[]){r->steps, r->batch, columns}) &&
           has_dims(graph, node, XPU_IN_BIAS, 2, (xpu_dim[]){directions, gates}) &&
           has_dims(graph, node, XPU_IN_HIDDEN, 3, (xpu_dim[]){directions, r->batch, hidden}) &&
           has_dims(graph, node, XPU_IN_CELL, 3, (xpu_dim[]){directions, r->batch, hidden}) &&
           has_dims(graph, node, XPU_IN_WSCALE, 1, &gates) &&
           narrow == (xpu_operand(graph, node, XPU_IN_WSCALE) != NULL) && !xpu_operand(graph, node, XPU_IN_ABSMAX) &&
           (r->kind == XA_LSTM || !xpu_operand(graph, node, XPU_IN_CELL));
}

xpu_status xpu_infer_recurrent(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    xpu_recurrence r;
    if (!xpu_recurrence_of(graph, node, &r) || !operands_fit(graph, node, &r)) {
        return xpu_infer_error(
            graph, node, diags, "shape-recurrent", "the operands of a recurrence do not fit together",
            "x is [steps, batch, directions * gates * hidden], the weights are [directions * hidden, "
            "gates * hidden]",
            "x is %s, the weights are %s", xpu_operand_text(graph, node, X), xpu_operand_text(graph, node, W));
    }
    static const xpu_dtype types[] = {
        [XPU_PRECISION_FP32] = XPU_F32, [XPU_PRECISION_INT16] = XPU_I16, [XPU_PRECISION_INT16X8] = XPU_I8};
    const int64_t precision = xpu_node_int(graph, node, XPU_ATTR_PRECISION);
    if (precision < XPU_PRECISION_FP32 || precision > XPU_PRECISION_INT16X8) {
        return xpu_infer_error(graph, node, diags, "op-attribute", "the precision is out of range",
                               "the program is damaged: compile the model again", "it is %lld", (long long)precision);
    }
    xpu_status status = xpu_check_types(graph, node, W, XPU_TYPE_SET(types[precision]), diags);
    const xpu_dim directions = xpu_dim_const(&graph->dims, r.directions);
    const xpu_dim hidden = xpu_dim_const(&graph->dims, r.hidden);
    const xpu_dim all[] = {r.steps, directions, r.batch, hidden};
    uint32_t results = xpu_node_at(graph, node)->output_count;
    if (results > XPU_OUT_CELL && r.kind != XA_LSTM) results = XPU_OUT_CELL;
    for (uint32_t i = 0; i < results && status == XPU_OK; i++)
        status = xpu_set_result(graph, node, i, XPU_F32, i ? 3 : 4, all + (i != 0), diags);
    return status;
}

/* ---- the product of the state ---- */

/* [rows, k] by [k, n], which is packed once. */
typedef struct {
    const xpu_tiles *tiles;
    size_t k, n, lanes;
    int integer;
    void *packed, *x; /* x: the rows as integers */
} product;

static void prepare(product *p, const xpu_tensor *w, size_t first, size_t rows, xpu_arena *scratch) {
    const size_t blocks = (p->n + p->lanes - 1) / p->lanes, element = p->integer ? sizeof(double) : sizeof(float);
    if (!p->packed) p->packed = xpu_alloc_array(scratch, blocks * p->lanes * p->k, element);
    if (!p->x && p->integer) p->x = xpu_alloc_array(scratch, rows * p->k, element);
    for (size_t k = 0; k < p->k; k++) {
        for (size_t c = 0; c < p->n; c++) {
            const size_t from = (first + k) * p->n + c, to = (c / p->lanes * p->k + k) * p->lanes + c % p->lanes;
            if (w->dtype == XPU_F32)
                ((float *)p->packed)[to] = ((const float *)w->data)[from];
            else
                ((double *)p->packed)[to] =
                    w->dtype == XPU_I8 ? ((const int8_t *)w->data)[from] : ((const int16_t *)w->data)[from];
        }
    }
}

/* out = the products of up to XPU_TILE_PIXELS rows, from row `row` on, with the columns of a block. */
static void tile(const product *p, const float *h, size_t row, int rows, size_t block, float *out) {
    const xpu_tile_run run = {.length = p->k};
    if (!p->integer) {
        float init[XPU_TILE_LANES_FLOAT];
        for (size_t lane = 0; lane < XPU_TILE_LANES_FLOAT; lane++) init[lane] = XA_NO_PRODUCTS;
        p->tiles->float_scalar_x(h + row * p->k, (ptrdiff_t)p->k, (const float *)p->packed + block * p->k * p->lanes,
                                 &run, 1, init, out, rows);
        return;
    }
    static const double zero[XPU_TILE_LANES_DOUBLE];
    double sums[XPU_TILE_PIXELS * XPU_TILE_LANES_DOUBLE];
    p->tiles->double_scalar_x((const double *)p->x + row * p->k, (ptrdiff_t)p->k,
                              (const double *)p->packed + block * p->k * p->lanes, &run, 1, zero, sums, rows);
    for (size_t i = 0; i < (size_t)rows * p->lanes; i++) out[i] = xa_acc48_to_float(xa_acc48_wrap((int64_t)sums[i]));
}

/* y[rows][n] = the product of h[rows][k], plus the bias. */
static void multiply(const product *p, const float *h, size_t rows, const float *w_scale, const float *bias, float *y) {
    float scale = 0;
    if (p->integer) {
        const float absmax = xa_absmax_of(h, rows * p->k), inverse = xa_absmax_inverse(absmax, XA_I16_MAX);
        scale = xa_absmax_scale(absmax, XA_I16_MAX);
        for (size_t i = 0; i < rows * p->k; i++)
            ((double *)p->x)[i] = (double)xa_absmax_quantize(h[i], inverse, XA_I16_MAX);
    }
    for (size_t c = 0; c < p->n; c += p->lanes) {
        const size_t lanes = p->n - c < p->lanes ? p->n - c : p->lanes;
        float out[XPU_TILE_PIXELS * XPU_TILE_LANES_FLOAT];
        for (size_t row = 0; row < rows; row += XPU_TILE_PIXELS) {
            const int some = rows - row < XPU_TILE_PIXELS ? (int)(rows - row) : XPU_TILE_PIXELS;
            tile(p, h, row, some, c / p->lanes, out);
            for (size_t i = 0; i < (size_t)some * p->lanes; i++) {
                const size_t lane = i % p->lanes;
                float sum = out[i];
                if (lane >= lanes) continue;
                if (p->integer) sum = xa_mul(sum, xa_channel_scale(scale, w_scale[c + lane]));
                if (bias || !p->integer) sum = xa_end_sum(sum, bias ? bias[c + lane] : 0);
                y[(row + i / p->lanes) * p->n + c + lane] = sum;
            }
        }
    }
}

/* ---- gates ---- */

/* Of one row: z are the products of the state, x those of the inputs; `state`: the cells, or before the step h. */
static void step_row(xa_recurrence kind, const float *z, const float *x, float *c, float *h, size_t hidden) {
    for (size_t i = 0; i < hidden; i++) {
#define SUM(gate) xa_add(z[(gate) * hidden + i], x[(gate) * hidden + i])
        if (kind == XA_RNN) {
            h[i] = xa_tanh(SUM(0));
        } else if (kind == XA_GRU) {
            const float update = xa_sigmoid(SUM(0)), reset = xa_sigmoid(SUM(1));
            const float now = xa_tanh(xa_add(xa_mul(reset, z[2 * hidden + i]), x[2 * hidden + i]));
            h[i] = xa_add(xa_mul(xa_sub(1.0f, update), now), xa_mul(update, h[i]));
        } else {
            const float input = xa_sigmoid(SUM(0)), output = xa_sigmoid(SUM(1)), forget = xa_sigmoid(SUM(2));
            c[i] = xa_add(xa_mul(forget, c[i]), xa_mul(input, xa_tanh(SUM(3))));
            h[i] = xa_mul(output, xa_tanh(c[i]));
        }
#undef SUM
    }
}

static const float *optional(const xpu_ref_args *args, uint32_t input) {
    const xpu_tensor *tensor = input < xpu_node_at(args->graph, args->node)->input_count ? args->inputs[input] : NULL;
    return tensor ? tensor->data : NULL;
}

/* One direction: h and c are what they start with, and become what they end with. */
static xpu_status run_direction(const xpu_ref_args *args, const xpu_recurrence *r, const product *p, size_t d, float *h,
                                float *c) {
    const xpu_tensor *x = args->inputs[X];
    const size_t steps = (size_t)x->dims[0], batch = (size_t)x->dims[1], hidden = (size_t)r->hidden;
    const size_t directions = (size_t)r->directions, columns = directions * p->n;
    const float *bias = optional(args, XPU_IN_BIAS), *w_scale = optional(args, XPU_IN_WSCALE);
    float *z = xpu_alloc_array(args->scratch, batch * p->n, sizeof *z), *y = args->outputs[XPU_OUT_Y]->data;
    if (bias) bias += d * p->n;
    for (size_t i = 0; i < steps; i++) {
        const size_t t = r->backwards || d > 0 ? steps - 1 - i : i;
        if (xpu_stopped(args->scratch)) return XPU_ESTOPPED;
        if (i > 0 || optional(args, XPU_IN_HIDDEN)) {
            multiply(p, h, batch, w_scale, bias, z);
        } else {
            for (size_t j = 0; j < batch * p->n; j++) z[j] = bias ? bias[j % p->n] : 0;
        }
        for (size_t b = 0; b < batch; b++) {
            step_row(r->kind, z + b * p->n, (const float *)x->data + (t * batch + b) * columns + d * p->n,
                     c + b * hidden, h + b * hidden, hidden);
        }
        memcpy(y + (t * directions + d) * batch * hidden, h, batch * hidden * sizeof *h);
    }
    return XPU_OK;
}

xpu_status xpu_ref_recurrent(const xpu_ref_args *args) {
    xpu_recurrence r;
    if (!xpu_recurrence_of(args->graph, args->node, &r))
        return xpu_ref_refuse(args, "the operands do not fit together");
    const size_t batch = (size_t)args->inputs[X]->dims[1], count = batch * (size_t)r.hidden;
    const uint32_t results = xpu_node_at(args->graph, args->node)->output_count;
    product p = {.tiles = xpu_tiles_for_host(0), .k = (size_t)r.hidden, .n = (size_t)r.hidden * (size_t)r.gates};
    p.integer = args->inputs[W]->dtype != XPU_F32;
    p.lanes = p.integer ? XPU_TILE_LANES_DOUBLE : XPU_TILE_LANES_FLOAT;
    if (p.integer && r.hidden > MOST_INTEGER_K)
        return xpu_ref_refuse(args, "a sum of integers has more than 2^23 products");
    float *h = xpu_alloc_array(args->scratch, count, sizeof *h), *c = xpu_alloc_array(args->scratch, count, sizeof *c);
    const float *first_h = optional(args, XPU_IN_HIDDEN), *first_c = optional(args, XPU_IN_CELL);
    for (size_t d = 0; d < (size_t)r.directions; d++) {
        for (size_t i = 0; i < count; i++) {
            h[i] = first_h ? first_h[d * count + i] : 0;
            c[i] = first_c ? first_c[d * count + i] : 0;
        }
        prepare(&p, args->inputs[W], d * p.k, batch, args->scratch);
        xpu_status status = run_direction(args, &r, &p, d, h, c);
        if (status != XPU_OK) return status;
        float *const ends[] = {h, c};
        for (uint32_t i = XPU_OUT_HIDDEN; i < results && i <= XPU_OUT_CELL; i++)
            memcpy((float *)args->outputs[i]->data + d * count, ends[i - XPU_OUT_HIDDEN], count * sizeof(float));
    }
    return XPU_OK;
}
