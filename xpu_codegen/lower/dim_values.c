/* Data that shapes decide: words of the plan table, written where the value lies. */
#include "xpu_codegen/lower/buffers.h"
#include "xpu_codegen/lower/layers.h"
#include "xpu_codegen/lower/operators.h"
#include "xpu_runtime/include/xpu_kernel_args.h"

enum { PUT_WORDS = sizeof((struct xpu_put_args *)0)->words / 4, MOST_WORDS = 2 * XPU_MOST_KNOWN };

/* The low word of a 64-bit integer, as a word of the plan table: a number of 32 bits with a sign. What the run finds is
 * computed in 32 bits. */
static xpu_dim low_word(const xpu_graph *graph, xpu_dims *dims, xpu_dim value) {
    if (xpu_dim_is_dynamic(graph, value)) return value;
    if (xpu_dim_min(dims, value) >= INT32_MIN && xpu_dim_max(dims, value) <= INT32_MAX) return value;
    xpu_dim shifted = xpu_dim_add_const(dims, value, (int64_t)1 << 31);
    xpu_dim rest = xpu_dim_op(dims, XPU_DIM_MOD, shifted, xpu_dim_const(dims, (int64_t)1 << 32));
    return xpu_dim_add_const(dims, rest, -((int64_t)1 << 31));
}

static xpu_dim high_word(const xpu_graph *graph, xpu_dims *dims, xpu_dim value) {
    if (!xpu_dim_is_dynamic(graph, value)) return xpu_dim_floordiv_const(dims, value, (int64_t)1 << 32);
    xpu_dim sign = xpu_dim_op(dims, XPU_DIM_MAX, value, xpu_dim_const(dims, -1));
    return xpu_dim_op(dims, XPU_DIM_MIN, sign, xpu_dim_const(dims, 0));
}

/* The words that a value of these entries consists of; returns how many. */
static uint32_t words_of(xpu_graph *graph, xpu_dtype dtype, const xpu_attr *values, xpu_dim *words) {
    xpu_dims *dims = &graph->dims;
    uint32_t count = 0;
    for (uint32_t i = 0; i < values->count; i++) {
        if (dtype == XPU_BOOL) { /* bytes, the first one lowest */
            if (i % 4 == 0) words[count++] = xpu_dim_const(dims, 0);
            words[count - 1] = xpu_dim_add(dims, words[count - 1],
                                           xpu_dim_mul_const(dims, values->dims[i], (int64_t)1 << 8 * (i % 4)));
            continue;
        }
        words[count++] = low_word(graph, dims, values->dims[i]);
        if (dtype == XPU_I64) words[count++] = high_word(graph, dims, values->dims[i]);
    }
    return count;
}

xpu_status xpu_lower_dim_values(xpu_codegen *cg, uint32_t layer, xpu_node node) {
    xpu_value y = xpu_node_output(cg->graph, node, 0);
    const xpu_attr *values = xpu_node_attr(cg->graph, node, XPU_ATTR_VALUES);
    xpu_dim words[MOST_WORDS];
    uint32_t count = words_of(cg->graph, xpu_value_at(cg->graph, y)->dtype, values, words);
    uint32_t target = xpu_activation_buffer(cg, y);
    xpu_describe_layer(cg, layer, XPU_KERNEL_put, xpu_dim_of(cg, 0));
    xpu_status status = XPU_OK;
    for (uint32_t first = 0; first < count && status == XPU_OK; first += PUT_WORDS) {
        uint32_t some = count - first < PUT_WORDS ? count - first : PUT_WORDS;
        struct xpu_put_call call = {.y = xpu_arg_at(target)};
        call.first = xpu_arg_number(first);
        call.count = xpu_arg_number(some);
        for (uint32_t i = 0; i < PUT_WORDS; i++) {
            if (i < some && !words[first + i].id) return xpu_codegen_bug(cg, "a value is too complex", "word %u", i);
            call.words[i] = i < some ? xpu_arg_dim(words[first + i]) : xpu_arg_number(0);
        }
        status = xpu_add_put(cg, layer, &call);
    }
    return status;
}
