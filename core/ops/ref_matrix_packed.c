/* pack_matrix and packed_matmul: products of two computed matrices with integer operands. */
#include <string.h>

#include "core/arith.h"
#include "core/ops/ref_util.h"
#include "core/ops/rows.h"

/* ---- pack_matrix ---- */

/* A column of a matrix: `step` elements from one value to the next, integers `columns` apart. */
static float pack_column(const float *x, size_t count, size_t step, int narrow, void *to, size_t columns) {
    const int32_t limit = narrow ? XA_I8_MAX : XA_I16_MAX;
    float absmax = 0;
    for (size_t i = 0; i < count; i++) absmax = xa_absmax(absmax, x[i * step]);
    float inverse = xa_absmax_inverse(absmax, limit);
    for (size_t i = 0; i < count; i++) {
        int32_t q = xa_absmax_quantize(x[i * step], inverse, limit);
        if (narrow)
            ((int8_t *)to)[i * columns] = (int8_t)q;
        else
            ((int16_t *)to)[i * columns] = (int16_t)q;
    }
    return xa_absmax_scale(absmax, limit);
}

xpu_status xpu_ref_pack_matrix(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *y = args->outputs[XPU_OUT_Y];
    int transposed = xpu_ref_int(args, XPU_ATTR_TRANSPOSED), narrow = y->dtype == XPU_I8;
    int has_scales = xpu_node_at(args->graph, args->node)->output_count > XPU_OUT_PACK_SCALES;
    float *scales = has_scales ? args->outputs[XPU_OUT_PACK_SCALES]->data : NULL;
    size_t matrices = (size_t)y->dims[0], blocks = (size_t)y->dims[1], k = (size_t)y->dims[2];
    size_t columns = (size_t)y->dims[3], n = (size_t)x->dims[x->rank - (transposed ? 2 : 1)];
    memset(y->data, 0, xpu_tensor_bytes(y));
    for (size_t i = 0; i < matrices * n; i++) {
        size_t matrix = i / n, column = i % n, block = column / columns;
        const float *from = (const float *)x->data + matrix * k * n + column * (transposed ? k : 1);
        size_t at = (matrix * blocks + block) * k * columns + column % columns;
        float scale =
            pack_column(from, k, transposed ? 1 : n, narrow, (char *)y->data + at * (narrow ? 1 : 2), columns);
        if (scales) scales[i] = scale;
    }
    return XPU_OK;
}

/* ---- packed_matmul ---- */

/* sums[c] += the row times a block's columns. */
static void add_block(const int32_t *row, size_t k, const void *w, int narrow, size_t columns, int64_t *sums) {
    for (size_t i = 0; i < k; i++) {
        const int64_t x = row[i];
        const int8_t *bytes = (const int8_t *)w + i * columns;
        const int16_t *words = (const int16_t *)w + i * columns;
        for (size_t c = 0; c < columns; c++) sums[c] += x * (narrow ? bytes[c] : words[c]);
    }
}

xpu_status xpu_ref_packed_matmul(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[XPU_IN_X], *w = args->inputs[XPU_IN_W], *scale = args->inputs[XPU_IN_WSCALE];
    const xpu_tensor *y = args->outputs[XPU_OUT_Y];
    size_t k = (size_t)w->dims[2], columns = (size_t)w->dims[3], blocks = (size_t)w->dims[1];
    size_t n = (size_t)scale->dims[1], m = (size_t)x->dims[x->rank - 2];
    size_t rows = (size_t)xpu_product(x->dims, 0, x->rank - 1), bytes = w->dtype == XPU_I8 ? 1 : 2;
    float absmax = *(const float *)args->inputs[XPU_IN_ABSMAX]->data;
    float x_scale = xa_absmax_scale(absmax, XA_I16_MAX), inverse = xa_absmax_inverse(absmax, XA_I16_MAX);
    int32_t *row = XPU_NEW_ARRAY(args->scratch, int32_t, k);
    int64_t *sums = XPU_NEW_ARRAY(args->scratch, int64_t, columns);
    for (size_t r = 0; r < rows; r++) {
        size_t matrix = w->dims[0] == 1 ? 0 : r / m;
        const float *s = (const float *)scale->data + matrix * n;
        float *to = (float *)y->data + r * n;
        if (xpu_stopped(args->scratch)) return XPU_ESTOPPED;
        for (size_t i = 0; i < k; i++) {
            row[i] = xa_absmax_quantize(((const float *)x->data)[r * k + i], inverse, XA_I16_MAX);
        }
        for (size_t b = 0; b < blocks; b++) {
            memset(sums, 0, columns * sizeof *sums);
            add_block(row, k, (const char *)w->data + (matrix * blocks + b) * k * columns * bytes, bytes == 1, columns,
                      sums);
            for (size_t c = 0; c < columns && b * columns + c < n; c++) {
                float sum = xa_acc48_to_float(xa_acc48_wrap(sums[c]));
                to[b * columns + c] = xa_mul(sum, xa_channel_scale(x_scale, s[b * columns + c]));
            }
        }
    }
    return XPU_OK;
}
