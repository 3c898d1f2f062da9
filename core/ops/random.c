/* Numbers by chance: shape and reference kernel. */
#include "core/arith_pick.h"
#include "core/ops/infer.h"
#include "core/ops/ref_util.h"

xpu_status xpu_infer_random(xpu_graph *graph, xpu_node node, xpu_diags *diags) {
    const xpu_attr *shape = xpu_node_attr(graph, node, XPU_ATTR_SHAPE);
    if (!shape || shape->count > XPU_MAX_RANK) {
        return xpu_infer_error(graph, node, diags, "shape-random", "the shape is missing or has too many dims",
                               "an attribute says the shape", "at most %d dims are supported", XPU_MAX_RANK);
    }
    return xpu_set_result(graph, node, 0, XPU_F32, (int)shape->count, shape->dims, diags);
}

xpu_status xpu_ref_random(const xpu_ref_args *args) {
    const xpu_tensor *y = args->outputs[0];
    const uint64_t seed = (uint64_t)xpu_node_int(args->graph, args->node, XPU_ATTR_SEED);
    for (int64_t i = 0, count = xpu_tensor_count(y); i < count; i++) {
        xa_random_words words = xa_philox((uint32_t)(i / 4), (uint32_t)seed, (uint32_t)(seed >> 32));
        ((float *)y->data)[i] = xa_uniform(words.word[i % 4]);
    }
    return XPU_OK;
}
