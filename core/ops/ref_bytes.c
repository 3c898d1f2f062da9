/* Operators on quantised tensors, except products (ref_matrix.c). */
#include <string.h>

#include "core/arith.h"
#include "core/ops/ref_util.h"
#include "core/ops/rows.h"

typedef struct {
    int32_t low, high;
} limits;

static limits limits_of(xpu_dtype dtype) {
    switch (dtype) {
    case XPU_I8: return (limits){INT8_MIN, INT8_MAX};
    case XPU_U8: return (limits){0, UINT8_MAX};
    case XPU_I16: return (limits){INT16_MIN, INT16_MAX};
    default: return (limits){0, UINT16_MAX};
    }
}

static int32_t load(const xpu_tensor *tensor, size_t i) {
    switch (tensor->dtype) {
    case XPU_I8: return ((const int8_t *)tensor->data)[i];
    case XPU_U8: return ((const uint8_t *)tensor->data)[i];
    case XPU_I16: return ((const int16_t *)tensor->data)[i];
    case XPU_U16: return ((const uint16_t *)tensor->data)[i];
    default: return ((const int32_t *)tensor->data)[i];
    }
}

static void store(const xpu_tensor *tensor, size_t i, int32_t value) {
    if (xpu_dtype_bytes(tensor->dtype) == 1) {
        ((uint8_t *)tensor->data)[i] = (uint8_t)value;
    } else {
        ((uint16_t *)tensor->data)[i] = (uint16_t)value;
    }
}

/* ---- between float32 and integers ---- */

/* Scale and zero point of each element: `inner` neighbours share one, and `count` of them follow each other. */
typedef struct {
    const float *scale;
    const xpu_tensor *zero; /* NULL: 0 */
    size_t inner, count;
} parameters;

static parameters read_parameters(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *scale = args->inputs[1];
    uint32_t inputs = xpu_node_at(args->graph, args->node)->input_count;
    parameters p = {.scale = scale->data, .zero = inputs > 2 ? args->inputs[2] : NULL, .inner = 1, .count = 1};
    int64_t elements = xpu_tensor_count(scale);
    if (elements == 1 || x->rank == 0) return p;
    int axis = (int)xpu_node_int(args->graph, args->node, XPU_ATTR_AXIS);
    p.inner = (size_t)xpu_product(x->dims, axis + 1, x->rank);
    p.count = (size_t)elements;
    return p;
}

static int32_t zero_at(const parameters *p, size_t index) {
    return p->zero ? load(p->zero, index) : 0;
}

xpu_status xpu_ref_quantize(const xpu_ref_args *args) {
    const xpu_tensor *y = args->outputs[0];
    const float *x = args->inputs[0]->data;
    parameters p = read_parameters(args);
    limits range = limits_of(y->dtype);
    size_t total = (size_t)xpu_tensor_count(y);
    int zero_first = xpu_node_int(args->graph, args->node, XPU_ATTR_ZERO_FIRST) != 0;
    for (size_t i = 0; i < total; i++) {
        size_t index = i / p.inner % p.count;
        int32_t zero = zero_at(&p, index);
        store(y, i,
              zero_first ? xa_quantize_shifted(x[i], p.scale[index], zero, range.low, range.high)
                         : xa_quantize(x[i], p.scale[index], zero, range.low, range.high));
    }
    return XPU_OK;
}

xpu_status xpu_ref_dequantize(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    float *y = args->outputs[0]->data;
    parameters p = read_parameters(args);
    size_t total = (size_t)xpu_tensor_count(x);
    for (size_t i = 0; i < total; i++) {
        size_t index = i / p.inner % p.count;
        y[i] = xa_dequantize(load(x, i), p.scale[index], zero_at(&p, index));
    }
    return XPU_OK;
}

xpu_status xpu_ref_dynamic_quantize(const xpu_ref_args *args) {
    const float *x = args->inputs[0]->data;
    size_t count = (size_t)xpu_tensor_count(args->inputs[0]);
    float low = 0, high = 0;
    for (size_t i = 0; i < count; i++) {
        low = xa_min(low, x[i]);
        high = xa_max(high, x[i]);
    }
    xa_dynamic_range range = xa_dynamic_quantize(low, high);
    *(float *)args->outputs[1]->data = range.scale;
    *(uint8_t *)args->outputs[2]->data = (uint8_t)range.zero;
    for (size_t i = 0; i < count; i++) {
        store(args->outputs[0], i, xa_quantize(x[i], range.scale, range.zero, 0, UINT8_MAX));
    }
    return XPU_OK;
}

/* ---- elementwise ---- */

/* Where the operands' elements stand: index of a broadcast operand's element by that of the result. */
static size_t broadcast_index(const xpu_tensor *operand, const xpu_tensor *y, size_t index) {
    size_t result = 0, step = 1;
    for (int i = y->rank - 1, o = operand->rank - 1; o >= 0; i--, o--) {
        size_t size = (size_t)y->dims[i], position = index % size;
        index /= size;
        if (operand->dims[o] != 1) result += position * step;
        step *= (size_t)operand->dims[o];
    }
    return result;
}

typedef struct {
    int32_t x_zero, b_zero, y_zero;
    float x_factor, b_factor, addend;
    limits range;
} pair;

static int32_t add(const pair *p, int32_t a, int32_t b) {
    return xa_qadd(a, b, p->x_factor, p->b_factor, p->addend, p->range.low, p->range.high);
}

static int32_t multiply(const pair *p, int32_t a, int32_t b) {
    return xa_qmul(a, p->x_zero, b, p->b_zero, p->x_factor, p->y_zero, p->range.low, p->range.high);
}

static xpu_status run_pair(const xpu_ref_args *args, int32_t (*function)(const pair *, int32_t, int32_t)) {
    const xpu_tensor *a = args->inputs[0], *b = args->inputs[1], *y = args->outputs[0];
    pair p = {.x_zero = xpu_ref_int(args, XPU_ATTR_X_ZERO),
              .b_zero = xpu_ref_int(args, XPU_ATTR_B_ZERO),
              .y_zero = xpu_ref_int(args, XPU_ATTR_Y_ZERO),
              .x_factor = xpu_ref_float(args, XPU_ATTR_X_FACTOR),
              .b_factor = xpu_ref_float(args, XPU_ATTR_B_FACTOR),
              .addend = xpu_ref_float(args, XPU_ATTR_ADDEND),
              .range = {xpu_ref_int(args, XPU_ATTR_Y_LOW), xpu_ref_int(args, XPU_ATTR_Y_HIGH)}};
    size_t total = (size_t)xpu_tensor_count(y);
    int plain = xpu_tensor_count(a) == (int64_t)total && xpu_tensor_count(b) == (int64_t)total;
    for (size_t i = 0; i < total; i++) {
        size_t at_a = plain ? i : broadcast_index(a, y, i), at_b = plain ? i : broadcast_index(b, y, i);
        store(y, i, function(&p, load(a, at_a), load(b, at_b)));
    }
    return XPU_OK;
}

xpu_status xpu_ref_qadd(const xpu_ref_args *args) {
    return run_pair(args, add);
}

xpu_status xpu_ref_qmul(const xpu_ref_args *args) {
    return run_pair(args, multiply);
}

xpu_status xpu_ref_lookup(const xpu_ref_args *args) {
    const uint8_t *x = args->inputs[0]->data, *table = args->inputs[1]->data;
    uint8_t *y = args->outputs[0]->data;
    size_t count = (size_t)xpu_tensor_count(args->inputs[0]);
    for (size_t i = 0; i < count; i++) y[i] = table[x[i]];
    return XPU_OK;
}

/* ---- pooling ---- */

xpu_status xpu_ref_qglobal_average_pool(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0], *y = args->outputs[0];
    size_t planes = (size_t)(x->dims[0] * x->dims[1]), size = (size_t)xpu_product(x->dims, 2, x->rank);
    float scale =
        xa_average_scale(xpu_ref_float(args, XPU_ATTR_X_SCALE), xpu_ref_float(args, XPU_ATTR_Y_SCALE), (int32_t)size);
    limits range = limits_of(y->dtype);
    int32_t x_zero = xpu_ref_int(args, XPU_ATTR_X_ZERO), y_zero = xpu_ref_int(args, XPU_ATTR_Y_ZERO);
    for (size_t plane = 0; plane < planes; plane++) {
        int64_t sum = 0;
        for (size_t i = 0; i < size; i++) sum += load(x, plane * size + i) - x_zero;
        store(y, plane, xa_mean((int32_t)(sum >> 16), sum & 0xffff, scale, y_zero, range.low, range.high));
    }
    return XPU_OK;
}
