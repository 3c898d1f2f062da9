/* Elementwise operators with broadcasting, chains, batch norm, absmax and softmax. */
#include <string.h>

#include "core/arith.h"
#include "core/ops/ref_util.h"
#include "core/ops/rows.h"

/* Elements that one step works on at a time: the values of a chain stay in the cache. */
enum { BLOCK = 256 };

/* ---- loops, one per row of elementwise.def ---- */

typedef void (*block_fn)(const float *const *operands, const float *immediates, float *out, size_t count);

#define OPERANDS_1   a[i]
#define OPERANDS_2   OPERANDS_1, b[i]
#define OPERANDS_3   OPERANDS_2, c[i]
#define IMMEDIATES_0 /* none */
#define IMMEDIATES_1 , immediates[0]
#define IMMEDIATES_2 IMMEDIATES_1, immediates[1]
#define IMMEDIATES_3 IMMEDIATES_2, immediates[2]
#define EW_ROW(name, arity, immediate_count, ...)                                                                      \
    static void block_##name(const float *const *operands, const float *immediates, float *out, size_t count) {        \
        const float *a = operands[0], *b = operands[1], *c = operands[2];                                              \
        (void)a, (void)b, (void)c, (void)immediates;                                                                   \
        for (size_t i = 0; i < count; i++) out[i] = xa_##name(OPERANDS_##arity IMMEDIATES_##immediate_count);          \
    }
#include "core/ops/elementwise.def"

static const block_fn block_functions[XPU_EW_COUNT] = {
#define EW_ROW(name, ...) [XPU_EW_##name] = block_##name,
#include "core/ops/elementwise.def"
};

/* ---- broadcasting ---- */

/* Where an operand's elements stand, by the result's dims. */
typedef struct {
    const float *data;
    size_t steps[XPU_MAX_RANK]; /* elements; 0 where it is broadcast */
} operand;

static operand broadcast_operand(const xpu_tensor *tensor, const xpu_tensor *y) {
    operand result = {.data = tensor->data};
    size_t step = 1;
    for (int i = y->rank - 1, t = tensor->rank - 1; t >= 0; i--, t--) {
        result.steps[i] = tensor->dims[t] == 1 ? 0 : step;
        step *= (size_t)tensor->dims[t];
    }
    return result;
}

/* `count` elements of an operand from the result's line `line`, element `first` of it; line length is the last dim. */
static const float *fetch(const operand *from, const xpu_tensor *y, size_t line, size_t first, size_t count,
                          float *buffer) {
    size_t offset = 0;
    for (int i = y->rank - 2; i >= 0; i--) {
        offset += line % (size_t)y->dims[i] * from->steps[i];
        line /= (size_t)y->dims[i];
    }
    size_t step = y->rank ? from->steps[y->rank - 1] : 0;
    const float *data = from->data + offset;
    if (step == 1) return data + first;
    for (size_t i = 0; i < count; i++) buffer[i] = data[(first + i) * step];
    return buffer;
}

/* Makes one dim of two neighbours wherever every operand walks through both in one stride. */
static void merge_dims(operand *operands, uint32_t count, xpu_tensor *y) {
    for (int i = y->rank - 2; i >= 0; i--) {
        int together = 1;
        for (uint32_t k = 0; k < count; k++) {
            together &= operands[k].steps[i] == operands[k].steps[i + 1] * (size_t)y->dims[i + 1];
        }
        if (!together) continue;
        y->dims[i] *= y->dims[i + 1];
        y->rank--;
        for (uint32_t k = 0; k < count; k++) {
            memmove(&operands[k].steps[i], &operands[k].steps[i + 1], (size_t)(y->rank - i) * sizeof(size_t));
        }
        memmove(&y->dims[i + 1], &y->dims[i + 2], (size_t)(y->rank - i - 1) * sizeof(int64_t));
    }
}

/* Runs a chain over the whole result. */
static void run_chain(const xpu_chain *chain, const xpu_tensor *const *inputs, const xpu_tensor *y,
                      xpu_arena *scratch) {
    operand operands[XPU_CHAIN_MAX_INPUTS];
    xpu_tensor flat = *y;
    for (uint32_t i = 0; i < chain->input_count; i++) operands[i] = broadcast_operand(inputs[i], y);
    merge_dims(operands, chain->input_count, &flat);
    size_t length = flat.rank ? (size_t)flat.dims[flat.rank - 1] : 1, total = (size_t)xpu_tensor_count(y);
    float *buffers = XPU_NEW_ARRAY(scratch, float, (XPU_CHAIN_MAX_INPUTS + XPU_CHAIN_MAX_STEPS) * BLOCK);
    float *out = y->data;
    for (size_t done = 0; done < total;) {
        size_t line = done / length, first = done % length;
        size_t count = length - first < BLOCK ? length - first : BLOCK;
        const float *values[XPU_CHAIN_MAX_INPUTS + XPU_CHAIN_MAX_STEPS];
        for (uint32_t i = 0; i < chain->input_count; i++) {
            values[i] = fetch(&operands[i], &flat, line, first, count, buffers + (size_t)i * BLOCK);
        }
        for (uint32_t s = 0; s < chain->step_count; s++) {
            const xpu_chain_step *step = &chain->steps[s];
            const float *arguments[3] = {NULL, NULL, NULL};
            for (int i = 0; i < xpu_elementwise_arity(step->op); i++) arguments[i] = values[step->operands[i]];
            uint32_t result = chain->input_count + s;
            float *to = s + 1 == chain->step_count ? out + done : buffers + (size_t)result * BLOCK;
            block_functions[step->op](arguments, step->immediates, to, count);
            values[result] = to;
        }
        done += count;
    }
}

xpu_status xpu_ref_chain(const xpu_ref_args *args) {
    const xpu_attr *steps = xpu_node_attr(args->graph, args->node, XPU_ATTR_STEPS);
    run_chain(steps->chain, args->inputs, args->outputs[0], args->scratch);
    return XPU_OK;
}

int xpu_elementwise_step(const xpu_graph *graph, xpu_node node, xpu_chain_step *step) {
    const xpu_op *op = xpu_node_at(graph, node)->op;
    if (op->elementwise < 0) return 0;
    *step = (xpu_chain_step){.op = (xpu_elementwise)op->elementwise, .operands = {0, 1, 2}};
    for (int i = 0; i < xpu_elementwise_immediates(step->op); i++) {
        step->immediates[i] = xpu_node_float(graph, node, xpu_elementwise_attr(step->op, i));
    }
    return 1;
}

xpu_status xpu_ref_elementwise(const xpu_ref_args *args) {
    xpu_chain chain = {.input_count = xpu_node_at(args->graph, args->node)->input_count, .step_count = 1};
    xpu_elementwise_step(args->graph, args->node, &chain.steps[0]);
    run_chain(&chain, args->inputs, args->outputs[0], args->scratch);
    return XPU_OK;
}

/* ---- the others ---- */

xpu_status xpu_ref_absmax(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    *(float *)args->outputs[0]->data = xa_absmax_of(x->data, (size_t)xpu_tensor_count(x));
    return XPU_OK;
}

xpu_status xpu_ref_batch_norm(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    const float *in = x->data, *scale = args->inputs[1]->data, *bias = args->inputs[2]->data;
    const float *mean = args->inputs[3]->data, *variance = args->inputs[4]->data;
    float epsilon = xpu_node_float(args->graph, args->node, XPU_ATTR_EPSILON), *y = args->outputs[0]->data;
    int64_t size = xpu_product(x->dims, 2, x->rank);
    for (int64_t n = 0; n < x->dims[0]; n++) {
        for (int64_t c = 0; c < x->dims[1]; c++) {
            float factor = xa_div(scale[c], xa_sqrt(xa_add(variance[c], epsilon)));
            float offset = xa_sub(bias[c], xa_mul(mean[c], factor));
            for (int64_t i = 0; i < size; i++) *y++ = xa_mul_add(*in++, factor, offset);
        }
    }
    return XPU_OK;
}

xpu_status xpu_ref_softmax(const xpu_ref_args *args) {
    const xpu_tensor *x = args->inputs[0];
    int axis = (int)xpu_node_int(args->graph, args->node, XPU_ATTR_AXIS);
    size_t outer = (size_t)xpu_product(x->dims, 0, axis), size = (size_t)x->dims[axis];
    size_t inner = (size_t)xpu_product(x->dims, axis + 1, x->rank);
    for (size_t i = 0; i < outer * inner; i++) {
        size_t first = i / inner * size * inner + i % inner;
        const float *in = (const float *)x->data + first;
        float *y = (float *)args->outputs[0]->data + first;
        float most = xa_reduce_max(in, size, inner);
        for (size_t j = 0; j < size; j++) y[j * inner] = xa_exp(xa_sub(in[j * inner], most));
        float sum = xa_reduce_sum(y, size, inner);
        for (size_t j = 0; j < size; j++) y[j * inner] = xa_div(y[j * inner], sum);
    }
    return XPU_OK;
}
